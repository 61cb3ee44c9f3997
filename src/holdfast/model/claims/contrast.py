"""Sentences that claim two things at once: this is used and that is not; this was tried and failed."""

from holdfast.model.claims.modality import DENIES
from holdfast.model.claims.words import Token, several
from holdfast.values import frozen, replace

AUX = several(
    """is are was were be been being am isn't aren't wasn't weren't must mustn't should shouldn't shall may
    might can can't cannot could couldn't will won't would wouldn't has have had hasn't haven't hadn't
    do does did don't doesn't didn't needn't need needs ought it's there's cant isnt arent doesnt dont"""
)
BE = several("is are was were be been being am isn't aren't wasn't weren't isnt arent")
WE = several("we you i they one everybody everyone nobody people let's")


@frozen
class Part:
    """The words that claim one thing, and how they stand to each other."""

    words: tuple[Token, ...]
    verb: int = -1  # where the verb stands; -1 if there is none
    passive: bool = False
    imperative: bool = False
    condition: tuple[Token, ...] = ()
    refused: bool = False
    value: frozenset[int] = frozenset()  # where the refused value stands
    only: bool = False
    tried: bool = False


def apposed(words: tuple[Token, ...]) -> list[Part]:
    """`… Tecton, our feature store` says also what the feature store is."""
    for at in range(1, len(words) - 2):
        if words[at].low == "," and words[at + 1].low in ("our", "the") and words[at - 1].raw[:1].isupper():
            named = words[at + 2 : at + 5]
            return [Part((*named, _IS, words[at - 1]), len(named))]
    return []


_IS = Token(":", ":", ":", "mark")


def contrasted(part: Part) -> list[Part]:
    """The part; or, where it sets one thing against another, the part without it and what is refused."""
    words = part.words
    if switched := _switched(part):
        return switched
    for at in range(1, len(words)):
        size = _contrast(words, at)
        if size:
            return _both(part, at, size)
    return [part]


def _switched(part: Part) -> list[Part]:
    """`moved from X to Y`, `replaced X with Y`: Y is used, X no longer is."""
    lows = [word.low for word in part.words]
    moved = next((at for at, low in enumerate(lows) if low in _MOVES), -1)
    if moved < 0 or any(low in DENIES for low in lows):
        return []
    start = lows.index("from", moved) + 1 if "from" in lows[moved:] else moved + 1
    if lows[moved].startswith("replac") == ("from" in lows[moved:]):
        return []
    end = next((at for at in range(start, len(lows)) if lows[at] in ("to", "into", "with", "by")), -1)
    if not start < end < len(lows) - 1:
        return []
    used, rest = part.words[end + 1 :], part.words[:moved] if lows[0] not in WE else ()
    new = replace(part, words=(*rest, _USE, *used), verb=len(rest), imperative=not rest, passive=False)
    value = frozenset(range(len(rest) + 1, len(rest) + 1 + end - start))
    old = replace(new, words=(*rest, _USE, *part.words[start:end]), refused=True, value=value)
    return [new, old]


_MOVES = several("moved switched migrated replaced replace move switch migrate replaces moving switching")
_USE = Token("use", "use", "use", "word")


def _contrast(words: tuple[Token, ...], at: int) -> int:
    """How many words introduce what is refused here; 0 if none do."""
    low, following = words[at].low, words[at + 1].low if at + 1 < len(words) else ""
    if (low, following) in (("instead", "of"), ("rather", "than"), ("as", "opposed")):
        return 2 + (following == "opposed")
    if low == "," and following == "not" and at + 2 < len(words) and words[at + 2].low not in ("only", "just", "even"):
        return 2
    if low == "over" and any(word.low.startswith(("prefer", "favo", "choose", "chose")) for word in words[:at]):
        return 1
    return 0


def _both(part: Part, at: int, size: int) -> list[Part]:
    words = part.words
    end = at + size
    while (
        end < len(words)
        and words[end].kind != "mark"
        and words[end].low not in ("in", "for", "on", "as", "when", "with")
    ):
        end += 1
    start = at
    while (
        start > 0
        and words[start - 1].kind == "word"
        and words[start - 1].low not in _STOPS_VALUE
        and start - 1 > part.verb
    ):
        start -= 1
    kept = replace(part, words=words[:at] + words[end:])
    refused = words[at + size : end]
    if not refused:
        return [kept]
    value = frozenset(range(start, start + len(refused)))
    other = replace(part, words=words[:start] + refused + words[end:], refused=True, value=value)
    return [kept, other]


_STOPS_VALUE = several("in on at with via through as from to by for of use using be is are prefer") | AUX


def tried(found: list[Part]) -> list[Part]:
    """What a dead end says was tried, as something not to be done again."""
    if not found:
        return []
    words = [word for word in found[0].words if word.low not in _TRYING and word.low not in DENIES]
    for at, word in enumerate(words):
        if at > 1 and (word.low in _FAILED or word.low in (":", ",") or word.low in BE):
            words = words[:at]
            break
    everything = frozenset(range(len(words)))
    return [Part(tuple(words), imperative=True, refused=True, tried=True, value=everything)] if words else []


_TRYING = several("tried trying attempted attempting attempt we using switching moving approach")
_FAILED = several(
    """failed fails fail broke breaks broken slower slow worse corrupts corrupted crashed crashes leaked
    leaks deadlocks deadlocked caused causes made makes led leads did does didn't doesn't turned gave
    hit ran cost costs lost loses dropped reverted was were had hung hangs blew"""
)
