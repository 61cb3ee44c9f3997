"""What tools were given and did, in one form for all agents: edits of files, plans, kinds of calls.

Lines that stand on both sides of an edit, in whatever order, were neither written nor removed; to find that out takes
time in proportion to their number.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from holdfast.capture.agents.transcript_text import own_words, short_name, text_value
from holdfast.model.transcript import MAX_LINES, Todo, TranscriptEdit, cut
from holdfast.values import dict_of, list_of, replace


def lines_of(text: str) -> list[str]:
    """The lines of a text as git counts them, without their ends."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []


def whole_file_edit(path: str, content: str, *, before: str | None, new: bool) -> TranscriptEdit:
    """A file written whole; `before` is what it held, if that is known."""
    lines, there = lines_of(content), lines_of(before or "")
    kept = tuple(_beyond(lines, _beyond(lines, there))[:MAX_LINES]) if new or before is not None else None
    return TranscriptEdit(
        path=path,
        action="add" if new else "update",
        added=tuple(lines[:MAX_LINES]),
        removed=tuple(_beyond(there, lines)[:MAX_LINES]),
        whole=len(lines) <= MAX_LINES,
        kept=kept,
    )


def replacement_edit(path: str, pairs: Iterable[tuple[str, str]], *, new: bool = False) -> TranscriptEdit:
    """Pieces of a file replaced by others: (before, after)."""
    added: list[str] = []
    removed: list[str] = []
    for before, after in ((lines_of(before), lines_of(after)) for before, after in pairs):
        added += _beyond(after, before)
        removed += _beyond(before, after)
    action = "add" if new else "update"
    return TranscriptEdit(path=path, action=action, added=tuple(added[:MAX_LINES]), removed=tuple(removed[:MAX_LINES]))


def patch_edit(path: str, lines: Iterable[object]) -> TranscriptEdit:
    """A file changed as the lines of a patch say, each with its sign."""
    added, removed = signed_lines(map(text_value, lines))
    return TranscriptEdit(path=path, added=added, removed=removed)


def signed_lines(lines: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The lines that a patch adds and those it removes, without their signs and ends."""
    signed = [(line[0], line[1:].removesuffix("\r")) for line in lines if line[:1] in ("+", "-")]
    added, removed = ([line for sign, line in signed if sign == of][:MAX_LINES] for of in "+-")
    return tuple(added), tuple(removed)


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
    """The lines of a unified diff that stand in its hunks: above the first stand the names of the files."""
    lines = diff.split("\n")
    first = next((at for at, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return [line for line in lines[first:] if not line.startswith("\\")]


def _beyond(these: Sequence[str], those: Sequence[str]) -> list[str]:
    """The lines of one side that the other does not have, each as often as it has it more."""
    there = Counter(those)
    found = []
    for line in these:
        if there[line] > 0:
            there[line] -= 1
        else:
            found.append(line)
    return found


MAX_TASKS = 500  # of one plan
_TEXT = 1000  # characters of one item
STATUS = {"pending": "open", "active": "started", "in_progress": "started"}
STATUS |= dict.fromkeys(("completed", "complete", "achieved"), "done")
STATUS |= dict.fromkeys(("deleted", "cancelled", "abandoned"), "dropped")


def todo_list(items: object, *keys: str) -> tuple[Todo, ...]:
    """A list as a tool tells it; the first of the keys that an item has is its text."""
    known = [dict_of(item) for item in list_of(items)[:MAX_TASKS]]
    said = (next((text for key in keys if (text := todo_text(one.get(key)))), "") for one in known)
    states = (STATUS.get(short_name(one.get("status")), "open") for one in known)
    return tuple(Todo(text, state) for text, state in zip(said, states, strict=True) if text)


def todo_text(value: object) -> str:
    """An item's text."""
    return cut(" ".join(own_words(text_value(value)).split()), _TEXT)
