"""Contradictions among what stands here: two branches may each have accepted what the other denies.

Comparing everything with everything takes long, so it is remembered, for each memory, in which words it was
looked at and whom it contradicts; only what is new since then is compared. The record can be deleted.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from holdfast.curation import facts
from holdfast.curation.conflicts import STANDING, Conflict, Known
from holdfast.curation.decisions import Standing
from holdfast.git import noticed
from holdfast.git.approvals import words_of
from holdfast.git.clone import Clone
from holdfast.model.contradictions import contradiction, resolved
from holdfast.store import layout

RECORD = "contradictions"
AT_ONCE = 500  # memories that are compared without being asked; `holdfast curate` compares all


def standing_ones(clone: Clone, standings: Iterable[Standing], known: Known) -> list[Conflict]:
    """Every two that stand here and contradict one another, as far as they were compared."""
    there = {one.id: one for one in standings if one.status in STANDING and one.trust != "T4"}
    before = {name: row for name, row in noticed.read(clone, RECORD).items() if name in there}
    now = {name: words_of(_claim(one)) for name, one in there.items()}
    new = [name for name, words in now.items() if before.get(name, [""])[0] != words]
    if new:
        before = _compared(known, before, now, new)
        if not clone.reading:
            noticed.keep(clone, RECORD, before)
    return list(_told(before, there))


def new_ones(clone: Clone, now: datetime) -> list[Conflict]:
    """The contradictions that were not there at the last look: a merge may just have brought them."""
    if not clone.repo.head().oid or clone.repo.tree_id("HEAD", layout.MEMORY) is None:
        return []
    rows = noticed.read(clone, RECORD)
    told = {frozenset((name, other)) for name, (_, *others) in rows.items() for other in others}
    standings = facts.facts(clone, now).standings
    found = standing_ones(clone, standings, Known(standings))
    return [one for one in found if frozenset((one.one.id, one.other.id)) not in told]


def _compared(
    known: Known, before: Mapping[str, list[str]], now: Mapping[str, str], new: list[str]
) -> dict[str, list[str]]:
    rows = {name: list(before.get(name, ())) for name in now}
    for name in new:
        rows[name] = [now[name]]
    if len(new) <= AT_ONCE:
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
