"""Quantities: a figure, what it measures, and whether it is the value, a ceiling or a floor.

Units of one dimension are converted to one base (seconds, bytes, …), so 30 s is half a minute. Versions are compared
part by part. A quantity is the interval of what it allows, and two quantities disagree where these intervals cannot
both be meant. The tables of units and of the words around a number (`at most`, `or newer`) come first.
"""

from holdfast.model.claims.vocabulary import word_list, word_values
from holdfast.model.claims.word_stems import STOP, Token, canonical, several
from holdfast.values import frozen

UNITS: dict[str, tuple[str, float]] = {
    unit: (dimension, float(size))
    for dimension in ("time", "bytes", "percent", "px", "hertz", "rate:count:request")
    for unit, size in word_values(f"numbers.{dimension}").items()
}
SECONDS = {unit: size for unit, (dimension, size) in UNITS.items() if dimension == "time"}
_PLURALS = several(word_list("numbers.plurals"))
SINGULAR = {plural: plural.removesuffix("s") for plural in _PLURALS} | {"m": "min"}
GLUED_MANY = several("k x + k+") | {""}
MANY = {word: float(value) for word, value in word_values("numbers.many").items()}
NUMBERS = {word: float(value) for word, value in word_values("numbers.named").items()}


def _senses(*names: str) -> dict[tuple[str, ...], str]:
    """The sense of each phrase in lists that are named by it."""
    lists = {name.partition(" ")[2]: word_list(f"numbers.{name}").split(", ") for name in names}
    return {tuple(phrase.split()): sense for sense, phrases in lists.items() for phrase in phrases}


# Words in front of a number, and after it, that say which side of it is meant.
BEFORE, AFTER = _senses("before <=", "before <", "before >=", "before >"), _senses("after >=", "after <=")


def known_unit(low: str) -> str:
    """The singular of a unit as written; any other word as it is."""
    return SINGULAR.get(low, low)


Key = tuple[float, ...]
EXACT, MOST, LEAST = "=", "<=", ">="
_ENDLESS = (float("inf"),)


@frozen
class Quantity:
    """What a number says: so many seconds at most, version 3.11 at least."""

    dimension: str  # time, bytes, percent, version:python, count:line, port, clock, rate:…; "" if none is named
    low: Key
    high: Key
    sense: str  # = <= >=
    shown: str
    first: int  # where it stands among the tokens, its unit and comparison included
    last: int
    open_low: bool = False
    open_high: bool = False


_OPS = dict.fromkeys((">=", "≥", "~=", "~>", "^"), LEAST) | dict.fromkeys(("<=", "≤"), MOST)
_OPS |= dict.fromkeys(("==", "=", "~"), EXACT) | {">": ">", "<": "<"}
_FLIPPED = {MOST: ">", "<": LEAST, LEAST: "<", ">": MOST, EXACT: EXACT}
# Words about the whole sentence that make its bare number a ceiling or a floor.
_CEILING = several("maximum limit limited cap capped ceiling exceed most budget restrict restricted")
_FLOOR = several("minimum least floor")
_NO_NAME = STOP | several("version release port pinned pin upgrade upgraded below above least most newer older")


def quantities(words: tuple[Token, ...], *, negated: bool = False) -> list[Quantity]:
    """The quantities of a sentence; `negated`: it denies them, so that "not longer than" is a ceiling."""
    found: list[Quantity] = []
    for at in range(len(words)):
        if not found or at >= found[-1].last:
            made = _one(words, at, negated=negated)
            found += [made] if made else []
    return found


def _one(words: tuple[Token, ...], at: int, *, negated: bool) -> Quantity | None:
    read = _figure(words, at)
    if read is None:
        return None
    figure, glued, last = read
    dimension, size, last = _unit(words, at, last, glued)
    name, before = words[at].low, words[at - 1].low if at else ""
    once_a = name == "once" and last + 1 < len(words) and words[last].low in ("a", "an", "per", "every")
    if once_a and (period := SECONDS.get(known_unit(words[last + 1].low))):
        dimension, figure, size, last = "period", (1.0,), period, last + 2
    is_year = before in ("in", "since", "until") and name[:2] in ("19", "20") and len(name) == 4
    if dimension == "" or (dimension == " " and is_year):
        return None
    if dimension == "version" or (":" in name and figure == _clock(name)):
        key, dimension = figure, "clock" if ":" in name else _whose(words, at)
    elif len(figure) == 1:
        key = (figure[0] * size,)
    else:
        digits = name.replace(",", ".").split(".")[1]
        key = (float(f"{figure[0]:.0f}.{''.join(filter(str.isdigit, digits)) or '0'}") * size,)
    sense, first, last = _sense(words, at, last, negated=negated, glued=glued)
    shown = " ".join(word.raw for word in words[first:last])
    low, high = (float("-inf"),) if sense in (MOST, "<") else key, _ENDLESS if sense in (LEAST, ">") else key
    meant = {"<": MOST, ">": LEAST}.get(sense, sense)
    return Quantity(dimension.strip(), low, high, meant, shown, first, last, sense == ">", sense == "<")


def _figure(words: tuple[Token, ...], at: int) -> tuple[Key, str, int] | None:
    """A number's parts, what is glued to it, and where it ends."""
    word = words[at]
    if word.kind == "number":
        return _digits(word, words, at)
    following = words[at + 1].low if at + 1 < len(words) else ""
    if word.low == "a" and tuple(w.low for w in words[at + 1 : at + 4]) == ("quarter", "of", "an"):
        return (0.25,), "", at + 4
    if word.low in ("a", "an"):
        return ((1.0,), "", at + 1) if _one_of(words, at) else None
    if word.low == "half":
        return ((0.5,), "", at + 2) if following in ("a", "an") else None
    if word.low not in NUMBERS or word.kind != "word":
        return None
    many = MANY.get(following, 0.0)
    return (NUMBERS[word.low] * (many or 1.0),), "", at + (2 if many else 1)


def _one_of(words: tuple[Token, ...], at: int) -> bool:
    """Whether an article counts: `for an hour`, `a week before they expire`."""
    if at + 1 >= len(words) or known_unit(words[at + 1].low) not in UNITS or len(words[at + 1].low) < 3:
        return False
    if known_unit(words[at + 1].low) not in SECONDS:
        return True
    if at and words[at - 1].low in _LEADS_TO_ONE:
        return True
    return any(word.low in ("before", "after", "ago", "later", "long", "old") for word in words[at + 2 : at + 3])


_LEADS_TO_ONE = several("per for after within every half most least to than about around over lasts takes take")


def _digits(word: Token, words: tuple[Token, ...], at: int) -> tuple[Key, str, int]:
    body = word.low.rstrip("+%abcdefghijklmnopqrstuvwxyz")
    glued, last = word.low[len(body) :], at + 1
    if ":" in body:
        return _clock(body), glued, last
    grouped = all(len(part.split(".")[0]) == 3 for part in body.split(",")[1:])  # commas part thousands: 10,000
    parts = body.replace(",", "" if grouped else ".").split(".")
    key = tuple(float(part[:18]) for part in parts if part)
    if last < len(words) and words[last].low in MANY and len(key) == 1:
        key, last = (key[0] * MANY[words[last].low],), last + 1
    if glued.startswith("k") and glued in GLUED_MANY:
        key = (key[0] * 1e3, *key[1:])
    return key, glued, last


def _clock(body: str) -> Key:
    parts = body.replace(",", ":").replace(".", ":").rstrip("+%apm").split(":")
    return tuple(float(part[:18]) for part in parts if part.isdigit())


def _unit(words: tuple[Token, ...], at: int, last: int, glued: str) -> tuple[str, float, int]:
    """The dimension, the unit's size, and where the unit ends."""
    before = words[at - 1].stem if at else ""
    unit, end = (glued, last) if glued and glued not in GLUED_MANY else ("", last + 1)
    if end > last and last < len(words) and (words[last].kind == "word" or words[last].low == "%"):
        unit = known_unit(words[last].low)
    if unit in UNITS:
        dimension, size = UNITS[unit]
        if before in ("every", "each"):
            dimension = "period"
        return _rate(words, end, dimension, size)
    if before == "port":
        return "port", 1.0, last
    if ":" in words[at].low:
        return "clock", 1.0, last
    if words[at].kind == "number" and (_dotted(words, at) or _versioned(words, at, last)):
        return "version", 1.0, last
    if noun := _noun(words, last):
        return _rate(words, noun, f"count:{words[noun - 1].stem}", 1.0)
    if words[at].low in ("once", "twice", "thrice"):
        return f"count:{canonical('times')}", 1.0, last
    counts = words[at].kind == "number" or (last >= len(words) and words[at].low != "one")
    return " " if counts else "", 1.0, last


_RELEASED = several("version versions pin pinned upgrade upgraded release supported support require requires required")


def _dotted(words: tuple[Token, ...], at: int) -> bool:
    """Whether a number with a point is a version: by the name before it, or by what the sentence is about."""
    if "." not in words[at].low:
        return False
    back = at - 1
    while back > 0 and words[back].kind == "op":
        back -= 1
    name = words[back] if back >= 0 else words[at]
    looks = back < at - 1 or name.raw[:1].isupper() or name.low in _ALSO_NAMES
    if name.kind == "word" and name.low not in STOP and looks:
        return True
    return words[at].low.count(".") > 1 or any(word.low in _RELEASED | _ALSO_NAMES for word in words)


def _noun(words: tuple[Token, ...], at: int) -> int:
    """Where the noun that is counted ends (`3 failed calls` counts calls); 0 if none follows."""
    end = 0
    for place, word in enumerate(words[at : at + 2], at + 1):
        if word.kind != "word" or (word.low in STOP and word.low != "times"):
            break
        end = place
        if word.low.endswith("s"):
            break
    return end


def _rate(words: tuple[Token, ...], end: int, dimension: str, size: float) -> tuple[str, float, int]:
    """The same, or so much of it in a time, where `per second`, `a day` follows."""
    if end + 1 < len(words) and words[end].low in ("per", "a", "an", "each", "every"):
        unit = known_unit(words[end + 1].low)
        if unit in SECONDS:
            return f"rate:{dimension}", size / SECONDS[unit], end + 2
    if "/" in (name := words[end - 1].raw) and end <= len(words):
        what, _, unit = name.lower().partition("/")
        unit = known_unit(unit)
        if unit in SECONDS:
            return f"rate:count:{canonical(what)}", 1.0 / SECONDS[unit], end
    return dimension, size, end


def _versioned(words: tuple[Token, ...], at: int, last: int) -> bool:
    """Whether a whole number follows a name and counts nothing: `Postgres 14`, `version 3`."""
    if not at or words[at].low.endswith(("%", "k")):
        return False
    if any(word.low in ("pinned", "pin") for word in words[max(0, at - 3) : at]):
        return True
    back = at - 1
    while back > 0 and (words[back].kind in ("op", "mark") or words[back].low in ("version", "v", "is")):
        back -= 1
    name = words[back]
    follows = words[last].low if last < len(words) else ""
    if name.kind != "word" or name.low in _NO_NAME:
        return "version" in (words[at - 1].low, words[max(at - 2, 0)].low)
    plural = follows.endswith("s") and follows not in STOP
    told = any(word.low == "version" or word.kind == "op" for word in words[back:at])
    return (told or (name.raw[:1].isupper() and back == at - 1)) and not plural


def _whose(words: tuple[Token, ...], at: int) -> str:
    """What a version is of: the word right before it, else the nearest name."""
    back = at - 1
    while back > 0 and words[back].kind == "op":
        back -= 1
    if back >= 0 and words[back].kind == "word" and words[back].low not in _NO_NAME:
        return f"version:{words[back].stem}"
    near = [word for word in reversed(words[:at]) if word.kind == "word" and word.low not in _NO_NAME]
    names = [word for word in near if word.raw[:1].isupper() or word.low in _ALSO_NAMES]
    return f"version:{(names or near)[0].stem}" if near else " "


_ALSO_NAMES = several("python node numpy go rust java ruby php django react postgres postgresql redis pandas ruff npm")


def _sense(words: tuple[Token, ...], at: int, last: int, *, negated: bool, glued: str) -> tuple[str, int, int]:
    """Which side of the figure is meant, and the place of the words that say so."""
    sense, first = EXACT, at
    if at > 1 and words[at - 1].raw[:1].isupper() and tuple(w.low for w in words[max(0, at - 3) : at - 1]) in BEFORE:
        sense = BEFORE[tuple(w.low for w in words[max(0, at - 3) : at - 1])]  # `older than Node 20`
    for size in (3, 2, 1):
        key = tuple(word.low for word in words[max(0, at - size) : at])
        if key in BEFORE and not (key in (("from",), ("since",), ("until",)) and not words[at].low[0].isdigit()):
            sense, first = BEFORE[key], at - len(key)
            break
    if at and words[at - 1].kind == "op":
        sense, first = _OPS.get(words[at - 1].low, EXACT), at - 1
    if glued.endswith("+") or (last < len(words) and words[last].low == "+"):
        sense = LEAST
    for size in (2, 1):
        key = tuple(word.low for word in words[last : last + size])
        if len(key) == size and key in AFTER:
            sense, last = AFTER[key], last + size
            break
    own_denial = any(word.low in ("no", "not", "never") for word in words[first:at])  # `no more than`
    if negated and sense in (">", "<", LEAST) and not own_denial:
        sense = _FLIPPED[sense]
    if sense == EXACT:
        stems = {word.stem for word in words} | {word.low for word in words}
        sense = MOST if stems & _CEILING else LEAST if stems & _FLOOR else EXACT
    return sense, first, last


def disagree(one: Quantity, other: Quantity) -> bool:
    """Whether the two cannot both be meant of one attribute: other values, other limits, nothing common."""
    if one.sense == other.sense:
        return not (_same(one.low, other.low) and _same(one.high, other.high))
    low, high = max(one.low, other.low), min(one.high, other.high)
    if _same(low, high):
        return one.dimension != "time" and any(
            (q.open_high and _same(q.high, high)) or (q.open_low and _same(q.low, low)) for q in (one, other)
        )
    excluded = any(q.open_high and _prefix(q.high, low) for q in (one, other))  # `< 5` and 5.27
    return low > high and (excluded or not _prefix(low, high))


def _same(one: Key, other: Key) -> bool:
    if one == other or _prefix(one, other):
        return True
    return len(one) == len(other) == 1 and abs(one[0] - other[0]) <= 1e-9 * max(abs(one[0]), abs(other[0]))


def _prefix(one: Key, other: Key) -> bool:
    """Whether one version only says more of the other: 3.11 and 3.11.4."""
    size = min(len(one), len(other))
    return max(len(one), len(other)) > 1 and one[:size] == other[:size]
