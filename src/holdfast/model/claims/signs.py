"""Reads a text word by word: each word with its sign, whether it is asserted or denied where it stands.

Coarser than `clauses`, and it reads everything: long sentences, lists and asides. A denial reaches the words after it
up to the end of what it denies; about a subject (`X is forbidden`) it reaches the subject.
"""

from functools import lru_cache

from holdfast.model.claims import topics
from holdfast.model.claims.sentences import sentences
from holdfast.model.claims.vocabulary import word_list
from holdfast.model.claims.word_stems import STOP, Token, canonical, several, terms, weight
from holdfast.patterns import regex
from holdfast.values import frozen

_DENIES = several(word_list("signs.denies"))
_OF_A_NAME = several("no without neither nor none instead rather except excluding besides beyond than over")
_SUBJECT = several(word_list("signs.subject"))
_BE = several("is are was were be been being am has have had will it's gets get got")
_BREAKS = several("but however whereas while although though instead yet")
_ENDS = several(word_list("signs.ends"))
_PLAIN = terms(word_list("signs.plain"))
_NOT_DENIED = several("only just least even necessarily")
_NEW = several(word_list("signs.new"))


@frozen(eq=False)  # one for each text: kept, and found again as itself
class WordSigns:
    """The words of a text in order, the sign of each (1, -1; 0: it builds the sentence), and their sums."""

    words: tuple[Token, ...]
    signs: tuple[int, ...]
    called: tuple[str, ...]  # the name of each word; one name for phrases that mean the same
    affirmed: frozenset[str]
    denied: frozenset[str]
    lows: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        return self.affirmed | self.denied


@lru_cache(maxsize=4096)
def word_signs(text: str) -> WordSigns:
    """The signed words of a text's claim."""
    words: list[Token] = []
    marks: list[int] = []
    for sentence in sentences(text):
        for piece in _pieces(sentence):
            words.extend(piece)
            marks.extend(_signed(piece))
    called = _named(tuple(words), marks)
    affirmed, denied = set[str](), set[str]()
    for word, name, sign in zip(words, called, marks, strict=True):
        if sign:
            (affirmed if sign > 0 else denied).update((name, *_inside(word)))
    lows = frozenset(word.low for word in words)
    return WordSigns(tuple(words), tuple(marks), tuple(called), frozenset(affirmed), frozenset(denied), lows)


def _inside(word: Token) -> list[str]:
    """The words within a path, a file name or an identifier."""
    if not word.named or len(word.raw) < 4:
        return []
    pieces = _PIECE.findall(word.raw)
    return [canonical(piece.lower()) for piece in pieces if len(piece) > 2] if len(pieces) > 1 else []


_PIECE = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def _named(words: tuple[Token, ...], marks: list[int]) -> list[str]:
    """The words' names, with phrases that mean the same called the same; the rest of a phrase is left out."""
    called = [word.stem for word in words]
    for same in topics.alike(words):
        if all(word.low in STOP or word.low in _DENIES for word in words[same.first : same.last]):
            continue
        sign = next((mark for mark in marks[same.first : same.last] if mark), 1)
        marks[same.first : same.last] = [sign] + [0] * (same.last - same.first - 1)
        called[same.first] = canonical(same.topic)
    return called


def _pieces(words: tuple[Token, ...]) -> list[list[Token]]:
    """A sentence cut where a new claim begins."""
    found: list[list[Token]] = [[]]
    for at, word in enumerate(words):
        following = words[at + 1].low if at + 1 < len(words) else ""
        cut = word.low in _BREAKS and following not in ("of", "than")
        cut = cut or (word.low in (",", "and", ":") and following in _NEW)
        if cut and found[-1]:
            found.append([])
        found[-1].append(word)
    return found


def _signed(piece: list[Token]) -> list[int]:
    marks = [1 if _tells(word) else 0 for word in piece]
    for at, word in enumerate(piece):
        following = piece[at + 1].low if at + 1 < len(piece) else ""
        before = piece[at - 1].low if at else ""
        if word.low in _SUBJECT and before in _BE | {"not", "never", "no", "longer"} | _ADVERBS:
            _turn(marks, 0, at)
        elif word.low == "not" and before == ",":
            _turn(marks, at + 1, _end(piece, at + 1))
        elif word.low in _DENIES and not (word.low == "not" and following in _NOT_DENIED):
            if word.low == "rule" and following != "out":
                continue
            _deny(piece, marks, at)
        elif _of_name(word.low, following, piece):
            start = at + 1 + (following in ("of", "than", "longer"))
            if following == "longer":
                _deny(piece, marks, at)
            else:
                _turn(marks, start, _end(piece, start))
    return marks


_ADVERBS = several("strictly explicitly now currently long completely entirely fully also still already")


def _of_name(low: str, following: str, piece: list[Token]) -> bool:
    if low not in _OF_A_NAME or following in ("more", "less", "fewer", "later", "earlier"):
        return False
    if low == "instead":
        return following == "of"
    if low == "rather":
        return following == "than"
    if low == "than":
        return False
    if low == "over":
        return any(word.low.startswith(("prefer", "favo", "cho")) for word in piece)
    return low != "beyond"


def _deny(piece: list[Token], marks: list[int], at: int) -> None:
    """Turn what a denying verb denies: what follows it; its subject, where nothing of weight follows."""
    end = len(piece)
    for place in range(at + 1, len(piece)):
        if piece[place].low == "," and place > at + 1:
            end = place
            break
        if piece[place].low in ("because", "since", "unless", "if", "when", "until"):
            end = place
            break
    told = [p for p in range(at + 1, end) if marks[p] and piece[p].stem not in _PLAIN and weight(piece[p].stem) == 1]
    near = [p for p in told if not any(piece[q].low in _ENDS for q in range(at + 1, p))]
    if not told or (not near and piece[at].low in ("not", "never", "isn't", "aren't", "cannot", "can't")):
        _turn(marks, 0, at)
    _turn(marks, at + 1, end)


def _end(piece: list[Token], start: int) -> int:
    """Where what is denied by name ends."""
    for place in range(start + 1, len(piece)):
        if piece[place].kind == "mark" or piece[place].low in _ENDS:
            return place
    return len(piece)


def _turn(marks: list[int], start: int, end: int) -> None:
    for at in range(start, min(end, len(marks))):
        marks[at] = -marks[at]


def _tells(word: Token) -> bool:
    if word.kind in ("op", "mark") or len(word.low) >= 64:
        return False
    return word.low not in STOP and word.low not in _DENIES and word.low not in _OF_A_NAME
