"""Which commit is the one that was lost: pure rules over what is known of both.

A wrong answer is worse than none, so every rule asks for two kinds of proof: the same content
(patch, tree, lines), and the same hand (author and author date survive a rebase, an amend and a
cherry-pick) or at least nothing that speaks against it. Each rule gives the commits that are
equally good: one is an answer, several are none.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from holdfast.git.rewritten.headers import Commit
from holdfast.git.rewritten.kept import Anchor
from holdfast.git.rewritten.patches import Patch
from holdfast.values import frozen

_TELLING = 16  # letters and digits of a change that hardly anybody makes twice
_HALF = 0.5

STRANGER, PLAUSIBLE, SAME_MOMENT, SAME_COMMIT = range(4)


@frozen
class Sight:
    """What may have become of one commit: everything reachable that is not its own past."""

    anchor: Anchor
    commits: Sequence[Commit]
    patches: Mapping[str, Patch]  # of those commits that touch its paths
    near: Collection[str]  # what HEAD reaches
    others: Collection[str]  # patch-ids of other lost commits: whoever has one is their successor
    here: bool = True  # git still has the commit, and so its lost kin
    cut: bool = False  # history is too long to be seen whole: the commit itself may lie beyond

    def patch(self, commit: Commit) -> Patch:
        return self.patches.get(commit.oid, _NOTHING)

    def touching(self) -> list[Commit]:
        """The commits that touch its paths."""
        return [commit for commit in self.commits if commit.oid in self.patches]


_NOTHING = Patch()

Rule = Callable[[Sight], list[str]]


def rank(anchor: Anchor, commit: Commit) -> int:
    """How much a commit looks like the lost one, leaving aside what it changes."""
    person = _same_person(anchor, commit)
    if person and commit.authored == anchor.authored:
        if anchor.title == commit.title:
            return SAME_COMMIT
        return STRANGER if commit.takes_back else SAME_MOMENT
    if commit.committed < anchor.committed or not (person or anchor.title in commit.mentions):
        return STRANGER
    return STRANGER if commit.takes_back else PLAUSIBLE


def _same_person(anchor: Anchor, commit: Commit) -> bool:
    who = anchor.author.rpartition(" ")[0]
    name, _, mail = who.rpartition(" <")
    return bool(name and name == commit.name) or bool(mail[:-1] and mail[:-1] == commit.mail)


def nearest(found: Iterable[str], near: Collection[str]) -> list[str]:
    """The only one that HEAD reaches, else all of them."""
    equal = list(dict.fromkeys(found))
    inside = [oid for oid in equal if oid in near]
    return inside if len(inside) == 1 else equal


def _best(sight: Sight, found: Iterable[Commit]) -> list[str]:
    """Those of the highest rank; a mere likeness does not count where the commit itself lives on, changed."""
    ranked: dict[int, list[str]] = {}
    for commit in found:
        ranked.setdefault(rank(sight.anchor, commit), []).append(commit.oid)
    ranked.pop(STRANGER, None)
    if not ranked:
        return []
    highest = max(ranked)
    if highest < SAME_COMMIT and (sight.cut or _lives_on(sight)):
        return []
    return nearest(ranked[highest], sight.near)


def _lives_on(sight: Sight) -> bool:
    lines = set(sight.anchor.lines)
    return any(
        rank(sight.anchor, commit) == SAME_COMMIT and not lines.isdisjoint(sight.patch(commit).lines)
        for commit in sight.touching()
    )


def by_change_id(sight: Sight) -> list[str]:
    """The commit that carries the same change-id and most of the change."""
    wanted = set(sight.anchor.change_ids)
    named = [commit for commit in sight.commits if not wanted.isdisjoint(commit.change_ids)]
    return nearest((commit.oid for commit in named if _goes_on(sight, commit)), sight.near)


def by_patch_id(sight: Sight) -> list[str]:
    """The commit that makes the same change."""
    wanted = sight.anchor.patch_id
    if wanted is None:
        return []
    return _best(sight, (commit for commit in sight.touching() if sight.patch(commit).patch_id == wanted))


def by_tree(sight: Sight) -> list[str]:
    """The commit with the same tree on the same parents; a merge or an empty one by its maker and title."""
    return nearest((commit.oid for commit in sight.commits if _same_place(sight, commit)), sight.near)


def _same_place(sight: Sight, commit: Commit) -> bool:
    anchor, patch = sight.anchor, sight.patch(commit)
    if len(commit.parents) != len(anchor.parents):
        return False
    if commit.tree == anchor.tree and commit.parents == anchor.parents and anchor.paths:
        return True
    if len(anchor.parents) > 1:
        return rank(anchor, commit) == SAME_COMMIT
    if commit.oid not in sight.patches or patch.names != anchor.names:
        return False
    # Reordered commits end in the same tree, and so does the last part of a split one.
    alike = not anchor.paths or (commit.tree == anchor.tree and share(anchor, patch) == 1.0)
    return alike and rank(anchor, commit) == SAME_COMMIT


def by_overlap(sight: Sight) -> list[str]:
    """The commit that holds the whole change among others, or the commit itself with a part of it changed."""
    whole = [commit for commit in sight.touching() if _holds_all(sight, commit)]
    if whole:
        return _best(sight, whole)
    itself = [commit for commit in sight.touching() if rank(sight.anchor, commit) == SAME_COMMIT]
    return nearest((commit.oid for commit in itself if _goes_on(sight, commit)), sight.near)


def _holds_all(sight: Sight, commit: Commit) -> bool:
    anchor, patch = sight.anchor, sight.patch(commit)
    if patch.patch_id in sight.others and rank(anchor, commit) < SAME_COMMIT:
        return False
    if not anchor.lines:
        return bool(anchor.paths) and set(anchor.paths) <= set(patch.paths)
    telling = anchor.weight >= _TELLING or anchor.title in commit.mentions
    return telling and share(anchor, patch) == 1.0


def _goes_on(sight: Sight, commit: Commit) -> bool:
    """Whether a commit has most of the change and nobody else the rest; else it was split."""
    anchor, patch = sight.anchor, sight.patch(commit)
    if not anchor.lines:
        return not anchor.paths or not anchor.names.isdisjoint(patch.names)
    if not rest(anchor, patch):
        return True
    # Half of a split commit whose other half was dropped looks just like an amended one, unless git
    # still has the halves: then this one is the successor of its half.
    known = sight.here and patch.patch_id not in sight.others
    return known and share(anchor, patch) > _HALF and not is_part(sight, commit.oid)


def is_part(sight: Sight, oid: str) -> bool:
    """Whether some other commit has lines of the change that this one lacks: then it was split."""
    lacking = rest(sight.anchor, sight.patches.get(oid, _NOTHING))
    return any(not lacking.isdisjoint(other.lines) for name, other in sight.patches.items() if name != oid)


def rest(anchor: Anchor, patch: Patch) -> frozenset[str]:
    """The lines of a change that another one lacks."""
    return frozenset(anchor.lines) - patch.lines


def share(anchor: Anchor, patch: Patch) -> float:
    """How much of a change another one holds, from 0 to 1."""
    if not anchor.lines:
        return 1.0 if set(anchor.paths) <= set(patch.paths) else 0.0
    return len(patch.lines.intersection(anchor.lines)) / len(anchor.lines)


RULES: tuple[tuple[str, Rule], ...] = (("change-id", by_change_id), ("patch-id", by_patch_id), ("tree", by_tree))
LAST: tuple[tuple[str, Rule], ...] = (("overlap", by_overlap),)
