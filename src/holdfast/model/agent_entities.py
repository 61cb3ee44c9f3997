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
class AgentHit:
    """Something that an agent recalls; `found` says how: exact, approximate, words or recent."""

    text: str
    score: float
    found: str
    record: MemoryRecord | None = None
    cycle: AgentCycle | None = None


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
