"""Conflicts in words: both sides, field by field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.interfaces.cli.output import strong
from holdfast.interfaces.cli.words import count, lines, table
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.git.disputed.conflicts import Conflict
    from holdfast.work.disputes import Resolved

KINDS = {
    "waiting": "changed here and in the branch's history",
    "edited": "changed here and edited by hand",
    "unmerged": "left unmerged by git",
    "marked": "conflict markers in the file",
    "committed": "conflict markers in a commit",
    "overruled": "one side was overruled by a merge",
}


@frozen
class Listed:
    """What is in conflict, and what merges overruled."""

    conflicts: tuple[Conflict, ...]
    overruled: tuple[Conflict, ...]


def listed(found: Listed) -> str:
    """Every conflict with both its sides."""
    if not found.conflicts and not found.overruled:
        return "No two sides contradict each other here."
    head = f"{count(len(found.conflicts), 'entry')} wait{'s' if len(found.conflicts) == 1 else ''} for a choice."
    parts = [head] if found.conflicts else []
    parts += [conflict(one) for one in found.conflicts]
    if found.overruled:
        parts.append(f"{count(len(found.overruled), 'entry')} in which a merge overruled one side:")
        parts += [conflict(one) for one in found.overruled]
    return "\n\n".join(parts)


def conflict(one: Conflict) -> str:
    """One conflict: who the sides are, what each says, and what to type."""
    return lines(
        f"{strong(one.id)}  {KINDS[one.kind]}  {one.path}",
        f"  ours:   {one.ours.origin}",
        f"  theirs: {one.theirs.origin}",
        _fields(one),
        _how(one),
    )


def _fields(one: Conflict) -> list[str]:
    from holdfast.git.disputed.sides import WHOLE, shown

    if not one.fields:
        return []
    if one.fields[0].name == WHOLE:
        sides = (("ours", one.ours), ("theirs", one.theirs))
        return [f"  {name} deleted the file" for name, side in sides if side.text is None]
    last = ("now",) if one.kind == "overruled" else ()
    rows = [("field", "before", "ours", "theirs", *last)]
    for field in one.fields:
        values = (field.base, field.ours, field.theirs, *((field.stands,) if last else ()))
        rows.append((field.name.removeprefix("+"), *map(shown, values)))
    return table(rows)


def _how(one: Conflict) -> str:
    if one.is_memory:
        return f"  Write the text you want into the file, then: holdfast review accept {one.id}"
    if one.merged is not None:
        return f"  Nobody has to choose: holdfast task resolve {one.id}"
    back = "Take one back" if one.kind == "overruled" else "Choose"
    return f"  {back}: holdfast task resolve {one.id} --ours (or --theirs, or --field NAME=ours)"


def resolved(done: Resolved) -> str:
    """What was chosen, and how to go on."""
    if done.text is None:
        said = "goes, as one side wanted"
    else:
        said = f"settled: {', '.join(done.diff)}" if done.diff else "settled: as our side has it"
    written = "written and added" if done.next.startswith("git") else "it waits to be published"
    return lines(f"{strong(done.id)}  {said}", f"{written}; go on with: {done.next}")
