"""Fit the judges of contradictions and of twins, `model/claims/tables/{judge,twins}.txt`, to the labelled pairs.

    pip install scikit-learn && python -m bench.fit_conflicts   # prints how well they do, writes both files

Boosted trees for contradictions, a sum of weights for twins. A pair of the first author counts a fifth: his
are many, short and easier. Pairs alone would teach that two statements are always about one thing; so the
sentences of docs/adr and docs/design, which do not contradict one another, are held against their
neighbours and count as what is no contradiction. The figures it prints are measured on pairs and pages that
the judge has not seen. The held-out half is never read.

    python -m bench.fit_conflicts --without lean --without number   # what a group of features is worth; writes nothing
"""

import json
import os
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from bench.conflicts import DOCS, PAIRS, ROOT, sentences
from holdfast.model.claims import SimilarStatements, Statement
from holdfast.model.claims.compare import paths_overlap
from holdfast.model.claims.features import Features, measure_features

FILES = {"tuning.jsonl": 0.2, "tuning_more.jsonl": 1.0}
TARGET = os.path.join(ROOT, "src/holdfast/model/claims/tables")
HEADS = {
    "judge": """\
# The judge of contradictions, written by bench/fit_conflicts.py. First the score from which a pair may be one, then the
# score from which it is one if `outright` finds so too, then what all trees start from, then one tree a line:
# `name<=value` asks, what follows answers yes and no, a number is added.
""",
    "twins": """\
# The judge of twins, written by bench/fit_conflicts.py. First the score from which a pair is one claim, then weights.
""",
}
FOLDS = 8
PAGES = 0.04  # what one of a page's neighbours counts
FOUND = 0.88  # of unseen pairs for development; other authors' pairs are harder, and 0.7 of those is wanted
CERTAIN = 0.0  # more likely a contradiction than not

Row = tuple[Features, bool, float]  # evidence, label, how much it counts


def rows(wanted: Callable[[dict[str, Any]], bool | None]) -> list[Row]:
    """The pairs as evidence, with the label that `wanted` gives; None leaves a pair out."""
    found: list[Row] = []
    for name, worth in FILES.items():
        with open(os.path.join(PAIRS, name), encoding="utf-8") as file:
            pairs = [json.loads(line) for line in file]
        for pair in pairs:
            one, other = (_statement(pair[side]) for side in ("accepted", "candidate"))
            label = wanted(pair)
            if label is not None and paths_overlap(one.applies_to, other.applies_to):
                found.append((measure_features(one, other), label, worth))
    return found


def contradicts(pair: dict[str, Any]) -> bool | None:
    """Whether a pair is a contradiction; what is gone is another question."""
    return bool(pair["conflict"]) if pair["accepted"]["status"] == "accepted" else None


def repeats(pair: dict[str, Any]) -> bool | None:
    """Whether a pair is one claim twice; whether a refinement is, is nobody's to say."""
    return None if pair["why"] == "refinement" else pair["why"] in ("twin", "paraphrase")


def pages(folders: Sequence[str], seed: int) -> list[list[Row]]:
    """For each of some sentences of these pages, what it looks like beside its neighbours."""
    said = sentences(folders)
    random.Random(seed).shuffle(said)
    known = {str(n): Statement(text, "decision") for n, text in enumerate(said[::2])}
    near = SimilarStatements(known)
    candidates = [Statement(text, "decision") for text in said[1::2]][:250]
    return [[(measure_features(known[n], one), False, PAGES) for n in near.near(one)] for one in candidates]


def _statement(side: dict[str, Any]) -> Statement:
    return Statement(side["text"], side["type"], tuple(side["applies_to"]))


class Judge:
    """Boosted trees over the evidence."""

    def __init__(self, data: Sequence[Row], names: Sequence[str]) -> None:
        self.names = names
        self._model = GradientBoostingClassifier(
            n_estimators=200, max_depth=3, learning_rate=0.05, subsample=0.6, min_samples_leaf=8,
            max_features=0.3, random_state=1,
        )  # fmt: skip
        table = self._table(data)
        self._model.fit(table, [label for _, label, _ in data], sample_weight=[worth for *_, worth in data])

    def _table(self, data: Sequence[Row]) -> Any:
        return np.array([[found[name] for name in self.names] for found, *_ in data])

    def scores(self, data: Sequence[Row]) -> Any:
        return self._model.decision_function(self._table(data))

    def written(self) -> str:
        """The trees as `model.claims.compare` reads them; what they all start from comes first."""
        first = self._model._raw_predict_init(np.zeros((1, len(self.names))))[0, 0]
        trees = (step[0].tree_ for step in self._model.estimators_)
        return "\n".join([f"{first:.4f}", *("|".join(self._walk(tree, 0)) for tree in trees)])

    def _walk(self, tree: Any, at: int) -> Iterator[str]:
        if tree.children_left[at] < 0:
            yield f"{tree.value[at][0][0] * self._model.learning_rate:.4f}"
            return
        yield f"{self.names[tree.feature[at]]}<={tree.threshold[at]:.4f}"
        yield from self._walk(tree, tree.children_left[at])
        yield from self._walk(tree, tree.children_right[at])


class Sum:
    """A plain sum of weights over the evidence."""

    def __init__(self, data: Sequence[Row], names: Sequence[str]) -> None:
        self.names = names
        self._model = LogisticRegression(C=0.3, max_iter=3000)
        table = np.array([[found[name] for name in names] for found, *_ in data])
        self._model.fit(table, [label for _, label, _ in data], sample_weight=[worth for *_, worth in data])

    def scores(self, data: Sequence[Row]) -> Any:
        return self._model.decision_function(np.array([[found[name] for name in self.names] for found, *_ in data]))

    def written(self) -> str:
        """The weights as `model.claims.compare` reads them."""
        weights = {"bias": self._model.intercept_[0], **dict(zip(self.names, self._model.coef_[0], strict=True))}
        return "\n".join(f"{name}: {weight:.2f}" for name, weight in weights.items() if abs(weight) >= 0.005)


def unseen(
    kind: type[Judge] | type[Sum], data: Sequence[Row], always: Sequence[Row], names: Sequence[str]
) -> list[tuple[float, bool]]:
    """The score of each pair that counts in full, by a judge that has not seen it; the highest first."""
    found = []
    order = list(range(len(data)))
    random.Random(1).shuffle(order)
    for fold in range(FOLDS):
        out = set(order[fold::FOLDS])
        judge = kind([row for at, row in enumerate(data) if at not in out] + list(always), names)
        asked = [data[at] for at in out if data[at][2] == 1.0]
        found += list(zip(judge.scores(asked), (label for _, label, _ in asked), strict=True))
    return sorted(found, reverse=True)


def reaching(ranked: Sequence[tuple[float, bool]], recall: float) -> tuple[float, float]:
    """The score from which on so many are found, and the precision there."""
    total, right = sum(label for _, label in ranked), 0
    for count, (score, label) in enumerate(ranked, 1):
        right += label
        if right >= recall * total:
            return score, right / count
    raise ValueError("no pairs")


def balanced(ranked: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The score from which on precision and recall are the same, and what they are."""
    total = sum(label for _, label in ranked)
    return ranked[total - 1][0], sum(label for _, label in ranked[:total]) / total


def main() -> None:
    """Fit both, print what they are worth, write them."""
    without = tuple(sys.argv[2::2])
    beside = [row for rows in pages(DOCS["fitted"], 1) for row in rows]
    data, twins = rows(contradicts), rows(repeats)
    names = [name for name in sorted(set(data[0][0]) - {"bias"}) if not name.startswith(without)]
    judge, ranked = Judge([*data, *beside], names), unseen(Judge, data, beside, names)
    may, precision = reaching(ranked, FOUND)
    warned = [max(judge.scores(one)) >= may for one in pages(DOCS["unseen"], 2) if one]
    few = [(found, False, PAGES / 3) for found, *_ in beside]
    twin_sum, (twins_from, found) = Sum([*twins, *few], names), balanced(unseen(Sum, twins, few, names))
    sys.stdout.write(
        f"{len(names)} features; unseen pairs: {_area(ranked):.3f} of the area under the curve, "
        f"recall {FOUND} at precision {precision:.2f} from {may:.2f}\n"
        f"unseen pages: {sum(warned)} of {len(warned)} candidates may contradict something\n"
        f"unseen twins: precision and recall {found:.2f} from {twins_from:.2f}\n"
    )
    if not without:
        _write("judge", f"{may:.2f}\n{CERTAIN:.2f}\n{judge.written()}")
        _write("twins", f"{twins_from:.2f}\n{twin_sum.written()}")


def _area(ranked: Sequence[tuple[float, bool]]) -> float:
    right = np.cumsum([label for _, label in ranked])
    false = [not label for _, label in ranked]
    return float(sum(right[at] for at, one in enumerate(false) if one) / right[-1] / sum(false))


def _write(name: str, fitted: str) -> None:
    with open(os.path.join(TARGET, f"{name}.txt"), "w", encoding="utf-8") as file:
        file.write(f"{HEADS[name]}\n{fitted}\n")


if __name__ == "__main__":
    main()
