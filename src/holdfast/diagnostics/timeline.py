"""The story of a project as rows: what happened when, of one task or of all.

It takes joined events (flat objects) and gives rows; where events come from and how rows look on a
screen is others' business.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.errors import BadInput
from holdfast.values import frozen

KEYS = ("ts", "layer", "scale", "kind", "task")


@frozen(kw_only=True)
class TimelineRow:
    """One event in the story."""

    id: str  # the run or memory it is about, else the event
    ts: str
    kind: str
    layer: str | None
    systemic_scale: int | None
    task: str | None
    run_id: str | None
    exit_status: int | None
    status: str | None  # of a run that a transcript tells of: ended or interrupted, and since when it ran
    started: str | None
    summary: str
    hash_self: str


def timeline(
    events: Iterable[Mapping[str, Any]], *, task: str | None = None, sort: Sequence[str] = ("ts",)
) -> list[TimelineRow]:
    """Rows in the order asked for; equal ones stay in the log's own order."""
    for key in sort:
        if key not in KEYS:
            raise BadInput(f"a timeline is not sorted by {key!r}", hint=f"Use {', '.join(KEYS)}.")
    found = [_row(event) for event in events if task is None or event.get("task") == task]
    for key in reversed([key for key in sort if key != "ts" or len(sort) > 1]):
        found.sort(key=lambda row: _rank(row, key))
    return found


def _rank(row: TimelineRow, key: str) -> tuple[bool, Any]:
    """Whatever has no value stands last."""
    value = getattr(row, "systemic_scale" if key == "scale" else key)
    if key == "layer" and value is not None:  # L2 before L10
        stem = value.rstrip("0123456789")
        value = (stem, int(value[len(stem) :] or -1), value)
    return (value is None, value)


_COPIED = ("ts", "kind", "layer", "systemic_scale", "task", "run_id", "exit_status", "started", "hash_self")


def _row(event: Mapping[str, Any]) -> TimelineRow:
    copied: dict[str, Any] = {name: event.get(name) for name in _COPIED}
    copied["id"] = event.get("target") or event.get("run_id") or event["hash_self"]
    copied["status"] = event.get("status") if event["kind"] == "run" else None
    return TimelineRow(summary=_summary(event), **copied)


def _summary(event: Mapping[str, Any]) -> str:
    """The one line that says most: what was stated, summed up or run; else where the text went."""
    outputs = event.get("outputs")
    told = outputs.get("summary") if isinstance(outputs, Mapping) else None
    texts = (event.get("statement"), told, event.get("summary"), event.get("reason"), event.get("command"))
    action = event.get("action")  # of a task, a session, a checkpoint, a rewrite
    for value in texts:
        if value:
            text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            return " ".join([f"{action}:" if action else "", *text.split()]).strip()
    if action:
        return f"{action} of {event['count']} commits" if event.get("count") else str(action)
    state = event.get("body_state")
    return "" if state in (None, "here") else "[locked]" if state == "locked" else f"({state})"
