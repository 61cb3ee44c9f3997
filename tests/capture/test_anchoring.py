"""Law 6: a run cites the commit its agent stood on, or none; each test is a way to cite a wrong one."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.agents import dialect
from holdfast.capture.agents.transcript_reader import Dialect, TranscriptCounts, TranscriptReading
from holdfast.capture.ingest.intake import IntakeResult
from holdfast.model.transcript import Call, Result, TranscriptEdit, TranscriptOrigin, TranscriptStep, TranscriptTurn
from holdfast.store import session_files
from tests.git.place import Place, now
from tests.making import belongs, take_in

from .rollouts import Rollout, a_place, rollout

BEGIN = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=1)


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    made: Place = a_place(tmp_path, tmp_path_factory.getbasetemp() / "project")
    made.clock = lambda: now() + timedelta(hours=1)
    return made


def at(minutes: float) -> datetime:
    return BEGIN + timedelta(minutes=minutes)


def it_is(minutes: float) -> None:
    """What git does from now on, it does then."""
    when = f"{int(at(minutes).timestamp())} +0000"
    os.environ["GIT_COMMITTER_DATE"] = os.environ["GIT_AUTHOR_DATE"] = when


def commit(place: Place, name: str, minutes: float) -> str:
    it_is(minutes)
    return place.repo.commit(name)


def session(tmp_path: Path, cwd: Path, minutes: float, **git: str) -> Rollout:
    file = rollout(tmp_path / "codex-home", cwd, at=at(minutes), git=git)
    return file.asks(f"Look at {file.session}, please.").done(f"I have looked at {file.session}.")


def taken(place: Place, file: Rollout | Path, tool: Dialect | None = None) -> IntakeResult:
    path = file.path if isinstance(file, Rollout) else file
    found = take_in(place.open(), tool or dialect("codex"), str(path), ended=True)
    assert found is not None
    return found


def event(place: Place, done: IntakeResult) -> dict[str, Any]:
    clone = place.open()
    return next(clone.joined(one) for one in clone.all_events() if one.run_id == done.runs[0])


def cited(place: Place, file: Rollout | Path, tool: Dialect | None = None) -> tuple[str | None, str | None]:
    """The commit that a run of it cites, and how it was found."""
    done = taken(place, file, tool)
    return event(place, done)["head"], done.anchor


def one_turn(tmp_path: Path, turn: TranscriptTurn, **origin: Any) -> tuple[Path, Dialect]:
    """A tool that names no branch, and one transcript of it."""
    file = tmp_path / "transcript"
    file.write_text("x")
    os.utime(file, (at(59).timestamp(), at(59).timestamp()))

    def read(path: str, start: int, known: TranscriptOrigin | None) -> TranscriptReading:
        said = TranscriptOrigin(agent="gemini", session="g-1", **origin)
        return TranscriptReading(said, iter([turn]), TranscriptCounts())

    return file, Dialect("gemini", lambda _, home: home, lambda _: iter(()), lambda _: True, read)


# ── another clone ────────────────────────────────────────────────────────────────────────────────


def test_a_session_of_another_clone_is_not_found_in_this_ones_logs(place: Place, tmp_path: Path) -> None:
    """Two clones of one project: what was checked out there, this one's logs do not know."""
    place.git("remote", "add", "origin", "https://example.org/team/app.git")
    here = commit(place, "a", 1)
    other = tmp_path / "other"
    place.git("clone", "-q", str(place.repo.path), str(other))
    there = place.at(other)
    unpushed = commit(there, "b", 2)
    url = "https://example.org/team/app"

    def told(**git: str) -> tuple[str | None, str | None]:
        return cited(place, session(tmp_path, other, 5, branch="main", repository_url=url, **git))

    assert told(commit_hash=unpushed) == (None, None)
    assert told() == (None, None)
    assert told(commit_hash=here) == (here, "file"), "a commit that is here is the same commit"
    mine = session(tmp_path, place.repo.path, 5, branch="main", commit_hash=unpushed)
    assert cited(place, mine) == (None, None), "the folder is ours, and what stood there is not"


def test_commits_made_here_are_no_work_of_a_session_elsewhere(place: Place, tmp_path: Path) -> None:
    """Somebody commits here while an agent commits in another clone."""
    place.git("remote", "add", "origin", "https://example.org/team/app.git")
    git = {"branch": "main", "repository_url": "https://example.org/team/app"}
    file = rollout(tmp_path / "codex-home", tmp_path / "other", at=at(5), git=git).asks("Commit it, please.")
    it_is(5.05)
    place.repo.commit("a")
    file.runs("git commit -qam wip", "").done("Everything is committed.")
    assert event(place, taken(place, file))["receipts"] == []


# ── work trees and branches that are gone ────────────────────────────────────────────────────────


@pytest.mark.parametrize("named", [True, False])
def test_a_work_tree_that_was_removed_is_not_the_one_around_it(place: Place, tmp_path: Path, named: bool) -> None:
    """Agents work in trees of their own inside ours; squashed and removed, they were never on main."""
    commit(place, "a", 1)
    tree = place.repo.path / ".claude/worktrees/feat"
    it_is(2)
    place.git("worktree", "add", "-q", str(tree), "-b", "feat")
    commit(place.at(tree), "F", 3)
    it_is(10)
    place.git("worktree", "remove", "--force", str(tree))
    place.git("branch", "-q", "-D", "feat")
    edit = TranscriptEdit(path=str(tree / "F"), added=("one = 1",))
    call = Call(id="c", name="write", kind="edit", edits=(edit,), result=Result())
    step = TranscriptStep(id="s", ts=at(5).isoformat(), text="It is written.", calls=(call,))
    branch = "feat" if named else None
    turn = TranscriptTurn(key="t", prompt="Write it, please.", ts=at(5).isoformat(), steps=(step,), cwd=str(tree))
    done = taken(place, *one_turn(tmp_path, turn, cwd=str(tree), branch=branch))
    told = event(place, done)
    assert (done.anchor, told["head"], told["branch"]) == (None, None, branch)
    assert [one["path"] for one in told["artifacts"]] == ["F"]
    (kept,) = session_files.all(place.open().layout)
    assert kept.line == "elsewhere"


def test_a_removed_work_tree_whose_branch_lives_is_found_by_the_branch(place: Place, tmp_path: Path) -> None:
    """The branch's own log knows, wherever it was checked out."""
    tree = place.repo.path / ".claude/worktrees/feat"
    it_is(2)
    place.git("worktree", "add", "-q", str(tree), "-b", "feat")
    there = commit(place.at(tree), "F", 3)
    it_is(10)
    place.git("worktree", "remove", "--force", str(tree))
    assert cited(place, session(tmp_path, tree, 5, branch="feat")) == (there, "reflog")


def test_a_folder_that_is_gone_counts_only_if_git_had_it(place: Place, tmp_path: Path) -> None:
    """Nobody can tell what a folder was that is not there any more, but git, if it was git's."""
    known = commit(place, "docs/a", 1)
    it_is(6)
    place.git("rm", "-q", "-r", "docs")
    place.git("commit", "-q", "-m", "without docs")
    top = place.repo.path
    assert cited(place, session(tmp_path, top / "docs", 5, branch="main")) == (known, "reflog")
    assert cited(place, session(tmp_path, top / "scratch", 5, branch="main")) == (None, None)


def test_a_branch_that_head_was_not_on_is_not_told_by_heads_log(place: Place, tmp_path: Path) -> None:
    """The agent says it was on feat; HEAD's log says main. One of them is about something else."""
    commit(place, "a", 1)
    place.git("branch", "side")
    for branch in ("feat", "side"):
        assert cited(place, session(tmp_path, place.repo.path, 5, branch=branch)) == (None, None)


def test_heads_log_still_knows_a_branch_that_was_deleted(place: Place, tmp_path: Path) -> None:
    """Merged branches are deleted; what was done on them stood on their commits."""
    it_is(1)
    place.git("switch", "-q", "-c", "feat")
    there = commit(place, "F", 2)
    it_is(10)
    place.git("switch", "-q", "main")
    place.git("branch", "-q", "-D", "feat")
    assert cited(place, session(tmp_path, place.repo.path, 5, branch="feat")) == (there, "reflog")


@pytest.mark.parametrize("how", ["-m", "-c"])
def test_a_branch_that_got_its_name_later_is_another(place: Place, tmp_path: Path, how: str) -> None:
    """feat is deleted, and another branch is renamed to it, or copied: its log is the other's."""
    tree = place.repo.path / ".claude/worktrees/feat"
    it_is(1)
    place.git("worktree", "add", "-q", str(tree), "-b", "feat")
    commit(place.at(tree), "F", 2)
    place.git("switch", "-q", "-c", "tmp")
    later = commit(place, "T", 3)
    it_is(10)
    place.git("worktree", "remove", "--force", str(tree))
    place.git("branch", "-q", "-D", "feat")
    place.git("branch", how, "tmp", "feat")
    place.git("switch", "-q", "feat")
    assert cited(place, session(tmp_path, tree, 5, branch="feat")) == (None, None)
    assert cited(place, session(tmp_path, place.repo.path, 15, branch="feat")) == (later, "reflog")


# ── history, where logs do not reach back ────────────────────────────────────────────────────────


def forget(place: Place) -> None:
    place.git("reflog", "expire", "--expire=now", "--all")


def test_history_tells_where_a_branch_stood_if_it_only_grew(place: Place, tmp_path: Path) -> None:
    """Logs expire after 90 days; a branch of one's own that only grew stood on its last commit."""
    first = commit(place, "a", 1)
    second = commit(place, "b", 10)
    forget(place)
    assert cited(place, session(tmp_path, place.repo.path, 5, branch="main")) == (first, "history")
    assert cited(place, session(tmp_path, place.repo.path, 15, branch="main")) == (second, "history")


@pytest.mark.parametrize("rewrite", [("commit", "--amend", "-q", "-m", "again"), ("rebase", "-q", "-f", "@~1")])
def test_history_that_was_rewritten_tells_nothing(place: Place, tmp_path: Path, rewrite: tuple[str, ...]) -> None:
    """After an amend or a rebase the commit that was there then is gone from the branch."""
    commit(place, "a", 1)
    commit(place, "b", 3)
    os.environ["GIT_COMMITTER_DATE"] = f"{int(at(10).timestamp())} +0000"
    del os.environ["GIT_AUTHOR_DATE"]
    place.git(*rewrite)
    forget(place)
    assert cited(place, session(tmp_path, place.repo.path, 5, branch="main")) == (None, None)


# ── whose commits ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("command", "counts"),
    [
        ("cat f", False),
        ("git log --grep commit", False),
        ("git status", False),
        ("git commit -qam wip", True),
        ("cd sub && git -C .. -c user.name='A B' --no-pager commit -qam wip", True),
    ],
)
def test_a_commit_is_the_agents_if_its_git_made_it(place: Place, tmp_path: Path, command: str, counts: bool) -> None:
    """A person commits while an agent reads a file: the commit is the person's."""
    file = rollout(tmp_path / "codex-home", place.repo.path, at=at(5), git={"branch": "main"})
    file.asks("Do it, please.").runs(command, "").runs("ls").later(180).done("It is done now.")
    it_is(5 + 2 / 60)
    oid = place.repo.commit("a")
    it_is(6)
    place.repo.commit("b")
    assert event(place, taken(place, file))["receipts"] == ([f"commit:{oid}"] if counts else [])


# ── clocks, folders and texts that cannot be true ────────────────────────────────────────────────


def test_a_moment_that_has_not_come_is_no_evidence(place: Place, tmp_path: Path) -> None:
    """A clock ran ahead for a day; its session must neither cite today's commit nor lead for ever."""
    head = commit(place, "a", 1)

    def ahead(**git: str) -> tuple[dict[str, Any], IntakeResult]:
        file = session(tmp_path, place.repo.path, 60 * 24 * 365 * 70, branch="main", **git)
        os.utime(file.path, (at(5).timestamp(), at(5).timestamp()))
        done = taken(place, file)
        return event(place, done), done

    told, done = ahead()
    assert (told["head"], done.anchor) == (None, None)
    assert ahead(commit_hash=head)[1].anchor == "file", "the transcript says it, whatever the clock said"
    assert told["run_id"][:4] == told["ts"][:4] == str(at(5).year)
    last = datetime.fromisoformat(max(one.updated.ts for one in session_files.all(place.open().layout)))
    assert last <= at(5) + timedelta(seconds=2)


def test_a_transcript_without_times_is_not_looked_up_by_its_file(place: Place, tmp_path: Path) -> None:
    """A copied file is as young as the copy."""
    commit(place, "a", 1)
    turn = TranscriptTurn(key="t", prompt="Which one?", steps=(TranscriptStep(id="s", text="That one."),))
    assert cited(place, *one_turn(tmp_path, turn, cwd=str(place.repo.path), branch="main")) == (None, None)


def test_a_work_tree_of_another_repository_inside_ours_is_not_ours(place: Place, tmp_path: Path) -> None:
    """Vendored code is somebody else's project, also if it is a work tree of it."""
    clone = place.open()
    other, sub = Place.make(tmp_path / "elsewhere/other"), place.repo.path / "sub"
    vendored = place.repo.path / "vendored"
    other.git("worktree", "add", "-q", str(vendored), "-b", "vendored")
    source = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add")
    place.git(*source, str(other.repo.path), str(sub))

    def is_ours(cwd: Path) -> bool:
        return belongs(clone, TranscriptOrigin(agent="codex", session="s", cwd=str(cwd)))

    assert (is_ours(vendored), is_ours(vendored / "src"), is_ours(sub)) == (False, False, True)
    head = commit(place, "a", 1)
    assert cited(place, session(tmp_path, place.repo.path, 5, branch="main")) == (head, "reflog")
    assert cited(place, session(tmp_path, sub, 5, branch="main")) == (None, None), "it has its own history"


def test_a_text_that_is_no_path_is_nobodys_folder(place: Place, tmp_path: Path) -> None:
    """One odd value in one transcript must not end the import of all others."""
    clone, top = place.open(), str(place.repo.path)
    for text in ("/w/a\0b", "a\0b", "/w/\ud800", "\ud800", "file:///w/a\0b", "\0"):
        nowhere = TranscriptOrigin(agent="codex", session="s", cwd=text, remote=text, commit=text, branch=text)
        assert not belongs(clone, nowhere)
        assert not belongs(clone, TranscriptOrigin(agent="codex", session="s", cwd=top + text))
    odd = "/w/a\0b"  # a reader of transcripts lets no lone surrogate through
    edit = TranscriptEdit(path=odd, added=("one = 1",))
    call = Call(id="c", name="write", kind="edit", edits=(edit,), result=Result())
    step = TranscriptStep(id="s", ts=at(5).isoformat(), text="It is written.", calls=(call,))
    turn = TranscriptTurn(key="t", prompt="Write it.", ts=at(5).isoformat(), steps=(step,), cwd=odd, branch=odd)
    origin = {"cwd": odd, "remote": odd, "commit": odd, "branch": odd}
    assert cited(place, *one_turn(tmp_path, turn, **origin)) == (None, None)
