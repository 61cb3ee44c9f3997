"""Fit the judges of contradictions and of twins, `model/claims/tables/{judge,twins}.txt`, to the labelled pairs.

    pip install scikit-learn && python -m bench.fit_conflicts   # prints how well they do, writes both files

Both are boosted trees. A pair of the first author counts a fifth: his are many, short and easier. Thresholds are
set on `tuning_more.jsonl`, which seven authors wrote. Pairs alone would teach that two statements are always
about one thing; so the sentences of the ADRs and of the pages on formats and methods, which do not contradict one
another, are held against their neighbours and count as what is no contradiction. The figures it prints are measured
on pairs and pages that the judge has not seen. The held-out half is never read.

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

from bench.conflicts import DOCS, PAIRS, ROOT, sentences
from holdfast.model.claims import SimilarStatements, Statement
from holdfast.model.claims.compare import paths_overlap
from holdfast.model.claims.features import Features, measure_features

FILES = {"tuning.jsonl": 0.2, "tuning_more.jsonl": 1.0, "tuning_statements.jsonl": 0.9}
TARGET = os.path.join(ROOT, "src/holdfast/model/claims/tables")
HEADS = {
    "judge": """\
# The judge of contradictions, written by bench/fit_conflicts.py. First the score from which a pair may be one, then
# what all trees start from, then one tree a line: `name<=value` asks, what follows answers yes and no, a number is
# added.
""",
    "twins": """\
# The judge of twins, written by bench/fit_conflicts.py. First the score from which a pair looks
# like one claim, then trees as in `judge.txt`.
""",
}
FOLDS = 8
SEEDS = (1, 3, 5)  # of the ways to part pages in what is known and what is asked
PAGES = 0.1  # what one of a page's neighbours counts: most of what a project knows is no matter of a candidate
FOUND = 0.88  # of unseen pairs for development; other authors' pairs are harder, and 0.7 of those is wanted

Row = tuple[Features, bool, float]  # evidence, label, how much it counts
Size = tuple[int, int, float]  # of a judge: how many trees, how deep, how much each learns
LARGE, SMALL = (300, 4, 0.03), (200, 3, 0.05)  # there are few twins to learn from


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

    def __init__(self, data: Sequence[Row], names: Sequence[str], size: Size) -> None:
        self.names, (trees, depth, rate) = names, size
        self._model = GradientBoostingClassifier(
            n_estimators=trees, max_depth=depth, learning_rate=rate, subsample=0.6, min_samples_leaf=8,
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


def unseen(data: Sequence[Row], always: Sequence[Row], names: Sequence[str], size: Size) -> list[tuple[float, bool]]:
    """The score of each pair that counts in full, by a judge that has not seen it; the highest first."""
    found = []
    order = list(range(len(data)))
    random.Random(1).shuffle(order)
    for fold in range(FOLDS):
        out = set(order[fold::FOLDS])
        judge = Judge([row for at, row in enumerate(data) if at not in out] + list(always), names, size)
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
    beside = [row for seed in SEEDS for rows in pages(DOCS["fitted"], seed) for row in rows]
    data, twins = rows(contradicts), rows(repeats)
    names = [name for name in sorted(set(data[0][0]) - {"bias"}) if not name.startswith(without)]
    judge, ranked = Judge([*data, *beside], names, LARGE), unseen(data, beside, names, LARGE)
    may, precision = reaching(ranked, FOUND)
    few = [(found, False, PAGES / 10) for found, *_ in beside]
    twin_judge, ranked_twins = Judge([*twins, *few], names, SMALL), unseen(twins, few, names, SMALL)
    twins_from, found = balanced(ranked_twins)
    around = [one for one in pages(DOCS["unseen"], 2) if one]
    warned, repeated = (
        sum(max(by.scores(one)) >= least for one in around) for by, least in ((judge, may), (twin_judge, twins_from))
    )
    sys.stdout.write(
        f"{len(names)} features; unseen pairs: {_area(ranked):.3f} of the area under the curve, "
        f"recall {FOUND} at precision {precision:.2f} from {may:.2f}\n"
        f"unseen pages: {warned} of {len(around)} candidates may contradict something, {repeated} look like something\n"
        f"unseen twins: precision and recall {found:.2f} from {twins_from:.2f}\n"
    )
    if not without:
        _write("judge", f"{may:.2f}\n{judge.written()}")
        _write("twins", f"{twins_from:.2f}\n{twin_judge.written()}")


def _area(ranked: Sequence[tuple[float, bool]]) -> float:
    right = np.cumsum([label for _, label in ranked])
    false = [not label for _, label in ranked]
    return float(sum(right[at] for at, one in enumerate(false) if one) / right[-1] / sum(false))


def _write(name: str, fitted: str) -> None:
    with open(os.path.join(TARGET, f"{name}.txt"), "w", encoding="utf-8") as file:
        file.write(f"{HEADS[name]}\n{fitted}\n")


if __name__ == "__main__":
    main()
