"""Truth to rows: what of an event or a memory can be searched and shown.

Text is made safe to show here, once, so that whoever prints a row needs to know nothing. An event
whose body is not here (private to another clone, or erased) is a row of its envelope alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.index.schema import facet
from holdfast.index.search import split_word
from holdfast.model import memory as rules
from holdfast.model.memory import Candidate, Memory
from holdfast.model.text import visible

Row = tuple[Any, ...]
MAX_TEXT = 32 * 1024
MAX_TITLE = 120
MAX_DEPTH = 6
SLOTS = 10  # bits of a row's number below its microsecond

COLUMNS = (
    "id", "key", "shown", "name", "kind", "what", "ts", "title", "labels", "text", "parts", "facets", "task",
    "tags", "layer", "line", "head", "path", "status", "target", "run", "sha256", "expires", "lacks",
    "parent",
)  # fmt: skip

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_LAST = (1 << 52) - 1
_INNER_CAPITAL = re.compile(r"[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z]{2}[a-z])[A-Za-z0-9]*")
_STATED = ("accept", "promote", "edit", "retire")  # a proposal's words are found as a candidate only


def number(ts: str) -> int:
    """Where an event of this time stands among the rows: later is higher."""
    try:
        micros = (datetime.fromisoformat(ts[:-1]) - _EPOCH) // _MICROSECOND
    except ValueError:  # a day that is not in the calendar: the log takes any digits
        micros = 0
    return min(max(micros, 1), _LAST) << SLOTS


def event_rows(found: re.Match[bytes], body: Mapping[str, Any] | None, *, lacks: bool) -> list[Row]:
    """The rows of one event line: the event itself, then the files it says it made."""
    fields = [None if group is None else group.decode("ascii") for group in found.groups()]
    name, _, ts, kind, target, line, _, _, run, _, head, layer, _, status, commitment, _ = fields
    body = body or {}
    is_run = kind == "run"
    task, tags = _one_line(body.get("task")), _tags(body.get("tags"))
    text = "\n".join(_texts(body, stated=kind in _STATED or is_run))[:MAX_TEXT]
    event = {
        "key": bytes.fromhex(name or "")[:16],
        "name": (run or target or name) if is_run else name,
        "kind": "run" if is_run else "event",
        "what": kind,
        "ts": ts,
        "title": _event_title(kind or "", target, body),
        "text": visible(text),
        "task": task,
        "tags": tags,
        "layer": layer,
        "line": line,
        "head": head,
        "status": None if status is None else int(status),
        "target": target,
        "run": run,
        "lacks": commitment if lacks else None,
    }
    base = number(ts or "")
    rows = [_row(base, event)]
    for made in _artifacts(body):
        rows.append(_row(base, _artifact(event, made)))
    return rows


def _artifact(event: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    path = _one_line(made["path"]) or ""
    return {
        **event,
        "key": None,  # it comes and goes with its run
        "name": f"{event['run'] or event['name']}:{path}",
        "kind": "artifact",
        "what": "artifact",
        "title": path,
        "text": event["title"],
        "path": path,
        "sha256": _one_line(made.get("sha256")),
        "target": None,
        "lacks": None,
    }


def memory_row(memory: Memory, *, key: bytes, path: str) -> Row:
    """The row of a memory, accepted or proposed; its number is given later."""
    state = rules.status(memory)
    return _row(
        -1,
        {
            "key": key,
            "name": memory.id,
            "kind": "candidate" if isinstance(memory, Candidate) else memory.type,
            "what": state,
            "title": _title(memory.statement),
            "text": visible(f"{memory.statement}\n{memory.details}"[:MAX_TEXT]),
            "tags": " ".join(memory.tags),
            "layer": memory.layer,
            "line": memory.line if isinstance(memory, Candidate) else None,
            "path": path or None,
            "target": None,
            "run": rules.source_run(memory),
            "expires": rules.iso(memory.expires_at) if memory.expires_at else None,
        },
    )


def _row(base: int, fields: Mapping[str, Any]) -> Row:
    """A row in the order of COLUMNS, with what only the search needs added."""
    labels = [fields.get(name) for name in ("name", "what", "target", "run", "task", "tags", "layer", "path")]
    words = " ".join(dict.fromkeys(word for word in labels if word))
    facets = {facet("k", fields["kind"])} | ({facet("k", fields["what"])} if base > 0 else set())
    facets |= {facet("g", tag) for tag in (fields.get("tags") or "").split()}
    if fields.get("task"):
        facets.add(facet("t", fields["task"]))
    made = {
        **fields,
        "id": base,
        "shown": 0,
        "labels": words,
        "parts": parts_of(fields["title"], words, fields["text"]),
        "facets": " ".join(sorted(facets)),
    }
    return tuple(made.get(name) for name in COLUMNS)


def parts_of(*texts: str) -> str:
    """The words inside camelCase names, once each, in the order they stand."""
    whole = {word: None for text in texts for word in _INNER_CAPITAL.findall(text)}
    return " ".join(part for word in list(whole)[:1000] for part in split_word(word))


def _event_title(kind: str, target: str | None, body: Mapping[str, Any]) -> str:
    if kind == "run":
        outputs = body.get("outputs")
        summary = outputs.get("summary") if isinstance(outputs, dict) else body.get("summary")
        said = (summary, body.get("summary"), _command(body.get("command")), body.get("prompt"))
        return next((title for title in map(_title, (*said, body.get("task"))) if title), "run")
    statement = body.get("statement") if kind in _STATED else body.get("task")
    return " ".join(word for word in (kind, target, _title(statement or body.get("reason"))) if word)


def _texts(body: Mapping[str, Any], *, stated: bool) -> Iterator[str]:
    names = ["task", "summary", "prompt", "outputs", "next_actions", "inputs", "reason", "reviewer"]
    for name in ["statement", *names] if stated else names:
        yield from strings(body.get(name))
    if command := _command(body.get("command")):
        yield command
    yield from (made["path"] for made in _artifacts(body))
    yield from strings(body.get("derived_facts"))


def strings(value: object, depth: int = 0) -> Iterator[str]:
    """Every piece of text inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list) and depth < MAX_DEPTH:
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item, depth + 1)


def _command(value: object) -> str:
    return value if isinstance(value, str) else " ".join(strings(value))


def _artifacts(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    made = body.get("artifacts")
    items = made if isinstance(made, list) else []
    return [item for item in items if isinstance(item, dict) and isinstance(item.get("path"), str)]


def _tags(value: object) -> str:
    words: Iterable[object] = value if isinstance(value, list) else []
    return " ".join(visible("".join(word.split())) for word in words if isinstance(word, str))


def _one_line(value: object) -> str | None:
    return visible(" ".join(value.split())) if isinstance(value, str) and value.strip() else None


def _title(value: object) -> str:
    """The first line of a text, cut at a word, safe to show."""
    if not isinstance(value, str) or not value.strip():
        return ""
    first = visible(" ".join(value.strip().split("\n", 1)[0].split())[: 4 * MAX_TITLE])
    if len(first) <= MAX_TITLE:
        return first
    return first[:MAX_TITLE].rsplit(" ", 1)[0] + " …"


def now_text(now: datetime) -> str:
    """A moment as files spell it, to compare with a memory's expiry."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
