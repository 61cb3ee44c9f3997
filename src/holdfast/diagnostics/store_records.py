"""The clone's own records: bodies and capsules of its events, and the small files of its private store.

A body or a capsule is here and unaltered, or rightly gone; other clones keep theirs, and an erased one stays gone.
Everyday commands leave a damaged record out and go on; here it is named, and `repair` can set it aside.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from holdfast.diagnostics.findings import HealthFinding, relative
from holdfast.diagnostics.log_integrity import Ledger, VerifiedEvent
from holdfast.errors import BrokenEntry, CorruptLog, PublishRefused, TooLarge, UnsafePath
from holdfast.git import approvals, branch_lines, erase, publish_journal
from holdfast.git.clone import Clone
from holdfast.model.memory import Candidate, Rejected
from holdfast.store import capsule, fsio, memory_files, pending_changes, receipt_files
from holdfast.store.format import SALT_BYTES, body_name, parse_event
from holdfast.store.layout import Layout
from holdfast.store.private_store import read_repo_id

_BACKUP = "Bring it back from a backup or an export; nothing else holds these bytes."


def examine_bodies(clone: Clone, ledger: Ledger) -> list[HealthFinding]:
    """Each own event's body, and each own run's capsule: here, unaltered, or rightly gone."""
    ours = _erased(ledger.own.values())
    named = {*_erased(ledger.events.values()), *clone.erased()}
    found: list[HealthFinding] = []
    for event in ledger.own.values():
        names = event.names if (ours or named) and event.kind != b"erase" else set()  # most logs know of no erasure
        erased = any(event.ts <= ours.get(name, b"") for name in names)
        if event.body is not None:
            found += body(clone, event, hidden=not names.isdisjoint(named), erased=erased)
        run = event.run_id.decode("ascii") if event.kind == b"run" and event.run_id else ""
        if erased and run and os.path.isdir(folder := _folder(clone, run)):
            said, step = "this run was erased and is here again", f"Erase it again: `holdfast erase {run}`."
            found.append(HealthFinding("problem", "capsule", _shown(clone, folder), said, step))
    return found


def _erased(events: Iterable[VerifiedEvent]) -> dict[str, bytes]:
    """What was erased, and when last: an event after that is about something new of the same name."""
    found: dict[str, bytes] = {}
    for event in events:
        if event.kind == b"erase" and event.target:
            target = event.target.decode("ascii")
            found[target] = max(event.ts, found.get(target, b""))
    return found


def _folder(clone: Clone, run: str) -> str:
    return next((s.run(run) for s in clone.stores if os.path.isdir(s.run(run))), clone.layout.run(run))


def body(clone: Clone, event: VerifiedEvent, *, hidden: bool = False, erased: bool = False) -> Iterator[HealthFinding]:
    """What is wrong with one event's body, and with the capsule that it vouches for."""
    name = (event.body or b"").decode("ascii")
    said, step, stored = "", _BACKUP, None
    try:
        stored = clone.bodies.raw(name)
        if stored is None and not hidden:
            said = f"it is missing; {event.file}:{event.number} names it"
        elif stored is not None and body_name(stored) != name:
            said = f"one or more of its {len(stored)} bytes were changed; {event.file}:{event.number} names it"
        elif stored is not None and erased:
            said, step = "it was erased and is here again", "Erase it again with `holdfast erase`."
    except (UnsafePath, TooLarge, OSError) as error:
        said = str(error)
    if said:
        yield HealthFinding("problem", "body", _shown(clone, clone.layout.body(name)), said, step)
    elif stored is not None and event.kind == b"run" and not hidden:
        yield from _capsule_of(clone, event, stored)


def _capsule_of(clone: Clone, event: VerifiedEvent, stored: bytes) -> Iterator[HealthFinding]:
    said = stored[SALT_BYTES:]
    if b'"output_sha256"' not in said and said[:1] == b"{" and said[-1:] == b"}":
        return  # its hash shows that it is as it was written, and no run's folder is vouched for
    try:
        root = json.loads(said).get("output_sha256")
    except (ValueError, AttributeError):
        shown = _shown(clone, clone.layout.body((event.body or b"").decode("ascii")))
        yield HealthFinding("problem", "body", shown, "it does not hold JSON", _BACKUP)
        return
    if root is None or event.run_id is None:
        return
    run = event.run_id.decode("ascii")
    folder = _folder(clone, run)
    for fault in capsule.faults(folder, root, clone.joined(parse_event(event.data))):
        path = os.path.join(folder, *fault.path.split("/"))
        repair = "rebuild-meta" if fault.path == capsule.META else None
        step = "Run `holdfast doctor --repair`." if repair else _BACKUP
        shown = _shown(clone, path).rstrip("/")
        yield HealthFinding("problem", "capsule", shown, fault.sentence, step, repair=repair, path=path)
    # The packs that the run was given lie beside its capsule, which names their roots.
    context = capsule.read_json(folder, capsule.CONTEXT)
    for sentence in receipt_files.faults(clone.stores, run, context) if isinstance(context, dict) else ():
        place = os.path.join(clone.layout.receipts, run)
        yield HealthFinding("problem", "capsule", _shown(clone, place), sentence, _BACKUP)


_STEP = "Run `holdfast doctor --repair`, which sets it aside."


def examine_records(clone: Clone) -> Iterator[HealthFinding]:
    """Every record of this clone's stores that does not count, and why."""
    for store in clone.stores:
        spools = [os.path.join(store.spool, name) for name in store.listed(store.spool)]
        for path in (*store.folders, store.under_way, *spools):
            if os.path.lexists(path) and not os.path.isdir(path):
                yield _problem(clone, path, "this is in the way: a folder belongs there", repair="damaged")
        for path, error in pending_changes.damaged(store):
            yield _problem(clone, path, error, repair="damaged")
        for path, error in branch_lines.damaged(store):
            yield _problem(clone, path, error, repair="line")
        yield from _candidates(clone, store)
        for path, read in ((store.publishing, publish_journal.read), (store.erasing, erase.journal_of)):
            if os.path.lexists(path):
                yield from _unreadable(clone, path, partial(read, store), repair="damaged")
        for name in erase.markers(store):
            path = os.path.join(store.erased, name)
            yield from _unreadable(clone, path, partial(erase.bodies_of, store, name), repair="erased")
        yield from _unreadable(clone, store.repo_id, partial(read_repo_id, store), repair="repo-id")


def _unreadable(clone: Clone, path: str, read: Callable[[], object], *, repair: str) -> Iterator[HealthFinding]:
    try:
        read()
    except FileNotFoundError:  # there is none, or it was finished just now
        return
    except (PublishRefused, CorruptLog) as error:
        yield _problem(clone, path, error, repair=repair)


def _candidates(clone: Clone, store: Layout) -> Iterator[HealthFinding]:
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
    changed = approvals.candidates_changed(clone, sound.values())
    for path, candidate in sound.items():
        if candidate.id in changed:
            said = f"the words of {candidate.id} were changed after it was proposed"
            step = "Read it before you accept it; `holdfast show` has what was proposed."
            yield HealthFinding("note", "store", _shown(clone, path), said, step)


def _candidate(path: str) -> Candidate | Rejected:
    try:
        memory = memory_files.parse(fsio.read(path, limit=memory_files.MAX_ENTRY).decode(), path)
    except FileNotFoundError:
        raise
    except (UnicodeDecodeError, TooLarge, UnsafePath, OSError) as error:
        raise BrokenEntry(f"{path}: it cannot be read: {error}") from None
    if not isinstance(memory, Candidate | Rejected) or os.path.basename(path) != f"{memory.id}.md":
        raise BrokenEntry(f"{path}: it is not the candidate its name says")
    return memory


def _shown(clone: Clone, path: str) -> str:
    return relative(path, clone.repo.top)


def _problem(clone: Clone, path: str, why: object, *, repair: str) -> HealthFinding:
    said = str(why).removeprefix(path).lstrip(":, ")
    return HealthFinding("problem", "store", _shown(clone, path), said, _STEP, repair=repair, path=path)
