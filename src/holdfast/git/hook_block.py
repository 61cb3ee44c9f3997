"""The words Holdfast adds to a hook script, and how they go in and out again byte for byte.

The block stands first, right behind the shebang line: the scripts of pre-commit, husky and lefthook
end in `exec` or `exit`. It swallows no input (post-rewrite's is read and handed on), prints nothing,
fails nothing under `set -e` or `set -u`, and ends the script after itself when HOLDFAST_PROBE is set,
so that a test of ours never runs somebody else's hook. Only texts here; files are `hooks`'s.
"""

import re
import shlex

from holdfast.patterns import regex
from holdfast.store.inbox import PROBE

NAMES = ("post-commit", "post-merge", "post-checkout", "post-rewrite")
ASIDE = "holdfast-next"  # the folder beside the hooks, for those that are no shell scripts
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
    """The lines that record a firing; `script` is the recording hook, seen from the folder of hooks."""
    hook = f'"${{0%/*}}"/{shlex.quote(script)}'
    call = f'{shlex.quote(python)} -I -S {hook} {name} ${{1+"$@"}}'
    given = "<<HOLDFAST_ROWS" if name == "post-rewrite" else "</dev/null"
    lines = [_BEGIN_WHOLE if whole else _BEGIN]
    if name == "post-rewrite":
        # From a terminal nothing would ever come to an end.
        asked = f'[ -n "${{{PROBE}:-}}" ] || [ -t 0 ] || holdfast_rows=$(cat 2>/dev/null) || :'
        lines += ["holdfast_rows=", asked]
    lines.append(f"if [ -f {hook} ] && [ -x {shlex.quote(python)} ]; then")
    lines.append(f"  {call} {given} >/dev/null 2>&1 || :")
    lines += ["$holdfast_rows", "HOLDFAST_ROWS"] if name == "post-rewrite" else []
    lines += ["fi", f'if [ -n "${{{PROBE}:-}}" ]; then exit 0; fi']
    lines += _HAND_ON if name == "post-rewrite" else []
    if aside:
        after = f'"${{0%/*}}/{ASIDE}/{name}"'
        lines.append(f'if [ -x {after} ]; then exec {after} ${{1+"$@"}}; fi')
    return "\n".join([*lines, _END, ""]).encode("utf-8", "surrogateescape")


# A text given this way always ends with a line's end, as git's rows do; none at all must stay none.
_HAND_ON = [
    'if [ -n "$holdfast_rows" ]; then exec <<HOLDFAST_ROWS',
    "$holdfast_rows",
    "HOLDFAST_ROWS",
    "elif [ ! -t 0 ]; then exec </dev/null; fi",
    "unset holdfast_rows",
]


def configured(name: str, *, script: str, python: str) -> str:
    """The command for git's own configuration; git appends the hook's arguments to it once more."""
    hook, interpreter = shlex.quote(script), shlex.quote(python)
    given = "" if name == "post-rewrite" else " </dev/null"
    call = f'{interpreter} -I -S {hook} {name} "$@"{given} >/dev/null 2>&1'
    return f"[ ! -f {hook} ] || [ ! -x {interpreter} ] || {call} || :"


def by_hand(name: str) -> str:
    """A line for a hook that only its owner may change; it names no path of this machine."""
    hook = '"$(git rev-parse --git-common-dir)/holdfast/hook.py"'
    return f'python3 -I -S {hook} {name} "$@" 2>/dev/null || :'


def is_shell(data: bytes) -> bool:
    """Whether a script is run by a shell that understands our lines."""
    first, newline, _ = data.partition(b"\n")
    if not first.startswith(b"#!") or first.endswith(b"\r") or b"\0" in data:
        return False
    words = [word for word in first[2:].split() if not word.startswith(b"-") and b"=" not in word]
    names = [word.rpartition(b"/")[2].decode("ascii", "replace") for word in words]
    if names[:1] == ["env"]:
        del names[0]
    return bool(newline or len(first) == len(data)) and bool(names) and names[0] in SHELLS


def insert(data: bytes, added: bytes) -> bytes:
    """A shell script with our lines right behind its first."""
    first, newline, rest = data.partition(b"\n")
    return first + newline + added + rest if newline else first + b"\n" + added.removesuffix(b"\n")


def strip(data: bytes) -> bytes | None:
    """A script as it was before `insert`; None if all of it is ours."""
    whole = False
    while found := _BLOCK.search(data):
        start = found.start()
        if not found[0].endswith(b"\n") and data[start - 1 : start] == b"\n":  # the script had no line's end
            start -= 1
        whole = whole or bool(found["whole"])
        data = data[:start] + data[found.end() :]
    return None if whole and data in (SHEBANG, b"") else data


def find(data: bytes) -> bytes | None:
    """Our lines in a script."""
    found = _BLOCK.search(data)
    return found[0] if found else None


def leads(data: bytes) -> bool:
    """Whether our lines come first, so that a test of ours runs nothing else."""
    found = _BLOCK.search(data)
    return bool(found) and found.start() == data.find(b"\n") + 1 if found else False


def interpreter(text: bytes | str) -> str | None:
    """The Python that our lines, or our command, name."""
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    found = _CALL.search(raw.replace(b"|| ", b"\n"))
    if not found:
        return None
    words = shlex.split(found["python"].decode("utf-8", "surrogateescape"))
    return words[0] if words else None
