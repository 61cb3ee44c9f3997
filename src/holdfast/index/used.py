"""Which memories were used after they were recalled, in the index: ranking prefers them, mildly.

It is a copy of the private store's own small file, which the index's signature covers: an index that is
made anew holds the same. That something was found counts for nothing here, or what is found would be found.
"""

import sqlite3

from holdfast.store import counted
from holdfast.store.layout import Layout


def fill(db: sqlite3.Connection, layout: Layout) -> None:
    """Make the table say what the file says; names are in lower case."""
    found = sorted((name, times, last) for name, (times, last) in counted.times_used(layout).items())
    if db.execute("SELECT name, times, last FROM used ORDER BY name").fetchall() != found:
        db.execute("DELETE FROM used")
        db.executemany("INSERT INTO used VALUES (?, ?, ?)", found)
