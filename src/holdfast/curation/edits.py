"""Edited pages of memories: taken as a whole if they showed what still stands, else kept aside and said.

A changed entry becomes a change of its file that waits, with an event that approves nothing: it is in review
until a person accepts it. A new entry becomes a candidate, and a changed candidate stays one. What is missing
from a page is not deleted: such an edit is refused, because somebody meant something by it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from holdfast.curation import candidates, decisions, facts, pages
from holdfast.curation.candidates import Shelf
from holdfast.curation.facts import Facts, Seen
from holdfast.curation.pages import Entry, Item, Page
from holdfast.curation.propose import propose
from holdfast.errors import BadInput, HoldfastError
from holdfast.git import edited
from holdfast.git.clone import Clone
from holdfast.git.disputed import sides
from holdfast.model.event import Draft
from holdfast.model.memory import Accepted, Candidate, Retired
from holdfast.store import document, entries
from holdfast.store.entries import Sketch
from holdfast.values import field, frozen

MOST_NOTES = 20
_KEPT = ("id", "type", "line", "provenance", "suggests", "because")  # of a candidate, whatever its words
_STANDINGS = ("trusted", "stale", "unreviewed", "expired", "superseded", "retired")


@frozen
class Outcome:
    """What became of an edited page."""

    name: str
    changed: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    refused: str | None = None  # why nothing of it was taken
    kept: str | None = None  # the file that holds the refused text


# What pages show.


@frozen
class Shown:
    """The pages of this moment, and what their entries are in truth."""

    pages: tuple[Page, ...]
    seen: Mapping[str, Seen] = field(default_factory=dict)
    shelf: Shelf = field(default_factory=Shelf)
    clashing: Collection[str] = ()


def shown(clone: Clone, now: datetime) -> tuple[Shown, Facts]:
    """What every page has to show, and how the memories stand that they were made from."""
    found, seen = facts.told(clone, now)
    updated = _updated(clone)
    made = [_page(clone, kind, found, seen, updated) for kind in pages.OF_KIND]
    shelf = candidates.read(clone)
    made.append(_waiting(clone, shelf, updated))
    clashing = [one.id for one in found.clashes]
    return Shown(tuple(made), {one.memory.id: one for one in seen.values()}, shelf, clashing), found


def _updated(clone: Clone) -> dict[str, str]:
    """When something last happened to each memory, as far as that is visible here."""
    latest: dict[str, str] = {}
    for event in clone.events():
        if event.target is not None and event.ts > latest.get(event.target, ""):
            latest[event.target] = event.ts
    return {name: f"{ts[:19]}Z" for name, ts in latest.items()}


def _page(
    clone: Clone, kind: str, found: Facts, seen: Mapping[tuple[str, str], Seen], updated: Mapping[str, str]
) -> Page:
    items = []
    for group in _STANDINGS:
        for standing in getattr(found, group):
            if standing.memory.type == kind:
                one = seen[standing.path, standing.id].sighting
                plain = standing.status in ("accepted", "deprecated")
                status = None if plain else standing.status
                text = clone.hide.text(one.text)
                items.append(Item(standing.id, text, one.blob, updated.get(standing.id), status))
    name = pages.OF_KIND[kind]
    folder = f"/{name.removesuffix('.md')}/"
    out = [one.message for one in found.broken if folder in one.path]
    out += [f"{one.path}: {one.id} is in conflict" for one in found.clashes if folder in one.path]
    return pages.page(name, items, out)


def _waiting(clone: Clone, shelf: Shelf, updated: Mapping[str, str]) -> Page:
    line, items, elsewhere = clone.line(), [], 0
    for memory in shelf.waiting.values():
        since = updated.get(memory.id)
        if memory.line != line.id and not line.sees(memory.line, since or clone.now()):
            elsewhere += 1
            continue
        text = clone.hide.text(entries.render(memory))
        items.append(Item(memory.id, text, clone.repo.hash_blob(text.encode()), since))
    out = [str(error) for error in shelf.broken]
    out += [f"{elsewhere:,} that wait on other lines: holdfast review list"] if elsewhere else []
    return pages.page(pages.CANDIDATES, items, out)


# Taking edits.


def take(clone: Clone) -> list[Outcome]:
    """Take the pages that were edited since the last command; the clone's notes say what and what not."""
    done = []
    for name in pages.NAMES:
        outcome = edited.taken(clone, name, lambda data, name=name: _take(clone, name, data))  # type: ignore[misc]
        done += [outcome] if outcome is not None else []
    return done


def _take(clone: Clone, name: str, data: bytes) -> Outcome:
    try:
        plan = _plan(clone, name, edited.decoded(data))
        proposed = _store(clone, plan)
    except HoldfastError as error:
        why = _placed(name, str(error))
        return Outcome(name, refused=why, kept=edited.refused(clone, name, data, why))
    edited.remember(clone, name, data)
    changed = (*plan.entries, *plan.candidates)
    said = [f"{one} edited in {name}: {', '.join(plan.said[one]) or 'only its form'}" for one in changed]
    said += [f"{one} proposed in {name}; it waits in review" for one in proposed]
    clone.notes.extend(said[:MOST_NOTES])
    if len(said) > MOST_NOTES:
        clone.notes.append(f"and {len(said) - MOST_NOTES:,} more changes in {name} were taken")
    if plan.entries:
        clone.notes.append(f"what was edited counts once a person accepts it: holdfast review accept {changed[0]}")
    return Outcome(name, changed, tuple(proposed))


def _placed(name: str, reason: str) -> str:
    """A refusal with its line as editors understand it."""
    line, colon, rest = reason.removeprefix("line ").partition(": ")
    return f"{name}:{line} {rest}" if colon and line.isdigit() and reason.startswith("line ") else reason


@frozen
class _Plan:
    """What an edited page asks for; nothing speaks against any of it."""

    entries: dict[str, tuple[Seen, str]] = field(default_factory=dict)  # id to what it was and its new text
    candidates: dict[str, Candidate] = field(default_factory=dict)
    new: list[tuple[Sketch, str]] = field(default_factory=list)  # with the type of its page
    said: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _plan(clone: Clone, name: str, text: str) -> _Plan:
    base, found = pages.read(text)
    now, _ = shown(clone, clone.clock())
    page = next(page for page in now.pages if page.name == name)
    if base != page.base:
        raise BadInput("what it shows has changed since it was rendered; edit the fresh one")
    there = {item.id: pages.without_derived(item.text) for item in page.items}
    untouched = {text: name for name, text in there.items()}
    plan = _Plan()
    met: set[str] = set()
    for entry in found:
        identity = untouched.get(entry.text) or _id_of(entry, name)
        if identity in met:
            raise BadInput(f"line {entry.line}: {identity} stands here twice")
        met.update({identity} if identity else ())
        if identity not in there:
            _add(clone, plan, entry, name, now)
        elif entry.text != there[identity]:
            _refuse_secret(clone, entry)
            _change(plan, entry, name, identity, now)
    _refuse_absence(there, met, name)
    return plan


def _id_of(entry: Entry, name: str) -> str | None:
    fields = document.read(entry.raw, name, needed=(), line=entry.line).fields
    value = fields["id"].value if "id" in fields else None
    return value if isinstance(value, str) else None


def _refuse_absence(there: Iterable[str], met: Collection[str | None], name: str) -> None:
    for missing in (one for one in there if one not in met):
        end = "review reject" if name == pages.CANDIDATES else "deprecate"
        raise BadInput(
            f"{missing} is not in it any more; what is absent is not deleted: use `holdfast {end} {missing}`"
        )


def _refuse_secret(clone: Clone, entry: Entry) -> None:
    clean = clone.scan.text(entry.raw)
    if clean != entry.raw:
        pairs = enumerate(zip(entry.raw.split("\n"), clean.split("\n"), strict=False))
        line = next((number for number, (old, new) in pairs if old != new), 0)
        raise BadInput(f"line {entry.line + line}: this looks like a secret; take it out")


def _change(plan: _Plan, entry: Entry, name: str, identity: str, now: Shown) -> None:
    """An entry or a candidate in other words."""
    entries.parse(entry.raw, name, line=entry.line)  # what is wrong is said with the line as it stands there
    memory = entries.parse(entry.text, name)
    if name == pages.CANDIDATES:
        old = now.shelf.waiting[identity]
        if not isinstance(memory, Candidate) or any(getattr(memory, n) != getattr(old, n) for n in _KEPT):
            raise BadInput(f"line {entry.line}: of {identity} only the words and what they rest on may change")
        plan.candidates[identity] = memory
        plan.said[identity] = sides.differences("", entries.render(old), entry.text)
        return
    seen = now.seen[identity]
    if not isinstance(memory, Accepted | Retired) or memory.type != seen.memory.type:
        raise BadInput(f"line {entry.line}: {identity} must stay a {seen.memory.type}, accepted or deprecated")
    file = seen.file or seen.sighting
    if file.origin == "edit" or file.edited not in (None, file.text):
        raise BadInput(f"{file.path} holds your own edit of {identity}, which is not overwritten: edit it there")
    plan.entries[identity] = (seen, document.laid_out(entry.text, seen.sighting.text))
    plan.said[identity] = sides.differences("", seen.sighting.text, entry.text)


def _add(clone: Clone, plan: _Plan, entry: Entry, name: str, now: Shown) -> None:
    """A new entry, if nobody has its id."""
    kind = next((kind for kind, page in pages.OF_KIND.items() if page == name), None)
    made = entries.sketch(entry.raw, name, line=entry.line, kind=kind, ignored=pages.DERIVED)
    _refuse_secret(clone, entry)
    if kind is not None and made.memory.type != kind:
        raise BadInput(f"line {entry.line}: this is a {made.memory.type} among {name.removesuffix('.md')}")
    if made.id in clone.erased():
        raise BadInput(f"line {entry.line}: {made.id} was erased")
    if made.id in now.clashing:
        raise BadInput(f"line {entry.line}: {made.id} was changed here and in the branch's history")
    taken = {one.casefold() for one in (*now.seen, *now.shelf.ids)}
    if made.id is not None and made.id.casefold() in taken:
        raise BadInput(f"line {entry.line}: {made.id} stands elsewhere already")
    plan.new.append((made, made.memory.type))


# Storing what was taken.


def _store(clone: Clone, plan: _Plan) -> list[str]:
    """Keep all of it: candidates first, because only they may still be refused."""
    made = _propose(clone, plan)
    with candidates.locked(clone):
        for candidate in plan.candidates.values():
            candidates.keep(clone, candidate)
            decisions.record(clone, "propose", candidate, action="edit")
    texts = dict(_files(plan))
    for identity, (seen, text) in plan.entries.items():
        # Without the words: whoever edits a page has approved nothing, and takes an approval of the old
        # words back. The text is named, so that it is known as this clone's own.
        blob = clone.repo.hash_blob(text.encode("utf-8"))
        body = {"derived_facts": [identity], "action": "edit", "blob": blob}
        clone.record(Draft("edit", target=identity, layer=seen.memory.layer, body=body))
    if texts:
        clone.change_all(texts)
    return made


def _files(plan: _Plan) -> Iterator[tuple[str, str]]:
    """The whole text of each file that changes; of several entries in one, all at once."""
    by_path: dict[str, list[tuple[Seen, str]]] = {}
    for seen, text in plan.entries.values():
        by_path.setdefault(seen.sighting.path, []).append((seen, text))
    for path, found in by_path.items():
        whole = (found[0][0].file or found[0][0].sighting).text
        for seen, text in sorted(found, key=lambda pair: -pair[0].start):  # from behind: places stay true
            whole = whole[: seen.start] + text + whole[seen.start + len(seen.sighting.text) :]
        yield path, whole


def _propose(clone: Clone, plan: _Plan) -> list[str]:
    """The new entries as candidates; if one is refused, none is left."""
    before = set(candidates.read(clone).ids) if plan.new else set()
    made: list[str] = []
    try:
        for sketch, kind in plan.new:
            made.append(_proposed(clone, sketch, kind))
    except HoldfastError:
        for identity in made:
            if identity not in before:
                candidates.discard(clone, identity)
        raise
    return made


def _proposed(clone: Clone, sketch: Sketch, kind: str) -> str:
    memory = sketch.memory
    return propose(
        clone,
        statement=memory.statement,
        details=memory.details,
        kind=kind,
        layer=memory.layer,
        confidence=memory.confidence,
        evidence=sketch.evidence,
        tags=memory.tags,
        applies_to=memory.applies_to,
        supersedes=memory.supersedes,
        compatible_with=memory.compatible_with,
        expires_at=memory.expires_at,
        source=memory.source,
        id=sketch.id,
    ).id
