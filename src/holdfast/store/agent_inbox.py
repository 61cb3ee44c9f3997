"""The reports of agents' hooks: which sessions continued, and where their transcripts are.

    inbox/<agent>-<session>.jsonl     pointers that no drain has read yet, one row for each event
    inbox/<agent>-<session>.live      the state of an open session at the last drain
    inbox/<agent>-<session>.told      what the session was given already; the hook's own notes
    inbox/<agent>-<session>.pack      a pack that was given out, until a drain stores it as a receipt
    inbox/<agent>-<session>.vanished  pointers to a transcript that is gone
    inbox/<agent>-<session>.unread    pointers to a transcript that cannot be read
    inbox/seen-<agent>                its modification time is the last run of the agent's hook
    inbox/late-<agent>                one byte for each answer of the hook that came too late

The hook (`interfaces/agent_hook.py`) appends and never waits. A drain renames the file first, so that hooks write to a
new one, and deletes it when the transcript was imported; if a drain is killed in between, the next one continues with
the file. Pointers are hints: damaged rows are skipped and reported.
"""

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from holdfast.patterns import regex
from holdfast.store import fsio, git_inbox, loose_records
from holdfast.store.layout import Layout
from holdfast.values import asdict, frozen

AGENT = regex(r"[a-z][a-z0-9]{0,31}")  # known agents, and agents that people build themselves
MAX_BYTES = 64 << 20  # of one file; hooks stop at a quarter of this
MAX_SMALL = 1 << 20  # of a file that is not a list of pointers; a guess: far more than one record takes
VANISHED_FOR = 7 * 86400  # seconds for which a vanished transcript is reported; a guess: a week's work sees it

_TAKEN = ".taken-"
_NAMES = (1 << 61) - 1  # a prime, for the hash that distinguishes long names
VANISHED, UNREAD = ".vanished", ".unread"  # why pointers were set aside


@frozen(kw_only=True)
class SessionPointer:
    """One event that an agent's hook reported."""

    ts: int  # nanoseconds
    agent: str
    event: str
    session: str
    path: str | None = None  # its transcript
    cwd: str = ""
    tree: str = ""  # the git folder of its work tree
    size: int = 0  # bytes of the transcript at that time
    source: str | None = None  # why a session started
    reason: str | None = None  # why it ended
    tool: str | None = None
    call: str | None = None
    helper: str | None = None  # the transcript of a sub-agent
    kind: str | None = None  # of a notification
    about: str | None = None  # a number made of what leave is asked for, as `sum_of` gives it


@frozen
class SessionPointers:
    """The waiting pointers of one session, oldest first, and their files."""

    agent: str
    session: str
    all: tuple[SessionPointer, ...]
    files: tuple[str, ...] = ()

    @property
    def path(self) -> str | None:
        return next((one.path for one in reversed(self.all) if one.path), None)

    @property
    def tree(self) -> str:
        return next((one.tree for one in reversed(self.all) if one.tree), "")

    @property
    def helpers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.helper for one in self.all if one.helper))


@frozen(kw_only=True)
class LiveSession:
    """The state of an open session at the last drain."""

    agent: str
    session: str
    path: str
    tree: str
    seen: int  # nanoseconds: the last pointer
    size: int = 0  # bytes of the transcript at that time
    holdfast: str | None = None  # our own session


def stem(agent: str, session: str) -> str:
    """Returns the file name stem of a session; the hook computes the same."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in session[:80])
    if plain != session:  # other names may result in the same text
        plain += f"-{int.from_bytes(session.encode('utf-8', 'surrogatepass'), 'big') % _NAMES:x}"
    return f"{agent}-{plain}"


def sum_of(text: str) -> str:
    """Returns the number that stands for what leave is asked for; the hook computes the same."""
    return f"{int.from_bytes(text.encode('utf-8', 'surrogatepass'), 'big') % _NAMES:x}"


def is_agent(name: object) -> bool:
    """Whether a name may be an agent's: its files here start with it."""
    return isinstance(name, str) and AGENT.fullmatch(name) is not None


def is_path(text: str) -> bool:
    """Whether a text can be a file's path."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def waiting(*stores: Layout) -> list[SessionPointers]:
    """Returns the waiting pointers by session; leaves the files in place."""
    found: dict[tuple[str, str], list[SessionPointer]] = defaultdict(list)
    files: dict[tuple[str, str], list[str]] = defaultdict(list)
    for layout in stores:
        for path in _files(layout):
            for one in _read(layout, path):
                found[one.agent, one.session].append(one)
                if path not in files[one.agent, one.session]:
                    files[one.agent, one.session].append(path)
    return [
        SessionPointers(*key, tuple(sorted(there, key=lambda one: one.ts)), tuple(files[key]))
        for key, there in found.items()
    ]


def is_filled(layout: Layout) -> bool:
    """Whether a drain has something to do; lists one folder."""
    return any(name.endswith((".jsonl", ".live", ".pack")) or _TAKEN in name for name in _names(layout))


def held(layout: Layout, *, wait: float = 0.0) -> contextlib.AbstractContextManager[int]:
    """Holds the lock against other drains; hooks continue. Raises Busy if another drain runs."""
    fsio.make_dirs(layout.inbox)
    return fsio.locked(os.path.join(layout.inbox, "agents.lock"), wait=wait)


def take(*stores: Layout) -> list[SessionPointers]:
    """Returns the waiting pointers, in files renamed so that no hook writes to them; the caller holds `held`."""
    for layout in stores:
        for path in _files(layout):
            if _TAKEN not in path:
                _set_apart(layout, path)
    return [one for one in waiting(*stores) if all(_TAKEN in path for path in one.files)]


def drop(one: SessionPointers, keep: Sequence[SessionPointer] = ()) -> None:
    """Deletes the pointers of a session, except those in `keep`."""
    for path in one.files:
        rest = [other for other in _lines(path)[0] if other.session != one.session]
        mine = [*keep] if path == one.files[-1] else []
        if rest or mine:
            fsio.replace(path, b"".join(_bytes(pointer) for pointer in (*rest, *mine)))
        else:
            fsio.remove(path)


def _set_apart(layout: Layout, path: str) -> None:
    """Renames a file that hooks write to, and waits for a hook that is writing."""
    base = os.path.basename(path)
    there = [name for name in _names(layout) if name.startswith(f"{base}{_TAKEN}")]
    number = max((int(name[-6:]) for name in there if name[-6:].isdigit()), default=0) + 1
    new = f"{path}{_TAKEN}{number:06}"
    with contextlib.suppress(FileNotFoundError), fsio.refusing(path):
        fsio.ops.rename(path, new)
        with git_inbox.settled(new):
            pass  # a hook that holds the file writes one row


# ── open sessions ────────────────────────────────────────────────────────────────────────────────


def live(*stores: Layout) -> list[LiveSession]:
    """Returns the open sessions; skips damaged files."""
    found: dict[tuple[str, str], LiveSession] = {}
    for one in (_live(path) for layout in stores for path in _ending(layout, ".live")):
        if one is not None:
            found.setdefault((one.agent, one.session), one)
    return list(found.values())


def remember(layout: Layout, one: LiveSession) -> None:
    """Stores the state of an open session."""
    path = os.path.join(layout.inbox, f"{stem(one.agent, one.session)}.live")
    fsio.replace(path, json.dumps(asdict(one)).encode("ascii") + b"\n")


def forget(one: LiveSession | SessionPointers, *stores: Layout) -> None:
    """Deletes the files of a session that has ended."""
    _unlink(one, stores, ".live", ".told")


def _unlink(one: LiveSession | SessionPointers, stores: Iterable[Layout], *endings: str) -> None:
    for layout in stores:
        for ending in endings:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(layout.inbox, f"{stem(one.agent, one.session)}{ending}"))


def _live(path: str) -> LiveSession | None:
    try:
        one = LiveSession(**loose_records.read(path, limit=MAX_SMALL))
    except TypeError:
        return None
    whole = all(isinstance(text, str) for text in (one.agent, one.session, one.path, one.tree))
    whole = whole and type(one.seen) is int and type(one.size) is int and isinstance(one.holdfast, str | None)
    return one if whole and is_path(one.path) and is_path(one.tree) else None


# ── packs that were given ────────────────────────────────────────────────────────────────────────


def packs(*stores: Layout) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the files and contents of packs that agents were given and that are not yet stored as receipts."""
    for layout in stores:
        for path in _ending(layout, ".pack"):
            yield path, loose_records.read(path, limit=8 << 20)  # as receipt_files.MAX_FILE


def last_seen(layout: Layout, agent: str) -> int | None:
    """Returns when an agent's hook last ran here, in nanoseconds; None if never."""
    with contextlib.suppress(OSError):
        return os.stat(os.path.join(layout.inbox, f"seen-{agent}")).st_mtime_ns
    return None


def late(layout: Layout, agent: str) -> int:
    """Returns how often the answer of an agent's hook came too late."""
    with contextlib.suppress(OSError):
        return os.stat(os.path.join(layout.inbox, f"late-{agent}")).st_size
    return 0


# ── transcripts that are gone, or cannot be read ─────────────────────────────────────────────────


def set_aside(layout: Layout, one: SessionPointers, why: str = VANISHED) -> None:
    """Moves the pointers to a missing or unreadable transcript to a file of their own, to report it for a while."""
    path = os.path.join(layout.inbox, f"{stem(one.agent, one.session)}{why}")
    fsio.replace(path, b"".join(_bytes(pointer) for pointer in one.all[-20:]))  # a guess: the report shows the last
    drop(one)


def was_read(one: SessionPointers, *stores: Layout) -> None:
    """Deletes the report of an unreadable transcript that was read after all."""
    _unlink(one, stores, UNREAD)


def vanished(*stores: Layout, why: str = VANISHED) -> list[SessionPointers]:
    """Returns the sessions whose transcripts vanished lately, or with `UNREAD` could not be read."""
    files = ((path, _lines(path)[0]) for layout in stores for path in _ending(layout, why))
    return [
        SessionPointers(there[-1].agent, there[-1].session, tuple(there), (path,)) for path, there in files if there
    ]


def sweep(now_ns: int, *stores: Layout) -> None:
    """Deletes old reports, and the hook's notes about sessions without events for as long."""
    for layout in stores:
        for ending in (VANISHED, UNREAD, ".told"):
            for path in _ending(layout, ending):
                with contextlib.suppress(OSError):
                    if os.stat(path).st_mtime_ns < now_ns - VANISHED_FOR * 1_000_000_000:
                        os.unlink(path)


# ── files ────────────────────────────────────────────────────────────────────────────────────────


def _names(layout: Layout) -> list[str]:
    return [name for name in layout.listed(layout.inbox) if AGENT.fullmatch(name.partition("-")[0])]


def _ending(layout: Layout, ending: str) -> list[str]:
    return _plain_files(layout, [name for name in _names(layout) if name.endswith(ending)])


def _files(layout: Layout) -> list[str]:
    """Returns the files of pointers, those renamed by an earlier drain first."""
    names = [name for name in _names(layout) if name.endswith(".jsonl") or _TAKEN in name]
    return _plain_files(layout, sorted(names, key=lambda name: (_TAKEN not in name, name)))


def _plain_files(layout: Layout, names: Iterable[str]) -> list[str]:
    paths = (os.path.join(layout.inbox, name) for name in names)
    return [path for path in paths if git_inbox.is_file(layout, path, "agents' hooks")]


def _read(layout: Layout, path: str) -> list[SessionPointer]:
    found, damaged = _lines(path)
    if damaged:
        layout.leave_out(f"{damaged} damaged line{'s' * (damaged > 1)} of {path}")
    return found


def _lines(path: str) -> tuple[list[SessionPointer], int]:
    """Returns the pointers of a file, and the number of damaged rows."""
    lines = [line for line in loose_records.content(path, limit=MAX_BYTES).split(b"\n") if line]
    found = [one for line in lines if (one := _pointer(line)) is not None]
    return found, len(lines) - len(found)


def _pointer(line: bytes) -> SessionPointer | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("v") != 1 or not is_agent(value.get("agent")):
        return None
    texts = ("event", "session", "path", "cwd", "tree", "source", "reason", "tool", "call", "helper", "kind", "about")
    fields = {name: value[name] for name in texts if isinstance(value.get(name), str)}
    for name in ("cwd", "tree", "helper"):  # an impossible `path` stays, and its transcript is reported as gone
        if not is_path(fields.get(name, "")):
            del fields[name]
    ts, size = value.get("ts"), value.get("size")
    if not fields.get("event") or not fields.get("session"):
        return None
    if not (type(ts) is int and type(size) is int and 0 <= ts < 1 << 63 and 0 <= size < 1 << 63):
        return None
    return SessionPointer(agent=value["agent"], ts=ts, size=size, **fields)


def _bytes(one: SessionPointer) -> bytes:
    fields = {name: value for name, value in asdict(one).items() if value is not None}
    return json.dumps({"v": 1, **fields}, separators=(",", ":")).encode("ascii") + b"\n"
