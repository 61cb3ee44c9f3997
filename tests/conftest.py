"""What every test stands on: a real repository in a world of its own.

No test sees the user's git configuration, cache, agents or settings, and none leaves a trace.
Random tests take `seed`; it is printed at the top of each session, and `HOLDFAST_TEST_SEED=N`
plays it again.
"""

import gc
import itertools
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest
from hypothesis import HealthCheck, settings

from holdfast.git import project_setup
from holdfast.security.person import AGENTS, UNATTENDED
from holdfast.store import fsio
from tests import making

SEED = "HOLDFAST_TEST_SEED"
GOLDEN = Path(__file__).resolve().parent / "golden" / "screens"
WRITING = os.environ.get("HOLDFAST_GOLDEN") == "write"  # read before a test clears its environment
PAST = re.compile(r"\b(\d+ (minute|hour|day|week|month|year)s? ago|just now)\b")

settings.register_profile(
    "default",
    max_examples=40,
    deadline=None,  # two shared cores: a slow example is not a wrong one
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("torture", settings.get_profile("default"), max_examples=2000)
settings.load_profile("default")

# Whatever makes git, Holdfast or Python behave unlike on a fresh machine with a person at it.
FOREIGN = ("GIT_", "HOLDFAST_", "CLAUDE", "CODEX", "GEMINI", "CURSOR", "COPILOT", "AGENT")
PLAIN = {"NO_COLOR", "FORCE_COLOR", "CLICOLOR", "PYTHONDONTWRITEBYTECODE", "EDITOR", "PAGER"}
AGENT_SETTINGS = {  # variables that people export to configure an agent: they say nothing about who types
    "Claude Code": (
        "ANTHROPIC_API_KEY ANTHROPIC_MODEL ANTHROPIC_BASE_URL CLAUDE_CONFIG_DIR CLAUDE_CODE_USE_BEDROCK "
        "CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_MAX_OUTPUT_TOKENS CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC "
        "CLAUDE_CODE_OAUTH_TOKEN CLAUDE_PROJECT_DIR"
    ),
    "Codex": "CODEX_HOME CODEX_API_KEY OPENAI_API_KEY OPENAI_BASE_URL",
    "Gemini CLI": "GEMINI_API_KEY GEMINI_MODEL GEMINI_CLI_TRUST_WORKSPACE GEMINI_CLI_NO_RELAUNCH",
    "opencode": "OPENCODE_CONFIG OPENCODE_CONFIG_DIR OPENCODE_CONFIG_CONTENT OPENCODE_DISABLE_AUTOUPDATE",
    "Kilo": "KILO_DISABLE_AUTOUPDATE KILO_CONFIG",
    "Qwen Code": "QWEN_SANDBOX OPENAI_MODEL QWEN_PROJECT_DIR",
    "Copilot CLI": "COPILOT_MODEL COPILOT_AUTO_UPDATE COPILOT_HOME COPILOT_PROVIDER_BASE_URL",
    "pi": "PI_OFFLINE PI_SKIP_VERSION_CHECK PI_CODING_AGENT_DIR",
    "Kimi Code": "KIMI_API_KEY",
    "Cline": "CLINE_DIR CLINE_API_KEY CLINE_MODEL",
    "Cursor": "CURSOR_API_KEY CURSOR_TRACE_ID",
    "aider": "AIDER_MODEL AIDER_DARK_MODE AIDER_AUTO_COMMITS",
    "goose": "GOOSE_MODEL GOOSE_PROVIDER GOOSE_MODE",
    "Amp": "AMP_API_KEY AMP_URL",
    "Droid": "FACTORY_API_KEY",
    "Auggie": "AUGMENT_SESSION_AUTH",
    "crush": "CRUSH_GLOBAL_CONFIG",
    "Replit Agent": "REPL_ID",
}
FOREIGN_NAMES = {
    *PLAIN,
    *UNATTENDED,
    *(name for one in AGENTS for name in one.children),
    *" ".join(AGENT_SETTINGS.values()).split(),
}


MEMORY_DISK = "/dev/shm"
ROOM = 4 << 30  # the folders of all tests take less than half of it


def has_room(folder: str) -> bool:
    """Whether the tests' folders fit in here and programs may run from here (containers often forbid it)."""
    try:
        found = os.statvfs(folder)
    except OSError:
        return False
    forbidden = os.ST_NOEXEC | os.ST_RDONLY
    return found.f_bavail * found.f_frsize >= ROOM and not found.f_flag & forbidden and os.access(folder, os.W_OK)


def pytest_configure(config: pytest.Config) -> None:
    """Choose seed and temporary folder once, before xdist starts its workers, which inherit them.

    On a disk the workers wait for it half of their time. `TMPDIR=/tmp make test` runs there all the same.
    """
    os.environ.setdefault(SEED, str(secrets.randbelow(2**32)))
    gc.set_threshold(20_000, 20, 20)  # at 700 new objects, as Python does, it takes half the time of parsing modules
    if "TMPDIR" not in os.environ and sys.platform == "linux" and has_room(MEMORY_DISK):
        os.environ["TMPDIR"] = MEMORY_DISK
        tempfile.tempdir = None  # chosen anew at the next call
    # `nohup make test &` ignores these, children inherit that, and tests that send them would hang.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def pytest_collection_finish() -> None:
    """What was collected stays to the end; looking through it for garbage takes a tenth of the time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """The folders of a worker's tests go if all passed; pytest would do it alone, at the end, in Python."""
    if exitstatus == 0 and hasattr(session.config, "workerinput"):
        factory: pytest.TempPathFactory = session.config._tmp_path_factory  # type: ignore[attr-defined]
        subprocess.run(["rm", "-rf", "--", factory.getbasetemp()], check=False, capture_output=True)


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed: {SEED}={os.environ[SEED]}"


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """A number for `random.Random`; a failing test prints it."""
    number = int(os.environ[SEED])
    print(f"{SEED}={number}")
    return number


def clean_environment(home: Path) -> dict[str, str]:
    """The environment of a fresh machine whose user's home is `home`."""
    env = {
        name: value for name, value in os.environ.items() if not name.startswith(FOREIGN) and name not in FOREIGN_NAMES
    }
    env |= {
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }
    return env


GITCONFIG = """\
[user]
	name = Ada Example
	email = ada@example.org
[init]
	defaultBranch = main
[commit]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
"""


_number = itertools.count()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, but that one reads all the session's folders to find the next number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    path = tmp_path_factory.getbasetemp() / f"{name}_{next(_number)}"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture(autouse=True)
def world(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own for every test; in-process code sees the same clean environment."""
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_number))
    home.mkdir(parents=True)
    (home / ".gitconfig").write_text(GITCONFIG)
    clean = clean_environment(home)
    for name in set(os.environ) - set(clean) - {SEED, "PYTEST_CURRENT_TEST"}:
        if not name.startswith("PYTEST"):
            monkeypatch.delenv(name)
    for name, value in clean.items():
        monkeypatch.setenv(name, value)
    return home


class Quick(fsio.Syscalls):
    """Skips syncing, for tests that cut no power; it takes most of their time."""

    def sync(self, fd: int) -> None:
        pass

    def sync_data(self, fd: int) -> None:
        pass

    def sync_dir(self, path: str) -> None:
        pass


@pytest.fixture(autouse=True)
def quick_disk(request: pytest.FixtureRequest) -> Iterator[None]:
    """What runs in this process does not wait for the disk, but for the tests of faults."""
    if "faults" in request.path.parts:
        yield
        return
    before, fsio.ops = fsio.ops, Quick()
    yield
    fsio.ops = before


@pytest.fixture(autouse=True)
def own_time() -> Iterator[None]:
    """Whatever time a test let pass (`Place.later`), the next begins in the present."""
    yield
    from tests.git.place import Place

    Place.passed = 0
    os.environ.pop("GIT_COMMITTER_DATE", None)


def _let_gits_clock_catch_up() -> None:
    """Git takes the time from a clock that ticks only every few milliseconds.

    Just after a second began, git may still write the second before into a reflog, and a branch would seem
    older than what was recorded just before it.
    """
    begun = time.time() % 1
    if begun < 0.02:
        time.sleep(0.02 - begun)


@dataclass(frozen=True, slots=True)
class GitRepo:
    """A real repository, and git run inside it."""

    path: Path

    def __fspath__(self) -> str:
        return str(self.path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def git(self, *args: str, ok: bool = True, data: bytes | None = None) -> str:
        """Git's standard output, stripped; fails the test with git's own words."""
        _let_gits_clock_catch_up()
        done = subprocess.run(["git", *args], cwd=self.path, input=data, capture_output=True, check=False)
        if ok and done.returncode != 0:
            pytest.fail(f"git {' '.join(args)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace").strip()

    def write(self, name: str, text: str) -> Path:
        """A file of the work tree with this text."""
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def commit(self, name: str = "file.txt", text: str | None = None, message: str | None = None) -> str:
        """Write a file, commit it alone, and give the commit's id."""
        self.write(name, text if text is not None else f"{name} {secrets.token_hex(4)}\n")
        self.git("add", "--", name)
        self.git("commit", "-q", "-m", message or f"change {name}", "--", name)
        return self.tip() or self.git("rev-parse", "HEAD")

    def tip(self) -> str:
        """The commit at HEAD as the files say it, without a process; empty where they do not."""
        try:
            at = os.fsdecode((self.path / ".git/HEAD").read_bytes()).strip()
            ref = at.removeprefix("ref: ")
            return (self.path / ".git" / ref).read_text().strip() if ref != at else at
        except OSError:  # a work tree beside the first, or refs that are kept otherwise
            return ""

    def status(self) -> str:
        return self.git("status", "--porcelain", "--untracked-files=all")


def _made_by_git(path: Path) -> None:
    path.mkdir(parents=True)
    repo = GitRepo(path)
    repo.git("init", "-q", "-b", "main")
    repo.commit("README", "a project\n", "first")


def make_repo(path: Path) -> GitRepo:
    """A repository with one commit on branch main; git makes the first, and the others are its copies."""
    if making.ordinary(GITCONFIG):
        making.copied(_made_by_git, path)
    else:
        _made_by_git(path)
    return GitRepo(path)


@pytest.fixture
def repo(tmp_path: Path) -> GitRepo:
    """A real git repository with one commit, alone in its world."""
    return make_repo(tmp_path / "repo")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command said, and how it ended."""

    code: int
    out: str
    err: str


@contextmanager
def redirected(data: bytes) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Standard streams as files, down to the descriptors: what child processes print is caught too."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(data)
        given.seek(0)
        names = ("stdin", "stdout", "stderr")
        streams = [getattr(sys, name) for name in names]
        kept = [os.dup(number) for number in range(3)]
        for number, file in enumerate((given, out, err)):
            os.dup2(file.fileno(), number)
        for number, (name, mode) in enumerate(zip(names, "rww", strict=True)):
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        try:
            yield out, err
        finally:
            for number, (name, stream, copy) in enumerate(zip(names, streams, kept, strict=True)):
                getattr(sys, name).close()
                setattr(sys, name, stream)
                os.dup2(copy, number)
                os.close(copy)


def whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")


@dataclass(slots=True)
class Cli:
    """The real command, run in one repository."""

    cwd: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, *args: str, ok: bool = True, data: str | bytes = b"", **env: str) -> Answer:
        """Run in this process: fast, and the same code. No terminal, so nobody is asked anything."""
        from holdfast.interfaces.cli.main import main

        raw = data.encode() if isinstance(data, str) else data
        changed = {**self.env, **env}
        before = {name: os.environ.get(name) for name in changed}
        here = os.getcwd()
        os.environ.update(changed)
        os.chdir(self.cwd)
        try:
            with redirected(raw) as (out, err):
                code = main(list(args))
                sys.stdout.flush()
                sys.stderr.flush()
                answer = Answer(code, whole(out), whole(err))
        finally:
            os.chdir(here)
            for name, value in before.items():
                os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        return self._checked(answer, args, ok=ok)

    def spawn(self, *args: str, ok: bool = True, data: bytes = b"", **env: str) -> Answer:
        """Run as a process of its own, the way people do."""
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *args],
            cwd=self.cwd,
            env={**os.environ, **self.env, **env},
            input=data,
            capture_output=True,
            check=False,
        )
        out, err = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        return self._checked(Answer(done.returncode, out, err), args, ok=ok)

    @staticmethod
    def _checked(answer: Answer, args: tuple[str, ...], *, ok: bool) -> Answer:
        if ok and answer.code != 0:
            pytest.fail(f"holdfast {' '.join(args)} ended with {answer.code}:\n{answer.err}{answer.out}")
        return answer


@pytest.fixture
def cli(repo: GitRepo) -> Cli:
    """`cli("status")` in process, `cli.spawn("status")` as a process; both fail loudly unless ok=False."""
    return Cli(repo.path)


Grow = Callable[[Cli, GitRepo], object]
_grown: dict[Grow, making.Made] = {}


def grown(grow: Grow, cli: Cli, repo: GitRepo) -> Cli:
    """The fresh repository after `grow(cli, repo)`: done once in a session, and copied from then on."""
    assert "<locals>" not in grow.__qualname__, "a function of its own in each test: nothing would be copied"
    fresh = (repo / ".git/logs/HEAD").read_bytes().count(b"\n") == 1
    assert fresh and sorted(os.listdir(repo)) == [".git", "README"], "what was done here before would be gone"
    if not making.ordinary(GITCONFIG):
        grow(cli, repo)
    elif grow in _grown:
        (repo / "README").unlink()
        shutil.rmtree(repo / ".git")  # the folder itself stays: somebody may be in it
        making.lay_out(_grown[grow], repo.path)
    else:
        grow(cli, repo)
        _grown[grow] = making.snapshot(repo.path)
    return cli


def _init(cli: Cli, _: GitRepo) -> None:
    cli("init")


def _init_and_commit(cli: Cli, _: GitRepo) -> None:
    cli("init", "--commit")


def initialise_store(_: Cli, repo: GitRepo) -> None:
    with tempfile.TemporaryDirectory() as cache:
        project_setup.initialise(str(repo.path), cache=cache, commit=False)


def initialise_and_commit(_: Cli, repo: GitRepo) -> None:
    with tempfile.TemporaryDirectory() as cache:
        project_setup.initialise(str(repo.path), cache=cache, commit=True)


def _named(grow: Grow, path: Path) -> None:
    grown(grow, Cli(path), GitRepo(path))
    making.name_store(path)


def init(path: Path, *, commit: bool = False) -> None:
    """`holdfast init` in a fresh repository, copied from the first one in which it ran."""
    _named(_init_and_commit if commit else _init, path)


def init_store(path: Path, *, commit: bool = False) -> None:
    """What `holdfast init` begins with, `project_setup.initialise`, likewise: a store, but no views."""
    _named(initialise_and_commit if commit else initialise_store, path)


@pytest.fixture
def inside(repo: GitRepo) -> Iterator[GitRepo]:
    """The repository, with the test's current folder in it."""
    here = os.getcwd()
    os.chdir(repo.path)
    yield repo
    os.chdir(here)


def golden(name: str, text: str) -> None:
    """The screen is this text, exactly; `HOLDFAST_GOLDEN=write` writes it for a person to look at."""
    path = GOLDEN / f"{name}.txt"
    if WRITING:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()
