"""Edits of project_state.json: taken if the view showed what still stands, else kept and said.

How an edit of any view is noticed is `git.view_edits`' work; here it is known what an edit of this one
means: changed and new tasks and links. Absence deletes nothing, and what is derived from the tasks cannot be
edited. It is taken as a whole or not at all.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import BadInput, HoldfastError, InConflict
from holdfast.git import conflict_sides, view_edits
from holdfast.git.clone import Clone
from holdfast.model.ids import new_id
from holdfast.model.task import Link, Task
from holdfast.patterns import regex
from holdfast.store import markdown_document, task_files
from holdfast.values import frozen
from holdfast.work import hand_edits, project_state, task_json
from holdfast.work import task_board as boards

HEADER = ("version", "last_updated", "branch", "head", "base")
_NODES = ("tasks", "links")
_ON_LINE = regex(r"^line (\d+): ")


@frozen
class ViewEditOutcome:
    """What became of an edited view."""

    taken: tuple[hand_edits.TakenEdit, ...] = ()
    refused: str | None = None  # why nothing of it was taken
    kept: str | None = None  # the file that holds the refused text


def take_state(clone: Clone, data: bytes) -> ViewEditOutcome:
    """Take an edit of project_state.json, or refuse it and keep its text."""
    try:
        changes = _changes(clone, data)
    except HoldfastError as error:
        why = str(error)  # with its place: the line as editors understand it, or the task
        if why.startswith(("task ", "link ")):
            why = f"{project_state.NAME}, {why}"
        why = _ON_LINE.sub(rf"{project_state.NAME}:\1 ", why)
        return ViewEditOutcome(refused=why, kept=view_edits.refused(clone, project_state.NAME, data, why))
    taken = _store(clone, changes)
    view_edits.remember(clone, project_state.NAME, data)
    for one in taken[: hand_edits.MOST_NOTES]:
        clone.notes.append(hand_edits.said(one, where=f"in {project_state.NAME}"))
    return ViewEditOutcome(taken)


@frozen
class _Change:
    """A node as the edit has it, where it lies, and what it was."""

    node: Task | Link
    path: str
    before: str | None


def _changes(clone: Clone, data: bytes) -> list[_Change]:
    """What an edited text changes; whatever speaks against any of it is raised."""
    text = view_edits.decoded(data)
    document = _loaded(text)
    current = project_state.read(clone)
    if document.get("base") != current.base:
        raise BadInput("the project has changed since it was rendered; edit the fresh one")
    _refuse_derived(document, current)
    known = {name: _Change(placed.task, placed.path, placed.text) for name, placed in current.board.placed.items()}
    links, _ = boards.links(clone)
    known |= {name: _Change(link, path, task_files.render(link)) for name, (link, path) in links.items()}
    taken = {name.casefold() for name in known}
    plan = task_json.from_text(text, fresh=lambda prefix, others: new_id(prefix, {*known, *others}))
    nodes: dict[str, Task | Link] = {task.id: task for task in plan.tasks}
    nodes |= {link.id: link for link in plan.links}
    if missing := sorted(known.keys() - nodes.keys()):
        raise BadInput(
            f"{missing[0]} is not in it any more; what is absent is not deleted: use `holdfast task drop` "
            "or `holdfast link remove`"
        )
    for node in nodes.values():
        if node.id not in known and node.id.casefold() in taken:
            raise BadInput(f"{node.id} differs only in case from one that is here")
    return list(_changed(clone, nodes, known, current))


def _changed(
    clone: Clone, nodes: Mapping[str, Task | Link], known: Mapping[str, _Change], current: project_state.ProjectState
) -> Iterator[_Change]:
    for name, node in nodes.items():
        before, text = known.get(name), task_files.render(node)
        # As it is, or as the view shows it: a secret that git brought in it is hidden there.
        if before is not None and text in ((was := task_files.render(before.node)), clone.hide.text(was)):
            continue
        if name in current.board.placed and current.board.placed[name].clash is not None:
            raise InConflict(f"{name} was changed here and in the branch's history")
        if name in clone.erased():
            raise BadInput(f"{name} was erased")
        if clone.scan.text(text) != text:
            raise BadInput(f"{name} holds what looks like a secret; take it out")
        if before is not None and type(before.node) is not type(node):
            raise BadInput(f"{name} cannot turn from a task into a link, or back")
        yield _Change(node, before.path, before.before) if before else _Change(node, boards.path_for(node), None)


def _loaded(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError):
        raise BadInput("line 1: it is nested too deeply, or holds a number too long to read") from None
    if not isinstance(document, dict) or not all(isinstance(document.get(name), list) for name in _NODES):
        raise BadInput("line 1: it is not an object with lists of tasks and links")
    return document


def _refuse_derived(document: Mapping[str, Any], current: project_state.ProjectState) -> None:
    """What follows from the tasks may be left out, but not edited; what nobody knows may not be added."""
    shown = json.loads(json.dumps(project_state.as_object(current)))
    for name, value in document.items():
        if name in HEADER or name in _NODES:
            continue
        if name not in shown:
            raise BadInput(f"it has a field {name[:40]!r} that nobody would read")
        if value != shown[name]:
            raise BadInput(f"{name} follows from the tasks: edit these instead")


def _store(clone: Clone, changes: list[_Change]) -> tuple[hand_edits.TakenEdit, ...]:
    """Keep what was edited: as a change that waits and an event, like any edit by hand."""
    if not changes:
        return ()
    texts = {
        change.path: markdown_document.laid_out(task_files.render(change.node), *filter(None, [change.before]))
        for change in changes
    }
    stored = {done.path: done.blob or "" for done in clone.change_all(texts)}
    taken = []
    for change in changes:
        action = "edit" if change.before is not None else "add"
        clone.record(boards.event_of(change.node, action=action, blob=stored[change.path]))
        diff: tuple[str, ...] = (change.node.title,)
        if change.before:
            diff = conflict_sides.differences(change.path, change.before, texts[change.path])
        taken.append(hand_edits.TakenEdit(change.node.id, change.path, diff, is_new=change.before is None))
    return tuple(taken)
