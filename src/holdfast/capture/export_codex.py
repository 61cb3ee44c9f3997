"""A rollout that Codex lists and resumes, from what a session's runs hold.

    <home>/sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-<thread>.jsonl

What Codex needs of one (tried with 0.166; the form is that of every version since 0.32):

- the name and the tree above, the name's id being `session_meta.id`, a UUID;
- `session_meta` first, with id, timestamp, cwd, originator and cli_version: without the last two it refuses;
- no `model_provider`: with another one than the user's own it refuses to resume;
- `cwd` is the folder in which `resume --last` and the list offer it; by its id it resumes anywhere;
- one `user_message` event: a thread without one is not listed. The words the model gets back are the
  `response_item` lines; all other events are for the display.

Calls are written as function calls, whatever tool they were of, each with an output. What was thought is
shown to people and not to the model, because Codex takes only reasoning that was signed for it.
"""

import contextlib
import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from holdfast.capture.agents.codex_origin import ORIGINATOR
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, Result, TranscriptOrigin, TranscriptStep, TranscriptTurn, ends
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.values import frozen, grouped, replace

# Characters a resumed thread gives to the model, about 150,000 tokens; the oldest turns beyond it keep their
# prompt and answer only. And those of one output.
MOST_TEXT, MOST_OUTPUT = 600_000, 8_000
VERSION = "0.166.0"  # whose form this is
_UNFIT = regex(r"[^A-Za-z0-9_-]")
_UUID = regex(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_MISSING = "[interrupted: no result was recorded]"

Line = tuple[str, dict[str, Any]]


@frozen
class Rollout:
    """A rollout that was written."""

    path: str
    thread: str  # what `codex resume` is given
    turns: int


def turns_of(cycles: Iterable[Mapping[str, Any]], rows: Iterable[Mapping[str, Any]]) -> Iterator[TranscriptTurn]:
    """The turns of one run from its cycles and its turns, as its capsule holds them."""
    steps = grouped((int(line.get("turn") or 0), _step(line)) for line in cycles)
    for row in rows:
        yield TranscriptTurn(
            key=str(row.get("key") or row.get("turn")),
            prompt=str(row.get("prompt") or ""),
            ts=row.get("ts"),
            steps=tuple(steps.pop(int(row.get("turn") or 0), ())),
            interrupted=bool(row.get("interrupted")),
        )
    for n, left in steps.items():  # cycles of a turn that was never written down
        yield TranscriptTurn(key=str(n), steps=tuple(left))


def _step(line: Mapping[str, Any]) -> TranscriptStep:
    proposal, result = line.get("proposal") or {}, line.get("result") or {}
    given = {
        one.get("id"): Result(
            text=str(one.get("output") or ""),
            size=int(one.get("size") or 0),
            exit_status=one.get("exit_status"),
            failed=bool(one.get("failed")),
            refused=bool(one.get("refused")),
        )
        for one in result.get("calls") or ()
    }
    return TranscriptStep(
        id=str(line.get("id") or ""),
        ts=line.get("ts"),
        model=line.get("model"),
        reasoning=str(proposal.get("reasoning") or ""),
        text=str(proposal.get("text") or ""),
        calls=tuple(_call(one, given.get(one.get("id"))) for one in proposal.get("calls") or ()),
        aside=bool(line.get("aside")),
    )


def _call(one: Mapping[str, Any], result: Result | None) -> Call:
    return Call(
        id=str(one.get("id") or ""),
        name=str(one.get("name") or ""),
        kind=str(one.get("kind") or "other"),
        text=str(one.get("input") or ""),
        result=result,
    )


# ── writing ──────────────────────────────────────────────────────────────────────────────────────


def write_rollout(home: str, turns: Iterable[TranscriptTurn], *, origin: TranscriptOrigin, at: datetime) -> Rollout:
    """Write a session's turns as a rollout below a Codex home; `at` names the file, in its own time zone.

    The same turns give the same file, so that a second export changes nothing; a session that has grown
    becomes a thread of its own, and what Codex itself added to the first one stays.
    """
    told = [turn for turn in turns if turn.prompt or turn.steps]
    if not told:
        raise BadInput("The session holds no turn that Codex could resume")
    fitting = _fitting(told)
    body = list(_body(fitting, origin))
    thread = _thread(at, origin, body)
    meta: Line = ("session_meta", _meta(origin, at, thread))
    folder = f"{home}/sessions/{at:%Y/%m/%d}"
    path = f"{folder}/rollout-{at:%Y-%m-%dT%H-%M-%S}-{thread}.jsonl"
    fsio.make_dirs(folder)
    if not os.path.exists(path):
        lines = [(at.isoformat(), meta), *body]
        rows = ({"timestamp": ts, "type": kind, "payload": payload} for ts, (kind, payload) in lines)
        # JSON with blanks, by which `codex.export_end` tells these lines from Codex's own.
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in rows)
        fsio.replace(path, text.encode("utf-8", "replace"))
    return Rollout(path, thread, len(fitting))


def _meta(origin: TranscriptOrigin, at: datetime, thread: str) -> dict[str, Any]:
    git = {"commit_hash": origin.commit, "branch": origin.branch, "repository_url": origin.remote}
    return {
        "id": thread,
        "timestamp": at.isoformat(),
        "cwd": origin.cwd or os.sep,
        "originator": ORIGINATOR,
        "cli_version": VERSION,
        "source": "cli",
        "git": {key: value for key, value in git.items() if value},
    }


def _thread(at: datetime, origin: TranscriptOrigin, body: list[tuple[str, Line]]) -> str:
    """A UUID (version 7) by time and content."""
    spelled = json.dumps([origin.agent, origin.session, body], ensure_ascii=False)
    digest = hashlib.sha256(spelled.encode("utf-8", "replace")).digest()
    return _uuid(int(at.timestamp() * 1000).to_bytes(6, "big", signed=False) + digest[:10], version=7)


def _uuid(data: bytes, *, version: int) -> str:
    number = int.from_bytes(data[:16], "big")
    number = number & ~(0xF << 76) | version << 76  # as RFC 9562 has it
    return str(uuid.UUID(int=number & ~(0x3 << 62) | 0x2 << 62))


def _fitting(turns: list[TranscriptTurn]) -> list[TranscriptTurn]:
    """The turns with the oldest beyond the limit cut down to what was asked and answered."""
    room, kept = MOST_TEXT, []
    for turn in reversed(turns):
        outputs = [call.result.text[:MOST_OUTPUT] for call in turn.calls if call.result]
        room -= len("".join((turn.prompt, *outputs, *(call.text for call in turn.calls))))
        room -= sum(len(step.text) for step in turn.steps)
        if room < 0 and turn is not turns[-1]:
            said = [step for step in turn.steps if step.text.strip() and not step.aside]
            turn = replace(turn, steps=tuple(replace(step, calls=(), reasoning="") for step in said[-1:]))
        kept.append(turn)
    return kept[::-1]


# ── lines ────────────────────────────────────────────────────────────────────────────────────────


def _body(turns: list[TranscriptTurn], origin: TranscriptOrigin) -> Iterator[tuple[str, Line]]:
    ts = origin.started or next((turn.ts for turn in turns if turn.ts), None) or "1970-01-01T00:00:00Z"
    if not any(turn.prompt for turn in turns):
        for line in _asked(origin.title or f"Go on from {origin.agent}'s session {origin.session}."):
            yield ts, line
    for turn in turns:
        ts = turn.ts or ts
        for line in _turn(turn):
            yield ts, line


def _turn(turn: TranscriptTurn) -> Iterator[Line]:
    turn_id = _turn_id(turn.key)
    yield "event_msg", {"type": "task_started", "turn_id": turn_id, "model_context_window": None}
    if turn.prompt:
        yield from _asked(turn.prompt)
    for step in turn.steps:
        if not step.aside:
            yield from _answered(step)
    if turn.interrupted:
        yield "event_msg", {"type": "turn_aborted", "turn_id": turn_id, "reason": "interrupted"}
    else:
        yield "event_msg", {"type": "task_complete", "turn_id": turn_id, "last_agent_message": turn.answer or None}


def _turn_id(key: str) -> str:
    """Codex's own id of a turn that was Codex's, so that it is recognised when it comes back."""
    found = _UUID.match(key)
    return found[0] if found else _uuid(hashlib.sha256(key.encode("utf-8", "replace")).digest(), version=8)


def _asked(prompt: str) -> Iterator[Line]:
    content = [{"type": "input_text", "text": prompt}]
    yield "response_item", {"type": "message", "role": "user", "content": content}
    event = {"type": "user_message", "message": prompt, "images": [], "local_images": [], "text_elements": []}
    yield "event_msg", event


def _answered(step: TranscriptStep) -> Iterator[Line]:
    if step.reasoning.strip():
        yield "event_msg", {"type": "agent_reasoning", "text": step.reasoning}
    if step.text.strip():
        yield "event_msg", {"type": "agent_message", "message": step.text}
        named = {"id": step.id} if step.id.startswith("msg_") else {}
        content = [{"type": "output_text", "text": step.text}]
        yield "response_item", {"type": "message", **named, "role": "assistant", "content": content}
    # Names that the model's service takes: 64 plain characters.
    calls = [(_UNFIT.sub("_", call.id)[:64] or "call", call) for call in step.calls]
    for call_id, call in calls:
        name = _UNFIT.sub("_", call.name)[:64] or "tool"
        told = {"type": "function_call", "name": name, "arguments": _arguments(call)}
        yield "response_item", {**told, "call_id": call_id}
    for call_id, call in calls:
        yield "response_item", {"type": "function_call_output", "call_id": call_id, "output": _output(call)}


def _arguments(call: Call) -> str:
    """A call's arguments as the JSON object they must be."""
    with contextlib.suppress(ValueError, RecursionError):
        if isinstance(json.loads(call.text), dict):
            return call.text
    return json.dumps({"cmd" if call.kind == "shell" else "input": call.text}, ensure_ascii=False)


def _output(call: Call) -> str:
    result = call.result
    if result is None:
        return _MISSING
    ended = f"Process exited with code {result.exit_status}\nOutput:\n" if result.exit_status is not None else ""
    refused = "[refused by the user]\n" if result.refused else ""
    return ended + refused + ends(result.text, MOST_OUTPUT)
