"""Contexts for agents, the record of what each agent was given, and the journal.

A pack is a context as a value: its sections and lines, before it is printed.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.curation import memory_conflicts
from holdfast.errors import HoldfastError
from holdfast.git import approvals, upstream
from holdfast.index import hit_text, refresh
from holdfast.index.corpus import likely_files
from holdfast.index.corpus import update as repository
from holdfast.model import event as model_event
from holdfast.model import memory as model_memory
from holdfast.model.ids import SESSION, is_id, pick, token
from holdfast.patterns import regex
from holdfast.project import guard_file
from holdfast.project.concern import Concern
from holdfast.recall import applicable_memories, daily_journal, search
from holdfast.recall.pack import context_pack, material, pack_lines, sections
from holdfast.recall.pack import sent_packs as given
from holdfast.store import capsule, fsio, layout, receipt_files, session_files, tally
from holdfast.values import replace
from holdfast.work import task_board as boards

if TYPE_CHECKING:
    from holdfast.curation.decisions import MemoryStanding
    from holdfast.recall.applicable_memories import KnownMemory
    from holdfast.recall.pack.material import PackMaterial, PackRequest, RecalledItem

ACTIVE = "context/active.md"  # the view for agents that read a file
MARKER = 8  # random characters around the data: enough that its author cannot guess them
MAX_ASKED, MAX_FILES = 2000, 500  # characters of a question, files it names; guesses: far more than people type
_ON_REQUEST = ("T0", "T1", "T2")  # agents never get memories from elsewhere that nobody here reviewed
_CONSIDERED = 4 * sections.MOST_FOUND  # hits to choose from, so that memories can come before work; a guess
_LEAST_OF_BEST = 0.5  # of the best hit's score; a guess: hits below half of it are about something else
_WORK = ("session", "task", "run")
_DECIDED = ("accept", "promote", "edit")


_OID = regex(r"\b([0-9a-f]{12})[0-9a-f]{28,52}\b")


class ContextBuilder(Concern):
    """Contexts for new sessions and tasks."""

    _search: search.TextSearch | None = None
    _unasked: tuple[object, list[MemoryStanding]] | None = None  # a state, and its memories that agents get unasked

    def __call__(
        self, asked: str | None = None, files: Sequence[str] = (), *, budget: int | None = None
    ) -> context_pack.ContextPack:
        """Builds the pack for a session that starts here, within a budget of tokens.

        `asked` describes the work to do, `files` the files it concerns, relative to the repository's top.
        Within a run, or with a session open here, the pack is stored as it was sent.
        """
        began = time.perf_counter_ns()
        # Taken before reading, so that a change made meanwhile counts as new.
        self.project.seen = refresh.signature_of(self.clone, parts=("value",))
        known = self.project.memory.knowledge()
        self.project.listed, standings = (self.project.seen, known), known.standings
        found = self.material(asked or "", files, standings)
        packed = context_pack.build_pack(
            found,
            budget=budget or self.settings.number("context.budget"),
            marker=token(MARKER),
            sections=self.settings.context_sections,
            clean=self.clone.scan.text,
        )
        took = (time.perf_counter_ns() - began) // 1000
        tally.count_context(self.clone.layout, given.counted_of(packed), took)
        if not asked:  # the file answers no question, so it holds only what agents get unasked
            self.project.views.write_quietly(ACTIVE, context_pack.pack_text(packed))
        # Memories that came by git and that agents would get if this clone trusted their origin.
        would = ("accepted", "stale", "unreviewed", approvals.EDITED)
        silent = 0 if found.known else sum(one.trust == "T4" and one.status in would for one in standings)
        missing = None if found.known else upstream.missing_from_trunk(self.clone)
        return replace(packed, receipt=self.keep_receipt(packed, found), silent=silent, unmerged=missing)

    def for_task(self, asked: str, files: Sequence[str] = ()) -> context_pack.ContextPack:
        """Builds the pack of approved memories for a task, for an agent that gets the task itself.

        It has no sessions, no other tasks and nothing unapproved. It is stored with the run of this process.
        """
        approved = self._approved()
        top, clean = self.clone.repo.top, self.clone.scan.text(" ".join(asked.split()))[:MAX_ASKED]
        named = tuple(dict.fromkeys(applicable_memories.inside(path, top=top) for path in files[:MAX_FILES]))
        known = self.known(approved, self._against(approved))
        likely = self._likely(clean, known) if clean and not named else None
        found = material.of_task(self.clone, material.PackRequest(clean, named, likely=likely), known)
        packed = context_pack.build_pack(
            found,
            budget=self.settings.number("context.budget"),
            marker=token(MARKER),
            sections=self.settings.context_sections,
            clean=self.clone.scan.text,
        )
        return replace(packed, receipt=self.keep_receipt(packed, found))

    def _approved(self) -> list[MemoryStanding]:
        """Returns the memories that agents get unasked; read again if HEAD's memory or pending changes differ."""
        key = (self.clone.repo.tree_id("HEAD", layout.TRACKED), fsio.facts(self.clone.layout.pending))
        if self._unasked is None or self._unasked[0] != key:
            standings = self.project.memory.knowledge().standings
            self._unasked = (key, [one for one in standings if guard_file.is_shown_to_agents(one)])
        return self._unasked[1]

    def material(self, asked: str, files: Sequence[str], standings: Sequence[MemoryStanding]) -> PackMaterial:
        """Collects all that the pack may contain."""
        approved = [one for one in standings if guard_file.is_shown_to_agents(one)]
        expiries = [one.memory.expires_at for one in approved if one.memory.expires_at]
        against = self._against(standings)
        known, request = self.known(approved, against), self._asked(asked, files, standings, against)
        if request.words and not request.files:
            request = replace(request, likely=self._likely(request.words, known))
        found = material.gather(
            self.clone,
            known=known,
            known_until=model_event.timestamp(min(expiries)) if expiries else None,
            asked=request,
            trunk=self.settings.trunk,
            with_sessions=self.settings.has("sessions"),
            with_tasks=self.settings.has("tasks"),
            journal=self.settings.journal_path,
        )
        shaky: dict[str, list[str]] = defaultdict(list)
        for one in self.project.tasks.shaky(found.board.tasks if found.board else ()):
            shaky[one.task].append(f"{one.memory}, {one.status}")
        return replace(found, shaky={task: "; ".join(memories) for task, memories in shaky.items()})

    def _against(self, standings: Sequence[MemoryStanding]) -> Mapping[str, tuple[str, ...]]:
        """Returns the memories that each memory contradicts, if nobody has decided and their trust is not lower."""
        by_id = {one.id: one for one in standings}
        found: dict[str, list[str]] = defaultdict(list)
        for pair in memory_conflicts.standing_conflicts(self.clone, standings, memory_conflicts.KnownClaims(standings)):
            for one, other in ((pair.one.id, pair.other.id), (pair.other.id, pair.one.id)):
                # A memory that an agent promoted casts no doubt on one that a person approved.
                if (by_id[other].trust or "") <= (by_id[one].trust or ""):
                    found[one].append(other)
        return {name: tuple(sorted(others)) for name, others in found.items()}

    def known(self, standings: Sequence[MemoryStanding], against: Mapping[str, tuple[str, ...]]) -> list[KnownMemory]:
        """Converts memories to the form that a pack takes."""
        names = {one.id for one in standings}
        decided = {
            event.target: event.ts
            for event in (self.clone.find_events("own", kinds=_DECIDED, targets=names) if names else ())
        }
        return [_as_known(one, decided.get(one.id, ""), against.get(one.id, ())) for one in standings]

    def _asked(
        self,
        words: str,
        files: Sequence[str],
        standings: Sequence[MemoryStanding],
        against: Mapping[str, tuple[str, ...]],
    ) -> PackRequest:
        """Returns the request, with the unapproved hits that recall finds for it."""
        clean = self.clone.scan.text(" ".join(words.split()))[:MAX_ASKED]
        top = self.clone.repo.top
        named = tuple(dict.fromkeys(applicable_memories.inside(path, top=top) for path in files[:MAX_FILES]))
        self._note_missing_paths(named)
        words = " ".join(applicable_memories.telling(clean))
        self._search = self._search or (search.TextSearch(self.clone) if words else None)
        hits = self._search.search(words, limit=_CONSIDERED) if self._search and words else []
        # By path as well: where two files claim one id, only the text of the approved one is approved.
        known = {(one.id, one.path): one for one in standings}
        pairs = [(hit, known.get((hit.id, hit.path))) for hit in hits if hit.score >= hits[0].score * _LEAST_OF_BEST]
        found = [_as_found(hit, one, against.get(hit.id, ())) for hit, one in pairs if _may_be_found(hit, one)]
        found = list(self._of_runs(found, clean))
        found.sort(key=lambda one: _WORK.index(one.kind) if one.kind in _WORK else -1)
        return material.PackRequest(clean, named, tuple(found))

    def _likely(self, words: str, known: Sequence[KnownMemory]) -> Mapping[str, float] | None:
        """Returns the files that a task is likely about, as far as commits and code are indexed; it does not index."""
        corpus, cited = repository.path_of(self.clone), {path for one in known for path in one.cites}
        return likely_files.likely_files(corpus, applicable_memories.spellings(words), cited) if cited else None

    def _of_runs(self, found: Iterable[RecalledItem], asked: str) -> Iterable[RecalledItem]:
        """Yields the items, but a run only if its task or its summary shares words with the question."""
        runs = {one.id for one in found if one.kind == "run"}
        bodies = {e.run_id: e for e in (self.clone.find_events(runs=runs) if runs else ())}
        for one in found:
            if one.kind != "run":
                yield one
                continue
            text = pack_lines.run_in_words(self.clone.joined(bodies[one.id])) if one.id in bodies else ""
            if applicable_memories.shares_words(text, asked):
                yield replace(one, title=text, text="")

    def _note_missing_paths(self, named: Sequence[str]) -> None:
        """Notes paths that git does not track: no memory applies to a mistyped path, and that looks like an answer."""
        top = self.clone.repo.top
        lacking = [path for path in named if not os.path.lexists(os.path.join(top, path))]
        if not lacking:
            return
        rows = self.clone.repo.run("--literal-pathspecs", "ls-files", "-z", "--", *lacking).split(b"\0")
        tracked = [f"{os.fsdecode(row)}/" for row in rows if row]
        lacking = [path for path in lacking if not any(row.startswith(f"{path.rstrip('/')}/") for row in tracked)]
        if lacking:
            more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
            self.clone.notes.append(f"no tracked file at {', '.join(lacking[:3])}{more}")

    def close(self) -> None:
        """Closes the index before it is deleted."""
        if self._search is not None:
            self._search.close()
            self._search = None

    def keep_receipt(self, packed: context_pack.ContextPack, found: PackMaterial) -> pack_lines.PackReceipt:
        """Stores a pack with the run of this process, else with the session open here."""
        now = self.clone.now()
        owner = self.project.parent_run if self.project.parent_run and is_id(self.project.parent_run) else None
        if owner is None or not given.is_under_way(self.clone, owner):
            here = found.thread
            owner = here.session.id if here is not None and here.is_here else None
        if owner is None:
            return pack_lines.PackReceipt(now)
        try:
            kept = given.keep(self.clone, packed, owner=owner, ts=now)
        except (HoldfastError, OSError) as error:
            self.clone.notes.append(f"the context was not stored with {owner}: {error}")
            return pack_lines.PackReceipt(now)
        return pack_lines.PackReceipt(now, owner, kept.number, kept.root)

    def receipts(
        self, name: str, *, now: Callable[[], Mapping[str, given.CurrentStanding]] | None = None
    ) -> given.AgentKnowledge:
        """Returns what an agent was given in a run or a session, and the current state of each entry.

        `now` gives the current states, if they were read already; they are read only if there is something to show.
        """
        owners = receipt_files.owners(self.clone.stores)
        asked = self.clone.find_events("all", kinds=("run",), beginnings=(name.removeprefix("run:"),))
        runs = {event.run_id for event in asked if event.run_id}
        runs |= {run for store in self.clone.stores for run in capsule.opened(store)}
        there = {run for store in self.clone.stores for run in session_files.ids(store)}
        owner = pick(name.removeprefix("run:"), {*owners, *runs, *there})
        is_session = owner in there or (owner not in runs and owner.startswith(f"{SESSION}-"))
        kind = "session" if is_session else "run"
        found = given.knew(self.clone, owner, kind=kind, now={})
        return given.knew(self.clone, owner, kind=kind, now=(now or self.open_session)()) if found.packs else found

    def open_session(self) -> Mapping[str, given.CurrentStanding]:
        """Returns the current state of memories, tasks and sessions, by id."""
        found = self.project.memory.knowledge()
        now = {one.id: given.CurrentStanding("in clash", None) for one in found.clashes}
        now |= {one.id: given.CurrentStanding(one.status, one.blob) for one in found.standings}
        if self.settings.has("tasks"):
            placed = boards.read(self.clone).placed
            now |= {name: given.CurrentStanding("", one.blob) for name, one in placed.items()}
        sessions = session_files.everywhere(self.clone.stores)
        return now | {one.id: given.CurrentStanding("", material.revision(self.clone.repo, one)) for one in sessions}

    def journal(self, asked: str = "today", *, everywhere: bool = False) -> str:
        """Returns the journal of a day (today, yesterday, 2026-11-15), with `everywhere` also other branches' work."""
        self.project.needs("journal")
        when = daily_journal.named(asked, self.clone.clock())
        folder = self.settings.journal_path
        found = daily_journal.days(self.clone, only=[when], everywhere=everywhere, folder=folder)
        return daily_journal.text(found.get(when, daily_journal.JournalDay(when)))

    def render_journal(self, only: Collection[str] | None = None) -> list[str]:
        """Writes the journals of days that changed, of all days or only of some; returns their paths."""
        self.project.needs("journal")
        return daily_journal.write(self.clone, folder=self.settings.journal_path, only=only)

    def pack(self, *, budget: int) -> context_pack.ContextPack:
        """Builds the pack for a session that starts here; the caller that delivers it stores the receipt."""
        # Taken before reading, so that a change made meanwhile is not missed.
        self.project.seen = refresh.signature_of(self.clone)
        return context_pack.build_pack(
            self.material("", (), self.project.memory.knowledge().standings),
            budget=min(budget, self.settings.number("context.budget")),
            marker=token(MARKER),
            sections=self.settings.context_sections,
            clean=self.clone.scan.text,
        )

    def render_guards(self) -> None:
        """Writes the guard file: the memories that agents see before an edit or a command."""
        guard_file.write(self.clone, self.project.memory.knowledge().standings)

    def keep_ready(self, answers: Mapping[str, tuple[str, str]], *, signature: str) -> None:
        """Stores answers as printed, for the quick path, until a fact expires or the signature changes."""
        listed = self.project.listed
        known = listed[1] if listed and listed[0] is self.project.seen else self.project.memory.knowledge()
        expiries = [one.memory.expires_at for one in known.trusted if one.memory.expires_at]
        until = model_event.timestamp(min(expiries)) if expiries else None
        refresh.keep_ready(self.clone, answers, signature=signature, valid_until=until, is_clean=True)


def _as_known(one: MemoryStanding, updated: str, against: tuple[str, ...]) -> KnownMemory:
    memory = one.memory
    cites, names = pack_lines.cited_places(memory.evidence) if memory.evidence else ((), ())
    return applicable_memories.KnownMemory(
        id=memory.id,
        type=memory.type,
        statement=memory.statement,
        applies_to=memory.applies_to,
        tags=memory.tags,
        confidence=memory.confidence,
        source=memory.source,
        why=pack_lines.memory_grounds(memory) if memory.details else "",
        blob=one.blob,
        updated=updated,
        doubt=_OID.sub(r"\1", "; ".join(one.notes)) if one.notes else "",
        cites=cites,
        names=names,
        against=against,
    )


def _may_be_found(hit: search.Hit, one: MemoryStanding | None) -> bool:
    """Whether an unreviewed hit may answer a question: work of this clone, or a memory of sufficient trust."""
    if hit.kind not in model_memory.TYPES:
        return hit.kind in _WORK
    if one is None or guard_file.is_shown_to_agents(one):
        return False
    shown = ("accepted", "unreviewed", approvals.EDITED, approvals.UNCHECKED, "stale", "expired")
    return one.status in shown and one.trust in _ON_REQUEST


def _as_found(hit: search.Hit, one: MemoryStanding | None, against: Sequence[str]) -> RecalledItem:
    if one is None:
        text = pack_lines.beyond_title(hit.title, hit.text)
        return material.RecalledItem(id=hit.id, kind=hit.kind, title=hit.title, text=text, state=hit.state)
    title = one.memory.statement
    text = pack_lines.further_paragraphs(one.memory.details, statement=title)
    state = ", ".join([*_state_words(one), *([f"contradicts {', '.join(against[:3])}"] if against else [])])
    return material.RecalledItem(id=hit.id, kind=hit.kind, title=title, text=text, state=state, blob=one.blob)


def _state_words(one: MemoryStanding) -> Iterable[str]:
    """Yields the state of a memory that agents do not get unasked: who approved it, and whether it still holds."""
    if one.status in ("unreviewed", approvals.EDITED, approvals.UNCHECKED):
        yield one.status
    else:
        yield "approved" if one.trust == "T0" else hit_text.PROMOTED
    if one.status in ("stale", "expired"):
        yield f"but {one.status}" if one.trust == "T0" else one.status
