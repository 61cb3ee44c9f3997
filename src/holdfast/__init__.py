"""Holdfast: the memory a project keeps of the agents that work on it.

    from holdfast import Project

    project = Project.open(".")
    run_id = project.write_log({"task": "T-1", "outputs": {"summary": "schema written"}})
    hits = project.recall("schema")

`write_log`, `promote_fact` and `recall` do the same for the repository of the current folder.
Everything is loaded on first use, so that a command does not wait for modules that it does not use.
"""

# ruff: noqa: F403, F405  # a test compares the names below with the classes in errors.py

import sys

__version__ = "0.6.0"

TYPE_CHECKING = False  # known to type checkers; `typing` itself would cost every start some milliseconds
if TYPE_CHECKING:
    from holdfast.errors import *
    from holdfast.project import Project, promote_fact, recall, write_log

__all__ = ["Ambiguous", "BadBundle", "BadInput", "BadSettings", "BlockEdited", "BrokenEntry", "Busy", "Claimed"]
__all__ += ["Contradicts", "CorruptLog", "Cycle", "FutureFormat", "GitFailed", "HoldfastError", "HookRefused"]
__all__ += [
    "HookRewrote",
    "InConflict",
    "LockedText",
    "NeedsConfirmation",
    "NeedsEvidence",
    "NeedsReview",
    "NoDatabase",
]
__all__ += [
    "NoModel",
    "NotARepository",
    "NotFound",
    "NotInitialised",
    "NotStored",
    "OnTrunk",
    "Project",
    "PublishRefused",
]
__all__ += ["ReadOnlyStore", "ScanFailed", "SwitchedOff", "TooLarge", "UnsafePath", "promote_fact", "recall"]
__all__ += ["write_log"]

_IN_PROJECT = ("Project", "promote_fact", "recall", "write_log")


def _load(name: str) -> object:
    if name in _IN_PROJECT:
        from holdfast import project as home
    else:
        from holdfast import errors as home  # type: ignore[no-redef]
    return getattr(home, name)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'holdfast' has no attribute {name!r}")
    return _load(name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


class _Package(type(sys)):  # type: ignore[misc]
    """The package as a module whose `recall` is the function, although a subpackage has the same name.

    Python sets the attribute `recall` to the subpackage when that is imported; the setter here
    ignores that, so `from holdfast import recall` always gives the function.
    """

    @property
    def recall(self) -> object:
        return _load("recall")

    @recall.setter
    def recall(self, module: object) -> None:
        pass


sys.modules[__name__].__class__ = _Package
