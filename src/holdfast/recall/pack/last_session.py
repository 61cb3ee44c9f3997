"""Chooses the session that a new one continues, and renders its thread as lines.

It is the last session of this branch, else of the nearest ancestor, else the one that worked on the same files. Git is
asked a few questions for all sessions together, not one for each. A session of another line (the id of a branch's work)
is always shown as such. A commit that this clone cannot see (shallow, pruned) is not an ancestor.

The thread is the newest session, open matters of earlier ones, and the last session with entries. Where room is scarce,
open matters stay longest: first the session's own, then those of others. Every line starts with its session's id, so no
session's text can look like the frame around it.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence

from holdfast.git import branch_lines, event_lookup
from holdfast.git.cited_commits import commit_anchors
from holdfast.git.clone import Clone
from holdfast.git.repo import Repo
from holdfast.model import brief as model_brief
from holdfast.model.brief import OpenMatter, brief, shortened
from holdfast.model.journal_pages import is_journal_page
from holdfast.model.session import Session, now_at
from holdfast.patterns import regex
from holdfast.recall.pack.pack_lines import PackLine, ToldRevision, first_lines, line_tokens, plain_line, size_of_lines
from holdfast.recall.path_patterns import one_spelling
from holdfast.store import layout as paths
from holdfast.values import frozen, replace

FARTHEST = 20_000  # commits searched for an ancestor; a guess: older work says little about the current one
SOUGHT = 100  # last updated sessions whose rewritten commits are searched; a guess that bounds the time
_NAMED = 3  # shared files that are named; a guess: they only explain the choice


@frozen
class ChosenSession:
    """The session that a new one continues, and why."""

    session: Session | None
    how: str  # "branch", "ancestor", "paths" or "none"
    why: str
    since: str | None = None  # the commit of this history that the session ended at
    lost: str | None = None  # its last commit, if it is not in this history
    before: "ChosenSession | None" = None  # the last session with entries, if this one has none yet


@frozen
class ChangedFiles:
    """The changed files: uncommitted ones, and those of commits that only this branch has."""

    uncommitted: Mapping[str, str]  # path to git's two letters
    committed: tuple[str, ...]

    @property
    def paths(self) -> set[str]:
        return {*self.uncommitted, *self.committed}


def choose(clone: Clone, sessions: Sequence[Session], *, changed: ChangedFiles | None = None) -> ChosenSession:
    """Returns the most relevant session for this branch and HEAD; `changed` if the caller has the changed files."""
    line = clone.line().id
    own = [session for session in sessions if session.line == line]
    with_entries = [session for session in sessions if has_content(session)]
    others = visible_here(clone, [session for session in with_entries if session.line != line])
    if not own:
        found = _elsewhere(clone, others, changed)
        return found or ChosenSession(None, "none", _why_none(clone, sessions))
    newest = max(own, key=lambda one: _newest(one, clone.worktree))
    found = _of_branch(clone, newest)
    if has_content(newest):
        return found
    own_with_entries = [session for session in with_entries if session.line == line]
    last = max(own_with_entries, key=lambda one: _newest(one, clone.worktree), default=None)
    before = _of_branch(clone, last) if last else _elsewhere(clone, others, changed)
    note = "it has no entries yet"
    if before is not None and before.session is not None:
        whose = "" if before.session.line == line else f" (of {_whose(clone, before.session)})"
        note = f"{note}, {before.session.id}{whose} was the last with entries"
    return replace(found, why=f"{found.why}; {note}", before=before)


def visible_here(clone: Clone, sessions: Sequence[Session]) -> list[Session]:
    """Returns the sessions without those of other existing branches, unless this branch has their work.

    A branch has what is in its log or among its commits; unmerged work of other branches is not in its files.
    """
    line = clone.line()
    others = [one for one in sessions if not line.sees(one.line, one.started.ts)]
    if not others:
        return list(sessions)
    living = branch_lines.alive(clone.repo, *clone.stores)
    doubtful = [one for one in others if one.line in living]
    steps = distances(clone.repo) if any(one.commits for one in doubtful) else {}
    merged = {one.id for one in doubtful if one.commits and one.commits[-1] in steps}
    heard = event_lookup.sessions_in_log(clone, [one for one in doubtful if one.id not in merged])
    hidden = {one.id for one in doubtful} - merged - heard
    return [one for one in sessions if one.id not in hidden]


def _elsewhere(clone: Clone, others: Sequence[Session], changed: ChangedFiles | None) -> ChosenSession | None:
    return _nearest(clone, others, clone.repo.head().oid) or _sharing(others, changed, clone)


def has_content(session: Session) -> bool:
    """Whether a session has anything to hand on: a new one has not."""
    names = ("turns", "condensed", "summary", "scratchpad", "decisions", "open", "follow_ups", "approvals")
    return any(getattr(session, name) for name in names)


def last_commit(session: Session) -> str | None:
    """Returns the last known commit of a session, by its current id."""
    ended = now_at(session, session.ended).commit if session.ended else None
    made = session.commits[-1] if session.commits else None
    return ended or now_at(session, session.updated).commit or made or session.started.commit


def files_of(session: Session) -> set[str]:
    """Returns the files a session worked on."""
    return {*session.files, *(path for turn in session.turns for path in turn.files)}


def look_at_changes(repo: Repo, *, trunk: str | None = None, journal: str | None = None) -> ChangedFiles:
    """Returns the changed files; without a trunk only the uncommitted ones."""
    base = branched_off(repo, trunk)
    return ChangedFiles(uncommitted(repo, journal=journal), changed_files(repo, base) if base else ())


def uncommitted(repo: Repo, *, journal: str | None = None) -> dict[str, str]:
    """Returns the files that differ from HEAD, without ours; a new folder is one name."""
    out = repo.run("status", "--porcelain=v1", "-z", "-unormal", "--no-renames")
    rows = {os.fsdecode(row[3:]): row[:2].decode("ascii") for row in out.split(b"\0") if row}
    mine = (path for path in rows if not _is_ours(path))
    return {path: rows[path] for path in mine if not _is_journal(repo, path, journal)}


def _is_journal(repo: Repo, path: str, folder: str | None) -> bool:
    """Whether a path is a page of the journal, or a new folder that contains nothing else."""
    if folder is None or not path.endswith("/"):
        return is_journal_page(path, folder)
    if not f"{folder}/".startswith(path):
        return False
    there = os.walk(os.path.join(repo.top, path))
    names = (os.path.relpath(os.path.join(at, name), repo.top) for at, _, files in there for name in files)
    return all(is_journal_page(name.replace(os.sep, "/"), folder) for name in names)


def changed_files(repo: Repo, old: str) -> tuple[str, ...]:
    """Returns the files that differ between a commit and HEAD, without ours."""
    if old == repo.head().oid:
        return ()
    out = repo.run("diff", "--name-only", "--no-renames", "-z", old, "HEAD", "--", ok=range(256))
    return tuple(name for name in map(os.fsdecode, out.split(b"\0")) if name and not _is_ours(name))


def branched_off(repo: Repo, trunk: str | None) -> str | None:
    """Returns the commit at which this branch left the trunk; None if unknown."""
    head, tip = repo.head().oid, repo.resolve(trunk) if trunk else None
    if head is None or tip is None or head == tip:
        return tip if head else None
    return repo.text("merge-base", "HEAD", tip, ok=range(256)) or None


def _is_ours(path: str) -> bool:
    return path == paths.TRACKED or path.startswith(f"{paths.TRACKED}/")


def _newest(session: Session, worktree: str) -> tuple[bool, bool, str, str]:
    is_open = session.state == "open"
    return is_open and session.worktree == worktree, is_open, session.updated.ts, session.id


# ── the same branch ──────────────────────────────────────────────────────────────────────────────


def _of_branch(clone: Clone, session: Session) -> ChosenSession:
    state = f"ended {minute(session.ended.ts)}" if session.ended else "still open"
    why = f"the last session on {_place(clone)}, {state}"
    last = last_commit(session)
    if last is None or clone.repo.head().oid is None:
        return ChosenSession(session, "branch", why)
    if clone.repo.is_ancestor(last, "HEAD"):
        return ChosenSession(session, "branch", why, since=last)
    if (moved := _moved(clone, [last]).get(last)) and clone.repo.is_ancestor(moved, "HEAD"):
        said = f"its last commit {last[:12]} was rewritten and is {moved[:12]} now"
        return ChosenSession(session, "branch", f"{why}; {said}", since=moved, lost=last)
    said = f"its last commit {last[:12]} is not in this history any more (see `holdfast reconcile`)"
    if clone.repo.is_shallow() and clone.repo.attempt("cat-file", "-e", last).returncode:  # a commit that is here can
        said = f"whether its last commit {last[:12]} is in this history is unknown in a shallow clone"
    return ChosenSession(session, "branch", f"{why}; {said}", lost=last)


def _moved(clone: Clone, oids: Iterable[str]) -> dict[str, str]:
    """Returns the new ids of rewritten commits."""
    found = commit_anchors.resolve(clone, oids)
    return {oid: now.commit for oid, now in found.items() if now.state == "moved" and now.commit}


# ── the nearest ancestor ─────────────────────────────────────────────────────────────────────────


def _nearest(clone: Clone, sessions: Sequence[Session], head: str | None) -> ChosenSession | None:
    ends = {session.id: last for session in sessions if (last := last_commit(session))}
    if head is None or not ends:
        return None
    steps = distances(clone.repo)
    places = _places(clone, sessions, ends, steps)
    near = [session for session in sessions if session.id in places]
    if not near:
        return None
    session = min(near, key=lambda one: (steps[places[one.id]], *_last_first(one)))
    end, at = ends[session.id], places[session.id]
    back = f"{steps[at]:,} commit{'' if steps[at] == 1 else 's'} back"
    where = "at this very commit" if steps[at] == 0 else f"at {at[:12]}, {back}"
    was = f" ({end[:12]} before it was rewritten)" if end != at else ""
    why = f"no session on {_place(clone)} yet; this one is of {_whose(clone, session)} and was last {where}{was}"
    return ChosenSession(session, "ancestor", why, since=at, lost=end if end != at else None)


def _places(
    clone: Clone, sessions: Sequence[Session], ends: Mapping[str, str], steps: Mapping[str, int]
) -> dict[str, str]:
    """Returns, by session, the commit of this history it was last at, including rewritten ones."""
    places = {name: end for name, end in ends.items() if end in steps}
    if any(steps[end] == 0 for end in places.values()):
        return places  # HEAD itself: nothing is nearer
    last = sorted((one for one in sessions if one.id in ends), key=_last_first)[:SOUGHT]
    lost = {ends[one.id] for one in last} - set(places.values())
    moved = _moved(clone, sorted(lost)) if lost else {}
    found = {name: moved[end] for name, end in ends.items() if moved.get(end) in steps}
    return {**found, **places}


def _last_first(session: Session) -> tuple[int, ...]:
    """Returns a sort key that puts the last updated first."""
    return tuple(-ord(char) for char in session.updated.ts)


def distances(repo: Repo) -> dict[str, int]:
    """Returns the number of steps from HEAD to each ancestor, within the limit."""
    out = repo.attempt("rev-list", "--parents", f"--max-count={FARTHEST}", "HEAD", "--").stdout
    rows = [row.split(" ") for row in out.decode("ascii").splitlines()]
    parents = {row[0]: row[1:] for row in rows}
    steps = {rows[0][0]: 0} if rows else {}
    waiting = deque(steps)
    while waiting:
        commit = waiting.popleft()
        for parent in parents.get(commit, ()):
            if parent not in steps and parent in parents:  # commits beyond a shallow end are unknown
                steps[parent] = steps[commit] + 1
                waiting.append(parent)
    return steps


# ── the same files ───────────────────────────────────────────────────────────────────────────────


def _sharing(sessions: Sequence[Session], changed: ChangedFiles | None, clone: Clone) -> ChosenSession | None:
    if not sessions:
        return None
    here = (changed or look_at_changes(clone.repo, trunk=clone.repo.trunk())).paths
    alike = {one_spelling(path): path for path in here}
    shared = [({alike[p] for p in map(one_spelling, files_of(s)) if p in alike}, s) for s in sessions]
    best = [pair for pair in shared if pair[0]]
    if not best:
        return None
    files, session = min(best, key=lambda pair: (-len(pair[0]), *_last_first(pair[1])))
    named = ", ".join(sorted(files)[:_NAMED]) + (" …" if len(files) > _NAMED else "")
    why = (
        f"no session on {_place(clone)} or at an ancestor of it; this one is of {_whose(clone, session)} "
        f"and worked on {len(files)} of the files that changed here ({named})"
    )
    return ChosenSession(session, "paths", why, lost=last_commit(session))


# ── words ────────────────────────────────────────────────────────────────────────────────────────


def minute(ts: str) -> str:
    """Returns a time to the minute, in UTC."""
    return f"{ts[:16].replace('T', ' ')} UTC"


NONE_YET = "no session was recorded yet"


def _why_none(clone: Clone, sessions: Sequence[Session]) -> str:
    if not sessions:
        return NONE_YET
    told = "the only session is not" if len(sessions) == 1 else f"none of {len(sessions):,} sessions is"
    far = "; this clone is shallow, so older history is unknown" if clone.repo.is_shallow() else ""
    return f"{told} of {_place(clone)}, at an ancestor of it, or on the files that changed here{far}"


def _place(clone: Clone) -> str:
    branch = clone.repo.head().branch
    return f"branch {branch}" if branch else "this detached HEAD"


def _whose(clone: Clone, session: Session) -> str:
    branch = session.updated.branch or session.branch
    earlier = "an earlier " if branch and branch == clone.repo.head().branch else ""
    return f"{earlier}branch {branch}" if branch else session.updated.place


WHOLE = 1 << 20  # tokens: a session without a cut
_ANSWERS = 5  # answers of people that are shown; a guess
_CLOSE = " (close it with `holdfast session note --close {name}`)"
_LEFT = {"open": "left open", "asked": "waits for a yes or no", "later": "to follow up"}
_STATES = {"granted": "allowed", "denied": "denied"}
_TITLES = (
    *("Where:", "Objective:", "Tasks:", "Summary:", "Turns:", "Commits no turn tells of:", "Decided:"),
    *("Allowed:", "Denied:", "Failed when last run:", "Open:", "Waiting for a yes or no:", "To follow up:"),
    *("Scratchpad:", "Files:"),
)
_BEFORE = regex(r"Before, in \d+ turns:")
# A turn starts with its prompt; the objective is the first prompt, so prompts are left out.
_PROMPT = regex(r"(\d+\. )Asked: .*? — ")
_ONLY_PROMPT = regex(r"\d+\. Asked: (?!.* — ).*")
_LABELS = {"Where:": "on", "Turns:": "turn", "Waiting for a yes or no:": "waits for a yes or no:"}
_TRIES = (3.6, 2.8, 2.2, 1.7, 1.3, 1.0, 0.7, 0.5)  # bytes a token, from prose to digits only


@frozen
class SessionThread:
    """The chosen session and those before it."""

    session: Session
    is_here: bool  # open in this work tree: its items have short names
    told: Session | None = None  # the last one with entries, if this one has none yet
    earlier: tuple[Session, ...] = ()  # newest first
    blobs: Mapping[str, str] | None = None  # session to the revision of its file
    line: str = ""  # of the branch that is checked out, and what that is called
    branch: str = ""

    def place(self, session: Session) -> str:
        """Returns where a session was; of one whose agent did not say, the branch in whose log it stands."""
        branch = session.updated.branch or session.branch
        if not branch and not session.updated.commit and session.line == self.line:
            branch = self.branch
        return branch or session.updated.place


def thread_lines(thread: SessionThread, room: int = WHOLE) -> list[PackLine]:
    """Returns the thread in at most `room` tokens, the most important lines first."""
    for each in _TRIES:
        found = _lines(thread, room, each)
        if size_of_lines(found, most=room) <= room:
            return found
    return first_lines(found, room)


def _lines(thread: SessionThread, room: int, each: float) -> list[PackLine]:
    left = _fitting(_left(thread), room // 2)
    told = thread.told.id if thread.told else None
    found = [one for one in model_brief.answered_matters(thread.earlier) if one.session.id != told]
    rows = [_matter(thread, one, _STATES.get(one.state, one.state), "") for one in found[:_ANSWERS]]
    answers = _fitting(rows, room // 8)
    rest = room - size_of_lines(left, most=room) - size_of_lines(answers, most=room)
    own = _brief(thread, thread.session, int(each * (rest // 3 if thread.told else rest)))
    if (last := thread.told) is None:
        return [*own, *left, *answers]
    before = _brief(thread, last, int(each * (rest - size_of_lines(own, most=rest) - 30)))
    state = f"ended {minute(last.ended.ts)}" if last.ended else "open"
    said = f"- {last.id} on {_session_place(thread, last)} ({state}) was the last session with entries:"
    return [*own, *left, *answers, *([plain_line(said, _told(thread, last)), *before] if before else [])]


def _told(thread: SessionThread, session: Session) -> ToldRevision:
    return ToldRevision(session.id, "session", (thread.blobs or {}).get(session.id), "the session to continue")


def _left(thread: SessionThread) -> list[PackLine]:
    told = thread.told.id if thread.told else None
    there = [one for one in model_brief.left_by(thread.session, thread.earlier) if one.session.id != told]
    named = list(dict.fromkeys(one.session.id for one in there))[: model_brief.MAX_EARLIER_SESSIONS]
    shown = [one for one in there if one.session.id in named]
    hints = [_CLOSE.format(name=one.name) if at == 0 else "" for at, one in enumerate(shown)]
    rows = [_matter(thread, one, _LEFT[one.kind], hint) for one, hint in zip(shown, hints, strict=True)]
    if len(shown) < len(there):
        more = f"- {shown[-1].session.id} and older: {len(there) - len(shown):,} more are left open"
        rows.append(plain_line(f"{more} (`holdfast session list --all`)", _told(thread, shown[-1].session)))
    return rows


def _matter(thread: SessionThread, one: OpenMatter, said: str, hint: str) -> PackLine:
    task = f" ({one.task})" if one.task else ""
    what = f"{said} on {_session_place(thread, one.session)}: {shortened(one.text, 240)}"
    return plain_line(f"- {one.name} {what}{task}{hint}", _told(thread, one.session))


def _session_place(thread: SessionThread, session: Session) -> str:
    return shortened(thread.place(session), 80)


def _brief(thread: SessionThread, session: Session, room: int) -> list[PackLine]:
    """Returns a session in about `room` bytes, each line with its id and its label."""
    named = session is not thread.session or not thread.is_here
    told = brief(session, budget=max(1, room // 4), named=named, place=thread.place(session)).text.split("\n")[1:]
    return [plain_line(text, _told(thread, session)) for text in _labelled(session.id, told)]


def _labelled(identity: str, told: Sequence[str]) -> Iterator[str]:
    label = ""
    for text in told:
        if text in _TITLES or _BEFORE.fullmatch(text):
            label = _LABELS.get(text, text[0].lower() + text[1:])
            continue
        said = _PROMPT.sub(r"\1", text.removeprefix("- "), count=1)
        if label == "turn" and _ONLY_PROMPT.fullmatch(said):
            continue
        whose = "" if said.startswith(f"{identity}:") else f"{identity} "
        yield f"- {whose}{label} {said}"


def _fitting(rows: Sequence[PackLine], room: int) -> list[PackLine]:
    """Returns as many rows as fit, and how many did not."""
    if size_of_lines(rows, most=room) <= room:
        return list(rows)
    kept = first_lines(rows, room - 30)
    if not kept:
        return []
    session = kept[-1].told[0]
    more = PackLine(f"- {session.id} and others: {len(rows) - len(kept):,} more of these", (session,))
    return [*kept, more] if line_tokens(more.text) <= 30 else kept
