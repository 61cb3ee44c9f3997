"""Fit the weights of the ranking, `index/ranking_weights.py`, to question sets, and tell what they do with others.

    pip install numpy && python -m bench.fit_recall FOLDER            # tells
    python -m bench.fit_recall FOLDER --write                         # and writes WEIGHTS

One set of weights for all sets and kinds of records. The features are those that the product computes
(`index.pool.gather`), on indexes filled as the benchmark fills them; where a model is installed, every
question counts twice, asked with vectors and without: the same weights serve both. The loss is the usual one
of ranking: how likely the answers are among the candidates. Each question set counts the same, however
many questions it has. Three tables are told: fitted to everything (what is written), held out by fold
(conversations, blocks of time, blocks of questions: fitted on the other folds of every set), and held out
by set (fitted on the other sets alone: whether weights carry over to work of another kind). And it tells
what weights do on the second half of every set that were fitted to the first halves.

Where a set asks for sessions as a whole, what counts besides their best turn (`GROUPED`) is fitted after
the weights, by the same loss over sessions.
"""

import argparse
import os
import re
import tempfile
import textwrap
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bench.recall.engines import Holdfast
from bench.recall.formats import BLOCKS, found_in
from bench.recall.meaning import Among, Meanings
from bench.recall.measuring import in_turn
from bench.recall.sets import Collection, Measure, Question, QuestionSet, recall
from holdfast.index import ranking_weights as current
from holdfast.index import result_order
from holdfast.index.pool import AT, Pool, gather
from holdfast.index.query import Scope, read_query

TARGET = os.path.join(os.path.dirname(__file__), "../src/holdfast/index/ranking_weights.py")
STEPS = 200
PULL = 0.0004  # towards small weights
ADDED = ("told", "said")
Weights = Any  # a numpy array beside the features' names


@dataclass(frozen=True, slots=True)
class Whole:
    """The sessions that a question may mean: their own rows, the turns, and which turn is whose."""

    own: Any
    turns: Any
    pairs: Any  # the places of a turn and of its session
    added: Any
    names: list[str]
    answers: frozenset[str]

    @property
    def right(self) -> list[int]:
        return [place for place, name in enumerate(self.names) if name in self.answers]

    def table(self, weights: Weights) -> Any:
        """For each session the score of its own row and its best turn, and what the rest of it adds."""
        own, turns = self.own @ weights, self.turns @ weights
        best = np.full(len(own), -np.inf)
        np.maximum.at(best, self.pairs[:, 1], turns[self.pairs[:, 0]])
        lesser = np.where(np.isfinite(best), np.minimum(best, own), 0.0)
        return np.column_stack([np.maximum(best, own) + result_order.LESSER * lesser, self.added])


@dataclass(frozen=True, slots=True)
class Fitted:
    """Weights of rows, and of what counts for a session: its best, and what the rest of it adds."""

    rows: Weights
    whole: Weights


@dataclass(frozen=True, slots=True)
class Case:
    """A question as the ranking sees it: a table of candidates by features, and which of them are answers."""

    of: str
    fold: int
    table: Any
    names: list[str]
    right: list[int]
    question: Question
    measures: tuple[Measure, ...]
    counts: bool
    is_first: bool  # of the set's first half
    whole: Whole | None


def cases(questions: QuestionSet, features: Sequence[str], meanings: Meanings, folder: str) -> list[Case]:
    """The candidates of every question of a set, by the product's own gathering."""
    found = []
    for place, collection in enumerate(questions.collections):
        path = os.path.join(folder, questions.name, f"{place}", "index.db")
        engine = Holdfast(path, Among(meanings) if meanings.model is not None else None)
        for question in in_turn(collection, engine):
            found.append(_case(questions, collection, question, engine, features))
        engine.index.close()
    several = len(questions.collections) > 1
    return [
        replace(case, is_first=case.fold < 2 if several else place < len(found) // 2)
        for place, case in enumerate(found)
    ]


def _case(
    questions: QuestionSet, collection: Collection, question: Question, engine: Holdfast, features: Sequence[str]
) -> Case:
    near = engine.among.near(question.text) if engine.among else None
    scope = Scope(files=question.files, kind=questions.measures[0].kind)
    pool = gather([engine.index.db], read_query(question.text), scope=scope, limit=10, near=near)
    names = _names(pool)
    right = [place for place, name in enumerate(names) if name in question.answers]
    wholes = [
        _whole(question, engine, features, measure.kind, question.groups(collection))
        for measure in questions.measures
        if measure.by_group
    ]
    return Case(
        of=questions.name, fold=question.fold, table=_table(pool, features), names=names, right=right,
        question=question, measures=questions.measures, counts=questions.measures[0].counts(question),
        is_first=True, whole=wholes[0] if wholes else None,
    )  # fmt: skip


def _whole(
    question: Question, engine: Holdfast, features: Sequence[str], kind: str | None, answers: frozenset[str]
) -> Whole:
    """The sessions for a question, by the product's own gathering."""
    near = engine.among.near(question.text) if engine.among else None
    sources, asked, scope = [engine.index.db], read_query(question.text), Scope(kind=kind)
    pool = gather(sources, asked, scope=scope, limit=10, near=near)
    turns, members = result_order.gathered(pool, sources, asked, scope=scope, near=near, wide=False)
    place = {key: at for at, key in enumerate(sorted(turns.rows))}
    pairs = [(place[key], at) for at, group in enumerate(sorted(pool.rows)) for key in members.get(group, ())]
    pool.features.update(result_order.added(pool, turns, members, near))
    return Whole(
        own=_table(pool, features), turns=_table(turns, features),
        pairs=np.array(sorted(pairs), int).reshape(-1, 2),
        added=_table(pool, ADDED), names=_names(pool), answers=answers,
    )  # fmt: skip


def _table(pool: Pool, features: Sequence[str]) -> Any:
    keys = sorted(pool.rows)
    table = np.zeros((len(keys), len(features)), np.float64)
    for column, name in enumerate(features):
        values = pool.features.get(name, {})
        table[:, column] = [values.get(key, 0.0) for key in keys]
    return table


def _names(pool: Pool) -> list[str]:
    return [pool.rows[key][AT["name"]] for key in sorted(pool.rows)]


class Stack:
    """The candidates of many questions in one table: each step of the fit is a few operations on it."""

    def __init__(self, used: Sequence[tuple[str, Any, list[int]]]) -> None:
        sizes = Counter(of for of, _, _ in used)
        self.table = np.concatenate([table for _, table, _ in used])
        counts = [len(table) for _, table, _ in used]
        self._starts = np.cumsum([0, *counts[:-1]])
        self._of = np.repeat(np.arange(len(used)), counts)
        self._share = np.array([1.0 / (len(sizes) * sizes[of]) for of, _, _ in used])
        answers = np.array([table[right].mean(0) for _, table, right in used])
        self._right = self._share @ answers

    def slope(self, weights: Weights) -> Weights:
        """Where the loss grows: what is expected of the candidates, less what the answers have."""
        scores = self.table @ weights
        odds = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._of])
        odds *= (self._share / np.add.reduceat(odds, self._starts))[self._of]
        return odds @ self.table - self._right


def fit(known: Sequence[Case], features: Sequence[str], held: Sequence[str] = ()) -> Fitted:
    """Weights under which the answers of these cases are likeliest; those of `held` stay at nothing."""
    used = [(case.of, case.table, case.right) for case in known if case.right and case.counts]
    rows = _descended(Stack(used), np.array([name not in held for name in features], float))
    wholes = [(case.of, case.whole) for case in known if case.whole and case.whole.right]
    if not wholes:  # nobody asked for a session
        return Fitted(rows, np.array([1.0, *(0.0 for _ in ADDED)]))
    stack = Stack([(of, whole.table(rows), whole.right) for of, whole in wholes])
    found = _descended(stack, np.array([1.0, *(float(name != "said" or not held) for name in ADDED)]))
    return Fitted(rows, found / found[0])


def _descended(stack: Stack, free: Weights) -> Weights:
    """None is below nothing: a hit must not sink by holding more of what was asked."""
    weights, first, second = np.zeros((3, len(free)))
    for step in range(1, STEPS + 1):  # Adam: the scales of the features differ
        slope = stack.slope(weights) + PULL * weights
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        rate = 0.1 * (1 - step / STEPS) + 0.002
        move = rate * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-9)
        weights = np.maximum(free * (weights - move), 0.0)
    return weights


def told(known: Sequence[Case], weights_of: Callable[[Case], Fitted]) -> dict[tuple[str, str, int], float]:
    """The recall of every set at every measure, each case ranked by the weights it is given."""
    shares: dict[tuple[str, str, int], list[float]] = {}
    for case in known:
        weights, whole = weights_of(case), case.whole
        for measure in case.measures:
            if not measure.counts(case.question):
                continue
            if measure.by_group and whole:
                found = _ordered(whole.names, whole.table(weights.rows) @ weights.whole)
                answers = whole.answers
            else:
                found, answers = _ordered(case.names, case.table @ weights.rows), case.question.answers
            for at in measure.at:
                shares.setdefault((case.of, measure.what, at), []).append(recall(found, answers, at))
    return {key: 100 * sum(some) / len(some) for key, some in shares.items()}


def _ordered(names: list[str], scores: Any) -> list[str]:
    return [names[place] for place in np.argsort(-scores, kind="stable").tolist()]


def by_fold(known: Sequence[Case], features: Sequence[str], held: Sequence[str]) -> Callable[[Case], Fitted]:
    """For each case, weights that were fitted without its fold."""
    folds = sorted({case.fold % BLOCKS for case in known})
    fitted = {fold: fit([case for case in known if case.fold % BLOCKS != fold], features, held) for fold in folds}
    return lambda case: fitted[case.fold % BLOCKS]


def by_set(known: Sequence[Case], features: Sequence[str], held: Sequence[str]) -> Callable[[Case], Fitted]:
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


def write(features: Sequence[str], fitted: Fitted) -> None:
    """Put the weights where the ranking reads them; the rest of the file stays."""
    with open(TARGET, encoding="utf-8") as file:
        text = file.read()
    for name, names, weights in (("WEIGHTS", features, fitted.rows), ("GROUPED", ("turn", *ADDED), fitted.whole)):
        pairs = ", ".join(f'"{one}": {weight:.2f}' for one, weight in zip(names, weights, strict=True))
        lines = textwrap.indent(textwrap.fill(pairs.replace(": ", ":\0"), 112), "    ").replace("\0", " ")
        text = re.sub(rf"^{name} = \{{\n.*?^\}}", f"{name} = {{\n{lines}\n}}", text, flags=re.S | re.M)
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
    now = Fitted(np.array([current.WEIGHTS[name] for name in features]), np.array(list(current.GROUPED.values())))
    whole = fit(both, features, held)
    half = fit([case for case in both if case.is_first], features, held)
    ways: dict[str, Callable[[Case], Fitted]] = {
        "as it is now": lambda _: now,
        "fitted to everything": lambda _: whole,
        "held out by fold": by_fold(both, features, held),
        "held out by set": by_set(both, features, held),
    }
    for mode, some in known.items():
        for way, weights_of in ways.items():
            show(f"{mode}, {way}, less priors and links", told(some, weights_of))
        rest = [case for case in some if not case.is_first]
        show(f"{mode}, second halves, fitted to everything", told(rest, lambda _: whole))
        show(f"{mode}, second halves, fitted to the first halves", told(rest, lambda _: half))
    print({name: round(float(weight), 2) for name, weight in zip(features, whole.rows, strict=True)})
    print({name: round(float(weight), 2) for name, weight in zip(ADDED, whole.whole[1:], strict=True)})
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
    parser.add_argument("--model", default=None, help="as the setting retrieval.model: off, a folder, a command")
    parser.add_argument("--cache", default=os.path.expanduser("~/.cache/holdfast"), metavar="FOLDER")
    return parser.parse_args()


if __name__ == "__main__":
    main()
