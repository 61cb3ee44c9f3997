"""Things that fill the same role: where one is *the* one, naming another is another value.

A role has words that name it (`database`) and the things that may fill it. A thing may fill several roles
(Redis is a cache, a queue and a database); two things compete where they share one.
Names are as `word_stems.canonical` gives them, several words joined by a blank.
"""

from collections.abc import Mapping
from functools import cache

from holdfast.model.claims.vocabulary import table, word_list
from holdfast.model.claims.word_stems import SAME, STOP, Token, canonical, plain, several
from holdfast.values import frozen


@frozen
class RoleFiller:
    """A thing found in a sentence: its one name, the roles it can fill, and where it stands."""

    name: str
    roles: frozenset[str]
    first: int
    last: int


@frozen
class _Roles:
    things: Mapping[tuple[str, ...], tuple[str, frozenset[str]]]
    words: Mapping[str, frozenset[str]]
    starts: frozenset[str]
    longest: int


@cache
def _roles() -> _Roles:
    named: dict[str, frozenset[str]] = {}
    fills: dict[tuple[str, ...], dict[str, str]] = {}
    for line in table("roles"):
        role, words, things = (part.strip() for part in line.split("|"))
        named[role] = frozenset(canonical(word) for word in words.split())
        for name, *others in (thing.strip().split("=") for thing in things.split(",")):
            for form in (tuple(map(plain, spelled.split())) for spelled in (name, *others)):
                if form[0] not in STOP or len(form) > 1:
                    fills.setdefault(form, {})[role] = name
    things_ = {form: (min(roles.values(), key=len), frozenset(roles)) for form, roles in fills.items()}
    starts = frozenset(form[0] for form in things_)
    return _Roles(things_, named, starts, max(map(len, things_)))


@cache
def _spellings() -> tuple[frozenset[str], frozenset[str]]:
    """Every word of the table as it is written, and the names of words with which longer things begin."""
    rows = [line.rpartition("|")[2].replace("=", ",").split(",") for line in table("roles")]
    long = (form.split() for row in rows for form in row if " " in form.strip())
    written = several(" ".join(table("roles")).replace("=", " ").replace(",", " "))
    return written, frozenset(plain(form[0]) for form in long)


# English words that are also names: they count only where they are written as the name of something used.
ENGLISH = several(word_list("roles.english"))


def filled(words: tuple[Token, ...]) -> list[RoleFiller]:
    """The things a sentence names that fill some role, the longest name first at each place."""
    if not any(_spelled(word.low) or plain(word.low) in _spellings()[1] for word in words):
        return []  # most sentences name none, and the table takes longer to read than they do
    roles, found, at = _roles(), [], 0
    while at < len(words):
        starts = plain(words[at].low) in roles.starts
        for size in range(min(roles.longest, len(words) - at) if starts else 0, 0, -1):
            key = tuple(plain(word.low) for word in words[at : at + size])
            if key in roles.things and (size > 1 or _spelled(words[at].low)):
                found.append(RoleFiller(*roles.things[key], at, at + size))
                break
        at = found[-1].last if found and found[-1].first == at else at + 1
    return found


def _spelled(low: str) -> bool:
    """Whether a word is written as the table has it, and does not only share its stem (`hour`, `hourly`)."""
    forms = _spellings()[0]
    same = SAME.get(low)
    return low in forms or low.removesuffix("s") in forms or (same in forms and same not in ENGLISH)


def role_words(role: str) -> frozenset[str]:
    """The words that name a role and say nothing more once its thing is named."""
    return _roles().words[role]
