"""Roles that users bring: asked with care, heard, and never stronger than a check."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast import Project
from holdfast.crew import crew_runs, historian
from holdfast.crew.crew_journal import CrewBoard, CrewJournal, CrewState
from holdfast.crew.historian import FinishedStep, RoleFailed, ask_role
from holdfast.interfaces.cli.crew_commands import recap_text
from holdfast.model.ids import token
from holdfast.model.task import Task
from holdfast.values import asdict
from tests.conftest import GitRepo
from tests.crew.conftest import CHECKS, run_crew

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "size_reviewer"
STRANGERS = """
import os, sys, time
class Raises:
    def review(self, step): raise KeyError("no idea \\x1b[2J")
class Leaves:
    def review(self, step): sys.exit(0)
class Hangs:
    def review(self, step):
        while True:
            try: time.sleep(600)
            except BaseException: pass
class Odd:
    def review(self, step): return [1, 2]
class Loud:
    def review(self, step):
        print('{"answer": ["forged"]}'); os.system("echo loud")
        return [f"{step.title}: {len(step.files)} files, \\x1b[31mred\\n{step.diff.count('+')}"]
class Plans:
    def plan(self, question): return '{"tasks": [{"key": "a", "title": "First"}, {"title": "Then", "needs": ["a"]}]}'
class Words:
    def lesson(self, step): return f"Do not try {step.title} with {step.kind}"
"""
ENTRIES = """[holdfast.crew]
size = size_reviewer:SizeReviewer
raises = strangers:Raises
leaves = strangers:Leaves
hangs = strangers:Hangs
odd = strangers:Odd
loud = strangers:Loud
plans = strangers:Plans
words = strangers:Words
gone = strangers:Gone
"""


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example, and strangers' code, as if they were installed."""
    info = tmp_path / "site" / "strangers-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    (info.parent / "strangers.py").write_text(STRANGERS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (info.parent, EXAMPLE))))


def named(settings: Path, **roles: str) -> None:
    settings.write_text(CHECKS + "[crew.roles]\n" + "".join(f'{name} = "{one}"\n' for name, one in roles.items()))


STEP = FinishedStep(
    task="t", title="Sort", branch="b", commit="c", files=("a.py",), diff="+++ b/a.py\n+x = 1  # FIXME\n", summary="s"
)


def ask(repo: GitRepo, settings: Path, reviewer: str) -> list[str]:
    named(settings, reviewer=reviewer)
    return ask_role(
        Project.open(repo.path, environ=dict(os.environ)), "reviewer", asdict(STEP), mark=f"test/{token(8)}"
    )


def test_the_example_objects(crewed: GitRepo, settings: Path) -> None:
    """Whoever starts from the example starts from something that works."""
    assert ask(crewed, settings, "size") == ["It leaves a note behind: x = 1  # FIXME", "It changes no test."]


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ("raises", "KeyError: 'no idea"),
        ("leaves", "SystemExit: 0"),
        ("hangs", "it took longer than"),
        ("odd", "did not return sentences"),
        ("gone", "AttributeError"),
        ("nobody", "no package that is installed brings it"),
    ],
)
def test_a_role_that_fails_ends_in_one_sentence(
    crewed: GitRepo, settings: Path, who: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger's fault must not end or hold a crew that works all night."""
    code = historian._ASK_ROLE.replace("found =", "historian.ROLE_TIME = 0.5; found =")
    monkeypatch.setattr(historian, "_ASK_ROLE", code)
    monkeypatch.setattr(historian, "ROLE_TIME", -9.0 if who == "hangs" else 60.0)
    with pytest.raises(RoleFailed, match=why) as caught:
        ask(crewed, settings, who)
    assert "\x1b" not in str(caught.value) and "\n" not in str(caught.value)


def test_what_a_role_prints_is_not_its_answer(crewed: GitRepo, settings: Path) -> None:
    """And nothing it says can steer a terminal."""
    (said,) = ask(crewed, settings, "loud")
    assert said.startswith("Sort: 1 files, ⟨U+001B⟩[31mred")


def test_objections_do_not_stop_a_merge_and_are_shown_before_the_users_branch_changes(
    crewed: GitRepo, settings: Path, scripted: Callable[[str], str]
) -> None:
    """A check beats an opinion, and a person hears both."""
    named(settings, reviewer="size")
    agent = scripted("pathlib.Path('new.py').write_text('pass  # FIXME\\n')")
    run, done = run_crew(crewed, agent, "Add a file")
    ((task, said), (_, more)) = done.objections
    assert [row["task"] for row in done.done] == [task]
    assert "FIXME" in said and more == "It changes no test."
    assert crewed.git("show", f"crew/{run}/result:new.py") and crewed.git("ls-files", "new.py") == ""
    assert "Look at these before you merge: 2" in recap_text(done)


def test_a_reviewer_that_fails_is_said(crewed: GitRepo, settings: Path) -> None:
    """Merged without the review that one counts on must not look like merged with it."""
    named(settings, reviewer="raises")
    project = Project.open(crewed.path, environ=dict(os.environ))
    ((kind, body),) = historian.reviewed(project, STEP, mark=f"test/{token(8)}")
    assert kind == "note" and "t was merged without a review: the reviewer raises failed" in body["said"]


def test_a_planner_and_a_historian_take_their_parts(crewed: GitRepo, settings: Path) -> None:
    """The planner's answer is checked as a model's is; the historian words what is proposed."""
    named(settings, planner="plans", historian="words")
    project = Project.open(crewed.path, environ=dict(os.environ))
    plan, _ = crew_runs.planned(project, ["Make it fast"], folder=str(crewed.path))
    assert plan is not None and [one.title for one in plan.tasks] == ["First", "Then"]
    body = {"task": "t", "attempt": 1, "kind": "check", "why": "test ended with 1"}
    journal = CrewJournal(project.agents.database, "r1")
    journal.begin({"started": ""})
    journal.add(("queue", {**body, "item": "t/1"}), ("fail", body))
    state = CrewState().fold(journal.steps())
    board, bell = CrewBoard([Task(id="t", title="Sort")], state), threading.Event()
    with ThreadPoolExecutor() as aside:
        lessons = historian.CrewLessons(project, journal, aside, bell, mark=f"test/{token(8)}")
        lessons.propose_next(state, board)
        assert bell.wait(60) and state.untaught()
        lessons.propose_next(state, board)
    assert not state.untaught() and not CrewState().fold(journal.steps()).untaught(), "asked once, whoever goes on"
    assert [project.memory.get(one).memory.statement for one in state.lessons.values()] == [
        "Do not try Sort with check"
    ]
