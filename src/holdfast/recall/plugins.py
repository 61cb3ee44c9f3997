"""Retrievers that others bring: found by their entry point, asked in place of our own.

A plugin is an installed package with an entry point of the group `holdfast.retrievers`; the user's own
settings name it (`retrieval.retriever`), never a tracked file, for it runs code. It is a callable that is
given the work tree's top and our own retriever, and gives a `Retriever`. What it answers is made safe to
show; whatever goes wrong in it is said in one sentence, and our own search answers instead.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.errors import BadInput
from holdfast.index.scope import Scope
from holdfast.model.text import visible
from holdfast.recall.search import Hit, Retriever

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "holdfast.retrievers"
BUILT_IN = "holdfast"

Make = Callable[[str, Retriever], Retriever]


def _brought() -> "Iterable[EntryPoint]":
    from importlib import metadata  # dear to load, and most people bring none

    return metadata.entry_points(group=GROUP)


def names() -> list[str]:
    """The retrievers that are installed, our own first."""
    return [BUILT_IN, *sorted({one.name for one in _brought()} - {BUILT_IN})]


class Asked:
    """A plugin, asked with care; `own` answers where it fails, and `complaints` says why it did."""

    def __init__(self, name: str, top: str, own: Retriever) -> None:
        self.name, self._top, self._own = name, top, own
        self.complaints: list[str] = []
        self._made: Retriever | None = None

    def search(self, query: str, scope: Scope, limit: int) -> list[Hit]:
        """What the plugin finds, at most `limit` and safe to show; what our own search finds if it fails."""
        try:
            if self._made is None:
                self._made = _load(self.name)(self._top, self._own)
            return [_safe(hit) for hit in _checked(self._made.search(query, scope, limit))][:limit]
        except Exception as error:  # noqa: BLE001 - a stranger's code may raise anything
            why = f"{type(error).__name__}: {error}" if not isinstance(error, BadInput) else str(error)
            said = visible(" ".join(why.split()))[:200]
            self.complaints.append(f"the retriever {self.name} failed ({said}); the built-in search answered")
            return self._own.search(query, scope, limit)


def _load(name: str) -> Make:
    found = [one for one in _brought() if one.name == name]
    if not found:
        raise BadInput(f"no package that is installed brings it; there are: {', '.join(names())}")
    make: Make = found[0].load()
    return make


def _checked(found: object) -> list[Hit]:
    if not isinstance(found, list) or not all(isinstance(one, Hit) for one in found):
        raise BadInput("it gave something else than a list of hits")
    return found


def _safe(hit: Hit) -> Hit:
    """A hit with nothing hidden in its words, each on one line."""
    return replace(
        hit,
        id=_line(hit.id),
        kind=_line(hit.kind),
        title=_line(hit.title),
        text=_line(hit.text),
        path=hit.path and _line(hit.path),
        branch=hit.branch and _line(hit.branch),
    )


def _line(text: str) -> str:
    return visible(" ".join(str(text).split()))
