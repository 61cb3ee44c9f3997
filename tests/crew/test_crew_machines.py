"""A crew on two machines: one Postgres for the queue, one git remote for the work."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from demo.local_postgres import LocalPostgres, local_postgres

from tests.conftest import GitRepo, clean_environment, init

HOLDFAST = [sys.executable, "-m", "holdfast"]
AGENT = '#!/bin/sh\nread -r line\necho "$line" > "$(echo "$line" | tr -dc a-z0-9).txt"\necho "$1 did it"\n'


@pytest.fixture(scope="module")
def server() -> Iterator[LocalPostgres]:
    with local_postgres() as made:
        made.make_agents("crew")
        yield made


class Machine:
    """A clone with a home of its own."""

    def __init__(self, name: str, folder: Path, remote: Path, url: str) -> None:
        self.home = folder / name
        self.home.mkdir()
        self.clone = self.home / "clone"
        self.environ = {**clean_environment(self.home), "HOLDFAST_DATABASE_URL": url}
        (self.home / ".gitconfig").write_text(f"[user]\n\tname = {name}\n\temail = {name}@example.org\n")
        settings = self.home / ".config" / "holdfast" / "settings.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text('[crew.checks]\ndefault = "true"\n')
        (self.home / "agent.sh").write_text(AGENT)
        (self.home / "agent.sh").chmod(0o755)
        subprocess.run(["git", "clone", "-q", str(remote), str(self.clone)], env=self.environ, check=True)

    def crew(self, *words: str) -> "subprocess.Popen[bytes]":
        command = [*HOLDFAST, "crew", *words]
        return subprocess.Popen(
            command, cwd=self.clone, env=self.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def supervise(self, plan: Path) -> "subprocess.Popen[bytes]":
        """Only merge what others do."""
        return self.crew("run", str(plan), "--agent", f"{self.home}/agent.sh x", "--workers", "0", "--remote", "origin")

    def work(self) -> "subprocess.Popen[bytes]":
        return self.crew("work", "--agent", f"{self.home}/agent.sh me", "--remote", "origin")

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.clone, env=self.environ, capture_output=True, check=True)
        return done.stdout.decode()

    def status(self) -> dict[str, Any]:
        asked = [*HOLDFAST, "crew", "status", "--json"]
        done = subprocess.run(asked, cwd=self.clone, env=self.environ, capture_output=True, check=True)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def trees(self) -> int:
        return self.git("worktree", "list").count("\n")

    def results(self) -> list[str]:
        """Who wrote what the remote's result branches hold."""
        self.git("fetch", "-q", "origin", "+refs/heads/*:refs/remotes/origin/*")
        return self.git("log", "--format=%an %s", "--glob=refs/remotes/origin/crew/*/result").splitlines()


def until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("waited in vain")


@pytest.fixture
def remote(repo: GitRepo, tmp_path: Path) -> Path:
    """Where all machines push to."""
    init(repo.path, commit=True)
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(repo.path), str(bare)], check=True)
    return bare


def ended(*processes: "subprocess.Popen[bytes]") -> None:
    for one in processes:
        if one.poll() is None:
            one.send_signal(signal.SIGTERM)
            one.wait(20)


def test_work_is_done_on_one_machine_and_merged_on_another(remote: Path, tmp_path: Path, server: LocalPostgres) -> None:
    """A team's machines share the queue; what they make must come back through git, and nothing stay behind."""
    ann, ben = (Machine(name, tmp_path, remote, server.url("crew")) for name in ("ann", "ben"))
    plan = tmp_path / "plan.md"
    plan.write_text("1. Write one\n2. Write two\n3. Write three\n")
    supervisor = ann.supervise(plan)
    worker = ben.work()
    try:
        assert supervisor.wait(60) == 0
    finally:
        ended(supervisor, worker)
    found = ann.status()
    assert [row["title"] for row in found["done"]] == ["Write one", "Write two", "Write three"]
    rows = ann.git("log", "--reverse", "--format=%an %s", f"main..{found['branch']}").splitlines()
    assert rows[:3] == ["ben Write one", "ben Write two", "ben Write three"], "done there, merged here"
    assert ben.trees() == 1, "nothing is left on the other machine"


def test_the_step_of_a_machine_that_fell_asleep_is_taken_over_once(
    remote: Path, tmp_path: Path, server: LocalPostgres
) -> None:
    """A laptop is closed in the middle of a step and wakes when another machine has done it: that stays done, once."""
    ann, ben, cara = (Machine(name, tmp_path, remote, server.url("crew")) for name in ("ann", "ben", "cara"))
    (ben.home / "agent.sh").write_text(
        f"{AGENT}touch '{tmp_path}/began'\nwhile ! test -e '{tmp_path}/go'; do sleep 0.05; done\n"
    )
    plan = tmp_path / "plan.md"
    plan.write_text("- [ ] Write one\n")
    supervisor, worker = ann.supervise(plan), ben.work()
    others = [supervisor]
    try:
        until((tmp_path / "began").exists)
        worker.send_signal(signal.SIGSTOP)
        # Its lease lasts a minute; here it ran out.
        server.sql("UPDATE queue_item SET ready = 0, held_until = 0 WHERE state = 'claimed'", database="crew")
        others.append(cara.work())
        assert supervisor.wait(60) == 0
        before = cara.results()
        (tmp_path / "go").touch()
        worker.send_signal(signal.SIGCONT)
        until(lambda: ben.trees() == 1)
    finally:
        worker.send_signal(signal.SIGCONT)
        ended(worker, *others)
    assert [row["title"] for row in ann.status()["done"]] == ["Write one"]
    assert before == cara.results() and before.count("cara Write one") == 1 and "ben Write one" not in before
