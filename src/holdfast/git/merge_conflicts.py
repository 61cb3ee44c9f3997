"""Finds conflicts, entries whose two sides differ, wherever git left them, and resolves them.

    waiting     a change waits here, and the branch's history changed the same fields
    edited      a change waits here, and the file was edited by hand in a different way
    unmerged    git stopped in a merge, rebase, cherry-pick or stash; the sides are in its index
    marked      conflict markers in the file, but no unmerged entry in the index
    committed   conflict markers in HEAD's own text
    overruled   a merge dropped one side's change of a field

Git overrules with `-X ours` or `-X theirs`, and people do so by hand. That blocks nothing: it is reported with the
value of each side and can be reverted. A squash has only one parent, so this module cannot see what it lost;
`git.reconcile` finds that.

Resolving the first two and the last two makes a change that waits to be published. For the others the file is written
and only that path is `git add`ed, because the user named it: then git can continue. `conflict_sides` compares the
texts.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.errors import BadInput, BrokenEntry, GitFailed, PublishRefused
from holdfast.git import branch_lines, conflict_sides, tracked_files, visible_entries
from holdfast.git.clone import Clone
from holdfast.git.conflict_sides import ConflictSide, EntryConflict, FieldClash, MergeStages
from holdfast.git.repo import Repo, raw_changes
from holdfast.git.visible_entries import Sighting
from holdfast.model import task as rules
from holdfast.model.event import EventDraft
from holdfast.model.ids import pick
from holdfast.store import fsio, pending_changes, task_files
from holdfast.store import layout as paths
from holdfast.store.pending_changes import PendingChange
from holdfast.values import replace

MAX_MERGES = 50  # a guess: weeks of work for most projects; each merge costs three or more git processes
FOLDERS = (paths.TASKS, paths.LINKS, paths.MEMORY)


def overruled(clone: Clone, *, since: str | None, limit: int = MAX_MERGES) -> list[EntryConflict]:
    """Returns what the merges after a commit overruled, newest first; without a commit, what the last merges did.

    Leaves out what somebody decided later, with `resolve` or by changing the field again.
    """
    found: dict[str, EntryConflict] = {}
    for merge, first, others in _merges(clone.repo, since, limit):
        for other in others:
            for conflict in _of_merge(clone.repo, merge, first, other):
                found.setdefault(conflict.path, conflict)
    if not found:
        return []
    decided = _decided(clone, {conflict.id for conflict in found.values()})
    texts = {c.path: c.stands for c in found.values()}
    blobs = {p: clone.repo.hash_blob(text.encode("utf-8")) if text is not None else "None" for p, text in texts.items()}
    left = [c for c in found.values() if (c.id, blobs[c.path]) not in decided]
    folders = {paths.MEMORY if c.is_memory else c.path.rsplit("/", 1)[0] for c in left}
    now = {sighting.path: sighting.text for folder in folders for sighting in clone.entries(folder)}
    return [still for c in left if (still := _still(c, now.get(c.path))) is not None]


def _still(conflict: EntryConflict, now: str | None) -> EntryConflict | None:
    """Returns the conflict with the fields that are still as the merge left them; None if there are none."""
    if conflict.stands is None or now is None:
        return conflict if conflict.stands == now else None
    try:
        fields = conflict_sides.parts(conflict.path, now)
    except BrokenEntry:
        return None
    left = tuple(f for f in conflict.fields if f.name == conflict_sides.WHOLE or fields.get(f.name) == f.stands)
    return replace(conflict, fields=left, stands=now) if left else None


def _merges(repo: Repo, since: str | None, limit: int) -> Iterator[tuple[str, str, list[str]]]:
    """Yields merge commits as (commit, first parent, other parents)."""
    if repo.head().oid is None:
        return
    span = f"{since}..HEAD" if since else "HEAD"
    done = repo.attempt("rev-list", "--merges", "--parents", f"--max-count={limit}", span, "--")
    rows = done.stdout.decode("ascii").splitlines() if done.returncode == 0 else []
    for merge, first, *others in map(str.split, rows):
        yield merge, first, others


def _of_merge(repo: Repo, merge: str, first: str, other: str) -> Iterator[EntryConflict]:
    base = repo.text("merge-base", first, other, ok=(0, 1, 128)).split("\n")[0]
    if not base:
        return
    ours = _changed(repo, base, first)
    theirs = _changed(repo, base, other) if ours else {}
    both = sorted(path for path in ours.keys() & theirs.keys() if ours[path][1] != theirs[path][1])
    made = repo.blobs_at(merge, both)
    wanted = [oid for path in both for oid in (*ours[path], theirs[path][1], made.get(path))]
    texts = {oid: data.decode("utf-8", "replace") for oid, data in repo.blobs(filter(None, wanted)).items()}
    for path in both:
        oids = (ours[path][0], ours[path][1], theirs[path][1], made.get(path))
        before, mine, its, stands = (texts.get(oid or "") for oid in oids)
        fields = _overruled_fields(path, before, mine, its, stands)
        if fields:
            whose = [conflict_sides.described(repo, f"{base}..{tip}", path) for tip in (first, other)]
            sides = ConflictSide(mine, whose[0]), ConflictSide(its, whose[1])
            name = conflict_sides.identity(path, stands, mine, its)
            yield EntryConflict(path, name, "overruled", before, *sides, fields, stands=stands)


def _changed(repo: Repo, old: str, new: str) -> dict[str, tuple[str | None, str | None]]:
    """Returns the blobs before and after of each entry that differs between two commits."""
    shape = ("-r", "--no-renames", "--raw", "--no-abbrev", "-z")
    rows = raw_changes(repo.run("--literal-pathspecs", "diff-tree", *shape, old, new, "--", *FOLDERS))
    return {path: (before, after) for _, path, before, after in rows if path.endswith(".md")}


def _overruled_fields(
    path: str, base: str | None, ours: str | None, theirs: str | None, stands: str | None
) -> tuple[FieldClash, ...]:
    """Returns the fields that a side changed and that have another value in the merged text."""
    if None in (ours, theirs, stands):
        kept = stands if stands in (ours, theirs) else None
        return (FieldClash(conflict_sides.WHOLE, base, ours, theirs, kept),) if ours != theirs else ()
    try:
        texts = (base, ours, theirs, stands)
        before, mine, other, now = (conflict_sides.parts(path, text) if text else {} for text in texts)
    except BrokenEntry:
        return ()  # committed conflict markers are a separate kind of conflict
    names = dict.fromkeys([*before, *mine, *other, *now])
    fields = (FieldClash(n, before.get(n), mine.get(n), other.get(n), now.get(n)) for n in names)
    return tuple(field for field in fields if _is_overruled(field))


def _is_overruled(field: FieldClash) -> bool:
    if field.name in rules.LISTS or field.name in ("tags", "applies_to", "supersedes"):
        return bool(_lost(field, field.ours) or _lost(field, field.theirs))
    return any(side not in (field.base, field.stands) for side in (field.ours, field.theirs))


def _lost(field: FieldClash, side: Any) -> bool:
    """Returns whether an item that a side added to a list is missing, or one that it removed is there."""
    base, side, stands = set(field.base or ()), set(side or ()), set(field.stands or ())
    return not side - base <= stands or bool((base - side) & stands)


def _decided(clone: Clone, names: set[str]) -> set[tuple[str, str]]:
    """Returns the texts (id, blob) that somebody chose with `resolve` in this clone."""
    events = clone.find_events("own", kinds=("task",), targets=names)
    bodies = ((event.target or "", clone.bodies.get(event.body) or {}) for event in events if event.body)
    return {(target, str(body.get("blob"))) for target, body in bodies if body.get("action") == "resolve"}


IN_THE_TREE = ("unmerged", "marked")  # kinds that are resolved by writing the file itself


def find(clone: Clone, *folders: str) -> list[EntryConflict]:
    """Returns every conflict below some folders that waits for a decision."""
    wanted = folders or FOLDERS
    found = {conflict.path: conflict for conflict in _unmerged(clone, wanted)}
    waiting = {change.path: change for change in clone.changes()}
    for folder in wanted:
        for sighting in clone.entries(folder):
            if sighting.path not in found and (conflict := _sighted(clone, sighting, waiting)):
                found[conflict.path] = conflict
    return sorted(found.values(), key=lambda conflict: conflict.path)


def named(clone: Clone, name: str) -> EntryConflict:
    """Returns the conflict of the entry that a person names; overruled changes are searched last."""
    found = {conflict.id: conflict for conflict in reversed(find(clone))}
    if name not in found:
        for conflict in overruled(clone, since=None):
            found.setdefault(conflict.id, conflict)
    return found[pick(name, found)]


def resolve(clone: Clone, conflict: EntryConflict, choices: Mapping[str, str]) -> str | None:
    """Resolves a conflict by choices for fields (`ours`, `theirs` or a value) and returns the new text.

    Without any choice, uses the merged text if there is one. None: the file is deleted.
    """
    text = settled(clone, conflict, choices)
    apply(clone, conflict, text)
    return text


def settled(clone: Clone, conflict: EntryConflict, choices: Mapping[str, str]) -> str | None:
    """Returns the text that results from the choices; stores nothing."""
    if conflict.is_memory:
        raise BadInput(
            f"{conflict.id} is a memory: to resolve its conflict is to approve it",
            hint=f"Write the text you want into {conflict.path}, then: holdfast review accept {conflict.id}",
        )
    return conflict_sides.settled(conflict, {name: clone.scan.text(choice) for name, choice in choices.items()})


def apply(clone: Clone, conflict: EntryConflict, text: str | None) -> None:
    """Writes the chosen text of an entry in conflict, and records the decision."""
    if conflict.kind in IN_THE_TREE:
        _write(clone, conflict, text)
    elif text is not None and conflict.kind in ("waiting", "edited"):
        _supersede(clone, conflict, text)
    else:
        clone.change(conflict.path, text)
    clone.record(_event(clone, conflict, text))


# Finding.


def _unmerged(clone: Clone, folders: Sequence[str]) -> list[EntryConflict]:
    found = {p: s for p, s in conflict_sides.stages(clone.repo, folders).items() if p.endswith(".md")}
    if not found:
        return []
    every = (blob for s in found.values() for blob in (s.base, s.ours, s.theirs) if blob)
    clone.repo.blobs(every)  # fills the cache with one git process
    known = conflict_sides.origins(clone.repo)
    return [_of_stages(clone, path, stages, known) for path, stages in found.items()]


def _of_stages(clone: Clone, path: str, stages: MergeStages, known: tuple[str, str] | None) -> EntryConflict:
    base, ours, theirs = (_text(clone.repo, blob) for blob in (stages.base, stages.ours, stages.theirs))
    text = _file(clone, path)
    marked = conflict_sides.split_markers(text) if text is not None else None
    called = known or ((marked.called_ours, marked.called_theirs) if marked else ("", ""))
    fields, merged = conflict_sides.compare(path, base, ours, theirs)
    if text is not None and marked is None and text not in (base, ours, theirs) and _is_readable(path, text):
        merged = text  # a person or git's rerere wrote it without markers
    mine, its = ConflictSide(ours, called[0] or "this side"), ConflictSide(theirs, called[1] or "the other side")
    return EntryConflict(path, conflict_sides.identity(path, ours, theirs), "unmerged", base, mine, its, fields, merged)


def _sighted(clone: Clone, sighting: Sighting, waiting: Mapping[str, PendingChange]) -> EntryConflict | None:
    edited = sighting.edited
    if edited is not None and edited != sighting.text and (marked := conflict_sides.split_markers(edited)):
        return _marked(clone, sighting.path, marked, "marked")
    change = waiting.get(sighting.path)  # None: another command has just published it
    if sighting.clash is not None:
        return _waiting(clone, sighting, change) if change else None
    if marked := conflict_sides.split_markers(sighting.text):
        return _marked(clone, sighting.path, marked, "marked" if sighting.origin == "edit" else "committed")
    if change and edited is not None and edited != sighting.text and task_files.reader(sighting.path) is not None:
        return _edited(clone, sighting, change, edited)
    return None


def _waiting(clone: Clone, sighting: Sighting, change: PendingChange) -> EntryConflict:
    base = _text(clone.repo, change.base)
    fields, merged = conflict_sides.compare(sighting.path, base, sighting.text, sighting.clash)
    theirs = ConflictSide(sighting.clash, conflict_sides.described(clone.repo, "HEAD", sighting.path))
    name = conflict_sides.identity(sighting.path, sighting.text, sighting.clash)
    ours = ConflictSide(sighting.text, _since(clone, change))
    return EntryConflict(sighting.path, name, "waiting", base, ours, theirs, fields, merged)


def _edited(clone: Clone, sighting: Sighting, change: PendingChange, edited: str) -> EntryConflict | None:
    """Returns the conflict between an edit by hand and a waiting change, if they differ and it was not staged."""
    known = visible_entries.read_staged(clone.repo).get(sighting.path)
    if known is not None and known.blob == clone.repo.hash_blob(edited.encode("utf-8")):
        return None
    base = edit_base(clone, sighting.path)
    fields, merged = conflict_sides.compare(sighting.path, base, sighting.text, edited)
    if merged is not None or not _is_readable(sighting.path, edited):
        return None
    ours, theirs = ConflictSide(sighting.text, _since(clone, change)), ConflictSide(edited, "your edit of the file")
    name = conflict_sides.identity(sighting.path, sighting.text)
    return EntryConflict(sighting.path, name, "edited", base, ours, theirs, fields)


def edit_base(clone: Clone, path: str) -> str | None:
    """Returns the text that an edit of a file started from: the text staged for it before, else HEAD's."""
    known = visible_entries.read_staged(clone.repo).get(path)
    if known is not None:
        for change in reversed([*pending_changes.published(clone.layout), *pending_changes.waiting(clone.layout)]):
            if change.path == path and change.blob == known.blob:
                return change.text
    return _text(clone.repo, clone.repo.blobs_at("HEAD", [path]).get(path))


def _marked(clone: Clone, path: str, marked: conflict_sides.MarkedText, kind: str) -> EntryConflict:
    base, where = marked.base, ""
    if kind == "committed":
        base, where = _before(clone, path, marked), f", in {conflict_sides.described(clone.repo, 'HEAD', path)}"
    fields, merged = conflict_sides.compare(path, base, marked.ours, marked.theirs, base_known=base is not None)
    ours = ConflictSide(marked.ours, (marked.called_ours or "the upper side") + where)
    theirs = ConflictSide(marked.theirs, (marked.called_theirs or "the lower side") + where)
    name = conflict_sides.identity(path, marked.ours, marked.theirs)
    return EntryConflict(path, name, kind, base, ours, theirs, fields, merged)


def _before(clone: Clone, path: str, marked: conflict_sides.MarkedText) -> str | None:
    """Returns the base of a committed file with markers, if the markers or the merge show it."""
    if marked.base is not None:
        return marked.base
    repo = clone.repo
    parents = repo.text("log", "-1", "--full-history", "-m", "--first-parent", "--format=%P", "HEAD", "--", path)
    if len(parents.split()) != 2:
        return None
    base = repo.text("merge-base", *parents.split(), ok=(0, 1, 128)).split("\n")[0]
    return _text(repo, repo.blobs_at(base, [path]).get(path) if base else None)


def _since(clone: Clone, change: PendingChange) -> str:
    """Names the branch and time of a waiting change."""
    line = branch_lines.known(*clone.stores).get(change.line)
    branch = branch_lines.called(line.refs[-1]) if line and line.refs else "this branch"
    return f"{branch}, waiting to be published since {change.ts[:16].replace('T', ' ')}"


def _text(repo: Repo, blob: str | None) -> str | None:
    data = repo.blobs([blob]).get(blob) if blob else None
    return None if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n")


def _file(clone: Clone, path: str) -> str | None:
    """Returns the work tree's text; None if there is no readable file."""
    data = tracked_files.here(clone.repo, path)
    return None if data is None else data.decode("utf-8", "replace").replace("\r\n", "\n")


def _is_readable(path: str, text: str) -> bool:
    try:
        conflict_sides.parts(path, text)
    except BrokenEntry:
        return False
    return True


# Resolving.


def _supersede(clone: Clone, conflict: EntryConflict, text: str) -> None:
    """Replaces the waiting changes with one based on HEAD's text: the person who chose has seen both sides."""
    path, line, head = conflict.path, clone.line(), clone.repo.head()
    base = clone.repo.blobs_at("HEAD", [path]).get(path)
    blob = clone.repo.hash_blob(text.encode("utf-8"))
    if conflict.kind == "edited" and conflict.theirs.text is not None:
        edit = clone.repo.hash_blob(conflict.theirs.text.encode("utf-8"))
        visible_entries.remember_staged(clone.repo, line.id, [(path, edit)])  # `publish` may overwrite this edit
    if blob == base:
        clone.give_up(path)
        return
    earlier = clone.waiting_for(path)
    pending_changes.add(clone.layout, PendingChange(path, base, blob, line.id, head.oid, clone.now(), text))
    clone.retire(earlier)


def _write(clone: Clone, conflict: EntryConflict, text: str | None) -> None:
    """Writes the file and adds it to git's index; if git refuses, restores the file."""
    full = fsio.inside(clone.repo.top, conflict.path)
    before = fsio.find(full, limit=visible_entries.MAX_ENTRY)
    _keep_aside(clone, conflict, before, text)
    try:
        if text is None:
            clone.repo.patiently("--literal-pathspecs", "rm", "-q", "-f", "--sparse", "--", conflict.path)
            return
        fsio.make_dirs(os.path.dirname(full), mode=0o755)
        fsio.replace(full, text.encode("utf-8"), mode=0o644)
        visible_entries.refuse_conversion(clone.repo, [conflict.path])
        options = ("-c", "core.safecrlf=false", "--literal-pathspecs")
        clone.repo.patiently(*options, "add", "-f", "--sparse", "--", conflict.path)
    except (GitFailed, PublishRefused):
        if before is not None:
            fsio.replace(full, before, mode=0o644)
        raise


def _keep_aside(clone: Clone, conflict: EntryConflict, data: bytes | None, text: str | None) -> None:
    """Saves a copy of a file that somebody edited after git wrote its markers, before another text replaces it."""
    if data is None:
        return
    old = data.decode("utf-8", "replace").replace("\r\n", "\n")
    marked = conflict_sides.split_markers(old)
    known = (conflict.base, conflict.ours.text, conflict.theirs.text, text)
    both = (marked.ours, marked.theirs) if marked else ()
    if old in known or (both and all(_has_nothing_new(conflict, side) for side in both)):
        return
    fsio.make_dirs(clone.layout.kept)
    name = f"{clone.now()[:19].replace(':', '')}-{os.path.basename(conflict.path)}"
    fsio.replace(os.path.join(clone.layout.kept, name), clone.scan.text(old).encode("utf-8"))
    clone.notes.append(f"the former text of {conflict.path} was saved as {os.path.join(clone.layout.kept, name)}")


def _has_nothing_new(conflict: EntryConflict, side: str) -> bool:
    """Returns whether each field's value is in one of the three texts: then git merged it, not a person."""
    path, texts = conflict.path, (conflict.base, conflict.ours.text, conflict.theirs.text)
    if side in texts:
        return True
    try:
        known = [conflict_sides.parts(path, text) for text in texts if text]
        fields = conflict_sides.parts(path, side)
    except BrokenEntry:
        return False
    return all(any(other.get(name) == value for other in known) for name, value in fields.items())


def _event(clone: Clone, conflict: EntryConflict, text: str | None) -> EventDraft:
    """Returns the event that records the choice."""
    fields = conflict_sides.parts(conflict.path, text) if text is not None else {}
    body = {
        "action": "resolve",
        "task": conflict.id,
        "statement": fields.get("title"),
        "status": fields.get("status"),
        "receipts": list(fields.get("evidence") or ()),
        "blob": clone.repo.hash_blob(text.encode("utf-8")) if text is not None else None,
        "reason": f"{conflict.kind}: {', '.join(clash.name for clash in conflict.fields) or 'merged'}",
    }
    known = {name: value for name, value in body.items() if value not in (None, [])}
    place = {name: fields.get(name) for name in ("layer", "systemic_scale")}
    return EventDraft("task", target=conflict.id, body=known, **place)
