"""Laws 1 and 2 on a real process: the kernel's own answers changed by strace, one call at a time.

`Faulty` proves what our code does with an answer; this proves that nothing goes past it. The process is any
program that prints a hash for each event it was promised, so that other protocols can be tried likewise.
"""

import os
import random
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.conftest import Quick

from .disk import plugged
from .ledger import check_kept, check_usable, layout_at

SOURCE = Path(__file__).parents[2] / "src"
SAMPLE = 16  # calls of more than forty; `make torture` tries all
REFUSED = 17
MUTE = 3  # the report itself was hit, after the promise
CALLS = ("write", "fsync", "fdatasync", "mkdir", "rename", "unlink", "ftruncate")
FAULTS = ("error=EIO", "error=ENOSPC", "signal=SIGKILL")

PROGRAM = f"""\
import os, sys
sys.path[:0] = [{str(SOURCE)!r}, {str(Path(__file__).parents[1])!r}]
from holdfast.errors import HoldfastError
from faults.ledger import Ledger, layout_at
def say(name):
    try:
        os.write(1, name.encode() + b"\\n")
    except OSError:
        os._exit({MUTE})
ledger = Ledger(layout_at(sys.argv[1]), promise=say)
try:
    ledger.append(1, "a body")
    ledger.append(1)
    if len(sys.argv) > 2:
        ledger.seal()
        ledger.append(1)
except HoldfastError as error:
    sys.stderr.write(str(error))
    sys.exit({REFUSED})
"""

needs_strace = pytest.mark.skipif(
    shutil.which("strace") is None, reason="strace is not installed; test_append_faults.py covers the same calls"
)


def program(root: Path, more: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-B", "-S", "-c", PROGRAM, str(root), *more]


def traced(root: Path, *options: str, more: tuple[str, ...] = ()) -> subprocess.CompletedProcess[bytes]:
    """Run the program under strace."""
    root.mkdir(parents=True)
    command = ["strace", "-f", "-qq", "-o", f"{root}.trace", *options, *program(root, more)]
    return subprocess.run(command, capture_output=True, check=False, timeout=120)


def calls(root: Path, more: tuple[str, ...]) -> list[tuple[str, int]]:
    """Every call to be tried, as its name and its number among those of that name."""
    done = traced(root, f"--trace={','.join(CALLS)}", more=more)
    if b"ptrace" in done.stderr and done.returncode != 0:
        pytest.skip("strace may not trace processes here; test_append_faults.py covers the same calls")
    assert done.returncode == 0, done.stderr
    found: list[tuple[str, int]] = []
    for name in re.findall(r"^(?:\d+ +)?(\w+)\(", Path(f"{root}.trace").read_text(), re.MULTILINE):
        found.append((name, 1 + sum(1 for other, _ in found if other == name)))
    return found


def check(root: Path, done: subprocess.CompletedProcess[bytes], what: str) -> None:
    """What was promised is there, the end was the expected one, and the store goes on working."""
    if "SIGKILL" in what:
        assert done.returncode in (-9, 137), f"{what}: {done.returncode} {done.stderr!r}"
    elif done.returncode not in (0, MUTE):
        assert done.returncode == REFUSED and b"not stored" in done.stderr, f"{what}: {done.stderr!r}"
    promised = {name for name in done.stdout.decode().split() if len(name) == 64}
    layout = layout_at(str(root))
    with plugged(Quick()):
        if os.path.isdir(layout.private):
            check_kept(layout, promised)
        check_usable(layout, promised)


def strike_all(tmp_path: Path, *, dice: random.Random | None = None, more: tuple[str, ...] = ()) -> int:
    """Change one answer in each run: of every call to every fault, or of some to one that is thrown; gives the runs."""
    found = calls(tmp_path / "all", more)
    some = found if dice is None else dice.sample(found, SAMPLE)
    chosen = [
        (call, number, fault) for call, number in some for fault in (FAULTS if dice is None else [dice.choice(FAULTS)])
    ]

    def strike(place: int) -> tuple[Path, subprocess.CompletedProcess[bytes], str]:
        call, number, fault = chosen[place]
        inject = f"{call}:{fault}:when={number}"
        return (
            tmp_path / f"{place}",
            traced(tmp_path / f"{place}", f"--trace={call}", f"--inject={inject}", more=more),
            inject,
        )

    with ThreadPoolExecutor(2) as pool:
        for root, done, what in pool.map(strike, range(len(chosen))):
            check(root, done, what)
            shutil.rmtree(root)
    return len(chosen)


@needs_strace
def test_no_answer_of_the_kernel_costs_an_acknowledged_event(tmp_path: Path, seed: int) -> None:
    """A tool that checks only the errors it expects loses data on the others."""
    assert strike_all(tmp_path, dice=random.Random(seed)) == SAMPLE


@needs_strace
@pytest.mark.torture
def test_no_fault_at_any_call_costs_an_acknowledged_event(tmp_path: Path) -> None:
    """The same with every fault at each call."""
    assert strike_all(tmp_path) > 120


@needs_strace
@pytest.mark.torture
def test_no_answer_of_the_kernel_costs_an_acknowledged_event_while_sealing(tmp_path: Path) -> None:
    """The same with every fault, and with a seal in between."""
    assert strike_all(tmp_path, more=("seal",)) > 150
