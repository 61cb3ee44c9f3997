"""What is stored, looked over with the rules of today: which file would be redacted now, and by which rule.

Rules grow, and a hand edit or a merge brings text that no scanner of ours ever saw. Nothing is changed
here and no secret is shown: a finding names a file, what it belongs to, and how often each rule met.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.errors import BadInput, BrokenEntry, CorruptLog, ScanFailed, TooLarge, UnsafePath
from holdfast.git.clone import Clone
from holdfast.patterns import regex
from holdfast.security.redact import Scanner
from holdfast.store import layout as paths
from holdfast.store.format import SALT_BYTES
from holdfast.values import frozen

_PIECE = 1 << 16  # bytes; a guess: few reads, little memory
_ID = regex(r"-([A-Z]{2,5}-[0-9a-zA-Z]+)\.[a-z]+\Z|\A([A-Z]{2,5}-[0-9a-zA-Z]+)\.[a-z]+\Z")
_OURS = frozenset({"hook.py", "lock", "repo-id"})  # files without a word of anybody's
_NAMED = {"candidates": "candidate", "runs": "run", "sessions": "session", "tasks": "task", "links": "link"}


@frozen
class SecretFinding:
    """One file in which today's rules meet something."""

    file: str  # relative to the work tree or, in the private store, as git spells it
    kind: str  # run, body, session, candidate, memory, task, link, view …, or file for a path that was named
    id: str | None  # what `erase` takes
    rules: Mapping[str, int]


@frozen
class SecretScan:
    """What a look over the stored text gave."""

    files: int
    size: int
    findings: tuple[SecretFinding, ...]
    unread: tuple[str, ...]  # files that could not be looked at, each with why

    @property
    def clean(self) -> bool:
        """Whether everything was read and nothing was met."""
        return not self.findings and not self.unread


@frozen
class _Stored:
    """A file to look at."""

    path: str
    shown: str
    kind: str
    id: str | None = None
    skip: int = 0  # bytes at its beginning that are nobody's text


def scan(clone: Clone, named: Sequence[str] = ()) -> SecretScan:
    """Look over everything this clone stores, or over the named files and folders."""
    files = _below(named) if named else _stored(clone)
    findings: list[SecretFinding] = []
    unread: list[str] = []
    count = size = 0
    for file in files:
        try:
            rules, length = _look(clone.intake, file)
        except (OSError, ScanFailed) as problem:
            unread.append(f"{file.shown}: {problem.strerror if isinstance(problem, OSError) else problem}")
            continue
        count, size = count + 1, size + length
        if rules:
            findings.append(SecretFinding(file.shown, file.kind, file.id, rules))
    return SecretScan(count, size, tuple(findings), tuple(unread))


def _look(scanner: Scanner, file: _Stored) -> tuple[dict[str, int], int]:
    """What today's rules would hide in a file, piece by piece: no file is too large."""
    stream, size = scanner.stream(), 0
    fd = os.open(file.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    with open(fd, "rb") as opened:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ScanFailed("it is no regular file")
        opened.seek(file.skip)
        while piece := opened.read(_PIECE):
            stream.feed(piece)
            size += len(piece)
    stream.finish()
    return dict(stream.hidden), size


def _stored(clone: Clone) -> Iterator[_Stored]:
    """Every file of the private store, then every one below `.holdfast` in the work tree."""
    try:  # which event each body belongs to: that is what `erase` takes; a damaged log names none
        events = {event.body: event.hash_self for event in clone.all_events() if event.body}
    except (CorruptLog, BrokenEntry, UnsafePath, TooLarge, OSError):
        events = {}
    for store in clone.stores:
        yield from _private(store, clone.layout.top, events)
    top, local = clone.layout.in_tree(paths.TRACKED), clone.layout.in_tree(paths.LOCAL)
    for path in _files(top, skip=local):
        parts = os.path.relpath(path, top).split(os.sep)
        shown = os.path.relpath(path, clone.layout.top).replace(os.sep, "/")
        yield _Stored(path, shown, _NAMED.get(parts[0], parts[0]), _id_of(parts, path))


def _private(store: paths.Layout, top: str, events: Mapping[str, str]) -> Iterator[_Stored]:
    for path in _files(store.private):
        parts = os.path.relpath(path, store.private).split(os.sep)
        if parts[0] in _OURS or path.endswith(".lock"):
            continue
        shown = os.path.relpath(path, top).replace(os.sep, "/")
        if path.startswith(store.bodies + os.sep):
            yield _Stored(path, shown, "body", events.get(parts[-1]), SALT_BYTES)
        else:
            yield _Stored(path, shown, _NAMED.get(parts[0], parts[0]), _id_of(parts, path))


def _id_of(parts: Sequence[str], path: str) -> str | None:
    """The id that a file's name ends with, the run that its folder is named after, or the id in a session's file."""
    if parts[0] == "runs" and len(parts) > 1:  # a file in it may be called anything
        return parts[1]
    if found := _ID.search(parts[-1]):
        return found[1] or found[2]
    if parts[0] != "sessions":
        return parts[1] if parts[0] in ("receipts", "approvals") and len(parts) > 2 else None
    try:
        with open(path, "rb") as file:
            found = json.loads(file.read(1 << 22))
    except (OSError, ValueError, RecursionError):
        return None
    name = found.get("id") or found.get("session_id") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def _below(named: Iterable[str]) -> Iterator[_Stored]:
    """The named files, and those below named folders."""
    for path in named:
        if not os.path.lexists(path):
            raise BadInput(f"{path} is not there", hint="Name files or folders, or nothing for all that is stored.")
        for file in _files(path) if os.path.isdir(path) else (path,):
            yield _Stored(file, file, "file")


def _files(folder: str, skip: str = "") -> Iterator[str]:
    """The files below a folder, in order; links are not followed."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if os.path.join(here, one) != skip)
        yield from (path for name in sorted(names) if not os.path.islink(path := os.path.join(here, name)))
