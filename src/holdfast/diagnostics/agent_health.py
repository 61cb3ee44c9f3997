"""How each agent stands: installed, connected, allowed, heard of; and the one next step.

Decides from facts that are handed in: the settings of agents are `capture`'s to read.
"""

from datetime import UTC, datetime

from holdfast.values import frozen

TRUST = {"gemini": "trust this folder in it: /permissions trust"}  # the others ask when they start


@frozen
class AgentFacts:
    """What was found out about one agent."""

    tool: str
    program: str | None  # its program on the path
    home: bool  # whether it has a folder of its own here
    scopes: tuple[str, ...] = ()  # where our hooks stand
    current: bool = False  # whether they stand there as we would write them now
    waiting: tuple[str, ...] | None = None  # events its user has not approved; None: it asks for none
    off: str | None = None  # the setting by which all its hooks are switched off
    seen: int | None = None  # when its hook was last called for this clone, in nanoseconds
    server: str | None = None  # the command that adds our MCP server, where nothing says that it was added
    late: int = 0  # how often what its hook had to tell came too late


@frozen
class AgentHealth:
    """One agent, for people."""

    tool: str
    installed: bool
    connected: str | None  # the scope
    unchanged: bool
    trusted: str  # yes, no, not needed; or unknown where nothing is connected
    waiting: tuple[str, ...]
    firing: bool
    last_seen: str | None  # UTC
    late: int
    next_step: str | None


def health_of(facts: AgentFacts) -> AgentHealth:
    """What the facts come to."""
    scope = facts.scopes[0] if facts.scopes else None
    seen = None if facts.seen is None else datetime.fromtimestamp(facts.seen / 1e9, UTC)
    trusted = "not needed" if facts.waiting is None else "no" if facts.waiting else "yes"
    return AgentHealth(
        tool=facts.tool,
        installed=bool(facts.program or facts.home),
        connected=scope,
        unchanged=facts.current,
        trusted=trusted if facts.scopes else "unknown",
        waiting=facts.waiting or (),
        firing=seen is not None and scope is not None,
        last_seen=seen.isoformat(timespec="seconds").replace("+00:00", "Z") if seen else None,
        late=facts.late,
        next_step=_next_step(facts),
    )


def _next_step(facts: AgentFacts) -> str | None:
    """The first thing to do, if anything is."""
    if not facts.scopes:
        return f"holdfast connect {facts.tool}" if facts.program or facts.home else None
    if len(facts.scopes) > 1:
        return f"it is connected in two scopes: holdfast disconnect {facts.tool} --scope project"
    if not facts.current:
        return f"its hooks or launchers are not as they should be: holdfast connect {facts.tool}"
    if facts.off:
        return f"its hooks are switched off: {facts.off}"
    if facts.waiting and facts.tool == "codex":
        return f"{len(facts.waiting)} of its hooks wait for approval: start codex, type /hooks, trust ours"
    if facts.waiting:
        return TRUST.get(facts.tool, f"start {facts.tool} here and trust the folder; until then its hooks are silent")
    if facts.server is not None:
        return f"its MCP server was not added by connect; unless you did it yourself, run: {facts.server}"
    if facts.seen is None:
        return f"start {facts.tool} in this repository once; its hooks were not called here yet"
    return None
