"""Handles a rewind: changes that were recorded at commits which this branch no longer has.

Git restores the tree of the earlier commit. Changes that were recorded later and never published still wait,
until the user is asked about them. A change that is set aside stays in the store and can be brought back; the
change that had waited at the earlier commit waits again.
"""

from holdfast.git import last_seen
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.store import pending_changes
from holdfast.store.pending_changes import PendingChange
from holdfast.values import frozen, replace


@frozen
class SetAside:
    """A change that was set aside, and the earlier one that waits again instead."""

    change: PendingChange
    again: PendingChange | None


def stranded(clone: Clone) -> list[PendingChange]:
    """Returns the changes that wait here but were recorded at a commit that HEAD's history lacks, even rewritten."""
    if clone.repo.head().oid is None or clone.repo.operation():
        return []
    common = last_seen.shared(clone)
    kept = set(common.kept) if common else set()
    own = [c for c in clone.changes() if c.line == clone.line().id and c.segment is None and c.key not in kept]
    away = {c.head for c in own if c.head and not _is_here(clone, c.head)}
    became = commit_anchors.resolve(clone, away) if away else {}
    lost = {
        oid
        for oid, now in became.items()
        if now.state != "unknown" and not (now.commit and _is_here(clone, now.commit))
    }
    return [change for change in own if change.head in lost]


def _is_here(clone: Clone, oid: str) -> bool:
    return clone.repo.is_ancestor(oid, "HEAD")


def let_stay(clone: Clone, changes: list[PendingChange]) -> None:
    """Records that the user keeps these changes here, so that they are not asked about again."""
    common = last_seen.shared(clone)
    if common is not None and changes:
        names = dict.fromkeys((*common.kept, *(change.key for change in changes)))
        last_seen.keep(clone, replace(common, kept=tuple(names)[-1000:]))  # a guess: every command reads the list


def set_aside(clone: Clone, changes: list[PendingChange]) -> list[SetAside]:
    """Sets changes aside; each stays in the store, and what had waited at this commit waits again."""
    line, now = clone.line().id, clone.now()
    kept = [change for change in pending_changes.published(clone.layout) if change.line == line]
    done = []
    for change in changes:
        again = _earlier(clone, change, [c for c in kept if c.path == change.path])
        if again is not None:
            again = pending_changes.add(clone.layout, replace(again, published=None, ts=now))
        pending_changes.archive(clone.layout, change, commit=None, ts=now, aside=again.key if again else "")
        done.append(SetAside(change, again))
    return done


def lying_aside(clone: Clone) -> list[PendingChange]:
    """Returns what was set aside on this line and not brought back: the last change of each path."""
    line = clone.line().id
    aside = [c for c in pending_changes.published(clone.layout) if c.line == line and _mark(c) is not None]
    return list({change.path: change for change in aside}.values())


def has_its_point(clone: Clone, change: PendingChange) -> bool:
    """Returns whether this branch has the commit of a change again: then the rewind was undone."""
    return change.head is not None and _is_here(clone, change.head)


def bring_back(clone: Clone) -> tuple[list[PendingChange], list[PendingChange]]:
    """Lets set-aside changes wait again; returns them, and those that stay aside because their path changed since."""
    back, left = [], []
    for change in lying_aside(clone):
        waiting = next((c for c in clone.changes() if c.path == change.path), None)
        if waiting is not None and waiting.blob != change.blob:
            if waiting.key != _mark(change):
                left.append(change)
                continue
            pending_changes.archive(clone.layout, waiting, commit=None, ts=clone.now())
            waiting = None
        now = waiting or pending_changes.add(clone.layout, replace(change, published=None, ts=clone.now()))
        pending_changes.forget_published(clone.layout, change)
        back.append(now)
    let_stay(clone, back)
    return back, left


def _mark(change: PendingChange) -> str | None:
    """Returns the key of the change that waits instead of a set-aside one, or ""; None if it was not set aside."""
    return (change.published or {}).get("aside")


def _earlier(clone: Clone, change: PendingChange, kept: list[PendingChange]) -> PendingChange | None:
    """Returns what waited for a path at this commit: the last change recorded at a commit still in our history.

    None if its text is in the tree, or was published in a commit we still have.
    """
    before = [c for c in kept if c.ts < change.ts and c.head is not None and _is_here(clone, c.head)]
    last = max(before, key=lambda c: (c.ts, c.name), default=None)
    if last is None or last.blob == clone.repo.blobs_at("HEAD", [change.path]).get(change.path):
        return None
    commit = (last.published or {}).get("commit", "")
    return None if commit and _is_here(clone, commit) else last
