"""Values in words: what each command says to people.

Short sentences, the id first, never a period right after an id (people double-click to copy),
and at the end what can be done next. Nothing here decides anything or asks for more.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any

from holdfast.index import hit_text
from holdfast.interfaces.cli.output import as_plain, columns, strong

if TYPE_CHECKING:  # `--help` and completion load none of it
    from collections.abc import Iterable, Sequence

    from holdfast.diagnostics import log_integrity, run_diff
    from holdfast.diagnostics.timeline import TimelineRow
    from holdfast.recall.search import Hit

WIDTH = 72
MOST_ROWS = 200  # of a list that somebody reads


def lines(*parts: str | Iterable[str]) -> str:
    """One text of lines and lists of lines; empty parts vanish."""
    flat: list[str] = []
    for part in parts:
        flat += [part] if isinstance(part, str) else part
    return "\n".join(flat)


def count(number: int, thing: str, verb: str = "") -> str:
    """`1 event`, `2 events`, `3 memories`; with a verb, `1 memory waits`, `2 memories wait`."""
    plural = thing[:-1] + "ies" if thing.endswith("y") else thing + "s"
    one = "is" if verb == "are" else f"{verb}s" if verb else ""
    return f"{number:,} {f'{thing} {one}' if number == 1 else f'{plural} {verb}'}".rstrip()


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


def more(number: int) -> list[str]:
    """That a list is longer than what is shown of it."""
    return [f"  and {number - MOST_ROWS:,} more; all of them: --json"] if number > MOST_ROWS else []


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
    power = 1 if number < 1 << 20 else 2 if number < 1 << 30 else 3
    return f"{number / 1024**power:.1f} {' KMG'[power]}iB"


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


def hit_objects(found: Sequence[Hit], *, explain: bool = False) -> list[dict[str, Any]]:
    """What was found; what a score is made of only if that was asked for."""
    plain: list[dict[str, Any]] = as_plain(found)
    for one in plain:
        parts = one.pop("parts")
        if explain:
            one["parts"] = {name: round(value, 4) for name, value in parts}
    return plain


def badge(number: int) -> str:
    """All that a prompt or a start says of what waits."""
    return count(number, "candidate", "wait") if number else ""


def rendered(path: str) -> str:
    return f"Wrote {path}"


def checkpoint(point: log_integrity.LogCheckpoint) -> str:
    return f"Saved a checkpoint of {count(point.count, 'event')}; keep it where nobody can change it."


def difference(found: run_diff.RunDiff) -> str:
    before, after = found.before, found.after
    if not found.comparable:
        away = next(side for side in (before, after) if side.state != "here")
        return f"{strong(away.run_id)}  has nothing to compare here: its outputs are {away.state}"
    if found.same:
        return f"{strong(before.run_id)} and {strong(after.run_id)} produced the same"
    codes = ["unknown" if side.exit_status is None else str(side.exit_status) for side in (before, after)]
    said = [f"{strong(before.run_id)}, then {strong(after.run_id)}"]
    said += [f"exit {codes[0]}, then {codes[1]}"] if codes[0] != codes[1] else []
    for change in found.changes:
        old, new = (change.before or "nothing")[:12], (change.after or "nothing")[:12]
        said += change.lines or [f"{change.kind} {change.path}  {old} -> {new}"]
    return lines(said)
