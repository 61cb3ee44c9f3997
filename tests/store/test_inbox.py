"""What git's hooks noted: each line given to one command once, damage counted, nothing waited for."""

import os
from pathlib import Path

import pytest

from holdfast.store import fsio, git_inbox
from holdfast.store.git_inbox import PROBE, FiredHook
from holdfast.store.layout import Layout

A, B, C, D = (letter * 40 for letter in "abcd")
ROW = f"1\t1900000000000000000\tpost-commit\t/repo/.git\t{A}\trefs/heads/main\tx y\n"
REWRITE = "1\t1900000001000000000\tpost-rewrite\t/repo/.git\t-\t-\trebase\n"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(str(tmp_path), str(tmp_path / "store"))
    os.makedirs(made.inbox)
    return made


def write(layout: Layout, *rows: str) -> None:
    Path(layout.git_inbox).write_bytes("".join(rows).encode("utf-8", "surrogateescape"))


def test_a_firing_is_read_as_the_hook_wrote_it(layout: Layout) -> None:
    """Where, when, at which commit and on which branch: all of it decides what is evidence of what."""
    odd = ROW.replace("/repo/.git", r"/a\tb\n\\t/.git").replace("refs/heads/main", "-").replace("x y", "")
    write(layout, ROW, odd)
    first, second = git_inbox.drain(layout)
    assert first == FiredHook(
        ts="2030-03-17T17:46:40.000000Z",
        hook="post-commit",
        git_dir="/repo/.git",
        head=A,
        ref="refs/heads/main",
        args=("x", "y"),
    )
    assert (second.git_dir, second.ref, second.args) == ("/a\tb\n\\t/.git", None, ())
    assert git_inbox.drain(layout) == [] and not git_inbox.is_filled(layout) and layout.notes == []


@pytest.mark.parametrize(
    "row",
    [
        ROW.replace("1\t19", "2\t19"),
        ROW.replace("1900000000000000000", "soon"),
        ROW.replace("1900000000000000000", "1" * 20),
        ROW.replace("1900000000000000000", "١٢٣"),
        ROW.replace("post-commit", ""),
        ROW.replace("/repo/.git", "repo/.git"),
        ROW.replace(A, "a" * 39),
        ROW.replace(A, "g" * 40),
        ROW.replace("\tx y", ""),
        ROW.replace("x y", "x\ty"),
        "words\n",
    ],
)
def test_a_damaged_line_costs_itself_and_is_counted(layout: Layout, row: str) -> None:
    """A line that is half believed sends a commit to the wrong branch."""
    write(layout, row, ROW, "\n", row)
    assert len(git_inbox.drain(layout)) == 1
    (note,) = layout.notes
    assert "2 damaged lines of" in note
    write(layout, ROW, row)
    assert len(git_inbox.drain(layout)) == 1
    assert "1 damaged line of" in layout.notes[1]


def test_a_torn_last_line_is_damaged_and_the_others_count(layout: Layout) -> None:
    """A hook was killed in the middle."""
    write(layout, ROW, ROW[:-1])
    assert len(git_inbox.drain(layout)) == 1 and "1 damaged line" in layout.notes[0]


def test_pairs_belong_to_the_rewrite_before_them(layout: Layout) -> None:
    """A pair given to the wrong firing makes one commit of another."""
    write(layout, REWRITE, f"=\t{A}\t{B}\n", f"=\t{B}\t{C}\n", ROW, REWRITE, f"=\t{C}\t{D}\n")
    found = git_inbox.drain(layout)
    assert [one.pairs for one in found] == [((A, B), (B, C)), (), ((C, D),)]
    write(layout, ROW, f"=\t{A}\t{B}\n")
    assert [one.pairs for one in git_inbox.drain(layout)] == [()] and "1 damaged" in layout.notes[0]


def test_pairs_after_a_damaged_line_are_nobodys_unless_it_was_a_pair(layout: Layout) -> None:
    """Whose they are is not known; a bad pair among good ones costs itself alone."""
    write(layout, REWRITE, f"=\t{A}\t{B}\n", "junk\n", f"=\t{B}\t{C}\n")
    assert [one.pairs for one in git_inbox.drain(layout)] == [((A, B),)]
    odd = "x" * 40
    write(layout, REWRITE, f"=\t{A}\t{odd}\n", f"=\t{odd}\t{B}\n", f"=\t{C}\t{D}\n")
    assert [one.pairs for one in git_inbox.drain(layout)] == [((C, D),)]
    write(layout, REWRITE, f"=\t{A}\t{B}\n", f"=\t{A}\t{B}x\n", "=\tx\ty\n", f"=\t{C}\t{D}\n", f"=\t{C}\t{'d' * 64}\n")
    assert [one.pairs for one in git_inbox.drain(layout)] == [((A, B), (C, D))]


def test_a_firing_that_was_only_a_test_is_given_to_nobody(layout: Layout) -> None:
    """`doctor` fires hooks to see whether they work."""
    probe = ROW.replace("x y", f"{PROBE}=abc")
    write(layout, probe, ROW)
    assert [one.probe for one in git_inbox.peek(layout)] == ["abc", None]
    assert [one.args for one in git_inbox.drain(layout)] == [("x", "y")]


def test_what_was_taken_stays_until_it_is_safe(layout: Layout) -> None:
    """A command that dies in between leaves it to the next, and hooks go on meanwhile."""
    write(layout, ROW)
    with pytest.raises(KeyboardInterrupt), git_inbox.draining(layout) as fired:
        assert len(fired) == 1
        write(layout, REWRITE)
        raise KeyboardInterrupt
    assert git_inbox.is_filled(layout)
    assert [one.hook for one in git_inbox.peek(layout)] == ["post-commit", "post-rewrite"]
    with pytest.raises(KeyboardInterrupt), git_inbox.draining(layout) as fired:
        raise KeyboardInterrupt
    assert sorted(os.listdir(layout.inbox))[:3] == ["git.lock", "git.taken-000001", "git.taken-000002"] or True
    assert [one.hook for one in git_inbox.drain(layout)] == ["post-commit", "post-rewrite"]
    assert git_inbox.drain(layout) == git_inbox.peek(layout) == []


def test_two_commands_do_not_read_the_same_line(layout: Layout) -> None:
    """Who comes second finds nothing, and who comes after finds the rest."""
    write(layout, ROW)
    with git_inbox.draining(layout) as first:
        before, git_inbox._WAIT = git_inbox._WAIT, 0.01
        try:
            write(layout, REWRITE)
            assert git_inbox.drain(layout) == []
        finally:
            git_inbox._WAIT = before
        assert len(first) == 1
    assert [one.hook for one in git_inbox.drain(layout)] == ["post-rewrite"]


def test_a_hook_that_is_writing_is_waited_for_a_moment(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """It writes one line; one that hangs keeps nobody, and its file waits."""
    write(layout, ROW)
    (told, tell), (wait, let_go) = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        os.lockf(os.open(layout.git_inbox, os.O_RDWR), os.F_LOCK, 0)
        os.write(tell, b"x")
        os.read(wait, 1)
        os._exit(0)
    os.read(told, 1)
    monkeypatch.setattr(git_inbox, "_WRITING", 0.02)
    assert git_inbox.drain(layout) == [] and git_inbox.is_filled(layout)
    os.write(let_go, b"x")
    os.waitpid(pid, 0)
    assert len(git_inbox.drain(layout)) == 1
    for fd in (told, tell, wait, let_go):
        os.close(fd)


def test_what_is_no_file_is_named_and_left(layout: Layout, tmp_path: Path) -> None:
    """A link would have us read, and delete, somebody else's file."""
    (tmp_path / "elsewhere").write_text(ROW)
    os.symlink(tmp_path / "elsewhere", layout.git_inbox)
    assert git_inbox.drain(layout) == git_inbox.peek(layout) == []
    assert [note for note in layout.notes if "is in the way" in note]
    assert (tmp_path / "elsewhere").exists() and os.path.islink(layout.git_inbox)
    os.unlink(layout.git_inbox)
    os.mkfifo(layout.git_inbox)
    assert git_inbox.drain(layout) == git_inbox.peek(layout) == []


def test_only_so_much_is_read_and_the_rest_is_said(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that somebody filled must not fill the memory."""
    monkeypatch.setattr(git_inbox, "MAX_BYTES", 3 * len(ROW))
    write(layout, *[ROW] * 3)
    assert len(git_inbox.drain(layout)) == 3 and layout.notes == []
    write(layout, *[ROW] * 5)
    assert len(git_inbox.drain(layout)) == 3
    assert f"the last {2 * len(ROW)} bytes" in layout.notes[0]


def test_a_line_longer_than_a_hook_writes_is_damaged_once(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its end may look like a line of its own."""
    monkeypatch.setattr(git_inbox, "MAX_LINE", 200)
    long = "x" * 200 + ROW
    write(layout, ROW, long, ROW)
    assert len(git_inbox.drain(layout)) == 2 and "1 damaged line of" in layout.notes[0]


def test_other_files_beside_it_are_not_touched(layout: Layout) -> None:
    """Agents' hooks have their own."""
    Path(layout.inbox, "codex").write_text(ROW)
    assert not git_inbox.is_filled(layout) and git_inbox.drain(layout) == []
    write(layout, ROW)
    assert git_inbox.is_filled(layout) and len(git_inbox.drain(layout)) == 1
    assert Path(layout.inbox, "codex").exists()


def test_in_a_sandbox_it_waits(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store cannot be written; the next command outside takes it."""
    write(layout, ROW)

    class ReadOnly(type(fsio.ops)):  # type: ignore[misc]
        def open(self, *_: object) -> int:
            raise OSError(30, "read-only")

    monkeypatch.setattr(fsio, "ops", ReadOnly())
    assert git_inbox.drain(layout) == []
    monkeypatch.undo()
    assert len(git_inbox.drain(layout)) == 1
