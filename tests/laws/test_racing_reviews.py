"""Many processes decide about the same candidates at once: each ends in one state, and nothing is torn."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import NotFound
from holdfast.project import Project
from tests.conftest import GitRepo, init

WORKER = """
import json, random, subprocess, sys
from holdfast.errors import HoldfastError
from holdfast.project import Project
top, seed, rounds, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
acts = sys.argv[5].split(",")
rng = random.Random(seed)
sys.stdin.readline()
for round in range(rounds):
    one, other = (f"DEC-{n}" for n in rng.sample(range(number), 2))
    act = rng.choice(acts)
    try:
        project = Project.open(top, person=True)
        if act == "accept": project.memory.accept(one)
        elif act == "reject": project.memory.reject(one, reason="no")
        elif act == "edit": project.memory.edit(one, details=f"Rationale: said by {seed}.{round}.")
        elif act == "join": project.memory.join(one, other)
        elif act == "undo": one = project.memory.undo().id
        elif act == "publish": project.sync.publish(here=True)
        else:
            name = f"f{seed}-{round}"
            open(f"{top}/{name}", "w").write("x")
            subprocess.run(["git", "-C", top, "add", name], capture_output=True)
            subprocess.run(["git", "-C", top, "commit", "-qm", name, "--", name], capture_output=True)
        print(json.dumps([act, one, "done", other]), flush=True)
    except HoldfastError as error:
        print(json.dumps([act, one, type(error).__name__, other]), flush=True)
"""
ALL = "accept,accept,accept,accept,reject,reject,reject,edit,join,undo,publish,commit"
ACCEPT = ("accept", "edit", "join")
EXPECTED = {"joined", "accepted", "rejected", "candidate", "deprecated", "superseded"}


def race(repo: GitRepo, seed: int, *, workers: int, rounds: int, candidates: int, acts: str = ALL) -> list[list[str]]:
    """Let processes decide, all from the same moment on; gives what each was told."""
    print(f"seed {seed}")
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(repo.path), str(seed + n), str(rounds), str(candidates), acts],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for n in range(workers)
    ]
    for one in started:
        assert one.stdin is not None
        one.stdin.write("\n")
        one.stdin.flush()
    answers = [one.communicate(timeout=300) for one in started]
    assert [err for _, err in answers if err] == [], "a process ended with a traceback"
    return [json.loads(line) for out, _ in answers for line in out.splitlines()]


def assert_sound(repo: GitRepo, told: list[list[str]], candidates: int) -> None:
    project = Project.open(repo.path, person=True)
    project.sync.publish(here=True)
    assert project.health.doctor().verdict == "ok"
    log = Project.open(repo.path).log.events()
    for n in range(candidates):
        name = f"DEC-{n}"
        decided = [event["kind"] for event in log if event.get("target") == name]
        done = [(act, one, other) for act, one, how, other in told if how == "done"]
        # An edit accepts as well; a join accepts what it is joined into, and to undo one may accept either.
        most = sum(
            act == "undo" or (act in ACCEPT and name in (one, other if act == "join" else one))
            for act, one, other in done
        )
        assert decided.count("accept") <= most
        try:
            status = Project.open(repo.path).memory.get(name).status
        except NotFound:
            assert "join" in decided, "only what became part of another memory may be gone"
            status = "joined"
        assert status in EXPECTED
        files = list((repo / ".holdfast/memory").rglob(f"*-{name}.md"))
        assert len(files) <= 1, "one memory, one file"
        assert bool(files) == (status in ("accepted", "deprecated", "superseded")), (name, status, files)
    left = list(Path(repo / ".git/holdfast").rglob("*.tmp"))
    assert left == [], "a half-written file"
    assert repo.git("status", "--porcelain", "--untracked-files=no", "--", ".holdfast") == ""
    assert repo.git("fsck", "--no-dangling") == ""


def prepared(repo: GitRepo, candidates: int) -> None:
    init(repo.path, commit=True)
    project = Project.open(repo.path, person=True)
    for n in range(candidates):
        words = f"Component {n} listens on port {8000 + n}"
        project.memory.remember(words, kind="decision", id=f"DEC-{n}", evidence=["README"])


def test_racing_decisions_leave_one_state_each(repo: GitRepo, seed: int) -> None:
    """Two people and a script at one queue: nobody's yes may be half a memory."""
    prepared(repo, 3)
    assert_sound(repo, race(repo, seed % 10_000, workers=4, rounds=4, candidates=3), 3)


@pytest.mark.parametrize("acts", ["accept,reject"])
def test_one_of_many_decisions_counts(repo: GitRepo, acts: str) -> None:
    """Decided by four at the same moment: the log has each decision once, and the last one is what holds."""
    prepared(repo, 2)
    race(repo, 4, workers=4, rounds=2, candidates=2, acts=acts)
    log = Project.open(repo.path).log.events()
    for name in ("DEC-0", "DEC-1"):
        about = [event for event in log if event.get("target") == name]
        kinds = [e["kind"] for e in sorted(about, key=lambda e: e["ts"]) if e["kind"] in ("accept", "reject")]
        assert kinds.count("accept") <= 1 and kinds.count("reject") <= 1, kinds
        ends = {"accept": "accepted", "reject": "rejected"}
        assert Project.open(repo.path).memory.get(name).status == (ends[kinds[-1]] if kinds else "candidate")
    assert acts != "accept" or any(event["kind"] == "accept" for event in log)
    assert Project.open(repo.path).health.doctor().verdict == "ok"


@pytest.mark.torture
@pytest.mark.parametrize("number", range(25))
def test_many_racing_decisions(repo: GitRepo, seed: int, number: int) -> None:
    rng = random.Random(seed + number)
    candidates = rng.randint(2, 8)
    prepared(repo, candidates)
    told = race(repo, rng.randrange(10**6), workers=8, rounds=8, candidates=candidates)
    assert_sound(repo, told, candidates)
