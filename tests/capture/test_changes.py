"""Which files a run produced: exactly those it changed, whatever they are called and however."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.capture import worktree_changes
from holdfast.git.repo import Repo

from .conftest import WRAPPER, Project


def test_what_was_dirty_before_and_left_alone_is_not_produced(project: Project, repo) -> None:  # type: ignore[no-untyped-def]
    """Half-done work of a person must not be told as an agent's."""
    repo.commit("tracked.txt", "1\n")
    repo.write("tracked.txt", "2\n")
    repo.write("untracked.txt", "mine\n")
    out = project.sh("echo new > new.txt; cp untracked.txt x && mv x untracked.txt; touch tracked.txt")
    assert list(project.files(out.run_id)) == ["new.txt"]


def test_every_way_to_change_a_file_counts(project: Project, repo) -> None:  # type: ignore[no-untyped-def]
    """Edited, added, deleted, renamed, reverted, committed, linked, made executable."""
    for name in ("edit", "delete", "rename", "revert", "commit", "mode", "still"):
        repo.commit(name, f"{name}\n")
    repo.write("revert", "dirty\n")
    repo.write("gone-untracked", "x\n")
    out = project.sh(
        "echo more >> edit; rm delete gone-untracked; git mv rename renamed; git checkout -q revert;"
        "echo c >> commit; git commit -qam 'in the run'; chmod +x mode; ln -s edit link; mkdir d;"
        "echo d > d/deep"
    )
    files = project.files(out.run_id)
    assert sorted(files) == sorted(
        ["edit", "delete", "gone-untracked", "rename", "renamed", "revert", "commit", "mode", "link", "d/deep"]
    )
    assert sorted(name for name, row in files.items() if row["deleted"]) == ["delete", "gone-untracked", "rename"]
    assert files["link"]["sha256"] == hashlib.sha256(b"edit").hexdigest()
    assert not files["link"]["stored"]
    (receipt,) = project.event(out.run_id)["receipts"]
    assert receipt == f"commit:{repo.git('rev-parse', 'HEAD')}"


def test_committing_what_was_dirty_is_not_producing_it(project: Project, repo) -> None:  # type: ignore[no-untyped-def]
    """Who wrote it and who committed it are two questions."""
    repo.write("mine", "written before\n")
    out = project.sh("git add mine; git commit -qm mine")
    assert project.files(out.run_id) == {}


def test_ignored_files_and_our_own_are_left_out(project: Project, repo) -> None:  # type: ignore[no-untyped-def]
    """Build products would drown everything else."""
    repo.commit(".gitignore", "*.o\nbuild/\n")
    out = project.sh("echo o > a.o; mkdir -p build .holdfast/x; echo b > build/b; echo h > .holdfast/x/h; echo c > c")
    assert list(project.files(out.run_id)) == ["c"]


HOSTILE = [
    b"with space",
    b"new\nline",
    b"tab\tquote\"'",
    b"back\\slash",
    b"\xff\xfe not utf-8",
    "ünï-文".encode(),
    b"-dash",
    b"$(touch pwned)",
    b"\x1b[31m",
]


def test_hostile_names_are_listed_and_copied(project: Project) -> None:
    """Agents make files with any name; a list they can break is no list."""
    code = f"import os\nfor n in {HOSTILE!r}:\n with open(n, 'wb') as f: f.write(n)"
    out = project.run(sys.executable, "-S", "-c", code)
    files = project.files(out.run_id)
    assert {row["sha256"] for row in files.values()} == {hashlib.sha256(name).hexdigest() for name in HOSTILE}
    assert all(name.isprintable() for name in files)
    for name, row in files.items():
        assert row["stored"]
        copy = project.folder(out.run_id) / "outputs/files" / name
        assert hashlib.sha256(copy.read_bytes()).hexdigest() == row["sha256"]
    assert project.faults(out.run_id) == []


def test_no_two_paths_are_spelled_the_same() -> None:
    """A name made to look like another must not take its place."""
    names = [
        os.fsdecode(name) for name in (*HOSTILE, b"\\xff\\xfe not utf-8", b"back\\\\slash", b"new\\nline", b"\\x0a")
    ]
    assert len({worktree_changes.spelled(name) for name in names}) == len(names)


def test_large_files_are_kept_by_hash_only(project: Project) -> None:
    """A copy of each large file in every run would fill the disk."""
    out = project.sh("head -c 1048577 /dev/zero > large; head -c 1048576 /dev/zero > fits")
    files = project.files(out.run_id)
    assert (files["large"]["stored"], files["fits"]["stored"]) == (False, True)
    assert files["large"]["sha256"] == hashlib.sha256(b"\0" * 1048577).hexdigest()


def test_all_copies_together_have_a_limit(project: Project) -> None:
    """Twenty files of a megabyte each are too much as well."""
    out = project.sh("for i in $(seq 20); do head -c 1000000 /dev/zero > f$i; done")
    assert sum(row["stored"] for row in project.files(out.run_id).values()) == 16


def test_thousands_of_changed_files_fit_into_the_event(project: Project) -> None:
    """`git pull` inside a run may change everything."""
    out = project.run(
        sys.executable, "-S", "-c", "for i in range(1500): open('f%04d' % i + 'x' * 100, 'w').write(str(i))"
    )
    assert out.warnings == ()
    event = project.event(out.run_id)
    assert event["outputs"]["files_changed"] == len(project.files(out.run_id)) == 1500
    assert 100 < len(event["artifacts"]) < 1500


def test_a_submodule_is_not_a_file(project: Project, repo, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """A folder with its own history cannot be hashed or copied."""
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    subprocess.run(["git", "-C", str(other), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    repo.git("submodule", "--quiet", "add", str(other), "sub")
    repo.git("commit", "-qm", "submodule")
    out = project.sh("cd sub && echo x > inside && git commit -q --allow-empty -m y; git init -q ../nested")
    assert project.files(out.run_id) == {}


def test_a_repository_without_a_commit_works(project: Project, tmp_path: Path) -> None:
    """Everybody's first run."""
    new = tmp_path / "new"
    subprocess.run(["git", "init", "-q", str(new)], check=True)
    repo = Repo.discover(str(new))
    before = worktree_changes.snapshot(repo)
    (new / "a").write_text("a")
    (new / "b").write_text("b")
    subprocess.run(["git", "-C", str(new), "add", "a"], check=True)
    subprocess.run(["git", "-C", str(new), "commit", "-qm", "a"], check=True)
    assert worktree_changes.changed_paths(repo, before) == ["a", "b"]
    assert len(worktree_changes.made(repo, before.head, began="2026-01-01T00:00:00.000000Z")) == 1


def test_files_changed_while_two_runs_overlap_are_shared(project: Project) -> None:
    """Nobody can tell which of two runs changed a file while both were there; saying so is honest."""
    gate, ready = project.side / "gate", project.side / "ready"
    for pipe in (gate, ready):
        os.mkfifo(pipe)
    first = project.wrapper(
        "sh", "-c", f"echo a > alone; sleep 0.15; echo > {ready}; read x < {gate}; sleep 0.15; echo a > late"
    )
    ready.read_bytes()
    second = project.sh("echo b > both")
    gate.write_text("go\n")
    assert first.wait() == 0
    ours = {name: row["shared"] for name, row in project.files(second.run_id).items()}
    theirs = {name: row["shared"] for name, row in project.files(project.report()["run_id"]).items()}
    assert ours == {"both": True}
    assert theirs == {"alone": False, "both": True, "late": False}


def test_a_run_in_another_work_tree_shares_nothing(project: Project, repo, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    """Parallel agents in their own work trees are apart."""
    repo.git("worktree", "add", "-q", str(tmp_path / "tree"), "-b", "other")
    ready = project.side / "ready"
    os.mkfifo(ready)
    other = project.wrapper("sh", "-c", f"echo > {ready}; echo x > there; exec sleep 30", cwd=tmp_path / "tree")
    ready.read_bytes()
    out = project.sh("echo here > here")
    other.send_signal(signal.SIGTERM)
    other.wait()
    assert project.files(out.run_id)["here"]["shared"] is False


def test_a_nested_runs_files_are_not_called_shared(project: Project) -> None:
    """What a nested run makes, its parent makes: there is no doubt about who did it."""
    inner = [sys.executable, "-c", WRAPPER, str(project.side / "inner"), str(project.side / "cache")]
    assert project.wrapper(*inner, *inner, "sh", "-c", "echo x > deep").wait() == 0
    runs = project.runs()
    assert len(runs) == 3
    for run in runs:
        assert project.files(run["run_id"])["deep"]["shared"] is False


@pytest.mark.parametrize("command", ["rm -rf .git", "mv .git gone"])
def test_a_command_that_destroys_the_repository_still_ends_as_it_did(project: Project, command: str) -> None:
    """Then there is nowhere to record it; the command's own answer stands, and we say so."""
    with_clone = project.clone
    out = project.sh(f"{command}; exit 5")
    assert out.exit_code == 5
    assert out.event is None
    assert out.warnings
    del with_clone
