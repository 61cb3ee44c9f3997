"""What sessions of the real agents leave behind: each turn once, on its branch, with its commits, helpers and tokens.

And what the model reads when it asks: the sentence that answers, within its budget.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.ingest import run_files
from holdfast.project import Project
from tests.clients.driving import PINNED, Ran
from tests.clients.test_agents import ASKED, CAN, MARK, MEMORY, OLDER, Scene
from tests.clients.test_more_agents import FIRST

pytestmark = [pytest.mark.clients, pytest.mark.skipif(not CAN, reason="needs npm and unshare on Linux")]

THEN = "Now the second file, please."
BUDGET = 600  # tokens of an answer, four bytes each
RECALL: dict[str, dict[str, Any]] = {  # what each calls our tool
    "codex": {"name": "recall", "namespace": "mcp__holdfast"},
    "claude": {"name": "mcp__holdfast__recall"},
    "gemini": {"name": "mcp_holdfast_recall"},
    "opencode": {"name": "holdfast_recall"},
    "qwen": {"name": "mcp__holdfast__recall"},
    "copilot": {"name": "holdfast-recall"},
    "kimi": {"name": "mcp__holdfast__recall"},
    "cline": {"name": "holdfast__recall"},
}
SEARCH = {"claude": "ToolSearch", "qwen": "tool_search"}  # where a server's tools are looked up first
HELPER: dict[str, dict[str, Any]] = {
    "codex": {"name": "spawn_agent", "namespace": "multi_agent_v1", "args": {"message": "Write HFSUB, helper."}},
    "claude": {
        "name": "Agent",
        "args": {"description": "write", "prompt": "Write HFSUB, helper.", "subagent_type": "general-purpose"},
    },
}


@pytest.fixture(params=PINNED)
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Scene:
    return ready(request.param, tmp_path)


def ready(name: str, folder: Path) -> Scene:
    """A scene with its settings committed, a name for its commits, and git's hooks."""
    found = Scene(name, folder)
    for words in (
        ("config", "user.name", "Ada"),  # Gemini's shell reads no global settings
        ("config", "user.email", "ada@example.org"),
        ("add", "-A"),
        ("commit", "-q", "-m", "connected"),
    ):
        git(found, *words)
    found.holdfast("hooks", "install")
    return found


def git(scene: Scene, *words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=scene.repo, env=scene.client.environ(), check=True, capture_output=True, text=True
    ).stdout.strip()


def done(scene: Scene, prompt: str, script: list[dict[str, Any]], **how: Any) -> Ran:
    ran = scene.client.run(scene.repo, prompt, script, **how)
    assert ran.code == 0, ran.out[-3000:]
    return ran


def commits(scene: Scene, name: str) -> dict[str, Any]:
    """The step in which the agent's own shell makes a commit."""
    return scene.shell(f"echo 1 > {name} && git add {name} && git commit -q -m {name}")


def log(scene: Scene) -> list[dict[str, Any]]:
    """The runs in the log of the branch that is checked out, each with what was asked, committed and written in it."""
    found = []
    for row in map(json.loads, scene.holdfast("log", "--json").splitlines()):
        if row["kind"] == "run":
            turns = list(run_files.turns_of(str(scene.repo / ".git" / "holdfast" / "runs" / row["run_id"])))
            columns = {"asked": "prompt", "made": "commits", "wrote": "files"}
            found.append({**row, **{name: [one[key] for one in turns] for name, key in columns.items()}})
    return found


def test_each_turn_is_in_the_log_of_its_branch_with_its_commit(scene: Scene) -> None:
    """Gemini CLI switches git's hooks off in its shell, and the person switches branches between two prompts."""
    slow = scene.shell("sleep 3")  # a model thinks for seconds, and git's log knows no parts of them
    done(scene, ASKED, [slow, commits(scene, "one.txt"), slow, {"text": "The first is there."}])
    first = git(scene, "rev-parse", "HEAD")
    git(scene, "switch", "-q", "-c", "feature")
    script = [slow, commits(scene, "two.txt"), {"text": "The second is there."}]
    done(scene, THEN, script, resume=scene.name != "cline")  # it resumes by a session's name only
    second = git(scene, "rev-parse", "HEAD")
    scene.holdfast("import", scene.name)
    on_feature = [one for one in log(scene) if one["branch"] == "feature"]
    assert [(one["asked"], one["made"]) for one in on_feature] == [([THEN], [[second]])]
    git(scene, "switch", "-q", "main")
    (run,) = log(scene)
    assert (run["branch"], run["asked"], run["made"]) == ("main", [ASKED], [[first]])
    (used,) = json.loads(scene.holdfast("stats", "--json"))["agents"]
    assert (used["name"], used["runs"]) == (scene.name, 2)
    assert used["read"] >= 40 and used["written"] >= 20, "four answers of the model, or more"


def test_the_next_session_is_told_of_a_killed_one(scene: Scene) -> None:
    """In its first request: whoever starts the agent again should not have to tell it all once more."""
    ran = scene.client.run(scene.repo, ASKED, [scene.shell("sleep 2"), {"hang": True}], kill=True)
    assert ran.code == -9, ran.out[-2000:]
    ran = done(scene, "Something else.", [scene.shell("true"), {"text": "Done."}])
    assert f"cut short: {ASKED}" in ran.request(FIRST.get(scene.name, 0))


@pytest.mark.parametrize("name", RECALL)
def test_recall_quotes_what_answers_within_its_budget(name: str, tmp_path: Path) -> None:
    """A tool that answers with a page is one that no model asks twice."""
    scene = ready(name, tmp_path)
    scene.accept(MEMORY)
    project = Project.open(scene.repo, environ=scene.client.environ(), person=True)
    for number in range(30):
        said = f"Word {number} of the deploy log is written by the shipping step number {number}"
        project.memory.remember(said, kind="fact", accept=True, reviewer="Ada", evidence=["hello.txt"])
    steps = [scene.shell("sleep 2")]  # none but Gemini CLI waits for a server
    if name in SEARCH:
        found = {"name": SEARCH[name], "args": {"query": f"select:{RECALL[name]['name']}"}}
        steps.append({"calls": [found]})
    asked = {**RECALL[name], "args": {"query": "which deploy word must be known to ship"}}
    ran = done(scene, ASKED, [*steps, {"calls": [asked]}, {"text": "Done."}])
    body = json.loads(ran.request(-1))
    told = json.dumps((body.get("messages") or body.get("input") or body.get("contents"))[-1], ensure_ascii=False)
    assert MEMORY in told and "INV-" in told and "accepted" in told and "null" not in told
    assert len(told.encode()) / 4 <= BUDGET + 60, "what the client puts around it"


@pytest.mark.parametrize("name", HELPER)
def test_a_helper_is_told_and_what_it_writes_is_kept(name: str, tmp_path: Path) -> None:
    """Half of an agent's work is its helpers'."""
    scene = ready(name, tmp_path)
    scene.accept(MEMORY)
    patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: sub.txt\n+one\n*** End Patch\nEOF"
    edit = {"name": "Write", "args": {"file_path": str(scene.repo / "sub.txt"), "content": "one\n"}}
    write = {**(scene.shell(patch) if name == "codex" else {"calls": [edit]}), "helper": True}
    script = [{"calls": [HELPER[name]]}, scene.shell("sleep 6"), {"text": "The helper is done."}]
    ran = done(scene, ASKED, [*script, write, {"text": "HFSUB is there.", "helper": True}])
    asked = [json.dumps(one["body"], ensure_ascii=False) for one in ran.asked if one["main"]]
    first = next(body for body in asked if "Write HFSUB, helper." in body and ASKED not in body)
    assert MARK in first, "a conversation of its own, from its first request"
    scene.holdfast("import", name)
    runs = {one["run_id"]: one for one in log(scene)}
    wrote = [one for one in runs.values() if ["sub.txt"] in one["wrote"]]
    sent = [runs.get(one["parent_run_id"], one) for one in wrote]  # a helper's run stands below its sender's
    assert wrote and all(ASKED in one["asked"] for one in sent)


# ── forks ────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["codex", "claude", "opencode", "qwen", "pi"])
def test_a_fork_is_recorded_without_what_it_copied(name: str, tmp_path: Path) -> None:
    """Somebody who tries two ways did the beginning once."""
    scene = ready(name, tmp_path)
    done(scene, ASKED, [commits(scene, "one.txt"), {"text": "The first is there."}])
    scene.holdfast("import", name)
    (run,) = log(scene)
    context = json.loads((scene.repo / ".git/holdfast/runs" / run["run_id"] / "context.json").read_text())
    words = scene.client.words(THEN, fork=context["agent"]["session"])
    ran = scene.client.start(scene.repo, words, [commits(scene, "two.txt"), {"text": "The second is there."}])
    assert ran.code == 0, ran.out[-3000:]
    assert ASKED in ran.request(0), "it is a fork"
    scene.holdfast("import", name)
    runs = sorted(log(scene), key=lambda one: str(one["started"]))
    assert [one["asked"] for one in runs] == [[ASKED], [THEN]]


# ── warnings ─────────────────────────────────────────────────────────────────────────────────────

RULE = f"hello.txt must keep its greeting, says {MARK}"
_CHANGE = "*** Update File: hello.txt\n@@\n-hello from the repository\n+hullo\n"
PATCH = f"apply_patch <<'EOF'\n*** Begin Patch\n{_CHANGE}*** End Patch\nEOF"
EDIT: dict[str, list[dict[str, Any]]] = {
    "claude": [{"name": "Read", "args": {}}, {"name": "Edit", "args": {"old_string": "hello", "new_string": "hullo"}}],
    "gemini": [{"name": "replace", "args": {"old_string": "hello", "new_string": "hullo", "instruction": "Say u."}}],
}


@pytest.mark.parametrize("name", OLDER)
def test_an_edit_is_warned_about(name: str, tmp_path: Path) -> None:
    """At the moment it matters: before the edit, or with its result."""
    scene = ready(name, tmp_path)
    project = Project.open(scene.repo, environ=scene.client.environ(), person=True)
    project.memory.remember(RULE, kind="invariant", accept=True, reviewer="Ada", applies_to=["hello.txt"])
    project.context.render_guards()  # as the background does after a turn
    path = {"file_path": str(scene.repo / "hello.txt")}
    steps = [{"calls": [{**one, "args": {**one["args"], **path}}]} for one in EDIT.get(name, ())]
    ran = done(scene, ASKED, [*(steps or [scene.shell(PATCH)]), {"text": "Done."}])
    assert (scene.repo / "hello.txt").read_text().startswith("hullo"), "it is a warning"
    before = ran.request(-2).count(RULE)  # the context may tell it
    assert ran.request(-1).count(RULE) == before + 1, "at the edit, and once"
