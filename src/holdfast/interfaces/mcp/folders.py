"""Where the project may be that a client means: in its roots, or where the server was started."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

MAX_ROOTS = 16


def of_roots(roots: Any) -> list[str]:
    """The folders of this machine that a client's roots name."""
    found = []
    for root in roots[:MAX_ROOTS] if isinstance(roots, list) else ():
        uri = root.get("uri") if isinstance(root, dict) else None
        if isinstance(uri, str) and (path := _path(uri)) is not None:
            found.append(path)
    return found


def _path(uri: str) -> str | None:
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if local and os.path.isabs(path) and "\0" not in path else None


def ordered(folders: Sequence[str]) -> list[str]:
    """The folder we were started in comes first where it lies in a root: it says more."""
    *roots, own = folders
    here = os.path.realpath(own)
    inside = any(os.path.commonpath([here, os.path.realpath(root)]) == os.path.realpath(root) for root in roots)
    return [own, *roots] if inside else [*roots, own]
