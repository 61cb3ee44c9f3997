"""Tests and checks of a run: what was seen of each when it ran last, in which turn, and what was seen after it.

For what failed: what was printed, what was tried next, and what went well later. Of commits: which git reported, and
which of them a later command took back. Nothing here says how things are now.
"""

from collections.abc import Sequence

from holdfast.model.summary import command_results
from holdfast.model.summary.command_results import CheckOutcome, error_line, goes_on, is_total
from holdfast.model.summary.fields import SummaryCommand
from holdfast.model.summary.wording import code, cut
from holdfast.model.transcript import Result
from holdfast.values import field, mutable, replace

MAX_FAILURES = 40  # failures that are kept; of more the first few and the newest
_FIRST = 10  # a guess: the first ones and the last ones tell the story
APART = "\0"  # in a key, before what tells failures apart that one success settles together
_TRIED = 2  # a guess: two attempts to fix it are shown


@mutable
class Failure:
    """One thing that failed."""

    key: str
    what: str  # how it is named in a line, and what came of it
    why: str  # what was seen of it
    turn: int
    tried: list[str] = field(default_factory=list)  # after it
    settled: bool = False
    by: str = ""  # how, if not by itself
    times: int = 1

    def line(self, turns: int) -> str:
        """The failure in one line, in a run of so many turns."""
        often = " more than once, the last time" if self.times > 1 else ""
        noted = often + noted_in(self.turn, turns)
        next_ = f"; then {', '.join(self.tried)}" if self.tried else ""
        end = f"; {self.by or 'later it ended without an error'}" if self.settled else ""
        return cut(f"{self.what}{noted}{self.why and f': {self.why}'}{next_}", 420 - len(end)) + end


def noted_in(turn: int, turns: int, *notes: str) -> str:
    """When something was seen, if there is more than one turn, and what else belongs to it; in brackets."""
    said = [*([f"turn {turn} of {turns}"] if turns > 1 else []), *filter(None, notes)]
    return f" ({'; '.join(said)})" if said else ""


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
            if one.key.partition(APART)[0] == key and not one.settled:
                one.settled, one.by = True, by

    def lines(self, most: int, turns: int) -> list[str]:
        """The failures that tell most: those after which nothing went well, then the others, each in their order."""
        standing = [one for one in self._kept if not one.settled]
        mended = [one for one in self._kept if one.settled and _tells(one)]
        chosen = [*standing[-most:], *mended][:most]
        return [one.line(turns) for one in sorted(chosen, key=self._kept.index)]


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
_NAMED = 3  # a guess: one line
PASSED, UNSEEN, GOES_ON = "ended without an error", "its outcome was not recognised", "it went on in the background"


@mutable
class Check:
    """One command that tests or checks something."""

    command: str
    runner: str
    exit_status: int | None
    outcome: str
    passed: bool | None  # None: nobody saw how it ended
    names: tuple[str, ...]  # of what failed
    folder: str  # that it went to first
    turn: int
    by_runner: bool  # the outcome is its own words, not an exit status
    outdated: bool = False  # files were written after it ran
    after: str = ""  # what passed after it failed
    mended: bool = False  # perhaps: what passed is of its kind, and holds it or ran after an edit

    def noted(self, turns: int) -> str:
        """When it ran, and what was seen after it."""
        written = "files were written after it" if self.outdated else ""
        return noted_in(self.turn, turns, written, self.after and f"{self.after} after it")

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
    def last(self) -> str:
        """The check that ran last of all, as its runner told it; empty if nobody saw how it ended."""
        one = next(reversed(self._kept.values()), None)
        if one is None or not one.by_runner or one.passed is None:
            return ""
        written = ", files were written after it" if one.outdated else ""
        return f"last recognised check {code(cut(one.command, 60))}: {cut(one.outcome, 60)}{written}"

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
        self._kept.pop(key, None)
        if passed is False and told is not None and told.passed:  # what it counted is not what failed
            told = None
        if told is not None and told.passed is None and command_results.filters_output(command):
            told = passed = None  # "no test files" of one package, and what the others said was filtered out
        unseen = passed is None and (told is None or told.passed is not None)
        said = (GOES_ON if goes_on(result.text) else UNSEEN) if unseen else told.sentence if told else PASSED
        if told is None and (passed is False or (unseen and result.exit_status)):
            line, whole = error_line(result.text), f"exit code {result.exit_status}" if result.exit_status else "failed"
            ended = "; ".join(filter(None, [f"the whole line ended with {whole}", printed(line)]))
            said = ended if unseen else printed(line) or whole
        names = told.names if told else ()
        status = None if passed is None else result.exit_status
        own = told is not None and told.passed is not None
        made = Check(shown, runner, status, said, passed, names[: _NAMED + 1], folder, turn, own)
        self._kept = dict([*self._kept.items(), (key, made)][-MAX_CHECKS:])
        if passed is False:
            self._failures.add(f"check {key}", f"{named(shown)} failed", _why(said, names, result.text, told), turn)
        elif passed or clean:
            if passed:
                self._failures.settle(f"check {key}")
            how = f"{named(shown)} {('passed' if own else PASSED) if passed else 'printed no error'}"
            others = command_results.chained(command) if passed and result.exit_status == 0 else ()
            for one in dict.fromkeys([test, *others]):
                self._went_well(command, one, made if one == test else replace(made, runner=""), how)
            self._failures.tried(f"ran {named(shown)}", turn)

    def _went_well(self, command: str, test: str, made: Check, how: str) -> None:
        """A test in a command line went well: what failed before and is of its kind may be mended by it."""
        for at, one in [(at, one) for at, one in self._kept.items() if one.passed is False]:
            same = command_results.tests(one.command) or one.command
            alike = one.runner == made.runner and not command_results.are_other_lints(same, test)
            alike |= command_results.family(same) == command_results.family(test)
            holds = command_results.is_whole(test, same) and " filtered out" not in made.outcome
            # What could not be started is held by what could; and a hook runs all that there is.
            holds |= command_results.never_ran(one.outcome) or command_results.commits(command)
            alike = alike and not _apart(made.folder, one.folder) and not command_results.leaves_out(command)
            if alike and holds and (made.passed or one.outdated):
                self._mended(at, one, how)
            elif alike and not one.mended:
                one.after = how

    def committed(self) -> None:
        """A commit was made: what kept one from being made does so no more."""
        for key, one in self._kept.items():
            if one.passed is False and command_results.commits(one.command):
                self._mended(key, one, "a commit was made")

    def _mended(self, key: str, one: Check, how: str) -> None:
        self._failures.settle(f"check {key}", f"later {how}")
        one.mended, one.after = True, how

    def ran(self, most: int, turns: int) -> tuple[list[SummaryCommand], int]:
        """Those that tell most, what may fail still and the newest, and how many more there are."""
        there = list(self._kept.values())
        kept = sorted(sorted(there, key=lambda one: one.passed is False and not one.mended)[-most:], key=there.index)
        rows = [
            SummaryCommand(one.command, one.exit_status, f"{one.outcome}{one.listed}{one.noted(turns)}") for one in kept
        ]
        return rows, len(there) - len(kept)

    def left(self, turns: int, most: int = 4) -> list[str]:
        """What failed when it ran last, unless something of its kind passed since."""
        failing = [one for one in self._kept.values() if one.passed is False and not one.mended]
        ends = [f"{one.outcome}{one.listed}" for one in failing]
        more = {end: f" (and {ends.count(end) - 1} more like it)" if ends.count(end) > 1 else "" for end in ends}
        last = dict(zip(ends, failing, strict=True))  # one matter, told once
        form = "failed when last run in this form"
        return [f"{code(one.command)}{more[end]} {form}{one.noted(turns)}: {end}" for end, one in last.items()][-most:]


def _apart(one: str, other: str) -> bool:
    """Whether two folders that command lines go to are different ones."""
    return bool(one and other) and not f"/{one}".endswith(f"/{other}") and not f"/{other}".endswith(f"/{one}")


@mutable
class ReportedCommit:
    """A commit that git reported; one of which it said nothing has no subject and is shown nowhere."""

    oid: str = ""
    subject: str = ""
    note: str = ""  # where it was made, and how
    folder: str = ""  # that the command went to first
    is_below: bool = True  # HEAD was not seen to move elsewhere since
    taken_in: int = 0  # the turn that took it back

    def line(self) -> str:
        """The commit in one line."""
        return f"{self.oid} {self.subject} ({self.note}){f', taken back in turn {self.taken_in}' * bool(self.taken_in)}"


class ReportedCommits:
    """The commits of a run, in order."""

    def __init__(self) -> None:
        self._kept: list[ReportedCommit] = []

    def add(self, commit: ReportedCommit) -> None:
        """One more was made."""
        self._kept.append(commit)

    def leave(self) -> None:
        """HEAD moved: what it goes back to from now on is not known."""
        for one in self._kept:
            one.is_below = False

    def reset(self, turn: int, folder: str, *, steps: int = 0, oid: str = "") -> None:
        """HEAD went back, so many steps or to a commit: those it went over are taken back."""
        there = [one for one in self._kept if one.is_below and not one.taken_in and not _apart(folder, one.folder)]
        at = next((at for at, one in enumerate(there, 1) if oid and one.oid and oid.startswith(one.oid[:7])), None)
        gone = there[-steps:] if steps else there[at:] if at is not None else []
        for one in gone:
            one.taken_in = turn

    def revert(self, turn: int, subject: str) -> None:
        """A new commit takes an earlier one back, by its name; turn 0: it brings back what was taken back."""
        named = [one for one in self._kept if one.subject == subject and bool(one.taken_in) is not bool(turn)]
        for one in named[-1:]:
            one.taken_in = turn

    def lines(self) -> list[str]:
        """All that git reported."""
        return [one.line() for one in self._kept if one.subject]

    def subjects(self) -> list[str]:
        """Of those that were not seen to be taken back."""
        return [one.subject for one in self._kept if one.subject and not one.taken_in]


def _why(said: str, names: Sequence[str], text: str, told: CheckOutcome | None) -> str:
    """What failed first, and what was printed about it; some runners name it with what failed."""
    if told is None:
        return said
    reason = error_line(text, own=told.runner != "make")
    known = said in reason or reason in names[:1] or is_total(reason) or any(" - " in name for name in names[:1])
    return "; ".join(filter(None, [": ".join([said, *names[:1]]), "" if known else printed(reason)]))
