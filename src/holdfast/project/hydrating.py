"""Hydrating: what a new session is told, what a day's journal says, and how often the thread was found."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.curation.decisions import Standing
from holdfast.index.refresh import signature_of
from holdfast.model.event import timestamp
from holdfast.model.ids import token
from holdfast.project.viewing import Viewing
from holdfast.recall import context, journal
from holdfast.recall.context import Context
from holdfast.store import tally

ACTIVE = "context/active.md"  # the view for agents that read a file
MARKER = 12  # characters that whoever wrote the data could not foresee


@dataclass(frozen=True, slots=True)
class Statistics:
    """What was counted in this clone."""

    since: str | None
    counts: dict[str, int]


class Hydrating(Viewing):
    """What the next one should know."""

    def context(self, *, budget: int | None = None) -> Context:
        """The pack for a session that starts here, within a budget of tokens."""
        self.seen = signature_of(self.clone)  # before looking: what changes meanwhile must not be missed
        facts = self._unasked()
        expiries = [fact.memory.expires_at for fact in facts if fact.memory.expires_at]
        found = context.gather(
            self.clone,
            facts=[_told(fact) for fact in facts],
            facts_until=timestamp(min(expiries)) if expiries else None,
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
        )
        tally.count(self.clone.layout, f"context.{packed.how}")
        self._view_quietly(ACTIVE, context.text(packed))
        return packed

    def _unasked(self) -> list[Standing]:
        """The facts that a person approved in this clone, the surest first."""
        approved = [fact for fact in self.facts().trusted if fact.trust == "T0"]
        return sorted(approved, key=lambda fact: (bool(fact.notes), -(fact.memory.confidence or 0), fact.id))

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
        return Statistics(since, tally.totals(self.clone.layout))

    def reset_statistics(self) -> None:
        """Begin to count anew."""
        tally.reset(self.clone.layout)


def _told(fact: Standing) -> str:
    doubt = f" ({'; '.join(fact.notes)})" if fact.notes else ""
    return f"{fact.id} {fact.memory.statement}{doubt}"
