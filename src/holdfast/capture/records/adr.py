"""A decision record as others write them: MADR 2, 3 and 4, and the records of adr-tools (Nygard's form).

Only what a record says is read: its title, its status, what was decided, and why. Whether it is proposed
here, and what became of the records it names, is decided by whoever reads a folder of them.
"""

import re

from holdfast.capture.records import deciding, markdown
from holdfast.capture.records.deciding import Decided, cut
from holdfast.capture.records.markdown import Piece
from holdfast.model.text import has_hidden, visible
from holdfast.patterns import regex
from holdfast.store.frontmatter import BadFront, Field
from holdfast.values import frozen, mutable

MAX_PART, MAX_WORDS = 3000, 300
CURRENT = ("accepted", "proposed")  # what is worth proposing; the others are history
PROPOSED = "Status: the record that it was read from only proposed it."  # true after it is accepted, too
OWN = "holdfast"  # the field by which we know our own export again

_NUMBER = regex(r"(?:adr[\s_-]*)?0*(\d{1,6})(?:[.:)\]]|\s*[-–—:]\s|\s)\s*", re.IGNORECASE)
_KIND = regex(r"(?:architectur(?:e|al)\s+)?decision(?:\s+record)?\s*(?:[:–—]|-\s)\s*(?=\S)", re.IGNORECASE)
_FILE_NUMBER = regex(r"(?:adr[-_]?)?0*(\d{1,6})(?=[-_. ])", re.IGNORECASE)
_LABEL = regex(r"[\s*_>-]*status[\s*_]*:[\s*_]*(.*)", re.IGNORECASE)
_LINK = regex(r"\[([^\]\n]{0,200})\]\(([^)\s]{0,400})[^)]{0,100}\)")
_BY = regex(r"\b(?:super[sc]eded|replaced)\b(?:\s+\w+){0,2}?\s+by\b", re.IGNORECASE)
_SUPERSEDES = regex(r"\b(?:super[sc]edes|replaces)\b(.*)", re.IGNORECASE)
_NAMED = regex(r"\badr[\s_-]*0*(\d{1,6})\b", re.IGNORECASE)
_STATES = (
    ("superseded", regex(r"\bsuper[sc]eded\b", re.IGNORECASE)),
    ("deprecated", regex(r"\b(?:deprecated|obsolete|withdrawn|retired)\b", re.IGNORECASE)),
    ("rejected", regex(r"\b(?:rejected|declined|abandoned)\b", re.IGNORECASE)),
    ("proposed", regex(r"\b(?:proposed|draft|pending|open|in review|rfc)\b", re.IGNORECASE)),
    ("accepted", regex(r"\b(?:accepted|approved|decided|implemented|adopted|done|active)\b", re.IGNORECASE)),
)
_DECISION = ("decision outcome", "decision", "the decision", "outcome", "decisions")
_CONTEXT = ("context and problem statement", "context", "problem", "problem statement", "issue", "motivation")
_CONSEQUENCES = ("consequences", "positive consequences", "negative consequences", "implications")
_LINKS = ("status", "links", "more information", "related", "references")
_BOLD = regex(r"\*\*([^*]{3,40})\*\*[.:]?(.*)")  # records that use labels where others have headings
_LABELS = {
    **dict.fromkeys(("decision", "decided", "decision outcome", "outcome"), "decision"),
    **dict.fromkeys(("context", "why", "problem", "motivation", "rationale"), "context"),
    **dict.fromkeys(("consequences", "cost", "impact"), "consequences"),
    "status": "status",
}
_TEMPLATE = regex(r"[{\[][^}\]\n]*\|[^}\]\n]*[}\]]|\{[^}\n]*(?:title|solution)[^}\n]*\}", re.IGNORECASE)


class NotARecord(ValueError):
    """The text is no decision record, and why."""


@frozen
class Record:
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
    level: int
    parts: list[Piece]

    @property
    def text(self) -> str:
        """Its paragraphs, with items on lines of their own."""
        return deciding.paragraphs(self.parts)


def read(text: str, path: str) -> Record:
    """What a record says; NotARecord where it is a template, an index or something else."""
    text = markdown.plain(text)
    try:
        fields, body = markdown.front(text)
    except BadFront as error:
        raise NotARecord(f"its frontmatter cannot be read (line {error.line + 2}: {error.reason})") from None
    named = {field.name.lower(): field for field in fields}
    parts = [piece for piece in markdown.pieces(markdown.said(visible(body))) if piece.kind != "rule"]
    title, preamble, sections = _sections(parts)
    decided = next((one for name in _DECISION for one in sections if one.title == name and one.parts), None)
    if decided is None:
        raise NotARecord("it has no section that says what was decided")
    title = _without_number(title)
    if _is_template(path, title, _raw(named.get("status"))):
        raise NotARecord("it is a template")
    claim = deciding.decided(title, decided.parts, ours=OWN in named)
    status = _status(named.get("status"), preamble, sections)
    return Record(
        path=path,
        title=title,
        status=status,
        statement=claim.statement,
        details=_details(sections, claim, status),
        words=decided.parts[0].text[:MAX_WORDS],
        line=decided.parts[0].first,
        last=text.rstrip("\n").count("\n") + 1,
        number=_number_of(path),
        supersedes=_superseded(preamble, sections),
        id=_text(named.get(OWN)),
        hidden=has_hidden(text),
    )


def _is_template(path: str, title: str, status: str) -> bool:
    """Whether a page waits to be filled in."""
    if "template" in path.rpartition("/")[2].lower() or not title or title in ("TITLE", "NUMBER. TITLE"):
        return True
    return title.lower() in (*_CONTEXT, *_DECISION, "status") or bool(
        _TEMPLATE.search(title) or _TEMPLATE.search(status)
    )


def _sections(parts: list[Piece]) -> tuple[str, list[Piece], list[_Section]]:
    """The title, what stands before the first section, and the sections with what stands right below each."""
    title, preamble = "", []
    sections: list[_Section] = []
    for piece in parts:
        if piece.kind == "heading" and not title and not sections:
            title = piece.text
        elif piece.kind == "heading":
            name = _without_number(piece.text).strip(" :.*_").lower()
            sections.append(_Section(name, piece.level, []))
        elif (labelled := _BOLD.match(piece.text)) and (name := labelled[1].strip(" .:").lower()) in _LABELS:
            rest = labelled[2].strip()
            begun = [Piece("text", rest, piece.first, piece.last)] if rest else []
            sections.append(_Section(_LABELS[name], 7, begun))
        elif sections:
            sections[-1].parts.append(piece)
        else:
            preamble.append(piece)
    return title, preamble, sections


def _status(field: Field | None, preamble: list[Piece], sections: list[_Section]) -> str:
    said = [_text(field) or ""] if field is not None else []
    said += [found[1] for piece in preamble if (found := _LABEL.match(piece.text))]
    said += [piece.text for one in sections if one.title == "status" for piece in one.parts]
    for text in said:
        if _BY.search(text):
            return "superseded"
    for text in said:
        for state, words in _STATES:
            if words.search(_LINK.sub(r"\1", text.partition("\n")[0])[:200]) and not _SUPERSEDES.match(text):
                return state
    return "accepted"  # MADR leaves the status out where there is only one


def _details(sections: list[_Section], claim: Decided, status: str) -> str:
    context = "\n\n".join(one.text for one in sections if one.title in _CONTEXT and one.parts)
    effects = "\n\n".join(_effects(one) for one in sections if one.title in _CONSEQUENCES and one.parts)
    reasons = [text for text in (claim.why, context, effects) if text]
    labels = ["Rationale", *("Context" if text is context else "Consequences" for text in reasons[1:])]
    parts = [f"{label}: {cut(text, MAX_PART)}" for label, text in zip(labels, reasons, strict=False)]
    if status == "proposed":
        parts.insert(1, PROPOSED)
    parts += [f"In full: {cut(claim.rest, MAX_PART)}"] if claim.rest else []
    return "\n\n".join(parts).strip()


def _effects(section: _Section) -> str:
    """What follows from it; MADR 2 tells the good from the bad by the heading alone."""
    kind, _, rest = section.title.partition(" ")
    return f"({kind}) {section.text}" if rest else section.text


def _superseded(preamble: list[Piece], sections: list[_Section]) -> tuple[str, ...]:
    """The records that this one takes the place of, by file name or number."""
    lines = [piece.text for piece in preamble]
    lines += [piece.text for one in sections if one.title in _LINKS for piece in one.parts]
    found: list[str] = []
    for text in lines:
        said = _SUPERSEDES.search(text)
        if said is None:
            continue
        links = [target.rpartition("/")[2].partition("#")[0] for _, target in _LINK.findall(said[1])]
        found += links or _NAMED.findall(said[1])
    return tuple(dict.fromkeys(found))


def _without_number(title: str) -> str:
    title = _KIND.sub("", title, count=1)
    found = _NUMBER.match(title)
    return title[found.end() :].strip() if found else title.strip()


def _number_of(path: str) -> int | None:
    found = _FILE_NUMBER.match(path.rpartition("/")[2])
    return int(found[1]) if found else None


def _text(field: Field | None) -> str | None:
    return field.value if field is not None and isinstance(field.value, str) else None


def _raw(field: Field | None) -> str:
    return field.raw if field is not None else ""
