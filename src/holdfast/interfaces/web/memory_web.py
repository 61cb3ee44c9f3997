"""The memory pages: the decision log with its filter, and one memory with its history, its evidence and its forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.errors import BadInput, HoldfastError, NotFound
from holdfast.interfaces.cli.phrases import wording
from holdfast.interfaces.web import review_web
from holdfast.interfaces.web.web_query import WebPage, WebQuery, windowed
from holdfast.model import ids
from holdfast.model.event import timestamp
from holdfast.model.evidence import OF_FILES, Provenance, parse_provenance, receipt_name
from holdfast.model.memory import TYPES
from holdfast.recall import path_patterns
from holdfast.store.memory_files import LABELS

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import Action, PageMaker
    from holdfast.model.memory import Memory

MOST_CONTEXTS = 10  # of those that held a memory; the count says how many there were
MOST_LINKS = 50  # memories of a chain; a longer one is a mistake, or a circle
_QUOTED = ("run", "session", "file", "commit")  # sources that words can be looked up in
_STATES = {"candidate": "waiting", "deprecated": "retired"}
_TOLD = {
    "propose": "proposed",
    "accept": "approved",
    "promote": "accepted",
    "edit": "edited",
    "join": "joined with another",
    "reject": "rejected",
    "retire": "retired",
}
_SERVED = {"told": "in contexts", "recalled": "found by recall", "used": "used afterwards", "looked": "shown"}


def log_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """All memories, what was decided last first, filtered."""
    asked = {name: query.one(name).strip() for name in ("q", "type", "state", "tag", "path")}
    fitting = [one for one in reading.newest if _fits(one, asked)]
    states = Counter(map(state_of, fitting))
    if asked["state"]:
        fitting = [one for one in fitting if state_of(one) == asked["state"]]
    values = {
        "asked": asked,
        "window": windowed(fitting, query),
        "total": len(reading.newest),
        "states": states,
        "types": TYPES,
        "state_of": state_of,
        "changed": reading.last_changes,
        "broken": reading.listing.broken,
        "clashes": reading.listing.clashes,
    }
    return WebPage("memories.html", values)


def state_of(one: MemoryStanding) -> str:
    """A memory's state in a word or two."""
    return _STATES.get(one.status, one.status)


def _fits(one: MemoryStanding, asked: dict[str, str]) -> bool:
    memory = one.memory
    if asked["type"] not in ("", memory.type) or (asked["tag"] and asked["tag"] not in memory.tags):
        return False
    if asked["path"] and not _is_about(memory, asked["path"].strip("/")):
        return False
    if not asked["q"]:
        return True
    text = " ".join((memory.id, memory.statement, memory.details, *memory.tags, *memory.applies_to)).casefold()
    return all(word in text for word in asked["q"].casefold().split())


def _is_about(memory: Memory, path: str) -> bool:
    """Whether a memory applies to a file or folder, or to something in it, or cites it."""
    cited = [receipt_name(text) for text in memory.evidence if text.startswith(OF_FILES)]
    if any(name == path or name.startswith((f"{path}/", f"{path}:", f"{path}#")) for name in cited):
        return True
    places = [place for place in memory.applies_to if place.strip("./*")]
    return any(place.startswith(f"{path}/") or path_patterns.holds(place, path) for place in places)


def memory_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """One memory: what it says, what it rests on, what became of it, and what can be done with it."""
    one = _named(reading, query)
    memory, book = one.memory, reading.project.memory
    counts = book.counted(one.id)
    told = book.contexts(one.id) if counts["told"] else []
    conflicts = [pair.other if pair.one.id == one.id else pair.one for pair in reading.conflicts.get(one.id, ())]
    values = {
        "one": one,
        "memory": memory,
        "state": state_of(one),
        "label": LABELS.get(memory.type, memory.type),
        "trust": wording("trust").get(str(one.trust), ""),
        "digest": review_web.memory_digest(memory),
        "waits": one.id in reading.items,
        "is_candidate": one.status == "candidate",
        "can_change": one.status not in ("candidate", "rejected"),
        "cited": book.cited(one.receipts),
        "history": [(event, _TOLD.get(event.kind, event.kind)) for event in book.history(one.id)],
        "older": _chain(reading, one.id, lambda name: _supersedes(reading, name)),
        "newer": _chain(reading, one.id, lambda name: reading.successors.get(name, ())),
        "conflicts": [(other, reading.memories.get(other.id)) for other in conflicts],
        "served": [(words, counts[name]) for name, words in _SERVED.items() if counts[name]],
        "contexts": [(_moment(context.at), context) for context in told[:MOST_CONTEXTS]],
        "said_in": review_web.passages(reading, _sources(memory)),
        "names": [receipt_name(text) for text in memory.evidence],
        "source": memory.source if (memory.source or "").partition(":")[0] in _QUOTED else "",
        "state_of": state_of,
    }
    return WebPage("memory.html", values)


def _named(reading: ProjectReading, query: WebQuery) -> MemoryStanding:
    """The memory of the address; by the start of its id, too."""
    name = query.parts["identity"]
    try:
        return reading.memories[ids.pick(name, reading.memories)]
    except NotFound:
        raise NotFound(
            f"no memory here is called {name}", hint="It may be on another branch, or erased: search for it."
        ) from None


def _supersedes(reading: ProjectReading, name: str) -> Iterable[str]:
    one = reading.memories.get(name)
    return one.memory.supersedes if one else ()


def _chain(
    reading: ProjectReading, name: str, step: Callable[[str], Iterable[str]]
) -> list[tuple[str, MemoryStanding | None]]:
    """The memories that lead on from one, nearest first; None for those that are not here."""
    found: dict[str, None] = {}
    waiting = [name]
    while waiting and len(found) < MOST_LINKS:
        for after in step(waiting.pop(0)):
            if after != name and after not in found:
                found[after] = None
                waiting.append(after)
    return [(after, reading.memories.get(after)) for after in found]


def _sources(memory: Memory) -> Iterable[Provenance]:
    """Where a memory was said: each place that a candidate noted, else its source."""
    for text in getattr(memory, "provenance", ()):
        with suppress(BadInput):  # a file written by hand
            yield parse_provenance(text)
    if not getattr(memory, "provenance", ()) and (memory.source or "").partition(":")[0] in _QUOTED:
        yield Provenance(memory.source or "", words=memory.statement)


def _moment(seconds: int) -> str:
    try:
        return timestamp(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError, ValueError):  # a damaged row
        return ""


# Changes.


def _seen(reading: ProjectReading, query: WebQuery) -> MemoryStanding:
    """The memory of a form, if it is still what the page showed."""
    one = _named(reading, query)
    if query.given("digest") != review_web.memory_digest(one.memory):
        raise HoldfastError(f"{one.id} was changed while you looked at it; nothing was done", hint="Read it again.")
    return one


def edit(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Changes a memory's text and fields, and approves it again by that."""
    one = _seen(reading, query)
    changes = review_web.changed_fields(reading, query, one.memory)
    names = tuple(line.strip() for line in query.given("evidence").splitlines() if line.strip())
    if names != tuple(receipt_name(text) for text in one.memory.evidence):
        changes["evidence"] = _evidence(one.memory, names)
    if query.given("expires"):
        changes["expires"] = query.given("expires")
    if not changes:
        return "Nothing was changed.", None
    reading.project.memory.edit(one.id, **changes)
    return f"Changed {one.id}, and approved it again.", f"/memory/{one.id}"


def _evidence(memory: Memory, names: Iterable[str]) -> list[str]:
    """Receipts for the names in a form; one that stood there already stays as it is."""
    known = {receipt_name(text): text for text in memory.evidence}
    return [known.get(name) or name.replace("commit ", "commit:", 1) for name in names]


def retire(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Says that a memory no longer holds; where no person is proven, that waits in review."""
    one = _seen(reading, query)
    return review_web.retire(reading, one.id, query.given("reason")), f"/memory/{one.id}"


def supersede(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Proposes a memory in place of this one; it waits in review."""
    one = _seen(reading, query)
    if not (statement := query.given("statement").replace("\r\n", "\n")):
        raise BadInput("the new memory says nothing", hint="Write what holds now.")
    names = [line.strip() for line in query.given("evidence").splitlines() if line.strip()]
    fields: dict[str, Any] = {"evidence": [name.replace("commit ", "commit:", 1) for name in names]}
    fields["why"] = query.given("why").replace("\r\n", "\n")
    fields["applies_to"] = review_web.comma_words(query.given("applies_to"))
    made = reading.project.memory.supersede(one.id, statement, **fields)
    where = "review" if made.status == "candidate" else "memory"
    return f"{made.id} was proposed in place of {one.id}.", f"/{where}/{made.id}"


PAGES: dict[str, PageMaker] = {"/memory": log_page, "/memory/{identity}": memory_page}
ACTIONS: dict[str, Action] = {
    "/memory/{identity}/edit": edit,
    "/memory/{identity}/retire": retire,
    "/memory/{identity}/supersede": supersede,
}
