"""What Codex wrote into files: its own patch language, and the unified diffs of its events.

    *** Begin Patch
    *** Update File: src/a.py
    *** Move to: src/b.py
    @@ def f():
    -    return 1
    +    return 2
    *** End Patch

A patch comes as a tool's input, as a shell command, or through a heredoc; each is found here.
"""

import posixpath
from collections.abc import Iterator
from typing import Any

from holdfast.capture.agents.tool_input import hunks, lines_of, signed_lines
from holdfast.capture.agents.transcript_text import path_value, text_value
from holdfast.model.transcript import MAX_LINES, TranscriptEdit
from holdfast.patterns import regex
from holdfast.values import dict_of

_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILES = {"*** Add File: ": "add", "*** Update File: ": "update", "*** Delete File: ": "delete"}
_MOVE = "*** Move to: "
# `apply_patch` alone, or in a folder: it then does nothing a shell would be needed for.
_THROUGH_SHELL = regex(r"\s*(?:cd\s+(?P<folder>[^\s;&|]{1,400})\s*(?:&&|;)\s*)?(?:apply_?patch)\b")
_MOST_FILES = 1000  # of one patch
_LONGEST = 4 << 20  # characters of a patch or a diff that are read


def edits_of(text: str, *, folder: str | None = None) -> tuple[TranscriptEdit, ...]:
    """What a patch says it does, file by file; paths are seen from the folder if one is given."""
    begin = text.find(_BEGIN)
    if begin < 0:
        return ()
    end = text.find(_END, begin)
    lines = text[begin : min(end if end >= 0 else len(text), begin + _LONGEST)].split("\n")
    return tuple(_edit(piece, folder) for piece in list(_pieces(lines))[:_MOST_FILES])


def through_shell(command: str) -> tuple[str | None, bool]:
    """The folder a shell command applies its patch in, and whether it does nothing else."""
    match = _THROUGH_SHELL.match(command)
    if match is None or _BEGIN not in command:
        return None, False
    return (match["folder"] or "").strip("'\"") or None, True


def _pieces(lines: list[str]) -> Iterator[list[str]]:
    """The lines of each file, its heading first."""
    piece: list[str] = []
    for line in lines:
        if line.startswith(tuple(_FILES)):
            if piece:
                yield piece
            piece = [line.rstrip("\r")]
        elif piece:
            piece.append(line)
    if piece:
        yield piece


def _edit(piece: list[str], folder: str | None) -> TranscriptEdit:
    heading = next(words for words in _FILES if piece[0].startswith(words))
    action, path = _FILES[heading], piece[0][len(heading) :].strip()
    moved = next((line[len(_MOVE) :].strip() for line in piece[1:3] if line.startswith(_MOVE)), None)
    added, removed = signed_lines(piece[1:])
    return TranscriptEdit(
        path=_seen_from(folder, path),
        action="move" if moved else action,
        moved_to=_seen_from(folder, moved) if moved else None,
        added=added,
        removed=removed,
        whole=action == "add",
    )


def _seen_from(folder: str | None, path: str) -> str:
    return posixpath.normpath(posixpath.join(folder, path)) if folder else path


# ── changes as events tell them ──────────────────────────────────────────────────────────────────


def changes_of(changes: object) -> tuple[TranscriptEdit, ...]:
    """The edits of an event's `changes`: a path, and what became of the file."""
    there = list(dict_of(changes).items())[:_MOST_FILES]
    return tuple(_changed(text_value(path, 4096), dict_of(change)) for path, change in there)


def _changed(path: str, change: dict[str, Any]) -> TranscriptEdit:
    kind = text_value(change.get("type"))
    lines = tuple(lines_of(text_value(change.get("content"), _LONGEST))[:MAX_LINES])
    if kind == "add":
        return TranscriptEdit(path=path, action="add", added=lines, whole=True)
    if kind == "delete":
        return TranscriptEdit(path=path, action="delete", removed=lines)
    moved = path_value(change.get("move_path"))
    added, removed = signed_lines(hunks(text_value(change.get("unified_diff"), _LONGEST)))
    return TranscriptEdit(path=path, action="move" if moved else "update", moved_to=moved, added=added, removed=removed)
