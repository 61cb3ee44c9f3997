"""Modules that only one command needs, loaded when it is given: whoever waits for a pack does not pay."""

from importlib import import_module
from typing import Any


class LazyModule:
    """A module of ours that is imported by the first who asks it for something."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)
