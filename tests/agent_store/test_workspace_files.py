"""An agent's files, cycle by cycle: given back as they were, at the cost of what changed, and nothing else touched."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import socket
import stat
import threading
import time
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.agent_store import agent_cycles, database, workspace_files
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import CHUNK, FILE, SNAPSHOT
from holdfast.agent_store.workspace_files import Workspace
from holdfast.errors import BadInput, HoldfastError, NoDatabase, NotFound, UnsafePath
from holdfast.model.agent_entities import ActionProposal, ActionResult
from holdfast.project import Project
from holdfast.store.confined_folder import CHUNK_SIZE

LINK = stat.S_IFLNK | 0o777
HELD = "held"


def opened(store: AgentDatabase, folder: Path | None, cycles: int = 30, name: str = "main") -> Workspace:
    """A workspace of an agent that has begun some cycles."""
    agent = store.run(partial(agent_cycles.get_agent, name="a", new_id="A", directives=None, config=None))
    store.run(lambda tx: tx.update(agent_cycles.AGENT, cycles=cycles))
    return Workspace(store, agent, name, None if folder is None else str(folder), holder=HELD)


def tree(folder: Path) -> dict[str, object]:
    """Everything below a folder, to compare."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        name = str(path.relative_to(folder))
        if stat.S_ISLNK(mode):
            found[name] = ("link", os.readlink(path))
        else:
            found[name] = (stat.S_IMODE(mode), path.read_bytes() if stat.S_ISREG(mode) else None)
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def count(store: AgentDatabase, table: sa.Table) -> int:
    return int(store.run(lambda tx: tx.one(sa.select(sa.func.count()).select_from(table))[0]))


# ── the same tree ────────────────────────────────────────────────────────────────────────────────

NAMES = st.sampled_from(["a", "b", "é", "new\nline", "tail ", "-rf", "ü" * 100, "back\\slash", "c.txt", "...", "~"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
CONTENT = st.one_of(st.binary(max_size=64), st.sampled_from([b"", b"x" * (CHUNK_SIZE + 1), b"\0" * CHUNK_SIZE]))
MODES = st.sampled_from([0o644, 0o755, 0o600, 0o444])
ENTRIES = st.dictionaries(
    PATHS, st.one_of(st.tuples(CONTENT, MODES), st.sampled_from(["a", "../out", "/etc/passwd"]), st.none()), max_size=6
)


def lay_out(folder: Path, entries: dict[str, object]) -> None:
    for name, what in entries.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            if what is None:
                path.mkdir(exist_ok=True)
            elif isinstance(what, str):
                path.symlink_to(what)
            elif isinstance(what, tuple) and not path.is_symlink():
                path.write_bytes(what[0])
                path.chmod(what[1])
        except OSError:  # what is in the way, or a link that leads to itself
            pass


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=ENTRIES, second=ENTRIES)
def test_what_a_snapshot_holds_is_what_a_restore_gives(
    store: AgentDatabase, tmp_path: Path, first: dict[str, object], second: dict[str, object]
) -> None:
    """An agent that goes on with other files than it left does other things than it meant."""
    for table in (CHUNK, FILE, SNAPSHOT):
        store.run(lambda tx, table=table: tx.delete(table))
    top = tmp_path / "t"
    shutil.rmtree(top, ignore_errors=True)
    work, copy = top / "work", top / "copy"
    work.mkdir(parents=True)
    (top / "out").write_bytes(b"outside")
    workspace = opened(store, work)
    lay_out(work, first)
    before = tree(work)
    workspace.snapshot(0)
    shutil.rmtree(work)
    work.mkdir()
    lay_out(work, second)
    after = tree(work)
    workspace.snapshot(1)
    for cycle, wanted in ((0, before), (1, after)):
        workspace.restore(cycle, into=str(copy), clean=True)  # over what the other cycle left there
        assert tree(copy) == wanted
        workspace.restore(cycle, clean=True)
        assert tree(work) == wanted and not workspace.diff(cycle)
    assert (top / "out").read_bytes() == b"outside"


def stored_bytes(store: AgentDatabase) -> int:
    """What the workspaces take in the database."""
    names = ", ".join(f"'{table.name}'" for table in (CHUNK, FILE, SNAPSHOT))
    asked = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    if store.is_shared:
        asked = f"SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relname IN ({names})"
    return int(store.run(lambda tx: tx.one(sa.text(asked))[0]))


def test_unchanged_files_cost_nothing(store: AgentDatabase, folder: Path) -> None:
    """An agent of a thousand cycles must not keep its folder a thousand times."""
    for n in range(50):
        (folder / f"{n}.bin").write_bytes(os.urandom(100_000))
    workspace = opened(store, folder)
    first = workspace.snapshot(0)
    assert (first.files, first.size, first.changed) == (50, 5_000_000, 50)
    rows, pieces = count(store, FILE), count(store, CHUNK)
    size = stored_bytes(store)
    assert size > 5_000_000
    for cycle in range(1, 21):
        assert workspace.snapshot(cycle).changed == 0
    assert (count(store, FILE), count(store, CHUNK), count(store, SNAPSHOT)) == (rows, pieces, 21)
    assert stored_bytes(store) - size < 50_000
    (folder / "7.bin").unlink()
    (folder / "8.bin").write_bytes(b"new")
    assert workspace.snapshot(21).changed == 2 and count(store, CHUNK) == pieces + 1
    assert len(workspace.files(20)) == 50 and len(workspace.files(21)) == 49


def test_a_large_file_costs_the_pieces_that_changed(store: AgentDatabase, folder: Path) -> None:
    """A database of 100 MB with one new row is not 100 MB more."""
    big = folder / "big"
    content = bytearray(os.urandom(5 * CHUNK_SIZE + 17))
    big.write_bytes(content)
    workspace = opened(store, folder)
    workspace.snapshot(0)
    assert count(store, CHUNK) == 6
    content[3 * CHUNK_SIZE] ^= 1
    big.write_bytes(content)
    workspace.snapshot(1)
    assert count(store, CHUNK) == 7
    assert workspace.read(1, "big") == content != workspace.read(0, "big")


def test_a_diff_says_what_was_added_removed_and_changed(store: AgentDatabase, folder: Path) -> None:
    """Somebody who asks what an agent did to their files wants names."""
    for name in ("stays", "goes", "changes", "mode"):
        (folder / name).write_text(name)
    workspace = opened(store, folder)
    workspace.snapshot(0)
    (folder / "goes").unlink()
    (folder / "comes").write_text("x")
    (folder / "changes").write_text("changed")
    (folder / "mode").chmod(0o755)
    now = workspace.diff(0)
    workspace.snapshot(4)
    assert workspace.diff(0, 4) == now == workspace.changes(4) and workspace.diff(3, 4) == now
    assert [one.path for one in now.added] == ["comes"] and [one.path for one in now.removed] == ["goes"]
    assert [after.path for _, after in now.changed] == ["changes", "mode"]
    assert not workspace.diff(4) and not workspace.diff(0, 2)
    assert [one.cycle for one in workspace.snapshots()] == [0, 4]


# ── nothing outside, nothing lost ────────────────────────────────────────────────────────────────


def test_nothing_outside_the_folder_is_read(store: AgentDatabase, folder: Path, tmp_path: Path) -> None:
    """A link to a key must not bring the key into a database that a team shares."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "key").write_text("PRIVATE")
    (folder / "link").symlink_to(outside / "key")
    (folder / "up").symlink_to("..")
    (folder / "way").symlink_to(outside)
    os.link(outside / "key", folder / "hard")
    (folder / "one").write_text("twice")
    os.link(folder / "one", folder / "two")
    os.mkfifo(folder / "pipe")
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("PRIVATE")
    with socket.socket(socket.AF_UNIX) as listening:
        here = os.open(folder, os.O_RDONLY)
        os.chdir(here)
        listening.bind("socket")
        os.close(here)
        os.chdir("/")
        kept = opened(store, folder).snapshot(0)
    workspace = opened(store, folder)
    assert {path: file.mode for path, file in workspace.files(0).items() if stat.S_ISLNK(file.mode)} == {
        "link": LINK,
        "up": LINK,
        "way": LINK,
    }
    assert set(workspace.files(0)) == {"link", "up", "way", "one", "two"}
    assert {path for path, _ in kept.skipped} == {"hard", "pipe", ".git", "socket"}
    data = store.run(lambda tx: [bytes(row.data) for row in tx.all(CHUNK.select())])
    assert not any(b"PRIVATE" in one for one in data)
    workspace.restore(0, clean=True)  # what a snapshot cannot hold is not removed either
    assert (folder / ".git/config").exists() and (folder / "hard").exists() and (folder / "pipe").exists()


def test_a_restore_writes_through_no_link(store: AgentDatabase, folder: Path, tmp_path: Path) -> None:
    """A link where a folder was, or a hard link where a file was, would let a restore overwrite somebody's file."""
    (folder / "d").mkdir()
    (folder / "d/f").write_text("kept")
    (folder / "h").write_text("kept")
    workspace = opened(store, folder)
    workspace.snapshot(0)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("theirs")
    shutil.rmtree(folder / "d")
    (folder / "d").symlink_to(outside)
    (folder / "h").unlink()
    os.link(outside / "f", folder / "h")
    workspace.restore(0)
    assert (outside / "f").read_text() == "theirs"
    assert (folder / "d/f").read_text() == (folder / "h").read_text() == "kept" and not (folder / "d").is_symlink()
    shutil.move(folder, tmp_path / "real")
    folder.symlink_to(tmp_path / "real")
    with pytest.raises(UnsafePath, match="link"):
        workspace.restore(0)


HOSTILE = [
    ["../x"],
    ["/etc/x"],
    ["a/../../x"],
    ["a//b"],
    ["./a"],
    [""],
    ["a/"],
    [".git/hooks/post-checkout"],
    [".GIT/config"],
    ["sub/.g\u200bit/config"],
    [".git. /config"],
    ["git~1/config"],
    ["README", "readme"],
    ["caf\u00e9", "cafe\u0301"],
    ["D/x", "d/y"],
    ["stra\u00dfe", "STRASSE"],
    ["a", "a/b"],
    ["n" * 256],
]


def test_hostile_names_are_refused_before_anything_is_written(store: AgentDatabase, folder: Path) -> None:
    """Whoever can write to a shared database must not be able to write to every machine that restores from it."""
    for number, paths in enumerate(HOSTILE):
        workspace = opened(store, folder, name=f"w{number}")
        (folder / "mine").write_text("mine")
        workspace.snapshot(0)
        digest = workspace.files(0)["mine"].chunks[0]
        row = {"workspace_id": workspace.id, "cycle": 0, "mode": stat.S_IFREG | 0o644, "size": 4, "chunks": [digest]}
        store.run(lambda tx, row=row, paths=paths: tx.insert(FILE, *({**row, "path": path} for path in paths)))
        (folder / "mine").write_text("changed since")
        with pytest.raises(UnsafePath):
            workspace.restore(0)
        assert tree(folder) == {"mine": (0o644, b"changed since")}, paths
        workspace.restore(0, only=["mine"])
        assert (folder / "mine").read_text() == "mine"


def test_a_folder_that_is_swapped_for_a_link_meanwhile_leads_nowhere(store: AgentDatabase, tmp_path: Path) -> None:
    """A process that runs beside a restore must not be able to send its files elsewhere."""
    work, outside, aside = tmp_path / "race/work", tmp_path / "race/outside", tmp_path / "race/aside"
    (work / "d/e").mkdir(parents=True)
    outside.mkdir()
    (outside / "key").write_text("PRIVATE")
    for n in range(20):
        (work / f"d/e/{n}").write_text("kept")
    workspace = opened(store, work)
    workspace.snapshot(0)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):
                os.rename(work / "d/e", aside)
                os.symlink(outside, work / "d/e")
            with contextlib.suppress(OSError):
                os.unlink(work / "d/e")
                os.rename(aside, work / "d/e")

    swapping = threading.Thread(target=swap)
    swapping.start()
    for number in range(10):
        with contextlib.suppress(HoldfastError):
            workspace.restore(0, clean=True)
        with contextlib.suppress(HoldfastError):
            workspace.snapshot(number + 1)
        for n in range(20):
            with contextlib.suppress(OSError):
                (work / f"d/e/{n}").unlink()
    stop.set()
    swapping.join()
    assert [path.name for path in outside.iterdir()] == ["key"]
    data = store.run(lambda tx: [bytes(row.data) for row in tx.all(CHUNK.select())])
    assert not any(b"PRIVATE" in one for one in data)


def test_a_file_below_a_link_is_refused(store: AgentDatabase, folder: Path, tmp_path: Path) -> None:
    """A snapshot that holds `x` as a link and `x/y` as a file would write to where the link leads."""
    workspace = opened(store, folder)
    (folder / "x").symlink_to(tmp_path)
    workspace.snapshot(0)
    digest = workspace.files(0)["x"].chunks[0]
    row = {"workspace_id": workspace.id, "cycle": 0, "mode": stat.S_IFREG | 0o644, "size": 4, "chunks": [digest]}
    store.run(lambda tx: tx.insert(FILE, {**row, "path": "x/evil"}))
    with pytest.raises(UnsafePath, match="is not a folder"):
        workspace.restore(0)
    assert not (tmp_path / "evil").exists()


def test_names_that_are_no_text_are_left_out_and_said(store: AgentDatabase, folder: Path) -> None:
    """Postgres keeps only text; a file that silently is not there would be missed too late."""
    (folder / os.fsdecode(b"\xff.bin")).write_text("x")
    ((why,),) = [[one[1] for one in opened(store, folder).snapshot(0).skipped]]
    assert "UTF-8" in why


def test_only_clean_removes_what_the_snapshot_does_not_have(store: AgentDatabase, folder: Path) -> None:
    """Somebody's unsaved work in that folder is not ours to delete."""
    (folder / "a").write_text("a")
    workspace = opened(store, folder)
    workspace.snapshot(0)
    (folder / "mine").mkdir()
    (folder / "mine/notes").write_text("n")
    done = workspace.restore(0)
    assert done.left == ("mine", "mine/notes") and (folder / "mine/notes").exists()
    (folder / "a").unlink()
    (folder / "a").mkdir()
    with pytest.raises(BadInput, match="is a folder here"):
        workspace.restore(0)
    done = workspace.restore(0, clean=True)
    assert tree(folder) == {"a": (0o644, b"a")} and done.removed == ("a", "mine", "mine/notes")


def test_damage_is_found_before_or_while_it_is_written(store: AgentDatabase, folder: Path) -> None:
    """A file with other bytes than it had is worse than none."""
    (folder / "a").write_text("a")
    workspace = opened(store, folder)
    workspace.snapshot(0)
    (folder / "a").write_text("now")
    store.run(lambda tx: tx.update(CHUNK, data=b"other"))
    with pytest.raises(NoDatabase, match="damaged"):
        workspace.restore(0)
    store.run(lambda tx: tx.delete(CHUNK))
    with pytest.raises(NoDatabase, match="missing"):
        workspace.restore(0)
    assert tree(folder) == {"a": (0o644, b"now")}


def test_what_was_kept_before_is_not_changed_later(store: AgentDatabase, folder: Path) -> None:
    """The past of an agent is evidence."""
    (folder / "a").write_text("a")
    workspace = opened(store, folder)
    with pytest.raises(NotFound, match="no snapshot"):
        workspace.restore(3)
    with pytest.raises(BadInput, match="no cycle 99"):
        workspace.snapshot(99)
    workspace.snapshot(2)
    with pytest.raises(BadInput, match="stays as it is"):
        workspace.snapshot(1)
    (folder / "a").write_text("b")
    workspace.snapshot(2)  # the same cycle goes on
    assert workspace.read(2, "a") == b"b"
    with pytest.raises(BadInput, match="main has no folder"):
        opened(store, None).snapshot(2)


def _snapshots(url: str, folder: str) -> None:
    store = database.open_url(url, "project-one")
    workspace = opened(store, Path(folder), cycles=1000)
    for cycle in range(1, 1000):
        Path(folder, "n").write_text(str(cycle) * 50_000)
        Path(folder, "same").write_text(str(cycle) * 50_000)
        workspace.snapshot(cycle)


def _killed(store: AgentDatabase, url: str, folder: Path, after: float) -> None:
    workspace = opened(store, folder, cycles=1000)
    for name in ("n", "same"):
        (folder / name).write_text("0" * 50_000)
    workspace.snapshot(0)
    worker = multiprocessing.get_context("fork").Process(target=_snapshots, args=(url, str(folder)))
    worker.start()
    while worker.is_alive() and not workspace.snapshots()[-1].cycle:  # it has begun
        time.sleep(0.01)
    worker.join(after)
    os.kill(worker.pid or 0, 9)
    worker.join()
    last = workspace.snapshots()[-1].cycle
    for cycle in range(last + 1):
        assert workspace.read(cycle, "n") == workspace.read(cycle, "same") == (str(cycle) * 50_000).encode()
    workspace.restore(last, clean=True)
    assert (folder / "n").read_bytes() == (str(last) * 50_000).encode()


def test_a_kill_during_a_snapshot_leaves_the_last_one_whole(store: AgentDatabase, store_url: str, folder: Path) -> None:
    """Power fails when it likes."""
    _killed(store, store_url, folder, 0.1)


@pytest.mark.torture
@pytest.mark.parametrize("after", [n / 200 for n in range(50)])
def test_kills_at_many_moments(store: AgentDatabase, store_url: str, folder: Path, after: float) -> None:
    """Each moment is another half-done step."""
    _killed(store, store_url, folder, after)


def test_what_a_killed_snapshot_left_is_swept_away(store: AgentDatabase, folder: Path) -> None:
    """Pieces that nobody names would fill the disk, and those of a snapshot under way must stay."""
    (folder / "a").write_text("a")
    workspace = opened(store, folder)
    workspace.snapshot(0)
    sink = workspace_files._ChunkSink(store, (), lambda _: True)
    sink.take(b"alone")
    sink.flush()
    assert store.run(workspace_files.sweep) == 0 and count(store, CHUNK) == 2
    store.run(lambda tx: tx.update(CHUNK, used=tx.now - 2 * workspace_files.GRACE))
    assert store.run(workspace_files.sweep) == 1 and workspace.read(0, "a") == b"a"


def test_a_cycle_that_names_a_workspace_keeps_its_files_with_its_result(project: Project, tmp_path: Path) -> None:
    """Nobody has to remember to take a snapshot; a file with a secret stays out of a database that a team shares."""
    folder = tmp_path / "files"
    folder.mkdir()
    agent = project.agents.get("writer")
    workspace = agent.workspace(folder=folder)
    for n in range(2):
        with agent.cycle() as cycle:
            cycle.propose(tool="write", workspace="main")
            (folder / "draft").write_text(f"version {n}")
            (folder / ".env").write_text("TOKEN=ghp_" + "Zk3" * 12)
            cycle.result(output="ok")
    assert workspace.read(0, "draft") == b"version 0" and workspace.read(1, "draft") == b"version 1"
    assert [one.skipped for one in workspace.snapshots()] == [((".env", "holds a secret"),)] * 2
    project.agents.find("writer").workspace().restore(0, into=str(tmp_path / "old"))
    assert (tmp_path / "old/draft").read_text() == "version 0"
    workspace.restore(0, clean=True)
    assert (folder / ".env").exists()


def test_a_process_that_lost_the_agent_keeps_no_files(store: AgentDatabase, folder: Path) -> None:
    """It would overwrite what another one did since."""
    workspace = opened(store, folder)
    begun = partial(
        agent_cycles.begin, proposal=ActionProposal(tool="x"), holder="elsewhere:1:2", action="x", run_id="r"
    )
    cycle = store.run(partial(begun, agent=workspace._agent))
    store.run(
        partial(
            agent_cycles.finish,
            agent=workspace._agent,
            cycle=cycle,
            result=ActionResult(output=1),
            holder="elsewhere:1:2",
        )
    )
    with pytest.raises(agent_cycles.Claimed):
        workspace.snapshot(0)
