"""What a work tree looked like when its edits were last looked at: a small record a subject.

A convenience: a record that is damaged or missing counts as none, and nothing worse happens than that
something is looked at again.
"""

import hashlib
import json
import os
from typing import Any

from holdfast.errors import TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.store import fsio

_LIMIT = 1 << 24


def read(clone: Clone, subject: str) -> dict[str, list[Any]]:
    """Name to what is remembered of it."""
    for store in (clone.layout, *clone.stores):  # where it was last written comes first
        try:
            raw = json.loads(fsio.read(os.path.join(store.seen, _name(clone, subject)), limit=_LIMIT))
            return {name: row for name, row in raw.items() if isinstance(row, list)}
        except (OSError, ValueError, AttributeError, RecursionError, UnsafePath, TooLarge):
            continue
    return {}


def keep(clone: Clone, subject: str, rows: dict[str, list[Any]]) -> None:
    """Remember this and nothing else."""
    fsio.make_dirs(clone.layout.seen)
    data = json.dumps(rows, ensure_ascii=True, indent=1).encode("ascii")
    fsio.replace(os.path.join(clone.layout.seen, _name(clone, subject)), data + b"\n")


def _name(clone: Clone, subject: str) -> str:
    return f"{subject}-{hashlib.sha256(os.fsencode(clone.worktree)).hexdigest()[:16]}.json"
