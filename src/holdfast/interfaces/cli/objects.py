"""Values as the objects that `--json` promises, where a value holds more than a caller should lean on."""

from collections.abc import Sequence
from typing import Any

from holdfast.diagnostics.findings import Finding, Report
from holdfast.git.publish import Published
from holdfast.git.reconcile import Orphan
from holdfast.git.reconcile import Report as Reconciled
from holdfast.interfaces.cli.output import as_plain


def report(found: Report) -> dict[str, Any]:
    """What doctor and check found."""
    return {
        "id": None,
        "verdict": found.verdict,
        "problems": len(found.problems),
        "counts": found.counts,
        "findings": [_finding(finding) for finding in found.findings],
    }


def _finding(finding: Finding) -> dict[str, Any]:
    names = ("severity", "topic", "file", "line", "sentence", "next_step", "repair")
    return {"id": finding.where, **{name: getattr(finding, name) for name in names}}


def published(done: Published) -> dict[str, Any]:
    """A publish goes by the commit it made."""
    return {"id": done.commit, **as_plain(done)}


def reconciled(found: Reconciled | Orphan) -> dict[str, Any]:
    """What is gone and what was left, counted rather than quoted."""
    if isinstance(found, Orphan):
        return _orphan(found)
    gone = [{"id": item.path, "path": item.path, "commit": item.commit} for item in found.gone]
    return {"id": None, "gone": gone, "orphans": [_orphan(item) for item in found.orphans]}


def _orphan(item: Orphan) -> dict[str, Any]:
    return {"id": item.line, "name": item.name, "events": len(item.events), "changes": len(item.changes)}


def standing(value: Any) -> dict[str, Any]:
    """A memory with the state it is in, flat."""
    fields = as_plain(value.memory)
    own = {key: field for key, field in as_plain(value).items() if key != "memory"}
    return {**fields, **own}


def standings(values: Sequence[Any]) -> list[dict[str, Any]]:
    return [standing(value) for value in values]
