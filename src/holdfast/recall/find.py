"""Finding one thing by the id a person typed: a memory, a task, a link, a session, a run, an event, a file
that a run produced, or what else `recall` names: a turn, a commit, a place in a file.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.errors import BrokenEntry, CorruptLog, FutureFormat, HoldfastError, NotFound
from holdfast.git.clone import Clone
from holdfast.git.parts import placed
from holdfast.git.visible import Sighting
from holdfast.model.event import Event
from holdfast.model.ids import LINK, pick
from holdfast.model.session import to_object
from holdfast.patterns import regex
from holdfast.recall import elsewhere, opened
from holdfast.recall.thing import Shown
from holdfast.store import capsule, fsio, layout, sessions, tasks
from holdfast.values import frozen, replace
from holdfast.work import exchange

MAX_SUMMARY = 1 << 20
MAX_TEXT = 1 << 16  # of a produced file; beyond that `show --path` says where it lies
TAIL_LINES, _TAIL_BYTES = 20, 1 << 14
_COLOURS = regex(rb"\x1b\[[0-9;:?]*[ -/]*[@-~]")
_PRINTED = ("terminal", "stdout", "stderr")


@frozen
class Found:
    """What an id names."""

    kind: str  # "memory", "candidate", "task", "link", "session", "run" or "event"
    id: str


def find(clone: Clone, text: str) -> Found:
    """What `text` names: an exact id first, else the only one it begins."""
    kinds = _kinds(clone)
    identity = pick(text.removeprefix("run:"), kinds)
    return Found(kinds[identity], identity)


def _kinds(clone: Clone) -> dict[str, str]:
    events = clone.all_events()
    kinds = {event.hash_self: "event" for event in events}
    kinds |= {event.run_id: "run" for event in events if event.kind == "run" and event.run_id}
    kinds |= {event.target: kind for event in events if event.target and (kind := _subject(event))}
    kinds |= dict.fromkeys(_candidates(clone), "candidate")
    kinds |= dict.fromkeys((name for store in clone.stores for name in sessions.ids(store)), "session")
    kinds |= dict.fromkeys(_nodes(clone.entries(layout.TASKS)), "task")
    kinds |= dict.fromkeys(_nodes(clone.entries(layout.LINKS)), "link")
    return kinds | dict.fromkeys(_memories(clone), "memory")


def _subject(event: Event) -> str | None:
    """What kind of thing an event is about; None for a run, an erase and the like."""
    if event.kind in ("propose", "accept", "promote", "reject", "retire", "edit", "join"):
        return "memory"
    if event.kind in ("task", "checkpoint"):
        return "link" if (event.target or "").startswith(f"{LINK}-") else "task"
    return "session" if event.kind == "session" else None


def _candidates(clone: Clone) -> Iterable[str]:
    for store in clone.stores:
        if os.path.isdir(store.candidates):
            yield from (name[:-3] for name in os.listdir(store.candidates) if name.endswith(".md"))


def _memories(clone: Clone) -> dict[str, Sighting]:
    found = {}
    for one in placed(clone.repo, clone.entries()):
        try:
            found[one.parse().id] = one.sighting
        except BrokenEntry:  # `facts` and `doctor` name it; here it can be shown by no id
            continue
    return found


def _nodes(sightings: Iterable[Sighting]) -> dict[str, Sighting]:
    """Tasks or links by their ids; what cannot be read is `doctor`'s to name."""
    found: dict[str, Sighting] = {}
    for sighting in sightings:
        read = tasks.reader(sighting.path)
        try:
            if read is not None:
                found.setdefault(read(sighting.text, sighting.path).id, sighting)
        except BrokenEntry:
            continue
    return found


def show(clone: Clone, text: str) -> Shown:
    """Everything this clone can say about one thing; of what was erased only that it was there."""
    try:
        found = find(clone, text)
    except NotFound:
        return _show_opened(clone, text) or _show_artifact(clone, text) or _show_fetched(clone, text)
    if found.kind == "run":
        return _show_run(clone, found.id)
    if found.kind == "event":
        event = next(event for event in clone.all_events() if event.hash_self == found.id)
        return Shown(found.id, "event", None, None, clone.joined(event))
    if found.kind == "session":
        return _show_session(clone, found.id)
    if found.kind in ("task", "link"):
        return _show_node(clone, found)
    return _show_memory(clone, found)


def _show_opened(clone: Clone, text: str) -> Shown | None:
    """A turn, a commit or a place in a file, by the id that `recall` gives it."""
    if named := opened.names_turn(text.removeprefix("run:")):
        return _show_turn(clone, *named)
    cited = {name: sighting.text for name, sighting in _memories(clone).items()}
    return opened.commit(clone, text, cited) or opened.place(clone, text)


def _show_turn(clone: Clone, name: str, number: int, step: int | None) -> Shown:
    events = [event for event in clone.all_events() if event.kind == "run" and event.run_id]
    run = pick(name, {event.run_id for event in events if event.run_id})
    called = f"{run}#{number}" + (f".{step}" if step else "")
    event = _event_of(clone, run)
    if _is_erased(clone, event):
        return Shown(called, "turn", None, None, {"run_id": run, "turn": number, "body_state": "erased"})
    folder = _folder(clone, run)
    found = opened.turn(run, folder, number, step) if folder else None
    if found is None:
        raise NotFound(f"nothing of {called} is here", hint=f"See what is with `holdfast show {run}`.")
    outputs = clone.joined(event).get("outputs")
    other = outputs.get("repository") if isinstance(outputs, dict) else None  # whose work it was, if not ours
    return replace(found, fields={**found.fields, "repository": other}) if other else found


def _show_session(clone: Clone, identity: str) -> Shown:
    """A session as its file tells it; a damaged one as it lies there."""
    history = {"history": _history(clone, identity)}
    if identity in clone.erased():
        return Shown(identity, "session", None, None, {**history, "body_state": "erased"})
    for store in clone.stores:
        try:
            path = sessions.path_of(store, identity)
        except NotFound:
            continue
        said = _text_of(path, limit=sessions.MAX_FILE)
        try:
            return Shown(identity, "session", path, said, {**to_object(sessions.read(path)), **history})
        except (CorruptLog, FutureFormat, FileNotFoundError) as error:
            return Shown(identity, "session", path, said, {**history, "broken": str(error)})
    return Shown(identity, "session", None, None, history)


def _show_node(clone: Clone, found: Found) -> Shown:
    """A task or a link as it is visible here, else where it is."""
    history = {"history": _history(clone, found.id)}
    if found.id in clone.erased():
        return Shown(found.id, found.kind, None, None, {**history, "body_state": "erased"})
    folder = layout.TASKS if found.kind == "task" else layout.LINKS
    sighting = _nodes(clone.entries(folder)).get(found.id)
    if sighting is not None:
        return _shown_here(found, sighting, history)
    place = elsewhere.look(clone, found.id)
    if place is None:
        return Shown(found.id, found.kind, None, None, history)
    fields = {**_fields(place.text, place.path), **history}
    return Shown(found.id, found.kind, None, place.text, fields, elsewhere=place.sentence)


def _fields(text: str | None, path: str) -> dict[str, Any]:
    """What a task or a link says, field by field; nothing of what cannot be read."""
    read = tasks.reader(path)
    try:
        return exchange.as_object(read(text, path)) if read is not None and text else {}
    except BrokenEntry:
        return {}


def _shown_here(found: Found, sighting: Sighting, history: dict[str, Any]) -> Shown:
    said = _fields(sighting.text, sighting.path)
    fields = {**said, "origin": sighting.origin, "blob": sighting.blob, **history}
    if sighting.clash is None:
        return Shown(found.id, found.kind, sighting.path, sighting.text, fields)
    return Shown(found.id, found.kind, sighting.path, _both(sighting), {**fields, "conflict": True})


def _show_run(clone: Clone, run_id: str) -> Shown:
    event = _event_of(clone, run_id)
    if _is_erased(clone, event):
        return Shown(run_id, "run", None, None, {**clone.joined(event), "body_state": "erased"})
    folder = _folder(clone, run_id)
    said = _text_of(os.path.join(folder, capsule.SUMMARY), limit=MAX_SUMMARY) if folder else None
    printed = _printed(folder) if folder else None
    return Shown(run_id, "run", folder, said, clone.joined(event), printed=printed)


def _event_of(clone: Clone, run_id: str) -> Event:
    """The event of a run; where somebody wrote several, the last."""
    return [e for e in clone.all_events() if e.run_id == run_id and e.kind == "run"][-1]


def _is_erased(clone: Clone, event: Event) -> bool:
    """By an event in HEAD's log too, which may come before the capsule here is deleted."""
    return not clone.erased().isdisjoint((event.hash_self, event.target or "", event.run_id or ""))


def _folder(clone: Clone, run_id: str) -> str | None:
    return next((path for path in (s.run(run_id) for s in clone.stores) if os.path.isdir(path)), None)


def _printed(folder: str) -> str | None:
    """The last lines a run put out: on its terminal, else to its output, else its complaints."""
    for name in _PRINTED:
        tail = _tail(os.path.join(folder, "outputs", name))
        lines = _COLOURS.sub(b"", tail).decode("utf-8", "replace").rstrip().splitlines()
        if lines:
            return "\n".join(lines[-TAIL_LINES:])
    return None


def _tail(path: str) -> bytes:
    """The end of a regular file, which may be long or missing."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    with open(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return b""
        file.seek(max(0, facts.st_size - _TAIL_BYTES))
        return file.read(_TAIL_BYTES)


def _text_of(path: str, *, limit: int) -> str | None:
    """A file's text, or None where there is none or it is no text for people."""
    try:
        text = fsio.read(path, limit=limit).decode("utf-8")
    except (OSError, UnicodeDecodeError, HoldfastError):
        return None
    return None if "\x00" in text else text


def _show_artifact(clone: Clone, text: str) -> Shown | None:
    """A file that a run produced, by the name that `recall` gives it: `<run id>:<path>`."""
    name, colon, path = text.removeprefix("run:").partition(":")
    if not (colon and path and name) or name in ("commit", "file"):
        return None
    events = [event for event in clone.all_events() if event.body and not _is_erased(clone, event)]
    try:
        run = pick(name, [event.run_id or event.hash_self for event in events])
    except NotFound:
        return None
    told = [clone.joined(event) for event in reversed(events) if run in (event.run_id, event.hash_self)]
    made = [(row, fields) for fields in told for row in _produced(fields) if row.get("path") == path]
    if not made:
        raise NotFound(f"{run} produced no {path}", hint=f"See what it did with `holdfast show {run}`.")
    row, fields = made[0]
    folder = _folder(clone, run) if row.get("stored") else None
    copy = os.path.join(folder, "outputs", "files", *path.split("/")) if folder else None
    said = _text_of(copy, limit=MAX_TEXT) if copy else None
    about = {name: fields.get(name) for name in ("run_id", "task", "ts", "branch")}
    about["ts"] = fields.get("started") or about["ts"]  # of an import: when it was made, not taken in
    return Shown(f"{run}:{path}", "artifact", copy, said, {**row, **about})


def _produced(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = fields.get("artifacts")
    return [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []


def _show_memory(clone: Clone, found: Found) -> Shown:
    history = {"history": _history(clone, found.id)}
    if found.id in clone.erased():
        return Shown(found.id, "memory", None, None, {**history, "body_state": "erased"})
    sighting = _memories(clone).get(found.id)
    if sighting is not None:
        return _shown_here(Found("memory", found.id), sighting, history)
    for store in clone.stores:
        path = os.path.join(store.candidates, f"{found.id}.md")
        if os.path.isfile(path):
            return Shown(found.id, "candidate", path, _text_of(path, limit=MAX_SUMMARY), history)
    place = elsewhere.look(clone, found.id)
    if place is None:
        return Shown(found.id, "memory", None, None, history)
    return Shown(found.id, "memory", None, place.text, history, elsewhere=place.sentence)


def _show_fetched(clone: Clone, text: str) -> Shown:
    """A memory, a task or a link that only another branch's history knows, by its whole id."""
    place = None if text in clone.erased() else elsewhere.published(clone, text)
    if place is None:
        raise NotFound(f"nothing here is called {text}")
    kind = {layout.TASKS: "task", layout.LINKS: "link"}.get(os.path.dirname(place.path), "memory")
    fields = {**_fields(place.text, place.path), "history": []}
    return Shown(text, kind, None, place.text, fields, elsewhere=place.sentence)


def _both(sighting: Sighting) -> str:
    return f"Waiting here:\n\n{sighting.text}\n\nIn the branch's history:\n\n{sighting.clash}"


def _history(clone: Clone, identity: str) -> list[str]:
    return [f"{e.ts[:19]} {_happened(clone, e)}" for e in clone.all_events() if e.target == identity]


def _happened(clone: Clone, event: Event) -> str:
    """An event in a word or two: its kind, and for tasks and sessions what was done."""
    if event.kind not in ("task", "session") or not event.body or _is_erased(clone, event):
        return event.kind
    action = (clone.bodies.get(event.body) or {}).get("action")
    return f"{event.kind} {action}" if isinstance(action, str) else event.kind
