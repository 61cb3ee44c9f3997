"""Builds rows of the index from events, memories, tasks and sessions.

Text is made safe to show here, once, so that code that prints a row needs no further check. An event whose body is
missing (private to another clone, or erased) is a row of its envelope alone.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from holdfast.git import approvals
from holdfast.index.query import spaceless, split_word
from holdfast.index.schema import facet
from holdfast.index.turn_steps import KEY
from holdfast.model import memory as rules
from holdfast.model.session import Session
from holdfast.model.task import Task
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.security.redact import Scanner
from holdfast.values import dict_of, dicts_of

Row = tuple[Any, ...]
Touch = tuple[int, str]  # a row's position among those of its unit, and a path from the top
MAX_TEXT = 32 * 1024  # characters of a row. These limits are guesses: far above what people write
MAX_EMBEDDED = 4096  # characters: a model reads a few hundred words at most
MAX_CONTEXT = 2048  # characters; a guess: context weighs less than the text itself
MAX_TOUCHED = 1000  # a guess: bounds one row
MAX_TURN = 8 * 1024  # characters of a turn
MAX_TURNS = 2000  # of one run
MAX_TITLE = 120  # characters; a guess: one line of a list
CAPSULE = "run:"  # prefix of a run's id in the column `lacks`
MAX_DEPTH = 6  # a guess: bounds hostile nesting; ours has two or three levels
SLOTS = 10  # bits of a row's number below its microsecond

COLUMNS = (
    "id", "key", "shown", "seq", "content", "name", "kind", "what", "ts",
    "title", "labels", "text", "parts", "context", "facets",
    "task", "tags", "layer", "line", "head", "status", "target", "run",
    "path", "sha256", "expires", "supersedes", "blob", "words", "doubt", "lacks", "tier", "parent",
)  # fmt: skip
COMMON = COLUMNS[:-10]  # enough for most events; a row may end here
_PATH, _RUN, _NAME, _TS, _TASK = (COLUMNS.index(name) for name in ("path", "run", "name", "ts", "task"))
_SHOWN_TEXT = ("name", "title", "labels", "text", "context", "task", "tags", "path")
_TEXTS = tuple(COLUMNS.index(name) for name in _SHOWN_TEXT)
_KIND, _SEQ = COLUMNS.index("kind"), COLUMNS.index("seq")
_CITED = {"file": "@", "lines": ":", "symbol": "#"}  # a kind of evidence, and what ends its path

_WHOLE_MOMENT = regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z")
_SECONDS = regex(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?Z")
_EPOCH = datetime(1970, 1, 1)
_LAST = (1 << 52) - 1  # microseconds that fit beside the slots in 63 bits
_INNER_CAPITAL = regex(r"(?<![A-Za-z0-9])(?:[A-Z]?[a-z0-9]++[A-Z]|[A-Z]{2,}+[a-z])[A-Za-z0-9]*+")
_SPACELESS = regex("[\u0e00-\u1fff\u2e80-\U0010ffff]")  # may be a script without spaces
_PLAIN = bytes(range(32, 127)) + b"\n\t"
_SHAPE = bytes(65 if 65 <= code <= 90 else 97 if chr(code).isalnum() and code < 128 else 32 for code in range(256))
_NOTHING = (None,) * 4  # no path, no hash, no expiry, nothing superseded
_STATED = ("accept", "promote", "edit", "retire")  # a proposal's words are found only as a candidate


def clean_row(row: Row, scan: Scanner) -> Row:
    """Returns a row without known secrets in its text columns."""
    before = {name: row[at] for name, at in zip(_SHOWN_TEXT, _TEXTS, strict=True) if at < len(row) and row[at]}
    cleaned = {name: safe(scan.text(said)) for name, said in before.items()}
    if cleaned == before:
        return row
    fields = {**dict(zip(COLUMNS, row, strict=False)), **cleaned}
    fields["parts"] = _parts(fields["title"], fields["text"])
    if fields["content"] is not None:
        fields["content"] = content_of(fields["title"], fields["text"])
    if cleaned.get("tags") != before.get("tags") or cleaned.get("task") != before.get("task"):
        fields["facets"] = _facets(fields["kind"], fields["what"], fields["task"], fields["tags"] or "")
    return tuple(fields.values())


def time_number(ts: str) -> int:
    """Returns the row number of an event at this time: later is higher."""
    seconds = _day(ts[:10]) + int(ts[11:13]) * 3600 + int(ts[14:16]) * 60 + int(ts[17:19])
    return min(max(seconds * 1_000_000 + int(ts[20:26]), 1), _LAST) << SLOTS


@lru_cache(maxsize=256)
def _day(date: str) -> int:
    """Returns the seconds up to a day; 0 for an invalid date, because the log accepts any digits."""
    try:
        return (datetime.fromisoformat(date) - _EPOCH).days * 86_400
    except ValueError:
        return 0


def event_rows(
    found: re.Match[bytes],
    body: Mapping[str, Any] | None,
    *,
    lacks: bool,
    turns: Sequence[Mapping[str, Any]] | None = (),
    about: str = "",
) -> list[Row]:
    """Returns the rows of one event: the event, the files of a run, its turns and their steps.

    `turns` None: the run's capsule is missing, and may arrive later. `about` is the purpose of the run.
    """
    name, ts, kind, target, line, run, head, layer, code, commitment = [
        None if part is None else part.decode("ascii") for part in found.group(1, 3, 4, 5, 6, 9, 11, 12, 14, 15)
    ]
    body, is_run = body or {}, kind == "run"
    text = safe("\n".join(_texts(body, stated=is_run or kind in _STATED))[:MAX_TEXT])
    title = _event_title(kind or "", target, body)
    task, tags = _one_line(body.get("task")), _tags(body.get("tags"))
    shown_name = (run or target or name) if is_run else name
    kind_of_row, status = "run" if is_run else "event", None if code is None else int(code)
    began = _began(body, ts or "") if is_run and "started" in body else None
    what = f"{body['status']} {began}" if began else kind
    own: Row = (
        time_number(began or ts or ""), bytes.fromhex(name or "")[:16], 0, 0,
        content_of(title, text) if is_run or (text and target is None) else None,
        shown_name, kind_of_row, what, began or ts, title,
        _labels(shown_name, kind, target, run, task, tags, layer), text, _parts(title, text),
        (_context(head, *_strings(body["receipts"])) if "receipts" in body else head or "") if is_run else "",
        _facets(kind_of_row, kind, task, tags),
        task, tags, layer, line, head, status, target, run,
    )  # fmt: skip
    if lacks:
        return [(*own, *_NOTHING, None, None, None, commitment, None, None)]
    if turns is None or began:
        lacking = f"{CAPSULE}{run}" if turns is None else None
        own = (*own, *_NOTHING, None, ts if began else None, None, lacking, None, None)
    if kind in approvals.KINDS:
        return [(*own, *_NOTHING, *approvals.approved_text(body or None), None, None, None, None)]
    rows = [own, *(_artifact(own, made) for made in _artifacts(body))] if "artifacts" in body else [own]
    if turns:
        for told in turns[:MAX_TURNS]:
            if turn := turn_row(own, told, about=about):
                rows += [turn, *(_cycle_row(turn, *cycle) for cycle in told.get(KEY, ()))]
    return rows


def _began(body: Mapping[str, Any], recorded: str) -> str | None:
    """Returns the start of an imported run, which is recorded later, maybe months; None for any other."""
    began = body.get("started")
    if body.get("status") not in ("ended", "interrupted") or not isinstance(began, str):
        return None
    whole = _SECONDS.fullmatch(began)
    # A run cannot start after it was recorded, whatever a transcript's clock said.
    return min(f"{whole[1]}.{(whole[2] or '')[:6]:0<6}Z", recorded) if whole else None


def turn_row(event: Row, told: Mapping[str, Any], *, about: str) -> Row | None:
    """Returns a turn of a run: its prompt and its result; None if it is empty.

    It is shown and hidden with its run. `about` is the purpose and the agent of the whole run.
    """
    run, place = event[_RUN] or event[_NAME], told.get("turn")
    prompt, line = _string(told.get("prompt")), _string(told.get("line"))
    text = safe("\n".join((prompt, *_strings(told.get("said"))))[:MAX_TURN].strip())
    title, ts = _title(line) or _title(prompt), _moment_of(told.get("ts")) or event[_TS]
    if type(place) is not int or not 0 < place < MAX_TURNS or not (title or text):
        return None
    by = "agent" if told.get("by") == "agent" else "user"
    return (
        time_number(ts), None, 0, place, content_of(title, text), f"{run}#{place}", "turn", None, ts, title,
        _labels(run, "turn"), text, _parts(title, text),
        _context(about, by, run, *_strings(told.get("commits"))), _facets("turn", None, event[_TASK], ""),
        *event[_TASK : _RUN - 1], None, run,
        None, None, None, None, None, None, None, None, None, None,
    )  # fmt: skip


def _cycle_row(turn: Row, number_of_it: int, at: object, said: str) -> Row:
    """Returns a step of a turn; it belongs to the turn and is found by words alone: models are given turns."""
    text = safe(said)
    title, ts = _title(text), _moment_of(at) or turn[_TS]
    return (
        time_number(ts), None, 0, None, None, f"{turn[_NAME]}.{number_of_it}", "turn", "cycle", ts, title,
        turn[_RUN], text, _parts(title, text), "",
        _facets("turn", "cycle", turn[_TASK], ""), *turn[_TASK:],
    )  # fmt: skip


def about_run(body: Mapping[str, Any], began: Mapping[str, Any]) -> str:
    """Returns a run's agent, model and purpose: the context of its turns."""
    named = dict_of(began.get("agent"))
    said = (named.get("name"), named.get("model"), body.get("task"), body.get("objective"), body.get("prompt"))
    return " ".join(_one_line(word[:MAX_TITLE]) or "" for word in said if isinstance(word, str)).strip()


def touched_by_turns(turns: Sequence[Mapping[str, Any]], rows: Sequence[Row]) -> list[Touch]:
    """Returns the files that each turn of a run wrote."""
    files = {told.get("turn"): _strings(told.get("files"))[:MAX_TOUCHED] for told in turns}
    places = [(place, row[_SEQ]) for place, row in enumerate(rows) if row[_KIND] == "turn" and row[_SEQ]]
    return [(place, path) for place, turn in places for path in files.get(turn, ())]


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _moment_of(value: object) -> str | None:
    """Returns a time spelled as in events; None for other values, because a capsule may contain anything."""
    return value if isinstance(value, str) and _WHOLE_MOMENT.fullmatch(value) else None


def _artifact(event: Row, made: Mapping[str, Any]) -> Row:
    """Returns the row of a file that a run made; it is shown and hidden with its run, so it has no key."""
    base, _, _, _, _, name, _, _, ts, title, *_ = event
    task, tags, layer, line, head, status, _, run = event[_TASK : _RUN + 1]
    path = _one_line(made["path"]) or ""
    return (
        base, None, 0, None, None, f"{run or name}:{path}", "artifact", "artifact", ts, path,
        _labels(run or name, "artifact", path, task, tags, layer), title, _parts(path, title), "",
        _facets("artifact", None, task, tags),
        task, tags, layer, line, head, status, None, run,
        path, _one_line(made.get("sha256")), None, None, None, None, None, None, None, None,
    )  # fmt: skip


def memory_row(memory: rules.Memory, *, key: bytes, path: str, blob: str, paths: Iterable[str]) -> Row:
    """Returns the row of a memory, accepted or proposed; its number and tier are set later."""
    kind = "candidate" if isinstance(memory, rules.Candidate) else memory.type
    line = memory.line if isinstance(memory, rules.Candidate) else None
    title, run, tags = _title(memory.statement), rules.source_run(memory), " ".join(memory.tags)
    text = safe(f"{memory.statement}\n{memory.details}".strip()[:MAX_TEXT])
    expires = rules.iso(memory.expires_at) if memory.expires_at else None
    replaced = " ".join(memory.supersedes) or None if isinstance(memory, rules.Accepted) else None
    return (
        -1, key, 0, 0, content_of(title, text), memory.id, kind, rules.status(memory), None, title,
        _labels(memory.id, kind, run, tags, memory.layer, path), text, _parts(title, text),
        _context(path_words(paths), *_rests_on(memory.evidence), *memory.supersedes),
        _facets(kind, None, None, tags),
        None, tags, memory.layer, line, None, None, None, run,
        path or None, None, expires, replaced, blob, approvals.words_of(memory.statement),
        None, None, None, None,
    )  # fmt: skip


def task_row(task: Task, *, key: bytes, path: str, blob: str, clash: bool = False) -> Row:
    """Returns the row of a task or a larger node; its state is its status."""
    title, said = _title(task.title), (task.title, *task.acceptance, task.impact, task.reason, task.notes)
    text = safe("\n".join(word for word in said if word)[:MAX_TEXT])
    return (
        -1, key, 0, 0, content_of(title, text), task.id, "task",
        "in clash" if clash else task.status, None, title,
        _labels(task.id, "task", task.kind, task.status, _one_line(task.owner), task.layer, path), text,
        _parts(title, text), _context(task.parent, *task.needs, *_rests_on(task.evidence)),
        _facets("task", None, task.id, ""),
        task.id, "", task.layer, None, None, None, None, None,
        path, None, None, None, blob, None, None, None, None, None,
    )  # fmt: skip


def session_row(session: Session, *, key: bytes, paths: Iterable[str]) -> Row:
    """Returns the row of a session: its objective, work, decisions, and what is open.

    It stands among the events, at its last turn: notes are many, and a fact with the same words counts more.
    """
    turns = [turn.summary for turn in session.every_turn]
    opened = [item.text for item in (*session.still_open, *session.still_to_follow)]
    said = (session.objective, session.summary, *session.decisions, *opened, *reversed(turns))
    text = safe("\n".join(word for word in said if word)[:MAX_TEXT])
    title, task = _title(text) or "session", session.tasks[-1] if session.tasks else None
    runs = dict.fromkeys(turn.run for turn in session.every_turn if turn.run)  # their turns lead to it
    facets = " ".join([facet("k", "session"), *(facet("t", name) for name in session.tasks)])
    return (
        time_number(session.updated.ts), key, 0, 0, content_of(title, text),
        session.id, "session", session.state, session.updated.ts, title,
        _labels(session.id, "session", _one_line(session.branch), *session.tasks), text,
        _parts(title, text), _context(path_words(paths), *session.commits, *runs), facets,
        task, "", None, session.line, session.updated.commit, None, None, None,
        None, None, None, None, None, None, None, None, None, None,
    )  # fmt: skip


def touched_by_event(body: Mapping[str, Any] | None, rows: Sequence[Row]) -> list[Touch]:
    """Returns the files a run wrote or deleted; each file's own row is about it too."""
    made = (body or {}).get("artifacts")
    if not isinstance(made, list):
        return []
    named = [item["path"] for item in made if isinstance(item, dict) and isinstance(item.get("path"), str)]
    own = [(0, path) for path in named[:MAX_TOUCHED]]
    return own + [(place, row[_PATH]) for place, row in enumerate(rows) if place and row[_PATH]]


def touched_by_memory(memory: rules.Memory) -> list[str]:
    """Returns the files and folders a memory is about: those it applies to, and those it cites."""
    found = [place.removesuffix("**").removesuffix("*").rstrip("/") for place in memory.applies_to]
    for text in memory.evidence:
        kind, _, rest = text.partition(":")
        if kind in _CITED:
            found.append(rest.rpartition("@")[0].rpartition(_CITED[kind])[0] or rest.rpartition("@")[0])
    return [place for place in dict.fromkeys(found) if place][:MAX_TOUCHED]


def _rests_on(evidence: Iterable[str]) -> Iterable[str]:
    """Yields the runs and commits in evidence: links from them lead to the memory."""
    return [text for text in evidence if text.startswith(("run:", "commit:"))]


def _strings(value: object) -> list[str]:
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def _context(*words: str | None) -> str:
    """Returns what a record belongs to and is linked to, as plain words."""
    return safe(" ".join(word for word in words if word)[: 2 * MAX_CONTEXT])


def content_of(title: str, text: str) -> bytes | None:
    """Returns the name of the text that a model is given: equal names, equal text; None for an empty one."""
    if not title and not text:
        return None
    said = f"{title}\n{text[:MAX_EMBEDDED]}"[:MAX_EMBEDDED]
    return blake2b(said.encode("utf-8", "replace"), digest_size=16).digest()


def path_words(paths: Iterable[str]) -> str:
    """Returns the words in the names of files, once each: a path is found by any part of it."""
    names = " ".join(dict.fromkeys(name for path in paths for name in path.split("/") if name))
    inner = parts_of(names[:MAX_CONTEXT])  # a tokenizer splits `http_server.py`, but not `HTTPServer`
    return safe(f"{names} {inner}"[:MAX_CONTEXT].rstrip())


def _labels(*words: str | None) -> str:
    """Returns the names of a record, by which it can be found as well."""
    return " ".join(dict.fromkeys(filter(None, words)))


@lru_cache(maxsize=4096)
def _facets(kind: str, what: str | None, task: str | None, tags: str) -> str:
    """Returns the exact values a search can filter by."""
    kinds = (kind, what) if what and what != kind else (kind,)
    facets = [*(facet("k", name) for name in kinds), *(facet("g", tag) for tag in tags.split())]
    return " ".join([*facets, facet("t", task)] if task else facets)


def _parts(title: str, text: str) -> str:
    """Returns the parts of names in both; a title is mostly the start of the text, cut somewhere."""
    return parts_of(text if title[: MAX_TITLE // 2] in text else f"{title}\n{text}")


def parts_of(text: str) -> str:
    """Returns the words inside camelCase names, once each, and the pieces of text without spaces."""
    is_plain = text.isascii()
    pairs = "" if is_plain or not _SPACELESS.search(text) else " ".join(spaceless(text))
    if not _has_inner_capital(text.encode("ascii", "strict" if is_plain else "replace").translate(_SHAPE)):
        return pairs
    inner = " ".join(_split_name(word) for word in dict.fromkeys(_INNER_CAPITAL.findall(text)))
    return f"{inner} {pairs}" if pairs else inner


@lru_cache(maxsize=32_768)
def _split_name(word: str) -> str:
    """Returns the words inside one name; code repeats the same names."""
    return " ".join(split_word(word))


def _has_inner_capital(shape: bytes) -> bool:
    at = shape.find(b"A")
    while at >= 0:  # capitals are rare; a search for the pair itself would stop at every other letter
        if (at and shape[at - 1] == 97) or shape[at : at + 3] == b"AAa":
            return True
        at = shape.find(b"A", at + 1)
    return False


def safe(text: str) -> str:
    """Returns the text without hidden characters; most of it is plain and needs no closer check."""
    plain = text.isascii() and (text.isprintable() or not text.encode("ascii").translate(None, _PLAIN))
    return text if plain else visible(text)


def _event_title(kind: str, target: str | None, body: Mapping[str, Any]) -> str:
    if kind == "run":
        outputs = body.get("outputs")
        summary = outputs.get("summary") if isinstance(outputs, dict) else None
        told = (summary, body.get("summary"), _command(body.get("command")), body.get("prompt"), body.get("task"))
        return next(filter(None, map(_title, told)), "run")
    statement = body.get("statement") if kind in _STATED else body.get("task")
    return " ".join(word for word in (kind, target, _title(statement or body.get("reason"))) if word)


_SAID = ("task", "summary", "prompt", "outputs", "next_actions", "inputs", "reason", "reviewer", "derived_facts")


def _texts(body: Mapping[str, Any], *, stated: bool) -> list[str]:
    """Returns all text of a body."""
    said: list[str] = []
    for name in (*_SAID, "statement") if stated else _SAID:
        if name in body:
            _add_strings(body[name], said)
    if "command" in body:
        said.append(_command(body["command"]))
    if "artifacts" in body:
        said += [made["path"] for made in _artifacts(body)]
    return said


def _add_strings(value: object, into: list[str], depth: int = 0) -> None:
    """Adds every string inside a JSON value."""
    if isinstance(value, str):
        into.append(value)
    elif isinstance(value, dict | list) and depth < MAX_DEPTH:
        # Nobody searches by a hash of content.
        items = value if isinstance(value, list) else [value[name] for name in value if name != "sha256"]
        for item in items:
            if type(item) is str:
                into.append(item)
            else:
                _add_strings(item, into, depth + 1)


def _command(value: object) -> str:
    if type(value) is str:
        return value
    words: list[str] = []
    _add_strings(value, words)
    return " ".join(words)


def _artifacts(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    made = dicts_of(body.get("artifacts"))
    return [item for item in made if isinstance(item.get("path"), str) and not item.get("deleted")]


def _tags(value: object) -> str:
    return _one_line(" ".join("".join(word.split()) for word in _strings(value))) or ""


def _one_line(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    return _on_one_line(value) if len(value) <= MAX_TITLE else safe(" ".join(value.split())) or None


@lru_cache(maxsize=1024)
def _on_one_line(text: str) -> str | None:
    """Returns a text on one line; cached, because tasks and owners are few and repeated."""
    return safe(" ".join(text.split())) or None


def _title(value: object) -> str:
    """Returns the first line of a text, cut at a word, safe to show."""
    if not isinstance(value, str) or not value.strip():
        return ""
    first = safe(" ".join(value.lstrip()[: 4 * MAX_TITLE].split("\n", 1)[0].split()))
    return first if len(first) <= MAX_TITLE else first[:MAX_TITLE].rsplit(" ", 1)[0] + " …"


def now_text(now: datetime) -> str:
    """Returns a time as files spell it, to compare with a memory's expiry."""
    return f"{now.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"
