"""Agents of your own: who they are, what they do cycle by cycle, what they remember, and how a run enters the log.

    agent = project.agents.get("researcher", directives=["Cite every claim."])
    agent.resume()
    with agent.cycle() as cycle:
        cycle.propose(thoughts="…", tool="search", arguments={"query": "…"})
        cycle.result(output=search(...))
    agent.finish("Three papers found.", lessons=["The search API wants ASCII."])

The store is `agent_store`: SQLite in this clone, or the database that `database.url` names. A finished run is
imported like any agent's session: it has an event, a page and candidates.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from holdfast.agent_store import agent_cycles, agent_memory, database, tables, work_queue
from holdfast.capture.agents import own_agent
from holdfast.errors import BadInput, HoldfastError, NoDatabase
from holdfast.model.agent_entities import (
    LONG_TERM,
    ActionProposal,
    ActionResult,
    AgentCycle,
    AgentHit,
    AgentIdentity,
    MemoryRecord,
)
from holdfast.model.event import timestamp
from holdfast.model.ids import run_id as new_run_id
from holdfast.model.ids import token
from holdfast.project.concern import Concern
from holdfast.store import fsio
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.agent_store.database import AgentDatabase
    from holdfast.agent_store.work_queue import WorkQueue
    from holdfast.project import Project

MAX_AGENT_NAME = 80  # characters
_EXTRA = "Install it: pip install 'holdfast[agents]'."


class AgentBook(Concern):
    """The agents of this project."""

    @cached_property
    def database(self) -> AgentDatabase:
        """The store that the settings name, opened on first use."""
        return self.connect()

    def connect(self, *, local: bool = False) -> AgentDatabase:
        """The store that the settings name, for somebody who closes it; `local`: the one in this clone."""
        url = None if local else self.settings.database_url
        try:
            if url is None:
                return database.open_sqlite(self.clone.layout.agent_database, self.project_id)
            return database.open_url(url, self.project_id)
        except ModuleNotFoundError as error:
            raise NoDatabase(f"agents of your own need {error.name}", hint=_EXTRA) from None

    @cached_property
    def project_id(self) -> str:
        """What this project is called in a store that clones share: the setting, else its first commit."""
        if chosen := self.settings.database_project:
            return chosen
        path = self.clone.layout.project_id
        if known := fsio.find(path, limit=200):
            return known.decode("ascii", "replace").strip()
        found = self._first_commit() or self.clone.repo_id
        fsio.replace(path, f"{found}\n".encode())
        return found

    def _first_commit(self) -> str | None:
        """The oldest commit without a parent; None where history is cut off or has not begun."""
        repo = self.clone.repo
        if repo.run("rev-parse", "--is-shallow-repository").strip() == b"true":
            if self.settings.database_url:
                raise BadInput(
                    "this clone is shallow, so its first commit is not known",
                    hint="Fetch the rest (`git fetch --unshallow`), or set HOLDFAST_DATABASE_PROJECT.",
                )
            return None
        told = repo.attempt("log", "--max-parents=0", "--format=%ct %H", "HEAD").stdout.decode("ascii")
        roots = sorted((int(when), oid) for when, oid in (row.split() for row in told.splitlines()))
        return roots[0][1] if roots else None

    def get(
        self, name: str, *, directives: Sequence[str] | None = None, config: Mapping[str, Any] | None = None
    ) -> Agent:
        """The agent of that name, made if it is new; what is given replaces what it was told before."""
        if not name or len(name) > MAX_AGENT_NAME or not name.isprintable() or name != name.strip():
            raise BadInput(f"{name[:80]!r} is no name for an agent", hint="Use a short name, such as researcher.")
        if isinstance(directives, str):
            raise BadInput("directives are a list of texts")
        clean = None if directives is None else [self.clone.intake.text(str(one)) for one in directives]
        made = partial(agent_cycles.get_agent, name=name, new_id=token(12), directives=clean, config=config)
        return Agent(self.project, self.database.run(made))

    def find(self, name: str) -> Agent:
        """The agent of that name; NotFound if there is none."""
        return Agent(self.project, self.database.run(lambda tx: agent_cycles.find_agent(tx, name), read=True))

    def queue(self, name: str) -> WorkQueue:
        """The queue of the agent of that name, made if it is new: actions for any process on any machine."""
        return work_queue.WorkQueue(self.database, self.get(name).identity.id, clean=self.clone.intake.value)

    def list(self) -> Sequence[AgentIdentity]:
        """All agents, by name."""
        return self.database.run(agent_cycles.every_agent, read=True)


@frozen
class Resumption:
    """Where an agent goes on: after its last cycle, or with one whose result nobody knows."""

    pending: CycleUnderWay | None  # its action may have happened: look first, then give its result
    next_index: int
    state: Any


class Agent:
    """One agent, for the process that works as it."""

    def __init__(self, project: Project, identity: AgentIdentity) -> None:
        self._project, self.identity = project, identity
        self._holder = agent_cycles.this_process()
        self._scan = project.clone.intake

    @property
    def name(self) -> str:
        return self.identity.name

    @property
    def _database(self) -> AgentDatabase:
        return self._project.agents.database

    # ── cycles ───────────────────────────────────────────────────────────────────────────────────

    def resume(self) -> Resumption:
        """Take the agent up where it stopped; Claimed if another process works as it."""

        def taken(tx: database.StoreTransaction) -> tuple[AgentIdentity, AgentCycle | None]:
            now = agent_cycles.take(tx, self.identity, self._holder)
            return now, agent_cycles.last_cycle(tx, now)

        self.identity, last = self._database.run(taken)
        pending = CycleUnderWay(self, last) if last is not None and last.is_open else None
        return Resumption(pending, self.identity.cycles, self.identity.state)

    def cycle(self) -> CycleUnderWay:
        """The next cycle; nothing is kept before it proposes something."""
        return CycleUnderWay(self, None)

    def cycles(self, *, last: int | None = None) -> Sequence[AgentCycle]:
        """The cycles so far, in their order."""
        return self._database.run(partial(agent_cycles.cycles, agent=self.identity, newest=last), read=True)

    def episodes(self, last: int = 20) -> Sequence[AgentCycle]:
        """The last cycles that have a result: what the agent did and what came of it."""
        return [one for one in self.cycles(last=last + 1) if not one.is_open][-last:]

    def heartbeat(self) -> None:
        """Say that this process still works as the agent: for a step that takes longer than the lease."""
        self._database.run(partial(agent_cycles.take, agent=self.identity, holder=self._holder))

    def begin(self, proposal: ActionProposal) -> AgentCycle:
        """Keep a proposal as the next cycle; durable on return."""
        clean = ActionProposal(**self._clean(proposal, "thoughts", "plan", "tool", "arguments", "workspace"))
        run = new_run_id(self._project.clone.clock())
        made = partial(
            agent_cycles.begin, agent=self.identity, proposal=clean, holder=self._holder, action=token(16), run_id=run
        )
        return self._database.run(made)

    def end(self, cycle: AgentCycle, result: ActionResult, *, state: Any = None) -> AgentCycle:
        """Keep what came of a cycle; durable on return."""
        clean = ActionResult(**self._clean(result, "output", "error", "artifacts"))
        made = partial(agent_cycles.finish, agent=self.identity, cycle=cycle, result=clean, holder=self._holder)
        return self._database.run(partial(made, state=state))

    def _clean(self, value: ActionProposal | ActionResult, *names: str) -> dict[str, Any]:
        """The fields without known secrets: what an agent does is written down as any other run is."""
        given = {name: getattr(value, name) for name in names}
        tables.to_json(given)  # what is no JSON is refused here, with a sentence
        safe = self._scan.value(given)
        return {name: tuple(one) if isinstance(one, list) and name != "output" else one for name, one in safe.items()}

    # ── memory ───────────────────────────────────────────────────────────────────────────────────

    def remember(
        self,
        text: str,
        *,
        kind: str = "observation",
        namespace: str = LONG_TERM,
        cycle: int | None = None,
        pinned: bool = False,
        evidence: Sequence[str] = (),
    ) -> MemoryRecord:
        """Keep something for this agent; durable on return. The same text in the same cycle is one record."""
        clean = agent_memory.checked(self._scan.text(text), kind, namespace)
        identity = agent_memory.record_id(self.identity.id, kind, namespace, clean, cycle)
        record = MemoryRecord(
            id=identity, agent=self.name, kind=kind, namespace=namespace, text=clean, cycle=cycle, pinned=pinned
        )
        return self._database.run(partial(agent_memory.remember, agent=self.identity, record=record, evidence=evidence))

    def recall(self, query: str, *, limit: int = 8, namespaces: Sequence[str] = ()) -> Sequence[AgentHit]:
        """What the agent remembers about something, best first, and its last results."""
        words = sorted({word for word in query.split() if len(word) > 2}, key=len, reverse=True)[:12]

        def found(tx: database.StoreTransaction) -> list[MemoryRecord]:
            return agent_memory.with_words(tx, self.identity, words, namespaces=namespaces)

        hits = [
            AgentHit(text=one.text, score=_share(one.text, words), found="words", record=one)
            for one in self._database.run(found, read=True)
        ]
        best = sorted(hits, key=lambda hit: -hit.score)[:limit]
        self._database.run(lambda tx: agent_memory.use(tx, [hit.record.id for hit in best if hit.record]))
        return best

    def _place(self) -> dict[str, Any]:
        """Where this process works: the folder, the branch and its commit."""
        repo = self._project.clone.repo
        head = repo.head()
        return {"cwd": repo.top, "branch": head.branch, "commit": head.oid}

    # ── the end of a run ─────────────────────────────────────────────────────────────────────────

    def finish(self, summary: str = "", *, task: str | None = None, lessons: Sequence[str] = ()) -> str | None:
        """End the run: it enters the project's log, and its lessons become candidates. Gives the run's id.

        None if no cycle was done since the last run. Killed anywhere, the same call again finishes it.
        """
        resumed = self.resume()
        if resumed.pending is not None:
            raise BadInput(
                f"cycle {resumed.pending.index} of {self.name} has no result",
                hint="Give its result first: `agent.resume().pending.result(...)`.",
            )
        run = self.identity.run_id
        if run is None:
            return None
        done = self._database.run(partial(agent_cycles.cycles, agent=self.identity, run_id=run), read=True)
        path = os.path.join(self._project.clone.layout.agent_runs, f"{run}.jsonl")
        rows = run_rows(self.name, run, done, place=self._place(), task=task, summary=summary)
        data = "".join(f"{json.dumps(self._scan.value(row))}\n" for row in rows)
        fsio.make_dirs(os.path.dirname(path))
        fsio.replace(path, data.encode())
        recorded = self._project.transcripts.record(own_agent.DIALECT, path)
        for lesson in lessons:
            self._project.memory.remember(
                lesson, evidence=[f"run:{recorded}"], tags=["lesson"], source=f"run:{recorded}"
            )
        self._database.run(partial(agent_cycles.end_run, agent=self.identity, run_id=run))
        return recorded


def run_rows(
    agent: str, run: str, done: Sequence[AgentCycle], *, place: Mapping[str, Any], task: str | None, summary: str
) -> Iterator[dict[str, Any]]:
    """A run of cycles as a transcript; `place` says where it happened."""
    started = _moment(done[0].started)
    yield {"type": "session", "agent": agent, "session": run, **place, "started": started, "title": task}
    yield {"type": "turn", "key": run, "ts": started, "prompt": task or ""}
    for one in done:
        proposal, result = one.proposal, one.result
        said = proposal.thoughts if proposal.tool is None else ""
        told = {
            "type": "step",
            "id": one.action,
            "ts": _moment(one.started),
            "reasoning": proposal.thoughts,
            "text": said,
        }
        if proposal.tool is None or result is None:
            yield told
            continue
        output = result.error if result.error is not None else result.output
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        given = json.dumps(proposal.arguments, ensure_ascii=False)
        call = {"id": one.action, "name": proposal.tool, "input": given, "output": text}
        yield {**told, "calls": [{**call, "failed": result.error is not None}]}
    if summary:
        yield {"type": "step", "id": f"{run}-end", "ts": _moment(done[-1].ended or done[-1].started), "text": summary}


class CycleUnderWay:
    """One cycle from its proposal to its result.

    As a context, it keeps an exception as the result's error. Whatever ends the process leaves the cycle open.
    """

    def __init__(self, agent: Agent, kept: AgentCycle | None) -> None:
        self._agent, self.kept = agent, kept

    @property
    def index(self) -> int | None:
        """Its place among the agent's cycles; None before it proposed something."""
        return self.kept.index if self.kept else None

    @property
    def action(self) -> str | None:
        """The name of its action, which stays the same after a crash: give it to tools that can tell a repeat."""
        return self.kept.action if self.kept else None

    def propose(
        self,
        *,
        thoughts: str = "",
        plan: Sequence[str] = (),
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        workspace: str | None = None,
    ) -> AgentCycle:
        """Keep what the agent means to do; durable on return. Only then may it be done."""
        if self.kept is not None:
            raise BadInput(f"cycle {self.index} of {self._agent.name} has a proposal already")
        given = ActionProposal(
            thoughts=thoughts, plan=tuple(plan), tool=tool, arguments=dict(arguments or {}), workspace=workspace
        )
        self.kept = self._agent.begin(given)
        return self.kept

    def result(
        self, *, output: Any = None, error: str | None = None, artifacts: Sequence[str] = (), state: Any = None
    ) -> AgentCycle:
        """Keep what came of it; durable on return. `state` is what `resume` gives to the next process."""
        if self.kept is None:
            raise BadInput("a cycle needs a proposal before its result", hint="Call `cycle.propose(...)` first.")
        given = ActionResult(output=output, error=error, artifacts=tuple(artifacts))
        self.kept = self._agent.end(self.kept, given, state=state)
        return self.kept

    def __enter__(self) -> CycleUnderWay:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if self.kept is None or not self.kept.is_open:
            return
        if isinstance(error, Exception) and not isinstance(error, HoldfastError):
            self.result(error=f"{type(error).__name__}: {error}")
        elif error is None:
            raise BadInput(f"cycle {self.index} of {self._agent.name} ended without a result")


def _moment(micros: int) -> str:
    return timestamp(datetime.fromtimestamp(micros / agent_cycles.MICROS, UTC))


def _share(text: str, words: Sequence[str]) -> float:
    held = sum(word.casefold() in text.casefold() for word in words)
    return round(held / max(1, len(words)), 4)
