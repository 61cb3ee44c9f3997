"""Settling a conflict by one command: found by its id, checked against the whole graph, then stored."""

from collections.abc import Mapping

from holdfast.errors import Cycle, NotFound
from holdfast.git import conflict_sides, merge_conflicts
from holdfast.git.clone import Clone
from holdfast.model.task import Task
from holdfast.store import task_files
from holdfast.values import frozen
from holdfast.work import task_board as boards

_GO_ON = {f"a {what}": f"git {what} --continue" for what in ("rebase", "cherry-pick", "revert")}


@frozen
class SettledConflict:
    """A conflict that somebody settled."""

    id: str
    path: str
    conflict: conflict_sides.EntryConflict
    text: str | None  # what stands now; None: the file goes
    diff: tuple[str, ...]  # what that changes of ours
    next: str  # what to do now


def named(clone: Clone, name: str) -> conflict_sides.EntryConflict:
    """The conflict about the entry that a person means."""
    try:
        return merge_conflicts.named(clone, name)
    except NotFound:
        raise NotFound(
            f"nothing is in conflict that is called {name}", hint="See `holdfast task resolve` for what is."
        ) from None


def resolve(clone: Clone, conflict: conflict_sides.EntryConflict, choices: Mapping[str, str]) -> SettledConflict:
    """Settle a conflict by choices for its fields; Cycle if the tasks would then wait for one another."""
    text = merge_conflicts.settled(clone, conflict, choices)
    read = task_files.reader(conflict.path)
    node = read(text, conflict.path) if read and text is not None else None
    if isinstance(node, Task) and (loop := boards.read(clone).graph.cycle(node)):
        raise Cycle(f"so settled it would be a cycle: {' → '.join(loop)}", hint="Choose other needs.")
    merge_conflicts.apply(clone, conflict, text)
    diff = conflict_sides.differences(conflict.path, conflict.ours.text, text) if text is not None else ()
    go_on = "holdfast publish"
    if conflict.kind in merge_conflicts.IN_THE_TREE:
        go_on = _GO_ON.get(clone.repo.operation() or "", "git commit")
    return SettledConflict(conflict.id, conflict.path, conflict, text, diff, go_on)
