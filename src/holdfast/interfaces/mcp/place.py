"""The project that a client means, opened as it is at this moment."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.errors import BadInput, HoldfastError, NotARepository, NotInitialised
from holdfast.interfaces.mcp.folders import ordered

if TYPE_CHECKING:
    from holdfast.project import Project


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
    return BadInput(f"{where} is no folder", hint="The user has to say where the project is: `holdfast -C DIR mcp`.")
