"""The root of the command line: errors in one sentence, exit codes, streams, terminals."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import click
import pytest

from holdfast.interfaces import command_table
from holdfast.interfaces.cli.help_commands import glossary
from holdfast.interfaces.cli.root import root
from tests.conftest import Cli, GitRepo, init

HOLDFAST = [sys.executable, "-m", "holdfast"]


def on_a_terminal(cwd: Path, *args: str, typed: str = "", after: str = "", **env: str) -> tuple[int, str]:
    """Run the command with a terminal around it, and type once it has said `after`.

    Nobody types in the moment in which a question appears. What gets no answer for a second is typed again, as
    people do: a signal that comes just before Python's line editor begins to wait is only noticed with the next key.
    """
    started = [sys.executable, "-m", "holdfast", *args]
    return in_a_terminal(cwd, started, typed=typed, after=after, **env)


def in_a_terminal(cwd: Path, command: list[str], *, typed: str = "", after: str = "", **env: str) -> tuple[int, str]:
    """Run any command as the first of a terminal, with nobody of ours above it, also if an agent runs us."""
    terminal, end = pty.openpty()
    told, tell = os.pipe()
    between = os.fork()
    if between == 0:
        if os.fork() == 0:  # its parent is gone at once, so nothing of ours is its ancestor
            quiet = {} if "PAGER" in env else {"GIT_PAGER": "cat"}  # a pager would wait for keys
            _first_of(end, tell, cwd, command, {**os.environ, "TERM": "xterm", **quiet, **env})
        os._exit(0)
    os.waitpid(between, 0)
    os.close(end)
    os.close(tell)
    seen, asked = b"", False
    while True:
        if typed and after.encode() in seen and not select.select([terminal], [], [], 1.0 if asked else 0.05)[0]:
            os.write(terminal, typed.encode())
            asked = True
            continue
        try:
            chunk = os.read(terminal, 65536)
        except OSError:  # the other side is gone
            break
        if not chunk:
            break
        seen += chunk
    os.close(terminal)
    with os.fdopen(told) as file:
        return int(file.read()), seen.decode(errors="replace")


def _first_of(end: int, tell: int, cwd: Path, command: list[str], env: dict[str, str]) -> None:
    """Become the first process of a terminal, run a command on it, and tell how that ended."""
    code = 127
    try:
        os.setsid()
        fcntl.ioctl(end, termios.TIOCSCTTY, 0)
        child = os.fork()
        if child == 0:
            for stream in (0, 1, 2):
                os.dup2(end, stream)
            os.chdir(cwd)
            os.execve(command[0], command, env)
        os.close(end)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        os.write(tell, f"{code}".encode())
        os._exit(0)


def test_outside_git_it_says_so_and_what_to_do(tmp_path: Path) -> None:
    """The first command many people type is in the wrong folder."""
    answer = Cli(tmp_path)("status", ok=False)
    assert answer.code == 10
    assert answer.out == ""
    first, second = answer.err.splitlines()
    assert first.startswith("error: ")
    assert second.startswith("hint: ")


def test_before_init_it_names_start(cli: Cli) -> None:
    """Who cloned a repository without Holdfast must learn the one command to type."""
    answer = cli("status", ok=False)
    assert (answer.code, "holdfast start" in answer.err) == (11, True)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["nonsense"], 2),
        (["recall", "--nonsense"], 2),
        (["log", "--render", "--checkpoint", "x"], 2),
        (["diff"], 2),
        (["doctor", "--yes"], 2),
        (["run"], 125),
        (["run", "--nonsense", "--", "true"], 125),
        (["-C", "elsewhere", "run"], 125),
    ],
)
def test_wrong_usage_is_told_from_trouble(cli: Cli, words: list[str], code: int) -> None:
    """A script must tell its own mistake from a damaged store, and a refused run from a failed one."""
    answer = cli(*words, ok=False)
    assert answer.code == code
    assert answer.err.startswith("error: ")
    assert "--help" in answer.err


def test_holdfast_alone_is_help(cli: Cli) -> None:
    """The first thing people type is the bare name."""
    answer = cli()
    assert (answer.code, answer.err) == (0, "")
    assert answer.out == cli("--help").out


def test_a_folder_that_is_not_there_is_a_wrong_path(cli: Cli) -> None:
    """A typing error must not send people to `git init`."""
    for words in (["status"], ["init"]):
        answer = cli("-C", "nowhere", *words, ok=False)
        assert answer.err.splitlines()[-1] == "hint: Check the path."


def test_init_outside_git_without_a_terminal_names_the_option(tmp_path: Path) -> None:
    """A script's author must learn what to add."""
    answer = Cli(tmp_path)("init", ok=False)
    assert (answer.code, "holdfast init --yes" in answer.err) == (10, True)
    assert Cli(tmp_path)("init", "--yes").code == 0


def test_run_outside_a_project_refuses_with_125(tmp_path: Path) -> None:
    """Whoever wraps a command must know that it did not run."""
    answer = Cli(tmp_path)("run", "--", "touch", "ran", ok=False)
    assert answer.code == 125
    assert not (tmp_path / "ran").exists()


def test_c_works_in_another_folder(repo: GitRepo, tmp_path: Path) -> None:
    """A script in one folder asks about another."""
    outside = Cli(tmp_path)
    outside("-C", str(repo.path), "init")
    assert json.loads(outside("-C", str(repo.path), "status", "--json").out)["branch"] == "main"


def test_help_is_one_screen_with_every_command_in_it(cli: Cli) -> None:
    """Fifty commands in one list are read by nobody; the first six are where everybody begins."""
    out = cli("--help").out
    assert len(out.splitlines()) <= 24 and max(map(len, out.splitlines())) <= 80
    first = [line.split()[0] for line in out.splitlines()[4:10]]
    assert first == ["start", "status", "review", "recall", "why", "context"]
    assert set(re.findall(r"[a-z]+", out)) >= set(command_table.commands())


def test_help_explains_commands_groups_and_words(cli: Cli) -> None:
    """Who has a name, or half of one, gets on from there."""
    assert cli("help").out == cli("--help").out
    assert cli("help", "task", "add").out == cli("task", "add", "--help").out
    every = cli("help", "all").out
    assert all(about in every for _, about in command_table.commands().values())
    assert {line.split()[0] for line in cli("help", "share").out.splitlines() if line.startswith("  ")} == set(
        command_table.topics()["share"]
    )
    assert "Stale\n    the evidence changed" in cli("help", "glossary").out and len(glossary()) <= 20
    assert cli("help", "facts").out.startswith("`facts` is an older name of `memories --type fact`.")
    assert json.loads(cli("help", "why", "--json").out)["id"] == "why"
    refused = cli("help", "review", "nothing", ok=False)
    assert refused.code == 2 and refused.err.startswith("error: there is no command `holdfast review nothing`\n")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("search tabs", "recall"),
        ("list", "memories"),
        ("sync", "publish"),
        ("undo", "review undo"),
        ("serch", "recall"),
        ("Statsu", "status"),
        ("task finish T-1", "task done"),
        ("review aprove", "review accept"),
        ("sesion", "session"),
        ("help undo", "review undo"),
    ],
)
def test_a_near_miss_names_the_command_that_is_meant(cli: Cli, words: str, meant: str) -> None:
    """`No such command` sends people to read a list."""
    answer = cli(*words.split(), ok=False)
    assert (answer.code, answer.out) == (2, "")
    assert f"`holdfast {meant}`" in answer.err.splitlines()[-1]


def test_every_near_miss_leads_to_a_command() -> None:
    """A hint to a command that does not exist sends people in a circle."""
    groups = command_table.groups()
    for path in [path for (path,) in groups["near"].values()] + [row[1] for row in groups["old names"].values()]:
        at: click.Command | None = root
        for word in path.partition(" --")[0].split():
            assert isinstance(at, click.Group)
            at = at.get_command(click.Context(at), word)
        assert at is not None and not at.hidden, path


def test_older_names_of_commands_go_on_working(cli: Cli) -> None:
    """A script that somebody wrote last year must run next year."""
    cli("init")
    cli("task", "add", "Weigh parcels")
    cli("remember", "Parcels are weighed at night.", "--id", "FCT-night")
    assert cli("tasks").out == cli("task", "list").out
    assert cli("facts").out == cli("memories", "--type", "fact").out
    assert cli("timeline").out == cli("log").out
    assert cli("deprecate", "FCT-night", ok=False).err == cli("review", "retire", "FCT-night", ok=False).err
    assert {"items", "v"} <= json.loads(cli("timeline", "--json").out).keys()
    listed = {line.split()[0] for line in cli("help", "all").out.splitlines() if line.startswith("  ")}
    assert not {"tasks", "facts", "timeline", "deprecate"} & listed
    assert "complete" not in cli("task", "--help").out


def test_the_log_can_be_cut_to_its_newest_events(cli: Cli) -> None:
    """`log -n 5` is what everybody types who knows git."""
    cli("init")
    for number in range(4):
        cli("remember", f"Parcel number {number} is weighed on scale {number}.")
    whole = cli("log").out.splitlines()
    answer = cli("log", "-n", "2")
    assert (answer.out.splitlines(), answer.err) == (whole[-2:], "")
    assert len(cli("log", "-n", "3", "--json").out.splitlines()) == 3


@pytest.mark.parametrize("words", [["uninstall"], ["erase", "FCT-none"]], ids=" ".join)
def test_nobody_is_asked_where_there_is_no_terminal(cli: Cli, words: list[str]) -> None:
    """A question in CI hangs until somebody kills it."""
    cli("init")
    answer = cli(*words, ok=False)
    assert answer.code == 37
    assert "--yes" in answer.err


def test_on_a_terminal_it_asks_and_no_means_no(repo: GitRepo, cli: Cli) -> None:
    """One key must not delete the store."""
    cli("init")
    code, seen = on_a_terminal(repo.path, "uninstall", typed="n\n", after="[y/N]")
    assert code == 1
    assert "private store" in seen
    assert ".holdfast" in seen
    assert "Nothing was done." in seen
    assert "error" not in seen
    assert (repo.path / ".git" / "holdfast").is_dir()


def test_init_outside_git_offers_git_init(tmp_path: Path) -> None:
    """A new project often has no repository yet."""
    code, seen = on_a_terminal(tmp_path, "init", typed="y\n", after="[y/N]")
    assert code == 0, seen
    assert (tmp_path / ".git").is_dir()
    assert (tmp_path / ".holdfast" / "holdfast.toml").is_file()
    assert Cli(tmp_path / "..").spawn("-C", str(tmp_path), "status").code == 0


def test_the_end_of_input_at_the_question_about_hooks_means_no(repo: GitRepo, cli: Cli) -> None:
    """Everything was set up and committed, and the last word was "error: interrupted"."""
    code, seen = on_a_terminal(repo.path, "init", "--commit", typed="\x04", after="[Y/n]")
    assert (code, "interrupted" in seen) == (0, False), seen
    assert "committed its two files" in seen
    assert "No git hooks are installed" in cli("hooks", "status").out


def test_an_interrupt_at_the_question_about_hooks_tells_what_was_done(repo: GitRepo) -> None:
    """ "error: interrupted" alone sends people to look for damage in a repository that is set up."""
    code, seen = on_a_terminal(repo.path, "init", typed="\x03", after="[Y/n]")
    assert (code, "error:" in seen) == (130, False), seen
    assert (
        "Holdfast is set up in" in seen and "git's hooks were not installed. Install them with: holdfast hooks" in seen
    )


def test_colour_only_on_a_terminal_and_only_if_wanted(repo: GitRepo, cli: Cli) -> None:
    """Escape sequences in a log file or a pipe are noise."""
    cli("init")
    cli("run", "--", "true")
    assert "\x1b[" in on_a_terminal(repo.path, "log")[1]
    assert "\x1b[" not in on_a_terminal(repo.path, "log", NO_COLOR="1")[1]
    assert "\x1b[" not in on_a_terminal(repo.path, "log", TERM="dumb")[1]
    assert "\x1b[" not in cli("log").out


def test_a_long_answer_goes_to_the_pager_that_git_uses(repo: GitRepo, cli: Cli) -> None:
    """A list that runs off the screen is read backwards, and a pager of one's own is expected to be used."""
    init(cli.cwd)
    for number in range(12):
        cli("task", "add", f"Task {number}")
    mark = {"LINES": "10", "GIT_PAGER": "sed s/^/paged:/"}
    code, seen = on_a_terminal(repo.path, "task", "list", **mark)
    assert code == 0 and seen.count("paged:") > 12
    assert "paged:" not in on_a_terminal(repo.path, "task", "list", **mark | {"LINES": "60"})[1], "it fits"
    assert "paged:" not in on_a_terminal(repo.path, "task", "list", **mark | {"GIT_PAGER": "cat"})[1]
    repo.git("config", "core.pager", "sed s/^/settings:/")
    assert "settings:" in on_a_terminal(repo.path, "task", "list", LINES="10", PAGER="sed s/^/other:/")[1]
    assert "paged:" not in cli("task", "list", **mark).out, "a pipe gets all of it"
    code, seen = on_a_terminal(repo.path, "task", "list", **mark | {"GIT_PAGER": "head -n 2"})
    assert (code, "error" in seen) == (0, False), "who quits a pager has seen enough"
    code, seen = on_a_terminal(repo.path, "task", "list", **mark | {"GIT_PAGER": "no-such-pager"})
    assert (code, "Task 11" in seen) == (0, True)


def test_a_status_has_its_colour_and_columns_stay_aligned(repo: GitRepo, cli: Cli) -> None:
    """What is blocked must meet the eye, and escape sequences must not push columns about."""
    init(cli.cwd)
    cli("task", "add", "Paint the boat", "--id", "TSK-paint")
    cli("task", "add", "Launch it", "--id", "TSK-launch")
    cli("task", "block", "TSK-launch", "--reason", "rain")
    seen = on_a_terminal(repo.path, "task", "list")[1].replace("\r", "")
    assert "\x1b[31m✖\x1b[0m" in seen
    plain = re.sub(r"\x1b\[\d*m", "", seen)
    assert plain == cli("task", "list").out and len({row.index("P2") for row in plain.splitlines() if "P2" in row}) == 1


def test_progress_is_shown_only_while_somebody_waits() -> None:
    """A bar that stays on the screen is taken for a part of the answer; one that flickers says nothing."""
    code = (
        "import time; from holdfast.interfaces.cli import invocation as i\n"
        "with i.progress_bar('Reading') as step:\n"
        "    step(1, 4); time.sleep({0}); step(2, 4)\n"
        "print('done')"
    )
    for seconds in (0, 0.7):
        seen = in_a_terminal(Path.cwd(), [sys.executable, "-c", code.format(seconds)])[1]
        assert ("Reading … 50%" in seen) == bool(seconds)
        assert seen.endswith("\r\x1b[Kdone\r\n") if seconds else seen == "done\r\n"


def test_lists_and_hits_fit_the_terminal(repo: GitRepo, cli: Cli) -> None:
    """A row that wraps is read as two."""
    init(cli.cwd)
    long = "Every connection to the harbour database goes through the pool, because the server allows twenty of them."
    name = json.loads(cli("remember", long, "--evidence", "README", "--id", "FCT-pool", "--json").out)["id"]
    for words in (["review", "list"], ["memories"], ["recall", "harbour"]):
        seen = re.sub(r"\x1b\[\d*[mK]", "", on_a_terminal(repo.path, *words, COLUMNS="60")[1]).replace("\r", "\n")
        assert name in seen and max(map(len, seen.splitlines())) <= 60, seen
        cli("review", "accept", name)


def test_run_list_names_what_lists_runs(cli: Cli) -> None:
    """Who types it as `task list` must not leave a run behind that says that `list` is no program."""
    cli("init")
    refused = cli("run", "list", ok=False)
    assert refused.code == 125 and "holdfast log" in refused.err
    assert cli("log").out.startswith("Nothing happened yet.")


def test_help_takes_groups_as_the_overview_spells_them(cli: Cli) -> None:
    """`Memory` stands there with a capital."""
    assert cli("help", "Memory").out == cli("help", "memory").out


def test_the_log_fits_the_terminal(repo: GitRepo, cli: Cli) -> None:
    """Lines that wrap make a list unreadable."""
    cli("init")
    cli("remember", "word " * 60)
    for columns in ("80", "150"):
        seen = on_a_terminal(repo.path, "log", COLUMNS=columns, NO_COLOR="1")[1].splitlines()[0]
        assert int(columns) - 6 <= len(seen) <= int(columns)


def test_a_reader_that_goes_away_is_no_error(repo: GitRepo, cli: Cli) -> None:
    """`holdfast log | head` must not end in a traceback."""
    cli("init")
    for _ in range(3):
        cli("run", "--", "true")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*HOLDFAST, "log", "--json"], cwd=repo.path, stdout=writer, stderr=-1, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_ends_quietly(repo: GitRepo, cli: Cli) -> None:
    """Control-C is an answer, not a crash."""
    cli("init")
    code, seen = on_a_terminal(repo.path, "uninstall", typed="\x03", after="[y/N]")
    assert code == 130
    assert "Traceback" not in seen


def test_what_hides_is_shown(cli: Cli, repo: GitRepo) -> None:
    """A memory with reversed or invisible text must not fool the person who reviews it."""
    cli("init")
    cli("remember", "pay \u202ereverse\u200b now", "--evidence", "README")
    seen = cli("review", "list")
    assert "⟨U+202E⟩" in seen.out
    assert "\u202e" not in seen.out
    assert "\u202e" not in cli("review", "list", "--json").out


def test_a_terminal_without_unicode_still_answers(cli: Cli) -> None:
    """A minimal container has no UTF-8 locale."""
    cli("init")
    cli("remember", "naïve \u202e", "--evidence", "README")
    answer = cli.spawn("review", "list", PYTHONIOENCODING="ascii", LC_ALL="C", PYTHONUTF8="0")
    assert "na\\xefve" in answer.out


def test_completion_knows_the_commands(repo: GitRepo) -> None:
    """Shell completion works through click's own mechanism, past the quick path."""
    env = {**os.environ, "_HOLDFAST_COMPLETE": "bash_complete", "COMP_WORDS": "holdfast re", "COMP_CWORD": "1"}
    done = subprocess.run(HOLDFAST, cwd=repo.path, env=env, capture_output=True, check=False)
    words = {line.partition(",")[2] for line in done.stdout.decode().splitlines()}
    assert words == {"recall", "receipts", "reconcile", "remember", "reset", "review"}


def test_settings_that_are_ignored_are_said(cli: Cli, repo: GitRepo) -> None:
    """Whoever wrote a setting must learn that it does nothing."""
    cli("init")
    repo.write(".holdfast/holdfast.toml", "[review]\nauto_promote = 0.1\n")
    answer = cli("facts")
    assert "review.auto_promote" in answer.err
    assert len(answer.err.splitlines()) == 1


def test_a_bad_setting_names_its_file(cli: Cli, repo: GitRepo) -> None:
    """One's own wrong line is an error that is found at once; one in the shared file stops nobody."""
    cli("init")
    repo.write(".holdfast/holdfast.toml", "[index]\ncode = 3\n")
    assert "holdfast.toml: index.code must be true or false, not 3; it is ignored" in cli("facts").err
    repo.write(".git/holdfast/settings.toml", "trunk = 3\n")
    answer = cli("facts", ok=False)
    assert answer.code == 32
    assert "settings.toml" in answer.err


def test_python_m_holdfast_is_the_same_command(cli: Cli) -> None:
    """CI images often lack the script folder on their PATH."""
    assert cli.spawn("--version").out == cli("--version").out


def test_closed_streams_change_nothing(repo: GitRepo, cli: Cli) -> None:
    """Daemons start commands with no streams at all; none of our files may take their numbers."""
    cli("init")
    line = f"{sys.executable} -m holdfast run -- sh -c 'echo out; echo err >&2; exit 3' <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", line], cwd=repo.path, check=False).returncode == 3
    assert json.loads(cli("log", "--json").out)["exit_status"] == 3
    assert cli("doctor").code == 0


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("where", [">/dev/full", "2>/dev/full", ">/dev/full 2>/dev/full", ">&- 2>/dev/full"])
def test_a_run_whose_output_cannot_be_written_ends_with_its_own_code(
    repo: GitRepo, cli: Cli, where: str, unbuffered: str
) -> None:
    """125 says that the command did not start; whoever runs it again deploys twice."""
    init(cli.cwd, commit=True)
    for code in (0, 7):
        line = f"{sys.executable} -m holdfast run --json -- sh -c 'echo out; echo err >&2; exit {code}' {where}"
        environ = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        assert subprocess.run(["sh", "-c", line], cwd=repo.path, env=environ, check=False).returncode == code
        assert json.loads(cli("log", "--json", "--limit", "1").out)["exit_status"] == code


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_one_sentence(repo: GitRepo, cli: Cli) -> None:
    """A traceback after a good error looks like damage to the store."""
    init(cli.cwd, commit=True)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "log"], cwd=repo.path, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode not in (0, 1)
    assert done.stderr.count(b"No space left on device") == 1 and b"Traceback" not in done.stderr
