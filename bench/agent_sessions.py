"""What a session of a real agent costs with Holdfast and without it: seconds of a processor, of all that it starts.

The agents that `make test-clients` installed, without a terminal and with a model that answers at once: they use next
to nothing themselves, so that the share of hooks is the largest there can be. The work is real: in each of ten answers
of the model the project's tests are run, git's status is asked for, a file is edited and read again; the last commits.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Result
from holdfast.project import Project
from tests.clients.driving import FOLDER, PINNED
from tests.clients.test_agents import ASKED, MEMORY, OLDER, SHELL, Scene
from tests.clients.test_nothing_missed import git, ready

ROUNDS, ANSWERS = 2, 10
BAR = 1.05
SUITE = 4_000_000  # turns of a loop in the project's one test: well under a second, as in a small project
TEST = f"""\
import unittest


class Sums(unittest.TestCase):
    def test_sums(self):
        self.assertGreater(sum(n % 7 for n in range({SUITE})), 0)
"""
RULE = "Amounts are whole cents."


def sessions(folder: str) -> Iterator[Result]:
    """Each agent that is installed: 41 calls of tools in a session, with all that is connected and with none of it."""
    for name in OLDER:
        if not (FOLDER / f"{name}-{PINNED[name][1]}" / "installed").exists():
            yield Result(f"session of {name}", "not installed", "", 0.0, f"<= {BAR:g} x", None)
            continue
        scene = ready(name, Path(folder) / f"session-{name}")
        _project(scene)
        ours = min(_cpu(scene) for _ in range(ROUNDS + 1))
        scene.holdfast("uninstall", "--yes")
        floor = min(_cpu(scene) for _ in range(ROUNDS))
        more = f"{ours:.2f} s ({(ours / floor - 1) * 100:+.1f} %)"
        yield Result(f"session of {name}", more, f"{floor:.2f} s", ours / floor, f"<= {BAR:g} x", ours <= floor * BAR)


def _project(scene: Scene) -> None:
    """A project with a test, and with a rule for one file and another for all."""
    os.mkdir(scene.repo / "src")
    (scene.repo / "src" / "amounts.py").write_text("CENT = 1\n")
    (scene.repo / "test_sums.py").write_text(TEST)
    (scene.repo / "notes.txt").write_text("0\n")
    git(scene, "add", "-A")
    git(scene, "commit", "-q", "-m", "a project")
    scene.accept(MEMORY)
    memory = Project.open(scene.repo, environ=scene.client.environ(), person=True).memory
    memory.accept(memory.remember(RULE, kind="invariant", applies_to=["src/amounts.py"]).id)


def _cpu(scene: Scene) -> float:
    tool, argument = SHELL[scene.name]

    def answer(number: int) -> dict[str, object]:
        work = (
            "python3 -m unittest -q 2>&1 | tail -1",
            "git status --short",
            f"sed -i s/^[0-9]*$/{number}/ notes.txt",
            "cat notes.txt",
            *(["git commit -qam work"] if number == ANSWERS else []),
        )
        return {"calls": [{"name": tool, "args": {argument: words}} for words in work]}

    script = [*map(answer, range(1, ANSWERS + 1)), {"text": "Done."}]
    (scene.repo / "notes.txt").write_text(f"{os.urandom(2).hex()}\n0\n")
    ran = scene.client.run(scene.repo, ASKED, script, whole=True)
    if ran.code:
        raise SystemExit(ran.out[-2000:])
    return ran.cpu
