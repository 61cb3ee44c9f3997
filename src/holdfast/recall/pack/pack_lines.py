"""The lines of a pack: each says one thing, knows which revision of what it is about, and what it costs in tokens.

Tokens are counted high: whatever model reads a text, it should find no more. Tokenizers differ and none is at hand,
so each kind of character is counted as those that split it finest do. Four letters of a word make one token, its
space among them (models take a whole short word for one); of capitals three, of runs longer than words two. Every
digit and every sign is one: some models read digits one by one. Any other character takes one token less than it has
bytes in UTF-8: an accent one, a Chinese character two, an emoji three. A line break is one. So it is never less than
a quarter of the bytes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from holdfast.model.brief import shortened
from holdfast.model.evidence import CommitEvidence, RunEvidence, SymbolEvidence, parse_evidence
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.values import frozen

HOW = "4 letters, 1 digit or 1 sign each"
_PIECES = regex(r" ?[A-Z]?[a-z]+| ?[A-Z]+|[\x00-\x7f]|[^\x00-\x7f]+")
_WORD, _LONG = 4, 14  # letters of a token; from how many on a run of letters is no word


@lru_cache(maxsize=4096)  # lines are counted each time a section is cut
def count_tokens(text: str) -> int:
    """The tokens of a text; of several lines it is the sum over the lines and their ends."""
    return sum(map(_piece, _PIECES.findall(text)))


def _piece(piece: str) -> int:
    if not piece.isascii():
        return len(piece.encode("utf-8", "replace")) - len(piece)
    if len(piece) == 1:
        return 1
    letters = piece.strip(" ")
    size = 2 if len(letters) > _LONG else 3 if letters.isupper() else _WORD
    return -(-len(piece) // size)


def line_tokens(line: str) -> int:
    """The tokens of a line and its end; nothing for none."""
    return count_tokens(line) + 1 if line else 0


def clip_tokens(text: str, room: int) -> str:
    """A text of at most `room` tokens, with a mark where it was cut."""
    if len(text.encode("utf-8", "replace")) <= room or count_tokens(text) <= room:
        return text
    left, end = room - 2, 0  # the mark takes two
    for found in _PIECES.finditer(text):
        piece = found[0]
        if (cost := _piece(piece)) > left:
            end += max(0, left // 3 if not piece.isascii() else 2 * left - 1)  # a part is never dearer
            break
        left -= cost
        end = found.end()
    return text[:end].rstrip() + "…"


LONGEST = 400  # bytes of one line
_FRAME = regex(r"<(?=\s*/?\s*holdfast)|\[(?=\s*rules?\b)", re.IGNORECASE)  # how the marks of a pack begin


@frozen
class ToldRevision:
    """One thing that a line is about, and its revision then."""

    id: str
    kind: str  # a memory's type, task, session, link, commit, run, or line (a branch's identity)
    blob: str | None = None  # git's hash of the text; of a session, of its file; a commit is its own
    why: str = ""


@frozen
class PackLine:
    """One line, and what it tells of."""

    text: str
    told: tuple[ToldRevision, ...]


@frozen
class PackReceipt:
    """Where a pack is kept as it was sent; nowhere, if there was neither a run nor a session for it."""

    ts: str
    owner: str | None = None  # a run or a session
    number: int | None = None
    root: str | None = None


@frozen
class PackSection:
    """One part of the pack."""

    name: str
    title: str
    lines: tuple[PackLine, ...]
    left_out: int = 0
    more: str = ""  # the command that shows the rest; none where there is no room to name it
    reviewed: bool = False  # whether a person approved each line

    @property
    def texts(self) -> list[str]:
        """The section as it is read, line by line."""
        rest = f"… {self.left_out:,} more" + (f", see `{self.more}`" if self.more else "")
        return [f"## {self.title}", *(line.text for line in self.lines), *([rest] if self.left_out else [])]


def plain_line(said: str, *told: ToldRevision) -> PackLine:
    """One line in which nothing hides, of a length that leaves room for others."""
    return PackLine(flat(said), told)


def flat(said: str, size: int = LONGEST) -> str:
    """Words on one line, with marks for what hides, cut to a number of bytes; nothing in them looks like our frame."""
    return shortened(unframed(visible(" ".join(said.split()))), size)


def unframed(said: str) -> str:
    """Words in which nothing looks like our frame."""
    return _FRAME.sub("‹", said) if "<" in said or "[" in said else said


def first_lines(lines: Iterable[PackLine], room: int) -> list[PackLine]:
    """As many lines as fit into a number of tokens."""
    kept: list[PackLine] = []
    for one in lines:
        room -= line_tokens(one.text)
        if room < 0:
            break
        kept.append(one)
    return kept


def size_of_lines(lines: Sequence[PackLine], *, most: int) -> int:
    """The tokens of some lines; no longer counted once they are more than `most`."""
    total = 0
    for one in lines:
        total += line_tokens(one.text)
        if total > most:
            break
    return total


_DETAILS = 1000  # characters of the further paragraphs that are looked at
_LABELS = ("Falsified by", "Instead")
_PARAGRAPH = regex(rf"\n\s*\n|\n(?=(?:Rationale|{'|'.join(_LABELS)}):)")
_PLAIN_WORD = regex(r"[^\W_]+")
# What the wrapper says of a run that said nothing of itself; no question means these words.
_WRAPPER = regex(
    r".*? (?:ended with exit code \d+(?: \(signal \d+\))?|was cut short: its wrapper was killed)"
    r"(?: after [\d.]+ s)?(?:; [\d,]+ files? changed)?",
    re.DOTALL,
)


def further_paragraphs(details: str, *, statement: str = "") -> str:
    """A memory's further paragraphs: why it holds, what would falsify it, what to do instead.

    What `statement` says already, which tells why often enough, is not said again.
    """
    if not details:
        return ""
    said, known = [], _plain(statement)
    for paragraph in _PARAGRAPH.split(details[:_DETAILS]):
        words = " ".join(paragraph.split()).removeprefix("Rationale:").strip()
        label = next((label for label in _LABELS if words.startswith(f"{label}:")), "")
        if words and (label or _plain(words) not in known):
            said.append(label.lower() + words[len(label) :])
    *first, last = said or [""]
    return "; ".join([*(words.rstrip(".") for words in first), last])


def _plain(words: str) -> str:
    """Words to compare: as whole words, without what stands between them."""
    return f" {' '.join(_PLAIN_WORD.findall(words.casefold()))} "


def cited_files(evidence: Iterable[str]) -> tuple[str, ...]:
    """The files that evidence is of."""
    return cited_places(evidence)[0]


def cited_places(evidence: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files and the symbols that evidence is of."""
    there = [one for text in evidence if not isinstance(one := parse_evidence(text), RunEvidence | CommitEvidence)]
    names = [one.name for one in there if isinstance(one, SymbolEvidence)]
    return tuple(dict.fromkeys(one.path for one in there)), tuple(dict.fromkeys(names))


def beyond_title(title: str, text: str) -> str:
    """What a text says beside a title; most texts begin with it."""
    known, said = title.rstrip("… "), text.strip("… ")
    if said.startswith(known):
        return said[len(known) :].lstrip(" .:;")
    return "" if said in known else text


def run_in_words(body: Mapping[str, Any]) -> str:
    """What a run says it did and what it was for; nothing of what its wrapper says of any run."""
    outputs = body.get("outputs")
    summary = outputs.get("summary") if isinstance(outputs, dict) else body.get("summary")
    said = [text for text in (summary, body.get("prompt")) if isinstance(text, str)]
    own = [" ".join(text.split()) for text in said if not _WRAPPER.fullmatch(text)]
    return ": ".join(text for text in own if text)
