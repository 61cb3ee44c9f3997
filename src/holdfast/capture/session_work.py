"""Sessions as work goes on: started, noted turn by turn, ended; and which tasks their commits may have finished.

Each change is one durable write, anchored to the commit and branch it was made at, and what comes from outside is
redacted first. There is one open session per line and work tree, and one for each agent whose transcript is read
while it works beside another. Nothing is ended, copied or dropped silently; what happened automatically (a linked
session after a branch change) is reported in `clone.notes`. No task is changed here: people say what is done.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.capture import condense, session_note, worktree_changes
from holdfast.capture import run as recorded_run
from holdfast.capture.session_lookup import NONE_OPEN, anchor_of, current, last_here, left, open_here, worktree_of
from holdfast.capture.session_note import WorkSinceTurn, more
from holdfast.capture.worktree_changes import spelled
from holdfast.errors import BadInput, HoldfastError, NotFound
from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.event import EventDraft
from holdfast.model.ids import is_id, new_id
from holdfast.model.session import MAX_COMMITS, MAX_FILES, MAX_NAMES, PREFIX, Session, SessionAnchor, SessionCommand
from holdfast.model.task import Task
from holdfast.patterns import regex
from holdfast.store import session_files
from holdfast.values import frozen, replace
from holdfast.work import task_board, task_claims

_WORD = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")


@frozen
class DoneTaskProposal:
    """A started task that may be done, the commits that say so, and why they do."""

    task: str
    title: str
    commits: tuple[str, ...]
    why: str


def propose_done_tasks(clone: Clone, session: Session, commits: Sequence[str]) -> tuple[DoneTaskProposal, ...]:
    """The started tasks of this session or line for which these commits speak, as the board lists them."""
    if not commits:
        return ()
    texts = worktree_changes.commit_messages(clone.repo, commits)
    started = [task for task in task_board.read(clone).tasks if task.status == "started"]
    found = (_for(clone, session, task, commits, texts) for task in started)
    return tuple(proposal for proposal in found if proposal)


def _for(
    clone: Clone, session: Session, task: Task, commits: Sequence[str], texts: Mapping[str, str]
) -> DoneTaskProposal | None:
    claim = task_claims.find(clone.layout, task.id)
    claimed = claim.commits if claim and (claim.session == session.id or claim.line == session.line) else ()
    # All commits if it was the session's only task, else those of the turns that were spent on it.
    worked = [oid for turn in session.every_turn if turn.task == task.id for oid in turn.commits]
    reasons = {
        "the commit names it": {oid for oid in commits if task.id in _WORD.findall(texts.get(oid, ""))},
        "it was claimed while they were made": set(claimed),
        "the session worked on it": set(commits if session.tasks == (task.id,) else worked),
    }
    speak = {why: found & set(commits) for why, found in reasons.items()}
    if not any(speak.values()):
        return None
    chosen = set().union(*speak.values())
    why = ", ".join(why for why, found in speak.items() if found)
    return DoneTaskProposal(task.id, task.title, tuple(oid for oid in commits if oid in chosen), why)


_FIRST_LINE = 200  # characters; a guess: one line of a list


@frozen
class Noted:
    """A turn, or only a change of what is open; and whether a session had to be started for it."""

    session: Session
    turn: rules.SessionTurn | None
    started: bool


@frozen
class Ending:
    """An ended session, what git says it came to, and the tasks that may be done."""

    session: Session
    commits: tuple[str, ...]
    files: tuple[str, ...]
    insertions: int
    deletions: int
    uncommitted: tuple[str, ...]
    proposals: tuple[DoneTaskProposal, ...]


def start(
    clone: Clone,
    *,
    objective: str,
    agent: str | None = None,
    agent_session: str | None = None,
    tasks: Iterable[str] = (),
    again: bool = False,
    beside: bool = False,
    journal: str | None = None,
) -> Session:
    """Begin a session here; BadInput says which one is open already, unless `again` ends it first.

    With `beside` it goes on next to others, which are no business of it.
    """
    said = {"objective": objective, "agent": agent, "agent_session": agent_session}
    fields = session_note.cleaned_note(clone, said)
    named = session_note.task_ids(clone, tasks)
    if again and (old := current(clone)):
        end(clone, session=old.id, reason="again", journal=journal)
    before = None if beside and open_here(clone) else last_here(clone)
    about = {**fields, "tasks": named, "previous": before.id if before else None}
    new, _ = _begin(clone, about, beside=beside)
    _link(clone, before, new)
    _record(clone, new, "start", summary=new.objective)
    return new


def _begin(
    clone: Clone, fields: Mapping[str, Any], *, join: bool = False, beside: bool = False
) -> tuple[Session, bool]:
    """A new session here; where one is open already it is refused, or joined if somebody was quicker.

    Tells whether it was made now.
    """
    line, worktree, now = clone.line().id, worktree_of(clone), anchor_of(clone)
    others = {name for store in clone.stores for name in session_files.ids(store)}
    joined: set[str] = set()

    def make(there: list[Session]) -> Session:
        for old in there if not beside else ():
            if (old.state, old.line, old.worktree) == ("open", line, worktree):
                if join:
                    joined.add(old.id)
                    return old
                raise BadInput(
                    f"{old.id} is open here: {old.objective or 'no objective'}",
                    hint="Go on with `holdfast session note TEXT`, or add --again to end it first.",
                )
        identity = new_id(PREFIX, others)
        return Session(id=identity, line=line, worktree=worktree, started=now, updated=now, **fields)

    found = session_files.start(clone.layout, make)
    return found, found.id not in joined


def _linked(clone: Clone, old: Session | None, objective: str) -> Session:
    """A session for a note that has none here: after a branch change it names the one it goes on from."""
    before = old or last_here(clone)
    new, made = _begin(clone, {"objective": objective, "previous": before.id if before else None}, join=True)
    if not made:
        return new
    _link(clone, before, new)
    if old is None:
        _record(clone, new, "start", summary=objective)
        clone.notes.append(f"no session was open here: {new.id} was started")
        return new
    _record(clone, new, "link", summary=f"goes on from {old.id}")
    was, here = (one.updated.branch or "a detached HEAD" for one in (old, new))
    clone.notes.append(f"{old.id} was on {was}, this is {here}: {new.id} goes on from it, and {old.id} stays open")
    return new


def _link(clone: Clone, old: Session | None, new: Session) -> None:
    """Let a session name the one that goes on from it."""
    if old is not None and old.id in session_files.ids(clone.layout):  # else its store cannot be written from here
        session_files.update(clone.layout, old.id, lambda s: replace(s, next=more(s.next, (new.id,), MAX_NAMES)))


def note(
    clone: Clone,
    summary: str = "",
    *,
    session: str | None = None,
    commands: Iterable[str | Mapping[str, Any]] = (),
    files: Iterable[str] = (),
    open: Iterable[str] = (),  # noqa: A002 - the word people use
    close: Iterable[str] = (),
    follow_ups: Iterable[str] = (),
    approvals: Iterable[str] = (),
    granted: Iterable[str] = (),
    denied: Iterable[str] = (),
    decisions: Iterable[str] = (),
    scratchpad: str | None = None,
    task: str | None = None,
    run: str | None = None,
    condense_by: condense.CondenseSettings | None = None,
    journal: str | None = None,
) -> Noted:
    """Add a turn, durable on return; without a summary only what is open changes.

    What is not given is found: the files changed and the commits made since the last turn. A session is
    started if none is open here; after a branch change it is linked to the one that was left. What another
    session left open is answered by its id and the item's: `SES-x:o1`. Pages of a journal that is kept in
    the folder `journal` are no work of anybody's.
    """
    said = {
        "summary": summary,
        "scratchpad": scratchpad,
        "run": run,
        "task": next(iter(session_note.task_ids(clone, [task])), None) if task else None,
        "commands": [session_note.as_command(one, clone.now()) for one in commands],
        "files": [rules.cut(spelled(path), rules.MAX_PATH) for path in files],
        "open": list(open),
        "follow_ups": list(follow_ups),
        "approvals": list(approvals),
        "decisions": list(decisions),
    }
    answers = {"close": list(close), "granted": list(granted), "denied": list(denied)}
    own, others = session_note.split_answers(clone, answers)
    told = {**session_note.cleaned_note(clone, said), **own}
    if not any(told.values()):
        if (other := session_note.give_answers(clone, others)) is not None:
            return Noted(other, None, False)
        raise BadInput("there is nothing to note", hint="Say in a sentence what was done.")
    there, started = _session_for(clone, session, told)
    now = anchor_of(clone)
    found = session_note.found_since(clone, there, now, told, journal=journal)
    new = session_files.update(clone.layout, there.id, lambda old: session_note.with_note(old, told, now, found))
    session_note.give_answers(clone, others)
    turn = new.turns[-1] if told["summary"] else None
    return Noted(_condense(clone, new, condense_by or condense.CondenseSettings()), turn, started)


def _session_for(clone: Clone, asked: str | None, told: Mapping[str, Any]) -> tuple[Session, bool]:
    """The session a note belongs to, and whether it had to be started."""
    here, named = current(clone), session_files.find(clone.layout, asked) if asked is not None else None
    if named is not None:
        if named.state == "ended":
            raise BadInput(f"{named.id} has ended", hint=NONE_OPEN)
        if named.worktree != worktree_of(clone):
            raise BadInput(f"{named.id} belongs to another work tree", hint="Note it there, or leave the id out.")
        if named.line == clone.line().id:
            return named, False
    if here is not None:
        if named is not None:
            clone.notes.append(f"{named.id} is on another branch: noted in {here.id}, which is open on this one")
        return here, False
    if told["close"] or told["granted"] or told["denied"]:
        raise NotFound(
            "no session is open here, so there is nothing to close in it",
            hint="What an ended session left is called by its id as well: `--close SES-…:o1`.",
        )
    objective = rules.cut(told["summary"].partition("\n")[0], _FIRST_LINE)
    return _linked(clone, named or left(clone), objective), True


def _condense(clone: Clone, session: Session, how: condense.CondenseSettings) -> Session:
    """Fold the older turns if it is time; the model command runs before the lock is taken, not under it."""
    count = condense.due(session, after=how.after, budget=how.budget)
    if not count:
        return session
    answer = condense.by_command(clone, session, count, how) if how.command else None
    text = answer or condense.shortly(session, count, budget=how.budget)
    by = spelled(os.path.basename(how.command[0])) if answer else condense.BY_US

    def change(now: Session) -> Session:
        if now.turns[:count] != session.turns[:count] or now.condensed != session.condensed:
            return now  # somebody else condensed it meanwhile
        return condense.fold(now, count, text, by=by)

    new = session_files.update(clone.layout, session.id, change)
    _record(clone, new, "condense", summary=f"{count} turns put shortly by {by}")
    return new


def end(
    clone: Clone,
    *,
    session: str | None = None,
    summary: str | None = None,
    reason: str = "ended",
    with_tasks: bool = True,
    journal: str | None = None,
) -> Ending:
    """Close a session, durable on return, and say what git holds of it; no task is changed.

    One of another branch or work tree ended where it was last heard of, not where somebody closes it.
    """
    there = current(clone) if session is None else session_files.find(clone.layout, session)
    if there is None:
        raise NotFound("no session is open here", hint=NONE_OPEN)
    told = session_note.cleaned_note(clone, {"summary": summary, "reason": reason})
    now = anchor_of(clone)
    here = (there.line, there.worktree) == (clone.line().id, worktree_of(clone))
    turn = {"summary": "end"}
    found = session_note.found_since(clone, there, now, turn, journal=journal) if here else WorkSinceTurn((), ())

    def change(old: Session) -> Session:
        if old.state == "ended":
            raise BadInput(f"{old.id} has ended already", hint="See it with `holdfast session show`.")
        return replace(
            old,
            state="ended",
            ended=now if here else replace(rules.now_at(old, old.updated), ts=now.ts),
            ended_by=told["reason"],
            updated=now if here else old.updated,
            summary=told["summary"] or old.summary,
            commits=more(old.commits, found.commits, MAX_COMMITS),
            files=more(old.files, found.files, MAX_FILES),
        )

    new = session_files.update(clone.layout, there.id, change)
    _record(clone, new, "end", summary=new.summary or new.objective)
    return _account(clone, new, now if here else new.updated, with_tasks=with_tasks, journal=journal)


def _account(clone: Clone, session: Session, now: SessionAnchor, *, with_tasks: bool, journal: str | None) -> Ending:
    repo, base = clone.repo, session.started.commit
    made = worktree_changes.surviving_commits(repo, session.commits, now.commit, base)
    came = worktree_changes.diff_since(repo, base, made, now.commit, journal=journal)
    mine = session.worktree == worktree_of(clone)
    dirty = worktree_changes.uncommitted_files(repo, since=session.started.ts, journal=journal) if mine else []
    proposed = propose_done_tasks(clone, session, made) if with_tasks else ()
    return Ending(session, tuple(made), came.files, came.insertions, came.deletions, tuple(dirty), proposed)


def edit(
    clone: Clone, asked: str, *, summary: str | None = None, objective: str | None = None, scratchpad: str | None = None
) -> Session:
    """Change what a session says of itself, ended or not; what is None stays."""
    told = session_note.cleaned_note(clone, {"summary": summary, "objective": objective, "scratchpad": scratchpad})
    given = {name: text for name, text in told.items() if text is not None}
    if not given:
        raise BadInput("there is nothing to change", hint="Use --summary, --objective or --scratchpad.")
    now = anchor_of(clone)
    return session_files.update(
        clone.layout, asked, lambda old: replace(old, **given, updated=replace(old.updated, ts=now.ts))
    )


def record_commit(clone: Clone, session: str, oid: str, *, ts: str | None = None, branch: str | None = None) -> Session:
    """Add a commit that git's hook told of; the turn that tells of it comes later."""

    def change(old: Session) -> Session:
        if oid in old.commits or old.state == "ended":
            return old
        place = branch if branch is not None else old.updated.branch
        at = SessionAnchor(max(ts or clone.now(), old.updated.ts), oid, spelled(place) if place else None)
        return replace(old, updated=at, commits=more(old.commits, (oid,), MAX_COMMITS))

    return session_files.update(clone.layout, session, change)


def record_run(clone: Clone, outcome: recorded_run.CommandOutcome) -> Session | None:
    """Add a recorded command to the open session, if there is one; a failure is said, never raised."""
    try:
        there = current(clone)
        if there is None or outcome.event is None:
            return there
        body, now = clone.joined(outcome.event), anchor_of(clone)
        known = {"run": outcome.run_id, "exit_status": outcome.exit_code}
        typed = body["command"] or ("[sealed]" if body["body_state"] == "locked" else "?")
        text = shlex.join(map(str, typed)) if isinstance(typed, list | tuple) else str(typed)
        ran = SessionCommand(**session_note.as_command({"text": text, **known}, now.ts))
        made = [str(one["path"]) for one in body["artifacts"] or () if "path" in one]
        task = str(body["task"] or "")
        tasks = [task] if task.startswith("TSK-") and is_id(task) else []

        def with_run(old: Session) -> Session:
            ran_last = session_note.fewer_commands((*old.commands, ran))
            files = more(old.files, made[: worktree_changes.MAX_FILES], MAX_FILES)
            return replace(old, updated=now, commands=ran_last, files=files, tasks=more(old.tasks, tasks, MAX_NAMES))

        return session_files.update(clone.layout, there.id, with_run)
    except (HoldfastError, OSError) as error:
        clone.notes.append(f"the run is not in the session: {error}")
        return None


def _record(clone: Clone, session: Session, action: str, *, summary: str) -> None:
    tasks = {"task": session.tasks[-1]} if session.tasks else {}
    body = {"action": action, "session": session.id, "summary": summary, **tasks}
    clone.record(EventDraft("session", target=session.id, body=body))
