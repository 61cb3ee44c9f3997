"""Reads tracked files: their blobs, their text here and in git, and the new name of a renamed path.

The versions that count are the work tree's, the index's and HEAD's, in this order. The work tree is read without
following links; it may lack the file (a sparse checkout, an uncommitted deletion). A path that a text mentions counts
only if git has it: such paths define where a memory applies, so a word that only looks like a path must not count.
"""

import contextlib
import os
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from holdfast.errors import GitFailed, TooLarge, UnsafePath
from holdfast.git.git_memo import listed_rows
from holdfast.git.repo import Repo
from holdfast.model.evidence import is_tracked_path
from holdfast.model.spans.file_version import MAX_BYTES, FileVersion
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.values import frozen

_AT_ONCE = 200  # names on a git command line, well below the limit of any system
_ALL = 5 * _AT_ONCE  # for more names than this, listing the whole tree once costs less than five processes
OFFLINE = {"GIT_NO_LAZY_FETCH": "1"}  # for commands that would fetch what a partial clone lacks
_HOPS = 8  # renames of one path followed in a row; a guess: files are rarely renamed twice
_COMMITS = 20_000  # of history in which renames are searched; a guess that keeps the search to about a second


@frozen
class Tracked:
    """The blobs of one path in git; the index holds what the next commit will have."""

    index: str | None = None
    head: str | None = None

    @property
    def blobs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(blob for blob in (self.index, self.head) if blob is not None))

    @property
    def blob(self) -> str | None:
        return self.index or self.head


def tracked(repo: Repo, paths: Iterable[str]) -> dict[str, Tracked]:
    """Returns the blobs of each of these paths; leaves out paths that git does not track."""
    valid = [path for path in dict.fromkeys(paths) if is_tracked_path(path)]
    found: dict[str, Tracked] = {}
    for some in [valid[at : at + _AT_ONCE] for at in range(0, len(valid), _AT_ONCE)]:
        wanted = set(valid if len(valid) > _ALL else some)
        named = () if len(valid) > _ALL else some
        index = {path: blob for path, blob in _index_rows(_listed(repo, named)) if path in wanted}
        shape = ("--literal-pathspecs", "ls-tree", "-r", "-z", "--full-tree", "HEAD", "--")
        rows = listed_rows(repo.run(*shape, *named, ok=(0, 1, 128)))
        head = {path: blob for path, (_, kind, blob) in rows if kind == "blob" and path in wanted}
        found |= {path: Tracked(index.get(path), head.get(path)) for path in {**index, **head}}
        if not named:
            break
    return found


def spelled(repo: Repo, path: str) -> str:
    """Returns a path as git spells it, if it is tracked in another Unicode form; else unchanged."""
    if path.isascii() or tracked(repo, [path]):
        return path
    wanted = unicodedata.normalize("NFC", path)
    names = (name for name, _ in _index_rows(_listed(repo, ())))
    return next((name for name in names if unicodedata.normalize("NFC", name) == wanted), path)


def held_in_index(repo: Repo, paths: Iterable[str]) -> set[str]:
    """Returns the paths among these that git's index has: a file, or a folder with one."""
    valid = [path for path in dict.fromkeys(paths) if is_tracked_path(path)]
    found: set[str] = set()
    for at in range(0, 1 if len(valid) > _ALL else len(valid), _AT_ONCE):
        rows = _index_rows(_listed(repo, () if len(valid) > _ALL else valid[at : at + _AT_ONCE]))
        found |= {place for path, _ in rows for place in _with_folders(path)}
    return found.intersection(valid)


def _with_folders(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _listed(repo: Repo, paths: Sequence[str]) -> bytes:
    """Returns the index's rows for some paths, without those in a submodule, for which git fails."""
    command = ("--literal-pathspecs", "ls-files", "-s", "-z", "--")
    with contextlib.suppress(GitFailed):
        return repo.run(*command, *paths)
    inner = submodules(repo)
    outside = [path for path in paths if submodule_of(path, inner) is None]
    return repo.run(*command, *outside) if outside else b""


def submodules(repo: Repo) -> set[str]:
    rows = repo.run("ls-files", "-s", "-z").split(b"\0")
    return {os.fsdecode(row.partition(b"\t")[2]) for row in rows if row.startswith(b"160000 ")}


def submodule_of(path: str, names: Collection[str]) -> str | None:
    """Returns the submodule that contains a path, or None."""
    return next((name for name in names if path.startswith(f"{name}/")), None)


def _index_rows(rows: bytes) -> Iterator[tuple[str, str]]:
    """Yields path and blob of each file; leaves out unmerged entries and submodules."""
    found = listed_rows(rows)
    return ((name, blob) for name, (mode, blob, stage) in found if stage == "0" and mode != "160000")


LINK, SUBMODULE = "120000", "160000"  # modes of index entries that are no plain files


@frozen
class IndexEntry:
    """A tracked file, or a folder with tracked files below it."""

    path: str
    mode: str = ""  # as git's index has it; empty for a folder
    blob: str = ""
    files: int = 0  # how many a folder has

    @property
    def is_folder(self) -> bool:
        return not self.mode


def look_up(repo: Repo, path: str) -> tuple[IndexEntry | None, list[IndexEntry]]:
    """Returns what git's index has at a path, and what a folder there has: folders first, then files.

    Only names are compared, so no path leads out of the repository. The empty path is the top.
    """
    wanted, inside = os.fsencode(path), os.fsencode(f"{path}/" if path else "")
    folders: Counter[bytes] = Counter()
    files: dict[bytes, IndexEntry] = {}
    for row in repo.run("ls-files", "-s", "-z").split(b"\0")[:-1]:
        head, _, name = row.partition(b"\t")
        if name == wanted:
            return _index_entry(name, head), []
        if name.startswith(inside):
            part, slash, _ = name[len(inside) :].partition(b"/")
            if slash:
                folders[inside + part] += 1
            else:
                files.setdefault(name, _index_entry(name, head))  # an unmerged one has several rows
    rows = [IndexEntry(os.fsdecode(name), files=number) for name, number in sorted(folders.items())]
    rows += [files[name] for name in sorted(files)]
    return (IndexEntry(path, files=sum(folders.values()) + len(files)) if rows or not path else None), rows


def _index_entry(name: bytes, head: bytes) -> IndexEntry:
    mode, blob, _ = head.decode("ascii").split(" ")
    return IndexEntry(os.fsdecode(name), mode, blob)


def those_tracked(repo: Repo, paths: Iterable[str]) -> set[str]:
    """Returns those of these names that are tracked files, without another git process."""
    wanted = {os.fsencode(path): path for path in paths if "\0" not in path}
    rows = repo.run("ls-files", "-s", "-z").split(b"\0") if wanted else ()
    return {wanted[name] for name in (row.partition(b"\t")[2] for row in rows) if name in wanted}


@frozen
class TrackedPlace:
    """Where a cited path is now, with its blobs."""

    path: str
    held: Tracked


def places(repo: Repo, paths: Iterable[str]) -> dict[str, TrackedPlace]:
    """Returns where each path is now, following renames; leaves out deleted ones."""
    at = {path: path for path in dict.fromkeys(paths)}
    found: dict[str, TrackedPlace] = {}
    for _ in range(_HOPS):
        held = tracked(repo, at.values())
        lost = {p: now for p, now in at.items() if now not in held or held[now].index is None}
        found |= {p: _place(now, held[now], found.get(p)) for p, now in at.items() if now in held}
        if not lost:
            break
        names = _renames(repo, lost.values(), held)
        at = {path: names[now] for path, now in lost.items() if names.get(now, now) != now}
        if not at:
            break
    return found


def _place(path: str, held: Tracked, before: TrackedPlace | None) -> TrackedPlace:
    """Returns a place; after an uncommitted rename, HEAD has the file under its former name."""
    head = held.head or (before.held.head if before else None)
    return TrackedPlace(path, Tracked(held.index, head))


def _renames(repo: Repo, paths: Iterable[str], held: Mapping[str, Tracked]) -> dict[str, str]:
    """Returns the new name of each renamed path: from the index if HEAD still has it, else from the deleting commit."""
    if repo.head().oid is None:
        return {}
    wanted = list(dict.fromkeys(paths))
    names: dict[str, str] = {}
    if any(path in held for path in wanted):
        how = ("--cached", "-M", "--raw", "-z", "--no-abbrev", "--diff-filter=R")
        rows = repo.attempt("diff", *how, "HEAD", environ=OFFLINE)
        names = _renamed(rows.stdout)
    committed = [path for path in wanted if path not in held and is_tracked_path(path)]
    return {**_committed(repo, committed), **names} if committed else names


def _committed(repo: Repo, paths: Sequence[str]) -> dict[str, str]:
    """Returns the renames in the commits that deleted these paths, in the newest commits of history."""
    oldest = repo.text("rev-list", f"--skip={_COMMITS}", "-n", "1", "HEAD", ok=(0, 128))
    since = (f"^{oldest}",) if oldest else ()
    shape = ("-m", "--no-renames", "--diff-filter=D", "--raw", "-z", "--format=%x01%H")
    names: dict[str, str] = {}
    for some in (paths[at : at + _AT_ONCE] for at in range(0, min(len(paths), _ALL), _AT_ONCE)):
        done = repo.attempt("--literal-pathspecs", "log", *shape, "HEAD", *since, "--", *some)
        words = done.stdout.split(b"\0")
        commits = dict.fromkeys(word.lstrip(b"\n")[1:] for word in words if word.lstrip(b"\n")[:1] == b"\x01")
        names_of_commits = b"".join(commit + b"\n" for commit in commits)
        if names_of_commits:
            how = ("--stdin", "-r", "-m", "-M", "-z", "--no-abbrev", "--no-commit-id", "--diff-filter=R")
            wanted = set(some)
            found = _renamed(repo.attempt("diff-tree", *how, stdin=names_of_commits, environ=OFFLINE).stdout)
            names |= {old: new for old, new in found.items() if old in wanted}
    return names


def _renamed(rows: bytes) -> dict[str, str]:
    """Returns old name to new name in a raw diff; of several, the first, which is the newest."""
    found: dict[str, str] = {}
    words = iter(rows.split(b"\0"))
    for word in words:
        if word.startswith(b":"):
            old, new = os.fsdecode(next(words, b"")), os.fsdecode(next(words, b""))
            found.setdefault(old, new)
    return found


def here(repo: Repo, path: str) -> bytes | None:
    """Returns a file's bytes in the work tree; None if it is missing, too large, or not a plain file."""
    try:
        return fsio.read(fsio.inside(repo.top, path), limit=MAX_BYTES)
    except (OSError, UnsafePath, TooLarge):
        return None


def stored(repo: Repo, blobs: Iterable[str]) -> dict[str, bytes]:
    """Returns the bytes of blobs that are here and not too large; never fetches."""
    wanted = list(dict.fromkeys(blobs))
    if not wanted:
        return {}
    names = "".join(f"{blob}\n" for blob in wanted).encode("ascii")
    # In a partial clone without access to its remote, an older git fails on the first blob it lacks.
    done = repo.attempt("cat-file", "--batch-check", stdin=names, environ=OFFLINE)
    facts = [row.split(" ") for row in done.stdout.decode("ascii", "replace").splitlines()]
    fit = [row[0] for row in facts if len(row) == 3 and row[1] == "blob" and int(row[2]) <= MAX_BYTES]
    return repo.blobs(fit)


def texts(repo: Repo, place: TrackedPlace) -> Iterator[FileVersion]:
    """Yields the versions of a file that count: the work tree's, the index's, HEAD's."""
    data = here(repo, place.path)
    if data is not None:
        yield FileVersion(place.path, data)
    kept = stored(repo, others(repo, place, data))
    yield from (FileVersion(place.path, text) for text in kept.values())


def others(repo: Repo, place: TrackedPlace, data: bytes | None) -> list[str]:
    """Returns the blobs of the index and of HEAD that differ from the work tree."""
    known = "" if data is None else repo.hash_blob(data)
    return [blob for blob in place.held.blobs if blob != known]


MOST_MENTIONED = 8  # of one text; a guess: a text that names more paths is a list, not about each of them
_WORD = regex(r"(?<![\w./@+~-])(?:\./)?([\w.@+-]+(?:/[\w.@+-]+)*/?)")


def paths_spelled(text: str) -> list[str]:
    """Returns the words of a text that may be paths, in order: those with a dot or a slash."""
    words = (word.rstrip(".-+@") for word in _WORD.findall(text))
    return list(dict.fromkeys(word.rstrip("/") for word in words if "/" in word or "." in word))


def paths_mentioned(repo: Repo, texts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Returns the tracked files and folders that each text mentions; asks git once for all."""
    words = {text: paths_spelled(text) for text in texts}
    known = held_in_index(repo, (word for found in words.values() for word in found))
    return {text: tuple(word for word in found if word in known)[:MOST_MENTIONED] for text, found in words.items()}
