"""Order among events: causal first, then time, then hash.

Two events are concurrent exactly if neither is an ancestor of the other; clocks only break ties.
"""

import heapq
from collections import defaultdict
from collections.abc import Iterable

from holdfast.model.event import Event


def heads(events: Iterable[Event]) -> list[str]:
    """Events that no other event here names as a parent, newest first."""
    named: set[str] = set()
    seen: dict[str, Event] = {}
    for event in events:
        seen[event.hash_self] = event
        named.update(event.hash_prev)
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
