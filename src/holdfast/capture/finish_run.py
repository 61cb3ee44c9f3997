"""The end of a run that was imported or cut short: sealed, in the log, noted in its session.

All of it follows from the capsule alone, and each step finds what the one before it left. A command that is killed
here is completed by the next one, and nothing is recorded twice. Runs whose wrapper was killed are finished the same
way, with what is there; whoever holds a capsule's own lock completes it, so two commands never both do. Events are
written on the branch where the run happened, not on the one that is checked out now (`BranchEventWriter`).
"""

import contextlib
import hashlib
import os
from collections.abc import Iterable, Mapping
from typing import Any

from holdfast.capture import run_recording, run_report
from holdfast.capture.ingest import agent_session
from holdfast.capture.ingest.run_files import BODY, turns_of
from holdfast.errors import CorruptLog, HoldfastError
from holdfast.git.clone import Clone
from holdfast.model.event import Event, EventDraft
from holdfast.store import capsule, import_progress, receipt_files
from holdfast.store.layout import Layout
from holdfast.store.log import SpoolWriter, spool_ends
from holdfast.store.seal import spools as seal_spools
from holdfast.values import frozen, replace


class BranchEventWriter:
    """The lines that are written to meanwhile, one writer each: a hundred runs are one spool then."""

    def __init__(self, clone: Clone) -> None:
        self._clone = clone
        self._writers: dict[str, SpoolWriter] = {}

    def record(self, context: Mapping[str, Any], event: EventDraft, *, sealed: bool = False) -> Event:
        """Write the event of a run on the line, and with the commit and branch, that its context names.

        What it does not name stays unnamed: this moment's commit would be a wrong one.
        """
        anchor = context.get("anchor") or {}
        told = {**(event.body or {}), "branch": anchor.get("branch")}
        body = self._clone.store_body(event.kind, told, self._clone.intake, sealed=sealed)
        writer = self._writer(context.get("line") or self._clone.line().id)
        return writer.append(replace(event, head=anchor.get("head"), body=None), body)

    def _writer(self, line: str) -> SpoolWriter:
        if line not in self._writers:
            layout, clock = self._clone.layout, self._clone.clock
            self._writers[line] = SpoolWriter(layout, line, heads=lambda: self._heads(line), clock=clock)
        return self._writers[line]

    def _heads(self, line: str) -> list[str]:
        if line == self._clone.line().id:
            return self._clone.heads()
        ends = [spool_ends(path) for path in seal_spools(self._clone.layout, line)]
        named = {parent for parents, _ in ends for parent in parents}
        return sorted({last for _, last in ends if last and last not in named})

    def close(self) -> None:
        """Let go of the spools."""
        for writer in self._writers.values():
            writer.close()
        self._writers.clear()


def is_taken_in(taken: capsule.Capsule) -> bool:
    """Whether an open capsule was filled from a transcript, and is complete or can be begun again.

    One that was cut short and whose transcript is gone is completed like any other, with what is there.
    """
    context = context_of(taken.folder)
    return context is not None and (_is_complete(taken.folder) or os.path.exists(context["transcript"]["path"]))


def conclude_again(clone: Clone, taken: capsule.Capsule) -> Event | None:
    """Conclude a run whose import was killed; None if it must be imported again, or was recorded before."""
    if not _is_complete(taken.folder):
        taken.drop()
        return None
    there = next(iter(clone.find_events("own", kinds=("run",), runs=(taken.run_id,))), None)
    with contextlib.closing(BranchEventWriter(clone)) as lines:
        event = conclude(clone, taken, lines, event=there)
    return event if there is None else None


def conclude(clone: Clone, taken: capsule.Capsule, lines: BranchEventWriter, *, event: Event | None = None) -> Event:
    """Seal a complete capsule and record it; `event` is its event if it was recorded already."""
    context = context_of(taken.folder)  # of a sealed run what stays in clear: what follows is written elsewhere
    with taken.opening():
        told, turns = capsule.read_json(taken.folder, BODY), list(turns_of(taken.folder))
    if context is None or not isinstance(told, dict):
        raise CorruptLog(f"the capsule of run {taken.run_id} does not say what its event is")
    if event is None:
        context = _with_packs(clone, taken, context)
    root = taken.seal()
    if event is None:
        body = {name: value for name, value in told["body"].items() if value is not None}
        draft = run_recording.run_draft(context, None, {**body, "output_sha256": root})
        event = lines.record(context, draft, sealed=taken.vault is not None)
    if taken.vault:
        told, turns = agent_session.without_words(told), [agent_session.row_without_words(row) for row in turns]
    kept = agent_session.keep(clone, context, told, turns) if context["session"] else None
    remember(clone, turns, context, told["read"], session_id=kept)
    taken.close(clone.joined(event))
    return event


def _with_packs(clone: Clone, taken: capsule.Capsule, context: dict[str, Any]) -> dict[str, Any]:
    """A run's context with the packs that its agent's session was given so far, kept with the run as well."""
    if context["session"] is None:
        return context
    name, session = context["agent"]["name"], context["agent"]["session"]
    owners = dict.fromkeys([context["session"]["id"], agent_session.session_id(name, session)])
    packs = [kept for owner in owners for kept in receipt_files.read(clone.stores, owner)]
    own = [kept for kept in packs if kept.head.get("agent_session") in (None, session)]
    receipt_files.share(clone.layout, own, taken.run_id)
    told = receipt_files.take_up(clone.stores, taken.run_id, context)
    if told is None:
        return context
    with taken.opening():
        whole = receipt_files.take_up(clone.stores, taken.run_id, capsule.read_context(taken.folder))
    taken.replace(capsule.CONTEXT, capsule.to_json(whole))
    return told


def context_of(folder: str) -> dict[str, Any] | None:
    """The context of an imported run; None if it is another kind of run."""
    found = capsule.read_context(folder)
    return found if all(isinstance(found.get(name), dict) for name in ("transcript", "agent")) else None


def _is_complete(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, capsule.SUMMARY))


def stores_of(clone: Clone) -> tuple[Layout, ...]:
    """This clone's stores, the one that can be written first."""
    return (clone.layout, *(store for store in clone.stores if store.private != clone.layout.private))


def remember_again(clone: Clone, folder: str, context: Mapping[str, Any]) -> None:
    """Learn from a sealed run what was imported, if the record of it is lost."""
    with clone.unsealed():
        told, turns = capsule.read_json(folder, BODY), list(turns_of(folder))
    if isinstance(told, dict):
        session = context["session"]["id"] if context["session"] else None
        if capsule.is_sealed(folder):
            told = agent_session.without_words(told)
        remember(clone, turns, context, told["read"], session_id=session)


def remember(
    clone: Clone,
    turns: Iterable[Mapping[str, Any]],
    context: Mapping[str, Any],
    read: Mapping[str, Any],
    *,
    session_id: str | None,
) -> import_progress.ImportProgress:
    """Note what a sealed run holds of its session, so that none of it is taken again."""
    agent = context["agent"]
    new: dict[str, set[str]] = {name: set() for name in ("turns", "steps", "contents", "prints")}
    for row in turns:
        new["turns"].add(row["key"])
        new["steps"].update(row["steps"])
        new["contents"].update(row["contents"])
        new["prints"] |= {import_progress.mark(row["print"])} if row["print"] else set()
    done = import_progress.SealedPart(context["run_id"], len(new["turns"]))

    def change(old: import_progress.ImportProgress) -> import_progress.ImportProgress:
        return replace(
            old,
            **{name: agent[name] for name in ("role", "parent")},
            **{name: read[name] for name in ("origin", "offset", "last")},
            **{name: getattr(old, name) | marks for name, marks in new.items()},
            seen=import_progress.TranscriptMark(**read["seen"]),
            count=max(old.count, read["count"]),
            runs=old.runs if any(one.run == done.run for one in old.runs) else (*old.runs, done),
            session_id=old.session_id or session_id,  # the first: on other branches it has others
            ended=not read.get("goes_on"),  # then killed here, the rest is still to be read
        )

    return import_progress.change(stores_of(clone), agent["name"], agent["session"], change)


@frozen
class RecoveredRun:
    """A run that was finished after its wrapper died."""

    run_id: str
    exit_status: int | None  # None: nobody knows how it ended
    event: Event


def complete_killed_runs(clone: Clone) -> list[RecoveredRun]:
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


def _complete(clone: Clone, store: Layout, run_id: str) -> RecoveredRun | None:
    # A sandbox's capsule may have been moved into the private store; its mark stays where it was made.
    folder = next((s.run(run_id) for s in clone.stores if os.path.isdir(s.run(run_id))), None)
    if folder is None or not os.path.lexists(os.path.join(folder, capsule.OPEN)):
        capsule.forget(store, run_id)
        return None
    taken = capsule.Capsule.take_over(store, run_id, folder=folder, vault=clone.recording_vault(folder))
    if taken is None:
        return None
    try:
        if is_taken_in(taken):  # what an import had not written in full is begun again from the transcript
            event = conclude_again(clone, taken)
            return RecoveredRun(run_id, event.exit_status, event) if event else None
        event, is_new = _event(clone, taken)
        taken.close(clone.joined(event))
        return RecoveredRun(run_id, event.exit_status, event) if is_new else None
    finally:
        taken.let_go()


def _event(clone: Clone, taken: capsule.Capsule) -> tuple[Event, bool]:
    """The run's event: found if the wrapper came that far, else written now."""
    for event in clone.find_events("own", kinds=("run",), runs=(taken.run_id,)):
        return event, False
    with taken.opening():
        ending, context = taken.noted(), {**capsule.read_context(taken.folder), "run_id": taken.run_id}
        # What the wrapper had not listed is unknown: others may have changed files since.
        files, inputs = _rows(taken, run_recording.FILES), _inputs(taken, context)
    exit_status, ended = ending.get("exit_status"), ending.get("ended")
    told = _sizes(os.path.join(taken.folder, "outputs"))
    outputs = run_report.outputs(context, told, exit_status=exit_status, ended=ended, files=files)
    if os.path.lexists(os.path.join(taken.folder, capsule.SUMMARY)):
        root = taken.seal()  # the wrapper died after the last file; only the seal was missing
    else:
        root = run_recording.seal_run(taken, context, outputs, files, scan=clone.intake)
    body = run_report.body(context, outputs=outputs, inputs=inputs, root=root)
    if files is not None:
        body["artifacts"] = run_report.artifacts(files)
    draft = run_recording.run_draft(context, exit_status, body)
    return _record(clone, context, draft, sealed=taken.vault is not None), True


def _record(clone: Clone, context: Mapping[str, Any], event: EventDraft, *, sealed: bool) -> Event:
    """Write the event where the run began, not where the command that completes it happens to stand."""
    line = context.get("line")
    if not line or line == clone.line().id:
        return clone.record(replace(event, head=(context.get("anchor") or {}).get("head")), sealed=sealed)
    with contextlib.closing(BranchEventWriter(clone)) as there:
        return there.record(context, event, sealed=sealed)


def _rows(taken: capsule.Capsule, name: str) -> list[Mapping[str, Any]] | None:
    found = capsule.read_json(taken.folder, name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else None


def _inputs(taken: capsule.Capsule, context: Mapping[str, Any]) -> dict[str, Any] | None:
    folder = os.path.join(taken.folder, "inputs")
    if context.get("command") is None:
        return _sizes(folder)
    stdin = None
    with contextlib.suppress(OSError, HoldfastError):
        data = capsule.read_bytes(taken.folder, "inputs/stdin", limit=1 << 30) or b""
        stdin = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}
    return run_report.inputs(stdin, _rows(taken, run_recording.GIVEN) or [])


def _sizes(folder: str) -> dict[str, Any]:
    """The bytes kept of each stream."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return {}
    files = (e for e in entries if e.is_file(follow_symlinks=False) and e.name != "files.json")
    return {f"{entry.name}_bytes": entry.stat(follow_symlinks=False).st_size for entry in files}
