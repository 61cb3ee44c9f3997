"""Fit the weights of the evidence in `model/claims/weights.py` to the labelled pairs.

    python -m bench.fit_conflicts        # tells how well it does on pairs it has not seen, writes weights.py

Logistic regression, a pair of the first author counts a fifth: his are many, short and easier. The held-out
half is never read. What is told is measured by cross-validation: each pair is judged by weights fitted
without it.
"""

import json
import math
import os
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

from bench.conflicts import PAIRS
from holdfast.model.claims import Statement
from holdfast.model.claims.compare import ruled
from holdfast.model.claims.evidence import Found, evidence
from holdfast.model.claims.paths import overlap

FILES = {"tuning.jsonl": 0.2, "tuning_more.jsonl": 1.0}
TARGET = os.path.join(os.path.dirname(PAIRS), "../../src/holdfast/model/claims/weights.py")
FOLDS, ROUNDS, RIDGE = 8, 30, 0.5
PRECISION = 0.82
TWIN_FROM = -2.0  # few claims come near one that was put aside: a hint too many costs little
LONE, STRANGERS = 400, 0.1  # pairs put together by chance, and how much each counts

Row = tuple[Found, bool, float]  # evidence, label, how much it counts


def rows(wanted: Callable[[dict[str, Any]], bool | None]) -> list[Row]:
    """The pairs as evidence, with the label that `wanted` gives; None leaves a pair out."""
    found: list[Row] = []
    for name, worth in FILES.items():
        pairs = _pairs(name)
        for pair in pairs:
            one, other = (_statement(pair[side]) for side in ("accepted", "candidate"))
            label = wanted(pair)
            if label is not None and overlap(one.applies_to, other.applies_to):
                found.append((evidence(one, other, ruled(one, other)), label, worth))
        found += [(row, False, STRANGERS) for row in _strangers(pairs)]
    return found


def _pairs(name: str) -> list[dict[str, Any]]:
    with open(os.path.join(PAIRS, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _strangers(pairs: list[dict[str, Any]]) -> list[Found]:
    """Statements that nobody put side by side: of these a project has most."""
    shuffled = random.Random(5).sample(pairs, len(pairs))
    strange = [
        (Statement(a["accepted"]["text"]), Statement(b["candidate"]["text"]))
        for a, b in zip(pairs, shuffled, strict=True)
        if a is not b
    ]
    return [evidence(one, other, ruled(one, other)) for one, other in strange[:LONE]]


def contradicts(pair: dict[str, Any]) -> bool | None:
    """Whether a pair is a contradiction; what is gone is another question."""
    return bool(pair["conflict"]) if pair["accepted"]["status"] == "accepted" else None


def repeats(pair: dict[str, Any]) -> bool | None:
    """Whether a pair is one claim twice; whether a refinement is, is nobody's to say."""
    return None if pair["why"] == "refinement" else pair["why"] in ("twin", "paraphrase")


def _statement(side: dict[str, Any]) -> Statement:
    return Statement(side["text"], side["type"], tuple(side["applies_to"]))


def fit(data: Sequence[Row]) -> dict[str, float]:
    """The weights that make the labels likely: Newton's method with a ridge."""
    names = sorted(data[0][0])
    places = {name: at for at, name in enumerate(names)}
    sparse = [([(places[n], v) for n, v in found.items() if v], label, worth) for found, label, worth in data]
    weights = [0.0] * len(names)
    for _ in range(ROUNDS):
        gradient = [RIDGE * w for w in weights]
        hessian = [[RIDGE * (i == j) for j in range(len(names))] for i in range(len(names))]
        for entries, label, worth in sparse:
            p = 1 / (1 + math.exp(-sum(weights[i] * v for i, v in entries)))
            slope, curve = worth * (p - label), worth * p * (1 - p)
            for i, v in entries:
                gradient[i] += slope * v
                row = hessian[i]
                for j, u in entries:
                    row[j] += curve * v * u
        step = _solved(hessian, gradient)
        weights = [w - s for w, s in zip(weights, step, strict=True)]
        if max(map(abs, step)) < 1e-5:
            break
    return dict(zip(names, weights, strict=True))


def _solved(matrix: list[list[float]], right: list[float]) -> list[float]:
    """The solution of a system of linear equations; the matrix is positive definite."""
    size = len(right)
    work = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for i in range(size):
        for j in range(i + 1, size):
            if factor := work[j][i] / work[i][i]:
                work[j] = [a - factor * b for a, b in zip(work[j], work[i], strict=True)]
    found = [0.0] * size
    for i in reversed(range(size)):
        rest = sum(work[i][j] * found[j] for j in range(i + 1, size))
        found[i] = (work[i][size] - rest) / work[i][i]
    return found


def judged(data: Sequence[Row]) -> list[tuple[float, bool]]:
    """The score of each pair that counts in full, by weights fitted without it."""
    found = []
    for fold in range(2 * FOLDS):
        order = list(range(len(data)))
        random.Random(fold // FOLDS).shuffle(order)
        out = set(order[fold % FOLDS :: FOLDS])
        weights = fit([row for at, row in enumerate(data) if at not in out])
        found += [(_score(weights, data[at][0]), data[at][1]) for at in out if data[at][2] == 1.0]
    return found


def _score(weights: dict[str, float], found: Found) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in found.items())


def threshold(scored: Sequence[tuple[float, bool]], precision: float) -> tuple[float, float]:
    """The lowest score from which on so many are right, and the recall there."""
    ranked = sorted(scored, reverse=True)
    total, right, best = sum(label for _, label in ranked), 0, (math.inf, 0.0)
    for count, (score, label) in enumerate(ranked, 1):
        right += label
        if right / count >= precision:
            best = (score, right / total)
    return best


def table(name: str, weights: dict[str, float], least: float) -> str:
    """A table of weights as Python source."""
    lines = [f"{what}: {weight:.2f}" for what, weight in weights.items() if abs(weight) >= 0.005]
    return "\n".join([f"{name}_FROM = {least:.2f}", f'{name} = """', *lines, '"""', ""])


def main() -> None:
    """Fit both tables, tell what they are worth, write them."""
    parts = [
        '"""The weights of the evidence, fitted by `bench/fit_conflicts.py`: from FROM on it counts."""\n'
    ]
    for name, wanted in (("CONFLICT", contradicts), ("TWIN", repeats)):
        data = rows(wanted)
        scored = judged(data)
        for bar in (0.95, 0.9, 0.85, 0.8, 0.75):
            least, recall = threshold(scored, bar)
            sys.stdout.write(f"{name}: precision {bar:.2f} at recall {recall:.2f} from {least:.2f}\n")
        least = threshold(scored, PRECISION)[0] if wanted is contradicts else TWIN_FROM
        parts.append(table(name, fit(data), least))
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write("\n".join(parts))


if __name__ == "__main__":
    main()
