"""One agent of your own, for the process that runs it: cycles, memory, files, and the end of a run.

`project.agents.get(name)` returns an `Agent`. `agent_store` stores its data; a finished run is written as a transcript
and imported like any agent's session.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from holdfast.agent_store import agent_cycles, agent_memory, database, tables, vector_store, workspace_files
from holdfast.errors import BadInput, HoldfastError, LockedText, NoModel
from holdfast.model.agent_entities import (
    LONG_TERM,
    SHORT_TERM,
    ActionProposal,
    ActionResult,
    AgentCycle,
    AgentHit,
    AgentIdentity,
    MemoryBudget,
    MemoryRecord,
    NamespacePruning,
    PruneReport,
    VectorRow,
)
from holdfast.model.event import timestamp
from holdfast.model.ids import run_id as new_run_id
from holdfast.model.ids import token
from holdfast.values import frozen, replace

if TYPE_CHECKING:
    from datetime import timedelta

    from holdfast.agent_store.database import AgentDatabase
    from holdfast.agent_store.workspace_files import Workspace
    from holdfast.project import Project

RECENT = 2  # last results in every recall; a guess: more would crowd out the hits
_EXTRA = "Install again from Holdfast's own folder, with '.[agents]' in place of '.'"
_KEY = "Set it to keyring, env:NAME or age:FILE-OF-RECIPIENTS."
_SEALED = "[sealed]"  # replaces encrypted text in the project's log


@frozen
class Resumption:
    """Where an agent continues: after its last cycle, or with an open cycle whose result is unknown."""

    pending: CycleUnderWay | None  # its action may have happened: check first, then record its result
    next_index: int
    state: Any


class Agent:
    """One agent, for the process that runs it."""

    def __init__(self, project: Project, identity: AgentIdentity) -> None:
        self._project, self.identity = project, identity
        self._holding = False  # whether this object holds the lease: then no other process may have had it since
        self._scan = project.clone.intake
        self._workspaces: dict[str, Workspace] = {}  # those with a folder: a cycle that names one keeps its files

    @property
    def name(self) -> str:
        return self.identity.name

    @property
    def _holder(self) -> str:
        return agent_cycles.this_process()

    @property
    def _database(self) -> AgentDatabase:
        return self._project.agents.database

    # ── cycles ───────────────────────────────────────────────────────────────────────────────────

    def resume(self) -> Resumption:
        """Takes the lease and returns where the agent stopped; raises Claimed if another process runs it."""

        def take(tx: database.StoreTransaction) -> tuple[AgentIdentity, AgentCycle | None]:
            now = agent_cycles.take(tx, self.identity, self._holder)
            return now, agent_cycles.last_cycle(tx, now)

        self.identity, last = self._database.run(take)
        self._holding = True
        if self.identity.locked or (last is not None and last.is_open and last.locked):
            what = f"agent {self.name}" if self.identity.locked else f"the open cycle of {self.name}"
            raise LockedText(f"{what} is sealed, and its key is not here")
        pending = CycleUnderWay(self, last) if last is not None and last.is_open else None
        return Resumption(pending, self.identity.cycles, self.identity.state)

    def cycle(self) -> CycleUnderWay:
        """Returns the next cycle; it is stored when it proposes something."""
        return CycleUnderWay(self, None)

    def cycles(self, *, last: int | None = None) -> Sequence[AgentCycle]:
        """Returns the cycles so far, in order."""
        return self._database.run(partial(agent_cycles.cycles, agent=self.identity, newest=last), read=True)

    def episodes(self, last: int = 20) -> Sequence[AgentCycle]:
        """Returns the last cycles with a result."""
        return [one for one in self.cycles(last=last + 1) if not one.is_open][-last:]

    def heartbeat(self) -> None:
        """Renews the lease, for a step that takes longer than it."""
        renew = partial(agent_cycles.take, agent=self.identity, holder=self._holder, holding=self._holding)
        self._database.run(renew)
        self._holding = True

    def let_go(self) -> None:
        """Releases the lease, so that another process need not wait for its end."""
        self._database.run(partial(agent_cycles.let_go, agent=self.identity, holder=self._holder))
        self._holding = False

    def begin(self, proposal: ActionProposal) -> AgentCycle:
        """Stores a proposal as the next cycle, durably."""
        clean = ActionProposal(**self._clean(proposal, "thoughts", "plan", "tool", "arguments", "workspace"))
        run = new_run_id(self._project.clone.clock())
        begin = partial(agent_cycles.begin, agent=self.identity, proposal=clean, action=token(16), run_id=run)
        cycle = self._database.run(partial(begin, holder=self._holder, holding=self._holding))
        self._holding = True
        return cycle

    def end(self, cycle: AgentCycle, result: ActionResult, *, state: Any = None) -> AgentCycle:
        """Stores the result of a cycle, durably."""
        clean = ActionResult(**self._clean(result, "output", "error", "artifacts"))
        finish = partial(agent_cycles.finish, agent=self.identity, cycle=cycle, result=clean, holder=self._holder)
        return self._database.run(partial(finish, state=state))

    def _clean(self, value: ActionProposal | ActionResult, *names: str) -> dict[str, Any]:
        """Returns the fields without known secrets, as for any other run."""
        given = {name: getattr(value, name) for name in names}
        tables.to_json(given)  # refuses values that are not JSON, with a clear error
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
        embedding: Sequence[float] | None = None,
    ) -> MemoryRecord:
        """Stores a memory of this agent, durably. The same text in the same cycle is one record.

        Its vector is `embedding`, or comes from the model for search by meaning if there is one.
        """
        if not is_text(text) or not is_text(namespace) or self._scan.text(namespace) != namespace:
            raise BadInput("a record needs a text, and a namespace whose name contains no secret")
        clean = agent_memory.checked(self._scan.text(text), kind, namespace)
        evidence = [self._scan.text(one) for one in listed("evidence", evidence)]
        vault = self._database.vault
        identity = agent_memory.record_id(self.identity.id, kind, namespace, clean, cycle, vault=vault)
        record = MemoryRecord(
            id=identity, agent=self.name, kind=kind, namespace=namespace, text=clean, cycle=cycle, pinned=pinned
        )
        made = self._vector(clean, embedding)
        vector = (made[0], vector_store.as_bytes(made[1])) if made else None
        keep = partial(agent_memory.remember, agent=self.identity, record=record, evidence=evidence, vector=vector)
        kept = self._database.run(keep)
        if vector is not None:
            row = VectorRow(kept.id, self.identity.id, namespace, vector[1])
            self._project.agents.vectors.put(vector[0], [row])
        return kept

    def recall(
        self,
        query: str,
        *,
        limit: int = 8,
        namespaces: Sequence[str] = (),
        embedding: Sequence[float] | None = None,
        projects: Sequence[str] = (),
    ) -> Sequence[AgentHit]:
        """Returns the agent's memories about something, best first, and then its last results.

        It searches by vectors if there are any (from `embedding`, or from the model for search by meaning), else by
        words. `projects` adds memories of the agent of that name in other projects of a shared database.
        """
        if not is_text(query):
            raise BadInput("recall needs a text to search for", hint='Write agent.recall("…").')
        namespaces, projects = listed("namespaces", namespaces), listed("projects", projects)
        if type(limit) is not int or limit < 1 or any("," in one or not one for one in projects):
            raise BadInput("recall needs a limit of 1 or more, and project names without commas")
        vector = self._vector(query, embedding, is_question=True)
        places = [None, *(one for one in dict.fromkeys(projects) if one != self._database.project)]
        recent = self._recent(query, namespaces)[: limit // 2]
        hits: list[AgentHit] = []
        if vector is not None:
            hits = [hit for place in places for hit in self._near(vector, limit, namespaces, place)]
        if not hits:  # scores by words and by vectors cannot be compared, so only one kind is used
            hits = [hit for place in places for hit in self._with_words(query, namespaces, place)]
        best = sorted(hits, key=lambda hit: -hit.score)[: limit - len(recent)]
        own = [hit.record.id for hit in best if hit.record is not None and hit.project is None]
        if own:
            self._database.run(lambda tx: agent_memory.use(tx, own))
        return [*best, *recent]

    def _vector(
        self, text: str, embedding: Sequence[float] | None, *, is_question: bool = False
    ) -> tuple[str, Any] | None:
        """Returns the name of a model and a text's vector; None without a model.

        None also if memories are sealed: a vector reveals its text.
        """
        if self._database.vault.seals("memories"):
            return None
        if embedding is not None:
            given = vector_store.checked_vector(embedding)
            return vector_store.given_model(given), given
        if not text.strip() or (model := self._project.models.embedder()) is None:
            return None
        try:
            vector = model.question(text) if is_question else model.vectors([text])[0]
        except NoModel as error:
            self._project.clone.notes.append(f"the model was not used: {error}")
            return None
        return model.key, vector

    def _near(
        self, vector: tuple[str, Any], limit: int, namespaces: Sequence[str], project: str | None
    ) -> list[AgentHit]:
        """Returns the records nearest to a vector, in this project or another one."""
        others = () if project is None else (project,)
        agent: str | None = self.identity.id
        if project is not None:
            look = partial(agent_memory.agent_id, name=self.name, project=project)
            agent = self._database.run(look, read=True, projects=others)
        if agent is None:
            return []
        model, numbers = vector
        found = self._project.agents.vectors.nearest(
            model, numbers, limit=limit, namespaces=namespaces, agents=[agent], project=project
        )
        scores = dict(found.hits)
        read = partial(agent_memory.records, ids=list(scores), project=project)
        how = "exact" if found.is_exact else "approximate"
        return [
            AgentHit(text=one.text, score=scores[one.id], found=how, record=one, project=project)
            for one in self._database.run(read, read=True, projects=others)
        ]

    def _with_words(self, query: str, namespaces: Sequence[str], project: str | None) -> list[AgentHit]:
        """Returns the records with words of a question, for a store without vectors."""
        words = _words(query)
        found = partial(agent_memory.with_words, agent=self.identity, words=words, namespaces=namespaces)
        others = () if project is None else (project,)
        return [
            AgentHit(text=one.text, score=_share(one.text, words), found="words", record=one, project=project)
            for one in self._database.run(partial(found, project=project), read=True, projects=others)
        ]

    def _recent(self, query: str, namespaces: Sequence[str]) -> list[AgentHit]:
        """Returns the last results, newest first; they are the short-term memory, whatever the question is."""
        if namespaces and SHORT_TERM not in namespaces:
            return []
        hits = []
        for one in reversed(self.episodes(last=RECENT)):
            value = one.result and (one.result.output if one.result.error is None else one.result.error)
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if value is not None:
                hits.append(AgentHit(text=text, score=_share(text, _words(query)), found="recent", cycle=one))
        return hits

    def prune(
        self,
        *,
        older_than: timedelta | None = None,
        unused_for: timedelta | None = None,
        budget: int | MemoryBudget | None = None,
        namespaces: Sequence[str] = (),
        dry_run: bool = False,
        consolidate: agent_memory.Consolidate | bool | None = None,
    ) -> PruneReport:
        """Deletes memories that are old, unused, or beyond the budget of their namespace (records, or bytes).

        Pinned ones and those of an open cycle stay. `consolidate` turns the deleted texts into one summary; True uses
        their first sentences.
        """
        if older_than is None and unused_for is None and budget is None:
            raise BadInput("say what to prune", hint="Give older_than, unused_for or budget.")
        limit = budget if isinstance(budget, MemoryBudget) else MemoryBudget(records=budget)
        numbers = [one for one in (limit.records, limit.bytes) if one is not None]
        if any(type(one) is not int or one < 0 for one in numbers):
            raise BadInput("a budget is a number of records, zero or more", hint="Or MemoryBudget(bytes=…).")
        ages = {"older_than": _micros(older_than), "unused_for": _micros(unused_for)}
        rule = agent_memory.PruneRule(**ages, budget=limit, namespaces=tuple(namespaces))
        summarise = agent_memory.first_sentences if consolidate is True else consolidate or None
        made = partial(agent_memory.plan_pruning, agent=self.identity, rule=rule, leave_room=summarise is not None)
        plans = self._database.run(made, read=True)
        done = [self._pruned(plan, rule, summarise, dry_run) for plan in plans]
        if not dry_run:
            self._database.run(workspace_files.sweep)
        return PruneReport(namespaces=tuple(done), dry_run=dry_run)

    def _pruned(
        self,
        plan: agent_memory.PrunePlan,
        rule: agent_memory.PruneRule,
        summarise: agent_memory.Consolidate | None,
        dry_run: bool,
    ) -> NamespacePruning:
        summaries: list[agent_memory.PlannedSummary] = []
        closed: set[str] = set()
        if summarise is not None:
            going, evidence = self._database.run(partial(agent_memory.going_records, plan=plan), read=True)
            closed = set(plan.reasons) - {one.id for one in going}
            summaries = agent_memory.plan_summaries(plan, going, evidence, summarise, rule.budget)
        if dry_run:
            return agent_memory.pruning_report(plan, summaries, closed)
        for one in summaries:  # durable before the texts that it replaces are deleted
            self.remember(one.text, kind="reflection", namespace=plan.namespace, evidence=one.evidence)
        ids = [one for one in plan.reasons if one not in closed]
        kinds = self._database.run(partial(agent_memory.vector_kinds, ids=ids), read=True)
        dropped = partial(agent_memory.drop_records, agent=self.identity, plan=plan, ids=ids)
        still = self._database.run(dropped)
        gone = [one for one in ids if one not in set(still)]
        for model, size in kinds:
            self._project.agents.vectors.drop(model, size, gone)
        return agent_memory.pruning_report(plan, summaries, closed, still)

    # ── files ────────────────────────────────────────────────────────────────────────────────────

    def workspace(
        self, name: str = "main", folder: str | os.PathLike[str] | None = None, *, secrets: bool = False
    ) -> Workspace:
        """Returns a folder that this agent works in; a cycle that names it stores its files with the result.

        Snapshots leave out files with secrets, and name them; with `secrets` they keep them.
        """
        path = None if folder is None else os.fspath(folder)
        is_clean = (lambda _: True) if secrets else self._is_clean
        made = workspace_files.Workspace(
            self._database, self.identity, name, path, holder=self._holder, is_clean=is_clean
        )
        if folder is not None:
            self._workspaces[name] = made
        return made

    def _is_clean(self, data: bytes) -> bool:
        """Whether a piece of a file holds no secret; binary data is not searched."""
        return b"\0" in data[:8000] or self._scan.file(data) == data  # git's rule for binary data

    def keep_files(self, cycle: AgentCycle) -> None:
        """Stores the files of the workspace that a cycle named, if this process knows its folder."""
        found = self._workspaces.get(cycle.proposal.workspace or "")
        if found is not None and cycle.is_open:
            found.snapshot(cycle.index)

    # ── the end of a run ─────────────────────────────────────────────────────────────────────────

    def finish(self, summary: str = "", *, task: str | None = None, lessons: Sequence[str] = ()) -> str | None:
        """Ends the run: records it in the project's log and proposes its lessons; returns the run's id.

        None if there was no cycle since the last run. After a crash, the same call finishes the rest.
        """
        lessons = listed("lessons", lessons)
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
        if self._database.vault.seals("cycles"):
            done = [_without_words(one) for one in done]
        book = self._project.agents
        recorded = book.record(run, run_rows(self.name, run, done, place=book.place(), task=task, summary=summary))
        for lesson in lessons:
            self._project.memory.remember(
                lesson, evidence=[f"run:{recorded}"], tags=["lesson"], source=f"run:{recorded}"
            )
        self._database.run(partial(agent_cycles.end_run, agent=self.identity, run_id=run))
        return recorded


def run_rows(
    agent: str, run: str, done: Sequence[AgentCycle], *, place: Mapping[str, Any], task: str | None, summary: str
) -> Iterator[dict[str, Any]]:
    """Yields a run of cycles as rows of a transcript; `place` has its folder, branch and commit."""
    started = _moment(done[0].started)
    yield {"type": "session", "agent": agent, "session": run, **place, "started": started, "title": task}
    yield {"type": "turn", "key": run, "ts": started, "prompt": task or ""}
    for one in done:
        proposal, result = one.proposal, one.result
        text = proposal.thoughts if proposal.tool is None else ""
        step = {
            "type": "step",
            "id": one.action,
            "ts": _moment(one.started),
            "reasoning": proposal.thoughts,
            "text": text,
        }
        if proposal.tool is None or result is None:
            yield step
            continue
        output = result.error if result.error is not None else result.output
        text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
        given = json.dumps(proposal.arguments, ensure_ascii=False)
        call = {"id": one.action, "name": proposal.tool, "input": given, "output": text}
        yield {**step, "calls": [{**call, "failed": result.error is not None}]}
    if summary:
        yield {"type": "step", "id": f"{run}-end", "ts": _moment(done[-1].ended or done[-1].started), "text": summary}


class CycleUnderWay:
    """One cycle from its proposal to its result.

    As a context manager it stores an exception as the result's error. If the process dies, the cycle stays open.
    """

    def __init__(self, agent: Agent, kept: AgentCycle | None) -> None:
        self._agent, self.kept = agent, kept

    @property
    def index(self) -> int | None:
        """The number of the cycle; None before it proposed something."""
        return self.kept.index if self.kept else None

    @property
    def action(self) -> str | None:
        """The id of its action, the same after a crash: pass it to tools that detect repeats."""
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
        """Stores the intended action, durably. Perform it only after this returns."""
        if self.kept is not None:
            raise BadInput(f"cycle {self.index} of {self._agent.name} already has a proposal")
        given = ActionProposal(
            thoughts=thoughts, plan=listed("plan", plan), tool=tool, arguments=objected(arguments), workspace=workspace
        )
        self.kept = self._agent.begin(given)
        return self.kept

    def result(
        self, *, output: Any = None, error: str | None = None, artifacts: Sequence[str] = (), state: Any = None
    ) -> AgentCycle:
        """Stores the result, durably. `resume` returns `state` to the next process."""
        if self.kept is None:
            raise BadInput("a cycle needs a proposal before its result", hint="Call `cycle.propose(...)` first.")
        given = ActionResult(output=output, error=error, artifacts=listed("artifacts", artifacts))
        self._agent.keep_files(self.kept)
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


def _without_words(cycle: AgentCycle) -> AgentCycle:
    """Returns a sealed cycle as the project's log may have it: its times, and whether it failed."""
    failed = cycle.result is not None and cycle.result.error is not None
    result = ActionResult(error=_SEALED) if failed else ActionResult(output=_SEALED)
    return replace(cycle, proposal=ActionProposal(tool=_SEALED), result=result)


def _micros(age: timedelta | None) -> int | None:
    return None if age is None else int(age.total_seconds() * agent_cycles.MICROS)


def is_text(value: object) -> bool:
    """Whether a value is a text; callers may ignore the annotations."""
    return isinstance(value, str)


def listed(name: str, given: Any) -> tuple[str, ...]:
    """Returns a list of texts; raises BadInput for a single text, which would be split into letters."""
    if is_text(given) or not isinstance(given, Sequence) or not all(map(is_text, given)):
        raise BadInput(f"{name} is a list of texts", hint=f"Write {name}=[…].")
    return tuple(given)


def objected(arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns a tool's arguments as a dict; raises BadInput if they are not an object."""
    if arguments is not None and not isinstance(arguments, Mapping):
        raise BadInput("arguments is an object", hint="Write arguments={'query': …}.")
    return dict(arguments or {})


def _moment(micros: int) -> str:
    return timestamp(datetime.fromtimestamp(micros / agent_cycles.MICROS, UTC))


def _words(query: str) -> list[str]:
    """Returns the 12 longest words of a question; a guess: the longest tell most, and each costs a condition."""
    return sorted({word for word in query.split() if len(word) > 2}, key=len, reverse=True)[:12]


def _share(text: str, words: Sequence[str]) -> float:
    held = sum(word.casefold() in text.casefold() for word in words)
    return round(held / max(1, len(words)), 4)
