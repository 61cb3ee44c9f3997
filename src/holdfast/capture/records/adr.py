"""Reads a decision record as others write them: MADR 2, 3 and 4, and the records of adr-tools (Nygard's form).

A record becomes one claim that can be compared with others, and why it was decided. A title that decides is the claim
(`Hash passwords with bcrypt`); one that only names a question is answered with the option that was chosen (`Database:
Postgres`), or with the first sentence of the decision. What stands behind `because` is a reason and never part of the
claim. Whether a record is proposed here, and what became of the records it names, is the caller's business. The
patterns are in adr.txt.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from holdfast.capture.records import markdown_pieces
from holdfast.capture.records.markdown_pieces import SENTENCE, RecordPiece
from holdfast.capture.wiring.block import cut_at_word
from holdfast.model.text import has_hidden, visible
from holdfast.patterns import PatternFile
from holdfast.store.frontmatter import BadFront, Field
from holdfast.values import frozen, mutable

_SHAPE = PatternFile(__file__)

MAX_STATEMENT = 600  # characters; a guess: a longer text is no single decision


@frozen
class AdrClaim:
    """A claim, its reason, and the rest of the record."""

    statement: str
    why: str  # what stood behind `because`
    rest: str  # what the claim does not say


def adr_claim(title: str, parts: Sequence[RecordPiece], *, ours: bool = False) -> AdrClaim:
    """What a record of this title decides in these paragraphs; what we wrote ourselves is taken as it is."""
    first, taken = _first(parts)
    rest = paragraphs(parts[taken:])
    if ours:
        return _fitting(first, "", rest)
    if (chosen := _option(first)) is not None:
        option, why, more = chosen
        if _SHAPE.chooses.match(title) and not _names(title, option):
            return _fitting(_sentence(title), why, _joined(f"Chosen option: {option}", more, rest))
        answered = _sentence(title) if _names(title, option) else f"{_asked(title)}: {option}"
        return _fitting(answered, why, _joined(more, rest))
    sentence, *more_said = SENTENCE.split(" ".join(first.split()), maxsplit=1)
    said, why = sentence, ""
    before, *reason = _SHAPE.because.split(sentence, maxsplit=1)
    if reason and before.strip():
        said, why = before + "." * sentence.endswith("."), _capital(reason[0])
    if said.lower().startswith(title.lower()):
        return _fitting(said, why, _joined(*more_said, rest))
    if decides(title):
        return _fitting(_sentence(title), why, _joined(" ".join([said, *more_said]), rest))
    return _fitting(f"{_asked(title)}: {said}", why, _joined(*more_said, rest))


def decides(title: str) -> bool:
    """Whether a title says what is to be done or what is so, rather than what is asked."""
    words = title.split()
    if len(words) < 2 or title.rstrip().endswith("?") or _SHAPE.question.match(title) or _SHAPE.asks.match(title):
        return False
    begins = words[0].lower().strip("\"'`*_,").replace("’", "'")
    return begins in _SHAPE.words("orders") or _SHAPE.says.search(title) is not None


def paragraphs(parts: Sequence[RecordPiece]) -> str:
    """Paragraphs, with items on lines of their own."""
    rows: list[str] = []
    for number, piece in enumerate(parts):
        mark = "- " if piece.kind == "item" else ""
        gap = "\n" if mark and number and parts[number - 1].kind == "item" else "\n\n"
        rows.append((gap if rows else "") + mark + piece.text)
    return "".join(rows)


def _first(parts: Sequence[RecordPiece]) -> tuple[str, int]:
    """The first paragraph with the list that belongs to it, and how many pieces that are."""
    first, taken = parts[0].text, int(parts[0].kind != "item")
    if taken and not _SHAPE.goes_on.search(first):
        return first, taken
    items = list(takewhile(lambda piece: piece.kind == "item", parts[taken:]))
    listed = "; ".join(piece.text for piece in items)
    return (f"{first} {listed}" if taken else listed), taken + len(items)


def _option(text: str) -> tuple[str, str, str] | None:
    """The option that was chosen, why, and what else is said; None if the text is of another form."""
    begun = _SHAPE.chosen.match(text)
    if begun is None:
        return None
    text = _SHAPE.claim_link.sub(r"\1", text[begun.end() :])
    if quoted := _SHAPE.quoted.match(text):
        option, after = next(filter(None, quoted.groups())), text[quoted.end() :]
    else:
        ends = [found.start() for found in (_SHAPE.because.search(text), SENTENCE.search(text)) if found]
        option, after = text[: min(ends, default=len(text))], text[min(ends, default=len(text)) :]
    option = _SHAPE.option_label.sub("", option.strip(), count=1).strip(" .,;:*_")
    if len(option) > 2 and option[0] == option[-1] and option[0] in "\"'`":
        option = option[1:-1]
    if not option or _SHAPE.bare_label.fullmatch(option):
        return None
    if reason := _SHAPE.because.match(after):
        return option, _capital(after[reason.end() :]), ""
    return option, "", after.lstrip(" .,;:")


def _capital(text: str) -> str:
    text = text.strip(" ;,")
    return text[:1].upper() + text[1:]


def _names(title: str, option: str) -> bool:
    named = [word.casefold() for word in re.findall(r"\w+", title)]
    chosen = [word.casefold() for word in re.findall(r"\w+", option)]

    def alike(one: str, other: str) -> bool:
        """Whether two words are one, but for their endings."""
        short, long = sorted((one, other), key=len)
        return one == other or (len(short) > 3 and long.startswith(short))

    return all(word in _SHAPE.words("small") or any(alike(word, one) for one in named) for word in chosen)


def _asked(title: str) -> str:
    """What a title is about: `Which database should we use?` is about the database."""
    plain = title.strip().rstrip("?.: ")
    about = _SHAPE.asks_on.sub("", _SHAPE.asks.sub("", plain, count=1)) if _SHAPE.asks.match(plain) else plain
    return _capital(about) or plain


def _sentence(title: str) -> str:
    return title.strip().rstrip(".:").strip()


def _fitting(claim: str, why: str, rest: str) -> AdrClaim:
    claim = " ".join(_SHAPE.claim_link.sub(r"\1", claim).split())
    if len(claim) <= MAX_STATEMENT:
        return AdrClaim(claim, why, rest)
    return AdrClaim(cut_at_word(claim, MAX_STATEMENT), why, _joined(claim, rest))


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


MAX_PART, MAX_WORDS = 3000, 300  # characters of a part and of a quotation; guesses: what a reviewer reads
CURRENT = ("accepted", "proposed")  # what is worth proposing; the others are history
PROPOSED = "Status: the record that it was read from only proposed it."  # true after it is accepted, too
OWN = "holdfast"  # the field by which we know our own export again

_STATES = ("superseded", "deprecated", "rejected", "proposed", "accepted")  # patterns of these names
_DECISION = ("decision outcome", "decision", "the decision", "outcome", "decisions")
_CONTEXT = ("context and problem statement", "context", "problem", "problem statement", "issue", "motivation")
_CONSEQUENCES = ("consequences", "positive consequences", "negative consequences", "implications")
_LINKS = ("status", "links", "more information", "related", "references")


class NotARecord(ValueError):
    """The text is no decision record, and why."""


@frozen
class AdrRecord:
    """One decision record."""

    path: str
    title: str
    status: str  # accepted, proposed, superseded, deprecated or rejected
    statement: str
    details: str
    words: str  # of the decision, as written
    line: int  # where the decision stands
    last: int  # the record's last line
    number: int | None = None
    supersedes: tuple[str, ...] = ()  # file names, or numbers, of records it takes the place of
    id: str | None = None  # of the memory it was exported from
    hidden: bool = False  # whether characters nobody sees were found in it


@mutable
class _Section:
    title: str
    parts: list[RecordPiece]

    @property
    def text(self) -> str:
        """Its paragraphs, with items on lines of their own."""
        return paragraphs(self.parts)


def read_record(text: str, path: str) -> AdrRecord:
    """What a record says; NotARecord where it is a template, an index or something else."""
    text = markdown_pieces.plain(text)
    try:
        fields, body = markdown_pieces.front(text)
    except BadFront as error:
        raise NotARecord(f"its frontmatter cannot be read (line {error.line + 2}: {error.reason})") from None
    named = {field.name.lower(): field for field in fields}
    parts = [piece for piece in markdown_pieces.pieces(markdown_pieces.said(visible(body))) if piece.kind != "rule"]
    title, preamble, sections = _sections(parts)
    decided = next((one for name in _DECISION for one in sections if one.title == name and one.parts), None)
    if decided is None:
        raise NotARecord("it has no section that says what was decided")
    title, stated = _without_number(title), named.get("status")
    if _is_template(path, title, stated.raw if stated is not None else ""):
        raise NotARecord("it is a template")
    claim = adr_claim(title, decided.parts, ours=OWN in named)
    status = _status(stated, preamble, sections)
    number = _SHAPE.file_number.match(path.rpartition("/")[2])
    return AdrRecord(
        path=path,
        title=title,
        status=status,
        statement=claim.statement,
        details=_details(sections, claim, status),
        words=decided.parts[0].text[:MAX_WORDS],
        line=decided.parts[0].first,
        last=text.rstrip("\n").count("\n") + 1,
        number=int(number[1]) if number else None,
        supersedes=_superseded(preamble, sections),
        id=_text(named.get(OWN)),
        hidden=has_hidden(text),
    )


def _is_template(path: str, title: str, status: str) -> bool:
    """Whether a page waits to be filled in."""
    if "template" in path.rpartition("/")[2].lower() or title in ("", "TITLE", "NUMBER. TITLE"):
        return True
    named_so = title.lower() in (*_CONTEXT, *_DECISION, "status")
    return named_so or any(map(_SHAPE.template.search, (title, status)))


def _sections(parts: list[RecordPiece]) -> tuple[str, list[RecordPiece], list[_Section]]:
    """The title, what stands before the first section, and the sections with what stands right below each."""
    title, preamble = "", []
    sections: list[_Section] = []
    labels = {**_SHAPE.table("labels"), "decision outcome": "decision"}
    for piece in parts:
        if piece.kind == "heading" and not title and not sections:
            title = piece.text
        elif piece.kind == "heading":
            sections.append(_Section(_without_number(piece.text).strip(" :.*_").lower(), []))
        elif (labelled := _SHAPE.bold.match(piece.text)) and (name := labelled[1].strip(" .:").lower()) in labels:
            rest = labelled[2].strip()
            begun = [RecordPiece("text", rest, piece.first, piece.last)] if rest else []
            sections.append(_Section(labels[name], begun))
        elif sections:
            sections[-1].parts.append(piece)
        else:
            preamble.append(piece)
    return title, preamble, sections


def _status(field: Field | None, preamble: list[RecordPiece], sections: list[_Section]) -> str:
    said = [_text(field) or ""] if field is not None else []
    said += [found[1] for piece in preamble if (found := _SHAPE.label.match(piece.text))]
    said += [piece.text for one in sections if one.title == "status" for piece in one.parts]
    if any(map(_SHAPE.by.search, said)):
        return "superseded"
    for text in said:
        first = _SHAPE.link.sub(r"\1", text.partition("\n")[0])[:200]
        for state in _STATES:
            if getattr(_SHAPE, state).search(first) and not _SHAPE.supersedes.match(text):
                return state
    return "accepted"  # MADR leaves the status out where there is only one


def _details(sections: list[_Section], claim: AdrClaim, status: str) -> str:
    context = "\n\n".join(one.text for one in sections if one.title in _CONTEXT and one.parts)
    # MADR 2 tells the good consequences from the bad by the heading alone.
    followed = [one for one in sections if one.title in _CONSEQUENCES and one.parts]
    kinds = [f"({one.title.partition(' ')[0]}) " if " " in one.title else "" for one in followed]
    effects = "\n\n".join(kind + one.text for kind, one in zip(kinds, followed, strict=True))
    reasons = [text for text in (claim.why, context, effects) if text]
    labels = ["Rationale", *("Context" if text is context else "Consequences" for text in reasons[1:])]
    parts = [f"{label}: {cut_at_word(text, MAX_PART)}" for label, text in zip(labels, reasons, strict=False)]
    if status == "proposed":
        parts.insert(1, PROPOSED)
    parts += [f"In full: {cut_at_word(claim.rest, MAX_PART)}"] if claim.rest else []
    return "\n\n".join(parts).strip()


def _superseded(preamble: list[RecordPiece], sections: list[_Section]) -> tuple[str, ...]:
    """The records that this one takes the place of, by file name or number."""
    lines = [piece.text for piece in preamble]
    lines += [piece.text for one in sections if one.title in _LINKS for piece in one.parts]
    found: list[str] = []
    for said in filter(None, map(_SHAPE.supersedes.search, lines)):
        links = [target.rpartition("/")[2].partition("#")[0] for _, target in _SHAPE.link.findall(said[1])]
        found += links or _SHAPE.named.findall(said[1])
    return tuple(dict.fromkeys(found))


def _without_number(title: str) -> str:
    title = _SHAPE.kind.sub("", title, count=1)
    found = _SHAPE.number.match(title)
    return title[found.end() :].strip() if found else title.strip()


def _text(field: Field | None) -> str | None:
    return field.value if field is not None and isinstance(field.value, str) else None
