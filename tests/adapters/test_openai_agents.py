"""OpenAI Agents SDK: its own session tests out of its source package, and our session beside its SQLiteSession."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents")
from agents import Agent, Runner, SQLiteSession, function_tool
from agents.memory import Session, SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.agent_store import adapter_rows
from holdfast.agent_store.tables import TRANSCRIPT
from holdfast.errors import BadInput
from holdfast.interfaces.adapters import HoldfastSession
from holdfast.interfaces.adapters.openai_session import _add
from holdfast.project import Project

pytestmark = pytest.mark.adapters
HERE = Path(__file__).resolve().parent
SUITES = ("tests/memory/test_session.py", "tests/memory/test_session_limit.py")


@pytest.fixture(scope="session")
def sdk_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source package of the SDK that is installed, from PyPI: its wheel has no tests."""
    folder = tmp_path_factory.mktemp("sdk")
    wanted = f"openai-agents=={version('openai-agents')}"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", "openai-agents")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", *quiet, "--dest", str(folder), wanted],
        capture_output=True,
        check=False,
        text=True,
    )
    if done.returncode:
        pytest.skip(f"the source package of {wanted} could not be fetched: {done.stderr.strip()[-300:]}")
    (packed,) = folder.glob("*.tar.gz")
    with tarfile.open(packed) as file:
        file.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def test_the_owners_session_tests_pass(sdk_source: Path, store_url: str) -> None:
    """Whoever changes the session of an agent that works must not notice."""
    environ = {
        **os.environ,
        "HOLDFAST_DATABASE_URL": store_url,
        "PYTHONPATH": str(HERE),
        "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}",
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
    }
    options = ("-q", "-p", "sdk_session_plugin", "-p", "no:cacheprovider", "-W", "default", *SUITES)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options],
        cwd=sdk_source,
        env=environ,
        capture_output=True,
        check=False,
        text=True,
    )
    print(done.stdout[-3000:])
    assert done.returncode == 0, done.stdout[-6000:]


ITEMS = st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": st.text(max_size=8)})
STEPS = st.one_of(
    st.tuples(st.just("add"), st.lists(ITEMS, max_size=4)),
    st.tuples(st.just("pop"), st.none()),
    st.tuples(st.just("get"), st.one_of(st.none(), st.integers(-1, 6))),
    st.tuples(st.just("clear"), st.none()),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=14), limit=st.one_of(st.none(), st.integers(0, 4)))
def test_every_answer_is_that_of_their_sqlite_session(
    project: Project, steps: list[tuple[str, Any]], limit: int | None
) -> None:
    """The documents of a protocol leave things open; code that runs does not."""

    async def answers(session: Any) -> list[Any]:
        doing = {"add": session.add_items, "get": session.get_items}
        alone = {"pop": session.pop_item, "clear": session.clear_session}
        return [await (doing[name](given) if name in doing else alone[name]()) for name, given in steps]

    chosen = SessionSettings(limit=limit)
    theirs = SQLiteSession("s", session_settings=chosen)
    ours = HoldfastSession(project, f"s{id(theirs)}-{os.urandom(4).hex()}", session_settings=chosen)
    assert isinstance(ours, Session)
    try:
        assert asyncio.run(answers(ours)) == asyncio.run(answers(theirs))
    finally:
        theirs.close()


def test_many_writers_keep_all_items_and_each_keeps_its_own_together(project: Project) -> None:
    """Half a tool call between another's halves is a history that no model accepts."""

    async def all_at_once() -> list[Any]:
        writers = [HoldfastSession(project, "s") for _ in range(8)]
        await asyncio.gather(
            *(one.add_items([{"n": at, "p": part} for part in range(5)]) for at, one in enumerate(writers))
        )
        await asyncio.gather(*(one.pop_item() for one in writers[:5]))
        return await writers[0].get_items()

    items = asyncio.run(all_at_once())
    assert len(items) == 35 and [one["p"] for one in items] == list(range(5)) * 7


def test_an_operation_that_runs_twice_does_its_work_once(project: Project) -> None:
    """A server killed at COMMIT cannot say whether it was kept, so the client asks again."""
    base = project.agents.database
    for _ in range(2):
        base.run(lambda tx: _add(tx, "k", [{"a": 1}, {"b": 2}], "first"))
    base.run(lambda tx: _add(tx, "k", [{"c": 3}], "second"))
    taken = [base.run(lambda tx: adapter_rows.pop(tx, "k", "third")) for _ in range(2)]
    assert taken == [{"c": 3}] * 2
    assert [row.body for row in base.run(lambda tx: adapter_rows.entries(tx, "k"))] == [{"a": 1}, {"b": 2}]
    base.run(lambda tx: tx.update(TRANSCRIPT, TRANSCRIPT.c.kind == adapter_rows.POPPED, created=0))
    base.run(lambda tx: adapter_rows.pop(tx, "k", "fourth"))
    kept = base.run(lambda tx: tx.all(TRANSCRIPT.select().where(TRANSCRIPT.c.action == "third")))
    assert kept == []


def test_what_is_no_json_is_refused_before_anything_is_kept(project: Project) -> None:
    """Half a turn is worse than none."""
    session = HoldfastSession(project, "s")
    with pytest.raises(BadInput, match="JSON"):
        asyncio.run(session.add_items([{"role": "user", "content": "a"}, {"bad": object()}]))
    assert asyncio.run(session.get_items()) == []


KILLED = """
import asyncio, sys
from holdfast.interfaces.adapters import HoldfastSession
from holdfast.project import Project
session = HoldfastSession(Project.open(sys.argv[1], environ={"HOLDFAST_DATABASE_URL": sys.argv[2]}, person=True), "s")
async def work():
    while True:
        at = len(await session.get_items())
        await session.add_items([{"n": at}, {"n": at + 1}])
        print(at + 2, flush=True)
asyncio.run(work())
"""


def test_kill_9_loses_no_item_that_was_acknowledged(project: Project, store_url: str) -> None:
    """An agent is killed in the middle of a conversation, and the next one goes on with it."""
    top = str(project.clone.repo.top)
    session = HoldfastSession(project, "s")
    for lines in (1, 4, 9, 2):
        command = [sys.executable, "-c", KILLED, top, store_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
            assert worker.stdout is not None
            told = [int(worker.stdout.readline()) for _ in range(lines)][-1]
            worker.kill()
            told = max([told, *(int(line) for line in worker.stdout.read().split("\n")[:-1])])
        kept = [one["n"] for one in asyncio.run(session.get_items())]
        assert kept == list(range(len(kept))) and told <= len(kept) <= told + 2


def test_a_session_is_in_the_log_when_it_was_recorded(project: Project) -> None:
    """What an agent said is found like any other agent's work; a secret in it is not."""
    key = "ghp_" + "Zk3" * 12

    @function_tool
    def look_up(name: str) -> str:
        return f"{name} listens on port 7411, token {key}"

    async def talk() -> str | None:
        session = HoldfastSession(project, "ticket-1", agent="helper")
        model = ScriptedModel()
        model.enqueue([function_call("look_up", {"name": "billing"}, call_id="c1")])
        model.enqueue([assistant_message("Billing listens on port 7411.")])
        agent = Agent(name="helper", model=model, tools=[look_up])
        async with session.recording() as recording:
            await Runner.run(agent, "Which port does billing use?", session=session)
        return recording.run

    run = asyncio.run(talk())
    (event,) = (one for one in project.log.events() if one["kind"] == "run")
    assert event["run_id"] == run and "7411" in event["outputs"]["summary"]
    assert [hit for hit in project.recall("which port does billing use") if run in (hit.id or "")]
    assert key not in "".join(
        path.read_text(errors="replace") for path in Path(project.clone.layout.agent_runs).iterdir()
    )
