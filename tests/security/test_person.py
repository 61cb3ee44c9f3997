"""Approvals count as a person's only where no agent shows itself; and people who use agents are people."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import NeedsReview
from holdfast.project import Project
from holdfast.security import person
from holdfast.security.person import AGENTS, NAMED, UNATTENDED, agent_called, agent_marker, doubt
from tests.cli.test_main import in_a_terminal, on_a_terminal
from tests.conftest import AGENT_SETTINGS, Cli, GitRepo, make_repo

SETTINGS = sorted(" ".join(AGENT_SETTINGS.values()).split())
CHILDREN = sorted({name for agent in AGENTS for name in agent.children} | UNATTENDED.keys())


def test_a_person_needs_a_terminal() -> None:
    """A script that pipes into us is nobody's approval."""
    assert doubt(terminal=False, environ={}) == "input and output are not both a terminal"


@pytest.mark.parametrize("name", CHILDREN)
def test_what_agents_set_for_their_children_is_seen(name: str) -> None:
    """An agent on a pseudo-terminal must not approve its own memories by accident."""
    assert agent_marker({"HOME": "/x", name: "yes"}) == name
    assert f"{name} is set" in str(doubt(terminal=True, environ={name: "1"}))


def test_what_people_set_for_their_agents_says_nothing() -> None:
    """Whoever uses an agent exports its settings in every shell, and could approve nothing any more."""
    everything = dict.fromkeys(SETTINGS, "1")
    assert agent_marker(everything) is None
    assert not set(SETTINGS) & set(CHILDREN)
    assert {"CODEX_HOME", "CLAUDE_CODE_USE_BEDROCK", "AIDER_MODEL", "CLAUDE_PROJECT_DIR"} <= set(SETTINGS)
    assert {agent.name for agent in AGENTS} == set(AGENT_SETTINGS), "each has settings that must not count"


def test_a_marker_that_is_switched_off_does_not_count() -> None:
    """People set CI=false to get colours back."""
    assert agent_marker({"CI": "false", "CLAUDECODE": ""}) is None


def test_agent_counts_only_where_it_names_one() -> None:
    """AGENT is a common name: opencode sets it to 1, and so does somebody's script for ssh-agent."""
    name, _ = NAMED
    assert agent_marker({name: "amp"}) == name
    assert [agent_marker({name: value}) for value in ("1", "/run/user/1000/ssh-agent", "")] == [None] * 3


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (["claude"], "Claude Code"),
        (["/usr/local/bin/codex", "exec", "x"], "Codex"),
        (["node", "/usr/lib/node_modules/@openai/codex/bin/codex.js"], "Codex"),
        (["/usr/bin/node", "--no-warnings", "/opt/n/@google/gemini-cli/dist/index.js", "-p"], "Gemini CLI"),
        (["node22", "/x/@anthropic-ai/claude-code/cli.js"], "Claude Code"),
        (["python3.12", "-m", "aider"], "aider"),
        (["/usr/bin/python3", "/home/a/.local/bin/aider", "--model", "x"], "aider"),
        (["/bin/sh", "/home/a/bin/kimi"], "Kimi Code"),
        (["bun", "/x/@earendil-works/pi-coding-agent/dist/cli.js"], "pi"),
        (["C:\\Tools\\opencode.exe"], "opencode"),
        (["node", "/x/bin/codex.cjs"], "Codex"),
        (["node", "/x/bin/codex.mjs"], "Codex"),
        (["/x/codex.cmd"], "Codex"),
        # people's own
        (["-bash"], None),
        (["bash", "-c", "claude --help"], None),
        (["tmux", "new", "-s", "codex"], None),
        (["vim", "claude"], None),
        (["ssh", "gemini"], None),
        (["/usr/share/code/code", "--type=renderer"], None),
        (["/opt/Cursor/cursor"], None),
        (["node", "server.js", "codex"], None),
        (["python", "-c", "import aider"], None),
        ([""], None),
        ([], None),
    ],
)
def test_an_agent_is_known_by_its_program_and_nobody_by_an_argument(command: list[str], name: str | None) -> None:
    assert agent_called(command) == name


# ── the real command in real process trees ────────────────────────────────────


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> tuple[GitRepo, list[str]]:
    """A project in which facts wait for review."""
    repo = make_repo(tmp_path_factory.mktemp("person") / "repo")
    Project.init(repo.path, commit=True)
    project = Project.open(repo.path)
    topics = ("harbour", "copper", "violin", "meadow", "turbine", "parcel")
    facts = [project.memory.remember(f"The {topic} is checked daily.", evidence=["README"]) for topic in topics]
    return repo, [fact.id for fact in facts]


def trust_of(repo: GitRepo, name: str) -> str | None:
    return next(one.trust for one in Project.open(repo.path).memory.knowledge().standings if one.id == name)


def named_like(folder: Path, name: str, command: list[str]) -> list[str]:
    """A program of this name that runs a command, as an agent runs its tools."""
    script = folder / name
    script.write_text(f"#!/bin/sh\n{shlex.join(command)}\nexit $?\n")
    script.chmod(0o755)
    return [os.fspath(script)]


def accept(name: str) -> list[str]:
    return [sys.executable, "-m", "holdfast", "review", "accept", name]


def test_a_person_with_every_setting_of_every_agent_can_approve(waiting: tuple[GitRepo, list[str]]) -> None:
    """CODEX_HOME in a shell turned each approval into a promote, and the hint was the same command again."""
    repo, names = waiting
    code, screen = on_a_terminal(repo.path, "review", "accept", names[0], **dict.fromkeys(SETTINGS, "1"))
    assert code == 0, screen
    assert "Not counted" not in screen
    assert trust_of(repo, names[0]) == "T0"


def test_what_an_agents_child_approves_says_why_it_does_not_count(waiting: tuple[GitRepo, list[str]]) -> None:
    """Who is refused must learn the reason, and a way that is not the same command in the same place."""
    repo, names = waiting
    screen = on_a_terminal(repo.path, "review", "accept", names[1], CLAUDECODE="1")[1]
    said = "no person approved it (CLAUDECODE is set, so an agent seems to be running this)"
    assert said in screen
    assert f"To approve it, type in a terminal where no agent runs: holdfast review accept {names[1]}" in screen
    assert trust_of(repo, names[1]) == "T2"
    code, screen = on_a_terminal(repo.path, "review", "accept", names[1])
    assert (code, trust_of(repo, names[1])) == (0, "T0"), "and that way works"


@pytest.mark.parametrize("agent", ["codex", "kimi"])
def test_a_program_that_an_agent_started_is_no_person(
    waiting: tuple[GitRepo, list[str]], tmp_path: Path, agent: str
) -> None:
    """Kimi sets no variable at all for what it starts: only the process tree tells."""
    repo, names = waiting
    name = names[2 if agent == "codex" else 3]
    inner = named_like(tmp_path, "tool", accept(name))
    code, screen = in_a_terminal(repo.path, named_like(tmp_path, agent, inner))
    assert code == 0, screen
    assert f"no person approved it ({agent.capitalize()}" in screen
    assert "is running this)" in screen
    assert trust_of(repo, name) == "T2"


def test_a_persons_own_scripts_are_no_agents(waiting: tuple[GitRepo, list[str]], tmp_path: Path) -> None:
    """A wrapper, a shell in a shell and an argument called codex are all a person's."""
    repo, names = waiting
    wrapper = named_like(tmp_path, "codex-review", accept(names[4]))
    outer = named_like(tmp_path, "work", ["/bin/sh", "-c", f"{shlex.join(wrapper)} codex; exit $?"])
    code, screen = in_a_terminal(repo.path, outer)
    assert code == 0, screen
    assert trust_of(repo, names[4]) == "T0"


def test_trust_says_why_it_is_refused(waiting: tuple[GitRepo, list[str]]) -> None:
    """The same guard stands before trusting an upstream, and says the same."""
    repo, _ = waiting
    code, screen = on_a_terminal(repo.path, "trust", "--yes", CODEX_THREAD_ID="7")
    assert code == 23
    assert "CODEX_THREAD_ID is set, so an agent seems to be running this" in screen
    assert "another terminal" in screen


def test_processes_that_cannot_be_seen_suspect_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that hides its processes must not lock its people out."""
    person.running_agent.cache_clear()
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    monkeypatch.setenv("PATH", "/nowhere")
    try:
        assert person.running_agent() is None
    finally:
        person.running_agent.cache_clear()


def test_without_proc_one_ps_tells(waiting: tuple[GitRepo, list[str]], tmp_path: Path) -> None:
    """On macOS there is no /proc; the command asks `ps` once, and only if something is to be approved."""
    repo, names = waiting
    (tmp_path / "ps").write_text(
        f'#!/bin/sh\necho asked >> {tmp_path}/asked\nexec /usr/bin/env -i PATH=/usr/bin:/bin ps "$@"\n'
    )
    (tmp_path / "ps").chmod(0o755)
    blind = (
        "import os, runpy, sys; real = os.path.isdir; "
        "os.path.isdir = lambda path: path != '/proc/self' and real(path); "
        "sys.argv = ['holdfast', *sys.argv[1:]]; runpy.run_module('holdfast', run_name='__main__')"
    )
    path = f"{tmp_path}:{os.environ['PATH']}"
    in_a_terminal(repo.path, [sys.executable, "-c", blind, "review", "list"], PATH=path)
    assert not (tmp_path / "asked").exists()
    command = [sys.executable, "-c", blind, "review", "accept", names[5]]
    screen = in_a_terminal(repo.path, named_like(tmp_path, "gemini", command), PATH=path)[1]
    assert "Gemini CLI is running this)" in screen
    assert (tmp_path / "asked").read_text() == "asked\n"
    assert trust_of(repo, names[5]) == "T2"


def test_a_script_learns_what_to_do_instead(repo: GitRepo) -> None:
    """Without a terminal there is no marker to name."""
    cli = Cli(repo.path)
    cli("init", "--commit")
    cli("remember", "Ropes are checked.", "--evidence", "README")
    name = json.loads(cli("review", "list", "--json").out)["items"][0]["id"]
    said = cli("review", "accept", name).out
    assert "no person approved it (input and output are not both a terminal)" in said


def test_what_rests_on_a_persons_word_says_that_none_was_seen(repo: GitRepo) -> None:
    """The refusal was "cites nothing", though a person's same command accepts it."""
    cli = Cli(repo.path)
    cli("init", "--commit")
    name = json.loads(cli("remember", "Ropes are red.", "--type", "decision", "--json").out)["id"]
    why = f"{name} has no evidence, so only a person can accept it"
    way = "Run the same command in another terminal, where no agent runs; or cite evidence first"

    def refused(code: int, said: str, doubt: str) -> None:
        assert code == 23, said
        assert f" not counted as approved by a person: {doubt}; {why}" in said
        assert f" {way}" in said

    code, screen = on_a_terminal(repo.path, "review", "accept", name, CLAUDECODE="1")
    refused(code, screen, "CLAUDECODE is set, so an agent seems to be running this")
    script = cli("review", "accept", name, ok=False)
    refused(script.code, script.err, "input and output are not both a terminal")
    many = cli("review", "accept", "--all", ok=False)
    assert many.code == 1, "things waited and none was decided"
    assert f"{name}  not counted as approved by a person: input" in many.out and way in many.out
    told = json.loads(cli("review", "accept", "--all", "--json", ok=False).out)
    assert why in told["left"][0]["why"] and told["hints"][0].startswith(way)
    with pytest.raises(NeedsReview, match=f"no person was seen at a terminal; {why}"):
        Project.open(repo.path).memory.accept(name)
    other = json.loads(cli("remember", "Ropes are long.", "--json", "--type", "decision").out)["id"]
    cli("edit", other, "--evidence", "README")
    some = cli("review", "accept", "--all")
    assert some.out.startswith("1 memory accepted.") and why in some.out, "some were decided"
    code, screen = on_a_terminal(repo.path, "review", "accept", name)
    assert (code, trust_of(repo, name)) == (0, "T0"), screen
    assert cli("review", "accept", "--all").code == 0, "nothing waited"


def test_what_a_shell_is_handed_as_an_argument_is_no_agent() -> None:
    """A person's login shell may run anything; the script that any interpreter runs is what counts."""
    assert agent_called(["bash", "-lc", "codex"]) is None
    assert all(agent_called([shell, "/usr/bin/codex"]) for shell in ("dash", "bash", "zsh", "node", "env"))


@pytest.mark.parametrize("off", ["", "0", "false", "no", "off", " OFF ", "False"])
def test_every_way_to_switch_a_marker_off_counts(off: str) -> None:
    """A person who says no is not asked in which words."""
    assert agent_marker({"CI": off}) is None
    assert agent_marker({"CI": off, "GITHUB_ACTIONS": "true"}) == "GITHUB_ACTIONS"


@pytest.mark.parametrize("ending", ["exe", "js", "mjs", "cjs", "ts", "py", "sh", "cmd"])
def test_a_program_is_known_with_any_ending_it_is_installed_with(ending: str) -> None:
    """Every packager has his own."""
    assert agent_called([f"/opt/codex.{ending}", "exec"]) == "Codex"
    assert agent_called([f"C:\\tools\\Codex.{ending.upper()}"]) == "Codex"
    assert agent_called([f"/opt/codex.{ending}.txt"]) is None
    assert agent_called([f"/opt/codex{ending}"]) is None


@pytest.mark.parametrize(
    "interpreter", ["node", "bun", "deno", "python", "python3.11", "pypy3", "sh", "-bash", "dash", "zsh", "env"]
)
def test_a_script_is_known_by_its_own_name_whatever_runs_it(interpreter: str) -> None:
    """An agent in a wrapper is the agent."""
    assert agent_called([interpreter, "--flag", "/usr/bin/codex", "x"]) == "Codex"
    assert agent_called([interpreter, "-m", "codex"]) == "Codex"
    assert agent_called([interpreter, "-m"]) is None
    assert agent_called([interpreter, "/home/me/notes.py", "codex"]) is None
    for given in ("-c", "-e", "-lc", "--eval", "-p"):
        assert agent_called([interpreter, given, "codex"]) is None, "a program as an argument is no script"
    assert agent_called([interpreter]) is None
    assert agent_called(["less", "/usr/bin/codex"]) is None
    assert agent_called([]) is None


def test_the_processes_above_are_looked_at_up_to_the_first_and_not_for_ever() -> None:
    """A table that names a process its own parent must not hold a command up."""
    table = {7: (5, ["a"]), 5: (1, ["b"]), 1: (0, ["c"])}
    assert list(person._above(7, table.get)) == [["a"], ["b"], ["c"]]
    assert list(person._above(5, table.get)) == [["b"], ["c"]]
    assert list(person._above(0, {0: (0, ["idle"])}.get)) == []
    assert 10 < len(list(person._above(3, {3: (3, ["x"])}.get))) < 1000


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are not files here")
def test_a_process_is_read_with_its_parent_and_its_words() -> None:
    """A title that a program gave itself is one word, and its first part is the program."""
    parent, words = person._from_proc(os.getpid()) or (0, ())
    assert parent == os.getppid()
    assert list(words) == Path("/proc/self/cmdline").read_text().rstrip("\0").split("\0")
    assert person._from_proc(2**22 + 1) is None
    both = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["codex  at work"], executable="/bin/sh", **both) as shell:
        assert shell.stdin is not None and shell.stdout is not None
        shell.stdin.write(b"echo here\n")
        shell.stdin.flush()
        assert shell.stdout.readline() == b"here\n"
        found = person._from_proc(shell.pid)
        shell.stdin.close()
    assert found == (os.getpid(), ["codex"])
