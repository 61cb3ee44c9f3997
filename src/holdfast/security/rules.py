"""Rules for secrets: the built-in shapes of `rules.txt`, and the user's own patterns.

A shape is tried only where one of its literal anchors stands, and then sees at most `REACH` bytes from there: so a
scan is linear, and gives the same answer however its input was cut. There is no rule on randomness alone: commit ids,
UUIDs and checksums must survive. The secret is the one group that took part in the match; what precedes it is kept.
The `rest` of that group says which further bytes belong to the same secret. The file is read when something is first
scanned, and a pattern is compiled when it is first tried. How text is walked, cut and rewritten is left to
`security.redact`.

A user's rule may stand in a file that a pull request can change. So its cost is estimated before it is used: what one
attempt at one place may cost at worst, over the `REACH` bytes it may look at. A rule that could cost too much is
refused. The others run in small portions, between which time is measured and signals are handled; when the budget is
used up, ScanFailed is raised and nothing unscanned is stored.
"""

import importlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from holdfast.errors import BadSettings, ScanFailed
from holdfast.patterns import regex, text_beside
from holdfast.values import frozen

REACH = 2048  # bytes a match may look at from its anchor on; patterns stay well within
WORD = 20  # every issued token holds so many of these bytes in a row, at most `NEAR` after its anchor's start
WORD_BYTES = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+"
NEAR = 20  # bytes; the longest fixed prefix of a known token fits
BESIDE = 48  # bytes that may lie between the start of a provider's name and the token it shows

_FILE = os.path.join(os.path.dirname(__file__), "rules.txt")
_FRAGMENT = regex(r"@([A-Z0-9_]{3,})@")


class SecretRest(NamedTuple):
    """What still belongs to a secret after the bytes that gave it away."""

    pattern: bytes
    limit: int  # after so many bytes we look at the text afresh
    until: bool = False  # the pattern is where it ends, not what it is made of
    ahead: int = 2  # bytes it must see to know that it ended: a backslash and what it escapes, or more

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)


class SecretShape(NamedTuple):
    """One named kind of secret."""

    name: str
    anchors: tuple[bytes, ...]
    pattern: bytes  # matched at the anchor
    rests: tuple[SecretRest, ...]  # one for each group of the pattern
    fold: bool = False  # anchors are given in lower case and stand in any case
    issued: bool = False  # a token with a prefix of its maker's, one long word
    boundary: bool = False  # only where a word begins
    beside: bool = False  # its anchors are names of providers, and a long word follows them

    def compiled(self) -> re.Pattern[bytes]:
        return _compiled(self.pattern)

    def may(self, text: bytes, start: int, known: int) -> bool:
        """Whether it begins here; after `known`, where bytes may still be missing, it always may."""
        return start > known or _compiled(self.pattern).match(text, start) is not None


@cache
def _compiled(pattern: bytes) -> re.Pattern[bytes]:
    return re.compile(pattern)


@cache
def rules_text() -> str:
    """The rules as they are written."""
    with open(_FILE, encoding="utf-8") as file:
        return file.read()


@cache
def shapes() -> tuple[SecretShape, ...]:
    """Every shape that is known."""
    return tuple(_read(rules_text()))


class _Row(NamedTuple):
    """A line of the file, and the indented ones below it as one."""

    fields: list[str]
    below: list[str]


def _read(text: str) -> Iterator[SecretShape]:
    sections = _sections(text)
    rests = {row.fields[0]: _rest(*row.fields[1:]) for row in sections["rests"]}
    words = sections["whose key"][0].fields[0].split()
    # `key`, but only where it says whose: most keys are those of dictionaries.
    fragments = {"WHOSE_KEY": _key_after(words, "key", ("", "_", "-"))}
    fragments["WHOSE_UPPER_KEY"] = _key_after([word.upper() for word in words], "KEY", ("", "_"))
    for row in sections["fragments"]:
        fragments[row.fields[0]] = _filled("".join((*row.fields[1:], *row.below)), fragments)
    for row in sections["tokens"]:
        name, prefixes, then = row.fields[:3]
        heads = _anchors(prefixes)
        pattern = f"((?:{'|'.join(map(re.escape, heads))}){_filled(then, fragments)})"
        yield _shape(name, heads, pattern, f"issued {' '.join(row.fields[3:])}", rests)
    for row in sections["shapes"]:
        name, anchors, options = row.fields
        yield _shape(name, _anchors(anchors), _filled("".join(row.below), fragments), options, rests)
    providers = [name for row in sections["providers"] for name in row.fields[0].split()]
    for row in sections["beside a provider"]:
        name, options = row.fields
        yield _shape(name, providers, _filled("".join(row.below), fragments), options, rests)


def _sections(text: str) -> dict[str, list[_Row]]:
    found: dict[str, list[_Row]] = {}
    rows: list[_Row] = []
    for line in text.split("\n"):
        if line.startswith("["):
            rows = found.setdefault(line[1:-1], [])
        elif line.startswith("    "):
            rows[-1].below.append(line.strip())
        elif line and not line.startswith("#"):
            rows.append(_Row([field for field in line.split("  ") if field], []))
    return found


def _rest(options: str, pattern: str = "") -> SecretRest:
    limit, *told = options.split()
    ahead = next((int(one[len("ahead=") :]) for one in told if one.startswith("ahead=")), 2)
    return SecretRest(pattern.encode(), int(limit), until="until" in told, ahead=ahead)


def _anchors(written: str) -> list[str]:
    return [anchor.replace("·", " ") for anchor in written.split()]


def _shape(name: str, anchors: list[str], pattern: str, options: str, rests: dict[str, SecretRest]) -> SecretShape:
    told = dict(option.partition("=")[::2] for option in options.split())
    return SecretShape(
        name,
        tuple(anchor.encode() for anchor in anchors),
        pattern.encode(),
        tuple(rests[one] for one in told.get("rest", "word").split(",")),
        fold="any-case" in told,
        issued="issued" in told,
        boundary="word" in told,
        beside="beside" in told,
    )


def _filled(pattern: str, fragments: dict[str, str]) -> str:
    return _FRAGMENT.sub(lambda found: fragments[found[1]], pattern)


def _key_after(words: list[str], key: str, joints: tuple[str, ...]) -> str:
    said = [word + joint for joint in joints for word in words]
    lengths = sorted({len(one) for one in said})
    behind = (f"(?<={'|'.join(one + key for one in said if len(one) == length)})" for length in lengths)
    return f"{key}(?:{'|'.join(behind)})"


MAX_RULE = 1000  # characters; a guess: a rule that people write is shorter
MAX_STEPS = 1 << 26  # of one attempt at worst: well under a second that nobody can interrupt
MAX_HEAD = 1 << 14  # of what is searched for in a whole stretch of text; the rest of a rule is tried where it stands
GRACE, PER_MIB = 2.0, 1.0  # seconds of computing for all rules of the user, and more for each MiB looked at
_LEAST = 64  # bytes that any look counts as, so that many short texts do not use up the budget

_HINT = (
    "Use at most two open repeats such as `+`, none within another; give others an upper bound, "
    "such as [a-z]{1,64}, or write them as [a-z]++."
)
_NO_PARSER = "this Python cannot tell whether a rule is safe"


@frozen
class UserRule:
    """One regular expression of the user's."""

    pattern: re.Pattern[bytes]
    head: re.Pattern[bytes]  # the cheap beginning of the pattern: wherever that matches, this does

    @classmethod
    def read(cls, rule: object, setting: str) -> "UserRule":
        """The rule that a setting holds; BadSettings says what is wrong with it."""
        if not isinstance(rule, str) or not rule or len(rule) > MAX_RULE:
            raise BadSettings(f"{setting} holds {rule!r:.80}, which is no text of 1 to {MAX_RULE} characters")
        try:
            raw = rule.encode("utf-8")
            compiled = re.compile(raw, re.MULTILINE)
            parsed = _private("re._parser").parse(raw, re.MULTILINE)
            head = _head(parsed) if _sequence(parsed).steps > MAX_HEAD else compiled
        except (re.error, UnicodeEncodeError, RecursionError, OverflowError) as problem:
            raise BadSettings(f"{setting} holds {rule!r:.80}, which is no regular expression: {problem}") from problem
        except _TooDear as problem:
            raise BadSettings(f"{setting} holds {rule!r:.80}, which is refused: {problem}", hint=_HINT) from None
        if compiled.match(b""):
            raise BadSettings(f"{setting} holds {rule!r:.80}, which matches everywhere")
        return cls(compiled, head)


_ORDINARY = "ordinary_text.txt"  # what people and programs write all day: a shared rule that matches hides every record
_FIXED = 3  # characters that a shared rule begins with, so that it is tried rarely and takes little time


def narrow(rules: Iterable[str], where: str) -> tuple[list[str], list[str]]:
    """Of rules that strangers may have written, those that can be used, and why the others cannot."""
    kept, refused = [], []
    for rule in rules:
        held = f"{where}: redact.rules holds {rule!r:.80}, which"
        try:
            pattern = UserRule.read(rule, f"{where}: redact.rules").pattern
        except BadSettings as error:
            refused.append(f"{error}; it is ignored")
            continue
        begins = _private("re._parser").parse(pattern.pattern, re.MULTILINE)[:_FIXED]
        if len(begins) < _FIXED or any(str(part[0]) != "LITERAL" for part in begins):
            refused.append(f"{held} does not begin with {_FIXED} fixed characters; it is ignored")
        elif pattern.search(text_beside(__file__, _ORDINARY).encode()):
            refused.append(f"{held} matches ordinary text; it is ignored")
        else:
            kept.append(rule)
    return kept, refused


class Patience:
    """How long the user's rules may still take."""

    __slots__ = ("_allowed", "_clock", "_spent")

    def __init__(self, clock: Callable[[], float] = time.thread_time) -> None:
        # Computing time: a busy machine or a laptop that slept must not cost anybody their record.
        self._clock = clock
        self._allowed, self._spent = GRACE, 0.0

    def looking_at(self, size: int) -> None:
        """More text is to be looked at, so more time may pass."""
        self._allowed += max(size, _LEAST) * PER_MIB / (1 << 20)

    def match(self, rule: UserRule, text: bytes, start: int) -> re.Match[bytes] | None:
        """The rule's match at this place."""
        since = self._clock()
        found = rule.pattern.match(text, start, min(start + REACH, len(text)))
        self._passed(since)
        return found

    def find(self, rule: UserRule, text: bytes, start: int) -> int:
        """A place from `start` on that is worth a match, or the text's end; none before it is."""
        while start < len(text):
            since = self._clock()
            found, start = _search(rule.head, text, start)
            self._passed(since)
            if found >= 0:
                return found
        return len(text)

    def _passed(self, since: float) -> None:
        self._spent += self._clock() - since
        if self._spent > self._allowed:
            raise ScanFailed(
                f"the rules in `redact.rules` took more than {GRACE:.0f} s and {PER_MIB:.0f} s for each MiB"
            )


class UserHits:
    """Where one of the user's rules may match next."""

    __slots__ = ("_from", "_patience", "_place", "_text", "rule")

    def __init__(self, text: bytes, rule: UserRule, patience: Patience) -> None:
        self._text, self.rule, self._patience = text, rule, patience
        self._from, self._place = 0, -1

    def place(self, position: int) -> int:
        """The next place from `position` on that was not taken; the text's end if there is none."""
        start = max(position, self._from)
        if self._place < start:
            self._place = self._patience.find(self.rule, self._text, start)
        return self._place

    def take(self) -> None:
        """Go on after the place given last."""
        self._from = self._place + 1


def _search(head: re.Pattern[bytes], text: bytes, start: int) -> tuple[int, int]:
    """Look at one stretch: a place or -1, and where to go on; a match has its whole reach before it."""
    end = min(start + 2 * REACH, len(text))
    match = head.search(text, start, end)
    if match is not None and (match.start() < start + REACH or end == len(text)):
        return match.start(), match.start()
    return -1, end if end == len(text) else start + REACH


class _TooDear(Exception):
    """A rule could cost too much; says why."""


@frozen
class _Cost:
    """In how many ways a part can match at one place, and the steps it takes to try them all."""

    ways: int
    steps: int

    def __post_init__(self) -> None:
        if self.steps > MAX_STEPS or self.ways > MAX_STEPS:
            raise _TooDear("on some text it would take very long, because its repeats multiply")


_FREE, _ONE = _Cost(1, 0), _Cost(1, 1)
_LETTERS = 16


def _private(name: str) -> Any:
    """The standard library's own reader of regular expressions, which has no public name."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise _TooDear(_NO_PARSER) from None


def _sequence(parts: Any) -> _Cost:
    ways, steps = 1, 0
    for _, cost in _costs(parts):
        ways, steps = ways * cost.ways, steps + ways * cost.steps
        _Cost(ways, steps)  # refused as soon as it is too much: the numbers stay small
    return _Cost(ways, steps)


def _costs(parts: Iterable[Any]) -> Iterator[tuple[Any, _Cost]]:
    """Each part with its cost; plain letters in a row are compared many at a time."""
    row = 0
    for part in parts:
        row = row + 1 if str(part[0]) == "LITERAL" else 0
        yield part, _FREE if row % _LETTERS > 1 else _part(str(part[0]), part[1])


def _part(kind: str, value: Any) -> _Cost:
    match kind:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN" | "AT" | "FAILURE":
            return _ONE
        case "SUBPATTERN":
            return _sequence(value[-1])
        case "BRANCH":
            return _branch(value[1])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeat(*value)
        case "POSSESSIVE_REPEAT":  # it settles on one way, and so does each turn of it for the next
            low, high, inner = value
            return _Cost(1, _turns(low, high, inner) * (1 + _sequence(inner).steps))
        case "ATOMIC_GROUP":
            return _Cost(1, _sequence(value).steps)
        case "ASSERT" | "ASSERT_NOT":
            return _Cost(1, 1 + _sequence(value[1]).steps)
        case "GROUPREF" | "GROUPREF_EXISTS":
            raise _TooDear("it refers back to a group")
    raise _TooDear(_NO_PARSER)


def _branch(choices: list[Any]) -> _Cost:
    """Choices that begin with different bytes exclude one another."""
    costs = [_sequence(choice) for choice in choices]
    firsts = [choice[0] for choice in choices if len(choice) and str(choice[0][0]) == "LITERAL"]
    distinct = len({bytes([first[1]]).lower() for first in firsts}) == len(choices)
    ways = [cost.ways for cost in costs]
    return _Cost(max(ways) if distinct else sum(ways), sum(cost.steps + 1 for cost in costs))


def _repeat(low: int, high: int, inner: Any) -> _Cost:
    turns, cost = _turns(low, high, inner), _sequence(inner)
    low = min(low, turns)
    if cost.ways == 1:
        return _Cost(turns - low + 1, turns * cost.steps + turns - low + 1)
    ways, steps, reached = (1 if low == 0 else 0), 1, 1
    for turn in range(1, turns + 1):
        steps += reached * cost.steps
        reached *= cost.ways
        ways += reached if turn >= low else 0
        if max(reached, steps) > MAX_STEPS:
            raise _TooDear("it repeats a part that can itself match in more than one way")
    return _Cost(ways, steps)


def _turns(low: int, high: int, inner: Any) -> int:
    """How often a part can stand in a row within the reach."""
    width: int = inner.getwidth()[0]
    return min(int(high), max(low, REACH // max(1, width)), REACH)


def _head(parsed: Any) -> re.Pattern[bytes]:
    """As many of a rule's first parts as are cheap together."""
    head, ways, steps = parsed[:0], 1, 0
    for part, cost in _costs(_ungrouped(parsed)):
        ways, steps = ways * cost.ways, steps + ways * cost.steps
        if steps > MAX_HEAD:
            break
        head.append(part)
    found: re.Pattern[bytes] = _private("re._compiler").compile(head, re.MULTILINE)
    return found


def _ungrouped(parts: Any) -> Iterator[Any]:
    """A rule's parts in a row, those within plain groups too."""
    for part in parts:
        if str(part[0]) == "SUBPATTERN" and not part[1][1] and not part[1][2]:
            yield from _ungrouped(part[1][3])
        else:
            yield part
