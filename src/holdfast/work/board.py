"""The board: every task that is visible here, and the one way to write one.

A task's text is a change that waits on this line, else a hand edit, else HEAD's; what the graph makes
of them all is `work.graph`'s business, what happens to one of them `work.doing`'s.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import Any

from holdfast.errors import BadInput, BrokenEntry, Cycle, InConflict, NotFound, TooLarge
from holdfast.git.clone import Clone
from holdfast.model.event import Draft
from holdfast.model.ids import TASK, new_id, pick, slug
from holdfast.model.task import Link, Task
from holdfast.store import document, tasks
from holdfast.store import layout as paths
from holdfast.store.pending import Change
from holdfast.values import field_names, frozen, replace
from holdfast.work import elsewhere
from holdfast.work.graph import Graph

MAX_SLUG = 60


@frozen
class Placed:
    """A task and where its text stands."""

    task: Task
    path: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    clash: str | None = None  # the branch's own text, if it and the waiting one contradict each other
    edited: str | None = None  # a hand edit that a waiting change hides
    text: str = ""  # as it is written there


@frozen
class Broken:
    """A file among the tasks that cannot be read; it is left out until somebody mends it."""

    path: str
    reason: str


class Board:
    """All tasks visible here."""

    def __init__(self, placed: Mapping[str, Placed], broken: tuple[Broken, ...] = ()) -> None:
        self.placed, self.broken = placed, broken

    @property
    def tasks(self) -> list[Task]:
        return [placed.task for placed in self.placed.values()]

    @cached_property
    def graph(self) -> Graph:
        return Graph(self.tasks)

    def find(self, name: str) -> Placed:
        """The task a person means by an id or its beginning."""
        try:
            return self.placed[pick(name, self.placed)]
        except NotFound:
            for file in self.broken:
                if file.path.lower().endswith(f"-{name.lower()}.md"):
                    hint = f"If two sides contradict each other: holdfast task resolve {name}"
                    raise BrokenEntry(f"{name} cannot be read: {file.reason}", hint=hint) from None
            raise NotFound(f"no task here is called {name}", hint="List them with `holdfast tasks`.") from None


def read(clone: Clone) -> Board:
    """Every task visible here; what cannot be read is named, never fatal."""
    placed: dict[str, Placed] = {}
    broken: list[Broken] = []
    for sighting in clone.entries(paths.TASKS):
        if sighting.origin == "edit" and clone.scan.text(sighting.text) != sighting.text:
            broken.append(Broken(sighting.path, f"{sighting.path} holds what looks like a secret"))
            continue
        try:
            task = tasks.parse(sighting.text, sighting.path)
        except BrokenEntry as error:
            broken.append(Broken(sighting.path, str(error)))
            continue
        if task.id in placed:
            broken.append(_twin(task.id, sighting.path, placed[task.id].path))
            continue
        placed[task.id] = Placed(
            task, sighting.path, sighting.blob, sighting.origin, sighting.clash, sighting.edited, sighting.text
        )
    return Board(placed, tuple(broken))


def _twin(identity: str, path: str, other: str) -> Broken:
    """A second file of one id, as a merge of two branches that both made it may bring."""
    reason = f"{path} is {identity}, which stands in {other} too; keep one and delete the other: git rm {path}"
    return Broken(path, reason)


def cleaned(clone: Clone, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that came from outside, in one line where they must be, and without their secrets."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, str) and name != "notes":
            found[name] = clone.scan.text(" ".join(value.split()))
        elif isinstance(value, str):
            found[name] = clone.scan.text(value.replace("\r\n", "\n").replace("\r", "\n").strip("\n"))
        elif isinstance(value, tuple | list) and name != "extra":
            found[name] = tuple(dict.fromkeys(clone.scan.text(str(item)) for item in value))
        else:
            found[name] = value
    texts = ("title", "impact", "reason", "notes", "owner")
    if any(isinstance(fields.get(n), str) and "[redacted" in found[n] for n in texts if n in found):
        clone.notes.append("a secret was removed from the words before they were stored")
    return found


def place_new(clone: Clone, board: Board, fields: Mapping[str, Any], *, action: str = "add") -> Task:
    """Add a task to the board."""
    identity = fields.get("id") or new_id(TASK, _taken(board))
    if identity.lower() in {name.lower() for name in _taken(board)}:  # file names may ignore case
        raise BadInput(f"there is a task {identity} already", hint="Leave --id out to get a new one.")
    if fields.get("id") and (branches := elsewhere.others_with(clone, identity)):
        raise BadInput(
            f"there is a task {identity} on {', '.join(branches[:3])} already",
            hint="Merge that branch to get it, or leave --id out to get a new id.",
        )
    task = Task(**{**fields, "id": identity})
    refuse_bad_edges(clone, board, task)
    path = paths.node_path(paths.TASKS, slug(task.title, MAX_SLUG), task.id)
    return _write(clone, task, path, tasks.render(task), action=action)


def replace_with(clone: Clone, board: Board, task: Task, *, action: str, more: Mapping[str, Any] | None = None) -> Task:
    """Give a task on the board another content; the same content is no change."""
    before = board.placed[task.id]
    if before.clash is not None:
        raise InConflict(
            f"{task.id} was changed here and in the branch's history",
            hint=f"Choose with: holdfast task resolve {task.id}",
        )
    if task == before.task and before.origin != "edit":
        return task
    if (task.needs, task.parent) != (before.task.needs, before.task.parent):
        refuse_bad_edges(clone, board, task, known=before.task)
    text = document.laid_out(tasks.render(task), before.text)
    return _write(clone, task, before.path, text, action=action, more=more)


def refuse_bad_edges(clone: Clone, board: Board, task: Task, *, known: Task | None = None) -> None:
    """Cycle if the task would wait for itself; NotFound if it names a node that nobody here knows."""
    had = {*known.needs, known.parent} if known else set()
    for name in {*task.needs, task.parent} - had - {None}:
        if name not in board.placed and not elsewhere.branches_with(clone, str(name)):
            raise NotFound(f"there is no task {name}, on this branch or another", hint="See `holdfast tasks`.")
    if not (task.needs or task.parent) and task.id not in _taken(board):
        return
    if loop := board.graph.cycle(task):
        raise Cycle(f"that would be a cycle: {' → '.join(loop)}")


def _taken(board: Board) -> set[str]:
    named = (edge for task in board.tasks for edge in (*task.needs, task.parent) if edge)
    return {*board.placed, *named}


def _write(
    clone: Clone, task: Task, path: str, text: str, *, action: str, more: Mapping[str, Any] | None = None
) -> Task:
    if len(text) > tasks.MAX_TASK:
        raise TooLarge(f"{task.id} takes {len(text):,} characters; at most {tasks.MAX_TASK:,} are kept")
    clone.change(path, text, event=lambda new: event_of(task, action=action, blob=new.blob, more=more))
    return task


def event_of(task: Task, *, action: str, blob: str | None = None, more: Mapping[str, Any] | None = None) -> Draft:
    """The event that says what happened to a task."""
    body = {
        "action": action,
        "task": task.id,
        "statement": task.title,
        "status": task.status,
        "receipts": list(task.evidence),
        "blob": blob,
        "reason": task.reason,
        "reviewer": task.owner,
        **(more or {}),
    }
    return Draft(
        "task",
        target=task.id,
        layer=task.layer,
        systemic_scale=task.systemic_scale,
        body={name: value for name, value in body.items() if value not in (None, [])},
    )


def changed(task: Task, fields: Mapping[str, Any]) -> Task:
    """The task with some fields replaced; BadInput names one it does not have."""
    unknown = sorted(set(fields) - set(field_names(Task)) | ({"id"} & set(fields)))
    if unknown:
        raise BadInput(f"a task's {', '.join(unknown)} cannot be changed")
    return replace(task, **fields)


def links(clone: Clone) -> tuple[dict[str, tuple[Link, str]], tuple[Broken, ...]]:
    """Every canonical link visible here by its id, with its path, and the files that cannot be read."""
    found: dict[str, tuple[Link, str]] = {}
    broken = []
    for sighting in clone.entries(paths.LINKS):
        try:
            link = tasks.parse_link(sighting.text, sighting.path)
        except BrokenEntry as error:
            broken.append(Broken(sighting.path, str(error)))
            continue
        found[link.id] = (link, sighting.path)
    return found, tuple(broken)


def remove(clone: Clone, removed: Iterable[tuple[str, Draft]]) -> None:
    """Take files off the board: deleted by the next publish, kept in the store and in history."""
    for path, draft in removed:
        clone.change(path, None, event=partial(_said, draft))


def _said(draft: Draft, _: Change) -> Draft:
    return draft
