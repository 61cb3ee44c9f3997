"""Repositories copied from memory: what git and Holdfast make the same way each time is made once.

A copy is what was made, byte for byte, but for three things: git's index knows the new files as it would had
git written them itself, each store has a name of its own, and of git's samples of hooks one is kept. Whoever
asks in a world that is not the ordinary one (other settings of git, another clock, another umask) gets it
made by git.
"""

import hashlib
import os
import stat
import struct
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from holdfast.capture.agents.transcript_reader import Dialect
from holdfast.capture.ingest.intake import IntakeResult, TranscriptIntake
from holdfast.capture.ingest.session_repository import SessionRepository
from holdfast.git.clone import Clone
from holdfast.model.ids import token
from holdfast.model.transcript import TranscriptOrigin

REPO_ID = ".git/holdfast/repo-id"
INDEX = ".git/index"
SAMPLE = "pre-commit.sample"

# What clean_environment sets; any other of git's variables changes what git does.
ORDINARY = {"GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_TERMINAL_PROMPT"}

# By path below the repository: the mode, the time of its last change, and a file's bytes or where a link points.
Made = dict[str, tuple[int, int, bytes | str | None]]


def umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


MASK = umask()


def ordinary(gitconfig: str) -> bool:
    """Whether git would do now what it did when the copied repository was made."""
    if {name for name in os.environ if name.startswith("GIT_")} != ORDINARY or umask() != MASK:
        return False
    try:
        return Path(os.environ["GIT_CONFIG_GLOBAL"]).read_text() == gitconfig
    except OSError:
        return False


def snapshot(top: Path) -> Made:
    """What lies in a repository; folders before what lies in them."""
    found: Made = {}
    for here, folders, files in os.walk(top):
        for name in (*folders, *(name for name in files if name == SAMPLE or name[-7:] != ".sample")):
            path = os.path.join(here, name)
            st = os.lstat(path)
            data: bytes | str | None = None
            if stat.S_ISLNK(st.st_mode):
                data = os.readlink(path)
            elif not stat.S_ISDIR(st.st_mode):
                data = Path(path).read_bytes()
            found[os.path.relpath(path, top)] = (st.st_mode & 0o7777, st.st_mtime_ns, data)
    return found


def lay_out(made: Made, path: Path) -> None:
    """Put there what was taken by `snapshot`; git's index is made to know the new files."""
    path.mkdir(parents=True, exist_ok=True)
    for name, (mode, changed, data) in made.items():
        target = os.path.join(path, name)
        if data is None:
            os.mkdir(target, mode)
        elif isinstance(data, str):
            os.symlink(data, target)
        elif name != INDEX:
            put(target, mode, data, changed)
    mode, _, data = made[INDEX]
    assert isinstance(data, bytes)
    put(os.path.join(path, INDEX), mode, index_of(path, data))


@cache
def taken(make: Callable[[Path], object]) -> Made:
    """What `make` makes of a new path."""
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder) / "repo")
        return snapshot(Path(folder) / "repo")


def copied(make: Callable[[Path], object], path: Path) -> None:
    """What `make(path)` would make, without starting git."""
    lay_out(taken(make), path)
    if os.path.exists(path / REPO_ID):
        name_store(path)


def name_store(path: Path) -> None:
    """Give the copy of a store a name of its own, as `holdfast init` does."""
    (path / REPO_ID).write_bytes(token(20).encode() + b"\n")


def put(path: str, mode: int, data: bytes, changed: int | None = None) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        os.write(fd, data)
        if changed is not None:
            os.utime(fd, ns=(changed, changed))
    finally:
        os.close(fd)


def index_of(top: Path, index: bytes) -> bytes:
    """Git's index (version 2) with the times and numbers of the files that lie here."""
    magic, version, count = struct.unpack(">4sII", index[:12])
    data, at = bytearray(index[:-20]), 12
    assert (magic, version) == (b"DIRC", 2), "git writes another index by now"
    for _ in range(count):
        name = bytes(data[at + 62 : data.index(0, at + 62)])
        st = os.stat(os.path.join(os.fsencode(top), name))
        times = (*divmod(st.st_ctime_ns, 10**9), *divmod(st.st_mtime_ns, 10**9))
        mode = struct.unpack(">I", data[at + 24 : at + 28])[0]
        known = (*times, st.st_dev, st.st_ino, mode, st.st_uid, st.st_gid, st.st_size)
        data[at : at + 40] = struct.pack(">10I", *(number & 0xFFFFFFFF for number in known))
        at += (62 + len(name) + 8) // 8 * 8
    return bytes(data) + hashlib.sha1(data).digest()


def take_in(clone: Clone, tool: Dialect, path: str, *, ended: bool) -> IntakeResult | None:
    """Import one transcript."""
    intake = TranscriptIntake(clone)
    try:
        return intake.take_in(tool, path, ended=ended)
    finally:
        intake.close()


def belongs(clone: Clone, origin: TranscriptOrigin) -> bool:
    """Whether a session is about this repository."""
    return SessionRepository(clone).owns(origin)
