"""Cold starts: what one command costs from nothing, against a Python that does nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator

from bench.corpus import Corpus
from bench.measure import Result, at_most, least, process

PYTHON = sys.executable
SCRIPT = os.path.join(os.path.dirname(PYTHON), "holdfast")
FLOOR = [PYTHON, "-I", "-S", "-c", "pass"]
QUERY = ["recall", "postgres", "schema"]
ROUNDS = 15


def _prepare(corpus: Corpus, command: list[str]) -> None:
    """The state people are in: bytecode written, index built, answer kept."""
    for argv in ([SCRIPT, *command], [PYTHON, "-m", "holdfast", *command]):
        for _ in range(2):
            subprocess.run(argv, cwd=corpus.top, check=True, capture_output=True)


def _measured(command: list[str], corpora: list[Corpus]) -> dict[str, float]:
    cases = {"floor": process(FLOOR, corpora[0].top, os.environ)}
    for corpus in corpora:
        _prepare(corpus, command)
        cases[f"script {corpus.runs}"] = process([SCRIPT, *command], corpus.top, os.environ)
        cases[f"module {corpus.runs}"] = process([PYTHON, "-m", "holdfast", *command], corpus.top, os.environ)
    return least(cases, ROUNDS)


def recall(small: Corpus, large: Corpus) -> Iterator[Result]:
    """Cold `recall`, and how it grows over two orders of magnitude."""
    best = _measured(QUERY, [small, large])
    yield from _against_floor("recall", best, {small.runs: 5, large.runs: 10})
    yield at_most("growth: cold recall 1k -> 100k", best["script 100000"], best["script 1000"], 4)


def status(small: Corpus, large: Corpus) -> Iterator[Result]:
    """Cold `status`."""
    best = _measured(["status"], [small, large])
    yield from _against_floor("status", best, {small.runs: 5, large.runs: 8})
    yield at_most("growth: cold status 1k -> 10k", best["script 10000"], best["script 1000"], 2)


def _against_floor(name: str, best: dict[str, float], bars: dict[int, float]) -> Iterator[Result]:
    for runs, bar in bars.items():
        for way, shown in (("script", "holdfast"), ("module", "python -m")):
            what = f"cold {name}, {runs // 1000}k: {shown}"
            yield at_most(what, best[f"{way} {runs}"], best["floor"], bar)
