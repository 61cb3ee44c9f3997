"""Keeps the journal of a running publish, and undoes a publish.

The journal is written before the first file changes and removed after the last step, so the next command in
any work tree of the clone undoes or finishes an interrupted publish. Only files that are still as the
publish left them are restored: a later edit is somebody's work.
"""

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.errors import Busy, CorruptLog, GitFailed, HoldfastError, HookRefused, NotARepository, PublishRefused
from holdfast.git import branch_lines, git_memo, visible_entries
from holdfast.git.clone import Clone
from holdfast.git.repo import IDENTITY_HINT, LOCK_HINT, Repo, is_index_busy, lacks_identity
from holdfast.store import fsio, loose_records, pending_changes
from holdfast.store import layout as paths
from holdfast.values import asdict, frozen

_INIT = "an `init --commit`"
_MOST = 1 << 28  # bytes of a file that is read: 256 MiB, a guess; larger ones would fill the memory


@frozen
class PublishItem:
    """One path to publish: its new and old content, and the change that it comes from."""

    path: str
    data: bytes | None  # None: the path is deleted
    blob: str | None
    head_blob: str | None
    index: str | None  # git's index entry before the publish, "<mode> <oid>"
    there: str | None  # the blob of the file before the publish
    sparse: bool = False  # git keeps the file out of a sparse work tree
    change: pending_changes.PendingChange | None = None


def write(clone: Clone, items: Sequence[PublishItem]) -> None:
    """Writes the journal of what is about to be published."""
    names = ("path", "blob", "head_blob", "index", "there", "sparse")
    rows: list[dict[str, Any]] = [{name: getattr(item, name) for name in names} for item in items]
    for row, item in zip(rows, items, strict=True):
        row["change"] = asdict(item.change) if item.change else None
    record = {
        "adds": "entries",
        "top": clone.repo.top,
        "worktree": _place(clone.repo),
        "head": clone.repo.head().oid,
        "line": clone.line().id,
        "items": rows,
    }
    fsio.replace(clone.layout.publishing, json.dumps(record).encode("utf-8"))


def _place(repo: Repo) -> str:
    """Returns the name of a work tree in the clone, which stays the same if its folder is moved."""
    return os.path.relpath(repo.git_dir, repo.common_dir)


def recover(clone: Clone) -> str | None:
    """Undoes or finishes an interrupted publish and returns a note. The caller must hold the store's lock."""
    try:
        record, items = read(clone.layout)
    except FileNotFoundError:
        return None
    repo = _repo_of(clone, record)
    if repo is None:
        fsio.remove(clone.layout.publishing)
        return f"a publish in {record['top']} was interrupted, and that work tree is gone; nothing was lost"
    try:
        # A git process that outlived its publish locks the index until its commit is made.
        repo.wait_for_index()
        swept = unstage_swept(repo) if record["adds"] == "all" else []
        note = _finish(clone, repo, record["line"], items) or _take_back(repo, items)
    except GitFailed as error:
        return f"a publish in {record['top']} was interrupted and cannot be undone yet: {error}"
    fsio.remove(clone.layout.publishing)
    named = ", ".join(swept[:3]) + (" …" if len(swept) > 3 else "")
    also = f"; it had staged {len(swept):,} files that are not Holdfast's ({named}); they are unstaged, unchanged"
    return note + (also if swept else "")


def resume(clone: Clone) -> str | None:
    """Recovers, unless another process is publishing right now: then the journal is its own."""
    try:
        with fsio.locked(clone.layout.lock, wait=0.0):
            return recover(clone)
    except Busy:
        return None
    except PublishRefused as error:
        clone.layout.leave_out(error)
        return None


def read(layout: paths.Layout) -> tuple[dict[str, str], list[PublishItem]]:
    """Reads the journal of an interrupted publish; raises PublishRefused if it is damaged."""
    try:
        with loose_records.judging(layout.publishing, ", the journal of an interrupted publish, cannot be read"):
            record = json.loads(fsio.read(layout.publishing, limit=_MOST))
            # Earlier versions ran `git add -A`, which staged every file if it was interrupted.
            facts = {"adds": record.get("adds", "all"), **{name: record[name] for name in ("top", "worktree", "line")}}
            if not all(isinstance(word, str) for word in facts.values()):
                raise ValueError("it does not name its work tree")
            return facts, [_item(row) for row in record["items"]]
    except CorruptLog as error:
        hint = "`holdfast doctor --repair --yes` moves it away; then check `git status` and publish again."
        raise PublishRefused(str(error), hint=hint) from error


def _item(row: dict[str, object]) -> PublishItem:
    change = row.pop("change")
    if not isinstance(change, dict | None):
        raise ValueError("a change is not an object")
    item = PublishItem(data=None, change=pending_changes.PendingChange(**change) if change else None, **row)  # type: ignore[arg-type]
    if item.change is not None:
        pending_changes.check(item.change)
    if item.path not in (paths.ATTRIBUTES, paths.SETTINGS) and not pending_changes.is_publishable(item.path):
        raise ValueError(f"{item.path!r} is not a path that Holdfast publishes")
    if not all(isinstance(word, str | None) for word in (item.blob, item.head_blob, item.index, item.there)):
        raise ValueError("it does not name git objects")
    return item


def _repo_of(clone: Clone, record: dict[str, str]) -> Repo | None:
    if record["worktree"] == _place(clone.repo):
        return clone.repo
    with contextlib.suppress(NotARepository):
        other = Repo.at(record["top"])
        if other.common_dir == clone.repo.common_dir and _place(other) == record["worktree"]:
            return other
    return None


def _finish(clone: Clone, repo: Repo, line: str, items: Sequence[PublishItem]) -> str | None:
    """Settles the changes of a publish whose commit was made; None if it was not made."""
    tree = repo.blobs_at("HEAD", [item.path for item in items])
    if not all(tree.get(item.path) == item.blob for item in items):
        return None
    known = branch_lines.find(clone.stores, line)
    if known is not None:
        seen = known.seen_as(repo.head().ref)
        visible_entries.settle(repo, clone.stores, seen, blob_of=clone.blob_of, ts=clone.now())
        clone.forget_line()
    return f"finished {_what(items)} that was interrupted after its commit"


def _take_back(repo: Repo, items: Sequence[PublishItem]) -> str:
    sweep(repo, items)
    tree = repo.blobs_at("HEAD", [item.path for item in items])
    left = [item for item in items if tree.get(item.path) != item.blob]  # the others were committed since
    index = {path: facts.split(" ")[1] for path, facts in index_entries(repo).items()}
    files = [item for item in left if file_blob(repo, item.path) == item.blob]
    undo(repo, files, [item for item in left if index.get(item.path) == item.blob])
    again = "nothing was lost, publish again when you like"
    if _what(items) == _INIT:
        again = "its files are there and not staged; run it again when you like"
    return f"undid {_what(items)} that was interrupted; {again}"


def _what(items: Sequence[PublishItem]) -> str:
    """Names the interrupted command: only `init` commits the settings."""
    return _INIT if any(item.path == paths.SETTINGS for item in items) else "a publish"


def sweep(repo: Repo, items: Iterable[PublishItem]) -> None:
    """Removes temporary files that a killed publish left beside its files."""
    for item in items:
        full = fsio.inside(repo.top, item.path)
        folder, name = os.path.split(full)
        with contextlib.suppress(FileNotFoundError):
            for other in os.listdir(folder):
                if other.startswith(f"{name}.") and other.endswith(".tmp"):
                    fsio.remove(os.path.join(folder, other))
        prune(folder, os.path.join(repo.top, paths.TRACKED))


def file_blob(repo: Repo, path: str) -> str | None:
    """Returns the blob of a file in the work tree; None if there is none."""
    data = fsio.find(fsio.inside(repo.top, path), limit=_MOST)
    return None if data is None else repo.hash_blob(data)


def index_entries(repo: Repo) -> dict[str, str]:
    """Returns "<mode> <oid>" of each path of ours in git's index."""
    return {path: facts for path, (_, facts) in tagged_entries(repo).items()}


def tagged_entries(repo: Repo) -> dict[str, tuple[str, str]]:
    """Returns the same with git's tag, which is S for a file that a sparse checkout leaves out."""
    rows = git_memo.listed_rows(repo.run("ls-files", "-s", "-t", "-z", "--", paths.TRACKED))
    return {name: (tag, f"{mode} {oid}") for name, (tag, mode, oid, _) in rows}


def staged_though_ignored(repo: Repo) -> list[str]:
    """Returns files that git ignores but that are staged as new; not Holdfast's own."""
    ignored = repo.run("ls-files", "-z", "-c", "-i", "--exclude-standard").split(b"\0")[:-1]
    added = {path for path, entry in _staged_by_others(repo).items() if entry is None} if ignored else set()
    return [path for path in map(os.fsdecode, ignored) if path in added]


def unstage_swept(repo: Repo) -> list[str]:
    """Resets the index to HEAD if the whole work tree was staged by accident; returns what was unstaged.

    A person stages an ignored file only by force, one by one: if one is staged, all files were, and it is
    unknown which of them were staged by hand before. No file is changed.
    """
    if not staged_though_ignored(repo):
        return []
    staged = _staged_by_others(repo)
    write_index(repo, list(staged.items()))
    return sorted(staged)


def unstage(repo: Repo, paths: Iterable[str]) -> None:
    """Removes files that HEAD lacks from the index."""
    added = [(path, entry) for path, entry in _staged_by_others(repo).items() if entry is None]
    write_index(repo, [row for row in added if row[0] in set(paths)])


def _staged_by_others(repo: Repo) -> dict[str, str | None]:
    """Returns each path whose index entry differs from HEAD, with HEAD's "<mode> <oid>"; leaves out our own."""
    if repo.head().oid is None:
        rows = repo.run("ls-files", "-z").split(b"\0")[:-1]
        found: dict[str, str | None] = {os.fsdecode(row): None for row in rows}
    else:
        how = ("--cached", "--raw", "-z", "--no-abbrev", "--no-renames", "--ignore-submodules=none")
        words = iter(repo.run("diff-index", *how, "HEAD").split(b"\0")[:-1])
        found = {}
        for facts, name in zip(words, words, strict=True):
            mode, _, oid, *_ = facts.decode("ascii").removeprefix(":").split(" ")
            found[os.fsdecode(name)] = None if set(oid) == {"0"} else f"{mode} {oid}"
    return {path: entry for path, entry in found.items() if not path.startswith(f"{paths.TRACKED}/")}


def undo(repo: Repo, files: Sequence[PublishItem], entries: Sequence[PublishItem]) -> None:
    """Restores files and index entries to their state before the publish."""
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


def _undo_index(repo: Repo, items: Sequence[PublishItem]) -> None:
    now, tree = index_entries(repo), repo.blobs_at("HEAD", [item.path for item in items])
    # If somebody moved HEAD since, the entry is restored to what HEAD has now.
    standing = {path: f"100644 {blob}" for path, blob in tree.items()}
    moved = {item.path: tree.get(item.path) != item.head_blob for item in items}
    before = {item.path: standing.get(item.path) if moved[item.path] else item.index for item in items}
    write_index(repo, [(path, entry) for path, entry in before.items() if now.get(path) != entry])
    hidden = b"".join(os.fsencode(item.path) + b"\0" for item in items if item.sparse and item.index)
    if hidden:
        repo.patiently("update-index", "--skip-worktree", "-z", "--stdin", stdin=hidden)


def follow_head(repo: Repo, items: Sequence[PublishItem], tree: dict[str, str]) -> None:
    """Updates the index where a hook changed the committed file: `commit --only` leaves our own entry there."""
    now = index_entries(repo)
    changed = [item for item in items if tree.get(item.path) not in (None, item.blob)]
    ours = [item.path for item in changed if now.get(item.path, "").endswith(f" {item.blob}")]
    write_index(repo, [(path, f"100644 {tree[path]}") for path in ours])


def write_index(repo: Repo, rows: Sequence[tuple[str, str | None]], *, lock: int | None = None) -> None:
    """Sets entries of git's index to "<mode> <oid>", or removes them; waits a little if the index is locked.

    `update-index` changes only the given entries; `git add -A` with an empty list, or one that ends in the
    middle of a name, adds the whole work tree. `lock` is the store's, see `Repo.attempt`.
    """
    if not rows:
        return
    gone = "0 " + "0" * len(repo.hash_blob(b""))
    lines = b"".join(f"{entry or gone}\t".encode("ascii") + os.fsencode(path) + b"\0" for path, entry in rows)
    # A file system monitor that git starts here would keep the lock for as long as it runs.
    quiet = ("-c", "core.fsmonitor=false") if lock is not None else ()
    repo.patiently(*quiet, "update-index", "--add", "-z", "--index-info", stdin=lines, lock=lock)


def refusal(output: bytes, refused: str) -> HoldfastError:
    """Returns the error for git's output when it made no commit."""
    if lacks_identity(output):
        return PublishRefused("git has no name and email for commits here", hint=IDENTITY_HINT)
    if is_index_busy(output):
        return GitFailed("another git process has locked the index: .git/index.lock exists", hint=LOCK_HINT)
    rows = os.fsdecode(output).strip().splitlines() or ["it gave no reason"]
    return HookRefused(f"{refused}: {rows[-1].strip()}")


def prune(folder: str, top: str) -> None:
    """Removes folders that became empty, up to ours."""
    while folder != top and folder.startswith(top):
        try:
            fsio.ops.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)


@contextlib.contextmanager
def undone_on_failure(clone: Clone, items: Sequence[PublishItem]) -> Iterator[None]:
    """Undoes everything if the block fails before its commit; if that fails too, the next command uses the journal."""
    whole = False
    try:
        yield
        whole = True
    finally:
        if not whole:
            with contextlib.suppress(HoldfastError, OSError):
                sweep(clone.repo, items)
                # An interrupt in the commit's last hook comes after the commit: undoing would delete its files.
                if _finish(clone, clone.repo, clone.line().id, items) is None:
                    undo(clone.repo, items, items)
                fsio.remove(clone.layout.publishing)
