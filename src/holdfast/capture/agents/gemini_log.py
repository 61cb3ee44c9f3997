"""What a Gemini session holds, folded out of its file: one document, or a log of updates.

    {"id": …}                  a message; told again, it has grown
    {"$set": {"messages": …}}  the history as the model is sent it from here on
    {"$rewindTo": id}          that message and all after it never were

A `$set.messages` after a resume or a compression leaves out prompts and results that were there: what
happened before stays, and only what is new in it is added. So the richest telling of each message is kept.
"""

import hashlib
import json
import os
from collections import Counter
from typing import Any

from holdfast.capture.agents.gemini_calls import BLOCKS
from holdfast.capture.agents.reading import MAX_LINE, Counted, dict_of, document, list_of, records
from holdfast.capture.agents.stripping import name, passed_over, spoken, words
from holdfast.errors import BadInput
from holdfast.values import field, mutable

MAX_LOG = 128 << 20  # bytes; most of them tell a message again as it grows
MAX_MESSAGES = 20_000
_CALLS = ("functionCall", "functionResponse")
_KEPT = ("sessionId", "projectHash", "startTime", "kind", "summary", "directories")


@mutable
class Log:
    """A session as its file leaves it."""

    known: dict[str, Any] = field(default_factory=dict)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    contents: Counter[str] = field(default_factory=Counter)  # to know a message told under another id
    unnamed: int = 0

    def add(self, message: dict[str, Any]) -> None:
        """Take a message in, or in place of what was told of it before."""
        key = name(message.get("id")) or self._unnamed()
        before = self.messages.get(key)
        if before is None:
            self.contents[_content(message)] += 1
        if before is None or _weight(message) >= _weight(before):
            self.messages[key] = message
        if len(self.messages) > MAX_MESSAGES:
            raise BadInput(f"a Gemini session of more than {MAX_MESSAGES} messages is not read")

    def restate(self, messages: object) -> None:
        """The history told anew: what is known stays, what is new comes after it.

        A message under another id is known if its content was there as often as it is told now.
        """
        told: Counter[str] = Counter()
        added: Counter[str] = Counter()
        for message in list_of(messages):
            if not isinstance(message, dict):
                continue
            content, known = _content(message), name(message.get("id")) in self.messages
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

    def _unnamed(self) -> str:
        self.unnamed += 1
        return f"at:{self.unnamed}"


def _weight(message: dict[str, Any]) -> int:
    """How much of a message is told: one that names its calls by their results says most."""
    return 2 * bool(list_of(message.get("toolCalls"))) + bool(list_of(message.get("thoughts")) or message.get("model"))


def _content(message: dict[str, Any]) -> str:
    """What tells messages apart whose ids do not: who speaks, what they say, which calls they make."""
    content = message.get("content")
    parts = [{"text": content}] if isinstance(content, str) else list_of(content)
    said = [words(dict_of(part).get("text")) for part in parts]
    calls = [name(dict_of(call).get("id")) for call in list_of(message.get("toolCalls"))]
    calls += [name(dict_of(dict_of(part).get(kind)).get("id")) for part in parts for kind in _CALLS]
    told = "\0".join([name(message.get("type")), spoken("".join(said), *BLOCKS).strip(), *sorted(filter(None, calls))])
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()


def folded(path: str, counted: Counted) -> Log:
    """A session's file, all of it; BadInput if it is none, or too large."""
    if os.path.getsize(path) > MAX_LOG:
        raise BadInput(f"{path} has more than {MAX_LOG >> 20} MiB and is not read")
    log = Log()
    if _is_document(path):
        _document(path, log, counted)
    else:
        for record in records(path, counted):
            _update(log, record.value, counted)
    if not log.known.get("sessionId") and not log.messages:
        raise BadInput(f"{path} is no transcript of Gemini CLI")
    return log


def _is_document(path: str) -> bool:
    """Whether a file is one document over many lines; its name may say otherwise."""
    with open(path, "rb") as file:
        first = file.readline(MAX_LINE)
    try:
        return not isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return not path.endswith(".jsonl") or first.strip() in (b"{", b"")


def _document(path: str, log: Log, counted: Counted) -> None:
    told = document(path)
    counted.end = os.path.getsize(path)
    log.learn(told)
    log.restate(told.get("messages"))


def _update(log: Log, value: dict[str, Any], counted: Counted) -> None:
    change = value.get("$set")
    if "$rewindTo" in value:
        log.rewind(name(value["$rewindTo"]))
    elif isinstance(value.get("id"), str):
        log.add(value)
    elif isinstance(change, dict):
        log.learn(change)
        log.restate(change.get("messages"))
    elif "sessionId" in value and "projectHash" in value:
        log.learn(value)
        log.restate(value.get("messages"))
    else:
        passed_over(counted.unknown, value.get("type") or next(iter(value), ""))
