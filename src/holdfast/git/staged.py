"""What `publish --stage` left in one work tree's index: ours to replace, unlike a hand edit.

Git carries staged files along when the branch changes, so it is remembered which line staged them:
on another line they are no knowledge of that line.
"""

import json
import os
from collections.abc import Iterable

from holdfast.git.repo import Repo
from holdfast.store import fsio
from holdfast.store.layout import TRACKED
from holdfast.values import frozen

NAME = "holdfast-staged.json"
_FEW = 50  # paths; beyond that one look at all of ours is cheaper than a long command line


@frozen
class Staged:
    """A file as we staged it."""

    blob: str
    line: str


def read(repo: Repo) -> dict[str, Staged]:
    """Path to what we staged there; the record is a convenience, so a damaged one counts as none."""
    try:
        rows = json.loads(fsio.read(os.path.join(repo.git_dir, NAME), limit=1 << 26))
        return {path: Staged(blob, line) for path, (blob, line) in rows.items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}


def remember(repo: Repo, line: str, blobs: Iterable[tuple[str, str | None]]) -> None:
    """Add what was staged just now; what is committed or unstaged by now is forgotten."""
    known = read(repo)
    there = repo.status(*known) if 0 < len(known) <= _FEW else repo.status(TRACKED) if known else {}
    kept = {path: row for path, row in known.items() if path in there}
    kept.update({path: Staged(blob, line) for path, blob in blobs if blob})
    rows = {path: (row.blob, row.line) for path, row in kept.items()}
    fsio.replace(os.path.join(repo.git_dir, NAME), json.dumps(rows).encode("utf-8"))
