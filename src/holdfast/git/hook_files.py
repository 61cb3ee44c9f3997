"""One file in a folder of git hooks: our lines put in, looked at, taken out again.

A shell script gets our block. Whatever else stands there (a program, a script in another language, a
link, a hook its owner switched off) is set aside untouched, in a folder of ours beside the hooks and under
its own name, because such hooks tell by their name what they are to do; ours calls it with the same
input, arguments and exit code. Taking out gives back the same bytes and the same mode.
"""

import contextlib
import os
import stat

from holdfast.errors import UnsafePath
from holdfast.git import hook_block
from holdfast.git.hook_block import ASIDE, SHEBANG
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.values import frozen

_WRITING = regex(r"\.\d+-[0-9a-f]{8}\.tmp")
MAX_SCRIPT = 1 << 20  # a larger one is no script people wrote


@frozen
class Seen:
    """What stands in a hook's place."""

    data: bytes | None  # None: a link, unreadable, or too large to be a script
    mode: int

    @property
    def block(self) -> bytes | None:
        """Our lines in it."""
        return hook_block.find(self.data) if self.data is not None else None

    @property
    def is_ours(self) -> bool:
        """Whether nothing in it is anybody else's."""
        return self.data is not None and bool(self.block) and hook_block.strip(self.data) is None

    @property
    def takes_block(self) -> bool:
        """Whether it is a shell script that git runs; one without the bit is switched off, and stays so."""
        return self.data is not None and bool(self.mode & 0o100) and hook_block.is_shell(self.data)


def look(path: str) -> Seen | None:
    """What stands at a hook's place, None if nothing."""
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISLNK(facts.st_mode) or (stat.S_ISREG(facts.st_mode) and facts.st_size > MAX_SCRIPT):
        return Seen(None, mode)
    try:
        return Seen(fsio.read(path, limit=2 * MAX_SCRIPT), mode)
    except PermissionError:  # a program may be run without being readable
        return Seen(None, mode)


def put_in(folder: str, name: str, *, script: str, python: str) -> str:
    """Make a hook record, beside whatever it does already; gives how: file, block or beside."""
    path, seen = os.path.join(folder, name), look(os.path.join(folder, name))
    if seen is not None and seen.takes_block and not seen.is_ours:
        rest = hook_block.strip(seen.data or b"") or b""
        _put(path, hook_block.insert(rest, hook_block.block(name, script=script, python=python)), seen.mode)
        return "block"
    if seen is not None and not seen.is_ours:
        if seen.block and seen.data is not None:  # its owner switched it off since
            _put(path, hook_block.strip(seen.data) or b"", seen.mode)
        _set_aside(folder, name)
    aside = os.path.lexists(_aside(folder, name))
    added = hook_block.block(name, script=script, python=python, whole=True, aside=aside)
    _put(path, SHEBANG + added, 0o755)
    return "beside" if aside else "file"


def take_out(folder: str, name: str) -> tuple[bool, str | None]:
    """Give back what stood there before us: whether anything changed, and what had to be left."""
    path, aside = os.path.join(folder, name), _aside(folder, name)
    try:
        seen = look(path)
    except UnsafePath:  # no file at all: not ours
        return False, None
    rest = hook_block.strip(seen.data) if seen is not None and seen.data is not None and seen.block else None
    if seen is not None and rest is not None:
        _put(path, rest, seen.mode)
    left = None
    if os.path.lexists(aside):
        if seen is None or seen.is_ours:
            _put_back(aside, path)
        elif _is_copy(aside, path):  # we were interrupted before ours came into its place
            fsio.remove(aside)
        else:
            left = f"{aside} stays: another hook has taken its place since"
    elif seen is not None and seen.is_ours:
        fsio.remove(path)
    _clean_up(folder, name)
    return bool(rest is not None or (seen and seen.is_ours)), left


def _aside(folder: str, name: str) -> str:
    return os.path.join(folder, ASIDE, name)


def _put(path: str, data: bytes, mode: int) -> None:
    """Set a file's bytes and mode at once; git may run it at any moment."""
    seen = look(path)
    if seen == Seen(data, mode):
        return
    fsio.sweep(path)
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    fsio.create(temporary, data, mode=mode)
    os.chmod(temporary, mode)  # whatever the umask left of it
    fsio.move(temporary, path)


def _set_aside(folder: str, name: str) -> None:
    """Keep a hook in our folder; it stays in its place until ours replaces it, so none goes missing."""
    path, aside = os.path.join(folder, name), _aside(folder, name)
    fsio.make_dirs(os.path.dirname(aside), mode=0o755)
    if os.path.lexists(aside):
        if _is_copy(aside, path):
            return
        os.rename(aside, _free(aside))  # an older one, whose place another hook has taken since
    if os.path.islink(path):
        os.symlink(_seen_from_aside(os.readlink(path)), aside)
        return
    try:
        os.link(path, aside)
    except OSError:  # a file system without hard links
        os.rename(path, aside)


def _free(path: str) -> str:
    number = 1
    while os.path.lexists(f"{path}.{number}"):
        number += 1
    return f"{path}.{number}"


def _seen_from_aside(target: str) -> str:
    return target if os.path.isabs(target) else f"../{target}"


def _put_back(aside: str, path: str) -> None:
    if not os.path.islink(aside):
        fsio.move(aside, path)
        return
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.tmp"
    os.symlink(os.readlink(aside).removeprefix("../"), temporary)
    fsio.move(temporary, path)
    fsio.remove(aside)


def _is_copy(aside: str, path: str) -> bool:
    if os.path.islink(path) or os.path.islink(aside):
        both = os.path.islink(path) and os.path.islink(aside)
        return both and os.readlink(aside) == _seen_from_aside(os.readlink(path))
    return os.path.samefile(aside, path)


def _clean_up(folder: str, name: str) -> None:
    """Leave nothing of ours: what an interrupted command was writing, and our folder if it is empty."""
    for found in os.listdir(folder):
        if _WRITING.fullmatch(found.removeprefix(name)):
            fsio.remove(os.path.join(folder, found))
    with contextlib.suppress(OSError):  # not there, or something of somebody's is in it
        os.rmdir(os.path.join(folder, ASIDE))
