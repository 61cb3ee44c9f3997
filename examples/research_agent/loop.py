"""A complete agent on Holdfast's store: scripted model, two tools, resumable after `kill -9`.

Run it in a repository that `holdfast init` has set up. The model is a list of answers; put your own in its place.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any

from holdfast import Project

if TYPE_CHECKING:
    from holdfast.model.agent_entities import AgentCycle

NOTES = "research-notes.txt"
SCRIPT = (  # what a model would answer, one cycle each: thoughts, tool, arguments
    ("I need the numbers first.", "search", {"query": "int8 vector scan"}),
    ("The first hit answers it; keep it.", "note", {"text": "An int8 scan of 20,000 vectors takes 39 ms."}),
    ("One more source.", "search", {"query": "approximate index recall"}),
    ("Both agree.", "note", {"text": "An approximate index is worth it from 100,000 vectors on."}),
)
LIBRARY = {
    "int8 vector scan": "39 ms for 20,000 vectors of 384 numbers",
    "approximate index recall": "0.995 when unfiltered, 0.948 when filtered",
}


def search(_action: str, query: str) -> str:
    """Look something up: doing it twice does no harm."""
    return LIBRARY[query]


def note(action: str, text: str) -> str:
    """Append a line to a file: doing it twice would, so the line carries the name of its action."""
    if not was_noted(action):
        with open(NOTES, "a", encoding="utf-8") as file:
            file.write(f"{action} {text}\n")
            file.flush()
            os.fsync(file.fileno())
    return "noted"


def was_noted(action: str) -> bool:
    try:
        with open(NOTES, encoding="utf-8") as file:
            return any(line.startswith(f"{action} ") for line in file)
    except FileNotFoundError:
        return False


TOOLS = {"search": search, "note": note}


def perform(cycle: AgentCycle) -> Any:
    """Do what was proposed; a tool is given the action's name, which is the same after a crash."""
    return TOOLS[str(cycle.proposal.tool)](cycle.action, **cycle.proposal.arguments)


def main(pause: float = 0.0) -> None:
    project = Project.open(".")
    agent = project.agents.get("researcher", directives=["Note every number with its source."])
    resumed = agent.resume()
    step = resumed.state or 0
    if resumed.pending is not None and resumed.pending.kept is not None:
        # Killed between proposal and result. Both tools may be called again: `note` looks for its own line first.
        step += 1
        resumed.pending.result(output=perform(resumed.pending.kept), state=step)
    for thoughts, tool, arguments in SCRIPT[step:]:
        step += 1
        with agent.cycle() as cycle:
            kept = cycle.propose(thoughts=thoughts, tool=tool, arguments=arguments)
            time.sleep(pause)
            output = perform(kept)
            cycle.result(output=output, state=step)
        agent.remember(f"{tool}: {output}", cycle=kept.index)
    run = agent.finish(
        "Vector search: an int8 scan is enough up to 100,000 vectors.",
        task="Find out when an approximate index pays off",
        lessons=["Filtered queries lose recall in an approximate index (0.948), so they are answered by a scan."],
    )
    print(f"run {run or 'recorded before'}: {len(agent.episodes())} cycles, {len(agent.recall('vectors'))} memories")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.0)
