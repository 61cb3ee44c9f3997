"""Pages: views that show memories of one type together, and what an edited page changes.

A page starts with a comment that names branch, HEAD, time and base, the fingerprint of its content. Derived values are
shown among an entry's fields and ignored when the page is read back: when it was `updated`, and its `standing` if the
status alone would mislead. Hidden characters are shown as marks, so that a person sees them; the entry keeps its
characters unless that person changes it.

An edited page is accepted as a whole if its base is still current; otherwise it is stored aside and reported. A changed
entry becomes a pending change of its file, with an event that approves nothing: it waits for review. A new entry
becomes a candidate, and a changed candidate stays one. An entry missing from a page is not deleted: such an edit is
refused, because its author intended something.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from holdfast.curation import candidates, decisions, memory_state, propose
from holdfast.curation.memory_state import MemoryListing, VisibleMemory
from holdfast.errors import BadInput, HoldfastError
from holdfast.git import approvals, conflict_sides, view_edits
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.model.memory import Accepted, Candidate, Retired
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.store import frontmatter, markdown_document, memory_files
from holdfast.values import field, frozen, replace

OF_KIND = {kind: f"{kind}s.md" for kind in ("decision", "assumption", "invariant", "dead-end")}
CANDIDATES = "candidates.md"
NAMES = view_edits.MEMORY_PAGES
DERIVED = ("updated", "standing")

_HEADER = regex(r"\A\s*<!--(.*?)-->[^\S\n]*(?:\n|\Z)", re.DOTALL)
_BASE = regex(r"^base: ([0-9a-f]{32})$", re.MULTILINE)
_DERIVED = regex(rf"(?:{'|'.join(DERIVED)}):(?:\s|\Z)")


_UNFIT, _DERIVED_HERE = "!", "\0"  # no entry starts with the first or contains the second


@frozen
class PageItem:
    """One entry of a page: its text in its file, and the derived values."""

    id: str
    text: str
    blob: str
    updated: str | None = None
    standing: str | None = None
    ready: str = ""  # the result of `prepared` for its text, if known


@frozen
class MemoryPage:
    """The content of a view of memories."""

    name: str
    items: tuple[PageItem, ...] = ()
    left_out: tuple[str, ...] = ()  # entries that cannot be shown, with the reason

    @property
    def base(self) -> str:
        """Returns the fingerprint of the page's entries: equal bases, equal entries."""
        shown = "\n".join(sorted(f"{item.id} {item.blob}" for item in self.items))
        return hashlib.sha256(f"{self.name}\n{shown}".encode()).hexdigest()[:32]


@frozen
class EditedEntry:
    """One entry of an edited page."""

    raw: str
    line: int

    @property
    def text(self) -> str:
        """Returns the entry without derived values."""
        return _without_derived_fields(self.raw)


def make_page(name: str, items: Iterable[PageItem], left_out: Iterable[str] = ()) -> MemoryPage:
    """Returns a page of the entries that a page can represent; the others are listed with the reason."""
    shown, out = [], list(left_out)
    for item in items:
        ready = item.ready or prepared(item.text)
        if ready.startswith(_UNFIT):
            out.append(f"{item.id} {ready[1:]}")
        else:
            shown.append(replace(item, ready=ready))
    return MemoryPage(name, tuple(shown), tuple(out))


def prepared(text: str) -> str:
    """Returns an entry as a page shows it, with a mark for derived values; or why a page cannot show it."""
    clean = _clean(text)
    if ("```" in clean or "~~~" in clean) and markdown_document.has_open_fence(clean):
        return f"{_UNFIT}opens a code fence and never closes it"
    front, _ = _split_frontmatter(clean)
    if not all(map(str.strip, front)):
        return f"{_UNFIT}has a blank line among its fields"
    if not any(line.startswith(("id:", "type:")) for line in front):
        return f"{_UNFIT}has its id and its type in quotes"
    return _without_derived_fields(clean, _DERIVED_HERE)


def _without_derived_fields(text: str, mark: str = "") -> str:
    """Returns an entry without derived values, with a mark in their place."""
    front, body = _split_frontmatter(text)
    # The entry's own fields, one below the other; a field may continue in indented lines.
    kept, skipping = [], False
    for line in (line for line in front if line != frontmatter.SEPARATOR):
        skipping = bool(_DERIVED.match(line)) or (skipping and line[:1] in (" ", "\t", "-"))
        if not skipping:
            kept.append(line)
    return "\n".join(["---", *kept, f"{mark}---", body.rstrip()]).rstrip() + "\n"


def render_page(page: MemoryPage, *, branch: str | None, head: str | None, time: str) -> str:
    """Returns the page as a file's text."""
    kind = next((kind for kind, name in OF_KIND.items() if name == page.name), "fact")
    what = "the words of a candidate" if page.name == CANDIDATES else "an entry"
    header = [
        *(f"Rendered by Holdfast at {time}", f"branch: {branch or 'none'}", f"head: {head or 'none'}"),
        f"base: {page.base}",
        f"Change {what}, or add one: `type: {kind}` and no id. The next command reads it, and it waits for review.",
        "Deleting an entry here does not delete it. `updated` and `standing` are derived.",
        *(f"left out: {' '.join(why.split())}" for why in page.left_out),
    ]
    lines = (visible(line).replace("-->", "-- >") for line in header)
    return "\n".join(["<!--", *lines, "-->", "", *map(entry_text, page.items)])


def entry_text(item: PageItem) -> str:
    """Returns an entry as the page shows it."""
    derived = (("updated", item.updated), ("standing", item.standing))
    return item.ready.replace(_DERIVED_HERE, "".join(f"{name}: {value}\n" for name, value in derived if value), 1)


def without_derived(text: str) -> str:
    """Returns an entry's text as an untouched page returns it."""
    return _without_derived_fields(_clean(text))


def _clean(text: str) -> str:
    return visible(text.removeprefix("\ufeff"))


def _split_frontmatter(text: str) -> tuple[list[str], str]:
    """Returns the lines of the frontmatter, and the text after it."""
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines[1:], 1) if line == "---"), len(lines))
    return lines[1:end], "\n".join(lines[end + 1 :])


def read_page(text: str) -> tuple[str, list[EditedEntry]]:
    """Returns the base and the entries of an edited page; BadInput says what cannot be read, and where."""
    clean = text.removeprefix("\ufeff").replace("\r\n", "\n")
    header = _HEADER.match(clean)
    base = _BASE.search(header[1]) if header else None
    if header is None or base is None:
        raise BadInput("line 1: its header is missing, so its base is unknown")
    if markdown_document.is_unmerged(clean):
        raise BadInput("line 1: it contains the marks of an unresolved merge")
    rest = clean[header.end() :]
    first = clean.count("\n", 0, header.end())
    found = [] if not rest.strip() else markdown_document.pieces(f"{_LEAD}\n{rest}")
    entries = []
    for piece in found:
        line = piece.line + first - 1
        if piece.text.startswith("---\n"):
            entries.append(EditedEntry(piece.text, line))
        elif piece.text.strip() != _LEAD:
            words = (n for n, words in enumerate(piece.text.split("\n")) if words.strip() and words != _LEAD)
            raise BadInput(f"line {line + next(words, 0)}: this text belongs to no entry")
    return base[1], entries


_LEAD = "<!-- -->"


MOST_NOTES = 20  # notes of one edit; a guess: a screen
_KEPT = ("id", "type", "line", "provenance", "suggests", "because")  # of a candidate, whatever its words
_PROPOSED = (
    *("statement", "details", "layer", "confidence", "tags", "applies_to"),
    *("supersedes", "compatible_with", "expires_at", "source"),
)


@frozen
class PageOutcome:
    """The result of an edited page."""

    name: str
    changed: tuple[str, ...] = ()
    proposed: tuple[str, ...] = ()
    refused: str | None = None  # why the edit was refused
    kept: str | None = None  # the file with the refused text


_Seen = dict[tuple[str, str], VisibleMemory]  # by path and id


# Rendering.


@frozen
class ShownPages:
    """The current pages, and the entries behind them."""

    pages: tuple[MemoryPage, ...]
    seen: Mapping[str, VisibleMemory] = field(default_factory=dict)
    shelf: candidates.CandidateShelf = field(default_factory=candidates.CandidateShelf)
    clashing: Collection[str] = ()


def show_pages(clone: Clone, now: datetime) -> tuple[ShownPages, MemoryListing]:
    """Returns every page, and the state of the memories on them."""
    listing, seen = memory_state.list_with_entries(clone, now)
    updated, shelf = _updated(clone), candidates.read(clone)
    pages = [_page(clone, kind, listing, seen, updated) for kind in OF_KIND] + [show_candidates(clone, shelf)]
    clashing = [one.id for one in listing.clashes]
    return ShownPages(tuple(pages), {one.memory.id: one for one in seen.values()}, shelf, clashing), listing


def _updated(clone: Clone, names: Collection[str] | None = None) -> dict[str, str]:
    """Returns the time of each memory's last event, as far as it is visible here."""
    latest: dict[str, str] = {}
    for event in clone.find_events(kinds=("propose", *approvals.DECISIONS, "join"), targets=names):
        if event.target is not None and event.ts > latest.get(event.target, ""):
            latest[event.target] = event.ts
    return {name: f"{ts[:19]}Z" for name, ts in latest.items()}


def _page(clone: Clone, kind: str, found: MemoryListing, seen: _Seen, updated: Mapping[str, str]) -> MemoryPage:
    standings = [one for one in found.standings if one.memory.type == kind]
    texts = {(s := seen[one.path or "", one.id].sighting).blob: s.text for one in standings}
    clean = clone.entry_memo.clean
    texts = {blob: text if blob in clean else clone.hide.text(text) for blob, text in texts.items()}
    ready = clone.entry_memo.shown("page", texts, prepared)
    items = []
    for one in standings:
        status = None if one.status in ("accepted", "deprecated") else one.status
        blob = one.blob or ""
        items.append(PageItem(one.id, texts[blob], blob, updated.get(one.id), status, ready[blob]))
    folder = f"/{kind}s/"
    out = [one.message for one in found.broken if folder in one.path]
    out += [f"{one.path}: {one.id} is in conflict" for one in found.clashes if folder in one.path]
    return make_page(OF_KIND[kind], items, out)


def show_candidates(clone: Clone, shelf: candidates.CandidateShelf | None = None) -> MemoryPage:
    """Returns the page of candidates."""
    shelf = shelf or candidates.read(clone)
    line, items, elsewhere = clone.line(), [], 0
    updated = _updated(clone, [memory.id for memory in shelf.waiting.values()])
    for memory in shelf.waiting.values():
        since = updated.get(memory.id)
        if memory.line != line.id and not line.sees(memory.line, since or clone.now()):
            elsewhere += 1
            continue
        text = clone.hide.text(memory_files.render(memory))
        items.append(PageItem(memory.id, text, clone.repo.hash_blob(text.encode()), since))
    out = [str(error) for error in shelf.broken]
    out += [f"{elsewhere:,} more on other branches: holdfast review list"] if elsewhere else []
    return make_page(CANDIDATES, items, out)


# Reading edits.


def take_page(clone: Clone, name: str, data: bytes) -> PageOutcome:
    """Applies an edited page as a whole, or stores its text aside; the clone's notes report it."""
    try:
        plan = _plan(clone, name, view_edits.decoded(data))
        proposed = _store(clone, plan)
    except HoldfastError as error:
        why = re.sub(r"^line (\d+): ", rf"{name}:\1 ", str(error))  # as editors understand it
        return PageOutcome(name, refused=why, kept=view_edits.refused(clone, name, data, why))
    view_edits.remember(clone, name, data)
    changed = (*plan.entries, *plan.candidates)
    notes = [f"{one} edited in {name}: {', '.join(plan.said[one]) or 'only its form'}" for one in changed]
    notes += [f"{one} proposed in {name}; it waits for review" for one in proposed]
    clone.notes.extend(notes[:MOST_NOTES])
    if len(notes) > MOST_NOTES:
        clone.notes.append(f"and {len(notes) - MOST_NOTES:,} more changes in {name}")
    if plan.entries:
        clone.notes.append(f"an edit counts once a person accepts it: holdfast review accept {changed[0]}")
    return PageOutcome(name, changed, tuple(proposed))


@frozen
class _Plan:
    """The changes that an edited page makes, after all checks."""

    entries: dict[str, tuple[VisibleMemory, str]] = field(default_factory=dict)  # by id: the entry and its new text
    candidates: dict[str, Candidate] = field(default_factory=dict)
    new: list[memory_files.EntrySketch] = field(default_factory=list)
    said: dict[str, tuple[str, ...]] = field(default_factory=dict)


def _plan(clone: Clone, name: str, text: str) -> _Plan:
    base, found = read_page(text)
    now, _ = show_pages(clone, clone.clock())
    page = next(page for page in now.pages if page.name == name)
    if base != page.base:
        raise BadInput("its memories changed since it was rendered; edit the current page")
    shown = {item.id: without_derived(item.text) for item in page.items}
    untouched = {text: name for name, text in shown.items()}
    plan = _Plan()
    seen_ids: set[str] = set()
    for entry in found:
        identity = untouched.get(entry.text) or _id_of(entry, name)
        if identity in seen_ids:
            raise BadInput(f"line {entry.line}: {identity} is on the page twice")
        seen_ids.update({identity} if identity else ())
        if identity not in shown:
            _add(clone, plan, entry, name, now)
        elif entry.text != shown[identity]:
            _refuse_secret(clone, entry)
            _change(plan, entry, name, identity, now)
    if missing := next((one for one in shown if one not in seen_ids), None):
        end = f"holdfast review {'reject' if name == CANDIDATES else 'retire'} {missing}"
        raise BadInput(f"{missing} is missing, and deleting it here has no effect: use `{end}`")
    return plan


def _id_of(entry: EditedEntry, name: str) -> str | None:
    fields = markdown_document.read(entry.raw, name, needed=(), line=entry.line).fields
    value = fields["id"].value if "id" in fields else None
    return value if isinstance(value, str) else None


def _refuse_secret(clone: Clone, entry: EditedEntry) -> None:
    clean = clone.scan.text(entry.raw)
    if clean != entry.raw:
        pairs = enumerate(zip(entry.raw.split("\n"), clean.split("\n"), strict=False))
        line = next((number for number, (old, new) in pairs if old != new), 0)
        raise BadInput(f"line {entry.line + line}: this looks like a secret; remove it")


def _change(plan: _Plan, entry: EditedEntry, name: str, identity: str, now: ShownPages) -> None:
    """Adds an entry or a candidate with new words to the plan."""
    memory_files.parse(entry.raw, name, line=entry.line)  # errors name the line on the page
    memory = memory_files.parse(entry.text, name)
    if name == CANDIDATES:
        old = now.shelf.waiting[identity]
        if not isinstance(memory, Candidate) or any(getattr(memory, n) != getattr(old, n) for n in _KEPT):
            raise BadInput(f"line {entry.line}: only the words and the evidence of {identity} may change")
        plan.candidates[identity] = memory
        plan.said[identity] = conflict_sides.differences("", memory_files.render(old), entry.text)
        return
    seen = now.seen[identity]
    if not isinstance(memory, Accepted | Retired) or memory.type != seen.memory.type:
        raise BadInput(f"line {entry.line}: {identity} must stay a {seen.memory.type}, accepted or deprecated")
    file = seen.file or seen.sighting
    if file.origin == "edit" or file.edited not in (None, file.text):
        raise BadInput(f"{file.path} contains your own edit of {identity}, which is not overwritten: edit it there")
    plan.entries[identity] = (seen, markdown_document.laid_out(entry.text, seen.sighting.text))
    plan.said[identity] = conflict_sides.differences("", seen.sighting.text, entry.text)


def _add(clone: Clone, plan: _Plan, entry: EditedEntry, name: str, now: ShownPages) -> None:
    """Adds a new entry to the plan, if its id is free."""
    kind = next((kind for kind, page in OF_KIND.items() if page == name), None)
    made = memory_files.sketch(entry.raw, name, line=entry.line, kind=kind, ignored=DERIVED)
    _refuse_secret(clone, entry)
    if kind is not None and made.memory.type != kind:
        raise BadInput(f"line {entry.line}: this is a {made.memory.type} among {name.removesuffix('.md')}")
    if made.id in clone.erased():
        raise BadInput(f"line {entry.line}: {made.id} was erased")
    if made.id in now.clashing:
        raise BadInput(f"line {entry.line}: {made.id} was changed here and in the branch's history")
    if made.id is not None and made.id.casefold() in {one.casefold() for one in (*now.seen, *now.shelf.ids)}:
        raise BadInput(f"line {entry.line}: {made.id} exists already")
    plan.new.append(made)


# Storing.


def _store(clone: Clone, plan: _Plan) -> list[str]:
    """Stores the plan: candidates first, because only they can still be refused."""
    made = _propose(clone, plan)
    with candidates.locked(clone):
        for candidate in plan.candidates.values():
            candidates.keep(clone, candidate)
            decisions.record(clone, "propose", candidate, action="edit")
    texts = dict(_files(plan))
    for identity, (seen, text) in plan.entries.items():
        # Without the words: an edit of a page approves nothing, and withdraws the approval of the old words.
        # The blob marks the text as this clone's own.
        body = {"derived_facts": [identity], "action": "edit", "blob": clone.repo.hash_blob(text.encode("utf-8"))}
        clone.record(EventDraft("edit", target=identity, layer=seen.memory.layer, body=body))
    if texts:
        clone.change_all(texts)
    return made


def _files(plan: _Plan) -> Iterator[tuple[str, str]]:
    """Yields the new text of each changed file; several entries of one file change together."""
    by_path: dict[str, list[tuple[VisibleMemory, str]]] = {}
    for seen, text in plan.entries.values():
        by_path.setdefault(seen.sighting.path, []).append((seen, text))
    for path, found in by_path.items():
        whole = (found[0][0].file or found[0][0].sighting).text
        for seen, text in sorted(found, key=lambda pair: -pair[0].start):  # from the end: earlier positions stay valid
            whole = whole[: seen.start] + text + whole[seen.start + len(seen.sighting.text) :]
        yield path, whole


def _propose(clone: Clone, plan: _Plan) -> list[str]:
    """Stores the new entries as candidates; if one is refused, none is stored."""
    before = set(candidates.read(clone).ids) if plan.new else set()
    made: list[str] = []
    try:
        for sketch in plan.new:
            same = {name: getattr(sketch.memory, name) for name in _PROPOSED}
            kind, cited = sketch.memory.type, sketch.evidence
            made.append(propose.propose(clone, kind=kind, evidence=cited, id=sketch.id, **same).id)
    except HoldfastError:
        for identity in made:
            if identity not in before:
                candidates.discard(clone, identity)
        raise
    return made
