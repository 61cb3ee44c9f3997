"""Which memories somebody approved: computed from events, never read from the memory's own file.

An approval whose body is here names the text and the words it was about. Of another clone's only
the envelope came along: that the memory was approved, not in which words.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.git.clone import Clone

KINDS = ("accept", "promote", "edit")


@dataclass(frozen=True, slots=True)
class Approval:
    """One event that lets a memory in."""

    target: str
    place: tuple[str, str]  # its time and its hash: the later one counts
    blob: str | None = None  # of the text it was about
    words: str | None = None  # what `words_of` gives for its statement; None if its body is not here


class Approvals:
    """The approvals of some memories, asked one memory at a time."""

    def __init__(self, approvals: Iterable[Approval], claims: Iterable[str]) -> None:
        """`claims` names the id of every memory visible here, once for each file that has it."""
        self._claimed_twice = {name for name, count in Counter(claims).items() if count > 1}
        self._texts: set[tuple[str, str]] = set()
        self._latest: dict[str, Approval] = {}
        for one in approvals:
            if one.blob:
                self._texts.add((one.target, one.blob))
            if one.target not in self._latest or self._latest[one.target].place < one.place:
                self._latest[one.target] = one

    def covers(self, name: str, *, blob: str, words: str, edited: bool) -> bool:
        """Whether this text was approved, or its words were and no other file claims the id.

        A formatter, or a merge of other fields, changes the text but not what was approved; a text
        that was edited by hand and not committed is nobody's yet.
        """
        if (name, blob) in self._texts:
            return True
        if edited or name in self._claimed_twice or name not in self._latest:
            return False
        return self._latest[name].words in (None, words)


def recorded(clone: Clone, names: Collection[str]) -> Iterator[Approval]:
    """Every approval of these memories among the events this clone holds."""
    for event in clone.all_events():
        if event.kind in KINDS and event.target is not None and event.target in names:
            body = clone.bodies.get(event.body) if event.body else None
            yield Approval(event.target, (event.ts, event.hash_self), *said(body))


def said(body: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """The text and the words that an approval's body says it was about; nothing if it is not here."""
    if body is None:
        return None, None
    blob = body.get("blob")
    return blob if isinstance(blob, str) else None, words_of(body.get("statement"))


def words_of(statement: object) -> str:
    """A short name for what a statement says, the same whatever its line breaks."""
    said = " ".join(statement.split()) if isinstance(statement, str) else ""
    return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:32]
