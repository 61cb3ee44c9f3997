"""`holdfast reconcile` as people type it: what moved, what is left to choose, and choosing by option."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Cli, GitRepo, grown, init


def _leave(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "feat")
    cli("session", "start", "Build the parser")
    cli("session", "note", "Began.", "--open", "finish the lexer")
    repo.git("switch", "-q", "main")


@pytest.fixture
def left(cli: Cli, repo: GitRepo) -> Cli:
    """A session was left open on feat; this is main."""
    return grown(_leave, cli, repo)


def test_the_next_command_says_what_was_left_and_reconcile_explains(left: Cli) -> None:
    """Whoever changes branches in the middle of work must hear of it without asking."""
    said = left("facts").err
    assert "this work tree is on main now; it was on feat" in said
    assert "is open on feat" in said
    assert "holdfast reconcile" in said
    assert "this work tree" not in left("facts").err, "once"
    told = left("reconcile").out
    assert told.startswith("Git moved:\n")
    assert "\n  this work tree is on main now; it was on feat\n" in told
    assert "Left open when the branch changed:" in told
    assert "is open on feat: Build the parser (1 open item)" in told
    assert "--fork" in told
    again = left("reconcile").out
    assert "Git moved" not in again, "told before"
    assert again == "Nothing new.\n1 thing shown before: holdfast reconcile --all\n"
    assert "Left open when the branch changed:" in left("reconcile", "--all").out, "still to choose"
    assert json.loads(left("reconcile", "--json").out)["needs_choice"] is True


def test_reconcile_as_an_object_keeps_its_fields(left: Cli) -> None:
    """Tools rely on gone and orphans; the rest was added."""
    found = json.loads(left("reconcile", "--json").out)
    assert (found["v"], found["id"], found["gone"]) == (1, None, [])
    assert found["needs_choice"] is True
    assert [move["kind"] for move in found["moves"]] == ["branch", "branch"]
    assert (found["moves"][1]["from"], found["moves"][1]["to"]) == ("refs/heads/feat", "refs/heads/main")
    assert found["sessions"][0]["open"] == ["finish the lexer"]
    for name in ("tasks", "stranded", "cited", "branches", "links", "conflicts"):
        assert found[name] == [], name


@pytest.mark.parametrize(
    ("option", "says", "state"),
    [("--fork", "stays open on feat", "open"), ("--carry", "ended on feat", "ended"), ("--drop", "ended", "ended")],
)
def test_each_choice_is_one_option(left: Cli, option: str, says: str, state: str) -> None:
    """No terminal, no question: the option is the answer."""
    assert says in left("reconcile", option).out
    listed = json.loads(left("session", "list", "--json").out)["items"]
    assert {one["state"] for one in listed if "feat" in json.dumps(one["branch"])} == {state}
    assert "Left open" not in left("reconcile", "--all").out
    assert left("reconcile", option, ok=False).code == 13, "nothing is left to choose"


@pytest.mark.parametrize("option", ["--fork", "--carry", "--drop", "--all"])
def test_an_answer_is_not_followed_by_the_question(left: Cli, option: str) -> None:
    """Told to run the command that one has just run, one doubts that it worked."""
    assert left("reconcile", option).err == ""


def test_two_questions_are_answered_one_by_one(left: Cli, repo: GitRepo) -> None:
    """Whoever gives up some changes must not lose a session with them."""
    repo.git("switch", "-q", "-c", "more")
    repo.commit("a")
    left("task", "add", "Later idea")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    session = json.loads(left("session", "list", "--json").out)["items"][0]["id"]
    for option in ("--drop", "--carry"):
        refused = left("reconcile", option, ok=False)
        assert refused.code != 0
        assert f"{option} {session}" in refused.err
        assert f"{option} changes" in refused.err
    assert "set aside: .holdfast/tasks/later-idea" in left("reconcile", "--drop", "changes").out
    assert json.loads(left("session", "list", "--json").out)["items"][0]["state"] == "open"
    assert "Later idea" not in left("tasks").out
    repo.git("reset", "-q", "--hard", "ORIG_HEAD")
    assert "--carry changes" in left("publish", "--restore").err
    assert "Restore it with --carry changes" in left("reconcile").out
    assert "waits again: .holdfast/tasks/later-idea" in left("reconcile", "--carry", "changes").out
    assert "Later idea" in left("tasks").out
    assert "ended" in left("reconcile", "--drop", session).out
    assert left("reconcile", "--carry", "changes", ok=False).code == 13


def test_options_do_not_go_together(left: Cli) -> None:
    """Two wishes at once are none."""
    answer = left("reconcile", "--fork", "--drop", ok=False)
    assert answer.code == 2
    assert "do not go together" in answer.err


def test_a_lost_line_is_still_named_after_the_option(left: Cli, repo: GitRepo) -> None:
    """`--carry LINE` and `--drop LINE` mean what they always meant."""
    repo.git("switch", "-q", "-c", "gone")
    left("task", "add", "Lost work")
    repo.git("switch", "-q", "main")
    repo.git("branch", "-q", "-D", "gone")
    assert "the deleted branch gone left" in left("reconcile").out
    carried = left("reconcile", "--carry", "gone").out
    assert carried.startswith("Taken over:")
    assert "Lost work" in left("tasks").out
    assert left("reconcile", "--drop", "gone", ok=False).code == 13


def test_a_branch_of_another_clone_was_not_deleted_here(cli: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """Whoever brings a colleague's store must not look for a branch that was never here."""
    init(cli.cwd, commit=True)
    name = "feature/" + "long-" * 30
    repo.git("switch", "-q", "-c", name)
    cli("task", "add", "Theirs")
    cli("export", str(tmp_path / "store"))
    repo.git("clone", "-q", "-b", "main", str(repo.path), str(tmp_path / "other"))
    other = Cli(tmp_path / "other", cli.env)
    other("import", str(tmp_path / "store"))
    [row] = [row for row in other("reconcile").out.splitlines() if "of another clone left" in row]
    assert "deleted" not in row
    assert len(row) < 140


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere file names must be UTF-8")
@pytest.mark.parametrize("name", [b"caf\xe9", "a\u0085b".encode(), "a\u2028b".encode()])
def test_a_branch_with_a_strange_name_is_not_taken_for_deleted(cli: Cli, repo: GitRepo, name: bytes) -> None:
    """Git takes any bytes for a name; whoever is offered to drop what waits there may lose work that lives."""
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", os.fsdecode(name))
    cli("remember", "Boats float.")
    line = json.loads(cli("status", "--json").out)["id"]
    assert json.loads(cli("status", "--json").out)["id"] == line, "the branch keeps its line"
    repo.git("switch", "-q", "main")
    assert json.loads(cli("reconcile", "--json").out)["orphans"] == []
    assert "Deleted branch" not in cli("status").out


def test_a_deleted_branch_names_what_it_alone_had_published(cli: Cli, repo: GitRepo) -> None:
    """`git branch -D` says nothing of the memories that only that branch had."""
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "feat")
    cli("task", "add", "Tar the hull", "--id", "tar")
    cli("publish")
    repo.git("switch", "-q", "main")
    repo.git("branch", "-q", "-D", "feat")
    said = cli("facts").err
    assert "feat left 2 published files that no branch has\n" in said and "holdfast reconcile" in said
    assert "the deleted branch feat left 2 published files that no branch has\n" in cli("reconcile").out
    assert json.loads(cli("reconcile", "--json").out)["orphans"][0]["published"] == 2
    cli("reconcile", "--carry", "feat")
    assert "Tar the hull" in cli("tasks").out
    assert cli("reconcile").out == "Nothing changed in git that needs a decision.\n"


def test_a_rewind_is_explained_and_undone_by_option(cli: Cli, repo: GitRepo) -> None:
    """`reset --hard HEAD~1` with a plan that came later: asked, set aside, still in the store."""
    init(cli.cwd, commit=True)
    repo.git("switch", "-q", "-c", "feat")
    repo.commit("a")
    cli("task", "add", "Later idea")
    repo.git("reset", "-q", "--hard", "HEAD~1")
    said = cli("tasks")
    assert "was reset" in said.err
    assert "came after this point of history" in said.err
    assert "Later idea" in said.out
    assert "Not published, and made after this commit:" in cli("reconcile").out
    assert "set aside: .holdfast/tasks/later-idea" in cli("reconcile", "--drop").out
    assert "Later idea" not in cli("tasks").out
    assert repo.status() == ""


def test_rewritten_commits_are_cited_anew_with_apply(cli: Cli, repo: GitRepo) -> None:
    """The evidence follows the commit."""
    init(cli.cwd, commit=True)
    repo.git("switch", "-q", "-c", "feat")
    old = repo.commit("a", "text\n" * 5)
    task = json.loads(cli("task", "add", "Work", "--json").out)["id"]
    cli("task", "done", task, "--evidence", old)
    repo.git("commit", "-q", "--amend", "-m", "better words")
    new = repo.git("rev-parse", "HEAD")
    told = cli("reconcile").out
    assert f"{old[:12]} is {new[:12]} now (map)" in told
    assert f"Cites the new commits: {task}" in cli("reconcile", "--apply").out
    assert json.loads(cli("task", "show", task, "--json").out)["evidence"] == [f"commit:{new}"]
    assert cli("reconcile", "--apply").out == "Nothing had to be changed.\n"


def test_where_nothing_moved_it_says_so(cli: Cli) -> None:
    """A short answer to a short question."""
    init(cli.cwd, commit=True)
    assert cli("reconcile").out == "Nothing changed in git that needs a decision.\n"


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals there")
def test_on_a_terminal_each_question_is_asked(left: Cli, repo: GitRepo) -> None:
    """Who sits there chooses; an answer that is none is asked again."""
    master, slave = os.openpty()
    asked = [sys.executable, "-m", "holdfast", "reconcile"]
    child = subprocess.Popen(asked, cwd=repo.path, stdin=slave, stdout=subprocess.PIPE, stderr=slave, text=True)
    os.close(slave)
    os.write(master, b"perhaps\ncarry\n")
    answer, _ = child.communicate(timeout=60)
    os.close(master)
    assert child.returncode == 0
    assert "Left open when the branch changed:" in answer
    assert "continues here" in answer
    assert "Left open" not in left("reconcile").out


def test_during_a_merge_the_current_branch_is_no_other_one(cli: Cli, repo: GitRepo) -> None:
    """Who settles a conflict would look for their work on a branch that they are on."""
    init(repo.path, commit=True)
    start = repo.git("branch", "--show-current").strip()
    repo.git("switch", "-qc", "side")
    repo.commit("file.txt", "side\n")
    cli("remember", "The side door is open.", "--evidence", "README")
    repo.git("switch", "-q", start)
    repo.commit("file.txt", "main\n")
    cli("task", "add", "Close the door")
    repo.git("merge", "side", ok=False)
    said = cli("reconcile").out
    assert "Git is in the middle of a merge" in said and "another branch" not in said
