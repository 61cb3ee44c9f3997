"""Answers to what another session left open: `SES-x:o1` is closed, granted or denied from a later one.

An ended session stays as it was told; only the state of its items and questions changes.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from holdfast.errors import NotFound
from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.ids import pick
from holdfast.model.session import Item, Session
from holdfast.store import sessions
from holdfast.values import frozen, replace

Answers = Mapping[str, list[str]]  # close, granted or denied, to the short ids


@frozen
class Answered:
    """What is said to the session of the note itself, and what to others, by their ids."""

    own: dict[str, list[str]]
    others: dict[str, dict[str, list[str]]]


def parted(clone: Clone, answers: Answers) -> Answered:
    """Whose each answer is; NotFound before anything is written, if a session or an item is not there."""
    own: dict[str, list[str]] = {how: [] for how in answers}
    others: dict[str, dict[str, list[str]]] = {}
    for how, names in answers.items():
        for name in names:
            whose, mark, item = name.strip().rpartition(":")
            if mark:
                others.setdefault(_found(clone, whose), {how: [] for how in answers})[how].append(item)
            else:
                own[how].append(name)
    for name, said in others.items():
        settled(sessions.find(clone.layout, name), said)
    return Answered(own, others)


def _found(clone: Clone, name: str) -> str:
    try:
        return pick(name.strip(), sessions.ids(clone.layout))
    except NotFound:
        raise NotFound(f"there is no session {name}", hint="See `holdfast session list --all`.") from None


def item(clone: Clone, name: str) -> tuple[Session, Item]:
    """What a session left open, by both their ids; NotFound if it is not there, or closed."""
    whose, mark, asked = name.strip().rpartition(":")
    if not mark:
        raise NotFound(f"{name} names no item of a session", hint="Write both, such as SES-4d2:o1.")
    session = sessions.find(clone.layout, _found(clone, whose))
    for one in (*session.still_open, *session.still_to_follow):
        if one.id == asked.lower():
            return session, one
    raise NotFound(f"{session.id} has no open item {asked}", hint=f"See `holdfast session show {session.id}`.")


def items(clone: Clone, name: str) -> tuple[Session, tuple[Item, ...]]:
    """All that a session left open and is no task, by its id; NotFound if there is nothing."""
    session = sessions.find(clone.layout, _found(clone, name))
    found = tuple(one for one in session.still_open if not one.task)
    if not found:
        raise NotFound(f"{session.id} left nothing open", hint="See `holdfast task proposed`.")
    return session, found


def became(clone: Clone, session: Session, done: Item, task: str) -> None:
    """Close an item that became a task, and let it name the task."""

    def change(old: Session) -> Session:
        def told(items: tuple[Item, ...]) -> tuple[Item, ...]:
            return tuple(replace(one, task=task) if one.id == done.id else one for one in items)

        return rules.close(replace(old, open=told(old.open), follow_ups=told(old.follow_ups)), [done.id])

    sessions.update(clone.layout, session.id, change)


def give(clone: Clone, others: Mapping[str, Answers]) -> Session | None:
    """Give their answers to other sessions, durable on return; the last of them, if there is one."""
    told = None
    for name, said in others.items():
        told = sessions.update(clone.layout, name, partial(_settle, said))
    return told


def _settle(said: Answers, session: Session) -> Session:
    return settled(session, said)


def settled(session: Session, said: Mapping[str, Any]) -> Session:
    """A session with items closed and questions answered; pure, because it runs under the lock."""
    closed = rules.close(session, said["close"])
    allowed = rules.answer(closed, said["granted"], state="granted")
    return rules.answer(allowed, said["denied"], state="denied")
