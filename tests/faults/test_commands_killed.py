"""Laws 1 to 3 for whole commands: killed at any write, or around any call of git, they lose nothing.

Afterwards the next command works, `doctor` is content, the command run again ends where it would have ended
at once, agents' settings hold their old bytes or the new ones, and the user's index and files are as before.
"""

import json
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from holdfast.project import Project
from holdfast.store import session_files
from tests.conftest import Quick, make_repo

from .commands import AGENTS, Stage, apart, contents, grow
from .disk import KILLED, KILLS, Fault, Faulty, plugged
from .test_append_faults import in_child
from .test_publish_git import Shim

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

NEVER = Fault("never")
EDIT = ("edit", "{first}", "--why", "It was measured.")
COMMANDS = {  # what is killed, and what it starts from
    "reconcile": ("kept", ("reconcile", "--apply")),
    "import codex": ("kept", ("import", "codex")),
    "import claude": ("kept", ("import", "claude")),
    "import gemini": ("kept", ("import", "gemini")),
    "init": ("bare", ("init", "--commit")),
    "connect": ("kept", ("connect", "codex", "claude", "gemini", "--yes")),
    "disconnect": ("connected", ("disconnect", "--yes")),
    "accept": ("kept", ("review", "accept", "{first}")),
    "reject": ("kept", ("review", "reject", "{second}", "--reason", "it is not so")),
    "edit": ("kept", EDIT),
    "merge": ("kept", ("review", "merge", "{second}", "{first}")),
    "undo": ("kept", ("review", "undo")),
    "curate": ("kept", ("curate",)),
}
OURS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")  # the blocks of `connect`


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else tmp_path_factory.mktemp("stage")
    folder = folder / f"holdfast-stage-{os.getpid()}"
    folder.mkdir()
    try:
        stage = grow(folder)
        apart(lambda: done(stage, "connect"))
        stage.keep("connected")
        shutil.rmtree(stage.repo.path)
        make_repo(stage.repo.path).write("mine.txt", "untracked\n")
        stage.keep("bare")
        yield stage
    finally:
        shutil.rmtree(folder)


def done(stage: Stage, name: str) -> None:
    with plugged(Quick()):
        answer = stage.act(argv(stage, name))
    assert answer.code == 0, answer.err


def argv(stage: Stage, name: str) -> list[str]:
    return [word.format(**stage.names) for word in COMMANDS[name][1]]


def settings(stage: Stage) -> dict[str, str]:
    """Agents' files as they are, but for where our launchers lie."""
    files = {name: stage.home / name for name in (*AGENTS, ".codex/hooks.json")}
    files |= {name: stage.repo / name for name in OURS}
    return {name: path.read_text() for name, path in files.items() if path.exists()}


def outcome(stage: Stage) -> dict[str, object]:
    """What a command came to, without what differs from run to run."""
    project = Project.open(stage.repo.path)
    events = list(project.clone.own_events())
    assert len({event.hash_self for event in events}) == len(events)
    waiting = [standing.memory for standing in project.memory.candidates()]
    tasks = sorted(sighting.text for sighting in project.clone.entries() if "/tasks/" in sighting.path)
    return {
        "settings": settings(stage),
        "runs": sorted(Counter(event.run_id for event in events if event.kind == "run").values()),
        "stored": len(os.listdir(project.clone.layout.runs)),
        "waiting": sorted((one.statement, one.details, len(one.evidence)) for one in waiting),
        "entries": len(list(project.clone.entries())),
        "tasks": tasks,
        "turns": [len(one.turns) for one in session_files.all(project.clone.layout)],
        "tracked": stage.repo.git("ls-tree", "-r", "--name-only", "HEAD"),
    }


def told(stage: Stage, name: str) -> tuple[int, int, str]:
    """Undisturbed: how many calls change the disk, how many start git, and what the command comes to."""
    stage.rise(COMMANDS[name][0])
    ops = Faulty(-1, NEVER, Quick())

    def act() -> tuple[int, int, str]:
        with plugged(ops):
            said = stage.act(argv(stage, name), **shim(stage, at=0, when="never"))
        assert said.code == 0, said.err
        gits = len((stage.folder / "bin/calls").read_text().splitlines())
        with plugged(Quick()):
            return len(ops.names), gits, json.dumps(outcome(stage), sort_keys=True)

    writes, gits, wanted = apart(act)
    return writes, gits, wanted


def shim(stage: Stage, *, at: int, when: str) -> dict[str, str]:
    """A world in which git's `at`-th call ends who calls it: see `test_publish_git`."""
    folder = stage.folder / "bin"
    if not folder.exists():
        Shim(folder)
    for left in folder.glob("calls*"):
        left.unlink()
    (folder / "calls").write_text("")
    real = {"REAL_GIT": shutil.which("git") or "git", "PATH": f"{folder}:{os.environ['PATH']}"}
    return {**real, "CALLS": str(folder / "calls"), "AT": str(at), "WHEN": when, "SLOW": ""}


@dataclass(frozen=True, slots=True)
class Before:
    """What must not have changed."""

    users: tuple[str, dict[str, bytes]]
    settings: dict[str, str]


def look(stage: Stage) -> Before:
    index, files = stage.users()
    return Before((index, {name: data for name, data in files.items() if name not in OURS}), settings(stage))


def check(stage: Stage, name: str, before: Before, wanted: str, what: str) -> None:
    """After a kill: see the top of this module."""
    torn = {
        file: text
        for file, text in settings(stage).items()
        if text not in (before.settings.get(file), json.loads(wanted)["settings"].get(file))
    }
    assert not torn, f"{what}: neither old nor new: {torn}"
    print(what)

    def act() -> None:
        with plugged(Quick()):
            follow(stage, name, wanted)

    apart(act)
    assert look(stage).users == before.users, f"{what}: the user's index or files were changed"
    left = [name for name in (*contents(stage.home), *contents(stage.repo.path)) if name.endswith(".tmp")]
    assert not [name for name in left if ".git/holdfast" not in name], f"{what}: left lying about: {left}"


def follow(stage: Stage, name: str, wanted: str) -> None:
    """What people do next: any command, `doctor`, and the same again."""
    if name != "init":
        for words in (["status"], ["doctor"]):
            answer = stage.act(words)
            assert answer.code == 0, f"{words}: {answer.err}{answer.out}"
    if name == "init" or json.dumps(outcome(stage), sort_keys=True) != wanted:
        answer = stage.act(argv(stage, name))
        assert answer.code == 0, f"again: {answer.err}{answer.out}"
    found = json.dumps(outcome(stage), sort_keys=True)
    assert found == wanted, f"\n{found}\n{wanted}"
    answer = stage.act(["doctor"])
    assert answer.code == 0, f"doctor at the end: {answer.err}{answer.out}"


def kill_at(stage: Stage, name: str, at: int, fault: Fault, wanted: str) -> None:
    stage.rise(COMMANDS[name][0])
    before = look(stage)

    def act(_: object) -> None:
        with plugged(Faulty(at, fault, Quick())):
            stage.act(argv(stage, name))

    code, _ = in_child(act)
    assert code in (KILLED, 0), code  # 0: one write fewer this time
    check(stage, name, before, wanted, f"{name} {fault} at call {at}")


def kill_git(stage: Stage, name: str, at: int, when: str, wanted: str) -> None:
    """Killed before git's `at`-th call starts, after it, or while git goes on without its input."""
    stage.rise(COMMANDS[name][0])
    before = look(stage)

    def act(_: object) -> None:
        with plugged(Quick()):
            stage.act(argv(stage, name), **shim(stage, at=at, when=when))

    code, _ = in_child(act)
    assert code in (-9, 0), code
    ended = stage.folder / "bin/calls.ended"
    deadline = time.monotonic() + 30
    while when.isdigit() and code and not ended.exists():
        assert time.monotonic() < deadline, "git never ended"
        time.sleep(0.005)
    check(stage, name, before, wanted, f"{name} killed at {when} of git call {at}")


def play(stage: Stage, name: str, *, times: int, seed: int) -> None:
    writes, gits, wanted = told(stage, name)
    choose = random.Random(f"{seed} {name}")
    for number in range(times):
        at = number * writes // times if times > 1 else choose.randrange(writes)
        kill_at(stage, name, at, choose.choice(KILLS), wanted)
    for number in range(times):
        at = number * gits // times if times > 1 else choose.randrange(gits)
        kill_git(stage, name, 1 + at, choose.choice(("before", "0", "14", "after")), wanted)


def test_a_command_killed_at_a_write_or_around_git_loses_nothing(stage: Stage, seed: int) -> None:
    """People press Ctrl-C twice, laptops run dry: each write may be the last."""
    for name in random.Random(seed).sample(list(COMMANDS), 2):
        play(stage, name, times=1, seed=seed)


@pytest.mark.torture
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_killed_at_any_write_or_git_loses_nothing(stage: Stage, name: str, seed: int) -> None:
    """The same, fifty times each."""
    play(stage, name, times=50, seed=seed)
