"""Where in git's history a run of the past belongs: its commit, its branch, its line; or nowhere.

An agent may say the commit itself. Else git's own logs tell where a branch or a work tree stood at that
second, and if they do not reach back, history does, as far as it is this user's own. Whatever is not certain
is left open: a wrong anchor is worse than none.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.capture.ingest.whose import Repository
from holdfast.git import lines, reflog
from holdfast.git.clone import Clone
from holdfast.git.reflog import Moment
from holdfast.git.repo import Head
from holdfast.model.event import timestamp
from holdfast.model.transcript import Origin

_MADE = re.compile(r"commit\b|cherry-pick|revert|am\b|.*Merge made by")
_HEADS = "refs/heads/"
_AFTER = 2  # seconds by which git's row may come later than the step that made the commit


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a run belongs."""

    line: str
    head: str | None
    branch: str | None
    how: str | None  # "file", "reflog" or "history"; None: unanchored
    elsewhere: bool = (
        False  # its branch is not here: what it left is no work of the branch whose line it is on
    )


class Anchors:
    """What git's logs say about moments of the past, read once each."""

    def __init__(self, clone: Clone, repository: Repository) -> None:
        self._clone, self.repository = clone, repository
        self._logs: dict[tuple[str, str], list[Moment]] = {}
        self._lines: dict[str, str] = {}

    def place(self, origin: Origin, *, ts: str, branch: str | None, cwd: str | None, first: bool) -> Placed:
        """Where a run belongs that began then; `first`: with it the session began, so its commit counts."""
        ours = self.repository.owns(origin)
        if branch is None and ours:
            branch = self._checked_out(cwd or origin.cwd, ts)
        ref = self._living(branch, ts) if ours else None
        line = self._line(ref)
        if ours and first and origin.commit and self._was_there(origin.commit, ts):
            return Placed(line, origin.commit, branch, "file", bool(branch) and ref is None)
        found, how = self._at(ref, cwd or origin.cwd, ts) if ours else (None, None)
        return Placed(line, found, branch, how, bool(branch) and ref is None)

    def _checked_out(self, cwd: str | None, ts: str) -> str | None:
        """The branch a work tree was on at a moment, for agents that do not say; None if nobody knows."""
        git_dir = self.repository.tree_of(cwd)
        rows = self._log(git_dir, "HEAD") if git_dir else []
        before = sum(row.time < _second(ts) for row in rows)
        if git_dir is None or not before or any(row.time == _second(ts) for row in rows):
            return None
        ref = reflog.branch_at(git_dir, rows, before)
        return ref.removeprefix(_HEADS) if ref else None

    def _was_there(self, commit: str, ts: str) -> bool:
        """Whether this repository has a commit that was made before a moment: a tool may tell a later one."""
        if not self.repository.has(commit):
            return False
        made = self._clone.repo.text("log", "-1", "--format=%ct", commit, ok=(0, 128))
        return made.isdigit() and int(made) <= _second(ts) + _AFTER

    def _living(self, branch: str | None, ts: str) -> str | None:
        """The branch's ref, if it is here and is not a later one of the same name."""
        if not branch or not _is_name(branch):
            return None
        ref = _HEADS + branch
        if not self._clone.repo.resolve(ref):
            return None
        born = reflog.birth(self._clone.repo, ref)
        return ref if born is None or born.time <= _second(ts) + _AFTER or not _is_made(born) else None

    def _line(self, ref: str | None) -> str:
        if ref is None or ref == self._clone.repo.head().ref:
            return self._clone.line().id
        if ref not in self._lines:
            stores = (self._clone.layout, *(s for s in self._clone.stores if s is not self._clone.layout))
            head = Head(self._clone.repo.resolve(ref), ref)
            self._lines[ref] = lines.current(self._clone.repo, stores, head, self._clone.clock).id
        return self._lines[ref]

    def _at(self, ref: str | None, cwd: str | None, ts: str) -> tuple[str | None, str | None]:
        for folder, name in self._places(ref, cwd):
            oid = _standing(self._log(folder, name), ts)
            if oid == "":
                return None, None  # something moved in that very second
            if oid is not None and self.repository.has(oid):
                return oid, "reflog"
        return self._from_history(ref, ts)

    def _places(self, ref: str | None, cwd: str | None) -> list[tuple[str, str]]:
        """The logs that tell where the agent stood, the surest first."""
        places = [(self._clone.repo.common_dir, ref)] if ref else []
        git_dir = self.repository.tree_of(cwd)
        # A branch that is named and is not here any more: HEAD's log still knows where it stood.
        return [*places, *([(git_dir, "HEAD")] if git_dir and ref is None else [])]

    def _log(self, folder: str, name: str) -> list[Moment]:
        if (folder, name) not in self._logs:
            self._logs[folder, name] = reflog.read(folder, name)
        return self._logs[folder, name]

    def _from_history(self, ref: str | None, ts: str) -> tuple[str | None, str | None]:
        """The branch's last commit before a moment, if it was this user who committed it.

        What others committed came here by some later fetch, and nobody can tell when.
        """
        repo = self._clone.repo
        if ref is None or self._reaches(ref, ts) or repo.is_shallow():
            return None, None
        shape = ("--first-parent", "--max-count=1", "--format=%H %ct %ce", f"--before={_second(ts) - 1}")
        row = repo.text("log", *shape, ref, ok=(0, 128)).split(" ")
        mine = repo.text("config", "user.email", ok=(0, 1))
        return (row[0], "history") if len(row) == 3 and mine and row[2] == mine else (None, None)

    def _reaches(self, ref: str, ts: str) -> bool:
        """Whether the branch's own log goes back to that moment: then what it does not say is not so."""
        log = self._log(self._clone.repo.common_dir, ref)
        return bool(log) and log[0].time <= _second(ts)

    def made(self, since: str, until: str, *, branch: str | None, cwd: str | None) -> list[str]:
        """The commits that were made where the agent stood, between two moments."""
        ref = _HEADS + branch if branch and _is_name(branch) else None
        git_dir = self.repository.tree_of(cwd)
        folder, name = (git_dir, "HEAD") if git_dir else (self._clone.repo.common_dir, ref or "")
        first, last = _second(since), _second(until) + _AFTER
        rows = self._log(folder, name) if name else []
        made = [row.oid for row in rows if first <= row.time <= last and _MADE.match(row.message)]
        return [oid for oid in dict.fromkeys(made) if self.repository.has(oid)]


def _standing(log: list[Moment], ts: str) -> str | None:
    """Where a ref stood at a moment; None if its log does not say, empty if it moved in that second."""
    second = _second(ts)
    if any(row.time == second for row in log):
        return ""
    before = [row for row in log if row.time < second]
    return before[-1].oid if before else None


def _second(ts: str) -> int:
    return int(datetime.fromisoformat(ts).timestamp())


def _is_made(born: Moment) -> bool:
    """Whether a branch was made then; where its log begins with a clone or a commit, it may be older."""
    return born.message.startswith("branch: Created")


def _is_name(branch: str) -> bool:
    """Whether this can be a branch's name; anything else would ask git something else."""
    return bool(re.fullmatch(r"[^\s~^:?*\[\\\x00-\x1f\x7f-][^\s~^:?*\[\\\x00-\x1f\x7f]*", branch)) and (
        ".." not in branch and "@{" not in branch and not branch.endswith(("/", ".lock", "."))
    )


def moment(ts: str | None) -> str | None:
    """A time as we write it; None if it is none."""
    try:
        known = datetime.fromisoformat(ts or "")
        if known.tzinfo is None:
            known = known.replace(tzinfo=UTC)
        return timestamp(known.astimezone(UTC))
    except (ValueError, OverflowError):
        return None
