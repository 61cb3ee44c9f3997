"""Sections cut to a room of tokens: whole lines only, and what was cut is counted and said.

What governs the work has the first claim: up to two thirds of the room before the other sections share the
rest. Where not even one line that governs fits, nothing less important takes its place: whoever reads a
pack takes what stands in it for the most important.
"""

from collections.abc import Iterable, Mapping

from holdfast.recall.pack import thread as threads
from holdfast.recall.pack.counting import clipped, of_line
from holdfast.recall.pack.lines import Line, Section, first, size
from holdfast.recall.pack.thread import Thread
from holdfast.values import replace

GOVERNING = ("invariants", "decisions", "dead-ends")  # by how much they bind
_WEIGHTS = {"invariants": 3, "decisions": 2, "dead-ends": 2, "open": 2, "session": 2, "found": 2}


def fitted(whole: Mapping[str, Section], room: int, thread: Thread | None) -> dict[str, Section]:
    """The sections cut to a room; what whole lines leave of it goes to whom the order names first."""
    claiming = [name for name in GOVERNING if name in whole]
    others = [name for name in whole if name not in claiming]
    wanted = {name: cost(section, most=room) for name, section in whole.items()}
    claim = max(2 * room // 3, room - sum(wanted[name] for name in others))
    told = _shared({name: whole[name] for name in claiming}, claim, thread)
    if claiming and claiming[0] not in told:
        told = _first_line(whole[claiming[0]], room)
        if not told:
            return {}
    left = room - max(claim if claiming else 0, sum(cost(one, most=room) for one in told.values()))
    told |= _shared({name: whole[name] for name in others}, left, thread)
    # What is left of either part goes to what governs before it goes to the others.
    return _filled(whole, told, room, thread, order=[*claiming, *others])


def _shared(whole: Mapping[str, Section], room: int, thread: Thread | None) -> dict[str, Section]:
    """The sections, each cut to its share of a room; then what they leave, in their order."""
    shares = _shared_out({name: cost(section, most=room) for name, section in whole.items()}, room)
    cut = {name: _cut(section, shares[name], thread) for name, section in whole.items()}
    told = {name: section for name, section in cut.items() if section}
    return _filled(whole, told, room, thread, order=whole)


def _filled(
    whole: Mapping[str, Section], told: Mapping[str, Section], room: int, thread: Thread | None, *, order: Iterable[str]
) -> dict[str, Section]:
    """The same with what they leave of the room, given to one after another."""
    full = dict(told)
    spare = max(0, room - sum(cost(section, most=room) for section in told.values()))
    for name in order:
        had = cost(full[name], most=room) if name in full else 0
        if name in full and not full[name].left_out:
            continue
        if cut := _cut(whole[name], had + spare, thread):
            full[name] = cut
            spare -= cost(cut, most=had + spare) - had
    return full


def _first_line(section: Section, room: int) -> dict[str, Section]:
    """A section with its first line alone, cut short if it must be; nothing if that has no room."""
    line = section.lines[0]
    bare = replace(section, lines=(), left_out=len(section.lines) - 1)
    words = clipped(line.text, room - cost(bare, most=room) - 1)  # one for the line's end
    if f"{line.told[0].id} " not in words:
        return {}
    return {section.name: replace(bare, lines=(Line(words, line.told),))}


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
