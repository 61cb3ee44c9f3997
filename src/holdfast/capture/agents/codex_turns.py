"""Turns out of a rollout's records, whichever of the four generations wrote it.

The response items say what was asked, said and called; they stand in every generation alike. Events only add what items
do not say: how a command ended, what a patch changed, that a person stopped the turn. Their copies of prompts and
answers, and the history that a compaction repeats, are passed over. A kind that is neither read nor listed in
codex_turns.txt is counted as unknown, so that a new one is noticed. Most lines that are passed over say so in their
first bytes and need not be parsed: that is a third of all lines.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from holdfast.capture.agents.codex_calls import CodexCallDraft, goal_of, understood
from holdfast.capture.agents.codex_origin import RolloutHead, first_text, folder_of, ran_by_hand, typed
from holdfast.capture.agents.codex_steps import OpenCodexTurn, command_happened, files_changed, mcp_answered
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptRecord
from holdfast.capture.agents.transcript_text import path_value, short_name, text_value, without_ours
from holdfast.model.transcript import MAX_TEXT, Result, TranscriptTurn, cut, token_use
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, list_of

_LISTS = PatternFile(__file__)
_HEAD = rb'\{"timestamp":"[^"]{0,40}",(?:"ordinal":\d{1,12},)?"type":"'
_EVENTS = rb"user_message|agent_message|agent_reasoning|task_complete|thread_settings_applied"
_PASSED_DISPLAY = rb'"thread_id":"[^"]{0,60}","turn_id":"[^"]{0,60}","item":\{"type":"(?:User|Agent)Message"'
_KINDS = (
    rb'(?:world_state|token_usage_record)"',
    rb'event_msg","payload":\{"type":"(?:' + _EVENTS + rb')"',
    rb'event_msg","payload":\{"type":"item_completed",' + _PASSED_DISPLAY,
    rb'response_item","payload":\{"type":"(?:additional_tools|ghost_snapshot)"',
    rb'response_item","payload":\{"type":"message",(?:"id":"[^"]{0,100}",)?"role":"developer"',
)
_PASSED = regex(_HEAD + rb"(?:" + rb"|".join(_KINDS) + rb")")


def is_wanted(raw: bytes) -> bool:
    """Whether a line may hold something, by its first bytes; one with a second object glued on does."""
    return _PASSED.match(raw) is None or b'}{"timestamp"' in raw


CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output")
_HAPPENED = {"exec_command_end": command_happened, "patch_apply_end": files_changed}
_HAPPENED |= {"mcp_tool_call_end": mcp_answered}
_SHOWN = {"CommandExecution": command_happened, "FileChange": files_changed, "McpToolCall": mcp_answered}
_STOPPED = ("interrupted", "replaced")
# Commands that stand elsewhere, too: a person's own, and what is typed into one that runs already.
_TOLD_ELSEWHERE = ("user_shell", "unified_exec_interaction")


class CodexTurns:
    """Reads records in the order of the file and gives the turns they tell of."""

    def __init__(self, head: RolloutHead, counted: TranscriptCounts, *, resumed: bool) -> None:
        self._head, self._counted = head, counted
        self._session = head.origin.session
        self._by_person = head.origin.role in ("main", "fork")
        self._may_inherit = head.own_from > 0 or head.origin.role == "subagent"
        self._model: str | None = None
        self._total: object = None  # tokens of the thread so far
        self._cwd = head.origin.cwd
        self._branch = head.origin.branch
        self._turn = OpenCodexTurn(start=0, continues=resumed)
        self._at: TranscriptRecord = TranscriptRecord({}, 0, 0)
        self._ts: object = None
        self._done: list[TranscriptTurn] = []
        self._takes = {"message": self._message, "reasoning": self._reasoned}
        self._takes |= dict.fromkeys(CALLS, self._called) | dict.fromkeys(OUTPUTS, self._gave)

    def turns(self, records: Iterable[TranscriptRecord]) -> Iterator[TranscriptTurn]:
        """The turns, each as soon as the next one begins."""
        self._turn.start = -1
        for record in records:
            self._at = record
            if self._turn.start < 0:
                self._turn.start = record.start
            self._take(record.value)
            self._turn.end = record.end
            if self._done:
                yield from self._done
                self._done.clear()
        self._close()
        yield from self._done

    def _take(self, value: dict[str, Any]) -> None:
        payload = value.get("payload")
        if payload is None:  # before 0.32 a line is an item and nothing else
            if "record_type" not in value and not ("id" in value and "instructions" in value):
                self._item(value)
            return
        if not isinstance(payload, dict) or (self._may_inherit and self._is_inherited(value)):
            return
        self._ts = value.get("timestamp")
        match text_value(value.get("type")):
            case "response_item":
                self._item(payload)
            case "event_msg":
                self._event(payload)
            case "turn_context":
                self._context(payload)
            case "session_meta" if payload.get("id") == self._session:
                # A later one of this thread tells of a new branch; one of another thread, of the parent.
                self._branch = path_value(dict_of(payload.get("git")).get("branch")) or self._branch
            case "compacted":
                self._turn.end_step()
            case kind if kind != "session_meta" and kind not in _LISTS.words("passed_lines"):
                self._unknown(kind)

    def _is_inherited(self, value: dict[str, Any]) -> bool:
        """Whether a line is the parent's, copied into a helper's file."""
        ordinal = value.get("ordinal")
        if isinstance(ordinal, int) and ordinal < self._head.own_from:
            return True
        return dict_of(value.get("metadata")).get("inherited_user_message") is True

    # ── lines that say where we are ──────────────────────────────────────────────────────────────

    def _context(self, context: dict[str, Any]) -> None:
        turn_id = short_name(context.get("turn_id")) or None
        if turn_id and turn_id != self._turn.id and (self._turn.id or self._turn.steps):
            self._begin(turn_id)
        self._turn.id = self._turn.id or turn_id
        self._model = short_name(context.get("model")) or self._model
        self._cwd = text_value(context.get("cwd"), 4096) or self._cwd
        self._turn.cwd = self._cwd

    def _event(self, event: dict[str, Any]) -> None:
        kind = text_value(event.get("type"))
        if kind in _LISTS.words("passed_events"):
            return
        if kind == "token_count":
            self._counted_tokens(dict_of(event.get("info")))
        elif kind == "item_completed":
            self._shown(dict_of(event.get("item")))
        elif kind in ("task_started", "turn_started"):
            self._begins(short_name(event.get("turn_id")) or None)
        elif kind == "turn_aborted":
            self._turn.interrupted = self._turn.interrupted or event.get("reason") in _STOPPED
        elif kind in _HAPPENED:
            self._happened(_HAPPENED[kind], event)
        elif kind == "thread_goal_updated":
            self._turn.planned(goal_of(event.get("goal")))
        else:
            self._unknown(f"event_msg/{kind}")

    def _counted_tokens(self, info: dict[str, Any]) -> None:
        """What the last answer cost; it is said again when only the limits of the account changed."""
        total, last = info.get("total_token_usage"), dict_of(info.get("last_token_usage"))
        usage = token_use(last.get("input_tokens"), last.get("output_tokens"), cached=last.get("cached_input_tokens"))
        if usage is not None and total != self._total:
            self._turn.used(usage)
        self._total = total

    def _shown(self, item: dict[str, Any]) -> None:
        kind = text_value(item.get("type"))
        if kind in _SHOWN:
            self._happened(_SHOWN[kind], item)
        elif kind == "Plan":
            self._planned(item)
        elif kind not in _LISTS.words("passed_display_items"):
            self._unknown(f"item_completed/{kind}")

    def _happened(self, read: Callable[[dict[str, Any]], CodexCallDraft], told: dict[str, Any]) -> None:
        if told.get("source") not in _TOLD_ELSEWHERE:
            self._turn.happened(read(told))

    def _planned(self, item: dict[str, Any]) -> None:
        """A plan for a person to agree to: it stands in no item."""
        if text := cut(without_ours(text_value(item.get("text"))), MAX_TEXT):
            step = self._step(item)
            call_id = short_name(item.get("id")) or step.numbered(text)
            step.call(CodexCallDraft(call_id, "plan", "plan", text, result=Result()))

    def _begins(self, turn_id: str | None) -> None:
        """A turn is said to begin; its prompt may already stand there."""
        turn = self._turn
        if turn.prompt and not turn.steps and not turn.id and turn_id:
            turn.id = turn_id
        elif turn.is_empty and turn_id and turn.id == turn_id:
            turn.continues = False  # its context came first
        else:
            self._begin(turn_id)

    # ── items ────────────────────────────────────────────────────────────────────────────────────

    def _item(self, item: dict[str, Any]) -> None:
        kind = text_value(item.get("type"))
        if take := self._takes.get(kind):
            take(item)
        elif kind == "agent_message":  # another agent's words
            self._turn.end_step()
        elif kind not in _LISTS.words("passed_items"):
            self._unknown(f"response_item/{kind}" if kind else "")

    def _message(self, item: dict[str, Any]) -> None:
        if item.get("role") == "user":
            self._user(item)
        elif item.get("role") == "assistant":
            told = item.get("content")
            pieces = [{"text": told}] if isinstance(told, str) else list_of(told)
            text = without_ours("\n".join(filter(None, (text_value(dict_of(piece).get("text")) for piece in pieces))))
            if text.strip():
                self._step(item).say(text, short_name(item.get("id")), on_the_way=item.get("phase") == "commentary")

    def _user(self, item: dict[str, Any]) -> None:
        self._turn.end_step()
        begins = first_text(item)
        if begins.startswith("<turn_aborted>"):
            self._turn.interrupted = True
        elif begins.startswith("<environment_context>"):
            self._cwd = folder_of(begins) or self._cwd
            self._turn.cwd = self._cwd
        elif begins.startswith("<user_shell_command>"):
            self._ran_by_hand(item, begins)
        elif prompt := typed(item):
            self._asked(item, prompt)

    def _asked(self, item: dict[str, Any], prompt: str) -> None:
        if self._turn.prompt or self._turn.asked or self._turn.steps:
            self._begin(_turn_id(item) or self._turn.id)
        turn = self._turn
        turn.id = turn.id or _turn_id(item)
        turn.asked, turn.continues, turn.ts = True, False, text_value(self._ts, 40) or None
        turn.cwd, turn.branch = self._cwd, self._branch
        # A helper is asked by the agent that spawned it.
        turn.prompt, turn.brief = (prompt, "") if self._by_person else ("", prompt)

    def _ran_by_hand(self, item: dict[str, Any], text: str) -> None:
        if draft := ran_by_hand(text, short_name(item.get("id"))):
            step = self._step(item)
            draft.id = draft.id or step.numbered("by-hand")
            step.call(draft)
            self._turn.end_step()

    def _reasoned(self, item: dict[str, Any]) -> None:
        pieces = [*list_of(item.get("summary")), *list_of(item.get("content"))]
        text = "\n\n".join(text for piece in pieces if (text := text_value(dict_of(piece).get("text"))))
        self._step(item).think(without_ours(text), short_name(item.get("id")))

    def _called(self, item: dict[str, Any]) -> None:
        kind, step = item["type"], self._step(item)
        call_id = short_name(item.get("call_id")) or short_name(item.get("id")) or step.numbered(kind)
        step.call(_call(kind, call_id, item))
        if kind == "web_search_call":  # what it found stands nowhere
            step.answer(step.calls[call_id], "")

    def _gave(self, item: dict[str, Any]) -> None:
        self._turn.end_step()
        if call := self._turn.calls.get(short_name(item.get("call_id"))):
            self._turn.answer(call, item.get("output", item.get("tools")))

    def _step(self, item: dict[str, Any]) -> OpenCodexTurn:
        """The open turn with a step open in it, as something of the model's comes."""
        turn = self._turn
        if turn.is_full:
            self._close()
            self._turn = turn = OpenCodexTurn(
                self._at.start, continues=True, id=turn.id, cwd=turn.cwd, branch=turn.branch
            )
        turn.id = turn.id or _turn_id(item)
        turn.cwd, turn.branch = turn.cwd or self._cwd, turn.branch or self._branch
        if turn.is_between:
            turn.begin_step(text_value(self._ts, 40) or None, self._model)
        return turn

    def _unknown(self, kind: str) -> None:
        self._counted.unknown[text_value(kind, 100) or "?"] += 1

    # ── turns ────────────────────────────────────────────────────────────────────────────────────

    def _begin(self, turn_id: str | None) -> None:
        self._close()
        self._turn = OpenCodexTurn(self._at.start, id=turn_id, running=self._turn.running)

    def _close(self) -> None:
        if turn := self._turn.told():
            self._done.append(turn)


def _turn_id(item: dict[str, Any]) -> str | None:
    told = dict_of(item.get("internal_chat_message_metadata_passthrough")) or dict_of(item.get("metadata"))
    return short_name(told.get("turn_id")) or None


def _call(kind: str, call_id: str, item: dict[str, Any]) -> CodexCallDraft:
    if kind == "function_call":
        name, given = short_name(item.get("name")) or "?", item.get("arguments")
        return understood(call_id, name, given, namespace=short_name(item.get("namespace")))
    if kind == "custom_tool_call":
        return understood(call_id, short_name(item.get("name")) or "?", item.get("input"))
    if kind == "local_shell_call":
        return understood(call_id, "local_shell", dict_of(item.get("action")))
    if kind == "web_search_call":
        return understood(call_id, "web_search", item.get("action"))
    return understood(call_id, "tool_search", item.get("arguments"))
