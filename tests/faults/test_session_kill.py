"""Sessions under kill -9, power cuts and failing disks: the file is whole, and holds every acknowledged turn.

A writer is forked from a warmed process, notes (and sometimes ends) until it is killed at a random instant,
and reports each turn over a pipe once `note` has returned. Then another goes on in the same session.
"""

import json
import os
import random
import select
import signal
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.capture import session_work as work
from holdfast.capture.condense import CondenseSettings
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.project_setup import initialise
from holdfast.model.session import Session, SessionAnchor, add_items
from holdfast.store import session_files
from holdfast.store.layout import Layout
from holdfast.values import replace
from tests.conftest import Quick, make_repo

from .disk import ERRORS, LASTING, Fault, Faulty, crash_states, plugged, record
from .small_process import in_small_process

HOW = CondenseSettings(after=12, budget=400)
REPORT = 16  # bytes: a letter and a number


def write_until_killed(clone: Clone, out: int, number: int) -> None:
    """Note one turn after another, each with something that is open; now and then end and begin anew."""
    count = 0
    while True:
        count += 1
        name = f"{number:06d}.{count:06d}"
        # With files given no git runs in between: most kills fall into the writing.
        work.note(clone, f"turn {name}", open=[f"open {name}"], files=[name], condense_by=HOW)
        os.write(out, f"t {name} "[:REPORT].ljust(REPORT).encode())
        if count % 3 == 0:
            work.end(clone, summary=name, with_tasks=False)
            os.write(out, f"e {name} "[:REPORT].ljust(REPORT).encode())


def killed(clone: Clone, number: int, choose: random.Random) -> list[str]:
    """What one writer had acknowledged when it was killed."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(reading)
            write_until_killed(clone, writing, number)
        except BaseException:  # noqa: BLE001 - a child of a test must not run the rest of it
            traceback.print_exc()
        os._exit(1)
    os.close(writing)
    heard = listen(reading, choose.randrange(0, 6))
    time.sleep(choose.random() * 0.02)
    os.kill(pid, signal.SIGKILL)
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1]), "the writer ended by itself"
    while data := os.read(reading, 1 << 16):
        heard += data
    os.close(reading)
    return [heard[at : at + REPORT].decode().strip() for at in range(0, len(heard) - REPORT + 1, REPORT)]


def listen(fd: int, reports: int) -> bytes:
    """Read until so many reports have come."""
    heard = b""
    while len(heard) < reports * REPORT:
        assert select.select([fd], [], [], 60)[0], "a writer is stuck"
        heard += os.read(fd, REPORT)
    return heard


def check(clone: Clone, acknowledged: set[str]) -> list[Session]:
    """Every file is whole; every acknowledged turn's open item is there; numbers run on."""
    assert list(session_files.damaged(clone.layout)) == []
    found = session_files.all(clone.layout)
    there = {item.text.removeprefix("open ") for session in found for item in session.still_open}
    lost = {name[2:] for name in acknowledged if name.startswith("t ")} - there
    assert not lost, f"{len(lost)} acknowledged turns are gone"
    ended = {session.summary for session in found if session.state == "ended"}
    lost = {name[2:] for name in acknowledged if name.startswith("e ")} - ended
    assert not lost, f"{len(lost)} acknowledged ends are gone"
    return found


def fight(place: Path, seed: int, *, kills: int) -> None:
    choose = random.Random(seed)
    repo, cache = make_repo(place / "repo"), str(place / "cache")
    initialise(str(repo.path), cache=cache, commit=True)
    clone = Clone.open(str(repo.path), cache=cache)
    work.note(clone, "warm")
    acknowledged: set[str] = set()
    for number in range(kills):
        acknowledged |= set(killed(clone, number, choose))
        assert list(session_files.damaged(clone.layout)) == []
    found = check(clone, acknowledged)
    assert len(acknowledged) > kills, "the writers hardly wrote"
    for session in found:
        assert session.count == len({item.id for item in session.open} | ({"w"} if session is found[0] else set()))
    left = [name for name in os.listdir(clone.layout.sessions) if name.endswith(".tmp")]
    print(f"{kills} kills, {len(acknowledged)} acknowledged, {len(found)} sessions, {len(left)} torn copies")
    noted = work.note(Clone.open(str(repo.path), cache=cache), "after all that")
    assert json.loads(Path(session_files.path_of(clone.layout, noted.session.id)).read_text())["version"] == 1


def test_thirty_kills_lose_no_acknowledged_turn(scratch: Path, seed: int) -> None:
    """An agent that is stopped in the middle of a note must not take the session with it."""
    in_small_process(fight, scratch, seed, kills=30)


@pytest.mark.torture
def test_two_thousand_kills_lose_no_acknowledged_turn(scratch: Path, seed: int) -> None:
    """The same, longer."""
    in_small_process(fight, scratch, seed, kills=2_000)


TS = "2026-11-16T00:00:00.000000Z"
AT = SessionAnchor(TS, None, "main")


def write(layout: Layout, promise: Callable[[str], None]) -> list[str]:
    """A session of three turns; gives what was refused. Only a refusal in words may come out of it."""
    refused = []
    begun = Session(id="SES-abc123", line="l1", worktree=".", started=AT, updated=AT)
    for name in ("begin", "one", "two", "three"):
        try:
            if name == "begin":
                session_files.save(layout, begun)
            else:
                session_files.update(layout, begun.id, lambda old, said=name: with_item(old, said))
            promise(name)
        except HoldfastError:
            refused.append(name)
    return refused


def with_item(old: Session, text: str) -> Session:
    return replace(old, open=add_items(old.open, [text], letter="o", ts=TS))


def layout_in(place: Path) -> Layout:
    return Layout(str(place), str(place / "private"))


def check_promised(layout: Layout, promised: set[str]) -> None:
    """What was acknowledged is there, nothing is torn, and the session can be gone on with."""
    assert list(session_files.damaged(layout)) == []
    found = session_files.all(layout)
    there = {item.text for session in found for item in session.open} | ({"begin"} if found else set())
    assert promised <= there
    if found:
        session_files.update(layout, found[0].id, lambda old: with_item(old, "after"))


@pytest.mark.parametrize("fault", [*ERRORS, *LASTING], ids=str)
def test_a_failing_disk_refuses_a_turn_in_words_and_tears_nothing(scratch: Path, fault: Fault) -> None:
    """An agent told that its turn is stored will not tell it again."""
    at, struck = 0, True
    while struck:
        layout = layout_in(scratch / str(at))
        ops, promised = Faulty(at, fault, Quick()), set[str]()
        with plugged(ops):
            refused = write(layout, promised.add)
        struck = ops.struck is not None
        assert bool(refused) == struck or ops.struck in ("unlink", "sync_dir")
        with plugged(Quick()):
            check_promised(layout, promised)
        at += 1
    assert at > 15, "every call is reached"


def test_a_power_cut_leaves_every_acknowledged_turn(scratch: Path, seed: int) -> None:
    """What was acknowledged must be on the disk, not in its cache."""
    root, number = scratch / "store", 0
    root.mkdir()
    recording = record(str(root), lambda promise: write(layout_in(root), promise) and None, Quick())
    assert [name for _, name in recording.promised] == ["begin", "one", "two", "three"]
    for state in crash_states(recording, limit=40, choose=random.Random(seed)):
        place = scratch / f"cut-{number}"
        state.tree.write(str(place))
        with plugged(Quick()):
            check_promised(layout_in(place), recording.promised_by(state.at))
        number += 1
    assert number > 50
