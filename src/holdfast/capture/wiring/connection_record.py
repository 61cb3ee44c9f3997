"""What we put into whose settings, and which repositories use it: enough to give each file back to the byte.

It is for each file the spans that are ours and a hash of the whole, and nothing that it holds. While the hash fits,
cutting the spans out gives the file as it was; once somebody changed it, only what is ours by its command is taken out.
A lost record costs no more.

The user's own settings serve several repositories, and the record names them. They stay as long as another repository
uses them; in one that was disconnected the hook finds a file that tells it to be silent.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence

from holdfast.capture.wiring import connect_files
from holdfast.capture.wiring.config_text import ConfigTextEdit, ordered
from holdfast.capture.wiring.user_homes import UserHomes
from holdfast.errors import NotStored, TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.values import asdict, field, frozen, mutable

VERSION = 1
LIMIT = 1 << 20  # bytes; a guess: a record has a few KiB


@frozen
class WiredFile:
    """One file: how it was left, where our characters are in it, and whether it and its folders are ours."""

    left: str  # sha256 of the bytes as we left them
    spans: tuple[tuple[int, int], ...] = ()
    made: bool = False
    folders: int = 0


@mutable
class ConnectionRecord:
    """All files we wrote into, by their real paths, the clients whose own command knows our server, and who uses it."""

    path: str
    files: dict[str, WiredFile] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    uses: dict[str, list[str]] = field(default_factory=dict)  # a repository's private store: its clients
    folders: int = 0  # how many folders above the record we made, and its own

    def users(self, name: str) -> list[str]:
        """The stores of the repositories that use a client's user-wide hooks, as far as they are still there."""
        return [store for store, names in self.uses.items() if name in names and os.path.isdir(store)]

    def use(self, store: str, *, join: Iterable[str] = (), leave: Iterable[str] = ()) -> None:
        """Note which clients a repository uses from now on."""
        gone = {*leave}
        self.uses[store] = [one for one in dict.fromkeys([*self.uses.get(store, ()), *join]) if one not in gone]

    def fits(self, real: str, data: bytes) -> WiredFile | None:
        """What was kept about a file, if nobody changed it since."""
        kept = self.files.get(real)
        return kept if kept is not None and kept.left == digest(data) else None

    def save(self) -> None:
        """Write it, or take it away if there is nothing to keep."""
        if not self.files and not self.told:
            fsio.remove(self.path)
            return
        files = {real: asdict(one) for real, one in sorted(self.files.items())}
        fsio.make_dirs(os.path.dirname(self.path), mode=0o755)
        uses = {store: sorted(names) for store, names in sorted(self.uses.items()) if names and os.path.isdir(store)}
        said = {"v": VERSION, "files": files, "told": sorted(self.told), "uses": uses, "folders": self.folders}
        fsio.sweep(self.path)
        fsio.replace(self.path, json.dumps(said, indent=1).encode() + b"\n")


def load(path: str) -> ConnectionRecord:
    """The record of this user; a damaged one is as good as none."""
    try:
        said = json.loads(fsio.read(path, limit=LIMIT))
        files = {
            real: WiredFile(
                str(one["left"]),
                tuple((int(start), int(end)) for start, end in one["spans"]),
                bool(one["made"]),
                int(one["folders"]),
            )  # and nothing else: a later version may keep more
            for real, one in said["files"].items()
        }
        uses = {str(store): [str(name) for name in names] for store, names in said.get("uses", {}).items()}
        told = [str(name) for name in said.get("told", [])]
        return ConnectionRecord(path, files, told, uses, int(said.get("folders", 0)))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, TooLarge, UnsafePath):
        return ConnectionRecord(path)


def join(path: str, store: str, names: Iterable[str]) -> None:
    """Note in the record that a repository uses these clients, if they serve anybody."""
    record = load(path)
    if record.files:
        record.use(os.path.realpath(store), join=names)
        record.save()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these spans."""
    done, at = [], 0
    for start, end in sorted(spans):
        done.append(text[at:start])
        at = max(at, end)
    return "".join([*done, text[at:]])


def moved(spans: Sequence[tuple[int, int]], edits: Sequence[ConfigTextEdit]) -> tuple[tuple[int, int], ...] | None:
    """Where our spans are after edits; None if an edit changes what is not ours: then nothing is certain."""
    ours = [list(span) for span in sorted(spans)]
    shift = 0
    for edit in ordered(edits):
        grown = len(edit.new) - (edit.end - edit.start)
        start = edit.start + shift
        around = [span for span in ours if span[0] <= start and start + (edit.end - edit.start) <= span[1]]
        if edit.end > edit.start and not around:
            return None
        for span in ours:
            if span in around:
                span[1] += grown
            elif span[0] >= start:
                span[0], span[1] = span[0] + grown, span[1] + grown
        if not around:
            ours.append([start, start + len(edit.new)])
            ours.sort()
        shift += grown
    return tuple((start, end) for start, end in ours if end > start)


@contextlib.contextmanager
def alone(homes: UserHomes) -> Iterator[int]:
    """Nobody else plans and changes this user's settings meanwhile; gives how many folders were made for that.

    Whoever holds the lock takes its file away, so that nothing is left of it: who then gets the lock of a file that
    is not there any more begins again.
    """
    path, held = f"{homes.record}.lock", False
    while not held:
        made = connect_files.missing_folders(os.sep, path)
        fsio.make_dirs(homes.data, mode=0o755)
        with contextlib.suppress(FileNotFoundError), contextlib.ExitStack() as lock:
            try:
                fd = lock.enter_context(fsio.locked(path, wait=60.0))
            except NotStored:
                if os.path.isdir(homes.data):
                    raise
                continue  # its last user took the folder away just now
            held = os.path.samestat(os.fstat(fd), os.stat(path))
            if held:
                folders = load(homes.record).folders or made
                try:
                    yield folders
                finally:
                    fsio.remove(path)
                    connect_files.remove_empty(homes.data, max(folders, 1))
