"""Compiles regular expressions on first use.

A command loads many modules and uses few of their patterns; compiling one takes about half a millisecond.

A module with many patterns has them in a text file of the same name beside it (`PatternFile`): `[name]` begins a
section, the lines below it are one pattern, or a list of lines or words; a line that begins with `# ` is a comment.
Case does not matter unless a pattern contains `(?-i:…)`. `@name@` is replaced by the text of another section.
"""

from __future__ import annotations

TYPE_CHECKING = False  # `typing` itself would cost every start
if TYPE_CHECKING:
    import re
    from typing import Any, AnyStr

_OF_A_PATTERN = (
    *("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"),
    *("flags", "groups", "groupindex", "pattern", "scanner"),
)


class _Uncompiled:
    """A stand-in for a pattern; the first access compiles it and copies its methods to this object."""

    def __init__(self, source: Any, flags: int) -> None:
        self._source, self._flags = source, flags

    def __getattr__(self, name: str) -> Any:
        if name not in _OF_A_PATTERN:
            raise AttributeError(name)
        import re

        compiled = re.compile(self._source, self._flags)
        for one in _OF_A_PATTERN:
            setattr(self, one, getattr(compiled, one))
        return getattr(compiled, name)


def regex(source: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Returns a pattern with the methods of `re.Pattern`; the functions of `re` itself do not accept it."""
    return _Uncompiled(source, flags)  # type: ignore[return-value]


class PatternFile:
    """The sections of the text file beside a module, read on first use: each is an attribute, a pattern."""

    def __init__(self, module: str) -> None:
        self._path = module.removesuffix("c").removesuffix(".py") + ".txt"
        self._texts: dict[str, tuple[str, ...]] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._tables: dict[str, dict[str, str]] = {}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name.startswith("__"):
            raise AttributeError(name)
        import re

        made = re.compile(self._text(name), re.IGNORECASE)
        setattr(self, name, made)
        return made

    def _text(self, name: str) -> str:
        import re

        return re.sub("@([a-z_]+)@", lambda found: self._text(found[1]), "".join(self.lines(name)))

    def lines(self, name: str) -> tuple[str, ...]:
        """Returns the lines of a section as written, without comments and empty lines."""
        if not self._texts:
            self._texts = {section: tuple(rows) for section, rows in _sections(self._path).items()}
        return self._texts[name]

    def words(self, name: str) -> frozenset[str]:
        """Returns the words of a section, which are separated by blanks."""
        if name not in self._words:
            self._words[name] = frozenset(" ".join(self.lines(name)).split())
        return self._words[name]

    def pairs(self, name: str) -> dict[str, str]:
        """Returns a section of lines `name: text` as a dictionary."""
        return dict(row.split(": ", 1) for row in self.lines(name))

    def table(self, name: str) -> dict[str, str]:
        """Returns a section of lines `name: word word …` as a dictionary from each word to its name."""
        if name not in self._tables:
            rows = (row.partition(": ") for row in self.lines(name))
            self._tables[name] = {word: of for of, _, words in rows for word in words.split()}
        return self._tables[name]


def _sections(path: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    rows: list[str] = []
    with open(path, encoding="utf-8") as file:
        for row in file.read().split("\n"):
            if row.startswith("[") and row.endswith("]") and row[1:-1].isidentifier():
                rows = found[row[1:-1]] = []
            elif row and not row.startswith("# "):
                rows.append(row)
    return found


def text_beside(module: str, name: str) -> str:
    """Returns the text of a file in the folder of a module."""
    import os

    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        return file.read()
