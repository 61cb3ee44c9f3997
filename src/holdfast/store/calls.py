"""How often the user's model command ran today: counted before each call, so that a crash counts too."""

import contextlib
import json
import os

from holdfast.errors import TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.store.layout import Layout

_MAX_FILE = 4096


def used(layout: Layout, day: str) -> int:
    """How many calls were made on a day, such as 2026-11-16; a damaged count is none."""
    with contextlib.suppress(OSError, ValueError, RecursionError, UnsafePath, TooLarge):
        record = json.loads(fsio.read(_path(layout), limit=_MAX_FILE))
        if isinstance(record, dict) and record.get("day") == day and type(record.get("calls")) is int:
            return max(0, int(record["calls"]))
    return 0


def take(layout: Layout, day: str, *, limit: int) -> int | None:
    """Count one more call and give how many that makes today; None if the limit is reached."""
    fsio.make_dirs(layout.sessions)
    with fsio.locked(_path(layout) + ".lock"):
        calls = used(layout, day) + 1
        if calls > limit:
            return None
        fsio.replace(_path(layout), json.dumps({"day": day, "calls": calls}).encode("ascii") + b"\n")
        return calls


def _path(layout: Layout) -> str:
    return os.path.join(layout.sessions, "model-calls.json")
