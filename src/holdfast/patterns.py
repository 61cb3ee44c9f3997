"""Regular expressions that are compiled when they are first used.

A command loads many modules and uses few of their patterns; compiling one takes about half a millisecond.

A module with many patterns keeps them in a text file of its own name beside it (`PatternFile`): `[name]` begins a
section, the lines below it are one pattern, or a list of lines or words; a line that begins with `# ` is a comment.
Upper or lower case does not matter unless a pattern says `(?-i:…)`. `@name@` stands for the text of another section.
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
    """Stands for a pattern; the first question compiles it, and the next ones find the answer here."""

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
    """A pattern with the methods of `re.Pattern`; functions of `re` itself do not take it."""
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
        """The lines of a section as they are written, without comments and empty ones."""
        if not self._texts:
            self._texts = {section: tuple(rows) for section, rows in _sections(self._path).items()}
        return self._texts[name]

    def words(self, name: str) -> frozenset[str]:
        """The words of a section, parted by blanks."""
        if name not in self._words:
            self._words[name] = frozenset(" ".join(self.lines(name)).split())
        return self._words[name]

    def pairs(self, name: str) -> dict[str, str]:
        """A section of lines `name: text`, as they are written."""
        return dict(row.split(": ", 1) for row in self.lines(name))

    def table(self, name: str) -> dict[str, str]:
        """A section of lines `name: word word …`, turned around: each word and the name before it."""
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
    """The text of a file that lies beside a module."""
    import os

    with open(os.path.join(os.path.dirname(module), name), encoding="utf-8") as file:
        return file.read()
