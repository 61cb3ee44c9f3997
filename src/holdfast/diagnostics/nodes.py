"""Task and link files by themselves: readable, named after their ids, each id once, and no ring of needs.

Shared by `doctor`, which looks at what is visible here, and `check`, which looks at a commit. What they
make of a finding differs; where it is and what it says does not.
"""

from collections.abc import Iterable, Iterator, Mapping

from holdfast.diagnostics.findings import Finding
from holdfast.errors import BrokenEntry
from holdfast.model.task import Link, Task
from holdfast.store import layout, pending, tasks
from holdfast.values import frozen
from holdfast.work.graph import Graph

FOLDERS = (layout.TASKS, layout.LINKS)
TAKE_OUT = "Take one of these needs out: `holdfast task edit ID --no-need OTHER`."
_MEND = "Mend the file by hand; until then it is left out and nothing is lost."
_MARKS = "Choose a side of each conflict in the file; until then it is left out and nothing is lost."
_MOST_RINGS = 10


@frozen
class Nodes:
    """What can be read among some files, by path, and what is wrong with the rest."""

    tasks: dict[str, Task]
    links: dict[str, Link]
    findings: tuple[Finding, ...]

    def all(self) -> Iterator[tuple[str, Task | Link]]:
        yield from self.tasks.items()
        yield from self.links.items()


def read(texts: Mapping[str, str]) -> Nodes:
    """Tasks and links from their files' texts."""
    found, links, broken = {}, {}, []
    for path, text in texts.items():
        try:
            if path.startswith(layout.LINKS + "/"):
                links[path] = tasks.parse_link(text, path)
            else:
                found[path] = tasks.parse(text, path)
        except BrokenEntry as error:
            broken.append(unreadable(path, error))
    return Nodes(found, links, tuple(broken))


def unreadable(path: str, error: BrokenEntry) -> Finding:
    """A file that cannot be read, with its line and the reason."""
    line, _, reason = str(error).removeprefix(f"{path}:").partition(" ")
    step = _MARKS if "unresolved merge" in reason else _MEND
    return problem(path, reason, step, line=int(line) if line.isdigit() else None)


def repeated(nodes: Nodes) -> Iterator[Finding]:
    """Two files with one id: whoever names it means neither."""
    first: dict[str, str] = {}
    for path, node in nodes.all():
        other = first.setdefault(node.id, path)
        if other != path:
            step = "Give one of them another id, in its first lines and in its name."
            yield problem(path, f"its id {node.id} is also that of {other}", step)


def misnamed(nodes: Nodes) -> Iterator[tuple[str, str]]:
    """Files whose names do not end in their ids: nobody finds them by their names."""
    for path, node in nodes.all():
        if not path.endswith(f"-{node.id}.md"):
            yield path, f"it holds {node.id}, and its name does not end in -{node.id}.md"


def clashing(paths: Iterable[str]) -> Iterator[Finding]:
    """Names that differ only in case: where the file system ignores case, git can check out only one."""
    first: dict[str, str] = {}
    for path in paths:
        other = first.setdefault(path.casefold(), path)
        if other != path:
            step = f"Rename one of them: git mv {path} …"
            yield problem(path, f"its name differs from {other} only in case", step)


def foreign(paths: Iterable[str]) -> Iterator[str]:
    """Files that are no node's: not Markdown, or with a name that none of ours has."""
    return (path for path in paths if not pending.is_publishable(path))


def rings(found: Iterable[Task]) -> list[tuple[str, ...]]:
    """Cycles of needs and parents, each written A, B, A; at most a few, no node in two of them."""
    left = {task.id: task for task in found}
    seen: list[tuple[str, ...]] = []
    while len(seen) < _MOST_RINGS and (ring := Graph(left.values()).cycle()):
        seen.append(ring)
        for name in ring:
            left.pop(name, None)
    return seen


def arrows(ring: tuple[str, ...]) -> str:
    """A cycle as people read it."""
    return " → ".join(ring)


def problem(path: str, sentence: str, step: str, *, line: int | None = None) -> Finding:
    return Finding(severity="problem", topic=topic(path), file=path, line=line, sentence=sentence, next_step=step)


def note(path: str, sentence: str, step: str) -> Finding:
    return Finding(severity="note", topic=topic(path), file=path, sentence=sentence, next_step=step)


def topic(path: str) -> str:
    return "links" if path.startswith(layout.LINKS) else "tasks"
