"""Reconciling: what history did to what we published, and what branches left behind.

A revert and a filtered secret are the user's intent, so nothing returns to a tree by itself:
what is gone is listed, with the commit that deleted it if one did, and `publish --restore` is the
only way back. Orphans of deleted branches are listed until they are carried or dropped.
"""

import os
from dataclasses import dataclass, replace

from holdfast.errors import Ambiguous, NotFound
from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.git.lines import Inherit, Known
from holdfast.model.event import Event
from holdfast.store import layout as paths
from holdfast.store import pending, seal
from holdfast.store.log import read_spool
from holdfast.store.pending import Change


@dataclass(frozen=True, slots=True)
class Gone:
    """Something this line published that its history no longer holds."""

    change: Change
    commit: str | None  # the commit that deleted it; None: history was rewritten

    @property
    def path(self) -> str:
        return self.change.path


@dataclass(frozen=True, slots=True)
class Orphan:
    """What waits on a line whose branch or work tree is no more."""

    line: str
    refs: tuple[str, ...]
    changes: tuple[Change, ...]
    events: tuple[Event, ...]

    @property
    def name(self) -> str:
        return self.refs[-1].removeprefix("refs/heads/")


@dataclass(frozen=True, slots=True)
class Report:
    """What reconcile noticed."""

    gone: tuple[Gone, ...]
    orphans: tuple[Orphan, ...]


def examine(clone: Clone) -> Report:
    """What is gone from this line, and what other lines left behind."""
    return Report(tuple(gone(clone)), tuple(orphans(clone)))


def gone(clone: Clone) -> list[Gone]:
    """What this line published and its history no longer holds."""
    head = clone.repo.head().oid
    if head is None:
        return []
    line, tree = clone.line().id, clone.repo.tree("HEAD", paths.TRACKED)
    last = {c.path: c for c in pending.published(clone.layout) if c.line == line}
    waiting = {c.path for c in clone.changes()}
    erased = clone.erased()
    found = []
    for path, change in sorted(last.items()):
        blob = clone.blob_of(change)
        if path in waiting or blob is None or tree.get(path) == blob or _names(path, erased):
            continue
        if path in tree and clone.repo.holds(head, path, blob):
            continue  # somebody changed it later, in commits that stand on ours
        found.append(Gone(change, _deleting_commit(clone, path)))
    return found


def _names(path: str, erased: set[str]) -> bool:
    return any(path.endswith(f"-{identity}.md") for identity in erased)


def _deleting_commit(clone: Clone, path: str) -> str | None:
    if clone.repo.is_shallow():
        return None
    return clone.repo.text("log", "-1", "--diff-filter=D", "--format=%H", "HEAD", "--", path) or None


def lost(clone: Clone) -> list[Change]:
    """The changes `publish --restore` brings back."""
    tree = clone.repo.tree("HEAD", paths.TRACKED)
    return [replace(item.change, base=tree.get(item.path)) for item in gone(clone)]


def orphans(clone: Clone) -> list[Orphan]:
    """What waits on lines that are no more."""
    living = lines.alive(clone.repo) | {clone.line().id}
    waiting = pending.waiting(clone.layout)
    found = []
    for line in lines.known(clone.layout).values():
        if line.id in living or line.dropped:
            continue
        changes = tuple(change for change in waiting if change.line == line.id)
        events = tuple(e for path in seal.spools(clone.layout, line.id) for e in read_spool(path).events)
        if changes or events:
            found.append(Orphan(line.id, line.refs, changes, events))
    return found


def carry(clone: Clone, name: str) -> Orphan:
    """Let the current line see and publish what an orphan left; nothing is copied or changed."""
    orphan = _find(clone, name)
    known, here = lines.known(clone.layout), clone.line()
    mine = known.get(here.id) or Known(here.id, (here.ref or "",), clone.now(), here.inherits)
    lines.save(clone.layout, replace(mine, inherits=(*mine.inherits, Inherit(orphan.line, None))))
    lines.save(clone.layout, replace(known[orphan.line], dropped=True))
    clone.forget_line()
    return orphan


def drop(clone: Clone, name: str) -> Orphan:
    """Stop listing an orphan; its records stay in the store until erased."""
    orphan = _find(clone, name)
    known = lines.known(clone.layout)
    lines.save(clone.layout, replace(known[orphan.line], dropped=True))
    return orphan


def _find(clone: Clone, name: str) -> Orphan:
    found = orphans(clone)
    exact = [o for o in found if o.line == name or name in (o.name, *o.refs)]
    fitting = exact or [o for o in found if o.line.startswith(name)]
    if len(fitting) > 1:
        raise Ambiguous(f"{name} fits {len(fitting)} lines: {', '.join(o.line for o in fitting)}")
    if not fitting:
        raise NotFound(
            f"nothing waits on a deleted line called {name}", hint="`holdfast reconcile` lists them."
        )
    return fitting[0]


def stale_locks(clone: Clone) -> list[str]:
    """Git's own lock files; we never remove them, a person may have to."""
    return [p for p in (os.path.join(clone.repo.git_dir, "index.lock"),) if os.path.lexists(p)]
