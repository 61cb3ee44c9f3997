"""The numbers of the ranking: one set for every kind of record and question.

`WEIGHTS` are fitted on held-out folds by `bench/fit_recall.py`, which writes them here. `PRIORS` are
set by hand, small beside them: what a person approved, what holds and what was of use before.
"""

WEIGHTS = {
    "words": 4.0,
    "cover": 1.2,
    "title": 0.3,
    "named": 2.0,
    "pairs": 1.0,
    "beside": 1.0,
    "window": 0.8,
    "group": 1.5,
    "gcover": 0.3,
    "answer": 1.0,
    "speaker": 2.0,
    "date": 2.0,
    "near": 2.0,
    "files": 1.6,
    "rare": 0.8,
    "since": 1.8,
    "folder": 2.0,
    "recent": 3.0,
}
PRIORS = {
    "trust": 0.3,
    "standing": 1.0,
    "kind": 3.0,
    "used": 0.4,
}
TRUST = {"T0": 1.0, "T1": 0.75, "T2": 0.5, "T3": 0.25}
STANDINGS = {
    "superseded": -1.0,
    "expired": -1.0,
    "retired": -1.0,
    "in clash": -0.5,
    "from elsewhere, not approved here": -0.3,
}
KINDS = {
    "memory": 1.0,
    "candidate": 0.0,
    "task": 0.3,
    "session": 0.15,
    "run": 0.1,
    "doc": 0.0,
    "code": 0.0,
    "event": 0.0,
}
