"""A bundle: the private store of a clone in one file, as a backup or for another clone.

It is a gzipped tar whose first member lists all others with their hashes. Reading trusts nothing: names must be on a
list, only regular files count, sizes are limited, and every hash is checked before anything is stored. A bundle has no
claims: they name the current workers in the work trees of one clone.
"""

import gzip
import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator
from typing import IO

from holdfast.errors import BadBundle, BadInput, FutureFormat
from holdfast.patterns import regex
from holdfast.store import fsio, pending_changes, trash
from holdfast.store.format import split_lines
from holdfast.store.layout import STATISTICS, Layout
from holdfast.values import frozen

FOLDERS = (
    *("spool", "pending", "sealed", "bodies", "runs", "candidates", "lines", "erased", "quarantine"),
    *("sessions", "anchors", "trash", "kept", "receipts", "drained", "keys"),
)
FILES = ("rewrites", *STATISTICS)
# Limits against bundles that fill the disk or the memory; guesses unless a reason is given.
MAX_FILE = 1 << 30  # bytes, as log.MAX_SPOOL
MAX_TOTAL = 64 << 30  # bytes; a guess: bounds a hostile archive
MAX_RATIO = 1000  # to the size of the bundle; gzip reaches about as much
MAX_MANIFEST = 1 << 28  # bytes; a guess: bounds a hostile archive
MANIFEST_RATIO = 40  # a real list of hashes compresses to about half, so this is generous
MIN_PACKED, FREE_FILES = 16, 10_000  # bytes that a file takes in a bundle: at least half of its hash
MAX_NAME = 255  # bytes of a folder's or a file's name, as file systems have it
_MANIFEST = "holdfast-bundle.json"
_LEFT_BEHIND = (".tmp", ".lock", "/lock", "/open")
_NAME = regex(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[^\0\\/][^\0\\]{0,1000}")


@frozen
class Bundle:
    """The contents of a bundle, or the part that was new here."""

    file: str
    files: int
    size: int
    leaves_agents: bool = False  # whether the clone has a database of agents, which a bundle does not contain


def export(layout: Layout, file: str, *, ts: str) -> Bundle:
    """Writes the private store of this clone to one file; does not overwrite a file."""
    if not file:
        raise BadInput("no file is named", hint="Name the file: holdfast export FILE")
    if os.path.lexists(file):
        raise BadInput(f"{file} already exists", hint="Name a file that does not exist yet.")
    target = os.path.abspath(file)
    # A spool may grow meanwhile, so each file is cut at the size that was hashed.
    found = {name: _digest(os.path.join(layout.private, *name.split("/"))) for name in _names(layout)}
    listed = {name: digest for name, (digest, _) in found.items()}
    manifest = json.dumps({"holdfast": "bundle", "v": 1, "ts": ts, "files": listed}, indent=0).encode("utf-8")
    with fsio.refusing(file), fsio.writing(target) as out:
        _pack(out, layout, manifest, {name: size for name, (_, size) in found.items()})
    return Bundle(file, len(found), os.path.getsize(target), os.path.exists(layout.agent_database))


def _pack(out: IO[bytes], layout: Layout, manifest: bytes, sizes: dict[str, int]) -> None:
    with (
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0, compresslevel=6) as zipped,
        tarfile.open(fileobj=zipped, mode="w") as tar,
    ):
        _add_member(tar, _MANIFEST, len(manifest), io.BytesIO(manifest))
        for name, size in sizes.items():
            with open(os.path.join(layout.private, *name.split("/")), "rb") as source:
                _add_member(tar, name, size, source)


def _add_member(tar: tarfile.TarFile, name: str, size: int, source: IO[bytes]) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = size, 0o600
    tar.addfile(entry, source)


def _digest(path: str) -> tuple[str, int]:
    with open(path, "rb") as source:
        return hashlib.file_digest(source, "sha256").hexdigest(), source.tell()


def _names(layout: Layout) -> Iterator[str]:
    for folder in FOLDERS:
        root = os.path.join(layout.private, folder)
        for inner, folders, files in os.walk(root):
            folders.sort()
            for name in sorted(files):
                path = os.path.relpath(os.path.join(inner, name), layout.private).replace(os.sep, "/")
                if _is_carried(path):
                    yield path
    yield from (name for name in FILES if os.path.isfile(os.path.join(layout.private, name)))


def _is_carried(name: str) -> bool:
    """Whether a file of the store belongs in a bundle: no lock, no claim, and in `sessions` only session files."""
    parts = name.split("/")
    if parts[0] == "sessions" and "-SES-" not in parts[-1]:
        return False
    return not name.endswith(_LEFT_BEHIND) and not (parts[0] == "trash" and "claims" in parts[2:-1])


def bring_back(layout: Layout, file: str, *, erased: set[str]) -> Bundle:
    """Adds the files that this store lacks; changes no others. The caller holds the lock."""
    _prove(file)
    added = size = 0
    for name, data in _read(file):
        size += len(data)
        if erased.isdisjoint(_named_in(name)):
            added += _add(layout, name, data)
    return Bundle(file, added, size)


def log_lines(file: str) -> Iterator[bytes]:
    """Yields the log rows in a bundle."""
    for name, data in _read(file):
        if name.startswith(("spool/", "sealed/log/")):
            yield from split_lines(data)


def _named_in(name: str) -> Iterator[str]:
    """Yields the ids in a file's name: of a run, a candidate or a session."""
    for part in name.split("/"):
        stem = part.removesuffix(".md")
        yield stem
        if "-SES-" in part:
            yield f"SES-{part.removesuffix('.json').rpartition('-SES-')[2]}"


def _prove(file: str) -> None:
    """Reads and checks the whole bundle before anything is stored."""
    listed: dict[str, str] = {}
    for name, data in _read(file, listed=listed):
        if listed.pop(name, None) != hashlib.sha256(data).hexdigest():
            raise BadBundle(f"{file} is damaged: {name} does not match its hash")
        _refuse_forged(file, name, data)
    if listed:
        raise BadBundle(f"{file} is damaged: {min(listed)} is missing")


def _refuse_forged(file: str, name: str, data: bytes) -> None:
    """Refuses a pending change of any other path than entries and the log: publish would commit it."""
    is_change = name.startswith(("pending/", "sealed/changes/")) and name.endswith(".json")
    is_copy = name.startswith("trash/") and name.endswith(f"/{trash.TEXTS}")
    foreign = pending_changes.foreign_path(data) if is_change else trash.foreign_path(data) if is_copy else None
    if foreign is not None:
        how = "change" if is_change else "bring"
        raise BadBundle(f"{file} is refused: {name} would {how} {foreign!r}, which is not a file of the memory")


def _read(file: str, *, listed: dict[str, str] | None = None) -> Iterator[tuple[str, bytes]]:
    """Yields each file of a bundle with its bytes; `listed` receives the bundle's list of files."""
    try:
        packed = os.path.getsize(file)
        with tarfile.open(file, "r:gz") as tar:
            manifest = _manifest(tar, limit=min(MAX_MANIFEST, packed * MANIFEST_RATIO + (1 << 20)))
            if len(manifest) > packed // MIN_PACKED + FREE_FILES:
                raise ValueError("it lists too many files for its size")
            if listed is not None:
                listed.update(manifest)
            yield from _members(tar, limit=min(MAX_TOTAL, packed * MAX_RATIO + (1 << 20)))
    except FileNotFoundError:
        raise BadBundle(f"there is no file {file}", hint="Check the name.") from None
    except (tarfile.TarError, OSError, EOFError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadBundle(f"{file} is not a complete Holdfast bundle: {error}") from error


def _manifest(tar: tarfile.TarFile, *, limit: int) -> dict[str, str]:
    first = tar.next()
    if first is None or first.name != _MANIFEST or first.size > limit:
        raise ValueError("it does not begin with its list of files")
    manifest = json.loads(_content(tar, first))
    if type(manifest["v"]) is int and manifest["v"] > 1:
        raise FutureFormat(f"the bundle has format version {manifest['v']}; this Holdfast reads version 1")
    if manifest["v"] != 1:
        raise ValueError("its version is invalid")
    return dict(manifest["files"])


def _members(tar: tarfile.TarFile, *, limit: int) -> Iterator[tuple[str, bytes]]:
    while (member := tar.next()) is not None:
        if not member.isreg() or not _is_ours(member.name):
            raise ValueError(f"it contains something that is not a file of a store: {member.name!r}")
        limit -= member.size
        if limit < 0 or member.size > MAX_FILE:
            raise ValueError("it unpacks to more than a bundle may")
        yield member.name, _content(tar, member)
    while tar.fileobj.read(1 << 20):
        pass  # to the end, where gzip's own checksum is


def _is_ours(name: str) -> bool:
    folder, *parts = name.split("/")
    if not _NAME.fullmatch(name) or any(len(os.fsencode(part)) > MAX_NAME for part in parts):
        return False
    if folder == "spool" and len(parts) != 2:
        return False
    return name in FILES or (folder in FOLDERS and bool(parts) and all(parts) and _is_carried(name))


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    source = tar.extractfile(member)
    if source is None:
        raise ValueError(f"{member.name} has no content")
    return source.read(MAX_FILE + 1)


def _add(layout: Layout, name: str, data: bytes) -> bool:
    target = os.path.join(layout.private, *name.split("/"))
    if name.startswith("spool/"):
        # Under a new name: a spool of the same name here may have other events. Readers deduplicate by hash.
        stem = target.removesuffix(".jsonl").removesuffix(".closed")
        target = f"{stem}.{hashlib.sha256(data).hexdigest()[:8]}.closed"
    if name == "rewrites" or (name.startswith("anchors/") and name.endswith(".jsonl")):
        return _add_lines(target, data)
    if os.path.lexists(target):
        return False
    fsio.make_dirs(os.path.dirname(target))
    fsio.replace(target, data, mode=0o400 if name.startswith(("sealed/log/", "runs/")) else 0o600)
    return True


def _add_lines(target: str, data: bytes) -> bool:
    """Adds missing rows to a file, before its own rows: of two rows about one thing the last counts."""
    ours = fsio.find(target, limit=MAX_FILE) or b""
    known = set(ours.split(b"\n"))
    new = [line for line in data.split(b"\n") if line and line not in known]
    if new:
        fsio.make_dirs(os.path.dirname(target))
        fsio.replace(target, b"\n".join(new) + b"\n" + ours)
    return bool(new)
