"""The board: every task that is visible here, and the one way to write one.

A task's text is a change that waits on this line, else a hand edit, else HEAD's. Tasks of other branches are found
when they are named, never shown unasked. What the graph makes of them all is `task_graph`'s work, what happens to one
of them `task_lifecycle`'s.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any

from holdfast.errors import BadInput, BrokenEntry, Cycle, InConflict, NotFound, TooLarge
from holdfast.git import branch_lines, visible_entries
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.model.ids import TASK, new_id, pick, slug
from holdfast.model.task import Link, Task
from holdfast.store import layout as paths
from holdfast.store import markdown_document, pending_changes, task_files
from holdfast.values import field_names, frozen, replace
from holdfast.work.task_graph import TaskGraph


def branches_with(clone: Clone, identity: str) -> list[str]:
    """The branches of this clone that hold a task or have it waiting; by name, each once."""
    ending = f"-{identity}.md"
    found = [branch for branch, names in files_by_branch(clone).items() if any(n.endswith(ending) for n in names)]
    known = branch_lines.known(*clone.stores)
    for store in clone.stores:
        for change in pending_changes.waiting(store):
            if change.path.startswith(paths.TASKS) and change.path.endswith(ending) and change.line in known:
                found.append(branch_lines.called(known[change.line].refs[-1]))
    return list(dict.fromkeys(found))


def others_with(clone: Clone, identity: str) -> list[str]:
    """The branches that hold a task or have it waiting, besides the one that is checked out."""
    here = clone.repo.head().branch
    return [branch for branch in branches_with(clone, identity) if branch != here]


def paths_of(clone: Clone, folder: str, wanted: Collection[str]) -> dict[str, str]:
    """The files in which other branches keep these ids: the same id is the same file everywhere."""
    if not wanted:
        return {}
    names = [name for listed in files_by_branch(clone, folder).values() for name in listed]
    waiting = [change.path for store in clone.stores for change in pending_changes.waiting(store)]
    names += [path.removeprefix(f"{folder}/") for path in waiting if path.startswith(f"{folder}/")]
    found: dict[str, str] = {}
    for name in sorted(set(names)):
        stem = name.removesuffix(".md")
        for at in (at for at, letter in enumerate(stem) if letter == "-"):  # the id may follow any of its dashes
            if stem[at + 1 :] in wanted:
                found.setdefault(stem[at + 1 :], f"{folder}/{name}")
    return found


def count_elsewhere(clone: Clone, known: Collection[str]) -> int:
    """How many tasks other branches have, published or waiting, whose files are not among these."""
    names = {f"{paths.TASKS}/{name}" for listed in files_by_branch(clone).values() for name in listed}
    alive = branch_lines.known(*clone.stores)
    for store in clone.stores:
        waiting = (c for c in pending_changes.waiting(store) if c.line in alive and not alive[c.line].dropped)
        names |= {change.path for change in waiting if change.text is not None}
    return len({name for name in names if name.startswith(f"{paths.TASKS}/") and name.endswith(".md")} - set(known))


def files_by_branch(clone: Clone, folder: str = paths.TASKS) -> dict[str, list[str]]:
    """Branch to the names of its task files; branches with the same tree are read once."""
    refs = clone.repo.text("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").splitlines()
    asked = "".join(f"{ref}:{folder}\n" for ref in refs).encode("utf-8", "surrogateescape")
    answers = os.fsdecode(clone.repo.run("cat-file", "--batch-check=%(objectname)", stdin=asked)).splitlines()
    trees = {ref: oid for ref, oid in zip(refs, answers, strict=False) if " " not in oid}
    listed = {oid: list(clone.repo.blobs_below(oid)) for oid in set(trees.values())}
    return {ref.removeprefix("refs/heads/").removeprefix("refs/remotes/"): listed[oid] for ref, oid in trees.items()}


MAX_SLUG = 60  # characters; a guess: names stay readable, and paths short


@frozen
class TaskFile:
    """A task and where its text stands."""

    task: Task
    path: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    clash: str | None = None  # the branch's own text, if it and the waiting one contradict each other
    edited: str | None = None  # a hand edit that a waiting change hides
    text: str = ""  # as it is written there


@frozen
class BrokenTaskFile:
    """A file among the tasks that cannot be read; it is left out until somebody mends it."""

    path: str
    reason: str


class Board:
    """All tasks visible here."""

    def __init__(self, placed: Mapping[str, TaskFile], broken: tuple[BrokenTaskFile, ...] = ()) -> None:
        self.placed, self.broken = placed, broken

    @property
    def tasks(self) -> list[Task]:
        return [placed.task for placed in self.placed.values()]

    @cached_property
    def named(self) -> set[str]:
        """The ids of all tasks, and of those they name."""
        return {*self.placed, *(edge for task in self.tasks for edge in (*task.needs, task.parent) if edge)}

    @cached_property
    def graph(self) -> TaskGraph:
        return TaskGraph(self.tasks)

    def find(self, name: str) -> TaskFile:
        """The task a person means by an id or its beginning."""
        try:
            return self.placed[pick(name, self.placed)]
        except NotFound:
            for file in self.broken:
                if file.path.lower().endswith(f"-{name.lower()}.md"):
                    hint = f"If two sides contradict each other: holdfast task resolve {name}"
                    raise BrokenEntry(f"{name} cannot be read: {file.reason}", hint=hint) from None
            raise NotFound(f"no task here is called {name}", hint="List them with `holdfast task list`.") from None


def read(clone: Clone) -> Board:
    """Every task visible here; what cannot be read is named, never fatal."""
    placed: dict[str, TaskFile] = {}
    broken: list[BrokenTaskFile] = []
    parse = task_files.parse
    for sighting in clone.entries(paths.TASKS):
        if sighting.origin == "edit" and clone.scan.text(sighting.text) != sighting.text:
            broken.append(BrokenTaskFile(sighting.path, f"{sighting.path} holds what looks like a secret"))
            continue
        try:
            task = parse(sighting.text, sighting.path)
        except BrokenEntry as error:
            broken.append(BrokenTaskFile(sighting.path, str(error)))
            continue
        path = sighting.path
        if task.id in placed:  # a merge of two branches that both made it may bring it
            other = placed[task.id].path
            reason = f"{path} is {task.id}, which stands in {other} too; keep one and delete the other: git rm {path}"
            broken.append(BrokenTaskFile(path, reason))
            continue
        placed[task.id] = TaskFile(
            task, path, sighting.blob, sighting.origin, sighting.clash, sighting.edited, sighting.text
        )
    return Board(placed, tuple(broken))


def sightings(clone: Clone) -> dict[str, visible_entries.Sighting]:
    """Every file of a task or a link that is visible here, by its path."""
    return {one.path: one for folder in (paths.TASKS, paths.LINKS) for one in clone.entries(folder)}


def node_of(path: str, text: str) -> Task | Link | None:
    """The task or link that a file holds; None if it is neither, or cannot be read."""
    read = task_files.reader(path)
    try:
        return read(text, path) if read else None
    except BrokenEntry:
        return None


def path_for(node: Task | Link) -> str:
    """Where a new task or link is kept."""
    folder = paths.TASKS if isinstance(node, Task) else paths.LINKS
    return paths.node_path(folder, slug(node.title, MAX_SLUG), node.id)


def cleaned(clone: Clone, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that came from outside, in one line where they must be, and without their secrets."""
    found: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, str):
            lines = value.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
            found[name] = clone.scan.text(lines if name == "notes" else " ".join(value.split()))
        elif isinstance(value, tuple | list) and name != "extra":
            found[name] = tuple(dict.fromkeys(clone.scan.text(str(item)) for item in value))
        else:
            found[name] = value
    texts = ("title", "impact", "reason", "notes", "owner")
    if any(isinstance(fields.get(n), str) and "[redacted" in found[n] for n in texts if n in found):
        clone.notes.append("a secret was removed from the words before they were stored")
    return found


def place_new(clone: Clone, board: Board, fields: Mapping[str, Any]) -> Task:
    """Add a task to the board."""
    identity = fields.get("id") or new_id(TASK, board.named)
    if fields.get("id") and identity.lower() in map(str.lower, board.named):  # file names may ignore case
        raise BadInput(f"there is a task {identity} already", hint="Leave --id out to get a new one.")
    if fields.get("id") and (branches := others_with(clone, identity)):
        raise BadInput(
            f"there is a task {identity} on {', '.join(branches[:3])} already",
            hint="Merge that branch to get it, or leave --id out to get a new id.",
        )
    task = Task(**{**fields, "id": identity})
    refuse_bad_edges(clone, board, task)
    return _write(clone, task, path_for(task), task_files.render(task), action="add")


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
    text = markdown_document.laid_out(task_files.render(task), before.text)
    return _write(clone, task, before.path, text, action=action, more=more)


def replace_all(clone: Clone, board: Board, tasks: Sequence[Task], *, action: str) -> None:
    """Give many tasks another content whose edges stay; what waits and what HEAD has is looked up once."""
    by_path = {board.placed[task.id].path: task for task in tasks}
    texts = {p: markdown_document.laid_out(task_files.render(t), board.placed[t.id].text) for p, t in by_path.items()}
    clone.change_all(texts, event=lambda new: event_of(by_path[new.path], action=action, blob=new.blob))


def refuse_bad_edges(clone: Clone, board: Board, task: Task, *, known: Task | None = None) -> None:
    """Cycle if the task would wait for itself; NotFound if it names a node that nobody here knows."""
    had = {*known.needs, known.parent, None} if known else {None}
    for name in {*task.needs, task.parent} - had:
        if name not in board.placed and not branches_with(clone, str(name)):
            raise NotFound(f"there is no task {name}, on this branch or another", hint="See `holdfast task list`.")
    if (task.needs or task.parent or task.id in board.named) and (loop := board.graph.cycle(task)):
        raise Cycle(f"that would be a cycle: {' → '.join(loop)}")


def _write(
    clone: Clone, task: Task, path: str, text: str, *, action: str, more: Mapping[str, Any] | None = None
) -> Task:
    if len(text) > task_files.MAX_TASK:
        raise TooLarge(f"{task.id} takes {len(text):,} characters; at most {task_files.MAX_TASK:,} are kept")
    clone.change(path, text, event=lambda new: event_of(task, action=action, blob=new.blob, more=more))
    return task


def event_of(
    node: Task | Link, *, action: str, blob: str | None = None, more: Mapping[str, Any] | None = None
) -> EventDraft:
    """The event that says what happened to a task or a link."""
    body: dict[str, Any] = {"action": action, "statement": node.title, "blob": blob}
    layer = scale = None
    if isinstance(node, Task):
        layer, scale = node.layer, node.systemic_scale
        body |= {"task": node.id, "status": node.status, "receipts": list(node.evidence)}
        body |= {"reason": node.reason, "reviewer": node.owner}
    elif action == "add":
        body["action"] = "link"
    body = {name: value for name, value in (body | dict(more or {})).items() if value not in (None, [])}
    return EventDraft("task", target=node.id, layer=layer, systemic_scale=scale, body=body)


def changed(task: Task, fields: Mapping[str, Any]) -> Task:
    """The task with some fields replaced; BadInput names one it does not have."""
    unknown = sorted(set(fields) - set(field_names(Task)) | ({"id"} & set(fields)))
    if unknown:
        raise BadInput(f"a task's {', '.join(unknown)} cannot be changed")
    return replace(task, **fields)


def links(clone: Clone) -> tuple[dict[str, tuple[Link, str]], tuple[BrokenTaskFile, ...]]:
    """Every canonical link visible here by its id, with its path, and the files that cannot be read."""
    found: dict[str, tuple[Link, str]] = {}
    broken = []
    for sighting in clone.entries(paths.LINKS):
        try:
            link = task_files.parse_link(sighting.text, sighting.path)
            found[link.id] = (link, sighting.path)
        except BrokenEntry as error:
            broken.append(BrokenTaskFile(sighting.path, str(error)))
    return found, tuple(broken)
