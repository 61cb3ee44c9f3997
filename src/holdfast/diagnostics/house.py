"""The private store as a house: who may look in, what was left lying about, what was never finished.

Nothing here is about the truth of the log; that is `integrity`'s and `doctor`'s.
"""

import os
import stat
from collections.abc import Collection, Iterator

from holdfast.diagnostics.findings import Finding
from holdfast.store import capsule
from holdfast.store.layout import Layout

HOUR = 3600.0
TEMPORARY = ".tmp"


def permissions(store: Layout, top: str) -> Iterator[Finding]:
    """Files that others can read, that lead elsewhere, or that are not ours."""
    if os.name != "posix":  # Windows keeps access lists, which a mode does not show.
        return
    for path in _everything(store.private):
        try:
            facts = os.lstat(path)
        except FileNotFoundError:  # another command moved it on
            continue
        shown = os.path.relpath(path, top)
        if stat.S_ISLNK(facts.st_mode):
            yield _finding(shown, "this is a link; the store holds only real files", "Remove the link.")
        elif facts.st_uid != os.geteuid():
            yield _finding(shown, "another user owns this", "Give it back with `chown`.")
        elif facts.st_mode & 0o077 and (stat.S_ISDIR(facts.st_mode) or _is_open(os.path.dirname(path))):
            said = f"others can use this: its mode is {stat.S_IMODE(facts.st_mode):04o}"
            yield _finding(shown, said, "Run `holdfast doctor --repair`.", repair="permissions", path=path)


def _is_open(folder: str) -> bool:
    """Whether others get as far as this folder; in a closed one a file's own mode does not matter."""
    try:
        return bool(os.lstat(folder).st_mode & 0o077)
    except FileNotFoundError:
        return False


def _everything(root: str) -> Iterator[str]:
    if os.path.lexists(root):
        yield root
    for folder, folders, files in os.walk(root):
        yield from (os.path.join(folder, name) for name in (*sorted(folders), *sorted(files)))


def _finding(file: str, sentence: str, step: str, *, repair: str | None = None, path: str = "") -> Finding:
    return Finding(
        severity="problem", topic="store", file=file, sentence=sentence, next_step=step, repair=repair, path=path
    )


def leftovers(store: Layout, top: str, *, bodies: Collection[str], now: float) -> Iterator[Finding]:
    """What an interrupted command left: temporary files, bodies that no event names, a half-done publish."""
    for path in _everything(store.private):
        if path.endswith(TEMPORARY) and _older(path, now):
            said = "a command was interrupted while it wrote this"
            yield _note(path, top, said, "Run `holdfast doctor --repair`.", repair="remove-temporary")
    for name in _listed(store.bodies):
        path = store.body(name)
        if name not in bodies and not name.endswith(TEMPORARY) and _older(path, now):
            said = "no event of this clone names this body; its event was never acknowledged"
            step = "It does no harm; `holdfast doctor --repair` sets it aside."
            yield _note(path, top, said, step, repair="orphan")
    for path, what in ((store.publishing, "a publish"), (store.erasing, "an erase")):
        if os.path.lexists(path):
            step = "The next command that writes finishes or undoes it; `holdfast status` is one."
            yield _note(path, top, f"{what} was interrupted", step)


def unfinished(store: Layout, top: str, *, runs: Collection[str]) -> Iterator[Finding]:
    """Capsules whose run never got its event."""
    for name in _listed(store.runs):
        if name not in runs and os.path.isdir(store.run(name)) and not capsule.is_alive(store.run(name)):
            said = "this run has no event: its wrapper was killed"
            yield _note(store.run(name), top, said, "The next `holdfast run` completes it.")


def _older(path: str, now: float) -> bool:
    """An hour is longer than any command takes between a file and the event that names it."""
    try:
        return now - os.lstat(path).st_mtime > HOUR
    except FileNotFoundError:
        return False


def _listed(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _note(path: str, top: str, sentence: str, step: str, *, repair: str | None = None) -> Finding:
    return Finding(
        severity="note",
        topic="store",
        file=os.path.relpath(path, top),
        sentence=sentence,
        next_step=step,
        repair=repair,
        path=path,
    )
