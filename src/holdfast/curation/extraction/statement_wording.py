"""Words a statement as something that holds: without its introduction, and without who did what and when.

"I switched to using GoReleaser's script, since …" becomes "Use GoReleaser's script, since …". Only shapes that lose
nothing are rewritten; the original words are kept as provenance. The patterns are in statement_wording.txt.
"""

from __future__ import annotations

from holdfast.curation.extraction.candidate_claim import bare, capital
from holdfast.patterns import TYPE_CHECKING, PatternFile

if TYPE_CHECKING:
    import re

_SHAPE = PatternFile(__file__)
_LEADS = 3  # introductions before a statement: "Good point — note: the fix: …"; a guess


def standing_words(text: str) -> str:
    """Returns the statement as it should be saved."""
    for _ in range(_LEADS):
        text = _SHAPE.lead.sub("", text.strip(), count=1)
    text = _SHAPE.i_did.sub(_as_order, text)
    text = _SHAPE.turned_into.sub(_as_is, text)
    for pattern, form in _SHAPE.pairs("rewritten").items():
        text = getattr(_SHAPE, pattern).sub(form, text)
    for pattern in _SHAPE.lines("dropped")[0].split():
        text = getattr(_SHAPE, pattern).sub("", text)
    return capital(bare(text))


def _as_order(found: re.Match[str]) -> str:
    """ "I kept the files" as "Keep the files"."""
    return _SHAPE.table("irregular").get(found["verb"].lower()) or _order(found["verb"].lower()) or found[0]


def _as_is(found: re.Match[str]) -> str:
    """ "Changed `load()` to read …" as "`load()` reads …"."""
    verb = found["verb"] or ""  # "so that it reads" says `does`
    ending = "es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s"
    third = f"{verb[:-1]}ies" if _SHAPE.consonant_y.search(verb) else f"{verb}{ending}"
    return f"{found['name']} {found['does'] or _SHAPE.table('irregular').get(f'to-{verb}', third)}"


def _order(past: str) -> str:
    """Returns the verb of a regular past form: added, moved, dropped, modified."""
    forms = (past[:-2], past[:-1], past[:-3], f"{past[:-3]}y") if past.endswith("ed") else ()
    return next((form for form in forms if form in _SHAPE.words("orders")), "")
