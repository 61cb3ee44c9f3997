"""Finds claims worth remembering in the turns of a run: offline and deterministic.

`find_claims` reads the turns by rules; `ask_model` lets the user's own model propose and keeps only verified answers.
Both return candidates: nothing here approves, writes or decides.
"""

from holdfast.curation.extraction.claim_search import find_claims
from holdfast.curation.extraction.model_claims import ask_model
from holdfast.curation.extraction.statement_shapes import why_not

__all__ = ["ask_model", "find_claims", "why_not"]
