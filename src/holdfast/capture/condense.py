"""Folds the older turns of a long session into a short text, offline and always the same, or by the user's own command.

Only turns are folded. What is open, what waits for a yes, follow-ups, decisions and commands are fields of their own
and are never touched here; the newest turns stay as they are. A command such as `claude -p` gets the older turns on
stdin and answers with a shorter text, which counts only if it repeats everything that is open. Otherwise the built-in
way does it.
"""

from holdfast.capture.run_report import one_row
from holdfast.capture.user_command import UserModelCommand, ask
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.model.brief import shortened
from holdfast.model.session import MAX_FOLDED, MAX_SCRATCHPAD, Condensed, Session, SessionTurn
from holdfast.model.text import tokens
from holdfast.patterns import regex, text_beside
from holdfast.values import frozen, replace

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


def fold(session: Session, count: int, text: str, *, by: str) -> Session:
    """The session with its `count` oldest turns replaced by a text that tells them and all before."""
    before = session.condensed or Condensed(turns=0, text="", by=by)
    # A turn in a line: what it did, where, and what it left in git.
    short = [
        replace(turn, summary=shortened(one_row(turn.summary), _NEW), commands=(), files=())
        for turn in session.turns[:count]
    ]
    folded = (*before.folded, *short)[-MAX_FOLDED:]
    new = replace(before, turns=before.turns + count, text=text[:MAX_SCRATCHPAD], by=by, folded=folded)
    return replace(session, condensed=new, turns=session.turns[count:])


def shortly(session: Session, count: int, *, budget: int) -> str:
    """The oldest turns and what was folded before, a line each, the newest at most length."""
    before = session.condensed.text.split("\n") if session.condensed else []
    lines = [line for line in before if line.strip() and not _NOT_TOLD.fullmatch(line)]
    lines += [_line(turn) for turn in session.turns[:count]]
    return "\n".join(_fitting(lines, share(budget) * 4))


def _line(turn: SessionTurn) -> str:
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


OPEN = "OPEN"  # the line in the answer below which what is open is repeated


@frozen(kw_only=True)
class CondenseSettings(UserModelCommand):
    """When and how sessions are condensed, and which command is asked."""

    after: int = 20
    budget: int = 1500


def by_command(clone: Clone, session: Session, count: int, how: CondenseSettings) -> str | None:
    """What the command makes of the oldest turns; None if the built-in way must do it, which is noted."""
    try:
        answer = ask(clone, question(session, count, budget=how.budget), how)
        return _checked(session, answer, budget=how.budget)
    except (HoldfastError, OSError, ValueError) as error:
        clone.notes.append(f"the session was condensed without the model command: {error}")
        return None


def question(session: Session, count: int, *, budget: int) -> str:
    """What the command reads on its stdin."""
    before = [session.condensed.text] if session.condensed else []
    turns = [f"{turn.n}. {turn.summary}" for turn in session.turns[:count]]
    asked = text_beside(__file__, "condense.txt").format(budget=share(budget), open=OPEN)
    return "\n".join([asked, "TURNS", *before, *turns, "", OPEN, *still_open(session), ""])


def still_open(session: Session) -> list[str]:
    """All that is open, a line each: what an answer must repeat."""
    items = [f"{item.id} {one_row(item.text)}" for item in (*session.still_open, *session.still_to_follow)]
    return items + [f"{approval.id} {one_row(approval.text)}" for approval in session.pending]


def _checked(session: Session, answer: str, *, budget: int) -> str:
    """The text of an answer; ValueError if it forgot something that is open, or does not fit."""
    lines = answer.replace("\r\n", "\n").split("\n")
    places = [n for n, line in enumerate(lines) if line.strip(" #*:`") == OPEN] or [len(lines)]
    text, there = "\n".join(lines[: places[-1]]), one_row("\n".join(lines[places[-1] + 1 :])).casefold()
    if not text.strip():
        raise ValueError("its answer is empty")
    for line in still_open(session):
        if line.casefold() not in there:
            raise ValueError(f"its answer dropped {line.split(' ')[0]}")
    if tokens(text) > share(budget):
        raise ValueError(f"its answer has {tokens(text)} tokens, more than {share(budget)}")
    return text.strip()
