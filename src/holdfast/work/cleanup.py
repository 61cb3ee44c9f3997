"""What goes by command: `prune` deletes by age what nobody needs, `reset` takes sessions, tasks or all caches away.

Prune says first what and how much: ended sessions with nothing left open, claims that ended long ago, what lies in
the trash, and what is remembered of commits that nothing cites. A commit counts as cited if its id stands in any
record of this clone or in any version of an entry that some ref or reflog reaches. A session with open items is never
pruned, nor what was published, memories, the log and runs.

A reset can be undone. Sessions and claims move to the trash. Tasks and links are tracked files: for each one a
deletion waits on this line, as if somebody had deleted it by hand; its text stays in history, in the store and in the
trash.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import chain

from holdfast.errors import BadInput, CorruptLog, FutureFormat, NotFound, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.git import branch_lines, visible_entries
from holdfast.git.cited_commits import anchor_store
from holdfast.git.clone import Clone
from holdfast.model.event import timestamp
from holdfast.model.session import Session
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records, pending_changes, session_files, task_files, trash
from holdfast.store import layout as paths
from holdfast.store.pending_changes import PendingChange
from holdfast.store.trash import TrashedReset, TrashedText
from holdfast.values import frozen, replace
from holdfast.work import task_board, task_claims

_OID = regex(rb"(?<![0-9a-f])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-f])")
_FOLDERS = (paths.MEMORY, paths.TASKS, paths.LINKS)
_CITING_LIMIT = 1 << 28  # bytes; a guess: more is no file of ours


def uncited_anchors(clone: Clone, *, before: str) -> dict[str, str]:
    """The commits remembered here, made before a moment, that nothing cites; each with when it was made."""
    layout, old = clone.layout, {}
    for name in layout.listed(layout.anchors):
        if name.endswith(".jsonl"):
            for oid, record in anchor_store._records(layout, os.path.join(layout.anchors, name)).items():
                made = record.get("committed")
                if type(made) is int and 0 <= made < 1 << 37:
                    old[oid] = timestamp(datetime.fromtimestamp(made, UTC))
    old = {oid: made for oid, made in old.items() if made < before}
    texts = chain(_records(clone.stores), _entries(clone)) if old else ()
    cited = {match.decode("ascii") for data in texts for match in _OID.findall(data)}
    return {oid: made for oid, made in old.items() if oid not in cited}


def forget_anchors(layout: paths.Layout, oids: Collection[str]) -> None:
    """Remember these commits no longer."""
    if not oids:
        return
    with fsio.locked(os.path.join(layout.anchors, "lock")):
        for path in sorted({anchor_store._shard(layout, oid) for oid in oids}):
            rows = anchor_store._records(layout, path)
            left = [anchor_store._row(rows[oid]) for oid in sorted(rows) if oid not in oids]
            if len(left) < len(rows):
                fsio.replace(path, b"".join(left))


def _records(stores: Iterable[paths.Layout]) -> Iterator[bytes]:
    for store in stores:
        tops = (store.sessions, store.claims, store.pending, store.sealed_changes, store.bodies)
        for top in (*tops, store.candidates, store.trash, store.kept, store.rewrites, store.seen):
            below = [os.path.join(folder, name) for folder, _, names in os.walk(top) for name in names]
            files = [top] if os.path.isfile(top) else below
            yield from (loose_records.content(path, limit=_CITING_LIMIT) for path in files)


def _entries(clone: Clone) -> Iterator[bytes]:
    """Every version of every entry that a ref or a reflog reaches, and what lies in the work tree."""
    listed = clone.repo.run("rev-list", "--all", "--reflog", "--objects", "--", *_FOLDERS)
    rows = (row.partition(b" ") for row in listed.split(b"\n"))
    yield from clone.repo.blobs([oid.decode("ascii") for oid, _, name in rows if name.endswith(b".md")]).values()
    for folder in _FOLDERS:
        for sighting in clone.entries(folder):
            yield from (text.encode("utf-8", "replace") for text in (sighting.text, sighting.edited) if text)


USUAL = "90d"
TRASH_DAYS = 30  # a guess: who misses something misses it within a month
_AGE = regex(r"(\d{1,5})([dwy])", re.ASCII)
_DAYS = {"d": 1, "w": 7, "y": 365}


@frozen
class PrunableItem:
    """One thing that may go."""

    kind: str  # "session", "claim", "trash" or "anchor"
    id: str
    since: str  # when it ended, was taken away or was made
    size: int


@frozen
class PruneResult:
    """What went, or would go, and the old sessions that stay because something in them is open."""

    before: str
    spares: tuple[PrunableItem, ...]
    kept: tuple[str, ...]
    done: bool

    @property
    def size(self) -> int:
        return sum(spare.size for spare in self.spares)


def age(text: str) -> timedelta:
    """The span that `90d`, `12w` or `1y` means."""
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text[:40]!r} is no age", hint="Write 90d, 12w or 1y.")
    return timedelta(days=int(match[1]) * _DAYS[match[2]])


def prune(clone: Clone, *, older_than: str = USUAL, dry_run: bool = False) -> PruneResult:
    """Delete what is older than an age and needed by nobody; with `dry_run` only say what that is."""
    clone.repo.refuse_in_hook_of_publish()
    layout, now, span = clone.layout, clone.clock(), age(older_than)
    try:
        before, bin_before = timestamp(now - span), timestamp(now - min(span, timedelta(days=TRASH_DAYS)))
    except OverflowError:
        raise BadInput("that is before the calendar begins", hint="Write 90d, 12w or 1y.") from None
    if dry_run:
        return _survey(clone, before, bin_before)
    with fsio.locked(layout.lock, wait=60.0):
        found = _survey(clone, before, bin_before)
        for name in _ids(found, "session"):
            with session_files.locked(layout):
                _remove_if_still_ended(layout, name)
        task_claims.sweep(layout, before=before)
        bins = {one.name: one for one in trash.every(layout)}
        for name in _ids(found, "trash"):
            trash.discard(layout, bins[name])
        forget_anchors(layout, set(_ids(found, "anchor")))
    return replace(found, done=True)


def _survey(clone: Clone, before: str, bin_before: str) -> PruneResult:
    layout = clone.layout
    old = [one for one in session_files.all(layout) if one.ended is not None and one.ended.ts < before]
    spares = [_session(layout, one) for one in old if not has_open(one)]
    spares += [PrunableItem("claim", one.task, one.until, 0) for one in task_claims.every(layout) if one.until < before]
    spares += [
        PrunableItem("trash", one.name, one.ts, trash.size(layout, one))
        for one in trash.every(layout)
        if one.ts < bin_before
    ]
    spares += [PrunableItem("anchor", oid, ts, 0) for oid, ts in uncited_anchors(clone, before=before).items()]
    return PruneResult(before, tuple(spares), tuple(one.id for one in old if has_open(one)), done=False)


def has_open(session: Session) -> bool:
    """Whether something in a session still waits for somebody."""
    return bool(session.still_open or session.still_to_follow or session.pending)


def _session(layout: paths.Layout, session: Session) -> PrunableItem:
    size = os.path.getsize(session_files.path_of(layout, session.id))
    return PrunableItem("session", session.id, session.ended.ts if session.ended else "", size)


def _remove_if_still_ended(layout: paths.Layout, name: str) -> None:
    """Somebody may have opened it again since it was looked at."""
    try:
        path = session_files.path_of(layout, name)
        now = session_files.read(path)
    except (NotFound, FileNotFoundError, CorruptLog, FutureFormat):
        return
    if now.state == "ended" and not has_open(now):
        fsio.remove(path)


def _ids(found: PruneResult, kind: str) -> list[str]:
    return [spare.id for spare in found.spares if spare.kind == kind]


@frozen
class ResetResult:
    """What a reset took away."""

    id: str  # by which the trash knows it
    what: str
    sessions: int
    claims: int
    tasks: int
    links: int
    more: int  # other files: statistics, kept texts, views


@frozen
class UndoneReset(ResetResult):
    """What came back, and what could not because something else stands there by now."""

    left: tuple[str, ...]


def reset(clone: Clone, what: str) -> ResetResult:
    """Take sessions, tasks or all caches away, durable on return; killed in between, the next one goes on."""
    if what not in trash.WHATS:
        raise BadInput(f"{what!r} cannot be reset", hint=f"Name one of {', '.join(trash.WHATS)}.")
    _refuse_sandbox(clone)
    with fsio.locked(clone.layout.lock, wait=60.0):
        layout, line, head = clone.layout, clone.line(), clone.repo.head()
        under_way = trash.begin(layout, what, ts=clone.now(), line=line.id, branch=head.branch)
        gone = _take_nodes(clone, under_way) if what in ("tasks", "all") else []
        claims = trash.take(layout, under_way, _files(layout, layout.claims))
        moved = more = 0
        if what in ("sessions", "all"):
            with session_files.locked(layout):  # nobody notes a turn meanwhile
                moved = trash.take(layout, under_way, [n for n in _files(layout, layout.sessions) if "-SES-" in n])
        if what == "all":
            more = trash.take(layout, under_way, [*_files(layout, layout.kept), *paths.STATISTICS])
            more += drop_views(layout)
        trash.finish(layout, under_way)
        trash.tidy(layout)
    in_links = sum(text.path.startswith(paths.LINKS + "/") for text in gone)
    return ResetResult(under_way.name, what, moved, claims, len(gone) - in_links, in_links, more)


def undo(clone: Clone) -> UndoneReset:
    """Bring back what the last reset took away, as far as nothing else has taken its place."""
    _refuse_sandbox(clone)
    with fsio.locked(clone.layout.lock, wait=60.0):
        # The reset to take back; tasks go back to the line they were taken from.
        known = [reset for reset in trash.every(clone.layout) if trash.holds_something(clone.layout, reset)]
        if not known:
            raise NotFound("there is no reset to undo", hint="`holdfast reset --help` says what can be.")
        last = known[-1]
        elsewhere = trash.texts(clone.layout, last) and not clone.line().sees(last.line, last.ts)
        # If its branch is gone, anywhere will do.
        if elsewhere and last.line in branch_lines.alive(clone.repo, *clone.stores):
            hint = f"Switch there first: git switch {last.branch}" if last.branch else "Check it out first."
            raise BadInput(f"that reset took tasks off {last.branch or 'a detached HEAD'}", hint=hint)
        back, left = _put_nodes_back(clone, trash.texts(clone.layout, last))
        with session_files.locked(clone.layout):
            files, taken = trash.put_back(clone.layout, last)
        trash.let_go(clone.layout, last)  # what could not go back stays in the trash until it is pruned
        trash.tidy(clone.layout)
    in_links = sum(text.path.startswith(paths.LINKS + "/") for text in back)
    moved = sum(name.startswith("sessions/") for name in files)
    claims = sum(name.startswith("claims/") for name in files)
    tasks, more = len(back) - in_links, len(files) - moved - claims
    return UndoneReset(last.name, last.what, moved, claims, tasks, in_links, more, (*left, *taken))


def _refuse_sandbox(clone: Clone) -> None:
    clone.repo.refuse_in_hook_of_publish()
    if clone.layout.private != clone.private.private:
        raise ReadOnlyStore("inside a sandbox only part of the store can be seen", hint="Run it outside the sandbox.")


def _files(layout: paths.Layout, folder: str) -> list[str]:
    """The records in a folder of the store, by their names in it; locks stay where they are."""
    names = [name for name in layout.listed(folder) if not name.endswith((".lock", ".tmp"))]
    return [f"{os.path.basename(folder)}/{name}" for name in names]


def drop_views(layout: paths.Layout) -> int:
    """Delete the rendered views of this work tree; they are rendered again when wanted."""
    gone = 0
    for folder, _, names in os.walk(layout.view()):
        for name in names:
            if name != ".gitignore":
                fsio.remove(os.path.join(folder, name))
                gone += 1
    return gone


def _take_nodes(clone: Clone, under_way: TrashedReset) -> list[TrashedText]:
    """Let a deletion wait for each path that HEAD has; what was never published just waits no longer.

    As `Clone.change` does it, but the store is read once, not once a task.
    """
    seen, waiting, tree = task_board.sightings(clone).values(), _waiting(clone), _tree(clone)
    found = [text for sighting in seen if (text := _as_text(sighting, waiting)) is not None]
    trash.keep_texts(clone.layout, under_way, found)  # before the first of them goes
    for text in found:
        if text.path in tree:
            _wait(clone, text.path, base=tree[text.path], blob=None, text=None)
        _settle(clone, text, waiting, {})
    _pass_by(clone, found, waiting)
    return found


def _as_text(sighting: visible_entries.Sighting, waiting: dict[str, list[PendingChange]]) -> TrashedText | None:
    """A node as the trash keeps it; None if the file cannot be read: what nobody understands stays."""
    node = task_board.node_of(sighting.path, sighting.text)
    if node is None:
        return None
    changes = waiting.get(sighting.path, [])
    base = changes[-1].base if sighting.origin == "pending" and changes else None
    text = changes[-1].text if base and changes[-1].text is not None else sighting.text
    return TrashedText(node.id, sighting.path, text, sighting.blob, sighting.origin, base)


def _waiting(clone: Clone) -> dict[str, list[PendingChange]]:
    """What waits on this line for each path of a task or a link, oldest first."""
    found: dict[str, list[PendingChange]] = {}
    for change in visible_entries.waiting_changes(clone.stores, clone.line()):
        if change.path.startswith((paths.TASKS + "/", paths.LINKS + "/")):
            found.setdefault(change.path, []).append(change)
    return found


def _tree(clone: Clone) -> dict[str, str]:
    return clone.repo.tree("HEAD", paths.TASKS) | clone.repo.tree("HEAD", paths.LINKS)


def _wait(clone: Clone, path: str, *, base: str | None, blob: str | None, text: str | None) -> None:
    head = clone.repo.head().oid
    pending_changes.add(clone.layout, PendingChange(path, base, blob, clone.line().id, head, clone.now(), text))


def _settle(clone: Clone, text: TrashedText, waiting: dict[str, list[PendingChange]], more: dict[str, str]) -> None:
    """Own changes wait no longer, but are kept; the log says what happened to the node."""
    for change in waiting.get(text.path, ()):
        if change.line == clone.line().id and change.published is None:
            pending_changes.archive(clone.layout, change, commit=None, ts=clone.now())
    parse = task_files.parse if text.path.startswith(paths.TASKS + "/") else task_files.parse_link
    clone.record(task_board.event_of(parse(text.text, text.path), action="reset", more=more))


def _pass_by(clone: Clone, texts: Sequence[TrashedText], waiting: dict[str, list[PendingChange]]) -> None:
    """Inherited changes wait elsewhere still; this line has dealt with them."""
    line = clone.line().id
    keys = [change.key for text in texts for change in waiting.get(text.path, ()) if change.line != line]
    branch_lines.pass_by(clone.layout, line, keys, ts=clone.now())
    clone.forget_line()


def _put_nodes_back(clone: Clone, kept: Sequence[TrashedText]) -> tuple[list[TrashedText], list[str]]:
    """Take the deletions back, and let what had been waiting wait again, on what it stood on."""
    here, gone = task_board.sightings(clone) if kept else {}, clone.erased()
    taken = {node.id for s in here.values() if (node := task_board.node_of(s.path, s.text))}
    back, left = [], []
    for text in kept:
        there = here.get(text.path)
        if text.id in gone or (there is not None and there.blob == text.blob):
            continue  # erased since, or back already
        if there is not None or text.id in taken:
            left.append(f"{text.id}, which says something else by now")
        else:
            back.append(text)
    waiting, tree = _waiting(clone), _tree(clone)
    for text in back:
        if not _stands(clone, text, tree.get(text.path)):
            blob = clone.repo.hash_blob(text.text.encode("utf-8"))
            base = text.base if text.origin == "pending" else tree.get(text.path)
            _wait(clone, text.path, base=base, blob=blob, text=text.text)
        _settle(clone, text, waiting, {"reason": "taken back"})
    _pass_by(clone, back, waiting)
    return back, left


def _stands(clone: Clone, text: TrashedText, in_tree: str | None) -> bool:
    """Whether nothing need wait: the branch's own text is the one, or the hand edit still lies there."""
    if text.origin == "tree":
        return in_tree is not None
    if text.origin != "edit":
        return False
    try:
        data = fsio.read(fsio.inside(clone.repo.top, text.path), limit=visible_entries.MAX_ENTRY)
    except (OSError, TooLarge, UnsafePath):
        return False
    return data.replace(b"\r\n", b"\n") == text.text.encode("utf-8")
