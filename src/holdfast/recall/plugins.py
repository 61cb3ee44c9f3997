"""Runs retrievers of other packages in place of our own search.

A plugin is an installed package with an entry point of the group `holdfast.retrievers`. Only the user's own settings
name it (`retrieval.retriever`), never a tracked file, because it runs code. It is a callable that gets the work tree's
top and our own retriever, and returns a `Retriever`. Its answers are checked and made safe to show; its output is
dropped. If it fails or takes too long, one sentence reports it, and our own search answers instead.
"""

import io
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from math import isfinite
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.index.query import Scope
from holdfast.model.text import visible
from holdfast.recall.search import Hit, Retriever
from holdfast.values import fields, replace

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "holdfast.retrievers"
BUILT_IN = "holdfast"
PATIENCE = 30.0  # seconds; a guess: a plugin may ask a model over the network, and nobody waits longer
MAX_TEXT = 20_000  # characters of one field; a guess: our own are much shorter


class PluginTookTooLong(BaseException):
    """A plugin ran out of time; not an Exception, so that the plugin's own handlers do not catch it."""


class PluginFailed(Exception):
    """A plugin's failure, in words that are safe to show."""


class _Nowhere(io.TextIOBase):
    """Drops what a plugin prints, so that nobody takes it for our answer."""

    def write(self, text: str) -> int:
        return len(text)


@contextmanager
def guarded(patience: float) -> Iterator[None]:
    """Runs a plugin's code: failures become `PluginFailed`, and its output is dropped.

    Its time is limited where Python can interrupt it: in the main thread, and not on Windows.
    """
    limited = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()

    def leave(*_: object) -> None:
        raise PluginTookTooLong

    before = signal.signal(signal.SIGALRM, leave) if limited else None
    try:
        if limited:  # repeats every second, in case the plugin catches the first
            signal.setitimer(signal.ITIMER_REAL, patience, 1.0)
        with redirect_stdout(_Nowhere()):
            yield
    except KeyboardInterrupt:
        raise
    except PluginTookTooLong:
        raise PluginFailed(f"it took longer than {patience:g} seconds") from None
    except BaseException as error:  # noqa: BLE001 - a plugin may raise anything, also SystemExit
        why = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
        raise PluginFailed(visible(" ".join(why.split()))[:200]) from None
    finally:
        if limited:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


def installed(group: str) -> "Iterable[EntryPoint]":
    """Returns the entry points of a group in installed packages."""
    from importlib import metadata  # slow to import, and most people have no plugin

    return metadata.entry_points(group=group)


def names() -> list[str]:
    """Returns the installed retrievers, our own first."""
    return [BUILT_IN, *sorted({one.name for one in installed(GROUP)} - {BUILT_IN})]


class PluginRetriever:
    """A plugin as a retriever; `own` answers if it fails, and `complaints` collects the reasons."""

    def __init__(self, name: str, top: str, own: Retriever) -> None:
        self.name, self._top, self._own = name, top, own
        self.complaints: list[str] = []
        self._made: Retriever | None = None

    def search(self, query: str, scope: Scope, limit: int) -> list[Hit]:
        """Returns the plugin's hits, at most `limit` and safe to show; those of our own search if it fails."""
        try:
            with guarded(PATIENCE):
                if self._made is None:
                    self._made = _load(self.name)(self._top, self._own)
                return [_safe_hit(hit) for hit in _checked_hits(self._made.search(query, scope, limit), limit)]
        except PluginFailed as why:
            self.complaints.append(f"the retriever {self.name} failed ({why}); the built-in search answered")
            return self._own.search(query, scope, limit)


def _load(name: str) -> Callable[[str, Retriever], Retriever]:
    make: Callable[[str, Retriever], Retriever]
    for make in (one.load() for one in installed(GROUP) if one.name == name):
        return make
    raise BadInput(f"no installed package provides it; available: {', '.join(names())}")


def _checked_hits(found: object, limit: int) -> list[Hit]:
    """Returns the best hits after a check that they are a list of `Hit` with valid fields."""
    if type(found) is not list or not all(type(one) is Hit for one in found[:limit]):
        raise BadInput("it did not return a list of hits")
    for hit in found[:limit]:
        for field in fields(Hit):
            if not _fits(field.name, getattr(hit, field.name)):
                raise BadInput(f"the {field.name} of a hit is not {field.type}")
    return found[:limit]


def _fits(name: str, value: object) -> bool:
    if name in ("id", "kind", "title", "text"):
        return isinstance(value, str)
    if name == "score":
        return is_number(value)
    if name == "exit_status":
        return value is None or type(value) is int
    if name == "parts":
        pairs = value if isinstance(value, tuple) else (None,)
        return all(
            isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str) and is_number(pair[1])
            for pair in pairs
        )
    return value is None or isinstance(value, str)


def is_number(value: object) -> bool:
    """Whether a plugin's value can be added up."""
    return type(value) in (int, float) and isfinite(value)  # type: ignore[arg-type]


def _safe_hit(hit: Hit) -> Hit:
    """Returns a hit with visible text only, each field on one line."""
    values = ((one.name, getattr(hit, one.name)) for one in fields(Hit))
    texts = {name: _line(value) for name, value in values if isinstance(value, str)}
    return replace(hit, **texts, parts=tuple((_line(name), gain) for name, gain in hit.parts))


def _line(text: str) -> str:
    return visible(" ".join(text[:MAX_TEXT].split()))
