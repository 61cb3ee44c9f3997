"""What a question may find: its kind, task, files, branch and age.

Nothing is imported: the quick path makes one at every recall.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = None  # the branch that is checked out
EVERY_BRANCH = "*"


class Scope:
    """The bounds of a question, and what is open around whoever asks."""

    __slots__ = ("branch", "files", "kind", "since", "task")

    def __init__(
        self,
        *,
        kind: str | None = None,
        task: str | None = None,
        files: "Sequence[str]" = (),
        branch: str | None = HERE,
        since: str | None = None,
    ) -> None:
        self.kind = kind
        self.task = task
        self.files = tuple(files)  # open now, relative to the work tree's top: what shares them counts more
        self.branch = branch  # another branch's name, or EVERY_BRANCH
        self.since = since  # the moment before which nothing is wanted, as events spell it
