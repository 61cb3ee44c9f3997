"""Entries: reads and writes memories as Markdown files with frontmatter, and merges them by field.

One row for each field in a fixed order with a separator after it, so that git merges and people review single fields.
Unknown fields stay as written. A file that cannot be read raises BrokenEntry with path, line and reason, and stays as
it is. `store.frontmatter` has the grammar of fields, `store.markdown_document` splits a file with several entries. The
log has the time of the last update; a field `updated` in the file is ignored.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from holdfast.errors import BadInput, BrokenEntry, TooLarge, UnsafePath
from holdfast.model import memory as rules
from holdfast.model.memory import STATES, Accepted, Candidate, Memory, Rejected
from holdfast.patterns import regex
from holdfast.store import frontmatter, fsio, markdown_document
from holdfast.store.frontmatter import Field, Nested
from holdfast.store.layout import FOLDER_OF
from holdfast.store.markdown_document import MAX_DOCUMENT, EntryPiece, MarkdownClash, MarkdownDocument, broken
from holdfast.values import field_names, frozen, put_together, replace

MAX_ENTRY = MAX_DOCUMENT
LABELS = {kind: kind.replace("-", " ").capitalize() for kind in FOLDER_OF}
_LISTS = ("tags", "evidence", "applies_to", "supersedes", "compatible_with", "provenance")
_TIMES = ("expires_at", "rejected_at")
_NEEDED = ("id", "type", "status")
_SUGGESTED = ("provenance", "suggests", "because")  # written only if not empty
_OWN_FIELDS: dict[str, tuple[str, ...]] = {
    "candidate": ("line", *_SUGGESTED),
    "rejected": ("line", "rejected_at", "reason", *_SUGGESTED),
}
_STATUS = regex(r"^status:[^\n]*$", re.MULTILINE)
DERIVED = ("updated",)  # shown with an entry, and ignored in its file
_WHOLE = MarkdownClash(("the whole file",))
_RULE = "---"
_APPROVAL_TAG = b"holdfast-approval-1\n"


@frozen
class EntryPart:
    """One entry of a file that may have several: its text with its place, and the memory."""

    piece: EntryPiece
    memory: Memory | BrokenEntry

    @property
    def text(self) -> str:
        return self.piece.text

    @property
    def line(self) -> int:
        return self.piece.line


def parts(text: str, path: str) -> list[EntryPart]:
    """Reads the entries of a file, in order; a broken one does not affect the others.

    A file with an unresolved merge is broken as a whole: the side of an entry is unknown.
    """
    found = [EntryPiece(text, 1, 0)] if markdown_document.is_unmerged(text) else markdown_document.pieces(text)
    return [EntryPart(piece, _read(piece, path)) for piece in found]


def _read(piece: EntryPiece, path: str) -> Memory | BrokenEntry:
    try:
        return _memory(markdown_document.read(piece.text, path, needed=_NEEDED, line=piece.line))
    except BrokenEntry as error:
        return error


_known_texts: dict[str, Memory] = {}  # a command reads memory several times, and most texts are unchanged
MOST_KNOWN = 1 << 15  # texts; a guess: more than projects have, and it bounds the memory of long processes


def read_candidate(path: str) -> Candidate | Rejected:
    """Reads a candidate's file; raises BrokenEntry if it cannot be read or its id is not its name."""
    try:
        memory = parse(fsio.read(path, limit=MAX_ENTRY).decode(), path)
    except FileNotFoundError:
        raise
    except (UnicodeDecodeError, TooLarge, UnsafePath, OSError) as error:
        raise BrokenEntry(f"{path}: it cannot be read: {error}") from None
    if not isinstance(memory, Candidate | Rejected) or os.path.basename(path) != f"{memory.id}.md":
        raise BrokenEntry(f"{path}: its id is not the one in its name")
    return memory


def parse(text: str, path: str, *, line: int = 1) -> Memory:
    """Reads the memory in a text; raises BrokenEntry if there is none, or several.

    `line` is the first line of the text in its file, if it is only a part of it.
    """
    if (known := _known_texts.get(text)) is not None:
        return known
    read = _memory(markdown_document.read(text, path, needed=_NEEDED, line=line))
    if not markdown_document.is_single(text) and len(found := markdown_document.pieces(text)) > 1:
        raise broken(path, line + found[1].line - 1, "begins another entry where only one is allowed")
    if len(_known_texts) >= MOST_KNOWN:
        _known_texts.clear()
    _known_texts[text] = read
    return read


def plain(text: str) -> list[Any]:
    """Returns the fields of a text as JSON values; raises BrokenEntry if it is not an accepted or retired memory."""
    memory = parse(text, "")
    if not isinstance(memory, Accepted | rules.Retired):
        raise broken("", 1, "is a candidate or a tombstone")
    values = {name: getattr(memory, name) for name in field_names(memory)}
    return [rules.status(memory), *(rules.iso(v) if name in _TIMES and v else v for name, v in values.items())]


def know(text: str, plain: list[Any]) -> None:
    """Adds the parsed fields of a text, as `plain` returned them, to the memory cache."""
    state = STATES[plain[0]]
    values = plain[1:]
    for at in _LISTED:
        values[at] = tuple(values[at])
    values[_EXTRA] = tuple(map(tuple, values[_EXTRA]))
    values[_EXPIRES] = values[_EXPIRES] and datetime.fromisoformat(values[_EXPIRES])
    _known_texts[text] = put_together(state, *values)


_LISTED = [at for at, name in enumerate(field_names(Accepted)) if name in _LISTS]
_EXTRA, _EXPIRES = (field_names(Accepted).index(name) for name in ("extra", "expires_at"))


@frozen
class EntrySketch:
    """A new entry as a person wrote it: its fields, the id if it has one, its evidence as typed."""

    memory: Accepted
    id: str | None
    evidence: tuple[str, ...]


def sketch(text: str, path: str, *, line: int = 1, kind: str | None = None, ignored: Sequence[str] = ()) -> EntrySketch:
    """Reads a new entry, which may lack an id and a status; `kind` is its type if it has none.

    An unknown field is refused, as it would be lost.
    """
    read = markdown_document.read(text, path, needed=(), line=line)
    fields = {name: field for name, field in read.fields.items() if name not in ("status", *ignored)}
    cited = fields.pop("evidence", None)
    named = _known(fields["id"], read) if "id" in fields else None
    for name, value in (("id", "none"), ("type", kind), ("status", "accepted")):
        if name not in fields or not fields[name].value:
            fields[name] = Field(name, value, -1, "")
    if not fields["type"].value:
        raise broken(path, line, "has no type")
    memory = _memory(replace(read, fields=fields))
    assert isinstance(memory, Accepted)
    if memory.extra:
        raise read.broken(memory.extra[0][0], f"has an unknown field {memory.extra[0][0][:40]!r}")
    return EntrySketch(memory, named, _known(cited, read) if cited else ())


def render(memory: Memory) -> str:
    """Returns the file of a memory, always the same bytes for the same memory."""
    status = rules.status(memory)
    lines = [f"id: {frontmatter.word(memory.id)}", f"type: {memory.type}", f"status: {status}"]
    values = {name: getattr(memory, name) for name in (*rules.SHARED[2:], *_OWN_FIELDS.get(status, ()))}
    lines += [f"{name}: {_value(name, value)}" for name, value in values.items() if value or name not in _SUGGESTED]
    paragraphs = filter(None, (f"{LABELS[memory.type]}: {memory.statement}", memory.details))
    text = markdown_document.write(lines, memory.extra, "\n\n".join(paragraphs) + "\n", name=memory.id)
    if not markdown_document.is_single(text) and len(markdown_document.pieces(text)) > 1:
        # It would be read as two entries, and a person who approves the first would also approve the second.
        raise BadInput(f"the text of {memory.id} contains another entry", hint="Indent its lines.")
    return text


def digest(memory: Memory) -> str:
    """Returns the hash of a memory's contents, independent of its file's layout: `docs/adr/0021` has the form."""
    fields = {name: _plain(name, getattr(memory, name)) for name in rules.SHARED}
    fields |= {"status": rules.status(memory), "details": memory.details}
    fields["statement"] = " ".join(memory.statement.split())
    rows = {name: (row.rstrip() for row in raw.split("\n")) for name, raw in memory.extra}
    fields["extra"] = {name: [row for row in found if row] for name, found in rows.items()}
    form = json.dumps(fields, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(_APPROVAL_TAG + form.encode("ascii")).hexdigest()


def _plain(name: str, value: Any) -> Any:
    """Returns a field's value for JSON; numbers and times are written as in a file."""
    return None if value is None else _value(name, value) if name in (*_TIMES, "confidence") else value


def with_status(text: str, status: str) -> str:
    """Returns the same file with another status; comments and order stay."""
    head, fence, rest = text.partition("\n---")
    return markdown_document.laid_out(_STATUS.sub(f"status: {status}", head, count=1) + fence + rest, text)


def merge(base: str | None, ours: str, theirs: str) -> str | MarkdownClash:
    """Merges both sides' changes, entry by entry and field by field."""
    if not all(markdown_document.is_single(side) for side in (base or _RULE, ours, theirs)):
        return _merged_several(base or "", ours, theirs)
    return _merged_one(base, ours, theirs)


def _merged_one(base: str | None, ours: str, theirs: str) -> str | MarkdownClash:
    return markdown_document.merge(
        (base, ours, theirs),
        parts=lambda text: _parts(parse(text, "")),
        joined=lambda parts: render(_joined(parts)),
        lists=_LISTS,
    )


# Reading.


def _memory(read: MarkdownDocument) -> Memory:
    status = read.fields["status"]
    state = rules.STATES.get(status.value) if isinstance(status.value, str) else None
    if state is None:
        raise read.broken("status", f"status must be one of {', '.join(rules.STATES)}")
    own = _OWN_FIELDS.get(str(status.value), ())
    known = (*rules.SHARED, *own)
    values: dict[str, Any] = {name: _known(read.fields[name], read) for name in known if name in read.fields}
    values["extra"] = read.extra((*known, "status", *DERIVED))
    first, values["details"] = rules.split_statement(read.body)
    kind = str(values["type"])
    values["statement"] = first.removeprefix(f"{LABELS.get(kind, kind)}:").strip()
    for name in own:
        if values.get(name) is None and name not in _SUGGESTED:
            raise read.broken("status", f"is {status.value} but has no {name}")
    make: Callable[..., Memory] = state
    return read.built(make, values, rules.CHECKS)


def _known(field: Field, read: MarkdownDocument) -> Any:
    """Returns the value of a known field in the form of the memory's attribute."""
    path, line, value = read.path, read.line_of(field.name), field.value
    if isinstance(value, Nested) or (value is not None and isinstance(value, tuple) != (field.name in _LISTS)):
        raise broken(path, line, f"{field.name} must be {'a list' if field.name in _LISTS else 'one value'}")
    if field.name in _LISTS:
        return rules.unique(value or ())
    if value is None:
        return "" if field.name in ("reason", "because") else None
    try:
        if field.name == "confidence":
            return float(str(value))
        return rules.moment(str(value)) if field.name in _TIMES else value
    except (ValueError, OverflowError):
        form = "a date or time" if field.name in _TIMES else "a number from 0 to 1"
        raise broken(path, line, f"{field.name} {str(value)[:40]!r} is not {form}") from None


# Writing.


def _value(name: str, value: Any) -> str:
    if value is None:
        return "null"
    if name in _LISTS:
        return frontmatter.words(value)
    if name == "confidence":
        return _float(value)
    return rules.iso(value) if name in _TIMES else frontmatter.word(value)


def _float(value: float) -> str:
    """Returns the shortest form that reads back the same, with a point: YAML reads 1e-05 as a string."""
    mantissa, e, exponent = repr(float(value)).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


# Merging.


def _parts(memory: Memory) -> dict[str, Any]:
    """Returns a memory as fields that merge one by one."""
    parts: dict[str, Any] = {"status": rules.status(memory), "body": (memory.statement, memory.details)}
    parts |= {name: getattr(memory, name) for name in rules.SHARED}
    if isinstance(memory, Candidate | Rejected):
        parts |= {name: getattr(memory, name) for name in _OWN_FIELDS[parts["status"]]}
    return parts | {f"+{name}": raw for name, raw in memory.extra}


def _merged_several(base: str, ours: str, theirs: str) -> str | MarkdownClash:
    """Merges a file of several entries one by one; entries that theirs added come last."""
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    sides = [_by_id(side) if side else {} for side in (base, ours, theirs)]
    if any(side is None for side in sides):
        return _WHOLE
    before, mine, other = (side or {} for side in sides)
    merged: list[str] = []
    for name in dict.fromkeys([*mine, *other]):
        found = _merged_entry(before.get(name), mine.get(name), other.get(name))
        if isinstance(found, MarkdownClash):
            return MarkdownClash(tuple(f"{field} of {name}" for field in found.fields))
        merged += [found] if found is not None else []
    return "\n".join(text if text.endswith("\n") else f"{text}\n" for text in merged)


def _merged_entry(base: str | None, ours: str | None, theirs: str | None) -> str | MarkdownClash | None:
    """Merges one entry of several; None if one side removed it and the other did not change it."""
    if ours is None or theirs is None:
        left = theirs if ours is None else ours
        return left if base is None else None if left == base else MarkdownClash(("the whole entry",))
    return _merged_one(base, ours, theirs)


def _by_id(text: str) -> dict[str, str] | None:
    """Returns id to text of a file's entries; None if one is broken or two have the same id."""
    found: dict[str, str] = {}
    for part in parts(text, ""):
        if isinstance(part.memory, BrokenEntry) or part.memory.id in found:
            return None
        found[part.memory.id] = part.text
    return found


def _joined(parts: dict[str, Any]) -> Memory:
    status = parts["status"]
    own = _OWN_FIELDS.get(status, ())
    values = {name: parts[name] for name in (*rules.SHARED, *own)}
    values["statement"], values["details"] = parts["body"]
    extra = tuple((name[1:], raw) for name, raw in parts.items() if name.startswith("+") and raw is not None)
    return rules.STATES[status](**values, extra=extra)
