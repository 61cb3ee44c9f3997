"""Proposes memories: a proposal becomes a candidate, which waits until somebody decides.

The same claim is one memory however often it is proposed, in these or in other words:

- a candidate with it exists: returned with the new evidence added; - an accepted memory with it exists: returned
unchanged, because its text was approved; the log notes new evidence; - it was accepted, but expired or stale while
there is new evidence: a new candidate that supersedes the old one; - it was rejected: BadInput says when and why. A
person may still accept the tombstone.

`model.claims` decides whether two texts make the same claim. `harvest` proposes what `curation.extraction` finds in a
run or a session, each with its source; agents get none of it unasked before a person decides.
"""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import TYPE_CHECKING, Any

from holdfast.curation import candidates, decisions
from holdfast.curation.snapshot import ProposalBatch, locked_proposals
from holdfast.errors import BadInput, HoldfastError, NotFound, NotStored, ReadOnlyStore
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.git.evidence_check import resolve_evidence, states
from holdfast.git.tracked_files import paths_mentioned
from holdfast.lazy_module import LazyModule
from holdfast.model import memory as rules
from holdfast.model.evidence import Evidence, Provenance
from holdfast.model.ids import memory_id
from holdfast.model.memory import Accepted, Candidate, Memory, Rejected, is_expired
from holdfast.model.utterance import LIKELY, MAX_STATEMENT, ExtractedMemory, TriedCommand, Utterance
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.curation import extraction
    from holdfast.curation.extraction import session_statements, statement_shapes
    from holdfast.model import claims
else:  # slow to import, and few commands read transcripts or compare statements
    extraction = LazyModule("holdfast.curation.extraction")
    session_statements = LazyModule("holdfast.curation.extraction.session_statements")
    statement_shapes = LazyModule("holdfast.curation.extraction.statement_shapes")
    claims = LazyModule("holdfast.model.claims")

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
    earlier: Iterable[Evidence] = (),
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
    batch: ProposalBatch | None = None,
) -> Candidate | Accepted:
    """Stores a candidate, or returns the memory that makes the same claim.

    Secrets are removed before anything is compared or written; evidence becomes receipts, and must hold. `earlier` are
    receipts of versions that were committed once: they stay although the files may have changed since. `batch` comes
    from `locked_proposals`, for many proposals at once.
    """
    cited = rules.unique(map(str, (*resolve_evidence(clone, map(str, evidence)), *earlier)))
    words, more = rules.split_statement(f"{statement}\n\n{details}")
    source = source or next((text for text in cited if text.startswith(("run:", "commit:"))), None)
    given: dict[str, Any] = {"statement": words, "details": more, "because": because.strip(), "id": id}
    given |= {"tags": rules.unique(tags), "applies_to": rules.unique(applies_to), "source": source}
    given["provenance"] = rules.unique(map(str, provenance))
    clean = clone.intake.text
    cleaned: dict[str, Any] = {name: clean(value) for name, value in given.items() if isinstance(value, str)}
    lists = {name: map(str, value) for name, value in given.items() if isinstance(value, tuple)}
    cleaned |= {name: rules.unique(map(clean, many)) for name, many in lists.items()}
    if (cleaned["statement"], cleaned["details"]) != (words, more):
        clone.notes.append("a secret was removed from the words before they were stored")
    fields: dict[str, Any] = {**given, **cleaned, "type": kind, "layer": layer, "confidence": confidence}
    fields |= {"evidence": cited, "suggests": suggests, "expires_at": expiry(clone, expires_at)}
    fields |= {"supersedes": rules.unique(supersedes), "compatible_with": rules.unique(compatible_with)}
    for name in ("type", "id") if id is not None else ("type",):
        rules.CHECKS[name](fields[name])
    commit_anchors.keep(clone, [text.removeprefix("commit:") for text in cited if text.startswith("commit:")])
    if batch is not None:
        return _keep(clone, fields, new_id, batch)
    with locked_proposals(clone) as alone:
        return _keep(clone, fields, new_id, alone)


def _keep(clone: Clone, fields: dict[str, Any], new_id: NewId, batch: ProposalBatch) -> Candidate | Accepted:
    alike = batch.alike(claims.Statement(fields["statement"], fields["type"], fields["applies_to"]), fields["suggests"])
    known = _known(clone, alike, fields)
    if isinstance(known, Candidate):
        joined = _add_evidence(clone, known, fields)
        batch.put(joined)
        return joined
    if isinstance(known, Accepted):
        # New receipts for an approved memory go to the log: its file does not change without a reviewer.
        noted = set(known.evidence)
        for _, body in decisions.recorded(clone, (known.id,), ("propose",)):
            noted.update(body.get("receipts") or ())
        if set(fields["evidence"]) - noted:
            decisions.record(clone, "propose", Accepted.of(known, evidence=fields["evidence"]))
        return known
    if (fields["id"] or "").lower() in (name.lower() for name in batch.ids):  # file names may ignore case
        raise BadInput(f"{fields['id']} exists with another statement", hint="Leave --id out to get a new one.")
    if unknown := [name for name in fields["supersedes"] if name not in batch.ids]:
        raise NotFound(f"there is no memory {unknown[0]} to supersede", hint="See `holdfast memories`.")
    fields["supersedes"] = rules.unique([*fields["supersedes"], *_predecessors(alike, fields["statement"])])
    fields["id"] = fields["id"] or new_id(fields["type"], list(batch.ids))
    candidate = Candidate(**fields, line=clone.line().id)
    candidates.keep(clone, candidate)
    decisions.record(clone, "propose", candidate)
    batch.put(candidate)
    return candidate


def _known(clone: Clone, alike: list[Memory], fields: dict[str, Any]) -> Candidate | Accepted | None:
    """Returns the current memory with the same claim; BadInput if it was rejected."""
    accepted = (one for one in alike if isinstance(one, Accepted) and not _outlived(clone, one, fields["evidence"]))
    if found := next(accepted, None) or next((one for one in alike if isinstance(one, Candidate)), None):
        return found
    for tombstone in (one for one in alike if isinstance(one, Rejected)):
        why = f": {tombstone.reason}" if tombstone.reason else ""
        words = "" if rules.same_words(tombstone.statement, fields["statement"]) else ", in other words"
        raise BadInput(
            f"{tombstone.id} has the same claim{words}, and was rejected on {tombstone.rejected_at:%Y-%m-%d}{why}",
            hint=f"A person may still accept it: holdfast review accept {tombstone.id}",
        )
    return None


def _add_evidence(clone: Clone, known: Candidate, fields: dict[str, Any]) -> Candidate:
    """Adds evidence and provenance to an existing candidate."""
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


def _outlived(clone: Clone, known: Accepted, evidence: tuple[str, ...]) -> bool:
    """Whether an accepted memory needs a new decision: it expired, or it is stale and there is new evidence."""
    if is_expired(known, clone.clock()):
        return True
    stale = any(state in ("changed", "gone") for state in states(clone, known.evidence).values())
    return stale and bool(set(evidence) - set(known.evidence))


def _predecessors(alike: list[Memory], statement: str) -> list[str]:
    """Returns accepted memories with the same words; the caller knows that none of them is current."""
    accepted = (memory for memory in alike if isinstance(memory, Accepted))
    return [memory.id for memory in accepted if rules.same_words(memory.statement, statement)]


def expiry(clone: Clone, when: str | datetime | None) -> datetime | None:
    """Returns the time a person means, which must be in the future."""
    if when is None or when == "":
        return None
    if isinstance(when, datetime) and when.tzinfo is None:
        raise BadInput("expires_at must name its time zone")
    end = rules.expiry(when, clone.clock()) if isinstance(when, str) else rules.moment(when.isoformat())
    if end <= clone.clock():
        raise BadInput(f"{rules.iso(end)} is in the past", hint="Name a future time: 30d, or a date.")
    return end


Ask = Callable[[str], str | None]
Cited = Callable[[ExtractedMemory], Sequence[str | Evidence]]  # receipts that are not strings are `earlier` ones


@frozen
class Harvested:
    """The result of a harvest."""

    new: tuple[str, ...] = ()  # ids of new candidates
    joined: int = 0  # proposals that added evidence to a known memory
    refused: int = 0  # proposals rejected before, or not valid


def harvest(
    clone: Clone,
    turns: Sequence[Utterance | TriedCommand],
    *,
    source: str | Callable[[int], str],
    evidence: Cited,
    holds: Callable[[ExtractedMemory], bool] = lambda _: True,
    sent: Sequence[str] = (),
    ask: Ask | None = None,
) -> Harvested:
    """Proposes the claims in the turns: found by the user's model command if there is one, else by our own rules.

    `source` is the run or session, such as run:<id>, or returns that of a turn; `evidence` returns a claim's evidence,
    and `holds` says whether what it names still exists. `sent` are the packs that its agent got: they must not come
    back as its own words.
    """
    by_model = extraction.ask_model(turns, ask, sent=sent) if ask is not None and turns else None
    found = extraction.find_claims(turns, sent=sent, holds=holds) if by_model is None else list(filter(holds, by_model))
    of = source if callable(source) else lambda _: source
    wrote = frozenset(turn.turn for turn in turns if isinstance(turn, Utterance) and turn.files)
    return _propose_all(clone, found, of, evidence, wrote) if found else Harvested()


def is_borne_out(confidence: float, support: Iterable[object]) -> bool:
    """Whether a find is worth a look: of unlikely ones that no code bears out, one in nineteen was kept."""
    return confidence >= LIKELY or any(support)


def _propose_all(
    clone: Clone,
    found: Sequence[ExtractedMemory],
    source: Callable[[int], str],
    evidence: Cited,
    wrote: AbstractSet[int],
) -> Harvested:
    """Proposes each claim; it applies to the paths in its words, else to the files in its evidence.

    `wrote` are the turns that wrote files here.
    """
    new, joined, refused = [], 0, 0
    named = paths_mentioned(clone.repo, (one.statement for one in found))
    has_code = bool(clone.repo.run("ls-files", "-z", "--", ".", ":!.holdfast"))
    with locked_proposals(clone) as batch:
        for one in found:
            before, cited, said = set(batch.ids), evidence(one), ((one.turn, one.words), *one.also)
            rests_on = rules.unique(str(path) for receipt in cited if (path := getattr(receipt, "path", None)))
            support = (*rests_on, *named[one.statement], one.turn in wrote, one.rule == statement_shapes.COMMIT_RULE)
            if has_code and not is_borne_out(one.confidence, support):
                continue
            try:
                made = propose(
                    clone,
                    batch=batch,
                    kind=one.kind,
                    statement=_with_place(one, rests_on),
                    details="\n\n".join(filter(None, (f"Rationale: {one.why}" if one.why else "", one.details))),
                    confidence=one.confidence,
                    evidence=[text for text in cited if isinstance(text, str)],
                    earlier=[receipt for receipt in cited if not isinstance(receipt, str)],
                    applies_to=named[one.statement] or rests_on,
                    source=source(one.turn) if source(one.turn).startswith("run:") else None,
                    provenance=[Provenance(source(turn), turn, words) for turn, words in said],
                    tags=[one.rule.replace(" ", "-")],
                )
            except (NotStored, ReadOnlyStore):  # a full disk says nothing about the claim
                raise
            except HoldfastError:  # rejected before, or not valid
                refused += 1
                continue
            new += [made.id] if made.id not in before else []
            joined += made.id in before
    return Harvested(tuple(new), joined, refused)


def _with_place(one: ExtractedMemory, rests_on: Sequence[str]) -> str:
    """Returns the statement; of a comment that names no code with the file it stands in, which its reader saw."""
    if one.rule != statement_shapes.COMMENT_RULE or len(rests_on) != 1 or session_statements.code_names(one.statement):
        return one.statement
    placed = f"In `{rests_on[0]}`: {one.statement}"
    return placed if len(placed) <= MAX_STATEMENT else one.statement
