"""Local statistics: how often something happened in this clone. They never leave it.

One short line a time, `<seconds> <name> [<how many>]`, appended without waiting for the disk: a count
may be lost in a crash, and counting never fails or slows whoever counts. The quick path counts, too, so
nothing heavy is imported. A file that has grown is folded: a line for each name with its sum.
"""

import os
import time

from holdfast.store.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LARGEST = 1 << 20  # bytes; then it is folded
_MOST = 64 << 20  # nothing of ours grows to this: not read
_PLAIN = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789.-_")
_LONGEST = 64
RECALLED = "recalled."
CONTEXT = ("context.branch", "context.ancestor", "context.paths", "context.none")


def count(layout: Layout, *names: str, now: int | None = None) -> None:
    """Count one of each; where that cannot be written, nothing happens."""
    moment = int(time.time()) if now is None else now
    line = "".join(f"{moment} {name}\n" for name in names if is_name(name)).encode("ascii")
    if not line:
        return
    try:
        fd = os.open(layout.statistics, os.O_WRONLY | os.O_APPEND | os.O_CREAT | _PLAIN, 0o600)
    except OSError:
        return
    try:
        os.write(fd, line)
        grown = os.fstat(fd).st_size > LARGEST
    except OSError:
        grown = False
    finally:
        os.close(fd)
    if grown:
        _fold(layout)


def recalled(names: "Iterable[str]") -> list[str]:
    """Under which names it is counted that memories were found or told."""
    return [f"{RECALLED}{name.lower()}" for name in names]


def is_name(name: str) -> bool:
    """Whether a name can be counted under."""
    return 0 < len(name) <= _LONGEST and _NAME.issuperset(name)


def totals(layout: Layout) -> dict[str, int]:
    """How often each name was counted, by name; what is damaged does not count."""
    try:
        return _sums(_lines(layout.statistics))
    except OSError:
        return {}


def since(layout: Layout) -> int | None:
    """When counting began, in seconds; None if nothing was counted."""
    try:
        times = [int(words[0]) for words in map(bytes.split, _lines(layout.statistics)) if _is_count(words)]
    except OSError:
        return None
    return min(times, default=None)


def reset(layout: Layout) -> None:
    """Begin anew."""
    try:
        os.unlink(layout.statistics)
    except FileNotFoundError:
        pass


def _lines(path: str) -> list[bytes]:
    fd = os.open(path, os.O_RDONLY | _PLAIN)
    with open(fd, "rb") as file:
        data = file.read(_MOST)
    return data[: data.rfind(b"\n") + 1].splitlines()  # what ends without one is torn


def _is_count(words: list[bytes]) -> bool:
    numbers = [words[0], *words[2:]] if 2 <= len(words) <= 3 else [b""]
    return all(number.isdigit() and len(number) < 16 for number in numbers) and is_name(
        words[1].decode("ascii", "replace")
    )


def _sums(lines: "Iterable[bytes]") -> dict[str, int]:
    found: dict[str, int] = {}
    for words in map(bytes.split, lines):
        if _is_count(words):
            name = words[1].decode("ascii")
            found[name] = found.get(name, 0) + (int(words[2]) if len(words) == 3 else 1)
    return dict(sorted(found.items()))


def _fold(layout: Layout) -> None:
    """Put sums in place of single counts, unless another process does so at this moment."""
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
        if os.stat(layout.statistics).st_size > LARGEST:  # else somebody has just done it
            _replace(layout.statistics, _folded(layout))
    except OSError:
        pass
    finally:
        os.close(lock)


def _folded(layout: Layout) -> bytes:
    began = since(layout) or 0
    rows = (f"{began} {name} {number}\n" for name, number in totals(layout).items())
    return "".join(rows).encode("ascii")


def _replace(path: str, data: bytes) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | _PLAIN, 0o600)
    try:
        os.write(fd, data)
    finally:
        os.close(fd)
    os.replace(temporary, path)
