"""The frameworks that `make test-adapters` installs, on both engines of the agent store."""

from __future__ import annotations

from importlib.util import find_spec

from tests.agent_store.conftest import project, repo, server, store_url

__all__ = ["project", "repo", "server", "store_url"]

# The frameworks are in an environment of their own: elsewhere there is nothing to collect.
collect_ignore_glob = [] if find_spec("langgraph") else ["test_*.py"]
