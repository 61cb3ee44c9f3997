"""Session files: one JSON file a session in the private store, shared by all work trees of the clone.

A file is replaced as a whole, is durable before the caller gets an answer, and changes only under the kernel's lock:
of sixteen processes that note at once, none loses a turn. A damaged file does not count, is reported, and is
never written over.
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

MAX_FILE = 4 << 20
_LOCK = "sessions.lock"
_ENDED = regex(rb'\{\s*"version": 1,\s*"id": "[^"]+",\s*"state": "ended"')
_PATIENCE = 30.0  # seconds; many agents may note at once, and each syncs its file


def file_name(session: Session) -> str:
    """What a session's file is called; the true name of the branch stands inside."""
    began = session.started.ts[:19].replace("-", "").replace(":", "")
    return f"{began}Z_{slug(session.started.branch or DETACHED)}-{session.id}.json"


def all(layout: Layout) -> list[Session]:  # noqa: A001 - read as sessions.all
    """Every session of this store, oldest first; damaged ones are left out and said."""
    return sorted(loose_records.sound(layout, read, _paths(layout)), key=lambda one: (one.started.ts, one.id))


def everywhere(stores: Iterable[Layout]) -> list[Session]:
    """Every session of several stores, oldest first; the first store's word counts."""
    found: dict[str, Session] = {}
    for layout in stores:
        for session in all(layout):
            found.setdefault(session.id, session)
    return sorted(found.values(), key=lambda one: (one.started.ts, one.id))


def ids(layout: Layout) -> list[str]:
    """The ids of all session files, damaged ones too: none is ever given twice."""
    return [_id_of(path) for path in _paths(layout)]


def find(layout: Layout, asked: str) -> Session:
    """The session somebody means, by its id or the beginning of it; CorruptLog if its file is damaged."""
    return read(_path_of(layout, pick(asked, ids(layout))))


def opened(
    layout: Layout, *, line: str | None = None, worktree: str | None = None, agent_session: str | None = None
) -> list[Session]:
    """The sessions nobody has ended, of this line, work tree or agent's session; last updated last."""
    found = loose_records.sound(layout, read, (path for path in _paths(layout) if not _seems_ended(path)))
    there = [one for one in found if one.state == "open"]
    wanted = {"line": line, "worktree": worktree, "agent_session": agent_session}
    for name, value in wanted.items():
        there = [one for one in there if value is None or getattr(one, name) == value]
    return sorted(there, key=lambda one: (one.updated.ts, one.id))


def likely(stores: Iterable[Layout], *, branch: str | None, most: int = 64) -> list[Session]:
    """Sessions to choose from without reading years of them: the open, the newest, a branch's newest.

    Oldest first. File names begin with the time and hold the branch as a slug, so only what is asked for
    is read.
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
    """Every session of a line, ended or not, last updated last."""
    there = [one for one in all(layout) if one.line == line]
    return sorted(there, key=lambda one: (one.updated.ts, one.id))


def save(layout: Layout, session: Session) -> str:
    """Store a new session, durable on return; gives its path. What is there is not written over."""
    with locked(layout):
        if session.id in ids(layout):
            raise BadInput(f"there is a session {session.id} already", hint="See `holdfast session list`.")
        return _write(layout, session)


def update(layout: Layout, asked: str, change: Callable[[Session], Session]) -> Session:
    """Change a session under the lock: what `change` is given is the newest, what it gives is durable."""
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
    """Store the session that `make` gives, who is alone while it looks.

    It is given the open ones, and may give one of them instead; then nothing is written.
    """
    with locked(layout):
        there = opened(layout)
        new = make(there)
        if not any(new is one for one in there):
            _write(layout, new)
        return new


def remove(layout: Layout, asked: str) -> None:
    """Take a session's file away for good."""
    with locked(layout):
        fsio.remove(_path_of(layout, pick(asked, ids(layout))))


def path_of(layout: Layout, asked: str) -> str:
    """Where a session's file lies."""
    return _path_of(layout, pick(asked, ids(layout)))


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Every session file that does not count, with the reason."""
    return loose_records.damaged(read, _paths(layout))


def read(path: str) -> Session:
    """One session file; CorruptLog or FutureFormat say why it does not count."""
    try:
        with loose_records.judging(path, " is not a session"):
            session = from_json(fsio.read(path, limit=MAX_FILE))
            if not path.endswith(f"-{session.id}.json"):
                raise ValueError(f"it holds {session.id}, which is not its name")
    except FutureFormat as error:
        raise FutureFormat(f"{path} is from a newer Holdfast: {error}") from error
    return session


def _seems_ended(path: str) -> bool:
    """Whether a file as we write it begins by saying that its session has ended; years of them pile up."""
    return not os.path.islink(path) and _ENDED.match(discovery.read(os.fsencode(path), 256)) is not None


def _write(layout: Layout, session: Session, *, path: str | None = None) -> str:
    data = to_json(session).encode("utf-8", "backslashreplace")  # half a character stays a JSON escape
    if len(data) > MAX_FILE:
        raise TooLarge(
            f"{session.id} would have {len(data)} bytes; a session holds at most {MAX_FILE}",
            hint="End it and start another: `holdfast session end`, `holdfast session start`.",
        )
    try:
        from_json(data)  # what could not be read back is not stored
    except ValueError as error:
        raise BadInput(f"{session.id} cannot be stored: {error}") from error
    path = path or os.path.join(layout.sessions, file_name(session))
    fsio.replace(path, data)
    return path


def _paths(layout: Layout) -> list[str]:
    return [os.path.join(layout.sessions, name) for name in layout.listed(layout.sessions, ".json") if _id_of(name)]


def _id_of(path: str) -> str:
    """The id in a file's name; empty if there is none."""
    _, mark, rest = os.path.basename(path).removesuffix(".json").rpartition("-SES-")
    return f"SES-{rest}" if mark else ""


def _path_of(layout: Layout, identity: str) -> str:
    for path in _paths(layout):
        if _id_of(path) == identity:
            return path
    raise NotFound(f"there is no session {identity}", hint="See `holdfast session list`.")


@contextmanager
def locked(layout: Layout) -> Iterator[None]:
    """Nobody else writes a session of this store meanwhile."""
    fsio.make_dirs(layout.sessions)
    with fsio.locked(os.path.join(layout.sessions, _LOCK), wait=_PATIENCE):
        yield
