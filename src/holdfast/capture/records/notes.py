"""Notes that people and agents keep for agents: each rule and each fact in them as one proposal.

An item of a list, or a sentence that says what must, must never or should be done, is one note. A word
decides what it is: `must`, `never`, `always`, `don't` make an invariant; `use`, `prefer`, `should` a
decision; anything else in a list is a fact. Precise rather than plentiful: other prose is left out. A line
that steers its reader instead of telling something ("ignore previous instructions") is left out by name.
"""

from collections.abc import Iterator

from holdfast.capture.records import markdown_pieces
from holdfast.capture.wiring.block import cut_at_word
from holdfast.model import ids, memory, prompt_injection
from holdfast.model.text import has_hidden, visible
from holdfast.patterns import PatternFile
from holdfast.store.frontmatter import BadFront
from holdfast.values import field, frozen, mutable

_SHAPE = PatternFile(__file__)

# Characters and words; guesses: longer is no single statement, shorter says nothing alone.
MAX_STATEMENT, MAX_WORDS, MIN_WORDS, SHORT_LEAD = 600, 300, 3, 4

_KINDS = ("dead-end", "assumption", "invariant", "decision")  # patterns of these names, for titles


class NotNotes(ValueError):
    """The text holds no notes about this project, and why."""


@frozen
class Note:
    """One thing that a file of notes says."""

    path: str
    kind: str  # invariant, decision, fact, assumption or dead-end
    statement: str
    details: str
    words: str  # as written
    line: int
    last: int
    tags: tuple[str, ...] = ()
    hidden: bool = False  # whether characters nobody sees were found in it


@frozen
class LeftOutLine:
    """A line of a file of notes that is no note, and why."""

    line: int
    reason: str


@frozen
class NotesScan:
    """What a file of notes says, and which of its lines were left out by name."""

    notes: tuple[Note, ...]
    left_out: tuple[LeftOutLine, ...]


@mutable
class _Where:
    """What stands above a piece: its headings, and the lines that lead in to a list."""

    heads: list[tuple[int, str]] = field(default_factory=list)
    leads: list[tuple[int, str]] = field(default_factory=list)

    def enter(self, piece: markdown_pieces.RecordPiece) -> None:
        """Note what a piece leads in to; a heading ends all that stood deeper."""
        if piece.kind in ("heading", "rule"):
            self.leads = []
            if piece.kind == "heading":
                self.heads = [(level, title) for level, title in self.heads if level < piece.level]
                self.heads.append((piece.level, _cleaned(piece.text)))
            return
        depth = piece.level if piece.kind == "item" else -1
        self.leads = [(level, text) for level, text in self.leads if level < depth] if depth >= 0 else []
        lead = _cleaned(piece.text).rstrip("*_")
        if lead.endswith(":"):
            self.leads.append((depth, markdown_pieces.SENTENCE.split(lead)[-1].rstrip(":")))

    @property
    def lead(self) -> str | None:
        """The words above without which a phrase says something else: `Never:`, or a heading such as that."""
        for _, text in reversed(self.leads):
            if _SHAPE.must.search(text) or len(text.split()) <= SHORT_LEAD:
                return text
        title = self.heads[-1][1] if self.heads else ""
        return title if _SHAPE.must.search(title) and len(title.split()) <= SHORT_LEAD else None

    @property
    def kind(self) -> str | None:
        titles = (title for _, title in reversed(self.heads))
        named = (kind for title in titles for kind in _KINDS if getattr(_SHAPE, kind.replace("-", "_")).search(title))
        return next(named, None)

    @property
    def tags(self) -> tuple[str, ...]:
        named = [ids.slug(title, memory.MAX_TAG) for level, title in self.heads if level > 1]
        return tuple(dict.fromkeys(name for name in named[-2:] if name != "entry"))


def look(text: str, path: str, *, prose: bool = False) -> NotesScan:
    """The rules and facts of a text, and the lines left out because they steer their reader.

    With `prose`, sentences that rule nothing are facts as well.
    """
    text = markdown_pieces.plain(text)
    try:
        fields, body = markdown_pieces.front(_SHAPE.globs.sub(r'\1: "\2"', text, count=1))
    except BadFront as error:
        raise NotNotes(f"its frontmatter cannot be read (line {error.line + 2}: {error.reason})") from None
    if any(_SHAPE.about_user.search(one.raw) for one in fields):
        raise NotNotes("it is about a person, not about the project")
    # Lines that steer are blanked, so that they become part of nothing.
    lines, left_out = markdown_pieces.said(body).split("\n"), []
    for number, line in enumerate(lines):
        if _steers(_SHAPE.marks.sub("", line)):
            left_out.append(_left_out(number + 1, line))
            lines[number] = ""
    found: dict[str, Note] = {}
    where = _Where()
    for piece in markdown_pieces.pieces("\n".join(lines)):
        if piece.last > piece.first and _steers(piece.text):  # each of its lines alone did not
            left_out.append(_left_out(piece.first, piece.text))
            continue
        if piece.kind in ("item", "text"):
            for note in _notes(piece, where, path, prose=prose):
                found.setdefault(" ".join(note.statement.lower().split()), note)
        where.enter(piece)
    return NotesScan(tuple(found.values()), tuple(sorted(left_out, key=lambda one: one.line)))


def _steers(words: str) -> bool:
    """Whether it tries to overrule its reader; characters nobody sees do not hide that."""
    return prompt_injection.overrules(words if words.isprintable() else "".join(filter(str.isprintable, words)))


def _left_out(line: int, words: str) -> LeftOutLine:
    shown = visible(_cleaned(_SHAPE.marks.sub("", words)))[:80]
    return LeftOutLine(line, f"it steers whoever reads it instead of telling something: {shown}")


def _notes(piece: markdown_pieces.RecordPiece, where: _Where, path: str, *, prose: bool) -> Iterator[Note]:
    leads = [(level, text) for level, text in where.leads if piece.kind == "item" and level < piece.level]
    above = _Where(where.heads, leads)
    whole_text = _cleaned(piece.text)
    for said in [whole_text] if piece.kind == "item" else markdown_pieces.SENTENCE.split(whole_text):
        lead = above.lead if piece.kind == "item" and not _SHAPE.must.search(said) else None
        whole = f"{lead}: {said}" if lead else said
        kind = _kind(whole, said, above)
        # A sentence may say too little without those around it.
        lost_alone = len(said.split()) < MIN_WORDS or (kind == "fact" and not prose)
        if not _worth(said, whole) or (piece.kind == "text" and lost_alone):
            continue
        statement, details = _fitting(whole)
        yield Note(
            path=path,
            kind=kind,
            statement=visible(statement),
            details=visible(details),
            words=visible(said)[:MAX_WORDS],
            line=piece.first,
            last=piece.last,
            tags=above.tags,
            hidden=has_hidden(whole),
        )


def _worth(said: str, whole: str) -> bool:
    """Whether it says something by itself: no task, link, question or line that only leads in to others."""
    if said.endswith((":", "?")) or _SHAPE.not_said.match(said) or not any(letter.isalpha() for letter in said):
        return False
    rules = _SHAPE.must.search(whole) or _SHAPE.should.search(whole)
    return len(whole.split()) >= (2 if rules else MIN_WORDS)


def _kind(whole: str, said: str, where: _Where) -> str:
    if where.kind in ("dead-end", "assumption"):
        return where.kind
    if _SHAPE.must.search(whole):
        return "invariant"
    if _SHAPE.should.search(said):
        return "decision"
    return where.kind or "fact"


def _fitting(said: str) -> tuple[str, str]:
    """A statement of bounded length, and what did not fit."""
    if len(said) <= MAX_STATEMENT:
        return said, ""
    first, *rest = markdown_pieces.SENTENCE.split(said, maxsplit=1)
    if rest and len(first) <= MAX_STATEMENT:
        return first, rest[0]
    return cut_at_word(said, MAX_STATEMENT), said


def _cleaned(text: str) -> str:
    return " ".join(_SHAPE.bold.sub(r"\2", text).split())
