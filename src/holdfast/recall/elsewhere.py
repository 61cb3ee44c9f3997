"""A memory, a task or a link that this branch does not have: on which line it waits, or where it was
published.
"""

from collections.abc import Iterator

from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.model.ids import is_id
from holdfast.store import layout, pending
from holdfast.store.pending import Change
from holdfast.values import frozen

_BRANCHES = 3  # that are named; a trunk's commit is on all of them


@frozen
class Place:
    """Where it is, in a sentence, and what it says there."""

    sentence: str
    text: str
    path: str


def look(clone: Clone, identity: str) -> Place | None:
    """Where an entry is that is not visible here: on a line that has not published it, else in git."""
    return _waiting(clone, identity) or published(clone, identity)


def _waiting(clone: Clone, identity: str) -> Place | None:
    for change in _changes(clone):
        if change.text is not None and change.path.endswith(f"-{identity}.md"):
            known = lines.known(*clone.stores).get(change.line)
            name = lines.called(known.refs[-1]) if known else f"line {change.line}"
            return Place(f"Not of this branch: it waits to be published on {name}", change.text, change.path)
    return None


def _changes(clone: Clone) -> Iterator[Change]:
    """What waits on any line, the newest first."""
    for store in clone.stores:
        yield from reversed(pending.waiting(store))


def published(clone: Clone, identity: str) -> Place | None:
    """The newest commit of any branch that holds an entry, by its whole id."""
    if not is_id(identity):
        return None
    folders = (layout.MEMORY, layout.TASKS, layout.LINKS)
    files = [f":(top,glob){folder}/**/*-{identity}.md" for folder in folders]
    asked = ("log", "--all", "-1", "--diff-filter=AMR", "--format=%H", "--name-only", "-z", "--", *files)
    commit, *paths = clone.repo.text(*asked).replace("\n", "\0").strip("\0").split("\0")
    path = next(filter(None, paths), "")
    blob = clone.repo.blobs_at(commit, [path]).get(path) if path else None
    if blob is None:
        return None
    text = clone.repo.blobs([blob])[blob].decode("utf-8", "replace")
    return Place(_where(clone, commit), text, path)


def _where(clone: Clone, commit: str) -> str:
    head = clone.repo.head().oid
    if head and clone.repo.is_ancestor(commit, head):
        return f"No longer of this branch: commit {commit[:12]} had it"
    asked = ("for-each-ref", "--contains", commit, "--format=%(refname:short)", "refs/heads", "refs/remotes")
    names = clone.repo.text(*asked).splitlines()
    more = f" and {len(names) - _BRANCHES} more" if len(names) > _BRANCHES else ""
    on = f" of {', '.join(names[:_BRANCHES])}{more}" if names else ", which is on no branch"
    return f"Not of this branch: it is in commit {commit[:12]}{on}"
