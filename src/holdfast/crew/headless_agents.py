"""The agents a crew runs without a person: how each is started, and what its output says of tokens, calls and money.

Codex, Claude Code and Gemini CLI report as JSON, a line each. Their formats were taken from what the real clients
printed (Codex 0.166, Claude Code 2.1.325, Gemini CLI 0.61). Any other command gets its prompt on stdin, or where it
says `{prompt}`; what it prints is its report. An agent's words are data: nothing here is run, and a number that makes
no sense is left out.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.errors import BadInput
from holdfast.model.transcript import TokenUse, dollars_of
from holdfast.values import dict_of, dicts_of, frozen, mutable

MAX_PROMPT = 100_000  # bytes: Linux takes 128 KiB in one argument
MAX_LINE = 4 << 20  # bytes of one line of a report: Claude prints whole files in one
MAX_COST = 1e6  # dollars of one step: more is no cost but a fault
MAX_SAID = 4000  # characters of an agent's last words that are kept
# What every program needs, and what reaches a model through a company's proxy.
COMMON_ENV = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TMPDIR", "TZ"),
    *("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
)
SPAWNS = ("Task", "Agent", "spawn_agent", "collaborationspawn_agent")  # tools by which an agent starts another


@mutable
class AgentReport:
    """What an agent said of itself so far."""

    tokens_in: int = 0
    tokens_out: int = 0
    calls: int = 0  # of its model where it says so, else of tools
    cost: float | None = None  # dollars, if it says so
    model: str = ""
    subagents: int = 0
    said: str = ""  # its last words
    error: str = ""

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def priced(self, prices: Mapping[str, tuple[float, ...]]) -> float | None:
        """What it cost: as reported, else by the user's table."""
        if not self.tokens:
            return self.cost
        return dollars_of(TokenUse(read=self.tokens_in, written=self.tokens_out, dollars=self.cost), self.model, prices)


class ReportReader:
    """Reads an agent's output as it comes; what is no JSON of its kind counts as words."""

    def __init__(self, agent: str) -> None:
        self.report = AgentReport()
        self._read = {"codex": self._codex, "claude": self._claude, "gemini": self._gemini}.get(agent)
        self._rest, self._messages, self._is_long, self._speaks = b"", set[str](), False, False

    def feed(self, data: bytes) -> None:
        """Take some bytes of the output."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line)
        if len(self._rest) > MAX_LINE:  # nobody's report: read on at the next line
            self._rest, self._is_long = b"", True

    def finish(self) -> AgentReport:
        """What was said in all."""
        self._line(self._rest)
        self._rest = b""
        return self.report

    def _line(self, line: bytes) -> None:
        if self._is_long:
            self._is_long = False
            return
        if self._read is None:
            text = line.decode("utf-8", "replace").strip()
            self.report.said = f"{self.report.said}\n{text}".strip()[-MAX_SAID:] if text else self.report.said
            return
        try:
            row = json.loads(line) if line.startswith(b"{") else None
        except (ValueError, RecursionError):
            return
        if isinstance(row, dict):
            self._read(row)

    def _codex(self, row: dict[str, Any]) -> None:
        item, usage, one = dict_of(row.get("item")), dict_of(row.get("usage")), self.report
        if row.get("type") == "item.completed":
            one.calls += 1
            if item.get("type") == "agent_message":
                one.said = _text(item.get("text"))
            one.subagents += item.get("tool") in SPAWNS or item.get("type") == "collab_tool_call"
        elif row.get("type") == "turn.completed":  # each turn reports itself
            one.tokens_in += _count(usage.get("input_tokens"))
            one.tokens_out += _count(usage.get("output_tokens"))
        elif row.get("type") in ("turn.failed", "error"):
            one.error = _text(dict_of(row.get("error")).get("message") or row.get("message"))

    def _claude(self, row: dict[str, Any]) -> None:
        message, one = dict_of(row.get("message")), self.report
        if row.get("type") == "assistant":
            self._claude_message(message)
        elif row.get("type") == "result":  # the sum of all, sub-agents included
            usage = dict_of(row.get("usage"))
            one.tokens_in, one.tokens_out = _tokens_in(usage), _count(usage.get("output_tokens"))
            cost: Any = row.get("total_cost_usd")
            one.cost = float(cost) if type(cost) in (int, float) and 0 <= cost < MAX_COST else one.cost
            one.said = _text(row.get("result")) or one.said
            one.error = one.said if row.get("is_error") is True else ""

    def _claude_message(self, message: dict[str, Any]) -> None:
        one, name, usage = self.report, str(message.get("id")), dict_of(message.get("usage"))
        one.model = _text(message.get("model")) or one.model
        if name not in self._messages:  # a message comes in several lines, each with the same numbers
            self._messages.add(name)
            one.calls += 1
            one.tokens_in += _tokens_in(usage)
            one.tokens_out += _count(usage.get("output_tokens"))
        for part in dicts_of(message.get("content")):
            if part.get("type") == "text":
                one.said = _text(part.get("text")) or one.said
            one.subagents += part.get("type") == "tool_use" and part.get("name") in SPAWNS

    def _gemini(self, row: dict[str, Any]) -> None:
        one, speaks = self.report, row.get("type") == "message" and row.get("role") == "assistant"
        if row.get("type") == "init":
            one.model = _text(row.get("model"))
        elif speaks:
            said = str(row.get("content") or "")  # in pieces, each as it is
            one.said = (one.said + said if self._speaks else said)[-MAX_SAID:]
        elif row.get("type") == "tool_use":
            one.calls += 1
        elif row.get("type") == "result":
            stats = dict_of(row.get("stats"))
            one.tokens_in, one.tokens_out = _count(stats.get("input_tokens")), _count(stats.get("output_tokens"))
            models = dict_of(stats.get("models"))
            one.model = _text(
                max(models, key=lambda name: _count(dict_of(models[name]).get("total_tokens")), default=one.model)
            )
            one.error = _text(dict_of(row.get("error")).get("message")) if row.get("status") == "error" else ""
        self._speaks = speaks


def _count(value: object) -> int:
    return value if type(value) is int and 0 <= value < 1 << 40 else 0


def _tokens_in(usage: Mapping[str, Any]) -> int:
    return sum(
        _count(usage.get(name)) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )


def _text(value: object) -> str:
    return value.strip()[-MAX_SAID:] if isinstance(value, str) else ""


@frozen
class HeadlessAgent:
    """A command that works on a prompt without a person."""

    name: str  # codex, claude, gemini, or the program's own name
    argv: tuple[str, ...]  # `{prompt}` stands for the prompt
    variables: tuple[str, ...] = ()  # of the environment, with * for any ending

    def command(self, prompt: str) -> tuple[list[str], bytes | None]:
        """The words to run, and what goes to stdin."""
        data = prompt.encode("utf-8", "replace")
        if len(data) > MAX_PROMPT:
            data = data[:MAX_PROMPT]
            prompt = data.decode("utf-8", "ignore")
        if "{prompt}" in self.argv:
            return [prompt if word == "{prompt}" else word for word in self.argv], None
        return list(self.argv), data

    def environment(self, environ: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
        """What of the environment it gets: what every program needs, its own settings, and what the user adds."""
        return chosen_environment(environ, (*self.variables, *more))


def chosen_environment(environ: Mapping[str, str], more: Sequence[str] = ()) -> dict[str, str]:
    """The part of an environment that a program of a crew gets."""
    whole = {*COMMON_ENV, *(name for name in more if not name.endswith("*"))}
    starts = tuple(name[:-1] for name in more if name.endswith("*"))
    return {name: value for name, value in environ.items() if name in whole or (starts and name.startswith(starts))}


_CLAUDE_TOOLS = "Bash,Edit,Glob,Grep,MultiEdit,NotebookEdit,Read,Task,TodoWrite,Write"
KNOWN = {
    "codex": (("codex", "exec", "--json", "--sandbox", "workspace-write", "{prompt}"), ("CODEX_*", "OPENAI_*")),
    "claude": (
        *(
            (
                "claude",
                "-p",
                "{prompt}",
                "--output-format",
                "stream-json",
                "--verbose",
                "--allowedTools",
                _CLAUDE_TOOLS,
            ),
        ),
        ("ANTHROPIC_*", "CLAUDE_*", "AWS_*", "GOOGLE_*", "CLOUD_ML_REGION", "DISABLE_*"),
    ),
    "gemini": (("gemini", "-p", "{prompt}", "-o", "stream-json", "-y", "--skip-trust"), ("GEMINI_*", "GOOGLE_*")),
}


def agent_named(words: Sequence[str] | str) -> HeadlessAgent:
    """The agent that a name or a command means; a command of a known agent is read like that agent."""
    try:
        argv = tuple(shlex.split(words) if isinstance(words, str) else words)
    except ValueError as error:
        raise BadInput(f"the agent's command cannot be read: {error}", hint="Look at its quotes.") from None
    if not argv:
        raise BadInput(
            "no agent is named", hint='Add --agent codex, claude, gemini or "your command", or set crew.agent.'
        )
    if len(argv) == 1 and argv[0] in KNOWN:
        return HeadlessAgent(argv[0], *KNOWN[argv[0]])
    name = os.path.basename(argv[0])
    known = name if name in KNOWN and "{prompt}" in argv else None
    return HeadlessAgent(known or name, argv, KNOWN[known][1] if known else ())
