"""A named part of a file: what every finder of symbols gives."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Symbol:
    name: str  # qualified: Class.method
    first: int  # counted from 1
    last: int
    body: bool = True  # False: only declared here; a definition of the same name counts before it
    also: str = ""  # another name by which people know it: a heading's text


@dataclass(frozen=True, slots=True)
class Part:
    """A symbol that does not know yet what it lies in."""

    name: str
    first: int
    last: int
    body: bool = True
    counts: bool = True  # False: it only lends its name to what is in it (an `impl`, an `extension`)


def qualified(parts: Iterable[Part]) -> list[Symbol]:
    """Each part under the names of those around it, in the order of the file."""
    found: list[Symbol] = []
    around: list[tuple[str, int, int]] = []  # qualified name and lines of what is open
    for part in sorted(parts, key=lambda part: (part.first, -part.last)):
        while around and (around[-1][2] < part.last or around[-1][2] < part.first):
            around.pop()
        same = bool(around) and around[-1][1:] == (part.first, part.last)
        before = around[-2][0] if same and len(around) > 1 else around[-1][0] if around and not same else ""
        name = f"{before}.{part.name}" if before else part.name
        if part.counts:
            found.append(Symbol(name, part.first, part.last, part.body))
        if not same:
            around.append((name, part.first, part.last))
    return list(dict.fromkeys(found))


def trimmed(lines: Sequence[bytes], first: int, last: int) -> int:
    """The last line of a part that is not blank; lines counted from 1."""
    while last > first and not lines[last - 1]:
        last -= 1
    return last
