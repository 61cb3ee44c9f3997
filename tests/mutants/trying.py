"""Runs tests against changes: pytest collects once, then forks for each change.

A job is one process with a copy of the repository of its own. Its pytest collects all tests that belong to
the laws, and its child for one change puts the changed code into the functions that are loaded already, which
takes no time. A change outside of functions needs a fresh interpreter. The changed file also lies in the
copy, where processes that a test starts find it by PYTHONPATH.
"""

import faulthandler
import functools
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import NamedTuple

import pytest

from tests.mutants.changes import Change

NOT_COPIED = (".git", ".venv", ".clients", "__pycache__", ".*_cache", ".hypothesis", ".demo")
PLAIN = ("-x", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-seed=0")
BUDGET = 40  # seconds of tests for one change, the quickest first: what they miss, slower ones seldom see
PATIENCE = 8  # seconds, and times what a test takes unchanged: then it hangs
MEMORY = 8 << 30  # a change that makes a loop endless must not take the machine's memory
ALL_PASSED, UNCHANGED = 0, 98
# A process that a test starts is watched too; pytest names the test in a variable that it inherits.
SITE = """\
import sys
sys.path.append({root!r})
from tests.mutants.trying import watch
watch({src!r}, {notes!r})
"""


Table = dict[str, list[str]]  # the test files that belong to each module


class Seen(NamedTuple):
    """What one test took, and which functions it entered, as `module function`."""

    seconds: float
    functions: frozenset[str]


class Tried(NamedTuple):
    killed: bool
    said: str


def watch(src: str, notes: str) -> None:
    """From now on, note each function below `src` that is entered, and by which test."""
    known: set[tuple[str, CodeType]] = set()

    def enter(frame: FrameType, _event: str, _argument: object) -> None:
        code = frame.f_code
        if code.co_filename.startswith(src):
            test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
            if (test, code) not in known:
                known.add((test, code))
                module = code.co_filename[len(src) + 1 : -3].replace("/", ".")
                function = code.co_qualname.partition(".<locals>")[0]
                try:
                    with open(notes, "a", encoding="utf-8") as lines:
                        lines.write(json.dumps([test, f"{module} {function}"]) + "\n")
                except (NameError, OSError):  # the interpreter ends, or the test fills the disk
                    pass

    threading.settrace(enter)
    sys.settrace(enter)


class Job:
    """A plugin for pytest that takes the place of its loop: it forks for each piece of work."""

    def __init__(self, root: Path, copy: Path, cache: Path, tries: list[Change], table: Table) -> None:
        self.root, self.copy, self.cache, self.tries, self.table = root, copy, cache, tries, table
        self.seen: dict[str, Seen] = {}
        self.recorded: set[str] = set()
        self.items: dict[str, pytest.Item] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        src = self.copy / "src"
        os.environ["PYTHONPATH"] = str(src)
        for change in self.tries:
            for test in self.table[change.module]:
                self.record(test)
            self.attempt(change)
        return True

    # -- which test enters which function

    def record(self, test: str) -> None:
        """Kept in the cache until the test changes, or functions come and go."""
        if test in self.recorded:
            return
        self.recorded.add(test)
        kept = self.cache / f"{self.state(test)}.json"
        if not kept.exists():
            begun = time.monotonic()
            self.fork(lambda: self.record_in_child(test, kept))
            if not kept.exists():
                self.say(["failed", test, Path(f"{self.copy}.out").read_text(errors="replace")[-4000:]])
                raise SystemExit(1)
            self.say(["recorded", test, f"{time.monotonic() - begun:.0f} s"])
        for name, (seconds, functions) in json.loads(kept.read_text()).items():
            self.seen[name] = Seen(seconds, frozenset(functions))

    def state(self, test: str) -> str:
        """The test file, what it stands on, and the names of all functions it may enter, as one hash."""
        above = [self.root / folder / "conftest.py" for folder in (Path(test).parent, Path("tests"))]
        digest = hashlib.sha256(test.encode())
        for path in (self.root / test, *above):
            digest.update(path.read_bytes() if path.exists() else b"-")
        for module in self.table:
            text = (self.root / _path(module)).read_bytes()
            digest.update(b" ".join([module.encode(), *re.findall(rb"^\s*(?:def|class) \w+", text, re.M)]))
        return digest.hexdigest()[:20]

    def record_in_child(self, test: str, kept: Path) -> int:
        notes, site, src = self.copy / "entered", self.copy / "site", self.copy / "src"
        notes.unlink(missing_ok=True)
        site.mkdir(exist_ok=True)
        ours = str(src / "holdfast")
        (site / "sitecustomize.py").write_text(SITE.format(root=str(self.root), src=ours, notes=str(notes)))
        os.environ["PYTHONPATH"] = f"{site}:{src}"
        watch(ours, str(notes))
        took: dict[str, float] = {}
        for name in self.items:
            if name.partition("::")[0] == test and self.run([name], took) != ALL_PASSED:
                took.pop(name)  # what fails unchanged, or only because it is watched, tells nothing
                self.say(["left out", name, ""])
                self.items[name].session.testsfailed = 0
        sys.settrace(None)
        entered: dict[str, list[str]] = {name: [] for name in took}
        for line in notes.read_text(encoding="utf-8").splitlines() if notes.exists() else ():
            name, function = json.loads(line)
            entered.setdefault(name, []).append(function)
        table = {name: (took[name], sorted(set(entered[name]))) for name in took}
        whole = kept.with_suffix(f".{os.getpid()}")
        whole.write_text(json.dumps(table))
        whole.rename(kept)
        return ALL_PASSED

    # -- what the tests say about a change

    def attempt(self, change: Change) -> None:
        path = _path(change.module)
        ours = (self.copy / path).read_bytes()
        changed = change.apply(ours)
        tests = self.belonging(change)
        begun = time.monotonic()
        code = ALL_PASSED
        if tests:
            _write(self.copy / path, changed, stamp=int(change.id.rpartition(":")[2], 16))
            code = self.fork(lambda: self.try_in_child(change, changed, list(tests)))
            if code == UNCHANGED:
                code = self.fork(lambda: self.try_afresh(tests))
            _write(self.copy / path, ours, stamp=-1)
        said = f"{len(tests)} tests, {time.monotonic() - begun:.0f} s" if tests else "no test enters it"
        self.say(["tried", change.id, code != ALL_PASSED, said])

    def belonging(self, change: Change) -> dict[str, float]:
        """The tests of a module that enter the changed function, with their seconds, the quickest first."""
        files = set(self.table[change.module])
        inside, anywhere = f"{change.module} {change.function}", f"{change.module} "
        of_class = change.function.rpartition(".")[2].lstrip("_")[:1].isupper() or not change.function

        def enters(functions: frozenset[str]) -> bool:
            return inside in functions or (of_class and any(f.startswith(anywhere) for f in functions))

        found = {
            name: seen.seconds
            for name, seen in self.seen.items()
            if name.partition("::")[0] in files and enters(seen.functions)
        }
        ordered = sorted(found.items(), key=lambda item: item[1])
        spent = accumulate(seconds for _, seconds in ordered)
        return {name: seconds for (name, seconds), so_far in zip(ordered, spent, strict=True) if so_far < BUDGET}

    def try_in_child(self, change: Change, changed: bytes, tests: list[str]) -> int:
        module = sys.modules.get(f"holdfast.{change.module}")
        code = compile(changed, str(self.copy / "src"), "exec", dont_inherit=True)
        if module is None or not _put_into(module, change.function, code):
            return UNCHANGED
        return self.run(tests, {})

    def try_afresh(self, tests: dict[str, float]) -> int:
        """For what only an import runs: constants, defaults, classes."""
        signal.alarm(int(PATIENCE * (2 + sum(tests.values()))))
        os.environ["HOLDFAST_TEST_SEED"] = "1"
        command = [sys.executable, "-m", "pytest", *PLAIN, *tests]
        os.execv(command[0], command)

    def run(self, names: list[str], took: dict[str, float]) -> int:
        """Run these tests up to the first that fails; one that hangs ends the process."""
        for name, after in zip(names, [*names[1:], None], strict=True):
            item = self.items[name]
            if name in self.seen:
                faulthandler.dump_traceback_later(PATIENCE * (1 + self.seen[name].seconds), exit=True)
            begun = time.monotonic()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=self.items[after] if after else None)
            took[name] = time.monotonic() - begun
            if item.session.testsfailed:
                return 1
        return ALL_PASSED

    # -- processes

    def fork(self, work: Callable[[], int]) -> int:
        """What `work` gives, in a child whose words go to a file."""
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                os.setsid()
                resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
                out = os.open(f"{self.copy}.out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
                os.dup2(out, 1)
                os.dup2(out, 2)
                os.chdir(self.copy)
                code = work()
            except BaseException as error:  # noqa: BLE001
                print(f"{type(error).__name__}: {error}", flush=True)
            finally:
                sys.stdout.flush()
                os._exit(code)
        _, status = os.waitpid(pid, 0)
        try:
            os.killpg(pid, signal.SIGKILL)  # what a test left behind
        except ProcessLookupError:
            pass
        return os.waitstatus_to_exitcode(status)

    def say(self, words: list[object]) -> None:
        with open(f"{self.copy}.said", "a", encoding="utf-8") as file:
            file.write(json.dumps(words) + "\n")


def _put_into(module: ModuleType, name: str, changed: CodeType) -> bool:
    """Give a loaded function its changed code; false where the change lies outside of it."""
    for part in name.split("."):
        changed = next((c for c in changed.co_consts if isinstance(c, CodeType) and c.co_name == part), None)
        if changed is None:
            return False
    loaded = [function for function in _functions(vars(module)) if function.__qualname__ == name]
    found = [function for function in loaded if function.__module__ == module.__name__]
    for function in found:
        if function.__code__ == changed or function.__code__.co_freevars != changed.co_freevars:
            return False
        function.__code__ = changed
    return bool(found)


def _functions(names: dict[str, object]) -> Iterator[FunctionType]:
    """Functions and methods among these, whatever they are wrapped in."""
    for value in list(names.values()):
        if isinstance(value, type) and value.__dict__ is not names:
            yield from _functions(dict(value.__dict__))
        inner: object = value
        while inner is not None and not isinstance(inner, FunctionType):
            if isinstance(inner, property):
                inner = inner.fget
            elif isinstance(inner, functools.cached_property):
                inner = inner.func
            else:
                inner = getattr(inner, "__func__", None) or getattr(inner, "__wrapped__", None)
        while inner is not None:
            if isinstance(inner, FunctionType):
                yield inner
            inner = getattr(inner, "__wrapped__", None)


def _path(module: str) -> Path:
    return Path("src/holdfast") / (module.replace(".", "/") + ".py")


def _write(path: Path, content: bytes, *, stamp: int) -> None:
    """Write a module. Bytecode is found by size and time in seconds, so each change has a time of its own."""
    path.write_bytes(content)
    os.utime(path, (1_000_000_000 + stamp, 1_000_000_000 + stamp))


def start(root: Path, copy: Path, cache: Path, tries: list[Change], table: Table) -> int:
    """Start one job as a process; what it finds out it appends to `<copy>.said`."""
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*NOT_COPIED))
    pid = os.fork()
    if pid:
        return pid
    try:
        out = os.open(f"{copy}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(copy)
        for name in [name for name in sys.modules if name.split(".")[0] in ("tests", "holdfast")]:
            del sys.modules[name]
        sys.path[:] = [str(copy / "src"), *(path for path in sys.path if path not in ("", str(root)))]
        os.environ["HOLDFAST_TEST_SEED"] = "1"
        files = sorted({test for change in tries for test in table[change.module]})
        where = ["--rootdir", str(copy), "-c", str(copy / "pyproject.toml"), f"--basetemp={copy}-tmp"]
        code = pytest.main([*PLAIN, *where, *files], plugins=[Job(root, copy, cache, tries, table)])
        os._exit(int(code))
    finally:
        sys.stdout.flush()
        os._exit(1)
