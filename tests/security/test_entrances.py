"""Law 10 at every door by which words come in: nothing known, private or unscanned is kept."""

import base64
import json
import os
from pathlib import Path
from urllib.parse import quote

import pytest

from holdfast.security import rules
from tests.capture.rollouts import Rollout, rollout
from tests.conftest import Cli, GitRepo

from .fakes import ISSUED, PASS

SECRET = ISSUED["github"][0]
PACKED = base64.b64encode(f"login\npassword={PASS}\n".encode()).decode()
WRITTEN = quote(f"postgres://app:{PASS}@db/x", safe="")
HIDDEN = "Rumpelstilzchen"
PLANTED = (SECRET, PASS, PACKED, WRITTEN, HIDDEN)


@pytest.fixture
def told(world: Path, repo: GitRepo) -> Rollout:
    """A session in which secrets stand wherever one can stand."""
    repo.commit("a.py", "x = 1\n")
    file = rollout(world / ".codex", os.fspath(repo))
    file.asks(f"Deploy with {SECRET} <private>for {HIDDEN}</private> please.")
    file.runs(f"curl -H 'Authorization: Bearer {SECRET}' x", f"sent {PACKED}\nDATABASE={WRITTEN}\n")
    file.patches("settings.py", [f'password = "{PASS}"', f"# <private>{HIDDEN}</private>"])
    return file.done(f"Done with {SECRET}; we decided on one account: password={PASS}.")


def on_disk(*folders: Path) -> bytes:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    return b"\n".join(path.read_bytes() for path in files)


def test_nothing_known_or_private_comes_in_with_an_import(cli: Cli, repo: GitRepo, told: Rollout, world: Path) -> None:
    """A transcript holds every key its agent ever saw."""
    cli("init")
    cli("import", "codex", str(told.path))
    cli("recall", "deploy", ok=False)
    assert json.loads(cli("scan", "--json").out)["findings"] == []
    stored = on_disk(repo.path / ".git" / "holdfast", repo.path / ".holdfast", world / ".cache")
    assert b"Deploy with [redacted:github]" in stored
    for secret in PLANTED:
        assert secret.encode() not in stored, secret


def test_nothing_comes_in_with_an_import_that_could_not_be_scanned(
    cli: Cli, repo: GitRepo, told: Rollout, world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that runs out of time must not let the rest of a session through."""
    monkeypatch.setattr(rules, "GRACE", 0.2)
    cli("init")
    told.asks("Count very-private-words " + "a" * 400_000).done("Counted.")
    cli("import", "codex", str(told.path), ok=False, HOLDFAST_REDACT_RULES=json.dumps(["a*b*c"]))
    stored = on_disk(repo.path / ".git" / "holdfast", repo.path / ".holdfast", world / ".cache")
    assert b"very-private-words" not in stored
    for secret in PLANTED:
        assert secret.encode() not in stored, secret


def test_notes_proposals_and_tasks_drop_what_is_private(cli: Cli, repo: GitRepo, world: Path) -> None:
    """People type what they would not say aloud, and trust the tag."""
    repo.commit("a.py", "x = 1\n")
    cli("init")
    said = f"Ask <private>{HIDDEN}</private> about {PACKED}"
    cli("session", "start", said)
    cli("session", "note", said, "--open", said, "--decided", said)
    cli("remember", said)
    cli("task", "add", said)
    cli("run", "--", "echo", said)
    stored = on_disk(repo.path / ".git" / "holdfast", repo.path / ".holdfast", world / ".cache")
    assert HIDDEN.encode() not in stored and PACKED.encode() not in stored
