"""Most calls of a tool concern no guard: the launcher sees that without Python, and never keeps a warning back."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.capture.wiring import user_homes
from holdfast.interfaces import agent_hook
from holdfast.recall import guards, path_patterns
from tests.cli.test_agent_hook import Agent, accepted, agent, person, quiet, ready  # noqa: F401 - fixtures
from tests.conftest import GitRepo

EDIT = {"tool_name": "Edit", "tool_input": {"file_path": "src/auth/login.py"}}
OTHER = {"tool_name": "Edit", "tool_input": {"file_path": "docs/a.md"}}
RULE = "Sessions end after an hour."


class Launched(Agent):
    """An agent that calls the launcher, and how often that started Python."""

    starts = 0
    shell = ("/bin/sh",)

    def told(self, event: str = "PreToolUse", **fields: object) -> str:
        folder = self.repo.path.parent
        counted, count = folder / "python", folder / "starts"
        counted.write_text(f'#!/bin/sh\necho >>"{count}"\nexec "{sys.executable}" "$@"\n')
        counted.chmod(0o755)
        environ = {"HOME": str(folder), "PATH": os.environ["PATH"]}
        package = str(Path(agent_hook.__file__).parent.parent)
        homes = user_homes.homes_of(environ, python=str(counted), package=package)
        launcher = folder / "launcher"
        launcher.write_bytes(user_homes.launcher_texts(homes)[homes.hook])
        given = self.stdin(event, **fields)
        words = [*self.shell, str(launcher), self.name, event]
        done = subprocess.run(words, cwd=self.repo.path, input=given, capture_output=True, timeout=60, check=True)
        assert done.stderr == b""
        self.starts, before = len(count.read_text().split("\n")) - 1 if count.exists() else 0, self.starts
        self.started = self.starts > before
        return done.stdout.decode()


@pytest.fixture
def launched(quiet: Agent) -> Launched:  # noqa: F811
    """An agent in a repository with one guard, which has asked once and long ago."""
    (quiet.repo / "src/auth").mkdir(parents=True)
    accepted(quiet.repo, RULE, applies_to=["src/auth/**"])
    ready(quiet.repo)
    found = Launched(quiet.repo)
    found.told(**OTHER)
    assert found.started
    long_ago(quiet.repo)
    return found


def long_ago(repo: GitRepo) -> None:
    """As if nothing had changed for a while when the clues were written: the last two seconds are mistrusted."""
    for path in (repo / ".git/holdfast/inbox").glob("clues-*"):
        os.utime(path)
    time.sleep(0.02)  # longer than a tick of the file system's clock


def test_a_call_that_concerns_no_guard_starts_no_python(launched: Launched) -> None:
    """It costs every call of every tool a tenth of what Python needs to start."""
    assert launched.told(**OTHER) == "" and not launched.started
    huge = {"tool_name": "Write", "tool_input": {"file_path": "docs/a.md", "content": 'x\\"\n' * 200_000}}
    assert launched.told(**huge) == "" and not launched.started


def test_after_a_prompt_even_the_first_call_starts_no_python(quiet: Agent) -> None:  # noqa: F811
    """An agent's first answer has several calls at once, and each would start one."""
    (quiet.repo / "src/auth").mkdir(parents=True)
    accepted(quiet.repo, RULE, applies_to=["src/auth/**"])
    ready(quiet.repo)
    new = Launched(quiet.repo)
    new.told("SessionStart", source="startup")
    new.told("UserPromptSubmit", prompt="Go on with the documentation.")
    long_ago(quiet.repo)
    assert new.told(**OTHER) == "" and not new.started
    assert RULE in new.told(**EDIT)


def test_a_call_that_concerns_a_guard_is_warned(launched: Launched) -> None:
    """The warning is what it is all about; each once a session, as ever."""
    assert RULE in launched.told(**EDIT) and launched.started
    assert launched.told(**EDIT) == ""
    shell = {"tool_name": "Bash", "tool_input": {"command": "cd src && rm auth/login.py"}}
    launched.session = "5e55-0002"
    assert launched.told(**shell) == "" and launched.started  # named otherwise, so that Python decides


SHELLS = [("dash",), ("bash", "--posix"), ("busybox", "sh"), ("zsh", "--emulate", "sh"), ("ksh",), ("mksh",)]


@pytest.mark.parametrize("shell", [one for one in SHELLS if shutil.which(one[0])], ids=" ".join)
def test_every_shell_understands_the_launcher(launched: Launched, shell: tuple[str, ...]) -> None:
    """/bin/sh is dash on Debian, bash on macOS and Fedora, busybox on Alpine."""
    launched.shell = shell
    assert launched.told(**OTHER) == "" and not launched.started
    assert RULE in launched.told(**EDIT)
    commits(launched.repo)
    assert launched.told(**OTHER) == "" and launched.started


def commits(repo: GitRepo) -> None:
    repo.git("commit", "-q", "--allow-empty", "-m", "more")


def switches(repo: GitRepo) -> None:
    repo.git("switch", "-q", "-c", "other")


def accepts(repo: GitRepo) -> None:
    accepted(repo, "Docs are in English.", applies_to=["docs/**"])


def accepts_elsewhere(repo: GitRepo) -> None:
    repo.git("worktree", "add", "-q", "../elsewhere")
    accepted(person(GitRepo(repo.path.parent / "elsewhere")), "Docs are in English.", applies_to=["docs/**"])


def edits_settings(repo: GitRepo) -> None:
    with open(repo / ".holdfast/holdfast.toml", "a", encoding="utf-8") as file:
        file.write("\n# by hand\n")


def is_sandboxed(repo: GitRepo) -> None:
    (repo / ".holdfast/local/inbox").mkdir(parents=True)


@pytest.mark.parametrize("change", [commits, switches, accepts, accepts_elsewhere, edits_settings, is_sandboxed])
def test_after_a_change_python_decides(launched: Launched, change: Callable[[GitRepo], None]) -> None:
    """A rule that was approved a minute ago must not wait for the next turn."""
    assert not launched.told(**OTHER) and not launched.started
    change(launched.repo)
    launched.told(**OTHER)
    assert launched.started


@pytest.mark.parametrize("event", ["PermissionRequest", "Notification"])
def test_what_follows_a_question_is_recorded(launched: Launched, event: str) -> None:
    """Whether leave was given may show only in the next event of a tool."""
    launched.told(event, tool_name="Bash")
    launched.told(**OTHER)
    assert [one.event for one in launched.pointers()][-2:] == [event, "PreToolUse"]


def test_a_work_tree_has_clues_of_its_own(launched: Launched) -> None:
    """Crews work in work trees, and a branch may have other rules."""
    launched.repo.git("worktree", "add", "-q", "../elsewhere")
    there = Launched(GitRepo(launched.repo.path.parent / "elsewhere"), session="5e55-0003")
    ready(there.repo)
    there.told(**OTHER)
    long_ago(launched.repo)
    assert there.started and there.told(**OTHER) == "" and not there.started
    (there.repo / "src/auth").mkdir(parents=True)
    assert RULE in there.told(**EDIT)


def test_without_cat_python_decides(launched: Launched, monkeypatch: pytest.MonkeyPatch) -> None:
    """A PATH may have next to nothing; the warning must come."""
    monkeypatch.setenv("PATH", "/nowhere")
    assert RULE in launched.told(**EDIT)


def test_hooks_of_an_earlier_version_cost_no_python(launched: Launched) -> None:
    """Settings keep our hook after a tool until the next `connect`; the transcript tells all that it could."""
    for event in ("PostToolUse", "PostToolUseFailure"):
        assert launched.told(event, **EDIT) == "" and not launched.started


NAMES = st.text("ab.-_ö*", min_size=1, max_size=4).filter(lambda name: name.strip("."))
PLACES = st.lists(st.one_of(NAMES, st.just("**")), min_size=1, max_size=3).map("/".join)


@given(place=PLACES, parts=st.lists(NAMES.filter(lambda name: "*" not in name), min_size=1, max_size=4))
def test_a_path_holds_the_clue_of_each_place_that_it_is_in(place: str, parts: list[str]) -> None:
    """A clue that a guarded path lacks would silence its warning."""
    path = "/".join(parts)
    if path_patterns.holds(place, path):
        one = guards.MemoryGuard("INV-a", "invariant", "x", places=[place])
        assert any(clue in json.dumps({"file_path": f"/repo/{path}"}) for clue in guards.clues([one]))


def test_many_guards_leave_the_choice_to_python() -> None:
    """A shell that compares thousands of words takes longer than Python."""
    many = [guards.MemoryGuard(f"INV-{n}", "invariant", "x", places=[f"{n:05}"]) for n in range(guards.MOST_CLUES + 1)]
    assert guards.clues(many[1:]) == sorted(f"{n:05}" for n in range(1, len(many))) and guards.clues(many) == [""]


def test_a_command_holds_the_longest_of_its_words() -> None:
    """`git` stands in nearly every path; the clue is what tells the command from others."""
    one = guards.MemoryGuard("INV-a", "invariant", "x", commands=["git push --force", "make"])
    assert guards.clues([one]) == ["--force", "make"]
