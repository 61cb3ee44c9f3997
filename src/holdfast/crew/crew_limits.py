"""What a crew may use, when it pauses an agent that keeps failing, and whose word counts where two differ.

Pure rules: the supervisor and its workers ask them. A limit comes from the command line or the user's own settings,
never from a task, a file of the repository or an agent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.values import frozen, replace

OPTIONS = ("time", "tokens", "calls")  # the limits that the command line may give
STEP_TIME = 1800.0  # seconds: half an hour is long for one task, and short for a night that nobody watches
ATTEMPTS = 3  # what failed three times, each time knowing how it failed before, fails again
SUBAGENTS = 16  # that one agent may start: each may start others
DISK = 10e9  # bytes of all work trees of a crew
IN_A_ROW = 3  # failures of the agent itself before it is paused
PAUSE, LONGEST_PAUSE = 15.0, 240.0  # seconds: doubled with each failure beyond that
GIVE_UP = 8  # failures of the agent in a row after which a crew stops: about ten minutes of pauses


@frozen(kw_only=True)
class CrewLimits:
    """What a crew may use in all and in one step; None: as much as it takes."""

    time: float | None = None
    tokens: float | None = None
    calls: float | None = None
    cost: float | None = None
    step_time: float | None = STEP_TIME
    step_tokens: float | None = None
    step_calls: float | None = None
    step_cost: float | None = None
    attempts: float = ATTEMPTS
    subagents: float = SUBAGENTS
    disk: float = DISK

    def over(self, used: Mapping[str, float]) -> str | None:
        """Which limit of the whole is reached; None if none is. `time` is what passed, not what steps took."""
        for name, unit in (("time", "s"), ("tokens", "tokens"), ("calls", "calls"), ("cost", "dollars")):
            most = getattr(self, name)
            if most is not None and used.get(name, 0) >= most:
                more = f"--max-{name}" if name in OPTIONS else f"crew.limits.{name} in your settings"
                return f"the limit of {most:g} {unit} is reached; {more} sets a higher one"
        return None

    def of_step(self, used: Mapping[str, float]) -> CrewLimits:
        """The limits of the next step: its own, and what is left of the whole."""

        def less(step: float | None, whole: float | None, name: str) -> float | None:
            left = None if whole is None else max(0.0, whole - used.get(name, 0))
            return left if step is None else step if left is None else min(step, left)

        return replace(
            self,
            step_time=less(self.step_time, self.time, "time"),
            step_tokens=less(self.step_tokens, self.tokens, "tokens"),
            step_calls=less(self.step_calls, self.calls, "calls"),
            step_cost=less(self.step_cost, self.cost, "cost"),
        )

    def over_in_step(self, *, tokens: float, calls: float, cost: float | None, subagents: int) -> str | None:
        """Which limit of a step is passed; None if none is."""
        if subagents > self.subagents:
            return f"it started more than {self.subagents:g} sub-agents"
        for name, value, unit in (("tokens", tokens, "tokens"), ("calls", calls, "calls"), ("cost", cost, "dollars")):
            most = getattr(self, f"step_{name}")
            if most is not None and value is not None and value > most:
                return f"it used more than {most:g} {unit}"
        return None


def pause_until(failures: Sequence[float]) -> float:
    """Until when an agent is paused that failed at these moments in a row, in the same clock; 0: it is not."""
    beyond = len(failures) - IN_A_ROW
    return failures[-1] + min(PAUSE * 2**beyond, LONGEST_PAUSE) if beyond >= 0 else 0.0


CHECK, EVIDENCE, CLAIM = "check", "evidence", "claim"  # what a word rests on, the strongest first
_RANK = {CHECK: 2, EVIDENCE: 1, CLAIM: 0}


@frozen(kw_only=True)
class Word:
    """What somebody says of a task, and what it rests on."""

    says: str
    by: str
    rests_on: str = CLAIM
    at: float = 0.0


def settled(one: Word, other: Word) -> Word | None:
    """Whose word counts; None if a person has to decide.

    A check beats evidence, and evidence a mere claim. Of two that rest on the same, the newer one counts if it rests on
    something; between two claims nobody but a person can tell.
    """
    if one.says == other.says:
        return max(one, other, key=lambda word: (_RANK[word.rests_on], word.at))
    if _RANK[one.rests_on] != _RANK[other.rests_on]:
        return max(one, other, key=lambda word: _RANK[word.rests_on])
    if one.rests_on == CLAIM or one.at == other.at:
        return None
    return max(one, other, key=lambda word: word.at)


def overlap(files: Mapping[str, Sequence[str]], named: Sequence[str]) -> tuple[str, tuple[str, ...]] | None:
    """The first task whose files are among those named, and which these are; a folder stands for what is in it."""
    for task, theirs in files.items():
        if shared := sorted({one for one in named for other in theirs if _meet(one, other)}):
            return task, tuple(shared)
    return None


def _meet(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other.rstrip('/')}/") or other.startswith(f"{one.rstrip('/')}/")
