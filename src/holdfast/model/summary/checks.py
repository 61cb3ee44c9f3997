"""Tests and checks of a run: how each ended the last time, and what a later run says about an earlier one.

For what failed: the reason, what was tried next, and whether it passed later.
"""

from collections.abc import Sequence

from holdfast.model.summary import command_results
from holdfast.model.summary.command_results import CheckOutcome, error_line, goes_on, is_total
from holdfast.model.summary.fields import SummaryCommand
from holdfast.model.summary.wording import code, cut
from holdfast.model.transcript import Result
from holdfast.values import field, mutable

MAX_FAILURES = 40  # failures that are kept; of more the first few and the newest
_FIRST = 10
_TRIED = 2


@mutable
class Failure:
    """One thing that failed."""

    key: str
    what: str  # how it is named in a line
    why: str  # what was seen of it
    turn: int
    tried: list[str] = field(default_factory=list)  # after it
    settled: bool = False
    by: str = ""  # how, if not by itself
    times: int = 1

    @property
    def line(self) -> str:
        """The failure in one line."""
        often = f" {self.times} times, the last time" if self.times > 1 else ""
        next_ = f"; then {', '.join(self.tried)}" if self.tried else ""
        why = f": {self.why}" if self.why else ""
        end = f"; {self.by or 'it passed later'}" if self.settled else ""
        return cut(f"{self.what} failed{often}{why}{next_}", 420 - len(end)) + end


class Failures:
    """All that failed, in order, within bounds."""

    def __init__(self) -> None:
        self._kept: list[Failure] = []

    def add(self, key: str, what: str, why: str, turn: int) -> None:
        """Something failed; again, if it is not settled since."""
        for one in reversed(self._kept):
            if one.key == key and not one.settled:
                one.times += 1
                one.why, one.turn = why or one.why, turn
                one.tried.clear()
                return
        self._kept.append(Failure(key, what, why, turn))
        if len(self._kept) > MAX_FAILURES:
            del self._kept[_FIRST]

    def tried(self, what: str, turn: int) -> None:
        """Something was done after the newest failure."""
        for last in self._kept[-1:]:
            if not last.settled and last.turn == turn and what not in last.tried and len(last.tried) < _TRIED:
                last.tried.append(what)

    def settle(self, key: str, by: str = "") -> None:
        """What failed under this key went well now, itself or as a part of another command."""
        for one in self._kept:
            if one.key == key and not one.settled:
                one.settled, one.by = True, by

    def lines(self, most: int) -> list[str]:
        """The failures that tell most: those that stand, then those that were mended, each in their order."""
        standing = [one for one in self._kept if not one.settled]
        mended = [one for one in self._kept if one.settled and _tells(one)]
        chosen = [*standing[-most:], *mended][:most]
        return [one.line for one in sorted(chosen, key=self._kept.index)]


def _tells(one: Failure) -> bool:
    """Whether something that was mended is worth a line: a slip of an edit is not."""
    return one.times > 2 if one.key.startswith("edit ") else one.times > 1 or bool(one.tried)


def named(command: str) -> str:
    """A command as a failure names it."""
    return code(cut(command, 100))


def printed(line: str) -> str:
    """A line of an output beside a failure: what was seen there, which need not be the reason."""
    return f"it printed “{line}”" if line else ""


MAX_CHECKS = 200  # that are kept while turns come in
_NAMED = 3
PASSED, UNSEEN, GOES_ON = "passed", "how it ended was not seen", "it went on in the background"


@mutable
class Check:
    """One command that tests or checks something."""

    command: str
    runner: str
    exit_status: int | None
    outcome: str
    passed: bool | None  # None: nobody saw how it ended
    names: tuple[str, ...]  # of what failed
    chosen: bool  # not all that there is
    echoed: tuple[str, ...]  # the commands that it said it runs
    folder: str  # that it went to first
    times: int = 1
    once: str | None = None  # how it failed the last time it did
    outdated: bool = False  # files were written after it ran

    @property
    def counts_tests(self) -> bool:
        """Whether its outcome counts tests, not only that something was right."""
        return self.runner != "hooks" and self.outcome not in (PASSED, "no errors found")

    @property
    def sentence(self) -> str:
        """How it ended."""
        said = self.outcome + (f" (before: {self.once})" if self.passed and self.once else self.listed)
        return f"{said}; files were written after it" if self.outdated else said

    @property
    def listed(self) -> str:
        """What failed, the first few by name."""
        shown = "; ".join(cut(name, 120) for name in self.names[:_NAMED])
        return f" ({shown}{' …' if len(self.names) > _NAMED else ''})" if self.names else ""


class Checks:
    """All tests and checks, in the order in which they were last run."""

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._kept: dict[str, Check] = {}

    @property
    def failing(self) -> list[Check]:
        """Those that failed the last time, and that nothing later says to be mended."""
        return [one for one in self._kept.values() if one.passed is False]

    @property
    def newest(self) -> Check | None:
        """Of what passed what tells most: it counts tests, after the last edits, all of them; the newest such."""
        there = [one for one in reversed(self._kept.values()) if one.passed]
        return max(there, key=lambda one: (one.counts_tests, not one.outdated, not one.chosen), default=None)

    def knows(self, command: str) -> bool:
        """Whether a command ran as a check before, by what it printed then."""
        return command_results.key(command) in self._kept

    def files_written(self) -> None:
        """What ran before tells of the state before."""
        for one in self._kept.values():
            one.outdated = True

    def add(self, command: str, result: Result, told: CheckOutcome | None, *, turn: int, passed: bool | None) -> None:
        """One more run of a test; `passed` is None if nobody saw how it ended."""
        shown, key = command_results.shown(command), command_results.key(command)
        test, folder = command_results.tests(command) or shown, command_results.placed(command)[0]
        clean = told is not None and told.passed is True
        runner = told.runner if told else command_results.family(test)
        if key in self._kept and _apart(folder, self._kept[key].folder):
            shown, key = f"cd {folder} && {shown}", f"{key} in {folder}"
        there = self._kept.pop(key, None)
        if passed is False and told is not None and told.passed:  # what it counted is not what failed
            told = None
        if told is not None and told.passed is None and command_results.filters_output(command):
            told = passed = None  # "no test files" of one package, and what the others said was filtered out
        unseen = passed is None and (told is None or told.passed is not None)
        said = (GOES_ON if goes_on(result.text) else UNSEEN) if unseen else told.sentence if told else PASSED
        if told is None and passed is False:
            line = error_line(result.text)
            said = printed(line) or (f"exit code {result.exit_status}" if result.exit_status else "failed")
        names = told.names if told else ()
        status = None if passed is None else result.exit_status
        times, once = (there.times + (there.outcome != GOES_ON), there.once) if there else (1, None)
        filtered = " filtered out" in said or command_results.leaves_out(command)
        chosen = filtered or " deselected" in said or command_results.chooses(command)
        shares = (shown, runner, status, said, passed, names[: _NAMED + 1], chosen, command_results.echoed(result.text))
        made = self._kept[key] = Check(*shares, folder, times, once)
        self._kept = dict([*self._kept.items()][-MAX_CHECKS:])
        if passed is False:
            made.once = said
            self._failures.add(f"check {key}", named(shown), _why(said, names, result.text, told), turn)
        elif passed or clean:
            # What passed is mended; so is what failed alone before, if all of that ran or is named as what ran.
            # What a filter left of an output tells only of what was edited since.
            if passed:
                self._failures.settle(f"check {key}")
            for at, one in [(at, one) for at, one in self._kept.items() if one.passed is False]:
                same = command_results.tests(one.command) or one.command
                whole = command_results.is_whole(test, same) or command_results.never_ran(one.outcome)
                ran = one.command in made.echoed or (not filtered and (whole or set(one.echoed) & set(made.echoed)))
                alike = one.runner == runner or command_results.family(same) == command_results.family(test)
                if ran and alike and not _apart(folder, one.folder) and (passed or one.outdated):
                    self._mended(at, one, f"later {named(shown)} {'passed' if passed else 'printed no error'}")
            self._failures.tried(f"ran {named(shown)}", turn)

    def committed(self) -> None:
        """A commit was made: what kept one from being made does so no more."""
        for key, one in self._kept.items():
            if one.passed is False and command_results.commits(one.command):
                self._mended(key, one, "a commit was made later")

    def _mended(self, key: str, one: Check, how: str) -> None:
        self._failures.settle(f"check {key}", how)
        one.passed, one.outcome, one.once = None, f"{one.outcome}{one.listed}; {how}", None
        one.names, one.exit_status, one.outdated = (), None, False

    def ran(self, most: int) -> tuple[list[SummaryCommand], int]:
        """Those that tell most, what fails and the newest, and how many more there are."""
        there = list(self._kept.values())
        kept = sorted(sorted(there, key=lambda one: one.passed is False)[-most:], key=there.index)
        rows = [SummaryCommand(one.command, one.exit_status, one.sentence, one.times) for one in kept]
        return rows, len(there) - len(kept)

    def left(self, most: int = 5) -> list[str]:
        """What fails, as somebody must know who goes on."""
        how = {True: "failed when last run, before files were written", False: "failed when last run"}
        ends = [f"{how[one.outdated]}: {one.outcome}{one.listed}" for one in self.failing]
        more = {end: f" (and {ends.count(end) - 1} more like it)" if ends.count(end) > 1 else "" for end in ends}
        last = dict(zip(ends, self.failing, strict=True))  # one matter, told once
        return [f"{code(one.command)}{more[end]} {end}" for end, one in last.items()][-most:]


def _apart(one: str, other: str) -> bool:
    """Whether two folders that command lines go to are different ones."""
    return bool(one and other) and not f"/{one}".endswith(f"/{other}") and not f"/{other}".endswith(f"/{one}")


def _why(said: str, names: Sequence[str], text: str, told: CheckOutcome | None) -> str:
    """What failed first, and what was printed about it; some runners name it with what failed."""
    if told is None:
        return said
    reason = error_line(text, own=told.runner != "make")
    known = said in reason or reason in names[:1] or is_total(reason) or any(" - " in name for name in names[:1])
    return "; ".join(filter(None, [": ".join([said, *names[:1]]), "" if known else printed(reason)]))
