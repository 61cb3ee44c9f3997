"""Tells from file facts alone whether the index is current, without git and without reading content.

A signature is a short string over everything that decides what is visible here: HEAD, git's config, the names, sizes
and times of spools, pending changes, candidates and lines (a line is a branch's work), and of every memory file in the
work tree. Equal signatures mean equal state. It has parts, so that a question about tasks need not read ten thousand
memories.

Both paths to an answer use this module: the quick path to decide, the full path to store. It imports nothing that
Python's start has not already loaded.

Ready answers are rendered texts, valid as long as nothing changed: the full path stores one with the signature from
*before* it read; the quick path prints it if the signature still holds and it has not expired. If there is none, the
answer is computed.
"""

import os
import time

from holdfast.store.folder_facts import FOLDER, HANDLES, FolderFacts, look
from holdfast.store.layout import LINKS, LOCAL, MEMORY, SETTINGS, TASKS, Layout

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

FORMAT = "5"
UNDER_WAY = (
    "MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD", "sequencer",
    "BISECT_LOG",
)  # fmt: skip
TICK = 20_000_000  # ns: changes within a tick of the file system's clock (10 ms at 100 Hz) have the same time
MAX_ROW, MAX_ROWS = 64 << 10, 1 << 20  # bytes of a log's last row, and of rows that are read; guesses
COARSE = 2_000_000_000  # ... and a tick is this long where times are whole seconds


class WorkTreePaths:
    """A work tree and its git folders."""

    __slots__ = ("common_dir", "git_dir", "top")

    def __init__(self, top: str, git_dir: str, common_dir: str) -> None:
        self.top, self.git_dir, self.common_dir = top, git_dir, common_dir


class IndexSignature:
    """The signature of the state, and whether a change a moment later would alter it.

    `memory` covers what can be recalled, tasks and sessions included; `work` the tasks and their claims; `value` both
    and their context: other branches, git's index and its unfinished operations; `truth` is `value` without the
    editable view, which a command may have rendered itself. A part that was not requested is empty and equals nothing.
    """

    __slots__ = ("_newest", "_now", "folders", "memory", "truth", "value", "work")

    def __init__(
        self, memory: str, work: str, value: str, truth: str, *, newest: int, now: int, folders: dict[str, FolderFacts]
    ) -> None:
        self.memory, self.work, self.value, self.truth = memory, work, value, truth
        self._newest, self._now, self.folders = newest, now, folders

    def settles_in(self) -> int:
        """Returns for how many nanoseconds a change could still go unnoticed; 0 or less if it could not."""
        return settles_in(self._newest, self._now)

    @property
    def settled(self) -> bool:
        return self.settles_in() <= 0


ALL = ("memory", "work", "value")
taken: dict[str, IndexSignature] = {}  # signatures from which the quick path could not answer, by work tree


def signature(place: WorkTreePaths, layout: Layout, *, parts: "Sequence[str]" = ALL) -> IndexSignature | None:
    """Returns the state of this work tree; None if only the full path can tell or has something to finish."""
    now = time.time_ns()
    common = _ground(place, layout)
    if common is None:
        return None
    memory, tasks, work, around, view = _FileFacts(), _FileFacts(), _FileFacts(), _FileFacts(), _FileFacts()
    if "memory" in parts or "value" in parts:
        for path in (layout.runs, layout.bodies, layout.sealed_log, layout.quarantine, layout.uses):
            memory.file(path)
        for path in (layout.spool, layout.candidates, layout.sessions):
            memory.tree(path)
        memory.documents(layout.in_tree(MEMORY))
    tasks.documents(layout.in_tree(TASKS))
    if "work" in parts or "value" in parts:
        work.tree(layout.claims)
        view.file(layout.view("project_state.json"))  # the next command reads an edit of it
        work.documents(layout.in_tree(LINKS))
    if "value" in parts:
        for name in ("index", "FETCH_HEAD", *UNDER_WAY):
            around.file(os.path.join(place.git_dir, name))
        for name in ("shallow", "info/exclude", "worktrees"):
            around.file(os.path.join(place.common_dir, *name.split("/")))
        around.tree(os.path.join(place.common_dir, "refs"))
        for name in layout.listed(layout.seen):
            if not name.startswith("views-"):  # otherwise rendering an answer would invalidate it
                around.facts.append(name)
                around.file(os.path.join(layout.seen, name))
        for path in (layout.rewrites, layout.anchors):
            around.file(path)
    everything = (common, memory, tasks, work, around)
    return IndexSignature(
        digest(common, memory, tasks) if "memory" in parts else "",
        digest(common, tasks, work, view) if "work" in parts else "",
        digest(*everything, view) if "value" in parts else "",
        digest(*everything) if "value" in parts else "",
        newest=max(seen.newest for seen in (*everything, view)),
        now=now,
        folders={**memory.folders, **tasks.folders, **work.folders},
    )


def ground(place: WorkTreePaths, layout: Layout) -> str | None:
    """Returns the state that decides which memories apply, without their files: cheap, however many there are.

    It covers HEAD, git's config and packed refs, settings, the trusted trunk, and every pending change, line and
    erasure. None if only the full path can tell, or has something to finish.
    """
    seen = _ground(place, layout)
    return None if seen is None else digest(seen)


def _ground(place: WorkTreePaths, layout: Layout) -> "_FileFacts | None":
    head = _head(place)
    if head is None or _has_fallback_store(place.top) or _is_interrupted(layout) or _news(layout):
        return None
    seen = _FileFacts(FORMAT, place.top, head)
    _add_common_facts(seen, place, layout)
    return seen


def heads(place: WorkTreePaths) -> str:
    """Returns the state of this clone's branches without the packed ones, which every signature covers."""
    seen = _FileFacts()
    seen.tree(os.path.join(place.common_dir, "refs", "heads"))
    return digest(seen)


def footing(place: WorkTreePaths, layout: Layout) -> str:
    """Returns the same without the branch's position: commits on it do not change it, everything else does."""
    seen = _FileFacts(FORMAT, place.top, *_branch(place))
    _add_common_facts(seen, place, layout, logs=())
    return digest(seen)


def went_to(place: WorkTreePaths) -> tuple[str, int]:
    """Returns HEAD's commit by its reflog, and the log's length; empty without a log."""
    try:
        with open(_log(place), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MAX_ROW))
            rows = file.read(MAX_ROW).splitlines()
    except OSError:
        return "", 0
    words = rows[-1].split(b" ", 2) if rows else []
    return words[1].decode("ascii", "replace") if len(words) == 3 else "", size


def only_commits(place: WorkTreePaths, layout: Layout, oid: str, size: int) -> bool:
    """Whether HEAD only moved by commits since it was at `oid` and its log had that length."""
    if not oid or _has_fallback_store(place.top) or _is_interrupted(layout):
        return False
    rows = _rows(_log(place), size)
    at = oid.encode("ascii", "replace")
    for row in rows[:-1]:
        said = row.partition(b"\t")[2]
        if not row.startswith(at + b" ") or not said.startswith((b"commit: ", b"commit (initial): ")):
            return False
        at = row.split(b" ", 2)[1]
    there = _line(os.path.join(place.common_dir, *_branch(place)[0].removeprefix("ref: ").split("/")))
    return rows[-1] == b"" and at.decode("ascii", "replace") == there and _is_of_commits(layout)


def _is_of_commits(layout: Layout) -> bool:
    """Whether all unread notices of git's hooks are about commits."""
    for name in _news(layout):
        rows = _rows(os.path.join(layout.inbox, name))
        if rows[-1] or any(row.split(b"\t")[2:3] != [b"post-commit"] for row in rows[:-1]):
            return False
    return True


def _rows(path: str, start: int = 0) -> list[bytes]:
    """Returns a log's rows from an offset; the last one is empty if all are complete and readable."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(MAX_ROWS).split(b"\n")
    except OSError:
        return [b"-"]


def _log(place: WorkTreePaths) -> str:
    return os.path.join(place.git_dir, "logs", "HEAD")


def _add_common_facts(
    seen: "_FileFacts", place: WorkTreePaths, layout: Layout, *, logs: "Sequence[str]" = ("logs/HEAD",)
) -> None:
    for name in ("config", "packed-refs"):
        seen.file(os.path.join(place.common_dir, name))
    # The reflog of HEAD: a switch to another branch and back counts, and the next command reports it.
    for name in (*logs, "holdfast-line", "rebase-merge/head-name", "rebase-apply/head-name"):
        seen.file(os.path.join(place.git_dir, *name.split("/")))
    for path in (layout.sealed_changes, layout.settings, layout.in_tree(SETTINGS)):
        seen.file(path)
    # The trusted trunk and its commit: a fetch may bring approved memories.
    seen.file(layout.trusted)
    ref = (_line(layout.trusted) or "").removeprefix("ref ")
    if ref.startswith("refs/remotes/") and ".." not in ref:
        seen.facts.append(_line(os.path.join(place.common_dir, *ref.split("/"))) or "-")
        # The remote's own trunk: if it changes, the trust is void.
        seen.file(os.path.join(place.common_dir, *ref.split("/")[:3], "HEAD"))
        seen.file(os.path.join(place.common_dir, "shallow"))  # more history may show more approvals
    for path in (layout.pending, layout.lines, layout.erased):
        seen.tree(path)


WATCHED = "watched"  # the stored row with the files of the work tree that `context` shows
MAX_WATCHED = 20_000  # files; a guess: beyond that `git status` is faster


def watched(top: str, paths: str) -> tuple[str, int]:
    """Returns the state of a work tree's files as a short string, and the latest change among them.

    `paths` are the files git tracks and their folders, one a line: an edited file changes its own facts, an added or
    deleted one those of its folder.
    """
    seen = _FileFacts()
    for path in paths.split("\n"):
        seen.file(f"{top}/{path}")
    return digest(seen), seen.newest


def settles_in(newest: int, now: int) -> int:
    """For how many nanoseconds a change could leave the time of the newest; not above 0 if it could not."""
    return newest + (COARSE if newest % 1_000_000_000 == 0 else TICK) - now


def _news(layout: Layout) -> list[str]:
    """Returns the files with notices of git's hooks that no command has read yet."""
    log = os.path.basename(layout.git_inbox)
    try:
        return [name for name in os.listdir(layout.inbox) if name == log or name.startswith(f"{log}.taken-")]
    except OSError:
        return []


def _is_interrupted(layout: Layout) -> bool:
    """Whether a publish or an erase was interrupted: the next command finishes it."""
    return os.path.lexists(layout.publishing) or os.path.lexists(layout.erasing)


class _FileFacts:
    """Collects facts of files into one number; `newest` is the latest change among them."""

    __slots__ = ("facts", "folders", "newest", "sum")

    def __init__(self, *words: str) -> None:
        self.facts, self.newest = list(words), 0
        self.folders: dict[str, FolderFacts] = {}  # of documents
        self.sum = 0  # over times, sizes and inodes; the hash of whole numbers is the same in every process

    def file(self, path: str) -> None:
        try:
            self._note(os.lstat(path))
        except OSError:
            self.facts.append("-")

    def _note(self, found: os.stat_result) -> None:
        changed = found.st_mtime_ns
        self.sum = hash((self.sum, changed, found.st_size, found.st_ino))
        self.newest = max(self.newest, changed)

    def tree(self, path: str) -> None:
        """Adds every file below a folder; folders only by name, because many things touch their times."""
        try:
            handle = os.open(path, FOLDER) if HANDLES else None
        except OSError:
            self.facts.append("-")
            return
        try:
            names = os.listdir(path if handle is None else handle)
            names.sort()
            self.facts += names
            for name in names:
                try:
                    if handle is None:
                        found = os.lstat(f"{path}/{name}")
                    else:  # a fifth faster than by path, for up to ten thousand files
                        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                except OSError:
                    continue
                if found.st_mode & 0o170000 == 0o040000:
                    self.tree(f"{path}/{name}")
                    self.facts.append("/")
                else:
                    self._note(found)
        except OSError:  # deleted meanwhile
            self.facts.append("-")
        finally:
            if handle is not None:
                os.close(handle)

    def documents(self, path: str) -> None:
        """Does the same for a folder with up to ten thousand files, at less than half the cost."""
        found = look(path)
        if found is None:
            self.facts.append("-")
            return
        self.folders[path] = found
        self.sum = hash((self.sum, found.total))
        self.newest = max(self.newest, found.newest)
        for name in found.folders:
            self.facts.append(name)
            self.documents(f"{path}/{name}")


def digest(*seen: "_FileFacts") -> str:
    """Returns one short string. It only has to detect changes; nothing secret depends on it."""
    facts = [word for one in seen for word in (*one.facts, str(one.sum), "")]
    text = "\n".join(facts).encode("utf-8", "surrogateescape")
    try:
        from _blake2 import blake2b
    except ImportError:  # a Python built without it
        from hashlib import blake2b
    return str(blake2b(text, digest_size=16).hexdigest())


def _head(place: WorkTreePaths) -> str | None:
    """Returns the content of HEAD and its branch's commit."""
    content = _line(os.path.join(place.git_dir, "HEAD"))
    if not content or content.endswith("/.invalid"):
        return None
    if not content.startswith("ref: "):
        return content
    ref = content[len("ref: ") :]
    loose = os.path.join(place.common_dir, *ref.split("/"))
    born = os.path.join(place.common_dir, "logs", *ref.split("/"))
    # A branch deleted and created again at the same commit has another file, and is another line.
    return f"{ref} {_line(loose)} {_inode(loose)} {_inode(born)}"


def _branch(place: WorkTreePaths) -> tuple[str, str]:
    """Returns the content of HEAD, and the inode of its branch's reflog."""
    content = _line(os.path.join(place.git_dir, "HEAD")) or ""
    return content, str(_inode(os.path.join(place.common_dir, "logs", *content.removeprefix("ref: ").split("/"))))


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0


def _line(path: str) -> str | None:
    try:
        # Five times faster than `open`, for three files a question; a pipe must not block us.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return None
    try:
        line = os.read(handle, MAX_ROW).partition(b"\n")[0].rstrip(b"\r")
    except OSError:
        return None
    finally:
        os.close(handle)
    return line.decode("utf-8", "surrogateescape")


def _has_fallback_store(top: str) -> bool:
    """Whether the fallback store contains anything: then more than one place must be read."""
    try:
        return any(name != ".gitignore" for name in os.listdir(os.path.join(top, *LOCAL.split("/"))))
    except OSError:
        return False


def ready_answer(db: "Connection", name: str, *, signature: str, now: str) -> tuple[str, str] | None:
    """Returns the stored (text, json); None if it is missing or no longer valid."""
    row = db.execute("SELECT text, json, signature, until FROM ready WHERE name = ?", (name,)).fetchone()
    return None if row is None or row[2] != signature or (row[3] and row[3] <= now) else (row[0], row[1])
