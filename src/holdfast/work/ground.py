"""What stood here before somebody edited files by hand: asked of it is only what an edit needs to know."""

from collections.abc import Mapping

from holdfast.errors import BrokenEntry, HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.visible import Sighting
from holdfast.model.task import Link, Task
from holdfast.store import layout as paths
from holdfast.store import tasks
from holdfast.work.graph import Graph

FOLDERS = (paths.TASKS, paths.LINKS)


class Ground:
    """What stood here before the edits; it grows as they are taken.

    A new value for a field costs a look at its own file; only a new name or a new edge asks for all the rest.
    """

    def __init__(self, clone: Clone, edited: Mapping[str, str | HoldfastError]) -> None:
        self._clone, self._edited = clone, edited
        waiting = {change.path for change in clone.changes()}
        self.seen = sightings(clone) if not waiting.isdisjoint(edited) else {}
        pending_texts = {p: s.text for p, s in self.seen.items() if p in edited and s.origin == "pending"}
        self.before = head_texts(clone, list(edited)) | pending_texts  # path to text
        self._nodes = nodes_of(self.before)
        self._all: Everything | None = None
        self._no_ring: bool | None = None

    def was(self, path: str) -> Task | Link | None:
        """What a file held before, as far as it could be read."""
        return self._nodes.get(path)

    def everything(self) -> "Everything":
        """Every task and link that stood here."""
        if self._all is None:
            untouched = {s.path: s.text for s in sightings(self._clone).values() if s.origin != "edit"}
            # What was deleted by hand still has its id and its name.
            hidden = [path for path in self._clone.repo.status(*FOLDERS) if path not in untouched]
            texts = {**head_texts(self._clone, hidden), **untouched, **self.before}
            self._all = Everything({**nodes_of(texts), **self._nodes}, texts)
        return self._all

    def take(self, path: str, text: str, node: Task | Link, *, merged: bool) -> None:
        self.before[path], self._nodes[path] = text, node
        if self._all is not None:
            self._all.add(path, node)
        if merged:
            self._no_ring = False  # that was asked of the edits as they are

    def ring(self, path: str, task: Task) -> tuple[str, ...] | None:
        """The cycle that a task would make at this path."""
        others = {p: n for p, n in self.everything().nodes.items() if isinstance(n, Task)}
        if self._no_ring is None:
            texts = {p: text for p, text in self._edited.items() if isinstance(text, str)}
            after = {**others, **{p: n for p, n in nodes_of(texts).items() if isinstance(n, Task)}}
            self._no_ring = Graph(after.values()).cycle() is None
        if self._no_ring:
            return None
        return Graph(other for place, other in others.items() if place != path).cycle(task)


class Everything:
    """Tasks and links by path, and by what must not be there twice, however it is spelled."""

    def __init__(self, nodes: dict[str, Task | Link], texts: Mapping[str, str]) -> None:
        self.nodes = nodes
        self.ids = {node.id.casefold(): path for path, node in nodes.items()}
        self.names = {path.casefold(): path for path in texts}

    def add(self, path: str, node: Task | Link) -> None:
        self.nodes[path] = node
        self.ids[node.id.casefold()] = self.names[path.casefold()] = path


def sightings(clone: Clone) -> dict[str, Sighting]:
    return {sighting.path: sighting for folder in FOLDERS for sighting in clone.entries(folder)}


def head_texts(clone: Clone, wanted: list[str]) -> dict[str, str]:
    """HEAD's texts; a checkout with CRLF is the same text."""
    blobs = clone.repo.blobs_at("HEAD", wanted) if wanted else {}
    texts = clone.repo.blobs(blobs.values())
    return {
        path: texts[blob].decode("utf-8", "replace").replace("\r\n", "\n")
        for path, blob in blobs.items()
        if blob in texts
    }


def nodes_of(texts: Mapping[str, str]) -> dict[str, Task | Link]:
    return {path: node for path, text in texts.items() if (node := node_of(path, text)) is not None}


def node_of(path: str, text: str) -> Task | Link | None:
    read = tasks.reader(path)
    try:
        return read(text, path) if read else None
    except BrokenEntry:
        return None
