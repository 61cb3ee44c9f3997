"""Goals, tasks, claims and links, and the merge conflicts between two versions of an entry."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from holdfast.agent_store import shared_claims
from holdfast.capture import agent_plans, git_notices, session_note
from holdfast.errors import BadInput, Claimed, HoldfastError
from holdfast.git import merge_conflicts
from holdfast.git.cited_commits import commit_anchors
from holdfast.index import refresh
from holdfast.model import task as model_task
from holdfast.model.ids import PREFIXES
from holdfast.patterns import regex
from holdfast.project.concern import Concern
from holdfast.store import fsio
from holdfast.values import frozen
from holdfast.work import (
    canonical_links,
    conflict_settlement,
    project_state,
    task_board,
    task_claims,
    task_json,
    task_lifecycle,
)
from holdfast.work.task_lifecycle import LASTING, FinishedTask, TaskWorker

if TYPE_CHECKING:
    from holdfast.agent_store.shared_claims import SharedClaim, SharedClaims, StorePushed
    from holdfast.curation.memory_state import MemoryListing
    from holdfast.git.conflict_sides import EntryConflict
    from holdfast.model.session import Session, SessionItem
    from holdfast.model.task import Link, Task
    from holdfast.project import Project
    from holdfast.work.task_graph import TaskGraph, WaitingTask

T = TypeVar("T")
LABEL = "Rests on:"


_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")


_HASH = regex(r"@[0-9a-f]{40,64}\b")  # of a receipt; noise for people
_KIND = regex(r"\b(?:file|lines|symbol):(?=\S)")  # of evidence in a note, which people know by its path


_LIKELY = regex(rf"\b(?:{'|'.join(PREFIXES.values())})-[0-9a-z]|{LABEL}")


@frozen
class Shaky:
    """A memory that a task relies on and that no longer counts as accepted."""

    task: str
    memory: str
    status: str  # stale, expired, superseded, deprecated or unreviewed
    why: str


@frozen
class Next:
    """The ready tasks, best first, why the others wait, and the critical path."""

    ready: tuple[Task, ...]  # tasks and subtasks
    to_close: tuple[Task, ...]  # goals, milestones and epics whose parts and needs are all closed
    unplanned: tuple[Task, ...]  # goals, milestones and epics without parts and needs
    waiting: tuple[WaitingTask, ...]
    claims: dict[str, task_claims.TaskClaim]  # the live ones, by task
    critical_path: tuple[str, ...]
    graph: TaskGraph
    claimed: Task | None = None  # by this call
    shared: bool = False  # whether other clones see that claim
    away: int = 0  # number of tasks on other branches, if there are none here
    shaky: tuple[Shaky, ...] = ()  # memories that open tasks rely on and that no longer hold
    resting: bool = False  # whether an open task names a memory at all
    proposed: int = 0  # number of steps that agents planned and that are not tasks yet, if nothing is ready


@frozen
class TaskShown:
    """One task with its claim, parts, progress and commits."""

    placed: task_board.TaskFile
    standing: tuple[str, ...]  # why it is not ready; empty if it is ready or closed
    unblocks: tuple[str, ...]
    parts: tuple[str, ...]
    progress: tuple[int, int]
    claim: task_claims.TaskClaim | None
    away: dict[str, tuple[str, ...]]  # nodes that it names and that only other branches have, with these branches
    commits: dict[str, commit_anchors.ResolvedCommit]  # the commits that it cites, and their current place


class TaskBook(Concern):
    """The tasks, claims and links of this project. A line is the id of a branch's work."""

    subject = "tasks"

    def shaky(self, tasks: Iterable[Task], known: MemoryListing | None = None) -> tuple[Shaky, ...]:
        """Returns the memories that open tasks name and that no longer count as accepted."""
        open_ones = [task for task in tasks if not task.is_closed and rests_on_something(task)]
        naming = {task.id: set(_NAME.findall(" ".join(_texts(task)))) for task in open_ones}
        if not any(naming.values()):
            return ()
        found = known or self.project.memory.knowledge()
        doubted = (*found.stale, *found.expired, *found.superseded, *found.retired, *found.unreviewed)
        why = {one.id: (one.status, _KIND.sub("", _HASH.sub("", "; ".join(one.notes)))) for one in doubted}
        return tuple(
            Shaky(task, name, *why[name]) for task, names in naming.items() for name in sorted(names & why.keys())
        )

    def rests_on(self, names: Sequence[str], notes: str = "") -> str:
        """Returns a task's notes with a row that names the memories it relies on."""
        if not names:
            return notes
        known = {one.id for one in self.project.memory.knowledge().standings}
        if unknown := [name for name in names if name not in known]:
            raise BadInput(f"there is no memory {unknown[0]}", hint="See `holdfast memories`.")
        return f"{notes}\n\n{LABEL} {', '.join(names)}".strip()

    def board(self) -> task_board.Board:
        """Reads every task visible here."""
        return task_board.read(self.active)

    def add(self, title: str, **fields: Any) -> Task:
        """Adds a node to the work graph.

        Fields: kind, needs, parent, owner, priority, layer, systemic_scale, impact, evidence,
        acceptance, notes, id.
        """
        return self.shown(task_lifecycle.add(self.active, title=title, **fields))

    def add_from(self, item: str, title: str | None = None, **fields: Any) -> Task:
        """Creates a task from an open item of a session, such as `SES-4d2:o1`, and closes the item.

        An agent's plan is only a proposal; this accepts one step of it.
        """
        session, found = session_note.open_item(self.active, item)
        return self.shown(self._from_item(session, found, title or found.text, fields))

    def add_all_from(self, session: str, **fields: Any) -> list[Task]:
        """Creates a task from each open item of a session; each needs the one before it.

        A plan has an order: `next` must not offer its last step first.
        """
        owner, items = session_note.open_items(self.active, session)
        tasks: list[Task] = []
        for item in items:
            needs = [*(fields.get("needs") or ()), *(before.id for before in tasks[-1:])]
            tasks.append(self._from_item(owner, item, item.text, {**fields, "needs": needs}))
        return self.shown(tasks)

    def _from_item(self, session: Session, item: SessionItem, title: str, fields: Mapping[str, Any]) -> Task:
        runs = [f"run:{turn.run}" for turn in session.turns[-1:] if turn.run]
        only = session.tasks[0] if len(session.tasks) == 1 else None
        given = {
            **fields,
            "evidence": [*(fields.get("evidence") or ()), *runs],
            "parent": fields.get("parent") or (only if only in task_board.read(self.clone).placed else None),
        }
        task = task_lifecycle.add(self.clone, title=title, **given)
        session_note.close_as_task(self.clone, session, item, task.id)
        return task

    def proposed(self, board: task_board.Board | None = None) -> list[agent_plans.AgentPlan]:
        """Returns the plans of agents on this line that are not tasks yet, newest session first."""
        board = board or self.board()
        return agent_plans.find_agent_plans(self.clone, board) if self.settings.has("sessions") else []

    def edit(self, name: str, **changes: Any) -> Task:
        """Changes fields of a task; None removes a field's value."""
        return self.shown(task_lifecycle.edit(self.active, name, **changes))

    def link(self, name: str, *, needs: Iterable[str] = (), no_needs: Iterable[str] = ()) -> Task:
        """Adds needs to a task and removes others; refuses a cycle."""
        return self.shown(task_lifecycle.link(self.active, name, needs=needs, no_needs=no_needs))

    def start(
        self, name: str, *, owner: str | None = None, session: str | None = None, lasting: timedelta = LASTING
    ) -> Task:
        """Claims and starts a task; raises Claimed if somebody else has it, in any clone if a server is configured."""
        who = self._who(owner, session)
        with self._among_clones() as team:
            task = self.board().find(name).task if team.is_configured else None
            is_new = team.take(task, who.name, lasting)
            try:
                return self.shown(task_lifecycle.start(self.active, name, who, lasting=lasting))
            except HoldfastError:
                if task is not None and is_new:
                    team.release(task.id)
                raise

    def done(self, name: str, *, evidence: Sequence[str] = (), without_evidence: bool = False) -> FinishedTask:
        """Finishes a task with the cited evidence, else with the commits and runs since it was started."""
        with self._freed(name):
            return self.shown(
                task_lifecycle.done(
                    self.active, name, cited=evidence, run=self.project.parent_run, without=without_evidence
                )
            )

    def block(self, name: str, *, reason: str) -> Task:
        """Marks a task as blocked by something outside the graph."""
        with self._freed(name):
            return self.shown(task_lifecycle.stop(self.active, name, "blocked", reason=reason))

    def drop(self, name: str, *, reason: str | None = None) -> Task:
        """Drops a task; tasks that need it no longer wait for it."""
        with self._freed(name):
            return self.shown(task_lifecycle.stop(self.active, name, "dropped", reason=reason))

    def reopen(self, name: str) -> Task:
        """Reopens a task that was blocked, done, dropped or given up."""
        with self._freed(name):
            return self.shown(task_lifecycle.stop(self.active, name, "open"))

    def show(self, name: str, *, board: task_board.Board | None = None) -> TaskShown:
        """Returns one task, why it waits, which tasks wait for it, and who works on it."""
        board = board or self.board()
        placed = board.find(name)
        task, graph = placed.task, board.graph
        cited = [text.removeprefix("commit:") for text in task.evidence if text.startswith("commit:")]
        cited += [task.checkpoint.commit] if task.checkpoint else []
        away = {
            node: tuple(task_board.branches_with(self.clone, node))
            for node in (*task.needs, *filter(None, [task.parent]))
            if node not in board.placed
        }
        return TaskShown(
            placed=placed,
            standing=graph.standing(task.id),
            unblocks=graph.unblocks(task.id),
            parts=graph.children(task.id),
            progress=graph.progress(task.id),
            claim=self.claims().get(task.id),
            away=away,
            commits=commit_anchors.resolve(self.clone, cited),
        )

    def next(
        self, *, claim: bool = False, owner: str | None = None, session: str | None = None, lasting: timedelta = LASTING
    ) -> Next:
        """Returns the ready tasks and why others wait; `claim` claims the best free one."""
        # Taken before reading, so that a change made meanwhile is not missed.
        self.project.seen = refresh.signature_of(self.active)
        taken, shared = self._claim_next(self._who(owner, session), lasting) if claim else (None, False)
        board = self.board()
        graph = board.graph
        ready, waiting = graph.ready(), graph.waiting()
        plans = [task for task in ready if task.kind in model_task.PLANS]
        closing = [task for task in plans if task.needs or graph.children(task.id)]
        return Next(
            ready=tuple(task for task in ready if task.kind not in model_task.PLANS),
            to_close=tuple(closing),
            unplanned=tuple(task for task in plans if task not in closing),
            waiting=tuple(waiting),
            claims=self.claims(),
            critical_path=graph.critical_path(),
            graph=graph,
            claimed=taken,
            shared=shared,
            away=0 if ready or waiting else self.count_elsewhere(board),
            shaky=self.shaky(board.tasks),
            resting=any(rests_on_something(task) for task in board.tasks if not task.is_closed),
            proposed=0 if ready else sum(len(one.items) for one in self.proposed(board)),
        )

    def count_elsewhere(self, board: task_board.Board) -> int:
        """Returns how many tasks are on other branches and not on this board."""
        return task_board.count_elsewhere(self.clone, {placed.path for placed in board.placed.values()})

    def claims(self) -> dict[str, task_claims.TaskClaim]:
        """Returns the live claims in all work trees of this clone, by task."""
        return task_claims.live(self.clone.layout, self.clone.now())

    def release(self, name: str) -> Task:
        """Gives up the claim on a task."""
        freed = self.shown(task_lifecycle.release(self.active, name))
        if _is_server(self.settings.database_url):
            with self._among_clones() as team:
                if (claim := team.release(freed.id, anyones=True)) is not None and claim.where != team.where:
                    self.clone.notes.append(f"the claim was {claim.owner}'s, at {claim.where}")
        return freed

    def push(self) -> StorePushed:
        """Copies this clone's agents in SQLite and its live claims to a new or restored server, without duplicates."""
        if not _is_server(self.settings.database_url):
            raise BadInput(
                "no server is configured", hint="Set HOLDFAST_DATABASE_URL to postgresql://USER@HOST/DATABASE."
            )
        team, book = CloneClaims(self.project), self.project.agents
        with ExitStack() as opened:
            target = opened.enter_context(closing(book.connect()))
            has_own = os.path.exists(self.clone.layout.agent_database)
            source = opened.enter_context(closing(book.connect(local=True))) if has_own else None
            return shared_claims.push(source, target, clone=team.holder, claims=team.held())

    def _claim_next(self, who: TaskWorker, lasting: timedelta) -> tuple[Task | None, bool]:
        """The task that was claimed, if any, and whether other clones see it."""
        with self._among_clones() as team:
            elsewhere = team.elsewhere()

            def is_free(task: Task, _: object) -> bool:
                try:
                    return task.id not in elsewhere and team.take(task, who.name, lasting) is not None
                except Claimed:
                    return False  # another clone was faster

            taken = task_lifecycle.claim_next(self.clone, who, lasting=lasting, is_free=is_free)
            return taken, team.is_seen

    @contextmanager
    def _freed(self, name: str) -> Iterator[None]:
        """Gives up a claim on the server too, if the block ends it in this clone."""
        held = None
        if _is_server(self.settings.database_url):
            found = self.board().find(name).task.id
            held = found if found in self.claims() else None
        yield
        if held is not None and held not in self.claims():
            with self._among_clones() as team:
                team.release(held)

    @contextmanager
    def _among_clones(self) -> Iterator[CloneClaims]:
        """Yields the claims that all clones share, if a server is configured; connects on first use."""
        team = CloneClaims(self.project)
        try:
            yield team
        finally:
            team.close()

    def import_text(self, text: str) -> task_json.TaskPlan:
        """Adds the tasks and links of a JSON or JSONL text, all or none; returns the new ones."""
        return self.shown(task_json.bring(self.active, text))

    def export_text(self, *, lines: bool = False) -> str:
        """Returns all tasks and links as JSON, or with `lines` as JSONL."""
        found = project_state.read(self.clone, board=self.board())
        to_text = task_json.to_jsonl if lines else task_json.to_json
        return to_text(found.board.tasks, found.links)

    def state(self) -> project_state.ProjectState:
        """Reads the project state: goals, milestones, the graph, checkpoints, links."""
        return project_state.read(self.active)

    def add_link(self, target: str, *, title: str | None = None, id: str | None = None) -> Link:  # noqa: A002
        """Adds a canonical link to a tracked path, an address or a commit."""
        return self.shown(canonical_links.add(self.active, target, title=title, id=id))

    def remove_link(self, name: str) -> Link:
        """Removes a canonical link."""
        return self.shown(canonical_links.remove(self.active, name))

    def links(self) -> list[canonical_links.ListedLink]:
        """Returns the canonical links; dead ones are marked."""
        return canonical_links.listed(self.active)

    def _who(self, owner: str | None, session: str | None) -> TaskWorker:
        name = owner or self.clone.repo.text("config", "user.name", ok=(0, 1)) or "somebody"
        return task_lifecycle.TaskWorker(self.clone.scan.text(" ".join(name.split())), session)

    def conflicts(self) -> list[EntryConflict]:
        """Returns every entry in conflict, with both sides field by field."""
        return merge_conflicts.find(self.clone)

    def overruled(self, *, since: str | None = None) -> list[EntryConflict]:
        """Returns the entries for which merges since a commit, or the last merges, chose one side."""
        return merge_conflicts.overruled(self.clone, since=since)

    def conflict(self, name: str) -> EntryConflict:
        """Returns the conflict about an entry, by its id or the start of it."""
        return conflict_settlement.named(self.clone, name)

    def resolve(self, name: str, choices: Mapping[str, str]) -> conflict_settlement.SettledConflict:
        """Settles a conflict: field to `ours`, `theirs` or a value, `*` for all; no choices: the merged text."""
        done = conflict_settlement.resolve(self.clone, self.conflict(name), choices)
        git_notices.drop_notices(self.clone)
        return self.shown(done)


class CloneClaims:
    """This clone's claims on the server that all clones of the project share; without a server they are local.

    If the server does not answer, the claim still holds in this clone, and a note says that others do not see it.
    """

    def __init__(self, project: Project) -> None:
        self._project, self._failed = project, False
        self.is_configured = _is_server(project.settings.database_url)

    @cached_property
    def where(self) -> str:
        """The machine and folder of this clone, for people in other clones."""
        import socket

        return f"{socket.gethostname()}:{self._project.clone.repo.top}"

    @cached_property
    def holder(self) -> str:
        """The id of this clone; a copy of it, on this machine or another, has another id."""
        clone = self._project.clone
        text = f"{self.where.partition(':')[0]}\n{clone.repo.common_dir}\n{clone.repo_id}"
        return hashlib.sha256(os.fsencode(text)).hexdigest()[:32]

    @cached_property
    def _claims(self) -> SharedClaims:
        book = self._project.agents
        return shared_claims.SharedClaims(book.connect(), self.holder)

    @property
    def is_seen(self) -> bool:
        """Whether other clones see the claims of this one: a server is configured, and it answered."""
        return self.is_configured and not self._failed

    def elsewhere(self) -> frozenset[str]:
        """Returns the tasks that other clones have claimed, according to the server."""
        return self._ask_server(lambda: self._claims.elsewhere()) or frozenset()  # noqa: PLW0108 - connects in there

    def take(self, task: Task | None, owner: str, lasting: timedelta) -> bool:
        """Claims a task on the server; returns whether the claim is new. Raises Claimed if another clone has it."""
        if task is None or not self.is_configured:
            self._note_local()
            return False
        return bool(self._ask_server(lambda: self._claims.take(self.claim(task.id, task.title, owner, lasting))))

    def claim(self, task: str, title: str, owner: str, lasting: timedelta) -> SharedClaim:
        """Returns a claim of this clone as the server stores it."""
        branch, seconds = self._project.clone.repo.head().branch, lasting.total_seconds()
        return shared_claims.SharedClaim(
            task=task, title=title, owner=owner, where=self.where, branch=branch, seconds=seconds
        )

    def held(self) -> list[SharedClaim]:
        """Returns all live claims of this clone."""
        book, now = self._project.tasks, self._project.clone.clock()
        titles = {task.id: task.title for task in book.board().tasks}
        return [
            self.claim(one.task, titles.get(one.task, one.task), one.owner, datetime.fromisoformat(one.until) - now)
            for one in book.claims().values()
        ]

    def release(self, task: str, *, anyones: bool = False) -> SharedClaim | None:
        """Gives up a claim on the server."""
        return self._ask_server(lambda: self._claims.release(task, anyones=anyones))

    def _ask_server(self, question: Callable[[], T]) -> T | None:
        """Returns the server's answer; None without a server, or if it does not answer, which is noted once."""
        if not self.is_configured or self._failed:
            return None
        try:
            return question()
        except Claimed:
            raise
        except HoldfastError as error:
            self._failed = True
            self._project.clone.notes.append(f"other clones do not see this: {error}")
            return None

    def _note_local(self) -> None:
        """Notes once in a clone that other clones do not see its claims; not in a clone without a remote."""
        clone = self._project.clone
        mark = os.path.join(clone.layout.claims, "local")
        if os.path.lexists(mark) or not clone.repo.text("remote"):
            return
        clone.notes.append(
            "a claim is local to this clone: others see it only if database.url names a server"
            " (docs/reference/agents.md)"
        )
        fsio.make_dirs(clone.layout.claims)
        fsio.replace(mark, b"")

    def close(self) -> None:
        """Closes the connection to the server."""
        if "_claims" in self.__dict__:
            self._claims.close()


def _is_server(url: str | None) -> bool:
    """Whether a setting names a database that other clones share; loads no database library."""
    return (url or "").startswith(("postgresql:", "postgres:", "postgresql+"))


def rests_on_something(task: Task) -> bool:
    """Whether a task seems to name a memory; cheap, as it runs for every task."""
    return any(map(_LIKELY.search, _texts(task)))


def _texts(task: Task) -> tuple[str, ...]:
    return (task.title, task.notes, task.impact or "", *task.acceptance)
