"""The command line.

`main` is the root: it runs one command and turns what a user can cause into a sentence, a next
step and an exit code. A command parses, calls `Project` once and hands the value to `output.show`, with
the words for it, which stand in the same file. `phrases` has what these words are made of, `invocation` knows the
folder, the environment and the terminal.
"""

import sys
from importlib import import_module
from types import ModuleType

from holdfast.lazy_module import lazy_modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

lazy_modules(__name__)


class _Deferred(ModuleType):
    """Stands for a module of the standard library of which click needs next to nothing."""

    def __getattr__(self, name: str) -> "Any":
        return getattr(import_module(self.__name__), name)


def _cleaned(text: str) -> str:
    """What `inspect.cleandoc` makes of a text; the help of an option is one line."""
    return text.strip() if "\n" not in text else str(import_module("inspect").cleandoc(text))


def _load_click() -> None:
    """Import click without `inspect` and `uuid`, which would load ten modules for a function and a type."""
    given: dict[str, dict[str, Any]] = {"inspect": {"cleandoc": _cleaned}, "uuid": {"UUID": type("UUID", (), {})}}
    wanted = {name: values for name, values in given.items() if name not in sys.modules}
    if "click" in sys.modules or not wanted:
        return
    for name, values in wanted.items():
        sys.modules[name] = _Deferred(name)
        vars(sys.modules[name]).update(values)
    try:
        import_module("click")
    finally:
        for name in wanted:  # everybody else gets the real ones
            sys.modules.pop(name, None)


_load_click()
