"""Vectors made in bounded steps: each is kept, so that stopping at any moment loses one at most."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.index.embed import pending
from holdfast.index.embed.model import Model
from holdfast.index.embed.vectors import UNSWEPT, Known, Vectors
from holdfast.store import fsio

STEP = 64  # texts: about a second
LOCK = "embed.lock"

Progress = Callable[[int, int], None]
Counted = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Filled:
    """What one pass did: how many texts got a vector, and how many still wait."""

    made: int
    left: int
    busy: bool = False  # another process is at it, and this one did nothing


def fill(
    vectors: Vectors,
    model: Model,
    known: Known,
    paths: Sequence[str],
    *,
    more: Callable[[], bool] = lambda: True,
    progress: Progress | None = None,
    counted: Counted | None = None,
) -> Filled:
    """Embed what waits, as long as `more` says so."""
    places = pending.waiting(paths, vectors, known)
    made = 0
    for at in range(0, len(places), STEP):
        if not more():
            break
        if progress:
            progress(at, len(places))
        made += _step(vectors, model, known, places[at : at + STEP], counted)
    if made:
        vectors.say_ready()
    if made and made >= len(places):
        _leave_the_past(vectors, known)
        vectors.tidy()
    if progress:
        progress(made, len(places))
    return Filled(made, len(places) - made)


def _step(
    vectors: Vectors,
    model: Model,
    known: Known,
    places: Sequence[tuple[str, int]],
    counted: Counted | None,
) -> int:
    texts = list(pending.texts(places))
    if texts:
        vectors.put(known, [one.content for one in texts], model.vectors([one.text for one in texts]))
        if counted:
            counted(len(texts))
    return len(places)


def _leave_the_past(vectors: Vectors, known: Known) -> None:
    """All has a vector of this model now: those of others have served."""
    for other in vectors.models():
        if other.id != known.id:
            vectors.forget(other)


@contextlib.contextmanager
def alone(folder: str) -> Iterator[bool]:
    """Whether no other process embeds for this clone; if so, none does until the end of the block."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    fd = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        yield fsio.try_lock_fd(fd)
    finally:
        os.close(fd)


def doubt(folder: str) -> None:
    """Leave word that vectors may be here whose texts were erased."""
    if os.path.exists(os.path.join(folder, "vectors.db")):
        with contextlib.suppress(OSError):
            os.close(os.open(os.path.join(folder, UNSWEPT), os.O_WRONLY | os.O_CREAT, 0o600))


def sweep(folder: str) -> int:
    """Delete the vectors of texts that no index names any more, if somebody doubted; gives how many.

    The indexes of other work trees were dropped as well, and are made when somebody works there: what only
    they name is embedded again then.
    """
    mark, path = os.path.join(folder, UNSWEPT), os.path.join(folder, "vectors.db")
    if not os.path.exists(mark):
        return 0
    gone = 0
    if os.path.exists(path):
        vectors = Vectors(path)
        try:
            gone = vectors.keep_only(pending.contents(_indexes(folder)))
        except sqlite3.DatabaseError:
            vectors.close()
            os.unlink(path)
        finally:
            vectors.close()
    with contextlib.suppress(OSError):
        os.unlink(mark)
    return gone


def _indexes(folder: str) -> list[str]:
    names = (name for name in sorted(os.listdir(folder)) if name.endswith(".db"))
    return [os.path.join(folder, name) for name in names if name.startswith(("index", "corpus"))]
