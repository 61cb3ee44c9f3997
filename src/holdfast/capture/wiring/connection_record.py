"""What we put into whose settings: enough to give each file back to the byte, and nothing that it holds.

For each file the spans that are ours and a hash of the whole. While the hash fits, cutting the spans out
gives the file as it was; once somebody changed it, only what is ours by its command is taken out. A lost
record costs no more than that.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.capture.wiring.config_text import ConfigTextEdit, ordered
from holdfast.errors import TooLarge, UnsafePath
from holdfast.store import fsio
from holdfast.values import asdict, field, frozen, mutable

VERSION = 1
LIMIT = 1 << 20


@frozen
class WiredFile:
    """One file: how it was left, where our characters are in it, and whether it and its folders are ours."""

    left: str  # sha256 of the bytes as we left them
    spans: tuple[tuple[int, int], ...] = ()
    made: bool = False
    folders: int = 0


@mutable
class ConnectionRecord:
    """All files we wrote into, by their real paths, and the clients whose own command knows our server."""

    path: str
    files: dict[str, WiredFile] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def fits(self, real: str, data: bytes) -> WiredFile | None:
        """What was kept about a file, if nobody changed it since."""
        kept = self.files.get(real)
        return kept if kept is not None and kept.left == digest(data) else None

    def save(self) -> None:
        """Write it, or take it away if there is nothing to keep."""
        if not self.files and not self.told:
            fsio.remove(self.path)
            return
        files = {real: asdict(one) for real, one in sorted(self.files.items())}
        fsio.make_dirs(os.path.dirname(self.path), mode=0o755)
        said = {"v": VERSION, "files": files, "told": sorted(self.told)}
        fsio.sweep(self.path)
        fsio.replace(self.path, json.dumps(said, indent=1).encode() + b"\n")


def load(path: str) -> ConnectionRecord:
    """The record of this user; a damaged one is as good as none."""
    try:
        said = json.loads(fsio.read(path, limit=LIMIT))
        files = {str(real): _kept(one) for real, one in said["files"].items()}
        return ConnectionRecord(path, files, [str(name) for name in said.get("told", [])])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, TooLarge, UnsafePath):
        return ConnectionRecord(path)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def cut(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text without these spans."""
    done, at = [], 0
    for start, end in sorted(spans):
        done.append(text[at:start])
        at = max(at, end)
    return "".join([*done, text[at:]])


def moved(spans: Sequence[tuple[int, int]], edits: Sequence[ConfigTextEdit]) -> tuple[tuple[int, int], ...] | None:
    """Where our spans are after edits; None if an edit changes what is not ours: then nothing is certain."""
    ours = [list(span) for span in sorted(spans)]
    shift = 0
    for edit in ordered(edits):
        grown = len(edit.new) - (edit.end - edit.start)
        start = edit.start + shift
        around = [span for span in ours if span[0] <= start and start + (edit.end - edit.start) <= span[1]]
        if edit.end > edit.start and not around:
            return None
        for span in ours:
            if span in around:
                span[1] += grown
            elif span[0] >= start:
                span[0], span[1] = span[0] + grown, span[1] + grown
        if not around:
            ours.append([start, start + len(edit.new)])
            ours.sort()
        shift += grown
    return tuple((start, end) for start, end in ours if end > start)


def _kept(one: Mapping[str, Any]) -> WiredFile:
    spans = tuple((int(start), int(end)) for start, end in one["spans"])
    return WiredFile(str(one["left"]), spans, bool(one["made"]), int(one["folders"]))
