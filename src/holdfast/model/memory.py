"""A memory: one piece of durable knowledge, in one of the states of its life.

    Candidate -> Accepted -> Retired          (written as candidate, accepted, deprecated)
              -> Rejected                     (a tombstone: the same words are not proposed again)

Superseded and expired are no states of their own: they follow from a newer memory and the clock.
How a memory looks in a file is left to `store.memory_files`; who may accept it, to `curation.review`.
"""

import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, Self

from holdfast.errors import BadInput, TooLarge
from holdfast.model import evidence as origins
from holdfast.model.ids import ID_RULE, LAYER_RULE, PREFIXES, check_list, field_rule, is_id
from holdfast.model.text import has_hidden
from holdfast.patterns import regex
from holdfast.values import fields, frozen

TYPES = tuple(PREFIXES)  # decision, assumption, invariant, fact, dead-end
MAX_STATEMENT = 16 * 1024  # bytes; a guess: a statement is a sentence, but imported ones may be long
MAX_DETAILS = 256 * 1024  # bytes; a guess: a page of reasons, not a document
MAX_ITEMS = 256  # a guess: bounds one file
MAX_TAG = 48  # characters; a guess: a tag is a word
SHARED = (  # the fields every memory has, in the order a file names them
    "id", "type", "layer", "tags", "source", "confidence", "evidence", "applies_to",
    "supersedes", "compatible_with", "expires_at",
)  # fmt: skip

_BLANK_LINE = regex(r"\n[^\S\n]*\n")
_CONFLICT = regex(r"^(?:<{7}|\|{7}|>{7})", re.MULTILINE)
_DURATION = regex(r"(\d{1,6})\s*([mhdwy])")
_UNITS = {
    "m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1),
    "w": timedelta(weeks=1), "y": timedelta(days=365),
}  # fmt: skip


@frozen(kw_only=True)
class _Shared:
    id: str
    type: str
    statement: str
    details: str = ""  # further paragraphs: rationale and the like
    layer: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None  # run:…, commit:…, person:… or agent:…
    confidence: float | None = None
    evidence: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    compatible_with: tuple[str, ...] = ()  # somebody looked at both, and both hold
    expires_at: datetime | None = None
    extra: tuple[tuple[str, str], ...] = ()  # fields we do not know, each with its lines as written

    def __post_init__(self) -> None:
        for name, rule in CHECKS.items():
            if hasattr(self, name):
                rule(getattr(self, name))

    @classmethod
    def of(cls, memory: "Memory", **own: Any) -> Self:
        """The same knowledge in this state of life, with whatever both states have."""
        shared = {field.name: getattr(memory, field.name) for field in fields(cls) if hasattr(memory, field.name)}
        return cls(**(shared | own))


@frozen(kw_only=True)
class Candidate(_Shared):
    """Proposed, and approved by nobody yet; it remembers the line it was proposed on."""

    line: str
    provenance: tuple[str, ...] = ()  # where it was said, each as `model.evidence` spells it
    suggests: str | None = None  # what to accept it means: deprecate:<id>, or merge:<id>:<into>
    because: str = ""  # why it is suggested


@frozen(kw_only=True)
class Accepted(_Shared):
    """Approved; the file that holds it travels with the branch."""


@frozen(kw_only=True)
class Retired(_Shared):
    """Approved once and no longer held to be true."""


@frozen(kw_only=True)
class Rejected(_Shared):
    """A tombstone: somebody looked at it and said no."""

    line: str
    rejected_at: datetime
    reason: str
    provenance: tuple[str, ...] = ()
    suggests: str | None = None
    because: str = ""


Memory = Candidate | Accepted | Retired | Rejected
STATES: dict[str, type[Memory]] = {"candidate": Candidate, "accepted": Accepted}
STATES |= {"deprecated": Retired, "rejected": Rejected}


def status(memory: Memory) -> str:
    """The word a file uses for the state this memory is in."""
    return next(word for word, state in STATES.items() if isinstance(memory, state))


def is_expired(memory: Memory, now: datetime) -> bool:
    """Whether its time is over; the very moment counts as over."""
    return memory.expires_at is not None and memory.expires_at <= now


def source_run(memory: Memory) -> str | None:
    """The run it came from, else the first run it cites."""
    cited = (memory.source or "", *memory.evidence)
    return next((text.removeprefix("run:") for text in cited if text.startswith("run:")), None)


def same_words(one: str, other: str) -> bool:
    """Whether two statements say the same, whatever their line breaks."""
    return one.split() == other.split()


def split_statement(text: str) -> tuple[str, str]:
    """The first paragraph, and what follows it: the statement and its details."""
    clean = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    first, *rest = _BLANK_LINE.split(clean, maxsplit=1)
    return first.strip(), rest[0].strip() if rest else ""


def labelled(kind: str, details: str = "", *, why: str = "", falsified_by: str = "", instead: str = "") -> str:
    """A memory's further paragraphs, each with its label: why it holds, what would falsify it, what to do."""
    if falsified_by and kind != "assumption":
        raise BadInput(f"a {kind} is not falsified", hint="Use --falsified-by with --type assumption.")
    if instead and kind not in ("dead-end", ""):
        raise BadInput(f"a {kind} leads somewhere", hint="Use --instead with --type dead-end.")
    said = (("Rationale", why), ("Falsified by", falsified_by), ("Instead", instead))
    paragraphs = [f"{label}: {text.strip().removeprefix(f'{label}:').strip()}" for label, text in said if text]
    return "\n\n".join([*paragraphs, *([details.strip()] if details.strip() else [])])


def expiry(text: str, now: datetime) -> datetime:
    """The moment that `2027-01-01`, `2027-01-01T12:00:00Z` or a duration such as `30d` means.

    Durations count in m(inutes), h, d, w and y of 365 days. A time without a zone is UTC; fractions
    of a second are dropped.
    """
    if match := _DURATION.fullmatch(text.strip()):
        try:
            return _second(now + int(match[1]) * _UNITS[match[2]])
        except OverflowError:
            raise BadInput(f"expiry {text!r} is beyond the calendar") from None
    try:
        return moment(text.strip())
    except (ValueError, OverflowError):
        raise BadInput(
            f"expiry {text[:80]!r} is neither a date nor a duration",
            hint="Write 2027-01-01, 2027-01-01T12:00:00Z, 30d or 12h.",
        ) from None


def moment(text: str) -> datetime:
    """An ISO date or time as UTC, to the second; ValueError if it is none."""
    found = datetime.fromisoformat(text)
    return _second(found if found.tzinfo else found.replace(tzinfo=UTC))


def iso(when: datetime) -> str:
    """UTC to the second, the form files carry; the year always has four digits."""
    return when.astimezone(UTC).replace(tzinfo=None, microsecond=0).isoformat() + "Z"


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Each item once, in the order they came."""
    return tuple(dict.fromkeys(items))


def join_evidence(known: Iterable[str], new: Iterable[str]) -> tuple[str, ...]:
    """Both, with a newer receipt for the same file in the place of the older one."""
    return tuple({origins.subject(origins.parse_evidence(text)): text for text in (*known, *new)}.values())


def _second(when: datetime) -> datetime:
    return when.astimezone(UTC).replace(microsecond=0)


# What each field may hold. Each rule raises BadInput with a sentence that names the field.


def _text(name: str, value: object, limit: int) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text")
    if "\x00" in value:
        raise BadInput(f"{name} holds a NUL byte")
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        raise BadInput(f"{name} is not valid UTF-8 text") from None
    if size > limit:
        raise TooLarge(f"{name} has {size:,} bytes; at most {limit:,} are kept")
    return value


def _paragraphs(name: str, limit: int) -> Callable[[object], None]:
    def check(value: object) -> None:
        text = _text(name, value, limit)
        if "\r" in text or text != text.strip():
            raise BadInput(f"{name} must have plain line breaks and no space around it")
        if _CONFLICT.search(text):
            raise BadInput(f"{name} looks like an unresolved merge", hint="Indent the lines that look so.")

    return check


def _check_statement(value: object) -> None:
    _paragraphs("statement", MAX_STATEMENT)(value)
    if not value:
        raise BadInput("statement is empty", hint="Say in one sentence what is known.")
    if _BLANK_LINE.search(str(value)):
        raise BadInput("statement must be one paragraph; the rest are its details")


def _check_source(value: object) -> None:
    if value is None:
        return
    text = _text("source", value, 512)
    kind, _, rest = text.partition(":")
    if kind in ("person", "agent") and rest.strip() and not has_hidden(rest) and "\n" not in rest:
        return
    if kind not in ("run", "commit"):
        raise BadInput(f"source {text!r} is not run:…, commit:…, person:… or agent:…")
    try:
        origins.parse_evidence(text)
    except BadInput as error:
        raise BadInput(f"source {text!r} is not well formed: {error}") from None


def _check_tags(value: object) -> None:
    for tag in check_list("tags", value, MAX_ITEMS):
        _text("tags", tag, 4 * MAX_TAG)
        if not 0 < len(tag) <= MAX_TAG or has_hidden(tag) or re.search(r"[\s,]", tag) or tag.startswith("-"):
            raise BadInput(f"tags: {tag[:60]!r} is not a short word")


def _check_evidence(value: object) -> None:
    for item in check_list("evidence", value, MAX_ITEMS):
        origins.parse_evidence(_text("evidence", item, origins.MAX_PATH * 4))


def _check_applies_to(value: object) -> None:
    for item in check_list("applies_to", value, MAX_ITEMS):
        path = _text("applies_to", item, origins.MAX_PATH)
        if not origins.is_tracked_path(path.removesuffix("/")):  # a folder may be named as one
            raise BadInput(f"applies_to: {item[:200]!r} is not a path inside the repository")


def _check_ids(name: str) -> Callable[[object], None]:
    def check(value: object) -> None:
        for item in check_list(name, value, MAX_ITEMS):
            if not is_id(item):
                raise BadInput(f"{name}: {item[:200]!r} is not an id")

    return check


def _check_provenance(value: object) -> None:
    for item in check_list("provenance", value, MAX_ITEMS):
        origins.parse_provenance(_text("provenance", item, 4 * (origins.MAX_PROVENANCE_WORDS + origins.MAX_PATH)))


def _check_suggests(value: object) -> None:
    if value is None:
        return
    action, *names = _text("suggests", value, 512).split(":")
    if len(names) != {"deprecate": 1, "merge": 2}.get(action) or not all(map(is_id, names)):
        raise BadInput(f"suggests {value!r} is not deprecate:<id> or merge:<id>:<id>")


def _moment(name: str) -> Callable[[object], None]:
    def fits(value: object) -> bool:
        return value is None or (isinstance(value, datetime) and value.tzinfo == UTC and not value.microsecond)

    return field_rule(fits, f"{name} must be a time in UTC to the second")


_type = field_rule(
    lambda value: value in TYPES, "type {!r} is not a type of memory", hint=f"Use one of {', '.join(TYPES)}."
)
_confidence = field_rule(
    lambda value: value is None or (isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1),
    "confidence {!r} is not a number from 0 to 1",
)
_line = field_rule(lambda value: isinstance(value, str) and is_id(value), "line {!r} is not the id of a line")

CHECKS: dict[str, Callable[[object], None]] = {
    "id": ID_RULE,
    "type": _type,
    "layer": LAYER_RULE,
    "tags": _check_tags,
    "source": _check_source,
    "confidence": _confidence,
    "evidence": _check_evidence,
    "applies_to": _check_applies_to,
    "supersedes": _check_ids("supersedes"),
    "compatible_with": _check_ids("compatible_with"),
    "expires_at": _moment("expires_at"),
    "statement": _check_statement,
    "details": _paragraphs("details", MAX_DETAILS),
    "line": _line,
    "rejected_at": _moment("rejected_at"),
    "reason": _paragraphs("reason", MAX_STATEMENT),
    "provenance": _check_provenance,
    "suggests": _check_suggests,
    "because": _paragraphs("because", MAX_STATEMENT),
}
