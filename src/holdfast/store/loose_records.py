"""Small records, each in its own JSON file.

Some may be lost: missing or damaged ones count as empty. Others must be intact: `CorruptLog` gives the reason why one
does not count, and a reader of many skips and reports it.
"""

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from holdfast.errors import CorruptLog, FutureFormat, TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import dict_of

LIMIT = 1 << 26  # bytes; a guess: protects the memory, far above real records
_T = TypeVar("_T")


MISSING = (FileNotFoundError, NotADirectoryError)


@contextlib.contextmanager
def judging(path: str, wrong: str, *, missing: tuple[type[OSError], ...] = MISSING[:1]) -> Iterator[None]:
    """Turns errors of parsing a record into CorruptLog; passes errors in `missing` on."""
    try:
        yield
    except missing:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, UnsafePath, TooLarge) as error:
        raise CorruptLog(f"{path}{wrong}: {error}") from error


def sound(layout: Layout, read: Callable[[str], _T], paths: Iterable[str]) -> Iterator[_T]:
    """Yields the intact records; skips and reports damaged ones; skips those just deleted."""
    for path in paths:
        try:
            yield read(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (CorruptLog, FutureFormat) as error:
            layout.leave_out(error)


def damaged(read: Callable[[str], object], paths: Iterable[str]) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Yields every damaged record, with the reason."""
    for path in paths:
        try:
            read(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (CorruptLog, FutureFormat) as error:
            yield path, error


def content(path: str, *, limit: int = LIMIT) -> bytes:
    """Returns a file's bytes; none if it is missing, not a regular file, or too large."""
    try:
        return fsio.read(path, limit=limit)
    except (OSError, UnsafePath, TooLarge):
        return b""


def read(path: str, *, limit: int = LIMIT) -> dict[str, Any]:
    """Returns the JSON object in a file, or an empty one."""
    try:
        return dict_of(json.loads(content(path, limit=limit)))
    except (ValueError, RecursionError):
        return {}


def keep(path: str, record: Mapping[str, Any]) -> None:
    """Writes a record into its file, durably."""
    fsio.make_dirs(os.path.dirname(path))
    fsio.replace(path, json.dumps(record, ensure_ascii=True, indent=1).encode("ascii") + b"\n")
