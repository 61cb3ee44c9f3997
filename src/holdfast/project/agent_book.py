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
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from holdfast.agent_store import agent_cycles, database, schema_steps, store_transfer, tables, vector_store, work_queue
from holdfast.capture.agents import own_agent
from holdfast.errors import BadInput, NoDatabase
from holdfast.git import project_setup
from holdfast.model.agent_entities import AgentIdentity
from holdfast.model.ids import token
from holdfast.project.concern import Concern
from holdfast.project.working_agent import Agent, is_text, listed
from holdfast.store import fsio, sealed_files

if TYPE_CHECKING:
    from holdfast.agent_store.database import AgentDatabase
    from holdfast.agent_store.vector_store import MemoryVectors
    from holdfast.agent_store.work_queue import WorkQueue
    from holdfast.store.sealed_files import SealingKeys

MAX_AGENT_NAME = 80  # characters
_EXTRA = "Install it: pip install 'holdfast[agents]'."


class AgentBook(Concern):
    """The agents of this project."""

    @cached_property
    def database(self) -> AgentDatabase:
        """The store that the settings name, opened on first use, with the keys for what is sealed."""
        if self.settings.encryption_scope or self.settings.encryption_key:
            self._opened.vault = self.keys.unlock()
        return self._opened

    @cached_property
    def _opened(self) -> AgentDatabase:
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
    def vectors(self) -> MemoryVectors:
        """The embeddings of all agents, searched by the store that `agents.vectors` names."""
        choice, folder = self.settings.agents_vectors, self.clone.layout.agent_vectors
        return vector_store.MemoryVectors(self.database, choice=choice, folder=folder, notes=self.clone.notes)

    @cached_property
    def keys(self) -> SealingKeys:
        """The keys that seal what `encryption.scope` names, for files and for the store."""
        self.project.keys.also_on(database.KeyTable(self._opened))
        return self.project.keys

    @property
    def locked(self) -> Mapping[tuple[str, str], int]:
        """What stayed closed so far: key id and reason, and how often."""
        return dict(self.database.vault.locked)

    @property
    def project_id(self) -> str:
        """What this project is called in a store that clones share: the setting, else its first commit."""
        return project_setup.project_id(
            self.clone, chosen=self.settings.database_project, is_shared=self.settings.database_url is not None
        )

    def get(
        self, name: str, *, directives: Sequence[str] | None = None, config: Mapping[str, Any] | None = None
    ) -> Agent:
        """The agent of that name, made if it is new; what is given replaces its directives and config."""
        if not is_text(name) or not 0 < len(name) <= MAX_AGENT_NAME or not name.isprintable() or name != name.strip():
            raise BadInput(f"{str(name)[:80]!r} is no name for an agent", hint="Use a short name, such as researcher.")
        clean_text = self.clone.intake.text
        if clean_text(name) != name:
            raise BadInput("the name of an agent must hold no secret")
        tables.to_json(config)
        clean = None if directives is None else [clean_text(one) for one in listed("directives", directives)]
        made = partial(agent_cycles.get_agent, name=name, new_id=token(12), directives=clean, config=config)
        return Agent(self.project, self.database.run(made))

    def find(self, name: str) -> Agent:
        """The agent of that name; NotFound if there is none."""
        return Agent(self.project, self.database.run(lambda tx: agent_cycles.find_agent(tx, name), read=True))

    def record(self, name: str, rows: Iterable[Mapping[str, Any]]) -> str:
        """Record a session, given as rows of a transcript, as a run of the log; gives the run's id.

        `name` is the session's, once and for all. What was recorded of it before is not recorded again.
        """
        path = os.path.join(self.clone.layout.agent_runs, f"{name}.jsonl")
        data = "".join(f"{json.dumps(self.clone.intake.value(row))}\n" for row in rows).encode()
        fsio.make_dirs(os.path.dirname(path))
        if vault := self.clone.recording_vault():
            fsio.replace(path, sealed_files.FileSealer(vault, "agent-runs", name).lines(data))
            return self.project.transcripts.record(own_agent.reading(data), path)
        fsio.replace(path, data)
        return self.project.transcripts.record(own_agent.DIALECT, path)

    def place(self) -> dict[str, Any]:
        """Where this process works: the folder, the branch and its commit."""
        head = self.clone.repo.head()
        return {"cwd": self.clone.repo.top, "branch": head.branch, "commit": head.oid}

    def queue(self, name: str) -> WorkQueue:
        """The queue of the agent of that name, made if it is new: actions for any process on any machine."""
        return work_queue.WorkQueue(self.database, self.get(name).identity.id, clean=self.clone.intake.value)

    def list(self) -> Sequence[AgentIdentity]:
        """All agents, by name."""
        return self.database.run(agent_cycles.every_agent, read=True)

    # ── the store ────────────────────────────────────────────────────────────────────────────────

    @property
    def store_place(self) -> str:
        """Where the store is, as a person may see it."""
        url = self.settings.database_url
        return f"this clone ({self.clone.layout.agent_database})" if url is None else database.shown(url)

    def export(self, path: str, names: Sequence[str] = ()) -> int:
        """Write agents, all or some, into a file; gives the number of rows."""
        chosen = [self.find(name).identity.id for name in names]
        with fsio.writing(os.path.abspath(path)) as raw:
            return store_transfer.write_file(raw, store_transfer.rows(self.database, chosen))

    def import_file(self, path: str) -> store_transfer.StoreCopied:
        """Bring agents back from such a file."""
        with open(path, encoding="utf-8") as file:
            return store_transfer.put(self.database, store_transfer.read_file(file))

    def copy_to(self, url: str, *, tell: store_transfer.Told = lambda _: None) -> store_transfer.StoreCopied:
        """Copy all agents of this project into another database."""
        target = database.open_url(url, self.project_id)
        try:
            return store_transfer.copy(self.database, target, tell=tell)
        finally:
            target.close()

    def count_rows(self) -> int:
        """How many rows a copy has."""
        return self.database.run(store_transfer.count, read=True)

    def migrate(self, url: str | None = None, step: str | None = None) -> str:
        """Bring a database to a step, as a role that may change its tables; gives the step.

        At the newest step it also gets the HNSW indexes that pay: where a project has more than 20,000 vectors.
        """
        url = url or self.settings.database_url
        if url is None:
            raise BadInput("no database is named", hint="Add --url URL; SQLite is brought up by itself.")
        reached = database.migrate(url, step or schema_steps.NEWEST)
        if reached == schema_steps.NEWEST:
            for size in database.make_graphs(url):
                self.clone.notes.append(f"made an HNSW index for vectors of {size} numbers: a project has very many")
        return reached

    def migration_sql(self, step: str | None = None, since: str | None = None) -> str:
        """The same for Postgres as SQL, for a DBA to run."""
        return schema_steps.as_sql(step or schema_steps.NEWEST, since)
