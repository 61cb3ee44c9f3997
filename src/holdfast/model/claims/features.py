"""What speaks for and against a contradiction between two statements, in numbers; the judge of `compare` sums them up.

Everything here is symmetric: it does not matter which of the two came first.

A text is read word by word (`word_signs`), each word with its sign: whether it is asserted or denied where it stands.
That is coarser than `clauses`, and it reads everything: long sentences, lists and asides. A denial reaches the words
after it up to the end of what it denies; about a subject (`X is forbidden`) it reaches the subject.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

from holdfast.model.claims.alignment import apart, figures_met, mass, share
from holdfast.model.claims.clauses import KINDS, Clause, Statement, read_clauses
from holdfast.model.claims.modality import CONTRARY
from holdfast.model.claims.numbers import LEAST, Key, Quantity, disagree
from holdfast.model.claims.outright import outright
from holdfast.model.claims.sentences import sentences
from holdfast.model.claims.vocabulary import table, word_list
from holdfast.model.claims.word_stems import STOP, Token, canonical, opposed, several, terms, weight
from holdfast.patterns import regex
from holdfast.values import frozen

# The value that a text leans to of a topic of which a thing has only one: how much of its phrase is said.
# The table `topics` holds phrases as people write them.

Meaning = tuple[str, str]  # topic and value

_FILL = several("a an the our its their is are be been was were to of that this it we you your , for")
_NO = several("no not never without none don't isn't aren't cannot can't doesn't nothing nobody non")


@frozen
class TopicLeaning:
    """The value of a topic that a text leans to: how much of it is said (0 to 1), and with which sign."""

    value: str
    share: float
    sign: int


_LEAST, _MANY, _TELLING = 0.6, 200, 3.5  # guesses, tried on labelled pairs (docs/explanation/contradictions.md)
_MARKS = str.maketrans("|=,-", "    ")


def _root(low: str) -> str:
    """The first letters of a word, which its forms share."""
    return "" if low in _FILL else low if low in _NO else low.removesuffix("s")[:6]


class _Rows:
    """The topics by the roots of their phrases; one is taken apart when a text says enough of it."""

    def __init__(self) -> None:
        self._named = [row.split("|") for row in table("topics")]
        spelled = [" ".join(value.partition("=")[2] for value in named[1:]) for named in self._named]
        words = [text.translate(_MARKS).split() for text in spelled]
        roots = {word: _root(word) for word in set().union(*words)}
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(words):
            for root in {roots[word] for word in one}:
                self._holders[root].append(number)
        self._apart: dict[int, list[tuple[Meaning, set[str], float]]] = {}
        self._count = sum(text.count(",") for text in spelled) + sum(len(named) - 1 for named in self._named)

    def holders(self, root: str) -> Sequence[int]:
        """The numbers of the topics with a root, unless they are too many to tell anything."""
        found = self._holders.get(root, ()) if root else ()
        return found if len(found) < _MANY or root in _NO else ()

    def worth(self, root: str) -> float:
        """How much a root tells."""
        return math.log(self._count / 10 / len(self._holders[root]))

    def phrases(self, number: int) -> list[tuple[Meaning, set[str], float]]:
        """The phrases of a topic as bags of roots, each with what it means and the worth of all of it."""
        if number not in self._apart:
            topic, *values = self._named[number]
            named = [(value.partition("=")[0].strip(), value.partition("=")[2].split(",")) for value in values]
            bags = [
                ((topic.strip(), name), {*map(_root, form.translate(_MARKS).split())} - {""})
                for name, forms in named
                for form in forms
            ]
            self._apart[number] = [(meant, bag, math.fsum(map(self.worth, bag))) for meant, bag in bags]
        return self._apart[number]


_rows = cache(_Rows)


def leanings(words: tuple[Token, ...], signs: tuple[int, ...]) -> dict[str, TopicLeaning]:
    """For each topic of which a text says most of some value's phrase: the value it leans to."""
    rows = _rows()
    places = {root: at for at, word in enumerate(words) if rows.holders(root := _root(word.low))}
    worth = {root: rows.worth(root) for root in places}
    said: dict[int, float] = defaultdict(float)
    for root, amount in worth.items():
        for number in rows.holders(root):
            said[number] += amount
    order = {root: place for place, root in enumerate(places)}
    found: list[tuple[float, int, int, str, TopicLeaning]] = []
    roots, most = set(worth), max(worth.values(), default=0.0)
    for row in (number for number, amount in said.items() if amount >= _TELLING):
        for (topic, value), bag, whole in rows.phrases(row):
            told = bag & roots
            if len(told) * most < _TELLING:  # as of most phrases: too little is said of it, whatever that is worth
                continue
            amount = math.fsum(worth[root] for root in told)  # in any order: a set has none
            if amount >= _TELLING and amount >= _LEAST * whole:
                is_denied = not bag & _NO and any(signs[places[root]] < 0 for root in told)
                leaning = TopicLeaning(value, amount / whole, -1 if is_denied else 1)
                found.append((-leaning.share, min(order[root] for root in told), row, topic, leaning))
    found.sort(key=lambda one: one[:3])  # of those of which as much is said the one that begins first
    return {topic: leaning for *_, topic, leaning in reversed(found)}


_DENIES = several(word_list("features.denies"))
_OF_A_NAME = several("no without neither nor none instead rather except excluding besides beyond than over")
_SUBJECT = several(word_list("features.subject"))
_BE = several("is are was were be been being am has have had will it's gets get got")
_BREAKS = several("but however whereas while although though instead yet")
_ENDS = several(word_list("features.ends"))
_PLAIN = terms(word_list("features.plain"))
_NOT_DENIED = several("only just least even necessarily")
_NEW = several(word_list("features.new"))


@frozen(eq=False)  # one for each text: kept, and found again as itself
class WordSigns:
    """The words of a text in order, the sign of each (1, -1; 0: it builds the sentence), and their sums."""

    words: tuple[Token, ...]
    signs: tuple[int, ...]
    called: tuple[str, ...]  # the name of each word
    affirmed: frozenset[str]
    denied: frozenset[str]

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
    called = [word.stem for word in words]
    affirmed, denied = set[str](), set[str]()
    for word, name, sign in zip(words, called, marks, strict=True):
        if sign:
            # The words within a path, a file name or an identifier count, too.
            pieces = _PIECE.findall(word.raw) if word.named and len(word.raw) >= 4 else []
            inside = [canonical(piece.lower()) for piece in pieces if len(piece) > 2] if len(pieces) > 1 else []
            (affirmed if sign > 0 else denied).update((name, *inside))
    return WordSigns(tuple(words), tuple(marks), tuple(called), frozenset(affirmed), frozenset(denied))


_PIECE = regex(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


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
    builds = STOP | _DENIES | _OF_A_NAME
    marks = [int(w.kind not in ("op", "mark") and len(w.low) < 64 and w.low not in builds) for w in piece]
    for at, word in enumerate(piece):
        following = piece[at + 1].low if at + 1 < len(piece) else ""
        before = piece[at - 1].low if at else ""
        if word.low in _SUBJECT and before in _BE | {"not", "never", "no", "longer"} | _ADVERBS:
            _turn(marks, 0, at)
        elif word.low == "not" and before == ",":
            _turn(marks, at + 1, _end(piece, at + 1))
        elif word.low in _DENIES and not (word.low == "not" and following in _NOT_DENIED):
            if word.low != "rule" or following == "out":
                _deny(piece, marks, at)
        elif _of_name(word.low, following, piece):
            start = at + 1 + (following in ("of", "than"))
            if following == "longer":
                _deny(piece, marks, at)
            else:
                _turn(marks, start, _end(piece, start))
    return marks


_ADVERBS = several("strictly explicitly now currently long completely entirely fully also still already")


def _of_name(low: str, following: str, piece: list[Token]) -> bool:
    if low not in _OF_A_NAME or following in ("more", "less", "fewer", "later", "earlier"):
        return False
    if low in ("instead", "rather"):
        return following == ("of" if low == "instead" else "than")
    if low == "over":
        return any(word.low.startswith(("prefer", "favo", "cho")) for word in piece)
    return low not in ("than", "beyond")


def _deny(piece: list[Token], marks: list[int], at: int) -> None:
    """Turn what a denying verb denies: what follows it; its subject, where nothing of weight follows."""
    ends = {"because", "since", "unless", "if", "when", "until"}
    reach = range(at + 1, len(piece))
    end = next((p for p in reach if piece[p].low in ends or (piece[p].low == "," and p > at + 1)), len(piece))
    told = [p for p in range(at + 1, end) if marks[p] and piece[p].stem not in _PLAIN and weight(piece[p].stem) == 1]
    near = [p for p in told if not any(piece[q].low in _ENDS for q in range(at + 1, p))]
    if not told or (not near and piece[at].low in ("not", "never", "isn't", "aren't", "cannot", "can't")):
        _turn(marks, 0, at)
    _turn(marks, at + 1, end)


def _end(piece: list[Token], start: int) -> int:
    """Where what is denied by name ends."""
    ends = (at for at in range(start + 1, len(piece)) if piece[at].kind == "mark" or piece[at].low in _ENDS)
    return next(ends, len(piece))


def _turn(marks: list[int], start: int, end: int) -> None:
    for at in range(start, min(end, len(marks))):
        marks[at] = -marks[at]


Names = frozenset[str]
Features = dict[str, float]


@lru_cache(maxsize=64)  # a pair is asked about twice: does it contradict, does it repeat
def measure_features(one: Statement, other: Statement) -> Features:
    """The evidence by name."""
    s, t = word_signs(one.text), word_signs(other.text)
    ours, theirs = read_clauses(one.text, one.kind), read_clauses(other.text, other.kind)
    found: Features = {"bias": 1.0}
    _overlap(found, s, t)
    _signs(found, s, t)
    _leanings(found, s, t)
    _clauses(found, ours, theirs)
    _figures(found, ours, theirs)
    # Where both say several things, one of these may be about what the others tell.
    found["outright"] = float(min(len(ours), len(theirs)) == 1 and any(outright(a, b) for a in ours for b in theirs))
    return found


def _overlap(found: Features, s: WordSigns, t: WordSigns) -> None:
    shared = s.names & t.names
    both, left, right = mass(shared), mass(s.names - shared), mass(t.names - shared)
    found["alike"] = both / (both + left + right) if both else 0.0
    found["held"] = both / (both + min(left, right)) if both else 0.0
    found["own least"] = min(left, right, 6.0) / 6
    found["own most"] = min(max(left, right), 10.0) / 10
    heads, tails = zip(_covered(s, t), _covered(t, s), strict=True)
    found["head least"], found["head most"] = min(heads), max(heads)
    found["tail least"], found["tail most"] = min(tails), max(tails)
    ours, theirs = _letters(s), _letters(t)
    found["letters"] = len(ours & theirs) / math.sqrt(len(ours) * len(theirs) or 1)
    names = [_proper(one) for one in (s, t)]
    both_name = names[0] & names[1]
    found["names shared"] = min(len(both_name), 2) / 2
    found["names differ"] = float(bool(names[0] - both_name) and bool(names[1] - both_name))
    found["names added"] = float(bool(names[0] - both_name) != bool(names[1] - both_name))


def _covered(one: WordSigns, other: WordSigns) -> list[float]:
    """How much of the first half of a text, and of the second, the other text says, too."""
    told = [name for name, sign in zip(one.called, one.signs, strict=True) if sign]
    halves = told[: len(told) // 2] or told, told[len(told) // 2 :]
    return [mass(name for name in half if name in other.names) / (mass(half) or 1.0) for half in halves]


@lru_cache(maxsize=4096)
def _letters(one: WordSigns) -> Names:
    """What a text spells, in pieces of four characters: forms of a word share most of them."""
    text = f" {' '.join(word.low for word in one.words)} "
    return frozenset(text[at : at + 4] for at in range(len(text) - 3))


@lru_cache(maxsize=4096)
def _proper(one: WordSigns) -> Names:
    """What is written as a name."""
    words = [(at, word) for at, word in enumerate(one.words) if one.signs[at] and word.kind == "word"]
    return frozenset(one.called[at] for at, word in words if word.named or (at and word.raw[:1].isupper()))


def _signs(found: Features, s: WordSigns, t: WordSigns) -> None:
    found["flip"] = max(_flip(s, t), _flip(t, s))
    found["deny both"] = float(mass(s.denied & t.denied) >= 1.0)
    found["deny one"] = float(bool(s.denied) != bool(t.denied))
    pairs = [(a, b) for a in s.names - t.names for b in t.names - s.names if opposed(a, b)]
    pairs = [(a, b) for a, b in pairs if a not in KINDS or b not in KINDS]
    same = [(a in s.denied) == (b in t.denied) for a, b in pairs]
    found["opposed"] = float(any(same))
    found["opposed denied"] = float(not all(same))


def _flip(s: WordSigns, t: WordSigns) -> float:
    """How much of what one denies the other asserts."""
    whole = mass(s.denied)
    return mass(s.denied & (t.affirmed - t.denied)) / whole if whole else 0.0


def _leanings(found: Features, s: WordSigns, t: WordSigns) -> None:
    ours, theirs = _leaning(s), _leaning(t)
    clash = agree = flip = 0.0
    for topic in ours.keys() & theirs.keys():
        a, b = ours[topic], theirs[topic]
        share = min(a.share, b.share)
        if a.value == b.value:
            agree, flip = (max(agree, share), flip) if a.sign == b.sign else (agree, max(flip, share))
        elif a.sign == b.sign > 0:
            clash = max(clash, share)
    found["lean"] = clash
    found["lean agrees"] = agree
    found["lean flips"] = flip


@lru_cache(maxsize=4096)
def _leaning(one: WordSigns) -> dict[str, TopicLeaning]:
    return leanings(one.words, one.signs)


def _clauses(found: Features, ours: tuple[Clause, ...], theirs: tuple[Clause, ...]) -> None:
    found |= dict.fromkeys(_RELATIONS, 0.0)
    for name, alike in (pair for a in ours for b in theirs for pair in _relations(a, b)):
        found[name] = max(found[name], alike)


_RELATIONS = ("contrary", "concord", "apart", "sibling", "only", "subject")


def _relations(a: Clause, b: Clause) -> Iterator[tuple[str, float]]:
    shared = share(a, b)
    alike = shared.alike
    if subject := mass(a.subject & b.subject):
        yield "subject", subject / (subject + mass(a.subject ^ b.subject))
    if apart(a, b):
        yield "apart", alike + 0.1
        return
    if shared.siblings:
        yield "sibling", alike
    if (a.stance, b.stance) in CONTRARY:
        yield "contrary", alike
    elif a.stance == b.stance:
        yield "concord", alike
    if a.only != b.only:
        yield "only", alike


def clashing_figures(ours: tuple[Clause, ...], theirs: tuple[Clause, ...]) -> list[tuple[Quantity, Quantity]]:
    """Figures that measure one thing in two clauses and disagree, where none of these agree."""
    met = (figures_met(a, b) for a in ours for b in theirs)
    return [pair for pairs in met if all(disagree(x, y) for x, y in pairs) for pair in pairs]


def _figures(found: Features, ours: tuple[Clause, ...], theirs: tuple[Clause, ...]) -> None:
    met = [pairs for a in ours for b in theirs if (pairs := figures_met(a, b))]
    agreeing = [any(not disagree(x, y) for x, y in pairs) for pairs in met]
    found["number"], found["number agrees"] = float(not all(agreeing)), float(any(agreeing))
    # An upload of 20 MB keeps a limit of 25 MB and is no second way to say it: that needs the same figure.
    values, others = ({_value(q) for clause in side for q in clause.figures} for side in (ours, theirs))
    own, their_own = bool(values - others), bool(others - values)
    found["figure shared"] = float(bool(values & others))
    found["figures same"] = float(bool(values) and values == others)
    found["figures differ"], found["figure added"] = float(own and their_own), float(own != their_own)


def _value(figure: Quantity) -> Key:
    return figure.low if figure.sense == LEAST else figure.high
