"""Older turns put shortly, so that a long session stays small: the same answer every time, and offline.

Only turns are folded. What is open, what waits for a yes, follow-ups, decisions and commands are fields of
their own and are never touched here; the newest turns stay as they were said.
"""

from holdfast.model.brief import shortened
from holdfast.model.session import MAX_FOLDED, MAX_SCRATCHPAD, Condensed, Session, Turn
from holdfast.model.text import tokens
from holdfast.patterns import regex
from holdfast.values import replace

BY_US = "holdfast"
_NEW, _OLD = 240, 90  # bytes of a turn's line while there is room, and when there is not
_NOT_TOLD = regex(r"\(\d+ turns before these are not told here\)|\(more came before\)")
_NUMBERED = regex(r"(\d+)\. ")
_MOST, _MOST_TEXT = 1_000, 1 << 20  # turns and characters that stay unfolded, whatever the settings
_LEAST = 64  # tokens for the folded turns, however small the budget


def due(session: Session, *, after: int, budget: int) -> int:
    """How many of the oldest turns are to be folded now; 0 if it is not time."""
    size = sum(len(turn.summary) for turn in session.turns)
    if len(session.turns) <= min(after, _MOST) and (size <= _MOST_TEXT or len(session.turns) == 1):
        return 0
    keep = max(1, after // 2)
    while keep > 1 and sum(tokens(turn.summary) for turn in session.turns[-keep:]) > budget // 2:
        keep -= 1
    return len(session.turns) - keep


def share(budget: int) -> int:
    """How many of a session's tokens the folded turns may take."""
    return max(_LEAST, budget // 3)


def condensed(session: Session, *, after: int, budget: int) -> Session:
    """The session with its older turns folded, if it is time."""
    count = due(session, after=after, budget=budget)
    return fold(session, count, shortly(session, count, budget=budget), by=BY_US) if count else session


def fold(session: Session, count: int, text: str, *, by: str) -> Session:
    """The session with its `count` oldest turns replaced by a text that tells them and all before."""
    before = session.condensed or Condensed(turns=0, text="", by=by)
    folded = (*before.folded, *(_folded(turn) for turn in session.turns[:count]))[-MAX_FOLDED:]
    new = replace(before, turns=before.turns + count, text=text[:MAX_SCRATCHPAD], by=by, folded=folded)
    return replace(session, condensed=new, turns=session.turns[count:])


def _folded(turn: Turn) -> Turn:
    """A turn in a line: what it did, where, and what it left in git."""
    summary = shortened(" ".join(turn.summary.split()), _NEW)
    return replace(turn, summary=summary, commands=(), files=())


def shortly(session: Session, count: int, *, budget: int) -> str:
    """The oldest turns and what was folded before, a line each, the newest at most length."""
    before = session.condensed.text.split("\n") if session.condensed else []
    lines = [line for line in before if line.strip() and not _NOT_TOLD.fullmatch(line)]
    lines += [_line(turn) for turn in session.turns[:count]]
    return "\n".join(_fitting(lines, share(budget) * 4))


def _line(turn: Turn) -> str:
    commits = f" [{' '.join(oid[:10] for oid in turn.commits[-3:])}]" if turn.commits else ""
    return shortened(f"{turn.n}. {' '.join(turn.summary.split())}", _NEW - len(commits)) + commits


def _fitting(lines: list[str], room: int) -> list[str]:
    """As many lines as fit, from the newest on: first at length, then shortened; the rest is counted."""
    room -= 60  # for the line that says what is not told
    kept: list[str] = []
    for line in reversed(lines):
        short = shortened(line, _NEW if room > _OLD * 8 else _OLD)
        room -= len(short.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        kept.append(short)
    if len(kept) == len(lines):
        return lines if kept == lines[::-1] else kept[::-1]
    first = _NUMBERED.match(kept[-1]) if kept else None
    said = f"({int(first[1]) - 1} turns before these are not told here)" if first else "(more came before)"
    return [said, *kept[::-1]]
