"""One run being recorded: its capsule from begin to seal, the files it produced, and its event.

Each produced file is listed by its hash, small ones are copied, and one that another run may have changed says so.
Every step may fail and none may harm the run itself: what is lost becomes a warning, what can still be written is. A
run whose event could not be written stays open, and the next command completes it.
"""

import contextlib
import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from holdfast.capture import run_report, worktree_changes
from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model.event import Event, EventDraft
from holdfast.model.ids import is_id, run_id
from holdfast.security.redact import Scanner
from holdfast.store import capsule, receipt_files
from holdfast.store.layout import Layout
from holdfast.values import dicts_of, frozen

# Bytes of a copy, of all copies, and files; guesses: source files, not artefacts of a build.
MAX_COPY, MAX_COPIES, MAX_COPIED_FILES = 1 << 20, 1 << 24, 1000
MAX_HASHED = 1 << 32  # in all; what lies beyond is listed without a hash rather than read for minutes
FILES = "outputs/files.json"
_SLACK = 50_000_000  # the kernel's clock for files is coarse, nanoseconds


@frozen
class RunWindow:
    """Another run in the same work tree: from when to when, and what it is known to have changed."""

    start_ns: int
    end_ns: int | None  # None: it is still under way
    paths: frozenset[str]

    def may_have_changed(self, path: str, ctime_ns: int | None) -> bool:
        """Whether that run was there when the file last changed; a deleted file keeps no time."""
        if path in self.paths:
            return True
        if ctime_ns is None:
            return self.end_ns is None
        return self.start_ns - _SLACK <= ctime_ns and (self.end_ns is None or ctime_ns <= self.end_ns + _SLACK)


def moment() -> int:
    """Now by the clock that stamps files, which is not the one events are dated with."""
    return time.time_ns()


def neighbours(layout: Layout, run_id: str, context: Mapping[str, Any], seen: Iterable[str]) -> list[RunWindow]:
    """Runs that overlapped ours in this work tree: those open when we began, and those begun since."""
    try:
        later = [name for name in os.listdir(layout.runs) if name >= run_id[:16]]
    except OSError:
        later = []
    others = sorted({*seen, *later, *capsule.opened(layout)} - {run_id})
    found = filter(None, (_window(layout, other, run_id, context) for other in others))
    return [one for one in found if one.end_ns is None or one.end_ns >= context.get("since_ns", 0)]


def _window(layout: Layout, other: str, run_id: str, ours: Mapping[str, Any]) -> RunWindow | None:
    folder = layout.run(other)
    theirs = capsule.read_json(folder, capsule.CONTEXT)
    if not isinstance(theirs, dict) or theirs.get("worktree") != ours.get("worktree"):
        return None
    # A nested run's work is its parent's work: nobody else is meant.
    if run_id in _ancestors(layout, theirs) or other in _ancestors(layout, ours):
        return None
    paths = [row.get("path", "") for row in dicts_of(capsule.read_json(folder, FILES))]
    end = None
    with contextlib.suppress(OSError):
        if not os.path.lexists(os.path.join(folder, capsule.OPEN)):
            end = os.lstat(os.path.join(folder, capsule.MANIFEST)).st_mtime_ns
    return RunWindow(int(theirs.get("since_ns") or 0), end, frozenset(paths))


def _ancestors(layout: Layout, context: Mapping[str, Any]) -> set[str]:
    """The runs within which a run was started."""
    found: set[str] = set()
    parent = context.get("parent_run_id")
    while isinstance(parent, str) and is_id(parent) and parent not in found:
        found.add(parent)
        parent = capsule.read_context(layout.run(parent)).get("parent_run_id")
    return found


class _Keeper:
    """Describes files and copies what is small; what cannot be read or kept is still listed."""

    def __init__(self, into: capsule.Capsule, scan: Scanner) -> None:
        self._into, self._scan = into, scan
        self._room, self._files, self._hashing = MAX_COPIES, MAX_COPIED_FILES, MAX_HASHED

    def describe(self, top: str, path: str, others: Sequence[RunWindow]) -> dict[str, Any]:
        name = worktree_changes.spelled(path)
        full = os.path.join(top, path)
        try:
            facts = os.lstat(full)
        except OSError:
            facts = None
        ctime = facts.st_ctime_ns if facts else None
        row: dict[str, Any] = {
            "path": self._scan.text(name),
            "sha256": None,
            "size": facts.st_size if facts else None,
            "stored": False,
            "shared": any(other.may_have_changed(name, ctime) for other in others),
            "redacted": False,
            "deleted": facts is None,
        }
        if facts is not None:
            self._content(full, facts, row)
        return row

    def _content(self, full: str, facts: os.stat_result, row: dict[str, Any]) -> None:
        try:
            if stat.S_ISLNK(facts.st_mode):
                row["sha256"] = hashlib.sha256(os.fsencode(os.readlink(full))).hexdigest()
            elif stat.S_ISREG(facts.st_mode) and facts.st_size <= self._hashing:
                self._hashing -= facts.st_size
                self._read(full, facts.st_size, row)
        except OSError:
            return  # gone or unreadable meanwhile: listed, without a hash

    def _read(self, full: str, size: int, row: dict[str, Any]) -> None:
        handle = os.open(full, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            if size > min(MAX_COPY, self._room) or self._files <= 0:
                row["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
                return
            data = file.read(MAX_COPY + 1)
        if len(data) > MAX_COPY:  # it grew while we looked
            return
        row["sha256"], row["size"] = hashlib.sha256(data).hexdigest(), len(data)
        self._copy(data, row)

    def _copy(self, data: bytes, row: dict[str, Any]) -> None:
        try:
            clean = self._scan.file(data)
            if self._into.vault:  # where contents are sealed, names are not told either
                row["copy"] = str(MAX_COPIED_FILES - self._files + 1)
            self._into.add(copy_name(row), clean)
        except (HoldfastError, OSError):
            return  # a name too long for the store, a full disk: the hash stands alone
        self._room -= len(data)
        self._files -= 1
        row["stored"], row["redacted"] = True, clean != data


def copy_name(row: Mapping[str, Any]) -> str:
    """Where the copy of a produced file lies in its capsule."""
    return f"outputs/files/{row.get('copy') or row['path']}"


GIVEN = "inputs/files.json"
MAX_COMMITS = 50  # that an event names
T = TypeVar("T")


class CapsuleRecording:
    """The record of one run while it is made."""

    def __init__(
        self,
        clone: Clone,
        *,
        task: str | None,
        layer: str | None,
        scale: int | None,
        prompt: str | None,
        parent: str | None,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
        cwd: str | None = None,
        tree: Repo | None = None,
    ) -> None:
        """`tree`: the work tree whose changes are the run's, if it is not the one that the clone is seen from."""
        # Refuses a bad layer or scale now, before anything has happened.
        EventDraft(kind="run", layer=layer, systemic_scale=scale)
        self._clone, self._tree, self.warnings = clone, tree or clone.repo, list[str]()
        self.run_id = run_id(clone.clock())
        self.capsule: capsule.Capsule | None = None
        self._seen = capsule.opened(clone.layout)
        began = moment()
        self._before = self.tried("what the run changes is not recorded", lambda: worktree_changes.snapshot(self._tree))
        self._logged, head = worktree_changes.last_row(self._tree), self._tree.head()
        line = None
        with contextlib.suppress(HoldfastError, OSError):
            line = clone.line().id
        self.context: dict[str, Any] = {
            "v": 1,
            "run_id": self.run_id,
            "parent_run_id": parent if parent and is_id(parent) else None,
            "task": None if task is None else run_report.clean_text(task),
            "layer": layer,
            "systemic_scale": scale,
            "command": None if command is None else [run_report.clean_text(word) for word in command],
            "prompt": None if prompt is None else run_report.clean_text(prompt),
            "plan": None,
            "environment": {n: run_report.clean_text(v) for n, v in (environment or {}).items()},
            "cwd": worktree_changes.spelled(os.path.relpath(cwd or self._tree.top, self._tree.top)),
            "worktree": os.path.relpath(self._tree.git_dir, clone.repo.common_dir),
            "anchor": {
                "head": head.oid,
                "branch": head.branch,
                "dirty": None if self._before is None else bool(self._before.files),
            },
            "line": line,  # where the run belongs if its wrapper dies: by then another branch may be checked out
            "started": clone.now(),
            "since_ns": began,
        }

    def warn(self, sentence: str) -> None:
        """Something to tell the user, once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def leave_tree(self) -> None:
        """Ask git nothing more of the work tree: what the run changed there is not recorded."""
        self._before = None

    def tried(self, lost: str, do: Callable[[], T]) -> T | None:
        """What it gives; None and a warning that this is lost if the disk or the scanner refuses."""
        try:
            return do()
        except (HoldfastError, OSError) as error:
            self.warn(f"{lost}: {error}")
            return None

    def open(self) -> None:
        """Begin the capsule; HoldfastError if the disk or the scanner refuses."""
        while True:
            try:
                self.context = self._clone.intake.value(self.context)
                vault = self._clone.recording_vault()
                self.capsule = capsule.Capsule.create(self._clone.layout, self.run_id, self.context, vault=vault)
                return
            except FileExistsError:  # two runs drew the same id in the same second
                self.run_id = self.context["run_id"] = run_id(self._clone.clock())

    def end(
        self,
        exit_status: int,
        told: Mapping[str, Mapping[str, Any]],
        *,
        extra: Mapping[str, Any] | None = None,
        said: str | None = None,
    ) -> Event | None:
        """Seal the capsule and write the event; None if it could not be written now."""
        ended = self._clone.now()
        if taken := self.capsule:
            self.tried("how it ended is not recorded", lambda: taken.note({"exit_status": exit_status, "ended": ended}))
        files = self.tried("what the run changed is not recorded", self._files)
        outputs = run_report.outputs(
            self.context, told.get("outputs", {}), exit_status=exit_status, ended=ended, files=files, said=said
        )
        root = None
        if taken:
            lost = f"the capsule of run {self.run_id} is not sealed"
            scan = self._clone.intake
            root = self.tried(lost, lambda: seal_run(taken, self.context, outputs, files, scan=scan))
        body = run_report.body(self.context, outputs=outputs, inputs=told.get("inputs"), root=root)
        body |= {
            "artifacts": run_report.artifacts(files or []),
            "derived_facts": [],
            "next_actions": [],
            "receipts": self._receipts(),
        } | dict(extra or {})
        return self._record(exit_status, body)

    def _files(self) -> list[dict[str, Any]] | None:
        """The produced files, kept in the capsule; None if nobody can tell."""
        if self._before is None or self.capsule is None:
            return None
        layout, repo = self._clone.layout, self._tree
        paths = worktree_changes.changed_paths(repo, self._before)
        others = neighbours(layout, self.run_id, self.context, self._seen) if paths else []
        keeper = _Keeper(self.capsule, self._clone.intake)
        return [keeper.describe(repo.top, path, others) for path in paths]

    def _receipts(self) -> list[str]:
        """The commits that were made meanwhile; what the run only fetched or went to is others' work."""
        if self._before is None:
            return []
        base, began = self._before.head, self.context["started"]
        with contextlib.suppress(HoldfastError, OSError):
            made = worktree_changes.made(self._tree, base, began=began, after=self._logged)
            return [f"commit:{oid}" for oid in made[-MAX_COMMITS:]]
        return []

    def _record(self, exit_status: int, body: Mapping[str, Any]) -> Event | None:
        try:
            event = self._clone.record(run_draft(self.context, exit_status, body))
            if self.capsule is not None:
                self.capsule.close(self._clone.joined(event))
            return event
        except (HoldfastError, OSError) as error:
            self.warn(f"run {self.run_id} is not recorded: {error}")
            return None
        finally:
            if self.capsule is not None:
                self.capsule.let_go()


def seal_run(
    into: capsule.Capsule,
    context: Mapping[str, Any],
    outputs: Mapping[str, Any],
    files: Iterable[Mapping[str, Any]] | None,
    *,
    scan: Scanner,
) -> str:
    """Write what is known at the end and give the root hash. The summary comes last: it says all is there."""
    stores = (into.layout, into.layout.sandboxed())  # an agent in a sandbox writes to the second
    if (told := receipt_files.take_up(stores, into.run_id, context)) is not None:
        into.replace(capsule.CONTEXT, capsule.to_json(told))
    listed = None if files is None else list(files)
    if listed is not None:
        into.replace(FILES, capsule.to_json(listed))
    text = scan.text(run_report.summary(context, str(outputs.get("summary")), outputs, listed))
    into.replace(capsule.SUMMARY, text.encode("utf-8", "backslashreplace"))
    return into.seal()


def run_draft(context: Mapping[str, Any], exit_status: int | None, body: Mapping[str, Any]) -> EventDraft:
    """The run's event, as its context tells it."""
    return EventDraft(
        kind="run",
        target=context["run_id"],
        run_id=context["run_id"],
        parent_run_id=context.get("parent_run_id"),
        layer=context.get("layer"),
        systemic_scale=context.get("systemic_scale"),
        exit_status=exit_status,
        body=body,
    )
