"""Entries: a memory as a Markdown file with frontmatter, both ways, and merged by field.

One line a field in a fixed order, so that git merges and people review single fields. Fields we do not
know are kept as they were written. What cannot be read raises BrokenEntry with path, line and reason;
the file itself is never touched. The frontmatter's grammar is `store.frontmatter`'s business.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from holdfast.errors import BrokenEntry
from holdfast.model import memory as rules
from holdfast.model.memory import Candidate, Memory, Rejected
from holdfast.store import document, frontmatter
from holdfast.store.document import MAX_DOCUMENT, Clash, Document
from holdfast.store.frontmatter import Field, Nested

MAX_ENTRY = MAX_DOCUMENT
LABELS = {
    "decision": "Decision",
    "assumption": "Assumption",
    "invariant": "Invariant",
    "fact": "Fact",
    "dead-end": "Dead end",
}
_LISTS = ("tags", "evidence", "applies_to", "supersedes", "compatible_with", "provenance")
_TIMES = ("expires_at", "rejected_at")
_NEEDED = ("id", "type", "status")
_SUGGESTED = ("provenance", "suggests", "because")
_OWN_FIELDS: dict[str, tuple[str, ...]] = {
    "candidate": ("line", *_SUGGESTED),
    "rejected": ("line", "rejected_at", "reason", *_SUGGESTED),
}
_RARE = ("compatible_with", *_SUGGESTED)  # written only where they say something
_STATUS = re.compile(r"^status:[^\n]*$", re.MULTILINE)


def parse(text: str, path: str) -> Memory:
    """The memory that a file holds."""
    return _memory(document.read(text, path, needed=_NEEDED))


def render(memory: Memory) -> str:
    """The file for a memory, always the same bytes for the same memory."""
    status = rules.status(memory)
    lines = [f"id: {frontmatter.word(memory.id)}", f"type: {memory.type}", f"status: {status}"]
    lines += _written(memory, rules.SHARED[2:])
    lines += [raw for _, raw in memory.extra]
    lines += _written(memory, _OWN_FIELDS.get(status, ()))
    return document.write(lines, _body(memory), name=memory.id)


def _written(memory: Memory, names: tuple[str, ...]) -> list[str]:
    values = {name: getattr(memory, name) for name in names}
    return [f"{name}: {_value(name, value)}" for name, value in values.items() if value or name not in _RARE]


def with_status(text: str, status: str) -> str:
    """The same file in another state: one line differs, comments and order stay."""
    head, fence, rest = text.partition("\n---")
    return _STATUS.sub(f"status: {status}", head, count=1) + fence + rest


def merge(base: str | None, ours: str, theirs: str) -> str | Clash:
    """Both sides' changes in one text, field by field."""
    return document.merge(
        base,
        ours,
        theirs,
        parts=lambda text: _parts(parse(text, "")),
        joined=lambda parts: render(_joined(parts)),
        lists=_LISTS,
    )


# Reading.


def _memory(read: Document) -> Memory:
    status = read.fields["status"]
    state = rules.STATES.get(status.value) if isinstance(status.value, str) else None
    if state is None:
        raise read.broken("status", f"status must be one of {', '.join(rules.STATES)}")
    own = _OWN_FIELDS.get(str(status.value), ())
    known = (*rules.SHARED, *own)
    values: dict[str, Any] = {
        name: _known(read.fields[name], read.path) for name in known if name in read.fields
    }
    values["extra"] = read.extra((*known, "status"))
    values["statement"], values["details"] = _statement(read.body, str(values["type"]))
    for name in own:
        if values.get(name) is None and name not in _RARE:
            raise read.broken("status", f"is {status.value} but has no {name}")
    make: Callable[..., Memory] = state
    return read.built(make, values, rules.CHECKS)


def _known(field: Field, path: str) -> Any:
    """The value of a field we know, in the form a memory has it."""
    line, value = field.line + 2, field.value
    if isinstance(value, Nested) or (
        value is not None and isinstance(value, tuple) != (field.name in _LISTS)
    ):
        raise _broken(path, line, f"{field.name} must be {'a list' if field.name in _LISTS else 'one value'}")
    found: Any = value
    if field.name in _LISTS:
        found = rules.unique(value or ())
    elif value is not None and field.name == "confidence":
        found = _number(str(value), path, line)
    elif value is not None and field.name in _TIMES:
        found = _time(field.name, str(value), path, line)
    elif value is None and field.name in ("reason", "because"):
        found = ""
    return found


def _number(text: str, path: str, line: int) -> float:
    try:
        return float(text)
    except ValueError:
        raise _broken(path, line, f"confidence {text[:40]!r} is not a number from 0 to 1") from None


def _time(name: str, text: str, path: str, line: int) -> datetime:
    try:
        return rules.moment(text)
    except (ValueError, OverflowError):
        raise _broken(path, line, f"{name} {text[:40]!r} is not a date or time") from None


def _statement(body: str, kind: str) -> tuple[str, str]:
    first, details = rules.split_statement(body)
    return first.removeprefix(f"{LABELS.get(kind, kind)}:").strip(), details


def _broken(path: str, line: int, reason: str) -> BrokenEntry:
    return document.broken(path, line, reason)


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
    """The shortest form that reads back the same, with a point: YAML takes 1e-05 for a word."""
    mantissa, e, exponent = repr(float(value)).partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}{e}{exponent}"


def _body(memory: Memory) -> str:
    paragraphs = [f"{LABELS[memory.type]}: {memory.statement}"]
    if memory.details:
        paragraphs.append(memory.details)
    return "\n\n".join(paragraphs) + "\n"


# Merging.


def _parts(memory: Memory) -> dict[str, Any]:
    """A memory as fields that merge one by one."""
    parts: dict[str, Any] = {"status": rules.status(memory), "body": (memory.statement, memory.details)}
    parts |= {name: getattr(memory, name) for name in rules.SHARED}
    if isinstance(memory, Candidate | Rejected):
        parts |= {name: getattr(memory, name) for name in _OWN_FIELDS[parts["status"]]}
    return parts | {f"+{name}": raw for name, raw in memory.extra}


def _joined(parts: dict[str, Any]) -> Memory:
    status = parts["status"]
    own = _OWN_FIELDS.get(status, ())
    values = {name: parts[name] for name in (*rules.SHARED, *own)}
    values["statement"], values["details"] = parts["body"]
    unknown = {name[1:]: raw for name, raw in parts.items() if name.startswith("+") and raw is not None}
    extra = tuple(unknown.items())
    return rules.STATES[status](**values, extra=extra)
