"""Records runs from begin to end: a command, or a block of Python.

`holdfast run -- CMD` streams the command through and keeps a capsule of it; `recording` does the same for code that
says itself what it was given and what it made. Streams are redacted on their way to disk and kept up to a limit,
beyond it counted and hashed. Nothing here ever stops the command: what cannot be recorded becomes a warning, once per
stream.
"""

import contextlib
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.capture import process, run_recording, run_report, worktree_changes
from holdfast.capture.process import Handles, WatchedCommand
from holdfast.capture.run_recording import GIVEN, CapsuleRecording
from holdfast.capture.terminal import Signals
from holdfast.errors import BadInput, HoldfastError, NotStored
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model.event import Event
from holdfast.model.ids import RUN_VARIABLE
from holdfast.security.redact import Scanner, Stream
from holdfast.store.capsule import Capsule, CapsuleSink, to_json
from holdfast.values import frozen

Warn = Callable[[str], None]


class Track:
    """One stream of one run."""

    def __init__(self, name: str, sink: CapsuleSink | None, scan: Scanner, *, limit: int, warn: Warn) -> None:
        self.name, self.count, self.kept, self.truncated = name, 0, 0, False
        self._sink, self._scan = sink, scan
        self._stream: Stream | None = None
        self._limit, self._warn = limit, warn
        self._digest, self._kept_digest = hashlib.sha256(), hashlib.sha256()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; a secret cut in two by a chunk's end is still one secret."""
        self.count += len(chunk)
        self._digest.update(chunk)
        if self._sink is not None:
            try:
                self._stream = self._stream or self._scan.stream()
                self._keep(self._stream.feed(chunk))
            except HoldfastError as error:
                self._give_up(error)

    def finish(self) -> None:
        """Write what the scanner still held back."""
        if self._sink is not None and self._stream is not None:
            try:
                self._keep(self._stream.finish())
            except HoldfastError as error:
                self._give_up(error)
        self._close()

    def facts(self) -> dict[str, Any]:
        """What the event says of this stream."""
        told: dict[str, Any] = {f"{self.name}_bytes": self.count}
        if self.truncated:
            # Too much to guess from, so the hash of the raw bytes gives no secret away.
            told[f"{self.name}_sha256"] = self._digest.hexdigest()
        return told

    def given(self) -> dict[str, Any]:
        """What the event says of it as an input; the hash is that of the copy, so it gives no secret away."""
        digest = self._digest if self.truncated else self._kept_digest
        return {"sha256": digest.hexdigest(), "size": self.count}

    def _keep(self, clean: bytes) -> None:
        room = self._limit - self.kept
        if self._sink is not None and clean:
            self._sink.write(clean[:room])
            self._kept_digest.update(clean[:room])
        self.kept += min(len(clean), room)
        if len(clean) > room:
            self.truncated = True
            self._close()

    def _give_up(self, error: HoldfastError) -> None:
        self.truncated = True
        self._warn(f"{self.name} is not recorded in full: {error}")
        self._close()

    def _close(self) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None


class Tracks:
    """All streams of one run, each begun with its first byte."""

    def __init__(self, capsule: Capsule | None, scan: Scanner, *, limit: int, warn: Warn) -> None:
        self._capsule, self._scan, self._limit, self._warn = capsule, scan, limit, warn
        self._tracks: dict[str, Track] = {}

    def feed(self, name: str, chunk: bytes) -> None:
        """Take bytes of a stream: stdin, stdout, stderr or terminal."""
        self.begin(name).feed(chunk)

    def begin(self, name: str) -> Track:
        """The track of a stream, made on first sight."""
        if name not in self._tracks:
            self._tracks[name] = Track(name, self._sink(name), self._scan, limit=self._limit, warn=self._warn)
        return self._tracks[name]

    def _sink(self, name: str) -> CapsuleSink | None:
        if self._capsule is None:
            return None
        try:
            return self._capsule.open_output(f"{'inputs' if name == 'stdin' else 'outputs'}/{name}")
        except (HoldfastError, OSError) as error:
            self._warn(f"{name} is not recorded: {error}")
            return None

    def copy_file(self, name: str, handle: int) -> None:
        """Record a file given as input from where it stands, without moving it for the command."""
        try:
            at = os.lseek(handle, 0, os.SEEK_CUR)
            left = self._limit + 1
            while left > 0 and (chunk := os.pread(handle, min(left, 1 << 16), at)):
                self.feed(name, chunk)
                at += len(chunk)
                left -= len(chunk)
        except OSError as error:
            self._warn(f"{name} is not recorded: {error.strerror}")

    def finish(self) -> dict[str, dict[str, Any]]:
        """End all streams; gives what is to be told of inputs and of outputs."""
        told: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}}
        for name, track in self._tracks.items():
            track.finish()
            if name == "stdin":
                told["inputs"][name] = track.given()
            else:
                told["outputs"].update(track.facts())
        cut = sorted(name for name, track in self._tracks.items() if track.truncated)
        if cut:
            told["outputs"]["truncated"] = cut
        return told


MAX_CALLS = 1 << 18  # bytes of tool calls in the event's body; more goes into the capsule
MAX_ARGUMENT_FILES, MAX_ARGUMENT_BYTES = 100, 1 << 26  # a guess: bounds the time before the command starts


@frozen
class CommandOutcome:
    """How a recorded command ended; `event` is None if it could not be written now."""

    exit_code: int
    run_id: str
    warnings: tuple[str, ...]
    event: Event | None


def run_command(
    clone: Clone,
    argv: Sequence[str],
    *,
    environ: Mapping[str, str],
    task: str | None = None,
    layer: str | None = None,
    scale: int | None = None,
    prompt: str | None = None,
    env_allow: Sequence[str] = (),
    max_output: int = 1 << 20,
    terminal: bool = False,
    cwd: str | None = None,
    handles: Handles | None = None,
) -> CommandOutcome:
    """Run a command and keep its capsule; its event is in the log on return.

    What is wrong with the request itself is raised before the command starts. After that, a failure
    to record never stops the command: it is among the warnings.
    """
    process.refuse_no_command(argv)
    process.guard_handles()
    cwd, handles = cwd or os.getcwd(), handles or Handles()
    with Signals() as signals:
        record = CapsuleRecording(
            clone,
            task=task,
            layer=layer,
            scale=scale,
            prompt=prompt,
            parent=environ.get(RUN_VARIABLE),
            command=argv,
            environment=run_report.chosen(environ, env_allow),
            cwd=cwd,
        )
        record.tried("this run is not recorded", record.open)
        tracks = Tracks(record.capsule, clone.intake, limit=max_output, warn=record.warn)
        for name in ("terminal",) if terminal else ("stdout", "stderr"):
            tracks.begin(name)
        given = _keep_inputs(record, tracks, argv, cwd=cwd, stdin=handles.stdin, scan=clone.intake)
        inside = {**environ, RUN_VARIABLE: record.run_id}
        ended = process.execute(
            WatchedCommand(argv, cwd, inside, tracks.feed, signals, handles, on_terminal=terminal, linger=max_output)
        )
        told = tracks.finish()
        told["inputs"] = run_report.inputs(told["inputs"].get("stdin"), given) or {}
        event = record.end(ended.exit_code, told)
    return CommandOutcome(ended.exit_code, record.run_id, (*ended.notes, *record.warnings), event)


def _keep_inputs(
    record: CapsuleRecording, tracks: Tracks, argv: Sequence[str], *, cwd: str, stdin: int, scan: Scanner
) -> list[dict[str, Any]]:
    """Keep what the command is given; gives the files that its arguments name."""
    listed: list[dict[str, Any]] = []
    if record.capsule is None:
        return listed
    try:
        listed = scan.value(list(_argument_files(argv, cwd)))
        record.capsule.add(GIVEN, to_json(listed))
        if stat.S_ISREG(os.fstat(stdin).st_mode):
            tracks.copy_file("stdin", stdin)
    except (HoldfastError, OSError) as error:
        record.warn(f"what the command was given is not recorded: {error}")
    return listed


def _argument_files(argv: Sequence[str], cwd: str) -> Iterator[dict[str, Any]]:
    """Files that the command line names, by hash, as they are before the command starts."""
    left, seen = MAX_ARGUMENT_BYTES, set[str]()
    for word in argv:
        for name in (word, word.partition("=")[2]):
            full = os.path.join(cwd, name)
            if not name or full in seen or len(seen) >= MAX_ARGUMENT_FILES:
                continue
            with contextlib.suppress(OSError, ValueError):
                facts = os.stat(full)
                if stat.S_ISREG(facts.st_mode) and facts.st_size <= left:
                    seen.add(full)
                    left -= facts.st_size
                    with open(full, "rb") as file:
                        digest = hashlib.file_digest(file, "sha256").hexdigest()
                    yield {"path": worktree_changes.spelled(name), "sha256": digest, "size": facts.st_size}


class Run:
    """A block of Python being recorded: what it was given, what it called, what it made."""

    def __init__(self, record: CapsuleRecording, scan: Scanner) -> None:
        self._record, self._scan = record, scan
        self.summary: str | None = None
        self.event: Event | None = None  # once it has ended
        self._calls: list[dict[str, Any]] = []
        self._next: list[str] = []
        self._receipts: list[str] = []
        self._given: dict[str, int] = {}
        self._made: dict[str, int] = {}

    @property
    def run_id(self) -> str:
        return self._record.run_id

    def input(self, name: str, data: bytes | str | Mapping[str, Any] | Sequence[Any]) -> None:
        """Keep something the run was given."""
        self._given[f"{name}_bytes"] = self._add(f"inputs/{name}", data)

    def output(self, name: str, data: bytes | str | Mapping[str, Any] | Sequence[Any]) -> None:
        """Keep something the run made."""
        self._made[f"{name}_bytes"] = self._add(f"outputs/{name}", data)

    def tool_call(self, name: str, arguments: object = None, result: object = None, **more: object) -> None:
        """Keep a call of a tool and what it gave; JSON values."""
        call = {"name": name, "arguments": arguments, "result": result, **more}
        self._calls.append({key: value for key, value in call.items() if value is not None})

    def next_action(self, text: str) -> None:
        """Say what should be done next."""
        self._next.append(text)

    def receipt(self, evidence: str) -> None:
        """Name what the result rests on: `run:…`, `commit:…` or `file:…@…`."""
        self._receipts.append(evidence)

    def leave_tree(self) -> None:
        """Look at the work tree no more: git there may run what somebody planted while the run was under way."""
        self._record.leave_tree()

    def _add(self, name: str, data: bytes | str | Mapping[str, Any] | Sequence[Any]) -> int:
        if name.startswith((run_recording.FILES, "outputs/files/")):
            raise BadInput(f"{name} is where the files a run changed are kept", hint="Choose another name.")
        if not isinstance(data, bytes | str):
            data = to_json(self._scan.value(data))
        raw = data.encode("utf-8", "backslashreplace") if isinstance(data, str) else data
        if self._record.capsule is None:
            raise NotStored(f"{name} was not stored: the run has ended")
        stream = self._scan.stream()
        try:
            self._record.capsule.add(name, stream.feed(raw) + stream.finish())
        except FileExistsError:
            raise BadInput(f"the run already has {name}", hint="Give each part its own name.") from None
        return len(raw)

    def _extra(self) -> dict[str, Any]:
        calls = self._calls
        if len(to_json(calls)) > MAX_CALLS:
            self.output("tool_calls.json", calls)
            calls = [{"name": call["name"]} for call in calls[:1000]]
        fields = {"tool_calls": calls, "next_actions": self._next, "receipts": self._receipts}
        return {name: value for name, value in fields.items() if value}


@contextlib.contextmanager
def recording(
    clone: Clone,
    *,
    task: str | None = None,
    layer: str | None = None,
    scale: int | None = None,
    prompt: str | None = None,
    parent_run_id: str | None = None,
    tree: Repo | None = None,
) -> Iterator[Run]:
    """Record what a block of Python does as one run.

    It ends with exit status 0, or 1 if the block raised, which goes on. NotStored if the record cannot
    be kept: a program that asked for a record should know that there is none.
    """
    record = CapsuleRecording(
        clone, task=task, layer=layer, scale=scale, prompt=prompt, parent=parent_run_id, tree=tree
    )
    record.open()
    run = Run(record, clone.intake)
    try:
        yield run
    except BaseException:
        _end(record, run, 1)
        raise
    if _end(record, run, 0) is None:
        raise NotStored("; ".join(record.warnings) or f"run {record.run_id} was not stored")


def _end(record: CapsuleRecording, run: Run, status: int) -> Event | None:
    extra = run._extra()
    run.event = record.end(status, {"inputs": run._given, "outputs": run._made}, extra=extra, said=run.summary)
    record.capsule = None
    return run.event
