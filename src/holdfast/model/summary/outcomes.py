"""How tests and checks ended, by what their runners print; and the line that says why a thing failed."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from holdfast.model.summary.wording import count, cut, one_line

MAX_LINES = 1500  # of one output
MAX_LINE = 2000
_ANSI = re.compile(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9])")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a runner said of itself."""

    passed: bool
    sentence: str
    names: tuple[str, ...] = ()  # of what failed
    runner: str = ""  # what spoke


def lines_of(text: str) -> list[str]:
    """An output's lines without colours, the end of a long one."""
    lines = [line for line in text.replace("\r", "\n").split("\n") if line and not line.isspace()]
    return [_ANSI.sub("", line[:MAX_LINE]).rstrip() for line in lines[-MAX_LINES:]]


def outcome(text: str) -> Outcome | None:
    """What a known runner said in an output; None if none spoke."""
    there = [one for one in _READERS if any(word in text for word in one[2])]
    lines = lines_of(text) if there else []
    for runner, read, _ in there:
        if (found := read(lines)) is not None:
            return replace(found, runner=runner)
    return None


def _last(lines: list[str], pattern: re.Pattern[str]) -> re.Match[str] | None:
    return next((found for line in reversed(lines) if (found := pattern.search(line))), None)


def _names(lines: list[str], pattern: re.Pattern[str]) -> tuple[str, ...]:
    found = (match[1].strip() for line in lines if (match := pattern.search(line)))
    return tuple(dict.fromkeys(cut(one_line(name), 160) for name in found))


def _total(lines: list[str], pattern: re.Pattern[str]) -> list[int] | None:
    """The sums of a pattern's numbers over all lines that have it."""
    rows = [
        [int(number or 0) for number in found.groups()] for line in lines if (found := pattern.search(line))
    ]
    return [sum(column) for column in zip(*rows, strict=True)] if rows else None


def _said(passed: int, failed: int, skipped: int = 0, names: tuple[str, ...] = ()) -> Outcome:
    parts = [f"{failed:,} failed"] if failed else []
    parts += [f"{passed:,} passed"] if passed or not failed else []
    parts += [f"{skipped:,} skipped"] if skipped else []
    return Outcome(not failed, ", ".join(parts), names)


_PYTEST = re.compile(
    r"^=*\s*((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)+"
    r"|no tests ran) in [\d.]+ ?s"
)
_PYTEST_NAME = re.compile(r"^(?:FAILED|ERROR) (\S+(?: - .*)?)")


def _pytest(lines: list[str]) -> Outcome | None:
    found = _last(lines, _PYTEST)
    if found is None:
        return None
    said = re.sub(r",? \d+ warnings?", "", found[1]).strip(", ")
    names = _names(lines, _PYTEST_NAME)
    return Outcome(not re.search(r"failed|error|no tests", said), said, names)


_UNITTEST = re.compile(r"^Ran (\d+) tests? in ")
_UNITTEST_END = re.compile(r"^(OK|FAILED)(?: \((.*)\))?$")
_UNITTEST_NAME = re.compile(r"^(?:FAIL|ERROR): (?:\w+ \((?=[\w.]+\)))?([\w.]+)")


def _unittest(lines: list[str]) -> Outcome | None:
    ran, end = _last(lines, _UNITTEST), _last(lines, _UNITTEST_END)
    if ran is None or end is None:
        return None
    counted = dict(re.findall(r"(\w+)=(\d+)", end[2] or ""))
    bad = sum(int(counted.get(name, 0)) for name in ("failures", "errors"))
    skipped = int(counted.get("skipped", 0))
    return _said(int(ran[1]) - bad - skipped, bad, skipped, _names(lines, _UNITTEST_NAME))


_GO_OK = re.compile(r"^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)")
_GO_FAIL = re.compile(r"^FAIL\s+(\S+)(?:\s+(?:[\d.]+s|\[.*\]))")
_GO_NAME = re.compile(r"^\s*--- FAIL: (\S+)")


def _go(lines: list[str]) -> Outcome | None:
    good = sum(1 for line in lines if _GO_OK.match(line))
    bad = _names(lines, _GO_FAIL)
    names = _names(lines, _GO_NAME)
    if not good and not bad and not names:
        return None
    said = [f"{count(len(bad), 'package')} failed"] if bad else ["failed"] if names else []
    said += [f"{count(good, 'package')} ok"] if good else []
    return Outcome(not bad and not names, ", ".join(said), names or bad)


_CARGO = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
_CARGO_NAME = re.compile(r"^test (.+?) \.\.\. FAILED")
_CARGO_BROKEN = re.compile(r"^error: (could not compile `[^`]+`.*|aborting due to .*)")


def _cargo(lines: list[str]) -> Outcome | None:
    if total := _total(lines, _CARGO):
        return _said(total[0], total[1], total[2], _names(lines, _CARGO_NAME))
    broken = _last(lines, _CARGO_BROKEN)
    return Outcome(False, broken[1], ()) if broken else None


_JEST = re.compile(
    r"^\s*Tests:?\s+((?:\d+ (?:failed|passed|skipped|todo|total)(?:,|\s*\||\s)*)+)(?:\(\d+\))?"
)
_JEST_NAME = re.compile(r"^\s*(?:●|×|FAIL)\s+(.+)$")
_MOCHA = re.compile(r"^\s*(\d+) (passing|failing|pending)\b")
_TAP = re.compile(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)")
_BUN = re.compile(r"^\s*(\d+) (pass|fail|skip)$")


def _jest(lines: list[str]) -> Outcome | None:
    found = _last(lines, _JEST)
    if found is None:
        return None
    parts = [part for part in re.findall(r"\d+ \w+", found[1]) if "total" not in part]
    return Outcome("failed" not in found[1], ", ".join(parts) or found[1].strip(), _names(lines, _JEST_NAME))


def _node(lines: list[str]) -> Outcome | None:
    """Mocha, node --test, bun test: a number and a word a line."""
    found: dict[str, int] = {}
    for line in lines:
        if match := _MOCHA.match(line) or _BUN.match(line):
            found[match[2][:4]] = int(match[1])
        elif match := _TAP.match(line):
            found[match[1][:4]] = int(match[2])
    if not {"pass", "fail"} & found.keys():
        return None
    names = _names(lines, re.compile(r"^(?:not ok \d+ - |✖ |\(fail\) )(.+)$"))
    return _said(
        found.get("pass", 0), found.get("fail", 0), found.get("skip", 0) + found.get("pend", 0), names
    )


_MAVEN = re.compile(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?!.*Time elapsed)")
_GRADLE = re.compile(r"^(\d+) tests? completed, (\d+) failed")
_BUILD = re.compile(r"\bBUILD (SUCCESS(?:FUL)?|FAIL(?:URE|ED))\b")
_JAVA_NAME = re.compile(r"^(?:\[ERROR\]\s+(\S+[.:]\S+:\d+.*)|(\S+ > .+) FAILED)$")


def _java(lines: list[str]) -> Outcome | None:
    names = tuple(
        dict.fromkeys(cut(found[1] or found[2], 160) for line in lines if (found := _JAVA_NAME.match(line)))
    )
    if found := _last(lines, _MAVEN):
        ran, failures, errors, skipped = (int(number) for number in found.groups())
        return _said(ran - failures - errors - skipped, failures + errors, skipped, names)
    if found := _last(lines, _GRADLE):
        return _said(int(found[1]) - int(found[2]), int(found[2]), names=names)
    if found := _last(lines, _BUILD):
        return Outcome(found[1].startswith("SUCC"), f"build {found[1].lower()}", names)
    return None


_RSPEC = re.compile(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?")
_RSPEC_NAME = re.compile(r"^rspec (\./\S+.*)$")
_PHPUNIT_OK = re.compile(r"^OK \((\d+) tests?, \d+ assertions?\)")
_PHPUNIT = re.compile(r"^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?")
_PHPUNIT_NAME = re.compile(r"^\d+\) (\S+::\S+)")
_CTEST = re.compile(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)")
_CTEST_NAME = re.compile(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)")
_DOTNET = re.compile(r"^\s*(?:Passed|Failed)!\s+- Failed:\s+(\d+), Passed:\s+(\d+), Skipped:\s+(\d+)")


def _others(lines: list[str]) -> Outcome | None:
    """RSpec, PHPUnit, CTest, dotnet test."""
    if found := _last(lines, _RSPEC):
        ran, failed, pending = int(found[1]), int(found[2]), int(found[3] or 0)
        return _said(ran - failed - pending, failed, pending, _names(lines, _RSPEC_NAME))
    if found := _last(lines, _PHPUNIT_OK):
        return _said(int(found[1]), 0)
    if found := _last(lines, _PHPUNIT):
        bad = int(found[2] or 0) + int(found[3] or 0)
        return _said(int(found[1]) - bad, bad, names=_names(lines, _PHPUNIT_NAME))
    if found := _last(lines, _CTEST):
        return _said(int(found[2]) - int(found[1]), int(found[1]), names=_names(lines, _CTEST_NAME))
    if total := _total(lines, _DOTNET):
        return _said(total[1], total[0], total[2])
    return None


_CLEAN = re.compile(r"^(Success: no issues found.*|All checks passed!|0 errors, 0 warnings.*)$")
_FOUND = re.compile(r"^(?:Found (\d+) errors?\b.*|✖ (\d+) problems? .*)$")
_TSC = re.compile(r"^(\S+\(\d+,\d+\)|\S+:\d+:\d+ -) ?:? ?error (TS\d+.*)$")


def _checks(lines: list[str]) -> Outcome | None:
    """Type checkers and linters."""
    if found := _last(lines, _FOUND):
        return Outcome(False, f"{count(int(found[1] or found[2]), 'error')} found")
    names = tuple(f"{found[1]} {found[2]}"[:160] for line in lines if (found := _TSC.match(line)))
    if names:
        return Outcome(False, f"{count(len(names), 'error')} found", names)
    return Outcome(True, "no errors found") if _last(lines, _CLEAN) else None


_MAKE = re.compile(r"^make(?:\[\d+\])?: \*\*\* (?:\[(?:[^\]]*?: )?([^\]]+)\] (Error \d+.*)|(.+))$")


def _make(lines: list[str]) -> Outcome | None:
    found = _last(lines, _MAKE)
    if found is None:
        return None
    return Outcome(False, f"make: {found[1]}: {found[2]}" if found[1] else f"make: {cut(found[3], 120)}")


_Reader = Callable[[list[str]], Outcome | None]
# Each with words without which it has said nothing.
_READERS: tuple[tuple[str, _Reader, tuple[str, ...]], ...] = (
    ("pytest", _pytest, (" in ",)),
    ("cargo", _cargo, ("test result:", "error: could not compile", "error: aborting")),
    ("jest", _jest, ("Tests",)),
    ("unittest", _unittest, ("Ran ",)),
    ("java", _java, ("Tests run:", "completed,", "BUILD ")),
    ("others", _others, (" example", "OK (", "Tests: ", "% tests passed", "Failed:")),
    ("go", _go, ("ok", "FAIL")),
    ("node", _node, ("pass", "fail")),
    ("checks", _checks, ("no issues found", "checks passed", " errors", "Found ", " problem", "error TS")),
    ("make", _make, ("***",)),
)

# The most telling first; of each the last line that has it.
_ERRORS = tuple(
    re.compile(pattern)
    for pattern in (
        r"^E\s{2,}(?P<why>\S.*)$",
        r"^(?P<why>\S+_test\.go:\d+: .+)$",
        r"^(?P<why>(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?::.*)?)$",
        r"^(?:thread '.*' )?(?P<why>panick?(?:ed at|:).*)$",
        r"^(?P<why>(?:\S+:\d+(?::\d+)?:? )?(?:fatal )?error(?:\[\w+\])?:.*)$",
        r"^(?P<why>(?:fatal|FATAL|ERROR|Error|ERR!|npm ERR!|npm error)\b[:\s].*)$",
        r"^(?P<why>.*(?:No such file or directory|[Pp]ermission denied|[Cc]onnection refused|not found).*)$",
        r"^(?P<why>.*(?:cannot|[Tt]imed? ?out|undefined reference).*)$",
        r"^(?P<why>.*\b(?:[Ee]rror|ERROR|FAIL(?:ED)?|[Ff]ailed)\b.*)$",
    )
)
_NOISE = re.compile(
    r"A complete log of this run|^npm (?:ERR!|error)\s*(?:code|path|$)|^make(?:\[\d+\])?:|ERROR task failed$"
    r"|exit(?:ed with)? (?:code|status) \d+\.?$"
)


def first_line(text: str, limit: int = 200) -> str:
    """How an output begins: tools that are no programs say first what is wrong."""
    return next((cut(one_line(line), limit) for line in lines_of(text[:MAX_LINE]) if line.strip()), "")


def error_line(text: str, limit: int = 200) -> str:
    """The line of an output that says best why it failed; its last one if none does."""
    lines = [line.strip() for line in lines_of(text)]
    lines = [line for line in lines if line and not _NOISE.search(line)]
    for pattern in _ERRORS:
        if found := _last(lines, pattern):
            return cut(one_line(found["why"]), limit)
    return cut(one_line(lines[-1]), limit) if lines else ""
