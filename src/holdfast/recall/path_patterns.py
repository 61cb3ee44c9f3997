"""Paths with stars: `*` for any part of a name, `**` for any number of folders. Nothing is imported."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def one_spelling(path: str) -> str:
    """A path in the form in which two spellings of it are equal: ö as one character, or as o and two dots."""
    if path.isascii():
        return path
    from unicodedata import normalize  # only who has such a path pays for it

    return normalize("NFC", path)


def is_below(pattern: "Sequence[str]", parts: "Sequence[str]") -> bool:
    """Whether a path, in its parts, is what a pattern names or lies below it."""
    return _alike([*pattern, "**"], parts, "**", lambda want, part: _alike(want, part, "*", str.__eq__))


def _alike(wanted: "Sequence[str]", there: "Sequence[str]", star: str, same: "Callable[[str, str], bool]") -> bool:
    """Whether a sequence fits one with stars, each for any number of items; in at most n times m steps."""
    at = here = 0
    last, mark = -1, 0
    while here < len(there):
        if at < len(wanted) and wanted[at] == star:
            last, mark, at = at, here, at + 1
        elif at < len(wanted) and same(wanted[at], there[here]):
            at, here = at + 1, here + 1
        elif last >= 0:
            mark += 1
            at, here = last + 1, mark
        else:
            return False
    return all(item == star for item in wanted[at:])


def holds(place: str, path: str) -> bool:
    """Whether a path, a folder or a pattern holds for a file, both seen from the repository's top."""
    place, path = one_spelling(place.rstrip("/")), one_spelling(path)
    if "*" in place:
        return is_below(place.split("/"), path.split("/"))
    return place in ("", ".", path) or path.startswith(f"{place}/")
