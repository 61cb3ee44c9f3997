"""True statements about the symbols of a code base: each is about another function or constant, so none contradicts.

    python -m bench.symbol_statements PATH   # a work tree or a bare repository

What is said is read off the source by patterns that fit most languages: how many parameters a function has and what
they default to, how long it is, whether it raises, where it stands, what its comment says, what a constant is. The
statements are alike but for their names and values: a judge that takes a code name for a value refuses them.
"""

import random
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import cycle

from holdfast.model.claims import SimilarStatements, Statement, conflict

ENDINGS = (".py", ".go", ".rs", ".js", ".ts", ".c", ".java", ".rb")
LEAST, MOST = 200, 400  # statements of one code base
_FUNCTION = re.compile(
    r"^[ \t]*(?:export |pub(?:\(\w+\))? |static |async |public |private )*(?:def|func(?: \([^)]{1,60}\))?|fn|function)"
    r" (?P<name>\w{3,40})(?:<[^>]{1,80}>)?\((?P<given>[^)]{0,300})\)(?P<after>[^\n]{0,120})",
    re.MULTILINE,
)
_CONSTANT = re.compile(
    r"^(?:export |pub |static |const |var |let |#define )*(?P<name>[A-Z][A-Z0-9_]{3,40})(?:: ?[\w&' ]+)? ?=? ?"
    r"(?P<value>[0-9][0-9_.]*|\"[\w ./:-]{1,40}\"|true|false|True|False|None|null)",
    re.MULTILINE,
)
_DEFAULT = re.compile(r"(\w{2,30})(?:: ?[^=,]{1,60})? ?= ?([0-9.]{1,8}|\"[\w-]{1,20}\"|'[\w-]{1,20}'|True|False|None)")


def statements(repository: str, *, seed: int = 1) -> list[str]:
    """One statement for each symbol whose name stands alone, in a mixed order."""
    found: dict[str, list[str]] = {}
    for path, text in _sources(repository):
        for name, said in (*_functions(path, text), *_constants(path, text)):
            found.setdefault(name, said)
    names = sorted(found)
    random.Random(seed).shuffle(names)
    turns = cycle(range(60))
    return [found[name][next(turns) % len(found[name])] for name in names[:MOST]]


def refusals(said: list[str]) -> list[tuple[str, str]]:
    """The pairs that a reviewer would be refused, if one statement after the other is accepted."""
    near, known, found = SimilarStatements({}), dict[str, Statement](), []
    for number, text in enumerate(said):
        one = Statement(text)
        for other in near.near(one):
            verdict = conflict(known[other], one)
            if verdict and verdict.certain:
                found.append((known[other].text, text))
                break  # one is enough to be refused
        known[str(number)] = one
        near.add(str(number), one)
    return found


def _sources(repository: str) -> Iterator[tuple[str, str]]:
    def git(*words: str) -> str:
        done = subprocess.run(["git", "-C", repository, *words], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    for path in git("ls-tree", "-r", "--name-only", "HEAD").splitlines():
        if path.endswith(ENDINGS):
            yield path, git("show", f"HEAD:{path}")


def _functions(path: str, text: str) -> Iterator[tuple[str, list[str]]]:
    for match in _FUNCTION.finditer(text):
        name, given = match["name"], match["given"]
        counted = [one for one in re.split(r",(?![^\[(<]*[\])>])", given) if one.strip() not in ("", "self", "*", "/")]
        rest = text[match.end() : match.end() + 6000]
        body = rest[: end.start()] if (end := re.search(r"\n(?=\S)(?![})])", rest)) else rest
        raises = re.search(r"\braise |\bthrow |panic\(|panic!", body)
        called = f"`{name}()`" if len(name) % 4 or (name.islower() and "_" not in name) else f"{name}()"
        said = [
            f"{called} takes {len(counted) or 'no'} argument{'s' * (len(counted) != 1)}.",
            f"{called} is {body.count(chr(10)) + 1} lines long.",
            f"{called} {'raises an error on bad input' if raises else 'never raises an error itself'}.",
            f"{called} is defined in `{path}`.",
            f"{called} {'returns a value' if 'return ' in body or '->' in match['after'] else 'returns nothing'}.",
        ]
        said += [f"The `{key}` of {called} defaults to {value}." for key, value in _DEFAULT.findall(given)[:1]]
        if words := re.match(r"[^\n]*\n\s*(?:r?\"\"\"|///? ?|# )([A-Z][^\n\"]{20,120}?[.])(?:\s|$)", rest):
            said.append(f"{called}: {words[1]}")
        yield name, said


def _constants(path: str, text: str) -> Iterator[tuple[str, list[str]]]:
    for match in _CONSTANT.finditer(text):
        name, value = match["name"], match["value"].strip('"')
        yield name, [f"`{name}` is {value}.", f"{name} is set to `{value}` in `{path}`."]


def main() -> None:
    """Count what would be refused of each repository named."""
    for repository in sys.argv[1:]:
        said = statements(repository)
        refused = refusals(said)
        sys.stdout.write(f"{repository}: {len(refused)} of {len(said)} true statements refused\n")
        for one, other in refused:
            sys.stdout.write(f"  {one} <> {other}\n")


if __name__ == "__main__":
    main()
