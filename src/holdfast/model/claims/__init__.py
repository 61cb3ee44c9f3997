"""Do two statements contradict each other, or say the same? Rules that need no model and no network.

    vocabulary -> word_stems -> numbers, modality -> sentences -> clauses -> alignment
               -> topics (what excludes what) -> features -> outright -> compare

`conflict`, `same` and `looks_like` compare two statements; `SimilarStatements` finds the few worth comparing.
The result is measured on the labelled pairs in tests/curation/conflicts (`make bench ARGS=conflicts`), to which
`bench/fit_conflicts.py` fits the judge. Importing this package reads its tables: import it through `LazyModule`.
"""

from holdfast.model.claims.clauses import Statement, Verdict
from holdfast.model.claims.compare import SimilarStatements, conflict, looks_like, same

__all__ = ["SimilarStatements", "Statement", "Verdict", "conflict", "looks_like", "same"]
