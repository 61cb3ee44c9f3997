"""Commands and their results: what ran, whether it matters, whether it is a test, and how it ended.

How a test or check ended is read from what its runner prints, and so is the line that says why something failed.
"""

import re
from collections.abc import Callable
from functools import lru_cache

from holdfast.model.summary.wording import count, cut, one_line
from holdfast.patterns import regex
from holdfast.values import frozen, replace

MAX_COMMAND = 4000  # characters that are looked at
_SHOWN, _TAILS = 140, 4
_SHELL = regex(r"""^(?:/\S*/)?(?:ba|z|da)?sh\s+-l?i?c\s+(['"])(?P<inner>.*)\1\s*$""", re.S)
_CD = regex(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*")
_TAIL = regex(r"\s*(?:2>&1|[12]?>\s*/dev/null|\|\s*(?:tail|head|cat|less|more|tee)\b[^|&;]*)\s*$")
_QUOTED = regex(r"'[^'\n]*'|\"(?:\\.|[^\"\\])*\"")
_SIGNS = regex(r"[;&|<>\n]")
_PARTS = regex(r"&&|\|\||[;\n|]")
_ASSIGNED = regex(
    r"^\s*(?:\w+=(?:\"[^\"]*\"|'[^']*'|\S*)\s+|(?:sudo|time|env|command|nohup|exec|then|do|if|!|\()\s+"
    r"|timeout\s+(?:-\S+\s+)*\S+\s+|(?:uv|poetry|pipenv|pdm|hatch) run\s+"
    r"|(?:python[\d.]*|\S*/python[\d.]*) -m\s+|npx\s+(?:-\S+\s+)*|(?:pnpm|yarn|bun|bundle) exec\s+)"
)
_HEREDOC = regex(r"<<-?\s*['\"]?(\w+)['\"]?")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Looking around changes nothing that somebody who goes on must know.
_LOOKING = _set(
    "ls ll cat bat head tail less more sed awk grep egrep fgrep rg ag find fd tree pwd cd wc echo "
    "printf which whereis type file stat du df env printenv id whoami date uname hostname nl sort uniq "
    "cut tr xargs jq yq true false test [ diff cmp basename dirname realpath readlink ps top jobs sleep "
    "wait history man help strings xxd hexdump od column tee set export read for while done fi esac "
    "else until case let ls-files apply_patch get-content get-childitem select-string write-host dir "
    "gci gc pgrep lsof ss netstat : }"
)
_GIT_LOOKING = _set(
    "status log diff show branch blame grep ls-files ls-tree rev-parse rev-list remote describe reflog add "
    "config cat-file shortlog name-rev merge-base for-each-ref --version version help worktree fetch"
)
_GIT = regex(r"^\S*git(?:\s+-[Cc]\s+\S+|\s+--?[\w-]+(?:=\S+)?)*\s+([a-z][\w-]*)")
_GH_LOOKING = regex(r"^\S+ (?:api\b|auth status|\w+ (?:view|list|diff|status|checks)\b)")
_GH_WRITES = regex(r" (?:-[fFX]|--method|--field|--raw-field|--input)\b")
_ASSIGNS = regex(r"^\w+=")
_SED_WRITES = regex(r"\bsed\b[^|;&]*\s-[a-zA-Z]*i")
_WRITES = regex(r"(?<![0-9&>])>>?\s*(?!&|/dev/null)[\w./~$\"'-]")
_ANSWERS_BY_CODE = _set("grep egrep fgrep rg ag diff cmp test [ which pgrep find git ls type")

_TESTS = regex(
    r"^(?:pytest|py\.test|unittest|nosetests|tox|nox|go test|cargo (?:test|nextest)|jest|vitest|mocha|ava"
    r"|karma|(?:npm|pnpm|yarn|bun|deno)(?: run)? (?:t|test\S*|e2e\S*|check|lint|typecheck)\b|node --test"
    r"|playwright test|(?:mvnw?|gradlew?)\b.*\b(?:test|verify|check|build)\b|rspec|rails test"
    r"|rake (?:test|spec)|phpunit|\S*/phpunit|ctest|dotnet test|swift test|mix test"
    r"|make\s.*\b(?:test|check|ci|lint)\S*"
    r"|(?:just|task|mise run|nx|turbo(?: run)?|bazel)\s+\S*(?:test|lint)\S*"
    r"|ruff (?:check|format --check)|mypy|pyright|flake8|eslint|tsc|golangci-lint|go vet"
    r"|cargo (?:clippy|check)|pre-commit run|manage\.py test|coverage run)\b"
)


def inner(command: str) -> str:
    """A command without the shell that was asked to run it."""
    text = command[:MAX_COMMAND].strip()
    found = _SHELL.match(text)
    return found["inner"] if found else text


@lru_cache(maxsize=512)  # the same few are run again and again
def shown(command: str) -> str:
    """A command on one short line, without the folder it went to and the pager it ended in."""
    text = inner(command)
    while found := _CD.match(text):
        text = text[found.end() :]
    for _ in range(_TAILS):
        text = _TAIL.sub("", text)
    first = text.strip()
    if found := _HEREDOC.search(first):
        line_end = first.find("\n", found.end())
        first = (first if line_end < 0 else first[:line_end]) + " …"
    return cut(one_line(first), _SHOWN)


def parts(command: str) -> list[str]:
    """The simple commands of a command line, without variables and wrappers in front; about right."""
    text = inner(command)
    if found := _HEREDOC.search(text):
        line_end = text.find("\n", found.end())
        text = text if line_end < 0 else text[:line_end]
    text = _unsigned(text)
    found_parts = []
    for part in _PARTS.split(text):
        part = part.strip()
        while found := _ASSIGNED.match(part):
            part = part[found.end() :]
        if part:
            found_parts.append(one_line(part))
    return found_parts


@lru_cache(maxsize=512)  # the same few are run again and again
def matters(command: str) -> bool:
    """Whether a command did more than look around."""
    text = _unsigned(inner(command))
    if _SED_WRITES.search(text) or _WRITES.search(text):
        return True
    return any(not _looks(part) for part in parts(command))


@lru_cache(maxsize=512)  # the same few are run again and again
def tests(command: str) -> str | None:
    """The part of a command line that tests or checks something; None if none does."""
    return next((part for part in parts(command) if _TESTS.match(_short_head(part))), None)


def answers_by_code(command: str) -> bool:
    """Whether exit code 1 is such a command's way to say no."""
    heads = [_head(part) for part in parts(command)]
    return bool(heads) and all(head in _LOOKING or head in _ANSWERS_BY_CODE for head in heads)


def family(test: str) -> str:
    """What runs a test, whatever it was pointed at."""
    words = _short_head(test).split()
    plain = [word for word in words[:3] if not word.startswith("-") and not _points(word)]
    return " ".join(plain[:2])


def is_whole(test: str) -> bool:
    """Whether a test command was pointed at nothing in particular."""
    words = _short_head(test).split()[1:]
    return not any(_points(word) or word in ("-k", "-run", "--run", "-t", "--testNamePattern") for word in words)


def _unsigned(text: str) -> str:
    """A command line whose quoted words hold no sign that would part it."""
    return _QUOTED.sub(lambda quoted: _SIGNS.sub(" ", quoted[0]), text)


def _points(word: str) -> bool:
    return word not in (".", "./...", "./") and (
        "/" in word or "::" in word or re.search(r"\.\w{1,4}$", word) is not None
    )


def _looks(part: str) -> bool:
    head = _head(part)
    if head == "git":
        found = _GIT.match(part)
        return found is None or found[1] in _GIT_LOOKING
    if head in ("gh", "glab"):
        return _GH_LOOKING.match(part) is not None and not _GH_WRITES.search(part)
    return head in _LOOKING or _ASSIGNS.match(part) is not None


def _head(part: str) -> str:
    words = part.split(maxsplit=1)
    return words[0].rsplit("/", 1)[-1].strip("({\"'").casefold() if words else ""


def _short_head(part: str) -> str:
    """The command with its program's bare name."""
    words = part.split(maxsplit=1)
    if not words:
        return ""
    name = (
        words[0].rsplit("/", 1)[-1]
        if words[0].startswith(("/", "./", "../", "node_modules", ".venv", "venv"))
        else words[0]
    )
    return " ".join((name, *words[1:]))


MAX_TEXT = 8_000  # characters of one output, its end
MAX_LINE = 2000
_ANSI = regex(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9])")
# What a tool puts around the output of a command, and its word before the first line of it.
_FRAME = regex(
    r"^Output: |^(?:Error: \(none\)|Stderr: \(empty\)|Exit Code: -?\d+|Signal: \S+|Background PIDs: .*"
    r"|Process Group PGID: \d+)(?:\n|\Z)",
    re.M,
)


@frozen
class CheckOutcome:
    """What a runner said of itself."""

    passed: bool
    sentence: str
    names: tuple[str, ...] = ()  # of what failed
    runner: str = ""  # what spoke


def plain(text: str) -> str:
    """The end of an output, without colours; a long line is cut."""
    text = _ANSI.sub("", text[-MAX_TEXT:]) if "\x1b" in text else text[-MAX_TEXT:]
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    text = _FRAME.sub("", text)
    lines = text.split("\n")
    return "\n".join(line[:MAX_LINE] for line in lines) if max(map(len, lines)) > MAX_LINE else text


@lru_cache(maxsize=256)  # a turn is summarised in its line and in its run
def outcome(text: str) -> CheckOutcome | None:
    """What a known runner said in an output; None if none spoke."""
    text = plain(text) if "\x1b" in text else text[-MAX_TEXT:]  # colours part words
    there = [one for one in _READERS if any(word in text for word in one[2])]
    told = plain(text) if there else ""
    for runner, read, _ in there:
        if (found := read(told)) is not None:
            return replace(found, runner=runner)
    return None


def is_total(line: str) -> bool:
    """Whether a line only counts what passed and failed: it says how a run ended, not why."""
    return outcome(line) is not None or _UNITTEST_END.match(line) is not None


def _last(text: str, pattern: re.Pattern[str]) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return found


def _names(text: str, pattern: re.Pattern[str]) -> tuple[str, ...]:
    found = (next(filter(None, match.groups())) for match in pattern.finditer(text))
    return tuple(dict.fromkeys(cut(one_line(name), 160) for name in found))


def _total(text: str, pattern: re.Pattern[str]) -> list[int] | None:
    """The sums of a pattern's numbers over all lines that have it."""
    rows = [[int(number or 0) for number in found.groups()] for found in pattern.finditer(text)]
    return [sum(column) for column in zip(*rows, strict=True)] if rows else None


def _said(passed: int, failed: int, skipped: int = 0, names: tuple[str, ...] = ()) -> CheckOutcome:
    parts = [f"{failed:,} failed"] if failed else []
    parts += [f"{passed:,} passed"] if passed or not failed else []
    parts += [f"{skipped:,} skipped"] if skipped else []
    return CheckOutcome(not failed, ", ".join(parts), names)


_PYTEST = regex(
    r"^=*[ \t]*((?:\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed|warnings?|rerun)(?:, )?)+"
    r"|no tests ran) in [\d.]+ ?s",
    re.M,
)
_PYTEST_NAME = regex(r"^(?:FAILED|ERROR) (\S+(?: - .*)?)", re.M)


def _pytest(text: str) -> CheckOutcome | None:
    found = _last(text, _PYTEST)
    if found is None:
        return None
    said = re.sub(r",? \d+ warnings?", "", found[1]).strip(", ")
    names = _names(text, _PYTEST_NAME)
    return CheckOutcome(not re.search(r"failed|error|no tests", said), said, names)


_UNITTEST = regex(r"^Ran (\d+) tests? in ", re.M)
_UNITTEST_END = regex(r"^(OK|FAILED)(?: \((.*)\))?$", re.M)
_UNITTEST_NAME = regex(r"^(?:FAIL|ERROR): (?:\w+ \((?=[\w.]+\)))?([\w.]+)", re.M)


def _unittest(text: str) -> CheckOutcome | None:
    ran, end = _last(text, _UNITTEST), _last(text, _UNITTEST_END)
    if ran is None or end is None:
        return None
    counted = dict(re.findall(r"(\w+)=(\d+)", end[2] or ""))
    bad = sum(int(counted.get(name, 0)) for name in ("failures", "errors"))
    skipped = int(counted.get("skipped", 0))
    return _said(int(ran[1]) - bad - skipped, bad, skipped, _names(text, _UNITTEST_NAME))


_GO_OK = regex(r"^ok[ \t]+\S+[ \t]+(?:\(cached\)|[\d.]+s)", re.M)
_GO_FAIL = regex(r"^FAIL[ \t]+(\S+)(?:[ \t]+(?:[\d.]+s|\[.*\]))", re.M)
_GO_NAME = regex(r"^[ \t]*--- FAIL: (\S+)", re.M)


def _go(text: str) -> CheckOutcome | None:
    good = len(_GO_OK.findall(text))
    bad = _names(text, _GO_FAIL)
    names = _names(text, _GO_NAME)
    if not good and not bad and not names:
        return None
    said = [f"{count(len(bad), 'package')} failed"] if bad else ["failed"] if names else []
    said += [f"{count(good, 'package')} ok"] if good else []
    return CheckOutcome(not bad and not names, ", ".join(said), names or bad)


_CARGO = regex(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored", re.M)
_CARGO_NAME = regex(r"^test (.+?) \.\.\. FAILED", re.M)
_CARGO_BROKEN = regex(r"^error: (could not compile `[^`\n]+`.*|aborting due to .*)", re.M)


def _cargo(text: str) -> CheckOutcome | None:
    if total := _total(text, _CARGO):
        return _said(total[0], total[1], total[2], _names(text, _CARGO_NAME))
    broken = _last(text, _CARGO_BROKEN)
    return CheckOutcome(False, broken[1], ()) if broken else None


_JEST = regex(
    r"^[ \t]*Tests:?[ \t]+((?:\d+ (?:failed|passed|skipped|todo|total)(?:,|[ \t]*\||[ \t])*)+)(?:\(\d+\))?", re.M
)
_JEST_NAME = regex(r"^[ \t]*(?:●|×|FAIL)[ \t]+(.+)$", re.M)
_MOCHA = regex(r"^[ \t]*(\d+) (passing|failing|pending)\b", re.M)
_TAP = regex(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)", re.M)
_BUN = regex(r"^[ \t]*(\d+) (pass|fail|skip)$", re.M)


def _jest(text: str) -> CheckOutcome | None:
    found = _last(text, _JEST)
    if found is None:
        return None
    parts = [part for part in re.findall(r"\d+ \w+", found[1]) if "total" not in part]
    return CheckOutcome("failed" not in found[1], ", ".join(parts) or found[1].strip(), _names(text, _JEST_NAME))


def _node(text: str) -> CheckOutcome | None:
    """Mocha, node --test, bun test: a number and a word a line."""
    found = {match[2][:4]: int(match[1]) for one in (_MOCHA, _BUN) for match in one.finditer(text)}
    found |= {match[1][:4]: int(match[2]) for match in _TAP.finditer(text)}
    if not {"pass", "fail"} & found.keys():
        return None
    names = _names(text, re.compile(r"^(?:not ok \d+ - |✖ |\(fail\) )(.+)$", re.M))
    return _said(found.get("pass", 0), found.get("fail", 0), found.get("skip", 0) + found.get("pend", 0), names)


_MAVEN = regex(r"Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)(?!.*Time elapsed)", re.M)
_GRADLE = regex(r"^(\d+) tests? completed, (\d+) failed", re.M)
_BUILD = regex(r"\bBUILD (SUCCESS(?:FUL)?|FAIL(?:URE|ED))\b", re.M)
_JAVA_NAME = regex(r"^(?:\[ERROR\][ \t]+(\S+[.:]\S+:\d+.*)|(\S+ > .+) FAILED)$", re.M)


def _java(text: str) -> CheckOutcome | None:
    names = _names(text, _JAVA_NAME)
    if found := _last(text, _MAVEN):
        ran, failures, errors, skipped = (int(number) for number in found.groups())
        return _said(ran - failures - errors - skipped, failures + errors, skipped, names)
    if found := _last(text, _GRADLE):
        return _said(int(found[1]) - int(found[2]), int(found[2]), names=names)
    if found := _last(text, _BUILD):
        return CheckOutcome(found[1].startswith("SUCC"), f"build {found[1].lower()}", names)
    return None


_RSPEC = regex(r"^(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?", re.M)
_RSPEC_NAME = regex(r"^rspec (\./\S+.*)$", re.M)
_PHPUNIT_OK = regex(r"^OK \((\d+) tests?, \d+ assertions?\)", re.M)
_PHPUNIT = regex(r"^Tests: (\d+), Assertions: \d+(?:, Errors: (\d+))?(?:, Failures: (\d+))?", re.M)
_PHPUNIT_NAME = regex(r"^\d+\) (\S+::\S+)", re.M)
_CTEST = regex(r"^\d+% tests passed, (\d+) tests? failed out of (\d+)", re.M)
_CTEST_NAME = regex(r"^[ \t]*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Not Run)\)", re.M)
_DOTNET = regex(r"^[ \t]*(?:Passed|Failed)![ \t]+- Failed:[ \t]+(\d+), Passed:[ \t]+(\d+), Skipped:[ \t]+(\d+)", re.M)


def _others(text: str) -> CheckOutcome | None:
    """RSpec, PHPUnit, CTest, dotnet test."""
    if found := _last(text, _RSPEC):
        ran, failed, pending = int(found[1]), int(found[2]), int(found[3] or 0)
        return _said(ran - failed - pending, failed, pending, _names(text, _RSPEC_NAME))
    if found := _last(text, _PHPUNIT_OK):
        return _said(int(found[1]), 0)
    if found := _last(text, _PHPUNIT):
        bad = int(found[2] or 0) + int(found[3] or 0)
        return _said(int(found[1]) - bad, bad, names=_names(text, _PHPUNIT_NAME))
    if found := _last(text, _CTEST):
        return _said(int(found[2]) - int(found[1]), int(found[1]), names=_names(text, _CTEST_NAME))
    if total := _total(text, _DOTNET):
        return _said(total[1], total[0], total[2])
    return None


_COUNT = regex(r"^[ \t]*(?:\d+ (?:passed|failed|skipped)(?:, |(?=[ \t]|$)))+(?:[ \t]*\([\d.ms ]+\))?$", re.M)
_NUMBER = regex(r"(\d+) (passed|failed|skipped)")


def _counts(text: str) -> CheckOutcome | None:
    """A line of nothing but counts: Playwright, and what is left of others by a filter."""
    found = {word: int(number) for one in _COUNT.finditer(text) for number, word in _NUMBER.findall(one[0])}
    if not {"passed", "failed"} & found.keys():
        return None
    return _said(found.get("passed", 0), found.get("failed", 0), found.get("skipped", 0))


_CLEAN = regex(r"^(Success: no issues found.*|All checks passed!|0 errors, 0 warnings.*)$", re.M)
_FOUND = regex(r"^(?:Found (\d+) errors?\b.*|✖ (\d+) problems? .*)$", re.M)
_TSC = regex(r"^(\S+\(\d+,\d+\)|\S+:\d+:\d+ -) ?:? ?error (TS\d+.*)$", re.M)


def _checks(text: str) -> CheckOutcome | None:
    """Type checkers and linters."""
    if found := _last(text, _FOUND):
        return CheckOutcome(False, f"{count(int(found[1] or found[2]), 'error')} found")
    names = tuple(f"{found[1]} {found[2]}"[:160] for found in _TSC.finditer(text))
    if names:
        return CheckOutcome(False, f"{count(len(names), 'error')} found", names)
    return CheckOutcome(True, "no errors found") if _last(text, _CLEAN) else None


_MAKE = regex(r"^make(?:\[\d+\])?: \*\*\* (?:\[(?:[^\]\n]*?: )?([^\]\n]+)\] (Error \d+.*)|(.+))$", re.M)


def _make(text: str) -> CheckOutcome | None:
    found = _last(text, _MAKE)
    if found is None:
        return None
    return CheckOutcome(False, f"make: {found[1]}: {found[2]}" if found[1] else f"make: {cut(found[3], 120)}")


_Reader = Callable[[str], CheckOutcome | None]
# Each with words without which it has said nothing.
_READERS: tuple[tuple[str, _Reader, tuple[str, ...]], ...] = (
    ("pytest", _pytest, ("ed in ", "error in ", "errors in ", "warning in ", "warnings in ", "no tests ran")),
    ("cargo", _cargo, ("test result:", "error: could not compile", "error: aborting")),
    ("jest", _jest, ("Tests",)),
    ("unittest", _unittest, ("Ran ",)),
    ("java", _java, ("Tests run:", "completed,", "BUILD ")),
    ("others", _others, (" example", "OK (", "Tests: ", "% tests passed", "Failed:")),
    ("go", _go, ("ok  ", "ok\t", "--- FAIL:", "FAIL\t")),
    ("node", _node, (" passing", " failing", "# pass", "ℹ pass", " pass\n", " fail\n")),
    ("checks", _checks, ("no issues found", "checks passed", " errors", "Found ", " problem", "error TS")),
    ("counts", _counts, (" passed", " failed")),
    ("make", _make, ("***",)),
)

# The most telling first; of each the last line that has it.
_ERRORS = tuple(
    regex(pattern, re.M)
    for pattern in (
        r"^E[ \t]{2,}(?P<why>\S.*)$",
        r"^(?P<why>\S+_test\.go:\d+: .+)$",
        r"^(?P<why>(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning)(?::.*)?)$",
        r"^(?:thread '.*' )?(?P<why>panick?(?:ed at|:).*)$",
        r"^(?P<why>(?:\S+:\d+(?::\d+)?:? )?(?:fatal )?error(?:\[\w+\])?:.*)$",
        r"^(?P<why>(?:fatal|FATAL|ERROR|Error|ERR!|npm ERR!|npm error)\b[: \t].*)$",
        r"^(?P<why>.*(?:No such file or directory|[Pp]ermission denied|[Cc]onnection refused|not found).*)$",
        r"^(?P<why>.*(?:cannot|[Tt]imed? ?out|undefined reference).*)$",
        r"^(?P<why>.*\b(?:[Ee]rror|ERROR|FAIL(?:ED)?|[Ff]ailed)\b.*)$",
    )
)
_HINT = regex(
    r"^.*(?:rror|ERR|xception|Interrupt|Exit|Warning|panic|fatal|FATAL|not found|No such|ermission|efused"
    r"|cannot|imed? ?out|undefined ref|FAIL|ailed|_test\.go:|^E  ).*$",
    re.M,
)
_NOISE = regex(
    r"A complete log of this run|^npm (?:ERR!|error)[ \t]*(?:code|path|$)|^make(?:\[\d+\])?:"
    r"|ERROR task failed$|exit(?:ed with)? (?:code|status) \d+\.?$",
    re.M,
)


def first_line(text: str, limit: int = 200) -> str:
    """How an output begins: tools that are no programs say first what is wrong."""
    return next((cut(one_line(line), limit) for line in plain(text[:MAX_LINE]).split("\n") if line.strip()), "")


@lru_cache(maxsize=256)  # a turn is summarised in its line and in its run
def error_line(text: str, limit: int = 200) -> str:
    """The line of an output that says best why it failed; its last one if none does."""
    told = plain(text)
    hinted = "\n".join(line.strip() for line in _HINT.findall(told) if not _NOISE.search(line.strip()))
    for pattern in _ERRORS if hinted else ():
        if found := _last(hinted, pattern):
            return cut(one_line(found["why"]), limit)
    lines = [line.strip() for line in told[-2000:].split("\n") if line.strip()]
    said = [line for line in lines if not _NOISE.search(line)] or lines
    return cut(one_line(said[-1]), limit) if said else ""
