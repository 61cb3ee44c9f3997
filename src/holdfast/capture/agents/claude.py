"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, versions 1.x to 2.1.

    <session>.jsonl                         a session; a fork is a copy with the same uuids
    <session>/subagents/agent-<id>.jsonl    a helper's own transcript; older versions: agent-<id>.jsonl

A turn is known by the uuid of its prompt, a step by that of its first line: copies of a session keep them.

Records are put together into turns: several lines are one step, results find their calls. They are read in the order of
the file; their times are not in order. A turn that still waits for a result when the next one begins is held until that
one ends, so that a result told late finds its call.
"""

import os
import re
from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any

from holdfast.capture.agents import claude_records, transcript_reader
from holdfast.capture.agents.claude_records import ClaudeTasks, ClaudeTrigger, ClaudeTypedPrompt, prompt_by_text, texts
from holdfast.capture.agents.transcript_reader import TranscriptCounts, TranscriptRecord, records
from holdfast.capture.agents.transcript_text import passed_over, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import (
    MAX_STEPS,
    MAX_TEXT,
    Call,
    TokenUse,
    TranscriptOrigin,
    TranscriptStep,
    TranscriptTurn,
    cut,
    token_use,
)
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, field, list_of, mutable, replace

MAX_CALLS = 256  # of one step
MAX_WEIGHT = 16 << 20  # characters of one turn, more goes on in the next
_MAX_SEEN = 200_000  # records told apart by their uuid
_MAX_QUEUED = 100  # prompts that wait for delivery; a guess: people queue a few
_SPEAKS = (b'"type":"user"', b'"type":"assistant"')
_TELLS = (b'"queued_command"', b'"task_reminder"')
_LISTS = PatternFile(__file__)


def is_dropped(kind: str) -> bool:
    """Whether a kind of record is known and holds nothing that memory needs."""
    return kind in _LISTS.words("dropped")


@cache
def _silent() -> tuple[bytes, ...]:
    return tuple(f'{{"type":"{kind}"'.encode() for kind in _LISTS.words("dropped"))


def may_matter(raw: bytes) -> bool:
    """Whether a line is worth its parsing; most bytes of a transcript are progress and copies of requests.

    What is looked for cannot stand in a text, where its quotes would be escaped.
    """
    if b"}{" in raw or any(sign in raw for sign in _SPEAKS):
        return True
    if b'"type":"attachment"' in raw:
        return any(sign in raw for sign in _TELLS)
    return not raw.startswith(_silent()) and b'"type":"progress"' not in raw


@mutable
class _Step:
    """A step while its lines come in."""

    id: str
    ts: str | None
    model: str | None
    aside: bool
    said: list[tuple[str, str, str]] = field(default_factory=list)  # (uuid, thinking or text, words)
    calls: dict[str, Call] = field(default_factory=dict)
    given: dict[str, dict[str, Any]] = field(default_factory=dict)  # inputs of calls that wait
    lines: dict[str, str] = field(default_factory=dict)  # call -> uuid of the line it stood in
    usage: TokenUse | None = None  # each line of a message says it again; the last one knows all of it

    def finished(self) -> TranscriptStep | None:
        """The step, if it says or does anything."""
        said = {kind: "\n\n".join(text for _, what, text in self.said if what == kind) for kind in ("thinking", "text")}
        if not self.calls and not any(said.values()):
            return None
        return TranscriptStep(
            id=self.id,
            ts=self.ts,
            model=self.model,
            reasoning=cut(said["thinking"], MAX_TEXT),
            text=cut(said["text"], MAX_TEXT),
            calls=tuple(self.calls.values()),
            aside=self.aside,
            usage=self.usage,
        )

    def forget(self, uuids: set[str]) -> None:
        """Without the lines that Claude Code took back."""
        self.said = [one for one in self.said if one[0] not in uuids]
        for call in [call for call, uuid in self.lines.items() if uuid in uuids]:
            del self.calls[call], self.lines[call]
            self.given.pop(call, None)


@mutable
class _Turn:
    """A turn while its records come in."""

    key: str
    start: int
    ts: str | None = None
    prompt: str = ""
    cwd: str | None = None
    branch: str | None = None
    command: bool = False  # nothing if no step follows
    interrupted: bool = False
    continues: bool = False
    weight: int = 0
    steps: list[_Step] = field(default_factory=list)
    messages: dict[str, _Step] = field(default_factory=dict)

    def finished(self, end: int) -> TranscriptTurn | None:
        steps = tuple(step for one in self.steps if (step := one.finished()))
        if not steps and (self.command or not self.prompt):
            return None
        names = ("key", "prompt", "ts", "cwd", "branch", "interrupted", "continues", "start")
        return TranscriptTurn(**{name: getattr(self, name) for name in names}, steps=steps, end=end)


class ClaudeTurns:
    """The turns of one file."""

    def __init__(
        self, counted: TranscriptCounts, tasks: claude_records.ClaudeTasks, *, helper: bool, resumed: bool
    ) -> None:
        self._counted, self._tasks = counted, tasks
        self._helper = helper  # whether all of it is a helper's own transcript
        self._resumed = resumed  # whether the reading began in the middle of the file
        self._turn: _Turn | None = None
        self._held: tuple[_Turn, int] | None = None
        self._done: list[TranscriptTurn] = []
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._queued: deque[str] = deque(maxlen=_MAX_QUEUED)
        self._delivered: str | None = None  # what was typed while the agent worked, and told already
        self._take = {"user": self._user, "assistant": self._assistant, "attachment": self._attachment}
        self._take |= {"queue-operation": self._queue, "system": self._system}

    def turns(self, records: Iterable[TranscriptRecord]) -> Iterator[TranscriptTurn]:
        """One turn after the other, as their records come."""
        for record in records:
            self._one(record)
            yield from self._done
            self._done.clear()
        self._close(self._counted.end)
        self._release()
        yield from self._done

    def _one(self, record: TranscriptRecord) -> None:
        kind = record.value.get("type")
        take = self._take.get(kind) if isinstance(kind, str) else None
        if take is None:
            if not (isinstance(kind, str) and is_dropped(kind)):
                passed_over(self._counted.unknown, kind)
        elif not self._is_repeated(short_name(record.value.get("uuid"))):
            take(record)

    def _is_repeated(self, uuid: str) -> bool:
        """Whether this line stood in the file before: a resumed session may tell its past again."""
        if uuid in self._seen:
            return True
        if uuid:
            self._seen[uuid] = None
        if len(self._seen) > _MAX_SEEN:
            self._seen.popitem(last=False)
        return False

    # -- turns ---------------------------------------------------------------------------------------------

    def _open(
        self, record: TranscriptRecord, key: str, prompt: str = "", *, command: bool = False, continues: bool = False
    ) -> _Turn:
        self._close(record.start)
        value = record.value
        ts, cwd = short_name(value.get("timestamp")) or None, text_value(value.get("cwd")) or None
        turn = _Turn(key, record.start, ts, prompt, cwd, branch(value), command, weight=len(prompt))
        turn.continues, self._turn, self._resumed = continues, turn, False
        return turn

    def _close(self, end: int) -> None:
        """End the turn; one that waits for results is held until the next one ends."""
        turn, self._turn = self._turn, None
        if turn is not None:
            self._release()
            self._held = (turn, end)
            if not any(step.given for step in turn.steps):
                self._release()

    def _release(self) -> None:
        if self._held is not None and (finished := self._held[0].finished(self._held[1])):
            self._done.append(finished)
        self._held = None

    def _hear(self, record: TranscriptRecord, said: object, *, key: str) -> None:
        """A text that may begin or end a turn."""
        match said:
            case ClaudeTypedPrompt(text, command):
                self._open(record, key, text, command=command)
            case ClaudeTrigger():
                if self._turn is None or self._turn.steps or self._turn.command:
                    self._open(record, key)
            case claude_records.ClaudeLocalOutput():
                if self._turn is not None and self._turn.command and not self._turn.steps:
                    self._turn = None
            case claude_records.ClaudeInterrupt():
                if self._turn is not None:
                    self._turn.interrupted = True

    # -- records -------------------------------------------------------------------------------------------

    def _user(self, record: TranscriptRecord) -> None:
        value = record.value
        message = value.get("message")
        content = message if isinstance(message, str) else dict_of(message).get("content")
        for block in map(dict_of, list_of(content)):
            if short_name(block.get("type")) == "tool_result":
                self._result(block, value)
        text, image = texts(content)
        human = dict_of(value.get("origin")).get("kind") == "human"
        key = short_name(value.get("uuid")) or f"at:{record.start}"
        if self._helper:
            if text and value.get("isMeta") is not True:
                self._hear(record, ClaudeTrigger(), key=key)
        elif value.get("isSidechain") is not True or human:
            said = claude_records.classify_prompt(value, text, image=image)
            if isinstance(said, ClaudeTypedPrompt) and said.text in self._queued:
                self._queued.remove(said.text)  # `dequeue` names nothing, and took the oldest
            self._hear(record, said, key=key)

    def _assistant(self, record: TranscriptRecord) -> None:
        value = record.value
        message = dict_of(value.get("message"))
        if value.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            return
        self._forget(value.get("supersedesUuids"))
        uuid = short_name(value.get("uuid")) or f"at:{record.start}"
        content = value.get("message") if isinstance(value.get("message"), str) else message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list_of(content)
        for number, block in enumerate(map(dict_of, blocks)):
            self._block(record, uuid, number, block)
        self._used(short_name(message.get("id")) or uuid, dict_of(message.get("usage")))

    def _used(self, named: str, told: dict[str, Any]) -> None:
        """What a message cost; its input stands in three numbers."""
        step = self._turn.messages.get(named) if self._turn and told else None
        if step is not None:
            fresh, made, found = (
                value if type(value := told.get(f"{name}input_tokens")) is int else 0
                for name in ("", "cache_creation_", "cache_read_")
            )
            step.usage = token_use(fresh + made + found, told.get("output_tokens"), cached=found) or step.usage

    def _block(self, record: TranscriptRecord, uuid: str, number: int, block: dict[str, Any]) -> None:
        kind = short_name(block.get("type"))
        if kind in ("text", "thinking"):
            said = claude_records.own_text(text_value(block.get(kind)))
            if said.strip() and said != "(no content)":
                step = self._step(record, uuid, weight=len(said))
                step.said.append((uuid, kind, cut(said, MAX_TEXT)))
        elif kind.endswith("tool_use"):
            call = claude_records.read_call(block, short_name(block.get("id")) or f"{uuid}:{number}")
            step = self._step(record, uuid, weight=len(call.text))
            step.calls[call.id], step.lines[call.id] = call, uuid
            step.given[call.id] = dict_of(block.get("input"))
        elif kind.endswith("tool_result"):
            self._result(block, record.value)

    def _step(self, record: TranscriptRecord, uuid: str, *, weight: int) -> _Step:
        """The step that a line belongs to: the one with its message's id, else a new one."""
        value = record.value
        message = dict_of(value.get("message"))
        turn = self._turn or self._open(record, uuid, continues=self._resumed)
        turn.weight += weight
        named = short_name(message.get("id")) or uuid
        step = turn.messages.get(named)
        if step is not None and len(step.calls) < MAX_CALLS and len(step.said) < MAX_CALLS:
            return step
        if len(turn.steps) >= MAX_STEPS or turn.weight > MAX_WEIGHT:
            turn = self._open(record, uuid, continues=True)
        aside = value.get("isSidechain") is True and not self._helper
        model = short_name(message.get("model")) or None
        # One line may hold more than one step.
        named_so = any(one.id.split("#")[0] == uuid for one in turn.steps[-3:])
        step_id = f"{uuid}#{len(turn.steps)}" if named_so else uuid
        step = _Step(step_id, short_name(value.get("timestamp")) or None, model, aside)
        turn.messages[named] = step
        turn.steps.append(step)
        return step

    def _result(self, block: dict[str, Any], record: dict[str, Any]) -> None:
        """Give a call its result, in this turn or in the one that waits for it.

        A result that names no call belongs to the only one that waits.
        """
        waiting = [call for step in (self._turn.steps[-1:] if self._turn else ()) for call in step.given]
        called = short_name(block.get("tool_use_id")) or (waiting[0] if len(waiting) == 1 else "")
        turns = [turn for turn in (self._turn, self._held[0] if self._held else None) if turn]
        asked = ((turn, step) for turn in turns for step in reversed(turn.steps) if called in step.given)
        if (found := next(asked, None)) is None:
            return
        turn, step = found
        given = step.given.pop(called)
        call = claude_records.with_result(step.calls[called], given, block, record)
        if call.result is not None and not call.result.failed:
            plan = self._tasks.after(call.name, given, record.get("toolUseResult"), call.result.text)
            call = replace(call, todos=plan)
        step.calls[called] = call
        turn.weight += sum(len(line) for edit in call.edits for line in (*edit.added, *edit.removed))

    def _attachment(self, record: TranscriptRecord) -> None:
        attachment = dict_of(record.value.get("attachment"))
        match attachment.get("type"):
            case "task_reminder":
                self._tasks.remind(attachment.get("content"))
            case "queued_command" if attachment.get("isMeta") is not True:
                self._typed_meanwhile(record, attachment)

    def _typed_meanwhile(self, record: TranscriptRecord, attachment: dict[str, Any]) -> None:
        """What a person typed while the agent worked, told to it between two steps."""
        text, image = texts(attachment.get("prompt"))
        said = claude_records.classify_prompt({**attachment, "promptSource": None}, text, image=image)
        ts, last = (
            text_value(record.value.get("timestamp"), 40),
            self._turn,
        )  # the queue may have told it, a step before
        prompted = last.prompt if last and (not last.steps or last.ts == ts) else None
        if isinstance(said, ClaudeTypedPrompt) and said.text != prompted:
            self._delivered = said.text
            self._hear(record, said, key=short_name(record.value.get("uuid")) or f"at:{record.start}")

    def _queue(self, record: TranscriptRecord) -> None:
        """What was typed while the agent worked; a queue's `remove` is all that older versions tell of it."""
        value = record.value
        match value.get("operation"):
            case "enqueue":
                self._queued.append(text_value(value.get("content")))
            case "dequeue" if self._queued:
                self._queued.popleft()
            case "popAll":
                self._queued.clear()
            case "remove" if self._queued:
                self._taken_from_queue(record, text_value(value.get("content")))

    def _taken_from_queue(self, record: TranscriptRecord, named: str) -> None:
        """What the agent was given between two steps: the text that is named, else the oldest."""
        if named in self._queued:
            self._queued.remove(named)
        else:
            named = self._queued.popleft()
        said = prompt_by_text(named)
        if isinstance(said, ClaudeTypedPrompt) and not said.command and not said.text.startswith("/"):
            if said.text != self._delivered:
                self._hear(record, said, key=f"queued:{short_name(record.value.get('timestamp'))}")
            self._delivered = None

    def _system(self, record: TranscriptRecord) -> None:
        if record.value.get("subtype") == "local_command":
            self._hear(record, prompt_by_text(text_value(record.value.get("content"))), key="")
        self._forget(record.value.get("retractedMessageUuids"))

    def _forget(self, uuids: object) -> None:
        gone = {short_name(uuid) for uuid in list_of(uuids)}
        for step in self._turn.steps if self._turn and gone else ():
            step.forget(gone)


def branch(value: dict[str, Any]) -> str | None:
    """The branch a record stands on; none if it says none, or HEAD is detached."""
    said = text_value(value.get("gitBranch"))
    return said if said and said != "HEAD" else None


_SPEAKING = frozenset(("user", "assistant", "attachment", "queue-operation", "system"))
_NOT_SESSIONS = {"tool-results", "memory"}
_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HELPER = regex(r"agent-[0-9A-Za-z_-]{4,40}")
_PULL = regex(r"(https://[^\s/]+/[^\s/]+/[^\s/]+)/pull/\d+")
_HEAD = 400  # records in which a session says where it stands
_TAIL = 64 << 10  # bytes at the end in which its title stands
_TITLE = 200  # characters; a guess: one line of a list


def _files(home: str) -> Iterator[str]:
    found: list[str] = []
    for folder, below, names in os.walk(os.path.join(home, "projects")):
        below[:] = [one for one in below if one not in _NOT_SESSIONS]
        found += [os.path.join(folder, one) for one in names if one.endswith(".jsonl")]
    yield from transcript_reader.newest_first(found)


def _is_mine(path: str) -> bool:
    try:
        head = list(islice(records(path, TranscriptCounts()), 20)) if os.path.isfile(path) else []
    except OSError:
        return False
    return any(_is_ours(record.value) for record in head)


def _is_ours(value: dict[str, Any]) -> bool:
    """Whether a record is of Claude Code."""
    kind = value.get("type")
    if not isinstance(kind, str) or "payload" in value or "provenance" in value:  # those are Codex's and Qwen's
        return False
    if kind in _SPEAKING:
        return isinstance(value.get("sessionId"), str) or (isinstance(value.get("uuid"), str) and "message" in value)
    return (kind == "summary" and "leafUuid" in value) or (is_dropped(kind) and "sessionId" in value)


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> transcript_reader.TranscriptReading:
    if not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    known = origin or _origin(path)
    counted = TranscriptCounts()
    telling = ClaudeTurns(counted, ClaudeTasks(path, start), helper=known.role == "subagent", resumed=start > 0)
    return transcript_reader.TranscriptReading(
        known, telling.turns(records(path, counted, start=start, wanted=may_matter)), counted
    )


def _origin(path: str) -> TranscriptOrigin:
    """Whose session a file is, by its first records; its title may stand at its end."""
    stem = os.path.basename(path).removesuffix(".jsonl")
    known = TranscriptOrigin(agent="claude", session="")
    ours = False
    helper = stem if _HELPER.fullmatch(stem) else ""
    for record in islice(records(path, TranscriptCounts()), _HEAD):
        value = record.value
        if _is_ours(value):
            ours = True
            known = _learned(known, value)
            if value.get("isSidechain") is True and (agent := short_name(value.get("agentId"))):
                helper = helper or f"agent-{agent}"
        if known.session and known.cwd and known.started:
            break
    if not ours:
        raise BadInput(f"{path} is not a transcript of Claude Code")
    return _ended(_named(known, stem, path, helper=helper), path)


def _learned(known: TranscriptOrigin, value: dict[str, Any]) -> TranscriptOrigin:
    """What is known so far, and what one more record says."""
    worktree = dict_of(value.get("worktreeSession"))
    return replace(
        known,
        session=known.session or short_name(value.get("sessionId")),
        version=known.version or short_name(value.get("version")) or None,
        cwd=known.cwd or text_value(value.get("cwd")) or None,
        branch=known.branch or branch(value),
        commit=known.commit or short_name(worktree.get("originalHeadCommit")) or None,
        started=known.started or (short_name(value.get("timestamp")) or None if value.get("cwd") else None),
    )


def _named(known: TranscriptOrigin, stem: str, path: str, *, helper: str) -> TranscriptOrigin:
    """The session's own id and whose child it is; a file's name counts if it looks like one."""
    if helper:
        folder = os.path.basename(os.path.dirname(os.path.dirname(path)))
        parent = folder if _UUID.fullmatch(folder) else known.session
        return replace(known, session=helper, role="subagent", parent=parent if parent != helper else None)
    if _UUID.fullmatch(stem) and known.session and known.session != stem:
        return replace(known, session=stem, role="fork", parent=known.session)
    return replace(known, session=known.session or stem)


def _ended(known: TranscriptOrigin, path: str) -> TranscriptOrigin:
    """With what a session's last records add: its title, the repository it made a pull request in."""
    start = max(0, os.path.getsize(path) - _TAIL)
    title = own = remote = ""
    for record in records(path, TranscriptCounts(), start=start):
        value = record.value
        own = text_value(value.get("customTitle")) or own
        title = text_value(value.get("aiTitle")) or title
        if value.get("type") == "pr-link" and (found := _PULL.match(text_value(value.get("prUrl")))):
            remote = found[1]
    said = " ".join((own or title).split())
    return replace(known, title=cut(said, _TITLE) or None, remote=known.remote or remote or None)


DIALECT = transcript_reader.Dialect(
    "claude", lambda environ, home: environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude", _files, _is_mine, _read
)
