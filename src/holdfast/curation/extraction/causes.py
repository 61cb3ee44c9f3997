"""Root causes become facts: "root cause: …", "it turned out that …", "the bug was caused by …"."""

import re

from holdfast.curation.extraction.bars import content
from holdfast.curation.extraction.claim import Claim, Parts, bare
from holdfast.patterns import regex

RULE = "root cause"
_LABEL = regex(
    r"^(?:(?:i )?(?:found|identified) )?(?:(?:the|actual|real)\s+)*(?:root cause|underlying cause"
    r"|culprit)s?(?: analysis)?\s*(?::"
    r"|[–—-])\s*",
    re.I,
)
_WAS = regex(
    r"^the (?:(?:actual|real|underlying)\s+)?(?:root cause|cause"
    r"|culprit)(?: of (?P<of>[^,:]{3,80}?))? (?:is|was)(?: that)?:?\s+",
    re.I,
)
_TURNED = regex(r"^(?:it|as it)?\s*turn(?:s|ed) out(?: that|,)?\s+(?!to be\b|well\b|fine\b|ok)", re.IGNORECASE)
_TURNED_TO_BE = regex(r"^(?!it\b|this\b|that\b)\S.{2,120}? turned out to be\s+", re.IGNORECASE)
_PROBLEM = regex(
    r"^the (?:(?:actual|real|underlying|core|main)\s+)?(?:problem|issue|bug|failure|error|crash|hang|flake"
    r"|flakiness|regression)"
    r"(?: (?:with|in|of) (?P<of>[^,:]{3,80}?))? (?:was|is|comes|came)(?: simply| just| actually)?"
    r" (?:that|caused by|due to|because(?: of)?|from)\s+",
    re.IGNORECASE,
)
_REASON = regex(r"^the reason (?:why |that )?(?P<of>\S[^:]{6,120}?) (?:is|was)(?: that| because)\s+", re.IGNORECASE)
_HAPPENS = regex(
    r"^the (?:(?:actual|real)\s+)?(?:problem|issue|bug|failure|error|crash|hang|flake"
    r"|regression) (?:happens|occurs"
    r"|happened|occurred) because\s+",
    re.IGNORECASE,
)
_CAUSED = regex(
    r"^(?!it\b|this\b|that\b|they\b|which\b)\S.{6,140}? (?:was|is|were|are) (?:caused by|due to (?!be\b)"
    r"|the result of|triggered by)\s+",
    re.IGNORECASE,
)
_FAILED = regex(
    r"^(?!it\b|this\b|that\b|they\b)\S.{6,140}? (?:failed|broke|crashed|hung|timed out|was failing)$", re.IGNORECASE
)


def claim(parts: Parts, who: str) -> Claim | None:
    """The cause a sentence names, if it names one; a reason split off is part of it."""
    whole = parts.whole
    plain = parts.plain if len(whole) == len(parts.text) else parts.plain + whole[len(parts.text) :]
    for rule in (_LABEL, _WAS, _TURNED, _REASON, _PROBLEM, _HAPPENS):
        if found := rule.match(plain):
            return _claim(_cause(whole, found), plain[found.end() :], who, firm=rule not in (_PROBLEM, _HAPPENS))
    if _TURNED_TO_BE.match(plain) or _CAUSED.match(plain):
        return _claim(whole, plain, who, firm=False)
    if _FAILED.match(parts.plain) and parts.why and who == "user":
        return _claim(whole, plain, who, firm=False)
    return None


def _cause(whole: str, found: re.Match[str]) -> str:
    """The cause alone; with its subject, where the sentence named one that the cause needs."""
    rest = bare(whole[found.end() :])
    if found.groupdict().get("of") or len(content(rest)) < 3:
        return whole
    return whole if found.re.pattern == _WAS.pattern and re.match(r"an?\b", rest, re.I) else rest  # "a race" is no sentence


def _claim(text: str, plain: str, who: str, *, firm: bool) -> Claim | None:
    """The fact; what is held to account is the cause, not the words that lead to it."""
    if len(content(text)) < 3:
        return None
    confidence = (0.8 if who == "user" else 0.65) if firm else (0.75 if who == "user" else 0.55)
    return Claim("fact", bare(text)[:1].upper() + bare(text)[1:], "", plain, RULE, confidence)
