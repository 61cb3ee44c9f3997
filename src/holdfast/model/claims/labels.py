"""Texts that differ in a name only, another number or file: neither one claim nor a contradiction."""

from holdfast.model.claims.words import several, tokens
from holdfast.patterns import regex

_LABELS = several(
    """number part issue step fact item no chapter phase task ticket case example entry section id pr point
    rule figure question round note build run turn line record row page test"""
)
_EDGES = "`'\"“”.,;:!?()[]"
_PLACE = regex(r"[/_#@\\]|\w\.\w|^\.")


def labelled_apart(one: str, other: str) -> bool:
    """Whether two texts are word for word the same but for a number that only names: `part 1`, `issue 12`."""
    ours, theirs = tokens(one), tokens(other)
    if len(ours) != len(theirs):
        return False
    differ = [at for at in range(len(ours)) if ours[at].low != theirs[at].low]
    return bool(differ) and all(
        at and ours[at - 1].low in _LABELS and _numbers(ours[at].low, theirs[at].low) for at in differ
    )


def _numbers(one: str, other: str) -> bool:
    return one[:1].isdigit() and other[:1].isdigit()


def written_apart(one: str, other: str) -> bool:
    """Whether two texts name other files, paths or identifiers, or differ in just one plain word."""
    ours, theirs = ([word.strip(_EDGES).lower() for word in text.split()] for text in (one, other))
    if {word for word in ours if _PLACE.search(word)} != {word for word in theirs if _PLACE.search(word)}:
        return True
    a, b = tokens(one), tokens(other)
    if len(a) != len(b):
        return False
    return sum(x.stem != y.stem for x, y in zip(a, b, strict=True)) == 1
