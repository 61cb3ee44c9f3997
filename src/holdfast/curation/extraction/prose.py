"""From a turn to its sentences: what is prose, where a sentence begins and ends, and how it reads tidied.

Code, quotations, tables, diffs, logs, traces and pasted terminals are no prose. Every step looks at a line
or a sentence of bounded length, so that a hostile text costs no more than its length.
"""

import re
from collections.abc import Iterator

from holdfast.curation.extraction.blanks import ANSI, NUL, blanked
from holdfast.curation.extraction.lines import Block, blocks
from holdfast.model.said import MAX_WORDS
from holdfast.model.text import has_hidden
from holdfast.patterns import regex
from holdfast.values import frozen

_SAYS_NOTHING = 12  # characters; only what opens a turn may be as short as "No."
MAX_RAW = 700  # characters of a sentence as written; longer is not looked at

_END = regex(r"(?<![.!?])[.!?]{1,8}[\"')\]*_`]{0,8}\s+")
_ABBREVIATED = regex(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|fig|al|ca|v|mr|dr|st)\.$", re.I)
_SPACE = regex(r"\s+")
_BULLET = regex(r"^(?:[-*+•‣▪]|\(?\d{1,3}[.)]|[a-z]\))\s+")
_MARK = regex(r"^(?:[✅❌⚠✓✔✗☑➜→⇒]\s*)+")
_LINK = regex(r"!?\[([^\[\]\n]{1,200})\]\([^()\s]{1,400}\)")
_BOLD = regex(r"\*{1,3}(?=\S)([^*\n]{1,400}?)(?<=\S)\*{1,3}|(?<!\w)__(?=\S)([^_\n]{1,200} [^_\n]{1,200})__(?!\w)")
_CODE = regex(r"(`+[^`]{1,300}`+)")
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


def _spans(shown: str, block: Block) -> Iterator[tuple[int, int]]:
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
    text = "".join(part if n % 2 else _unmarked(part) for n, part in enumerate(_CODE.split(text)))
    text = _LEAD.sub("", _MARK.sub("", text.strip()))
    return f"{label}: {text}" if label and text else text


def _unmarked(text: str) -> str:
    plain = _LINK.sub(r"\1", text)
    return _BOLD.sub(lambda found: found[1] or found[2], plain).replace("**", "")


def crossed_out(text: str) -> str:
    """The text with the insides of code and of quotations crossed out, at the same length."""
    text = _CODE.sub(lambda found: "`" + "x" * (len(found[0]) - 2) + "`", text)
    return _QUOTED.sub(lambda found: '"' + "x" * (len(found[0]) - 2) + '"', text)


def _verbatim(raw: str) -> str:
    """The words as they stand in the turn; of a coloured sentence its longest piece."""
    pieces = [piece.strip() for piece in ANSI.split(raw)]
    return max(pieces, key=len)[:MAX_WORDS].strip()


def _hides(raw: str) -> bool:
    return has_hidden(ANSI.sub("", raw))
