"""The lines of a pack: each says one thing, and knows which revision of what it tells, and why."""

from collections.abc import Iterable, Sequence

from holdfast.model.brief import shortened
from holdfast.model.text import visible
from holdfast.recall.pack.counting import of_line
from holdfast.values import frozen

LONGEST = 400  # bytes of one line


@frozen
class Told:
    """One thing that a line tells of, in the revision it was told in."""

    id: str
    kind: str  # a memory's type, task, session, link, commit, run, or line (a branch's identity)
    blob: str | None = None  # git's hash of the text; of a session, of its file; a commit is its own
    why: str = ""


@frozen
class Line:
    """One line, and what it tells of."""

    text: str
    told: tuple[Told, ...]


@frozen
class Receipt:
    """Where a pack is kept as it was sent; nowhere, if there was neither a run nor a session for it."""

    ts: str
    owner: str | None = None  # a run or a session
    number: int | None = None
    root: str | None = None


@frozen
class Section:
    """One part of the pack."""

    name: str
    title: str
    lines: tuple[Line, ...]
    left_out: int = 0
    more: str = ""  # the command that shows the rest; none where there is no room to name it
    reviewed: bool = False  # whether a person approved each line

    @property
    def texts(self) -> list[str]:
        """The section as it is read, line by line."""
        rest = f"… {self.left_out:,} more" + (f", see `{self.more}`" if self.more else "")
        return [f"## {self.title}", *(line.text for line in self.lines), *([rest] if self.left_out else [])]


def line(said: str, *told: Told) -> Line:
    """One line in which nothing hides, of a length that leaves room for others."""
    return Line(flat(said), told)


def flat(said: str, size: int = LONGEST) -> str:
    """Words on one line, with marks for what hides, cut to a number of bytes."""
    return shortened(visible(" ".join(said.split())), size)


def first(lines: Iterable[Line], room: int) -> list[Line]:
    """As many lines as fit into a number of tokens."""
    kept: list[Line] = []
    for one in lines:
        room -= of_line(one.text)
        if room < 0:
            break
        kept.append(one)
    return kept


def size(lines: Sequence[Line], *, most: int) -> int:
    """The tokens of some lines; no longer counted once they are more than `most`."""
    total = 0
    for one in lines:
        total += of_line(one.text)
        if total > most:
            break
    return total
