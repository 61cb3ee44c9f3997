"""Small JSON records that may be lost: a missing or damaged one counts as empty, and nothing worse happens."""

import json
import os
from collections.abc import Mapping
from typing import Any

from holdfast.errors import TooLarge, UnsafePath
from holdfast.store import fsio

LIMIT = 1 << 26


def content(path: str, *, limit: int = LIMIT) -> bytes:
    """A file's bytes; none if it is missing, no plain file, or too large."""
    try:
        return fsio.read(path, limit=limit)
    except (OSError, UnsafePath, TooLarge):
        return b""


def read(path: str, *, limit: int = LIMIT) -> dict[str, Any]:
    """The object that a file holds, or an empty one."""
    try:
        found = json.loads(content(path, limit=limit))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def keep(path: str, record: Mapping[str, Any]) -> None:
    """Replace what a file holds."""
    fsio.make_dirs(os.path.dirname(path))
    fsio.replace(path, json.dumps(record, ensure_ascii=True, indent=1).encode("ascii") + b"\n")
