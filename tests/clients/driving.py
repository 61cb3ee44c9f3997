"""The real clients as subjects: installed at pinned versions, set up for the scripted model, run and read."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.inside import PORT
from tests.conftest import GITCONFIG

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / ".clients"
PINNED = {
    "codex": ("@openai/codex", "0.166.0"),
    "claude": ("@anthropic-ai/claude-code", "2.1.325"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
}
ADDRESS = f"http://127.0.0.1:{PORT}"
CODEX_CONFIG = f"""\
model_provider = "scripted"
model = "scripted"
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"

[analytics]
enabled = false

[feedback]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{ADDRESS}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
"""
GEMINI_SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}
QUIET = {  # no client calls home, were there a home to call
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_CLI_NO_RELAUNCH": "true",
}
KEYS = {"SCRIPTED_KEY": "none", "ANTHROPIC_API_KEY": "none", "GEMINI_API_KEY": "none"}
ADDRESSES = {"ANTHROPIC_BASE_URL": ADDRESS, "GOOGLE_GEMINI_BASE_URL": ADDRESS}


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a client: how it ended, what it printed, what reached the model."""

    code: int
    out: str
    asked: list[dict[str, Any]]

    def request(self, number: int = 0) -> str:
        """All words of one request of the conversation itself."""
        return json.dumps([one["body"] for one in self.asked if one["main"]][number], ensure_ascii=False)


def install(client: str) -> Path:
    """The folder of a client at its pinned version, installed once; no script of the package is run."""
    package, version = PINNED[client]
    folder = FOLDER / f"{client}-{version}"
    if not (folder / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
        subprocess.run([*words, f"{package}@{version}"], cwd=folder, check=True, capture_output=True, timeout=600)
        (folder / "installed").touch()
    return folder / "node_modules"


def namespace() -> list[str]:
    """What starts a program in a network of its own, as root or as anybody."""
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]


class Client:
    """A client in a home of its own."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home, self.modules = name, home, install(name)
        home.mkdir(parents=True, exist_ok=True)
        (home / ".gitconfig").write_text(GITCONFIG)
        if name == "codex":
            self._write(".codex/config.toml", CODEX_CONFIG)
        elif name == "gemini":
            self._write(".gemini/settings.json", json.dumps(GEMINI_SETTINGS, indent=2))

    def _write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    @property
    def program(self) -> list[str]:
        """How the client itself is started, without its wrapper where it has a native program."""
        if self.name == "codex":
            return [str(self.modules / ".bin" / "codex")]
        if self.name == "claude":
            return [str(next(self.modules.glob("@anthropic-ai/claude-code-linux-*/claude")))]
        return ["node", str(self.modules / "@google/gemini-cli/bundle/gemini.js")]

    def make_repository(self, repo: Path) -> None:
        """A repository with one commit, and the client on the path as its user has it."""
        repo.mkdir()
        (repo / "hello.txt").write_text("hello from the repository\n")
        for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "start")):
            subprocess.run(["git", *words], cwd=repo, env=self.environ(), check=True)
        program = self.home / "bin" / self.name
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {" ".join(self.program)} "$@"\n')
        program.chmod(0o755)

    def environ(self) -> dict[str, str]:
        """All that the client sees of this machine."""
        node = os.path.dirname(shutil.which("node") or "/usr/bin/node")
        bare = {"PATH": f"{self.home}/bin:{node}:/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home)}
        return {**bare, "LANG": "C.UTF-8", "TERM": "dumb", **KEYS, **ADDRESSES, **QUIET}

    def words(self, prompt: str, *, resume: bool = False) -> list[str]:
        """The words that make it do one thing and end."""
        if self.name == "codex":
            run = ["exec", "--dangerously-bypass-hook-trust"]  # consent is its user's: here the user is a test
            return [*self.program, *run, *(["resume", "--last"] if resume else []), prompt]
        if self.name == "claude":
            tools = "Bash,Read,Edit,Write,TaskCreate,TaskUpdate,TodoWrite,ToolSearch"
            again = ["--continue"] if resume else []
            return [*self.program, *again, "-p", prompt, "--allowedTools", tools]
        again = ["--resume", "latest"] if resume else []
        return [*self.program, *again, "-p", prompt, "-y", "--skip-trust"]

    def run(
        self, folder: Path, prompt: str, script: list[dict[str, Any]], *, kill: bool = False, resume: bool = False
    ) -> Ran:
        """Let it work in a folder with this script; `kill` ends it at the step that hangs."""
        return self.start(folder, self.words(prompt, resume=resume), script, kill=kill)

    def start(self, folder: Path, argv: list[str], script: list[dict[str, Any]], *, kill: bool = False) -> Ran:
        spec, out = self.home / "spec.json", self.home / "out"
        said = {"argv": argv, "cwd": str(folder), "env": self.environ(), "script": script, "out": str(out)}
        spec.write_text(json.dumps({**said, "kill": kill, "timeout": 120}))
        command = [*namespace(), sys.executable, "-m", "tests.clients.inside", str(spec)]
        subprocess.run(command, cwd=ROOT, env={"PATH": os.environ["PATH"]}, check=True, timeout=200)
        done = json.loads(spec.read_text())
        return Ran(done["code"], out.read_text(errors="replace"), done["asked"])

    def holdfast(self, folder: Path, *words: str) -> str:
        """A command of ours, as its user types it, in the same world."""
        command = [*namespace(), sys.executable, "-m", "holdfast", *words]
        done = subprocess.run(command, cwd=folder, env=self.environ(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
