"""Made-up secrets of every known shape, each written in five ways, for counting what is found.

Nothing here reads like a key: values are chosen at run time, from a seed.
"""

import base64
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from .fakes import ALNUM, in_context, issued

AROUND = (
    "export VALUE={}",
    "{}",
    "the key is {} and it works\n",
    "curl -s https://api.example.com/v1/items?key={}",
    '{{"level": "info", "value": "{}", "n": 3}}',
    "client = Client('{}')",
    "+ value: {}\n- value: other",
    "INFO 12:30:01 using {}, done",
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A secret of one rule, in one way of writing."""

    rule: str
    coding: str
    text: str
    traces: tuple[str, ...]  # none of these may be left


def samples(seed: int, *, rounds: int = 1) -> Iterator[Sample]:
    """Every shape in every coding, with values and surroundings that the seed chooses."""
    chance = random.Random(seed)
    for _ in range(rounds):
        for rule, text, secret in _plain(chance):
            for coding, write in CODINGS.items():
                yield Sample(rule, coding, *write(chance, text, secret))


def _plain(chance: random.Random) -> Iterator[tuple[str, str, str]]:
    def word(length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
        return "".join(chance.choice(alphabet) for _ in range(length - 2)) + alphabet[0] + alphabet[-1]

    for rule, secrets in issued(word).items():
        for secret in secrets:
            yield rule, chance.choice(AROUND).format(secret), secret
    fixed: dict[tuple[int, str, int], str] = {}

    def same(length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
        """A word that is asked for twice is meant twice: in the text, and as what must vanish."""
        return fixed.setdefault((length, alphabet, seed), word(length, alphabet))

    yield from in_context(same, f"{word(9)}-{word(6)}!")


def _raw(chance: random.Random, text: str, secret: str) -> tuple[str, tuple[str, ...]]:
    return f"{_line(chance)}\n{text}\n{_line(chance)}", _pieces(secret)


def _json(chance: random.Random, text: str, secret: str) -> tuple[str, tuple[str, ...]]:
    """As a string within JSON, sometimes within JSON within JSON, slashes sometimes escaped too."""
    written = json.dumps({"type": "output", "text": f"{_line(chance)}\n{text}\n{_line(chance)}"})
    if chance.random() < 0.3:
        written = json.dumps({"payload": written})
    if chance.random() < 0.3:
        written = written.replace("/", "\\/")
    return written, (*_pieces(secret), *_pieces(json.dumps(secret)[1:-1]))


def _base64(chance: random.Random, text: str, secret: str) -> tuple[str, tuple[str, ...]]:
    """Plain or for addresses, on one line or wrapped, with or without its filling."""
    said = f"{_line(chance)}\n{text}\n{_line(chance)}" if chance.random() < 0.5 else text
    data = said.encode()
    packed = (base64.b64encode if chance.random() < 0.7 else base64.urlsafe_b64encode)(data).decode()
    if chance.random() < 0.3:
        packed = packed.rstrip("=")
    if chance.random() < 0.3:
        packed = "\n".join(packed[at : at + 76] for at in range(0, len(packed), 76))
    around = chance.choice(("{}", "data: {}", '{{"content": "{}"}}', "value={}\nnext=1", "echo {} | base64 -d"))
    middle = packed[len(packed) // 3 : len(packed) // 3 + 16]
    return around.format(packed), (middle, *_pieces(secret))


def _url(chance: random.Random, text: str, secret: str) -> tuple[str, tuple[str, ...]]:
    written = quote(text, safe=chance.choice(("", "/", "/:")))
    around = chance.choice(("https://example.com/?q={}&page=2", "{}", "body={}", '"redirect_uri": "{}"'))
    return around.format(written), (*_pieces(secret), *_pieces(quote(secret, safe="")))


def _lines(chance: random.Random, text: str, secret: str) -> tuple[str, tuple[str, ...]]:
    """Among other lines: indented, quoted, in a diff, numbered, or with Windows' line ends."""
    before = chance.choice(("    ", "> ", "+ ", "\t", "  | ", "12: ", ""))
    lines = [_line(chance), *text.splitlines(), _line(chance)]
    end = chance.choice(("\n", "\r\n"))
    return end.join(before + line for line in lines) + end, _pieces(secret)


Writing = Callable[[random.Random, str, str], tuple[str, tuple[str, ...]]]
CODINGS: dict[str, Writing] = {"raw": _raw, "JSON": _json, "base64": _base64, "URL": _url, "lines": _lines}
_PLAIN_LINES = ("starting up", "12 files changed", "def main() -> int:", "ok", "see docs/README.md", "# settings")


def _line(chance: random.Random) -> str:
    return chance.choice(_PLAIN_LINES)


def _pieces(secret: str) -> tuple[str, ...]:
    """Its first and last ten letters: a secret of which one of these is left was cut, not hidden."""
    return (secret[-10:],) if len(secret) < 24 else (secret[8:18], secret[-10:])
