"""How an agent stands: one next step, the most urgent first."""

import pytest

from holdfast.diagnostics.agent_health import AgentFacts, health_of

SEEN = 1_794_813_756_965_558_311


@pytest.mark.parametrize(
    ("facts", "trusted", "step"),
    [
        (AgentFacts("codex", None, home=False), "unknown", None),
        (AgentFacts("codex", "/bin/codex", home=False), "unknown", "holdfast connect codex"),
        (AgentFacts("gemini", None, home=True), "unknown", "holdfast connect gemini"),
        (AgentFacts("codex", None, True, ("user", "project"), True, ()), "yes", "disconnect codex --scope project"),
        (AgentFacts("codex", None, True, ("user",), False, ("Stop",)), "no", "holdfast connect codex"),
        (AgentFacts("codex", None, True, ("user",), True, ("Stop",), "[features]"), "no", "switched off: [features]"),
        (AgentFacts("codex", None, True, ("user",), True, ("Stop",)), "no", "1 of its hooks wait for approval"),
        (AgentFacts("gemini", None, True, ("project",), True, ("AfterAgent",)), "no", "/permissions trust"),
        (AgentFacts("claude", None, True, ("user",), True, None), "not needed", "start claude in this repository"),
        (AgentFacts("claude", None, True, ("user",), True, None, None, SEEN), "not needed", None),
        (
            AgentFacts("claude", None, True, ("user",), True, None, None, SEEN, "claude mcp add"),
            "not needed",
            "MCP server was not added by connect; unless you did it yourself, run: claude mcp add",
        ),
    ],
)
def test_the_next_step_is_the_first_that_is_missing(facts: AgentFacts, trusted: str, step: str | None) -> None:
    """Whoever reads five hints follows none."""
    found = health_of(facts)
    assert found.trusted == trusted
    assert found.next_step is None if step is None else step in (found.next_step or "")


def test_when_it_was_last_seen_is_told_in_one_time_zone() -> None:
    """A local time in a report is a riddle elsewhere."""
    found = health_of(AgentFacts("claude", None, home=True, scopes=("user",), current=True, seen=SEEN))
    assert found.firing and found.last_seen == "2026-11-16T07:22:36Z"


def test_an_agent_that_was_disconnected_is_not_said_to_fire() -> None:
    """Its hooks are gone; that they once were called is history."""
    found = health_of(AgentFacts("codex", None, home=True, seen=SEEN))
    assert not found.firing and found.last_seen == "2026-11-16T07:22:36Z"
