"""Undoes the last decision of a reviewer, once.

The log only grows, so an undo is an event of its own. A decision that was published or changed since is not undone: the
error says what to do instead.
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

MOST = 100  # decisions that can be undone, the last first; a guess: a long review session
_MAX_FILE = 1 << 26  # bytes; a guess: far more than 100 decisions take


@frozen
class UndoStep:
    """One decision, with the texts of files before and after."""

    action: str  # accept, reject, retire, edit or join
    id: str
    candidates: tuple[tuple[str, str], ...] = ()  # id and text of each candidate before the decision
    path: str | None = None  # of the entry that was written
    before: str | None = None  # its file's text; None: there was none
    after: str | None = None
    stood: bool = False  # whether a person had approved this very text before
    person: bool = False  # whether a person decided
    line: str = ""  # the line it was made on


def note(clone: Clone, step: UndoStep, reviewer: decisions.Reviewer | None) -> None:
    """Stores how to undo a decision; the oldest are dropped."""
    by_person = reviewer is not None and reviewer.person
    _write(clone.layout, [*_read(clone.layout), replace(step, person=by_person, line=clone.line().id)][-MOST:])


def undoable(clone: Clone) -> list[UndoStep]:
    """Returns the decisions of this line that can be undone, the last first."""
    here = clone.line().id
    return [step for step in reversed(_read(clone.layout)) if step.line in ("", here)]


def undo(clone: Clone, reviewer: decisions.Reviewer) -> UndoStep:
    """Undoes the last decision of this line: restores the entry and the candidate.

    Each step can be repeated, so an undo that was killed is completed by running it again.
    """
    with candidates.locked(clone):
        steps, here = _read(clone.layout), clone.line().id
        place = max((n for n, step in enumerate(steps) if step.line in ("", here)), default=None)
        if place is None:
            raise NotFound("there is no decision to undo on this branch")
        step = steps[place]
        if step.person and not reviewer.person:
            raise reviewer.refusal(f"a person decided about {step.id}, so only a person may undo it")
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
    """Refuses to undo a decision whose entry was changed or published since."""
    now, waits = _now(clone, step.path or "")
    if _is_back(step, now, waits):
        return
    if now is None or now.text != step.after or now.edited not in (None, step.after):
        hint = f"See it with: holdfast show {step.id}"
        raise BadInput(f"{step.path} was changed since {step.id} was decided", hint=hint)
    if step.before != step.after and not waits:
        hint = f"Retire it instead: holdfast review retire {step.id}"
        raise BadInput(f"{step.id} was published already", hint=hint)


def _now(clone: Clone, path: str) -> tuple[Sighting | None, bool]:
    """Returns the current entry of a path, and whether a change of it waits."""
    now = next((one for one in clone.entries(os.path.dirname(path)) if one.path == path), None)
    return now, path in {change.path for change in clone.changes()}


def _is_back(step: UndoStep, now: Sighting | None, waits: bool) -> bool:
    """Whether the file already has its old text, because an undo was killed halfway."""
    if step.before is None:
        return not waits and (now is None or now.origin == "edit")
    return step.before != step.after and now is not None and now.text == step.before


def _take_back(clone: Clone, step: UndoStep, reviewer: decisions.Reviewer) -> None:
    path = step.path or ""
    now, waits = _now(clone, path)
    if not _is_back(step, now, waits):
        # The event first: the log must not show an approval of a missing text.
        blob, memory = _entry_in(clone, step, step.after or "")
        if not decisions.has(clone, step.id, "retire", blob=blob):
            decisions.record(clone, "retire", memory, reviewer=reviewer, blob=blob, action="undo")
        if step.before is None:
            clone.give_up(path)
        elif step.before != step.after:
            clone.change(path, step.before)
            follow(clone, now, step.before)
    if step.before is not None and step.before != step.after and reviewer.person:
        # A text that a person had approved and a person restores counts as approved again; others do not.
        blob, memory = _entry_in(clone, step, step.before)
        stands = decisions.has(clone, memory.id, "accept", blob=blob)
        if not stands and decisions.ever(clone, memory.id, "accept", blob=blob):
            decisions.record(clone, "accept", memory, reviewer=reviewer, blob=blob, action="undo")


def follow(clone: Clone, was: Sighting | None, text: str) -> None:
    """Updates the work tree's own copy if it was edited by hand and accepted unchanged."""
    if was is not None and was.edited == was.text:
        fsio.replace(fsio.inside(clone.repo.top, was.path), text.encode(), mode=0o644)


def _entry_in(clone: Clone, step: UndoStep, text: str) -> tuple[str, Memory]:
    """Returns the blob and the memory of a decision's entry, alone in its file or among others."""
    for part in memory_files.parts(text, step.path or ""):
        if not isinstance(part.memory, BrokenEntry) and part.memory.id == step.id:
            return clone.repo.hash_blob(part.text.encode()), part.memory
    raise BadInput(f"{step.path} no longer contains {step.id}")


def _read(layout: Layout) -> list[UndoStep]:
    """Returns the decisions that can be undone; none if the record is damaged."""
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
        memory_files.parse(text, name)  # an unreadable one cannot be restored
    return step


def _write(layout: Layout, steps: list[UndoStep]) -> None:
    data = json.dumps([asdict(step) for step in steps], ensure_ascii=False).encode("utf-8", "backslashreplace")
    fsio.replace(layout.decided, data + b"\n")
