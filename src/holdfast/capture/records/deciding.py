"""What a record decides, as one claim that can be compared with others, and why it was decided.

A title that decides is the claim (`Hash passwords with bcrypt`); one that only names a question is answered
with the option that was chosen (`Database: Postgres`), or with the first sentence of the decision. What
stands behind `because` is a reason and never part of the claim.
"""

import re
from collections.abc import Sequence
from itertools import takewhile

from holdfast.capture.records.markdown import SENTENCE, Piece
from holdfast.patterns import regex
from holdfast.values import frozen

MAX_STATEMENT = 600

_GOES_ON = regex(r"(?::|,|\bbecause)$", re.IGNORECASE)  # what follows belongs to the sentence
_BECAUSE = regex(r"[\s,;–—-]+\bbecause\b(?:\s+of\b)?[\s:]*", re.IGNORECASE)
_CHOSEN = regex(
    r"(?:we\s+(?:have\s+)?)?(?:chosen?|selected|decided\s+(?:on|for))\s+(?:the\s+)?(?:options?|alternatives?"
    r"|solutions?)\b(?:\s+is\b)?[\s:]*(?=\S)",
    re.IGNORECASE,
)
_QUOTED = regex(r"[*_]{0,2}(?:\"([^\"]{1,300})\"|“([^”]{1,300})”|`([^`]{1,300})`|'([^']{1,300})')[*_]{0,2}")
_LINK = regex(r"\[([^\]\n]{1,300})\]\([^)\n]{0,400}\)")
_LABEL = regex(r"(?:option|alternative)\s+\w{1,3}\s*[:.–—-]\s+", re.IGNORECASE)
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
class Decided:
    """A claim, and what was said about it."""

    statement: str
    why: str  # what stood behind `because`
    rest: str  # what the claim does not say


def decided(title: str, parts: Sequence[Piece], *, ours: bool = False) -> Decided:
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


def paragraphs(parts: Sequence[Piece]) -> str:
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


def _first(parts: Sequence[Piece]) -> tuple[str, int]:
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
    text = _LINK.sub(r"\1", text[begun.end() :])
    if quoted := _QUOTED.match(text):
        option, after = next(filter(None, quoted.groups())), text[quoted.end() :]
    else:
        ends = [found.start() for found in (_BECAUSE.search(text), SENTENCE.search(text)) if found]
        option, after = text[: min(ends, default=len(text))], text[min(ends, default=len(text)) :]
    option = _unquoted(_LABEL.sub("", option.strip(), count=1).strip(" .,;:*_"))
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


def _fitting(claim: str, why: str, rest: str) -> Decided:
    claim = " ".join(_LINK.sub(r"\1", claim).split())
    if len(claim) <= MAX_STATEMENT:
        return Decided(claim, why, rest)
    return Decided(cut(claim, MAX_STATEMENT), why, _joined(claim, rest))


def _joined(*texts: str) -> str:
    return "\n\n".join(filter(None, texts))
