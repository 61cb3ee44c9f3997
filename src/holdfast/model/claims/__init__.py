"""Do two statements contradict each other, or say the same? Rules that need no model and no network.

    words -> numbers, modality, roles -> sentences -> reading -> rules (measures, stances, values)
          -> signs, topics (what excludes what) -> evidence, summed by weights -> compare

`conflict` and `same` compare two statements; `Neighbours` finds the few among many that are worth comparing.
All is measured on the labelled pairs in tests/curation/conflicts (`make bench ARGS=conflicts`), to which
`bench/fit_conflicts.py` fits the judge.
"""

from holdfast.model.claims.clauses import Statement, Verdict
from holdfast.model.claims.compare import SimilarStatements, conflict, same

__all__ = ["SimilarStatements", "Statement", "Verdict", "conflict", "same"]
