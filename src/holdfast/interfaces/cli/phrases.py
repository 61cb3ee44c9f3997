"""What the words of all commands are made of: lines, columns, counts, sizes.

Short sentences, the id first, never a period right after an id (people double-click to copy),
and at the end what can be done next. Nothing here decides anything or asks for more.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence

from holdfast.index import hit_text
from holdfast.interfaces.cli.output import columns, styled, width
from holdfast.model.text import count as count  # noqa: PLC0414 - a word of all commands, too
from holdfast.patterns import PatternFile

A_TEXT = 20  # columns; a guess: what is shorter is a time, a number or a word, and needs all its letters
NARROWEST = 8  # columns of a text that is cut; a guess: less says nothing
WIDTH = 72  # columns; a statement beside its id on 80 columns
_TONES = {
    **dict.fromkeys(("ok", "done", "accepted", "unchanged"), "good"),
    **dict.fromkeys(("note", "stale", "expired", "started", "changed", "warning", "open question"), "warn"),
    **dict.fromkeys(("error", "problem", "broken", "blocked", "gone", "rejected"), "bad"),
}
MOST_ROWS = 200  # of a list that somebody reads
_TEXTS = PatternFile(__file__)


def wording(table: str) -> dict[str, str]:
    """The words for each state of a thing, from the text file beside this module."""
    return _TEXTS.pairs(table)


def lines(*parts: str | Iterable[str]) -> str:
    """One text of lines and lists of lines; empty parts vanish."""
    flat: list[str] = []
    for part in parts:
        flat += [part] if isinstance(part, str) else part
    return "\n".join(flat)


def short(text: str | None, width: int = WIDTH) -> str:
    """The first line of a text, cut to a width."""
    first = next(iter((text or "").strip().splitlines()), "")
    return first if len(first) <= width else first[: width - 1].rstrip() + "…"


def table(rows: Sequence[Sequence[str]], *, indent: str = "  ") -> list[str]:
    """Rows in columns, two spaces apart; the widest texts are cut to what the terminal holds."""
    if not rows:
        return []
    widths = [max(width(row[column]) for row in rows) for column in range(len(rows[0]))]
    if over := max(0, len(indent) + sum(widths) + 2 * len(widths) - 2 - columns()) if columns() else 0:
        rows = _fitted(rows, widths, over)
    padded = ([cell + " " * (room - width(cell)) for cell, room in zip(row, widths, strict=True)] for row in rows)
    return [(indent + "  ".join(cells)).rstrip() for cells in padded]


def _fitted(rows: Sequence[Sequence[str]], widths: list[int], over: int) -> Sequence[Sequence[str]]:
    """Rows that take so many columns less, where texts can be cut; the widths change along."""
    long = [at for at, wide in enumerate(widths) if wide >= A_TEXT]
    plain = [at for at in long if all(width(row[at]) == len(row[at]) for row in rows)]  # no styles in it
    while over and plain and widths[widest := max(plain, key=widths.__getitem__)] > NARROWEST:
        widths[widest] -= 1
        over -= 1
    return [
        [short(cell, room) if width(cell) > room else cell for cell, room in zip(row, widths, strict=True)]
        for row in rows
    ]


def more(number: int) -> list[str]:
    """That a list is longer than what is shown of it."""
    return [f"  and {number - MOST_ROWS:,} more; all of them: --json"] if number > MOST_ROWS else []


def toned(text: str, word: str = "") -> str:
    """A text in the colour of a status, which is its first word if none is given."""
    tone = _TONES.get(word or text.split(" ", 1)[0].rstrip(":,"))
    return styled(text, tone) if tone else text


def ago(ts: str | None) -> str:
    """How long ago a moment was: `2 days ago`; empty if there is none."""
    return hit_text.age(ts, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()))


def when(ts: str | None) -> str:
    """A moment on a page of its own: how long ago, and exactly."""
    return f"{ago(ts)} ({ts[:16].replace('T', ' ')} UTC)" if ts else ""


def size(number: int) -> str:
    """Bytes as people read them."""
    if number < 1024:
        return count(number, "byte")
    power = 1 if number < 1 << 20 else 2 if number < 1 << 30 else 3
    return f"{number / 1024**power:.1f} {' KMG'[power]}iB"


def badge(number: int) -> str:
    """All that a prompt or a start says of what waits."""
    return count(number, "candidate", "wait") if number else ""


def readers(tools: Collection[str]) -> str:
    """Who reads the files of these tools; AGENTS.md is read by many, and none of them has its name."""
    named = [name for name in sorted(set(tools)) if name != "agents"]
    return ", ".join([*named, *(["other agents that read AGENTS.md"] if "agents" in tools else [])])
