"""Contradictions among what stands here: two branches may each have accepted what the other denies.

Comparing everything with everything takes long, so it is remembered, for each memory, in which words it was
looked at and whom it contradicts; only what is new since then is compared. The record lies in the cache,
beside the index, and can be deleted like it.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from datetime import datetime

from holdfast.curation import facts
from holdfast.curation.conflicts import STANDING, Conflict, Known
from holdfast.curation.decisions import Standing
from holdfast.errors import HoldfastError
from holdfast.git.approvals import words_of
from holdfast.git.clone import Clone
from holdfast.model.contradictions import contradiction, resolved
from holdfast.store import fsio, layout

_MAX_RECORD = 1 << 26
Rows = dict[str, list[str]]  # memory to the words it was compared in, and whom it contradicts
AT_ONCE = 500  # memories that are compared without being asked; `holdfast curate` compares all


def standing_ones(
    clone: Clone, standings: Iterable[Standing], known: Known, *, everything: bool = False
) -> list[Conflict]:
    """Every two that stand here and contradict one another, as far as they were compared.

    Very many new ones are compared only if `everything` is asked for; until then they count as not looked at.
    """
    there = {one.id: one for one in standings if one.status in STANDING and one.trust != "T4"}
    before = {name: row for name, row in _read(clone).items() if name in there}
    now = {name: words_of(_claim(one)) for name, one in there.items()}
    new = [name for name, words in now.items() if before.get(name, [""])[0] != words]
    if new and (everything or len(new) <= AT_ONCE):
        before = _compared(known, before, now, new)
        if not clone.reading:
            _keep(clone, before)
    return list(_told(before, there))


def new_ones(clone: Clone, now: datetime) -> list[Conflict]:
    """The contradictions that were not there at the last look: a merge may just have brought them."""
    if not clone.repo.head().oid or clone.repo.tree_id("HEAD", layout.MEMORY) is None:
        return []
    rows = _read(clone)
    told = {frozenset((name, other)) for name, (_, *others) in rows.items() for other in others}
    standings = facts.facts(clone, now).standings
    found = standing_ones(clone, standings, Known(standings))
    return [one for one in found if frozenset((one.one.id, one.other.id)) not in told]


def _compared(known: Known, before: Mapping[str, list[str]], now: Mapping[str, str], new: list[str]) -> Rows:
    rows = {name: list(before.get(name, ())) for name in now}
    for name in new:
        rows[name] = [now[name]]
    for conflict in known.pairs(only=new):
        rows[conflict.one.id].append(conflict.other.id)
    return rows


def _told(rows: Mapping[str, list[str]], there: Mapping[str, Standing]) -> Iterable[Conflict]:
    for name, (_, *others) in rows.items():
        for other in others:
            if other not in there or resolved(there[name].memory, there[other].memory):
                continue
            verdict = contradiction(there[name].memory, there[other].memory)
            if verdict is not None:
                yield Conflict(there[name].memory, there[other].memory, there[other].status, verdict)


def _claim(one: Standing) -> str:
    """What a comparison rests on: other words, or another scope, and it has to be made again."""
    memory = one.memory
    return f"{memory.type} {memory.statement} {' '.join(memory.applies_to)}"


def _read(clone: Clone) -> Rows:
    """What was remembered; a record that is damaged or missing is none."""
    with contextlib.suppress(OSError, ValueError, AttributeError, RecursionError, HoldfastError):
        raw = json.loads(fsio.read(_path(clone), limit=_MAX_RECORD))
        return {name: row for name, row in raw.items() if isinstance(row, list) and row}
    return {}


def _keep(clone: Clone, rows: Rows) -> None:
    """Remember it, if that can be: a full disk costs a comparison, not an answer."""
    with contextlib.suppress(OSError, HoldfastError):
        fsio.make_dirs(os.path.dirname(_path(clone)))
        fsio.replace(_path(clone), json.dumps(rows).encode("ascii"))


def _path(clone: Clone) -> str:
    here = hashlib.sha256(os.fsencode(clone.worktree)).hexdigest()[:16]
    return os.path.join(os.path.dirname(clone.layout.index(clone.repo_id)), f"contradictions-{here}.json")
