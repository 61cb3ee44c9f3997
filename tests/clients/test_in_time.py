"""The real agents on a busy machine: the context is in the first request, at the first try."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.driving import PINNED
from tests.clients.test_agents import MARK, MEMORY, Scene, pytestmark  # noqa: F401 - they need the same
from tests.clients.test_more_agents import FIRST

BUSY = 8  # processes that never rest, on two cores
CHANGES = ("cold", "commit", "switch", "pull")


@pytest.fixture
def busy() -> Iterator[None]:
    started = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY)]
    yield
    for one in started:
        one.kill()
        one.wait()


class Changing:
    """A repository in which something happens right before an agent starts."""

    def __init__(self, scene: Scene, folder: Path) -> None:
        self.scene, self.other, self.count = scene, folder / "other", 0
        scene.accept(MEMORY)
        scene.holdfast("hooks", "install")
        scene.holdfast("publish", "--here")
        self.git("branch", "side")
        self.git("clone", "-q", str(scene.repo), str(self.other))

    def git(self, *words: str, cwd: Path | None = None) -> None:
        subprocess.run(["git", *words], cwd=cwd or self.scene.repo, env=self.scene.client.environ(), check=True)

    def commit(self, folder: Path, name: str) -> None:
        (folder / name).write_text(str(self.count))
        self.git("add", name, cwd=folder)
        self.git("commit", "-q", "-m", f"{name} {self.count}", cwd=folder)

    def change(self, what: str) -> None:
        self.count += 1
        repo = self.scene.repo
        if what == "cold":
            shutil.rmtree(repo / ".git/holdfast/contexts", ignore_errors=True)
            shutil.rmtree(self.scene.client.home / ".cache/holdfast", ignore_errors=True)
        elif what == "commit":
            self.commit(repo, "a.txt")
        elif what == "switch":
            self.git("switch", "-q", "side" if self.count % 2 else "main")
        else:
            self.commit(self.other, "b.txt")
            self.git("pull", "-q", "--no-rebase", "--no-edit", str(self.other), "main")

    def starts(self, what: str, times: int) -> list[bool]:
        """Whether the first request that can have it had the context, of each start."""
        found = []
        for _ in range(times):
            self.change(what)
            first = FIRST.get(self.scene.name, 0)
            script = [*[self.scene.shell("true")][:first], {"text": "Done."}]
            ran = self.scene.client.run(self.scene.repo, "Read hello.txt.", script)
            found.append(MARK in ran.request(first))
        return found


@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("name", [*PINNED])
def test_the_context_is_in_the_first_request_whatever_happened_before(name: str, tmp_path: Path) -> None:
    """What comes a second late is not in the model's first thought, and often in none."""
    changing = Changing(Scene(name, tmp_path), tmp_path)
    found = {what: changing.starts(what, 1) for what in CHANGES}
    assert all(map(all, found.values())), found


@pytest.mark.torture
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("name", [*PINNED])
def test_in_99_of_100_starts(name: str, tmp_path: Path) -> None:
    """One in a hundred may miss it."""
    changing = Changing(Scene(name, tmp_path), tmp_path)
    found = {what: changing.starts(what, 25) for what in CHANGES}
    assert sum(map(sum, found.values())) >= 99, found
