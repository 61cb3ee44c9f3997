"""A claim that a rule finds in a sentence, and the check whether it is clear on its own.

A rule says what a sentence claims. This module splits off the reason, words the statement, and decides whether a reader
who was not there can use it. If in doubt, it is dropped: a missing memory costs less than a wrong one. The patterns are
in candidate_claim.txt.
"""

from __future__ import annotations

from holdfast.model.utterance import MAX_STATEMENT, MAX_WHY, MIN_RULE, MIN_STATEMENT
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.curation.extraction.turn_sentences import Sentence

_SHAPE = PatternFile(__file__)


@frozen
class SentenceClaim:
    """The claim of a sentence, before the check of `may_stand`."""

    kind: str
    statement: str
    why: str
    main: str  # the part of the sentence that `may_stand` judges, with code and quotations crossed out
    rule: str
    confidence: float


@frozen
class SentenceParts:
    """A sentence as rules read it: the claim, its reason, and the claim with code crossed out."""

    text: str
    plain: str
    why: str
    whole: str

    def after(self, at: int) -> SentenceParts:
        """Returns the same sentence from this position."""
        return SentenceParts(self.text[at:].strip(), self.plain[at:].strip(), self.why, self.whole[at:].strip())

    def plain_whole(self) -> str:
        """Returns the claim with code crossed out, and its reason unchanged."""
        return self.plain + self.whole[len(self.text) :]

    def claim(self, kind: str, rule: str, confidence: float, *, text: str = "", main: str = "") -> SentenceClaim:
        """Returns the claim of this sentence, in its own words unless `text` gives better ones."""
        return SentenceClaim(kind, standing(text or self.text, self), self.why, main or self.plain, rule, confidence)


def parts(sentence: Sentence) -> SentenceParts:
    """Returns the claim and its reason; a claim that is too short without its reason keeps it."""
    text, plain = sentence.text, sentence.plain
    if found := _SHAPE.reason.search(plain, min(8, len(plain))):
        at, why = found.start(), text[found.end() :]
    else:
        purpose = _SHAPE.purpose.search(plain)
        at, why = len(text), text[purpose.start() :] if purpose else ""
    return SentenceParts(bare(text[:at]), bare(plain[:at]), bare(why)[:MAX_WHY], bare(text))


def bare(text: str) -> str:
    """Returns text without its final punctuation."""
    return _SHAPE.tail.sub("", text.strip())


def standing(text: str, read: SentenceParts) -> str:
    """Returns the statement with a capital, and with its reason if it is too short alone."""
    chosen = bare(text)
    if len(chosen) < MIN_STATEMENT:
        chosen += read.whole[len(read.text) :]
    return capital(chosen) if chosen[1:2] != "(" else chosen


def capital(text: str) -> str:
    """Returns the text with a capital, unless it starts with a name of code."""
    first = text.split(" ", 1)[0].rstrip(".:,")
    return text if _SHAPE.code_name.search(first) else text[:1].upper() + text[1:]


def fits(statement: str, *, rule: bool = False) -> bool:
    """Whether a statement has the length of one claim; a person's `rule` may be as short as "Never retry a POST"."""
    least = MIN_RULE if rule and statement.startswith("Never ") else MIN_STATEMENT
    return least <= len(statement) <= MAX_STATEMENT


def may_stand(claim: SentenceClaim, who: str, *, corrected: bool = False) -> bool:
    """Whether a claim is clear on its own; a user's correction may start like chat."""
    if not fits(claim.statement, rule=who == "user" and claim.kind == "invariant"):
        return False
    if _SHAPE.barred.search(claim.main) or (not corrected and _SHAPE.hearsay.search(claim.main)):
        return False
    return len(content(claim.statement)) >= 2


def content(text: str) -> frozenset[str]:
    """Returns the words that carry the topic of a text, in lower case and without a plural's s."""
    words = (word.casefold().rstrip(".") for word in _SHAPE.word.findall(text.replace("`", " ")))
    common = _SHAPE.words("function_words")
    return frozenset(_singular(word) for word in words if word not in common)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
