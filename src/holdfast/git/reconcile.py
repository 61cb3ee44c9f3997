"""Finds published files that history no longer has, and records that deleted branches left behind.

A revert or a filtered secret is the user's intent, so nothing is restored automatically: missing files are listed,
with the commit that deleted them if there is one, and only `publish --restore` brings them back. Changes that waited
on deleted branches, or that were published only there, are listed until they are carried or dropped; idle branches
are listed, too. A line is the id of a branch's work.

Lines that another clone recorded are adopted when its store is imported: a branch of the same name is the same
work, so its records become visible on that branch. Records of a branch that does not exist here stay orphans.
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
    """A file that this branch published and that its history no longer has."""

    change: PendingChange
    commit: str | None  # the commit that deleted it; None: history was rewritten

    @property
    def path(self) -> str:
        return self.change.path


@frozen
class OrphanLine:
    """What waits on a line whose branch or work tree is gone, or was published only there."""

    line: str
    refs: tuple[str, ...]
    changes: tuple[PendingChange, ...]
    events: tuple[Event, ...]
    foreign: bool = False  # its branch never was in this clone: another clone's store was imported
    published: tuple[PendingChange, ...] = ()  # changes that no branch has any more; only found `thoroughly`

    @property
    def name(self) -> str:
        return branch_lines.called(self.refs[-1])


@frozen
class HistoryReport:
    """The result of `examine`."""

    gone: tuple[LostPublication, ...]
    orphans: tuple[OrphanLine, ...]


def examine(clone: Clone, *, thoroughly: bool = False) -> HistoryReport:
    """Returns what is missing on this branch, and what deleted branches left behind."""
    # During a rebase or a merge only half of the history is here: what it lacks is not lost.
    left = tuple(orphans(clone, thoroughly=thoroughly))
    return HistoryReport(() if clone.repo.operation() else tuple(gone(clone)), left)


def gone(clone: Clone) -> list[LostPublication]:
    """Returns what this branch published and its history no longer has."""
    head = clone.repo.head().oid
    if head is None:
        return []
    missing = {change.path: (change, blob) for change, blob in _missing(clone, {clone.line().id})}
    rows = clone.repo.history("HEAD", list(missing)) if missing else []
    stands = {(path, blob) for _, path, blob in rows}
    deleted = {path: commit for commit, path, blob in reversed(rows) if blob is None}
    tree = clone.repo.blobs_at("HEAD", list(missing))
    # If the path still exists and our text is in its history, somebody changed it later.
    return [
        LostPublication(change, None if path in tree or clone.repo.is_shallow() else deleted.get(path))
        for path, (change, blob) in sorted(missing.items())
        if path not in tree or (path, blob) not in stands
    ]


def _missing(clone: Clone, lines: Collection[str]) -> list[tuple[PendingChange, str]]:
    """Returns each line's last published change of a path that HEAD lacks or has in an older version of that line."""
    tree, done = clone.repo.tree("HEAD", paths.TRACKED), pending_changes.published(clone.layout)
    # A change without a commit was superseded there.
    ours = (c for c in done if c.line in lines and (c.published or {}).get("commit"))
    published = grouped(((change.line, change.path), change) for change in ours)
    waiting, erased = {change.path for change in clone.changes()}, tuple(f"-{name}.md" for name in clone.erased())
    found = []
    for (_, path), (*before, last) in published.items():
        in_head = tree.get(path)
        if path in waiting or path.endswith(erased) or (in_head and last.segment):
            continue  # a segment's path is the hash of its content; `doctor` finds altered ones
        # The earlier versions that this line wrote or replaced; any other text is somebody's work.
        known = {None, last.base, *(oid for change in before for oid in (change.base, change.blob))}
        blob = clone.blob_of(last)
        if blob is not None and in_head != blob and in_head in known:
            found.append((last, blob))
    return found


def lost(clone: Clone) -> list[PendingChange]:
    """Returns the changes that `publish --restore` brings back."""
    tree = clone.repo.tree("HEAD", paths.TRACKED)
    return [replace(item.change, base=tree.get(item.path)) for item in gone(clone)]


def orphans(clone: Clone, *, thoroughly: bool = False) -> list[OrphanLine]:
    """Returns what waits on ended lines; `thoroughly`, which reads history, also what was published only there."""
    living = branch_lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    waiting = pending_changes.waiting(clone.layout)
    found, known, foreign = [], branch_lines.known(clone.layout), last_seen.names(clone, last_seen.FOREIGN)
    ended = [line for line in known.values() if line.id not in living and not line.dropped]
    alone = _published_alone(clone, {line.id for line in ended} - foreign) if thoroughly else {}
    for line in ended:
        inherited = _inherited_until(line, [known[name] for name in living & known.keys()])
        changes = tuple(c for c in waiting if c.line == line.id and c.ts > inherited)
        spools = seal.spools(clone.layout, line.id)
        events = tuple(e for path in spools for e in read_spool(path).events if e.ts > inherited)
        published = tuple(c for c in alone.get(line.id, ()) if c.path not in {waits.path for waits in changes})
        if changes or events or published:
            found.append(OrphanLine(line.id, line.refs, changes, events, line.id in foreign, published))
    return found


def _published_alone(clone: Clone, lines: Collection[str]) -> dict[str, list[PendingChange]]:
    """Returns what these lines published and no branch here or on a remote has in its history, by line."""
    repo = clone.repo
    if not lines or repo.head().oid is None or repo.operation() or repo.is_shallow():
        return {}
    missing = _missing(clone, lines)
    rows = repo.history("--branches --remotes HEAD", [change.path for change, _ in missing]) if missing else ()
    in_history = {(path, blob) for _, path, blob in rows}
    return grouped((change.line, change) for change, blob in missing if (change.path, blob) not in in_history)


def _inherited_until(line: branch_lines.KnownLine, living: list[branch_lines.KnownLine]) -> str:
    """Returns the time up to which a branch created on a detached HEAD inherited its records; empty if none did."""
    if not branch_lines.called(line.refs[-1]).startswith(branch_lines.DETACHED_NAME):
        return ""
    limits = (i.until for one in living for i in one.inherits if i.line == line.id)
    return max((until or "~" for until in limits), default="")


def carry(clone: Clone, name: str) -> OrphanLine:
    """Moves an orphan's waiting changes to the current line; its events keep their own line.

    A change that conflicts with one waiting here is not moved, and the orphan is listed again.
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
    """Stops listing an orphan; its records stay in the store until erased."""
    orphan = _find(clone, name)
    _mark_dropped(clone, orphan.line)
    return orphan


def _find(clone: Clone, name: str) -> OrphanLine:
    found = orphans(clone, thoroughly=True)
    exact = [o for o in found if o.line == name or name in (o.name, *o.refs)]
    fitting = exact or [o for o in found if o.line.startswith(name)]
    if len(fitting) > 1:
        raise Ambiguous(f"{name} matches {len(fitting)} deleted branches: {', '.join(o.line for o in fitting)}")
    if not fitting:
        raise NotFound(f"nothing waits on a deleted branch {name}", hint="`holdfast reconcile` lists them.")
    return fitting[0]


IDLE_DAYS = 30  # a guess: longer than a holiday


@frozen
class IdleBranch:
    """A branch without a commit or a reflog entry for some weeks."""

    branch: str
    last: str  # the time of its last commit or reflog entry
    merged: bool  # its commits are in the trunk


def idle_branches(clone: Clone, *, trunk: str | None = None, days: int = IDLE_DAYS) -> list[IdleBranch]:
    """Returns the branches without activity for some days, longest first; leaves out the trunk and checked-out ones."""
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
    arguments = ("for-each-ref", f"--merged={main}", "--format=%(refname)", "refs/heads")
    merged = set(repo.text(*arguments).split("\n") if found and main else ())
    return [
        IdleBranch(ref.removeprefix("refs/heads/"), timestamp(datetime.fromtimestamp(last, UTC)), ref in merged)
        for last, ref in sorted(found)
    ]


def adopt(clone: Clone, before: set[str]) -> list[str]:
    """Makes imported lines visible on branches of the same name here; returns the names of those branches."""
    known, configured = branch_lines.known(clone.layout), branch_lines.configured(clone.repo)
    mine = {ref: identity for ref, (identity, _) in configured.items() if identity in known}
    adopted = []
    imported = [line for identity, line in known.items() if identity not in before]
    foreign = last_seen.names(clone, last_seen.FOREIGN) | {line.id for line in imported}
    last_seen.keep_names(clone, last_seen.FOREIGN, foreign)
    for line in imported:
        home = mine.get(line.refs[-1], line.id)
        if home != line.id:
            wider = (*known[home].inherits, branch_lines.InheritedLine(line.id, None), *line.inherits)
            branch_lines.save(clone.layout, replace(known[home], inherits=tuple(dict.fromkeys(wider))))
            branch_lines.save(clone.layout, replace(line, dropped=True))
            adopted.append(line.refs[-1].removeprefix("refs/heads/"))
    clone.forget_line()
    return adopted
