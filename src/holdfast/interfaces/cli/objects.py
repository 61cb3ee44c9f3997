"""Values as the objects that `--json` promises, where a value holds more than a caller should lean on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import as_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.curation.decisions import Standing
    from holdfast.curation.facts import Facts
    from holdfast.diagnostics.check import Verdict
    from holdfast.diagnostics.findings import Finding, Report
    from holdfast.diagnostics.repair import Repair
    from holdfast.git.publish import Published


def rendered(path: str) -> dict[str, Any]:
    """A view goes by its path."""
    return {"id": path, "path": path}


def report(found: Report) -> dict[str, Any]:
    """What doctor and check found."""
    return {
        "id": None,
        "verdict": found.verdict,
        "problems": len(found.problems),
        "counts": found.counts,
        "findings": [_finding(finding) for finding in found.findings],
    }


def repaired(done: tuple[Report, list[Repair]]) -> dict[str, Any]:
    """What doctor found, and what it mended or would mend."""
    found, repairs = done
    return {**report(found), "repairs": [{"id": item.file, **as_plain(item)} for item in repairs]}


def verdict(found: Verdict) -> dict[str, Any]:
    """What the gate says."""
    return {
        "id": found.base,
        "verdict": found.word,
        "problems": len(found.problems),
        "counts": found.counts,
        "findings": [_finding(finding) for finding in (*found.problems, *found.notes)],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    names = ("severity", "topic", "file", "line", "sentence", "next_step", "repair")
    return {"id": finding.where, **{name: getattr(finding, name) for name in names}}


def published(done: Published) -> dict[str, Any]:
    """A publish goes by the commit it made."""
    return {"id": done.commit, **as_plain(done)}


def standing(value: Standing) -> dict[str, Any]:
    """A memory with the state it is in, flat."""
    fields = as_plain(value.memory)
    own = {key: field for key, field in as_plain(value).items() if key != "memory"}
    return {**fields, **own}


@dataclass(frozen=True, slots=True)
class Waiting:
    """A candidate with what whoever decides wants to know besides."""

    standing: Standing
    proposed: str | None  # when
    branch: str | None  # where, if not here


def waiting(values: Sequence[Waiting]) -> list[dict[str, Any]]:
    """Candidates as a list."""
    return [
        {**standing(value.standing), "proposed_at": value.proposed, "branch": value.branch}
        for value in values
    ]


def standings(values: Sequence[Standing]) -> list[dict[str, Any]]:
    """Memories as a list."""
    return [standing(value) for value in values]


def facts(found: Facts) -> dict[str, Any]:
    """All facts as one list, each with its status, and what could not be read."""
    return {
        "id": None,
        "items": standings(found.standings),
        "broken": as_plain(found.broken),
        "clashes": as_plain(found.clashes),
    }
