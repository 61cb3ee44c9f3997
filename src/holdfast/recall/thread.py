"""The thread to go on with, in lines: the newest session, what earlier ones left open, the last that told.

What is open stays longest when there is little room: first the session's own, then what is left of others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast.model import left_open
from holdfast.model.brief import brief, shortened
from holdfast.model.left_open import Matter
from holdfast.model.session import Session
from holdfast.model.text import visible
from holdfast.recall.relevant import minute

LONGEST = 400  # bytes of one line
_ANSWERS = 5
_LEFT = "Left open by earlier sessions (close one with `holdfast session note --close NAME`):"
_ANSWERED = "Answered in earlier sessions:"
_KINDS = {"open": "", "asked": "waits for a yes or no: ", "later": "to follow up: "}
_STATES = {"granted": "allowed: ", "denied": "denied: "}


@dataclass(frozen=True, slots=True)
class Thread:
    """The session to go on from and those before it."""

    session: Session
    is_here: bool  # open in this place: what is open in it has short names
    told: Session | None = None  # the last one that told something, if this one has not yet
    earlier: tuple[Session, ...] = ()  # newest first


def lines(thread: Thread, room: int) -> list[str]:
    """The thread in about `room` bytes, the most telling first."""
    left = _fitting(_left(thread), room // 2)
    answers = _fitting(_answers(thread), room // 8)
    rest = room - _size(left) - _size(answers)
    own = _brief(thread.session, rest // 3 if thread.told else rest, named=not thread.is_here)
    last = thread.told
    before = [] if last is None else [_title(last), *_brief(last, rest - _size(own) - 100, named=True)]
    return [*own, *left, *answers, *(before if len(before) > 1 else [])]


def _title(session: Session) -> str:
    state = f"ended {minute(session.ended.ts)}" if session.ended else "open"
    return _line(f"The last session that told something, {session.id} on {_place(session)} ({state}):")


def _left(thread: Thread) -> list[str]:
    told = thread.told.id if thread.told else None
    there = [one for one in left_open.left_by(thread.session, thread.earlier) if one.session.id != told]
    named = list(dict.fromkeys(one.session.id for one in there))[: left_open.MOST]
    shown = [one for one in there if one.session.id in named]
    rows = [_matter(one, _KINDS[one.kind]) for one in shown]
    if len(shown) < len(there):
        rows.append(f"({len(there) - len(shown):,} more in older sessions: `holdfast session list --all`)")
    return [_LEFT, *rows] if rows else []


def _answers(thread: Thread) -> list[str]:
    told = thread.told.id if thread.told else None
    found = [one for one in left_open.answered(thread.earlier) if one.session.id != told]
    rows = [_matter(one, _STATES.get(one.state, "")) for one in found[:_ANSWERS]]
    return [_ANSWERED, *rows] if rows else []


def _matter(one: Matter, said: str) -> str:
    task = f" ({one.task})" if one.task else ""
    return _line(f"- {one.name} on {_place(one.session)}: {said}{one.text}{task}")


def _place(session: Session) -> str:
    return shortened(session.updated.branch or session.branch or "a detached HEAD", 80)


def _brief(session: Session, room: int, *, named: bool) -> list[str]:
    told = brief(session, budget=max(1, room // 4), named=named).text.split("\n")[1:]
    # What a session says must not look like the frame around it.
    framed = (f"> {line}" if line.lstrip()[:1] in ("#", "<", "…") else line for line in told)
    return [shortened(line, LONGEST) for line in framed]


def _fitting(rows: Sequence[str], room: int) -> list[str]:
    """As many rows as fit below their title, and how many did not."""
    if _size(rows) <= room:
        return list(rows)
    kept: list[str] = []
    room -= 40
    for row in rows:
        room -= _size([row])
        if room < 0:
            break
        kept.append(row)
    return [*kept, f"({len(rows) - len(kept):,} more of these)"] if len(kept) > 1 else []


def _size(rows: Iterable[str]) -> int:
    return sum(len(row.encode("utf-8", "replace")) + 1 for row in rows)


def _line(said: str) -> str:
    return shortened(visible(" ".join(said.split())), LONGEST)
