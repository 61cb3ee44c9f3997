"""Reads a statement as clauses: what each one is about, what it says of it, and where it holds.

A clause names things, figures and surroundings: in tests, in production, on Windows, for version 2.
Two clauses that name surroundings of one kind and have none in common do not contradict each other.

Only the claim is read: what follows a blank line, a label such as `Rationale:` or a `because` explains it and
contradicts nothing. Each sentence gives one clause or several (`use uv instead of pip` gives two).
"""

from functools import lru_cache

from holdfast.model.claims import modality
from holdfast.model.claims.numbers import EXACT, Quantity, quantities
from holdfast.model.claims.sentences import ClaimPart, parts
from holdfast.model.claims.vocabulary import word_list, word_values
from holdfast.model.claims.word_stems import STOP, Token, canonical, several, terms, weight
from holdfast.patterns import regex
from holdfast.values import frozen


@frozen
class Statement:
    """What a memory says (details may follow after a blank line), its kind, and the paths it governs."""

    text: str
    kind: str = "fact"
    applies_to: tuple[str, ...] = ()


@frozen
class Verdict:
    """Why two statements cannot stand side by side."""

    kind: str  # value, negation, modality, number, twin
    why: str  # a short sentence for people that names the two values
    score: float  # how sure the judge is, from 0 to 1
    certain: bool = True  # it contradicts and blocks an acceptance; else it may, and is only shown

    @property
    def names(self) -> bool:
        """Whether `why` names what differs; else it quotes both texts."""
        return not self.why.startswith("“")


Scope = tuple[tuple[str, frozenset[str]], ...]  # kind of surroundings, and which


# Each word that names surroundings: their kind, and which of that kind they are.
KINDS = {
    canonical(word): (kind, frozenset((members or word).split("+")))
    for kind in ("environment", "system", "side", "age", "exposure", "source")
    for word, members in word_values(f"clauses.{kind}").items()
}
_VERSION = regex(r"v\d{1,3}\Z")
_METHODS = several("GET POST PUT PATCH DELETE HEAD")


def scopes(words: tuple[Token, ...]) -> Scope:
    """The surroundings that a clause names."""
    found: dict[str, set[str]] = {}
    for word in words:
        if _VERSION.match(word.low):
            found.setdefault("version", set()).add(word.low)
        elif word.raw in _METHODS:
            found.setdefault("method", set()).add(word.low)
        elif word.stem in KINDS:
            found.setdefault(KINDS[word.stem][0], set()).update(KINDS[word.stem][1])
    return tuple((name, frozenset(members)) for name, members in found.items())


_MAX_CLAUSES = 12  # a guess: bounds the comparison of each with each


@frozen(eq=False)  # read once for each text, and found again as itself
class Clause:
    """One thing a text claims."""

    words: tuple[Token, ...]  # as read, stop words included
    names: frozenset[str]  # what it speaks of
    subject: frozenset[str]
    stance: str
    slots: tuple[tuple[str, frozenset[str]], ...]  # by preposition: in, with, as, from …; "" for the object
    figures: tuple[Quantity, ...]
    scope: tuple[tuple[str, frozenset[str]], ...]
    modifiers: frozenset[tuple[str, str]]  # (word, the word it stands before) where it narrows what is meant
    named: frozenset[str]  # words written as names or code
    only: bool
    tried: bool  # what a dead end says was tried


@lru_cache(maxsize=4096)
def read_clauses(text: str, kind: str = "fact") -> tuple[Clause, ...]:
    """The clauses of a text, in order."""
    found = [_clause(part) for part in parts(text, dead_end=kind == "dead-end")[:_MAX_CLAUSES]]
    return tuple(clause for clause in found if clause.names or clause.figures)


def _clause(part: ClaimPart) -> Clause:
    words = part.words
    mood = modality.mood(words)
    lows = {word.low for word in words}
    stance = modality.FLIPPED[mood.stance] if part.refused else mood.stance
    figures = tuple(quantities(words, negated=bool(lows & _REFUSES)))
    limits = [figure for figure in figures if figure.sense != EXACT]
    if stance == modality.NO and any(_bare(words, max(mood.after, part.verb), limit.first) for limit in limits):
        figures = tuple(quantities(words, negated=True))
        stance = modality.YES  # what it denies is the other side of the figure
    # The noun that a figure counts also says what the clause is about.
    measured = [(at, figure) for figure in figures for at in range(figure.first, figure.last)]
    taken = {at for at, figure in measured if figure.dimension != f"count:{words[at].stem}"}
    content = [at for at in range(len(words)) if at not in taken and _tells(words, at)]
    names = frozenset(_name(words, at) for at in content)
    verb_at = part.verb
    return Clause(
        words=words,
        names=names,
        subject=frozenset(_name(words, at) for at in content if at < verb_at),
        stance=stance,
        slots=_slots(words, content, part, figures),
        figures=figures,
        scope=scopes(words),
        modifiers=_modifiers(words, content, verb_at),
        named=frozenset(_name(words, at) for at in content if words[at].named or (at and words[at].raw[:1].isupper())),
        only=bool(lows & {"only", "exclusively", "solely", "alone"}),
        tried=part.tried,
    )  # fmt: skip


def _bare(words: tuple[Token, ...], denial: int, figure: int) -> bool:
    """Whether only the comparison stands between a denial and its figure: `must not be larger than`."""
    between = words[denial + 1 : figure]
    return all(weight(word.stem) < 1.0 or word.low in STOP or word.stem in _COMPARED for word in between)


_COMPARED = terms("older newer earlier later") | terms(
    "exceed larger longer bigger more less smaller over above below under beyond drop fall go rise grow"
)


_REFUSES = several(word_list("clauses.refuses"))
_ON_OFF = {"on": "enable", "off": "disable"}


def _name(words: tuple[Token, ...], at: int) -> str:
    return _ON_OFF.get(words[at].low, words[at].stem)


def _tells(words: tuple[Token, ...], at: int) -> bool:
    """Whether a word says what the clause is about."""
    word = words[at]
    if word.kind in ("op", "mark"):
        return False
    if word.low in ("up", "down") and at == len(words) - 1:
        return True
    if word.low in _ON_OFF:
        return at == len(words) - 1 or words[at - 1].low in ("turned", "switched")
    if word.low in modality.DENIES:
        return not modality.denies(words, at)
    return word.low not in STOP and len(word.low) < 64


PREPOSITIONS = word_values("clauses.prepositions")


def _slots(
    words: tuple[Token, ...], content: list[int], part: ClaimPart, figures: tuple[Quantity, ...]
) -> tuple[tuple[str, frozenset[str]], ...]:
    """What stands behind each preposition after the verb; "" holds the object."""
    found: dict[str, set[str]] = {}
    measured = {at for figure in figures for at in range(figure.first, figure.last)}
    at_content, slot = set(content), ""
    for at in range(max(part.verb + 1, 0), len(words)):
        low = words[at].low
        if at in measured and at not in at_content:
            slot = "measure"
        elif low in PREPOSITIONS and at not in at_content:
            slot = PREPOSITIONS[low]
        elif at in at_content and not (slot == "" and part.passive and _is_participle(words, at)):
            found.setdefault(slot, set()).add(_name(words, at))
    return tuple((name, frozenset(stems)) for name, stems in found.items())


def _is_participle(words: tuple[Token, ...], at: int) -> bool:
    return words[at].low.endswith(("ed", "en", "t", "ing", "wn", "un"))


_NARROWS = several("in on at for of inside within during across against when under")


def _modifiers(words: tuple[Token, ...], content: list[int], verb: int) -> frozenset[tuple[str, str]]:
    """Pairs of a word and the one right after it, in the subject or behind a preposition that narrows."""
    found, narrows = set(), False
    at_content = set(content)
    for at in range(len(words) - 1):
        low = words[at].low
        if low in PREPOSITIONS or words[at].kind == "mark":
            narrows = low in _NARROWS
        if at in at_content and at + 1 in at_content and (at + 1 < verb or narrows):
            found.add((_name(words, at), _name(words, at + 1)))
    return frozenset(found)
