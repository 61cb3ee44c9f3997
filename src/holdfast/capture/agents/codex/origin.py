"""Whose transcript a rollout is: what its first lines say of the thread and of the place it began in."""

import os
import re
from typing import Any

from holdfast.capture.agents.codex.calls import word
from holdfast.capture.agents.codex.prompts import first_text, folder_of
from holdfast.capture.agents.reading import dict_of, list_of, text_of
from holdfast.model.transcript import Origin
from holdfast.patterns import regex
from holdfast.values import frozen

_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_NAME = regex(rf"rollout-.*?({_UUID})(?:_{_UUID})?\.json", re.IGNORECASE)
_INTERNAL = ("memory_consolidation", "guardian", "compact")
_LONGEST = 4096
ORIGINATOR = "holdfast"  # whose name our exports carry


@frozen
class Head:
    """What the first lines of a rollout say."""

    origin: Origin
    own_from: int = 0  # the ordinal from which on a helper's own work is told
    is_exported: bool = False  # it begins with what Holdfast wrote


def head_of(first: list[dict[str, Any]], path: str, *, title: str | None = None) -> Head | None:
    """The head of a rollout from its first records; None if they are no rollout's."""
    for record in first:
        if record.get("type") == "session_meta":
            return _of_meta(dict_of(record.get("payload")), path, title)
    if first and "type" not in first[0] and "instructions" in first[0]:
        return _of_bare(first, path, title)
    if any("payload" in record and is_envelope(record) for record in first):
        return Head(Origin(agent="codex", session=named(path), title=title))
    return None


def is_envelope(record: dict[str, Any]) -> bool:
    """Whether a record has the form of every line since 0.32."""
    return isinstance(record.get("payload"), dict) and isinstance(record.get("timestamp"), str)


def named(path: str) -> str:
    """The thread's id by the name of its file."""
    name = os.path.basename(path)
    found = _NAME.match(name)
    return found[1].lower() if found else name.partition(".")[0][:200]


def _of_meta(meta: dict[str, Any], path: str, title: str | None) -> Head:
    git = dict_of(meta.get("git"))
    role, parent = _role(meta)
    start = meta.get("subagent_history_start_ordinal")
    origin = Origin(
        agent="codex",
        session=word(meta.get("id")) or named(path),
        role=role,
        parent=parent,
        version=word(meta.get("cli_version")) or None,
        cwd=word(meta.get("cwd"), _LONGEST) or None,
        branch=word(git.get("branch"), _LONGEST) or None,
        commit=word(git.get("commit_hash")) or None,
        remote=word(git.get("repository_url"), _LONGEST) or None,
        started=word(meta.get("timestamp")) or None,
        title=title or _called(meta),
    )
    own_from = start if isinstance(start, int) and start > 0 else 0
    return Head(origin, own_from, meta.get("originator") == ORIGINATOR)


def _called(meta: dict[str, Any]) -> str | None:
    """What a helper is called, for want of a title."""
    return word(meta.get("agent_path")) or word(meta.get("agent_nickname")) or None


def _role(meta: dict[str, Any]) -> tuple[str, str | None]:
    """A thread's part in the work, and the thread it came from."""
    source, kind = meta.get("source"), text_of(meta.get("thread_source"))
    helper = dict_of(source).get("subagent")
    spawned = dict_of(dict_of(helper).get("thread_spawn"))
    forked = word(meta.get("forked_from_id")) or None
    parent = word(meta.get("parent_thread_id")) or word(spawned.get("parent_thread_id")) or forked
    if "internal" in dict_of(source) or helper in _INTERNAL or kind in _INTERNAL:
        return "internal", parent
    if helper is not None or kind == "subagent":
        return "subagent", parent
    return ("fork", forked) if forked else ("main", parent)


def _of_bare(first: list[dict[str, Any]], path: str, title: str | None) -> Head:
    """The head of a file of before 0.32: the folder stands only in what the agent was told."""
    meta = first[0]
    git = dict_of(meta.get("git"))
    folders = (folder_of(first_text(one)) for one in first[1:] if one.get("role") == "user")
    origin = Origin(
        agent="codex",
        session=word(meta.get("id")) or named(path),
        cwd=next((folder for folder in folders if folder), None),
        branch=word(git.get("branch"), _LONGEST) or None,
        commit=word(git.get("commit_hash")) or None,
        remote=word(git.get("repository_url"), _LONGEST) or None,
        started=word(meta.get("timestamp")) or None,
        title=title,
    )
    return Head(origin)


def of_document(document: dict[str, Any], path: str, *, title: str | None = None) -> Origin:
    """Whose a document of the first, TypeScript Codex is."""
    session = dict_of(document.get("session"))
    items = [dict_of(item) for item in list_of(document.get("items"))[:20]]
    folders = (folder_of(first_text(item)) for item in items)
    return Origin(
        agent="codex",
        session=word(session.get("id")) or named(path),
        cwd=next((folder for folder in folders if folder), None),
        started=word(session.get("timestamp")) or None,
        title=title,
    )
