"""Taking the last decision back: what a reviewer did is noted so that it can be undone, once.

The log only grows, so an undo is an event of its own. What was published since, or changed since, is not
taken back behind anybody's back: it is refused, and says what to do instead.
"""

import json
import os

from holdfast.curation import candidates, decisions
from holdfast.errors import BadInput, BrokenEntry, HoldfastError, NotFound
from holdfast.git.clone import Clone
from holdfast.git.visible_entries import Sighting
from holdfast.model.memory import Candidate, Memory, Rejected
from holdfast.store import fsio, memory_files
from holdfast.store.layout import Layout
from holdfast.values import asdict, frozen, replace

MOST = 100  # decisions that can be taken back, the last first
_MAX_FILE = 1 << 26


@frozen
class UndoStep:
    """One decision: which files were what before it and after."""

    action: str  # accept, reject, retire, edit or join
    id: str
    candidates: tuple[tuple[str, str], ...] = ()  # id and text of each candidate as it was before
    path: str | None = None  # of the entry that was written
    before: str | None = None  # its file's text; None: there was none
    after: str | None = None
    stood: bool = False  # whether a person had approved this very text before, so that nothing changed
    person: bool = False  # whether a person decided
    line: str = ""  # where


def note(clone: Clone, step: UndoStep, reviewer: decisions.Reviewer | None) -> None:
    """Remember how to take a decision back; what is too old is forgotten."""
    by_person = reviewer is not None and reviewer.person
    _write(clone.layout, [*_read(clone.layout), replace(step, person=by_person, line=clone.line().id)][-MOST:])


def undo(clone: Clone, reviewer: decisions.Reviewer) -> UndoStep:
    """Take the last decision of this line back: the entry as it was, the candidate on the shelf again.

    Each step can be done again, so an undo that was killed is completed by running it again.
    """
    with candidates.locked(clone):
        steps, here = _read(clone.layout), clone.line().id
        place = max((n for n, step in enumerate(steps) if step.line in ("", here)), default=None)
        if place is None:
            raise NotFound("there is no decision to take back on this branch")
        step = steps[place]
        if step.person and not reviewer.person:
            raise reviewer.refusal(f"a person decided about {step.id}, so only a person may take it back")
        if step.path is not None and not step.stood:
            _refuse_changed(clone, step)
        for name, text in step.candidates:
            memory = memory_files.parse(text, name)
            assert isinstance(memory, Candidate | Rejected)
            if candidates.read(clone).waiting.get(memory.id) != memory:  # else it was killed after this
                candidates.keep(clone, memory)
                decisions.record(clone, "propose", memory, reviewer=reviewer, reason="taken back", action="undo")
        if step.path is not None and not step.stood:
            _take_back(clone, step, reviewer)
        _write(clone.layout, [*steps[:place], *steps[place + 1 :]])
        return step


def _refuse_changed(clone: Clone, step: UndoStep) -> None:
    """What was changed or published since is not taken back behind anybody's back."""
    now, waits = _now(clone, step.path or "")
    if _is_back(step, now, waits):
        return
    if now is None or now.text != step.after or now.edited not in (None, step.after):
        hint = f"See it with: holdfast show {step.id}"
        raise BadInput(f"{step.path} was changed since {step.id} was decided", hint=hint)
    if step.before != step.after and not waits:
        hint = f"Say that it no longer holds: holdfast review retire {step.id}"
        raise BadInput(f"{step.id} was published already", hint=hint)


def _now(clone: Clone, path: str) -> tuple[Sighting | None, bool]:
    """How a file stands here, and whether a change of it waits."""
    now = next((one for one in clone.entries(os.path.dirname(path)) if one.path == path), None)
    return now, path in {change.path for change in clone.changes()}


def _is_back(step: UndoStep, now: Sighting | None, waits: bool) -> bool:
    """Whether the file is as it was before already, because an undo was killed half-way."""
    if step.before is None:
        return not waits and (now is None or now.origin == "edit")
    return step.before != step.after and now is not None and now.text == step.before


def _take_back(clone: Clone, step: UndoStep, reviewer: decisions.Reviewer) -> None:
    path = step.path or ""
    now, waits = _now(clone, path)
    if not _is_back(step, now, waits):
        # The event first: whoever reads the log must not find an approval of what is not there.
        blob, memory = _written(clone, step, step.after or "")
        if not decisions.has(clone, step.id, "retire", blob=blob):
            decisions.record(clone, "retire", memory, reviewer=reviewer, blob=blob, action="undo")
        if step.before is None:
            clone.give_up(path)
        elif step.before != step.after:
            clone.change(path, step.before)
            follow(clone, now, step.before)
    if step.before is not None and step.before != step.after and reviewer.person:
        # What a person had approved, and a person brings back, counts as before; nothing else gains by it.
        blob, memory = _written(clone, step, step.before)
        stands = decisions.has(clone, memory.id, "accept", blob=blob)
        if not stands and decisions.ever(clone, memory.id, "accept", blob=blob):
            decisions.record(clone, "accept", memory, reviewer=reviewer, blob=blob, action="undo")


def follow(clone: Clone, was: Sighting | None, text: str) -> None:
    """Let the work tree's own copy follow, where it was written by hand and accepted as it stood."""
    if was is not None and was.edited == was.text:
        fsio.replace(fsio.inside(clone.repo.top, was.path), text.encode(), mode=0o644)


def _written(clone: Clone, step: UndoStep, text: str) -> tuple[str, Memory]:
    """The entry that a decision was about, alone in its file or among others: its blob and itself."""
    for part in memory_files.parts(text, step.path or ""):
        if not isinstance(part.memory, BrokenEntry) and part.memory.id == step.id:
            return clone.repo.hash_blob(part.text.encode()), part.memory
    raise BadInput(f"{step.path} does not hold {step.id} any more")


def _read(layout: Layout) -> list[UndoStep]:
    """What can be taken back; a damaged record is none."""
    try:
        return [_step(row) for row in json.loads(fsio.read(layout.decided, limit=_MAX_FILE))]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, TypeError, KeyError, RecursionError, HoldfastError) as error:
        layout.leave_out(f"{layout.decided}: {error}")
        return []


def _step(row: dict[str, object]) -> UndoStep:
    pairs = row.pop("candidates")
    assert isinstance(pairs, list)
    step = UndoStep(**row, candidates=tuple((str(name), str(text)) for name, text in pairs))  # type: ignore[arg-type]
    for name, text in step.candidates:
        memory_files.parse(text, name)  # a broken one cannot be put back
    return step


def _write(layout: Layout, steps: list[UndoStep]) -> None:
    data = json.dumps([asdict(step) for step in steps], ensure_ascii=False).encode("utf-8", "backslashreplace")
    fsio.replace(layout.decided, data + b"\n")
