"""Is this clone's memory sound? Looks at everything, changes nothing, and says where.

The log, its bodies and capsules decide the verdict (ok, partial, corrupt). Reported beside it: who may look into the
private store, what an interrupted command left there, facts that expired or whose evidence changed, and whether git's
hooks fire. Hooks are proved by firing them. Hooks that were never installed are a note, since the next command notices
what git did; installed hooks that do not fire are a problem.

Raw files are read here rather than through the store's own readers, which rightly refuse damage.
"""

import contextlib
import json
import os
import shlex
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial

from holdfast.diagnostics import log_integrity as checkpoints
from holdfast.diagnostics import plan_soundness, tracked_log
from holdfast.diagnostics.findings import HealthFinding, HealthReport, place_of, relative, report
from holdfast.diagnostics.log_integrity import Ledger, LogCheckpoint, VerifiedEvent
from holdfast.errors import (
    BadSettings,
    BrokenEntry,
    CorruptLog,
    GitFailed,
    LockedText,
    PublishRefused,
    TooLarge,
    UnsafePath,
)
from holdfast.git import approvals, branch_lines, erase, evidence_check, file_entries, hooks, publish_journal
from holdfast.git.clone import Clone
from holdfast.index.other_branches import OWN_TABLES
from holdfast.index.other_branches import path_of as others_of
from holdfast.index.refresh import path_of
from holdfast.index.sqlite import damage_of, is_busy, unsound
from holdfast.model.evidence import receipt_name
from holdfast.model.memory import Accepted, Candidate, Retired, is_expired, iso
from holdfast.patterns import regex
from holdfast.store import capsule, fsio, layout, log, memory_files, pending_changes, private_store, receipt_files
from holdfast.store.format import MAX_SEGMENT, SALT_BYTES, body_name, parse_event

HOUR = 3600.0  # seconds
_REPAIR = "Run `holdfast doctor --repair`."
TEMPORARY = ".tmp"


def open_permissions(files: Mapping[str, os.stat_result], top: str) -> Iterator[HealthFinding]:
    """Files that others can read, that lead elsewhere, or that are not ours."""
    if os.name != "posix":  # Windows keeps access lists, which a mode does not show.
        return
    us = os.geteuid()
    for path, facts in files.items():
        repair = None
        if stat.S_ISLNK(facts.st_mode):
            said, step = "this is a link; the store holds only real files", "Remove it."
        elif facts.st_uid != us:
            said, step = "another user owns this", "Give it back with `chown`."
        elif facts.st_mode & 0o077:
            # In a folder that is closed to others a file's own mode does not matter.
            around = facts if stat.S_ISDIR(facts.st_mode) else files.get(path.rpartition(os.sep)[0], facts)
            if not around.st_mode & 0o077:
                continue
            said, step = f"others can use this: its mode is {stat.S_IMODE(facts.st_mode):04o}", _REPAIR
            repair = "permissions"
        else:
            continue
        shown = os.path.relpath(path, top)
        yield HealthFinding("problem", "store", shown, said, step, repair=repair, path=path)


def all_files(root: str) -> dict[str, os.stat_result]:
    """A folder and everything in it, each with what the file system says of it, folders before what is in them."""
    found: dict[str, os.stat_result] = {}
    waiting = [root]
    with contextlib.suppress(FileNotFoundError):
        found[root] = os.lstat(root)
    while waiting:
        # Another command may move a folder on while this looks, and one that is closed even to us is found otherwise.
        with contextlib.suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda one: one.name):
                with contextlib.suppress(FileNotFoundError):
                    found[entry.path] = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    return found


def leftovers(
    store: layout.Layout, top: str, files: Mapping[str, os.stat_result], *, bodies: Collection[str], now: float
) -> Iterator[HealthFinding]:
    """What an interrupted command left: temporary files, bodies that no event names, a half-done publish."""
    all_bodies = store.bodies
    for path, facts in files.items():
        folder, _, name = path.rpartition(os.sep)
        if now - facts.st_mtime <= HOUR:  # longer than any command takes between a file and the event that names it
            continue
        if path.endswith(TEMPORARY):
            said = "a command was interrupted while it wrote this"
            yield _note(path, top, said, _REPAIR, repair="remove-temporary")
        elif folder == all_bodies and name not in bodies:
            said = "no event of this clone names this body; its event was never acknowledged"
            step = "It does no harm; `holdfast doctor --repair` sets it aside."
            yield _note(path, top, said, step, repair="orphan")
    for path, what in ((store.publishing, "a publish"), (store.erasing, "an erase")):
        if os.path.lexists(path):
            step = "The next command that writes finishes or undoes it; `holdfast status` is one."
            yield _note(path, top, f"{what} was interrupted", step)


def unfinished(store: layout.Layout, top: str, *, runs: Collection[str]) -> Iterator[HealthFinding]:
    """Capsules whose run never got its event."""
    for name in _listed(store.runs):
        if name not in runs and os.path.isdir(store.run(name)) and not capsule.is_alive(store.run(name)):
            said = "this run has no event: its wrapper was killed"
            yield _note(store.run(name), top, said, "The next `holdfast run` completes it.")


def _note(path: str, top: str, sentence: str, step: str, *, repair: str | None = None) -> HealthFinding:
    return HealthFinding("note", "store", os.path.relpath(path, top), sentence, step, repair=repair, path=path)


_REVIEW = "Look at it in `holdfast review`: accept it as it is now, change it, or retire it."

_MEND = "Mend the file by hand; until then it is left out and nothing is lost."


def examine_facts(clone: Clone) -> Iterator[HealthFinding]:
    """What a person should look at again among the facts visible here."""
    try:
        seen = clone.entries(layout.MEMORY)
    except (CorruptLog, UnsafePath, TooLarge, GitFailed) as error:
        yield HealthFinding("problem", "facts", layout.MEMORY, str(error), "Mend what it names, then run this again.")
        return
    memories: list[tuple[str, Accepted]] = []
    for one in file_entries.placed(clone.repo, seen):
        try:
            memory = one.parse()
        except BrokenEntry as error:
            line, reason = place_of(one.sighting.path, error)
            yield HealthFinding("problem", "facts", one.sighting.path, reason, _MEND, line)
            continue
        if not isinstance(memory, Accepted | Retired):
            said = f"{memory.id} is a candidate or a tombstone; entries are accepted or deprecated"
            yield HealthFinding("problem", "facts", one.sighting.path, said, _MEND)
        else:
            yield from _in_wrong_folder(one.sighting.path, memory.id, memory.type)
        if isinstance(memory, Accepted):
            memories.append((one.sighting.path, memory))
    try:
        held = evidence_check.states(clone, (text for _, memory in memories for text in memory.evidence))
    except (CorruptLog, GitFailed) as error:
        # The damage itself is reported where it lies; only what rests on it cannot be judged.
        yield HealthFinding("note", "facts", layout.MEMORY, f"evidence could not be checked: {error}", _REVIEW)
        return
    replaced = {name for _, memory in memories for name in memory.supersedes}
    for path, memory in memories:
        if memory.id in replaced:  # nobody is given it any more, so nothing is to be decided
            continue
        if memory.expires_at is not None and is_expired(memory, clone.clock()):
            yield HealthFinding("note", "facts", path, f"{memory.id} expired at {iso(memory.expires_at)}", _REVIEW)
        for text in (text for text in memory.evidence if held[text] != "holds"):
            yield HealthFinding("note", "facts", path, f"{memory.id} is stale: {_now(text, held[text])}", _REVIEW)


def _now(receipt: str, state: str) -> str:
    """How evidence stands, as a sentence says it."""
    return f"{receipt_name(receipt)} {'has changed' if state == 'changed' else f'is {state}'}"


def _in_wrong_folder(path: str, name: str, kind: str) -> Iterator[HealthFinding]:
    """An entry in the folder of another type; elsewhere below `memory/` any may lie."""
    kinds = [one for one, folder in layout.FOLDER_OF.items() if path.startswith(f"{folder}/")]
    if kinds and kind not in kinds:
        words = f"{'an' if kind[0] in 'ai' else 'a'} {kind}"
        sentence = f"{name} is {words} in the folder of {path.split('/')[2]}; it counts as {words} all the same"
        step = f"Move it: `git mv {shlex.quote(path)} {layout.FOLDER_OF[kind]}/`."
        yield HealthFinding("problem", "facts", path, sentence, step)


INSTALL = "Run `holdfast hooks install`."
_AGAIN = "Run `holdfast hooks install` again."


def examine_hooks(clone: Clone) -> list[HealthFinding]:
    """What is wrong or worth knowing about this clone's hooks; one that only looks fires none."""
    try:
        found = hooks.state(clone.repo, clone.private, prove=not clone.reading)
    except GitFailed as error:
        return [HealthFinding("note", "git", "git", f"its hooks cannot be looked at: {error}", "")]
    judged = list(_judged(found, clone.repo.top))
    if hooks.is_outdated(clone.private) and any(hook.installed for hook in found):
        said = "the recording hook is of another version of Holdfast"
        judged.append(HealthFinding("note", "git", _place(clone.private.hook, clone.repo.top), said, _AGAIN))
    return judged


def _judged(found: Sequence[hooks.HookState], top: str) -> Iterator[HealthFinding]:
    if not any(hook.installed or hook.trouble for hook in found):
        return  # a choice: what git does is then noticed by the next command, not at once
    # Four hooks with one cause are one thing to mend.
    for trouble in dict.fromkeys(hook.trouble for hook in found if hook.trouble):
        named = [hook for hook in found if hook.trouble == trouble]
        husky = " Husky does this with every install of packages; put it behind that in `prepare`."
        step = _AGAIN + (husky if "husky" in trouble else "")
        yield HealthFinding("problem", "git", _shown_hooks(named, top), f"{_names(named)} cannot fire: {trouble}", step)
    silent = [hook for hook in found if hook.fires is False and not hook.trouble]
    if silent:
        step = "See what it prints with `git hook run NAME`, then run `holdfast hooks install` again."
        said = f"{_names(silent)} ran and recorded nothing"
        yield HealthFinding("problem", "git", _shown_hooks(silent, top), said, step)
    missing = [hook for hook in found if not hook.installed and not hook.trouble]
    if missing:
        yield HealthFinding("note", "git", _shown_hooks(missing, top), f"{_names(missing)} is not installed", INSTALL)


def _names(found: Sequence[hooks.HookState]) -> str:
    names = [hook.name for hook in found]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _shown_hooks(found: Sequence[hooks.HookState], top: str) -> str:
    where = found[0].where
    if len(found) > 1:
        where = os.path.dirname(where) if os.path.isabs(where) else ".git/config"
    return _place(where, top)


def _place(path: str, top: str) -> str:
    shown = os.path.relpath(path, top) if os.path.isabs(path) else path
    return path if shown.startswith(os.pardir) else shown.replace(os.sep, "/")


_SEALED = regex(rb'"sealed":"holdfast-sealed:1:([0-9a-f]{16}):')
_BACKUP = "Bring it back from a backup or an export; nothing else holds these bytes."


def examine(
    clone: Clone,
    *,
    against: LogCheckpoint | None = None,
    name: str = "checkpoint",
    progress: Callable[[int, int], None] | None = None,
) -> HealthReport:
    """Everything that is wrong or worth knowing about this clone's memory."""
    clone.repo.forget_answers()
    ledger, found = read_everything(clone)
    parts: list[Callable[[], Iterable[HealthFinding]]] = [
        lambda: examine_bodies(clone, ledger),
        lambda: () if against is None else _compare(clone, ledger, against, name),
        lambda: examine_records(clone),
        lambda: _house(clone, ledger),
        lambda: tracked_log.attributes(clone.repo),
        lambda: _staged(clone),
        lambda: tracked_log.altered_proofs(clone.repo),
        lambda: examine_facts(clone),
        lambda: plan_soundness.examine_tasks(clone),
        lambda: examine_hooks(clone),
        lambda: _index(clone),
        lambda: _agents(clone),
    ]
    for number, part in enumerate(parts, 1):
        if progress is not None:
            progress(number, len(parts) + 1)  # the log is read, which is the first part
        found += part()
    counts = {"files": ledger.files, "events": len(ledger.events), "own": len(ledger.own)}
    counts["bodies"] = sum(event.body is not None for event in ledger.own.values())
    return report([*ledger.findings, *found], counts)


def read_everything(clone: Clone) -> tuple[Ledger, list[HealthFinding]]:
    """The whole log of this clone: the spools, what was sealed here, HEAD's tree, the work tree.

    In this order: an event moves from spool to segment to commit, so whoever looks along its way
    sees it at least once, even while other commands are at work.
    """
    ledger, top = Ledger(), clone.repo.top
    found: list[HealthFinding] = []
    for path in (os.path.join(s.spool, line) for s in clone.stores for line in _listed(s.spool)):
        for spool in (os.path.join(path, name) for name in _listed(path)):
            found += _read(clone, spool, partial(ledger.spool, relative(spool, top), spool), limit=log.MAX_SPOOL)
    for store in clone.stores:
        for name in _listed(store.sealed_log):
            path = os.path.join(store.sealed_log, name)
            take = partial(ledger.segment, relative(path, top), name.removesuffix(".jsonl"), own=True)
            found += _read(clone, path, take, limit=2 * MAX_SEGMENT)
    committed = tracked_log.read_log(clone.repo, "HEAD", ledger) if clone.repo.head().oid else {}
    found += tracked_log.read_work_tree(clone.repo, ledger, committed)
    ledger.finish()
    return ledger, found


def take_checkpoint(clone: Clone) -> LogCheckpoint:
    """How far the log of this clone reaches now."""
    ledger, _ = read_everything(clone)
    return checkpoints.make_checkpoint(_parents(ledger), clone.now())


def _parents(ledger: Ledger) -> dict[str, Sequence[str]]:
    return {name: event.parents for name, event in ledger.events.items()}


def _read(clone: Clone, path: str, take: Callable[..., None], *, limit: int) -> Iterator[HealthFinding]:
    """Hand over what a file holds, or say why it cannot be read."""
    try:
        data = fsio.read(path, limit=limit)
    except FileNotFoundError:  # sealed or published since it was listed
        return
    except (UnsafePath, TooLarge, OSError) as error:
        said = f"it cannot be read: {os.strerror(error.errno or 0)}" if isinstance(error, OSError) else str(error)
        yield HealthFinding("problem", "log", relative(path, clone.repo.top), said, _BACKUP)
    else:
        take(data=data)


def _listed(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.endswith(TEMPORARY))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _compare(clone: Clone, ledger: Ledger, against: LogCheckpoint, name: str) -> list[HealthFinding]:
    lost = checkpoints.compare_checkpoint(against, _parents(ledger), name)
    if not lost:
        return []
    elsewhere = Ledger()
    for ref in clone.repo.text("for-each-ref", "--format=%(objectname)").split():
        tracked_log.read_log(clone.repo, ref, elsewhere)
    if checkpoints.compare_checkpoint(against, {**_parents(elsewhere), **_parents(ledger)}, name):
        return lost
    said = "what the checkpoint names is not on this branch; another branch of this clone has it"
    return [HealthFinding("partial", "checkpoint", name, said, "Switch to that branch and look again.")]


def _house(clone: Clone, ledger: Ledger) -> list[HealthFinding]:
    store, top = clone.private, clone.repo.top
    named = {event.body.decode("ascii") for event in ledger.own.values() if event.body}
    runs = {event.run_id.decode("ascii") for event in ledger.events.values() if event.run_id}
    files = all_files(store.private)
    found = [*open_permissions(files, top)]
    found += leftovers(store, top, files, bodies=named, now=clone.clock().timestamp())
    found += unfinished(store, top, runs=runs)
    for each in clone.stores:
        for change in pending_changes.waiting(each):
            if change.segment and not os.path.lexists(each.sealed_segment(change.segment)):
                said = f"it waits to publish segment {change.segment}, which is gone from sealed/"
                shown = relative(os.path.join(each.pending, f"{change.name}.json"), top)
                found.append(HealthFinding("problem", "store", shown, said, _BACKUP))
    return found


def _staged(clone: Clone) -> Iterator[HealthFinding]:
    """Ignored files that are staged: a publish of an earlier version, cut short, could leave them behind."""
    for path in publish_journal.staged_though_ignored(clone.repo):
        said = "git ignores this file, yet it is staged: the next commit would contain it"
        step = f"Unless you staged it on purpose: git rm --cached -- {shlex.quote(path)}"
        yield HealthFinding("problem", "git", path, said, step, repair="unstage", path=path)


def _index(clone: Clone) -> Iterator[HealthFinding]:
    """An index may be thrown away at any time, so whatever is wrong with one is only a note."""
    for path, tables in ((path_of(clone), ()), (path_of(clone, "corpus"), ()), (others_of(clone), OWN_TABLES)):
        if (wrong := damage_of(path, tables)) and not is_busy(wrong):
            step = "Delete it; the next `holdfast recall` builds it again."
            yield HealthFinding("note", "index", path, f"a search index cannot be read ({wrong})", step)


def _agents(clone: Clone) -> Iterator[HealthFinding]:
    """The database of agents that people build themselves: nothing else holds what is in it."""
    path = clone.private.agent_database
    if os.path.exists(path) and (wrong := unsound(path)):
        step = "Move it aside, and bring back a copy: `holdfast agent import FILE`."
        yield HealthFinding(
            "problem", "store", relative(path, clone.repo.top), f"agents cannot be read ({wrong})", step
        )


# The clone's own records. A body or a capsule is here and unaltered, or rightly gone; other clones keep theirs, and an
# erased one stays gone. Everyday commands leave a damaged record out and go on; here it is named, and `repair` can set
# it aside.


def examine_bodies(clone: Clone, ledger: Ledger) -> list[HealthFinding]:
    """Each own event's body, and each own run's capsule: here, unaltered, or rightly gone."""
    ours = _erased(ledger.own.values())
    named = {*_erased(ledger.events.values()), *clone.erased()}
    found: list[HealthFinding] = []
    sealed: Counter[str] = Counter()
    for event in ledger.own.values():
        names = event.names if (ours or named) and event.kind != b"erase" else set()  # most logs know of no erasure
        erased = any(event.ts <= ours.get(name, b"") for name in names)
        if event.body is not None:
            found += examine_body(clone, event, hidden=not names.isdisjoint(named), erased=erased, sealed=sealed)
        run = event.run_id.decode("ascii") if event.kind == b"run" and event.run_id else ""
        if erased and run and os.path.isdir(folder := _folder(clone, run)):
            said, step = "this run was erased and is here again", f"Erase it again: `holdfast erase {run}`."
            found.append(HealthFinding("problem", "capsule", _shown(clone, folder), said, step))
    return [*found, *_locked(clone, sealed)]


def _locked(clone: Clone, sealed: Mapping[str, int]) -> Iterator[HealthFinding]:
    """Which keys are not here, and how many texts they keep closed; that these are unaltered needs no key."""
    vault = None
    if sealed and clone.unlock:
        with contextlib.suppress(LockedText, BadSettings):
            vault = clone.unlock()
    for key, count in sorted(sealed.items()):
        if vault is None or not vault.opens(key):
            said = f"{count} recorded text{'s are' if count > 1 else ' is'} sealed with a key that is not here"
            step = "Set `encryption.key`; if the key was destroyed, nobody can read them again."
            yield HealthFinding("note", "body", f"key {key}", said, step)


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


def examine_body(
    clone: Clone,
    event: VerifiedEvent,
    *,
    hidden: bool = False,
    erased: bool = False,
    sealed: "Counter[str] | None" = None,
) -> Iterator[HealthFinding]:
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
    if sealed is not None and stored is not None and (key := _SEALED.search(stored)):
        sealed[key[1].decode("ascii")] += 1
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
    for sentence in receipt_files.faults(clone.stores, run, capsule.read_context(folder)):
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
        yield from _unreadable(clone, store.repo_id, partial(private_store.read_repo_id, store), repair="repo-id")


def _unreadable(clone: Clone, path: str, read: Callable[[], object], *, repair: str) -> Iterator[HealthFinding]:
    try:
        read()
    except FileNotFoundError:  # there is none, or it was finished just now
        return
    except (PublishRefused, CorruptLog) as error:
        yield _problem(clone, path, error, repair=repair)


def _candidates(clone: Clone, store: layout.Layout) -> Iterator[HealthFinding]:
    sound: dict[str, Candidate] = {}
    for name in store.listed(store.candidates):
        path = os.path.join(store.candidates, name)
        try:
            memory = memory_files.read_candidate(path) if name.endswith(".md") else None
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


def _shown(clone: Clone, path: str) -> str:
    return relative(path, clone.repo.top)


def _problem(clone: Clone, path: str, why: object, *, repair: str) -> HealthFinding:
    said = str(why).removeprefix(path).lstrip(":, ")
    return HealthFinding("problem", "store", _shown(clone, path), said, _STEP, repair=repair, path=path)
