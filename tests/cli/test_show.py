"""`holdfast show`: what people ask about one thing comes first, and what was erased is not told."""

import json
import shutil
from pathlib import Path

import pytest

from holdfast import Project
from tests.conftest import Cli, GitRepo, grown


def set_up(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "work")


@pytest.fixture
def ready(cli: Cli, repo: GitRepo) -> Cli:
    """A project on a branch, with Holdfast committed on main."""
    return grown(set_up, cli, repo)


def a_run(cli: Cli, script: str = "echo made > out.txt; echo swordfish") -> str:
    cli("run", "--task", "db", "--prompt", "mend it", "--", "sh", "-c", script)
    return str(json.loads(cli("log", "--json").out.splitlines()[-1])["run_id"])


def a_fact(cli: Cli, statement: str = "Tests need Postgres 16.") -> str:
    name = json.loads(cli("remember", statement, "--evidence", "README", "--json").out)["id"]
    cli("review", "accept", name)
    return str(name)


def test_a_run_begins_with_what_people_ask(ready: Cli) -> None:
    """Who looks a run up wants its task and its end, not hashes and Python's brackets."""
    out = ready("show", a_run(ready)).out
    asked = ("task:", "command:", "prompt:", "ended:", "when:", "branch:", "files:", "output:\n  swordfish")
    at = [out.index(word) for word in asked]
    assert at == sorted(at)
    assert not any(word in out for word in ("hash_self", "writer", "seq", "{", "None"))


def test_a_run_shows_the_end_of_what_it_printed(ready: Cli) -> None:
    """The last lines tell why it failed; all of them would bury that."""
    name = a_run(ready, r"seq 100; printf '\033[31mred\033[0m \033]0;title\007\n'")
    lines = ready("show", name).out.partition("Last output:\n")[2].splitlines()
    assert len(lines) == 20
    assert lines[0].strip() == "82"
    assert lines[-1].strip().startswith("red ⟨U+001B⟩]0;title⟨U+0007⟩")


def test_a_run_that_only_complained_shows_its_complaint(ready: Cli) -> None:
    """A command that fails at once says why on stderr."""
    assert "no such thing" in ready("show", a_run(ready, "echo no such thing >&2")).out


def test_calls_of_an_agent_read_as_one_would_type_them(ready: Cli, repo: GitRepo) -> None:
    """Who asks what an agent did wants the commands, not the names of their fields."""
    calls = [
        {"name": "update_plan"},
        {"name": "exec_command", "arguments": "pytest -q", "exit_status": 1},
        {"name": "exec_command", "arguments": "make", "exit_status": 0},
        {"tool": "grep", "hits": 3},
    ]
    name = Project.open(repo.path).write_log({"task": "mend", "tool_calls": calls})
    told = "update_plan; exec_command pytest -q (exit 1); exec_command make; tool grep, hits 3"
    assert f"tools:   {told}\n" in ready("show", name).out


def test_nothing_an_erased_run_said_is_shown(ready: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """The capsule may still lie here when the erasing event arrives; its secret must not be told."""
    name = a_run(ready)
    capsule = repo.path / ".git" / "holdfast" / "runs" / name
    shutil.copytree(capsule, tmp_path / "kept")
    ready("erase", name, "--yes")
    shutil.copytree(tmp_path / "kept", capsule)
    found = Project.look(repo.path).log.show(name)
    assert (found.text, found.printed, found.path) == (None, None, None)
    assert found.fields["body_state"] == "erased"
    out = ready("show", name).out
    assert "was erased" in out
    assert "swordfish" not in out
    assert ready("show", f"{name}:out.txt", ok=False).code == 13
    assert "`holdfast review list`" in ready("show", "nope", ok=False).err


def test_an_artifact_is_shown_by_the_name_recall_gives(ready: Cli) -> None:
    """What one command prints as an id, the next one must take."""
    run = a_run(ready)
    name = json.loads(ready("recall", "out", "--kind", "artifact", "--json").out)["items"][0]["id"]
    assert name == f"{run}:out.txt"
    out = ready("show", name).out
    assert out.rstrip().endswith("made")
    assert run in out
    assert Path(ready("show", name, "--path").out.strip()).read_text() == "made\n"
    assert json.loads(ready("show", name, "--json").out)["fields"]["sha256"]
    assert "produced no other.txt" in ready("show", f"{run}:other.txt", ok=False).err


def test_a_file_that_is_no_text_is_only_described(ready: Cli) -> None:
    """Bytes on a terminal help nobody."""
    run = a_run(ready, r"printf 'a\0b' > out.bin")
    shown = json.loads(ready("show", f"{run}:out.bin", "--json").out)
    assert shown["text"] is None
    assert shown["path"].endswith("out.bin")


def test_evidence_can_be_pasted_into_show(ready: Cli) -> None:
    """Facts cite `run:ID`; people copy that whole."""
    run = a_run(ready)
    assert ready("show", f"run:{run}").out == ready("show", run).out


def test_a_memory_of_another_branch_says_where_it_is(ready: Cli, repo: GitRepo) -> None:
    """Nobody must take a fact of another branch for one of this, nor think that it is lost."""
    name = a_fact(ready)
    repo.git("switch", "-q", "main")
    out = ready("show", name).out
    assert "Not of this branch: it waits to be published on work" in out
    assert "Fact: Tests need Postgres 16." in out
    repo.git("switch", "-q", "work")
    ready("publish")
    repo.git("switch", "-q", "main")
    out = ready("show", name).out
    assert f"Not of this branch: it is in commit {repo.git('rev-parse', 'work')[:12]} of work" in out
    assert "Fact: Tests need Postgres 16." in out


def test_a_fetched_memory_is_found_by_its_whole_id(ready: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """A colleague names a fact of their branch, which this clone only fetched."""
    name = a_fact(ready)
    ready("publish")
    repo.git("switch", "-q", "main")
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    theirs = Cli(tmp_path / "clone")
    assert "of origin/work" in theirs("show", name).out
    assert theirs("show", name[:-1], ok=False).code == 13


def test_a_deleted_memory_says_which_commit_had_it(ready: Cli, repo: GitRepo) -> None:
    """`git rm` takes a fact away; its words are still in history."""
    name = a_fact(ready)
    ready("publish")
    commit = repo.git("rev-parse", "HEAD")
    repo.git("rm", "-rq", ".holdfast/memory")
    repo.git("commit", "-qm", "no memory")
    assert f"No longer of this branch: commit {commit[:12]} had it" in ready("show", name).out


def test_a_task_is_shown_with_its_fields(ready: Cli) -> None:
    """What any id names can be looked up; a plan must not be the exception."""
    ready("task", "add", "Need", "--id", "n1")
    ready("task", "add", "Zebra stripes", "--id", "z1", "--priority", "0", "--scale", "0",
          "--accept", "it is striped", "--notes", "Black *and* white.", "--needs", "n1")  # fmt: skip
    rows = [" ".join(row.split()) for row in ready("show", "z1").out.splitlines()]

    assert rows[0] == "z1 task"
    for row in ("title: Zebra stripes", "status: open", "needs: n1", "priority: 0", "scale: 0",
                "done when: it is striped"):  # fmt: skip
        assert row in rows
    assert rows[-1] == "Black *and* white."
    assert "task add" in next(row for row in rows if row.startswith("history:"))
    assert json.loads(ready("show", "z1", "--json").out)["fields"]["title"] == "Zebra stripes"


def test_a_task_of_another_branch_is_shown_with_its_fields(ready: Cli, repo: GitRepo) -> None:
    """Who sees an id in a log must not have to find its branch first."""
    ready("task", "add", "Zebra stripes", "--id", "z1")
    repo.git("switch", "-q", "main")
    out = ready("show", "z1").out
    assert "Not of this branch" in out
    assert "Zebra stripes" in out and "status:" in out


def test_a_link_is_shown_with_its_target(ready: Cli) -> None:
    """A link whose target is not told leads nowhere."""
    ready("link", "add", "README", "--title", "Read first", "--id", "L-1")
    rows = [" ".join(row.split()) for row in ready("show", "L-1").out.splitlines()]
    assert {"title: Read first", "target: README", "kind: path"} <= set(rows)


def test_a_session_is_shown_with_its_turns_and_what_is_open(ready: Cli, repo: GitRepo) -> None:
    """The next one reads there what was meant, what was done and what is left."""
    name = json.loads(ready("session", "start", "Mend the parser", "--json").out)["id"]
    ready("session", "note", "Read the grammar", "--open", "write tests")
    out = ready("show", name).out
    assert out.splitlines()[0].split() == [name, "session"]
    assert "objective:" in out and "Mend the parser" in out
    assert "1. Read the grammar" in out
    assert "write tests" in out
    [file] = (repo.path / ".git" / "holdfast" / "sessions").glob("*.json")
    file.write_text("{")
    assert "broken:" in ready("show", name).out
