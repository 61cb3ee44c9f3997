"""Messages of a Gemini session put together into turns."""

from collections.abc import Iterator
from typing import Any

from holdfast.capture.agents.gemini_calls import BLOCKS, called, responses
from holdfast.capture.agents.gemini_log import Log
from holdfast.capture.agents.reading import Counted, dict_of, list_of
from holdfast.capture.agents.stripping import name, passed_over, spoken, words
from holdfast.model.transcript import MAX_PROMPT, MAX_STEPS, MAX_TEXT, Call, Step, Turn, cut

_MAX_CALLS = 256
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"
_NOT_PROMPTS = (
    "This is the Gemini CLI. We are setting up the context for our chat",
    "<state_snapshot>",
    "System: Please continue",
)
_CANCELLED = ("Request cancelled", "User cancelled")
_DROPPED = ("info", "warning", "error")


def turns(log: Log, counted: Counted, *, cwd: str | None, helper: bool) -> Iterator[Turn]:
    """One turn after the other; a helper is set going by no person."""
    answers = _answers(log)
    key, prompt, ts, interrupted, continues = "", "", None, False, False
    steps: list[Step] = []

    def turn() -> Iterator[Turn]:
        if key and (prompt or steps):
            yield Turn(
                key=key,
                prompt=prompt,
                ts=ts,
                steps=tuple(steps),
                cwd=cwd,
                interrupted=interrupted,
                continues=continues,
                end=counted.end,
            )

    for message_id, message in log.messages.items():
        kind, at = name(message.get("type")), name(message.get("timestamp")) or None
        if kind == "user" and (said := _prompt(message)):
            yield from turn()
            key, prompt, ts, interrupted, continues = message_id, "" if helper else said, at, False, False
            steps = []
        elif kind == "gemini" and (step := _step(message_id, message, answers)):
            if len(steps) >= MAX_STEPS:
                yield from turn()
                key, prompt, ts, interrupted, continues, steps = message_id, "", at, False, True, []
            key, ts = key or message_id, ts or at
            steps.append(step)
        elif kind == "info" and words(message.get("content")).startswith(_CANCELLED):
            interrupted = True
        elif kind not in ("user", "gemini", *_DROPPED):
            passed_over(counted.unknown, message.get("type"))
    yield from turn()


def _prompt(message: dict[str, Any]) -> str:
    """A person's words; none if the message brings results, or the program's own words."""
    said = _text(message.get("displayContent")) or _text(message.get("content"))
    begin, end = said.find(_FILES), said.rfind(_FILES_END)
    if 0 <= begin < end:
        said = said[:begin] + said[end + len(_FILES_END) :]
    said = spoken(said, *BLOCKS).strip()
    return "" if said.startswith(_NOT_PROMPTS) else cut(said, MAX_PROMPT)


def _text(content: object) -> str:
    if isinstance(content, str):
        return words(content)
    parts = [content] if isinstance(content, dict) else list_of(content)
    said = [words(part) or words(dict_of(part).get("text")) for part in parts if not dict_of(part).get("thought")]
    return "\n".join(text for text in said if text)


def _step(key: str, message: dict[str, Any], answers: dict[str, object]) -> Step | None:
    """A message of the model; none if it says and does nothing."""
    thoughts = [dict_of(thought) for thought in list_of(message.get("thoughts"))]
    pieces = [": ".join(filter(None, (words(one.get("subject")), words(one.get("description"))))) for one in thoughts]
    reasoning = spoken("\n".join(filter(None, pieces)), *BLOCKS)
    text = spoken(_text(message.get("content")), *BLOCKS)
    calls = _calls(key, message, answers)
    if not (reasoning.strip() or text.strip() or calls):
        return None
    return Step(
        id=key,
        ts=name(message.get("timestamp")) or None,
        model=name(message.get("model")) or None,
        reasoning=cut(reasoning, MAX_TEXT),
        text=cut(text, MAX_TEXT),
        calls=calls,
    )


def _calls(key: str, message: dict[str, Any], answers: dict[str, object]) -> tuple[Call, ...]:
    """A message's calls: with their results, or restated, with results that stand in a later message."""
    told = [dict_of(call) for call in list_of(message.get("toolCalls"))]
    if not told:
        parts = [dict_of(dict_of(part).get("functionCall")) for part in list_of(message.get("content"))]
        told = [part for part in parts if part]
    found: dict[str, Call] = {}
    for number, call in enumerate(told[:_MAX_CALLS]):
        call_id = name(call.get("id")) or f"{key}:{number}"
        if not list_of(call.get("result")) and call_id in answers and not call.get("status"):
            call = {**call, "result": [answers[call_id]]}
        found[call_id] = called(call, call_id)
    return tuple(found.values())


def _answers(log: Log) -> dict[str, object]:
    """Results that stand in messages of their own, by their calls' ids."""
    found: dict[str, object] = {}
    for message in log.messages.values():
        for part in list_of(message.get("content")) if message.get("type") == "user" else ():
            call = name(dict_of(dict_of(part).get("functionResponse")).get("id"))
            if call and responses([part])[0]:
                found[call] = part
    return found
