"""Whether a session was about this repository, and what its paths are called here.

An agent names where it stood: a folder, a remote's address, a commit. Folders come and go (a repository is moved, a
work tree removed), so any of the three is enough; a hook only shows where a session passed by. Where in our history
it stood is known from a work tree of ours alone (`tree_of`): another clone has logs of its own.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable

from holdfast.capture.agents import transcript_reader
from holdfast.git.clone import Clone
from holdfast.model.evidence import is_oid
from holdfast.model.transcript import TranscriptOrigin
from holdfast.patterns import regex
from holdfast.store import discovery
from holdfast.values import replace

_SCP = regex(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
_URL = regex(r"[a-z][a-z0-9+.-]*://(?:[^@/\s]*@)?([^:/\s]+)(?::\d+)?/(.+)", re.IGNORECASE)

_WORKTREES = ("worktrees", ".worktrees")


def address(url: str) -> str:
    """A remote's address as it can be compared: without how it is reached, and by whom."""
    url = url.strip().rstrip("/")
    found = _URL.fullmatch(url) or _SCP.fullmatch(url)
    if found is None:
        path = url.removeprefix("file://")
        place = _real(path) if path.startswith("/") else None
        return path if place is None else place.removesuffix(".git")
    return f"{found[1].lower()}/{found[2].strip('/').removesuffix('.git').lower()}"


class SessionRepository:
    """What this repository is known by, looked up once."""

    def __init__(self, clone: Clone) -> None:
        self._repo = clone.repo
        self.trees = dict(_trees(clone))  # the folder of each work tree: its git folder
        self._common = os.path.realpath(clone.repo.common_dir)
        self._hashes = {hashlib.sha256(os.fsencode(top)).hexdigest(): top for top in (*self.trees, clone.repo.top)}
        self._remotes: set[str] | None = None
        self._commits: dict[str, bool] = {}

    def read(self, dialect: transcript_reader.Dialect, path: str) -> transcript_reader.TranscriptReading:
        """A transcript from its beginning, with its folder where only a hash told that it is one of ours.

        Of a thread that we exported, only what the tool went on with.
        """
        found = dialect.read(path, 0, None)
        if found.origin.own_from:
            return dialect.read(path, found.origin.own_from, found.origin)
        if found.origin.cwd_sha256 is None:
            return found
        # The hash says nothing more, and to a scanner it looks like a secret.
        top = self._hashes.get(found.origin.cwd_sha256)
        origin = replace(found.origin, cwd=found.origin.cwd or top, cwd_sha256=None)
        return dialect.read(path, 0, origin) if top else replace(found, origin=origin)

    def owns(self, origin: TranscriptOrigin) -> bool:
        """Whether a session was about this repository."""
        # A repository of its own that lies in ours is another; a submodule keeps its git folder in ours.
        if found := self._located(origin.cwd):
            inner = _repository_in(*found)
            if inner is None or _below(self._common, inner):
                return True
        if origin.remote and address(origin.remote) in self._addresses():
            return True
        return self.has(origin.commit)

    def _located(self, cwd: str | None) -> tuple[str, str] | None:
        """The innermost work tree around a folder, and where the folder is; None outside of all."""
        place = _real(cwd) if cwd else None
        return next(((top, place) for top in self.trees if place and _below(top, place)), None)

    def _addresses(self) -> set[str]:
        if self._remotes is None:
            out = self._repo.run("config", "--null", "--get-regexp", r"^remote\..*\.url$", ok=(0, 1))
            rows = (os.fsdecode(row).partition("\n")[2] for row in out.split(b"\0") if row)
            self._remotes = {address(url) for url in rows}
        return self._remotes

    def has(self, commit: str | None) -> bool:
        """Whether this repository holds a commit."""
        if not commit or not is_oid(commit):
            return False
        if commit not in self._commits:
            self.look_for([commit])
        return self._commits[commit]

    def look_for(self, commits: Iterable[str | None]) -> None:
        """Ask git about many commits at once."""
        new = sorted({oid for oid in commits if oid and is_oid(oid) and oid not in self._commits})
        if not new:
            return
        asked = "\n".join(new).encode("ascii") + b"\n"
        rows = self._repo.run("cat-file", "--batch-check=%(objecttype)", stdin=asked).split(b"\n")
        self._commits |= {oid: row == b"commit" for oid, row in zip(new, rows, strict=False)}

    def full(self, names: Iterable[str]) -> dict[str, str]:
        """Short commit ids to the full ones, as far as they name one commit here."""
        wanted = list(dict.fromkeys(names))
        if not wanted:
            return {}
        asked = "\n".join(f"{name}^{{commit}}" for name in wanted).encode("ascii", "replace") + b"\n"
        rows = self._repo.run("cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=asked)
        pairs = zip(wanted, rows.decode("ascii", "replace").split("\n"), strict=False)
        return {name: row.split(" ")[0] for name, row in pairs if row.endswith(" commit")}

    def tree_of(self, cwd: str | None) -> str | None:
        """The git folder of the work tree that a folder lies in; None in a repository within it, too."""
        found = self._located(cwd)
        return self.trees[found[0]] if found and not _repository_in(*found) and not _removed_tree(*found) else None

    def folder_in(self, cwd: str | None) -> str | None:
        """How git spells a folder of a work tree that is not there any more; None if it is, or is its top."""
        top, place = self._located(cwd) or ("", "")
        return os.path.relpath(place, top) if place != top and not os.path.isdir(place) else None

    def is_removed_tree(self, cwd: str | None) -> bool:
        """Whether a folder lay in a work tree within ours that was taken away."""
        found = self._located(cwd)
        return found is not None and _removed_tree(*found) is not None

    def top_for(self, origin: TranscriptOrigin) -> str | None:
        """The folder from which this session's paths are seen: a work tree, or where one was."""
        if found := self._located(origin.cwd):
            return _removed_tree(*found) or found[0]
        place = _real(origin.cwd) if origin.cwd else None
        return self._where_it_was(place, origin) if place else None

    def _where_it_was(self, place: str, origin: TranscriptOrigin) -> str | None:
        """A repository that was moved kept its name, most likely; else the session began at its top."""
        if not self.owns(origin):
            return None
        names = {one.rpartition("/")[2].lower() for one in (*self.trees, *self._addresses())}
        at = place
        while at != os.path.dirname(at) and os.path.basename(at).lower() not in names:
            at = os.path.dirname(at)
        return at if at != os.path.dirname(at) else place


def relative(path: str, top: str | None, cwd: str | None) -> str | None:
    """A path as git spells it, seen from the top; None for what lies outside."""
    if not top or not path or "\0" in path:
        return None
    full = os.path.normpath(path if os.path.isabs(path) else os.path.join(cwd or top, path))
    if not _below(top, full):
        full = _real(full) or full
    if not _below(top, full) or full == top:
        return None
    return full[len(top.rstrip("/")) + 1 :]


def _real(path: str) -> str | None:
    """Where a path leads; None for what cannot be one: whoever wrote it may have written anything."""
    try:
        return os.path.realpath(path)
    except (ValueError, OSError):
        return None


def _repository_in(top: str, place: str) -> str | None:
    """The git folder of the innermost repository or work tree around a place, within the one at `top`."""
    while place != top:
        git = os.path.join(place, ".git")
        if os.path.isdir(git):
            return os.path.realpath(git)
        if os.path.isfile(git):
            found = discovery.pointed_to(os.fsencode(git))
            return (_real(os.fsdecode(found)) if found else None) or git
        place = os.path.dirname(place)
    return None


def _removed_tree(top: str, place: str) -> str | None:
    """The top of the removed work tree that a folder lay in; tools put them below a folder of this name."""
    parts = place[len(top) :].strip("/").split("/")
    at = next((n for n, name in enumerate(parts[:-1], 1) if name in _WORKTREES), None)
    tree = os.path.join(top, *parts[: at + 1]) if at else None
    return tree if tree and not os.path.lexists(tree) else None


def _below(top: str, path: str) -> bool:
    return path == top or path.startswith(top.rstrip("/") + "/")


def _trees(clone: Clone) -> list[tuple[str, str]]:
    """Every work tree of this clone, the innermost first; one that is gone has no git folder any more."""
    repo = clone.repo
    found = {os.path.realpath(repo.top): repo.git_dir}
    for git_dir in repo.worktrees():
        if git_dir == repo.common_dir:
            if os.path.basename(git_dir) == ".git":
                found.setdefault(os.path.realpath(os.path.dirname(git_dir)), git_dir)
            continue
        place = os.path.join(git_dir, "gitdir")
        with contextlib.suppress(OSError), open(place, encoding="utf-8", errors="surrogateescape") as file:
            if top := os.path.dirname(file.read().strip()):
                found.setdefault(os.path.realpath(top), git_dir)
    return sorted(found.items(), key=lambda pair: -len(pair[0]))


def only_this_repository(
    tool: transcript_reader.Dialect, repository: SessionRepository, top: str, *, gone: bool = False
) -> transcript_reader.Dialect:
    """A dialect that gives a session of this repository, and of another's session the turns made here.

    A session that says nothing of where it stood is taken at the hook's word; so is one whose work tree is
    `gone`, for turns made in a folder that is not there any more: nothing else can tell that it was ours.
    """

    def read(path: str, start: int, origin: TranscriptOrigin | None) -> transcript_reader.TranscriptReading:
        found = tool.read(path, start, origin)
        # A reading that goes on was given what we made of the session; what it says itself counts.
        said = found.origin if origin is None else tool.read(path, 0, None).origin
        if not (said.cwd or said.remote or said.commit) or repository.owns(said):
            return found
        here = replace(found.origin, cwd=top, remote=None, commit=None)

        def is_ours(cwd: str | None) -> bool:
            return bool(cwd) and (repository.owns(replace(here, cwd=cwd)) or (gone and not os.path.isdir(cwd or "")))

        turns = (one for one in found if is_ours(one.cwd or said.cwd))
        return transcript_reader.TranscriptReading(here, turns, found.counted)

    return replace(tool, read=read)
