"""Our block in somebody's file: found, put in, refreshed and taken out again byte for byte.

    <!-- holdfast:begin v1 sum=0123456789abcdef before=1 -->
    …
    <!-- holdfast:end -->

The first line carries all that is needed to undo it: a checksum of what stands inside, how many line ends we
put before it, whether the file was ours, how many folders we made for it. So any clone can refresh and remove
the block, and nobody needs a private record. Markers inside a closed code fence are somebody's example,
not ours. Bytes only, no files: those are `files`'s.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.errors import BadInput, FutureFormat
from holdfast.patterns import regex
from holdfast.values import frozen

VERSION = 1
MAX_BEFORE = 2
MAX_FOLDERS = 8
KEPT_BY = "kept by Holdfast; write around it, not inside"
END = b"<!-- holdfast:end -->"
BOM = b"\xef\xbb\xbf"

_BEGIN = regex(rb"<!-- holdfast:begin v(?P<version>\d{1,4})(?P<rest>[^\r\n]*?)-->[ \t]*")
_END = regex(re.escape(END) + rb"[ \t]*")
_PAIR = regex(rb" (sum|before|made|folders)=([0-9a-f]+)(?= )")
_FENCE = regex(rb" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_BREAK = regex(rb"\r\n|\n|\r")


class Row(NamedTuple):
    """One line of a file: where it begins, where its text and where its line end end."""

    start: int
    end: int
    after: int


@frozen
class Block:
    """Our block as it stands in a file."""

    start: int  # of the begin marker
    end: int  # behind the end marker's line
    line: int  # of the begin marker, counted from 1
    inside: str  # with plain line ends
    checksum: str  # as the marker says
    before: int = 0
    made: bool = False
    folders: int = 0
    newline: bytes = b"\n"

    @property
    def edited(self) -> bool:
        """Whether somebody changed what stands inside."""
        return self.checksum != checksum(self.inside)


class Unpaired(ValueError):
    """Markers that make no single block; `line` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line, self.reason = line, reason


def checksum(inside: str) -> str:
    """What tells an edited inside from ours, whatever line ends git gave the file."""
    return hashlib.sha256(inside.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def rows(data: bytes) -> Iterator[Row]:
    """The lines of a file, with any of the three kinds of line end."""
    start = 0
    for found in _BREAK.finditer(data):
        yield Row(start, found.start(), found.end())
        start = found.end()
    if start < len(data):
        yield Row(start, len(data), len(data))


def fenced(data: bytes) -> tuple[list[tuple[int, int]], int | None]:
    """The closed code fences as spans of bytes, and the line of one that never closes."""
    spans: list[tuple[int, int]] = []
    opened: tuple[int, int, bytes] | None = None
    for number, row in enumerate(rows(data), start=1):
        found = _FENCE.fullmatch(data, row.start, row.end)
        if found is None:
            continue
        mark, info = found["mark"], found["info"].strip()
        if opened is None:
            if mark[:1] == b"~" or b"`" not in info:
                opened = (row.start, number, mark)
        elif mark.startswith(opened[2]) and not info:
            spans.append((opened[0], row.after))
            opened = None
    return spans, opened[1] if opened else None


def find(data: bytes, path: str = "the file") -> Block | None:
    """Our block in a file; BadInput names file and line where there is no telling which lines are ours."""
    try:
        return _only(data, path)
    except Unpaired as wrong:
        raise BadInput(
            f"{path}:{wrong.line} {wrong.reason}",
            hint="Take the markers of Holdfast out by hand so that one block, or none, is left.",
        ) from None


def spans(data: bytes) -> list[tuple[int, int]]:
    """Everything between markers of ours, whole or broken: no reader takes it for somebody's words."""
    found: list[tuple[int, int]] = []
    opened: int | None = None
    for row, mark in _markers(data):
        if mark.re.pattern == _BEGIN.pattern:
            opened = row.start if opened is None else opened
        elif opened is not None:
            found.append((opened, row.after))
            opened = None
    return [*found, (opened, len(data))] if opened is not None else found


def put(data: bytes | None, inside: str, *, front: str = "", folders: int = 0) -> bytes:
    """A file with our block behind what it holds; None makes a file of our own that begins with `front`."""
    if data is None:
        new = Block(0, 0, 1, inside, "", made=True, folders=folders)
        return front.encode() + _written(new, inside)
    newline = _newline_of(data)
    before = _missing(data)
    new = Block(0, 0, 1, inside, "", before=before, newline=newline)
    return data + newline * before + _written(new, inside)


def refresh(data: bytes, block: Block, inside: str) -> bytes:
    """The file with another inside; how to undo the block stays as it was."""
    ends = data[block.start : block.end].endswith((b"\n", b"\r"))
    text = _written(block, inside)
    return data[: block.start] + (text if ends else text.removesuffix(block.newline)) + data[block.end :]


def take_out(data: bytes, block: Block, *, front: str = "") -> bytes | None:
    """The file as it was before our block, or as it was edited around it; None if all of it was ours.

    Where text was added behind the block, and the line before it had no end, one line end stays:
    two lines must not run into one.
    """
    head, tail = data[: block.start], data[block.end :]
    for _ in range(block.before):
        head = _without_break(head)
    if tail and head and not head.endswith((b"\n", b"\r")) and head != BOM:
        head += block.newline
    rest = head + tail
    plain = rest.removeprefix(BOM).replace(b"\r\n", b"\n")
    return None if block.made and plain.strip() in (b"", front.strip().encode()) else rest


def imports(data: bytes, name: str = "AGENTS.md") -> bool:
    """Whether a file takes in another by a line of its own, `@AGENTS.md`, outside of code."""
    code, _ = fenced(data)
    wanted = re.compile(rb"[ \t]*(?:[-*+] )?@(?:\./)?" + re.escape(name.encode()) + rb"[ \t]*")
    return any(wanted.fullmatch(data, row.start, row.end) and not _within(row.start, code) for row in rows(data))


def _only(data: bytes, path: str) -> Block | None:
    begun: tuple[Row, re.Match[bytes]] | None = None
    whole: Block | None = None
    for row, mark in _markers(data):
        line = _line(data, row.start)
        if mark.re.pattern == _BEGIN.pattern:
            if begun is not None or whole is not None:
                raise Unpaired(line, "begins a second block of Holdfast")
            begun = (row, mark)
        elif begun is None:
            raise Unpaired(line, "ends a block of Holdfast that does not begin")
        else:
            whole, begun = _read(data, begun[0], begun[1], row, path), None
    if begun is not None:
        line = _line(data, begun[0].start)
        raise Unpaired(line, "begins a block of Holdfast that does not end")
    return whole


def _markers(data: bytes) -> Iterator[tuple[Row, re.Match[bytes]]]:
    if b"<!-- holdfast:" not in data:
        return
    code, _ = fenced(data)
    bom = len(BOM) if data.startswith(BOM) else 0
    for row in rows(data):
        start = max(row.start, bom)
        found = _BEGIN.fullmatch(data, start, row.end) or _END.fullmatch(data, start, row.end)
        if found and not _within(row.start, code):
            yield Row(start, row.end, row.after), found


def _read(data: bytes, first: Row, mark: re.Match[bytes], last: Row, path: str) -> Block:
    version = int(mark["version"])
    line = _line(data, first.start)
    if version > VERSION:
        raise FutureFormat(f"{path}:{line} is a block of a newer Holdfast (v{version})")
    said = dict(_PAIR.findall(mark["rest"] + b" "))
    inside = data[first.after : last.start].decode("utf-8", "surrogateescape")
    return Block(
        first.start,
        last.after,
        line,
        inside.replace("\r\n", "\n").replace("\r", "\n"),
        said.get(b"sum", b"").decode(),
        before=_small(said.get(b"before"), MAX_BEFORE),
        made=said.get(b"made") == b"1",
        folders=_small(said.get(b"folders"), MAX_FOLDERS),
        newline=data[first.end : first.after] or b"\n",
    )


def _small(text: bytes | None, limit: int) -> int:
    return min(int(text), limit) if text is not None and text.isdigit() else 0


def _written(block: Block, inside: str) -> bytes:
    """The block with all its lines, in the file's own line ends."""
    inside = inside.rstrip("\n") + "\n"
    said = [f"sum={checksum(inside)}"]
    said += [f"before={block.before}"] if block.before else []
    said += ["made=1"] if block.made else []
    said += [f"folders={block.folders}"] if block.folders else []
    begin = f"<!-- holdfast:begin v{VERSION} {' '.join(said)} ({KEPT_BY}) -->\n"
    text = begin.encode() + inside.encode("utf-8", "surrogateescape") + END + b"\n"
    return text.replace(b"\n", block.newline)


def _newline_of(data: bytes) -> bytes:
    """The line end a file uses: its first counts, and a lone CR ends no line for git."""
    found = re.search(rb"\r\n|\n", data)
    return found[0] if found else b"\n"


def _missing(data: bytes) -> int:
    """How many line ends make a blank line behind what is there; a lone CR would swallow the first."""
    if not data or data.endswith((b"\n\n", b"\n\r\n", b"\r")):
        return 0
    return 1 if data.endswith(b"\n") else MAX_BEFORE


def _without_break(head: bytes) -> bytes:
    return head.removesuffix(b"\r\n") if head.endswith(b"\r\n") else head.removesuffix(b"\n")


def _line(data: bytes, place: int) -> int:
    return 1 + sum(1 for _ in _BREAK.finditer(data, 0, place))


def _within(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
