"""Answers kept ready: text rendered before, good for as long as nothing changed.

The full path puts an answer here together with the signature that was true *before* it looked;
the quick path prints it if the signature still holds and its time is not over. It is a cache in
a cache: whoever finds nothing here computes the answer.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection


def put(db: "Connection", name: str, *, signature: str, text: str, json: str, valid_until: str | None = None) -> None:
    """Keep an answer; `valid_until` is the time (as events carry it) at which it stops being true."""
    row = (name, signature, text, json, valid_until or "")
    db.execute("INSERT OR REPLACE INTO ready VALUES (?, ?, ?, ?, ?)", row)


def get(db: "Connection", name: str, *, signature: str, now: str) -> tuple[str, str] | None:
    """The kept (text, json), or None if it is not there or no longer true."""
    row = db.execute("SELECT text, json, signature, until FROM ready WHERE name = ?", (name,)).fetchone()
    if row is None or row[2] != signature or (row[3] and row[3] <= now):
        return None
    return row[0], row[1]
