"""An import may be killed at any instant: what it was at is completed or begun again, never told twice."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture import finish_run
from holdfast.capture.agents import dialect
from holdfast.store import capsule, import_progress, session_files
from tests.git.place import Place
from tests.making import take_in

from .conftest import faults
from .rollouts import Rollout, a_place, rollout
from .test_run import Failing, in_a_process_that_dies

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

CODEX = dialect("codex")


@pytest.fixture
def place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    return a_place(tmp_path, tmp_path_factory.getbasetemp() / "project")


def written(place: Place, home: Path, turns: int = 2) -> Rollout:
    file = rollout(home, place.repo.path)
    for number in range(turns):
        file.asks(f"Please do the thing with number {number}.").runs(f"make thing-{number}")
        file.patches(f"src/{number}.py", [f"thing = {number}"]).plans(more="pending")
        file.done(f"The thing with number {number} is done.")
    return file


def once(place: Place, turns: int) -> None:
    """All that was said stands in the store, exactly once, and everything about it is whole."""
    clone = place.open()
    assert capsule.opened(clone.layout) == []
    told = [clone.joined(event) for event in clone.own_events() if event.kind == "run"]
    assert len({run["run_id"] for run in told}) == len(told)
    assert sum(run["outputs"]["turns"] for run in told) == turns
    assert [fault for run in told for fault in faults(clone.layout, run)] == []
    assert {path.name for path in Path(clone.layout.runs).iterdir()} == {run["run_id"] for run in told}
    (session,) = session_files.all(clone.layout)
    assert [turn.n for turn in session.turns] == list(range(1, turns + 1))
    (known,) = import_progress.every(clone.stores)
    assert {one.run for one in known.runs} == {run["run_id"] for run in told}
    assert clone.notes == []


def next_command(place: Place) -> None:
    """What every command does first."""
    clone = place.open()
    finish_run.complete_killed_runs(clone)
    for run in capsule.opened(clone.layout):  # died before it could lock: told by its age
        new = Path(clone.layout.under_way) / f"{run}.new"
        if new.exists():
            os.utime(new, (0, 0))
    finish_run.complete_killed_runs(clone)


@pytest.mark.parametrize("step", [13, pytest.param(1, marks=pytest.mark.torture)])
def test_killed_at_any_call_the_next_import_completes_it(place: Place, tmp_path: Path, step: int, seed: int) -> None:
    """Each write may be the last one; half a run, a run told twice, or a lost turn must not come of it."""
    file, fatal, clean = written(place, tmp_path / "home"), 1 + seed % step, tmp_path / "clean"
    place.open().line()
    store = Path(place.open().layout.private)
    shutil.copytree(store, clean)

    def take() -> None:
        take_in(place.open(), CODEX, str(file.path), ended=True)

    while not in_a_process_that_dies(fatal, take):
        next_command(place)
        assert capsule.opened(place.open().layout) == [], fatal
        take()
        once(place, 2)
        shutil.rmtree(store)
        shutil.copytree(clean, store)
        fatal += step
    assert fatal > 40
    once(place, 2)


def test_killed_before_its_run_was_locked_the_next_import_takes_it_at_once(place: Place, tmp_path: Path) -> None:
    """A minute long it was skipped as "File exists", with exit code 0; for ever, if the clock went back."""
    file, clean, unlocked = written(place, tmp_path / "home"), tmp_path / "clean", 0
    place.open().line()
    store, layout = Path(place.open().layout.private), place.open().layout
    shutil.copytree(store, clean)

    def take() -> None:
        take_in(place.open(), CODEX, str(file.path), ended=True)

    for fatal in range(1, 40):
        assert not in_a_process_that_dies(fatal, take)
        begun = list(Path(layout.under_way).glob("*.new"))
        if begun and not (begun[0] / capsule.OPEN).exists():
            unlocked += 1
            if unlocked == 1:  # made by a clock that was ten years ahead
                os.utime(begun[0], (time.time() + 3e8, time.time() + 3e8))
                finish_run.complete_killed_runs(place.open())
                assert capsule.opened(layout) == []
            take()
            once(place, 2)
        shutil.rmtree(store)
        shutil.copytree(clean, store)
        if unlocked == 3:
            break
    assert unlocked == 3


def test_killed_over_what_a_file_grew_by_the_rest_comes_once(place: Place, tmp_path: Path) -> None:
    """The second run of a session stands on the first: nothing of that one may come again."""
    file, fatal = written(place, tmp_path / "home"), 1
    take_in(place.open(), CODEX, str(file.path), ended=True)
    turns = 2
    for fatal in (2, 19, 27, 36, 44):
        file.asks(f"One thing more at {fatal}, please.").done(f"The thing at {fatal} is done as well.")
        turns += 1

        def take() -> None:
            take_in(place.open(), CODEX, str(file.path), ended=True)

        in_a_process_that_dies(fatal, take)
        next_command(place)
        take()
        once(place, turns)


def test_a_disk_that_refuses_at_any_call_is_told_and_harms_nothing(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 2: refused and said so; when the disk is well again, all of it is there."""
    from holdfast.errors import HoldfastError
    from holdfast.store import fsio

    file, told = written(place, tmp_path / "home"), 0
    place.open().line()
    for fatal in range(1, 60, 8):
        clone = place.open()
        with monkeypatch.context() as patch:
            patch.setattr(fsio, "ops", Failing(fatal))
            try:
                take_in(clone, CODEX, str(file.path), ended=True)
            except (HoldfastError, OSError):
                told += 1
    assert told
    next_command(place)
    take_in(place.open(), CODEX, str(file.path), ended=True)
    once(place, 2)


IMPORTER = """
import sys
from holdfast.git.clone import Clone
from holdfast.capture.agents import dialect
from holdfast.capture.ingest.intake import TranscriptIntake
print("up", flush=True)
intake = TranscriptIntake(Clone.open(sys.argv[1], cache=sys.argv[2]))
intake.take_in(dialect("codex"), sys.argv[3], ended=True)
intake.close()
print("done", flush=True)
"""


def start(place: Place, file: Rollout) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", IMPORTER, str(place.repo.path), place.cache, str(file.path)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"up\n"
    return process


def wait_for(found: Any) -> None:
    deadline = time.monotonic() + 30
    while not found() and time.monotonic() < deadline:
        time.sleep(0.002)


@pytest.mark.parametrize("moment", [pytest.param("cycles", marks=pytest.mark.torture), "manifest", "any"])
def test_kill_9_of_an_import_under_way(place: Place, tmp_path: Path, moment: str, seed: int) -> None:
    """A laptop that runs out of power in the middle of an import has its history afterwards, once."""
    file = written(place, tmp_path / "home", turns=20)
    folder = Path(place.open().layout.runs)
    name = {"cycles": "cycles.jsonl", "manifest": "MANIFEST"}.get(moment)
    process = start(place, file)
    if name is None:
        time.sleep(seed % 97 / 400)
    else:
        wait_for(lambda: any(folder.glob(f"*/{name}")))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stdout is not None
    process.stdout.close()
    next_command(place)
    take_in(place.open(), CODEX, str(file.path), ended=True)
    once(place, 20)


def test_two_imports_at_once_take_a_session_once(place: Place, tmp_path: Path) -> None:
    """A cron job and a person may import at the same moment."""
    file = written(place, tmp_path / "home", turns=10)
    processes = [start(place, file) for _ in range(2)]
    for process in processes:
        assert process.stdout is not None and process.stdout.read() == b"done\n"
        process.wait()
        process.stdout.close()
    once(place, 10)


def test_what_was_cut_short_is_kept_if_its_transcript_is_gone(place: Place, tmp_path: Path) -> None:
    """Tools delete old transcripts; what we had of one is then all there is."""
    file = written(place, tmp_path / "home", turns=3)
    seen = 0
    for fatal in range(8, 40):
        if in_a_process_that_dies(fatal, lambda: take_in(place.open(), CODEX, str(file.path), ended=True)):
            break
        cycles = list(Path(place.open().layout.runs).glob("*/cycles.jsonl"))
        if cycles and cycles[0].stat().st_size:
            seen += 1
            break
        next_command(place)
    assert seen
    file.path.unlink()
    (done,) = finish_run.complete_killed_runs(place.open())
    assert done.exit_status is None
    clone = place.open()
    (run,) = [clone.joined(event) for event in clone.own_events() if event.kind == "run"]
    assert faults(clone.layout, run) == []
