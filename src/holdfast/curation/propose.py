"""Proposing a memory: it becomes a candidate, which waits on the shelf until somebody decides.

The same claim is one memory however often it is proposed, in these or in other words:

- waiting already: the candidate is given back, joined with the new evidence;
- accepted already: the accepted memory is given back as it stands (its text was approved, so it does not
  change); new evidence is noted in the log;
- accepted once, but it has expired, or its evidence is stale and there is new: a new candidate that
  supersedes the old one;
- rejected: BadInput says when and why. A person may still accept the tombstone.

Whether two texts make the same claim is `model.claims`' business.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from holdfast.curation import candidates, decisions
from holdfast.curation.ground import Ground, together
from holdfast.errors import BadInput, NotFound
from holdfast.git.clone import Clone
from holdfast.git.evidence import resolve_all, states
from holdfast.git.rewritten import anchors
from holdfast.model import memory as rules
from holdfast.model.claims import Statement
from holdfast.model.evidence import Evidence
from holdfast.model.ids import memory_id
from holdfast.model.memory import Accepted, Candidate, Memory, Rejected, is_expired
from holdfast.model.provenance import Provenance

NewId = Callable[[str, list[str]], str]


def propose(
    clone: Clone,
    *,
    statement: str,
    details: str = "",
    kind: str = "fact",
    layer: str | None = None,
    confidence: float | None = None,
    evidence: Iterable[str | Evidence] = (),
    tags: Iterable[str] = (),
    applies_to: Iterable[str] = (),
    supersedes: Iterable[str] = (),
    compatible_with: Iterable[str] = (),
    expires_at: str | datetime | None = None,
    source: str | None = None,
    provenance: Iterable[str | Provenance] = (),
    suggests: str | None = None,
    because: str = "",
    id: str | None = None,  # noqa: A002 - the field's own name
    new_id: NewId = memory_id,
    ground: Ground | None = None,
) -> Candidate | Accepted:
    """Put a candidate on the shelf, or find the memory that says the same already.

    Secrets are removed before anything is compared or written; evidence becomes receipts. `ground` comes from
    `together`, where many are proposed at once.
    """
    cited = rules.unique(map(str, resolve_all(clone, map(str, evidence))))
    words, more = rules.split_statement(f"{statement}\n\n{details}")
    given = {
        "statement": words,
        "details": more,
        "tags": rules.unique(tags),
        "applies_to": rules.unique(applies_to),
        "source": source or _source(cited),
        "provenance": rules.unique(map(str, provenance)),
        "because": because.strip(),
        "id": id,
    }
    cleaned = _cleaned(clone, given)
    if (cleaned["statement"], cleaned["details"]) != (words, more):
        clone.notes.append("a secret was removed from the words before they were stored")
    fields: dict[str, Any] = {
        **cleaned,
        "type": kind,
        "layer": layer,
        "confidence": confidence,
        "evidence": cited,
        "supersedes": rules.unique(supersedes),
        "compatible_with": rules.unique(compatible_with),
        "suggests": suggests,
        "expires_at": expiry(clone, expires_at),
    }
    for name in ("type", "id") if id is not None else ("type",):
        rules.CHECKS[name](fields[name])
    anchors.keep(clone, [text.removeprefix("commit:") for text in cited if text.startswith("commit:")])
    if ground is not None:
        return _keep(clone, fields, new_id, ground)
    with together(clone) as alone:
        return _keep(clone, fields, new_id, alone)


def _cleaned(clone: Clone, given: dict[str, Any]) -> dict[str, Any]:
    """The words without their secrets, lists still as tuples."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, tuple):
            found[name] = rules.unique(clone.intake.text(str(item)) for item in value)
        else:
            found[name] = None if value is None else clone.intake.text(str(value))
    return found


def _keep(clone: Clone, fields: dict[str, Any], new_id: NewId, ground: Ground) -> Candidate | Accepted:
    alike = ground.alike(Statement(fields["statement"], fields["type"], fields["applies_to"]), fields["suggests"])
    known = _known(clone, alike, fields)
    if isinstance(known, Candidate):
        joined = _join(clone, known, fields)
        ground.put(joined)
        return joined
    if isinstance(known, Accepted):
        _note_evidence(clone, known, fields["evidence"])
        return known
    if (fields["id"] or "").lower() in (name.lower() for name in ground.ids):  # file names may ignore case
        raise BadInput(f"{fields['id']} says something else already", hint="Leave --id out to get a new one.")
    if unknown := [name for name in fields["supersedes"] if name not in ground.ids]:
        raise NotFound(f"there is no memory {unknown[0]} to supersede", hint="See `holdfast facts --type all`.")
    fields["supersedes"] = rules.unique([*fields["supersedes"], *_predecessors(alike, fields["statement"])])
    fields["id"] = fields["id"] or new_id(fields["type"], list(ground.ids))
    candidate = Candidate(**fields, line=clone.line().id)
    candidates.keep(clone, candidate)
    decisions.record(clone, "propose", candidate)
    ground.put(candidate)
    return candidate


def _known(clone: Clone, alike: list[Memory], fields: dict[str, Any]) -> Candidate | Accepted | None:
    """The memory that says the same and still counts; a tombstone speaks up."""
    for memory in alike:
        if isinstance(memory, Accepted) and not _outlived(clone, memory, fields["evidence"]):
            return memory
    for memory in alike:
        if isinstance(memory, Candidate):
            return memory
    for memory in alike:
        if isinstance(memory, Rejected):
            raise _was_rejected(memory, fields["statement"])
    return None


def _was_rejected(tombstone: Rejected, statement: str) -> BadInput:
    why = f": {tombstone.reason}" if tombstone.reason else ""
    words = "this" if rules.same_words(tombstone.statement, statement) else "this in other words"
    return BadInput(
        f"{tombstone.id} said {words} and was rejected on {tombstone.rejected_at:%Y-%m-%d}{why}",
        hint=f"A person may still accept it: holdfast review accept {tombstone.id}",
    )


def _join(clone: Clone, known: Candidate, fields: dict[str, Any]) -> Candidate:
    """One more witness for what waits already."""
    evidence = rules.join_evidence(known.evidence, fields["evidence"])
    provenance = rules.unique([*known.provenance, *fields["provenance"]])[: rules.MAX_ITEMS]
    if (evidence, provenance) == (known.evidence, known.provenance):
        if not decisions.ever(clone, known.id, "propose"):  # killed between the file and its event
            decisions.record(clone, "propose", known)
        return known
    candidate = Candidate.of(known, provenance=provenance, evidence=evidence)
    candidates.keep(clone, candidate)
    decisions.record(clone, "propose", candidate)
    return candidate


def _note_evidence(clone: Clone, known: Accepted, evidence: tuple[str, ...]) -> None:
    """New receipts for an approved memory stand in the log; its file is not changed behind the reviewer."""
    noted = set(known.evidence)
    for _, body in decisions.recorded(clone, (known.id,), ("propose",)):
        noted.update(body.get("receipts") or ())
    if set(evidence) - noted:
        decisions.record(clone, "propose", Accepted.of(known, evidence=evidence))


def _outlived(clone: Clone, known: Accepted, evidence: tuple[str, ...]) -> bool:
    """Whether an accepted memory needs a fresh decision: its time is over, or there is better evidence."""
    if is_expired(known, clone.clock()):
        return True
    stale = any(state in ("changed", "gone") for state in states(clone, known.evidence).values())
    return stale and bool(set(evidence) - set(known.evidence))


def _predecessors(alike: list[Memory], statement: str) -> list[str]:
    """Entries that said the same: whoever asks found that none of them counts any more."""
    accepted = (memory for memory in alike if isinstance(memory, Accepted))
    return [memory.id for memory in accepted if rules.same_words(memory.statement, statement)]


def _source(cited: tuple[str, ...]) -> str | None:
    return next((text for text in cited if text.startswith(("run:", "commit:"))), None)


def expiry(clone: Clone, when: str | datetime | None) -> datetime | None:
    """The moment that is meant, which must be to come."""
    if when is None or when == "":
        return None
    if isinstance(when, datetime) and when.tzinfo is None:
        raise BadInput("expires_at must name its time zone")
    end = rules.expiry(when, clone.clock()) if isinstance(when, str) else rules.moment(when.isoformat())
    if end <= clone.clock():
        raise BadInput(f"{rules.iso(end)} is past already", hint="Name a moment to come: 30d, or a date.")
    return end
