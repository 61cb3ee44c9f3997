"""What the commands of review say to people: what waits and why, what was decided, what can be done next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.index import hit_text
from holdfast.interfaces.cli.connect_commands import readers
from holdfast.interfaces.cli.invocation import why_no_person
from holdfast.interfaces.cli.output import as_plain, picked, strong
from holdfast.interfaces.cli.phrases import MOST_ROWS, count, lines, more, short, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.curation import decisions, memory_conflicts, memory_state, review_queue, undo
    from holdfast.git.erase import Erasure
    from holdfast.project.memory_book import Decided

    Waiting = Sequence[
        tuple[review_queue.QueueItem, review_queue.ReviewLook | None]
    ]  # with a close look if there was time for one

_SILENT = "It is found when asked for; context, hooks and AGENTS.md do not show it."
SIDE = 46  # columns of each of two texts side by side
MOST_NAMED = 5  # memories to accept again that are named
DIFF = 12  # lines of what made a memory stale
_ELSEWHERE = "proposed on another line"
_STATE = {"changed": "has changed since", "gone": "is gone", "unanchored": "is on no branch"}
_VERB = {"rejected": "rejected", "deprecated": "retired"}
_WHY = {
    "edited": "not reviewed as it stands",
    "stale": "its evidence changed",
    "expired": "its time is over",
    "suggested": "suggested",
    "elsewhere": "came by git, and nobody here approved it",
    "contradicts": "stands here beside what contradicts it",
}


def _row(standing: decisions.MemoryStanding) -> tuple[str, str, str]:
    memory = standing.memory
    sure = "" if memory.confidence is None else f"{memory.confidence:g}"
    stale = [state for _, state in standing.receipts if state in ("changed", "gone")]
    kind = "" if memory.type == "fact" else memory.type
    elsewhere = "from elsewhere" if standing.trust == "T4" else ""
    parts = (kind, memory.layer or "", sure, *memory.tags, f"evidence {stale[0]}" if stale else "", elsewhere)
    return (strong(standing.id), short(memory.statement), ", ".join(part for part in parts if part))


def _notes(standing: decisions.MemoryStanding) -> list[str]:
    return [f"  note: {note}" for note in standing.notes]


def remembered(standing: decisions.MemoryStanding) -> str:
    if standing.status == "candidate":
        return lines(
            f"{strong(standing.id)}  waits for review",
            _notes(standing),
            f"Accept it with: holdfast review accept {standing.id}",
        )
    return accepted(standing)


def accepted(standing: decisions.MemoryStanding) -> str:
    if standing.status == "deprecated":
        return retired(standing)
    return lines(
        f"{strong(standing.id)}  accepted: {short(standing.memory.statement)}",
        _notes(standing),
        _promoted([standing]),
        "Share it with: holdfast publish",
    )


def _promoted(done: Sequence[decisions.MemoryStanding]) -> list[str]:
    """Why it does not count as a person's approval, what that costs, and what to do about it."""
    names = [one.id for one in done if one.trust != "T0"]
    if not names:
        return []
    why = why_no_person() or "no person was seen at a terminal"
    named = " ".join(names) if len(names) <= MOST_NAMED else "ID"
    way = f"In another terminal, where no agent runs, type: holdfast review accept {named}"
    return [f"Not counted as approved by a person: {why}.", _SILENT, way]


def edited(standing: decisions.MemoryStanding) -> str:
    if standing.status == "candidate":
        return f"{strong(standing.id)}  changed; it still waits for review"
    return lines(f"{strong(standing.id)}  changed and approved again", "Share it with: holdfast publish")


def merged(standing: decisions.MemoryStanding) -> str:
    return f"{strong(standing.id)}  took up its evidence"


def retired(standing: decisions.MemoryStanding) -> str:
    return lines(f"{strong(standing.id)}  retired; its file stays and says so", "Share it with: holdfast publish")


def deprecated(standing: decisions.MemoryStanding) -> str:
    if standing.status == "candidate":
        return lines(
            f"{strong(standing.id)}  suggests it; a person decides",
            f"Decide with: holdfast review accept {standing.id}",
        )
    return retired(standing)


def rejected(standing: decisions.MemoryStanding) -> str:
    return f"{strong(standing.id)}  rejected; the same claim will not be proposed again"


def undone(step: undo.UndoStep) -> str:
    return f"{strong(step.id)}  as it was before the last {step.action}"


def decided(done: Decided) -> str:
    """Many decisions at once, and what was left."""
    verbs = {_VERB.get(standing.status, "accepted") for standing in done.done} or {"decided"}
    verb = verbs.pop() if len(verbs) == 1 else "decided"
    return lines(
        f"{count(len(done.done), 'memory')} {verb}.",
        table([_row(standing) for standing in done.done]),
        _promoted([one for one in done.done if one.status == "accepted"]),
        *(["", f"{count(len(done.left), 'memory')} left:"] if done.left else []),
        [f"  {strong(name)}  {why}" for name, why in done.left],
        [f"hint: {hint}" for hint in done.hints[:MOST_NAMED]],
    )


def facts(found: memory_state.MemoryListing, *, kind: str = "fact") -> str:
    sections = (
        ("Stale: what they cite has changed", found.stale),
        ("Edited since approval", [one for one in found.unreviewed if one.status == hit_text.EDITED]),
        ("Approval cannot be checked here", [one for one in found.unreviewed if one.status == hit_text.UNCHECKED]),
        ("Not reviewed as they stand", [one for one in found.unreviewed if one.status == "unreviewed"]),
        ("Expired", found.expired),
        ("Superseded", found.superseded),
        ("Retired", found.retired),
    )
    troubles = [f"  {_trouble(item.path, item.message)}" for item in found.broken]
    troubles += [f"  {item.id}: changed here and in the branch's history: {item.path}" for item in found.clashes]
    name = "memory" if kind == "all" else kind.replace("-", " ")
    if not (found.standings or troubles):
        said = "memories" if kind == "all" else f"{name}s"
        example = "'Tests need Postgres 16.'"
        if kind not in ("fact", "all"):
            example = f"--type {kind} 'STATEMENT' --why 'REASON'"
        return f"No {said} yet. Propose one with: holdfast remember {example} --evidence PATH"
    return lines(
        f"{count(len(found.trusted), name, 'hold')} here.",
        _rows(found.trusted),
        *(["", f"{title}:", *_rows(items)] for title, items in sections if items),
        ["", "Left out:", *troubles] if troubles else [],
    )


def _rows(standings: Sequence[decisions.MemoryStanding]) -> list[str]:
    return [*table([_row(one) for one in standings[:MOST_ROWS]]), *more(len(standings))]


def _trouble(path: str, message: str) -> str:
    return message if message.startswith(path) else f"{path}: {message}"


def candidates(waiting: Waiting, lost: Sequence[review_queue.UnreadableMemory] = ()) -> str:
    if lost:  # what a person approved and agents no longer see, with how to bring each back
        said = []
        for one in lost:
            said += [f"{strong(one.id)} was approved and cannot be read any more, so it is not told to agents."]
            said += [f"    {_trouble(one.path, one.why)}", f"    bring it back and commit it: {one.next_step}"]
        return lines(said, ["", candidates(waiting)] if waiting else [])
    if not waiting:
        return "Nothing waits."
    rows = table([_row(item.standing) for item, _ in waiting])
    return lines(
        f"{count(len(waiting), 'memory', 'wait')}.",
        *(["", row, *_grounds(*one)] for row, one in zip(rows, waiting, strict=True)),
        "",
        f"Accept one with: holdfast review accept {waiting[0][0].id}",
    )


def _grounds(item: review_queue.QueueItem, look: review_queue.ReviewLook | None) -> list[str]:
    """What one decides by: why it waits, what it rests on and whether that holds, where it was said."""
    memory, cited = item.standing.memory, item.standing.receipts
    told = (*(text for text, _ in cited), *([_ELSEWHERE] if item.branch else []))  # said better elsewhere
    notes = [note for note in item.standing.notes if not note.startswith(told)]
    because = getattr(memory, "because", "")
    evidence = ", ".join(f"{receipt_name(text)} ({_STATE.get(state, state)})" for text, state in cited)
    status, source = item.standing.status, memory.source
    why = status if status in (hit_text.EDITED, hit_text.UNCHECKED) else _WHY.get(item.reason)
    said = [f"proposed {item.proposed[:16].replace('T', ' ')} UTC"] if item.proposed else ["proposed"]
    said += [f"on {item.branch}"] if item.branch else []
    said += [f"by {source}"] if source else []
    return [
        *([f"    {': '.join(filter(None, (why, because)))}"] if item.reason in _WHY or because else []),
        f"    evidence: {evidence or 'none'}",
        *([f"    {' '.join(said)}"] if item.reason in ("proposed", "suggested") else []),
        *(f"    said: {_place(one.source, one.turn)}: {short(one.words, 120)}" for one in item.provenance[:3]),
        *(f"    note: {note}" for note in notes),
        *(f"    {line}" for line in memory.details.splitlines()[:5] if line.strip()),
        *(_beside(look) if look else ()),
    ]


def _beside(look: review_queue.ReviewLook) -> list[str]:
    """What speaks against it, both texts side by side, and what made it stale."""
    rows = [row for conflict in look.conflicts[:3] for row in _conflict(conflict)]
    more = [f"    … {len(look.diff) - DIFF} more lines"] if len(look.diff) > DIFF else []
    return [*rows, *(f"    {line}" for line in look.diff[:DIFF]), *more]


def _conflict(conflict: memory_conflicts.MemoryConflict) -> list[str]:
    from itertools import zip_longest
    from textwrap import wrap

    sides = (conflict.one.statement, conflict.other.statement)
    pairs = zip_longest(*(wrap(" ".join(text.split()), SIDE)[:6] for text in sides), fillvalue="")
    names = (conflict.one.id, f"{conflict.other.id} ({conflict.status})")
    rows = table([names, *pairs], indent="      ")
    return [f"    contradicts {strong(conflict.other.id)}: {conflict.verdict.why}", *rows]


def _place(source: str, turn: int | None) -> str:
    unit = "line" if source.startswith("file:") else "turn"
    return source if turn is None else f"{source}, {unit} {turn}"


def receipt_name(receipt: str) -> str:
    """A receipt as people know it: a place without its hash, a commit by the beginning of its name."""
    kind, _, rest = receipt.partition(":")
    if kind in ("file", "lines", "symbol"):
        return rest.rpartition("@")[0] or rest
    return f"commit {rest[:12]}" if kind == "commit" else receipt


def elsewhere(number: int, *, trusting: bool) -> str:
    """What came by git is decided about all at once, unless that was done, or one by one."""
    way = "holdfast review list --waits-as elsewhere"
    came = f"besides, {count(number, 'memory')} came by git, not approved here"
    return f"{came}: {way}" if trusting else f"{came}: holdfast trust, or {way}"


def restart(stale: Iterable[str]) -> str:
    """Which connected tools do not know yet."""
    return f"refresh the instructions with `holdfast connect`, then restart to see it: {readers(list(stale))}"


def erased(erasure: Erasure) -> str:
    still = erasure.still_held
    return lines(
        f"{strong(erasure.id)}  erased; {count(len(erasure.removed), 'file')} deleted here",
        ["", "It may still be held by:", *(f"  {place}" for place in still)] if still else [],
    )


# As objects.


def standing_object(value: decisions.MemoryStanding) -> dict[str, Any]:
    """A memory with the state it is in, flat."""
    fields = as_plain(value.memory)
    own = {key: field for key, field in as_plain(value).items() if key != "memory"}
    return {**fields, **own}


def waiting_object(waiting: Waiting, lost: Sequence[review_queue.UnreadableMemory]) -> dict[str, Any]:
    """What waits as a list, and what was approved and cannot be read any more."""
    return {"items": [_waiting_object(item, look) for item, look in waiting], "unreadable": lost}


def _waiting_object(item: review_queue.QueueItem, look: review_queue.ReviewLook | None) -> dict[str, Any]:
    found = {
        **standing_object(item.standing),
        **picked(item, "reason", "branch"),
        "proposed_at": item.proposed,
        "said": item.provenance,
    }
    if look is None:
        return found
    conflicts = [
        {**picked(one.other, "id", "statement"), "status": one.status, **picked(one.verdict, "kind", "why")}
        for one in look.conflicts
    ]
    return {**found, **picked(look, "same", "diff"), "conflicts": conflicts}


def decided_object(done: Decided) -> dict[str, Any]:
    """Many decisions at once."""
    left = [{"id": name, "why": why} for name, why in done.left]
    return {"items": [*map(standing_object, done.done)], "left": left, "hints": done.hints}


def facts_object(found: memory_state.MemoryListing) -> dict[str, Any]:
    """All facts as one list, each with its status, and what could not be read."""
    return {
        "items": [*map(standing_object, found.standings)],
        "broken": [picked(one, "path", "message") for one in found.broken],
        "clashes": found.clashes,
    }
