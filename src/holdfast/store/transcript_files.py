"""Paths of transcripts: a file, or a session in an agent's database of all sessions.

    ~/.codex/sessions/2026/11/18/rollout-….jsonl
    ~/.local/share/opencode/opencode.db#ses_1e4d86ae…

For a session in a database, size and time are those of the whole database; only reading shows if the session changed.
"""

import os
import stat
from typing import NamedTuple

_MARK = ".db#"


class TranscriptFacts(NamedTuple):
    """The size and time of a transcript."""

    size: int
    mtime_ns: int


def in_database(path: str) -> tuple[str, str] | None:
    """Returns the database and the session in a path; None for a file."""
    file, mark, session = path.rpartition(_MARK)
    return (file + _MARK[:-1], session) if mark and session and not os.path.lexists(path) else None


def path_in(database: str, session: str) -> str:
    """Returns the path of a session in a database."""
    return f"{database}#{session}"


def facts(path: str) -> TranscriptFacts:
    """Returns the size and time of a transcript; raises OSError if it is missing."""
    found = in_database(path)
    if found is None:
        known = os.stat(path)
        return TranscriptFacts(known.st_size, known.st_mtime_ns)
    parts = [os.stat(found[0])]
    if os.path.exists(f"{found[0]}-wal"):
        parts.append(os.stat(f"{found[0]}-wal"))
    return TranscriptFacts(sum(one.st_size for one in parts), max(one.st_mtime_ns for one in parts))


def beginning(path: str, most: int) -> bytes:
    """Returns the first bytes of a transcript, to recognise it; for a session in a database, its name."""
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
