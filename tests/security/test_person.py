"""Approvals count as a person's only where no agent shows itself."""

import pytest

from holdfast.security.person import agent_marker, is_person


def test_a_person_needs_a_terminal() -> None:
    """A script that pipes into us is nobody's approval."""
    assert is_person(terminal=True, environ={"HOME": "/x", "TERM": "xterm"})
    assert not is_person(terminal=False, environ={})


@pytest.mark.parametrize(
    "name",
    (
        *(
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CODEX_SANDBOX",
            "GEMINI_CLI",
            "CURSOR_AGENT",
            "CURSOR_TRACE_ID",
        ),
        *("AIDER_MODEL", "COPILOT_AGENT", "OPENCODE", "OPENCODE_SERVER", "HOLDFAST_RUN_ID", "CI"),
    ),
)
def test_an_agents_marker_is_seen(name: str) -> None:
    """An agent on a pseudo-terminal must not approve its own memories by accident."""
    assert not is_person(terminal=True, environ={name: "1"})
    assert agent_marker({"HOME": "/x", name: "yes"}) == name


def test_a_marker_that_is_switched_off_does_not_count() -> None:
    """People set CI=false to get colours back."""
    assert is_person(terminal=True, environ={"CI": "false", "CLAUDECODE": ""})
