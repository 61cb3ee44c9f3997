"""A clone to index: real git, real files, entries written the way people write them."""

import os
from collections.abc import Mapping
from typing import Any

import pytest

from holdfast.git.clone import Clone
from holdfast.model.event import Event, EventDraft
from holdfast.store import layout
from tests.conftest import GitRepo, init_store


def open_clone(path: str | os.PathLike[str], cache: str | os.PathLike[str]) -> Clone:
    return Clone.open(os.fspath(path), cache=os.fspath(cache))


@pytest.fixture
def cache(world: os.PathLike[str]) -> str:
    return os.path.join(world, ".cache", "holdfast")


@pytest.fixture
def clone(repo: GitRepo, cache: str) -> Clone:
    init_store(repo.path, commit=True)
    return open_clone(repo, cache)


def ran(clone: Clone, number: int = 0, **body: Any) -> Event:
    """One run in the log."""
    name = f"20261115T1942{number:02d}Z-abc{number:03d}"
    return clone.record(EventDraft("run", target=name, run_id=name, exit_status=0, body=body))


def fact_text(identity: str, statement: str, **fields: str) -> str:
    """A fact's file as a person would write it."""
    front: Mapping[str, str] = {
        "id": identity, "type": "fact", "status": "accepted", "layer": "L5", "tags": "[db]",
        "source": "person:ada", "confidence": "0.9", "evidence": "[]", "applies_to": "[]", "supersedes": "[]",
        "expires_at": "null", **fields,
    }  # fmt: skip
    lines = "\n".join(f"{name}: {value}" for name, value in front.items())
    return f"---\n{lines}\n---\nFact: {statement}\n"


def approve(clone: Clone, identity: str, statement: str, *, blob: str | None = None) -> Event:
    """Somebody's yes to a fact's words, and to its very text if that is given."""
    said = {"statement": statement, "blob": blob}
    body = {name: value for name, value in said.items() if value}
    return clone.record(EventDraft("accept", target=identity, body=body))


def keep_fact(clone: Clone, identity: str, statement: str, **fields: str) -> str:
    """A fact that waits to be published on the current line."""
    path = layout.entry_path("fact", "fact", identity)
    clone.change(path, fact_text(identity, statement, **fields))
    return path
