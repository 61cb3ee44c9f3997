"""Reads what a run recorded turn by turn, a window of turns or of one turn's steps at a time.

A run may have thousands of turns and hundreds of megabytes of steps: only the rows that are wanted are parsed.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.errors import NotFound
from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.patterns import regex
from holdfast.recall import lookup
from holdfast.recall.why import recorded_runs
from holdfast.store import capsule
from holdfast.values import frozen

_TURN = regex(rb'"turn": ?(\d+)[,}]')
_HEAD = 64  # bytes of a row in which its turn stands; a row in which it stands elsewhere is parsed


@frozen(kw_only=True)
class RunDetails:
    """A run, and some of its turns."""

    id: str
    fields: Mapping[str, Any]  # of its event and body
    context: Mapping[str, Any]  # what was recorded at its start
    folder: str | None  # its recording; None if that is not here
    summary: str | None
    printed: str | None  # the last lines of its output
    turns: tuple[Mapping[str, Any], ...]
    start: int  # how many turns come before these
    total: int
    sealed: bool  # its recording is encrypted


def details(clone: Clone, event: Event, *, start: int = 0, most: int) -> RunDetails:
    """Returns a run with some of its turns; of an erased one only that it existed."""
    run, gone = event.run_id or "", clone.erased()
    is_erased = not gone.isdisjoint((event.hash_self, event.target or "", run))
    folder = None if is_erased else recorded_runs.folder_of(clone, run)
    turns, total = _window(folder, start, most) if folder else ([], 0)
    return RunDetails(
        id=run,
        fields={**clone.joined(event), **({"body_state": "erased"} if is_erased else {})},
        context=capsule.read_context(folder),
        folder=folder,
        summary=lookup.summary_of(folder) if folder else None,
        printed=lookup.output_tail(folder) if folder else None,
        turns=tuple(turns),
        start=start,
        total=total,
        sealed=bool(folder) and capsule.is_sealed(folder or ""),
    )


def _window(folder: str, start: int, most: int) -> tuple[list[dict[str, Any]], int]:
    """Returns some turns of a run, and how many it has."""
    found, total = [], 0
    with capsule.open_lines(folder, recorded_runs.TURNS) as lines:
        for line in filter(bytes.strip, lines):
            if start <= total < start + most and (row := _parsed(line)) is not None:
                found.append(row)
            total += 1
    return found, total


def turn_of(clone: Clone, event: Event, number: int) -> dict[str, Any]:
    """Returns one turn of a run; NotFound if it is not in this clone."""
    folder = recorded_runs.folder_of(clone, event.run_id or "")
    turn = next(_rows_of(folder, recorded_runs.TURNS, number), None) if folder else None
    if turn is None or not clone.erased().isdisjoint((event.hash_self, event.target or "", event.run_id or "")):
        hint = f"See what is here: `holdfast show {event.run_id}`."
        raise NotFound(f"{event.run_id}#{number} is not in this clone", hint=hint)
    return turn


def steps_of(clone: Clone, run: str, number: int) -> list[dict[str, Any]]:
    """Returns the steps of a turn, in order."""
    folder = recorded_runs.folder_of(clone, run)
    return list(_rows_of(folder, recorded_runs.CYCLES, number)) if folder else []


def _rows_of(folder: str, name: str, turn: int) -> Iterator[dict[str, Any]]:
    """Yields the rows of one turn; parsing the others would take most of the time."""
    with capsule.open_lines(folder, name) as lines:
        for line in lines:
            told = _TURN.search(line, 0, _HEAD)
            if told and int(told[1]) != turn:
                continue
            row = _parsed(line)
            if row is not None and row.get("turn") == turn:
                yield row


def _parsed(line: bytes) -> dict[str, Any] | None:
    with contextlib.suppress(ValueError, RecursionError):
        row = json.loads(line)
        return row if isinstance(row, dict) else None
    return None
