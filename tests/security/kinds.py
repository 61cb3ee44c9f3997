"""Made-up secrets of the kinds that a public scanner knows (`kinds.txt`), each in five contexts."""

import random
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

_ALPHABETS = {
    "d": string.digits,
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "l": string.ascii_lowercase + string.digits,
    "u": string.ascii_uppercase + string.digits,
    "s": string.ascii_lowercase + "234567",
    "a": string.ascii_letters + string.digits,
    "c": string.ascii_letters,
    "w": string.ascii_letters + string.digits + "-_",
    "e": string.ascii_lowercase + string.digits + "-_=",
    "b": string.ascii_letters + string.digits + "+/",
}
_HOLE = re.compile(r"\{([a-zA-Z])([0-9]+)\}")
# How a token stands alone, and how one is assigned to what bears its provider's name.
ALONE = ("it says {} here", "export VALUE={}", '{{"level": "info", "value": "{}"}}', "value: {}\n", "call('{}')")
NAMED = (
    "{env}={token}\n",
    '{{"{snake}": "{token}", "n": 1}}',
    "{snake}: {token}\n",
    '{camel} = "{token}"',
    "'{snake}' => '{token}',",
)
_SUFFIXES = ("", "_token", "_api_key", "_client_secret", "_auth", "_access")


class Kind(NamedTuple):
    """One kind of secret: what shows it (`prefix`, `around`, or a provider's name), and how it is made."""

    name: str
    shown_by: str
    made: str


class Sample(NamedTuple):
    """A secret of one kind in one context."""

    kind: Kind
    context: int
    text: str
    secret: str

    def is_left_in(self, clean: str) -> bool:
        """Whether more of it is left than a few characters at its ends."""
        core = self.secret[len(self.secret) // 3 :][:10]
        return core in clean


@cache
def kinds() -> tuple[Kind, ...]:
    lines = (Path(__file__).parent / "kinds.txt").read_text().splitlines()
    return tuple(Kind(*re.split(r" {2,}", line, maxsplit=2)) for line in lines if line and line[0] != "#")


def samples(seed: int, *, rounds: int = 1) -> Iterator[Sample]:
    """Every kind in every context, with values that the seed chooses."""
    chance = random.Random(seed)
    for _ in range(rounds):
        for kind in kinds():
            for context in range(5):
                yield Sample(kind, context, *_written(chance, kind, context))


def _written(chance: random.Random, kind: Kind, context: int) -> tuple[str, str]:
    token = _HOLE.sub(lambda hole: "".join(chance.choices(_ALPHABETS[hole[1]], k=int(hole[2]))), kind.made)
    if kind.shown_by == "around":
        text = token.replace("\\n", "\n")
        secret = text[text.index("«") + 1 : text.index("»")]
        around = ("{}", "first line\n{}\nlast line", "    {}", "$ cat settings\n{}\n", "> {}")[context]
        return around.format(text.replace("«", "").replace("»", "")), secret
    if kind.shown_by == "prefix":
        return ALONE[context].format(token), token
    snake = kind.shown_by + chance.choice(_SUFFIXES)
    camel = re.sub(r"_+(.)", lambda found: found[1].upper(), snake)
    return NAMED[context].format(env=snake.upper(), snake=snake, camel=camel, token=token), token
