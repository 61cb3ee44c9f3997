"""Edits by hand: a task or link file that somebody changed in the work tree is taken as their edit.

The text becomes a change that waits on this line, as it stands, with an event and a word about what it
changes. The file itself is never written. What cannot be taken is left as it is and said, with line and
reason: a broken file, an id that is somebody else's, a cycle, a secret. A deleted file hides its task here
and is said; nothing is recorded as deleted. While git is in the middle of something, nothing is taken.

What was taken is remembered with what `publish --stage` left (`git.staged`): it is no edit of another line
that git carries it to, and publish may write over it, because the store has it.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.errors import (
    BadInput,
    BrokenEntry,
    Busy,
    Cycle,
    HoldfastError,
    NotStored,
    PublishRefused,
    ReadOnlyStore,
    UnsafePath,
)
from holdfast.git import edited, noticed, staged, visible
from holdfast.git.clone import Clone
from holdfast.git.disputed import conflicts, sides
from holdfast.model.event import Draft
from holdfast.model.task import Link, Task
from holdfast.store import fsio, pending, tasks
from holdfast.store import layout as paths
from holdfast.store.pending import Change
from holdfast.values import field, frozen
from holdfast.work import board as boards
from holdfast.work import elsewhere
from holdfast.work.ground import FOLDERS, Everything, Ground, head_texts, node_of

MOST_NOTES = 20
RECORD = "edits"


@frozen
class Taken:
    """An edit that was taken: what it changed, a few words a field; none: only its form."""

    id: str
    path: str
    diff: tuple[str, ...]
    is_new: bool = False


@frozen
class _Look:
    """What differs from HEAD and nobody has taken yet."""

    edited: dict[str, str | HoldfastError] = field(default_factory=dict)  # the text, or why there is none
    gone: tuple[str, ...] = ()
    undone: tuple[str, ...] = ()  # taken before, and now as HEAD has it


def take(clone: Clone) -> list[Taken]:
    """Take what was edited by hand since the last command; the clone's notes say what and what not."""
    if clone.reading or clone.layout.private != clone.private.private or clone.repo.operation():
        return []
    try:
        clone.repo.refuse_in_hook_of_publish()
        look = _look(clone)
        _say_gone(clone, look.gone)
        if not look.edited and not look.undone:
            return []
        with fsio.locked(clone.layout.lock, wait=edited.PATIENCE):
            look = _look(clone)
            _give_back(clone, look.undone)
            return _take(clone, look.edited)
    except (Busy, PublishRefused):  # a publish is writing these very files
        return []
    except (NotStored, ReadOnlyStore) as error:  # a full disk must not stop whoever only reads
        clone.notes.append(f"edits by hand were not taken: {error}")
        return []


# Looking.


def _look(clone: Clone) -> _Look:
    differs = {path: code for path, code in clone.repo.status(*FOLDERS).items() if path.endswith(".md")}
    known = staged.read(clone.repo)
    if any(path.startswith(FOLDERS) and path not in differs for path in known):
        staged.remember(clone.repo, clone.line().id, ())  # as HEAD has it: an edit to the same text is new
    taken = noticed.read(clone, RECORD)
    if not differs and not taken:
        return _Look()
    waiting = {change.path: change for change in clone.changes()}
    undone = _undone(clone, {p: row for p, row in taken.items() if p not in differs}, waiting)
    found: dict[str, str | HoldfastError] = {}
    gone = []
    for path, code in sorted(differs.items()):
        if "U" in code or code in ("AA", "DD"):
            continue  # git left it unmerged: a conflict, no edit
        try:
            text = _read(clone, path)
        except FileNotFoundError:
            gone.append(path)
            continue
        except HoldfastError as error:
            found[path] = error
            continue
        if _blob(clone, text) not in _taken_blobs(path, known, waiting):
            found[path] = text
    here = head_texts(clone, [*found, *gone])
    left = {path: text for path, text in found.items() if text != here.get(path)}
    hidden = tuple(path for path in gone if path in here and path not in waiting)  # else it is seen
    return _Look(left, hidden, undone)


def _undone(clone: Clone, clean: Mapping[str, list[Any]], waiting: Mapping[str, Change]) -> tuple[str, ...]:
    """The files that are HEAD's again while the edit taken from them, and nothing else, waits here.

    A file that is not there any more proves nothing: `git clean` must not take a task off the board.
    """
    line = clone.line().id if clean else ""
    mine = {path: row[0] for path, row in clean.items() if row[1:] == [line]}
    heads = clone.repo.blobs_at("HEAD", list(mine)) if mine else {}
    found = [
        path
        for path, blob in sorted(mine.items())
        if path in waiting
        and (waiting[path].blob, waiting[path].line, waiting[path].base) == (blob, line, heads.get(path, ""))
        and os.path.isfile(clone.layout.in_tree(path))
    ]
    _forget(clone, mine.keys() - set(found))  # published, or changed again since
    return tuple(found)


def _forget(clone: Clone, settled: Collection[str]) -> None:
    if settled:
        rows = noticed.read(clone, RECORD)
        noticed.keep(clone, RECORD, {path: row for path, row in rows.items() if path not in settled})


def _give_back(clone: Clone, undone: tuple[str, ...]) -> None:
    """Who puts a file back as it was takes the edit back; the store keeps it."""
    texts = head_texts(clone, list(undone))
    for path in undone:
        node = node_of(path, texts.get(path, ""))
        clone.give_up(path)
        if node is not None:
            clone.record(event(node, "edit", _blob(clone, texts[path])))
            clone.notes.append(f"{node.id}: the edit by hand was undone in the file, and waits no longer")
    _forget(clone, undone)


def _read(clone: Clone, path: str) -> str:
    """A file's text, its lines ended as the store ends them."""
    pending.refuse_foreign(path)
    full = fsio.inside(clone.repo.top, path)
    try:
        data = fsio.read(full, limit=visible.MAX_ENTRY).replace(b"\r\n", b"\n")
    except PermissionError as error:
        raise UnsafePath(f"{path} cannot be read: {error.strerror}") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BrokenEntry(f"{path}:{line} holds bytes that are not UTF-8 text") from None


def _taken_blobs(
    path: str, known: Mapping[str, staged.Staged], waiting: Mapping[str, Change]
) -> tuple[str | None, ...]:
    row, change = known.get(path), waiting.get(path)
    return (row.blob if row else None, change.blob if change else None)


def _blob(clone: Clone, text: str) -> str:
    return clone.repo.hash_blob(text.encode("utf-8"))


def _say_gone(clone: Clone, gone: tuple[str, ...]) -> None:
    if gone:
        more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
        clone.notes.append(
            f"{gone[0]}{more} was deleted by hand: hidden here, not dropped; bring it back with "
            f"`git restore -- {gone[0]}`, or commit the deletion if it is meant"
        )


# Taking.


@frozen
class _Draft:
    """An edit that may be taken."""

    taken: Taken
    edit: str  # as the file has it
    text: str  # merged with what waited
    node: Task | Link


def _take(clone: Clone, edited: Mapping[str, str | HoldfastError]) -> list[Taken]:
    if not edited:
        return []
    ground, drafts = Ground(clone, edited), []
    for path, text in edited.items():
        try:
            if isinstance(text, HoldfastError):
                raise text
            drafts.append(_draft(clone, ground, path, text))
        except HoldfastError as error:
            clone.notes.append(f"your edit was not taken: {_with_path(path, str(error))}")
    _say_twins(clone, drafts)
    _store(clone, drafts)
    for draft in drafts[:MOST_NOTES]:
        clone.notes.append(said(draft.taken))
    if len(drafts) > MOST_NOTES:
        clone.notes.append(f"and {len(drafts) - MOST_NOTES:,} more edits by hand were taken")
    return [draft.taken for draft in drafts]


def _say_twins(clone: Clone, drafts: Sequence[_Draft]) -> None:
    """Warn of a new file whose id another branch keeps in a file of another name: they would not merge."""
    new = {d.node.id: d.taken.path for d in drafts if d.taken.is_new and isinstance(d.node, Task)}
    for name, path in elsewhere.paths_of(clone, paths.TASKS, new).items():
        if path != new[name]:
            branches = ", ".join(elsewhere.others_with(clone, name)[:3]) or "another branch"
            clone.notes.append(f"{name} is on {branches} too, in {path}; name yours so, or give it another id")


def _store(clone: Clone, drafts: Sequence[_Draft]) -> None:
    """Keep the edits: events first, so that a crash makes one too many rather than one too few."""
    if not drafts:
        return
    for draft in drafts:
        action = "add" if draft.taken.is_new else "edit"
        clone.record(event(draft.node, action, _blob(clone, draft.text)))
    clone.change_all({draft.taken.path: draft.text for draft in drafts})
    line = clone.line().id
    rows = {draft.taken.path: _blob(clone, draft.edit) for draft in drafts}
    staged.remember(clone.repo, line, rows.items())
    taken = {path: [blob, line] for path, blob in rows.items()}
    noticed.keep(clone, RECORD, {**noticed.read(clone, RECORD), **taken})


def said(taken: Taken, *, where: str = "by hand") -> str:
    """An edit in a sentence."""
    changes = ", ".join(taken.diff) or "only its form"
    return f"{taken.id} {'added' if taken.is_new else 'edited'} {where}: {changes}"


def _with_path(path: str, reason: str) -> str:
    return reason if path in reason else f"{path}: {reason}"


def _draft(clone: Clone, ground: Ground, path: str, edit: str) -> _Draft:
    """One edit as it can be taken; whatever speaks against it is raised."""
    node = _checked(clone, ground, path, edit)
    text = _with_what_waits(clone, ground, path, edit)
    if text != edit:
        node = _checked(clone, ground, path, text)
    _refuse_cycle(ground, path, node)
    before = ground.before.get(path)
    diff = sides.differences(path, before, text) if before is not None else (node.title,)
    ground.take(path, text, node, merged=text != edit)
    return _Draft(Taken(node.id, path, diff, is_new=before is None), edit, text, node)


def _checked(clone: Clone, ground: Ground, path: str, text: str) -> Task | Link:
    """What an edited text holds, if it may stand at this path."""
    read = tasks.reader(path)
    assert read is not None
    node = read(text, path)
    _refuse_secret(clone, path, text)
    if node.id in clone.erased():
        raise BadInput(f"{path} is {node.id}, which was erased")
    was = ground.was(path)
    if was is None:
        _refuse_twin(ground.everything(), path, node)
    elif was.id != node.id:
        raise BadInput(f"{path} was {was.id}; an id never changes")
    return node


def _refuse_twin(there: Everything, path: str, node: Task | Link) -> None:
    """Two files of one id, or of names that many disks take for one, cannot both be checked out."""
    other = there.ids.get(node.id.casefold(), path)
    if other != path:
        raise BadInput(f"{path} is {node.id}, which stands in {other}; a file's name never changes")
    same = there.names.get(path.casefold(), path)
    if same != path:
        raise BadInput(f"{path} and {same} differ only in case")


def _refuse_secret(clone: Clone, path: str, text: str) -> None:
    clean = clone.scan.text(text)
    if clean == text:
        return
    pairs = enumerate(zip(text.split("\n"), clean.split("\n"), strict=False), start=1)
    line = next((number for number, (old, new) in pairs if old != new), 1)
    raise BadInput(f"{path}:{line} holds what looks like a secret; take it out")


def _refuse_cycle(ground: Ground, path: str, node: Task | Link) -> None:
    was = ground.was(path)
    before = (was.needs, was.parent) if isinstance(was, Task) else ((), None)
    if isinstance(node, Task) and (node.needs, node.parent) != before and (loop := ground.ring(path, node)):
        raise Cycle(f"{path} would make a cycle: {' → '.join(loop)}")


def _with_what_waits(clone: Clone, ground: Ground, path: str, edit: str) -> str:
    """The edit, merged with a change that waits for the same file."""
    seen = ground.seen.get(path)
    if seen is None or seen.origin != "pending" or seen.clash is not None:
        return edit  # who edits a file in conflict by hand has seen both sides
    fields, merged = sides.compare(path, conflicts.edit_base(clone, path), seen.text, edit)
    if merged is None:
        names = ", ".join(clash.name for clash in fields)
        name = sides.identity(path, edit, seen.text)
        raise BadInput(f"{path} and a change that waits disagree about {names}; choose: holdfast task resolve {name}")
    return merged


def event(node: Task | Link, action: str, blob: str) -> Draft:
    """What the log says of an edit."""
    if isinstance(node, Task):
        return boards.event_of(node, action=action, blob=blob)
    word = "link" if action == "add" else action
    return Draft("task", target=node.id, body={"action": word, "statement": node.title, "blob": blob})
