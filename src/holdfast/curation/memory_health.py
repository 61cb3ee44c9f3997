"""The curator: reports the health of memory on request; it suggests and never acts.

Its findings are computed from the current memories. Duplicates and memories that lost their evidence become candidates
with a suggestion and the reason; a person accepts them or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from holdfast.curation import candidates, memory_conflicts, memory_state, propose, snapshot
from holdfast.curation.decisions import MemoryStanding
from holdfast.errors import BadInput
from holdfast.git.approvals import KINDS as APPROVALS
from holdfast.git.clone import Clone
from holdfast.model import memory as rules
from holdfast.model.evidence import Provenance, receipt_name
from holdfast.model.text import tokens
from holdfast.values import field, frozen, replace

TOPICS = (
    *("stale", "expired", "contradicting", "duplicate", "never recalled", "never used"),
    *("orphaned evidence", "dangling link", "oversized", "broken"),
)
OVERSIZED = 400  # tokens; a guess: one memory should not take a fifth of a context of 2,000 tokens
UNUSED = timedelta(days=30)  # without a use; a guess: a month of work touches most of a project
OFTEN = 12  # times found; a guess: a useful memory is cited by then
_LOST = ("gone", "unanchored")


@frozen
class CuratorSuggestion:
    """A change that a person may accept."""

    suggests: str  # deprecate:<id> or merge:<id>:<into>
    because: str


@frozen
class CuratorFinding:
    """Something about one or two memories that a person should check."""

    topic: str  # one of TOPICS
    ids: tuple[str, ...]
    sentence: str
    suggestion: CuratorSuggestion | None = None
    candidate: str | None = None  # the id of the candidate


@frozen
class MemoryHealth:
    """The number of memories that were checked, and the findings."""

    memories: int
    findings: tuple[CuratorFinding, ...]

    def of(self, topic: str) -> list[CuratorFinding]:
        return [finding for finding in self.findings if finding.topic == topic]


@frozen
class RecallUse:
    """How memories were used in this clone since counting began."""

    since: datetime | None
    recalled: Collection[str]  # ids in lower case: found by a search, or shown in a context
    times: Mapping[str, int] = field(default_factory=dict)  # how often a search found it
    used: Collection[str] = ()  # cited or acted on afterwards


def examine(clone: Clone, now: datetime, *, use: RecallUse) -> MemoryHealth:
    """Returns the findings about all current memories."""
    found = memory_state.list_memories(clone, now)
    shelf = candidates.read(clone)
    known = memory_conflicts.KnownClaims(found.standings)
    conflicts = memory_conflicts.standing_conflicts(clone, found.standings, known, everything=True)
    findings = [
        *_evidence_findings(found),
        *(CuratorFinding("contradicting", (one.one.id, one.other.id), one.verdict.why) for one in conflicts),
        *_duplicates(known, found),
        *_unused(found.trusted, _accepted_at(clone), use, now),
        *_orphaned(found),
        *_dangling([*found.standings], {*shelf.ids, *(one.id for one in found.standings)}),
        *_oversized((*found.trusted, *found.stale)),
        *(CuratorFinding("broken", (), one.message) for one in found.broken),
    ]
    return MemoryHealth(len(found.standings), tuple(findings))


def suggest(clone: Clone, health: MemoryHealth) -> MemoryHealth:
    """Adds a candidate for each suggestion, once; rejected suggestions are not repeated."""
    kinds = {one.memory.id: one.memory.type for one in memory_state.read_visible(clone)[0]}
    with snapshot.locked_proposals(clone) as batch:
        found = tuple(_with_candidate(clone, one, kinds, batch) for one in health.findings)
    return replace(health, findings=found)


def _with_candidate(
    clone: Clone, finding: CuratorFinding, kinds: Mapping[str, str], batch: snapshot.ProposalBatch
) -> CuratorFinding:
    if finding.suggestion is None:
        return finding
    action = finding.suggestion.suggests.partition(":")[0]
    into = f" into {finding.ids[1]}" if action == "merge" else ""
    statement = f"{action.capitalize()} {finding.ids[0]}{into}: {finding.sentence}"
    try:
        made = propose.propose(
            clone,
            statement=statement,
            kind=kinds[finding.ids[0]],
            suggests=finding.suggestion.suggests,
            because=finding.suggestion.because,
            provenance=[Provenance("curate", None, finding.sentence)],
            batch=batch,
        )
    except BadInput:  # a tombstone: somebody rejected it
        return replace(finding, suggestion=None)
    return replace(finding, candidate=made.id if isinstance(made, rules.Candidate) else None)


def _evidence_findings(found: memory_state.MemoryListing) -> Iterator[CuratorFinding]:
    for one in found.stale:
        changed = [text for text, state in one.receipts if state in ("changed", "gone")]
        gone = all(state == "gone" for _, state in one.receipts)
        why = f"{_names(changed)} is gone" if gone else f"{_names(changed)} has changed"
        suggestion = CuratorSuggestion(f"deprecate:{one.id}", f"all its evidence is gone: {why}") if gone else None
        yield CuratorFinding("stale", (one.id,), why, suggestion)
    for one in found.expired:
        when = rules.iso(one.memory.expires_at)[:10] if one.memory.expires_at else ""
        suggestion = CuratorSuggestion(f"deprecate:{one.id}", f"it was valid until {when}")
        yield CuratorFinding("expired", (one.id,), f"expired on {when}", suggestion)


def _duplicates(known: memory_conflicts.KnownClaims, found: memory_state.MemoryListing) -> Iterator[CuratorFinding]:
    standing = {one.id: one for one in (*found.trusted, *found.stale)}
    seen: set[frozenset[str]] = set()
    for one in standing.values():
        for twin in known.same(one.memory):
            pair = frozenset((one.id, twin.id))
            if twin.id in standing and pair not in seen:
                seen.add(pair)
                # The one with less evidence would be merged into the other.
                less, more = (found.id for found in sorted((one, standing[twin.id]), key=_weight))
                suggestion = CuratorSuggestion(f"merge:{less}:{more}", f"it says what {more} says")
                yield CuratorFinding("duplicate", (less, more), "says the same", suggestion)


def _weight(standing: MemoryStanding) -> tuple[bool, int, float, int, str]:
    memory, held = standing.memory, sum(state == "holds" for _, state in standing.receipts)
    return standing.trust == "T0", held, memory.confidence or 0, len(memory.details), standing.id


def _unused(
    trusted: Iterable[MemoryStanding], accepted: Mapping[str, datetime], use: RecallUse, now: datetime
) -> Iterator[CuratorFinding]:
    """Yields memories accepted long ago and never shown since, or found often and never used.

    Until counting has run for that time, it yields none.
    """
    if use.since is None or now - use.since < UNUSED:
        return
    for one in trusted:
        began = accepted.get(one.id)
        if began is None or now - began < UNUSED:
            continue
        times = use.times.get(one.id.lower(), 0)
        if one.id.lower() not in use.recalled:
            yield CuratorFinding("never recalled", (one.id,), f"accepted {began:%Y-%m-%d}, never found or shown since")
        elif times >= OFTEN and one.id.lower() not in use.used:
            yield CuratorFinding("never used", (one.id,), f"recalled {times:,} times, never cited or acted on")


def _accepted_at(clone: Clone) -> dict[str, datetime]:
    events = sorted(clone.find_events("all", kinds=APPROVALS), key=lambda event: event.ts)
    return {event.target: datetime.fromisoformat(event.ts) for event in events if event.target}


def _orphaned(found: memory_state.MemoryListing) -> Iterator[CuratorFinding]:
    """Yields memories whose runs or commits cannot be found any more: nothing disproves or supports them."""
    for one in (*found.trusted, *found.stale):
        missing = [t for t, state in one.receipts if state in _LOST and t.startswith(("run:", "commit:"))]
        if missing:
            because = "none of its evidence can be found any more"
            alone = len(missing) == len(one.receipts)
            suggestion = CuratorSuggestion(f"deprecate:{one.id}", because) if alone else None
            yield CuratorFinding("orphaned evidence", (one.id,), f"{_names(missing)} cannot be found", suggestion)


def _dangling(standings: Sequence[MemoryStanding], ids: Collection[str]) -> Iterator[CuratorFinding]:
    for one in (one for one in standings if one.status not in ("superseded", "deprecated")):
        if missing := [name for name in (*one.memory.supersedes, *one.memory.compatible_with) if name not in ids]:
            yield CuratorFinding("dangling link", (one.id,), f"names {', '.join(missing)}, which is not here")


def _oversized(standings: Iterable[MemoryStanding]) -> Iterator[CuratorFinding]:
    for one in standings:
        if (size := tokens(f"{one.memory.statement}\n{one.memory.details}")) > OVERSIZED:
            why = f"takes {size:,} tokens; {OVERSIZED} are plenty for one memory"
            yield CuratorFinding("oversized", (one.id,), why)


def _names(cited: Sequence[str]) -> str:
    """Returns receipts as people know them."""
    return ", ".join(map(receipt_name, cited))
