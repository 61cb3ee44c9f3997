"""Where a transcript lies: a file of its own, or a session in the database that a tool keeps for all of them.

    ~/.codex/sessions/2026/11/18/rollout-….jsonl
    ~/.local/share/opencode/opencode.db#ses_1e4d86ae…

Of a session in a database it is known when the database was last written; whether the session was, only reading tells.
"""

import os
import stat
from typing import NamedTuple

_MARK = ".db#"


class TranscriptFacts(NamedTuple):
    """A transcript as the file system tells of it."""

    size: int
    mtime_ns: int


def in_database(path: str) -> tuple[str, str] | None:
    """The database and the session that a path names; None for a file."""
    file, mark, session = path.rpartition(_MARK)
    return (file + _MARK[:-1], session) if mark and session and not os.path.lexists(path) else None


def path_in(database: str, session: str) -> str:
    """What a session in a database is called."""
    return f"{database}#{session}"


def facts(path: str) -> TranscriptFacts:
    """How long a transcript is, and when it was written; OSError if it is not there."""
    found = in_database(path)
    if found is None:
        known = os.stat(path)
        return TranscriptFacts(known.st_size, known.st_mtime_ns)
    parts = [os.stat(found[0])]
    if os.path.exists(f"{found[0]}-wal"):
        parts.append(os.stat(f"{found[0]}-wal"))
    return TranscriptFacts(sum(one.st_size for one in parts), max(one.st_mtime_ns for one in parts))


def beginning(path: str, most: int) -> bytes:
    """The first bytes of a transcript, by which it is known again; a session in a database is known by its name."""
    found = in_database(path)
    if found is not None:
        os.stat(found[0])
        return found[1].encode("utf-8", "surrogateescape")[:most]
    with open(path, "rb") as file:
        return file.read(most)


def is_there(path: str) -> bool:
    """Whether a transcript can be read at a path."""
    found = in_database(path)
    try:
        return stat.S_ISREG(os.stat(found[0] if found else path).st_mode)
    except (OSError, ValueError):
        return False
