"""The one place that shows: answers on stdout, talk on stderr.

Known secrets are hidden here, whatever brought them: a branch's name, a message of git, a file. For people,
text in which nothing invisible hides; with `--json`, one object that carries "v": 1 (lists stand under
"items"). A field may be added within a version; none changes its meaning.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

from holdfast.interfaces import quick
from holdfast.model import memory
from holdfast.model.text import columns as text_columns
from holdfast.model.text import visible
from holdfast.values import fields, is_value

if TYPE_CHECKING:
    from holdfast.security.redact import Scanner

T = TypeVar("T")
VERSION = 1
_NO_COMMAND = 127  # what a shell ends with if there is no such program
_MARKS = dict.fromkeys(map(ord, (quick.CLOSE, *(mark for mark, _ in quick.STYLES.values()))))


class ReaderGone(Exception):
    """Nobody reads our output any more. No OSError: click would end the process with its own code."""


class _Hiding:
    """The rules that hold for what is shown: ours, and those of the project once one is open."""

    scan: Scanner | None = None


def hide_by(scan: Scanner) -> None:
    """From now on, what these rules know is not shown."""
    _Hiding.scan = scan


def _hiding() -> Scanner:
    if _Hiding.scan is None:
        from holdfast.security.redact import Scanner  # a start that shows nothing needs none of it

        _Hiding.scan = Scanner(private=False)
    return _Hiding.scan


def show_made(value: dict[str, Any], words: str) -> None:
    """Answer with what was just made for whoever asks, and is to be seen once: a token among it."""
    _put(f"{json.dumps(envelope(value)) if wants_json() else words}\n")


def show(
    value: T, words: Callable[[T], str], as_object: Callable[[T], object] | None = None, *, asks: bool = False
) -> None:
    """Answer with a value: as an object if `--json` was given, else in words.

    Words that are longer than the terminal go to the user's pager, unless the command `asks` something next.
    """
    if wants_json():
        _put(as_json(as_object(value) if as_object else value))
    else:
        text = _finished(words(value))
        if asks or not _paged(text):
            _put(text)


def as_json(value: object) -> str:
    """A value as the one line that `--json` prints."""
    return json.dumps(_hiding().value(envelope(value)), allow_nan=False) + "\n"


def as_text(words: str) -> str:
    """Words as they are printed where there is no terminal."""
    return _finished(words, colours=False)


def as_kept(words: str) -> str:
    """Words as they are kept for the quick path, which draws their marks."""
    text = shown(words).rstrip("\n")
    return f"{text}\n" if text else ""


def show_lines(values: Iterable[object]) -> None:
    """Answer with one object a line, as they come; for lists that may be long."""
    for value in values:
        _put(as_json(value))


def flush() -> None:
    """Let the answer out before anything else is said."""
    try:
        sys.stdout.flush()  # no empty text: where Python does not buffer, even that fails on a full disk
    except BrokenPipeError:
        raise ReaderGone from None


def _put(text: str) -> None:
    try:
        print(text, end="")
    except BrokenPipeError:
        raise ReaderGone from None


def _paged(text: str) -> bool:
    """Show a text in git's pager, as git does; False if it fits the terminal, or there is no pager."""
    if not sys.stdout.isatty() or os.environ.get("TERM") == "dumb":
        return False
    import shutil

    wide, high = shutil.get_terminal_size()
    if sum(1 + max(0, width(line) - 1) // max(wide, 1) for line in text.splitlines()) < high:
        return False
    from holdfast.git import repo

    context = click.get_current_context(silent=True)
    command = repo.pager(getattr(context.obj, "folder", ".") if context else ".")
    return command not in ("", "cat") and _pipe_to(command, text)


def _pipe_to(command: str, text: str) -> bool:
    """Show a text in a pager; whoever quits it early has seen enough. False if it could not be started."""
    import signal
    import subprocess

    flush()
    environ = {"LESS": "FRX", "LV": "-c", **os.environ}  # as git sets them
    pager = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, env=environ)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # from here on Ctrl-C is the pager's business
    try:
        pager.communicate(text.encode("utf-8", "replace"))
        return pager.returncode != _NO_COMMAND
    finally:
        signal.signal(signal.SIGINT, before)


def send_nowhere(stream: TextIO) -> None:
    """Let go of a stream that takes nothing: else Python tries once more at the end, and fails with a traceback."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def _tell(text: str) -> None:
    """On stderr. Where it takes nothing nobody can be told, and the exit code says how the command ended."""
    try:
        print(text, end="", file=sys.stderr, flush=True)
    except OSError:
        send_nowhere(sys.stderr)


def say(sentence: str) -> None:
    """Talk about what happens beside the answer."""
    _tell(f"{shown(sentence)}\n")


def say_object(value: object) -> None:
    """An object where stdout belongs to somebody else."""
    _tell(as_json(value))


def complain(sentence: str, hint: str | None) -> None:
    """An error: one sentence, and the next step."""
    for word, style, said in (("error:", "bad", sentence), ("hint:", "dim", hint)):
        if said:
            mark = f"\x1b[{quick.STYLES[style][1]}m{word}\x1b[0m" if _colours(sys.stderr) else word
            _tell(f"{mark} {shown(said)}\n")


def wants_json() -> bool:
    """Whether the command at work was asked for objects."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get("holdfast.json"))


def envelope(value: object) -> dict[str, Any]:
    """A value as the object that `--json` promises."""
    plain = as_plain(value)
    if not isinstance(plain, dict):
        plain = {"items": plain}
    identity = plain.get("id", plain.get("hash_self"))
    return {"v": VERSION, "id": identity, **{key: field for key, field in plain.items() if key != "id"}}


def as_plain(value: object) -> Any:
    """A value in the words of JSON."""
    if isinstance(value, Mapping):
        return {str(key): as_plain(field) for key, field in value.items()}
    if is_value(value):
        return {f.name: as_plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, datetime):
        return memory.iso(value)
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, set | frozenset):
        return sorted(as_plain(item) for item in value)
    if isinstance(value, Iterable):
        return [as_plain(item) for item in value]
    return str(value)


def picked(value: object, *names: str) -> dict[str, Any]:
    """Some of a value's fields, by their names."""
    return {name: getattr(value, name) for name in names}


def columns() -> int:
    """How wide the terminal is; 0 where there is none."""
    if not sys.stdout.isatty():
        return 0
    import shutil

    return shutil.get_terminal_size().columns


def strong(text: str) -> str:
    """Text for the eye to find; the mark becomes bold on a terminal and vanishes anywhere else."""
    return styled(text, "bold")


def styled(text: str, style: str) -> str:
    """Text that is bold, dim, or coloured as good, warn or bad, on a terminal; plain anywhere else."""
    return f"{quick.STYLES[style][0]}{text}{quick.CLOSE}" if text else ""


def width(text: str) -> int:
    """How many columns a text takes: marks take none, and neither do escape sequences."""
    if "\x1b" in text:
        text = _escapes().sub("", text)
    return text_columns(text.translate(_MARKS))


@functools.cache
def _escapes() -> re.Pattern[str]:
    return re.compile(r"\x1b\[\d*m")


def shown(text: str) -> str:
    """Text with no known secret and nothing invisible in it."""
    return visible(_hiding().text(text))


def _finished(words: str, *, colours: bool | None = None) -> str:
    # Made visible before marks become escape sequences: stored text cannot bring its own.
    text = shown(words).rstrip("\n")
    return quick.drawn(text, colours=_colours(sys.stdout) if colours is None else colours) + "\n" if text else ""


def _colours(stream: TextIO) -> bool:
    return quick.has_colours(os.environ, terminal=stream.isatty())
