"""Finds what is visible here: on this line (the id of a branch's work), at this HEAD, in this work tree.

A change that waits on this line comes first, then an edit by hand in the work tree, then HEAD's tree. Records of
another line are visible only if this line branched off while they waited there.

A change that is in its line's history no longer waits, whether it came there by `publish`, by the user's own commit
after `publish --stage`, or by a merge; history may have changed since. Unlike an edit by hand, a file that `publish
--stage` added to the index may be overwritten; git carries it along to other branches, so we store which line staged
it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from holdfast.errors import PublishRefused, TooLarge, UnsafePath
from holdfast.git import branch_lines
from holdfast.git.branch_lines import BranchLine
from holdfast.git.repo import Repo
from holdfast.store import fsio, layout, loose_records, pending_changes, seal, task_files
from holdfast.store.layout import TRACKED, Layout
from holdfast.store.pending_changes import PendingChange
from holdfast.values import frozen, replace

if TYPE_CHECKING:
    from holdfast.git.clone import Clone


STAGED_RECORD = "holdfast-staged.json"
CONVERTING = ("filter", "ident", "working-tree-encoding")  # attributes that must be off for every file of ours
_FEW = 50  # paths; a guess: for more, the status of all our files is cheaper than a long command line


@frozen
class Staged:
    """The blob that we staged for a file, and on which line."""

    blob: str
    line: str


def refuse_conversion(repo: Repo, files: Sequence[str]) -> None:
    """Raises PublishRefused if attributes make git convert our files: a clone's attributes could run a filter."""
    names = b"".join(os.fsencode(path) + b"\0" for path in files)
    out = os.fsdecode(repo.run("check-attr", "-z", "--stdin", *CONVERTING, stdin=names)).split("\0")
    for path, name, value in zip(out[::3], out[1::3], out[2::3], strict=False):
        if value not in ("unset", "unspecified"):
            raise PublishRefused(
                f"git attributes would convert {path} ({name}={value}), so nothing was committed",
                hint=f"Remove the rule: see `git check-attr -a {path}` and the .gitattributes files.",
            )


def read_staged(repo: Repo) -> dict[str, Staged]:
    """Returns what we staged, by path; a damaged record counts as empty."""
    rows = loose_records.read(os.path.join(repo.git_dir, STAGED_RECORD))
    return {path: Staged(*row) for path, row in rows.items() if isinstance(row, list) and len(row) == 2}


def remember_staged(repo: Repo, line: str, blobs: Iterable[tuple[str, str | None]]) -> None:
    """Records files that were staged just now; forgets those that are committed or unstaged by now."""
    known = read_staged(repo)
    differs = repo.status(*known) if 0 < len(known) <= _FEW else repo.status(TRACKED) if known else {}
    kept = {path: row for path, row in known.items() if path in differs}
    kept.update({path: Staged(blob, line) for path, blob in blobs if blob})
    rows = {path: (row.blob, row.line) for path, row in kept.items()}
    loose_records.keep(os.path.join(repo.git_dir, STAGED_RECORD), rows)


MAX_ENTRY = 1 << 20  # 1 MiB, a guess: people do not write a larger entry


@frozen
class Source:
    """One file of the visible log: a segment, or a spool that may still grow."""

    key: str  # a segment's name, or <line>/<file> of a spool
    kind: str  # "segment" or "spool"
    line: str | None
    until: str | None  # events after this moment belong to another line
    path: str | None  # in this clone's store
    blob: str | None  # in git


@frozen
class Sighting:
    """The visible text of an entry file, and where it comes from."""

    path: str
    text: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    clash: str | None = None  # HEAD's text, if both it and the waiting change changed the entry
    edited: str | None = None  # the work tree's own text, if a waiting change hides it


def waiting_changes(stores: Sequence[Layout], line: BranchLine) -> list[PendingChange]:
    """Returns every waiting change that is visible on a line: inherited ones first, then oldest first."""
    own = [c for store in stores for c in pending_changes.waiting(store)]
    since = [c for c in _published_since(stores, line) if c.segment is None]
    # One change may be known from several lines that inherited it.
    found = {c.key: c for c in (*since, *own) if line.sees(c.line, c.ts) and c.key not in line.done}
    return sorted(found.values(), key=lambda c: (c.line == line.id, c.ts, c.name))


def changes(stores: Sequence[Layout], line: BranchLine) -> list[PendingChange]:
    """Returns what waits on a line: for each path the last change."""
    return list({change.path: change for change in waiting_changes(stores, line)}.values())


def _published_since(stores: Sequence[Layout], line: BranchLine) -> Iterator[PendingChange]:
    """Yields what parent lines published since this line branched off: it may have waited there at that time.

    A change published in the second of the branching counts; if it is in our history, `settle` finds it.
    """
    limits = {name: until for name, until in line.limits().items() if until is not None}
    if not limits:
        return
    for store in stores:
        for change in pending_changes.published(store, since=min(limits.values())):
            until = limits.get(change.line)
            if until and until[:19] <= (change.published or {}).get("ts", ""):
                yield change


def log_sources(repo: Repo, stores: Sequence[Layout], line: BranchLine) -> list[Source]:
    """Returns every file of the log that is visible on a line."""
    # Own files first: what is published between the two reads is then found twice, never missed.
    own = sorted(own_sources(stores, line), key=lambda source: source.until is not None)
    tree = [(os.path.basename(p), blob) for p, blob in repo.tree("HEAD", layout.LOG).items() if p.endswith(".jsonl")]
    found = {name[:-6]: Source(name[:-6], "segment", None, None, None, blob) for name, blob in tree}
    for source in own:
        found.setdefault(source.key, source)
    return list(found.values())


def own_sources(stores: Sequence[Layout], line: BranchLine) -> list[Source]:
    """Returns the log files of this clone's own store that are visible on a line."""
    limits = {name: until for name, until in line.limits().items() if not line.passed_events_of(name)}
    found = [
        Source(f"{name}/{os.path.basename(path)}", "spool", name, until, path, None)
        for store in stores
        for name, until in limits.items()
        for path in seal.spools(store, name)
    ]
    waiting = [(store, change) for store in stores for change in pending_changes.waiting(store)]
    for store, change in (*waiting, *((stores[0], change) for change in _published_since(stores, line))):
        if (name := change.segment) and change.line in limits:
            path, until = store.sealed_segment(name), limits[change.line]
            found.append(Source(name, "segment", change.line, until, path, None))
    return found


def sightings(
    clone: Clone, folder: str, *, differs: Iterable[str] | None = None, only: Collection[str] | None = None
) -> list[Sighting]:
    """Returns the visible entry files below a tracked folder, or `only` some of them.

    The text of erased entries is not even read.
    """
    repo, stores, line = clone.repo, clone.stores, clone.line()
    chosen, gone = None if only is None else set(only), tuple(f"-{target}.md" for target in clone.erased())

    def is_wanted(path: str) -> bool:
        return not path.endswith(gone) and (chosen is None or path in chosen)

    below = (c for c in changes(stores, line) if c.path.startswith(folder + "/") and not c.segment)
    waiting = {change.path: change for change in below if is_wanted(change.path)}
    every = not gone and chosen is None  # skips a call for each path: ten thousand take as long as everything else
    listed = repo.tree("HEAD", folder).items()
    tree = {path: blob for path, blob in listed if path.endswith(".md") and (every or is_wanted(path))}
    by_hand = _edits(repo, filter(is_wanted, repo.status(folder) if differs is None else differs))
    ours = read_staged(repo) if by_hand else {}
    edited = {p: t for p, t in by_hand.items() if not _is_of_another_line(repo, line, ours.get(p), t)}
    state = (repo.head().oid, gone, waiting, edited)
    if chosen is None and (known := clone.sighted.get(folder)) and known[0] == state:
        return list(known[1])  # a command asks up to six times, and there may be ten thousand entries
    texts = clone.entry_memo.texts(folder, [*tree.values(), *(c.base for c in waiting.values() if c.base)], repo.blobs)
    paths = sorted({*tree, *waiting, *edited})
    found = (_sight(repo, path, tree.get(path), waiting.get(path), edited=edited, texts=texts) for path in paths)
    seen = [sighting for sighting in found if sighting is not None]
    if chosen is None:
        clone.sighted[folder] = (state, seen)
    return list(seen)


def _edits(repo: Repo, differs: Iterable[str]) -> dict[str, bytes | None]:
    """Returns the entry files that differ from HEAD in the work tree; None for one deleted by hand."""
    found: dict[str, bytes | None] = {}
    for path in (path for path in differs if path.endswith(".md")):
        try:
            found[path] = fsio.read(fsio.inside(repo.top, path), limit=MAX_ENTRY).replace(b"\r\n", b"\n")
        except FileNotFoundError:
            found[path] = None
        except (UnsafePath, TooLarge) as error:
            found[path] = str(error).encode()  # not an entry: parsing it fails with this reason
    return found


def _is_of_another_line(repo: Repo, line: BranchLine, ours: Staged | None, text: bytes | None) -> bool:
    """Returns whether another line staged the file and git carried it along: then it is no edit of this line."""
    return ours is not None and ours.line != line.id and text is not None and repo.hash_blob(text) == ours.blob


_Edits = dict[str, bytes | None]
_Texts = dict[str, str]


def _sight(
    repo: Repo, path: str, in_tree: str | None, change: PendingChange | None, *, edited: _Edits, texts: _Texts
) -> Sighting | None:
    if change is not None and change.blob != in_tree:
        seen, by_hand = _pending(path, in_tree, change, texts, repo), edited.get(path)
        return replace(seen, edited=_decode(by_hand)) if seen and by_hand is not None else seen
    if path not in edited:
        if in_tree is None:
            return None  # it was waiting to be published, and is being deleted
        return Sighting(path, texts.get(in_tree, ""), in_tree, "tree")
    edit = edited[path]
    if edit is None:
        return None
    blob = repo.hash_blob(edit)
    return Sighting(path, _decode(edit), blob, "tree" if blob == in_tree else "edit")


def _pending(path: str, in_tree: str | None, change: PendingChange, texts: _Texts, repo: Repo) -> Sighting | None:
    if change.text is None or change.blob is None:
        return None  # it waits to be deleted
    if change.base == in_tree or in_tree is None:
        return Sighting(path, change.text, change.blob, "pending")
    theirs = texts[in_tree]
    base = texts.get(change.base or "", "")
    merged = task_files.merge(path, base, change.text, theirs)
    if isinstance(merged, str):
        return Sighting(path, merged, repo.hash_blob(merged.encode("utf-8")), "pending")
    return Sighting(path, change.text, change.blob, "pending", clash=theirs)


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "replace")


BlobOf = Callable[[PendingChange], str | None]


def landed(repo: Repo, changes: Sequence[PendingChange], blob_of: BlobOf) -> list[tuple[PendingChange, str]]:
    """Returns the changes that are in HEAD's history, each with the commit that has it."""
    head = repo.head().oid
    if head is None or not changes:
        return []
    tree = repo.blobs_at("HEAD", [change.path for change in changes])
    found = [(change, head) for change in changes if tree.get(change.path) == blob_of(change)]
    in_tree = {change.name for change, _ in found}
    rest = [change for change in changes if change.name not in in_tree and change.head != head]
    for start in {change.head for change in rest}:
        found += _in_history(repo, start, [change for change in rest if change.head == start], blob_of)
    return found


def _in_history(
    repo: Repo, start: str | None, changes: Sequence[PendingChange], blob_of: BlobOf
) -> Iterable[tuple[PendingChange, str]]:
    """Yields the changes in commits after `start`: a change recorded there can only be in later commits."""
    known = start is not None and repo.attempt("cat-file", "-e", start).returncode == 0
    rows = repo.history(f"{start}..HEAD" if known else "HEAD", [change.path for change in changes])
    commits = {(path, blob): commit for commit, path, blob in rows}
    for change in changes:
        commit = commits.get((change.path, blob_of(change)))
        if commit is not None and (change.blob or change.segment or change.base):
            yield change, commit


def settle(repo: Repo, stores: Sequence[Layout], line: BranchLine, *, blob_of: BlobOf, ts: str) -> bool:
    """Settles the waiting changes that are in a line's history; returns whether there were any."""
    waiting = waiting_changes(stores, line)
    found = landed(repo, waiting, blob_of)
    for change, commit in found:
        close_change(stores, line, change, waiting, commit=commit, ts=ts)
    return bool(found)


_Changes = Sequence[PendingChange]


def close_change(
    stores: Sequence[Layout], line: BranchLine, change: PendingChange, waiting: _Changes, *, commit: str | None, ts: str
) -> None:
    """Records a change as published on this line; it and what it superseded here no longer wait."""
    mine = change.line == line.id and change.published is None
    same_path = [c for c in waiting if c.path == change.path]
    if not mine:
        pending_changes.note(stores[0], change, line.id, commit=commit, ts=ts)
    passed = [c.key for c in same_path if c.line != line.id and (mine or c.ts <= change.ts)]
    branch_lines.pass_by(stores[0], line.id, passed, ts=ts)
    for old in same_path if mine else ():
        if old.line == line.id and old.key != change.key and (old.ts, old.name) < (change.ts, change.name):
            pending_changes.archive(stores[0], old, commit=None, ts=ts)
    if mine:
        pending_changes.archive(stores[0], change, commit=commit, ts=ts)
