"""A named part of a file: what every finder of symbols gives."""

from collections.abc import Iterable, Sequence

from holdfast.values import frozen


@frozen
class Symbol:
    name: str  # qualified: Class.method
    first: int  # counted from 1
    last: int
    body: bool = True  # False: only declared here; a definition of the same name counts before it
    also: str = ""  # another name by which people know it: a heading's text


@frozen
class Part:
    """A symbol that does not know yet what it lies in."""

    name: str
    first: int
    last: int
    body: bool = True
    counts: bool = True  # False: it only lends its name to what is in it (an `impl`, an `extension`)
    start: int = -1  # characters: where it begins, where its head ends, where it ends; for parts of one line
    opens: int = -1
    end: int = -1


def qualified(parts: Iterable[Part]) -> list[Symbol]:
    """Each part under the names of those around it, in the order of the file."""
    found: list[Symbol] = []
    around: list[tuple[str, Part]] = []  # what is open, with its qualified name
    for part in sorted(parts, key=lambda part: (part.first, -part.last, part.start)):
        while around and (around[-1][1].last < part.last or _is_before(around[-1][1], part)):
            around.pop()
        twin = bool(around) and _same_lines(around[-1][1], part) and not _is_in(part, around[-1][1])
        before = around[-2][0] if twin and len(around) > 1 else around[-1][0] if around and not twin else ""
        name = f"{before}.{part.name}" if before else part.name
        if part.counts:
            found.append(Symbol(name, part.first, part.last, part.body))
        if not twin:
            around.append((name, part))
    return list(dict.fromkeys(found))


def _same_lines(one: Part, other: Part) -> bool:
    return (one.first, one.last) == (other.first, other.last)


def _is_in(part: Part, outer: Part) -> bool:
    return 0 <= outer.opens <= part.start and part.end <= outer.end


def _is_before(one: Part, part: Part) -> bool:
    """Whether it ended earlier, though perhaps on the same line."""
    return 0 <= one.end < part.start


def trimmed(lines: Sequence[bytes], first: int, last: int) -> int:
    """The last line of a part that is not blank; lines counted from 1."""
    while last > first and not lines[last - 1]:
        last -= 1
    return last
