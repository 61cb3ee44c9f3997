"""What may be worth remembering of a run, from what was said and done: offline, and the same every time.

`found` reads the turns by rules, one small module each; `asked` lets the user's own model propose and takes
only what verifies. Both give candidates: nothing here approves, writes or decides.
"""

from holdfast.curation.extraction.asking import asked
from holdfast.curation.extraction.finding import Look, found, look

__all__ = ["Look", "asked", "found", "look"]
