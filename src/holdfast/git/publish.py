"""Publishing: what waits on this line becomes a commit of its own, and nothing else moves.

It is a deliberate act, never a hook's. Every step is written to a journal first, so that a crash
at any instant is undone or finished by the next command; a refusal puts index and files back.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from holdfast.errors import CorruptLog, GitFailed, HookRefused, HookRewrote, OnTrunk, PublishRefused
from holdfast.git import reconcile
from holdfast.git.clone import Clone
from holdfast.git.visible import Sighting
from holdfast.model.event import Event
from holdfast.store import fsio, pending, seal
from holdfast.store import layout as paths
from holdfast.store.pending import Change

_NO_OID = "0" * 40


@dataclass(frozen=True, slots=True)
class Item:
    """One path to publish: what it becomes, what it was, and the changes that ask for it."""

    path: str
    data: bytes | None  # None: the path goes away
    blob: str | None
    head_blob: str | None
    index: str | None  # git's index entry before us, "<mode> <oid>"
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Kept:
    """A change that was not published, and why; it still waits."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Published:
    """What a publish did."""

    commit: str | None
    paths: tuple[str, ...]
    events: int
    kept: tuple[Kept, ...]
    staged: bool


def publish(
    clone: Clone,
    *,
    stage: bool = False,
    here: bool = False,
    restore: bool = False,
    trunk: str | None = None,
    message: str | None = None,
) -> Published:
    """Seal this line's events, write its waiting files, and commit exactly them."""
    _refuse_while_busy(clone)
    if not here and not stage:
        _refuse_on_trunk(clone, trunk)
    with fsio.locked(clone.layout.lock, wait=60.0):
        recover(clone)
        events = _seal(clone)
        changes = [*clone.changes(), *(reconcile.lost(clone) if restore else ())]
        items, kept = _plan(clone, changes)
        if not items:
            return Published(None, (), 0, tuple(kept), stage)
        commit = _carry_out(clone, items, stage=stage, message=message or _message(items, events))
    return Published(commit, tuple(item.path for item in items), events, tuple(kept), stage)


def _refuse_while_busy(clone: Clone) -> None:
    operation = clone.repo.operation()
    if operation:
        raise PublishRefused(f"git is in the middle of {operation}")
    if clone.repo.head().ref is None:
        raise PublishRefused(
            "HEAD is detached: there is no branch to publish on", hint="Switch to a branch first."
        )


def _refuse_on_trunk(clone: Clone, setting: str | None) -> None:
    """People expect trunk to move by pull requests; publishing there must be asked for."""
    upstream = clone.repo.text(
        "rev-parse", "--symbolic-full-name", "-q", "--verify", "@{upstream}", ok=(0, 1, 128)
    )
    trunk = clone.repo.trunk(setting)
    if upstream and upstream == trunk:
        branch = clone.repo.head().branch
        raise OnTrunk(
            f"{branch} follows {upstream.removeprefix('refs/remotes/')}, the remote's default branch"
        )


def _seal(clone: Clone) -> int:
    """Seal this line's events, and those it inherited into segments of their own line."""
    line, head, now = clone.line(), clone.repo.head().oid, clone.now()
    seal.seal(clone.layout, line.id, head=head, ts=now)
    inherited = [inherit for inherit in line.inherits if seal.spools(clone.layout, inherit.line)]
    if inherited:
        done = {event.hash_self for event in _events_in_segments(clone)}
        for inherit in inherited:
            pairs = seal.inherited(clone.layout, inherit.line, inherit.until, done)
            seal.keep(clone.layout, inherit.line, pairs, head=head, ts=now, owner=line.id)
    return sum(_count(clone, c.segment) for c in clone.changes() if c.segment and c.line == line.id)


def _events_in_segments(clone: Clone) -> Iterable[Event]:
    return (event for event, _ in clone.read_sources(s for s in clone.sources() if s.kind == "segment"))


def _count(clone: Clone, segment: str) -> int:
    return seal.sealed_bytes(clone.layout, segment).count(b"\n") - 1


@dataclass(frozen=True, slots=True)
class _Ground:
    """What stands in HEAD, in the index and in the work tree before we write."""

    tree: dict[str, str]
    index: dict[str, str]
    differs: dict[str, str]  # paths whose file is not what HEAD has
    staged: dict[str, str]  # blobs that `publish --stage` wrote: ours to replace, unlike a hand edit
    sighted: dict[str, Sighting]


def _ground(clone: Clone) -> _Ground:
    return _Ground(
        tree=clone.repo.tree("HEAD", paths.TRACKED),
        index=_index_entries(clone),
        differs=clone.repo.status(paths.LOG, paths.MEMORY),
        staged=_staged_by_us(clone),
        sighted={sighting.path: sighting for sighting in clone.entries(paths.TRACKED)},
    )


def _plan(clone: Clone, changes: list[Change]) -> tuple[list[Item], list[Kept]]:
    """Decide, path by path, what is written; whatever is not safe to write is kept and explained."""
    asked: dict[str, list[Change]] = {}
    for change in changes:
        asked.setdefault(change.path, []).append(change)
    ground = _ground(clone) if asked else _Ground({}, {}, {}, {}, {})
    items, kept = [], []
    for path, wanted in asked.items():
        data = _content(clone, wanted[-1], ground.sighted)
        blob = None if data is None else clone.repo.hash_blob(data)
        if blob == ground.tree.get(path):
            _settle(clone, wanted)
        elif reason := _why_not(clone, path, blob, ground):
            kept.append(Kept(path, reason))
        else:
            items.append(Item(path, data, blob, ground.tree.get(path), ground.index.get(path), tuple(wanted)))
    return items, kept


def _content(clone: Clone, change: Change, sighted: dict[str, Sighting]) -> bytes | None:
    if change.segment is not None:
        return seal.sealed_bytes(clone.layout, change.segment)
    if change.text is None:
        return None
    seen = sighted.get(change.path)
    merged = (
        seen.text if seen is not None and seen.origin == "pending" and not change.published else change.text
    )
    return merged.encode("utf-8")


def _settle(clone: Clone, changes: list[Change]) -> None:
    for change in changes:
        if change.line == clone.line().id and change.published is None:
            pending.archive(clone.layout, change, commit=clone.repo.head().oid, ts=clone.now())


def _why_not(clone: Clone, path: str, blob: str | None, ground: _Ground) -> str | None:
    seen = ground.sighted.get(path)
    if seen is not None and seen.clash is not None:
        return "it was changed here and in the branch's history; see `holdfast show` for both texts"
    if path not in ground.differs:
        return None
    try:
        there = clone.repo.hash_blob(fsio.read(fsio.inside(clone.repo.top, path), limit=1 << 24))
    except FileNotFoundError:
        return None if blob is None or path not in ground.tree else "the file was deleted by hand"
    if there in (blob, ground.staged.get(path)):
        return None
    return "the file differs from HEAD: commit or undo your own edit first"


def _index_entries(clone: Clone) -> dict[str, str]:
    out = clone.repo.run("ls-files", "-s", "-z", "--", paths.TRACKED)
    rows = (row.partition(b"\t") for row in out.split(b"\0") if row)
    return {os.fsdecode(name): facts.decode("ascii").rsplit(" ", 1)[0] for facts, _, name in rows}


def _carry_out(clone: Clone, items: list[Item], *, stage: bool, message: str) -> str | None:
    """Write, add and commit; on any refusal everything is as it was."""
    _journal(clone, items)
    try:
        for item in items:
            _write(clone, item)
        names = b"".join(os.fsencode(item.path) + b"\0" for item in items)
        _git(
            clone, "add", "-f", "--sparse", "-A", "--pathspec-from-file=-", "--pathspec-file-nul", names=names
        )
        commit = None if stage else _commit(clone, items, message, names)
    except (HookRefused, HookRewrote, GitFailed, OSError) as error:
        _undo(clone, items)
        fsio.remove(clone.layout.publishing)
        if isinstance(error, OSError):
            with fsio.refusing("the published files"):
                raise
        raise
    if stage:
        _remember_staged(clone, items)
    else:
        for item in items:
            _settle(clone, list(item.changes))
            _note_inherited(clone, item, commit)
    fsio.remove(clone.layout.publishing)
    return commit


def _note_inherited(clone: Clone, item: Item, commit: str | None) -> None:
    """What another line's change became here is remembered as published on this line."""
    line = clone.line().id
    for change in item.changes:
        if change.line != line or change.published is not None:
            own = Change(
                change.path,
                change.base,
                change.blob,
                line,
                clone.repo.head().oid,
                clone.now(),
                change.text,
                change.segment,
            )
            pending.archive(clone.layout, pending.add(clone.layout, own), commit=commit, ts=clone.now())


def _write(clone: Clone, item: Item) -> None:
    full = fsio.inside(clone.repo.top, item.path)
    if item.data is None:
        fsio.remove(full)
        return
    fsio.make_dirs(os.path.dirname(full), mode=0o755)
    fsio.replace(full, item.data, mode=0o644)


def _git(clone: Clone, *args: str, names: bytes) -> bytes:
    return clone.repo.run("--literal-pathspecs", *args, stdin=names, write=True)


def _commit(clone: Clone, items: list[Item], message: str, names: bytes) -> str | None:
    before = clone.repo.head()
    listed = ("--only", "--pathspec-from-file=-", "--pathspec-file-nul")
    done = clone.repo.attempt(
        "--literal-pathspecs", "commit", "-q", "-m", message, *listed, stdin=names, write=True
    )
    if done.returncode:
        said = [line for line in os.fsdecode(done.stderr + done.stdout).splitlines() if line.strip()]
        raise HookRefused(f"git refused the commit: {said[-1].strip() if said else 'it gave no reason'}")
    after = clone.repo.head().oid
    rewritten = _rewritten(clone, items)
    if rewritten:
        clone.repo.run(
            "update-ref", "-m", "holdfast: undo publish", "HEAD", before.oid or "", after or "", write=True
        )
        raise HookRewrote(f"a commit hook rewrote {rewritten[0]}, whose bytes are its name")
    return after


def _rewritten(clone: Clone, items: list[Item]) -> list[str]:
    tree = clone.repo.tree("HEAD", paths.LOG)
    return [
        item.path for item in items if item.path.startswith(paths.LOG) and tree.get(item.path) != item.blob
    ]


def _undo(clone: Clone, items: list[Item]) -> None:
    """Put index entries and files back to what they were before us; later edits are left alone."""
    rows = b"".join(_index_row(item) for item in items)
    clone.repo.run("update-index", "-z", "--index-info", stdin=rows, write=True)
    old = clone.repo.blobs(item.head_blob for item in items if item.head_blob)
    for item in items:
        full = fsio.inside(clone.repo.top, item.path)
        if item.head_blob is not None:
            fsio.make_dirs(os.path.dirname(full), mode=0o755)
            fsio.replace(full, old[item.head_blob], mode=0o644)
        elif os.path.lexists(full):
            fsio.remove(full)
            _prune(os.path.dirname(full), clone.layout.in_tree(paths.TRACKED))


def _index_row(item: Item) -> bytes:
    facts = item.index or f"0 {_NO_OID}"
    return f"{facts}\t".encode("ascii") + os.fsencode(item.path) + b"\0"


def _prune(folder: str, top: str) -> None:
    while folder != top and folder.startswith(top):
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


def _journal(clone: Clone, items: list[Item]) -> None:
    rows = [
        {
            "path": i.path,
            "blob": i.blob,
            "head_blob": i.head_blob,
            "index": i.index,
            "changes": [asdict(c) for c in i.changes],
        }
        for i in items
    ]
    record = {"top": clone.repo.top, "head": clone.repo.head().oid, "line": clone.line().id, "items": rows}
    fsio.replace(clone.layout.publishing, json.dumps(record).encode("utf-8"))


def recover(clone: Clone) -> str | None:
    """Undo or finish a publish that was cut short; says what it did. The caller holds the store's lock."""
    try:
        record = json.loads(fsio.read(clone.layout.publishing, limit=1 << 28))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise CorruptLog(f"{clone.layout.publishing} cannot be read: {error}") from error
    if record["top"] != clone.repo.top:
        return f"a publish in {record['top']} was cut short; run any holdfast command there to finish it"
    items = [
        Item(r["path"], None, r["blob"], r["head_blob"], r["index"], tuple(Change(**c) for c in r["changes"]))
        for r in record["items"]
    ]
    tree = clone.repo.tree("HEAD", paths.TRACKED)
    if all(tree.get(item.path) == item.blob for item in items):
        said = "finished a publish that was cut short after its commit"
    else:
        _undo(clone, [item for item in items if _is_as_we_left_it(clone, item)])
        said = "undid a publish that was cut short; nothing was lost, publish again when you like"
    fsio.remove(clone.layout.publishing)
    return said


def _is_as_we_left_it(clone: Clone, item: Item) -> bool:
    try:
        data = fsio.read(fsio.inside(clone.repo.top, item.path), limit=1 << 28)
    except FileNotFoundError:
        return True
    return clone.repo.hash_blob(data) in (item.blob, item.head_blob)


def _staged_file(clone: Clone) -> str:
    return os.path.join(clone.layout.private, "staged.json")


def _staged_by_us(clone: Clone) -> dict[str, str]:
    try:
        found: dict[str, str] = json.loads(fsio.read(_staged_file(clone), limit=1 << 24))
        return found
    except (FileNotFoundError, ValueError):
        return {}


def _remember_staged(clone: Clone, items: list[Item]) -> None:
    staged = {**_staged_by_us(clone), **{item.path: item.blob for item in items if item.blob}}
    fsio.replace(_staged_file(clone), json.dumps(staged).encode("utf-8"))


def _message(items: list[Item], events: int) -> str:
    entries = [item for item in items if not item.path.startswith(paths.LOG)]
    parts = [f"{len(entries)} {'memory' if len(entries) == 1 else 'memories'}"] if entries else []
    parts += [f"{events} {'event' if events == 1 else 'events'}"] if events else []
    return f"holdfast: publish {' and '.join(parts) or 'what waited'}"
