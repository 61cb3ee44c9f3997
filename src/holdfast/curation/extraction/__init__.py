"""What may be worth remembering of a run, from what was said and done: offline, and the same every time.

`found` reads the turns by rules, one small module each; `asked` lets the user's own model propose and takes
only what verifies. Both give candidates: nothing here approves, writes or decides.
"""

from holdfast.curation.extraction.claim_search import ExtractionResult, find_claims, search_run
from holdfast.curation.extraction.model_claims import ask_model

__all__ = ["ExtractionResult", "ask_model", "find_claims", "search_run"]
