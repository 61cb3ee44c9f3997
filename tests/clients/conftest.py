"""After the tests with real agents: a table of what holds for which agent, one line for each claim."""

import re

import pytest

from tests.clients.driving import PINNED

SIGNS = {"passed": "yes", "failed": "NO", "error": "NO", "skipped": "-"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Claims that name no agent are left to pytest's own lines."""
    found: dict[str, dict[str, str]] = {}
    for outcome, sign in SIGNS.items():
        for report in terminalreporter.stats.get(outcome, ()):
            named = re.search(r"clients/test_\w+\.py::test_(\w+)(?:\[(\w+))?", report.nodeid)
            agent = named and (named[2] or named[1].partition("_")[0])
            if named and agent in PINNED and found.get(named[1], {}).get(agent) != "NO":
                found.setdefault(named[1], {})[agent] = sign
    if not found:
        return
    width = max(map(len, found))
    terminalreporter.section("what holds for which agent")
    terminalreporter.line(f"{'':{width}}  {'  '.join(f'{name:<8}' for name in PINNED)}")
    for claim, cells in sorted(found.items()):
        row = "  ".join(f"{cells.get(name, ''):<8}" for name in PINNED)
        terminalreporter.line(f"{claim.replace('_', ' '):<{width}}  {row}".rstrip())
    for report in terminalreporter.stats.get("passed", ()):
        for name, said in report.user_properties:
            terminalreporter.line(f"{name} {said}")
