"""The real agents, end to end: what was accepted reaches their model, what they do is kept, killed or not.

Run by `make test-clients`, which installs the pinned clients into `.clients`. Each runs with an empty
environment and a home of its own in a network that has only loopback, against a scripted model (model.py).
"""

import json
import platform
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.wiring import client_trust
from holdfast.project import Project
from tests.clients.driving import ROOT, Client, namespace

CAN = platform.system() == "Linux" and shutil.which("npm") is not None and shutil.which("unshare") is not None
pytestmark = [pytest.mark.clients, pytest.mark.skipif(not CAN, reason="needs npm and unshare on Linux")]

MARK = "HFMARK-7f3k"
MEMORY = f"The deploy word is {MARK}; never ship without it."
ASKED = "Read hello.txt and then write the HFOPEN parser."
SHELL = {  # the tool that runs a command, and the name of its argument
    "codex": ("exec_command", "cmd"),
    "claude": ("Bash", "command"),
    "gemini": ("run_shell_command", "command"),
    "opencode": ("bash", "command"),
    "qwen": ("run_shell_command", "command"),
    "copilot": ("bash", "command"),
    "pi": ("bash", "command"),
    "kimi": ("Bash", "command"),
    "cline": ("run_commands", "commands"),
}
EDITS: dict[str, list[dict[str, Any]]] = {  # what edits hello.txt; Qwen Code wants it read first
    "opencode": [{"name": "edit", "args": {"oldString": "hello", "newString": "hullo"}}],
    "qwen": [
        {"name": "read_file", "args": {}},
        {"name": "edit", "args": {"old_string": "hello", "new_string": "hullo"}},
    ],
    "copilot": [{"name": "edit", "args": {"old_str": "hello", "new_str": "hullo"}}],
    "pi": [{"name": "edit", "args": {"edits": [{"oldText": "hello", "newText": "hullo"}]}}],
    "kimi": [
        {"name": "Read", "args": {}},
        {"name": "Edit", "args": {"old_string": "hello", "new_string": "hullo"}},
        {"name": "Edit", "args": {"old_string": "hello", "new_string": "hullo"}},
    ],
    "cline": [{"name": "editor", "args": {"old_text": "hello", "new_text": "hullo"}}],
}
PATH = {"opencode": "filePath", "qwen": "file_path"}  # what they call the file; the others say path
OLDER = ("codex", "claude", "gemini")
PLANS: dict[str, list[dict[str, Any]]] = {
    "codex": [{"name": "update_plan", "args": {"plan": [{"step": "write the HFOPEN parser", "status": "pending"}]}}],
    "claude": [
        {"name": "ToolSearch", "args": {"query": "select:TaskCreate", "max_results": 3}},
        {"name": "TaskCreate", "args": {"subject": "write the HFOPEN parser", "description": "It is missing."}},
    ],
}  # the others are not asked for a list of things to do


class Scene:
    """A repository with a memory in which one agent is connected."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.client, self.repo = name, Client(name, folder / "home"), folder / "repo"
        self.client.make_repository(self.repo)
        self.holdfast("init", "--commit")
        self.settings = self.written()
        self.said = self.holdfast("connect", name, "--yes")

    def written(self) -> dict[str, bytes]:
        """The client's own settings."""
        names = ("hooks.json", "config.toml", "settings.json")
        found = [self.client.home / f".{self.name}" / name for name in names]
        return {path.name: path.read_bytes() for path in found if path.exists()}

    def holdfast(self, *words: str) -> str:
        return self.client.holdfast(self.repo, *words)

    def accept(self, statement: str) -> None:
        """As its user does at a terminal."""
        project = Project.open(self.repo, environ=self.client.environ(), person=True)
        project.memory.remember(statement, kind="invariant", accept=True, reviewer="Ada")

    def shell(self, command: str) -> dict[str, Any]:
        name, argument = SHELL[self.name]
        more = {"description": "scripted"} if self.name not in ("codex", "gemini", "pi", "cline") else {}
        said = [command] if self.name == "cline" else command
        return {"text": "I look first.", "calls": [{"name": name, "args": {argument: said, **more}}]}

    def edit(self) -> list[dict[str, Any]]:
        """The steps in which the model edits hello.txt."""
        path = {PATH.get(self.name, "path"): str(self.repo / "hello.txt")}
        calls = [{**one, "args": {**one["args"], **path}} for one in EDITS[self.name]]
        return [{"text": "I edit.", "calls": [one]} for one in calls]

    def script(self) -> list[dict[str, Any]]:
        """What the model does: look, plan, and stop in the middle of it."""
        plan = [{"calls": [call]} for call in PLANS.get(self.name, ())]
        return [self.shell("cat hello.txt"), *plan, {"text": "The file is read. The HFOPEN parser is left open."}]

    def runs(self) -> list[Path]:
        """The capsules of all runs that ended, the oldest first; any command takes in what hooks told of."""
        self.holdfast("status")
        capsules = sorted((self.repo / ".git" / "holdfast" / "runs").iterdir())
        return [one for one in capsules if (one / "summary.md").exists()]

    def doctor(self) -> dict[str, Any]:
        found = {one["id"]: one for one in json.loads(self.holdfast("doctor", "--json"))["tools"]}
        return dict(found[self.name])


@pytest.fixture(params=OLDER)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    return Scene(request.param, tmp_path)


def test_what_was_accepted_reaches_the_model_and_the_run_is_kept(scene: Scene) -> None:
    """This is what all of it is for."""
    scene.accept(MEMORY)
    blocks = [path.read_text() for path in scene.repo.glob("*.md")]
    assert len(blocks) == 1 and MARK not in blocks[0], "the block is older: only a hook can tell it"
    ran = scene.client.start(scene.repo, scene.client.words(ASKED), scene.script())
    assert ran.code == 0, ran.out
    assert MARK in ran.request(0)
    assert re.search(r"mcp__holdfast|mcp_holdfast|holdfast\W+recall", ran.request(-1)), "the server's tools are named"
    run = scene.runs()[0]
    cycles = [json.loads(line) for line in (run / "cycles.jsonl").read_text().splitlines()]
    calls = [call for cycle in cycles for call in cycle["proposal"]["calls"]]
    assert "cat hello.txt" in json.dumps(calls[0])
    assert "hello from the repository" in json.dumps(cycles[0]["result"])
    assert ASKED in (run / "summary.md").read_text()
    everything = b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert MARK.encode() not in everything, "what we told the agent does not come back as its own words"
    found = scene.doctor()
    assert found["connected"] == "user" and found["unchanged"] and found["firing"], found


def test_a_second_run_is_told_what_the_first_left_open(scene: Scene) -> None:
    """Nobody should have to explain the same thing to an agent twice."""
    assert scene.client.run(scene.repo, ASKED, scene.script()).code == 0
    ran = scene.client.start(scene.repo, scene.client.words("Go on."), [{"text": "I go on."}])
    assert "HFOPEN parser" in ran.request(0)
    assert scene.name == "gemini" or re.search(r"open: SES-\w+:o1 write the HFOPEN parser", ran.request(0))


def test_killing_the_client_loses_nothing(scene: Scene) -> None:
    """A machine that goes down takes the agent along, not what it did."""
    ran = scene.client.run(scene.repo, ASKED, [scene.shell("cat hello.txt"), {"hang": True}], kill=True)
    assert ran.code == -9 and len([one for one in ran.asked if one["main"]]) == 2, ran.out
    assert scene.client.run(scene.repo, "Something else.", [{"text": "Done."}]).code == 0
    first, *_ = scene.runs()
    told = (first / "cycles.jsonl").read_text()
    assert "cat hello.txt" in told and "hello from the repository" in told
    assert ASKED in (first / "summary.md").read_text()


def test_a_resumed_session_is_not_kept_twice(scene: Scene) -> None:
    """The transcript goes on in the same file; its beginning is known."""
    scene.client.run(scene.repo, ASKED, scene.script())
    (first,) = scene.runs()
    again = [scene.shell("echo again"), {"text": "Done."}]
    assert scene.client.run(scene.repo, "Go on.", again, resume=True).code == 0
    runs = scene.runs()
    told = [(run / "cycles.jsonl").read_text() for run in runs]
    assert first in runs and sum("cat hello.txt" in one for one in told) == 1
    assert sum("echo again" in one for one in told) == 1


def test_disconnected_it_is_as_before(scene: Scene) -> None:
    """Clients write into their settings while they run; theirs stays, ours goes."""
    scene.client.run(scene.repo, ASKED, [{"text": "Done."}])
    scene.holdfast("disconnect", scene.name, "--yes")
    left = scene.written()
    assert left.keys() == scene.settings.keys() or scene.name == "claude"
    assert not any(b"holdfast" in data for data in left.values()), left
    if scene.name == "codex":
        before = tomllib.loads(scene.settings["config.toml"].decode())
        assert tomllib.loads(left["config.toml"].decode()).items() >= before.items()
    assert not (scene.client.home / ".local/share/holdfast").exists()
    assert MARK not in scene.client.run(scene.repo, "Go on.", [{"text": "Done."}]).request(0)


def test_codex_calls_what_its_user_approved_and_nothing_else(tmp_path: Path) -> None:
    """We say what waits for approval; Codex must be of the same mind."""
    scene = Scene("codex", tmp_path)
    assert "type /hooks and trust ours" in scene.said
    scene.accept(MEMORY)
    words = [word for word in scene.client.words(ASKED) if not word.startswith("--dangerously")]
    ran = scene.client.start(scene.repo, words, [{"text": "Done."}])
    assert MARK not in ran.request(0) and not scene.doctor()["firing"]
    assert (scene.doctor()["trusted"], len(scene.doctor()["waiting"])) == ("no", 9)
    file = scene.client.home / ".codex" / "hooks.json"
    with (file.parent / "config.toml").open("a") as config:  # what `/hooks` writes when its user agrees
        for event, groups in json.loads(file.read_text())["hooks"].items():
            label = re.sub("(?<!^)([A-Z])", r"_\1", event).lower()
            hashed = client_trust.fingerprint(event, groups[0], groups[0]["hooks"][0])
            config.write(f'\n[hooks.state."{file}:{label}:0:0"]\ntrusted_hash = "{hashed}"\n')
    assert scene.doctor()["trusted"] == "yes"
    ran = scene.client.start(scene.repo, words, [{"text": "Done."}])
    assert MARK in ran.request(0) and scene.doctor()["firing"]


@pytest.mark.parametrize("name", OLDER)
def test_its_plugin_is_taken(name: str, tmp_path: Path) -> None:
    """A manifest that a client refuses is found here and not by who installs it."""
    client = Client(name, tmp_path / "home")
    plugins = tmp_path / "plugins"
    shutil.copytree(ROOT / "plugins", plugins)
    commands = {
        "codex": (["plugin", "marketplace", "add", str(plugins)], ["plugin", "add", "holdfast@holdfast"]),
        "claude": (["plugin", "validate", str(plugins / "claude")], ["plugin", "validate", str(plugins)]),
        "gemini": (["extensions", "validate", str(plugins / "gemini")],),
    }[name]
    for words in commands:
        command = [*namespace(), *client.program, *words]
        done = subprocess.run(
            command, cwd=tmp_path, env=client.environ(), capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr
