"""The speed table: each number beside its floor, measured in the same run.

python bench/bench.py                 everything but what takes long, about three minutes
python bench/bench.py events recall   only these
python bench/bench.py million         a million records: ten minutes and 3 GB of disk
python bench/bench.py --list          what there is
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from bench import (
    agent_capacity,
    agent_recall,
    agent_sessions,
    agents,
    asking,
    cold,
    commands,
    conflicts,
    context,
    corpus_index,
    crew,
    footprint,
    hook,
    in_time,
    index,
    mcp,
    million,
    redact,
    review,
    tasks,
    transcripts,
    vectors,
    web,
    writing,
)
from bench.corpus import Corpus, make
from bench.measure import Result, table

GITCONFIG = (
    "[user]\n\tname = Bench\n\temail = bench@example.org\n[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n"
    "[maintenance]\n\tauto = false\n"
)


class Bench:
    """Where the measuring happens: a folder of its own, and projects made when they are first needed."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.cache = os.path.join(folder, "home", ".cache", "holdfast")
        self._made: dict[int, Corpus] = {}

    def corpus(self, runs: int) -> Corpus:
        if runs not in self._made:
            self._made[runs] = make(os.path.join(self.folder, f"runs-{runs}"), self.cache, runs)
        return self._made[runs]


PARTS: dict[str, Callable[[Bench], Iterator[Result]]] = {
    "events": lambda b: writing.events(b.folder, b.cache),
    "writers": lambda b: writing.writers(b.folder, b.cache),
    "verify": lambda b: index.verify(b.corpus(10_000)),
    "rebuild": lambda b: index.rebuild(b.corpus(10_000), b.folder),
    "corpus": lambda b: corpus_index.corpus(b.folder, b.cache),
    "recall": lambda b: cold.recall(b.corpus(1_000), b.corpus(100_000)),
    "commands": lambda b: commands.commands(b.folder, b.cache),
    "status": lambda b: cold.status(b.corpus(1_000), b.corpus(10_000)),
    "hook": lambda b: hook.recording(b.folder),
    "agents": lambda b: agents.hooks(b.folder, b.cache),
    "in-time": lambda b: in_time.in_time(b.folder),
    "sessions": lambda b: agent_sessions.sessions(b.folder),
    "agents-recall": lambda b: agent_recall.recall(b.folder),
    "agents-cycles": lambda b: agent_capacity.cycles(b.folder),
    "agents-queue": lambda b: agent_capacity.queue(b.folder),
    "agents-move": lambda b: agent_capacity.moving(b.folder),
    "crew": lambda b: crew.crew(b.folder),
    "mcp": lambda b: mcp.starting(b.folder),
    "graph": lambda b: tasks.graph(),  # noqa: ARG005 - its tasks need no folder
    "moved": lambda b: tasks.moved(),  # noqa: ARG005
    "changed": lambda b: tasks.changed(b.folder, b.cache),
    "conflicts": lambda b: conflicts.conflicts(),  # noqa: ARG005 - its pairs lie with the tests
    "redact": lambda b: redact.redact(b.folder),
    "import": lambda b: transcripts.importing(b.folder, b.cache),
    "review": lambda b: review.review(b.folder, b.cache),
    "web": lambda b: web.web(b.folder, b.cache),
    "context": lambda b: context.context(b.folder, b.cache),
    "work": lambda b: context.work(b.folder, b.cache),
    "vectors": lambda b: vectors.vectors(b.folder),
    "warm": lambda b: index.warm(b.corpus(10_000), b.folder),
    "hybrid": lambda b: asking.hybrid(b.folder),
    "million": lambda b: million.million(b.folder),
    "footprint": lambda b: footprint.footprint(b.corpus(1_000), b.corpus(10_000), b.folder),
    "growth": lambda b: index.growth([b.corpus(runs) for runs in (1_000, 10_000, 100_000)], b.folder),
}

LONG = ("million", "agents-queue", "sessions", "crew", "in-time", "web")  # only when they are asked for


def prepare(folder: str) -> None:
    """A home of our own; and bytecode may be written, or every start costs twice as much."""
    home = os.path.join(folder, "home")
    os.makedirs(home)
    with open(os.path.join(home, ".gitconfig"), "w", encoding="utf-8") as file:
        file.write(GITCONFIG)
    for name in [n for n in os.environ if n.startswith(("GIT_", "HOLDFAST_", "PYTHON"))]:
        del os.environ[name]
    os.environ.update(
        HOME=home, XDG_CACHE_HOME=os.path.join(home, ".cache"), GIT_CONFIG_GLOBAL=os.path.join(home, ".gitconfig")
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="The speed table, each number beside its floor.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"any of {', '.join(PARTS)}")
    parser.add_argument("--list", action="store_true", help="list the parts")
    parser.add_argument("--dir", help="measure on this disk; a temporary folder is made in it")
    asked = parser.parse_args()
    if asked.list:
        print("\n".join(PARTS))
        return 0
    if unknown := set(asked.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    named = [part for part in PARTS if any(part == one or part.startswith(f"{one}-") for one in asked.parts)]
    folder = tempfile.mkdtemp(prefix="holdfast-bench-", dir=asked.dir)
    try:
        prepare(folder)
        results = _run(Bench(folder), named or [name for name in PARTS if name not in LONG])
    finally:
        shutil.rmtree(folder)
    print(table(results))
    missed = [result.what for result in results if result.met is False]
    print(f"\n{'All bars met.' if not missed else 'Missed: ' + '; '.join(missed)}")
    return 0  # a report, not a test: the machines are noisy


def _run(bench: Bench, parts: list[str]) -> list[Result]:
    results = []
    for name in parts:
        start = time.monotonic()
        results += list(PARTS[name](bench))
        print(f"{name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return results


if __name__ == "__main__":
    sys.exit(main())
