"""The quick path gives what the full one gives, or steps aside."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.interfaces import quick
from tests.conftest import Cli, GitRepo
from tests.index.conftest import fact_text

QUESTIONS = (
    ["recall", "zebra"],
    ["recall", "--json", "zebra"],
    ["recall", "--limit=1", "zebra"],
    ["recall", "--task", "T-1"],
    ["recall", "--kind", "run", "zebra"],
    ["recall", "nothing of the kind"],
    ["recall"],
    ["status"],
    ["status", "--json"],
    ["--version"],
)


@pytest.fixture
def used(cli: Cli, repo: GitRepo) -> Cli:
    """A project with something to find."""
    cli("init", "--commit")
    cli("run", "--task", "T-1", "--", sys.executable, "-c", "print('zebra')")
    cli("run", "--task", "T-2", "--", "git", "status", "--short", "zebra")
    path = ".holdfast/memory/facts/zebra-FCT-zebra1.md"
    repo.write(path, fact_text("FCT-zebra1", "A zebra has stripes."))
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", "fact")
    return cli


def answer(
    cli: Cli, argv: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> str | None:
    """What the quick path prints, or None if it steps aside."""
    monkeypatch.chdir(cli.cwd)
    capfd.readouterr()
    code = quick.main(argv)
    out = capfd.readouterr().out
    assert code in (0, quick.NOT_HANDLED)
    return None if code == quick.NOT_HANDLED else out


def test_both_ways_say_the_same(
    used: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever asks twice must not read two different answers."""
    for argv in QUESTIONS:
        full = used(*argv).out
        fast = answer(used, argv, monkeypatch, capfd)
        assert fast is not None, argv
        if "--json" in argv:
            assert json.loads(fast) == json.loads(full), argv
        else:
            assert fast == full, argv


def test_nothing_is_answered_from_an_index_that_is_behind(
    used: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A quick answer that misses the last step is worse than a slow one."""
    steps = [
        lambda: used("run", "--", "git", "--version"),
        lambda: used("remember", "Giraffes are tall"),
        lambda: repo.commit("other.txt"),
        lambda: repo.git("switch", "-q", "-c", "topic"),
        lambda: repo.write(
            ".holdfast/memory/facts/zebra-FCT-zebra1.md", fact_text("FCT-zebra1", "It has none.")
        ),
        lambda: repo.git("checkout", "-q", "--", ".holdfast"),
        lambda: repo.git("checkout", "-q", "--detach"),
        lambda: os.unlink(index_of(used)),
    ]
    for number, step in enumerate(steps):
        used("recall", "zebra")
        used("status")
        assert answer(used, ["recall", "zebra"], monkeypatch, capfd) is not None, number
        assert answer(used, ["status"], monkeypatch, capfd) is not None, number
        step()
        assert answer(used, ["recall", "zebra"], monkeypatch, capfd) is None, number
        assert answer(used, ["status"], monkeypatch, capfd) is None, number


def index_of(cli: Cli) -> Path:
    (found,) = Path(os.environ["XDG_CACHE_HOME"]).glob("holdfast/*/index.db")
    return found


UNKNOWN = (
    ["recall", "--limit", "0", "x"],
    ["recall", "--kind", "nonsense", "x"],
    ["recall", "--what", "x"],
    ["recall", "--", "x"],
    ["recall", "--help"],
    ["recall", "--limit"],
    ["status", "--help"],
    ["log"],
    [],
)


def test_what_it_does_not_know_it_leaves_alone(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two parsers for one command line would disagree some day; the small one must know its limits."""
    cli("init")
    cli("recall", "x")
    for argv in UNKNOWN:
        assert answer(cli, argv, monkeypatch, capfd) is None, argv


def test_variables_that_change_things_send_it_aside(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In a hook git says where the repository is; looking for `.git` would find another."""
    cli("init")
    cli("recall", "zebra")
    assert answer(cli, ["recall", "zebra"], monkeypatch, capfd) is not None
    for name in ("GIT_DIR", "GIT_WORK_TREE", "HOLDFAST_TRUNK"):
        with monkeypatch.context() as changed:
            changed.setenv(name, "elsewhere")
            assert quick.main(["recall", "zebra"]) == quick.NOT_HANDLED


def test_a_damaged_index_is_the_full_ways_business(
    used: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The quick path never writes, so it cannot mend."""
    expected = used("recall", "zebra").out
    data = index_of(used).read_bytes()
    index_of(used).write_bytes(data[:100] + b"\xff" * (len(data) - 100))
    assert answer(used, ["recall", "zebra"], monkeypatch, capfd) is None
    again = used("recall", "zebra")
    assert again.out == expected
    assert "built again" in again.err


def test_it_works_from_a_sub_folder_and_a_linked_work_tree(
    used: Cli,
    repo: GitRepo,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Agents work in sub-folders and in work trees of their own."""
    (repo / "deep" / "er").mkdir(parents=True)
    repo.git("worktree", "add", "-q", "-b", "side", os.fspath(tmp_path / "side"))
    for place in (repo / "deep" / "er", tmp_path / "side"):
        there = Cli(place)
        full = there("recall", "stripes").out
        assert "FCT-zebra1" in full
        assert answer(there, ["recall", "stripes"], monkeypatch, capfd) == full


def test_a_killed_wrapper_is_noticed(
    used: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The next command completes a run whose wrapper was killed, also if that command is a quick one."""
    child = [sys.executable, "-m", "holdfast", "run", "--task", "cut", "--", sys.executable, "-uc"]
    code = "print('up'); import time; time.sleep(60)"
    with subprocess.Popen(
        [*child, code], cwd=used.cwd, stdout=subprocess.PIPE, start_new_session=True
    ) as wrapper:
        assert wrapper.stdout is not None
        wrapper.stdout.readline()
        used("recall", "zebra")
        assert answer(used, ["recall", "zebra"], monkeypatch, capfd) is not None
        wrapper.kill()
        wrapper.wait()
        assert answer(used, ["recall", "zebra"], monkeypatch, capfd) is None
        assert "completed run" in used("recall", "zebra").err
        os.killpg(wrapper.pid, 9) if group_lives(wrapper.pid) else None
        wrapper.stdout.close()


def group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_closed_streams_are_no_obstacle(used: Cli) -> None:
    """A daemon starts its children with nothing open; a file of ours must not become their output."""
    command = f'{sys.executable} -m holdfast "$@" <&- >&- 2>&-'
    for argv in (["recall", "zebra"], ["status"], ["log"]):
        done = subprocess.run(["sh", "-c", command, "sh", *argv], cwd=used.cwd, check=False)
        assert done.returncode == 0, argv
