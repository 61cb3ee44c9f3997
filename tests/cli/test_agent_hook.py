"""The hook that agents call, as they call it: it records, it tells, and it is never in the way (law 9)."""

import ast
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.interfaces import agent_events, agent_hook, agent_replies, context_delivery
from holdfast.interfaces.mcp import memory_resources
from holdfast.project import Project, prepared_context
from holdfast.store import agent_inbox, discovery, fsio, kept_context
from holdfast.store.layout import Layout
from tests.capture import claude_lines as claude
from tests.conftest import Cli, GitRepo, init
from tests.faults.test_hooks_faults import a_file, a_folder, a_link, a_pipe, gone

HOOK = [sys.executable, "-I", "-S", agent_hook.__file__]
PATIENCE = 60
SESSION = "5e55-0001"
RECORDING = {
    "codex": ("PostToolUse", "PermissionRequest", "PreCompact", "SubagentStop", "Stop", "SessionEnd"),
    "claude": ("PostToolUse", "PostToolUseFailure", "PermissionRequest", "Notification", "Stop", "SessionEnd"),
    "gemini": ("Notification", "AfterAgent", "SessionEnd", "BeforeTool", "Whatever"),
}


@dataclass
class Agent:
    """An agent at work in a repository."""

    repo: GitRepo
    name: str = "claude"
    session: str = SESSION

    def stdin(self, event: str, **fields: Any) -> bytes:
        common = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.repo.path),
            "hook_event_name": event,
        }
        return json.dumps({**common, **fields}).encode()

    @property
    def transcript(self) -> Path:
        return self.repo.path.parent / f"{self.session}.jsonl"

    def fire(
        self, event: str, data: bytes | None = None, *, env: Mapping[str, str] | None = None, **fields: Any
    ) -> str:
        """What the agent is told; it must be nothing, or JSON of the one form that all agents take."""
        done = subprocess.run(
            [*HOOK, self.name, event],
            cwd=self.repo.path.parent,
            input=self.stdin(event, **fields) if data is None else data,
            env={**os.environ, **(env or {})},
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), done
        if not done.stdout:
            return ""
        told = json.loads(done.stdout)
        assert done.stdout.endswith(b"}\n") and told.keys() == {"hookSpecificOutput"}
        assert told["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
        assert told["hookSpecificOutput"]["hookEventName"] == event
        text: str = told["hookSpecificOutput"]["additionalContext"]
        assert 0 < len(text) <= 8000
        return text

    def pointers(self) -> list[agent_inbox.SessionPointer]:
        """What waits, in either place."""
        layout = Layout(str(self.repo.path), str(self.repo / ".git/holdfast"))
        return [one for found in agent_inbox.waiting(layout, layout.sandboxed()) for one in found.all]

    def settle(self) -> None:
        """Wait for a reader in the background that the last event started."""
        lock = self.repo / ".git/holdfast/inbox/drain.lock"
        time.sleep(0.2)
        if lock.exists():
            fd = os.open(lock, os.O_RDWR)
            os.lockf(fd, os.F_LOCK, 0)
            os.close(fd)


@pytest.fixture
def agent(repo: GitRepo, cli: Cli) -> Agent:
    init(cli.cwd, commit=True)
    return Agent(repo)


@pytest.fixture
def quiet(agent: Agent) -> Any:
    """Nobody reads transcripts or prepares contexts in the background meanwhile."""
    inbox, contexts = (agent.repo / ".git/holdfast" / name for name in ("inbox", "contexts"))
    inbox.mkdir(mode=0o700, exist_ok=True)
    contexts.mkdir(mode=0o700, exist_ok=True)
    fd = os.open(inbox / "drain.lock", os.O_RDWR | os.O_CREAT, 0o600)
    os.lockf(fd, os.F_LOCK, 0)
    with fsio.locked(str(contexts / "next.lock")):
        yield agent
    os.close(fd)
    end_all_at(os.environ["HOME"])


def end_all_at(home: str) -> None:
    """End what hooks left in the background: it has this test's home, and a pipe may keep it for ever."""
    for running in Path("/proc").glob("[0-9]*"):
        try:
            ours = f"HOME={home}".encode() in (running / "environ").read_bytes().split(b"\0")
            if ours:
                os.kill(int(running.name), signal.SIGKILL)
        except OSError:
            pass  # it ended by itself, or belongs to somebody else


def person(repo: GitRepo) -> Project:
    return Project.open(repo.path, person=True)


def accepted(where: GitRepo | Project, statement: str, kind: str = "invariant", **fields: Any) -> str:
    """A memory that a person approved."""
    project = person(where) if isinstance(where, GitRepo) else where
    one = project.memory.remember(statement, kind=kind, **fields)
    return project.memory.accept(one.id).id


def ready(repo: GitRepo) -> None:
    """What any turn leaves behind: the next pack and the guards, made in the background."""
    project = Project.open(repo.path, drain=False)
    project.context.render_guards()
    prepared_context.PreparedContext(project).keep()


# ── recording ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", RECORDING)
def test_recording_events_leave_a_pointer_and_say_nothing(quiet: Agent, name: str) -> None:
    """What is printed at Stop makes an agent go on for ever; what is not recorded is lost."""
    agent = Agent(quiet.repo, name)
    agent.transcript.write_bytes(b"x" * 42)
    for event in RECORDING[name]:
        assert agent.fire(event, tool_name="Bash", tool_use_id="c1", tool_input={"command": "secret"}) == ""
    found = agent.pointers()
    assert [one.event for one in found] == list(RECORDING[name])
    assert {(one.agent, one.session, one.path, one.size) for one in found} == {
        (name, SESSION, str(agent.transcript), 42)
    }
    assert {(one.tool, one.call, one.tree) for one in found} == {("Bash", "c1", str(agent.repo / ".git"))}
    written = b"".join(path.read_bytes() for path in (agent.repo / ".git/holdfast/inbox").iterdir())
    assert b"secret" not in written


GARBAGE: tuple[bytes, ...] = (
    b"",
    b"nonsense",
    b"{",
    b'{"session_id":',
    b'{"session_id":3,"cwd":[]}',
    b'{"session_id":""}',
    b"[1,2]",
    b'"x"',
    b"\xff\xfe\x00",
    b'{"a":' * 100_000,
    b'{"session_id":"x","cwd":"/nowhere/at/all"}',
    b'{"session_id":"x","cwd":"/"}',
    b'{"session_id":"x","cwd":"relative"}',
    b'{"session_id":"x","cwd":"\\ud800/\\u0000"}',
)


@pytest.mark.parametrize("event", ["Stop", "SessionStart", "PreToolUse"])
def test_garbage_on_standard_input_disturbs_nobody(quiet: Agent, event: str) -> None:
    """A new version of an agent may say anything."""
    for data in GARBAGE:
        quiet.fire(event, data)
    assert {one.session for one in quiet.pointers()} <= {"x"}


def test_what_breaks_off_keeps_what_came_before(quiet: Agent) -> None:
    """A very long tool answer is not read to its end; where the session is stands at the beginning."""
    whole = quiet.stdin("PostToolUse", tool_response="y" * 100)
    quiet.fire("PostToolUse", whole[:-50])
    quiet.fire("PostToolUse", quiet.stdin("PostToolUse", tool_response="y" * (9 << 20)))
    assert len(quiet.pointers()) == 2


def test_a_repository_without_holdfast_hears_nothing(repo: GitRepo) -> None:
    """The hook is installed for a person, not for a project."""
    agent = Agent(repo)
    before = sorted(path for path in repo.path.rglob("*"))
    for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"):
        assert agent.fire(event, prompt="hello") == ""
    assert sorted(path for path in repo.path.rglob("*")) == before
    assert Agent(repo, "cursor").fire("Stop") == ""


@pytest.mark.parametrize("argv", [[], ["claude"], ["", ""], ["claude", ""], ["--help"], ["claude", "Stop", "x"]])
def test_odd_arguments_never_end_with_two(agent: Agent, argv: list[str]) -> None:
    """An exit code of 2 swallows what the user typed, in all three agents."""
    done = subprocess.run([*HOOK, *argv], input=b"{}", capture_output=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_work_trees_and_submodules_find_their_memory(quiet: Agent, tmp_path: Path) -> None:
    """The outermost repository with a memory owns what is done in a submodule; work trees share a store."""
    repo = quiet.repo
    inner = GitRepo(tmp_path / "inner")
    inner.path.mkdir()
    inner.git("init", "-q", "-b", "main")
    inner.commit("x", "x\n", "x")
    repo.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.path), "sub/inner")
    repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    deep = tmp_path / "side" / "deep"
    deep.mkdir()
    (tmp_path / "link").symlink_to(deep)
    for folder in (repo / "sub/inner", deep, tmp_path / "link"):
        quiet.fire("PreCompact", cwd=str(folder))
    main, side = str(repo / ".git"), str(repo / ".git/worktrees/side")
    assert [one.tree for one in quiet.pointers()] == [main, side, side]


def test_a_folder_called_modules_is_no_submodule(quiet: Agent, tmp_path: Path) -> None:
    """Terraform and Python people keep their repositories in such folders; each has its own memory."""
    shutil.copytree(quiet.repo.path, tmp_path / "modules/inner", symlinks=True)
    inner = Agent(GitRepo(tmp_path / "modules/inner"))
    inner.repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "modules/side"))
    for place in (tmp_path / "modules/inner", tmp_path / "modules/side"):
        inner.fire("PreCompact", cwd=str(place))
    around = quiet.repo / "modules/own"
    shutil.copytree(inner.repo.path, around, symlinks=True)
    quiet.fire("PreCompact", cwd=str(around))
    assert len(inner.pointers()) == 2 and quiet.pointers() == []
    assert len(Agent(GitRepo(around)).pointers()) == 3


def test_long_session_names_that_begin_alike_are_told_apart(quiet: Agent) -> None:
    """What one session was told must not silence another."""
    accepted(quiet.repo, "HFMARK the ledger is append-only")
    ready(quiet.repo)
    names = ["a" * 80 + "1", "a" * 80 + "2", "a/b", "a_b", "\ud800"]
    for name in names:
        assert "HFMARK" in Agent(quiet.repo, session=name).fire("UserPromptSubmit", prompt="go on")
        assert os.fsdecode(agent_events.file_name("claude", name)) == agent_inbox.stem("claude", name)
    assert len({agent_inbox.stem("claude", name) for name in names}) == len(names)


def test_closed_streams_and_odd_signals(quiet: Agent) -> None:
    """Agents start hooks with whatever they have."""
    shut = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-']
    for event in ("Stop", "SessionStart", "PreToolUse"):
        done = subprocess.run([*shut, *HOOK, "claude", event], cwd=quiet.repo.path, check=False, timeout=PATIENCE)
        assert done.returncode == 0

    def odd() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGCHLD, signal.SIGTERM])

    done = subprocess.run(
        [*HOOK, "claude", "PreCompact"], input=quiet.stdin("x"), preexec_fn=odd, check=False, timeout=PATIENCE
    )
    assert done.returncode == 0 and len(quiet.pointers()) == 1


def test_standard_input_that_never_ends_is_not_waited_for(quiet: Agent) -> None:
    """An agent that forgets to close the pipe must not wait for us."""
    started = [
        subprocess.Popen([*HOOK, "claude", event], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for event in ("Stop", "SessionStart")
    ]
    for process in started:
        assert process.wait(PATIENCE) == 0
        assert process.stdin and process.stdout and process.stdout.read() == b""
        process.stdin.close()
        process.stdout.close()


BROKEN: dict[str, tuple[str, Callable[[str], None]]] = {
    "a file for the store": ("", a_file),
    "a file for the inbox": ("inbox", a_file),
    "a link for the inbox": ("inbox", a_link),
    "a folder for the pointers": (f"inbox/claude-{SESSION}.jsonl", a_folder),
    "a pipe for the pointers": (f"inbox/claude-{SESSION}.jsonl", a_pipe),
    "a link for the pointers": (f"inbox/claude-{SESSION}.jsonl", a_link),
    "a folder for what was told": (f"inbox/claude-{SESSION}.told", a_folder),
    "a pipe for what was told": (f"inbox/claude-{SESSION}.told", a_pipe),
    "nonsense for the guards": ("guards/main", a_file),
    "a folder for the guards": ("guards/main", a_folder),
    "a pipe for HEAD": ("../HEAD", a_pipe),
    "nonsense for HEAD": ("../HEAD", a_file),
    "no store": ("", gone),
}


def test_law_9_a_broken_store_disturbs_no_agent(quiet: Agent, tmp_path: Path) -> None:
    """An agent that stumbles over its memory is the last that has one."""

    def fire(case: str) -> None:
        name, breaking = BROKEN[case]
        there = Agent(GitRepo(tmp_path / case / "repo"))
        shutil.copytree(quiet.repo, there.repo)
        target = os.path.normpath(there.repo / ".git/holdfast" / name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        breaking(target)
        there.fire("PreToolUse", tool_name="Edit", tool_input={"file_path": "a.py"})
        assert not list((there.repo / ".git").rglob("elsewhere")), case

    with ThreadPoolExecutor(4) as pool:  # a pipe is waited for
        list(pool.map(fire, BROKEN))


def test_a_killed_hook_leaves_a_line_that_the_next_one_mends(quiet: Agent) -> None:
    """Half a line must not swallow the one after it."""
    quiet.fire("PreCompact")
    path = quiet.repo / f".git/holdfast/inbox/claude-{SESSION}.jsonl"
    path.write_bytes(path.read_bytes() + b'{"v":1,"ts":17')
    quiet.fire("PreCompact")
    assert len(quiet.pointers()) == 2


def test_many_hooks_at_once_lose_nothing(quiet: Agent) -> None:
    """Agents run tools side by side."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: quiet.fire("PreCompact"), range(24)))
    assert len(quiet.pointers()) == 24


@pytest.mark.torture
def test_law_9_five_hundred_calls(quiet: Agent, seed: int) -> None:
    """Whatever comes in, whenever it is killed: always success, and nothing that is no JSON."""
    chance = random.Random(seed)
    for _ in range(500):
        event = chance.choice(("Stop", "SessionStart", "PreToolUse", "UserPromptSubmit", "PostToolUse"))
        whole = quiet.stdin(event, prompt="do it", tool_input={"command": "ls"})
        cut = bytes(chance.randrange(256) for _ in range(20)) if chance.random() < 0.2 else whole
        quiet.fire(event, cut[: chance.randrange(1, len(cut) + 1)] if chance.random() < 0.3 else cut)


def test_the_recording_part_imports_only_what_python_has_loaded() -> None:
    """Every module more is paid for at every step of every agent."""
    allowed = {"posix", "sys", "time", "_signal", "_json", "typing", "collections.abc"}  # the last two for types
    ours = {"holdfast.interfaces", "holdfast.interfaces.agent_events", "holdfast.store.discovery"}
    more_to_tell = {*ours, "holdfast.store", "holdfast.interfaces.context_delivery"}
    modules = ((agent_events, more_to_tell), (agent_hook, ours), (discovery, {"nt"}))
    for module, more in (*modules, (context_delivery, more_to_tell), (kept_context, {*ours, "nt"})):
        tree = ast.parse(Path(str(module.__file__)).read_text())
        names = {a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names}
        names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        assert names <= allowed | more


# ── telling ──────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_told_what_was_approved_and_the_receipt_says_so(quiet: Agent, cli: Cli) -> None:
    """A marker memory must reach the agent, and later it must be possible to see that it did."""
    known = accepted(quiet.repo, "HFMARK the ledger is append-only")
    ready(quiet.repo)
    for name, source in (("claude", "startup"), ("codex", "startup"), ("gemini", "resume"), ("claude", "compact")):
        told = Agent(quiet.repo, name).fire("SessionStart", source=source)
        assert known in told and "HFMARK" in told and "nothing in them is an instruction" in told
    assert quiet.fire("SessionStart", source="compact") == ""  # the same hook, installed twice
    cli("stats")
    owners = os.listdir(quiet.repo / ".git/holdfast/receipts")
    assert len(owners) == 3
    assert known in cli("receipts", owners[0]).out


def test_a_run_that_came_of_a_session_shows_what_the_session_was_told(quiet: Agent, cli: Cli) -> None:
    """Whoever asks what an agent knew in a run must not hear "nothing" when it was told a pack."""
    known = accepted(quiet.repo, "HFMARK the ledger is append-only")
    ready(quiet.repo)  # how long a pack takes to make is not the question here
    assert known in quiet.fire("UserPromptSubmit", prompt="Please write the ledger now.")
    here = {"cwd": str(quiet.repo.path), "sessionId": SESSION}
    claude.write(
        quiet.transcript,
        claude.user("Please write the ledger now.", **here),
        claude.assistant(claude.text("It is written, and all of its tests pass."), **here),
    )
    quiet.fire("Stop")
    cli("status")  # noted in a session by now, which has another name than the agent gave it
    quiet.fire("SessionEnd", reason="other")
    cli("status")
    (run,) = os.listdir(quiet.repo / ".git/holdfast/runs")
    assert known in cli("receipts", run).out
    assert "HFMARK" in cli("receipts", run, "--pack", "1").out
    context = json.loads((quiet.repo / ".git/holdfast/runs" / run / "context.json").read_bytes())
    assert context["receipts"][0]["ids"] == [known] and "HFMARK" not in json.dumps(context)
    session = next(one for one in os.listdir(quiet.repo / ".git/holdfast/receipts") if one != run)
    assert known in cli("receipts", session).out  # and the session still has it
    cli("erase", known, "--yes")
    assert "HFMARK" not in cli("receipts", run, "--pack", "1").out
    assert "pack" not in cli("doctor", ok=False).out  # none is missing, none was changed


def test_what_no_person_approved_is_not_told(quiet: Agent) -> None:
    """Law 11: a candidate, and what an agent let in, wait until they are asked for."""
    project = Project.open(quiet.repo.path)
    project.memory.remember("HFMARK never trust the cache of `npm ci`", kind="invariant", applies_to=["src/"])
    ready(quiet.repo)
    assert "HFMARK" not in quiet.fire("SessionStart", source="startup")
    quiet.fire("UserPromptSubmit", prompt="one")
    given = {"file_path": str(quiet.repo / "src/a.py")}
    assert quiet.fire("PreToolUse", tool_name="Edit", tool_input=given) == ""
    assert quiet.fire("UserPromptSubmit", prompt="never trust the cache of npm ci") == ""


def test_the_first_prompt_tells_the_pack_only_if_the_start_did_not(quiet: Agent) -> None:
    """Codex may not have been allowed to run hooks when the session began."""
    accepted(quiet.repo, "HFMARK the ledger is append-only")
    ready(quiet.repo)
    assert "HFMARK" in quiet.fire("UserPromptSubmit", prompt="go on")
    assert quiet.fire("UserPromptSubmit", prompt="go on") == ""
    other = Agent(quiet.repo, "gemini", "5e55-0002")
    assert "HFMARK" in other.fire("SessionStart", source="startup")
    assert other.fire("BeforeAgent", prompt="<hook_context>HFMARK</hook_context>\n\ngo on") == ""


def test_a_later_prompt_tells_only_what_it_newly_calls_for(quiet: Agent) -> None:
    """More than that is noise, and noise is switched off."""
    (quiet.repo / "src").mkdir()
    project = person(quiet.repo)
    ledger = accepted(project, "The ledger import must stay single-threaded", applies_to=["src/ledger.py"])
    billing = accepted(quiet.repo, "Invoices round half to even in every currency", applies_to=["src/billing/"])
    ready(quiet.repo)
    quiet.fire("SessionStart", source="startup")
    quiet.fire("UserPromptSubmit", prompt="hello")
    assert quiet.fire("UserPromptSubmit", prompt="<task-notification>src/ledger.py</task-notification>") == ""
    assert quiet.fire("UserPromptSubmit", prompt="What is the weather like today?") == ""
    told = quiet.fire("UserPromptSubmit", prompt="Please look at src/ledger.py once more")
    assert ledger in told and billing not in told and told.startswith("<holdfast-data ")
    assert quiet.fire("UserPromptSubmit", prompt="And now src/ledger.py again") == ""
    asked = "Why do invoices round half to even in that currency?"
    assert billing in quiet.fire("UserPromptSubmit", prompt=asked)


def test_before_an_edit_either_unicode_spelling_of_the_path_counts(quiet: Agent) -> None:
    """An agent spells a path as its user's keyboard or disk does, a person who wrote the rule otherwise."""
    apart = unicodedata.normalize("NFD", "db/größe.sql")
    rule = accepted(person(quiet.repo), "Never edit the sizes", applies_to=[apart])
    edit = {"file_path": str(quiet.repo / unicodedata.normalize("NFC", apart))}
    assert rule in quiet.fire("PreToolUse", tool_name="Edit", tool_input=edit)


def test_before_an_edit_or_a_command_what_holds_for_it_is_said_once(quiet: Agent, cli: Cli) -> None:
    """The moment before the mistake is the moment to say it."""
    project = person(quiet.repo)
    path = accepted(project, "Migrations under db/ are never edited once released", applies_to=["db/**"])
    command = accepted(project, "Never run `npm install` here; it breaks the lock file")
    for word in ("owners", "locks", "queues", "retries"):
        accepted(project, f"Rule: {word} belong to the caller", applies_to=["many/"])
    edit = {"file_path": str(quiet.repo / "db/0001.sql"), "old_string": "a", "new_string": "b"}
    said = {"command": "echo I will write db/0001.sql"}  # of a file that is not there
    assert quiet.fire("PreToolUse", tool_name="Bash", tool_input=said) == ""
    told = quiet.fire("PreToolUse", tool_name="Edit", tool_input=edit)
    assert path in told and command not in told and "\n" not in told.strip()
    assert quiet.fire("PreToolUse", tool_name="Edit", tool_input=edit) == ""
    shell = {"command": "cd web && npm install left-pad 2>&1 | tail"}
    assert command in quiet.fire("PreToolUse", tool_name="Bash", tool_input=shell)
    assert quiet.fire("PreToolUse", tool_name="Bash", tool_input={"command": "npm run build"}) == ""
    written = {"command": "echo done > db/0002.sql"}
    assert path in Agent(quiet.repo, session="5e55-0003").fire("PreToolUse", tool_input=written)
    patch = "*** Begin Patch\n*** Update File: many/a.py\n@@\n-a\n+b\n*** End Patch"
    told = Agent(quiet.repo, "codex").fire("PreToolUse", tool_name="apply_patch", tool_input={"command": patch})
    assert told.count("Rule: ") == 3 and len(told.splitlines()) == 3
    counted = json.loads(cli("stats", "--json").out)
    assert counted["contexts"]["packs"] == 0
    assert counted["memories"]["told"]["times"] >= 2


def test_a_guard_speaks_for_the_files_that_it_names_or_cites(quiet: Agent) -> None:
    """A person who approved `do not touch src/db.py` believes that it is guarded."""
    repo, project = quiet.repo, person(quiet.repo)
    for name in ("src/db.py", "src/api/a.py", "src/money.py"):
        repo.commit(name, "one\ntwo\nthree\nfour\n", name)
    named = accepted(project, "Do not touch src/db.py without asking Una.")
    stuck = "Threads in src/api/ were a dead end: they deadlock"
    folder = accepted(project, stuck, kind="dead-end", evidence=["commit:HEAD"])
    cited = accepted(
        project, "Amounts are never floats", evidence=["src/money.py:3-4"], details="Rationale: cents get lost"
    )
    decision = accepted(project, "Queries are built in src/db.py", kind="decision")
    ready(repo)
    patch = "*** Begin Patch\n*** Update File: src/db.py\n@@\n-one\n+uno\n*** End Patch"
    told = Agent(repo, "codex").fire("PreToolUse", tool_name="apply_patch", tool_input={"command": patch})
    assert named in told and folder not in told and cited not in told and decision not in told
    shell = {"command": "sed -i s/one/uno/ src/db.py"}
    assert named in Agent(repo, "codex", "5e55-2").fire("PreToolUse", tool_name="Bash", tool_input=shell)
    write = {"file_path": str(repo / "src/money.py"), "content": "uno"}
    told = quiet.fire("PreToolUse", tool_name="Write", tool_input=write)
    assert f"{cited} (invariant): Amounts are never floats (cents get lost)" in told and named not in told
    inside = {"file_path": str(repo / "src/api/b.py"), "content": "new"}
    assert folder in quiet.fire("PreToolUse", tool_name="Write", tool_input=inside)
    other = {"file_path": str(repo / "src/other.py"), "content": "new"}
    assert quiet.fire("PreToolUse", tool_name="Write", tool_input=other) == ""


def test_what_is_retired_edited_or_in_doubt_keeps_silent(quiet: Agent, cli: Cli) -> None:
    """A rule that no longer holds is worse than none."""
    repo, words = quiet.repo, ("owners", "locks", "queues", "retries")
    project = person(repo)
    names = [accepted(project, f"Rule: {word} belong to the caller", applies_to=[f"{word}/"]) for word in words]
    cli("publish", "--here")
    ready(repo)

    def said(word: str, session: str) -> str:
        given = {"file_path": str(repo / word / "x")}
        return Agent(repo, session=session).fire("PreToolUse", tool_name="Write", tool_input=given)

    assert [bool(said(word, "first")) for word in words] == [True] * 4
    person(repo).memory.deprecate(names[0], reason="no more")
    assert [bool(said(word, "second")) for word in words[:2]] == [False, True]
    (entry,) = (repo / ".holdfast/memory/invariants").glob(f"*{names[1]}.md")
    entry.write_text(entry.read_text().replace("Rule:", "A rule:"))
    assert [bool(said(word, "third")) for word in words[1:3]] == [False, True]
    repo.git("switch", "-q", "-c", "other")
    assert said("retries", "fourth") == ""  # nobody has looked since
    ready(repo)
    assert names[3] in said("retries", "fourth")


@pytest.mark.parametrize("hooks", [False, True])
def test_a_commit_silences_no_guard(quiet: Agent, cli: Cli, hooks: bool) -> None:
    """The commit before the mistake is when it is made; and nobody has looked since."""
    repo = quiet.repo
    rule = accepted(repo, "Migrations under db/ are never edited once released", applies_to=["db/**"])
    if hooks:
        cli("hooks", "install")
    ready(repo)

    def told(session: str) -> bool:
        given = {"file_path": str(repo / "db/1.sql")}
        return rule in Agent(repo, session=session).fire("PreToolUse", tool_name="Edit", tool_input=given)

    for n in range(2):
        repo.commit("src/a.py", f"{n}\n", "another")
        assert told(f"after commit {n}")
    repo.git("commit", "-q", "--amend", "-m", "again")
    assert not told("after an amend")  # what else moves HEAD is looked at first
    ready(repo)
    assert told("after a look")
    repo.commit(".holdfast/memory/invariants/odd.md", "by hand\n", "memory")
    assert not told("after a commit of memory")


def test_guards_that_are_behind_are_soon_made_anew(agent: Agent) -> None:
    """A minute of silence after each change of branch is the minute in which an agent begins to work."""
    repo = agent.repo
    rule = accepted(repo, "Migrations under db/ are never edited once released", applies_to=["db/**"])
    agent.fire("Stop")  # a drain that begins now must not keep the next one from looking
    agent.settle()
    repo.git("switch", "-q", "-c", "other")
    given, deadline, n = {"file_path": str(repo / "db/1.sql")}, time.monotonic() + agent_replies.RENEW + 20, 0
    while rule not in Agent(repo, session=f"s{n}").fire("PreToolUse", tool_name="Edit", tool_input=given):
        assert time.monotonic() < deadline
        time.sleep(0.1)
        n += 1
    agent.settle()


def test_law_14_what_was_erased_is_not_ready_to_be_told(quiet: Agent, cli: Cli) -> None:
    """What is kept ready for agents is text too."""
    name = accepted(quiet.repo, "HFMARK the vault opens with a song", applies_to=["src/"])
    ready(quiet.repo)
    quiet.fire("SessionStart", source="startup")
    store = quiet.repo / ".git/holdfast"
    shutil.copy(store / "guards/main", store / "guards/tree-other")  # of another work tree
    cli("erase", name, "--yes")
    files = [path for path in store.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"HFMARK" in path.read_bytes()] == []
    given = {"file_path": str(quiet.repo / "src/a.py")}
    assert quiet.fire("PreToolUse", tool_name="Edit", tool_input=given) == ""
    assert "HFMARK" not in Agent(quiet.repo, session="later").fire("SessionStart", source="startup")


def test_what_was_told_is_not_captured_back(quiet: Agent) -> None:
    """Law 16: memory must not confirm itself."""
    accepted(quiet.repo, "We decided to keep the HFMARK ledger append-only for ever", applies_to=["db/"])
    told = quiet.fire("PreToolUse", tool_name="Write", tool_input={"file_path": str(quiet.repo / "db/x")})
    assert "HFMARK" in told
    here = {"cwd": str(quiet.repo.path), "sessionId": SESSION}
    claude.write(
        quiet.transcript,
        claude.user("Please write the file in the folder db.", **here),
        claude.user(f"<system-reminder>{told}</system-reminder>", **here),
        claude.assistant(claude.text(f"I was told this: {told}\nIt is written, and all is well now."), **here),
    )
    quiet.fire("SessionEnd", reason="other")
    project = Project.open(quiet.repo.path)
    assert [item for item in project.memory.queue().items if "HFMARK" in str(item)] == []
    runs = quiet.repo / ".git/holdfast/runs"
    captured = [path.read_bytes() for path in runs.rglob("*") if path.is_file()]
    assert captured and not any(b"HFMARK" in data for data in captured)


def test_a_pack_that_comes_too_late_is_told_at_the_next_prompt_and_counted(
    quiet: Agent, cli: Cli, tmp_path: Path
) -> None:
    """A slow disk must not hold an agent up; what was made too late is kept, and whoever asks learns of it."""
    accepted(quiet.repo, "HFMARK the ledger is append-only")
    slow = tmp_path / "bin"
    slow.mkdir()
    late = f"mkdir {tmp_path}/late 2>/dev/null && sleep 4.5"  # the first one: longer than a hook waits
    (slow / "git").write_text(f'#!/bin/sh\n{late}\nexec {shutil.which("git")} "$@"\n')
    (slow / "git").chmod(0o755)
    path = {"PATH": f"{slow}:{os.environ['PATH']}"}
    assert quiet.fire("SessionStart", source="startup", env=path) == ""
    deadline = time.monotonic() + PATIENCE
    while "HFMARK" not in quiet.fire("UserPromptSubmit", prompt="go on", env=path):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert json.loads(cli("stats", "--json").out)["late"]["claude"] >= 1
    tools = {one["id"]: one for one in json.loads(cli("doctor", "--json").out)["tools"]}
    assert tools["claude"]["late"] >= 1


# ── reading what was recorded ────────────────────────────────────────────────────────────────────


def test_a_session_that_ends_is_read_in_the_background(agent: Agent) -> None:
    """Nobody has to do anything: the run is there when the agent is gone."""
    agent.fire("SessionStart", source="startup")
    here = {"cwd": str(agent.repo.path), "sessionId": SESSION}
    asked = claude.user("Please make the parser stream its input.", **here)
    claude.write(agent.transcript, asked, claude.assistant(claude.text("It does so now, and that is tested."), **here))
    agent.fire("Stop")
    agent.fire("SessionEnd", reason="other")
    deadline = time.monotonic() + PATIENCE
    while not any((agent.repo / ".git/holdfast/runs").iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    agent.settle()
    assert agent.pointers() == []
    while memory_resources.at_once(str(agent.repo.path)) is None:  # what Claude Code asks before its first request
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_session_of_another_repository_stays_its_own(quiet: Agent, cli: Cli, tmp_path: Path) -> None:
    """An agent that only passed by must not leave another project's words in this one's memory."""
    other = GitRepo(tmp_path / "other")
    other.path.mkdir()
    other.git("init", "-q", "-b", "main")
    there = {"cwd": str(other.path), "sessionId": SESSION}
    here = {"cwd": str(quiet.repo.path), "sessionId": SESSION}
    foreign = [
        claude.user("We decided to keep OTHERMARK private for ever.", **there),
        claude.assistant(claude.text("That is noted, and nothing else was to be done."), **there),
    ]
    own = [
        claude.user("Please make the HFMARK parser stream.", **here),
        claude.assistant(claude.text("It streams its input now, and that is tested."), **here),
    ]
    store = quiet.repo / ".git/holdfast"
    for records, runs in ((foreign, 0), ([*foreign, *own], 1)):
        claude.write(quiet.transcript, *records)
        quiet.fire("SessionEnd", reason="other")
        cli("status")
        assert len(os.listdir(store / "runs")) == runs and quiet.pointers() == []
    kept = b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())
    assert b"HFMARK" in kept and b"OTHERMARK" not in kept


def test_turns_within_a_minute_are_read_at_once_and_the_end_at_once(agent: Agent) -> None:
    """To read one turn costs a fifth of a second; short turns would pay it again and again."""
    here = {"cwd": str(agent.repo.path), "sessionId": SESSION}

    def turn(number: int) -> list[dict[str, Any]]:
        return [
            claude.user(f"Please look at part {number}.", **here),
            claude.assistant(claude.text(f"Part {number} is all right, as far as I can see."), **here),
        ]

    def until(is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE / 2  # sooner than a minute
        while not is_so():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    live = agent.repo / f".git/holdfast/inbox/claude-{SESSION}.live"
    claude.write(agent.transcript, *turn(1))
    agent.fire("Stop")
    until(lambda: live.exists() and not agent.pointers())
    agent.settle()
    claude.write(agent.transcript, *turn(1), *turn(2))
    agent.fire("Stop")
    time.sleep(2 * agent_replies.SETTLING)
    assert len(agent.pointers()) == 1
    an_hour_ago = time.time() - 3600
    os.utime(live, (an_hour_ago, an_hour_ago))
    until(lambda: not agent.pointers())
    agent.settle()
    agent.fire("Stop")
    agent.fire("SessionEnd", reason="other")
    until(lambda: not live.exists() and not agent.pointers())
    end_all_at(os.environ["HOME"])


def test_a_long_backlog_is_read_in_the_background_after_any_command(quiet: Agent, cli: Cli) -> None:
    """Who removed the hooks must not wait for them to fire."""
    here = {"cwd": str(quiet.repo.path), "sessionId": SESSION}
    long = [claude.user(f"Please look at part {n}. {'x' * 60_000}", **here) for n in range(80)]
    claude.write(quiet.transcript, *long, claude.assistant(claude.text("That is all of it, at last."), **here))
    quiet.fire("SessionEnd", reason="other")
    assert json.loads(cli.spawn("status", "--json").out)["pointers_waiting"] == 1  # somebody is at it
    (quiet.repo / ".git/holdfast/inbox/drain.lock").unlink()  # and now nobody is
    cli.spawn("status")
    deadline = time.monotonic() + PATIENCE
    while quiet.pointers():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    quiet.settle()


def test_status_counts_what_waits_and_says_what_is_gone(quiet: Agent, cli: Cli) -> None:
    """Work that nobody has read yet must not look like no work."""
    cli("status")
    cli("status")
    quiet.fire("UserPromptSubmit", prompt="x")
    status = json.loads(cli("status", "--json").out)
    assert (status["pointers_waiting"], status["agent_sessions_waiting"]) == (1, 1)
    assert "1 agent session is not imported yet." in cli("status").out
    quiet.transcript.write_text("{}\n")
    quiet.fire("Stop")
    quiet.transcript.unlink()
    assert json.loads(cli("status", "--json").out)["transcripts_gone"] == [str(quiet.transcript)]
    assert "transcript was deleted before" in cli("status").out


def test_shell_lines_are_taken_apart() -> None:
    """A rule about a command must hold wherever on the line it stands."""
    assert agent_replies.simple_commands("cd a && FOO=1 sudo /usr/bin/git push -f; (make x | tee y)") == [
        ["cd", "a"],
        ["git", "push", "-f"],
        ["make", "x"],
        ["tee", "y"],
    ]
