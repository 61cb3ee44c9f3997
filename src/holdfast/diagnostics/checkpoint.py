"""Checkpoints: a small note of how far the log reached, to be kept where nobody can change it.

The heads of the log commit to everything before them. Kept elsewhere, they show later that history
was cut off or a branch of it dropped, which the log alone cannot.
"""

import json
from collections.abc import Mapping, Sequence

from holdfast.diagnostics.findings import Finding
from holdfast.errors import BadInput, FutureFormat
from holdfast.patterns import regex
from holdfast.values import frozen

MAX_CHECKPOINT = 8 << 20
_HASH = regex(r"[0-9a-f]{64}")


@frozen
class Checkpoint:
    """The sorted heads of a log and how many events they stood for."""

    heads: tuple[str, ...]
    count: int
    ts: str


def take(parents: Mapping[str, Sequence[str]], ts: str) -> Checkpoint:
    """A checkpoint of a log given as event -> the parents it names."""
    named = {parent for before in parents.values() for parent in before}
    return Checkpoint(tuple(sorted(set(parents) - named)), len(parents), ts)


def to_bytes(checkpoint: Checkpoint) -> bytes:
    """The file to keep."""
    record = {
        "holdfast": "checkpoint",
        "v": 1,
        "heads": list(checkpoint.heads),
        "count": checkpoint.count,
        "ts": checkpoint.ts,
    }
    return json.dumps(record, separators=(",", ":")).encode("ascii") + b"\n"


def from_bytes(data: bytes, name: str) -> Checkpoint:
    """The checkpoint in a file; BadInput if it is none."""
    try:
        record = json.loads(data) if len(data) <= MAX_CHECKPOINT else None
    except ValueError:
        record = None
    if not isinstance(record, dict) or record.get("holdfast") != "checkpoint":
        raise BadInput(f"{name} is not a checkpoint", hint="Make one with `holdfast log --checkpoint FILE`.")
    if record.get("v") != 1:
        raise FutureFormat(f"{name} has format version {record.get('v')!r}; this Holdfast reads version 1")
    heads, count = record.get("heads"), record.get("count")
    if not isinstance(heads, list) or not all(isinstance(h, str) and _HASH.fullmatch(h) for h in heads):
        raise BadInput(f"{name} is a damaged checkpoint", hint="Use another copy of it.")
    if type(count) is not int or count < 0:
        raise BadInput(f"{name} is a damaged checkpoint", hint="Use another copy of it.")
    return Checkpoint(tuple(sorted(set(heads))), count, str(record.get("ts", "")))


def compare(kept: Checkpoint, parents: Mapping[str, Sequence[str]], name: str) -> list[Finding]:
    """What the log has lost since a checkpoint; new events and new heads are no loss."""
    gone = [head for head in kept.heads if head not in parents]
    found = [_lost(name, f"event {head[:16]}… was here at the checkpoint and is gone") for head in gone]
    reached = _ancestors(kept.heads, parents)
    if reached < kept.count:
        short = kept.count - reached
        found.append(_lost(name, f"{short} of the {kept.count} events behind the checkpoint are gone"))
    return found


def _ancestors(heads: Sequence[str], parents: Mapping[str, Sequence[str]]) -> int:
    seen: set[str] = set()
    todo = [head for head in heads if head in parents]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(parent for parent in parents[name] if parent in parents)
    return len(seen)


def _lost(name: str, sentence: str) -> Finding:
    step = "Look for it on another branch, in another clone or in a backup: somebody dropped history."
    return Finding(severity="problem", topic="checkpoint", file=name, sentence=sentence, next_step=step)
