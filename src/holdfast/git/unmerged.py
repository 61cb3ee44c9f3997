"""Memories that the trunk has and this branch has not: nothing is lost, they come with a merge."""

from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.patterns import regex
from holdfast.store import layout, pending
from holdfast.values import frozen

_HEADS, _REMOTES = "refs/heads/", "refs/remotes/"
_ID = regex(r"-([A-Z]{3}-[^/]+)\.md")


@frozen
class Unmerged:
    """How many there are, and where."""

    memories: int
    trunk: str

    def __str__(self) -> str:
        many = "1 memory" if self.memories == 1 else f"{self.memories:,} memories"
        here = f"{'is' if self.memories == 1 else 'are'} not on this branch"
        return f"{many} on {self.trunk} {here}; what is published there comes with a merge"


def of_trunk(clone: Clone) -> Unmerged | None:
    """What the trunk has besides, published or waiting there; None on the trunk, or if it has nothing."""
    head, ref = clone.repo.head(), _local(clone)
    if ref is None or ref == head.ref:
        return None
    there = set(map(_id, clone.repo.tree(ref, layout.MEMORY))) | _waiting(clone, ref)
    missing = there - {_id(one.path) for one in clone.entries()} - clone.erased()
    name = ref.removeprefix(_HEADS).removeprefix(_REMOTES)
    return Unmerged(len(missing), name) if missing else None


def _local(clone: Clone) -> str | None:
    """The trunk's own branch in this clone if there is one, else where this clone follows it."""
    trunk = clone.repo.trunk(clone.trunk)
    if trunk is None or not trunk.startswith(_REMOTES):
        return trunk
    branch = _HEADS + trunk.removeprefix(_REMOTES).partition("/")[2]
    return branch if clone.repo.resolve(branch) else trunk


def _waiting(clone: Clone, ref: str) -> set[str]:
    """What waits to be published on a branch."""
    known = lines.known(*clone.stores).values()
    own = {one.id for one in known if one.refs[-1:] == (ref,) and not one.dropped}
    return {
        _id(change.path)
        for store in clone.stores
        for change in (pending.waiting(store) if own else ())
        if change.line in own and change.text is not None and change.path.startswith(f"{layout.MEMORY}/")
    }


def _id(path: str) -> str:
    found = _ID.search(path)
    return found[1] if found else path
