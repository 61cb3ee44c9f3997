"""Tasks and links as JSON and JSONL, both ways, and brought onto the board.

Written: `{"version": 1, "tasks": […], "links": […]}`, or one object a line. Read: either, or a plain
list, up to 64 MiB. A field we do not know is kept if it is plain: text, a number, yes or no, nothing, or
a list of these. Everything is checked before anything is stored: a text comes in whole or not at all, and
a refusal names the line (in a whole document: the record) and the reason. What each field may hold is
`model.task`'s business.
"""

import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, TypeVar

from holdfast.errors import BadInput, Cycle, TooLarge
from holdfast.git.clone import Clone
from holdfast.model.ids import LINK, TASK, new_id
from holdfast.model.task import FIELDS, LINK_FIELDS, LINK_KINDS, LISTS, Checkpoint, Link, Task, link_kind
from holdfast.patterns import regex
from holdfast.store import frontmatter
from holdfast.store import layout as paths
from holdfast.store import task_files as files
from holdfast.values import frozen, replace
from holdfast.work import task_board, task_graph

VERSION = 1
MAX_TEXT = 64 << 20  # bytes; a guess: bounds memory
MAX_REASON = 300  # a refusal quotes no more of what it refuses
MAX_RING = 20  # a guess: one line
_NAME = regex(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_HALF = regex("[\ud800-\udfff]")
_OBJECTS = ("checkpoint", "extra")
_TEXTS = ("title", "owner", "impact", "reason", "notes", "acceptance", "target")
_HINT = "Mend the text and import it again; nothing of it was stored."

_N = TypeVar("_N", Task, Link)

Fresh = Callable[[str, Collection[str]], str]  # a new id with this prefix, in none of these


@frozen
class TaskPlan:
    """The tasks and links that a text holds."""

    tasks: tuple[Task, ...]
    links: tuple[Link, ...] = ()


# Writing.


def as_object(node: Task | Link) -> dict[str, Any]:
    """A task or a link with every field it has, as plain values."""
    found = {name: _plain(getattr(node, name)) for name in (FIELDS if isinstance(node, Task) else LINK_FIELDS)}
    return {**found, "notes": node.notes, "extra": dict(node.extra)}


def _plain(value: Any) -> Any:
    if isinstance(value, Checkpoint):
        return list(value.words())
    return list(value) if isinstance(value, tuple) else value


def to_json(tasks: Iterable[Task], links: Iterable[Link] = ()) -> str:
    """All of them as one JSON document."""
    document = {"version": VERSION, "tasks": [*map(as_object, tasks)], "links": [*map(as_object, links)]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def to_jsonl(tasks: Iterable[Task], links: Iterable[Link] = ()) -> str:
    """One JSON object a line, tasks first."""
    objects = chain(map(as_object, tasks), map(as_object, links))
    return "".join(f"{json.dumps(found, ensure_ascii=False)}\n" for found in objects)


# Reading.


def from_text(text: str, *, fresh: Fresh | None = None) -> TaskPlan:
    """The tasks and links that a text holds; with `fresh`, those without an id get one.

    BadInput, TooLarge or Cycle say on which line, or with which record of a document, it goes wrong.
    """
    if len(text) > MAX_TEXT or len(text.encode("utf-8", "replace")) > MAX_TEXT:
        raise TooLarge(f"the text is larger than {MAX_TEXT:,} bytes", hint="Import it in parts.")
    values, place_of = _records(text.removeprefix("\ufeff"))
    nodes: dict[str, Task | Link] = {}
    places: dict[str, int] = {}
    for place, value in enumerate(values):
        try:
            node = _node(value, fresh, nodes)
            if node.id in nodes:
                raise BadInput(f"{node.id} is in it twice")
        except (BadInput, TooLarge) as error:
            raise BadInput(f"{place_of(place)}: {_short(str(error))}", hint=_HINT) from None
        nodes[node.id], places[node.id] = node, place
    plan = TaskPlan(*(tuple(n for n in nodes.values() if isinstance(n, kind)) for kind in (Task, Link)))  # type: ignore[arg-type]
    if ring := task_graph.TaskGraph(plan.tasks).cycle():
        raise Cycle(f"{place_of(places[ring[0]])}: that is a cycle: {_ring(ring)}", hint=_HINT)
    return plan


def _short(reason: str) -> str:
    return reason if len(reason) <= MAX_REASON else f"{reason[:MAX_REASON]}…"


def _ring(ring: tuple[str, ...]) -> str:
    return " → ".join(ring if len(ring) <= MAX_RING else (*ring[: MAX_RING - 2], "…", ring[-1]))


def _records(text: str) -> tuple[list[Any], Callable[[int], str]]:
    """The records of a text, and a function that names the place of one: its line, or its number in a document."""
    if not text.strip():
        raise BadInput("there is nothing in it to import", hint="Give JSON, or JSONL with one object a line.")
    if _is_lines(text):
        numbered = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
        return [_load(line, first=n) for n, line in numbered], lambda place: f"line {numbered[place][0]}"
    whole = _load(text, first=1)
    if isinstance(whole, dict) and not {"tasks", "links"} & set(whole):
        return [whole], lambda _: "record 1"
    if isinstance(whole, dict):
        if whole.get("version", VERSION) != VERSION:
            said = _short(repr(whole["version"]))
            raise BadInput(f"line 1: version {said} is not one that this Holdfast reads", hint="Update Holdfast.")
        records, names = [], []
        for kind in ("task", "link"):
            listed = whole.get(f"{kind}s", [])
            if not isinstance(listed, list):
                raise BadInput(f"line 1: {kind}s must be a list", hint=_HINT)
            records += listed
            names += [f"{kind} {n}" for n in range(1, len(listed) + 1)]
        return records, lambda place: names[place]
    if not isinstance(whole, list):
        raise BadInput("line 1: it holds no tasks", hint="Give JSON, or JSONL with one object a line.")
    return whole, lambda place: f"record {place + 1}"


def _is_lines(text: str) -> bool:
    """Whether the first line is an object by itself and others follow: one a line."""
    first, _, rest = text.lstrip().partition("\n")
    try:
        return bool(rest.strip()) and isinstance(_parse(first), dict)
    except BadInput:
        return True
    except (ValueError, RecursionError):
        return False


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object, parse_int=_whole)


def _load(text: str, *, first: int) -> Any:
    """A JSON value; `first` is the number of the text's first line."""
    try:
        return _parse(text)
    except json.JSONDecodeError as error:
        reason = f"it is not JSON: {error.msg} (column {error.colno})"
        raise BadInput(f"line {first + error.lineno - 1}: {reason}", hint=_HINT) from None
    except BadInput as error:
        raise BadInput(f"line {first}: {error}", hint=_HINT) from None
    except RecursionError:
        raise BadInput(f"line {first}: it is nested too deeply", hint=_HINT) from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; a name may stand in it once."""
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n]))
        raise BadInput(f"{_short(twice)} stands in it twice", hint=_HINT)
    return found


def _whole(digits: str) -> int | float:
    """A whole number; one that no field could hold is as good as endless, and costs no time."""
    return int(digits) if len(digits) < 20 else math.inf


# One record.


def _node(record: Any, fresh: Fresh | None, taken: Collection[str]) -> Task | Link:
    """The task or link that a record is."""
    if not isinstance(record, dict):
        raise BadInput("it is not an object with fields")
    _refuse_strange(record)
    kind = record.get("kind")
    is_link = kind in LINK_KINDS or (kind is None and "target" in record)
    names: Collection[str] = LINK_FIELDS if is_link else FIELDS
    values = {name: record[name] for name in (*names, "notes") if record.get(name) is not None}
    if "id" not in values and fresh is not None:
        values["id"] = fresh(LINK if is_link else TASK, taken)
    for name in ("id", "target" if is_link else "title"):
        if name not in values:
            raise BadInput(f"it has no {name}")
    values["extra"] = tuple(_extra(record, names))
    if is_link:
        target = values["target"]
        if not isinstance(target, str):
            raise BadInput("target must be text")
        return Link(**{"title": target, "kind": link_kind(target), **values})
    values |= {name: tuple(values[name]) for name in LISTS if isinstance(values.get(name), list)}
    if "checkpoint" in values:
        values["checkpoint"] = _checkpoint(values["checkpoint"])
    return Task(**values)


def _refuse_strange(record: Mapping[str, Any]) -> None:
    """Refuse what no field can hold: lists of lists, and text that ends within a character."""
    for name, value in record.items():
        inner = value.values() if isinstance(value, dict) and name in _OBJECTS else value
        items = [*inner] if isinstance(inner, list) or inner is not value else [value]
        if any(isinstance(item, list | dict) for item in items):
            raise BadInput(f"{_short(name)} is nested: it must be one value, or a list of plain ones")
        if any(_HALF.search(item) for item in (name, *items) if isinstance(item, str)):
            raise BadInput(f"{_HALF.sub('?', _short(name))} holds half a character, which cannot be stored")


def _checkpoint(value: Any) -> Checkpoint:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return Checkpoint.of(tuple(value))
    if isinstance(value, dict):
        words = {name: value.get(name) for name in ("commit", "tree", "patch_id")}
        if set(value) <= set(words) and all(isinstance(word, str | None) for word in words.values()):
            return Checkpoint(commit=words["commit"] or "", tree=words["tree"] or "", patch_id=words["patch_id"])
    raise BadInput("checkpoint must be [commit:…, tree:…, patch:…]")


def _extra(record: Mapping[str, Any], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The fields we do not know, each as a line of frontmatter."""
    kept = record.get("extra") or {}
    if not isinstance(kept, dict):
        raise BadInput("extra must be an object of name and line")
    for name, raw in kept.items():
        if name in names or not isinstance(raw, str) or not _is_line(name, raw):
            raise BadInput(f"extra: {name} is not a line of frontmatter of that name")
        yield name, raw
    for name, value in record.items():
        if name not in names and name not in ("notes", "extra"):
            if name in kept:
                raise BadInput(f"{name} stands in it twice")
            yield name, _raw(name, value)


def _raw(name: str, value: Any) -> str:
    """An unknown field as a line; BadInput unless its value is plain."""
    items = value if isinstance(value, list) else [value]
    endless = any(isinstance(item, float) and not math.isfinite(item) for item in items)
    if endless or not _NAME.fullmatch(name) or not all(isinstance(item, str | int | float | None) for item in items):
        raise BadInput(f"the field {_short(name)} is not known, and not plain enough to be kept")
    shown = [frontmatter.word(item) if isinstance(item, str) else json.dumps(item) for item in items]
    raw = f"{name}: [{', '.join(shown)}]" if isinstance(value, list) else f"{name}: {shown[0]}"
    if not _is_line(name, raw):
        raise BadInput(f"the field {name} is not known, and cannot be kept under that name")
    return raw


def _is_line(name: str, raw: str) -> bool:
    """Whether it is one field of frontmatter of this name, just as it would be read from a file."""
    try:
        fields = frontmatter.read(raw)
    except frontmatter.BadFront:
        return False
    return [(field.name, field.raw) for field in fields] == [(name, raw)]


# Onto the board.


def bring(clone: Clone, text: str) -> TaskPlan:
    """Add the tasks and links of a text to what is visible here, all or none; those that were new.

    What another branch has under the same id goes into the file of the same name, so that they merge.
    What is here already with the same content is passed over, so an import that was cut off can be
    repeated; with another content it is refused. Needs that name nobody here stay: they may live elsewhere.
    """
    board, (links, _) = task_board.read(clone), task_board.links(clone)
    taken = {*board.placed, *links}
    plan = from_text(text, fresh=lambda prefix, others: _fresh(prefix, taken, others))
    clean = TaskPlan(tuple(_cleaned(clone, t) for t in plan.tasks), tuple(_cleaned(clone, n) for n in plan.links))
    known: dict[str, Task | Link] = {name: placed.task for name, placed in board.placed.items()}
    known |= {name: link for name, (link, _) in links.items()}
    new = _new([*clean.tasks, *clean.links], known)
    tasks = [node for node in new if isinstance(node, Task)]
    after = task_graph.TaskGraph([*board.tasks, *tasks])
    if ring := after.cycle(since=board.graph):
        raise Cycle(f"that would be a cycle: {_ring(ring)}", hint=_HINT)
    named = {edge for task in tasks for edge in (*task.needs, task.parent) if edge and edge not in after.tasks}
    if named:
        shown = ", ".join(sorted(named)[:5]) + (" …" if len(named) > 5 else "")
        clone.notes.append(f"{len(named):,} tasks are named that are not on this branch: {shown}")
    _store(clone, new)
    return TaskPlan(tuple(tasks), tuple(node for node in new if isinstance(node, Link)))


def _fresh(prefix: str, taken: Collection[str], others: Collection[str]) -> str:
    while (name := new_id(prefix, taken)) in others:  # both in one set, for each of many records, would take long
        pass
    return name


def _cleaned(clone: Clone, node: _N) -> _N:
    """The same without secrets."""
    found = {name: getattr(node, name) for name in _TEXTS if getattr(node, name, None)}
    extra = tuple((name, _cleaned_line(clone, name, raw)) for name, raw in node.extra)
    return replace(node, **task_board.cleaned(clone, found), extra=extra)


def _cleaned_line(clone: Clone, name: str, raw: str) -> str:
    clean = clone.scan.text(raw)
    # What stands for a secret has brackets, which mean a list unless they are quoted.
    return raw if clean == raw else f"{name}: {frontmatter.word(clean.partition(':')[2].strip())}"


def _new(nodes: Iterable[Task | Link], known: Mapping[str, Task | Link]) -> list[Task | Link]:
    """Those that are not here yet; BadInput if one is, with another content or in another spelling."""
    spelled = {name.casefold(): name for name in known}
    new = []
    for node in nodes:
        before = spelled.setdefault(node.id.casefold(), node.id)
        if before != node.id:  # file names may ignore case
            raise BadInput(f"{node.id} differs only in case from {before}", hint=_HINT)
        if node.id not in known:
            new.append(node)
        elif known[node.id] != node:
            raise BadInput(f"{node.id} is here already, with another content", hint=_HINT)
    return new


def _store(clone: Clone, new: list[Task | Link]) -> None:
    """Keep each as a change that waits, then say so in the log."""
    there: dict[str, str] = {}
    for kind, folder in ((Task, paths.TASKS), (Link, paths.LINKS)):
        there |= task_board.paths_of(clone, folder, {node.id for node in new if isinstance(node, kind)})
    texts = {there.get(node.id, task_board.path_for(node)): (node, files.render(node)) for node in new}
    for node, text in texts.values():
        if len(text) > files.MAX_TASK:
            raise TooLarge(f"{node.id} takes {len(text):,} characters; at most {files.MAX_TASK:,} are kept")
    if texts:
        clone.change_all(
            {path: text for path, (_, text) in texts.items()},
            event=lambda new: task_board.event_of(texts[new.path][0], action="import", blob=new.blob),
        )
