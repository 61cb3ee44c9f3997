"""The end of taking a run in: sealed, told in the log, noted in its session, remembered as taken.

All of it follows from the capsule alone, and each step finds what the one before it left. So whoever is
killed here is only a reason for the next command to do it again, and nothing is told twice.
"""

import os
from collections.abc import Mapping
from typing import Any

from holdfast.capture.ingest import noting
from holdfast.capture.ingest.filling import BODY, turns_of
from holdfast.capture.placing import Lines
from holdfast.capture.recording import draft
from holdfast.errors import CorruptLog
from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.store import capsule as capsules
from holdfast.store import receipts, transcripts
from holdfast.store.capsule import Capsule
from holdfast.store.layout import Layout
from holdfast.store.transcripts import Progress, Sealed, Seen, mark
from holdfast.values import replace


def is_ours(taken: Capsule) -> bool:
    """Whether an open capsule was filled from a transcript, and is complete or can be begun again.

    One that was cut short and whose transcript is gone is completed like any other, with what is there.
    """
    context = context_of(taken.folder)
    return context is not None and (_is_complete(taken.folder) or os.path.exists(context["transcript"]["path"]))


def again(clone: Clone, taken: Capsule) -> Event | None:
    """Conclude a run that somebody was killed over; None if it has to be begun again, or was told before."""
    if not _is_complete(taken.folder):
        taken.drop()
        return None
    there = next((e for e in clone.own_events() if e.kind == "run" and e.run_id == taken.run_id), None)
    lines = Lines(clone)
    try:
        event = conclude(clone, taken, lines, event=there)
    finally:
        lines.close()
    return event if there is None else None


def conclude(clone: Clone, taken: Capsule, lines: Lines, *, event: Event | None = None) -> Event:
    """Seal a capsule that is complete and tell of it; `event` is what was told of it already."""
    context, told = context_of(taken.folder), capsules.read_json(taken.folder, BODY)
    if context is None or not isinstance(told, dict):
        raise CorruptLog(f"the capsule of run {taken.run_id} does not say what its event is")
    if event is None:
        context = _with_packs(clone, taken, context)
    root = taken.seal()
    if event is None:
        body = {name: value for name, value in told["body"].items() if value is not None}
        event = lines.record(context, draft(context, None, {**body, "output_sha256": root}))
    kept = noting.keep(clone, context, told, turns_of(taken.folder)) if context["session"] else None
    remember(clone, taken.folder, context, told["read"], session_id=kept)
    taken.close(clone.joined(event))
    return event


def _with_packs(clone: Clone, taken: Capsule, context: dict[str, Any]) -> dict[str, Any]:
    """A run's context with the packs that its agent's session was given so far, kept with the run as well."""
    if context["session"] is None:
        return context
    name, session = context["agent"]["name"], context["agent"]["session"]
    owners = dict.fromkeys([context["session"]["id"], noting.session_id(name, session)])
    packs = [kept for owner in owners for kept in receipts.read(clone.stores, owner)]
    own = [kept for kept in packs if kept.head.get("agent_session") in (None, session)]
    receipts.share(clone.layout, own, taken.run_id)
    told = receipts.take_up(clone.stores, taken.run_id, context)
    if told is None:
        return context
    taken.replace(capsules.CONTEXT, capsules.to_json(told))
    return told


def context_of(folder: str) -> dict[str, Any] | None:
    """The context of a run that was taken in; None if it is another kind of run."""
    found = capsules.read_json(folder, capsules.CONTEXT)
    if not isinstance(found, dict) or not isinstance(found.get("transcript"), dict):
        return None
    return found if isinstance(found.get("agent"), dict) else None


def _is_complete(folder: str) -> bool:
    return os.path.lexists(os.path.join(folder, capsules.SUMMARY))


def stores_of(clone: Clone) -> tuple[Layout, ...]:
    """This clone's stores, the one that can be written first."""
    return (clone.layout, *(store for store in clone.stores if store.private != clone.layout.private))


def remember_again(clone: Clone, folder: str, context: Mapping[str, Any]) -> None:
    """Learn from a sealed run what was taken in, if nobody knows it any more."""
    told = capsules.read_json(folder, BODY)
    if isinstance(told, dict):
        session = context["session"]["id"] if context["session"] else None
        remember(clone, folder, context, told["read"], session_id=session)


def remember(
    clone: Clone, folder: str, context: Mapping[str, Any], read: Mapping[str, Any], *, session_id: str | None
) -> Progress:
    """Note what a sealed run holds of its session, so that none of it is taken again."""
    agent = context["agent"]
    turns, steps, contents, prints = set[str](), set[str](), set[str](), set[str]()
    for row in turns_of(folder):
        turns.add(row["key"])
        steps.update(row["steps"])
        contents.update(row["contents"])
        prints |= {mark(row["print"])} if row["print"] else set()
    done = Sealed(context["run_id"], len(turns))

    def change(old: Progress) -> Progress:
        runs = old.runs if any(one.run == done.run for one in old.runs) else (*old.runs, done)
        return replace(
            old,
            role=agent["role"],
            parent=agent["parent"],
            origin=read["origin"],
            seen=Seen(**read["seen"]),
            offset=read["offset"],
            count=max(old.count, read["count"]),
            last=read["last"],
            turns=old.turns | turns,
            steps=old.steps | steps,
            contents=old.contents | contents,
            prints=old.prints | prints,
            runs=runs,
            session_id=session_id or old.session_id,
            ended=True,
        )

    return transcripts.change(stores_of(clone), agent["name"], agent["session"], change)
