"""A decision record as others write them: MADR 2, 3 and 4, and the records of adr-tools (Nygard's form).

Only what a record says is read: its title, its status, what was decided, and why. Whether it is proposed
here, and what became of the records it names, is decided by whoever reads a folder of them.

What a record decides, as one claim that can be compared with others, and why it was decided.

A title that decides is the claim (`Hash passwords with bcrypt`); one that only names a question is answered
with the option that was chosen (`Database: Postgres`), or with the first sentence of the decision. What
stands behind `because` is a reason and never part of the claim.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from holdfast.capture.records import markdown_pieces
from holdfast.capture.records.markdown_pieces import SENTENCE, RecordPiece
from holdfast.model.text import has_hidden, visible
from holdfast.patterns import regex
from holdfast.store.frontmatter import BadFront, Field
from holdfast.values import frozen, mutable

MAX_STATEMENT = 600

_GOES_ON = regex(r"(?::|,|\bbecause)$", re.IGNORECASE)  # what follows belongs to the sentence
_BECAUSE = regex(r"[\s,;–—-]+\bbecause\b(?:\s+of\b)?[\s:]*", re.IGNORECASE)
_CHOSEN = regex(
    r"(?:we\s+(?:have\s+)?)?(?:chosen?|selected|decided\s+(?:on|for))\s+(?:the\s+)?(?:options?|alternatives?"
    r"|solutions?)\b(?:\s+is\b)?[\s:]*(?=\S)",
    re.IGNORECASE,
)
_QUOTED = regex(r"[*_]{0,2}(?:\"([^\"]{1,300})\"|“([^”]{1,300})”|`([^`]{1,300})`|'([^']{1,300})')[*_]{0,2}")
_CLAIM_LINK = regex(r"\[([^\]\n]{1,300})\]\([^)\n]{0,400}\)")
_OPTION_LABEL = regex(r"(?:option|alternative)\s+\w{1,3}\s*[:.–—-]\s+", re.IGNORECASE)
_BARE_LABEL = regex(r"(?:option|alternative)?\s*\w{1,2}", re.IGNORECASE)  # `Option 2` says nothing
_ASKS = regex(
    r"(?:which|what|choose|choosing|choice\s+of|select|selecting|selection\s+of|pick|picking|decide\s+(?:on|for))"
    r"\s+(?:(?:a|an|the|our)\s+)?",
    re.IGNORECASE,
)
_ASKS_ON = regex(
    r"\s+(?:(?:should|shall|do|will|can|could)\s+(?:we|i)\s+\w+|(?:we|to)\s+(?:use|choose|pick|take))$", re.IGNORECASE
)
_QUESTION = regex(r"(?:how|when|where|whether|why|who|should|shall|do|does|is|are|can)\b", re.IGNORECASE)
_SAYS = regex(r"\b(?:is|are|must|will|shall|should|never|always|has|have|may|uses?|not|no longer)\b", re.IGNORECASE)
# What begins so says all that was chosen; `Store sessions` still wants to know where.
_CHOOSES = regex(
    r"(?:use|adopt|prefer|avoid|do\s+not|don['’]t|never|always|only|drop|remove|replace|ban|forbid|disallow|add"
    r"|allow|stop|write|require|switch\s+to|migrate\s+to|move\s+to)\b",
    re.IGNORECASE,
)
# Titles of records are orders mostly, and these are the verbs they begin with.
_VERBS = """
abandon accept add adopt allow always apply assign authenticate automate avoid ban base batch build bundle
cache call cap capture check cite collect combine commit compile compress compute configure connect
consolidate convert copy count create cut decouple default defer define delegate delete deliver deploy
deprecate derive disable disallow do document don't drop embed emit enable encode encrypt enforce ensure
escape exclude expire export expose extend extract fail fetch find fix fold follow forbid format generate
give group handle hash have hide hold host ignore implement import include index inject install introduce
invoke isolate join keep leave let limit link load lock log maintain make manage map mask measure merge
migrate mirror mock monitor mount move name never normalise normalize only open organise organize own pack
pass persist pin place poll port prefer prevent prohibit promote protect provide prune publish pull push put
quote read rebuild record redirect reduce refuse reject release rely remove rename render replace report
require reserve resolve restrict retain retire retry return reuse rewrite roll rotate route run save scan
schedule seal send separate serialise serialize serve share ship show sign simplify skip snapshot sort split
stage standardise standardize start stop store stream strip structure support switch sync tag take target
test throw track translate treat turn unify update upgrade use validate vendor verify version want wrap
write
"""
_ORDERS = frozenset(_VERBS.split())
_SMALL = frozenset(
    re.findall(r"\w+", "a an the use using with in into on to of for and or as by via option our we will")
)


@frozen
class AdrClaim:
    """A claim, and what was said about it."""

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
        if _CHOOSES.match(title) and not _names(title, option):
            return _fitting(_sentence(title), why, _joined(f"Chosen option: {option}", more, rest))
        return _fitting(_answered(title, option), why, _joined(more, rest))
    sentence, *more_said = SENTENCE.split(" ".join(first.split()), maxsplit=1)
    said, why = _apart(sentence)
    if said.lower().startswith(title.lower()):
        return _fitting(said, why, _joined(*more_said, rest))
    if decides(title):
        return _fitting(_sentence(title), why, _joined(" ".join([said, *more_said]), rest))
    return _fitting(f"{_asked(title)}: {said}", why, _joined(*more_said, rest))


def decides(title: str) -> bool:
    """Whether a title says what is to be done or what is so, rather than what is asked."""
    words = title.split()
    if len(words) < 2 or title.rstrip().endswith("?") or _QUESTION.match(title) or _ASKS.match(title):
        return False
    begins = words[0].lower().strip("\"'`*_,").replace("’", "'")
    return begins in _ORDERS or _SAYS.search(title) is not None


def paragraphs(parts: Sequence[RecordPiece]) -> str:
    """Paragraphs, with items on lines of their own."""
    rows: list[str] = []
    for number, piece in enumerate(parts):
        mark = "- " if piece.kind == "item" else ""
        gap = "\n" if mark and number and parts[number - 1].kind == "item" else "\n\n"
        rows.append((gap if rows else "") + mark + piece.text)
    return "".join(rows)


def cut(text: str, limit: int) -> str:
    """The beginning of a text, as long as it may be."""
    if len(text) <= limit:
        return text
    return text[: limit - 2].rsplit(" ", 1)[0].rstrip() + " …"


def _first(parts: Sequence[RecordPiece]) -> tuple[str, int]:
    """The first paragraph with the list that belongs to it, and how many pieces that are."""
    first, taken = parts[0].text, 1
    if parts[0].kind != "item" and not _GOES_ON.search(first):
        return first, taken
    taken = 0 if parts[0].kind == "item" else 1
    items = list(takewhile(lambda piece: piece.kind == "item", parts[taken:]))
    listed = "; ".join(piece.text for piece in items)
    return (f"{first} {listed}" if taken else listed), taken + len(items)


def _apart(sentence: str) -> tuple[str, str]:
    """What a sentence says, and the reason that it gives."""
    said, *why = _BECAUSE.split(sentence, maxsplit=1)
    if not why or not said.strip():
        return sentence, ""
    return (said + "." if sentence.endswith(".") else said), _capital(why[0])


def _option(text: str) -> tuple[str, str, str] | None:
    """The option that was chosen, why, and what else is said; None if the text is of another form."""
    begun = _CHOSEN.match(text)
    if begun is None:
        return None
    text = _CLAIM_LINK.sub(r"\1", text[begun.end() :])
    if quoted := _QUOTED.match(text):
        option, after = next(filter(None, quoted.groups())), text[quoted.end() :]
    else:
        ends = [found.start() for found in (_BECAUSE.search(text), SENTENCE.search(text)) if found]
        option, after = text[: min(ends, default=len(text))], text[min(ends, default=len(text)) :]
    option = _unquoted(_OPTION_LABEL.sub("", option.strip(), count=1).strip(" .,;:*_"))
    if not option or _BARE_LABEL.fullmatch(option):
        return None
    if reason := _BECAUSE.match(after):
        return option, _capital(after[reason.end() :]), ""
    return option, "", after.lstrip(" .,;:")


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 2 and text[0] == text[-1] and text[0] in "\"'`" else text


def _capital(text: str) -> str:
    text = text.strip(" ;,")
    return text[:1].upper() + text[1:]


def _answered(title: str, option: str) -> str:
    """The title, with the option if it does not name it."""
    return _sentence(title) if _names(title, option) else f"{_asked(title)}: {option}"


def _names(title: str, option: str) -> bool:
    named = [word.casefold() for word in re.findall(r"\w+", title)]
    chosen = [word.casefold() for word in re.findall(r"\w+", option)]
    return all(word in _SMALL or any(_alike(word, one) for one in named) for word in chosen)


def _alike(one: str, other: str) -> bool:
    """Whether two words are one, but for their endings."""
    short, long = sorted((one, other), key=len)
    return one == other or (len(short) > 3 and long.startswith(short))


def _asked(title: str) -> str:
    """What a title is about: `Which database should we use?` is about the database."""
    plain = title.strip().rstrip("?.: ")
    about = _ASKS_ON.sub("", _ASKS.sub("", plain, count=1)) if _ASKS.match(plain) else plain
    return _capital(about) or plain


def _sentence(title: str) -> str:
    return title.strip().rstrip(".:").strip()


def _fitting(claim: str, why: str, rest: str) -> AdrClaim:
    claim = " ".join(_CLAIM_LINK.sub(r"\1", claim).split())
    if len(claim) <= MAX_STATEMENT:
        return AdrClaim(claim, why, rest)
    return AdrClaim(cut(claim, MAX_STATEMENT), why, _joined(claim, rest))


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))


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
    level: int
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
    title = _without_number(title)
    if _is_template(path, title, _raw(named.get("status"))):
        raise NotARecord("it is a template")
    claim = adr_claim(title, decided.parts, ours=OWN in named)
    status = _status(named.get("status"), preamble, sections)
    return AdrRecord(
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


def _sections(parts: list[RecordPiece]) -> tuple[str, list[RecordPiece], list[_Section]]:
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
            begun = [RecordPiece("text", rest, piece.first, piece.last)] if rest else []
            sections.append(_Section(_LABELS[name], 7, begun))
        elif sections:
            sections[-1].parts.append(piece)
        else:
            preamble.append(piece)
    return title, preamble, sections


def _status(field: Field | None, preamble: list[RecordPiece], sections: list[_Section]) -> str:
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


def _details(sections: list[_Section], claim: AdrClaim, status: str) -> str:
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


def _superseded(preamble: list[RecordPiece], sections: list[_Section]) -> tuple[str, ...]:
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
