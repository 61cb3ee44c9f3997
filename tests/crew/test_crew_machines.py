"""A crew on two machines: one Postgres for the queue, one git remote for the work."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

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


def test_work_is_done_on_one_machine_and_merged_on_another(
    repo: GitRepo, tmp_path: Path, server: LocalPostgres
) -> None:
    """A team's machines share the queue; what they make must come back through git, and nothing stay behind."""
    init(repo.path, commit=True)
    remote = tmp_path / "remote.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(repo.path), str(remote)], check=True)
    ann, ben = (Machine(name, tmp_path, remote, server.url("crew")) for name in ("ann", "ben"))
    plan = tmp_path / "plan.md"
    plan.write_text("1. Write one\n2. Write two\n3. Write three\n")
    agent = f"{ben.home}/agent.sh ben"
    supervisor = ann.crew(
        "run", str(plan), "--agent", f"{ann.home}/agent.sh ann", "--workers", "0", "--remote", "origin"
    )
    worker = ben.crew("work", "--agent", agent, "--remote", "origin")
    try:
        assert supervisor.wait(60) == 0
    finally:
        for one in (supervisor, worker):
            if one.poll() is None:
                one.send_signal(signal.SIGTERM)
                one.wait(20)
    said = subprocess.run(
        [*HOLDFAST, "crew", "status", "--json"], cwd=ann.clone, env=ann.environ, capture_output=True, check=True
    )
    found = json.loads(said.stdout)
    assert [row["title"] for row in found["done"]] == ["Write one", "Write two", "Write three"]
    log = ["git", "log", "--reverse", "--format=%an %s", f"main..{found['branch']}"]
    rows = subprocess.run(log, cwd=ann.clone, capture_output=True, text=True, check=True).stdout.splitlines()
    assert rows[:3] == ["ben Write one", "ben Write two", "ben Write three"], "done there, merged here"
    there = subprocess.run(["git", "worktree", "list"], cwd=ben.clone, capture_output=True, text=True, check=True)
    assert there.stdout.count("\n") == 1, "nothing is left on the other machine"
