"""How the files of a work tree look, for answers that tell of them and are kept ready."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from holdfast.index import freshness

if TYPE_CHECKING:
    from holdfast.project import Project

_SUBMODULE = b"160000"


class WorkTree:
    """How the files git tracks look, taken before an answer tells of them; no digest: that cannot be told.

    With submodules, with names that are no text, or with very many files, git has to be asked each time.
    """

    def __init__(self, project: Project) -> None:
        self.digest, self.paths = "", ""
        rows = project.clone.repo.run("ls-files", "-s", "-z").split(b"\0")[:-1]
        if any(row.startswith(_SUBMODULE) for row in rows):
            return
        names = {row.partition(b"\t")[2] for row in rows}
        names = {name for name in names if not name.startswith(b".holdfast/")}
        folders = {name.rpartition(b"/")[0] for name in names}
        while above := {folder.rpartition(b"/")[0] for folder in folders if folder} - folders:
            folders |= above
        try:
            self.paths = b"\n".join(sorted(names | folders)).decode("utf-8")
        except UnicodeDecodeError:
            return
        if len(names) <= freshness.MAX_WATCHED and self.paths.count("\n") == len(names | folders) - 1:
            self._look(project.clone.repo.top)

    def _look(self, top: str) -> None:
        digest, newest = freshness.watched(top, self.paths)
        wait = freshness.settles_in(newest, time.time_ns())
        if 0 < wait <= freshness.TICK:
            # Something was just written: another change in the same tick would go unseen.
            time.sleep(wait / 1e9)
            digest, newest = freshness.watched(top, self.paths)
            wait = freshness.settles_in(newest, time.time_ns())
        self.digest = digest if wait <= 0 else ""
