"""A Markdown file with frontmatter: split into entries and fields, and merged field by field.

One row for each field in a fixed order with a separator after it, so that git merges and people review single fields. A
file that cannot be read raises BrokenEntry with path, line and reason, and stays as it is. `store.memory_files` and
`store.task_files` know the meaning of the fields, `store.frontmatter` their grammar.

A file may have several entries. The first begins at the top. Another one begins at a line `---` that opens a block
without blank lines, which ends at the next line `---` and has a line that begins with `id:` or `type:`. Any other
`---` is a horizontal rule, and text between code fences is an example.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from holdfast.errors import BadInput, BrokenEntry, TooLarge
from holdfast.patterns import regex
from holdfast.store import frontmatter
from holdfast.values import frozen

MAX_DOCUMENT = 1 << 20  # characters; a guess: far above real entries, and quick to read
_CONFLICT = regex(r"^(?:<{7}|\|{7}|>{7})", re.MULTILINE)
_MARKS = ("<<<<<<<", "|||||||", ">>>>>>>")  # quicker to search than the pattern, and rare
_T = TypeVar("_T")


@frozen
class MarkdownClash:
    """A conflict: both sides changed the same fields differently, and a person has to choose."""

    fields: tuple[str, ...]


@frozen
class MarkdownDocument:
    """A parsed file or entry."""

    path: str
    fields: dict[str, frontmatter.Field]
    body: str
    body_line: int
    first: int = 1  # its first line in the file

    def extra(self, known: Container[str]) -> tuple[tuple[str, str], ...]:
        """Returns the unknown fields, each with its lines as written."""
        return tuple((field.name, field.raw) for field in self.fields.values() if field.name not in known)

    def line_of(self, name: str) -> int:
        return self.first + 1 + self.fields[name].line if name in self.fields else self.body_line

    def broken(self, name: str, reason: str) -> BrokenEntry:
        """Returns the error for a field that is not valid."""
        return broken(self.path, self.line_of(name), reason)

    def built(self, make: Callable[..., _T], values: Mapping[str, Any], checks: Mapping[str, Any]) -> _T:
        """Builds a value from the fields; an error names the line of the field at fault."""
        try:
            return make(**values)
        except (BadInput, TooLarge) as error:
            raise self.broken(_culprit(values, checks), str(error)) from None


def _culprit(values: Mapping[str, Any], checks: Mapping[str, Any]) -> str:
    """Returns the first field that breaks its rule; the first of all, if only the combination breaks one."""
    for name, rule in checks.items():
        try:
            if name in values:
                rule(values[name])
        except (BadInput, TooLarge):
            return name
    return next(iter(values))


def read(text: str, path: str, *, needed: Sequence[str], line: int = 1) -> MarkdownDocument:
    """Parses a file; raises BrokenEntry if it is damaged or lacks a needed field.

    `line` is the first line of the text in its file, if it is only a part of it.
    """
    clean = text.removeprefix("\ufeff").replace("\r\n", "\n")
    _refuse_damage(clean, path, line)
    front, body = _split(clean, path, line)
    try:
        fields = {field.name: field for field in frontmatter.read(front)}
    except frontmatter.BadFront as error:
        raise broken(path, line + 1 + error.line, error.reason) from None
    for name in needed:
        if name not in fields or not fields[name].value:
            raise broken(path, line, f"has no {name}")
    return MarkdownDocument(path, fields, body, line + front.count("\n") + 3, line)


def write(lines: Sequence[str], extra: Sequence[tuple[str, str]], body: str, *, name: str) -> str:
    """Returns the text of a file: the rows of known fields, the unknown fields as written, and the body."""
    known = (f"{line}\n{frontmatter.SEPARATOR}" for line in lines)
    unknown = (f"{raw}\n{frontmatter.SEPARATOR} {field}" for field, raw in extra)
    front = "\n".join([*known, *unknown])
    if len(front.encode()) > frontmatter.MAX_FRONT:
        raise TooLarge(f"the fields of {name} take more than {frontmatter.MAX_FRONT:,} bytes")
    return f"---\n{front}\n---\n{body}"


def laid_out(text: str, *before: str) -> str:
    """Returns a file's new text with the separators of `frontmatter.laid_out`."""
    try:
        front, body = _split(text, "", 1)
        earlier = [_split(old.replace("\r\n", "\n"), "", 1)[0] for old in before]
    except BrokenEntry:  # the old layout cannot be read
        return text
    return f"---\n{frontmatter.laid_out(front, *earlier)}\n---\n{body}"


def broken(path: str, line: int, reason: str) -> BrokenEntry:
    return BrokenEntry(f"{path}:{line} {reason}")


def _refuse_damage(text: str, path: str, line: int) -> None:
    for sign, reason in (("\x00", "has a NUL byte"), ("\r", "has a bare carriage return")):
        if (at := text.find(sign)) >= 0:
            raise broken(path, line + text.count("\n", 0, at), reason)
    if any(mark in text for mark in _MARKS) and (found := _CONFLICT.search(text)):
        raise broken(path, line + text.count("\n", 0, found.start()), "has the markers of an unresolved merge")
    if len(text) > MAX_DOCUMENT:
        raise broken(path, line, f"is larger than {MAX_DOCUMENT:,} characters")


def is_unmerged(text: str) -> bool:
    """Whether a text has the markers of an unresolved merge."""
    return any(mark in text for mark in _MARKS) and _CONFLICT.search(text) is not None


def _split(text: str, path: str, line: int) -> tuple[str, str]:
    if not text.startswith("---\n"):
        raise broken(path, line, "does not start with a line of ---")
    end = text.find("\n---", 3)
    while end >= 0 and text[end + 4 : end + 5] not in ("", "\n"):
        end = text.find("\n---", end + 1)
    if end < 0:
        raise broken(path, line, "has no second line of ---")
    return text[4:end] if end > 3 else "", text[end + 5 :]


_Sides = tuple[str | None, str, str]
_Fields = dict[str, Any]


def merge(
    sides: _Sides, *, parts: Callable[[str], _Fields], joined: Callable[[_Fields], str], lists: Container[str]
) -> str | MarkdownClash:
    """Merges both sides' changes of a base field by field; lists as sets, the body as one field."""
    base, ours, theirs = sides
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    try:
        before, mine, other = (parts(side) if side else {} for side in sides)
    except BrokenEntry:
        return MarkdownClash(("the whole file",))
    merged = {
        name: _merged(before.get(name), mine.get(name), other.get(name), is_list=name in lists)
        for name in dict.fromkeys([*mine, *other])
    }
    if clashing := tuple(name for name, value in merged.items() if isinstance(value, MarkdownClash)):
        return MarkdownClash(clashing)
    try:
        return laid_out(joined(merged), ours, theirs)
    except (BadInput, TooLarge):  # each side is valid, the merged text is not
        return MarkdownClash(tuple(name for name in merged if mine.get(name) != other.get(name)))


def _merged(base: Any, ours: Any, theirs: Any, *, is_list: bool) -> Any:
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    return _merged_list(base or (), ours, theirs) if is_list else MarkdownClash(())


def _merged_list(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """Returns the items that either side added, without those that either removed."""
    kept = [item for item in ours if item in theirs or item not in base]
    return tuple(dict.fromkeys([*kept, *(item for item in theirs if item not in base)]))


_RULE = "---"
_NAMED = ("id:", "type:")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})([^\r\n]*)")


@frozen
class EntryPiece:
    """The text of one entry in a file, without blank lines at its end."""

    text: str
    line: int  # in the file, from 1
    start: int  # offset in the file, in characters

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def pieces(text: str) -> list[EntryPiece]:
    """Splits a file into its entries, in order; text before the first entry is a piece too.

    If a file has only one entry, that is the whole file, byte for byte.
    """
    if is_single(text):
        return [EntryPiece(text, 1, 0)]
    lines = text.split("\n")
    starts = _starts([line.removesuffix("\r") for line in lines])
    if starts[0] != 0:
        starts.insert(0, 0)
    if len(starts) == 1:
        return [EntryPiece(text, 1, 0)]
    places = [0, *accumulate(len(line) + 1 for line in lines)]
    ends = [*(places[start] for start in starts[1:]), len(text)]
    return [
        EntryPiece(_trimmed(text[places[start] : end]), start + 1, places[start])
        for start, end in zip(starts, ends, strict=True)
    ]


def is_single(text: str) -> bool:
    """Whether a file certainly has only one entry; a quick check that suffices for most files."""
    return text.removeprefix("\ufeff").startswith(_RULE) and text.count("\n---") < 3


def has_open_fence(text: str) -> bool:
    """Whether a code fence begins in a text and does not end: text after it would be part of it."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    fences, at = _Fences(lines), 0
    while at < len(lines):
        if _opening(lines[at]):
            end = fences.end(at)
            if end is None:
                return True
            at = end
        at += 1
    return False


def _trimmed(text: str) -> str:
    """Returns a text without the blank lines at its end; its last line keeps its newline."""
    bare = text.rstrip()
    rest = text[len(bare) :]
    return bare + rest[: rest.find("\n") + 1] if bare else text


def _starts(lines: list[str]) -> list[int]:
    """Returns the lines on which entries begin."""
    found, at, fences = [], 0, _Fences(lines)
    if lines[0].removeprefix("\ufeff") == _RULE:
        found.append(0)
        at = next((n for n in range(1, len(lines)) if lines[n] == _RULE), len(lines)) + 1
    while at < len(lines):
        if lines[at] == _RULE and (end := _front_end(lines, at)) is not None:
            found.append(at)
            at = end
        else:
            at = fences.end(at) or at  # a fence without an end does not count
        at += 1
    return found or [0]


def _front_end(lines: list[str], at: int) -> int | None:
    """Returns the last line of the frontmatter that opens here; None if it is not frontmatter."""
    named = False
    for number in range(at + 1, len(lines)):
        line = lines[number]
        if line == _RULE:
            return number if named else None
        if not line.strip():
            return None
        named = named or line.startswith(_NAMED)
    return None


def _opening(line: str) -> str | None:
    found = _FENCE.match(line)
    if found is None or (found[1][0] == "`" and "`" in found[2]):  # inline code
        return None
    return found[1]


class _Fences:
    """Code fences in some lines; each end is searched once, as a file may open thousands and close none."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._endless: dict[str, int] = {}  # sign to the length from which on no fence has an end

    def end(self, at: int) -> int | None:
        """Returns the line that ends the fence opened here; None if none opens, or it has no end."""
        fence = _opening(self._lines[at])
        if fence is None or len(fence) >= self._endless.get(fence[0], len(fence) + 1):
            return None
        for number in range(at + 1, len(self._lines)):
            found = _FENCE.match(self._lines[number])
            if found and found[1].startswith(fence) and not found[2].strip():
                return number
        self._endless[fence[0]] = len(fence)
        return None
