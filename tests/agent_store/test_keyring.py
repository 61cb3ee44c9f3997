"""Keys in the system's keyring: a real Secret Service, and processes of their own that use it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jeepney import message_bus
from jeepney.io.blocking import open_dbus_connection

from tests.conftest import GitRepo, init, make_repo

MARKER = "xyzzyplugh"  # what must not be found
needs_service = pytest.mark.skipif(
    not (shutil.which("gnome-keyring-daemon") and shutil.which("dbus-daemon")),
    reason="no Secret Service here: gnome-keyring and dbus are not installed",
)
# A bus that starts no program by itself: no window that asks for a password, no second keyring.
BUS = """<busconfig><type>session</type><listen>unix:path={folder}/bus</listen><policy context="default">
<allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""


@contextlib.contextmanager
def secret_service(home: Path, password: str = "open sesame") -> Iterator[dict[str, str]]:
    """A keyring below `home`, unlocked with this password; gives the environment of programs that use it."""
    # The names of sockets must be short.
    with tempfile.TemporaryDirectory(prefix="hf-", dir="/tmp") as folder, contextlib.ExitStack() as ends:
        address = f"unix:path={folder}/bus"
        environ = {**os.environ, "HOME": str(home), "XDG_RUNTIME_DIR": folder, "DBUS_SESSION_BUS_ADDRESS": address}
        environ.pop("XDG_DATA_HOME", None)
        Path(folder, "bus.conf").write_text(BUS.format(folder=folder))
        bus = _started(ends, environ, "dbus-daemon", f"--config-file={folder}/bus.conf", "--nofork", "--print-address")
        assert bus.stdout and bus.stdout.readline()
        keys = _started(ends, environ, "gnome-keyring-daemon", "--foreground", "--components=secrets", "--unlock")
        assert keys.stdin
        keys.stdin.write(password)
        keys.stdin.close()
        _wait_for(address, "org.freedesktop.secrets")
        yield environ


def _started(ends: contextlib.ExitStack, environ: dict[str, str], *words: str) -> subprocess.Popen[str]:
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    child = ends.enter_context(subprocess.Popen(words, env=environ, text=True, **piped))
    ends.callback(child.kill)
    return child


def _wait_for(address: str, name: str) -> None:
    """Until somebody offers this name on the bus."""
    with open_dbus_connection(address) as connection:
        until = time.monotonic() + 20
        while not connection.send_and_get_reply(message_bus.NameHasOwner(name)).body[0]:
            assert time.monotonic() < until, f"{name} is not there"
            time.sleep(0.01)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    made = make_repo(tmp_path / "repo")
    init(made.path, commit=True)
    return made


def sealing(environ: dict[str, str]) -> dict[str, str]:
    scope = "recordings,events,directives,cycles,memories"
    return {**environ, "HOLDFAST_ENCRYPTION_SCOPE": scope, "HOLDFAST_ENCRYPTION_KEY": "keyring"}


def holdfast(repo: Path, environ: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holdfast", *words]
    return subprocess.run(command, cwd=repo, env=environ, capture_output=True, text=True, check=False)


LIFE = f"""
from holdfast.project import Project
project = Project.open(".")
agent = project.agents.get("a", directives=["{MARKER}"])
run = project.log.run_command(["echo", "{MARKER}"]).run_id
first = project.keys.vault.key_id
second = project.keys.rotate()
agent.remember("{MARKER} by the second key")
again = Project.open(".")
assert again.agents.find("a").identity.directives == ("{MARKER}",) and again.log.show(run).printed == "{MARKER}"
assert [(one.id, one.use) for one in again.keys.described()] == [(first, "opens"), (second, "seals and opens")]
assert again.keys.destroy(first) is True
last = Project.open(".")
assert last.agents.find("a").identity.locked and last.log.show(run).printed == "[locked]"
assert last.agents.find("a").recall("second key")[0].text == "{MARKER} by the second key"
"""


@needs_service
def test_the_keyring_keeps_keys_rotates_and_forgets_them(repo: GitRepo, tmp_path: Path) -> None:
    """The system's own place for secrets: what it keeps must come back in another process, and go for good."""
    with secret_service(tmp_path) as environ:
        subprocess.run([sys.executable, "-c", LIFE], cwd=repo.path, env=sealing(environ), check=True)
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert MARKER.encode() not in stored
    with secret_service(tmp_path, "another password") as environ:  # what is locked stays so, and nobody is asked
        said = holdfast(repo.path, sealing(environ), "run", "--", "echo", MARKER)
        assert (said.returncode, said.stdout) == (0, f"{MARKER}\n") and "the keyring does not answer" in said.stderr


@needs_service
def test_two_clones_that_begin_at_once_lose_no_key(repo: GitRepo, tmp_path: Path) -> None:
    """They share one entry of the keyring: a key that another one overwrites takes all that it sealed along."""
    clones = [repo.path, tmp_path / "second"]
    subprocess.run(["git", "clone", "-q", repo.path, clones[1]], check=True)
    begin = "from holdfast.project import Project; print(Project.open('.').keys.unlock().key_id)"
    with secret_service(tmp_path) as environ:
        at_once = [
            subprocess.Popen([sys.executable, "-c", begin], cwd=clone, env=sealing(environ), stdout=subprocess.PIPE)
            for clone in clones
        ]
        made = {child.communicate()[0] for child in at_once}
    assert len(made) == 1 and len(made.pop()) == 17


def test_a_keyring_that_is_switched_off_is_not_believed(repo: GitRepo) -> None:
    """`keyring --disable` takes every key and keeps none: what it sealed, nobody could read again."""
    environ = {**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
    done = holdfast(repo.path, sealing(environ), "run", "--", "echo", MARKER)
    assert done.stdout == f"{MARKER}\n" and "the keyring did not keep a key" in done.stderr
    assert not (repo.path / ".git" / "holdfast" / "keys").exists()
