"""The lines of a file as evidence sees them, their hash, and where a piece of text stands now.

A line counts without its line ending and trailing blanks, and a file without its byte order mark, so
a checkout with other line endings or an editor that tidies up changes nothing. The hash of a span is
git's blob id of its lines, each ended by one LF: `git hash-object` of the same text gives it, too.
"""

import hashlib
from collections.abc import Iterator, Sequence

MAX_BYTES = 64 << 20  # of a file in which spans are looked for
_NEAR = 64  # lines to both sides that are looked at before the whole file is
_MOST = 128 << 20  # bytes hashed in search of one span; beyond it only its old text finds it
_PLACES = 500  # at which one text is found
_TABLE = 50_000  # lines of a file whose windows are remembered for the next question
_BOM = b"\xef\xbb\xbf"

Tables = dict[tuple[int, int], dict[str, list[int]]]


def is_binary(data: bytes) -> bool:
    """Whether git would call it binary: a NUL among the first bytes."""
    return b"\0" in data[:8000]


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a file, without line endings, trailing blanks and byte order mark."""
    lines = [line.rstrip() for line in data.removeprefix(_BOM).split(b"\n")]
    if not lines[-1] and (not data or data.endswith(b"\n")):
        lines.pop()
    return lines


def joined(lines: Sequence[bytes]) -> bytes:
    """The text of some lines, each ended by one LF."""
    return b"\n".join(lines) + b"\n"


def digest(lines: Sequence[bytes], *, size: int = 40) -> str:
    """Git's blob id of these lines' text; `size` 64 for a repository that uses SHA-256."""
    text = joined(lines)
    head = b"blob %d\0" % len(text)
    return (hashlib.sha256 if size == 64 else hashlib.sha1)(head + text).hexdigest()


def find(lines: Sequence[bytes], count: int, wanted: str, near: int, tables: Tables | None = None) -> int | None:
    """Where the `count` lines with this hash begin, as near as can be to index `near`; None if nowhere.

    `tables` keeps what was hashed for further questions about the same lines.
    """
    places = len(lines) - count + 1
    if places <= 0 or count <= 0:
        return None
    near = min(max(near, 0), places - 1)
    if digest(lines[near : near + count], size=len(wanted)) == wanted:  # most have not moved at all
        return near
    work = _work(lines, count)
    reach = _NEAR if work <= _MOST else max(1, int(_NEAR * _MOST / work))
    for start in _outwards(near, places, reach):
        if digest(lines[start : start + count], size=len(wanted)) == wanted:
            return start
    if work > _MOST or places <= reach:
        return None
    if len(lines) > _TABLE or tables is None:
        return _far(lines, count, wanted, near)
    table = _table(lines, count, len(wanted), tables)
    return min(table.get(wanted, ()), key=lambda start: abs(start - near), default=None)


def is_costly(lines: Sequence[bytes], count: int) -> bool:
    """Whether hashing every window of so many lines would take too long."""
    return _work(lines, count) > _MOST


def _work(lines: Sequence[bytes], count: int) -> float:
    """About how many bytes all windows of so many lines hold."""
    size = sum(map(len, lines)) + len(lines)
    return size / max(1, len(lines)) * count * max(0, len(lines) - count + 1)


def find_all(lines: Sequence[bytes], old: Sequence[bytes]) -> list[int]:
    """Every place, up to a few hundred, at which these very lines begin among others."""
    text, wanted = b"\n" + joined(lines), b"\n" + joined(old)
    found: list[int] = []
    at, counted, row = text.find(wanted), 0, 0
    while at >= 0 and len(found) < _PLACES:
        row += text.count(b"\n", counted, at)
        counted = at
        found.append(row)
        at = text.find(wanted, at + 1)
    return found


def _outwards(near: int, places: int, reach: int) -> Iterator[int]:
    """The places around one, the nearest first."""
    for step in range(1, reach):
        if near - step >= 0:
            yield near - step
        if near + step < places:
            yield near + step


def _far(lines: Sequence[bytes], count: int, wanted: str, near: int) -> int | None:
    places = len(lines) - count + 1
    for start in _outwards(near, places, places):
        if digest(lines[start : start + count], size=len(wanted)) == wanted:
            return start
    return None


def _table(lines: Sequence[bytes], count: int, size: int, tables: Tables) -> dict[str, list[int]]:
    key = (count, size)
    if key not in tables:
        table: dict[str, list[int]] = {}
        for start in range(len(lines) - count + 1):
            table.setdefault(digest(lines[start : start + count], size=size), []).append(start)
        tables[key] = table
    return tables[key]
