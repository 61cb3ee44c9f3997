"""Loads modules on first use.

`from holdfast.work import task_board` gives a stand-in that imports the module when an attribute is read: a command
that calls `task_board.read(...)` in one of its functions waits for the import only if that function runs. `from
holdfast.work.task_board import Board` imports it at once, as usual.
"""

import sys

TYPE_CHECKING = False  # `typing` itself would cost every start
if TYPE_CHECKING:
    from typing import Any


def load(path: str) -> "Any":
    """Imports a module by its full name; `importlib` and `os` would cost a hook two milliseconds."""
    __import__(path)
    return sys.modules[path]


class LazyModule:
    """A stand-in for a module, which the first access imports."""

    __slots__ = ("__path",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "_LazyModule__path", name)  # a name that no module has

    def __getattr__(self, attribute: str) -> "Any":
        # A lookup in `sys.modules` costs a tenth of an import statement, and a command makes a thousand.
        try:
            return getattr(sys.modules[self.__path], attribute)
        except (KeyError, AttributeError):  # not loaded, or another thread is loading it: the import waits for it
            return getattr(load(self.__path), attribute)

    def __setattr__(self, attribute: str, value: object) -> None:
        setattr(load(self.__path), attribute, value)

    @property
    def __dict__(self) -> "dict[str, Any]":  # type: ignore[override]
        found: dict[str, Any] = vars(load(self.__path))
        return found

    def __delattr__(self, attribute: str) -> None:
        delattr(load(self.__path), attribute)


def lazy_modules(package: str) -> None:
    """Gives a package a `__getattr__` that creates stand-ins for its modules; type checkers see the modules."""
    names = vars(sys.modules[package])
    folder = names["__path__"][0]

    def stand_in(name: str) -> LazyModule:
        from os import path as files

        path = f"{folder}/{name}"
        if name.startswith("_") or not (files.exists(f"{path}.py") or files.exists(f"{path}/__init__.py")):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = names[name] = LazyModule(f"{package}.{name}")  # the import puts the module there
        return found

    names["__getattr__"] = stand_in
