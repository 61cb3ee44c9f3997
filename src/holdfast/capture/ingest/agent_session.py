"""Sessions from transcripts: what an agent did becomes turns of a Holdfast session.

A past conversation gets a session of its own, ended; so does one that goes on, open, or it writes into the
session that somebody opened in its work tree for no other agent. What it did on another branch is a session of that
branch, which goes on from the first: so each branch tells of its own work. Each turn carries a mark of the agent's own
turn: noting it again changes it in place.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.capture import session_lookup
from holdfast.capture import session_note as notes
from holdfast.capture import session_work as live
from holdfast.capture.ingest.run_anchor import RunPlacement
from holdfast.errors import NotFound
from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.ids import ALPHABET, new_id
from holdfast.model.session import MAX_LINE, MAX_SUMMARY, MAX_TURNS, Session, SessionAnchor, SessionCommand
from holdfast.model.transcript import TranscriptOrigin
from holdfast.store import import_progress, session_files
from holdfast.store.import_progress import ImportProgress
from holdfast.values import replace

KEY, PLANNED, SAID = "agent_turn", "agent_plan", "agent_said"  # what our turns and items carry besides
MAX_CUT_SHORT = 200  # characters of a request that was cut short
ENDED_BY = "transcript"
SEALED = "[sealed]"  # stands for words that are in a recording which only a key opens
ELSEWHERE = "elsewhere"  # the line of sessions whose branch is not here: no branch goes on from them by name
_OBJECTIVE = 200  # characters; a guess: one line of a list
_ID = 10  # characters
# Of a turn and of a session; its runs have them all. Every pack reads every session, so they stay small.
_COMMANDS, _ALL_COMMANDS = 4, 100
_NEEDED = ("key", "ts", "ended", "line", "branch", "commands", "files", "commits", "prompt")


def session_id(agent: str, session: str, line: str = "") -> str:
    """The id of the session that a past conversation gets: always the same, so that it is made once.

    With `line` that of what it did on another branch than the one where it began.
    """
    number = int(import_progress.mark("\n".join(["session", agent, session, *([line] if line else [])])), 16)
    return f"{rules.PREFIX}-" + "".join(ALPHABET[number >> 5 * at & 31] for at in range(_ID))


def session_for(clone: Clone, old: ImportProgress, line: str, key: str) -> tuple[str, str | None]:
    """The session of a run that begins with this turn, and the one of the same conversation that it goes on from."""
    first = old.session_id or session_id(old.agent, old.session)
    if old.session_id is None:
        return first, None
    named = rules.cut(old.session, MAX_LINE)
    opened = session_files.opened(clone.layout, agent_session=named) if key in old.noted else []
    home = _find(clone, first)
    holds = (one for one in (*([home] if home else []), *opened) if key in old.noted and key in _keys(one))
    if there := next(holds, None):
        return there.id, None if there.id == first else first
    if home is None or home.line == line:
        return first, None
    return session_id(old.agent, old.session, line), first


def row_without_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """A turn as others may know it when its recording is sealed: when it was, and the commits made in it."""
    return {**row, "line": SEALED, "prompt": "", "commands": [], "files": []}


def without_words(told: Mapping[str, Any]) -> dict[str, Any]:
    """The same of how a run ended."""
    read = {**told["read"], "origin": {**told["read"]["origin"], "title": None}}
    outputs = {**told["body"]["outputs"], "summary": SEALED}
    return {**told, "todos": None, "unfinished": None, "body": {**told["body"], "outputs": outputs}, "read": read}


def keep(clone: Clone, context: Mapping[str, Any], told: Mapping[str, Any], turns: Iterable[Mapping[str, Any]]) -> str:
    """Note a run's turns in its session, which ends with it; gives the session's id."""
    identity, agent = context["session"]["id"], context["agent"]
    if identity in clone.erased():
        return str(identity)
    turns = list(turns)
    unfinished, asked = told["unfinished"], " ".join(turns[-1]["prompt"].split()) if turns else ""
    if (
        asked and told["body"]["status"] == "interrupted"
    ):  # killed, or stopped by its user: the next session should know
        unfinished = [*(unfinished or ()), f"cut short: {rules.cut(asked, MAX_CUT_SHORT)}"]
    # The words themselves stay in the run.
    rows = [{name: row[name] for name in _NEEDED} | ({"prompt": ""} if n else {}) for n, row in enumerate(turns)]
    rows = rows[-MAX_TURNS:]
    before = import_progress.load(clone.stores, agent["name"], agent["session"])
    done = before.noted if before else frozenset()

    def change(old: Session) -> Session:
        new = _with_turns(old, rows, run=context["run_id"], done=done)
        new = _with_open(new, told["todos"], told["ended"], (PLANNED, import_progress.mark(agent["session"])))
        new = _with_open(new, unfinished, told["ended"], (SAID, import_progress.mark(agent["session"])))
        said = rules.cut(told["body"]["outputs"]["summary"], MAX_SUMMARY)
        return _moved(new, rows, said if _is_ours(old, agent["session"]) else old.summary)

    first = context["session"].get("first")
    if first and told["todos"] is not None:  # what the plan has done by now, on whichever branch, is not open there
        owner = (PLANNED, import_progress.mark(agent["session"]))
        with contextlib.suppress(NotFound):
            session_files.update(clone.layout, first, lambda old: _without_done(old, told["todos"], owner))
    try:
        new = session_files.update(clone.layout, identity, change)
    except NotFound:
        session_files.save(clone.layout, change(_begun(context, rows)))
        return str(identity)
    if new.state == "open" and _is_ours(new, agent["session"]):
        live.end(clone, session=identity, reason=ENDED_BY, with_tasks=False)
    return str(identity)


def note(
    clone: Clone,
    origin: TranscriptOrigin,
    known: str | None,
    parts: Iterable[tuple[RunPlacement, Sequence[Mapping[str, Any]]]],
) -> tuple[str, str]:
    """Note turns of a conversation that goes on, those of each branch in a session there.

    Gives the session of the branch where it began, or the one that a person opened there, and that of its last turn.
    """
    home = _open(clone, known)
    last = known or ""
    for placed, rows in parts:
        line = clone.line().id if placed.elsewhere else placed.line
        there = home if home and (home.line == line or str(rows[0]["key"]) in _keys(home)) else None
        if there is None and home is None:
            there = home = (_shared(clone, origin) if line == clone.line().id else None) or _start(
                clone, origin, placed, rows, None
            )
        elif there is None:
            named = rules.cut(origin.session, MAX_LINE)
            opened = session_files.opened(clone.layout, line=line, agent_session=named)
            there = opened[-1] if opened else _start(clone, origin, placed, rows, home)
        new = _with_row(clone, there, rows)
        home, last = (new if home and home.id == new.id else home), new.id
    return home.id if home else last, last


def _with_row(clone: Clone, there: Session, rows: Sequence[Mapping[str, Any]]) -> Session:
    def change(old: Session) -> Session:
        return _moved(_with_turns(old, rows, run=None, done=frozenset()), rows, old.summary)

    return session_files.update(clone.layout, there.id, change)


def _start(
    clone: Clone,
    origin: TranscriptOrigin,
    placed: RunPlacement,
    rows: Sequence[Mapping[str, Any]],
    first: Session | None,
) -> Session:
    """An open session for a conversation: here, or on the branch where these turns were made."""
    objective = next((_objective(row) for row in rows if row["prompt"]), "") or origin.title or ""
    name = rules.cut(origin.session, MAX_LINE)
    if first is None and (placed.elsewhere or placed.line == clone.line().id):
        return live.start(clone, objective=objective, agent=origin.agent, agent_session=name, beside=True)
    others = {used for store in clone.stores for used in session_files.ids(store)}
    identity = session_id(origin.agent, origin.session, placed.line if first else "")
    at = SessionAnchor(rows[0]["ts"], placed.head, rows[0]["branch"])
    new = Session(
        id=identity if identity not in others else new_id(rules.PREFIX, others),
        state="open",
        objective=rules.cut(objective, MAX_SUMMARY),
        agent=origin.agent,
        agent_session=name,
        line=clone.line().id if placed.elsewhere else placed.line,
        worktree=session_lookup.worktree_of(clone),
        started=at,
        updated=at,
        previous=first.id if first else None,
    )
    session_files.save(clone.layout, new)
    return new


def _find(clone: Clone, identity: str) -> Session | None:
    try:
        return session_files.find(clone.layout, identity)
    except NotFound:
        return None


def _keys(session: Session) -> set[str]:
    """The marks of the agent's own turns that a session holds."""
    return {str(dict(turn.extra).get(KEY)) for turn in session.turns}


def _open(clone: Clone, identity: str | None) -> Session | None:
    found = _find(clone, identity) if identity else None
    return found if found is not None and found.state == "open" else None


def _shared(clone: Clone, origin: TranscriptOrigin) -> Session | None:
    """The session that is open here, unless it is another agent's, or another conversation's."""
    for one in reversed(session_lookup.open_here(clone)):
        if _is_ours(one, origin.session) or (one.agent_session is None and one.agent in (None, origin.agent)):
            return one
    return None


def _is_ours(session: Session, name: str) -> bool:
    return session.agent_session == rules.cut(name, MAX_LINE)


def _begun(context: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Session:
    anchor, agent = context["anchor"], context["agent"]
    at = SessionAnchor(context["started"], anchor["head"], anchor["branch"])
    objective = next((_objective(row) for row in rows if row["prompt"]), "") or agent["title"] or ""
    return Session(
        id=context["session"]["id"],
        state="ended",
        objective=rules.cut(objective, MAX_SUMMARY),
        agent=agent["name"],
        agent_session=rules.cut(agent["session"], MAX_LINE),
        line=context["session"].get("line") or context["line"],
        worktree=context["worktree"].rpartition("/")[2],
        started=at,
        updated=at,
        ended=at,
        ended_by=ENDED_BY,
        previous=context["session"].get("first"),
    )


def _objective(row: Mapping[str, Any]) -> str:
    return rules.cut(" ".join(row["prompt"][:2_000].split()), _OBJECTIVE)


def _with_turns(old: Session, rows: Sequence[Mapping[str, Any]], *, run: str | None, done: frozenset[str]) -> Session:
    """The session with these turns: in their places if they are there, else after the others."""
    turns, count = list(old.turns), old.count
    places = {dict(turn.extra).get(KEY): at for at, turn in enumerate(turns)}
    for row in rows:
        key = str(row["key"])
        if key in places:
            turns[places[key]] = _turn(row, turns[places[key]].n, old.updated, run)
        elif key not in done and len(turns) < MAX_TURNS:
            count += 1
            places[key] = len(turns)
            turns.append(_turn(row, count, old.updated, run))
    ran = [command for turn in turns for command in turn.commands] if rows else []
    return replace(
        old,
        turns=tuple(turns),
        commands=notes.fewer_commands(list(dict.fromkeys([*old.commands, *ran])))[-_ALL_COMMANDS:],
        files=notes.more(old.files, [path for row in rows for path in row["files"]], rules.MAX_FILES),
        commits=notes.more(old.commits, [oid for row in rows for oid in row["commits"]], rules.MAX_COMMITS),
    )


def _turn(row: Mapping[str, Any], n: int, at: SessionAnchor, run: str | None) -> rules.SessionTurn:
    commit = row["commits"][-1] if row["commits"] else at.commit
    ran = [(rules.cut(one["text"], MAX_LINE) or "?", one["exit_status"]) for one in row["commands"][-_COMMANDS:]]
    return rules.SessionTurn(
        n=n,
        anchor=SessionAnchor(row["ts"], commit, row["branch"] or at.branch),
        summary=rules.cut(row["line"] or "nothing was said", MAX_SUMMARY),
        commands=tuple(SessionCommand(text=text, exit_status=status, ts=row["ts"]) for text, status in ran),
        files=tuple(row["files"]),
        commits=tuple(row["commits"]),
        run=run,
        extra=((KEY, str(row["key"])),),
    )


def _with_open(old: Session, left: Sequence[str] | None, ts: str, owner: tuple[str, str]) -> Session:
    """The session with what the agent's plan, or its own words, leave open.

    What the same left before and does not now, is closed; None says nothing about it.
    """
    if left is None:
        return old
    wanted = list(dict.fromkeys(said for text in left if (said := rules.cut(text, MAX_LINE))))
    there = {item.text for item in old.open if item.state == "open"}
    kept = tuple(
        replace(item, state="closed") if owner in item.extra and item.text not in wanted else item for item in old.open
    )
    new = rules.add_items(kept, [text for text in wanted if text not in there], letter="o", ts=ts)
    return replace(old, open=tuple(replace(item, extra=(owner,)) if item not in kept else item for item in new))


def _without_done(session: Session, plan: Sequence[str], owner: tuple[str, str]) -> Session:
    """The session without what the agent's plan left open before and does not now."""
    left = {rules.cut(text, MAX_LINE) for text in plan}
    done = (one for one in session.open if owner in one.extra and one.state == "open" and one.text not in left)
    return rules.close(session, [one.id for one in done])


def _moved(session: Session, rows: Sequence[Mapping[str, Any]], summary: str) -> Session:
    """The session as of its last turn."""
    if not rows:
        return session
    last = max(row["ended"] for row in rows)
    commit = session.commits[-1] if session.commits else session.updated.commit
    at = SessionAnchor(max(last, session.updated.ts), commit, rows[-1]["branch"] or session.updated.branch)
    return replace(session, updated=at, ended=at if session.state == "ended" else None, summary=summary)
