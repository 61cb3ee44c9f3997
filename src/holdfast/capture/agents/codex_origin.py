"""Who wrote what in a rollout: whose thread it is and where it began, and which messages a person typed.

Codex puts much into the user's role that nobody typed. From 0.15x on it says so for each piece (`content_item_kinds`);
before, what begins with one of its own tags or headings is its own. What a person ran with `!` is an act of theirs, but
no prompt.
"""

import os
import re
from typing import Any

from holdfast.capture.agents.codex_calls import CodexCallDraft
from holdfast.capture.agents.codex_steps import result_of
from holdfast.capture.agents.transcript_text import path_value, short_name, text_value, without_ours
from holdfast.model.transcript import MAX_INPUT, MAX_PROMPT, TranscriptOrigin, cut
from holdfast.patterns import PatternFile, regex
from holdfast.values import dict_of, frozen, list_of

_LISTS = PatternFile(__file__)
_AGENTS_FILE = "# AGENTS.md instructions"
_IDE, _REQUEST = "# Context from my IDE setup:", "## My request for Codex:"
_IMAGE = regex(r"</?image\b[^>]{0,600}>\n?")
_CWD = regex(r"<cwd>([^<]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")
_LASTED = regex(r"^Duration: [^\n]{0,100}\n", re.MULTILINE)


def typed(message: dict[str, Any]) -> str:
    """A person's words in a message of the user's role; empty if it holds none."""
    pieces = list_of(message.get("content")) or [{"text": text_value(message.get("content"))}]
    texts = [text_value(dict_of(piece).get("text")) for piece in pieces]
    told = dict_of(message.get("internal_chat_message_metadata_passthrough"))
    kinds = [text_value(kind) for kind in list_of(told.get("content_item_kinds"))]
    if len(kinds) == len(texts) and any(kind.startswith("user.") for kind in kinds):
        texts = [text for text, kind in zip(texts, kinds, strict=True) if kind.startswith("user.")]
    elif kinds and "unknown" not in kinds:
        return ""
    said = [text for text in texts if text and not text.lstrip().startswith((_AGENTS_FILE, *_LISTS.lines("not_typed")))]
    text = without_ours("\n".join(said))
    if text.lstrip().startswith(_IDE) and _REQUEST in text:  # what an editor put before the request
        text = text.partition(_REQUEST)[2]
    text = text.strip()[: 2 * MAX_PROMPT]  # as much as may be looked through
    return cut(_IMAGE.sub("", text).strip() if "image" in text else text, MAX_PROMPT)


def first_text(message: dict[str, Any]) -> str:
    """How a message begins, whoever wrote it."""
    content = message.get("content")
    texts = [content] if isinstance(content, str) else (dict_of(piece).get("text") for piece in list_of(content))
    return next(filter(None, map(text_value, texts)), "").lstrip()


def folder_of(text: str) -> str | None:
    """The folder an environment block names."""
    found = _CWD.search(text[:20_000])
    return text_value((found[1] or found[2]).strip(), 4096) if found else None


def ran_by_hand(text: str, call_id: str) -> CodexCallDraft | None:
    """The command a person ran within Codex (`!cmd`), with its result."""
    _, tag, rest = text.partition("<command>")
    inside, _, rest = rest.partition("</command>")
    if not tag:
        return None
    command = cut(without_ours(inside.strip()), MAX_INPUT)
    draft = CodexCallDraft(call_id, "user_shell_command", "shell", text=command, command=command)
    _, tag, output = rest.partition("<result>\n")
    if tag:
        draft.result = result_of(_LASTED.sub("", output.partition("</result>")[0], count=1))
    return draft


_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_NAME = regex(rf"rollout-.*?({_UUID})(?:_{_UUID})?\.json", re.IGNORECASE)
_INTERNAL = ("memory_consolidation", "guardian", "compact")
ORIGINATOR = "holdfast"  # whose name our exports carry


@frozen
class RolloutHead:
    """What the first lines of a rollout say."""

    origin: TranscriptOrigin
    own_from: int = 0  # the ordinal at which a helper's own work begins
    is_exported: bool = False  # it begins with what Holdfast wrote


def head_of(first: list[dict[str, Any]], path: str, *, title: str | None = None) -> RolloutHead | None:
    """The head of a rollout from its first records; None if they are no rollout's."""
    for record in first:
        if record.get("type") == "session_meta":
            return _of_meta(dict_of(record.get("payload")), path, title)
    if first and "type" not in first[0] and "instructions" in first[0]:
        # Before 0.32 the folder stands only in what the agent was given.
        users = [one for one in first[1:] if one.get("role") == "user"]
        return RolloutHead(_origin(first[0], path, title, cwd=_first_folder(users)))
    if any("payload" in record and is_envelope(record) for record in first):
        return RolloutHead(TranscriptOrigin(agent="codex", session=named(path), title=title))
    return None


def is_envelope(record: dict[str, Any]) -> bool:
    """Whether a record has the form of every line since 0.32."""
    return isinstance(record.get("payload"), dict) and isinstance(record.get("timestamp"), str)


def named(path: str) -> str:
    """The thread's id by the name of its file."""
    name = os.path.basename(path)
    found = _NAME.match(name)
    return found[1].lower() if found else name.partition(".")[0][:200]


def _of_meta(meta: dict[str, Any], path: str, title: str | None) -> RolloutHead:
    role, parent = _role(meta)
    start = meta.get("subagent_history_start_ordinal")
    version, folder = short_name(meta.get("cli_version")) or None, path_value(meta.get("cwd"))
    # What a helper is called, for want of a title.
    title = title or short_name(meta.get("agent_path")) or short_name(meta.get("agent_nickname")) or None
    origin = _origin(meta, path, title, role=role, parent=parent, version=version, cwd=folder)
    own_from = start if isinstance(start, int) and start > 0 else 0
    return RolloutHead(origin, own_from, meta.get("originator") == ORIGINATOR)


def _origin(meta: dict[str, Any], path: str, title: str | None, **more: Any) -> TranscriptOrigin:
    git = dict_of(meta.get("git"))
    return TranscriptOrigin(
        agent="codex",
        session=short_name(meta.get("id")) or named(path),
        branch=path_value(git.get("branch")),
        commit=short_name(git.get("commit_hash")) or None,
        remote=path_value(git.get("repository_url")),
        started=short_name(meta.get("timestamp")) or None,
        title=title,
        **more,
    )


def _role(meta: dict[str, Any]) -> tuple[str, str | None]:
    """A thread's part in the work, and the thread it came from."""
    source, kind = meta.get("source"), text_value(meta.get("thread_source"))
    helper = dict_of(source).get("subagent")
    spawned = dict_of(dict_of(helper).get("thread_spawn"))
    forked = short_name(meta.get("forked_from_id")) or None
    parent = short_name(meta.get("parent_thread_id")) or short_name(spawned.get("parent_thread_id")) or forked
    if "internal" in dict_of(source) or helper in _INTERNAL or kind in _INTERNAL:
        return "internal", parent
    if helper is not None or kind == "subagent":
        return "subagent", parent
    return ("fork", forked) if forked else ("main", parent)


def of_document(document: dict[str, Any], path: str, *, title: str | None = None) -> TranscriptOrigin:
    """Whose a document of the first, TypeScript Codex is."""
    items = [dict_of(item) for item in list_of(document.get("items"))[:20]]
    return _origin(dict_of(document.get("session")), path, title, cwd=_first_folder(items))


def _first_folder(messages: list[dict[str, Any]]) -> str | None:
    return next((folder for one in messages if (folder := folder_of(first_text(one)))), None)
