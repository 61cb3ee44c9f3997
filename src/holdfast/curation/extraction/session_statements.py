"""The statements of a session: every sentence somebody said, with where it stands and what the session did about it.

Which of them are worth keeping is for `statement_score` to say.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cached_property
from math import fsum, log

from holdfast.curation.extraction.turn_sentences import Sentence, sentences
from holdfast.model.utterance import SOURCES, Utterance
from holdfast.patterns import TYPE_CHECKING, PatternFile
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

MOST = 4_000  # statements of a session that are weighed
MAX_TEXT = 600  # characters of one
_FREQUENT = 60  # statements: a word that stands in more of them does not tell them apart
_SHAPE = PatternFile(__file__)


@frozen
class SessionStatement:
    """One sentence of a session, and what stands around it."""

    text: str
    words: str  # verbatim
    who: str
    source: str
    turn: int
    wrote: bool  # whether its turn wrote files
    mended: bool  # whether its turn or a later one wrote code: it may have mended what is wrong here
    before: str  # the sentence before it in the same paragraph or item
    after: str
    heading: str
    place: int  # among the sentences of its text
    count: int
    hidden: bool

    @property
    def told(self) -> str:
        """The sentence with what belongs to it: what it leans on, and what explains it."""
        leans = self.before if _SHAPE.leans.match(self.text) else ""
        explains = "" if _SHAPE.goes_on.search(self.after) or _SHAPE.asks.search(self.after) else self.after
        return " ".join(filter(None, (leans, self.text, explains)))

    @property
    def is_listed(self) -> bool:
        return _SHAPE.bullet.match(self.words) is not None


def statements(turns: Iterable[Utterance]) -> list[SessionStatement]:
    """The statements of a session whose turns say where their words stand."""
    turns = list(turns)
    last = max((turn.turn for turn in turns if turn.wrote and not _wrote_documents(turn)), default=-1)
    found = (one for turn in turns if turn.source in SOURCES for one in _of(turn, mended=turn.turn <= last))
    return [one for one, _ in zip(found, range(MOST), strict=False)]


def _wrote_documents(turn: Utterance) -> bool:
    """Whether all that a turn wrote are documents, which mend no code."""
    return bool(turn.files) and all(_SHAPE.document.search(path) for path in turn.files)


def is_plan(turn: Utterance) -> bool:
    """Whether a request is a document with sections, mostly an agent's plan: its rules are for this work."""
    return turn.source == "request" and len(_SHAPE.section.findall(turn.text[:20_000])) > 2


def _of(turn: Utterance, *, mended: bool) -> Iterator[SessionStatement]:
    source = "plan" if is_plan(turn) else turn.source
    read = [one for one in sentences(turn.text) if 15 <= width(one.text) <= 2 * MAX_TEXT]
    headings = _headings(turn.text, read, whole=source == "plan")
    if turn.source == "commit" and read:  # its subject leads every sentence of the body
        headings = [read[0].text if place else "" for place in range(len(read))]
    for place, one in enumerate(read):
        before, after = _beside(read, place, -1), _beside(read, place, 1)
        yield SessionStatement(
            *(one.text, one.words, turn.who, source, turn.turn, turn.wrote, mended, before, after),
            *(headings[place], place, len(read), one.hidden),
        )


def _beside(read: Sequence[Sentence], place: int, step: int) -> str:
    there = place + step
    return read[there].text if 0 <= there < len(read) and read[there].block == read[place].block else ""


def _headings(text: str, read: Sequence[Sentence], *, whole: bool = False) -> list[str]:
    """The heading or bold lead that each sentence stands under; `whole`: a lead with the heading above it."""
    marks, above = list[tuple[int, str]](), ""
    for found in _SHAPE.heading.finditer(text):
        above = found[1] or above
        marks.append((found.start(), f"{above} / {found[2]}" if whole and found[2] else found[1] or found[2]))
    headings, at, mark, heading = [], 0, 0, ""
    for one in read:
        start = text.find(one.words[:60], at)
        at = start if start >= 0 else at
        while mark < len(marks) and marks[mark][0] <= at:
            heading, mark = marks[mark][1], mark + 1
        headings.append(heading)
    return headings


def width(text: str) -> int:
    """The length of a text; a character of Chinese or Japanese says about as much as two letters."""
    return len(text) + len(_SHAPE.wide.findall(text))


def telling(text: str) -> frozenset[str]:
    """The words that tell what a text is about; of scripts without blanks the single characters."""
    words = (word.strip("'./-").lower() for word in _SHAPE.word.findall(text))
    return frozenset(words) - _SHAPE.words("common")


def code_names(text: str) -> frozenset[str]:
    """Names of code in a text: what stands between backticks, or is spelled as only code is."""
    return frozenset(name.strip("`") for name in _SHAPE.code.findall(text))


class SessionWords:
    """What a session is about: its statements by their words, and what each turn asked, said and did."""

    def __init__(self, turns: Sequence[Utterance], found: Sequence[SessionStatement]) -> None:
        self.statements = found
        self.about = [telling(one.told) for one in found]
        often = Counter(word for words in self.about for word in words)
        self._weights = {word: log((len(found) + 1) / (count + 0.5)) for word, count in often.items()}
        self._of: dict[tuple[str, int], list[str]] = {}
        for turn in turns:
            self._of.setdefault(("asked" if turn.source == "request" else turn.source, turn.turn), []).append(turn.text)
        self.wrote = {turn.turn for turn in turns if turn.wrote}
        self.committed = {turn.turn for turn in turns if turn.source == "commit"}
        self.numbers = sorted({turn.turn for turn in turns})
        self._known: dict[tuple[str, int], frozenset[str]] = {}
        self._around: tuple[int, frozenset[str], frozenset[str]] = (-1, frozenset(), frozenset())

    def text(self, of: str, turn: int) -> str:
        """What was asked, said … in a turn."""
        return "\n".join(self._of.get((of, turn), ()))

    def said(self, turn: int) -> str:
        return f"{self.text('said', turn)}\n{self.text('closing', turn)}"

    def words(self, of: str, turn: int) -> frozenset[str]:
        """The telling words of what was asked, said … in a turn."""
        if (of, turn) not in self._known:
            text = self.said(turn) if of == "answered" else self.text(of, turn)
            self._known[of, turn] = telling(text)
        return self._known[of, turn]

    def around(self, turn: int) -> tuple[frozenset[str], frozenset[str]]:
        """The telling words of what was asked up to a turn, and of all that was said after it.

        Only those of the last turn are kept: statements come in order, and all together would fill the memory.
        """
        if self._around[0] != turn:
            asked = (self.words("asked", number) for number in self.numbers if number <= turn)
            after = [self.words(of, n) for n in self.numbers if n > turn for of in ("asked", "answered")]
            self._around = (turn, frozenset().union(*asked), frozenset().union(*after))
        return self._around[1:]

    @cached_property
    def committed_words(self) -> frozenset[str]:
        return frozenset().union(*(self.words("commit", turn) for turn in self.committed))

    def weight(self, words: Iterable[str]) -> float:
        """How much words tell the statements of this session apart."""
        return fsum(self._weights.get(word, 0.0) for word in words)  # the same in whichever order

    def likeness(self, one: int, other: int) -> float:
        """How much two statements are about the same, from 0 to 1."""
        both = self.weight(self.about[one] & self.about[other])
        return both / max(1e-9, min(self.weight(self.about[one]), self.weight(self.about[other])))

    @cached_property
    def repeated(self) -> list[int]:
        """For each statement how many others say much of the same."""
        places: dict[str, list[int]] = {}
        for number, words in enumerate(self.about):
            for word in words:
                places.setdefault(word, []).append(number)
        found = []
        for number, words in enumerate(self.about):
            near = Counter(there for word in words if len(places[word]) <= _FREQUENT for there in places[word])
            del near[number]
            found.append(sum(shared >= max(3, 0.4 * len(words)) for shared in near.values()))
        return found


def shortened(text: str, limit: int) -> str:
    """The text up to the end of a word before the limit."""
    return text if len(text) <= limit else f"{text[:limit].rsplit(' ', 1)[0]} …"


def is_code_like(text: str) -> bool:
    """Whether most of a text is no prose."""
    wide = len(_SHAPE.wide.findall(text)) // 2  # two characters of Chinese or Japanese are about a word
    return wide + len(re.findall(r"[A-Za-z\u0080-\u2fff]{2,}", text)) < 3
