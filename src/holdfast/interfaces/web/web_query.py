"""What a request asks for, and what a page answers: values that all pages share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from holdfast.errors import HoldfastError
from holdfast.values import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.interfaces.web.project_reading import ProjectReading

    PageMaker = Callable[["ProjectReading", "WebQuery"], "WebPage | WebRedirect"]
    # What to say, and the address to go on with; None is the page that the form stands on.
    Action = Callable[["ProjectReading", "WebQuery"], tuple[str, str | None]]

T = TypeVar("T")
WINDOW = 100  # rows of a list that one page shows: 300 kB hold twice as many, and nobody reads more at once


@frozen
class WebPage:
    """A template and its values."""

    template: str
    values: Mapping[str, Any]
    status: int = 200


@frozen
class WebRedirect:
    """Another page of ours that answers."""

    address: str


@frozen
class WebQuery:
    """What a request asks for: its address, the parts of it, its query and its form."""

    address: str
    parts: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    form: Mapping[str, Sequence[str]]

    def one(self, name: str, default: str = "") -> str:
        """A value of the query, else the default."""
        return next(iter(self.query.get(name, ())), default)

    def number(self, name: str, default: int = 0) -> int:
        """A number of the query; the default if it is none."""
        given = self.one(name)
        return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else default

    def given(self, name: str, default: str = "") -> str:
        """A field of the form, without blanks around it."""
        return next(iter(self.form.get(name, ())), default).strip()

    def with_query(self, **changed: object) -> str:
        """The address of this page with other values in its query; None takes a value out."""
        kept = [(name, value) for name, values in self.query.items() if name not in changed for value in values]
        kept += [(name, str(value)) for name, value in changed.items() if value not in (None, "")]
        path = self.address.partition("?")[0]
        return f"{path}?{urlencode(kept, errors='surrogateescape')}" if kept else path

    @property
    def back(self) -> str:
        """The page that a form stands on, if it names one of ours."""
        back = self.given("back", "/")
        is_ours = back.startswith("/") and not back.startswith(("//", "/\\")) and back.isprintable()
        return back if is_ours else "/"


@frozen
class ListWindow:
    """The rows of a long list that one page shows, and the addresses of those before and after."""

    rows: Sequence[Any]
    start: int
    total: int
    earlier: str | None
    later: str | None

    @property
    def end(self) -> int:
        return self.start + len(self.rows)


def windowed(rows: Sequence[T], query: WebQuery, *, most: int = WINDOW, name: str = "from") -> ListWindow:
    """The part of a list that the query asks for."""
    start = min(query.number(name), max(0, len(rows) - 1)) // most * most
    earlier = query.with_query(**{name: start - most or None}) if start else None
    later = query.with_query(**{name: start + most}) if start + most < len(rows) else None
    return ListWindow(rows[start : start + most], start, len(rows), earlier, later)


class Unfinished(HoldfastError):
    """An action that needs one more answer: the page asks for it."""

    def __init__(self, page: WebPage) -> None:
        super().__init__("this needs one more answer")
        self.page = page
