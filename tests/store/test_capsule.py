"""A run's folder: begun under a lock, sealed to the byte, completed by whoever comes next."""

import gc
import json
import os
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import BadInput, HoldfastError, NotStored
from holdfast.store import capsule, fsio
from holdfast.store.capsule import Capsule
from holdfast.store.layout import Layout
from tests.conftest import Quick

RUN = "20310101T000000Z-abc123"
META = {"run_id": RUN, "kind": "run", "body_state": "here"}


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store").mkdir()
    made = Layout(str(tmp_path), str(tmp_path / "store"))
    os.makedirs(os.path.dirname(made.run(RUN)), exist_ok=True)
    return made


def begun(layout: Layout, run_id: str = RUN) -> Capsule:
    return Capsule.create(layout, run_id, {"command": ["true"]})


def sealed(layout: Layout) -> tuple[Path, str]:
    made = begun(layout)
    made.add("outputs/stdout", b"hello\n")
    made.add("inputs/deep/er/a.txt", b"a\n")
    root = made.seal()
    made.close(META)
    return Path(made.folder), root


def faults(folder: Path, root: str | None, event: dict[str, Any] = META) -> dict[str, str]:
    return {fault.path: fault.sentence for fault in capsule.faults(str(folder), root, event)}


def change(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


def test_a_run_under_way_is_locked_listed_and_has_its_context(layout: Layout) -> None:
    """Whoever looks meanwhile must not take it for one whose wrapper died."""
    made = begun(layout)
    assert capsule.opened(layout) == [RUN] and capsule.is_alive(made.folder)
    assert Capsule.take_over(layout, RUN, folder=made.folder) is None
    assert capsule.read_json(made.folder, "context.json") == {"command": ["true"]}
    capsule.forget(layout, RUN)
    assert capsule.opened(layout) == [RUN]
    with pytest.raises(FileExistsError):
        begun(layout)
    made.close(META)
    assert capsule.opened(layout) == [] and not capsule.is_alive(made.folder)
    assert Capsule.take_over(layout, RUN, folder=made.folder) is None
    assert capsule.read_json(made.folder, "meta.json") == META
    made.let_go()


def test_a_run_whose_wrapper_died_is_taken_over_by_one(layout: Layout) -> None:
    """Two that complete it would write its event twice."""
    made = begun(layout)
    made.note({"exit_status": 3})
    for name in ("MANIFEST.12-abcdef01.tmp", "outputs/files.json.12-abcdef01.tmp", "outputs/mine.tmp"):
        Path(made.folder, name).write_bytes(b"x")
    made.let_go()
    assert not capsule.is_alive(made.folder)
    second = Capsule.take_over(layout, RUN, folder=made.folder)
    assert second is not None and second.noted() == {"exit_status": 3}
    assert Capsule.take_over(layout, RUN, folder=made.folder) is None
    left = {path.name for path in Path(made.folder).rglob("*.tmp")}
    assert left == {"mine.tmp"}, "what it was about to rename goes, a user's own file stays"
    second.close(META)
    assert Capsule.take_over(layout, RUN, folder=made.folder) is None
    assert Capsule.take_over(layout, RUN, folder=str(Path(made.folder, "none"))) is None


def test_how_it_ended_is_noted_over_and_over(layout: Layout) -> None:
    """The last note counts, and none at all is nothing."""
    made = begun(layout)
    assert made.noted() == {}
    made.note({"exit_status": 1, "long": "x" * 100})
    made.note({"exit_status": 0})
    assert made.noted() == {"exit_status": 0}
    os.pwrite(made._handle, b"[1]".ljust(512), 0)
    assert made.noted() == {}


def test_a_run_that_cannot_begin_leaves_nothing(layout: Layout) -> None:
    """A full disk at the first byte: no folder, no mark, and the same id may be tried again."""

    class Full(Quick):
        calls = 0

        def write(self, fd: int, data: bytes | memoryview) -> int:
            Full.calls += 1
            if Full.calls > 1:
                raise OSError(28, "no space left")
            return super().write(fd, data)

    before, fsio.ops = fsio.ops, Full()
    try:
        with pytest.raises(NotStored):
            begun(layout)
    finally:
        fsio.ops = before
    assert capsule.opened(layout) == [] and not os.path.exists(layout.run(RUN))
    assert os.listdir(layout.under_way) == []
    begun(layout).close(META)


def test_what_never_began_is_forgotten_once_its_maker_is_dead(layout: Layout) -> None:
    """A folder without a lock is given a minute: its maker may be about to lock it."""
    new = Path(layout.under_way, f"{RUN}.new")
    (new / "inputs").mkdir(parents=True)
    capsule.forget(layout, RUN)
    assert new.exists() and capsule.opened(layout) == [RUN]
    old = time.time() - 61
    os.utime(new, (old, old))
    capsule.forget(layout, RUN)
    assert not new.exists() and capsule.opened(layout) == []
    new.mkdir()
    (new / "open").write_bytes(b"")
    (new / "context.json").write_bytes(b"{}")
    with open(new / "open", "rb") as held:
        assert fsio.try_lock_fd(held.fileno())
        capsule.forget(layout, RUN)
        assert new.exists(), "its maker lives"
    capsule.forget(layout, RUN)
    assert not new.exists()
    capsule.forget(layout, RUN)


def test_a_capsule_that_was_never_sealed_can_be_dropped(layout: Layout) -> None:
    """What it holds is still where it came from."""
    made = begun(layout)
    made.add("outputs/a", b"x")
    made.drop()
    assert not os.path.exists(made.folder) and capsule.opened(layout) == []


@pytest.mark.parametrize("name", ["", "../x", "a/../b", "a//b", "./a", "MANIFEST", "meta.json", "open", "a\nb"])
def test_no_name_leads_out_of_a_run_or_takes_the_place_of_its_seal(layout: Layout, name: str) -> None:
    """An agent chooses the names of its outputs."""
    made = begun(layout)
    with pytest.raises(BadInput):
        made.add(name, b"x")
    assert made.path("outputs/open") == os.path.join(made.folder, "outputs", "open")


def test_a_file_is_added_once_and_replaced_on_purpose(layout: Layout) -> None:
    """An output must not be overwritten by another of the same name."""
    made = begun(layout)
    made.add("outputs/a", b"1")
    with pytest.raises((FileExistsError, HoldfastError)):
        made.add("outputs/a", b"2")
    sink = made.open_output("outputs/b")
    for piece in (b"1", b"2"):
        sink.write(piece)
    sink.close()
    sink.close()
    made.replace("outputs/a", b"3")
    assert [Path(made.folder, "outputs", name).read_bytes() for name in "ab"] == [b"3", b"12"]


def test_a_sealed_run_is_read_only_and_proves_every_byte(layout: Layout) -> None:
    """The root in the event is the hash of what was sealed, whatever order the files came in."""
    folder, root = sealed(layout)
    assert faults(folder, root) == {}
    rows = (folder / "MANIFEST").read_text().splitlines()
    assert [row.partition("  ")[2] for row in sorted(rows, key=lambda row: row[66:])] == [
        "context.json",
        "inputs/deep/er/a.txt",
        "outputs/stdout",
    ]
    assert rows == sorted(rows)
    for path in folder.rglob("*"):
        if path.is_file():
            assert not stat.S_IMODE(path.stat().st_mode) & 0o222, path


def test_many_files_are_sealed_like_few(layout: Layout) -> None:
    """They are synced side by side; each keeps its own hash."""
    made = begun(layout)
    for number in range(20):
        made.add(f"outputs/{number:02}", b"%d" % number)
    held = len(os.listdir("/proc/self/fd"))
    root = made.seal()
    assert len(os.listdir("/proc/self/fd")) == held, "a run of a thousand files must not run out of handles"
    made.close(META)
    assert faults(Path(made.folder), root) == {}
    assert len((Path(made.folder) / "MANIFEST").read_bytes().splitlines()) == 21


def test_whatever_was_changed_added_or_lost_is_named(layout: Layout, tmp_path: Path) -> None:
    """Somebody edited what an agent said; which file, must be known."""
    folder, root = sealed(layout)
    change(folder / "outputs/stdout", b"hullo\n")
    (folder / "outputs/more").write_bytes(b"x")
    (folder / "inputs/deep/er/a.txt").unlink()
    assert faults(folder, root) == {
        "inputs/deep/er/a.txt": "it is missing",
        "outputs/more": "it was added after the run was sealed",
        "outputs/stdout": "it was changed after the run was sealed",
    }
    names = ["context.json", "outputs/stdout", "outputs/more", "inputs/deep/er/a.txt", "none"]
    assert capsule.harmed(str(folder), names) == names[1:4]
    (folder / "MANIFEST").unlink()
    assert capsule.harmed(str(folder), names) == names
    assert [fault.path for fault in capsule.faults(str(tmp_path / "none"), root, META)] == [""]


def test_a_link_or_a_second_name_is_no_part_of_a_run(layout: Layout, tmp_path: Path) -> None:
    """It could be changed outside, and the hash would be of something else."""
    folder, root = sealed(layout)
    (folder / "outputs/link").symlink_to("/etc/passwd")
    os.link(folder / "outputs/stdout", tmp_path / "second")
    found = [str(fault) for fault in capsule.faults(str(folder), root, META)]
    assert [said for said in found if said.startswith("outputs/link: ") and "link or a device" in said]
    assert [said for said in found if said.startswith("outputs/stdout: ") and "second name" in said]


def test_a_changed_manifest_is_named_alone_where_the_files_are_whole(layout: Layout) -> None:
    """One fault, not one for every file."""
    folder, root = sealed(layout)
    change(folder / "MANIFEST", b"junk\n")
    assert faults(folder, root) == {"MANIFEST": "it was changed or is missing"}
    change(folder / "outputs/stdout", b"hullo\n")
    assert set(faults(folder, root)) == {"MANIFEST", "context.json", "inputs/deep/er/a.txt", "outputs/stdout"}
    assert "MANIFEST" not in faults(folder, None), "an old run has no root to compare with"


def test_the_event_beside_it_is_the_logs_to_the_byte(layout: Layout) -> None:
    """Whoever reads the folder alone must not be told another story."""
    folder, root = sealed(layout)
    assert faults(folder, root, {**META, "body_state": "erased"}) == {}
    assert faults(folder, root, {**META, "later_field": None}) == {}
    for event in ({**META, "kind": "x"}, {**META, "later_field": 1}):
        assert faults(folder, root, event) == {"meta.json": "it does not equal the run's event"}
    whole = (folder / "meta.json").read_bytes()
    for data in (whole.replace(b"\n", b""), json.dumps([1]).encode(), whole + b" "):
        change(folder / "meta.json", data)
        assert faults(folder, root) == {"meta.json": "it does not equal the run's event"}
    for data in (b"{", b"\xff"):
        change(folder / "meta.json", data)
        assert faults(folder, root) == {"meta.json": "it is missing or damaged"}
    (folder / "meta.json").unlink()
    assert faults(folder, root) == {"meta.json": "it is missing or damaged"}


def test_rows_that_are_no_rows_are_left_out(layout: Layout) -> None:
    """One bad line costs itself."""
    made = begun(layout)
    made.add("outputs/rows.jsonl", b'{"a":1}\n[2]\n{"b"\n\xff\n{"c":3}\n')
    assert list(capsule.read_rows(made.folder, "outputs/rows.jsonl")) == [{"a": 1}, {"c": 3}]
    assert list(capsule.read_rows(made.folder, "outputs/none")) == []
    assert capsule.read_json(made.folder, "outputs/rows.jsonl") is None
    assert capsule.read_json(made.folder, "none") is None


def open_files() -> int:
    gc.collect()  # what an earlier test left open
    return len(os.listdir("/proc/self/fd" if os.path.isdir("/proc/self/fd") else "/dev/fd"))


def test_a_run_leaves_no_file_open_however_it_ends(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that records a thousand runs has as many files to open and no more."""
    before = open_files()
    folder, _ = sealed(layout)
    assert Capsule.take_over(layout, RUN, folder=str(folder)) is None
    begun(layout, "r-2").drop()
    lost = begun(layout, "r-3")
    assert Capsule.take_over(layout, "r-3", folder=lost.folder) is None, "it lives"
    lost.let_go()
    lost.let_go()
    taken = Capsule.take_over(layout, "r-3", folder=lost.folder)
    assert taken is not None
    taken.let_go()
    for call in ("move", "create"):
        with monkeypatch.context() as broken, pytest.raises(NotStored):
            broken.setattr(fsio, call, refuse)
            begun(layout, f"r-{call}")
        assert not os.path.lexists(capsule._begun(layout, f"r-{call}"))
    assert open_files() == before
    assert set(capsule.opened(layout)) == {"r-3"}, "what could not begin is not waited for"


def refuse(*_: object, **__: object) -> None:
    raise NotStored("the disk is full")


def test_a_lock_that_cannot_be_made_is_told_and_closed(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that has no lock would be taken for dead while it runs."""

    class Disk(Quick):
        def rename(self, source: str, target: str) -> None:
            raise OSError(28, f"{source} to {target}: full")

    before = open_files()
    with monkeypatch.context() as broken, pytest.raises(NotStored):
        broken.setattr(fsio, "ops", Disk())
        begun(layout)
    assert open_files() == before
    assert not os.path.lexists(layout.run(RUN))


def test_the_files_of_a_run_are_written_for_people_to_read(layout: Layout) -> None:
    """The same value gives the same bytes: a manifest is only as good as that."""
    assert capsule.to_json({"said": "Grüße", "no": ["\udc80"]}) == (
        '{\n "said": "Grüße",\n "no": [\n  "\\udc80"\n ]\n}\n'.encode()
    )


def test_every_folder_of_a_run_is_synced_when_it_is_sealed(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file without its entry in the folder is simply not there after a power cut."""
    synced, files = [], []

    class Disk(Quick):
        def sync_dir(self, path: str) -> None:
            synced.append(os.path.relpath(path, layout.run(RUN)))

        def sync(self, fd: int) -> None:
            files.append(os.fstat(fd).st_size)

    made = begun(layout)
    made.add("outputs/stdout", b"hello\n")
    made.add("inputs/deep/er/a.txt", b"a\n")
    monkeypatch.setattr(fsio, "ops", Disk())
    made.seal()
    assert synced == [".", "inputs/deep/er", "outputs", "."], "the manifest's own name comes last"
    assert len(files) == 4 and {2, 6} <= set(files), "the two, the context and the manifest"
    made.let_go()


def test_how_it_ended_is_noted_from_the_first_byte(layout: Layout) -> None:
    """Room was kept for it when the disk was not full yet."""
    made = begun(layout)
    made.note({"exit": 1})
    assert made.noted() == {"exit": 1}
    assert os.path.getsize(os.path.join(made.folder, capsule.OPEN)) == 512
    made.let_go()


def test_what_was_killed_before_it_was_locked_is_cleared_by_who_makes_it_again(layout: Layout) -> None:
    """An import that was killed must not stop the next one; one that is under way is left alone."""
    new = Path(capsule._begun(layout, RUN))
    capsule.clear(layout, RUN)
    new.mkdir(parents=True)
    (new / "context.json").write_text("{}")
    capsule.clear(layout, RUN)
    assert not new.exists()
    made = begun(layout)
    os.rename(made.folder, new)
    capsule.clear(layout, RUN)
    assert new.exists(), "it lives"
    made.let_go()
    capsule.clear(layout, RUN)
    assert not new.exists()


def test_a_folder_that_is_not_there_is_not_called_dead(layout: Layout) -> None:
    """It may get its name at this very moment."""
    assert not capsule._is_dead(capsule._begun(layout, RUN))


def test_the_mark_of_a_run_that_is_complete_is_dropped(layout: Layout) -> None:
    """A wrapper that was killed after its last step is waited for by nobody."""
    sealed(layout)
    Path(layout.under_way, RUN).touch()
    capsule.forget(layout, RUN)
    assert capsule.opened(layout) == []
    other = begun(layout, "r-2")
    capsule.forget(layout, "r-2")
    assert capsule.opened(layout) == ["r-2"], "it is under way"
    other.let_go()
