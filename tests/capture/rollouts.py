"""Codex rollouts as tests write them: the shape of 0.104, with what a test wants in it."""

import json
import os
import shutil
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.conftest import GitRepo
from tests.git.place import Place

_MADE: list[Path] = []  # one project, made once and copied: making one takes a dozen gits
BEGAN = datetime(2026, 2, 1, 10, 0, 0, tzinfo=UTC)


@dataclass
class Rollout:
    """One session's file, written turn by turn."""

    path: Path
    cwd: str
    session: str = field(default_factory=lambda: str(uuid.uuid4()))
    at: datetime = BEGAN
    git: dict[str, str] | None = None
    more: dict[str, Any] = field(default_factory=dict)
    calls: int = 0

    def begin(self) -> "Rollout":
        payload = {
            "id": self.session,
            "timestamp": _iso(self.at),
            "cwd": self.cwd,
            "originator": "codex_cli_rs",
            "cli_version": "0.104.0",
            "source": "cli",
            "model_provider": "openai",
            **({"git": self.git} if self.git else {}),
            **self.more,
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.row("session_meta", payload)

    def row(self, kind: str, payload: dict[str, Any]) -> "Rollout":
        record = {"timestamp": _iso(self.at), "type": kind, "payload": payload}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        if self.at > datetime.now(UTC):  # it is not written before the time it tells of
            os.utime(self.path, (self.at.timestamp(), self.at.timestamp()))
        return self

    def later(self, seconds: float = 1) -> "Rollout":
        self.at += timedelta(seconds=seconds)
        return self

    def asks(self, text: str) -> "Rollout":
        self.later()
        self.row("turn_context", {"cwd": self.cwd, "model": "gpt-x"})
        content = [{"type": "input_text", "text": text}]
        self.row("response_item", {"type": "message", "role": "user", "content": content})
        return self.row("event_msg", {"type": "user_message", "message": text})

    def says(self, text: str) -> "Rollout":
        self.later()
        self.row("event_msg", {"type": "agent_message", "message": text})
        content = [{"type": "output_text", "text": text}]
        return self.row("response_item", {"type": "message", "role": "assistant", "content": content})

    def done(self, text: str) -> "Rollout":
        """The last answer of a turn."""
        self.says(text)
        return self.row("event_msg", {"type": "task_complete", "last_agent_message": text})

    def calls_tool(self, name: str, arguments: dict[str, Any], output: str | None) -> "Rollout":
        self.later()
        self.calls += 1
        call = f"call_{self.session[:8]}_{self.calls}"
        told = {"type": "function_call", "name": name, "arguments": json.dumps(arguments), "call_id": call}
        self.row("response_item", told)
        if output is not None:
            self.later()
            self.row("response_item", {"type": "function_call_output", "call_id": call, "output": output})
        return self

    def runs(self, command: str, output: str = "ok\n", code: int | None = 0) -> "Rollout":
        """A shell command; without a code it never came back."""
        head = f"Chunk ID: aa\nWall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n"
        return self.calls_tool("exec_command", {"cmd": command}, None if code is None else head + output)

    def patches(self, path: str, added: list[str], removed: list[str] | None = None) -> "Rollout":
        body = "".join(f"-{line}\n" for line in removed or []) + "".join(f"+{line}\n" for line in added)
        what = f"*** Update File: {path}\n@@\n" if removed else f"*** Add File: {path}\n"
        self.later()
        self.calls += 1
        call, patch = f"call_{self.session[:8]}_{self.calls}", f"*** Begin Patch\n{what}{body}*** End Patch\n"
        told = {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call}
        self.row("response_item", told)
        out = json.dumps({"output": "Success. Updated the following files:\n", "metadata": {"exit_code": 0}})
        return self.row("response_item", {"type": "custom_tool_call_output", "call_id": call, "output": out})

    def plans(self, **steps: str) -> "Rollout":
        plan = [{"step": name.replace("_", " "), "status": status} for name, status in steps.items()]
        return self.calls_tool("update_plan", {"plan": plan}, "Plan updated")


def a_place(folder: Path, made: Path) -> Place:
    """A project in a folder; `made` is where the one lies that all are copied from."""
    if not _MADE or not _MADE[0].exists():
        Place.make(made / "repo")
        _MADE[:] = [made / "repo"]
    shutil.copytree(_MADE[0], folder / "repo", symlinks=True)
    return Place(GitRepo(folder / "repo"), str(folder / "cache"))


def _iso(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def name_of(session: str, at: datetime = BEGAN) -> str:
    return f"sessions/{at:%Y/%m/%d}/rollout-{at:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"


def rollout(home: Path, cwd: Path | str, **fields: Any) -> Rollout:
    """A new session of Codex in its own folders."""
    session = fields.pop("session", None) or str(uuid.uuid4())
    path = home / name_of(session, fields.get("at", BEGAN))
    return Rollout(path, str(cwd), session, **fields).begin()
