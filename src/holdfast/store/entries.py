"""Entries: a memory as a Markdown file with frontmatter, both ways, and merged by field.

One line a field in a fixed order, so that git merges and people review single fields. Fields we do not
know are kept as they were written. What cannot be read raises BrokenEntry with path, line and reason;
the file itself is never touched. The frontmatter's grammar is `store.frontmatter`'s business.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from holdfast.errors import BadInput, BrokenEntry, TooLarge
from holdfast.model import memory as rules
from holdfast.model.memory import Candidate, Memory, Rejected
from holdfast.store import frontmatter
from holdfast.store.frontmatter import BadFront, Field, Nested

MAX_ENTRY = 1 << 20
LABELS = {
    "decision": "Decision",
    "assumption": "Assumption",
    "invariant": "Invariant",
    "fact": "Fact",
    "dead-end": "Dead end",
}
_LISTS = ("tags", "evidence", "applies_to", "supersedes")
_TIMES = ("expires_at", "rejected_at")
_NEEDED = ("id", "type", "status")
_OWN_FIELDS: dict[str, tuple[str, ...]] = {
    "candidate": ("line",),
    "rejected": ("line", "rejected_at", "reason"),
}
_CONFLICT = re.compile(r"^(?:<{7}|\|{7}|>{7})", re.MULTILINE)
_STATUS = re.compile(r"^status:[^\n]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Clash:
    """Both sides changed the same fields, each in its own way; a person has to choose."""

    fields: tuple[str, ...]


def parse(text: str, path: str) -> Memory:
    """The memory that a file holds."""
    clean = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _refuse_damage(clean, path)
    front, body = _split(clean, path)
    try:
        fields = frontmatter.read(front)
    except BadFront as error:
        raise _broken(path, error.line + 2, error.reason) from None
    return _memory(fields, body, path, body_line=front.count("\n") + 4)


def render(memory: Memory) -> str:
    """The file for a memory, always the same bytes for the same memory."""
    status = rules.status(memory)
    lines = [f"id: {frontmatter.word(memory.id)}", f"type: {memory.type}", f"status: {status}"]
    lines += [f"{name}: {_value(name, getattr(memory, name))}" for name in rules.SHARED[2:]]
    lines += [raw for _, raw in memory.extra]
    lines += [f"{name}: {_value(name, getattr(memory, name))}" for name in _OWN_FIELDS.get(status, ())]
    front = "\n".join(lines)
    if len(front.encode()) > frontmatter.MAX_FRONT:
        raise TooLarge(f"the fields of {memory.id} take more than {frontmatter.MAX_FRONT:,} bytes")
    return f"---\n{front}\n---\n{_body(memory)}"


def with_status(text: str, status: str) -> str:
    """The same file in another state: one line differs, comments and order stay."""
    head, fence, rest = text.partition("\n---")
    return _STATUS.sub(f"status: {status}", head, count=1) + fence + rest


def merge(base: str | None, ours: str, theirs: str) -> str | Clash:
    """Both sides' changes in one text, field by field; lists as sets, the body as one field."""
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    try:
        sides = [_parts(parse(side, "")) if side else {} for side in (base, ours, theirs)]
    except BrokenEntry:
        return Clash(("the whole file",))
    before, mine, other = sides
    names = list(dict.fromkeys([*mine, *other]))
    merged = {name: _merged(name, before.get(name), mine.get(name), other.get(name)) for name in names}
    if clashing := tuple(name for name in names if isinstance(merged[name], Clash)):
        return Clash(clashing)
    return render(_joined(merged))


# Reading.


def _refuse_damage(text: str, path: str) -> None:
    for sign, reason in (("\x00", "holds a NUL byte"), ("\r", "holds a bare carriage return")):
        if (at := text.find(sign)) >= 0:
            raise _broken(path, text.count("\n", 0, at) + 1, reason)
    if found := _CONFLICT.search(text):
        raise _broken(path, text.count("\n", 0, found.start()) + 1, "holds the marks of an unresolved merge")
    if len(text) > MAX_ENTRY:
        raise _broken(path, 1, f"is larger than {MAX_ENTRY:,} characters")


def _split(text: str, path: str) -> tuple[str, str]:
    if not text.startswith("---\n"):
        raise _broken(path, 1, "does not start with a line of ---")
    end = text.find("\n---", 3)
    while end >= 0 and text[end + 4 : end + 5] not in ("", "\n"):
        end = text.find("\n---", end + 1)
    if end < 0:
        raise _broken(path, 1, "has no second line of ---")
    return text[4:end] if end > 3 else "", text[end + 5 :]


def _memory(fields: Sequence[Field], body: str, path: str, *, body_line: int) -> Memory:
    by_name = {field.name: field for field in fields}
    for name in _NEEDED:
        if name not in by_name or not by_name[name].value:
            raise _broken(path, 1, f"has no {name}")
    status = by_name["status"]
    state = rules.STATES.get(status.value) if isinstance(status.value, str) else None
    if state is None:
        raise _broken(path, status.line + 2, f"status must be one of {', '.join(rules.STATES)}")
    own = _OWN_FIELDS.get(str(status.value), ())
    known = (*rules.SHARED, *own)
    values: dict[str, Any] = {name: _known(by_name[name], path) for name in known if name in by_name}
    values["extra"] = tuple((f.name, f.raw) for f in fields if f.name not in (*known, "status"))
    values["statement"], values["details"] = _statement(body, str(values["type"]))
    for name in own:
        if values.get(name) is None:
            raise _broken(path, status.line + 2, f"is {status.value} but has no {name}")
    try:
        return state(**values)
    except (BadInput, TooLarge) as error:
        lines = {name: by_name[name].line + 2 if name in by_name else body_line for name in values}
        raise _broken(path, lines[_culprit(values)], str(error)) from None


def _culprit(values: dict[str, Any]) -> str:
    """The first field that breaks its rule."""
    for name, rule in rules.CHECKS.items():
        try:
            if name in values:
                rule(values[name])
        except (BadInput, TooLarge):
            return name
    raise AssertionError("a memory was refused although every field is well")


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
    elif value is None and field.name == "reason":
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
    return BrokenEntry(f"{path}:{line} {reason}")


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


def _merged(name: str, base: Any, ours: Any, theirs: Any) -> Any:
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    if name in _LISTS:
        return _merged_list(base or (), ours, theirs)
    return Clash((name,))


def _merged_list(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """What either added, without what either took away."""
    kept = [item for item in ours if item in theirs or item not in base]
    return rules.unique([*kept, *(item for item in theirs if item not in base)])


def _joined(parts: dict[str, Any]) -> Memory:
    status = parts["status"]
    own = _OWN_FIELDS.get(status, ())
    values = {name: parts[name] for name in (*rules.SHARED, *own)}
    values["statement"], values["details"] = parts["body"]
    unknown = {name[1:]: raw for name, raw in parts.items() if name.startswith("+") and raw is not None}
    extra = tuple(unknown.items())
    return rules.STATES[status](**values, extra=extra)
