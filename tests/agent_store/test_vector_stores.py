"""One suite for all vector stores, on both engines: the same records, the same numbers, never less than the mirror."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from demo.local_postgres import APP, OWNER, LocalPostgres

from holdfast.agent_store import agent_cycles, agent_memory, database, migrations, vector_backends, vector_store
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import VECTOR
from holdfast.agent_store.vector_store import CHROMA, EMBEDDED, PGVECTOR, MemoryVectors
from holdfast.errors import BadInput, NoDatabase
from holdfast.index.embed import similarity
from holdfast.model.agent_entities import AgentIdentity, MemoryRecord, VectorRow
from holdfast.project import Project
from holdfast.store.vector_matrix import exact_cosines, packed
from tests.agent_store.conftest import new_database
from tests.conftest import GitRepo
from tests.index import tiny

SIZE = 96
MODEL = f"given:{SIZE}"
STORES = [
    ("sqlite", EMBEDDED),
    ("sqlite", CHROMA),
    ("postgres", EMBEDDED),
    ("postgres", CHROMA),
    ("postgres", PGVECTOR),
]
SPACES = ("long-term", "short-term", "plans")


def some(seed: int, count: int, size: int = SIZE) -> np.ndarray:
    """Vectors of length one around fifty middles, as those of texts are; the middles are always the same."""
    random = np.random.default_rng(seed)
    middles = np.random.default_rng(0).standard_normal((50, size))
    found = middles[random.integers(0, 50, count)] + 0.8 * random.standard_normal((count, size))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


class Kept:
    """Records with vectors, of two agents in three namespaces, in the mirror of a database."""

    def __init__(self, kept: AgentDatabase, seed: int, count: int, size: int = SIZE) -> None:
        self.database = kept
        self.agents = [kept.run(partial(_agent, name=name)) for name in ("ada", "bo")]
        self.rows = some(seed, count, size)
        self.data = packed(self.rows)
        self.vectors = [
            VectorRow(f"{place:032x}", self.agents[place % 2].id, SPACES[place % 3], data)
            for place, data in enumerate(self.data)
        ]
        for at in range(0, count, 1000):
            kept.run(partial(_mirrored, rows=self.vectors[at : at + 1000], model=f"given:{size}"))

    def nearest(
        self, question: np.ndarray, limit: int, *, space: str | None = None, agent: str | None = None
    ) -> list[tuple[str, float]]:
        """What comparing all of them gives."""
        meant = [row for row in self.vectors if space in (None, row.namespace) and agent in (None, row.agent)]
        scores = exact_cosines(question, [row.data for row in meant])
        pairs = zip((row.record for row in meant), scores, strict=True)
        return sorted(pairs, key=lambda hit: (-hit[1], hit[0]))[:limit]


def _agent(tx: database.StoreTransaction, name: str) -> AgentIdentity:
    return agent_cycles.get_agent(tx, name, new_id=f"id-{name}", directives=None, config=None)


def _mirrored(tx: database.StoreTransaction, rows: list[VectorRow], model: str) -> None:
    given = [
        {
            "record_id": row.record,
            "model": model,
            "agent_id": row.agent,
            "namespace": row.namespace,
            "size": len(row.data),
            "vector": row.data,
            "added": tx.now,
        }
        for row in rows
    ]
    tx.insert_new(VECTOR, *given)


class Place:
    """Where one store is kept, so that a test can open it again or break it."""

    def __init__(self, url: str, choice: str, folder: Path) -> None:
        self.url, self.choice, self.folder = url, choice, folder
        self.notes: list[str] = []
        self._opened: list[tuple[AgentDatabase, MemoryVectors]] = []

    def database(self, project: str = "project-one") -> AgentDatabase:
        return self.open(project)[0]

    def open(self, project: str = "project-one", choice: str | None = None) -> tuple[AgentDatabase, MemoryVectors]:
        kept = database.open_url(self.url, project)
        made = MemoryVectors(kept, choice=choice or self.choice, folder=str(self.folder), notes=self.notes)
        self._opened.append((kept, made))
        return kept, made

    def close(self) -> None:
        for kept, made in self._opened:
            made.close()
            kept.close()
        self._opened.clear()

    def ruin(self, server: LocalPostgres | None) -> None:
        """Break what the store itself keeps; the mirror stays."""
        if self.choice == CHROMA:
            for path in self.folder.rglob("*"):
                if path.is_file():
                    path.write_bytes(b"not what it was" * 300)
        elif self.choice == PGVECTOR:
            assert server is not None
            server.sql("DROP EXTENSION vector CASCADE", database=self.url.split("@/")[1].split("?")[0])


@pytest.fixture(params=STORES, ids="-".join)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    engine, choice = request.param
    if engine == "postgres":
        server: LocalPostgres = request.getfixturevalue("server")
        url = server.url(new_database(server))
    else:
        url = f"sqlite:///{tmp_path}/agents.db"
    made = Place(url, choice, tmp_path / "agent-vectors")
    yield made
    made.close()


def test_every_store_gives_the_same_records_and_numbers(place: Place, seed: int) -> None:
    """Whoever changes the store must not get another memory, and a filter must not cost what it was for."""
    kept, vectors = place.open()
    is_first = place.choice == PGVECTOR or not kept.is_shared  # the others differ from these by their engine alone
    held = Kept(kept, seed, 3000 if is_first else 600)
    found = all_of = 0
    for question in some(seed + 1, 12):
        near = vectors.nearest(MODEL, question, limit=10)
        truth = held.nearest(question, 10)
        found, all_of = found + len(set(near.hits) & set(truth)), all_of + 10
        for space, agent in ((SPACES[1], None), (None, "id-bo"), (SPACES[2], "id-ada")):
            asked = {"namespaces": [space] if space else (), "agents": [agent] if agent else ()}
            near = vectors.nearest(MODEL, question, limit=10, **asked)  # type: ignore[arg-type]
            truth = held.nearest(question, 10, space=space, agent=agent)
            found, all_of = found + len(set(near.hits) & set(truth)), all_of + 10
            assert list(near.hits) == sorted(near.hits, key=lambda hit: (-hit[1], hit[0]))
        assert near.is_exact is (place.choice != CHROMA)
    assert found == all_of if place.choice != CHROMA else found >= 0.99 * all_of
    two = vectors.nearest(MODEL, question, limit=5, namespaces=SPACES[:2], agents=["id-ada", "id-bo"])
    assert len(two.hits) == 5
    assert vectors.nearest(MODEL, question, limit=5, namespaces=["nobody's"]).hits == ()
    assert vectors.nearest("given:7", question[:7], limit=5).hits == ()
    assert vectors.chosen == place.choice and place.notes == []


def test_what_is_dropped_is_gone_and_what_is_new_is_found(place: Place, seed: int) -> None:
    """A memory that was pruned must not come back, and the newest is often the one that is asked for."""
    kept, vectors = place.open()
    held = Kept(kept, seed, 300)
    question = held.rows[7]
    assert vectors.nearest(MODEL, question, limit=1).hits[0][0] == held.vectors[7].record
    vectors.drop(MODEL, SIZE, [held.vectors[7].record])
    assert held.vectors[7].record not in dict(vectors.nearest(MODEL, question, limit=300).hits)
    new = VectorRow("f" * 32, "id-bo", "plans", packed(question[None, :])[0])
    kept.run(partial(_mirrored, rows=[new], model=MODEL))
    vectors.put(MODEL, [new])
    assert vectors.nearest(MODEL, question, limit=1, namespaces=["plans"]).hits == (
        ("f" * 32, pytest.approx(1, abs=1e-3)),
    )
    # Somebody else, who has no part in this store, deletes one and adds another.
    kept.run(lambda tx: tx.delete(VECTOR, VECTOR.c.record_id == "f" * 32))
    assert "f" * 32 not in dict(vectors.nearest(MODEL, question, limit=10).hits)
    kept.run(partial(_mirrored, rows=[VectorRow("e" * 32, "id-ada", "plans", new.data)], model=MODEL))
    assert vectors.nearest(MODEL, question, limit=1).hits[0][0] == "e" * 32
    assert len(vectors.nearest(MODEL, question, limit=400).hits) == 300
    assert place.notes == []


def test_a_store_is_found_again_and_another_one_is_filled_from_the_mirror(place: Place, seed: int) -> None:
    """To embed a hundred thousand texts again costs hours, or money."""
    kept, vectors = place.open()
    held = Kept(kept, seed, 200)
    question = some(seed + 1, 1)[0]
    before = vectors.nearest(MODEL, question, limit=10).hits
    assert list(before) == held.nearest(question, 10)
    place.close()
    _, again = place.open()
    assert again.nearest(MODEL, question, limit=10).hits == before
    for other in (EMBEDDED, CHROMA):
        assert place.open(choice=other)[1].nearest(MODEL, question, limit=10).hits == before
    place.close()
    shutil.rmtree(place.folder, ignore_errors=True)
    assert place.open()[1].nearest(MODEL, question, limit=10).hits == before
    assert place.notes == []


@pytest.mark.parametrize("place", [one for one in STORES if one[1] != EMBEDDED], ids="-".join, indirect=True)
@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "open"])
def test_a_ruined_store_is_replaced_by_the_mirror_and_said(
    place: Place, server: LocalPostgres, seed: int, *, is_open: bool
) -> None:
    """An agent that forgets because an index broke does its work twice, and nobody knows why."""
    kept, vectors = place.open()
    held = Kept(kept, seed, 200)
    question = some(seed + 1, 1)[0]
    before = vectors.nearest(MODEL, question, limit=10).hits
    if not is_open:
        place.close()
    place.ruin(server)
    if not is_open:
        kept, vectors = place.open()
    assert vectors.nearest(MODEL, question, limit=10).hits == before
    new = VectorRow("f" * 32, "id-bo", "plans", packed(question[None, :])[0])
    kept.run(partial(_mirrored, rows=[new], model=MODEL))
    vectors.put(MODEL, [new])
    assert vectors.nearest(MODEL, question, limit=1).hits[0][0] == "f" * 32
    assert any(note.startswith(f"{place.choice} did not answer, so the mirror was searched") for note in place.notes)
    assert len(place.notes) == 1, "it is said once, and the store is left alone for a while"
    assert len(held.vectors) == 200


def test_without_the_extension_one_sentence_says_so(server: LocalPostgres, tmp_path: Path, seed: int) -> None:
    """A DBA who has no pgvector must learn what is missing; the agents work on."""
    name = new_database(server)
    server.sql("DROP TABLE memory_vector; DROP EXTENSION vector", database=name)
    kept = database.open_url(server.url(name), "project-one")
    held, notes = Kept(kept, seed, 50), []  # type: ignore[var-annotated]
    chosen = MemoryVectors(kept, choice=PGVECTOR, folder=str(tmp_path), notes=notes)
    assert list(chosen.nearest(MODEL, held.rows[3], limit=5).hits) == held.nearest(held.rows[3], 5)
    assert notes == [
        "this database has no pgvector (its owner has to make the extension), so the embedded vectors are searched"
    ]
    assert MemoryVectors(kept, choice=None, folder=str(tmp_path), notes=notes).chosen == EMBEDDED
    server.sql("CREATE EXTENSION vector", database=name)
    engine, close = database.postgres_engine(database.parsed(server.url(name, OWNER)))
    with engine.begin() as connection:  # what docs/adr/0030 tells an owner to run afterwards
        for _ in range(2):
            connection.exec_driver_sql(migrations.vector_table_sql())
    engine.dispose()
    close()
    later = MemoryVectors(kept, choice=None, folder=str(tmp_path), notes=notes)
    assert later.chosen == PGVECTOR
    assert list(later.nearest(MODEL, held.rows[3], limit=5).hits) == held.nearest(held.rows[3], 5)
    kept.close()


def test_the_graph_finds_nearly_all_and_only_where_there_are_many(server: LocalPostgres, seed: int) -> None:
    """An index that loses memories is worse than a slow answer; within one project it must hold, too."""
    name = new_database(server)
    server.sql(vector_backends.graph_sql(SIZE), database=name)
    stores, held = [], []
    for project in ("project-one", "project-two"):
        kept = database.open_url(server.url(name), project)
        held.append(Kept(kept, seed, 600))
        stores.append(vector_backends.PgvectorStore(kept, MODEL, SIZE, project=project, exact_up_to=200))
        stores[-1].put(held[-1].vectors)
    found = 0
    for question in some(seed + 1, 20):
        near = stores[0].nearest(question, 10)
        assert not near.is_exact
        found += len({one for one, _ in near.hits} & {one for one, _ in held[0].nearest(question, 10)})
        few = stores[0].nearest(question, 10, ["plans"], ["id-bo"])
        assert few.is_exact
        # By their scores, which pgvector keeps in half precision: of two that are equally near, either may be tenth.
        nearest = [score for _, score in held[0].nearest(question, 10, space="plans", agent="id-bo")]
        assert [score for _, score in few.hits] == pytest.approx(nearest, abs=1e-3)
    assert found >= 0.99 * 200
    for one in held:
        one.database.close()


def test_the_table_of_pgvector_keeps_projects_apart(server: LocalPostgres, seed: int) -> None:
    """A vector tells a good deal of its text: another project's must not be read, written or deleted by mistake."""
    name = new_database(server)
    one, two = (database.open_url(server.url(name), project) for project in ("project-one", "project-two"))
    held = Kept(one, seed, 20)
    mine = vector_backends.PgvectorStore(one, MODEL, SIZE, project="project-one")
    mine.put(held.vectors)
    seen = two.run(lambda tx: tx.connection.exec_driver_sql("SELECT count(*) FROM memory_vector").scalar(), read=True)
    assert seen == 0
    theirs = vector_backends.PgvectorStore(two, MODEL, SIZE, project="project-one")
    assert theirs.count() == 20, "named for reading"
    theirs.drop([row.record for row in held.vectors])
    assert mine.count() == 20
    with pytest.raises(NoDatabase, match="row-level security"):
        theirs.put([VectorRow("a" * 32, "id-bo", "plans", held.data[0])])
    forced = server.sql(
        "SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = 'memory_vector'", database=name
    )
    assert forced == "t|t"
    assert server.sql(f"SELECT has_table_privilege('{APP}', 'memory_vector', 'TRUNCATE')", database=name) == "f"
    one.close()
    two.close()


def test_chroma_reads_no_settings_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """A file .env in somebody's repository could send what agents remember to another machine."""
    (tmp_path / ".env").write_text("PERSIST_DIRECTORY=elsewhere\nCHROMA_OTEL_COLLECTION_ENDPOINT=http://127.0.0.1:9\n")
    monkeypatch.chdir(tmp_path)
    store = vector_backends.ChromaStore(str(tmp_path / "private" / "v"), MODEL, SIZE, project="p")
    store.put([VectorRow("a" * 32, "id", "plans", packed(some(seed, 1))[0])])
    settings = store._client.get_settings()
    assert (settings.anonymized_telemetry, settings.chroma_otel_collection_endpoint) == (False, "")
    assert store.count() == 1 and os.listdir(tmp_path / "private") == ["v"]
    assert os.stat(tmp_path / "private" / "v").st_mode & 0o077 == 0
    assert not (tmp_path / "elsewhere").exists()
    store.close()


def test_an_agent_recalls_by_meaning_then_its_last_results(project: Project) -> None:
    """What is recalled must say how it was found, or nobody can tell a guess from knowledge."""
    agent = project.agents.get("researcher")
    with agent.cycle() as cycle:
        cycle.propose(tool="search")
        cycle.result(output="three papers")
    agent.remember("the API wants ASCII", embedding=[1.0, 0.0, 0.2])
    agent.remember("the moon is far", embedding=[0.0, 1.0, 0.0], namespace="plans")
    project.agents.get("other").remember("not told to others", embedding=[1.0, 0.0, 0.0])
    hits = agent.recall("which letters", embedding=[1, 0, 0])
    assert [(hit.text, hit.found) for hit in hits] == [
        ("the API wants ASCII", "exact"),
        ("the moon is far", "exact"),
        ("three papers", "recent"),
    ]
    assert hits[0].score == pytest.approx(0.980581, abs=2e-3) and hits[0].score == round(hits[0].score, 6)
    assert hits[2].cycle is not None and hits[2].cycle.index == 0
    assert [hit.text for hit in agent.recall("x", embedding=[1, 0, 0], namespaces=["plans"])] == ["the moon is far"]
    assert [(hit.text, hit.found) for hit in agent.recall("moon papers")] == [
        ("the moon is far", "words"),
        ("three papers", "recent"),
    ]
    assert agent.recall("x", embedding=[1, 0, 0])[0].record.uses >= 1  # type: ignore[union-attr]
    for wrong in ([], [0.0, 0.0], [float("nan"), 1.0], ["a"], [1.0] * 5000):
        with pytest.raises(BadInput, match="an embedding is a list"):
            agent.remember("x y z", embedding=wrong)  # type: ignore[arg-type]
    expected = PGVECTOR if project.agents.database.is_shared else EMBEDDED
    assert project.agents.vectors.chosen == expected and project.clone.notes == []


def test_a_shared_database_is_asked_across_projects(store_url: str, repo: GitRepo) -> None:
    """What an agent learned in one repository is worth most in the next one; only who asks for it gets it."""
    for name, text, numbers in (("one", "retry on 503", [1.0, 0.1]), ("two", "retry with jitter", [1.0, 0.0])):
        told = {"HOLDFAST_DATABASE_URL": store_url, "HOLDFAST_DATABASE_PROJECT": name}
        opened = Project.open(repo.path, environ=told, person=True)
        opened.agents.get("researcher").remember(text, embedding=numbers)
        opened.agents.get("other").remember("somebody else's", embedding=numbers)
        opened.agents.database.close()
    opened = Project.open(
        repo.path, environ={"HOLDFAST_DATABASE_URL": store_url, "HOLDFAST_DATABASE_PROJECT": "one"}, person=True
    )
    agent = opened.agents.get("researcher")
    assert [hit.text for hit in agent.recall("x", embedding=[1, 0])] == ["retry on 503"]
    hits = agent.recall("x", embedding=[1, 0], projects=["two", "three"])
    assert [(hit.text, hit.project) for hit in hits] == [("retry with jitter", "two"), ("retry on 503", None)]
    words = agent.recall("jitter", projects=["two"])
    assert [(hit.text, hit.project, hit.found) for hit in words] == [("retry with jitter", "two", "words")]
    with pytest.raises(BadInput, match="without commas"):
        agent.recall("x", projects=["two,three"])
    opened.agents.database.close()


def test_appending_costs_no_reload_and_filters_stay_right(store: AgentDatabase, seed: int) -> None:
    """An agent remembers and recalls in turns: reading a hundred thousand vectors each time would stop it."""
    held = Kept(store, seed, 60)
    mirror = vector_store.EmbeddedVectors(store, MODEL, SIZE, project=store.project)
    mirror.nearest(held.rows[0], 1)
    matrix = mirror._matrix
    for place in range(30):
        row = VectorRow(
            f"new{place:029}", held.agents[place % 2].id, SPACES[place % 3], packed(some(seed + place, 1))[0]
        )
        store.run(partial(_mirrored, rows=[row], model=MODEL))
        held.vectors.append(row)
        question = some(seed + 99, 1)[0]
        hits = mirror.nearest(question, 5, [SPACES[place % 3]]).hits
        assert [one for one, _ in hits] == [one for one, _ in held.nearest(question, 5, space=SPACES[place % 3])]
    assert mirror._matrix is matrix


def test_a_record_keeps_its_vector_when_it_is_remembered_again(store: AgentDatabase) -> None:
    """A retried transaction must not leave two vectors, or another one."""
    agent = store.run(partial(_agent, name="ada"))
    record = MemoryRecord(id="r1", agent="ada", kind="plan", namespace="plans", text="go")
    for data in (b"\x01\x02", b"\x03\x04"):
        store.run(partial(agent_memory.remember, agent=agent, record=record, vector=("given:2", data)))
    mirror = vector_store.EmbeddedVectors(store, "given:2", 2, project=store.project)
    assert [row.data for row in mirror.rows(["r1", "r2"]).values()] == [b"\x01\x02"]


def test_the_model_for_search_by_meaning_serves_agents_too(project: Project, tmp_path: Path) -> None:
    """Who has a model already must not have to embed by hand; what it cannot do is said, not hidden."""
    project.models.use(str(tiny.model(tmp_path / "tiny")))
    agent = project.agents.get("researcher")
    for text in ("tests need postgres", "the server runs every night"):
        agent.remember(text)
    hits = agent.recall("postgres tests", limit=2)
    assert [hit.found for hit in hits] == ["exact", "exact"] and -1 <= hits[1].score <= hits[0].score <= 1
    assert agent.recall("tests need postgres", limit=1)[0].score == pytest.approx(1, abs=1e-2)
    similarity.forget()


@pytest.mark.torture
@pytest.mark.parametrize("place", [STORES[0], STORES[1], STORES[4]], ids="-".join, indirect=True)
def test_of_a_hundred_thousand_nearly_all_are_found(place: Place, request: pytest.FixtureRequest, seed: int) -> None:
    """Recall that fades as the memory grows is noticed by nobody."""
    kept, vectors = place.open()
    held = Kept(kept, seed, 100_000, 384)
    model = "given:384"
    if place.choice == PGVECTOR:  # filled first: a graph is made sooner of all at once
        assert vectors.nearest(model, held.rows[0], limit=1).is_exact
        server: LocalPostgres = request.getfixturevalue("server")
        name = place.url.split("@/")[1].split("?")[0]
        server.sql(f"SET maintenance_work_mem = '1GB'; {vector_backends.graph_sql(384)}", database=name)
        _, vectors = place.open()
    whole = np.frombuffer(b"".join(held.data), np.int8).reshape(-1, 384).astype(np.float32)
    whole /= np.linalg.norm(whole, axis=1, keepdims=True)
    found = 0
    for question in some(seed + 1, 100, 384):
        truth = {held.vectors[one].record for one in np.argpartition(-(whole @ question), 10)[:10]}
        near = vectors.nearest(model, question, limit=10)
        assert not near.is_exact
        found += len(truth & {one for one, _ in near.hits})
    assert found >= 0.99 * 1000
    assert place.notes == []


def test_migrate_makes_the_graph_where_a_project_has_many_vectors(
    server: LocalPostgres, repo: GitRepo, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index that an owner has to know of by heart is not made; one for few vectors would only lose some."""
    monkeypatch.setattr(vector_backends, "HNSW_FROM", 100)
    name = new_database(server)
    graph = f"SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass('{vector_backends.graph_name(SIZE)}')"
    stores = []
    for project, count in (("project-one", 60), ("project-two", 60)):
        kept = database.open_url(server.url(name), project)
        vector_backends.PgvectorStore(kept, MODEL, SIZE, project=project).put(Kept(kept, seed, count).vectors)
        stores.append(kept)
    agents = Project.open(repo.path, environ={}).agents
    agents.migrate(server.url(name, OWNER))
    assert server.sql(graph, database=name) == "", "no project has many, though both together do"
    more = Kept(stores[0], seed + 1, 120).vectors
    vector_backends.PgvectorStore(stores[0], MODEL, SIZE, project="project-one").put(more)
    agents.migrate(server.url(name, OWNER))
    assert server.sql(graph, database=name) == "t" and "HNSW" in agents.clone.notes[-1]
    forced = "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'memory_vector'"
    assert server.sql(forced, database=name) == "t", "counting must not leave the table open"
    agents.migrate(server.url(name, OWNER))
    assert sum("HNSW" in said for said in agents.clone.notes) == 1
    for one in stores:
        one.close()
