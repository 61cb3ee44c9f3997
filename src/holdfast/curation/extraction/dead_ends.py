"""Dead ends: approaches tried and dropped, with what showed that they lead nowhere."""

import re

from holdfast.curation.extraction.bars import content
from holdfast.curation.extraction.claim import Claim, Parts
from holdfast.patterns import regex

RULE = "dead end"
_LABEL = regex(r"^dead[- ]ends?\s*(?::|[–—-])\s*", re.IGNORECASE)
_TRIED = regex(
    r"^(?:(?:we|i)(?:'ve| have| had)?\s+)?(?:(?:first|initially|already|also|originally|previously"
    r"|once)\s+)?(?:tried|attempted)\s+"
    r"(?!to (?:run|open|read|find|fetch|push|commit|access|look|check|see|start|reach|call you|help|do"
    r"|install it)\b"
    r"|(?:run|open|read|find|fetch|push|committ?|access|look|check|start)ing\b|again\b|it\b|that\b|this\b"
    r"|both\b|everything\b)"
    r"(?P<what>.{4,160}?),?\s+(?:but|however|and (?:it |that |they )?(?:failed|broke|crashed|didn't"
    r"|did not|hung))\b\s*(?P<but>.*)$",
    re.IGNORECASE,
)
_WORKS_NOT = regex(
    r"^(?P<what>\S.{3,160}?) (?:didn't|did not|doesn't|does not|won't|will not|can't|cannot"
    r"|never) work(?:ed)?"
    r"(?: (?:here|there|for us|either|at all|well|reliably|out))?(?P<rest>.*)$",
    re.IGNORECASE,
)
_DROPPED = regex(
    r"^(?:(?:we|i)(?:'ve| have| had)?\s+)?(?P<how>reverted|rolled back|backed out|abandoned|gave up on"
    r"|given up on|dropped"
    r"|scrapped|ruled out|discarded|threw out)\s+(?P<what>\S.{3,160})$",
    re.IGNORECASE,
)
_WAS_DROPPED = regex(
    r"^(?P<what>\S.{3,160}?) (?:was|were|got|has been|had to be) (?:abandoned|reverted|rolled back|dropped"
    r"|rejected|ruled out"
    r"|scrapped|discarded)\b",
    re.IGNORECASE,
)
_IS = regex(
    r"^(?P<what>\S.{3,160}?) (?:is|was|proved|proved to be|turned out to be) a (?:complete )?dead end\b", re.IGNORECASE
)


def claim(parts: Parts, who: str) -> Claim | None:
    """The dead end a sentence tells of, if it tells of one."""
    sure = 0.8 if who == "user" else 0.65
    if found := _LABEL.match(parts.plain):
        return _claim(parts.after(found.end()), parts.why, sure)
    if found := _TRIED.match(_whole(parts)):
        return _tried(parts, found, sure)
    if found := _WORKS_NOT.match(parts.plain) or _WAS_DROPPED.match(parts.plain):
        return _claim(parts, parts.why, sure) if parts.why and _named(found) else None
    if found := _IS.match(parts.plain):
        return _claim(parts, parts.why, sure) if _named(found) else None
    if (found := _DROPPED.match(parts.plain)) and _named(found):
        firm = parts.why or (who == "user" and re.match(r"g|a|ruled|scrapped", found["how"], re.I))
        return _claim(parts, parts.why, sure) if firm else None
    return None


def _whole(parts: Parts) -> str:
    return parts.plain if len(parts.whole) == len(parts.text) else parts.plain + parts.whole[len(parts.text) :]


def _named(found: re.Match[str]) -> bool:
    """Whether what led nowhere is named, so that somebody who was not there knows what to leave alone."""
    return len(content(found["what"])) >= 1 and not re.match(
        r"(?:it|this|that|they|which|what|my|the (?:fix|change)|the (?:\S+ )?(?:attempt|try))\b", found["what"], re.I
    )


def _tried(parts: Parts, found: re.Match[str], sure: float) -> Claim | None:
    start, end = found.span("but")
    why = parts.why or parts.whole[start:end]
    telling = len(content(why)) >= 2
    if not _named(found) or (not telling and sure < 0.7):
        return None
    return Claim("dead-end", _told(parts), why, found["what"], RULE, sure if telling else 0.55)


def _told(parts: Parts) -> str:
    return parts.whole[:1].upper() + parts.whole[1:]


def _claim(parts: Parts, why: str, confidence: float) -> Claim:
    return Claim("dead-end", _told(parts), why, parts.plain, RULE, confidence)
