"""The recording hook: what every commit pays, against a Python that does nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator

from bench.measure import Result, at_most, least, process, told
from holdfast.git import hooks
from holdfast.git.repo import Repo
from holdfast.store.layout import Layout

PYTHON: str = getattr(sys, "_base_executable", sys.executable)
FLOOR = [PYTHON, "-I", "-S", "-c", "pass"]
ROUNDS = 40
BAR = 1.5


def recording(folder: str) -> Iterator[Result]:
    """One firing: the hook itself, and with the shell that git starts for it."""
    top = os.path.join(folder, "hooked")
    subprocess.run(["git", "init", "-q", top], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "first"], cwd=top, check=True)
    layout = Layout(top, os.path.join(top, ".git", "holdfast"))
    os.mkdir(layout.private)
    hooks.install(Repo.at(top), layout, python=PYTHON)
    own = [PYTHON, "-I", "-S", layout.hook]
    cases = {
        "floor": FLOOR,
        "post-commit": [*own, "post-commit"],
        "post-checkout": [*own, "post-checkout", "a" * 40, "b" * 40, "1"],
        "by git": [os.path.join(top, ".git", "hooks", "post-commit")],
    }
    best = least({name: process(argv, top, os.environ) for name, argv in cases.items()}, ROUNDS)
    for name in ("post-commit", "post-checkout"):
        yield at_most(f"recording hook: {name}", best[name], best["floor"], BAR)
    ours, floor = best["by git"], best["floor"]
    yield told("recording hook, with its shell", f"{ours * 1e3:.2f} ms", f"{floor * 1e3:.2f} ms", ours / floor)
