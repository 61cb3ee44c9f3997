"""Files of agents on disk: one path of the work tree or of the user read, written through a link, or deleted.

`AGENTS.md -> CLAUDE.md` is common, so links are followed, but only to a real file of this work tree: a link
out of it, into .git or into the store would let a pull request choose what we write over.
"""

import contextlib
import os
import stat

from holdfast.errors import BadInput, TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.values import frozen

MAX_FILE = 1 << 20  # nobody hands an agent more than this to read first
NEW_MODE = 0o644


@frozen
class AgentFile:
    """What stands at a path that a tool reads."""

    path: str  # as the tool names it, from the top of the work tree
    real: str  # the full path behind any links
    data: bytes | None  # None: there is nothing
    mode: int = NEW_MODE
    folders: int = 0  # how many folders are missing above it


def look(top: str, path: str) -> AgentFile:
    """The file that a tool would read; refused where writing it would write elsewhere."""
    top = os.path.realpath(top)
    named = os.path.join(top, *path.split("/"))
    real = os.path.realpath(named)
    _refuse_outside(top, path, real)
    return _at(named, real, path, top)


def look_at(named: str, shown: str) -> AgentFile:
    """A file of the user's own, wherever it lies: a link in it is the user's own too, and is followed."""
    return _at(named, os.path.realpath(named), shown, os.sep)


def _at(named: str, real: str, path: str, top: str) -> AgentFile:
    try:
        facts = os.lstat(real)
    except (FileNotFoundError, NotADirectoryError):
        if os.path.islink(named):
            raise UnsafePath(f"{path} is a link to nothing", hint="Mend or remove the link.") from None
        return AgentFile(path, real, None, folders=_missing_folders(top, real))
    if not stat.S_ISREG(facts.st_mode):
        raise UnsafePath(f"{path} is not a regular file", hint="Move it out of the way.")
    try:
        data = fsio.read(real, limit=MAX_FILE)
    except TooLarge:
        raise TooLarge(
            f"{path} has {facts.st_size:,} bytes; at most {MAX_FILE:,} are read", hint="Shorten it."
        ) from None
    return AgentFile(path, real, _text_only(path, data), stat.S_IMODE(facts.st_mode))


def write(file: AgentFile, data: bytes) -> None:
    """Set its bytes at once and keep its mode; folders that are missing are made."""
    write_as(file.real, data, mode=file.mode)


def write_as(path: str, data: bytes, *, mode: int) -> None:
    """Set a file's bytes at once, with just this mode whatever the umask; a reader sees the old or the new ones."""
    fsio.make_dirs(os.path.dirname(path), mode=0o755)
    fsio.sweep(path)
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    fsio.create(temporary, data, mode=mode)
    os.chmod(temporary, mode)
    fsio.move(temporary, path)


def delete(file: AgentFile, *, folders: int) -> None:
    """Remove a file of ours, and as many folders above it as we made, if nothing else is in them."""
    fsio.remove(file.real)
    parent = os.path.dirname(file.real)
    for _ in range(folders):
        with contextlib.suppress(OSError):
            fsio.ops.rmdir(parent)
        parent = os.path.dirname(parent)


def _refuse_outside(top: str, path: str, real: str) -> None:
    inside = os.path.relpath(real, top).split(os.sep)
    if inside[0] == os.pardir or os.path.isabs(os.path.join(*inside)):
        raise UnsafePath(
            f"{path} is a link that leads out of the work tree; it is left alone",
            hint="Put a real file in its place, then connect again.",
        )
    if inside[0].lower() in (".git", ".holdfast") or ".git" in (part.lower() for part in inside):
        raise UnsafePath(f"{path} is a link into {inside[0]}; it is left alone", hint="Remove the link.")


def _missing_folders(top: str, real: str) -> int:
    missing, parent = 0, os.path.dirname(real)
    while parent.startswith(top.rstrip(os.sep) + os.sep) and not os.path.isdir(parent):
        if os.path.lexists(parent):
            raise UnsafePath(f"{parent} is in the way: a folder belongs there", hint="Move it out of the way.")
        missing, parent = missing + 1, os.path.dirname(parent)
    return missing


def _text_only(path: str, data: bytes) -> bytes:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        data = b"\0"
    if b"\0" in data:
        raise BadInput(f"{path} is not UTF-8 text", hint="Save it as UTF-8, then connect again.")
    return data
