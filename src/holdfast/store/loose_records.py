"""Small records of our own, each a file of its own.

A loose one may be lost: missing or damaged it counts as empty, and nothing worse happens. Of one that has to be whole
`CorruptLog` says why it does not count; whoever reads many leaves it out and says so.
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

LIMIT = 1 << 26
_T = TypeVar("_T")


MISSING = (FileNotFoundError, NotADirectoryError)


@contextlib.contextmanager
def judging(path: str, wrong: str, *, missing: tuple[type[OSError], ...] = MISSING[:1]) -> Iterator[None]:
    """CorruptLog if a record cannot be taken apart in the block; one that is `missing` is just that."""
    try:
        yield
    except missing:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError, UnsafePath, TooLarge) as error:
        raise CorruptLog(f"{path}{wrong}: {error}") from error


def sound(layout: Layout, read: Callable[[str], _T], paths: Iterable[str]) -> Iterator[_T]:
    """The records that count; a damaged one is left out and said, one that was just removed is not."""
    for path in paths:
        try:
            yield read(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (CorruptLog, FutureFormat) as error:
            layout.leave_out(error)


def damaged(read: Callable[[str], object], paths: Iterable[str]) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Every record that does not count, with the reason."""
    for path in paths:
        try:
            read(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (CorruptLog, FutureFormat) as error:
            yield path, error


def content(path: str, *, limit: int = LIMIT) -> bytes:
    """A file's bytes; none if it is missing, no plain file, or too large."""
    try:
        return fsio.read(path, limit=limit)
    except (OSError, UnsafePath, TooLarge):
        return b""


def read(path: str, *, limit: int = LIMIT) -> dict[str, Any]:
    """The object that a file holds, or an empty one."""
    try:
        return dict_of(json.loads(content(path, limit=limit)))
    except (ValueError, RecursionError):
        return {}


def keep(path: str, record: Mapping[str, Any]) -> None:
    """Replace what a file holds."""
    fsio.make_dirs(os.path.dirname(path))
    fsio.replace(path, json.dumps(record, ensure_ascii=True, indent=1).encode("ascii") + b"\n")
