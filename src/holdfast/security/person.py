"""Whether a person, as far as we can see, is at the keyboard.

This is a guard, not a boundary: a program that runs as the user can open a terminal and clear
its environment. It keeps an agent that merely uses the command line from approving its own
memories by accident; who must stop a hostile one needs another user account.
"""

from collections.abc import Mapping

AGENT_NAMES = frozenset(
    {
        "AI_AGENT",
        "AGENT",
        "CI",
        "CLAUDECODE",
        "CURSOR_AGENT",
        "CURSOR_TRACE_ID",
        "GEMINI_CLI",
        "GITHUB_ACTIONS",
        "HOLDFAST_RUN_ID",
        "OPENCODE",
        "REPLIT_AGENT",
    }
)
AGENT_PREFIXES = ("AIDER_", "CLAUDE_CODE", "CLINE_", "CODEX_", "COPILOT_", "GOOSE_", "OPENCODE_", "QWEN_CODE")
_OFF = frozenset({"", "0", "false", "no", "off"})


def is_person(*, terminal: bool, environ: Mapping[str, str]) -> bool:
    """True on a terminal where no agent has left its marker in the environment."""
    return terminal and agent_marker(environ) is None


def agent_marker(environ: Mapping[str, str]) -> str | None:
    """The name of the variable that shows an agent at work, to be said when we refuse."""
    for name in sorted(environ):
        marks = name in AGENT_NAMES or name.startswith(AGENT_PREFIXES)
        if marks and environ[name].strip().lower() not in _OFF:
            return name
    return None
