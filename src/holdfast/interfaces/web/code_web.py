"""The code pages: the tracked files, and a file with who wrote each line and which memories govern it.

Git's index says what there is: a path that it does not name is not looked at, wherever it would lead.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import escape
from starlette.convertors import Convertor, register_url_convertor

from holdfast.errors import HoldfastError, NotFound, TooLarge, UnsafePath
from holdfast.git import tracked_files
from holdfast.git.blame import lines_of
from holdfast.interfaces.cli.phrases import count, short, size, wording
from holdfast.interfaces.web.web_query import WebPage, WebQuery, windowed
from holdfast.model.text import visible
from holdfast.model.transcript import AGENTS
from holdfast.recall.applicable_memories import EVERYWHERE
from holdfast.store import fsio
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.git.tracked_files import IndexEntry
    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import ListWindow, PageMaker
    from holdfast.project.recaller import Ruling
    from holdfast.recall.why.line_reasons import Why, WhyAnswer

LINES = 500  # of a file that one page shows
ENTRIES = 300  # of a folder that one page shows
MAX_FILE = 4 << 20  # bytes of a file that is shown; more is generated
ROOM = 200_000  # bytes for the lines of a page and who wrote them; their table and the page around need 90,000
_GROUP, _LEAST = 130, 60_000  # bytes of a group's tags; and what is left for the lines at least
AROUND = 300  # lines before and after a window that are searched for secrets, which may span lines
NEAR, WIDE = 30, 5  # memories beside a file: those about it, and those that hold everywhere
_BINARY = 8_000  # bytes that git searches for a zero


class TrackedPathConvertor(Convertor[str]):
    """The rest of an address as a path, whatever it holds: names of files may have line breaks."""

    regex = r"[\s\S]*"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("tracked", TrackedPathConvertor())


@frozen(kw_only=True)
class LineGroup:
    """Lines of one page that were written together, and who wrote them."""

    lines: tuple[tuple[int, str], ...]  # each with its number
    kind: str  # run, likely, person or new
    who: str = ""
    link: str = ""  # the page of the run's turn, or of the commit
    title: str = ""


def code_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """A folder or a file that git tracks."""
    path = query.parts.get("path", "").removesuffix("/")
    entry, rows = tracked_files.look_up(reading.project.clone.repo, path)
    if entry is None:
        raise NotFound(f"git tracks no file {path[:200]}", hint="The page shows tracked files only: git add")
    values = {"entry": entry, "path": path, "steps": list(_steps(path))}
    if entry.is_folder:
        return WebPage("code_folder.html", {**values, "window": windowed(rows, query, most=ENTRIES)})
    return WebPage("code_file.html", {**values, **_file(reading, query, entry)})


def _steps(path: str) -> Iterator[tuple[str, str]]:
    """The folders above a path and itself, each with its name."""
    parts = path.split("/") if path else []
    return (("/".join(parts[: at + 1]), name) for at, name in enumerate(parts))


def _file(reading: ProjectReading, query: WebQuery, entry: IndexEntry) -> dict[str, Any]:
    """What the page of a file shows: its lines, or why there are none."""
    line = query.number("line")
    values: dict[str, Any] = {"groups": (), "window": None, "line": line, "note": "", "why": None, "fault": ""}
    values |= _governs(reading.project.recall.governing(entry.path, known=reading.known))
    try:
        text, note = _text(reading, entry)
    except HoldfastError as error:
        return {**values, "note": f"{error}."}
    asked = query if not line else WebQuery(query.address, query.parts, {"from": [str(line - 1)]}, {})
    window = windowed(text, asked, most=LINES)
    closed = query.with_query(line=None, **{"from": window.start or None})
    values |= {"note": note, "window": _without_line(window, query), "closed": closed}
    values["groups"] = _groups(reading, entry.path, text, window, is_here=not note)
    if line and not note:
        try:
            values["why"] = reading.project.recall.why(entry.path, line=line, known=reading.known)
        except HoldfastError as error:
            values["fault"] = f"{error}."
    return values


def _text(reading: ProjectReading, entry: IndexEntry) -> tuple[list[str], str]:
    """The lines of a file, and what is to be said if they are not those of the work tree."""
    repo, note = reading.project.clone.repo, ""
    if entry.mode == tracked_files.SUBMODULE:
        raise UnsafePath("This is a submodule, which has a history of its own")
    if entry.mode == tracked_files.LINK:
        target = b"".join(repo.blobs([entry.blob]).values()).decode("utf-8", "surrogateescape")
        raise UnsafePath(f"This is a symbolic link to {target[:500]}, and links are not followed")
    try:
        data = fsio.read(fsio.inside(repo.top, entry.path), limit=MAX_FILE)
    except TooLarge:
        raise TooLarge(f"This file has more than {size(MAX_FILE)}, so it is not shown") from None
    except UnsafePath:
        raise UnsafePath("What lies in the work tree here is no plain file, so it is not shown") from None
    except OSError:
        found = tracked_files.stored(repo, [entry.blob])
        if entry.blob not in found or len(found[entry.blob]) > MAX_FILE:
            raise NotFound("This file is not in the work tree") from None
        data, note = found[entry.blob], "This file is not in the work tree; it is shown as git has it."
    if b"\0" in data[:_BINARY]:
        raise UnsafePath(f"This is a binary file of {size(len(data))}, so it has no lines")
    return lines_of(data), note


def _groups(
    reading: ProjectReading, path: str, text: Sequence[str], window: ListWindow, *, is_here: bool
) -> list[LineGroup]:
    """The lines of a page by who wrote them; what git cannot tell is left open."""
    if not window.rows:
        return []
    why: Why | None = None
    if is_here:
        with contextlib.suppress(HoldfastError):  # git's own reason stands in the answer about one line
            why = reading.project.recall.authors(path, text, first=window.start + 1, last=window.end)
    if why is None:
        found = [(window.start + 1, window.end, {"kind": "unknown"})]
    else:
        found = [(one.first, one.last, _writer(one)) for one in why.answers]
    taken = sum(_GROUP + sum(map(_weight, writer.values())) for _, _, writer in found)
    shown = _fitted(_clean(reading, text, window), max(_LEAST, ROOM - taken))
    numbered = list(enumerate(shown, window.start + 1))
    start = window.start + 1
    return [LineGroup(lines=tuple(numbered[first - start : last + 1 - start]), **by) for first, last, by in found]


def _clean(reading: ProjectReading, text: Sequence[str], window: ListWindow) -> list[str]:
    """The lines of a page without secrets, which may begin before it or end after it."""
    first = max(0, window.start - AROUND)
    clean = reading.project.clone.hide.lines(text[first : window.end + AROUND])
    return clean[window.start - first :][: len(window.rows)]


def _fitted(lines: list[str], room: int) -> list[str]:
    """Lines that take at most so many bytes on the page: only long ones are cut."""
    if sum(map(_weight, lines)) <= room:
        return lines
    each = room // len(lines)
    return [_cut(line, each) for line in lines]


def _weight(line: str) -> int:
    """The bytes that a text takes on the page."""
    return len(escape(visible(line)).encode("utf-8", "replace"))


def _cut(line: str, room: int) -> str:
    if _weight(line) <= room:
        return line
    cut = line[:room] if _weight(line[:room]) <= room else line[: room // 12]  # a hidden sign takes twelve bytes
    return f"{cut}… ({count(len(line), 'character')})"


def _writer(one: WhyAnswer) -> dict[str, str]:
    """Who wrote some lines, as the gutter says it."""
    said = short(one.commit.subject, 60) if one.commit else "not committed yet"
    if one.run is not None:
        turn = one.turns[0].turn if one.turns else 0
        name = AGENTS.get(one.run.agent or "", one.run.agent) or "a run"
        known = wording("known").get(one.state, one.state)
        where = f"/runs/{one.run.id}/turns/{turn}" if turn else f"/runs/{one.run.id}"
        return {"kind": "run", "who": f"{name}, turn {turn}", "link": where, "title": f"{known}; {said}"}
    if one.state == "likely" and one.maybe:
        by = one.maybe[0]
        title = f"likely: the turn wrote part of what this commit brought; {said}"
        return {
            "kind": "likely",
            "who": f"likely turn {by.turn}",
            "link": f"/runs/{by.run}/turns/{by.turn}",
            "title": title,
        }
    if one.commit is None:
        return {"kind": "new", "who": "not committed", "title": one.reason}
    during = f"; committed during run {one.during[0].id}" if one.during else ""
    who = one.commit.author or one.commit.oid[:8]
    return {
        "kind": "person",
        "who": short(who, 24),
        "link": f"/commits/{one.commit.oid[:16]}",
        "title": f"{said}{during}",
    }


def _without_line(window: ListWindow, query: WebQuery) -> ListWindow:
    """The addresses of the other windows, without the line that was asked about."""
    start, total = window.start, window.total
    earlier = query.with_query(line=None, **{"from": start - LINES or None}) if start else None
    later = query.with_query(line=None, **{"from": start + LINES}) if start + LINES < total else None
    return type(window)(window.rows, start, total, earlier, later)


def _governs(rulings: Sequence[Ruling]) -> dict[str, Any]:
    """The memories beside a file: those about it, some that hold everywhere, and how many more there are."""
    near = [one for one in rulings if one.near < EVERYWHERE]
    wide = [one for one in rulings if one.near >= EVERYWHERE]
    return {
        "near": [(one, held(one)) for one in near[:NEAR]],
        "wide": [(one, held(one)) for one in wide[:WIDE]],
        "more_near": max(0, len(near) - NEAR),
        "more_wide": max(0, len(wide) - WIDE),
        "known_words": wording("known"),
        "pairs": lambda ones: [(one, held(one)) for one in ones],
        "knew": lambda one: list({entry.id: entry for pack in one.packs for entry in pack.entries}.values()),
    }


def held(one: Ruling) -> str:
    """How a memory behind a line stands, in the words of `why`."""
    if one.superseded_by:
        return f"superseded by {one.superseded_by}"
    if one.status == "accepted" and one.trust != "T0":
        return "holds, promoted, not reviewed" if one.trust == "T2" else "from elsewhere, not trusted here"
    return wording("governs").get(one.status, one.status)


PAGES: dict[str, PageMaker] = {"/code": code_page, "/code/{path:tracked}": code_page}
