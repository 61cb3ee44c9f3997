"""`holdfast keys`: which keys seal and open what is kept here, a new one, and the end of one."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from holdfast.interfaces.cli.invocation import Invocation, answer, command, confirm, group
from holdfast.interfaces.cli.output import as_plain, show, strong
from holdfast.interfaces.cli.phrases import lines, table
from holdfast.interfaces.cli.root import root
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.project import Project
    from holdfast.store.sealed_files import KeyDescription


@group(root, "keys", "list")
def keys() -> None:
    """The keys of what is sealed: list, rotate, destroy."""


@frozen
class KeyList:
    """What is sealed from now on, where keys come from, and the keys there are."""

    scope: Sequence[str]
    source: str | None
    keys: Sequence[KeyDescription]


def key_list_text(found: KeyList) -> str:
    """One row a key."""
    sealed = ", ".join(found.scope) or "nothing: set encryption.scope (docs/security.md)"
    rows = [(strong(one.id), one.use, _day(one.created)) for one in found.keys]
    return lines(f"Sealed:    {sealed}", f"Keys from: {found.source or 'nowhere: set encryption.key'}", "", table(rows))


def key_list_object(found: KeyList) -> dict[str, object]:
    return {"items": as_plain(found.keys), "scope": as_plain(found.scope), "source": found.source}


def _day(micros: int) -> str:
    return f"since {datetime.fromtimestamp(micros / 1_000_000, UTC):%Y-%m-%d}" if micros else ""


@answer(keys, "list", key_list_text, key_list_object)
def list_keys(project: Project) -> object:
    """List the keys, and say what is sealed; the first key is made when it is needed."""
    settings = project.settings
    source = (settings.encryption_key or "").partition(":")
    known = project.keys.described() if settings.encryption_key else []
    # Only what begins as a source does is shown: somebody may have put the key itself there.
    shown = settings.encryption_key if source[0] in ("env", "age", "keyring") else None
    return KeyList(settings.encryption_scope, shown, known)


def rotated_text(done: Mapping[str, str]) -> str:
    """Which key seals now."""
    return f"Key {strong(done['id'])} seals from now on; what others sealed stays as it is, and they still open it."


@answer(keys, "rotate", rotated_text)
def rotate(project: Project) -> object:
    """Seal with a new key from now on; nothing is rewritten."""
    return {"id": project.keys.rotate()}


@command(keys, "destroy")
@click.argument("key")
@click.option("--yes", is_flag=True, help="Do not ask.")
def destroy(place: Invocation, key: str, *, yes: bool) -> None:
    """End a key: what it sealed can never be read again, by anybody."""
    with place.project() as project:
        confirm(f"What {key} sealed can never be read again. Go on?", yes=yes)
        show({"id": key, "is_gone": project.keys.destroy(key)}, destroyed_text)


def destroyed_text(done: Mapping[str, object]) -> str:
    """What is left to do."""
    kept = "Its secret is still in the variable: take it out there. Copies of the variable and of the store open it."
    gone = "Copies from before, such as bundles and backups, may hold it: it ends there when no identity opens it."
    return lines(
        f"Key {strong(str(done['id']))} is destroyed: nothing here opens what it sealed.",
        gone if done["is_gone"] else kept,
    )
