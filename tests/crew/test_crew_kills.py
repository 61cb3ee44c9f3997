"""A crew under `kill -9`: no task is done twice, none is lost, nothing is left running, the user's branch stays."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import GitRepo, clean_environment, init

AGENT = """\
#!/bin/sh
read -r hash your task write number rest
sleep 0.05
(sleep 300 &)
echo "$rest" >> "f$rest.txt"
sleep 0.05
echo "did $rest"
"""
SETTINGS = '[crew.checks]\ndefault = "true"\n'
HOLDFAST = [sys.executable, "-m", "holdfast"]


class KilledCrew:
    """A crew that somebody ends again and again."""

    def __init__(self, repo: GitRepo, tasks: int) -> None:
        self.repo, self.tasks, self.home = repo, tasks, repo.path.parent / "crew-home"
        self.home.mkdir()
        self.environ = clean_environment(self.home)
        (self.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
        settings = self.home / ".config" / "holdfast" / "settings.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS)
        self.agent = self.home / "agent.sh"
        self.agent.write_text(AGENT)
        self.agent.chmod(0o755)
        self.plan = self.home / "plan.md"
        self.plan.write_text("".join(f"- [ ] Write number {n}\n" for n in range(tasks)))
        init(repo.path)

    def start(self, *words: str) -> "subprocess.Popen[bytes]":
        nowhere = subprocess.DEVNULL
        command = [*HOLDFAST, "crew", *words, "--agent", str(self.agent), "--workers", "3"]
        return subprocess.Popen(command, cwd=self.repo.path, env=self.environ, stdout=nowhere, stderr=nowhere)

    def status(self) -> dict[str, object] | None:
        command = [*HOLDFAST, "crew", "status", "--json"]
        done = subprocess.run(command, cwd=self.repo.path, env=self.environ, capture_output=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def processes(self) -> dict[int, str]:
        """Everything that runs in this crew's world, and its command line."""
        found, mark = {}, f"HOME={self.home}".encode()
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if mark in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    words = Path(f"/proc/{name}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found |= {int(name): words} if words else {}
            except OSError:
                continue
        return found

    def kill_something(self, supervisor: "subprocess.Popen[bytes]", rng: random.Random) -> int:
        """End the supervisor, a worker, or both; gives how many."""
        workers = [number for number, words in self.processes().items() if " crew work " in words]
        chosen = rng.choice(["supervisor", "worker", "both"])
        ended = 0
        if chosen != "supervisor" and workers:
            with_pid = rng.choice(workers)
            try:
                os.kill(with_pid, signal.SIGKILL)
                ended += 1
            except ProcessLookupError:
                pass
            time.sleep(rng.uniform(0, 0.5))
        if supervisor.poll() is None:
            supervisor.kill()
            ended += 1
        supervisor.wait()
        return ended


def work_through(repo: GitRepo, seed: int, *, tasks: int, kills: int) -> None:
    rng, crew, count = random.Random(seed), KilledCrew(repo, tasks), 0
    before = repo.git("rev-parse", "main")
    while count < kills:
        known = crew.status()
        if known and known["ended"]:
            break
        supervisor = crew.start("resume") if known else crew.start("run", str(crew.plan))
        time.sleep(rng.uniform(0.3, 2.5))
        count += crew.kill_something(supervisor, rng)
    known = crew.status()
    if known is None or not known["ended"]:
        assert crew.start("resume" if known else "run", *([] if known else [str(crew.plan)])).wait(300) == 0
    found = crew.status()
    assert found is not None and len(found["done"]) == tasks and not found["failed"], found
    branch = str(found["branch"])
    subjects = [one for one in repo.git("log", "--format=%s", f"main..{branch}").splitlines() if "Write" in one]
    assert sorted(subjects) == sorted(f"Write number {n}" for n in range(tasks)), "each once"
    for number in range(tasks):
        assert repo.git("show", f"{branch}:f{number}.txt").strip() == str(number)
    assert repo.git("rev-parse", "main") == before
    assert crew.processes() == {}, "no orphan"
    assert repo.git("worktree", "list").count("\n") <= 1, "the user's own and the result's"
    assert not [row for row in repo.git("status", "--porcelain").splitlines() if ".holdfast" not in row]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked at in /proc")
def test_a_crew_that_is_killed_does_each_task_once(repo: GitRepo, seed: int) -> None:
    """Work that is lost or done twice is what people leave such tools for."""
    work_through(repo, seed, tasks=4, kills=3)


@pytest.mark.torture
@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked at in /proc")
def test_a_crew_that_is_killed_two_hundred_times_does_each_task_once(repo: GitRepo, seed: int) -> None:
    """The same, at two hundred moments."""
    work_through(repo, seed, tasks=250, kills=200)
