"""One thing as `show` gives it, whatever it is."""

from typing import Any

from holdfast.values import frozen


@frozen
class Shown:
    """One thing, with where it lies and what it says."""

    id: str
    kind: str
    path: str | None
    text: str | None
    fields: dict[str, Any]
    printed: str | None = None  # the last lines a run put out
    elsewhere: str | None = None  # where a memory, a task or a link is that this branch does not have
