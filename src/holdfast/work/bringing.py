"""Bringing tasks in from a file: everything is looked at before anything is written."""

from collections.abc import Iterable, Sequence

from holdfast.errors import BadInput, Cycle
from holdfast.git.clone import Clone
from holdfast.model.ids import slug
from holdfast.model.task import Link, Task
from holdfast.store import layout as paths
from holdfast.store import tasks
from holdfast.work import board as boards
from holdfast.work.board import Board
from holdfast.work.graph import Graph


def bring(clone: Clone, nodes: Sequence[Task], links: Sequence[Link], *, replace: bool = False) -> list[Task]:
    """Add tasks and links to the board; gives the tasks that are new or other than before.

    What is here already under the same id and says something else is refused, unless `replace`.
    """
    board = boards.read(clone)
    nodes = [Task(**boards.cleaned(clone, _fields(node))) for node in nodes]
    fresh = [task for task in nodes if task != _known(board, task.id)]
    _refuse_clashes(board, fresh, replace=replace)
    if loop := Graph([*board.tasks, *nodes]).cycle():
        raise Cycle(f"with these tasks there would be a cycle: {' → '.join(loop)}")
    changes = clone.change_all({_path(board, task): tasks.render(task) for task in fresh})
    for task, change in zip(fresh, changes, strict=True):
        clone.record(boards.event_of(task, action="import", blob=change.blob))
    _bring_links(clone, links)
    return fresh


def _path(board: Board, task: Task) -> str:
    before = board.placed.get(task.id)
    return before.path if before else paths.node_path(paths.TASKS, slug(task.title, boards.MAX_SLUG), task.id)


def _fields(node: Task) -> dict[str, object]:
    return {name: getattr(node, name) for name in Task.__dataclass_fields__}


def _known(board: Board, identity: str) -> Task | None:
    placed = board.placed.get(identity)
    return placed.task if placed else None


def _refuse_clashes(board: Board, fresh: Iterable[Task], *, replace: bool) -> None:
    lower = {name.lower(): name for name in board.placed}
    for task in fresh:
        known = lower.get(task.id.lower())
        if known is not None and known != task.id:
            raise BadInput(f"{task.id} and {known} differ in nothing but capital letters")
        if known is not None and not replace:
            raise BadInput(
                f"{task.id} is here already and says something else",
                hint="Add --replace to take the file's word for it.",
            )


def _bring_links(clone: Clone, links: Sequence[Link]) -> None:
    known, _ = boards.links(clone)
    for link in links:
        if link.id not in known:
            clone.change(paths.node_path(paths.LINKS, slug(link.title, 60), link.id), tasks.render(link))
