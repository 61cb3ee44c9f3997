"""An agent of your own that Holdfast knows: it asks for the context, warns before an edit, and is recorded.

    python examples/own_agent/agent.py "make the greeting friendlier"

It needs nothing but `holdfast-hook` on the PATH, and works without. The contract is in
docs/how-to/your-own-agent.md. The model is left out: `work` stands for it.
"""

import json
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

NAME = "example"  # small letters and digits
REPO = Path.cwd()
SESSION = uuid.uuid4().hex
TRANSCRIPT = Path.home() / ".example-agent" / f"{SESSION}.jsonl"


def hook(event: str, **fields: Any) -> str:
    """Tell Holdfast of an event; gives what it wants the model to read, or nothing. It must never stop the agent."""
    program = shutil.which("holdfast-hook")
    if program is None:
        return ""
    given = {"session_id": SESSION, "transcript_path": str(TRANSCRIPT), "cwd": str(REPO), **fields}
    try:
        done = subprocess.run(
            [program, NAME, event], input=json.dumps(given).encode(), capture_output=True, timeout=2, check=False
        )
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return ""


def write(**row: Any) -> None:
    """Append a line to the transcript. It is read while it grows, so a line is written whole."""
    TRANSCRIPT.parent.mkdir(exist_ok=True)
    with TRANSCRIPT.open("a", encoding="utf-8") as file:
        file.write(json.dumps({**row, "ts": now()}) + "\n")


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def work(prompt: str, context: str) -> None:
    """What a model would do: read what is known, edit a file, and say so."""
    print(context or "(nothing is known here)")
    file, after = REPO / "greeting.txt", "Hello, and welcome.\n"
    before = file.read_text() if file.exists() else ""
    edit = {"path": str(file), "content": after, "new": not before}
    warning = hook("PreToolUse", tool_name="write", tool_use_id="call-1", tool_input={"file_path": str(file)})
    if warning:
        print(warning)
    file.write_text(after)
    output = "\n\n".join(filter(None, ["written", warning]))
    call = {"id": "call-1", "name": "write", "kind": "edit", "input": edit, "output": output, "edits": [edit]}
    write(type="step", id="step-1", text=f"For {prompt!r} I write a greeting.", calls=[call])
    write(type="step", id="step-2", text="The greeting is friendlier now.")


def main(prompt: str) -> None:
    write(type="session", agent=NAME, session=SESSION, cwd=str(REPO), started=now())
    context = hook("SessionStart")
    try:
        write(type="turn", key="turn-1", prompt=prompt)
        work(prompt, "\n".join(filter(None, [context, hook("UserPromptSubmit", prompt=prompt)])))
        hook("Stop")  # the turn is over: what it did is noted
    finally:
        hook("SessionEnd")  # the session is over: it becomes a run


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]) or "make the greeting friendlier")
