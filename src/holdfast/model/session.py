"""A session: the short cache of one piece of work on one branch, from its start to its end.

What an agent or a person must know to go on where the last one stopped: turns, what is open, what waits
for an answer, what was run. These are values, their JSON and the rules that need no disk; files are
`store.sessions`' business, git and time come from `capture.session`, the text for an agent from
`model.brief`.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, TypeVar

from holdfast.errors import BadInput, FutureFormat, NotFound, TooLarge
from holdfast.model import strict
from holdfast.patterns import regex
from holdfast.values import fields, frozen, replace

VERSION = 1
PREFIX = "SES"
DETACHED = "detached"  # how a session is called whose work tree is on no branch

# Characters. What a person types beyond them is refused; what is found (files, commands) is cut.
MAX_LINE = 4_000  # an open item, an approval, a decision, a command
MAX_SUMMARY = 20_000
MAX_SCRATCHPAD = 200_000
# How many. The newest stay; of items only closed ones ever go.
MAX_TURNS, MAX_FOLDED, MAX_ITEMS, MAX_COMMANDS, MAX_FILES, MAX_COMMITS, MAX_NAMES = (
    5_000,
    1_000,
    2_000,
    500,
    2_000,
    5_000,
    1_000,
)
MAX_PATH = 4_096

_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ITEM = regex(r"[ofa][1-9][0-9]{0,8}", re.ASCII)
_LINE = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")

Extra = tuple[tuple[str, Any], ...]


@frozen
class Anchor:
    """A moment and the place in git where it was."""

    ts: str
    commit: str | None
    branch: str | None
    extra: Extra = ()

    @property
    def place(self) -> str:
        """Its branch; without one and with a commit, HEAD was detached; with neither, nobody noted where."""
        return self.branch or ("a detached HEAD" if self.commit else "an unknown branch")


@frozen(kw_only=True)
class Command:
    """Something that was run; `run` names its capsule if it was recorded."""

    text: str
    run: str | None = None
    exit_status: int | None = None
    ts: str
    extra: Extra = ()


@frozen(kw_only=True)
class Turn:
    """One step of the work, told in a sentence or a paragraph."""

    n: int
    anchor: Anchor
    summary: str
    commands: tuple[Command, ...] = ()
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    run: str | None = None
    task: str | None = None
    extra: Extra = ()


@frozen(kw_only=True)
class Item:
    """An open subtask or a follow-up; its short id (`o1`, `f2`) is never given twice in a session."""

    id: str
    text: str
    task: str | None = None
    ts: str
    state: str = "open"
    extra: Extra = ()


@frozen(kw_only=True)
class Approval:
    """Something that waits for somebody's yes or no."""

    id: str
    text: str
    state: str = "pending"
    ts: str
    extra: Extra = ()


@frozen(kw_only=True)
class Condensed:
    """What stands for the older turns: how many they were, what they said, and who put it shortly.

    `folded` keeps a line of each for the journal, the newest of them; an agent is told only the text.
    """

    turns: int
    text: str
    by: str
    folded: tuple[Turn, ...] = ()
    extra: Extra = ()


@frozen(kw_only=True)
class Session:
    """The short cache of one piece of work."""

    id: str
    state: str = "open"
    objective: str = ""
    agent: str | None = None
    agent_session: str | None = None
    line: str
    worktree: str  # the name of the work tree's git folder, "." for the main one
    started: Anchor
    updated: Anchor
    ended: Anchor | None = None
    ended_by: str | None = None
    previous: str | None = None
    next: tuple[str, ...] = ()
    summary: str = ""
    turns: tuple[Turn, ...] = ()
    condensed: Condensed | None = None
    open: tuple[Item, ...] = ()
    follow_ups: tuple[Item, ...] = ()
    approvals: tuple[Approval, ...] = ()
    scratchpad: str = ""
    decisions: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    files: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    extra: Extra = ()

    @property
    def branch(self) -> str | None:
        """The branch it began on, None for a detached HEAD."""
        return self.started.branch

    @property
    def count(self) -> int:
        """How many turns it had, the folded ones included."""
        return self.turns[-1].n if self.turns else (self.condensed.turns if self.condensed else 0)

    @property
    def every_turn(self) -> tuple[Turn, ...]:
        """All turns there is still a word of, the folded ones in a line each."""
        return (*self.condensed.folded, *self.turns) if self.condensed else self.turns

    @property
    def still_open(self) -> tuple[Item, ...]:
        return tuple(item for item in self.open if item.state == "open")

    @property
    def still_to_follow(self) -> tuple[Item, ...]:
        return tuple(item for item in self.follow_ups if item.state == "open")

    @property
    def pending(self) -> tuple[Approval, ...]:
        return tuple(approval for approval in self.approvals if approval.state == "pending")


def now_at(session: Session, at: Anchor) -> Anchor:
    """An anchor with its commit under the name it has now; sessions keep what was renamed as `was`."""
    was, seen = dict(session.extra).get("was"), at.commit
    passed: set[str | None] = set()
    while isinstance(was, dict) and isinstance(was.get(seen), str) and seen not in passed:
        passed.add(seen)
        seen = was[seen]
    return replace(at, commit=seen)


def clean(text: str, *, limit: int, what: str) -> str:
    """A text as it is stored: stripped, without half characters; TooLarge beyond its limit."""
    if len(text) > limit:
        raise TooLarge(f"{what} has {len(text)} characters; at most {limit} are kept in a session")
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\r\n", "\n").strip()


def cut(text: str, limit: int) -> str:
    """A text that came by itself, shortened rather than refused."""
    text = text.encode("utf-8", "backslashreplace").decode("utf-8").strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def newest(values: Iterable[str], most: int) -> tuple[str, ...]:
    """Each value once, where it was last said; of too many the newest."""
    return tuple(reversed(list(dict.fromkeys(reversed(list(values))))[:most]))


def add_items(
    items: tuple[Item, ...], texts: Iterable[str], *, letter: str, ts: str, task: str | None = None
) -> tuple[Item, ...]:
    """The items with new ones added; a text that is open already joins the one that says it."""
    found = list(items)
    for text in texts:
        if not (said := clean(text, limit=MAX_LINE, what="an item")):
            raise BadInput("an item has no text", hint="Say in a few words what is left to do.")
        if not any(item.state == "open" and _same(item.text, said) for item in found):
            found.append(Item(id=_next_id(found, letter), text=said, task=task, ts=ts))
    return _fewer(found, lambda item: item.state == "open")


def add_approvals(approvals: tuple[Approval, ...], texts: Iterable[str], *, ts: str) -> tuple[Approval, ...]:
    """The approvals with new ones asked for; one that is pending already is not asked twice."""
    found = list(approvals)
    for text in texts:
        if not (said := clean(text, limit=MAX_LINE, what="an approval")):
            raise BadInput("an approval has no text", hint="Say in a few words what needs a yes.")
        if not any(one.state == "pending" and _same(one.text, said) for one in found):
            found.append(Approval(id=_next_id(found, "a"), text=said, ts=ts))
    return _fewer(found, lambda one: one.state == "pending")


def close(session: Session, ids: Iterable[str]) -> Session:
    """The session with these open items or follow-ups closed; NotFound if one is not there."""
    for asked in ids:
        name = asked.strip().lower()
        if name not in {item.id for item in (*session.open, *session.follow_ups)}:
            raise NotFound(f"{session.id} has no item {asked}", hint=_items_hint(session))
        session = replace(session, open=_closed(session.open, name), follow_ups=_closed(session.follow_ups, name))
    return session


def answer(session: Session, ids: Iterable[str], *, state: str) -> Session:
    """The session with these approvals granted or denied."""
    for asked in ids:
        name = asked.strip().lower()
        if name not in {one.id for one in session.approvals}:
            raise NotFound(f"{session.id} has no approval {asked}", hint=_items_hint(session))
        told = (replace(one, state=state) if one.id == name else one for one in session.approvals)
        session = replace(session, approvals=tuple(told))
    return session


def _closed(items: tuple[Item, ...], name: str) -> tuple[Item, ...]:
    return tuple(replace(item, state="closed") if item.id == name else item for item in items)


def _items_hint(session: Session) -> str:
    names = [item.id for item in (*session.still_open, *session.still_to_follow)]
    names += [approval.id for approval in session.pending]
    there = f"Open there: {', '.join(names[:12])}." if names else "Nothing is open there."
    return f"{there} What another session left is called by its id as well, such as SES-…:o1."


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


_Numbered = TypeVar("_Numbered", Item, Approval)


def _next_id(found: Iterable[_Numbered], letter: str) -> str:
    return f"{letter}{max((int(one.id[1:]) for one in found), default=0) + 1}"


def _fewer(found: list[_Numbered], lives: Callable[[_Numbered], bool]) -> tuple[_Numbered, ...]:
    """All that lives, and as many of the rest as there is room for; the last number always stays."""
    spare = len(found) - MAX_ITEMS
    if spare <= 0:
        return tuple(found)
    dead = [one.id for one in found[:-1] if not lives(one)][:spare]
    if len(dead) < spare:
        raise TooLarge(f"{MAX_ITEMS} items are open in this session", hint="Close some, or make them tasks.")
    gone = set(dead)
    return tuple(one for one in found if one.id not in gone)


def to_json(session: Session) -> str:
    """The session as its file holds it; fields of others are written back as they were."""
    return json.dumps(to_object(session), ensure_ascii=False, indent=1) + "\n"


def to_object(session: Session) -> dict[str, Any]:
    """The session as plain JSON values, with what `git diff` shows of it: from its start to where it is."""
    diff = {"from": session.started.commit, "to": (session.ended or session.updated).commit}
    return {"version": VERSION, **_plain(session), "diff": diff}


def _plain(value: Any) -> Any:
    if type(value) in _SHAPES:
        names = [field.name for field in fields(value) if field.name != "extra"]
        return {**{name: _plain(getattr(value, name)) for name in names}, **dict(value.extra)}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def from_json(text: str | bytes) -> Session:
    """A session from its file; ValueError says what is wrong, FutureFormat that it is newer than us."""
    raw = strict.loads(text)
    if not isinstance(raw, dict):
        raise ValueError("it is not an object")
    version = raw.pop("version", None)
    raw.pop("diff", None)  # it follows from where the session started and is
    if type(version) is not int or version < 1:
        raise ValueError("it does not say its version")
    if version > VERSION:
        raise FutureFormat(f"it is written in version {version}; this Holdfast reads {VERSION}")
    session: Session = strict.build(Session, raw, "", _SHAPES)
    check(session)
    return session


def check(session: Session) -> None:
    """Say by ValueError in what a session contradicts itself."""
    if not session.id.startswith(f"{PREFIX}-"):
        raise ValueError(f"{session.id!r} is not the id of a session")
    if (session.state == "ended") != (session.ended is not None):
        raise ValueError("its state and its end differ")
    numbers = [turn.n for turn in session.turns]
    folded = session.condensed.turns if session.condensed else 0
    if numbers != list(range(folded + 1, folded + 1 + len(numbers))):
        raise ValueError("its turns are not numbered one after the other")
    for letter, items in (("o", session.open), ("f", session.follow_ups), ("a", session.approvals)):
        ids = [one.id for one in items]
        if len(ids) != len(set(ids)) or any(not name.startswith(letter) for name in ids):
            raise ValueError(f"the ids of its items ({letter}…) are not in order")


def _ts(value: Any, where: str) -> str:
    known: str = _time(value, where)
    datetime.fromisoformat(known)  # the 31st of February has the right form
    return known


_time = strict.fitting(_TS, "a time in UTC with microseconds")
_oid = strict.fitting(_OID, "a full commit id")
_item = strict.fitting(_ITEM, "the short id of an item")
_line = strict.text(MAX_LINE)
_files = strict.each(strict.text(MAX_PATH), MAX_FILES)

_SHAPES: dict[type, dict[str, strict.Reader]] = {}
_SHAPES |= {
    Anchor: {"ts": _ts, "commit": strict.maybe(_oid), "branch": strict.maybe(_line)},
    Command: {
        "text": _line,
        "run": strict.maybe(strict.identity),
        "exit_status": strict.maybe(strict.number(-(2**53))),
        "ts": _ts,
    },
    Item: {
        "id": _item,
        "text": _line,
        "task": strict.maybe(strict.identity),
        "ts": _ts,
        "state": strict.one_of("open", "closed"),
    },
    Approval: {"id": _item, "text": _line, "state": strict.one_of("pending", "granted", "denied"), "ts": _ts},
    Condensed: {
        "turns": strict.number(1),
        "text": strict.text(MAX_SCRATCHPAD),
        "by": _line,
        "folded": strict.each(strict.made(Turn, _SHAPES), MAX_FOLDED),
    },
    Turn: {
        "n": strict.number(1),
        "anchor": strict.made(Anchor, _SHAPES),
        "summary": strict.text(MAX_SUMMARY),
        "commands": strict.each(strict.made(Command, _SHAPES), MAX_COMMANDS),
        "files": _files,
        "commits": strict.each(_oid, MAX_COMMITS),
        "run": strict.maybe(strict.identity),
        "task": strict.maybe(strict.identity),
    },
    Session: {
        "id": strict.identity,
        "state": strict.one_of("open", "ended"),
        "objective": strict.text(MAX_SUMMARY),
        "agent": strict.maybe(_line),
        "agent_session": strict.maybe(_line),
        "line": strict.fitting(_LINE, "the id of a line"),
        "worktree": strict.text(MAX_PATH),
        "started": strict.made(Anchor, _SHAPES),
        "updated": strict.made(Anchor, _SHAPES),
        "ended": strict.maybe(strict.made(Anchor, _SHAPES)),
        "ended_by": strict.maybe(_line),
        "previous": strict.maybe(strict.identity),
        "next": strict.each(strict.identity, MAX_NAMES),
        "summary": strict.text(MAX_SUMMARY),
        "turns": strict.each(strict.made(Turn, _SHAPES), MAX_TURNS),
        "condensed": strict.maybe(strict.made(Condensed, _SHAPES)),
        "open": strict.each(strict.made(Item, _SHAPES), MAX_ITEMS),
        "follow_ups": strict.each(strict.made(Item, _SHAPES), MAX_ITEMS),
        "approvals": strict.each(strict.made(Approval, _SHAPES), MAX_ITEMS),
        "scratchpad": strict.text(MAX_SCRATCHPAD),
        "decisions": strict.each(_line, MAX_NAMES),
        "commits": strict.each(_oid, MAX_COMMITS),
        "commands": strict.each(strict.made(Command, _SHAPES), MAX_COMMANDS),
        "files": _files,
        "tasks": strict.each(strict.identity, MAX_NAMES),
    },
}
