"""A fresh interpreter for tests that fork often: a copy of pytest takes longer to make than an event to write."""

import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# Pytest knows this folder as the package `faults`.
CALL = (
    "import pickle, sys; sys.path.append('tests'); "
    "act, args, options = pickle.load(sys.stdin.buffer); act(*args, **options)"
)


def in_small_process(act: Callable[..., None], *args: Any, **options: Any) -> None:
    """Call it there; it fails here if it fails there."""
    given = pickle.dumps((act, args, options))
    done = subprocess.run([sys.executable, "-c", CALL], cwd=ROOT, input=given, capture_output=True, check=False)
    print(done.stdout.decode())
    assert done.returncode == 0, done.stderr.decode()
