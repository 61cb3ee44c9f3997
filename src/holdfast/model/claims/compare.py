"""Two readings held against each other: do they contradict, do they say the same?

Every rule asks first whether both speak of the same thing: in surroundings that meet, with words in common, and
with no word on each side that makes it another thing (`access tokens`, `refresh tokens`). Where that is in doubt
the rules stay silent: a reviewer who is warned for nothing stops reading warnings.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from holdfast.model.claims.modality import CONTRARY, FLIPPED, MAY, NO, OPT, YES
from holdfast.model.claims.numbers import EXACT, Quantity, disagree, equal
from holdfast.model.claims.paths import overlap
from holdfast.model.claims.reading import Clause, read
from holdfast.model.claims.roles import Filled, role_words
from holdfast.model.claims.statement import Statement, Verdict
from holdfast.model.claims.words import canonical, opposed, weight


@dataclass(frozen=True, slots=True)
class Shared:
    """What two clauses have in common, and what each has for itself."""

    common: frozenset[str]
    left: frozenset[str]
    right: frozenset[str]
    opposites: tuple[tuple[str, str], ...]
    siblings: bool  # each narrows the same word by another one

    @property
    def held(self) -> float:
        """How much of the smaller clause is in the other, from 0 to 1."""
        both = mass(self.common)
        return both / (both + min(mass(self.left), mass(self.right))) if both else 0.0

    @property
    def alike(self) -> float:
        """How much of all is in both, from 0 to 1."""
        both = mass(self.common)
        return both / (both + mass(self.left) + mass(self.right)) if both else 0.0


def mass(names: Iterable[str]) -> float:
    """The weight of some words together."""
    return sum(map(weight, names))


def conflict(accepted: Statement, candidate: Statement, *, gone: bool = False) -> Verdict | None:
    """Why the candidate contradicts the accepted statement, or None.

    `gone`: the first was superseded or rejected; then only the same claim again is a conflict.
    """
    if not overlap(accepted.applies_to, candidate.applies_to):
        return None
    if gone:
        return Verdict("twin", "the same claim was put aside before", 0.9) if same(accepted, candidate) else None
    if accepted.text == candidate.text:
        return None
    ours, theirs = read(accepted.text, accepted.kind), read(candidate.text, candidate.kind)
    found = [verdict for a in ours for b in theirs for verdict in [clash(a, b)] if verdict]
    return max(found, key=lambda verdict: verdict.score, default=None)


def clash(one: Clause, other: Clause) -> Verdict | None:
    """Why two clauses cannot both hold, or None."""
    if (one.tried and other.tried) or apart(one, other):
        return None
    shared = share(one, other)
    rules: tuple[Callable[[Clause, Clause, Shared], Verdict | None], ...] = (_numbers, _stances, _things, _frames, _only)
    for rule in rules:
        if verdict := rule(one, other, shared):
            return verdict
    return None


def apart(one: Clause, other: Clause) -> bool:
    """Whether both name surroundings of one kind and have none in common."""
    theirs = dict(other.scope)
    for name, members in one.scope:
        if name in theirs:
            common = members & theirs[name]
            if not common or (name == "condition" and members - common and theirs[name] - common):
                return True
    return any(a in one.names and b in other.names and not (a in other.names or b in one.names) for a, b in _ACTS)


def _acts() -> frozenset[tuple[str, str]]:
    """Words of which each makes it another thing: what is stored in UTC may be shown in local time."""
    pairs = """store|show write|read write|show input|output request|response import|export upload|download create|delete encode|decode
    encrypt|hash build|test build|deploy test|deploy source|target producer|consumer sender|receiver access|refresh
    inbound|outbound incoming|outgoing ingress|egress minor|major patch|major publish|subscribe encrypt|sign read|update
    start|finish begin|end login|logout daytime|night lower|upper min|max minimum|maximum store|send cache|store"""
    sides = [tuple(canonical(side) for side in pair.split("|")) for pair in pairs.split()]
    return frozenset((a, b) for pair in sides for a, b in (pair, pair[::-1]))


_ACTS = _acts()


def share(one: Clause, other: Clause) -> Shared:
    """The two clauses' words, sorted into common, own and opposed."""
    common = one.names & other.names
    left, right = one.names - common, other.names - common
    opposites = tuple((a, b) for a in sorted(left) for b in sorted(right) if opposed(a, b))
    return Shared(common, left, right, opposites, _siblings(one, other, left, right))


def _siblings(one: Clause, other: Clause, left: frozenset[str], right: frozenset[str]) -> bool:
    """Whether each has a word of its own in front of the same word: `billing service`, `catalog service`."""
    ours = {head: word for word, head in one.modifiers if word in left and weight(word) == 1.0}
    return any(word in right and weight(word) == 1.0 and head in ours for word, head in other.modifiers)


# Stances


def _stances(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """Contrary stances to the same thing; or the same stance to opposite things."""
    shared, flips = _paired(one, other, shared)
    theirs = FLIPPED[other.stance] if flips % 2 else other.stance
    if (one.stance, theirs) not in CONTRARY or shared.siblings or _other_figures(one, other):
        return None
    if not _same_matter(one, other, shared, flips):
        return None
    kind = "modality" if OPT in (one.stance, other.stance) or MAY in (one.stance, other.stance) else "negation"
    why = f"one says {_said(one)}, the other {_said(other)}"
    return Verdict(kind, why, min(0.95, 0.5 + shared.held / 2))


def _paired(one: Clause, other: Clause, shared: Shared) -> tuple[Shared, int]:
    """The same with opposite words counted as common, and how many there are; not where they only narrow a subject."""
    pairs = [(a, b) for a, b in shared.opposites if not (_narrows(one, a) and _narrows(other, b))][:1]
    if not pairs:
        return shared, 0
    a, b = pairs[0]
    joined = Shared(shared.common | {a}, shared.left - {a}, shared.right - {b}, shared.opposites, shared.siblings)
    return joined, 1


def _narrows(clause: Clause, name: str) -> bool:
    return any(word == name for word, _ in clause.modifiers)


def _same_matter(one: Clause, other: Clause, shared: Shared, flips: int) -> bool:
    """Whether what one denies is what the other asserts."""
    strong = {name for name in shared.common if weight(name) == 1.0}
    if not strong or shared.held < (0.6 if flips else 0.7) or shared.alike < 0.3:
        return False
    for clause in (one, other):
        if clause.stance in (NO, OPT) and not flips and not _denied(clause, shared.common):
            return False
    return not flips or mass(shared.common) >= 1.5 or shared.alike > 0.6


def _denied(clause: Clause, common: frozenset[str]) -> bool:
    core = mass(clause.core)
    return core == 0 or mass(clause.core & common) >= core / 2


def _other_figures(one: Clause, other: Clause) -> bool:
    """Whether the figures make them two different things: Python 3.8 is dropped, Python 3.11 is supported."""
    return any(a.dimension == b.dimension and not equal(a, b) for a in one.figures for b in other.figures)


_SAID = {YES: "yes", NO: "no", MAY: "may", OPT: "need not"}


def _said(clause: Clause) -> str:
    return f"{_SAID[clause.stance]} ({' '.join(word.raw for word in clause.words)[:80]})"


# Figures

_MEASURES = frozenset(
    """limit limited maximum minimum size rate most least exceed budget cap capped number amount count up default total newer least
    expire store accept refuse reject length recommend allow hold width pin require support take last longer small larg per value set
    character run enough restrict up kill abort cancel terminat version dependency minimum deadline keep begin last poll""".split()
)  # fmt: skip


def _numbers(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """Figures of one attribute that cannot both be meant."""
    if shared.siblings or (NO in (one.stance, other.stance) and one.stance != other.stance and not _bounded(one, other)):
        return None
    for a in one.figures:
        for b in other.figures:
            if _measure_alike(one, a, other, b) and disagree(a, b) and not _agree_elsewhere(one, other, a):
                if _same_attribute(one, a, other, b):
                    return Verdict("number", f"{a.shown} against {b.shown}", min(0.95, 0.5 + shared.held / 2))
    return None


def _bounded(one: Clause, other: Clause) -> bool:
    return all(figure.sense != EXACT for clause in (one, other) for figure in clause.figures)


def _measure_alike(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    if a.dimension == b.dimension:
        return True
    if "" in (a.dimension, b.dimension):
        unit = (a.dimension or b.dimension).removeprefix("count:")
        clause = one if not a.dimension else other
        return unit in clause.names
    return False


def _agree_elsewhere(one: Clause, other: Clause, a: Quantity) -> bool:
    """Whether a list of values meets another: versions 3.11, 3.12 and 3.12, 3.13."""
    return any(not disagree(x, y) for x in one.figures for y in other.figures if x.dimension == y.dimension == a.dimension)


def _same_attribute(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    units = {figure.dimension.rpartition(":")[2] for figure in (a, b)}
    named = a.dimension.startswith("version:")
    ours, theirs = (clause.names - _MEASURES - (set() if named else units) for clause in (one, other))
    common = ours & theirs
    both = mass(common)
    if not common:
        return not mass(ours) and not mass(theirs) and bool(one.names & other.names)
    least = min(mass(ours - common), mass(theirs - common))
    if a.sense != b.sense and EXACT in (a.sense, b.sense) and not named and least > 0:
        return False
    return both >= 1.0 and both / (both + least) > (0.49 if named else 0.55)


# Things that fill a role


def _things(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """Two things for one role."""
    if one.stance != other.stance or one.stance not in (YES,) or one.also or other.also or shared.siblings:
        return None
    if (one.tried or other.tried) or one.refused or other.refused:
        return None
    for a in one.things:
        for b in other.things:
            if a.name != b.name and a.name not in other.mentions and b.name not in one.mentions:
                if any(_competes(one, a, other, b, role) for role in sorted(a.roles & b.roles)):
                    return Verdict("value", f"{_shown(one, a)} against {_shown(other, b)}", 0.85)
    return None


def _shown(clause: Clause, thing: Filled) -> str:
    return " ".join(word.raw for word in clause.words[thing.first : thing.last])


def _competes(one: Clause, a: Filled, other: Clause, b: Filled, role: str) -> bool:
    """Whether both are named for that role of the same thing."""
    about = role_words(role)
    ours, theirs = _context(one, a), _context(other, b)
    common = ours & theirs
    said = bool(ours & about) and bool(theirs & about)
    own, their_own = mass(ours - common - about), mass(theirs - common - about)
    if role in ("cadence", "weekday") and own + their_own >= 1.0:
        return False
    if mass(common - about) >= 1.0:
        return mass(common) / (mass(common) + min(own, their_own)) >= 0.5
    if said:
        return min(own, their_own) < (1.0 if not common else 1.6)
    if ours & about or theirs & about:
        return own == 0 and their_own == 0 or min(own, their_own) < 0.5 and bool(common)
    return own < 0.5 and their_own < 0.5


def _context(clause: Clause, thing: Filled) -> frozenset[str]:
    """What else a clause says beside the thing."""
    inside = {clause.words[at].stem for at in range(thing.first, thing.last)}
    others = {clause.words[at].stem for t in clause.things for at in range(t.first, t.last) if t is not thing}
    return clause.names - inside - others


# Frames: the same done with, in, as, from … something else


_FUNCTIONAL = frozenset(
    """store write build implement create hash encrypt license cut base own serve host deploy manage format version merge name default
    locat serial encod return sort order send route go deliver authentication cache log publish track documentation describe define handle process parse
    validate lint render install compil mount expose read trigger follow pick use be sign resolv map split group key cut assign bill""".split()
)  # fmt: skip
_PLACES = ("in", "with", "as", "from", "to", "by", "under", "")


def _frames(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """The same relation of the same subject with another value."""
    if one.stance != YES or other.stance != YES or one.also or other.also or one.tried or other.tried:
        return None
    for theme, slot, value in frames(one):
        for their_theme, their_slot, their_value in frames(other):
            if slot == their_slot and _same_theme(theme, their_theme) and _differ(one, value, other, their_value, slot):
                return Verdict("value", f"{' '.join(sorted(value))} against {' '.join(sorted(their_value))}", 0.7)
    return None


def frames(clause: Clause) -> list[tuple[frozenset[str], str, frozenset[str]]]:
    """(what it is about, by which relation, the value) as far as a clause says it plainly."""
    slots, found = dict(clause.slots), []
    theme = clause.subject or slots.get("", frozenset())
    verb = clause.verb
    if verb in _AGENTS and clause.subject and slots.get(""):
        found.append((slots[""], f"{verb} by", clause.subject))
        found.append((slots[""] | {verb}, "be ", clause.subject))
    if verb in ("is", "are", ":") and clause.subject & _ATTRIBUTES and slots.get("") and not slots[""] & clause.subject:
        found.append((clause.subject, "attribute", slots[""]))
    if verb not in _FUNCTIONAL:
        for place in ("by", "from", "as"):
            if place in slots and clause.subject:
                found.append((clause.subject, _relation(verb, place), slots[place]))
    if verb in _FUNCTIONAL or verb in ("is", "are", ":"):
        for place, value in slots.items():
            if place in _PLACES and value != theme and value:
                rest = frozenset().union(theme, *(v for p, v in slots.items() if p not in (place, "when") and not (p == "" and not clause.subject)))
                found.append((rest, _relation(verb, place), value))
    if verb in ("use", "prefer") and slots.get("") and (purpose := slots.get("for") or slots.get("as") or slots.get("to")):
        rest = frozenset().union(clause.subject, purpose, slots.get("in", frozenset()))
        found.append((rest, "use", slots[""]))
    return found


_AGENTS = frozenset("own trigger elect handle create manage serve build render sign issue process publish".split())
# Of such a thing there is one: a policy, a cause, an entry point.
_ATTRIBUTES = frozenset(
    canonical(word)
    for word in """policy mode bottleneck cause owner format strategy provider engine style level language scheme type unit approach source
    location runtime entry backend name algorithm default order algorithm convention model method library framework tool license branch
    reason maintainer vendor supplier root standard protocol""".split()
)  # fmt: skip
_BE = frozenset(("is", "are", ":", "be"))
_KEEPING = frozenset(("store", "go", "send", "write", "deliver", "publish", "log", "track", "define", "describe", "documentation"))


def _relation(verb: str, place: str) -> str:
    if verb in _BE:
        return f"be {place}"
    return f"{verb} {'in' if place == 'to' and verb in _KEEPING else place}"


def _same_theme(one: frozenset[str], other: frozenset[str]) -> bool:
    common = one & other
    return mass(common) >= 1.0 and min(mass(one - common), mass(other - common)) < 0.5 and mass(one ^ other) <= 1.5


def _differ(one: Clause, a: frozenset[str], other: Clause, b: frozenset[str], slot: str) -> bool:
    """Whether two values exclude each other: nothing in common, and of a sort."""
    ours, theirs = _roles_of(one, a), _roles_of(other, b)
    if ours and theirs:
        return bool(ours & theirs) and not a & b
    named, theirs_named = a & one.named, b & other.named
    if named and theirs_named:
        return not named & theirs_named
    return not a & b and not slot.startswith(("be ", "use "))


def _roles_of(clause: Clause, value: frozenset[str]) -> frozenset[str]:
    found: frozenset[str] = frozenset()
    for thing in clause.things:
        if any(clause.words[at].stem in value for at in range(thing.first, thing.last)):
            found |= thing.roles
    return found


def _only(one: Clause, other: Clause, shared: Shared) -> Verdict | None:
    """`Only the scheduler may write` against somebody else who may."""
    if one.only == other.only or one.stance in (NO, OPT) or other.stance in (NO, OPT) or shared.siblings:
        return None
    narrow, wide = (one, other) if one.only else (other, one)
    if {word.low for word in wide.words} & _EVERYBODY and shared.held >= 0.8 and mass(shared.common) >= 1.0:
        return Verdict("modality", "only some, and everybody", 0.7)
    if narrow.words[0].low != "only" or not narrow.subject or not wide.subject or narrow.subject & wide.subject:
        return None
    ours, theirs = narrow.names - narrow.subject, wide.names - wide.subject
    if mass(ours) and mass(ours & theirs) / mass(ours) >= 0.8:
        return Verdict("modality", f"only {' '.join(sorted(narrow.subject))}, but also {' '.join(sorted(wide.subject))}", 0.7)
    return None


_EVERYBODY = frozenset("everybody everyone anybody anyone anywhere everywhere".split())


# The same claim


def same(one: Statement, other: Statement) -> bool:
    """Whether two statements are one claim in other words."""
    if one.text == other.text:
        return True
    ours, theirs = read(one.text, one.kind), read(other.text, other.kind)
    if not ours or not theirs:
        return one.text.split() == other.text.split()
    ours, theirs = (tuple(clause for clause in side if not clause.tried) or side for side in (ours, theirs))
    tried = [[clause for clause in read(side.text, side.kind) if clause.tried] for side in (one, other)]
    if all(tried) and alike(tried[0][0], tried[1][0]):
        return True
    return all(any(alike(a, b) for b in theirs) for a in ours) and all(any(alike(a, b) for a in ours) for b in theirs)


def alike(one: Clause, other: Clause) -> bool:
    """Whether two clauses say the same."""
    if apart(one, other) or one.only != other.only and one.stance != other.stance:
        return False
    shared = share(one, other)
    if one.figures and other.figures:
        units = {figure.dimension.rpartition(":")[2] for figure in one.figures + other.figures}
        shared = replace(shared, left=shared.left - _MEASURES - units, right=shared.right - _MEASURES - units)
    flipped, flips = _paired(one, other, shared)
    theirs = FLIPPED[other.stance] if flips else other.stance
    if one.stance != theirs or shared.siblings or not _figures_alike(one, other):
        return False
    if {t.name for t in one.things} != {t.name for t in other.things} and one.mentions != other.mentions:
        return False
    return flipped.alike >= 0.7 or (flipped.alike >= 0.6 and min(mass(flipped.left), mass(flipped.right)) <= 0.5)


def _figures_alike(one: Clause, other: Clause) -> bool:
    if len(one.figures) != len(other.figures):
        return False
    return all(any(_near(a, b) for b in other.figures) for a in one.figures)


def _near(a: Quantity, b: Quantity) -> bool:
    return (a.dimension == b.dimension or "" in (a.dimension, b.dimension)) and not disagree(a, b)
