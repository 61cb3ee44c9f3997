"""What of a session is this repository's: a hook tells where a session passed by, not whose it is."""

import os

from holdfast.capture.agents.reading import Dialect, Reading
from holdfast.capture.ingest.whose import Repository
from holdfast.model.transcript import Origin
from holdfast.values import replace


def only_ours(tool: Dialect, repository: Repository, top: str, *, gone: bool = False) -> Dialect:
    """A dialect that gives a session of this repository, and of another's session the turns made here.

    A session that says nothing of where it stood is taken at the hook's word; so is one whose work tree is
    `gone`, for turns made in a folder that is not there any more: nothing else can tell that it was ours.
    """

    def read(path: str, start: int, origin: Origin | None) -> Reading:
        found = tool.read(path, start, origin)
        # A reading that goes on was given what we made of the session; what it says itself counts.
        said = found.origin if origin is None else tool.read(path, 0, None).origin
        if not (said.cwd or said.remote or said.commit) or repository.owns(said):
            return found
        here = replace(found.origin, cwd=top, remote=None, commit=None)
        turns = (one for one in found if is_ours(one.cwd or said.cwd, here))
        return Reading(here, turns, found.counted)

    def is_ours(cwd: str | None, here: Origin) -> bool:
        if not cwd:
            return False
        return repository.owns(replace(here, cwd=cwd)) or (gone and not is_there(cwd))

    return replace(tool, read=read)


def is_there(folder: str) -> bool:
    """Whether this can be a folder, and is one."""
    try:
        return os.path.isdir(folder)
    except ValueError:  # a NUL
        return False
