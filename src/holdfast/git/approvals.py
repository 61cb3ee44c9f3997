"""Which memories somebody approved, and whose word that is: computed from events, never read from a file.

An approval whose body is here names the text and the words it was about. Of another clone's only
the envelope came along: that the memory was approved, not in which words.
"""

import contextlib
import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.git.clone import Clone
from holdfast.model.event import Event

KINDS = ("accept", "promote", "edit")
UNDOING = ("retire", "reject")
DECISIONS = (*KINDS, *UNDOING)

T0, T2, T4 = "T0", "T2", "T4"  # the lower, the more trusted: as strings, too


@dataclass(frozen=True, slots=True)
class Approval:
    """One event that lets a memory in, or (of this clone's own) takes it back."""

    kind: str
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
        self._ended: set[tuple[str, str | None]] = set()
        for one in approvals:
            if one.kind == "retire":
                self._ended.add((one.target, one.blob))
            if one.kind not in KINDS:
                continue
            if one.blob and one.words != NO_WORDS:  # an edit that names no words approves nothing
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

    def ends(self, name: str, *, blob: str) -> bool:
        """Whether somebody said that it no longer holds: of another clone's word only the envelope came."""
        return not self._ended.isdisjoint({(name, blob), (name, None)})


@dataclass(frozen=True, slots=True)
class Vouched:
    """What the trunk of an upstream that the user trusted stands for."""

    key: str = ""  # changes when anything here does; empty where nothing is trusted
    blobs: frozenset[str] = frozenset()  # the texts of the memories in its tree
    latest: Mapping[str, str] = field(default_factory=dict)  # memory to the kind of its last decision
    erased: frozenset[str] = frozenset()


class Tiers:
    """How far each text is trusted here.

    T0: a person approved this very text in this clone and nobody took that back, or a trusted trunk has it
    and a person's yes was the last word there. T2: this clone recorded it otherwise, or it waits here to be
    published, somebody edits it right now, or a trusted trunk has it. T4: it came by git.
    """

    def __init__(self, own: Iterable[Approval], vouched: Vouched, waiting: Collection[str]) -> None:
        """`own` are decisions that this very clone recorded, `waiting` the texts it has not published yet."""
        self._vouched, self._waiting = vouched, waiting
        self._recorded: set[tuple[str, str]] = set()
        self._accepted: dict[tuple[str, str], tuple[str, str]] = {}
        self._undone: dict[str, tuple[str, str]] = {}
        for one in own:
            text = (one.target, one.blob or "")
            self._recorded.add(text)
            if one.kind == "accept":
                self._accepted[text] = max(one.place, self._accepted.get(text, one.place))
            elif one.kind in UNDOING:
                self._undone[one.target] = max(one.place, self._undone.get(one.target, one.place))

    def of(self, name: str, *, blob: str, edited: bool) -> str:
        """The tier of a text under an id; `edited` if it is an edit by hand that is not committed."""
        accepted = self._accepted.get((name, blob))
        if blob and accepted is not None and accepted > self._undone.get(name, ("", "")):
            return T0
        if blob in self._vouched.blobs:
            return T0 if self._vouched.latest.get(name) == "accept" else T2
        ours = blob in self._waiting or (blob and (name, blob) in self._recorded)
        return T2 if edited or ours else T4


def recorded(clone: Clone, names: Collection[str]) -> Iterator[Approval]:
    """Every approval of these memories among the events this clone holds."""
    for event in clone.all_events():
        if event.kind in KINDS and event.target in names:
            yield _approval(clone, event)


def decided(clone: Clone, names: Collection[str]) -> Iterator[Approval]:
    """Every decision about these memories that this clone recorded itself, on whatever line."""
    for event in _own(clone):
        if event.kind in DECISIONS and event.target in names:
            yield _approval(clone, event)


def heard(clone: Clone, names: Collection[str]) -> tuple[list[Approval], list[Approval]]:
    """What `recorded` and `decided` give, with each event and each body read once."""
    own = list(decided(clone, names))
    known = {one.place[1] for one in own}
    others = clone.read_sources(source for source in clone.sources() if source.blob)
    foreign = (event for event, _ in others if event.kind in DECISIONS and event.target in names)
    there = [_approval(clone, event) for event in foreign if event.hash_self not in known]
    return [*own, *there], own


def _approval(clone: Clone, event: Event) -> Approval:
    body = clone.bodies.get(event.body) if event.body else None
    return Approval(event.kind, event.target or "", (event.ts, event.hash_self), *said(body))


def _own(clone: Clone) -> list[Event]:
    """This clone's own events; looked for again if a spool was sealed between finding and reading it."""
    for _ in range(20):
        with contextlib.suppress(FileNotFoundError):
            return list(clone.own_events())
    return list(clone.own_events())


def waiting(clone: Clone) -> frozenset[str]:
    """The texts that this clone has recorded and not yet published on this line."""
    return frozenset(change.blob for change in clone.changes() if change.blob and change.segment is None)


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


NO_WORDS = words_of(None)
