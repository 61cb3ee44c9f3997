"""The packages of the extra `semantic`: imported when first used, and not trusted to fail politely."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from types import TracebackType
from typing import Any

from holdfast.errors import HoldfastError, NoModel

PACKAGES = ("numpy", "onnxruntime", "tokenizers")
HINT = "Install it with: pip install 'holdfast[semantic]'"


class Later:
    """A module that is imported by the first who asks it for something."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            return getattr(importlib.import_module(self._name), attribute)
        except ImportError as error:
            raise NoModel(f"{self._name} is not here or does not load ({error})", hint=HINT) from error


class Foreign:
    """Around calls into native code: whatever it throws means that the model cannot be used.

    These packages raise plain `Exception` and classes of their own that share no other parent.
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if kind is None or not issubclass(kind, Exception) or issubclass(kind, HoldfastError):
            return
        said = " ".join(str(error).split())[:300]
        raise NoModel(f"{self._what}: {said or kind.__name__}") from error


def missing(packages: tuple[str, ...] = PACKAGES) -> list[str]:
    """The packages of the extra that are not installed; none of them is imported."""
    return [name for name in packages if find_spec(name) is None]
