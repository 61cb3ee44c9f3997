"""Local statistics: what happened how often in this clone. They never leave it.

One short line a time, appended without waiting for the disk: a line may be lost in a crash, and counting
never fails or delays the caller. The quick path counts, too, so nothing heavy is imported.

    <seconds> <name> [<how many>]                                           something was counted
    <seconds> ask <microseconds> <hits> 0 - <memories>                      a recall
    <seconds> told <microseconds> <tokens> <how> <session> <memories>       an agent was given context
    <seconds> model <microseconds> <calls> <texts> <what for>               a model was called

Lists are joined by commas, `-` is none. Up to version 0.6 a question's line also held how many hits were outdated and
hashes of its words; they are passed over. A file that has grown becomes the old one, and what was old goes into sums, a
line a name: nobody is writing to it any more, so no line is lost. What follows from the lines is worked out by their
readers (`statistics`, `diagnostics.stats`), never here.
"""

import os
import time

from holdfast.store.layout import FOLDER_OF, Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LARGEST = 1 << 20  # bytes; then it becomes the old one
AT_REST = 10  # seconds since its last line: whoever had opened the old one has written to it
MOST_WORDS, MOST_IDS = 16, 64  # of one line
RECALLED, TOLD, LOOKED = "recalled.", "given.", "looked."
CONTEXT = ("context.branch", "context.ancestor", "context.paths", "context.none")
OLD, SUMS, USED, KEY = ".old", ".sums", ".used", ".key"
_FOLDED = "folded."
_MOST = 64 << 20  # nothing of ours grows to this: not read
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
_HEX = frozenset("0123456789abcdef")
_LONGEST = 64


# ── counting ─────────────────────────────────────────────────────────────────────────────────────


def count(layout: Layout, *names: str, now: int | None = None) -> None:
    """Count one of each; where that cannot be written, nothing happens."""
    moment = _moment(now)
    _append(layout, "".join(f"{moment} {name}\n" for name in names if is_name(name)))


def recalled_now(
    layout: Layout, hits: "Iterable[tuple[str, str, str | None]]", microseconds: int, *, now: int | None = None
) -> None:
    """Count a question that was answered: how fast, with what (id and kind of each hit)."""
    found = list(hits)
    memories = [name for name, kind, _ in found if kind in FOLDER_OF]
    said = f"{_number(microseconds)} {len(found)} 0 - {_joined(memories)}"
    _append(layout, f"{_moment(now)} ask {said}\n")


def told_now(layout: Layout, telling: str, microseconds: int, *, now: int | None = None) -> None:
    """Count that an agent was given context; `telling` says what."""
    line = f"{_moment(now)} told {_number(microseconds)} {telling}"
    if effect(line.encode("utf-8", "replace").split()):  # it may have been kept in the index
        _append(layout, f"{line}\n")


def telling(how: str, *, tokens: int, session: str | None = None, memories: "Iterable[str]" = ()) -> str:
    """What is counted of context: how its session was found, or at which event it was given; its size."""
    return f"{_number(tokens)} {how} {_joined([session or ''])} {_joined(memories)}"


def modelled(layout: Layout, what: str, *, calls: int, texts: int, microseconds: int, now: int | None = None) -> None:
    """Count that a model was asked: for what, how often, with how many texts, and for how long."""
    if is_name(f"model.{what}.microseconds"):
        said = f"{_number(microseconds)} {_number(calls)} {_number(texts)} {what}"
        _append(layout, f"{_moment(now)} model {said}\n")


def is_name(name: str) -> bool:
    """Whether a name can be counted under."""
    return 0 < len(name) <= _LONGEST and _NAME.issuperset(name)


def _moment(now: int | None) -> int:
    return int(time.time()) if now is None else now


def _number(value: int) -> int:
    return max(0, min(int(value), 10**14))


def _joined(names: "Iterable[str]") -> str:
    low = dict.fromkeys(name.lower() for name in names)
    return ",".join([name for name in low if is_name(f"{RECALLED}{name}")][:MOST_IDS]) or "-"


def _append(layout: Layout, lines: str, *, grown: bool = True) -> None:
    """Add lines; `grown` lets a file that has grown make room."""
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
    """How often each name was counted, by name; damage does not count. `holding`: only lines with this in."""
    sums, lines = whole(layout, holding=holding)
    found = _sums(sums + lines)
    return {name: found[name] for name in sorted(found) if not name.startswith(_FOLDED)}


def since(layout: Layout) -> int | None:
    """When counting began, in seconds; None if nothing was counted."""
    sums, lines = whole(layout)
    return min((int(words[0]) for words in sums + lines if effect(words)), default=None)


def whole(layout: Layout, *, holding: str = "") -> "tuple[list[list[bytes]], list[list[bytes]]]":
    """The sums of what is long past, and every single line since, in their words."""
    some = holding.encode("utf-8", "replace")
    for _ in range(3):
        before = _facts(layout)
        sums, old = (_lines(f"{layout.statistics}{end}", some) for end in (SUMS, OLD))
        if _mark_of(sums) and _mark_of(sums) == _mark_of(old):
            old = []  # whoever folded it was killed before it could go
        lines = old + _lines(layout.statistics, some)
        if before == _facts(layout):
            break
    return sums, lines


def effect(words: "Sequence[bytes]") -> "list[tuple[str, int]]":
    """What one line adds to which names; nothing if it is damaged."""
    said = [word.decode("ascii", "replace") for word in words]
    if not 2 <= len(said) <= 7 or not all(map(_is_number, said[:1])):
        return []
    if len(said) <= 3:
        number = said[2] if len(said) == 3 else "1"
        return [(said[1], int(number))] if is_name(said[1]) and _is_number(number) else []
    return _effect_of(said[1], said[2:])


def _effect_of(what: str, said: list[str]) -> "list[tuple[str, int]]":
    if not all(map(_is_number, said[:2])):
        return []
    took = int(said[0])
    if what == "ask" and len(said) == 5 and _is_number(said[2]) and are_hashes(said[3]):
        hits = int(said[1])
        own = [("recall.asked", 1), ("recall.empty", int(not hits)), ("recall.hits", hits)]
        own += [("recall.outdated", int(said[2])), ("recall.microseconds", took)]
        return own + [(f"{RECALLED}{name}", 1) for name in ids(said[4])]
    if what == "told" and len(said) == 5 and is_name(f"context.{said[2]}"):
        own = [(f"context.{said[2]}", 1), (f"tokens.{said[2]}", int(said[1])), ("told.microseconds", took)]
        return own + [(f"{TOLD}{name}", 1) for name in ids(said[4])]
    if what == "model" and len(said) == 4 and _is_number(said[2]) and is_name(f"model.{said[3]}.calls"):
        numbers = (("calls", int(said[1])), ("texts", int(said[2])), ("microseconds", took))
        return [(f"model.{said[3]}.{name}", number) for name, number in numbers]
    return []


def ids(joined: str) -> list[str]:
    """The names of a list on a line."""
    some = joined.split(",")[:MOST_IDS] if len(joined) <= MOST_IDS * (_LONGEST + 1) else []
    return [name for name in some if name != "-" and is_name(f"{RECALLED}{name}")]


def are_hashes(joined: str) -> bool:
    """Whether this is a list of hashes of words."""
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
    """The lines of a file in their words: all, or those that hold something, and its mark."""
    try:
        with open(path, "rb", opener=plainly) as file:
            data = file.read(_MOST)
    except OSError:
        return []
    lines = data[: data.rfind(b"\n") + 1].splitlines()  # the rest is torn
    return [line.split() for line in lines if some in line or _FOLDED.encode("ascii") in line]


def plainly(path: str, flags: int) -> int:
    """Open a file for this user alone; a link is not followed, and a pipe does not hold us."""
    return os.open(path, flags | _PLAIN, 0o600)


def _mark_of(lines: "list[list[bytes]]") -> str:
    """The mark of a file that became the old one; in the sums, of the last that went into them."""
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
    """Start from zero: everything that was counted, and the key, is deleted."""
    for end in ("", OLD, SUMS, USED, KEY):
        try:
            os.unlink(f"{layout.statistics}{end}")
        except FileNotFoundError:
            pass


def _make_room(layout: Layout) -> None:
    """Let the file become the old one, unless another process does so at this moment."""
    try:
        import fcntl
    except ImportError:  # Windows: whoever counts there counts into a longer file
        return
    try:
        lock = os.open(f"{layout.statistics}.lock", os.O_RDWR | os.O_CREAT | _PLAIN, 0o600)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Else somebody has just done it, or may still write to what became the old one.
        if os.stat(layout.statistics).st_size > LARGEST and _is_at_rest(f"{layout.statistics}{OLD}"):
            _fold(layout.statistics)
            _append(layout, f"{_moment(None)} {_FOLDED}{os.urandom(8).hex()}\n", grown=False)
            os.replace(layout.statistics, f"{layout.statistics}{OLD}")
    except OSError:
        pass
    finally:
        os.close(lock)


def _is_at_rest(path: str) -> bool:
    """Whether nobody can be writing to a file any more; one that is not there rests."""
    try:
        return abs(time.time() - os.stat(path).st_mtime) >= AT_REST
    except FileNotFoundError:
        return True


def _fold(path: str) -> None:
    """Add the old file to the sums; killed right after, the next reader and the next fold know it is in."""
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
