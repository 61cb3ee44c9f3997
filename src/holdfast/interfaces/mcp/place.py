"""Where the project is that a client means: in its roots, or where the server was started."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from holdfast.errors import BadInput, HoldfastError, NotARepository, NotInitialised

if TYPE_CHECKING:
    from holdfast.project import Project

MAX_ROOTS = 16


def from_roots(roots: Any) -> list[str]:
    """The folders of this machine that a client's roots name."""
    found = []
    for root in roots[:MAX_ROOTS] if isinstance(roots, list) else ():
        uri = root.get("uri") if isinstance(root, dict) else None
        if isinstance(uri, str) and (path := _path(uri)) is not None:
            found.append(path)
    return found


def _path(uri: str) -> str | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    path = unquote(parts.path, errors="surrogateescape")
    local = parts.scheme == "file" and parts.netloc in ("", "localhost")
    return path if local and os.path.isabs(path) and "\0" not in path else None


def open_first(folders: Sequence[str]) -> "tuple[Project, str]":
    """The project of the first folder that has one, opened as it is now, and that folder."""
    from holdfast.project import Project  # the first call pays for it, not the handshake

    lacking: HoldfastError | None = None
    for folder in ordered(folders):
        if not os.path.isdir(folder):
            continue
        try:
            return Project.open(folder, environ=os.environ, person=False), os.path.abspath(folder)
        except (NotARepository, NotInitialised) as error:
            lacking = lacking or error
    raise _nowhere(folders, lacking)


def ordered(folders: Sequence[str]) -> list[str]:
    """The folder we were started in comes first where it lies in a root: it says more."""
    *roots, own = folders
    here = os.path.realpath(own)
    inside = any(
        os.path.commonpath([here, os.path.realpath(root)]) == os.path.realpath(root) for root in roots
    )
    return [own, *roots] if inside else [*roots, own]


def _nowhere(folders: Sequence[str], lacking: HoldfastError | None) -> HoldfastError:
    where = ", ".join(os.path.abspath(folder) for folder in folders[:3])
    if isinstance(lacking, NotInitialised):
        return NotInitialised(
            f"the repository in {where} has no Holdfast memory yet",
            hint="Go on without it; the user can set it up with `holdfast init`.",
        )
    if isinstance(lacking, NotARepository):
        return NotARepository(
            f"{where} is in no git repository",
            hint="Go on without memory; the user can start this server in a repository.",
        )
    return BadInput(
        f"{where} is no folder", hint="The user has to say where the project is: `holdfast -C DIR mcp`."
    )
