"""Words of engineering English: tokens, a light stem, one name for what has several, and what opposes what.

Nothing here knows what a sentence means; `clauses` puts the words together.
"""

from functools import lru_cache

from holdfast.model.claims.vocabulary import table, word_list
from holdfast.patterns import regex
from holdfast.values import frozen

# Each alternative begins with a class of characters no other begins with and has no nested choice,
# so the time taken grows with the length of the text and no faster.
_TOKEN = regex(
    r"`(?P<code>[^`\s]{1,80})`"
    r"|(?P<op>~>|[<>=~!^]=?|[≥≤])"
    r"|(?P<number>[0-9]+(?:[.,:][0-9]+)*)(?P<glued>[a-zA-Zµ]*[%+]?)"
    r"|(?P<word>[^\W\d]\w*(?:[.'’/#@-]+\w+)*(?:\(\))?(?:\+\+|#)?)"
    r"|(?P<mark>[,:()%])"
)
_MAX_TOKENS = 64  # a claim is a sentence; what follows later is no longer part of it


def several(text: str) -> frozenset[str]:
    """The words of a text, as a set."""
    return frozenset(text.split())


def terms(text: str) -> frozenset[str]:
    """The names of the words of a text, as a set."""
    return frozenset(map(canonical, text.split()))


@frozen
class Token:
    """One word, number or mark as written, with its stem."""

    raw: str
    low: str
    stem: str
    kind: str  # word, number, op, mark
    code: bool = False

    @property
    def named(self) -> bool:
        """Whether it is written as a name or as code rather than as plain English."""
        capital = any(c.isupper() for c in self.raw[1:])
        return self.code or capital or any(c in "._/#@`" or c.isdigit() for c in self.raw)


_LINE = regex(r"(\.[A-Za-z]\w{0,4}):\d+(?:-\d+)?\b")  # of a file: no figure that anything could contradict


@lru_cache(maxsize=8192)
def tokens(text: str) -> tuple[Token, ...]:
    """The words, numbers and marks of one sentence, in order."""
    found: list[Token] = []
    for match in _TOKEN.finditer(_LINE.sub(r"\1", text)):
        found += _made(match[0], match.lastgroup or "")
        if len(found) >= _MAX_TOKENS:
            break
    return tuple(_joined(found))


@lru_cache(maxsize=32768)  # making a frozen value costs more than finding it again
def _made(raw: str, group: str) -> tuple[Token, ...]:
    low = raw.lower()
    match group:
        case "code":
            low = low[1:-1].rstrip("/") or low[1:-1]
            return (Token(raw[1:-1], low, canonical(low), "word", code=True),)
        case "op" | "mark":
            return (Token(raw, raw, raw, group),)
        case "glued":
            known = low[-1].isdigit() or low.lstrip("0123456789.,:") in GLUED
            return (Token(raw, low, low, "number" if known else "word"),)
    if low == "offline":
        return (Token(raw, "without", "without", "word"), Token(raw, "network", "network", "word"))
    return tuple(_word(part) for part in _parts(raw.replace("’", "'")))


def _parts(raw: str) -> list[str]:
    """A word; or its parts, where a hyphen only joins plain words (`thread-safe` is `thread safe`)."""
    if "-" not in raw or raw.lower() in WHOLE:
        return [raw]
    pieces = [piece for piece in raw.split("-") if piece]
    if len(pieces) > 1 and pieces[0].lower() in ("non", "un"):
        return ["non" + pieces[1].lower(), *pieces[2:]]
    return pieces


def _word(raw: str) -> Token:
    low = raw.lower()
    if raw == "US":
        return Token(raw, "u.s", "u.s", "word")
    if low.endswith("'s") and low not in CONTRACTED:
        low = low[:-2]
    return Token(raw, low, canonical(low), "word")


def _joined(found: list[Token]) -> list[Token]:
    """The tokens with pairs that are one word put together (`time out`, `pull request`)."""
    out: list[Token] = []
    for token in found:
        pair = PAIRS.get((out[-1].stem, token.stem)) if out and out[-1].low != "logging" else None
        if pair:
            out[-1] = Token(out[-1].raw + " " + token.raw, pair, pair, "word")
        else:
            out.append(token)
    return out


@lru_cache(maxsize=32768)
def canonical(low: str) -> str:
    """One name for a word however it is inflected, and whichever of its synonyms was used."""
    stem = plain(low)
    return _LIKE.get(stem, stem)


@lru_cache(maxsize=32768)
def plain(low: str) -> str:
    """One name for a word however it is inflected; the thesaurus is not asked."""
    return SAME[low] if low in SAME else _stem(low)


_ENDINGS = (
    *("ization", "isation", "ibility", "ability", "ation", "ition"),
    *("ing", "ed", "ible", "able", "ment", "ion", "ly"),
)


_TAILS = ("ate", "ize", "ise", "at", "iz", "is", "ee", "e")
_VOWELS = frozenset("aeiouy")


def _stem(low: str) -> str:
    if low in KEEP or len(low) <= 3 or not low.isalpha() or not low.isascii():
        return low
    word = _singular(low)
    if word in KEEP:
        return word
    for ending in _ENDINGS if word.endswith(_ENDINGS) else ():
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not _VOWELS.isdisjoint(rest):
            word = rest
            break
    return _ended(word)


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _ended(word: str) -> str:
    """Without what endings leave behind: a doubled letter, a silent e, -ize and -ate, y for i."""
    if len(word) > 4 and word[-1] == word[-2] and word[-1] not in "aeiousl":
        word = word[:-1]
    for ending in _TAILS if word.endswith(_TAILS) else ():
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] + "y" if word.endswith("i") and len(word) > 3 else word


GLUED = several(word_list("word_stems.glued"))
CONTRACTED = frozenset(("it's", "that's", "there's", "let's", "what's", "here's", "who's"))
# Written with a hyphen and one thing.
WHOLE = several(word_list("word_stems.whole"))
# Words that the stem would spoil, or that mean another thing without their ending.
KEEP = several(word_list("word_stems.keep"))


# For each spelling of a word, the word's name.
_ROWS = [row.partition(":") for row in table("spellings")]
SAME = {spelled: name for name, _, others in _ROWS for spelled in (name, *others.split())}


def _like() -> dict[str, str]:
    """For each word of the thesaurus, as a stem, the name of its group."""
    found: dict[str, str] = {}
    for group in table("word_groups"):
        stems = [SAME.get(word, _stem(word)) for word in group.split()]
        for stem in stems:
            found.setdefault(stem, found.get(stems[0], stems[0]))
    return found


_LIKE = _like()
# Two words that are one thing.
_PAIRS = [item.strip().partition("=") for item in word_list("word_stems.pairs").split(",")]
PAIRS = {tuple(map(canonical, words.split())): name for words, _, name in _PAIRS}

# Say how a sentence is built, never what it is about.
STOP = several(word_list("word_stems.stop")) - {"off", "own", "new", "time", "case", "policy"}
# Say little by themselves: a quarter of a word.
WEAK = terms(word_list("word_stems.weak"))

# Pairs of which a thing can be only one; `x|y` are names as `canonical` gives them.
_OPPOSED = word_list("word_stems.opposed")


def _opposites() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSED.split():
        one, other = (canonical(side) for side in pair.split("|"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return {name: frozenset(others) for name, others in found.items()}


OPPOSITES = _opposites()


def opposed(one: str, other: str) -> bool:
    """Whether two names of words exclude each other (`sync`, `async`; `signed`, `unsigned`)."""
    return other in OPPOSITES.get(one, ())


def weight(stem: str) -> float:
    """How much a word says about what a sentence is about."""
    return 0.25 if stem in WEAK else 1.0
