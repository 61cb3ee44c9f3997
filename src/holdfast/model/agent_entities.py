"""What an agent of your own leaves in the agent store: who it is, what it proposed, what came of it, what it remembers.

A cycle is one proposal and its result. A proposal without a result was interrupted: its action may have happened or
not. Everything here is a value; where it is kept is the business of `agent_store`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.values import field, frozen

MEMORY_KINDS = ("observation", "reflection", "plan", "result")
QUEUE_STATES = ("waiting", "claimed", "done", "failed")
SHORT_TERM, LONG_TERM = "short-term", "long-term"


@frozen(kw_only=True)
class ActionProposal:
    """What an agent means to do in one cycle."""

    thoughts: str = ""
    plan: tuple[str, ...] = ()
    tool: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    workspace: str | None = None


@frozen(kw_only=True)
class ActionResult:
    """What came of it: an output, or an error; `artifacts` are files it made."""

    output: Any = None
    error: str | None = None
    artifacts: tuple[str, ...] = ()


@frozen(kw_only=True)
class AgentCycle:
    """One step of an agent. `action` names it once and for all: give it to tools that can tell a repeated call."""

    agent: str
    index: int
    action: str
    run_id: str
    started: int  # microseconds since 1970
    proposal: ActionProposal
    ended: int | None = None
    result: ActionResult | None = None
    locked: bool = False  # what it says is sealed, and its key is not here: texts are empty

    @property
    def is_open(self) -> bool:
        """Whether its result is not known."""
        return self.result is None


@frozen(kw_only=True)
class AgentIdentity:
    """Who an agent is, and how far it has come."""

    id: str
    name: str
    directives: tuple[str, ...] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    state: Any = None  # what its last result said to go on with
    cycles: int = 0  # begun so far; the next one has this index
    run_id: str | None = None  # the run that its cycles belong to; None: the next one begins a run
    holder: str | None = None  # the process that works as this agent
    held_until: int | None = None
    created: int = 0
    locked: bool = False  # directives, config or state are sealed, and their key is not here: they are empty


@frozen(kw_only=True)
class MemoryRecord:
    """One thing that an agent remembers for itself; nobody approves it, and other agents are not told."""

    id: str
    agent: str
    kind: str  # one of MEMORY_KINDS
    namespace: str
    text: str
    cycle: int | None = None
    created: int = 0
    pinned: bool = False
    uses: int = 0
    used: int | None = None


@frozen(kw_only=True)
class MemoryBudget:
    """How much a namespace may hold."""

    records: int | None = None
    bytes: int | None = None  # of texts as they are kept


@frozen(kw_only=True)
class NamespacePruning:
    """What pruning did to one namespace, or would do."""

    namespace: str
    before: int  # records
    after: int  # records, summaries included
    size: int  # bytes of texts before
    freed: int  # bytes of texts that went, less those of summaries
    deleted: Mapping[str, int]  # reason (older, unused, budget): records that are gone
    consolidated: Mapping[str, int]  # reason: records that a summary stands for
    summaries: int = 0
    pinned: int = 0  # records that would have gone and are pinned
    open: int = 0  # records that would have gone and belong to a cycle that is under way
    locked: int = 0  # records that would be consolidated and cannot be read here: they stay


@frozen(kw_only=True)
class PruneReport:
    """What pruning did, or would do."""

    namespaces: tuple[NamespacePruning, ...] = ()
    dry_run: bool = False

    @property
    def gone(self) -> int:
        """Records that are gone, whether a summary stands for them or not."""
        return sum(sum((*one.deleted.values(), *one.consolidated.values())) for one in self.namespaces)


@frozen(kw_only=True)
class AgentHit:
    """Something that an agent recalls; `found` says how: exact, approximate, words or recent."""

    text: str
    score: float
    found: str
    record: MemoryRecord | None = None
    cycle: AgentCycle | None = None
    project: str | None = None  # another project of a shared database; None: this one


@frozen
class VectorRow:
    """A record's vector as a vector store is given it: int8, a byte a number."""

    record: str
    agent: str  # its id
    namespace: str
    data: bytes


@frozen
class NearestRecords:
    """The ids of the records nearest to a vector, nearest first, each with its cosine."""

    hits: tuple[tuple[str, float], ...]
    is_exact: bool  # whether none that is nearer can be missing


@frozen
class WorkspaceFile:
    """One file, folder or link of a workspace; `mode` says which, and who may do what with it."""

    path: str
    mode: int
    size: int
    chunks: tuple[str, ...] = ()  # the hashes of its content, piece by piece


@frozen(kw_only=True)
class WorkspaceSnapshot:
    """A workspace as a cycle left it."""

    workspace: str
    cycle: int
    files: int
    size: int  # bytes of all files
    changed: int = 0  # rows that were written for it
    skipped: tuple[tuple[str, str], ...] = ()  # what was left out: its path, and why
    unsteady: tuple[str, ...] = ()  # files that changed while they were read


@frozen(kw_only=True)
class WorkspaceDiff:
    """What differs between two states of a workspace."""

    added: tuple[WorkspaceFile, ...] = ()
    removed: tuple[WorkspaceFile, ...] = ()
    changed: tuple[tuple[WorkspaceFile, WorkspaceFile], ...] = ()  # before, after

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


@frozen(kw_only=True)
class WorkspaceRestored:
    """What a restore did to a folder."""

    cycle: int  # of the snapshot that was taken
    folder: str
    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()  # what the snapshot does not have, and is still there
    skipped: tuple[tuple[str, str], ...] = ()  # what the snapshot had left out


@frozen(kw_only=True)
class WorkItem:
    """An action that waits for a worker, is held by one, or has ended. Its `token` is the right to finish it."""

    id: str
    action: Any
    state: str  # one of QUEUE_STATES
    attempts: int = 0  # claims so far
    most_attempts: int = 3
    ready: int = 0  # when it may be claimed, or claimed again; microseconds since 1970
    created: int = 0
    holder: str | None = None  # the process that has it, or had it last
    token: str | None = None
    held_until: int | None = None
    outcome: Any = None  # what came of it; of a failed one {"error": …}
