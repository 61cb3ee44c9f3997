"""The sections of a Markdown file, each by the slug that forges give its heading."""

from collections.abc import Iterator, Sequence

from holdfast.model.spans.symbol import Symbol, trimmed
from holdfast.patterns import regex

_HEADING = regex(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = regex(r" {0,3}(=+|-+)[ \t]*")
_FENCE = regex(r" {0,3}(`{3,}|~{3,})")
_LINK = regex(r"!?\[([^\]]*)\]\([^)]*\)")
_LONGEST = 1000  # characters of a heading
_NOT_IN_SLUG = regex(r"[^\w\- ]")


def symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """Every section: from its heading down to the next heading of the same or a higher level."""
    headings = list(_headings([line.decode("utf-8", "replace") for line in lines]))
    found: list[Symbol] = []
    taken: dict[str, int] = {}
    for (first, _, text), end in zip(headings, _ends(headings, len(lines) + 1), strict=True):
        base = slug(text)
        count = taken[base] = taken.get(base, -1) + 1
        name = f"{base}-{count}" if count else base
        if name:
            found.append(Symbol(name, first, trimmed(lines, first, end - 1), also=base))
    return found


def _ends(headings: Sequence[tuple[int, int, str]], end: int) -> list[int]:
    """For each heading the line of the next one that is not below it."""
    ends = [end] * len(headings)
    waiting: list[int] = []
    for at, (line, level, _) in enumerate(headings):
        while waiting and headings[waiting[-1]][1] >= level:
            ends[waiting.pop()] = line
        waiting.append(at)
    return ends


def slug(text: str) -> str:
    """A heading's text as forges put it into an address."""
    plain = _LINK.sub(r"\1", text).strip().lower()
    return _NOT_IN_SLUG.sub("", plain).replace(" ", "-")


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Line, level and text of each heading outside code and front matter."""
    fence, before = "", ""
    for at, line in enumerate(lines[(start := _after_front_matter(lines)) :], start + 1):
        if fence:
            closing = _FENCE.match(line)
            if closing and closing[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opening := _FENCE.match(line):
            fence, before = opening[1], ""
        elif len(line) <= _LONGEST and (heading := _HEADING.fullmatch(line)):
            yield at, len(heading[1]), heading[2] or ""
            before = ""
        elif before and (under := _UNDERLINE.fullmatch(line)):
            yield at - 1, 1 if under[1][0] == "=" else 2, before.strip()
            before = ""
        else:
            before = "" if line[:1] in "|>-*+" or line.startswith("    ") else line


def _after_front_matter(lines: Sequence[str]) -> int:
    if lines and lines[0] == "---":
        for at, line in enumerate(lines[1:], 1):
            if line == "---":
                return at + 1
    return 0
