"""Where and when in git's history a run of the past belongs: its commit, its branch, its line; or nowhere.

An agent may name the commit itself. Else git's own logs say where a branch or a work tree stood at that second, and
if they do not reach back, history does, as far as it is this user's own. They say it of agents that stood in a work
tree of this clone, and of branches that had the name then. Whatever is not certain is left open: a wrong anchor is
worse than none.

A time is believed only if it is past and not later than the file's own: else a clock was wrong, and there is no time.
What has no time is as old as its file, and no log of git is asked about it.
"""

import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby, takewhile

from holdfast.capture.ingest.session_repository import SessionRepository
from holdfast.capture.worktree_changes import makes, spelled
from holdfast.git import branch_lines, reflog
from holdfast.git.cited_commits import commit_details
from holdfast.git.clone import Clone
from holdfast.git.repo import Head
from holdfast.model.event import timestamp
from holdfast.model.evidence import is_oid
from holdfast.model.transcript import TranscriptOrigin, TranscriptTurn
from holdfast.patterns import regex
from holdfast.values import frozen, replace

_HEADS = "refs/heads/"
_MOST_COMMITS = 50  # of one turn whose files are listed
_SWITCHING = regex(r"\b(?:switch|checkout|rebase|bisect)\b")  # what in a command may change the branch
_AFTER = 2  # seconds by which git's row may come later than the step that made the commit


@frozen
class RunPlacement:
    """Where a run belongs."""

    line: str
    head: str | None
    branch: str | None
    how: str | None  # "file", "reflog" or "history"; None: unanchored
    elsewhere: bool = False  # its branch is not here: what it left is no work of the branch whose line it is on


@frozen
class AgentGitCall:
    """A call of git that may have made commits."""

    since: str
    until: str
    verbs: frozenset[str]  # commit, merge, cherry-pick, revert, pull or am
    told: tuple[str, ...] = ()  # short names of commits that it printed


class RunAnchors:
    """What git's logs say about moments of the past, read once each."""

    def __init__(self, clone: Clone, repository: SessionRepository) -> None:
        self._clone, self.repository = clone, repository
        self._logs: dict[tuple[str, str], list[reflog.ReflogRow]] = {}
        self._folders: dict[tuple[str | None, ...], str | None] = {}
        self._histories: dict[str, _TreeHistory] = {}
        self._lines: dict[str, str] = {}

    def on_branches(self, turns: Iterable[TranscriptTurn], origin: TranscriptOrigin) -> Iterator[TranscriptTurn]:
        """The turns with the branch their work tree was on; one that changed something on two branches is two turns.

        The log of HEAD says it. Where that does not reach back, or HEAD was detached, the transcript's word stays.
        """
        for turn in turns:
            tree = self._history(turn, origin)
            yield from _by_branch(turn, tree) if tree else (turn,)

    def arrival(self, turn: TranscriptTurn, origin: TranscriptOrigin, ts: str) -> str:
        """When a turn that began at `ts` was first on its branch: it may have switched there itself."""
        tree = self._history(turn, origin)
        times = (ts, *filter(None, (moment(step.ts) for step in turn.steps)))
        return next((at for at in times if tree and tree.branch(at) == turn.branch), ts)

    def _history(self, turn: TranscriptTurn, origin: TranscriptOrigin) -> "_TreeHistory | None":
        """Which branches a turn's work tree was on; None if its log is about something else than this session."""
        cwd = turn.cwd or origin.cwd
        place = (cwd, origin.cwd, origin.commit, origin.branch, origin.started)
        if place not in self._folders:
            known = self.repository.owns(origin) and self._is_this_clone(origin, cwd)
            self._folders[place] = self.repository.tree_of(cwd) if known else None
            if self.repository.folder_in(cwd):  # a folder that is gone may have been a work tree of its own
                self._folders[place] = None
        git_dir = self._folders[place]
        if git_dir is not None and git_dir not in self._histories:
            self._histories[git_dir] = _TreeHistory(git_dir, self._log(git_dir, "HEAD"))
        found = self._histories[git_dir] if git_dir is not None else None
        began = moment(origin.started)
        return found if found and (not began or found.may_be_on(origin.branch, began)) else None

    def place(
        self, origin: TranscriptOrigin, *, ts: str, branch: str | None, cwd: str | None, first: bool, told: bool = True
    ) -> RunPlacement:
        """Where a run belongs that began then; `first`: with it the session began, so its commit counts.

        Unless the moment was `told`, it is only a guess by the file: no log can be asked about it.
        """
        ours, cwd = self.repository.owns(origin), cwd or origin.cwd
        here = told and ours and self._is_this_clone(origin, cwd)
        head = self._head(cwd, ts) if here else None
        if branch is None and head and head.ref:
            branch = head.ref.removeprefix(_HEADS)
        ref = self._living(branch, ts) if ours else None
        elsewhere = ref is None and (bool(branch) or self.repository.is_removed_tree(cwd))
        if ours and first and origin.commit and self._was_there(origin.commit, ts):
            return RunPlacement(self._line(ref), origin.commit, branch, "file", elsewhere)
        found, how = self._at(ref, branch, head, ts) if here else (None, None)
        return RunPlacement(self._line(ref), found, branch, how, elsewhere)

    def _is_this_clone(self, origin: TranscriptOrigin, cwd: str | None) -> bool:
        """Whether a session was held in this clone: another one of the same project has its own logs."""
        lost = bool(origin.commit and is_oid(origin.commit)) and not self.repository.has(origin.commit)
        return not lost and (self.repository.tree_of(cwd) is not None or self.repository.is_removed_tree(cwd))

    def _head(self, cwd: str | None, ts: str) -> "_Stood | None":
        """What the work tree around a folder had checked out at a moment; None if its log does not say."""
        git_dir = self.repository.tree_of(cwd)
        rows = self._log(git_dir, "HEAD") if git_dir else []
        oid = _standing(rows, ts)
        if git_dir is None or oid is None:
            return None
        before = sum(row.time < _second(ts) for row in rows)
        folder = self.repository.folder_in(cwd)
        # A folder that is gone, and that git did not have then, may have been a work tree of its own.
        asked = self._clone.repo.attempt("cat-file", "-t", f"{oid}:{folder}") if oid and folder else None
        if not oid or (asked and not (asked.returncode == 0 and asked.stdout.strip() == b"tree")):
            return _Stood("", None)
        return _Stood(oid, reflog.branch_at(git_dir, rows, before))

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
        log, second = self._log(self._clone.repo.common_dir, ref), _second(ts)
        if any(row.time >= second and reflog.is_named(row, ref) for row in log):
            return None
        # Where its log begins with a clone or a commit, the branch may be older.
        made = [row for row in log[:1] if row.begins and row.message.startswith("branch: Created")]
        return None if made and made[0].time > second + _AFTER else ref

    def _line(self, ref: str | None) -> str:
        if ref is None or ref == self._clone.repo.head().ref:
            return self._clone.line().id
        if ref not in self._lines:
            stores = (self._clone.layout, *(s for s in self._clone.stores if s is not self._clone.layout))
            head = Head(self._clone.repo.resolve(ref), ref)
            self._lines[ref] = branch_lines.current(self._clone.repo, stores, head, self._clone.clock).id
        return self._lines[ref]

    def _at(self, ref: str | None, branch: str | None, head: "_Stood | None", ts: str) -> tuple[str | None, str | None]:
        """Where a branch stood, by its own log and the work tree's: if both tell of it, they must agree."""
        log = self._log(self._clone.repo.common_dir, ref) if ref else []
        told = {oid for oid in (_standing(log, ts), head.oid if head else None) if oid is not None}
        if not told:
            return self._from_history(ref, ts)
        on_it = head is None or not branch or head.ref == _HEADS + branch
        (oid, *others) = told
        if others or not oid or not on_it or not self.repository.has(oid):
            return None, None
        return oid, "reflog"

    def _log(self, folder: str, name: str) -> list[reflog.ReflogRow]:
        if (folder, name) not in self._logs:
            self._logs[folder, name] = reflog.read(folder, name)
        return self._logs[folder, name]

    def _from_history(self, ref: str | None, ts: str) -> tuple[str | None, str | None]:
        """The branch's last commit before a moment, if it was this user who committed it.

        What others committed came here by some later fetch, and nobody can tell when. If the next one was not
        authored when it was committed, it took the place of another: of which, nobody can tell either.
        """
        repo = self._clone.repo
        log = self._log(repo.common_dir, ref) if ref else []
        # What the branch's own log does not say is not so, if it goes back to that moment.
        if ref is None or (log and log[0].time <= _second(ts)) or repo.is_shallow():
            return None, None
        shape = ("--first-parent", "--format=%H %ce", f"--before={_second(ts) - 1}", "--max-count=1")
        row = repo.text("log", *shape, ref, ok=(0, 128)).split(" ")
        mine = repo.text("config", "user.email", ok=(0, 1))
        if len(row) != 2 or not mine or row[1] != mine or not self._grew_from(row[0], ref):
            return None, None
        return row[0], "history"

    def _grew_from(self, commit: str, ref: str) -> bool:
        """Whether what a branch has next after a commit was made there, neither amended nor rebased."""
        shape = ("--first-parent", "--format=%at %ct")
        later = self._clone.repo.text("log", *shape, f"{commit}..{ref}", ok=(0, 128))
        return len(set(later.rpartition("\n")[2].split(" "))) == 1

    def made(self, calls: Sequence[AgentGitCall], origin: TranscriptOrigin, cwd: str | None) -> list[str]:
        """The commits that were made in the agent's work tree while its own calls of git ran."""
        cwd = cwd or origin.cwd
        git_dir = self.repository.tree_of(cwd) if calls and self._is_this_clone(origin, cwd) else None
        rows = self._log(git_dir, "HEAD") if git_dir else []
        made = [row.oid for row in rows if makes(row) and any(_fits(row, call) for call in calls)]
        return [oid for oid in dict.fromkeys(made) if self.repository.has(oid)]

    def told(self, calls: Sequence[AgentGitCall]) -> list[str]:
        """The commits that the agent's calls of git printed, as far as they were made while these ran.

        Whatever else a command shows, a log or a file, may look the same: the commit's own time decides.
        """
        full = self.repository.full(name for call in calls for name in call.told)
        options = ("--no-walk=unsorted", "--ignore-missing", "--stdin")
        oids = sorted(set(full.values()))
        known = commit_details.listed(self._clone.repo, *options, names=oids, limit=len(oids)) if oids else {}
        pairs = [(call, full[name]) for call in calls for name in call.told if name in full]
        return [oid for call, oid in pairs if oid in known and _ran_at(call, known[oid].committed)]

    def files_of(self, commits: Sequence[str]) -> list[str]:
        """The files that commits changed, whoever wrote them: a helper's edits are in no transcript of ours."""
        shape = ("log", "--no-walk=unsorted", "--format=", "--name-only", "--no-renames", "-z")
        listed = self._clone.repo.run(*shape, *commits[:_MOST_COMMITS], "--") if commits else b""
        return [spelled(os.fsdecode(name)) for name in listed.split(b"\0") if name]


class _TreeHistory:
    """Which branches a work tree was on, and when commits were made on them, by the log of its HEAD."""

    def __init__(self, git_dir: str, rows: list[reflog.ReflogRow]) -> None:
        self._times: list[int] = []
        self._refs: list[str | None] = []
        self._commits: list[tuple[int, str | None]] = []
        ref = reflog.branch_at(git_dir, rows, 1) if rows else None
        for n, row in enumerate(rows):
            ref = reflog.ref_after(row.message, ref) if n else ref
            if not self._refs or self._refs[-1] != ref:
                self._times.append(row.time)
                self._refs.append(ref)
            if makes(row):
                self._commits.append((row.time, ref))

    def branch(self, ts: str, *, before: bool = False) -> str | None:
        """The branch at a moment; of the second in which it changed, the new one, or the one `before`."""
        at = (bisect_left if before else bisect_right)(self._times, _second(ts))
        ref = self._refs[at - 1] if at else None
        return ref.removeprefix(_HEADS) if ref else None

    def may_be_on(self, branch: str | None, ts: str) -> bool:
        """Whether an agent may rightly say that it was on a branch at a moment: unless the log names another one."""
        known = {self.branch(at) for at in (ts, timestamp(datetime.fromisoformat(ts) - timedelta(seconds=1)))} - {None}
        return not branch or not known or branch in known

    def committed(self, since: str, until: str) -> set[str]:
        """The branches on which commits were made in a span of time."""
        begin = bisect_left(self._commits, _second(since), key=lambda row: row[0])
        rows = takewhile(lambda row: row[0] <= _second(until) + _AFTER, self._commits[begin:])
        return {ref.removeprefix(_HEADS) for _, ref in rows if ref}


def _by_branch(turn: TranscriptTurn, tree: _TreeHistory) -> Iterator[TranscriptTurn]:
    """A turn on the branches where it changed something: files, or the branch itself; else where it ended."""
    times = [at for at in (moment(turn.ts), *(moment(step.ts) for step in turn.steps)) if at]
    # Git's log knows whole seconds. In the second of a switch an agent that makes none was not yet on the new branch:
    # it ended, and then somebody switched. A turn that only begins in that second was begun after the switch.
    own = any(_SWITCHING.search((call.command or "")[:8_000]) for step in turn.steps for call in step.calls)
    stood: list[str | None] = []
    for step in turn.steps or (None,):
        at = moment(step.ts) if step and step.ts else moment(turn.ts)
        early = not own and at is not None and _second(at) > _second(times[0])
        stood.append((tree.branch(at, before=early) if at else None) or (stood[-1] if stood else None))
    done = tree.committed(times[0], times[-1]) if len({*stood}) > 1 else set()
    ends: list[tuple[int, str | None]] = []  # where each part ends, and its branch
    for name, group in groupby(enumerate(stood), key=lambda pair: pair[1]):
        there = [n for n, _ in group]
        if name in done or any(call.edits for n in there for call in (turn.steps[n].calls if turn.steps else ())):
            ends = [*(ends[:-1] if ends and ends[-1][1] == name else ends), (there[-1] + 1, name)]
    *before, (_, last) = ends or [(0, stood[-1])]
    begin = 0
    for end, name in (*before, (len(turn.steps), last)):
        part = replace(turn, branch=name or turn.branch, steps=turn.steps[begin:end])
        if end < len(turn.steps):
            part = replace(part, interrupted=False, commits=())
        if begin:  # it stands in the file where the turn does, but is not the turn that begins there
            key, ts = part.steps[0].id, part.steps[0].ts
            part = replace(part, key=key, ts=ts, continues=True, end=turn.start)
        yield part
        begin = end


def _ran_at(call: AgentGitCall, second: float) -> bool:
    return _second(call.since) <= second <= _second(call.until) + _AFTER


def _fits(row: reflog.ReflogRow, call: AgentGitCall) -> bool:
    """Whether a commit of git's log may be a call's: `git commit` finishes what others of its kind began."""
    verb = re.match(r"[\w-]+", row.message)
    begun = verb is not None and verb[0] == "commit" and call.verbs - {"pull"}
    return _ran_at(call, row.time) and verb is not None and (verb[0] in call.verbs or bool(begun))


@frozen
class _Stood:
    """What a work tree had checked out: a commit, empty if nobody can tell, and the branch it was on."""

    oid: str
    ref: str | None


def _standing(log: list[reflog.ReflogRow], ts: str) -> str | None:
    """Where a ref stood at a moment; None if its log does not say, empty if it moved in that second."""
    second = _second(ts)
    if any(row.time == second for row in log):
        return ""
    before = [row for row in log if row.time < second]
    return before[-1].oid if before else None


def _second(ts: str) -> int:
    return int(datetime.fromisoformat(ts).timestamp())


def _is_name(branch: str) -> bool:
    """Whether this can be a branch's name; anything else would ask git something else."""
    return bool(re.fullmatch(r"[^\s~^:?*\[\\\x00-\x1f\x7f-][^\s~^:?*\[\\\x00-\x1f\x7f]*", branch)) and (
        ".." not in branch and "@{" not in branch and not branch.endswith(("/", ".lock", "."))
    )


def moment(ts: str | None) -> str | None:
    """A time as we write it; None if it is none."""
    try:
        known = datetime.fromisoformat(ts or "")
        return timestamp((known if known.tzinfo else known.replace(tzinfo=UTC)).astimezone(UTC))
    except (ValueError, OverflowError):
        return None


_LATE = timedelta(seconds=2)  # a file's time may be cut to its seconds, and written a little later


def latest_moment(mtime: int, now: datetime) -> str:
    """The last moment that a transcript can tell of: `mtime` is its own, in nanoseconds."""
    try:
        return timestamp(min(datetime.fromtimestamp(mtime / 1e9, UTC), now))
    except (ValueError, OverflowError, OSError):
        return timestamp(now)


def believed_turns(turns: Iterable[TranscriptTurn], until: str) -> Iterator[TranscriptTurn]:
    """Turns without the times that cannot be true."""
    end = _end(until)
    for turn in turns:
        times = (turn.ts, *(step.ts for step in turn.steps))
        if all(_before(ts, end) == ts for ts in times):
            yield turn
        else:
            steps = tuple(replace(step, ts=_before(step.ts, end)) for step in turn.steps)
            yield replace(turn, ts=_before(turn.ts, end), steps=steps)


def believed_start(origin: TranscriptOrigin, until: str) -> TranscriptOrigin:
    """A session's origin, without the time of its beginning if that cannot be true."""
    return replace(origin, started=_before(origin.started, _end(until)))


def _end(until: str) -> str:
    return timestamp(datetime.fromisoformat(until) + _LATE)


def _before(ts: str | None, end: str) -> str | None:
    known = moment(ts)
    return None if known is not None and known > end else ts


def turn_began(turn: TranscriptTurn, origin: TranscriptOrigin) -> str | None:
    """When a turn began, as far as the transcript tells."""
    steps = (moment(step.ts) for step in turn.steps)
    return moment(turn.ts) or next(filter(None, steps), None) or moment(origin.started)
