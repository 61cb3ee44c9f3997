"""The bench of contexts: what it takes for relevant, and how it counts."""

from pathlib import Path

from bench.packs import CitedFunction, CommitTask, JudgedPack

from bench import packs
from tests.conftest import GitRepo

SOURCE = '''def first(pool):
    """Closes idle sockets."""
    pool.shutdown()
    return pool


def second(worker):
    worker.restart()
    return worker
'''


def test_history_says_which_functions_a_task_changes(tmp_path: Path, repo: GitRepo) -> None:
    """A bench that takes the wrong memories for relevant praises the wrong selection."""
    repo.commit("src/a.py", SOURCE, "code")
    old = repo.git("rev-parse", "HEAD")
    repo.commit("src/a.py", SOURCE.replace("worker.restart()", "worker.stop()"), "Stop workers")
    repo.commit("notes.txt", "x\n", "No code")
    repo.git("update-ref", "refs/remotes/origin/HEAD", "HEAD")
    (task,) = packs.commit_tasks(str(repo.path), old)
    assert (task.subject, task.files) == ("Stop workers", ("src/a.py",)) and set(task.functions) == {
        ("src/a.py", "second")
    }
    found = packs.functions("src/a.py", SOURCE)
    assert [name for name, _, _ in found] == ["first", "second"]
    rows, often = SOURCE.split("\n"), dict.fromkeys(packs.NAME.findall(SOURCE), 1)
    assert packs.statement("first", rows, 1, 4, often) == "`first`: Closes idle sockets"
    assert packs.statement("second", rows, 7, 9, often) == "`second` works on restart, return, worker"


def test_figures_count_what_was_told_and_what_should_have_been() -> None:
    """Recall and precision over all packs; general memories are no mistake, and overlap is of unrelated tasks."""
    known = {f"M{n}": CitedFunction(f"{'ab'[n // 2]}.py", f"f{n}", "") for n in range(4)}
    one = CommitTask("1", "x", ("a.py",), frozenset({("a.py", "f0")}))
    two = CommitTask("2", "y", ("b.py",), frozenset())
    given = [
        JudgedPack(one, frozenset({"M0", "M2", "G"}), frozenset({"m0", "m2", "g"}), 100),
        JudgedPack(two, frozenset({"M2", "M3", "G"}), frozenset({"m2", "m3", "g"}), 300),
    ]
    found = packs.figures(given, known)
    assert (found["recall"], found["precision"]) == (3 / 4, 5 / 6)
    assert (found["recall of functions"], found["precision of functions"]) == (1.0, 3 / 6)
    assert (found["overlap"], found["tokens"]) == (2 / 4, 200)
