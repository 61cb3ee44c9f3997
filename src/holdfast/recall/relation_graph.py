"""How memories, tasks, runs, commits and files hang together: the neighbourhood of one of them, or of the newest.

A relation goes from what hangs on something to what it hangs on: a memory rests on a file, a task needs another, a run
worked on a task. Nothing here is drawn. A run's own relations are in its text, which only the clone that recorded it
has; without a `clone` (in an export) a run is an id that others cite.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from holdfast.errors import Ambiguous, NotFound
from holdfast.index.corpus import git_objects
from holdfast.model.evidence import is_oid, is_tracked_path
from holdfast.model.ids import beginnings, pick
from holdfast.patterns import regex
from holdfast.recall.why import recorded_runs
from holdfast.values import dict_of, frozen

if TYPE_CHECKING:
    from holdfast.git.clone import Clone
    from holdfast.model.event import Event
    from holdfast.model.memory import Memory
    from holdfast.model.task import Task
    from holdfast.work.task_graph import TaskGraph

STEPS = 2  # from the node in question: what it hangs on, and what that hangs on
MOST = 60  # nodes of a picture: more is a wall
FAN = 14  # new neighbours of one node: a file that hundreds cite must not push everything else out
SEEDS = 16  # newest memories and tasks that a picture without a node in question begins with
_LOOKED_AT = 300  # events among which these are found
_RUNS = 40  # newest runs that name a node
_FILES = 12  # files of a run
_SHORT = 12  # characters of a commit's name
_COMMIT = regex(r"[0-9a-f]{7,64}")
_CHANGING = ("propose", "accept", "promote", "edit", "retire", "task")
_ORDER = ("takes the place of", "needs", "is part of", "rests on", "came from", "worked on", "shown by", "is kept with")


@frozen
class RelationNode:
    """One thing of the picture."""

    key: str  # its id; of runs, commits and files with `run:`, `commit:` and `file:` before it
    kind: str  # decision, …, task, …, run, commit or file
    label: str  # what people call it
    title: str
    state: str = ""
    ts: str = ""


@frozen
class Relation:
    """One thing hangs on another."""

    source: str
    target: str
    kind: str


@frozen
class RelationGraph:
    """What is drawn, and how much was left out."""

    nodes: tuple[RelationNode, ...]
    relations: tuple[Relation, ...]
    of: str | None = None  # the node in question
    left_out: int = 0  # neighbours that are not drawn
    path: tuple[str, ...] = ()  # the critical path, first things first


class RelationIndex:
    """The relations of a project's memories and tasks, each found from both of its ends."""

    def __init__(
        self, memories: Mapping[str, tuple[Memory, str]], graph: TaskGraph, *, clone: Clone | None, git: Clone
    ) -> None:
        """`clone`: where texts of runs are read, if at all; `git`: where commits are."""
        self._memories, self._graph, self._clone, self._git = memories, graph, clone, git
        self._runs: dict[str, tuple[RelationNode, tuple[Relation, ...]]] = {}

    @cached_property
    def _touching(self) -> dict[str, list[Relation]]:
        found: dict[str, list[Relation]] = defaultdict(list)
        for name, (memory, _) in self._memories.items():
            _enter(found, _of_memory(name, memory))
        for task in self._graph.tasks.values():
            _enter(found, self._of_task(task))
        return found

    @cached_property
    def _ready(self) -> set[str]:
        return {task.id for task in self._graph.ready()}

    def _of_task(self, task: Task) -> list[Relation]:
        found = [Relation(task.id, need, "needs") for need in task.needs]
        found += [Relation(task.id, task.parent, "is part of")] if task.parent else []
        found += [Relation(task.id, _subject(text), "shown by") for text in task.evidence]
        found += [Relation(task.id, f"commit:{task.checkpoint.commit}", "was reached at")] if task.checkpoint else []
        named = dict.fromkeys(_NAME.findall(task.notes)) if task.notes else ()
        return found + [Relation(task.id, name, "rests on") for name in named if name in self._memories]

    def find(self, text: str) -> str:
        """The node that a person means by an id, its beginning, a commit or a tracked path."""
        try:
            return pick(text, {*self._memories, *self._graph.tasks})
        except NotFound:
            found = self._find_run(text.removeprefix("run:")) or self._find_in_git(text)
        if found is None:
            hint = "Name a memory, a task, a run, a commit or a tracked file."
            raise NotFound(f"nothing here is called {text}", hint=hint)
        return found

    def _find_run(self, text: str) -> str | None:
        if not text or self._clone is None:
            return None
        events = self._clone.find_events("all", kinds=("run",), beginnings=beginnings(text))
        runs = {event.run_id for event in events if event.run_id and event.run_id.lower().startswith(text.lower())}
        if len(runs) > 1 and text not in runs:
            raise Ambiguous(f"{text} fits {len(runs)} runs", hint="Type more of it.")
        return f"run:{text if text in runs else runs.pop()}" if runs else None

    def _find_in_git(self, text: str) -> str | None:
        repo, asked = self._git.repo, text.removeprefix("commit:").lower()
        oid = repo.commit_of(asked) if _COMMIT.fullmatch(asked) else None
        if oid is not None and oid.startswith(asked):
            return f"commit:{oid}"
        path = text.removeprefix("file:")
        if f"file:{path}" in self._touching:
            return f"file:{path}"
        is_there = is_tracked_path(path) and repo.head().oid is not None and repo.blobs_at("HEAD", [path])
        return f"file:{path}" if is_there else None

    # The neighbourhood.

    def around(self, name: str, *, steps: int = STEPS, most: int = MOST) -> RelationGraph:
        """The neighbourhood of a node."""
        found = self.find(name)
        return self._grown([found], steps=steps, most=most, of=found)

    def newest(self, *, most: int = MOST) -> RelationGraph:
        """The newest memories and tasks, and what they hang on."""
        scope = "visible" if self._clone is not None else "published"
        events = self._git.find_events(scope, kinds=_CHANGING, newest=_LOOKED_AT)
        targets = (event.target for event in reversed(events))
        standing = [name for name, (_, status) in self._memories.items() if status != "rejected"]
        all_of_them = dict.fromkeys((*standing, *self._graph.tasks))
        newest = [name for name in dict.fromkeys(targets) if name in all_of_them]
        return self._grown(list(dict.fromkeys((*newest, *all_of_them)))[:SEEDS], steps=1, most=most)

    def _grown(self, seeds: Sequence[str], *, steps: int, most: int, of: str | None = None) -> RelationGraph:
        chosen, missed = dict.fromkeys(seeds[:most]), set[str]()
        relations: dict[Relation, None] = {}
        front = list(chosen)
        for step in range(steps + 1):
            touching = self._relations(front)
            fresh: list[str] = []
            for name in front:
                near = sorted(touching[name], key=lambda one: (_rank(one.kind), one.source, one.target))
                relations |= dict.fromkeys(near)
                others = dict.fromkeys(one.target if one.source == name else one.source for one in near)
                new = [other for other in others if other not in chosen]
                room = min(FAN, most - len(chosen)) if step < steps else 0
                chosen |= dict.fromkeys(new[:room])
                fresh += new[:room]
                missed.update(new[room:])
            front = fresh
        drawn = tuple(one for one in relations if one.source in chosen and one.target in chosen)
        nodes = self._nodes(chosen)
        return RelationGraph(nodes, drawn, of, len(missed - set(chosen)))

    def _relations(self, names: Sequence[str]) -> dict[str, list[Relation]]:
        """All relations of some nodes."""
        found = {name: list(self._touching.get(name, ())) for name in names}
        if self._clone is not None and names:
            own = [name.removeprefix("run:") for name in names if name.startswith("run:")]
            events = list(self._clone.find_events("all", kinds=("run",), runs=own)) if own else []
            events += self._clone.runs_naming([name.removeprefix("file:") for name in names])[-_RUNS:]
            for event in recorded_runs.last_of_each(self._clone, events).values():
                for one in self._run(event)[1]:
                    for end in {one.source, one.target} & found.keys():
                        found[end].append(one)
        return {name: list(dict.fromkeys(near)) for name, near in found.items()}

    def _run(self, event: Event) -> tuple[RelationNode, tuple[Relation, ...]]:
        key = f"run:{event.run_id}"
        if key not in self._runs:
            assert self._clone is not None
            with self._clone.unsealed():
                told = self._clone.joined(event)
            self._runs[key] = (_run_node(key, told), tuple(_of_run(key, told)))
        return self._runs[key]

    # The nodes.

    def _nodes(self, keys: Collection[str]) -> tuple[RelationNode, ...]:
        runs = [key.removeprefix("run:") for key in keys if key.startswith("run:")]
        if runs and self._clone is not None:
            events = self._clone.find_events("all", kinds=("run",), runs=runs)
            for event in recorded_runs.last_of_each(self._clone, events).values():
                self._run(event)
        oids = [key.removeprefix("commit:") for key in keys if key.startswith("commit:")]
        subjects = self._subjects(oids) if oids else {}
        return tuple(self._node(key, subjects) for key in keys)

    def _subjects(self, oids: Sequence[str]) -> dict[str, str]:
        """The first lines of the commits that are here."""
        repo = self._git.repo
        asked = "".join(f"{oid}\n" for oid in oids).encode("ascii")
        rows = repo.run("cat-file", "--batch-check=%(objecttype) %(objectname)", stdin=asked).decode("ascii", "replace")
        here = [row.removeprefix("commit ") for row in rows.splitlines() if row.startswith("commit ")]
        if self._clone is None:  # others have only what HEAD reaches: a branch that was never pushed is not theirs
            here = [oid for oid in here if repo.is_ancestor(oid, "HEAD")]
        found = git_objects.read_commits(repo, here, self._git.hide) if here else ()
        return {one.oid: one.message.strip().partition("\n")[0] for one in found}

    def _node(self, key: str, subjects: Mapping[str, str]) -> RelationNode:
        if key in self._memories:
            memory, state = self._memories[key]
            return RelationNode(key, memory.type, key, memory.statement, state)
        if key in self._graph.tasks:
            task = self._graph.tasks[key]
            state = ("ready" if key in self._ready else "waiting") if task.status == "open" else task.status
            return RelationNode(key, task.kind, key, task.title, state)
        if key in self._runs:
            return self._runs[key][0]
        kind, colon, rest = key.partition(":")
        if kind == "commit" and colon:
            state = "" if rest in subjects else "not here"
            return RelationNode(key, kind, rest[:_SHORT], subjects.get(rest, ""), state)
        if kind == "run" and colon:
            return RelationNode(key, kind, rest, "")
        if kind == "file" and colon:
            return RelationNode(key, kind, rest.rpartition("/")[2], rest)
        return RelationNode(key, "other", key, "", "not on this branch")


_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")


def _rank(kind: str) -> int:
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER)


def _enter(found: dict[str, list[Relation]], relations: Iterable[Relation]) -> None:
    for one in relations:
        found[one.source].append(one)
        found[one.target].append(one)


def _of_memory(name: str, memory: Memory) -> list[Relation]:
    found = [Relation(name, _subject(text), "rests on") for text in memory.evidence]
    found += [Relation(name, other, "takes the place of") for other in memory.supersedes]
    found += [Relation(name, other, "is kept with") for other in memory.compatible_with]
    source = memory.source or ""
    if source.startswith(("run:", "commit:")) and source not in memory.evidence:
        found.append(Relation(name, source, "came from"))
    return list(dict.fromkeys(found))


def _of_run(key: str, told: Mapping[str, Any]) -> list[Relation]:
    """What a run's text says that it hangs on, and what hangs on it."""
    found = [Relation(key, str(told["task"]), "worked on")] if told.get("task") else []
    found += [Relation(key, f"run:{told['parent_run_id']}", "was started by")] if told.get("parent_run_id") else []
    paths = [item.get("path") for item in told.get("artifacts") or () if isinstance(item, dict)]
    found += [Relation(f"file:{path}", key, "was written by") for path in dict.fromkeys(paths) if path][:_FILES]
    receipts = [text for text in told.get("receipts") or () if isinstance(text, str)]
    commits = [text for text in dict.fromkeys(receipts) if text.startswith("commit:") and is_oid(text[7:])]
    return [*found, *(Relation(text, key, "was made by") for text in commits)]


def _run_node(key: str, told: Mapping[str, Any]) -> RelationNode:
    said = dict_of(told.get("outputs")).get("summary") or told.get("prompt") or ""
    command = told.get("command")
    if not said and command:
        said = " ".join(map(str, command)) if isinstance(command, list) else str(command)
    status = told.get("exit_status")
    state = str(told.get("status") or "") if status is None else "ok" if status == 0 else f"exit {status}"
    text = said if isinstance(said, str) else json.dumps(said)
    return RelationNode(key, "run", key.removeprefix("run:"), text, state, str(told.get("ts") or ""))


def _subject(receipt: str) -> str:
    """What a receipt is about: a run, a commit, or a whole file for lines and symbols of it."""
    kind, _, rest = receipt.partition(":")
    if kind == "lines":
        return f"file:{rest.rpartition('@')[0].rpartition(':')[0]}"
    if kind == "symbol":
        return f"file:{rest.rpartition('@')[0].rpartition('#')[0]}"
    return f"file:{rest.rpartition('@')[0]}" if kind == "file" else receipt
