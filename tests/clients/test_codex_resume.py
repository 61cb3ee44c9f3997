"""A session exported as a rollout, before the real Codex: it lists it, resumes it, and we read on from there.

Run by `make test-clients`, like all tests of the real agents.
"""

import platform
import shutil
import subprocess
from datetime import datetime
from pathlib import Path

import pytest

from holdfast.capture.agents import dialect
from holdfast.capture.export_codex import Rollout, write_rollout
from holdfast.model.transcript import Call, Result, TranscriptOrigin, TranscriptStep, TranscriptTurn
from tests.clients.driving import Client

CAN = platform.system() == "Linux" and shutil.which("npm") is not None and shutil.which("unshare") is not None
pytestmark = [pytest.mark.clients, pytest.mark.skipif(not CAN, reason="needs npm and unshare on Linux")]

CALLS = (
    Call(
        id="toolu_1",
        name="Bash",
        kind="shell",
        text='{"command": "cat HFCOMMAND"}',
        result=Result(text="HFOUTPUT", size=8),
    ),
    Call(id="toolu_2", name="Edit", kind="edit", text="cut short"),
)
TURNS = [
    TranscriptTurn(
        key="k1", prompt="HFPROMPT, please", steps=(TranscriptStep(id="a", text="HFANSWER one", calls=CALLS),)
    ),
    TranscriptTurn(
        key="k2", prompt="and then?", steps=(TranscriptStep(id="b", text="Stopped here."),), interrupted=True
    ),
]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    return folder


def exported(client: Client, repo: Path) -> Rollout:
    origin = TranscriptOrigin(agent="claude", session="s-1", cwd=str(repo), branch="main")
    return write_rollout(str(client.home / ".codex"), TURNS, origin=origin, at=datetime.now().astimezone())


@pytest.mark.parametrize("by", ["the list", "its id"])
def test_an_exported_session_goes_on_in_codex(tmp_path, repo, by):
    """A person who changes tools takes the conversation along, with every call answered."""
    client = Client("codex", tmp_path / "home")
    done = exported(client, repo)
    which = ["--last"] if by == "the list" else [done.thread]
    ran = client.start(repo, [*client.program, "exec", "resume", *which, "HFNEW go on"], [{"text": "Going on."}])
    asked = ran.request()

    assert ran.code == 0, ran.out
    assert all(word in asked for word in ("HFPROMPT", "HFANSWER", "HFCOMMAND", "HFOUTPUT", "HFNEW"))
    told = list(dialect("codex").read(done.path, 0, None))
    assert [turn.prompt for turn in told] == ["HFPROMPT, please", "and then?", "HFNEW go on"]
    assert told[-1].answer == "Going on."
    assert told[0].calls[0].result == CALLS[0].result


def test_a_session_of_another_folder_is_not_offered_here(tmp_path, repo):
    """`resume --last` in one project must not wake the work of another."""
    client = Client("codex", tmp_path / "home")
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    exported(client, repo)
    ran = client.start(other, [*client.program, "exec", "resume", "--last", "HFNEW"], [{"text": "Alone."}])

    assert "HFPROMPT" not in ran.request()
