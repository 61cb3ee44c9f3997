"""A capsule: the folder with the recording of one run, sealed when the run ends.

    context.json  inputs/  outputs/  summary.md   the request, its inputs, its outputs, and a summary
    MANIFEST      the sorted `<sha256>  <path>` rows of these; its own hash is the root in the event
    meta.json     the event itself; verified by equality with the log, so it is not in the manifest
    open          only during the run; its kernel lock is held while the wrapper lives

`capture` decides on the contents; this module stores them and verifies that they are unchanged.
"""

import contextlib
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from holdfast.errors import BadInput, HoldfastError
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records, sealed_files
from holdfast.store.layout import Layout
from holdfast.values import dict_of, frozen

if TYPE_CHECKING:
    from holdfast.security.sealed_text import TextVault

CONTEXT, SUMMARY, MANIFEST, META, OPEN = "context.json", "summary.md", "MANIFEST", "meta.json", "open"
MAX_JSON = 1 << 28  # bytes of one file that is read; a guess: protects the memory, above what runs record
_UNSEALED = (META, MANIFEST, OPEN)
_READ_ONLY = 0o400  # for nobody else: a copy of the folder may be in a place that others can read
_NEW = ".new"
_FEW = 16  # files that are synced without threads; a guess: for few files, starting threads costs more
_ROOM = 512  # bytes reserved for `note`, so that the end of a run can be recorded on a full disk
_MAKING = 60.0  # seconds; a guess: far more than it takes from creating a folder to locking it
_TEMPORARY = regex(r"(?:MANIFEST|context\.json|meta\.json|summary\.md|files\.json)\.[0-9]+-[0-9a-f]{8}\.tmp")


@frozen
class CapsuleFault:
    """A difference between a capsule and its sealed state."""

    path: str  # inside the capsule; "" is the capsule itself
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


def to_json(value: object) -> bytes:
    """Returns JSON in the form of a capsule's files: the same value gives the same bytes."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"


def opened(layout: Layout) -> list[str]:
    """Returns the ids of runs that began and are not known to have ended; cheap even after many runs."""
    return sorted({name.removesuffix(_NEW) for name in layout.listed(layout.under_way)})


def read_json(folder: str, name: str) -> Any:
    """Returns a JSON file of a capsule, or None if it is missing or damaged."""
    try:
        data = read_bytes(folder, name)
        found = None if data is None else json.loads(data)
    except (OSError, ValueError, HoldfastError):
        return None
    if isinstance(found, dict) and "sealed" in found and sealed_files.is_sealed_object(found):
        return sealed_files.open_object(found, "recording", sealed_files.run_of(folder), name)[0]
    return found


def read_bytes(folder: str, name: str, *, limit: int = MAX_JSON) -> bytes | None:
    """Returns a file of a capsule; None if it is encrypted and cannot be opened here."""
    data = fsio.read(os.path.join(folder, *name.split("/")), limit=limit)
    return sealed_files.opened(data, folder, name) if data[:8] == b"holdfast" else data


def is_sealed(folder: str) -> bool:
    """Whether a capsule is encrypted."""
    with contextlib.suppress(OSError, ValueError, HoldfastError):
        return sealed_files.is_sealed_object(json.loads(fsio.read(os.path.join(folder, CONTEXT), limit=MAX_JSON)))
    return False


def read_context(folder: str | None) -> dict[str, Any]:
    """Returns a run's context.json; empty if it is missing."""
    return dict_of(read_json(folder, CONTEXT)) if folder else {}


def read_rows(folder: str, name: str) -> Iterator[dict[str, Any]]:
    """Yields the rows of a JSONL file of a capsule; skips damaged ones."""
    with open_lines(folder, name) as lines:
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict):
                    yield row


@contextlib.contextmanager
def open_lines(folder: str, name: str) -> Iterator[Iterable[bytes]]:
    """Yields the lines of a capsule's file; none if it is missing, or encrypted and cannot be opened here."""
    path = os.path.join(folder, *name.split("/"))
    if not os.path.isfile(path):
        yield ()
        return
    with open(path, "rb") as file:
        if file.peek(8)[:8] == b"holdfast":
            yield (sealed_files.opened(file.read(), folder, name) or b"").split(b"\n")
        else:
            yield file


def is_alive(folder: str) -> bool:
    """Whether a wrapper process still fills this capsule."""
    try:
        handle = os.open(os.path.join(folder, OPEN), os.O_RDWR)
    except OSError:
        return False
    try:
        return not fsio.try_lock_fd(handle)
    finally:
        os.close(handle)


class CapsuleSink:
    """A file of a capsule that grows during the run; synced when the capsule is sealed."""

    def __init__(self, path: str, sealer: "sealed_files.FileSealer | None" = None) -> None:
        self._path, self._sealer = path, sealer
        with fsio.refusing(path):
            self._handle = fsio.ops.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)

    def write(self, data: bytes) -> None:
        data = self._sealer.lines(data) if self._sealer else data
        with fsio.refusing(self._path):
            fsio.write_all(self._handle, data)

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


class Capsule:
    """A run's folder while it is filled; this object holds its lock."""

    def __init__(
        self, layout: Layout, run_id: str, handle: int, *, folder: str | None = None, vault: "TextVault | None" = None
    ) -> None:
        self.layout, self.run_id, self.vault = layout, run_id, vault  # the vault encrypts the files
        self.folder = folder or layout.run(run_id)
        self._handle = handle

    @classmethod
    def create(
        cls, layout: Layout, run_id: str, context: Mapping[str, Any], *, vault: "TextVault | None" = None
    ) -> Self:
        """Creates the capsule of a new run; raises FileExistsError if the id exists.

        The folder appears under its name complete, locked and with its context: a capsule that is open and not locked
        means that its wrapper died.
        """
        new = _begun(layout, run_id)
        data = to_json(_kept_context(vault, run_id, context) if vault else context)
        fsio.make_dirs(layout.under_way)
        with fsio.refusing(new):
            if os.path.lexists(layout.run(run_id)):
                raise FileExistsError(layout.run(run_id))
            fsio.ops.mkdir(new, 0o700)
        handle = -1
        try:
            handle = _lock(new)
            for folder in ("inputs", "outputs"):
                fsio.make_dirs(os.path.join(new, folder))
            fsio.create(os.path.join(new, CONTEXT), data)
            # Before the folder gets its name: a process that dies after this is found by its marker.
            fsio.create(_marker(layout, run_id), b"")
            fsio.move(new, layout.run(run_id))
        except HoldfastError:
            if handle >= 0:
                os.close(handle)
            _remove_tree(new)
            forget(layout, run_id)
            raise
        return cls(layout, run_id, handle, vault=vault)

    @classmethod
    def take_over(
        cls, layout: Layout, run_id: str, *, folder: str, vault: "TextVault | None" = None
    ) -> "Capsule | None":
        """Opens the capsule of a wrapper that died; None if it lives, or if another process completed the capsule."""
        path = os.path.join(folder, OPEN)
        try:
            handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        same = False
        if fsio.try_lock_fd(handle):
            # A process that completed it has removed the file since we opened it.
            with contextlib.suppress(FileNotFoundError):
                same = os.path.samestat(os.stat(path), os.fstat(handle))
        if same:
            _sweep(folder)
            return cls(layout, run_id, handle, folder=folder, vault=vault)
        os.close(handle)
        return None

    def note(self, ending: Mapping[str, Any]) -> None:
        """Writes the end of the run into the lock file, in case this process dies before it writes the event."""
        with fsio.refusing(self.folder):
            os.lseek(self._handle, 0, os.SEEK_SET)
            fsio.write_all(self._handle, to_json(ending).ljust(_ROOM))

    def noted(self) -> dict[str, Any]:
        """Returns what `note` wrote; empty if it was not called."""
        try:
            return dict_of(json.loads(os.pread(self._handle, 1 << 16, 0)))
        except ValueError:
            return {}

    def path(self, name: str) -> str:
        """Returns the path of a file of the capsule; refuses a name that leads out of it."""
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts) or name in _UNSEALED or not name.isprintable():
            raise BadInput(f"{name!r} cannot be the name of a file in a run")
        return os.path.join(self.folder, *parts)

    def add(self, name: str, data: bytes) -> None:
        """Adds a file to the capsule; synced when it is sealed."""
        with contextlib.closing(self.open_output(name)) as sink:
            sink.write(data)

    def open_output(self, name: str) -> CapsuleSink:
        """Creates a file that is filled during the run."""
        path = self.path(name)
        fsio.make_dirs(os.path.dirname(path))
        return CapsuleSink(path, self._sealer(name))

    def _sealer(self, name: str) -> "sealed_files.FileSealer | None":
        return sealed_files.FileSealer(self.vault, self.run_id, name) if self.vault else None

    def opening(self) -> contextlib.AbstractContextManager[None]:
        """Lets this process read the encrypted files that it wrote."""
        vault = self.vault
        return sealed_files.opening(lambda: vault) if vault else contextlib.nullcontext()

    def replace(self, name: str, data: bytes) -> None:
        """Replaces a file's content, durably."""
        if self.vault and name == CONTEXT:
            data = to_json(_kept_context(self.vault, self.run_id, json.loads(data)))
        elif sealer := self._sealer(name):
            data = sealer.lines(data)
        fsio.replace(self.path(name), data)

    def seal(self) -> str:
        """Syncs every file and makes it read-only; returns the root hash for the event."""
        paths = [
            path
            for path, facts in _walk(self.folder)
            if path not in _UNSEALED and stat.S_ISREG(facts.st_mode) and facts.st_nlink == 1
        ]
        full = [os.path.join(self.folder, *path.split("/")) for path in paths]
        manifest = b"".join(sorted(map(_line, _sync_all(full), paths)))
        with fsio.refusing(self.folder):
            for folder in sorted({self.folder, *map(os.path.dirname, full)}):
                fsio.ops.sync_dir(folder)
        fsio.replace(os.path.join(self.folder, MANIFEST), manifest, mode=_READ_ONLY)
        return hashlib.sha256(manifest).hexdigest()

    def close(self, meta: Mapping[str, Any]) -> None:
        """Writes the event into the capsule and releases it: the run is complete."""
        fsio.replace(os.path.join(self.folder, META), to_json(meta), mode=_READ_ONLY)
        fsio.remove(os.path.join(self.folder, OPEN))
        self.let_go()
        with contextlib.suppress(FileNotFoundError), fsio.refusing(self.run_id):
            fsio.ops.unlink(_marker(self.layout, self.run_id))

    def drop(self) -> None:
        """Deletes a capsule that was never sealed; its contents are still in their source."""
        new = _begun(self.layout, self.run_id)
        fsio.move(self.folder, new)  # under this name it counts as a run that never began
        self.let_go()
        forget(self.layout, self.run_id)

    def let_go(self) -> None:
        """Releases the lock; the next command completes a capsule that is still open."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _kept_context(vault: "TextVault", run_id: str, context: Mapping[str, Any]) -> dict[str, Any]:
    clear = sealed_files.clear_context(context)
    return sealed_files.seal_object(vault, context, clear, "recording", run_id, CONTEXT)


def forget(layout: Layout, run_id: str) -> None:
    """Deletes the rest of a run that never began, and the marker of one that is complete."""
    new = _begun(layout, run_id)
    if _is_dead(new):
        _remove_tree(new)
    # In this order: a folder that is just being renamed is found in one place or the other.
    begun, named = os.path.isdir(new), os.path.isdir(layout.run(run_id))
    if not begun and not (named and os.path.lexists(os.path.join(layout.run(run_id), OPEN))):
        fsio.remove(_marker(layout, run_id))


def clear(layout: Layout, run_id: str) -> None:
    """Deletes the rest of a run that was killed before it was locked; only for the sole creator of this run."""
    new = _begun(layout, run_id)
    if os.path.isdir(new) and not is_alive(new):
        _remove_tree(new)


def _is_dead(new: str) -> bool:
    """Whether the process that created this folder is gone: its lock is free, or it never got one."""
    if os.path.lexists(os.path.join(new, OPEN)):
        return not is_alive(new)
    try:
        return abs(time.time() - os.stat(new).st_mtime) > _MAKING  # abs: the clock may have been set back
    except FileNotFoundError:
        return False


def _remove_tree(folder: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another command deletes it at the same time
        for path, _ in _walk(folder):
            if path != OPEN:
                fsio.remove(os.path.join(folder, *path.split("/")))
        for below in ("inputs", "outputs"):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(folder, below))
        fsio.remove(os.path.join(folder, OPEN))  # last: its free lock shows that the run is dead
        os.rmdir(folder)


def _lock(folder: str) -> int:
    """Creates the lock of a new capsule; it is locked before it gets its name, so a free lock means a dead process."""
    opening = os.path.join(folder, "opening")
    with fsio.refusing(folder):
        handle = fsio.ops.open(opening, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            fsio.try_lock_fd(handle)
            fsio.write_all(handle, b" " * _ROOM)
            fsio.ops.rename(opening, os.path.join(folder, OPEN))
        except OSError:
            os.close(handle)
            raise
    return handle


def _sweep(folder: str) -> None:
    """Deletes temporary files of a killed wrapper, but no copy of a user's file."""
    for below in ("", "outputs"):
        for name in os.listdir(os.path.join(folder, below)):
            if _TEMPORARY.fullmatch(name):
                fsio.remove(os.path.join(folder, below, name))


def _marker(layout: Layout, run_id: str) -> str:
    return os.path.join(layout.under_way, run_id)


def _begun(layout: Layout, run_id: str) -> str:
    return _marker(layout, run_id) + _NEW


def _line(sha256: str, path: str) -> bytes:
    return f"{sha256}  ".encode("ascii") + os.fsencode(path) + b"\n"


def _sync_all(paths: list[str]) -> list[str]:
    """Makes files durable and read-only; returns their hashes.

    In parallel: many syncs take about the time of one.
    """
    if len(paths) < _FEW:
        return [_sync(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor  # here, as it loads `logging`

    with ThreadPoolExecutor(8) as threads:  # a guess
        return list(threads.map(_sync, paths))


def _sync(path: str) -> str:
    """Makes a file durable and read-only; returns its SHA-256."""
    with fsio.refusing(path):
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            fsio.ops.sync(handle)
            os.chmod(path, _READ_ONLY)
            with open(handle, "rb", closefd=False) as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        finally:
            os.close(handle)


def _walk(folder: str, below: str = "") -> Iterator[tuple[str, os.stat_result]]:
    """Yields the path and facts of everything in a capsule except folders; does not follow links."""
    for entry in sorted(os.scandir(os.path.join(folder, below)), key=lambda e: e.name):
        path = f"{below}/{entry.name}" if below else entry.name
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(facts.st_mode):
            yield from _walk(folder, path)
        else:
            yield path, facts


def faults(folder: str, root: str | None, joined: Mapping[str, Any]) -> Iterator[CapsuleFault]:
    """Compares a sealed capsule with its event; yields changed, added and missing files, and links."""
    if not os.path.isdir(folder):
        yield CapsuleFault("", "the capsule of this run is missing")
        return
    actual: dict[str, str] = {}
    for path, facts in _walk(folder):
        if not stat.S_ISREG(facts.st_mode):
            yield CapsuleFault(path, "a capsule has only regular files, and this is a link or a device")
        elif facts.st_nlink != 1:
            yield CapsuleFault(path, "it has a second name outside the capsule and could be changed there")
        elif path not in _UNSEALED:
            actual[path] = _hash(os.path.join(folder, *path.split("/")))
    yield from _against_manifest(folder, root, actual)
    yield from _meta_faults(folder, joined)


def harmed(folder: str, names: Sequence[str]) -> list[str]:
    """Returns those of these files of a sealed capsule that were changed, lost or added."""
    try:
        sealed = _parsed(fsio.read(os.path.join(folder, MANIFEST), limit=MAX_JSON))
    except (OSError, HoldfastError):
        return list(names)
    return [name for name in names if sealed.get(name) != _hash_if_there(folder, name)]


def _hash_if_there(folder: str, name: str) -> str | None:
    path = os.path.join(folder, *name.split("/"))
    try:
        return _hash(path) if os.path.lexists(path) else None
    except OSError:
        return ""


def _hash(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _against_manifest(folder: str, root: str | None, actual: Mapping[str, str]) -> Iterator[CapsuleFault]:
    manifest = loose_records.content(os.path.join(folder, MANIFEST), limit=MAX_JSON)
    whole = b"".join(sorted(_line(sha256, path) for path, sha256 in actual.items()))
    if root is not None and hashlib.sha256(manifest).hexdigest() != root:
        yield CapsuleFault(MANIFEST, "it was changed or is missing")
        if hashlib.sha256(whole).hexdigest() == root:
            return  # every other file is unchanged
    sealed = _parsed(manifest)
    for path in sorted({*sealed, *actual}):
        if path not in actual:
            yield CapsuleFault(path, "it is missing")
        elif path not in sealed:
            yield CapsuleFault(path, "it was added after the run was sealed")
        elif sealed[path] != actual[path]:
            yield CapsuleFault(path, "it was changed after the run was sealed")


def _parsed(manifest: bytes) -> dict[str, str]:
    rows = (row.partition(b"  ") for row in manifest.split(b"\n"))
    return {os.fsdecode(path): sha256.decode("ascii", "replace") for sha256, _, path in rows if path}


def _meta_faults(folder: str, joined: Mapping[str, Any]) -> Iterator[CapsuleFault]:
    """Checks that meta.json equals the event, in exactly the bytes we write.

    A field that only the event has must be null, so that a field of a later version breaks no old run.
    """
    try:
        data = fsio.read(os.path.join(folder, META), limit=MAX_JSON)
        found = json.loads(data)
    except (OSError, ValueError, HoldfastError):
        yield CapsuleFault(META, "it is missing or damaged")
        return
    # The body may have been erased or lost since; it was here when the run was sealed.
    state = "locked" if isinstance(found, dict) and found.get("body_state") == "locked" else "here"
    event = {**json.loads(json.dumps(dict(joined))), "body_state": state}
    same = isinstance(found, dict) and event == {**dict.fromkeys(event), **found}
    if not same or to_json(found) != data:
        yield CapsuleFault(META, "it does not equal the run's event")
