"""What HEAD holds of a project, for readers outside it: accepted memories, tasks, and the log's envelopes.

All of it is read from the commit, so that it can be read in any clone, also where nobody set Holdfast up. What only
this clone knows is not looked at: candidates, what waits to be published, hand edits, the texts of runs, sessions,
claims. Secrets are taken out by whoever prints it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from holdfast.errors import BadInput, BrokenEntry
from holdfast.git import evidence_check
from holdfast.index.corpus import git_objects
from holdfast.model.evidence import OF_FILES
from holdfast.model.memory import Accepted, Retired, is_expired
from holdfast.recall.relation_graph import RelationIndex
from holdfast.store import layout, memory_files, task_files
from holdfast.values import frozen
from holdfast.work.task_graph import TaskGraph

if TYPE_CHECKING:
    from holdfast.git.clone import Clone
    from holdfast.model.event import Event
    from holdfast.model.memory import Memory
    from holdfast.model.task import Task

_CANDIDATES = f"{layout.MEMORY}/candidates/"
_DECISIONS = ("accept", "promote", "edit", "retire")
_TOLD = (*_DECISIONS, "run", "task", "checkpoint")  # kinds that say something without their text
_COMMITS = 300


@frozen
class PublishedMemory:
    """A memory that HEAD holds, how it stands, and its last decision in the published log."""

    memory: Memory
    status: str  # accepted, stale, expired, superseded, deprecated, or unreviewed: the log has no approval
    receipts: Mapping[str, str]  # each with its state; empty where only the clone that recorded it can tell
    decided: str  # when; empty if the log does not say
    decision: str
    replaced_by: str | None


@frozen
class PublishedMoment:
    """Something that happened, as far as the log or git tells everybody."""

    ts: str
    kind: str
    about: str  # an id
    words: str


@frozen
class PublishedContent:
    """What HEAD holds."""

    commit: str
    ts: str  # of the commit
    memories: tuple[PublishedMemory, ...]
    graph: TaskGraph
    moments: tuple[PublishedMoment, ...]  # newest first
    broken: tuple[str, ...]  # files that cannot be read, and are left out
    relations: RelationIndex


def read(clone: Clone, now: datetime, *, moments: int = 500) -> PublishedContent:
    """Reads what HEAD holds, and the newest of what happened."""
    repo = clone.repo
    if (head := repo.head().oid) is None:
        raise BadInput("there is no commit to export yet", hint="Commit something first.")
    found, broken = _memories(clone)
    tasks, unread = _tasks(clone)
    listed = _standing(clone, found, now)
    graph = TaskGraph(tasks.values())
    index = RelationIndex({one.memory.id: (one.memory, one.status) for one in listed}, graph, clone=None, git=clone)
    told = sorted(_moments(clone, found, tasks, moments), key=lambda m: m.ts, reverse=True)
    seconds = int(repo.text("show", "--no-patch", "--format=%ct", head).strip() or 0)
    ts = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}Z"
    return PublishedContent(head, ts, tuple(listed), graph, tuple(told[:moments]), (*broken, *unread), index)


def _texts(clone: Clone, folder: str) -> Iterator[tuple[str, str | None]]:
    """The files of a folder in HEAD; None for one that is no UTF-8 text."""
    gone = tuple(f"-{target}.md" for target in clone.erased())
    tree = clone.repo.tree("HEAD", folder)
    wanted = {path: oid for path, oid in tree.items() if path.endswith(".md") and not path.endswith(gone)}
    blobs = clone.repo.blobs(wanted.values())
    for path, oid in sorted(wanted.items()):
        try:
            yield path, blobs[oid].decode("utf-8")
        except (KeyError, UnicodeDecodeError):
            yield path, None


def _memories(clone: Clone) -> tuple[dict[str, Memory], list[str]]:
    found: dict[str, Memory] = {}
    broken = []
    erased = clone.erased()
    for path, text in _texts(clone, layout.MEMORY):
        if path.startswith(_CANDIDATES):
            continue
        for part in memory_files.parts(text, path) if text is not None else ():
            if isinstance(part.memory, BrokenEntry):
                broken.append(path)
            elif isinstance(part.memory, Accepted | Retired) and part.memory.id not in erased:
                found.setdefault(part.memory.id, part.memory)
        broken += [path] if text is None else []
    return found, broken


def _tasks(clone: Clone) -> tuple[dict[str, Task], list[str]]:
    found: dict[str, Task] = {}
    broken = []
    for path, text in _texts(clone, layout.TASKS):
        try:
            task = task_files.parse(text or "", path)
        except BrokenEntry:
            broken.append(path)
        else:
            found.setdefault(task.id, task)
    return found, broken


def _standing(clone: Clone, found: Mapping[str, Memory], now: datetime) -> list[PublishedMemory]:
    cited = {text for memory in found.values() for text in memory.evidence if text.startswith(OF_FILES)}
    states = evidence_check.states(clone, cited, committed=True)
    newer = {old: name for name, one in found.items() if isinstance(one, Accepted) for old in one.supersedes}
    last: dict[str, Event] = {}
    for event in clone.find_events("published", kinds=_DECISIONS):
        if event.target is not None and event.target in found:
            last[event.target] = event
    listed = []
    for name, memory in found.items():
        receipts = {text: str(states.get(text, "")) for text in memory.evidence}
        decision = last.get(name)
        listed.append(
            PublishedMemory(
                memory,
                _status(memory, receipts, now, replaced=name in newer) if decision else "unreviewed",
                receipts,
                decision.ts if decision else "",
                decision.kind if decision else "",
                newer.get(name),
            )
        )
    return sorted(listed, key=lambda one: (one.decided, one.memory.id), reverse=True)


def _status(memory: Memory, receipts: Mapping[str, str], now: datetime, *, replaced: bool) -> str:
    if isinstance(memory, Retired):
        return "deprecated"
    if replaced:
        return "superseded"
    if is_expired(memory, now):
        return "expired"
    moved = (state in ("changed", "gone") for text, state in receipts.items() if text.startswith(OF_FILES))
    return "stale" if any(moved) else "accepted"


def _moments(
    clone: Clone, memories: Mapping[str, Memory], tasks: Mapping[str, Task], most: int
) -> Iterator[PublishedMoment]:
    """What happened to what is exported, the runs, and git's commits; events of candidates and sessions are not."""
    for event in clone.find_events("published", kinds=_TOLD, newest=most):
        about = event.target or event.run_id or ""
        if event.kind == "run":
            ended = "" if event.exit_status is None else f"ended with {event.exit_status}"
            yield PublishedMoment(event.ts, "run", event.run_id or "", ended)
        elif about in memories:
            yield PublishedMoment(event.ts, event.kind, about, memories[about].statement)
        elif about in tasks:
            yield PublishedMoment(event.ts, event.kind, about, tasks[about].title)
    repo = clone.repo
    oids = repo.text("rev-list", f"--max-count={_COMMITS}", "HEAD").split()
    for one in git_objects.read_commits(repo, oids, clone.hide):
        ts = f"{datetime.fromtimestamp(max(one.seconds, 0), UTC):%Y-%m-%dT%H:%M:%S}Z"
        yield PublishedMoment(ts, "commit", one.oid, one.message.strip().partition("\n")[0])
