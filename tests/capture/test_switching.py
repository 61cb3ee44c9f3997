"""`git switch` while an agent works: what it did stands on the branch where it did it, and once."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.agents import dialect
from holdfast.capture.ingest import run_files
from holdfast.interfaces import agent_hook
from holdfast.model.session import Session
from holdfast.project import Project
from holdfast.store import import_progress, session_files
from tests.conftest import Cli, GitRepo, _made_by_git, init
from tests.git.place import Place
from tests.making import take_in

from . import claude_lines as claude
from .rollouts import Rollout, rollout
from .test_ingest_kill import next_command
from .test_run import in_a_process_that_dies

ENDED = [("ended", ["main", "main"]), ("ended", ["feature"])]  # the sessions, and where their turns were done
# At noon, so that no session goes on past midnight.
BEGIN = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) - timedelta(days=2)
FIRST, SECOND, THIRD = ("Stream the parser's input", "Cache the printer's pages", "Name the reader's columns")


def at(minutes: float) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def text_of(name: str) -> str:
    """What the agent writes: enough lines that `why` can tell whose they are."""
    return "".join(
        f"the_{number}_of_{name.removesuffix('.py')} = compute_the_value_of({number})\n" for number in range(5)
    )


class Scene:
    """A repository an hour ago, and an agent at work in it."""

    def __init__(self, folder: Path, agent: str) -> None:
        self.agent, self.home = agent, folder / "home"
        self.it_is(0)
        _made_by_git(folder / "repo")
        self.repo = GitRepo(folder / "repo")
        init(self.repo.path, commit=True)
        self.cli = Cli(self.repo.path)
        self.place = Place(self.repo, str(folder / "cache"))
        self.records: list[dict[str, Any]] = []
        self.file: Rollout | None = None
        if agent == "codex":
            self.file = rollout(self.home / ".codex", self.repo.path, at=at(1), git={"branch": "main"})
        self.session = self.file.session if self.file else claude.SESSION
        self.path = self.file.path if self.file else self.home / f".claude/projects/-w/{self.session}.jsonl"

    def it_is(self, minutes: float) -> None:
        """What git does from now on, it does then."""
        when = f"{int(at(minutes).timestamp())} +0000"
        os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = when

    def git(self, minutes: float, *args: str) -> str:
        self.it_is(minutes)
        return self.repo.git(*args)

    def turn(self, minutes: float, asked: str, *writes: str, runs: tuple[str, ...] = ()) -> None:
        """A turn in which the agent writes files; what it `runs` it really runs, a minute before each file."""
        steps = [*((minutes + 1 + n, command, "") for n, command in enumerate(runs))]
        steps += [(minutes + 1.5 + n, "", name) for n, name in enumerate(writes)]
        if self.file:
            self._codex(minutes, asked, sorted(steps))
        else:
            self._claude(minutes, asked, sorted(steps))

    def _ran(self, minutes: float, command: str) -> None:
        self.it_is(minutes + 0.1)
        subprocess.run(["sh", "-c", command], cwd=self.repo.path, check=True)

    def _codex(self, minutes: float, asked: str, steps: list[tuple[float, str, str]]) -> None:
        assert self.file
        self.file.at = at(minutes)
        self.file.asks(f"{asked}, please.")
        for when, command, name in steps:
            self.file.at = at(when)
            if command:
                self.file.runs(command)
                self._ran(when, command)
                self.file.at = at(when + 0.2)
            else:
                self.repo.write(name, text_of(name))
                self.file.patches(str(self.repo / name), text_of(name).splitlines())
        self.file.done(f"{asked}: that is done now.")

    def _claude(self, minutes: float, asked: str, steps: list[tuple[float, str, str]]) -> None:
        def add(record: dict[str, Any], when: float) -> None:
            branch = self.repo.git("branch", "--show-current")
            stamp = at(when).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            self.records.append({**record, "gitBranch": branch, "cwd": str(self.repo.path), "timestamp": stamp})

        add(claude.user(f"{asked}, please."), minutes)
        for when, command, name in steps:
            call, file = f"toolu_{len(self.records)}", str(self.repo / name)
            if command:
                add(claude.assistant(claude.use("Bash", call, command=command)), when)
                self._ran(when, command)
                add(claude.result("ok", call), when + 0.2)
            else:
                self.repo.write(name, text_of(name))
                add(claude.assistant(claude.use("Write", call, file_path=file, content=text_of(name))), when)
                told = {"type": "create", "filePath": file, "content": text_of(name), "structuredPatch": []}
                add(claude.result("ok", call, told=told), when + 0.1)
        add(claude.assistant(claude.text(f"{asked}: that is done now.")), max([minutes, *(s[0] for s in steps)]) + 0.5)
        claude.write(self.path, *self.records)

    def fire(self, *events: str) -> None:
        """Our hook, as the client calls it; then what the background would do."""
        for event in events:
            told = {"session_id": self.session, "transcript_path": str(self.path), "cwd": str(self.repo.path)}
            command = [sys.executable, "-I", "-S", agent_hook.__file__, self.agent, event]
            said = json.dumps({**told, "hook_event_name": event}).encode()
            done = subprocess.run(command, input=said, capture_output=True, check=True)
            assert done.stderr == b""
        Project.open(self.repo.path, environ=dict(os.environ), drain=False).transcripts.drain()

    def bring(self) -> str:
        return self.cli("import", self.agent, str(self.path)).out

    def runs(self) -> list[dict[str, Any]]:
        """The runs in the log of the branch that is checked out."""
        rows = map(json.loads, self.cli("log", "--json").out.splitlines())
        return [row for row in rows if row["kind"] == "run"]

    def log(self) -> list[list[str]]:
        """Which requests each of them answers."""
        layout = Project.open(self.repo.path, drain=False).clone.layout
        turns = [list(run_files.turns_of(layout.run(run["run_id"]))) for run in self.runs()]
        return [[row["prompt"].removesuffix(", please.") for row in told] for told in turns]

    def sessions(self) -> list[Session]:
        """What we keep of the conversation, the session where it began first."""
        return sorted(session_files.all(self.place.open().layout), key=lambda one: one.previous or "")

    def on(self, branch: str) -> list[list[str]]:
        self.git(40, "switch", "-q", branch)
        return self.log()


@pytest.fixture(params=["codex", "claude"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path, request.param)
    inbox = made.repo / ".git/holdfast/inbox"
    inbox.mkdir(exist_ok=True)
    with open(inbox / "drain.lock", "w") as file:  # nobody reads in the background meanwhile
        os.lockf(file.fileno(), os.F_LOCK, 0)
        yield made


def three_turns(scene: Scene, then: Callable[[], object] = lambda: None) -> None:
    """One on main, one on a new branch, one on main again."""
    scene.turn(2, FIRST, "first.py")
    then()
    scene.git(5, "switch", "-q", "-c", "feature")
    scene.turn(6, SECOND, "second.py")
    then()
    scene.git(9, "switch", "-q", "main")
    scene.turn(10, THIRD, "third.py")
    then()


def test_an_imported_session_is_in_the_log_of_each_branch(scene: Scene) -> None:
    """Whoever reviews feature must find who did it, and main must not claim work that it does not hold."""
    three_turns(scene)
    scene.bring()
    main = scene.runs()
    assert scene.log() == [[FIRST], [THIRD]]
    assert scene.on("feature") == [[SECOND]]
    (second,) = scene.runs()
    first, third = sorted(main, key=lambda run: run["started"])
    assert (second["parent_run_id"], third["parent_run_id"]) == (first["run_id"], second["run_id"])
    assert [run["branch"] for run in (first, second, third)] == ["main", "feature", "main"]
    assert [[file["path"] for file in run["artifacts"]] for run in (first, second, third)] == [
        ["first.py"],
        ["second.py"],
        ["third.py"],
    ]
    kept = scene.sessions()
    assert [(one.state, [turn.anchor.branch for turn in one.turns]) for one in kept] == ENDED
    assert kept[1].previous == kept[0].id
    assert sum(run["outputs"]["turns"] for run in (first, second, third)) == 3
    scene.bring()
    assert len(scene.runs()) == 1


def test_a_live_session_is_in_the_log_of_each_branch_and_an_import_adds_nothing(scene: Scene) -> None:
    """The same with nothing but what the client's hooks say, wherever HEAD is when they say it."""
    scene.fire("SessionStart")
    three_turns(scene, lambda: scene.fire("UserPromptSubmit", "Stop"))
    assert {(one.state, one.branch, len(one.turns)) for one in scene.sessions()} == {
        ("open", "main", 2),
        ("open", "feature", 1),
    }
    scene.git(14, "switch", "-q", "feature")
    scene.fire("SessionEnd")
    kept = scene.sessions()
    assert [(one.state, [turn.anchor.branch for turn in one.turns]) for one in kept] == ENDED
    assert scene.on("main") == [[FIRST], [THIRD]]
    assert scene.on("feature") == [[SECOND]]
    assert "0 runs" in scene.bring() or "nothing new" in scene.bring().lower()
    assert (scene.on("main"), scene.on("feature")) == ([[FIRST], [THIRD]], [[SECOND]])


def test_after_a_merge_each_turn_stands_there_once(scene: Scene) -> None:
    """A log that says a thing twice is one that nobody believes."""
    three_turns(scene)
    scene.bring()
    for branch, file in (("feature", "second.py"), ("main", "first.py")):
        scene.git(20, "switch", "-q", branch)
        scene.git(20, "add", file)
        scene.git(20, "commit", "-qm", f"work on {branch}")
        assert f"Asked: {FIRST if branch == 'main' else SECOND}, please." in scene.cli("why", f"{file}:1").out
        scene.cli("publish", "--here")
    scene.git(30, "merge", "-q", "--no-edit", "feature")
    assert sorted(scene.log()) == sorted([[FIRST], [SECOND], [THIRD]])
    scene.bring()
    assert len(scene.runs()) == 3


def test_a_turn_that_makes_its_branch_itself_is_told_there(scene: Scene) -> None:
    """Agents are asked for a branch and make it in the same turn: nothing was done on main."""
    scene.turn(2, FIRST, runs=("git status", "git switch -q -c feature"))
    scene.turn(6, SECOND, "second.py")
    scene.git(10, "switch", "-q", "main")
    scene.turn(12, THIRD, "third.py", "fourth.py", runs=("true", "git switch -q feature"))
    scene.bring()
    assert scene.on("main") == [[THIRD]]
    (run,) = scene.runs()
    assert [file["path"] for file in run["artifacts"]] == ["third.py"]
    assert scene.on("feature") == [[FIRST, SECOND], [THIRD]]


def test_a_turn_that_ended_in_the_second_of_a_switch_was_before_it(scene: Scene) -> None:
    """`claude -p … && git switch feature`: git's log has seconds, and the agent's answer stood on feature."""
    scene.turn(2, FIRST, runs=("git status",))
    last = (scene.file.at - BEGIN).total_seconds() / 60 if scene.file else 3.5  # when the last words were written
    scene.git(last, "switch", "-q", "-c", "feature")
    scene.turn(last, SECOND, "second.py")  # this one begins in it
    scene.bring()
    assert scene.log() == [[SECOND]]
    assert scene.on("main") == [[FIRST]]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("step", [61, pytest.param(1, marks=pytest.mark.torture)])
def test_killed_between_the_branches_the_next_import_does_the_rest(tmp_path: Path, step: int, seed: int) -> None:
    """The first of three runs is recorded, and the machine dies: the others must come, and it not again."""
    scene, store, clean = Scene(tmp_path, "codex"), tmp_path / "repo/.git/holdfast", tmp_path / "clean"
    three_turns(scene)
    shutil.copytree(store, clean)

    place = scene.place

    def take() -> None:
        take_in(place.open(), dialect("codex"), str(scene.path), ended=True)

    fatal = 1 + seed % step
    while not in_a_process_that_dies(fatal, take):
        next_command(place)
        take()
        assert scene.log() == [[FIRST], [THIRD]], fatal
        (known,) = import_progress.every(place.open().stores)
        assert (len(known.runs), known.ended) == (3, True)
        kept = scene.sessions()
        assert [(one.state, [turn.anchor.branch for turn in one.turns]) for one in kept] == ENDED
        shutil.rmtree(store)
        shutil.copytree(clean, store)
        fatal += step
    assert fatal > 80
    assert scene.on("feature") == [[SECOND]]


def test_what_a_session_said_on_a_branch_is_not_told_on_another(scene: Scene) -> None:
    """An agent on main that reads what was done on feature takes it for done, and looks for it in vain."""
    three_turns(scene)
    scene.bring()
    told = {(branch, command): said for branch in ("feature", "main") for command, said in views(scene, branch).items()}
    for (branch, command), said in told.items():
        assert (SECOND in said, FIRST in said or THIRD in said) == (branch == "feature", branch == "main"), command
    assert "no session on branch feature yet; this one is of branch feature" not in "".join(told.values())


def views(scene: Scene, branch: str) -> dict[str, str]:
    """What people and agents are shown of the past on a branch."""
    scene.git(50, "switch", "-q", branch)
    day = f"{at(0):%Y-%m-%d}"
    shown = {"journal": scene.cli("journal", day).out, "context": scene.cli("context").out}
    return {**shown, "session": scene.cli("session", "show").out, "log": scene.cli("log").out}


def test_the_journal_tells_an_imported_session_on_its_day(scene: Scene) -> None:
    """Its runs were listed without a session, on the day of the import."""
    three_turns(scene)
    scene.bring()
    told, today = scene.cli("journal", f"{at(0):%Y-%m-%d}").out, scene.cli("journal", "today").out
    (first, third), sessions = scene.runs(), scene.sessions()
    assert f"({sessions[0].id})" in told and sessions[1].id not in told
    assert told.count(first["run_id"]) == told.count(third["run_id"]) == 2  # its turn, and what came of it
    assert "Runs" not in today and "Without a session" not in told
    assert sessions[1].id in scene.cli("journal", f"{at(0):%Y-%m-%d}", "--all").out


def test_the_journal_tells_sessions_of_branches_that_are_gone_or_merged(scene: Scene) -> None:
    """Their runs stood in the log here, and were listed as if they were of no session."""
    three_turns(scene)
    scene.git(20, "branch", "-q", "-D", "feature")
    scene.bring()
    told = scene.cli("journal", f"{at(0):%Y-%m-%d}").out
    assert all(f"({one.id})" in told for one in scene.sessions()) and len(scene.sessions()) == 2
    assert "Without a session" not in told and "### Runs" not in told.partition("## Outside these sessions")[2]


def test_notes_of_an_unmerged_branch_are_told_on_what_started_from_it_alone(scene: Scene) -> None:
    """The same files are no reason: an agent on main would go on with what main does not hold."""
    scene.git(5, "switch", "-q", "-c", "feature")
    scene.turn(6, SECOND, "second.py")
    scene.bring()
    assert SECOND in scene.cli("context").out
    scene.git(9, "switch", "-q", "main")
    assert "Last session: none" in (told := scene.cli("context").out) and SECOND not in told
    scene.git((datetime.now(UTC) - BEGIN).total_seconds() / 60 + 1, "switch", "-q", "-c", "child", "feature")
    child = scene.cli("context").out
    assert SECOND in child and "no session on branch child yet; this one is of branch feature" in child


def test_notes_of_a_branch_are_told_where_its_commits_were_merged(scene: Scene) -> None:
    """Merged work is work of this branch, and whose notes they are is said."""
    scene.git(5, "switch", "-q", "-c", "feature")
    scene.turn(6, SECOND, "second.py", runs=("echo 1 > other && git add other && git commit -qm Other",))
    scene.bring()
    scene.git(20, "switch", "-q", "main")
    assert SECOND not in scene.cli("context").out
    scene.git(21, "merge", "-q", "feature")
    told = scene.cli("context").out
    assert SECOND in told and "this one is of branch feature" in told


def test_a_session_whose_agent_named_no_branch_is_said_to_be_in_one_place(scene: Scene) -> None:
    """It was "on branch main", and three lines later "on an unknown branch"."""
    scene.turn(2, FIRST, "first.py")
    text = (
        scene.path.read_text()
        .replace('"git": {"branch": "main"}', '"git": {}')
        .replace('"gitBranch": "main"', '"x": 1')
    )
    scene.path.write_text(text)
    scene.git(3, "reflog", "expire", "--expire=now", "--all")
    scene.bring()
    assert [one.updated.branch for one in scene.sessions()] == [None]
    told = scene.cli("context").out
    assert "the last session on branch main" in told and " on main, last updated" in told
    assert "unknown branch" not in told


@pytest.mark.parametrize("mends", [False, True])
def test_what_an_agent_says_on_one_branch_and_mends_on_the_next_is_no_fact(tmp_path: Path, mends: bool) -> None:
    """Each branch is a run of its own; the fault and its mend are one conversation."""
    scene = Scene(tmp_path, "claude")
    scene.repo.write("counting.py", "def count_parcels(vans, depot):\n    return vans + depot\n")
    scene.git(1, "add", "counting.py")
    scene.git(1, "commit", "-qm", "Count")
    counts = "`count_parcels` counts the parcels of the vans as well as those of the depot, since both are joined."
    talk = {"gitBranch": "main", "cwd": str(scene.repo.path)}
    for minutes, told in ((2, claude.user("What is counted?")), (3, claude.assistant(claude.text(counts)))):
        scene.records.append({**told, **talk, "timestamp": at(minutes).strftime("%Y-%m-%dT%H:%M:%S.000Z")})
    claude.write(scene.path, *scene.records)
    if mends:
        scene.git(10, "switch", "-qc", "feature")
        scene.turn(12, "Leave the vans out", "counting.py")
    scene.bring()
    assert len(scene.runs()) == 1
    told = [one.memory.statement for one in Project.open(scene.repo.path).memory.candidates()]
    assert any("count_parcels" in one for one in told) is not mends, told
