"""Law 9 for the hook that agents call: whatever the disk does, the agent goes on, told nothing by halves."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.capture import claude_lines as claude
from tests.cli.test_agent_hook import HOOK, PATIENCE, SESSION, Agent
from tests.conftest import Cli, GitRepo, init
from tests.faults.test_hooks_faults import needs_strace
from tests.git.test_sandbox import can_mount

needs_mounts = pytest.mark.skipif(not can_mount(), reason="mount namespaces are not allowed here")


@pytest.fixture
def agent(repo: GitRepo, cli: Cli) -> Iterator[Agent]:
    """An agent whose transcripts nobody reads meanwhile."""
    init(cli.cwd, commit=True)
    inbox = repo / ".git/holdfast/inbox"
    inbox.mkdir(exist_ok=True)
    fd = os.open(inbox / "drain.lock", os.O_RDWR | os.O_CREAT, 0o600)
    os.lockf(fd, os.F_LOCK, 0)
    yield Agent(repo)
    os.close(fd)


@needs_strace
@pytest.mark.parametrize(
    ("event", "call", "name"),
    [
        ("Stop", "write", "holdfast/inbox/claude-5e55-0001.jsonl"),
        ("PreToolUse", "openat", "holdfast/guards/main"),
        pytest.param("Stop", "openat", "holdfast/inbox/claude-5e55-0001.jsonl", marks=pytest.mark.torture),
        pytest.param("SessionStart", "openat", "HEAD", marks=pytest.mark.torture),
    ],
)
def test_law_9_a_disk_that_hangs_does_not_hold_an_agent(
    agent: Agent, tmp_path: Path, event: str, call: str, name: str
) -> None:
    """A dead network share must not freeze every step of an agent."""
    given, ended = tmp_path / "given", tmp_path / "ended"
    given.write_bytes(agent.stdin(event, tool_input={"file_path": "a"}))
    hang = ["strace", "-f", "-qq", "-o", os.devnull, "-P", str(agent.repo / ".git" / name)]
    hang += ["-e", f"inject={call}:delay_enter=100000000"]
    act = 'ended="$0"; given="$1"; shift; "$@" <"$given"; echo $? >"$ended"'
    tracer = subprocess.Popen(
        [*hang, "sh", "-c", act, str(ended), str(given), *HOOK, "claude", event],
        cwd=agent.repo.path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        for _ in range(PATIENCE * 20):  # strace itself waits for the child that hangs
            if ended.exists() and ended.read_text():
                break
            time.sleep(0.05)
        assert ended.read_text() == "0\n"
    finally:
        tracer.kill()
        tracer.wait()


@needs_mounts
@pytest.mark.parametrize("way", ["read-only", "full"])
def test_law_9_a_store_that_takes_nothing_is_no_reason_to_stumble(agent: Agent, cli: Cli, way: str) -> None:
    """Sandboxes keep .git read-only, and disks are full at the worst of times."""
    mounts = {
        "read-only": 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"',
        "full": 'mount -t tmpfs -o size=16k tmpfs "$1" && mkdir "$1/inbox" && ! cat /dev/zero >"$1/full" 2>/dev/null',
    }
    here = {"cwd": str(agent.repo.path), "sessionId": SESSION}
    said = claude.assistant(claude.text("It reads line by line now, and that is all."), **here)
    claude.write(agent.transcript, claude.user("Please make the parser stream.", **here), said)
    act = f'{mounts[way]} && shift && "$@"'
    store = str(agent.repo / ".git/holdfast")
    for event in ("PreCompact", "PreToolUse"):
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", act, "sh", store, *HOOK, "claude", event],
            input=agent.stdin(event),
            capture_output=True,
            check=False,
            timeout=PATIENCE,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    beside = agent.repo / f".holdfast/local/inbox/claude-{SESSION}.jsonl"
    assert beside.exists() == (way == "read-only")
    assert [one.event for one in agent.pointers()] == (["PreCompact", "PreToolUse"] if beside.exists() else [])
    assert agent.repo.status() == ""
    cli("stats")  # the next command outside takes them, and leaves nothing behind
    local = agent.repo / ".holdfast/local"
    assert not local.exists() or os.listdir(local) == [".gitignore"]


def test_a_pointer_that_the_disk_tore_costs_only_itself(agent: Agent) -> None:
    """A line glued to a torn one would be a session lost."""
    agent.fire("PreCompact")
    path = agent.repo / f".git/holdfast/inbox/claude-{SESSION}.jsonl"
    for more in (1, 30, 90):
        limit = path.stat().st_size + more
        done = subprocess.run(
            [*HOOK, "claude", "PreCompact"],
            input=agent.stdin("PreCompact"),
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),  # type: ignore[misc]
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 0
        agent.fire("PreCompact")
    assert len(agent.pointers()) == 4
