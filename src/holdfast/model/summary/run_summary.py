"""The summary of a run, built turn by turn, and a turn in one line.

The values and the page are in `fields`, the wording of single lines is in `wording`.
"""

import posixpath
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile

from holdfast.model.summary import command_results, wording
from holdfast.model.summary.checks import (
    APART,
    Checks,
    Failures,
    ReportedCommit,
    ReportedCommits,
    named,
    noted_in,
    printed,
)
from holdfast.model.summary.command_results import MAX_COMMAND, CheckOutcome, error_line, first_line, told_by
from holdfast.model.summary.fields import MAX_LINE, Summary, SummaryCommand, SummaryFile, file_line
from holdfast.model.summary.wording import beginning, code, count, cut, one_line
from holdfast.model.transcript import AGENTS, Call, Result, Todo, TranscriptEdit, TranscriptOrigin, TranscriptTurn
from holdfast.patterns import PatternFile
from holdfast.values import field, mutable

_PATTERNS = PatternFile(__file__)

MAX_FILES, MAX_COMMANDS, MAX_PATH = 2000, 200, 1000  # that are kept while turns come in
SHOWN_FILES, SHOWN_TESTS, SHOWN_FAILURES, SHOWN_COMMANDS, SHOWN = 40, 10, 8, 15, 12  # guesses: a page is read quickly
_FIRST_ASKED, _LAST_ASKED = 4, 8  # guesses: what it began with, and where it stood at its end
_SHORT = 24  # characters of a prompt that names nothing: "yes, go on"
# Characters of all prompts, or of all conclusions; of one of them if there are many, and if there are few.
_ROOM, _LEAST, _MOST = 4_000, 300, 900


@mutable
class _File:
    action: str
    added: int = 0
    removed: int = 0
    whole: bool = False  # what it held before is not known
    committed: bool = False
    turn: int = 0  # that wrote it last
    gone: str = ""  # what a later command did with it


@mutable
class _Answer:
    turn: int
    told: list[str]
    worked: bool  # its turn did more than to answer
    note: str = ""


@mutable
class _Books:
    """What is kept of the turns so far."""

    first: list[str] = field(default_factory=list)
    last: deque[str] = field(default_factory=lambda: deque(maxlen=_LAST_ASKED))
    asked: int = 0
    said: list[_Answer] = field(default_factory=list)
    remarks: deque[tuple[int, str]] = field(
        default_factory=lambda: deque(maxlen=SHOWN // 2)
    )  # reasons given on the way
    answer: str = ""
    question: str = ""  # that it answers
    report: str = ""  # what the turn that wrote most said at its end
    reported: int = 0  # lines it wrote
    reporter: int = 0  # which turn that is
    title: str = ""  # of the plan that it was asked to carry out
    files: dict[str, _File] = field(default_factory=dict)
    more_files: int = 0
    read: dict[str, None] = field(default_factory=dict)
    commits: ReportedCommits = field(default_factory=ReportedCommits)
    pulls: list[str] = field(default_factory=list)  # requests that were opened
    commands: dict[str, SummaryCommand] = field(default_factory=dict)
    answers: deque[str] = field(default_factory=lambda: deque(maxlen=SHOWN))  # of the person, when asked
    todos: tuple[Todo, ...] = ()
    planned_in: int = 0  # the turn that wrote this plan
    outdated: bool = False  # files were written or a commit was made after it
    unfinished: list[str] = field(default_factory=list)
    unfinished_in: int = 0  # the turn whose answer says so
    broken_off: list[str] = field(default_factory=list)
    helped: bool = False  # by somebody who may have written files, too
    scripted: bool = False  # so may a command have
    quiet: str = ""  # a commit of which git said nothing
    refused: str = ""  # a commit that failed, if none was made since
    unpushed: str = ""  # what failed after a commit on its line, a push mostly


class Account:
    """What happened in a run, told at its end."""

    def __init__(self, origin: TranscriptOrigin, *, top: str | None = None) -> None:
        self._origin = origin
        self._top = top
        self._books = _Books()
        self._failures = Failures()
        self._checks = Checks(self._failures)
        self._turns = self._steps = self._calls = 0
        self._model: str | None = None

    def add(self, turn: TranscriptTurn) -> None:
        """Take in the next turn."""
        self._turns += not self._turns or (bool(turn.prompt or turn.brief) and not turn.continues)
        self._books.broken_off = []
        self._ask(turn)
        before = len(self._books.commits.lines())
        for step in turn.steps:
            self._steps += 1
            self._model = step.model or self._model
            for call in step.calls:
                self._calls += 1
                self._call(call, turn)
        edits = [edit for call in turn.calls for edit in call.edits if not _outside(self._path(edit.path, turn))]
        wrote = sum(1 + len(edit.added) + len(edit.removed) for edit in edits)
        self._end(turn, wrote=wrote, committed=len(self._books.commits.lines()) > before)

    def _ask(self, turn: TranscriptTurn) -> None:
        words = wording.gist(turn.prompt or turn.brief, _MOST)
        if not words or (turn.continues and self._turns > 1):
            return
        self._books.asked += 1
        into = self._books.first if len(self._books.first) < _FIRST_ASKED else self._books.last
        by = "Stopped by the person: " if turn.interrupted else "" if turn.prompt else "Handed over by another agent: "
        into.append(by + words)

    def _call(self, call: Call, turn: TranscriptTurn) -> None:
        if call.todos is not None:
            self._books.todos, self._books.planned_in, self._books.outdated = call.todos, self._turns, False
        if call.result is None:
            self._books.broken_off = [*self._books.broken_off, f"No result was recorded of {_what(call)}"][:3]
            return
        if call.result.refused:
            said = _PATTERNS.refusal.search(call.result.text[:4000])
            why = f"the person said “{cut(one_line(said[1]), 200)}”" if said else ""
            self._failures.add(f"refused {call.id}", f"{_what(call)} was refused", why, self._turns)
        elif call.kind == "ask":
            self._books.answers.append(cut(_PATTERNS.answered.sub("", one_line(call.result.text)), 400))
        elif call.edits and not call.result.failed:
            self._edit(call, turn)
        elif call.command is not None and not _PATTERNS.not_run.match(call.result.text):
            self._command(call.result, call.command, turn)
        elif call.kind == "agent":
            self._books.helped |= not _PATTERNS.only_looks.search(call.text[:4000])
        elif call.result.failed:
            self._tool_failed(call, turn)
        else:
            self._failures.settle(f"tool {_what(call)}")
            for path in call.paths if len(self._books.read) < 50 else ():
                self._books.read.setdefault(self._path(path, turn))

    def _tool_failed(self, call: Call, turn: TranscriptTurn) -> None:
        """A tool that is no program failed; to look for something in vain, or to wait for a command, is no failure."""
        assert call.result is not None
        if (call.kind in ("read", "search", "shell") and not call.edits) or _PATTERNS.not_run.match(call.result.text):
            return
        why = printed(first_line(call.result.text))
        aim = _aimed_at(call) if call.kind == "edit" or call.edits else None
        path = self._path(aim, turn) if aim else ""
        key, what = (f"edit {path}", f"an edit of {code(path)}") if path else (f"tool {_what(call)}", _what(call))
        self._failures.add(key, f"{what} failed", why, self._turns)

    def _edit(self, call: Call, turn: TranscriptTurn) -> None:
        paths = [self._path(edit.path, turn) for edit in call.edits]
        self._failures.settle(f"edit {paths[0]}")
        self._books.outdated = True
        if not all(map(_PATTERNS.scratch.match, paths)):
            self._checks.files_written()
        for path, edit in zip(paths, call.edits, strict=True):
            self._write(path, edit, turn)
        self._failures.tried(f"changed {code(paths[0])}", self._turns)

    def _write(self, path: str, edit: TranscriptEdit, turn: TranscriptTurn) -> None:
        files = self._books.files
        if path not in files and len(files) >= MAX_FILES:
            self._books.more_files += 1
            return
        there = files.setdefault(path, _File(edit.action))
        there.added += len(edit.added) - len(edit.kept or ())
        there.removed += len(edit.removed)
        there.whole |= edit.kept is None
        there.committed, there.turn, there.gone = False, self._turns, ""
        if edit.action in ("delete", "move"):
            there.action = edit.action
        elif there.action == "delete":
            there.action = "update"
        if edit.moved_to:
            self._write(self._path(edit.moved_to, turn), TranscriptEdit(path=edit.moved_to, action="add"), turn)

    def _command(self, result: Result, command: str, turn: TranscriptTurn) -> None:
        test = command_results.tests(command)
        told = told_by(command, result.text) if test or command_results.matters(command) else None
        found_nothing = told is None and result.exit_status == 1 and command_results.ends_in_search(command)
        went_wrong = bool(result.failed or result.exit_status or (told and told.passed is False)) and not found_nothing
        parts, moved = command_results.parts(command), not went_wrong or _PATTERNS.moved.search(result.text[:20_000])
        at = next((at for at, part in enumerate(parts) if _PATTERNS.commits.search(part)), len(parts))
        self._move_head(parts[:at] if moved else (), result.text, command)
        committed = self._commit(result.text, command, went_wrong=went_wrong)
        self._move_head(parts[at:] if moved else (), result.text, command)
        for before, part in pairwise(["", *parts]) if not went_wrong else ():
            if not _PATTERNS.logs.match(part) or _PATTERNS.given_text.match(before):
                self._by_shell(part, turn, command)
        self._books.scripted |= _PATTERNS.may_write.search(command[:MAX_COMMAND]) is not None
        if command_results.commits(command):
            self._attempted(result.text, command, went_wrong=went_wrong, committed=committed)
        elif not went_wrong and _PATTERNS.pushes.search(command[:MAX_COMMAND]):
            self._books.unpushed = ""
        # Whether an outcome can only be a test runner's, and is how the command ended.
        ended = told is not None and (told.passed is False or not went_wrong)
        sure = ended and told and not told.sentence.startswith(("make:", "build", "no errors", "no tests"))
        if test or sure or self._checks.knows(command):
            if not went_wrong:
                self._went_well(command)
            self._checks.add(command, result, told, turn=self._turns, passed=_passed(command, result, told))
        elif command_results.matters(command) and (went_wrong or not committed):
            self._ran(command, result, went_wrong=went_wrong, committed=committed)

    def _attempted(self, text: str, command: str, *, went_wrong: bool, committed: bool) -> None:
        """Note a commit that failed, or of which git said nothing."""
        what, why = f"{named(command_results.shown(command))} ", printed(error_line(text[:20_000]))
        idle = not went_wrong or _PATTERNS.no_commit.search(text[:20_000])
        failed = "" if idle else f"{what}failed in turn {self._turns}"
        why = why and f": {why}"
        self._books.unpushed = f"{failed} after git reported a commit{why}" if failed and committed else ""
        self._books.refused = f"{failed}, no commit was seen after it{why}" if failed and not committed else ""
        self._books.quiet = "" if went_wrong else f"{what}ran, but git reported no commit"
        if not went_wrong and not committed:
            self._books.commits.add(ReportedCommit())

    def _move_head(self, parts: Sequence[str], text: str, command: str) -> None:
        """Note which commits a part of a command took back, as far as it says where HEAD goes."""
        for part in parts:
            found = _PATTERNS.resets.match(part)
            if found and not _PATTERNS.fatal.search(text[:20_000]):
                steps = (
                    0 if found["oid"] else int(found["count"] or 1) if found["carets"] is None else len(found["carets"])
                )
                folder = command_results.placed(command)[0]
                self._books.commits.reset(self._turns, folder, steps=steps, oid=found["oid"] or "")
            elif _PATTERNS.leaves.match(part) and not _PATTERNS.only_paths.search(f"{part}\n{text[:20_000]}"):
                self._books.commits.leave()

    def _by_shell(self, part: str, turn: TranscriptTurn, command: str) -> None:
        """Note what a simple command did to files: a file that was made and taken away again was not written."""
        files = self._books.files
        elsewhere = _PATTERNS.elsewhere.search(command) is not None  # names mean something else there
        taken = _PATTERNS.removes.match(part) or _PATTERNS.moves.match(part)
        words = [word.strip("\"'") for word in part[taken.end() :].split() if word[0] != "-"] if taken else []
        moved = taken is not None and taken.re is _PATTERNS.moves
        for word in words[:-1] if moved else words:
            if not elsewhere or word.startswith("/"):
                self._take_away(self._path(word, turn), "moved later" if moved else "removed later")
        found = _PATTERNS.writes.match(part)
        if found is None or (elsewhere and not found["path"].startswith("/")):
            return
        path, lines = self._path(found["path"], turn), command_results.heredoc_lines(command, found["path"])
        beside = tuple(f"{'/'.join(path.split('/')[:3])}/" for _ in lines[:1])  # a clone that is worked in, no scratch
        if not _outside(path) or (beside and any(one.startswith(beside) for one in files)):
            kept = () if found["how"] == ">>" or not lines else None
            self._write(path, TranscriptEdit(path=path, added=lines, kept=kept), turn)
            self._checks.files_written()

    def _take_away(self, path: str, how: str) -> None:
        """A file or a folder was removed or moved by a command."""
        files = self._books.files
        for name in [name for name in files if name == path or name.startswith(f"{path}/")]:
            one = files[name]
            new, removed = one.action == "add" or one.whole, how == "removed later"
            if new and removed and one.turn == self._turns and not one.committed:
                del files[name]  # a scratch file
            elif removed and not new:
                one.action = "delete"
            else:
                one.gone = how

    def _ran(self, command: str, result: Result, *, went_wrong: bool, committed: bool) -> None:
        shown, key, status = command_results.shown(command), command_results.key(command), result.exit_status
        self._books.commands.pop(key, None)
        how = (printed(error_line(result.text)) if went_wrong else "") or (f"exit code {status}" if status else "")
        how += ", git reported a commit" if how and committed else ""
        row = SummaryCommand(shown, status, how)
        self._books.commands = dict([*self._books.commands.items(), (key, row)][-MAX_COMMANDS:])
        hidden = command_results.hides_status(command)
        if command_results.commits(command) and not committed:  # whatever command makes it in the end
            key = f"commit{APART}{how}" if went_wrong else "commit"
        if went_wrong and not (hidden and (status or 0) > 128):  # a job that was ended by a signal, as servers are
            self._failures.add(f"run {key}", f"{named(shown)} failed", how, self._turns)
        elif not went_wrong:
            if not hidden:
                self._failures.settle(f"run {key}")
            self._failures.tried(f"ran {named(shown)}", self._turns)

    def _went_well(self, command: str) -> None:
        """Let go of how a command failed before: it stands elsewhere now."""
        self._failures.settle(f"run {command_results.key(command)}")
        self._books.commands.pop(command_results.key(command), None)

    def _commit(self, text: str, command: str, *, went_wrong: bool) -> bool:
        """Whether a command made commits, as git told it; what follows them on the line may have failed."""
        if not _PATTERNS.commits.search(command[:MAX_COMMAND]):
            return False
        found = [one.groups() for one in _PATTERNS.committed.finditer(text[:20_000])]
        # Of a quiet commit the log after it tells.
        shown = [] if went_wrong else _PATTERNS.logged.finditer(text[:20_000])
        logged = [("HEAD", *one.groups()) for one in shown if one[2] in command]
        for branch, oid, subject in found or logged[:1]:
            how = ", by --amend" if _PATTERNS.amends.search(command[:MAX_COMMAND]) else ""
            if reverted := _PATTERNS.reverts.match(subject):
                self._books.commits.revert(self._turns, cut(one_line(reverted[1]), 120))
            if again := _PATTERNS.reapplies.match(subject):
                self._books.commits.revert(0, cut(one_line(again[1]), 120))
            said, folder = cut(one_line(subject), 120), command_results.placed(command)[0]
            self._books.commits.add(ReportedCommit(oid, said, f"on {branch}{how}", folder))
        if found or logged:
            self._books.outdated = True
            self._went_well(command)
            self._checks.committed()
            self._failures.settle("run commit", "a commit was made later")
            for file in self._books.files.values():
                file.committed = True
        if url := _PATTERNS.pulled.search(text[:20_000]) if _PATTERNS.opens_pull.search(command) else None:
            self._books.pulls.append(url[0])
        return bool(found or logged)

    def _end(self, turn: TranscriptTurn, *, wrote: int, committed: bool) -> None:
        answer, texts = turn.answer, [step.text for step in turn.steps if not step.aside]
        before = [one for one in self._books.said[-1:] if one.turn == self._turns - 1]
        if before and (took_back := next(filter(_PATTERNS.withdraws.match, texts[:2]), "")):
            before[0].note = f"(The next turn begins: “{beginning(took_back, 120)}”) "
        self._mark_reverted(answer)
        if answer:
            self._books.answer = answer
            told = wording.statements(wording.without_open(answer))
            if told and told not in [one.told for one in self._books.said]:  # no "ok", no repetitions
                ran = (call.command for call in turn.calls if call.command is not None)
                worked = bool(wrote) or any(map(command_results.matters, ran))
                self._books.said.append(_Answer(self._turns, told, worked))
                asked = beginning(wording.gist(turn.prompt, _MOST), 160)
                self._books.question = asked if asked.endswith("?") else ""
            if len(self._books.said) > SHOWN:
                self._books.said.remove(min(self._books.said, key=lambda one: (one.worked, one.turn)))
            if told and wrote and wrote >= self._books.reported:
                did = [one for one in texts if wording.says_done(one)]
                self._books.report, self._books.reported = did[-1] if did else answer, wrote
                self._books.reporter, self._books.title = self._turns, wording.request_title(turn.prompt)
            if sum(map(len, told)) < _LEAST:  # why it was done so was said before, if at all
                # What stands under "Three faults:" is not told without it.
                others = (wording.statements(text) for text in texts if text != answer)
                alone = (takewhile(lambda one: one[-1] != ":", told) for told in others)
                said = [one for told in alone for one in told if len(one) > 40 and _PATTERNS.reasons.search(one)]
                self._books.remarks.extend((self._turns, one) for one in said[-3:])
        self._leave(turn, wrote=wrote, committed=committed)

    def _mark_reverted(self, answer: str) -> None:
        """Put beside an earlier answer that a later one says it was reverted: the last that it names, or the last."""
        back = next(filter(_PATTERNS.puts_back.search, wording.statements(answer)), "")
        names = _names(back)
        alike = [one for one in self._books.said if not names or names & _names(" ".join(one.told))]
        for one in alike[-1:] if back else ():
            if not any(map(_PATTERNS.puts_back.search, one.told)):  # it says so itself
                one.note = one.note or f"(Turn {self._turns} says: “{beginning(back, 120)}”) "

    def _leave(self, turn: TranscriptTurn, *, wrote: int, committed: bool) -> None:
        """Note what a turn leaves open, as far as its answer or its end says so."""
        answer = turn.answer
        left = [*wording.unfinished(answer), *wording.options(answer), *wording.questions(answer)]
        # "Commit this" does not undo what the answer before it left open; work may have, and a question was answered.
        if turn.prompt and turn.steps:
            done = _PATTERNS.by_commit if committed else _PATTERNS.asks
            self._books.unfinished = [one for one in self._books.unfinished if not done.search(one)]
        if left:
            self._books.unfinished, self._books.unfinished_in = left, self._turns
        elif wrote or any(call.edits for call in turn.calls) or (answer and turn.calls and not committed):
            self._books.unfinished = []
        last = [one for line in wording.told_lines(answer)[-1:] for one in wording.sentences(line)[-1:]]
        if last and turn.steps[-1].calls and wording.is_empty(last[0]):  # it was about to do something
            self._books.broken_off.append(f"The last words are “{cut(last[0], 160)}”, and no answer came after them")
        if turn.prompt and not turn.steps and not turn.interrupted:
            self._books.broken_off = ["The last prompt has no answer"]
        if turn.interrupted and turn.steps:
            self._books.broken_off.append("The person stopped the last turn")

    def _path(self, path: str, turn: TranscriptTurn) -> str:
        seen = relative(path[:MAX_PATH], turn.cwd or self._origin.cwd, self._top or self._origin.cwd)
        # A session of another clone, or of another system, is at home where it began.
        return relative(path[:MAX_PATH], turn.cwd or self._origin.cwd, self._origin.cwd) if _outside(seen) else seen

    def finish(self, *, found: Mapping[str, Sequence[str]] | None = None) -> Summary:
        """The summary of the turns so far; `found` is what was decided, ruled, found out … in them."""
        books = self._books
        rows = ((path, one.action, one.added, one.removed, one.whole, one.gone) for path, one in books.files.items())
        files = [SummaryFile(*row) for row in rows]
        most = sorted(files, key=lambda one: (bool(one.gone), -(one.added + one.removed)))[:SHOWN_FILES]
        listed = sorted(most, key=lambda one: (bool(one.gone), _outside(one.path), files.index(one)))
        left, commits = self._left_open(), [*books.commits.lines(), *books.pulls]
        tests, more_tests = self._checks.ran(SHOWN_TESTS, self._turns)
        return Summary(
            sentence=self._sentence(files, left),
            asked=tuple(self._asked()),
            done=tuple(self._done()),
            files=tuple(listed),
            more_files=len(files) - len(listed) + books.more_files,
            read=() if files or commits else tuple(books.read)[:SHOWN],
            commits=tuple(commits[-SHOWN:] or filter(None, [books.quiet])),
            commands=tuple(books.commands.values())[-SHOWN_COMMANDS:],
            tests=tuple(tests),
            more_tests=more_tests,
            found=self._found(found or {}),
            failed=tuple(self._failures.lines(SHOWN_FAILURES, self._turns)),
            left_open=tuple(left),
            unfinished=tuple(self._unfinished()),
            model=self._model,
            turns=self._turns,
            steps=self._steps,
            calls=self._calls,
        )

    def _found(self, found: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        """What was found, by type of memory, and what the person answered when asked."""
        shapes = {kind: _PATTERNS.no_fact if kind == "fact" else _PATTERNS.no_finding for kind in found}
        own = {kind: [one for one in said if not shapes[kind].search(one)] for kind, said in found.items()}
        short = {kind: dict.fromkeys(cut(one_line(one), 300) for one in said) for kind, said in own.items()}
        told = {"answer": dict.fromkeys(self._books.answers), **short}
        return {kind: tuple(said)[:SHOWN] for kind, said in told.items() if said}

    def _asked(self) -> Iterator[str]:
        books = self._books
        between = books.asked - len(books.first) - len(books.last)
        room = _share(len(books.first) + len(books.last))
        more = [f"({between} more between)"] if between else []
        yield from (beginning(one, room) for one in (*books.first, *more, *books.last))

    def _done(self) -> Iterator[str]:
        last = wording.without_open(self._books.answer)
        newest, room = wording.statements(last), _share(len(self._books.said))
        when = "Turn {}: " if self._turns > 1 else ""
        earlier = (one for one in self._books.said if one.told != newest)
        yield from (f"{when.format(one.turn)}{one.note}{wording.best(one.told, room)}" for one in earlier)
        remarks = dict.fromkeys(self._books.remarks)
        yield from (f"On the way{noted_in(turn, self._turns)}: {one}" for turn, one in remarks)
        yield from (line for line in wording.at_length(last) if line not in self._books.unfinished)

    def _unfinished(self) -> list[str]:
        """What the agent said is not done, beyond its plan."""
        return wording.beyond(self._books.unfinished, [one_line(todo.text) for todo in self._books.todos])

    def _left_open(self) -> list[str]:
        """What may be open, as it was seen or said, and when."""
        books, turns = self._books, self._turns
        how = {"open": "not marked as done", "started": "marked as begun"}
        todos = () if books.outdated and books.planned_in < turns else books.todos  # they may have been done since
        there = [(how[one.status], cut(one_line(one.text), 200)) for one in todos if one.status in how]
        when = noted_in(books.planned_in, turns, "work went on after it was written" if books.outdated else "")
        plan = [f"In the plan{when}, {mark}: {text}" for mark, text in there[:SHOWN]]
        said = [self._said_open(one) for one in self._unfinished()]
        ended = [*self._checks.left(turns), *books.broken_off, *filter(None, [books.refused, books.unpushed])]
        return [*ended, *plan, *said, *self._uncommitted()][: 2 * SHOWN]

    def _said_open(self, one: str) -> str:
        asks = _PATTERNS.asks.search(one) is not None
        when = noted_in(self._books.unfinished_in, self._turns, "no answer was seen" if asks else "")
        return f"The agent {'asked' if asks else 'said'}{when}: “{one}”"

    def _uncommitted(self) -> list[str]:
        """What was written after the last commit, if commits were made here at all."""
        there = [(path, file) for path, file in self._books.files.items() if not file.gone and not _outside(path)]
        left = [path for path, file in there if not file.committed]
        more = f" and {len(left) - 6} more" if len(left) > 6 else ""
        told = f"Written after the last commit that was seen: {', '.join(map(code, left[:6]))}{more}"
        return [told] if left and self._books.commits.lines() else []

    def _sentence(self, files: Sequence[SummaryFile], left: Sequence[str]) -> str:
        books = self._books
        agent = AGENTS.get(self._origin.agent, self._origin.agent)
        what = f"{agent}: {told}" if (told := self._headline()) else f"{agent}: nothing was asked"
        inside = [one for one in files if not _outside(one.path)] or files
        gone = sum(one.action == "delete" for one in inside)
        by = " or ".join(["helpers"] * books.helped + ["commands"] * books.scripted)
        more = f" and perhaps more by {by}" if by else ""
        away = f", {len(files) - len(inside)} elsewhere" if len(files) > len(inside) else ""
        later = sum(one.gone == "removed later" for one in inside)
        back = f" ({later} removed later)" if later else ""
        parts = [f"{count(len(inside) - gone, 'file')} written{back}{away}{more}"] if len(inside) > gone else []
        parts += [f"{count(gone, 'file')} deleted"] if gone else []
        made = len(books.commits.lines())
        undone = made - len(books.commits.subjects())
        parts += [f"{count(made, 'commit')} reported{f' ({undone} taken back)' if undone else ''}"] if made else []
        parts += [self._checks.last] if self._checks.last else []
        parts += [f"{count(len(left), 'point')} may be open"] if left else []
        return f"{what} — {', '.join(parts)}" if parts else what

    def _headline(self) -> str:
        """The last commits' subjects, else what the agent said of its work, else the answer, in quotation marks."""
        books = self._books
        if subjects := books.commits.subjects():
            return f"committed “{cut('; '.join(dict.fromkeys(subjects[-3:])), 200)}”"
        report = wording.without_open(books.report)
        said = wording.concluded(report, 160, achieved=True) if books.files else ""
        if said and wording.is_item(report, said):  # one of many changes
            said = wording.opening(report, 160) or ("" if books.title else said)
            if not said:
                return f"asked “{cut(books.title, 160)}”"
        if said:
            return f"“{said}”{noted_in(books.reporter, self._turns) if books.reporter < self._turns else ''}"
        there = {path: file for path, file in books.files.items() if file.action != "delete" and not file.gone}
        written = [code(path) for path in there if not _outside(path)]
        if written and books.answer:
            more = f" and {len(written) - 3} more" if len(written) > 3 else ""
            return f"wrote {', '.join(written[:3])}{more}"
        # The last answer holds; an earlier one may have been overtaken.
        if books.said and not books.files:
            asked = f"asked “{books.question}”, answered " if books.question else ""
            return f"{asked}“{beginning(' '.join(books.said[-1].told), 160)}”"
        telling = [one for one in books.first if len(one) > _SHORT] or books.first
        asked = beginning(telling[0] if telling else self._origin.title or "", 160)
        return asked and f"asked “{asked}”"


def _passed(command: str, result: Result, told: CheckOutcome | None) -> bool | None:
    """Whether a test passed, by its own words or its own exit status; None if neither was seen."""
    if told is not None and told.passed is False:
        return False
    if command_results.goes_on(result.text):
        return None
    counts = command_results.tells_status(command)
    if result.failed or result.exit_status:
        return False if counts == "all" or (counts and told is None) else None
    if told is not None and (told.passed is None or not command_results.filters_output(command)):
        return told.passed
    return True if counts and (result.exit_status == 0 or counts == "all") else None


def relative(path: str, cwd: str | None, top: str | None) -> str:
    """A path as seen from the top, if it lies within; else as it is."""
    plain = path.replace("\\", "/") if re.match(r"^(?:[A-Za-z]:)?\\|^[A-Za-z]:/", path) else path
    if cwd and not posixpath.isabs(plain) and not re.match(r"^[A-Za-z]:|^~[\w-]*/", plain):
        plain = posixpath.join(cwd.replace("\\", "/"), plain)
    plain = posixpath.normpath(plain)
    base = posixpath.normpath(top.replace("\\", "/")) if top else ""
    return plain[len(base) + 1 :] if base and plain.startswith(f"{base.rstrip('/')}/") else plain


def _what(call: Call) -> str:
    if call.command is not None:
        return named(command_results.shown(call.command))
    if call.kind == "edit" and (path := _aimed_at(call)):
        return f"an edit of {code(path)}"
    if plan := _PATTERNS.plan.search(call.text[:4000]):
        return f"the plan “{cut(plan[1], 100)}”"
    return f"{call.name} {cut(one_line(call.text), 80)}".strip()


def _aimed_at(call: Call) -> str | None:
    """The file that an edit was meant for, where it did not come to one."""
    if call.edits:
        return call.edits[0].path
    found = _PATTERNS.file.search(call.text[:4000])
    return found[1] if found else call.paths[0] if call.paths else None


def _names(text: str) -> set[str]:
    """The names of code and files in a text, without their folders and endings."""
    return {quoted or plain for quoted, plain in _PATTERNS.names.findall(text)}


def _share(number: int) -> int:
    return max(_LEAST, min(_MOST, _ROOM // max(number, 1)))


def _outside(path: str) -> bool:
    """Whether a file lies outside the repository: in a scratch folder, or among the agent's own."""
    return path.startswith(("/", "../")) or path[1:2] == ":" or re.match(r"~[\w-]*/", path) is not None


def turn_line(turn: TranscriptTurn, *, top: str | None = None) -> str:
    """A turn in one line of at most 300 characters: what was asked, what was done, how it ended."""
    account = Account(TranscriptOrigin(agent="", session=""), top=top)
    account.add(turn)
    told = account.finish()
    asked, more = wording.gist(turn.prompt, 110), f" and {len(told.files) - 2} more" if len(told.files) > 2 else ""
    written = ", ".join(map(file_line, told.files[:2]))
    done = [f"wrote {written}{more}"] if written else []
    done += [f"{code(cut(one.command, 60))}: {cut(one.outcome, 80)}" for one in told.tests[-2:]]
    done += [f"ran {code(cut(one.command, 60))}" for one in told.commands[-2:] if not told.tests]
    end = "stopped by the person" if turn.interrupted else ""
    parts = [f"Asked: {asked}" if asked else "", cut("; ".join(done), 120), end]
    line = " — ".join(part for part in parts if part)
    room = MAX_LINE - len(line) - 3
    said = beginning(wording.concluded(wording.without_open(turn.answer)), room) if turn.answer and room > 40 else ""
    return cut(" — ".join(part for part in (line, said) if part), MAX_LINE)
