"""Transcripts of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, versions 1.x to 2.1.

    <session>.jsonl                         a session; a fork is a copy with the same uuids
    <session>/subagents/agent-<id>.jsonl    a helper's own transcript; older versions: agent-<id>.jsonl

A turn is known by the uuid of its prompt, a step by that of its first line: copies of a session keep them.
"""

import os
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from holdfast.capture.agents import transcript_reader
from holdfast.capture.agents.claude_records import ClaudeTasks
from holdfast.capture.agents.claude_turns import ClaudeTurns, branch, is_dropped, may_matter
from holdfast.capture.agents.transcript_reader import Dialect, TranscriptCounts, TranscriptReading, dict_of, records
from holdfast.capture.agents.transcript_text import short_name, text_value
from holdfast.errors import BadInput
from holdfast.model.transcript import TranscriptOrigin, cut
from holdfast.patterns import regex
from holdfast.values import replace

_SPEAKING = frozenset(("user", "assistant", "attachment", "queue-operation", "system"))
_NOT_SESSIONS = {"tool-results", "memory"}
_UUID = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HELPER = regex(r"agent-[0-9A-Za-z_-]{4,40}")
_PULL = regex(r"(https://[^\s/]+/[^\s/]+/[^\s/]+)/pull/\d+")
_HEAD = 400  # records in which a session says where it stands
_TAIL = 64 << 10  # bytes at the end in which its title stands
_TITLE = 200


def _files(home: str) -> Iterator[str]:
    yield from transcript_reader.newest_first(_transcripts(os.path.join(home, "projects")))


def _transcripts(top: str) -> Iterator[str]:
    for folder, below, names in os.walk(top):
        below[:] = [one for one in below if one not in _NOT_SESSIONS]
        yield from (os.path.join(folder, one) for one in names if one.endswith(".jsonl"))


def _is_mine(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        head = list(islice(records(path, TranscriptCounts()), 20))
    except OSError:
        return False
    return any(_is_ours(record.value) for record in head)


def _is_ours(value: dict[str, Any]) -> bool:
    """Whether a record is of Claude Code."""
    kind = value.get("type")
    if not isinstance(kind, str) or "payload" in value:
        return False
    if kind in _SPEAKING:
        return isinstance(value.get("sessionId"), str) or (isinstance(value.get("uuid"), str) and "message" in value)
    return (kind == "summary" and "leafUuid" in value) or (is_dropped(kind) and "sessionId" in value)


def _read(path: str, start: int = 0, origin: TranscriptOrigin | None = None) -> TranscriptReading:
    if not os.path.isfile(path):
        raise BadInput(f"{path} is no file")
    known = origin or _origin(path)
    counted = TranscriptCounts()
    telling = ClaudeTurns(counted, ClaudeTasks(path, start), helper=known.role == "subagent", resumed=start > 0)
    return TranscriptReading(known, telling.turns(records(path, counted, start=start, wanted=may_matter)), counted)


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
            helper = helper or _helper(value)
        if known.session and known.cwd and known.started:
            break
    if not ours:
        raise BadInput(f"{path} is no transcript of Claude Code")
    return _ended(_named(known, stem, path, helper=helper), path)


def _helper(value: dict[str, Any]) -> str:
    """The helper whose own transcript begins with this record; none if it is a session's."""
    agent = short_name(value.get("agentId"))
    return f"agent-{agent}" if agent and value.get("isSidechain") is True else ""


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


DIALECT = Dialect(
    "claude", lambda environ, home: environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude", _files, _is_mine, _read
)
