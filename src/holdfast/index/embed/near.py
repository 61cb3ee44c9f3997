"""How near a question is to every text: an exact search, narrowed by signs.

Of each vector the signs are kept as bits: 48 bytes instead of 384. Counting in how many signs a question
and a text differ costs a few machine instructions a text, and the thousand that differ least are compared
in full. Nothing is approximated that the answer shows: a cosine is always that of the stored vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.index.embed.extras import Later

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from holdfast.index.embed.model import Floats
    from holdfast.index.embed.vectors import Known, Vectors

    Bits = npt.NDArray[np.uint64]
else:
    np = Later("numpy")

CANDIDATES = 800  # vectors that are compared in full
SMALL = 4000  # vectors up to which all of them are


class Matrix:
    """The vectors of one model, loaded: about 450 bytes a text with 384 numbers each."""

    def __init__(self, size: int, state: tuple[int, int], rows: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.size, self.state = size, state
        self._contents = b""
        self._whole: npt.NDArray[np.int8] = np.empty((0, size), np.int8)
        self._inverse: Floats = np.empty(0, np.float32)
        self._bits: list[Bits] = [np.empty(0, np.uint64) for _ in range(-(-size // 64))]
        self._heads: Bits = np.empty(0, np.uint64)
        self._tail: dict[bytes, int] = {}
        self._sorted = 0  # so many of the contents stand in order
        self.add(rows)

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Take more vectors in; the first ones come in order of their contents, later ones in any."""
        known = [row for row in rows if len(row[1]) == self.size and row[0] not in self._tail]
        if not known:
            return
        first = len(self)
        raw = np.frombuffer(b"".join(vector for _, vector in known), np.int8).reshape(-1, self.size)
        contents = b"".join(content for content, _ in known)
        self._whole = np.concatenate([self._whole, raw]) if first else raw
        length = np.sqrt(np.einsum("ij,ij->i", raw, raw, dtype=np.int32).astype(np.float32))
        self._inverse = np.concatenate([self._inverse, 1 / np.maximum(length, 1)])
        new = _signs(raw)
        self._bits = [np.concatenate([old, more]) for old, more in zip(self._bits, new, strict=True)]
        self._contents += contents
        if first:
            self._tail.update((content, first + place) for place, (content, _) in enumerate(known))
        else:
            self._sorted = len(known)
            self._heads = _heads(contents)

    def content(self, place: int) -> bytes:
        return self._contents[place * 16 : place * 16 + 16]

    def places(self, contents: Sequence[bytes]) -> list[int]:
        """Where some contents stand; -1 for those that are not here."""
        found = [self._tail.get(content, -1) for content in contents]
        if self._sorted and contents:
            at = np.searchsorted(self._heads, _heads(b"".join(contents))).tolist()
            for place, content in enumerate(contents):
                if at[place] < self._sorted and self.content(at[place]) == content:
                    found[place] = at[place]
        return found

    def cosines(self, vector: Floats, places: Any) -> Floats:
        """The cosine of a vector of length one with those that stand at some places."""
        found: Floats = (self._whole[places].astype(np.float32) @ vector) * self._inverse[places]
        return found

    def nearest(self, vector: Floats, limit: int) -> list[tuple[int, float]]:
        """The places of the nearest, and how near; equals stand in the order of their contents."""
        wide = max(CANDIDATES, 2 * limit)
        places = np.arange(len(self)) if len(self) <= max(SMALL, wide) else self._narrowed(vector, wide)
        cosines = self.cosines(vector, places)
        best = np.argsort(-cosines, kind="stable")[:limit]
        return [(int(places[one]), float(cosines[one])) for one in best]

    def _narrowed(self, vector: Floats, wide: int) -> npt.NDArray[np.intp]:
        """The places of those whose signs differ least, about `wide` of them."""
        differ = np.zeros(len(self), np.uint16)
        for column, word in zip(self._bits, _signs(vector[None, :]), strict=True):
            differ += np.bitwise_count(column ^ word[0])
        counts = np.cumsum(np.bincount(differ, minlength=self.size + 1))
        most = int(np.searchsorted(counts, wide))
        return np.flatnonzero(differ <= most)[: 2 * wide]


class Near:
    """A question among the texts that have a vector."""

    def __init__(self, matrix: Matrix, vector: Floats) -> None:
        self._matrix, self._vector = matrix, vector

    def of(self, contents: Iterable[bytes | None]) -> dict[bytes, float]:
        """How near the question is to these contents; those without a vector are left out."""
        asked = list(dict.fromkeys(filter(None, contents)))
        found = [(c, place) for c, place in zip(asked, self._matrix.places(asked), strict=True) if place >= 0]
        if not found:
            return {}
        cosines = self._matrix.cosines(self._vector, [place for _, place in found])
        return {content: float(one) for (content, _), one in zip(found, cosines, strict=True)}

    def best(self, limit: int) -> list[tuple[bytes, float]]:
        """The contents nearest to the question, nearest first."""
        nearest = self._matrix.nearest(self._vector, limit)
        return [(self._matrix.content(place), cosine) for place, cosine in nearest]


def load(vectors: Vectors, known: Known) -> Matrix:
    """All that a model made."""
    state = vectors.state()
    return Matrix(known.size, state, vectors.every(known))


def renewed(matrix: Matrix, vectors: Vectors, known: Known) -> Matrix:
    """The matrix as the file is now: itself, with what was added, or loaded again."""
    state = vectors.state()
    if state == matrix.state:
        return matrix
    new = vectors.since(known, matrix.state[1]) if state[0] == matrix.state[0] else None
    if new is None or len(new) > len(matrix) // 4 + 1000:
        return load(vectors, known)
    fresh = [
        row for row, at in zip(new, matrix.places([content for content, _ in new]), strict=True) if at < 0
    ]
    matrix.add(fresh)
    matrix.state = state
    return matrix


def _signs(rows: Any) -> list[Bits]:
    """The signs of vectors as bits, 64 in a number, one array for each 64."""
    packed = np.packbits(rows > 0, axis=1)
    wide = np.zeros((len(rows), -(-packed.shape[1] // 8) * 8), np.uint8)
    wide[:, : packed.shape[1]] = packed
    return [column.copy() for column in wide.view(np.uint64).T]


def _heads(contents: bytes) -> Bits:
    """The first eight bytes of each content, as numbers in the same order."""
    return np.frombuffer(contents, ">u8")[::2].astype(np.uint64)
