"""Which memories contradict one another, among many: pure, so that a gate without a store can use it, too."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from holdfast.lazy_module import LazyModule
from holdfast.model.evidence import parse_evidence
from holdfast.model.memory import Memory
from holdfast.values import frozen

if TYPE_CHECKING:
    from holdfast.model import claims
else:
    claims = LazyModule("holdfast.model.claims")  # its tables are large, and few commands compare statements


@frozen
class ContradictingPair:
    """Two memories that cannot both hold, and why."""

    one: Memory
    other: Memory
    verdict: claims.Verdict


def statement(memory: Memory) -> claims.Statement:
    """What a memory claims, and where: its rationale claims nothing."""
    return claims.Statement(memory.statement, memory.type, _own_scope(memory))


def _own_scope(memory: Memory) -> tuple[str, ...]:
    """Where a memory says it holds.

    A session's find holds for the files it rests on, which is a guess: two that rest on different files may still
    contradict one another, unless their words name these files.
    """
    if not (memory.source or "").startswith("run:"):
        return memory.applies_to
    rests_on = {getattr(one, "path", "") for one in map(parse_evidence, memory.evidence)}
    is_said = (path not in rests_on or path.rpartition("/")[2] in memory.statement for path in memory.applies_to)
    return tuple(path for path, said in zip(memory.applies_to, is_said, strict=True) if said)


def resolved(one: Memory, other: Memory) -> bool:
    """Whether somebody said already how these two stand to one another."""
    return other.id in (*one.supersedes, *one.compatible_with) or one.id in (*other.supersedes, *other.compatible_with)


def contradicting_pairs(
    standing: Mapping[str, Memory], only: Collection[str] | None = None
) -> Iterator[ContradictingPair]:
    """Every two that contradict one another, each pair once; with `only`, those with one of these."""
    near = claims.SimilarStatements({name: statement(memory) for name, memory in standing.items()})
    told: set[frozenset[str]] = set()
    for name in standing if only is None else [name for name in standing if name in only]:
        one = standing[name]
        for other in near.near(statement(one)):
            pair = frozenset((name, other))
            if len(pair) == 1 or pair in told or resolved(one, standing[other]):
                continue
            told.add(pair)
            if verdict := contradiction(one, standing[other]):
                yield ContradictingPair(one, standing[other], verdict)


def contradiction(one: Memory, other: Memory) -> claims.Verdict | None:
    """Why two memories certainly cannot both hold."""
    found = claims.conflict(statement(other), statement(one))
    return found if found is not None and found.certain else None
