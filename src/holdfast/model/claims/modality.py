"""What a sentence does to what it speaks of: asserts it, denies it, permits it, or leaves it open.

    YES   it is so, or must be so          NO    it is not so, or must not be
    MAY   it may be so                     OPT   it need not be so

YES opposes NO and OPT, NO opposes YES and MAY; the rest can stand together. Denials are counted, so that
"not without" asserts.
"""

from holdfast.model.claims.vocabulary import word_list
from holdfast.model.claims.word_stems import Token, several
from holdfast.values import frozen

YES, NO, MAY, OPT = "yes", "no", "may", "opt"
CONTRARY = frozenset(((YES, NO), (NO, YES), (NO, MAY), (MAY, NO), (YES, OPT), (OPT, YES)))
FLIPPED = {YES: NO, NO: YES, MAY: OPT, OPT: MAY}
_NEGATED = {NO: YES, YES: NO, MAY: NO, OPT: YES}

DENIES = several(word_list("modality.denies"))
# Said of a thing itself they deny it; with a time or a reason they only tell what happens to it.
_ENDED = several("""abandoned discontinued dropped scrapped retired gone drop removed obsolete ditched broken""")
_WHEN = several("within after when once before if from by until every during automatically via in to")
_PERMITS = several(word_list("modality.permits"))
_DEMANDS = several(word_list("modality.demands"))
_OPEN = several("optional optionally voluntary needn't unnecessary")
_STRONG = several("must should shall always ought")
_COUNTING = several("more less fewer later longer-than earlier older")


@frozen
class Mood:
    """A stance, and the place after which lies what it denies or leaves open (-1: it denies its subject)."""

    stance: str
    after: int


def mood(words: tuple[Token, ...]) -> Mood:
    """The stance of one clause."""
    lows = [word.low for word in words]
    places = [at for at in range(len(lows)) if _is_denial(lows, at) or _keeps_out(lows, at)]
    places += [at for at in range(len(lows) - 1) if lows[at : at + 2] == ["free", "of"]]
    after = places[-1] if places else -1
    stance = _base(lows)
    if _leaves_open(lows, places):
        return Mood(OPT, max([after, *(at for at, low in enumerate(lows) if low in _DEMANDS | _OPEN)]))
    if len(places) % 2 and stance == MAY and lows[places[-1]] in _LEXICAL:
        return Mood(OPT, after)
    if len(places) % 2:
        stance = NO if stance == MAY else _NEGATED[stance]
    elif places and stance == MAY:
        stance = YES
    return Mood(stance, after)


# Denials within what is permitted: `may ship without tests`, `may skip staging`.
_LEXICAL = several("without skip skips skipped bypass omit omitted avoid")


def _keeps_out(lows: list[str], at: int) -> bool:
    """`keep secrets out of the logs`."""
    keeps = {"keep", "keeps", "kept", "leave", "stay", "stays"}
    return lows[at : at + 2] == ["out", "of"] and not keeps.isdisjoint(lows[:at])


def _base(lows: list[str]) -> str:
    if any(low in _STRONG for low in lows):
        return YES
    if any(low in _OPEN for low in lows):
        return OPT
    return MAY if any(low in _PERMITS for low in lows) else YES


def denies(words: tuple[Token, ...], at: int) -> bool:
    """Whether the word at this place denies here (`removed` does not always)."""
    return _is_denial([word.low for word in words], at)


def _is_denial(lows: list[str], at: int) -> bool:
    low, following = lows[at], lows[at + 1] if at + 1 < len(lows) else ""
    if low not in DENIES:
        return False
    if low == "not" and following in ("only", "just", "least", "necessarily", "even"):
        return False
    if low in ("no", "not") and following in _COUNTING and at + 2 < len(lows) and lows[at + 2] == "than":
        return False
    if low == "nothing" and following in ("else", "but"):
        return False
    if low == "stop":
        return at == 0
    if low in ("stopped", "stops"):
        return following.endswith("ing")
    if low == "broken":
        return any(before in ("is", "are", "was", "were") for before in lows[:at])
    if low in _ENDED:
        return _ends(lows, at) and not any(before in DENIES - _ENDED for before in lows[max(0, at - 3) : at])
    return True


_TELLING = several("is are was were been be we has have will")


def _ends(lows: list[str], at: int) -> bool:
    """Whether it is said of the whole subject and is done: `was dropped`, not `is dropped after 3 tries`."""
    past = any(low in ("was", "were", "been", "we") for low in lows[:at])
    if any(low in _WHEN and not (past and low == "in") for low in lows[at + 1 :]):
        return False
    return at == 0 or not _TELLING.isdisjoint(lows[:at])


def _leaves_open(lows: list[str], places: list[int]) -> bool:
    """`need not`, `not required`, `no need`, `needs no`, `don't have to`, `not have to`."""
    if len(places) % 2 == 0:
        return False
    for at in places:
        near = lows[at + 1 : at + 4]
        if lows[at] == "needn't" or any(low in _DEMANDS and low not in ("have", "allowed") for low in near):
            return lows[at] != "without"
        if "have" in near[:2] and "to" in near[:3]:
            return True
        if at and lows[at - 1] in ("need", "needs", "require", "requires", "needed", "required"):
            return lows[at] in ("not", "no", "neither")
        if at and lows[at] == "not" and near and near[0] in _OPEN:
            return False
    return False
