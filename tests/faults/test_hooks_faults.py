"""Law 9: hooks never block, fail or slow their caller, whatever became of the store."""

import ast
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.git import hooks
from holdfast.git.repo import Repo
from holdfast.store import discovery, git_inbox
from holdfast.store.layout import Layout
from tests.conftest import GitRepo
from tests.git.test_sandbox import can_mount

PYTHON: str = getattr(sys, "_base_executable", sys.executable)
PATIENCE = 60  # seconds; a hook that hangs for ever must fail the test, not stop it
needs_strace = pytest.mark.skipif(not shutil.which("strace"), reason="no strace here")


@pytest.fixture
def layout(repo: GitRepo) -> Layout:
    """The store of a repository whose hooks are installed."""
    found = Layout(str(repo.path), str(repo / ".git/holdfast"))
    os.mkdir(found.private)
    hooks.install(Repo.at(str(repo.path)), found, python=PYTHON, version=(2, 53))
    return found


def fire(repo: GitRepo, name: str = "post-commit", *args: str, **options: object) -> tuple[int, bytes, bytes]:
    """Run the installed hook as git does; its exit code and what it printed."""
    done = subprocess.run(  # type: ignore[call-overload]
        [f".git/hooks/{name}", *args],
        cwd=repo.path,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        **{"input": b"", **options},
    )
    return done.returncode, done.stdout, done.stderr


QUIET = (0, b"", b"")


def gone(path: str) -> None:
    shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def a_file(path: str) -> None:
    shutil.rmtree(path, ignore_errors=True)
    Path(path).write_text("in the way")


def a_folder(path: str) -> None:
    Path(path).unlink(missing_ok=True)
    os.mkdir(path)


def a_pipe(path: str) -> None:
    Path(path).unlink(missing_ok=True)
    os.mkfifo(path)


def a_link(path: str) -> None:
    shutil.rmtree(path) if os.path.isdir(path) else Path(path).unlink(missing_ok=True)
    os.symlink(os.path.join(os.path.dirname(path), "elsewhere"), path)


BROKEN: dict[str, tuple[str, Callable[[str], None]]] = {
    "no store": ("", gone),
    "a file for the store": ("", a_file),
    "a file for the inbox": ("inbox", a_file),
    "a link for the inbox": ("inbox", a_link),
    "a folder for the log": ("inbox/git.log", a_folder),
    "a pipe for the log": ("inbox/git.log", a_pipe),
    "a link for the log": ("inbox/git.log", a_link),
    "no hook": ("hook.py", gone),
    "a folder for the hook": ("hook.py", a_folder),
    "a pipe for the hook": ("hook.py", a_pipe),
    "a dead link for the hook": ("hook.py", a_link),
    "nonsense for the hook": ("hook.py", a_file),
    "a pipe for HEAD": ("../HEAD", a_pipe),
    "a folder for HEAD": ("../HEAD", a_folder),
    "nonsense for HEAD": ("../HEAD", a_file),
}


def test_law_9_a_broken_store_disturbs_nobody(repo: GitRepo, layout: Layout, tmp_path: Path) -> None:
    """A commit that fails because of our memory is the last one made with it."""
    shutil.copytree(repo / ".git", tmp_path / "kept")
    for case, (name, breaking) in BROKEN.items():
        breaking(os.path.normpath(os.path.join(layout.private, name)))
        said = [fire(repo, hook, "x") for hook in ("post-commit", "post-rewrite")]
        assert said == [QUIET, QUIET], case
        if "HEAD" not in case:
            done = subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repo.path, check=False)
            assert done.returncode == 0, case
        assert not list((repo / ".git").rglob("elsewhere")), case
        shutil.rmtree(repo / ".git")
        shutil.copytree(tmp_path / "kept", repo / ".git")


@pytest.mark.parametrize(
    "case", ["a folder for the log", "a pipe for the log", "a link for the log", "a file for the inbox"]
)
def test_what_stands_in_the_way_of_the_inbox_is_said_and_stops_no_command(layout: Layout, case: str) -> None:
    """The next command reads the inbox first; it must get past it."""
    name, breaking = BROKEN[case]
    breaking(os.path.join(layout.private, name))
    assert git_inbox.drain(layout) == [] and len(layout.notes) == 1 and "in the way" in layout.notes[0]
    git_inbox.peek(layout)


def test_law_9_closed_streams_and_odd_signals(repo: GitRepo, layout: Layout) -> None:
    """Editors and agents start git with whatever they have."""
    shut = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-']
    for name in ("post-commit", "post-rewrite"):
        done = subprocess.run([*shut, f".git/hooks/{name}", "x"], cwd=repo.path, check=False, timeout=PATIENCE)
        direct = [*shut, PYTHON, "-I", "-S", layout.hook, name, "x"]
        alone = subprocess.run(direct, cwd=repo.path, check=False, timeout=PATIENCE)
        assert (done.returncode, alone.returncode) == (0, 0)

    def odd() -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM, signal.SIGCHLD, signal.SIGTERM])

    assert fire(repo, preexec_fn=odd) == QUIET
    assert len(git_inbox.drain(layout)) == 5


def test_law_9_input_that_never_ends_is_not_waited_for(repo: GitRepo, layout: Layout) -> None:
    """The deadline is the hook's own; who started it may never close the other end."""
    reading, writing = os.pipe()
    try:
        started = [PYTHON, "-I", "-S", layout.hook, "post-rewrite", "rebase"]
        done = subprocess.run(started, cwd=repo.path, stdin=reading, check=False, timeout=PATIENCE)
    finally:
        os.close(reading)
        os.close(writing)
    assert done.returncode == 0


@needs_strace
@pytest.mark.parametrize("call", ["write", pytest.param("openat", marks=pytest.mark.torture)])
def test_law_9_a_disk_that_hangs_does_not_hold_the_caller(
    repo: GitRepo, layout: Layout, tmp_path: Path, call: str
) -> None:
    """A dead network share must not freeze every commit."""
    Path(layout.git_inbox).write_text("torn")  # so that its last byte is looked at
    ended = tmp_path / "ended"
    hang = ["strace", "-f", "-qq", "-o", os.devnull, "-P", layout.git_inbox, "-P", str(repo / ".git/HEAD")]
    hang += ["-e", f"inject={call}:delay_enter=100000000", "sh", "-c", '.git/hooks/post-commit; echo $? >"$0"']
    tracer = subprocess.Popen([*hang, str(ended)], cwd=repo.path, stderr=subprocess.DEVNULL)
    try:
        for _ in range(PATIENCE * 20):  # strace itself waits for the child that hangs
            if ended.exists() and ended.read_text():
                break
            time.sleep(0.05)
        assert ended.read_text() == "0\n"
    finally:
        tracer.kill()
        tracer.wait()
    assert Path(layout.git_inbox).read_text() == "torn"


def test_law_9_a_lock_that_somebody_keeps_costs_a_moment_and_no_line(repo: GitRepo, layout: Layout) -> None:
    """A stopped process may hold it for hours."""
    Path(layout.git_inbox).touch()
    code = (
        "import os, sys; os.lockf(os.open(sys.argv[1], os.O_RDWR), os.F_LOCK, 0)\nprint(flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen([PYTHON, "-c", code, layout.git_inbox], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin and holder.stdout and holder.stdout.readline()
    try:
        assert fire(repo) == QUIET
        assert len(git_inbox.peek(layout)) == 1
        assert git_inbox.drain(layout) == []  # whoever holds it may be about to write: it waits
    finally:
        holder.communicate()
    assert len(git_inbox.drain(layout)) == 1


@pytest.mark.skipif(not can_mount(), reason="no private mounts here")
@pytest.mark.parametrize("way", ["read-only", "full"])
def test_law_9_a_store_that_takes_nothing(repo: GitRepo, layout: Layout, way: str) -> None:
    """Sandboxes keep .git read-only, and disks are full at the worst of times."""
    mounts = {
        "read-only": 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"',
        "full": 'cp "$1/hook.py" ../kept && mount -t tmpfs -o size=16k tmpfs "$1" && cp ../kept "$1/hook.py" '
        '&& mkdir "$1/inbox" && ! cat /dev/zero >"$1/full" 2>/dev/null',
    }
    act = f"{mounts[way]} && .git/hooks/post-commit && .git/hooks/post-rewrite amend </dev/null"
    act += " && git commit -q --allow-empty -m x"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", act, "sh", layout.private],
        cwd=repo.path,
        capture_output=True,
        check=False,
        timeout=PATIENCE,
    )
    assert (done.returncode, done.stdout, done.stderr) == QUIET
    assert git_inbox.drain(layout) == []


def test_a_line_that_the_disk_tore_costs_only_itself(repo: GitRepo, layout: Layout) -> None:
    """A line glued to a torn one would be a firing lost, or worse, a wrong one."""
    fire(repo, "post-commit", "first")
    whole = os.path.getsize(layout.git_inbox)
    for more in (1, 30, 90):
        limit = os.path.getsize(layout.git_inbox) + more
        tight = lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))  # noqa: E731
        assert fire(repo, "post-commit", "torn", preexec_fn=tight) == QUIET
        assert fire(repo, "post-commit", f"after-{more}") == QUIET
    assert os.path.getsize(layout.git_inbox) > 4 * whole
    assert [each.args for each in git_inbox.drain(layout)] == [("first",), ("after-1",), ("after-30",), ("after-90",)]
    assert "3 damaged lines" in layout.notes[0]


def test_an_inbox_nobody_reads_stops_growing(repo: GitRepo, layout: Layout) -> None:
    """Somebody who stopped using Holdfast must not find a full disk."""
    with open(layout.git_inbox, "wb") as file:
        file.truncate(discovery.MAX_INBOX + 1)
    assert fire(repo) == QUIET
    assert os.path.getsize(layout.git_inbox) == discovery.MAX_INBOX + 1


def test_a_huge_inbox_is_read_in_pieces_up_to_a_limit(layout: Layout) -> None:
    """A file that fills memory is a way to stop every command."""
    good = f"1\t1700000000000000000\tpost-merge\t/r/.git\t{'a' * 40}\trefs/heads/main\t0\n".encode()
    with open(layout.git_inbox, "wb") as file:
        file.write(good)
        for _ in range(git_inbox.MAX_BYTES >> 20):
            file.write(b"x" * (1 << 20))
        file.write(b"\n" + good)
    assert [each.ts for each in git_inbox.drain(layout)] == ["2023-11-14T22:13:20.000000Z"]
    assert any("at most" in note for note in layout.notes) and git_inbox.drain(layout) == []


def test_each_firing_is_given_out_once_while_hooks_write_and_commands_read(repo: GitRepo, layout: Layout) -> None:
    """A commit counted twice or never is a session that lies."""
    count = 60

    def write(number: int) -> None:
        started = [PYTHON, "-I", "-S", layout.hook, "post-checkout", str(number)]
        subprocess.run(started, cwd=repo.path, check=True, timeout=PATIENCE)

    found: list[str] = []
    with ThreadPoolExecutor(8) as pool:
        writers = [pool.submit(write, number) for number in range(count)]
        while not all(writer.done() for writer in writers):
            found += [each.args[0] for each in git_inbox.drain(layout)]
    found += [each.args[0] for each in git_inbox.drain(layout)]
    assert sorted(map(int, found)) == list(range(count)) and layout.notes == []


def test_many_readers_share_what_fired_without_doubles(repo: GitRepo, layout: Layout) -> None:
    """Two agents' commands start at once after a commit; one of them adds it to the session."""
    for number in range(8):
        fire(repo, "post-merge", str(number))
    code = (
        "import sys; from holdfast.store import git_inbox; from holdfast.store.layout import Layout\n"
        "print(*[f.args[0] for f in git_inbox.drain(Layout(sys.argv[1], sys.argv[2]))])"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, layout.top, layout.private], stdout=subprocess.PIPE)
        for _ in range(4)
    ]
    said = b" ".join(each.communicate(timeout=PATIENCE)[0] for each in started)
    assert sorted(map(int, said.split())) == list(range(8))


def test_a_reader_that_dies_leaves_everything_to_the_next(repo: GitRepo, layout: Layout) -> None:
    """What a killed command had taken would be gone from every session."""
    fire(repo, "post-commit", "one")
    code = (
        "import os, sys; from holdfast.store import git_inbox; from holdfast.store.layout import Layout\n"
        "with git_inbox.draining(Layout(sys.argv[1], sys.argv[2])): os.kill(os.getpid(), 9)"
    )
    for number in range(3):
        subprocess.run([sys.executable, "-c", code, layout.top, layout.private], check=False)
        assert not os.path.exists(layout.git_inbox)
        fire(repo, "post-commit", f"more-{number}")
    with pytest.raises(KeyError), git_inbox.draining(layout) as fired:
        raise KeyError(len(fired))
    assert [each.args[0] for each in git_inbox.drain(layout)] == ["one", "more-0", "more-1", "more-2"]
    assert git_inbox.drain(layout) == [] and not git_inbox.is_filled(layout)


def test_damage_costs_the_damaged_lines_alone(layout: Layout, seed: int) -> None:
    """Anything may have written there; no command may fail over it, and no false commit may come of it."""
    rand = random.Random(seed)
    oids = [f"{rand.getrandbits(160):040x}" for _ in range(8)]
    true = set(oids)
    for _ in range(300):
        lines = [
            f"1\t{rand.randrange(10**19)}\tpost-commit\t/r/.git\t{rand.choice(oids)}\t-\t\n".encode() for _ in range(3)
        ]
        lines.insert(1, b"1\t5\tpost-rewrite\t/r/.git\t-\t-\trebase\n" + f"=\t{oids[0]}\t{oids[1]}\n".encode() * 2)
        data = bytearray(b"".join(lines))
        for _ in range(rand.randrange(4)):
            at = rand.randrange(len(data))
            data[at : at + rand.randrange(60)] = rand.randbytes(rand.randrange(3)) if rand.random() < 0.7 else b"\n"
        Path(layout.git_inbox).write_bytes(bytes(data))
        layout.notes.clear()
        for each in git_inbox.drain(layout):
            assert each.head is None or len(each.head) in (40, 64)  # damage may join digits to the longer hash
            assert len(each.pairs) <= 2 and all(len(old) == len(new) == 40 for old, new in each.pairs)
    Path(layout.git_inbox).write_bytes(b"\n" + b"".join(lines) + b"1\tx\n=\t" + b"a" * 40 + b"\t" + b"b" * 40 + b"\n")
    layout.notes.clear()
    fired = git_inbox.drain(layout)
    assert [len(each.pairs) for each in fired] == [0, 2, 0, 0] and {each.head for each in fired} - {None} <= true
    assert layout.notes == [f"left out: 2 damaged lines of {layout.git_inbox}.taken-000001"]


def test_the_hook_imports_only_what_every_python_has_loaded(repo: GitRepo, layout: Layout) -> None:
    """Each import is paid by everybody with every commit; `json` alone costs more than the rest."""
    tree = ast.parse(Path(layout.hook).read_text())
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    code = "import sys; print(*sys.modules)"
    there = subprocess.run([PYTHON, "-I", "-S", "-c", code], capture_output=True, check=True).stdout.decode().split()
    assert named <= {*there, "nt"}  # which stands in for posix on Windows


@needs_strace
def test_the_hook_starts_no_git_and_opens_no_index(repo: GitRepo, layout: Layout, tmp_path: Path) -> None:
    """A second git in a hook takes locks that the first one holds."""
    trace = tmp_path / "trace"
    watch = ["strace", "-f", "-qq", "-y", "-o", str(trace), "-e", "trace=%file"]
    for name in ("post-commit", "post-rewrite"):
        subprocess.run([*watch, f".git/hooks/{name}", "amend"], cwd=repo.path, check=True, input=b"")
        calls = trace.read_text()
        started = [line for line in calls.splitlines() if "execve(" in line and line.endswith("= 0")]
        assert not [line for line in started if 'git"' in line] and layout.hook[-8:] in calls
        assert ".git/index" not in calls and ".lock" not in calls
        wrote = [line for line in calls.splitlines() if any(f in line for f in ("O_WRONLY", "O_RDWR", "O_CREAT"))]
        assert all("/dev/" in line or "git.log" in line or "pipe" in line for line in wrote), wrote
