"""Sessions in words: started, noted, shown, ended, listed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import as_plain, strong
from holdfast.interfaces.cli.words import count, lines, short, table
from holdfast.model.brief import brief as briefly
from holdfast.model.brief import failing
from holdfast.model.session import now_at, to_object
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.capture.proposals import Proposal
    from holdfast.capture.session import Ending, Noted
    from holdfast.model.brief import Brief
    from holdfast.model.session import Anchor, Session, Turn

MOST_ENDED, MOST_TURNS, MOST_FILES, MOST_ANSWERS = 10, 8, 12, 8
MARKS = {"open": "◐", "ended": "●"}


@frozen
class Ended:
    """An ending, and the tasks that were finished with it."""

    ending: Ending
    finished: tuple[str, ...]


@frozen
class Listed:
    """All sessions, newest first: which is open here, and why nobody seems to go on with some."""

    sessions: tuple[Session, ...]
    here: str | None
    stale: Mapping[str, str]  # id to the reason
    everything: bool


def as_object(session: Session) -> dict[str, Any]:
    return to_object(session)


def started(session: Session) -> str:
    return lines(
        f"{strong(session.id)}  {session.objective}",
        f"  {_place(session.started)}" + (f", for {', '.join(session.tasks)}" if session.tasks else ""),
        "",
        'Say what you do with: holdfast session note "what was done"',
    )


def changed(session: Session) -> str:
    return f"{strong(session.id)}  {session.objective}"


# A turn.


def noted(made: Noted) -> str:
    session, turn = made.session, made.turn
    if turn is None:
        return lines(f"{strong(session.id)}  noted", _left(session))
    return lines(f"{strong(session.id)}  turn {turn.n}: {short(turn.summary)}", _gained(turn), _left(session))


def noted_object(made: Noted) -> dict[str, Any]:
    turn = None if made.turn is None else as_plain(made.turn)
    return {"id": made.session.id, "turn": turn, "started": made.started, "session": to_object(made.session)}


def _gained(turn: Turn) -> list[str]:
    parts = [count(len(turn.commits), "commit")] * bool(turn.commits)
    parts += [count(len(turn.files), "file")] * bool(turn.files)
    parts += [count(len(turn.commands), "command")] * bool(turn.commands)
    return [f"  {', '.join(parts)} since the last turn"] if parts else []


def _left(session: Session) -> list[str]:
    """What is open, a line each; of an ended session by the name others can close it by."""
    whose = f"{session.id}:" if session.state == "ended" else ""
    return [
        *(f"  open      {whose}{item.id}  {short(item.text)}{_for(item.task)}" for item in session.still_open),
        *(f"  asked     {whose}{one.id}  {short(one.text)}" for one in session.pending),
        *(f"  later     {whose}{item.id}  {short(item.text)}{_for(item.task)}" for item in session.still_to_follow),
    ]


def _answered(session: Session) -> list[str]:
    """What was allowed or denied, the newest last."""
    said = {"granted": "allowed", "denied": "denied "}
    there = [one for one in session.approvals if one.state in said]
    before = [f"  … {count(len(there) - MOST_ANSWERS, 'answer')} before these"]
    rows = [f"  {said[one.state]}   {one.id}  {short(one.text)}" for one in there[-MOST_ANSWERS:]]
    return [*(before if len(there) > MOST_ANSWERS else []), *rows]


def _for(task: str | None) -> str:
    return f"  ({task})" if task else ""


# One session.


def session(value: Session, *, width: int = 0) -> str:
    return lines(
        f"{strong(value.id)}  {value.objective or 'no objective'}",
        f"  {_standing(value)}",
        _links(value),
        ["", *value.summary.splitlines()] if value.summary else [],
        _turns(value, max(40, width - 8 if width else 100)),
        _titled("Decided", (f"  {short(text, 100)}" for text in value.decisions)),
        _titled("Answered", _answered(value)),
        _titled("Open", _left(value)),
        _titled("Failed when last run", (f"  {short(one.text, 90)}" for one in failing(value.commands))),
        _files(value),
        _titled("Scratchpad", (f"  {line}" for line in value.scratchpad.splitlines())),
    )


def _standing(value: Session) -> str:
    turns, place = count(value.count, "turn"), _place(now_at(value, value.updated))
    if value.ended is not None:
        how = f" ({value.ended_by})" if value.ended_by not in (None, "ended") else ""
        return f"ended {_when(value.ended)}{how}, {turns} since {_when(value.started)}, {place}"
    return f"open {place}, {turns} since {_when(value.started)}, {_updated(value)}"


def _updated(value: Session) -> str:
    return f"updated {_when(value.updated)}"


def _links(value: Session) -> list[str]:
    who = " ".join(filter(None, (value.agent, value.agent_session)))
    said = [f"  by {who}"] if who else []
    said += [f"  for {', '.join(value.tasks)}"] if value.tasks else []
    said += [f"  goes on from {value.previous}"] if value.previous else []
    return said + ([f"  goes on in {', '.join(value.next)}"] if value.next else [])


def _turns(value: Session, width: int) -> list[str]:
    shown = value.turns[-MOST_TURNS:]
    before = value.count - len(shown)
    told = value.condensed.text.splitlines() if value.condensed and len(shown) == len(value.turns) else []
    rows = [f"  {turn.n}. {short(turn.summary, width)}{_commits(turn)}" for turn in shown]
    earlier = [f"  {short(line, width)}" for line in told] if told else []
    if before and not told:
        earlier = [f"  … {count(before, 'turn')} before these"]
    return _titled("Turns", [*earlier, *rows])


def _commits(turn: Turn) -> str:
    return f"  [{' '.join(oid[:10] for oid in turn.commits[-3:])}]" if turn.commits else ""


def _files(value: Session) -> list[str]:
    more = len(value.files) - MOST_FILES
    rest = [f"  … and {more:,} more"] if more > 0 else []
    return _titled("Files", [*rest, *(f"  {path}" for path in value.files[-MOST_FILES:])])


def _titled(title: str, rows: Iterable[str]) -> list[str]:
    there = list(rows)
    return ["", title, *there] if there else []


# For an agent.


def in_brief(value: Session, budget: int) -> tuple[str, Brief]:
    return value.id, briefly(value, budget=budget, named=value.state == "ended")


def brief(told: tuple[str, Brief]) -> str:
    return told[1].text


def brief_object(told: tuple[str, Brief]) -> dict[str, Any]:
    return {"id": told[0], "text": told[1].text, "tokens": told[1].tokens, "over": told[1].over}


# The end.


def ended(done: Ended) -> str:
    ending, session = done.ending, done.ending.session
    left = _left(session)
    return lines(
        f"{strong(session.id)}  ended: {short(session.summary or session.objective) or 'no summary'}",
        f"  {_came_to(ending)}",
        [f"  not committed: {short(' '.join(ending.uncommitted))}"] if ending.uncommitted else [],
        ["", "Still open, for whoever goes on:", *left] if left else [],
        ["", f"Finished: {', '.join(done.finished)}"] if done.finished else [],
        _proposed([one for one in ending.proposals if one.task not in done.finished]),
    )


def _came_to(ending: Ending) -> str:
    if not ending.commits:
        return "no commits"
    made = f"{count(len(ending.commits), 'commit')}, {count(len(ending.files), 'file')}"
    return f"{made}, {count(ending.insertions, 'line')} added, {ending.deletions:,} removed"


def _proposed(proposals: list[Proposal]) -> list[str]:
    if not proposals:
        return []
    rows = table([(one.task, short(one.title, 48), count(len(one.commits), "commit"), one.why) for one in proposals])
    first = proposals[0]
    cited = " ".join(f"--evidence commit:{oid[:12]}" for oid in first.commits[-2:])
    return ["", "These tasks may be done:", *rows, "", f"Finish one with: holdfast task done {first.task} {cited}"]


def question(proposal: Proposal) -> str:
    return f"Is {proposal.task} done? {short(proposal.title, 60)} ({count(len(proposal.commits), 'commit')})"


def ended_object(done: Ended) -> dict[str, Any]:
    ending = as_plain(done.ending)
    session_object = to_object(done.ending.session)
    return {"id": done.ending.session.id, **ending, "session": session_object, "done": list(done.finished)}


# All of them.


def listed(found: Listed) -> str:
    opened = [one for one in found.sessions if one.state == "open"]
    over = [one for one in found.sessions if one.state == "ended"]
    shown = over if found.everything else over[:MOST_ENDED]
    if not found.sessions:
        return lines("There is no session yet.", "", 'Start one with: holdfast session start "what for"')
    hidden = len(over) - len(shown)
    return lines(
        f"{count(len(opened), 'session')} open, {len(over):,} ended.",
        "",
        table([_row(one, here=found.here) for one in [*opened, *shown]]),
        [f"  … and {hidden:,} more ended, with --all"] if hidden else [],
        _nobody_goes_on(found),
    )


def _row(one: Session, *, here: str | None) -> tuple[str, ...]:
    left = len(one.still_open) + len(one.still_to_follow) + len(one.pending)
    return (
        MARKS[one.state],
        one.id,
        short(one.objective or one.summary or "no objective", 44),
        short(one.updated.place.removeprefix("a "), 28) + (" (here)" if one.id == here else ""),
        count(one.count, "turn"),
        f"{left} left" if left else "",
        _when(one.updated),
    )


def _nobody_goes_on(found: Listed) -> list[str]:
    stale = [(name, why) for name, why in found.stale.items() if name != found.here]
    if not stale:
        return []
    return ["", "Nobody seems to go on with:", *table(stale), "", f"End one with: holdfast session end {stale[0][0]}"]


def listed_object(found: Listed) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "state": one.state,
            "objective": one.objective,
            "branch": one.updated.branch,
            "commit": one.updated.commit,
            "worktree": one.worktree,
            "line": one.line,
            "started": one.started.ts,
            "updated": one.updated.ts,
            "turns": one.count,
            "open": len(one.still_open),
            "follow_ups": len(one.still_to_follow),
            "pending": len(one.pending),
            "tasks": list(one.tasks),
            "previous": one.previous,
            "here": one.id == found.here,
            "stale": found.stale.get(one.id),
        }
        for one in found.sessions
    ]


def _place(anchor: Anchor) -> str:
    where = f"on {anchor.place}"
    return f"{where} at {anchor.commit[:12]}" if anchor.commit else where


def _when(anchor: Anchor) -> str:
    return anchor.ts[:16].replace("T", " ")
