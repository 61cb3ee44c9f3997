"""A crew at work: three tasks, scripted agents, checks that decide; one fails first and succeeds once it knows how.

`make demo-crew` runs it: real git, real processes, no model and no network.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HOLDFAST = [sys.executable, "-m", "holdfast"]
PLAN = """\
# Temperatures

1. [ ] Convert Celsius to Fahrenheit in temperature.py
2. [ ] Test the conversion in test_temperature.py
3. [ ] Describe the conversion in README.md (needs: 1)
"""
# The agent reads its prompt on stdin, as any program can. Its first attempt at the conversion is wrong; the crew tells
# the next one how the check failed, and only then does it write the right formula.
AGENT = r"""
import pathlib, sys
prompt = sys.stdin.read()
task = prompt.splitlines()[0]
if "Convert" in task:
    is_told = "cold: 32 expected" in prompt
    formula = "celsius * 9 / 5 + 32" if is_told else "celsius * 9 / 5"
    pathlib.Path("temperature.py").write_text(f"def fahrenheit(celsius):\n    return {formula}\n")
    print("I added the 32 that was missing." if is_told else "Done, all tests pass!")
elif "Test" in task:
    text = "from temperature import fahrenheit\n\nassert fahrenheit(0) == 32\nassert fahrenheit(100) == 212\n"
    pathlib.Path("test_temperature.py").write_text(text)
    print("I test the freezing and the boiling point.")
else:
    with open("README.md", "a") as file:
        file.write("\n`fahrenheit(100)` is 212.\n")
    print("The README shows an example.")
"""
CHECK = """
import os, sys
if os.path.exists("temperature.py"):
    from temperature import fahrenheit
    if fahrenheit(0) != 32:
        sys.exit(f"cold: 32 expected, {fahrenheit(0):g} found")
if os.path.exists("test_temperature.py"):
    import test_temperature
"""


def step(text: str) -> None:
    print(f"\n\033[1m{text}\033[0m" if sys.stdout.isatty() else f"\n## {text}", flush=True)


def run(where: Path, environ: dict[str, str], *words: str) -> None:
    print(f"$ {shlex.join(words)}", flush=True)
    program = HOLDFAST if words[0] == "holdfast" else [words[0]]
    done = subprocess.run([*program, *words[1:]], cwd=where, env=environ, check=False)
    if done.returncode:
        raise SystemExit(f"{words[0]} ended with {done.returncode}")


def make_project(folder: Path, environ: dict[str, str]) -> Path:
    project = folder / "temperatures"
    run(folder, environ, "git", "init", "-q", "-b", "main", "temperatures")
    (project / "README.md").write_text("# Temperatures\n")
    (project / "PLAN.md").write_text(PLAN)
    run(project, environ, "git", "add", "-A")
    run(project, environ, "git", "commit", "-q", "-m", "Begin")
    run(project, environ, "holdfast", "init", "--no-hooks", "--commit")
    return project


def story(folder: Path) -> None:
    for name, text in (("agent.py", AGENT), ("check.py", CHECK)):
        (folder / name).write_text(text)
    environ = {**os.environ, "HOME": str(folder), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    environ |= {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CACHE", "CONFIG", "DATA")}
    for name in ("AUTHOR", "COMMITTER"):
        environ |= {f"GIT_{name}_NAME": "Ann", f"GIT_{name}_EMAIL": "ann@example.org"}
    settings = folder / "config" / "holdfast" / "settings.toml"
    settings.parent.mkdir(parents=True)
    checked = shlex.join(["env", "PYTHONPATH=.", "PYTHONDONTWRITEBYTECODE=1", sys.executable, str(folder / "check.py")])
    settings.write_text(f"[crew.checks]\ndefault = {checked!r}\n")

    step("A project with a plan; the command that shows a task done is in Ann's own settings")
    project = make_project(folder, environ)
    run(project, environ, "cat", "PLAN.md")
    step("Two agents work through it, each task in a work tree of its own")
    agent = shlex.join([sys.executable, str(folder / "agent.py")])
    run(project, environ, "holdfast", "crew", "run", "PLAN.md", "--agent", agent, "--approve", "never")
    step("Ann's branch is as it was; the result waits on a branch of its own")
    run(project, environ, "git", "log", "--oneline", "main")
    branch = subprocess.run(
        ["git", "branch", "--list", "crew/*/result", "--format=%(refname:short)"],
        cwd=project,
        env=environ,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()
    run(project, environ, "git", "log", "--oneline", f"main..{branch}")
    step("What the failure taught waits for review")
    run(project, environ, "holdfast", "review", "list")


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hf-crew-") as name:
        story(Path(name))
    print("\nAll of it is gone again; docs/how-to/crew.md tells how to let your own agents work.")


if __name__ == "__main__":
    main()
