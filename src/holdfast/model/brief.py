"""A session in words for the agent that continues it, within a budget of tokens.

What is open is never left out: open items, pending approvals and follow-ups come first, then as much of the rest as
fits, the most telling first. If what is open does not fit on its own, it stays and the text says so.

Items that earlier sessions left open (subtasks, follow-ups, unanswered questions) are listed, too, each with its
session (`SES-x:o1`); by that name any later session can close it. An item that a later session repeats in the same
words belongs to that session, open or closed.
"""

from collections.abc import Iterable, Sequence

from holdfast.model.session import Session, SessionCommand, now_at
from holdfast.model.text import tokens, visible
from holdfast.values import frozen, mutable

_FEW, _ANSWERS = 20, 5  # names of tasks and commits, answers of each sort
_ORDER = (
    *("where", "objective", "tasks", "summary", "before", "turns"),
    *("commits", "decisions", "allowed", "denied", "failed"),
)
_LEAST_CUT = 60  # bytes: less of a sentence tells nobody anything


@frozen
class Brief:
    """A session as text, and whether what is open alone was more than the budget."""

    text: str
    tokens: int
    over: bool


@mutable
class _Part:
    title: str
    lines: list[str]


def brief(session: Session, *, budget: int, named: bool = False, place: str = "") -> Brief:
    """The session in at most `budget` tokens, whenever what is open fits into them.

    `named`: what is open has its session's id before its own, by which others can close it. `place` is where it was,
    if the session itself does not know.
    """
    head, must = f"Session {session.id}", essential(session, named=named)
    room = budget * 4 - sum(map(_cost, [head, *_lines(must)]))
    if room < 0:
        said = f"(what is open takes more than the budget of {budget} tokens)"
        text = "\n".join([head, *_lines(must), said])
        return Brief(text, tokens(text), over=True)
    filling = _Filling(room)
    taken = {name: filling.take(part) for name, part in _wanted(session, place) if part.lines}
    told = [part for name in _ORDER if (part := taken.get(name))]
    after = [part for name in ("scratchpad", "files") if (part := taken.get(name))]
    text = "\n".join([head, *_lines([*told, *must, *after])])
    return Brief(text, tokens(text), over=False)


def essential(session: Session, *, named: bool = False) -> list[_Part]:
    """What must be told whatever the budget."""
    whose = f"{session.id}:" if named else ""
    asked = [_item(f"{whose}{one.id}", one.text) for one in session.pending]
    opened, later = (
        [_item(f"{whose}{one.id}", one.text, one.task) for one in items]
        for items in (session.still_open, session.still_to_follow)
    )
    there = (_Part("Open:", opened), _Part("Waiting for a yes or no:", asked), _Part("To follow up:", later))
    return [part for part in there if part.lines]


def failing(commands: Iterable[SessionCommand]) -> list[SessionCommand]:
    """The commands that failed when they were last run, oldest first."""
    last: dict[str, SessionCommand] = {}
    for command in commands:
        last.pop(command.text, None)
        last[command.text] = command
    return [command for command in last.values() if command.exit_status not in (None, 0)]


class _Filling:
    """Room that parts take from, the most telling first."""

    def __init__(self, room: int) -> None:
        self.left = room

    def take(self, part: _Part) -> _Part | None:
        """As many lines of a part as fit, in their order; the last of them may be cut."""
        room = self.left - _cost(part.title)
        kept: list[str] = []
        for line in part.lines:
            if _cost(line) > room:
                if room > _LEAST_CUT:
                    kept.append(shortened(line, room - 1))
                    room -= _cost(kept[-1])
                break
            kept.append(line)
            room -= _cost(line)
        if not kept:
            return None
        self.left = room
        # Chosen from the newest on, told in the order of time.
        return _Part(part.title, kept[::-1] if part.title in _NEWEST_FIRST else kept)


_TURNS, _DECISIONS, _FAILED = "Turns:", "Decided:", "Failed when last run:"
_ALLOWED, _DENIED = "Allowed:", "Denied:"
_NEWEST_FIRST = (_TURNS, _DECISIONS, _FAILED, _ALLOWED, _DENIED)


def _wanted(session: Session, place: str) -> list[tuple[str, _Part]]:
    """What else is worth telling, the most telling first."""
    failed = [f"- {_flat(one.text)} (exit {one.exit_status})" for one in failing(session.commands)]
    decided = [f"- {_flat(one)}" for one in session.decisions]
    before = session.condensed
    made = [f" [{' '.join(oid[:10] for oid in turn.commits[-3:])}]" if turn.commits else "" for turn in session.turns]
    turns = [f"{turn.n}. {_flat(turn.summary)}{told}" for turn, told in zip(session.turns, made, strict=True)]
    earlier = f"Before, in {before.turns} turns:" if before else ""
    return [
        ("where", _Part("Where:", [_where(session, place)])),
        ("objective", _Part("Objective:", _texts(session.objective))),
        ("tasks", _Part("Tasks:", [" ".join(session.tasks[-_FEW:])] * bool(session.tasks))),
        ("failed", _Part(_FAILED, failed[::-1])),
        ("allowed", _Part(_ALLOWED, _answers(session, "granted"))),
        ("denied", _Part(_DENIED, _answers(session, "denied"))),
        ("decisions", _Part(_DECISIONS, decided[::-1])),
        ("summary", _Part("Summary:", _texts(session.summary))),
        ("turns", _Part(_TURNS, turns[::-1])),
        ("commits", _Part("Commits no turn tells of:", _untold(session))),
        ("before", _Part(earlier, _texts(before.text if before else None))),
        ("scratchpad", _Part("Scratchpad:", _texts(session.scratchpad))),
        ("files", _Part("Files:", [" ".join(_flat(path) for path in session.files[-40:])] * bool(session.files))),
    ]


def _answers(session: Session, state: str) -> list[str]:
    """The newest questions that got this answer, the newest first."""
    there = [_item(one.id, one.text) for one in session.approvals if one.state == state]
    return there[: -_ANSWERS - 1 : -1]


def _untold(session: Session) -> list[str]:
    told = {oid for turn in session.every_turn for oid in turn.commits}
    oids = [oid[:10] for oid in session.commits if oid not in told]
    more = f"{len(oids) - _FEW:,} and then " if len(oids) > _FEW else ""
    return [more + " ".join(oids[-_FEW:])] if oids else []


def _where(session: Session, known: str) -> str:
    at = now_at(session, session.updated)
    place = _flat(at.place if at.branch or at.commit else known or at.place)
    commit = f" at {at.commit[:12]}" if at.commit else ""
    ended = f", ended {session.ended.ts[:16]}" if session.ended else ""
    return f"{place}{commit}, last updated {at.ts[:16]}{ended}"


def _item(name: str, text: str, task: str | None = None) -> str:
    return f"- {name} {_flat(text)}" + (f" ({task})" if task else "")


def _flat(text: str) -> str:
    return visible(" ".join(text.split()))


def _texts(text: str | None) -> list[str]:
    return [line for line in visible(text or "").split("\n") if line.strip()]


def shortened(text: str, size: int) -> str:
    """A text of at most `size` bytes, with a mark where it was cut."""
    if len(data := text.encode("utf-8", "replace")) <= size:
        return text
    return data[: max(0, size - 3)].decode("utf-8", "ignore").rstrip() + "…"


def _cost(line: str) -> int:
    return len(line.encode("utf-8", "replace")) + 1


def _lines(parts: Iterable[_Part]) -> list[str]:
    return [line for part in parts for line in (part.title, *part.lines)]


MAX_EARLIER_SESSIONS = 10  # sessions whose open items are listed


@frozen
class OpenMatter:
    """An item, a follow-up or a question of some session."""

    session: Session
    kind: str  # "open", "asked" or "later"
    id: str
    text: str
    task: str | None
    state: str

    @property
    def name(self) -> str:
        """What to call it from another session."""
        return f"{self.session.id}:{self.id}"

    @property
    def is_open(self) -> bool:
        return self.state in ("open", "pending")


def earlier_sessions(there: Iterable[Session], first: Session, *, line: str) -> list[Session]:
    """The sessions that came before one, newest first: those linked with it, and what ended on the line."""
    known = {one.id: one for one in there if one.id != first.id}
    left = {name for name, one in known.items() if one.line == line or one.ended_by != "dropped"}
    onward: dict[str, list[str]] = {}
    for one in known.values():
        for name in one.next:
            onward.setdefault(name, []).append(one.id)
    found = {name: one for name, one in known.items() if one.line == line and one.state == "ended"}
    waiting = [first, *found.values()]
    while waiting:
        one = waiting.pop()
        for name in (one.previous or "", *onward.get(one.id, ())):
            # Somebody may have decided that a session of another line is no matter any more.
            if name in left and name not in found:
                found[name] = known[name]
                waiting.append(known[name])
    return sorted(found.values(), key=lambda one: (one.updated.ts, one.id), reverse=True)


def left_by(first: Session, earlier: Sequence[Session]) -> list[OpenMatter]:
    """What earlier sessions left open and no later one took up, the newest session first."""
    taken = {_words(one) for one in matters(first)}
    found: list[OpenMatter] = []
    for session in earlier:
        new = [one for one in matters(session) if _words(one) not in taken]
        found += [one for one in new if one.is_open]
        taken |= {_words(one) for one in new}
    return found


def answered_matters(sessions: Iterable[Session]) -> list[OpenMatter]:
    """What was allowed or denied, each session's newest first."""
    asked = (one for session in sessions for one in reversed(matters(session)) if one.kind == "asked")
    return [one for one in asked if not one.is_open]


def matters(session: Session) -> list[OpenMatter]:
    """All that a session noted as open, asked for and for later, whatever became of it."""
    kinds = (("open", session.open), ("later", session.follow_ups))
    items = [OpenMatter(session, kind, i.id, i.text, i.task, i.state) for kind, all_ in kinds for i in all_]
    return items + [OpenMatter(session, "asked", a.id, a.text, None, a.state) for a in session.approvals]


def _words(matter: OpenMatter) -> tuple[str, str]:
    return matter.kind, " ".join(matter.text.split()).casefold()
