"""What was counted in this clone, in figures: how well recall serves, and what it costs.

Totals hold since counting began. Uses and times need single lines and hold for those that are still there, some ten
thousand; `recent` says how many, and since when.
"""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from holdfast.diagnostics import usage
from holdfast.git.clone import Clone
from holdfast.model.event import timestamp
from holdfast.model.transcript import AGENTS, TokenUse, dollars_of, token_use
from holdfast.store import agent_inbox, statistics, tally
from holdfast.store.statistics import CountedLines, MemoryUse
from holdfast.values import dict_of, dicts_of, frozen, list_of

Prices = Mapping[str, tuple[float, ...]]  # dollars for a million tokens, by the beginning of a model's name

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
class WorkStats:
    """What agents' runs of one sort used, as far as their transcripts say."""

    name: str
    runs: int
    read: int  # tokens that models were given
    cached: int  # of these, from a cache
    written: int
    dollars: float | None  # None if no part of it has a price
    unpriced: int  # runs of models that have none


@frozen
class WorkSums:
    """What runs used, summed in three ways."""

    agents: tuple[WorkStats, ...]  # most tokens first
    tasks: tuple[WorkStats, ...]
    days: tuple[WorkStats, ...]  # newest first
    since: str | None = None  # the start of the first run that counts, if older ones were left out


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
    agents: tuple[WorkStats, ...]  # most tokens first
    tasks: tuple[WorkStats, ...]
    days: tuple[WorkStats, ...]  # newest first
    late: Mapping[str, int]  # by agent: contexts and warnings that came too late
    calls_today: int  # of the user's model command
    calls_per_day: int | None  # None if there is no such command

    @property
    def is_empty(self) -> bool:
        return not (self.recalls.asked or self.contexts.packs or self.memories or self.models or self.agents)


def stats(clone: Clone, about: usage.UsageSubjects, *, calls_per_day: int | None, prices: Prices) -> Stats:
    """Read and work out everything; uses that are new are kept."""
    layout = clone.layout
    uses = usage.reckon(clone, about, now=int(clone.clock().timestamp()))
    totals, counts = tally.totals(layout), statistics.read(layout)
    work = work_stats(clone, prices)
    return Stats(
        since=_moment(tally.since(layout)),
        recalls=_recalls(totals, counts, uses),
        contexts=ContextStats(
            packs=sum(totals.get(f"context.{how}", 0) for how in HOWS),
            tokens=sum(totals.get(f"tokens.{how}", 0) for how in HOWS),
            took=took(one.microseconds for one in counts.told if one.how in HOWS),
        ),
        memories=tuple(_memories(totals, uses, about)),
        cited=sum(use.how == statistics.CITED for use in uses),
        acted=sum(use.how == statistics.ACTED for use in uses),
        models=tuple(_models(totals)),
        agents=work.agents,
        tasks=work.tasks,
        days=work.days,
        late={name: late for name in AGENTS if (late := agent_inbox.late(layout, name))},
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
    asked = counts.asked
    times: dict[str, list[int]] = defaultdict(list)  # when each memory was cited, acted on or looked at
    for name, at in [(use.memory, use.at) for use in uses] + [(look.memory, look.at) for look in counts.looked]:
        times[name].append(at)
    for moments in times.values():
        moments.sort()

    def within_a_day(memory: str, at: int) -> bool:
        moments = times.get(memory, ())
        return bisect_right(moments, at) < bisect_right(moments, at + usage.DAY)

    return RecallStats(
        asked=totals.get("recall.asked", 0),
        empty=totals.get("recall.empty", 0),
        recent=len(asked),
        since=_moment(asked[0].at if asked else None),
        used=sum(any(within_a_day(name, one.at) for name in one.memories) for one in asked),
        took=took([one.microseconds for one in asked]),
    )


def took(times: Iterable[int]) -> Duration | None:
    """The median and p95; None if nothing was measured."""
    known = sorted(time for time in times if time)
    return Duration(known[len(known) // 2], known[len(known) * 95 // 100]) if known else None


# ── what agents used ─────────────────────────────────────────────────────────────────────────────


def work_stats(clone: Clone, prices: Prices, *, newest: int | None = None) -> WorkSums:
    """The tokens of this clone's runs, or of the newest ones, by agent, by task and by day."""
    sums: list[dict[str, list[tuple[str, TokenUse, float | None]]]] = [defaultdict(list) for _ in range(3)]
    runs = clone.find_events("own", kinds=("run",), newest=newest)
    for event in runs:
        body = dict_of(clone.bodies.get(event.body) if event.body else None)
        began = str(body.get("started") or event.ts)
        for row in dicts_of(list_of(dict_of(body.get("outputs")).get("usage"))):
            use = token_use(row.get("read"), row.get("written"), cached=row.get("cached"), dollars=row.get("dollars"))
            if use is not None:
                part = (str(event.run_id), use, dollars_of(use, str(row.get("model")), prices))
                for found, name in zip(sums, (row.get("agent"), body.get("task"), began[:10]), strict=True):
                    if name:
                        found[str(name)].append(part)
    agents, tasks, days = (
        tuple(sorted(_summed(found), key=lambda one: (-one.read - one.written, one.name))) for found in sums
    )
    days = tuple(sorted(days, key=lambda one: one.name, reverse=True))
    return WorkSums(agents, tasks, days, runs[0].ts if runs and len(runs) == newest else None)


def _summed(found: Mapping[str, Sequence[tuple[str, TokenUse, float | None]]]) -> Iterator[WorkStats]:
    for name, parts in found.items():
        paid = [dollars for _, _, dollars in parts if dollars is not None]
        yield WorkStats(
            name=name,
            runs=len({run for run, _, _ in parts}),
            read=sum(use.read for _, use, _ in parts),
            cached=sum(use.cached for _, use, _ in parts),
            written=sum(use.written for _, use, _ in parts),
            dollars=round(sum(paid), 6) if paid else None,
            unpriced=len({run for run, _, dollars in parts if dollars is None}),
        )


# ── memories and models ──────────────────────────────────────────────────────────────────────────


def _memories(totals: Mapping[str, int], uses: Sequence[MemoryUse], about: usage.UsageSubjects) -> list[MemoryStats]:
    used = Counter(use.memory for use in uses)
    sorts = (tally.RECALLED, tally.TOLD, tally.LOOKED)
    names = {name.removeprefix(sort) for name in totals for sort in sorts if name.startswith(sort)}
    found = []
    for name in sorted({*names, *used}):
        kind, dash, rest = name.partition("-")
        written = about.ids.get(name) or f"{kind.upper()}{dash}{rest}"
        recalled, told, looked = (totals.get(f"{sort}{name}", 0) for sort in sorts)
        found.append(MemoryStats(written, recalled, told, looked, used[name], about.states.get(name, "")))
    return sorted(found, key=lambda one: (-one.used, -one.recalled, -one.looked, -one.told, one.id))


def _models(totals: Mapping[str, int]) -> Iterator[ModelStats]:
    for name in sorted({name.split(".")[1] for name in totals if name.startswith("model.")}):
        calls, texts, took = (totals.get(f"model.{name}.{what}", 0) for what in ("calls", "texts", "microseconds"))
        yield ModelStats(name, calls, texts, round(took / 1e6, 3))
