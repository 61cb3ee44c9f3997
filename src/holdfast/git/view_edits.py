"""Detects edits of rendered views: stores what was rendered last, so that no edit is overwritten.

There are small records for each work tree; a damaged one counts as missing, which only means that a file is read
again. A view is never rendered over an unread edit (`edited`, `put`), and an edit that cannot be applied is saved
with a note (`refused`). Other modules apply edits: `work.state_view_edits` for the project's state, `curation` for
memories.

A view that git tracks does not count as an edit, because a pull request can bring one. It is neither applied nor
rendered over.
"""

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeVar

from holdfast.errors import BadInput, Busy, NotStored, PublishRefused, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.store import fsio, loose_records
from holdfast.store import layout as paths


def read_record(clone: Clone, subject: str) -> dict[str, list[Any]]:
    """Returns the stored rows of a subject, by name."""
    places = (os.path.join(store.seen, _name(clone, subject)) for store in (clone.layout, *clone.stores))
    raw = next((found for path in places if (found := loose_records.read(path))), {})  # the store in use comes first
    return {name: row for name, row in raw.items() if isinstance(row, list)}


def keep_record(clone: Clone, subject: str, rows: dict[str, list[Any]]) -> None:
    """Replaces the stored rows of a subject."""
    loose_records.keep(os.path.join(clone.layout.seen, _name(clone, subject)), rows)


def _name(clone: Clone, subject: str) -> str:
    return f"{subject}-{hashlib.sha256(os.fsencode(clone.worktree)).hexdigest()[:16]}.json"


RECORD = "views"
STATE = "project_state.json"
MEMORY_PAGES = ("decisions.md", "assumptions.md", "invariants.md", "dead-ends.md", "candidates.md")
MAX_VIEW = 1 << 26  # 64 MiB, a guess: no view that people read is larger
SETTLED = 2.0  # seconds: some file systems store times in steps of two seconds; later writes change the time
_T = TypeVar("_T")
PATIENCE = 2.0  # seconds to wait for another command; a guess: the next command applies an edit left over


def edited(clone: Clone, name: str) -> bytes | None:
    """Returns a view's bytes if they differ from what was rendered here and did not come by git, else None."""
    path = fsio.inside(clone.repo.top, f"{paths.VIEW}/{name}")
    if not (now := _facts(path)):
        return None
    rows = read_record(clone, RECORD)
    row = rows.get(name)
    if row is not None and row[1:] == now:
        return None
    data = fsio.read(path, limit=MAX_VIEW)
    if row is None or row[:1] != [_digest(data)]:
        if not is_tracked(clone, name, also_in_head=True):
            return data
        if not clone.reading:  # its text is no edit later either, when git no longer tracks it
            remember(clone, name, data)
        return None
    if not clone.reading and clone.clock().timestamp() - now[0] / 1e9 > SETTLED:
        keep_record(clone, RECORD, {**rows, name: [row[0], *now]})  # the next command need not read it
    return None


def is_tracked(clone: Clone, name: str, *, also_in_head: bool = False) -> bool:
    """Returns whether git tracks a view; if so, adds a note."""
    path = f"{paths.VIEW}/{name}"
    index = os.path.join(clone.repo.git_dir, "index")
    found = path in _in_index(clone.repo, index, *fsio.facts(index))
    if not found and not (also_in_head and path in clone.repo.tree("HEAD", paths.VIEW)):
        return False
    note = f"{path} is tracked by git, so it is neither read as an edit nor rendered; git rm --cached {path}"
    if note not in clone.notes:
        clone.notes.append(note)
    return True


@lru_cache(maxsize=8)  # a guess: more repositories than one process works in
def _in_index(repo: Repo, path: str, *_: int) -> frozenset[str]:
    """Returns the views in git's index; asks git only if the index may name one."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return frozenset()
    # Index version 4 compresses names, and a split index has some of them in another file.
    plain = data[4:8] in (b"\0\0\0\2", b"\0\0\0\3") and b"link" not in data
    if plain and paths.VIEW.encode("ascii") not in data:
        return frozenset()
    listed = repo.run("ls-files", "-z", "--", paths.VIEW)
    return frozenset(os.fsdecode(listed).split("\0")) - {""}


def remember(clone: Clone, name: str, data: bytes) -> None:
    """Records that these bytes of a view are no edit."""
    keep_record(clone, RECORD, {**read_record(clone, RECORD), name: [_digest(data)]})


def put(clone: Clone, name: str, text: str, *, write: Callable[[paths.Layout, str, str], bool]) -> bool:
    """Renders a view that may be edited, unless it has an unread edit; returns whether it wrote."""
    if edited(clone, name) is not None:
        clone.notes.append(f"{paths.VIEW}/{name} was just edited, so it was not rendered")
        return False
    if is_tracked(clone, name) or not write(clone.layout, name, text):
        return False
    remember(clone, name, text.encode("utf-8", "replace"))
    return True


def refused(clone: Clone, name: str, data: bytes, why: str) -> str:
    """Saves the text of an edit that cannot be applied, adds a note, and returns the path of the saved file."""
    fsio.make_dirs(clone.layout.kept)
    when = clone.now()[:19].replace("-", "").replace(":", "")
    text = clone.scan.text(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    # Many edits may be refused within a second; only equal texts may share a file.
    path = os.path.join(clone.layout.kept, f"{when}Z-{_digest(text)[:8]}-{name.replace('/', '-')}")
    fsio.replace(path, text)
    remember(clone, name, data)
    clone.notes.append(f"your edit of {paths.VIEW}/{name} was not applied: {why}; its text is in {path}")
    return path


def changed(clone: Clone, names: Iterable[str]) -> list[str]:
    """Returns the views that may have an edit: those whose file is not the one that was read last."""
    rows, folder = read_record(clone, RECORD), clone.layout.view()
    return [name for name in names if (now := _facts(os.path.join(folder, name))) and now != rows.get(name, [])[1:]]


def _facts(path: str) -> list[int]:
    try:
        facts = os.stat(path, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [facts.st_mtime_ns, facts.st_size, facts.st_ino]


def taken(clone: Clone, name: str, take: Callable[[bytes], _T]) -> _T | None:
    """Returns `take` of an edited view's bytes, called with the store locked; None if there is no edit to apply."""
    if clone.reading or clone.repo.operation():
        return None
    try:
        clone.repo.refuse_in_hook_of_publish()
        if edited(clone, name) is None:
            return None
        with fsio.locked(clone.layout.lock, wait=PATIENCE):
            data = edited(clone, name)
            return None if data is None else take(data)
    except (UnsafePath, TooLarge, NotStored, ReadOnlyStore) as error:
        clone.notes.append(f"{paths.VIEW}/{name} was not changed: {error}")
    except (Busy, PublishRefused):  # the next command tries again
        pass
    return None


def decoded(data: bytes) -> str:
    """Decodes an edited view; raises BadInput with the line that is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"line {line}: it has bytes that are not UTF-8 text") from None


def spare(clone: Clone, name: str) -> None:
    """Saves what somebody wrote into a read-only view, before it is rendered again.

    Raises UnsafePath if git tracks it: then it must not be rendered.
    """
    if is_tracked(clone, name):
        raise UnsafePath(f"git tracks {paths.VIEW}/{name}", hint=f"Untrack it: git rm --cached {paths.VIEW}/{name}")
    if name in read_record(clone, RECORD) and (data := edited(clone, name)) is not None:
        refused(clone, name, data, "nothing is read back from this view")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
