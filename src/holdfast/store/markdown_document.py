"""A Markdown file with frontmatter, whatever it is about: split into entries and fields, and merged field by field.

One line a field in a fixed order with a separator after each, so that git merges and people review single fields. A
file that cannot be read raises BrokenEntry with path, line and reason; the file itself is never touched. What the
fields mean is left to `store.memory_files` and `store.task_files`; their grammar to `store.frontmatter`.

People may write several entries into one file. The first begins at the top. A further one begins at a line `---` that
opens a block of lines without a blank line among them, ended by the next line `---`, of which one begins with `id:`
or `type:`. Any other `---` is a rule drawn in the text, and text between code fences is only an example.
"""

import re
from collections.abc import Callable, Container, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeVar

from holdfast.errors import BadInput, BrokenEntry, TooLarge
from holdfast.patterns import regex
from holdfast.store import frontmatter
from holdfast.values import frozen

MAX_DOCUMENT = 1 << 20
_CONFLICT = regex(r"^(?:<{7}|\|{7}|>{7})", re.MULTILINE)
_MARKS = ("<<<<<<<", "|||||||", ">>>>>>>")  # quicker to look for than the pattern, and seldom there
_T = TypeVar("_T")


@frozen
class MarkdownClash:
    """Both sides changed the same fields, each in its own way; a person has to choose."""

    fields: tuple[str, ...]


@frozen
class MarkdownDocument:
    """A file taken apart."""

    path: str
    fields: dict[str, frontmatter.Field]
    body: str
    body_line: int
    first: int = 1  # the line of the file on which it begins

    def extra(self, known: Container[str]) -> tuple[tuple[str, str], ...]:
        """The fields that nobody knows, each with its lines as written."""
        return tuple((field.name, field.raw) for field in self.fields.values() if field.name not in known)

    def line_of(self, name: str) -> int:
        return self.first + 1 + self.fields[name].line if name in self.fields else self.body_line

    def broken(self, name: str, reason: str) -> BrokenEntry:
        """What to raise if a field cannot be taken."""
        return broken(self.path, self.line_of(name), reason)

    def built(self, make: Callable[..., _T], values: Mapping[str, Any], checks: Mapping[str, Any]) -> _T:
        """The value that these fields make; a refusal names the line of the field it is about."""
        try:
            return make(**values)
        except (BadInput, TooLarge) as error:
            raise self.broken(_culprit(values, checks), str(error)) from None


def _culprit(values: Mapping[str, Any], checks: Mapping[str, Any]) -> str:
    """The first field that breaks its rule; the first of all, if only all together break one."""
    for name, rule in checks.items():
        try:
            if name in values:
                rule(values[name])
        except (BadInput, TooLarge):
            return name
    return next(iter(values))


def read(text: str, path: str, *, needed: Sequence[str], line: int = 1) -> MarkdownDocument:
    """A file taken apart; BrokenEntry if it is damaged or lacks a field it cannot do without.

    `line` is where the text begins in its file, if it is only a part of it.
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
    """The file for these lines of known fields, the fields nobody knows as they were written, and a body."""
    known = (f"{line}\n{frontmatter.SEPARATOR}" for line in lines)
    unknown = (f"{raw}\n{frontmatter.SEPARATOR} {field}" for field, raw in extra)
    front = "\n".join([*known, *unknown])
    if len(front.encode()) > frontmatter.MAX_FRONT:
        raise TooLarge(f"the fields of {name} take more than {frontmatter.MAX_FRONT:,} bytes")
    return f"---\n{front}\n---\n{body}"


def laid_out(text: str, *before: str) -> str:
    """A file's new text, with no more separators than `frontmatter.laid_out` puts."""
    try:
        front, body = _split(text, "", 1)
        earlier = [_split(old.replace("\r\n", "\n"), "", 1)[0] for old in before]
    except BrokenEntry:  # nothing to keep of a layout that cannot be read
        return text
    return f"---\n{frontmatter.laid_out(front, *earlier)}\n---\n{body}"


def broken(path: str, line: int, reason: str) -> BrokenEntry:
    return BrokenEntry(f"{path}:{line} {reason}")


def _refuse_damage(text: str, path: str, line: int) -> None:
    for sign, reason in (("\x00", "holds a NUL byte"), ("\r", "holds a bare carriage return")):
        if (at := text.find(sign)) >= 0:
            raise broken(path, line + text.count("\n", 0, at), reason)
    if any(mark in text for mark in _MARKS) and (found := _CONFLICT.search(text)):
        raise broken(path, line + text.count("\n", 0, found.start()), "holds the marks of an unresolved merge")
    if len(text) > MAX_DOCUMENT:
        raise broken(path, line, f"is larger than {MAX_DOCUMENT:,} characters")


def is_unmerged(text: str) -> bool:
    """Whether a text holds the marks of an unresolved merge."""
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
    """Both sides' changes of a base in one text, field by field; lists as sets, the body as one field."""
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
    except (BadInput, TooLarge):  # each side keeps the rules, both together do not
        return MarkdownClash(tuple(name for name in merged if mine.get(name) != other.get(name)))


def _merged(base: Any, ours: Any, theirs: Any, *, is_list: bool) -> Any:
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    return _merged_list(base or (), ours, theirs) if is_list else MarkdownClash(())


def _merged_list(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """What either added, without what either took away."""
    kept = [item for item in ours if item in theirs or item not in base]
    return tuple(dict.fromkeys([*kept, *(item for item in theirs if item not in base)]))


_RULE = "---"
_NAMED = ("id:", "type:")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})([^\r\n]*)")


@frozen
class EntryPiece:
    """One entry's own text within a file: from its first line to the end of its last that is not blank."""

    text: str
    line: int  # of the file, from 1
    start: int  # characters of the file before it

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def pieces(text: str) -> list[EntryPiece]:
    """The entries of a file in their order; what stands before the first is a piece of its own.

    The only entry of a file is the whole file, byte for byte.
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
    """Whether a file cannot hold more than one entry; for most, two quick looks are enough."""
    return text.removeprefix("\ufeff").startswith(_RULE) and text.count("\n---") < 3


def has_open_fence(text: str) -> bool:
    """Whether a code fence begins in a text and does not end there: what follows would be part of it."""
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
    """A text without the blank lines at its end, its last line whole."""
    bare = text.rstrip()
    rest = text[len(bare) :]
    return bare + rest[: rest.find("\n") + 1] if bare else text


def _starts(lines: list[str]) -> list[int]:
    """The lines on which entries begin."""
    found, at, fences = [], 0, _Fences(lines)
    if lines[0].removeprefix("\ufeff") == _RULE:
        found.append(0)
        at = next((n for n in range(1, len(lines)) if lines[n] == _RULE), len(lines)) + 1
    while at < len(lines):
        if lines[at] == _RULE and (end := _front_end(lines, at)) is not None:
            found.append(at)
            at = end
        else:
            at = fences.end(at) or at  # one that never ends is none
        at += 1
    return found or [0]


def _front_end(lines: list[str], at: int) -> int | None:
    """Where the frontmatter that opens here ends; None if it is none."""
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
    if found is None or (found[1][0] == "`" and "`" in found[2]):  # words between backticks, on one line
        return None
    return found[1]


class _Fences:
    """Code fences among some lines, each looked for once: a file may open thousands and close none."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._endless: dict[str, int] = {}  # sign to the length from which on none ends any more

    def end(self, at: int) -> int | None:
        """The line that ends the fence which opens here; None if none opens, or it never ends."""
        fence = _opening(self._lines[at])
        if fence is None or len(fence) >= self._endless.get(fence[0], len(fence) + 1):
            return None
        for number in range(at + 1, len(self._lines)):
            found = _FENCE.match(self._lines[number])
            if found and found[1].startswith(fence) and not found[2].strip():
                return number
        self._endless[fence[0]] = len(fence)
        return None
