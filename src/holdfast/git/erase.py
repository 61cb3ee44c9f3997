"""Erases one text from this clone for good, while the log still verifies.

A journal is written first, then the event, the marker and the deletions; after a crash the next command
finishes the rest. The marker lists what must never come back (ids and salted names, no word of the text):
a merge, an old clone or an imported bundle may bring it, and `sweep` deletes it again. From a file of several
entries only the one is removed. Git history and other clones may still hold the text; the result lists where.
"""

import json
import os
import re
import shutil
from functools import cached_property

from holdfast.errors import BrokenEntry, Busy, CorruptLog
from holdfast.git import upstream, view_edits
from holdfast.git.clone import Clone
from holdfast.model.event import Event, EventDraft
from holdfast.model.ids import is_id, slug
from holdfast.model.text import count
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records, markdown_document, pending_changes, receipt_files, statistics, trash
from holdfast.store import layout as paths
from holdfast.store.layout import Layout
from holdfast.store.memory_files import parts
from holdfast.store.pending_changes import PendingChange
from holdfast.values import frozen, replace

MAX_MARKER = 1 << 22  # 4 MiB: a guess; names of about 60,000 bodies
_KINDS = ("event", "run", "memory", "task", "link", "session")
_ENTRIES = (paths.MEMORY, paths.TASKS, paths.LINKS, paths.APPROVALS)
_BODY = regex(r"[0-9a-f]{64}")
_SWEPT = "swept"


@frozen
class Erasure:
    """The texts an erase removed here, and the places that may still hold copies."""

    id: str
    kind: str  # "event", "run", "memory", "task", "link" or "session"
    removed: tuple[str, ...]
    still_held: tuple[str, ...]


def erase(clone: Clone, kind: str, identity: str) -> Erasure:
    """Removes the text of an event, a run, a memory, a task, a link or a session from this clone."""
    clone.repo.refuse_in_hook_of_publish()
    with fsio.locked(clone.layout.lock, wait=60.0):  # a guess: longer than most publishes hold it
        fsio.replace(clone.layout.erasing, json.dumps({"kind": kind, "id": identity}).encode("utf-8"))
        return _carry_out(clone, kind, identity)


def resume(clone: Clone) -> str | None:
    """Completes an interrupted erase and returns a note; None if there is none, or its process is still running."""
    if not os.path.lexists(clone.layout.erasing):
        return None
    try:
        with fsio.locked(clone.layout.lock, wait=0.0):
            return _finish(clone)
    except Busy:
        return None


def _finish(clone: Clone) -> str | None:
    try:
        kind, identity = journal_of(clone.layout)
    except FileNotFoundError:
        return None
    except CorruptLog as error:
        clone.layout.leave_out(error)
        return None
    done = _carry_out(clone, kind, identity)
    return f"finished erasing {done.id}, which was interrupted"


def journal_of(layout: Layout) -> tuple[str, str]:
    """Returns the kind and id in the journal of an interrupted erase."""
    record = _read(layout.erasing, "the journal of an erase")
    kind, identity = record.get("kind"), record.get("id")
    if kind not in _KINDS or not isinstance(identity, str) or not is_id(identity):
        raise CorruptLog(f"{layout.erasing} does not name what to erase")
    return str(kind), identity


def bodies_of(layout: Layout, identity: str) -> list[str]:
    """Returns the bodies that an erase marker names."""
    path = os.path.join(layout.erased, identity)
    names = _read(path, "the marker of an erase").get("bodies", [])
    if not isinstance(names, list) or not all(isinstance(n, str) and _BODY.fullmatch(n) for n in names):
        raise CorruptLog(f"{path} does not name the erased bodies")
    return names


def _read(path: str, what: str) -> dict[str, object]:
    with loose_records.judging(path, f", {what}, cannot be read"):
        record = json.loads(fsio.read(path, limit=MAX_MARKER))
        if not isinstance(record, dict):
            raise TypeError("it is not an object")
    return record


def _carry_out(clone: Clone, kind: str, identity: str) -> Erasure:
    events = clone.all_events()
    about = [event for event in events if _concerns(event, kind, identity)]
    texts = _Texts(clone)
    named = sorted({*texts.tracked(identity), *(change.path for _, change in texts.changes(identity))})
    own = _uncommitted_edits(clone, identity)
    if not any(event.kind == "erase" and event.target == identity for event in events):
        clone.record(EventDraft("erase", target=identity, run_id=identity if kind == "run" else None))
    names = sorted({event.body for event in about if event.body})
    _mark(clone, identity, names)
    held = [*own, *_still_held(clone, named)]
    removed = _remove(clone, identity, names, texts)
    removed += [item for store in clone.stores for item in receipt_files.erase(store, identity)]
    removed += [item for store in clone.stores for item in statistics.erase(store, identity)]
    _drop_views(clone)
    fsio.remove(clone.layout.erasing)
    return Erasure(identity, kind, tuple(removed), tuple(held))


def _mark(clone: Clone, identity: str, names: list[str]) -> None:
    loose_records.keep(os.path.join(clone.layout.erased, identity), {"bodies": names})
    clone.forget_erased()


def mark_again(clone: Clone, identity: str) -> None:
    """Rewrites the marker of an erase from the log; the erased text stays erased."""
    about = (e for e in clone.own_events() if any(_concerns(e, kind, identity) for kind in _KINDS))
    _mark(clone, identity, sorted({event.body for event in about if event.body}))


def _concerns(event: Event, kind: str, identity: str) -> bool:
    if kind == "event":
        return event.hash_self == identity
    return event.target == identity or (kind == "run" and event.run_id == identity)


def sweep(clone: Clone) -> list[str]:
    """Deletes erased texts that came back, and returns what it deleted."""
    _follow_trunk(clone)
    erased = markers(clone.layout)
    if not erased:
        return []
    held = (clone.repo.tree_id("HEAD", folder) or "" for folder in (paths.MEMORY, paths.APPROVALS))
    state = [" ".join(held), len(erased)]
    removed, texts = [], _Texts(clone, thorough=view_edits.read_record(clone, _SWEPT).get(_SWEPT) != state)
    for identity in erased:
        names: list[str] = []
        try:
            names = bodies_of(clone.layout, identity)
        except FileNotFoundError:
            continue
        except CorruptLog as error:  # the marker's name alone still tells what must stay erased
            clone.layout.leave_out(error)
        removed += _remove(clone, identity, names, texts)
    if texts.thorough and not clone.reading:
        view_edits.keep_record(clone, _SWEPT, {_SWEPT: state})
    return removed


def _follow_trunk(clone: Clone) -> None:
    """Erases here what the trunk of a trusted upstream erased; any other branch's erase only hides it here."""
    erased = filter(is_id, () if clone.reading else upstream.vouched(clone).erased)
    new = sorted(set(erased) - set(markers(clone.layout)))
    for identity in new:
        mark_again(clone, identity)
    if new:
        _drop_views(clone)


def markers(layout: Layout) -> list[str]:
    """Returns the ids that this clone erased."""
    return [name for name in layout.listed(layout.erased) if not name.endswith(".tmp")]


class _Texts:
    """The waiting, published and tracked texts of entries, read once for all erased ids."""

    def __init__(self, clone: Clone, *, thorough: bool = True) -> None:
        """`thorough`: read the files of HEAD as well, since one may hold several entries."""
        self._clone, self.thorough = clone, thorough

    @cached_property
    def _changes(self) -> list[tuple[Layout, PendingChange]]:
        lists = (pending_changes.waiting, pending_changes.published)
        return [(store, change) for store in self._clone.stores for listed in lists for change in listed(store)]

    def changes(self, identity: str) -> list[tuple[Layout, PendingChange]]:
        """Returns the waiting and published changes of an entry, each with its store."""
        return [
            (store, change)
            for store, change in self._changes
            if _is_about(change.path, identity) or _holds(change.path, change.text or "", identity)
        ]

    def tracked(self, identity: str) -> list[str]:
        """Returns the paths of an entry in HEAD."""
        return [p for p, text in self._in_head.items() if _is_about(p, identity) or _holds(p, text, identity)]

    def proofs(self, identity: str, bodies: list[str]) -> list[str]:
        """Returns the proofs in HEAD that show these bodies, except those in the entry's own folder."""
        return [p for p in sorted(self._in_head) if p.rpartition("/")[2] in bodies and not _is_about(p, identity)]

    def text(self, path: str) -> str:
        """Returns the text at a path in HEAD."""
        if not self._in_head.get(path):
            blob, repo = self._clone.repo.blobs_at("HEAD", [path]).get(path, ""), self._clone.repo
            self._in_head[path] = repo.blobs([blob] if blob else []).get(blob, b"").decode("utf-8", "replace")
        return self._in_head[path]

    @cached_property
    def _in_head(self) -> dict[str, str]:
        """Path to text of the tracked entries in HEAD; the text is empty if it was not read."""
        repo = self._clone.repo
        blobs = {path: oid for folder in _ENTRIES for path, oid in repo.tree("HEAD", folder).items()}
        wanted = [oid for path, oid in blobs.items() if path.startswith(f"{paths.MEMORY}/")]
        texts = repo.blobs(wanted) if self.thorough else {}
        return {p: texts.get(oid, b"").decode("utf-8", "replace") for p, oid in blobs.items()}


def _holds(path: str, text: str, identity: str) -> bool:
    """Returns whether a file of memories has an entry with this id, whatever the file's name."""
    if identity not in text or not path.startswith(f"{paths.MEMORY}/"):
        return False
    return any(_is_of(piece.text, identity) for piece in markdown_document.pieces(text))


def _is_of(text: str, identity: str) -> bool:
    """Returns whether an entry has this id, even if the rest of it cannot be parsed."""
    end = text.find("\n---", 3)
    front = text[: end if end >= 0 else len(text)]
    return re.search(rf"^id:[ \t]*[\"']?{re.escape(identity)}[\"']?[ \t\r]*(?:#.*)?$", front, re.MULTILINE) is not None


def _without(path: str, text: str, identity: str) -> str | None:
    """Returns a file's text without one entry; None if nothing is left."""
    if path.startswith(f"{paths.APPROVALS}/"):
        return None
    kept = [piece.text for piece in markdown_document.pieces(text) if not _is_of(piece.text, identity)]
    left = "\n".join(piece if piece.endswith("\n") else f"{piece}\n" for piece in kept)
    return left if left.strip() else None


def _uncommitted_edits(clone: Clone, identity: str) -> list[str]:
    """Returns a note for each uncommitted file with the entry: only the person who edited it may change it."""
    seen = ((s.path, s.text if s.origin == "edit" else s.edited or "") for s in clone.entries(paths.MEMORY))
    found = [path for path, text in seen if _holds(path, text, identity)]
    return [f"your own uncommitted edit of {path}: delete the text there by hand" for path in found]


def _remove(clone: Clone, identity: str, names: list[str], texts: _Texts) -> list[str]:
    removed = []
    for body in names:
        if clone.bodies.has(body):
            clone.bodies.drop(body)
            removed.append(f"body {body[:12]}")
    for store in clone.stores:
        candidate = os.path.join(store.candidates, f"{identity}.md")
        if os.path.lexists(candidate):  # false, too, if a file is in the place of its folder
            fsio.remove(candidate)
            removed.append(f"candidate {identity}")
        removed += _remove_run(store, identity) + _remove_records(store, identity) + trash.forget(store, identity)
        removed += _remove_kept(store.kept, identity) + _remove_kept(store.quarantine, identity)
        if os.path.lexists(store.decided):  # the undo record of a review holds texts
            fsio.remove(store.decided)
    removed += _remove_changes(clone, texts.changes(identity), identity)
    return removed + _remove_tracked(clone, texts, identity, names)


def _remove_records(store: Layout, identity: str) -> list[str]:
    """Removes a session's file, or the claim on a task; the file name holds the id."""
    removed = []
    for what, folder in (("session", store.sessions), ("claim on", store.claims)):
        for name in store.listed(folder, ".json"):
            if trash.is_named(name, identity):
                fsio.remove(os.path.join(folder, name))
                removed.append(f"{what} {identity}")
    return removed


def _remove_kept(aside: str, identity: str) -> list[str]:
    """Removes saved texts that mention the id, whole: it is unknown which of their words belong to it."""
    removed, word = [], re.compile(rb"(?<![\w-])" + re.escape(identity.encode("ascii")) + rb"(?![\w-])")
    for folder, _, names in os.walk(aside):
        for name in names:
            path = os.path.join(folder, name)
            if trash.is_named(name, identity) or word.search(loose_records.content(path)):
                fsio.remove(path)
                removed.append(f"kept text {name}")
    return removed


def _drop_views(clone: Clone) -> None:
    """Deletes the rendered views in all work trees of this clone: they may show the words without the id."""
    for folder, _, names in (found for top in clone.repo.tops() for found in os.walk(Layout(top, "").view())):
        for name in set(names) - {".gitignore"}:
            fsio.remove(os.path.join(folder, name))
    for store in clone.stores:  # and prepared or sent contexts that are not in a receipt yet
        for folder, ending in ((store.guards, ""), (store.inbox, ".pack")):
            for name in store.listed(folder, ending):
                fsio.remove(os.path.join(folder, name))


def _remove_run(store: Layout, identity: str) -> list[str]:
    folder = store.run(identity)
    if not os.path.isdir(folder):
        return []
    for inner, folders, _ in os.walk(folder):
        for name in folders:
            os.chmod(os.path.join(inner, name), 0o700)
    shutil.rmtree(folder)
    return [f"run {identity}"]


def _remove_changes(clone: Clone, found: list[tuple[Layout, PendingChange]], identity: str) -> list[str]:
    """Removes waiting texts and all records of published ones: even a path holds words of the text."""
    removed = []
    for store, change in found:
        left = _without(change.path, change.text, identity) if change.text is not None else None
        if left is not None:
            _cut(clone, store, change, left, identity)
            removed.append(f"its part of {change.path}")
        elif change.published is not None:
            pending_changes.forget_published(store, change)
            removed += [f"kept copy of {change.path}"] if change.text is not None else []
        elif change.text is not None:
            pending_changes.drop(store, change)
            removed.append(f"waiting change of {change.path}")
    return removed


def _cut(clone: Clone, store: Layout, change: PendingChange, left: str, identity: str) -> None:
    """Rewrites a record with the remaining text; it stays the same change of the same line."""
    path = _path_for(change.path, left, identity)
    blob = clone.repo.hash_blob(left.encode("utf-8"))
    base = change.base if path == change.path else None
    folder = store.pending if change.published is None else store.sealed_changes
    record = replace(change, path=path, base=base, blob=blob, text=left)
    pending_changes._write(os.path.join(folder, f"{change.name}.json"), record)


def _path_for(path: str, left: str, identity: str) -> str:
    """Returns the path for a file's other entries: a new one if the file is named after the erased entry."""
    if not _is_about(path, identity):
        return path
    for part in parts(left, path):
        if not isinstance(part.memory, BrokenEntry):
            return paths.entry_path(part.memory.type, slug(part.memory.statement), part.memory.id)
    return f"{os.path.dirname(path)}/rest.md"


def _is_about(path: str, identity: str) -> bool:
    """Returns whether a file is named after the erased id: its entry, or a proof of its approval."""
    return path.endswith(f"-{identity}.md") or path.startswith(f"{paths.APPROVALS}/{identity}/")


def _remove_tracked(clone: Clone, texts: _Texts, identity: str, bodies: list[str]) -> list[str]:
    """Schedules the removal of tracked copies with the next publish; until then they are hidden here."""
    named = [*texts.tracked(identity), *texts.proofs(identity, bodies)]
    waiting = {change.path: change for change in clone.changes()} if named else {}
    wanted: dict[str, str | None] = {}
    for path in named:
        left = _without(path, texts.text(path), identity)
        place = _path_for(path, left, identity) if left is not None else path
        if place != path and left is not None and place not in waiting:
            wanted[place] = left
        if not _is_gone(path, waiting.get(path), identity):
            wanted[path] = left if place == path else None
    for path, text in wanted.items():
        clone.change(path, text)
    return [f"{path}, with the next `holdfast publish`" for path in wanted]


def _is_gone(path: str, change: PendingChange | None, identity: str) -> bool:
    """Returns whether a waiting change already removes an entry from its file."""
    if change is None or change.text is None:
        return change is not None
    return not _is_about(path, identity) and not _holds(path, change.text, identity)


def _still_held(clone: Clone, named: list[str]) -> list[str]:
    """Returns where git still has the erased text: commits, reflogs, stashes, the index, loose objects, remotes."""
    held = []
    for path in named:
        history = clone.repo.text("log", "--all", "--reflog", "--format=%H", "--", path, ok=(0, 128)).split()
        if history:
            held.append(f"{path} was changed by {count(len(history), 'commit')} of this clone's history")
            held.append(_refs_holding(clone, history, path))
        if clone.repo.run("ls-files", "-s", "--", path):
            held.append(f"git's index has {path} staged or tracked")
        held += _in_work_trees(clone, path)
    if named:
        held.append(
            "git's objects, loose or packed: once no branch, tag, stash or reflog reaches them, "
            "`git reflog expire --expire=now --all && git gc --prune=now` deletes them"
        )
    if named and clone.repo.text("remote"):
        held.append("remotes and other clones keep what was pushed to them")
    return held


def _in_work_trees(clone: Clone, path: str) -> list[str]:
    """Returns a note for each other work tree of this clone that has the file."""
    others = [top for top in clone.repo.tops() if not os.path.samefile(top, clone.repo.top)]
    with_file = [top for top in others if os.path.lexists(os.path.join(top, *path.split("/")))]
    return [f"the work tree {top} has {path}: merge the erasure there, or delete the file" for top in with_file]


def _refs_holding(clone: Clone, history: list[str], path: str) -> str:
    # 20 commits and 8 refs are guesses: enough to show where the text is, and git is asked once.
    named = [word for commit in history[:20] for word in ("--contains", commit)]
    refs = clone.repo.text("for-each-ref", "--format=%(refname)", *named, ok=(0, 129)).split()
    shown = ", ".join(ref.removeprefix("refs/") for ref in sorted(set(refs))[:8])
    return f"{shown} reach commits with {path}" if shown else "only reflogs or dangling commits reach it"
