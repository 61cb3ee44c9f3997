"""Which session a new one continues, and that session's thread in lines.

The same branch's, else the nearest ancestor's, else the one that worked on the same files. Ranking is plain comparing
of values; git is asked a few questions for all sessions together, never one for each. What a session of another line
says is never taken for this line's: it is said whose it is. A commit that this clone cannot see (shallow, pruned) is
not an ancestor.

The thread is the newest session, what earlier ones left open, and the last that said something. What is open stays
longest when there is little room: first the session's own, then what is left of others. Every line begins with the
session it is of, so nothing a session says can look like the frame around it.
"""

import os
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from holdfast.git import branch_lines, event_lookup, reflog
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

FARTHEST = 20_000  # commits looked at for an ancestor; what lies farther back says little about now
SOUGHT = 100  # sessions whose commits are looked for after a rewrite; the last updated ones
_NAMED = 3  # shared files that are named


@frozen
class ChosenSession:
    """The session that a new one continues, and why."""

    session: Session | None
    how: str  # "branch", "ancestor", "paths" or "none"
    why: str
    since: str | None = None  # the commit of this history that the session ended at
    lost: str | None = None  # its last commit, if that is not in this history
    before: "ChosenSession | None" = None  # the last session that told something, if this one has not yet


@frozen
class ChangedFiles:
    """What is different here: not committed, and committed on this branch alone."""

    uncommitted: Mapping[str, str]  # path to git's two letters
    committed: tuple[str, ...]

    @property
    def paths(self) -> set[str]:
        return {*self.uncommitted, *self.committed}


def choose(clone: Clone, sessions: Sequence[Session], *, changed: ChangedFiles | None = None) -> ChosenSession:
    """The most relevant session for this branch and HEAD; `changed` if somebody has looked already."""
    line = clone.line().id
    own = [session for session in sessions if session.line == line]
    telling = [session for session in sessions if has_content(session)]
    others = told_here(clone, [session for session in telling if session.line != line])
    if not own:
        found = _elsewhere(clone, others, changed)
        return found or ChosenSession(None, "none", _why_none(clone, sessions))
    newest = max(own, key=lambda one: _newest(one, clone.worktree))
    found = _of_branch(clone, newest)
    if has_content(newest):
        return found
    told = [session for session in telling if session.line == line]
    last = max(told, key=lambda one: _newest(one, clone.worktree), default=None)
    before = _of_branch(clone, last) if last else _elsewhere(clone, others, changed)
    said = "it has told nothing yet"
    if before is not None and before.session is not None:
        whose = "" if before.session.line == line else f" (of {_whose(clone, before.session)})"
        said = f"{said}, {before.session.id}{whose} was the last that did"
    return replace(found, why=f"{found.why}; {said}", before=before)


def told_here(clone: Clone, sessions: Sequence[Session]) -> list[Session]:
    """The sessions without those of other branches that are alive, unless this one started from there or holds them.

    What a branch holds is in its log, or among its commits: work that was not merged would be looked for in vain.
    """
    line = clone.line()
    others = [one for one in sessions if not line.sees(one.line, one.started.ts)]
    if not others:
        return list(sessions)
    living = branch_lines.alive(clone.repo, *clone.stores)
    doubtful = [one for one in others if one.line in living]
    steps = distances(clone.repo) if doubtful else {}
    merged = {
        one.id for one in doubtful if last_commit(one) in steps and (one.commits or _made_there(clone, one, steps))
    }
    heard = event_lookup.sessions_in_log(clone, [one for one in doubtful if one.id not in merged])
    hidden = {one.id for one in doubtful} - merged - heard
    return [one for one in sessions if one.id not in hidden]


def _made_there(clone: Clone, session: Session, here: Container[str]) -> bool:
    """Whether a commit that was made on a session's branch is here: where it began is no work of it."""
    line = branch_lines.find(clone.stores, session.line)
    rows = reflog.read(clone.repo.common_dir, line.refs[-1]) if line else []
    return any(row.oid in here and row.message.startswith("commit") for row in rows)


def _elsewhere(clone: Clone, others: Sequence[Session], changed: ChangedFiles | None) -> ChosenSession | None:
    return _nearest(clone, others, clone.repo.head().oid) or _sharing(others, changed, clone)


def has_content(session: Session) -> bool:
    """Whether a session has anything to hand on: one that only just began has not."""
    names = ("turns", "condensed", "summary", "scratchpad", "decisions", "open", "follow_ups", "approvals")
    return any(getattr(session, name) for name in names)


def last_commit(session: Session) -> str | None:
    """Where in history a session was when it was last heard of, by the name that commit has now."""
    ended = now_at(session, session.ended).commit if session.ended else None
    made = session.commits[-1] if session.commits else None
    return ended or now_at(session, session.updated).commit or made or session.started.commit


def files_of(session: Session) -> set[str]:
    """The files a session worked on."""
    return {*session.files, *(path for turn in session.turns for path in turn.files)}


def look_at_changes(repo: Repo, *, trunk: str | None = None, journal: str | None = None) -> ChangedFiles:
    """What is different here; without a trunk only what is not committed."""
    base = branched_off(repo, trunk)
    return ChangedFiles(uncommitted(repo, journal=journal), changed_files(repo, base) if base else ())


def uncommitted(repo: Repo, *, journal: str | None = None) -> dict[str, str]:
    """The files that differ from HEAD, ours left out; a new folder is one name."""
    out = repo.run("status", "--porcelain=v1", "-z", "-unormal", "--no-renames")
    rows = {os.fsdecode(row[3:]): row[:2].decode("ascii") for row in out.split(b"\0") if row}
    mine = (path for path in rows if not _is_ours(path))
    return {path: rows[path] for path in mine if not _is_journal(repo, path, journal)}


def _is_journal(repo: Repo, path: str, folder: str | None) -> bool:
    """Whether a path is a page of the journal, or a new folder that holds nothing else."""
    if folder is None or not path.endswith("/"):
        return is_journal_page(path, folder)
    if not f"{folder}/".startswith(path):
        return False
    there = os.walk(os.path.join(repo.top, path))
    names = (os.path.relpath(os.path.join(at, name), repo.top) for at, _, files in there for name in files)
    return all(is_journal_page(name.replace(os.sep, "/"), folder) for name in names)


def changed_files(repo: Repo, old: str) -> tuple[str, ...]:
    """The files that differ between a commit and HEAD, ours left out."""
    if old == repo.head().oid:
        return ()
    out = repo.run("diff", "--name-only", "--no-renames", "-z", old, "HEAD", "--", ok=range(256))
    return tuple(name for name in map(os.fsdecode, out.split(b"\0")) if name and not _is_ours(name))


def branched_off(repo: Repo, trunk: str | None) -> str | None:
    """Where this branch left the trunk, if it did."""
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
        said = f"whether its last commit {last[:12]} is in this history cannot be told in a shallow clone"
    return ChosenSession(session, "branch", f"{why}; {said}", lost=last)


def _moved(clone: Clone, oids: Iterable[str]) -> dict[str, str]:
    """What commits became that were rewritten."""
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
    """Session to the commit of this history it was last at, rewritten ones included."""
    places = {name: end for name, end in ends.items() if end in steps}
    if any(steps[end] == 0 for end in places.values()):
        return places  # nothing is nearer than here
    last = sorted((one for one in sessions if one.id in ends), key=_last_first)[:SOUGHT]
    lost = {ends[one.id] for one in last} - set(places.values())
    moved = _moved(clone, sorted(lost)) if lost else {}
    found = {name: moved[end] for name, end in ends.items() if moved.get(end) in steps}
    return {**found, **places}


def _last_first(session: Session) -> tuple[int, ...]:
    """An order in which what was updated last comes first."""
    return tuple(-ord(char) for char in session.updated.ts)


def distances(repo: Repo) -> dict[str, int]:
    """How many steps each ancestor is away from HEAD, as far as is worth looking."""
    out = repo.attempt("rev-list", "--parents", f"--max-count={FARTHEST}", "HEAD", "--").stdout
    rows = [row.split(" ") for row in out.decode("ascii").splitlines()]
    parents = {row[0]: row[1:] for row in rows}
    steps = {rows[0][0]: 0} if rows else {}
    waiting = deque(steps)
    while waiting:
        commit = waiting.popleft()
        for parent in parents.get(commit, ()):
            if parent not in steps and parent in parents:  # what lies beyond a shallow end is unknown
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
    """A moment to the minute, in UTC."""
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
_ANSWERS = 5
_CLOSE = " (close it with `holdfast session note --close {name}`)"
_LEFT = {"open": "left open", "asked": "waits for a yes or no", "later": "to follow up"}
_STATES = {"granted": "allowed", "denied": "denied"}
_TITLES = (
    *("Where:", "Objective:", "Tasks:", "Summary:", "Turns:", "Commits no turn tells of:", "Decided:"),
    *("Allowed:", "Denied:", "Failed when last run:", "Open:", "Waiting for a yes or no:", "To follow up:"),
    *("Scratchpad:", "Files:"),
)
_BEFORE = regex(r"Before, in \d+ turns:")
# A turn begins with the prompt it answers; the objective is the first prompt, and whoever typed one knows it.
_PROMPT = regex(r"(\d+\. )Asked: .*? — ")
_ONLY_PROMPT = regex(r"\d+\. Asked: (?!.* — ).*")
_LABELS = {"Where:": "on", "Turns:": "turn", "Waiting for a yes or no:": "waits for a yes or no:"}
_TRIES = (3.6, 2.8, 2.2, 1.7, 1.3, 1.0, 0.7, 0.5)  # bytes a token, from prose to what only has digits


@frozen
class SessionThread:
    """The chosen session and those before it."""

    session: Session
    is_here: bool  # open in this place: what is open in it has short names
    told: Session | None = None  # the last one that told something, if this one has not yet
    earlier: tuple[Session, ...] = ()  # newest first
    blobs: Mapping[str, str] | None = None  # session to the revision of its file
    line: str = ""  # of the branch that is checked out, and what that is called
    branch: str = ""

    def place(self, session: Session) -> str:
        """Where a session was; of one whose agent did not say, the branch in whose log it stands."""
        branch = session.updated.branch or session.branch
        if not branch and not session.updated.commit and session.line == self.line:
            branch = self.branch
        return branch or session.updated.place


def thread_lines(thread: SessionThread, room: int = WHOLE) -> list[PackLine]:
    """The thread in at most `room` tokens, the most telling first."""
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
    said = f"- {last.id} on {_session_place(thread, last)} ({state}) was the last session that told something:"
    return [*own, *left, *answers, *([plain_line(said, _told(thread, last)), *before] if before else [])]


def _told(thread: SessionThread, session: Session) -> ToldRevision:
    return ToldRevision(session.id, "session", (thread.blobs or {}).get(session.id), "the thread to go on with")


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
    """A session in about as many bytes, each line with its id and what sort of thing it says."""
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
    """As many rows as fit, and how many did not."""
    if size_of_lines(rows, most=room) <= room:
        return list(rows)
    kept = first_lines(rows, room - 30)
    if not kept:
        return []
    session = kept[-1].told[0]
    more = PackLine(f"- {session.id} and others: {len(rows) - len(kept):,} more of these", (session,))
    return [*kept, more] if line_tokens(more.text) <= 30 else kept
