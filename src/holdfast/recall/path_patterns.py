"""Matches paths with stars: `*` for any part of a name, `**` for any number of folders. Imports nothing."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def one_spelling(path: str) -> str:
    """Returns a path in a form in which equal names are equal: ö as one character, or as o and two dots."""
    if path.isascii():
        return path
    from unicodedata import normalize  # imported only for such a path

    return normalize("NFC", path)


def is_below(pattern: "Sequence[str]", parts: "Sequence[str]") -> bool:
    """Whether a path, in its parts, is what a pattern names or lies below it."""
    return _matches([*pattern, "**"], parts, "**", lambda want, part: _matches(want, part, "*", str.__eq__))


def _matches(pattern: "Sequence[str]", items: "Sequence[str]", star: str, same: "Callable[[str, str], bool]") -> bool:
    """Whether a sequence matches one with stars, each for any number of items; in at most n times m steps."""
    at = spot = 0
    last, mark = -1, 0  # the last star, and the spot that it takes next
    while spot < len(items):
        if at < len(pattern) and pattern[at] == star:
            last, mark, at = at, spot, at + 1
        elif at < len(pattern) and same(pattern[at], items[spot]):
            at, spot = at + 1, spot + 1
        elif last >= 0:
            mark += 1
            at, spot = last + 1, mark
        else:
            return False
    return all(item == star for item in pattern[at:])


def holds(place: str, path: str) -> bool:
    """Whether a path, a folder or a pattern applies to a file, both relative to the repository's top."""
    place, path = one_spelling(place.rstrip("/")), one_spelling(path)
    if "*" in place:
        return is_below(place.split("/"), path.split("/"))
    return place in ("", ".", path) or path.startswith(f"{place}/")
