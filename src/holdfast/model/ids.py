"""Names for things: random, so that two branches never issue the same one on purpose.

Order comes from the log, never from an id. Ids that people or callers give
(`DEC-001`, `memory-schema-defined`) are kept as they are if they fit `is_id`.
"""

import os
import unicodedata
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import Ambiguous, BadInput, NotFound, TooLarge
from holdfast.patterns import regex

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # base 32 without i, l, o, u: read aloud safely
RUN_VARIABLE = "HOLDFAST_RUN_ID"  # in the environment: the run that a process is part of
PREFIXES = {"decision": "DEC", "assumption": "ASM", "invariant": "INV", "fact": "FCT", "dead-end": "DED"}
TASK, LINK, SESSION = "TSK", "LNK", "SES"
_KNOWN = frozenset((*PREFIXES.values(), TASK, LINK, SESSION))

_ID = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_LAYER = regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
LAYER_HINT = "Use letters, digits, dot, underscore, dash; up to 32, such as L5."
_NOT_SLUG = regex(r"[^a-z0-9]+")


def pick_at_random(alphabet: str) -> str:
    """One character that nobody can foresee; `secrets` would load nine modules for it."""
    return alphabet[int.from_bytes(os.urandom(8), "big") % len(alphabet)]


def token(length: int, choice: Callable[[str], str] = pick_at_random) -> str:
    """A random word in base 32."""
    return "".join(choice(ALPHABET) for _ in range(length))


def memory_id(kind: str, taken: Collection[str], choice: Callable[[str], str] = pick_at_random) -> str:
    """A new id for a memory; it grows by a character whenever it would clash."""
    return new_id(PREFIXES[kind], taken, choice)


def new_id(prefix: str, taken: Collection[str], choice: Callable[[str], str] = pick_at_random) -> str:
    """A new id with a prefix such as TSK, in none of the `taken`."""
    length = 6
    while (new := f"{prefix}-{token(length, choice)}") in taken:
        length += 1
    return new


def run_id(now: datetime, choice: Callable[[str], str] = pick_at_random) -> str:
    """A new run id that sorts by time: 20261115T194200Z-abc123."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%SZ}-{token(6, choice)}"


def line_id(choice: Callable[[str], str] = pick_at_random) -> str:
    """A new identity for a branch."""
    return token(12, choice)


def is_id(text: str) -> bool:
    """Whether `text` may stand as an id in the log and in a file name."""
    return _ID.fullmatch(text) is not None


def is_layer(text: str) -> bool:
    """Whether `text` may name a layer."""
    return _LAYER.fullmatch(text) is not None


def field_rule(fits: Callable[[Any], bool], said: str, *, hint: str | None = None) -> Callable[[object], None]:
    """What a field of an entry may hold: BadInput with a sentence, in which `{!r}` is the value, unless it fits."""

    def check(value: object) -> None:
        if not fits(value):
            raise BadInput(said.format(value), hint=hint)

    return check


def check_list(name: str, value: object, most: int) -> tuple[str, ...]:
    """A field that is a list of different texts; an error names the field."""
    if not isinstance(value, tuple) or not all(isinstance(item, str) for item in value):
        raise BadInput(f"{name} must be a list of words")
    if len(value) > most:
        raise TooLarge(f"{name} names {len(value):,} things; at most {most:,} are kept")
    if len(set(value)) != len(value):
        raise BadInput(f"{name} names something twice")
    return value


ID_RULE = field_rule(
    lambda value: isinstance(value, str) and is_id(value),
    "id {!r} is not an id",
    hint="Use letters, digits, dot, dash, underscore.",
)
LAYER_RULE = field_rule(
    lambda value: value is None or (isinstance(value, str) and is_layer(value)),
    "layer {!r} is not a short word",
    hint=LAYER_HINT,
)


def slug(text: str, limit: int = 40) -> str:
    """A lower-case ASCII file name for `text`, cut at a word."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = _NOT_SLUG.sub("-", plain.lower()).strip("-")
    if len(words) > limit:
        words = words[:limit].rsplit("-", 1)[0]
    return words or "entry"


def pick(text: str, ids: Collection[str]) -> str:
    """The id a person means: exactly, else the only one it begins, with or without its prefix."""
    if text in ids:
        return text
    asked = text.lower()

    def begins(name: str) -> bool:
        kind, _, rest = name.lower().partition("-")
        return name.lower().startswith(asked) or (kind.upper() in _KNOWN and rest.startswith(asked))

    fitting = sorted({name for name in ids if asked and begins(name)})
    if len(fitting) > 1:
        shown = ", ".join(fitting[:5]) + (" …" if len(fitting) > 5 else "")
        raise Ambiguous(f"{text} fits {len(fitting)} things: {shown}")
    if not fitting:
        raise NotFound(f"nothing here is called {text}")
    return fitting[0]


def beginnings(text: str) -> list[str]:
    """What an id may begin with that a person means by this text."""
    return [text, *(f"{prefix}-{text}" for prefix in sorted(_KNOWN))]
