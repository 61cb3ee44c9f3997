"""`holdfast show`, and one thing in words: what people ask for first, what machines need only with --json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import say, show, strong
from holdfast.interfaces.cli.phrases import ago, count, lines, size, table, toned, when, wording
from holdfast.interfaces.cli.root import root
from holdfast.model.evidence import receipt_name
from holdfast.values import replace

if TYPE_CHECKING:
    from holdfast.recall.lookup import ShownRecord

LONGEST = 400  # characters of a field
FILES = 12  # that are named
_SERVED = {"told": "in contexts", "used": "used afterwards"}  # of the counts of a memory


@command(root, "show")
@click.argument("name", metavar="ID")
@click.option("--path", is_flag=True, help="Only print the path of its file.")
def show_record(place: Invocation, name: str, path: bool) -> None:
    """Show one thing by its id.

    A memory, a task, a session, a run or a turn of it, an event, an artifact, a commit, or a place such as
    `src/a.py:12`.
    """
    with place.project() as project:
        found = project.log.show(name)
        show(found, (lambda thing: thing.path or "") if path else record_text)
        if found.fields.get("origin") == "pending":
            say(f"{found.id} is not published yet; publishing writes its file")


def record_text(thing: ShownRecord) -> str:
    """A thing's name, what it is about, what it says, and what it printed."""
    rows = _ROWS.get(thing.kind, event_rows)(thing)
    told = wording("bodies").get(str(thing.fields.get("body_state")))
    if thing.fields.get("body_state") == "locked":
        thing = replace(thing, text=None, printed=None)
    said, printed = _said(thing), "Output:" if thing.kind == "cycle" else "Last output:"
    return lines(
        f"{strong(thing.id)}  {thing.kind}",
        [thing.elsewhere] if thing.elsewhere else [],
        table([(f"{name}:", text) for name, text in rows if text]),
        ["", told] if told else [],
        ["", said] if said else [],
        ["", printed, *(f"  {row}" for row in thing.printed.splitlines())] if thing.printed else [],
    )


def _said(thing: ShownRecord) -> str:
    """The text of a memory or a file; of a run or event the sentence that sums it up."""
    if thing.kind in ("task", "link") and "title" in thing.fields and not thing.fields.get("conflict"):
        return str(thing.fields.get("notes") or "").rstrip()  # its fields are shown above
    if thing.kind == "session":
        return _session(thing)
    if thing.kind in ("memory", "candidate"):
        return _without_fields(thing.text or "").strip()
    if thing.kind not in ("run", "event"):
        return (thing.text or "").rstrip()
    outputs = thing.fields.get("outputs")
    told = outputs.get("summary") if isinstance(outputs, Mapping) else None
    if thing.text and isinstance(outputs, Mapping) and "turns" in outputs:
        return thing.text.strip()  # the whole summary of an agent's session
    command = str(thing.fields.get("command") or "").partition("\n")[0][:150]
    if told and command and str(told).startswith(command):
        return ""  # the wrapper's own sentence, which says no more than the fields above
    return str(told or thing.fields.get("summary") or thing.text or "").strip()


def _without_fields(text: str) -> str:
    """An entry's text below its fields; all of it where they cannot be told apart."""
    begins, _, rest = text.partition("---\n")
    return rest.partition("\n---\n")[2] or text if not begins.strip() else text


def _rows(fields: Mapping[str, Any], names: str) -> Iterator[tuple[str, str]]:
    """Some fields as they are, by `label=name` where people know them by another name; `_` is a blank."""
    for label, _, name in (word.partition("=") for word in names.split()):
        yield label.replace("_", " "), _cut(fields.get(name or label))


def event_rows(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    """The fields of an event or a run, as names and texts; some are empty."""
    fields, head, began = thing.fields, thing.fields.get("head"), thing.fields.get("started")
    if thing.kind == "event":
        yield "what", f"{fields['kind']} {fields.get('target') or ''}".strip()
    yield from _rows(fields, "statement task command prompt")
    if fields["kind"] == "run":
        yield "ended", _ended(fields)
    at = _moment(str(fields["ts"]))
    # Of a run that a transcript tells of also when that was read.
    yield "when", f"{_moment(str(began))}, imported {ago(str(fields['ts']))}" if began else at
    yield "branch", ", ".join(filter(None, (fields.get("branch"), f"at {head[:12]}" if head else None)))
    yield from _rows(fields, "layer scale=systemic_scale")
    made = fields.get("artifacts") or ()
    yield "files", _named([str(row.get("path")) for row in made if isinstance(row, Mapping)])
    yield from _rows(fields, "inputs")
    yield "tools", _cut(_tools(fields.get("tool_calls")))
    yield "outputs", _cut(_other_outputs(fields))
    yield from _rows(fields, "next=next_actions evidence=receipts")
    yield "facts", _cut(fields.get("derived_facts")) if fields["kind"] == "run" else ""
    yield from _rows(fields, "tags reviewer reason part_of=parent_run_id")
    yield "kept in", thing.path or ""


def _artifact(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    fields = thing.fields
    yield from _rows(fields, "file=path run=run_id task")
    yield "when", _moment(str(fields.get("ts")))
    yield from _rows(fields, "branch")
    yield "size", size(fields["size"]) if isinstance(fields.get("size"), int) else ""
    yield from _rows(fields, "sha256")
    yield "state", "deleted by the run" if fields.get("deleted") else ""
    yield "shared", "another run was active, so it may have written this" if fields.get("shared") else ""
    yield "copy", thing.path or "none: it was deleted, too large, or not a regular file"


def _turn(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    """What was asked, what was done, and how it ended; what the agent said comes below."""
    fields = thing.fields
    yield "run", _cut(fields.get("run_id"))
    yield "of", f"repository {_cut(fields['repository'])}" if fields.get("repository") else ""
    line = str(fields.get("line") or "")
    yield "asked", _cut(fields.get("prompt"))
    yield "in short", _cut(line.partition(" — ")[2] if fields.get("prompt") and line.startswith("Asked: ") else line)
    yield "by", _cut(fields.get("by")) if fields.get("by") != "user" else ""
    yield "when", _moment(str(fields.get("ts"))) if fields.get("ts") else ""
    ended = _moment(str(fields.get("ended"))) if fields.get("ended") else ""
    yield "ended", f"interrupted {ended}".strip() if fields.get("interrupted") else ended
    yield "branch", _cut(fields.get("branch"))
    for call in fields.get("commands") or ():
        ran = call if isinstance(call, Mapping) else {"text": call}
        yield "ran", _cut(ran.get("text")) + (f" (exit {ran['exit_status']})" if ran.get("exit_status") else "")
    for call in fields.get("calls") or ():
        yield "called", _cut(f"{_readable(call.get('name'))} {_readable(call.get('input'))}")
    yield "files", _named(fields.get("files") or ())
    yield "commits", ", ".join(str(oid)[:12] for oid in fields.get("commits") or ())


def _commit(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    fields = thing.fields
    yield "author", _cut(fields.get("author"))
    yield "when", _moment(str(fields.get("ts")))
    yield "files", _named(fields.get("files") or (), more=int(fields.get("more_files") or 0))
    yield "made in", ", ".join(fields.get("runs") or ())
    yield "cited by", ", ".join(fields.get("memories") or ())


def _place(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    yield from _rows(thing.fields, "file lines name under")
    yield "at", _cut(str(thing.fields.get("head") or "")[:12])


def _memory(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    origin = wording("origins").get(str(thing.fields.get("origin")))
    yield "file", f"{thing.path} ({origin})" if origin else thing.path or ""
    if thing.kind in ("memory", "candidate"):
        yield from _standing(thing.fields)
        yield from _header(thing)
    history = [row.partition(" ") for row in thing.fields.get("history") or ()]
    yield "history", ", ".join(f"{kind} {ago(ts)}" for ts, _, kind in history)
    yield "updated", _moment(history[-1][0]) if history else ""


def _header(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    """What a memory's file says above its text and is not shown already, as people read it."""
    shown = {"id", "evidence", "suggests", "because", *(["status"] if thing.fields.get("status") else [])}
    header = (thing.text or "").removeprefix("---\n").partition("\n---\n")
    for row in header[0].splitlines() if header[1] else ():
        name, colon, value = row.partition(": ")
        if colon and name not in shown and value not in ("null", "[]", '""'):
            yield name.replace("_", " "), _cut(value.strip('[]"').replace('", "', ", "))


def _standing(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a memory is worth here and now."""
    status = _cut(fields.get("status"))
    yield "state", toned("retired" if status == "deprecated" else status)
    yield "trust", wording("trust").get(str(fields.get("trust")), "")
    for text, state in (fields.get("evidence") or {}).items():
        yield "evidence", f"{receipt_name(text)} ({toned(wording('cited').get(state, state), state)})"
    yield from (("said", _cut(text)) for text in fields.get("said") or ())
    yield from _rows(fields, "suggests because")
    yield from (("note", _cut(text)) for text in fields.get("notes") or ())
    yield from (("diff", _cut(text)) for text in fields.get("diff") or ())
    counts = {name: number for name, number in (fields.get("counted") or {}).items() if name != "looked"}
    served = ", ".join(f"{_SERVED.get(name, name)} {number:,}" for name, number in counts.items())
    yield "counted", served if any(counts.values()) else ""  # nothing while nobody was given it


def _node(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    """A task's or a link's fields, as their files name them."""
    fields = thing.fields
    yield from _rows(fields, "title kind status target needs part_of=parent")
    yield from _rows(fields, "owner priority layer scale=systemic_scale impact")
    yield from (("done when", _cut(said)) for said in fields.get("acceptance") or ())
    yield from (("evidence", _cut(said)) for said in fields.get("evidence") or ())
    yield from _rows(fields, "checkpoint reason")
    if fields.get("conflict"):
        yield "conflict", f"changed here and in the branch's history: holdfast task resolve {thing.id}"
    yield from _memory(thing)


def _session_rows(thing: ShownRecord) -> Iterator[tuple[str, str]]:
    yield from (*_rows(thing.fields, "objective broken"), *_memory(thing))


def _session(thing: ShownRecord) -> str:
    """A session as `session show` tells it; a damaged one as it lies there."""
    from holdfast.interfaces.cli import session_commands
    from holdfast.model.session import from_json

    if thing.text is None or "broken" in thing.fields:
        return (thing.text or "").rstrip()
    return session_commands.session_text(from_json(thing.text)).partition("\n")[2]


def _moment(ts: str) -> str:
    """A time as people read it."""
    return when(ts)


def _ended(fields: Mapping[str, Any]) -> str:
    status = fields.get("exit_status")
    outputs = fields.get("outputs")
    span = outputs.get("duration_ms") if isinstance(outputs, Mapping) else None
    took = f" after {span / 1000:.1f} s" if isinstance(span, int) else ""
    if told := fields.get("ended"):
        how = "interrupted " if fields.get("status") == "interrupted" else ""
        return f"{how}{_moment(str(told))}{took}"
    if status is None:  # somebody's own record need not say how it ended; a capsule's always does
        return f"interrupted{took}" if fields.get("output_sha256") else "not told"
    return f"exit {status}{took}"


def _named(names: Sequence[object], more: int = 0) -> str:
    """The first of some files, and how many more there are."""
    more += max(0, len(names) - FILES)
    return ", ".join(map(str, names[:FILES])) + (f" and {count(more, 'more file')}" if more else "")


def _tools(calls: object) -> object:
    """The calls of an agent as one would type them; how somebody else noted theirs stays as it is."""
    if not isinstance(calls, list):
        return calls
    rows = []
    for call in calls:
        said = _readable(call)
        if isinstance(call, Mapping) and "name" in call and set(call) <= {"name", "arguments", "exit_status"}:
            said = " ".join(filter(None, (str(call["name"]), _readable(call.get("arguments") or ""))))
            said += f" (exit {call['exit_status']})" if call.get("exit_status") else ""
        rows.append(said)
    return "; ".join(rows)


def _other_outputs(fields: Mapping[str, Any]) -> object:
    outputs = fields.get("outputs")
    if not isinstance(outputs, Mapping):
        return outputs
    told = ("summary", "duration_ms", "files_changed")
    return {name: value for name, value in outputs.items() if name not in told and value not in (None, 0)}


def _cut(value: object) -> str:
    """Any value in one line that a person can read."""
    text = " ".join(_readable(value).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"


def _readable(value: object) -> str:
    """A JSON value without its brackets: `name shell, arguments pytest`."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        pairs = ((str(name).replace("_", " "), _readable(item)) for name, item in value.items())
        return ", ".join(f"{name} {text}" for name, text in pairs if text)
    if isinstance(value, list | tuple):
        between = "; " if any(isinstance(item, Mapping) for item in value) else ", "
        return between.join(filter(None, map(_readable, value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


_ROWS = {
    "artifact": _artifact,
    "commit": _commit,
    "session": _session_rows,
    **dict.fromkeys(("turn", "cycle"), _turn),
    **dict.fromkeys(("code", "doc"), _place),
    **dict.fromkeys(("memory", "candidate"), _memory),
    **dict.fromkeys(("task", "link"), _node),
}
