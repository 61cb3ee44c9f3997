"""What was counted in this clone, in figures: how well recall serves, and what it costs.

Totals hold since counting began. Uses and times need single lines and hold for those that are still there, some ten
thousand; `recent` says how many, and since when.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from holdfast.diagnostics import usage
from holdfast.diagnostics.usage import DAY, UsageSubjects
from holdfast.git.clone import Clone
from holdfast.model.event import timestamp
from holdfast.store import statistics, tally
from holdfast.store.statistics import CountedContext, CountedLines, MemoryUse
from holdfast.values import frozen

HOWS = tuple(name.removeprefix("context.") for name in tally.CONTEXT)


@frozen
class Duration:
    """How long something took, in microseconds."""

    half: int  # the median
    most: int  # p95


@frozen(kw_only=True)
class RecallStats:
    """Questions, and what they found."""

    asked: int
    empty: int  # found nothing
    recent: int  # single lines that are still there; the rest of the figures are of these
    since: str | None
    used: int  # something that was found was cited, acted on or looked at within a day
    took: Duration | None


@frozen
class ContextStats:
    """Packs that sessions started with."""

    packs: int
    tokens: int
    took: Duration | None


@frozen
class MemoryStats:
    """One memory: how often it was found, told, looked at and used."""

    id: str
    recalled: int
    told: int
    looked: int
    used: int
    state: str  # how it stands here now; "" if it is not here


@frozen
class ModelStats:
    """What a model was asked for; no price is known, so this is what it cost."""

    what: str  # command: the user's own; embed: texts and questions
    calls: int
    texts: int
    seconds: float


@frozen(kw_only=True)
class Stats:
    """What was counted in this clone."""

    since: str | None
    recalls: RecallStats
    contexts: ContextStats
    memories: tuple[MemoryStats, ...]  # most used first
    cited: int  # uses, by their sort
    acted: int
    models: tuple[ModelStats, ...]
    calls_today: int  # of the user's model command
    calls_per_day: int | None  # None if there is no such command

    @property
    def is_empty(self) -> bool:
        return not (self.recalls.asked or self.contexts.packs or self.memories or self.models)


def stats(clone: Clone, about: UsageSubjects, *, calls_per_day: int | None) -> Stats:
    """Read and work out everything; uses that are new are kept."""
    layout = clone.layout
    uses = usage.reckon(clone, about, now=int(clone.clock().timestamp()))
    totals, counts, began = tally.totals(layout), statistics.read(layout), tally.since(layout)
    memories = tuple(_memories(totals, uses, about))
    return Stats(
        since=_moment(began),
        recalls=_recalls(totals, counts, uses),
        contexts=_contexts(totals, counts.told),
        memories=memories,
        cited=sum(use.how == statistics.CITED for use in uses),
        acted=sum(use.how == statistics.ACTED for use in uses),
        models=tuple(_models(totals)),
        calls_today=statistics.model_calls_used(layout, clone.now()[:10]),
        calls_per_day=calls_per_day,
    )


def _moment(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    try:
        return timestamp(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError, ValueError):  # no line of ours
        return None


# ── recalls ──────────────────────────────────────────────────────────────────────────────────────


def _recalls(totals: Mapping[str, int], counts: CountedLines, uses: Iterable[MemoryUse]) -> RecallStats:
    acts = UseTimes(counts, uses)
    asked = counts.asked
    return RecallStats(
        asked=totals.get("recall.asked", 0),
        empty=totals.get("recall.empty", 0),
        recent=len(asked),
        since=_moment(asked[0].at if asked else None),
        used=sum(acts.follow(one.memories, one.at, one.at + DAY) for one in asked),
        took=took([one.microseconds for one in asked]),
    )


class UseTimes:
    """When each memory was cited, acted on or looked at."""

    def __init__(self, counts: CountedLines, uses: Iterable[MemoryUse]) -> None:
        self._times: dict[str, list[int]] = defaultdict(list)
        for use in uses:
            self._times[use.memory].append(use.at)
        for look in counts.looked:
            self._times[look.memory].append(look.at)
        for times in self._times.values():
            times.sort()

    def follow(self, memories: Iterable[str], first: int, last: int) -> bool:
        """Whether one of these was used after a moment and not after another."""
        for name in memories:
            times = self._times.get(name, ())
            place = bisect_right(times, first)
            if place < len(times) and times[place] <= last:
                return True
        return False


def took(times: Iterable[int]) -> Duration | None:
    """The median and p95; None if nothing was measured."""
    known = sorted(time for time in times if time)
    return Duration(known[len(known) // 2], known[len(known) * 95 // 100]) if known else None


def _contexts(totals: Mapping[str, int], told: Sequence[CountedContext]) -> ContextStats:
    return ContextStats(
        packs=sum(totals.get(f"context.{how}", 0) for how in HOWS),
        tokens=sum(totals.get(f"tokens.{how}", 0) for how in HOWS),
        took=took(one.microseconds for one in told if one.how in HOWS),
    )


# ── memories and models ──────────────────────────────────────────────────────────────────────────


def _memories(totals: Mapping[str, int], uses: Sequence[MemoryUse], about: UsageSubjects) -> list[MemoryStats]:
    used = Counter(use.memory for use in uses)
    sorts = (tally.RECALLED, tally.TOLD, tally.LOOKED)
    names = {name.removeprefix(sort) for name in totals for sort in sorts if name.startswith(sort)}
    found = [
        MemoryStats(
            about.ids.get(name) or _as_written(name),
            recalled=totals.get(f"{tally.RECALLED}{name}", 0),
            told=totals.get(f"{tally.TOLD}{name}", 0),
            looked=totals.get(f"{tally.LOOKED}{name}", 0),
            used=used[name],
            state=about.states.get(name, ""),
        )
        for name in sorted({*names, *used})
    ]
    return sorted(found, key=lambda one: (-one.used, -one.recalled, -one.looked, -one.told, one.id))


def _as_written(name: str) -> str:
    kind, dash, rest = name.partition("-")
    return f"{kind.upper()}{dash}{rest}"


def _models(totals: Mapping[str, int]) -> list[ModelStats]:
    names = sorted({name.split(".")[1] for name in totals if name.startswith("model.")})
    return [
        ModelStats(
            name,
            totals.get(f"model.{name}.calls", 0),
            totals.get(f"model.{name}.texts", 0),
            round(totals.get(f"model.{name}.microseconds", 0) / 1e6, 3),
        )
        for name in names
    ]
