"""`holdfast crew`, as people see it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.crew.crew_journal import CrewBoard, CrewState, CrewStep
from holdfast.crew.crew_limits import CrewLimits
from holdfast.crew.crew_runs import Leftover
from holdfast.crew.historian import recap
from holdfast.interfaces.cli import crew_commands
from holdfast.interfaces.cli.output import as_text
from holdfast.model.task import Task
from tests.conftest import Cli, GitRepo, init
from tests.making import snapshot

SCREENS = Path(__file__).parent.parent / "golden" / "screens"
HEAD = {"run": "1118-ab12", "branch": "crew/1118-ab12/result", "base": "main"}
TITLES = {
    "sort-9f3a1c": "Sort the password",
    "docs-55ee1f": "Describe the token",
    "ship": "Ship it",
    "ask": "Choose a name",
    "late": "Later",
}
NEEDS = {"late": ("ship", "sort-9f3a1c")}
RECEIPT = {"check": "test", "command": "make test", "exit_status": 0, "tree": "5e" * 20, "seconds": 1.234}
RECEIPT["tail"] = "Traceback\n  line 1\nAssertionError: 3 is not 2\n"

INPUTS = {"title": "Sort the password", "checks": ["test"], "limits": {"attempts": 3.0, "tokens": None}, "told": []}
QUEUED = CrewStep(
    position=9, at=0, kind="queue", body={"task": "sort-9f3a1c", "attempt": 2, "inputs": INPUTS, "rows": [RECEIPT]}
)


def state() -> CrewState:
    """A crew in the middle of its work, with one of everything."""
    rows: list[tuple[str, dict[str, object]]] = [("plan", {"tasks": [*TITLES]})]

    def add(step: str, task: str, attempt: int = 1, **body: object) -> None:
        rows.append((step, {"task": task, "attempt": attempt, **body}))

    place = {"branch": "crew/1118-ab12/sort.2", "path": "p", "base": "b", "worker": "4711"}
    add("queue", "sort-9f3a1c", item="sort-9f3a1c/1")
    add("fail", "sort-9f3a1c", kind="check", why="the check test ended with 1: 3 is not 2", files=["sort.py"])
    add("queue", "sort-9f3a1c", 2, item="sort-9f3a1c/2")
    add("usage", "sort-9f3a1c", 2, tokens_in=12_000, tokens_out=345, calls=7, cost=0.5, seconds=42.4)
    add("finish", "sort-9f3a1c", 2, **place, commit="c0ffee" * 6, tree="5e" * 20, files=["sort.py"], receipts=[RECEIPT])
    add("merge", "sort-9f3a1c", 2, commit="c0ffee" * 6)
    add("queue", "docs-55ee1f", item="docs-55ee1f/1")
    add("fail", "docs-55ee1f", kind="agent", why="the agent ended with 1: no key")
    add("park", "docs-55ee1f", why="failed 3 times, at last: the agent ended with 1: no key")
    add("decide", "ask", why="there is no command for the check e2e")
    add("queue", "ship", item="ship/1")
    add("start", "ship", **place)
    rows.append(("note", {"said": "late waits for ship: both concern ship.sh"}))
    rows.append(("object", {"of": "sort-9f3a1c", "says": "It changes no test."}))
    rows.append(("lesson", {"of": 3, "memory": "DED-1"}))
    return CrewState().fold(CrewStep(position=n, at=0, kind=kind, body=body) for n, (kind, body) in enumerate(rows, 1))


LEFT = [
    Leftover(branch="crew/1118-ab12/sort.2", path="/w/sort.2", why="all its commits are in main", is_safe=True),
    Leftover(branch="crew/1118-ab12/docs.1", path=None, why="an attempt that is not in the result", is_safe=False),
]


def screens() -> dict[str, str]:
    board = CrewBoard(
        [Task(id=name, title=title, needs=NEEDS.get(name, ())) for name, title in TITLES.items()], state()
    )
    found = recap(HEAD, state(), board, reason=str(CrewLimits(time=60).over({"time": 61})))
    return {
        "crew-recap": crew_commands.recap_text(found),
        "crew-status": crew_commands.status_text(found, state()),
        "crew-clean": crew_commands.leftovers_text(LEFT),
        "crew-explain": crew_commands.explained_text(
            [*(step for step in state().failures if step.task == "sort-9f3a1c"), QUEUED]
        ),
    }


@pytest.mark.parametrize("name", ["crew-recap", "crew-status", "crew-clean", "crew-explain"])
def test_the_screens(name: str) -> None:
    """The recap is what people decide by; it takes a minute to read. An id beside "password" is no password."""
    assert "[redacted" not in as_text(screens()[name])
    assert screens()[name] == (SCREENS / f"{name}.txt").read_text()


@pytest.fixture
def here(cli: Cli, repo: GitRepo, world: Path) -> GitRepo:
    init(cli.cwd, commit=True)
    (world / ".config/holdfast").mkdir(parents=True)
    (world / ".config/holdfast/settings.toml").write_text('[crew.checks]\ndefault = "test -e one"\n')
    repo.write("PLAN.md", "1. [ ] Write one\n2. [ ] Write two (needs: nobody)\n")
    return repo


def test_a_plan_is_put_on_the_board_and_shown(cli: Cli, here: GitRepo) -> None:
    """People look at a plan before they pay for it."""
    assert cli("crew", "plan", "PLAN.md").out == (SCREENS / "crew-plan.txt").read_text()
    assert len(json.loads(cli("crew", "plan", "PLAN.md", "--json").out)["items"]) == 2
    assert len(json.loads(cli("task", "list", "--json").out)["items"]) == 2, "planned twice, there once"
    assert cli("crew", "plan").out == (SCREENS / "crew-plan.txt").read_text(), "without a plan: what is open"


def test_a_dry_run_shows_prompts_and_writes_nothing(cli: Cli, here: GitRepo, world: Path) -> None:
    """Whoever looks first must be able to look twice."""
    cli("status")  # what every command may leave: an index, and what it remembers of files
    noise = re.compile(r"\.git(?:/holdfast-answers|/holdfast/seen.*|/holdfast)?|.*cache.*")

    def kept() -> dict[str, object]:
        found = {**snapshot(here.path), **{str(path): path.stat().st_mtime_ns for path in world.rglob("*")}}
        return {name: facts for name, facts in found.items() if not noise.fullmatch(name)}

    before = kept()
    said = cli("crew", "run", "PLAN.md", "--dry-run").out
    assert kept() == before and here.git("branch", "--list", "crew/*") == ""
    assert "2 tasks would be worked on; nothing was written." in said and "# Your task: Write two" in said


def test_a_crew_from_plan_to_clean(cli: Cli, here: GitRepo, tmp_path: Path, world: Path) -> None:
    """The whole of it on the command line: it asks, goes on, is looked at, merged by hand and cleaned up."""
    settings = world / ".config/holdfast/settings.toml"
    checks = settings.read_text()
    settings.write_text("")
    (tmp_path / "agent.py").write_text(
        "import sys\ntitle = sys.stdin.readline()\nopen(title.split()[-1], 'w').write(title)\nprint('Wrote it.')\n"
    )
    agent = f"{sys.executable} -S {tmp_path / 'agent.py'}"
    cli("crew", "plan", "PLAN.md")  # somebody looks first: then the tasks wait on main, too
    asks = cli("crew", "run", "PLAN.md", "--agent", agent, "--workers", "1", ok=False)
    assert asks.code == 1 and "it names no check" in asks.out and "Once you decided: holdfast crew resume" in asks.out
    assert "1 conflict in the crew" in (waits := cli("review", "list").out) and "asks you:" in waits
    settings.write_text(checks)
    done = json.loads(cli("crew", "resume", "--agent", agent, "--workers", "1", "--json").out)
    assert "of a crew" not in cli("review", "list").err
    assert [row["title"] for row in done["done"]] == ["Write one", "Write two"] and not (here / "one").exists()
    assert all(row["receipts"][0]["exit_status"] == 0 for row in done["done"])
    status = cli("crew").out
    assert re.search(r"done +\S+ +try 1 .*default passed +Write two", status) and "ended" in status
    explained = cli("crew", "explain", done["done"][1]["task"]).out
    for kind in ("queue", "start", "finish", "checked", "merge"):
        assert re.search(rf"^\S+  {kind}$", explained, re.M)
    assert "Write one) is done: Wrote it." in explained, "what the first task reported, the second was told"
    assert "keep" in cli("crew", "clean").out, "nothing is merged yet"
    here.git("merge", "-q", done["branch"])
    assert json.loads(cli("task", "list", "--json").out)["items"] == [], "what is done there is done here"
    assert "conflict" not in cli("status").out
    assert cli("crew", "clean", "--yes").err == "Removed 1 branch.\n"
    assert cli("crew", "clean").out == "Crews left nothing here.\n"
    for words, why in (
        (["stop"], "has ended"),
        (["resume", "--agent", agent], "is gone"),
        (["run", "PLAM.md", "--dry-run"], "no file"),
    ):
        assert why in cli("crew", *words, ok=False).err
    assert here.git("worktree", "list").count("\n") == 0 and (here / "two").read_text().startswith("# Your task")


def test_people_without_crews_load_nothing_of_them(cli: Cli, here: GitRepo) -> None:
    """SQLAlchemy takes longer to load than the whole command."""
    code = (
        "import sys; from holdfast.interfaces.cli.main import main; main(['review', 'list']); "
        "sys.exit(any(name.startswith(('sqlalchemy', 'holdfast.crew.crew_runs')) for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=here.path, check=False, capture_output=True).returncode == 0


def test_without_a_crew_the_commands_say_so(cli: Cli, here: GitRepo) -> None:
    """The first thing somebody types may be `crew status`."""
    for words in (["status"], ["stop"], ["resume"], ["explain", "x"], ["watch"]):
        answer = cli("crew", *words, ok=False)
        assert answer.code != 0 and "there is no crew here" in answer.err
    assert cli("crew", "run", "PLAN.md", "--agent", "it's", ok=False).err.startswith("error: the agent's command")
    assert (
        "no program nosuch-agent on your PATH" in cli("crew", "run", "PLAN.md", "--agent", "nosuch-agent", ok=False).err
    )
    assert "no agent is named" in cli("crew", "run", "PLAN.md", ok=False).err
    assert here.git("branch", "--list", "crew/*") == ""
