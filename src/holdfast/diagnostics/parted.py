"""What a branch did to one entry of a file that holds several: a neighbour's change is not its own."""

from holdfast.diagnostics.branch import Branch
from holdfast.errors import BrokenEntry
from holdfast.store import entries


class PartedBranch(Branch):
    """A branch as one entry sees it: a commit that leaves its own text alone does not count."""

    @classmethod
    def of(cls, branch: Branch, entry: str) -> "PartedBranch":
        """The same branch, asked about the entry of this id."""
        made = cls.__new__(cls)
        made.__dict__.update(vars(branch))
        made._entry = entry
        return made

    _entry: str

    def _changed(self, path: str, tip: str) -> list[str]:
        return [
            commit
            for commit in super()._changed(path, tip)
            if all(self._blob(side, path) != self._blob(commit, path) for side in self._parents(commit))
        ]

    def _blob(self, commit: str, path: str) -> str | None:
        text = self._text(commit, path)
        return None if text is None else self._repo.hash_blob(text.encode("utf-8"))

    def _text(self, commit: str, path: str) -> str | None:
        """What the entry says in a commit; None if it is not there."""
        blob = super()._blob(commit, path)
        if blob is None:
            return None
        text = self._repo.blobs([blob]).get(blob, b"").decode("utf-8", "replace")
        for part in entries.parts(text, path):
            if not isinstance(part.memory, BrokenEntry) and part.memory.id == self._entry:
                return part.text
        return None

    def _is_plain_merge(self, path: str, text: str | None, sides: list[str]) -> bool:
        fork = self._repo.attempt("merge-base", *sides)
        if fork.returncode or text is None:
            return False
        places = (fork.stdout.decode("ascii").split()[0], *sides)
        base, ours, theirs = (self._text(commit, path) or "" for commit in places)
        try:
            merged = entries.merge(base or None, ours, theirs)
        except BrokenEntry:
            return False
        return isinstance(merged, str) and self._repo.hash_blob(merged.encode("utf-8")) == text
