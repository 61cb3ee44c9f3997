"""A crew of real agents: a graph of three tasks is done in order, and what the first learned reaches the second."""

import json
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clients.driving import ROOT, Client

CAN = platform.system() == "Linux" and shutil.which("npm") is not None and shutil.which("unshare") is not None
pytestmark = [pytest.mark.clients, pytest.mark.skipif(not CAN, reason="needs npm and unshare on Linux")]

SHELL = {"codex": ("exec_command", "cmd"), "claude": ("Bash", "command"), "gemini": ("run_shell_command", "command")}
LEARNED = "HFLEARNED-5q: the parser wants tabs"
PLAN = "1. Write the lexer\n2. Write the parser\n3. Write the printer\n"
SETTINGS = """\
[crew]
env = ["SCRIPTED_KEY"]

[crew.checks]
default = "test -f lexer.txt"
"""


class Crew:
    """A repository in which one kind of agent works as a crew."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.client, self.repo = name, Client(name, folder / "home"), folder / "repo"
        self.client.make_repository(self.repo)
        settings = self.client.home / ".config" / "holdfast" / "settings.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS)
        self.client.holdfast(self.repo, "init", "--commit")
        (folder / "plan.md").write_text(PLAN)
        self.plan = folder / "plan.md"

    def step(self, command: str) -> dict[str, Any]:
        name, argument = SHELL[self.name]
        more = {"description": "scripted"} if self.name == "claude" else {}
        return {"calls": [{"name": name, "args": {argument: command, **more}}]}


@pytest.mark.parametrize("name", [*SHELL])
def test_three_tasks_are_done_in_order_and_the_second_knows_what_the_first_learned(name: str, tmp_path: Path) -> None:
    """A crew whose agents start from nothing each time makes the same mistakes in parallel."""
    crew = Crew(name, tmp_path)
    script = []
    for part, said in (("lexer", LEARNED), ("parser", "The parser is written."), ("printer", "All is written.")):
        script += [crew.step(f"echo {part} > {part}.txt"), {"text": said}]
    words = [str(ROOT / ".venv/bin/holdfast"), "crew", "run", str(crew.plan), "--agent", name, "--workers", "1"]
    ran = crew.client.start(crew.repo, words, script)
    assert ran.code == 0, ran.out
    found = json.loads(crew.client.holdfast(crew.repo, "crew", "status", "--json"))
    assert [row["title"] for row in found["done"]] == ["Write the lexer", "Write the parser", "Write the printer"]
    assert all(row["receipts"][0]["exit_status"] == 0 for row in found["done"])
    asked = [json.dumps(one["body"], ensure_ascii=False) for one in ran.asked if one["main"]]
    firsts = [next(text for text in asked if f"Your task: {row['title']}" in text) for row in found["done"]]
    assert LEARNED not in firsts[0] and LEARNED in firsts[1], "it is in the first request of the second task"
    assert found["used"]["tokens"] > 0 and found["used"]["calls"] > 0
    git = ["git", "log", "--reverse", "--format=%s", f"main..{found['branch']}"]
    subjects = subprocess.run(git, cwd=crew.repo, capture_output=True, text=True, check=True).stdout.splitlines()
    assert subjects[:3] == ["Write the lexer", "Write the parser", "Write the printer"]
