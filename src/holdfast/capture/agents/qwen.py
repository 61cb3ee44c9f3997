"""Transcripts of Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, one record a line.

From files that Qwen Code 0.24.4 wrote, and the kinds of records its package names. A resumed session goes on in the
same file. The parts of a message, the tools and what they give back are Gemini CLI's, whose fork this is.

    user          what a person typed; what a hook said stands beside it and is no one's words
    assistant     text, thoughts and calls; one record is one step
    tool_result   the answer of one call, and how it was shown
    system        everything else: telemetry, snapshots, compressions
"""

import os
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

from holdfast.capture.agents import gemini, transcript_reader
from holdfast.capture.agents.message_turns import MessageTurns, id_of, line_reading, summed
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptRecord, first_records, records
from holdfast.capture.agents.transcript_text import own_words, passed_over, path_value, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import Call, TranscriptOrigin, TranscriptStep, token_use
from holdfast.values import dict_of, list_of, replace

_HEAD = 50  # records in which a session says where it stands
_BLOCKS = ("qwen:user-prompt-submit-context", "system-reminder")
_SILENT = (b'"subtype":"ui_telemetry"', b'"subtype":"attribution_snapshot"', b'"subtype":"file_history_snapshot"')
_PASSED = ("system",)


def _is_wanted(raw: bytes) -> bool:
    return not any(one in raw[:1200] for one in _SILENT)


def _taker(turns: MessageTurns, counted: TranscriptCounts, _: TranscriptOrigin) -> Callable[[TranscriptRecord], object]:
    return partial(_take, turns, counted)


def _take(turns: MessageTurns, counted: TranscriptCounts, at: TranscriptRecord) -> None:
    value = at.value
    parts = [dict_of(part) for part in list_of(dict_of(value.get("message")).get("parts"))]
    key, ts = id_of(value, "uuid"), short_name(value.get("timestamp")) or None
    where = {"cwd": path_value(value.get("cwd")), "branch": path_value(value.get("gitBranch"))}
    match value.get("type"):
        case "user" if said := _typed(value, parts):
            turns.asked(key, said, at, ts=ts, **where)
        case "assistant":
            texts: dict[bool, list[str]] = {False: [], True: []}
            for part in parts:
                texts[part.get("thought") is True].append(text_value(part.get("text")))
            text, reasoning = (own_words("\n".join(filter(None, texts[is_thought]))) for is_thought in (False, True))
            used = dict_of(value.get("usageMetadata"))
            written = summed(used.get("candidatesTokenCount"), used.get("thoughtsTokenCount"))
            step = TranscriptStep(
                id=key,
                ts=ts,
                model=short_name(value.get("model")) or None,
                text=text,
                reasoning=reasoning,
                usage=token_use(used.get("promptTokenCount"), written, cached=used.get("cachedContentTokenCount")),
            )
            calls = [call for part in parts if (call := dict_of(part.get("functionCall")))]
            turns.answered(step, [(id_of(call, "id") or f"{key}:{n}", call) for n, call in enumerate(calls)], at)
        case "tool_result":
            for part in parts:
                response = dict_of(part.get("functionResponse"))
                if call_id := id_of(response, "id"):
                    turns.gave(call_id, {**dict_of(value.get("toolCallResult")), "result": [part]})
        case kind if kind not in ("user", *_PASSED):
            passed_over(counted.unknown, kind)


def _typed(value: dict[str, Any], parts: list[dict[str, Any]]) -> str:
    """A person's words; none if something else speaks in their role."""
    if value.get("provenance") not in ("real_user", None):
        return ""
    shown = text_value(dict_of(value.get("systemPayload")).get("displayText"))
    return own_words(shown or "\n".join(text_value(part.get("text")) for part in parts), *_BLOCKS).strip()


def _understood(call_id: str, call: dict[str, Any], told: dict[str, Any] | None) -> Call:
    return gemini.called({"name": call.get("name"), "args": call.get("args"), **(told or {})}, call_id)


def _files(home: str) -> Iterator[str]:
    places = os.walk(os.path.join(home, "projects"))
    found = (os.path.join(folder, name) for folder, _, names in places for name in names if name.endswith(".jsonl"))
    yield from transcript_reader.newest_first(one for one in found if f"{os.sep}chats{os.sep}" in one)


def _is_ours(value: dict[str, Any]) -> bool:
    return isinstance(value.get("sessionId"), str) and "uuid" in value and "provenance" in value


def _is_mine(path: str) -> bool:
    return any(map(_is_ours, first_records(path)))


def _whose(path: str) -> TranscriptOrigin:
    known = TranscriptOrigin(agent="qwen", session="")
    ours = False
    for one in islice(records(path, TranscriptCounts()), _HEAD):
        value = one.value
        if not _is_ours(value):
            continue
        ours = True
        known = replace(
            known,
            session=known.session or short_name(value.get("sessionId")),
            version=known.version or short_name(value.get("version")) or None,
            cwd=known.cwd or path_value(value.get("cwd")),
            branch=known.branch or path_value(value.get("gitBranch")),
            started=known.started or short_name(value.get("timestamp")) or None,
        )
        if known.session and known.cwd and known.started:
            break
    if not ours:
        raise BadInput(f"{path} is not a transcript of Qwen Code")
    stem = short_name(os.path.basename(path).removesuffix(".jsonl"))
    if known.session and known.session != stem and len(stem) == len(known.session):  # a copy under another id
        return replace(known, session=stem, role="fork", parent=known.session)
    return replace(known, session=known.session or stem)


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> transcript_reader.TranscriptReading:
    return line_reading(path, start, origin, whose=_whose, taker=_taker, understood=_understood, wanted=_is_wanted)


DIALECT = transcript_reader.Dialect(
    "qwen", lambda environ, home: environ.get("QWEN_HOME") or f"{home}/.qwen", _files, _is_mine, _read
)
