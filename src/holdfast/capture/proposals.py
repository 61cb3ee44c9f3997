"""Which started tasks the commits of a session speak for. Nothing is changed: people say what is done."""

from collections.abc import Mapping, Sequence

from holdfast.capture import since
from holdfast.git.clone import Clone
from holdfast.model.session import Session
from holdfast.model.task import Task
from holdfast.patterns import regex
from holdfast.values import frozen
from holdfast.work import board, claims

_WORD = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")


@frozen
class Proposal:
    """A started task that may be done, the commits that say so, and why they do."""

    task: str
    title: str
    commits: tuple[str, ...]
    why: str


def propose(clone: Clone, session: Session, commits: Sequence[str]) -> tuple[Proposal, ...]:
    """The started tasks of this session or line for which these commits speak, as the board lists them."""
    if not commits:
        return ()
    texts = since.messages(clone.repo, commits)
    started = [task for task in board.read(clone).tasks if task.status == "started"]
    found = (_for(clone, session, task, commits, texts) for task in started)
    return tuple(proposal for proposal in found if proposal)


def _for(
    clone: Clone, session: Session, task: Task, commits: Sequence[str], texts: Mapping[str, str]
) -> Proposal | None:
    reasons = {
        "the commit names it": {oid for oid in commits if task.id in _WORD.findall(texts.get(oid, ""))},
        "it was claimed while they were made": _claimed(clone, session, task.id),
        "the session worked on it": _worked(session, task.id, commits),
    }
    speak = {why: found & set(commits) for why, found in reasons.items()}
    if not any(speak.values()):
        return None
    chosen = set().union(*speak.values())
    why = ", ".join(why for why, found in speak.items() if found)
    return Proposal(task.id, task.title, tuple(oid for oid in commits if oid in chosen), why)


def _claimed(clone: Clone, session: Session, task: str) -> set[str]:
    claim = claims.find(clone.layout, task)
    if claim is None or (claim.session != session.id and claim.line != session.line):
        return set()
    return set(claim.commits)


def _worked(session: Session, task: str, commits: Sequence[str]) -> set[str]:
    """All commits if it was the session's only task, else those of the turns that were spent on it."""
    if session.tasks == (task,):
        return set(commits)
    return {oid for turn in session.every_turn if turn.task == task for oid in turn.commits}
