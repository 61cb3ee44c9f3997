"""Tasks that live on other branches: found when they are named, never shown unasked."""

from holdfast.git import lines
from holdfast.git.clone import Clone
from holdfast.store import layout as paths
from holdfast.store import pending


def branches_with(clone: Clone, identity: str) -> list[str]:
    """The branches of this clone that hold a task or have it waiting; by name, each once."""
    ending = f"-{identity}.md"
    found = [
        branch for branch, names in files_by_branch(clone).items() if any(n.endswith(ending) for n in names)
    ]
    known = lines.known(*clone.stores)
    for store in clone.stores:
        for change in pending.waiting(store):
            if change.path.startswith(paths.TASKS) and change.path.endswith(ending) and change.line in known:
                found.append(lines.called(known[change.line].refs[-1]))
    return list(dict.fromkeys(found))


def files_by_branch(clone: Clone) -> dict[str, list[str]]:
    """Branch to the names of its task files; branches with the same tree are read once."""
    refs = clone.repo.text("for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes").splitlines()
    asked = "".join(f"{ref}:{paths.TASKS}\n" for ref in refs).encode("utf-8", "surrogateescape")
    answers = clone.repo.run("cat-file", "--batch-check=%(objectname)", stdin=asked).decode().splitlines()
    trees = {ref: oid for ref, oid in zip(refs, answers, strict=False) if " " not in oid}
    listed = {oid: list(clone.repo.blobs_below(oid)) for oid in set(trees.values())}
    return {_called(ref): listed[oid] for ref, oid in trees.items()}


def _called(ref: str) -> str:
    return ref.removeprefix("refs/heads/").removeprefix("refs/remotes/")
