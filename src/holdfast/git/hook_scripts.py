"""Edits one file in a folder of git hooks: inserts our block, reads it, and removes it again byte for byte.

A shell script gets our block right after the shebang line, because the scripts of pre-commit, husky and lefthook
end in `exec` or `exit`. The block passes all input on (post-rewrite's is read and repeated), prints nothing, does not
fail under `set -e` or `set -u`, and ends the script after itself when HOLDFAST_PROBE is set, so that our test
never runs another program's hook.

Any other file (a program, a script in another language, a link, a hook its owner disabled) is moved unchanged, under
its own name, to a folder of ours beside the hooks; our hook calls it with the same input and arguments and returns
its exit code. `hooks` decides which folder is used.
"""

import contextlib
import os
import re
import shlex
import stat

from holdfast.errors import UnsafePath
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.store.git_inbox import PROBE
from holdfast.values import frozen

NAMES = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
ASIDE = "holdfast-next"  # the folder beside the hooks, for those that are not shell scripts
SHEBANG = b"#!/bin/sh\n"
SHELLS = frozenset(("sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"))

_BEGIN = "# >>> holdfast >>> records that git ran this hook; `holdfast hooks remove` takes it out"
_BEGIN_WHOLE = "# >>> holdfast, the whole file >>> records that git ran this hook"
_END = "# <<< holdfast <<<"
_BLOCK = regex(
    rb"^# >>> holdfast(?P<whole>, the whole file)? >>>[^\n]*\n(?:[^\n]*\n)*?# <<< holdfast <<<(?:\n|\Z)", re.M
)
_CALL = regex(rb"^ *(?P<python>\S.*) -I -S ", re.M)


def block(name: str, *, script: str, python: str, whole: bool = False, aside: bool = False) -> bytes:
    """Returns the lines that record that git ran the hook; `script`: the recording hook, relative to the folder."""
    hook = f'"${{0%/*}}"/{shlex.quote(script)}'
    call = f'{shlex.quote(python)} -I -S {hook} {name} ${{1+"$@"}}'
    source = "<<HOLDFAST_ROWS" if name == "post-rewrite" else "</dev/null"
    lines = [_BEGIN_WHOLE if whole else _BEGIN]
    if name == "post-rewrite":
        # On a terminal, `cat` would wait for ever.
        reading = f'[ -n "${{{PROBE}:-}}" ] || [ -t 0 ] || holdfast_rows=$(cat 2>/dev/null) || :'
        lines += ["holdfast_rows=", reading]
    lines.append(f"if [ -f {hook} ] && [ -x {shlex.quote(python)} ]; then")
    lines.append(f"  {call} {source} >/dev/null 2>&1 || :")
    lines += ["$holdfast_rows", "HOLDFAST_ROWS"] if name == "post-rewrite" else []
    lines += ["fi", f'if [ -n "${{{PROBE}:-}}" ]; then exit 0; fi']
    lines += _REPEAT_INPUT if name == "post-rewrite" else []
    if aside:
        after = f'"${{0%/*}}/{ASIDE}/{name}"'
        lines.append(f'if [ -x {after} ]; then exec {after} ${{1+"$@"}}; fi')
    return "\n".join([*lines, _END, ""]).encode("utf-8", "surrogateescape")


# A here-document always ends with a newline, as git's rows do; empty input must stay empty.
_REPEAT_INPUT = [
    'if [ -n "$holdfast_rows" ]; then exec <<HOLDFAST_ROWS',
    "$holdfast_rows",
    "HOLDFAST_ROWS",
    "elif [ ! -t 0 ]; then exec </dev/null; fi",
    "unset holdfast_rows",
]


def configured(name: str, *, script: str, python: str) -> str:
    """Returns the command for git's own configuration; git appends the hook's arguments to it once more."""
    hook, interpreter = shlex.quote(script), shlex.quote(python)
    source = "" if name == "post-rewrite" else " </dev/null"
    call = f'{interpreter} -I -S {hook} {name} "$@"{source} >/dev/null 2>&1'
    return f"[ ! -f {hook} ] || [ ! -x {interpreter} ] || {call} || :"


def by_hand(name: str) -> str:
    """Returns a line for a hook that only its owner may change; it names no path of this machine."""
    hook = '"$(git rev-parse --git-common-dir)/holdfast/hook.py"'
    return f'python3 -I -S {hook} {name} "$@" 2>/dev/null || :'


def is_shell(data: bytes) -> bool:
    """Returns whether a script is run by a shell that understands our lines."""
    first, newline, _ = data.partition(b"\n")
    if not first.startswith(b"#!") or first.endswith(b"\r") or b"\0" in data:
        return False
    words = [word for word in first[2:].split() if not word.startswith(b"-") and b"=" not in word]
    names = [word.rpartition(b"/")[2].decode("ascii", "replace") for word in words]
    if names[:1] == ["env"]:
        del names[0]
    return bool(newline or len(first) == len(data)) and bool(names) and names[0] in SHELLS


def strip_block(data: bytes) -> bytes | None:
    """Returns a script without our block; None if the whole file is ours."""
    whole = False
    while found := _BLOCK.search(data):
        start = found.start()
        if not found[0].endswith(b"\n") and data[start - 1 : start] == b"\n":  # the script did not end in a newline
            start -= 1
        whole = whole or bool(found["whole"])
        data = data[:start] + data[found.end() :]
    return None if whole and data in (SHEBANG, b"") else data


def leads(data: bytes) -> bool:
    """Returns whether our lines come first, so that our test runs nothing else."""
    found = _BLOCK.search(data)
    return found is not None and found.start() == data.find(b"\n") + 1


def interpreter(text: bytes | str) -> str | None:
    """Returns the path of Python in our lines or our command."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    found = _CALL.search(raw.replace(b"|| ", b"\n"))
    if not found:
        return None
    words = shlex.split(found["python"].decode("utf-8", "surrogateescape"))
    return words[0] if words else None


_WRITING = regex(r"\.\d+-[0-9a-f]{8}\.tmp")
MAX_SCRIPT = 1 << 20  # 1 MiB, a guess: a larger file is a program, not a script


@frozen
class HookFile:
    """The file in a hook's place."""

    data: bytes | None  # None: a link, unreadable, or too large to be a script
    mode: int

    @property
    def block(self) -> bytes | None:
        """Our lines in the file."""
        found = _BLOCK.search(self.data or b"")
        return found[0] if found else None

    @property
    def is_ours(self) -> bool:
        """Whether the whole file is ours."""
        return self.data is not None and bool(self.block) and strip_block(self.data) is None

    @property
    def takes_block(self) -> bool:
        """Whether it is a shell script that git runs; one that is not executable is disabled, and stays so."""
        return self.data is not None and bool(self.mode & 0o100) and is_shell(self.data)


def look(path: str) -> HookFile | None:
    """Returns the file in a hook's place; None if there is none."""
    try:
        facts = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    mode = stat.S_IMODE(facts.st_mode)
    if stat.S_ISLNK(facts.st_mode) or (stat.S_ISREG(facts.st_mode) and facts.st_size > MAX_SCRIPT):
        return HookFile(None, mode)
    try:
        return HookFile(fsio.read(path, limit=2 * MAX_SCRIPT), mode)
    except PermissionError:  # a program may be executable without being readable
        return HookFile(None, mode)


def put_in(folder: str, name: str, *, script: str, python: str) -> str:
    """Makes a hook record, in addition to what it already does; returns how: file, block or beside."""
    path, seen = os.path.join(folder, name), look(os.path.join(folder, name))
    if seen is not None and seen.takes_block and not seen.is_ours:
        first, newline, rest = (strip_block(seen.data or b"") or b"").partition(b"\n")
        added = block(name, script=script, python=python)
        _put(path, first + b"\n" + (added + rest if newline else added.removesuffix(b"\n")), seen.mode)
        return "block"
    if seen is not None and not seen.is_ours:
        if seen.block and seen.data is not None:  # its owner disabled it after our block was inserted
            _put(path, strip_block(seen.data) or b"", seen.mode)
        _set_aside(folder, name)
    aside = os.path.lexists(_aside(folder, name))
    added = block(name, script=script, python=python, whole=True, aside=aside)
    _put(path, SHEBANG + added, 0o755)
    return "beside" if aside else "file"


def take_out(folder: str, name: str) -> tuple[bool, str | None]:
    """Restores the file that was there before; returns whether anything changed, and a note on what stays."""
    path, aside = os.path.join(folder, name), _aside(folder, name)
    try:
        seen = look(path)
    except UnsafePath:  # not a file, so not ours
        return False, None
    rest = strip_block(seen.data) if seen is not None and seen.data is not None and seen.block else None
    if seen is not None and rest is not None:
        _put(path, rest, seen.mode)
    left = None
    if os.path.lexists(aside):
        if seen is None or seen.is_ours:
            _put_back(aside, path)
        elif _is_copy(aside, path):  # the installation was interrupted before our hook replaced it
            fsio.remove(aside)
        else:
            left = f"{aside} stays: another hook is in its place now"
    elif seen is not None and seen.is_ours:
        fsio.remove(path)
    _clean_up(folder, name)
    return bool(rest is not None or (seen and seen.is_ours)), left


def _aside(folder: str, name: str) -> str:
    return os.path.join(folder, ASIDE, name)


def _put(path: str, data: bytes, mode: int) -> None:
    """Writes a file's bytes and mode in one step, because git may run it at any moment."""
    if look(path) != HookFile(data, mode):
        fsio.write_as(path, data, mode=mode)


def _set_aside(folder: str, name: str) -> None:
    """Links or copies a hook into our folder; the original stays until ours replaces it, so none goes missing."""
    path, aside = os.path.join(folder, name), _aside(folder, name)
    fsio.make_dirs(os.path.dirname(aside), mode=0o755)
    if os.path.lexists(aside):
        if _is_copy(aside, path):
            return
        os.rename(aside, fsio.free(aside))  # an older hook: another one is in its place now
    if os.path.islink(path):
        os.symlink(_seen_from_aside(os.readlink(path)), aside)
        return
    try:
        os.link(path, aside)
    except OSError:  # a file system without hard links
        os.rename(path, aside)


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
    """Removes the temporary files of an interrupted command, and our folder if it is empty."""
    for found in os.listdir(folder):
        if _WRITING.fullmatch(found.removeprefix(name)):
            fsio.remove(os.path.join(folder, found))
    with contextlib.suppress(OSError):  # it does not exist, or holds another program's file
        os.rmdir(os.path.join(folder, ASIDE))
