"""Which memories were used after they were found or told: worked out from lines, log and commits, later.

A memory is *cited* if its id stands in what was recorded within a day of its being found or told: in an
event's text, in a memory or task that was proposed, approved or changed then, or in a commit's message. It is
*acted on* if it was itself approved, edited, rejected or retired within a day; or if, within an hour of a
recall that found it, a recorded run ended that changed a file it applies to or cites. Nothing else counts:
an agent may well use what it read and leave no trace.
"""

import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain

from holdfast.errors import NotStored, ReadOnlyStore
from holdfast.git.clone import Clone
from holdfast.model.event import Event, timestamp
from holdfast.model.ids import PREFIXES
from holdfast.patterns import regex
from holdfast.store import statistics
from holdfast.store.layout import TRACKED
from holdfast.values import dicts_of, frozen

DAY, HOUR = 86_400, 3_600  # seconds
MOST_COMMITS = 5_000  # a guess: bounds the time of git log
DECIDED = ("accept", "promote", "edit", "reject", "retire")
_WRITTEN = (*DECIDED, "propose", "task")  # events whose target's own text may name a memory
_SAID = ("task", "statement", "reason", "outputs", "derived_facts", "next_actions", "receipts")
_MEMORY = regex(rf"\b(?:{'|'.join(PREFIXES.values())})-[0-9a-z]{{4,40}}\b")


@frozen
class UsageSubjects:
    """What is known of things here, as somebody else reads them; ids of memories in lower case."""

    naming: Mapping[str, Collection[str]]  # a memory's or a task's id, as it is, to the memories its text names
    touches: Callable[[str, str], bool]  # whether a memory applies to a file or cites it
    states: Mapping[str, str]  # how each memory stands
    ids: Mapping[str, str]  # as they are written


class GivenTimes:
    """When each memory was found or told."""

    def __init__(self, counts: statistics.CountedLines) -> None:
        self._asked: dict[str, list[int]] = defaultdict(list)
        self._all: dict[str, list[int]] = defaultdict(list)
        for asked in counts.asked:
            for name in asked.memories:
                self._asked[name].append(asked.at)
                self._all[name].append(asked.at)
        for told in counts.told:
            for name in told.memories:
                self._all[name].append(told.at)
        for times in self._all.values():
            times.sort()

    @property
    def first(self) -> int | None:
        return min((times[0] for times in self._all.values()), default=None)

    def before(self, name: str, at: int) -> bool:
        """Whether a memory was found or told within a day before a moment."""
        return _within(self._all.get(name, ()), at - DAY, at)

    def recalled(self, at: int) -> Iterator[str]:
        """The memories that recalls found within an hour before a moment."""
        return (name for name, times in self._asked.items() if _within(times, at - HOUR, at))


def _within(times: Sequence[int], first: int, last: int) -> bool:
    """Whether one of these lies in a second before the last: within one nobody knows the order."""
    return bisect_left(times, first) < bisect_left(times, last)


def names_in(text: str) -> set[str]:
    """The memories that a text names, in lower case."""
    return {found.lower() for found in _MEMORY.findall(text)}


def reckon(clone: Clone, about: UsageSubjects, *, now: int) -> list[statistics.MemoryUse]:
    """Look for uses since the last time, keep them, and give all that are known."""
    given = GivenTimes(statistics.read(clone.layout))
    known = statistics.uses(clone.layout)
    if given.first is None:
        return known
    since = max(given.first, statistics.reckoned(clone.layout) - DAY)
    acts = chain(_in_log(clone, about, given, since), _in_commits(clone, since))
    found = [statistics.MemoryUse(at, how, by, name) for at, how, by, name in acts if given.before(name, at)]
    try:
        if not clone.reading:
            return statistics.keep_uses(clone.layout, found, now=now)
    except (ReadOnlyStore, NotStored, OSError):
        pass  # they are found again by whoever may write
    return statistics.joined(known, found)


Act = tuple[int, str, str, str]  # when, how, by what, which memory


def _in_log(clone: Clone, about: UsageSubjects, given: GivenTimes, since: int) -> Iterator[Act]:
    for event in clone.find_events("own", since=timestamp(datetime.fromtimestamp(since, UTC))):
        yield from _acts(clone, event, about, given)


def _acts(clone: Clone, event: Event, about: UsageSubjects, given: GivenTimes) -> Iterator[Act]:
    at, target = int(datetime.fromisoformat(event.ts).timestamp()), event.target or ""
    if target and event.kind in DECIDED:
        yield at, statistics.ACTED, event.hash_self[:12], target.lower()
    if target and event.kind in _WRITTEN:
        yield from ((at, statistics.CITED, target.lower(), name) for name in about.naming.get(target, ()))
    if event.body is None:
        return
    body = clone.joined(event)
    named = names_in(json.dumps({name: body.get(name) for name in _SAID}, ensure_ascii=False)) - {target.lower()}
    yield from ((at, statistics.CITED, (target or event.hash_self[:12]).lower(), name) for name in sorted(named))
    if event.kind == "run":
        paths = _changed(body.get("artifacts"))
        for name in given.recalled(at):
            if any(about.touches(name, path) for path in paths):
                yield at, statistics.ACTED, event.hash_self[:12], name


def _changed(artifacts: object) -> list[str]:
    """The files that a run changed; a body may come with a bundle, and say anything."""
    return [one["path"] for one in dicts_of(artifacts) if isinstance(one.get("path"), str)]


def _in_commits(clone: Clone, since: int) -> Iterable[Act]:
    """What messages of commits name; those that only publish memory are Holdfast's own words."""
    data = clone.repo.run("log", "--all", f"--since=@{since}", f"-n{MOST_COMMITS}", "--format=%x00%H %ct%n%B")
    found: dict[str, tuple[int, set[str]]] = {}
    for row in data.decode("utf-8", "replace").split("\0")[1:]:
        head, _, message = row.partition("\n")
        oid, _, when = head.partition(" ")
        if when.isdigit() and (names := names_in(message)):
            found[oid] = int(when), names
    publishing = _publishing(clone, found)
    for oid, (at, names) in found.items():
        if oid not in publishing:
            yield from ((at, statistics.CITED, oid[:12], name) for name in sorted(names))


def _publishing(clone: Clone, oids: Collection[str]) -> set[str]:
    """The commits that change memory and nothing else; one that changes no file at all is not among them."""
    if not oids:
        return set()
    given = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    options = ("--no-walk", "--stdin", "--no-renames", "--diff-merges=first-parent", "--name-only", "-z")
    data = clone.repo.run("log", *options, "--format=%x01%H", stdin=given)
    only = set()
    for row in data.decode("utf-8", "replace").split("\1")[1:]:
        oid, *names = [part.strip("\n") for part in row.split("\0")]
        paths = list(filter(None, names))
        if paths and all(path.startswith(f"{TRACKED}/") for path in paths):
            only.add(oid)
    return only
