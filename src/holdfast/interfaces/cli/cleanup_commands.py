"""Commands that take away: `reset` and `prune` caches, `keys` what a key opens. They ask first and say what they did.

In words: what goes, how much, and how to have it back.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from holdfast.interfaces.cli.invocation import Invocation, answer, command, confirm, group
from holdfast.interfaces.cli.output import as_plain, say, show, strong, wants_json
from holdfast.interfaces.cli.phrases import count, lines, size, table, wording
from holdfast.interfaces.cli.root import root
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.project import Project
    from holdfast.store.sealed_files import KeyDescription
    from holdfast.work.cleanup import PruneResult, ResetResult, UndoneReset

MOST, SHOWN = 20, 32  # things that are named, characters of a name
_PARTS = (("sessions", "session"), ("claims", "claim"), ("tasks", "task"), ("links", "link"))
_KINDS = {"session": "session", "claim": "claim", "trash": "old reset", "anchor": "uncited commit"}


def reset_text(done: ResetResult) -> str:
    """What a reset took away."""
    if not any((done.sessions, done.claims, done.tasks, done.links, done.more)):
        return f"There was nothing to reset: no {'caches' if done.what == 'all' else done.what} here."
    publish = "Remove the tasks from the branch with: holdfast publish" if done.tasks or done.links else []
    return lines(f"Removed {_listed(done)}.", publish, "Undo it with: holdfast reset --undo")


def undone(back: UndoneReset) -> str:
    """What came back, and what did not."""
    left = [f"  {name}" for name in back.left]
    first = f"Restored {_listed(back)}." if _listed(back) else "Nothing was restored."
    return lines(first, ["", "Not restored, because the place is taken:", *left] if left else [])


def _listed(done: ResetResult | UndoneReset) -> str:
    said = [count(number, one) for name, one in _PARTS if (number := getattr(done, name))]
    said += [count(done.more, "other file")] if done.more else []
    return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))


def pruned(found: PruneResult) -> str:
    """What went, or would go."""
    names = ", ".join(found.kept[:5]) + (" …" if len(found.kept) > 5 else "")
    kept = ["", f"Kept, because they have open items: {names}"] if found.kept else []
    if not found.spares:
        return lines(f"Nothing to delete is older than {found.before[:10]}.", kept)
    verb, more = "Deleted" if found.done else "Would delete", len(found.spares) - MOST
    rows = [(one.id[:SHOWN], _KINDS[one.kind], f"since {one.since[:10]}") for one in found.spares[:MOST]]
    said = [f"{verb} {_counted(found)} ({size(found.size)}):", *table(rows)]
    return lines(said, [f"  and {more:,} more"] if more > 0 else [], kept)


def _counted(found: PruneResult) -> str:
    numbers = {word: sum(spare.kind == kind for spare in found.spares) for kind, word in _KINDS.items()}
    return ", ".join(count(number, word) for word, number in numbers.items() if number)


def pruned_object(found: PruneResult) -> dict[str, Any]:
    """What `--json` promises of a prune."""
    return {**as_plain(found), "size": found.size}


@command(root, "reset")
@click.argument("what", type=click.Choice(("sessions", "tasks", "all")), required=False)
@click.option("--undo", is_flag=True, help="Restore what the last reset deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def reset(place: Invocation, what: str | None, undo: bool, yes: bool) -> None:
    """Delete sessions, tasks or all of them; can be undone.

    Memories, the log and runs stay. `holdfast reset --undo` restores everything.
    """
    if undo == (what is not None):
        raise click.UsageError("Name sessions, tasks or all; or undo the last reset with --undo.")
    with place.project() as project:
        if what is None:
            show(project.sync.undo_reset(), undone)
            return
        confirm(wording("cleanup")[what], yes=yes)
        show(project.sync.reset(what), reset_text)


@command(root, "prune")
@click.option("--older-than", default="90d", show_default=True, metavar="AGE", help="90d, 12w or 1y.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def prune(place: Invocation, older_than: str, dry_run: bool, yes: bool) -> None:
    """Delete old sessions, claims and trash.

    Open sessions, and ended ones with open items, are never deleted.
    """
    with place.project() as project:
        found = project.sync.prune(older_than=older_than, dry_run=True)
        if dry_run or not found.spares:
            show(found, pruned, pruned_object)
            return
        if not (yes or wants_json()):
            say(pruned(found))
        confirm(f"This deletes {_counted(found)} for good ({size(found.size)}). Go on?", yes=yes)
        show(project.sync.prune(older_than=older_than, dry_run=False), pruned, pruned_object)


@group(root, "keys", "list")
def keys() -> None:
    """List, rotate or destroy encryption keys."""


@frozen
class KeyList:
    """What is sealed from now on, where keys come from, and the keys there are."""

    scope: Sequence[str]
    source: str | None
    keys: Sequence[KeyDescription]


def key_list_text(found: KeyList) -> str:
    """One row a key."""
    sealed = ", ".join(found.scope) or "nothing: set encryption.scope (docs/explanation/security.md)"
    rows = [(strong(one.id), one.use, _day(one.created)) for one in found.keys]
    return lines(f"Encrypted: {sealed}", f"Keys from: {found.source or 'not set (encryption.key)'}", "", table(rows))


def key_list_object(found: KeyList) -> dict[str, object]:
    return {"items": as_plain(found.keys), "scope": as_plain(found.scope), "source": found.source}


def _day(micros: int) -> str:
    return f"since {datetime.fromtimestamp(micros / 1_000_000, UTC):%Y-%m-%d}" if micros else ""


@answer(keys, "list", key_list_text, key_list_object)
def list_keys(project: Project) -> object:
    """List the keys, and what is encrypted; the first key is created when it is needed."""
    settings = project.settings
    source = (settings.encryption_key or "").partition(":")
    known = project.keys.described() if settings.encryption_key else []
    # Only what begins as a source does is shown: somebody may have put the key itself there.
    shown = settings.encryption_key if source[0] in ("env", "age", "keyring") else None
    return KeyList(settings.encryption_scope, shown, known)


def rotated_text(done: Mapping[str, str]) -> str:
    """Which key seals now."""
    return f"Key {strong(done['id'])} is used from now on; older text stays encrypted with the older keys."


@answer(keys, "rotate", rotated_text)
def rotate(project: Project) -> object:
    """Use a new key from now on; old text stays as it is."""
    return {"id": project.keys.rotate()}


@command(keys, "destroy")
@click.argument("key")
@click.option("--yes", is_flag=True, help="Do not ask.")
def destroy(place: Invocation, key: str, *, yes: bool) -> None:
    """Destroy a key: nobody can read again what it encrypted."""
    with place.project() as project:
        confirm(f"What {key} encrypted can never be read again. Go on?", yes=yes)
        show({"id": key, "is_gone": project.keys.destroy(key)}, destroyed_text)


def destroyed_text(done: Mapping[str, object]) -> str:
    """What is left to do."""
    kept = "Its secret is still in the variable: remove it there. Copies of the variable and the store decrypt it."
    gone = "Copies from before, such as bundles and backups, may hold it: it ends there when no identity opens it."
    return lines(
        f"Key {strong(str(done['id']))} is destroyed: nothing here can decrypt what it encrypted.",
        gone if done["is_gone"] else kept,
    )
