"""Rules by which two plain clauses contradict each other.

Figures that disagree: the same attribute of the same thing with values that exclude each other. Contrary stances: one
clause asserts or demands what the other denies, forbids or leaves open. Another value: two things for one role, or the
same relation of the same subject to something else.
"""

from holdfast.model.claims.alignment import ClauseOverlap, elsewhere, mass, paired
from holdfast.model.claims.clauses import Clause, Verdict
from holdfast.model.claims.modality import CONTRARY, FLIPPED, MAY, NO, OPT, YES
from holdfast.model.claims.numbers import EXACT, Quantity, disagree, equal
from holdfast.model.claims.roles import RoleFiller, role_words
from holdfast.model.claims.vocabulary import word_list
from holdfast.model.claims.word_stems import several, terms, weight

# Words that only lead to a figure.
MEASURES = terms(word_list("contradiction_rules.measures"))
# What a time can be of a thing; two of these are two attributes.
_TIMES = {
    "timeout": terms("timeout kill abort cancel"),
    "life": terms("expire valid lifetime retention store"),
    "work": terms("take finish complete duration latency response respond"),
    "delay": terms("delay wait backoff debounce sleep"),
    "interval": terms("interval frequency every cadence"),
    "grace": terms("grace cooldown"),
}


def figures_disagree(one: Clause, other: Clause, shared: ClauseOverlap) -> Verdict | None:
    """Figures of one attribute that cannot both be meant."""
    if shared.siblings or (NO in (one.stance, other.stance) and one.stance != other.stance):
        return None
    for a, b in ((a, b) for a in one.figures for b in other.figures):
        clash = _measured_alike(one, a, other, b) and disagree(a, b) and not _met(one, other, a)
        if clash and _same_attribute(one, a, other, b):
            return Verdict("number", f"{a.shown} against {b.shown}", min(0.95, 0.5 + shared.held / 2))
    return None


def _measured_alike(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    if a.dimension == b.dimension:
        return a.dimension != "time" or same_time(one, other)
    if "" in (a.dimension, b.dimension):
        unit = (a.dimension or b.dimension).removeprefix("count:")
        return unit in (one if not a.dimension else other).names
    return False


def same_time(one: Clause, other: Clause) -> bool:
    """Whether both times can be of one attribute: CI takes 20 minutes, its timeout is another thing."""
    ours, theirs = ({name for name, words in _TIMES.items() if words & clause.names} for clause in (one, other))
    return not ours or not theirs or bool(ours & theirs)


def _met(one: Clause, other: Clause, a: Quantity) -> bool:
    """Whether a list of values meets another: versions 3.11, 3.12 and 3.12, 3.13."""
    pairs = [(x, y) for x in one.figures for y in other.figures if x.dimension == y.dimension == a.dimension]
    return any(not disagree(x, y) for x, y in pairs)


def _same_attribute(one: Clause, a: Quantity, other: Clause, b: Quantity) -> bool:
    units = {figure.dimension.rpartition(":")[2] for figure in (a, b)}
    named = a.dimension.startswith("version:")
    ours, theirs = (clause.names - MEASURES - (set() if named else units) for clause in (one, other))
    common = ours & theirs
    both, least = mass(common) + named, min(mass(ours - common), mass(theirs - common))
    if not common:  # `there are 12 shards`: what is counted is all there is
        counted = a.dimension == b.dimension and a.dimension.startswith("count:") and a.sense == b.sense
        counted = counted and least == 0
        return (mass(ours | theirs) <= (2 if counted else 0)) and bool(one.names & other.names)
    if a.sense != b.sense and EXACT in (a.sense, b.sense) and not named and least >= 1.0:
        return False
    if sum(weight(name) == 1.0 for name in common) >= 2:
        return True
    return both >= 1.0 and both / (both + least) > (0.49 if named else 0.55)


_HELD, _HELD_OPPOSED, _ALIKE = 0.7, 0.6, 0.3  # found on the pairs for development, not sharp


def stances_contrary(one: Clause, other: Clause, shared: ClauseOverlap) -> Verdict | None:
    """Contrary stances to the same thing; or the same stance to opposite things."""
    shared, flips = paired(one, other, shared)
    theirs = FLIPPED[other.stance] if flips else other.stance
    # Python 3.8 is dropped, Python 3.11 is supported: the figures make them two things.
    figures = ((a, b) for a in one.figures for b in other.figures if a.dimension == b.dimension)
    apart = bool(shared.siblings) or any(not equal(a, b) for a, b in figures)
    if (one.stance, theirs) not in CONTRARY or apart or not _same_matter(one, other, shared, flips=flips):
        return None
    kind = "modality" if {OPT, MAY} & {one.stance, other.stance} else "negation"
    return Verdict(kind, f"one says {_said(one)}, the other {_said(other)}", min(0.95, 0.5 + shared.held / 2))


def _same_matter(one: Clause, other: Clause, shared: ClauseOverlap, *, flips: bool) -> bool:
    """Whether what one denies is what the other asserts."""
    strong = sum(weight(name) == 1.0 for name in shared.common)
    alike = 0.25 if one.refused or other.refused else _ALIKE  # what is refused by name is meant
    held = _HELD_OPPOSED if flips else _HELD
    if strong >= 2:  # much in common: what else a long sentence says matters less
        alike, held = (0.2, 0.4) if strong >= 3 else (0.25, 0.55)
    if not strong or shared.held < held or shared.alike < alike or elsewhere(one, other, shared):
        return False
    if _other_subject(one, other) or (flips and strong < 3 and min(mass(shared.left), mass(shared.right)) >= 1.0):
        return False
    if flips:
        return mass(shared.common) >= 1.5 or shared.alike > 0.6
    denying = [clause for clause in (one, other) if clause.stance in (NO, OPT)]
    asserting = other if one in denying else one
    # The importer validates rows, it does not update them: that is another act.
    does_other = asserting.verb in asserting.names - shared.common and weight(asserting.verb) == 1.0
    if denying[0].acts and denying[0].verb not in _GENERIC and does_other:
        return False
    return all(_denied(clause, shared.common) for clause in denying)


def _other_subject(one: Clause, other: Clause) -> bool:
    """Whether both say who or what, in the same voice, and it is not the same."""
    if one.passive != other.passive or one.subject & other.names or other.subject & one.names:
        return False
    return mass(one.subject) >= 1.0 and mass(other.subject) >= 1.0


_GENERIC = terms("touch make use have need get do run happen take reach hit let keep be is are")


def _denied(clause: Clause, common: frozenset[str]) -> bool:
    core = mass(clause.core)
    if clause.stance == NO and not clause.refused and clause.first and clause.first not in common:
        return False
    share = 0.67 if clause.core <= clause.subject else 0.5  # `snapshot tests are banned` is not of all tests
    return core == 0 or mass(clause.core & common) >= core * share


_SAID = {YES: "yes", NO: "no", MAY: "may", OPT: "need not"}


def _said(clause: Clause) -> str:
    return f"{_SAID[clause.stance]} ({' '.join(word.raw for word in clause.words)[:80]})"


Names = frozenset[str]

# Of these a project has one, so that even a statement that names nothing else speaks of the same.
_SINGLE = several(word_list("contradiction_rules.single"))
_STRICT = several("cadence weekday datatype status httpverb")  # said of many things: all else must agree


def things_compete(one: Clause, other: Clause, shared: ClauseOverlap) -> Verdict | None:
    """Two things for one role."""
    if not _both_assert(one, other) or one.refused or other.refused:
        return None
    ours = [thing for thing in one.things if thing.name not in other.mentions]
    theirs = [thing for thing in other.things if thing.name not in one.mentions]
    for a, b in ((a, b) for a in ours for b in theirs):
        roles = [role for role in sorted(a.roles & b.roles) if shared.siblings <= role_words(role)]
        if any(_competes(one, a, other, b, role) for role in roles):
            return Verdict("value", f"{_shown(one, a)} against {_shown(other, b)}", 0.85)
    return None


def _both_assert(one: Clause, other: Clause) -> bool:
    return one.stance == other.stance == YES and not (one.also or other.also or one.tried or other.tried)


def _shown(clause: Clause, thing: RoleFiller) -> str:
    return " ".join(word.raw for word in clause.words[thing.first : thing.last])


def _competes(one: Clause, a: RoleFiller, other: Clause, b: RoleFiller, role: str) -> bool:
    """Whether both are named for that role of the same thing."""
    about = role_words(role)
    ours, theirs = _context(one, a), _context(other, b)
    common = ours & theirs
    own, their_own = mass(ours - common - about), mass(theirs - common - about)
    if role in _STRICT and own + their_own >= 1.0:
        return False
    if (beside := mass(common - about)) >= 1.0:
        return beside >= 2.0 or mass(common) / (mass(common) + min(own, their_own)) >= 0.3
    if ours & about and theirs & about:
        return min(own, their_own) < (2.1 if mass(common & about) >= 1.0 else 1.0)
    if role in _SINGLE and min(own, their_own) < 0.5:
        return True
    if any(word.low in _ALL for word in one.words + other.words):  # of all there is: `everywhere`, `always`
        return role not in _STRICT and min(own, their_own) < 2.1
    if ours & about or theirs & about:
        return (own == 0 and their_own == 0) or (min(own, their_own) < 0.5 and bool(common))
    return own < 0.5 and their_own < 0.5


_ALL = several("everywhere always anything everything anywhere exclusively throughout")


def _context(clause: Clause, thing: RoleFiller) -> Names:
    """What else a clause says beside the things it names."""
    inside = {clause.words[at].stem for one in (thing, *clause.things) for at in range(one.first, one.last)}
    return clause.names - inside


# Frames: the same done with, in, as, from … something else

_FUNCTIONAL = terms(word_list("contradiction_rules.functional"))
_PLACES = ("in", "with", "as", "from", "to", "by", "under", "over", "")
_ACTIVE, _PASSIVE = ("by", "with", "from", "as", "over"), ("by", "with", "from", "as", "over", "to", "in")
_HAPPENS = terms("happen occur begin terminate dispatch live run serialize sit")
_ADVERBIAL = terms("parallel place background advance detail batch general hand default care mind ci")
_AGENTS = terms("own trigger elect handle create manage serve build render sign issue process publish maintain")
# Of such a thing there is one: a policy, a cause, an entry point.
_ATTRIBUTES = terms(word_list("contradiction_rules.attributes"))
_IS = frozenset(("is", "are", ":", "be"))
_KEEPING = terms("store go send write deliver publish log track define describe documentation")
_WHICH = terms("primary main default standard current")
_DOING = terms("use run store write create build")


_ANYTHING = frozenset(f"{verb} in" for verb in _KEEPING if verb != "write")  # any two places exclude each other


def relations_differ(one: Clause, other: Clause, shared: ClauseOverlap) -> Verdict | None:
    """The same relation of the same subject with another value."""
    if not _both_assert(one, other) or not shared.common:
        return None
    frames = ((ours, theirs) for ours in _frames(one) for theirs in _frames(other))
    for (theme, relation, value), (their_theme, their_relation, theirs) in frames:
        # Being in a place fits whatever is done there.
        both_in = relation.endswith(" in") and their_relation.endswith(" in")
        related = relation == their_relation or (both_in and "be in" in (relation, their_relation))
        loose = relation.startswith("any ") and mass(theme ^ their_theme) > 0.5
        same = related and not loose and _same_theme(theme, their_theme)
        if same and _exclude(one, value, other, theirs, relation):
            return Verdict("value", f"{' '.join(sorted(value))} against {' '.join(sorted(theirs))}", 0.7)
    return None


def _frames(clause: Clause) -> list[tuple[Names, str, Names]]:
    """(what it is about, by which relation, the value) as far as a clause says it plainly."""
    slots, verb = dict(clause.slots), clause.verb
    found = [*_placed(clause, slots), *_by_whom(clause, slots)]
    for place in ("in", "by", "from", "as", "to", "with", "over"):
        if mass(clause.names - slots.get(place, clause.names)) >= 2.0:  # all else is the same
            found.append((clause.names - slots[place], f"any {place}", slots[place]))
    if verb in _IS and clause.subject & _ATTRIBUTES and slots.get("") and not slots[""] & clause.subject:
        found.append((clause.subject, "attribute", slots[""]))
    purpose = slots.get("for") or slots.get("as") or slots.get("to")
    if verb in ("use", "prefer") and slots.get("") and purpose:
        found.append((clause.subject | purpose | slots.get("in", frozenset()), "use", slots[""]))
    return found


def _placed(clause: Clause, slots: dict[str, Names]) -> list[tuple[Names, str, Names]]:
    """What is stored in, built with, named … something."""
    theme, verb = clause.subject or slots.get("", frozenset()), clause.verb
    happens = verb in _HAPPENS and clause.subject
    if happens or (verb not in _FUNCTIONAL and verb not in _IS):
        places = ("in", "from", "by", "with", "as") if happens else _PASSIVE if clause.passive else _ACTIVE
        return [(theme, _relation(verb, at), slots[at]) for at in places if at in slots and clause.subject]
    found = []
    for place, value in slots.items():
        if place in _PLACES and value and value != theme:
            kept = [v for p, v in slots.items() if p not in (place, "when") and (p or clause.subject)]
            found.append((theme.union(*kept), _relation(verb, place), value))
    return found


def _by_whom(clause: Clause, slots: dict[str, Names]) -> list[tuple[Names, str, Names]]:
    """Who does it, whether said as `X owns Y` or as `Y is owned by X`."""
    verb = clause.verb
    if verb in _AGENTS and clause.subject and slots.get(""):
        return [(slots[""], f"{verb} by", clause.subject), (slots[""] | {verb}, "be ", clause.subject)]
    if verb in _IS and clause.subject and clause.subject <= clause.named and slots.get(""):
        return [(slots[""] | slots.get("for", frozenset()), "be ", clause.subject)]  # `Marco is the contact`
    if verb == "belong" and clause.subject and slots.get("to"):
        return [(clause.subject | {"own"}, "be ", slots["to"])]
    if verb in _AGENTS and clause.subject and slots.get("by"):
        return [(clause.subject | {verb}, "be ", slots["by"])]
    return []


def _relation(verb: str, place: str) -> str:
    place = "by" if place in ("with", "over") else place
    if place == "from" and verb in _GETS:
        verb = "get"
    if place in ("in", "to") and verb in _PUTS:
        verb = "store"
    if verb in _IS:
        return f"be {place}"
    return f"{verb} {'in' if place == 'to' and verb in _KEEPING else place}"


def _same_theme(one: Names, other: Names) -> bool:
    common = one & other
    left, right = one - common, other - common
    if (left & _WHICH and right - _DOING) or (right & _WHICH and left - _DOING):
        return False
    if one == other and one:
        return True
    most = 3.0 if mass(common) >= 2.0 else 1.5
    return mass(common) >= 1.0 and min(mass(left), mass(right)) < 0.5 and mass(left | right) <= most


def _exclude(one: Clause, a: Names, other: Clause, b: Names, relation: str) -> bool:
    """Whether two values exclude each other: each has a word of its own, and they are of a sort."""
    if a <= b or b <= a or (a | b) & _ADVERBIAL:
        return False
    ours, theirs = _roles_of(one, a), _roles_of(other, b)
    if ours and theirs and not relation.endswith((" by", " from", " to")) and relation not in _ANYTHING:
        return bool(ours & theirs) and not a & b
    named, their_named = a & one.named, b & other.named
    if named and their_named:
        return not named & their_named
    if relation in ("be ", "use ") or relation.partition(" ")[0] in ("run", "live", "sit"):
        return len(a & b) >= 1 and len(a - b) == len(b - a) == 1  # `customer id`, `order id`
    return len(a & b) <= 1


def _roles_of(clause: Clause, value: Names) -> Names:
    named = [t for t in clause.things if any(word.stem in value for word in clause.words[t.first : t.last])]
    return frozenset().union(*(thing.roles for thing in named))


_GETS = terms("get pull fetch read take load come receive consume obtain")
_PUTS = terms("store put end land go save upload")
_RANKS = terms("win beat override trump precede precedence prefer")


def order_swapped(one: Clause, other: Clause, shared: ClauseOverlap) -> Verdict | None:
    """`A wins over B` against `B wins over A`, `A before B` against `B before A`."""
    if one.stance != other.stance or mass(shared.left) + mass(shared.right) > 0.5:
        return None
    ours, theirs = _order(one), _order(other)
    if not ours or not theirs:
        return None
    first, second = ours[0] - theirs[0], theirs[0] - ours[0]
    if first and second and first <= theirs[1] and second <= ours[1]:
        return Verdict("value", f"{' '.join(sorted(first))} first against {' '.join(sorted(second))} first", 0.8)
    return None


def _order(clause: Clause) -> tuple[Names, Names] | None:
    """What comes first and what comes later, where a clause ranks or orders two things."""
    for at, word in enumerate(clause.words):
        if word.low in _ORDERS or (word.low == "over" and clause.names & _RANKS):
            sides = (clause.words[:at], clause.words[at:])
            before, after = (frozenset(w.stem for w in side) & clause.names for side in sides)
            return (after, before) if word.low == "after" else (before, after)
    return None


_ORDERS = several("before then after overrides beats trumps precedes")


_WRITES = terms("write update change modify insert delete own access call use read")


def _another_writes(narrow: Clause, wide: Clause) -> bool:
    """`X is written by A alone` against `B updates X`."""
    ours, theirs = _agent(narrow), _agent(wide)
    if not ours or not theirs or narrow.verb not in _WRITES or wide.verb not in _WRITES:
        return False
    (agent, theme), (other_agent, other_theme) = ours, theirs
    return not agent & other_agent and mass(theme & other_theme) >= 1.0 and mass(theme - other_theme) < 0.5


def _agent(clause: Clause) -> tuple[Names, Names] | None:
    """Who acts, and on what."""
    slots = dict(clause.slots)
    who, what = (slots.get("by"), clause.subject) if "by" in slots else (clause.subject, slots.get(""))
    return (who, what) if who and what else None


def _elsewhere(narrow: Clause, wide: Clause) -> tuple[str, str] | None:
    """`Deploy from main only` against `deploy from release branches`: the same act, another place."""
    theirs = dict(wide.slots)
    for place, value in narrow.slots:
        other = theirs.get(place, frozenset())
        same_act = narrow.verb == wide.verb and mass((narrow.names - value) ^ (wide.names - other)) <= 0.5
        if place and other and same_act and not value & other:
            return " ".join(sorted(value)), " ".join(sorted(other))
    return None


_EVERYBODY = several("everybody everyone anybody anyone anywhere everywhere")


def exclusive_claims(one: Clause, other: Clause, shared: ClauseOverlap) -> Verdict | None:
    """`Only the scheduler may write` against somebody else who may."""
    if one.only == other.only or {NO, OPT} & {one.stance, other.stance} or shared.siblings:
        return None
    narrow, wide = (one, other) if one.only else (other, one)
    if _another_writes(narrow, wide):
        return Verdict("modality", "one alone against another one too", 0.7)
    if _EVERYBODY & {word.low for word in wide.words} and shared.held >= 0.8 and mass(shared.common) >= 1.0:
        return Verdict("modality", "only some against everybody", 0.7)
    if wide.also and mass(shared.common) >= 2.0:
        return Verdict("modality", "one only against another one too", 0.65)
    if elsewhere := _elsewhere(narrow, wide):
        return Verdict("modality", f"only {elsewhere[0]} against {elsewhere[1]}", 0.7)
    if narrow.words[0].low != "only" or not wide.subject or narrow.subject & wide.subject:
        return None
    ours, theirs = narrow.names - narrow.subject, wide.names - wide.subject
    if mass(ours) and mass(ours & theirs) / mass(ours) >= 0.8:
        return Verdict(
            "modality", f"only {' '.join(sorted(narrow.subject))} against {' '.join(sorted(wide.subject))}", 0.7
        )
    return None
