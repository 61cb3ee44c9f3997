"""What earlier sessions left open and nobody closed since: subtasks, follow-ups, questions without an answer.

A new session begins empty; what the ones before it left is not lost by that. It is told with the session
it belongs to (`SES-x:o1`), by which name it can be closed from any later session. What a later session
says again in the same words is that one's business, open or closed.
"""

from collections.abc import Iterable, Sequence

from holdfast.model.session import Session
from holdfast.values import frozen

MOST = 10  # sessions that are told of


@frozen
class Matter:
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


def before(there: Iterable[Session], first: Session, *, line: str) -> list[Session]:
    """The sessions that came before one, newest first: those linked with it, and what ended on the line."""
    known = {one.id: one for one in there if one.id != first.id}
    onward: dict[str, list[str]] = {}
    for one in known.values():
        for name in one.next:
            onward.setdefault(name, []).append(one.id)
    found = {name: one for name, one in known.items() if one.line == line and one.state == "ended"}
    waiting = [first, *found.values()]
    while waiting:
        one = waiting.pop()
        for name in (one.previous or "", *onward.get(one.id, ())):
            if name in known and name not in found and not _let_go(known[name], line):
                found[name] = known[name]
                waiting.append(known[name])
    return sorted(found.values(), key=lambda one: (one.updated.ts, one.id), reverse=True)


def _let_go(session: Session, line: str) -> bool:
    """Whether somebody decided that a session of another line is no matter any more."""
    return session.line != line and session.ended_by == "dropped"


def left_by(first: Session, earlier: Sequence[Session]) -> list[Matter]:
    """What earlier sessions left open and no later one took up, the newest session first."""
    taken = {_words(one) for one in matters(first)}
    found: list[Matter] = []
    for session in earlier:
        new = [one for one in matters(session) if _words(one) not in taken]
        found += [one for one in new if one.is_open]
        taken |= {_words(one) for one in new}
    return found


def answered(sessions: Iterable[Session]) -> list[Matter]:
    """What was allowed or denied, each session's newest first."""
    return [
        one for session in sessions for one in reversed(matters(session)) if one.kind == "asked" and not one.is_open
    ]


def matters(session: Session) -> list[Matter]:
    """All that a session noted as open, asked for and for later, whatever became of it."""
    kinds = (("open", session.open), ("later", session.follow_ups))
    items = [Matter(session, kind, i.id, i.text, i.task, i.state) for kind, all_ in kinds for i in all_]
    return items + [Matter(session, "asked", a.id, a.text, None, a.state) for a in session.approvals]


def _words(matter: Matter) -> tuple[str, str]:
    return matter.kind, " ".join(matter.text.split()).casefold()
