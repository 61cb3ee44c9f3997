"""Compares two statements: do they contradict each other, do they say the same?

`features` measures a pair. A judge, a sum of small decision trees (`tables/judge.txt`, `tables/twins.txt`), turns that
into a score: a plain sum of weights cannot say that a denial counts only where both are about one thing. There are two
grades. A verdict that is `certain` blocks an acceptance and must almost always be right; one that is not is shown to
whoever reviews, and blocks nothing.

A code name is a subject, not a value: statements that each name code of their own are about two things, and never
contradict for certain. Statements whose path patterns cannot match one file never contradict, nor do texts that differ
only in a number that names. `explained` says which figures or words clash. `SimilarStatements` finds those worth
comparing with one: they share its rarer words.
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache, lru_cache

from holdfast.model.claims import features
from holdfast.model.claims.alignment import apart, paired, share
from holdfast.model.claims.clauses import Clause, Statement, Verdict, read_clauses
from holdfast.model.claims.features import Features, WordSigns, measure_features, word_signs
from holdfast.model.claims.modality import CONTRARY, FLIPPED, MAY, OPT
from holdfast.model.claims.numbers import disagree
from holdfast.model.claims.outright import MEASURES
from holdfast.model.claims.sentences import claim
from holdfast.model.claims.vocabulary import table, word_list
from holdfast.model.claims.word_stems import STOP, several, tokens, weight
from holdfast.patterns import regex
from holdfast.values import replace

_WILD = "*?["


def paths_overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether some path could match both; no pattern at all means everywhere."""
    return not one or not other or any(_meet(a, b) for a in one for b in other)


def _meet(one: str, other: str) -> bool:
    one, other = (path.strip().removeprefix("./").rstrip("/") for path in (one, other))
    if not _wild(one) and not _wild(other):
        return _within(one, other) or _within(other, one)
    if not _wild(one) or not _wild(other):
        path, pattern = (other, one) if _wild(one) else (one, other)
        # `**/` may also stand for no folder at all.
        matches = fnmatchcase(path, pattern) or fnmatchcase(path, pattern.replace("**/", ""))
        return matches or _could_hold(path, pattern)
    head, other_head = _head(one), _head(other)
    # Two patterns that end in different file endings never meet.
    names = [pattern.rpartition("/")[2] for pattern in (one, other)]
    tails = [name.rpartition(".")[2] if "." in name else "" for name in names]
    endings_meet = not all(tails) or any(map(_wild, tails)) or tails[0] == tails[1]
    return endings_meet and (head.startswith(other_head) or other_head.startswith(head))


def _wild(path: str) -> bool:
    return any(c in path for c in _WILD)


def _within(path: str, folder: str) -> bool:
    return path == folder or folder in ("", ".") or path.startswith(folder + "/")


def _head(pattern: str) -> str:
    """The part of a pattern before its first wildcard."""
    return pattern[: min(pattern.find(c) for c in _WILD if c in pattern)]


def _could_hold(path: str, pattern: str) -> bool:
    """Whether a folder could hold something the pattern matches; a path with an ending is a file."""
    if "." in path.rpartition("/")[2].lstrip("."):
        return False
    head = _head(pattern)
    return _within(head.rstrip("/"), path) or (path + "/").startswith(head)


_LABELS = several(word_list("compare.labels"))
_EDGES = "`'\"“”.,;:!?()[]"
_PLACE = regex(r"[/_#@\\]|\w\.\w|^\.")
# Denials that the clauses, which know English, do not see: German, French, Spanish, Chinese, Japanese.
_FOREIGN_NOT = regex(
    r"(?i)\b(?:nicht|kein\w*|nie|niemals|ne|pas|jamais|aucune?|nunca|ningun[oa]?|ningún)\b|[不没非勿别]|ない|ません"
)


def labelled_apart(one: str, other: str) -> bool:
    """Whether two texts are word for word the same but for a number that only names: `part 1`, `issue 12`."""
    ours, theirs = tokens(one), tokens(other)
    if len(ours) != len(theirs):
        return False
    differ = [at for at in range(len(ours)) if ours[at].low != theirs[at].low]
    labelled = all(at and ours[at - 1].low in _LABELS for at in differ)
    return bool(differ) and labelled and all(words[at].low[:1].isdigit() for at in differ for words in (ours, theirs))


def written_apart(one: str, other: str) -> bool:
    """Whether two texts name other files, paths or identifiers, or differ in just one plain word."""
    ours, theirs = ([word.strip(_EDGES).lower() for word in text.split()] for text in (one, other))
    if {word for word in ours if _PLACE.search(word)} != {word for word in theirs if _PLACE.search(word)}:
        return True
    a, b = tokens(one), tokens(other)
    return len(a) == len(b) and sum(x.stem != y.stem for x, y in zip(a, b, strict=True)) == 1


Tree = float | tuple[str, float, "Tree", "Tree"]


@cache
def judge(name: str) -> tuple[float, tuple[Tree, ...]]:
    """The score from which a judge says yes, and its small trees: each adds to the score."""
    start, *rows = table(name)
    return float(start), tuple(_tree(iter(row.split("|"))) for row in rows)


def _judged(name: str, found: Features) -> float | None:
    """The score that a judge gives two statements, above 0 if yes is more likely than no; None: too low to say so."""
    start, trees = judge(name)
    score = sum(vote(tree, found) for tree in trees)
    return score if score >= start else None


def _tree(words: Iterator[str]) -> Tree:
    name, asks, value = next(words).partition("<=")
    if not asks:
        return float(name)
    yes = _tree(words)
    return name, float(value), yes, _tree(words)


def vote(tree: Tree, found: Features) -> float:
    """What one tree adds to the score."""
    while isinstance(tree, tuple):
        name, value, yes, no = tree
        tree = yes if found[name] <= value else no
    return tree


_SHOWN = 60  # characters of a sentence


def explained(one: Statement, other: Statement, found: Features) -> tuple[str, str]:
    """The kind of a contradiction, and what clashes in a few words."""
    return next(_reasons(one, other, found))


def _reasons(one: Statement, other: Statement, found: Features) -> Iterator[tuple[str, str]]:
    """Every reason that can be named, the plainest first; the last one can always be given."""
    ours, theirs = read_clauses(one.text, one.kind), read_clauses(other.text, other.kind)
    s, t = word_signs(one.text), word_signs(other.text)
    for figure, their_figure in features.clashing_figures(ours, theirs):
        yield "number", f"{figure.shown} against {their_figure.shown}"
    contrary = [(share(a, b).alike, a, b) for a in ours for b in theirs if (a.stance, b.stance) in CONTRARY]
    alike, *nearest = max(contrary, key=lambda pair: pair[0], default=(0.0,))
    if alike >= 0.2:
        a, b = nearest
        kind = "modality" if {a.stance, b.stance} & {MAY, OPT} else "negation"
        yield kind, f"{_shown(a)} against {_shown(b)}"
    if found["flip"] >= 0.5:
        yield "negation", f"what one denies the other says: {_denied(s, t)}"
    own, their_own = _own(s, t), _own(t, s)
    if own and their_own:
        yield "negation" if found["opposed"] else "value", f"{own} against {their_own}"
    yield "value", f"{_cut(one.text)} against {_cut(other.text)}"


def _own(one: WordSigns, other: WordSigns) -> str:
    """The few words that one text has for itself."""
    places = [at for at, sign in enumerate(one.signs) if sign and one.called[at] not in other.names]
    return " ".join(one.words[at].raw for at in places) if len(places) <= _FEW_WORDS else ""


_FEW_WORDS = 3  # a guess: a longer quotation names no single thing


def _denied(s: WordSigns, t: WordSigns) -> str:
    """The words, as one of the two writes them, that one denies and the other says."""
    for one, other in ((s, t), (t, s)):
        turned = other.affirmed - other.denied
        places = [at for at, mark in enumerate(one.signs) if mark < 0 and one.called[at] in turned]
        if places:
            return ", ".join(dict.fromkeys(one.words[at].raw for at in places[:4]))
    return "the same"


def _shown(clause: Clause) -> str:
    return _cut(" ".join(word.raw for word in clause.words))


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return f"“{text}”" if len(text) <= _SHOWN else f"“{text[: _SHOWN - 1].rstrip()}…”"


_COMMON = 0.2  # a word in more than this part of all statements tells nothing
_FEW = 50  # … but among so few statements every word tells
# What two statements must share for a hint, in words that no third one has: from 0.9 of one to 1.4 among 32 statements
# and more, 0.7 if their figures clash. With that and _SURER, 74 instead of 176 of 250 sentences beside 765 of one
# project's pages are warned of; true contradictions are seen as before beside one memory, and 62 instead of 78 % of
# them among one or two hundred. A topic that both may lean to is no subject: it spares nothing and is often chance.
_SHARED, _MORE_SHARED, _MOST_SHARED, _WITH_FIGURES = 0.9, 0.1, 1.4, 0.7
_SURER = 0.05  # log odds that the judge must add each time the statements double; with 0.1 59 % are seen


class SimilarStatements:
    """An index over statements by the words they are about."""

    def __init__(self, statements: Mapping[str, Statement]) -> None:
        self._holders: dict[str, list[str]] = defaultdict(list)
        self._count = 0
        for name, statement in statements.items():
            self.add(name, statement)

    def add(self, name: str, statement: Statement) -> None:
        """One more statement to be found."""
        for word in _terms(statement):
            self._holders[word].append(name)
        self._count += 1

    def is_worth_a_hint(self, verdict: Verdict, one: Statement, other: Statement) -> bool:
        """Whether a reviewer should see that two statements may contradict each other.

        They must be about one thing: the same code, or words that tell, fewer of them if they measure one thing. Among
        more statements more share a word by chance, so more must be shared, and the judge must be surer.
        """
        if verdict.certain:
            return True
        start, _ = judge("judge")
        likely, many = min(verdict.score, 0.999), math.log2(self._count)
        odds = math.log(likely / (1 - likely))
        if odds < start + _SURER * many:
            return False
        names = [set(_code_names(word_signs(side.text))) for side in (one, other)]
        shared = math.fsum(weight(word) * self._worth(word) for word in {*_terms(one)} & {*_terms(other)})
        needed = _WITH_FIGURES if verdict.kind == "number" else min(_MOST_SHARED, _SHARED + _MORE_SHARED * many)
        return bool(names[0] & names[1]) or shared >= needed * math.log(1 + self._count / 2)

    def _worth(self, word: str) -> float:
        return math.log(1 + self._count / (1 + len(self._holders.get(word, ()))))

    def near(self, one: Statement, *, limit: int = 16) -> list[str]:
        """The names of the nearest statements, nearest first."""
        scores: dict[str, float] = defaultdict(float)
        for word in _terms(one):
            holders = self._holders.get(word, ())
            if len(holders) > max(_FEW, self._count * _COMMON):
                continue
            worth = self._worth(word)
            for name in holders:
                scores[name] += worth
        return heapq.nsmallest(limit, scores, key=lambda name: (-scores[name], name))


def _terms(statement: Statement) -> Iterable[str]:
    """The words of a claim, each once."""
    words = tokens(claim(statement.text))
    return sorted({word.stem for word in words if word.kind != "mark" and word.low not in STOP})


def conflict(accepted: Statement, candidate: Statement, *, gone: bool = False) -> Verdict | None:
    """Why the candidate contradicts the accepted statement, or may do so, or None.

    `gone`: the first was superseded or rejected; then only the same claim again is a conflict.
    """
    if not paths_overlap(accepted.applies_to, candidate.applies_to):
        return None
    if gone:
        again = same(accepted, candidate)
        if not again and not looks_like(accepted, candidate):
            return None
        return Verdict("twin", "the same claim was put aside before", 0.9 if again else 0.5, certain=again)
    if accepted.text == candidate.text or labelled_apart(accepted.text, candidate.text):
        return None
    of_one_thing = _code_agrees(word_signs(accepted.text), word_signs(candidate.text))
    if of_one_thing < 0:
        return None
    found = measure_features(accepted, candidate)
    score = _judged("judge", found)
    if score is None or (score < _UNLIKELY and (_judged("twins", found) or 0) > 0):  # most likely one claim
        return None
    kind, why = explained(accepted, candidate, found)
    ended = accepted.kind == candidate.kind == "dead-end"  # two ways that failed
    sure = bool(found["outright"]) and score >= 0 and of_one_thing > 0 and not ended
    return Verdict(kind, why, round(1 / (1 + math.exp(-score)), 3), certain=sure)


_UNLIKELY = -0.7  # one in three
_CODE = regex(r"\w_\w|\(\)$|^[a-z]+[A-Z]|^_|^[a-z]\w*\.[a-z]|/")
_LITERAL = regex(r"[-\d.]+\w?$|(?:true|false|none|null|nil|yes|no)$")


@lru_cache(maxsize=4096)
def _code_names(one: WordSigns) -> dict[str, int]:
    """The names of code in a text, and where each stands first."""
    found: dict[str, int] = {}
    for at, word in enumerate(one.words):
        if word.kind == "word" and (word.code or _CODE.search(word.raw)) and not _LITERAL.match(word.low):
            found.setdefault(word.raw.partition("(")[0], at)
    return found


def _code_agrees(s: WordSigns, t: WordSigns) -> int:
    """1: no text names code that the other does not; 0: one does, or both do behind the verb; -1: two subjects."""
    own, their_own = _own_code(s, t), _own_code(t, s)
    if own is None and their_own is None:
        return 1
    if own is None or their_own is None:  # behind the verb it may be a detail
        return int(not (own or their_own))
    return -1 if own and their_own else 0


def _own_code(one: WordSigns, other: WordSigns) -> bool | None:
    """Whether code that only one of two texts names stands in its first half, as subjects do; None: there is none."""
    theirs = {*_code_names(other), *(word.raw for word in other.words)}
    tails = {name.rpartition(".")[2] for name in theirs}
    own = {name: at for name, at in _code_names(one).items() if name not in theirs}
    places = [at for name, at in own.items() if name.rpartition(".")[2] not in tails]
    return min(places) * 2 < len(one.words) if places else None


def looks_like(one: Statement, other: Statement) -> bool:
    """Whether two statements are most likely one claim, however it is worded."""
    if labelled_apart(one.text, other.text) or _code_agrees(word_signs(one.text), word_signs(other.text)) < 0:
        return False
    return _judged("twins", measure_features(one, other)) is not None


def same(one: Statement, other: Statement) -> bool:
    """Whether two statements are one claim in other words."""
    if one.text == other.text:
        return True
    if labelled_apart(one.text, other.text) or written_apart(one.text, other.text):
        return False
    if len(_FOREIGN_NOT.findall(one.text)) != len(_FOREIGN_NOT.findall(other.text)):
        return False
    ours, theirs = read_clauses(one.text, one.kind), read_clauses(other.text, other.kind)
    if not ours or not theirs:
        return one.text.split() == other.text.split()
    tried = [[clause for clause in side if clause.tried] for side in (ours, theirs)]
    if all(tried) and alike(tried[0][0], tried[1][0]):
        return True
    ours, theirs = (tuple(clause for clause in side if not clause.tried) or side for side in (ours, theirs))
    shorter, longer = sorted((ours, theirs), key=len)  # who adds a remark still says the same
    if not all(any(alike(a, b) for b in longer) for a in shorter):
        return False
    return conflict(one, other) is None  # "in X, not in Y" repeats the words of "in Y"


def alike(one: Clause, other: Clause) -> bool:
    """Whether two clauses say the same."""
    shared = share(one, other)
    figures = len(one.figures) == len(other.figures) and all(
        any(
            (a.dimension == b.dimension or "" in (a.dimension, b.dimension)) and not disagree(a, b)
            for b in other.figures
        )
        for a in one.figures
    )
    if apart(one, other) or shared.siblings or not figures or one.only != other.only:
        return False
    if one.figures:
        units = {figure.dimension.rpartition(":")[2] for figure in one.figures + other.figures}
        shared = replace(shared, left=shared.left - MEASURES - units, right=shared.right - MEASURES - units)
    joined, flips = paired(one, other, shared)
    same_stance = one.stance == (FLIPPED[other.stance] if flips else other.stance)
    if not same_stance or _ordered(one) != _ordered(other):
        return False
    own = [side.named & left for side, left in ((one, joined.left), (other, joined.right))]
    if all(own) and joined.alike < 0.85:
        return False
    return joined.alike >= 0.7


def _ordered(clause: Clause) -> frozenset[str] | None:
    """What comes first, where a clause orders two things: `A before B`, `A wins over B`."""
    lows = [word.low for word in clause.words]
    at = next((at for at, low in enumerate(lows) if low in _ORDERS), -1)
    if at < 0:
        return None
    sides = clause.words[at:] if lows[at] == "after" else clause.words[:at]
    return frozenset(word.stem for word in sides) & clause.names


_ORDERS = several("before then after over overrides beats trumps precedes")
