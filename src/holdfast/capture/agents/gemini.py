"""Transcripts of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, before that `.json`.

    chats/<session>/<id>.jsonl      a helper's own transcript
    .project_root, projects.json    which folder a project stands for; its sha256 stands in each transcript

A log of updates means something only as a whole, so a reading always begins at the file's beginning,
whatever offset it is given: no turn has a place of its own. A turn is known by the id of its prompt, a step by
its message's. `logs.json` holds prompts that stand in the transcripts too, and is not read.

The file is folded into messages, and these make turns:

    {"id": …}                  a message; told again, it has grown
    {"$set": {"messages": …}}  the history as the model is sent it from here on
    {"$rewindTo": id}          that message and all after it never were

A `$set.messages` after a resume or a compression leaves out prompts and results that were there: what happened before
stays, and only what is new in it is added. So the richest form of each message is kept.
"""

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from holdfast.capture.agents import tool_input, transcript_reader, transcript_text
from holdfast.capture.agents.tool_input import agreed_edit, hunks, lines_of, patch_edit, replacement_edit, todo_list
from holdfast.capture.agents.transcript_reader import TranscriptCounts, document
from holdfast.capture.agents.transcript_text import json_text, own_words, passed_over, short_name, text_value
from holdfast.errors import BadInput
from holdfast.model import transcript as transcripts
from holdfast.model.transcript import Call, Result, TranscriptStep, TranscriptTurn, cut, token_use
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, field, list_of, mutable

_LISTS = PatternFile(__file__)
_EXIT = regex(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE)
_ENDING = 600  # characters at the end of a command's output in which the tool says how it ended
_NEW = "Successfully created"
_PLANS = ("write_todos", "todo_write")
_PATHS = ("file_path", "absolute_path", "dir_path", "path")


def _own_text(text: str) -> str:
    return own_words(text, *_LISTS.lines("blocks"))


def called(told: dict[str, Any], call_id: str) -> Call:
    """A call with its result, as one entry of `toolCalls` tells it."""
    given, tool = dict_of(told.get("args")), short_name(told.get("name")) or "unknown"
    kind = "mcp" if tool.startswith("mcp_") or "__" in tool else _LISTS.table("kinds").get(tool, "other")
    result = _result(tool, kind, told)
    worked = result is not None and not result.failed and not result.refused
    return Call(
        id=call_id,
        name=tool,
        kind=kind,
        text=json_text(told.get("args")),
        command=cut(own_words(text_value(given.get("command"))), transcripts.MAX_INPUT) or None
        if kind == "shell"
        else None,
        paths=tuple(path for key in _PATHS if (path := text_value(given.get(key))))[:1],
        edits=_edits(tool, given, told, result) if worked and result and kind == "edit" else (),
        todos=todo_list(given.get("todos"), "description", "content") if worked and tool in _PLANS else None,
        result=result,
    )


def _result(tool: str, kind: str, told: dict[str, Any]) -> Result | None:
    """What came back; None if nothing did, or the call still goes on."""
    status = short_name(told.get("status"))
    said, failed = responses(told.get("result"))
    if not said and status not in ("success", "error", "cancelled"):
        return None
    ended = _exit_status(said) if kind == "shell" and status != "cancelled" else None
    return Result(
        text="" if transcript_text.is_holdfast_tool(tool) else transcripts.ends(said),
        size=len(said),
        exit_status=ended,
        failed=failed or status in ("error", "cancelled") or bool(ended),
        refused=status == "cancelled",
    )


def responses(parts: object) -> tuple[str, bool]:
    """The text of function responses, and whether one of them is an error."""
    said, failed = [], False
    for part in [parts] if isinstance(parts, dict | str) else list_of(parts):
        response = dict_of(dict_of(dict_of(part).get("functionResponse")).get("response"))
        failed = failed or bool(response.get("error"))
        forms = (response.get("output"), response.get("error"), dict_of(part).get("text"), part)
        said.append(next(filter(None, map(text_value, forms)), ""))
    text = _own_text("\n".join(filter(None, said))).strip("\n")
    return text.replace("<untrusted_context>\n", "").replace("\n</untrusted_context>", "").strip("\n"), failed


def _exit_status(said: str) -> int | None:
    """How a command ended: said after its output, by newer versions only if it failed."""
    ending = said[-_ENDING:]
    if found := _EXIT.findall(ending):
        return int(found[-1])
    return 0 if "Process Group PGID:" in ending or said.startswith("Output: ") else None


def _edits(
    tool: str, given: dict[str, Any], told: dict[str, Any], result: Result
) -> tuple[transcripts.TranscriptEdit, ...]:
    shown = dict_of(told.get("resultDisplay"))
    path = text_value(given.get("file_path")) or text_value(shown.get("filePath"))
    if not path:
        return ()
    edit = _edit(tool, path, given, shown, result)
    if given.get("modified_by_user") is True:
        edit = agreed_edit(edit, lines_of(text_value(given.get("ai_proposed_content"))))
    return (edit,)


def _edit(
    tool: str, path: str, given: dict[str, Any], shown: dict[str, Any], result: Result
) -> transcripts.TranscriptEdit:
    before, after = shown.get("originalContent"), shown.get("newContent")
    new = shown.get("isNewFile") is True or result.text.startswith(_NEW)
    if tool == "write_file":
        content = text_value(after) or text_value(given.get("content"))
        known = text_value(before) if isinstance(before, str) else None
        return tool_input.whole_file_edit(path, content, before=known, new=new)
    if diff := text_value(shown.get("fileDiff")):
        return patch_edit(path, hunks(diff)[: 4 * transcripts.MAX_LINES])
    if isinstance(before, str) and isinstance(after, str):
        return replacement_edit(path, [(text_value(before), text_value(after))], new=new)
    pair = (text_value(given.get("old_string")), text_value(given.get("new_string")))
    return replacement_edit(path, [pair], new=new or not pair[0])


MAX_LOG = 128 << 20  # bytes; most of them tell a message again as it grows
MAX_MESSAGES = 20_000  # a guess: bounds memory, as the whole file is one JSON text
_CALLS = ("functionCall", "functionResponse")
_KEPT = ("sessionId", "projectHash", "startTime", "kind", "summary", "directories")


@mutable
class GeminiLog:
    """A session as its file leaves it."""

    known: dict[str, Any] = field(default_factory=dict)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: Counter[str] = field(default_factory=Counter)  # to know a message told under another id
    unnamed: int = 0

    def add(self, message: dict[str, Any]) -> None:
        """Add a message, or put it in place of its shorter form."""
        key = short_name(message.get("id"))
        if not key:
            self.unnamed += 1
            key = f"at:{self.unnamed}"
        before = self.messages.get(key)
        if before is None:
            self.contents[_content(message)] += 1
        if before is None or _weight(message) >= _weight(before):
            self.messages[key] = message
        if len(self.messages) > MAX_MESSAGES:
            raise BadInput(f"a Gemini session of more than {MAX_MESSAGES} messages is not read")

    def restate(self, messages: object) -> None:
        """The history is stated again: what is known stays, what is new comes after it.

        A message under another id is known if its content was there as often as it comes now.
        """
        told: Counter[str] = Counter()
        added: Counter[str] = Counter()
        for message in list_of(messages):
            if not isinstance(message, dict):
                continue
            content, known = _content(message), short_name(message.get("id")) in self.messages
            told[content] += 1
            if known or told[content] > self.contents[content] - added[content]:
                added[content] += not known
                self.add(message)

    def rewind(self, key: str) -> None:
        """Without a message and all after it; an unknown one takes all."""
        if key not in self.messages:
            self.messages.clear()
            self.contents.clear()
        while key in self.messages:
            _, gone = self.messages.popitem()
            self.contents[_content(gone)] -= 1

    def learn(self, fields: dict[str, Any]) -> None:
        """Keep what a header, or a change of it, says of the session; when it started is said first."""
        for key in _KEPT:
            if fields.get(key) and (key != "startTime" or key not in self.known):
                self.known[key] = fields[key]


def _weight(message: dict[str, Any]) -> int:
    """How complete a message is: one that has its calls with their results says most."""
    return 2 * bool(list_of(message.get("toolCalls"))) + bool(list_of(message.get("thoughts")) or message.get("model"))


def _content(message: dict[str, Any]) -> str:
    """What tells messages apart whose ids do not: who speaks, what they say, which calls they make."""
    content = message.get("content")
    parts = [{"text": content}] if isinstance(content, str) else list_of(content)
    said = [text_value(dict_of(part).get("text")) for part in parts]
    calls = [short_name(dict_of(call).get("id")) for call in list_of(message.get("toolCalls"))]
    calls += [short_name(dict_of(dict_of(part).get(kind)).get("id")) for part in parts for kind in _CALLS]
    told = "\0".join([short_name(message.get("type")), _own_text("".join(said)).strip(), *sorted(filter(None, calls))])
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def folded(path: str, counted: TranscriptCounts) -> GeminiLog:
    """A session's file, all of it; BadInput if it is none, or too large."""
    if os.path.getsize(path) > MAX_LOG:
        raise BadInput(f"{path} has more than {MAX_LOG >> 20} MiB and is not read")
    log = GeminiLog()
    if _is_document(path):
        told = document(path)
        counted.end = os.path.getsize(path)
        log.learn(told)
        log.restate(told.get("messages"))
    else:
        for record in transcript_reader.records(path, counted):
            _update(log, record.value, counted)
    if not log.known.get("sessionId") and not log.messages:
        raise BadInput(f"{path} is not a transcript of Gemini CLI")
    return log


def _is_document(path: str) -> bool:
    """Whether a file is one document over many lines; its name may say otherwise."""
    with open(path, "rb") as file:
        first = file.readline(transcript_reader.MAX_LINE)
    try:
        return not isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return not path.endswith(".jsonl") or first.strip() in (b"{", b"")


def _update(log: GeminiLog, value: dict[str, Any], counted: TranscriptCounts) -> None:
    header = value if "sessionId" in value and "projectHash" in value else None
    if "$rewindTo" in value:
        log.rewind(short_name(value["$rewindTo"]))
    elif isinstance(value.get("id"), str):
        log.add(value)
    elif isinstance(change := value.get("$set", header), dict):
        log.learn(change)
        log.restate(change.get("messages"))
    else:
        passed_over(counted.unknown, value.get("type") or next(iter(value), ""))


_MAX_CALLS = 256  # of one message; a guess: bounds a damaged file
_FILES, _FILES_END = "--- Content from referenced files ---", "--- End of content ---"
_CANCELLED = ("Request cancelled", "User cancelled")
_DROPPED = ("info", "warning", "error")


def turns(log: GeminiLog, counted: TranscriptCounts, *, cwd: str | None, helper: bool) -> Iterator[TranscriptTurn]:
    """One turn after the other; a helper is set going by no person."""
    answers = _answers(log)
    key, prompt, ts, interrupted, continues = "", "", None, False, False
    steps: list[TranscriptStep] = []

    def turn() -> Iterator[TranscriptTurn]:
        if key and (prompt or steps):
            yield TranscriptTurn(
                key=key, prompt=prompt, ts=ts, steps=tuple(steps), cwd=cwd, interrupted=interrupted, continues=continues
            )

    for message_id, message in log.messages.items():
        kind, at = short_name(message.get("type")), short_name(message.get("timestamp")) or None
        if kind == "user" and (said := _prompt(message)):
            yield from turn()
            key, prompt, ts, interrupted, continues = message_id, "" if helper else said, at, False, False
            steps = []
        elif kind == "gemini" and (step := _step(message_id, message, answers)):
            if len(steps) >= transcripts.MAX_STEPS:
                yield from turn()
                key, prompt, ts, interrupted, continues, steps = message_id, "", at, False, True, []
            key, ts = key or message_id, ts or at
            steps.append(step)
        elif kind == "info" and text_value(message.get("content")).startswith(_CANCELLED):
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
    said = _own_text(said).strip()
    return "" if said.startswith(_LISTS.lines("not_prompts")) else cut(said, transcripts.MAX_PROMPT)


def _text(content: object) -> str:
    if isinstance(content, str):
        return text_value(content)
    parts = [content] if isinstance(content, dict) else list_of(content)
    said = [
        text_value(part) or text_value(dict_of(part).get("text")) for part in parts if not dict_of(part).get("thought")
    ]
    return "\n".join(text for text in said if text)


def _step(key: str, message: dict[str, Any], answers: dict[str, object]) -> TranscriptStep | None:
    """A message of the model; none if it says and does nothing."""
    thoughts = [dict_of(thought) for thought in list_of(message.get("thoughts"))]
    pieces = [
        ": ".join(filter(None, (text_value(one.get("subject")), text_value(one.get("description")))))
        for one in thoughts
    ]
    reasoning = _own_text("\n".join(filter(None, pieces)))
    text = _own_text(_text(message.get("content")))
    calls = _calls(key, message, answers)
    if not (reasoning.strip() or text.strip() or calls):
        return None
    told = dict_of(message.get("tokens"))
    written = [value for name in ("output", "thoughts") if type(value := told.get(name)) is int]
    return TranscriptStep(
        id=key,
        ts=short_name(message.get("timestamp")) or None,
        model=short_name(message.get("model")) or None,
        reasoning=cut(reasoning, transcripts.MAX_TEXT),
        text=cut(text, transcripts.MAX_TEXT),
        calls=calls,
        usage=token_use(told.get("input"), sum(written), cached=told.get("cached")),
    )


def _calls(key: str, message: dict[str, Any], answers: dict[str, object]) -> tuple[Call, ...]:
    """A message's calls: with their results, or restated, with results that stand in a later message."""
    told = [dict_of(call) for call in list_of(message.get("toolCalls"))]
    if not told:
        parts = [dict_of(dict_of(part).get("functionCall")) for part in list_of(message.get("content"))]
        told = [part for part in parts if part]
    found: dict[str, Call] = {}
    for number, call in enumerate(told[:_MAX_CALLS]):
        call_id = short_name(call.get("id")) or f"{key}:{number}"
        if not list_of(call.get("result")) and call_id in answers and not call.get("status"):
            call = {**call, "result": [answers[call_id]]}
        found[call_id] = called(call, call_id)
    return tuple(found.values())


def _answers(log: GeminiLog) -> dict[str, object]:
    """Results that stand in messages of their own, by their calls' ids."""
    contents = (list_of(one.get("content")) for one in log.messages.values() if one.get("type") == "user")
    parts = [part for content in contents for part in content if responses([part])[0]]
    calls = (short_name(dict_of(dict_of(part).get("functionResponse")).get("id")) for part in parts)
    return {call: part for call, part in zip(calls, parts, strict=True) if call}


_HEAD = 64 << 10  # bytes; a guess: the session's own fields stand before its messages
_ROOT = 4096  # bytes of a path
_IS_OURS = (regex(rb'"sessionId"\s*:'), regex(rb'"projectHash"\s*:'))
_TITLE = 200  # characters; a guess: one line of a list


def _files(home: str) -> Iterator[str]:
    """Of each session the files it lives on in: a `.json` that was resumed has a `.jsonl` beside it."""
    sessions: dict[str, list[str]] = {}
    for path in transcript_reader.newest_first(_chats(os.path.join(home, "tmp"))):
        folder, file = os.path.split(path)
        stem = os.path.splitext(file)[0]
        session = stem[-8:] if stem.startswith("session-") else stem
        sessions.setdefault(os.path.join(folder, session), []).append(path)
    found = [path for files in sessions.values() for path in ([one for one in files if one.endswith("l")] or files)]
    yield from transcript_reader.newest_first(found)


def _chats(folder: str) -> Iterator[str]:
    for above, _, names in os.walk(folder):
        parts = os.path.relpath(above, folder).split(os.sep)
        if len(parts) in (2, 3) and parts[1] == "chats":
            yield from (os.path.join(above, one) for one in sorted(names) if one.endswith((".json", ".jsonl")))


def _is_mine(path: str) -> bool:
    head = _beginning(path)
    return head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _IS_OURS)


def _beginning(path: str, most: int = _HEAD) -> bytes:
    if not os.path.isfile(path):
        return b""
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def _read(
    path: str, _start: int = 0, origin: transcripts.TranscriptOrigin | None = None
) -> transcript_reader.TranscriptReading:
    if not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    counted = transcript_reader.TranscriptCounts()
    log = folded(path, counted)
    known = origin or _origin(path, log)
    told = turns(log, counted, cwd=known.cwd, helper=known.role == "subagent")
    return transcript_reader.TranscriptReading(known, told, counted)


def _origin(path: str, log: GeminiLog) -> transcripts.TranscriptOrigin:
    known = log.known
    above = os.path.basename(os.path.dirname(path))
    helper = known.get("kind") == "subagent" or os.path.basename(os.path.dirname(os.path.dirname(path))) == "chats"
    stem = os.path.splitext(os.path.basename(path))[0]
    started = next((at for one in log.messages.values() if (at := short_name(one.get("timestamp")))), None)
    cwd = _root(path, log)
    return transcripts.TranscriptOrigin(
        agent="gemini",
        session=short_name(known.get("sessionId")) or short_name(stem),
        role="subagent" if helper else "main",
        parent=short_name(above) or None if helper and above != "chats" else None,
        cwd=cwd,
        cwd_sha256=None if cwd else short_name(known.get("projectHash")) or None,
        started=short_name(known.get("startTime")) or started,
        title=cut(" ".join(own_words(text_value(known.get("summary"))).split()), _TITLE) or None,
    )


def _root(path: str, log: GeminiLog) -> str | None:
    """The folder of a session: as the tool notes it, else the one it knows whose hash is the session's."""
    folder = os.path.dirname(path)
    while folder != os.path.dirname(folder) and os.path.basename(folder) != "chats":
        folder = os.path.dirname(folder)
    project = os.path.dirname(folder)
    noted = _noted(project) if os.path.basename(folder) == "chats" else None
    hashes = {hashlib.sha256(root.encode("utf-8", "replace")).hexdigest(): root for root in _projects(project)}
    return noted or hashes.get(short_name(log.known.get("projectHash")))


def _noted(project: str) -> str | None:
    home, short = os.path.dirname(os.path.dirname(project)), os.path.basename(project)
    for place in (project, os.path.join(home, "history", short)):
        said = _beginning(os.path.join(place, ".project_root"), _ROOT).decode("utf-8", "replace").strip()
        if said:
            return said
    return next((root for root, one in _projects(project).items() if one == short), None)


def _projects(project: str) -> dict[str, str]:
    """The folders that the tool knows, and their short names."""
    try:
        told = transcript_reader.document(os.path.join(os.path.dirname(os.path.dirname(project)), "projects.json"))
    except (OSError, BadInput):
        return {}
    return {text_value(root): text_value(short) for root, short in dict_of(told.get("projects")).items()}


DIALECT = transcript_reader.Dialect(
    "gemini", lambda environ, home: f"{environ.get('GEMINI_CLI_HOME') or home}/.gemini", _files, _is_mine, _read
)
