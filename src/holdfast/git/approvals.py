"""Computes which memories were approved, by whom, and how far to trust their text: from events, never from a file.

An approval whose body is in this clone names the approved text and a hash of its statement. Of another clone's
approval only the envelope is here: it shows that the memory was approved, not in which words.

A superseded memory stays superseded when a pull request edits or deletes the text that replaced it: only a decision
restores the old one. This applies on branches whose log has that approval; other branches never had the new text.

The original words of a candidate are read from this clone's own log: a candidate is a plain file that anybody may
edit until it is decided on; its event cannot be edited.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from holdfast.errors import BrokenEntry, CorruptLog, TooLarge, UnsafePath
from holdfast.git import approval_proofs
from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.model.memory import Accepted, Candidate
from holdfast.store import memory_files
from holdfast.values import field, frozen, grouped

KINDS = ("accept", "promote", "edit")
UNDOING = ("retire", "reject")
SHORT = 32  # characters of an event's hash that are compared: 128 bits do not collide
DECISIONS = (*KINDS, *UNDOING)

T0, T2, T4 = "T0", "T2", "T4"  # the lower, the more trusted: as strings, too
EDITED = "edited since approval"  # a person approved another text of this memory
UNCHECKED = "approval cannot be checked here"  # a shallow clone lacks the history that names the approved text


@frozen
class MemoryApproval:
    """One event that approves a memory, or (of this clone's own events) withdraws the approval."""

    kind: str
    target: str
    place: tuple[str, str]  # the event's time and hash
    blob: str | None = None  # of the approved text
    words: str | None = None  # `words_of` its statement; None if the body is not here
    replaces: tuple[str, ...] | None = None  # memories that the text supersedes; None if the body does not name them


class Approvals:
    """The approvals of some memories, looked up one memory at a time."""

    def __init__(self, approvals: Iterable[MemoryApproval], claims: Iterable[str]) -> None:
        """`claims` holds the id of every memory visible here, once for each file that has it."""
        self._claimed_twice = {name for name, count in Counter(claims).items() if count > 1}
        self._texts: set[tuple[str, str]] = set()
        self._latest: dict[str, MemoryApproval] = {}
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

    def covers(self, name: str, *, blob: str, words: Callable[[], str], edited: bool) -> bool:
        """Returns whether this text was approved, or its statement was and no other file has the same id.

        A formatter, or a merge of other fields, changes the text but not the approved statement. An uncommitted
        edit by hand (`edited`) needs an approval of its own.
        """
        if (name, blob) in self._texts:
            return True
        if edited or name in self._claimed_twice or name not in self._latest:
            return False
        return self._latest[name].words in (None, words())

    def ends(self, name: str, *, blob: str) -> bool:
        """Returns whether the memory was retired; a retirement without a body (another clone's) ends every text."""
        return not self._ended.isdisjoint({(name, blob), (name, None)})


@frozen
class Vouched:
    """The memories and decisions on the trunk of an upstream that the user trusts."""

    key: str = ""  # changes with anything below; empty if no upstream is trusted
    blobs: frozenset[str] = frozenset()  # the texts of the memories in its tree
    latest: Mapping[str, str] = field(default_factory=dict)  # memory to the kind of its last decision
    erased: frozenset[str] = frozenset()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # memory to the memories it supersedes
    approved: frozenset[tuple[str, str]] = frozenset()  # each memory with its last approved blob
    texts: Mapping[str, str] = field(default_factory=dict)  # memory to the blob of its last approved text
    unchecked: frozenset[str] = frozenset()  # memories whose approved text a shallow clone cannot determine


class Causes:
    """Tells which of two decisions of this clone came first: the one that the other builds on, whatever clocks say.

    The log is read at most once, on the first question that times cannot answer.
    """

    def __init__(self, clone: Clone | None) -> None:
        self._clone, self._known = clone, None if clone else dict[str, tuple[str, ...]]()

    def later(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Returns whether the first decision came after the second."""
        if self._known is None and self._clone and self._clone.tells_order_by_time():
            return one > other
        if self._builds_on(one[1], other[1]):
            return True
        return one > other and not self._builds_on(other[1], one[1])

    def _builds_on(self, one: str, other: str) -> bool:
        parents = self._parents()
        todo, seen = [one[:SHORT]], set[str]()
        while todo:
            for parent in parents.get(todo.pop(), ()):
                if parent == other[:SHORT]:
                    return True
                if parent not in seen:
                    seen.add(parent)
                    todo.append(parent)
        return False

    def _parents(self) -> Mapping[str, tuple[str, ...]]:
        if self._known is None:
            assert self._clone is not None
            events = self._clone.all_events()
            self._known = {e.hash_self[:SHORT]: tuple(p[:SHORT] for p in e.hash_prev) for e in events}
        return self._known


class Tiers:
    """How far each text is trusted here: its trust tier.

    T0: a person approved exactly this text in this clone and the approval was not withdrawn, or a trusted trunk
    has it and the last decision there is a person's approval of exactly this text. T2: this clone recorded it some
    other way, it waits to be published, it is being edited, or a trusted trunk has it. T4: it came by git.
    """

    def __init__(
        self,
        own: Iterable[MemoryApproval],
        vouched: Vouched,
        waiting: Collection[str],
        *,
        causes: Causes | None = None,
        alike: Mapping[tuple[str, str], str] | None = None,
    ) -> None:
        """`own` are decisions that this clone recorded, `waiting` the texts it has not published yet.

        `alike` maps texts that differ from an approved one only in layout (id and blob) to the approved blob.
        """
        self._alike = alike or {}
        self._vouched, self._waiting, self._causes = vouched, waiting, causes or Causes(None)
        self._recorded: set[tuple[str, str]] = set()
        self._accepted: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
        self._by_person: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._undone: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for one in own:
            text = (one.target, one.blob or "")
            self._recorded.add(text)
            if one.kind == "accept":
                self._accepted[text].append(one.place)
                self._by_person[one.target] += [one.place] if one.blob else []
            elif one.kind in UNDOING:
                self._undone[one.target].append(one.place)

    def of(self, name: str, *, blob: str, edited: bool) -> str:
        """Returns the tier of a text under an id; `edited`: it is an uncommitted edit by hand."""
        if self.accepted(name, blob) is not None:
            return T0
        if blob in self._vouched.blobs:
            return T0 if (name, blob) in self._vouched.approved else T2
        ours = blob in self._waiting or (blob and (name, blob) in self._recorded)
        return T2 if edited or ours else T4

    def edited(self, texts: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """Returns the visible texts (id and blob) that differ from the text a person approved for the memory.

        A program's approval of such a text does not count. If another file here has the approved text,
        nothing was edited: the file only claims the same id.
        """
        found = {(name, blob) for name, blob in texts if self._was_approved(name, blob)}
        names = {name for name, _ in found}
        in_force = {name for name, blob in texts if name in names and self.of(name, blob=blob, edited=False) == T0}
        return {(name, blob) for name, blob in found if name not in in_force}

    def _was_approved(self, name: str, blob: str) -> bool:
        """Returns whether a person approved any text of a memory: here, or on the trusted trunk that has this one."""
        if blob in self._vouched.blobs and self._vouched.latest.get(name) == "accept":
            return True
        approved_at = self._by_person.get(name)  # None for most of ten thousand memories
        return approved_at is not None and any(self._is_last(name, at) for at in approved_at)

    def accepted(self, name: str, blob: str) -> tuple[str, str] | None:
        """Returns when a person here approved exactly this text; None if nobody did or it was withdrawn."""
        approved_at = self._accepted.get((name, self._alike.get((name, blob), blob)))
        if not approved_at or not blob:  # most of ten thousand texts
            return None
        return max((at for at in approved_at if self._is_last(name, at)), default=None)

    def stands(self, approval: MemoryApproval) -> bool:
        """Returns whether no decision of this clone withdrew an approval."""
        return self._is_last(approval.target, approval.place)

    def _is_last(self, name: str, at: tuple[str, str]) -> bool:
        return all(self._causes.later(at, no) for no in self._undone.get(name, ()))


Texts = Collection[tuple[str, str]]  # each an id and a blob


def tiers(
    clone: Clone, own: Sequence[MemoryApproval], vouched: Vouched, waits: Collection[str], *, seen: Texts
) -> Tiers:
    """Returns the tiers of the texts visible here (`seen`: id and blob)."""
    given = {(one.target, one.blob) for one in own if one.kind == "accept" and one.blob}
    names = {name for name, _ in given}
    alike = {}
    if odd := [text for text in seen if text[0] in names and text not in given]:
        digests = approval_proofs.digests(clone.repo, {blob for _, blob in (*odd, *given) if blob})
        approved = {(name, digests[blob]): blob for name, blob in given if blob in digests}
        found = {text: approved.get((text[0], digests.get(text[1], ""))) for text in odd}
        alike = {text: blob for text, blob in found.items() if blob}
    return Tiers(own, vouched, waits, causes=Causes(clone), alike=alike)


def decided(clone: Clone, names: Collection[str]) -> list[MemoryApproval]:
    """Returns every decision about these memories that this clone recorded itself, on any branch."""
    second_hand = clone.second_hand()
    about = clone.find_events("own", kinds=DECISIONS, targets=names)
    return [_approval(clone, event, second_hand) for event in about]


def every_decision(clone: Clone, names: Collection[str]) -> list[MemoryApproval]:
    """Returns every decision of this clone; of those about other memories, only approvals are read in full."""
    second_hand = clone.second_hand()
    return [
        _approval(clone, event, second_hand)
        if event.target in names or event.kind == "accept"
        else MemoryApproval(event.kind, event.target or "", (event.ts, event.hash_self))
        for event in clone.find_events("own", kinds=DECISIONS)
    ]


def heard(clone: Clone, names: Collection[str]) -> tuple[list[MemoryApproval], list[MemoryApproval]]:
    """Returns all decisions visible here, and those of `every_decision`; each body is read once."""
    own = every_decision(clone, names)
    known = {one.place[1] for one in own}
    foreign = (e for e in clone.find_events("published", kinds=DECISIONS) if e.target in names)
    others = [_approval(clone, event) for event in foreign if event.hash_self not in known]
    return [*own, *others], own


def _approval(clone: Clone, event: Event, second_hand: Collection[str] = ()) -> MemoryApproval:
    body = clone.bodies.get(event.body) if event.body else None
    kind = weakened(event.kind, event.hash_self, second_hand)
    return MemoryApproval(kind, event.target or "", (event.ts, event.hash_self), *approved_text(body), replaces(body))


def replaces(body: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    """Returns the memories that the approved text supersedes; None if the body does not name them."""
    named = (body or {}).get("supersedes")
    return tuple(one for one in named if isinstance(one, str)) if isinstance(named, list) else None


def weakened(kind: str, event: str, second_hand: Collection[str]) -> str:
    """Returns the kind a decision of this clone counts as: one recorded in a sandbox is no person's approval."""
    return "promote" if kind == "accept" and event in second_hand else kind


def repeats(claims: Iterable[tuple[str, str, str]], tiers: Tiers) -> set[tuple[str, str, str]]:
    """Returns the spare files among several that have the same id and an approved text each.

    Claims are (id, blob, path). The text approved last applies; among equal texts, the one in the file that is
    named after the id. So a copied file neither hides the memory nor restores an earlier text.
    """
    files = list(claims)
    named = Counter(name for name, _, _ in files)
    several = [] if len(named) == len(files) else [one for one in files if named[one[0]] > 1]
    spare: set[tuple[str, str, str]] = set()
    for name, found in grouped((claim[0], claim) for claim in several).items():
        vouched = [one for one in found if tiers.of(name, blob=one[1], edited=False) == T0]
        spare |= {*vouched} - {max(vouched, key=lambda one: _rank(one, tiers), default=("", "", ""))}
    return spare


def _rank(claim: tuple[str, str, str], tiers: Tiers) -> tuple[tuple[str, str], bool, list[int]]:
    name, blob, path = claim
    backwards = [-ord(character) for character in path]
    return tiers.accepted(name, blob) or ("", ""), path.endswith(f"-{name}.md"), backwards


def waiting(clone: Clone) -> frozenset[str]:
    """Returns the blobs that this clone has recorded and not yet published on this branch."""
    return frozenset(change.blob for change in clone.changes() if change.blob and change.segment is None)


def approved_text(body: Mapping[str, Any] | None) -> tuple[str | None, str | None]:
    """Returns the blob and the hash of the words in an approval's body; None for both if there is no body."""
    if body is None:
        return None, None
    blob = body.get("blob")
    return blob if isinstance(blob, str) else None, words_of(body.get("statement"))


def words_of(statement: object) -> str:
    """Returns a short hash of a statement's words, the same for any line breaks."""
    words = " ".join(statement.split()) if isinstance(statement, str) else ""
    return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()[:32]


NO_WORDS = words_of(None)


def still_superseded(
    clone: Clone,
    own: Collection[MemoryApproval],
    tiers: Tiers,
    vouched: Vouched,
    *,
    visible: Collection[tuple[str, str]],
) -> dict[str, str]:
    """Returns each memory that stays superseded, with the memory that replaced it.

    `own` are this clone's decisions about every memory, `visible` the texts here (id and blob).
    """
    if not vouched.replaced and not any(one.kind == "accept" for one in own):
        return {}
    names = {name for name, _ in visible}
    in_force = {name for name, blob in visible if tiers.of(name, blob=blob, edited=False) == T0}
    accepted = grouped((one.target, one) for one in own if one.kind == "accept" and one.target not in in_force)
    gone = {name for name in accepted if vouched.latest.get(name) in UNDOING}
    here = _replaced(clone, [one for name in accepted.keys() - gone for one in accepted[name]], names)
    upstream = {name: names.intersection(olds) for name, olds in vouched.replaced.items() if name not in in_force}
    if not any((*here.values(), *upstream.values())):
        return {}
    seen = clone.find_events(kinds=("accept",))
    hashes, targets = {event.hash_self for event in seen}, {event.target for event in seen}
    held = {name: olds for name, olds in upstream.items() if name in targets}
    for name in {place[0] for place, olds in here.items() if olds}:
        last = _last([one for one in accepted[name] if one.place[1] in hashes and tiers.stands(one)], clone)
        held |= {name: here[name, last.place[1]]} if last else {}
    return {old: name for name, olds in sorted(held.items()) for old in olds}


def _last(approvals: Iterable[MemoryApproval], clone: Clone) -> MemoryApproval | None:
    causes, found = Causes(clone), None
    for one in approvals:
        found = one if found is None or causes.later(one.place, found.place) else found
    return found


def _replaced(clone: Clone, approvals: Iterable[MemoryApproval], names: set[str]) -> Mapping[tuple[str, str], set[str]]:
    """Returns what the text of each approval supersedes; if the body does not name it, git may still have the text."""
    given = list(approvals)
    texts = clone.repo.blobs(one.blob for one in given if one.replaces is None and one.blob)
    found = {}
    for one in given:
        olds = _supersedes(texts.get(one.blob or "")) if one.replaces is None else one.replaces
        found[one.target, one.place[1]] = names.intersection(olds)
    return found


def _supersedes(data: bytes | None) -> tuple[str, ...]:
    try:
        memory = memory_files.parse((data or b"").decode("utf-8", "replace"), "")
    except BrokenEntry:
        return ()
    return memory.supersedes if isinstance(memory, Accepted) else ()


def candidates_changed(clone: Clone, candidates: Collection[Candidate]) -> set[str]:
    """Returns the ids of the candidates whose statement was changed since they were proposed."""
    ids = {candidate.id for candidate in candidates}
    events = clone.find_events("own", kinds=("propose",), targets=ids) if ids else ()
    proposed = grouped((event.target, words) for event in events for words in _statement(clone, event.body or ""))
    return {one.id for one in candidates if proposed.get(one.id) and one.statement not in proposed[one.id]}


def _statement(clone: Clone, body: str) -> list[str]:
    try:
        statement = ((clone.bodies.get(body) if body else None) or {}).get("statement")
    except (CorruptLog, UnsafePath, TooLarge):  # `doctor` reports it
        return []
    return [statement] if isinstance(statement, str) else []
