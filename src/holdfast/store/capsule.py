"""A capsule: the folder in which everything about one run is kept, sealed when the run ends.

    context.json  inputs/  outputs/  summary.md   what was asked, given, put out, and how it ended
    MANIFEST      the sorted `<sha256>  <path>` lines of these; its own hash is the root in the event
    meta.json     the event itself; verified by equality with the log, so it is not in the manifest
    open          only while the run is under way; its kernel lock says that the wrapper lives

What goes in is decided by `capture`; this module only keeps it and proves it unchanged.
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
MAX_JSON = 1 << 28
_UNSEALED = (META, MANIFEST, OPEN)
_READ_ONLY = 0o400  # for nobody else: a copy of the folder may lie where others can look
_NEW = ".new"
_FEW = 16
_ROOM = 512  # kept for `note`, so that how a run ended can be written when the disk is full
_MAKING = 60.0  # seconds that nobody needs from making a folder to locking it
_TEMPORARY = regex(r"(?:MANIFEST|context\.json|meta\.json|summary\.md|files\.json)\.[0-9]+-[0-9a-f]{8}\.tmp")


@frozen
class CapsuleFault:
    """Something about a capsule that is not as it was sealed."""

    path: str  # inside the capsule; "" is the capsule itself
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}: {self.sentence}" if self.path else self.sentence


def to_json(value: object) -> bytes:
    """JSON as every file of a capsule has it: the same value, the same bytes."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "backslashreplace") + b"\n"


def opened(layout: Layout) -> list[str]:
    """The ids of runs that began and are not known to have ended; cheap however many have."""
    return sorted({name.removesuffix(_NEW) for name in layout.listed(layout.under_way)})


def read_json(folder: str, name: str) -> Any:
    """A JSON file of a capsule, or None if it is not there or was damaged."""
    try:
        data = read_bytes(folder, name)
        found = None if data is None else json.loads(data)
    except (OSError, ValueError, HoldfastError):
        return None
    if isinstance(found, dict) and "sealed" in found and sealed_files.is_sealed_object(found):
        return sealed_files.open_object(found, "recording", sealed_files.run_of(folder), name)[0]
    return found


def read_bytes(folder: str, name: str, *, limit: int = MAX_JSON) -> bytes | None:
    """A file of a capsule; None if it is sealed and stays closed."""
    data = fsio.read(os.path.join(folder, *name.split("/")), limit=limit)
    return sealed_files.opened(data, folder, name) if data[:8] == b"holdfast" else data


def is_sealed(folder: str) -> bool:
    """Whether a capsule is one that only a key opens."""
    with contextlib.suppress(OSError, ValueError, HoldfastError):
        return sealed_files.is_sealed_object(json.loads(fsio.read(os.path.join(folder, CONTEXT), limit=MAX_JSON)))
    return False


def read_context(folder: str | None) -> dict[str, Any]:
    """What was known of a run when it began; empty if that is not here."""
    return dict_of(read_json(folder, CONTEXT)) if folder else {}


def read_rows(folder: str, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a capsule's file of JSON lines, one by one; what is damaged is left out."""
    with open_lines(folder, name) as lines:
        for line in lines:
            with contextlib.suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict):
                    yield row


@contextlib.contextmanager
def open_lines(folder: str, name: str) -> Iterator[Iterable[bytes]]:
    """The lines of a capsule's file; none if it is not there, or is sealed and stays closed."""
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
    """Whether a wrapper holds this capsule open right now."""
    try:
        handle = os.open(os.path.join(folder, OPEN), os.O_RDWR)
    except OSError:
        return False
    try:
        return not fsio.try_lock_fd(handle)
    finally:
        os.close(handle)


class CapsuleSink:
    """A file of a capsule that grows while the command runs; synced when the capsule is sealed."""

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
    """One run's folder while it is being filled; whoever has this object holds its lock."""

    def __init__(
        self, layout: Layout, run_id: str, handle: int, *, folder: str | None = None, vault: "TextVault | None" = None
    ) -> None:
        self.layout, self.run_id, self.vault = layout, run_id, vault  # the vault seals what is put in
        self.folder = folder or layout.run(run_id)
        self._handle = handle

    @classmethod
    def create(
        cls, layout: Layout, run_id: str, context: Mapping[str, Any], *, vault: "TextVault | None" = None
    ) -> Self:
        """Begin a run; FileExistsError if there is one of this id.

        The folder appears under its name at once, locked and with its context: nobody ever sees a
        capsule that is begun but not alive, unless its wrapper died.
        """
        new = _begun(layout, run_id)
        told = to_json(_kept_context(vault, run_id, context) if vault else context)
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
            fsio.create(os.path.join(new, CONTEXT), told)
            # Before the folder gets its name: whoever dies from here on is found.
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
        """The capsule of a wrapper that died; None while it lives, or once somebody completed it."""
        path = os.path.join(folder, OPEN)
        try:
            handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return None
        same = False
        if fsio.try_lock_fd(handle):
            # Whoever completed it removed the file while we waited to look.
            with contextlib.suppress(FileNotFoundError):
                same = os.path.samestat(os.stat(path), os.fstat(handle))
        if same:
            _sweep(folder)
            return cls(layout, run_id, handle, folder=folder, vault=vault)
        os.close(handle)
        return None

    def note(self, ending: Mapping[str, Any]) -> None:
        """Keep how the run ended beside the lock, in case we die before its event is written."""
        with fsio.refusing(self.folder):
            os.lseek(self._handle, 0, os.SEEK_SET)
            fsio.write_all(self._handle, to_json(ending).ljust(_ROOM))

    def noted(self) -> dict[str, Any]:
        """What `note` kept; empty if it never came to that."""
        try:
            return dict_of(json.loads(os.pread(self._handle, 1 << 16, 0)))
        except ValueError:
            return {}

    def path(self, name: str) -> str:
        """Where a file of the capsule lies; a name that would lead out of it is refused."""
        parts = name.split("/")
        if any(part in ("", ".", "..") for part in parts) or name in _UNSEALED or not name.isprintable():
            raise BadInput(f"{name!r} cannot be the name of a file in a run")
        return os.path.join(self.folder, *parts)

    def add(self, name: str, data: bytes) -> None:
        """Put a new file into the capsule; synced when it is sealed."""
        with contextlib.closing(self.open_output(name)) as sink:
            sink.write(data)

    def open_output(self, name: str) -> CapsuleSink:
        """A new file that is filled as bytes come."""
        path = self.path(name)
        fsio.make_dirs(os.path.dirname(path))
        return CapsuleSink(path, self._sealer(name))

    def _sealer(self, name: str) -> "sealed_files.FileSealer | None":
        return sealed_files.FileSealer(self.vault, self.run_id, name) if self.vault else None

    def opening(self) -> contextlib.AbstractContextManager[None]:
        """Let this process read back what it put in."""
        vault = self.vault
        return sealed_files.opening(lambda: vault) if vault else contextlib.nullcontext()

    def replace(self, name: str, data: bytes) -> None:
        """Set a file's content, whatever was there; durable on return."""
        if self.vault and name == CONTEXT:
            data = to_json(_kept_context(self.vault, self.run_id, json.loads(data)))
        elif sealer := self._sealer(name):
            data = sealer.lines(data)
        fsio.replace(self.path(name), data)

    def seal(self) -> str:
        """Sync every file, make it read-only and give the root hash that the event will carry."""
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
        """Write the event beside its capsule and let go: the run is complete."""
        fsio.replace(os.path.join(self.folder, META), to_json(meta), mode=_READ_ONLY)
        fsio.remove(os.path.join(self.folder, OPEN))
        self.let_go()
        with contextlib.suppress(FileNotFoundError), fsio.refusing(self.run_id):
            fsio.ops.unlink(_marker(self.layout, self.run_id))

    def drop(self) -> None:
        """Take away a capsule that was never sealed: what it holds is still where it came from."""
        new = _begun(self.layout, self.run_id)
        fsio.move(self.folder, new)  # under this name whoever finds it takes it for one that never began
        self.let_go()
        forget(self.layout, self.run_id)

    def let_go(self) -> None:
        """Give up the lock; a capsule that is still open will be completed by the next command."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _kept_context(vault: "TextVault", run_id: str, context: Mapping[str, Any]) -> dict[str, Any]:
    clear = sealed_files.clear_context(context)
    return sealed_files.seal_object(vault, context, clear, "recording", run_id, CONTEXT)


def forget(layout: Layout, run_id: str) -> None:
    """Drop what is left of a run that never began, and the mark of one that is complete."""
    new = _begun(layout, run_id)
    if _is_dead(new):
        _remove_tree(new)
    # In this order: a folder that is about to get its name is in one place or the other.
    begun, named = os.path.isdir(new), os.path.isdir(layout.run(run_id))
    if not begun and not (named and os.path.lexists(os.path.join(layout.run(run_id), OPEN))):
        fsio.remove(_marker(layout, run_id))


def clear(layout: Layout, run_id: str) -> None:
    """Take away what is left of a run that was killed before it was locked; for who alone makes this run."""
    new = _begun(layout, run_id)
    if os.path.isdir(new) and not is_alive(new):
        _remove_tree(new)


def _is_dead(new: str) -> bool:
    """Whether whoever was making this folder is gone: its lock is free, or it never got one."""
    if os.path.lexists(os.path.join(new, OPEN)):
        return not is_alive(new)
    try:
        return abs(time.time() - os.stat(new).st_mtime) > _MAKING  # the clock may have gone back
    except FileNotFoundError:
        return False


def _remove_tree(folder: str) -> None:
    with contextlib.suppress(FileNotFoundError):  # another command is at it too
        for path, _ in _walk(folder):
            if path != OPEN:
                fsio.remove(os.path.join(folder, *path.split("/")))
        for below in ("inputs", "outputs"):
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(folder, below))
        fsio.remove(os.path.join(folder, OPEN))  # last: without it nobody would know that this is dead
        os.rmdir(folder)


def _lock(folder: str) -> int:
    """Make the lock of a new capsule; it is held before it has its name, so free means dead."""
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
    """Remove what a killed wrapper was about to rename into place, but no copy of a user's file."""
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
    """Make files durable and read-only; gives their hashes.

    Side by side: the disk takes many syncs at once in about the time of one.
    """
    if len(paths) < _FEW:
        return [_sync(path) for path in paths]
    from concurrent.futures import ThreadPoolExecutor  # which loads `logging`

    with ThreadPoolExecutor(8) as threads:
        return list(threads.map(_sync, paths))


def _sync(path: str) -> str:
    """Make a file durable and read-only; gives its SHA-256."""
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
    """Every file of a capsule that is not a folder, by its path inside; links are not followed."""
    for entry in sorted(os.scandir(os.path.join(folder, below)), key=lambda e: e.name):
        path = f"{below}/{entry.name}" if below else entry.name
        facts = entry.stat(follow_symlinks=False)
        if stat.S_ISDIR(facts.st_mode):
            yield from _walk(folder, path)
        else:
            yield path, facts


def faults(folder: str, root: str | None, joined: Mapping[str, Any]) -> Iterator[CapsuleFault]:
    """Compare a sealed capsule with its event: which files were changed, added, lost or are no files."""
    if not os.path.isdir(folder):
        yield CapsuleFault("", "the capsule of this run is missing")
        return
    actual: dict[str, str] = {}
    for path, facts in _walk(folder):
        if not stat.S_ISREG(facts.st_mode):
            yield CapsuleFault(path, "a capsule holds regular files only, and this is a link or a device")
        elif facts.st_nlink != 1:
            yield CapsuleFault(path, "it has a second name outside the capsule and could be changed there")
        elif path not in _UNSEALED:
            actual[path] = _hash(os.path.join(folder, *path.split("/")))
    yield from _against_manifest(folder, root, actual)
    yield from _meta_faults(folder, joined)


def harmed(folder: str, names: Sequence[str]) -> list[str]:
    """Which of these files of a sealed capsule are not as they were sealed: changed, lost or added."""
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
            return  # every other file is as it was
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
    """meta.json must say what the event says, in exactly the bytes we write.

    A field the event knows and the file does not must be null, so that one added later breaks no old run.
    """
    try:
        data = fsio.read(os.path.join(folder, META), limit=MAX_JSON)
        found = json.loads(data)
    except (OSError, ValueError, HoldfastError):
        yield CapsuleFault(META, "it is missing or damaged")
        return
    # The body may be erased or lost since; when the run was sealed it was here.
    state = "locked" if isinstance(found, dict) and found.get("body_state") == "locked" else "here"
    event = {**json.loads(json.dumps(dict(joined))), "body_state": state}
    same = isinstance(found, dict) and event == {**dict.fromkeys(event), **found}
    if not same or to_json(found) != data:
        yield CapsuleFault(META, "it does not equal the run's event")
