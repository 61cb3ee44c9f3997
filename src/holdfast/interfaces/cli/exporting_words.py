"""What is said about handing over and exporting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.words import count, lines, table

if TYPE_CHECKING:
    from holdfast.capture.export_codex import Rollout
    from holdfast.project.handing import Handoff


def handed(found: Handoff) -> str:
    """A handoff as the next one reads it."""
    from holdfast.project.handing import ASK
    from holdfast.recall.context import text

    return lines(text(found.pack).rstrip("\n"), "", "Ask Holdfast for more:", table(ASK))


def handed_object(found: Handoff) -> dict[str, Any]:
    """The same as JSON."""
    from holdfast.interfaces.cli.hydrating_words import context_object
    from holdfast.project.handing import ASK

    return {
        "session": found.session,
        "objective": found.objective,
        "branch": found.branch,
        "head": found.head,
        "uncommitted": list(found.uncommitted),
        "next": list(found.next),
        "runs": list(found.runs),
        "pack": context_object(found.pack),
        "ask": [{"command": command, "gives": gives} for command, gives in ASK],
    }


def saved(done: tuple[str, int]) -> str:
    """What was written to a file."""
    return f"Wrote {count(done[1], 'record')} to {done[0]}"


def rollout(made: Rollout) -> str:
    """A rollout that was written for Codex."""
    return lines(f"Wrote {count(made.turns, 'turn')} to {made.path}", f"Go on with: codex resume {made.thread}")
