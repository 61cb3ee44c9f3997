"""Edits by hand: a task or link file that somebody changed in the work tree is taken as their edit.

The text becomes a change that waits on this line, as it stands, with an event and a word about what it changes. The
file itself is never written. What cannot be taken is left as it is and said, with line and reason: a broken file, an
id that is somebody else's, a cycle, a secret. A deleted file hides its task here and is said; nothing is recorded as
deleted. While git is in the middle of something, nothing is taken.

What was taken is remembered with what `publish --stage` left (`git.visible_entries`): it is no edit of another line
that git carries it to, and publish may write over it, because the store has it.
"""

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from holdfast.errors import BadInput, Busy, Cycle, HoldfastError, NotStored, PublishRefused, ReadOnlyStore, UnsafePath
from holdfast.git import conflict_sides, merge_conflicts, view_edits, visible_entries
from holdfast.git.clone import Clone
from holdfast.model.task import Link, Task
from holdfast.store import fsio, pending_changes, task_files
from holdfast.store import layout as paths
from holdfast.store.pending_changes import PendingChange
from holdfast.values import frozen
from holdfast.work import task_board, task_graph

FOLDERS = (paths.TASKS, paths.LINKS)


class BeforeEdits:
    """What stood here before the edits; it grows as they are taken.

    A new value for a field costs a look at its own file; only a new name or a new edge asks for all the rest.
    """

    def __init__(self, clone: Clone, edited: Mapping[str, str | HoldfastError]) -> None:
        self._clone, self._edited = clone, edited
        waiting = {change.path for change in clone.changes()}
        self.seen = task_board.sightings(clone) if not waiting.isdisjoint(edited) else {}
        pending_texts = {p: s.text for p, s in self.seen.items() if p in edited and s.origin == "pending"}
        self.before = head_texts(clone, list(edited)) | pending_texts  # path to text
        self.nodes = nodes_of(self.before)  # what each file held before, as far as it could be read
        self._all: AllNodes | None = None
        self._no_ring: bool | None = None

    def everything(self) -> "AllNodes":
        """Every task and link that stood here."""
        if self._all is None:
            untouched = {s.path: s.text for s in task_board.sightings(self._clone).values() if s.origin != "edit"}
            # What was deleted by hand still has its id and its name.
            hidden = [path for path in self._clone.repo.status(*FOLDERS) if path not in untouched]
            texts = {**head_texts(self._clone, hidden), **untouched, **self.before}
            self._all = AllNodes({**nodes_of(texts), **self.nodes}, texts)
        return self._all

    def take(self, path: str, text: str, node: Task | Link, *, merged: bool) -> None:
        self.before[path], self.nodes[path] = text, node
        if self._all is not None:
            self._all.add(path, node)
        if merged:
            self._no_ring = False  # that was asked of the edits as they are

    def ring(self, path: str, task: Task) -> tuple[str, ...] | None:
        """The cycle that a task would make at this path."""
        others = {p: n for p, n in self.everything().nodes.items() if isinstance(n, Task)}
        if self._no_ring is None:
            texts = {p: text for p, text in self._edited.items() if isinstance(text, str)}
            after = {**others, **{p: n for p, n in nodes_of(texts).items() if isinstance(n, Task)}}
            self._no_ring = task_graph.TaskGraph(after.values()).cycle() is None
        if self._no_ring:
            return None
        return task_graph.TaskGraph(other for place, other in others.items() if place != path).cycle(task)


class AllNodes:
    """Tasks and links by path, and by what must not be there twice, however it is spelled."""

    def __init__(self, nodes: dict[str, Task | Link], texts: Mapping[str, str]) -> None:
        self.nodes = nodes
        self.ids = {node.id.casefold(): path for path, node in nodes.items()}
        self.names = {path.casefold(): path for path in texts}

    def add(self, path: str, node: Task | Link) -> None:
        self.nodes[path] = node
        self.ids[node.id.casefold()] = self.names[path.casefold()] = path


def head_texts(clone: Clone, wanted: list[str]) -> dict[str, str]:
    """HEAD's texts; a checkout with CRLF is the same text."""
    blobs = clone.repo.blobs_at("HEAD", wanted) if wanted else {}
    texts = clone.repo.blobs(blobs.values())
    plain = {blob: data.decode("utf-8", "replace").replace("\r\n", "\n") for blob, data in texts.items()}
    return {path: plain[blob] for path, blob in blobs.items() if blob in plain}


def nodes_of(texts: Mapping[str, str]) -> dict[str, Task | Link]:
    return {path: node for path, text in texts.items() if (node := task_board.node_of(path, text)) is not None}


MOST_NOTES = 20  # a guess: more is a generated change
RECORD = "edits"


@frozen
class TakenEdit:
    """An edit that was taken: what it changed, a few words a field; none: only its form."""

    id: str
    path: str
    diff: tuple[str, ...]
    is_new: bool = False


def take(clone: Clone) -> list[TakenEdit]:
    """Take what was edited by hand since the last command; the clone's notes say what and what not."""
    if clone.reading or clone.layout.private != clone.private.private or clone.repo.operation():
        return []
    try:
        clone.repo.refuse_in_hook_of_publish()
        edited, gone, undone = _look(clone)
        if gone:
            more = f" and {len(gone) - 1:,} more" if len(gone) > 1 else ""
            clone.notes.append(
                f"{gone[0]}{more} was deleted by hand: hidden here, not dropped; bring it back with "
                f"`git restore -- {gone[0]}`, or commit the deletion if it is meant"
            )
        if not edited and not undone:
            return []
        with fsio.locked(clone.layout.lock, wait=view_edits.PATIENCE):
            edited, _, undone = _look(clone)
            _give_back(clone, undone)
            return _take(clone, edited)
    except (Busy, PublishRefused):  # a publish is writing these very files
        return []
    except (NotStored, ReadOnlyStore) as error:  # a full disk must not stop whoever only reads
        clone.notes.append(f"edits by hand were not taken: {error}")
        return []


def has_taken(clone: Clone) -> bool:
    """Whether edits that were taken still differ from HEAD: the next command looks at them again."""
    return bool(view_edits.read_record(clone, RECORD))


# Looking.


def _look(clone: Clone) -> tuple[dict[str, str | HoldfastError], list[str], list[str]]:
    """What differs from HEAD and nobody has taken yet: edited files, each with its text or why there is none; files
    that are gone; and files that were taken before and are now as HEAD has them.
    """
    differs = {path: code for path, code in clone.repo.status(*FOLDERS).items() if path.endswith(".md")}
    known = visible_entries.read_staged(clone.repo)
    if any(path.startswith(FOLDERS) and path not in differs for path in known):
        # As HEAD has it: an edit to the same text is new.
        visible_entries.remember_staged(clone.repo, clone.line().id, ())
    taken = view_edits.read_record(clone, RECORD)
    if not differs and not taken:
        return {}, [], []
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
        row, change = known.get(path), waiting.get(path)
        if _blob(clone, text) not in (row.blob if row else None, change.blob if change else None):
            found[path] = text
    here = head_texts(clone, [*found, *gone])
    left = {path: text for path, text in found.items() if text != here.get(path)}
    hidden = [path for path in gone if path in here and path not in waiting]  # else it is seen
    return left, hidden, undone


def _undone(clone: Clone, clean: Mapping[str, list[Any]], waiting: Mapping[str, PendingChange]) -> list[str]:
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
    return found


def _forget(clone: Clone, settled: Collection[str]) -> None:
    if settled:
        rows = view_edits.read_record(clone, RECORD)
        view_edits.keep_record(clone, RECORD, {path: row for path, row in rows.items() if path not in settled})


def _give_back(clone: Clone, undone: list[str]) -> None:
    """Who puts a file back as it was takes the edit back; the store keeps it."""
    texts = head_texts(clone, undone)
    for path in undone:
        node = task_board.node_of(path, texts.get(path, ""))
        clone.give_up(path)
        if node is not None:
            clone.record(task_board.event_of(node, action="edit", blob=_blob(clone, texts[path])))
            clone.notes.append(f"{node.id}: the edit by hand was undone in the file, and waits no longer")
    _forget(clone, undone)


def _read(clone: Clone, path: str) -> str:
    """A file's text, its lines ended as the store ends them."""
    pending_changes.refuse_foreign(path)
    full = fsio.inside(clone.repo.top, path)
    try:
        data = fsio.read(full, limit=visible_entries.MAX_ENTRY).replace(b"\r\n", b"\n")
    except PermissionError as error:
        hint = "Give yourself the right to read it: chmod u+r."
        raise UnsafePath(f"{path} cannot be read: {error.strerror}", hint=hint) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{path}:{line} holds bytes that are not UTF-8 text") from None


def _blob(clone: Clone, text: str) -> str:
    return clone.repo.hash_blob(text.encode("utf-8"))


# Taking.


@frozen
class _Draft:
    """An edit that may be taken."""

    taken: TakenEdit
    edit: str  # as the file has it
    text: str  # merged with what waited
    node: Task | Link


def _take(clone: Clone, edited: Mapping[str, str | HoldfastError]) -> list[TakenEdit]:
    ground, drafts = BeforeEdits(clone, edited), []
    for path, text in edited.items():
        try:
            if isinstance(text, HoldfastError):
                raise text
            drafts.append(_draft(clone, ground, path, text))
        except HoldfastError as error:
            reason = str(error) if path in str(error) else f"{path}: {error}"
            clone.notes.append(f"your edit was not taken: {reason}")
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
    for name, path in task_board.paths_of(clone, paths.TASKS, new).items():
        if path != new[name]:
            branches = ", ".join(task_board.others_with(clone, name)[:3]) or "another branch"
            clone.notes.append(f"{name} is on {branches} too, in {path}; name yours so, or give it another id")


def _store(clone: Clone, drafts: Sequence[_Draft]) -> None:
    """Keep the edits: events first, so that a crash makes one too many rather than one too few."""
    if not drafts:
        return
    for draft in drafts:
        action = "add" if draft.taken.is_new else "edit"
        clone.record(task_board.event_of(draft.node, action=action, blob=_blob(clone, draft.text)))
    clone.change_all({draft.taken.path: draft.text for draft in drafts})
    line = clone.line().id
    rows = {draft.taken.path: _blob(clone, draft.edit) for draft in drafts}
    visible_entries.remember_staged(clone.repo, line, rows.items())
    taken = {path: [blob, line] for path, blob in rows.items()}
    view_edits.keep_record(clone, RECORD, {**view_edits.read_record(clone, RECORD), **taken})


def said(taken: TakenEdit, *, where: str = "by hand") -> str:
    """An edit in a sentence."""
    changes = ", ".join(taken.diff) or "only its form"
    return f"{taken.id} {'added' if taken.is_new else 'edited'} {where}: {changes}"


def _draft(clone: Clone, ground: BeforeEdits, path: str, edit: str) -> _Draft:
    """One edit as it can be taken; whatever speaks against it is raised."""
    node = _checked(clone, ground, path, edit)
    text = _with_what_waits(clone, ground, path, edit)
    if text != edit:
        node = _checked(clone, ground, path, text)
    was = ground.nodes.get(path)
    edges = (was.needs, was.parent) if isinstance(was, Task) else ((), None)
    if isinstance(node, Task) and (node.needs, node.parent) != edges and (loop := ground.ring(path, node)):
        raise Cycle(f"{path} would make a cycle: {' → '.join(loop)}")
    before = ground.before.get(path)
    diff = conflict_sides.differences(path, before, text) if before is not None else (node.title,)
    ground.take(path, text, node, merged=text != edit)
    return _Draft(TakenEdit(node.id, path, diff, is_new=before is None), edit, text, node)


def _checked(clone: Clone, ground: BeforeEdits, path: str, text: str) -> Task | Link:
    """What an edited text holds, if it may stand at this path."""
    read = task_files.reader(path)
    assert read is not None
    node = read(text, path)
    if (clean := clone.scan.text(text)) != text:
        pairs = enumerate(zip(text.split("\n"), clean.split("\n"), strict=False), start=1)
        line = next((number for number, (old, new) in pairs if old != new), 1)
        raise BadInput(f"{path}:{line} holds what looks like a secret; take it out")
    if node.id in clone.erased():
        raise BadInput(f"{path} is {node.id}, which was erased")
    was = ground.nodes.get(path)
    if was is None:  # two files of one id, or of names that many disks take for one, cannot both be checked out
        there = ground.everything()
        if (other := there.ids.get(node.id.casefold(), path)) != path:
            raise BadInput(f"{path} is {node.id}, which stands in {other}; a file's name never changes")
        if (same := there.names.get(path.casefold(), path)) != path:
            raise BadInput(f"{path} and {same} differ only in case")
    elif was.id != node.id:
        raise BadInput(f"{path} was {was.id}; an id never changes")
    return node


def _with_what_waits(clone: Clone, ground: BeforeEdits, path: str, edit: str) -> str:
    """The edit, merged with a change that waits for the same file."""
    seen = ground.seen.get(path)
    if seen is None or seen.origin != "pending" or seen.clash is not None:
        return edit  # who edits a file in conflict by hand has seen both sides
    fields, merged = conflict_sides.compare(path, merge_conflicts.edit_base(clone, path), seen.text, edit)
    if merged is None:
        names = ", ".join(clash.name for clash in fields)
        name = conflict_sides.identity(path, edit, seen.text)
        raise BadInput(f"{path} and a change that waits disagree about {names}; choose: holdfast task resolve {name}")
    return merged
