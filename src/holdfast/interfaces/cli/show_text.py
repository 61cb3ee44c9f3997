"""One thing in words, for `holdfast show`: what people ask for first, what machines need only with --json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import strong
from holdfast.interfaces.cli.phrases import count, lines, size, table

if TYPE_CHECKING:
    from holdfast.recall.lookup import ShownRecord

LONGEST = 400
FILES = 12
_ORIGINS = {"pending": "waits to be published", "edit": "edited by hand", "tree": "committed"}
_STATES = {
    "erased": "What it said was erased.",
    "private": "What it said is private to the clone that recorded it.",
    "missing": "What it said is missing; see `holdfast doctor`",
}


def where(thing: ShownRecord) -> str:
    return thing.path or ""


def shown(thing: ShownRecord) -> str:
    """A thing's name, what it is about, what it says, and what it printed."""
    rows = _ROWS.get(thing.kind, _event)(thing)
    told = _STATES.get(str(thing.fields.get("body_state")))
    said = _said(thing)
    return lines(
        f"{strong(thing.id)}  {thing.kind}",
        [thing.elsewhere] if thing.elsewhere else [],
        table([(f"{name}:", text) for name, text in rows if text]),
        ["", told] if told else [],
        ["", said] if said else [],
        [
            "",
            "It printed:" if thing.kind == "cycle" else "The last it printed:",
            *(f"  {row}" for row in thing.printed.splitlines()),
        ]
        if thing.printed
        else [],
    )


def _said(thing: ShownRecord) -> str:
    """The text of a memory or a file; of a run or event the sentence that sums it up."""
    if thing.kind in ("task", "link") and "title" in thing.fields and not thing.fields.get("conflict"):
        return str(thing.fields.get("notes") or "").rstrip()  # its fields are shown above
    if thing.kind == "session":
        return _session(thing)
    if thing.kind not in ("run", "event"):
        return (thing.text or "").rstrip()
    outputs = thing.fields.get("outputs")
    told = outputs.get("summary") if isinstance(outputs, Mapping) else None
    command = str(thing.fields.get("command") or "").partition("\n")[0][:150]
    if told and command and str(told).startswith(command):
        return ""  # the wrapper's own sentence, which says no more than the fields above
    return str(told or thing.fields.get("summary") or thing.text or "").strip()


def _event(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    fields = thing.fields
    if thing.kind == "event":
        yield "what", f"{fields['kind']} {fields.get('target') or ''}".strip()
    yield from ((name, cut(fields.get(name))) for name in ("statement", "task", "command", "prompt"))
    if fields["kind"] == "run":
        yield "ended", _ended(fields)
    yield "when", _when(fields)
    yield "branch", _branch(fields)
    yield "layer", cut(fields.get("layer"))
    yield "scale", cut(fields.get("systemic_scale"))
    yield "files", _files(fields)
    yield "inputs", cut(fields.get("inputs"))
    yield "tools", cut(_tools(fields.get("tool_calls")))
    yield "outputs", cut(_other_outputs(fields))
    yield "next", cut(fields.get("next_actions"))
    yield "evidence", cut(fields.get("receipts"))
    yield "facts", cut(fields.get("derived_facts")) if fields["kind"] == "run" else ""
    yield from ((name, cut(fields.get(name))) for name in ("tags", "reviewer", "reason"))
    yield "part of", cut(fields.get("parent_run_id"))
    yield "kept in", thing.path or ""


def _artifact(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    fields = thing.fields
    yield "file", cut(fields.get("path"))
    yield "run", cut(fields.get("run_id"))
    yield "task", cut(fields.get("task"))
    yield "when", moment(str(fields.get("ts")))
    yield "branch", cut(fields.get("branch"))
    yield "size", size(fields["size"]) if isinstance(fields.get("size"), int) else ""
    yield "sha256", cut(fields.get("sha256"))
    yield "state", "deleted by the run" if fields.get("deleted") else ""
    yield "shared", "another run was at work too, so it may be its work" if fields.get("shared") else ""
    yield "copy", thing.path or "none: it was deleted, too large or no plain file"


def _turn(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    """What was asked, what was done, and how it ended; what the agent said comes below."""
    fields = thing.fields
    yield "run", cut(fields.get("run_id"))
    yield "of", f"repository {cut(fields['repository'])}" if fields.get("repository") else ""
    yield "asked", cut(fields.get("prompt"))
    yield "in short", cut(fields.get("line"))
    yield "by", cut(fields.get("by")) if fields.get("by") != "user" else ""
    yield "when", moment(str(fields.get("ts"))) if fields.get("ts") else ""
    ended = moment(str(fields.get("ended"))) if fields.get("ended") else ""
    yield "ended", f"interrupted {ended}".strip() if fields.get("interrupted") else ended
    yield "branch", cut(fields.get("branch"))
    for call in fields.get("commands") or ():
        yield "ran", _ran(call)
    for call in fields.get("calls") or ():
        yield "called", cut(f"{readable(call.get('name'))} {readable(call.get('input'))}")
    yield "files", _named(fields.get("files") or ())
    yield "commits", ", ".join(str(oid)[:12] for oid in fields.get("commits") or ())


def _ran(call: object) -> str:
    if not isinstance(call, Mapping):
        return cut(call)
    status = call.get("exit_status")
    return cut(call.get("text")) + (f" (exit {status})" if status else "")


def _commit(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    fields = thing.fields
    yield "author", cut(fields.get("author"))
    yield "when", moment(str(fields.get("ts")))
    yield "files", _named(fields.get("files") or (), more=int(fields.get("more_files") or 0))
    yield "made in", ", ".join(fields.get("runs") or ())
    yield "cited by", ", ".join(fields.get("memories") or ())


def _place(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    yield from ((name, cut(thing.fields.get(name))) for name in ("file", "lines", "name", "under"))
    yield "at", cut(str(thing.fields.get("head") or "")[:12])


_TRUST = {
    "T0": "approved by a person",
    "T2": "of this repository; no person approved these words here",
    "T4": "came by git; nobody here approved it (see `holdfast trust`)",
}


def _memory(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    origin = _ORIGINS.get(str(thing.fields.get("origin")))
    yield "file", f"{thing.path} ({origin})" if origin else thing.path or ""
    if thing.kind in ("memory", "candidate"):
        yield from _standing(thing.fields)
    history = [row.partition(" ") for row in thing.fields.get("history") or ()]
    yield "updated", moment(history[-1][0]) if history else ""
    yield "history", ", ".join(f"{kind} {moment(ts)}" for ts, _, kind in history)


def _standing(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a memory is worth here and now."""
    yield "stands", cut(fields.get("status"))
    yield "trust", _TRUST.get(str(fields.get("trust")), "")
    for text, state in (fields.get("evidence") or {}).items():
        yield "evidence", f"{text} ({state})"
    yield from (("said", cut(text)) for text in fields.get("said") or ())
    yield from ((name, cut(fields.get(name))) for name in ("suggests", "because"))
    yield from (("note", cut(text)) for text in fields.get("notes") or ())
    yield from (("diff", cut(text)) for text in fields.get("diff") or ())
    counts = {name: number for name, number in (fields.get("counted") or {}).items() if name != "looked"}
    # How often it served; nothing while nobody was given it.
    yield (
        "counted",
        ", ".join(f"{name} {number:,}" for name, number in counts.items()) if any(counts.values()) else "",
    )


def _node(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    """A task's or a link's fields, as their files name them."""
    fields = thing.fields
    yield from ((name, cut(fields.get(name))) for name in ("title", "kind", "status", "target"))
    yield "needs", cut(fields.get("needs"))
    yield "part of", cut(fields.get("parent"))
    yield from ((name, cut(fields.get(name))) for name in ("owner", "priority", "layer"))
    yield "scale", cut(fields.get("systemic_scale"))
    yield "impact", cut(fields.get("impact"))
    yield from (("done when", cut(said)) for said in fields.get("acceptance") or ())
    yield from (("evidence", cut(said)) for said in fields.get("evidence") or ())
    yield "checkpoint", cut(fields.get("checkpoint"))
    yield "reason", cut(fields.get("reason"))
    if fields.get("conflict"):
        yield "conflict", f"changed here and in the branch's history: holdfast task resolve {thing.id}"
    yield from _memory(thing)


def _session_rows(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    yield "objective", cut(thing.fields.get("objective"))
    yield "broken", cut(thing.fields.get("broken"))
    yield from _memory(thing)


def _session(thing: ShownRecord) -> str:
    """A session as `session show` tells it; a damaged one as it lies there."""
    from holdfast.interfaces.cli import session_commands
    from holdfast.model.session import from_json

    if thing.text is None or "broken" in thing.fields:
        return (thing.text or "").rstrip()
    return session_commands.session_text(from_json(thing.text)).partition("\n")[2]


def moment(ts: str) -> str:
    """A time as people read it."""
    return f"{ts[:19].replace('T', ' ')} UTC"


def _ended(fields: Mapping[str, Any]) -> str:
    status = fields.get("exit_status")
    outputs = fields.get("outputs")
    span = outputs.get("duration_ms") if isinstance(outputs, Mapping) else None
    took = f" after {span / 1000:.1f} s" if isinstance(span, int) else ""
    if told := fields.get("ended"):
        how = "interrupted " if fields.get("status") == "interrupted" else ""
        return f"{how}{moment(str(told))}{took}"
    if status is None:  # somebody's own record need not say how it ended; a capsule's always does
        return f"interrupted{took}" if fields.get("output_sha256") else "not told"
    return f"exit {status}{took}"


def _when(fields: Mapping[str, Any]) -> str:
    """When it happened; of a run that a transcript tells of also when that was read."""
    at, began = moment(str(fields["ts"])), fields.get("started")
    return f"{moment(str(began))} (imported {at})" if began else at


def _branch(fields: Mapping[str, Any]) -> str:
    head = fields.get("head")
    return ", ".join(part for part in (fields.get("branch"), f"at {head[:12]}" if head else None) if part)


def _files(fields: Mapping[str, Any]) -> str:
    made = fields.get("artifacts") or ()
    return _named([str(row.get("path")) for row in made if isinstance(row, Mapping)])


def _named(names: Sequence[object], more: int = 0) -> str:
    """The first of some files, and how many more there are."""
    more += max(0, len(names) - FILES)
    return ", ".join(map(str, names[:FILES])) + (f" and {count(more, 'more file')}" if more else "")


def _tools(calls: object) -> object:
    """The calls of an agent as one would type them; how somebody else noted theirs stays as it is."""
    if not isinstance(calls, list):
        return calls
    return "; ".join(_tool(call) if isinstance(call, Mapping) else readable(call) for call in calls)


def _tool(call: Mapping[str, Any]) -> str:
    if "name" not in call or not set(call) <= {"name", "arguments", "exit_status"}:
        return readable(call)
    said = " ".join(filter(None, (str(call["name"]), readable(call.get("arguments") or ""))))
    return f"{said} (exit {call['exit_status']})" if call.get("exit_status") else said


def _other_outputs(fields: Mapping[str, Any]) -> object:
    outputs = fields.get("outputs")
    if not isinstance(outputs, Mapping):
        return outputs
    told = ("summary", "duration_ms", "files_changed")
    return {name: value for name, value in outputs.items() if name not in told and value not in (None, 0)}


def cut(value: object) -> str:
    """Any value in one line that a person can read."""
    text = " ".join(readable(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def readable(value: object) -> str:
    """A JSON value without its brackets: `name shell, arguments pytest`."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        pairs = ((str(name).replace("_", " "), readable(item)) for name, item in value.items())
        return ", ".join(f"{name} {text}" for name, text in pairs if text)
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return between.join(filter(None, map(readable, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


_ROWS = {
    "artifact": _artifact,
    "commit": _commit,
    "turn": _turn,
    "cycle": _turn,
    "code": _place,
    "doc": _place,
    "memory": _memory,
    "candidate": _memory,
    "task": _node,
    "link": _node,
    "session": _session_rows,
}
