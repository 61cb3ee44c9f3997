"""Which memories somebody approved, and whose word that is: computed from events, never read from a file.

An approval whose body is here names the text and the words it was about. Of another clone's only the envelope came
along: that the memory was approved, not in which words.

A memory stays superseded though the text that took its place is edited or deleted by a pull request: only a decision
brings the old one back. It holds where that approval can be seen; a branch that has never heard of it has never seen
the new text either.

What candidates said when they were proposed is read from this clone's own log: a candidate is a plain file that
anybody may change until somebody decides; its event is not.
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
SHORT = 32  # characters of an event's hash that tell it from others: what the index keeps of it
DECISIONS = (*KINDS, *UNDOING)

T0, T2, T4 = "T0", "T2", "T4"  # the lower, the more trusted: as strings, too
EDITED = "edited since approval"  # how a memory stands of which a person approved another text
UNCHECKED = "approval cannot be checked here"  # or some text, and history that could tell is cut off


@frozen
class MemoryApproval:
    """One event that lets a memory in, or (of this clone's own) takes it back."""

    kind: str
    target: str
    place: tuple[str, str]  # its time and its hash
    blob: str | None = None  # of the text it was about
    words: str | None = None  # what `words_of` gives for its statement; None if its body is not here
    replaces: tuple[str, ...] | None = None  # what its text supersedes; None if its body does not say


class Approvals:
    """The approvals of some memories, asked one memory at a time."""

    def __init__(self, approvals: Iterable[MemoryApproval], claims: Iterable[str]) -> None:
        """`claims` names the id of every memory visible here, once for each file that has it."""
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
        """Whether this text was approved, or its words were and no other file claims the id.

        A formatter, or a merge of other fields, changes the text but not what was approved; a text
        that was edited by hand and not committed is nobody's yet.
        """
        if (name, blob) in self._texts:
            return True
        if edited or name in self._claimed_twice or name not in self._latest:
            return False
        return self._latest[name].words in (None, words())

    def ends(self, name: str, *, blob: str) -> bool:
        """Whether somebody said that it no longer holds: of another clone's word only the envelope came."""
        return not self._ended.isdisjoint({(name, blob), (name, None)})


@frozen
class Vouched:
    """What the trunk of an upstream that the user trusted stands for."""

    key: str = ""  # changes when anything here does; empty where nothing is trusted
    blobs: frozenset[str] = frozenset()  # the texts of the memories in its tree
    latest: Mapping[str, str] = field(default_factory=dict)  # memory to the kind of its last decision
    erased: frozenset[str] = frozenset()
    replaced: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # memory to what it supersedes
    approved: frozenset[tuple[str, str]] = frozenset()  # memory and blob that was approved last
    texts: Mapping[str, str] = field(default_factory=dict)  # memory to the blob of the text approved last
    unchecked: frozenset[str] = frozenset()  # memories of whose approval a shallow clone cannot tell the text


class Causes:
    """Which of two decisions of this clone came first: the one that the other builds on, whatever clocks say.

    Read from the log only when somebody asks, and then once.
    """

    def __init__(self, clone: Clone | None) -> None:
        self._clone, self._known = clone, None if clone else dict[str, tuple[str, ...]]()

    def later(self, one: tuple[str, str], other: tuple[str, str]) -> bool:
        """Whether the decision at the first place came after that at the second."""
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
    """How far each text is trusted here.

    T0: a person approved this very text in this clone and nobody took that back, or a trusted trunk has it
    and its last decision there is a person's yes to this very text. T2: this clone recorded it otherwise, or
    it waits here to be published, somebody edits it right now, or a trusted trunk has it. T4: it came by git.
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
        """`own` are decisions that this very clone recorded, `waiting` the texts it has not published yet.

        `alike` names texts that differ from an approved one in their layout alone: id and blob to that blob.
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
        """The tier of a text under an id; `edited` if it is an edit by hand that is not committed."""
        if self.accepted(name, blob) is not None:
            return T0
        if blob in self._vouched.blobs:
            return T0 if (name, blob) in self._vouched.approved else T2
        ours = blob in self._waiting or (blob and (name, blob) in self._recorded)
        return T2 if edited or ours else T4

    def edited(self, texts: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
        """Which of the texts visible here (id and blob) are not the one of the memory that a person approved.

        A program's yes to such a text changes nothing. Where the approved text is here as well, in another
        file, nothing was edited: the other file only claims its id.
        """
        found = {(name, blob) for name, blob in texts if self._was_approved(name, blob)}
        names = {name for name, _ in found}
        speaking = {name for name, blob in texts if name in names and self.of(name, blob=blob, edited=False) == T0}
        return {(name, blob) for name, blob in found if name not in speaking}

    def _was_approved(self, name: str, blob: str) -> bool:
        """Whether a person approved some text of a memory: here, or in the trusted trunk that has this."""
        if blob in self._vouched.blobs and self._vouched.latest.get(name) == "accept":
            return True
        given = self._by_person.get(name)  # nothing for most of ten thousand
        return given is not None and any(self._is_last(name, at) for at in given)

    def accepted(self, name: str, blob: str) -> tuple[str, str] | None:
        """Where in time a person here approved this very text; None if nobody did, or it was taken back."""
        there = self._accepted.get((name, self._alike.get((name, blob), blob)))
        if not there or not blob:  # of most of ten thousand texts
            return None
        return max((at for at in there if self._is_last(name, at)), default=None)

    def stands(self, approval: MemoryApproval) -> bool:
        """Whether nobody here took an approval back."""
        return self._is_last(approval.target, approval.place)

    def _is_last(self, name: str, at: tuple[str, str]) -> bool:
        return all(self._causes.later(at, no) for no in self._undone.get(name, ()))


Texts = Collection[tuple[str, str]]  # each an id and a blob


def tiers(
    clone: Clone, own: Sequence[MemoryApproval], vouched: Vouched, waits: Collection[str], *, seen: Texts
) -> Tiers:
    """How far each of the texts seen here (id and blob) is trusted."""
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
    """Every decision about these memories that this clone recorded itself, on whatever line."""
    second_hand = clone.second_hand()
    about = clone.find_events("own", kinds=DECISIONS, targets=names)
    return [_approval(clone, event, second_hand) for event in about]


def every_decision(clone: Clone, names: Collection[str]) -> list[MemoryApproval]:
    """The same, and those about others, of which only an approval may say something: what it replaced."""
    second_hand = clone.second_hand()
    return [
        _approval(clone, event, second_hand)
        if event.target in names or event.kind == "accept"
        else MemoryApproval(event.kind, event.target or "", (event.ts, event.hash_self))
        for event in clone.find_events("own", kinds=DECISIONS)
    ]


def heard(clone: Clone, names: Collection[str]) -> tuple[list[MemoryApproval], list[MemoryApproval]]:
    """Every decision that can be seen here, and what `every_decision` gives; each body is read once."""
    own = every_decision(clone, names)
    known = {one.place[1] for one in own}
    foreign = (e for e in clone.find_events("published", kinds=DECISIONS) if e.target in names)
    there = [_approval(clone, event) for event in foreign if event.hash_self not in known]
    return [*own, *there], own


def _approval(clone: Clone, event: Event, second_hand: Collection[str] = ()) -> MemoryApproval:
    body = clone.bodies.get(event.body) if event.body else None
    kind = weakened(event.kind, event.hash_self, second_hand)
    return MemoryApproval(kind, event.target or "", (event.ts, event.hash_self), *said(body), replaces(body))


def replaces(body: Mapping[str, Any] | None) -> tuple[str, ...] | None:
    """What the text that an approval is about supersedes; None if its body does not say."""
    named = (body or {}).get("supersedes")
    return tuple(one for one in named if isinstance(one, str)) if isinstance(named, list) else None


def weakened(kind: str, event: str, second_hand: Collection[str]) -> str:
    """What a decision of this clone counts as: from the store of last resort comes no person's yes."""
    return "promote" if kind == "accept" and event in second_hand else kind


def repeats(claims: Iterable[tuple[str, str, str]], tiers: Tiers) -> set[tuple[str, str, str]]:
    """Files that claim the id of another which a person approved, though their text was approved, too.

    Claims are (id, blob, path). The text that was approved last speaks; of equal texts that of the
    file whose name is the id's. So a copy silences nothing, and brings no earlier text back.
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


def still_superseded(
    clone: Clone,
    own: Collection[MemoryApproval],
    tiers: Tiers,
    vouched: Vouched,
    *,
    visible: Collection[tuple[str, str]],
) -> dict[str, str]:
    """Each memory that stays superseded, to the one that took its place.

    `own` are this clone's decisions about every memory, `visible` the texts here by id and blob.
    """
    if not vouched.replaced and not any(one.kind == "accept" for one in own):
        return {}
    names = {name for name, _ in visible}
    speaking = {name for name, blob in visible if tiers.of(name, blob=blob, edited=False) == T0}
    given = grouped((one.target, one) for one in own if one.kind == "accept" and one.target not in speaking)
    gone = {name for name in given if vouched.latest.get(name) in UNDOING}
    here = _replaced(clone, [one for name in given.keys() - gone for one in given[name]], names)
    there = {name: names.intersection(olds) for name, olds in vouched.replaced.items() if name not in speaking}
    if not any((*here.values(), *there.values())):
        return {}
    seen = clone.find_events(kinds=("accept",))
    hashes, targets = {event.hash_self for event in seen}, {event.target for event in seen}
    held = {name: olds for name, olds in there.items() if name in targets}
    for name in {place[0] for place, olds in here.items() if olds}:
        last = _last([one for one in given[name] if one.place[1] in hashes and tiers.stands(one)], clone)
        held |= {name: here[name, last.place[1]]} if last else {}
    return {old: name for name, olds in sorted(held.items()) for old in olds}


def _last(approvals: Iterable[MemoryApproval], clone: Clone) -> MemoryApproval | None:
    causes, found = Causes(clone), None
    for one in approvals:
        found = one if found is None or causes.later(one.place, found.place) else found
    return found


def _replaced(clone: Clone, approvals: Iterable[MemoryApproval], names: set[str]) -> Mapping[tuple[str, str], set[str]]:
    """What the text of each approval supersedes; where no body says so, git may still have the text."""
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
    """The ids of those whose words are not the ones they were proposed with."""
    asked = {candidate.id for candidate in candidates}
    events = clone.find_events("own", kinds=("propose",), targets=asked) if asked else ()
    said = grouped((event.target, words) for event in events for words in _statement(clone, event.body or ""))
    return {one.id for one in candidates if said.get(one.id) and one.statement not in said[one.id]}


def _statement(clone: Clone, body: str) -> list[str]:
    try:
        statement = ((clone.bodies.get(body) if body else None) or {}).get("statement")
    except (CorruptLog, UnsafePath, TooLarge):  # doctor names it
        return []
    return [statement] if isinstance(statement, str) else []
