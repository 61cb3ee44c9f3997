"""What git left unmerged, and who the two sides are.

Git keeps the sides of a file it could not merge in its index, as stages 1 (before), 2 (ours) and 3 (theirs).
The words mean what git means by them: in a rebase "ours" is what one rebases onto.
"""

import os
from collections.abc import Sequence

from holdfast.git.repo import Repo
from holdfast.values import frozen


@frozen
class Stages:
    """The blobs of an unmerged path; None where a side has no such file."""

    base: str | None = None
    ours: str | None = None
    theirs: str | None = None

    @property
    def blobs(self) -> list[str]:
        return [blob for blob in (self.base, self.ours, self.theirs) if blob]


def stages(repo: Repo, folders: Sequence[str]) -> dict[str, Stages]:
    """Every unmerged path below some folders, with its stages."""
    out = repo.run("--literal-pathspecs", "ls-files", "-u", "-z", "--", *folders)
    found: dict[str, dict[str, str]] = {}
    for row in out.split(b"\0")[:-1]:
        facts, _, name = row.partition(b"\t")
        mode, blob, stage = facts.split(b" ")
        if mode in (b"100644", b"100755"):
            found.setdefault(os.fsdecode(name), {})[stage.decode("ascii")] = blob.decode("ascii")
    return {path: Stages(by.get("1"), by.get("2"), by.get("3")) for path, by in found.items()}


def origins(repo: Repo) -> tuple[str, str] | None:
    """Who ours and theirs are, by what git is in the middle of; None if it is in the middle of nothing."""
    here = repo.head().branch
    if merging := _commit(repo, "MERGE_HEAD"):
        return here or _named(repo, "HEAD"), _named(repo, merging)
    if branch := repo.rebasing():
        replayed = _commit(repo, "REBASE_HEAD") or _commit(repo, "CHERRY_PICK_HEAD")
        told = f"{branch.removeprefix('refs/heads/')}"
        return (f"{_named(repo, 'HEAD')}, rebased onto", f"{told}: {described(repo, replayed)}" if replayed else told)
    for name, word in (("CHERRY_PICK_HEAD", ""), ("REVERT_HEAD", "the revert of ")):
        if oid := _commit(repo, name):
            return here or _named(repo, "HEAD"), f"{word}{described(repo, oid)}"
    return None


def _commit(repo: Repo, name: str) -> str | None:
    return repo.text("rev-parse", "-q", "--verify", f"{name}^{{commit}}", ok=(0, 1, 128)) or None


def _named(repo: Repo, rev: str) -> str:
    """A commit by the branch that points to it, else as what it is."""
    shape = "--format=%(refname:short)"
    found = repo.text("for-each-ref", f"--points-at={rev}", shape, "refs/heads", "refs/remotes")
    return found.split("\n")[0] if found else described(repo, rev)


def described(repo: Repo, revisions: str, path: str | None = None) -> str:
    """The last of some commits (to a path) in words."""
    named = ("--", path) if path else ()
    shape = ("-1", "--format=%h (%s)", "--no-show-signature")
    asked = ("--literal-pathspecs", "log", *shape, revisions, *named)
    done = repo.attempt(*asked)
    said = done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
    return f"commit {said}" if said else "a commit that is not here"
