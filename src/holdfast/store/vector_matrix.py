"""Vectors as bytes, their cosines with a question, and a matrix that finds the nearest by their signs first.

The signs of each vector are stored as bits: 48 bytes instead of 384. Counting the differing signs of a question and a
text takes a few machine instructions, and the texts that differ least are compared in full. The scores are never
approximations: each is the cosine with the stored vector. Search by meaning and the memory of your own agents use this
module; they store the vectors themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from holdfast.lazy_module import LazyModule

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float32]
    Bits = npt.NDArray[np.uint64]
else:
    np = LazyModule("numpy")

CANDIDATES = 800  # vectors compared in full: with them 0.997 of the true ten of 100,000 were found (docs/adr/0019)
SHARE = 400  # or one in so many, if that is more; a guess
MOST = 50_000  # at most, even if more have equal signs; a guess that bounds the time
SMALL = 4000  # up to so many, all are compared: 4,000 took 0.4 ms (docs/adr/0030)
BLOCK = 16_384  # vectors whose signs are counted at a time: the intermediate arrays fit a core's own cache


class SignMatrix:
    """Vectors of one size, loaded: about 440 bytes each with 384 numbers."""

    def __init__(self, size: int, *, room: int = 0) -> None:
        self.size = size
        self._count = 0
        self._whole: npt.NDArray[np.int8] = np.empty((room, size), np.int8)
        self._inverse: Floats = np.empty(room, np.float32)
        self._bits: Bits = np.empty((-(-size // 64), room), np.uint64)

    def __len__(self) -> int:
        return self._count

    def add(self, rows: Sequence[bytes]) -> None:
        """Appends vectors of this size."""
        first, last = self._count, self._count + len(rows)
        # Room for some more: to copy everything for each few new vectors would be slow. The factors are guesses.
        have = len(self._inverse)
        if last > have:
            more = max(last - have, have // 8, 1024)
            self._whole = np.concatenate([self._whole, np.empty((more, self.size), np.int8)])
            self._inverse = np.concatenate([self._inverse, np.empty(more, np.float32)])
            self._bits = np.concatenate([self._bits, np.empty((len(self._bits), more), np.uint64)], axis=1)
        raw = np.frombuffer(b"".join(rows), np.int8).reshape(-1, self.size)
        self._whole[first:last] = raw
        length = np.sqrt(np.einsum("ij,ij->i", raw, raw, dtype=np.int32).astype(np.float32))
        self._inverse[first:last] = 1 / np.maximum(length, 1)
        self._bits[:, first:last] = _signs(raw)
        self._count = last

    def cosines(self, vector: Floats, places: Any) -> Floats:
        """Returns the cosines of a vector of length one with the vectors at some places."""
        # Not `@`: its threads wait for each other, which takes twenty times as long if other programs run (ADR 0030).
        rows = self._whole[places] if isinstance(places, slice) else self._whole.take(places, axis=0)
        products: Floats = np.einsum("ij,j->i", rows.astype(np.float32), vector)
        found: Floats = products * self._inverse[places]
        return found.round(6)  # the last bits depend on how many are multiplied together

    def near(
        self,
        vector: Floats,
        limit: int,
        *,
        ranges: Sequence[tuple[int, int]] | None = None,
        candidates: int = CANDIDATES,
        small: int = SMALL,
    ) -> tuple[list[tuple[int, float]], bool]:
        """Returns the places and cosines of the nearest, equal ones in order, and whether all were compared in full.

        `ranges` limits the search to places from a first one up to, not including, a last one.
        """
        spans = [(0, len(self))] if ranges is None else [one for one in ranges if one[0] < one[1]]
        count = sum(last - first for first, last in spans)
        if not count:
            return [], True
        wide = max(candidates, 2 * limit, count // SHARE)
        is_all = count <= max(small, wide)
        places = _spread(spans) if is_all else self._narrowed(vector, wide, spans)
        # One range is multiplied in place; a copy of it would take as long as the product.
        whole = is_all and len(spans) == 1
        cosines = self.cosines(vector, slice(*spans[0]) if whole else places)
        some = np.argsort(-cosines, kind="stable")[:limit]
        return [(int(places[one]), float(cosines[one])) for one in some], is_all

    def _narrowed(self, vector: Floats, wide: int, ranges: Sequence[tuple[int, int]]) -> npt.NDArray[np.intp]:
        """Returns the places of about `wide` vectors whose signs differ least."""
        signs = [word[0] for word in _signs(vector[None, :])]
        parts = [self._differing(signs, at, min(at + BLOCK, b)) for a, b in ranges for at in range(a, b, BLOCK)]
        all_differ = parts[0] if len(parts) == 1 else np.concatenate(parts)
        counts = np.cumsum(np.bincount(all_differ, minlength=self.size + 1))
        chosen = np.flatnonzero(all_differ <= int(np.searchsorted(counts, wide)))[:MOST]
        return chosen + ranges[0][0] if len(ranges) == 1 else _spread(ranges)[chosen]

    def _differing(self, signs: Sequence[Any], first: int, last: int) -> npt.NDArray[np.uint16]:
        """Returns the number of differing signs between a question and each vector of a range."""
        differ = np.zeros(last - first, np.uint16)
        mixed = np.empty(last - first, np.uint64)
        for column, word in zip(self._bits, signs, strict=True):
            np.bitwise_xor(column[first:last], word, out=mixed)
            differ += np.bitwise_count(mixed)
        return differ


def packed(found: Floats) -> list[bytes]:
    """Returns vectors as bytes from -127 to 127, scaled so that the largest number of each becomes ±127."""
    largest = np.maximum(np.abs(found).max(axis=1, keepdims=True), 1e-12)
    return [row.tobytes() for row in np.rint(found * (127.0 / largest)).astype(np.int8)]


def unit(numbers: Sequence[float]) -> Floats | None:
    """Returns numbers as a vector of length one; None if they are all zero, or not numbers."""
    try:
        found = np.asarray(numbers, np.float64)
    except (TypeError, ValueError):
        return None
    length = float(np.linalg.norm(found)) if found.ndim == 1 else 0.0
    if not np.isfinite(length) or length < 1e-30:
        return None
    vector: Floats = (found / length).astype(np.float32)
    return vector


def exact_cosines(vector: Floats, rows: Sequence[bytes]) -> list[float]:
    """Returns the cosines of a vector of length one with packed ones, to six digits: the same on every machine."""
    whole = np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), -1).astype(np.float64)
    length = np.maximum(np.sqrt(np.einsum("ij,ij->i", whole, whole)), 1)
    found = np.einsum("ij,j->i", whole, vector.astype(np.float64)) / length
    return [round(one, 6) for one in found.tolist()]


def _spread(ranges: Sequence[tuple[int, int]]) -> npt.NDArray[np.intp]:
    return np.concatenate([np.arange(first, last) for first, last in ranges])


def _signs(rows: Any) -> Bits:
    """Returns the signs of vectors as bits, 64 in a number: one column for each vector."""
    packed_bits = np.packbits(rows > 0, axis=1)
    wide = np.zeros((len(rows), -(-packed_bits.shape[1] // 8) * 8), np.uint8)
    wide[:, : packed_bits.shape[1]] = packed_bits
    found: Bits = wide.view(np.uint64).T
    return found
