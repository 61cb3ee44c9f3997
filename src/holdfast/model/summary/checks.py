"""Tests and checks of a run: how each ended the last time, and what a later run says about an earlier one."""

from collections.abc import Sequence

from holdfast.model.summary import commands
from holdfast.model.summary.failures import Failures, named
from holdfast.model.summary.outcomes import Outcome, error_line, is_total
from holdfast.model.summary.values import Ran
from holdfast.model.summary.wording import code, cut
from holdfast.model.transcript import Result
from holdfast.values import mutable

MOST = 200  # that are kept while turns come in
_NAMED = 3
PASSED = "passed"


@mutable
class Check:
    """One command that tests or checks something."""

    command: str
    runner: str
    exit_status: int | None
    outcome: str
    passed: bool
    names: tuple[str, ...]  # of what failed
    times: int = 1
    once: str | None = None  # how it failed the last time it did

    @property
    def sentence(self) -> str:
        """How it ended."""
        if self.passed and self.once:
            return f"{self.outcome} (before: {self.once})"
        return f"{self.outcome}{self.listed}"

    @property
    def listed(self) -> str:
        """What failed, the first few by name."""
        if not self.names:
            return ""
        shown = "; ".join(cut(name, 120) for name in self.names[:_NAMED])
        return f" ({shown}{' …' if len(self.names) > _NAMED else ''})"


class Checks:
    """All tests and checks, in the order in which they were last run."""

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._kept: dict[str, Check] = {}

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def failing(self) -> list[Check]:
        """Those that failed the last time, and that nothing later says to be mended."""
        return [one for one in self._kept.values() if not one.passed]

    @property
    def newest(self) -> Check | None:
        """The newest, one that counted rather than one that only ended well."""
        there = list(self._kept.values())
        return next((one for one in reversed(there) if one.outcome != PASSED), there[-1] if there else None)

    def add(self, command: str, result: Result, told: Outcome | None, *, turn: int, went_wrong: bool) -> None:
        """One more run of a test."""
        shown = commands.shown(command)
        test = commands.tests(command) or shown
        runner = told.runner if told else commands.family(test)
        key = " ".join(sorted(shown.split()))
        there = self._kept.pop(key, None)
        said = told.sentence if told else _how(result, went_wrong=went_wrong)
        names = told.names if told else ()
        made = Check(shown, runner, result.exit_status, said, not went_wrong, names[: _NAMED + 1])
        if there is not None:
            made.times, made.once = there.times + 1, there.once
        self._kept[key] = made
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]
        if went_wrong:
            made.once = said
            self._failures.add(f"check {key}", named(shown), _why(said, names, result.text), turn)
        else:
            self._pass(key, made, whole=commands.is_whole(test))
            self._failures.tried(f"ran {named(shown)}", turn)

    def _pass(self, key: str, made: Check, *, whole: bool) -> None:
        """What passed is mended; if all of it ran, so is whatever failed of it alone before."""
        self._failures.settle(f"check {key}")
        for other, one in self._kept.items() if whole else ():
            if one.runner == made.runner and not one.passed:
                self._failures.settle(f"check {other}")
                one.passed, one.outcome, one.once = True, f"{one.outcome}; passed later with all others", None

    def ran(self, most: int) -> list[Ran]:
        """Those that tell most: what fails, and the newest."""
        there = list(self._kept.values())
        chosen = {id(one) for one in (*self.failing[-most:], *there[-most:])}
        kept = [one for one in there if id(one) in chosen][-most:]
        return [Ran(one.command, one.exit_status, one.sentence, one.times) for one in kept]

    def left(self, most: int = 5) -> list[str]:
        """What fails, as somebody must know who goes on."""
        return [f"{code(one.command)} fails: {one.outcome}{one.listed}" for one in self.failing[-most:]]


def _why(said: str, names: Sequence[str], text: str) -> str:
    """What failed first, and the reason; some runners name it with what failed."""
    if names and " - " in names[0]:
        return f"{said}: {names[0]}"
    reason = error_line(text)
    known = said in reason or reason in names[:1] or is_total(reason)
    return ": ".join(filter(None, [said, *names[:1], "" if known else reason]))


def _how(result: Result, *, went_wrong: bool) -> str:
    if not went_wrong:
        return PASSED
    return error_line(result.text) or (f"exit code {result.exit_status}" if result.exit_status else "failed")
