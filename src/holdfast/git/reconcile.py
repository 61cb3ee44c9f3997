"""Reconciling: what history did to what we published, and what branches left behind.

A revert and a filtered secret are the user's intent, so nothing returns to a tree by itself: what is gone is listed,
with the commit that deleted it if one did, and `publish --restore` is the only way back. What deleted branches left
waiting, or published where no branch has it any more, is listed until it is carried or dropped; branches that nobody
has touched for a while are listed too.

Lines that another clone recorded are adopted when its store is brought here: a branch of the same name is the same
work, so its records become visible on that branch. What belongs to a branch that is not here stays an orphan.
"""

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from holdfast.errors import Ambiguous, NotFound
from holdfast.git import branch_lines, last_seen, reflog
from holdfast.git.clone import Clone
from holdfast.model.event import Event, timestamp
from holdfast.store import fsio, pending_changes, seal, task_files
from holdfast.store import layout as paths
from holdfast.store.log import read_spool
from holdfast.store.pending_changes import PendingChange
from holdfast.values import frozen, grouped, replace


@frozen
class LostPublication:
    """Something this line published that its history no longer holds."""

    change: PendingChange
    commit: str | None  # the commit that deleted it; None: history was rewritten

    @property
    def path(self) -> str:
        return self.change.path


@frozen
class OrphanLine:
    """What waits on a line whose branch or work tree is no more, or was published there alone."""

    line: str
    refs: tuple[str, ...]
    changes: tuple[PendingChange, ...]
    events: tuple[Event, ...]
    foreign: bool = False  # its branch never was in this clone: another's store was brought here
    published: tuple[PendingChange, ...] = ()  # and no branch has it any more; only a thorough look tells

    @property
    def name(self) -> str:
        return branch_lines.called(self.refs[-1])


@frozen
class HistoryReport:
    """What reconcile noticed."""

    gone: tuple[LostPublication, ...]
    orphans: tuple[OrphanLine, ...]


def examine(clone: Clone, *, thoroughly: bool = False) -> HistoryReport:
    """What is gone from this line, and what other lines left behind."""
    # In the middle of a rebase or a merge half a history is here: what it lacks is not gone.
    left = tuple(orphans(clone, thoroughly=thoroughly))
    return HistoryReport(() if clone.repo.operation() else tuple(gone(clone)), left)


def gone(clone: Clone) -> list[LostPublication]:
    """What this line published and its history no longer holds."""
    head = clone.repo.head().oid
    if head is None:
        return []
    missing = {change.path: (change, blob) for change, blob in _missing(clone, {clone.line().id})}
    rows = clone.repo.history("HEAD", list(missing)) if missing else []
    stands = {(path, blob) for _, path, blob in rows}
    deleted = {path: commit for commit, path, blob in reversed(rows) if blob is None}
    tree = clone.repo.blobs_at("HEAD", list(missing))
    # Where the path is still there and our text is in its history, somebody changed it later.
    return [
        LostPublication(change, None if path in tree or clone.repo.is_shallow() else deleted.get(path))
        for path, (change, blob) in sorted(missing.items())
        if path not in tree or (path, blob) not in stands
    ]


def _missing(clone: Clone, lines: Collection[str]) -> list[tuple[PendingChange, str]]:
    """The last thing that each line published for a path, where HEAD's tree has none or an older one of theirs."""
    tree, done = clone.repo.tree("HEAD", paths.TRACKED), pending_changes.published(clone.layout)
    # Without a commit it was superseded there.
    ours = (c for c in done if c.line in lines and (c.published or {}).get("commit"))
    published = grouped(((change.line, change.path), change) for change in ours)
    waiting, erased = {change.path for change in clone.changes()}, tuple(f"-{name}.md" for name in clone.erased())
    found = []
    for (_, path), (*before, last) in published.items():
        there = tree.get(path)
        if path in waiting or path.endswith(erased) or (there and last.segment):
            continue  # a segment's path is its content's name; `doctor` finds what was altered
        # What the path was before, as far as we had a hand in it; any other text is somebody's.
        known = {None, last.base, *(oid for change in before for oid in (change.base, change.blob))}
        blob = clone.blob_of(last)
        if blob is not None and there != blob and there in known:
            found.append((last, blob))
    return found


def lost(clone: Clone) -> list[PendingChange]:
    """The changes `publish --restore` brings back."""
    tree = clone.repo.tree("HEAD", paths.TRACKED)
    return [replace(item.change, base=tree.get(item.path)) for item in gone(clone)]


def orphans(clone: Clone, *, thoroughly: bool = False) -> list[OrphanLine]:
    """What waits on lines that are no more; `thoroughly`, which reads history, also what was published there alone."""
    living = branch_lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    waiting = pending_changes.waiting(clone.layout)
    found, known, foreign = [], branch_lines.known(clone.layout), last_seen.names(clone, last_seen.FOREIGN)
    ended = [line for line in known.values() if line.id not in living and not line.dropped]
    alone = _published_alone(clone, {line.id for line in ended} - foreign) if thoroughly else {}
    for line in ended:
        taken = _taken_along(line, [known[name] for name in living & known.keys()])
        changes = tuple(c for c in waiting if c.line == line.id and c.ts > taken)
        spools = seal.spools(clone.layout, line.id)
        events = tuple(e for path in spools for e in read_spool(path).events if e.ts > taken)
        published = tuple(c for c in alone.get(line.id, ()) if c.path not in {waits.path for waits in changes})
        if changes or events or published:
            found.append(OrphanLine(line.id, line.refs, changes, events, line.id in foreign, published))
    return found


def _published_alone(clone: Clone, lines: Collection[str]) -> dict[str, list[PendingChange]]:
    """What these lines published and no branch here or on a remote holds in its history, by line."""
    repo = clone.repo
    if not lines or repo.head().oid is None or repo.operation() or repo.is_shallow():
        return {}
    missing = _missing(clone, lines)
    rows = repo.history("--branches --remotes HEAD", [change.path for change, _ in missing]) if missing else ()
    there = {(path, blob) for _, path, blob in rows}
    return grouped((change.line, change) for change, blob in missing if (change.path, blob) not in there)


def _taken_along(line: branch_lines.KnownLine, living: list[branch_lines.KnownLine]) -> str:
    """Up to when a branch that was made on a detached HEAD took along what waited there."""
    if not branch_lines.called(line.refs[-1]).startswith(branch_lines.DETACHED_NAME):
        return ""
    limits = (i.until for one in living for i in one.inherits if i.line == line.id)
    return max((until or "~" for until in limits), default="")


def carry(clone: Clone, name: str) -> OrphanLine:
    """Let what an orphan left wait on the current line instead; its events keep the line they are of.

    A change that clashes with one waiting here stays behind, and the orphan is listed again.
    """
    clone.repo.refuse_in_hook_of_publish()
    with fsio.locked(clone.layout.lock, wait=60.0):
        orphan = _find(clone, name)
        here, head, now = clone.line(), clone.repo.head().oid, clone.now()
        seal.seal(clone.layout, orphan.line, head=head, ts=now, owner=here.id)
        moved = [_move(clone, change) for change in orphan.changes]
        tree = clone.repo.tree("HEAD", paths.TRACKED)
        for change in orphan.published:
            again = replace(change, line=here.id, ts=now, base=tree.get(change.path), published=None)
            pending_changes.add(clone.layout, again)
        if all(moved):
            _mark_dropped(clone, orphan.line)
    return orphan


def _move(clone: Clone, change: PendingChange) -> bool:
    line = clone.line()
    mine = {c.path: c for c in clone.changes()}.get(change.path)
    if mine is not None and mine.segment is None and mine.blob != change.blob:
        base = clone.repo.blobs([change.base] if change.base else []).get(change.base or "", b"").decode("utf-8")
        merged = task_files.merge(change.path, base, mine.text or "", change.text or "")
        if not isinstance(merged, str) or mine.text is None or change.text is None:
            return False
        clone.change(change.path, merged)
    elif mine is None:
        pending_changes.add(clone.layout, replace(change, line=line.id, ts=clone.now()))
    pending_changes.archive(clone.layout, change, commit=None, ts=clone.now())
    return True


def _mark_dropped(clone: Clone, line: str) -> None:
    branch_lines.save(clone.layout, replace(branch_lines.known(clone.layout)[line], dropped=True))


def drop(clone: Clone, name: str) -> OrphanLine:
    """Stop listing an orphan; its records stay in the store until erased."""
    orphan = _find(clone, name)
    _mark_dropped(clone, orphan.line)
    return orphan


def _find(clone: Clone, name: str) -> OrphanLine:
    found = orphans(clone, thoroughly=True)
    exact = [o for o in found if o.line == name or name in (o.name, *o.refs)]
    fitting = exact or [o for o in found if o.line.startswith(name)]
    if len(fitting) > 1:
        raise Ambiguous(f"{name} fits {len(fitting)} lines: {', '.join(o.line for o in fitting)}")
    if not fitting:
        raise NotFound(f"nothing waits on a deleted line called {name}", hint="`holdfast reconcile` lists them.")
    return fitting[0]


IDLE_DAYS = 30


@frozen
class IdleBranch:
    """A branch without a commit or a move for some weeks."""

    branch: str
    last: str  # when something last happened on it
    merged: bool  # its commits are in the trunk


def idle_branches(clone: Clone, *, trunk: str | None = None, days: int = IDLE_DAYS) -> list[IdleBranch]:
    """The branches with no activity for some days, longest first; none that is checked out, nor the trunk."""
    repo, main = clone.repo, clone.repo.trunk(trunk)
    rows = repo.text("for-each-ref", "--format=%(committerdate:unix) %(refname)", "refs/heads").split("\n")
    used = {repo.ref_of(git_dir) for git_dir in repo.worktrees()} | {main}
    limit = (clone.clock() - timedelta(days=days)).timestamp()
    found = []
    for when, _, ref in (row.partition(" ") for row in rows):
        if ref and ref not in used:
            log = reflog.read(repo.common_dir, ref)
            last = max(int(when or 0), log[-1].time if log else 0)
            if last < limit:
                found.append((last, ref))
    asked = ("for-each-ref", f"--merged={main}", "--format=%(refname)", "refs/heads")
    merged = set(repo.text(*asked).split("\n") if found and main else ())
    return [
        IdleBranch(ref.removeprefix("refs/heads/"), timestamp(datetime.fromtimestamp(last, UTC)), ref in merged)
        for last, ref in sorted(found)
    ]


def adopt(clone: Clone, before: set[str]) -> list[str]:
    """Let branches here see what lines of the same name brought; gives the names of those branches."""
    known, configured = branch_lines.known(clone.layout), branch_lines.configured(clone.repo)
    mine = {ref: identity for ref, (identity, _) in configured.items() if identity in known}
    adopted = []
    brought = [line for identity, line in known.items() if identity not in before]
    foreign = last_seen.names(clone, last_seen.FOREIGN) | {line.id for line in brought}
    last_seen.keep_names(clone, last_seen.FOREIGN, foreign)
    for line in brought:
        home = mine.get(line.refs[-1], line.id)
        if home != line.id:
            wider = (*known[home].inherits, branch_lines.InheritedLine(line.id, None), *line.inherits)
            branch_lines.save(clone.layout, replace(known[home], inherits=tuple(dict.fromkeys(wider))))
            branch_lines.save(clone.layout, replace(line, dropped=True))
            adopted.append(line.refs[-1].removeprefix("refs/heads/"))
    clone.forget_line()
    return adopted
