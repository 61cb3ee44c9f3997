"""Project state: are its tasks, links, sessions and claims sound, and does what they name still exist?

Only damage is a problem: a file nobody can read, two for one id. A ring of needs that a merge brought, a
link that leads nowhere, a session on a branch that is gone are normal life: notes, for a person to decide.
Nothing is fetched from a network.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TypeVar

from holdfast.diagnostics import nodes
from holdfast.diagnostics.findings import Finding
from holdfast.diagnostics.nodes import Nodes
from holdfast.errors import CorruptLog, FutureFormat, GitFailed, TooLarge, UnsafePath
from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.git.rewritten import anchors
from holdfast.model.task import Link, Task
from holdfast.store import layout as paths
from holdfast.store import pending, sessions, trash
from holdfast.store.layout import Layout
from holdfast.values import replace
from holdfast.work import claims, elsewhere

_T = TypeVar("_T")
_ASIDE = "Run `holdfast doctor --repair`, which sets it aside."
_COMMIT = "commit:"
_MOST = 20  # findings of one sort; a plan with more has one cause, and a report must stay readable


def examine(clone: Clone) -> Iterator[Finding]:
    """What is wrong or worth knowing about tasks, links, sessions, claims and the trash."""
    try:
        found = _read(clone)
        yield from _plan(clone, found)
    except (CorruptLog, UnsafePath, TooLarge, GitFailed) as error:
        yield nodes.problem(paths.TASKS, str(error), "Mend what it names, then run this again.")
    living = lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    for store in clone.stores:
        yield from _sessions(clone, store, living)
        yield from _claims(clone, store, living)
        yield from _trash(clone, store)


def _read(clone: Clone) -> Nodes:
    seen = [sighting for folder in nodes.FOLDERS for sighting in clone.entries(folder)]
    return nodes.read({sighting.path: sighting.text for sighting in seen})


# Tasks and links.


def _plan(clone: Clone, found: Nodes) -> Iterator[Finding]:
    yield from found.findings
    yield from nodes.repeated(found)
    yield from nodes.clashing(sorted(_all_paths(clone, found)))
    yield from _some(nodes.note(path, said, "Rename it.") for path, said in nodes.misnamed(found))
    yield from _rings(found)
    yield from _some(_unknown_needs(clone, found))
    yield from _some(_dead_links(clone, found))
    yield from _some(_lost_evidence(clone, found))


def _all_paths(clone: Clone, found: Nodes) -> set[str]:
    """Also what cannot be read: its name can clash all the same."""
    tracked = (path for folder in nodes.FOLDERS for path in clone.repo.tree("HEAD", folder))
    return {*tracked, *found.tasks, *found.links, *(finding.file for finding in found.findings)}


def _rings(found: Nodes) -> Iterator[Finding]:
    places = {task.id: path for path, task in found.tasks.items()}
    for ring in nodes.rings(found.tasks.values()):
        said = f"these wait for one another, so none is ever ready: {nodes.arrows(ring)}"
        yield nodes.note(places[min(ring)], said, nodes.TAKE_OUT)


def _unknown_needs(clone: Clone, found: Nodes) -> Iterator[Finding]:
    """Needs and parents that no branch of this clone knows; one that only another branch has is fine."""
    here = {task.id for task in found.tasks.values()}
    wanted = {name for task in found.tasks.values() for name in _edges(task)} - here
    known = _known_elsewhere(clone, wanted)
    for path, task in found.tasks.items():
        for name in _edges(task):
            if name in wanted and name not in known:
                said = f"{task.id} names {name}, which is on no branch of this clone"
                yield nodes.note(path, said, "Fetch the branch that has it, or take it out.")


def _edges(task: Task) -> Iterable[str]:
    return (*task.needs, task.parent) if task.parent else task.needs


def _known_elsewhere(clone: Clone, wanted: Collection[str]) -> set[str]:
    if not wanted:
        return set()
    names = {name for listed in elsewhere.files_by_branch(clone).values() for name in listed}
    waiting = {c.path for store in clone.stores for c in pending.waiting(store) if c.text is not None}
    endings = {f"-{name}.md": name for name in wanted}
    longest = sorted({len(ending) for ending in endings})
    found = (endings.get(path[-size:]) for path in (*names, *waiting) for size in longest)
    return {name for name in found if name}


def _dead_links(clone: Clone, found: Nodes) -> Iterator[Finding]:
    """Links to files and commits that are gone; an address is not tried, this works offline."""
    tracked = _there(clone, [link.target for link in found.links.values() if link.kind == "path"])
    oids = [link.target for link in found.links.values() if link.kind == "commit"]
    commits = anchors.resolve(clone, oids) if oids else {}
    for path, link in found.links.items():
        gone = None
        if link.kind == "path" and link.target not in tracked:
            gone = f"{link.target} is neither in HEAD nor in the work tree"
        elif link.kind == "commit" and commits[link.target].state == "unanchored":
            gone = f"commit {link.target[:12]} is in no branch any more"
        if gone:
            yield nodes.note(path, f"{link.id} is dead: {gone}", _relink(link))


def _relink(link: Link) -> str:
    return f"Link to where it is now, and take this one away: holdfast link remove {link.id}"


def _there(clone: Clone, targets: Collection[str]) -> set[str]:
    """Which of these files and folders are in HEAD or in the work tree; one git process for all."""
    asked = [target for target in dict.fromkeys(targets) if not os.path.lexists(_in_tree(clone, target))]
    if not asked:
        return set(targets)
    named = "".join(f"HEAD:{target.rstrip('/')}\n" for target in asked).encode("utf-8", "surrogateescape")
    rows = clone.repo.run("cat-file", "--batch-check=%(objecttype)", stdin=named).split(b"\n")
    gone = {target for target, row in zip(asked, rows, strict=False) if row.strip() not in (b"blob", b"tree")}
    return set(targets) - gone


def _in_tree(clone: Clone, target: str) -> str:
    return os.path.join(clone.repo.top, *target.rstrip("/").split("/"))


def _lost_evidence(clone: Clone, found: Nodes) -> Iterator[Finding]:
    """Tasks that are done by the word of a commit that is in no branch any more."""
    cited = {path: _commits(task) for path, task in found.tasks.items() if task.status == "done"}
    resolved = anchors.resolve(clone, dict.fromkeys(oid for oids in cited.values() for oid in oids))
    for path, oids in cited.items():
        lost = [oid[:12] for oid in oids if resolved[oid].state == "unanchored"]
        if lost:
            task = found.tasks[path].id
            said = f"{task} is done by commits that are in no branch any more: {', '.join(lost[:3])}"
            step = f"Cite what shows it now: holdfast task done {task} --evidence COMMIT"
            yield nodes.note(path, said, step)


def _commits(task: Task) -> list[str]:
    receipts = [text.removeprefix(_COMMIT) for text in task.evidence if text.startswith(_COMMIT)]
    return [*receipts, task.checkpoint.commit] if task.checkpoint else receipts


# Sessions, claims and the trash.


def _sessions(clone: Clone, store: Layout, living: Collection[str]) -> Iterator[Finding]:
    for path, error in sessions.damaged(store):
        newer = isinstance(error, FutureFormat)
        yield _record(clone, "sessions", path, error, severity="note" if newer else "problem")
    first: dict[str, str] = {}
    for name in store.listed(store.sessions):
        _, mark, rest = name.removesuffix(".json").rpartition("-SES-")
        other = first.setdefault(rest, name) if mark and name.endswith(".json") else name
        if other != name:
            path = os.path.join(store.sessions, name)
            yield _record(clone, "sessions", path, f"SES-{rest} stands in {other}, too")
    for session in _quietly(store, sessions.all):
        if session.state == "open" and session.line not in living:
            said = f"{session.id} is open on {session.branch or 'a detached HEAD'}, which is gone"
            step = f"End it: holdfast session end {session.id}, or see `holdfast reconcile`."
            yield _note(clone, "sessions", sessions.path_of(store, session.id), said, step)


def _claims(clone: Clone, store: Layout, living: Collection[str]) -> Iterator[Finding]:
    probe = Layout(store.top, store.private, store.cache)  # its readers say there what they leave out
    held = list(claims.every(probe))
    for said in probe.notes:
        path, mark, why = said.removeprefix("left out: ").partition(" is no claim: ")
        yield _record(clone, "claims", path if mark else store.claims, why or said)
    for claim in held:
        if claim.is_live(clone.now()) and claim.line not in living:
            where = claim.branch or "a detached HEAD"
            said = f"{claim.task} is claimed by {claim.owner} on {where}, which is gone"
            step = f"Give it free: holdfast task release {claim.task}, or wait until {claim.until[:19]}Z"
            yield _note(clone, "claims", os.path.join(store.claims, f"{claim.task}.json"), said, step)


def _trash(clone: Clone, store: Layout) -> Iterator[Finding]:
    for path, error in trash.damaged(store):
        yield _record(clone, "store", path, error)
    for reset in _quietly(store, trash.every):
        if not reset.whole:
            said = f"a reset of {reset.what} was cut short"
            step = f"Go on with `holdfast reset {reset.what}`, or take it back with `holdfast reset --undo`."
            yield _note(clone, "store", os.path.join(store.trash, reset.name), said, step)


def _quietly(store: Layout, look: Callable[[Layout], list[_T]]) -> list[_T]:
    """What a reader finds; what it leaves out was reported already."""
    return look(Layout(store.top, store.private, store.cache))


def _record(clone: Clone, topic: str, path: str, why: object, *, severity: str = "problem") -> Finding:
    said = str(why).removeprefix(path).lstrip(":, ")
    found = _note(clone, topic, path, said, _ASIDE)
    if severity == "note":
        return replace(found, next_step="Update Holdfast; this version leaves it untouched.")
    return replace(found, severity=severity, repair="damaged", path=path)


def _note(clone: Clone, topic: str, path: str, said: str, step: str) -> Finding:
    shown = os.path.relpath(path, clone.repo.top).replace(os.sep, "/")
    return Finding(severity="note", topic=topic, file=shown, sentence=said, next_step=step)


def _some(found: Iterable[Finding]) -> Iterator[Finding]:
    """The first of many findings of one sort, and how many more there are."""
    rest = list(found)
    yield from rest[:_MOST]
    if len(rest) > _MOST:
        said = f"and {len(rest) - _MOST} more like the last one"
        yield replace(rest[_MOST], sentence=said, file=nodes.FOLDERS[0])
