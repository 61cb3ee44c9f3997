"""Changes one thing at a time in the modules that keep the laws, and counts what the tests notice.

python -m tests.mutants                    a sample of all modules in laws.toml
python -m tests.mutants git.lines store    of these modules only; --all takes every change, not a sample
python -m tests.mutants git.lines:3f2a9c   this one change again, with its diff and what the tests say

A change that no test notices is a hole in the tests, code nobody needs, or no change at all. The last kind
stands in equivalent.toml with a reason. Each change is tried in a copy of the repository by a forked process:
only the tests that enter the changed function run, the quickest first, up to the first that fails.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.mutants.changes import Change, changes
from tests.mutants.trying import Tried, start

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ENOUGH = 90  # percent of the changes that are changes must be noticed
CACHE = os.path.expanduser("~/.cache/holdfast-mutants")
LEAST = 3  # of each module in a sample: below that a share says nothing


def laws() -> dict[str, list[str]]:
    """Each module that keeps a law, and the test files that belong to it."""
    table = tomllib.loads((HERE / "laws.toml").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    for law in table["law"]:
        for module in law["modules"]:
            found.setdefault(module, []).extend(law["tests"])
    return {
        module: sorted({str(path.relative_to(ROOT)) for test in tests for path in ROOT.glob(test)})
        for module, tests in found.items()
    }


def source(module: str) -> Path:
    return ROOT / "src" / "holdfast" / (module.replace(".", "/") + ".py")


def equivalents(every: Iterable[Change], text: str) -> dict[str, str]:
    """Why a change changes nothing, by its id; an entry that fits no change is out of date, and an error."""
    entries = tomllib.loads(text).get("equivalent", [])
    reasons = {(e["module"], e["function"], e["before"], e["after"]): e["reason"] for e in entries}
    found = {c.id: c for c in every if (c.module, c.function, c.before, c.after) in reasons}
    unused = set(reasons) - {(c.module, c.function, c.before, c.after) for c in found.values()}
    if unused:
        sys.exit("\n".join(f"equivalent.toml: no change fits {' | '.join(key)}" for key in sorted(unused)))
    return {name: reasons[c.module, c.function, c.before, c.after] for name, c in found.items()}


def sample(every: Sequence[Change], count: int, seed: int) -> list[Change]:
    """`count` changes, from each module in proportion to its size; a larger count has all of a smaller."""
    by_module: dict[str, list[Change]] = {}
    for change in every:
        by_module.setdefault(change.module, []).append(change)
    chosen = []
    for module, found in by_module.items():
        share = max(LEAST, round(count * len(found) / len(every)))
        random.Random(f"{seed} {module}").shuffle(found)
        chosen += found[:share]
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="modules, or ids of single changes")
    parser.add_argument("--count", type=int, default=320, help="how many changes (320)")
    parser.add_argument("--all", action="store_true", help="every change, no sample")
    parser.add_argument("--seed", type=int, default=1, help="which sample (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at a time")
    parser.add_argument("--cache", default=CACHE, help="where to keep what the tests enter")
    given = parser.parse_args()
    table = laws()
    every = [change for module in table for change in changes(module, source(module).read_bytes())]
    same = equivalents(every, (HERE / "equivalent.toml").read_text(encoding="utf-8"))
    wanted = [c for c in every if not given.names or any(fits(c, name) for name in given.names)]
    if not wanted:
        sys.exit(f"Nothing in laws.toml is called {' '.join(given.names)}")
    alone = len(wanted) == 1
    chosen = wanted if given.all or alone else sample(wanted, given.count, given.seed)
    print(f"seed {given.seed}: {len(chosen)} of {len(wanted):,} changes", flush=True)
    begun = time.monotonic()
    to_try = [change for change in chosen if alone or change.id not in same]
    tried = attempt(to_try, table, Path(given.cache), given.jobs, loud=alone)
    return report(chosen, tried, same, time.monotonic() - begun)


def attempt(
    tries: list[Change], table: dict[str, list[str]], cache: Path, jobs: int, *, loud: bool
) -> dict[str, Tried]:
    """What the tests say of each change; says on the way what it does."""
    cache.mkdir(parents=True, exist_ok=True)
    found: dict[str, Tried] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies = [Path(folder) / str(number) for number in range(min(jobs, len(tries)))]
        pids = [start(ROOT, copy, cache, tries[i :: len(copies)], table) for i, copy in enumerate(copies)]
        heard = [0] * len(copies)
        while pids or any(heard):
            pids = [pid for pid in pids if os.waitpid(pid, os.WNOHANG)[0] == 0]
            for i, copy in enumerate(copies):
                file = Path(f"{copy}.said")
                lines = file.read_text(encoding="utf-8").split("\n")[:-1] if file.exists() else []
                for what, name, *rest in map(json.loads, lines[heard[i] :]):
                    if what == "tried":
                        found[name] = Tried(*rest)
                    if what != "tried" or not rest[0]:
                        say(f"  [{len(found)}/{len(tries)}] {what} {name} {rest[-1]}")
                heard[i] = len(lines)
            if not pids:
                break
            time.sleep(0.2)
        if missing := [change.id for change in tries if change.id not in found]:
            logs = "\n".join(Path(f"{copy}.log").read_text(errors="replace")[-3000:] for copy in copies)
            sys.exit(f"{logs}\n{len(missing)} changes were not tried, {missing[0]} first")
        if loud:
            print(f"  - {tries[0].before}\n  + {tries[0].after}")
            print(Path(f"{copies[0]}.out").read_text(errors="replace"))
    return found


def say(words: str) -> None:
    """Progress goes to stderr, and names what was not killed."""
    print(words.replace(" tried ", " survived: "), file=sys.stderr, flush=True)


def fits(change: Change, name: str) -> bool:
    return name in (change.id, change.module) or change.module.startswith(f"{name}.")


def report(chosen: list[Change], tried: dict[str, Tried], same: dict[str, str], seconds: float) -> int:
    counts: dict[str, Counter[str]] = {}
    survivors = []
    for change in chosen:
        what = "equivalent"
        if change.id in tried:
            what = "killed" if tried[change.id].killed else "survived"
        counts.setdefault(change.module, Counter())[what] += 1
        if what == "survived":
            survivors.append(change)
    for change in survivors:
        path = source(change.module).relative_to(ROOT)
        print(f"\n{path}:{change.line} {change.function}  [{change.id}]  {tried[change.id].said}")
        print(f"  - {change.before}\n  + {change.after}")
    print(f"\n{'module':<28}{'killed':>8}{'survived':>10}{'equivalent':>12}")
    for module, count in counts.items():
        print(f"{module:<28}{count['killed']:>8}{count['survived']:>10}{count['equivalent']:>12}")
    total = sum(counts.values(), Counter())
    changed = total["killed"] + total["survived"]
    share = 100 * total["killed"] / changed if changed else 100.0
    print(f"{'all':<28}{total['killed']:>8}{total['survived']:>10}{total['equivalent']:>12}")
    print(f"{share:.1f} % killed of {changed} changes, in {seconds / 60:.0f} minutes")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    sys.exit(main())
