"""JSON read strictly: every known field has a reader that says what is wrong, unknown ones are kept.

A reader is given a value and the place where it stands, and raises ValueError. Classes that are read so
have a field `extra` for what others wrote into their objects.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from holdfast.model.ids import is_id
from holdfast.values import MISSING, fields

Reader = Callable[[Any, str], Any]
Shapes = Mapping[type, Mapping[str, Reader]]


def loads(data: str | bytes) -> Any:
    """A JSON value; a repeated key or a number that is none is refused."""
    return json.loads(data, object_pairs_hook=_once, parse_constant=_no_constant)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("it says the same thing twice")
    return found


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def text(limit: int) -> Reader:
    """A text of at most so many characters."""

    def read(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{where} is not a text")
        if len(value) > limit:
            raise ValueError(f"{where} is longer than {limit} characters")
        return value

    return read


def fitting(pattern: re.Pattern[str], what: str) -> Reader:
    """A text of a certain form; `what` names it."""

    def read(value: Any, where: str) -> str:
        if not isinstance(value, str) or not pattern.fullmatch(value):
            raise ValueError(f"{where} is not {what}")
        return value

    return read


def identity(value: Any, where: str) -> str:
    """A text that may stand as an id."""
    if not isinstance(value, str) or not is_id(value):
        raise ValueError(f"{where} is not an id")
    return value


def number(least: int) -> Reader:
    """A whole number from `least` on."""

    def read(value: Any, where: str) -> int:
        if type(value) is not int or not least <= value < 2**53:
            raise ValueError(f"{where} is not a whole number from {least} on")
        return value

    return read


def one_of(*words: str) -> Reader:
    """One of these words."""

    def read(value: Any, where: str) -> str:
        if value not in words:
            raise ValueError(f"{where} is not one of {', '.join(words)}")
        return str(value)

    return read


def maybe(reader: Reader) -> Reader:
    """Null, or what another reader gives."""
    return lambda value, where: None if value is None else reader(value, where)


def each(reader: Reader, most: int) -> Reader:
    """A list of at most so many values."""

    def read(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError(f"{where} is not a list")
        if len(value) > most:
            raise ValueError(f"{where} has more than {most} entries")
        return tuple(reader(one, f"{where}[{n}]") for n, one in enumerate(value))

    return read


def made(cls: type, shapes: Shapes) -> Reader:
    """A value of a class."""
    return lambda value, where: build(cls, value, where, shapes)


def build(cls: type, raw: Any, where: str, shapes: Shapes) -> Any:
    """A value from its JSON object: known fields read strictly, unknown ones kept."""
    if not isinstance(raw, dict):
        raise ValueError(f"{where} is not an object")
    shape = shapes[cls]
    for field in fields(cls):
        if field.name in shape and field.default is MISSING and field.name not in raw:
            raise ValueError(f"{where} has no {field.name}".strip())
    known = {name: read(raw[name], f"{where}.{name}".lstrip(".")) for name, read in shape.items() if name in raw}
    return cls(**known, extra=tuple((name, value) for name, value in raw.items() if name not in shape))
