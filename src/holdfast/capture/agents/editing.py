"""What an edit wrote and took away, from the shapes in which tools tell of it.

Lines that stand on both sides, in whatever order, were neither written nor removed; to find that out takes
time in proportion to their number.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from holdfast.capture.agents.stripping import words
from holdfast.model.transcript import MAX_LINES, Edit
from holdfast.values import replace


def lines_of(text: str) -> list[str]:
    """The lines of a text as git counts them, without their ends."""
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def written(path: str, content: str, *, before: str | None, new: bool) -> Edit:
    """A file written whole; `before` is what it held, if that is known."""
    lines, there = lines_of(content), lines_of(before or "")
    more, removed = _differing(there, lines)
    kept = tuple(_beyond(lines, more)[:MAX_LINES]) if new or before is not None else None
    return Edit(
        path=path,
        action="add" if new else "update",
        added=tuple(lines[:MAX_LINES]),
        removed=tuple(removed[:MAX_LINES]),
        whole=len(lines) <= MAX_LINES,
        kept=kept,
    )


def replaced(path: str, pairs: Iterable[tuple[str, str]], *, new: bool = False) -> Edit:
    """Pieces of a file replaced by others: (before, after)."""
    added: list[str] = []
    removed: list[str] = []
    for before, after in pairs:
        more, fewer = _differing(lines_of(before), lines_of(after))
        added += more
        removed += fewer
    return _edit(path, added, removed, "add" if new else "update")


def patched(path: str, lines: Iterable[object]) -> Edit:
    """A file changed as the lines of a patch say, each with its sign."""
    added: list[str] = []
    removed: list[str] = []
    for line in map(words, lines):
        if line[:1] in ("+", "-"):
            (added if line[0] == "+" else removed).append(line[1:].removesuffix("\r"))
    return _edit(path, added, removed, "update")


def agreed(edit: Edit, proposed: Iterable[str]) -> Edit:
    """An edit that a person changed before it was made, with only those new lines that the agent proposed.

    Whatever else came in is the person's. Blanks around a line do not count: tools fit them to the place.
    """
    room = Counter(line.strip() for line in proposed)
    own = []
    for line in edit.added:
        if room[line.strip()] > 0:
            room[line.strip()] -= 1
            own.append(line)
    kept = None if edit.kept is None else tuple(_beyond(own, _beyond(own, edit.kept)))
    return replace(edit, added=tuple(own), kept=kept, whole=False)


def hunks(diff: str) -> list[str]:
    """The lines of a unified diff that stand in its hunks."""
    found: list[str] = []
    within = False
    for line in diff.split("\n"):
        if line.startswith("@@"):
            within = True
        elif within and not line.startswith("\\"):
            found.append(line)
    return found


def _edit(path: str, added: Sequence[str], removed: Sequence[str], action: str) -> Edit:
    return Edit(path=path, action=action, added=tuple(added[:MAX_LINES]), removed=tuple(removed[:MAX_LINES]))


def _differing(before: Sequence[str], after: Sequence[str]) -> tuple[list[str], list[str]]:
    """The lines of each side that the other does not have, each as often as it has it more."""
    return _beyond(after, before), _beyond(before, after)


def _beyond(these: Sequence[str], those: Sequence[str]) -> list[str]:
    there = Counter(those)
    found = []
    for line in these:
        if there[line] > 0:
            there[line] -= 1
        else:
            found.append(line)
    return found
