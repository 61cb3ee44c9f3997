"""Reset: sessions, tasks or all caches go, and can be had back.

Sessions and claims of this clone move to the trash. Tasks and links are tracked files: for each one a
deletion waits on this line, as if somebody had deleted it by hand; its text stays in history, in the store
and, exactly as it was visible here, in the trash. Memories, the log, runs and candidates are not touched.
"""

import os
from collections.abc import Iterable, Sequence

from holdfast.errors import BadInput, BrokenEntry, NotFound, ReadOnlyStore, TooLarge, UnsafePath
from holdfast.git import lines, visible
from holdfast.git.clone import Clone
from holdfast.git.visible import Sighting
from holdfast.model.event import Draft
from holdfast.store import fsio, pending, sessions, tasks, trash
from holdfast.store import layout as paths
from holdfast.store.layout import Layout
from holdfast.store.pending import Change
from holdfast.store.trash import Reset, Text
from holdfast.values import frozen
from holdfast.work import board

_TAKEN_BACK = "taken back"


@frozen
class Done:
    """What a reset took away."""

    id: str  # by which the trash knows it
    what: str
    sessions: int
    claims: int
    tasks: int
    links: int
    more: int  # other files: statistics, kept texts, views


@frozen
class Undone:
    """What came back, and what could not because something else stands there by now."""

    id: str
    what: str
    sessions: int
    claims: int
    tasks: int
    links: int
    more: int
    left: tuple[str, ...]


def reset(clone: Clone, what: str) -> Done:
    """Take sessions, tasks or all caches away, durable on return; killed in between, the next one goes on."""
    if what not in trash.WHATS:
        raise BadInput(f"{what!r} cannot be reset", hint=f"Name one of {', '.join(trash.WHATS)}.")
    _refuse_sandbox(clone)
    with fsio.locked(clone.layout.lock, wait=60.0):
        layout, line, head = clone.layout, clone.line(), clone.repo.head()
        under_way = trash.begin(layout, what, ts=clone.now(), line=line.id, branch=head.branch)
        gone = _take_nodes(clone, under_way) if what in ("tasks", "all") else []
        claims = trash.take(layout, under_way, _files(layout, layout.claims))
        moved = _take_sessions(layout, under_way) if what in ("sessions", "all") else 0
        more = _take_rest(clone, under_way) if what == "all" else 0
        trash.finish(layout, under_way)
        trash.tidy(layout)
    in_links = sum(text.path.startswith(paths.LINKS + "/") for text in gone)
    return Done(under_way.name, what, moved, claims, len(gone) - in_links, in_links, more)


def undo(clone: Clone) -> Undone:
    """Bring back what the last reset took away, as far as nothing else has taken its place."""
    _refuse_sandbox(clone)
    with fsio.locked(clone.layout.lock, wait=60.0):
        last = _last(clone)
        kept = trash.texts(clone.layout, last)
        back, left = _put_nodes_back(clone, kept)
        with sessions.locked(clone.layout):
            files, taken = trash.put_back(clone.layout, last)
        trash.let_go(clone.layout, last)  # what could not go back stays in the trash until it is pruned
        trash.tidy(clone.layout)
    in_links = sum(text.path.startswith(paths.LINKS + "/") for text in back)
    moved = sum(name.startswith("sessions/") for name in files)
    claims = sum(name.startswith("claims/") for name in files)
    return Undone(
        id=last.name,
        what=last.what,
        sessions=moved,
        claims=claims,
        tasks=len(back) - in_links,
        links=in_links,
        more=len(files) - moved - claims,
        left=(*left, *taken),
    )


def _refuse_sandbox(clone: Clone) -> None:
    clone.repo.refuse_in_hook_of_publish()
    if clone.layout.private != clone.private.private:
        raise ReadOnlyStore("inside a sandbox only part of the store can be seen", hint="Run it outside the sandbox.")


def _last(clone: Clone) -> Reset:
    """The reset to take back; tasks go back to the line they were taken from."""
    known = [reset for reset in trash.every(clone.layout) if trash.holds_something(clone.layout, reset)]
    if not known:
        raise NotFound("there is no reset to take back", hint="`holdfast reset --help` says what can be.")
    last = known[-1]
    if trash.texts(clone.layout, last) and not _is_of_here(clone, last):
        raise BadInput(
            f"that reset took tasks off {last.branch or 'a detached HEAD'}",
            hint=f"Switch there first: git switch {last.branch}" if last.branch else "Check it out first.",
        )
    return last


def _is_of_here(clone: Clone, reset: Reset) -> bool:
    if clone.line().sees(reset.line, reset.ts):
        return True
    return reset.line not in lines.alive(clone.repo, *clone.stores)  # its branch is gone: anywhere will do


def _files(layout: Layout, folder: str) -> list[str]:
    """The records in a folder of the store, by their names in it; locks stay where they are."""
    names = [name for name in layout.listed(folder) if not name.endswith((".lock", ".tmp"))]
    return [f"{os.path.basename(folder)}/{name}" for name in names]


def _take_sessions(layout: Layout, under_way: Reset) -> int:
    with sessions.locked(layout):  # nobody notes a turn meanwhile
        mine = [name for name in _files(layout, layout.sessions) if "-SES-" in name]
        return trash.take(layout, under_way, mine)


def _take_rest(clone: Clone, under_way: Reset) -> int:
    layout = clone.layout
    names = [*_files(layout, layout.kept), *paths.STATISTICS]
    return trash.take(layout, under_way, names) + drop_views(layout)


def drop_views(layout: Layout) -> int:
    """Delete the rendered views of this work tree; they are rendered again when wanted."""
    gone = 0
    for folder, _, names in os.walk(layout.view()):
        for name in names:
            if name != ".gitignore":
                fsio.remove(os.path.join(folder, name))
                gone += 1
    return gone


def _take_nodes(clone: Clone, under_way: Reset) -> list[Text]:
    seen = [*clone.entries(paths.TASKS), *clone.entries(paths.LINKS)]
    waiting = _waiting(clone)
    found = [text for sighting in seen if (text := _as_text(sighting, waiting)) is not None]
    trash.keep_texts(clone.layout, under_way, found)  # before the first of them goes
    _delete(clone, found, waiting)
    return found


def _as_text(sighting: Sighting, waiting: dict[str, list[Change]]) -> Text | None:
    """A node as the trash keeps it; None if the file cannot be read: what nobody understands stays."""
    read = tasks.reader(sighting.path)
    try:
        node = read(sighting.text, sighting.path) if read else None
    except BrokenEntry:
        return None
    if node is None:
        return None
    changes = waiting.get(sighting.path, [])
    base = changes[-1].base if sighting.origin == "pending" and changes else None
    text = changes[-1].text if base and changes[-1].text is not None else sighting.text
    return Text(node.id, sighting.path, text, sighting.blob, sighting.origin, base)


def _waiting(clone: Clone) -> dict[str, list[Change]]:
    """What waits on this line for each path of a task or a link, oldest first."""
    found: dict[str, list[Change]] = {}
    for change in visible.waiting(clone.stores, clone.line()):
        if change.path.startswith((paths.TASKS + "/", paths.LINKS + "/")):
            found.setdefault(change.path, []).append(change)
    return found


def _delete(clone: Clone, texts: Sequence[Text], waiting: dict[str, list[Change]]) -> None:
    """Let a deletion wait for each path that HEAD has; what was never published just waits no longer.

    As `Clone.change` does it, but the store is read once, not once a task.
    """
    tree = _tree(clone)
    for text in texts:
        if text.path in tree:
            _wait(clone, text.path, base=tree[text.path], blob=None, text=None)
        _let_go(clone, waiting.get(text.path, ()))
        clone.record(_event(text, reason=None))
    _pass_by(clone, texts, waiting)


def _tree(clone: Clone) -> dict[str, str]:
    return clone.repo.tree("HEAD", paths.TASKS) | clone.repo.tree("HEAD", paths.LINKS)


def _wait(clone: Clone, path: str, *, base: str | None, blob: str | None, text: str | None) -> None:
    head = clone.repo.head().oid
    pending.add(clone.layout, Change(path, base, blob, clone.line().id, head, clone.now(), text))


def _let_go(clone: Clone, changes: Iterable[Change]) -> None:
    """Own changes wait no longer, but are kept."""
    for change in changes:
        if change.line == clone.line().id and change.published is None:
            pending.archive(clone.layout, change, commit=None, ts=clone.now())


def _pass_by(clone: Clone, texts: Sequence[Text], waiting: dict[str, list[Change]]) -> None:
    """Inherited changes wait elsewhere still; this line has dealt with them."""
    line = clone.line().id
    keys = [change.key for text in texts for change in waiting.get(text.path, ()) if change.line != line]
    lines.pass_by(clone.layout, line, keys, ts=clone.now())
    clone.forget_line()


def _put_nodes_back(clone: Clone, kept: Sequence[Text]) -> tuple[list[Text], list[str]]:
    here = {s.path: s for s in (*clone.entries(paths.TASKS), *clone.entries(paths.LINKS))} if kept else {}
    taken, gone = _ids(here.values()), clone.erased()
    back, left = [], []
    for text in kept:
        there = here.get(text.path)
        if text.id in gone or (there is not None and there.blob == text.blob):
            continue  # erased since, or back already
        if there is not None or text.id in taken:
            left.append(f"{text.id}, which says something else by now")
        else:
            back.append(text)
    _restore(clone, back, _waiting(clone))
    return back, left


def _ids(sightings: Iterable[Sighting]) -> set[str]:
    found = set()
    for sighting in sightings:
        read = tasks.reader(sighting.path)
        try:
            if read is not None:
                found.add(read(sighting.text, sighting.path).id)
        except BrokenEntry:
            continue
    return found


def _restore(clone: Clone, back: Sequence[Text], waiting: dict[str, list[Change]]) -> None:
    """Take the deletions back, and let what had been waiting wait again, on what it stood on."""
    tree = _tree(clone)
    for text in back:
        if not _stands(clone, text, tree.get(text.path)):
            blob = clone.repo.hash_blob(text.text.encode("utf-8"))
            base = text.base if text.origin == "pending" else tree.get(text.path)
            _wait(clone, text.path, base=base, blob=blob, text=text.text)
        _let_go(clone, waiting.get(text.path, ()))
        clone.record(_event(text, reason=_TAKEN_BACK))
    _pass_by(clone, back, waiting)


def _stands(clone: Clone, text: Text, in_tree: str | None) -> bool:
    """Whether nothing need wait: the branch's own text is the one, or the hand edit still lies there."""
    if text.origin == "tree":
        return in_tree is not None
    if text.origin != "edit":
        return False
    try:
        data = fsio.read(fsio.inside(clone.repo.top, text.path), limit=visible.MAX_ENTRY)
    except (OSError, TooLarge, UnsafePath):
        return False
    return data.replace(b"\r\n", b"\n") == text.text.encode("utf-8")


def _event(text: Text, *, reason: str | None) -> Draft:
    more = {"reason": reason} if reason else {}
    if text.path.startswith(paths.TASKS + "/"):
        return board.event_of(tasks.parse(text.text, text.path), action="reset", more=more)
    title = tasks.parse_link(text.text, text.path).title
    return Draft("task", target=text.id, body={"action": "reset", "statement": title, **more})
