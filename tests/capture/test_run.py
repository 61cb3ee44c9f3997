"""What a run leaves behind: a capsule, an event, and nothing that should not be there."""

import contextlib
import errno
import hashlib
import json
import os
import pty
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.capture import finish_run, run_report
from holdfast.capture.run import recording, run_command
from holdfast.errors import BadInput, NotStored, ScanFailed
from holdfast.git import project_setup
from holdfast.security.redact import Scanner
from holdfast.store import capsule, fsio
from holdfast.store.private_store import make_store
from tests.conftest import GitRepo, make_repo

from .conftest import FAKE_KEY, WRAPPER, Project, faults, files_as_handles

# Newer Pythons warn of a fork beside threads; the forked process here only writes files and ends.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_a_run_leaves_a_sealed_capsule_and_an_event(project: Project) -> None:
    """The next agent must be able to see what was done, and that nobody changed the record."""
    out = project.sh(
        "echo made; echo bad >&2; echo x > new.txt; exit 3", task="T-1", layer="L5", scale=4, prompt="do it"
    )
    event, folder = project.event(out.run_id), project.folder(out.run_id)
    assert (out.exit_code, event["exit_status"], out.warnings) == (3, 3, ())
    assert (event["task"], event["layer"], event["systemic_scale"], event["prompt"]) == ("T-1", "L5", 4, "do it")
    assert event["target"] == event["run_id"] == out.run_id
    assert (folder / "outputs/stdout").read_bytes() == b"made\n"
    assert (folder / "outputs/stderr").read_bytes() == b"bad\n"
    assert (folder / "outputs/files/new.txt").read_bytes() == b"x\n"
    assert event["outputs"]["stdout_bytes"] == 5
    assert event["output_sha256"] == hashlib.sha256((folder / "MANIFEST").read_bytes()).hexdigest()
    assert json.loads((folder / "meta.json").read_bytes()) == event
    context = json.loads((folder / "context.json").read_bytes())
    assert (context["command"][0], context["cwd"], context["anchor"]["branch"]) == ("sh", ".", "main")
    assert "exit code 3" in (folder / "summary.md").read_text()
    assert "- Why: do it\n" in (folder / "summary.md").read_text()
    assert project.faults(out.run_id) == []
    assert not (folder / "open").exists()
    assert capsule.opened(project.clone.layout) == []


LONG = "Move the importer to streams. It runs out of memory on big files. " + "Details follow. " * 40


@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"prompt": "make it\n\nfaster", "task": "T-1"}, "make it faster"),
        ({"task": "T-1", "objective": "ship it"}, "T-1"),
        ({"objective": "ship the importer"}, "ship the importer"),
        ({"prompt": "  \n", "task": None}, None),
        ({}, None),
    ],
)
def test_a_summary_says_why(context: dict[str, str | None], why: str | None) -> None:
    """Months later what changed is in git, and why is nowhere else."""
    text = run_report.summary(context, "it ended", {}, [])
    assert [row for row in text.splitlines() if row.startswith("- Why:")] == ([f"- Why: {why}"] if why else [])


def test_a_long_prompt_is_cut_at_a_sentence() -> None:
    """Half a sentence may say the opposite of the whole."""
    told = run_report.why({"prompt": LONG})
    assert told and told.startswith("Move the importer to streams. It runs out of memory on big files.")
    assert told.endswith("follow.") and len(told) <= 300
    assert (run_report.why({"prompt": "x" * 900}) or "").endswith("…")


def test_sealed_files_are_read_only(project: Project) -> None:
    """An editor opened on the wrong file must not change the record."""
    out = project.sh("echo x")
    for file in project.folder(out.run_id).rglob("*"):
        if file.is_file():
            assert stat.S_IMODE(file.stat().st_mode) & 0o222 == 0, file


def test_the_root_hash_can_be_made_with_standard_tools(project: Project) -> None:
    """`sha256sum -c MANIFEST` is proof without us."""
    out = project.sh("echo x > a; echo y > b")
    done = subprocess.run(
        ["sha256sum", "--strict", "-c", "MANIFEST"], cwd=project.folder(out.run_id), capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_every_kind_of_damage_is_named(project: Project) -> None:
    """`doctor` must say which file, not only that something is wrong."""
    out = project.sh("echo one; echo x > f")
    folder = project.folder(out.run_id)
    for name in ("outputs/stdout", "MANIFEST", "meta.json", "context.json", "outputs/files/f"):
        file = folder / name
        good = file.read_bytes()
        file.chmod(0o600)
        file.write_bytes(good[:-2] + bytes([good[-2] ^ 1]) + good[-1:])
        assert [fault.split(":")[0] for fault in project.faults(out.run_id)] == [name]
        file.write_bytes(good)
        moved = file.rename(folder.parent.parent / "aside")
        assert [fault.split(":")[0] for fault in project.faults(out.run_id)] == [name]
        moved.rename(file)
    (folder / "outputs/added").write_bytes(b"")
    assert [fault.split(":")[0] for fault in project.faults(out.run_id)] == ["outputs/added"]
    (folder / "outputs/added").unlink()
    (folder / "outputs/link").symlink_to("/etc/passwd")
    assert "link" in project.faults(out.run_id)[0]
    (folder / "outputs/link").unlink()
    os.link(folder / "summary.md", folder.parent.parent / "second-name")
    assert "second name" in project.faults(out.run_id)[0]


def test_every_changed_byte_is_found(project: Project) -> None:
    """Law 4, for a whole small capsule."""
    out = project.sh("echo one; echo x > f")
    folder, event, layout = project.folder(out.run_id), project.event(out.run_id), project.clone.layout
    unseen = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        good = file.read_bytes()
        file.chmod(0o600)
        handle = os.open(file, os.O_WRONLY)
        for at in range(len(good)):
            os.pwrite(handle, bytes([good[at] ^ 1]), at)
            if not faults(layout, event):
                unseen.append((file.name, at))
            os.pwrite(handle, good[at : at + 1], at)
        os.close(handle)
    assert unseen == []
    assert faults(layout, event) == []


def test_a_secret_never_reaches_disk_however_it_comes(project: Project, tmp_path: Path) -> None:
    """A secret committed or backed up cannot be taken back."""
    half = len(FAKE_KEY) // 2
    script = "printf %s $ONE; sleep 0.2; echo $TWO; echo $ONE$TWO >&2; echo key=$ONE$TWO > produced.txt; cat"
    out = project.sh(
        script,
        stdin=f"token {FAKE_KEY}\n".encode(),
        prompt=f"use {FAKE_KEY}",
        task="T",
        environ={**os.environ, "SHOWN": FAKE_KEY, "ONE": FAKE_KEY[:half], "TWO": FAKE_KEY[half:]},
        env_allow=["SHOWN"],
    )
    assert (project.side / "out").read_text().startswith(FAKE_KEY), "the user sees what the command wrote"
    assert FAKE_KEY.encode() not in project.everything_on_disk()
    assert FAKE_KEY[half:].encode() not in project.everything_on_disk()
    row = project.files(out.run_id)["produced.txt"]
    assert row["redacted"] and row["sha256"] == hashlib.sha256(f"key={FAKE_KEY}\n".encode()).hexdigest()
    assert b"redacted" in (project.folder(out.run_id) / "outputs/files/produced.txt").read_bytes()
    assert project.faults(out.run_id) == []


def test_only_the_chosen_environment_is_kept(project: Project) -> None:
    """An environment is full of what nobody meant to publish."""
    environ = {**os.environ, "LANG": "C", "PRIVATE": "do-not-keep-me"}
    out = project.sh("true", environ=environ, env_allow=["LANG"])
    context = json.loads((project.folder(out.run_id) / "context.json").read_bytes())
    assert context["environment"] == {"LANG": "C"}
    assert b"do-not-keep-me" not in project.everything_on_disk()


def test_inputs_are_kept_and_argument_files_named_by_hash(project: Project) -> None:
    """Which version of the script ran is what one asks first."""
    (project.path / "script.sh").write_bytes(b"cat\n")
    out = project.run("sh", "script.sh", "--not-there=nothing", stdin=b"\x00\xff binary")
    folder = project.folder(out.run_id)
    assert (folder / "inputs/stdin").read_bytes() == b"\x00\xff binary"
    assert json.loads((folder / "inputs/files.json").read_bytes()) == [
        {"path": "script.sh", "sha256": hashlib.sha256(b"cat\n").hexdigest(), "size": 4}
    ]
    event = project.event(out.run_id)
    assert event["inputs"] == {
        "stdin": {"sha256": hashlib.sha256(b"\x00\xff binary").hexdigest(), "size": 9},
        "files": [{"path": "script.sh", "sha256": hashlib.sha256(b"cat\n").hexdigest(), "size": 4}],
    }
    assert json.loads((folder / "meta.json").read_bytes()) == event
    assert project.faults(out.run_id) == []


def test_a_run_given_nothing_says_so(project: Project) -> None:
    """An empty list for every command would be noise in each event."""
    assert project.event(project.sh("true").run_id)["inputs"] is None


def test_the_hash_of_a_piped_secret_is_not_kept(project: Project) -> None:
    """A short secret can be guessed from its hash."""
    given = f"token {FAKE_KEY}".encode()
    out = project.run("cat", stdin=given)
    told = project.event(out.run_id)["inputs"]["stdin"]
    kept = (project.folder(out.run_id) / "inputs/stdin").read_bytes()
    assert told == {"sha256": hashlib.sha256(kept).hexdigest(), "size": len(given)}
    assert hashlib.sha256(given).hexdigest().encode() not in project.everything_on_disk()


def test_output_beyond_the_limit_is_counted_and_hashed(project: Project) -> None:
    """A run that prints gigabytes must neither fill the disk nor go unrecorded."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    out = project.run("head", "-c", "30000000", "/dev/zero", max_output=1000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000
    told = project.event(out.run_id)["outputs"]
    assert (project.folder(out.run_id) / "outputs/stdout").stat().st_size == 1000
    assert told["stdout_bytes"] == 30_000_000
    assert told["truncated"] == ["stdout"]
    assert told["stdout_sha256"] == hashlib.sha256(b"\0" * 30_000_000).hexdigest()
    assert (project.side / "out").stat().st_size == 30_000_000


def test_a_command_that_cannot_start_is_recorded_too(project: Project) -> None:
    """That it was tried and failed is worth remembering."""
    out = project.run("no-such-command-here")
    assert out.exit_code == project.event(out.run_id)["exit_status"] == 127
    assert any("not found" in warning for warning in out.warnings)


def test_what_we_refuse_is_refused_before_the_command_starts(project: Project) -> None:
    """A typo in an option must not run the deployment."""
    for wrong in ({"layer": "no layer!"}, {"scale": "four"}):
        with pytest.raises(BadInput):
            project.sh("touch started", **wrong)
    with pytest.raises(BadInput):
        project.run()
    assert not (project.path / "started").exists()
    assert project.runs() == []


def test_nested_runs_name_their_parent(project: Project) -> None:
    """An agent that runs commands through us is one tree of runs, not a heap."""
    wrapper = project.wrapper("sh", "-c", "echo $HOLDFAST_RUN_ID > id; exec sh nested.sh")
    inner = ["$PYTHON", "-c", '"$WRAPPER"', str(project.side / "inner"), str(project.side / "cache"), "true"]
    assert wrapper.wait() != 0  # nested.sh is not there yet
    (project.path / "nested.sh").write_text(" ".join(inner) + "\n")
    os.environ.update(WRAPPER=WRAPPER, PYTHON=sys.executable)
    assert project.wrapper("sh", "nested.sh").wait() == 0
    outer, nested = project.report(), json.loads((project.side / "inner").read_text())
    assert project.event(nested["run_id"])["parent_run_id"] == outer["run_id"]
    assert project.event(outer["run_id"])["parent_run_id"] is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_is_in_the_log_when_the_wrapper_ends(project: Project, number: signal.Signals) -> None:
    """Ctrl-C is how most long runs end."""
    wrapper = project.wrapper("sh", "-c", "echo begun; exec sleep 30", stdout=subprocess.PIPE)
    assert wrapper.stdout is not None and wrapper.stdout.readline() == b"begun\n"
    wrapper.send_signal(number)
    assert wrapper.wait() == 128 + number
    (run,) = project.runs()
    assert run["exit_status"] == 128 + number
    assert project.faults(run["run_id"]) == []
    wrapper.stdout.close()


def kill_wrapper(project: Project) -> str:
    """Begin a run, kill -9 its wrapper, and give the run's id."""
    script = "echo $HOLDFAST_RUN_ID; seq 100000; echo half; echo $$ >&2; exec sleep 30"
    wrapper = project.wrapper("sh", "-c", script, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert wrapper.stdout is not None and wrapper.stderr is not None
    run_id = wrapper.stdout.readline().decode().strip()
    while wrapper.stdout.readline() != b"half\n":
        pass
    command = int(wrapper.stderr.readline())
    assert run_id not in [done.run_id for done in finish_run.complete_killed_runs(project.clone)], "its wrapper lives"
    wrapper.kill()
    wrapper.wait()
    os.kill(command, signal.SIGKILL)
    wrapper.stdout.close()
    wrapper.stderr.close()
    return run_id


def test_a_killed_wrappers_run_is_completed_by_the_next_command(project: Project) -> None:
    """`kill -9` may take the wrapper, not what it had recorded."""
    run_id = kill_wrapper(project)
    assert project.runs() == []
    (done,) = finish_run.complete_killed_runs(project.clone)
    assert (done.run_id, done.exit_status) == (run_id, None)
    event = project.event(run_id)
    assert event["exit_status"] is None
    assert event["task"] == "T-1"
    assert event["artifacts"] is None
    kept = (project.folder(run_id) / "outputs/stdout").read_bytes()
    assert len(kept) > 400_000 and kept.startswith(f"{run_id}\n1\n2\n3\n".encode())
    assert project.faults(run_id) == []
    assert finish_run.complete_killed_runs(project.clone) == []
    assert len(project.runs()) == 1


def test_a_killed_run_is_completed_on_its_own_line(project: Project, repo: GitRepo) -> None:
    """Nothing recorded on one branch may appear on another, also when a crash came between."""
    commit = repo.git("rev-parse", "HEAD")
    line = project.clone.line().id
    run_id = kill_wrapper(project)
    repo.git("switch", "-q", "-c", "other")
    other = project.clone.line()
    repo.commit("more")
    (done,) = finish_run.complete_killed_runs(project.clone)
    assert (done.run_id, done.event.line, done.event.head) == (run_id, line, commit)
    assert other.id != line
    assert project.event(run_id)["branch"] == "main"
    assert project.faults(run_id) == []


def test_two_commands_that_recover_at_once_complete_a_run_once(project: Project) -> None:
    """Agents start together; the log must not tell one run twice."""
    kill_wrapper(project)
    results: list[list[finish_run.RecoveredRun]] = []
    gate = threading.Barrier(6)

    def go() -> None:
        clone = project.clone
        gate.wait()
        results.append(finish_run.complete_killed_runs(clone))

    threads = [threading.Thread(target=go) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done.run_id for found in results for done in found) == sorted(run["run_id"] for run in project.runs())
    assert len(project.runs()) == 1


class Mortal(fsio.Syscalls):
    """Counts the calls that change the disk; just before one of them the process dies."""

    def __init__(self, fatal: int) -> None:
        self.count, self.fatal = 0, fatal

    def _step(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            self._fail()

    def _fail(self) -> None:
        os._exit(9)

    def open(self, path: str, flags: int, mode: int) -> int:
        self._step()
        return super().open(path, flags, mode)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._step()
        return super().write(fd, data)

    def sync(self, fd: int) -> None:
        self._step()
        super().sync(fd)

    def rename(self, source: str, target: str) -> None:
        self._step()
        super().rename(source, target)

    def unlink(self, path: str) -> None:
        self._step()
        super().unlink(path)

    def mkdir(self, path: str, mode: int) -> None:
        self._step()
        super().mkdir(path, mode)


class Failing(Mortal):
    """The disk refuses one of the calls."""

    def _fail(self) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))


def in_a_process_that_dies(fatal: int, action: Callable[[], object]) -> bool:
    """Act in a forked process that dies at its `fatal`th call; whether it came to its end."""
    pid = os.fork()
    if pid == 0:
        try:
            fsio.ops = Mortal(fatal)
            action()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def test_killed_at_any_point_the_next_command_finishes_the_run(project: Project) -> None:
    """Each step of sealing may be the last; none may leave a run half told or told twice."""
    clone, fatal = project.clone, 1

    def record_something() -> None:
        with recording(clone, task="T-1") as run:
            run.output("text", "some words")

    while not in_a_process_that_dies(fatal, record_something):
        finish_run.complete_killed_runs(clone)
        for run_id in capsule.opened(clone.layout):  # died before it could lock: told by its age
            os.utime(Path(clone.layout.private) / "open" / f"{run_id}.new", (0, 0))
        finish_run.complete_killed_runs(clone)
        assert capsule.opened(clone.layout) == [], fatal
        fatal += 1
    assert fatal > 20
    runs = project.runs()
    assert len({run["run_id"] for run in runs}) == len(runs)
    for run in runs:
        assert faults(clone.layout, run) == []
    held = {path.name for path in Path(project.clone.layout.runs).iterdir()}
    assert held == {run["run_id"] for run in runs}


def test_a_disk_error_at_any_call_is_told_and_leaves_nothing_half(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stored means stored: a program that was told so must find its run, whole."""
    clone, fatal, told, ops = project.clone, 0, 0, Failing(0)
    while ops.count >= fatal:
        fatal += 1
        ops = Failing(fatal)
        stored = False
        with monkeypatch.context() as patch, contextlib.suppress(NotStored):
            patch.setattr(fsio, "ops", ops)
            with recording(clone, task="T-1") as run:
                run.output("text", "some words")
            stored = True
        told += not stored
        if stored:
            assert run.run_id in {event.run_id for event in clone.own_events()}, fatal
        finish_run.complete_killed_runs(clone)
        assert capsule.opened(clone.layout) == [], fatal
    assert told > 10
    for run_event in project.runs():
        if run_event["output_sha256"] is not None:
            assert faults(clone.layout, run_event) == []


def test_a_run_killed_in_a_sandbox_is_completed_outside(project: Project) -> None:
    """A sandbox that is torn down must not take its last run with it."""
    inside = project.clone
    inside.layout = inside.private.sandboxed()
    make_store(inside.layout)

    def cut_short() -> None:
        with recording(inside, task="T-1") as run:
            run.output("text", "some words")
            os._exit(9)

    assert not in_a_process_that_dies(-1, cut_short)
    outside = project.clone  # which moves what the sandbox left
    (done,) = finish_run.complete_killed_runs(outside)
    assert project.event(done.run_id)["exit_status"] is None
    assert project.faults(done.run_id) == []
    assert [capsule.opened(store) for store in outside.stores] == [[], []]


def test_killed_while_completing_the_next_command_completes(project: Project) -> None:
    """The machine that killed one process may kill the next."""
    run_id = kill_wrapper(project)
    clone, fatal = project.clone, 1
    while not in_a_process_that_dies(fatal, lambda: finish_run.complete_killed_runs(clone)):
        fatal += 1
    assert fatal > 10
    assert [run["run_id"] for run in project.runs()] == [run_id]
    assert project.faults(run_id) == []


def test_a_full_disk_stops_neither_the_command_nor_a_later_completion(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command's work counts more than our notes; and when there is space again, the notes come."""
    clone = project.clone
    for allowed in (0, 6, 8):
        with monkeypatch.context() as patch:
            patch.setattr(fsio, "ops", Sudden(allowed))
            out = project.sh("echo out; echo $0 > done; exit 4")
        assert out.exit_code == 4
        assert (project.side / "out").read_bytes() == b"out\n"
        assert any("No space left" in warning for warning in out.warnings)
    finish_run.complete_killed_runs(clone)
    assert capsule.opened(clone.layout) == []
    for run in project.runs():
        if run["output_sha256"]:
            assert project.faults(run["run_id"]) == []


def test_a_run_whose_event_could_not_be_written_keeps_its_ending(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When there is space again, the log says what really happened, not that nobody knows."""

    class NoBodies(fsio.Syscalls):
        def open(self, path: str, flags: int, mode: int) -> int:
            if f"{os.sep}bodies{os.sep}" in path:
                raise OSError(28, os.strerror(28))
            return super().open(path, flags, mode)

    with monkeypatch.context() as patch:
        patch.setattr(fsio, "ops", NoBodies())
        out = project.sh("echo x > made; exit 4", task="T-9")
    assert (out.exit_code, out.event) == (4, None)
    assert project.runs() == []
    (done,) = finish_run.complete_killed_runs(project.clone)
    event = project.event(out.run_id)
    assert (done.exit_status, event["exit_status"], event["task"]) == (4, 4, "T-9")
    assert [row["path"] for row in event["artifacts"]] == ["made"]
    assert project.faults(out.run_id) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of four megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("no file system can be mounted here; the tests with injected faults still hold")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)


def test_a_command_that_fills_the_disk_is_recorded_once_there_is_space(small_disk: Path, tmp_path: Path) -> None:
    """The run that filled the disk is the one people will ask about."""
    repo = make_repo(small_disk / "repo")
    project = Project(repo.path, tmp_path)
    project_setup.initialise(str(repo.path), cache=str(tmp_path / "cache"), commit=True)
    clone = project.clone
    with files_as_handles(tmp_path, None) as handles:
        out = run_command(
            clone,
            ["sh", "-c", "cat /dev/zero > filler; seq 1000000; exit 5"],
            environ=os.environ,
            handles=handles,
            cwd=str(repo.path),
            max_output=1 << 24,
        )
    assert (out.exit_code, out.event) == (5, None)
    assert any("No space left" in warning for warning in out.warnings)
    assert (tmp_path / "out").stat().st_size == 6_888_896, "the user got everything"
    (repo.path / "filler").unlink()
    (done,) = finish_run.complete_killed_runs(project.clone)
    assert (done.run_id, done.exit_status) == (out.run_id, 5)
    assert project.faults(out.run_id) == []


def test_on_a_terminal_one_stream_is_recorded(project: Project) -> None:
    """What the user saw is what the capsule has."""
    pid, master = pty.fork()
    if pid == 0:
        os.chdir(project.path)
        report, cache = str(project.side / "report"), str(project.side / "cache")
        os.execv(sys.executable, [sys.executable, "-c", WRAPPER, report, cache, "sh", "-c", "test -t 1 && echo yes"])
    seen = b""
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 1000):
            seen += chunk
    os.waitpid(pid, 0)
    os.close(master)
    folder = project.folder(project.report()["run_id"])
    assert seen == (folder / "outputs/terminal").read_bytes() == b"yes\r\n"
    assert not (folder / "outputs/stdout").exists()


class Sudden(fsio.Syscalls):
    """A disk that is full after a few writes."""

    def __init__(self, allowed: int) -> None:
        self.left = allowed

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self.left -= 1
        if self.left < 0:
            raise OSError(28, os.strerror(28))
        return super().write(fd, data)


def test_a_broken_scanner_stores_no_text(project: Project) -> None:
    """Law 10: what could not be scanned is not kept."""

    class Broken(Scanner):
        def stream(self):  # type: ignore[no-untyped-def]
            raise ScanFailed("the scanner is broken")

        def text(self, text: str) -> str:
            raise ScanFailed(f"the scanner is broken for {len(text)} characters")

        def value(self, value: object) -> object:
            raise ScanFailed(f"the scanner is broken for a {type(value).__name__}")

    clone = project.clone
    clone.scan = clone.intake = Broken()
    with files_as_handles(project.side, None) as handles:
        out = run_command(
            clone, ["echo", "very-private-words"], environ=os.environ, handles=handles, cwd=str(project.path)
        )
    assert out.exit_code == 0
    assert out.warnings
    assert b"very-private-words" not in project.everything_on_disk()


def test_a_block_of_python_is_recorded(project: Project) -> None:
    """Agents written in Python need no command line."""
    with recording(project.clone, task="T-2", layer="L3", prompt="think") as run:
        run.input("question", "what is it?")
        run.output("answer.json", {"value": 42})
        run.tool_call("search", {"query": "it"}, result=["a"])
        run.next_action("ask again")
        run.summary = f"found the answer with {FAKE_KEY}"
        (project.path / "made.txt").write_text("by python")
    event = project.event(run.run_id)
    assert event["outputs"]["summary"].startswith("found the answer with [redacted")
    assert FAKE_KEY.encode() not in project.everything_on_disk()
    assert event["tool_calls"] == [{"name": "search", "arguments": {"query": "it"}, "result": ["a"]}]
    assert (event["next_actions"], event["exit_status"]) == (["ask again"], 0)
    assert [row["path"] for row in event["artifacts"]] == ["made.txt"]
    assert json.loads((project.folder(run.run_id) / "outputs/answer.json").read_bytes()) == {"value": 42}
    assert project.faults(run.run_id) == []


def test_a_block_that_raises_is_recorded_and_goes_on_raising(project: Project) -> None:
    """The failure is the most useful thing to remember."""
    with pytest.raises(ZeroDivisionError), recording(project.clone, task="T-2") as run:
        run.output("before", b"the crash")
        _ = 1 // 0
    assert project.event(run.run_id)["exit_status"] == 1


@pytest.mark.parametrize(
    "name", ["files.json", "files/a", "../out", "a/../../b", "/etc/x", "", "a\nb", "files.json/../../x"]
)
def test_a_name_that_leads_out_of_the_capsule_is_refused(project: Project, name: str) -> None:
    """A name comes from an agent, and agents read strangers' text."""
    with recording(project.clone) as run, pytest.raises(BadInput):
        run.output(name, b"x")


def test_many_calls_of_tools_fit(project: Project) -> None:
    """A body has a limit; a long run must not fail on it at its end."""
    with recording(project.clone) as run:
        for number in range(3000):
            run.tool_call("read", {"path": "x" * 500, "number": number})
    assert len(project.event(run.run_id)["tool_calls"]) == 1000
    assert (project.folder(run.run_id) / "outputs/tool_calls.json").stat().st_size > 1_000_000
