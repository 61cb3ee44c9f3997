"""The review pages: what waits for a decision, one item with all that bears on it, and each decision as a form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from holdfast.curation import review_queue
from holdfast.errors import BadInput, Contradicts, HoldfastError, NotFound
from holdfast.interfaces import review_filter
from holdfast.interfaces.review_filter import CANDIDATES, SINGLE, why_waiting
from holdfast.interfaces.web import page_templates
from holdfast.interfaces.web.project_reading import TOGETHER
from holdfast.interfaces.web.web_query import Unfinished, WebPage, WebQuery, WebRedirect, windowed
from holdfast.model.text import count, visible
from holdfast.store.memory_files import LABELS

if TYPE_CHECKING:
    from holdfast.curation.review_queue import QueueItem
    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import Action, PageMaker
    from holdfast.model.evidence import Provenance
    from holdfast.model.memory import Memory
    from holdfast.project.memory_book import Decided

_DONE = {"accept": "approved", "reject": "rejected", "retire": "retired", "edit": "edited", "join": "merged"}
NAMED = 6  # ids in a sentence; the rest are counted
FOR_PERSONS = ("stale", "expired", "suggested")  # what was approved is changed by a person only; nothing is promoted
AROUND = 40  # rows of the queue beside an item: a screen and a half


def queue_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """What waits, filtered as on the review screen."""
    return WebPage("review.html", {**_list(reading, query), "item": None})


def item_page(reading: ProjectReading, query: WebQuery) -> WebPage | WebRedirect:
    """One item: its text, evidence, conflicts, changes and original words; the memory itself if it was decided."""
    name = query.parts["identity"]
    try:
        return _item(reading, query, reading.item(name))
    except NotFound:
        if name not in reading.memories:
            raise
    return WebRedirect(f"/memory/{page_templates.path(name)}")


def _item(reading: ProjectReading, query: WebQuery, item: QueueItem, **more: Any) -> WebPage:
    listed = _list(reading, query, around=item.id)
    look = reading.queue.look(item)
    conflicts = [*look.conflicts, *look.hints, *look.rivals]
    memories = reading.memories
    values = {
        "item": item,
        "memory": item.standing.memory,
        "label": LABELS.get(item.standing.memory.type, item.standing.memory.type),
        "look": look,
        "sides": [(one, _marked(one.one, one.other), _marked(one.other, one.one)) for one in conflicts],
        "same": [(name, memories[name].memory.statement) for name in look.same if name in memories],
        "cited": reading.project.memory.cited(item.standing.receipts),
        "said_in": passages(reading, item.provenance),
        "is_candidate": item.reason in CANDIDATES,
        "needs_person": item.reason in FOR_PERSONS,
        "digest": memory_digest(item.standing.memory),
        "asks": "",
        **listed,
        **more,
    }
    return WebPage("review.html", values)


def _list(reading: ProjectReading, query: WebQuery, around: str | None = None) -> dict[str, Any]:
    """The queue as the filter shows it, and the neighbours of an item."""
    text = query.one("q") or query.given("q")
    wanted = review_filter.parse(text)
    everything = wanted.text or review_filter.ALL in text.lower().split()
    items = wanted(reading.queue.items) if everything else review_queue.worth_reading(reading.queue.items)
    ids = [item.id for item in items]
    at = ids.index(around) if around in ids else -1
    rows: Sequence[QueueItem] = items
    if around is not None:
        rows = items[max(0, at - AROUND // 2) : max(0, at - AROUND // 2) + AROUND]
    return {
        "filter": text,
        "window": windowed(rows, query),
        "waiting": len(reading.queue.items),
        "fitting": len(items),
        "unlikely": len(reading.queue.items) - len(items) if not everything else 0,
        "unreadable": reading.queue.unreadable,
        "undoable": reading.undoable,
        "done": _DONE,
        "why": why_waiting,
        "previous": ids[at - 1] if at > 0 else None,
        "following": ids[at + 1] if 0 <= at < len(ids) - 1 else (ids[0] if ids and at < 0 else None),
    }


def _marked(memory: Memory, other: Memory) -> list[tuple[bool, str]]:
    """A statement in pieces, and whether each is a word that the other one does not hold."""
    text, pieces, at = memory.statement, [], 0
    for begin, end in review_filter.differing(text, 0, other):
        pieces += [(False, text[at:begin]), (True, text[begin:end])]
        at = end
    return [*pieces, (False, text[at:])]


def passages(reading: ProjectReading, provenance: Iterable[Provenance]) -> list[tuple[str, Any]]:
    """Where it was said; words of one place, or noted twice, are shown once."""
    found: dict[object, tuple[str, Any]] = {}
    for one in provenance:
        passage = reading.project.memory.passage(one)
        found.setdefault((passage.title, passage.number, passage.lines or one.words), (one.words, passage))
    return list(found.values())


def memory_digest(memory: Memory) -> str:
    """What tells whether a memory is still the one that was on the page."""
    return hashlib.sha256(repr(memory).encode("utf-8", "backslashreplace")).hexdigest()[:16]


# Decisions.


def _seen(reading: ProjectReading, query: WebQuery) -> QueueItem:
    """The item of a form, if it is still what the page showed."""
    item = reading.item(query.parts["identity"])
    if query.given("digest") != memory_digest(item.standing.memory):
        raise HoldfastError(f"{item.id} was changed while you looked at it; nothing was decided", hint="Read it again.")
    return item


def _next(reading: ProjectReading, query: WebQuery, item: QueueItem) -> str:
    """The page after a decision: the next item that the filter shows, else the queue."""
    listed = _list(reading, query, around=item.id)
    name = listed["following"] or listed["previous"]
    at = WebQuery(f"/review/{name}" if name else "/review", {}, {}, {})
    return at.with_query(q=query.given("q"))


def approve(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Approves an item; asks how both are meant where it contradicts something."""
    item, wish = _seen(reading, query), _wish(query)
    target = _next(reading, query, item)
    if item.reason == "contradicts" and not wish:
        raise Unfinished(_item(reading, query, item, asks="contradiction"))
    if item.reason == "expired" and "expires" not in wish:
        raise Unfinished(_item(reading, query, item, asks="expiry"))
    try:
        done = reading.project.memory.accept_as_seen(item, **wish)
    except Contradicts:
        vars(reading).pop("queue", None)  # what contradicts it may have been approved a moment ago
        raise Unfinished(_item(reading, query, item, asks="contradiction")) from None
    verb = "Retired" if done.status == "deprecated" else "Approved"
    uncounted = "" if done.trust == "T0" or done.status != "accepted" else _uncounted(reading)
    return f"{verb} {done.id}.{uncounted}", target


def _uncounted(reading: ProjectReading) -> str:
    return f" Not counted as approved by a person: {reading.access.no_person}."


def _wish(query: WebQuery) -> dict[str, Any]:
    """What the form says about contradictions and time."""
    wish: dict[str, Any] = {}
    if query.given("how") == "supersede":
        wish["supersede"] = query.form.get("other", ())
    elif query.given("how") == "both":
        wish |= {"keep_both": True, "applies_to": comma_words(query.given("applies_to"))}
    if query.given("expires"):
        wish["expires"] = query.given("expires")
    return wish


def comma_words(text: str) -> tuple[str, ...]:
    """The words between commas, each once."""
    return tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))


def reject(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Rejects a candidate, or retires what was accepted; where no person is proven, it suggests to retire that."""
    item = _seen(reading, query)
    target, reason = _next(reading, query, item), query.given("reason")
    if item.reason not in CANDIDATES:
        return retire(reading, item.id, reason), target
    reading.project.memory.reject(item.id, reason=reason)
    return f"Rejected {item.id}.", target


def retire(reading: ProjectReading, name: str, reason: str) -> str:
    """Retires a memory, or suggests it; says which."""
    done = reading.project.memory.deprecate(name, reason=reason)
    if done.status == "candidate":
        return f"{done.id} suggests to retire {name}; a person decides."
    return f"Retired {name}; its file stays and says so."


def edit(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Changes an item's text and fields; an accepted memory is approved again by that."""
    item = _seen(reading, query)
    changes = changed_fields(reading, query, item.standing.memory)
    if not changes:
        return "Nothing was changed.", None
    target = _next(reading, query, item)
    done = reading.project.memory.edit(item.id, **changes)
    if done.status == "candidate":
        return f"Edited {item.id}; it still waits.", query.back
    return f"Edited {item.id}.", target


def changed_fields(reading: ProjectReading, query: WebQuery, memory: Memory) -> dict[str, Any]:
    """The fields of a memory that a form gives otherwise than the page showed them."""
    hide = reading.project.clone.hide.text
    texts = {name: query.given(name).replace("\r\n", "\n") for name in ("statement", "details")}
    shown = {name: (getattr(memory, name), visible(hide(getattr(memory, name)))) for name in texts}
    changes: dict[str, Any] = {name: text for name, text in texts.items() if text not in shown[name]}
    for name in ("tags", "applies_to"):
        given, had = query.given(name), getattr(memory, name)
        # A path may hold a comma: what was not touched is not taken apart.
        if given not in (", ".join(had), visible(hide(", ".join(had)))) and comma_words(given) != had:
            changes[name] = comma_words(given)
    return changes


def merge(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Merges a candidate into another memory, which gets its evidence."""
    item = _seen(reading, query)
    if not (into := query.given("into")):
        raise BadInput("no memory was named to merge into", hint="Choose one, or type its id.")
    target = _next(reading, query, item)
    done = reading.project.memory.join(item.id, into)
    return f"Merged {item.id} into {done.id}.", target


def undo(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Takes back what the button said: the last decision, or those that were made at once."""
    shown = reading.undoable
    if query.given("last") != (shown[0].id if shown else "") or query.given("many") != str(len(shown)):
        raise HoldfastError("something else was decided meanwhile; nothing was taken back", hint="Look again.")
    steps = [reading.project.memory.undo() for _ in shown]
    if len(steps) == 1:
        return f"Taken back: {_DONE.get(steps[0].action, steps[0].action)} {steps[0].id}.", f"/show/{steps[0].id}"
    return f"Taken back: {len(steps)} decisions, about {_named([step.id for step in steps])}.", "/review"


def decide_many(reading: ProjectReading, query: WebQuery) -> tuple[str, str | None]:
    """Approves or rejects what is marked, else all that the filter shows, once it was confirmed."""
    listed = _list(reading, query)
    verb = query.given("decide")
    if verb not in ("approve", "reject"):
        raise BadInput("a bulk decision approves or rejects")
    shown = listed["window"].rows
    marked = set(query.form.get("id", ()))
    chosen = [item for item in reading.queue.items if item.id in marked] if marked else [*shown]
    # What contradicts something, or came from elsewhere, is looked at one by one.
    fits = [item for item in chosen if (item.reason not in SINGLE if verb == "approve" else item.reason in CANDIDATES)]
    if query.given("confirmed") != _digest_of(fits):
        left = len(chosen) - len(fits)
        values = {"items": fits, "verb": verb, "left": left, "digest": _digest_of(fits), "filter": listed["filter"]}
        raise Unfinished(WebPage("review_many.html", {**values, "why": why_waiting, "count": count}))
    book = reading.project.memory
    done = book.accept_all(fits) if verb == "approve" else book.reject_all(fits, reason=query.given("reason"))
    reading.kept.setdefault(TOGETHER, []).insert(0, frozenset(one.id for one in done.done))
    return _account(reading, verb, done), "/review"


def _digest_of(items: Sequence[QueueItem]) -> str:
    return hashlib.sha256(
        "".join(f"{one.id}{memory_digest(one.standing.memory)}" for one in items).encode()
    ).hexdigest()


def _account(reading: ProjectReading, verb: str, done: Decided) -> str:
    """What came of many decisions."""
    past = "Approved" if verb == "approve" else "Rejected"
    said = [f"{past} {len(done.done)}."]
    if done.left:
        said.append(f"Left: {_named([name for name, _ in done.left])}: {done.left[0][1]}.")
    if any(one.trust != "T0" and one.status == "accepted" for one in done.done):
        said.append(_uncounted(reading).strip())
    return " ".join(said)


def _named(ids: Sequence[str]) -> str:
    """Some ids, and how many more there are."""
    return ", ".join(ids[:NAMED]) + (f" and {len(ids) - NAMED} more" if len(ids) > NAMED else "")


PAGES: dict[str, PageMaker] = {"/review": queue_page, "/review/{identity}": item_page}
ACTIONS: dict[str, Action] = {
    "/review/undo": undo,
    "/review/many": decide_many,
    "/review/{identity}/approve": approve,
    "/review/{identity}/reject": reject,
    "/review/{identity}/edit": edit,
    "/review/{identity}/merge": merge,
}
