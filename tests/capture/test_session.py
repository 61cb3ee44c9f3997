"""Sessions on real git: started, noted, linked across branches, ended with what git holds."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from holdfast.capture import session_lookup
from holdfast.capture import session_work as work
from holdfast.capture.run import run_command
from holdfast.capture.session_work import Noted
from holdfast.errors import BadInput, NotFound, ScanFailed, TooLarge
from holdfast.git import project_setup
from holdfast.git.clone import Clone
from holdfast.model.session import Session
from holdfast.security.redact import Scanner
from holdfast.store import session_files
from holdfast.work import task_board, task_claims, task_lifecycle
from holdfast.work.task_lifecycle import TaskWorker
from tests.conftest import GitRepo, init_store
from tests.git.test_sandbox import needs_mounts

FAKE_KEY = "ghp_" + "h0ldfastExampleTokenNotReal123456789"[:36]
SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "session.schema.json"


@dataclass
class Clock:
    """The real time, and some that a test lets pass."""

    passed: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.passed


@dataclass
class Desk:
    """A project to work in."""

    repo: GitRepo
    cache: str
    clock: Clock

    def clone(self, path: Path | None = None, **more: Any) -> Clone:
        """The clone as the next command sees it."""
        return Clone.open(str(path or self.repo.path), cache=self.cache, clock=self.clock, **more)

    def note(self, summary: str = "", **more: Any) -> Noted:
        return work.note(self.clone(), summary, **more)

    def all(self) -> list[Session]:
        return session_files.all(self.clone().layout)

    def events(self) -> list[tuple[str, str | None]]:
        clone = self.clone()
        told = [clone.bodies.get(e.body or "") or {} for e in clone.all_events() if e.kind == "session"]
        return [(body["action"], body["summary"]) for body in told]


@pytest.fixture
def desk(repo: GitRepo, tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(repo, str(tmp_path / "cache"), Clock())
    init_store(repo.path, commit=True)
    yield desk
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for path in Path(desk.clone().layout.sessions).glob("*-SES-*.json"):  # whatever a test wrote fits the schema
        validator.validate(json.loads(path.read_text()))


def test_a_turn_says_what_git_says(desk: Desk) -> None:
    """Agents forget to say which files they touched; git does not."""
    desk.repo.write("old.txt", "untracked since yesterday")
    os.utime(desk.repo / "old.txt", (1, 1))
    work.start(desk.clone(), objective="Build the parser", agent="codex", agent_session="abc")
    made = desk.repo.commit("src/a.py", "a = 1\n")
    desk.repo.write("src/ünï b.py", "b = 1\n")
    noted = desk.note("Wrote a and b")
    assert noted.turn is not None and not noted.started
    assert (noted.turn.n, noted.turn.commits, noted.turn.files) == (1, (made,), ("src/a.py", "src/ünï b.py"))
    assert (noted.turn.anchor.commit, noted.turn.anchor.branch) == (made, "main")
    again = desk.note("Thought about it")
    assert again.turn is not None and again.turn.commits == ()
    assert again.session.commits == (made,)
    assert desk.repo.status() == '?? old.txt\n?? "src/\\303\\274n\\303\\257 b.py"'


def test_what_a_pull_brings_is_not_this_sessions_work(desk: Desk, tmp_path: Path) -> None:
    """A colleague's commits as evidence for my task would be a wrong citation."""
    desk.repo.git("clone", "-q", str(desk.repo.path), str(tmp_path / "other"))
    other = GitRepo(tmp_path / "other")
    theirs = other.commit("theirs.txt")
    work.start(desk.clone(), objective="Mine")
    mine = desk.repo.commit("mine.txt")
    desk.repo.git("pull", "-q", "--rebase", str(other.path), "main")
    rebased = desk.repo.git("rev-parse", "HEAD")
    noted = desk.note("Pulled")
    assert noted.turn is not None
    assert rebased != mine and theirs not in noted.turn.commits
    assert noted.turn.commits == (rebased,) and noted.turn.files == ("mine.txt",)


def test_a_second_start_says_which_session_is_open(desk: Desk) -> None:
    """A session ended silently takes its open items with it."""
    first = work.start(desk.clone(), objective="One")
    with pytest.raises(BadInput, match=f"{first.id} is open here: One"):
        work.start(desk.clone(), objective="Two")
    second = work.start(desk.clone(), objective="Two", again=True)
    old, new = session_files.find(desk.clone().layout, first.id), session_lookup.current(desk.clone())
    assert (old.state, old.ended_by) == ("ended", "again") and new is not None and new.id == second.id
    assert desk.events() == [("start", "One"), ("end", "One"), ("start", "Two")]


def test_a_note_without_a_session_starts_one(desk: Desk) -> None:
    """Nobody loses a turn for having forgotten a command."""
    clone = desk.clone()
    noted = work.note(clone, "Found the bug\nand more", open=["fix it"])
    assert noted.started and noted.session.objective == "Found the bug"
    assert any(noted.session.id in note for note in clone.notes)
    assert desk.note("Fixed it", close=["o1"]).session.id == noted.session.id
    assert desk.all()[0].still_open == ()


def test_sixteen_first_notes_make_one_session_of_sixteen_turns(desk: Desk) -> None:
    """Agents that start together must find one another's turns."""
    desk.clone().line()
    pids = []
    for number in range(16):
        if (pid := os.fork()) == 0:
            try:
                work.note(desk.clone(), f"turn {number}", open=[f"item {number}"])
                os._exit(0)
            finally:
                os._exit(1)
        pids.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * 16
    (session,) = desk.all()
    assert sorted(turn.summary for turn in session.turns) == sorted(f"turn {n}" for n in range(16))
    assert len(session.still_open) == 16 and [action for action, _ in desk.events()] == ["start"]


def test_a_note_in_the_middle_of_a_rebase_stays_in_the_session(desk: Desk) -> None:
    """While git replays commits HEAD is on no branch; the work is still the branch's."""
    desk.repo.git("switch", "-q", "-c", "work")
    first = desk.note("Before").session
    desk.repo.commit("f.txt", "ours\n")
    desk.repo.git("switch", "-q", "main")
    desk.repo.commit("f.txt", "theirs\n")
    desk.repo.git("switch", "-q", "work")
    desk.repo.git("rebase", "-q", "main", ok=False)
    noted = desk.note("In the middle of a conflict")
    assert noted.session.id == first.id and noted.turn is not None and noted.turn.anchor.branch == "work"


def test_a_branch_change_starts_a_linked_session_and_ends_nothing(desk: Desk) -> None:
    """What was open on the other branch is still open there, and nothing of it appears here."""
    first = work.start(desk.clone(), objective="On main")
    desk.note("A turn", open=["left on main"])
    name = "feature/" + "ž" * 80 + "/" + "x" * 60
    desk.repo.git("switch", "-q", "-c", name)
    clone = desk.clone()
    noted = work.note(clone, "Elsewhere")
    old, new = session_files.find(clone.layout, first.id), noted.session
    assert (old.state, old.next, new.previous) == ("open", (new.id,), first.id)
    assert new.open == () and new.started.branch == name
    assert any(first.id in note and new.id in note and "main" in note for note in clone.notes)
    assert desk.note("Still here").session.id == new.id
    desk.repo.git("switch", "-q", "main")
    back = desk.note("Back again", close=["o1"])
    assert back.session.id == first.id and back.turn is not None and back.turn.n == 2
    assert ("link", f"goes on from {first.id}") in desk.events()


def test_a_note_for_a_session_of_another_branch_goes_where_the_work_is(desk: Desk) -> None:
    """An agent that knows only its session's id must not anchor a turn to the wrong branch."""
    first = work.start(desk.clone(), objective="On main")
    desk.repo.git("switch", "-q", "--detach")
    noted = desk.note("Bisecting", session=first.id)
    assert noted.started and noted.session.previous == first.id and noted.session.branch is None
    assert "_detached-" in session_files.path_of(desk.clone().layout, noted.session.id)
    clone = desk.clone()
    assert work.note(clone, "More", session=first.id).session.id == noted.session.id
    assert any("another branch" in note for note in clone.notes)


def test_a_renamed_branch_keeps_its_session(desk: Desk) -> None:
    """The line survives a rename, and so does the work on it."""
    desk.repo.git("switch", "-q", "-c", "draft")
    first = desk.note("One").session
    desk.repo.git("branch", "-m", "final")
    noted = desk.note("Two")
    assert noted.session.id == first.id and noted.session.updated.branch == "final"


def test_each_work_tree_has_a_session_of_its_own(desk: Desk, tmp_path: Path) -> None:
    """Two agents in two work trees must not write into each other's turns."""
    here = desk.note("In the main one").session
    desk.repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    clone = desk.clone(tmp_path / "side")
    there = work.note(clone, "In the other")
    assert there.session.id != here.id and there.session.worktree == "side" and there.session.previous is None
    with pytest.raises(BadInput, match="another work tree"):
        work.note(desk.clone(), "x", session=there.session.id)


def test_secrets_are_gone_before_the_first_write(desk: Desk) -> None:
    """A key in a scratchpad lies on the disk for as long as the session."""
    work.start(desk.clone(), objective=f"use {FAKE_KEY}")
    texts = {name: [f"{name} {FAKE_KEY}"] for name in ("open", "follow_ups", "approvals", "decisions", "commands")}
    desk.note(f"ran with {FAKE_KEY}", scratchpad=f"token={FAKE_KEY}", **texts)
    desk.note("x", files=[f"src/{FAKE_KEY}.py"])
    work.end(desk.clone(), summary=f"over {FAKE_KEY}", reason=f"by {FAKE_KEY}")
    private = Path(desk.clone().private.private)
    for path in (p for p in private.rglob("*") if p.is_file()):
        assert FAKE_KEY.encode() not in path.read_bytes(), path


def test_a_scanner_that_fails_stores_nothing(desk: Desk) -> None:
    """Better no note than one nobody looked through."""

    class Broken(Scanner):
        def value(self, value: Any) -> Any:  # noqa: ARG002
            raise ScanFailed("the scanner could not answer")

    with pytest.raises(ScanFailed):
        work.note(desk.clone(scan=Broken()), "text")
    assert desk.all() == []


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"summary": "x" * 20_001},
        {"summary": "ok", "open": [" "]},
        {"summary": "ok", "open": ["x" * 4_001]},
        {"summary": "ok", "scratchpad": "x" * 200_001},
        {"summary": "ok", "run": "no/run"},
        {"summary": "ok", "commands": [""]},
        {"summary": "ok", "task": "nobody"},
        {"summary": "ok", "close": ["o1"]},
    ],
)
def test_a_bad_note_is_refused_before_anything_is_written(desk: Desk, given: dict[str, Any]) -> None:
    """A refusal that left a session behind would be found open forever."""
    with pytest.raises((BadInput, TooLarge, NotFound)):
        work.note(desk.clone(), given.pop("summary", ""), **given)
    assert desk.all() == []


def test_approvals_go_from_pending_to_an_answer(desk: Desk) -> None:
    """An agent must not ask twice, nor take a no for a yes."""
    desk.note("Asked", approvals=["drop the table", "push to main", "Drop  the TABLE"])
    session = desk.note("Answered", granted=["a2"], denied=["a1"]).session
    assert [(one.id, one.state) for one in session.approvals] == [("a1", "denied"), ("a2", "granted")]


def test_a_new_session_goes_on_from_the_last_of_its_line(desk: Desk) -> None:
    """Without the link nobody finds what the one before left open."""
    first = work.start(desk.clone(), objective="One")
    work.end(desk.clone())
    desk.repo.git("switch", "-q", "-c", "topic")
    beside = work.start(desk.clone(), objective="Beside")
    work.end(desk.clone())
    desk.repo.git("switch", "-q", "main")
    second = work.start(desk.clone(), objective="Two")
    third = work.start(desk.clone(), objective="Three", again=True)
    work.end(desk.clone())
    fourth = desk.note("Four").session
    found = [(one.previous, one.next) for one in desk.all()]
    assert beside.previous is None
    assert found == [
        (None, (second.id,)),
        (None, ()),
        (first.id, (third.id,)),
        (second.id, (fourth.id,)),
        (third.id, ()),
    ]


def test_what_an_ended_session_left_can_be_closed_from_the_next(desk: Desk) -> None:
    """An open item that nobody can close is told for ever."""
    first = desk.note("n1", open=["fix the leak"], approvals=["drop it?", "push?"], follow_ups=["tidy"]).session
    work.end(desk.clone())
    second = desk.note("n2", close=[f"{first.id}:o1"], granted=[f"{first.id[4:]}:A1"])
    assert second.started and second.session.previous == first.id
    alone = desk.note(close=[f"{first.id}:f1"], denied=[f"{first.id}:a2"])
    assert (alone.session.id, alone.turn, alone.started) == (first.id, None, False)
    old = session_files.find(desk.clone().layout, first.id)
    assert (old.state, old.still_open, old.still_to_follow) == ("ended", (), ())
    assert [one.state for one in old.approvals] == ["granted", "denied"]
    for wrong in (f"{first.id}:o9", "SES-nobody:o1", ":o1"):
        with pytest.raises(NotFound):
            desk.note("n3", close=[wrong])
    assert len(session_files.find(desk.clone().layout, second.session.id).turns) == 1


def test_a_recorded_run_is_in_the_session_and_its_turn(desk: Desk) -> None:
    """What failed must still be known when the agent's window is gone."""
    work.start(desk.clone(), objective="Test")
    clone = desk.clone()
    code = "open('made.txt','w').write('x'); raise SystemExit(3)"
    outcome = run_command(clone, [sys.executable, "-c", code], environ=os.environ, cwd=str(desk.repo.path))
    work.record_run(clone, outcome)
    session = session_lookup.current(desk.clone())
    assert session is not None and session.files == ("made.txt",)
    assert (session.commands[0].run, session.commands[0].exit_status) == (outcome.run_id, 3)
    noted = desk.note("It failed", commands=["git diff"])
    assert noted.turn is not None
    assert [one.exit_status for one in noted.turn.commands] == [3, None]
    later = desk.note("Next")
    assert later.turn is not None and later.turn.commands == () and len(later.session.commands) == 2


def test_a_run_without_a_session_is_no_matter(desk: Desk) -> None:
    """`holdfast run` must not fail for want of a session."""
    clone = desk.clone()
    assert work.record_run(clone, run_command(clone, ["true"], environ=os.environ)) is None
    Path(clone.layout.sessions).write_text("a file in the way")
    assert work.record_run(clone, run_command(clone, ["true"], environ=os.environ)) is None
    Path(clone.layout.sessions).unlink()


def test_the_hooks_commit_is_added_once(desk: Desk) -> None:
    """The hook's pointer and the next turn tell of the same commit."""
    name = work.start(desk.clone(), objective="x").id
    oid = desk.repo.commit("a.txt")
    work.record_commit(desk.clone(), name, oid, branch="main")
    session = work.record_commit(desk.clone(), name, oid)
    assert session.commits == (oid,) and session.updated.commit == oid
    noted = desk.note("Said so")
    assert noted.session.commits == (oid,) and noted.turn is not None and noted.turn.files == ("a.txt",)


def test_the_end_counts_what_git_holds(desk: Desk) -> None:
    """`what did it do?` is answered from git, not from what somebody says."""
    desk.repo.commit("a.txt", "one\ntwo\n")
    work.start(desk.clone(), objective="Count")
    first = desk.repo.commit("a.txt", "one\nthree\n")
    desk.note("Half")
    second = desk.repo.commit("b.txt", "x\n")
    gone = desk.repo.commit("c.txt")
    desk.note("Too much")
    desk.repo.git("reset", "-q", "--hard", "HEAD~1")
    desk.repo.write("d.txt", "later")
    ending = work.end(desk.clone(), summary="Done")
    assert ending.commits == (first, second) and gone in ending.session.commits
    assert (ending.files, ending.insertions, ending.deletions) == (("a.txt", "b.txt"), 2, 1)
    assert ending.uncommitted == ("d.txt",)
    assert (ending.session.state, ending.session.summary, ending.session.ended_by) == ("ended", "Done", "ended")
    with pytest.raises(NotFound):
        work.end(desk.clone())
    with pytest.raises(BadInput, match="has ended"):
        work.end(desk.clone(), session=ending.session.id)
    with pytest.raises(BadInput, match="has ended"):
        desk.note("x", session=ending.session.id)


def test_a_session_that_is_ended_from_elsewhere_ended_where_it_was(desk: Desk) -> None:
    """An end at another branch's commit makes its work look like part of that branch."""
    desk.repo.git("switch", "-q", "-c", "topic")
    first = desk.note("On topic").session
    last = desk.repo.commit("t.txt")
    desk.note("Committed")
    desk.repo.git("switch", "-q", "main")
    main = desk.repo.commit("m.txt")
    ended = work.end(desk.clone(), session=first.id, reason="dropped").session
    assert ended.ended is not None and ended.ended.ts >= ended.updated.ts
    assert (ended.ended.commit, ended.ended.branch) == (last, "topic")
    assert main not in ended.commits and ended.commits == (last,)


def test_pages_of_the_journal_are_nobodys_work(desk: Desk) -> None:
    """What Holdfast writes by itself must not count as what a session did."""
    work.start(desk.clone(), objective="x")
    desk.repo.write("docs/2026-11-15.md", "page")
    assert desk.note("One", journal="docs").session.files == ()
    desk.repo.commit("docs/2026-11-15-abc123.md")
    assert desk.note("Two", journal="docs").session.files == ()
    desk.repo.write("docs/mine.md", "mine")
    ending = work.end(desk.clone(), journal="docs")
    assert (ending.session.files, ending.uncommitted, ending.files) == (("docs/mine.md",), ("docs/mine.md",), ())


def test_a_session_may_begin_before_the_first_commit(tmp_path: Path) -> None:
    """Agents are started in empty folders."""
    repo = GitRepo(tmp_path / "new")
    repo.path.mkdir()
    repo.git("init", "-q", "-b", "main")
    desk = Desk(repo, str(tmp_path / "cache"), Clock())
    project_setup.initialise(str(repo.path), cache=desk.cache)
    work.start(desk.clone(), objective="Begin")
    oid = repo.commit("a.txt", "a\n")
    assert desk.note("First").session.commits == (oid,)
    assert work.end(desk.clone()).insertions == 1


def task(desk: Desk, name: str, **more: Any) -> str:
    """A started task."""
    made = task_lifecycle.add(desk.clone(), title=f"Do {name}", id=f"TSK-{name}", **more)
    task_lifecycle.start(desk.clone(), made.id, TaskWorker("ada", None))
    return made.id


def test_the_end_proposes_the_tasks_its_commits_speak_for(desk: Desk) -> None:
    """Done tasks that nobody marks make the roadmap lie; tasks marked by guess make it lie worse."""
    named, claimed, idle = task(desk, "named1"), task(desk, "claim1"), task(desk, "idle01")
    task_lifecycle.add(desk.clone(), title="Not started", id="TSK-open01")
    session = work.start(desk.clone(), objective="x", tasks=["claim1", "idle01"])
    one = desk.repo.commit("a.txt", message=f"Fix it ({named}), as TSK-open01 and {idle}x want")
    two = desk.repo.commit("b.txt")
    task_claims.add_commit(desk.clone().layout, claimed, two)
    ending = work.end(desk.clone())
    found = {proposal.task: proposal.commits for proposal in ending.proposals}
    assert found == {named: (one,), claimed: (two,)}
    assert session.tasks == (claimed, idle)
    assert all(t.status != "done" for t in task_board.read(desk.clone()).tasks)


def test_a_claim_of_another_branch_says_nothing_about_this_session(desk: Desk) -> None:
    """A commit that two branches share is evidence for whoever made it."""
    desk.repo.git("switch", "-q", "-c", "other")
    claimed = task(desk, "claim1")
    desk.repo.git("switch", "-q", "-c", "work")
    work.start(desk.clone(), objective="x")
    task_claims.add_commit(desk.clone().layout, claimed, desk.repo.commit("a.txt"))
    assert work.end(desk.clone()).proposals == ()


def test_the_only_task_of_a_session_gets_its_commits(desk: Desk) -> None:
    """Who says `session start --task` has said what the commits are for."""
    one = task(desk, "one001")
    work.start(desk.clone(), objective="x", tasks=[one])
    oid = desk.repo.commit("a.txt")
    desk.note("did", task="one0")
    ending = work.end(desk.clone())
    assert [(p.task, p.commits, p.why) for p in ending.proposals] == [(one, (oid,), "the session worked on it")]
    assert work.start(desk.clone(), objective="y", tasks=["TSK-elsewhere"]).tasks == ("TSK-elsewhere",)


def test_sessions_nobody_goes_on_with_are_listed(desk: Desk, tmp_path: Path) -> None:
    """Open sessions pile up unless somebody says so; deleted branches leave them behind."""
    first = desk.note("On main").session
    desk.repo.git("switch", "-q", "-c", "gone")
    second = desk.note("On a branch").session
    desk.repo.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    third = work.note(desk.clone(tmp_path / "side"), "Beside").session
    assert session_lookup.stale(desk.clone()) == []
    desk.repo.git("worktree", "remove", "--force", str(tmp_path / "side"))
    desk.repo.git("switch", "-q", "main")
    desk.repo.git("branch", "-D", "gone")
    why = {one.session.id: one.why for one in session_lookup.stale(desk.clone())}
    assert set(why) == {second.id, third.id} and "branch gone is gone" in why[second.id]
    desk.clock.passed = timedelta(days=8)
    assert "not updated since" in {one.session.id: one.why for one in session_lookup.stale(desk.clone())}[first.id]
    desk.repo.git("switch", "-q", "-c", "new")
    assert desk.note("After a week").session.previous is None


def test_a_session_can_be_edited_after_its_end(desk: Desk) -> None:
    """A summary with a mistake in it must not stay forever."""
    name = desk.note("One").session.id
    work.end(desk.clone())
    edited = work.edit(desk.clone(), name, summary="Better", scratchpad=f"was {FAKE_KEY}")
    assert (edited.summary, edited.state) == ("Better", "ended") and FAKE_KEY not in edited.scratchpad
    with pytest.raises(BadInput):
        work.edit(desk.clone(), name)


def test_a_session_found_without_a_name_is_the_open_one_else_the_last(desk: Desk) -> None:
    """`session show` after `session end` must still show something."""
    with pytest.raises(NotFound):
        session_lookup.find(desk.clone())
    name = desk.note("One").session.id
    work.end(desk.clone())
    assert session_lookup.find(desk.clone()).id == name == session_lookup.find(desk.clone(), name[4:8]).id


NOTE = """
import sys
from holdfast.capture import session_work
from holdfast.git.clone import Clone
clone = Clone.open(sys.argv[1], cache=sys.argv[2])
print(session_work.note(clone, "Inside").session.id)
"""


@needs_mounts
def test_a_sandbox_goes_on_in_a_store_of_its_own(desk: Desk) -> None:
    """Where .git is read-only, the session that is open there is named, and comes home afterwards."""
    first = desk.note("Outside").session
    shell = 'mount --bind .git .git && mount -o remount,ro,bind .git && exec "$@"'
    act = [sys.executable, "-c", NOTE, str(desk.repo.path), desk.cache]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", shell, "sh", *act], cwd=desk.repo.path, capture_output=True, check=True
    )
    inside = done.stdout.decode().strip()
    home = session_files.find(desk.clone().private, inside)
    assert home.previous == first.id and [turn.summary for turn in home.turns] == ["Inside"]
    assert desk.note("Outside again").session.id == inside  # the newer of two that are open here


def test_what_a_merge_or_a_rebase_brings_is_nobodys_turn_here(desk: Desk) -> None:
    """A session that claims other people's commits offers them as evidence for its own task."""
    repo = desk.repo
    repo.git("switch", "-q", "-c", "feature")
    work.start(desk.clone(), objective="work")
    desk.note("one")
    for way in (("merge", "-q", "-m", "joined"), ("rebase", "-q")):
        repo.git("switch", "-q", "main")
        others = repo.commit(f"others-{way[0]}")
        repo.git("switch", "-q", "feature")
        repo.commit(f"mine-{way[0]}")
        repo.git(*way, "main")
        told = desk.note(f"after {way[0]}").turn
        assert told is not None and told.commits, "its own commits are told"
        assert others not in told.commits


def test_a_session_refers_to_its_diff(desk: Desk) -> None:
    """Whoever reads the file must be able to see what was changed, without guessing from where to where."""
    begun = desk.repo.git("rev-parse", "HEAD")
    work.start(desk.clone(), objective="work")
    made = desk.repo.commit("made")
    name = desk.note("one").session.id

    told = json.loads(Path(session_files.path_of(desk.clone().layout, name)).read_text("utf-8"))["diff"]

    assert told == {"from": begun, "to": made}
