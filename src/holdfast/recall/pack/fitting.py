"""Sections cut to a room of tokens: whole lines only, and what was cut is counted and said."""

from collections.abc import Mapping
from dataclasses import replace

from holdfast.recall.pack import thread as threads
from holdfast.recall.pack.counting import of_line
from holdfast.recall.pack.lines import Line, Section, first, size
from holdfast.recall.pack.thread import Thread

_WEIGHTS = {"invariants": 3, "decisions": 2, "dead-ends": 2, "open": 2, "session": 2, "found": 2}


def fitted(whole: Mapping[str, Section], room: int, thread: Thread | None) -> dict[str, Section]:
    """The sections cut to a room; what whole lines leave of it goes to whom the order names first."""
    shares = _shared_out({name: cost(section, most=room) for name, section in whole.items()}, room)
    told: dict[str, Section] = {}
    spare = max(0, room)
    for name, section in whole.items():
        if cut := _cut(section, shares[name], thread):
            told[name] = cut
            spare -= cost(cut, most=room)
    for name, section in whole.items():
        had = cost(told[name], most=room) if name in told else 0
        if (name not in told or told[name].left_out) and (cut := _cut(section, had + spare, thread)):
            told[name] = cut
            spare -= cost(cut, most=had + spare) - had
    return told


def cost(section: Section, *, most: int) -> int:
    """The tokens a section takes; no longer counted once they are more than `most`."""
    frame = sum(of_line(text) for text in replace(section, lines=()).texts)
    return frame + size(section.lines, most=most)


def _shared_out(wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """Who gets how many tokens: a share by weight, and what one does not need goes to the others.

    A long session must not push out the tasks, nor many facts the invariants.
    """
    shares: dict[str, int] = {}
    waiting, left = dict(wanted), max(0, room)
    while waiting:
        parts = sum(_WEIGHTS.get(name, 1) for name in waiting)
        small = [name for name, size in waiting.items() if size <= left * _WEIGHTS.get(name, 1) // parts]
        if not small:
            return shares | {name: left * _WEIGHTS.get(name, 1) // parts for name in waiting}
        for name in small:
            shares[name] = waiting.pop(name)
            left -= shares[name]
    return shares


def _cut(whole: Section, share: int, thread: Thread | None) -> Section | None:
    """As many lines as fit into a share, and how many did not; None if not one does."""
    if cost(whole, most=share) <= share:
        return whole
    room = share - cost(replace(whole, lines=(), left_out=len(whole.lines)), most=share)
    kept = _kept(whole, room, thread)
    left = max(1, len(whole.lines) - len(kept))
    return replace(whole, lines=tuple(kept), left_out=left) if kept else None


def _kept(whole: Section, room: int, thread: Thread | None) -> list[Line]:
    if whole.name == "session" and thread is not None and room > 0:
        # A session has its own way to be short: what is open stays longest.
        return threads.lines(thread, room)
    return first(whole.lines, room)
