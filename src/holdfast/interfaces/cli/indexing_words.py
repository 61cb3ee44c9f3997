"""How far the repository is read, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.interfaces.cli.words import count, lines

if TYPE_CHECKING:
    from holdfast.index.corpus.refresh import State


def state(found: State) -> str:
    """Whether questions find what the repository holds, and how much of it there is."""
    if not found.built:
        return "Commits, docs and code are not read yet. Read them with: holdfast index"
    held = f"{count(found.commits, 'commit')}, {count(found.files, 'file')} in {count(found.chunks, 'part')}"
    told = f"{held}; {found.size / 1e6:,.1f} MB"
    if found.current:
        return lines(f"HEAD is read: {told}")
    return lines(f"Read is another state than HEAD's: {told}", "Read what changed with: holdfast index")
