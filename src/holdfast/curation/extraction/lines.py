"""Which lines of a turn are prose, and which belong together: a paragraph, an item, what a heading labels."""

from collections.abc import Iterator

from holdfast.patterns import regex
from holdfast.values import frozen

_MAX_LINE = 4000  # a longer line is data
_WRAPS = 60  # a line shorter than this was not broken for want of room

_FENCE = regex(r"^\s{0,8}(`{3,}|~{3,})")
_HEADING = regex(r"^\s{0,3}#{1,6}\s+(.*)$")
_ITEM = regex(r"^\s*(?:[-*•‣▪]|\(?\d{1,3}[.)]|[a-z]\))\s+\S")
_LABELS = {
    "decision": "Decision", "decisions": "Decision", "decided": "Decision", "key decisions": "Decision",
    "decisions made": "Decision", "design decisions": "Decision", "root cause": "Root cause",
    "root causes": "Root cause", "assumption": "Assumption", "assumptions": "Assumption",
    "convention": "Convention", "conventions": "Convention", "constraint": "Constraint",
    "constraints": "Constraint", "invariant": "Invariant", "invariants": "Invariant",
    "dead end": "Dead end", "dead ends": "Dead end",
}  # fmt: skip
_QUOTES = r">|\||\+|-{3,}|={3,}|\*{3,}|-\S|@@|[-*]\s*\[[ xX]\]"  # also tables, diffs, lists of things to do
_GIT = (
    r"diff --git|index [0-9a-f]{6,}\.\.|commit [0-9a-f]{7,40}\b"
    r"|(?:Author|Date|Merge|Co-authored-by|Signed-off-by):\s"
)
_LOGS = (
    r"\[?\d{4}-\d\d-\d\d[T\s]\d\d:\d\d|\[?\d\d:\d\d:\d\d|===? RUN|--- (?:FAIL|PASS)|ok\s+\S+\s+[\d.(]"
    r"|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|TRACE|FATAL|CRITICAL|PASS|FAIL|FAILED|PASSED|OK)\b[\]:\s]|E\s{3}"
    r"|npm (?:ERR|WARN)|error(?:\[\w+\])?:|warning:|fatal:|hint:|remote:|\S+:\d+(?::\d+)?:\s"
)
_TRACES = (
    r"Traceback \(most|at \S{1,200}(?::\d|\s?\()|File \"[^\"]{1,400}\", line \d|[\w.]*(?:Error|Exception):\s"
    r"|goroutine \d|panic:"
)
_CODE = r"//|/\*|#include|#!|</?[A-Za-z!][^>]*>$|from \S+ import |(?:if|for|while|switch) ?\("
_NO_PROSE = regex(rf"\s*(?:{_QUOTES}|{_GIT}|{_LOGS}|{_TRACES}|{_CODE})")
_DEFINES = regex(
    r"\s*(?:def|class|func|fn|import|package|const|var|let|type|struct|interface|public|private|static|export"
    r"|return|async)\s"
)
_CODE_END = regex(r"(?:[{};]|=>|\\|&&|\|\|)$")
_DEFINES_END = regex(r"[{(;=:]\s?\S{0,20}$")
_TERMINAL = regex(r"^\s*(?:\$|%|>>>|#\s*\$|[\w.-]+@[\w.-]+[:~][^\s]*[$#])\s+\S")
_HUNK = regex(r"^\s*(?:diff --git |@@ |Traceback \(most )")
_DEEP = regex(r"^(?: {4,}|\t)")


@frozen
class Block:
    """Lines that belong together: a paragraph or one item, and the label a heading gave it."""

    start: int
    end: int
    label: str


@frozen
class _Line:
    start: int
    text: str
    kind: str  # prose, item, heading or gap

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def blocks(text: str) -> Iterator[Block]:
    """The blocks of prose in a text, in order; a label holds for the first paragraph or list under it."""
    label, listed = "", False
    for group in _groups(text):
        first, item = group[0], group[0].kind == "item"
        if first.kind == "heading":
            label, listed = _label(first.text), False
            continue
        label = label if item or not listed else ""
        yield Block(first.start, group[-1].end, label)
        label, listed = (label if item else ""), item


def _groups(text: str) -> Iterator[list[_Line]]:
    group: list[_Line] = []
    for line in _lines(text):
        if group and (line.kind != "prose" or _apart(group[-1], line)):
            yield group
            group = []
        if line.kind != "gap":
            group.append(line)
    if group:
        yield group


def _apart(before: _Line, line: _Line) -> bool:
    """Whether a new line is a new thought: a chat ends thoughts by line breaks, a text wraps."""
    ended = before.text.rstrip()
    if before.kind == "heading" or ended.endswith(":"):
        return True
    return len(ended) < _WRAPS and line.text.lstrip()[:1].isupper()


def _lines(text: str) -> Iterator[_Line]:
    fence, pasted, before = "", False, "gap"
    at = 0
    for raw in text.splitlines(keepends=True):
        start, at = at, at + len(raw)
        line = raw.rstrip()
        if fence or (mark := _FENCE.match(line)):
            fence = _still(fence, line) if fence else mark[1]  # type: ignore[index]
            kind = "gap"
        else:
            pasted = bool(line) and (pasted or _starts_paste(line))
            kind = "gap" if pasted or not line.strip() else _kind(line, before)
        before = kind
        yield _Line(start, line, kind)


def _still(fence: str, line: str) -> str:
    """The fence that is open after this line."""
    bare = line.strip()
    closes = bare.startswith(fence) and not bare.strip(fence[0])
    return "" if closes else fence


def _starts_paste(line: str) -> bool:
    """Whether what follows up to the next empty line is a terminal's, a diff's or a trace's."""
    return len(line) <= _MAX_LINE and bool(_TERMINAL.match(line) or _HUNK.match(line))


def _kind(line: str, before: str) -> str:
    if len(line) > _MAX_LINE or _NO_PROSE.match(line) or _is_code(line):
        return "gap"
    if _HEADING.match(line) or _label(line):
        return "heading"
    if _ITEM.match(line):
        return "item"
    return "gap" if before == "gap" and _DEEP.match(line) else "prose"


def _is_code(line: str) -> bool:
    if _CODE_END.search(line[-3:]):
        return True
    return _DEFINES.match(line) is not None and _DEFINES_END.search(line[-24:]) is not None


def _label(line: str) -> str:
    """What a heading, or a line that is nothing but a label, says about what stands under it."""
    found = _HEADING.match(line)
    return _LABELS.get((found[1] if found else line).strip(" *_:#").lower(), "")
