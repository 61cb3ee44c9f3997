"""Splits a text: its claim without the reasons, and each sentence into parts that claim one thing each.

A part knows where its verb stands, so that readers can separate the subject from what is claimed about it. A sentence
may claim two things at once: this is used and that is not; this was tried and failed.
"""

from holdfast.model.claims.modality import DENIES
from holdfast.model.claims.vocabulary import word_list
from holdfast.model.claims.word_stems import STOP, Token, several, terms, tokens
from holdfast.patterns import PatternFile
from holdfast.values import frozen, replace

_PATTERNS = PatternFile(__file__)

AUX = several(word_list("sentences.aux"))
BE = several("is are was were be been being am isn't aren't wasn't weren't isnt arent")
WE = several("we you i they one everybody everyone nobody people let's")


@frozen
class ClaimPart:
    """The words that claim one thing, and how they stand to each other."""

    words: tuple[Token, ...]
    verb: int = -1  # where the verb stands; -1 if there is none
    passive: bool = False
    refused: bool = False
    tried: bool = False


def contrasted(part: ClaimPart) -> list[ClaimPart]:
    """The part; or, where it sets one thing against another, the part without it and what is refused."""
    for at in range(1, len(part.words)):
        if size := _contrast(part.words, at):
            return _both(part, at, size)
    return [part]


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


def _both(part: ClaimPart, at: int, size: int) -> list[ClaimPart]:
    words = part.words
    ends = {"in", "for", "on", "as", "when", "with"}
    over = (n for n in range(at + size, len(words)) if words[n].kind == "mark" or words[n].low in ends)
    end = next(over, len(words))
    outside = (n for n in range(at, 0, -1) if words[n - 1].kind != "word" or words[n - 1].low in _STOPS_VALUE)
    start = max(next(outside, 0), min(at, part.verb + 1))
    kept = replace(part, words=words[:at] + words[end:])
    refused = words[at + size : end]
    if not refused:
        return [kept]
    return [kept, replace(part, words=words[:start] + refused + words[end:], refused=True)]


_STOPS_VALUE = several("in on at with via through as from to by for of use using be is are prefer") | AUX


def tried(found: list[ClaimPart]) -> list[ClaimPart]:
    """What a dead end says was tried, as something not to be done again."""
    if not found:
        return []
    words = [word for word in found[0].words if word.low not in _TRYING and word.low not in DENIES]
    failed = (at for at, word in enumerate(words) if at > 1 and word.low in _FAILED | BE | {":", ","})
    words = words[: next(failed, len(words))]
    return [ClaimPart(tuple(words), refused=True, tried=True)] if words else []


_TRYING = several("tried trying attempted attempting attempt we using switching moving approach")
_FAILED = several(word_list("sentences.failed"))


_MAX_CLAIM = 2_000  # characters: a claim is a few sentences


_REASONS = several("because since whereas given otherwise")
VERBS = terms(word_list("sentences.verbs"))
IMPERATIVES = several(word_list("sentences.imperatives"))


def claim(text: str) -> str:
    """The claim of a text, without its label and without what explains it."""
    text = _PATTERNS.short.sub(r"\1", text[: 4 * _MAX_CLAIM].replace("\r\n", "\n"))
    if label := _PATTERNS.label.search(text):
        text = text[label.end() :]
    if reason := _PATTERNS.reason.search(text, 1):
        text = text[: reason.start()]
    pieces = [piece for piece in text.split("\n\n") if piece.strip(" \n\t#>*-")]
    while len(pieces) > 1 and (pieces[0].lstrip().startswith("#") or _PATTERNS.reason.match(pieces[0].lstrip())):
        pieces.pop(0)  # a title, or the story before the claim
    return _PATTERNS.about_here.sub("", _PATTERNS.leading.sub("", pieces[0]))[:_MAX_CLAIM].strip() if pieces else ""


def sentences(text: str) -> list[tuple[Token, ...]]:
    """The sentences of a text's claim as words, without what only leads up to them."""
    said = _PATTERNS.sentence.split(_PATTERNS.dash.sub(", ", claim(text)))
    plain = (_PATTERNS.chose.sub("use ", _PATTERNS.agreed.sub("", one, count=1), count=1) for one in said)
    return [words for words in map(tokens, plain) if words]


def parts(text: str, *, dead_end: bool = False) -> list[ClaimPart]:
    """What a text claims, one part for each thing."""
    found: list[ClaimPart] = []
    for sentence in sentences(text):
        if words := tuple(word for word in sentence if word.low not in "()"):
            found.extend(_of_sentence(words))
    if dead_end or any(word.low == "tried" for part in found[:1] for word in part.words):
        found.extend(tried(found))
    return found


def _of_sentence(words: tuple[Token, ...]) -> list[ClaimPart]:
    found: list[ClaimPart] = []
    for piece in _split(_without_reason(words)):
        found += contrasted(_placed(piece))
    return found


def _without_reason(words: tuple[Token, ...]) -> tuple[Token, ...]:
    """The words before a reason."""
    following = (*(word.low for word in words[1:]), "")
    ends = (at for at, word in enumerate(words) if at and _explains(word.low, following[at]))
    return words[: next(ends, len(words))]


def _explains(low: str, following: str) -> bool:
    """Whether a reason begins here: `because`, `so that`, `due to`, but not `since 3.11`."""
    if low in _NEEDS:
        return following == _NEEDS[low]
    return low in _REASONS and not following[:1].isdigit()


_NEEDS = {"so": "that", "due": "to", "thanks": "to"}


def _split(words: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The pieces of a sentence between `but`, `: `, and commas after which a new claim begins."""
    found: list[list[Token]] = [[]]
    for at, word in enumerate(words):
        following = words[at + 1].low if at + 1 < len(words) else ""
        after = words[at + 2].low if at + 2 < len(words) else ""
        if found[-1] and _parts_here(word.low, following, after, found[-1]):
            found.append([])
        else:
            found[-1].append(word)
    return [tuple(piece) for piece in found if piece]


def _parts_here(low: str, following: str, after: str, before: list[Token]) -> bool:
    """Whether a new claim begins after this word."""
    if low in ("but", "however"):
        return following != "also"
    if low == ":":
        return any(word.low in AUX for word in before)
    if low not in (",", "and"):
        return False
    if low == "," and following == "so":
        return True
    return (after if following in ("and", "or") else following) in _NEW_CLAIM


_NEW_CLAIM = several(word_list("sentences.new_claim"))


def _placed(words: tuple[Token, ...]) -> ClaimPart:
    """The part with its verb found."""
    lows = [word.low for word in words]
    skip = 1 if lows[0] in ("always", "please", "never", "only") and len(lows) > 1 else 0
    aux = next((at for at, low in enumerate(lows) if low in AUX or (low == ":" and at < 6)), -1)
    if lows[skip] in IMPERATIVES and (aux < 1 or (aux > 4 and lows[aux] != ":")) and lows[skip] != "no":
        at = skip
        while at < len(lows) - 1 and lows[at] in _BEFORE_VERB:
            at += 1
        return ClaimPart(words, at)
    verb = next((at for at, word in enumerate(words) if at and word.kind == "word" and _verbal(words, at)), -1)
    by_aux = aux > 0 and (verb < 0 or aux < verb or not _LINKS.intersection(lows[verb:aux]))
    passive = by_aux and any(low in BE for low in lows[aux : aux + 3])
    verb = aux if by_aux else verb
    return ClaimPart(words, verb, passive)


_BEFORE_VERB = several("don't dont do never always not to forget be please")
_LINKS = several("that which who and or if when , to because")


def _verbal(words: tuple[Token, ...], at: int) -> bool:
    """Whether a word that can be a verb is one here: it agrees with the word before, no article leads it."""
    before, word = words[at - 1], words[at]
    if before.kind != "word" or before.low in _NOUN_FOLLOWS:
        return False
    if before.low in WE:
        return True
    following = words[at + 1].low if at + 1 < len(words) else ""
    if following in _PLAIN_VERBS:
        return False
    if word.stem not in VERBS and (following not in _DETERMINERS or before.low in STOP or word.low in STOP):
        return False
    if before.raw[:1].isupper() and at > 1 and word.low.endswith("s"):
        return True
    plural = before.low.endswith("s") and not before.low.endswith("ss")
    return word.low.endswith("s") != plural or before.low in ("never", "always", "only", "also")


_PLAIN_VERBS = several("use run go live stay take need hold keep get have carry may must should can are is")
_NOUN_FOLLOWS = several("the a an to of in for with and no per on")
_DETERMINERS = several("the a an its our their all every each any this no")
