"""Pages: the views that show memories together in the form of their files, and what an edited page says.

Pure, both ways. A page begins with a comment that names branch, HEAD, time and base, the fingerprint of all
it shows. What is derived is shown among an entry's fields and read over when the page comes back: when it was
`updated`, and how it is `standing` where its status alone would mislead. What hides is shown as a mark, so
that a person reads what is there; the entry keeps its characters unless that person changes it.
"""

import hashlib
import re
from collections.abc import Iterable

from holdfast.errors import BadInput
from holdfast.model.text import visible
from holdfast.patterns import regex
from holdfast.store import document, pieces
from holdfast.store.frontmatter import SEPARATOR
from holdfast.values import frozen

OF_KIND = {
    "decision": "decisions.md",
    "assumption": "assumptions.md",
    "invariant": "invariants.md",
    "dead-end": "dead-ends.md",
}
CANDIDATES = "candidates.md"
NAMES = (*OF_KIND.values(), CANDIDATES)
DERIVED = ("updated", "standing")

_HEADER = regex(r"\A\s*<!--(.*?)-->[^\S\n]*(?:\n|\Z)", re.DOTALL)
_BASE = regex(r"^base: ([0-9a-f]{32})$", re.MULTILINE)
_DERIVED = regex(rf"(?:{'|'.join(DERIVED)}):(?:\s|\Z)")


@frozen
class Item:
    """One entry of a page: its text as its file has it, and what is derived."""

    id: str
    text: str
    blob: str
    updated: str | None = None
    standing: str | None = None


@frozen
class Page:
    """What a view of memories shows."""

    name: str
    items: tuple[Item, ...] = ()
    left_out: tuple[str, ...] = ()  # what belongs here and cannot be shown, with the reason

    @property
    def base(self) -> str:
        """What it was made from: equal bases, equal entries."""
        shown = "\n".join(sorted(f"{item.id} {item.blob}" for item in self.items))
        return hashlib.sha256(f"{self.name}\n{shown}".encode()).hexdigest()[:32]


@frozen
class Entry:
    """One entry of an edited page."""

    raw: str
    line: int

    @property
    def text(self) -> str:
        """The entry without what is derived."""
        front, body = _apart(self.raw)
        return "\n".join(["---", *_own(front), "---", body.rstrip()]).rstrip() + "\n"


def page(name: str, items: Iterable[Item], left_out: Iterable[str] = ()) -> Page:
    """A page of those entries that read back from it as they are; the others are named."""
    shown, out = [], list(left_out)
    for item in items:
        if why := _unfit(item.text):
            out.append(f"{item.id} {why}")
        else:
            shown.append(item)
    return Page(name, tuple(shown), tuple(out))


def _unfit(text: str) -> str | None:
    """Why an entry cannot stand among others, if so."""
    clean = _clean(text)
    if ("```" in clean or "~~~" in clean) and pieces.has_open_fence(clean):
        return "opens a code fence and never closes it"
    front, _ = _apart(clean)
    if not all(map(str.strip, front)):
        return "has a blank line among its fields"
    if not any(line.startswith(("id:", "type:")) for line in front):
        return "has its id and its type in quotes"
    return None


def render(page: Page, *, branch: str | None, head: str | None, time: str) -> str:
    """The page as a file."""
    said = [
        f"Rendered by Holdfast at {time}",
        f"branch: {branch or 'none'}",
        f"head: {head or 'none'}",
        f"base: {page.base}",
        *_explained(page.name),
        *(f"left out: {' '.join(why.split())}" for why in page.left_out),
    ]
    lines = (visible(line).replace("-->", "-- >") for line in said)
    return "\n".join(["<!--", *lines, "-->", "", *map(shown, page.items)])


def _explained(name: str) -> list[str]:
    if name == CANDIDATES:
        change = "Change the words of a candidate, or add one: `type: fact` and no id."
    else:
        kind = next(kind for kind, page in OF_KIND.items() if page == name)
        change = f"Change an entry, or add one: `type: {kind}` and no id."
    return [
        f"{change} The next command takes it, and it waits in review.",
        "What is deleted here stays where it is. `updated` and `standing` are derived.",
    ]


def shown(item: Item) -> str:
    """An entry as the page shows it."""
    derived = [f"{name}: {value}" for name, value in (("updated", item.updated), ("standing", item.standing)) if value]
    front, body = _apart(_clean(item.text))
    return "\n".join(["---", *_own(front), *derived, "---", body.rstrip()]).rstrip() + "\n"


def without_derived(text: str) -> str:
    """An entry's text as an untouched page gives it back."""
    return Entry(_clean(text), 1).text


def _clean(text: str) -> str:
    return visible(text.removeprefix("\ufeff"))


def _apart(text: str) -> tuple[list[str], str]:
    """The lines of the frontmatter, and what follows."""
    lines = text.split("\n")
    end = next((n for n, line in enumerate(lines[1:], 1) if line == "---"), len(lines))
    return lines[1:end], "\n".join(lines[end + 1 :])


def _own(front: list[str]) -> list[str]:
    """The fields that the entry itself has, one below the other; one may go on in indented lines."""
    kept, skipping = [], False
    for line in (line for line in front if line != SEPARATOR):
        skipping = bool(_DERIVED.match(line)) or (skipping and line[:1] in (" ", "\t", "-"))
        if not skipping:
            kept.append(line)
    return kept


def read(text: str) -> tuple[str, list[Entry]]:
    """The base of an edited page, and its entries; BadInput says what cannot be read, and where."""
    clean = text.removeprefix("\ufeff").replace("\r\n", "\n")
    header = _HEADER.match(clean)
    base = _BASE.search(header[1]) if header else None
    if header is None or base is None:
        raise BadInput("line 1: its header is gone, so nobody can tell what it was made from")
    if document.is_unmerged(clean):
        raise BadInput("line 1: it holds the marks of an unresolved merge")
    rest = clean[header.end() :]
    first = clean.count("\n", 0, header.end())
    found = [] if not rest.strip() else pieces.pieces(_led(rest))
    entries = []
    for piece in found:
        line = piece.line + first - 1
        if not piece.text.startswith("---\n"):
            if piece.text.strip() != _LEAD:
                raise BadInput(f"line {_first_words(piece.text, line)}: what stands here belongs to no entry")
            continue
        entries.append(Entry(piece.text, line))
    return base[1], entries


_LEAD = "<!-- -->"


def _led(rest: str) -> str:
    """The entries with a line before them: of a page, the first begins by the same rule as all others."""
    return f"{_LEAD}\n{rest}"


def _first_words(text: str, line: int) -> int:
    lines = text.split("\n")
    return line + next((n for n, words in enumerate(lines) if words.strip() and words != _LEAD), 0)
