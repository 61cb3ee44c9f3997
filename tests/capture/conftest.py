"""A project whose runs are recorded, in this process or in one of their own."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from holdfast.capture.process import Handles
from holdfast.capture.run import CommandOutcome, run_command
from holdfast.git.clone import Clone
from holdfast.store import capsule
from holdfast.store.layout import Layout
from tests.conftest import init_store

FAKE_KEY = "ghp_" + "h0ldfastExampleTokenNotReal123456789"[:36]

# The wrapper as a process of its own: what it says about the run goes to the file named first.
WRAPPER = """
import json, os, sys
from holdfast.git.clone import Clone
from holdfast.capture.run import run_command
terminal = os.isatty(0) and os.isatty(1)
clone = Clone.open(".", cache=sys.argv[2])
out = run_command(clone, sys.argv[3:], environ=os.environ, task="T-1", terminal=terminal)
with open(sys.argv[1], "w") as file:
    json.dump({"run_id": out.run_id, "exit": out.exit_code, "warnings": out.warnings}, file)
sys.exit(out.exit_code)
"""


def faults(layout: Layout, run: dict[str, Any]) -> list[str]:
    """What is wrong with the capsule of a run, a sentence each."""
    return [str(fault) for fault in capsule.faults(layout.run(run["run_id"]), run["output_sha256"], run)]


@contextmanager
def files_as_handles(folder: Path, stdin: bytes | None) -> Iterator[Handles]:
    """Standard handles that are plain files, so that a test can read them afterwards."""
    given = os.devnull if stdin is None else folder / "given"
    if stdin is not None:
        Path(given).write_bytes(stdin)
    handles = [
        os.open(given, os.O_RDONLY),
        os.open(folder / "out", os.O_RDWR | os.O_CREAT | os.O_TRUNC),
        os.open(folder / "err", os.O_RDWR | os.O_CREAT | os.O_TRUNC),
    ]
    try:
        yield Handles(*handles)
    finally:
        for handle in handles:
            os.close(handle)


@dataclass
class Project:
    """A repository with a memory, and commands run in it."""

    path: Path
    side: Path  # where the user's side of a command is kept

    @property
    def clone(self) -> Clone:
        return Clone.open(str(self.path), cache=str(self.side / "cache"))

    def run(self, *argv: str, stdin: bytes | None = None, **options: Any) -> CommandOutcome:
        options.setdefault("environ", dict(os.environ))
        options.setdefault("cwd", str(self.path))
        with files_as_handles(self.side, stdin) as handles:
            return run_command(self.clone, argv, handles=handles, **options)

    def sh(self, script: str, **options: Any) -> CommandOutcome:
        return self.run("sh", "-c", script, **options)

    def wrapper(self, *argv: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start the wrapper as a process; it reports to `report()`."""
        command = [sys.executable, "-c", WRAPPER, str(self.side / "report"), str(self.side / "cache"), *argv]
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen(command, cwd=options.pop("cwd", self.path), **options)

    def report(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads((self.side / "report").read_text())
        return loaded

    def folder(self, run_id: str) -> Path:
        return Path(self.clone.layout.run(run_id))

    def runs(self) -> list[dict[str, Any]]:
        clone = self.clone
        return [clone.joined(event) for event in clone.all_events() if event.kind == "run"]

    def event(self, run_id: str) -> dict[str, Any]:
        (found,) = [run for run in self.runs() if run["run_id"] == run_id]
        return found

    def files(self, run_id: str) -> dict[str, dict[str, Any]]:
        rows = json.loads((self.folder(run_id) / "outputs" / "files.json").read_bytes())
        return {row["path"]: row for row in rows}

    def faults(self, run_id: str) -> list[str]:
        return faults(self.clone.layout, self.event(run_id))

    def everything_on_disk(self) -> bytes:
        """Every byte of the private store, names included."""
        store = self.clone.layout.private
        parts = []
        for folder, _, names in os.walk(store):
            for name in names:
                parts += [os.fsencode(name), (Path(folder) / name).read_bytes()]
        return b"\n".join(parts)


@pytest.fixture
def project(repo, tmp_path: Path) -> Project:  # type: ignore[no-untyped-def]
    """A repository with a memory."""
    side = tmp_path / "side"
    side.mkdir()
    init_store(repo.path, commit=True)
    return Project(repo.path, side)
