"""Local statistics: counts of what happened in this clone. They never leave it.

Each event is one short row, appended without a sync: a crash may lose a row, and counting never fails or delays the
caller. The quick path counts too, so imports are light.

    <seconds> <name> [<number>]                                             a count
    <seconds> ask <microseconds> <hits> 0 - <memories>                      a recall
    <seconds> told <microseconds> <tokens> <how> <session> <memories>       an agent got a context
    <seconds> model <microseconds> <calls> <texts> <what for>               a model was called

Lists are joined by commas, `-` is an empty one. Up to version 0.6 the row of a recall also had the number of outdated
hits and hashes of its words; both are ignored. A large file becomes the old one, and the old one is added to sums, one
row for each name: no process writes to it any more, so no row is lost. Readers (`statistics`, `diagnostics.stats`) draw
the conclusions.
"""

import os
import time

from holdfast.store.layout import FOLDER_OF, Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LARGEST = 1 << 20  # bytes, then it becomes the old one; a guess: `stats` reads both files in full
AT_REST = 10  # seconds since its last row; a guess: a process that has the old one open writes at once
MOST_WORDS, MOST_IDS = 16, 64  # of one row; guesses: they keep a row short enough for one write
RECALLED, TOLD, LOOKED = "recalled.", "given.", "looked."
CONTEXT = ("context.branch", "context.ancestor", "context.paths", "context.none")
OLD, SUMS, USED, KEY = ".old", ".sums", ".used", ".key"
_FOLDED = "folded."
_MOST = 64 << 20  # bytes that are read; our own files are far smaller
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
_HEX = frozenset("0123456789abcdef")
_LONGEST = 64  # characters; names of counters are short words


# ── counting ─────────────────────────────────────────────────────────────────────────────────────


def count(layout: Layout, *names: str, now: int | None = None) -> None:
    """Counts one of each name; does nothing if it cannot write."""
    moment = _moment(now)
    _append(layout, "".join(f"{moment} {name}\n" for name in names if is_name(name)))


def recalled_now(
    layout: Layout, hits: "Iterable[tuple[str, str, str | None]]", microseconds: int, *, now: int | None = None
) -> None:
    """Counts a recall: its duration, and its hits (id and kind of each)."""
    found = list(hits)
    memories = [name for name, kind, _ in found if kind in FOLDER_OF]
    words = f"{_number(microseconds)} {len(found)} 0 - {_joined(memories)}"
    _append(layout, f"{_moment(now)} ask {words}\n")


def count_context(layout: Layout, telling: str, microseconds: int, *, now: int | None = None) -> None:
    """Counts a context that an agent got; `telling` is from the function of that name."""
    line = f"{_moment(now)} told {_number(microseconds)} {telling}"
    if effect(line.encode("utf-8", "replace").split()):  # checked, as it may come from a file
        _append(layout, f"{line}\n")


def telling(how: str, *, tokens: int, session: str | None = None, memories: "Iterable[str]" = ()) -> str:
    """Returns the counted part of a context: how its session was found or at which event it was given, and its size."""
    return f"{_number(tokens)} {how} {_joined([session or ''])} {_joined(memories)}"


def modelled(layout: Layout, what: str, *, calls: int, texts: int, microseconds: int, now: int | None = None) -> None:
    """Counts calls of a model: their purpose, their number, their texts and their duration."""
    if is_name(f"model.{what}.microseconds"):
        words = f"{_number(microseconds)} {_number(calls)} {_number(texts)} {what}"
        _append(layout, f"{_moment(now)} model {words}\n")


def is_name(name: str) -> bool:
    """Whether a text can be the name of a count."""
    return 0 < len(name) <= _LONGEST and _NAME.issuperset(name)


def _moment(now: int | None) -> int:
    return int(time.time()) if now is None else now


def _number(value: int) -> int:
    return max(0, min(int(value), 10**14))


def _joined(names: "Iterable[str]") -> str:
    low = dict.fromkeys(name.lower() for name in names)
    return ",".join([name for name in low if is_name(f"{RECALLED}{name}")][:MOST_IDS]) or "-"


def _append(layout: Layout, lines: str, *, grown: bool = True) -> None:
    """Appends rows; `grown` allows a large file to become the old one."""
    if not lines:
        return
    try:
        fd = os.open(layout.statistics, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _PLAIN, 0o600)
    except OSError:
        return
    try:
        os.write(fd, lines.encode("ascii", "replace"))
        grown = grown and os.fstat(fd).st_size > LARGEST
    except OSError:
        grown = False
    finally:
        os.close(fd)
    if grown:
        _make_room(layout)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────


def totals(layout: Layout, *, holding: str = "") -> dict[str, int]:
    """Returns the count of each name; skips damaged rows. `holding`: only rows with this text."""
    sums, lines = whole(layout, holding=holding)
    found = _sums(sums + lines)
    return {name: found[name] for name in sorted(found) if not name.startswith(_FOLDED)}


def since(layout: Layout) -> int | None:
    """Returns when counting began, in seconds; None if nothing was counted."""
    sums, lines = whole(layout)
    return min((int(words[0]) for words in sums + lines if effect(words)), default=None)


def whole(layout: Layout, *, holding: str = "") -> "tuple[list[list[bytes]], list[list[bytes]]]":
    """Returns the rows of the sums, and every single row since, each split into words."""
    some = holding.encode("utf-8", "replace")
    for _ in range(3):  # again if another process folds meanwhile, which is rare
        before = _facts(layout)
        sums, old = (_lines(f"{layout.statistics}{end}", some) for end in (SUMS, OLD))
        if _mark_of(sums) and _mark_of(sums) == _mark_of(old):
            old = []  # it is in the sums already: the process that added it was killed before it replaced the file
        lines = old + _lines(layout.statistics, some)
        if before == _facts(layout):
            break
    return sums, lines


def effect(words: "Sequence[bytes]") -> "list[tuple[str, int]]":
    """Returns the names and numbers that one row adds; nothing if it is damaged."""
    row = [word.decode("ascii", "replace") for word in words]
    if not 2 <= len(row) <= 7 or not all(map(_is_number, row[:1])):
        return []
    if len(row) <= 3:
        number = row[2] if len(row) == 3 else "1"
        return [(row[1], int(number))] if is_name(row[1]) and _is_number(number) else []
    return _effect_of(row[1], row[2:])


def _effect_of(what: str, row: list[str]) -> "list[tuple[str, int]]":
    if not all(map(_is_number, row[:2])):
        return []
    took = int(row[0])
    if what == "ask" and len(row) == 5 and _is_number(row[2]) and are_hashes(row[3]):
        hits = int(row[1])
        own = [("recall.asked", 1), ("recall.empty", int(not hits)), ("recall.hits", hits)]
        own += [("recall.outdated", int(row[2])), ("recall.microseconds", took)]
        return own + [(f"{RECALLED}{name}", 1) for name in ids(row[4])]
    if what == "told" and len(row) == 5 and is_name(f"context.{row[2]}"):
        own = [(f"context.{row[2]}", 1), (f"tokens.{row[2]}", int(row[1])), ("told.microseconds", took)]
        return own + [(f"{TOLD}{name}", 1) for name in ids(row[4])]
    if what == "model" and len(row) == 4 and _is_number(row[2]) and is_name(f"model.{row[3]}.calls"):
        numbers = (("calls", int(row[1])), ("texts", int(row[2])), ("microseconds", took))
        return [(f"model.{row[3]}.{name}", number) for name, number in numbers]
    return []


def ids(joined: str) -> list[str]:
    """Returns the names of a list in a row."""
    some = joined.split(",")[:MOST_IDS] if len(joined) <= MOST_IDS * (_LONGEST + 1) else []
    return [name for name in some if name != "-" and is_name(f"{RECALLED}{name}")]


def are_hashes(joined: str) -> bool:
    """Whether a text is a list of hashes of words."""
    return joined == "-" or (
        len(joined) < 4 * MOST_WORDS and all(len(w) == 3 and _HEX.issuperset(w) for w in joined.split(","))
    )


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 16


def _sums(lines: "Iterable[Sequence[bytes]]") -> dict[str, int]:
    found: dict[str, int] = {}
    for words in lines:
        for name, number in effect(words):
            if number:
                found[name] = found.get(name, 0) + number
    return found


def _lines(path: str, some: bytes = b"") -> "list[list[bytes]]":
    """Returns the rows of a file, split into words: all, or those with a text, and its mark."""
    try:
        with open(path, "rb", opener=plainly) as file:
            data = file.read(_MOST)
    except OSError:
        return []
    lines = data[: data.rfind(b"\n") + 1].splitlines()  # without an incomplete last row
    return [line.split() for line in lines if some in line or _FOLDED.encode("ascii") in line]


def plainly(path: str, flags: int) -> int:
    """Opens a file for this user only; does not follow links, and does not wait for a pipe."""
    return os.open(path, flags | _PLAIN, 0o600)


def _mark_of(lines: "list[list[bytes]]") -> str:
    """Returns the mark of a file that became the old one; in the sums, the mark of the last file added."""
    names = (words[1].decode("ascii", "replace") for words in lines if len(words) == 2)
    return next((name for name in names if name.startswith(_FOLDED) and is_name(name)), "")


def _facts(layout: Layout) -> list[tuple[int, int]]:
    found = []
    for end in (SUMS, OLD, ""):
        try:
            facts = os.lstat(f"{layout.statistics}{end}")
            found.append((facts.st_ino, facts.st_mtime_ns if end == SUMS else 0))
        except OSError:
            found.append((0, 0))
    return found


# ── room ─────────────────────────────────────────────────────────────────────────────────────────


def reset(layout: Layout) -> None:
    """Deletes all counts and the key."""
    for end in ("", OLD, SUMS, USED, KEY):
        try:
            os.unlink(f"{layout.statistics}{end}")
        except FileNotFoundError:
            pass


def _make_room(layout: Layout) -> None:
    """Makes the file the old one, unless another process is doing that."""
    try:
        import fcntl
    except ImportError:  # on Windows the file just grows
        return
    try:
        lock = os.open(f"{layout.statistics}.lock", os.O_RDWR | os.O_CREAT | _PLAIN, 0o600)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Otherwise another process has just done it, or may still write to the old file.
        if os.stat(layout.statistics).st_size > LARGEST and _is_at_rest(f"{layout.statistics}{OLD}"):
            _fold(layout.statistics)
            _append(layout, f"{_moment(None)} {_FOLDED}{os.urandom(8).hex()}\n", grown=False)
            os.replace(layout.statistics, f"{layout.statistics}{OLD}")
    except OSError:
        pass
    finally:
        os.close(lock)


def _is_at_rest(path: str) -> bool:
    """Whether no process can still write to a file; True if it is missing."""
    try:
        return abs(time.time() - os.stat(path).st_mtime) >= AT_REST
    except FileNotFoundError:
        return True


def _fold(path: str) -> None:
    """Adds the old file to the sums; its mark shows later readers that it is in, even after a crash."""
    sums, old = (_lines(f"{path}{end}") for end in (SUMS, OLD))
    mark = _mark_of(old)
    if not old or (mark and mark == _mark_of(sums)):
        return
    found = _sums(sums + old)
    began = min((int(words[0]) for words in sums + old if effect(words)), default=0)
    rows = [f"{began} {mark}\n"] if mark else []
    rows += [f"{began} {name} {found[name]}\n" for name in sorted(found) if not name.startswith(_FOLDED)]
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb", opener=plainly) as file:
        file.write("".join(rows).encode("ascii"))
    os.replace(temporary, f"{path}{SUMS}")
