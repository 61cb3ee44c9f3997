"""opencode, Qwen Code, Copilot CLI, pi, Kimi Code and Cline CLI, end to end, as test_agents.py does with the others.

Each line of the table in docs/reference/connect.md that says what reaches the model is from here.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces import agent_hook
from holdfast.project import Project
from tests.clients.driving import RUNS, Client, Ran
from tests.clients.test_agents import ASKED, CAN, MARK, MEMORY, Scene

pytestmark = [pytest.mark.clients, pytest.mark.skipif(not CAN, reason="needs npm and unshare on Linux")]

RULE = f"hello.txt must keep its greeting, says {MARK}"
FIRST = {"cline": 1}  # the request in which the context is first; it hears nothing before a tool


@pytest.fixture(params=RUNS)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    found = Scene(request.param, tmp_path)
    for words in (("add", "-A"), ("commit", "-q", "-m", "connected")):  # open work narrows the context
        subprocess.run(["git", *words], cwd=found.repo, env=found.client.environ(), check=True)
    return found


def runs(scene: Scene) -> list[Path]:
    """The runs: in headless use Qwen Code, Kimi Code and Cline CLI do not say that a session is over."""
    scene.holdfast("import", scene.name)
    return scene.runs()


def done(scene: Scene, prompt: str, script: list[dict[str, Any]]) -> Ran:
    ran = scene.client.run(scene.repo, prompt, script)
    assert ran.code == 0, ran.out[-3000:]
    return ran


def test_what_was_accepted_reaches_the_model_and_the_run_is_kept(scene: Scene) -> None:
    """This is what all of it is for."""
    scene.accept(MEMORY)
    ran = done(scene, ASKED, scene.script())
    assert MARK in ran.request(FIRST.get(scene.name, 0))
    assert sum(MARK in ran.request(n) for n in range(FIRST.get(scene.name, 0))) == 0
    assert ran.request(-1).count(MEMORY) == 1, "it is there once"
    run = runs(scene)[0]
    cycles = [json.loads(line) for line in (run / "cycles.jsonl").read_text().splitlines()]
    calls = [call for cycle in cycles for call in cycle["proposal"]["calls"]]
    assert "cat hello.txt" in json.dumps(calls[0])
    assert "hello from the repository" in json.dumps(cycles[0]["result"])
    assert ASKED in (run / "summary.md").read_text()
    everything = b"".join(path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert MARK.encode() not in everything, "what we told the agent does not come back as its own words"
    found = scene.doctor()
    assert found["connected"] == "user" and found["unchanged"] and found["firing"], found


def test_the_tools_of_our_server_are_offered(scene: Scene) -> None:
    """By its own way of naming them; pi has no MCP."""
    if scene.name == "pi":
        assert not list(scene.client.home.glob(".pi/agent/mcp*"))
        return
    ran = done(scene, ASKED, [scene.shell("sleep 3"), {"text": "Done."}])
    body = json.loads(ran.request(-1))
    offered = [one.get("function", one).get("name") for one in body["tools"]]
    named = [name for name in offered if "holdfast" in name]
    assert named or "mcp__holdfast__" in ran.request(-1), offered


def test_an_edit_is_warned_about(scene: Scene) -> None:
    """At the moment it matters: with the call's result, or as the reason for which it is refused once."""
    project = Project.open(scene.repo, environ=scene.client.environ(), person=True)
    project.memory.remember(RULE, kind="invariant", accept=True, reviewer="Ada", applies_to=["hello.txt"])
    project.context.render_guards()  # as the background does after a turn
    first = [scene.shell("true")] if scene.name == "cline" else []  # there the first tool tells the context
    ran = done(scene, ASKED, [*first, *scene.edit(), {"text": "Done."}])
    said = json.loads(ran.request(-1))["messages"]
    edits = [n for n, one in enumerate(said) if "hullo" in json.dumps(one.get("tool_calls", ""))]
    after = "".join(json.dumps(one, ensure_ascii=False) for one in said[edits[0] :] if one["role"] != "assistant")
    assert after.count(RULE) == 1, "at the edit, and once"
    assert (scene.repo / "hello.txt").read_text() == "hullo from the repository\n", "it is a warning"


def test_a_resumed_session_is_not_kept_twice(scene: Scene) -> None:
    """The transcript goes on in the same place; its beginning is known."""
    if scene.name == "cline":
        pytest.skip("how Cline resumes without a terminal was not tried")
    scene.client.run(scene.repo, ASKED, scene.script())
    (first,) = runs(scene)
    again = [scene.shell("echo again"), {"text": "Done."}]
    assert scene.client.run(scene.repo, "Go on.", again, resume=True).code == 0
    found = runs(scene)
    told = [(run / "cycles.jsonl").read_text() for run in found]
    assert found[0] == first and sum("cat hello.txt" in one for one in told) == 1
    assert sum("echo again" in one for one in told) == 1


def test_killing_the_client_loses_nothing(scene: Scene) -> None:
    """A machine that goes down takes the agent along, not what it did."""
    ran = scene.client.run(scene.repo, ASKED, [scene.shell("cat hello.txt"), {"hang": True}], kill=True)
    assert ran.code == -9, ran.out[-2000:]
    assert scene.client.run(scene.repo, "Something else.", [{"text": "Done."}]).code == 0
    told = [(run / "cycles.jsonl").read_text() for run in runs(scene)]
    assert sum("cat hello.txt" in one and "hello from the repository" in one for one in told) == 1


def test_disconnected_it_is_as_before(scene: Scene) -> None:
    """Clients write into their settings while they run; theirs stays, ours goes."""
    scene.client.run(scene.repo, ASKED, [{"text": "Done."}])
    scene.holdfast("disconnect", scene.name, "--yes")
    kept = (path for path in scene.client.home.rglob("*") if path.is_file() and "holdfast" in path.name.lower())
    assert [path for path in kept if ".git" not in path.parts] == []
    settings = [path for path in scene.client.home.rglob("*.json") if "sessions" not in path.parts]
    settings += scene.client.home.rglob("config.toml")
    assert [
        path for path in settings if b"holdfast/hook" in path.read_bytes() or b"holdfast/mcp" in path.read_bytes()
    ] == []
    assert not (scene.client.home / ".local/share/holdfast").exists()


# ── traps ────────────────────────────────────────────────────────────────────────────────────────


def trusting(client: Client, repo: Path) -> None:
    """What Copilot CLI writes when its user trusts a folder."""
    file = client.home / ".copilot" / "config.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"trustedFolders": [str(repo)]}))


def test_copilot_without_holdfast_may_work_where_claude_code_is_connected(tmp_path: Path) -> None:
    """It runs the project's hooks of Claude Code, and refuses every tool whose hook fails."""
    client, repo = Client("copilot", tmp_path / "home"), tmp_path / "repo"
    client.make_repository(repo)
    client.holdfast(repo, "init", "--commit")
    client.holdfast(repo, "connect", "claude", "--scope", "project", "--yes")
    client.holdfast(repo, "connect", "copilot", "--scope", "project", "--yes")
    trusting(client, repo)
    call = {"name": "bash", "args": {"command": "echo it-works > made.txt", "description": "scripted"}}
    ran = client.run(repo, ASKED, [{"calls": [call]}, {"text": "Done."}])
    assert ran.code == 0 and (repo / "made.txt").read_text() == "it-works\n", ran.out


def test_copilot_is_said_to_be_silent_until_the_folder_is_trusted(tmp_path: Path) -> None:
    """It passes over the project's hooks without a word."""
    client, repo = Client("copilot", tmp_path / "home"), tmp_path / "repo"
    client.make_repository(repo)
    client.holdfast(repo, "init", "--commit")
    client.holdfast(repo, "connect", "copilot", "--scope", "project", "--yes")
    hook = client.home / "bin" / "holdfast-hook"
    hook.write_text(f'#!/bin/sh\necho "$*" >> {tmp_path}/heard\ncat >/dev/null\n')
    hook.chmod(0o755)

    def stands() -> dict[str, Any]:
        return {one["id"]: one for one in json.loads(client.holdfast(repo, "doctor", "--json"))["tools"]}["copilot"]

    client.run(repo, ASKED, [{"text": "Done."}])
    assert stands()["trusted"] == "no" and not (tmp_path / "heard").exists()
    trusting(client, repo)
    client.run(repo, ASKED, [{"text": "Done."}])
    assert stands()["trusted"] == "yes" and "copilot SessionStart" in (tmp_path / "heard").read_text()


def test_pi_is_said_to_be_silent_until_the_project_is_trusted(tmp_path: Path) -> None:
    """It passes over the project's extensions without a word, too."""
    client, repo = Client("pi", tmp_path / "home"), tmp_path / "repo"
    client.make_repository(repo)
    client.holdfast(repo, "init", "--commit")
    client.holdfast(repo, "connect", "pi", "--scope", "project", "--yes")
    project = Project.open(repo, environ=client.environ(), person=True)
    project.memory.remember(MEMORY, kind="invariant", accept=True, reviewer="Ada")
    hook = client.home / "bin" / "holdfast-hook"
    hook.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {agent_hook.__file__} "$@"\n')
    hook.chmod(0o755)
    for trusted in ("no", "yes"):
        ran = client.run(repo, ASKED, [{"text": "Done."}])
        assert (MARK in ran.request(0)) is (trusted == "yes"), ran.out
        stands = {one["id"]: one for one in json.loads(client.holdfast(repo, "doctor", "--json"))["tools"]}["pi"]
        assert stands["trusted"] == trusted
        (client.home / ".pi/agent/trust.json").write_text(json.dumps({str(repo): True}))  # as its user's yes is kept
