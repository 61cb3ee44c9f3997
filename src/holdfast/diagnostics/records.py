"""The store's own records: each readable, consistent with itself, and where it belongs.

Everyday commands leave a damaged one out and go on; here it is named, and `repair` can set it aside.
"""

import os
from collections.abc import Iterator

from holdfast.diagnostics.findings import Finding
from holdfast.errors import BrokenEntry, CorruptLog, PublishRefused, TooLarge, UnsafePath
from holdfast.git import erase, journal, lines, proposed
from holdfast.git.clone import Clone, read_repo_id
from holdfast.model.memory import Candidate, Rejected
from holdfast.store import entries, fsio, pending
from holdfast.store.layout import Layout

_STEP = "Run `holdfast doctor --repair`, which sets it aside."


def examine(clone: Clone) -> Iterator[Finding]:
    """Every record of this clone's stores that does not count, and why."""
    for store in clone.stores:
        yield from _in_the_way(clone, store)
        for path, error in pending.damaged(store):
            yield _problem(clone, path, error, repair="damaged")
        for path, error in lines.damaged(store):
            yield _problem(clone, path, error, repair="line")
        yield from _journals(clone, store)
        yield from _markers(clone, store)
        yield from _candidates(clone, store)
        try:
            read_repo_id(store)
        except FileNotFoundError:
            continue
        except CorruptLog as error:
            yield _problem(clone, store.repo_id, error, repair="repo-id")


def _in_the_way(clone: Clone, store: Layout) -> Iterator[Finding]:
    """Whatever stands where a folder belongs."""
    spools = [os.path.join(store.spool, name) for name in store.listed(store.spool)]
    for path in (*store.folders, store.under_way, *spools):
        if os.path.lexists(path) and not os.path.isdir(path):
            yield _problem(clone, path, "this is in the way: a folder belongs there", repair="damaged")


def _journals(clone: Clone, store: Layout) -> Iterator[Finding]:
    try:
        if os.path.lexists(store.publishing):
            journal.read(store)
    except FileNotFoundError:  # it was finished just now
        pass
    except PublishRefused as error:
        yield _problem(clone, store.publishing, error, repair="damaged")
    try:
        if os.path.lexists(store.erasing):
            erase.journal_of(store)
    except FileNotFoundError:
        pass
    except CorruptLog as error:
        yield _problem(clone, store.erasing, error, repair="damaged")


def _markers(clone: Clone, store: Layout) -> Iterator[Finding]:
    for name in erase.markers(store):
        try:
            erase.bodies_of(store, name)
        except FileNotFoundError:
            continue
        except CorruptLog as error:
            yield _problem(clone, os.path.join(store.erased, name), error, repair="erased")


def _candidates(clone: Clone, store: Layout) -> Iterator[Finding]:
    sound: dict[str, Candidate] = {}
    for name in store.listed(store.candidates):
        path = os.path.join(store.candidates, name)
        try:
            memory = _candidate(path) if name.endswith(".md") else None
        except FileNotFoundError:  # somebody decided it just now
            continue
        except BrokenEntry as error:
            yield _problem(clone, path, error, repair="damaged")
            continue
        if isinstance(memory, Candidate):
            sound[path] = memory
    changed = proposed.changed_since(clone, sound.values())
    for path, candidate in sound.items():
        if candidate.id in changed:
            said = f"the words of {candidate.id} were changed after it was proposed"
            step = "Read it before you accept it; `holdfast show` has what was proposed."
            yield Finding(severity="note", topic="store", file=_shown(clone, path), sentence=said, next_step=step)


def _candidate(path: str) -> Candidate | Rejected:
    try:
        memory = entries.parse(fsio.read(path, limit=entries.MAX_ENTRY).decode(), path)
    except FileNotFoundError:
        raise
    except (UnicodeDecodeError, TooLarge, UnsafePath, OSError) as error:
        raise BrokenEntry(f"{path}: it cannot be read: {error}") from None
    if not isinstance(memory, Candidate | Rejected) or os.path.basename(path) != f"{memory.id}.md":
        raise BrokenEntry(f"{path}: it is not the candidate its name says")
    return memory


def _shown(clone: Clone, path: str) -> str:
    return os.path.relpath(path, clone.repo.top).replace(os.sep, "/")


def _problem(clone: Clone, path: str, why: object, *, repair: str) -> Finding:
    return Finding(
        severity="problem",
        topic="store",
        file=_shown(clone, path),
        sentence=str(why).removeprefix(path).lstrip(":, "),
        next_step=_STEP,
        repair=repair,
        path=path,
    )
