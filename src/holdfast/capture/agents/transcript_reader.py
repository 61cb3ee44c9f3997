"""What every dialect is made of: records out of a file, and a reading that gives turns one by one.

A line may hold several JSON objects, half of one, or none; it may be megabytes long; the last one may still
be being written. Whatever cannot be read is counted, and the rest goes on. Nothing here holds a whole file.
"""

import contextlib
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import IO, Any

from holdfast.errors import BadInput
from holdfast.model.transcript import TranscriptOrigin, TranscriptTurn
from holdfast.values import field, frozen, mutable

MAX_LINE = 8 << 20  # bytes; a longer line is counted and passed over
MAX_DOCUMENT = 32 << 20  # of a transcript that is one JSON document
_HEAD = 64 << 10  # bytes; a guess: a transcript's first lines name its agent
_DECODER = json.JSONDecoder()


@frozen
class TranscriptRecord:
    """One JSON object of a transcript, and the bytes of the line it stands in."""

    value: dict[str, Any]
    start: int
    end: int


@mutable
class TranscriptCounts:
    """What a reading passed over, by what it was."""

    unknown: Counter[str] = field(default_factory=Counter)  # kinds of records nobody here knows
    damaged: int = 0  # lines or pieces that are no JSON object
    too_long: int = 0
    end: int = 0  # bytes up to which the file was read: after the last complete line
    read_to: int | None = None  # bytes beyond which nothing is read, if there is more


@mutable
class TranscriptReading:
    """A transcript being read: whose it is, and its turns, once, in the order of the file."""

    origin: TranscriptOrigin
    turns: Iterator[TranscriptTurn]
    counted: TranscriptCounts

    def __iter__(self) -> Iterator[TranscriptTurn]:
        return self.turns


@frozen
class Dialect:
    """How one tool keeps its transcripts."""

    name: str
    home: Callable[[dict[str, str], str], str]  # (environment, user's home) -> the tool's own folder
    files: Callable[[str], Iterator[str]]  # the tool's folder -> its transcripts, the newest first
    is_mine: Callable[[str], bool]  # by what a file holds
    # (path, byte offset, what an earlier reading knew) -> a reading. An offset is some turn's `start` or
    # the `end` of an earlier reading; with one, `origin` must be given.
    read: Callable[[str, int, TranscriptOrigin | None], TranscriptReading]
    # (the tool's folder, a session) -> where its transcript lies, for hooks that do not say; empty: nobody knows
    find: Callable[[str, str], str] = lambda _home, _session: ""


def records(
    path: str,
    counted: TranscriptCounts,
    *,
    start: int = 0,
    opened: IO[bytes] | None = None,
    wanted: Callable[[bytes], bool] | None = None,
) -> Iterator[TranscriptRecord]:
    """The JSON objects of a file from a byte on; an unfinished last line is left for the next reading.

    `wanted` is asked with the raw line, before it costs the time to be parsed.
    """
    counted.end = start
    with opened or open(path, "rb") as file:
        if start:
            file.seek(start)
        for raw, begin, end in _lines(file, start, counted):
            if wanted is None or wanted(raw):
                for value in _objects(raw, counted):
                    yield TranscriptRecord(value, begin, end)
            counted.end = end


def _lines(file: IO[bytes], at: int, counted: TranscriptCounts) -> Iterator[tuple[bytes, int, int]]:
    while raw := file.readline(MAX_LINE + 1):
        begin, at = at, at + len(raw)
        if len(raw) > MAX_LINE and not raw.endswith(b"\n"):
            counted.too_long += 1
            while (more := file.readline(1 << 20)) and not more.endswith(b"\n"):
                at += len(more)
            at += len(more)
            counted.end = at
        elif raw.endswith(b"\n") or _is_whole(raw):
            yield raw, begin, at


def _is_whole(raw: bytes) -> bool:
    """Whether a last line without its end is complete all the same: exporters leave the end out."""
    try:
        return isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        return False


def _objects(raw: bytes, counted: TranscriptCounts) -> Iterator[dict[str, Any]]:
    """The objects on one line, glued together or not."""
    text = raw.decode("utf-8", "replace").strip()
    at = 0
    while at < len(text):
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            counted.damaged += 1
            return
        if isinstance(value, dict):
            yield value
        else:
            counted.damaged += 1
        while at < len(text) and text[at].isspace():
            at += 1


def document(path: str) -> dict[str, Any]:
    """A transcript that is one JSON document; BadInput if it is none."""
    if os.path.getsize(path) > MAX_DOCUMENT:
        raise BadInput(f"{path} has more than {MAX_DOCUMENT >> 20} MiB and is not read")
    try:
        with open(path, "rb") as file:
            value = json.loads(file.read(MAX_DOCUMENT + 1))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not a transcript: {error}") from error
    if not isinstance(value, dict):
        raise BadInput(f"{path} is not a transcript: a JSON object belongs there")
    return value


def first_records(path: str) -> list[dict[str, Any]]:
    """The first objects of a file, to tell whose it is; none if they are not JSON or too long."""
    try:
        with open(path, "rb") as file:
            lines = file.read(_HEAD).split(b"\n")[:5]
    except OSError:
        return []
    return [value for line in lines for value in _objects(line, TranscriptCounts())]


def newest_first(paths: Iterable[str]) -> list[str]:
    """The files among the paths that hold something, the newest first."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            known = os.stat(path)
            if stat.S_ISREG(known.st_mode) and known.st_size:
                found.append((known.st_mtime_ns, path))
    return [path for _, path in sorted(found, reverse=True)]
