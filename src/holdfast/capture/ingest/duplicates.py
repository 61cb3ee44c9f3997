"""What was imported before, of all sessions: a copy of a turn is recognised by it.

Tools copy: a resumed session repeats the one before it, a fork its parent, a sub-agent what it was given; and one
tool imports another's conversations. A turn counts where it is found first. Within a session an id is enough; across
sessions only together with the words, because some tools number each session from one.
"""

import zlib
from collections.abc import Iterable, Sequence

from holdfast.model.transcript import TranscriptOrigin, TranscriptStep, TranscriptTurn
from holdfast.store import import_progress, layout
from holdfast.store.import_progress import ImportProgress, TranscriptMark, mark
from holdfast.values import field, frozen, mutable, replace

_BEGINNING = 400  # characters that tell a copy from another text of the same id


def contents(turn: TranscriptTurn) -> list[str]:
    """The marks by which copies of a turn and of its steps are known in other sessions."""
    return [_content(turn.key, turn.prompt), *(content(step) for step in turn.steps)]


def content(step: TranscriptStep) -> str:
    """A step's mark for other sessions: a copy may stop in the middle of it, so only how it begins counts."""
    calls = (f"{call.name} {call.text}" for call in step.calls)
    return _content(step.id, next(filter(None, (step.reasoning, step.text, *calls)), ""))


def _content(name: str, said: str) -> str:
    # So few bits tell two texts apart, and let nobody guess a secret in them.
    bits = zlib.crc32(said[:_BEGINNING].encode("utf-8", "replace")) & 0xFFFF
    return mark(f"{name}\n{bits}")


@frozen
class TurnMarks:
    """What tells a turn from its copies, without its words."""

    continues: bool
    name: str
    steps: tuple[tuple[str, str], ...]  # of each step its own mark, and the one that its copies share
    print: str  # by which another tool's turn is known

    @classmethod
    def of(cls, turn: TranscriptTurn) -> "TurnMarks":
        steps = tuple((mark(step.id), content(step)) for step in turn.steps)
        said = turn.fingerprint
        return cls(turn.continues, _content(turn.key, turn.prompt), steps, mark(said) if said else "")


class TurnTally:
    """How many turns sessions have, counted as an import counts them that knows nothing yet."""

    def __init__(self) -> None:
        self._contents: dict[str, set[str]] = {}
        self._prints: dict[str, set[str]] = {}

    def of_session(self, agent: str, turns: Iterable[TurnMarks]) -> int:
        """The turns of one session that no earlier one has; sessions come in the order in which they began."""
        others, number, listed = self._contents.setdefault(agent, set()), 0, list(turns)
        elsewhere = [prints for other, prints in self._prints.items() if other != agent]
        seen: set[str] = set()
        for turn in listed:
            new = [name for name, content in turn.steps if name not in seen and content not in others]
            is_known = not turn.continues and turn.name in others
            if (new or not (turn.steps or is_known)) and not any(turn.print in prints for prints in elsewhere):
                number += not turn.continues
            seen.update(name for name, _ in turn.steps)
        others.update(turn.name for turn in listed)
        others.update(content for turn in listed for _, content in turn.steps)
        self._prints.setdefault(agent, set()).update(filter(None, (turn.print for turn in listed)))
        return number


@mutable
class SessionIntake:
    """One session while it is imported."""

    old: ImportProgress
    origin: TranscriptOrigin
    now: TranscriptMark  # how the transcript looks
    until: str = ""  # no time in it that is later is believed
    ours: bool = True  # about this repository
    runs: list[str] = field(default_factory=list)
    turns: int = 0
    copies: int = 0
    twins: int = 0
    anchor: str | None = None
    any: bool = False  # whether there was a turn at all
    same_file: bool = False  # the one that was read before, at most longer
    offset: int = 0  # where the last turn begins that was seen, and the last that was taken
    taken_at: int = 0
    count: int = 0
    last: str = ""
    session: str | None = None  # ours, in which its last turn was noted
    taken: set[str] = field(default_factory=set)  # turns
    _steps: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.know(self.old)

    def know(self, old: ImportProgress) -> None:
        """What was taken before this reading, as far as anybody knows now."""
        self.old, self.count, self.last = old, old.count, old.last

    def number(self, turn: TranscriptTurn) -> int:
        """The turn's number in its session: one that goes on keeps the one it had."""
        key = self.key(turn)
        if key != self.last and not (turn.continues and self.count):
            self.count += 1
        self.last = key
        return self.count

    def key(self, turn: TranscriptTurn) -> str:
        """A turn's mark. Where a tool names none, its first step is in it, and a turn may not have had one
        when it was last read: the turn that stands in the same place has the mark it had then."""
        there = self.same_file and turn.end > turn.start == self.old.offset
        return self.old.last if there and self.old.last else mark(turn.key)

    def take(self, turn: TranscriptTurn, whole: TranscriptTurn | None, *, counts: bool = True) -> None:
        """A turn, or a part of one, was taken."""
        self.taken.add(self.key(turn))
        self._steps.update(mark(step.id) for step in turn.steps)
        self.taken_at = turn.start
        self.turns += counts and whole is None and not turn.continues

    def knows(self, step: TranscriptStep) -> bool:
        """Whether this session's step was taken, now or before."""
        name = mark(step.id)
        return name in self._steps or name in self.old.steps

    def began_before(self, turn: TranscriptTurn) -> bool:
        """Whether a part of this turn was in a run before this reading."""
        return self.key(turn) in self.old.turns


class TakenTurns:
    """All turns that were imported, of any session; read again when another command changed them."""

    def __init__(self, stores: Sequence[layout.Layout]) -> None:
        self._stores = stores
        self._files: dict[str, tuple[int, ...]] = {}
        self._by_name: dict[tuple[str, str], ImportProgress] = {}
        self._by_path: dict[tuple[str, str], ImportProgress] = {}
        self._contents: dict[str, set[str]] = {}
        self._prints: dict[str, set[str]] = {}
        self.look_again()

    def look_again(self) -> None:
        """Read what changed since, by whomever."""
        for one in import_progress.newer(self._stores, self._files):
            self._by_name[one.agent, one.session] = self._by_path[one.agent, one.seen.path] = one
            self._contents.setdefault(one.agent, set()).update(one.contents)
            self._prints.setdefault(one.agent, set()).update(one.prints)

    def at(self, agent: str, path: str) -> ImportProgress | None:
        """What is known of the session whose transcript lies there."""
        return self._by_path.get((agent, path))

    def of(self, agent: str, session: str) -> ImportProgress:
        return self._by_name.get((agent, session)) or ImportProgress(agent=agent, session=session)

    def fresh(self, turn: TranscriptTurn, agent: str, taking: SessionIntake) -> TranscriptTurn | None:
        """What of a turn nobody took in; None if all of it was, and then it is counted as what it is."""
        others, key = self._contents.get(agent, set()), taking.key(turn)
        own = key in taking.old.turns or key in taking.taken
        new = [step for step in turn.steps if not taking.knows(step) and content(step) not in others]
        known = not turn.continues and (own or _content(turn.key, turn.prompt) in others)
        if not new and (turn.steps or known):
            taking.copies += not own and not turn.continues
            return None
        said = turn.fingerprint
        if said and any(mark(said) in prints for other, prints in self._prints.items() if other != agent):
            taking.twins += 1
            return None
        return turn if len(new) == len(turn.steps) else replace(turn, steps=tuple(new))
