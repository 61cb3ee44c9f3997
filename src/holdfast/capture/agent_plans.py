"""What agents planned and nobody made a task of yet. Nothing is changed: people say what is to be done."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.capture.ingest import run_files
from holdfast.capture.session_lookup import anchor_of
from holdfast.git.clone import Clone
from holdfast.model.session import Session, SessionItem
from holdfast.store import capsule, session_files
from holdfast.values import dicts_of, frozen
from holdfast.work.task_board import Board


@frozen
class PlanFinishedTask:
    """An open task that a plan says is done, and the run that shows it."""

    task: str
    title: str
    run: str


@frozen
class AgentPlan:
    """What one session left open that is no task, and which tasks may be done by its plan."""

    session: Session
    items: tuple[SessionItem, ...]
    done: tuple[PlanFinishedTask, ...] = ()


def find_agent_plans(clone: Clone, board: Board) -> list[AgentPlan]:
    """What the last sessions of this line left open and is no task, newest first; each matter once."""
    line, branch = clone.line().id, anchor_of(clone).branch
    here = [one for one in session_files.likely(clone.stores, branch=branch) if one.line == line]
    tasks = {_folded(task.title): task for task in board.tasks}
    known, found = set(tasks), []
    for session in sorted(here, key=lambda one: (one.updated.ts, one.id), reverse=True):
        items = tuple(item for item in session.still_open if not item.task and _folded(item.text) not in known)
        steps = dict(_done_steps(clone, session))
        over = [(tasks[step], run) for step, run in steps.items() if step in tasks]
        done = tuple(PlanFinishedTask(task.id, task.title, run) for task, run in over if not task.is_closed)
        known |= {_folded(item.text) for item in items} | steps.keys()  # what a later plan did is no proposal
        if items or done:
            found.append(AgentPlan(session, items, done))
    return found


def _done_steps(clone: Clone, session: Session) -> Iterator[tuple[str, str]]:
    """The steps that the last plan of a session says are done, and its run."""
    run = next((turn.run for turn in reversed(session.turns) if turn.run), None)
    rows = capsule.read_json(clone.layout.run(run), run_files.TODOS) if run else None
    yield from ((_folded(str(row.get("text"))), str(run)) for row in dicts_of(rows) if row.get("status") == "done")


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold().rstrip(".")
