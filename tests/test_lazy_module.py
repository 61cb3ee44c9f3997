"""A stand-in for a module is the module, but for the moment at which it is loaded."""

import subprocess
import sys
import threading
import time
from importlib import import_module
from pathlib import Path

import pytest

from holdfast.lazy_module import LazyModule

SCRIPT = """
import sys
from holdfast.git import last_seen
before = "holdfast.git.last_seen" in sys.modules
last_seen.shared
print(before, "holdfast.git.last_seen" in sys.modules)
"""


def test_a_module_is_loaded_by_the_first_who_asks_it() -> None:
    """A command must not pay for what it only names."""
    done = subprocess.run([sys.executable, "-I", "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


def test_a_stand_in_is_read_and_changed_as_the_module_is() -> None:
    """A test that replaces a limit must replace the one that the module uses."""
    real = import_module("holdfast.git.reconcile")
    stand_in = LazyModule("holdfast.git.reconcile")
    before = real.IDLE_DAYS
    stand_in.IDLE_DAYS = before + 1
    try:
        assert real.IDLE_DAYS == stand_in.IDLE_DAYS == before + 1
    finally:
        stand_in.IDLE_DAYS = before
    for name in ("something_new", "_name", "_path", "__path"):
        setattr(stand_in, name, 1)
        assert getattr(real, name) == getattr(stand_in, name) == 1, "no name of the stand-in hides one of the module"
        delattr(stand_in, name)
    assert not hasattr(real, "something_new") and vars(stand_in) is vars(real)
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = stand_in.nothing_of_the_kind


def test_a_package_has_no_module_that_is_not_there() -> None:
    """A misspelt name must fail where it is written, not when it is used."""
    with pytest.raises(ImportError, match="nothing_of_the_kind"):
        from holdfast.git import nothing_of_the_kind  # noqa: F401


def test_a_module_that_another_thread_is_loading_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that answers its first two questions at once must not say that half of it is missing."""
    package = tmp_path / "slowly_loaded"
    package.mkdir()
    (package / "__init__.py").write_text("from holdfast.lazy_module import lazy_modules\nlazy_modules(__name__)\n")
    (package / "part.py").write_text("import time\ntime.sleep(0.5)\nANSWER = 42\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from slowly_loaded import part  # type: ignore[import-not-found]

    first = threading.Thread(target=lambda: part.ANSWER)
    first.start()
    while "slowly_loaded.part" not in sys.modules and first.is_alive():
        time.sleep(0.001)
    assert part.ANSWER == 42
    first.join()
