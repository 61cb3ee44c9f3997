"""The part of history in which a lost commit may be found again: what is reachable, and what else was lost.

Everything is read when first asked for and bounded: on a large repository a commit that was
rewritten long ago may stay unfound, but no question takes for ever.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from holdfast.errors import GitFailed
from holdfast.git.repo import Repo
from holdfast.git.rewritten import headers, matching, patches
from holdfast.git.rewritten.headers import LIVING, Commit
from holdfast.git.rewritten.kept import Anchor
from holdfast.git.rewritten.patches import Patch

MAX_COMMITS = 20_000  # reachable ones looked at by what they say of themselves
MAX_LOST = 2_000
MAX_PATCHES = 2_000  # of these looked at by what they change
_DAY = 86_400  # clocks differ


def adrift(repo: Repo, oids: Collection[str]) -> tuple[set[str], set[str]]:
    """Which of these commits are here, and which of those no branch, tag or work tree reaches."""
    asked = "".join(f"{oid}\n" for oid in oids).encode("ascii")
    if not asked:
        return set(), set()
    known = repo.run("--no-replace-objects", "cat-file", "--batch-check", stdin=asked).decode("ascii", "replace")
    here = {row.split(" ")[0] for row in known.splitlines() if " commit " in row}
    if not here:
        return set(), set()
    given = "".join(f"{oid}\n" for oid in here).encode("ascii")
    # Twice --not: some gits apply the first to what is read from standard input, some do not.
    options = ("--not", *LIVING, "--not", "--stdin")
    out = repo.run("--no-replace-objects", "rev-list", *options, stdin=given)
    return here, here & set(out.decode("ascii").split())


class Window:
    """What happened since the oldest of some lost commits was made."""

    def __init__(self, repo: Repo, anchors: Mapping[str, Anchor], *, here: Collection[str]) -> None:
        self._repo = repo
        self._anchors = anchors
        since = min((min(a.authored, a.committed) for a in anchors.values()), default=0) - _DAY
        self.reachable = headers.listed(repo, f"--max-age={max(0, since)}", *LIVING, limit=MAX_COMMITS)
        self.cut = len(self.reachable) == MAX_COMMITS
        named = sorted(here)
        options = ("--not", *LIVING, "--not", "--reflog", "--stdin")
        self.lost = headers.listed(repo, *options, names=named, limit=MAX_LOST)
        head = repo.head().oid
        self.near = self._past([head]) if head else frozenset[str]()
        self.patches = self._read(anchors.values())
        self._lost_patches: dict[str, Patch] | None = None

    def _past(self, start: Iterable[str]) -> frozenset[str]:
        """Some commits and everything before them, as far as the window reaches."""
        seen: set[str] = set()
        waiting = list(start)
        while waiting:
            oid = waiting.pop()
            commit = self.reachable.get(oid) or self.lost.get(oid)
            if oid not in seen and commit is not None:
                seen.add(oid)
                waiting.extend(commit.parents)
        return frozenset(seen)

    def _read(self, anchors: Collection[Anchor]) -> dict[str, Patch]:
        """What the commits change that touch a path of a lost one or were made when it was."""
        paths = {path for anchor in anchors for path in anchor.names}
        touching = self._touching(paths) if paths else []
        wanted = list(dict.fromkeys([*self._alike(anchors), *touching]))
        self.cut = self.cut or len(wanted) > MAX_PATCHES
        return patches.read(self._repo, wanted[:MAX_PATCHES])

    def _alike(self, anchors: Collection[Anchor]) -> list[str]:
        """The commits made at the very second of a lost one, the first to be looked at."""
        moments = {anchor.authored for anchor in anchors}
        return [commit.oid for commit in self.reachable.values() if commit.authored in moments]

    def _touching(self, paths: Collection[str]) -> list[str]:
        """The commits of the window that change one of these paths, newest first."""
        if not self.reachable:
            return []
        oldest = min(commit.committed for commit in self.reachable.values())
        options = ("--full-history", "--no-merges", f"--max-age={max(0, oldest)}", *LIVING, "--stdin")
        given = b"--\n" + b"".join(os.fsencode(path) + b"\n" for path in paths if "\n" not in path)
        out = self._repo.run("--no-replace-objects", "--literal-pathspecs", "rev-list", *options, stdin=given)
        return [oid for oid in out.decode("ascii").split() if oid in self.reachable]

    @property
    def lost_patches(self) -> Mapping[str, Patch]:
        """What the lost commits change."""
        if self._lost_patches is None:
            try:
                self._lost_patches = patches.read(self._repo, list(self.lost)[:MAX_PATCHES])
            except GitFailed:  # half thrown away already; what they were is not known, so nothing is guessed
                self._lost_patches, self.cut = {}, True
        return self._lost_patches

    def sight(self, anchor: Anchor, *, own: Collection[str]) -> matching.Sight:
        """What may have become of one commit; `own` are its other names."""
        past = self._past([anchor.commit, *anchor.parents])
        commits = [commit for oid, commit in self.reachable.items() if oid not in past]
        found = {commit.oid: self.patches[commit.oid] for commit in commits if commit.oid in self.patches}
        others = {
            patch.patch_id
            for oid, patch in self.lost_patches.items()
            if oid != anchor.commit and oid not in own and patch.patch_id not in (None, anchor.patch_id)
        }
        known = {other for other in others if other}
        here = anchor.commit in self.lost
        return matching.Sight(anchor, commits, found, self.near, known, here, self.cut)

    def commit(self, oid: str) -> Commit | None:
        """A commit of the window."""
        return self.lost.get(oid) or self.reachable.get(oid)

    def trees(self, oids: Sequence[str]) -> dict[str, str]:
        """The trees of commits inside or just outside the window."""
        unknown = [oid for oid in dict.fromkeys(oids) if self.commit(oid) is None]
        read = headers.exactly(self._repo, sorted(adrift(self._repo, unknown)[0]))
        known = {oid: commit for oid in oids if (commit := self.commit(oid)) is not None}
        return {oid: commit.tree for oid, commit in (known | read).items()}
