"""Fit the weights of the ranking, `index/weights.py`, to question sets; tell how they do on what they have not seen.

    pip install numpy && python -m bench.fit_recall FOLDER            # tells
    python -m bench.fit_recall FOLDER --write                         # and writes WEIGHTS

One set of weights for all sets and kinds of records. The features are those that the product computes
(`index.pool.gather`), on indexes filled as the benchmark fills them. The loss is the usual one of ranking:
of each question, how likely its answers are among its candidates; each question set counts the same, however
many questions it has. Three tables are told: fitted to everything (what is written), held out by fold
(conversations, blocks of time, blocks of questions: what is asked was fitted on the other folds of every set),
and held out by set (fitted on the other sets alone: whether weights carry over to work of another kind).
"""

import argparse
import os
import re
import sys
import tempfile
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
STEPS = 400
PULL = 0.02  # towards small weights
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
    weight: float = 1.0


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
    counts = 1.0 if questions.measures[0].counts(question) else 0.0
    return Case(
        questions.name, question.fold, table, names, right, question, collection, questions.measures, counts
    )


def fit(known: Sequence[Case], features: Sequence[str], held: Sequence[str] = ()) -> Weights:
    """Weights under which the answers of these cases are likeliest; those of `held` stay at nothing."""
    used = [case for case in known if case.right and case.weight]
    sizes = {name: sum(case.of == name for case in used) for name in {case.of for case in used}}
    share = [1.0 / (len(sizes) * sizes[case.of]) for case in used]
    free = np.array([name not in held for name in features], float)
    weights, first, second = np.zeros((3, len(features)))
    for step in range(1, STEPS + 1):  # Adam: the scales of the features differ
        slope = 2 * PULL / 100 * weights
        for case, part in zip(used, share, strict=True):
            scores = case.table @ weights
            odds = np.exp(scores - scores.max())
            slope += part * (odds @ case.table / odds.sum() - case.table[case.right].mean(0))
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        rate = 0.1 * (1 - step / STEPS) + 0.002
        move = rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
        weights = weights - free * move
    return weights


def told(known: Sequence[Case], weights_of: Callable[[Case], Weights]) -> dict[tuple[str, str, int], float]:
    """The recall of every set at every measure, each case ranked by the weights it is given."""
    shares: dict[tuple[str, str, int], list[float]] = {}
    for case in known:
        order = np.argsort(-(case.table @ weights_of(case)), kind="stable") if len(case.names) else []
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
    held = [] if meanings.model is not None else ["near"]
    known: list[Case] = []
    with tempfile.TemporaryDirectory() as folder:
        for questions in found_in(options.folder):
            known += cases(questions, features, meanings, folder)
    reachable = {of: [bool(case.right) for case in known if case.of == of] for of in {c.of for c in known}}
    print({of: f"{100 * sum(some) / len(some):.1f} % have an answer in the pool" for of, some in reachable.items()})
    now = np.array([current.WEIGHTS[name] for name in features])
    show("as it is now, less priors and links", told(known, lambda case: now))
    whole = fit(known, features, held)
    show("fitted to everything", told(known, lambda case: whole))
    show("held out by fold", told(known, by_fold(known, features, held)))
    show("held out by set", told(known, by_set(known, features, held)))
    print({name: round(float(weight), 2) for name, weight in zip(features, whole, strict=True)})
    if options.write:
        write(features, whole)


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.fit_recall", description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--model", default=None, help="as the setting retrieval.model: off, a folder, a command")
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/holdfast"), metavar="FOLDER")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
