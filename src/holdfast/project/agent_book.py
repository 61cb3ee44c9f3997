"""Agents of your own: their identity, cycles, memories and queues, and how their runs enter the log.

    agent = project.agents.get("researcher", directives=["Cite every claim."])
    agent.resume()
    with agent.cycle() as cycle:
        cycle.propose(thoughts="…", tool="search", arguments={"query": "…"})
        cycle.result(output=search(...))
    agent.finish("Three papers found.", lessons=["The search API wants ASCII."])

`agent_store` keeps them: in SQLite in this clone, or in the database that `database.url` names. A finished run is
imported like any agent's session, with an event, a page and candidates.
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

MAX_AGENT_NAME = 80  # characters; a guess: fits one terminal line, and a key of the database
_EXTRA = "Install again from Holdfast's own folder, with '.[agents]' in place of '.'"


class AgentBook(Concern):
    """The agents of this project."""

    @cached_property
    def database(self) -> AgentDatabase:
        """The store that the settings name, opened on first use, with the keys for encrypted texts."""
        if self.settings.encryption_scope or self.settings.encryption_key:
            self._opened.vault = self.keys.unlock()
        return self._opened

    @cached_property
    def _opened(self) -> AgentDatabase:
        return self.connect()

    def connect(self, *, local: bool = False) -> AgentDatabase:
        """Opens the store that the settings name, or with `local` the one in this clone; the caller closes it."""
        url = None if local else self.settings.database_url
        try:
            if url is None:
                return database.open_sqlite(self.clone.layout.agent_database, self.project_id)
            return database.open_url(url, self.project_id)
        except ModuleNotFoundError as error:
            raise NoDatabase(f"agents of your own need {error.name}", hint=_EXTRA) from None

    @cached_property
    def vectors(self) -> MemoryVectors:
        """The embeddings of all agents; the store that `agents.vectors` names searches them."""
        choice, folder = self.settings.agents_vectors, self.clone.layout.agent_vectors
        return vector_store.MemoryVectors(self.database, choice=choice, folder=folder, notes=self.clone.notes)

    @cached_property
    def keys(self) -> SealingKeys:
        """The keys that encrypt what `encryption.scope` names, in files and in the store."""
        self.project.keys.also_on(database.KeyTable(self._opened))
        return self.project.keys

    @property
    def locked(self) -> Mapping[tuple[str, str], int]:
        """Texts that could not be decrypted so far: key id and reason to their number."""
        return dict(self.database.vault.locked)

    @property
    def project_id(self) -> str:
        """The project's name in a store that clones share: the setting, else its first commit."""
        return project_setup.project_id(
            self.clone, chosen=self.settings.database_project, is_shared=self.settings.database_url is not None
        )

    def get(
        self, name: str, *, directives: Sequence[str] | None = None, config: Mapping[str, Any] | None = None
    ) -> Agent:
        """Returns the agent of that name, creates a new one if needed, and replaces the given directives and config."""
        if not is_text(name) or not 0 < len(name) <= MAX_AGENT_NAME or not name.isprintable() or name != name.strip():
            raise BadInput(f"{str(name)[:80]!r} is not an agent name", hint="Use a short name, such as researcher.")
        clean_text = self.clone.intake.text
        if clean_text(name) != name:
            raise BadInput("the name of an agent must not contain a secret")
        tables.to_json(config)
        clean = None if directives is None else [clean_text(one) for one in listed("directives", directives)]
        get_agent = partial(agent_cycles.get_agent, name=name, new_id=token(12), directives=clean, config=config)
        return Agent(self.project, self.database.run(get_agent))

    def find(self, name: str) -> Agent:
        """Returns the agent of that name; raises NotFound if there is none."""
        return Agent(self.project, self.database.run(lambda tx: agent_cycles.find_agent(tx, name), read=True))

    def record(self, name: str, rows: Iterable[Mapping[str, Any]]) -> str:
        """Records a session, given as rows of a transcript, as a run of the log; returns the run's id.

        `name` is the session's permanent name. Rows that were recorded before are not recorded again.
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
        """The folder, branch and commit that this process works in."""
        head = self.clone.repo.head()
        return {"cwd": self.clone.repo.top, "branch": head.branch, "commit": head.oid}

    def queue(self, name: str) -> WorkQueue:
        """Returns the action queue of that agent, created if new; any process on any machine can use it."""
        return work_queue.WorkQueue(self.database, self.get(name).identity.id, clean=self.clone.intake.value)

    def list(self) -> Sequence[AgentIdentity]:
        """All agents, by name."""
        return self.database.run(agent_cycles.every_agent, read=True)

    # ── the store ────────────────────────────────────────────────────────────────────────────────

    @property
    def store_place(self) -> str:
        """Where the store is, without the password."""
        url = self.settings.database_url
        return f"this clone ({self.clone.layout.agent_database})" if url is None else database.shown(url)

    def export(self, path: str, names: Sequence[str] = ()) -> int:
        """Writes agents, all or some, into a file; returns the number of rows."""
        chosen = [self.find(name).identity.id for name in names]
        with fsio.writing(os.path.abspath(path)) as raw:
            return store_transfer.write_file(raw, store_transfer.rows(self.database, chosen))

    def import_file(self, path: str) -> store_transfer.StoreCopied:
        """Imports agents from such a file."""
        with open(path, encoding="utf-8") as file:
            return store_transfer.put(self.database, store_transfer.read_file(file))

    def copy_to(self, url: str, *, tell: store_transfer.Told = lambda _: None) -> store_transfer.StoreCopied:
        """Copies all agents of this project into another database."""
        target = database.open_url(url, self.project_id)
        try:
            return store_transfer.copy(self.database, target, tell=tell)
        finally:
            target.close()

    def count_rows(self) -> int:
        """Returns how many rows a copy would have."""
        return self.database.run(store_transfer.count, read=True)

    def migrate(self, url: str | None = None, step: str | None = None) -> str:
        """Upgrades a database's schema to a step, as a role that may change its tables; returns the step.

        At the newest step it also creates HNSW indexes where they pay: for projects with more than 20,000 vectors.
        """
        url = url or self.settings.database_url
        if url is None:
            raise BadInput("no database is named", hint="Add --url URL; SQLite is upgraded automatically.")
        reached = database.migrate(url, step or schema_steps.NEWEST)
        if reached == schema_steps.NEWEST:
            for size in database.make_graphs(url):
                self.clone.notes.append(f"created an HNSW index for {size}-dimensional vectors: a project has many")
        return reached

    def migration_sql(self, step: str | None = None, since: str | None = None) -> str:
        """Returns the SQL of that upgrade for Postgres, for a DBA to run."""
        return schema_steps.as_sql(step or schema_steps.NEWEST, since)
