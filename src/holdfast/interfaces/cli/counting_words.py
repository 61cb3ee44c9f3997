"""What was counted, in words and as an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import as_plain
from holdfast.interfaces.cli.words import count, lines, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.diagnostics.stats import Contexts, Memory, Model, Recalls, Stats, Took

_FOUND = {
    "branch": "on the same branch",
    "ancestor": "at an ancestor",
    "paths": "by shared files",
    "none": "not at all",
}
_MOST, _MOST_LISTED = 5, 100  # memories on the screen, and in JSON
_OUTDATED = ("stale", "expired", "superseded", "deprecated")


def stats(found: Stats) -> str:
    """Everything on one screen; parts of which nothing is known are left out."""
    if found.is_empty:
        told = ["Nothing was counted yet: recall and context count what they find."]
        return lines(told, _today(found))
    since = f" since {_when(found.since)}" if found.since else ""
    parts = [_recalls(found.recalls), _contexts(found.contexts), _memories(found, since), _models(found)]
    others = ", ".join(f"{name} {number:,}" for name, number in found.others.items())
    parts.append([f"Counted, too: {others}"] if others else [])
    told = [line for part in parts if part for line in ("", *part)]
    return lines(f"Counted in this clone{since}; it stays here.", told)


def _recalls(found: Recalls) -> list[str]:
    if not found.asked:
        return []
    recent = found.recent
    rows = [
        ("asked", f"{found.asked:,}", _took(found.took)),
        ("found nothing", f"{found.empty:,}", _part(found.empty, found.asked)),
        ("asked again", f"{found.again:,}", f"{_part(found.again, recent)}, nothing used in between"),
        ("used afterwards", f"{found.used:,}", f"{_part(found.used, recent)}, within a day"),
        ("outdated hits", f"{found.outdated:,}", f"of {found.hits:,}"),
    ]
    of = f" (asked again, used and times: of the last {recent:,})" if recent < found.asked else ""
    return [f"Recall{of}:", *table(_numbers_right(rows))]


def _contexts(found: Contexts) -> list[str]:
    if not (found.packs or found.prompts or found.tools):
        return []
    rows = [
        (words, f"{found.found[how]:,}", _part(found.found[how], found.packs))
        for how, words in _FOUND.items()
        if found.packs
    ]
    if found.recent:
        rows.append(("gone on with", f"{found.continued:,}", f"of {found.recent:,}"))
    if found.packs:
        mean = f"{found.tokens / found.packs:,.0f} a pack"
        rows.append(("tokens told", f"{found.tokens:,}", ", ".join(filter(None, (mean, _took(found.took))))))
    if found.prompts or found.tools:
        between = f"at {count(found.prompts, 'prompt')} and before {count(found.tools, 'tool')}"
        rows.append(("tokens between", f"{found.tokens_between:,}", between))
    return ["Where holdfast context found the session to go on from:", *table(_numbers_right(rows))]


def _memories(found: Stats, since: str) -> list[str]:
    recalled = [one for one in found.memories if one.recalled]
    used = [one for one in found.memories if one.used]
    told = []
    if recalled:
        times = sum(one.recalled for one in recalled)
        told.append(f"{_memory(len(recalled))} recalled, {count(times, 'time')} in all{since}")
    if used:
        sorts = f"{found.cited:,} cited, {found.acted:,} acted on"
        told.append(f"{_memory(len(used))} used afterwards: {sorts}")
        told += table([_memory_row(one) for one in used[:_MOST]])
    stale = [one.id for one in found.memories if one.recalled and one.state in _OUTDATED]
    if stale:
        more = f" and {len(stale) - _MOST} more" if len(stale) > _MOST else ""
        told.append(f"Recalled, and out of date now: {', '.join(stale[:_MOST])}{more}")
    return told


def _memory_row(one: Memory) -> tuple[str, ...]:
    numbers = (("used", one.used), ("recalled", one.recalled), ("told", one.told), ("looked at", one.looked))
    return (one.id, *(f"{word} {number:,}" for word, number in numbers))


def _models(found: Stats) -> list[str]:
    rows = [_model_row(one) for one in found.models]
    return [*(["Models:", *table(rows)] if rows else []), *_today(found)]


def _model_row(one: Model) -> tuple[str, ...]:
    return one.what, count(one.calls, "call"), count(one.texts, "text"), f"{one.seconds:,.1f} s"


def _today(found: Stats) -> list[str]:
    if found.calls_per_day is None and not found.calls_today:
        return []
    limit = f" of {found.calls_per_day:,}" if found.calls_per_day is not None else ""
    return [f"Model calls today: {found.calls_today:,}{limit}"]


def _memory(number: int) -> str:
    return count(number, "memory")


def _part(number: int, whole: int) -> str:
    return f"{number / whole:.0%}" if whole else "0%"


def _took(took: Took | None) -> str:
    if took is None:
        return ""
    return f"{_time(took.half)} each, 19 of 20 within {_time(took.most)}"


def _time(microseconds: int) -> str:
    return f"{microseconds / 1000:,.1f} ms" if microseconds < 1_000_000 else f"{microseconds / 1e6:,.1f} s"


def _when(moment: str | None) -> str:
    return f"{(moment or '')[:16].replace('T', ' ')} UTC"


def _numbers_right(rows: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The same with the numbers under one another."""
    width = max((len(number) for _, number, _ in rows), default=0)
    return [(word, number.rjust(width), more) for word, number, more in rows]


def stats_object(found: Stats) -> dict[str, Any]:
    """The same as JSON; of the memories the most used."""
    contexts, packs = found.contexts, found.contexts.packs
    parts = {how: round(number / packs, 4) if packs else None for how, number in contexts.found.items()}
    return {
        "since": found.since,
        "recalls": as_plain(found.recalls),
        "contexts": {"packs": packs, "parts": parts, **as_plain(contexts)},
        "memories": dict(_memory_counts(found)),
        "models": [as_plain(one) for one in found.models],
        "model": {"calls_today": found.calls_today, "calls_per_day": found.calls_per_day},
        "others": dict(found.others),
    }


def _memory_counts(found: Stats) -> Iterator[tuple[str, Any]]:
    for name in ("recalled", "told", "looked", "used"):
        numbers = [getattr(one, name) for one in found.memories]
        yield name, {"memories": sum(map(bool, numbers)), "times": sum(numbers)}
    yield "cited", found.cited
    yield "acted", found.acted
    yield "most_used", [as_plain(one) for one in found.memories[:_MOST_LISTED]]
