"""Fit the weights of the ranking, `index/weights.py`, to question sets, and tell what they do with others.

    pip install numpy && python -m bench.fit_recall FOLDER            # tells
    python -m bench.fit_recall FOLDER --write                         # and writes WEIGHTS

One set of weights for all sets and kinds of records. The features are those that the product computes
(`index.pool.gather`), on indexes filled as the benchmark fills them; where a model is installed, every
question counts twice, asked with vectors and without: the same weights serve both. The loss is the usual one
of ranking: how likely the answers are among the candidates. Each question set counts the same, however
many questions it has. Three tables are told: fitted to everything (what is written), held out by fold
(conversations, blocks of time, blocks of questions: fitted on the other folds of every set), and held out
by set (fitted on the other sets alone: whether weights carry over to work of another kind).
"""

import argparse
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.recall.engines import Holdfast
from bench.recall.formats import BLOCKS, found_in
from bench.recall.meaning import Among, Meanings
from bench.recall.measuring import in_turn
from bench.recall.sets import Collection, Measure, Question, QuestionSet, grouped, recall
from holdfast.index import weights as current
from holdfast.index.asked import read
from holdfast.index.pool import AT, gather
from holdfast.index.scope import Scope

TARGET = os.path.join(os.path.dirname(__file__), "../src/holdfast/index/weights.py")
STEPS = 200
PULL = 0.0004  # towards small weights
DEPTH = 100  # candidates of a measure by group
Weights = Any  # a numpy array beside the features' names


@dataclass(frozen=True, slots=True)
class Case:
    """A question as the ranking sees it: a table of candidates by features, and which of them are answers."""

    of: str
    fold: int
    table: Any
    names: list[str]
    right: list[int]
    question: Question
    collection: Collection
    measures: tuple[Measure, ...]
    counts: bool


def cases(questions: QuestionSet, features: Sequence[str], meanings: Meanings, folder: str) -> list[Case]:
    """The candidates of every question of a set, by the product's own gathering."""
    found = []
    for place, collection in enumerate(questions.collections):
        path = os.path.join(folder, questions.name, f"{place}", "index.db")
        engine = Holdfast(path, Among(meanings) if meanings.model is not None else None)
        for question in in_turn(collection, engine):
            found.append(_case(questions, collection, question, engine, features))
        engine.index.close()
    return found


def _case(
    questions: QuestionSet,
    collection: Collection,
    question: Question,
    engine: Holdfast,
    features: Sequence[str],
) -> Case:
    near = engine.among.near(question.text) if engine.among else None
    pool = gather(
        [engine.index.db], read(question.text), scope=Scope(files=question.files), limit=10, near=near
    )
    keys = sorted(pool.rows)
    table = np.zeros((len(keys), len(features)), np.float64)
    for column, name in enumerate(features):
        values = pool.features.get(name, {})
        table[:, column] = [values.get(key, 0.0) for key in keys]
    names = [pool.rows[key][AT["name"]] for key in keys]
    right = [place for place, name in enumerate(names) if name in question.answers]
    counts = questions.measures[0].counts(question)
    return Case(
        questions.name, question.fold, table, names, right, question, collection, questions.measures, counts
    )


class Stack:
    """The candidates of many questions in one table: each step of the fit is a few operations on it."""

    def __init__(self, used: Sequence[Case]) -> None:
        sizes = Counter(case.of for case in used)
        self.table = np.concatenate([case.table for case in used])
        counts = [len(case.table) for case in used]
        self._starts = np.cumsum([0, *counts[:-1]])
        self._of = np.repeat(np.arange(len(used)), counts)
        self._share = np.array([1.0 / (len(sizes) * sizes[case.of]) for case in used])
        answers = np.array([case.table[case.right].mean(0) for case in used])
        self._right = self._share @ answers

    def slope(self, weights: Weights) -> Weights:
        """Where the loss grows: what is expected of the candidates, less what the answers have."""
        scores = self.table @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._of])
        odds *= (self._share / np.add.reduceat(odds, self._starts))[self._of]
        return odds @ self.table - self._right


def fit(known: Sequence[Case], features: Sequence[str], held: Sequence[str] = ()) -> Weights:
    """Weights under which the answers of these cases are likeliest; those of `held` stay at nothing.

    None is below nothing: a hit must not sink by holding more of what was asked.
    """
    stack = Stack([case for case in known if case.right and case.counts])
    free = np.array([name not in held for name in features], float)
    weights, first, second = np.zeros((3, len(features)))
    for step in range(1, STEPS + 1):  # Adam: the scales of the features differ
        slope = stack.slope(weights) + PULL * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        rate = 0.1 * (1 - step / STEPS) + 0.002
        move = rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
        weights = np.maximum(free * (weights - move), 0.0)
    return weights


def told(known: Sequence[Case], weights_of: Callable[[Case], Weights]) -> dict[tuple[str, str, int], float]:
    """The recall of every set at every measure, each case ranked by the weights it is given."""
    shares: dict[tuple[str, str, int], list[float]] = {}
    for case in known:
        order = np.argsort(-(case.table @ weights_of(case)), kind="stable").tolist()
        names = [case.names[place] for place in order]
        for measure in case.measures:
            if measure.counts(case.question):
                found, answers = names, case.question.answers
                if measure.by_group:
                    found = grouped(names[:DEPTH], case.collection)
                    answers = case.question.groups(case.collection)
                for at in measure.at:
                    shares.setdefault((case.of, measure.what, at), []).append(recall(found, answers, at))
    return {key: 100 * sum(some) / len(some) for key, some in shares.items()}


def by_fold(known: Sequence[Case], features: Sequence[str], held: Sequence[str]) -> Callable[[Case], Weights]:
    """For each case, weights that were fitted without its fold."""
    folds = sorted({case.fold % BLOCKS for case in known})
    fitted = {
        fold: fit([case for case in known if case.fold % BLOCKS != fold], features, held) for fold in folds
    }
    return lambda case: fitted[case.fold % BLOCKS]


def by_set(known: Sequence[Case], features: Sequence[str], held: Sequence[str]) -> Callable[[Case], Weights]:
    """For each case, weights that were fitted without its set."""
    names = sorted({case.of for case in known})
    fitted = {name: fit([case for case in known if case.of != name], features, held) for name in names}
    return lambda case: fitted[case.of]


def show(title: str, figures: dict[tuple[str, str, int], float]) -> None:
    """One line for each set and measure."""
    print(title)
    for what in dict.fromkeys((of, measure) for of, measure, _ in figures):
        at = [(at, share) for (of, measure, at), share in figures.items() if (of, measure) == what]
        shares = " / ".join(f"{share:.1f}" for _, share in at)
        print(f"  {what[0]:20} {what[1]:9} R@{' / '.join(str(n) for n, _ in at):12} {shares}", flush=True)


def write(features: Sequence[str], weights: Weights) -> None:
    """Put the weights where the ranking reads them; the rest of the file stays."""
    with open(TARGET, encoding="utf-8") as file:
        text = file.read()
    lines = "".join(f'    "{name}": {weight:.2f},\n' for name, weight in zip(features, weights, strict=True))
    text = re.sub(r"^WEIGHTS = \{\n.*?^\}\n", f"WEIGHTS = {{\n{lines}}}\n", text, flags=re.S | re.M)
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(text)


def main() -> None:
    """Gather, fit, tell and, if asked for, write."""
    options = _read_options()
    features = list(current.WEIGHTS)
    meanings = Meanings.installed(options.model, options.cache)
    print(meanings.told)
    modes = {"text": Meanings(None, "")}
    if meanings.model is not None:
        modes["with vectors"] = meanings
    held = [] if meanings.model is not None else ["near"]
    known: dict[str, list[Case]] = {mode: [] for mode in modes}
    with tempfile.TemporaryDirectory() as folder:
        for questions in found_in(options.folder):
            for mode, meaning in modes.items():
                known[mode] += cases(questions, features, meaning, os.path.join(folder, mode))
    both = [case for some in known.values() for case in some]
    _tell_pools(both)
    now = np.array([current.WEIGHTS[name] for name in features])
    whole = fit(both, features, held)
    ways: dict[str, Callable[[Case], Weights]] = {
        "as it is now": lambda _: now,
        "fitted to everything": lambda _: whole,
        "held out by fold": by_fold(both, features, held),
        "held out by set": by_set(both, features, held),
    }
    for mode, some in known.items():
        for way, weights_of in ways.items():
            show(f"{mode}, {way}, less priors and links", told(some, weights_of))
    print({name: round(float(weight), 2) for name, weight in zip(features, whole, strict=True)})
    if options.write:
        write(features, whole)


def _tell_pools(known: Sequence[Case]) -> None:
    for of in dict.fromkeys(case.of for case in known):
        within = [bool(case.right) for case in known if case.of == of]
        print(f"{of}: {100 * sum(within) / len(within):.1f} % of the questions have an answer in the pool")


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.fit_recall", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--write", action="store_true")
    parser.add_argument(
        "--model", default=None, help="as the setting retrieval.model: off, a folder, a command"
    )
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/holdfast"), metavar="FOLDER")
    return parser.parse_args()


if __name__ == "__main__":
    main()
