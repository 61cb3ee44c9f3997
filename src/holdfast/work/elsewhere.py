"""Tasks that live on other branches: found when they are named, never shown unasked."""

from collections.abc import Collection, Iterable

from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.store import layout as paths
from holdfast.store import pending


def branches_with(clone: Clone, identity: str) -> list[str]:
    """The branches of this clone that hold a task or have it waiting; by name, each once."""
    ending = f"-{identity}.md"
    found = [branch for branch, names in files_by_branch(clone).items() if any(n.endswith(ending) for n in names)]
    known = lines.known(*clone.stores)
    for store in clone.stores:
        for change in pending.waiting(store):
            if change.path.startswith(paths.TASKS) and change.path.endswith(ending) and change.line in known:
                found.append(lines.called(known[change.line].refs[-1]))
    return list(dict.fromkeys(found))


def others_with(clone: Clone, identity: str) -> list[str]:
    """The branches that hold a task or have it waiting, besides the one that is checked out."""
    here = clone.repo.head().branch
    return [branch for branch in branches_with(clone, identity) if branch != here]


def paths_of(clone: Clone, folder: str, wanted: Collection[str]) -> dict[str, str]:
    """The files in which other branches keep these ids: the same id is the same file everywhere."""
    if not wanted:
        return {}
    names = [name for listed in files_by_branch(clone, folder).values() for name in listed]
    waiting = [change.path for store in clone.stores for change in pending.waiting(store)]
    names += [path.removeprefix(f"{folder}/") for path in waiting if path.startswith(f"{folder}/")]
    found: dict[str, str] = {}
    for name in sorted(set(names)):
        for identity in _endings(name):
            if identity in wanted:
                found.setdefault(identity, f"{folder}/{name}")
    return found


def _endings(name: str) -> Iterable[str]:
    """What may be the id in a file's name: whatever follows one of its dashes."""
    stem = name.removesuffix(".md")
    return (stem[at + 1 :] for at, letter in enumerate(stem) if letter == "-")


def count(clone: Clone, known: Collection[str]) -> int:
    """How many tasks other branches have, published or waiting, whose files are not among these."""
    names = {f"{paths.TASKS}/{name}" for listed in files_by_branch(clone).values() for name in listed}
    alive = lines.known(*clone.stores)
    for store in clone.stores:
        waiting = (c for c in pending.waiting(store) if c.line in alive and not alive[c.line].dropped)
        names |= {change.path for change in waiting if change.text is not None}
    ours = {name for name in names if name.startswith(f"{paths.TASKS}/") and name.endswith(".md")}
    return len(ours - set(known))


def files_by_branch(clone: Clone, folder: str = paths.TASKS) -> dict[str, list[str]]:
    """Branch to the names of its task files; branches with the same tree are read once."""
    refs = clone.repo.text("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").splitlines()
    asked = "".join(f"{ref}:{folder}\n" for ref in refs).encode("utf-8", "surrogateescape")
    answers = clone.repo.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode().splitlines()
    trees = {ref: oid for ref, oid in zip(refs, answers, strict=False) if " " not in oid}
    listed = {oid: list(clone.repo.blobs_below(oid)) for oid in set(trees.values())}
    return {_called(ref): listed[oid] for ref, oid in trees.items()}


def _called(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
