"""The agents we know, and how a command can tell that one of them started it: a table.

`children`: variables an agent sets for the processes it starts, and nobody else does. `settings`: variables
that people export to configure it; they say nothing about who types. `programs`: what its process is
called; `packages`: the folder its script lies in, where it runs under Node or Python. Where it was not seen
by running the agent, `children` is what its own documentation names.
"""

from typing import NamedTuple


class Agent(NamedTuple):
    """One agent."""

    name: str
    programs: tuple[str, ...]
    packages: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


AGENTS = (
    Agent(
        "Claude Code",
        ("claude",),
        ("@anthropic-ai/claude-code",),
        (
            *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT"),
            "CLAUDE_PID",
        ),
        (
            *("ANTHROPIC_API_KEY", "ANTHROPIC_MODEL", "ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"),
            *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
            *("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_PROJECT_DIR"),
        ),
    ),
    Agent(
        "Codex",
        ("codex",),
        ("@openai/codex",),
        (
            *("CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_CI"),
            *("CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED"),
        ),
        ("CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ),
    Agent(
        "Gemini CLI",
        ("gemini",),
        ("@google/gemini-cli",),
        ("GEMINI_CLI",),
        ("GEMINI_API_KEY", "GEMINI_MODEL", "GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_NO_RELAUNCH"),
    ),
    Agent(
        "opencode",
        ("opencode",),
        ("opencode-ai",),
        ("OPENCODE", "OPENCODE_PID"),
        ("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_AUTOUPDATE"),
    ),
    Agent(
        "Kilo",
        ("kilo", "kilocode"),
        ("@kilocode/cli",),
        ("KILO", "KILO_PID", "KILO_RUN_ID", "KILOCODE_VERSION"),
        ("KILO_DISABLE_AUTOUPDATE", "KILO_CONFIG"),
    ),
    Agent(
        "Qwen Code",
        ("qwen",),
        ("@qwen-code/qwen-code",),
        ("QWEN_CODE", "QWEN_CODE_SESSION_ID", "QWEN_CODE_PROMPT_ID"),
        ("QWEN_SANDBOX", "OPENAI_MODEL", "QWEN_PROJECT_DIR"),
    ),
    Agent(
        "Copilot CLI",
        ("copilot",),
        ("@github/copilot",),
        ("COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "COPILOT_CLI_BINARY_VERSION"),
        ("COPILOT_MODEL", "COPILOT_AUTO_UPDATE", "COPILOT_HOME", "COPILOT_PROVIDER_BASE_URL"),
    ),
    Agent(
        "pi",
        ("pi",),
        ("@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"),
        ("PI_CODING_AGENT", "PI_SESSION_ID", "PI_SESSION_FILE"),
        ("PI_OFFLINE", "PI_SKIP_VERSION_CHECK", "PI_CODING_AGENT_DIR"),
    ),
    # It sets nothing of its own: only the process tree tells.
    Agent("Kimi Code", ("kimi", "kimi-code"), ("@moonshot-ai/kimi-code",), (), ("KIMI_API_KEY",)),
    Agent(
        "Cline", ("cline",), ("cline",), ("CLINE_CONNECTOR_CLI_LAUNCH",), ("CLINE_DIR", "CLINE_API_KEY", "CLINE_MODEL")
    ),
    # CURSOR_TRACE_ID is set in every terminal of the editor, also where a person types.
    Agent("Cursor", ("cursor-agent",), (), ("CURSOR_AGENT",), ("CURSOR_API_KEY", "CURSOR_TRACE_ID")),
    Agent("aider", ("aider",), ("aider",), (), ("AIDER_MODEL", "AIDER_DARK_MODE", "AIDER_AUTO_COMMITS")),
    Agent("goose", ("goose",), (), ("GOOSE_TERMINAL",), ("GOOSE_MODEL", "GOOSE_PROVIDER", "GOOSE_MODE")),
    Agent("Amp", ("amp",), ("@ampcode/cli", "@sourcegraph/amp"), (), ("AMP_API_KEY", "AMP_URL")),
    Agent("Droid", ("droid",), ("droid",), (), ("FACTORY_API_KEY",)),
    Agent("Auggie", ("auggie",), ("@augmentcode/auggie",), (), ("AUGMENT_SESSION_AUTH",)),
    Agent("crush", ("crush",), ("@charmland/crush",), (), ("CRUSH_GLOBAL_CONFIG",)),
    Agent("Replit Agent", (), (), ("REPLIT_AGENT",), ("REPL_ID",)),
)

# Set by whatever runs commands without a person, and what that is.
UNATTENDED = {"AI_AGENT": "an agent", "CI": "a build", "GITHUB_ACTIONS": "a build", "HOLDFAST_RUN_ID": "`holdfast run`"}
# AGENT=amp and AGENT=goose name an agent; any other value (opencode's 1, the path of a key agent) names none.
NAMED = ("AGENT", frozenset(program for agent in AGENTS for program in agent.programs))
