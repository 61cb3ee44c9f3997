"""Do two statements contradict each other, or say the same? Rules that need no model and no network.

    vocabulary -> word_stems -> numbers, modality, roles -> sentences -> clauses -> contradiction_rules
               -> topics (what excludes what) -> features -> compare

`conflict` and `same` compare two statements; `SimilarStatements` finds the few among many that are worth comparing.
The result is measured on the labelled pairs in tests/curation/conflicts (`make bench ARGS=conflicts`), to which
`bench/fit_conflicts.py` fits the judge. Importing this package reads its tables: import it through `LazyModule`.
"""

from holdfast.model.claims.clauses import Statement, Verdict
from holdfast.model.claims.compare import SimilarStatements, conflict, same

__all__ = ["SimilarStatements", "Statement", "Verdict", "conflict", "same"]
