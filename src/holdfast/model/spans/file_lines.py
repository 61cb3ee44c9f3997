"""The lines of a file as evidence sees them, their hash, and where a piece of text stands now.

A line counts without its line ending and trailing blanks, and a file without its byte order mark, so a checkout with
other line endings or an editor that tidies up changes nothing. The hash of a span is git's blob id of its lines, each
ended by one LF: `git hash-object` of the same text gives it, too. For lines that changed, an alignment of two versions
says where they moved, what replaced them, and shows the difference as a diff.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from difflib import SequenceMatcher

T = TypeVar("T", str, bytes)

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
        far = _outwards(near, places, places)
        return next((n for n in far if digest(lines[n : n + count], size=len(wanted)) == wanted), None)
    table = tables.setdefault((count, len(wanted)), {})
    for start in range(places if not table else 0):
        table.setdefault(digest(lines[start : start + count], size=len(wanted)), []).append(start)
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


_ALIGNED = 4000  # lines that differ on one side, up to which they are compared one by one
_SHOWN = 400  # lines of a difference
_COMPARED, _WIDTH, _LIKE = 50, 300, 0.75  # lines and characters compared; from where on they are like another
_TELLING = 3  # lines that say something; fewer may stand in a file twice by chance

Op = tuple[str, int, int, int, int]


class LineAlignment:
    """An older and a newer text of one file, asked where lines of the older went."""

    def __init__(self, old: Sequence[bytes], new: Sequence[bytes]) -> None:
        self._old, self._new = old, new

    def follow(self, first: int, last: int) -> tuple[int, int] | None:
        """Where lines first to last stand now, unchanged; None if they do not.

        An equal text that stood elsewhere before already is not where they went.
        """
        size = last - first + 1
        starts = find_all(self._new, self._old[first - 1 : last])
        if not starts:
            return None
        for tag, i1, i2, j1, _ in self._operations:
            if tag == "equal" and i1 < first and last <= i2:
                return j1 + first - i1, j1 + last - i1
        known = [(j1, j2) for tag, _, _, j1, j2 in self._operations if tag == "equal"]
        fresh = [s for s in starts if not any(j1 <= s and s + size <= j2 for j1, j2 in known)]
        start = min(self._likely(first, last, fresh), key=lambda s: abs(s - first + 1), default=None)
        return None if start is None else (start + 1, start + size)

    def _likely(self, first: int, last: int, starts: list[int]) -> list[int]:
        """Of the places where these lines are new, those they can have gone to.

        A line or two that were edited where they stood have not moved, though another may say the same now.
        """
        around = [op for op in self._operations if op[1] < last and op[2] >= first]
        cited = self._old[first - 1 : last]
        if sum(1 for line in cited if line) >= _TELLING or all(op[0] == "delete" for op in around):
            return starts
        # Unless some of these lines still stand there, or others that are much like them.
        if len(find_all(self._old, cited)) == 1 and not any(op[0] == "equal" for op in around):
            new = [line for *_, j1, j2 in around for line in self._new[j1:j2] if line][:_COMPARED]
            if not all(any(_is_like(line, other) for other in new) for line in cited if line):
                return starts
        size = last - first + 1
        return [s for s in starts if any(j1 < s + size and s < j2 for *_, j1, j2 in around)]

    @cached_property
    def _operations(self) -> list[Op]:
        return list(_operations(self._old, self._new))


def _is_like(one: bytes, other: bytes) -> bool:
    shown, others = (line[:_WIDTH].decode("utf-8", "replace") for line in (one, other))
    return _matcher(shown, others, autojunk=False).ratio() >= _LIKE


def _matcher(one: Sequence[T], other: Sequence[T], *, autojunk: bool) -> SequenceMatcher[T]:
    from difflib import SequenceMatcher  # slow to load, and rarely needed

    return SequenceMatcher(None, one, other, autojunk=autojunk)


def became(old: Sequence[bytes], first: int, last: int, new: Sequence[bytes]) -> tuple[int, int] | None:
    """The lines that stand where lines first to last stood, counted from 1; None if nothing does."""
    start, end = first - 1, last
    low, high = len(new), 0
    for tag, i1, i2, j1, j2 in _operations(old, new):
        inside = start < i1 < end if i1 == i2 else i1 < end and i2 > start
        if not inside or j1 == j2:
            continue
        if tag == "equal" or i2 - i1 == j2 - j1:
            j1, j2 = j1 + max(0, start - i1), j2 - max(0, i2 - end)
        low, high = min(low, j1), max(high, j2)
    while high > low and not new[high - 1]:
        high -= 1
    while low < high and not new[low]:
        low += 1
    return (low + 1, high) if low < high else None


def difference(old: Sequence[bytes], new: Sequence[bytes], *, names: tuple[str, str]) -> tuple[str, ...]:
    """The unified diff between two texts, cut where nobody reads on; empty if they are equal."""
    if list(old) == list(new):
        return ()
    rows = [f"--- {names[0]}", f"+++ {names[1]}"]
    aligned = _matcher(old[:0], new[:0], autojunk=False)  # it groups what `_operations` aligned
    aligned.opcodes = list(_operations(old, new))  # type: ignore[attr-defined]
    for group in aligned.get_grouped_opcodes(3):
        spans = [_span(group[0][1], group[-1][2]), _span(group[0][3], group[-1][4])]
        rows.append(f"@@ -{spans[0]} +{spans[1]} @@")
        for tag, i1, i2, j1, j2 in group:
            rows += [f" {_shown(line)}" for line in old[i1:i2]] if tag == "equal" else []
            rows += [f"-{_shown(line)}" for line in old[i1:i2]] if tag != "equal" else []
            rows += [f"+{_shown(line)}" for line in new[j1:j2]] if tag != "equal" else []
    if len(rows) > _SHOWN:
        rows[_SHOWN:] = [f"… and {len(rows) - _SHOWN} lines more"]
    return tuple(rows)


def _operations(old: Sequence[bytes], new: Sequence[bytes]) -> Iterator[Op]:
    """How one text becomes the other; what is equal at both ends is not compared line by line."""
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    tail = next((n for n in range(most - head) if old[-1 - n] != new[-1 - n]), most - head)
    if head:
        yield "equal", 0, head, 0, head
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if max(len(left), len(right)) > _ALIGNED:
        yield "replace", head, head + len(left), head, head + len(right)
    else:
        matcher = _matcher(left, right, autojunk=len(left) + len(right) > 1000)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes():
            yield tag, head + i1, head + i2, head + j1, head + j2
    if tail:
        yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _span(start: int, end: int) -> str:
    count = end - start
    return f"{start + 1 if count else start},{count}" if count != 1 else f"{start + 1}"


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace")[:1000]
