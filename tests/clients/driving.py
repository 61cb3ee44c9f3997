"""The real clients as subjects: installed at pinned versions, set up for the scripted model, run and read."""

import json
import os
import platform
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
    "opencode": ("opencode-ai", "1.18.33"),
    "qwen": ("@qwen-code/qwen-code", "0.24.4"),
    "copilot": ("@github/copilot", "1.0.102"),
    "pi": ("@earendil-works/pi-coding-agent", "0.87.1"),
    "kimi": ("@moonshot-ai/kimi-code", "2.1.0"),
    "cline": ("cline", "3.0.65"),
}
NODE = "24.21.0"  # what some of them ask for
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
_PRICED = {"input": 3.0, "output": 15.0}
_SCRIPTED = {"baseURL": f"{ADDRESS}/v1", "apiKey": "none"}
_OPENCODE = {"name": "scripted", "limit": {"context": 200000, "output": 8000}, "cost": _PRICED}
_PI = {
    "id": "scripted",
    "contextWindow": 200000,
    "maxTokens": 8000,
    "cost": {**_PRICED, "cacheRead": 0, "cacheWrite": 0},
}
_CLINE = {"provider": "openai-compatible", "apiKey": "none", "model": "scripted", "baseUrl": f"{ADDRESS}/v1"}
KIMI_CONFIG = f"""\
default_model = "scripted"
telemetry = false

[providers.scripted]
type = "openai"
base_url = "{ADDRESS}/v1"
api_key = "none"

[models.scripted]
provider = "scripted"
model = "scripted"
max_context_size = 200000
"""
SETTINGS: dict[str, dict[str, Any]] = {  # each client's own file, by where it lies in its home
    "opencode": {
        ".config/opencode/opencode.json": {
            "autoupdate": False,
            "share": "disabled",
            "model": "scripted/scripted",
            "small_model": "scripted/scripted",
            "provider": {
                "scripted": {
                    "npm": "@ai-sdk/openai-compatible",
                    "name": "scripted",
                    "options": _SCRIPTED,
                    "models": {"scripted": _OPENCODE},
                }
            },
        }
    },
    "qwen": {
        ".qwen/settings.json": {
            "security": {"auth": {"selectedType": "openai"}},
            "telemetry": {"enabled": False},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "model": {"name": "scripted"},
        }
    },
    "copilot": {},
    "pi": {
        ".pi/agent/models.json": {
            "providers": {
                "scripted": {"baseUrl": f"{ADDRESS}/v1", "api": "openai-completions", "apiKey": "none", "models": [_PI]}
            }
        },
        ".pi/agent/settings.json": {"defaultProvider": "scripted", "defaultModel": "scripted"},
    },
    "kimi": {".kimi-code/config.toml": KIMI_CONFIG},
    "cline": {
        ".cline/data/settings/providers.json": {
            "version": 1,
            "lastUsedProvider": "openai-compatible",
            "modes": {},
            "providers": {
                "openai-compatible": {
                    "settings": _CLINE,
                    "updatedAt": "2026-01-01T00:00:00.000Z",
                    "tokenSource": "manual",
                }
            },
        }
    },
    "codex": {".codex/config.toml": CODEX_CONFIG},
    "gemini": {".gemini/settings.json": GEMINI_SETTINGS},
    "claude": {},
}
QUIET = {  # no client calls home, were there a home to call
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "GEMINI_CLI_NO_RELAUNCH": "true",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "COPILOT_OFFLINE": "true",
    "COPILOT_AUTO_UPDATE": "false",
    "PI_OFFLINE": "1",
    "PI_SKIP_VERSION_CHECK": "1",
    "CLINE_TELEMETRY_DISABLED": "1",
}
KEYS = {"SCRIPTED_KEY": "none", "ANTHROPIC_API_KEY": "none", "GEMINI_API_KEY": "none"}
ADDRESSES = {"ANTHROPIC_BASE_URL": ADDRESS, "GOOGLE_GEMINI_BASE_URL": ADDRESS}
THEIRS = {  # what only one client reads
    "qwen": {"OPENAI_BASE_URL": f"{ADDRESS}/v1", "OPENAI_API_KEY": "none", "OPENAI_MODEL": "scripted"},
    "copilot": {
        "COPILOT_PROVIDER_BASE_URL": f"{ADDRESS}/v1",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": "none",
        "COPILOT_MODEL": "scripted",
    },
}
# The words that start each client's headless run, and those that go on with its last session.
FORKS = {"opencode": ("--continue", "--fork"), "qwen": ("--continue", "--fork-session")}
RUNS = {
    "opencode": (("run",), ("--continue",)),
    "qwen": (("-y", "-p"), ("--continue",)),
    "copilot": (("--allow-all-tools", "-p"), ("--continue",)),
    "pi": (("-p",), ("-c",)),
    "kimi": (("-p",), ("-c",)),
    "cline": (("-P", "openai-compatible", "-m", "scripted"), ()),
}


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a client: how it ended, what it printed, what reached the model."""

    code: int
    out: str
    asked: list[dict[str, Any]]
    cpu: float  # seconds of a processor, of the client and all that it started

    def request(self, number: int = 0) -> str:
        """All words of one request of the conversation itself."""
        return json.dumps([one["body"] for one in self.asked if one["main"]][number], ensure_ascii=False)


def install(client: str) -> Path:
    """The folder of a client at its pinned version, installed once; no script of the package is run."""
    package, version = PINNED.get(client, (f"node-linux-{_machine()}", NODE))
    folder = FOLDER / f"{client}-{version}"
    if not (folder / "installed").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        words = ["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", "--save-exact"]
        subprocess.run([*words, f"{package}@{version}"], cwd=folder, check=True, capture_output=True, timeout=600)
        (folder / "installed").touch()
    return folder / "node_modules"


def _machine() -> str:
    return {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def node() -> str:
    """A Node that all of them start with: the one on the path if it is new enough."""
    there = shutil.which("node")
    if there:
        said = subprocess.run([there, "--version"], capture_output=True, text=True, check=True).stdout
        if int(said.removeprefix("v").partition(".")[0]) >= 22:
            return there
    return str(next(install("node").glob("node-linux-*/bin/node")))


def namespace() -> list[str]:
    """What starts a program in a network of its own, as root or as anybody."""
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]


class Client:
    """A client in a home of its own."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home, self.modules = name, home, install(name)
        home.mkdir(parents=True, exist_ok=True)
        (home / ".gitconfig").write_text(GITCONFIG)
        for file, said in SETTINGS[name].items():
            self._write(file, said if isinstance(said, str) else json.dumps(said, indent=2))

    def _write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    @property
    def program(self) -> list[str]:
        """How the client itself is started, without its wrapper where it has a native program."""
        if self.name == "codex":
            return [str(self.modules / ".bin" / "codex")]
        if self.name == "claude":
            return [str(next(self.modules.glob("@anthropic-ai/claude-code-linux-*/claude")))]
        native = {
            "opencode": "opencode-linux-*/bin/opencode",
            "copilot": "@github/copilot-linux-*/copilot",
            "cline": "@cline/cli-linux-*/bin/cline",
        }
        if self.name in native:
            return [str(next(self.modules.glob(native[self.name])))]
        script = {
            "gemini": "@google/gemini-cli/bundle/gemini.js",
            "qwen": "@qwen-code/qwen-code/cli.js",
            "pi": "@earendil-works/pi-coding-agent/dist/cli.js",
            "kimi": "@moonshot-ai/kimi-code/dist/main.mjs",
        }
        return ["node" if self.name == "gemini" else node(), str(self.modules / script[self.name])]

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
        return {**bare, "LANG": "C.UTF-8", "TERM": "dumb", **KEYS, **ADDRESSES, **QUIET, **THEIRS.get(self.name, {})}

    def words(self, prompt: str, *, resume: bool = False, fork: str = "") -> list[str]:
        """The words that make it do one thing and end; `fork` is the session, its last, that it copies and goes on."""
        if self.name == "codex":
            run = ["exec", "--dangerously-bypass-hook-trust"]  # consent is its user's: here the user is a test
            again = ["fork", fork] if fork else ["resume", "--last"] if resume else []
            return [*self.program, *run, *again, prompt]
        if self.name == "claude":
            tools = "Bash,Read,Edit,Write,Agent,TaskCreate,TaskUpdate,TodoWrite,ToolSearch,mcp__holdfast__recall"
            again = ["--continue", *(["--fork-session"] if fork else [])] if resume or fork else []
            return [*self.program, *again, "-p", prompt, "--allowedTools", tools]
        if self.name in RUNS:
            run, go_on = RUNS[self.name]
            again = list(("--fork", fork) if self.name == "pi" and fork else FORKS[self.name] if fork else go_on)
            first, last = (run[:-1], run[-1:]) if run[-1] == "-p" else (run, ())
            return [*self.program, *first, *(again if resume or fork else ()), *last, prompt]
        again = ["--resume", "latest"] if resume else []
        return [*self.program, *again, "-p", prompt, "-y", "--skip-trust"]

    def run(
        self,
        folder: Path,
        prompt: str,
        script: list[dict[str, Any]],
        *,
        kill: bool = False,
        resume: bool = False,
        whole: bool = False,
    ) -> Ran:
        """Let it work in a folder with this script; `kill` ends it at the step that hangs, `whole` waits for all."""
        return self.start(folder, self.words(prompt, resume=resume), script, kill=kill, whole=whole, prompt=prompt)

    def start(
        self,
        folder: Path,
        argv: list[str],
        script: list[dict[str, Any]],
        *,
        kill: bool = False,
        whole: bool = False,
        prompt: str = "",
    ) -> Ran:
        spec, out = self.home / "spec.json", self.home / "out"
        said = {"argv": argv, "cwd": str(folder), "env": self.environ(), "script": script, "out": str(out)}
        spec.write_text(json.dumps({**said, "prompt": prompt, "kill": kill, "whole": whole, "timeout": 120}))
        command = [*namespace(), sys.executable, "-m", "tests.clients.inside", str(spec)]
        subprocess.run(command, cwd=ROOT, env={"PATH": os.environ["PATH"]}, check=True, timeout=200)
        done = json.loads(spec.read_text())
        return Ran(done["code"], out.read_text(errors="replace"), done["asked"], done["cpu"])

    def holdfast(self, folder: Path, *words: str) -> str:
        """A command of ours, as its user types it, in the same world."""
        command = [*namespace(), sys.executable, "-m", "holdfast", *words]
        done = subprocess.run(command, cwd=folder, env=self.environ(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout
