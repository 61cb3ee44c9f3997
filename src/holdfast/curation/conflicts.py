"""Which memories contradict one another: asked before one is let in, and after branches were merged.

The rules about words are `model.claims`'; here it is decided which memories are held against which.
What somebody looked at and resolved (`supersedes`, `compatible_with`) does not come up again. A memory that
arrived by git and was approved by nobody here has no say against another.
"""

from collections.abc import Collection, Iterable, Iterator

from holdfast.curation.decisions import Standing
from holdfast.errors import Contradicts
from holdfast.model import claims
from holdfast.model.claims import Neighbours, Verdict
from holdfast.model.contradictions import pairs, resolved, statement
from holdfast.model.memory import Memory
from holdfast.model.text import visible
from holdfast.values import frozen

STANDING = ("accepted", "stale")
GONE = ("superseded", "deprecated", "rejected")
MAX_SAID = 160  # characters of each side in a sentence


@frozen
class Conflict:
    """A memory, and another that it cannot stand beside."""

    one: Memory
    other: Memory
    status: str  # of the other
    verdict: Verdict

    @property
    def sentence(self) -> str:
        """Both sides in one sentence."""
        ours, theirs = (visible(memory.statement)[:MAX_SAID] for memory in (self.one, self.other))
        return f"{self.one.id} ({ours!r}) contradicts {self.other.id}, {self.status} ({theirs!r}): {self.verdict.why}"


class Known:
    """What is known here, made ready to be held against many memories."""

    def __init__(self, standings: Iterable[Standing], rejected: Iterable[Memory] = ()) -> None:
        self._status = {one.id: one.status for one in standings if _counts(one)}
        self._memories = {one.id: one.memory for one in standings if _counts(one)}
        self._status |= {memory.id: "rejected" for memory in rejected}
        self._memories |= {memory.id: memory for memory in rejected}
        self._near: Neighbours | None = None

    def add(self, one: Standing) -> None:
        """Something more is known now."""
        self._status[one.id], self._memories[one.id] = one.status, one.memory
        if self._near is not None:
            self._near.add(one.id, statement(one.memory))

    def conflicts(self, memory: Memory) -> tuple[Conflict, ...]:
        """What speaks against a memory, the strongest first."""
        found = [
            Conflict(memory, other, self._status[other.id], verdict)
            for other in self._around(memory)
            if not resolved(memory, other) and (verdict := self._verdict(memory, other)) is not None
        ]
        return tuple(sorted(found, key=lambda one: (one.status not in STANDING, -one.verdict.score, one.other.id)))

    def same(self, memory: Memory) -> list[Memory]:
        """The memories that make the same claim, in these or in other words."""
        said = statement(memory)
        return [
            other for other in self._around(memory) if other.type == memory.type and claims.same(statement(other), said)
        ]

    def pairs(self, only: Collection[str] | None = None) -> Iterator[Conflict]:
        """Every two that stand here and contradict one another, each pair once."""
        standing = {name: memory for name, memory in self._memories.items() if self._status[name] in STANDING}
        for pair in pairs(standing, only):
            yield Conflict(pair.one, pair.other, self._status[pair.other.id], pair.verdict)

    def _verdict(self, memory: Memory, other: Memory) -> Verdict | None:
        gone = self._status[other.id] in GONE
        return claims.conflict(statement(other), statement(memory), gone=gone)

    def _around(self, memory: Memory) -> list[Memory]:
        if self._near is None:
            self._near = Neighbours({name: statement(one) for name, one in self._memories.items()})
        near = self._near.near(statement(memory))
        return [self._memories[name] for name in near if name != memory.id]


def refuse(conflicts: Iterable[Conflict]) -> None:
    """Say no to a memory that contradicts what stands, with both texts."""
    found = list(conflicts)
    if not found:
        return
    first = found[0]
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    hint = (
        f"Resolve it: holdfast review accept {first.one.id} --supersede {first.other.id}, or --keep-both "
        f"(with --applies-to PATH to say where), or holdfast review reject {first.one.id}"
    )
    raise Contradicts(first.sentence + more, hint=hint)


def _counts(one: Standing) -> bool:
    return one.status in (*STANDING, *GONE) and one.trust != "T4"
