"""Pointers to runs: the transcripts that agents' hooks told of are read as far as they have got.

A session that goes on gives turns to a Holdfast session; one that has ended becomes a run. It ends at a
pointer that says so, when its transcript has been idle for half an hour, or when another session of the
same agent starts in the same work tree, or when its work tree is gone. Sessions of another work tree wait for
a command there: what is recorded belongs to the line that is checked out. Nothing is lost by a kill or a full
disk at any moment: pointers go when their transcript was read, reading goes on where it stopped, and what is
no transcript is said and set aside.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from holdfast.capture.agents import dialect
from holdfast.capture.ingest.taking import Taken
from holdfast.capture.live import approving
from holdfast.errors import BadInput, Busy, HoldfastError, ReadOnlyStore, TooLarge
from holdfast.git.clone import Clone
from holdfast.model.text import visible
from holdfast.store import pointers
from holdfast.store.pointers import Live, Pointer, Pointers
from holdfast.values import field, frozen, mutable, replace

IDLE = 30 * 60 * 1_000_000_000  # nanoseconds
_GIVEN_UP = pointers.VANISHED_FOR * 1_000_000_000  # after which what was never read is not tried again
_STARTS = ("SessionStart", "UserPromptSubmit", "BeforeAgent")
_ONLY_BEGUN = ("SessionStart", "UserPromptSubmit", "BeforeAgent", "SessionEnd", "Notification")

# A transcript is somebody else's text: whatever is wrong with one, the others are read.
BAD = (HoldfastError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)

# (agent, transcript, whether it has ended, whether its work tree, one of ours, is gone)
Take = Callable[[str, str, bool, bool], Taken | None]


@mutable
class Drained:
    """What a drain did."""

    sessions: int = 0  # that were read
    turns: int = 0  # that were new
    runs: list[str] = field(default_factory=list)  # that ended
    vanished: list[str] = field(default_factory=list)  # transcripts that are not there any more
    waiting: int = 0  # sessions that are left: of another work tree, too long, or not written yet
    failed: list[str] = field(default_factory=list)  # sentences
    too_long: bool = False  # more waited than was to be read


@frozen
class _Session:
    """One session, from what waits and from what the last drain saw."""

    agent: str
    name: str
    new: Pointers | None
    live: Live | None

    @property
    def all(self) -> tuple[Pointer, ...]:
        return self.new.all if self.new else ()

    @property
    def path(self) -> str | None:
        return (self.new.path if self.new else None) or (self.live.path if self.live else None)

    @property
    def tree(self) -> str:
        return (self.new.tree if self.new else "") or (self.live.tree if self.live else "")

    @property
    def seen(self) -> int:
        """When it was last heard of."""
        return max([one.ts for one in self.all] + ([self.live.seen] if self.live else []), default=0)

    @property
    def size(self) -> int:
        """How long its transcript was known to be."""
        return max([one.size for one in self.all] + ([self.live.size] if self.live else []), default=0)


def drain(clone: Clone, take: Take, *, now: int, most: int | None = None) -> Drained:
    """Read what waits; with `most`, nothing if there is more than that many bytes of it.

    `now` is the time in nanoseconds, by the clock of hooks and file systems.
    """
    done = Drained()
    if not any(pointers.is_filled(store) for store in clone.stores):
        leave_no_drawer(clone)
        return done
    if most is not None and backlog(clone) > most:
        done.too_long = True
        done.waiting = len(pointers.waiting(*clone.stores))
        return done
    try:
        with pointers.held(clone.layout):
            _drain(clone, take, now, done)
            pointers.sweep(now, *clone.stores)
            leave_no_drawer(clone)
    except (Busy, ReadOnlyStore):  # another is at it, or this is a sandbox: it waits
        done.waiting = len(pointers.waiting(*clone.stores))
    return done


def backlog(clone: Clone) -> int:
    """How many bytes of transcripts wait to be read in this work tree."""
    there = _sessions(clone, pointers.waiting(*clone.stores))
    sizes = ((_length(one.path), one.live.size if one.live else 0) for one in there if _is_here(clone, one.tree))
    return sum(max(0, size - before) for size, before in sizes)


def _drain(clone: Clone, take: Take, now: int, done: Drained) -> None:
    there = _sessions(clone, pointers.take(*clone.stores))
    begun = _begun(there)
    for one in there:
        if not _is_here(clone, one.tree):
            done.waiting += one.new is not None
            continue
        last = begun.get((one.agent, one.tree), (0, one.name))
        is_followed = last[1] != one.name and last[0] > one.seen
        _read(clone, take, one, _Moment(now, is_followed), done)


@frozen
class _Moment:
    """When a session is looked at, and whether another has begun since."""

    now: int
    is_followed: bool


def _sessions(clone: Clone, taken: Sequence[Pointers]) -> list[_Session]:
    new = {(one.agent, one.session): one for one in taken}
    live = {(one.agent, one.session): one for one in pointers.live(*clone.stores)}
    return [_Session(*key, new.get(key), live.get(key)) for key in dict.fromkeys([*live, *new])]


def _begun(there: Iterable[_Session]) -> dict[tuple[str, str], tuple[int, str]]:
    """For each agent and work tree the last session that started: when, and which."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for one in there:
        for pointer in one.all:
            key = (one.agent, pointer.tree)
            if pointer.event == "SessionStart" and pointer.ts > found.get(key, (0, ""))[0]:
                found[key] = pointer.ts, one.name
    return found


def _is_here(clone: Clone, tree: str) -> bool:
    """Whether a session is of this work tree, or of one that is gone."""
    return not tree or _same(tree, clone.repo.git_dir) or _is_gone(tree)


def _is_gone(tree: str) -> bool:
    return bool(tree) and not os.path.isdir(tree)


def _same(one: str, other: str) -> bool:
    return one == other or os.path.realpath(one) == os.path.realpath(other)


def _read(clone: Clone, take: Take, one: _Session, at: _Moment, done: Drained) -> None:
    """Read one session's transcript as far as it has got."""
    path = _found(one.agent, one.path) if one.path else None
    if path is None:
        _missing(clone, one, at, done)
        return
    ended = at.is_followed or _says_so(one.all) or _is_gone(one.tree) or _is_idle(path, one.seen, at.now)
    size = _length(path)
    if not (one.new or ended or one.live is None or size != one.live.size):
        return
    try:
        session = _take(clone, take, one, path, ended, done)
    except BAD as error:
        _say(done, one, path, error)
        if not (_is_bad(one.agent, path, error) or _is_idle(path, one.seen, at.now, since=_GIVEN_UP)):
            done.waiting += 1  # a full disk, somebody else at it: its pointers stay for the next drain
            return
        pointers.set_aside(clone.layout, one.new or _as_pointers(one), pointers.UNREAD)
        session, one = one.live.holdfast if one.live else None, replace(one, new=None)
    else:
        pointers.was_read(one.new or _as_pointers(one), *clone.stores)
    _settle(clone, one, path, _Read(size, session, ended))


def _say(done: Drained, one: _Session, path: str, error: BaseException) -> None:
    said = str(error) if isinstance(error, HoldfastError | OSError) else repr(error)
    done.failed.append(f"{one.agent}'s transcript {visible(path)} was not read: {said}")


def _is_bad(agent: str, path: str, error: BaseException) -> bool:
    """Whether a transcript itself is to blame, so that reading it again would be in vain."""
    if isinstance(error, BadInput):
        return not dialect(agent).is_mine(path)
    return isinstance(error, TooLarge) or not isinstance(error, HoldfastError | OSError)


@frozen
class _Read:
    """How far a transcript was read, into which session of ours, and whether that was all."""

    size: int
    session: str | None
    ended: bool


def _take(clone: Clone, take: Take, one: _Session, path: str, ended: bool, done: Drained) -> str | None:  # noqa: PLR0917
    """Take in a transcript and those of its helpers; gives the session it went into."""
    taken = take(one.agent, path, ended, _is_gone(one.tree))
    done.sessions += 1
    for helper in one.new.helpers if one.new else ():
        if helper != path and os.path.isfile(helper):
            _help(take, one, helper, ended, done)
    _count(taken, done)
    session = (taken.session_id if taken else None) or (one.live.holdfast if one.live else None)
    questions = approving.asked(one.all)
    if session and questions:
        said = approving.answered(questions, dialect(one.agent).read(path, 0, None))
        approving.note(clone, session, said)
    return session


def _help(take: Take, one: _Session, path: str, ended: bool, done: Drained) -> None:
    """Take in a helper's transcript; what is wrong with that one is not its caller's fault."""
    try:
        _count(take(one.agent, path, ended, _is_gone(one.tree)), done)
    except BAD as error:
        if not _is_bad(one.agent, path, error):
            raise
        _say(done, one, path, error)


def _count(taken: Taken | None, done: Drained) -> None:
    if taken is not None:
        done.turns += taken.turns
        done.runs += taken.runs


def _settle(clone: Clone, one: _Session, path: str, read: _Read) -> None:
    """Remember how far it was read, and forget what is not needed again."""
    if read.ended:
        pointers.forget(one.new or _as_pointers(one), *clone.stores)
    else:
        new = Live(
            agent=one.agent,
            session=one.name,
            path=path,
            tree=one.tree,
            seen=one.seen,
            size=read.size,
            holdfast=read.session,
        )
        if new != one.live:
            pointers.remember(clone.layout, new)
    if one.new:
        asked = approving.asked(one.all) if not read.ended else []
        keep = [replace(question.pointer, call=question.call) for question in asked if question.done is None]
        pointers.drop(one.new, keep)


def _missing(clone: Clone, one: _Session, at: _Moment, done: Drained) -> None:
    """A transcript that is not there: not yet, never, or not any more."""
    quiet = at.is_followed or _says_so(one.all) or at.now - one.seen > IDLE
    was_there = one.size > 0 or (quiet and any(p.event not in _ONLY_BEGUN for p in one.all))
    was_there |= bool(one.path) and not pointers.is_path(one.path or "")  # nor will it ever be
    if one.path and was_there:
        done.vanished.append(one.path)
        pointers.set_aside(clone.layout, one.new or _as_pointers(one))
        pointers.forget(one.new or _as_pointers(one), *clone.stores)
    elif one.path is None or quiet:  # a session without a transcript, or one in which nothing was asked
        if one.new:
            pointers.drop(one.new)
        pointers.forget(one.new or _as_pointers(one), *clone.stores)
    else:
        done.waiting += 1


def _as_pointers(one: _Session) -> Pointers:
    known = one.live
    last = (
        [Pointer(ts=known.seen, agent=known.agent, event="-", session=known.session, path=known.path, size=known.size)]
        if known
        else []
    )
    return Pointers(one.agent, one.name, tuple(last))


def _says_so(there: Sequence[Pointer]) -> bool:
    """Whether the session ended and did not go on."""
    ends = max((one.ts for one in there if one.event == "SessionEnd"), default=0)
    return ends > max((one.ts for one in there if one.event in _STARTS), default=0)


def _is_idle(path: str, seen: int, now: int, *, since: int = IDLE) -> bool:
    try:
        return now - max(seen, os.stat(path).st_mtime_ns) > since
    except OSError:
        return False


def _length(path: str | None) -> int:
    try:
        return os.stat(path).st_size if path else 0
    except (OSError, ValueError):
        return 0


def _found(agent: str, path: str) -> str | None:
    """Where a transcript lies now: Codex packs old ones, and moves archived ones to a folder of their own."""
    ways: Mapping[str, Sequence[str]] = {"codex": (f"{path}.zst", *_archived(path))}
    return next((way for way in (path, *ways.get(agent, ())) if os.path.isfile(way)), None)


def _archived(path: str) -> list[str]:
    home, there, _ = path.rpartition("/sessions/")
    kept = f"{home}/archived_sessions/{os.path.basename(path)}"
    return [kept, f"{kept}.zst"] if there else []


def leave_no_drawer(clone: Clone) -> None:
    """Outside a sandbox no empty inbox stays in the work tree: it would keep answers from being quick."""
    folder = clone.private.sandboxed().inbox
    if clone.layout.private != clone.private.private or clone.reading or len(clone.stores) < 2:
        return
    try:
        names = os.listdir(folder)
        if not any(
            name.endswith((".jsonl", ".live", ".pack", pointers.VANISHED, pointers.UNREAD)) or ".taken-" in name
            for name in names
        ):
            for name in names:
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
    except OSError:
        return
