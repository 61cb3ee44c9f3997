"""Whether two lists of path patterns can govern one file."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

_WILD = "*?["


def overlap(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether some path could match both; no pattern at all means everywhere."""
    return not one or not other or any(_meet(a, b) for a in one for b in other)


def _meet(one: str, other: str) -> bool:
    one, other = _plain(one), _plain(other)
    if not _wild(one) and not _wild(other):
        return _within(one, other) or _within(other, one)
    if not _wild(one) or not _wild(other):
        path, pattern = (other, one) if _wild(one) else (one, other)
        return _matches(path, pattern) or _could_hold(path, pattern)
    return _heads_meet(_head(one), _head(other)) and _tails_meet(one, other)


def _matches(path: str, pattern: str) -> bool:
    """Whether a pattern matches a path; `**/` may also stand for no folder at all."""
    return fnmatchcase(path, pattern) or fnmatchcase(path, pattern.replace("**/", ""))


def _plain(path: str) -> str:
    return path.strip().removeprefix("./").rstrip("/")


def _wild(path: str) -> bool:
    return any(c in path for c in _WILD)


def _within(path: str, folder: str) -> bool:
    return path == folder or folder in ("", ".") or path.startswith(folder + "/")


def _head(pattern: str) -> str:
    """The part of a pattern before its first wildcard."""
    return pattern[: min(pattern.find(c) for c in _WILD if c in pattern)]


def _heads_meet(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _could_hold(path: str, pattern: str) -> bool:
    """Whether a folder could hold something the pattern matches; a path with an ending is a file."""
    if "." in path.rpartition("/")[2].lstrip("."):
        return False
    head = _head(pattern)
    return _within(head.rstrip("/"), path) or (path + "/").startswith(head)


def _tails_meet(one: str, other: str) -> bool:
    """Two patterns that end in different file endings never meet."""
    tails = [
        pattern.rpartition("/")[2].rpartition(".")[2] if "." in pattern.rpartition("/")[2] else ""
        for pattern in (one, other)
    ]
    return not all(tails) or any(_wild(tail) for tail in tails) or tails[0] == tails[1]
