"""What is dear to load, kept for as long as the process lives: a model and the vectors it made.

A command asks once and ends; the MCP server asks again and again, and there a question costs its own
embedding and the search alone. One model is kept, and the vectors of a few clones.
"""

from __future__ import annotations

import json
import os
import threading
import time
from typing import TYPE_CHECKING

from holdfast.errors import NoModel
from holdfast.index.embed import near
from holdfast.index.embed.command import CommandModel
from holdfast.index.embed.model import COMMAND, FOLDER, MINILM, Model, minilm, named
from holdfast.index.embed.near import Matrix, Near
from holdfast.index.embed.onnx import OnnxModel
from holdfast.index.embed.vectors import Known, Vectors

if TYPE_CHECKING:
    from holdfast.index.embed.model import Floats

ENOUGH = 0.9  # of what an older model made: from there on the new one answers
CLONES = 4

_turn = threading.RLock()
_models: dict[tuple[str, str, object], Model] = {}
_loaded: dict[tuple[str, int], tuple[Vectors, Matrix]] = {}


def model(source: str, cache: str) -> Model:
    """The model of a source, loaded; it stays loaded until its file changes."""
    with _turn:
        key = (source, cache, _facts(source, cache))
        if key not in _models:
            _models.clear()
            _models[key] = _opened(source, cache)
        return _models[key]


def _opened(source: str, cache: str) -> Model:
    if source == MINILM:
        folder = minilm(cache)
        if not os.path.exists(folder):
            raise NoModel("minilm is not in the cache", hint="Fetch it with: holdfast model add")
        return OnnxModel(folder, check=True)
    if source.startswith(FOLDER):
        return OnnxModel(source.removeprefix(FOLDER))
    return CommandModel(json.loads(source.removeprefix(COMMAND)))


def _facts(source: str, cache: str) -> object:
    """What a model's file looks like; nothing for a command."""
    if source.startswith(COMMAND):
        return None
    folder = minilm(cache) if source == MINILM else source.removeprefix(FOLDER)
    try:
        found = os.stat(os.path.join(folder, "model.onnx"))
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def ask(path: str, source: str, cache: str, query: str, *, notes: list[str], seconds: float = 60.0) -> Near | None:
    """A question among the vectors of a file; None if there are none. NoModel if no model answers in time."""
    end = time.monotonic() + seconds
    with _turn:
        if not query.strip() or not os.path.exists(path):
            return None
        vectors = _vectors(path)
        vectors.notes = notes
        failed: NoModel | None = None
        for known in order(vectors.models(), source):
            try:
                vector = _question(model(known.source, cache), known, query, end)
            except NoModel as error:
                failed = failed or error
                continue
            if matrix := _matrix(vectors, known):
                return Near(matrix, vector)
        if failed is not None:
            raise failed
        return None


def _question(asked: Model, known: Known, query: str, end: float) -> Floats:
    """What a model makes of a question; NoModel if it is not the one any more whose vectors are here."""
    if isinstance(asked, CommandModel):
        vector = asked.question(query, patience=max(0.1, end - time.monotonic()))
    else:
        vector = asked.question(query)
    if asked.key != known.key:
        raise NoModel(
            f"{named(known.source)[:200]} has changed since texts were embedded "
            f"({len(vector)} numbers a vector; those here have {known.size}): holdfast model embed"
        )
    return vector


def order(models: list[Known], source: str) -> list[Known]:
    """In which order models are tried: the one that is meant, unless an older one knows much more."""
    filled = [one for one in models if one.count]
    meant = [one for one in filled if one.source == source]
    others = [one for one in filled if one.source != source]
    most = max((one.count for one in others), default=0)
    return [*meant, *others] if meant and meant[0].count >= ENOUGH * most else [*others, *meant]


def _vectors(path: str) -> Vectors:
    for (known, _), (vectors, _) in _loaded.items():
        if known == path:
            return vectors
    return Vectors(path)


def _matrix(vectors: Vectors, known: Known) -> Matrix | None:
    key = (vectors.path, known.id)
    if key in _loaded:
        matrix = near.renewed(_loaded[key][1], vectors, known)
    else:
        while len(_loaded) >= CLONES:
            _loaded.pop(next(iter(_loaded)))
        matrix = near.load(vectors, known)
    _loaded[key] = (vectors, matrix)
    return matrix if len(matrix) else None


def forget() -> None:
    """Let go of everything that is loaded."""
    with _turn:
        for vectors, _ in _loaded.values():
            vectors.close()
        _loaded.clear()
        _models.clear()
