"""Our block in an instruction file: what it says, and how it is found, put in, refreshed and taken out byte for byte.

    <!-- holdfast:begin v1 sum=0123456789abcdef before=1 -->
    …
    <!-- holdfast:end -->

It says how to use Holdfast (instructions.md), then the invariants, then decisions. Callers hand in only
what agents may be shown unasked. The same knowledge gives the same bytes in every clone: no time, no chance, no name of
this machine. A statement is one line of data in somebody else's file: it cannot end our block, begin a comment, a fence
or a heading, nor make a tool include another file.

The first line carries all that is needed to undo it: a checksum of what stands inside, how many line ends we put before
it, whether the file was ours, how many folders we made for it. So any clone can refresh and remove the block without a
private record. Markers inside a closed code fence are somebody's example, not ours. `connect_files` reads and writes.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.errors import BadInput, FutureFormat
from holdfast.model.text import visible
from holdfast.patterns import regex, text_beside
from holdfast.values import frozen

MAX_INSIDE = 6 * 1024  # bytes; a guess: a small part of the 32 KiB of AGENTS.md that Codex reads
# Characters, characters and paths; guesses: one statement stays readable in a list.
MAX_WORDS, MAX_TITLE, MAX_PATHS = 400, 160, 3
IMPORT_LINE = "@AGENTS.md\n"

MORE = {"invariant": "holdfast memories --type invariant", "decision": "holdfast memories --type decision"}
_HEADS = {"invariant": "### Invariants: these must hold", "decision": "### Decisions: do not undo them silently"}
_SHOW = "Read one with `holdfast show ID`; to change one, propose another that supersedes it."
_TAG = regex(r"<(?=[!/?A-Za-z])")
_RUN = regex(r"`{3,}|~{3,}")
_TAKES_IN = regex(r"(?<!\S)@")
_SENTENCE = regex(r"(?<=[.!?])\s+(?=[A-Z0-9\"'“(])")


@frozen
class BlockMemory:
    """One memory that agents may be shown unasked."""

    id: str
    type: str  # invariant or decision; others are left out
    statement: str
    applies_to: tuple[str, ...] = ()
    details: str = ""  # what else it says; no reason, and nothing of where it was said


def block_text(told: Sequence[BlockMemory], *, limit: int = MAX_INSIDE) -> str:
    """What stands between the markers, within a limit of bytes; the most important come first.

    Within a type the order is the caller's. What finds no room is counted, with the command that lists it.
    """
    use = text_beside(__file__, "instructions.md")
    parts, left = [use], limit - len(use.encode())
    spare = len(_SHOW.encode()) + 2
    for kind, head in _HEADS.items():
        of_kind = [one for one in told if one.type == kind]
        if not of_kind:
            continue
        # The decisions' own head and the line that counts the rest must fit as well.
        text = _listed(of_kind, head, room=left - spare - (200 if kind == "invariant" else 0))
        parts.append(text)
        left -= len(text.encode()) + 1
    if len(parts) > 1:
        parts.append(_SHOW + "\n")
    return "\n".join(parts)


def safe_line(text: str) -> str:
    """A text as one line that means nothing but itself in Markdown and to the tools that read it."""
    line = " ".join(visible(text).split())
    line = _TAG.sub(r"\\<", line)
    line = _RUN.sub(lambda run: "\\" + "\\".join(run[0]), line)
    return _TAKES_IN.sub(r"\\@", line)


def short_title(statement: str, limit: int = MAX_TITLE) -> str:
    """The first sentence, cut at a word where it is long."""
    first = _SENTENCE.split(" ".join(statement.split()), maxsplit=1)[0]
    return cut_at_word(first, limit)


def _listed(told: Sequence[BlockMemory], head: str, *, room: int) -> str:
    lines, kind = [head, ""], told[0].type
    left = room - len(head.encode()) - 2 - 120
    for done, one in enumerate(told):
        line = _memory_line(one)
        left -= len(line.encode()) + 1
        if left < 0:
            lines.append(f"- … and {len(told) - done} more; list them with `{MORE[kind]}`")
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def _memory_line(one: BlockMemory) -> str:
    words = cut_at_word(" ".join(f"{one.statement} {one.details}".split()), MAX_WORDS)
    paths = [f"`{safe_line(path).replace('`', '')}`" for path in one.applies_to[:MAX_PATHS]]
    more = [f"{len(one.applies_to) - MAX_PATHS} more"] if len(one.applies_to) > MAX_PATHS else []
    where = f" ({', '.join([*paths, *more])})" if paths else ""
    return f"- {one.id}: {safe_line(words)}{where}"


def cut_at_word(text: str, limit: int) -> str:
    """The beginning of a text, as long as it may be, with whole words."""
    if len(text) <= limit:
        return text
    return text[: limit - 2].rsplit(" ", 1)[0].rstrip(",;:") + " …"


VERSION = 1
MAX_BEFORE = 2  # line ends that were put before the block: one to end a line, one empty line
MAX_FOLDERS = 8  # a guess: the block lies at most so deep
KEPT_BY = "kept by Holdfast; write around it, not inside"
END = b"<!-- holdfast:end -->"
BOM = b"\xef\xbb\xbf"

_BEGIN = regex(rb"<!-- holdfast:begin v(?P<version>\d{1,4})(?P<rest>[^\r\n]*?)-->[ \t]*")
_END = regex(re.escape(END) + rb"[ \t]*")
_PAIR = regex(rb" (sum|before|made|folders)=([0-9a-f]+)(?= )")
_FENCE = regex(rb" {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_INCLUDES = regex(rb"[ \t]*(?:[-*+] )?@(?:\./)?AGENTS\.md[ \t]*")
_BREAK = regex(rb"\r\n|\n|\r")


class MarkedRow(NamedTuple):
    """One line of a file: where it begins, where its text and where its line end end."""

    start: int
    end: int
    after: int


@frozen
class InstructionBlock:
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


def checksum(inside: str) -> str:
    """What tells an edited inside from ours, whatever line ends git gave the file."""
    return hashlib.sha256(inside.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def rows(data: bytes) -> Iterator[MarkedRow]:
    """The lines of a file, with any of the three kinds of line end."""
    start = 0
    for found in _BREAK.finditer(data):
        yield MarkedRow(start, found.start(), found.end())
        start = found.end()
    if start < len(data):
        yield MarkedRow(start, len(data), len(data))


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


def find(data: bytes, path: str = "the file") -> InstructionBlock | None:
    """Our block in a file; BadInput names file and line where there is no telling which lines are ours."""
    begun: tuple[MarkedRow, re.Match[bytes]] | None = None
    whole: InstructionBlock | None = None

    def wrong(row: MarkedRow, reason: str) -> BadInput:
        hint = "Take the markers of Holdfast out by hand so that one block, or none, is left."
        return BadInput(f"{path}:{_line(data, row.start)} {reason}", hint=hint)

    for row, mark in _markers(data):
        if mark.re.pattern == _BEGIN.pattern:
            if begun is not None or whole is not None:
                raise wrong(row, "begins a second block of Holdfast")
            begun = (row, mark)
        elif begun is None:
            raise wrong(row, "ends a block of Holdfast that does not begin")
        else:
            whole, begun = _read(data, begun[0], begun[1], row, path), None
    if begun is not None:
        raise wrong(begun[0], "begins a block of Holdfast that does not end")
    return whole


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
        new = InstructionBlock(0, 0, 1, inside, "", made=True, folders=folders)
        return front.encode() + _written(new, inside)
    # The line end a file uses: its first counts, and a lone CR ends no line for git.
    found = re.search(rb"\r\n|\n", data)
    newline = found[0] if found else b"\n"
    # As many as make a blank line behind what is there; a lone CR would swallow the first.
    is_whole = not data or data.endswith((b"\n\n", b"\n\r\n", b"\r"))
    before = 0 if is_whole else 1 if data.endswith(b"\n") else MAX_BEFORE
    new = InstructionBlock(0, 0, 1, inside, "", before=before, newline=newline)
    return data + newline * before + _written(new, inside)


def refresh(data: bytes, block: InstructionBlock, inside: str) -> bytes:
    """The file with another inside; how to undo the block stays as it was."""
    ends = data[block.start : block.end].endswith((b"\n", b"\r"))
    text = _written(block, inside)
    return data[: block.start] + (text if ends else text.removesuffix(block.newline)) + data[block.end :]


def take_out(data: bytes, block: InstructionBlock, *, front: str = "") -> bytes | None:
    """The file as it was before our block, or as it was edited around it; None if all of it was ours.

    Where text was added behind the block, and the line before it had no end, one line end stays:
    two lines must not run into one.
    """
    head, tail = data[: block.start], data[block.end :]
    for _ in range(block.before):
        head = head.removesuffix(b"\r\n") if head.endswith(b"\r\n") else head.removesuffix(b"\n")
    if tail and head and not head.endswith((b"\n", b"\r")) and head != BOM:
        head += block.newline
    rest = head + tail
    plain = rest.removeprefix(BOM).replace(b"\r\n", b"\n")
    return None if block.made and plain.strip() in (b"", front.strip().encode()) else rest


def imports(data: bytes) -> bool:
    """Whether a file includes AGENTS.md by a line of its own, `@AGENTS.md`, outside of code."""
    code, _ = fenced(data)
    return any(_INCLUDES.fullmatch(data, row.start, row.end) and not _within(row.start, code) for row in rows(data))


def _markers(data: bytes) -> Iterator[tuple[MarkedRow, re.Match[bytes]]]:
    if b"<!-- holdfast:" not in data:
        return
    code, _ = fenced(data)
    bom = len(BOM) if data.startswith(BOM) else 0
    for row in rows(data):
        start = max(row.start, bom)
        found = _BEGIN.fullmatch(data, start, row.end) or _END.fullmatch(data, start, row.end)
        if found and not _within(row.start, code):
            yield MarkedRow(start, row.end, row.after), found


def _read(data: bytes, first: MarkedRow, mark: re.Match[bytes], last: MarkedRow, path: str) -> InstructionBlock:
    version = int(mark["version"])
    line = _line(data, first.start)
    if version > VERSION:
        raise FutureFormat(f"{path}:{line} is a block of a newer Holdfast (v{version})")
    said = dict(_PAIR.findall(mark["rest"] + b" "))
    inside = data[first.after : last.start].decode("utf-8", "surrogateescape")
    return InstructionBlock(
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


def _written(block: InstructionBlock, inside: str) -> bytes:
    """The block with all its lines, in the file's own line ends."""
    inside = inside.rstrip("\n") + "\n"
    said = [f"sum={checksum(inside)}"]
    said += [f"before={block.before}"] if block.before else []
    said += ["made=1"] if block.made else []
    said += [f"folders={block.folders}"] if block.folders else []
    begin = f"<!-- holdfast:begin v{VERSION} {' '.join(said)} ({KEPT_BY}) -->\n"
    text = begin.encode() + inside.encode("utf-8", "surrogateescape") + END + b"\n"
    return text.replace(b"\n", block.newline)


def _line(data: bytes, place: int) -> int:
    return 1 + sum(1 for _ in _BREAK.finditer(data, 0, place))


def _within(place: int, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)
