"""The command that explains: why.

Why lines are there, in words and as an object.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, command
from holdfast.interfaces.cli.output import as_plain, flush, picked, say, show, strong
from holdfast.interfaces.cli.phrases import ago, count, lines, short, table, wording
from holdfast.interfaces.cli.root import root
from holdfast.model.text import visible
from holdfast.model.transcript import AGENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.project.recaller import Explained, Ruling
    from holdfast.recall.pack.sent_packs import AgentKnowledge, SentEntry
    from holdfast.recall.why.line_reasons import RunShare, Why, WhyAnswer, WhyRun, WhyTurn

_PROMPT, _STATEMENT, _TEXT = 300, 100, 90  # characters that are shown
_RANGES, _TURNS, _WIDE, _KNEW = 6, 3, 3, 8  # how many are named
_EVERYWHERE = 3  # from here on a memory is about all files


def why_text(found: Explained) -> str:
    """Why some lines are there, or the lines of a whole file by the runs that wrote them."""
    told = found.why
    if not told.answers:
        return f"{told.path} is empty"
    said = _shares(told) if told.whole else answers(told)
    return lines(said, _governs(found.governs), *(_knew(one) for one in found.knew))


def answers(told: Why) -> Iterator[str]:
    """The lines with the same answer, one after the other."""
    seen: set[str] = set()  # a prompt that led to many places is shown once
    for number, one in enumerate(told.answers):
        if number:
            yield ""
        place = f"{one.first}" if one.first == one.last else f"{one.first}-{one.last}"
        first = next((line for line in one.text if line.strip()), "")
        yield f"{told.path}:{place}  {short(first.strip(), _TEXT) or '(blank)'}"
        yield from (f"  {row}" for row in _answer(one, seen))


def _answer(one: WhyAnswer, seen: set[str]) -> Iterator[str]:
    if one.run is not None:
        turns = " or ".join(f"{asking.turn}" for asking in one.turns)
        yield f"Written by run {strong(one.run.id)} turn {turns} ({_who(one.run)}; {wording('known')[one.state]})"
    elif one.state == "likely":
        by = " or ".join(f"{maybe.turn}" for maybe in one.maybe)
        yield f"Likely by run {strong(one.maybe[0].run)} turn {by}, which wrote part of what this commit brought here"
    else:
        yield f"Not known: {one.reason}"
    if (made := one.commit) is None:
        yield "Not committed yet"
    else:
        was = f", which was {made.was[:12]} ({made.how})" if made.was else ""
        by = f" by {made.author}, {ago(made.ts)}" if made.author else ""
        named = f"; it credits {', '.join(made.credits[:2])}" if made.credits else ""
        yield f"In commit {made.oid[:12]}{by}: {short(made.subject, _TEXT)}{was}{named}"
    said = "By its trailer, committed" if one.by_trailer else "Committed"
    yield from (f"{said} during run {run.id} ({_who(run)})" for run in one.during[:_TURNS])
    maybe = one.maybe if one.state != "likely" else ()
    yield from (f"May be run {by.run} turn {by.turn}" for by in maybe[:_TURNS])
    if len(maybe) > _TURNS:
        yield f"and {len(maybe) - _TURNS} more that may be"
    for asking in one.turns[:_TURNS]:
        asked = list(_asked(asking))
        yield from (row for row in asked if row not in seen)
        seen.update(asked)


def _who(run: WhyRun) -> str:
    return ", ".join(filter(None, (AGENTS.get(run.agent or "", run.agent), ago(run.started))))


def _asked(one: WhyTurn) -> Iterator[str]:
    who = "Ordered by an agent" if one.by == "agent" else "Asked"
    went_on = f" (in turn {one.asked_in})" if one.asked_in != one.turn else ""
    if one.prompt:
        yield f"{who}{went_on}: {_on_one_line(one.prompt, _PROMPT)}"
    done = one.line.partition(" — ")[2] if one.line.startswith("Asked: ") else one.line
    if done:
        yield f"Done: {short(done, _PROMPT)}"


def _on_one_line(text: str, width: int) -> str:
    return short(" ".join(text.split()), width)


def _shares(told: Why) -> Iterator[str]:
    wrote = sum(one.count for one in told.shares if one.run)
    yield f"{told.path}: {count(told.total, 'line')}, {wrote:,} of them by recorded runs"
    for one in told.shares:
        yield ""
        yield from _share(one)


def _share(one: RunShare) -> Iterator[str]:
    if one.run is None:
        yield f"{count(one.count, 'line')} without a known run: {_ranges(one.ranges)}"
        most = sorted(one.reasons.items(), key=lambda pair: (-pair[1], pair[0]))
        yield from table([(f"{number:,}", reason) for reason, number in most])
        return
    kinds = {"recorded": one.recorded, "matched": one.count - one.recorded}
    how = ", ".join(f"{number:,} {word}" for word, number in kinds.items() if number)
    yield f"{count(one.count, 'line')} by run {strong(one.run.id)} ({_who(one.run)})"
    yield f"  {how}: {_ranges(one.ranges)}"
    for asking in one.turns[:_TURNS]:
        asked = _on_one_line(asking.prompt, _TEXT) or short(asking.line, _TEXT)
        yield f"  turn {asking.turn}: {asked}"
    if len(one.turns) > _TURNS:
        yield f"  and {count(len(one.turns) - _TURNS, 'more turn')}"


def _ranges(ranges: Sequence[tuple[int, int]]) -> str:
    shown = [f"{first}" if first == last else f"{first}-{last}" for first, last in ranges[:_RANGES]]
    more = f" and {len(ranges) - _RANGES:,} more places" if len(ranges) > _RANGES else ""
    return ", ".join(shown) + more


def _governs(rulings: Sequence[Ruling]) -> Iterator[str]:
    near, wide = ([one for one in rulings if (one.near < _EVERYWHERE) == is_near] for is_near in (True, False))
    yield ""
    if not rulings:
        yield "No memory applies to it."
        return
    yield "Memories that apply:" if near else "No memory is about this file; these apply everywhere:"
    yield from table([_ruling(one) for one in (*near, *wide[:_WIDE])])
    if len(wide) > _WIDE:
        yield f"  and {len(wide) - _WIDE:,} more that apply everywhere: holdfast memories"


def _ruling(one: Ruling) -> tuple[str, ...]:
    held = f"superseded by {one.superseded_by}" if one.superseded_by else wording("governs").get(one.status, one.status)
    if one.status == "accepted" and one.trust != "T0":
        held = "accepted, not approved by a person" if one.trust == "T2" else "came by git, not trusted here"
    told = {True: "in its context", False: "not in its context", None: ""}[one.told]
    return one.id, short(one.statement, _STATEMENT), one.why, held, told


def _knew(one: AgentKnowledge) -> Iterator[str]:
    if not one.packs:
        return
    yield ""
    entries = {entry.id: entry for entry in _entries(one)}
    yield f"What run {one.owner} knew: {count(len(entries), 'entry')} in {count(len(one.packs), 'context')}"
    rows = [(entry.id[:40], entry.why, entry.state) for entry in list(entries.values())[:_KNEW]]
    yield from table(rows)
    yield f"  as it was sent: holdfast receipts {one.owner}"


def why_object(found: Explained) -> dict[str, Any]:
    """The same as an object, with every line and every word; nothing in it hides."""
    plain = {
        **picked(found.why, "path", "first", "last", "whole", "answers", "notes"),
        "lines": found.why.total,
        "runs": found.why.shares,
        "governs": found.governs,
        # Without the texts of the packs, which `receipts` prints.
        "knew": [{"run": one.owner, "packs": len(one.packs), "entries": [*_entries(one)]} for one in found.knew],
    }
    return {name: _shown(as_plain(value)) for name, value in plain.items()}


def _shown(value: Any) -> Any:
    """Plain values with all their texts made visible: lines of files may hold anything."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {key: _shown(one) for key, one in value.items()}
    return [_shown(one) for one in value] if isinstance(value, list) else value


def _entries(one: AgentKnowledge) -> Iterator[SentEntry]:
    return (entry for pack in one.packs for entry in pack.entries)


@command(root, "why")
@click.argument("place_", metavar="FILE[:LINE]")
def why(place: Invocation, place_: str) -> None:
    """Show which run and prompt wrote a line.

    FILE:12 is one line, FILE:10-20 a range, FILE the whole file, run by run. A run is known because the commit
    was made in it, or because it wrote the same line. If neither is known, `why` says so.
    """
    with place.project() as project:
        found = project.recall.why(place_, folder=os.path.abspath(place.folder))
        show(found, why_text, why_object)
        flush()
        for note in found.why.notes:
            say(note)
