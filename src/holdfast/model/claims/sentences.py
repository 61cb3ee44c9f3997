"""Splits a text: its claim without the reasons, and each sentence into parts that claim one thing each.

A part knows where its verb stands, so that readers can separate the subject from what is claimed about it. A sentence
may claim two things at once: this is used and that is not; this was tried and failed.
"""

from itertools import takewhile

from holdfast.model.claims.modality import DENIES
from holdfast.model.claims.numbers import NUMBERS
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
    imperative: bool = False
    condition: tuple[Token, ...] = ()
    refused: bool = False
    value: frozenset[int] = frozenset()  # where the refused value stands
    only: bool = False
    tried: bool = False


def apposed(words: tuple[Token, ...]) -> list[ClaimPart]:
    """`… Tecton, our feature store` says also what the feature store is."""
    for at in range(1, len(words) - 2):
        if words[at].low == "," and words[at + 1].low in ("our", "the") and words[at - 1].raw[:1].isupper():
            named = words[at + 2 : at + 5]
            return [ClaimPart((*named, _IS, words[at - 1]), len(named))]
    return []


_IS = Token(":", ":", ":", "mark")


def contrasted(part: ClaimPart) -> list[ClaimPart]:
    """The part; or, where it sets one thing against another, the part without it and what is refused."""
    if switched := _switched(part):
        return switched
    for at in range(1, len(part.words)):
        if size := _contrast(part.words, at):
            return _both(part, at, size)
    return [part]


def _switched(part: ClaimPart) -> list[ClaimPart]:
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
    value = frozenset(range(start, start + len(refused)))
    other = replace(part, words=words[:start] + refused + words[end:], refused=True, value=value)
    return [kept, other]


_STOPS_VALUE = several("in on at with via through as from to by for of use using be is are prefer") | AUX


def tried(found: list[ClaimPart]) -> list[ClaimPart]:
    """What a dead end says was tried, as something not to be done again."""
    if not found:
        return []
    words = [word for word in found[0].words if word.low not in _TRYING and word.low not in DENIES]
    failed = (at for at, word in enumerate(words) if at > 1 and word.low in _FAILED | BE | {":", ","})
    words = words[: next(failed, len(words))]
    everything = frozenset(range(len(words)))
    return [ClaimPart(tuple(words), imperative=True, refused=True, tried=True, value=everything)] if words else []


_TRYING = several("tried trying attempted attempting attempt we using switching moving approach")
_FAILED = several(word_list("sentences.failed"))


_MAX_CLAIM = 2_000  # characters: a claim is a few sentences


_REASONS = several("because since whereas given otherwise")
_CONDITIONS = several("if when whenever where while until once unless")
_EXCEPT = several("except unless excluding besides barring")
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
        if words := _without_brackets(sentence):
            found.extend(_of_sentence(words))
    if dead_end or any(word.low == "tried" for part in found[:1] for word in part.words):
        found.extend(tried(found))
    return found


def _without_brackets(words: tuple[Token, ...]) -> tuple[Token, ...]:
    kept, depth = [], 0
    for at, word in enumerate(words):
        depth += (word.low == "(") - (word.low == ")")
        around = [one.low for one in (*words[max(0, at - 1) : at], *words[at + 1 : at + 2])]
        alone = around == ["(", ")"] and word.raw[:1].isupper()  # a name: `a service mesh (Istio)`
        if word.low not in "()" and (depth <= 0 or alone):
            kept.append(word)
        depth = max(depth, 0)
    return tuple(kept)


def _of_sentence(words: tuple[Token, ...]) -> list[ClaimPart]:
    words, condition = _cut(_without_topic(words))
    found: list[ClaimPart] = []
    for piece in _split(words):
        if piece := _with_subject(piece, found):
            found += contrasted(_placed(piece, condition)) + apposed(piece)
    return found


def _without_topic(words: tuple[Token, ...]) -> tuple[Token, ...]:
    """A sentence without a topic in front of it: `Null handling: missing values are …`."""
    for at, word in enumerate(words[:5]):
        if word.low == ":":
            rest = words[at + 1 :]
            said = any(other.low in AUX or _verbal(rest, n) for n, other in enumerate(rest) if n)
            told_before = any(other.low in AUX for other in words[:at])
            return rest if said and not told_before and len(rest) > 3 else words
    return words


def _cut(words: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The words without reasons, exceptions and conditions; the conditions by themselves."""
    kept: list[Token] = []
    condition: list[Token] = []
    into = kept
    for at, word in enumerate(words):
        following = words[at + 1].low if at + 1 < len(words) else ""
        if kept and (_explains(word.low, following) or _tells_story(words[at : at + 7])):
            break
        once = word.low == "once" and (following in ("", ".", ",", "a", "an", "per", "every") or not kept)
        if word.low in _EXCEPT or (word.low == "apart" and following == "from"):
            into = []
        elif word.low in _CONDITIONS and not once and not following[:1].isdigit():
            # `if coverage drops under 75 %` is a limit.
            upto = takewhile(lambda one: one.low != ",", words[at:])
            into = kept if any(one.kind == "number" or one.low in NUMBERS for one in upto) else condition
        elif word.low == ",":
            into = kept
        into.append(word)
    comma = next((at for at, word in enumerate(kept[:6]) if word.low == ","), 0)
    if comma and len(kept) > 2 and kept[0].low in ("in", "on", "for", "inside", "within", "during", "at", "under"):
        condition += kept[1:comma]  # `In tests, use SQLite` as `use SQLite in tests`
        kept = kept[comma + 1 :] + kept[:comma]
    while kept and kept[0].kind == "mark":
        kept.pop(0)
    return tuple(kept), tuple(word for word in condition if word.kind == "word")


def _explains(low: str, following: str) -> bool:
    """Whether a reason begins here: `because`, `so that`, `due to`, but not `since 3.11`."""
    if low in _NEEDS:
        return following == _NEEDS[low]
    return low in _REASONS and not following[:1].isdigit()


def _tells_story(words: tuple[Token, ...]) -> bool:
    """Whether it says what happened before: `after npm broke the build`."""
    figure = any(word.kind == "number" or word.low in NUMBERS for word in words)
    past = any(word.low.endswith("ed") or word.low in _PAST for word in words[2:])
    return words[0].low in ("after", "as", "before") and past and not figure


_PAST = several("broke failed lost went became got had was were took led made ran hit cost kept gave")
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


def _with_subject(piece: tuple[Token, ...], found: list[ClaimPart]) -> tuple[Token, ...]:
    """A piece that starts with its verb, with the subject of the piece before it."""
    first = piece[0].low
    starts = (first in AUX or first in ("never", "always")) and first not in ("don't", "do")
    if found and found[0].verb > 0 and not found[0].imperative and starts:
        return found[0].words[: found[0].verb] + piece
    if found and first == "it":
        return found[0].words[: max(found[0].verb, 0)] + piece[1:]
    return piece


def _placed(words: tuple[Token, ...], condition: tuple[Token, ...]) -> ClaimPart:
    """The part with its verb found."""
    lows = [word.low for word in words]
    skip = 1 if lows[0] in ("always", "please", "never", "only") and len(lows) > 1 else 0
    aux = next((at for at, low in enumerate(lows) if low in AUX or (low == ":" and at < 6)), -1)
    if lows[skip] in IMPERATIVES and (aux < 1 or (aux > 4 and lows[aux] != ":")) and lows[skip] != "no":
        at = skip
        while at < len(lows) - 1 and lows[at] in _BEFORE_VERB:
            at += 1
        return ClaimPart(words, at, imperative=True, condition=condition, only=_nothing_else(lows))
    verb = next((at for at, word in enumerate(words) if at and word.kind == "word" and _verbal(words, at)), -1)
    by_aux = aux > 0 and (verb < 0 or aux < verb or not _LINKS.intersection(lows[verb:aux]))
    passive = by_aux and any(low in BE for low in lows[aux : aux + 3])
    verb = aux if by_aux else verb
    imperative = 0 < verb <= 2 and lows[0] in WE
    return ClaimPart(words, verb, passive, imperative, condition, only=_nothing_else(lows))


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


def _nothing_else(lows: list[str]) -> bool:
    return "nothing" in lows and "else" in lows
