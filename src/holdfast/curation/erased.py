"""What another clone erased and this one still holds: hidden, but on the disk."""

import os

from holdfast.git.clone import Clone
from holdfast.store import layout, pending
from holdfast.store.layout import Layout


def elsewhere(clone: Clone) -> list[str]:
    """What another clone erased, as HEAD's log says, and this one still holds: hidden, but on the disk."""
    theirs = {name for name in clone.erased() if not _is_erased_here(clone, name)}
    if not theirs:
        return []
    held = {name for store in clone.stores for name in theirs if _keeps(store, name)}
    files = [*clone.repo.tree("HEAD", layout.MEMORY), *_kept_texts(clone)]
    held |= {name for name in theirs if any(path.endswith(f"-{name}.md") for path in files)}
    for event in clone.all_events():
        if event.body and event.kind != "erase" and clone.bodies.has(event.body):
            held |= theirs & {event.hash_self, event.target, event.run_id}
    return sorted(held)


def _is_erased_here(clone: Clone, name: str) -> bool:
    return any(os.path.lexists(os.path.join(store.erased, name)) for store in clone.stores)


def _keeps(store: Layout, name: str) -> bool:
    """Whether a store has a run's capsule or a candidate of this name."""
    return os.path.isdir(store.run(name)) or os.path.lexists(os.path.join(store.candidates, f"{name}.md"))


def _kept_texts(clone: Clone) -> list[str]:
    """The paths of which this clone keeps a text: one that waits, or one it published."""
    kept = (c for store in clone.stores for c in (*pending.waiting(store), *pending.published(store)))
    return [change.path for change in kept if change.text is not None]
