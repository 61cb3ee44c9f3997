"""The frameworks that `make test-adapters` installs, on both engines of the agent store."""

from __future__ import annotations

from tests.agent_store.conftest import project, repo, server, store_url

__all__ = ["project", "repo", "server", "store_url"]
