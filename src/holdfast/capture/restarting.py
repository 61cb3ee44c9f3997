"""The user's own command that restarts their tools, so that these read what was just accepted."""

import os
import subprocess
from collections.abc import Mapping, Sequence

PATIENCE = 60.0  # seconds


def restart(command: Sequence[str], *, top: str, environ: Mapping[str, str] | None) -> str | None:
    """Run it in the work tree; None if it went well, else why not. Its output is not ours."""
    program = command[0]
    if os.sep in program and not os.path.isabs(program):
        program = os.path.join(top, program)
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=top,
            env=None if environ is None else dict(environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,  # stdout is for answers; what it has to say goes to stderr
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} took longer than {PATIENCE:g} seconds"
    except (OSError, ValueError) as error:
        return f"{command[0]} could not be started: {error}"
    return None if done.returncode == 0 else f"{command[0]} ended with {done.returncode}"
