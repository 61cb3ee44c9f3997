"""The weights of the ranking: one set for every kind of record and question.

`bench/fit_recall.py` fits `WEIGHTS` and `GROUPED` (additional for searches for whole runs or sessions) and writes them
here. `PRIORS` are set by hand, small in comparison: approval, validity and past use; so is `MIXED`.
"""

from holdfast.patterns import text_beside

WEIGHTS = {
    "words": 2.82, "cover": 3.21, "named": 1.67, "pairs": 0.83, "beside": 0.83, "window": 2.43, "group": 0.76,
    "gcover": 0.13, "answer": 1.64, "states": 0.75, "speaker": 2.65, "date": 3.27, "near": 2.62, "files": 1.37,
    "rare": 1.15, "since": 2.48, "folder": 1.66, "recent": 1.01
}  # fmt: skip
GROUPED = {
    "turn": 1.00, "told": 2.18, "said": 1.50
}  # fmt: skip
PRIORS = {
    "trust": 0.3,
    "standing": 1.0,
    "kind": 3.0,
    "used": 0.4,
    "defines": 3.0,
    "placed": 6.0,
    "again": 1.0,
    "lifted": 1.0,
}
TRUST = {"T0": 1.0, "T1": 0.75, "T2": 0.5, "T3": 0.25}
STANDINGS = {
    **dict.fromkeys(("superseded", "expired", "retired", "stale"), -1.5),
    "in clash": -0.5,
    "from elsewhere, not approved here": -0.3,
}
_KINDS = [row.split() for row in text_beside(__file__, "ranking_kinds.txt").splitlines() if row[0] != "#"]
MIXED = {shape: {row[0]: float(row[at]) for row in _KINDS} for at, shape in enumerate(("words", "short", "names"), 1)}
