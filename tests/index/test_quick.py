"""The quick path gives what the full one gives, or steps aside."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.index import freshness
from holdfast.interfaces import quick
from holdfast.store.layout import user_settings
from tests.conftest import Cli, GitRepo, grown, init
from tests.index.conftest import fact_text

QUESTIONS = (
    ["recall", "zebra"],
    ["recall", "--json", "zebra"],
    ["recall", "--limit=1", "zebra"],
    ["recall", "--explain", "zebra stripes"],
    ["recall", "zebra", "--explain", "--json"],
    ["recall", "--task", "T-1"],
    ["recall", "--kind", "run", "zebra"],
    ["recall", "--kind", "commit", "fact"],
    ["recall", "--kind=decision", "zebra"],
    ["recall", "--files", "README", "--files=deep/a.py,deep/b.py", "zebra"],
    ["recall", "--since", "2w", "zebra"],
    ["recall", "--since=2099-01-01", "zebra"],
    ["recall", "giraffe neck"],
    ["recall", "nothing of the kind"],
    ["recall", "--limit", "2", "--", "--zebra", "stripes"],
    ["recall", "zebra", "--", "-x", "--limit", "1"],
    ["recall", "zbera"],
    ["recall", "why does the hippopotamus wear stripes"],
    ["recall"],
    ["status"],
    ["status", "--json"],
    ["next"],
    ["next", "--json"],
    ["context"],
    ["context", "--json"],
    ["--version"],
)


def _use(cli: Cli, repo: GitRepo) -> None:
    cli("init", "--commit")
    cli("run", "--task", "T-1", "--", sys.executable, "-c", "print('zebra')")
    cli("run", "--task", "T-2", "--", "git", "status", "--short", "zebra")
    path = ".holdfast/memory/facts/zebra-FCT-zebra1.md"
    repo.write(path, fact_text("FCT-zebra1", "A zebra has stripes."))
    repo.git("add", "-f", path)
    repo.git("commit", "-q", "-m", "fact")


def _use_and_plan(cli: Cli, repo: GitRepo) -> None:
    _use(cli, repo)
    cli("task", "add", "Feed the zebra", "--id", "TSK-feed")
    cli("task", "add", "Wash the zebra", "--id", "TSK-wash", "--needs", "TSK-feed")
    cli("session", "note", "Found the hay", "--open", "carry it")


@pytest.fixture
def used(cli: Cli, repo: GitRepo) -> Cli:
    """A project with something to find."""
    return grown(_use, cli, repo)


@pytest.fixture
def planned(cli: Cli, repo: GitRepo) -> Cli:
    """The same with something to do, and somebody who is at it."""
    return grown(_use_and_plan, cli, repo)


def answer(cli: Cli, argv: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> str | None:
    """What the quick path prints, or None if it steps aside."""
    monkeypatch.chdir(cli.cwd)
    capfd.readouterr()
    code = quick.main(argv)
    out = capfd.readouterr().out
    assert code in (0, quick.NOT_HANDLED)
    return None if code == quick.NOT_HANDLED else out


def test_both_ways_say_the_same(
    planned: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Whoever asks twice must not read two different answers."""
    repo.git("switch", "-q", "-c", "side")
    planned("run", "--task", "T-3", "--", "git", "status", "--short", "giraffe", "neck")
    repo.git("switch", "-q", "main")
    for argv in QUESTIONS:
        full = planned(*argv).out
        fast = answer(planned, argv, monkeypatch, capfd)
        assert fast is not None, argv
        if "--json" in argv:
            assert json.loads(fast) == json.loads(full), argv
        else:
            assert fast == full, argv


def test_both_ways_say_what_would_help(
    used: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A question is asked the second time because its first answer was weak."""
    monkeypatch.chdir(used.cwd)
    for words in (["zbera"], ["why does the hippopotamus wear stripes"], ["zebra"], ["--json", "walrus"]):
        full = used("recall", *words)
        capfd.readouterr()
        assert quick.main(["recall", *words]) == 0
        assert capfd.readouterr().err == full.err
        assert ("Found nothing with" in full.err or "Searched" in full.err) == (words != ["zebra"]), full.err


ODD = (
    "json: cannot unmarshal array into Go struct field GeminiMessage.messages.content of type string",
    "getUserName", "get_user_name in shop.db", "Aschenbrödel", "aschenbrodel glass pool", "pool?",
    "the the the",
    "why do we pin sqlalchemy below 2.1", "tag:db pool", "task:T-1", "task:T-1 zebra", "shop/db.py:3",
    'Traceback:\n  File "shop/db.py", line 3, in open_pool\n  File "shop/api.py", line 9\nPoolError: pool',
    '"connection pool"', "NEAR(pool zebra)", "a AND b OR c*", "x'); DROP TABLE row;--", "数据库 连接池", "連",
    "DEC-none", "FCT-zebra1", "HEAD~1", "🦓", "zebra " * 400, "giraffe neck", "PoolError closes Pool",
    "which commit made the pool", "open_pool GeminiMessage", "Pin", "release-1.2.3", "content",
)  # fmt: skip


def test_odd_questions_have_one_answer_however_they_are_asked(
    used: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The quick path ranks what the full one ranks: a list that depends on who asked cannot be explained."""
    repo.write("shop/db.py", "class PoolError(Exception):\n    pass\n\n\ndef open_pool(size):\n    return size\n")
    repo.write("shop/gemini.go", 'package a\n\ntype GeminiMessage struct {\n\tContent string `json:"content"`\n}\n')
    repo.write("docs/db.md", "# Aschenbrödel\n\nThe glass pool.\n\n## 数据库\n\n连接池 of the database\n")
    repo.git("add", "shop", "docs")
    repo.git("commit", "-q", "-m", "Pin sqlalchemy below 2.1\n\ngetUserName closes the connection pool")
    repo.git("switch", "-q", "-c", "side")
    used("run", "--task", "T-3", "--", "git", "status", "--short", "giraffe", "neck", "pool")
    repo.git("switch", "-q", "main")
    used("recall", "zebra")
    answered = 0
    ways = (["--json", "--explain"], ["--json", "--limit", "20", "--files", "shop/db.py"])
    for number, question in enumerate(ODD):
        argv = ["recall", *ways[number % 2], question]
        fast = answer(used, argv, monkeypatch, capfd)
        full = used(*argv).out
        answered += fast is not None
        assert fast is None or json.loads(fast) == json.loads(full), question
    assert answered > len(ODD) // 2, "it is the quick path that is tried"


def test_nothing_is_answered_from_an_index_that_is_behind(
    used: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A quick answer that misses the last step is worse than a slow one."""
    steps = [
        lambda: used("run", "--", "git", "--version"),
        lambda: used("remember", "Giraffes are tall"),
        lambda: repo.commit("other.txt"),
        lambda: repo.git("switch", "-q", "-c", "topic"),
        lambda: repo.write(".holdfast/memory/facts/zebra-FCT-zebra1.md", fact_text("FCT-zebra1", "It has none.")),
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


def test_what_an_answer_rests_on_besides_memory(
    used: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Other branches, the user's settings and a model decide what is found; each of them may change alone."""
    settings = Path(user_settings(os.environ))
    settings.parent.mkdir(parents=True, exist_ok=True)
    steps = [
        lambda: repo.git("branch", "new"),
        lambda: settings.write_text("[index]\ncode = false\n"),
        lambda: repo.git("switch", "-q", "-c", "away"),
    ]
    ask = ["recall", "zebra"]
    for number, step in enumerate(steps):
        used(*ask)
        assert answer(used, ask, monkeypatch, capfd) is not None, number
        step()
        assert answer(used, ask, monkeypatch, capfd) is None, number
    used(*ask)
    index_of(used).with_name("vectors.ready").write_text("1 minilm")
    assert answer(used, ask, monkeypatch, capfd) is not None, "the words find it"
    assert answer(used, ["recall", "zebra", "okapi", "giraffe", "wombat"], monkeypatch, capfd) is None


def others(cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Callable[[], set[str]]:
    """The commands that are answered quickly at the moment."""
    return lambda: {name for name in COMMANDS if answer(cli, [name], monkeypatch, capfd) is not None}


COMMANDS = ("recall", "next", "status", "context")


def test_each_question_rests_on_its_own_part(
    planned: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A stale answer misleads; and who asks for tasks must not wait because a memory was edited."""
    task = ".holdfast/tasks/by-hand-TSK-hand.md"
    fact = ".holdfast/memory/facts/zebra-FCT-zebra1.md"
    plain = {"recall", "next", "status", "context"}
    steps: list[tuple[Callable[[], object], set[str]]] = [
        (lambda: repo.write(task, "---\nid: TSK-hand\ntitle: By hand\n---\n"), set()),
        (lambda: planned("task", "start", "TSK-feed"), set()),
        (lambda: os.unlink(claim_of(repo, "TSK-feed")), {"recall"}),
        (lambda: repo.write(fact, fact_text("FCT-zebra1", "It has none.")), {"next"}),
        (lambda: planned("session", "note", "Carried it", "--close", "o1"), {"next"}),
        (lambda: planned("task", "release", "TSK-wash"), plain),
        (lambda: repo.write("README", "edited\n"), plain - {"context"}),
        (lambda: repo.write("src/new.txt", "new\n"), plain - {"context"}),
        (lambda: repo.git("add", "src/new.txt"), {"recall", "next"}),
        (lambda: repo.git("tag", "here"), {"recall", "next"}),
        (lambda: (repo.git("switch", "-q", "-c", "away"), repo.git("switch", "-q", "main")), set()),
        (lambda: repo.commit("other.txt"), set()),
    ]
    quickly = others(planned, monkeypatch, capfd)
    for number, (step, still) in enumerate(steps):
        for _ in range(2):  # the first time there may be something to say of the step before
            for name in sorted(plain - quickly()):
                planned(name)
        assert quickly() == plain, number
        step()
        assert quickly() == still, number


def claim_of(repo: GitRepo, task: str) -> Path:
    return repo / f".git/holdfast/claims/{task}.json"


def test_what_hooks_left_is_taken_in_first(
    planned: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A commit that a hook saw belongs to the session before anybody is told of it."""
    quickly = others(planned, monkeypatch, capfd)
    for name in COMMANDS:
        planned(name)
    inbox = repo / ".git/holdfast/inbox"
    inbox.mkdir(exist_ok=True)
    for name in ("git.log", "git.log.taken-000001"):
        assert quickly() == set(COMMANDS)
        (inbox / name).write_text("")
        assert quickly() == set()
        (inbox / name).unlink()


def test_a_claim_that_has_ended_ends_the_kept_answer(
    planned: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """An agent that was killed must not hold its task for ever in a kept answer."""
    planned("task", "start", "TSK-feed", "--for", "1h")
    for name in ("next", "context"):
        planned(name)
        planned(name)
    quickly = others(planned, monkeypatch, capfd)
    assert {"next", "context"} <= quickly()
    later, gmtime = time.time() + 3700, time.gmtime
    monkeypatch.setattr(time, "gmtime", lambda: gmtime(later))
    assert not {"next", "context"} & quickly()


def test_a_quick_context_counts_as_much_as_a_slow_one(
    planned: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Statistics that miss the usual way say the opposite of what is true."""
    planned("context")
    for _ in range(2):
        assert answer(planned, ["context"], monkeypatch, capfd) is not None
    counted = json.loads(planned("stats", "--json").out)["contexts"]
    assert counted["packs"] == 3


def test_many_files_or_submodules_are_gits_business(
    used: Cli, repo: GitRepo, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What cannot be told from file facts is asked of git each time."""
    used("context")
    assert answer(used, ["context"], monkeypatch, capfd) is not None
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    used("context")
    assert answer(used, ["context"], monkeypatch, capfd) is None
    repo.git("rm", "-q", "--cached", "sub")
    monkeypatch.setattr(freshness, "MAX_WATCHED", 0)
    used("context")
    assert answer(used, ["context"], monkeypatch, capfd) is None


def index_of(cli: Cli) -> Path:
    (found,) = Path(os.environ["XDG_CACHE_HOME"]).glob("holdfast/*/index.db")
    return found


UNKNOWN: tuple[list[str], ...] = (
    ["recall", "--branch", "main", "x"],
    ["recall", "--semantic", "x"],
    ["recall", "-"],
    ["recall", "--kind", "run", "--kind", "fact", "x"],
    ["recall", "--since", "soon", "x"],
    ["recall", "--files", "../outside", "x"],
    ["recall", "--limit", "0", "x"],
    ["recall", "--kind", "nonsense", "x"],
    ["recall", "--what", "x"],
    ["recall", "--", "-"],
    ["recall", "--help"],
    ["recall", "--limit"],
    ["status", "--help"],
    ["next", "--claim"],
    ["next", "TSK-1"],
    ["context", "--budget", "300"],
    ["context", "--json", "--json"],
    ["log"],
)


def test_what_it_does_not_know_it_leaves_alone(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Two parsers for one command line would disagree some day; the small one must know its limits."""
    init(cli.cwd)
    cli("recall", "x")
    for argv in UNKNOWN:
        assert answer(cli, argv, monkeypatch, capfd) is None, argv


@pytest.mark.parametrize("argv", [[], ["--help"], ["-h"]], ids=str)
def test_the_list_of_commands_is_the_same_either_way(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], argv: list[str]
) -> None:
    """Who reads it to learn what there is must not learn of a command that is gone."""
    assert answer(cli, argv, monkeypatch, capfd) == cli(*argv, ok=False).out


def test_variables_that_change_things_send_it_aside(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In a hook git says where the repository is; looking for `.git` would find another."""
    init(cli.cwd)
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
    assert "rebuilt" in again.err


def test_it_works_from_a_sub_folder_and_a_linked_work_tree(
    used: Cli, repo: GitRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
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
    with subprocess.Popen([*child, code], cwd=used.cwd, stdout=subprocess.PIPE, start_new_session=True) as wrapper:
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_the_place_of_a_folder_holds_nobody(used: Cli, repo: GitRepo) -> None:
    """Opened like a folder it would wait for a writer: every hook of an agent would hang for ever."""
    sessions = repo.path / ".git" / "holdfast" / "sessions"
    if sessions.exists():
        sessions.rename(sessions.with_name("aside"))
    os.mkfifo(sessions)
    for folder in ("memory", "tasks"):
        there = repo.path / ".holdfast" / folder
        if there.exists():
            there.rename(there.with_name(f"{folder}-aside"))
        os.mkfifo(there)
    asked = [sys.executable, "-m", "holdfast", "recall", "zebra"]
    done = subprocess.run(asked, cwd=used.cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60)
    assert b"Traceback" not in done.stderr and b"bug in Holdfast" not in done.stderr
