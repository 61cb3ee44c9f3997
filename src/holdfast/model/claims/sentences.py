"""A text taken apart: its claim without the reasons, and each sentence in the parts that claim one thing each.

A part knows where its verb stands, so that readers can tell the subject from what is said of it.
"""

import re
from dataclasses import dataclass, replace

from holdfast.model.claims.modality import DENIES
from holdfast.model.claims.words import STOP, Token, several, terms, tokens

_MAX_CLAIM = 2_000  # characters: a claim is a few sentences
_LABEL = re.compile(
    r"(?:decision|assumption|invariant|fact|dead[ -]end|claim|statement|convention|constraint|preference|summary|title|note)\s*:\s*",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"(?:^|(?<=[.;!?]\s)|(?<=\n))\W{0,4}(?:rationale|why|because|context|reasons?|consequences|falsified by|instead|evidence|source|see"
    r"|background|alternatives|motivation|discussion)\W{0,3}:",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|;")
_SHORT = re.compile(r"\b(e\.g|i\.e|etc|vs|approx|incl|no)\.", re.IGNORECASE)
_LEADING = re.compile(r"\A[\s#>*•-]+")
_DASH = re.compile(r"\s+[—–-]{1,2}\s+|—")

# How people lead up to a claim; it says nothing.
_AGREED = re.compile(
    r"\A\s*(?:(?:we|the team|everyone|everybody|it was|it has been|i|they)\s+(?:have |has |had |all )?"
    r"(?:decided|agreed|settled|concluded|resolved|chose|opted|want|wanted|standardi[sz]ed)\s+(?:to|that|on|for)\s+"
    r"|(?:note|remember|recall|please note|be aware|make sure|ensure|keep in mind)\s+(?:that|to)\s+"
    r"|(?:from now on|as discussed|as agreed|going forward|for now|currently|in general|as a rule|by convention),?\s+)",
    re.IGNORECASE,
)

_REASONS = several("because since due so whereas given thanks otherwise")
_CONDITIONS = several("if when whenever where while until once unless")
_EXCEPT = several("except unless excluding besides barring")
AUX = several(
    """is are was were be been being am isn't aren't wasn't weren't must mustn't should shouldn't shall may
    might can can't cannot could couldn't will won't would wouldn't has have had hasn't haven't hadn't
    do does did don't doesn't didn't needn't need needs ought it's there's cant isnt arent doesnt dont"""
)
_BE = several("is are was were be been being am isn't aren't wasn't weren't isnt arent")
VERBS = terms(
    """use run go live pick listen take hold read write store keep send serve return require support
    allow own handle process manage expire retry cache default happen accept reject refuse depend
    rely contain include cover follow expose exceed grow lag start finish work arrive call import
    block touch share push pull deploy talk speak fail limit need generate build deliver reside
    corrupt lead cause make break propose approve inherit stay remain come get put see show emit
    publish consume poll sleep crash leak support drop merge apply validate encrypt sign belong
    point map sit fall resolve load provide rebuild sync receive represent prefer want expect assume
    use serialize serialise win beat override trump precede terminate dispatch login preserve lose
    guarantee trigger validate"""
)
IMPERATIVES = several(
    """use run keep store write put prefer favor favour avoid never always don't do pin raise log format
    lint test deploy make let commit squash rebase retry indent install add remove delete create build
    ship cut send return validate encrypt sign name call catch import choose pick adopt switch move
    migrate rewrite replace wrap cache set limit restrict require allow forbid disable enable treat
    assume follow document check ensure include exclude read load stop start default merge tag release
    version parse handle expose serve host rotate expire batch split group sort order escape sanitize
    mock stub inject pass throw fail authenticate track report render rely turn go stick skip wait poll
    push pull publish mark update upgrade keep show type-check annotate dont store bump drop generate"""
)
_WE = several("we you i they one everybody everyone nobody people let's")


@dataclass(frozen=True, slots=True)
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


def claim(text: str) -> str:
    """The claim of a text, without its label and without what explains it."""
    text = text[: 4 * _MAX_CLAIM].replace("\r\n", "\n")
    text = _SHORT.sub(r"\1", text)
    if reason := _REASON.search(text, 1):
        text = text[: reason.start()]
    paragraphs = [piece for piece in text.split("\n\n") if piece.strip(" \n\t#>*-")]
    for piece in paragraphs:
        piece = _LEADING.sub("", piece)
        if label := _LABEL.match(piece):
            piece = piece[label.end() :]
        if piece.strip():
            return piece[:_MAX_CLAIM]
    return ""


def parts(text: str, *, dead_end: bool = False) -> list[Part]:
    """What a text claims, one part for each thing."""
    found: list[Part] = []
    for sentence in _SENTENCE.split(_DASH.sub(", ", claim(text))):
        words = _without_brackets(tokens(_AGREED.sub("", sentence, count=1)))
        if words:
            found.extend(_of_sentence(words, found))
    if dead_end or any(word.low == "tried" for part in found[:1] for word in part.words):
        found.extend(_tried(found))
    return found


def _without_brackets(words: tuple[Token, ...]) -> tuple[Token, ...]:
    kept, depth = [], 0
    short = _short_brackets(words)
    for at, word in enumerate(words):
        depth += (word.low == "(") - (word.low == ")")
        if word.low not in "()" and (depth <= 0 or at in short):
            kept.append(word)
        depth = max(depth, 0)
    return tuple(kept)


def _short_brackets(words: tuple[Token, ...]) -> set[int]:
    """The places of names that stand in brackets by themselves: `a service mesh (Istio)`."""
    found = set()
    for at in range(1, len(words) - 1):
        if words[at - 1].low == "(" and words[at + 1].low == ")" and words[at].raw[:1].isupper():
            found.add(at)
    return found


def _of_sentence(words: tuple[Token, ...], before: list[Part]) -> list[Part]:
    words, condition = _cut(_without_topic(words))
    found: list[Part] = []
    for piece in _split(words):
        piece = _with_subject(piece, found)
        if piece:
            found.extend(_contrasted(_placed(piece, condition)))
            found.extend(_apposed(piece))
    return found


def _without_topic(words: tuple[Token, ...]) -> tuple[Token, ...]:
    """A sentence without a topic in front of it: `Null handling: missing values are …`."""
    for at, word in enumerate(words[:5]):
        if word.low == ":":
            rest = words[at + 1 :]
            said = any(other.low in AUX or _verbal(rest, n) for n, other in enumerate(rest) if n) and not any(
                other.low in AUX for other in words[:at]
            )
            return rest if said and len(rest) > 3 else words
    return words


def _cut(words: tuple[Token, ...]) -> tuple[tuple[Token, ...], tuple[Token, ...]]:
    """The words without reasons, exceptions and conditions; the conditions by themselves."""
    kept: list[Token] = []
    condition: list[Token] = []
    into = kept
    for at, word in enumerate(words):
        following = words[at + 1].low if at + 1 < len(words) else ""
        if (
            word.low in _REASONS
            and kept
            and not following[:1].isdigit()
            and not (word.low == "so" and following != "that")
        ):
            if not (word.low == "due" and following != "to"):
                break
        if word.low in _EXCEPT or (word.low == "apart" and following == "from"):
            into = []
        elif (
            word.low in _CONDITIONS
            and not (
                word.low == "once" and (following in ("", ".", ",", "a", "an", "per", "every") or not kept)
            )
            and not following[:1].isdigit()
        ):
            into = kept if _has_figure(words[at:]) else condition
        elif word.low == ",":
            into = kept
        into.append(word)
    if len(kept) > 2 and kept[0].low in ("in", "on", "for", "inside", "within", "during", "at", "under"):
        kept, leading = _leading(kept)
        condition.extend(leading)
    while kept and kept[0].kind == "mark":
        kept.pop(0)
    return tuple(kept), tuple(word for word in condition if word.kind == "word")


def _has_figure(words: tuple[Token, ...]) -> bool:
    """Whether a condition is a limit: `if coverage drops under 75 %`."""
    for word in words:
        if word.kind == "number":
            return True
        if word.low == ",":
            break
    return False


def _leading(kept: list[Token]) -> tuple[list[Token], list[Token]]:
    """`In tests, use SQLite` as `use SQLite in tests`, and the surroundings by themselves."""
    for at, word in enumerate(kept[:6]):
        if word.low == ",":
            return kept[at + 1 :] + kept[:at], kept[1:at]
    return kept, []


def _split(words: tuple[Token, ...]) -> list[tuple[Token, ...]]:
    """The pieces of a sentence between `but`, `: `, and commas after which a new claim begins."""
    found: list[list[Token]] = [[]]
    for at, word in enumerate(words):
        following = words[at + 1].low if at + 1 < len(words) else ""
        after = words[at + 2].low if at + 2 < len(words) else ""
        if word.low in ("but", "however") and found[-1] and following != "also":
            found.append([])
        elif word.low == ":" and any(w.low in AUX for w in found[-1]):
            found.append([])
        elif word.low == "," and _begins(following, after) and found[-1] and following != "not":
            found.append([])
        elif word.low == "and" and found[-1] and _begins(following, after):
            found.append([])
        else:
            found[-1].append(word)
    return [tuple(piece) for piece in found if piece]


def _begins(following: str, after: str) -> bool:
    if following in ("and", "or"):
        following = after
    return following in _NEW_CLAIM


_NEW_CLAIM = several(
    """must should may can never don't do avoid use always cannot mustn't shouldn't is are isn't aren't was
    has have we it prefer keep"""
)


def _with_subject(piece: tuple[Token, ...], found: list[Part]) -> tuple[Token, ...]:
    """A piece that starts with its verb, with the subject of the piece before it."""
    first = piece[0].low
    if (
        found
        and found[0].verb > 0
        and not found[0].imperative
        and (first in AUX or first in ("never", "always"))
        and first not in ("don't", "do")
    ):
        return found[0].words[: found[0].verb] + piece
    if found and first == "it":
        return found[0].words[: max(found[0].verb, 0)] + piece[1:]
    return piece


def _placed(words: tuple[Token, ...], condition: tuple[Token, ...]) -> Part:
    """The part with its verb found."""
    lows = [word.low for word in words]
    skip = 1 if lows[0] in ("always", "please", "never", "only") and len(lows) > 1 else 0
    aux = next((at for at, low in enumerate(lows) if low in AUX or (low == ":" and at < 6)), -1)
    if lows[skip] in IMPERATIVES and (aux < 1 or (aux > 4 and lows[aux] != ":")) and lows[skip] != "no":
        at = (
            skip + 1
            if lows[skip] in ("don't", "do", "never", "always", "dont") and len(lows) > skip + 1
            else skip
        )
        while at < len(lows) - 1 and lows[at] in ("not", "to", "forget", "be"):
            at += 1
        return Part(words, at, imperative=True, condition=condition, only=_nothing_else(lows))
    verb = next(
        (at for at, word in enumerate(words) if at and word.kind == "word" and _verbal(words, at)), -1
    )
    if 0 < aux and (verb < 0 or aux < verb or not _LINKS.intersection(lows[verb:aux])):
        return _with_aux(words, aux, condition)
    imperative = 0 < verb <= 2 and lows[0] in _WE
    return Part(words, verb, imperative=imperative, condition=condition, only=_nothing_else(lows))


_LINKS = several("that which who and or if when , to because")


def _verbal(words: tuple[Token, ...], at: int) -> bool:
    """Whether a word that can be a verb is one here: it agrees with the word before, and no article leads it."""
    before, word = words[at - 1], words[at]
    if before.kind != "word" or before.low in (
        "the",
        "a",
        "an",
        "to",
        "of",
        "in",
        "for",
        "with",
        "and",
        "no",
        "per",
        "on",
    ):
        return False
    if before.low in _WE:
        return True
    following = words[at + 1].low if at + 1 < len(words) else ""
    if word.stem not in VERBS and (following not in _DETERMINERS or before.low in STOP or word.low in STOP):
        return False
    if before.raw[:1].isupper() and at > 1 and word.low.endswith("s"):
        return True
    plural = before.low.endswith("s") and not before.low.endswith("ss")
    return word.low.endswith("s") != plural or before.low in ("never", "always", "only", "also")


_DETERMINERS = several("the a an its our their all every each any this no")


def _nothing_else(lows: list[str]) -> bool:
    return "nothing" in lows and "else" in lows


def _with_aux(words: tuple[Token, ...], aux: int, condition: tuple[Token, ...]) -> Part:
    lows = [word.low for word in words]
    passive = any(low in _BE for low in lows[aux : aux + 3])
    imperative = aux <= 2 and lows[0] in _WE
    return Part(
        words, aux, passive=passive, imperative=imperative, condition=condition, only=_nothing_else(lows)
    )


def _apposed(words: tuple[Token, ...]) -> list[Part]:
    """`… Tecton, our feature store` says also what the feature store is."""
    for at in range(1, len(words) - 2):
        if words[at].low == "," and words[at + 1].low in ("our", "the") and words[at - 1].raw[:1].isupper():
            named = words[at + 2 : at + 5]
            return [Part((*named, _IS, words[at - 1]), len(named))]
    return []


_IS = Token(":", ":", ":", "mark")


def _contrasted(part: Part) -> list[Part]:
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
    end = next((at for at in range(start, len(lows)) if lows[at] in ("to", "with", "by")), -1)
    if not start < end < len(lows) - 1:
        return []
    used, rest = part.words[end + 1 :], part.words[:moved] if lows[0] not in _WE else ()
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
    if (
        low == ","
        and following == "not"
        and at + 2 < len(words)
        and words[at + 2].low not in ("only", "just", "even")
    ):
        return 2
    if low == "over" and any(
        word.low.startswith(("prefer", "favo", "choose", "chose")) for word in words[:at]
    ):
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


def _tried(found: list[Part]) -> list[Part]:
    """What a dead end says was tried, as something not to be done again."""
    if not found:
        return []
    words = [word for word in found[0].words if word.low not in _TRYING and word.low not in DENIES]
    for at, word in enumerate(words):
        if at > 1 and (word.low in _FAILED or word.low in (":", ",") or word.low in _BE):
            words = words[:at]
            break
    return (
        [
            Part(
                tuple(words),
                -1,
                imperative=True,
                refused=True,
                tried=True,
                value=frozenset(range(len(words))),
            )
        ]
        if words
        else []
    )


_TRYING = several("tried trying attempted attempting attempt we using switching moving approach")
_FAILED = several(
    """failed fails fail broke breaks broken slower slow worse corrupts corrupted crashed crashes leaked
    leaks deadlocks deadlocked caused causes made makes led leads did does didn't doesn't turned gave
    hit ran cost costs lost loses dropped reverted was were had hung hangs blew"""
)
