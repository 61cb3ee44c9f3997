"""Are tasks, links, sessions and claims sound, and does what they name still exist?

`doctor` looks at what is visible here, `check` at what a branch would bring into the trunk; both read the same files
and name the same faults. Damage is a problem: a file that cannot be read, two files for one id. A ring of needs that
a merge brought, a link that leads nowhere, a session on a branch that is gone are notes. For `check`, what was wrong
before the branch began is a note too, and a new ring of needs is a problem. Nothing is fetched from a network.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from holdfast.diagnostics.findings import HealthFinding, place_of, relative
from holdfast.diagnostics.tracked_log import TreeRow, rows
from holdfast.errors import BrokenEntry, CorruptLog, FutureFormat, GitFailed, TooLarge, UnsafePath
from holdfast.git import branch_lines
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model.task import Link, Task
from holdfast.store import layout, pending_changes, session_files, task_files, trash
from holdfast.values import frozen, replace
from holdfast.work import canonical_links, task_board, task_claims, task_graph

FOLDERS = (layout.TASKS, layout.LINKS)
TAKE_OUT = "Take one of these needs out: `holdfast task edit ID --no-need OTHER`."
_MEND = "Mend the file by hand; until then it is left out and nothing is lost."
_MARKS = "Choose a side of each conflict in the file; until then it is left out and nothing is lost."
_MOST_RINGS = 10  # a guess: whoever mends ten sees the rest afterwards


@frozen
class NodeFiles:
    """What can be read among some files, by path, and what is wrong with the rest."""

    tasks: dict[str, Task]
    links: dict[str, Link]
    findings: tuple[HealthFinding, ...]

    def all(self) -> Iterator[tuple[str, Task | Link]]:
        yield from self.tasks.items()
        yield from self.links.items()


def read_nodes(texts: Mapping[str, str]) -> NodeFiles:
    """Tasks and links from their files' texts."""
    found, links, broken = {}, {}, []
    for path, text in texts.items():
        try:
            if path.startswith(layout.LINKS + "/"):
                links[path] = task_files.parse_link(text, path)
            else:
                found[path] = task_files.parse(text, path)
        except BrokenEntry as error:
            broken.append(unreadable(path, error))
    return NodeFiles(found, links, tuple(broken))


def unreadable(path: str, error: BrokenEntry) -> HealthFinding:
    """A file that cannot be read, with its line and the reason."""
    line, reason = place_of(path, error)
    return problem(path, reason, _MARKS if "unresolved merge" in reason else _MEND, line=line)


def repeated(nodes: NodeFiles) -> Iterator[HealthFinding]:
    """Two files with one id: whoever names it means neither."""
    first: dict[str, str] = {}
    for path, node in nodes.all():
        other = first.setdefault(node.id, path)
        if other != path:
            step = "Give one of them another id, in its first lines and in its name."
            yield problem(path, f"its id {node.id} is also that of {other}", step)


def misnamed(nodes: NodeFiles) -> Iterator[tuple[str, str]]:
    """Files whose names do not end in their ids: nobody finds them by their names."""
    for path, node in nodes.all():
        if not path.endswith(f"-{node.id}.md"):
            yield path, f"it holds {node.id}, and its name does not end in -{node.id}.md"


def clashing(paths: Iterable[str]) -> Iterator[HealthFinding]:
    """Names that differ only in case: where the file system ignores case, git can check out only one."""
    first: dict[str, str] = {}
    for path in paths:
        other = first.setdefault(path.casefold(), path)
        if other != path:
            yield problem(path, f"its name differs from {other} only in case", f"Rename one of them: git mv {path} …")


def rings(found: Iterable[Task]) -> list[tuple[str, ...]]:
    """Cycles of needs and parents, each written A, B, A; at most a few, no node in two of them."""
    left = {task.id: task for task in found}
    seen: list[tuple[str, ...]] = []
    while len(seen) < _MOST_RINGS and (ring := task_graph.TaskGraph(left.values()).cycle()):
        seen.append(ring)
        for name in ring:
            left.pop(name, None)
    return seen


def problem(path: str, sentence: str, step: str, *, line: int | None = None) -> HealthFinding:
    return HealthFinding("problem", topic(path), path, sentence, step, line)


def note(path: str, sentence: str, step: str) -> HealthFinding:
    return HealthFinding("note", topic(path), path, sentence, step)


def topic(path: str) -> str:
    return "links" if path.startswith(layout.LINKS) else "tasks"


_T = TypeVar("_T")
_ASIDE = "Run `holdfast doctor --repair`, which sets it aside."
_COMMIT = "commit:"
_MOST = 20  # findings of one sort; a plan with more has one cause, and a report must stay readable


def examine_tasks(clone: Clone) -> Iterator[HealthFinding]:
    """What is wrong or worth knowing about tasks, links, sessions, claims and the trash."""
    try:
        found = read_nodes({path: sighting.text for path, sighting in task_board.sightings(clone).items()})
        yield from found.findings
        yield from repeated(found)
        # Also what cannot be read: its name can clash all the same.
        tracked = (path for folder in FOLDERS for path in clone.repo.tree("HEAD", folder))
        yield from clashing(sorted({*tracked, *found.tasks, *found.links, *(one.file for one in found.findings)}))
        yield from _some(note(path, said, "Rename it.") for path, said in misnamed(found))
        places = {task.id: path for path, task in found.tasks.items()}
        for ring in rings(found.tasks.values()):
            said = f"these wait for one another, so none is ever ready: {' → '.join(ring)}"
            yield note(places[min(ring)], said, TAKE_OUT)
        yield from _some(_unknown_needs(clone, found))
        yield from _some(_dead_links(clone))
        yield from _some(_lost_evidence(clone, found))
    except (CorruptLog, UnsafePath, TooLarge, GitFailed) as error:
        yield problem(layout.TASKS, str(error), "Mend what it names, then run this again.")
    living = branch_lines.alive(clone.repo, *clone.stores) | {clone.line().id}
    for store in clone.stores:
        yield from _sessions(clone, store, living)
        yield from _claims(clone, store, living)
        yield from _trash(clone, store)


# Tasks and links.


def _unknown_needs(clone: Clone, found: NodeFiles) -> Iterator[HealthFinding]:
    """Needs and parents that no branch of this clone knows; one that only another branch has is fine."""
    here = {task.id for task in found.tasks.values()}
    wanted = {name for task in found.tasks.values() for name in _edges(task)} - here
    if not wanted:
        return
    names = {name for listed in task_board.files_by_branch(clone).values() for name in listed}
    waiting = {c.path for store in clone.stores for c in pending_changes.waiting(store) if c.text is not None}
    endings = {f"-{name}.md": name for name in wanted}
    longest = sorted({len(ending) for ending in endings})
    known = {endings.get(path[-size:]) for path in (*names, *waiting) for size in longest}
    for path, task in found.tasks.items():
        for name in _edges(task):
            if name in wanted and name not in known:
                said = f"{task.id} names {name}, which is on no branch of this clone"
                yield note(path, said, "Fetch the branch that has it, or take it out.")


def _edges(task: Task) -> Iterable[str]:
    return (*task.needs, task.parent) if task.parent else task.needs


def _dead_links(clone: Clone) -> Iterator[HealthFinding]:
    """Links to files and commits that are gone, as `link list` marks them; a file may be here, not tracked yet."""
    for found in canonical_links.listed(clone):
        here = found.link.kind == "path" and os.path.lexists(clone.layout.in_tree(found.link.target.rstrip("/")))
        if found.dead and not here:
            step = f"Link to where it is now, and take this one away: holdfast link remove {found.link.id}"
            yield note(found.path, f"{found.link.id} is dead: {found.link.target}: {found.dead}", step)


def _lost_evidence(clone: Clone, found: NodeFiles) -> Iterator[HealthFinding]:
    """Tasks that are done by the word of a commit that is in no branch any more."""
    cited = {path: _commits(task) for path, task in found.tasks.items() if task.status == "done"}
    resolved = commit_anchors.resolve(clone, dict.fromkeys(oid for oids in cited.values() for oid in oids))
    for path, oids in cited.items():
        lost = [oid[:12] for oid in oids if resolved[oid].state == "unanchored"]
        if lost:
            task = found.tasks[path].id
            said = f"{task} is done by commits that are in no branch any more: {', '.join(lost[:3])}"
            yield note(path, said, f"Cite what shows it now: holdfast task done {task} --evidence COMMIT")


def _commits(task: Task) -> list[str]:
    receipts = [text.removeprefix(_COMMIT) for text in task.evidence if text.startswith(_COMMIT)]
    return [*receipts, task.checkpoint.commit] if task.checkpoint else receipts


# Sessions, claims and the trash.


def _sessions(clone: Clone, store: layout.Layout, living: Collection[str]) -> Iterator[HealthFinding]:
    for path, error in session_files.damaged(store):
        yield _record(clone, "sessions", path, error)
    first: dict[str, str] = {}
    for name in store.listed(store.sessions):
        _, mark, rest = name.removesuffix(".json").rpartition("-SES-")
        other = first.setdefault(rest, name) if mark and name.endswith(".json") else name
        if other != name:
            path = os.path.join(store.sessions, name)
            yield _record(clone, "sessions", path, f"SES-{rest} stands in {other}, too")
    for session in _quietly(store, session_files.all):
        if session.state == "open" and session.line not in living:
            said = f"{session.id} is open on {session.branch or 'a detached HEAD'}, which is gone"
            step = f"End it: holdfast session end {session.id}, or see `holdfast reconcile`."
            yield _note(clone, "sessions", session_files.path_of(store, session.id), said, step)


def _claims(clone: Clone, store: layout.Layout, living: Collection[str]) -> Iterator[HealthFinding]:
    probe = layout.Layout(store.top, store.private, store.cache)  # its readers say there what they leave out
    held = list(task_claims.every(probe))
    for said in probe.notes:
        path, mark, why = said.removeprefix("left out: ").partition(" is no claim: ")
        yield _record(clone, "claims", path if mark else store.claims, why or said)
    for claim in held:
        if claim.is_live(clone.now()) and claim.line not in living:
            where = claim.branch or "a detached HEAD"
            said = f"{claim.task} is claimed by {claim.owner} on {where}, which is gone"
            step = f"Give it free: holdfast task release {claim.task}, or wait until {claim.until[:19]}Z"
            yield _note(clone, "claims", os.path.join(store.claims, f"{claim.task}.json"), said, step)


def _trash(clone: Clone, store: layout.Layout) -> Iterator[HealthFinding]:
    for path, error in trash.damaged(store):
        yield _record(clone, "store", path, error)
    for reset in _quietly(store, trash.every):
        if not reset.whole:
            said = f"a reset of {reset.what} was cut short"
            step = f"Go on with `holdfast reset {reset.what}`, or take it back with `holdfast reset --undo`."
            yield _note(clone, "store", os.path.join(store.trash, reset.name), said, step)


def _quietly(store: layout.Layout, look: Callable[[layout.Layout], list[_T]]) -> list[_T]:
    """What a reader finds; what it leaves out was reported already."""
    return look(layout.Layout(store.top, store.private, store.cache))


def _record(clone: Clone, topic: str, path: str, why: object) -> HealthFinding:
    said, shown = str(why).removeprefix(path).lstrip(":, "), relative(path, clone.repo.top)
    if isinstance(why, FutureFormat):
        return HealthFinding("note", topic, shown, said, "Update Holdfast; this version leaves it untouched.")
    return HealthFinding("problem", topic, shown, said, _ASIDE, repair="damaged", path=path)


def _note(clone: Clone, topic: str, path: str, said: str, step: str) -> HealthFinding:
    return HealthFinding("note", topic, relative(path, clone.repo.top), said, step)


def _some(found: Iterable[HealthFinding]) -> Iterator[HealthFinding]:
    """The first of many findings of one sort, and how many more there are."""
    rest = list(found)
    yield from rest[:_MOST]
    if len(rest) > _MOST:
        yield replace(rest[_MOST], sentence=f"and {len(rest) - _MOST} more like the last one", file=FOLDERS[0])


_NAME = "Name it <slug>-<id>.md, as `holdfast task add` does."


def judge_plan(repo: Repo, start: str | None) -> tuple[list[HealthFinding], dict[str, int]]:
    """What is wrong with the tasks and links of HEAD, and how many there are.

    `start` is where the branch began, "" or None if nobody knows.
    """
    here = _listed(repo, "HEAD")
    before = _listed(repo, start) if start else {}
    changed = {path for path, row in here.items() if before.get(path) != row}
    # What was there before comes first, so that of two that clash the newer one is named.
    ordered = sorted(here, key=lambda path: (path in changed, path))
    found, odd = _read_tree(repo, (here[path] for path in ordered))
    findings = [*odd, *found.findings, *repeated(found), *clashing(ordered)]
    strangers = (path for path in ordered if not pending_changes.is_publishable(path))
    findings += [problem(path, "this is no file of a task or a link", _NAME) for path in strangers]
    judged = [note(path, said, _NAME) for path, said in misnamed(found)]
    judged += [finding if finding.file in changed else _older(finding) for finding in findings]
    judged += _new_rings(repo, found, before, start)
    return judged, {"tasks": len(found.tasks), "links": len(found.links)}


def _listed(repo: Repo, rev: str) -> dict[str, TreeRow]:
    return {row.path: row for folder in FOLDERS for row in rows(repo, rev, folder)}


def _read_tree(repo: Repo, listed: Iterable[TreeRow]) -> tuple[NodeFiles, list[HealthFinding]]:
    """What can be read; links and other odd things in the place of a file are named."""
    chosen = [row for row in listed if row.path.endswith(".md")]
    said, step = "a task or a link must be a plain file", "Put the file itself there."
    odd = [problem(row.path, said, step) for row in chosen if not row.mode.startswith("100")]
    blobs, texts = repo.blobs(row.oid for row in chosen if row.mode.startswith("100")), {}
    for row in (row for row in chosen if row.mode.startswith("100")):
        try:
            texts[row.path] = blobs.get(row.oid, b"").decode("utf-8")
        except UnicodeDecodeError as error:
            odd.append(problem(row.path, f"is not UTF-8 at byte {error.start}", "Save it as UTF-8."))
    return read_nodes(texts), odd


def _older(finding: HealthFinding) -> HealthFinding:
    return replace(finding, severity="note", sentence=f"{finding.sentence} (so it was before this branch)")


def _new_rings(repo: Repo, found: NodeFiles, before: dict[str, TreeRow], start: str | None) -> Iterator[HealthFinding]:
    """A ring that was there before is nobody's fault here; a new one would join the trunk."""
    places = {task.id: path for path, task in found.tasks.items()}
    seen = rings(found.tasks.values())
    was = _read_tree(repo, before.values())[0].tasks.values() if seen and start else ()
    for ring in seen:
        finding = problem(places[min(ring)], f"these wait for one another: {' → '.join(ring)}", TAKE_OUT)
        yield _older(finding) if task_graph.TaskGraph(task for task in was if task.id in ring).cycle() else finding
