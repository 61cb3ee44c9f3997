"""Reset and prune in words: what goes, how much, and how to have it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import as_plain
from holdfast.interfaces.cli.words import count, lines, size, table

if TYPE_CHECKING:
    from holdfast.work.prune import Pruned
    from holdfast.work.reset import Done, Undone

QUESTIONS = {
    "sessions": "This takes all sessions and claims of this clone away. Go on?",
    "tasks": "This takes all tasks and links off this branch with the next publish. Go on?",
    "all": "This takes all sessions and claims of this clone away, all tasks and links off this branch with "
    "the next publish, and empties the caches. Go on?",
}
MOST, SHOWN = 20, 32  # things that are named, characters of a name
_PARTS = (("sessions", "session"), ("claims", "claim"), ("tasks", "task"), ("links", "link"))
_KINDS = {"session": "session", "claim": "claim", "trash": "old reset", "anchor": "uncited commit"}


def reset(done: Done) -> str:
    """What a reset took away."""
    if not any((done.sessions, done.claims, done.tasks, done.links, done.more)):
        return f"There was nothing to reset: no {'caches' if done.what == 'all' else done.what} here."
    publish = "The tasks leave the branch with the next: holdfast publish" if done.tasks or done.links else []
    return lines(f"Took away {_listed(done)}.", publish, "To have it back: holdfast reset --undo")


def undone(back: Undone) -> str:
    """What came back, and what did not."""
    left = [f"  {name}" for name in back.left]
    first = f"Brought back {_listed(back)}." if _listed(back) else "Nothing came back."
    return lines(first, ["", "Left alone, because something else stands there now:", *left] if left else [])


def _listed(done: Done | Undone) -> str:
    said = [count(number, one) for name, one in _PARTS if (number := getattr(done, name))]
    said += [count(done.more, "other file")] if done.more else []
    return " and ".join(filter(None, (", ".join(said[:-1]), *said[-1:])))


def pruned(found: Pruned) -> str:
    """What went, or would go."""
    kept = _kept(found)
    if not found.spares:
        return lines(f"Nothing is older than {found.before[:10]} and needed by nobody.", kept)
    verb = "Deleted" if found.done else "Would delete"
    named = found.spares[:MOST]
    rows = [(spare.id[:SHOWN], _KINDS[spare.kind], f"since {spare.since[:10]}") for spare in named]
    more = len(found.spares) - MOST
    return lines(
        f"{verb} {_counted(found)} ({size(found.size)}):",
        table(rows),
        [f"  and {more:,} more"] if more > 0 else [],
        kept,
    )


def prune_question(found: Pruned) -> str:
    """What whoever prunes is asked."""
    return f"This deletes {_counted(found)} for good ({size(found.size)}). Go on?"


def _counted(found: Pruned) -> str:
    numbers = {word: sum(spare.kind == kind for spare in found.spares) for kind, word in _KINDS.items()}
    return ", ".join(count(number, word) for word, number in numbers.items() if number)


def _kept(found: Pruned) -> list[str]:
    if not found.kept:
        return []
    names = ", ".join(found.kept[:5]) + (" …" if len(found.kept) > 5 else "")
    return ["", f"Kept, because something in them is open: {names}"]


def pruned_object(found: Pruned) -> dict[str, Any]:
    """What `--json` promises of a prune."""
    return {"id": None, **as_plain(found), "size": found.size}
