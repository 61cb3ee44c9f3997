"""Reads and writes a folder of unknown contents without ever leaving it.

It looks up names one part at a time, from an open folder and never through a link, so it reads and writes nothing
outside, even if somebody replaces a folder by a link meanwhile. Links are stored as links. What cannot or must not be
stored (devices, pipes, `.git`, hard links to files elsewhere, what `take` refuses) is left out and noted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping

from holdfast.errors import BadInput, UnsafePath
from holdfast.model.agent_entities import WorkspaceFile
from holdfast.patterns import regex
from holdfast.store import fsio

CHUNK_SIZE = 1 << 20  # bytes; a guess: an edit within a large file stores one or two pieces again
MOST_FILES = 200_000  # of one folder; a guess: with more it is probably the wrong folder
MOST_DEPTH = 200  # nested folders; a guess: each is opened again for each folder below it
MOST_NAME = 255  # bytes of a name: the limit of file systems
TRIES = 3  # attempts to read a file that changes meanwhile; a guess
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_TEMPORARY = regex(r"\.holdfast-[0-9a-f]{8}\.tmp")
_RESERVED = (".git", "git~1")  # git's own files: git would run a hook among them
Files = dict[str, WorkspaceFile]


class ConfinedFolder:
    """An open folder; looks up names part by part, never through a link."""

    def __init__(self, path: str, *, make: bool = False) -> None:
        if make:
            fsio.make_dirs(path, mode=0o755)
        try:
            self._top = os.open(path, _FOLDER)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise UnsafePath(f"{path} is not a folder, or a link to one", hint="Name the folder itself.") from None
            raise BadInput(f"{path} cannot be opened: {os.strerror(error.errno or 0)}") from None
        self._at, self._open = "", self._top  # the last folder that was entered, and its descriptor

    def __enter__(self) -> ConfinedFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave()
        os.close(self._top)

    def _leave(self) -> None:
        if self._open != self._top:
            os.close(self._open)
        self._at, self._open = "", self._top

    def enter(self, path: str, *, make: bool = False) -> int:
        """Opens the folder at a path; with `make` it creates the folder and removes what is in its way."""
        if path == self._at:
            return self._open
        self._leave()
        handle = os.dup(self._top)
        for part in path.split("/") if path else ():
            try:
                below = _make_open(handle, part) if make else os.open(part, _FOLDER, dir_fd=handle)
            finally:
                os.close(handle)
            handle = below
        self._at, self._open = path, handle
        return handle

    def parent(self, path: str, *, make: bool = False) -> tuple[int, str]:
        """Returns the open parent folder of a path, and the name in it."""
        folder, _, name = path.rpartition("/")
        return self.enter(folder, make=make), name

    def make(self, path: str) -> None:
        """Creates a folder, writable for now; removes a file or link of that name."""
        with fsio.refusing(path):
            os.fchmod(self.enter(path, make=True), 0o700)

    def set_mode(self, file: WorkspaceFile) -> None:
        """Sets the mode of a restored folder."""
        with fsio.refusing(file.path):
            os.fchmod(self.enter(file.path), file.mode & 0o777)

    def write(self, file: WorkspaceFile, pieces: Iterable[bytes]) -> None:
        """Writes a file or a link; it appears under its name complete. Not synced: the store has the data.

        It renames over an old file and never writes into it: that could be a hard link to a file elsewhere.
        """
        with fsio.refusing(file.path):
            handle, name = self.parent(file.path, make=True)
            temporary = f".holdfast-{os.urandom(4).hex()}.tmp"
            try:
                if stat.S_ISLNK(file.mode):
                    os.symlink(b"".join(pieces), temporary.encode(), dir_fd=handle)
                else:
                    _write_new(handle, temporary, pieces, file.mode & 0o777)
                os.rename(temporary, name, src_dir_fd=handle, dst_dir_fd=handle)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary, dir_fd=handle)
                raise

    def remove(self, path: str) -> bool:
        """Deletes a file, a link or an empty folder; returns whether it is gone."""
        with fsio.refusing(path):
            try:
                handle, name = self.parent(path)
                if not stat.S_ISDIR(os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=handle)
                    return True
                self._leave()
                handle, name = self.parent(path)
                os.rmdir(name, dir_fd=handle)
            except FileNotFoundError:
                return True
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise
                return False
        return True


def _write_new(folder: int, name: str, pieces: Iterable[bytes], mode: int) -> None:
    handle = os.open(name, _NEW, 0o600, dir_fd=folder)
    try:
        for piece in pieces:
            fsio.write_all(handle, piece)
        os.fchmod(handle, mode)
    finally:
        os.close(handle)


def _make_open(handle: int, part: str) -> int:
    """Opens a folder within an open one, creates it if needed, and removes a file or link of that name."""
    try:
        return os.open(part, _FOLDER, dir_fd=handle)
    except FileNotFoundError:
        pass
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        os.unlink(part, dir_fd=handle)
    with contextlib.suppress(FileExistsError):
        os.mkdir(part, 0o700, dir_fd=handle)
    return os.open(part, _FOLDER, dir_fd=handle)


class FolderReading:
    """The contents of a folder, and what was left out and why."""

    def __init__(self) -> None:
        self.files: Files = {}
        self.skipped: list[tuple[str, str]] = []
        self.unsteady: list[str] = []
        self.leftovers: list[str] = []  # temporary files of a restore that was killed


class FileRefused(Exception):
    """The reason why a file is left out."""


Take = Callable[[bytes], str]  # stores or only checks a piece of content; returns its hash


def read_folder(folder: ConfinedFolder, take: Take) -> FolderReading:
    """Reads a folder with all below it; passes each piece of content to `take`."""
    reading = FolderReading()
    found = dict(_listed(folder, reading))
    names: dict[tuple[int, int], int] = {}
    for facts in found.values():
        names[facts.st_dev, facts.st_ino] = names.get((facts.st_dev, facts.st_ino), 0) + 1
    for path, facts in sorted(found.items()):
        if stat.S_ISDIR(facts.st_mode):
            reading.files[path] = WorkspaceFile(path, _mode(facts), 0)
        elif facts.st_nlink > names[facts.st_dev, facts.st_ino]:
            reading.skipped.append((path, "is a hard link to a file elsewhere"))
        else:
            try:
                reading.files[path] = _read(folder, path, facts, take, reading)
            except FileRefused as refused:
                reading.skipped.append((path, str(refused)))
            except OSError as error:
                reading.skipped.append((path, f"cannot be read: {os.strerror(error.errno or 0)}"))
    return reading


def _listed(folder: ConfinedFolder, reading: FolderReading) -> Iterator[tuple[str, os.stat_result]]:
    """Yields every path below a folder with its facts; notes what is not a file, folder or link as left out."""
    waiting, count = [""], 0
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(folder.enter(path)) as entries:
                listed = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            reading.skipped.append((path, f"cannot be read: {os.strerror(error.errno or 0)}"))
            continue
        for name, facts in listed:
            full = f"{path}/{name}" if path else name
            if _TEMPORARY.fullmatch(name):
                reading.leftovers.append(full)
            elif (why := _left_out(full, facts.st_mode)) is not None:
                reading.skipped.append((full.encode("utf-8", "backslashreplace").decode(), why))
            else:
                yield full, facts
                waiting += [full] if stat.S_ISDIR(facts.st_mode) else []
                count += 1
        if count > MOST_FILES:
            raise BadInput(f"the workspace has more than {MOST_FILES:,} files", hint="Choose a smaller folder.")


def _left_out(path: str, mode: int) -> str | None:
    """Returns why something in a folder is left out; None if it is stored."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        return "is not a file, folder or link"
    return unsafe_name(path)


def _mode(facts: os.stat_result) -> int:
    """Returns the file type and permissions, without setuid and setgid."""
    return stat.S_IFMT(facts.st_mode) | (facts.st_mode & 0o777)


def _read(
    folder: ConfinedFolder, path: str, facts: os.stat_result, take: Take, reading: FolderReading
) -> WorkspaceFile:
    handle, name = folder.parent(path)
    if stat.S_ISLNK(facts.st_mode):
        target = os.fsencode(os.readlink(name, dir_fd=handle))
        return WorkspaceFile(path, stat.S_IFLNK | 0o777, len(target), (take(target),))
    for _ in range(TRIES):
        opened = os.open(name, _READ, dir_fd=handle)
        try:
            before = os.fstat(opened)
            if not stat.S_ISREG(before.st_mode) or not os.path.samestat(before, facts):
                raise FileRefused("was replaced while it was read")
            pieces = [(len(piece), take(piece)) for piece in _pieces(opened, before.st_size)]
            after = os.fstat(opened)
        finally:
            os.close(opened)
        file = WorkspaceFile(path, _mode(before), sum(size for size, _ in pieces), tuple(one for _, one in pieces))
        if (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns):
            return file
    reading.unsteady.append(path)
    return file


def _pieces(handle: int, size: int) -> Iterator[bytes]:
    """Yields a file's content in pieces, up to its size at the start: it may grow faster than it is read."""
    while size > 0:
        parts, room = [], min(size, CHUNK_SIZE)
        while room > 0 and (data := os.read(handle, room)):
            parts.append(data)
            room -= len(data)
        if not parts:
            return
        yield (piece := b"".join(parts))
        size -= len(piece)


# ── names ────────────────────────────────────────────────────────────────────────────────────────


def unsafe_name(path: str) -> str | None:
    """Returns why a path is not allowed in a workspace; None if it is."""
    parts = path.split("/")
    try:
        longest = max(len(part.encode()) for part in parts)
    except UnicodeEncodeError:
        return "has a name that is not UTF-8"
    if "\0" in path or any(part in ("", ".", "..") for part in parts) or longest > MOST_NAME:
        return "does not name a file inside the folder"
    if len(parts) > MOST_DEPTH:
        return "is nested too deep"
    if os.name == "nt" and ("\\" in path or ":" in path):
        return "does not name a file inside the folder"
    if any(_folded(part).rstrip(". ") in _RESERVED for part in parts):
        return "belongs to git"
    return None


def _folded(part: str) -> str:
    """Returns a name for comparison as on file systems that ignore case, accent encoding and invisible characters."""
    if part.isascii():
        return part.casefold()
    plain = unicodedata.normalize("NFD", unicodedata.normalize("NFD", part).casefold())
    return "".join(one for one in plain if unicodedata.category(one) != "Cf")


def refuse_unsafe(files: Mapping[str, WorkspaceFile]) -> None:
    """Refuses a snapshot that leads out of its folder, or whose files overwrite each other on some file system."""
    seen: dict[str, str] = {}  # the form for comparison to the name
    leaves = set()
    for path, file in files.items():
        if (why := unsafe_name(path)) is not None:
            raise UnsafePath(f"{path!r} {why}; nothing was restored", hint="Restore other files with only=[…].")
        parts, folded = path.split("/"), [_folded(part) for part in path.split("/")]
        for end in range(1, len(parts) + 1):
            name, same = "/".join(parts[:end]), "/".join(folded[:end])
            if seen.setdefault(same, name) != name:
                raise UnsafePath(
                    f"{seen[same]!r} and {name!r} are the same name on some file systems; nothing was restored",
                    hint="Restore one of them with only=[…].",
                )
        if not stat.S_ISDIR(file.mode):
            leaves.add(path)
    for path in files:
        above = path.rpartition("/")[0]
        while above:
            if above in leaves:
                raise UnsafePath(f"{path!r} is below {above!r}, which is not a folder; nothing was restored")
            above = above.rpartition("/")[0]
