"""Transcripts that agents' hooks pointed to, read as far as they have got; and what agents asked leave for.

A session that goes on gives turns to a Holdfast session; one that has ended becomes a run. It ends at a pointer that
says so, when its transcript has been idle for half an hour, when another session of the same agent starts in the same
work tree, or when its work tree is gone. Sessions of another work tree wait for a command there: what is recorded
belongs to the line that is checked out. Nothing is lost by a kill or a full disk at any moment: pointers go when their
transcript was read, reading goes on where it stopped, and what is not a transcript is reported and set aside.

A hook says that leave was asked, for which tool and sometimes for which call, and no more. What was to be done, and
whether it was, stands in the transcript; where it does not, the pointers that follow tell.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta

from holdfast.capture.agents import spoken_by
from holdfast.capture.ingest.intake import IntakeResult
from holdfast.capture.ingest.run_anchor import moment
from holdfast.errors import BadInput, Busy, HoldfastError, ReadOnlyStore, TooLarge
from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.event import timestamp
from holdfast.model.text import visible
from holdfast.model.transcript import Call, TranscriptTurn, cut
from holdfast.store import agent_inbox, session_files, transcript_files
from holdfast.store.agent_inbox import LiveSession, SessionPointer, SessionPointers
from holdfast.values import field, frozen, mutable, replace

ASKING = ("PermissionRequest",)
_NOTICES = ("ToolPermission", "permission_prompt")  # what Gemini's and Claude's notifications call it
_BEFORE = ("PreToolUse", "BeforeTool")
_AFTER = ("PostToolUse", "PostToolUseFailure", "AfterTool")
_OVER = ("Stop", "AfterAgent", "SessionEnd", "UserPromptSubmit", "BeforeAgent", "SessionStart")
_SLACK = timedelta(seconds=2)  # by which the clocks of a hook and of a transcript may differ
_WIDTH = 300  # characters; a guess: a step is read at a glance
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class AgentApprovalRequest:
    """Leave that was asked for."""

    pointer: SessionPointer
    call: str | None
    done: bool | None = None  # whether what follows says that it was done; None: nothing follows yet


def approval_requests(pointers: Sequence[SessionPointer]) -> list[AgentApprovalRequest]:
    """The questions among the pointers of a session, with what those after them tell."""
    found: list[AgentApprovalRequest] = []
    announced: dict[str, str] = {}  # tool to the call that was announced last
    for one in pointers:
        if one.event in _BEFORE and one.tool and one.call:
            announced[one.tool] = one.call
        elif one.event in ASKING or (
            # A notification may only repeat that a known question waits for its answer.
            one.event == "Notification"
            and one.kind in _NOTICES
            and not any(old.done is None and old.pointer.event in ASKING for old in found)
        ):
            # Not every call is announced: most are answered before Python starts (`interfaces/agent_hook.sh`).
            found.append(AgentApprovalRequest(one, one.call or (None if one.about else announced.get(one.tool or ""))))
        elif one.event in _AFTER:
            found = [replace(old, done=True) if _fits(old, one) else old for old in found]
        elif one.event in _OVER:
            found = [replace(old, done=False) if old.done is None else old for old in found]
    return found


def _fits(old: AgentApprovalRequest, one: SessionPointer) -> bool:
    if old.done is not None:
        return False
    return old.call == one.call if old.call and one.call else old.pointer.tool in (None, one.tool)


def approval_answers(
    questions: Sequence[AgentApprovalRequest], turns: Iterable[TranscriptTurn]
) -> list[tuple[str, str]]:
    """The questions in the words of the transcript, with what became of them: pending, granted or denied."""
    told = [(moment(step.ts), call, turn) for turn in turns for step in turn.steps for call in step.calls]
    calls = {call.id: (call, turn) for _, call, turn in told}
    answers = []
    for one in questions:
        # The call itself, else the last one of those words before leave was asked, else the last one of the tool.
        when = timestamp(_EPOCH + timedelta(microseconds=one.pointer.ts // 1000) + _SLACK)
        before = [(call, turn) for at, call, turn in told if at and at <= when]
        about = [found for found in before if _is_about(found[0], one.pointer.about)]
        fitting = [found for found in before if found[0].name == one.pointer.tool]
        answers.append(_answered(one, calls.get(one.call or "") or next(reversed(about or fitting), None)))
    return answers


def _is_about(call: Call, about: str | None) -> bool:
    """Whether leave was asked for this very call, whatever its agent calls the tool."""
    said = (call.command, *call.paths, *(edit.path for edit in call.edits))
    return about is not None and any(agent_inbox.sum_of(text) == about for text in said if text)


def _answered(one: AgentApprovalRequest, found: tuple[Call, TranscriptTurn] | None) -> tuple[str, str]:
    state = {None: "pending", True: "granted", False: "denied"}[one.done]
    if found is None:
        return f"to use {one.pointer.tool or 'a tool'}", state
    call, turn = found
    if call.result is not None:
        state = "denied" if call.result.refused else "granted"
    elif turn.interrupted:
        state = "denied"
    paths = [edit.path for edit in call.edits] or [*call.paths]
    what = call.command or " ".join([call.name, *paths[:3]])
    return cut(" ".join(what.split()), _WIDTH), state


def note_approvals(clone: Clone, session: str, found: Sequence[tuple[str, str]]) -> None:
    """Put questions and answers into a session, redacted."""
    told = [(clone.intake.text(text), state) for text, state in found]
    now = clone.now()

    def change(old: rules.Session) -> rules.Session:
        for text, state in told:
            old = replace(old, approvals=rules.add_approvals(old.approvals, [text], ts=now))
            if state != "pending":
                clean = rules.clean(text, limit=rules.MAX_LINE, what="an approval")
                waiting = [one.id for one in old.pending if one.text == clean]
                old = rules.answer(old, waiting[-1:], state=state)
        return old

    session_files.update(clone.layout, session, change)


IDLE = 30 * 60 * 1_000_000_000  # nanoseconds
_GIVEN_UP = agent_inbox.VANISHED_FOR * 1_000_000_000  # after which what was never read is not tried again
_PATIENCE = (
    2.0  # seconds that a command waits for whoever reads at this moment, so that it answers with what that one found
)
_STARTS = ("SessionStart", "UserPromptSubmit", "BeforeAgent")
_ONLY_BEGUN = ("SessionStart", "UserPromptSubmit", "BeforeAgent", "SessionEnd", "Notification")

# A transcript is somebody else's text: whatever is wrong with one, the others are read.
BAD = (HoldfastError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError)

# (agent, transcript, whether it has ended, whether its work tree, one of ours, is gone)
Take = Callable[[str, str, bool, bool], IntakeResult | None]
# (agent, session) -> where its transcript lies; for agents whose hooks do not say. Empty: nobody knows
Find = Callable[[str, str], str]


def nowhere(_agent: str, _session: str) -> str:
    """For callers that know no agent's folder."""
    return ""


@mutable
class LiveDrain:
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
    new: SessionPointers | None
    live: LiveSession | None
    found: str = ""  # where its transcript lies, if no pointer says so

    @property
    def all(self) -> tuple[SessionPointer, ...]:
        return self.new.all if self.new else ()

    @property
    def path(self) -> str | None:
        return (self.new.path if self.new else None) or (self.live.path if self.live else None) or self.found or None

    @property
    def tree(self) -> str:
        return (self.new.tree if self.new else "") or (self.live.tree if self.live else "")

    @property
    def pointers(self) -> SessionPointers:
        """What waits; else one that says what the last drain saw."""
        if self.new or not self.live:
            return self.new or SessionPointers(self.agent, self.name, ())
        path, size, ts = self.live.path, self.live.size, self.live.seen
        last = SessionPointer(ts=ts, agent=self.agent, event="-", session=self.name, path=path, size=size)
        return SessionPointers(self.agent, self.name, (last,))

    @property
    def seen(self) -> int:
        """When it was last heard of."""
        return max([one.ts for one in self.all] + ([self.live.seen] if self.live else []), default=0)

    @property
    def size(self) -> int:
        """How long its transcript was known to be."""
        return max([one.size for one in self.all] + ([self.live.size] if self.live else []), default=0)


def drain(clone: Clone, take: Take, *, now: int, most: int | None = None, find: Find = nowhere) -> LiveDrain:
    """Read what waits; with `most`, nothing if there is more than that many bytes of it.

    `now` is the time in nanoseconds, by the clock of hooks and file systems.
    """
    done = LiveDrain()
    if not any(agent_inbox.is_filled(store) for store in clone.stores):
        leave_no_drawer(clone)
        return done
    if most is not None and backlog(clone, find) > most:
        done.too_long = True
        done.waiting = len(agent_inbox.waiting(*clone.stores))
        return done
    try:
        with agent_inbox.held(clone.layout, wait=0.0 if most is None else _PATIENCE):
            _drain(clone, take, now, done, find)
            agent_inbox.sweep(now, *clone.stores)
            leave_no_drawer(clone)
    except (Busy, ReadOnlyStore):  # another is at it, or this is a sandbox: it waits
        done.waiting = len(agent_inbox.waiting(*clone.stores))
    return done


def backlog(clone: Clone, find: Find = nowhere) -> int:
    """How many bytes of transcripts wait to be read in this work tree."""
    there = _sessions(clone, agent_inbox.waiting(*clone.stores), find)
    sizes = ((_length(one.path), one.live.size if one.live else 0) for one in there if _is_here(clone, one.tree))
    return sum(max(0, size - before) for size, before in sizes)


def _drain(clone: Clone, take: Take, now: int, done: LiveDrain, find: Find) -> None:
    there = _sessions(clone, agent_inbox.take(*clone.stores), find)
    # For each agent and work tree the last session that started: when, and which. After a compaction none did.
    starts = ((one, at) for one in there for at in one.all if at.event == "SessionStart" and at.source != "compact")
    begun = {
        (one.agent, pointer.tree): (pointer.ts, one.name) for one, pointer in sorted(starts, key=lambda it: it[1].ts)
    }
    for one in there:
        if not _is_here(clone, one.tree):
            done.waiting += one.new is not None
            continue
        last = begun.get((one.agent, one.tree), (0, one.name))
        _read(clone, take, one, done, now=now, is_followed=last[1] != one.name and last[0] > one.seen)


def _sessions(clone: Clone, taken: Sequence[SessionPointers], find: Find) -> list[_Session]:
    new = {(one.agent, one.session): one for one in taken}
    live = {(one.agent, one.session): one for one in agent_inbox.live(*clone.stores)}
    there = [_Session(*key, new.get(key), live.get(key)) for key in dict.fromkeys([*live, *new])]
    return [one if one.path else replace(one, found=find(one.agent, one.name)) for one in there]


def _is_here(clone: Clone, tree: str) -> bool:
    """Whether a session is of this work tree, or of one that is gone."""
    here = clone.repo.git_dir
    return not tree or tree == here or os.path.realpath(tree) == os.path.realpath(here) or _is_gone(tree)


def _is_gone(tree: str) -> bool:
    return bool(tree) and not os.path.isdir(tree)


def _read(clone: Clone, take: Take, one: _Session, done: LiveDrain, *, now: int, is_followed: bool) -> None:
    """Read one session's transcript as far as it has got; `is_followed`: another has begun since."""
    path = _found(one.agent, one.path) if one.path else None
    is_over = is_followed or _says_so(one.all)
    if path is None:
        _missing(clone, one, done, quiet=is_over or now - one.seen > IDLE)
        return
    ended = is_over or _is_gone(one.tree) or _is_idle(path, one.seen, now)
    size = _length(path)
    if not (one.new or ended or one.live is None or size != one.live.size):
        return
    try:
        session = _take(clone, take, one, path, ended, done)
    except BAD as error:
        _say(done, one, path, error)
        if not (_is_bad(one.agent, path, error) or _is_idle(path, one.seen, now, since=_GIVEN_UP)):
            done.waiting += 1  # a full disk, somebody else at it: its pointers stay for the next drain
            return
        agent_inbox.set_aside(clone.layout, one.pointers, agent_inbox.UNREAD)
        session, one = one.live.holdfast if one.live else None, replace(one, new=None)
    else:
        agent_inbox.was_read(one.pointers, *clone.stores)
    _settle(clone, one, path, size=size, session=session, ended=ended)


def _say(done: LiveDrain, one: _Session, path: str, error: BaseException) -> None:
    said = str(error) if isinstance(error, HoldfastError | OSError) else repr(error)
    done.failed.append(f"{one.agent}'s transcript {visible(path)} was not read: {said}")


def _is_bad(agent: str, path: str, error: BaseException) -> bool:
    """Whether a transcript itself is to blame, so that reading it again would be in vain."""
    if isinstance(error, BadInput):
        return not spoken_by(agent).is_mine(path)
    return isinstance(error, TooLarge) or not isinstance(error, HoldfastError | OSError)


def _take(clone: Clone, take: Take, one: _Session, path: str, ended: bool, done: LiveDrain) -> str | None:  # noqa: PLR0917
    """Take in a transcript and those of its helpers; gives the session it went into."""
    taken = take(one.agent, path, ended, _is_gone(one.tree))
    done.sessions += 1
    for helper in one.new.helpers if one.new else ():
        if helper != path and os.path.isfile(helper):
            _help(take, one, helper, ended, done)
    _count(taken, done)
    session = (taken.last_session if taken else None) or (one.live.holdfast if one.live else None)
    questions = approval_requests(one.all)
    if session and questions:
        said = approval_answers(questions, spoken_by(one.agent).read(path, 0, None))
        note_approvals(clone, session, said)
    return session


def _help(take: Take, one: _Session, path: str, ended: bool, done: LiveDrain) -> None:
    """Take in a helper's transcript; what is wrong with that one is not its caller's fault."""
    try:
        _count(take(one.agent, path, ended, _is_gone(one.tree)), done)
    except BAD as error:
        if not _is_bad(one.agent, path, error):
            raise
        _say(done, one, path, error)


def _count(taken: IntakeResult | None, done: LiveDrain) -> None:
    if taken is not None:
        done.turns += taken.turns
        done.runs += taken.runs


def _settle(clone: Clone, one: _Session, path: str, *, size: int, session: str | None, ended: bool) -> None:
    """Remember how far it was read, into which session of ours, and forget what is not needed again."""
    named = {"agent": one.agent, "session": one.name, "path": path, "tree": one.tree}
    new = LiveSession(**named, seen=one.seen, size=size, holdfast=session)
    if ended:
        agent_inbox.forget(one.pointers, *clone.stores)
    elif new != one.live:
        agent_inbox.remember(clone.layout, new)
    if one.new:
        asked = approval_requests(one.all) if not ended else []
        keep = [replace(question.pointer, call=question.call) for question in asked if question.done is None]
        agent_inbox.drop(one.new, keep)


def _missing(clone: Clone, one: _Session, done: LiveDrain, *, quiet: bool) -> None:
    """A transcript that is not there: not yet, never, or not any more."""
    was_there = one.size > 0 or (quiet and any(p.event not in _ONLY_BEGUN for p in one.all))
    was_there |= bool(one.path) and not agent_inbox.is_path(one.path or "")  # nor will it ever be
    if one.path and was_there:
        done.vanished.append(one.path)
        agent_inbox.set_aside(clone.layout, one.pointers)
        agent_inbox.forget(one.pointers, *clone.stores)
    elif one.path is None or quiet:  # a session without a transcript, or one in which nothing was asked
        if one.new:
            agent_inbox.drop(one.new)
        agent_inbox.forget(one.pointers, *clone.stores)
    else:
        done.waiting += 1


def _says_so(there: Sequence[SessionPointer]) -> bool:
    """Whether the session ended and did not go on."""
    ends = max((one.ts for one in there if one.event == "SessionEnd"), default=0)
    return ends > max((one.ts for one in there if one.event in _STARTS), default=0)


def _is_idle(path: str, seen: int, now: int, *, since: int = IDLE) -> bool:
    try:
        return now - max(seen, transcript_files.facts(path).mtime_ns) > since
    except OSError:
        return False


def _length(path: str | None) -> int:
    try:
        return transcript_files.facts(path).size if path else 0
    except (OSError, ValueError):
        return 0


def _found(agent: str, path: str) -> str | None:
    """Where a transcript lies now: Codex packs old ones, and moves archived ones to a folder of their own."""
    home, there, _ = path.rpartition("/sessions/")
    archived = f"{home}/archived_sessions/{os.path.basename(path)}"
    ways = [path] + [f"{path}.zst"] * (agent == "codex")
    ways += [archived, f"{archived}.zst"] if agent == "codex" and there else []
    return next(filter(transcript_files.is_there, ways), None)


def leave_no_drawer(clone: Clone) -> None:
    """Outside a sandbox no empty inbox stays in the work tree: it would keep answers from being quick."""
    folder = clone.private.sandboxed().inbox
    if clone.layout.private != clone.private.private or clone.reading or len(clone.stores) < 2:
        return
    try:
        names = os.listdir(folder)
        kept = (".jsonl", ".live", ".pack", agent_inbox.VANISHED, agent_inbox.UNREAD)
        if not any(name.endswith(kept) or ".taken-" in name for name in names):
            for name in names:
                os.unlink(os.path.join(folder, name))
            os.rmdir(folder)
    except OSError:
        return
