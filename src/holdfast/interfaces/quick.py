"""The quick path: what agents ask often, answered before anything heavy is imported.

It finds the repository by file facts, asks `freshness` whether the index still says what is true,
and answers from SQLite alone: `recall` by searching, `status`, `next` and `context` with what the full
path kept ready. Whatever is unusual (a stale or missing index, an option it does not know, git's or
Holdfast's variables set, a sandbox) it leaves to the full path, which gives the same rows in the same
words. It changes nothing, but that it counts what was recalled and how a `context` was found.
"""

import os
import time

from holdfast.index.freshness import IndexSignature, WorkTreePaths, signature, taken, watched
from holdfast.index.schema import APPLICATION, VERSION, file_name
from holdfast.store import discovery
from holdfast.store.folder_facts import looked_at
from holdfast.store.layout import Layout, cache_dir, user_settings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from sqlite3 import Connection
    from typing import TypeVar

    from holdfast.interfaces.quick_recall import QuickQuestion as Recall

    Counted = list[tuple[str, str, str | None]]  # id, kind and state of each hit
    T = TypeVar("T")

NOT_HANDLED = -1
# Marks around words that are coloured on a terminal, each with its code; no text of ours or yours has them.
STYLES = {"bold": ("\ue0b0", "1"), "good": ("\ue0b2", "32"), "warn": ("\ue0b3", "33"), "bad": ("\ue0b4", "31"),
          "dim": ("\ue0b5", "2")}  # fmt: skip
CLOSE = "\ue0b1"
# The parts of a signature that each rests on; `badge` is what `status --badge` says, for a prompt.
RESTS_ON = {"recall": "memory", "status": "value", "badge": "value", "next": "work", "context": "value"}


def main(argv: list[str]) -> int:
    """Answer and give the exit code, or NOT_HANDLED."""
    if argv == ["--version"]:
        from holdfast import __version__

        return _say(f"holdfast {__version__}\n")
    if argv in ([], ["--help"], ["-h"]) and "_HOLDFAST_COMPLETE" not in os.environ:
        from holdfast.interfaces import command_table

        return _say(command_table.help_text())
    if argv == ["status", "--badge"]:
        return _answer("badge") if is_plain(os.environ) else NOT_HANDLED
    if not argv or argv[0] not in RESTS_ON or argv[0] == "badge" or not is_plain(os.environ):
        return NOT_HANDLED
    command, *words = argv
    if command == "recall":
        from holdfast.interfaces import quick_recall  # only who searches pays for it

        asked = quick_recall.options(words)
        return NOT_HANDLED if asked is None else _answer(command, asked=asked)
    if words not in ([], ["--json"]) or (command == "context" and "HOLDFAST_RUN_ID" in os.environ):
        return NOT_HANDLED  # a context that is given within a run is kept with the run
    return _answer(command, json=bool(words))


def is_plain(environ: "Mapping[str, str]") -> bool:
    """Whether no variable changes where git looks or what Holdfast does; a run of ours may be around it."""
    return discovery.unsteered(os.fsencode(name) for name in environ if name != "HOLDFAST_RUN_ID")


def has_colours(environ: "Mapping[str, str]", *, terminal: bool) -> bool:
    """Whether a stream shows colours."""
    return terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def drawn(text: str, *, colours: bool) -> str:
    """A text with its marks as escape sequences, or without them."""
    if not text.isascii():
        for mark, code in (*STYLES.values(), (CLOSE, "0")):
            text = text.replace(mark, f"\x1b[{code}m" if colours else "")
    return text


def columns() -> int:
    """How wide the terminal is, as the full path counts; 0 where there is none."""
    if not os.isatty(1):
        return 0
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isascii() and given.isdigit() and int(given) else os.get_terminal_size(1).columns or 80


def _fits(text: str) -> bool:
    """Whether all of a text is seen at once: what is longer goes to a pager, which the full path knows."""
    if not os.isatty(1):
        return True
    wide, high = os.get_terminal_size(1)
    return sum(1 + len(line) // max(wide, 1) for line in text.splitlines()) < high


def _answer(command: str, *, json: bool = False, asked: "Recall | None" = None) -> int:
    try:
        place = find_place(os.getcwd())
    except FileNotFoundError:  # the current folder was deleted: the full path says so
        return NOT_HANDLED
    found = find_index(place, RESTS_ON[command]) if place else None
    if place is None or found is None or _has_dead_runs(found[0], patient=command != "status"):
        return NOT_HANDLED
    layout, now, path = found
    taken.clear()
    looked_at.clear()
    if RESTS_ON[command] == "value":  # the full path need not look again, if it comes to that
        taken[place.top] = now
        looked_at.update(now.folders if now.settled else {})
    told = (".jsonl", ".pack", ".vanished")  # how files of the inbox end that nobody has read yet
    if command == "status" and any(name.endswith(told) or ".jsonl." in name for name in _names(layout.inbox)):
        return NOT_HANDLED  # it counts them, and reads what they lead to first
    began = time.perf_counter_ns()
    said, counted = _told(path, command, now, place, json=json, asked=asked)
    if said is not None and not (json or (asked and asked.json)):
        said = drawn(said, colours=has_colours(os.environ, terminal=os.isatty(1))) if _fits(said) else None
        counted = counted if said is not None else None
    code = NOT_HANDLED if said is None else _say(said)
    if code == 0 and asked is not None and asked.advice:
        _say(f"{asked.advice}\n", 2)
    if code != NOT_HANDLED:
        taken.clear()
    if counted is not None and code == 0:
        from holdfast.store import tally

        took = (time.perf_counter_ns() - began) // 1000
        if isinstance(counted, str):
            tally.count_context(layout, counted, took)
        elif asked is not None and asked.kind != "candidate":
            tally.recalled_now(layout, counted, took)
    return code


def find_index(place: WorkTreePaths, part: str) -> "tuple[Layout, IndexSignature, str] | None":
    """A work tree's store, how that part of it looks now, and its index; None if that cannot be told."""
    layout = Layout(place.top, os.path.join(place.common_dir, "holdfast"), cache_dir(os.environ))
    try:
        with open(layout.repo_id, encoding="utf-8", errors="surrogateescape") as file:
            name = file.readline().rstrip("\n")
    except OSError:
        return None
    now = signature(place, layout, parts=(part,)) if name else None
    if now is None:
        return None
    return layout, now, os.path.join(os.path.dirname(layout.index(name)), file_name(place.git_dir, place.common_dir))


def _told(
    path: str, command: str, now: "IndexSignature", place: WorkTreePaths, *, json: bool, asked: "Recall | None"
) -> "tuple[str | None, Counted | str | None]":
    """What the index has to say, and what is to be counted; nothing if it is behind or damaged."""
    if asked is not None:
        from holdfast.interfaces import quick_recall

        state, moment = now.memory, _now()
        found = read_index(path, lambda db: quick_recall.told(db, path, asked, state=state, place=place, now=moment))
        return found or (None, None)
    text, data = read_index(path, lambda db: _kept(db, command, now, place.top, json=json)) or (None, "")
    if command == "status":  # short enough that both its forms are kept together
        return data if json and text is not None else text, None
    return text, data if command == "context" else None


def _has_dead_runs(layout: Layout, *, patient: bool) -> bool:
    """Whether a run's wrapper was killed: the full path completes it and says so.

    A patient question does not mind runs that are under way: an agent asks from inside one.
    """
    under_way = _names(layout.under_way)
    return bool(under_way) and not (patient and all(_is_alive(layout.run(name)) for name in under_way))


def _names(folder: str) -> list[str]:
    """What lies in a folder; nothing where that cannot be seen."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _is_alive(capsule: str) -> bool:
    """Whether somebody holds a capsule's lock; without kernel locks nobody can tell."""
    try:
        import fcntl

        fd = os.open(os.path.join(capsule, "open"), os.O_RDONLY)
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def read_index(path: str, ask: "Callable[[Connection], T]") -> "T | None":
    """What a question to an index gives, asked of one state of it; None if it cannot be read."""
    import _sqlite3

    db = None
    try:
        db = open_index(path)
        db.execute("BEGIN")
        return ask(db)
    except (_sqlite3.Error, UnicodeDecodeError):
        return None
    finally:
        if db is not None:
            db.close()


def open_index(path: str) -> "Connection":
    """An index to read from; an error of SQLite's if it is none of this version."""
    import _sqlite3

    name = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    db: Connection = _sqlite3.connect(f"file:{name}?mode=ro", uri=True, timeout=0.5, isolation_level=None)
    stamp = (db.execute("PRAGMA application_id").fetchone()[0], db.execute("PRAGMA user_version").fetchone()[0])
    if stamp != (APPLICATION, VERSION):
        raise _sqlite3.DatabaseError("not ours")
    return db


def _kept(db: "Connection", command: str, now: "IndexSignature", top: str, *, json: bool) -> tuple[str, str] | None:
    """The answer that the full path kept and how it was found, if all that it rests on is as it was."""
    from holdfast.index import freshness

    tree = ""
    if command == "context":
        paths = db.execute("SELECT text FROM ready WHERE name = ?", (freshness.WATCHED,)).fetchone()
        if paths is None:
            return None
        tree = watched(top, paths[0])[0]
    state = resting_on(command, now, os.environ, tree=tree)
    return freshness.ready_answer(db, kept_name(command, json=json), signature=state, now=_now())


def kept_name(command: str, *, json: bool) -> str:
    """Under which name an answer is kept: its JSON may be long, and is read only if asked for."""
    return f"{command} --json" if json and command != "status" else command


def resting_on(command: str, now: "IndexSignature", environ: "Mapping[str, str]", *, tree: str = "") -> str:
    """What a kept answer rests on: its part of the state, the user's settings, the work tree's files."""
    return status_signature(f"{getattr(now, RESTS_ON[command])}{tree}", environ)


def status_signature(state: str, environ: "Mapping[str, str]") -> str:
    """A state and the user's settings."""
    return f"{state} {settings_stamp(environ)}"


def settings_stamp(environ: "Mapping[str, str]") -> str:
    """What the user's own settings look like; they decide what is searched, and how."""
    try:
        found = os.stat(user_settings(environ))
    except OSError:
        return "-"
    return f"{found.st_mtime_ns} {found.st_size}"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def find_place(start: str) -> WorkTreePaths | None:
    """The work tree around a folder, if it is this user's; what is another's only git may allow."""
    found = discovery.find_repository(os.fsencode(start))
    if found is None or not found.is_own:
        return None
    return WorkTreePaths(*map(os.fsdecode, (found.top, found.git_dir, found.common)))


def _say(text: str, stream: int = 1) -> int:
    """Print; a reader that went away is no error of ours, and the full path knows what to say of others."""
    data = text.encode("utf-8", "replace")
    try:
        while data:
            data = data[os.write(stream, data) :]
    except BrokenPipeError:
        return 0
    except OSError:
        return NOT_HANDLED
    return 0
