"""Frontmatter: the fields between two lines of `---`, read strictly.

It accepts a small part of YAML: one block of `name: value`, where a value is a word, a number, a quoted string, null or
a list of these. Our own form is read with three regular expressions; anything else goes to a YAML parser, event by
event, and risky parts (aliases, anchors, tags, merge keys, repeated names, deep nesting) are refused with their line.
Both ways result in the same fields.

After each field comes a line that is the same on every branch: `#`, or `# name` after an unknown field. Git merges two
changes only if an unchanged line is between them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from holdfast.model.text import escaped
from holdfast.patterns import regex
from holdfast.values import frozen

MAX_FRONT = 64 * 1024  # bytes; a guess: far above real entries, and quick to parse
MAX_DEPTH = 8  # a guess: no known field nests, and this leaves room for fields of other tools
SEPARATOR = "#"

Value = str | tuple[str, ...] | None

_PLAIN = r"[A-Za-z][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)*"
_NUMBER = r"(?:[0-9]\.[0-9]+(?:e[-+][0-9]+)?|0|[1-9][0-9]*)"
_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_PRINTABLE = r'[^"\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]'
_QUOTED = rf'"(?:{_PRINTABLE}|\\(?:["\\nt]|x[0-9a-f]{{2}}|u[0-9a-f]{{4}}|U000[0-9a-f]{{5}}))*"'
_WORD = rf"(?:{_PLAIN}|{_QUOTED})"
_LIST = rf"\[((?:{_WORD}(?:, {_WORD})*)?)\]"
_LINE = regex(rf"([a-z_]+): (?:{_LIST}|({_PLAIN}|{_NUMBER}|{_TIME})|({_QUOTED}))")
_ITEM = regex(_WORD)
_SAFE = regex(_PLAIN)
_ESCAPE = regex(r'\\(?:(["\\nt])|x(..)|u(....)|U(.{8}))')
_SHORT = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
# Words that some YAML readers read as a boolean, null or a number.
_TAKEN = frozenset(("null", "true", "false", "yes", "no", "on", "off", "y", "n"))
_OTHER_BREAKS = regex("[\x85\u2028\u2029]")


class BadFront(ValueError):
    """Frontmatter that cannot be read; `line` counts from its own first line, 0."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


@frozen
class Nested:
    """A nested value, which no known field has."""


class Field(NamedTuple):
    """One field of the frontmatter; a tuple, as a project may have a hundred thousand of them."""

    name: str
    value: Value | Nested
    line: int
    raw: str  # the field's lines as written, its name included


def read(front: str) -> list[Field]:
    """Reads the fields, in the order of the file."""
    # A character has at most four bytes, so bytes need not be counted in short texts.
    if len(front) > MAX_FRONT // 4 and len(front.encode(errors="replace")) > MAX_FRONT:
        raise BadFront(0, f"the frontmatter is larger than {MAX_FRONT:,} bytes")
    return _read_own(front) or _read_yaml(front)


def word(text: str) -> str:
    """Returns a text as a value, quoted if a YAML reader could read it as something else."""
    return text if _SAFE.fullmatch(text) and text.lower() not in _TAKEN else escaped(text)


def words(items: Sequence[str]) -> str:
    """Returns a list on one line."""
    return f"[{', '.join(map(word, items))}]"


def laid_out(front: str, *before: str) -> str:
    """Returns the same fields, with separators where a change needs one to merge with changes of other fields.

    `before` are the texts before the change. A field that is unchanged against one of them gets no new separator: two
    branches that change different fields of an older file still merge, unless the two fields are neighbours.
    """
    fields = _lines(front)
    earlier = [lines for text in before if (lines := _lines(text)) is not None]
    if fields is None:
        return front
    if earlier:  # an empty field that had no line before gets none
        fields = {
            name: field
            for name, field in fields.items()
            if not field[0].endswith((": []", ": null")) or any(name in lines for lines in earlier)
        }
    touched = [
        bool(earlier) and all(lines.get(name, ("",))[0] != raw for lines in earlier)
        for name, (raw, _) in fields.items()
    ]
    rows = []
    for at, (name, (raw, separator)) in enumerate(fields.items()):
        rows.append(raw)
        if not earlier or any(touched[at : at + 2]) or any(lines.get(name, ("", ""))[1] for lines in earlier):
            rows.append(separator or SEPARATOR)
    return "\n".join(rows)


def _lines(front: str) -> dict[str, tuple[str, str]] | None:
    """Returns name to a field's line and the separator after it; None if a line is not in our own form."""
    fields = _read_own(front)
    if fields is None:
        return None
    lines = [*front.split("\n"), ""]
    after = (lines[field.line + 1] for field in fields)
    return {
        field.name: (field.raw, line if line.startswith(SEPARATOR) else "")
        for field, line in zip(fields, after, strict=True)
    }


def _read_own(front: str) -> list[Field] | None:
    """Returns the fields if every line is in our own form, else None; needs no YAML parser."""
    fields: list[Field] = []
    seen: set[str] = set()
    for number, raw in enumerate(front.split("\n")):
        if raw == SEPARATOR:
            continue
        match = _LINE.fullmatch(raw)
        if match is None and fields and raw == f"{SEPARATOR} {fields[-1].name}":
            continue
        if match is None or match[1] in seen:
            return None
        name, items, plain, quoted = match.groups()
        seen.add(name)
        if plain is not None:
            fields.append(Field(name, None if plain in _NULLS else plain, number, raw))
        elif items is not None:
            found = _ITEM.findall(items)
            if any(item in _NULLS for item in found):
                return None
            fields.append(Field(name, tuple(map(_unquoted, found)), number, raw))
        else:
            fields.append(Field(name, _unquoted(quoted), number, raw))
    return fields


def _unquoted(item: str) -> str:
    if not item.startswith('"'):
        return item
    return _ESCAPE.sub(_unescaped, item[1:-1]) if "\\" in item else item[1:-1]


def _unescaped(found: re.Match[str]) -> str:
    short, *codes = found.groups()
    return _SHORT[short] if short else chr(int(next(code for code in codes if code), 16))


def _read_yaml(front: str) -> list[Field]:
    """Reads the fields with a YAML parser, which stops at the first forbidden part."""
    if found := _OTHER_BREAKS.search(front):
        line = front.count("\n", 0, found.start())
        raise BadFront(line, f"U+{ord(found[0]):04X} ends a line only for some readers")
    top = list(_top_level(front))
    lines = front.split("\n")
    ends = [line for _, line, _ in top[1:]] + [len(lines)]
    seen: set[str] = set()
    fields = []
    for (name, line, value), end in zip(top, ends, strict=True):
        if name in seen:
            raise BadFront(line, f"{name} is here twice")
        seen.add(name)
        fields.append(Field(name, value, line, _without_separators(lines[line:end], name)))
    return fields


def _without_separators(lines: list[str], name: str) -> str:
    """Returns a field's lines as written, without the separator and blank lines after it."""
    while not lines[-1].strip() or lines[-1] in (SEPARATOR, f"{SEPARATOR} {name}"):
        lines.pop()
    return "\n".join(lines).rstrip()


def _top_level(front: str) -> Iterator[tuple[str, int, Value | Nested]]:
    import yaml  # here, as it is slow to import and entries in our own form do not need it

    events = _safe_events(front)
    first = next(events, None)
    if first is None:
        raise BadFront(0, "there are no fields")
    if not isinstance(first, yaml.MappingStartEvent) or first.flow_style:
        raise BadFront(first.start_mark.line, "there must be one `name: value` a line")
    for key in events:
        if isinstance(key, yaml.MappingEndEvent):
            continue  # the end: another document is refused at its start
        mark = key.start_mark
        if mark is None or not isinstance(key, yaml.ScalarEvent) or mark.column:
            raise BadFront(mark.line if mark else 0, "a field's name must be a word at the start of its line")
        yield key.value, mark.line, _value(next(events), events)


def _value(first: Any, events: Iterator[Any]) -> Value | Nested:
    """Reads the value that starts with this event."""
    import yaml

    if isinstance(first, yaml.ScalarEvent):
        return _scalar(first)
    items: list[str | None] = []
    flat = isinstance(first, yaml.SequenceStartEvent)
    depth = 1
    while depth:
        event = next(events)
        if isinstance(event, yaml.CollectionStartEvent):
            depth, flat = depth + 1, False
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        else:
            items.append(_scalar(event))
    words = tuple(item for item in items if item is not None)
    return words if flat and len(words) == len(items) else Nested()


def _scalar(event: Any) -> str | None:
    plain = event.style in (None, "")
    return None if plain and event.value in _NULLS else str(event.value)


def _safe_events(front: str) -> Iterator[Any]:
    """Yields the parser's events within the document, each checked."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    framing = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentEndEvent)
    depth = 0
    try:
        events: Iterator[Any] = yaml.parse(front, Loader=loader)
        for event in events:
            line = event.start_mark.line
            if isinstance(event, yaml.DocumentStartEvent):
                if event.explicit:
                    raise BadFront(line, "there must be one document only")
                continue
            if isinstance(event, framing):
                continue
            _refuse_surprises(event)
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise BadFront(line, f"it is nested deeper than {MAX_DEPTH} levels")
            yield event
    except yaml.YAMLError as error:
        raise BadFront(*_complaint(error)) from None


def _refuse_surprises(event: Any) -> None:
    import yaml

    line = event.start_mark.line
    if isinstance(event, yaml.AliasEvent):
        raise BadFront(line, f"the alias *{event.anchor} is not allowed here")
    if getattr(event, "anchor", None):
        raise BadFront(line, f"the anchor &{event.anchor} is not allowed here")
    if getattr(event, "tag", None):
        raise BadFront(line, f"the tag {event.tag} is not allowed here")
    if isinstance(event, yaml.ScalarEvent) and event.value == "<<" and event.style in (None, ""):
        raise BadFront(line, "the merge key << is not allowed here")


def _complaint(error: Any) -> tuple[int, str]:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "it cannot be read"
    return (mark.line if mark else 0), f"not readable as frontmatter: {reason}"
