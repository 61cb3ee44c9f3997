"""The statements of a session: every sentence with its place and what the session did about it.

`statement_score` decides which of them are worth keeping.
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

MOST = 4_000  # statements of a session that are scored; a guess that bounds the time of endless sessions
MAX_TEXT = 600  # characters of a statement; a guess: longer ones are not one claim
_FREQUENT = 60  # statements: a word in more of them distinguishes none, and would make this quadratic; a guess
_BOTH = 2  # names of code that a statement shares with a later turn about the same code
_SHAPE = PatternFile(__file__)


@frozen
class SessionStatement:
    """One sentence of a session, and its context."""

    text: str
    words: str  # verbatim
    who: str
    source: str
    turn: int
    wrote: bool  # whether its turn wrote files
    mended: bool  # whether its turn or a later one wrote code, which may have fixed the fault in it
    before: str  # the sentence before it in the same paragraph or item
    after: str
    heading: str
    place: int  # among the sentences of its text
    count: int
    hidden: bool

    @property
    def told(self) -> str:
        """Returns the sentence with the neighbours that it depends on or that explain it."""
        context = self.before if _SHAPE.leans.match(self.text) else ""
        explains = "" if _SHAPE.goes_on.search(self.after) or _SHAPE.asks.search(self.after) else self.after
        return " ".join(filter(None, (context, self.text, explains)))

    @property
    def is_listed(self) -> bool:
        return _SHAPE.bullet.match(self.words) is not None


def statements(turns: Iterable[Utterance]) -> list[SessionStatement]:
    """Returns the statements of a session whose turns have a source."""
    turns = list(turns)
    last = max((turn.turn for turn in turns if turn.wrote and not _wrote_documents(turn)), default=-1)
    found = (one for turn in turns if turn.source in SOURCES for one in _of(turn, mended=turn.turn <= last))
    return [one for one, _ in zip(found, range(MOST), strict=False)]


def _wrote_documents(turn: Utterance) -> bool:
    """Whether a turn wrote only documents, which fix no code."""
    return bool(turn.files) and all(_SHAPE.document.search(path) for path in turn.files)


def is_plan(turn: Utterance) -> bool:
    """Whether a request is a document with sections, mostly an agent's plan: its rules are for this work only."""
    return turn.source == "request" and len(_SHAPE.section.findall(turn.text[:20_000])) > 2


def _of(turn: Utterance, *, mended: bool) -> Iterator[SessionStatement]:
    source = "plan" if is_plan(turn) else turn.source
    read = [one for one in sentences(turn.text) if 15 <= width(one.text) <= 2 * MAX_TEXT]
    headings = _headings(turn.text, read, whole=source == "plan")
    if turn.source == "commit" and read:  # its subject leads every sentence of the body
        headings = [read[0].text if place else "" for place in range(len(read))]
    for place, one in enumerate(read):
        before, after = _neighbour(read, place, -1), _neighbour(read, place, 1)
        yield SessionStatement(
            *(one.text, one.words, turn.who, source, turn.turn, turn.wrote, mended, before, after),
            *(headings[place], place, len(read), one.hidden),
        )


def _neighbour(read: Sequence[Sentence], place: int, step: int) -> str:
    there = place + step
    return read[there].text if 0 <= there < len(read) and read[there].block == read[place].block else ""


def _headings(text: str, read: Sequence[Sentence], *, whole: bool = False) -> list[str]:
    """Returns the heading or bold lead above each sentence; `whole`: a lead with the heading above it."""
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
    """Returns the length of a text; a character of Chinese or Japanese counts as two letters."""
    return len(text) + len(_SHAPE.wide.findall(text))


def telling(text: str) -> frozenset[str]:
    """Returns the specific words of a text; for scripts without blanks the single characters."""
    words = (word.strip("'./-").lower() for word in _SHAPE.word.findall(text))
    return frozenset(words) - _SHAPE.words("common")


def code_names(text: str) -> frozenset[str]:
    """Returns the names of code in a text: between backticks, or spelled like code."""
    return frozenset(name.strip("`") for name in _SHAPE.code.findall(text))


class SessionWords:
    """The words of a session's statements, and what each turn asked, said and did."""

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
        """Returns what was asked, said … in a turn."""
        return "\n".join(self._of.get((of, turn), ()))

    def said(self, turn: int) -> str:
        return f"{self.text('said', turn)}\n{self.text('closing', turn)}"

    def words(self, of: str, turn: int) -> frozenset[str]:
        """Returns the specific words of what was asked, said … in a turn."""
        if (of, turn) not in self._known:
            text = self.said(turn) if of == "answered" else self.text(of, turn)
            self._known[of, turn] = telling(text)
        return self._known[of, turn]

    def around(self, turn: int) -> tuple[frozenset[str], frozenset[str]]:
        """Returns the specific words of all requests up to a turn, and of all text after it.

        Only those of the last turn are cached: statements come in order, and all together would fill the memory.
        """
        if self._around[0] != turn:
            asked = (self.words("asked", number) for number in self.numbers if number <= turn)
            after = [self.words(of, n) for n in self.numbers if n > turn for of in ("asked", "answered")]
            self._around = (turn, frozenset().union(*asked), frozenset().union(*after))
        return self._around[1:]

    def is_worked_on(self, one: SessionStatement) -> bool:
        """Whether a later turn that wrote files speaks of the same code: of two names, as one may be chance."""
        turns = Counter(turn for name in code_names(one.text) for turn in self._named.get(name, ()))
        return any(turn > one.turn and count >= _BOTH for turn, count in turns.items())

    @cached_property
    def _named(self) -> dict[str, list[int]]:
        """Returns for each name of code the turns that wrote files and speak of it."""
        found: dict[str, list[int]] = {}
        for turn in self.wrote:
            for name in code_names(self.said(turn)):
                found.setdefault(name, []).append(turn)
        return found

    @cached_property
    def committed_words(self) -> frozenset[str]:
        return frozenset().union(*(self.words("commit", turn) for turn in self.committed))

    def weight(self, words: Iterable[str]) -> float:
        """Returns how well words distinguish the statements of this session."""
        return fsum(self._weights.get(word, 0.0) for word in words)  # the same sum in any order

    def likeness(self, one: int, other: int) -> float:
        """Returns how similar the topics of two statements are, from 0 to 1."""
        both = self.weight(self.about[one] & self.about[other])
        return both / max(1e-9, min(self.weight(self.about[one]), self.weight(self.about[other])))

    @cached_property
    def repeated(self) -> list[int]:
        """Returns for each statement how many others have much of the same content."""
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
    """Returns the text up to the end of a word before the limit."""
    return text if len(text) <= limit else f"{text[:limit].rsplit(' ', 1)[0]} …"


def is_code_like(text: str) -> bool:
    """Whether most of a text is not prose."""
    wide = len(_SHAPE.wide.findall(text)) // 2  # two characters of Chinese or Japanese are about a word
    return wide + len(re.findall(r"[A-Za-z\u0080-\u2fff]{2,}", text)) < 3
