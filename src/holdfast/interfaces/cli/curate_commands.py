"""The command for memory's health: curate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import answer
from holdfast.interfaces.cli.output import picked, strong
from holdfast.interfaces.cli.phrases import count, lines
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.curation.memory_health import CuratorFinding, MemoryHealth
    from holdfast.project import Project

MOST = 20  # findings of a topic that are listed one by one


def told(health: MemoryHealth) -> str:
    from holdfast.curation.memory_health import TOPICS

    if not health.findings:
        return f"{count(health.memories, 'memory')}, nothing to mend."
    waits = [finding for finding in health.findings if finding.candidate]
    said = [f"{count(health.memories, 'memory')}, {count(len(health.findings), 'finding')}."]
    for topic, found in ((topic, health.of(topic)) for topic in TOPICS if health.of(topic)):
        said += ["", f"{topic.capitalize()} ({len(found)}):", *map(_line, found[:MOST])]
        said += [f"  … and {len(found) - MOST} more"] if len(found) > MOST else []
    return lines(said, ["", f"{count(len(waits), 'suggestion', 'wait')} for you: holdfast review"] if waits else [])


def _line(finding: CuratorFinding) -> str:
    names = " and ".join(strong(name) for name in finding.ids)
    what = {"merge": "merging", "deprecate": "deprecating"}
    action = what[finding.suggestion.suggests.partition(":")[0]] if finding.suggestion else ""
    waits = f" ({finding.candidate} suggests {action} it)" if finding.candidate else ""
    return f"  {names}  {finding.sentence}{waits}".replace("    ", "  ")


def as_object(health: MemoryHealth) -> dict[str, Any]:
    items = [
        {
            "id": finding.ids[0] if finding.ids else None,
            **picked(finding, "topic", "ids", "sentence", "candidate"),
            **{name: getattr(finding.suggestion, name, None) for name in ("suggests", "because")},
        }
        for finding in health.findings
    ]
    return {"memories": health.memories, "items": items}


@answer(root, "curate", told, as_object)
@click.option("--dry-run", is_flag=True, help="Only look; put no suggestion on the shelf.")
def curate(project: Project, dry_run: bool) -> object:
    """Look at the health of memory, and suggest.

    Stale, expired, contradicting, duplicate, never recalled, never used, orphaned, dangling, oversized.
    Suggestions wait in `holdfast review`; nothing is done by itself.
    """
    return project.memory.curate(dry_run=dry_run)
