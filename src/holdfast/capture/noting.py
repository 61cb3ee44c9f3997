"""What a note comes to: texts without secrets and within their limits, what git adds, and the next session.

`noted` is pure, because it runs under the lock of the session's file.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.capture import answering, since
from holdfast.errors import BadInput, NotFound
from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.brief import failing
from holdfast.model.ids import is_id, pick
from holdfast.model.session import (
    MAX_COMMANDS,
    MAX_COMMITS,
    MAX_FILES,
    MAX_LINE,
    MAX_NAMES,
    MAX_SCRATCHPAD,
    MAX_SUMMARY,
    Anchor,
    Command,
    Session,
    Turn,
)
from holdfast.values import frozen, replace
from holdfast.work import board

LIMITS = {"objective": MAX_SUMMARY, "summary": MAX_SUMMARY, "scratchpad": MAX_SCRATCHPAD}
_TURN_COMMANDS = 100


@frozen
class Found:
    """What git says happened since the last turn."""

    commits: tuple[str, ...]
    files: tuple[str, ...]


def found_since(
    clone: Clone, session: Session, now: Anchor, told: Mapping[str, Any], *, journal: str | None = None
) -> Found:
    """What git gained since the last turn, if this is one; the journal's own pages are left out."""
    if not told.get("summary"):
        return Found((), tuple(told.get("files", ())))
    base = session.turns[-1].anchor if session.turns else session.started
    made = since.commits(clone.repo, base.commit, now.commit)
    files = told.get("files") or clone.intake.value(
        [
            *since.committed(clone.repo, made, journal=journal),
            *since.uncommitted(clone.repo, since=base.ts, known=session.files, journal=journal),
        ]
    )
    return Found(tuple(made), tuple(dict.fromkeys(files))[: since.MAX_FILES])


def noted(old: Session, told: Mapping[str, Any], now: Anchor, found: Found) -> Session:
    """The session with a turn more; pure, because it runs under the lock."""
    last = old.turns[-1].anchor.ts if old.turns else old.started.ts
    ran = tuple(Command(**one) for one in told["commands"])
    new = answering.settled(old, told)
    new = replace(
        new,
        updated=now,
        open=rules.add_items(new.open, told["open"], letter="o", ts=now.ts, task=told["task"]),
        follow_ups=rules.add_items(new.follow_ups, told["follow_ups"], letter="f", ts=now.ts, task=told["task"]),
        approvals=rules.add_approvals(new.approvals, told["approvals"], ts=now.ts),
        decisions=more(new.decisions, told["decisions"], MAX_NAMES),
        scratchpad=new.scratchpad if told["scratchpad"] is None else told["scratchpad"],
        commits=more(new.commits, found.commits, MAX_COMMITS),
        commands=fewer_commands((*new.commands, *ran)),
        files=more(new.files, found.files, MAX_FILES),
        tasks=more(new.tasks, [told["task"]] if told["task"] else [], MAX_NAMES),
    )
    if not told["summary"]:
        return new
    recorded = tuple(one for one in old.commands if one.ts > last)
    turn = Turn(
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


def fewer_commands(commands: Sequence[Command]) -> tuple[Command, ...]:
    """As many commands as are kept, the newest; one that failed when it was last run goes last."""
    if len(commands) <= MAX_COMMANDS:
        return tuple(commands)
    failed = failing(commands)[-MAX_COMMANDS // 2 :]
    kept = {id(one) for one in [*failed, *commands[len(failed) - MAX_COMMANDS :]]}
    return tuple(one for one in commands if id(one) in kept)


def task_ids(clone: Clone, names: Iterable[str]) -> tuple[str, ...]:
    """The tasks somebody names, by id or its beginning; a whole id may live on another branch only."""
    asked = [name for name in names if name]
    there = board.read(clone).placed if asked else {}
    found = []
    for name in asked:
        try:
            found.append(pick(name, there))
        except NotFound:
            if not (name.startswith("TSK-") and is_id(name)):
                raise NotFound(f"no task here is called {name}", hint="See `holdfast tasks`.") from None
            found.append(name)
    return tuple(dict.fromkeys(found))


def cleaned(clone: Clone, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, without secrets and within its limits; refused before anything is written."""
    for name, value in said.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                rules.clean(text, limit=LIMITS.get(name, MAX_LINE), what=f"the {name.replace('_', ' ')}")
                _refuse_empty(name, text, among=isinstance(value, list))
    if said.get("run") is not None and not is_id(str(said["run"])):
        raise BadInput(f"{said['run']!r} is not the id of a run", hint="See `holdfast log`.")
    safe: dict[str, Any] = clone.intake.value(dict(said))
    return {name: _stored(value, LIMITS.get(name, MAX_LINE)) for name, value in safe.items()}


def _refuse_empty(name: str, text: str, *, among: bool) -> None:
    if among and not text.strip():
        raise BadInput(f"there is an empty text among the {name.replace('_', ' ')}", hint="Say what it is.")


def _stored(value: Any, limit: int) -> Any:
    if isinstance(value, list):
        return [_stored(one, limit) for one in value]
    return rules.cut(value, limit) if isinstance(value, str) else value


def more(old: Iterable[str], new: Iterable[str], most: int) -> tuple[str, ...]:
    """Old and new values, each once, in the order they were first said; of too many the newest."""
    return tuple(dict.fromkeys((*old, *new)))[-most:]
