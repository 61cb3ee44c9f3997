"""Hydrating: what a new session is told, what agents were told, what a day's journal says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from holdfast.curation.decisions import Standing
from holdfast.errors import BadInput, HoldfastError
from holdfast.index.refresh import signature_of
from holdfast.model.event import timestamp
from holdfast.model.ids import SESSION, is_id, pick, token
from holdfast.model.memory import TYPES
from holdfast.project.viewing import Viewing
from holdfast.recall import context, governing, journal
from holdfast.recall import receipts as given
from holdfast.recall.context import Context
from holdfast.recall.governing import Known
from holdfast.recall.pack import material
from holdfast.recall.pack.lines import Receipt
from holdfast.recall.pack.material import Asked, Found, Material
from holdfast.recall.receipts import Knew, Now
from holdfast.recall.search import Hit, TextSearch
from holdfast.store import calls, capsule, receipts, sessions, tally
from holdfast.work import board as boards

ACTIVE = "context/active.md"  # the view for agents that read a file
MARKER = 12  # characters that whoever wrote the data could not foresee
MOST_FOUND = 12  # hits that a question brings into a pack
MAX_ASKED, MAX_FILES = 2000, 500  # characters of a question, files it names
_DETAILS = 1000  # characters of the rationale that are looked at
_ON_REQUEST = ("T0", "T1", "T2")  # what came from elsewhere and nobody here looked at is never told
_WORK = ("run", "session", "task")
_DECIDED = ("accept", "promote", "edit")


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was counted in this clone."""

    since: str | None
    counts: dict[str, int]  # how contexts were found
    recalled: int = 0  # memories that were found or told
    recalls: int = 0  # how often, all together
    model_calls: int = 0  # of the user's model command, today
    model_limit: int | None = None  # a day; None if there is no such command


class Hydrating(Viewing):
    """What the next one should know."""

    def context(
        self, asked: str | None = None, files: Sequence[str] = (), *, budget: int | None = None
    ) -> Context:
        """The pack for a session that starts here, within a budget of tokens.

        `asked` says what somebody is about to do, `files` to which files, from the repository's top.
        Within a run, or with a session open here, the pack is kept as it was sent.
        """
        self.seen = signature_of(self.clone)  # before looking: what changes meanwhile must not be missed
        standings = self.knowledge().standings
        told = [one for one in standings if _speaks_unasked(one)]
        expiries = [one.memory.expires_at for one in told if one.memory.expires_at]
        found = material.gather(
            self.clone,
            known=self._known(told),
            known_until=timestamp(min(expiries)) if expiries else None,
            asked=self._asked(asked or "", files, standings),
            trunk=self.settings.trunk,
            with_sessions=self.settings.has("sessions"),
            with_tasks=self.settings.has("tasks"),
            journal=self.settings.journal_path,
        )
        packed = context.pack(
            found,
            budget=budget or self.settings.number("context.budget"),
            marker=token(MARKER),
            sections=self.settings.context_sections,
            clean=self.clone.scan.text,
        )
        tally.count(self.clone.layout, f"context.{packed.how}")
        if not asked:  # who reads the file has asked nothing: what speaks on request only is not for them
            self._view_quietly(ACTIVE, context.text(packed))
        return replace(packed, receipt=self._receipt(packed, found))

    def _known(self, told: Sequence[Standing]) -> list[Known]:
        """What may be told unasked, as a pack takes it."""
        names = {one.id for one in told}
        decided = {
            event.target: event.ts
            for event in (self.clone.own_events() if names else ())
            if event.kind in _DECIDED and event.target in names
        }
        return [_as_known(one, decided.get(one.id, "")) for one in told]

    def _asked(self, words: str, files: Sequence[str], standings: Sequence[Standing]) -> Asked:
        """What somebody asked for, and what recall finds for it: what a person approved, and the rest."""
        clean = self.clone.scan.text(" ".join(words.split()))[:MAX_ASKED]
        named = tuple(dict.fromkeys(self._inside(path) for path in files[:MAX_FILES]))
        hits = self._hits(clean) if clean else []
        # By path, too: where two files claim one id, only the approved one's words are approved.
        known = {(one.id, one.path): one for one in standings}
        pairs = [(hit, known.get((hit.id, hit.path))) for hit in hits]
        approved = frozenset(one.id for _, one in pairs if one and _speaks_unasked(one))
        found = tuple(_as_found(hit, one) for hit, one in pairs if _may_be_found(hit, one))
        return Asked(clean, named, found, approved)

    def _inside(self, path: str) -> str:
        found = governing.at_top(path, top=self.clone.repo.top)
        if found is None:
            raise BadInput(f"{path} is not in this repository", hint="Name files of this project.")
        return found

    def _hits(self, words: str) -> list[Hit]:
        if self._search is None:
            self._search = TextSearch(self.clone)
        return self._search.search(words, limit=MOST_FOUND)

    def _receipt(self, packed: Context, found: Material) -> Receipt:
        """Keep a pack for the run this is part of, else for the session open here."""
        now = self.clone.now()
        owner = self._parent if self._parent and is_id(self._parent) else None
        if owner is None or not given.is_under_way(self.clone, owner):
            here = found.thread
            owner = here.session.id if here is not None and here.is_here else None
        if owner is None:
            return Receipt(now)
        try:
            kept = given.keep(self.clone, packed, owner=owner, ts=now)
        except (HoldfastError, OSError) as error:
            self.clone.notes.append(f"what was told is not kept with {owner}: {error}")
            return Receipt(now)
        return Receipt(now, owner, kept.number, kept.root)

    def receipts(self, name: str) -> Knew:
        """What an agent was told in a run or a session, and how that stands since."""
        owners = receipts.owners(self.clone.stores)
        runs = {event.run_id for event in self.clone.all_events() if event.kind == "run" and event.run_id}
        runs |= {run for store in self.clone.stores for run in capsule.opened(store)}
        there = {run for store in self.clone.stores for run in sessions.ids(store)}
        owner = pick(name.removeprefix("run:"), {*owners, *runs, *there})
        is_session = owner in there or (owner not in runs and owner.startswith(f"{SESSION}-"))
        return given.knew(self.clone, owner, kind="session" if is_session else "run", now=self._now())

    def _now(self) -> Mapping[str, Now]:
        """How memories, tasks and sessions stand here."""
        found = self.knowledge()
        now = {one.id: Now("in clash", None) for one in found.clashes}
        now |= {one.id: Now(one.status, one.blob) for one in found.standings}
        if self.settings.has("tasks"):
            placed = boards.read(self.clone).placed
            now |= {name: Now("", one.blob) for name, one in placed.items()}
        told = sessions.everywhere(self.clone.stores)
        return now | {one.id: Now("", material.revision(self.clone.repo, one)) for one in told}

    def journal(self, asked: str = "today", *, everywhere: bool = False) -> str:
        """What happened on a day (today, yesterday, 2026-11-15), other branches' work only if asked for."""
        self._needs("journal")
        when = journal.named(asked, self.clone.clock())
        folder = self.settings.journal_path
        found = journal.days(self.clone, only=[when], everywhere=everywhere, folder=folder)
        return journal.text(found.get(when, journal.Day(when)))

    def render_journal(self, only: Collection[str] | None = None) -> list[str]:
        """Write the journals of days that changed, of all days or only of some; gives their paths."""
        self._needs("journal")
        return journal.write(self.clone, folder=self.settings.journal_path, only=only)

    def statistics(self) -> Statistics:
        """How often what was counted happened in this clone."""
        began = tally.since(self.clone.layout)
        since = None if began is None else timestamp(datetime.fromtimestamp(began, UTC))
        totals = tally.totals(self.clone.layout)
        told = [number for name, number in totals.items() if name.startswith(tally.RECALLED)]
        return Statistics(
            since,
            {name: number for name, number in totals.items() if not name.startswith(tally.RECALLED)},
            recalled=len(told),
            recalls=sum(told),
            model_calls=calls.used(self.clone.layout, self.clone.now()[:10]),
            model_limit=self.settings.number("model.calls_per_day") if self.settings.model_command else None,
        )

    def reset_statistics(self) -> None:
        """Begin to count anew."""
        tally.reset(self.clone.layout)


def _speaks_unasked(one: Standing) -> bool:
    """Whether an agent may be told it without having asked (law 11)."""
    return one.status == "accepted" and one.trust == "T0"


def _as_known(one: Standing, updated: str) -> Known:
    memory = one.memory
    return Known(
        id=memory.id,
        type=memory.type,
        statement=memory.statement,
        why=" ".join(memory.details[:_DETAILS].removeprefix("Rationale:").split()),
        blob=one.blob,
        applies_to=memory.applies_to,
        tags=memory.tags,
        confidence=memory.confidence,
        source=memory.source,
        updated=updated,
        doubt="; ".join(one.notes),
    )


def _may_be_found(hit: Hit, one: Standing | None) -> bool:
    """Whether an unreviewed hit may be told to whoever asked: this clone's work, or no stranger's memory."""
    if hit.kind not in TYPES:
        return hit.kind in _WORK
    if one is None or _speaks_unasked(one):
        return False
    return one.status in ("accepted", "unreviewed", "stale") and one.trust in _ON_REQUEST


def _as_found(hit: Hit, one: Standing | None) -> Found:
    state = "promoted, not reviewed" if one and one.status == "accepted" else one.status if one else hit.state
    return Found(
        id=hit.id,
        kind=hit.kind,
        title=hit.title,
        text=hit.text,
        state=state,
        blob=one.blob if one else None,
    )
