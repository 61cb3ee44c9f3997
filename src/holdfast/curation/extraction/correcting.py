"""Corrections: what a user says when an agent went wrong, most often first.

Nothing is said more plainly, and nothing is more tiring to say twice.
"""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing
from holdfast.model.said import MIN_STATEMENT
from holdfast.patterns import regex

RULE = "correction"
_NO = regex(
    r"^(?:(?:no(?: no)*|nope|nah|wrong|stop|hold on|wait|hey|sorry|ugh|actually|incorrect|not quite"
    r"|that's (?:wrong|not (?:right|correct|it))"
    r"|(?:that|this) is wrong)(?:\s*[,:;.!…]+|\s+[-–—]+)\s*|actually\s+|no\s+(?=(?:use|don't|do not|we"
    r"|never|always)\b)"
    r"|(?:as )?i (?:already )?(?:said|told you|asked you|asked)(?: before)?(?: to| that)?(?:\s*[,:]\s*"
    r"|\s+))+",
    re.IGNORECASE,
)
_PLAIN_NO = regex(  # said in the midst of a turn: nothing weaker
    r"^(?:no(?: no)*|nope|nah|wrong|that's wrong)(?:\s*[,:;!…]+|\s+[-–—]+)\s*"
    r"(?!(?:not|no) (?:now|yet|need)\b)",
    re.IGNORECASE,
)
_ONLY_NO = regex(
    r"^(?:no|nope|nah|wrong|stop|wait|actually|incorrect|not quite|that's (?:wrong|not right"
    r"|not correct))[\s,.!]*$",
    re.I,
)
_ORDER = regex(
    r"^(?:please\s+)?(?:(?:you|we|it|they)\s+)?(?:(?:should|must|need to|have to)\s+)?(?:use|keep|write"
    r"|put|name|call"
    r"|prefer|stick|store|never|always|don't|do not|must|only|avoid|let's (?:use|keep|go with|not)|want"
    r"|i (?:want|prefer)"
    r"|go with|switch to|no|not to)\b",
    re.IGNORECASE,
)
_NOT_BUT = regex(r"^not\s+(?P<x>[^,]{2,80}),\s*(?:but\s+|use\s+|it's\s+)?(?P<y>\S.{2,160})$", re.IGNORECASE)
_STOP = regex(r"^(?:please\s+)?stop\s+\w+ing\b", re.IGNORECASE)
_DONT = regex(
    r"^(?:please\s+)?(?:do not|don't)\s+\w.{3,140}?(?:[,;]\s*|\s+and\s+|\s+)(?:instead|use|but use"
    r"|rather)\b|^instead of .{3,120}?, (?:use|do|write|call)\b",
    re.IGNORECASE,
)
_CONTRAST = regex(r"(?:,| and) not\b|\b(?:instead of|rather than|instead)\b", re.IGNORECASE)
_OF_SELF = regex(
    r"^(?:i|i'm|i'll|let me|never mind|don't worry|no (?:worries|problem))\b(?! (?:want"
    r"|prefer))",
    re.IGNORECASE,
)
_DUTY = regex(r"\b(?:must|should|has to|have to|needs to|is supposed to)\b", re.IGNORECASE)
_RULING = regex(
    r"\b(?:never|always|do not|don't|must|must not|only|we don't|avoid|stop|let's not|not to)\b", re.IGNORECASE
)


def is_bare_no(plain: str) -> bool:
    """Whether a sentence only says no: the correction is the next one."""
    return _ONLY_NO.match(plain) is not None


def within(parts: Parts) -> Claim | None:
    """What a user corrects later in a turn: only after a plain no, and with what to do or to leave alone."""
    found = _PLAIN_NO.match(parts.plain)
    if found is None:
        return None
    plain = parts.plain[found.end() :]
    directs = _NOT_BUT.match(plain) or _DONT.match(plain) or (_ORDER.match(plain) and _CONTRAST.search(plain))
    return claim(parts, after_no=False) if directs else None


def claim(parts: Parts, *, after_no: bool) -> Claim | None:
    """What a user corrects at the start of a turn."""
    found = _NO.match(parts.plain)
    said = parts.after(found.end()) if found else parts
    plain = said.plain
    if _NOT_BUT.match(plain):
        return _swapped(said)
    if _STOP.match(plain) or _DONT.match(plain):
        return _claim(said, 0.9)
    if (found or after_no) and not _OF_SELF.match(plain):
        directs = _ORDER.match(plain) or _CONTRAST.search(plain) or _DUTY.search(plain)
        return _claim(said, 0.9) if directs else None
    return None


def _placed(text: str, said: Parts) -> str:
    """The statement; a short one ("Use pnpm, not npm") says where it holds."""
    alone = standing(text, said)
    return alone if len(alone) >= MIN_STATEMENT else f"{alone} in this project"


def _swapped(said: Parts) -> Claim | None:
    """ "not X, use Y" reads better as "Use Y, not X"."""
    found = _NOT_BUT.match(said.plain)
    assert found is not None
    x, y = (said.text[slice(*found.span(name))] for name in ("x", "y"))
    y = re.sub(r",?\s+please$", "", y, flags=re.IGNORECASE)
    return Claim("decision", _placed(f"use {y}, not {x}", said), said.why, said.plain, RULE, 0.9)


def _claim(said: Parts, confidence: float) -> Claim:
    text = re.sub(r"^(?:please\s+|let's\s+(?=use|keep|go))", "", said.text, flags=re.IGNORECASE)
    text = re.sub(r"^not to\s+", "do not ", text, flags=re.IGNORECASE)
    kind = "invariant" if _RULING.search(said.plain[:40]) and not _CONTRAST.search(said.plain) else "decision"
    return Claim(kind, _placed(text, said), said.why, said.plain, RULE, confidence)
