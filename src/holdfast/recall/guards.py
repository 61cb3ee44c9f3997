"""The guard file: approved memories that the hook may show to an agent, each as one row of a small file.

    guards/<work tree>

It is written when memory changes and read before every edit, without JSON and without an index. Its first line
holds the state it was made from (`index.freshness.ground`). If the state differs now, nothing is shown, unless only
commits were made since and the folder `.holdfast` is the same in the last one. Each memory names the files it depends
on, its own and those it cites, with their times and sizes: it is not shown once one of them was touched. So a memory
that was retired, replaced, erased, edited by hand or that became stale is not shown. Invariants and dead ends that
name a path or a command come first, up to an empty line.

Only what the hook needs is imported here; the caller decides which memories may stand in the file.
"""

import os
from itertools import islice

from holdfast.index import freshness
from holdfast.recall.path_patterns import holds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from holdfast.index.freshness import WorkTreePaths
    from holdfast.store.layout import Layout

HEAD = "holdfast-guards\t2\t"
MAX_FILE = 64 << 20  # bytes that are read; a guess: a row takes about 1 KiB, so tens of thousands of memories fit
MAX_TEXT = 400  # characters of a line, as in a context (`pack_lines.LONGEST`)
GUARDING = ("invariant", "dead-end")
MOST_CLUES = 200  # a guess: to look for more, a shell takes as long as Python to start
_BETWEEN = "\x1f"


class MemoryGuard:
    """A memory that a person approved: its text for agents, and when it expires."""

    __slots__ = ("commands", "id", "places", "rests_on", "text", "type", "until", "words")

    def __init__(self, identity: str, kind: str, text: str, *, until: str = "", **lists: "Sequence[str]") -> None:
        self.id, self.type, self.text, self.until = identity, kind, text, until
        self.places = tuple(lists.get("places", ()))  # the paths it applies to
        self.commands = tuple(lists.get("commands", ()))  # the commands it names, in their words
        self.words = tuple(lists.get("words", ()))  # the stems of its text
        self.rests_on = tuple(lists.get("rests_on", ()))  # files from the top, as `facts_of` gives them

    @property
    def guards(self) -> bool:
        """Whether it may be shown before an edit or a command."""
        return self.type in GUARDING and bool(self.places or self.commands)


def name_of(place: "WorkTreePaths") -> str:
    """Returns the name of a work tree's guard file."""
    if place.git_dir == place.common_dir:
        return "main"
    return f"tree-{os.path.basename(place.git_dir.rstrip('/'))}"


def file_of(place: "WorkTreePaths", layout: "Layout") -> str:
    return os.path.join(layout.guards, name_of(place))


# ── writing ──────────────────────────────────────────────────────────────────────────────────────


def standing(place: "WorkTreePaths", layout: "Layout", tree: "Callable[[], str | None]") -> str | None:
    """Returns the state of memory for the first line of the file; None if it cannot be determined.

    `tree` returns the id of the folder `.holdfast` in the commit that is checked out.
    """
    oid, size = freshness.went_to(place)
    held = f"{freshness.footing(place, layout)}\t{size}\t{oid}\t{tree() or '-'}"
    ground = freshness.ground(place, layout)  # read last: a change in between makes it differ
    return f"{ground}\t{held}" if ground and freshness.went_to(place) == (oid, size) else None


def render(ground: str, guards: "Iterable[MemoryGuard]") -> bytes:
    """Returns the content of the file for these memories."""
    memories = sorted(guards, key=lambda one: one.id)
    guarding, others = ([_row(one) for one in memories if one.guards == is_guard] for is_guard in (True, False))
    rows = [HEAD + ground, *guarding, "", *others]
    return ("\n".join(rows) + "\n").encode("utf-8", "surrogateescape")


def _row(one: MemoryGuard) -> str:
    lists = (_BETWEEN.join(map(_flat, some)) for some in (one.rests_on, one.places, one.commands))
    return "\t".join((one.id, one.type, one.until, *lists, f" {' '.join(one.words)} ", _flat(one.text)))


def _flat(text: str) -> str:
    return " ".join(text.replace(_BETWEEN, " ").split())


def facts_of(top: str, path: str) -> str:
    """Returns a file that a memory depends on, with the facts that change when somebody touches it."""
    try:
        found = os.lstat(os.path.join(top, path))
    except OSError:
        return f"- {path}"
    return f"{found.st_mtime_ns}.{found.st_size}.{found.st_ino} {path}"


def clues(guards: "Iterable[MemoryGuard]") -> list[str]:
    """Returns words one of which any event contains that a guard is shown for; an empty one if any event may.

    The launcher looks for them before Python starts (`interfaces/agent_hook.sh`). A path holds the last name of
    each place that it is in, and a command all its words. Only plain characters count: each client spells them alike.
    """
    found: set[str] = set()
    for one in guards:
        found.update(_clue(place.rstrip("/").split("/")) for place in one.places)
        found.update(_clue(sorted(command.split(), key=len)) for command in one.commands)
    few = {one for one in found if not any(other in one and other != one for other in found)}
    return sorted(few) if len(few) <= MOST_CLUES else [""]


def _clue(names: "Sequence[str]") -> str:
    """Returns the longest plain part of the last name that has one."""
    for name in reversed(names):
        if name.isascii():
            plain = "".join(c if c.isalnum() or c in "_.-" else " " for c in name).split()
            if plain:
                return max(plain, key=len)
    return ""


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


class GuardFile:
    """The file as it was read; `is_current` says whether its memories may be shown."""

    def __init__(
        self, place: "WorkTreePaths", layout: "Layout", now: str, tree: "Callable[[], str | None]" = lambda: None
    ) -> None:
        self._place, self._layout, self._now = place, layout, now
        try:
            with open(file_of(place, layout), "rb") as file:
                data = file.read(MAX_FILE).decode("utf-8", "surrogateescape")
        except OSError:
            data = ""
        head, _, self._rest = data.partition("\n")
        fields = head.removeprefix(HEAD).split("\t") if head.startswith(HEAD) else []
        self.is_current = len(fields) == 5 and (
            freshness.ground(place, layout) == fields[0] or self._has_only_new_commits(fields[1:], tree)
        )

    def _has_only_new_commits(self, held: "Sequence[str]", tree: "Callable[[], str | None]") -> bool:
        """Whether only commits were made since, and none of them changed memory."""
        footing, size, oid, known = held
        return (
            freshness.footing(self._place, self._layout) == footing
            and size.isdigit()
            and freshness.only_commits(self._place, self._layout, oid, int(size))
            and (tree() or "-") == known
        )

    def guarding(self) -> "Iterator[MemoryGuard]":
        """Yields the memories that may be shown before an edit or a command."""
        yield from filter(None, map(_guard, self._rest.partition("\n\n")[0].split("\n")))

    def every(self) -> "Iterator[MemoryGuard]":
        """Yields all memories of the file."""
        yield from filter(None, map(_guard, self._rest.split("\n")))

    def about(self, words: "Iterable[str]") -> "dict[str, tuple[MemoryGuard, list[str]]]":
        """Returns the memories that share words, each with those words."""
        found: dict[str, tuple[MemoryGuard, list[str]]] = {}
        for word in words:
            for row in self._rows_with(f" {word} "):
                one = _guard(row)
                if one is not None and word in one.words:
                    found.setdefault(one.id, (one, []))[1].append(word)
        return found

    def _rows_with(self, text: str) -> "Iterator[str]":
        at = self._rest.find(text)
        while at >= 0:
            end = self._rest.find("\n", at)
            yield self._rest[self._rest.rfind("\n", 0, at) + 1 : end]
            at = self._rest.find(text, end)

    def named(self, identity: str) -> "MemoryGuard | None":
        """Returns the memory with that id."""
        at = f"\n{self._rest}".find(f"\n{identity}\t")
        return _guard(self._rest[at : self._rest.find("\n", at)]) if at >= 0 else None

    def stands(self, one: MemoryGuard) -> bool:
        """Whether a memory is still valid: not expired, and no file that it depends on was touched."""
        if one.until and one.until <= self._now:
            return False
        top = self._place.top
        return all(facts_of(top, fact.partition(" ")[2]) == fact for fact in one.rests_on)


def _guard(row: str) -> "MemoryGuard | None":
    fields = row.split("\t")
    if len(fields) != 8:
        return None
    identity, kind, until, *lists, words, text = fields
    names = ("rests_on", "places", "commands")
    parts = {name: some.split(_BETWEEN) if some else [] for name, some in zip(names, lists, strict=True)}
    return MemoryGuard(identity, kind, text, until=until, words=words.split(), **parts)


# ── matching ─────────────────────────────────────────────────────────────────────────────────────


def holding(
    memories: "Iterable[MemoryGuard]", *, paths: "Sequence[str]" = (), commands: "Sequence[Sequence[str]]" = ()
) -> "Iterator[MemoryGuard]":
    """Yields the memories that apply to one of these files, or name one of these commands."""
    command_lines = [f" {' '.join(words)} " for words in commands]
    for one in memories:
        if any(holds(place, path) for place in one.places for path in paths) or any(
            f" {command} " in words for command in one.commands for words in command_lines
        ):
            yield one


def first(found: "Iterable[MemoryGuard]", *, most: int, stands: "Callable[[MemoryGuard], bool]") -> "list[MemoryGuard]":
    """Returns the first few that are still valid."""
    return list(islice(filter(stands, found), most))
