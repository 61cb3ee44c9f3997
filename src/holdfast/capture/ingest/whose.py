"""Whose a session is: whether it was about this repository, and what its paths are called here.

An agent says where it stood: a folder, a remote's address, a commit. Folders come and go (a repository is
moved, a work tree removed), so any of the three is enough.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import replace

from holdfast.capture.agents.reading import Dialect, Reading
from holdfast.git.clone import Clone
from holdfast.model.evidence import is_oid
from holdfast.model.transcript import Origin

_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^@/\s]*@)?([^:/\s]+)(?::\d+)?/(.+)", re.IGNORECASE)


def address(url: str) -> str:
    """A remote's address as it can be compared: without how it is reached, and by whom."""
    url = url.strip().rstrip("/")
    found = _URL.fullmatch(url) or _SCP.fullmatch(url)
    if found is None:
        path = url.removeprefix("file://")
        return os.path.realpath(path).removesuffix(".git") if path.startswith("/") else path
    return f"{found[1].lower()}/{found[2].strip('/').removesuffix('.git').lower()}"


class Repository:
    """What this repository is known by, looked up once."""

    def __init__(self, clone: Clone) -> None:
        self._repo = clone.repo
        self.trees = dict(_trees(clone))  # the folder of each work tree: its git folder
        self._hashes = {_sha256(top): top for top in (*self.trees, clone.repo.top)}
        self._remotes: set[str] | None = None
        self._commits: dict[str, bool] = {}

    def read(self, dialect: Dialect, path: str) -> Reading:
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

    def owns(self, origin: Origin) -> bool:
        """Whether a session was about this repository."""
        if origin.cwd and self._holds(origin.cwd):
            return True
        if origin.remote and address(origin.remote) in self._addresses():
            return True
        return self.has(origin.commit)

    def _holds(self, cwd: str) -> bool:
        place = os.path.realpath(cwd)
        top = next((top for top in self.trees if _below(top, place)), None)
        while top is not None and place != top:
            if os.path.isdir(os.path.join(place, ".git")):
                return False  # a repository of its own that lies in ours; a submodule has a file there
            place = os.path.dirname(place)
        return top is not None

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
        """The git folder of the work tree that a folder lies in, if it is there."""
        if not cwd:
            return None
        place = os.path.realpath(cwd)
        return next((git_dir for top, git_dir in self.trees.items() if git_dir and _below(top, place)), None)

    def top_for(self, origin: Origin) -> str | None:
        """The folder from which this session's paths are seen: a work tree, or where one was."""
        if not origin.cwd:
            return None
        place = os.path.realpath(origin.cwd)
        found = next((top for top in self.trees if _below(top, place)), None)
        return found or self._where_it_was(place, origin)

    def _where_it_was(self, place: str, origin: Origin) -> str | None:
        """A repository that was moved kept its name, most likely; else the session began at its top."""
        if not self.owns(origin):
            return None
        names = {os.path.basename(top) for top in self.trees} | {
            one.rpartition("/")[2] for one in self._addresses()
        }
        at = place
        while at != os.path.dirname(at):
            if os.path.basename(at).lower() in {name.lower() for name in names}:
                return at
            at = os.path.dirname(at)
        return place


def belongs(clone: Clone, origin: Origin) -> bool:
    """Whether a session is about this repository: by its folder, its remote, or its commit."""
    return Repository(clone).owns(origin)


def relative(path: str, top: str | None, cwd: str | None) -> str | None:
    """A path as git spells it, seen from the top; None for what lies outside."""
    if not top or not path or "\0" in path:
        return None
    full = os.path.normpath(path if os.path.isabs(path) else os.path.join(cwd or top, path))
    if not _below(top, full):
        full = os.path.realpath(full)
    if not _below(top, full) or full == top:
        return None
    return full[len(top.rstrip("/")) + 1 :]


def _sha256(path: str) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()


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
        try:
            with open(os.path.join(git_dir, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
                top = os.path.dirname(file.read().strip())
        except OSError:
            continue
        if top:
            found.setdefault(os.path.realpath(top), git_dir)
    return sorted(found.items(), key=lambda pair: -len(pair[0]))
