"""Status: where this clone stands, what waits, and what would be lost with the clone."""

import os
import stat
from itertools import islice
from typing import Any

from holdfast.git import reconcile, upstream
from holdfast.git.clone import Clone
from holdfast.store import agent_inbox
from holdfast.values import frozen

ENOUGH = 1000  # entries of a folder whose sizes are looked up


@frozen(kw_only=True)
class Status:
    """One clone at one moment."""

    id: str  # the line
    branch: str | None
    head: str | None
    operation: str | None  # what git is in the middle of
    facts: int
    expired: int
    stale: int
    candidates: int
    unreviewed: int  # entries written or edited by hand
    events_waiting: int
    changes_waiting: tuple[str, ...]  # tracked paths
    private_runs: int
    private_bytes: int
    private_more: bool  # whether there are more than that: a large folder is not counted to its end
    gone: int
    orphans: tuple[str, ...]
    sandboxed: bool
    tasks: int = 0  # open or begun
    started: int = 0
    ready: int = 0
    session: str | None = None  # the one that is open on this branch in this work tree
    elsewhere: int = 0  # memories that came by git, approved neither here nor in a trusted trunk
    unmerged: int = 0  # memories of the trunk that this branch does not have
    trunk: str | None = None  # the branch that has them
    trusts: str | None = None  # the upstream whose trunk is trusted
    void: str | None = None  # why what was trusted is not any more
    pointers_waiting: int = 0  # what agents' hooks told of and nobody has read yet
    agent_sessions_waiting: int = 0
    transcripts_gone: tuple[str, ...] = ()  # paths that such pointers lead to, and nothing lies there
    transcripts_unread: tuple[str, ...] = ()  # or what lies there cannot be read
    model: str | None = None  # that search by meaning uses
    unembedded: int = 0  # texts it has no vector of yet
    edited: int = 0  # memories of which a person approved another text
    disputed: int = 0  # tasks of which two sides say different things
    unchecked: int = 0  # memories of whose approval this shallow clone cannot tell the text
    unreadable: int = 0  # memories that a person approved and whose files cannot be read


def status(clone: Clone, **counted: Any) -> Status:
    """Look at everything once; memories and tasks are counted by whoever knows what they mean."""
    head = clone.repo.head()
    found, held = reconcile.examine(clone), upstream.held(clone)
    waiting, lost = agent_inbox.waiting(*clone.stores), agent_inbox.vanished(*clone.stores)
    unread = agent_inbox.vanished(*clone.stores, why=agent_inbox.UNREAD)
    missing = upstream.missing_from_trunk(clone)
    size, more = _size(clone.private.private, besides=(clone.private.statistics, clone.private.seen))
    # Events the next publish would bring into this branch, what it inherited included.
    events = {event.hash_self for event in clone.find_events("waiting")}
    if events and clone.line().inherits:
        events -= {event.hash_self for event in clone.find_events("published")}
    return Status(
        **counted,
        id=clone.line().id,
        branch=head.branch,
        head=head.oid,
        operation=clone.repo.operation(),
        events_waiting=len(events),
        changes_waiting=tuple(sorted({change.path for change in clone.changes() if change.segment is None})),
        private_runs=len(clone.private.listed(clone.private.runs)),
        private_bytes=size,
        private_more=more,
        gone=len(found.gone),
        orphans=tuple(orphan.name for orphan in found.orphans),
        sandboxed=clone.layout.private != clone.private.private,
        unmerged=missing.memories if missing else 0,
        trunk=missing.trunk if missing else None,
        trusts=held.trusted.name if held and not held.void else None,
        void=held.void if held else None,
        pointers_waiting=sum(len(one.all) for one in waiting),
        agent_sessions_waiting=len(waiting),
        transcripts_gone=tuple(one.path or "?" for one in lost),
        transcripts_unread=tuple(one.path or "?" for one in unread),
    )


def _size(place: str, *, besides: tuple[str, ...]) -> tuple[int, bool]:
    """The bytes of a file or below a folder, but for what merely looking makes grow; whether there is more.

    Of a folder with more entries than anybody would wait for, only some are counted.
    """
    if place.startswith(besides):
        return 0, False
    try:
        facts = os.lstat(place)
        if not stat.S_ISDIR(facts.st_mode):
            return facts.st_size, False
        with os.scandir(place) as entries:
            inner = [entry.path for entry in islice(entries, ENOUGH + 1)]
    except OSError:  # published or sealed just now
        return 0, False
    sizes = [_size(path, besides=besides) for path in inner[:ENOUGH]]
    return sum(size for size, _ in sizes), len(inner) > ENOUGH or any(more for _, more in sizes)
