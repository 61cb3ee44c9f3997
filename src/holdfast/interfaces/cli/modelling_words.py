"""What `holdfast model` says, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.interfaces.cli.words import lines

if TYPE_CHECKING:
    from holdfast.index.embed.filling import Filled
    from holdfast.project.embedding import ModelRemoved, ModelState


def state(found: ModelState) -> str:
    """Which model is in use, what it has done, and the next step."""
    if found.model is None:
        return lines("No model is in use: recall goes by words, context and git.", _how_to_start(found))
    numbers = f", {found.size} numbers a text" if found.size else ""
    return lines(
        f"Model {found.model}{numbers}",
        f"  embedded  {found.texts - found.waiting:,} of {_texts(found.texts)}, {_size(found.bytes)}",
        [f"  chosen in {found.origin}"] if found.origin else [],
        [f"  {found.serving} answers until it has caught up"] if found.serving else [],
        [f"  it cannot be used: {found.problem}"] if found.problem else [],
        ["Embed the rest with: holdfast model embed"] if found.waiting and not found.problem else [],
    )


def _how_to_start(found: ModelState) -> list[str]:
    if found.missing:
        return [
            f"Missing: {', '.join(found.missing)}. To search by meaning as well:",
            "  pip install 'holdfast[semantic]', then holdfast model add",
        ]
    if found.added:
        return ["MiniLM is in the cache. Use it with: holdfast model use minilm"]
    return ["Fetch one with: holdfast model add"]


def added(found: ModelState) -> str:
    return lines(f"{found.model} is built and in use.", _next(found))


def used(found: ModelState) -> str:
    if found.model is None:
        return "No model is in use any more; what was embedded stays.\n"
    return lines(f"{found.model} is in use.", _next(found))


def _next(found: ModelState) -> list[str]:
    if not found.waiting:
        return []
    return [f"{_texts(found.waiting)} to embed: holdfast model embed, or bit by bit when agents' turns end"]


def embedded(done: Filled) -> str:
    if done.busy:
        return "Another command is embedding; this one left it to that.\n"
    left = f"; {done.left:,} still wait" if done.left else "; nothing waits"
    return f"{_texts(done.made)} embedded{left}.\n"


def removed(done: ModelRemoved) -> str:
    gone = "MiniLM is gone from the cache" if done.model else "MiniLM was not in the cache"
    return f"{gone}, and {done.vectors:,} vectors of this clone. Recall goes by words, context and git.\n"


def _texts(number: int) -> str:
    return f"{number:,} text{'' if number == 1 else 's'}"


def _size(size: int) -> str:
    return f"{size / 1048576:.1f} MiB" if size >= 104858 else f"{size / 1024:.0f} KiB"
