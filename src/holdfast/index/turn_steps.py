"""The steps of a turn that say more than the turn does: what the agent thought, and what failed and how.

What it said aloud stands in the turn itself. Of the rest only what has words is taken, and never so much that
one long turn fills the index: most steps of an agent are calls that went well, and say nothing to anybody.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from holdfast.values import dict_of, dicts_of, list_of

MAX_CYCLES = 40  # of one turn
MAX_SAID = 2000  # characters of one
MAX_FAILED = 600  # characters of what a failing call was given, and of what it answered
ALIKE = 200  # characters in which two texts are equal, though one of them was cut
LEAST = 20  # letters and digits; less says nothing
MAX_READ = 100_000  # steps of one run that are looked at
KEY = "cycles"  # under which a turn holds those that tell something

Told = dict[str, Any]


def with_steps(turns: Sequence[Mapping[str, Any]], cycles: Iterable[Mapping[str, Any]]) -> list[Told]:
    """The turns of a run, each with its steps that tell something: number, time and text."""
    told: list[Told] = [{**turn, KEY: []} for turn in turns]
    by_number = {turn["turn"]: turn for turn in told if type(turn.get("turn")) is int}
    for cycle in islice(cycles, MAX_READ):
        place, number = cycle.get("turn"), cycle.get("n")
        turn = by_number.get(place) if type(place) is int else None
        if turn is None or type(number) is not int or number < 1 or len(turn[KEY]) >= MAX_CYCLES:
            continue
        text = _said(cycle, turn.get("said"))
        if sum(map(str.isalnum, text)) >= LEAST:
            turn[KEY].append((number, cycle.get("ts"), text))
    return told


def _said(cycle: Mapping[str, Any], aloud: object) -> str:
    """What a step tells that the turn does not, and what failed in it."""
    proposal, result = dict_of(cycle.get("proposal")), dict_of(cycle.get("result"))
    said = [_text(proposal.get(name)) for name in ("reasoning", "plan", "text")]
    if any(said[-1][:ALIKE] == _text(word)[:ALIKE] for word in list_of(aloud)):
        said.pop()
    calls = (call for call in dicts_of(proposal.get("calls")) if isinstance(call.get("id"), str))
    given = {call["id"]: _command(call) for call in calls}
    for answer in dicts_of(result.get("calls")):
        if answer.get("failed") is True:
            name, output = answer.get("id"), _text(answer.get("output"))
            asked = given.get(name, "") if isinstance(name, str) else ""
            # What a program says last is why it failed.
            said += [asked[:MAX_FAILED], output if len(output) <= MAX_FAILED else f"…{output[-MAX_FAILED:]}"]
    return "\n".join(word for word in said if word)[:MAX_SAID]


def _command(call: Mapping[str, Any]) -> str:
    """The command that a call ran; what other calls were given is mostly code, which stands in files."""
    given = _text(call.get("input"))
    if not given.startswith("{"):
        return given if call.get("kind") == "shell" else ""
    try:
        found = json.loads(given)
    except (ValueError, RecursionError):
        return ""
    command = found.get("command") or found.get("cmd")
    return " ".join(map(str, command)) if isinstance(command, list) else _text(command)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
