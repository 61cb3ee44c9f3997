"""Is this clone's memory sound? Looks at everything, changes nothing, and says where.

The log, its bodies and capsules decide the verdict (ok, partial, corrupt); facts, permissions and
leftovers are reported beside it. It reads raw files rather than through the store's own readers,
which rightly refuse damage: the doctor is who must still be able to look at it.
"""

import os
import shlex
from collections.abc import Iterator, Sequence

from holdfast.diagnostics import bodies, facts, hooks, house, records, state, tracked
from holdfast.diagnostics import checkpoint as checkpoints
from holdfast.diagnostics.checkpoint import Checkpoint
from holdfast.diagnostics.findings import Finding, Report, report
from holdfast.diagnostics.integrity import Ledger
from holdfast.errors import TooLarge, UnsafePath
from holdfast.git import journal
from holdfast.git.clone import Clone
from holdfast.index.corpus.refresh import path_of as corpus_of
from holdfast.index.elsewhere import OWN_TABLES
from holdfast.index.elsewhere import path_of as others_of
from holdfast.index.refresh import path_of
from holdfast.index.sqlite import damage_of, is_busy
from holdfast.store import fsio, pending
from holdfast.store.format import MAX_SEGMENT
from holdfast.store.layout import Layout
from holdfast.store.log import MAX_SPOOL

_BACKUP = "Bring it back from a backup or an export; nothing else holds these bytes."


def examine(clone: Clone, *, against: Checkpoint | None = None, name: str = "checkpoint") -> Report:
    """Everything that is wrong or worth knowing about this clone's memory."""
    ledger, found = read_everything(clone)
    found += bodies.examine(clone, ledger)
    if against is not None:
        found += _compare(clone, ledger, against, name)
    found += records.examine(clone)
    found += _house(clone, ledger)
    found += tracked.attributes(clone.repo)
    found += _staged(clone)
    found += tracked.altered_proofs(clone.repo)
    found += facts.examine(clone)
    found += state.examine(clone)
    found += hooks.examine(clone)
    found += _index(clone)
    return report([*ledger.findings, *found], _counts(ledger))


def read_everything(clone: Clone) -> tuple[Ledger, list[Finding]]:
    """The whole log of this clone: the spools, what was sealed here, HEAD's tree, the work tree.

    In this order: an event moves from spool to segment to commit, so whoever looks along its way
    sees it at least once, even while other commands are at work.
    """
    ledger, found = Ledger(), []
    for store in clone.stores:
        found += _read_spools(clone, store, ledger)
    for store in clone.stores:
        found += _read_sealed(clone, store, ledger)
    committed = tracked.read_log(clone.repo, "HEAD", ledger) if clone.repo.head().oid else {}
    found += tracked.read_work_tree(clone.repo, ledger, committed)
    ledger.finish()
    return ledger, found


def take_checkpoint(clone: Clone) -> Checkpoint:
    """How far the log of this clone reaches now."""
    ledger, _ = read_everything(clone)
    return checkpoints.take(_parents(ledger), clone.now())


def _parents(ledger: Ledger) -> dict[str, Sequence[str]]:
    return {name: event.parents for name, event in ledger.events.items()}


def _runs(ledger: Ledger) -> set[str]:
    return {event.run_id.decode("ascii") for event in ledger.events.values() if event.run_id}


def _counts(ledger: Ledger) -> dict[str, int]:
    named = sum(event.body is not None for event in ledger.own.values())
    return {"files": ledger.files, "events": len(ledger.events), "own": len(ledger.own), "bodies": named}


def _shown(clone: Clone, path: str) -> str:
    return os.path.relpath(path, clone.repo.top).replace(os.sep, "/")


def _read(clone: Clone, path: str, *, limit: int) -> bytes | Finding | None:
    try:
        return fsio.read(path, limit=limit)
    except FileNotFoundError:  # sealed or published since it was listed
        return None
    except (UnsafePath, TooLarge) as error:
        said = str(error)
    except OSError as error:
        said = f"it cannot be read: {os.strerror(error.errno or 0)}"
    return _problem("log", _shown(clone, path), said, _BACKUP)


def _read_sealed(clone: Clone, store: Layout, ledger: Ledger) -> list[Finding]:
    found = []
    for name in _listed(store.sealed_log):
        path = os.path.join(store.sealed_log, name)
        data = _read(clone, path, limit=2 * MAX_SEGMENT)
        if isinstance(data, Finding):
            found.append(data)
        elif data is not None:
            ledger.segment(_shown(clone, path), name.removesuffix(".jsonl"), data, own=True)
    return found


def _read_spools(clone: Clone, store: Layout, ledger: Ledger) -> list[Finding]:
    found = []
    for line in _listed(store.spool):
        for name in _listed(os.path.join(store.spool, line)):
            path = os.path.join(store.spool, line, name)
            data = _read(clone, path, limit=MAX_SPOOL)
            if isinstance(data, Finding):
                found.append(data)
            elif data is not None:
                ledger.spool(_shown(clone, path), path, data)
    return found


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.endswith(house.TEMPORARY))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _compare(clone: Clone, ledger: Ledger, against: Checkpoint, name: str) -> list[Finding]:
    lost = checkpoints.compare(against, _parents(ledger), name)
    if not lost:
        return []
    elsewhere = Ledger()
    for ref in clone.repo.text("for-each-ref", "--format=%(objectname)").split():
        tracked.read_log(clone.repo, ref, elsewhere)
    if checkpoints.compare(against, {**_parents(elsewhere), **_parents(ledger)}, name):
        return lost
    said = "what the checkpoint names is not on this branch; another branch of this clone has it"
    step = "Switch to that branch and look again."
    return [Finding(severity="partial", topic="checkpoint", file=name, sentence=said, next_step=step)]


def _house(clone: Clone, ledger: Ledger) -> list[Finding]:
    store, top = clone.private, clone.repo.top
    named = {event.body.decode("ascii") for event in ledger.own.values() if event.body}
    found = [*house.permissions(store, top)]
    found += house.leftovers(store, top, bodies=named, now=clone.clock().timestamp())
    found += house.unfinished(store, top, runs=_runs(ledger))
    for each in clone.stores:
        found += _waiting(clone, each)
    return found


def _staged(clone: Clone) -> Iterator[Finding]:
    """Ignored files that are staged: a publish of an earlier version, cut short, could leave them behind."""
    for path in journal.staged_though_ignored(clone.repo):
        said = "git ignores this file, yet it is staged: the next commit would contain it"
        step = f"Unless you staged it on purpose: git rm --cached -- {shlex.quote(path)}"
        yield Finding(
            severity="problem", topic="git", file=path, sentence=said, next_step=step, repair="unstage", path=path
        )


def _waiting(clone: Clone, store: Layout) -> Iterator[Finding]:
    """Changes that wait: the segment each names is still here."""
    for change in pending.waiting(store):
        if change.segment and not os.path.lexists(store.sealed_segment(change.segment)):
            said = f"it waits to publish segment {change.segment}, which is gone from sealed/"
            shown = _shown(clone, os.path.join(store.pending, f"{change.name}.json"))
            yield _problem("store", shown, said, _BACKUP)


def _index(clone: Clone) -> Iterator[Finding]:
    """An index may be thrown away at any time, so whatever is wrong with one is only a note."""
    for path, tables in ((path_of(clone), ()), (corpus_of(clone), ()), (others_of(clone), OWN_TABLES)):
        if (wrong := damage_of(path, tables)) and not is_busy(wrong):
            step = "Delete it; the next `holdfast recall` builds it again."
            said = f"a search index cannot be read ({wrong})"
            yield Finding(severity="note", topic="index", file=path, sentence=said, next_step=step)


def _problem(topic: str, file: str, sentence: str, step: str) -> Finding:
    return Finding(severity="problem", topic=topic, file=file, sentence=sentence, next_step=step)
