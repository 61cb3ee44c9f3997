"""Stores the map from rewritten commits to what they became.

Git passes it once to the post-rewrite hook; it is stored here in a file that only grows, with rows
`<old> <new> <kind> <time>`. One commit may have become several (two branches that had it were
rebased) and several may have become one (a squash). `git filter-repo` writes a map of its own.
Nothing is decided here: `commit_anchors` checks whether the new commit still exists.
"""

import contextlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator

from holdfast.errors import UnsafePath
from holdfast.git.repo import Repo
from holdfast.model.evidence import is_oid
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import field, mutable

_LINE = regex(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) ([a-z-]{1,32}) ([0-9TZ:.-]{1,32})\n")
_PAIR = regex(rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64})\r?\n?")
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_MAX_CHAIN = 1000  # links followed from one commit; a guess: thousands of rebases of one commit are a damaged map

Pair = tuple[str, str]
Rows = Iterator[tuple[str, str, str]]  # old, new, kind


@mutable
class RewriteTrail:
    """What one commit became according to the maps; the newest id last."""

    names: list[str] = field(default_factory=list)
    how: dict[str, str] = field(default_factory=dict)  # new id -> the map that has it
    joined: set[str] = field(default_factory=set)  # ids that other commits became as well, by a squash
    dropped: bool = False  # according to a map, nothing is left of it


def add(layout: Layout, pairs: Iterable[Pair], *, kind: str, ts: str) -> None:
    """Adds pairs to the map; durable on return. Adding a pair twice does no harm."""
    word = re.sub(r"[^a-z-]", "", kind.lower())[:32] or "rewrite"
    rows = [f"{old} {new} {word} {ts}\n" for old, new in pairs if (old != new and is_oid(old) and is_oid(new))]
    data = "".join(rows).encode("ascii")
    if not data:
        return
    with fsio.refusing(layout.rewrites):
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOFOLLOW
        fd = fsio.ops.open(layout.rewrites, flags, 0o600)
        try:
            fsio.lock_fd(fd, wait=10.0, what=layout.rewrites)  # a guess: the lock is held for one small write
            fsio.append(fd, data)
            fsio.ops.sync_dir(os.path.dirname(layout.rewrites))
        finally:
            os.close(fd)


def follow(layout: Layout, oid: str) -> str | None:
    """Returns the newest id of a commit in the post-rewrite map, through all rewrites; None: not rewritten."""
    latest = {old: new for old, new, _ in _closure([lambda: _own(layout)], {oid})}
    now, passed = oid, {oid}
    while (after := latest.get(now)) is not None and after not in passed:
        passed.add(after)
        now = after
    return None if now == oid else now


def trails(layouts: Iterable[Layout], repo: Repo, oids: Collection[str]) -> dict[str, RewriteTrail]:
    """Returns what each commit became according to all maps of this clone; leaves out commits in no map."""
    stores = list(layouts)
    sources: list[Callable[[], Rows]] = [(lambda store=store: _own(store)) for store in stores]  # type: ignore[misc]
    sources.append(lambda: _filtered(repo))
    links: dict[str, dict[str, str]] = {}
    for old, new, how in _closure(sources, set(oids)):
        links.setdefault(old, {}).pop(new, None)  # a repeated pair counts as the newest
        links[old][new] = how
    joined = _joined(sources, {new for news in links.values() for new in news})
    return {oid: _walk(oid, links, joined) for oid in oids if oid in links}


def _joined(sources: Iterable[Callable[[], Rows]], names: Collection[str]) -> set[str]:
    """Returns the commits among these that several commits became."""
    first: dict[str, str] = {}
    rows = (row for source in sources for row in source() if row[1] in names)
    return {new for old, new, _ in rows if first.setdefault(new, old) != old}


def _closure(sources: Iterable[Callable[[], Rows]], wanted: set[str]) -> Rows:
    """Yields the rows reachable from some commits; reads the map again until no row adds an id.

    The map may be large; only reachable rows are held in memory. Rows are mostly in the order
    of the rewrites, so the first reading finds a chain and the second one finds nothing more.
    """
    size, limit = -1, len(wanted) + _MAX_CHAIN * max(1, len(wanted))
    found: dict[tuple[str, str, str], None] = {}
    while size != len(wanted) and len(wanted) < limit:
        size = len(wanted)
        for source in sources:
            for row in source():
                if row[0] in wanted:
                    wanted.add(row[1])
                    found.pop(row, None)
                    found[row] = None
    yield from found


def _walk(oid: str, links: dict[str, dict[str, str]], joined: Collection[str]) -> RewriteTrail:
    trail, waiting, seen = RewriteTrail(), [oid], {oid}
    while waiting and len(seen) < _MAX_CHAIN:
        old = waiting.pop(0)
        for new, how in links.get(old, {}).items():
            if new in joined or old in trail.joined:
                trail.joined.add(new)
            if set(new) == {"0"}:
                trail.dropped = True
            elif new not in seen:
                seen.add(new)
                trail.names.append(new)
                trail.how[new] = how
                waiting.append(new)
    return trail


def _own(layout: Layout) -> Rows:
    found = map(_LINE.fullmatch, _lines(layout.rewrites, layout))
    return ((match[1].decode(), match[2].decode(), "map") for match in found if match)


def _filtered(repo: Repo) -> Rows:
    """Yields the rows of git filter-repo's own map; zeros stand for a removed commit."""
    found = map(_PAIR.fullmatch, _lines(os.path.join(repo.common_dir, "filter-repo", "commit-map"), None))
    return ((match[1].decode(), match[2].decode(), "filter-repo") for match in found if match and match[1] != match[2])


def _lines(path: str, layout: Layout | None) -> Iterator[bytes]:
    if not os.path.lexists(path):
        return
    if os.path.islink(path) or not os.path.isfile(path):
        if layout is not None:
            layout.leave_out(UnsafePath(f"{path} is not a regular file"))
        return
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
        # 1,024 bytes are five times a real row: a damaged file of one endless row must not fill the memory.
        while line := file.readline(1024):
            yield line
