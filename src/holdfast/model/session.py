"""A session: the short cache of one piece of work on one branch, from its start to its end.

It holds what an agent or a person must know to continue where the last one stopped: turns, what is open, what waits for
an answer, which commands ran. Here are the values, their JSON and the rules that need no disk. Files are left to
`store.session_files`, git and time to `capture.session_work`, the text for an agent to `model.brief`.

JSON is read strictly: every known field has a reader, which gets a value and its place and raises ValueError with what
is wrong. Classes that are read so have a field `extra`, which keeps fields that others wrote into their objects.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from holdfast.errors import BadInput, FutureFormat, NotFound, TooLarge
from holdfast.model.ids import is_id
from holdfast.patterns import regex
from holdfast.values import MISSING, fields, frozen, replace

FieldReader = Callable[[Any, str], Any]
FieldReaders = Mapping[type, Mapping[str, FieldReader]]


def load_strictly(data: str | bytes) -> Any:
    """A JSON value; a repeated key or a number that is none is refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("it says the same thing twice")
        return found

    def no_constant(word: str) -> Any:
        raise ValueError(f"{word} is no number")

    return json.loads(data, object_pairs_hook=once, parse_constant=no_constant)


def text_field(limit: int) -> FieldReader:
    """A text of at most so many characters."""

    def read(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise ValueError(f"{where} is not a text")
        if len(value) > limit:
            raise ValueError(f"{where} is longer than {limit} characters")
        return value

    return read


def fitting_field(fits: Callable[[Any], bool], what: str) -> FieldReader:
    """A value that fits; `what` names it."""

    def read(value: Any, where: str) -> Any:
        if not fits(value):
            raise ValueError(f"{where} is not {what}")
        return value

    return read


def pattern_field(pattern: re.Pattern[str], what: str) -> FieldReader:
    """A text of a certain form; `what` names it."""
    return fitting_field(lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None, what)


id_field = fitting_field(lambda value: isinstance(value, str) and is_id(value), "an id")


def number_field(least: int) -> FieldReader:
    """A whole number from `least` on."""
    what = f"a whole number from {least} on"
    return fitting_field(lambda value: type(value) is int and least <= value < 2**53, what)


def choice_field(*words: str) -> FieldReader:
    """One of these words."""
    return fitting_field(lambda value: value in words, f"one of {', '.join(words)}")


def optional_field(reader: FieldReader) -> FieldReader:
    """Null, or what another reader gives."""
    return lambda value, where: None if value is None else reader(value, where)


def list_field(reader: FieldReader, most: int) -> FieldReader:
    """A list of at most so many values."""

    def read(value: Any, where: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValueError(f"{where} is not a list")
        if len(value) > most:
            raise ValueError(f"{where} has more than {most} entries")
        return tuple(reader(one, f"{where}[{n}]") for n, one in enumerate(value))

    return read


def object_field(cls: type, shapes: FieldReaders) -> FieldReader:
    """A value of a class."""
    return lambda value, where: build_strictly(cls, value, where, shapes)


def build_strictly(cls: type, raw: Any, where: str, shapes: FieldReaders) -> Any:
    """A value from its JSON object: known fields read strictly, unknown ones kept."""
    if not isinstance(raw, dict):
        raise ValueError(f"{where} is not an object")
    shape = shapes[cls]
    for field in fields(cls):
        if field.name in shape and field.default is MISSING and field.name not in raw:
            raise ValueError(f"{where} has no {field.name}".strip())
    known = {name: read(raw[name], f"{where}.{name}".lstrip(".")) for name, read in shape.items() if name in raw}
    return cls(**known, extra=tuple((name, value) for name, value in raw.items() if name not in shape))


VERSION = 1
PREFIX = "SES"
DETACHED = "detached"  # how a session is called whose work tree is on no branch

# Characters. What a person types beyond them is refused; what is found (files, commands) is cut.
MAX_LINE = 4_000  # an open item, an approval, a decision, a command
MAX_SUMMARY = 20_000  # characters; a guess: several pages
MAX_SCRATCHPAD = 200_000  # characters; a guess: an agent's notes of a long session
# How many. The newest stay; of items only closed ones ever go.
MAX_TURNS, MAX_FOLDED, MAX_ITEMS, MAX_COMMANDS = 5_000, 1_000, 2_000, 500
MAX_FILES, MAX_COMMITS, MAX_NAMES = 2_000, 5_000, 1_000  # a guess: bounds one file
MAX_PATH = 4_096  # PATH_MAX of Linux

_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ITEM = regex(r"[ofa][1-9][0-9]{0,8}", re.ASCII)
_LINE = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")

Extra = tuple[tuple[str, Any], ...]


@frozen
class SessionAnchor:
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
class SessionCommand:
    """Something that was run; `run` names its capsule if it was recorded."""

    text: str
    run: str | None = None
    exit_status: int | None = None
    ts: str
    extra: Extra = ()


@frozen(kw_only=True)
class SessionTurn:
    """One step of the work, told in a sentence or a paragraph."""

    n: int
    anchor: SessionAnchor
    summary: str
    commands: tuple[SessionCommand, ...] = ()
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    run: str | None = None
    task: str | None = None
    extra: Extra = ()


@frozen(kw_only=True)
class SessionItem:
    """An open subtask or a follow-up; its short id (`o1`, `f2`) is never given twice in a session."""

    id: str
    text: str
    task: str | None = None
    ts: str
    state: str = "open"
    extra: Extra = ()


@frozen(kw_only=True)
class SessionApproval:
    """Something that waits for somebody's yes or no."""

    id: str
    text: str
    state: str = "pending"
    ts: str
    extra: Extra = ()


@frozen(kw_only=True)
class Condensed:
    """What stands for the older turns: how many they were, what they said, and who put it shortly.

    `folded` keeps a line of each for the journal, the newest of them; an agent gets only the text.
    """

    turns: int
    text: str
    by: str
    folded: tuple[SessionTurn, ...] = ()
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
    started: SessionAnchor
    updated: SessionAnchor
    ended: SessionAnchor | None = None
    ended_by: str | None = None
    previous: str | None = None
    next: tuple[str, ...] = ()
    summary: str = ""
    turns: tuple[SessionTurn, ...] = ()
    condensed: Condensed | None = None
    open: tuple[SessionItem, ...] = ()
    follow_ups: tuple[SessionItem, ...] = ()
    approvals: tuple[SessionApproval, ...] = ()
    scratchpad: str = ""
    decisions: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    commands: tuple[SessionCommand, ...] = ()
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
    def every_turn(self) -> tuple[SessionTurn, ...]:
        """All turns there is still a word of, the folded ones in a line each."""
        return (*self.condensed.folded, *self.turns) if self.condensed else self.turns

    @property
    def still_open(self) -> tuple[SessionItem, ...]:
        return tuple(item for item in self.open if item.state == "open")

    @property
    def still_to_follow(self) -> tuple[SessionItem, ...]:
        return tuple(item for item in self.follow_ups if item.state == "open")

    @property
    def pending(self) -> tuple[SessionApproval, ...]:
        return tuple(approval for approval in self.approvals if approval.state == "pending")


def now_at(session: Session, at: SessionAnchor) -> SessionAnchor:
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
    items: tuple[SessionItem, ...], texts: Iterable[str], *, letter: str, ts: str, task: str | None = None
) -> tuple[SessionItem, ...]:
    """The items with new ones added; a text that is open already joins the one that says it."""
    found = list(items)
    for text in texts:
        if not (said := clean(text, limit=MAX_LINE, what="an item")):
            raise BadInput("an item has no text", hint="Say in a few words what is left to do.")
        if not any(item.state == "open" and _same(item.text, said) for item in found):
            found.append(SessionItem(id=_next_id(found, letter), text=said, task=task, ts=ts))
    return _fewer(found, lambda item: item.state == "open")


def add_approvals(
    approvals: tuple[SessionApproval, ...], texts: Iterable[str], *, ts: str
) -> tuple[SessionApproval, ...]:
    """The approvals with new ones asked for; one that is pending already is not asked twice."""
    found = list(approvals)
    for text in texts:
        if not (said := clean(text, limit=MAX_LINE, what="an approval")):
            raise BadInput("an approval has no text", hint="Say in a few words what needs a yes.")
        if not any(one.state == "pending" and _same(one.text, said) for one in found):
            found.append(SessionApproval(id=_next_id(found, "a"), text=said, ts=ts))
    return _fewer(found, lambda one: one.state == "pending")


def close(session: Session, ids: Iterable[str]) -> Session:
    """The session with these open items or follow-ups closed; NotFound if one is not there."""
    for asked in ids:
        name = asked.strip().lower()
        if name not in {item.id for item in (*session.open, *session.follow_ups)}:
            raise NotFound(f"{session.id} has no item {asked}", hint=_items_hint(session))
        opened, later = (
            tuple(replace(item, state="closed") if item.id == name else item for item in items)
            for items in (session.open, session.follow_ups)
        )
        session = replace(session, open=opened, follow_ups=later)
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


def _items_hint(session: Session) -> str:
    names = [item.id for item in (*session.still_open, *session.still_to_follow)]
    names += [approval.id for approval in session.pending]
    there = f"Open there: {', '.join(names[:12])}." if names else "Nothing is open there."
    return f"{there} What another session left is called by its id as well, such as SES-…:o1."


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


_Numbered = TypeVar("_Numbered", SessionItem, SessionApproval)


def _next_id(found: Iterable[_Numbered], letter: str) -> str:
    return f"{letter}{max((int(one.id[1:]) for one in found), default=0) + 1}"


def _fewer(found: list[_Numbered], lives: Callable[[_Numbered], bool]) -> tuple[_Numbered, ...]:
    """All that lives, and as many of the rest as there is room for; the last number always stays."""
    spare = len(found) - MAX_ITEMS
    if spare <= 0:
        return tuple(found)
    gone = {one.id for one in [one for one in found[:-1] if not lives(one)][:spare]}
    if len(gone) < spare:
        raise TooLarge(f"{MAX_ITEMS} items are open in this session", hint="Close some, or make them tasks.")
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
    raw = load_strictly(text)
    if not isinstance(raw, dict):
        raise ValueError("it is not an object")
    version = raw.pop("version", None)
    raw.pop("diff", None)  # it follows from where the session started and is
    if type(version) is not int or version < 1:
        raise ValueError("it does not say its version")
    if version > VERSION:
        raise FutureFormat(f"it is written in version {version}; this Holdfast reads {VERSION}")
    session: Session = build_strictly(Session, raw, "", _SHAPES)
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


_time = pattern_field(_TS, "a time in UTC with microseconds")
_oid = pattern_field(_OID, "a full commit id")
_item = pattern_field(_ITEM, "the short id of an item")
_line, _long = text_field(MAX_LINE), text_field(MAX_SUMMARY)
_maybe_line, _maybe_id = optional_field(_line), optional_field(id_field)
_files, _commits = list_field(text_field(MAX_PATH), MAX_FILES), list_field(_oid, MAX_COMMITS)
_status = optional_field(number_field(-(2**53)))

_SHAPES: dict[type, dict[str, FieldReader]] = {}
_anchor = object_field(SessionAnchor, _SHAPES)
_items = list_field(object_field(SessionItem, _SHAPES), MAX_ITEMS)
_commands = list_field(object_field(SessionCommand, _SHAPES), MAX_COMMANDS)
_SHAPES |= {
    SessionAnchor: {"ts": _ts, "commit": optional_field(_oid), "branch": _maybe_line},
    SessionCommand: {"text": _line, "run": _maybe_id, "exit_status": _status, "ts": _ts},
    SessionItem: {"id": _item, "text": _line, "task": _maybe_id, "ts": _ts, "state": choice_field("open", "closed")},
    SessionApproval: {"id": _item, "text": _line, "state": choice_field("pending", "granted", "denied"), "ts": _ts},
    Condensed: {
        "turns": number_field(1),
        "text": text_field(MAX_SCRATCHPAD),
        "by": _line,
        "folded": list_field(object_field(SessionTurn, _SHAPES), MAX_FOLDED),
    },
    SessionTurn: {
        "n": number_field(1),
        "anchor": _anchor,
        "summary": _long,
        "commands": _commands,
        "files": _files,
        "commits": _commits,
        "run": _maybe_id,
        "task": _maybe_id,
    },
    Session: {
        "id": id_field,
        "state": choice_field("open", "ended"),
        **dict.fromkeys(("objective", "summary"), _long),
        **dict.fromkeys(("agent", "agent_session", "ended_by"), _maybe_line),
        "line": pattern_field(_LINE, "the id of a line"),
        "worktree": text_field(MAX_PATH),
        "started": _anchor,
        "updated": _anchor,
        "ended": optional_field(_anchor),
        "previous": _maybe_id,
        **dict.fromkeys(("next", "tasks"), list_field(id_field, MAX_NAMES)),
        "turns": list_field(object_field(SessionTurn, _SHAPES), MAX_TURNS),
        "condensed": optional_field(object_field(Condensed, _SHAPES)),
        **dict.fromkeys(("open", "follow_ups"), _items),
        "approvals": list_field(object_field(SessionApproval, _SHAPES), MAX_ITEMS),
        "scratchpad": text_field(MAX_SCRATCHPAD),
        "decisions": list_field(_line, MAX_NAMES),
        "commits": _commits,
        "commands": _commands,
        "files": _files,
    },
}
