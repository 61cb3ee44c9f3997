"""Laws 1 and 2: what was acknowledged stays, what was refused is said to be so; nothing in between."""

import os
import random
import resource
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import CorruptLog, HoldfastError, NotStored
from holdfast.store.layout import Layout
from tests.conftest import Quick

from .disk import (
    ERRORS,
    KILLED,
    KILLS,
    LASTING,
    LEAVE,
    Fault,
    Faulty,
    Left,
    Recording,
    State,
    crash_states,
    plugged,
    record,
)
from .ledger import Ledger, check_kept, check_usable, layout_at, run, survivors

NEVER = Fault("never")
EIO = ERRORS[0]
Say = Callable[[str], object]


def call_names(scratch: Path) -> list[str]:
    """The calls that change the disk in a whole run."""
    ops = Faulty(-1, NEVER, Quick())
    place = scratch / "undisturbed"
    with plugged(ops):
        run(Ledger(layout_at(str(place))))
    shutil.rmtree(place)
    return ops.names


@pytest.mark.parametrize("fault", [EIO, ERRORS[3], *LASTING[:1]], ids=str)
def test_a_failing_disk_refuses_in_words_and_loses_nothing(scratch: Path, fault: Fault) -> None:
    """A tool that says "stored" on a full disk is worse than none."""
    fail(scratch, fault, range(len(call_names(scratch))))


@pytest.mark.parametrize("share", [4, pytest.param(1, marks=pytest.mark.torture)])
@pytest.mark.parametrize("fault", [*ERRORS[1:3], *LASTING[1:]], ids=str)
def test_whatever_error_the_disk_gives_it_refuses_in_words(scratch: Path, fault: Fault, share: int, seed: int) -> None:
    """A full disk and one that turned read-only are taken for what they are; each run tries every fourth call."""
    fail(scratch, fault, range(seed % share, len(call_names(scratch)), share))


def fail(scratch: Path, fault: Fault, places: range) -> None:
    for at in places:
        layout = layout_at(str(scratch / f"{at}"))
        ledger = Ledger(layout)
        ops = Faulty(at, fault, Quick())
        with plugged(ops):
            run(ledger)
        assert ops.struck, "every call is reached"
        with plugged(Quick()):
            found = check_kept(layout, set(ledger.promised))
            if not fault.lasting:  # a disk that is dead for good may keep a line it could not take back
                assert set(found) == set(ledger.promised), f"call {at} ({ops.struck}): a refused event is there"
            check_usable(layout, set(ledger.promised))
        shutil.rmtree(scratch / f"{at}")


@pytest.mark.parametrize("fault", KILLS, ids=str)
def test_a_process_killed_at_any_call_loses_nothing(scratch: Path, fault: Fault, seed: int) -> None:
    """An agent is stopped with kill -9 more often than it ends well. Each run tries every third call."""
    for at in range(seed % 3, len(call_names(scratch)), 3):
        layout = layout_at(str(scratch / f"{at}"))
        code, promised = in_child(lambda say, at=at, layout=layout: killed_run(say, layout, at, fault))
        assert code == KILLED
        with plugged(Quick()):
            check_kept(layout, promised)
            check_usable(layout, promised)
        shutil.rmtree(scratch / f"{at}")


def killed_run(say: Say, layout: Layout, at: int, fault: Fault) -> None:
    with plugged(Faulty(at, fault, Quick())):
        run(Ledger(layout, promise=say))


def in_child(act: Callable[[Say], None]) -> tuple[int, set[str]]:
    """Run `act` in a process of its own; gives how it ended and what it reported before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            act(lambda name: os.write(writing, name.encode() + b"\n"))
            os._exit(0)
        finally:
            os._exit(99)
    os.close(writing)
    with os.fdopen(reading, "rb") as reports:
        names = reports.read().decode().split()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), set(names)


def recorded(root: Path, at: int, fault: Fault) -> Recording:
    """A run as the disk saw it: one call fails, or a first process ends there and a second one goes on."""
    root.mkdir()
    layout = layout_at(str(root))

    def protocol(promise: Callable[[str], None]) -> None:
        first = Ledger(layout, promise=promise)
        try:
            run(first)
        except Left:
            first.close()
            run(Ledger(layout, promise=promise))

    recording = record(str(root), protocol, Faulty(at, fault, Quick()))
    shutil.rmtree(root)
    return recording


def crash(scratch: Path, *, limit: int, seed: int, at: int = -1, fault: Fault = NEVER, everywhere: bool = True) -> int:
    """Try the states a power cut may leave during a run; gives their number.

    Not `everywhere`: only just after each promise, when the least beyond it has been synced.
    """
    root, number = scratch / "store", 0
    recording = recorded(root, at, fault)
    points = None if everywhere else {done for done, _ in recording.promised}
    for state in crash_states(recording, limit=limit, choose=random.Random(seed), points=points):
        layout = layout_at(str(root))
        state.tree.write(str(root))
        promised = recording.promised_by(state.at)
        try:
            with plugged(Quick()):
                check_kept(layout, promised)
                check_usable(layout, promised)
        except (AssertionError, HoldfastError, OSError) as error:
            last = recording.ops[state.at - 1] if state.at else None
            where = f"{fault} at {at}; cut after call {state.at} ({last}), {state.how}"
            raise AssertionError(f"{where}: {error!r}") from error
        shutil.rmtree(root)
        number += 1
    return number


def test_no_power_cut_loses_an_acknowledged_event(scratch: Path, seed: int) -> None:
    """After a power cut the last thing the user was told must still be true."""
    assert crash(scratch, limit=1000, seed=seed) > 250  # all the states there are


def syncs(scratch: Path) -> list[int]:
    """The calls of a run that sync something."""
    names = call_names(scratch)
    return [number for number, name in enumerate(names) if name.startswith("sync")]


def test_a_failed_sync_and_then_a_power_cut_lose_nothing(scratch: Path, seed: int) -> None:
    """What is written after a failed sync is promised too."""
    for at in syncs(scratch):
        crash(scratch, limit=2, seed=seed + at, at=at, fault=EIO, everywhere=False)


def test_a_kill_before_a_sync_and_then_a_power_cut_lose_nothing(scratch: Path, seed: int) -> None:
    """The next process builds on what the killed one had not synced."""
    for at in syncs(scratch):
        crash(scratch, limit=1, seed=seed + at, at=at, fault=LEAVE, everywhere=False)


@pytest.mark.torture
@pytest.mark.parametrize("fault", [EIO, ERRORS[3], LEAVE], ids=str)  # other errors leave the same on disk
def test_any_failed_call_and_then_a_power_cut_lose_nothing(scratch: Path, seed: int, fault: Fault) -> None:
    """The same for every call, with the power cut at every place."""
    number = sum(crash(scratch, limit=30, seed=seed, at=at, fault=fault) for at in range(len(call_names(scratch))))
    print(f"{number} crash states")
    assert number > 5_000


def test_a_file_size_limit_cuts_a_write_short_and_is_refused(scratch: Path) -> None:
    """The kernel itself takes half of a line and says nothing, as on a full disk."""
    layout = layout_at(str(scratch / "store"))
    before = Ledger(layout)
    run(before)
    ledger = Ledger(layout)
    ledger.append(5)
    size = max(os.stat(path).st_size for path in files_in(layout.spool))
    for extra in (1, 7, 80, 200, 399):
        code, promised = in_child(lambda say, extra=extra: limited(say, layout, size + extra))
        assert (code, promised) == (0, set())
    with plugged(Quick()):
        check_usable(layout, set(before.promised) | set(ledger.promised))


def limited(say: Say, layout: Layout, size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    ledger = Ledger(layout, promise=say)
    ledger.let_age()
    try:
        ledger.append(6)
    except NotStored:
        os._exit(0)
    os._exit(3)


def files_in(folder: str) -> list[str]:
    return [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]


def test_the_harness_finds_a_writer_that_does_not_sync(scratch: Path, seed: int) -> None:
    """A test that cannot fail shows nothing: without syncs, crash states must lose events."""
    root = scratch / "careless"
    root.mkdir()
    layout = layout_at(str(root))

    recording = record(str(root), lambda promise: run(Ledger(layout, promise=promise)), Quick())
    assert not losses(recording, scratch, seed)
    for forgotten in ("sync", "sync_dir"):
        careless = replace(recording, ops=[op for op in recording.ops if op.call != forgotten])
        careless = replace(careless, promised=[(len(careless.ops), name) for _, name in recording.promised])
        assert losses(careless, scratch, seed)


def losses(recording: Recording, scratch: Path, seed: int) -> int:
    """How many crash states lack something that was promised."""
    states = crash_states(recording, limit=2, choose=random.Random(seed))
    return sum(loses(recording, state, scratch / "state") for state in states)


def loses(recording: Recording, state: State, place: Path) -> bool:
    shutil.rmtree(place, ignore_errors=True)
    state.tree.write(str(place))
    try:
        return not recording.promised_by(state.at) <= set(survivors(layout_at(str(place))))
    except CorruptLog:
        return True
