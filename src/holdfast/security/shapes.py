"""What a shape of secrets is: a named rule, cheap to rule out. The rules themselves stand in `rules.txt`.

A rule is looked at only where one of its literal anchors stands, and then sees at most
`REACH` bytes from there: so a scan is linear, and gives the same answer however its input was
cut. There is no rule on randomness alone: commit ids, UUIDs and checksums must survive.

The secret is the one group that took part in the match; what goes before it is kept. The
`rest` of that group says which further bytes belong to the same secret. How text is walked,
cut and rewritten is `security.redact`'s business. The file is read once, when something is first
looked at, and a pattern is compiled when it is first tried.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from holdfast.patterns import regex

REACH = 2048  # bytes a match may look at from its anchor on; patterns stay well within
WORD = 20  # every issued token holds so many of these bytes in a row, at most `NEAR` after its anchor's start
WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+"
NEAR = 20
BESIDE = 48  # bytes that may lie between the start of a provider's name and the token it shows

_FILE = os.path.join(os.path.dirname(__file__), "rules.txt")
_FRAGMENT = regex(r"@([A-Z0-9_]{3,})@")


class Rest(NamedTuple):
    """What still belongs to a secret after the bytes that gave it away."""

    pattern: bytes
    limit: int  # after so many bytes we look at the text afresh
    until: bool = False  # the pattern is where it ends, not what it is made of
    ahead: int = 2  # bytes it must see to know that it ended: a backslash and what it escapes, or more

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)


class Shape(NamedTuple):
    """One named kind of secret."""

    name: str
    anchors: tuple[bytes, ...]
    pattern: bytes  # matched at the anchor
    rests: tuple[Rest, ...]  # one for each group of the pattern
    fold: bool = False  # anchors are given in lower case and stand in any case
    issued: bool = False  # a token with a prefix of its maker's, one long word
    boundary: bool = False  # only where a word begins
    beside: bool = False  # its anchors are names of providers, and a long word follows them

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)

    def may(self, text: bytes, start: int, known: int) -> bool:
        """Whether it begins here; after `known`, where bytes may still be missing, it always may."""
        return start > known or _compiled(self.pattern).match(text, start) is not None


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


@cache
def rules_text() -> str:
    """The rules as they are written."""
    with open(_FILE, encoding="utf-8") as file:
        return file.read()


@cache
def shapes() -> tuple[Shape, ...]:
    """Every shape that is known."""
    return tuple(_read(rules_text()))


class _Row(NamedTuple):
    """A line of the file, and the indented ones below it as one."""

    fields: list[str]
    below: list[str]


def _read(text: str) -> Iterator[Shape]:
    sections = _sections(text)
    rests = {row.fields[0]: _rest(*row.fields[1:]) for row in sections["rests"]}
    fragments = _key_words(sections["whose key"][0].fields[0].split())
    for row in sections["fragments"]:
        fragments[row.fields[0]] = _filled("".join((*row.fields[1:], *row.below)), fragments)
    for row in sections["tokens"]:
        name, prefixes, then = row.fields[:3]
        heads = _anchors(prefixes)
        pattern = f"((?:{'|'.join(map(re.escape, heads))}){_filled(then, fragments)})"
        yield _shape(name, heads, pattern, f"issued {' '.join(row.fields[3:])}", rests)
    for row in sections["shapes"]:
        name, anchors, options = row.fields
        yield _shape(name, _anchors(anchors), _filled("".join(row.below), fragments), options, rests)
    providers = [name for row in sections["providers"] for name in row.fields[0].split()]
    for row in sections["beside a provider"]:
        name, options = row.fields
        yield _shape(name, providers, _filled("".join(row.below), fragments), options, rests)


def _sections(text: str) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    rows: list[_Row] = []
    for line in text.split("\n"):
        if line.startswith("["):
            rows = found.setdefault(line[1:-1], [])
        elif line.startswith("    "):
            rows[-1].below.append(line.strip())
        elif line and not line.startswith("#"):
            rows.append(_Row([field for field in line.split("  ") if field], []))
    return found


def _rest(options: str, pattern: str = "") -> Rest:
    limit, *told = options.split()
    ahead = next((int(one[len("ahead=") :]) for one in told if one.startswith("ahead=")), 2)
    return Rest(pattern.encode(), int(limit), until="until" in told, ahead=ahead)


def _anchors(written: str) -> list[str]:
    return [anchor.replace("·", " ") for anchor in written.split()]


def _shape(name: str, anchors: list[str], pattern: str, options: str, rests: dict[str, Rest]) -> Shape:
    told = dict(option.partition("=")[::2] for option in options.split())
    return Shape(
        name,
        tuple(anchor.encode() for anchor in anchors),
        pattern.encode(),
        tuple(rests[one] for one in told.get("rest", "word").split(",")),
        fold="any-case" in told,
        issued="issued" in told,
        boundary="word" in told,
        beside="beside" in told,
    )


def _filled(pattern: str, fragments: dict[str, str]) -> str:
    return _FRAGMENT.sub(lambda found: fragments[found[1]], pattern)


def _key_words(words: list[str]) -> dict[str, str]:
    """`key`, but only where it says whose: most keys are those of dictionaries."""
    return {
        "WHOSE_KEY": _key_after(words, "key", ("", "_", "-")),
        "WHOSE_UPPER_KEY": _key_after([word.upper() for word in words], "KEY", ("", "_")),
    }


def _key_after(words: list[str], key: str, joints: tuple[str, ...]) -> str:
    said = [word + joint for joint in joints for word in words]
    lengths = sorted({len(one) for one in said})
    behind = (f"(?<={'|'.join(one + key for one in said if len(one) == length)})" for length in lengths)
    return f"{key}(?:{'|'.join(behind)})"
