"""Settling: a change that has landed in its line's history no longer waits.

It may have come there by `publish`, by the user's own commit after `publish --stage`, or by a merge;
and history may have moved on since, so that HEAD's tree shows a later text already.
"""

from collections.abc import Callable, Iterable, Sequence

from holdfast.git import lines, visible
from holdfast.git.lines import Line
from holdfast.git.repo import Repo
from holdfast.store import pending
from holdfast.store.layout import Layout
from holdfast.store.pending import Change

BlobOf = Callable[[Change], str | None]


def landed(repo: Repo, changes: Sequence[Change], blob_of: BlobOf) -> list[tuple[Change, str]]:
    """Those of the changes that HEAD's history holds, each with the commit it was seen in."""
    head = repo.head().oid
    if head is None or not changes:
        return []
    tree = repo.blobs_at("HEAD", [change.path for change in changes])
    found = [(change, head) for change in changes if tree.get(change.path) == blob_of(change)]
    there = {change.name for change, _ in found}
    rest = [change for change in changes if change.name not in there and change.head != head]
    for start in {change.head for change in rest}:
        found += _in_history(repo, start, [change for change in rest if change.head == start], blob_of)
    return found


def _in_history(
    repo: Repo, start: str | None, changes: Sequence[Change], blob_of: BlobOf
) -> Iterable[tuple[Change, str]]:
    """A change recorded at a commit can only have landed in commits that commit does not know."""
    known = start is not None and repo.attempt("cat-file", "-e", start).returncode == 0
    rows = repo.history(f"{start}..HEAD" if known else "HEAD", [change.path for change in changes])
    commits = {(path, blob): commit for commit, path, blob in rows}
    for change in changes:
        commit = commits.get((change.path, blob_of(change)))
        if commit is not None and (change.blob or change.segment or change.base):
            yield change, commit


def settle(repo: Repo, stores: Sequence[Layout], line: Line, *, blob_of: BlobOf, ts: str) -> bool:
    """Stop waiting for whatever has landed on a line; says whether anything had."""
    waiting = visible.waiting(stores, line)
    found = landed(repo, waiting, blob_of)
    for change, commit in found:
        close(stores, line, change, waiting, commit=commit, ts=ts)
    return bool(found)


def close(
    stores: Sequence[Layout], line: Line, change: Change, waiting: Sequence[Change], *, commit: str | None, ts: str
) -> None:
    """Keep a change as published on this line; neither it nor what it superseded here waits any longer."""
    mine = change.line == line.id and change.published is None
    there = [c for c in waiting if c.path == change.path]
    if not mine:
        pending.note(stores[0], change, line.id, commit=commit, ts=ts)
    passed = [c.key for c in there if c.line != line.id and (mine or c.ts <= change.ts)]
    lines.pass_by(stores[0], line.id, passed, ts=ts)
    for old in there if mine else ():
        if old.line == line.id and old.key != change.key and (old.ts, old.name) < (change.ts, change.name):
            pending.archive(stores[0], old, commit=None, ts=ts)
    if mine:
        pending.archive(stores[0], change, commit=commit, ts=ts)
