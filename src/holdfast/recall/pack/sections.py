"""The lines of each section of a context, most important first, one thing a line and each with its id."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from functools import partial

from holdfast.model.brief import shortened
from holdfast.model.task import PLANS, Task
from holdfast.model.text import count, visible
from holdfast.recall import applicable_memories
from holdfast.recall.pack import last_session
from holdfast.recall.pack import material as gathered
from holdfast.recall.pack.pack_lines import LONGEST, PackLine, PackSection, ToldRevision, flat, plain_line

MAX_PATHS, MAX_COMMITS = 40, 8  # named ones; a guess: the others are counted, and git lists them
MAX_LINKS = 3  # a guess: links are for reference, `link list` shows the others
_WIDE = 100  # characters of a list of names before a new line; a guess: a cut then costs few names
_RATIONALE, _DOUBT = 160, 100  # bytes of a rationale and of a warning; a guess: a sentence each
_NAMED = 3  # contradicting memories that a line names; a guess
MOST_FOUND = 5  # search hits in a pack; as many as `recall` shows by default
FOUND = "found"  # search hits that no other section shows
_OF = {  # the sections of memories, and their type; a person approved each of their lines
    "invariants": "invariant",
    "decisions": "decision",
    "dead-ends": "dead-end",
    "assumptions": "assumption",
    "facts": "fact",
}
with open(os.path.join(os.path.dirname(__file__), "sections.txt"), encoding="utf-8") as _FILE:
    _ROWS = [line.rstrip("\n").split(" | ") for line in _FILE if not line.startswith("#")]
_WORDS = {name: (title, short, more) for name, title, short, more in _ROWS}
NAMES = tuple(_WORDS)


def section(
    name: str, material: gathered.PackMaterial, *, marker: str = "", told: Collection[str] = (), short: bool = False
) -> PackSection | None:
    """Returns a section in full; None if all its lines are in `told` already, the ids shown elsewhere.

    The marker in its title says that people approved each line: authors of data cannot predict it.
    """
    lines = _found(material, told) if name == FOUND else _LINES[name](material)
    if not lines:
        return None
    session = material.chosen.session
    branch = whose_branch(material)
    whose = f" of {shortened(visible(branch), 80)}" if branch else ""
    said = {"session": session.id if session else "", "whose": whose}
    long, brief, more = (words.format(**said) for words in _WORDS[name])
    title, more = (brief, "") if short else (long, more)
    title += f" [rules {marker}]" if name in _OF else ""
    left = max(0, len(material.links) - len(lines)) if name == "links" else 0
    return PackSection(name, title, tuple(lines), left_out=left, more=more, reviewed=name in _OF)


def whose_branch(material: gathered.PackMaterial) -> str | None:
    """Returns the session's branch, if it is not this one."""
    session = material.chosen.session
    if session is None or session.line == material.line:
        return None
    return session.updated.branch or session.branch or session.updated.place


# ── what is known ────────────────────────────────────────────────────────────────────────────────


def _memory_lines(kind: str, material: gathered.PackMaterial) -> list[PackLine]:
    return [_memory_line(one) for one in material.governs if one.known.type == kind]


def _memory_line(one: applicable_memories.ApplicableMemory) -> PackLine:
    known, why, undecided = one.known, flat(one.why, 80), ""
    if known.against:  # approved memories deny it, and nobody has decided between them
        more = f" and {len(known.against) - _NAMED:,} more" if len(known.against) > _NAMED else ""
        undecided = f"undecided: contradicts {', '.join(known.against[:_NAMED])}{more}"
    said = ((known.why, _RATIONALE), (known.doubt, _DOUBT))
    end = "".join(f"({flat(part, size)}) " for part, size in said if part) + f"[{why}]"
    # The open contradiction comes first: a shortened line must not look settled.
    begin = f"- {known.id} {f'({undecided}; ask) ' if undecided else ''}"
    room = max(120, LONGEST - len(f"{begin}{end}".encode("utf-8", "replace")) - 1)
    told = ToldRevision(known.id, known.type, known.blob, "; ".join(filter(None, (why, undecided))))
    return PackLine(f"{begin}{flat(known.statement, room)} {end}", (told,))


def _found(material: gathered.PackMaterial, told_already: Collection[str]) -> list[PackLine]:
    rows: dict[str, PackLine] = {}
    for one in material.asked.found:
        state = f", {one.state}" if one.state else ""
        text = f" ({one.text})" if one.text else ""
        told = ToldRevision(one.id, one.kind, one.blob, "found for what was asked")
        line = plain_line(f"- {one.id} ({one.kind}{state}) {one.title}{text}", told)
        if one.id not in told_already:
            rows.setdefault(one.id, line)  # the best hit of a record comes first
    return list(rows.values())[:MOST_FOUND]


# ── work ─────────────────────────────────────────────────────────────────────────────────────────


def _changed(material: gathered.PackMaterial) -> list[PackLine]:
    place = gathered.here(material)
    at = f"at {place.id[:12]}"
    kinds: dict[str, list[str]] = {}
    for path, code in sorted(material.changed.uncommitted.items()):
        new, gone = code in ("??", "A ", "AM"), "D" in code and "U" not in code
        kind = "new" if new else "deleted" if gone else "in conflict" if "U" in code else "changed"
        kinds.setdefault(kind, []).append(path)
    lines = [
        plain_line(text, place)
        for what, names in kinds.items()
        for text in _in_short_lines(f"- Not committed {at}, {what}: ", names, f"- {place.id[:12]}, {what} too: ")
    ]
    if material.commit_count:
        base = ToldRevision(material.base or place.id, "commit", None, "where these commits begin")
        last = material.chosen.before or material.chosen
        since = f"on this branch since it left the trunk at {(material.base or '')[:12]}"
        if last.since and last.session:
            whose = "that session" if last is material.chosen else last.session.id
            since = f"since {whose}'s last commit {last.since[:12]}"
        lines.append(plain_line(f"- {count(material.commit_count, 'commit')} {since}:", base))
        lines += [
            plain_line(f"- {oid[:12]} {subject}", ToldRevision(oid, "commit", None, "made since"))
            for oid, subject in material.commits[:MAX_COMMITS]
        ]
    if material.files:
        title = f"- {count(len(material.files), 'file')} in them {at}: "
        more = f"- {place.id[:12]}, in them too: "
        lines += [plain_line(text, place) for text in _in_short_lines(title, material.files, more)]
    return lines


def _tasks_near(material: gathered.PackMaterial) -> dict[str, str]:
    """Returns the current tasks (else those that search found, else the next one) and their neighbours, with why."""
    board, hand = material.board, material.hand.tasks
    if board is None:
        return {}
    there = board.placed
    found = [one.id for one in material.asked.found if one.id in there]
    ready = [task.id for task in board.graph.ready() if task.kind not in PLANS]
    current = [name for name in hand if name in there]
    current += [name for name in found if name in ready and name not in current]
    if not (current or material.asked.words or material.asked.files):
        current = (ready or [one.task.id for one in board.graph.waiting() if _is_held(one.task, one.reasons)])[:1]
    near = {name: "at hand" if name in hand else "asked for" if name in found else "next" for name in current}
    for name in current:
        around = [*there[name].task.needs, *(one.id for one in board.tasks if name in (one.parent, *one.needs))]
        above = there[name].task.parent
        while above and above in there and above not in around:
            around.append(above)
            above = there[above].task.parent
        near |= {other: f"next to {name}" for other in around if other in there and other not in near}
    return near


def omitted_tasks(material: gathered.PackMaterial) -> int:
    """Returns how many open tasks a pack does not name."""
    near = _tasks_near(material)
    there = material.board.tasks if material.board else ()
    return sum(task.id not in near and task.kind not in PLANS and not task.is_closed for task in there)


def _open(material: gathered.PackMaterial) -> list[PackLine]:
    if material.board is None:
        return []
    near, held = _tasks_near(material), {task.id for task, _ in _held_back(material)}
    there = {task.id: task for task in material.board.tasks if task.id in near and task.kind not in PLANS}
    return [
        plain_line(
            f"- {_task(there[name])}{_shaky(there[name], material)}{_claimed(there[name], material)}",
            _of_task(there[name], material, why),
        )
        for name, why in near.items()
        if name in there and not there[name].is_closed and name not in held
    ]


def _shaky(task: Task, material: gathered.PackMaterial) -> str:
    """Returns which of a task's premises no longer hold."""
    return f" (rests on {material.shaky[task.id]})" if task.id in material.shaky else ""


def _of_task(task: Task, material: gathered.PackMaterial, why: str) -> ToldRevision:
    placed = material.board.placed.get(task.id) if material.board else None
    at_hand = task.id in material.hand.tasks
    shaky = f"; rests on {material.shaky[task.id]}" if task.id in material.shaky else ""
    return ToldRevision(task.id, "task", placed.blob if placed else None, ("at hand" if at_hand else why) + shaky)


def _claimed(task: Task, material: gathered.PackMaterial) -> str:
    if (claim := (material.claims or {}).get(task.id)) is None:
        return ""
    is_here = (claim.line, claim.worktree) == (material.line, material.worktree)
    where = "" if is_here else f" on {claim.branch or 'a detached HEAD'}"
    return f" [claimed by {claim.owner}{where} until {last_session.minute(claim.until)}]"


def _held_back(material: gathered.PackMaterial) -> list[tuple[Task, tuple[str, ...]]]:
    """Returns the blocked tasks near the current ones, most urgent first, with the reasons."""
    board, near = material.board, _tasks_near(material)
    there = [(task, board.graph.standing(task.id)) for task in board.tasks if task.id in near] if board else []
    return sorted((pair for pair in there if _is_held(*pair)), key=lambda pair: pair[0].priority)


def _is_held(task: Task, reasons: Sequence[str]) -> bool:
    return task.status != "started" and not all(reason.startswith("has ") for reason in reasons)


def _blocked(material: gathered.PackMaterial) -> list[PackLine]:
    return [
        plain_line(
            f"- {task.id} {task.title}: {'; '.join(reasons)}{_shaky(task, material)}", _of_task(task, material, "waits")
        )
        for task, reasons in _held_back(material)
    ]


def _goals(material: gathered.PackMaterial) -> list[PackLine]:
    if material.board is None:
        return []
    graph, near = material.board.graph, _tasks_near(material)
    plans = [t for kind in ("goal", "milestone") for t in material.board.tasks if t.kind == kind and t.id in near]
    plans.sort(key=lambda task: (task.is_closed, task.priority))  # reached ones last
    lines = []
    for task in plans:
        closed, count = graph.progress(task.id)
        done = f": {closed:,} of {count:,} done" if count else ""
        lines.append(plain_line(f"- {task.kind} {_task(task)}{done}", _of_task(task, material, f"a {task.kind}")))
    return lines


def _task(task: Task) -> str:
    urgent = f" (priority {task.priority})" if task.priority < 2 else ""
    status = "" if task.status == "open" else f" {task.status}:"
    return f"{task.id}{status} {task.title}{urgent}"


def _links(material: gathered.PackMaterial) -> list[PackLine]:
    words, files = material.hand.words, material.hand.files
    fits = [applicable_memories.shares_words(f"{one.link.title} {one.link.target}", words) for one in material.links]
    near = [one for one, is_fit in zip(material.links, fits, strict=True) if is_fit or one.link.target in files]
    some = (near or material.links)[:MAX_LINKS]
    there = ((one.link, f" (leads nowhere: {one.dead})" if one.dead else "") for one in some)
    return [
        plain_line(f"- {link.id} {link.title}: {link.target}{dead}", ToldRevision(link.id, "link", None, "canonical"))
        for link, dead in there
    ]


def _in_short_lines(title: str, names: Sequence[str], again: str) -> list[str]:
    """Returns names in lines short enough that a cut costs few of them."""
    lines, shown = [title], names[:MAX_PATHS]
    for name in shown:
        if len(lines[-1]) > _WIDE:
            lines.append(again)
        lines[-1] += f"{name}, "
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return [*(text.rstrip(", ") for text in lines[:-1]), lines[-1].rstrip(", ") + more]


_LINES: dict[str, Callable[[gathered.PackMaterial], list[PackLine]]] = {
    **{name: partial(_memory_lines, kind) for name, kind in _OF.items()},
    "open": _open,
    "blocked": _blocked,
    "session": lambda material: last_session.thread_lines(material.thread) if material.thread else [],
    "changed": _changed,
    "goals": _goals,
    "links": _links,
}
