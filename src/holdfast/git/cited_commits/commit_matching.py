"""Decides which commit is a lost one: rules that compare two commits, and the part of history they search.

A wrong answer is worse than none, so every rule requires two kinds of proof: the same content (patch, tree, lines),
and the same author (author and author date survive a rebase, an amend and a cherry-pick) or at least no contrary
evidence. Each rule returns the equally good commits: one is an answer, several are none.

Several commits may have become one (a forge's squash merge, a squash in a rebase): its patch equals the patch over
the whole row of commits. What cancels out within the row leaves no trace in that patch, so such a commit gets no
answer.

History is read on first use and only up to a limit: in a large repository a commit that was rewritten long ago may not
be found, but every search ends.
"""

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from holdfast.errors import GitFailed
from holdfast.git.cited_commits import commit_details
from holdfast.git.cited_commits.anchor_store import CommitAnchor
from holdfast.git.cited_commits.commit_details import LIVING, Commit, Patch, reverse
from holdfast.git.repo import Repo
from holdfast.values import frozen, grouped

_TELLING = 16  # letters and digits of a change; a guess: a change of this size is hardly made twice by chance
_HALF = 0.5  # of a change: at most one part of a split commit can have more

STRANGER, PLAUSIBLE, SAME_MOMENT, SAME_COMMIT = range(4)


@frozen
class MatchScope:
    """The commits that a lost commit may have become: everything reachable except its own past."""

    anchor: CommitAnchor
    commits: Sequence[Commit]
    patches: Mapping[str, Patch]  # of those commits that touch its paths
    near: Collection[str]  # commits that HEAD reaches
    others: Collection[str]  # patch-ids of other lost commits: a commit with one of them is their successor
    here: bool = True  # git still has the lost commit, and so those lost together with it
    cut: bool = False  # history is longer than the limit: the commit itself may be beyond it

    def patch(self, commit: Commit) -> Patch:
        return self.patches.get(commit.oid, _NOTHING)

    def touching(self) -> list[Commit]:
        """Returns the commits that touch the lost commit's paths."""
        return [commit for commit in self.commits if commit.oid in self.patches]


_NOTHING = Patch()

Rule = Callable[[MatchScope], list[str]]


def rank(anchor: CommitAnchor, commit: Commit) -> int:
    """Returns how much a commit resembles the lost one, apart from what it changes."""
    person = _same_person(anchor, commit)
    if person and commit.authored == anchor.authored:
        return SAME_COMMIT if anchor.title == commit.title else STRANGER if commit.takes_back else SAME_MOMENT
    if commit.committed < anchor.committed or not (person or anchor.title in commit.mentions):
        return STRANGER
    return STRANGER if commit.takes_back else PLAUSIBLE


def _same_person(anchor: CommitAnchor, commit: Commit) -> bool:
    who = anchor.author.rpartition(" ")[0]
    name, _, mail = who.rpartition(" <")
    return bool(name and name == commit.name) or bool(mail[:-1] and mail[:-1] == commit.mail)


def nearest(found: Iterable[str], near: Collection[str]) -> list[str]:
    """Returns the only commit that HEAD reaches, else all of them."""
    equal = list(dict.fromkeys(found))
    inside = [oid for oid in equal if oid in near]
    return inside if len(inside) == 1 else equal


def _best(scope: MatchScope, found: Iterable[Commit]) -> list[str]:
    """Returns the commits of the highest rank; mere resemblance does not count if the commit itself exists, changed."""
    ranked = grouped((rank(scope.anchor, commit), commit.oid) for commit in found)
    ranked.pop(STRANGER, None)
    if not ranked:
        return []
    highest = max(ranked)
    if highest < SAME_COMMIT and (scope.cut or _still_exists(scope)):
        return []
    return nearest(ranked[highest], scope.near)


def _still_exists(scope: MatchScope) -> bool:
    lines = set(scope.anchor.lines)
    return any(
        rank(scope.anchor, commit) == SAME_COMMIT and not lines.isdisjoint(scope.patch(commit).lines)
        for commit in scope.touching()
    )


def by_change_id(scope: MatchScope) -> list[str]:
    """Returns the commit with the same change-id and most of the change."""
    wanted = set(scope.anchor.change_ids)
    named = [commit for commit in scope.commits if not wanted.isdisjoint(commit.change_ids)]
    return nearest((commit.oid for commit in named if _goes_on(scope, commit)), scope.near)


def by_patch_id(scope: MatchScope) -> list[str]:
    """Returns the commit that makes the same change."""
    wanted = scope.anchor.patch_id
    if wanted is None:
        return []
    return _best(scope, (commit for commit in scope.touching() if scope.patch(commit).patch_id == wanted))


def by_tree(scope: MatchScope) -> list[str]:
    """Returns the commit with the same tree and parents; a merge or an empty commit, by author and title."""
    return nearest((commit.oid for commit in scope.commits if _same_place(scope, commit)), scope.near)


def _same_place(scope: MatchScope, commit: Commit) -> bool:
    anchor, patch = scope.anchor, scope.patch(commit)
    if len(commit.parents) != len(anchor.parents):
        return False
    if commit.tree == anchor.tree and commit.parents == anchor.parents and anchor.paths:
        return True
    if len(anchor.parents) > 1:
        return rank(anchor, commit) == SAME_COMMIT
    if commit.oid not in scope.patches or patch.names != anchor.names:
        return False
    # Reordered commits end in the same tree, and so does the last part of a split one.
    alike = not anchor.paths or (commit.tree == anchor.tree and share(anchor, patch) == 1.0)
    return alike and rank(anchor, commit) == SAME_COMMIT


def by_overlap(scope: MatchScope) -> list[str]:
    """Returns the commit that has the whole change among others, or the commit itself with a part of it changed."""
    whole = [commit for commit in scope.touching() if _holds_all(scope, commit)]
    if whole:
        return _best(scope, whole)
    itself = [commit for commit in scope.touching() if rank(scope.anchor, commit) == SAME_COMMIT]
    return nearest((commit.oid for commit in itself if _goes_on(scope, commit)), scope.near)


def _holds_all(scope: MatchScope, commit: Commit) -> bool:
    anchor, patch = scope.anchor, scope.patch(commit)
    if patch.patch_id in scope.others and rank(anchor, commit) < SAME_COMMIT:
        return False
    if not anchor.lines:
        return bool(anchor.paths) and set(anchor.paths) <= set(patch.paths)
    telling = anchor.weight >= _TELLING or anchor.title in commit.mentions
    return telling and share(anchor, patch) == 1.0


def _goes_on(scope: MatchScope, commit: Commit) -> bool:
    """Returns whether a commit has most of the change and no other commit has the rest; else it was split."""
    anchor, patch = scope.anchor, scope.patch(commit)
    if not anchor.lines:
        return not anchor.paths or not anchor.names.isdisjoint(patch.names)
    if not rest(anchor, patch):
        return True
    # Half of a split commit whose other half was dropped looks the same as an amended one, unless git
    # still has the halves: then this commit is the successor of its half.
    known = scope.here and patch.patch_id not in scope.others
    return known and share(anchor, patch) > _HALF and not is_part(scope, commit.oid)


def is_part(scope: MatchScope, oid: str) -> bool:
    """Returns whether another commit has lines of the change that this one lacks: then it was split."""
    lacking = rest(scope.anchor, scope.patches.get(oid, _NOTHING))
    return any(not lacking.isdisjoint(other.lines) for name, other in scope.patches.items() if name != oid)


def rest(anchor: CommitAnchor, patch: Patch) -> frozenset[str]:
    """Returns the lines of a change that another one lacks."""
    return frozenset(anchor.lines) - patch.lines


def share(anchor: CommitAnchor, patch: Patch) -> float:
    """Returns how much of a change another one has, from 0 to 1."""
    if not anchor.lines:
        return 1.0 if set(anchor.paths) <= set(patch.paths) else 0.0
    return len(patch.lines.intersection(anchor.lines)) / len(anchor.lines)


RULES: tuple[tuple[str, Rule], ...] = (("change-id", by_change_id), ("patch-id", by_patch_id), ("tree", by_tree))
LAST: tuple[tuple[str, Rule], ...] = (("overlap", by_overlap),)


# Guesses that keep a search to a second or so (docs/adr/0009):
MAX_COMMITS = 20_000  # reachable commits whose headers are read
MAX_LOST = 2_000  # unreachable ones
MAX_PATCHES = 2_000  # commits whose patches are read
_DAY = 86_400  # seconds by which the clocks of two machines may differ; a guess


class HistoryWindow:
    """The history since the oldest of some lost commits."""

    def __init__(self, repo: Repo, anchors: Mapping[str, CommitAnchor], *, here: Collection[str]) -> None:
        self._repo = repo
        self._anchors = anchors
        since = min((min(a.authored, a.committed) for a in anchors.values()), default=0) - _DAY
        self.reachable = commit_details.listed(repo, f"--max-age={max(0, since)}", *LIVING, limit=MAX_COMMITS)
        self.cut = len(self.reachable) == MAX_COMMITS
        named = sorted(here)
        options = ("--not", *LIVING, "--not", "--reflog", "--stdin")
        self.lost = commit_details.listed(repo, *options, names=named, limit=MAX_LOST)
        head = repo.head().oid
        self.near = self._past([head]) if head else frozenset[str]()
        self.patches = self._read(anchors.values())

    def _past(self, start: Iterable[str]) -> frozenset[str]:
        """Returns some commits and all their ancestors in the window."""
        seen: set[str] = set()
        waiting = list(start)
        while waiting:
            oid = waiting.pop()
            commit = self.reachable.get(oid) or self.lost.get(oid)
            if oid not in seen and commit is not None:
                seen.add(oid)
                waiting.extend(commit.parents)
        return frozenset(seen)

    def _read(self, anchors: Collection[CommitAnchor]) -> dict[str, Patch]:
        """Returns the patches of commits that touch a path of a lost one or have its author time."""
        paths = {path for anchor in anchors for path in anchor.names}
        touching = self._touching(paths) if paths else []
        # Commits with the same author time as a lost one come first.
        moments = {anchor.authored for anchor in anchors}
        alike = [commit.oid for commit in self.reachable.values() if commit.authored in moments]
        wanted = list(dict.fromkeys([*alike, *touching]))
        self.cut = self.cut or len(wanted) > MAX_PATCHES
        return commit_details.read_patches(self._repo, wanted[:MAX_PATCHES])

    def _touching(self, paths: Collection[str]) -> list[str]:
        """Returns the commits of the window that change one of these paths, newest first."""
        if not self.reachable:
            return []
        oldest = min(commit.committed for commit in self.reachable.values())
        options = ("--full-history", "--no-merges", f"--max-age={max(0, oldest)}", *LIVING, "--stdin")
        lines = b"--\n" + b"".join(os.fsencode(path) + b"\n" for path in paths if "\n" not in path)
        out = self._repo.run("--no-replace-objects", "--literal-pathspecs", "rev-list", *options, stdin=lines)
        return [oid for oid in out.decode("ascii").split() if oid in self.reachable]

    @cached_property
    def lost_patches(self) -> Mapping[str, Patch]:
        """The patches of the lost commits."""
        try:
            return commit_details.read_patches(self._repo, list(self.lost)[:MAX_PATCHES])
        except GitFailed:  # git has deleted some of their objects, so nothing is guessed
            self.cut = True
            return {}

    def scope_of(self, anchor: CommitAnchor, *, own: Collection[str]) -> MatchScope:
        """Returns the commits that a lost one may have become; `own` are its other ids."""
        past = self._past([anchor.commit, *anchor.parents])
        commits = [commit for oid, commit in self.reachable.items() if oid not in past]
        found = {commit.oid: self.patches[commit.oid] for commit in commits if commit.oid in self.patches}
        lost = {p.patch_id for oid, p in self.lost_patches.items() if oid != anchor.commit and oid not in own}
        others = {identity for identity in lost if identity and identity != anchor.patch_id}
        return MatchScope(anchor, commits, found, self.near, others, anchor.commit in self.lost, self.cut)

    def commit(self, oid: str) -> Commit | None:
        """Returns a commit of the window, or None."""
        return self.lost.get(oid) or self.reachable.get(oid)

    def trees(self, oids: Sequence[str]) -> dict[str, str]:
        """Returns the trees of commits, also of those outside the window."""
        unknown = [oid for oid in dict.fromkeys(oids) if self.commit(oid) is None]
        read = commit_details.exactly(self._repo, sorted(commit_details.adrift(self._repo, unknown)[0]))
        known = {oid: commit for oid in oids if (commit := self.commit(oid)) is not None}
        return {oid: commit.tree for oid, commit in (known | read).items()}


# Guesses: most squashes join fewer commits, and each row costs a patch-id.
_BACK = 16  # commits before the lost one that may have been squashed with it
_TIPS = 32  # ways from it to later commits
_LEAVES = 4  # of these, ends of branches that are compared with the trunk
_MAX_ROWS = 400  # at most 16 * 32 rows are possible; few commits have more than a dozen


@frozen
class CommitRow:
    """A row of commits: the tree before the first, and the tree of the last."""

    old: str
    new: str
    parts: tuple[str, ...]


def find_squash(repo: Repo, window: HistoryWindow, scope: MatchScope) -> list[str]:
    """Returns the commits that are the squash of a row with the lost one in it."""
    anchor = scope.anchor
    if anchor.commit not in window.lost or not anchor.paths:
        return []
    rows = list(_rows(repo, window, anchor.commit))[:_MAX_ROWS]
    ids = commit_details.between(repo, {(row.old, row.new) for row in rows})
    whole = {commit.oid for commit in scope.commits if commit.committed >= anchor.committed}
    made = grouped((patch.patch_id, oid) for oid, patch in window.patches.items() if oid in whole)
    found = [
        oid
        for row in rows
        for oid in made.get(ids.get((row.old, row.new), ""), ())
        if _is_squash(window, anchor, row, oid)
    ]
    return nearest(found, window.near)


def _is_squash(window: HistoryWindow, anchor: CommitAnchor, row: CommitRow, oid: str) -> bool:
    """Returns whether the commit is the whole row, and not just its only part that did not cancel out."""
    patch = window.patches[oid]
    if anchor.names.isdisjoint(patch.names):
        return False
    if any(window.lost_patches.get(part, _NOTHING).patch_id == patch.patch_id for part in row.parts):
        return False
    return not any(_reverts(window, part, anchor) for part in row.parts if part != anchor.commit)


def _reverts(window: HistoryWindow, oid: str, anchor: CommitAnchor) -> bool:
    """Returns whether a commit reverts the lost one; a second attempt at the same lines does not count."""
    undone, patch = reverse(anchor.lines), window.lost_patches.get(oid, Patch())
    is_revert = oid in window.lost and window.lost[oid].takes_back
    return bool(undone) and (undone == patch.lines or (is_revert and undone <= patch.lines))


def _rows(repo: Repo, window: HistoryWindow, oid: str) -> Iterator[CommitRow]:
    """Yields the rows of lost commits around one of them, and whole branches from their beginning."""
    before = _line_before(window.lost, oid)
    tips = _tips(window.lost, oid)
    bases = [window.lost[first].parents[0] for first in before if window.lost[first].parents]
    trees = window.trees(bases)
    for after in tips:
        new = window.lost[after[-1] if after else oid].tree
        for at, first in enumerate(before):
            parents = window.lost[first].parents
            if (at or after) and parents and parents[0] in trees:
                yield CommitRow(trees[parents[0]], new, (*reversed(before[: at + 1]), *after))
    yield from _branches(repo, window, oid, tips)


def _line_before(lost: Mapping[str, Commit], oid: str) -> list[str]:
    """Returns a lost commit and those directly before it, nearest first, up to the first merge."""
    line = [oid]
    while len(line) < _BACK:
        parents = lost[line[-1]].parents
        if len(parents) != 1 or parents[0] not in lost:
            break
        line.append(parents[0])
    return line


def _tips(lost: Mapping[str, Commit], oid: str) -> list[tuple[str, ...]]:
    """Returns the ways from a lost commit to later ones, shortest first; the empty way is the commit itself."""
    children = grouped((parent, commit.oid) for commit in lost.values() for parent in commit.parents)
    ways: list[tuple[str, ...]] = [()]
    for way in ways:
        for child in children.get(way[-1] if way else oid, ()):
            if len(ways) < _TIPS and child not in way:
                ways.append((*way, child))
    return ways


def _branches(repo: Repo, window: HistoryWindow, oid: str, tips: Collection[tuple[str, ...]]) -> Iterator[CommitRow]:
    """Yields branches into which the trunk was merged: their whole change is against the last merge base."""
    inner = {way[:-1] for way in tips if way}
    leaves = [way for way in tips if way not in inner][:_LEAVES]
    for way in leaves:
        tip = way[-1] if way else oid
        base = repo.text("merge-base", tip, "HEAD", ok=(0, 1, 128))
        if base and (tree := window.trees([base]).get(base)) and (way or len(_line_before(window.lost, oid)) > 1):
            yield CommitRow(tree, window.lost[tip].tree, (oid, *way))
