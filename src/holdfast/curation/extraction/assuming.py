"""Assumptions: "assumption: …", "we assume that … unless …", "assuming X, …"."""

import re

from holdfast.curation.extraction.claim import Claim, Parts, standing
from holdfast.patterns import regex

RULE = "assumption"
_LABEL = regex(
    r"^(?:(?:key|our|the|my|working)\s+)*assumptions?\s*:\s*|^(?:one|an|the|our|my|another"
    r"|key) assumption (?:here )?is(?: that)?\s+",
    re.IGNORECASE,
)
_ASSUME = regex(
    r"^(?:here |for this |(?:the|this) (?:code|design|test|script|parser|plan|module|implementation) )?"
    r"(?:i|we|i'm|we're|i am|we are)?\s*(?:assum(?:e|es|ing|ed))(?: here)?(?: that)?\s+",
    re.IGNORECASE,
)
_ASSUMING = regex(r"^assuming(?: that)?\s+(?P<what>[^,]{12,200}),\s", re.IGNORECASE)
_TO_YOU = regex(
    r"\b(?:you|your|you're|you've|you'd|i'm|i am|i've)\b|^(?:the worst|the best|good|so|not|full"
    r"|responsibility|nothing|all goes)\b"
    r"|^(?:the )?tests? (?:pass|passes|still pass)|^(?:it|that|this|they|he|she|everything|all|there)\b"
    r"|\b(?:looks good|is ok|is fine)\b",
    re.IGNORECASE,
)


def claim(parts: Parts, who: str) -> Claim | None:
    """The assumption a sentence states, if it states one."""
    sure = 0.75 if who == "user" else 0.6
    if found := _LABEL.match(parts.plain):
        return _claim(parts.after(found.end()), sure)
    if found := _ASSUMING.match(parts.plain):
        start, end = found.span("what")
        return _claim(
            Parts(parts.text[start:end], parts.plain[start:end], parts.why, parts.text[start:end]), sure - 0.05
        )
    if (found := _ASSUME.match(parts.plain)) and not found[0].lower().startswith("assuming"):
        return _claim(parts.after(found.end()), sure)
    if found := re.match(r"^assuming(?: that)?\s+", parts.plain, re.IGNORECASE):
        return _claim(parts.after(found.end()), sure - 0.1)
    return None


def _claim(parts: Parts, confidence: float) -> Claim | None:
    if _TO_YOU.search(parts.plain):
        return None
    return Claim("assumption", standing(parts.text, parts), parts.why, parts.plain, RULE, confidence)
