"""The thread to go on with, in lines: the newest session, what earlier ones left open, the last that told.

What is open stays longest when there is little room: first the session's own, then what is left of others.
Every line begins with the session it is of, so nothing a session says can look like the frame around it.
"""

from collections.abc import Iterator, Mapping, Sequence

from holdfast.model import left_open
from holdfast.model.brief import brief, shortened
from holdfast.model.left_open import Matter
from holdfast.model.session import Session
from holdfast.patterns import regex
from holdfast.recall.pack.counting import of_line
from holdfast.recall.pack.lines import Line, Told, first, line, size
from holdfast.recall.relevant import minute
from holdfast.values import frozen

WHOLE = 1 << 20  # tokens: a session without a cut
_ANSWERS = 5
_CLOSE = " (close it with `holdfast session note --close {name}`)"
_LEFT = {"open": "left open", "asked": "waits for a yes or no", "later": "to follow up"}
_STATES = {"granted": "allowed", "denied": "denied"}
_TITLES = (
    *("Where:", "Objective:", "Tasks:", "Summary:", "Turns:", "Commits no turn tells of:", "Decided:"),
    *("Allowed:", "Denied:", "Failed when last run:", "Open:", "Waiting for a yes or no:", "To follow up:"),
    *("Scratchpad:", "Files:"),
)
_BEFORE = regex(r"Before, in \d+ turns:")
_LABELS = {"Where:": "on", "Turns:": "turn", "Waiting for a yes or no:": "waits for a yes or no:"}
_TRIES = (3.6, 2.8, 2.2, 1.7, 1.3, 1.0, 0.7, 0.5)  # bytes a token, from prose to what only has digits


@frozen
class Thread:
    """The session to go on from and those before it."""

    session: Session
    is_here: bool  # open in this place: what is open in it has short names
    told: Session | None = None  # the last one that told something, if this one has not yet
    earlier: tuple[Session, ...] = ()  # newest first
    blobs: Mapping[str, str] | None = None  # session to the revision of its file


def lines(thread: Thread, room: int = WHOLE) -> list[Line]:
    """The thread in at most `room` tokens, the most telling first."""
    for each in _TRIES:
        found = _lines(thread, room, each)
        if size(found, most=room) <= room:
            return found
    return first(found, room)


def _lines(thread: Thread, room: int, each: float) -> list[Line]:
    left = _fitting(_left(thread), room // 2)
    answers = _fitting(_answers(thread), room // 8)
    rest = room - size(left, most=room) - size(answers, most=room)
    own = _brief(thread, thread.session, int(each * (rest // 3 if thread.told else rest)))
    if (last := thread.told) is None:
        return [*own, *left, *answers]
    before = _brief(thread, last, int(each * (rest - size(own, most=rest) - 30)))
    return [*own, *left, *answers, *([_title(thread, last), *before] if before else [])]


def _told(thread: Thread, session: Session) -> Told:
    return Told(session.id, "session", (thread.blobs or {}).get(session.id), "the thread to go on with")


def _title(thread: Thread, session: Session) -> Line:
    state = f"ended {minute(session.ended.ts)}" if session.ended else "open"
    said = f"- {session.id} on {_place(session)} ({state}) was the last session that told something:"
    return line(said, _told(thread, session))


def _left(thread: Thread) -> list[Line]:
    told = thread.told.id if thread.told else None
    there = [one for one in left_open.left_by(thread.session, thread.earlier) if one.session.id != told]
    named = list(dict.fromkeys(one.session.id for one in there))[: left_open.MOST]
    shown = [one for one in there if one.session.id in named]
    hints = [_CLOSE.format(name=one.name) if at == 0 else "" for at, one in enumerate(shown)]
    rows = [_matter(thread, one, _LEFT[one.kind], hint) for one, hint in zip(shown, hints, strict=True)]
    if len(shown) < len(there):
        more = f"- {shown[-1].session.id} and older: {len(there) - len(shown):,} more are left open"
        rows.append(line(f"{more} (`holdfast session list --all`)", _told(thread, shown[-1].session)))
    return rows


def _answers(thread: Thread) -> list[Line]:
    told = thread.told.id if thread.told else None
    found = [one for one in left_open.answered(thread.earlier) if one.session.id != told]
    return [_matter(thread, one, _STATES.get(one.state, one.state), "") for one in found[:_ANSWERS]]


def _matter(thread: Thread, one: Matter, said: str, hint: str) -> Line:
    task = f" ({one.task})" if one.task else ""
    what = f"{said} on {_place(one.session)}: {shortened(one.text, 240)}"
    return line(f"- {one.name} {what}{task}{hint}", _told(thread, one.session))


def _place(session: Session) -> str:
    return shortened(session.updated.branch or session.branch or session.updated.place, 80)


def _brief(thread: Thread, session: Session, room: int) -> list[Line]:
    """A session in about as many bytes, each line with its id and what sort of thing it says."""
    named = session is not thread.session or not thread.is_here
    told = brief(session, budget=max(1, room // 4), named=named).text.split("\n")[1:]
    return [line(text, _told(thread, session)) for text in _labelled(session.id, told)]


def _labelled(identity: str, told: Sequence[str]) -> Iterator[str]:
    label = ""
    for text in told:
        if text in _TITLES or _BEFORE.fullmatch(text):
            label = _LABELS.get(text, text[0].lower() + text[1:])
            continue
        said = text.removeprefix("- ")
        whose = "" if said.startswith(f"{identity}:") else f"{identity} "
        yield f"- {whose}{label} {said}" if whose else f"- {label} {said}"


def _fitting(rows: Sequence[Line], room: int) -> list[Line]:
    """As many rows as fit, and how many did not."""
    if size(rows, most=room) <= room:
        return list(rows)
    kept = first(rows, room - 30)
    if not kept:
        return []
    session = kept[-1].told[0]
    more = Line(f"- {session.id} and others: {len(rows) - len(kept):,} more of these", (session,))
    return [*kept, more] if of_line(more.text) <= 30 else kept
