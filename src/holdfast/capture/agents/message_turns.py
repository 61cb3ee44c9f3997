"""Turns out of messages that come one by one: prompts, answers of the model, results of its calls.

For the dialects whose transcripts are a plain list of messages. A dialect says what each record is (`asked`,
`answered`, `gave`, `stopped`); what a call with its result means is its `understood`. Here a turn is opened and
closed, results find their calls by id, a turn of very many steps goes on in the next, and nothing is held beyond
measure: of calls that nobody answers the oldest are closed without a result.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptReading, TranscriptRecord, records
from holdfast.capture.agents.transcript_text import is_holdfast_tool, json_text, own_words, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model import transcript as transcripts
from holdfast.model.transcript import (
    Call,
    Result,
    TokenUse,
    TranscriptEdit,
    TranscriptOrigin,
    TranscriptStep,
    TranscriptTurn,
    cut,
)
from holdfast.patterns import PatternFile
from holdfast.values import dict_of, field, frozen, list_of, mutable, replace

MAX_CALLS = 256  # of one step
MAX_PENDING = 64  # calls of one turn that wait for their results
MAX_PENDING_BYTES = 16 << 20  # a guess: bounds memory where results never come

# A call's id, what the model asked for, what came back or None -> the call.
Understood = Callable[[str, dict[str, Any], "dict[str, Any] | None"], Call]
_TABLES = PatternFile(__file__)


@mutable
class _Draft:
    """A step whose calls may still wait for their results."""

    step: TranscriptStep
    calls: dict[str, Call | None] = field(default_factory=dict)


class MessageTurns:
    """Takes messages in the order of the file and gives the turns they make."""

    def __init__(self, understood: Understood, *, helper: bool = False, resumed: bool = False) -> None:
        self._understood, self._helper, self._resumed = understood, helper, resumed
        self._turn: TranscriptTurn | None = None
        self._drafts: list[_Draft] = []
        self._pending: dict[str, tuple[_Draft, dict[str, Any], int]] = {}
        self._bytes = 0
        self._done: list[TranscriptTurn] = []

    def over(
        self, records: Iterable[TranscriptRecord], take: Callable[[TranscriptRecord], object]
    ) -> Iterator[TranscriptTurn]:
        """The turns of records, each as soon as the next begins; `take` hands over what a record says."""
        end = 0
        for record in records:
            take(record)
            yield from self._released()
            if self._turn is not None:
                self._turn = replace(self._turn, end=record.end)
            end = record.end
        self.end(end)
        yield from self._released()

    def asked(self, key: str, prompt: str, at: TranscriptRecord, *, ts: str | None = None, **more: Any) -> None:
        """Somebody asked: a turn begins. A helper is asked by an agent, not by a person."""
        said = cut(prompt, transcripts.MAX_PROMPT)
        person, agent = ("", said) if self._helper else (said, "")
        self._close()
        self._turn = TranscriptTurn(
            key=key or f"at:{at.start}", prompt=person, brief=agent, ts=ts, start=at.start, end=at.end, **more
        )

    def answered(self, step: TranscriptStep, calls: Iterable[tuple[str, dict[str, Any]]], at: TranscriptRecord) -> None:
        """The model answered, and called tools; what says and does nothing is no step.

        What comes under the name of the step before it is more of the same step.
        """
        called = dict(list(calls)[:MAX_CALLS])
        if not (step.text.strip() or step.reasoning.strip() or called):
            return
        step = replace(step, id=step.id or f"at:{at.start}")
        before = self._drafts[-1] if self._drafts and self._drafts[-1].step.id == step.id else None
        if before is None:
            self._room_for(step, at)
            before = _Draft(replace(step, text="", reasoning=""))
            self._drafts.append(before)
        before.step = replace(
            before.step,
            text=cut(before.step.text + step.text, transcripts.MAX_TEXT),
            reasoning=cut(before.step.reasoning + step.reasoning, transcripts.MAX_TEXT),
        )
        for call_id, told in called.items():
            if len(before.calls) < MAX_CALLS:
                before.calls.setdefault(call_id, None)
                self._expect(call_id, before, told, (at.end - at.start) // max(1, len(called)))

    def _room_for(self, step: TranscriptStep, at: TranscriptRecord) -> None:
        """A turn in which there is room for one more step."""
        if self._turn is None or len(self._drafts) >= transcripts.MAX_STEPS:
            goes_on = self._turn is not None or self._resumed
            cwd, branch = (self._turn.cwd, self._turn.branch) if self._turn else (None, None)
            self._close()
            self._turn = TranscriptTurn(
                key=step.id, ts=step.ts, continues=goes_on, cwd=cwd, branch=branch, start=at.start, end=at.end
            )

    def used(self, step_id: str, usage: TokenUse | None) -> None:
        """What the last step cost, where that comes after it."""
        if self._drafts and self._drafts[-1].step.id == step_id:
            self._drafts[-1].step = replace(self._drafts[-1].step, usage=usage)

    def gave(self, call_id: str, told: dict[str, Any]) -> None:
        """A tool gave its result."""
        waiting = self._pending.pop(call_id, None)
        if waiting is not None:
            draft, call, size = waiting
            self._bytes -= size
            draft.calls[call_id] = self._understood(call_id, call, told)

    def stopped(self) -> None:
        """A person stopped the turn."""
        if self._turn is not None:
            self._turn = replace(self._turn, interrupted=True)

    def end(self, end: int) -> None:
        """The transcript is over, for now."""
        if self._turn is not None:
            self._turn = replace(self._turn, end=max(end, self._turn.start))
        self._close()

    def _expect(self, call_id: str, draft: _Draft, told: dict[str, Any], size: int) -> None:
        self.gave_up(call_id)
        self._pending[call_id] = (draft, told, size)
        self._bytes += size
        while len(self._pending) > MAX_PENDING or self._bytes > MAX_PENDING_BYTES:
            self.gave_up(next(iter(self._pending)))

    def gave_up(self, call_id: str) -> None:
        """No result is waited for any more."""
        waiting = self._pending.pop(call_id, None)
        if waiting is not None:
            draft, call, size = waiting
            self._bytes -= size
            draft.calls[call_id] = self._understood(call_id, call, None)

    def _close(self) -> None:
        for call_id in list(self._pending):
            self.gave_up(call_id)
        if self._turn is not None and (self._turn.prompt or self._turn.brief or self._drafts):
            steps = (replace(one.step, calls=tuple(filter(None, one.calls.values()))) for one in self._drafts)
            self._done.append(replace(self._turn, steps=tuple(steps)))
        self._turn, self._drafts = None, []

    def _released(self) -> Iterator[TranscriptTurn]:
        yield from self._done
        self._done.clear()


# ── what a call did ──────────────────────────────────────────────────────────────────────────────


@frozen(kw_only=True)
class ToolOutcome:
    """What came back of a call, as the dialect found it."""

    text: str = ""
    failed: bool = False
    refused: bool = False
    exit_status: int | None = None
    edits: tuple[TranscriptEdit, ...] = ()


def kind_of(agent: str, tool: str) -> str:
    """What a tool of an agent does; one that is nobody's own is an MCP server's."""
    kind = _TABLES.table(agent).get(tool)
    return kind or ("mcp" if "__" in tool or is_holdfast_tool(tool) else "other")


def tool_call(agent: str, call_id: str, tool: str, given: object, answer: ToolOutcome | None, **more: Any) -> Call:
    """A call in our words: its kind, its command or its files, and what came of it."""
    kind, known = kind_of(agent, tool), dict_of(given)
    names = ("file_path", "filePath", "path", "absolute_path")
    paths = tuple(path for name in names if (path := text_value(known.get(name), 4096)))
    command = known.get("command") or "\n".join(map(text_value, list_of(known.get("commands"))))
    said = "" if is_holdfast_tool(tool) or answer is None else own_words(answer.text).strip("\n")
    result = (
        None
        if answer is None
        else Result(
            text=transcripts.ends(said),
            size=len(said),
            exit_status=answer.exit_status if kind == "shell" else None,
            failed=answer.failed or answer.refused or bool(kind == "shell" and answer.exit_status),
            refused=answer.refused,
        )
    )
    worked = result is not None and not result.failed
    return Call(
        id=call_id,
        name=tool or "unknown",
        kind=kind,
        text=json_text(given),
        command=cut(own_words(text_value(command)), transcripts.MAX_INPUT) or None if kind == "shell" else None,
        paths=paths[:1],
        edits=answer.edits if answer and worked and kind == "edit" else (),
        result=result,
        **more,
    )


def spoken(content: object, *tags: str) -> str:
    """The text of a message: a string, or its parts of type text; without programs' blocks of these names."""
    if isinstance(content, str):
        return own_words(text_value(content), *tags)
    parts = [dict_of(part) for part in list_of(content)]
    texts = [text_value(part.get("text")) for part in parts if part.get("type", "text") == "text"]
    return own_words("\n".join(filter(None, texts)), *tags)


def summed(*counts: object) -> int:
    """Tokens that are counted apart, together."""
    return sum(one for one in counts if type(one) is int and 0 <= one < transcripts.MAX_TOKENS)


def id_of(told: dict[str, Any], *names: str) -> str:
    """The first of these names that a record has."""
    return next(filter(None, (short_name(told.get(name)) for name in names)), "")


def moment_of(value: object) -> str | None:
    """A time in milliseconds as the other agents write theirs; None if it is none."""
    if type(value) not in (int, float) or not 0 < value < 1 << 46:  # type: ignore[operator]
        return None
    when = datetime.fromtimestamp(int(value) / 1000, UTC)  # type: ignore[call-overload]
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line_reading(
    path: str,
    start: int,
    origin: TranscriptOrigin | None,
    *,
    whose: Callable[[str], TranscriptOrigin],
    taker: Callable[[MessageTurns, TranscriptCounts, TranscriptOrigin], Callable[[TranscriptRecord], object]],
    understood: Understood,
    wanted: Callable[[bytes], bool] | None = None,
) -> TranscriptReading:
    """A reading of a transcript that has one message a line."""
    if not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    known, counted = origin or whose(path), TranscriptCounts()
    turns = MessageTurns(understood, helper=known.role == "subagent", resumed=start > 0)
    told = turns.over(records(path, counted, start=start, wanted=wanted), taker(turns, counted, known))
    return TranscriptReading(known, told, counted)
