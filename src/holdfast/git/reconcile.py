"""Reconciling: what history did to what we published, and what branches left behind.

A revert and a filtered secret are the user's intent, so nothing returns to a tree by itself:
what is gone is listed, with the commit that deleted it if one did, and `publish --restore` is the
only way back. Orphans of deleted branches are listed until they are carried or dropped.
"""

from holdfast.errors import Ambiguous, NotFound
from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.git.lines import Known
from holdfast.git.moved import seen
from holdfast.model.event import Event
from holdfast.store import fsio, pending, seal, tasks
from holdfast.store import layout as paths
from holdfast.store.log import read_spool
from holdfast.store.pending import Change
from holdfast.values import frozen, replace


@frozen
class Gone:
    """Something this line published that its history no longer holds."""

    change: Change
    commit: str | None  # the commit that deleted it; None: history was rewritten

    @property
    def path(self) -> str:
        return self.change.path


@frozen
class Orphan:
    """What waits on a line whose branch or work tree is no more."""

    line: str
    refs: tuple[str, ...]
    changes: tuple[Change, ...]
    events: tuple[Event, ...]
    foreign: bool = False  # its branch never was in this clone: another's store was brought here

    @property
    def name(self) -> str:
        return lines.called(self.refs[-1])


@frozen
class Report:
    """What reconcile noticed."""

    gone: tuple[Gone, ...]
    orphans: tuple[Orphan, ...]


def examine(clone: Clone) -> Report:
    """What is gone from this line, and what other lines left behind."""
    # In the middle of a rebase or a merge half a history is here: what it lacks is not gone.
    return Report(() if clone.repo.operation() else tuple(gone(clone)), tuple(orphans(clone)))


def gone(clone: Clone) -> list[Gone]:
    """What this line published and its history no longer holds."""
    head = clone.repo.head().oid
    if head is None:
        return []
    missing = _missing(clone)
    rows = clone.repo.history("HEAD", list(missing)) if missing else []
    stands = {(path, blob) for _, path, blob in rows}
    deleted = {path: commit for commit, path, blob in reversed(rows) if blob is None}
    tree = clone.repo.blobs_at("HEAD", list(missing))
    # Where the path is still there and our text is in its history, somebody changed it later.
    return [
        Gone(change, None if path in tree or clone.repo.is_shallow() else deleted.get(path))
        for path, (change, blob) in sorted(missing.items())
        if path not in tree or (path, blob) not in stands
    ]


def _missing(clone: Clone) -> dict[str, tuple[Change, str]]:
    """The last thing this line published for a path, where HEAD's tree has none or an older one of ours."""
    line, tree = clone.line().id, clone.repo.tree("HEAD", paths.TRACKED)
    published: dict[str, list[Change]] = {}
    for change in pending.published(clone.layout):
        if change.line == line and (change.published or {}).get("commit"):  # else it was superseded here
            published.setdefault(change.path, []).append(change)
    waiting, erased = {change.path for change in clone.changes()}, clone.erased()
    found = {}
    for path, changes in published.items():
        there = tree.get(path)
        if path in waiting or _names(path, erased) or (there and changes[-1].segment):
            continue  # a segment's path is its content's name; `doctor` finds what was altered
        blob = clone.blob_of(changes[-1])
        if blob is None or there == blob:
            continue
        if there is None or there in _earlier(changes):
            found[path] = (changes[-1], blob)
    return found


def _earlier(changes: list[Change]) -> set[str | None]:
    """What a path was before its last change, as far as we had a hand in it; any other text is somebody's."""
    return {changes[-1].base, *(oid for change in changes[:-1] for oid in (change.base, change.blob))}


def _names(path: str, erased: set[str]) -> bool:
    return any(path.endswith(f"-{identity}.md") for identity in erased)


def lost(clone: Clone) -> list[Change]:
    """The changes `publish --restore` brings back."""
    tree = clone.repo.tree("HEAD", paths.TRACKED)
    return [replace(item.change, base=tree.get(item.path)) for item in gone(clone)]


def orphans(clone: Clone) -> list[Orphan]:
    """What waits on lines that are no more."""
    living = lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    waiting = pending.waiting(clone.layout)
    found, known, foreign = [], lines.known(clone.layout), seen.names(clone, seen.FOREIGN)
    for line in known.values():
        if line.id in living or line.dropped:
            continue
        taken = _taken_along(line, [known[name] for name in living & known.keys()])
        changes = tuple(c for c in waiting if c.line == line.id and c.ts > taken)
        spools = seal.spools(clone.layout, line.id)
        events = tuple(e for path in spools for e in read_spool(path).events if e.ts > taken)
        if changes or events:
            found.append(Orphan(line.id, line.refs, changes, events, line.id in foreign))
    return found


def _taken_along(line: Known, living: list[Known]) -> str:
    """Up to when a branch that was made on a detached HEAD took along what waited there."""
    if not lines.called(line.refs[-1]).startswith(lines.DETACHED_NAME):
        return ""
    limits = (i.until for one in living for i in one.inherits if i.line == line.id)
    return max((until or "~" for until in limits), default="")


def carry(clone: Clone, name: str) -> Orphan:
    """Let what an orphan left wait on the current line instead; its events keep the line they are of.

    A change that clashes with one waiting here stays behind, and the orphan is listed again.
    """
    clone.repo.refuse_in_hook_of_publish()
    with fsio.locked(clone.layout.lock, wait=60.0):
        orphan = _find(clone, name)
        here, head, now = clone.line(), clone.repo.head().oid, clone.now()
        seal.seal(clone.layout, orphan.line, head=head, ts=now, owner=here.id)
        moved = [_move(clone, change) for change in orphan.changes]
        if all(moved):
            _mark_dropped(clone, orphan.line)
    return orphan


def _move(clone: Clone, change: Change) -> bool:
    line = clone.line()
    mine = {c.path: c for c in clone.changes()}.get(change.path)
    if mine is not None and mine.segment is None and mine.blob != change.blob:
        merged = tasks.merge(change.path, _base_text(clone, change), mine.text or "", change.text or "")
        if not isinstance(merged, str) or mine.text is None or change.text is None:
            return False
        clone.change(change.path, merged)
    elif mine is None:
        pending.add(clone.layout, replace(change, line=line.id, ts=clone.now()))
    pending.archive(clone.layout, change, commit=None, ts=clone.now())
    return True


def _base_text(clone: Clone, change: Change) -> str:
    return clone.repo.blobs([change.base] if change.base else []).get(change.base or "", b"").decode("utf-8")


def _mark_dropped(clone: Clone, line: str) -> None:
    lines.save(clone.layout, replace(lines.known(clone.layout)[line], dropped=True))


def drop(clone: Clone, name: str) -> Orphan:
    """Stop listing an orphan; its records stay in the store until erased."""
    orphan = _find(clone, name)
    _mark_dropped(clone, orphan.line)
    return orphan


def _find(clone: Clone, name: str) -> Orphan:
    found = orphans(clone)
    exact = [o for o in found if o.line == name or name in (o.name, *o.refs)]
    fitting = exact or [o for o in found if o.line.startswith(name)]
    if len(fitting) > 1:
        raise Ambiguous(f"{name} fits {len(fitting)} lines: {', '.join(o.line for o in fitting)}")
    if not fitting:
        raise NotFound(f"nothing waits on a deleted line called {name}", hint="`holdfast reconcile` lists them.")
    return fitting[0]
