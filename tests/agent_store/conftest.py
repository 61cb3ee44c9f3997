"""Both engines: a file, and a database of a real Postgres server that each worker starts once."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from demo.local_postgres import OWNER, LocalPostgres, local_postgres

from holdfast.agent_store import database
from holdfast.agent_store.database import AgentDatabase
from holdfast.project import Project
from tests.conftest import GitRepo, init, make_repo

_COUNT = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[LocalPostgres]:
    """A server with the roles that docs/reference/agents.md tells a DBA to make, and a template with our tables."""
    with local_postgres() as made:
        made.make_agents("template")
        yield made


def new_database(server: LocalPostgres) -> str:
    """The name of a fresh database with our tables."""
    name = f"t{next(_COUNT)}"
    server.sql(f"CREATE DATABASE {name} TEMPLATE template OWNER {OWNER}")
    return name


@pytest.fixture(params=["sqlite", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty store is, on each engine."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/agents.db"
    server: LocalPostgres = request.getfixturevalue("server")
    return server.url(new_database(server))


@pytest.fixture
def store(store_url: str) -> Iterator[AgentDatabase]:
    opened = database.open_url(store_url, "project-one")
    yield opened
    opened.close()


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = make_repo(tmp_path / "repo")
    init(made.path, commit=True)
    return made


@pytest.fixture
def project(repo: GitRepo, store_url: str) -> Iterator[Project]:
    """A project whose agents are kept in the store under test."""
    opened = Project.open(repo.path, environ={"HOLDFAST_DATABASE_URL": store_url}, person=True)
    yield opened
    opened.agents.database.close()
