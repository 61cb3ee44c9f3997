"""Contexts and receipts in words and as objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.interfaces.cli.output import as_plain
from holdfast.interfaces.cli.words import count, lines, short, table

if TYPE_CHECKING:
    from holdfast.recall.context import Context
    from holdfast.recall.receipts import Entry, Knew, Pack

_SHORT, _LONG, _WORDS = 12, 40, 60  # characters of a revision, of a name, and of what was told


def context_object(found: Context) -> dict[str, Any]:
    """A context as JSON."""
    sections = [
        {
            "name": section.name,
            "reviewed": section.reviewed,
            "title": section.title,
            "lines": [line.text for line in section.lines],
            "left_out": section.left_out,
            "more": section.more,
        }
        for section in found.sections
    ]
    return {
        "how": found.how,
        "why": found.why,
        "session": found.session,
        "session_branch": found.foreign or found.branch if found.session else None,
        "of_this_branch": found.session is not None and found.foreign is None,
        "branch": found.branch,
        "head": found.head,
        "since": found.since,
        "budget": found.budget,
        "tokens": found.tokens,
        "sections": sections,
        "dropped": list(found.dropped),
        "silent": found.silent,
        "unmerged": found.unmerged.memories if found.unmerged else 0,
        "for": found.asked.words or None,
        "files": list(found.asked.files),
        "receipt": _receipt(found),
    }


def silent(number: int, *, can_trust: bool) -> str:
    """That nothing speaks here although much came, and what lets it."""
    do = "does" if number == 1 else "do"
    how = "holdfast trust" if can_trust else "holdfast review"
    return f"{count(number, 'memory')} came by git and {do} not speak: {how}"


def _receipt(found: Context) -> dict[str, Any]:
    """What went in and where it is kept."""
    from holdfast.recall.pack.counting import HOW
    from holdfast.recall.receipts import entries

    kept = found.receipt
    return {
        "ts": kept.ts if kept else None,
        "owner": kept.owner if kept else None,
        "number": kept.number if kept else None,
        "root": kept.root if kept else None,
        "marker": found.marker,
        "tokens": found.tokens,
        "budget": found.budget,
        "counted": HOW,
        "branch": found.branch,
        "head": found.head,
        "entries": entries(found),
    }


def receipts(found: Knew) -> str:
    """What was told in a run or a session, pack by pack."""
    if not found.packs:
        return f"No context was given in {found.kind} {found.owner}"
    count = f"{len(found.packs):,} pack{'' if len(found.packs) == 1 else 's'}"
    dropped = f"; {found.dropped:,} older ones were not kept" if found.dropped else ""
    head = f"{found.kind.capitalize()} {found.owner} was given {count}{dropped}."
    said = [part for pack in found.packs for part in ("", *_told(pack))]
    return lines(head, *said, "", f"Read one as it was sent: holdfast receipts {found.owner} --pack N")


def _told(pack: Pack) -> list[str]:
    at = f" at {pack.head[:12]}" if pack.head else ""
    size = f"{pack.tokens or 0:,} of {pack.budget or 0:,} tokens"
    where = f"{pack.branch or 'a detached HEAD'}{at}"
    rows = [_entry(one) for one in pack.entries]
    asked = [f"  for: {pack.asked}"] if pack.asked else []
    files = [f"  files: {', '.join(pack.files[:8])}{' …' if len(pack.files) > 8 else ''}"] if pack.files else []
    late = ["  given after the run had ended: its capsule does not prove it"] if pack.late else []
    gone = ["  its text is not here any more"] if pack.text is None else []
    title = f"Pack {pack.number}, {_minute(pack.ts)}, {where}, {size}"
    return [title, *asked, *files, *late, *gone, *table(rows)]


def _entry(one: Entry) -> tuple[str, ...]:
    """A thing that was told: its name, the words, why, how it stands since, and its revision."""
    name = one.id[:_SHORT] if one.kind in ("commit", "line") else one.id[:_LONG]
    reason = one.why.partition("; undecided")[0]
    said = one.line.removeprefix("- ").removeprefix(one.id).removesuffix(f"[{reason}]").strip()
    said = said.removeprefix(one.id[:_SHORT]).strip() if name != one.id else said
    return name, short(said, _WORDS), one.why, one.state, (one.blob or "")[:_SHORT]


def _minute(ts: str | None) -> str:
    return f"{ts[:16].replace('T', ' ')} UTC" if ts else "at an unknown time"


def pack(found: Knew, number: int) -> Pack:
    """One of the packs; NotFound if there is none of that number."""
    from holdfast.errors import NotFound

    for one in found.packs:
        if one.number == number:
            return one
    there = ", ".join(str(one.number) for one in found.packs) or "none"
    raise NotFound(f"{found.owner} has no pack {number}", hint=f"There are: {there}")


def sent(pack: Pack) -> str:
    """A pack as the agent read it."""
    return pack.text or f"The text of pack {pack.number} is not here any more."


def receipts_object(found: Knew) -> dict[str, Any]:
    """The same as JSON; the texts only where one pack is asked for."""
    whole = [pack_object(one) for one in found.packs]
    packs = [{name: value for name, value in one.items() if name != "text"} for one in whole]
    return {"id": found.owner, "kind": found.kind, "dropped": found.dropped, "packs": packs}


def pack_object(pack: Pack) -> dict[str, Any]:
    """One pack, its text among its fields."""
    return {**as_plain(pack)}
