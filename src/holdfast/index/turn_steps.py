"""The steps of a turn with more information than the turn: the agent's reasoning, and failures with their output.

The turn itself contains what the agent said aloud. Of the rest only steps with text count, and never so many that one
long turn fills the index: most steps are calls that succeeded, and say nothing.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from holdfast.values import dict_of, dicts_of, list_of

MAX_CYCLES = 40  # steps of one turn; a guess. So are the other limits here
MAX_SAID = 2000  # characters of one step
MAX_FAILED = 600  # characters of a failed call's input, and of its output
ALIKE = 200  # first characters by which two texts count as equal, even if one was cut
LEAST = 20  # letters and digits; shorter texts are skipped
MAX_READ = 100_000  # steps of one run that are read
KEY = "cycles"  # the key of a turn's useful steps

Told = dict[str, Any]


def with_steps(turns: Sequence[Mapping[str, Any]], cycles: Iterable[Mapping[str, Any]]) -> list[Told]:
    """Returns the turns of a run, each with its useful steps: number, time and text."""
    told: list[Told] = [{**turn, KEY: []} for turn in turns]
    by_number = {turn["turn"]: turn for turn in told if type(turn.get("turn")) is int}
    for cycle in islice(cycles, MAX_READ):
        place, number = cycle.get("turn"), cycle.get("n")
        turn = by_number.get(place) if type(place) is int else None
        if turn is None or type(number) is not int or number < 1 or len(turn[KEY]) >= MAX_CYCLES:
            continue
        text = _step_text(cycle, turn.get("said"))
        if sum(map(str.isalnum, text)) >= LEAST:
            turn[KEY].append((number, cycle.get("ts"), text))
    return told


def _step_text(cycle: Mapping[str, Any], aloud: object) -> str:
    """Returns the text of a step that its turn does not contain, and its failures."""
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
            # The end of a program's output says why it failed.
            said += [asked[:MAX_FAILED], output if len(output) <= MAX_FAILED else f"…{output[-MAX_FAILED:]}"]
    return "\n".join(word for word in said if word)[:MAX_SAID]


def _command(call: Mapping[str, Any]) -> str:
    """Returns the command of a call; inputs of other calls are mostly code, which is in files."""
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
