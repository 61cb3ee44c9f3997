"""The wire: every version, hostile lines, and a client that changes its mind."""

import json
import os
import signal
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.interfaces.mcp import protocol
from holdfast.interfaces.mcp.stdio_server import Server, StdoutSink
from tests.conftest import Cli, GitRepo, init
from tests.mcp.talking import Talk, text_of

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")


class Here:
    """The server in this process: lines in, messages out."""

    def __init__(self, folder: str = ".") -> None:
        self._out, sink = os.pipe()
        os.set_blocking(self._out, False)
        self._sink = sink
        self.server = Server(StdoutSink(sink), folder, roots=True)

    def __call__(self, line: bytes) -> list[Any]:
        self.server.take(line)
        try:
            data = os.read(self._out, 1 << 22)
        except BlockingIOError:
            return []
        return [json.loads(part) for part in data.splitlines()]

    def close(self) -> None:
        os.close(self._out)
        os.close(self._sink)


@pytest.fixture
def here() -> Any:
    there = Here()
    yield there
    there.close()


def line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode() + b"\n"


def initialize(version: Any) -> bytes:
    return line(id=1, method="initialize", params={"protocolVersion": version, "capabilities": {}})


@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_spoken_as_asked(here: Here, version: str) -> None:
    """A client that gets another version than it asked for may hang up."""
    [answer] = here(initialize(version))
    assert answer["result"]["protocolVersion"] == version
    assert "context" in answer["result"]["instructions"]
    [listed] = here(line(id=2, method="tools/list"))
    tools = {tool["name"]: tool for tool in listed["result"]["tools"]}
    assert list(tools) == ["recall", "open", "why", "context", "propose", "tasks"]
    assert ("annotations" in tools["recall"]) == (version >= "2025-03-26")
    assert ("outputSchema" in tools["propose"]) == (version >= "2025-06-18")
    loaded = [name for name, tool in tools.items() if tool.get("_meta")]
    assert loaded == (["recall", "context"] if version >= "2025-06-18" else [])


def test_an_unknown_version_gets_the_newest_we_know(here: Here) -> None:
    """Next year's client must be able to fall back, not fail."""
    for version in ("2026-07-28", "2099-01-01", "1.0", "", "2024-10-07"):
        [answer] = here(initialize(version))
        assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_what_is_unknown_is_an_error_and_the_server_lives(here: Here) -> None:
    """Claude Code begins with a method no handshake version has; a server that dies of it is never used."""
    for method in ("server/discover", "prompts/list", "logging/setLevel", "", "tools/call/x"):
        [answer] = here(line(id="a", method=method, params={}))
        assert (answer["id"], answer["error"]["code"]) == ("a", protocol.METHOD)
    assert here(line(id=7, method="ping")) == [{"jsonrpc": "2.0", "id": 7, "result": {}}]


HOSTILE = (
    (b"{", protocol.PARSE),
    (b"nonsense", protocol.PARSE),
    (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', protocol.PARSE),
    (b"\xff\xfe{}", protocol.PARSE),
    (b"\xef\xbb\xbf{}", protocol.PARSE),
    (b"[" * 200_000, protocol.PARSE),
    (b'{"a":' * 100_000, protocol.PARSE),
    (b'{"jsonrpc":"2.0","method":"ping","id":' + b"9" * 10_000 + b"}", protocol.PARSE),
    (b'"' + b"x" * protocol.MAX_LINE + b'"', protocol.REQUEST),
    (b"1", protocol.REQUEST),
    (b"null", protocol.REQUEST),
    (b"{}", protocol.REQUEST),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', protocol.REQUEST),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', protocol.REQUEST),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', protocol.REQUEST),
    (b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', protocol.REQUEST),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', protocol.REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', protocol.REQUEST),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', protocol.PARAMS),
    (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}', protocol.PARAMS),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}', protocol.PARAMS),
    (b"[]", protocol.REQUEST),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', protocol.REQUEST),  # the newest version has no arrays
)


def test_a_hostile_line_gets_an_error_and_the_next_is_answered(here: Here) -> None:
    """One bad line of a client must not end its session's memory."""
    for sent, code in HOSTILE:
        assert [answer["error"]["code"] for answer in here(sent)] == [code], sent[:60]
        assert here(line(id=2, method="ping"))[0]["result"] == {}


def test_a_notification_is_never_answered(here: Here) -> None:
    """An answer nobody asked for breaks strict clients."""
    for sent in (
        line(method="notifications/initialized"),
        line(method="notifications/cancelled", params={"requestId": 9}),
        line(method="notifications/cancelled", params={"requestId": {}}),
        line(method="no/such", params=3),
        line(method="initialize"),
        line(id=5, result={}),
        line(id="holdfast-roots", error={"code": 1, "message": "no"}),
        b"  \n",
    ):
        assert here(sent) == [] or sent.isspace()


@pytest.mark.parametrize("version", VERSIONS[:2])
def test_an_array_is_answered_by_one_array(here: Here, version: str) -> None:
    """Versions that have batches must answer them as such."""
    here(initialize(version))
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": "b", "method": "no/such"},
        7,
        {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {"protocolVersion": version}},
    ]
    [answers] = here(json.dumps(sent).encode())
    assert [(one["id"], one.get("error", {}).get("code")) for one in answers] == [
        (1, None),
        ("b", protocol.METHOD),
        (None, protocol.REQUEST),
        (3, protocol.REQUEST),
    ]
    assert here(json.dumps([sent[1]]).encode()) == []
    assert here(json.dumps([sent[0]] * 101).encode())[0]["error"]["code"] == protocol.REQUEST


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=5,
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.sampled_from(["2.0", "1", 2]),
        "id": JSON,
        "method": st.sampled_from(["ping", "initialize", "tools/list", "resources/templates/list", "x"]) | JSON,
        "params": JSON,
        "result": JSON,
    },
)


@settings(max_examples=settings().max_examples // 2)
@given(message=MESSAGES | JSON | st.lists(MESSAGES, max_size=4), noise=st.binary(max_size=30))
def test_no_message_kills_the_server(message: Any, noise: bytes) -> None:
    """Whoever writes a client by hand sends everything once."""
    there = Here()
    try:
        for sent in (json.dumps(message).encode(), noise.replace(b"\n", b" ") + json.dumps(message).encode()):
            for answer in there(sent):
                for one in answer if isinstance(answer, list) else [answer]:
                    assert one["jsonrpc"] == "2.0" and ("result" in one) != ("error" in one)
        assert there(line(id="last", method="ping"))[-1]["id"] == "last"
    finally:
        there.close()


# ── as a process ─────────────────────────────────────────────────────────────────────────────────


def test_the_end_of_input_ends_it_after_the_last_answer(cli: Cli) -> None:
    """Who pipes questions in gets all answers, and no server stays behind when a client dies."""
    init(cli.cwd)
    cli("run", "--task", "one", "--", "true")
    with Talk(cli.cwd) as talk:
        talk.greet()
        talk.request("tools/call", name="recall", arguments={"query": "one"}, _meta={"progressToken": "t"})
        last = talk.request("tools/call", name="recall", arguments={"query": "anything"})
        assert talk.process.stdin is not None
        talk.process.stdin.close()
        told = []
        while "id" not in (message := talk.receive()):
            assert message["params"]["progressToken"] == "t"
            told.append(message["params"]["progress"])
        assert told and told == sorted(set(told)), "clients treat a step back as an error"
        answer = talk.receive()
        assert answer["id"] == last and text_of(answer["result"]).startswith("Nothing found")
        assert talk.receive() is None
        assert talk.process.wait(30) == 0
        assert talk.errors.read_text() == ""


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    """A broken client must not fill the machine."""
    with Talk(tmp_path) as talk:
        for _ in range(8):
            talk.raw(b"x" * (1 << 20))
        talk.raw(b"\n")
        assert talk.receive()["error"]["code"] == protocol.REQUEST
        assert talk.ask("ping")["result"] == {}
        peak = next(row for row in Path(f"/proc/{talk.process.pid}/status").read_text().splitlines() if "VmHWM" in row)
        assert int(peak.split()[1]) < 32 * 1024
        talk.raw(b"y" * (3 << 20))
        assert talk.end() == 0


def test_a_signal_ends_it_without_a_word(tmp_path: Path) -> None:
    """A traceback in a client's log at each end of a session looks like a crash."""
    with Talk(tmp_path) as talk:
        talk.greet()
        talk.process.send_signal(signal.SIGTERM)
        assert talk.process.wait(30) in (0, -signal.SIGTERM)
        assert talk.errors.read_text() == ""


def test_a_client_that_reads_no_more_is_no_error(tmp_path: Path) -> None:
    """Clients close both ends in any order."""
    with Talk(tmp_path) as talk:
        talk.greet()
        assert talk.process.stdout is not None
        talk.process.stdout.close()
        talk.raw(line(id=8, method="ping") * 2)  # at once: it may end as soon as it has seen the first
        assert talk.end() == 0
        assert talk.errors.read_text() == ""


def slow_git(folder: Path) -> tuple[dict[str, str], Path]:
    """A PATH on which git waits for a file before it works; gives that file."""
    folder.mkdir()
    release, script = folder / "release", folder / "git"
    script.write_text(
        f'#!/bin/sh\nwhile [ ! -e "{release}" ]; do sleep 0.02; done\nPATH="${{PATH#*:}}" exec git "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}, release


def test_a_ping_is_answered_and_a_call_cancelled_while_another_runs(cli: Cli, tmp_path: Path) -> None:
    """A client whose server does not answer pings kills it; one that cancelled must get no answer."""
    init(cli.cwd)
    env, release = slow_git(tmp_path / "bin")
    with Talk(cli.cwd, env=env) as talk:
        talk.greet()
        running = talk.request("tools/call", name="recall", arguments={"query": "a"}, _meta={"progressToken": 5})
        waiting = talk.request("tools/call", name="tasks", arguments={"action": "add", "title": "never"})
        kept = talk.request("tools/call", name="tasks", arguments={"action": "list"})
        assert talk.receive()["method"] == "notifications/progress"
        assert talk.ask("ping")["result"] == {}
        talk.send({"jsonrpc": "2.0", "id": kept, "method": "tools/call", "params": {"name": "recall"}})
        assert talk.receive()["error"]["code"] == protocol.REQUEST  # the id is taken
        talk.notify("notifications/cancelled", requestId=running, reason="the user said stop")
        talk.notify("notifications/cancelled", requestId=waiting)
        assert talk.ask("ping")["result"] == {}
        release.touch()
        answer = talk.receive()
        assert answer["id"] == kept
        assert text_of(answer["result"]).startswith("No task is open")
        assert talk.end() == 0


def test_what_else_prints_does_not_reach_the_protocol(cli: Cli, tmp_path: Path) -> None:
    """One stray line on stdout, and the client drops the connection."""
    init(cli.cwd)
    loud = tmp_path / "loud"
    loud.mkdir()
    (loud / "sitecustomize.py").write_text(
        "import atexit, os, threading\n"
        "real = threading.Thread.start\n"
        "def start(self):\n"
        "    print('stray'); os.write(1, b'stray\\n'); os.system('echo stray; cat')\n"
        "    real(self)\n"
        "threading.Thread.start = start\n"
    )
    path = os.pathsep.join(filter(None, [str(loud), os.environ.get("PYTHONPATH", "")]))
    with Talk(cli.cwd, env={"PYTHONPATH": path}) as talk:
        talk.greet()
        assert not talk.call("recall", query="a")["isError"]
        assert talk.end() == 0
        assert talk.errors.read_text().count("stray") == 3


def test_a_bug_in_one_call_is_an_error_for_that_call_alone(cli: Cli, tmp_path: Path) -> None:
    """A server that went silent after one failure would take memory away for the whole session."""
    init(cli.cwd)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "sitecustomize.py").write_text(
        "import sys\n"
        "def hook(event, args):\n"
        "    if event == 'open' and str(args[0]).endswith('explode.md'):\n"
        "        raise ZeroDivisionError('planted')\n"
        "sys.addaudithook(hook)\n"
    )
    (cli.cwd / ".holdfast" / "memory" / "facts").mkdir(parents=True)
    planted = cli.cwd / ".holdfast" / "memory" / "facts" / "explode.md"
    planted.write_text("x")
    path = os.pathsep.join(filter(None, [str(broken), os.environ.get("PYTHONPATH", "")]))
    with Talk(cli.cwd, env={"PYTHONPATH": path}) as talk:
        talk.greet()
        answer = talk.ask("resources/list")
        assert answer["error"]["code"] == protocol.INTERNAL
        assert "ZeroDivisionError" in answer["error"]["message"]
        planted.unlink()
        assert talk.ask("resources/list")["result"] == {"resources": []}
        assert talk.end() == 0


def test_a_client_may_say_where_its_project_is(repo: GitRepo, cli: Cli, tmp_path: Path) -> None:
    """Some clients start servers in the user's home, and know the project's folder as a root."""
    init(cli.cwd)
    cli("task", "add", "In the root")
    elsewhere = tmp_path / "some where"
    elsewhere.mkdir()
    with Talk(elsewhere) as talk:
        talk.greet(roots={"listChanged": True})
        talk.request("tools/call", name="tasks", arguments={"action": "next"})
        asked = talk.receive()
        assert asked["method"] == "roots/list"
        roots = [{"uri": elsewhere.as_uri()}, {"uri": "https://example.org/"}, 7, {"uri": repo.path.as_uri()}]
        talk.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": roots}})
        assert "In the root" in text_of(talk.receive()["result"])
        assert "In the root" in text_of(talk.call("tasks", action="next"))  # not asked again
        talk.notify("notifications/roots/list_changed")
        talk.request("tools/call", name="tasks", arguments={"action": "next"})
        asked = talk.receive()
        talk.send({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no"}})
        answer = talk.receive()["result"]
        assert answer["isError"] and "no git repository" in text_of(answer)


HEAVY = {"holdfast.project", "click", "yaml", "asyncio", "dataclasses", "pathlib", "subprocess", "typing"}


def test_the_handshake_loads_nothing_heavy_and_needs_no_repository(tmp_path: Path) -> None:
    """Codex does not wait for a slow server: a call in its first turn would fail."""
    code = (
        "import sys; sys.argv[1:] = ['mcp']; from holdfast.__main__ import main\n"
        "code = main(); sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )
    sent = initialize("2025-06-18") + line(method="notifications/initialized") + line(id=2, method="tools/list")
    sent += line(id=3, method="resources/templates/list") + line(id=4, method="ping")
    import subprocess

    done = subprocess.run(
        [sys.executable, "-c", code],
        input=sent,
        cwd=tmp_path,
        env={**os.environ, "PATH": "/nowhere"},
        capture_output=True,
        check=True,
    )
    assert [json.loads(row)["id"] for row in done.stdout.splitlines()] == [1, 2, 3, 4]
    assert set(done.stderr.decode().split()) & HEAVY == set()
