"""What tasks rest on: assumptions and other memories that they name, and whether these still hold."""

from collections.abc import Iterable, Sequence

from holdfast.errors import BadInput
from holdfast.model.ids import PREFIXES
from holdfast.model.task import Task
from holdfast.patterns import regex
from holdfast.project.viewing import Viewing
from holdfast.values import frozen

LABEL = "Rests on:"
_NAME = regex(r"[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")
_HASH = regex(r"@[0-9a-f]{40,64}\b")  # a receipt's, which nobody reads
_LIKELY = regex(rf"\b(?:{'|'.join(PREFIXES.values())})-[0-9a-z]|{LABEL}")


@frozen
class Shaky:
    """A memory that a task rests on and that does not hold as it did."""

    task: str
    memory: str
    status: str  # stale, expired, superseded, deprecated or unreviewed
    why: str


class Resting(Viewing):
    """What work is built on."""

    def shaky(self, tasks: Iterable[Task]) -> tuple[Shaky, ...]:
        """The memories that open tasks name and that no longer hold, or do not hold as they did."""
        naming = {task.id: _names(task) for task in tasks if not task.is_closed and rests_on_something(task)}
        if not any(naming.values()):
            return ()
        found = self.knowledge()
        doubted = (*found.stale, *found.expired, *found.superseded, *found.retired, *found.unreviewed)
        why = {one.id: (one.status, _HASH.sub("", "; ".join(one.notes))) for one in doubted}
        return tuple(
            Shaky(task, name, *why[name]) for task, names in naming.items() for name in sorted(names & why.keys())
        )

    def rests_on(self, names: Sequence[str], notes: str = "") -> str:
        """A task's notes with a line that names the memories it rests on."""
        known = {one.id for one in self.knowledge().standings}
        if unknown := [name for name in names if name not in known]:
            raise BadInput(f"{unknown[0]} is no memory here", hint="See `holdfast facts --type all`.")
        line = f"{LABEL} {', '.join(names)}"
        return f"{notes}\n\n{line}".strip() if names else notes


def rests_on_something(task: Task) -> bool:
    """Whether a task seems to name a memory; cheap, for it is asked of every task."""
    return any(_LIKELY.search(text) for text in (task.title, task.notes, task.impact or "", *task.acceptance))


def _names(task: Task) -> set[str]:
    said = " ".join((task.title, task.notes, task.impact or "", *task.acceptance))
    return set(_NAME.findall(said))
