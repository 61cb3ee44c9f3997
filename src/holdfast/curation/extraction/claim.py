"""What a rule gives, and what all rules share: the reason split off, the statement made to stand alone."""

import re

from holdfast.curation.extraction.prose import Sentence
from holdfast.model.said import MAX_STATEMENT, MAX_WHY, MIN_RULE, MIN_STATEMENT
from holdfast.patterns import regex
from holdfast.values import frozen


@frozen
class Claim:
    """What a sentence claims, before anybody asked whether it may stand."""

    kind: str
    statement: str
    why: str
    main: str  # the sentence without its reason, code and quotations crossed out: it is held to account
    rule: str
    confidence: float


@frozen
class Parts:
    """A sentence as rules read it: the claim, its reason, and the claim with code crossed out."""

    text: str
    plain: str
    why: str
    whole: str

    def after(self, at: int) -> "Parts":
        """The same sentence from here on."""
        return Parts(self.text[at:].strip(), self.plain[at:].strip(), self.why, self.whole[at:].strip())


_REASON = regex(
    r",?;?\s+(?:because(?: of)?|since(?!\s+(?:\d|then|last|yesterday|v\d))|as otherwise|otherwise"
    r"|or else|so that"
    r"|due to(?! be)"
    r"|given that|the reason (?:is|being)(?: that)?)\b[:,]?\s+"
    r"|\s+[–—-]{1,3}\s+(?=(?:it|they|this|that|the|we|otherwise|because|since|there|our|a|an|else)\b)"
    r"|\s+—\s+(?!(?:use|but|instead|rather|not)\b)(?=(?:\S+\s+){4,})"
    r"|(?<=work):\s+|(?<=work here):\s+|(?<=a dead end):\s+|\.?\s+\(?reason:\s+",
    re.IGNORECASE,
)
_PURPOSE = regex(r"\b(?:to (?:avoid|prevent|keep|protect)|which (?:breaks|causes|prevents))\b", re.IGNORECASE)
_TAIL = regex(r"[\s.,;:!–—-]+$")


def parts(sentence: Sentence) -> Parts:
    """The claim and its reason; a claim too short without its reason keeps it."""
    found = _REASON.search(sentence.plain, min(8, len(sentence.plain)))
    if found is None:
        why = sentence.text[purpose.start() :] if (purpose := _PURPOSE.search(sentence.plain)) else ""
        return Parts(bare(sentence.text), bare(sentence.plain), bare(why)[:MAX_WHY], bare(sentence.text))
    at, why = found.start(), bare(sentence.text[found.end() :])
    return Parts(bare(sentence.text[:at]), bare(sentence.plain[:at]), why[:MAX_WHY], bare(sentence.text))


def bare(text: str) -> str:
    """Text without the punctuation it ends in."""
    return _TAIL.sub("", text.strip())


def standing(text: str, read: Parts) -> str:
    """The statement as it will stand: with a capital, and with its reason if it is too short alone."""
    chosen = bare(text)
    if len(chosen) < MIN_STATEMENT:
        chosen += read.whole[len(read.text) :]
    return chosen[:1].upper() + chosen[1:] if chosen[1:2] != "(" else chosen


def fits(statement: str, *, rule: bool = False) -> bool:
    """Whether a statement has the length of one claim; a person's `rule` is whole as "Never retry a POST"."""
    least = MIN_RULE if rule and statement.startswith("Never ") else MIN_STATEMENT
    return least <= len(statement) <= MAX_STATEMENT
