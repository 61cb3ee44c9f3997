"""Values in words: what each command says to people.

Short sentences, the id first, never a period right after an id (people double-click to copy),
and at the end what can be done next. Nothing here decides anything or asks for more.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from holdfast.index import hit_text
from holdfast.interfaces.cli.output import columns, strong

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:  # `--help` and completion load none of it
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.diagnostics.check import GateVerdict
    from holdfast.diagnostics.findings import HealthFinding, HealthReport
    from holdfast.diagnostics.log_integrity import LogCheckpoint
    from holdfast.diagnostics.repair import Repair
    from holdfast.diagnostics.run_diff import ComparedRun, OutputChange, RunDiff
    from holdfast.diagnostics.status import Status
    from holdfast.diagnostics.timeline import TimelineRow
    from holdfast.git.project_setup import ProjectSetup, UninstallResult
    from holdfast.git.publish import Published
    from holdfast.recall.search import Hit
    from holdfast.store.bundle import Bundle

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
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))]
    padded = ([cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)] for row in rows)
    return [(indent + "  ".join(cells)).rstrip() for cells in padded]


def _width(text: str) -> int:
    """How many columns of a terminal a text takes; East Asian signs take two."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) != 0 for sign in text)


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


def initialised(made: ProjectSetup) -> str:
    if made.wrote or made.made_store:
        first = f"Holdfast is set up in {made.top}"
    else:
        first = "Holdfast was set up already." if made.commit else "Nothing to do: already set up."
    wrote = [f"  wrote {path}" for path in made.wrote]
    if made.commit:
        wrote.append(f"  committed its two files as {made.commit[:12]}")
    elif made.wrote:
        wrote.append("  commit them when you like: git add .holdfast && git commit")
    if made.hooks:
        wrote.append("  git's hooks note what happens; take them out with: holdfast hooks remove")
    return lines(
        first,
        wrote,
        "",
        "See what agents left here already: holdfast try; take it in: holdfast import codex (claude, gemini)",
        "Record an agent's work with: holdfast run --task TASK -- COMMAND",
    )


def exported(bundle: Bundle) -> str:
    return f"Saved {count(bundle.files, 'file')} ({size(bundle.size)}) to {bundle.file}"


def brought_back(bundle: Bundle) -> str:
    return f"Brought back {count(bundle.files, 'file')} from {bundle.file}"


def uninstalled(removal: UninstallResult) -> str:
    tracked = [
        f"Git still tracks {count(removal.tracked, 'file')} of it; commit their removal with:",
        "  git commit -m 'Remove Holdfast' -- .holdfast",
        "Until then any holdfast command sets it up again here.",
    ]
    return lines(
        "Holdfast is gone from this clone.",
        [f"  removed {path}" for path in removal.removed],
        "Agents' own settings are as they were: `holdfast disconnect` takes ours out of them.",
        tracked if removal.tracked else [],
    )


# Looking.


def timeline(rows: Sequence[TimelineRow]) -> str:
    """A line for each event, as wide as the terminal."""
    if not rows:
        return "Nothing happened yet. Record something with: holdfast run -- COMMAND"
    begun = table([(*_event(row), "|") for row in rows], indent="")
    taken = len(begun[0]) - len(strong("")) - 1
    room = max(columns() - taken, 20) if columns() else WIDTH
    return lines([f"{start[:-1]}{short(row.summary, room)}" for start, row in zip(begun, rows, strict=True)])


def _event(row: TimelineRow) -> tuple[str, ...]:
    name = row.id if row.id != row.hash_self else row.hash_self[:12]
    when = (row.started or row.ts)[:19].replace("T", " ")
    return (when, row.kind, strong(name), _marks(row), short(row.task, 24))


def _marks(row: TimelineRow) -> str:
    marks = [row.layer or "", "" if row.systemic_scale is None else f"scale {row.systemic_scale}"]
    if row.kind == "run":
        ended = row.status or "interrupted"
        marks.append(ended if row.exit_status is None else f"exit {row.exit_status}")
    if row.started and row.started[:10] != row.ts[:10]:
        marks.append(f"(imported {row.ts[:10]})")
    return " ".join(mark for mark in marks if mark)


def hits(found: Sequence[Hit], *, waiting: int = 0, now: str = "", explain: bool = False) -> str:
    """The same words as the quick path's, which prints them without us."""
    from holdfast.recall.search import as_rows

    return hit_text.as_text(as_rows(found), waiting=waiting, now=now, explain=explain)


def status(found: Status) -> str:
    from holdfast.diagnostics.status import render

    return render(found)


def badge(number: int) -> str:
    """All that a prompt or a start says of what waits."""
    return f"{count(number, 'candidate')} {'waits' if number == 1 else 'wait'}" if number else ""


def rendered(path: str) -> str:
    return f"Wrote {path}"


def checkpoint(point: LogCheckpoint) -> str:
    return f"Saved a checkpoint of {count(point.count, 'event')}; keep it where nobody can change it."


def difference(found: RunDiff) -> str:
    before, after = found.before, found.after
    if not found.comparable:
        away = next(side for side in (before, after) if side.state != "here")
        return f"{strong(away.run_id)}  has nothing to compare here: its outputs are {away.state}"
    if found.same:
        return f"{strong(before.run_id)} and {strong(after.run_id)} produced the same"
    ended = f"exit {_ended(before)}, then {_ended(after)}" if before.exit_status != after.exit_status else ""
    head = f"{strong(before.run_id)}, then {strong(after.run_id)}"
    return lines(head, [ended] if ended else [], *(_change(change) for change in found.changes))


def _ended(side: ComparedRun) -> str:
    return "unknown" if side.exit_status is None else str(side.exit_status)


def _change(change: OutputChange) -> list[str]:
    if change.lines:
        return list(change.lines)
    before, after = (change.before or "nothing")[:12], (change.after or "nothing")[:12]
    return [f"{change.kind} {change.path}  {before} -> {after}"]


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


# Is it sound.


def report(found: HealthReport) -> str:
    return lines([_finding(finding) for finding in found.findings], _judged(found))


def _judged(found: HealthReport) -> str:
    """The verdict is about the log; what else is wrong must not end in an `ok`."""
    if not found.problems:
        return _verdict(found.verdict, found.counts)
    log = {"ok": "the log itself is ok", "partial": "the log can only be told in part"}
    word = f"{count(len(found.problems), 'problem')}; {log.get(found.verdict, f'the log is {found.verdict}')}"
    return _verdict(word, found.counts)


def repaired(done: tuple[HealthReport, list[Repair]]) -> str:
    found, repairs = done
    waits = any(not item.done and item.failed is None for item in repairs)
    return lines(
        report(found),
        [_repair(item) for item in repairs] or ["Nothing that could be mended."],
        ["Do it with: holdfast doctor --repair --yes"] if waits else [],
    )


def _repair(item: Repair) -> str:
    state = "mended" if item.done else "not mended" if item.failed else "would mend"
    return f"{state}: {item.file}: {item.failed or item.action}"


def verdict(found: GateVerdict) -> str:
    against = f", compared with {found.base[:12]}" if found.base else ""
    findings = [_finding(finding) for finding in (*found.problems, *found.notes)]
    return lines(findings, _verdict(found.word, found.counts) + against)


def _verdict(word: str, counts: Mapping[str, int]) -> str:
    looked = ", ".join(_counted(name, number, counts) for name, number in counts.items() if name != "own")
    return f"{strong(word)}: looked at {looked}" if looked else strong(word)


_ONE = {
    "files": "file",
    "events": "event",
    "bodies": "body",
    "segments": "segment",
    "memories": "memory",
    "tasks": "task",
    "links": "link",
}


def _counted(name: str, number: int, counts: Mapping[str, int]) -> str:
    said, own = count(number, _ONE.get(name, name)), counts.get("own")
    if name != "events" or own is None or not number:
        return said
    whose = "all" if own == number else "none" if own == 0 else f"{own:,} of them"
    return f"{said} ({whose} recorded here)"


def _finding(finding: HealthFinding) -> str:
    step = f"\n  next: {finding.next_step}" if finding.next_step else ""
    return f"{strong(finding.severity)}: {finding.where}: {finding.sentence}{step}"
