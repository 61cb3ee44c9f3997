"""What `holdfast scan` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.words import count, lines, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.diagnostics.scan import Finding, Scanned

_ERASED = frozenset({"run", "body", "session", "memory", "task", "link"})


def scanned(found: Scanned) -> str:
    """What was found, and how to be rid of it."""
    read = f"{count(found.files, 'file')} read, {found.size / 1e6:,.1f} MB"
    if found.clean:
        return f"No known secret is stored ({read})."
    said = [f"{count(len(found.findings), 'file')} would be redacted today ({read}).", ""]
    said += table([(one.file, one.kind, one.id or "", _rules(one)) for one in found.findings])
    if found.unread:
        said += ["", "Not looked at:", *(f"  {line}" for line in found.unread)]
    return lines(*said, *_steps(found.findings))


def _rules(finding: Finding) -> str:
    return ", ".join(f"{rule} {times}" if times > 1 else rule for rule, times in finding.rules.items())


def _steps(findings: Iterable[Finding]) -> list[str]:
    """The next step for each kind of place."""
    ids = sorted({one.id for one in findings if one.id and one.kind in _ERASED})
    said = ["", f"Erase it, text and copies: holdfast erase {ids[0]}"] if ids else []
    if any(one.kind == "candidate" for one in findings):
        said.append("Reject a candidate: holdfast review reject ID")
    return [*said, "Change what was found at its source too: a secret that was stored may have been seen."]


def scanned_object(found: Scanned) -> dict[str, Any]:
    """What was found, for scripts."""
    return {
        "id": None,
        "files": found.files,
        "size": found.size,
        "findings": [
            {"file": one.file, "kind": one.kind, "id": one.id, "rules": dict(one.rules)} for one in found.findings
        ],
        "unread": list(found.unread),
    }
