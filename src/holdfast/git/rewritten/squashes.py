"""Several commits that became one: a forge's squash merge, or a squash in a rebase nobody told us of.

The patch of the one equals the patch over the whole row of commits. What cancels out within the
row (a commit and its revert) leaves no trace in that patch, so such a commit gets no answer.
"""

from collections.abc import Collection, Iterator, Mapping

from holdfast.git.repo import Repo
from holdfast.git.rewritten import patches
from holdfast.git.rewritten.headers import Commit
from holdfast.git.rewritten.kept import Anchor
from holdfast.git.rewritten.matching import Sight, nearest
from holdfast.git.rewritten.patches import Patch, reverse
from holdfast.git.rewritten.window import Window
from holdfast.values import frozen

_BACK = 16  # commits before the lost one that may have been squashed with it
_TIPS = 32  # commits after it
_LEAVES = 4  # of these, ends of branches
_MAX_ROWS = 400


@frozen
class Row:
    """Commits in a row: from the tree before them to the tree of the last."""

    old: str
    new: str
    parts: tuple[str, ...]


def find(repo: Repo, window: Window, sight: Sight) -> list[str]:
    """The commits that are the squash of a row in which the lost one stands."""
    anchor = sight.anchor
    if anchor.commit not in window.lost or not anchor.paths:
        return []
    rows = list(_rows(repo, window, anchor.commit))[:_MAX_ROWS]
    ids = patches.between(repo, {(row.old, row.new) for row in rows})
    whole = {commit.oid for commit in sight.commits if commit.committed >= anchor.committed}
    made: dict[str, list[str]] = {}
    for oid, patch in window.patches.items():
        if patch.patch_id is not None and oid in whole:
            made.setdefault(patch.patch_id, []).append(oid)
    found = [
        oid
        for row in rows
        for oid in made.get(ids.get((row.old, row.new), ""), ())
        if _is_squash(window, anchor, row, oid)
    ]
    return nearest(found, window.near)


def _is_squash(window: Window, anchor: Anchor, row: Row, oid: str) -> bool:
    """Whether the commit is the row and not just its only part that did not cancel out."""
    patch = window.patches[oid]
    if anchor.names.isdisjoint(patch.names):
        return False
    if any(_patch_id(window, part) == patch.patch_id for part in row.parts):
        return False
    return not any(_takes_back(window, part, anchor) for part in row.parts if part != anchor.commit)


def _takes_back(window: Window, oid: str, anchor: Anchor) -> bool:
    """Whether a commit and the lost one undo each other; a second try at the same lines does not."""
    undone, patch = reverse(anchor.lines), window.lost_patches.get(oid, Patch())
    says_so = oid in window.lost and window.lost[oid].takes_back
    return bool(undone) and (undone == patch.lines or (says_so and undone <= patch.lines))


def _patch_id(window: Window, oid: str) -> str | None:
    patch = window.lost_patches.get(oid)
    return patch.patch_id if patch else None


def _rows(repo: Repo, window: Window, oid: str) -> Iterator[Row]:
    """The rows of lost commits around one of them, and whole branches from where they began."""
    before = _line_before(window.lost, oid)
    tips = _tips(window.lost, oid)
    bases = [window.lost[first].parents[0] for first in before if window.lost[first].parents]
    trees = window.trees(bases)
    for after in tips:
        new = window.lost[after[-1] if after else oid].tree
        for at, first in enumerate(before):
            parents = window.lost[first].parents
            if (at or after) and parents and parents[0] in trees:
                yield Row(trees[parents[0]], new, (*reversed(before[: at + 1]), *after))
    yield from _branches(repo, window, oid, tips)


def _line_before(lost: Mapping[str, Commit], oid: str) -> list[str]:
    """A lost commit and those directly before it, nearest first, to the first merge."""
    line = [oid]
    while len(line) < _BACK:
        parents = lost[line[-1]].parents
        if len(parents) != 1 or parents[0] not in lost:
            break
        line.append(parents[0])
    return line


def _tips(lost: Mapping[str, Commit], oid: str) -> list[tuple[str, ...]]:
    """The ways on from a lost commit, shortest first; the empty way is itself."""
    children: dict[str, list[str]] = {}
    for commit in lost.values():
        for parent in commit.parents:
            children.setdefault(parent, []).append(commit.oid)
    ways: list[tuple[str, ...]] = [()]
    for way in ways:
        for child in children.get(way[-1] if way else oid, ()):
            if len(ways) < _TIPS and child not in way:
                ways.append((*way, child))
    return ways


def _branches(repo: Repo, window: Window, oid: str, tips: Collection[tuple[str, ...]]) -> Iterator[Row]:
    """Branches into which trunk was merged: their whole change is against the point they last met."""
    inner = {way[:-1] for way in tips if way}
    leaves = [way for way in tips if way not in inner][:_LEAVES]
    for way in leaves:
        tip = way[-1] if way else oid
        base = repo.text("merge-base", tip, "HEAD", ok=(0, 1, 128))
        if base and (tree := window.trees([base]).get(base)) and (way or len(_line_before(window.lost, oid)) > 1):
            yield Row(tree, window.lost[tip].tree, (oid, *way))
