"""What can be wrong with a database: each fault is one sentence and a next step, and no password is in it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from demo.local_postgres import APP, OWNER, LocalPostgres

from holdfast.agent_store import agent_cycles, database, schema_steps
from holdfast.agent_store.database import AgentDatabase
from holdfast.agent_store.tables import CHUNK
from holdfast.errors import BadInput, Busy, FutureFormat, HoldfastError, NoDatabase, NotStored
from tests.agent_store.conftest import new_database
from tests.conftest import Cli, GitRepo

SECRET = "s3cret/Pass word"
AS_WRITTEN = "s3cret%2FPass%20word"
ROOT = Path(__file__).parents[2]


def refused(call: Callable[[], Any], kind: type[HoldfastError], *words: str) -> HoldfastError:
    """The refusal of a call: of that kind, one sentence with these words, a next step."""
    with pytest.raises(kind) as caught:
        call()
    error = caught.value
    said = f"{error} {error.hint}"
    assert type(error) is kind and all(word in said for word in words), said
    assert "\n" not in said and len(str(error)) < 420 and error.hint.endswith((".", ")", ";")), said
    assert not any(secret in said for secret in (SECRET, AS_WRITTEN, SECRET.replace(" ", "+"), "s3cret")), said
    return error


def opening(url: str) -> Callable[[], Any]:
    return lambda: database.open_url(url, "one")


@pytest.mark.parametrize(
    ("url", "kind", "words"),
    [
        ("not a url", BadInput, ("not the URL of a database", "postgresql://USER@HOST/DATABASE")),
        (f"postgresql://ann:{AS_WRITTEN}@host:port/db", BadInput, ("not the URL",)),
        (f"mysql://ann:{AS_WRITTEN}@host/db", BadInput, ("mysql databases are not supported",)),
        ("sqlite://", BadInput, ("sqlite:///FILE",)),
        (f"postgresql://ann:{AS_WRITTEN}@127.0.0.1:1/db", NoDatabase, ("127.0.0.1 does not answer", "database.url")),
        (f"postgresql://ann:{AS_WRITTEN}@no-such-host.invalid/db", NoDatabase, ("no-such-host.invalid does not",)),
        (f"postgresql://ann:{AS_WRITTEN}@127.0.0.1/db?sslmood=on", NoDatabase, ("sslmood",)),
        (f"postgresql://ann:{AS_WRITTEN}@127.0.0.1/db?%zz=on", NoDatabase, ("127.0.0.1",)),
    ],
)
def test_a_wrong_url(url: str, kind: type[HoldfastError], words: tuple[str, ...]) -> None:
    """Whoever mistypes it must see what to type, and nobody who looks over their shoulder the password."""
    refused(opening(url), kind, *words)


def test_the_command_line_says_the_same(repo: GitRepo) -> None:
    """What a person sees is the sentence and the step, not a traceback."""
    answer = Cli(repo.path, {"HOLDFAST_DATABASE_URL": f"postgresql://ann:{AS_WRITTEN}@127.0.0.1:1/db"})(
        "team", "push", ok=False
    )
    assert answer.code == NoDatabase.code and "does not answer" in answer.err and "hint: " in answer.err
    assert "s3cret" not in answer.err + answer.out and "Traceback" not in answer.err


def test_a_wrong_password_user_or_database(server: LocalPostgres) -> None:
    """Three things that look the same to a program, and need three different people."""
    rules = server.folder / "data" / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all with_password scram-sha-256\n{before}")
    server.sql("CREATE ROLE with_password LOGIN PASSWORD 'right'")
    server.sql("SELECT pg_reload_conf()")
    try:
        url = server.url("postgres", f"with_password:{AS_WRITTEN}")
        refused(opening(url), NoDatabase, "refuses with_password", "Check the user and the password")
    finally:
        rules.write_text(before)
        server.sql("SELECT pg_reload_conf()")
    refused(opening(server.url("postgres", "nobody_here")), NoDatabase, "refuses nobody_here")
    refused(opening(server.url("nowhere")), NoDatabase, "there is no database nowhere", "let a DBA create it")


def test_a_schema_that_is_missing_older_or_newer(server: LocalPostgres) -> None:
    """Agents must not write into tables that they do not know."""
    server.sql("CREATE DATABASE bare")
    refused(opening(server.url("bare")), NoDatabase, "no tables of Holdfast", "holdfast agent migrate")
    older, newer = new_database(server), new_database(server)
    engine, close = database.postgres_engine(database.parsed(server.url(older, OWNER)))
    with engine.begin() as connection:
        schema_steps.move(connection, "0001")
    engine.dispose()
    close()
    refused(opening(server.url(older)), NoDatabase, "step 0001", "needs 0002", "holdfast agent migrate")
    server.sql("UPDATE alembic_version SET version_num = '9999'", database=newer)
    refused(opening(server.url(newer)), FutureFormat, "newer Holdfast (step 9999)", "Update Holdfast")


def test_tables_or_rights_that_are_gone_while_it_is_open(server: LocalPostgres) -> None:
    """A DBA's mistake at night must be readable in the morning."""
    name = new_database(server)
    store = database.open_url(server.url(name), "one")
    server.sql("REVOKE ALL ON agent FROM holdfast_agents", database=name)
    refused(lambda: store.run(agent_cycles.every_agent), NoDatabase, "may not do this", "member of holdfast_agents")
    server.sql("DROP TABLE agent", database=name)
    refused(lambda: store.run(agent_cycles.every_agent), NoDatabase, "lacks tables", "holdfast agent migrate")
    store.close()


def test_a_missing_extension(server: LocalPostgres) -> None:
    """Vectors need pgvector, which only the owner of a database can add."""
    name = new_database(server)
    server.sql("DROP EXTENSION vector CASCADE", database=name)
    store = database.open_url(server.url(name), "one")
    asked = sa.text("SELECT '[1]'::vector")
    refused(lambda: store.run(lambda tx: tx.one(asked)), NoDatabase, "no extension vector", "CREATE EXTENSION vector;")
    store.close()


def fill(store: AgentDatabase, pieces: int = 200) -> None:
    for n in range(pieces):
        data = {"digest": f"{n:06}", "used": 0, "data": os.urandom(50_000)}  # random, or Postgres would compress it
        store.run(lambda tx, data=data: tx.insert(CHUNK, data))


def test_a_full_disk_under_a_file(tmp_path: Path) -> None:
    """What was acknowledged before stays readable; SQLite is told the size of its disk, as a full one tells it."""
    store = database.open_url(f"sqlite:///{tmp_path}/agents.db", "one")
    with store.engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()

    @sa.event.listens_for(store.engine, "checkout")
    def small(raw: Any, *_: object) -> None:
        raw.execute(f"PRAGMA max_page_count = {pages + 60}")

    refused(lambda: fill(store), NotStored, "no room left", "Free some space")
    kept = store.run(lambda tx: len(tx.all(sa.select(CHUNK.c.digest))), read=True)
    assert kept > 0
    store.close()


@pytest.mark.torture
def test_a_full_disk_under_a_server(server: LocalPostgres, tmp_path: Path) -> None:
    """The same for Postgres, on a tablespace of a few megabytes; needs root, for the mount."""
    place = server.folder / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m,mode=0777", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can only be mounted by root")
    try:
        (place / "t").mkdir()
        (place / "t").chmod(0o700)
        os.chown(place / "t", *(getattr(os.stat(server.folder), name) for name in ("st_uid", "st_gid")))
        server.sql(f"CREATE TABLESPACE small LOCATION '{place}/t'")
        server.sql("CREATE DATABASE small TEMPLATE template TABLESPACE small")
        store = database.open_url(server.url("small"), "one")
        refused(lambda: fill(store, 2000), NotStored, "no room left", "Free some space")
        assert store.run(lambda tx: len(tx.all(sa.select(CHUNK.c.digest))), read=True) > 0
        store.close()
        server.sql("DROP DATABASE small WITH (FORCE)")
        server.sql("DROP TABLESPACE small")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


class Wire:
    """A connection by TCP to a server's socket, which can be cut."""

    def __init__(self, path: Path) -> None:
        self._path, self._open = str(path / ".s.PGSQL.5432"), True
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._ends: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while self._open:
                near, _ = self._listener.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._path)
                self._ends += [near, far]
                threading.Thread(target=self._carry, args=(near, far), daemon=True).start()

    def _carry(self, near: socket.socket, far: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError):
            while True:
                for end in select.select([near, far], [], [])[0]:
                    data = end.recv(1 << 16)
                    if not data:
                        return
                    (far if end is near else near).sendall(data)

    def cut(self) -> None:
        """Nothing goes through any more."""
        self._open = False
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # or the thread that waits goes on accepting
        self._listener.close()
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.fixture
def wire(server: LocalPostgres) -> Iterator[Wire]:
    made = Wire(server.socket)
    yield made
    made.cut()


def test_a_cut_network(server: LocalPostgres, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says that the server does not answer, after a few tries and not after hours."""
    monkeypatch.setattr(database, "RETRIES", (0.05,))
    url = f"postgresql://{APP}:{AS_WRITTEN}@127.0.0.1:{wire.port}/{new_database(server)}"
    store = database.open_url(url, "one")
    assert store.run(agent_cycles.every_agent) == []
    wire.cut()
    refused(lambda: store.run(agent_cycles.every_agent), NoDatabase, "127.0.0.1 does not answer", "whether the server")
    store.close()


def test_a_network_that_says_nothing_is_noticed(server: LocalPostgres, wire: Wire) -> None:
    """A cable that was pulled sends no farewell: without these, a client waits for two hours."""
    store = database.open_url(f"postgresql://{APP}@127.0.0.1:{wire.port}/{new_database(server)}", "one")
    with store.engine.connect() as connection:
        raw = connection.connection.driver_connection
        assert raw is not None
        near = socket.socket(fileno=os.dup(raw.fileno()))
        idle, every, count = (
            near.getsockopt(socket.IPPROTO_TCP, getattr(socket, name))
            for name in ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT")
        )
        near.close()
    assert idle + every * count <= 30
    store.close()


def test_an_exhausted_pool(server: LocalPostgres, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many agents in one process, or too many processes at one server: both say so."""
    monkeypatch.setattr(database, "WAIT", 0.3)
    monkeypatch.setattr(database, "POOL", 2)
    name = new_database(server)
    store = database.open_url(server.url(name), "one")
    with contextlib.ExitStack() as held:
        for _ in range(2):
            held.enter_context(store.engine.connect())
        refused(lambda: store.run(agent_cycles.every_agent), Busy, "all 2 connections", "Close agents, or wait.")
    assert store.run(agent_cycles.every_agent) == []
    store.close()
    server.sql(f"ALTER DATABASE {name} CONNECTION LIMIT 0")
    refused(opening(server.url(name)), Busy, "takes no more connections", "max_connections")


def test_a_damaged_or_locked_file(tmp_path: Path) -> None:
    """A file that is no database must not be taken for an empty one."""
    path = tmp_path / "agents.db"
    path.write_bytes(b"no database " * 1000)
    refused(opening(f"sqlite:///{path}"), NoDatabase, "is damaged", "holdfast agent import")
    assert path.read_bytes() == b"no database " * 1000


_SILENT = """
import subprocess, sys
from tests.agent_store.test_refusals import Wire
from pathlib import Path
from holdfast.agent_store import agent_cycles, database
from holdfast.errors import HoldfastError
if sys.argv[3] == "short":
    database.RETRIES = (0.05,)
    database._NETWORK |= {"connect_timeout": 2, "tcp_user_timeout": 1000}
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
wire = Wire(Path(sys.argv[1]))
store = database.open_url(sys.argv[2].format(port=wire.port), "one")
store.run(agent_cycles.every_agent)
# A queue of one byte: every packet is dropped, and nobody is told.
subprocess.run(["tc", "qdisc", "add", "dev", "lo", "root", "bfifo", "limit", "1"], check=True)
for _ in range(2):  # on a connection that was open, and with none
    try:
        store.run(agent_cycles.every_agent)
        print("answered")
    except HoldfastError as error:
        print(type(error).__name__, error, error.hint)
subprocess.run(["tc", "qdisc", "del", "dev", "lo", "root"], check=True)
print(store.run(agent_cycles.every_agent))
"""


@pytest.mark.parametrize("limits", ["short", pytest.param("real", marks=pytest.mark.torture)])
def test_a_network_that_drops_every_packet(server: LocalPostgres, limits: str) -> None:
    """A pulled cable or a firewall says no word: the client must give up in bounded time, with the same sentence.

    In a network namespace of its own; with the limits of every day two questions take about two minutes.
    """
    alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    probe = "ip link set lo up && tc qdisc add dev lo root bfifo limit 1"
    with contextlib.suppress(FileNotFoundError):
        if subprocess.run([*alone, "sh", "-c", probe], capture_output=True, check=False).returncode == 0:
            url = f"postgresql://{APP}:{AS_WRITTEN}@127.0.0.1:{{port}}/{new_database(server)}"
            words = [*alone, sys.executable, "-c", _SILENT, str(server.socket), url, limits]
            done = subprocess.run(words, capture_output=True, check=False, text=True, timeout=240, cwd=ROOT)
            first, second, last = done.stdout.splitlines() or [done.stderr] * 3
            for said in (first, second):
                assert said.startswith("NoDatabase the agents' database at 127.0.0.1 does not answer"), (
                    done.stdout + done.stderr
                )
                assert "whether the server" in said and "s3cret" not in said
            assert last == "[]", "once packets go through again, so do questions"
            return
    pytest.skip("needs a network namespace, `ip` and `tc`")
