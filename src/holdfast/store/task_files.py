"""Reads and writes tasks and links as Markdown files, and merges them by field.

A task's notes are the file's body. `store.markdown_document` reads the frontmatter; `model.task` checks the fields.
"""

from collections.abc import Callable
from typing import Any

from holdfast.model import task as rules
from holdfast.model.task import Checkpoint, Link, Task
from holdfast.store import frontmatter, layout, markdown_document, memory_files
from holdfast.values import field_names, put_together

_NEEDED = ("id", "title")
_LISTS = (*rules.LISTS, "checkpoint")
_NUMBERS = ("priority", "systemic_scale")
MAX_TASK = markdown_document.MAX_DOCUMENT


_known_texts: dict[str, Task] = {}  # a command reads the board several times, and most texts are unchanged


def parse(text: str, path: str) -> Task:
    """Reads the task in a file."""
    if (known := _known_texts.get(text)) is not None:
        return known
    if len(_known_texts) >= memory_files.MOST_KNOWN:
        _known_texts.clear()
    _known_texts[text] = found = _parse(text, path)
    return found


def plain(text: str) -> list[Any]:
    """Returns the fields of a text as JSON values."""
    task = parse(text, "")
    values = (getattr(task, name) for name in field_names(task))
    return [value.words() if isinstance(value, Checkpoint) else value for value in values]


def know(text: str, plain: list[Any]) -> None:
    """Adds the parsed fields of a text, as `plain` returned them, to the memory cache."""
    for at in _LISTED:
        plain[at] = tuple(plain[at])
    plain[_EXTRA] = tuple(map(tuple, plain[_EXTRA]))
    plain[_REACHED] = plain[_REACHED] and Checkpoint.of(tuple(plain[_REACHED]))
    _known_texts[text] = put_together(Task, *plain)


_LISTED = [at for at, name in enumerate(field_names(Task)) if name in rules.LISTS]
_EXTRA, _REACHED = (field_names(Task).index(name) for name in ("extra", "checkpoint"))


def _parse(text: str, path: str) -> Task:
    read = markdown_document.read(text, path, needed=_NEEDED)
    values = {name: _known(read, name) for name in rules.FIELDS if name in read.fields}
    values = {name: value for name, value in values.items() if value is not None}
    if "checkpoint" in values:
        values["checkpoint"] = read.built(_checkpoint, {"checkpoint": values["checkpoint"]}, {})
    values |= {"notes": read.body.strip("\n"), "extra": read.extra(rules.FIELDS)}
    return read.built(Task, values, rules.CHECKS)


def parse_link(text: str, path: str) -> Link:
    """Reads the link in a file."""
    read = markdown_document.read(text, path, needed=rules.LINK_FIELDS)
    values = {name: _known(read, name) for name in rules.LINK_FIELDS}
    values |= {"notes": read.body.strip("\n"), "extra": read.extra(rules.LINK_FIELDS)}
    return read.built(Link, values, rules.LINK_CHECKS)


def render(node: Task | Link) -> str:
    """Returns the file of a task or a link, always the same bytes for the same values."""
    names = rules.FIELDS if isinstance(node, Task) else rules.LINK_FIELDS
    lines = [f"{name}: {_value(getattr(node, name))}" for name in names]
    return markdown_document.write(lines, node.extra, f"{node.notes}\n" if node.notes else "", name=node.id)


def merge(path: str, base: str | None, ours: str, theirs: str) -> str | markdown_document.MarkdownClash:
    """Merges both sides' changes of a tracked file, by the rules for the type of file at its path."""
    read = reader(path)
    if read is None:
        return memory_files.merge(base, ours, theirs)
    return markdown_document.merge(
        (base, ours, theirs),
        parts=lambda text: parts(read(text, path)),
        joined=lambda merged: render(joined(path, merged)),
        lists=rules.LISTS,
    )


def reader(path: str) -> Callable[[str, str], Task | Link] | None:
    """Returns the function that reads the file at a path; None if it is neither a task nor a link."""
    if path.startswith(layout.TASKS + "/"):
        return parse
    return parse_link if path.startswith(layout.LINKS + "/") else None


def parts(node: Task | Link) -> dict[str, Any]:
    """Returns a task or link as fields that merge one by one."""
    names = rules.FIELDS if isinstance(node, Task) else rules.LINK_FIELDS
    known = {name: getattr(node, name) for name in (*names, "notes")}
    return known | {f"+{name}": raw for name, raw in node.extra}


def joined(path: str, merged: dict[str, Any]) -> Task | Link:
    """Builds a task or link from such fields."""
    kind: type[Task] | type[Link] = Link if path.startswith(layout.LINKS + "/") else Task
    extra = {name[1:]: raw for name, raw in merged.items() if name.startswith("+") and raw is not None}
    values = {name: value for name, value in merged.items() if not name.startswith("+")}
    return kind(**values, extra=tuple(extra.items()))


def _known(read: markdown_document.MarkdownDocument, name: str) -> Any:
    """Returns the value of a known field in the form of the task's attribute."""
    value = read.fields[name].value
    if value is None:
        return None
    if isinstance(value, tuple) and name in _LISTS:
        return tuple(dict.fromkeys(value))
    if not isinstance(value, str) or name in _LISTS:
        raise read.broken(name, f"{name} must be {'a list' if name in _LISTS else 'one value'}")
    return _number(read, name, value) if name in _NUMBERS else value


def _number(read: markdown_document.MarkdownDocument, name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 12):
        raise read.broken(name, f"{name} {text[:40]!r} is not a whole number")
    return int(text)


def _checkpoint(checkpoint: tuple[str, ...]) -> Checkpoint:
    return Checkpoint.of(checkpoint)


def _value(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, Checkpoint):
        return frontmatter.words(value.words())
    if isinstance(value, tuple):
        return frontmatter.words(value)
    return str(value) if isinstance(value, int) else frontmatter.word(value)
