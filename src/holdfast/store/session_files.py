"""Session files: one JSON file for each session in the private store, shared by all work trees of the clone.

A file is replaced as a whole, durably, and only under the kernel's lock: of sixteen processes that add turns at once,
none loses a turn. A damaged file is skipped, reported and never overwritten. A line is the id of a branch's work.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from holdfast.errors import BadInput, CorruptLog, FutureFormat, NotFound, TooLarge
from holdfast.model.ids import pick, slug
from holdfast.model.session import DETACHED, Session, from_json, to_json
from holdfast.patterns import regex
from holdfast.store import discovery, fsio, loose_records
from holdfast.store.layout import Layout

MAX_FILE = 4 << 20  # bytes; a guess: each turn rewrites the file, and older turns are condensed before
_LOCK = "sessions.lock"
_ENDED = regex(rb'\{\s*"version": 1,\s*"id": "[^"]+",\s*"state": "ended"')
_PATIENCE = 30.0  # seconds; a guess: many agents may write at once, and each syncs its file


def file_name(session: Session) -> str:
    """Returns the name of a session's file; the file itself has the exact branch name."""
    began = session.started.ts[:19].replace("-", "").replace(":", "")
    return f"{began}Z_{slug(session.started.branch or DETACHED)}-{session.id}.json"


def all(layout: Layout) -> list[Session]:  # noqa: A001 - read as sessions.all
    """Returns every session of this store, oldest first; skips and reports damaged ones."""
    return sorted(loose_records.sound(layout, read, _paths(layout)), key=lambda one: (one.started.ts, one.id))


def everywhere(stores: Iterable[Layout]) -> list[Session]:
    """Returns every session of several stores, oldest first; of two with one id, the first store's counts."""
    found: dict[str, Session] = {}
    for layout in stores:
        for session in all(layout):
            found.setdefault(session.id, session)
    return sorted(found.values(), key=lambda one: (one.started.ts, one.id))


def ids(layout: Layout) -> list[str]:
    """Returns the ids of all session files, damaged ones too: no id is used twice."""
    return [_id_of(path) for path in _paths(layout)]


def find(layout: Layout, asked: str) -> Session:
    """Returns a session by its id or the start of it; raises CorruptLog if its file is damaged."""
    return read(_path_of(layout, pick(asked, ids(layout))))


def opened(
    layout: Layout, *, line: str | None = None, worktree: str | None = None, agent_session: str | None = None
) -> list[Session]:
    """Returns the open sessions of this line, work tree or agent's session; last updated last."""
    found = loose_records.sound(layout, read, (path for path in _paths(layout) if not _seems_ended(path)))
    there = [one for one in found if one.state == "open"]
    wanted = {"line": line, "worktree": worktree, "agent_session": agent_session}
    for name, value in wanted.items():
        there = [one for one in there if value is None or getattr(one, name) == value]
    return sorted(there, key=lambda one: (one.updated.ts, one.id))


def likely(stores: Iterable[Layout], *, branch: str | None, most: int = 64) -> list[Session]:
    """Returns sessions to choose from, oldest first: the open, the newest, and a branch's newest.

    File names begin with the time and have the branch as a slug, so years of other files are not read. `most` is a
    guess.
    """
    mark = f"Z_{slug(branch or DETACHED)}-SES-"
    found: dict[str, Session] = {}
    for layout in stores:
        paths = _paths(layout)
        chosen = {*paths[-most:], *[path for path in paths if mark in os.path.basename(path)][-most:]}
        chosen |= {path for path in paths if path not in chosen and not _seems_ended(path)}
        for session in loose_records.sound(layout, read, sorted(chosen)):
            found.setdefault(session.id, session)
    return sorted(found.values(), key=lambda one: (one.started.ts, one.id))


def of_line(layout: Layout, line: str) -> list[Session]:
    """Returns every session of a line, open or ended, last updated last."""
    there = [one for one in all(layout) if one.line == line]
    return sorted(there, key=lambda one: (one.updated.ts, one.id))


def save(layout: Layout, session: Session) -> str:
    """Stores a new session, durably; returns its path. Refuses an id that exists."""
    with locked(layout):
        if session.id in ids(layout):
            raise BadInput(f"there is a session {session.id} already", hint="See `holdfast session list`.")
        return _write(layout, session)


def update(layout: Layout, asked: str, change: Callable[[Session], Session]) -> Session:
    """Changes a session under the lock: `change` gets the newest version; its result is stored durably."""
    with locked(layout):
        path = _path_of(layout, pick(asked, ids(layout)))
        old = read(path)
        new = change(old)
        if new.id != old.id or file_name(new) != file_name(old):
            raise BadInput(f"{old.id} cannot become another session", hint="Start a new one instead.")
        if new != old:
            _write(layout, new, path=path)
        return new


def start(layout: Layout, make: Callable[[list[Session]], Session]) -> Session:
    """Stores the session that `make` returns, under the lock.

    `make` gets the open sessions and may return one of them; then nothing is written.
    """
    with locked(layout):
        there = opened(layout)
        new = make(there)
        if not any(new is one for one in there):
            _write(layout, new)
        return new


def remove(layout: Layout, asked: str) -> None:
    """Deletes a session's file."""
    with locked(layout):
        fsio.remove(_path_of(layout, pick(asked, ids(layout))))


def path_of(layout: Layout, asked: str) -> str:
    """Returns the path of a session's file."""
    return _path_of(layout, pick(asked, ids(layout)))


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Yields every damaged session file, with the reason."""
    return loose_records.damaged(read, _paths(layout))


def read(path: str) -> Session:
    """Reads one session file; raises CorruptLog or FutureFormat with the reason if it does not count."""
    try:
        with loose_records.judging(path, " is not a session"):
            session = from_json(fsio.read(path, limit=MAX_FILE))
            if not path.endswith(f"-{session.id}.json"):
                raise ValueError(f"its id {session.id} is not the one in its name")
    except FutureFormat as error:
        raise FutureFormat(f"{path} is from a newer Holdfast: {error}") from error
    return session


def _seems_ended(path: str) -> bool:
    """Whether the start of a file in our form shows an ended session: cheap, as years of them pile up."""
    return not os.path.islink(path) and _ENDED.match(discovery.read(os.fsencode(path), 256)) is not None


def _write(layout: Layout, session: Session, *, path: str | None = None) -> str:
    data = to_json(session).encode("utf-8", "backslashreplace")  # half a character stays a JSON escape
    if len(data) > MAX_FILE:
        raise TooLarge(
            f"{session.id} would have {len(data)} bytes; a session has at most {MAX_FILE}",
            hint="End it and start another: `holdfast session end`, `holdfast session start`.",
        )
    try:
        from_json(data)  # refuses what could not be read back
    except ValueError as error:
        raise BadInput(f"{session.id} cannot be stored: {error}") from error
    path = path or os.path.join(layout.sessions, file_name(session))
    fsio.replace(path, data)
    return path


def _paths(layout: Layout) -> list[str]:
    return [os.path.join(layout.sessions, name) for name in layout.listed(layout.sessions, ".json") if _id_of(name)]


def _id_of(path: str) -> str:
    """Returns the id in a file's name; empty without one."""
    _, mark, rest = os.path.basename(path).removesuffix(".json").rpartition("-SES-")
    return f"SES-{rest}" if mark else ""


def _path_of(layout: Layout, identity: str) -> str:
    for path in _paths(layout):
        if _id_of(path) == identity:
            return path
    raise NotFound(f"there is no session {identity}", hint="See `holdfast session list`.")


@contextmanager
def locked(layout: Layout) -> Iterator[None]:
    """Holds the lock of this store's sessions."""
    fsio.make_dirs(layout.sessions)
    with fsio.locked(os.path.join(layout.sessions, _LOCK), wait=_PATIENCE):
        yield
