"""Fit the weights of `curation/extraction/statement_score.py` to labelled sessions.

    python -m bench.memory.fit FOLDER    # prints how well they do on projects held out, writes statement_weights.txt

A sum of weights, small ones preferred. A statement counts as right if it says one of the session's items. The table
from score to confidence comes from projects that the weights had not seen.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.memory.labelled import LabelledSession, labelled_sessions
from holdfast.curation import extraction
from holdfast.curation.extraction import session_claims, session_statements, statement_score
from holdfast.curation.extraction.session_statements import SessionWords
from holdfast.curation.extraction.withdrawn_words import WithdrawnWords, own_words
from holdfast.model.utterance import Utterance

TARGET = Path(extraction.__file__).with_name("statement_weights.txt")
# What is known of sources from other sessions than these: commit messages and agents' own memory files are nearly
# always right, words on the way seldom, but for why a command failed. Weights are held back towards this, all others
# towards nought.
KNOWN = {"from commit": 0.7, "from memory": 1.0, "from request": 0.3, "from said": -0.5, "from lesson": 0.8}
SMALL = 10.0  # how much large weights are held back; 5 and 20 do as well
STEPS = (0.0, 0.4, 0.5, 0.6, 0.7)  # scores between which confidence is the same
Vector = NDArray[np.float64]


@dataclass
class Weighed:
    """A session's statements with what is seen of each, and which are right."""

    session: LabelledSession
    words: SessionWords
    seen: list[dict[str, float]]
    right: Vector

    def matrix(self, names: Sequence[str]) -> Vector:
        rows = [[one.get(name, 0.0) for name in names] + [1.0] for one in self.seen]
        return np.array(rows).reshape(len(rows), len(names) + 1)


def weighed(session: LabelledSession) -> Weighed:
    """The statements of a session that may stand."""
    turns = [own_words(turn) for turn in session.heard if isinstance(turn, Utterance)]
    withdrawn = WithdrawnWords(turns)
    every = (one for one in session_statements.statements(turns) if session_claims.may_stand(one))
    told = [one for one in every if not withdrawn.hold(one.turn, one.who, one.words)]
    words = SessionWords(turns, told)
    seen = [statement_score.features(one, number, words) for number, one in enumerate(told)]
    right = np.array([float(bool(session.found_in(one.told))) for one in told])
    return Weighed(session, words, seen, right)


def fitted(some: Sequence[Weighed], names: Sequence[str]) -> Vector:
    """The weights that fit these sessions, and the bias."""
    rows, right = np.vstack([one.matrix(names) for one in some]), np.concatenate([one.right for one in some])
    held = SMALL * np.append(np.ones(len(names)), 1e-6)
    known = np.array([KNOWN.get(name, 0.0) for name in names] + [0.0])
    sizes: Counter[str] = Counter()
    for one in some:
        sizes[one.session.project] += len(one.right)
    # Most sessions are of one project: without this its way to talk would be taken for everybody's.
    each = [(sizes.total() / len(sizes) / sizes[one.session.project]) ** 0.5 for one in some]
    counts = np.repeat(each, [len(one.right) for one in some])
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


def feature_names(some: Sequence[Weighed]) -> list[str]:
    return sorted({name for one in some for seen in one.seen for name in seen})


def held_out(some: Sequence[Weighed]) -> list[list[float]]:
    """For each session the scores of its statements, by weights that saw no session of its project."""
    names = feature_names(some)
    without = without_each(some, names)
    return [list(1 / (1 + np.exp(-one.matrix(names) @ without[one.session.project]))) for one in some]


def without_each(some: Sequence[Weighed], names: Sequence[str]) -> dict[str, Vector]:
    """For each project the weights that fit the others."""
    projects = sorted({one.session.project for one in some})
    return {project: fitted([one for one in some if one.session.project != project], names) for project in projects}


def calibration(some: Sequence[Weighed], scores: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """From a score to the share of candidates that were right, which never falls."""
    judged: list[tuple[float, bool]] = []
    for one, scored in zip(some, scores, strict=True):
        left = list(one.session.items)
        for chosen, claim in session_claims.chosen_claims(one.words, scored, least=0.3):
            new = [item for item in one.session.found_in(f"{claim.statement} {claim.details}") if item in left]
            judged.append((scored[chosen], bool(new)))
            left = [item for item in left if item not in new]
    table, best = [], 0.0
    for low, high in zip(STEPS, (*STEPS[1:], 2.0), strict=True):
        some_judged = [right for score, right in judged if low <= score < high]
        best = max(best, sum(some_judged) / max(1, len(some_judged)))
        table.append((low, round(best, 2)))
        print(f"  score {low:.1f} and more: {sum(some_judged)} of {len(some_judged)} right")
    return table


def main() -> None:
    some = [weighed(session) for session in labelled_sessions(Path(sys.argv[1]))]
    print(f"{len(some)} sessions, {sum(len(one.seen) for one in some)} statements; projects held out:")
    table = calibration(some, held_out(some))
    names = feature_names(some)
    # Their mean sways less with the words of one project than weights that fit all of them at once.
    mean = np.mean(list(without_each(some, names).values()), axis=0)
    rows = [f"{name} {weight:.2f}" for name, weight in zip([*names, "bias"], mean, strict=True)]
    rows = [row for row in rows if not row.endswith((" 0.00", " -0.00"))]
    head = "# Written by bench/memory/fit.py from labelled sessions; not to be edited by hand."
    steps = [f"{low:g} {share:g}" for low, share in table]
    TARGET.write_text("\n".join([head, "", "[weights]", *rows, "", "[calibration]", *steps, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
