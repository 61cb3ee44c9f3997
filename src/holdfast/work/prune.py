"""Prune: what nobody needs any more goes, by age; what and how much is said first.

Ended sessions with nothing left open, claims whose time was over long ago, what lies in the trash, and what
is remembered of commits that nothing cites. An open session is never pruned, nor one with open items: only
a person can say that those no longer matter. What was published, memories, the log and runs are not touched.
"""

import os
import re
from datetime import datetime, timedelta

from holdfast.errors import BadInput, CorruptLog, FutureFormat, NotFound
from holdfast.git.clone import Clone
from holdfast.git.rewritten import uncited
from holdfast.model.event import timestamp
from holdfast.model.session import Session
from holdfast.patterns import regex
from holdfast.store import fsio, sessions, trash
from holdfast.store.layout import Layout
from holdfast.values import frozen
from holdfast.work import claims

USUAL = "90d"
TRASH_DAYS = 30
_AGE = regex(r"(\d{1,5})([dwy])", re.ASCII)
_DAYS = {"d": 1, "w": 7, "y": 365}


@frozen
class Spare:
    """One thing that may go."""

    kind: str  # "session", "claim", "trash" or "anchor"
    id: str
    since: str  # when it ended, was taken away or was made
    size: int


@frozen
class Pruned:
    """What went, or would go, and the old sessions that stay because something in them is open."""

    before: str
    spares: tuple[Spare, ...]
    kept: tuple[str, ...]
    done: bool

    @property
    def size(self) -> int:
        return sum(spare.size for spare in self.spares)


def age(text: str) -> timedelta:
    """The span that `90d`, `12w` or `1y` means."""
    match = _AGE.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"{text[:40]!r} is no age", hint="Write 90d, 12w or 1y.")
    return timedelta(days=int(match[1]) * _DAYS[match[2]])


def prune(clone: Clone, *, older_than: str = USUAL, dry_run: bool = False) -> Pruned:
    """Delete what is older than an age and needed by nobody; with `dry_run` only say what that is."""
    clone.repo.refuse_in_hook_of_publish()
    before, bin_before = _limits(clone.clock(), age(older_than))
    if dry_run:
        return _survey(clone, before, bin_before)
    with fsio.locked(clone.layout.lock, wait=60.0):
        found = _survey(clone, before, bin_before)
        _carry_out(clone, found, before)
    return Pruned(before, found.spares, found.kept, done=True)


def _limits(now: datetime, span: timedelta) -> tuple[str, str]:
    """What was before these moments may go, of sessions and of the trash."""
    try:
        return timestamp(now - span), timestamp(now - min(span, timedelta(days=TRASH_DAYS)))
    except OverflowError:
        raise BadInput("that is before the calendar begins", hint="Write 90d, 12w or 1y.") from None


def _survey(clone: Clone, before: str, bin_before: str) -> Pruned:
    layout = clone.layout
    old = [one for one in sessions.all(layout) if one.ended is not None and one.ended.ts < before]
    spares = [_session(layout, one) for one in old if not has_open(one)]
    spares += [Spare("claim", one.task, one.until, 0) for one in claims.every(layout) if one.until < before]
    spares += [
        Spare("trash", one.name, one.ts, trash.size(layout, one)) for one in trash.every(layout) if one.ts < bin_before
    ]
    made = uncited.anchors(clone, before=before)
    spares += [Spare("anchor", oid, ts, 0) for oid, ts in made.items()]
    return Pruned(before, tuple(spares), tuple(one.id for one in old if has_open(one)), done=False)


def has_open(session: Session) -> bool:
    """Whether something in a session still waits for somebody."""
    return bool(session.still_open or session.still_to_follow or session.pending)


def _session(layout: Layout, session: Session) -> Spare:
    size = os.path.getsize(sessions.path_of(layout, session.id))
    return Spare("session", session.id, session.ended.ts if session.ended else "", size)


def _carry_out(clone: Clone, found: Pruned, before: str) -> None:
    layout = clone.layout
    for name in _ids(found, "session"):
        with sessions.locked(layout):
            _remove_if_still_ended(layout, name)
    claims.sweep(layout, before=before)
    bins = {one.name: one for one in trash.every(layout)}
    for name in _ids(found, "trash"):
        trash.discard(layout, bins[name])
    uncited.forget(layout, set(_ids(found, "anchor")))


def _remove_if_still_ended(layout: Layout, name: str) -> None:
    """Somebody may have opened it again since it was looked at."""
    try:
        path = sessions.path_of(layout, name)
        now = sessions.read(path)
    except (NotFound, FileNotFoundError, CorruptLog, FutureFormat):
        return
    if now.state == "ended" and not has_open(now):
        fsio.remove(path)


def _ids(found: Pruned, kind: str) -> list[str]:
    return [spare.id for spare in found.spares if spare.kind == kind]
