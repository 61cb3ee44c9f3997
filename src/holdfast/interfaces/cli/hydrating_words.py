"""Contexts and statistics in words and as objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.words import lines, table

if TYPE_CHECKING:
    from holdfast.project.hydrating import Statistics
    from holdfast.recall.context import Context

_FOUND = {
    "context.branch": "on the same branch",
    "context.ancestor": "at an ancestor",
    "context.paths": "by shared files",
    "context.none": "not at all",
}


def context_object(found: Context) -> dict[str, Any]:
    """A context as JSON."""
    sections = [
        {
            "name": section.name,
            "reviewed": section.name == "facts",
            "title": section.title,
            "lines": list(section.lines),
            "left_out": section.left_out,
            "more": section.more,
        }
        for section in found.sections
    ]
    return {
        "how": found.how,
        "why": found.why,
        "session": found.session,
        "session_branch": found.foreign or found.branch if found.session else None,
        "of_this_branch": found.session is not None and found.foreign is None,
        "branch": found.branch,
        "head": found.head,
        "since": found.since,
        "budget": found.budget,
        "tokens": found.tokens,
        "sections": sections,
        "dropped": list(found.dropped),
    }


def statistics(found: Statistics) -> str:
    """How often a session was found, and how."""
    counted = {name: found.counts.get(name, 0) for name in _FOUND}
    total = sum(counted.values())
    if not total:
        return "Nothing was counted yet: holdfast context counts how it found its session."
    rows = [(words, f"{counted[name]:,}", f"{counted[name] / total:.0%}") for name, words in _FOUND.items()]
    since = f" since {found.since[:16].replace('T', ' ')} UTC" if found.since else ""
    return lines(f"Where holdfast context found the session to go on from{since}:", table(rows))


def statistics_object(found: Statistics) -> dict[str, Any]:
    """The counts, and of the context's outcomes the part each has."""
    counted = {name: found.counts.get(name, 0) for name in _FOUND}
    total = sum(counted.values())
    parts = {name: round(number / total, 4) if total else None for name, number in counted.items()}
    return {"since": found.since, "counts": found.counts, "contexts": total, "parts": parts}
