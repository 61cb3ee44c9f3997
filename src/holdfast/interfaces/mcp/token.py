"""The token that HTTP needs: given by the user, else made anew at each start; never readable by others."""

import contextlib
import os
import secrets
import stat

from holdfast.errors import BadInput, UnsafePath
from holdfast.patterns import regex
from holdfast.store import fsio

VARIABLE = "HOLDFAST_MCP_TOKEN"
_FORM = regex(r"[A-Za-z0-9._~+/=-]{16,512}")  # what may stand behind `Bearer`
_MOST = 1024


def chosen(file: str | None, variable: str | None) -> tuple[str, bool]:
    """The token, and whether the user knows it already: from the file, else the variable, else a new one."""
    if file is not None:
        return _of_file(os.path.abspath(file)), True
    if variable:
        return _checked(variable.strip(), VARIABLE), True
    return secrets.token_urlsafe(32), False


def _of_file(path: str) -> str:
    """What a file holds; one that is not there is made, for its owner alone."""
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise UnsafePath(f"{path} is not a file that only you can read", hint="Give it to you alone: chmod 600.")
        text = fsio.read(path, limit=_MOST).decode("utf-8", "replace")
        return _checked(text.strip(), path)
    token = secrets.token_urlsafe(32)
    fsio.replace(path, f"{token}\n".encode(), mode=0o600)
    return token


def _checked(token: str, where: str) -> str:
    if not _FORM.fullmatch(token):
        raise BadInput(
            f"what {where} holds is no token: it needs 16 to 512 letters, digits and -._~+/=",
            hint="Make one with: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return token
