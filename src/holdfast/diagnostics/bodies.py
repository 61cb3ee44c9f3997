"""Bodies and capsules of this clone's own events: here and unaltered, or rightly gone.

Other clones keep theirs; an erased one must be gone and stay gone.
"""

import json
import os
from collections.abc import Iterable, Iterator

from holdfast.diagnostics.findings import Finding
from holdfast.diagnostics.integrity import Ledger, Seen
from holdfast.errors import TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.store import capsule, receipts
from holdfast.store.format import SALT_BYTES, body_name, parse_event

_BACKUP = "Bring it back from a backup or an export; nothing else holds these bytes."


def examine(clone: Clone, ledger: Ledger) -> list[Finding]:
    """Each own event's body, and each own run's capsule: here, unaltered, or rightly gone."""
    ours = _erased(ledger.own.values())
    named = {*_erased(ledger.events.values()), *clone.erased()}
    found: list[Finding] = []
    for event in ledger.own.values():
        names = event.names if event.kind != b"erase" else set()
        erased = any(event.ts <= ours.get(name, b"") for name in names)
        if event.body is not None:
            found += body(clone, event, hidden=not names.isdisjoint(named), erased=erased)
        if erased:
            found += _left_of(clone, event)
    return found


def _erased(events: Iterable[Seen]) -> dict[str, bytes]:
    """What was erased, and when last: an event after that is about something new of the same name."""
    found: dict[str, bytes] = {}
    for event in events:
        if event.kind == b"erase" and event.target:
            target = event.target.decode("ascii")
            found[target] = max(event.ts, found.get(target, b""))
    return found


def _left_of(clone: Clone, event: Seen) -> Iterator[Finding]:
    """The capsule of an erased run, if it is still or again here."""
    run = event.run_id.decode("ascii") if event.kind == b"run" and event.run_id else ""
    folder = _folder(clone, run)
    if run and os.path.isdir(folder):
        step = f"Erase it again: `holdfast erase {run}`."
        yield _problem("capsule", _shown(clone, folder), "this run was erased and is here again", step)


def _folder(clone: Clone, run: str) -> str:
    return next((s.run(run) for s in clone.stores if os.path.isdir(s.run(run))), clone.layout.run(run))


def body(clone: Clone, event: Seen, *, hidden: bool = False, erased: bool = False) -> Iterator[Finding]:
    """What is wrong with one event's body, and with the capsule that it vouches for."""
    name = (event.body or b"").decode("ascii")
    shown = _shown(clone, clone.layout.body(name))
    try:
        stored = clone.bodies.raw(name)
    except (UnsafePath, TooLarge, OSError) as error:
        yield _problem("body", shown, str(error), _BACKUP)
        return
    if stored is None and not hidden:
        yield _problem("body", shown, f"it is missing; {event.file}:{event.number} names it", _BACKUP)
    elif stored is not None and body_name(stored) != name:
        said = f"one or more of its {len(stored)} bytes were changed; {event.file}:{event.number} names it"
        yield _problem("body", shown, said, _BACKUP)
    elif stored is not None and erased:
        step = "Erase it again with `holdfast erase`."
        yield _problem("body", shown, "it was erased and is here again", step)
    elif stored is not None and event.kind == b"run" and not hidden:
        yield from _capsule_of(clone, event, stored)


def _capsule_of(clone: Clone, event: Seen, stored: bytes) -> Iterator[Finding]:
    try:
        root = json.loads(stored[SALT_BYTES:]).get("output_sha256")
    except (ValueError, AttributeError):
        shown = _shown(clone, clone.layout.body((event.body or b"").decode("ascii")))
        yield _problem("body", shown, "it does not hold JSON", _BACKUP)
        return
    if root is None or event.run_id is None:
        return
    folder = _folder(clone, event.run_id.decode("ascii"))
    for fault in capsule.faults(folder, root, clone.joined(parse_event(event.data))):
        path = os.path.join(folder, *fault.path.split("/"))
        repair = "rebuild-meta" if fault.path == capsule.META else None
        yield Finding(
            severity="problem",
            topic="capsule",
            file=_shown(clone, path).rstrip("/"),
            sentence=fault.sentence,
            next_step="Run `holdfast doctor --repair`." if repair else _BACKUP,
            repair=repair,
            path=path,
        )
    yield from _packs_of(clone, event.run_id.decode("ascii"), folder)


def _packs_of(clone: Clone, run_id: str, folder: str) -> Iterator[Finding]:
    """The packs that the run was given lie beside its capsule, which names their roots."""
    context = capsule.read_json(folder, capsule.CONTEXT)
    for sentence in receipts.faults(clone.stores, run_id, context) if isinstance(context, dict) else ():
        place = os.path.join(clone.layout.receipts, run_id)
        yield _problem("capsule", _shown(clone, place), sentence, _BACKUP)


def _shown(clone: Clone, path: str) -> str:
    return os.path.relpath(path, clone.repo.top).replace(os.sep, "/")


def _problem(topic: str, file: str, sentence: str, step: str) -> Finding:
    return Finding(severity="problem", topic=topic, file=file, sentence=sentence, next_step=step)
