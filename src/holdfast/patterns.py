"""Regular expressions that are compiled when they are first used.

A command loads many modules and uses few of their patterns; compiling one takes about half a millisecond.
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
