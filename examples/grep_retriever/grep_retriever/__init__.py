"""A retriever for Holdfast that looks into the work tree first: `git grep`, then Holdfast's own search.

A retriever is anything with `search(query, scope, limit) -> list[Hit]`. Holdfast finds it by the entry point
in `pyproject.toml` and makes it with the work tree's top and its own retriever, which may be asked as well.
"""

import subprocess

from holdfast.index.query import Scope, read_query
from holdfast.recall.search import Hit, Retriever

KIND = "code"
WHERE = (".", ":(exclude).holdfast")  # memories are found by Holdfast's own search, with how they stand


def make(top: str, builtin: Retriever) -> Retriever:
    """The retriever of one work tree; Holdfast calls this once for each."""
    return GrepRetriever(top, builtin)


class GrepRetriever:
    """Lines that hold every word that tells something, then what Holdfast finds."""

    def __init__(self, top: str, builtin: Retriever) -> None:
        self._top, self._builtin = top, builtin

    def search(self, query: str, scope: Scope, limit: int) -> list[Hit]:
        """The best hits, best first, at most `limit`."""
        lines = self._lines(query, limit) if self._may_answer(scope) else []
        known = {hit.id for hit in lines}
        more = self._builtin.search(query, scope, limit)
        return [*lines, *(hit for hit in more if hit.id not in known)][:limit]

    @staticmethod
    def _may_answer(scope: Scope) -> bool:
        """A scope is a promise: what is asked for of one kind, task, branch or time must be that."""
        return scope.kind in (None, KIND) and not (scope.task or scope.branch or scope.since)

    def _lines(self, query: str, limit: int) -> list[Hit]:
        words = read_query(query).words  # no stop words, no noise; a query is data and never an option
        if not words:
            return []
        asked = [part for word in words for part in ("--and", "-e", word)][1:]
        command = ["git", "-C", self._top, "grep", "-z", "-n", "-i", "-I", "-F", *asked, "--", *WHERE]
        done = subprocess.run(command, capture_output=True, check=False)
        return [self._hit(row) for row in done.stdout.decode("utf-8", "replace").splitlines()[:limit]]

    @staticmethod
    def _hit(row: str) -> Hit:
        path, number, text = row.split("\0", 2)
        line = text.strip()
        parts = (("grep", 1.0),)  # what the score is made of, for --explain
        return Hit(f"{path}:{number}", KIND, line[:120], line, path=path, trust="T2", score=1.0, parts=parts)
