"""The journal of a publish under way, and how to take a publish back.

It is written before the first file changes and removed after the last step, so whatever was cut
short is undone or finished by the next command in any work tree of the clone. Nothing is touched
that does not stand as the publish left it: a later edit is somebody's work.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from holdfast.errors import (
    Busy,
    GitFailed,
    HoldfastError,
    NotARepository,
    PublishRefused,
    TooLarge,
    UnsafePath,
)
from holdfast.git import lines, settle
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.store import fsio, pending
from holdfast.store import layout as paths
from holdfast.store.layout import Layout
from holdfast.store.pending import Change


@dataclass(frozen=True, slots=True)
class Item:
    """One path to publish: what it becomes, what it was, and the change that asks for it."""

    path: str
    data: bytes | None  # None: the path goes away
    blob: str | None
    head_blob: str | None
    index: str | None  # git's index entry before us, "<mode> <oid>"
    there: str | None  # the blob of the file before us
    sparse: bool = False  # git keeps the file out of a sparse work tree
    change: Change | None = None


def write(clone: Clone, items: Sequence[Item]) -> None:
    """Say what is about to happen."""
    rows = [
        {
            "path": i.path,
            "blob": i.blob,
            "head_blob": i.head_blob,
            "index": i.index,
            "there": i.there,
            "sparse": i.sparse,
            "change": asdict(i.change) if i.change else None,
        }
        for i in items
    ]
    record = {
        "top": clone.repo.top,
        "worktree": _place(clone.repo),
        "head": clone.repo.head().oid,
        "line": clone.line().id,
        "items": rows,
    }
    fsio.replace(clone.layout.publishing, json.dumps(record).encode("utf-8"))


def _place(repo: Repo) -> str:
    """Which work tree of the clone this is; its folder may be moved."""
    return os.path.relpath(repo.git_dir, repo.common_dir)


def recover(clone: Clone) -> str | None:
    """Undo or finish a publish that was cut short; says what it did. The caller holds the store's lock."""
    try:
        record, items = read(clone.layout)
    except FileNotFoundError:
        return None
    repo = _repo_of(clone, record)
    if repo is None:
        fsio.remove(clone.layout.publishing)
        return f"a publish in {record['top']} was cut short, and that work tree is gone; nothing was lost"
    try:
        # A git that outlived its publish holds the index until its commit is made.
        repo.wait_for_index()
        said = _finish(clone, repo, record["line"], items) or _take_back(repo, items)
    except GitFailed as error:
        return f"a publish in {record['top']} was cut short and cannot be undone yet: {error}"
    fsio.remove(clone.layout.publishing)
    return said


def resume(clone: Clone) -> str | None:
    """Recover, unless somebody is publishing right now: then the journal is theirs and nobody waits."""
    if not os.path.lexists(clone.layout.publishing):
        return None
    try:
        with fsio.locked(clone.layout.lock, wait=0.0):
            return recover(clone)
    except Busy:
        return None
    except PublishRefused as error:
        clone.layout.leave_out(error)
        return None


def read(layout: Layout) -> tuple[dict[str, str], list[Item]]:
    """The journal of a publish that was cut short; PublishRefused if nobody can tell what it did."""
    try:
        record = json.loads(fsio.read(layout.publishing, limit=1 << 28))
        said = {name: record[name] for name in ("top", "worktree", "line")}
        if not all(isinstance(word, str) for word in said.values()):
            raise ValueError("it does not say where it happened")
        return said, [_item(row) for row in record["items"]]
    except FileNotFoundError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError) as error:
        why = f"{type(error).__name__}: {error}"
    except (UnsafePath, TooLarge) as error:
        why = str(error)
    raise PublishRefused(
        f"{layout.publishing}, the journal of a publish that was cut short, cannot be read: {why}",
        hint="`holdfast doctor --repair --yes` sets it aside; then look at `git status` and publish again.",
    )


def _item(row: dict[str, object]) -> Item:
    change = row.pop("change")
    if not isinstance(change, dict | None):
        raise ValueError("a change is not an object")
    item = Item(data=None, change=Change(**change) if change else None, **row)  # type: ignore[arg-type]
    if item.change is not None:
        pending.check(item.change)
    if item.path != paths.ATTRIBUTES and not pending.is_publishable(item.path):
        raise ValueError(f"{item.path!r} is no path of the memory")
    if not all(isinstance(word, str | None) for word in (item.blob, item.head_blob, item.index, item.there)):
        raise ValueError("it does not name objects of git")
    return item


def _repo_of(clone: Clone, record: dict[str, str]) -> Repo | None:
    if record["worktree"] == _place(clone.repo):
        return clone.repo
    with contextlib.suppress(NotARepository):
        other = Repo.at(record["top"])
        if other.common_dir == clone.repo.common_dir and _place(other) == record["worktree"]:
            return other
    return None


def _finish(clone: Clone, repo: Repo, line: str, items: Sequence[Item]) -> str | None:
    """The commit was made: stop waiting for what is in it."""
    tree = repo.blobs_at("HEAD", [item.path for item in items])
    if not all(tree.get(item.path) == item.blob for item in items):
        return None
    known = lines.find(clone.stores, line)
    if known is not None:
        seen = known.seen_as(repo.head().ref)
        settle.settle(repo, clone.stores, seen, blob_of=clone.blob_of, ts=clone.now())
        clone.forget_line()
    return "finished a publish that was cut short after its commit"


def _take_back(repo: Repo, items: Sequence[Item]) -> str:
    sweep(repo, items)
    index = {path: facts.split(" ")[1] for path, facts in index_entries(repo).items()}
    files = [item for item in items if file_blob(repo, item.path) == item.blob]
    undo(repo, files, [item for item in items if index.get(item.path) == item.blob])
    return "undid a publish that was cut short; nothing was lost, publish again when you like"


def sweep(repo: Repo, items: Iterable[Item]) -> None:
    """Remove temporary files that a killed publish left beside its files."""
    for item in items:
        full = fsio.inside(repo.top, item.path)
        folder, name = os.path.split(full)
        with contextlib.suppress(FileNotFoundError):
            for other in os.listdir(folder):
                if other.startswith(f"{name}.") and other.endswith(".tmp"):
                    fsio.remove(os.path.join(folder, other))
        prune(folder, os.path.join(repo.top, paths.TRACKED))


def file_blob(repo: Repo, path: str) -> str | None:
    """The blob that a work tree's file would be, None if there is none."""
    try:
        return repo.hash_blob(fsio.read(fsio.inside(repo.top, path), limit=1 << 28))
    except (FileNotFoundError, NotADirectoryError):
        return None


def index_entries(repo: Repo) -> dict[str, str]:
    """Path to "<mode> <oid>" of what git's index holds of ours."""
    out = repo.run("ls-files", "-s", "-z", "--", paths.TRACKED)
    rows = (row.partition(b"\t") for row in out.split(b"\0") if row)
    return {os.fsdecode(name): facts.decode("ascii").rsplit(" ", 1)[0] for facts, _, name in rows}


def undo(repo: Repo, files: Sequence[Item], entries: Sequence[Item]) -> None:
    """Put files and index entries back to what they were before the publish."""
    _undo_index(repo, entries)
    old = repo.blobs(oid for item in files for oid in (item.there, item.head_blob) if oid)
    for item in files:
        full = fsio.inside(repo.top, item.path)
        now = file_blob(repo, item.path)
        if item.there is None and now is not None:
            fsio.remove(full)
            prune(os.path.dirname(full), os.path.join(repo.top, paths.TRACKED))
        elif item.there is not None and now != item.there:
            fsio.make_dirs(os.path.dirname(full), mode=0o755)
            fsio.replace(full, old.get(item.there, old.get(item.head_blob or "", b"")), mode=0o644)


def _undo_index(repo: Repo, items: Sequence[Item]) -> None:
    now, tree = index_entries(repo), repo.blobs_at("HEAD", [item.path for item in items])
    nothing = "0 " + "0" * len(repo.head().oid or "0" * 40)
    rows = []
    for item in items:
        # Somebody may have moved HEAD since: then what HEAD has now is what was there before.
        here = tree.get(item.path)
        before = item.index if here == item.head_blob else (f"100644 {here}" if here else None)
        if now.get(item.path) != before:
            rows.append(f"{before or nothing}\t".encode("ascii") + os.fsencode(item.path) + b"\0")
    if rows:
        write_index(repo, "update-index", "-z", "--index-info", stdin=b"".join(rows))
    hidden = b"".join(os.fsencode(item.path) + b"\0" for item in items if item.sparse and item.index)
    if hidden:
        write_index(repo, "update-index", "--skip-worktree", "-z", "--stdin", stdin=hidden)


def follow_head(repo: Repo, items: Sequence[Item], tree: dict[str, str]) -> None:
    """Where a hook changed what was committed, `commit --only` leaves the index with what we had added."""
    now = index_entries(repo)
    rows = [
        f"100644 {tree[item.path]}\t".encode("ascii") + os.fsencode(item.path) + b"\0"
        for item in items
        if tree.get(item.path) not in (None, item.blob) and now.get(item.path, "").endswith(f" {item.blob}")
    ]
    if rows:
        write_index(repo, "update-index", "-z", "--index-info", stdin=b"".join(rows))


def write_index(repo: Repo, *args: str, stdin: bytes) -> bytes:
    """Run a git command that needs the index, waiting a little for whoever has it."""
    return repo.patiently(*args, stdin=stdin)


def prune(folder: str, top: str) -> None:
    """Remove folders that became empty, up to ours."""
    while folder != top and folder.startswith(top):
        try:
            fsio.ops.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


@contextlib.contextmanager
def undone_on_failure(clone: Clone, items: Sequence[Item]) -> Iterator[None]:
    """Take everything back if the block fails; if even that fails, the journal stays for the next command."""
    whole = False
    try:
        yield
        whole = True
    finally:
        if not whole:
            with contextlib.suppress(HoldfastError, OSError):
                sweep(clone.repo, items)
                undo(clone.repo, items, items)
                fsio.remove(clone.layout.publishing)
