"""What a user does with a run that is through: take its result, and clean up after it; nothing of theirs is lost."""

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast import Project
from holdfast.crew import crew_journal, crew_runs, supervisor
from holdfast.crew.check_receipts import SUGGESTED, allow
from holdfast.crew.crew_journal import CrewJournal
from holdfast.crew.crew_limits import CrewLimits
from holdfast.crew.headless_agents import agent_named
from holdfast.errors import BadInput, Busy, GitFailed, NotFound
from tests.conftest import GitRepo
from tests.crew.conftest import run_crew


@pytest.fixture
def project(crewed: GitRepo) -> Project:
    return Project.open(crewed.path, environ=dict(os.environ))


@pytest.fixture
def run(project: Project, crewed: GitRepo) -> str:
    """A run that is through, with one commit on its result branch."""
    agent, limits = agent_named("true"), CrewLimits()
    name = crew_runs.begin(project, ["Do it"], folder=str(crewed.path), agent=agent, workers=1, limits=limits)
    GitRepo(Path(path_of(project, name))).commit("done.txt", "x\n")
    CrewJournal(project.agents.database, name).add(("end", {}), ended=True)
    return name


def path_of(project: Project, run: str) -> str:
    return str(CrewJournal(project.agents.database, run).head()["path"])


def standing(project: Project) -> tuple[bool, str]:
    (one,) = crew_runs.leftovers(project)
    return one.is_safe, one.why


def cleaned(project: Project) -> int:
    return crew_runs.clean(project, [one for one in crew_runs.leftovers(project) if one.is_safe])


def test_a_step_that_was_killed_with_its_supervisor_has_lost_nothing(
    crewed: GitRepo, scripted: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that goes down again and again says nothing of the task; only a worker that dies alone does."""
    monkeypatch.setattr(supervisor, "CLAIMS", 1)
    agent = agent_named(scripted("pathlib.Path('done.txt').touch()"))
    how: dict[str, Any] = {"agent": agent, "limits": CrewLimits()}
    project = Project.open(crewed.path, environ=dict(os.environ))
    run = crew_runs.begin(project, ["Do it"], folder=str(crewed.path), workers=1, **how)

    def down(_: object) -> None:
        raise KeyboardInterrupt

    takes = (
        "import os, sys; from holdfast import Project; from holdfast.crew import crew_journal; "
        "crew_journal.queue_of(Project.open(sys.argv[1]), sys.argv[2]).claim(60) or os._exit(1); os._exit(0)"
    )
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            crew_runs.supervise(project, run, workers=1, tell=down, **how)
        assert subprocess.run([sys.executable, "-c", takes, str(crewed.path), run], check=False).returncode == 0
    done = crew_runs.supervise(project, run, workers=1, **how)
    assert len(done.done) == 1 and not done.failed, done


def test_a_failure_is_known_to_everybody_before_the_next_attempt(
    crewed: GitRepo, scripted: Callable[[str], str], tmp_path: Path
) -> None:
    """A dead end that shows in review when the night is over helps nobody who works meanwhile."""
    listed = [sys.executable, "-m", "holdfast", "-C", str(crewed.path), "review", "list", "--all", "--json"]
    seen = tmp_path / "seen"
    code = f"""
if "Attempt 1" not in prompt: pathlib.Path("broken").touch()
else: pathlib.Path({str(seen)!r}).write_bytes(subprocess.check_output({listed!r})); pathlib.Path("new").touch()
"""
    _, done = run_crew(crewed, scripted(code), "Do it")
    assert len(done.done) == 1 and done.proposed == 1, done
    (found,) = json.loads(seen.read_text())["items"]
    assert found["statement"].startswith("Do it: an attempt failed, because the check default ended with 1")


def test_a_branch_that_a_worker_has_just_made_stays(project: Project, crewed: GitRepo) -> None:
    """It has no commits yet, so it looks merged; without it the worker's commit would be on no branch."""
    how: dict[str, Any] = {"workers": 1, "limits": CrewLimits()}
    run = crew_runs.begin(project, ["Do it"], folder=str(crewed.path), agent=agent_named("true"), **how)
    working = supervisor.Supervisor(Project.open(path_of(project, run)), run, agent=["true"], **how)
    (task,) = working.state.fold(working.journal.steps()).tasks
    begun = {"task": task, "attempt": 1, "branch": f"crew/{run}/{task}.1", "path": "", "base": "", "worker": "1"}
    working.journal.add(("queue", {**begun, "item": ""}), ("start", begun))
    for name in (begun["branch"], f"crew/{run}/older"):
        crewed.git("branch", name, f"crew/{run}/result")
    working._drop_branches()
    left = crewed.git("for-each-ref", "--format=%(refname:lstrip=2)", f"refs/heads/crew/{run}").split()
    assert left == [begun["branch"], f"crew/{run}/result"]


def test_a_step_that_waited_in_the_queue_knows_what_failed_meanwhile(
    crewed: GitRepo, scripted: Callable[[str], str]
) -> None:
    """Alpha breaks a file that it did not name; Beta, which names it, was queued before that."""
    crewed.commit("same.txt", "start\n")
    plan = crewed.write("plan.md", "- [ ] Alpha\n- [ ] Beta (files: same.txt)\n")
    code = """
alpha = "task: Alpha" in prompt
pathlib.Path("same.txt" if alpha else "prompt").write_text(prompt)
if alpha and "Attempt 1" not in prompt: pathlib.Path("broken").touch()
"""
    run, done = run_crew(crewed, scripted(code), str(plan))
    assert len(done.done) == 2, done
    told = crewed.git("show", f"crew/{run}/result:prompt")
    assert re.search(r"An attempt at alpha-\w+ failed: the check default ended with 1", told), told


def test_a_queue_item_that_nobody_can_read_ends_no_worker(
    project: Project, crewed: GitRepo, scripted: Callable[[str], str]
) -> None:
    """Machines that share a queue are rarely of one version; work that others can read goes on."""
    how: dict[str, Any] = {"agent": agent_named(scripted("pathlib.Path('new').touch()")), "limits": CrewLimits()}
    run = crew_runs.begin(project, ["Do it"], folder=str(crewed.path), workers=1, **how)
    (task,) = crew_runs.status(project, run)[1].tasks
    queue = crew_journal.queue_of(project, run)
    for item in ("no object", {"task": task}, {"task": task, "attempt": 1, "limits": {"dreams": 3}}):
        queue.put(item, most_attempts=1)
    done = crew_runs.supervise(project, run, workers=1, **how)
    assert len(done.done) == 1, done
    assert [item.outcome["error"][:38] for item in queue.items("failed")] == [
        "this version of Holdfast cannot read it"[:38]
    ] * 3


def test_what_is_merged_and_clean_goes(project: Project, crewed: GitRepo, run: str) -> None:
    """Disks fill with work trees that nobody needs."""
    safe, why = standing(project)
    assert not safe and why == f"it is not merged into main; take it: git merge crew/{run}/result"
    crewed.git("merge", "-q", f"crew/{run}/result")
    assert standing(project) == (True, "all its commits are in main")
    assert cleaned(project) == 1 and crew_runs.leftovers(project) == []
    assert not os.path.exists(path_of(project, run))


def test_what_somebody_still_needs_stays(project: Project, crewed: GitRepo, run: str) -> None:
    """Changes that no commit has, a crew that goes on, a branch that only looks like a crew's."""
    crewed.git("merge", "-q", f"crew/{run}/result")
    Path(path_of(project, run), "new").write_text("x")
    assert standing(project) == (False, "its work tree has changes that no commit has")
    os.unlink(os.path.join(path_of(project, run), "new"))
    CrewJournal(project.agents.database, run).add(("resume", {}), ended=False)
    assert standing(project) == (False, f"the crew {run} is not through")
    crewed.git("branch", "crew/mine")
    assert {one.why for one in crew_runs.leftovers(project)} == {
        f"the crew {run} is not through",
        "no crew of this clone made it",
    }
    assert cleaned(project) == 0


def test_a_branch_that_the_user_looks_at_stays_with_its_folder(project: Project, crewed: GitRepo, run: str) -> None:
    """Who checks the result out in their own work tree must find that work tree, and its repository, afterwards."""
    crewed.git("merge", "-q", f"crew/{run}/result")
    crewed.git("worktree", "remove", path_of(project, run))
    crewed.git("checkout", "-q", f"crew/{run}/result")
    assert standing(project) == (False, f"it is checked out in {crewed.path}")
    assert cleaned(project) == 0
    before = sorted(os.listdir(crewed.path))
    crew_runs.clean(project, crew_runs.leftovers(project))
    assert sorted(os.listdir(crewed.path)) == before


def test_a_locked_work_tree_stays(project: Project, crewed: GitRepo, run: str) -> None:
    """`git worktree lock` is how people say so."""
    crewed.git("merge", "-q", f"crew/{run}/result")
    crewed.git("worktree", "lock", path_of(project, run))
    assert cleaned(project) == 0 and os.path.exists(path_of(project, run))
    assert "locked" in project.notices[-1]


def test_a_branch_that_moved_since_it_was_listed_stays(project: Project, crewed: GitRepo, run: str) -> None:
    """Between the list and the yes somebody may commit there."""
    crewed.git("merge", "-q", f"crew/{run}/result")
    listed = crew_runs.leftovers(project)
    GitRepo(Path(path_of(project, run))).commit("late.txt", "x\n")
    assert crew_runs.clean(project, listed) == 0 and os.path.exists(path_of(project, run))


def test_secrets_that_agents_and_checks_print_are_not_kept(
    crewed: GitRepo, scripted: Callable[[str], str], settings: Path
) -> None:
    """The journal may lie on a server that a team shares, and what failed is told to the next agent."""
    secret = "ghp_" + "Zq9X8w7V6u" * 3 + "abcdef"
    settings.write_text(f"[crew.checks]\ndefault = \"printf '%s\\\\n' 'token {secret}'; exit 1\"\n")
    agent = scripted(f"pathlib.Path('x').write_text('x'); print('I used {secret}')")
    _, done = run_crew(crewed, agent, f"Use {secret}", attempts=1)
    assert len(done.failed) == 1 and "token" in done.failed[0]["why"]
    for folder in (crewed / ".git/holdfast", Path(os.environ["HOME"])):
        for path in folder.rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # a database's log goes with its last reader
                if path.is_file() and path != settings:
                    assert secret.encode() not in path.read_bytes(), path


# ── into the user's own branch ───────────────────────────────────────────────────────────────────


def test_the_result_is_merged_where_it_began(project: Project, crewed: GitRepo, run: str) -> None:
    """And nowhere else: who went on to another branch gets the command instead."""
    crewed.git("switch", "-q", "-c", "elsewhere")
    with pytest.raises(BadInput, match="main is not checked out here"):
        crew_runs.merge_into(project, run)
    crewed.git("switch", "-q", "main")
    crewed.write("README", "my own change\n")
    assert crew_runs.merge_into(project, run) == crewed.git("rev-parse", "main")
    assert (crewed / "done.txt").exists() and (crewed / "README").read_text() == "my own change\n"


def test_a_merge_that_conflicts_leaves_the_branch_as_it_was(project: Project, crewed: GitRepo, run: str) -> None:
    """The user said yes to a merge, not to a conflict."""
    before = crewed.commit("done.txt", "another\n")
    with pytest.raises(GitFailed, match="git did not merge"):
        crew_runs.merge_into(project, run)
    assert crewed.git("rev-parse", "HEAD") == before and crewed.git("status", "--porcelain", "done.txt") == ""


def test_a_merge_of_the_users_own_is_not_given_up(project: Project, crewed: GitRepo, run: str) -> None:
    """An hour of solving conflicts by hand must not end with ours."""
    crewed.git("branch", "side")
    crewed.commit("README", "ours\n")
    crewed.git("switch", "-q", "side")
    crewed.commit("README", "theirs\n")
    crewed.git("switch", "-q", "main")
    crewed.git("merge", "-q", "side", ok=False)
    crewed.write("README", "solved by hand\n")
    with pytest.raises(BadInput, match="under way"):
        crew_runs.merge_into(project, run)
    assert (crewed / "README").read_text() == "solved by hand\n" and (crewed / ".git/MERGE_HEAD").exists()


def test_a_branch_that_the_user_looks_at_is_no_leftover_of_a_killed_worker(
    crewed: GitRepo, scripted: Callable[[str], str], tmp_path: Path
) -> None:
    """Who looks at a failed attempt, and changes something there, must find that after the crew went on."""
    agent = scripted("pathlib.Path('broken').touch(); pathlib.Path('.gitignore').write_text('.env')")
    run, _ = run_crew(crewed, agent, "Do it", attempts=1)
    (branch,) = crewed.git("for-each-ref", "--format=%(refname:short)", f"refs/heads/crew/{run}/do*").splitlines()
    crewed.git("worktree", "add", "-q", str(tmp_path / "look"), branch)
    (tmp_path / "look" / ".env").write_text("mine")
    (tmp_path / "look" / "mine").write_text("mine")
    tip = crewed.git("rev-parse", branch)
    project = Project.open(crewed.path, environ=dict(os.environ))
    crew_runs.supervise(project, run, agent=agent_named(agent), workers=1, limits=CrewLimits(attempts=1))
    assert (tmp_path / "look" / ".env").exists() and (tmp_path / "look" / "mine").exists()
    assert crewed.git("rev-parse", branch) == tip


def test_a_branch_that_the_user_switched_the_result_to_is_not_moved(
    crewed: GitRepo, scripted: Callable[[str], str]
) -> None:
    """Who tries something in the result's work tree while a crew works must find their branch where they left it."""
    crewed.git("branch", "mine")
    switch = "subprocess.run(['git', '-C', '../crew-result', 'switch', '-q', 'mine']); pathlib.Path('new').touch()"
    run, recap = run_crew(crewed, scripted(switch), "Do it")
    assert crewed.git("rev-parse", "mine") == crewed.git("rev-parse", "main")
    assert "is on mine: git -C" in recap.reason and not recap.done and not recap.ended
    project = Project.open(crewed.path, environ=dict(os.environ))
    GitRepo(Path(path_of(project, run))).git("switch", "-q", f"crew/{run}/result")
    # Whether the step had ended when the crew stopped is a matter of milliseconds; it counts once in either case.
    agent = agent_named(scripted("pathlib.Path('new').touch()"))
    recap = crew_runs.supervise(project, run, agent=agent, workers=1, limits=CrewLimits(attempts=1))
    assert len(recap.done) == 1 and crewed.git("show", f"crew/{run}/result:new") == ""


def test_a_file_in_the_way_of_a_merge_is_a_question(crewed: GitRepo, scripted: Callable[[str], str]) -> None:
    """A note that somebody left in the result's work tree must neither be lost nor end the whole crew."""
    agent = scripted("pathlib.Path('new').touch(); pathlib.Path('../crew-result/new').write_text('a note')")
    run, recap = run_crew(crewed, agent, "Do it")
    assert "could not take" in recap.decide[0]["why"] and "new" in recap.decide[0]["why"]
    project = Project.open(crewed.path, environ=dict(os.environ))
    os.unlink(os.path.join(path_of(project, run), "new"))
    recap = crew_runs.supervise(project, run, agent=agent_named("false"), workers=1, limits=CrewLimits())
    assert len(recap.done) == 1


def test_a_run_that_cannot_begin_leaves_nothing(project: Project, crewed: GitRepo, tmp_path: Path) -> None:
    """A run that nobody supervises would be the one that `crew stop` and `crew resume` mean."""
    how: dict[str, Any] = {"folder": str(crewed.path), "agent": agent_named("true"), "workers": 1}
    with crew_journal.alone(project), pytest.raises(Busy):
        crew_runs.begin(project, ["Do it"], limits=CrewLimits(), **how)
    (tmp_path / "issues.json").write_text('[{"number": 1, "title": "x", "body": "half a character: \\ud800"}]')
    with pytest.raises(BadInput):
        crew_runs.begin(project, [str(tmp_path / "issues.json")], limits=CrewLimits(), **how)
    assert crew_runs.leftovers(project) == [] and crewed.git("worktree", "list").count("\n") == 0
    with pytest.raises(NotFound):
        crew_runs.named_run(project, None)


def test_checks_of_the_merged_tree_end_with_the_crew(
    crewed: GitRepo, scripted: Callable[[str], str], settings: Path, tmp_path: Path
) -> None:
    """Who presses Ctrl-C, or named a limit, must not wait for half an hour of checks; also where no worker is left."""
    settings.write_text(f"[crew.checks]\ndefault = 'test ! -e {tmp_path}/slow || (sleep 20; touch {tmp_path}/through)'")
    project = Project.open(crewed.path, environ=dict(os.environ))
    how: dict[str, Any] = {"agent": agent_named(scripted("pathlib.Path('new').touch()")), "workers": 1}
    run = crew_runs.begin(project, ["Do it"], folder=str(crewed.path), limits=CrewLimits(), **how)
    asked = crew_runs.supervise(project, run, limits=CrewLimits(), approve=lambda *_: None, **how)
    assert asked.decide
    GitRepo(Path(path_of(project, run))).commit("other", "x")  # the tree that was checked is not the merged one
    (tmp_path / "slow").touch()
    recap = crew_runs.supervise(project, run, limits=CrewLimits(time=1), **how)
    assert recap.reason and not (tmp_path / "through").exists() and recap.waiting[0]["state"] == "finished"


def test_a_check_that_was_allowed_later_counts_when_the_crew_goes_on(
    crewed: GitRepo, settings: Path, scripted: Callable[[str], str]
) -> None:
    """The suggestion is younger than the run's branch; who allowed what they see need not begin again."""
    settings.write_text("")
    how: dict[str, Any] = {"agent": agent_named(scripted("pathlib.Path('new').touch()")), "workers": 1}
    how["limits"] = CrewLimits()
    project = Project.open(crewed.path, environ=dict(os.environ), person=lambda: None)
    plan = crewed.write("plan.md", "- [ ] Do it (check: unit)\n")
    run = crew_runs.begin(project, [str(plan)], folder=str(crewed.path), **how)
    assert "holdfast crew allow" in crew_runs.supervise(project, run, **how).decide[0]["why"]
    assert not project.tasks.claims(), "another crew may do it meanwhile"
    crewed.write(SUGGESTED, 'unit = "test -e new"\n')
    assert crew_runs.supervise(project, run, **how).decide, "nobody allowed it yet"
    allow(project)
    done = crew_runs.supervise(project, run, **how)
    assert len(done.done) == 1, done


def test_a_check_that_lost_its_command_is_a_question(
    crewed: GitRepo, scripted: Callable[[str], str], settings: Path
) -> None:
    """Finished work waits until its check has a command again; the crew does not end with an error."""
    how: dict[str, Any] = {"agent": agent_named(scripted("pathlib.Path('new').touch()")), "workers": 1}
    how["limits"], before = CrewLimits(), settings.read_text()
    project = Project.open(crewed.path, environ=dict(os.environ))
    run = crew_runs.begin(project, ["Do it"], folder=str(crewed.path), **how)
    crew_runs.supervise(project, run, approve=lambda *_: None, **how)
    settings.write_text("")
    project = Project.open(crewed.path, environ=dict(os.environ))
    assert "names no check" in crew_runs.supervise(project, run, **how).decide[0]["why"]
    settings.write_text(before)
    project = Project.open(crewed.path, environ=dict(os.environ))
    assert len(crew_runs.supervise(project, run, **how).done) == 1
