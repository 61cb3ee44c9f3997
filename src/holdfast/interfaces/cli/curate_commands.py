"""The command for memory's health: curate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import show, strong
from holdfast.interfaces.cli.phrases import count, lines
from holdfast.interfaces.cli.root import root

if TYPE_CHECKING:
    from holdfast.curation.memory_health import CuratorFinding, MemoryHealth

MOST = 20  # findings of a topic that are listed one by one


@command(root, "curate")
@click.option("--dry-run", is_flag=True, help="Only look; put no suggestion on the shelf.")
def curate(place: Invocation, dry_run: bool) -> None:
    """Look at the health of memory, and suggest.

    Stale, expired, contradicting, duplicate, never recalled, never used, orphaned, dangling, oversized.
    Suggestions wait in `holdfast review`; nothing is done by itself.
    """
    with place.project() as project:
        show(project.memory.curate(dry_run=dry_run), told, as_object)


def told(health: MemoryHealth) -> str:
    from holdfast.curation.memory_health import TOPICS

    if not health.findings:
        return f"{count(health.memories, 'memory')}, nothing to mend."
    waits = [finding for finding in health.findings if finding.candidate]
    return lines(
        f"{count(health.memories, 'memory')}, {count(len(health.findings), 'finding')}.",
        *(_topic(topic, health.of(topic)) for topic in TOPICS),
        *(["", f"{count(len(waits), 'suggestion')} {_wait(len(waits))}: holdfast review"] if waits else []),
    )


def _wait(number: int) -> str:
    return "waits for you" if number == 1 else "wait for you"


def _topic(topic: str, found: list[CuratorFinding]) -> list[str]:
    if not found:
        return []
    more = [f"  … and {len(found) - MOST} more"] if len(found) > MOST else []
    return ["", f"{topic.capitalize()} ({len(found)}):", *(_line(finding) for finding in found[:MOST]), *more]


def _line(finding: CuratorFinding) -> str:
    names = " and ".join(strong(name) for name in finding.ids)
    what = {"merge": "merging", "deprecate": "deprecating"}
    action = what[finding.suggestion.suggests.partition(":")[0]] if finding.suggestion else ""
    waits = f" ({finding.candidate} suggests {action} it)" if finding.candidate else ""
    return f"  {names}  {finding.sentence}{waits}".replace("    ", "  ")


def as_object(health: MemoryHealth) -> dict[str, Any]:
    return {
        "id": None,
        "memories": health.memories,
        "items": [
            {
                "id": finding.ids[0] if finding.ids else None,
                "topic": finding.topic,
                "ids": list(finding.ids),
                "sentence": finding.sentence,
                "suggests": finding.suggestion.suggests if finding.suggestion else None,
                "because": finding.suggestion.because if finding.suggestion else None,
                "candidate": finding.candidate,
            }
            for finding in health.findings
        ],
    }
