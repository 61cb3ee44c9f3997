"""What a branch did to a memory, commit by commit: was the text that stands now approved?

An event's envelope names the memory it is about, not its words: those are private. But a commit
brings an event in a segment, so git tells whether the approval came with the text or after it.
Whoever changes a text later than its last approval has changed what nobody approved.
"""

from collections.abc import Callable, Iterable, Mapping

from holdfast.diagnostics.integrity import Ledger, Seen
from holdfast.errors import BrokenEntry
from holdfast.git.repo import Repo
from holdfast.store import entries, layout

About = Callable[[Seen], bool]


class CutOff(Exception):
    """A shallow clone lacks the commit that would tell."""


class Branch:
    """The commits from where a branch left its base, with the events they bring."""

    def __init__(self, repo: Repo, start: str, added: Mapping[str, Seen], log: Mapping[str, bytes]) -> None:
        self._repo, self._start, self._added = repo, start, added
        self._files: dict[str, set[str]] = {name: set() for name in added}
        self._logs: dict[str, set[str]] = {}
        for path, data in log.items():
            for name in _events_in(path, data) & added.keys():
                self._files[name].add(path)

    def brings(self, about: About) -> bool:
        """Whether it brings such an event at all."""
        return any(map(about, self._added.values()))

    def culprit(self, path: str, about: About, tip: str = "HEAD") -> str | None:
        """The commit that changed a file after the last event about it; None if that event came later.

        A text that was published together with its event stays approved: who takes a later edit
        back needs no new approval. A merge is judged by its sides if it adds nothing of its own.
        """
        changed = self._changed(path, tip)
        if not changed:
            return None
        last, *earlier = changed
        if self._any(about, self._since(last)):
            return None
        parents, text = self._parents(last), self._blob(last, path)
        if len(parents) == 2 and self._is_plain_merge(path, text, parents):
            return next(filter(None, (self.culprit(path, about, side) for side in parents)), None)
        same = (commit for commit in earlier if self._blob(commit, path) == text)
        return None if any(self._any(about, self._brought_by(commit)) for commit in same) else last

    def _changed(self, path: str, tip: str) -> list[str]:
        """The commits that made a file what it is at a tip, newest first."""
        span = f"{self._start}..{tip}" if self._start else tip
        return self._repo.text("--literal-pathspecs", "log", "--format=%H", span, "--", path).split()

    def _any(self, about: About, names: Iterable[str]) -> bool:
        return any(about(self._added[name]) for name in names)

    def _since(self, commit: str) -> list[str]:
        """The events that came with a commit or later."""
        old = set().union(*(self._log(parent) for parent in self._parents(commit)))
        return [name for name, files in self._files.items() if files.isdisjoint(old)]

    def _brought_by(self, commit: str) -> list[str]:
        here = self._log(commit)
        return [name for name in self._since(commit) if not self._files[name].isdisjoint(here)]

    def _log(self, commit: str) -> set[str]:
        if commit not in self._logs:
            self._logs[commit] = set(self._repo.tree(commit, layout.LOG))
        return self._logs[commit]

    def _parents(self, commit: str) -> list[str]:
        """Those the commit itself names: git's log hides what a shallow clone has cut off."""
        head = self._repo.run("cat-file", "commit", commit).partition(b"\n\n")[0].split(b"\n")
        parents = [line[7:].decode("ascii") for line in head if line.startswith(b"parent ")]
        for parent in parents:
            if self._repo.attempt("cat-file", "-e", f"{parent}^{{commit}}").returncode:
                raise CutOff(commit)
        return parents

    def _blob(self, commit: str, path: str) -> str | None:
        return self._repo.blobs_at(commit, [path]).get(path)

    def _is_plain_merge(self, path: str, text: str | None, sides: list[str]) -> bool:
        """Whether a merged text is both sides' changes, field by field, and nothing else."""
        fork = self._repo.attempt("merge-base", *sides)
        if fork.returncode or text is None:
            return False
        places = (fork.stdout.decode("ascii").split()[0], *sides)
        blobs = [text, *(self._blob(commit, path) for commit in places)]
        found = self._repo.blobs(blob for blob in blobs if blob)
        said, base, ours, theirs = (found.get(blob or "", b"").decode("utf-8", "replace") for blob in blobs)
        try:
            merged = entries.merge(base or None, ours, theirs)
            return isinstance(merged, str) and entries.parse(merged, path) == entries.parse(said, path)
        except BrokenEntry:
            return False


def _events_in(path: str, data: bytes) -> set[str]:
    ledger = Ledger()
    ledger.segment(path, path.rpartition("/")[2].removesuffix(".jsonl"), data)
    return set(ledger.events)
