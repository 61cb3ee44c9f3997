"""Is the index up to date? Told from file facts alone, without git and without reading content.

A signature is a short string over everything that decides what is visible here: where HEAD
points, git's config, the names, sizes and times of spools, of waiting changes, of candidates and
of lines, and the same of every memory file in the work tree. Equal signatures, equal state. It has
parts, so that a question about tasks does not pay for ten thousand memories.

Both ways to an answer use this module: the quick path to decide, the full path to remember. It
imports nothing that a Python start has not already paid for.

Answers kept ready: text rendered before, good for as long as nothing changed.

The full path puts an answer here together with the signature that was true *before* it looked;
the quick path prints it if the signature still holds and its time is not over. It is a cache in
a cache: whoever finds nothing here computes the answer.
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
TICK = 20_000_000  # two changes within one tick of the file system's clock leave the same time
MAX_ROW, MAX_ROWS = 64 << 10, 1 << 20  # bytes of a log's last row, and of rows that are looked at
COARSE = 2_000_000_000  # ... and a tick is this long where times are whole seconds


class WorkTreePaths:
    """A work tree and its folders, as far as files tell."""

    __slots__ = ("common_dir", "git_dir", "top")

    def __init__(self, top: str, git_dir: str, common_dir: str) -> None:
        self.top, self.git_dir, self.common_dir = top, git_dir, common_dir


class IndexSignature:
    """What the state looks like, and whether it can be told apart from one a moment later.

    `memory` covers what can be recalled, tasks and sessions included, `work` the tasks and who has
    claimed them; `value` covers both and what surrounds them: other branches, what git has staged and
    what it is in the middle of; `truth` is the same without the view that takes edits, which a command
    may have rendered itself. A part that nobody asked for is empty and equals nothing.
    """

    __slots__ = ("_newest", "_now", "folders", "memory", "truth", "value", "work")

    def __init__(
        self, memory: str, work: str, value: str, truth: str, *, newest: int, now: int, folders: dict[str, FolderFacts]
    ) -> None:
        self.memory, self.work, self.value, self.truth = memory, work, value, truth
        self._newest, self._now, self.folders = newest, now, folders

    def settles_in(self) -> int:
        """For how many nanoseconds a change could still go unseen; not above 0 if it could not."""
        return settles_in(self._newest, self._now)

    @property
    def settled(self) -> bool:
        return self.settles_in() <= 0


ALL = ("memory", "work", "value")
taken: dict[str, IndexSignature] = {}  # what the quick path saw and could not answer from, by work tree


def signature(place: WorkTreePaths, layout: Layout, *, parts: "Sequence[str]" = ALL) -> IndexSignature | None:
    """The state of this work tree; None where only the full path can tell or has something to finish."""
    now = time.time_ns()
    common = _ground(place, layout)
    if common is None:
        return None
    memory, tasks, work, around, view = _Seen(), _Seen(), _Seen(), _Seen(), _Seen()
    if "memory" in parts or "value" in parts:
        for path in (layout.runs, layout.bodies, layout.sealed_log, layout.quarantine, layout.uses):
            memory.file(path)
        for path in (layout.spool, layout.candidates, layout.sessions):
            memory.tree(path)
        memory.documents(layout.in_tree(MEMORY))
    tasks.documents(layout.in_tree(TASKS))
    if "work" in parts or "value" in parts:
        work.tree(layout.claims)
        view.file(layout.view("project_state.json"))  # an edit of it is taken by the next command
        work.documents(layout.in_tree(LINKS))
    if "value" in parts:
        for name in ("index", "FETCH_HEAD", *UNDER_WAY):
            around.file(os.path.join(place.git_dir, name))
        for name in ("shallow", "info/exclude", "worktrees"):
            around.file(os.path.join(place.common_dir, *name.split("/")))
        around.tree(os.path.join(place.common_dir, "refs"))
        for name in layout.listed(layout.seen):
            if not name.startswith("views-"):  # an answer that is rendered would end itself
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
    """What decides which memories stand, but for their own files: cheap, however many there are.

    Where HEAD stands, git's config and packed refs, settings, whom the user trusts, and every waiting change,
    line and erasure. None where only the full path can tell, or has something to finish.
    """
    seen = _ground(place, layout)
    return None if seen is None else digest(seen)


def _ground(place: WorkTreePaths, layout: Layout) -> "_Seen | None":
    head = _head(place)
    if head is None or _drawer_in_use(place.top) or _cut_short(layout) or _news(layout):
        return None
    seen = _Seen(FORMAT, place.top, head)
    _look_at_both(seen, place, layout)
    return seen


def heads(place: WorkTreePaths) -> str:
    """Where this clone's branches stand, but for the packed ones, which every signature covers."""
    seen = _Seen()
    seen.tree(os.path.join(place.common_dir, "refs", "heads"))
    return digest(seen)


def footing(place: WorkTreePaths, layout: Layout) -> str:
    """The same but for how far the branch went: commits on it change it not, whatever else does."""
    seen = _Seen(FORMAT, place.top, *_branch(place))
    _look_at_both(seen, place, layout, logs=())
    return digest(seen)


def went_to(place: WorkTreePaths) -> tuple[str, int]:
    """Where HEAD stands by its log, and how long that is; nothing where there is none."""
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
    """Whether HEAD only went on by commits since it stood at `oid` and its log was that long."""
    if not oid or _drawer_in_use(place.top) or _cut_short(layout):
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
    """Whether all news that git's hooks left is of commits."""
    for name in _news(layout):
        rows = _rows(os.path.join(layout.inbox, name))
        if rows[-1] or any(row.split(b"\t")[2:3] != [b"post-commit"] for row in rows[:-1]):
            return False
    return True


def _rows(path: str, start: int = 0) -> list[bytes]:
    """The rows of a log from some byte on, the last one empty if all are whole; no empty one if it cannot be read."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read(MAX_ROWS).split(b"\n")
    except OSError:
        return [b"-"]


def _log(place: WorkTreePaths) -> str:
    return os.path.join(place.git_dir, "logs", "HEAD")


def _look_at_both(
    seen: "_Seen", place: WorkTreePaths, layout: Layout, *, logs: "Sequence[str]" = ("logs/HEAD",)
) -> None:
    for name in ("config", "packed-refs"):
        seen.file(os.path.join(place.common_dir, name))
    # The reflog of HEAD: who went to another branch and back has moved, and the next command says so.
    for name in (*logs, "holdfast-line", "rebase-merge/head-name", "rebase-apply/head-name"):
        seen.file(os.path.join(place.git_dir, *name.split("/")))
    for path in (layout.sealed_changes, layout.settings, layout.in_tree(SETTINGS)):
        seen.file(path)
    # Whom the user trusts, and where that trunk stands: a fetch may bring what speaks here.
    seen.file(layout.trusted)
    ref = (_line(layout.trusted) or "").removeprefix("ref ")
    if ref.startswith("refs/remotes/") and ".." not in ref:
        seen.facts.append(_line(os.path.join(place.common_dir, *ref.split("/"))) or "-")
        # Where the remote says its trunk is: another one voids the trust.
        seen.file(os.path.join(place.common_dir, *ref.split("/")[:3], "HEAD"))
        seen.file(os.path.join(place.common_dir, "shallow"))  # more history may tell what was approved
    for path in (layout.pending, layout.lines, layout.erased):
        seen.tree(path)


WATCHED = "watched"  # the kept row that names the files of the work tree of which `context` tells
MAX_WATCHED = 20_000  # files: beyond that git looks faster than we do


def watched(top: str, paths: str) -> tuple[str, int]:
    """What the files of a work tree look like: a short string, and the latest change among them.

    `paths` are the files git tracks and the folders they lie in, one a line: a file that is edited
    changes its own facts, one that is added or deleted those of its folder.
    """
    seen = _Seen()
    for path in paths.split("\n"):
        seen.file(f"{top}/{path}")
    return digest(seen), seen.newest


def settles_in(newest: int, now: int) -> int:
    """For how many nanoseconds a change could leave the time of the newest; not above 0 if it could not."""
    return newest + (COARSE if newest % 1_000_000_000 == 0 else TICK) - now


def _news(layout: Layout) -> list[str]:
    """The files in which git's hooks left word of something that no command has read yet."""
    log = os.path.basename(layout.git_inbox)
    try:
        return [name for name in os.listdir(layout.inbox) if name == log or name.startswith(f"{log}.taken-")]
    except OSError:
        return []


def _cut_short(layout: Layout) -> bool:
    """Whether a publish or an erase was interrupted: the next command finishes it."""
    return os.path.lexists(layout.publishing) or os.path.lexists(layout.erasing)


class _Seen:
    """Gathers facts of files into one number; `newest` is the latest change among them."""

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
        """Every file below a folder; folders themselves only by name, for many things touch their times."""
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
                    else:  # a fifth faster than by path, and there may be ten thousand
                        found = os.stat(name, dir_fd=handle, follow_symlinks=False)
                except OSError:
                    continue
                if found.st_mode & 0o170000 == 0o040000:
                    self.tree(f"{path}/{name}")
                    self.facts.append("/")
                else:
                    self._note(found)
        except OSError:  # it went away just now
            self.facts.append("-")
        finally:
            if handle is not None:
                os.close(handle)

    def documents(self, path: str) -> None:
        """The same for a folder that may hold ten thousand files, at less than half the cost."""
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


def digest(*seen: "_Seen") -> str:
    """One short string. The checksum is wide enough to notice, and no secret hangs on it."""
    facts = [word for one in seen for word in (*one.facts, str(one.sum), "")]
    text = "\n".join(facts).encode("utf-8", "surrogateescape")
    try:
        from _blake2 import blake2b
    except ImportError:  # a Python built without it
        from hashlib import blake2b
    return str(blake2b(text, digest_size=16).hexdigest())


def _head(place: WorkTreePaths) -> str | None:
    """What HEAD says and where its branch stands."""
    content = _line(os.path.join(place.git_dir, "HEAD"))
    if not content or content.endswith("/.invalid"):
        return None
    if not content.startswith("ref: "):
        return content
    ref = content[len("ref: ") :]
    loose = os.path.join(place.common_dir, *ref.split("/"))
    born = os.path.join(place.common_dir, "logs", *ref.split("/"))
    # A branch deleted and made again at the same commit has another file, and is another line.
    return f"{ref} {_line(loose)} {_inode(loose)} {_inode(born)}"


def _branch(place: WorkTreePaths) -> tuple[str, str]:
    """What HEAD says, and since when that branch is the one of that name."""
    content = _line(os.path.join(place.git_dir, "HEAD")) or ""
    return content, str(_inode(os.path.join(place.common_dir, "logs", *content.removeprefix("ref: ").split("/"))))


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0


def _line(path: str) -> str | None:
    try:
        # Five times faster than `open`, and every question asks three; a pipe in its place must not hold us.
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


def _drawer_in_use(top: str) -> bool:
    """Whether the store of last resort holds anything: then more than one place has to be read."""
    try:
        return any(name != ".gitignore" for name in os.listdir(os.path.join(top, *LOCAL.split("/"))))
    except OSError:
        return False


def ready_answer(db: "Connection", name: str, *, signature: str, now: str) -> tuple[str, str] | None:
    """The kept (text, json), or None if it is not there or no longer true."""
    row = db.execute("SELECT text, json, signature, until FROM ready WHERE name = ?", (name,)).fetchone()
    return None if row is None or row[2] != signature or (row[3] and row[3] <= now) else (row[0], row[1])
