"""What an agent only quotes: words that stood in a tool's result before anybody else said them.

A result is anybody's text: a page, a file, another program. What an agent repeats of it is not its own
conclusion, and must not become knowledge because an agent was the last to say it.
"""

from collections import deque
from collections.abc import Iterator
from string import ascii_lowercase, ascii_uppercase

from holdfast.model.transcript import Step, Turn
from holdfast.patterns import regex
from holdfast.values import replace

MOST = 256 << 10  # bytes of what tools gave, and of what was said, that are remembered: the last ones
_ENOUGH = 4  # words: fewer stand in too many texts by chance
_ENDS = regex(r"(?<=[.!?:;])\s+|\n+")
_CURLY = str.maketrans("“”‘’«»", '""""""')
_PLAIN = b"""*_`"'>#|.,;:!?()[]{}\\"""
_FOLDED = bytes.maketrans(_PLAIN + ascii_uppercase.encode(), b" " * len(_PLAIN) + ascii_lowercase.encode())


class Quotes:
    """One run, step by step: what was heard from tools, and what others had said before."""

    def __init__(self) -> None:
        self._heard, self._said = _Lately(), _Lately()
        self._now = 0

    def out_of(self, turn: Turn) -> Turn:
        """The turn with what its agent said itself: what it quotes of results is left out."""
        self._add(self._said, turn.prompt)
        return replace(turn, steps=tuple(self._step(step) for step in turn.steps))

    def _step(self, step: Step) -> Step:
        own = "".join(piece for piece in _pieces(step.text) if not self._is_quote(_words(piece)))
        for text in (step.text, *(call.text for call in step.calls)):
            self._add(self._said, text)
        for call in step.calls:
            self._add(self._heard, call.result.text if call.result else "")
        return step if own == step.text else replace(step, text=own)

    def _add(self, to: "_Lately", text: str) -> None:
        self._now += 1
        to.add(self._now, _words(text))

    def _is_quote(self, words: bytes) -> bool:
        """Whether a tool said it, and nobody else before: what a tool only repeats is not the tool's."""
        heard = self._heard.first(words) if words.count(b" ") > _ENOUGH else None
        said = self._said.first(words) if heard is not None else None
        return heard is not None and (said is None or said > heard)


class _Lately:
    """The last texts of somebody, each with its place among all."""

    def __init__(self) -> None:
        self._texts: deque[tuple[int, bytes]] = deque()
        self._room = MOST

    def add(self, place: int, words: bytes) -> None:
        if words.isspace():
            return
        self._texts.append((place, words[:MOST]))
        self._room -= len(words[:MOST])
        while self._room < 0:
            self._room += len(self._texts.popleft()[1])

    def first(self, words: bytes) -> int | None:
        """The place of the first text that these words stand in."""
        return next((place for place, text in self._texts if words in text), None)


def _pieces(text: str) -> Iterator[str]:
    """A text cut where its sentences and lines end; together the pieces are the text."""
    start = 0
    for found in _ENDS.finditer(text):
        yield text[start : found.end()]
        start = found.end()
    yield text[start:]


def _words(text: str) -> bytes:
    """The words alone, in lower case, a blank around each."""
    plain = text if text.isascii() else text.translate(_CURLY)
    return b" %b " % b" ".join(plain.encode("utf-8", "replace").translate(_FOLDED).split())
