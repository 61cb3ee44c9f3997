"""What the commands about agents' own files say, in words and as objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.words import count, lines, table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from holdfast.capture.instructions.connect import Change, Plan
    from holdfast.capture.records.folders import Skipped
    from holdfast.capture.records.madr import Exported
    from holdfast.diagnostics.tools import ToolState
    from holdfast.project.connecting import Imported

SHOWN = 12  # skipped things that are named; the rest is counted
_DONE = {
    "create": "made",
    "add": "{what} added",
    "refresh": "{what} refreshed",
    "keep": "as it should be",
    "remove": "{what} taken out",
    "delete": "deleted; it was ours",
    "absent": "has no {what}",
}
_WOULD = {
    "create": "would be made",
    "add": "would get the {what}",
    "refresh": "would be refreshed",
    "keep": "is as it should be",
    "remove": "would lose the {what}",
    "delete": "would be deleted; it is ours",
    "absent": "has no {what}",
}


def plan(done: Plan) -> str:
    if not done.changed:
        return lines("Nothing to change.", _rows(done), [f"note: {note}" for note in done.notes])
    tools = {tool for change in done.changed for tool in change.tools}
    return lines(
        [] if done.done else [diff(done.changes), ""],
        _rows(done),
        [f"your edit is kept in {path}" for path in done.kept],
        [f"note: {note}" for note in done.notes],
        [f"Restart to see it: {readers(tools)}"] if done.done else _asks(done),
    )


def readers(tools: Collection[str]) -> str:
    """Who reads the files of these tools; AGENTS.md is read by many, and none of them has its name."""
    named = [name for name in sorted(set(tools)) if name != "agents"]
    return ", ".join([*named, *(["whatever reads AGENTS.md"] if "agents" in tools else [])])


def _rows(done: Plan) -> list[str]:
    said = _DONE if done.done else _WOULD
    return table(
        [
            (change.path, said[change.action].format(what=change.what), ", ".join(change.tools))
            for change in done.changes
        ]
    )


def _asks(done: Plan) -> list[str]:
    edited = [change.edited for change in done.changes if change.edited]
    if edited:
        where = ", ".join(edited)
        return [f"Somebody edited inside the block at {where}: it would be left as it is, without --force"]
    return ["Nothing was written."]


def diff(changes: Iterable[Change]) -> str:
    """What changes, as people read it in git."""
    return "\n".join(line for change in changes for line in change.diff)


def plan_object(done: Plan) -> dict[str, Any]:
    return {
        "done": done.done,
        "changes": [_change_object(change) for change in done.changes],
        "notes": list(done.notes),
        "kept": list(done.kept),
    }


def _change_object(change: Change) -> dict[str, Any]:
    return {
        "id": change.path,
        "action": change.action,
        "what": change.what,
        "tools": list(change.tools),
        "edited": change.edited,
        "diff": list(change.diff),
    }


def tools(found: Sequence[ToolState]) -> list[str]:
    """The agents that are here or connected, a line each, for `doctor`."""
    here = [one for one in found if one.installed or one.connected]
    rows = [(one.tool, _connection(one), _trust(one), _heard(one)) for one in here]
    steps = [f"  next for {one.tool}: {one.next_step}" for one in here if one.next_step]
    return ["Agents:", *(f"  {row}" for row in table(rows)), *steps] if here else []


def _connection(one: ToolState) -> str:
    if one.connected is None:
        return "not connected"
    return f"connected ({one.connected} scope)" + ("" if one.unchanged else ", changed")


def _trust(one: ToolState) -> str:
    if one.connected is None:
        return ""
    return {"yes": "trusted", "no": "not trusted", "not needed": "no trust needed"}[one.trusted]


def _heard(one: ToolState) -> str:
    late = f"; {count(one.late, 'time')} too slow to tell" if one.late else ""
    if one.last_seen is None:
        return "never seen here"
    return f"{'firing, ' if one.firing else ''}last seen {one.last_seen}{late}"


def tools_object(found: Sequence[ToolState]) -> list[dict[str, Any]]:
    names = ("installed", "connected", "unchanged", "trusted", "firing", "last_seen", "late", "next_step")
    return [
        {"id": one.tool, **{name: getattr(one, name) for name in names}, "waiting": list(one.waiting)} for one in found
    ]


def imported(done: Imported) -> str:
    found = f"Read {count(done.files, 'file')}: {count(len(done.proposed), 'new candidate')}"
    more = [f"{len(done.joined)} joined with what waits"] if done.joined else []
    more += [f"{done.known} known already"] if done.known else []
    more += [f"{len(done.skipped)} skipped"] if done.skipped else []
    return lines(
        ", ".join([found, *more]),
        _skipped(done.skipped),
        ["Review them with: holdfast review"] if done.proposed else [],
    )


def _skipped(found: tuple[Skipped, ...]) -> list[str]:
    rest = [f"  … and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    return [*(f"  {one.path}: {one.reason}" for one in found[:SHOWN]), *rest]


def imported_object(done: Imported) -> dict[str, Any]:
    return {
        "files": done.files,
        "proposed": list(done.proposed),
        "joined": list(done.joined),
        "known": done.known,
        "skipped": [{"path": one.path, "reason": one.reason} for one in done.skipped],
    }


def exported(done: Exported) -> str:
    if not done.written and not done.same and not done.left:
        return "No decisions are accepted here yet."
    same = f"; {done.same} as they were" if done.same else ""
    return lines(
        f"Wrote {count(len(done.written), 'record')} to {done.folder}{same}",
        [f"  {name}" for name in done.written],
        [f"note: {one.path} is left as it is: {one.reason}" for one in done.left],
    )


def exported_object(done: Exported) -> dict[str, Any]:
    return {
        "folder": done.folder,
        "written": list(done.written),
        "same": done.same,
        "left": [{"path": one.path, "reason": one.reason} for one in done.left],
    }
