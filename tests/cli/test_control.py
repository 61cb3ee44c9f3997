"""`reset` and `prune` at the command line, and what is there when a feature is switched off."""

import json

import pytest

from holdfast.errors import BadInput, NeedsConfirmation, NotFound, SwitchedOff
from tests.conftest import Cli, GitRepo, grown, init


def _begin(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    repo.git("switch", "-q", "-c", "work")
    cli("task", "add", "Write it", "--id", "TSK-one")
    cli("task", "add", "Test it", "--id", "TSK-two", "--needs", "TSK-one")
    cli("link", "add", "README", "--title", "Start here")
    cli("session", "start", "write and test it")


@pytest.fixture
def ready(cli: Cli, repo: GitRepo) -> Cli:
    """A project on a branch with two tasks, a link and a session."""
    return grown(_begin, cli, repo)


def names(cli: Cli) -> set[str]:
    return {row["id"] for row in json.loads(cli("task", "list", "--json").out)["items"]}


def sessions(cli: Cli) -> int:
    return len(list((cli.cwd / ".git/holdfast/sessions").glob("*.json")))


def test_a_reset_says_what_it_took_and_how_to_have_it_back(ready: Cli) -> None:
    """Whoever is frightened by the answer must find the way back in it."""
    out = ready("reset", "all", "--yes").out
    assert out.startswith("Removed 1 session, 2 tasks, 1 link")
    assert "holdfast publish" in out and out.endswith("Undo it with: holdfast reset --undo\n")
    assert names(ready) == set() and sessions(ready) == 0

    assert ready("reset", "--undo").out.startswith("Restored 1 session, 2 tasks")
    assert names(ready) == {"TSK-one", "TSK-two"} and sessions(ready) == 1


def test_nothing_is_reset_unless_somebody_agrees(ready: Cli) -> None:
    """A script that forgot --yes must not empty the board."""
    answer = ready("reset", "all", ok=False)
    assert answer.code == NeedsConfirmation.code and "--yes" in answer.err
    assert len(names(ready)) == 2


@pytest.mark.parametrize("args", [[], ["memory"], ["tasks", "--undo"]])
def test_a_reset_of_nothing_or_of_something_else_is_wrong_usage(ready: Cli, args: list[str]) -> None:
    """A typo must not be guessed at."""
    assert ready("reset", *args, "--yes", ok=False).code == 2
    assert len(names(ready)) == 2


def test_undo_with_nothing_to_undo_is_said(ready: Cli) -> None:
    """Silence would look like success."""
    assert ready("reset", "--undo", ok=False).code == NotFound.code


def test_json_tells_the_same(ready: Cli) -> None:
    """Tools must be able to take it back, too."""
    done = json.loads(ready("reset", "tasks", "--yes", "--json").out)
    assert (done["v"], done["tasks"], done["links"], done["sessions"]) == (1, 2, 1, 0)
    back = json.loads(ready("reset", "--undo", "--json").out)
    assert (back["id"], back["tasks"], back["left"]) == (done["id"], 2, [])


def test_a_reset_leaves_git_as_it_was(ready: Cli, repo: GitRepo) -> None:
    """A cache is nobody's commit."""
    ready("publish")
    before = repo.git("rev-parse", "HEAD")
    ready("reset", "all", "--yes")
    assert (repo.git("rev-parse", "HEAD"), repo.status()) == (before, "")
    ready("reset", "--undo")
    assert repo.status() == ""
    ready("publish")
    assert repo.git("diff", "--stat", before, "--", ".holdfast/tasks", ".holdfast/links") == ""


def test_a_prune_says_first_what_would_go(ready: Cli) -> None:
    """Deleting for good needs eyes before hands."""
    ready("session", "end")
    assert "Nothing to delete is older" in ready("prune", "--dry-run").out
    said = ready("prune", "--older-than", "0d", "--dry-run")
    assert said.out.startswith("Would delete 1 session") and sessions(ready) == 1
    assert ready("prune", "--older-than", "0d", ok=False).code == NeedsConfirmation.code
    assert sessions(ready) == 1
    done = json.loads(ready("prune", "--older-than", "0d", "--yes", "--json").out)
    assert done["done"] and [row["kind"] for row in done["spares"]] == ["session"]
    assert sessions(ready) == 0


def test_an_open_session_is_never_pruned(ready: Cli) -> None:
    """Somebody works there."""
    assert "Nothing to delete is older" in ready("prune", "--older-than", "0d", "--yes").out
    assert ready("prune", "--older-than", "soon", ok=False).code == BadInput.code
    assert sessions(ready) == 1


# Features that are switched off.


def switched_off(cli: Cli, repo: GitRepo, feature: str) -> Cli:
    init(cli.cwd, commit=True)
    repo.git("switch", "-q", "-c", "work")
    settings = repo / ".holdfast/holdfast.toml"
    settings.write_text(f"[features]\n{feature} = false\n" + settings.read_text())
    repo.git("commit", "-qam", f"without {feature}")
    return cli


def files(repo: GitRepo) -> set[str]:
    """Everything that lies in the store and below .holdfast."""
    tops = (repo / ".holdfast", repo / ".git/holdfast")
    found = (path for top in tops for path in top.rglob("*") if path.is_file())
    return {str(path.relative_to(repo.path)) for path in found}


@pytest.mark.parametrize(
    ("feature", "args"),
    [
        ("tasks", ["task", "add", "x"]),
        ("tasks", ["tasks"]),
        ("tasks", ["next"]),
        ("tasks", ["link", "add", "README"]),
        ("sessions", ["session", "start", "x"]),
        ("sessions", ["session", "note", "x"]),
        ("sessions", ["hooks", "install"]),
        ("journal", ["journal"]),
    ],
)
def test_what_is_switched_off_refuses_in_one_sentence(cli: Cli, repo: GitRepo, feature: str, args: list[str]) -> None:
    """Who switched it off wants no trace of it; who did not must learn where."""
    switched_off(cli, repo, feature)
    answer = cli(*args, ok=False)
    assert answer.code == SwitchedOff.code, answer
    assert feature in answer.err and "holdfast.toml" in answer.err


@pytest.mark.parametrize(
    ("feature", "traces"),
    [
        ("tasks", (".holdfast/tasks/", ".holdfast/links/", ".git/holdfast/claims/")),
        ("sessions", (".git/holdfast/sessions/", ".git/holdfast/hook.py", ".git/holdfast/inbox/")),
        ("journal", (".holdfast/view/journal/",)),
    ],
)
def test_what_is_switched_off_leaves_no_files(cli: Cli, repo: GitRepo, feature: str, traces: tuple[str, ...]) -> None:
    """Off means off: no files, no hooks."""
    switched_off(cli, repo, feature)
    cli("status")
    cli("context")
    cli("run", "--", "true")
    cli("remember", "Tests need Postgres 16.", "--evidence", "README")
    if feature != "sessions":
        cli("session", "start", "something else")
        cli("session", "note", "a step")
    if feature != "tasks":
        cli("task", "add", "something else")
    repo.commit("more.txt")
    cli("status")
    cli("publish")
    left = [path for path in files(repo) if path.startswith(traces)]
    assert left == []
    if feature == "sessions":
        assert [path.name for path in (repo / ".git/hooks").glob("*") if path.suffix != ".sample"] == []


def test_what_is_switched_off_later_takes_its_hooks_and_views_along(cli: Cli) -> None:
    """A team that switches it off must not find hooks firing and pages growing old."""
    cli("init", "--commit", "--hooks")
    cli("task", "add", "one")
    cli("session", "note", "one")
    (cli.cwd / ".holdfast/holdfast.toml").write_text("[features]\ntasks = false\nsessions = false\njournal = false\n")

    said = cli("status")

    assert "hooks were removed" in said.err
    assert not (cli.cwd / ".git/hooks/post-commit").exists()
    assert not (cli.cwd / ".holdfast/view/project_state.json").exists()
    assert not (cli.cwd / ".holdfast/view/journal").exists()
