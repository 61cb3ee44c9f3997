"""The lines of a pack: each says one thing, and knows its revision and its cost in tokens.

Tokens are counted high, so that no model finds more. Tokenizers differ and none is available here, so each kind of
character counts as in the tokenizer that splits it finest. Four letters of a word are one token, with the space before
it (models have tokens for short words); three capitals, or two letters of a run longer than words. Each digit and each
sign is one: some models read digits one by one. Any other character takes one token less than its bytes in UTF-8: an
accent one, a Chinese character two, an emoji three. A line break is one. So the count is never less than a quarter of
the bytes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from holdfast.model.brief import shortened
from holdfast.model.evidence import CommitEvidence, RunEvidence, SymbolEvidence, parse_evidence
from holdfast.model.memory import Memory
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.values import frozen

HOW = "4 letters, 1 digit or 1 sign each"
_PIECES = regex(r" ?[A-Z]?[a-z]+| ?[A-Z]+|[\x00-\x7f]|[^\x00-\x7f]+")
_WORD, _LONG = 4, 14  # letters of a token; longer runs of letters are not words. A guess: see the module's docstring


@lru_cache(maxsize=4096)  # lines are counted each time a section is cut
def count_tokens(text: str) -> int:
    """Returns the tokens of a text; several lines cost their sum and one for each line break."""
    return sum(map(_piece_tokens, _PIECES.findall(text)))


def _piece_tokens(piece: str) -> int:
    if not piece.isascii():
        return len(piece.encode("utf-8", "replace")) - len(piece)
    if len(piece) == 1:
        return 1
    letters = piece.strip(" ")
    size = 2 if len(letters) > _LONG else 3 if letters.isupper() else _WORD
    return -(-len(piece) // size)


def line_tokens(line: str) -> int:
    """Returns the tokens of a line and its break; 0 for an empty one."""
    return count_tokens(line) + 1 if line else 0


def clip_tokens(text: str, room: int) -> str:
    """Returns a text of at most `room` tokens, with a mark where it was cut."""
    if len(text.encode("utf-8", "replace")) <= room or count_tokens(text) <= room:
        return text
    left, end = room - 2, 0  # the mark takes two
    for found in _PIECES.finditer(text):
        piece = found[0]
        if (cost := _piece_tokens(piece)) > left:
            end += max(0, left // 3 if not piece.isascii() else 2 * left - 1)  # a part never costs more
            break
        left -= cost
        end = found.end()
    return text[:end].rstrip() + "…"


LONGEST = 400  # bytes of one line; a guess: one to three sentences
_FRAME = regex(r"<(?=\s*/?\s*holdfast)|\[(?=\s*rules?\b)", re.IGNORECASE)  # how the marks of a pack begin


@frozen
class ToldRevision:
    """A record that a line shows, and its revision then."""

    id: str
    kind: str  # a memory's type, task, session, link, commit, run, or line (a branch's identity)
    blob: str | None = None  # git's hash of its text; of a session, of its file; a commit's id is its revision
    why: str = ""


@frozen
class PackLine:
    """One line, and the records it shows."""

    text: str
    told: tuple[ToldRevision, ...]


@frozen
class PackReceipt:
    """Where a sent pack is stored; nowhere, if there was neither a run nor a session for it."""

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
    more: str = ""  # the command that shows the rest; empty if there is no room for it
    reviewed: bool = False  # whether a person approved each line

    @property
    def texts(self) -> list[str]:
        """Returns the section line by line, as an agent reads it."""
        rest = f"… {self.left_out:,} more" + (f", see `{self.more}`" if self.more else "")
        return [f"## {self.title}", *(line.text for line in self.lines), *([rest] if self.left_out else [])]


def plain_line(words: str, *told: ToldRevision) -> PackLine:
    """Returns one line without hidden characters, short enough to leave room for others."""
    return PackLine(flat(words), told)


def flat(words: str, size: int = LONGEST) -> str:
    """Returns words on one line, hidden characters marked, cut to a number of bytes, without our frame's marks."""
    return shortened(unframed(visible(" ".join(words.split()))), size)


def unframed(words: str) -> str:
    """Returns words in which nothing looks like our frame."""
    return _FRAME.sub("‹", words) if "<" in words or "[" in words else words


def first_lines(lines: Iterable[PackLine], room: int) -> list[PackLine]:
    """Returns as many lines as fit into a number of tokens."""
    kept: list[PackLine] = []
    for one in lines:
        room -= line_tokens(one.text)
        if room < 0:
            break
        kept.append(one)
    return kept


def size_of_lines(lines: Sequence[PackLine], *, most: int) -> int:
    """Returns the tokens of some lines; stops counting once they exceed `most`."""
    total = 0
    for one in lines:
        total += line_tokens(one.text)
        if total > most:
            break
    return total


_DETAILS = 1000  # characters of the further paragraphs that are read; a guess: a line shows fewer
_LABELS = ("Falsified by", "Instead")
_PARAGRAPH = regex(rf"\n\s*\n|\n(?=(?:Rationale|{'|'.join(_LABELS)}):)")
_PLAIN_WORD = regex(r"[^\W_]+")
# The wrapper's own summary of a run without one; no question is about these words.
_WRAPPER = regex(
    r".*? (?:ended with exit code \d+(?: \(signal \d+\))?|was cut short: its wrapper was killed)"
    r"(?: after [\d.]+ s)?(?:; [\d,]+ files? changed)?",
    re.DOTALL,
)


def further_paragraphs(details: str, *, statement: str = "") -> str:
    """Returns a memory's further paragraphs: why it holds, what would falsify it, what to do instead.

    Paragraphs that `statement` contains already are left out.
    """
    if not details:
        return ""
    parts, known = [], _plain(statement)
    for paragraph in _PARAGRAPH.split(details[:_DETAILS]):
        words = " ".join(paragraph.split()).removeprefix("Rationale:").strip()
        label = next((label for label in _LABELS if words.startswith(f"{label}:")), "")
        if words and (label or _plain(words) not in known):
            parts.append(label.lower() + words[len(label) :])
    *first, last = parts or [""]
    return "; ".join([*(words.rstrip(".") for words in first), last])


def memory_grounds(memory: Memory) -> str:
    """Returns why a memory holds and what follows; of a session's find without the sentences that stood around it."""
    details = memory.details
    if details and (memory.source or "").startswith("run:"):
        parts = (part.strip() for part in _PARAGRAPH.split(details))
        details = "\n\n".join(part for part in parts if part.startswith(("Rationale:", *_LABELS)))
    return further_paragraphs(details, statement=memory.statement)


def _plain(words: str) -> str:
    """Returns words to compare, without what stands between them."""
    return f" {' '.join(_PLAIN_WORD.findall(words.casefold()))} "


def cited_files(evidence: Iterable[str]) -> tuple[str, ...]:
    """Returns the files in evidence."""
    return cited_places(evidence)[0]


def cited_places(evidence: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the files and the symbols in evidence."""
    there = [one for text in evidence if not isinstance(one := parse_evidence(text), RunEvidence | CommitEvidence)]
    names = [one.name for one in there if isinstance(one, SymbolEvidence)]
    return tuple(dict.fromkeys(one.path for one in there)), tuple(dict.fromkeys(names))


def beyond_title(title: str, text: str) -> str:
    """Returns the part of a text that its title does not contain; most texts start with the title."""
    known, said = title.rstrip("… "), text.strip("… ")
    if said.startswith(known):
        return said[len(known) :].lstrip(" .:;")
    return "" if said in known else text


def run_in_words(body: Mapping[str, Any]) -> str:
    """Returns a run's summary and prompt, without the wrapper's standard sentence."""
    outputs = body.get("outputs")
    summary = outputs.get("summary") if isinstance(outputs, dict) else body.get("summary")
    texts = [text for text in (summary, body.get("prompt")) if isinstance(text, str)]
    own = [" ".join(text.split()) for text in texts if not _WRAPPER.fullmatch(text)]
    return ": ".join(text for text in own if text)
