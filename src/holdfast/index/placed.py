"""What stands at a line of a file: the piece of it that a question such as `src/x.py:84` asks for.

Nothing is imported: the quick path looks with this.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from sqlite3 import Connection

# Pieces of files have no time, so their numbers are negative; the many commits of a file are passed over.
_PIECES = (
    "SELECT r.id, r.name FROM path AS p JOIN touch AS t ON t.path = p.id JOIN row AS r ON r.id = t.row "
    "WHERE p.name = ? AND t.row < 0 AND r.kind IN ('code', 'doc') AND r.shown"
)


def holding(db: "Connection", places: "Sequence[tuple[str, int]]") -> dict[int, float]:
    """The rows of the pieces that hold these lines: the last one that begins at or before each of them."""
    found = {}
    for path, line in places:
        begun = [(_line(name), row) for row, name in db.execute(_PIECES, (path,)) if 0 < _line(name) <= line]
        if begun:
            found[max(begun)[1]] = 1.0
    return found


def _line(name: str) -> int:
    """The line that a piece begins at, by its name."""
    line = name.rpartition(":")[2]
    return int(line) if line.isascii() and line.isdigit() else 0
