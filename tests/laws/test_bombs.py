"""Small files that unpack, nest or repeat without end: each costs itself alone, in bounded memory and time.

A clone brings them: as memories, as tasks, as segments of the log, as settings. What else is recorded stays
readable, and `doctor` names the file.
"""

import hashlib
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli, GitRepo, grown

LIMIT = 700 << 20  # bytes of address space; an ordinary command takes about 200 MiB of it
PATIENCE = 120  # seconds, on a machine that does other things as well
FRONT = b"---\nid: DEC-bomb\ntype: decision\nstatus: accepted\n"
LIMITED = f"""
import resource, runpy
resource.setrlimit(resource.RLIMIT_AS, ({LIMIT}, {LIMIT}))
runpy.run_module("holdfast", run_name="__main__")
"""
MEMORIES = {
    "64 MiB of one word": lambda: FRONT + b"---\nDecision: " + b"A" * (64 << 20) + b"\n",
    "a huge field": lambda: FRONT + b"tags: [" + b"a, " * 400_000 + b"a]\n---\nDecision: x\n",
    "aliases": lambda: (
        FRONT
        + b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (n, n, b",".join([b"*%c" % (n - 1)] * 9)) for n in range(98, 107))
        + b"---\nDecision: x\n"
    ),
    "deep lists": lambda: FRONT + b"x: " + b"[" * 30_000 + b"]" * 30_000 + b"\n---\nDecision: x\n",
    "deep maps": lambda: FRONT + b"x:\n" + b"".join(b" " * n + b"a:\n" for n in range(1, 250)) + b"---\nDecision: x\n",
    "a tag": lambda: FRONT + b"x: !!python/object/apply:os.system [touch /tmp/x]\n---\nDecision: x\n",
    "a merge key": lambda: FRONT + b"<<: {a: 1}\n---\nDecision: x\n",
    "fields without end": lambda: FRONT + b"".join(b"x%d: 1\n" % n for n in range(9_000)) + b"---\nDecision: x\n",
    "the same field": lambda: FRONT + b"tags: [a]\n" * 3_000 + b"---\nDecision: x\n",
    "only dashes": lambda: b"---\n" * (1 << 20),
    "entries without end": lambda: (FRONT + b"---\nDecision: a\n") * 12_000,
    "quotes": lambda: FRONT + b'x: "' + b"\\" * 60_000 + b"\n---\nDecision: x\n",
}
SEGMENTS = {
    "a million tiny events": lambda: b'{"v":1}\n' * 1_000_000,
    "tiny events": lambda: b'{"v":1}\n' * 350_000,  # with one finding for each, too much as well
    "a million empty lines": lambda: b"\n" * 1_000_000,
    "deep": lambda: b'{"holdfast":"segment","v":1,"x":' + b"[" * 900_000 + b"\n",
    "deep lines": lambda: (b'{"a":' * 400 + b"1" + b"}" * 400 + b"\n") * 250,
    "one long line": lambda: b'{"v":1,"ts":"' + b"9" * 1_000_000 + b"\n",
}
SETTINGS = {
    "deep arrays": b"x = " + b"[" * 30_000 + b"]" * 30_000,
    "deep tables": b"[" + b".".join([b"a"] * 30_000) + b"]\nx = 1",
    "long": b"x = '" + b"A" * 8_000_000 + b"'",
    "keys without end": b"".join(b"k%d = 1\n" % n for n in range(60_000)),
}


def grow(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    cli("remember", "Tests need Postgres 16", "--evidence", "README")
    cli("review", "accept", "--all")
    cli("publish", "--here")


@pytest.fixture
def plain(cli: Cli, repo: GitRepo) -> Cli:
    return grown(grow, cli, repo)


def limited(cli: Cli, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own that may not take more memory than this."""
    started = [sys.executable, "-c", LIMITED, *words]
    return subprocess.run(
        started, cwd=cli.cwd, capture_output=True, text=True, timeout=PATIENCE, check=False, errors="replace"
    )


def assert_costs_itself_alone(cli: Cli, repo: GitRepo, name: str, *, named: bool = True) -> None:
    """What was there is found, agents are answered, and doctor says which file is wrong."""
    for words in (("recall", "postgres"), ("context",)):
        done = limited(cli, *words)
        assert done.returncode == 0, (words, done.stderr[-400:])
        assert "Postgres 16" in done.stdout or words == ("context",)
    done = limited(cli, "doctor")
    assert done.returncode in (0, 1, 20), done.stderr[-400:]
    assert "bug in Holdfast" not in done.stderr
    assert len(done.stdout) < 200_000
    assert not named or os.path.basename(name) in done.stdout


def tried(bombs: list[str], seed: int) -> str:
    return random.Random(seed).choice(bombs)


def memory_bomb(cli: Cli, repo: GitRepo, kind: str) -> None:
    name = ".holdfast/memory/decisions/bomb-DEC-bomb.md"
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(MEMORIES[kind]())
    repo.git("add", "-f", name)
    repo.git("commit", "-q", "-m", "a pull request")
    # Many entries are not broken, whatever their ids: that they are a nuisance is for review to see.
    assert_costs_itself_alone(cli, repo, name, named=kind != "entries without end")


def segment_bomb(cli: Cli, repo: GitRepo, kind: str) -> None:
    data = SEGMENTS[kind]()
    name = f".holdfast/log/2026/01/01/{hashlib.sha256(data).hexdigest()[:32]}.jsonl"
    path = repo / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    repo.git("add", "-f", name)
    repo.git("commit", "-q", "-m", "a pull request")
    assert_costs_itself_alone(cli, repo, name)


def settings_bomb(cli: Cli, repo: GitRepo, kind: str) -> None:
    (repo / ".holdfast/holdfast.toml").write_bytes(SETTINGS[kind])
    repo.git("commit", "-q", "-am", "a pull request")
    assert_costs_itself_alone(cli, repo, ".holdfast/holdfast.toml", named=False)


def test_a_memory_that_is_a_bomb_costs_itself_alone(plain: Cli, repo: GitRepo, seed: int) -> None:
    """A pull request of one file must not take memory away from every agent of the team."""
    memory_bomb(plain, repo, tried(sorted(MEMORIES), seed))


def test_a_segment_that_is_a_bomb_costs_itself_alone(plain: Cli, repo: GitRepo) -> None:
    """Doctor once took 2.4 GB for a segment of 8 MB: one finding for each of its lines."""
    segment_bomb(plain, repo, "tiny events")


@pytest.mark.torture
@pytest.mark.parametrize("kind", MEMORIES)
def test_every_memory_bomb(plain: Cli, repo: GitRepo, kind: str) -> None:
    memory_bomb(plain, repo, kind)


@pytest.mark.torture
@pytest.mark.parametrize("kind", SEGMENTS)
def test_every_segment_bomb(plain: Cli, repo: GitRepo, kind: str) -> None:
    segment_bomb(plain, repo, kind)


@pytest.mark.torture
@pytest.mark.parametrize("kind", SETTINGS)
def test_every_settings_bomb(plain: Cli, repo: GitRepo, kind: str) -> None:
    settings_bomb(plain, repo, kind)


@pytest.mark.torture
def test_fifty_thousand_memories_in_one_folder(plain: Cli, repo: GitRepo) -> None:
    """Slow is allowed, an end without an answer is not."""
    folder = Path(repo / ".holdfast/memory/decisions")
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(50_000):
        text = f"---\nid: DEC-x{n}\ntype: decision\nstatus: accepted\n---\nDecision: rule {n}\n"
        (folder / f"rule-DEC-x{n}.md").write_text(text)
    repo.git("add", "-A", ".holdfast/memory")
    repo.git("commit", "-q", "-m", "a pull request")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "recall", "postgres"],
        cwd=repo.path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-400:]
    assert "Postgres 16" in done.stdout
