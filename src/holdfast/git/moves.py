"""Finds out what git did in this work tree since the last command.

It reads the records of git's hooks, where they are installed, and the reflogs, compares them with the state the last
command saw (`last_seen`), and describes each step in a sentence: one step for what people would call one thing. Git
writes reflogs in English whatever the user's language; a row that is not understood is a step of the kind `moved`,
described from the commits.

The map of rewritten commits is stored at once, as git reported it. Nothing is decided here: `holdfast reconcile`
explains and asks. During a merge or rebase nothing is reported; the state before it stays stored, so that the whole
operation is one move afterwards.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise

from holdfast.git import branch_lines, last_seen, reflog
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.git.last_seen import DiskGlance, GitMove, SeenClone, SeenWorkTree
from holdfast.git.repo import Repo
from holdfast.model.event import EventDraft, timestamp
from holdfast.model.text import count
from holdfast.patterns import regex
from holdfast.store import layout as paths
from holdfast.store.git_inbox import FiredHook
from holdfast.values import frozen, replace

_STAGE = regex(r"[^:]*? \(([a-z -]+)\)(?::|$)")

_RETURNED = regex(r"returning to (refs/heads/\S+)")
_MERGED = regex(r"merge ([^:]+): |commit \(merge\): Merge (?:[a-z-]+ )*'([^']+)'")
_OF_COMMIT = ("amend", "merge", "cherry-pick")
_AS_GIT_SAYS = ("cherry-pick", "reset", "checkout", "rebase")
_ONE_WORD = {"revert": "commits", "am": "commits", "Branch": "renamed", "clone": "forward"}
_GATHERED = ("commits", "cherry-pick")  # several in a row are one step


@frozen
class HeadStep:
    """One thing that moved HEAD."""

    kind: str  # commits, amend, merge, forward, reset, rebase, cherry-pick or moved
    before: str | None
    after: str
    ref: str | None  # the branch that was checked out
    time: int
    words: str  # git's reflog message
    commits: tuple[str, ...] = ()  # created by it, oldest first


def read_steps(rows: Sequence[reflog.ReflogRow], *, head: str | None, ref: str | None) -> list[HeadStep]:
    """Returns the steps that start at a commit and a branch; leaves out what ends where it began."""
    found: list[HeadStep] = []
    for step in _in_order(rows, head, ref):
        last = found[-1] if found else None
        if last and step.kind == last.kind in _GATHERED and step.ref == last.ref:
            found[-1] = replace(last, after=step.after, commits=(*last.commits, *step.commits), time=step.time)
        else:
            found.append(step)
    return found


def _in_order(rows: Sequence[reflog.ReflogRow], head: str | None, ref: str | None) -> Iterator[HeadStep]:
    replayed: HeadStep | None = None  # a rebase that has begun
    for row in rows:
        kind, stage = kind_of(row.message)
        if kind == "rebase" and stage == "start":
            replayed = HeadStep("rebase", head, row.oid, ref, row.time, row.message)
        elif replayed is not None and not (kind == "rebase" and stage in ("finish", "abort")):
            replayed = replace(replayed, after=row.oid, time=row.time)
        elif kind == "rebase":
            start = replayed or HeadStep("rebase", head, row.oid, ref, row.time, row.message)
            back = _RETURNED.search(row.message)
            ref, replayed = back[1] if back else start.ref, None
            if start.before != row.oid:
                yield replace(start, after=row.oid, ref=ref, time=row.time)
        elif kind == "renamed":
            ref = reflog.ref_after(row.message, ref)
            continue  # HEAD did not move, though the reflog shows a row without a commit
        elif kind == "checkout":
            before, ref = ref, reflog.ref_after(row.message, ref)
            if before == ref is not None and head != row.oid:  # `checkout -B` of the current branch
                yield HeadStep("reset", head, row.oid, ref, row.time, row.message)
        elif row.oid != head or kind in _GATHERED:
            made = (row.oid,) if kind in ("commits", "cherry-pick", "amend") else ()
            yield HeadStep(kind, head, row.oid, ref, row.time, row.message, made)
        head = row.oid
    if replayed is not None and replayed.before != replayed.after:  # `rebase --quit`
        yield replayed


def kind_of(message: str) -> tuple[str, str]:
    """Returns the kind of a reflog row, and the stage that its message has in brackets."""
    match = _STAGE.match(message)
    stage, first = match[1] if match else "", message.partition(" ")[0].rstrip(":")
    if first == "commit":
        return stage if stage in _OF_COMMIT else "commits", stage
    if first in ("merge", "pull"):
        if stage:
            return "rebase", stage  # pull --rebase
        return ("forward" if message.endswith("Fast-forward") else "merge"), ""
    if message.startswith("rebase finished"):
        return "rebase", "finish"
    return first if first in _AS_GIT_SAYS else _ONE_WORD.get(first, "moved"), stage


def merged(message: str) -> str | None:
    """Returns the name of the merged branch, if the row contains it."""
    found = _MERGED.match(message)
    return (found[1] or found[2]) if found else None


__all__ = ["GitMove", "Moves", "NewCommit", "mark_reported", "observe", "short"]

REWRITES = ("rebase", "amend", "moved")  # kinds that rewrite history and are recorded in the log
LONGEST = 60  # characters of a name in a sentence; a guess: longer names would fill a line of the terminal
_MARK = 80  # characters of a reflog message; with commit and time, enough to find the row again


@frozen
class NewCommit:
    """A commit that somebody made, with its work tree and branch."""

    worktree: str
    line: str
    ref: str | None
    oid: str
    ts: str


@frozen
class Moves:
    """The moves since the last command, and those that wait since the last `reconcile`."""

    new: tuple[GitMove, ...] = ()
    waiting: tuple[GitMove, ...] = ()
    made: tuple[NewCommit, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()  # rewritten commits with their new ids, as git reported them
    under_way: str | None = None


def observe(clone: Clone, fired: Sequence[FiredHook] = (), *, note: Callable[[Moves], None] | None = None) -> Moves:
    """Returns what git did since the last command here; if it did nothing, reads only a few file facts.

    `note` is called before the moves are stored as seen: after a kill in between, the next command reports them again.
    """
    if clone.reading or clone.layout.private != clone.private.private:
        return Moves()  # a sandbox cannot store the state: the next command outside it reports the moves
    before, common, now = last_seen.tree(clone), last_seen.shared(clone), DiskGlance(clone)
    if not fired and before and common and now.equals(before, common):
        return Moves(waiting=_by_time((*common.waiting, *before.waiting)), under_way=now.operation)
    with last_seen.alone(clone) as first:
        return _Observing(clone, now, fired).conclude(note) if first or fired else Moves()


def mark_reported(clone: Clone) -> None:
    """Clears the waiting moves after they were reported."""
    for seen in (last_seen.tree(clone), last_seen.shared(clone)):
        if seen and seen.waiting:
            last_seen.keep(clone, replace(seen, waiting=()))


def short(oid: str | None) -> str:
    """Returns a commit's id as people write it."""
    return oid[:12] if oid else "nothing"


class _Observing:
    """One comparison of git's state with the stored one."""

    def __init__(self, clone: Clone, now: DiskGlance, fired: Sequence[FiredHook]) -> None:
        self.clone, self.repo, self.now, self.fired = clone, clone.repo, now, fired
        self.ts = clone.now()
        self.moves: list[GitMove] = []
        self.of_clone: list[GitMove] = []
        self.made: list[NewCommit] = []
        self.pairs: dict[tuple[str, str], str] = {}  # to the kind of rewrite
        self.forced: list[str] = []  # rewritten upstream branches that were reported, now or before

    def conclude(self, note: Callable[[Moves], None] | None) -> Moves:
        """Finds the moves, calls `note`, stores the new state, and returns the moves."""
        before, common = last_seen.tree(self.clone), last_seen.shared(self.clone)
        self.forced = list(common.forced) if common else []
        self._read_firings()
        now_common, now_tree = self._shared(common), before
        if not self.now.operation:
            now_tree = self._tree(before)
            for kind in REWRITES:
                if found := [move for move in self.moves if move.kind == kind]:
                    body = {"action": kind, "count": sum(move.count for move in found)}
                    self.clone.record(EventDraft("rewrite", body=body))
        for kind in sorted(set(self.pairs.values())):
            chosen = [pair for pair, its in self.pairs.items() if its == kind]
            commit_anchors.learn(self.clone, chosen, kind=kind)
        waiting = _by_time((*now_common.waiting, *(now_tree.waiting if now_tree else ())))
        new = _by_time((*self.of_clone, *self.moves))
        moves = Moves(new, waiting, tuple(self.made), tuple(self.pairs), self.now.operation)
        if note is not None:
            note(moves)
        last_seen.keep(self.clone, replace(now_common, forced=tuple(self.forced[-last_seen.MOST :])))
        if now_tree is not None and now_tree != before:
            last_seen.keep(self.clone, now_tree)
        return moves

    # Records of git's hooks.

    def _read_firings(self) -> None:
        rewritten = {new for one in self.fired for _, new in one.pairs}
        for one in self.fired:
            self.pairs |= dict.fromkeys(one.pairs, one.args[0] if one.args else "rewrite")
            where = self.clone.worktree_of(one.git_dir)
            # In a rebase git commits existing changes again; for our own work tree the reflog is more reliable.
            elsewhere = where != self.clone.worktree or not self.now.log
            made = one.hook == "post-commit" and one.ref and one.head and one.head not in rewritten
            if made and elsewhere and (line := self._line_of(one.ref)) is not None:
                self.made.append(NewCommit(where, line, one.ref, one.head or "", one.ts))

    def _line_of(self, ref: str | None) -> str | None:
        return self.now.line if ref == self.now.head.ref else self._branches.get(ref or "")

    @cached_property
    def _branches(self) -> dict[str, str]:
        """Each branch that has a line, with the line's id."""
        return {ref: line for ref, (line, _) in branch_lines.configured(self.repo).items()}

    # The state that all work trees share.

    def _shared(self, before: SeenClone | None) -> SeenClone:
        now, branches = self.now, tuple(sorted(self._branches.items()))
        if before is None:
            before = SeenClone(now.config, branches, now.trees, "")
        if before.shallow and not now.shallow:
            self._of_clone("unshallow", None, None, "this clone has its whole history now")
        elif now.shallow and not before.shallow:
            sentence = "this clone is shallow: older commits cannot be checked here"
            self._of_clone("shallow", None, None, sentence)
        if branches != before.branches:
            self._compare_branches(dict(before.branches), dict(branches))
        theirs, ours = (_without_crews(trees) for trees in (before.trees, now.trees))
        for name in sorted({*before.trees} - {*now.trees} - theirs):
            last_seen.forget(self.clone, name)
        for name in sorted(theirs - ours):
            self._of_clone("worktree-removed", name, None, f"the work tree {name} is gone")
            last_seen.forget(self.clone, name)
        for name in sorted(ours - theirs):
            self._of_clone("worktree-added", None, name, f"a work tree was added: {name}")
        waiting = (*before.waiting, *self.of_clone)
        return SeenClone(now.config, branches, now.trees, now.shallow, waiting[-last_seen.MOST :], before.kept)

    def _compare_branches(self, before: dict[str, str], now: dict[str, str]) -> None:
        place = {line: ref for ref, line in now.items()}
        for ref, line in before.items():
            if now.get(ref) == line:
                continue
            if line in place:
                self._of_clone("renamed", ref, place[line], f"{_called(ref)} was renamed to {_called(place[line])}")
            else:
                again = " and created again" if self.repo.resolve(ref) else ""
                self._of_clone("deleted", ref, None, f"the branch {_called(ref)} was deleted{again}")

    def _of_clone(self, kind: str, before: str | None, after: str | None, sentence: str) -> None:
        self.of_clone.append(GitMove(kind, before, after, self.ts, sentence))

    # This work tree.

    def _tree(self, before: SeenWorkTree | None) -> SeenWorkTree:
        rows = reflog.read(self.repo.git_dir, "HEAD")
        # Another work tree under an old name: its reflog begins after the stored state.
        is_other = before is not None and rows and rows[0].begins and rows[0].time > _seconds(before.ts)
        if before is not None and not is_other:
            fresh = _fresh(rows, before)
            if fresh is not None:
                for step in read_steps(fresh, head=before.head, ref=before.ref):
                    self._report(step)
            self._compare_place(before, is_logged=fresh is not None, since=_switched(fresh or ()) or self.ts)
            if self.now.fetched != before.fetched:
                self._look_upstream(before)
        waiting = (*(before.waiting if before else ()), *self.moves)[-last_seen.MOST :]
        return self.now.tree(ts=self.ts, rows=len(rows), row=_mark(rows[-1]) if rows else "", waiting=waiting)

    def _report(self, step: HeadStep) -> None:
        match step.kind:
            case "commits" | "cherry-pick":
                self._report_commits(step)
            case "amend":
                if step.before is not None:
                    self.pairs.setdefault((step.before, step.after), "amend")
                self._note_made(step, [step.after])
                self._add(step, f"{short(step.before)} was amended: it is {short(step.after)} now", count=1)
            case "merge" | "forward":
                self._report_merge(step)
            case _:
                self._report_jump(step)

    def _report_commits(self, step: HeadStep) -> None:
        people = _not_only_ours(self.repo, step.commits)
        if not people:
            return
        self._note_made(step, people)
        n, where = count(len(people), "commit"), _called(step.ref)
        verb = "were" if len(people) > 1 else "was"
        words = "cherry-picked onto" if step.kind == "cherry-pick" else "made on"
        sentence = f"{n} {verb} {words} {where}, up to {short(people[-1])}"
        self._add(replace(step, after=people[-1]), sentence, count=len(people))

    def _note_made(self, step: HeadStep, oids: Iterable[str]) -> None:
        if (line := self._line_of(step.ref)) is not None:
            ts, tree = _moment(step.time), self.clone.worktree
            self.made.extend(NewCommit(tree, line, step.ref, oid, ts) for oid in oids)

    def _report_merge(self, step: HeadStep) -> None:
        gained = (_apart(self.repo, step.before, step.after) or (0, 0))[1]
        brought = count(gained, "new commit") if gained else "no new commits"
        where, command = _called(step.ref), step.words.partition(":")[0]
        if step.kind == "forward":
            sentence = f"{where} moved forward: {brought} with `git {command}`"
        elif source := merged(step.words):
            sentence = f"{_cut(source)} was merged into {where}: {brought}"
        else:
            how = "a merge was made" if command.startswith("commit") else f"`git {command}` ran"
            sentence = f"{how} on {where}: {brought}"
        self._add(step, sentence, count=gained)

    def _report_jump(self, step: HeadStep) -> None:
        """Reports a reset, a rebase, or an unknown step."""
        apart = _apart(self.repo, step.before, step.after)
        where, way = _called(step.ref), f"from {short(step.before)} to {short(step.after)}"
        if apart is None:
            sentence = f"{where} was rewritten: it was at {short(step.before)}, which no longer exists, and is at "
            self._add(replace(step, kind="moved"), f"{sentence}{short(step.after)} now", count=1)
            return
        lost, gained = apart
        if not lost:
            brought = count(gained, "commit")
            self._add(replace(step, kind="forward"), f"{where} moved forward {way}: {brought}", count=gained)
            return
        left = f"{count(lost, 'commit')} {'are' if lost > 1 else 'is'} no longer in it"
        if step.kind == "rebase":
            self._add(step, f"{where} was rebased {way}: {count(lost, 'commit')} rewritten", count=lost)
        elif gained:
            self._add(step, f"{where} was moved {way}, to another history: {left}", count=lost)
        else:
            self._add(replace(step, kind="reset"), f"{where} was reset {way}: {left}", count=lost)

    def _add(self, step: HeadStep, sentence: str, *, count: int) -> None:
        when = _moment(step.time)
        self.moves.append(GitMove(step.kind, step.before, step.after, when, sentence, step.ref, count))

    def _compare_place(self, before: SeenWorkTree, *, is_logged: bool, since: str) -> None:
        """Reports a switch of branches, and a move of HEAD that the reflog does not show."""
        now = self.now
        if now.head.ref is None and before.ref is not None:
            sentence = f"HEAD is detached at {short(now.head.oid)}; it was on {_called(before.ref)}"
            self.moves.append(GitMove("detached", before.ref, now.head.oid, since, sentence))
        elif now.line != before.line:
            sentence = f"this work tree is on {_called(now.head.ref)} now; it was on {_called(before.ref)}"
            self.moves.append(GitMove("branch", before.ref, now.head.ref, since, sentence, now.head.ref))
        elif not is_logged and now.head.oid and before.head and now.head.oid != before.head:
            when = _seconds(self.ts)
            self._report_jump(HeadStep("moved", before.head, now.head.oid, now.head.ref, when, "an unlogged move"))

    def _look_upstream(self, before: SeenWorkTree) -> None:
        """Reports upstream branches that were rewritten on their remote."""
        rows = self.repo.text("for-each-ref", "--format=%(refname) %(upstream)", "refs/heads")
        for ref, _, upstream in (row.partition(" ") for row in rows.split("\n")):
            if upstream and (ref in self._branches or ref == self.now.head.ref):
                self._compare_upstream(upstream, _seconds(before.ts))

    def _compare_upstream(self, upstream: str, since: int) -> None:
        log = reflog.read(self.repo.common_dir, upstream)
        for old, new in pairwise(log):
            if new.time < since or not new.message.endswith("forced-update"):
                continue
            if (mark := f"{upstream} {_mark(new)}") not in self.forced:
                self.forced.append(mark)
                lost = (_apart(self.repo, old.oid, new.oid) or (0, 0))[0]
                name = upstream.removeprefix("refs/remotes/")
                sentence = f"{name} was rewritten on its remote: {count(lost, 'commit')} no longer in it"
                self.moves.append(GitMove("upstream", old.oid, new.oid, _moment(new.time), sentence, upstream, lost))


def _fresh(rows: list[reflog.ReflogRow], before: SeenWorkTree) -> list[reflog.ReflogRow] | None:
    """Returns the rows since the stored state; None if the reflog does not show where they begin."""
    if not before.row:
        return rows if before.head is None and rows else None
    if 0 < before.rows <= len(rows) and _mark(rows[before.rows - 1]) == before.row:
        return rows[before.rows :]
    marks = (at for at in reversed(range(len(rows))) if _mark(rows[at]) == before.row)  # older rows may have expired
    return next((rows[at + 1 :] for at in marks), None)


def _mark(row: reflog.ReflogRow) -> str:
    return f"{row.oid} {row.time} {row.message[:_MARK]}".encode("utf-8", "replace").decode("utf-8")


def _not_only_ours(repo: Repo, oids: Sequence[str]) -> list[str]:
    """Returns the commits that change more than Holdfast's own files: a publish is not reported as work."""
    shape = ("--stdin", "-r", "--root", "--name-only", "--no-renames", "-z")
    done = repo.attempt("diff-tree", *shape, stdin="".join(f"{oid}\n" for oid in oids).encode("ascii"))
    files: dict[str, list[str]] = {oid: [] for oid in oids}
    current = ""
    for word in os.fsdecode(done.stdout).split("\0"):
        if word in files:
            current = word
        elif word and current:
            files[current].append(word)
    ours = paths.TRACKED + "/"
    return [oid for oid, names in files.items() if not names or any(not n.startswith(ours) for n in names)]


def _by_time(found: Iterable[GitMove]) -> tuple[GitMove, ...]:
    return tuple(sorted(found, key=lambda move: move.ts))


def _switched(rows: Sequence[reflog.ReflogRow]) -> str | None:
    """Returns when a branch was last checked out, if the reflog shows it."""
    times = [row.time for row in rows if kind_of(row.message)[0] == "checkout"]
    return _moment(times[-1]) if times else None


def _apart(repo: Repo, before: str | None, after: str) -> tuple[int, int] | None:
    """Returns how many commits only the first has, and only the second; None if they cannot be read."""
    if before is None:
        return 0, 0
    done = repo.attempt("rev-list", "--left-right", "--count", f"{before}...{after}")
    left, _, right = done.stdout.decode("ascii", "replace").strip().partition("\t")
    return (int(left), int(right)) if left.isdigit() and right.isdigit() else None


def _called(ref: str | None) -> str:
    return _cut(branch_lines.called(ref)) if ref else branch_lines.DETACHED_NAME


def _cut(name: str) -> str:
    """Shortens a branch's name for a sentence."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def _moment(seconds: int) -> str:
    return timestamp(datetime.fromtimestamp(seconds, UTC))


def _seconds(ts: str) -> int:
    return int(datetime.fromisoformat(ts).timestamp())


def _without_crews(trees: Iterable[str]) -> set[str]:
    """Returns the names of work trees except those of crews, which make hundreds (`crew.task_worktree`)."""
    return {name for name in trees if not name.startswith("crew-")}
