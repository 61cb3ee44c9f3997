"""Finding one thing by the id a person typed: a memory, a run or an event."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from holdfast.errors import BrokenEntry
from holdfast.git.clone import Clone
from holdfast.git.visible import Sighting
from holdfast.model.event import Event
from holdfast.model.ids import pick
from holdfast.store import fsio
from holdfast.store.entries import parse

MAX_SUMMARY = 1 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """What an id names."""

    kind: str  # "memory", "candidate", "run" or "event"
    id: str


@dataclass(frozen=True, slots=True)
class Shown:
    """One thing, with where it lies and what it says."""

    id: str
    kind: str
    path: str | None
    text: str | None
    fields: dict[str, Any]


def find(clone: Clone, text: str) -> Found:
    """What `text` names: an exact id first, else the only one it begins."""
    kinds = _kinds(clone)
    identity = pick(text, kinds)
    return Found(kinds[identity], identity)


def _kinds(clone: Clone) -> dict[str, str]:
    events = clone.all_events()
    kinds = {event.hash_self: "event" for event in events}
    kinds |= {event.run_id: "run" for event in events if event.kind == "run" and event.run_id}
    kinds |= {event.target: "memory" for event in events if event.target and _is_about_memory(event)}
    kinds |= dict.fromkeys(_candidates(clone), "candidate")
    return kinds | dict.fromkeys(_memories(clone.entries()), "memory")


def _is_about_memory(event: Event) -> bool:
    return event.kind in ("propose", "accept", "promote", "reject", "retire", "edit")


def _candidates(clone: Clone) -> Iterable[str]:
    for store in clone.stores:
        if os.path.isdir(store.candidates):
            yield from (name[:-3] for name in os.listdir(store.candidates) if name.endswith(".md"))


def _memories(sightings: Iterable[Sighting]) -> dict[str, Sighting]:
    found = {}
    for sighting in sightings:
        try:
            found[parse(sighting.text, sighting.path).id] = sighting
        except BrokenEntry:  # `facts` and `doctor` name it; here it can be shown by no id
            continue
    return found


def show(clone: Clone, text: str) -> Shown:
    """Everything this clone can say about one thing."""
    found = find(clone, text)
    if found.kind == "run":
        return _show_run(clone, found.id)
    if found.kind == "event":
        event = next(event for event in clone.all_events() if event.hash_self == found.id)
        return Shown(found.id, "event", None, None, clone.joined(event))
    return _show_memory(clone, found)


def _show_run(clone: Clone, run_id: str) -> Shown:
    events = [event for event in clone.all_events() if event.run_id == run_id and event.kind == "run"]
    folders = [store.run(run_id) for store in clone.stores if os.path.isdir(store.run(run_id))]
    summary = None
    if folders and os.path.isfile(os.path.join(folders[0], "summary.md")):
        summary = fsio.read(os.path.join(folders[0], "summary.md"), limit=MAX_SUMMARY).decode(
            "utf-8", "replace"
        )
    return Shown(run_id, "run", folders[0] if folders else None, summary, clone.joined(events[-1]))


def _show_memory(clone: Clone, found: Found) -> Shown:
    sighting = _memories(clone.entries()).get(found.id)
    if sighting is not None:
        fields = {"origin": sighting.origin, "blob": sighting.blob, "history": _history(clone, found.id)}
        text = sighting.text if sighting.clash is None else _both(sighting)
        return Shown(found.id, "memory", sighting.path, text, fields)
    for store in clone.stores:
        path = os.path.join(store.candidates, f"{found.id}.md")
        if os.path.isfile(path):
            text = fsio.read(path, limit=MAX_SUMMARY).decode("utf-8", "replace")
            return Shown(found.id, "candidate", path, text, {"history": _history(clone, found.id)})
    return Shown(found.id, "memory", None, None, {"history": _history(clone, found.id)})


def _both(sighting: Sighting) -> str:
    return f"Waiting here:\n\n{sighting.text}\n\nIn the branch's history:\n\n{sighting.clash}"


def _history(clone: Clone, identity: str) -> list[str]:
    return [f"{e.ts[:19]} {e.kind}" for e in clone.all_events() if e.target == identity]
