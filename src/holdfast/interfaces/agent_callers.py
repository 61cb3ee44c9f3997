"""What the callers of our hook say and want to hear, where that differs from Claude Code, Codex and Gemini CLI.

Each client has names of its own for the fields of an event, and takes our words in a form of its own; what suits one is
dropped by the next. The hook (`interfaces/agent_events.py`) loads this for other agents only. From runs of the real
clients: Qwen Code 0.24.4, Copilot CLI 1.0.102, Kimi Code 2.1.0, Cline CLI 3.0.65; opencode and pi are called through
plug-ins of ours, which `connect` writes and which hand on what Claude Code would say.
"""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What we call a field, and where these agents have it.
_FIELDS = {
    "copilot": (
        ("session_id", ("sessionId",)),
        ("transcript_path", ("transcriptPath",)),
        ("tool_name", ("toolName",)),
        ("tool_input", ("toolArgs",)),
    ),
    "kimi": (("tool_use_id", ("tool_call_id",)),),
    "qwen": (("tool_use_id", ("tool_call_id",)),),
    "cline": (
        ("session_id", ("sessionContext", "rootSessionId")),
        ("cwd", ("workspaceInfo", "rootPath")),
        ("tool_name", ("tool_call", "name")),
        ("tool_input", ("tool_call", "input")),
        ("tool_use_id", ("tool_call", "id")),
    ),
}
_PATHS = ("filePath", "absolute_path")  # what they call the file that a tool is to change
# Events at which an agent does not hear us: what is said there would count as told.
DEAF = frozenset(
    (("kimi", "SessionStart"), ("cline", "SessionStart"), ("opencode", "SessionStart"), ("pi", "SessionStart"))
)
# The tools that change something, of agents that call us before each: a rule is not for who only reads.
_CHANGING = {
    "copilot": ("edit", "create", "bash", "Edit", "MultiEdit", "Write", "Bash"),
    "kimi": ("Edit", "Write", "Bash"),
    "cline": ("editor", "run_commands"),
}
PLAIN = ("opencode", "pi", "kimi")  # take words as they are
LATE = ("cline",)  # hears nothing before its first tool
AGAIN = (
    b"This call was refused once, so that you read this. "
    b"If it agrees with what follows, make it again: it will pass.\\n"
)


def caller(agent: str, given: "dict[str, Any]") -> str:
    """Who calls: Copilot CLI runs the project's hooks of Claude Code, and says where it keeps its own transcript.

    Claude Code names its transcript in every event; a Claude Code that was started in Copilot's shell does, too.
    """
    if agent != "claude" or b"COPILOT_CLI" not in posix.environ:
        return agent
    path = given.get("transcript_path")
    return agent if isinstance(path, str) and path and "/session-state/" not in path else "copilot"


def translate(agent: str, event: str, given: "dict[str, Any]") -> bool:
    """Give the fields of an event the names that Claude Code has; False if nothing is to be done about the event."""
    for name, way in _FIELDS.get(agent, ()):
        value: object = given
        for step in way:
            value = value.get(step) if isinstance(value, dict) else None
        if value is not None and name not in given:
            given[name] = value
    if agent == "qwen" and "tool_call_id" in given:  # its own tool_use_id stands nowhere else
        given["tool_use_id"] = given["tool_call_id"]
    if agent == "qwen" and event == "UserPromptSubmit" and not given.get("submitted_prompt"):
        return False  # it asks before every request of the model, and would put our answer into each
    prompt = given.get("prompt")
    if isinstance(prompt, list):
        parts = [part.get("text") for part in prompt if isinstance(part, dict)]
        given["prompt"] = "\n".join(text for text in parts if isinstance(text, str))
    matters = given.get("tool_name") in _CHANGING.get(agent, (given.get("tool_name"),))
    given["tool_input"] = _tool_input(given.get("tool_input")) if matters else {}
    return True


def _tool_input(given: object) -> "dict[str, Any]":
    known = dict(given) if isinstance(given, dict) else {}
    for name in _PATHS:
        known.setdefault("file_path", known.get(name))
    commands = known.get("commands")
    if isinstance(commands, list):
        known.setdefault("command", "\n".join(one for one in commands if isinstance(one, str)))
    return known


def reply(agent: str, event: str, text: bytes) -> bytes:
    """What is printed, so that this agent's model reads the text, which comes as the characters of a JSON string."""
    if agent == "copilot":
        return b'{"additionalContext":"%s"}' % text
    if agent == "cline":
        return b'{"cancel":false,"contextModification":"%s"}' % text
    if agent == "kimi" and event == "PreToolUse":  # it hears nothing at a tool but why it was refused
        said = b'"permissionDecision":"deny","permissionDecisionReason":"%s%s"' % (AGAIN, text)
        return b'{"hookSpecificOutput":{"hookEventName":"PreToolUse",%s}}' % said
    if agent in PLAIN:
        from _json import scanstring

        return scanstring(text.decode("ascii") + '"', 0, False)[0].encode("utf-8", "replace")
    name = "PostToolUse" if agent == "qwen" and event == "AfterTool" else event
    return b'{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":"%s"}}' % (name.encode("ascii"), text)
