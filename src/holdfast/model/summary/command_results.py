"""Commands and their results: what ran, whether it matters, whether it is a test, and how it ended.

How a test or check ended is read from what its runner prints, and so is the line that says why something failed.
"""

import re
from collections import Counter, deque
from functools import cache, lru_cache, partial

from holdfast.model.summary.wording import count, cut, one_line
from holdfast.patterns import PatternFile
from holdfast.values import frozen, replace

_PATTERNS = PatternFile(__file__)

MAX_COMMAND = 16_000  # characters that are looked at
_SHOWN = 140  # characters; a guess: one line


def inner(command: str) -> str:
    """A command without the shell that was asked to run it."""
    text = command[:MAX_COMMAND].strip()
    found = _PATTERNS.shell.match(text)
    return found["inner"] if found else text


@lru_cache(maxsize=512)  # the same few are run again and again
def placed(command: str) -> tuple[str, str]:
    """The folder that a command line goes to first, if it says so, and the rest without the pager it ends in."""
    text, folder = inner(command), ""
    while found := _PATTERNS.cd.match(text):
        text, folder = text[found.end() :], found[1].strip("\"'")
    return folder.rstrip("/"), _PATTERNS.tail.sub("", text).strip()


def key(command: str) -> str:
    """What tells a command from others, in whatever order its words stand; all of its lines count."""
    return " ".join(sorted(placed(command)[1].split()))


@lru_cache(maxsize=512)  # the same few are run again and again
def shown(command: str) -> str:
    """A command on one short line, without the folder it went to and the pager it ended in."""
    first = placed(command)[1]
    if found := _PATTERNS.heredoc.search(first):
        line_end = first.find("\n", found.end())
        said = first[line_end:].lstrip().partition("\n")[0] if line_end > 0 else ""  # a commit's subject, mostly
        first = f"{first[:line_end] if line_end > 0 else first} {said} …"
    return cut(one_line(first), _SHOWN)


def parts(command: str) -> list[str]:
    """The simple commands of a command line, without variables and wrappers in front; about right."""
    text = _unsigned(_without_heredoc(inner(command)))
    found = (one_line(_PATTERNS.assigned.sub("", part)) for part in _PATTERNS.parts.split(text))
    return list(filter(None, found))


def _without_heredoc(text: str) -> str:
    return _PATTERNS.heredoc_text.sub(r"\1", text)


def heredoc_lines(command: str, path: str) -> tuple[str, ...]:
    """The lines that a command line holds itself and writes to a path."""
    texts = [found["text"] or "" for found in _PATTERNS.heredoc_text.finditer(inner(command)) if path in found[1]]
    return tuple(line for text in texts for line in text.split("\n")[:-1])


@lru_cache(maxsize=512)  # the same few are run again and again
def matters(command: str) -> bool:
    """Whether a command did more than look around."""
    text = _unsigned(inner(command))
    if _PATTERNS.sed_writes.search(text) or _PATTERNS.writes.search(text):
        return True
    return any(not _looks(part) for part in parts(command))


@lru_cache(maxsize=512)  # the same few are run again and again
def tests(command: str) -> str | None:
    """The part of a command line that tests something, else one that checks; None if none does."""
    there = _test_parts(command)
    return next((part for part in there if not _PATTERNS.lints.match(_short_head(part))), there[0] if there else None)


def _test_parts(command: str) -> list[str]:
    there = [part for part in parts(command) if _PATTERNS.tests.match(_short_head(part))]
    return [part for part in there if not _PATTERNS.runs_none.search(part)]


def leaves_out(command: str) -> bool:
    """Whether a variable before a command leaves checks out, or is for another system."""
    return _PATTERNS.skips.search(command[:MAX_COMMAND]) is not None


@lru_cache(maxsize=512)  # the same few are run again and again
def tells_status(command: str) -> str:
    """What the exit status of a command line says about the test in it: `all`, `passed` only, or nothing.

    Of `A && B` success counts for both, failure for either. The status of a pipe, of what goes on in the background
    and of what something else follows is another's.
    """
    line = _unsigned(_without_heredoc(inner(command)))
    test = next(iter(_test_parts(command)), None)
    if test is None or _PATTERNS.masked.search(line):
        return "all" if test is None and not hides_status(command) else ""
    pieces = re.split(r"(&&|\|\||[;\n|])", line)
    at = next((at for at, piece in enumerate(pieces[::2]) if test[:40] in one_line(piece)), None)
    if at is None or "||" in pieces[1 : 2 * at : 2]:
        return ""  # it may not have run
    after = [sign for sign in pieces[2 * at + 1 :: 2] if sign != "|" or not _PATTERNS.pipefail.search(line)]
    if not after or not any(map(str.strip, pieces[2 * at + 2 :: 2])):
        return "all"
    return "passed" if set(after) == {"&&"} else ""


@lru_cache(maxsize=512)  # the same few are run again and again
def hides_status(command: str) -> bool:
    """Whether the exit status of a command line may be another's than of what it is about."""
    line = _unsigned(_without_heredoc(inner(command)))
    piped = "|" in line.replace("||", "") and not _PATTERNS.pipefail.search(line)
    return piped or bool(_PATTERNS.masked.search(line))


@lru_cache(maxsize=512)  # the same few are run again and again
def chained(command: str) -> tuple[str, ...]:
    """The tests of a line of nothing but `A && B`: it ends well only if each of them did."""
    line = _unsigned(_without_heredoc(inner(command))).strip()
    while found := _PATTERNS.cd.match(line):
        line = line[found.end() :]
    return () if hides_status(command) or _PATTERNS.parts_alone.search(line) else tuple(_test_parts(command))


def goes_on(text: str) -> bool:
    """Whether a shell tool says that it did not wait for the end."""
    return _PATTERNS.in_background.search(text[:200]) is not None


def never_ran(outcome: str) -> bool:
    """Whether a check did not fail, but could not be started as it was called."""
    return _PATTERNS.not_started.search(outcome) is not None


def filters_output(command: str) -> bool:
    """Whether what a command printed is only what a filter left of it: that nothing failed cannot be seen there."""
    return _PATTERNS.filtered.search(_unsigned(inner(command))) is not None


def commits(command: str) -> bool:
    """Whether a part of a command line is git's commit."""
    return any(map(_PATTERNS.commit.match, parts(command)))


def ends_in_search(command: str) -> bool:
    """Whether the status of a command line is that of a search at its end: 1 says that it found nothing."""
    return any(_head(part) in _PATTERNS.words("searching") for part in parts(command)[-1:])


def family(test: str) -> str:
    """What runs a test, whatever it was pointed at."""
    words = _short_head(test).split()
    plain = [word for word in words[:3] if not word.startswith("-") and not _PATTERNS.points.match(word)]
    return " ".join(plain[: 3 if plain[1:2] == ["run"] else 2])  # a script is another than its neighbour


def are_other_lints(test: str, other: str) -> bool:
    """Whether two checks are of different tools that both only look at code, so that neither speaks for the other."""
    return all(_PATTERNS.lints.match(_short_head(one)) for one in (test, other)) and family(test) != family(other)


def is_whole(test: str, other: str = "") -> bool:
    """Whether a test command was pointed at nothing in particular, or at a place that holds all of another's."""
    words, those = (_short_head(one).split()[1:] for one in (test, other))
    wide = tuple(word.removesuffix("...") for word in words if _PATTERNS.points.match(word))
    narrow = [word for word in those if _PATTERNS.points.match(word)]
    holds = not wide or (bool(narrow) and all(word.startswith(wide) for word in narrow))
    return holds and not any(map(_PATTERNS.picks.match, words))


def _unsigned(text: str) -> str:
    """A command line whose quoted words hold no sign that would part it."""
    return _PATTERNS.quoted.sub(lambda quoted: _PATTERNS.signs.sub(" ", quoted[0]), text)


def _looks(part: str) -> bool:
    head = _head(part)
    if head == "git":
        found = _PATTERNS.git.match(part)
        return found is None or found[1] in _PATTERNS.words("git_looking") or _PATTERNS.idle.match(part) is not None
    if head in ("gh", "glab"):
        return _PATTERNS.gh_looking.match(part) is not None and not _PATTERNS.gh_writes.search(part)
    return head in _PATTERNS.words("looking") or _PATTERNS.idle.match(part) is not None


def _head(part: str) -> str:
    words = part.split(maxsplit=1)
    return words[0].rsplit("/", 1)[-1].strip("({\"'").casefold() if words else ""


def _short_head(part: str) -> str:
    """The command with its program's bare name."""
    return _PATTERNS.program_folder.sub("", part)


MAX_TEXT = 16_000  # characters of one output, its end
MAX_LINE = 2000  # characters; a guess: longer lines are data, not messages


@frozen
class CheckOutcome:
    """What a runner said of itself."""

    passed: bool | None  # None: there was nothing to run
    sentence: str
    names: tuple[str, ...] = ()  # of what failed
    runner: str = ""  # what spoke


def plain(text: str) -> str:
    """The end of an output, without colours; a long line is cut."""
    text = _PATTERNS.ansi.sub("", text[-MAX_TEXT:]) if "\x1b" in text else text[-MAX_TEXT:]
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    text = _PATTERNS.frame.sub("", text)
    lines = text.split("\n")
    return "\n".join(line[:MAX_LINE] for line in lines) if max(map(len, lines)) > MAX_LINE else text


@lru_cache(maxsize=256)  # a turn is summarised in its line and in its run
def outcome(text: str) -> CheckOutcome | None:
    """What a known runner said in an output; None if none spoke."""
    told = plain(text)
    for runner in (runner for runner, mark in _PATTERNS.pairs("marks").items() if re.search(mark, told)):
        read = _READERS.get(runner) or partial(_worded, runner=runner)
        if (found := read(told)) is not None:
            return replace(found, runner=runner)
    return None


def told_by(command: str, text: str) -> CheckOutcome | None:
    """What a runner said in the output of a command; a sum of lines is too small if some of them were cut off."""
    found, most = outcome(text), _PATTERNS.most_lines.search(command[:MAX_COMMAND])
    cut_off = (
        len(text) > MAX_TEXT or " characters …]" in text or (most and text.strip().count("\n") + 1 >= int(most[1]))
    )
    sums = found is not None and found.runner in ("go", "cargo") and cut_off
    return replace(found, sentence=f"at least {found.sentence}") if found and sums else found


def is_total(line: str) -> bool:
    """Whether a line only counts what passed and failed: it says how a run ended, not why."""
    return outcome(f"{line}\n") is not None or _PATTERNS.unittest_end.match(line) is not None


def _last(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    return next(iter(deque(pattern.finditer(text), maxlen=1)), None)


def _names(text: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    found = (next(filter(None, match.groups())) for match in pattern.finditer(text))
    return tuple(dict.fromkeys(cut(one_line(name), 160) for name in found))


def _counted(text: str, *runners: str) -> CheckOutcome | None:
    """What the groups of a runner's line count: passed, failed, errors, skipped, ran; of some runners all lines."""
    for runner in runners:
        told: Counter[str] = Counter()
        for row in list(getattr(_PATTERNS, runner).finditer(text))[0 if runner in ("cargo", "dotnet") else -1 :]:
            told.update({name: int(number or 0) for name, number in row.groupdict().items()})
        if told:
            failed = told["failed"] + told["errors"]
            passed = told["passed"] if "passed" in told else told["ran"] - failed - told["skipped"]
            said = _said(passed, failed, told["skipped"], _names(text, _PATTERNS.counted_name))
            left_out = f", {told['filtered']:,} filtered out" if told["filtered"] else ""
            return replace(said, sentence=said.sentence + left_out)
    return None


def _said(passed: int, failed: int, skipped: int = 0, names: tuple[str, ...] = ()) -> CheckOutcome:
    parts = [f"{failed:,} failed"] if failed else []
    parts += [f"{passed:,} passed"] if passed or not failed else []
    parts += [f"{skipped:,} skipped"] if skipped else []
    return CheckOutcome(not failed if passed or failed else None, ", ".join(parts), names)


def _worded(text: str, runner: str) -> CheckOutcome | None:
    """What a runner counts in words, with commas between."""
    found = _last(text, getattr(_PATTERNS, runner))
    if found is None:
        return None
    parts = [part for part in re.findall(r"\d+ \w+", found[1]) if not part.endswith(("total", "warning", "warnings"))]
    said = ", ".join(parts) or found[1].strip()
    names = _names(text, getattr(_PATTERNS, f"{runner}_name"))
    return CheckOutcome(not re.search(r"\bfailed|\berror|no tests", said), said, names)


def _go(text: str) -> CheckOutcome | None:
    good = len(set(_PATTERNS.go_ok.findall(text)))  # the same packages may be tested twice
    bad, names = _names(text, _PATTERNS.go_fail), _names(text, _PATTERNS.go_name)
    said = [f"{count(len(bad), 'package')} failed"] if bad else ["failed"] if names else []
    said += [f"{count(good, 'package')} ok"] if good else []
    return CheckOutcome(not bad and not names, ", ".join(said), names or bad) if said else None


def _cargo(text: str) -> CheckOutcome | None:
    broken = _last(text, _PATTERNS.cargo_broken)
    return _counted(text, "cargo") or (CheckOutcome(False, broken[1]) if broken else None)


def _tally(found: dict[str, int], names: tuple[str, ...] = ()) -> CheckOutcome | None:
    told = Counter(found)
    said = _said(told["pass"], told["fail"], told["skip"] + told["pend"], names)
    return said if {"pass", "fail"} & found.keys() else None


def _node(text: str) -> CheckOutcome | None:
    """Mocha, node --test, bun test: a number and a word a line."""
    found = {match[2][:4]: int(match[1]) for one in (_PATTERNS.mocha, _PATTERNS.bun) for match in one.finditer(text)}
    found |= {match[1][:4]: int(match[2]) for match in _PATTERNS.tap.finditer(text)}
    return _tally(found, _names(text, _PATTERNS.node_name))


def _java(text: str) -> CheckOutcome | None:
    if (counted := _counted(text, "maven", "gradle")) or not (found := _last(text, _PATTERNS.build)):
        return counted
    return CheckOutcome(found[1].startswith("SUCC"), f"build {found[1].lower()}", _names(text, _PATTERNS.counted_name))


def _counts(text: str) -> CheckOutcome | None:
    """A line of nothing but counts: Playwright, and what is left of others by a filter."""
    rows = [row for one in _PATTERNS.count.finditer(text) for row in _PATTERNS.number.findall(one[0])]
    return _tally({word[:4]: int(number) for number, word in rows})


def _checks(text: str) -> CheckOutcome | None:
    """Type checkers and linters."""
    if found := _last(text, _PATTERNS.found):
        return CheckOutcome(False, f"{count(int(found[1]), 'error')} found")
    names = tuple(f"{found[1]} {found[2]}"[:160] for found in _PATTERNS.tsc.finditer(text))
    if names:
        return CheckOutcome(False, f"{count(len(names), 'error')} found", names)
    return CheckOutcome(True, "no errors found") if _last(text, _PATTERNS.clean) else None


def _hooks(text: str) -> CheckOutcome | None:
    """A line for each hook, with dots between its name and how it ended."""
    found = {match[1]: match[2] for match in _PATTERNS.hook.finditer(text)}
    names = tuple(name for name, end in found.items() if end == "Failed")
    said = f"{count(len(names), 'hook')} failed" if names else f"{count(len(found), 'hook')} passed"
    return CheckOutcome(not names, said, names) if found else None


def _make(text: str) -> CheckOutcome | None:
    found = _last(text, _PATTERNS.make)
    return CheckOutcome(False, f"make: {cut(found[3] or f'{found[1]}: {found[2]}', 120)}") if found else None


def _others(text: str) -> CheckOutcome | None:
    return _counted(text, "unittest", "rspec", "phpunit_ok", "phpunit", "ctest", "dotnet")


def _none(_: str) -> CheckOutcome | None:
    return CheckOutcome(None, "no tests ran")


_ALL = (_cargo, _others, _java, _go, _node, _checks, _counts, _hooks, _make, _none)
_READERS = {read.__name__[1:]: read for read in _ALL}


@cache
def _errors() -> list[re.Pattern[str]]:
    """The shapes of lines that say why something failed, the most telling first."""
    return [re.compile(pattern, re.M) for pattern in _PATTERNS.lines("errors")]


_OWN = 5  # of them only a test runner, a language or what it runs prints; the others may be of anything that is tested


def first_line(text: str, limit: int = 200) -> str:
    """How an output begins: tools that are no programs say first what is wrong."""
    return next((cut(one_line(line), limit) for line in plain(text[:MAX_LINE]).split("\n") if line.strip()), "")


@lru_cache(maxsize=256)  # a turn is summarised in its line and in its run
def error_line(text: str, limit: int = 200, *, own: bool = False) -> str:
    """The line of an output that says best why it failed; its last one if none does, or none if only runners' `own`."""
    told = plain(text)
    hints = map(str.strip, _PATTERNS.hint.findall(told))
    hinted = "\n".join(line for line in hints if not _PATTERNS.noise.search(line))
    for pattern in _errors()[: _OWN if own else None] if hinted else ():
        if found := _last(hinted, pattern):
            return cut(one_line(found["why"]), limit)
    if own:
        return ""
    lines = [line.strip() for line in told[-2000:].split("\n") if line.strip()]
    said = [line for line in lines if not _PATTERNS.noise.search(line)] or lines
    lead = next((line for line in reversed(said[-6:-1]) if line.endswith(":")), "")  # what the last line is an item of
    return cut(one_line(f"{lead} {said[-1]}"), limit) if said else ""
