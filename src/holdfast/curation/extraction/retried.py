"""Commands that had to be retried until they worked: what works here, and what does not.

Only a change of *how* counts: another program for the same work, a wrapper, a variable, an option. The same
line that failed and later worked tells of the files between, a line with another target of other work.
"""

import shlex
from collections.abc import Iterator, Sequence

from holdfast.model.said import MAX_STATEMENT, Found, Tried
from holdfast.model.text import has_hidden
from holdfast.patterns import regex
from holdfast.values import frozen

RULE = "retried command"
_NEAR = 8  # commands: a success further on has other reasons
_MAX_COMMAND = 120
_CD = regex(r"^\s*cd\s+(?:\"[^\"]*\"|'[^']*'|[^\s;&|]+)\s*(?:&&|;)\s*")
_NOISE = regex(r"\s+2>&1\s*$|\s+2>\s*/dev/null\s*$|\s+>\s*/dev/null\s*$")
_COMPOUND = regex(r"[;&|<>\n`]|\$\(")
_VARIABLE = regex(r"^[A-Za-z_]\w*=")
_WRAPPERS = frozenset((
        "sudo", "doas", "env", "time", "nice", "npx", "pnpx", "bunx", "uv", "uvx", "poetry",
        "pipenv", "hatch", "pdm", "rye", "run", "exec", "dlx", "bundle", "python", "python3", "py",
        "-m", "--", "mise", "direnv", "nix-shell", "xvfb-run", "dotenv", "corepack", "tox",
))  # fmt: skip
_PROGRAMS = (  # other names of the same work
    {"python", "python3", "py"}, {"pip", "pip3"}, {"npm", "pnpm", "yarn", "bun"}, {"make", "gmake"},
    {"docker", "podman"}, {"node", "nodejs"}, {"gradle", "./gradlew"}, {"mvn", "./mvnw"},
)  # fmt: skip
_QUIET = regex(  # how much is said or which part is run, not how
    r"^(?:-[qvsxlrhn]+|-vv+|--?(?:quiet|verbose|tb|color|colour|no-header|maxfail|durations|help|version"
    r"|run|k|t|filter|grep|count|lf|ff"
    r"|last-failed|bail|silent|reporter|no-color|short|stat|oneline|name-only|fix|write|amend"
    r"|no-edit)(?:=.*)?|-k|-t|-n\d+|-\d+)$"
)
# They fail when there is nothing to see, and look at another thing the next time.
_LOOKS = frozenset((
        "ls", "cat", "head", "tail", "grep", "rg", "find", "echo", "cd", "pwd", "which", "test",
        "[", "sed", "awk", "wc", "sleep", "kill", "git", "gh", "curl", "wget", "rm", "cp", "mv",
        "mkdir", "diff", "stat", "file", "type",
))  # fmt: skip


@frozen
class _Line:
    """A command as typed, its variables, its wrappers, and what it works on."""

    shown: str
    variables: tuple[str, ...]
    wrappers: tuple[str, ...]
    program: str
    options: frozenset[str]
    targets: tuple[str, ...]
    tried: Tried


def retried(tried: Sequence[Tried]) -> Iterator[Found]:
    """For each command that worked after its like had failed, the fact that says so."""
    lines = [line for one in tried if (line := _line(one))]
    worked = {line.shown for line in lines if line.tried.exit_status == 0}
    told: set[str] = set()
    for place, line in enumerate(lines):
        if line.tried.exit_status != 0 or line.shown in told:
            continue
        failed = [
            one for one in lines[max(0, place - _NEAR) : place] if one.shown not in worked and _is_like(one, line)
        ]
        if failed and (found := _found(line, failed[-1])):
            told.add(line.shown)
            yield found


def _found(line: _Line, failed: _Line) -> Found | None:
    statement = f"`{line.shown}` works here; `{failed.shown}` fails (exit {failed.tried.exit_status})"
    if len(statement) > MAX_STATEMENT or has_hidden(statement):
        return None
    sure = 0.7 if failed.tried.exit_status in (126, 127) else 0.6
    return Found("fact", statement, "", line.shown, line.tried.turn, "agent", RULE, sure)


def _line(tried: Tried) -> _Line | None:
    """The parts of a simple command; None for a compound one, whose exit status tells too little."""
    shown = _CD.sub("", tried.command).strip()
    bare = _NOISE.sub("", shown)
    if not bare or len(shown) > _MAX_COMMAND or _COMPOUND.search(bare) or tried.exit_status is None:
        return None
    try:
        words = shlex.split(bare)
    except ValueError:
        return None
    return _parsed(bare, words, tried)


def _parsed(shown: str, words: list[str], tried: Tried) -> _Line | None:
    start = next((n for n, word in enumerate(words) if not _VARIABLE.match(word)), len(words))
    variables, words = tuple(words[:start]), words[start:]
    head = next((n for n, word in enumerate(words[:-1]) if word not in _WRAPPERS), len(words) - 1)
    if not words or words[head].rsplit("/", 1)[-1] in _LOOKS | {"holdfast"}:
        return None
    rest = words[head + 1 :]
    options = frozenset(word for word in rest if word.startswith("-") and not _QUIET.match(word))
    targets = tuple(word for word in rest if not word.startswith("-"))
    return _Line(shown, variables, tuple(words[:head]), words[head], options, targets, tried)


def _is_like(failed: _Line, worked: _Line) -> bool:
    """Whether both do the same work in different ways."""
    if failed.tried.exit_status in (0, None) or failed.targets != worked.targets:
        return False
    if failed.program != worked.program:
        same = any({failed.program, worked.program} <= names for names in _PROGRAMS)
        return same or failed.program.rsplit("/", 1)[-1] == worked.program.rsplit("/", 1)[-1]
    ways = (failed.variables, failed.wrappers, failed.options) != (worked.variables, worked.wrappers, worked.options)
    return ways and not (_sweeps(failed) and failed.options - worked.options)


def _sweeps(line: _Line) -> bool:
    """Whether the line selected what to do: leaving options out may simply leave the failing part out."""
    return bool(line.options) and line.tried.exit_status == 1
