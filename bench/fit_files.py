"""Fit the weights that say which files a task is about, `index/corpus/likely_files.txt`, to histories of repositories.

    pip install numpy && python -m bench.fit_files REPO...            # prints how well they do
    pip install numpy && python -m bench.fit_files REPO... --write    # writes them as well

Of each repository a project is made as `bench.packs` does. Every later commit is a task known by its subject, every
file that a memory cites is a candidate, and those that the commit changes are right. One logistic regression, each
repository counting the same. What it prints for a repository is measured with weights that have not seen it.
"""

import argparse
import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from bench import packs
from holdfast.index.corpus import likely_files
from holdfast.index.corpus import update as repository
from holdfast.recall.applicable_memories import LIKELY, spellings

TARGET = os.path.join(os.path.dirname(likely_files.__file__), "likely_files.txt")
NAMES = [name for name in likely_files.WEIGHTS if name != "bias"]
TASKS = 400  # of a repository
RIDGE, STEPS = 1e-5, 60
Pairs = tuple[Any, Any]  # features of each candidate of each task with a one at the end, and whether it was changed


def pairs(source: str, folder: str, seed: int) -> Pairs:
    """Every task of a repository with every file that a memory cites."""
    project = packs.prepared(os.path.abspath(source), folder, seed)
    top, cited = project.clone.repo.top, sorted({one.path for one in packs.remembered(project).values()})
    tasks = islice(packs.commit_tasks(top, packs.git(top, "rev-parse", "main").strip()), TASKS)
    rows, right = [], []
    with contextlib.closing(sqlite3.connect(repository.path_of(project.clone))) as db:
        for task in tasks:
            found = likely_files.features(db, spellings(task.subject), cited)
            leads = {
                name: min((one[name] - one[name.removesuffix("-lead")] for one in found.values()), default=0.0)
                for name in NAMES
            }
            for path in cited:
                one = found.get(path) or {name: leads[name] if name.endswith("-lead") else 0.0 for name in NAMES}
                rows.append([*(one[name] for name in NAMES), 1.0])
                right.append(path in task.files)
    return np.array(rows), np.array(right, float)


def fitted(there: Sequence[Pairs]) -> Any:
    """The weights under which what was changed is likeliest, by Newton's method."""
    x, y = (np.concatenate([one[at] for one in there]) for at in (0, 1))
    share = np.concatenate([np.full(len(one[1]), 1 / len(one[1]) / len(there)) for one in there])
    weights, pull = np.zeros(x.shape[1]), RIDGE * np.diag([*([1.0] * len(NAMES)), 0.0])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (share * (chance - y)) + pull @ weights
        curve = (x * (share * chance * (1 - chance))[:, None]).T @ x + pull + 1e-12 * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.fit_files", description="Fit which files a task is about.")
    parser.add_argument("repositories", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        there = []
        for at, source in enumerate(asked.repositories):
            os.mkdir(place := os.path.join(folder, str(at)))
            there.append(pairs(source, place, asked.seed))
    for at, source in enumerate(asked.repositories if len(there) > 1 else ()):
        x, y = there[at]
        told = 1 / (1 + np.exp(-x @ fitted([*there[:at], *there[at + 1 :]]))) >= LIKELY
        print(f"{source}: {y[told].sum() / y.sum():.2f} of the changed files, {y[told].mean():.2f} right (held out)")
    said = [f"{name} {value:.2f}" for name, value in zip([*NAMES, "bias"], fitted(there), strict=True)]
    print(*said, sep="\n")
    if asked.write:
        with open(TARGET, encoding="utf-8") as file:
            head = file.readline()
        with open(TARGET, "w", encoding="utf-8") as file:
            file.write(head + "".join(f"{one}\n" for one in said))


if __name__ == "__main__":
    main()
