"""Decision log, plan, timeline and graph as static pages, or as one file: what HEAD holds, to be read anywhere.

They are made of `PublishedContent` alone, need no server and no script, and open from a disk. Each file ends with a
digest of itself, so that an export replaces what an earlier one wrote and nobody edited, and nothing else.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from holdfast.errors import BadInput, NotFound, TooLarge, UnsafePath
from holdfast.interfaces import graph_picture
from holdfast.interfaces.web import page_templates
from holdfast.interfaces.web.graph_web import tasks_graph
from holdfast.interfaces.web.plan_web import COLUMNS, PRIORITIES
from holdfast.interfaces.web.project_reading import column_of
from holdfast.model import task as model_task
from holdfast.patterns import regex
from holdfast.store import fsio
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.model.task import Task
    from holdfast.recall.published_content import PublishedContent
    from holdfast.recall.relation_graph import RelationNode

A_PAGE = 200  # memories or tasks of one page; as one file there is only one page
_NAMES = ("Overview", "Decisions", "Plan", "Timeline", "Graph")
_NAV = tuple(("index.html" if name == "Overview" else f"{name.lower()}.html", name) for name in _NAMES)
_MAX_OWN = 1 << 28  # bytes of a file that may be ours
_MARKS = {"html": ("\n<!-- holdfast export {} -->\n", "-->"), "css": ("\n/* holdfast export {} */\n", "*/")}
_MARK = regex(rb"\n(?:<!--|/\*) holdfast export ([0-9a-f]{64}) (?:-->|\*/)\n\Z")


@frozen
class StaticExport:
    """What was written."""

    target: str
    files: tuple[str, ...]
    size: int
    commit: str


@frozen
class _StaticPage:
    """One page: its file, what its link says, and its parts as templates with values."""

    file: str
    name: str
    title: str
    parts: tuple[tuple[str, Mapping[str, Any]], ...]
    earlier: str | None = None
    later: str | None = None


def write(content: PublishedContent, target: str, *, name: str, hide: Callable[[str], str]) -> StaticExport:
    """Writes the pages into a folder, or all of them into one file if the target ends in `.html`."""
    is_one = target.lower().endswith((".html", ".htm"))
    pages = _StaticSite(content, hide, is_one=is_one, name=name).pages()
    if is_one:
        texts = {target: next(iter(pages.values()))}
    else:
        texts = {os.path.join(target, file): text for file, text in pages.items()}
    files = {path: _signed(text, path) for path, text in texts.items()}
    stale = [] if is_one else _stale(target, files)
    for path in files:
        _refuse_strange(path)
    with fsio.refusing(target):
        os.makedirs(os.path.dirname(os.path.abspath(next(iter(files)))), exist_ok=True)
        for path, data in files.items():
            fsio.replace(os.path.abspath(path), data, mode=0o644)
        for path in stale:
            os.unlink(path)
    return StaticExport(target, tuple(files), sum(map(len, files.values())), content.commit)


def _signed(text: str, path: str) -> bytes:
    """A file with the digest of what stands before it."""
    body = text.encode("utf-8", "replace")
    mark, _ = _MARKS["css" if path.endswith(".css") else "html"]
    return body + mark.format(hashlib.sha256(body).hexdigest()).encode("ascii")


def _is_ours(path: str) -> bool:
    """Whether an earlier export wrote this very file."""
    try:
        data = fsio.read(path, limit=_MAX_OWN)
    except (UnsafePath, TooLarge, OSError):
        return False
    found = _MARK.search(data)
    return found is not None and hashlib.sha256(data[: found.start()]).hexdigest() == found[1].decode("ascii")


def _refuse_strange(path: str) -> None:
    if os.path.lexists(path) and not _is_ours(path):
        hint = "Name another folder or file, or move it away."
        raise BadInput(f"{path} is there already, and no export wrote it as it is", hint=hint)


def _stale(folder: str, fresh: Iterable[str]) -> list[str]:
    """Pages of an earlier export that this one has no more."""
    if not os.path.isdir(folder):
        if os.path.lexists(folder):
            raise BadInput(f"{folder} is no folder", hint="Name a folder, or a file that ends in .html.")
        return []
    # A file of another name may be an export of its own, which only happens to lie here.
    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if _OWN_NAME.fullmatch(name)]
    return [path for path in paths if path not in set(fresh) and _is_ours(path)]


_OWN_NAME = regex(r"(?:index|graph|(?:decisions|plan|timeline)(?:-\d+)?)\.html")


class _StaticSite:
    """The pages of an export, and where each thing stands on them."""

    def __init__(self, content: PublishedContent, hide: Callable[[str], str], *, is_one: bool, name: str) -> None:
        self._content, self._hide, self._is_one, self._name = content, hide, is_one, name
        self._ready = frozenset(task.id for task in content.graph.ready())
        size = max(1, len(content.memories) + len(content.graph.tasks)) if is_one else A_PAGE
        self._memories = _cut(content.memories, size)
        self._tasks = _cut(self._ordered(), size)
        self._at: dict[str, str] = {}
        for number, group in enumerate(self._memories):
            self._at |= {one.memory.id: self._address(_file("decisions", number), one.memory.id) for one in group}
        for number, some in enumerate(self._tasks):
            self._at |= {task.id: self._address(_file("plan", number), task.id) for task in some}

    def _address(self, file: str, anchor: str) -> str:
        return f"#{anchor}" if self._is_one else f"{file}#{anchor}"

    def _ordered(self) -> list[Task]:
        order, tasks = [*COLUMNS], self._content.graph.tasks.values()
        return sorted(tasks, key=lambda task: (order.index(self._column(task)), task.priority, task.title, task.id))

    def _column(self, task: Task) -> str:
        return column_of(task, self._ready)

    def pages(self) -> dict[str, str]:
        """The text of each file by its name."""
        style = _style()
        render = page_templates.renderer(
            self._hide,
            self._at.get,
            content=self._content,
            site=self._name,
            at=self._at,
            style=Markup(style) if self._is_one else None,
            nav=[(f"#{name.lower()}" if self._is_one else file, name) for file, name in _NAV],
        )
        found = [*self._overview(), *self._decisions(), *self._plan(), *self._timeline(), *self._graph()]
        if self._is_one:
            parts = tuple(part for page in found for part in page.parts)
            one = _StaticPage("index.html", "Overview", self._name, parts)
            return {"index.html": render("export.html", page=one, here="")}
        pages = {page.file: render("export.html", page=page, here=page.name) for page in found}
        return {**pages, "style.css": style}

    def _overview(self) -> list[_StaticPage]:
        content = self._content
        graph, path = content.graph, content.graph.critical_path()
        plans = [task for task in graph.tasks.values() if task.kind in model_task.PLANS]
        values = {
            "states": _counted(one.status for one in content.memories),
            "columns": _counted(task.status for task in graph.tasks.values()),
            "plans": [(task, graph.progress(task.id)) for task in plans],
            "path": [graph.tasks[name] for name in path] if len(path) > 1 else [],
            "ready": [task for task in graph.ready() if task.kind not in model_task.PLANS and task.status == "open"][
                :A_PAGE
            ],
        }
        return [_StaticPage("index.html", "Overview", self._name, (("export_overview.html", values),))]

    def _decisions(self) -> list[_StaticPage]:
        parts = [{"memories": group, "first": number == 0} for number, group in enumerate(self._memories)]
        return self._numbered("decisions", "Decisions", "Decision log", "export_decisions.html", parts)

    def _plan(self) -> list[_StaticPage]:
        graph = self._content.graph
        shared: dict[str, Any] = {"on_path": frozenset(graph.critical_path()), "priorities": PRIORITIES}
        shared |= {"standing": graph.standing, "progress": graph.progress}
        columns = [[(name, [*tasks]) for name, tasks in groupby(some, key=self._column)] for some in self._tasks]
        parts = [{**shared, "columns": some, "first": number == 0} for number, some in enumerate(columns)]
        return self._numbered("plan", "Plan", "Plan", "export_plan.html", parts)

    def _numbered(
        self, stem: str, name: str, title: str, template: str, parts: Sequence[Mapping[str, Any]]
    ) -> list[_StaticPage]:
        found, last = [], len(parts) - 1
        for number, values in enumerate(parts):
            earlier = _file(stem, number - 1) if number else None
            later = _file(stem, number + 1) if number < last else None
            said = f"{title}, page {number + 1} of {last + 1}" if last else title
            found.append(_StaticPage(_file(stem, number), name, said, ((template, values),), earlier, later))
        return found

    def _timeline(self) -> list[_StaticPage]:
        days: dict[str, list[Any]] = {}
        for one in self._content.moments:
            days.setdefault(one.ts[:10], []).append(one)
        part = ("export_timeline.html", {"days": days})
        return [_StaticPage("timeline.html", "Timeline", "Timeline", (part,))]

    def _graph(self) -> list[_StaticPage]:
        content = self._content
        newest = content.relations.newest()
        plan = tasks_graph(content.graph, content.graph.critical_path())
        pictures = []
        for name, title, graph in (
            ("relations", "The newest memories and tasks, and what they hang on", newest),
            ("needs", "What needs what among the open tasks", plan),
        ):
            if graph.nodes:
                drawn = graph_picture.svg(graph, title=title, hide=self._hide, address=self._of_node, name=name)
                pictures.append((name, title, Markup(drawn), graph_picture.related(graph), graph.left_out))
        values = {"pictures": pictures, "heading": graph_picture.heading, "address": self._of_node}
        return [_StaticPage("graph.html", "Graph", "Graph", (("export_graph.html", values),))]

    def _of_node(self, node: RelationNode) -> str | None:
        return self._at.get(node.key)


def _is_free(task: Task) -> bool:
    """Whether nobody began it, and it is no plan, which is done by doing its parts."""
    return task.status == "open" and task.kind not in model_task.PLANS


def _cut(rows: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Rows in pieces of a page each; one empty piece if there are none."""
    return [rows[start : start + size] for start in range(0, max(1, len(rows)), size)]


def _file(stem: str, number: int) -> str:
    return f"{stem}.html" if number == 0 else f"{stem}-{number + 1}.html"


def _counted(words: Iterable[str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word in words:
        found[word] = found.get(word, 0) + 1
    return found


def _style() -> str:
    path = os.path.join(page_templates.STATIC, "style.css")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        raise NotFound(f"{path} is missing", hint="Install Holdfast again.") from None
