"""An event: one thing that happened, as its envelope in the log describes it, and the order among events.

An envelope holds no free text and no hash of content: those are in the body, which can be erased while the log still
verifies. Bytes are left to `store.format`. The order is causal first, then by time, then by hash: two events are
concurrent exactly if neither is an ancestor of the other, and clocks only break ties.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.errors import BadInput
from holdfast.model.ids import LAYER_HINT, is_id, is_layer
from holdfast.patterns import regex
from holdfast.values import field, frozen

# run: an execution ended. propose: a memory was proposed. accept: a person approved it. promote: it was approved
# automatically, or not provably by a person. rewrite: history was rewritten. erase: a body is gone.
KINDS = (
    *("run", "propose", "accept", "promote", "reject", "retire", "edit"),
    *("task", "session", "checkpoint", "rewrite", "erase", "join"),
)

MAX_PARENTS = 32  # a guess: more heads than that are joined step by step
_OID = regex(r"[0-9a-f]{40}|[0-9a-f]{64}")


@frozen
class EventDraft:
    """An event somebody wants recorded; the writer adds time, line, sequence and links."""

    kind: str
    target: str | None = None
    run_id: str | None = None
    parent_run_id: str | None = None
    head: str | None = None
    layer: str | None = None
    systemic_scale: int | None = None
    exit_status: int | None = None
    body: Mapping[str, Any] | None = field(default=None)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInput(f"{self.kind!r} is not a kind of event", hint=f"Use one of {', '.join(KINDS)}.")
        for name in ("target", "run_id", "parent_run_id"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, str) and is_id(value)):
                raise BadInput(f"{name} {value!r} is not an id", hint="Use letters, digits, dot, dash, underscore.")
        if self.layer is not None and not is_layer(str(self.layer)):
            raise BadInput(f"layer {self.layer!r} is not a short word", hint=LAYER_HINT)
        if self.head is not None and not _OID.fullmatch(self.head):
            raise BadInput(f"head {self.head!r} is not a full commit id")
        for name in ("systemic_scale", "exit_status"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or abs(value) >= 2**53):
                raise BadInput(f"{name} {value!r} is not a whole number")


@frozen
class Event:
    """One envelope of the log."""

    hash_self: str
    ts: str
    kind: str
    target: str | None
    line: str
    writer: str
    seq: int
    run_id: str | None
    parent_run_id: str | None
    head: str | None
    layer: str | None
    systemic_scale: int | None
    exit_status: int | None
    body: str | None
    hash_prev: tuple[str, ...]
    added: str = ""  # fields of a later version, as they stand in the line


def timestamp(now: datetime) -> str:
    """UTC with microseconds, the form every event carries."""
    return now.astimezone(UTC).isoformat(timespec="microseconds")[:26] + "Z"


def heads(events: Iterable[Event]) -> list[str]:
    """Events that no other event here names as a parent, newest first."""
    seen = {event.hash_self: event for event in events}
    named = {parent for event in seen.values() for parent in event.hash_prev}
    tips = (event for event in seen.values() if event.hash_self not in named)
    return [tip.hash_self for tip in sorted(tips, key=lambda e: (e.ts, e.hash_self), reverse=True)]


def in_order(events: Iterable[Event]) -> list[Event]:
    """Each event once, parents first; among the free ones by time, then hash."""
    known = {event.hash_self: event for event in events}
    waiting: dict[str, int] = {}
    children: dict[str, list[str]] = defaultdict(list)
    for event in known.values():
        parents = [parent for parent in event.hash_prev if parent in known]
        waiting[event.hash_self] = len(parents)
        for parent in parents:
            children[parent].append(event.hash_self)
    free = [(known[h].ts, h) for h, count in waiting.items() if count == 0]
    heapq.heapify(free)
    ordered = []
    while free:
        _, name = heapq.heappop(free)
        ordered.append(known[name])
        for child in children[name]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(free, (known[child].ts, child))
    return ordered
