"""The quick look misses nothing: it finds every place that a slow and plain search finds."""

import importlib
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.security.encoded_words import LongWords, is_parted, long_words
from holdfast.security.redact import VisibleBytes
from holdfast.security.rule_anchors import AnchorHits, Stems
from holdfast.security.rules import BESIDE, NEAR, REACH, WORD, WORD_BYTES, Patience, SecretShape, shapes

from .corpus import samples
from .fakes import HARMLESS, IN_CONTEXT, ISSUED

PARSER = importlib.import_module("re._parser")  # the only way to know which bytes a pattern can match
SHAPES = shapes()
STEMS = Stems(SHAPES)
ISSUED_SHAPES = [shape for shape in shapes() if shape.issued]
RANDOM = re.compile(rb"(?=[A-Za-z0-9_+-]{20})[A-Za-z0-9_+-]*?[0-9][A-Za-z_-]{1,24}[0-9]")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+"
BETWEEN = (*"./:=% \n\"'\\_-+", "\\n", "\\u003d", "%3D", ", ", " a ", ". ", "x")
TOLD = ("token", "secret", "key", "api_key", "password", "apiKey", "-api-key", "--token", "APP_KEY", "cwd")
JOINTS = ("=", ": ", '": "', " ", " = ", "\n  ", ": |\n   ", "\\n  ", "            \n ", " != ", ": str = ", "s(")


def slowly(text: bytes, shapes: list[tuple[int, SecretShape]]) -> Iterator[tuple[int, int]]:
    """Every place where an anchor of these shapes stands and the shape matches."""
    for number, shape in shapes:
        flags = re.IGNORECASE if shape.fold else 0
        anchors = re.compile(b"|".join(re.escape(anchor) for anchor in shape.anchors), flags)
        found = anchors.search(text)
        while found is not None:
            if shape.compiled().match(text, found.start()):
                yield found.start(), number
            found = anchors.search(text, found.start() + 1)


def beside_a_name(text: bytes) -> Iterator[tuple[int, int]]:
    """Every place where a provider's name stands whose value begins with a long random word."""
    for number, shape in enumerate(SHAPES):
        for found in re.finditer(b"|".join(shape.anchors), text, re.IGNORECASE) if shape.beside else ():
            match = shape.compiled().match(text, found.start())
            if match and match.start(1) <= found.start() + BESIDE and RANDOM.match(text, match.start(1)):
                yield found.start(), number


def near_a_long_word(text: bytes, start: int) -> bool:
    return any(begin - NEAR <= start < end for begin, end in long_words(text, 0))


def hits(text: bytes) -> set[tuple[int, int]]:
    looking, found = AnchorHits(text, 0, (), Patience(), decode=False), set()
    while (hit := looking.peek(0)) is not None:
        found.add((hit[0], next(n for n, shape in enumerate(SHAPES) if shape is hit[1])))
        looking.take()
    return found


def texts(seed: int, count: int) -> Iterator[str]:
    """Tokens, settings and long words that touch one another in every way."""
    chance = random.Random(seed)
    tokens = [secret for secrets in ISSUED.values() for secret in secrets]
    anchors = [anchor.decode() for shape in SHAPES for anchor in shape.anchors]

    def word() -> str:
        return "".join(chance.choice(LETTERS) for _ in range(chance.randrange(1, 40)))

    def setting() -> str:
        key = chance.choice(TOLD)
        return chance.choice((key, key.upper(), key + "_1")) + chance.choice(JOINTS) + word()

    kinds = (
        lambda: chance.choice(tokens),
        lambda: chance.choice(anchors) + word(),
        lambda: chance.choice(IN_CONTEXT)[1],
        lambda: chance.choice(HARMLESS),
        word,
        setting,
    )
    for _ in range(count):
        yield "".join(chance.choice(kinds)() + chance.choice(BETWEEN) for _ in range(chance.randrange(1, 6)))


def finds_all(text: str) -> None:
    data = text.encode()
    view = VisibleBytes(data, b"", False, final=True)
    everyday = [(n, shape) for n, shape in enumerate(SHAPES) if not shape.issued and not shape.beside]
    issued = [(number, shape) for number, shape in enumerate(SHAPES) if shape.issued]
    assert set(STEMS.find(data, 0, len(data))) == set(slowly(data, everyday))
    found = hits(data)
    assert set(beside_a_name(data)) <= found, text
    for start, number in slowly(data, issued):
        if near_a_long_word(data, start) and (not SHAPES[number].boundary or view.word_starts(start)):
            assert (start, number) in found, (text, SHAPES[number].name)


def test_the_quick_look_finds_every_place_of_the_corpus(seed: int) -> None:
    """A place that is not looked at is a leak that no rule can mend."""
    for sample in samples(seed):
        finds_all(sample.text)


def test_the_quick_look_finds_what_touches_something_else(seed: int) -> None:
    """Tokens stand at the end of paths, after escapes and within other words."""
    for text in texts(seed, 600):
        finds_all(text)


@pytest.mark.torture
def test_the_quick_look_finds_what_touches_something_else_often(seed: int) -> None:
    """The same, with enough texts to meet rare neighbours."""
    for text in texts(seed, 60_000):
        finds_all(text)


def test_every_anchor_is_seen_in_any_case_that_counts() -> None:
    """An anchor without a pivot, or hidden behind another, would never be looked at."""
    for number, shape in enumerate(SHAPES):
        for anchor in () if shape.issued or shape.beside else shape.anchors:
            for text in (anchor, anchor.upper(), anchor.title()) if shape.fold else (anchor,):
                assert (3, number) in set(STEMS.find(b"\n. " + text, 0, -1)), text


def test_issued_tokens_are_long_and_those_of_one_word_hold_nothing_else() -> None:
    """Only near long words are tokens sought, and only at their ends those with other bytes in them."""
    for shape in ISSUED_SHAPES:
        parsed = PARSER.parse(shape.pattern)
        assert WORD <= parsed.getwidth()[0] <= REACH, shape.name
        if not is_parted(shape):
            assert possible(parsed) <= set(WORD_BYTES), shape.name


def possible(parts: Any) -> set[int]:
    """Every byte that a pattern may take in."""
    found: set[int] = set()
    for kind, value in parts:
        match str(kind):
            case "LITERAL":
                found.add(value)
            case "RANGE":
                found.update(range(value[0], value[1] + 1))
            case "IN":
                found |= possible(value)
            case "BRANCH":
                found |= set().union(*(possible(choice) for choice in value[1]))
            case "SUBPATTERN" | "MAX_REPEAT":
                found |= possible(value[-1])
            case "ASSERT" | "ASSERT_NOT":
                pass
            case _:
                raise AssertionError(kind)
    return found


def test_words_that_hold_nothing_are_remembered_within_bounds() -> None:
    """A process that lives for days must not keep every id it ever saw."""
    words = LongWords(SHAPES)
    for number in range(20_000):
        text = b"id qqqqqqqqqqqqqqqqqqqq%d end " % number
        assert words.worth(text, long_words(text, 0), ()) == []
    assert len(getattr(words, "_dull")) <= 1 << 13  # noqa: B009 - the bound is a promise about memory
