"""Computes missing vectors in bounded steps: each is stored, so that an interruption loses one at most."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import NoModel
from holdfast.index.embed import coverage
from holdfast.index.embed.coverage import UnembeddedText
from holdfast.index.embed.embedding_model import EmbeddingModel, LazyPackage
from holdfast.index.embed.vectors import VectorModel, Vectors
from holdfast.store import fsio
from holdfast.store.database_file import make_folders
from holdfast.values import frozen

if TYPE_CHECKING:
    import numpy as np

    from holdfast.index.embed.embedding_model import Floats
else:
    np = LazyPackage("numpy")

STEP = 64  # texts: about a second
SAID = 20  # steps between updates of the progress that other processes read; a guess
LOCK = "embed.lock"

Progress = Callable[[int, int], None]
Counted = Callable[[int, int], None]  # texts, and microseconds they took


@frozen
class EmbeddingPass:
    """The result of one pass: how many texts got a vector, and how many are left."""

    made: int
    left: int
    busy: bool = False  # another process is embedding, and this one did nothing


class StaleTextsError(Exception):
    """Something was erased; the texts must be collected again."""


def fill(
    vectors: Vectors,
    model: EmbeddingModel,
    known: VectorModel,
    paths: Sequence[str],
    *,
    more: Callable[[], bool] = lambda: True,
    progress: Progress | None = None,
    counted: Counted | None = None,
    erased: Callable[[], str] = lambda: "-",
) -> EmbeddingPass:
    """Embeds the texts without a vector, as long as `more` returns True.

    `erased` returns the state of erasures, or nothing if the texts may be older: StaleTextsError if so, or if something
    was erased while the model had a text.
    """
    made = 0
    while True:
        seen = coverage.facts(paths)  # before reading: a later change must not be missed
        places = coverage.waiting(paths, vectors, known)
        done = _Steps(vectors, model, known, counted, erased).take(places, more=more, progress=progress)
        made += done
        if done < len(places):
            return EmbeddingPass(made, len(places) - done)
        if len(places) < coverage.MOST:
            break
    # All texts have a vector of this model now: those of others are not needed.
    for other in vectors.models():
        if other.id != known.id:
            vectors.forget(other)
    vectors.is_filled(known, seen)
    vectors.say_ready()
    vectors.tidy()
    return EmbeddingPass(made, 0)


@frozen
class _Steps:
    """One model while it embeds."""

    vectors: Vectors
    model: EmbeddingModel
    known: VectorModel
    counted: Counted | None
    erased: Callable[[], str]

    def take(self, places: Sequence[tuple[str, int]], *, more: Callable[[], bool], progress: Progress | None) -> int:
        """Embeds the texts at some places; returns how many of the places are done."""
        done = 0
        try:
            while done < len(places) and more():
                if progress:
                    progress(done, len(places))
                some = places[done : done + STEP]
                self._step(some)
                done += len(some)
                if done <= STEP or done % (STEP * SAID) == 0:
                    self.vectors.say_ready()
        finally:
            if done:
                self.vectors.say_ready()
        if progress:
            progress(done, len(places))
        return done

    def _step(self, places: Sequence[tuple[str, int]]) -> None:
        before = self.erased()
        if not before:
            raise StaleTextsError
        texts = list(coverage.texts(places))
        if not texts:
            return
        began = time.perf_counter_ns()
        good, found = _embed(self.model, texts)
        if self.counted:
            self.counted(len(good), (time.perf_counter_ns() - began) // 1000)
        contents = [one.content for one in good]
        if not self.vectors.put(self.known, contents, found, holds=lambda: self.erased() == before):
            raise StaleTextsError


def _embed(model: EmbeddingModel, texts: list[UnembeddedText]) -> tuple[list[UnembeddedText], Floats]:
    """Returns the texts that the model can read, and their vectors; one it cannot read must not block the others."""
    try:
        return texts, model.vectors([one.text for one in texts])
    except NoModel as error:
        good, rows = [], []
        for one in texts:
            with contextlib.suppress(NoModel):
                rows.append(model.vectors([one.text])[0])
                good.append(one)
        if not good:
            raise error
        return good, np.stack(rows)


@contextlib.contextmanager
def alone(folder: str) -> Iterator[bool]:
    """Yields whether no other process embeds for this clone; if so, none does until the end of the block."""
    make_folders(folder)
    fd = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        yield fsio.try_lock_fd(fd)
    finally:
        os.close(fd)
