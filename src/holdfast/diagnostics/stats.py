"""What was counted in this clone, in figures: how well recall serves, and what it costs.

Totals hold since counting began. What needs single lines (misses, uses, latency, whether a session was gone
on with) holds for those that are still there, some ten thousand; `recent` says since when and how many.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from holdfast.diagnostics import usage
from holdfast.diagnostics.usage import DAY, UsageSubjects
from holdfast.git.clone import Clone
from holdfast.model.event import timestamp
from holdfast.store import session_files, statistics, tally
from holdfast.store.statistics import CountedContext, CountedLines, CountedRecall, MemoryUse
from holdfast.values import frozen

AGAIN = 600  # seconds within which the same question is the same search
HOWS = tuple(name.removeprefix("context.") for name in tally.CONTEXT)
BETWEEN = ("prompt", "tool")  # what was told while an agent worked


@frozen
class Duration:
    """How long something took, in microseconds: half of the times less, and nineteen of twenty."""

    half: int
    most: int


@frozen(kw_only=True)
class RecallStats:
    """Questions, and what came of them."""

    asked: int
    empty: int  # found nothing
    hits: int
    outdated: int  # hits that were superseded, expired or retired when they were shown
    recent: int  # single lines that are still there; the rest of the figures are of these
    since: str | None
    again: int  # misses: asked again within ten minutes, and nothing that was found was used before
    used: int  # something that was found was cited, acted on or looked at within a day
    took: Duration | None


@frozen(kw_only=True)
class ContextStats:
    """Packs that sessions started with: how each found the one to go on from, and what was injected."""

    found: Mapping[str, int]  # branch, ancestor, paths, none
    recent: int  # of these, that name a session and whose lines are still there
    continued: int  # and that session was gone on with
    tokens: int  # of packs
    prompts: int  # times something was said at a later prompt
    tools: int  # and before an edit or a command
    tokens_between: int  # of both
    took: Duration | None

    @property
    def packs(self) -> int:
        return sum(self.found.values())


@frozen
class MemoryStats:
    """One memory: how often it was found, told, looked at and used."""

    id: str
    recalled: int
    told: int
    looked: int
    used: int
    last_used: str | None
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
    others: Mapping[str, int]  # whatever else was counted, by name

    @property
    def is_empty(self) -> bool:
        return not (self.recalls.asked or self.contexts.packs or self.memories or self.models or self.others)


def stats(clone: Clone, about: UsageSubjects, *, calls_per_day: int | None) -> Stats:
    """Read and work out everything; uses that are new are kept."""
    layout = clone.layout
    uses = usage.reckon(clone, about, now=int(clone.clock().timestamp()))
    totals, counts, began = tally.totals(layout), statistics.read(layout), tally.since(layout)
    memories = tuple(_memories(totals, uses, about))
    return Stats(
        since=_moment(began),
        recalls=_recalls(totals, counts, uses),
        contexts=_contexts(clone, totals, counts.told),
        memories=memories,
        cited=sum(use.how == statistics.CITED for use in uses),
        acted=sum(use.how == statistics.ACTED for use in uses),
        models=tuple(_models(totals)),
        calls_today=statistics.model_calls_used(layout, clone.now()[:10]),
        calls_per_day=calls_per_day,
        others={name: number for name, number in totals.items() if _is_other(name)},
    )


def _moment(seconds: int | None) -> str | None:
    if seconds is None:
        return None
    try:
        return timestamp(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, OSError, ValueError):  # no line of ours
        return None


def _is_other(name: str) -> bool:
    ours = (tally.RECALLED, tally.TOLD, tally.LOOKED, "recall.", "context.", "tokens.", "told.", "model.")
    return not name.startswith(ours)


# ── recalls ──────────────────────────────────────────────────────────────────────────────────────


def _recalls(totals: Mapping[str, int], counts: CountedLines, uses: Iterable[MemoryUse]) -> RecallStats:
    acts = UseTimes(counts, uses)
    asked = counts.asked
    return RecallStats(
        asked=totals.get("recall.asked", 0),
        empty=totals.get("recall.empty", 0),
        hits=totals.get("recall.hits", 0),
        outdated=totals.get("recall.outdated", 0),
        recent=len(asked),
        since=_moment(asked[0].at if asked else None),
        again=sum(_is_asked_again(asked, place, acts) for place in range(len(asked))),
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


def _is_asked_again(asked: Sequence[CountedRecall], place: int, acts: UseTimes) -> bool:
    """Whether the same was asked a little later, and nothing that this one found was used until then."""
    one = asked[place]
    for other in asked[place + 1 :] if one.words else ():
        if other.at - one.at > AGAIN:
            break
        if _are_alike(one.words, other.words):
            return not acts.follow(one.memories, one.at, other.at)
    return False


def _are_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two questions share two of three words, those of the shorter."""
    return bool(other) and 3 * len(one & other) >= 2 * min(len(one), len(other))


def took(times: Iterable[int]) -> Duration | None:
    """The median and the 95th of a hundred; None if nothing was measured."""
    known = sorted(time for time in times if time)
    return Duration(known[len(known) // 2], known[len(known) * 95 // 100]) if known else None


# ── what was told ────────────────────────────────────────────────────────────────────────────────


def _contexts(clone: Clone, totals: Mapping[str, int], told: Sequence[CountedContext]) -> ContextStats:
    packs = [one for one in told if one.how in HOWS]
    threads = [one for one in packs if one.session]
    return ContextStats(
        found={how: totals.get(f"context.{how}", 0) for how in HOWS},
        recent=len(threads),
        continued=_continued(clone, threads) if threads else 0,
        tokens=sum(totals.get(f"tokens.{how}", 0) for how in HOWS),
        prompts=totals.get("context.prompt", 0),
        tools=totals.get("context.tool", 0),
        tokens_between=sum(totals.get(f"tokens.{how}", 0) for how in BETWEEN),
        took=took(one.microseconds for one in packs),
    )


def _continued(clone: Clone, threads: Iterable[CountedContext]) -> int:
    """How many packs named a session that went on afterwards, or that a later one follows."""
    last: dict[str, str] = {}
    for session in session_files.everywhere(clone.stores):
        for name in filter(None, (session.id, session.previous)):
            last[name.lower()] = max(last.get(name.lower(), ""), session.updated.ts)
    return sum(last.get(one.session or "", "") > (_moment(one.at) or "~") for one in threads)


# ── memories and models ──────────────────────────────────────────────────────────────────────────


def _memories(totals: Mapping[str, int], uses: Sequence[MemoryUse], about: UsageSubjects) -> list[MemoryStats]:
    used: dict[str, list[int]] = defaultdict(list)
    for use in uses:
        used[use.memory].append(use.at)
    sorts = (tally.RECALLED, tally.TOLD, tally.LOOKED)
    names = {name.removeprefix(sort) for name in totals for sort in sorts if name.startswith(sort)}
    found = [
        MemoryStats(
            about.ids.get(name) or _as_written(name),
            recalled=totals.get(f"{tally.RECALLED}{name}", 0),
            told=totals.get(f"{tally.TOLD}{name}", 0),
            looked=totals.get(f"{tally.LOOKED}{name}", 0),
            used=len(used[name]),
            last_used=_moment(max(used[name], default=None)),
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
