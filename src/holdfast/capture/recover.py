"""Runs whose wrapper was killed: the next command finishes them, with what is there.

Whoever holds a capsule's own lock completes it, so two commands never both do. Each step finds what
the one before it left, so being killed here, too, is only a reason to begin again.
"""

import contextlib
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from holdfast.capture import account, produced
from holdfast.capture.ingest import concluding
from holdfast.capture.placing import Lines
from holdfast.capture.recording import GIVEN, draft, seal
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.model.event import Draft, Event
from holdfast.store import capsule
from holdfast.store.capsule import Capsule
from holdfast.store.layout import Layout
from holdfast.values import frozen, replace


@frozen
class Completed:
    """A run that was finished after its wrapper died."""

    run_id: str
    exit_status: int | None  # None: nobody knows how it ended
    event: Event


def complete(clone: Clone) -> list[Completed]:
    """Finish every run whose wrapper is gone; one that cannot be finished now waits for the next command."""
    done = []
    for store in clone.stores:
        for run_id in capsule.opened(store):
            try:
                completed = _complete(clone, store, run_id)
            except (HoldfastError, OSError) as error:
                clone.notes.append(f"run {run_id} cannot be completed now: {error}")
                continue
            if completed is not None:
                done.append(completed)
    return done


def _complete(clone: Clone, store: Layout, run_id: str) -> Completed | None:
    # A sandbox's capsule may have been moved into the private store; its mark stays where it was made.
    folder = next((s.run(run_id) for s in clone.stores if os.path.isdir(s.run(run_id))), None)
    if folder is None or not os.path.lexists(os.path.join(folder, capsule.OPEN)):
        capsule.forget(store, run_id)
        return None
    taken = Capsule.take_over(store, run_id, folder=folder)
    if taken is None:
        return None
    try:
        if concluding.is_ours(taken):
            return _conclude(clone, taken)
        event, is_new = _event(clone, taken)
        taken.close(clone.joined(event))
        return Completed(run_id, event.exit_status, event) if is_new else None
    finally:
        taken.let_go()


def _conclude(clone: Clone, taken: Capsule) -> Completed | None:
    """Finish what an import had written in full; what it had not is begun again from the transcript."""
    event = concluding.again(clone, taken)
    return Completed(taken.run_id, event.exit_status, event) if event else None


def _event(clone: Clone, taken: Capsule) -> tuple[Event, bool]:
    """The run's event: found if the wrapper came that far, else written now."""
    for event in clone.own_events():
        if event.kind == "run" and event.run_id == taken.run_id:
            return event, False
    context = _context(taken)
    ending = taken.noted()
    exit_status, ended = ending.get("exit_status"), ending.get("ended")
    files = _files(taken)
    told = _sizes(os.path.join(taken.folder, "outputs"))
    outputs = account.outputs(context, told, exit_status=exit_status, ended=ended, files=files)
    if os.path.lexists(os.path.join(taken.folder, capsule.SUMMARY)):
        root = taken.seal()  # the wrapper died after the last file; only the seal was missing
    else:
        root = seal(taken, context, outputs, files, scan=clone.intake)
    body = account.body(context, outputs=outputs, inputs=_inputs(taken, context), root=root)
    if files is not None:
        body["artifacts"] = account.artifacts(files)
    return _record(clone, context, draft(context, exit_status, body)), True


def _record(clone: Clone, context: Mapping[str, Any], event: Draft) -> Event:
    """Write the event where the run began, not where the command that completes it happens to stand."""
    line = context.get("line")
    if not line or line == clone.line().id:
        return clone.record(replace(event, head=(context.get("anchor") or {}).get("head")))
    there = Lines(clone)
    try:
        return there.record(context, event)
    finally:
        there.close()


def _context(taken: Capsule) -> dict[str, Any]:
    found = capsule.read_json(taken.folder, capsule.CONTEXT)
    return {**(found if isinstance(found, dict) else {}), "run_id": taken.run_id}


def _files(taken: Capsule) -> list[Mapping[str, Any]] | None:
    """What the wrapper had listed; what it had not is unknown: others may have changed files since."""
    found = capsule.read_json(taken.folder, produced.FILES)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else None


def _inputs(taken: Capsule, context: Mapping[str, Any]) -> dict[str, Any] | None:
    folder = os.path.join(taken.folder, "inputs")
    if context.get("command") is None:
        return _sizes(folder)
    stdin = None
    with contextlib.suppress(OSError), open(os.path.join(folder, "stdin"), "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        stdin = {"sha256": digest, "size": os.fstat(file.fileno()).st_size}
    found = capsule.read_json(taken.folder, GIVEN)
    return account.inputs(stdin, [row for row in found if isinstance(row, dict)] if isinstance(found, list) else [])


def _sizes(folder: str) -> dict[str, Any]:
    """The bytes kept of each stream."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return {}
    files = (e for e in entries if e.is_file(follow_symlinks=False) and e.name != "files.json")
    return {f"{entry.name}_bytes": entry.stat(follow_symlinks=False).st_size for entry in files}
