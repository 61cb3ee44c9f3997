"""What doctor finds about project state: damage is a problem, the rest are notes."""

import json
from pathlib import Path

import pytest

from holdfast.diagnostics import plan_soundness, repair
from holdfast.diagnostics.findings import HealthFinding, report
from holdfast.model.session import Session, SessionAnchor
from holdfast.model.task import Link, Task
from holdfast.store import layout, session_files, task_files
from holdfast.work import cleanup, task_claims
from holdfast.work.task_claims import TaskClaim

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
TS = "2026-11-15T10:00:00.000000Z"


def path_of(name: str) -> str:
    return f"{layout.TASKS}/do-TSK-{name}.md"


def add(sample, name: str, **fields) -> str:
    task = Task(**{"id": f"TSK-{name}", "title": f"Do {name}", **fields})
    sample.clone.change(path_of(name), task_files.render(task))
    return path_of(name)


def link(sample, name: str, target: str, kind: str) -> None:
    made = Link(id=f"LNK-{name}", title="The plan", target=target, kind=kind)
    sample.clone.change(f"{layout.LINKS}/the-plan-LNK-{name}.md", task_files.render(made))


def session(sample, name: str, **fields) -> Path:
    at = SessionAnchor(TS, OID, "gone")
    values = {"id": f"SES-{name}", "line": sample.clone.line().id, "worktree": "."}
    made = Session(**{**values, "started": at, "updated": at, **fields})
    return Path(session_files.save(sample.clone.layout, made))


def claim(sample, task: str, **fields) -> None:
    values = {"owner": "ada", "session": None, "branch": "gone", "worktree": ".", "head": OID, "ts": TS}
    values |= {"line": sample.clone.line().id, "until": "2099-01-01T00:00:00.000000Z", **fields}
    task_claims.take(sample.clone.layout, TaskClaim(task=task, **values), now=TS)


def look(sample) -> list[HealthFinding]:
    return list(plan_soundness.examine_tasks(sample.open()))


def the_one(sample) -> HealthFinding:
    found = look(sample)
    assert len(found) == 1, found
    return found[0]


def test_a_sound_plan_has_no_findings(sample):
    """A doctor who always finds something is not listened to."""
    add(sample, "a")
    add(sample, "e", kind="epic")
    add(sample, "b", needs=("TSK-a",), parent="TSK-e")
    link(sample, "x", "README", "path")
    link(sample, "d", ".holdfast/", "path")
    link(sample, "u", "https://example.org/nowhere", "url")
    link(sample, "c", sample.repo.git("rev-parse", "HEAD"), "commit")
    done = sample.repo.git("rev-parse", "HEAD")
    add(sample, "d", status="done", evidence=(f"commit:{done}",))
    session(sample, "one")
    claim(sample, "TSK-a")
    assert look(sample) == []
    sample.publish()
    assert look(sample) == []


def test_a_broken_task_is_a_problem_with_its_line(sample):
    """Whoever mends it must know where to look."""
    sample.commit_file(path_of("a"), "---\nid: TSK-a\ntitle: Do it\npriority: soon\n---\n")
    found = the_one(sample)
    assert (found.severity, found.where) == ("problem", f"{path_of('a')}:4")
    assert "'soon' is not a whole number" in found.sentence


def test_conflict_marks_in_a_link_are_found(sample):
    """Somebody committed a merge without looking."""
    path = f"{layout.LINKS}/x-LNK-a.md"
    sample.commit_file(path, "---\nid: LNK-a\n<<<<<<< a\ntitle: a\n=======\ntitle: b\n>>>>>>> b\n---\n")
    found = the_one(sample)
    assert (found.topic, found.where) == ("links", f"{path}:3")
    assert "Choose a side" in found.next_step


def test_two_files_with_one_id_are_a_problem(sample):
    """Who starts the task would start one of two."""
    add(sample, "a")
    other = f"{layout.TASKS}/again-TSK-a.md"
    sample.clone.change(other, task_files.render(Task(id="TSK-a", title="Again")))
    assert [(f.severity, f.topic) for f in look(sample)] == [("problem", "tasks")]


def test_names_that_differ_only_in_case_are_a_problem(sample):
    """On a Mac or on Windows one of the two files is simply not there."""
    add(sample, "a")
    sample.clone.change(f"{layout.TASKS}/Do-TSK-A.md", task_files.render(Task(id="TSK-A", title="Again")))
    assert "only in case" in the_one(sample).sentence


def test_a_cycle_that_came_by_a_merge_is_shown(sample):
    """Nobody did anything wrong on their branch, and yet nothing is ever ready."""
    add(sample, "a", needs=("TSK-b",))
    add(sample, "b", needs=("TSK-a",))
    add(sample, "c", needs=("TSK-d",))
    add(sample, "d", needs=("TSK-c",))
    found = look(sample)
    assert [f.severity for f in found] == ["note", "note"]
    assert "TSK-a → TSK-b → TSK-a" in found[0].sentence and "TSK-c → TSK-d → TSK-c" in found[1].sentence


def test_a_need_that_another_branch_has_is_fine_and_one_nobody_has_is_noted(sample):
    """A link across branches is normal; one that leads nowhere is a typo or a lost branch."""
    add(sample, "a")
    sample.publish()
    sample.repo.git("switch", "-qc", "side", "main")
    sample.clone = sample.open()
    add(sample, "b", needs=("TSK-a", "TSK-nowhere"))
    found = the_one(sample)
    assert found.severity == "note" and "TSK-nowhere" in found.sentence


def test_dead_links_are_notes(sample):
    """A canonical link that leads nowhere is worse than none."""
    link(sample, "p", "docs/gone.md", "path")
    link(sample, "c", OID, "commit")
    found = look(sample)
    assert {f.severity for f in found} == {"note"}
    assert sorted(f.sentence.split(" is dead")[0] for f in found) == ["LNK-c", "LNK-p"]
    sample.repo.write("docs/gone.md", "it is here, only not tracked yet")
    assert "LNK-c" in the_one(sample).sentence


def test_a_task_done_by_a_commit_that_is_gone_is_noted(sample):
    """The evidence was squashed away; somebody should say what shows it now."""
    add(sample, "a", status="done", evidence=(f"commit:{OID}",))
    add(sample, "b", status="open", evidence=(f"commit:{OID}",))
    found = the_one(sample)
    assert found.severity == "note" and "TSK-a is done by commits" in found.sentence


def test_damaged_sessions_and_claims_are_problems_that_can_be_set_aside(sample):
    """Damage to one record costs that record, and there is a way to go on."""
    session(sample, "one").write_text("{")
    claim(sample, "TSK-a")
    (sample.private / "claims/TSK-a.json").write_text('{"task": 3}')
    found = look(sample)
    assert [(f.severity, f.topic) for f in found] == [("problem", "sessions"), ("problem", "claims")]

    done = repair.repair(sample.open(), report(found, {}), apply=True)

    assert all(one.done for one in done) and look(sample) == []
    assert len(list((sample.private / "quarantine").iterdir())) == 2


def test_a_session_of_a_newer_holdfast_is_a_note(sample):
    """It is not damaged; it is only not ours to read."""
    path = session(sample, "one")
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": 99}))
    found = the_one(sample)
    assert (found.severity, found.repair) == ("note", None)


def test_two_session_files_with_one_id_are_a_problem(sample):
    """A copy by hand would take every second turn."""
    path = session(sample, "one")
    path.with_name(f"20200101T000000Z_x-{path.name.rpartition('-SES-')[1][1:]}one.json").write_bytes(path.read_bytes())
    assert [f.severity for f in look(sample)] == ["problem"]


def test_sessions_and_claims_of_branches_that_are_gone_are_notes(sample):
    """Nobody goes on with them unless somebody is told."""
    session(sample, "one", line="nobody")
    claim(sample, "TSK-a", line="nobody")
    claim(sample, "TSK-b", line="nobody", until=TS)
    found = look(sample)
    assert [(f.severity, f.topic) for f in found] == [("note", "sessions"), ("note", "claims")]
    assert all("gone" in f.sentence for f in found)


def test_a_damaged_trash_is_a_problem_and_a_reset_cut_short_a_note(sample):
    """The way back must be known to be broken before it is needed."""
    session(sample, "one")
    done = cleanup.reset(sample.open(), "sessions")
    label = sample.private / "trash" / done.id / "reset.json"
    whole = json.loads(label.read_text())
    label.write_text(json.dumps({**whole, "whole": False}))
    assert [f.severity for f in look(sample)] == ["note"]
    label.write_text("no label")
    assert [(f.severity, f.repair) for f in look(sample)] == [("problem", "damaged")]


def test_who_only_looks_writes_nothing(sample):
    """`doctor` is run where something is wrong already."""
    add(sample, "a", needs=("TSK-x",))
    session(sample, "one")
    before = {path: path.stat().st_mtime_ns for path in sample.private.rglob("*")}
    look(sample)
    assert {path: path.stat().st_mtime_ns for path in sample.private.rglob("*")} == before


@pytest.mark.parametrize("count", [30])
def test_many_findings_of_one_sort_are_counted(sample, count):
    """A report of ten thousand lines tells nobody anything."""
    add(sample, "a", needs=tuple(f"TSK-x{number}" for number in range(count)))
    found = look(sample)
    assert len(found) == 21 and "10 more" in found[-1].sentence
