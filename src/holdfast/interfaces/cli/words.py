"""Values in words: what each command says to people.

Short sentences, the id first, never a period right after an id (people double-click to copy),
and at the end what can be done next. Nothing here decides anything or asks for more.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.diagnostics.findings import Finding, Report
from holdfast.git.publish import Published
from holdfast.git.reconcile import Gone, Orphan
from holdfast.git.reconcile import Report as Reconciled
from holdfast.git.setup import Removal, Setup
from holdfast.interfaces.cli.output import strong

WIDTH = 72


def lines(*parts: str | Iterable[str]) -> str:
    """One text of lines and lists of lines; empty parts vanish."""
    flat: list[str] = []
    for part in parts:
        flat += [part] if isinstance(part, str) else part
    return "\n".join(flat)


def count(number: int, thing: str) -> str:
    """`1 event`, `2 events`, `3 memories`."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    return f"{number:,} {thing if number == 1 else plural}"


def short(text: str | None, width: int = WIDTH) -> str:
    """The first line of a text, cut to a width."""
    first = next(iter((text or "").strip().splitlines()), "")
    return first if len(first) <= width else first[: width - 1].rstrip() + "…"


def table(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """Rows in columns, two spaces apart."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        (indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip()
        for row in rows
    ]


def size(number: int) -> str:
    """Bytes as people read them."""
    if number < 1024:
        return count(number, "byte")
    amount = float(number)
    for unit in ("KiB", "MiB", "GiB"):
        amount /= 1024
        if amount < 1024 or unit == "GiB":
            break
    return f"{amount:.1f} {unit}"


# Setting up and taking away.


def initialised(made: Setup) -> str:
    first = (
        f"Holdfast is set up in {made.top}"
        if made.wrote or made.made_store
        else "Nothing to do: already set up."
    )
    wrote = [f"  wrote {path}" for path in made.wrote]
    if made.commit:
        wrote.append(f"  committed them as {made.commit[:12]}")
    elif made.wrote:
        wrote.append("  commit them when you like: git add .holdfast && git commit")
    return lines(first, wrote, "", "Record an agent's work with: holdfast run --task TASK -- COMMAND")


def exported(bundle: Any) -> str:
    return f"Saved {count(bundle.files, 'file')} ({size(bundle.size)}) to {bundle.file}"


def brought_back(bundle: Any) -> str:
    return f"Brought back {count(bundle.files, 'file')} from {bundle.file}"


def uninstalled(removal: Removal) -> str:
    tracked = (
        f"Git still tracks {count(removal.tracked, 'file')} of it; "
        "commit their removal with: git commit -m 'Remove Holdfast' -- .holdfast"
        if removal.tracked
        else ""
    )
    return lines(
        "Holdfast is gone from this clone.", [f"  removed {path}" for path in removal.removed], tracked
    )


# Curation.


def _row(standing: Any) -> tuple[str, str, str]:
    memory = standing.memory
    sure = "" if memory.confidence is None else f"{memory.confidence:g}"
    about = ", ".join(part for part in (standing.status, memory.layer or "", sure, *memory.tags) if part)
    return (strong(standing.id), short(memory.statement), about)


def _notes(standing: Any) -> list[str]:
    return [f"  note: {note}" for note in standing.notes]


def remembered(standing: Any) -> str:
    if standing.status == "candidate":
        return lines(
            f"{strong(standing.id)}  waits for review",
            _notes(standing),
            f"Accept it with: holdfast review accept {standing.id}",
        )
    return accepted(standing)


def accepted(standing: Any) -> str:
    return lines(
        f"{strong(standing.id)}  accepted: {short(standing.memory.statement)}",
        _notes(standing),
        "Share it with: holdfast publish",
    )


def rejected(standing: Any) -> str:
    return f"{strong(standing.id)}  rejected; the same words will not be proposed again"


def facts(standings: Sequence[Any]) -> str:
    current = [s for s in standings if s.status not in ("expired", "superseded", "deprecated")]
    former = [s for s in standings if s not in current]
    if not standings:
        return "No facts yet. Propose one with: holdfast remember 'Tests need Postgres 16.' --evidence PATH"
    return lines(
        f"{count(len(current), 'fact')} hold here.".replace("1 fact hold ", "1 fact holds "),
        table([_row(s) for s in current]),
        ["", "No longer:", *table([_row(s) for s in former])] if former else [],
    )


def candidates(standings: Sequence[Any]) -> str:
    if not standings:
        return "Nothing waits."
    verb = "waits" if len(standings) == 1 else "wait"
    return lines(
        f"{count(len(standings), 'memory')} {verb}.",
        "",
        table([_row(s) for s in standings]),
        "",
        f"Accept one with: holdfast review accept {standings[0].id}",
    )


def erased(erasure: Any) -> str:
    still = erasure.still_held
    return lines(
        f"{strong(erasure.target)}  erased: {count(len(erasure.removed), 'file')} deleted here",
        ["", "Still holding it:", *(f"  {place}" for place in still)] if still else [],
    )


# Looking.


def where(shown: Any) -> str:
    return shown.path or ""


def shown(thing: Any) -> str:
    fields = [
        (name, _inline(value)) for name, value in thing.fields.items() if value not in (None, [], "", ())
    ]
    return lines(
        f"{strong(thing.id)}  {thing.kind}",
        table([(f"{name}:", value) for name, value in fields]),
        ["", thing.text] if thing.text else [],
    )


def _inline(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return short(str(value), 200)


def _event_row(event: Mapping[str, Any]) -> tuple[str, ...]:
    name = event["run_id"] if event["kind"] == "run" else event["target"]
    outputs = event["outputs"] if isinstance(event["outputs"], dict) else {}
    about = event["statement"] or outputs.get("summary") or event["reason"] or event["command"]
    if isinstance(about, list):
        about = " ".join(str(word) for word in about)
    return (
        event["ts"][:19].replace("T", " "),
        event["kind"],
        strong(name or event["hash_self"][:12]),
        _state(event),
        str(event["task"] or ""),
        short(str(about or _absent(event))),
    )


def _state(event: Mapping[str, Any]) -> str:
    marks = [
        event["layer"] or "",
        "" if event["systemic_scale"] is None else f"scale {event['systemic_scale']}",
    ]
    if event["kind"] == "run":
        marks.append("interrupted" if event["exit_status"] is None else f"exit {event['exit_status']}")
    return " ".join(mark for mark in marks if mark)


def _absent(event: Mapping[str, Any]) -> str:
    return {"private": "(private to another clone)", "erased": "(erased)", "missing": "(missing)"}.get(
        event["body_state"], ""
    )


def log(events: Sequence[Mapping[str, Any]]) -> str:
    if not events:
        return "The log is empty. Record something with: holdfast run -- COMMAND"
    return lines(table([_event_row(event) for event in events], indent=""))


def timeline(events: Sequence[Mapping[str, Any]]) -> str:
    if not events:
        return "Nothing happened yet."
    return log(events)


def rendered(path: str) -> str:
    return f"Wrote {path}"


def checkpoint(point: Any) -> str:
    return f"Saved a checkpoint of {count(point.count, 'event')} to {point.file}; keep it somewhere else."


def difference(diff: Any) -> str:
    if diff.against is None:
        return f"{strong(diff.run)}  has no earlier run of its task to compare with"
    changed = [file for file in diff.files if file.change != "same"]
    same = len(diff.files) - len(changed)
    return lines(
        f"{diff.against} -> {diff.run}",
        *([_file_diff(file)] for file in changed),
        f"{count(same, 'file')} the same." if same or not changed else "",
    )


def _file_diff(file: Any) -> str:
    if file.text is not None:
        return str(file.text).rstrip("\n")
    old, new = (file.old_sha256 or "")[:12], (file.new_sha256 or "")[:12]
    return f"{file.change} {file.path}  {old or 'nothing'} -> {new or 'nothing'}"


# Between the private store and git.


def published(done: Published) -> str:
    kept = [f"  kept back: {item.path}: {item.reason}" for item in done.kept]
    if done.staged and done.paths:
        first = f"Staged {count(len(done.paths), 'file')}; they ride in your next commit."
    elif done.commit:
        first = f"Published {count(len(done.paths), 'file')} as {done.commit[:12]}"
    else:
        first = "Nothing to publish." if not kept else "Nothing was published."
    return lines(first, [f"  {path}" for path in done.paths], kept)


def reconciled(found: Reconciled | Orphan) -> str:
    if isinstance(found, Orphan):
        return f"{strong(found.line)}  {found.name}: {_left(found)}"
    if not (found.gone or found.orphans):
        return "All is where it was recorded."
    gone = ["Published once, gone from this line:", *map(_gone, found.gone)]
    orphans = ["Lines whose branch is gone:", *map(_orphan, found.orphans)]
    return lines(
        [*gone, "Bring them back with: holdfast publish --restore"] if found.gone else [],
        [*orphans, "Keep one with --carry LINE, let go of it with --drop LINE"] if found.orphans else [],
    )


def _gone(item: Gone) -> str:
    return f"  {item.path}  " + (f"deleted by {item.commit[:12]}" if item.commit else "history was rewritten")


def _orphan(item: Orphan) -> str:
    return f"  {strong(item.line)}  {item.name}: {_left(item)}"


def _left(item: Orphan) -> str:
    return f"{count(len(item.events), 'event')}, {count(len(item.changes), 'change')} waiting"


# Is it sound.


def report(found: Report) -> str:
    looked = ", ".join(f"{number:,} {name}" for name, number in found.counts.items())
    return lines(
        [_finding(finding) for finding in found.findings],
        f"{strong(found.verdict)}: looked at {looked}" if looked else strong(found.verdict),
    )


def _finding(finding: Finding) -> str:
    mark = {"problem": "problem", "partial": "partial", "note": "note"}[finding.severity]
    step = f"\n  next: {finding.next_step}" if finding.next_step else ""
    return f"{strong(mark)}: {finding.where}: {finding.sentence}{step}"
