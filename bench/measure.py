"""How things are measured: interleaved, the least of several, CPU time where processes are compared.

Two shared cores are noisy; the least of many runs is what the work costs, and a ratio within one run
cancels most of what the machine does meanwhile.
"""

import os
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """One line of the table."""

    what: str
    measured: str
    floor: str
    ratio: float
    bar: str
    met: bool | None  # None: for information

    @property
    def verdict(self) -> str:
        return "-" if self.met is None else "met" if self.met else "MISSED"


def at_least(what: str, ours: float, floor: float, bar: float, unit: str) -> Result:
    """Rates: ours must reach this part of the floor's."""
    ratio = ours / floor
    bar_text = f">= {bar:.0%}" if bar < 2 else f">= {bar:g} x"
    return Result(what, f"{ours:,.0f} {unit}", f"{floor:,.0f} {unit}", ratio, bar_text, ratio >= bar)


def at_most(what: str, ours: float, floor: float, bar: float) -> Result:
    """Times: ours may take so many times the floor's."""
    ratio = ours / floor
    return Result(what, f"{ours * 1e3:.2f} ms", f"{floor * 1e3:.2f} ms", ratio, f"<= {bar:g} x", ratio <= bar)


def told(what: str, measured: str, floor: str = "", ratio: float = 0.0) -> Result:
    """For information."""
    return Result(what, measured, floor, ratio, "", None)


def least(cases: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The least time of each case, all taken in turn."""
    best: dict[str, float] = {}
    for _ in range(rounds):
        for name, case in cases.items():
            best[name] = min(best.get(name, float("inf")), case())
    return best


def middle(cases: Mapping[str, Callable[[], float]], *, floor: str, rounds: int) -> dict[str, tuple[float, float]]:
    """Each case's (value, floor) in the round whose ratio of the two is the median of all rounds.

    A disk's speed drifts by an order of magnitude within seconds, so only values of one round compare.
    """
    taken = [{name: case() for name, case in cases.items()} for _ in range(rounds)]
    found = {}
    for name in cases:
        ordered = sorted(taken, key=lambda values: values[name] / values[floor])
        chosen = ordered[len(ordered) // 2]
        found[name] = (chosen[name], chosen[floor])
    return found


def wall(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def cpu(action: Callable[[], object]) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start


def process(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> Callable[[], float]:
    """The CPU time of one process, from its start to its end."""

    def run() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        here = os.getcwd()
        os.chdir(cwd)
        quiet = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        pid = os.posix_spawn(argv[0], list(argv), dict(env), file_actions=quiet)
        os.chdir(here)
        _, status = os.waitpid(pid, 0)
        if status:
            raise SystemExit(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return run


def table(results: Sequence[Result]) -> str:
    """All results, each beside its floor."""
    head = ("what", "measured", "floor", "ratio", "bar", "")
    rows = [(r.what, r.measured, r.floor, f"{r.ratio:.2f}" if r.ratio else "", r.bar, r.verdict) for r in results]
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(line.rstrip() for line in lines)
