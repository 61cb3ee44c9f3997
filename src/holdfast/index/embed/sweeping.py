"""After an erase: no vector of a text that no index names any more stays on the disk."""

from __future__ import annotations

import contextlib
import os
import sqlite3

from holdfast.index.embed import pending
from holdfast.index.embed.vectors import UNSWEPT, Vectors


def doubt(folder: str) -> None:
    """Leave word that vectors may be here whose texts were erased."""
    if os.path.exists(os.path.join(folder, "vectors.db")):
        with contextlib.suppress(OSError):
            os.close(os.open(os.path.join(folder, UNSWEPT), os.O_WRONLY | os.O_CREAT, 0o600))


def sweep(folder: str) -> int:
    """Delete the vectors of texts that no index names any more, if somebody doubted; gives how many.

    The indexes of other work trees were dropped as well, and are made when somebody works there: what only
    they name is embedded again then.
    """
    mark, path = os.path.join(folder, UNSWEPT), os.path.join(folder, "vectors.db")
    if not os.path.exists(mark):
        return 0
    gone = 0
    if os.path.exists(path):
        vectors = Vectors(path)
        try:
            gone = vectors.keep_only(pending.contents(_indexes(folder)))
        except sqlite3.DatabaseError:
            vectors.close()
            os.unlink(path)
        finally:
            vectors.close()
    with contextlib.suppress(OSError):
        os.unlink(mark)
    return gone


def _indexes(folder: str) -> list[str]:
    names = (name for name in sorted(os.listdir(folder)) if name.endswith(".db"))
    return [os.path.join(folder, name) for name in names if name.startswith(("index", "corpus"))]
