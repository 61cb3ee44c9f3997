"""Goals, tasks and links: who does what, what comes next, and what two sides say differently."""

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
    from holdfast.git.conflict_sides import EntryConflict
    from holdfast.model.session import Session, SessionItem
    from holdfast.model.task import Link, Task
    from holdfast.project import Project
    from holdfast.work.task_graph import TaskGraph, WaitingTask

T = TypeVar("T")
LABEL = "Rests on:"


_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")


_HASH = regex(r"@[0-9a-f]{40,64}\b")  # a receipt's, which nobody reads


_LIKELY = regex(rf"\b(?:{'|'.join(PREFIXES.values())})-[0-9a-z]|{LABEL}")


@frozen
class Shaky:
    """A memory that a task rests on and that does not hold as it did."""

    task: str
    memory: str
    status: str  # stale, expired, superseded, deprecated or unreviewed
    why: str


@frozen
class Next:
    """What can be done now, best first, why the rest cannot, and the longest way to the end."""

    ready: tuple[Task, ...]  # tasks and subtasks
    to_close: tuple[Task, ...]  # goals, milestones and epics whose parts and needs are all closed
    unplanned: tuple[Task, ...]  # those that have neither parts nor needs yet
    waiting: tuple[WaitingTask, ...]
    claims: dict[str, task_claims.TaskClaim]  # the live ones, by task
    critical_path: tuple[str, ...]
    graph: TaskGraph
    claimed: Task | None = None  # by this very question
    shared: bool = False  # whether other clones see that claim
    away: int = 0  # if nothing is to be done here: how many tasks other branches have
    shaky: tuple[Shaky, ...] = ()  # memories that open tasks rest on and that no longer hold
    resting: bool = False  # whether an open task names a memory at all
    proposed: int = 0  # if nothing is ready: how many steps agents planned that are no tasks


@frozen
class TaskShown:
    """One task with everything around it."""

    placed: task_board.TaskFile
    standing: tuple[str, ...]  # why it is not ready; empty if it is, or is closed
    unblocks: tuple[str, ...]
    parts: tuple[str, ...]
    progress: tuple[int, int]
    claim: task_claims.TaskClaim | None
    away: dict[str, tuple[str, ...]]  # nodes it names that are not here, and the branches that have them
    commits: dict[str, commit_anchors.ResolvedCommit]  # the commits it cites, and where they are now


class TaskBook(Concern):
    """What is to be done."""

    subject = "tasks"

    def shaky(self, tasks: Iterable[Task]) -> tuple[Shaky, ...]:
        """The memories that open tasks name and that no longer hold, or do not hold as they did."""
        there = [task for task in tasks if not task.is_closed and rests_on_something(task)]
        naming = {task.id: set(_NAME.findall(" ".join(_texts(task)))) for task in there}
        if not any(naming.values()):
            return ()
        found = self.project.memory.knowledge()
        doubted = (*found.stale, *found.expired, *found.superseded, *found.retired, *found.unreviewed)
        why = {one.id: (one.status, _HASH.sub("", "; ".join(one.notes))) for one in doubted}
        return tuple(
            Shaky(task, name, *why[name]) for task, names in naming.items() for name in sorted(names & why.keys())
        )

    def rests_on(self, names: Sequence[str], notes: str = "") -> str:
        """A task's notes with a line that names the memories it rests on."""
        if not names:
            return notes
        known = {one.id for one in self.project.memory.knowledge().standings}
        if unknown := [name for name in names if name not in known]:
            raise BadInput(f"{unknown[0]} is no memory here", hint="See `holdfast memories`.")
        return f"{notes}\n\n{LABEL} {', '.join(names)}".strip()

    def board(self) -> task_board.Board:
        """Every task visible here."""
        return task_board.read(self.active)

    def add(self, title: str, **fields: Any) -> Task:
        """Add a node to the work graph.

        Fields: kind, needs, parent, owner, priority, layer, systemic_scale, impact, evidence,
        acceptance, notes, id.
        """
        return self.shown(task_lifecycle.add(self.active, title=title, **fields))

    def add_from(self, item: str, title: str | None = None, **fields: Any) -> Task:
        """Make a task of what a session left open, such as `SES-4d2:o1`; there it is closed.

        An agent's plan is only a proposal: this is how somebody says yes to a part of it.
        """
        session, found = session_note.open_item(self.active, item)
        return self.shown(self._from_item(session, found, title or found.text, fields))

    def add_all_from(self, session: str, **fields: Any) -> list[Task]:
        """Make a task of each thing that a session left open, each needing the one before it.

        A plan has an order: `next` must not offer its last step first.
        """
        whose, found = session_note.open_items(self.active, session)
        made: list[Task] = []
        for one in found:
            needs = [*(fields.get("needs") or ()), *(before.id for before in made[-1:])]
            made.append(self._from_item(whose, one, one.text, {**fields, "needs": needs}))
        return self.shown(made)

    def _from_item(self, session: Session, item: SessionItem, title: str, fields: Mapping[str, Any]) -> Task:
        runs = [f"run:{turn.run}" for turn in session.turns[-1:] if turn.run]
        only = session.tasks[0] if len(session.tasks) == 1 else None
        given = {
            **fields,
            "evidence": [*(fields.get("evidence") or ()), *runs],
            "parent": fields.get("parent") or (only if only in task_board.read(self.clone).placed else None),
        }
        made = task_lifecycle.add(self.clone, title=title, **given)
        session_note.close_as_task(self.clone, session, item, made.id)
        return made

    def proposed(self, board: task_board.Board | None = None) -> list[agent_plans.AgentPlan]:
        """What agents planned on this line and nobody made a task of, newest session first."""
        there = board or self.board()
        return agent_plans.find_agent_plans(self.clone, there) if self.settings.has("sessions") else []

    def edit(self, name: str, **changes: Any) -> Task:
        """Change fields of a task; None takes a field's value away."""
        return self.shown(task_lifecycle.edit(self.active, name, **changes))

    def link(self, name: str, *, needs: Iterable[str] = (), no_needs: Iterable[str] = ()) -> Task:
        """Add needs to a task, and take others away; a cycle is refused."""
        return self.shown(task_lifecycle.link(self.active, name, needs=needs, no_needs=no_needs))

    def start(
        self, name: str, *, owner: str | None = None, session: str | None = None, lasting: timedelta = LASTING
    ) -> Task:
        """Claim a task and begin it; Claimed if somebody else has it, in any clone if a server is configured."""
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
        """Finish a task with its evidence: what is cited, else the commits and runs since it was started."""
        with self._freed(name):
            return self.shown(
                task_lifecycle.done(
                    self.active, name, cited=evidence, run=self.project.parent_run, without=without_evidence
                )
            )

    def block(self, name: str, *, reason: str) -> Task:
        """Say that something outside the graph holds a task back."""
        with self._freed(name):
            return self.shown(task_lifecycle.stop(self.active, name, "blocked", reason=reason))

    def drop(self, name: str, *, reason: str | None = None) -> Task:
        """Say that a task will not be done; what needed it no longer waits for it."""
        with self._freed(name):
            return self.shown(task_lifecycle.stop(self.active, name, "dropped", reason=reason))

    def reopen(self, name: str) -> Task:
        """Open a task again that was blocked, done, dropped or given up."""
        with self._freed(name):
            return self.shown(task_lifecycle.stop(self.active, name, "open"))

    def show(self, name: str) -> TaskShown:
        """One task, why it waits, what waits for it, and who works on it."""
        board = self.board()
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
        """What is ready, why the rest is not, and what comes free; `claim` takes the best that is free."""
        # Before looking: what changes meanwhile must not be missed.
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
        """How many tasks are on other branches and not on this board."""
        return task_board.count_elsewhere(self.clone, {placed.path for placed in board.placed.values()})

    def claims(self) -> dict[str, task_claims.TaskClaim]:
        """Who works on what right now, in any work tree of this clone."""
        return task_claims.live(self.clone.layout, self.clone.now())

    def release(self, name: str) -> Task:
        """Give up the claim on a task."""
        freed = self.shown(task_lifecycle.release(self.active, name))
        if _is_server(self.settings.database_url):
            with self._among_clones() as team:
                if (claim := team.release(freed.id, anyones=True)) is not None and claim.where != team.where:
                    self.clone.notes.append(f"the claim was {claim.owner}'s, at {claim.where}")
        return freed

    def push(self) -> StorePushed:
        """Give a lost or new server what this clone has: its agents in SQLite and its live claims; nothing twice."""
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
        """Give a claim of this clone up among all clones, too, once what is done here has ended it."""
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
        """The claims that all clones see, if a server is configured; nothing is connected before it is asked."""
        team = CloneClaims(self.project)
        try:
            yield team
        finally:
            team.close()

    def import_text(self, text: str) -> task_json.TaskPlan:
        """Add the tasks and links of a JSON or JSONL text, all or none; gives those that are new."""
        return self.shown(task_json.bring(self.active, text))

    def export_text(self, *, lines: bool = False) -> str:
        """All tasks and links as JSON, or one object a line."""
        found = project_state.read(self.clone, board=self.board())
        written = task_json.to_jsonl if lines else task_json.to_json
        return written(found.board.tasks, found.links)

    def state(self) -> project_state.ProjectState:
        """The long cache: goals, milestones, the graph, checkpoints, links."""
        return project_state.read(self.active)

    def add_link(self, target: str, *, title: str | None = None, id: str | None = None) -> Link:  # noqa: A002
        """Keep a canonical link to a tracked path, an address or a commit."""
        return self.shown(canonical_links.add(self.active, target, title=title, id=id))

    def remove_link(self, name: str) -> Link:
        """Take a canonical link away."""
        return self.shown(canonical_links.remove(self.active, name))

    def links(self) -> list[canonical_links.ListedLink]:
        """The canonical links, the dead ones marked."""
        return canonical_links.listed(self.active)

    def _who(self, owner: str | None, session: str | None) -> TaskWorker:
        name = owner or self.clone.repo.text("config", "user.name", ok=(0, 1)) or "somebody"
        return task_lifecycle.TaskWorker(self.clone.scan.text(" ".join(name.split())), session)

    def conflicts(self) -> list[EntryConflict]:
        """Every entry that waits for somebody to choose, with both sides field by field."""
        return merge_conflicts.find(self.clone)

    def overruled(self, *, since: str | None = None) -> list[EntryConflict]:
        """What merges after a commit decided against one side; without one, the last merges."""
        return merge_conflicts.overruled(self.clone, since=since)

    def conflict(self, name: str) -> EntryConflict:
        """The conflict about an entry, by its id or the beginning of it."""
        return conflict_settlement.named(self.clone, name)

    def resolve(self, name: str, choices: Mapping[str, str]) -> conflict_settlement.SettledConflict:
        """Settle a conflict: field to `ours`, `theirs` or a value, `*` for all; nothing: the merged text."""
        done = conflict_settlement.resolve(self.clone, self.conflict(name), choices)
        git_notices.drop_notices(self.clone)
        return self.shown(done)


class CloneClaims:
    """This clone's claims among those of all clones of the project; without a server they are its own affair.

    A server that does not answer hinders nobody: the claim holds in this clone, and a note says that others do not
    see it.
    """

    def __init__(self, project: Project) -> None:
        self._project, self._failed = project, False
        self.is_configured = _is_server(project.settings.database_url)

    @cached_property
    def where(self) -> str:
        """The machine and the folder, for people of other clones."""
        import socket

        return f"{socket.gethostname()}:{self._project.clone.repo.top}"

    @cached_property
    def holder(self) -> str:
        """What tells this clone from all others: a copy of it, on this machine or another, is not the same."""
        clone = self._project.clone
        told = f"{self.where.partition(':')[0]}\n{clone.repo.common_dir}\n{clone.repo_id}"
        return hashlib.sha256(os.fsencode(told)).hexdigest()[:32]

    @cached_property
    def _claims(self) -> SharedClaims:
        book = self._project.agents
        return shared_claims.SharedClaims(book.connect(), self.holder)

    @property
    def is_seen(self) -> bool:
        """Whether other clones see the claims of this one: a server is configured, and it answered."""
        return self.is_configured and not self._failed

    def elsewhere(self) -> frozenset[str]:
        """The tasks that other clones have claimed, as far as the server says."""
        return self._asked(lambda: self._claims.elsewhere()) or frozenset()  # noqa: PLW0108 - connects in there

    def take(self, task: Task | None, owner: str, lasting: timedelta) -> bool:
        """Claim a task among all clones; gives whether that is new. Claimed if another clone has it."""
        if task is None or not self.is_configured:
            self._say_local()
            return False
        return bool(self._asked(lambda: self._claims.take(self.claim(task.id, task.title, owner, lasting))))

    def claim(self, task: str, title: str, owner: str, lasting: timedelta) -> SharedClaim:
        """A claim of this clone, as others see it."""
        branch, seconds = self._project.clone.repo.head().branch, lasting.total_seconds()
        return shared_claims.SharedClaim(
            task=task, title=title, owner=owner, where=self.where, branch=branch, seconds=seconds
        )

    def held(self) -> list[SharedClaim]:
        """All live claims of this clone."""
        book, now = self._project.tasks, self._project.clone.clock()
        titles = {task.id: task.title for task in book.board().tasks}
        return [
            self.claim(one.task, titles.get(one.task, one.task), one.owner, datetime.fromisoformat(one.until) - now)
            for one in book.claims().values()
        ]

    def release(self, task: str, *, anyones: bool = False) -> SharedClaim | None:
        """Give a claim up among all clones."""
        return self._asked(lambda: self._claims.release(task, anyones=anyones))

    def _asked(self, question: Callable[[], T]) -> T | None:
        """What the server answers; None if there is none, or it does not answer, which is said once."""
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

    def _say_local(self) -> None:
        """Say once in a clone that others do not see its claims; where there are no others, say nothing."""
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
        """Let go of the server."""
        if "_claims" in self.__dict__:
            self._claims.close()


def _is_server(url: str | None) -> bool:
    """Whether a setting names a database that other clones see; the libraries for it are not loaded for this."""
    return (url or "").startswith(("postgresql:", "postgres:", "postgresql+"))


def rests_on_something(task: Task) -> bool:
    """Whether a task seems to name a memory; cheap, for it is asked of every task."""
    return any(map(_LIKELY.search, _texts(task)))


def _texts(task: Task) -> tuple[str, ...]:
    return (task.title, task.notes, task.impact or "", *task.acceptance)
