"""Which messages in the user's role a person wrote: Codex puts much else there.

From 0.15x on it says so for each piece (`content_item_kinds`); before, what begins with one of its own tags
or headings is its own. What a person ran with `!` is an act of theirs, but no prompt.
"""

import re
from typing import Any

from holdfast.capture.agents.codex.calls import Draft, word
from holdfast.capture.agents.codex.results import result_of
from holdfast.capture.agents.ours import without_ours
from holdfast.capture.agents.reading import dict_of, list_of, text_of
from holdfast.model.transcript import MAX_INPUT, MAX_PROMPT, cut
from holdfast.patterns import regex

NOT_TYPED = (
    "<environment_context>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<skill>",
    "<recommended_plugins>",
    "<model_switch>",
    "<goal_context>",
    "<hook_prompt",
    "<hook_context>",
    "<personality_spec>",
    "<rollout_budget>",
    "<current_time_reminder>",
    "<image_resize_notice>",
    "<realtime_delegation>",
    "<multi_agent_role>",
    "<multi_agent_mode>",
    "<managed_developer_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<user_action>",
    "Another language model started to solve this problem",
    "You are performing a CONTEXT CHECKPOINT COMPACTION",
)
_IDE, _REQUEST = "# Context from my IDE setup:", "## My request for Codex:"
_IMAGE = regex(r"</?image\b[^>]{0,600}>\n?")
_CWD = regex(r"<cwd>([^<]{1,4096})</cwd>|Current working directory: ([^\n]{1,4096})")
_LASTED = regex(r"^Duration: [^\n]{0,100}\n", re.MULTILINE)


def typed(message: dict[str, Any]) -> str:
    """A person's words in a message of the user's role; empty if it holds none."""
    pieces = list_of(message.get("content")) or [{"text": text_of(message.get("content"))}]
    texts = [text_of(dict_of(piece).get("text")) for piece in pieces]
    told = dict_of(message.get("internal_chat_message_metadata_passthrough"))
    kinds = [text_of(kind) for kind in list_of(told.get("content_item_kinds"))]
    if len(kinds) == len(texts) and any(kind.startswith("user.") for kind in kinds):
        texts = [text for text, kind in zip(texts, kinds, strict=True) if kind.startswith("user.")]
    elif kinds and "unknown" not in kinds:
        return ""
    said = [text for text in texts if text and not text.lstrip().startswith(NOT_TYPED)]
    return cut(_asked(without_ours("\n".join(said))), MAX_PROMPT)


def _asked(text: str) -> str:
    """The request itself, without what an editor put before it and without marks of images."""
    if text.lstrip().startswith(_IDE) and _REQUEST in text:
        text = text.partition(_REQUEST)[2]
    text = text.strip()[: 2 * MAX_PROMPT]  # as much as may be looked through
    return _IMAGE.sub("", text).strip() if "image" in text else text


def first_text(message: dict[str, Any]) -> str:
    """How a message begins, whoever wrote it."""
    content = message.get("content")
    if isinstance(content, str):
        return content.lstrip()
    return next((text for piece in list_of(content) if (text := text_of(dict_of(piece).get("text")))), "").lstrip()


def folder_of(text: str) -> str | None:
    """The folder an environment block names."""
    found = _CWD.search(text[:20_000])
    return word((found[1] or found[2]).strip(), 4096) if found else None


def ran_by_hand(text: str, call_id: str) -> Draft | None:
    """The command a person ran within Codex (`!cmd`), with its result."""
    _, tag, rest = text.partition("<command>")
    inside, _, rest = rest.partition("</command>")
    if not tag:
        return None
    command = cut(without_ours(inside.strip()), MAX_INPUT)
    draft = Draft(call_id, "user_shell_command", "shell", text=command, command=command)
    _, tag, output = rest.partition("<result>\n")
    if tag:
        draft.result = result_of(_LASTED.sub("", output.partition("</result>")[0], count=1))
    return draft
