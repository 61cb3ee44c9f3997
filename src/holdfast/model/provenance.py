"""Where a candidate comes from: which run, session or file, which turn or line of it, and in which words.

Written on one line as `run:20261115T194200Z-abc123#3 the very words`, so that a reviewer can look it up.
"""

import re

from holdfast.errors import BadInput
from holdfast.patterns import regex
from holdfast.values import frozen

MAX_WORDS = 2000
_SOURCE = regex(r"(?:run|session|file|commit|agent):\S.*|person(?::.+)?|curate")
_FORM = regex(r"(?P<source>(?:[^\s#]|#(?!\d+(?:\s|$)))+)(?:#(?P<turn>\d{1,9}))?(?: (?P<words>.*))?", re.DOTALL)


@frozen
class Provenance:
    """One place where something was said or shown."""

    source: str  # run:<id>, session:<id>, file:<path>, commit:<oid>, person:<name>, agent:<name> or curate
    turn: int | None = None  # of a run or session; of a file, the line
    words: str = ""  # verbatim, on one line

    def __str__(self) -> str:
        place = _spelled(self.source) + ("" if self.turn is None else f"#{self.turn}")
        return f"{place} {' '.join(self.words.split())[:MAX_WORDS]}".strip()


def parse(text: str) -> Provenance:
    """What a line says; BadInput if it is none."""
    found = _FORM.fullmatch(text)
    source = "" if found is None else found["source"].replace("%20", " ").replace("%25", "%")
    if found is None or not _SOURCE.fullmatch(source):
        raise BadInput(f"provenance {text[:80]!r} names no run, session, file or person")
    return Provenance(source, int(found["turn"]) if found["turn"] else None, found["words"] or "")


def _spelled(source: str) -> str:
    """A source without spaces: the first one ends it."""
    return re.sub(r"\s", "%20", source.replace("%", "%25"))
