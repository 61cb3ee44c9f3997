"""The protocol of an embedding model, its names, and the packages that the extra `semantic` installs.

A source is a line of text, so that it can be stored with the vectors and found again later: `minilm`, `folder:<path>`
or `command:<words as JSON>`. The packages are imported on first use, and may fail in any way.
"""

from __future__ import annotations

import importlib
import json
import os
import shlex
from collections.abc import Sequence
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.errors import BadInput, HoldfastError, NoModel
from holdfast.store.layout import models_dir

PACKAGES = ("numpy", "onnxruntime", "tokenizers")
HINT = "Install again from Holdfast's own folder, with '.[semantic]' in place of '.'"


class LazyPackage:
    """A module that is imported on first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        try:
            return getattr(importlib.import_module(self._name), attribute)
        except ImportError as error:
            raise NoModel(f"{self._name} is missing or cannot be loaded ({error})", hint=HINT) from error


class PackageErrors:
    """Wraps calls into native code: any exception means that the model cannot be used.

    These packages raise plain `Exception` and classes of their own without a common parent.
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
    """Returns the packages of the extra that are not installed, without importing them."""
    return [name for name in packages if find_spec(name) is None]


if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]

MINILM, FOLDER, COMMAND, OFF = "minilm", "folder:", "command:", "off"
MAX_SIZE = 4096  # numbers of a vector; a guess: large models have that many
MAX_TEXT = 4096  # characters of a text for a model; a guess: more than most models read
NETWORK, TOKENS, CARD = "model.onnx", "tokenizer.json", "holdfast.json"


class EmbeddingModel(Protocol):
    """Turns texts into vectors of length one; `key` changes whenever its vectors do."""

    @property
    def key(self) -> str: ...
    @property
    def size(self) -> int: ...
    def vectors(self, texts: Sequence[str]) -> Floats: ...
    def question(self, text: str) -> Floats: ...


def source_of(setting: str | Sequence[str] | None, cache: str) -> str | None:
    """Returns the source that the setting `retrieval.model` means; None if there is none.

    If it is not set, MiniLM is used if it is installed.
    """
    if setting is None:
        return MINILM if os.path.exists(os.path.join(minilm(cache), CARD)) else None
    if setting in (OFF, MINILM):
        return None if setting == OFF else MINILM
    if not isinstance(setting, str):
        return COMMAND + json.dumps(list(setting))
    folder = os.path.expanduser(setting)
    if os.path.isabs(folder) and os.path.isdir(folder):
        return FOLDER + folder
    return COMMAND + json.dumps(_words(setting))


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise BadInput(f"{command} cannot be read as a command: {error}", hint="Mind the quotes.") from error
    if not words:
        raise BadInput("an empty command is not a model", hint="Name a folder or a command.")
    return words


def minilm(cache: str) -> str:
    """Returns the folder of the model that Holdfast fetches itself."""
    return os.path.join(models_dir(cache), MINILM)


def named(source: str) -> str:
    """A source in words that people can read."""
    if source.startswith(COMMAND):
        return shlex.join(json.loads(source.removeprefix(COMMAND)))
    return source.removeprefix(FOLDER)
