"""What differs between two runs: exit status and every output, text by line and the rest by hash.

A run whose text was erased, or that another clone recorded, has nothing here to compare; that is
said instead of showing an empty difference.
"""

import contextlib
import difflib
import hashlib
import os
from collections.abc import Mapping
from typing import Any

from holdfast.errors import NotFound
from holdfast.git.clone import Clone
from holdfast.model.event import Event
from holdfast.store import capsule, fsio
from holdfast.values import frozen, replace

MAX_TEXT = 1 << 20  # bytes; a guess: more is generated, and nobody reads its diff
_MAX_FILE = 64 << 20  # bytes; a guess: bounds memory
_LIST = "files.json"  # the list of produced files, which the event carries as well
_FILES = "files/"  # where a capsule keeps copies of them
_STREAMS = ("stdout", "stderr")


@frozen
class ComparedRun:
    """One of the two runs."""

    run_id: str
    ts: str
    task: str | None
    exit_status: int | None
    state: str  # here, private, erased or missing: whether its outputs can be compared


@frozen
class OutputChange:
    """One output that differs."""

    path: str
    kind: str  # added, removed, text or binary
    before: str | None  # sha256
    after: str | None
    lines: tuple[str, ...] = ()  # a unified diff, for text


@frozen
class RunDiff:
    """Two runs of a task, the earlier first."""

    before: ComparedRun
    after: ComparedRun
    changes: tuple[OutputChange, ...]

    @property
    def comparable(self) -> bool:
        return self.before.state == self.after.state == "here"

    @property
    def same(self) -> bool:
        return self.comparable and not self.changes and self.before.exit_status == self.after.exit_status


@frozen
class _Output:
    sha256: str
    text: str | None  # None: binary, too large, or only its hash was kept


_NONE = _Output("", None)


def diff(clone: Clone, run: str, against: str = "latest") -> RunDiff:
    """Compare a run with another, or with the newest earlier run of its task."""
    events = _runs(clone, run)
    after = _find(events, run)
    before = _earlier(clone, events, after) if against == "latest" else _find(_runs(clone, against), against)
    was, now = clone.joined(before), clone.joined(after)
    found = RunDiff(_side(clone, before, was), _side(clone, after, now), ())
    if not found.comparable:
        return found
    names = [found.before.run_id, found.after.run_id]
    old, new = _outputs(clone, names[0], was), _outputs(clone, names[1], now)
    changed = [path for path in sorted({*old, *new}) if old.get(path, _NONE).sha256 != new.get(path, _NONE).sha256]
    return replace(found, changes=tuple(_change(path, old.get(path), new.get(path), names) for path in changed))


def _runs(clone: Clone, run: str) -> list[Event]:
    """The runs visible here, in the log's order; all that this clone holds if `run` is not among them."""
    scope = "visible" if clone.find_events(kinds=("run",), runs=(run,)) else "all"
    return clone.find_events(scope, kinds=("run",))


def _find(events: list[Event], run: str) -> Event:
    if found := next((event for event in events if event.run_id == run), None):
        return found
    raise NotFound(f"there is no run {run} here", hint="List runs with `holdfast log`.")


def _earlier(clone: Clone, events: list[Event], after: Event) -> Event:
    task = clone.joined(after)["task"]
    for event in reversed(events[: events.index(after)]):
        if clone.joined(event)["task"] == task and event.run_id != after.run_id:
            return event
    what = f"of task {task}" if task else "without a task"
    raise NotFound(f"there is no earlier run {what} than {after.run_id}", hint="Name a run with --against.")


def _side(clone: Clone, event: Event, flat: Mapping[str, Any]) -> ComparedRun:
    run, state = event.run_id or "", str(flat["body_state"])
    if state == "here" and flat.get("output_sha256") is not None and _folder(clone, run) is None:
        state = "missing"
    return ComparedRun(run, event.ts, flat["task"], event.exit_status, state)


def _folder(clone: Clone, run: str) -> str | None:
    return next((store.run(run) for store in clone.stores if os.path.isdir(store.run(run))), None)


def _outputs(clone: Clone, run: str, flat: Mapping[str, Any]) -> dict[str, _Output]:
    """Everything a run put out: files kept in its capsule, and the hashes of what was too large to keep."""
    folder = _folder(clone, run)
    # The capsule's list is whole; the event's may be cut where a run made very many files.
    listed = capsule.read_json(folder, f"outputs/{_LIST}") if folder else None
    found = {}
    for made in listed if isinstance(listed, list) else flat.get("artifacts") or ():
        if isinstance(made, Mapping) and made.get("sha256"):
            found[_shown(_FILES + str(made.get("path")))] = _Output(str(made["sha256"]), None)
    top = os.path.join(folder, "outputs") if folder else ""
    for base, _, names in os.walk(top):
        for name in names:
            path = os.path.join(base, name)
            kept = os.path.relpath(path, top).replace(os.sep, "/")
            if kept != _LIST:
                data, text = fsio.read(path, limit=_MAX_FILE), None
                if len(data) <= MAX_TEXT and b"\0" not in data:
                    with contextlib.suppress(UnicodeDecodeError):
                        text = data.decode("utf-8")
                found[_shown(kept)] = _Output(hashlib.sha256(data).hexdigest(), text)
    return found


def _shown(kept: str) -> str:
    """What an output is called: a produced file by its path, `./stdout` if that is a stream's name."""
    path = kept.removeprefix(_FILES)
    return f"./{path}" if path != kept and path in _STREAMS else path


def _change(path: str, old: _Output | None, new: _Output | None, names: list[str]) -> OutputChange:
    before, after = old.sha256 if old else None, new.sha256 if new else None
    is_text = all(side is None or side.text is not None for side in (old, new))
    kind = "added" if old is None else "removed" if new is None else "text" if is_text else "binary"
    titles = f"{names[0]}/{path}", f"{names[1]}/{path}"
    lines = difflib.unified_diff(_lines(old), _lines(new), *titles, lineterm="") if is_text else ()
    return OutputChange(path, kind, before, after, tuple(lines))


def _lines(output: _Output | None) -> list[str]:
    if output is None or not output.text:
        return []
    *lines, last = output.text.split("\n")
    return [*lines, last, "\\ No newline at end of file"] if last else lines
