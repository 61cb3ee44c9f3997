"""`holdfast agent …` as people type it: what it says of agents of their own, and what it does to them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from holdfast.agent_store import agent_cycles, database
from holdfast.agent_store.tables import RECORD
from holdfast.project import Project
from tests.conftest import Cli, GitRepo, init


@pytest.fixture
def grown(cli: Cli, repo: GitRepo, tmp_path: Path) -> Cli:
    """An agent with two cycles that ended, one that was interrupted, four memories and a workspace."""
    init(repo.path, commit=True)
    project = Project.open(repo.path)
    agent = project.agents.get("mailer", directives=["Ask before you send."], config={"depth": 2})
    files = tmp_path / "files"
    files.mkdir()
    agent.workspace("main", files)
    for n, error in enumerate((None, "no such host")):
        (files / f"{n}.txt").write_text(str(n))
        with agent.cycle() as cycle:
            cycle.propose(tool="send", arguments={"to": n}, workspace="main")
            cycle.result(output={"sent": n} if error is None else None, error=error, state={"page": n})
    for n in range(4):
        agent.remember(f"Address {n} bounces.", pinned=n == 0)
    cycle = agent.cycle()
    cycle.propose(tool="send", arguments={"to": 2})
    agent.let_go()
    project.agents.database.close()
    return cli


def plain(text: str) -> str:
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "WHEN", re.sub(r"\d{8}T\d{6}Z-\w+", "RUN", text))


def test_who_they_are_and_where_they_go_on(grown: Cli) -> None:
    """After a crash a person must see what may have happened, say what did, and the agent goes on from there."""
    assert grown("agent").out.splitlines()[0] == "mailer  3 cycles  in a run"
    assert grown("agent", "list").out == grown("agent").out
    shown = plain(grown("agent", "show", "mailer").out)
    assert "run      RUN" in shown and 'state    {"page": 1}' in shown and "  Ask before you send." in shown
    assert 'Cycle 2 has no result; its action may have happened: send {"to": 2}' in shown
    assert plain(grown("agent", "cycles", "mailer").out).splitlines() == [
        '0  WHEN  send  {"sent": 0}',
        "1  WHEN  send  failed: no such host",
        "2  WHEN  send  no result",
    ]
    assert plain(grown("agent", "resume", "mailer").out) == shown
    settled = grown("agent", "resume", "mailer", "--output", "was sent", "--state", '{"page": 2}').out
    assert 'state    {"page": 2}' in settled and "no result" not in settled
    assert plain(grown("agent", "cycles", "mailer", "--last", "1").out) == "2  WHEN  send  was sent\n"
    assert "no cycle of mailer waits" in grown("agent", "resume", "mailer", "--output", "x", ok=False).err
    assert "nobody" in grown("agent", "show", "nobody", ok=False).err
    assert json.loads(grown("agent", "show", "mailer", "--json").out)["state"] == {"page": 2}


def test_what_goes_out_comes_back_and_pruning_reports_what_it_did(grown: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """A copy on another machine, and a memory that does not grow for ever."""
    out = str(tmp_path / "agents.jsonl")
    assert re.fullmatch(rf"Wrote \d+ rows to {re.escape(out)}\n", grown("agent", "export", out).out)
    planned = grown("agent", "prune", "mailer", "--older-than", "0d", "--dry-run").out
    assert planned.splitlines()[0] == "Would delete 3 records." and "4 to 1" in planned and "1 pinned stay" in planned
    assert "This deletes 3 records" in grown("agent", "prune", "mailer", "--older-than", "0d", ok=False).err
    assert grown("agent", "prune", "mailer", "--older-than", "0d", "--yes").out == planned.replace(
        "Would delete", "Deleted"
    )
    assert "+  1.txt" in grown("agent", "workspace", "diff", "mailer", "1").out
    grown("agent", "workspace", "restore", "mailer", "0", "--into", str(tmp_path / "back"))
    assert [path.name for path in (tmp_path / "back").iterdir()] == ["0.txt"]
    (repo / ".git/holdfast/agents.db").unlink()
    assert "Copied 1 agent" in grown("agent", "import", out).out
    assert (
        grown("agent", "prune", "mailer", "--budget", "4", "--dry-run").out.splitlines()[0] == "Would delete 0 records."
    )
    assert "Cycle 2 has no result" in grown("agent", "show", "mailer").out


def test_a_move_that_is_killed_goes_on_with_the_same_command(grown: Cli, repo: GitRepo, tmp_path: Path) -> None:
    """A large store takes minutes, and a laptop that is closed must not mean to begin again by hand."""
    project, place = Project.open(repo.path), tmp_path / "other.db"
    store = project.agents.database
    first = store.run(lambda tx: tx.all(sa.select(RECORD)))[0]._mapping
    more = [{**first, "id": f"{n:032x}", "text": f"{n} " * 200} for n in range(3_000)]
    for begin in range(0, len(more), 500):
        store.run(lambda tx, some=more[begin : begin + 500]: tx.insert_new(RECORD, *some))
    command = [sys.executable, "-m", "holdfast", "agent", "move", "--to", f"sqlite:///{place}"]
    child = subprocess.Popen(command, cwd=repo.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 30
    written = place.with_name("other.db-wal")
    while not written.exists() or written.stat().st_size < 300_000:
        assert child.poll() is None and time.monotonic() < until
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    target = database.open_sqlite(str(place), project.agents.project_id)

    def there() -> int:
        return len(target.run(lambda tx: tx.all(sa.select(RECORD.c.id))))

    # What was not committed yet when it was killed may be all of it.
    assert there() < 3_004 and target.run(agent_cycles.every_agent) == []
    subprocess.run(command, cwd=repo.path, check=True, capture_output=True)
    assert there() == 3_004 and [one.name for one in target.run(agent_cycles.every_agent)] == ["mailer"]
    target.close()
    store.close()
