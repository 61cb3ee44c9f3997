"""A stand-in for a module is the module, but for the moment at which it is loaded."""

import subprocess
import sys
from importlib import import_module

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
