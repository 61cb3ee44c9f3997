"""What an agent asked leave for, and what a person answered: from pointers, in the words of the transcript.

A hook tells that leave was asked, for which tool and sometimes for which call, and no more. What was to be
done, and whether it was, stands in the transcript; where it does not, the pointers that follow tell.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from holdfast.git.clone import Clone
from holdfast.model import session as rules
from holdfast.model.session import Session
from holdfast.model.transcript import Call, Turn, cut
from holdfast.store import sessions
from holdfast.store.pointers import Pointer
from holdfast.values import frozen, replace

ASKING = ("PermissionRequest",)
_NOTICES = ("ToolPermission", "permission_prompt")  # what Gemini's and Claude's notifications call it
_BEFORE = ("PreToolUse", "BeforeTool")
_AFTER = ("PostToolUse", "PostToolUseFailure", "AfterTool")
_OVER = ("Stop", "AfterAgent", "SessionEnd", "UserPromptSubmit", "BeforeAgent", "SessionStart")
_SLACK = timedelta(seconds=2)  # by which the clocks of a hook and of a transcript may differ
_WIDTH = 300
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@frozen
class Asked:
    """Leave that was asked for."""

    pointer: Pointer
    call: str | None
    done: bool | None = None  # whether what follows says that it was done; None: nothing follows yet


@frozen
class Answered:
    """The same in words, with what became of it: pending, granted or denied."""

    pointer: Pointer
    text: str
    state: str


def asked(pointers: Sequence[Pointer]) -> list[Asked]:
    """The questions among the pointers of a session, with what those after them tell."""
    found: list[Asked] = []
    announced: dict[str, str] = {}  # tool to the call that was announced last
    for one in pointers:
        if one.event in _BEFORE and one.tool and one.call:
            announced[one.tool] = one.call
        elif _asks(one) and not _is_notice_of(one, found):
            found.append(Asked(one, one.call or announced.get(one.tool or "")))
        elif one.event in _AFTER:
            found = [replace(old, done=True) if _fits(old, one) else old for old in found]
        elif one.event in _OVER:
            found = [replace(old, done=False) if old.done is None else old for old in found]
    return found


def _asks(one: Pointer) -> bool:
    return one.event in ASKING or (one.event == "Notification" and one.kind in _NOTICES)


def _is_notice_of(one: Pointer, found: Sequence[Asked]) -> bool:
    """Whether a notification only says that a question, which was told of, waits for its answer."""
    return one.event not in ASKING and any(old.done is None and old.pointer.event in ASKING for old in found)


def _fits(old: Asked, one: Pointer) -> bool:
    if old.done is not None:
        return False
    return old.call == one.call if old.call and one.call else old.pointer.tool in (None, one.tool)


def answered(questions: Sequence[Asked], turns: Iterable[Turn]) -> list[Answered]:
    """The questions in the words of the transcript."""
    calls: dict[str, tuple[Call, Turn]] = {}
    timed: list[tuple[datetime, Call, Turn]] = []
    for turn in turns:
        for step in turn.steps:
            at = _time(step.ts)
            for call in step.calls:
                calls[call.id] = call, turn
                if at is not None:
                    timed.append((at, call, turn))
    return [_answered(one, calls.get(one.call or "") or _by_time(one, timed)) for one in questions]


def _by_time(one: Asked, timed: Sequence[tuple[datetime, Call, Turn]]) -> tuple[Call, Turn] | None:
    """The last call of the tool before leave was asked."""
    when = _EPOCH + timedelta(microseconds=one.pointer.ts // 1000) + _SLACK
    fitting = [(call, turn) for at, call, turn in timed if at <= when and call.name == one.pointer.tool]
    return fitting[-1] if fitting else None


def _answered(one: Asked, found: tuple[Call, Turn] | None) -> Answered:
    state = {None: "pending", True: "granted", False: "denied"}[one.done]
    if found is None:
        return Answered(one.pointer, f"to use {one.pointer.tool or 'a tool'}", state)
    call, turn = found
    if call.result is not None:
        state = "denied" if call.result.refused else "granted"
    elif turn.interrupted:
        state = "denied"
    paths = [edit.path for edit in call.edits] or [*call.paths]
    what = call.command or " ".join([call.name, *paths[:3]])
    return Answered(one.pointer, cut(" ".join(what.split()), _WIDTH), state)


def note(clone: Clone, session: str, found: Sequence[Answered]) -> None:
    """Put questions and answers into a session, redacted."""
    told = [(clone.intake.text(one.text), one.state) for one in found]
    now = clone.now()

    def change(old: Session) -> Session:
        for text, state in told:
            old = replace(old, approvals=rules.add_approvals(old.approvals, [text], ts=now))
            if state != "pending":
                waiting = [
                    one.id
                    for one in old.pending
                    if one.text == rules.clean(text, limit=rules.MAX_LINE, what="an approval")
                ]
                old = rules.answer(old, waiting[-1:], state=state)
        return old

    sessions.update(clone.layout, session, change)


def _time(ts: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(ts) if ts else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)
