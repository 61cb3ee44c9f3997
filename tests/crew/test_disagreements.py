"""Where workers of a crew disagree: a person finds it in review, and what they do about it counts."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast import Project
from holdfast.crew import crew_runs
from holdfast.crew.crew_journal import CrewState, CrewStep
from holdfast.crew.crew_limits import CrewLimits
from holdfast.crew.headless_agents import agent_named
from holdfast.work import task_claims, task_lifecycle
from tests.conftest import Cli, GitRepo
from tests.crew.conftest import CHECKS, run_crew, running

WAITS = """
import time
title = prompt.splitlines()[0].removeprefix("# Your task: ")
def until(found):
    for _ in range(600):
        if found(): return
        time.sleep(0.05)
    sys.exit("waited in vain")
def merged(word):
    git = ["git", "log", "--format=%s", "--glob=refs/heads/crew/*/result"]
    return word in subprocess.run(git, capture_output=True, text=True).stdout.splitlines()
def others(task): return any(task in name.lower() for name in os.listdir(".."))
def write(): pathlib.Path("same.txt").write_text(title)
"""
CLASH = """
if title == "Alpha": until(lambda: others("beta"))
if title == "Beta": until(lambda: merged("Alpha"))
if title == "Gamma": until(lambda: others("tsk-"))  # the task that resolves it
if title.startswith("Resolve"): until(lambda: merged("Gamma"))
write()
"""


def test_a_conflict_at_merge_is_shown_in_review_until_a_person_resolved_it(
    crewed: GitRepo, scripted: Callable[[str], str], tmp_path: Path, cli: Cli
) -> None:
    """Beta conflicts with Alpha; its second try conflicts with Gamma. What a person then makes of it is merged."""
    plan = crewed.write("plan.md", "- [ ] Alpha\n- [ ] Beta\n- [ ] Gamma (needs: Alpha)\n")
    agent = scripted(WAITS + CLASH)
    run, done = run_crew(crewed, agent, str(plan), workers=2)
    assert [row["title"] for row in done.done] == ["Alpha", "Gamma"], done
    (asked,) = done.decide
    found = json.loads(cli("review", "list", "--json").out)["crew"]
    (decision,) = [one for one in found if one["kind"] == "decision"]
    assert decision["files"] == ["same.txt"] and decision["run"] == run
    gamma = next(row["task"] for row in done.done if row["title"] == "Gamma")
    assert decision["tasks"] == [asked["task"], gamma], "both sides are named; Alpha's work it stands on"
    left = Project.open(crewed.path, environ=dict(os.environ))
    assert any(one.why.startswith("it waits for your decision") for one in crew_runs.leftovers(left)), (
        "no advice to delete"
    )
    shown = cli("review", "list").out
    assert (
        "asks you:" in shown and f"holdfast crew resume --run {run}" in shown and "Nothing waits for review." in shown
    )
    # By hand: on top of what was merged, with both texts.
    crewed.git("worktree", "add", "-q", str(tmp_path / "hand"), asked["branch"])
    inside = ["git", "-C", str(tmp_path / "hand")]
    subprocess.run([*inside, "reset", "-q", "--hard", f"crew/{run}/result"], check=True)
    (tmp_path / "hand" / "same.txt").write_text("Gamma and Beta, by hand")
    subprocess.run([*inside, "commit", "-qam", "Both"], check=True)
    subprocess.run([*inside, "switch", "-q", "--detach"], check=True)
    project = Project.open(crewed.path, environ=dict(os.environ))
    done = crew_runs.supervise(project, run, agent=agent_named(agent), workers=1, limits=CrewLimits())
    assert crewed.git("show", f"crew/{run}/result:same.txt") == "Gamma and Beta, by hand"
    assert not done.decide and not done.waiting
    assert json.loads(cli("review", "list", "--json").out)["crew"] == []


def test_tasks_on_the_same_files_are_shown_while_one_waits_for_the_other(
    crewed: GitRepo, scripted: Callable[[str], str], tmp_path: Path, cli: Cli
) -> None:
    """Seen before the second starts; over once the first is merged and its check passed."""
    crewed.commit("same.txt", "start\n")
    plan = crewed.write("plan.md", "- [ ] Alpha (files: same.txt)\n- [ ] Beta (files: same.txt)\n")
    agent = scripted(f"{WAITS}\nif title == 'Alpha': until(lambda: os.path.exists({str(tmp_path / 'go')!r}))\nwrite()")
    command = [sys.executable, "-m", "holdfast", "crew", "run", str(plan), "--agent", agent, "--workers", "2"]
    with subprocess.Popen(command, cwd=crewed.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as crew:
        found, until = [], time.monotonic() + 60
        while not found and time.monotonic() < until and crew.poll() is None:
            found = json.loads(cli("review", "list", "--json").out).get("crew") or []
        waiting = json.loads(cli("crew", "status", "--json").out)["waiting"]
        (tmp_path / "go").touch()
        assert crew.wait(60) == 0
    (one,) = found
    assert one["kind"] == "overlap" and one["files"] == ["same.txt"] and len(one["tasks"]) == 2
    assert "both concern same.txt" in one["said"]
    assert [row["why"] for row in waiting if row["task"] == one["tasks"][0]] == [one["said"]]
    assert json.loads(cli("review", "list", "--json").out)["crew"] == []


def test_who_did_what_another_had_done_is_named(crewed: GitRepo, scripted: Callable[[str], str]) -> None:
    """Two tasks that are done at the same commit look like work that was lost."""
    plan = crewed.write("plan.md", "- [ ] Alpha\n- [ ] Beta\n")
    meet = "until(lambda: others('beta' if title == 'Alpha' else 'alpha'))"
    _, done = run_crew(crewed, scripted(f"{WAITS}\n{meet}\npathlib.Path('one').touch()"), str(plan), workers=2)
    assert len({row["commit"] for row in done.done}) == 1 and len(done.done) == 2, done
    assert [note for note in done.notes if "changed nothing" in note], done.notes


def test_two_proposals_for_one_decision_are_shown_side_by_side(
    crewed: GitRepo, scripted: Callable[[str], str], cli: Cli
) -> None:
    """Two workers decide the same thing differently: whoever reviews one must see the other."""
    crewed.commit("store.py", "def store(): pass\n")
    said = {"Alpha": "Sessions are stored in SQLite.", "Beta": "Sessions are stored in Postgres, not in SQLite."}
    words = [sys.executable, "-m", "holdfast", "remember", "--type", "decision", "--evidence", "store.py"]
    agent = scripted(f"{WAITS}\npathlib.Path(title).touch()\nsubprocess.run([*{words!r}, {said!r}[title]], check=True)")
    plan = crewed.write("plan.md", "- [ ] Alpha\n- [ ] Beta\n")
    _, done = run_crew(crewed, agent, str(plan), workers=2)
    assert len(done.done) == 2, done
    items = json.loads(cli("review", "list", "--json").out)["items"]
    rivals = {one["statement"]: [rival["statement"] for rival in one["rivals"]] for one in items}
    assert rivals == {said["Alpha"]: [said["Beta"]], said["Beta"]: [said["Alpha"]]}
    shown = cli("review", "list")
    assert shown.out.count("contradict") == 1, "each pair once"
    assert "holdfast reconcile" not in cli("status").out, "no question for a person"
    assert "waits" not in cli("reconcile").out


def test_conflicts_end_when_a_check_settles_them() -> None:
    """A list that keeps what is long over is not read."""
    rows = [
        ("plan", {"tasks": ["a", "b"]}),
        ("overlap", {"of": "b", "with": "a", "files": ["x"], "said": "b waits for a: both concern x"}),
        ("conflict", {"task": "b", "why": "conflicts with a in x", "files": ["x"], "with": ["a"]}),
    ]
    steps = [CrewStep(position=n, at=n, kind=kind, body=body) for n, (kind, body) in enumerate(rows, 1)]
    state = CrewState().fold(steps)
    assert [(one.kind, one.tasks) for one in state.conflicts("r")] == [("overlap", ("b", "a")), ("merge", ("b", "a"))]
    state.fold([CrewStep(position=9, at=9, kind="merge", body={"task": name, "commit": "c"}) for name in ("a", "b")])
    assert state.conflicts("r") == []


def test_boxes_in_a_tasks_notes_become_its_parts(crewed: GitRepo, scripted: Callable[[str], str], cli: Cli) -> None:
    """Without a model: whoever broke a task down in its notes need not do it again on the board."""
    task = json.loads(cli("task", "add", "Both files", "--notes", "- [ ] One\n- [x] Old\n- [ ] Two", "--json").out)
    agent = scripted(f"{WAITS}\npathlib.Path(title).write_text(prompt)")
    run, done = run_crew(crewed, agent, task["id"])
    assert {row["title"] for row in done.done} == {"Both files", "One", "Two"}
    assert "This is a part of: Both files" in crewed.git("show", f"crew/{run}/result:One")
    assert crewed.git("log", "--format=%s", f"main..crew/{run}/result").splitlines().count("Both files") == 0


def until(holds: Callable[[], object]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def model(settings: Path, tmp_path: Path, code: str) -> None:
    """A model command that answers by a script, and counts how often it was asked for a plan (not for summaries)."""
    script = tmp_path / "model.py"
    count = f"if 'Break this work down' in text: open({str(tmp_path / 'asked')!r}, 'a').write('x')"
    script.write_text(f"import sys, json\ntext = sys.stdin.read()\n{count}\n{code}")
    command = json.dumps([sys.executable, str(script)])
    settings.write_text(f"{CHECKS}[model]\ncommand = {command}\n")


def test_the_planner_looks_at_every_ready_task_once(
    crewed: GitRepo, settings: Path, scripted: Callable[[str], str], tmp_path: Path, cli: Cli
) -> None:
    """What is small stays as it is, what is large is broken down, and parts are not asked about again."""
    answer = "[{'key': str(n), 'title': f'Part {n}'} for n in (1, 2)] if 'Large' in text else [{'title': 'Small'}]"
    model(settings, tmp_path, f"print(json.dumps({{'tasks': {answer}}}))")
    plan = crewed.write("plan.md", "- [ ] Large\n- [ ] Small\n")
    agent = scripted(f"{WAITS}\npathlib.Path(title.replace(' ', '')).touch()")
    _, done = run_crew(crewed, agent, str(plan))
    assert {row["title"] for row in done.done} == {"Large", "Part 1", "Part 2", "Small"}
    assert (tmp_path / "asked").read_text() == "xx"


def test_a_planner_without_an_answer_holds_nothing_up(
    crewed: GitRepo, settings: Path, scripted: Callable[[str], str], tmp_path: Path
) -> None:
    """Asked twice for the first task, then no more; the recap says so."""
    model(settings, tmp_path, "print('no idea')")
    plan = crewed.write("plan.md", "- [ ] One\n- [ ] Two\n- [ ] Three\n")
    _, done = run_crew(crewed, scripted(f"{WAITS}\npathlib.Path(title).touch()"), str(plan))
    assert len(done.done) == 3 and (tmp_path / "asked").read_text() == "xx"
    assert done.notes == ("planned without the model from here on: its answer is no JSON",)


def test_a_failed_task_that_the_planner_cannot_break_down_is_parked(
    crewed: GitRepo, settings: Path, scripted: Callable[[str], str], tmp_path: Path
) -> None:
    """Its notes have boxes in a ring, so the planner is asked: once, and not until its calls of the day are used."""
    model(settings, tmp_path, "print('no idea')")
    Cli(crewed.path)("task", "add", "Ring", "--notes", "- [ ] x1 (needs: x2)\n- [ ] x2 (needs: x1)")
    _, done = run_crew(crewed, scripted("pathlib.Path('broken').touch()"), attempts=1)
    assert len(done.failed) == 1 and (tmp_path / "asked").read_text() == "xx", done


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked at in /proc")
def test_a_planner_ends_with_its_supervisor(crewed: GitRepo, settings: Path, tmp_path: Path) -> None:
    """After `kill -9` nobody would read its answer, which is paid for."""
    number = tmp_path / "number"
    model(settings, tmp_path, f"import os, time; open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(60)")
    task = json.loads(Cli(crewed.path)("task", "add", "Do it", "--json").out)["id"]
    command = [sys.executable, "-m", "holdfast", "crew", "run", task, "--agent", "true"]
    with subprocess.Popen(command, cwd=crewed.path) as crew:
        until(lambda: number.exists() and number.read_text())
        found = json.loads(Cli(crewed.path)("crew", "status", "--json").out)
        assert found["waiting"][0]["why"] == "the planner is asked whether it has parts"
        until(lambda: running(f"crew work --run {found['run']}"))  # else nobody is left who could end it
        crew.kill()
    until(lambda: not os.path.exists(f"/proc/{number.read_text()}"))


RINGS = (
    "- [ ] x1 (needs: x2)\n- [ ] x2 (needs: x1)",
    "- [ ] Uses\n  - [ ] child (needs: Uses)\n- [ ] other",
    "- [ ] First (needs: after)\n- [ ] Second",
)


def test_boxes_that_wait_for_one_another_stop_no_crew(
    crewed: GitRepo, scripted: Callable[[str], str], cli: Cli
) -> None:
    """One task with a slip in its notes must not end the work of all others; it is done whole."""
    cli("task", "add", "Good", "--id", "good")
    for number, notes in enumerate(RINGS):
        cli("task", "add", f"Ring{number}", "--id", f"ring{number}", "--notes", notes)
    cli("task", "add", "After", "--id", "after", "--needs", "ring2")
    _, done = run_crew(crewed, scripted(f"{WAITS}\npathlib.Path(title).touch()"))
    assert {row["title"] for row in done.done} >= {"Good", "Ring0", "Ring1", "Ring2", "After"}, done
    assert all(any(f"ring{number} was not broken down: " in note for note in done.notes) for number in range(3))


def test_a_new_crew_names_the_dead_one_that_holds_its_tasks(crewed: GitRepo, scripted: Callable[[str], str]) -> None:
    """A claim lasts for hours; whoever starts again must not wait for it without a word."""
    plan = crewed.write("plan.md", "- [ ] Alpha\n- [ ] Beta\n")
    project = Project.open(crewed.path, environ=dict(os.environ))
    agent = agent_named(scripted(f"{WAITS}\npathlib.Path(title).touch()"))
    dead = crew_runs.begin(project, [str(plan)], folder=str(crewed.path), agent=agent, workers=1, limits=CrewLimits())
    (alpha,) = (name for name in crew_runs.status(project, dead)[1].tasks if name.startswith("alpha-"))
    who = task_lifecycle.TaskWorker(f"crew {dead}")
    claim = task_lifecycle.claim_of(project.clone, alpha, who, lasting=task_lifecycle.LASTING)
    task_claims.take(project.clone.layout, claim, now=project.clone.now())
    _, done = run_crew(crewed, scripted(f"{WAITS}\npathlib.Path(title).touch()"), str(plan))
    assert [row["title"] for row in done.done] == ["Beta"]
    assert f"holdfast crew resume --run {dead}" in done.reason, done
