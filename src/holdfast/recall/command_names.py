"""Which commands a memory names: what stands between backticks, and tools that everybody knows.

Said before an agent runs a command that a person had something to say about; so it is better to miss one
than to speak of `make` wherever somebody makes something.
"""

import re

from holdfast.patterns import regex

MOST = 12  # of one memory
_CODE = regex(r"`([^`\n]{2,120})`")
_COMMAND = regex(r"(?:\./|/)?[a-z][\w.+-]*(?:/[\w.+-]+)*(?:[ \t]+\S+)*")
# Names that are no words of English; those that are count only between backticks, or with what follows them.
_TOOLS = re.findall(
    r"\S+",
    """
    alembic ansible apt-get autopep8 cargo cmake conda curl docker docker-compose dotnet eslint gcc gcloud
    gh git gradle isort kubectl mvn mypy mysql nginx npm npx pip pip3 pipenv pipx pnpm podman psql pyright
    pytest python python3 redis-cli rsync rubocop ruff rustup scp sed sqlite3 systemctl terraform tox tsc uv
    uvicorn vitest wget yarn
    """,
)
_NAMED = regex(rf"(?<![\w./-])({'|'.join(map(re.escape, _TOOLS))})(?![\w./-])((?:[ \t]+[a-z][\w:-]*)?)")
_PLAIN = frozenset(  # words that follow a tool's name in a sentence rather than in a command
    re.findall(
        r"\S+",
        """
    a an and are as at be but by can cannot do does for from has here if in into is it its must never not of
    on only or should so than that the then this to was when where which will with
    """,
    )
)


def commands(text: str) -> list[str]:
    """The commands that a text names, each as its words."""
    found = [" ".join(code.split()) for code in _CODE.findall(text) if _is_command(code)]
    for tool, rest in _NAMED.findall(_CODE.sub(" ", text)):
        word = rest.strip()
        # `git` alone would speak before nearly everything.
        if word and word not in _PLAIN:
            found.append(f"{tool} {word}")
        elif tool not in ("git", "python", "python3", "sed", "curl"):
            found.append(tool)
    return list(dict.fromkeys(found))[:MOST]


def _is_command(code: str) -> bool:
    """Whether code looks like something a shell is given: a known tool first, or a name and more words."""
    words = code.split()
    if not words or not _COMMAND.fullmatch(code.strip()):
        return False
    return words[0] in _TOOLS or words[0].startswith("./") or (len(words) > 1 and words[0].isidentifier())
