"""Values as the objects that `--json` promises, where a value holds more than a caller should lean on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import as_plain
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.curation.decisions import MemoryStanding
    from holdfast.curation.memory_conflicts import MemoryConflict
    from holdfast.curation.memory_state import MemoryListing
    from holdfast.curation.review_queue import QueueItem, ReviewLook, UnreadableMemory
    from holdfast.diagnostics.check import GateVerdict
    from holdfast.diagnostics.findings import HealthFinding, HealthReport
    from holdfast.diagnostics.repair import Repair
    from holdfast.git.publish import Published
    from holdfast.project.memory_book import Decided
    from holdfast.recall.search import Hit


def rendered(path: str) -> dict[str, Any]:
    """A view goes by its path."""
    return {"id": path, "path": path}


def hits(found: Sequence[Hit], *, explain: bool = False) -> list[dict[str, Any]]:
    """What was found; what a score is made of only if that was asked for."""
    plain: list[dict[str, Any]] = as_plain(found)
    for one in plain:
        parts = one.pop("parts")
        if explain:
            one["parts"] = {name: round(value, 4) for name, value in parts}
    return plain


def report(found: HealthReport) -> dict[str, Any]:
    """What doctor and check found."""
    return {
        "id": None,
        "verdict": found.verdict,
        "problems": len(found.problems),
        "counts": found.counts,
        "findings": [_finding(finding) for finding in found.findings],
    }


def repaired(done: tuple[HealthReport, list[Repair]]) -> dict[str, Any]:
    """What doctor found, and what it mended or would mend."""
    found, repairs = done
    return {**report(found), "repairs": [{"id": item.file, **as_plain(item)} for item in repairs]}


def verdict(found: GateVerdict) -> dict[str, Any]:
    """What the gate says."""
    return {
        "id": found.base,
        "verdict": found.word,
        "problems": len(found.problems),
        "counts": found.counts,
        "findings": [_finding(finding) for finding in (*found.problems, *found.notes)],
    }


def _finding(finding: HealthFinding) -> dict[str, Any]:
    names = ("severity", "topic", "file", "line", "sentence", "next_step", "repair")
    return {"id": finding.where, **{name: getattr(finding, name) for name in names}}


def published(done: Published) -> dict[str, Any]:
    """A publish goes by the commit it made."""
    return {"id": done.commit, **as_plain(done)}


def standing(value: MemoryStanding) -> dict[str, Any]:
    """A memory with the state it is in, flat."""
    fields = as_plain(value.memory)
    own = {key: field for key, field in as_plain(value).items() if key != "memory"}
    return {**fields, **own}


@frozen
class QueuedItem:
    """What waits, with a close look at it if there was time for one."""

    item: QueueItem
    look: ReviewLook | None


def waiting(values: Sequence[QueuedItem], lost: Sequence[UnreadableMemory]) -> dict[str, Any]:
    """What waits as a list, and what was approved and cannot be read any more."""
    items = [_waiting(value.item, value.look) for value in values]
    return {"id": None, "items": items, "unreadable": as_plain(lost)}


def _waiting(item: QueueItem, look: ReviewLook | None) -> dict[str, Any]:
    found = {
        **standing(item.standing),
        "reason": item.reason,
        "proposed_at": item.proposed,
        "branch": item.branch,
        "said": [as_plain(place) for place in item.provenance],
    }
    if look is not None:
        found["conflicts"] = [_conflict(one) for one in look.conflicts]
        found["same"] = list(look.same)
        found["diff"] = list(look.diff)
    return found


def _conflict(found: MemoryConflict) -> dict[str, Any]:
    return {
        "id": found.other.id,
        "status": found.status,
        "statement": found.other.statement,
        "kind": found.verdict.kind,
        "why": found.verdict.why,
    }


def conflicts(found: Sequence[MemoryConflict]) -> list[dict[str, Any]]:
    """Contradictions as a list."""
    return [{**_conflict(one), "id": one.one.id, "other": one.other.id} for one in found]


def decided(done: Decided) -> dict[str, Any]:
    """Many decisions at once."""
    left = [{"id": name, "why": why} for name, why in done.left]
    return {"id": None, "items": standings(done.done), "left": left, "hints": list(done.hints)}


def standings(values: Sequence[MemoryStanding]) -> list[dict[str, Any]]:
    """Memories as a list."""
    return [standing(value) for value in values]


def facts(found: MemoryListing) -> dict[str, Any]:
    """All facts as one list, each with its status, and what could not be read."""
    return {
        "id": None,
        "items": standings(found.standings),
        "broken": [{"path": one.path, "message": one.message} for one in found.broken],
        "clashes": as_plain(found.clashes),
    }
