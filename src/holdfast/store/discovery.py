"""Finds the repository of a folder, for every entry point of Holdfast.

Only an entry named `.git` counts as a repository: git never checks one out, so it cannot come with a clone. A folder
that only looks like a git directory can, git treats it as a bare repository, and its private store may be a stranger's.
If the user sets GIT_DIR, git itself decides, see `git.repo`.

It reads files and does not run git. Hooks wait for it, so it imports only what every Python has loaded already, and
git's hook contains a copy of the first half.
"""

import time

try:
    import posix
except ImportError:  # Windows has the same calls under another name
    import nt as posix  # type: ignore[no-redef]

# Non-blocking: a pipe in place of a file must not stop us.
_READ = posix.O_RDONLY | getattr(posix, "O_NONBLOCK", 0) | getattr(posix, "O_CLOEXEC", 0)
_APPEND = posix.O_RDWR | posix.O_APPEND | posix.O_CREAT | getattr(posix, "O_NOFOLLOW", 0) | _READ
_KIND, _FOLDER, _FILE = 0o170000, 0o040000, 0o100000  # of st_mode, as POSIX has them
_POINTER = b"gitdir: "
MAX_INBOX = 16 << 20  # bytes; a guess: no command has run for very long, and the next one checks git itself
CONTEXTS, WORKER = b"/holdfast/contexts", b"worker"  # stored contexts, and the command that prepares them
ROW = 16 << 10  # bytes of a pointer file that are read; a row has a few fields of at most 4 KiB
LOCK_TRIES, LOCK_PAUSE = 40, 0.005  # together 0.2 seconds, a guess: git waits for the hook that waits here


def pointed_to(entry: bytes) -> "bytes | None":
    """Returns the git folder that a `.git` entry is or names; None if it is neither."""
    if is_folder(entry):
        return entry
    content = read(entry)
    if not content.startswith(_POINTER):
        return None
    return tidy(join(parent(entry), content[len(_POINTER) :].rstrip(b"\r\n")))


def common_of(git_dir: bytes) -> bytes:
    """Returns the git folder that all work trees of a clone share."""
    named = read(git_dir + b"/commondir").rstrip(b"\r\n")
    return tidy(join(git_dir, named)) if named else git_dir


def join(folder: bytes, name: bytes) -> bytes:
    return name if name.startswith(b"/") or name[1:2] == b":" else folder.rstrip(b"/") + b"/" + name


def tidy(path: bytes) -> bytes:
    """Returns a path without the `..` that git writes."""
    kept: list[bytes] = []
    for part in path.split(b"/"):
        if part == b"..":
            kept = kept[:-1]
        elif part not in (b"", b"."):
            kept.append(part)
    return (b"/" if path.startswith(b"/") else b"") + b"/".join(kept)


def parent(folder: bytes) -> bytes:
    """Returns the parent of a folder; the root is its own parent."""
    above, _, name = folder.rstrip(b"/").rpartition(b"/")
    return (above or b"/") if name else folder


def is_folder(path: bytes) -> bool:
    try:
        return posix.stat(path).st_mode & _KIND == _FOLDER
    except OSError:
        return False


def read(path: bytes, limit: int = 4096) -> bytes:
    """Returns a file's first bytes; none if it cannot be read."""
    try:
        fd = posix.open(path, _READ)
    except OSError:
        return b""
    try:
        return read_all(fd, limit)
    except OSError:  # a folder
        return b""
    finally:
        posix.close(fd)


def read_all(fd: int, limit: int) -> bytes:
    """Returns the bytes of an open file, up to a limit."""
    parts = []
    while limit > 0 and (part := posix.read(fd, min(limit, 1 << 20))):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


# ── writing into the inbox, for the two hooks ─────────────────────────────────────────────────────────


def append(path: bytes, data: bytes) -> None:
    """Appends to a file of the inbox, which the next command reads.

    A command renames the file, locks it, reads it and deletes it. If we hold the lock and the file still has a name,
    our row will be read; if another process keeps the lock, we write after a short wait.
    """
    for turn in range(LOCK_TRIES + 1):
        fd = posix.open(path, _APPEND, 0o600)
        locked = lock(fd)
        facts = posix.fstat(fd)
        if facts.st_mode & _KIND != _FILE or facts.st_size > MAX_INBOX:
            posix.close(fd)
            return
        if facts.st_nlink and (locked or turn == LOCK_TRIES):
            torn = facts.st_size and posix.pread(fd, 1, facts.st_size - 1) != b"\n"
            posix.write(fd, b"\n" + data if torn else data)
            posix.close(fd)
            return
        posix.close(fd)
        time.sleep(LOCK_PAUSE)


def lock(fd: int) -> bool:
    try:
        posix.lockf(fd, posix.F_TLOCK, 0)
    except OSError:
        return False
    return True


def make_folder(path: bytes) -> None:
    """Creates a folder if only the last part is missing; exits if it is a link or a file."""
    try:
        if posix.lstat(path).st_mode & _KIND != _FOLDER:
            posix._exit(0)
    except FileNotFoundError:
        try:
            posix.mkdir(path, 0o700)  # fails without a store, and then there is nothing to do
        except FileExistsError:  # another process was quicker
            pass


# ── preparing the context of the next session ────────────────────────────────────────────────────────


def prepare_later(top: bytes, git_dir: bytes, common: bytes) -> None:
    """Starts the preparation of a work tree's context in the background, if this clone has ever stored one.

    Not while an agent is at a turn there: no session starts with the stored context before that agent's pointers are
    read, and whoever reads them prepares it.
    """
    words = read(common + CONTEXTS + b"/" + WORKER).split(b"\n")
    if len(words) == 3 and not _is_at_a_turn(common + b"/holdfast/inbox", git_dir):
        # Git's variables for this hook (its index, its folder) are wrong for a process that runs later.
        environ = {name: value for name, value in posix.environ.items() if not name.startswith(b"GIT_")}
        start_apart(top, [words[0], b"-I", words[1], b"prepare"], environ)


def _is_at_a_turn(inbox: bytes, git_dir: bytes) -> bool:
    """Whether pointers of an agent in this work tree wait; a path that JSON spells otherwise is not found."""
    try:
        names = posix.listdir(inbox)
    except OSError:
        return False
    tree = b'"tree":"%s"' % git_dir
    return any(name.endswith(b".jsonl") and tree in read(inbox + b"/" + name, ROW) for name in names)


def start_apart(folder: bytes, words: "list[bytes]", environ: "dict[bytes, bytes]") -> None:
    """Starts a program that keeps running after this process and that nobody waits for."""
    child = posix.fork()
    if child:
        posix.waitpid(child, 0)
        return
    try:
        posix.setsid()
        if not posix.fork():
            nothing = posix.open(b"/dev/null", posix.O_RDWR)
            for number in (0, 1, 2):
                posix.dup2(nothing, number)
            posix.chdir(folder)
            posix.execve(words[0], words, environ)
    finally:
        posix._exit(0)


# ── finding it: the copy in git's hook ends here, for git tells its hooks where they are ──────────────


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


class RepositoryPlace:
    """A work tree, its own git folder, and the folder that all work trees of the clone share."""

    __slots__ = ("common", "git_dir", "is_own", "top")

    def __init__(self, top: bytes, git_dir: bytes, common: bytes, *, is_own: bool = True) -> None:
        self.top, self.git_dir, self.common = top, git_dir, common
        self.is_own = is_own  # git refuses a repository of another user, unless its configuration allows it


def find_repository(start: bytes) -> "RepositoryPlace | None":
    """Returns the repository that owns the memory at a folder.

    It is the nearest one; in a submodule, the outermost enclosing repository that has a `.holdfast`.
    """
    here = owner = nearest(start)
    while here is not None and parent(here.top) != here.top:
        outer = nearest(parent(here.top))
        here = outer if outer is not None and _is_submodule(here, outer) else None
        if here is not None and is_folder(here.top + b"/.holdfast"):
            owner = here
    return owner


def nearest(folder: bytes) -> "RepositoryPlace | None":
    """Returns the innermost work tree around a folder."""
    while True:
        entry = folder.rstrip(b"/") + b"/.git"
        try:
            facts = posix.lstat(entry)
        except OSError:
            facts = None
        if facts is not None:
            git_dir = pointed_to(entry)
            if git_dir is None:
                return None
            if is_git_dir(git_dir):
                common = common_of(git_dir)
                return RepositoryPlace(folder, git_dir, common, is_own=_is_own(facts) and _has_own_store(common))
        above = parent(folder)
        if above == folder:
            return None
        folder = above


def _is_own(facts: "posix.stat_result") -> bool:
    return not hasattr(posix, "geteuid") or facts.st_uid == posix.geteuid()


def _has_own_store(common: bytes) -> bool:
    """Whether the private store belongs to this user: several users may share a clone."""
    try:
        return _is_own(posix.lstat(common + b"/holdfast"))
    except OSError:
        return True


def is_plain(place: "RepositoryPlace") -> bool:
    """Whether git would find the same place: it belongs to this user, and no setting moves its work tree."""
    config = read(place.common + b"/config", 1 << 16).lower().replace(b" ", b"").replace(b"\t", b"")
    for usual in (b"bare=false", b"repositoryformatversion=0"):
        config = config.replace(usual, b"")
    odd = not config or any(word in config for word in (b"worktree", b"bare", b"include", b"format", b"extensions"))
    return not odd and place.is_own and b".git" in place.common.split(b"/") and _is_own(posix.stat(place.top))


# With one of these set, git itself has to find the repository.
STEERING = (b"GIT_DIR", b"GIT_WORK_TREE", b"GIT_COMMON_DIR", b"GIT_CEILING_DIRECTORIES", b"GIT_OBJECT_DIRECTORY")
_HARMLESS = (b"HOLDFAST_PUBLISHING", b"HOLDFAST_TRACEBACK", b"HOLDFAST_TEST_SEED")


def unsteered(names: "Iterable[bytes]") -> bool:
    """Whether no environment variable changes where git looks or what Holdfast does."""
    return not any(name in STEERING or (name[:9] == b"HOLDFAST_" and name not in _HARMLESS) for name in names)


def is_git_dir(folder: bytes) -> bool:
    """Whether a folder has the contents of a git folder; git skips an entry without them."""
    try:
        posix.lstat(folder + b"/HEAD")
    except OSError:
        return False
    return is_folder(folder + b"/objects") or bool(read(folder + b"/commondir"))


def _is_submodule(place: "RepositoryPlace", outer: "RepositoryPlace") -> bool:
    """Whether a repository's git folder is inside the enclosing repository's."""
    kept = (outer.common + b"/modules/", outer.git_dir + b"/modules/")
    return place.common.startswith(kept) and not is_folder(place.top + b"/.git")
