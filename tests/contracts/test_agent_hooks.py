"""What every agent's hook must do: hear of a session, tell what is known, warn at an edit, and never fail.

The events are as the real clients sent them (Qwen Code 0.24.4, Copilot CLI 1.0.102, Kimi Code 2.1.0, Cline CLI 3.0.65),
or as our plug-ins for opencode and pi do.
"""

import hashlib
import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces import agent_callers
from holdfast.project import Project
from holdfast.store import agent_inbox, session_files
from holdfast.store.layout import Layout
from holdfast.work import task_claims
from tests.capture import test_gemini as gemini
from tests.cli.test_agent_hook import HOOK, PATIENCE, accepted, agent, quiet, ready  # noqa: F401 - fixtures
from tests.cli.test_agent_hook import Agent as Scene
from tests.conftest import Cli
from tests.contracts.agent_stories import EXPORT, OLDER_OPENCODE, STORIES

RULE = "app.py must never import sqlite3"
CALLERS = [name for name in STORIES if name not in (OLDER_OPENCODE, EXPORT)]
PROMPT = "Please make the parser stream its input."
SESSIONS = {
    "opencode": "ses_1",
    "qwen": "0f0e0d0c-0000-4000-8000-000000000002",
    "copilot": "0f0e0d0c-0000-4000-8000-000000000003",
    "pi": "01a1e4d8-0000-769d-83e4-000000000004",
    "kimi": "session_1",
    "cline": "1794840780933_mjwn6",
}


def event_of(name: str, event: str, cwd: str, path: str = "", *, session: str = "") -> dict[str, Any]:
    """What a client says of an event."""
    session = session or SESSIONS[name]
    edit = {"path": f"{cwd}/app.py", "old_string": "a", "new_string": "b"}
    match name:
        case "copilot":
            known: dict[str, Any] = {"sessionId": session, "timestamp": 1794840771833, "cwd": cwd}
            more = {
                "SessionStart": {"source": "new", "initialPrompt": PROMPT},
                "UserPromptSubmit": {"prompt": PROMPT},
                "PreToolUse": {"toolName": "edit", "toolArgs": edit},
                "Stop": {"transcriptPath": path, "stopReason": "end_turn", "stop_hook_active": False},
            }
        case "kimi":
            known = {"hook_event_name": event, "session_id": session, "cwd": cwd, "client_type": "kimi_code_cli"}
            more = {
                "UserPromptSubmit": {"prompt": [{"type": "text", "text": PROMPT}], "is_steer": False},
                "PreToolUse": {"tool_name": "Edit", "tool_input": edit, "tool_call_id": "call_1"},
            }
        case "cline":
            place = {"workspaceRoots": [cwd], "workspaceInfo": {"rootPath": cwd, "hint": "app"}}
            known = {"taskId": "conv_1", "sessionContext": {"rootSessionId": session}, **place}
            more = {"PreToolUse": {"tool_call": {"id": "call_1", "name": "editor", "input": edit}}}
        case "qwen":
            known = {"session_id": session, "transcript_path": path, "cwd": cwd, "hook_event_name": event}
            typed = {"prompt": PROMPT, "submitted_prompt": PROMPT}
            tool = {"tool_name": "edit", "tool_input": {"file_path": f"{cwd}/app.py"}}
            more = {
                "UserPromptSubmit": typed,
                "AfterTool": {**tool, "tool_use_id": "toolu_1", "tool_call_id": "call_1"},
            }
        case _:
            known = {"session_id": session, "cwd": cwd, **({"transcript_path": path} if path else {})}
            tool = {"tool_name": "edit", "tool_input": {"filePath": f"{cwd}/app.py"}, "tool_use_id": "call_1"}
            more = {"UserPromptSubmit": {"prompt": PROMPT}, "PreToolUse": tool}
    return {**known, **more.get(event, {})}


def heard(name: str, event: str, out: bytes) -> str:
    """What reaches the model of what our hook prints, by the rules of that client; nothing if it would reject it."""
    if not out:
        return ""
    if name in ("opencode", "pi") or (name == "kimi" and event != "PreToolUse"):
        assert not out.startswith(b"{"), "it would show the JSON to the model"
        return out.decode()
    told = json.loads(out)
    match name:
        case "copilot":
            return str(told.get("additionalContext", ""))
        case "cline":
            assert told["cancel"] is False, "a cancel ends the whole task"
            return str(told["contextModification"])
        case "kimi":
            return str(told["hookSpecificOutput"]["permissionDecisionReason"])
    assert told.keys() == {"hookSpecificOutput"}, "Codex drops an answer that has more"
    return str(told["hookSpecificOutput"]["additionalContext"])


AT_EDIT = {"qwen": "AfterTool"}  # the event at which it hears us; the others before the tool


class Caller:
    """One agent that calls our hook in a repository."""

    def __init__(self, name: str, scene: Scene) -> None:
        self.name, self.scene, self.top = name, scene, str(scene.repo.path)

    def says(self, event: str, *, path: str = "", env: Mapping[str, str] | None = None, **more: Any) -> str:
        data = {**event_of(self.name, event, self.top, path), **more}
        return heard(self.name, event, call(self.name, event, data, self.top, env=env))

    def pointers(self) -> list[agent_inbox.SessionPointer]:
        layout = Layout(self.top, f"{self.top}/.git/holdfast")
        return [one for found in agent_inbox.waiting(layout) for one in found.all]


def call(name: str, event: str, data: object, cwd: str, *, env: Mapping[str, str] | None = None) -> bytes:
    given = json.dumps(data).encode()
    done = subprocess.run(
        [*HOOK, name, event], cwd=cwd, input=given, env={**os.environ, **(env or {})}, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.fixture(params=CALLERS)
def caller(request: pytest.FixtureRequest, quiet: Scene) -> Caller:  # noqa: F811
    found = Caller(request.param, quiet)
    (quiet.repo.path / "app.py").write_text("import os\n")
    accepted(quiet.repo, RULE, applies_to=["app.py"])
    ready(quiet.repo)
    return found


def test_it_is_told_what_was_approved_once_and_in_its_own_form(caller: Caller) -> None:
    """No single form suits all clients; and what is told twice costs twice."""
    told = [caller.says(event) for event in ("SessionStart", "UserPromptSubmit", "UserPromptSubmit")]
    at_tool = caller.says(AT_EDIT.get(caller.name, "PreToolUse"))
    said = [RULE in text for text in (*told, at_tool)]
    assert sum(said) >= 1 and said.index(True) == {"qwen": 0, "copilot": 0, "cline": 3}.get(caller.name, 1)
    assert not told[2]


def test_it_is_warned_at_an_edit_once(caller: Caller) -> None:
    """The rule at the moment it matters; Kimi reads it as the reason of a refusal, and may then go on."""
    for event in ("SessionStart", "UserPromptSubmit"):
        caller.says(event)
    if caller.name == "cline":
        caller.says("PreToolUse")  # its first moment to hear anything
    event = AT_EDIT.get(caller.name, "PreToolUse")
    assert RULE in caller.says(event)
    assert caller.says(event) == "", "the same rule is not said at every call"


def test_its_session_is_recorded_when_it_ends(caller: Caller, tmp_path: Path) -> None:
    """Live: with nothing but what its hooks say, also where they do not say where the transcript lies."""
    home, story = Path(os.environ["HOME"]), STORIES[caller.name]
    below = {"opencode": ".local/share/opencode", "qwen": ".qwen", "copilot": ".copilot"}
    below |= {"pi": ".pi/agent", "kimi": ".kimi-code", "cline": ".cline"}
    path = story.told(home / below[caller.name], story.first_half, cwd=caller.top)
    named = path if caller.name in ("qwen", "pi") else ""  # the others name no transcript, or only at the end
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"):
        caller.says(event, path=named)
    assert {one.session for one in caller.pointers()} == {SESSIONS[caller.name]}
    project = Project.open(caller.top, environ=dict(os.environ), drain=False)
    live = project.transcripts.drain()
    assert (live.turns, live.runs, live.vanished, live.failed) == (1, [], [], [])
    caller.says("SessionEnd", path=named)
    project = Project.open(caller.top, environ=dict(os.environ), drain=False)
    ended = project.transcripts.drain()
    assert len(ended.runs) == 1 and ended.failed == []
    run = project.clone.layout.run(ended.runs[0])
    assert "pytest -q" in Path(run, "cycles.jsonl").read_text()


def test_odd_events_never_fail(caller: Caller) -> None:
    """A hook that fails makes Copilot refuse the tool."""
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd", "Nothing"):
        for data in ({}, [], None, "x", {"cwd": caller.top}, {"sessionId": [], "sessionContext": 3, "prompt": {}}):
            call(caller.name, event, data, caller.top)
        odd = {"toolArgs": 7, "tool_input": [1], "tool_call": {"input": "x"}, "prompt": [3, {"text": 4}]}
        call(caller.name, event, {**event_of(caller.name, event, caller.top), **odd}, caller.top)


@pytest.mark.parametrize("name", ["copilot", "kimi", "cline"])
def test_reading_a_guarded_file_is_no_edit(quiet: Scene, name: str) -> None:  # noqa: F811
    """These call before every tool; Kimi would refuse a look at the file, and the rule would count as told."""
    (quiet.repo.path / "app.py").write_text("import os\n")
    accepted(quiet.repo, RULE, applies_to=["app.py"])
    ready(quiet.repo)
    caller = Caller(name, quiet)
    path = {"path": f"{caller.top}/app.py"}
    looks: dict[str, Any] = {
        "copilot": {"toolName": "view", "toolArgs": path},
        "kimi": {"tool_name": "Read", "tool_input": path},
        "cline": {"tool_call": {"id": "c", "name": "read_files", "input": {"path": path["path"]}}},
    }
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse"):
        caller.says(event, **looks[name] if event == "PreToolUse" else {})
    assert caller.says("PreToolUse", **looks[name]) == ""
    assert RULE in caller.says("PreToolUse")


# ── traps ────────────────────────────────────────────────────────────────────────────────────────


def test_qwen_is_answered_when_a_person_typed_and_not_before_each_request(quiet: Scene) -> None:  # noqa: F811
    """It fires UserPromptSubmit before every model call and puts each answer into it: 36 copies in 8 requests."""
    accepted(quiet.repo, RULE)
    ready(quiet.repo)
    caller = Caller("qwen", quiet)
    again = {"prompt": "", "submitted_prompt": None}
    assert caller.says("UserPromptSubmit", **again) == "" and caller.pointers() == []
    assert RULE in caller.says("UserPromptSubmit")


def test_copilot_that_runs_the_hooks_of_claude_code_is_known(quiet: Scene) -> None:  # noqa: F811
    """It reads .claude/settings.json of trusted folders, and takes text only from the top level."""
    accepted(quiet.repo, RULE)
    ready(quiet.repo)
    top, env = str(quiet.repo.path), {"COPILOT_CLI": "1"}
    asked = {"session_id": "s-1", "cwd": top, "hook_event_name": "SessionStart", "source": "new"}
    out = call("claude", "SessionStart", asked, top, env=env)
    assert RULE in json.loads(out)["additionalContext"]
    stopped = {**asked, "transcript_path": f"{top}/../.copilot/session-state/s-1/events.jsonl"}
    call("claude", "Stop", stopped, top, env=env)
    assert {one.agent for one in Caller("copilot", quiet).pointers()} == {"copilot"}


def test_claude_code_in_the_shell_of_copilot_is_claude_code(quiet: Scene) -> None:  # noqa: F811
    """The variable is inherited by all that Copilot starts."""
    accepted(quiet.repo, RULE)
    ready(quiet.repo)
    top = str(quiet.repo.path)
    asked = {"session_id": "s-2", "cwd": top, "transcript_path": f"{top}/../.claude/projects/-w/s-2.jsonl"}
    out = call("claude", "SessionStart", asked, top, env={"COPILOT_CLI": "1"})
    assert RULE in json.loads(out)["hookSpecificOutput"]["additionalContext"]


def test_a_commit_that_gits_hooks_did_not_see_is_found(agent: Scene, cli: Cli) -> None:  # noqa: F811
    """Gemini CLI switches them off in its shell: its commits belonged to no session until that was over."""
    scene, repo = Scene(agent.repo, "gemini"), agent.repo
    cli("hooks", "install")
    cli("task", "add", "Write the parser", "--id", "TSK-parser")
    cli("next", "--claim")
    scene.fire("SessionStart", source="startup")
    scene.settle()
    off = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": ""}
    identity = {f"GIT_{who}_{what}": "ada@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env = {**os.environ, **off, **identity, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    repo.write("parser.py", "one = 1\n")
    asked = datetime.now(UTC)
    for words in (["add", "parser.py"], ["commit", "-qm", "Write the parser"]):
        subprocess.run(["git", *words], cwd=repo.path, env=env, check=True)
    assert not (repo / ".git/holdfast/inbox/git.log").exists(), "git's hooks are off"
    head, shown = repo.tip(), repo / ".git/holdfast/contexts"
    scene.fire("AfterTool", tool_name="run_shell_command", tool_input={"command": "git commit -qm x"})
    until(lambda: any(f" at {head[:12]}" in path.read_text() for path in shown.glob("*-*")))
    stamps = {"timestamp": asked.isoformat()}
    ran = {**gemini.call("run_shell_command", "ok", command="git commit -qm x"), "id": "c1"}
    said = [
        gemini.user("u1", "write the parser, please", **stamps),
        gemini.gemini("g1", "", toolCalls=[ran], **stamps),
        gemini.gemini("g2", "It is written.", timestamp=datetime.now(UTC).isoformat()),
    ]
    where = hashlib.sha256(os.fsencode(repo.path)).hexdigest()
    rows = [{**gemini.HEADER, "sessionId": scene.session, "projectHash": where, "startTime": asked.isoformat()}, *said]
    scene.transcript.write_text("".join(json.dumps(row) + "\n" for row in rows))
    scene.fire("AfterAgent", prompt="write it", prompt_response="It is written.")
    layout = Layout(str(repo.path), str(repo / ".git/holdfast"))
    until(lambda: [one.commits for one in session_files.all(layout)] == [(head,)])
    (claim,) = task_claims.every(layout)
    assert claim.commits == (head,)


def until(holds: Callable[[], bool]) -> None:
    """Wait for what the background does."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_an_agent_of_somebodys_own_is_heard_and_recorded(quiet: Scene, tmp_path: Path) -> None:  # noqa: F811
    """The contract of docs/reference/connect.md: our hook by the agent's own name, a transcript in our own form."""
    accepted(quiet.repo, RULE)
    ready(quiet.repo)
    top, path = str(quiet.repo.path), tmp_path / "run.jsonl"
    told = {"agent": "mybot", "session": "m-1", "cwd": top, "started": "2026-11-18T20:00:00Z"}
    call_1 = {"id": "c1", "name": "shell", "input": "make", "output": "ok", "failed": False}
    rows = [
        {"type": "session", **told},
        {"type": "turn", "key": "t1", "ts": "2026-11-18T20:00:01Z", "prompt": PROMPT},
        {"type": "step", "id": "s1", "ts": "2026-11-18T20:00:02Z", "text": "It streams now.", "calls": [call_1]},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    event = {"session_id": "m-1", "cwd": top, "transcript_path": str(path)}
    out = call("mybot", "SessionStart", event, top)
    assert RULE in json.loads(out)["hookSpecificOutput"]["additionalContext"]
    call("mybot", "SessionEnd", event, top)
    project = Project.open(top, environ=dict(os.environ), drain=False)
    done = project.transcripts.drain()
    assert len(done.runs) == 1 and done.failed == []
    for name in ("my-bot", "../x", "Codex", "", "x" * 33):
        assert call(name, "SessionStart", event, top) == b""


def test_no_form_is_in_two_forms() -> None:
    """An answer with both makes Codex drop everything."""
    for name in (*CALLERS, "codex", "claude", "gemini", "mybot"):
        said = agent_callers.reply(name, "SessionStart", b"words").decode()
        assert ("hookSpecificOutput" in said) + said.startswith('{"additionalContext') <= 1
