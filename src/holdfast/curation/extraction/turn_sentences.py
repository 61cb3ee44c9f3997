"""What in a turn is not its speaker's own word: blanked out, so that no rule ever sees it (law 16).

Everything here keeps the length of the text: what is found later can be cited by its place. A blank is a
line break, which ends the sentence before it; escape sequences become NUL, which `prose` takes out again.

Which lines of a turn are prose, and which belong together: a paragraph, an item, what a heading labels.

From a turn to its sentences: what is prose, where a sentence begins and ends, and how it reads tidied.

Code, quotations, tables, diffs, logs, traces and pasted terminals are no prose. Every step looks at a line
or a sentence of bounded length, so that a hostile text costs no more than its length.
"""

import re
from collections.abc import Callable, Iterator

from holdfast.model.text import has_hidden
from holdfast.model.utterance import MAX_WORDS
from holdfast.patterns import regex
from holdfast.values import frozen

NUL = "\0"
ANSI = regex(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[PX^_][^\x1b]*\x1b\\"
    r"|\x1b[@-Z\\-_]"
)
_OPEN = regex(r"<(holdfast-data)\b([^<>\n]*)>", re.IGNORECASE)
_BLOCK = regex(r"<!--\s*holdfast:begin\b", re.IGNORECASE)
_BLOCK_END = regex(r"<!--\s*holdfast:end\b[^>\n]*>", re.IGNORECASE)
# Blocks that agents' own programs put into a turn: reminders, environment, contexts of hooks.
_TAG = regex(r"<([a-z]+(?:[-_][a-z]+)+)(?:\s[^<>\n]*)?>")

Closing = Callable[[re.Match[str]], re.Pattern[str]]


def blanked(text: str) -> str:
    """The text with our own injected blocks, comments and wrappers of programs blanked; as long as before."""
    text = ANSI.sub(lambda found: NUL * len(found[0]), text)
    for blank in (_packs, _blocks, _comments, _wrappers):
        text = blank(text)
    return text


def _packs(text: str) -> str:
    """Without what stood between our markers: only the same mark closes, without it all the rest goes."""
    return _between(text, _OPEN, lambda found: re.compile(rf"</holdfast-data{re.escape(found[2])}>", re.I))


def _blocks(text: str) -> str:
    return _between(text, _BLOCK, lambda _: _BLOCK_END)


def _comments(text: str) -> str:
    return _between(text, re.compile("<!--"), lambda _: re.compile("-->"))


def _between(text: str, opens: re.Pattern[str], closing: Closing) -> str:
    parts, at = [], 0
    while found := opens.search(text, at):
        end = closing(found).search(text, found.end())
        stop = end.end() if end else len(text)
        parts += [text[at : found.start()], _gap(text[found.start() : stop])]
        at = stop
    return "".join([*parts, text[at:]])


def _wrappers(text: str) -> str:
    """Without the blocks of programs; one that never closes is no block."""
    parts, at, look = [], 0, 0
    last: dict[str, int] = {}  # where a name closes for the last time: no search twice through the same text
    while found := _TAG.search(text, look):
        close = f"</{found[1]}>"
        if close not in last:
            last[close] = text.rfind(close)
        if last[close] < found.end():
            look = found.end()
            continue
        stop = text.index(close, found.end()) + len(close)
        parts += [text[at : found.start()], _gap(text[found.start() : stop])]
        at = look = stop
    return "".join([*parts, text[at:]])


def _gap(gone: str) -> str:
    return "\n" * len(gone)


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
class ProseBlock:
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


def blocks(text: str) -> Iterator[ProseBlock]:
    """The blocks of prose in a text, in order; a label holds for the first paragraph or list under it."""
    label, listed = "", False
    for group in _groups(text):
        first, item = group[0], group[0].kind == "item"
        if first.kind == "heading":
            label, listed = _label(first.text), False
            continue
        label = label if item or not listed else ""
        yield ProseBlock(first.start, group[-1].end, label)
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


_SAYS_NOTHING = 12  # characters; only what opens a turn may be as short as "No."
MAX_RAW = 700  # characters of a sentence as written; longer is not looked at

_END = regex(r"(?<![.!?])[.!?]{1,8}[\"')\]*_`]{0,8}\s+")
_ABBREVIATED = regex(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|fig|al|ca|v|mr|dr|st)\.$", re.I)
_SPACE = regex(r"\s+")
_BULLET = regex(r"^(?:[-*+•‣▪]|\(?\d{1,3}[.)]|[a-z]\))\s+")
_MARK = regex(r"^(?:[✅❌⚠✓✔✗☑➜→⇒]\s*)+")
_LINK = regex(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{1,400}\)")
_BOLD = regex(r"\*{1,3}(?=\S)([^*\n]{1,400}?)(?<=\S)\*{1,3}|(?<!\w)__(?=\S)([^_\n]{1,200} [^_\n]{1,200})__(?!\w)")
_INLINE_CODE = regex(r"(`+[^`]{1,300}`+)")
_QUOTED = regex(r"\"[^\"\n]{1,400}\"|“[^”\n]{1,400}”|«[^»\n]{1,400}»")
_LEAD = regex(
    r"^(?:(?:so|ok|okay|well|alright|all right|right|great|good|perfect|yes|yeah|yep|sure|also|and|but"
    r"|then|anyway"
    r"|hmm+|oh|ah|note|important|please note|btw|by the way|fyi|in short|to be clear|just to be clear"
    r"|basically"
    r"|therefore|thus|hence|however|finally|overall|remember|nb|ps|tl;dr|cool|thanks|thank you|also note"
    r"|good point|good catch|you're right|agreed|indeed)(?:\s*[,:!;]+|\s+[-–—]+)\s*"
    r"|(?:ok|okay|yeah|yep|well)\s+|(?:so|and|but|yes|also|then|remember)\s+(?:that\s+)?"
    r"(?=(?:we|let's|never|always|the|i|please|do|don't|use|our|all|every|no)\b))+",
    re.IGNORECASE,
)


@frozen
class Sentence:
    """One sentence: tidied, the same with code and quotations crossed out, and verbatim."""

    text: str
    plain: str  # as long as text; rules look for their cues here
    words: str
    opening: int  # its number within the turn
    hidden: bool  # holds characters one cannot see


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of a turn that are prose, in order."""
    shown, number = blanked(text), 0
    for block in blocks(shown):
        label = block.label
        for start, end in _spans(shown, block):
            if number > 1 and end - start < _SAYS_NOTHING:
                continue
            tidied = tidy(shown[start:end].replace(NUL, ""), label)
            label = ""
            if tidied:
                yield Sentence(tidied, crossed_out(tidied), _verbatim(text[start:end]), number, _hides(text[start:end]))
                number += 1


def _spans(shown: str, block: ProseBlock) -> Iterator[tuple[int, int]]:
    start = block.start
    for found in _END.finditer(shown, block.start, block.end):
        if not _goes_on(shown, start, found):
            yield from _bounded(start, found.end())
            start = found.end()
    yield from _bounded(start, block.end)


def _bounded(start: int, end: int) -> Iterator[tuple[int, int]]:
    if 0 < end - start <= MAX_RAW:
        yield start, end


def _goes_on(shown: str, start: int, found: re.Match[str]) -> bool:
    """Whether this full stop ends no sentence: an abbreviation, three dots, a number."""
    before = shown[max(start, found.start() - 12) : found.start() + 1]
    after = shown[found.end() : found.end() + 1]
    if _ABBREVIATED.search(before) or (found[0].startswith("..") and after.islower()):
        return True
    return bool(re.search(r"(?:^|\s)(?:no|\d{1,3})\.$", before, re.I)) and (
        after.isdigit() or before.strip()[:-1].isdigit()
    )


def tidy(raw: str, label: str = "") -> str:
    """A sentence on one line without bullets, emphasis, links and words that only lead in."""
    text = _SPACE.sub(" ", raw).strip().replace("’", "'").replace("‘", "'")
    text = _MARK.sub("", _BULLET.sub("", text))
    text = "".join(part if n % 2 else _unmarked(part) for n, part in enumerate(_INLINE_CODE.split(text)))
    text = _LEAD.sub("", _MARK.sub("", text.strip()))
    return f"{label}: {text}" if label and text else text


def _unmarked(text: str) -> str:
    plain = _LINK.sub(r"\1", text)
    return _BOLD.sub(lambda found: found[1] or found[2], plain).replace("**", "")


def crossed_out(text: str) -> str:
    """The text with the insides of code and of quotations crossed out, at the same length."""
    text = _INLINE_CODE.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    return _QUOTED.sub(lambda found: '"' + "x" * (len(found[0]) - 2) + '"', text)


def _verbatim(raw: str) -> str:
    """The words as they stand in the turn; of a coloured sentence its longest piece."""
    pieces = [piece.strip() for piece in ANSI.split(raw)]
    return max(pieces, key=len)[:MAX_WORDS].strip()


def _hides(raw: str) -> bool:
    return has_hidden(ANSI.sub("", raw))
