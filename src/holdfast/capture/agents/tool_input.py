"""What an edit wrote and took away, from the shapes in which tools tell of it.

Lines that stand on both sides, in whatever order, were neither written nor removed; to find that out takes
time in proportion to their number.

Plans as tools tell them: a list of items, each with a text and how far it is.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from holdfast.capture.agents.transcript_reader import dict_of, list_of
from holdfast.capture.agents.transcript_text import own_words, short_name, text_value
from holdfast.model.transcript import MAX_LINES, Todo, TranscriptEdit, cut
from holdfast.values import replace


def lines_of(text: str) -> list[str]:
    """The lines of a text as git counts them, without their ends."""
    if not text:
        return []
    lines = text.removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def whole_file_edit(path: str, content: str, *, before: str | None, new: bool) -> TranscriptEdit:
    """A file written whole; `before` is what it held, if that is known."""
    lines, there = lines_of(content), lines_of(before or "")
    more, removed = _differing(there, lines)
    kept = tuple(_beyond(lines, more)[:MAX_LINES]) if new or before is not None else None
    return TranscriptEdit(
        path=path,
        action="add" if new else "update",
        added=tuple(lines[:MAX_LINES]),
        removed=tuple(removed[:MAX_LINES]),
        whole=len(lines) <= MAX_LINES,
        kept=kept,
    )


def replacement_edit(path: str, pairs: Iterable[tuple[str, str]], *, new: bool = False) -> TranscriptEdit:
    """Pieces of a file replaced by others: (before, after)."""
    added: list[str] = []
    removed: list[str] = []
    for before, after in pairs:
        more, fewer = _differing(lines_of(before), lines_of(after))
        added += more
        removed += fewer
    return _edit(path, added, removed, "add" if new else "update")


def patch_edit(path: str, lines: Iterable[object]) -> TranscriptEdit:
    """A file changed as the lines of a patch say, each with its sign."""
    added: list[str] = []
    removed: list[str] = []
    for line in map(text_value, lines):
        if line[:1] in ("+", "-"):
            (added if line[0] == "+" else removed).append(line[1:].removesuffix("\r"))
    return _edit(path, added, removed, "update")


def agreed_edit(edit: TranscriptEdit, proposed: Iterable[str]) -> TranscriptEdit:
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


def _edit(path: str, added: Sequence[str], removed: Sequence[str], action: str) -> TranscriptEdit:
    return TranscriptEdit(path=path, action=action, added=tuple(added[:MAX_LINES]), removed=tuple(removed[:MAX_LINES]))


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


MAX_TASKS = 500
_TEXT = 1000
STATUS = {
    "pending": "open",
    "in_progress": "started",
    "completed": "done",
    "deleted": "dropped",
    "cancelled": "dropped",
}


def todo_list(items: object, *keys: str) -> tuple[Todo, ...]:
    """A list as a tool tells it; the first of the keys that an item has is its text."""
    found = []
    for known in map(dict_of, list_of(items)[:MAX_TASKS]):
        said = next((text for key in keys if (text := todo_text(known.get(key)))), "")
        if said:
            found.append(Todo(said, STATUS.get(short_name(known.get("status")), "open")))
    return tuple(found)


def todo_text(value: object) -> str:
    """An item's text."""
    return cut(own_words(text_value(value)).strip(), _TEXT)
