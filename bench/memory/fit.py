"""Fit the weights of `curation/extraction/statement_score.py` to labelled and judged sessions.

    python -m bench.memory.fit FOLDER [FOLDER …]   # prints how well they do on projects held out, writes the weights

Sums of weights, small ones preferred. A statement counts as worth keeping if it says one of the items of a labelled
session; whether it is over, judged statements tell. (Fitted to judged statements as well, the first sum chose no
better ones.) The table from score to confidence comes from projects that the weights had not seen.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.memory.labelled import JudgedSession, LabelledSession, judged_sessions, labelled_sessions
from holdfast.curation import extraction
from holdfast.curation.extraction import session_claims, session_statements, statement_score, statement_shapes
from holdfast.curation.extraction.session_statements import SessionWords
from holdfast.curation.extraction.statement_score import HEADS
from holdfast.curation.extraction.withdrawn_words import WithdrawnWords, own_words
from holdfast.model.utterance import Utterance

TARGET = Path(extraction.__file__).with_name("statement_weights.txt")
# What is known of sources from other sessions than these: commit messages and agents' own memory files are nearly
# always right, words on the way seldom, but for why a command failed. Weights are held back towards this, all others
# towards nought.
KNOWN = {"from commit": 0.7, "from memory": 1.0, "from request": 0.3, "from said": -0.5, "from lesson": 0.8}
SMALL = 10.0  # how much large weights are held back; 5 and 20 do as well
RIGHT, OVER = "AB", "F"  # labels of judged statements: worth keeping, and over
FOR_OVER = ("shape ", "after ")  # features that count for `over` alone: those of wording, and of what was done later
STEPS = (-1.0, 0.3, 0.4, 0.5, 0.6, 0.7)  # scores between which confidence is the same
Vector = NDArray[np.float64]
Scores = tuple[list[float], list[float]]  # of a session's statements: worth keeping, and over


@dataclass
class Weighed:
    """A session's statements with what is seen of each, and for each head which are right (-1: nobody knows)."""

    session: LabelledSession | JudgedSession
    words: SessionWords
    seen: list[dict[str, float]]
    right: dict[str, Vector]

    def matrix(self, names: Sequence[str]) -> Vector:
        rows = [[one.get(name, 0.0) for name in names] + [1.0] for one in self.seen]
        return np.array(rows).reshape(len(rows), len(names) + 1)


def weighed(session: LabelledSession | JudgedSession) -> Weighed:
    """The statements of a session that may stand."""
    turns = [own_words(turn) for turn in session.heard if isinstance(turn, Utterance)]
    withdrawn = WithdrawnWords(turns)
    every = (one for one in session_statements.statements(turns) if statement_shapes.may_stand(one))
    told = [one for one in every if not withdrawn.hold(one.turn, one.who, one.words)]
    words = SessionWords(turns, told)
    seen = [statement_score.features(one, number, words) for number, one in enumerate(told)]
    unknown = -np.ones(len(told))
    if isinstance(session, LabelledSession):
        kept = np.array([float(bool(session.found_in(one.told))) for one in told])
        return Weighed(session, words, seen, {"kept": kept, "over": unknown})
    labels = [session.labels.get(one.words) for one in told]
    over = np.array([-1.0 if label is None else float(label == OVER) for label in labels])
    return Weighed(session, words, seen, {"kept": unknown, "over": over})


def fitted(some: Sequence[Weighed], names: Sequence[str], head: str) -> Vector:
    """The weights that fit these sessions, and the bias; those that are there, if no session tells."""
    if all((one.right[head] < 0).all() for one in some):
        there = statement_score.weights(head)
        return np.array([there.get(name, 0.0) for name in [*names, "bias"]])
    rows, right = np.vstack([one.matrix(names) for one in some]), np.concatenate([one.right[head] for one in some])
    held = SMALL * np.array([_held_back(name, head) for name in names] + [1e-6])
    known = np.array([KNOWN.get(name, 0.0) if head == "kept" else 0.0 for name in names] + [0.0])
    sizes: Counter[str] = Counter()
    for one in some:
        sizes[one.session.project] += int((one.right[head] >= 0).sum())
    # Most sessions are of few projects: without this their way to talk would be taken for everybody's.
    each = [(sizes.total() / len(sizes) / max(1, sizes[one.session.project])) ** 0.5 for one in some]
    counts = np.repeat(each, [len(one.seen) for one in some]) * (right >= 0)
    weights = known.copy()
    for _ in range(50):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (counts * (likely - right)) + held * (weights - known)
        bend = (rows * (counts * likely * (1 - likely))[:, None]).T @ rows + np.diag(held)
        step = np.linalg.solve(bend, slope)
        weights -= step
        if abs(step).max() < 1e-7:
            break
    return weights


def _held_back(name: str, head: str) -> float:
    """How much a weight is held back."""
    return 1e6 if head == "kept" and name.startswith(FOR_OVER) else 1.0


def feature_names(some: Sequence[Weighed]) -> list[str]:
    return sorted({name for one in some for seen in one.seen for name in seen})


def held_out(some: Sequence[Weighed]) -> list[Scores]:
    """For each session the scores of its statements, by weights that saw no session of its project."""
    names = feature_names(some)
    without = without_each(some, names)
    return [scores(one, names, without[one.session.project]) for one in some]


def scores(one: Weighed, names: Sequence[str], weights: Mapping[str, Vector]) -> Scores:
    rows = one.matrix(names)
    kept, over = (list(map(float, 1 / (1 + np.exp(-rows @ weights[head])))) for head in HEADS)
    return kept, over


def without_each(some: Sequence[Weighed], names: Sequence[str]) -> dict[str, dict[str, Vector]]:
    """For each project the weights that fit the others."""
    found = {}
    for project in sorted({one.session.project for one in some}):
        others = [one for one in some if one.session.project != project]
        found[project] = {head: fitted(others, names, head) for head in HEADS}
    return found


def calibration(some: Sequence[Weighed], held: Sequence[Scores]) -> list[tuple[float, float]]:
    """From what a candidate is worth to the share that was right, which never falls."""
    judged = [pair for one, scored in zip(some, held, strict=True) for pair in _judged(one, scored)]
    pooled: list[tuple[list[float], int, int]] = []  # steps, right ones, all: steps that would fall are one
    for low, high in zip(STEPS, (*STEPS[1:], 2.0), strict=True):
        of_step = [right for score, right in judged if low <= score < high]
        print(f"  score {low:.1f} and more: {sum(of_step)} of {len(of_step)} right")
        pooled.append(([low], sum(of_step), len(of_step)))
        while len(pooled) > 1 and pooled[-2][1] * pooled[-1][2] >= pooled[-1][1] * pooled[-2][2]:
            (lows, right, count), (more, more_right, more_count) = pooled[-2:]
            pooled[-2:] = [(lows + more, right + more_right, count + more_count)]
    return [(low, round(right / max(1, count), 2)) for lows, right, count in pooled for low in lows]


def _judged(one: Weighed, scored: Scores) -> Iterator[tuple[float, bool]]:
    """What each candidate of a session is worth, and whether it is right, if somebody said so."""
    session, (kept, over) = one.session, scored
    claims = session_claims.chosen_claims(one.words, kept, over.__getitem__)
    if isinstance(session, JudgedSession):
        labels = [(kept[at] - over[at], session.labels.get(one.words.statements[at].words)) for at, _ in claims]
        yield from ((score, label[0] in RIGHT) for score, label in labels if label)
        return
    left = list(session.items)
    for at, claim in claims:
        new = [item for item in session.found_in(f"{claim.statement} {claim.details}") if item in left]
        left = [item for item in left if item not in new]
        yield kept[at] - over[at], bool(new)


def all_sessions(folders: Sequence[str]) -> list[Weighed]:
    paths = [Path(folder) for folder in folders]
    read = (of(path) for path in paths for of in (labelled_sessions, judged_sessions))
    return [weighed(session) for sessions in read for session in sessions]


def main() -> None:
    some = all_sessions(sys.argv[1:])
    print(f"{len(some)} sessions, {sum(len(one.seen) for one in some)} statements; projects held out:")
    table = calibration(some, held_out(some))
    names = feature_names(some)
    rows = ["# Written by bench/memory/fit.py from labelled sessions; not to be edited by hand."]
    without = without_each(some, names)
    for head in HEADS:
        # Their mean sways less with the words of one project than weights that fit all of them at once.
        telling = {one.session.project for one in some if (one.right[head] >= 0).any()}
        mean = np.mean([without[project][head] for project in sorted(telling)], axis=0)
        pairs = [(name, f"{weight:.2f}") for name, weight in zip([*names, "bias"], mean, strict=True)]
        rows += ["", f"[{head}]", *(f"{name} {weight}" for name, weight in pairs if float(weight))]
    steps = [f"{low:g} {share:g}" for low, share in table]
    TARGET.write_text("\n".join([*rows, "", "[calibration]", *steps, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
