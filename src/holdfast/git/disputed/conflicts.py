"""Conflicts: one entry of which two sides say different things, found wherever git left them, and settled.

    waiting     a change waits here, and the branch's history changed the same fields
    edited      a change waits here, and the file was edited by hand to say something else
    unmerged    git stopped in a merge, rebase, cherry-pick or stash; the sides are in its index
    marked      conflict markers in the file, and nothing of it in the index
    committed   conflict markers in HEAD's own text
    overruled   a merge was made and one side's change is not in it (`git.disputed.overruled`)

Resolving the first two and the last two makes a change that waits to be published. For the others the file is
written and `git add`ed, exactly that path, because somebody asked for it by name: so git can go on.
"""

import os
from collections.abc import Iterable, Mapping, Sequence

from holdfast.errors import BadInput, BrokenEntry, GitFailed, PublishRefused, TooLarge, UnsafePath
from holdfast.git import lines, setup, staged, visible
from holdfast.git.clone import Clone
from holdfast.git.disputed import markers, sides, unmerged
from holdfast.git.disputed.overruled import overruled
from holdfast.git.disputed.sides import Conflict, FieldClash, Side
from holdfast.git.disputed.unmerged import Stages
from holdfast.git.visible import Sighting
from holdfast.model.event import Draft
from holdfast.model.ids import pick
from holdfast.store import fsio, pending, tasks
from holdfast.store import layout as paths
from holdfast.store.pending import Change

__all__ = ["Conflict", "FieldClash", "Side", "apply", "find", "named", "overruled", "resolve"]

FOLDERS = (paths.TASKS, paths.LINKS, paths.MEMORY)
IN_THE_TREE = ("unmerged", "marked")  # what is settled by writing the file itself


def find(clone: Clone, *folders: str, seen: Mapping[str, Iterable[Sighting]] | None = None) -> list[Conflict]:
    """Every conflict below some folders that waits for a decision; `seen` saves looking again."""
    asked = folders or FOLDERS
    found = {conflict.path: conflict for conflict in _unmerged(clone, asked)}
    waiting = {change.path: change for change in clone.changes()}
    for folder in asked:
        there = seen[folder] if seen and folder in seen else clone.entries(folder)
        for sighting in there:
            conflict = None if sighting.path in found else _sighted(clone, sighting, waiting)
            if conflict is not None:
                found[conflict.path] = conflict
    return sorted(found.values(), key=lambda conflict: conflict.path)


def named(clone: Clone, name: str) -> Conflict:
    """The conflict about the entry that a person means; what a merge overruled comes last."""
    found = {conflict.id: conflict for conflict in reversed(find(clone))}
    if name not in found:
        for conflict in overruled(clone, since=None):
            found.setdefault(conflict.id, conflict)
    return found[pick(name, found)]


def resolve(clone: Clone, conflict: Conflict, choices: Mapping[str, str]) -> str | None:
    """Settle a conflict by choices for fields (`ours`, `theirs` or a value); the text that stands now.

    Without any choice the merged text is taken, if there is one. None: the file goes.
    """
    text = settled(clone, conflict, choices)
    apply(clone, conflict, text)
    return text


def settled(clone: Clone, conflict: Conflict, choices: Mapping[str, str]) -> str | None:
    """The text that choices make of a conflict; nothing is stored."""
    if conflict.is_memory:
        raise BadInput(
            f"{conflict.id} is a memory; who settles it approves it too",
            hint=f"Write the text you want into {conflict.path}, then: holdfast review accept {conflict.id}",
        )
    return sides.settled(conflict, {name: clone.scan.text(choice) for name, choice in choices.items()})


def apply(clone: Clone, conflict: Conflict, text: str | None) -> None:
    """Let a text stand for an entry in conflict, and record who chose it."""
    if conflict.kind in IN_THE_TREE:
        _write(clone, conflict, text)
    elif text is None:
        clone.change(conflict.path, None)
    elif conflict.kind in ("waiting", "edited"):
        _supersede(clone, conflict, text)
    else:
        clone.change(conflict.path, text)
    clone.record(_event(clone, conflict, text))


# Finding.


def _unmerged(clone: Clone, folders: Sequence[str]) -> list[Conflict]:
    found = {p: s for p, s in unmerged.stages(clone.repo, folders).items() if p.endswith(".md")}
    if not found:
        return []
    texts = clone.repo.blobs(blob for stages in found.values() for blob in stages.blobs)
    known = unmerged.origins(clone.repo)
    return [_of_stages(clone, path, stages, texts, known) for path, stages in found.items()]


def _of_stages(
    clone: Clone, path: str, stages: Stages, texts: Mapping[str, bytes], known: tuple[str, str] | None
) -> Conflict:
    base, ours, theirs = (_text(texts, blob) for blob in (stages.base, stages.ours, stages.theirs))
    there = _file(clone, path)
    marked = markers.split(there) if there is not None else None
    called = known or ((marked.called_ours, marked.called_theirs) if marked else ("", ""))
    fields, merged = sides.compare(path, base, ours, theirs)
    if there is not None and marked is None and there not in (base, ours, theirs) and _reads(path, there):
        merged = there  # somebody, or git's memory of an earlier merge, wrote it without markers
    mine, its = Side(ours, called[0] or "this side"), Side(theirs, called[1] or "the other side")
    return Conflict(path, sides.identity(path, ours, theirs), "unmerged", base, mine, its, fields, merged)


def _sighted(clone: Clone, sighting: Sighting, waiting: Mapping[str, Change]) -> Conflict | None:
    edited = sighting.edited
    if edited is not None and edited != sighting.text and (marked := markers.split(edited)):
        return _marked(clone, sighting.path, marked, "marked")
    change = waiting.get(sighting.path)  # none: another command has published it meanwhile
    if sighting.clash is not None:
        return _waiting(clone, sighting, change) if change else None
    if marked := markers.split(sighting.text):
        return _marked(clone, sighting.path, marked, "marked" if sighting.origin == "edit" else "committed")
    if change and edited is not None and edited != sighting.text and tasks.reader(sighting.path) is not None:
        return _edited(clone, sighting, change, edited)
    return None


def _waiting(clone: Clone, sighting: Sighting, change: Change) -> Conflict:
    base = _text(clone.repo.blobs([change.base] if change.base else []), change.base)
    fields, merged = sides.compare(sighting.path, base, sighting.text, sighting.clash)
    theirs = Side(sighting.clash, unmerged.described(clone.repo, "HEAD", sighting.path))
    name = sides.identity(sighting.path, sighting.text, sighting.clash)
    ours = Side(sighting.text, _since(clone, change))
    return Conflict(sighting.path, name, "waiting", base, ours, theirs, fields, merged)


def _edited(clone: Clone, sighting: Sighting, change: Change, edited: str) -> Conflict | None:
    """A hand edit beside a change that waits, if they disagree and nobody has taken it."""
    known = staged.read(clone.repo).get(sighting.path)
    if known is not None and known.blob == clone.repo.hash_blob(edited.encode("utf-8")):
        return None
    base = edit_base(clone, sighting.path)
    fields, merged = sides.compare(sighting.path, base, sighting.text, edited)
    if merged is not None or not _reads(sighting.path, edited):
        return None
    ours, theirs = Side(sighting.text, _since(clone, change)), Side(edited, "your edit of the file")
    name = sides.identity(sighting.path, sighting.text)
    return Conflict(sighting.path, name, "edited", base, ours, theirs, fields)


def edit_base(clone: Clone, path: str) -> str | None:
    """What an edit of a file started from: what was taken from it before, else HEAD's text."""
    known = staged.read(clone.repo).get(path)
    if known is not None:
        for change in reversed([*pending.published(clone.layout), *pending.waiting(clone.layout)]):
            if change.path == path and change.blob == known.blob:
                return change.text
    blob = clone.repo.blobs_at("HEAD", [path]).get(path)
    return _text(clone.repo.blobs([blob] if blob else []), blob)


def _marked(clone: Clone, path: str, marked: markers.Marked, kind: str) -> Conflict:
    base, where = marked.base, ""
    if kind == "committed":
        base, where = _before(clone, path, marked), f", in {unmerged.described(clone.repo, 'HEAD', path)}"
    fields, merged = sides.compare(path, base, marked.ours, marked.theirs, base_known=base is not None)
    ours = Side(marked.ours, (marked.called_ours or "the upper side") + where)
    theirs = Side(marked.theirs, (marked.called_theirs or "the lower side") + where)
    name = sides.identity(path, marked.ours, marked.theirs)
    return Conflict(path, name, kind, base, ours, theirs, fields, merged)


def _before(clone: Clone, path: str, marked: markers.Marked) -> str | None:
    """What a committed file was before its sides parted, if the markers or the merge tell."""
    if marked.base is not None:
        return marked.base
    repo = clone.repo
    parents = repo.text("log", "-1", "--full-history", "-m", "--first-parent", "--format=%P", "HEAD", "--", path)
    if len(parents.split()) != 2:
        return None
    base = repo.text("merge-base", *parents.split(), ok=(0, 1, 128)).split("\n")[0]
    blob = repo.blobs_at(base, [path]).get(path) if base else None
    return _text(repo.blobs([blob] if blob else []), blob)


def _since(clone: Clone, change: Change) -> str:
    """Where a waiting change was made, in words."""
    line = lines.known(*clone.stores).get(change.line)
    branch = lines.called(line.refs[-1]) if line and line.refs else "this branch"
    return f"{branch}, waiting to be published since {change.ts[:16].replace('T', ' ')}"


def _text(texts: Mapping[str, bytes], blob: str | None) -> str | None:
    if blob is None or blob not in texts:
        return None
    return texts[blob].decode("utf-8", "replace").replace("\r\n", "\n")


def _file(clone: Clone, path: str) -> str | None:
    """The work tree's own text; None if there is none that could be read."""
    try:
        data = fsio.read(fsio.inside(clone.repo.top, path), limit=visible.MAX_ENTRY)
    except (OSError, UnsafePath, TooLarge):
        return None
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def _reads(path: str, text: str) -> bool:
    try:
        sides.parts(path, text)
    except BrokenEntry:
        return False
    return True


# Settling.


def _supersede(clone: Clone, conflict: Conflict, text: str) -> None:
    """A change that stands on HEAD's text takes the place of what waited: whoever chose has seen both."""
    path, line, head = conflict.path, clone.line(), clone.repo.head()
    base = clone.repo.blobs_at("HEAD", [path]).get(path)
    blob = clone.repo.hash_blob(text.encode("utf-8"))
    if conflict.kind == "edited" and conflict.theirs.text is not None:
        edit = clone.repo.hash_blob(conflict.theirs.text.encode("utf-8"))
        staged.remember(clone.repo, line.id, [(path, edit)])  # it was heard: publish may write over it
    if blob == base:
        clone.give_up(path)
        return
    earlier = [c for c in visible.waiting(clone.stores, line) if c.path == path and c.segment is None]
    pending.add(clone.layout, Change(path, base, blob, line.id, head.oid, clone.now(), text))
    for old in earlier:
        if old.line == line.id and old.published is None:
            pending.archive(clone.layout, old, commit=None, ts=clone.now())


def _write(clone: Clone, conflict: Conflict, text: str | None) -> None:
    """Write the file and tell git that this path is settled; if git refuses, the file is as it was."""
    full = fsio.inside(clone.repo.top, conflict.path)
    before = _bytes(full)
    _keep_aside(clone, conflict, before, text)
    try:
        if text is None:
            clone.repo.patiently("--literal-pathspecs", "rm", "-q", "-f", "--sparse", "--", conflict.path)
            return
        fsio.make_dirs(os.path.dirname(full), mode=0o755)
        fsio.replace(full, text.encode("utf-8"), mode=0o644)
        setup.refuse_conversion(clone.repo, [conflict.path])
        options = ("-c", "core.safecrlf=false", "--literal-pathspecs")
        clone.repo.patiently(*options, "add", "-f", "--sparse", "--", conflict.path)
    except (GitFailed, PublishRefused):
        if before is not None:
            fsio.replace(full, before, mode=0o644)
        raise


def _bytes(full: str) -> bytes | None:
    try:
        return fsio.read(full, limit=visible.MAX_ENTRY)
    except FileNotFoundError:
        return None


def _keep_aside(clone: Clone, conflict: Conflict, data: bytes | None, text: str | None) -> None:
    """A file that somebody worked on after git wrote its markers is kept before another text replaces it."""
    if data is None:
        return
    there = data.decode("utf-8", "replace").replace("\r\n", "\n")
    marked = markers.split(there)
    known = (conflict.base, conflict.ours.text, conflict.theirs.text, text)
    both = (marked.ours, marked.theirs) if marked else ()
    if there in known or (both and all(_says_nothing_new(conflict, side) for side in both)):
        return
    fsio.make_dirs(clone.layout.kept)
    name = f"{clone.now()[:19].replace(':', '')}-{os.path.basename(conflict.path)}"
    fsio.replace(os.path.join(clone.layout.kept, name), clone.scan.text(there).encode("utf-8"))
    clone.notes.append(f"what stood in {conflict.path} was kept in {os.path.join(clone.layout.kept, name)}")


def _says_nothing_new(conflict: Conflict, side: str) -> bool:
    """Whether each field is as one of the three texts has it: then git put it together, not a person."""
    path, texts = conflict.path, (conflict.base, conflict.ours.text, conflict.theirs.text)
    if side in texts:
        return True
    try:
        known = [sides.parts(path, text) for text in texts if text]
        said = sides.parts(path, side)
    except BrokenEntry:
        return False
    return all(any(other.get(name) == value for other in known) for name, value in said.items())


def _event(clone: Clone, conflict: Conflict, text: str | None) -> Draft:
    """The event that says what was chosen."""
    said = sides.parts(conflict.path, text) if text is not None else {}
    body = {
        "action": "resolve",
        "task": conflict.id,
        "statement": said.get("title"),
        "status": said.get("status"),
        "receipts": list(said.get("evidence") or ()),
        "blob": clone.repo.hash_blob(text.encode("utf-8")) if text is not None else None,
        "reason": f"{conflict.kind}: {', '.join(clash.name for clash in conflict.fields) or 'merged'}",
    }
    return Draft(
        "task",
        target=conflict.id,
        layer=said.get("layer"),
        systemic_scale=said.get("systemic_scale"),
        body={name: value for name, value in body.items() if value not in (None, [])},
    )
