"""Finds what an id names, and returns it for `show`.

An id may name a memory, a task, a link, a session, a run, an event, a file that a run produced, or another result of
`recall`: a turn of a run or a step of it, a commit, a place in a file. A turn comes from its run's capsule, commits and
files from git. For an entry that this branch does not have, the answer names the line (the id of a branch's work) where
it waits, or where it was published. Missing or damaged records are not shown.
"""

import os
import re
import stat
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import BrokenEntry, CorruptLog, FutureFormat, HoldfastError, NotFound
from holdfast.git import branch_lines, file_entries
from holdfast.git.clone import Clone
from holdfast.git.visible_entries import Sighting
from holdfast.index.corpus import git_objects
from holdfast.index.corpus.file_choice import CorpusChoice, CorpusRules, chunks_of
from holdfast.model.event import Event
from holdfast.model.ids import LINK, beginnings, is_id, pick
from holdfast.model.session import to_object
from holdfast.patterns import regex
from holdfast.recall.why import recorded_runs
from holdfast.store import capsule, fsio, layout, pending_changes, sealed_files, session_files, task_files
from holdfast.values import dict_of, dicts_of, frozen, list_of, replace
from holdfast.work import task_json


@frozen
class ShownRecord:
    """A record with its place and text."""

    id: str
    kind: str
    path: str | None
    text: str | None
    fields: dict[str, Any]
    printed: str | None = None  # the last lines of a run's output
    elsewhere: str | None = None  # where an entry is that this branch does not have


_BRANCHES = 3  # branches that are named; a guess: a commit of the trunk is on all of them


@frozen
class ElsewhereEntry:
    """The place of an entry of another branch, in a sentence, and its text there."""

    sentence: str
    text: str
    path: str


def look_elsewhere(clone: Clone, identity: str) -> ElsewhereEntry | None:
    """Returns where an entry is that is not visible here: on a line that has not published it, else in git."""
    for change in (change for store in clone.stores for change in reversed(pending_changes.waiting(store))):
        if change.text is not None and change.path.endswith(f"-{identity}.md"):
            known = branch_lines.known(*clone.stores).get(change.line)
            name = branch_lines.called(known.refs[-1]) if known else f"line {change.line}"
            return ElsewhereEntry(f"Not of this branch: it waits to be published on {name}", change.text, change.path)
    return published_elsewhere(clone, identity)


def published_elsewhere(clone: Clone, identity: str) -> ElsewhereEntry | None:
    """Returns the newest commit of any branch that contains an entry, by its whole id."""
    if not is_id(identity):
        return None
    folders = (layout.MEMORY, layout.TASKS, layout.LINKS)
    files = [f":(top,glob){folder}/**/*-{identity}.md" for folder in folders]
    asked = ("log", "--all", "-1", "--diff-filter=AMR", "--format=%H", "--name-only", "-z", "--", *files)
    commit, *paths = clone.repo.text(*asked).replace("\n", "\0").strip("\0").split("\0")
    path = next(filter(None, paths), "")
    blob = clone.repo.blobs_at(commit, [path]).get(path) if path else None
    if blob is None:
        return None
    text = clone.repo.blobs([blob])[blob].decode("utf-8", "replace")
    return ElsewhereEntry(_where(clone, commit), text, path)


def _where(clone: Clone, commit: str) -> str:
    head = clone.repo.head().oid
    if head and clone.repo.is_ancestor(commit, head):
        return f"No longer of this branch: commit {commit[:12]} had it"
    asked = ("for-each-ref", "--contains", commit, "--format=%(refname:short)", "refs/heads", "refs/remotes")
    names = clone.repo.text(*asked).splitlines()
    more = f" and {len(names) - _BRANCHES} more" if len(names) > _BRANCHES else ""
    on = f" of {', '.join(names[:_BRANCHES])}{more}" if names else ", which is on no branch"
    return f"Not of this branch: it is in commit {commit[:12]}{on}"


MAX_FILES = 200  # named files of a commit; a guess: more is not read
_COMMIT = regex(r"[0-9a-f]{7,64}")
_TURN = regex(r"(?P<run>[^#\s]+)#(?P<turn>[1-9][0-9]{0,4})(?:\.(?P<step>[1-9][0-9]{0,5}))?")
_LINE = regex(r"(?P<path>.+):(?P<line>[1-9][0-9]{0,8})")


def show_commit(clone: Clone, text: str, memories: Mapping[str, str], *, names: bool = True) -> ShownRecord | None:
    """Returns a commit by its id or the start of it, with the runs that made it and the memories that cite it.

    `names` are those of its files, of which there may be very many.
    """
    asked = text.removeprefix("commit:").lower()
    oid = clone.repo.resolve(asked) if _COMMIT.fullmatch(asked) else None
    if oid is None or not oid.startswith(asked):  # a branch may be called so
        return None
    one = next(git_objects.read_commits(clone.repo, [oid], clone.hide, names=names), None)
    if one is None:
        return None
    when = f"{datetime.fromtimestamp(max(one.seconds, 0), UTC):%Y-%m-%dT%H:%M:%S}Z"
    runs = recorded_runs.records(clone, paths=(), commits=[oid]).values()
    turns = {record.run: record.turn_of(oid) for record in runs}
    cited = {name: re.findall(r"commit:([0-9a-f]{7,64})", said) for name, said in memories.items()}
    fields = {
        "author": one.author,
        "ts": when,
        "files": one.paths[:MAX_FILES],
        "more_files": max(0, len(one.paths) - MAX_FILES),
        "runs": [f"{run}#{turn}" if turn else run for run, turn in turns.items()],
        "memories": sorted(name for name, found in cited.items() if any(map(oid.startswith, found))),
    }
    return ShownRecord(oid, "commit", None, one.message.strip("\n"), fields)


def show_turn(run: str, folder: str, number: int, step: int | None) -> ShownRecord | None:
    """Returns a turn of a run, or one step of it, from its capsule."""
    rows = capsule.read_rows(folder, recorded_runs.TURNS)
    turn = next((row for row in rows if row.get("turn") == number), None)
    if turn is None:
        return None
    if step is not None:
        return _step(run, folder, number, step)
    texts = [word for word in list_of(turn.get("said")) if isinstance(word, str)]
    names = ("ts", "ended", "interrupted", "by", "branch", "prompt", "line", "commands", "files", "commits")
    fields = {"run_id": run, "turn": number, **{name: turn[name] for name in names if name in turn}}
    return ShownRecord(f"{run}#{number}", "turn", folder, "\n\n".join(texts), fields)


def _step(run: str, folder: str, number: int, step: int) -> ShownRecord | None:
    cycles = capsule.read_rows(folder, recorded_runs.CYCLES)
    cycle = next((row for row in cycles if (row.get("turn"), row.get("n")) == (number, step)), None)
    if cycle is None:
        return None
    proposed, result = dict_of(cycle.get("proposal")), dict_of(cycle.get("result"))
    texts = [proposed.get(name) for name in ("reasoning", "text", "plan")]
    text = "\n\n".join(word.strip() for word in texts if isinstance(word, str) and word.strip())
    outputs = (call.get("output") for call in dicts_of(result.get("calls")))
    fields = {
        "run_id": run, "turn": number, "step": step, "ts": cycle.get("ts"), "model": cycle.get("model"),
        "calls": [{name: call.get(name) for name in ("name", "input")} for call in dicts_of(proposed.get("calls"))],
    }  # fmt: skip
    printed = "\n".join(word.rstrip() for word in outputs if isinstance(word, str) and word.strip())
    return ShownRecord(f"{run}#{number}.{step}", "cycle", folder, text, fields, printed=printed or None)


def show_place(clone: Clone, text: str) -> ShownRecord | None:
    """Returns the piece of a file at HEAD that contains a line: `path:line`."""
    found, head = _LINE.fullmatch(text), clone.repo.head().oid
    if found is None or head is None:
        return None
    path, line = found["path"].replace("\\", "/").removeprefix("./"), int(found["line"])
    data = git_objects.RepositoryObjects(clone.repo).text_at(head, path)
    chunks = [chunk for chunk in chunks_of(path, data, clone.hide) if chunk.line <= line] if data else []
    if not chunks or line > data.count(b"\n") + 1:
        return None
    last = chunks[-1]
    fields = {
        "file": path,
        "lines": f"{last.line}-{last.line + last.text.count(chr(10))}",
        "name": last.title,
        "under": last.context,
        "head": head,
    }
    return ShownRecord(
        f"{path}:{last.line}", CorpusRules(CorpusChoice()).kind_of(path) or "code", None, last.text, fields
    )


MAX_SUMMARY = 1 << 20  # bytes; a guess: summaries are a few KiB
MAX_TEXT = 1 << 16  # bytes of a produced file; a guess: for longer ones `show --path` prints the path
TAIL_LINES, _TAIL_BYTES = 20, 1 << 14  # of a run's output; a guess: a screen, with lines of up to 800 bytes
COLOURS = regex(rb"\x1b\[[0-9;:?]*[ -/]*[@-~]")
PRINTED = ("terminal", "stdout", "stderr")


@frozen
class FoundRecord:
    """The record that an id names."""

    kind: str  # "memory", "candidate", "task", "link", "session", "run" or "event"
    id: str


def find(clone: Clone, text: str) -> FoundRecord:
    """Returns the record that `text` names: by its exact id, else by the start of only one."""
    asked = text.removeprefix("run:")
    kinds = _kinds_by_id(clone, asked)
    identity = pick(asked, kinds)
    return FoundRecord(kinds[identity], identity)


def _kinds_by_id(clone: Clone, start: str) -> dict[str, str]:
    """Returns the kinds of all ids that `asked` may start, and of some others."""
    events = clone.find_events("all", beginnings=beginnings(start)) if start else ()
    kinds = {event.hash_self: "event" for event in events}
    kinds |= {event.run_id: "run" for event in events if event.kind == "run" and event.run_id}
    kinds |= {event.target: kind for event in events if event.target and (kind := _SUBJECTS.get(event.kind))}
    kinds |= {name: "link" for name, kind in kinds.items() if kind == "task" and name.startswith(f"{LINK}-")}
    files = (name for store in clone.stores for name in store.listed(store.candidates))
    kinds |= dict.fromkeys((name[:-3] for name in files if name.endswith(".md")), "candidate")
    kinds |= dict.fromkeys((name for store in clone.stores for name in session_files.ids(store)), "session")
    kinds |= dict.fromkeys(_nodes(clone.entries(layout.TASKS)), "task")
    kinds |= dict.fromkeys(_nodes(clone.entries(layout.LINKS)), "link")
    return kinds | dict.fromkeys(_memories(clone), "memory")


_SUBJECTS = {  # the kind of record that an event is about; none for a run, an erase and the like
    **dict.fromkeys(("propose", "accept", "promote", "reject", "retire", "edit", "join"), "memory"),
    **dict.fromkeys(("task", "checkpoint"), "task"),
    "session": "session",
}


def _memories(clone: Clone) -> dict[str, Sighting]:
    found = {}
    for one in file_entries.placed(clone.repo, clone.entries()):
        try:
            found[one.parse().id] = one.sighting
        except BrokenEntry:  # `doctor` reports it; no id is known to show it by
            continue
    return found


def _nodes(sightings: Iterable[Sighting]) -> dict[str, Sighting]:
    """Returns tasks or links by id; `doctor` reports the unreadable ones."""
    found: dict[str, Sighting] = {}
    reader = task_files.reader
    for sighting in sightings:
        read = reader(sighting.path)
        try:
            if read is not None:
                found.setdefault(read(sighting.text, sighting.path).id, sighting)
        except BrokenEntry:
            continue
    return found


def show(clone: Clone, text: str) -> ShownRecord:
    """Returns everything this clone knows about one record; for an erased one only that it existed."""
    try:
        found = find(clone, text)
    except NotFound:
        if named := _TURN.fullmatch(text.removeprefix("run:")):
            return _show_turn(clone, named["run"], int(named["turn"]), int(named["step"] or 0) or None)
        is_commit = _COMMIT.fullmatch(text.removeprefix("commit:").lower())
        cited = {name: sighting.text for name, sighting in _memories(clone).items()} if is_commit else {}
        shown = show_commit(clone, text, cited) or show_place(clone, text) or _show_artifact(clone, text)
        return shown or _show_fetched(clone, text)
    if found.kind == "run":
        return _show_run(clone, found.id)
    if found.kind == "event":
        event = next(iter(clone.find_events("all", beginnings=(found.id,))))
        return ShownRecord(found.id, "event", None, None, clone.joined(event))
    history = {"history": _history(clone, found.id)}
    if found.id in clone.erased():
        kind = "memory" if found.kind == "candidate" else found.kind
        return ShownRecord(found.id, kind, None, None, {**history, "body_state": "erased"})
    return (_show_session if found.kind == "session" else _show_entry)(clone, found, history)


def _show_turn(clone: Clone, name: str, number: int, step: int | None) -> ShownRecord:
    events = clone.find_events("all", kinds=("run",), beginnings=(name,))
    run = pick(name, {event.run_id for event in events if event.run_id})
    label = f"{run}#{number}" + (f".{step}" if step else "")
    event = _event_of(clone, run)
    if _is_erased(clone, event):
        return ShownRecord(label, "turn", None, None, {"run_id": run, "turn": number, "body_state": "erased"})
    folder = recorded_runs.folder_of(clone, run)
    found = show_turn(run, folder, number, step) if folder else None
    if found is None and folder and capsule.is_sealed(folder):
        fields = {"run_id": run, "turn": number, "body_state": "locked"}
        return ShownRecord(label, "turn", folder, sealed_files.LOCKED, fields)
    if found is None:
        raise NotFound(f"{label} is not in this clone", hint=f"See what is here: `holdfast show {run}`.")
    other = dict_of(clone.joined(event).get("outputs")).get("repository")  # the repository it was in, if not this one
    return replace(found, fields={**found.fields, "repository": other}) if other else found


def _show_session(clone: Clone, found: FoundRecord, history: dict[str, Any]) -> ShownRecord:
    """Returns a session from its file; a damaged one as raw text."""
    for store in clone.stores:
        try:
            path = session_files.path_of(store, found.id)
        except NotFound:
            continue
        content = _text_of(path, limit=session_files.MAX_FILE)
        try:
            return ShownRecord(found.id, "session", path, content, {**to_object(session_files.read(path)), **history})
        except (CorruptLog, FutureFormat, FileNotFoundError) as error:
            return ShownRecord(found.id, "session", path, content, {**history, "broken": str(error)})
    return ShownRecord(found.id, "session", None, None, history)


def _show_entry(clone: Clone, found: FoundRecord, history: dict[str, Any]) -> ShownRecord:
    """Returns a memory, a task or a link that is visible here, else as a candidate, else from where it is."""
    name, kind, folder = found.id, found.kind, {"task": layout.TASKS, "link": layout.LINKS}.get(found.kind)
    sighting = (_nodes(clone.entries(folder)) if folder else _memories(clone)).get(name)
    if sighting is not None:
        fields = {"origin": sighting.origin, "blob": sighting.blob, **history}
        fields = {**_fields(sighting.text, sighting.path), **fields}
        content, kind = sighting.text, "memory" if kind == "candidate" else kind
        if sighting.clash is not None:
            content = f"Waiting here:\n\n{content}\n\nIn the branch's history:\n\n{sighting.clash}"
            fields["conflict"] = True
        return ShownRecord(name, kind, sighting.path, content, fields)
    for path in () if folder else (os.path.join(store.candidates, f"{name}.md") for store in clone.stores):
        if os.path.isfile(path):
            return ShownRecord(name, "candidate", path, _text_of(path, limit=MAX_SUMMARY), history)
    kind, place = "memory" if kind == "candidate" else kind, look_elsewhere(clone, name)
    if place is None:
        return ShownRecord(name, kind, None, None, history)
    fields = {**_fields(place.text, place.path), **history}
    return ShownRecord(name, kind, None, place.text, fields, elsewhere=place.sentence)


def _fields(text: str | None, path: str) -> dict[str, Any]:
    """Returns the fields of a task or a link; empty if it cannot be read."""
    read = task_files.reader(path)
    try:
        return task_json.as_object(read(text, path)) if read is not None and text else {}
    except BrokenEntry:
        return {}


def _show_run(clone: Clone, run_id: str) -> ShownRecord:
    event = _event_of(clone, run_id)
    if _is_erased(clone, event):
        return ShownRecord(run_id, "run", None, None, {**clone.joined(event), "body_state": "erased"})
    folder = recorded_runs.folder_of(clone, run_id)
    summary, printed = (summary_of(folder), output_tail(folder)) if folder else (None, None)
    return ShownRecord(run_id, "run", folder, summary, clone.joined(event), printed=printed)


def summary_of(folder: str) -> str | None:
    """Returns the text of a run's summary page, by the folder of its capsule."""
    return _capsule_text(folder, capsule.SUMMARY, limit=MAX_SUMMARY)


def _event_of(clone: Clone, run_id: str) -> Event:
    """Returns the event of a run; the last one, if there are several."""
    return clone.find_events("all", kinds=("run",), runs=(run_id,))[-1]


def _is_erased(clone: Clone, event: Event) -> bool:
    """Whether a run was erased, also by an event in HEAD's log before the capsule here is deleted."""
    return not clone.erased().isdisjoint((event.hash_self, event.target or "", event.run_id or ""))


def output_tail(folder: str) -> str | None:
    """Returns the last lines of a run's output: its terminal, else stdout, else stderr."""
    for name in PRINTED:
        end = kept_tail(folder, f"outputs/{name}", _TAIL_BYTES)
        lines = COLOURS.sub(b"", end).decode("utf-8", "replace").rstrip().splitlines()
        if lines:
            return "\n".join(lines[-TAIL_LINES:])
    return None


def kept_tail(folder: str, name: str, size: int) -> bytes:
    """Returns the end of a file of a capsule; for a sealed one, a note that it is locked."""
    end = tail(os.path.join(folder, *name.split("/")), size)
    if not capsule.is_sealed(folder):
        return end
    try:
        data = capsule.read_bytes(folder, name, limit=1 << 30) if end else b""
    except (OSError, HoldfastError):
        return b""
    return sealed_files.LOCKED.encode() if data is None else data[-size:]


def tail(path: str, size: int) -> bytes:
    """Returns the end of a regular file, which may be long or missing."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    with open(handle, "rb") as file:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return b""
        file.seek(max(0, facts.st_size - size))
        return file.read(size)


def _capsule_text(folder: str, name: str, *, limit: int) -> str | None:
    """Returns the text of a file of a capsule."""
    try:
        data = capsule.read_bytes(folder, name, limit=2 * limit)  # base64 makes sealed text a third longer
    except (OSError, HoldfastError):
        return None
    return sealed_files.LOCKED if data is None else _as_text(data)


def _text_of(path: str, *, limit: int) -> str | None:
    """Returns a file's text; None if it is missing or not text."""
    try:
        return _as_text(fsio.read(path, limit=limit))
    except (OSError, HoldfastError):
        return None


def _as_text(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def _show_artifact(clone: Clone, text: str) -> ShownRecord | None:
    """Returns a file that a run produced, by the name that `recall` prints: `<run id>:<path>`."""
    name, colon, path = text.removeprefix("run:").partition(":")
    if not (colon and path and name) or name in ("commit", "file"):
        return None
    found = clone.find_events("all", beginnings=(name,))
    events = [event for event in found if event.body and not _is_erased(clone, event)]
    try:
        run = pick(name, [event.run_id or event.hash_self for event in events])
    except NotFound:
        return None
    bodies = [clone.joined(event) for event in reversed(events) if run in (event.run_id, event.hash_self)]
    made = [(row, body) for body in bodies for row in dicts_of(body.get("artifacts")) if row.get("path") == path]
    if not made:
        raise NotFound(f"{run} produced no {path}", hint=f"See what it did with `holdfast show {run}`.")
    row, body = made[0]
    folder = recorded_runs.folder_of(clone, run) if row.get("stored") else None
    name = f"outputs/files/{row.get('copy') or path}"
    copy = os.path.join(folder, *name.split("/")) if folder else None
    content = _capsule_text(folder, name, limit=MAX_TEXT) if folder else None
    about = {name: body.get(name) for name in ("run_id", "task", "ts", "branch")}
    about["ts"] = body.get("started") or about["ts"]  # for an import, the time of the run itself
    return ShownRecord(f"{run}:{path}", "artifact", copy, content, {**row, **about})


def _show_fetched(clone: Clone, text: str) -> ShownRecord:
    """Returns a memory, a task or a link that is only in another branch's history, by its whole id."""
    place = None if text in clone.erased() else published_elsewhere(clone, text)
    if place is None:
        raise NotFound(f"nothing here is called {text}")
    kind = {layout.TASKS: "task", layout.LINKS: "link"}.get(os.path.dirname(place.path), "memory")
    fields = {**_fields(place.text, place.path), "history": []}
    return ShownRecord(text, kind, None, place.text, fields, elsewhere=place.sentence)


def _history(clone: Clone, identity: str) -> list[str]:
    """Returns the events of a record: the time, the kind, and for tasks and sessions the action."""
    rows = []
    for event in clone.find_events("all", targets=(identity,)):
        has_action = event.kind in ("task", "session") and event.body and not _is_erased(clone, event)
        action = (clone.bodies.get(event.body) or {}).get("action") if has_action and event.body else None
        rows.append(f"{event.ts[:19]} {event.kind}" + (f" {action}" if isinstance(action, str) else ""))
    return rows
