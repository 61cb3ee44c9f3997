"""After a rewind: the changes that waited at commits which this line no longer has.

Git gives back the tree of the earlier point by itself. What was recorded later and never published still
waits, because nobody said that it should not; so it is asked. Set aside, it lies in the store as what it
was, and what had waited at this point waits again.
"""

from dataclasses import dataclass, replace

from holdfast.git import anchors, seen
from holdfast.git.clone import Clone
from holdfast.store import pending
from holdfast.store.pending import Change


@dataclass(frozen=True, slots=True)
class SetAside:
    """A change that waits no longer, and the earlier one that waits again in its place."""

    change: Change
    again: Change | None


def stranded(clone: Clone) -> list[Change]:
    """What waits here and was recorded at a commit that HEAD's history has neither kept nor rewritten."""
    if clone.repo.head().oid is None or clone.repo.operation():
        return []
    common = seen.shared(clone)
    kept = set(common.kept) if common else set()
    own = [
        c for c in clone.changes() if c.line == clone.line().id and c.segment is None and c.key not in kept
    ]
    away = {c.head for c in own if c.head and not _is_here(clone, c.head)}
    became = anchors.resolve(clone, away) if away else {}
    lost = {
        oid
        for oid, now in became.items()
        if now.state != "unknown" and not (now.commit and _is_here(clone, now.commit))
    }
    return [change for change in own if change.head in lost]


def _is_here(clone: Clone, oid: str) -> bool:
    return clone.repo.is_ancestor(oid, "HEAD")


def let_stay(clone: Clone, changes: list[Change]) -> None:
    """Somebody said that these changes belong here: they are not asked about again."""
    common = seen.shared(clone)
    if common is not None and changes:
        names = dict.fromkeys((*common.kept, *(change.key for change in changes)))
        seen.keep(clone, replace(common, kept=tuple(names)[-1000:]))


def set_aside(clone: Clone, changes: list[Change]) -> list[SetAside]:
    """Let changes wait no longer; each stays in the store, and what it had replaced here comes back."""
    line, now = clone.line().id, clone.now()
    replaced = [c for c in pending.published(clone.layout) if c.line == line and not _commit(c)]
    done = []
    for change in changes:
        before = [c for c in replaced if c.path == change.path and _waited_here(clone, c, change)]
        again = max(before, key=lambda c: (c.ts, c.name), default=None)
        if again is not None:
            again = pending.add(clone.layout, replace(again, published=None, ts=now))
        pending.archive(clone.layout, change, commit=None, ts=now)
        done.append(SetAside(change, again))
    return done


def _commit(change: Change) -> str:
    return (change.published or {}).get("commit", "")


def _waited_here(clone: Clone, earlier: Change, later: Change) -> bool:
    """Whether a change that was superseded had been recorded at a commit which is still in our history."""
    return earlier.ts < later.ts and earlier.head is not None and _is_here(clone, earlier.head)
