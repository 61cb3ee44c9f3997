"""The one way to change the disk: whole and synced, or refused in words and not there."""

import errno
import gc
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import Busy, NotStored, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.store import fsio


class Recording(fsio.Syscalls):
    """Does what is asked and notes it; refuses the calls it is told to."""

    def __init__(self) -> None:
        self.done: list[tuple[str, str]] = []
        self.refused: dict[str, int] = {}
        self.short = 0  # bytes that one write takes at most
        self.synced: list[int] = []  # how large each file was when it was synced

    def _note(self, call: str, what: object) -> None:
        self.done.append((call, os.path.basename(str(what)) if isinstance(what, str) else "fd"))
        if call in self.refused:
            raise OSError(self.refused[call], os.strerror(self.refused[call]))

    def open(self, path: str, flags: int, mode: int) -> int:
        self._note("open", path)
        return super().open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._note("write", fd)
        return super().write(fd, data[: self.short] if self.short else data)

    def sync(self, fd: int) -> None:
        self._note("sync", fd)
        self.synced.append(os.fstat(fd).st_size)

    def sync_dir(self, path: str) -> None:
        self._note("sync_dir", path)

    def rename(self, source: str, target: str) -> None:
        self._note("rename", target)
        super().rename(source, target)

    def unlink(self, path: str) -> None:
        self._note("unlink", path)
        super().unlink(path)

    def mkdir(self, path: str, mode: int) -> None:
        self._note("mkdir", path)
        super().mkdir(path, mode)

    @property
    def calls(self) -> list[str]:
        return [call for call, _ in self.done]


@pytest.fixture
def disk(quick_disk: None) -> Iterator[Recording]:
    before, fsio.ops = fsio.ops, Recording()
    yield fsio.ops
    fsio.ops = before


@pytest.fixture
def there(tmp_path: Path) -> Path:
    (tmp_path / "there").mkdir()
    return tmp_path / "there"


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_stored_is_synced_before_it_gets_its_name(disk: Recording, there: Path) -> None:
    """A name that a power cut leaves with nothing behind it is worse than no name."""
    fsio.replace(str(there / "a"), b"one")
    assert disk.calls == ["open", "write", "sync", "rename", "sync_dir"]
    assert disk.done[-1] == ("sync_dir", "there")
    assert (there / "a").read_bytes() == b"one" and mode_of(there / "a") == 0o600
    fsio.replace(str(there / "a"), b"two", mode=0o400)
    assert (there / "a").read_bytes() == b"two" and mode_of(there / "a") == 0o400
    disk.done.clear()
    fsio.create(str(there / "b"), b"x")
    assert disk.calls == ["open", "write", "sync", "sync_dir"]
    with pytest.raises(FileExistsError):
        fsio.create(str(there / "b"), b"y")
    assert (there / "b").read_bytes() == b"x"
    assert sorted(path.name for path in there.iterdir()) == ["a", "b"]


def test_a_disk_that_takes_some_bytes_is_asked_again_for_the_rest(disk: Recording, there: Path) -> None:
    """A full disk takes a part and says nothing."""
    disk.short = 2
    fsio.replace(str(there / "a"), b"12345")
    assert (there / "a").read_bytes() == b"12345" and disk.calls.count("write") == 3


def test_a_disk_that_takes_nothing_is_full(there: Path) -> None:
    """Asking for ever would hang the command."""

    class Full(Recording):
        def write(self, fd: int, data: bytes | memoryview) -> int:  # noqa: ARG002
            return 0

    before, fsio.ops = fsio.ops, Full()
    try:
        with pytest.raises(NotStored, match="No space left"):
            fsio.replace(str(there / "a"), b"12345")
    finally:
        fsio.ops = before
    assert list(there.iterdir()) == []


@pytest.mark.parametrize("call", ["write", "sync", "rename"])
def test_what_was_refused_leaves_the_old_file_and_no_other(disk: Recording, there: Path, call: str) -> None:
    """Half a file, or a heap of temporary ones, is what the next command would stumble over."""
    (there / "a").write_bytes(b"old")
    disk.refused[call] = errno.EIO
    with pytest.raises(NotStored, match="was not stored"):
        fsio.replace(str(there / "a"), b"new")
    if call != "rename":
        with pytest.raises(NotStored):
            fsio.create(str(there / "b"), b"new")
    with pytest.raises((NotStored, OSError)), fsio.writing(str(there / "c")) as out:
        out.write(b"new")
        if call == "write":
            raise OSError(errno.EIO, "no")
    assert [path.name for path in there.iterdir()] == ["a"] and (there / "a").read_bytes() == b"old"


def test_a_refusal_says_what_kind_it_is(disk: Recording, there: Path) -> None:
    """Who has a read-only disk looks elsewhere than who has a full one."""
    for number, kind in ((errno.EROFS, ReadOnlyStore), (errno.EACCES, ReadOnlyStore), (errno.EPERM, ReadOnlyStore)):
        disk.refused["open"] = number
        with pytest.raises(kind):
            fsio.replace(str(there / "a"), b"x")
    disk.refused["open"] = errno.EDQUOT
    with pytest.raises(NotStored) as caught:
        fsio.replace(str(there / "a"), b"x")
    assert type(caught.value) is NotStored and "Check the path" not in caught.value.hint
    disk.refused.clear()
    for missing in ("gone/a", "file/a"):
        (there / "file").write_bytes(b"")
        with pytest.raises(NotStored) as caught:
            fsio.replace(str(there / missing), b"x")
        assert caught.value.hint == "Check the path it names."


def test_a_stream_becomes_a_file_when_it_ends_well(disk: Recording, there: Path) -> None:
    """An export that was cut short must not look like one."""
    with fsio.writing(str(there / "a")) as out:
        out.write(b"half")
        assert not (there / "a").exists()
        out.write(b" and half")
    assert (there / "a").read_bytes() == b"half and half"
    assert disk.calls[-3:] == ["sync", "rename", "sync_dir"]
    assert disk.synced == [len(b"half and half")], "what is still in a buffer is not on the disk"
    with pytest.raises(KeyboardInterrupt), fsio.writing(str(there / "a")) as out:
        out.write(b"other")
        raise KeyboardInterrupt
    assert (there / "a").read_bytes() == b"half and half" and len(list(there.iterdir())) == 1


def test_a_move_syncs_where_it_goes_and_whence_it_came(disk: Recording, there: Path) -> None:
    """After a power cut it must not be in both places, nor in neither."""
    (there / "below").mkdir()
    (there / "a").write_bytes(b"x")
    fsio.move(str(there / "a"), str(there / "below/b"))
    assert [name for call, name in disk.done if call == "sync_dir"] == ["below", "there"]
    disk.done.clear()
    fsio.move(str(there / "below/b"), str(there / "below/c"))
    assert [name for call, name in disk.done if call == "sync_dir"] == ["below"]


def test_what_is_removed_stays_removed_and_what_is_not_there_is_fine(disk: Recording, there: Path) -> None:
    """An erase that a power cut takes back was none."""
    (there / "a").write_bytes(b"x")
    fsio.remove(str(there / "a"))
    assert disk.calls == ["unlink", "sync_dir"]
    fsio.remove(str(there / "a"))
    disk.refused["unlink"] = errno.EROFS
    with pytest.raises(ReadOnlyStore):
        fsio.remove(str(there / "a"))


def test_each_new_folder_is_synced_and_a_file_in_the_way_is_named(disk: Recording, there: Path) -> None:
    """A folder that a power cut takes takes everything in it."""
    fsio.make_dirs(str(there / "a/b"))
    assert disk.done == [("mkdir", "a"), ("sync_dir", "there"), ("mkdir", "b"), ("sync_dir", "a")]
    assert mode_of(there / "a") == mode_of(there / "a/b") == 0o700
    fsio.make_dirs(str(there / "a/b"))
    assert len(disk.done) == 4
    (there / "file").write_bytes(b"")
    with pytest.raises(UnsafePath, match="in the way") as caught:
        fsio.make_dirs(str(there / "file"))
    assert caught.value.hint == UnsafePath.hint, "the way out must fit what is there"
    assert "link" not in UnsafePath.hint
    disk.refused["sync_dir"] = errno.EIO
    with pytest.raises(NotStored):
        fsio.make_dirs(str(there / "c"))
    assert not (there / "c").exists(), "the next command would trust it"


def test_only_regular_files_of_a_bounded_size_are_read(there: Path) -> None:
    """A link leads elsewhere, a pipe waits for ever, and a huge file fills the memory."""
    (there / "a").write_bytes(b"12345")
    assert fsio.read(str(there / "a"), limit=5) == b"12345"
    with pytest.raises(TooLarge, match="has 5 bytes; at most 4"):
        fsio.read(str(there / "a"), limit=4)
    (there / "link").symlink_to(there / "a")
    with pytest.raises(UnsafePath, match="symbolic link") as caught:
        fsio.read(str(there / "link"), limit=5)
    assert "Remove the link" in (caught.value.hint or "")
    os.mkfifo(there / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(UnsafePath, match="not a regular file"):
            fsio.read(str(there / name), limit=5)
    with pytest.raises(FileNotFoundError):
        fsio.read(str(there / "none"), limit=5)
    (there / "empty").write_bytes(b"")
    assert fsio.read(str(there / "empty"), limit=0) == b""


def test_a_file_that_grows_while_it_is_read_is_read_to_its_limit(there: Path) -> None:
    """Its size was asked before; whoever appends for ever must not be read for ever."""
    (there / "a").write_bytes(b"123456")
    fd = os.open(there / "a", os.O_RDONLY)
    try:
        with pytest.raises(TooLarge, match="grew past 5"):
            fsio._read_up_to(fd, 3, 5, "a")
        os.lseek(fd, 0, os.SEEK_SET)
        assert fsio._read_up_to(fd, 2, 6, "a") == b"123456"
    finally:
        os.close(fd)


def test_no_path_leads_out_of_the_repository(there: Path) -> None:
    """A tracked name is written by strangers."""
    assert fsio.inside(str(there), "a/b.md") == str(there / "a/b.md")
    for path in ("/etc/passwd", "../a", "a/../b", "a//b", "./a", "", "a/."):
        with pytest.raises(UnsafePath, match="does not name a file inside"):
            fsio.inside(str(there), path)
    (there / "real").mkdir()
    (there / "link").symlink_to(there / "real")
    for path in ("link/a", "link"):
        with pytest.raises(UnsafePath, match="symbolic link"):
            fsio.inside(str(there), path)
    assert fsio.inside(str(there), "real/a") == str(there / "real/a")


def test_one_at_a_time_holds_a_lock_and_who_waits_in_vain_is_told(there: Path) -> None:
    """Two commands that both believe to be alone lose what one of them wrote."""
    path = str(there / "lock")
    with fsio.locked(path):
        fd = os.open(path, os.O_RDWR)
        assert not fsio.try_lock_fd(fd)
        with pytest.raises(Busy, match=r"has held it for 0\.01 seconds"):
            fsio.lock_fd(fd, wait=0.01, what="it")
        with pytest.raises(Busy), fsio.locked(path, wait=0.0):
            pass
    assert fsio.try_lock_fd(fd)
    fsio.unlock_fd(fd)
    with fsio.locked(path, wait=0.0):
        pass
    os.close(fd)
    assert (there / "lock").exists() and mode_of(there / "lock") == 0o600


def test_a_file_is_read_from_where_somebody_stopped(tmp_path: Path) -> None:
    """Read from its beginning again, a spool would give every event once more."""
    path = tmp_path / "spool"
    path.write_bytes(b"first\nsecond\n")
    assert fsio.read(str(path), limit=100, start=6) == b"second\n"
    assert fsio.read(str(path), limit=100, start=13) == b""


# ── the calls themselves ──────────────────────────────────────────────────────


def open_files() -> int:
    gc.collect()  # what an earlier test left open
    return len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))


def test_every_call_asks_the_kernel_and_closes_what_it_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is called stored and is not on the disk is lost with the next power cut."""
    asked = []
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda fd, name=name: asked.append((name, stat.S_ISDIR(os.fstat(fd).st_mode))))
    before, calls = open_files(), fsio.Syscalls()
    with open(tmp_path / "file", "wb") as file:
        calls.sync(file.fileno())
        calls.sync_data(file.fileno())
    calls.sync_dir(os.fspath(tmp_path))
    assert asked == [("fsync", False), ("fdatasync", False), ("fsync", True)]
    fsio.create(os.fspath(tmp_path / "made"), b"x")
    fsio.replace(os.fspath(tmp_path / "made"), b"y")
    fsio.read(os.fspath(tmp_path / "made"), limit=9)
    with fsio.locked(os.fspath(tmp_path / "lock")):
        pass
    os.close(fsio.whole_input(b"data"))
    assert open_files() == before


def test_a_refusal_is_said_in_the_systems_words_or_in_its_own() -> None:
    """`[Errno 28]` helps nobody."""
    with (
        pytest.raises(NotStored, match=r"^the note was not stored: No space left on device$"),
        fsio.refusing("the note"),
    ):
        raise OSError(errno.ENOSPC, "[odd]")
    with pytest.raises(NotStored, match=r"^the note was not stored: it is odd$"), fsio.refusing("the note"):
        raise OSError("it is odd")
    with pytest.raises(FileExistsError), fsio.refusing("the note"):
        raise FileExistsError


@pytest.mark.parametrize(("there", "after"), [(b"", b"new\n"), (b"x", b"x\nnew\n"), (b"x\n", b"x\nnew\n")])
def test_a_line_stands_alone_after_whatever_was_torn(tmp_path: Path, there: bytes, after: bytes) -> None:
    """A killed writer's last bytes must not swallow the next record."""
    (tmp_path / "log").write_bytes(there)
    fd = os.open(tmp_path / "log", os.O_RDWR | os.O_APPEND)
    try:
        fsio.append(fd, b"new\n")
    finally:
        os.close(fd)
    assert (tmp_path / "log").read_bytes() == after


def test_what_killed_commands_left_is_swept_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another command is about to put in place is not ours to take away."""
    with subprocess.Popen(["true"]) as ended:
        pass
    gone = {f"file.{ended.pid}-ab.tmp", "file.99999999999999999999-ab.tmp"}
    kept = {
        *("file", f"file.{os.getpid()}-ab.tmp", f"other.{ended.pid}-ab.tmp", f"file.{ended.pid}-ab.txt"),
        *("file.word-ab.tmp", "file.tmp", f"{ended.pid}-ab.tmp", f"file.{ended.pid}.tmp"),
    }
    for name in gone | kept:
        (tmp_path / name).touch()
    fsio.sweep(os.fspath(tmp_path / "file"))
    assert set(os.listdir(tmp_path)) == kept

    def refused(_pid: int, _signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)  # it runs, and is another user's
    (tmp_path / "file.5-ab.tmp").touch()
    fsio.sweep(os.fspath(tmp_path / "file"))
    assert (tmp_path / "file.5-ab.tmp").exists()


def test_asking_whether_a_process_runs_does_not_end_it(tmp_path: Path) -> None:
    """A signal other than none would end another command."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as running:
        (tmp_path / f"file.{running.pid}-ab.tmp").touch()
        fsio.sweep(os.fspath(tmp_path / "file"))
        assert running.stdin is not None
        running.stdin.close()
    assert (running.returncode, len(os.listdir(tmp_path))) == (0, 1)


def test_a_free_place_is_the_first_where_nothing_lies(tmp_path: Path) -> None:
    """What is set aside must not take the place of what was set aside before."""
    place = os.fspath(tmp_path / "file")
    assert fsio.free(place) == place
    (tmp_path / "file").touch()
    assert fsio.free(place) == f"{place}.2"
    (tmp_path / "file.2").symlink_to("nowhere")
    assert fsio.free(place) == f"{place}.3"


def test_folders_are_made_where_we_stand_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path has no parent to make."""
    monkeypatch.chdir(tmp_path)
    fsio.make_dirs("one")
    fsio.make_dirs("two/three")
    assert (tmp_path / "one").is_dir() and (tmp_path / "two/three").is_dir()


def test_the_facts_of_a_file_change_when_it_is_written_again(tmp_path: Path) -> None:
    """What is remembered of a file must not outlive it, though somebody sets its time back."""
    file = tmp_path / "file"
    assert fsio.facts(os.fspath(file)) == ()
    file.write_text("one")
    os.utime(file, ns=(5, 5))
    found, first = os.stat(file), fsio.facts(os.fspath(file))
    assert first == (found.st_ctime_ns, 5, 3, found.st_ino)
    os.utime(file, ns=(1 << 62, 1 << 62))
    assert fsio.facts(os.fspath(file))[0] == 1 << 62


def test_a_link_is_named_as_one_by_whatever_error_a_system_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FreeBSD calls it too many links."""

    def refused(*_: object) -> int:
        raise OSError(errno.EMLINK, "Too many links")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(UnsafePath, match="is a symbolic link"):
        fsio.read(os.fspath(tmp_path / "file"), limit=1)


@pytest.mark.parametrize("refusing", ["sync_data", "write"])
def test_a_line_that_the_disk_refused_is_taken_back(
    there: Path, monkeypatch: pytest.MonkeyPatch, refusing: str
) -> None:
    """The caller is told that nothing was stored: so nothing may be there."""
    asked = []

    class Disk(fsio.Syscalls):
        def write(self, fd: int, data: bytes | memoryview) -> int:
            if refusing == "write" and asked:
                raise OSError(errno.ENOSPC, "full")
            asked.append("write")
            return super().write(fd, data[:2])

        def sync_data(self, fd: int) -> None:
            asked.append("sync")
            if refusing == "sync_data":
                raise OSError(errno.EIO, "broken")
            super().sync_data(fd)

    monkeypatch.setattr(fsio, "ops", Disk())
    (there / "log").write_bytes(b"old\n")
    fd = os.open(there / "log", os.O_RDWR | os.O_APPEND)
    try:
        with pytest.raises(OSError, match=r"full|broken"):
            fsio.append(fd, b"new\n")
        assert (there / "log").read_bytes() == b"old\n"
        refusing = ""
        fsio.append(fd, b"new\n")
    finally:
        os.close(fd)
    assert (there / "log").read_bytes() == b"old\nnew\n"
    assert asked[-1] == "sync", "durable on return"


def test_what_is_moved_is_there_and_no_longer_here(tmp_path: Path) -> None:
    """A move that only syncs is none."""
    (tmp_path / "one").write_text("x")
    fsio.move(os.fspath(tmp_path / "one"), os.fspath(tmp_path / "two"))
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


def test_a_file_is_found_or_there_is_none(tmp_path: Path) -> None:
    """Most of what is looked for is not there."""
    (tmp_path / "file").write_bytes(b"x")
    assert fsio.find(os.fspath(tmp_path / "file"), limit=9) == b"x"
    assert fsio.find(os.fspath(tmp_path / "none"), limit=9) is None
    assert fsio.find(os.fspath(tmp_path / "file" / "below"), limit=9) is None
    with pytest.raises(UnsafePath):
        fsio.find(os.fspath(tmp_path), limit=9)


@pytest.mark.skipif(not os.path.exists("/proc/self/cmdline"), reason="no such file here")
def test_a_file_that_does_not_tell_its_size_is_read_to_its_end() -> None:
    """It may have grown since it was asked."""
    with open("/proc/self/cmdline", "rb") as file:
        assert fsio.read("/proc/self/cmdline", limit=1 << 20) == file.read() != b""


@pytest.mark.parametrize("nameless", [True, False])
def test_a_program_is_given_its_whole_input_or_none(monkeypatch: pytest.MonkeyPatch, nameless: bool) -> None:
    """A program that waits for the keyboard holds an agent up for ever."""
    if not nameless:
        monkeypatch.delattr(os, "memfd_create", raising=False)
    data, before = os.urandom(1 << 20), open_files()
    for given in (data, b"", None):
        with open(fsio.whole_input(given), "rb") as file:
            assert file.read() == (given or b"")

    def refused(*_: object) -> int:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", refused)
    with pytest.raises(OSError, match="full"):
        fsio.whole_input(b"data")
    assert open_files() == before
