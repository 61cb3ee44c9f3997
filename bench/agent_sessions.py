"""What a session of a real agent costs with Holdfast and without it: seconds of a processor, of all that it starts.

The agents that `make test-clients` installed, without a terminal and with a model that answers at once: they use next
to nothing themselves. Two sessions, each with all that is connected and with none of it:

    hasty   41 calls in ten answers, all in the shell, whose tests take an eighth of a second: the largest share that
            hooks can have
    usual   the median of 14 published sessions of Claude Code: forty calls, one an answer, half of them reads and a
            quarter edits, at five prompts, and a minute spent in tests and builds. The clients start anew for each
            prompt here, so that hooks of a session's start and end count five times
"""

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from bench.measure import Result, least
from holdfast.project import Project
from tests.clients.driving import FOLDER, PINNED
from tests.clients.test_agents import ASKED, MEMORY, OLDER, SHELL, Scene
from tests.clients.test_nothing_missed import git, ready

ROUNDS, ANSWERS = 4, 10
BAR = 1.05
SUITE = 4_000_000  # turns of a loop in the project's one test: well under a second, as in a small project
TEST = f"""\
import unittest


class Sums(unittest.TestCase):
    def test_sums(self):
        self.assertGreater(sum(n % 7 for n in range({SUITE})), 0)
"""
# Those sessions waited 61 s for their commands in the median (60 counted for each that took longer), and half of the
# commands were tests and builds. What they used of processors nobody wrote down: here it is as long as they took.
PROMPTS, BUILDING = 5, 12
READING = 3  # seconds before the next prompt: what changed in the last two is mistrusted, and a person takes longer
BUILD = "import sys, time\nwhile time.process_time() < float(sys.argv[1]):\n    pass\n"
RULE = "Amounts are whole cents."
READ = {"claude": ("Read", "file_path"), "gemini": ("read_file", "file_path")}  # Codex reads in its shell
EDIT = {"claude": "Edit", "gemini": "replace"}


def sessions(folder: str) -> Iterator[Result]:
    """Each agent that is installed."""
    for name in OLDER:
        if not (FOLDER / f"{name}-{PINNED[name][1]}" / "installed").exists():
            yield Result(f"session of {name}", "not installed", "", 0.0, f"<= {BAR:g} x", None)
            continue
        with_it, without = (_scene(name, Path(folder) / f"{name}-{which}") for which in ("with", "without"))
        without.holdfast("uninstall", "--yes")
        for kind, session, rounds in (("hasty", _hasty, ROUNDS), ("usual", _usual, 1)):
            cost, floor = least({"ours": partial(session, with_it), "bare": partial(session, without)}, rounds).values()
            more = f"{cost:.2f} s ({(cost / floor - 1) * 100:+.1f} %)"
            what = f"{kind} session of {name}"
            yield Result(what, more, f"{floor:.2f} s", cost / floor, f"<= {BAR:g} x", cost <= floor * BAR)


def _scene(name: str, folder: Path) -> Scene:
    """An agent in a project with a test, and with a rule for one file and another for all."""
    scene = ready(name, folder)
    os.mkdir(scene.repo / "src")
    (scene.repo / "src" / "amounts.py").write_text("CENT = 1\n")
    (scene.repo / "test_sums.py").write_text(TEST)
    (scene.repo / "build.py").write_text(BUILD)
    (scene.repo / "notes.txt").write_text("0\n")
    git(scene, "add", "-A")
    git(scene, "commit", "-q", "-m", "a project")
    scene.accept(MEMORY)
    memory = Project.open(scene.repo, environ=scene.client.environ(), person=True).memory
    memory.accept(memory.remember(RULE, kind="invariant", applies_to=["src/amounts.py"]).id)
    return scene


def _hasty(scene: Scene) -> float:
    def answer(number: int) -> dict[str, Any]:
        work = (
            "python3 -m unittest -q 2>&1 | tail -1",
            "git status --short",
            f"sed -i s/^[0-9]*$/{number}/ notes.txt",
            "cat notes.txt",
            *(["git commit -qam work"] if number == ANSWERS else []),
        )
        return {"calls": [_shell(scene, words) for words in work]}

    (scene.repo / "notes.txt").write_text(f"{os.urandom(2).hex()}\n0\n")
    return _cpu(scene, [*map(answer, range(1, ANSWERS + 1)), {"text": "Done."}])


def _usual(scene: Scene) -> float:
    """Five prompts, the later ones in the session of the first: a client that stays would start only once."""
    used, notes = 0.0, scene.repo / "notes.txt"
    notes.write_text(f"{os.urandom(2).hex()} 0\n")
    for number in range(PROMPTS):
        time.sleep(READING)
        calls = [
            _read(scene, "notes.txt"),
            _read(scene, "src/amounts.py"),
            _edit(scene, f" {2 * number}", f" {2 * number + 1}"),
            _shell(scene, f"python3 build.py {BUILDING}"),
            _read(scene, "test_sums.py"),
            _edit(scene, f" {2 * number + 1}", f" {2 * number + 2}"),
            _shell(scene, "git diff --stat" if number < PROMPTS - 1 else "git commit -qam work"),
            _read(scene, "notes.txt"),
        ]
        used += _cpu(scene, [*({"calls": [one]} for one in calls), {"text": "Done."}], resume=number > 0)
        if f" {2 * number + 2}\n" not in notes.read_text():
            raise SystemExit(f"{scene.name} did not edit notes.txt: {notes.read_text()!r}")
    return used


def _shell(scene: Scene, words: str) -> dict[str, Any]:
    tool, argument = SHELL[scene.name]
    patient = {"yield_time_ms": 30_000} if scene.name == "codex" else {}
    return {"name": tool, "args": {argument: words, **patient}}


def _read(scene: Scene, name: str) -> dict[str, Any]:
    if scene.name not in READ:
        return _shell(scene, f"cat {name}")
    tool, argument = READ[scene.name]
    return {"name": tool, "args": {argument: str(scene.repo / name)}}


def _edit(scene: Scene, old: str, new: str) -> dict[str, Any]:
    if scene.name not in EDIT:
        return _shell(scene, f"sed -i 's/{old}$/{new}/' notes.txt")
    words = {"file_path": str(scene.repo / "notes.txt"), "old_string": f"{old}\n", "new_string": f"{new}\n"}
    more = {"instruction": "count"} if scene.name == "gemini" else {}
    return {"name": EDIT[scene.name], "args": {**words, **more}}


def _cpu(scene: Scene, script: list[dict[str, Any]], *, resume: bool = False) -> float:
    ran = scene.client.run(scene.repo, ASKED, script, whole=True, resume=resume)
    if ran.code or len([one for one in ran.asked if one["main"]]) != len(script):
        raise SystemExit(ran.out[-2000:])
    return ran.cpu
