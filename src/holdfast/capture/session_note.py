"""Prepares a session note: redacts it, trims it, adds git facts, and settles what it answers.

`SES-x:o1` closes, grants or denies what another session left open; of an ended session only the state of its items
and questions changes. `with_note` and `with_answers` are pure, because they run under the lock of the session's file.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from holdfast.capture import worktree_changes
from holdfast.errors import BadInput, NotFound
from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.brief import failing
from holdfast.model.ids import is_id, pick
from holdfast.model.session import MAX_COMMANDS, MAX_LINE, MAX_NAMES, Session, SessionCommand, SessionItem
from holdfast.store import session_files
from holdfast.values import frozen, replace
from holdfast.work import task_board

Answers = Mapping[str, list[str]]  # close, granted or denied, to the short ids


def split_answers(clone: Clone, answers: Answers) -> tuple[dict[str, list[str]], dict[str, dict[str, list[str]]]]:
    """What is said to the session of the note itself, and what to others, by their ids.

    NotFound before anything is written, if a session or an item is not there.
    """
    own: dict[str, list[str]] = {how: [] for how in answers}
    others: dict[str, dict[str, list[str]]] = {}
    for how, names in answers.items():
        for name in names:
            whose, mark, item = name.strip().rpartition(":")
            if mark:
                others.setdefault(_found(clone, whose), {how: [] for how in answers})[how].append(item)
            else:
                own[how].append(name)
    for name, said in others.items():
        with_answers(session_files.find(clone.layout, name), said)
    return own, others


def _found(clone: Clone, name: str) -> str:
    try:
        return pick(name.strip(), session_files.ids(clone.layout))
    except NotFound:
        raise NotFound(f"there is no session {name}", hint="See `holdfast session list --all`.") from None


def open_item(clone: Clone, name: str) -> tuple[Session, SessionItem]:
    """What a session left open, by both their ids; NotFound if it is not there, or closed."""
    whose, mark, asked = name.strip().rpartition(":")
    if not mark:
        raise NotFound(f"{name} names no item of a session", hint="Write both, such as SES-4d2:o1.")
    session = session_files.find(clone.layout, _found(clone, whose))
    there = {one.id: one for one in (*session.still_open, *session.still_to_follow)}
    if asked.lower() not in there:
        raise NotFound(f"{session.id} has no open item {asked}", hint=f"See `holdfast session show {session.id}`.")
    return session, there[asked.lower()]


def open_items(clone: Clone, name: str) -> tuple[Session, tuple[SessionItem, ...]]:
    """All that a session left open and is no task, by its id; NotFound if there is nothing."""
    session = session_files.find(clone.layout, _found(clone, name))
    found = tuple(one for one in session.still_open if not one.task)
    if not found:
        raise NotFound(f"{session.id} left nothing open", hint="See `holdfast task proposed`.")
    return session, found


def close_as_task(clone: Clone, session: Session, done: SessionItem, task: str) -> None:
    """Close an item that became a task, and let it name the task."""

    def change(old: Session) -> Session:
        def told(items: tuple[SessionItem, ...]) -> tuple[SessionItem, ...]:
            return tuple(replace(one, task=task) if one.id == done.id else one for one in items)

        return rules.close(replace(old, open=told(old.open), follow_ups=told(old.follow_ups)), [done.id])

    session_files.update(clone.layout, session.id, change)


def give_answers(clone: Clone, others: Mapping[str, Answers]) -> Session | None:
    """Give their answers to other sessions, durable on return; the last of them, if there is one."""
    told = None
    for name, said in others.items():
        told = session_files.update(clone.layout, name, partial(with_answers, said=said))
    return told


def with_answers(session: Session, said: Mapping[str, Any]) -> Session:
    """A session with items closed and questions answered; pure, because it runs under the lock."""
    closed = rules.close(session, said["close"])
    allowed = rules.answer(closed, said["granted"], state="granted")
    return rules.answer(allowed, said["denied"], state="denied")


LIMITS = {"objective": rules.MAX_SUMMARY, "summary": rules.MAX_SUMMARY, "scratchpad": rules.MAX_SCRATCHPAD}
_TURN_COMMANDS = 100  # a guess: real turns have fewer


@frozen
class WorkSinceTurn:
    """What git says happened since the last turn."""

    commits: tuple[str, ...]
    files: tuple[str, ...]


def found_since(
    clone: Clone, session: Session, now: rules.SessionAnchor, told: Mapping[str, Any], *, journal: str | None = None
) -> WorkSinceTurn:
    """What git gained since the last turn, if this is one; the journal's own pages are left out."""
    if not told.get("summary"):
        return WorkSinceTurn((), tuple(told.get("files", ())))
    base = session.turns[-1].anchor if session.turns else session.started
    made = worktree_changes.commits_since(clone.repo, base.commit, now.commit)
    files = told.get("files") or []
    if not files:
        files = worktree_changes.committed_files(clone.repo, made, journal=journal)
        files += worktree_changes.uncommitted_files(clone.repo, since=base.ts, known=session.files, journal=journal)
        files = clone.intake.value(files)
    return WorkSinceTurn(tuple(made), tuple(dict.fromkeys(files))[: worktree_changes.MAX_FILES])


def with_note(old: Session, told: Mapping[str, Any], now: rules.SessionAnchor, found: WorkSinceTurn) -> Session:
    """The session with a turn more; pure, because it runs under the lock."""
    last = old.turns[-1].anchor.ts if old.turns else old.started.ts
    ran = tuple(SessionCommand(**one) for one in told["commands"])
    new = with_answers(old, told)
    new = replace(
        new,
        updated=now,
        open=rules.add_items(new.open, told["open"], letter="o", ts=now.ts, task=told["task"]),
        follow_ups=rules.add_items(new.follow_ups, told["follow_ups"], letter="f", ts=now.ts, task=told["task"]),
        approvals=rules.add_approvals(new.approvals, told["approvals"], ts=now.ts),
        decisions=more(new.decisions, told["decisions"], MAX_NAMES),
        scratchpad=new.scratchpad if told["scratchpad"] is None else told["scratchpad"],
        commits=more(new.commits, found.commits, rules.MAX_COMMITS),
        commands=fewer_commands((*new.commands, *ran)),
        files=more(new.files, found.files, rules.MAX_FILES),
        tasks=more(new.tasks, [told["task"]] if told["task"] else [], MAX_NAMES),
    )
    if not told["summary"]:
        return new
    recorded = tuple(one for one in old.commands if one.ts > last)
    turn = rules.SessionTurn(
        n=old.count + 1,
        anchor=now,
        summary=told["summary"],
        commands=(*recorded, *ran)[-_TURN_COMMANDS:],
        files=found.files,
        commits=found.commits,
        run=told["run"],
        task=told["task"],
    )
    return replace(new, turns=(*new.turns, turn))


def as_command(given: str | Mapping[str, Any], ts: str) -> dict[str, Any]:
    known = {"text": given} if isinstance(given, str) else dict(given)
    text = rules.cut(str(known.get("text", "")), MAX_LINE)
    if not text:
        raise BadInput("a command has no text", hint="Write it as it was typed.")
    return {"text": text, "run": known.get("run"), "exit_status": known.get("exit_status"), "ts": ts}


def fewer_commands(commands: Sequence[SessionCommand]) -> tuple[SessionCommand, ...]:
    """As many commands as are kept, the newest; one that failed when it was last run goes last."""
    if len(commands) <= MAX_COMMANDS:
        return tuple(commands)
    failed = failing(commands)[-MAX_COMMANDS // 2 :]
    kept = {id(one) for one in [*failed, *commands[len(failed) - MAX_COMMANDS :]]}
    return tuple(one for one in commands if id(one) in kept)


def task_ids(clone: Clone, names: Iterable[str]) -> tuple[str, ...]:
    """The tasks somebody names, by id or its beginning; a whole id may live on another branch only."""
    asked = [name for name in names if name]
    there = task_board.read(clone).placed if asked else {}
    found = []
    for name in asked:
        try:
            found.append(pick(name, there))
        except NotFound:
            if not (name.startswith("TSK-") and is_id(name)):
                raise NotFound(f"no task here is called {name}", hint="See `holdfast task list`.") from None
            found.append(name)
    return tuple(dict.fromkeys(found))


def cleaned_note(clone: Clone, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, without secrets and within its limits; refused before anything is written."""
    for name, value in said.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                named = name.replace("_", " ")
                rules.clean(text, limit=LIMITS.get(name, MAX_LINE), what=f"the {named}")
                if isinstance(value, list) and not text.strip():
                    raise BadInput(f"there is an empty text among the {named}", hint="Say what it is.")
    if said.get("run") is not None and not is_id(str(said["run"])):
        raise BadInput(f"{said['run']!r} is not the id of a run", hint="See `holdfast log`.")
    safe: dict[str, Any] = clone.intake.value(dict(said))
    return {name: _stored(value, LIMITS.get(name, MAX_LINE)) for name, value in safe.items()}


def _stored(value: Any, limit: int) -> Any:
    if isinstance(value, list):
        return [_stored(one, limit) for one in value]
    return rules.cut(value, limit) if isinstance(value, str) else value


def more(old: Iterable[str], new: Iterable[str], most: int) -> tuple[str, ...]:
    """Old and new values, each once, in the order they were first said; of too many the newest."""
    return tuple(dict.fromkeys((*old, *new)))[-most:]
