"""Compares a question with all texts, and caches what is slow to load.

`store.vector_matrix` finds the nearest; here they are known by their contents.

A command asks once and ends. The MCP server asks repeatedly, so one model and the vectors of a few clones stay loaded
as long as the process lives; they are reloaded when the file changes.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import NoModel
from holdfast.index.embed.backends import CommandModel, OnnxModel
from holdfast.index.embed.embedding_model import COMMAND, FOLDER, MINILM, EmbeddingModel, LazyPackage, minilm, named
from holdfast.index.embed.vectors import VectorModel, Vectors
from holdfast.store.vector_matrix import SignMatrix

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from holdfast.index.embed.embedding_model import Floats

    Bits = npt.NDArray[np.uint64]
else:
    np = LazyPackage("numpy")


class VectorMatrix(SignMatrix):
    """The vectors of one model by content: 16 bytes more each."""

    def __init__(self, size: int, state: int = 0, *, room: int = 0) -> None:
        super().__init__(size, room=room)
        self.state = state
        self._contents = bytearray()
        self._heads: Bits = np.empty(0, np.uint64)  # the first bytes of the contents

    def fill(self, rows: Iterator[list[tuple[bytes, bytes]]]) -> None:
        """Adds all vectors, sorted by content."""
        for some in rows:
            whole = [row for row in some if len(row[1]) == self.size]
            self.add([vector for _, vector in whole])
            self._contents += b"".join(content for content, _ in whole)
        self._heads = _heads(bytes(self._contents))

    def content(self, place: int) -> bytes:
        return bytes(self._contents[place * 16 : place * 16 + 16])

    def places(self, contents: Sequence[bytes]) -> list[int]:
        """Returns the positions of some contents; -1 for missing ones."""
        found = [-1] * len(contents)
        if len(self._heads) and contents:
            at = np.searchsorted(self._heads, _heads(b"".join(contents))).tolist()
            for place, content in enumerate(contents):
                if at[place] < len(self._heads) and self.content(at[place]) == content:
                    found[place] = at[place]
        return found

    def nearest(self, vector: Floats, limit: int) -> list[tuple[int, float]]:
        """Returns the positions of the nearest, and their similarity; ties are sorted by content."""
        found, _ = self.near(vector, 2 * limit)
        return sorted(found, key=lambda one: (-one[1], self.content(one[0])))[:limit]


class NearestTexts:
    """A question among the texts with a vector."""

    def __init__(self, matrix: VectorMatrix, vector: Floats) -> None:
        self._matrix, self._vector = matrix, vector

    def of(self, contents: Iterable[bytes | None]) -> dict[bytes, float]:
        """Returns the similarity of the question to these contents; those without a vector are left out."""
        asked = list(dict.fromkeys(filter(None, contents)))
        found = [(c, place) for c, place in zip(asked, self._matrix.places(asked), strict=True) if place >= 0]
        if not found:
            return {}
        cosines = self._matrix.cosines(self._vector, [place for _, place in found])
        return {content: float(one) for (content, _), one in zip(found, cosines, strict=True)}

    def best(self, limit: int) -> list[tuple[bytes, float]]:
        """Returns the contents nearest to the question, nearest first."""
        return [(self._matrix.content(place), cosine) for place, cosine in self._matrix.nearest(self._vector, limit)]


def load(vectors: Vectors, known: VectorModel) -> VectorMatrix:
    """All that a model made."""
    matrix = VectorMatrix(known.size, vectors.state(), room=known.count)
    matrix.fill(vectors.every(known))
    return matrix


def _heads(contents: bytes) -> Bits:
    """Returns the first eight bytes of each content, as numbers in the same order."""
    return np.frombuffer(contents, ">u8")[::2].astype(np.uint64)


ENOUGH = 0.9  # of an older model's vectors, from which on the new model answers; a guess
CLONES = 4  # whose vectors stay loaded; a guess that bounds the memory

_turn = threading.RLock()
_models: dict[tuple[str, str, object], EmbeddingModel] = {}
_loaded: dict[tuple[str, int], tuple[Vectors, VectorMatrix]] = {}


def model(source: str, cache: str) -> EmbeddingModel:
    """The model of a source, loaded; it stays loaded until its file changes."""
    with _turn:
        key = (source, cache, _facts(source, cache))
        if key not in _models:
            _models.clear()
            _models[key] = _opened(source, cache)
        return _models[key]


def _opened(source: str, cache: str) -> EmbeddingModel:
    if source == MINILM:
        folder = minilm(cache)
        if not os.path.exists(folder):
            raise NoModel("minilm is not in the cache", hint="Fetch it with: holdfast model add")
        return OnnxModel(folder, check=True)
    if source.startswith(FOLDER):
        return OnnxModel(source.removeprefix(FOLDER))
    return CommandModel(json.loads(source.removeprefix(COMMAND)))


def _facts(source: str, cache: str) -> object:
    """Returns the state of a model's file; nothing for a command."""
    if source.startswith(COMMAND):
        return None
    folder = minilm(cache) if source == MINILM else source.removeprefix(FOLDER)
    try:
        found = os.stat(os.path.join(folder, "model.onnx"))
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns, found.st_ino


def ask(
    path: str, source: str, cache: str, query: str, *, notes: list[str], seconds: float = 60.0
) -> NearestTexts | None:
    """Returns a question among the vectors of a file; None if there are none. NoModel if no model answers in time."""
    end = time.monotonic() + seconds
    with _turn:
        if not query.strip() or not os.path.exists(path):
            return None
        vectors = next((known for (loaded, _), (known, _) in _loaded.items() if loaded == path), None) or Vectors(path)
        vectors.notes = notes
        failed: NoModel | None = None
        for known in order(vectors.models(), source):
            try:
                vector = _question(model(known.source, cache), known, query, end)
            except NoModel as error:
                failed = failed or error
                continue
            if matrix := _matrix(vectors, known):
                return NearestTexts(matrix, vector)
        if failed is not None:
            raise failed
        return None


def _question(asked: EmbeddingModel, known: VectorModel, query: str, end: float) -> Floats:
    """Returns the vector of a question; NoModel if the model changed since the vectors were computed."""
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


def order(models: list[VectorModel], source: str) -> list[VectorModel]:
    """Returns the models in the order to try: the configured one first, unless an older one has many more vectors."""
    filled = [one for one in models if one.count]
    meant = [one for one in filled if one.source == source]
    others = [one for one in filled if one.source != source]
    most = max((one.count for one in others), default=0)
    return [*meant, *others] if meant and meant[0].count >= ENOUGH * most else [*others, *meant]


def _matrix(vectors: Vectors, known: VectorModel) -> VectorMatrix | None:
    key = (vectors.path, known.id)
    if key not in _loaded or _loaded[key][1].state != vectors.state():
        while len(_loaded) >= CLONES:
            _loaded.pop(next(iter(_loaded)))
        _loaded[key] = (vectors, load(vectors, known))
    matrix = _loaded[key][1]
    return matrix if len(matrix) else None


def forget() -> None:
    """Let go of everything that is loaded."""
    with _turn:
        for vectors, _ in _loaded.values():
            vectors.close()
        _loaded.clear()
        _models.clear()
