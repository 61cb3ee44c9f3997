"""Commands as people would retell them: what was run, whether it matters, whether it tests something."""

import re
from functools import lru_cache

from holdfast.model.summary.wording import cut, one_line
from holdfast.patterns import regex

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
