"""The hook that agents call: recording a pointer, and telling a session what it needs at its start.

What is kept ready is what is measured, as it is after any turn; a start that finds nothing ready is told
for information, in wall time, for that is what an agent waits.
"""

import contextlib
import json
import os
import resource
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from bench import context
from bench.corpus import Corpus
from bench.hook import FLOOR, PYTHON
from bench.measure import Result, at_most, least, process, told, wall
from holdfast.interfaces import agent_events, agent_hook
from holdfast.project import Project, prepared_context

HOOK = [PYTHON, "-I", "-S", agent_hook.__file__]
ROUNDS = 40
BAR = 1.5
LONG = 200_000  # characters of a tool's answer


def hooks(folder: str, cache: str) -> Iterator[Result]:
    """What an agent pays for each event, and for the start of a session."""
    small, large = (
        context._made(folder, cache, "memories", number, context.write_memory)
        for number in (context.SMALL, context.LARGE)
    )
    with _nobody_drains(small), _nobody_drains(large):
        yield from _recording(small)
        yield from _starting([small, large])
        time.sleep(1)  # children that go on after their hook must not write into a folder that is deleted


def _recording(corpus: Corpus) -> Iterator[Result]:
    Project.open(corpus.top).context.render_guards()
    response = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "c1"}
    cases = {
        "floor": process(FLOOR, corpus.top, os.environ),
        "waited": _waited(corpus),
        "PostToolUse": _fired(corpus, "PostToolUse", {**response, "tool_response": {"stdout": "a\n"}}),
        "PostToolUse, long": _fired(corpus, "PostToolUse", {**response, "tool_response": "x" * LONG}),
        "PreCompact": _fired(corpus, "PreCompact", {"trigger": "auto"}),
        "PreToolUse": _fired(corpus, "PreToolUse", response),
    }
    best = least(cases, ROUNDS)
    for name in ("PostToolUse", "PostToolUse, long", "PreCompact"):
        yield at_most(f"agent hook, recording: {name}", best[name], best["floor"], BAR)
    ours, floor = best["PreToolUse"], best["waited"]
    yield told("agent hook, before a tool", f"{ours * 1e3:.2f} ms", f"{floor * 1e3:.2f} ms", ours / floor)


def _starting(corpora: Sequence[Corpus]) -> Iterator[Result]:
    cases = {"floor": _waited(corpora[0])}
    for corpus in corpora:
        began = time.perf_counter()
        prepared_context.PreparedContext(Project.open(corpus.top)).keep()
        fresh = time.perf_counter() - began
        yield told(f"agent hook, a pack made anew, {corpus.runs // 1000}k memories", f"{fresh * 1e3:.0f} ms")
        cases[str(corpus.runs)] = _fired(corpus, "SessionStart", {"source": "startup"})
    best = least(cases, ROUNDS // 2)
    for number, bar in context.BARS.items():
        what = f"agent hook, session start, {number // 1000}k memories"
        yield at_most(what, best[str(number)], best["floor"], bar)


def _waited(corpus: Corpus) -> Callable[[], float]:
    """The wall time of a Python that does nothing."""
    run = process(FLOOR, corpus.top, os.environ)
    return lambda: wall(run)


def _fired(corpus: Corpus, event: str, fields: Mapping[str, object]) -> Callable[[], float]:
    """What one event costs, each of a session of its own: CPU time; where the agent is told something, wall
    time, for then it waits for a child that goes on after it.
    """
    count = iter(range(1 << 30))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST_")}

    def run() -> float:
        session = f"bench-{event}-{next(count)}"
        common = {"session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": corpus.top}
        given = os.path.join(os.path.dirname(corpus.top), "given.json")
        with open(given, "w", encoding="utf-8") as file:
            json.dump({**common, "hook_event_name": event, **fields}, file)
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        files = [(os.POSIX_SPAWN_OPEN, 0, given, os.O_RDONLY, 0)]
        files += [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
        pid = os.posix_spawn(PYTHON, [*HOOK, "claude", event], environ, file_actions=files)
        os.waitpid(pid, 0)
        after, waited = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
        _clear(corpus)
        if event in agent_events.TELLING:
            return waited
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    return run


@contextlib.contextmanager
def _nobody_drains(corpus: Corpus) -> Iterator[None]:
    """A start has transcripts read in the background; here that would only make noise."""
    os.makedirs(_inbox(corpus), exist_ok=True)
    fd = os.open(os.path.join(_inbox(corpus), "drain.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.lockf(fd, os.F_LOCK, 0)
        yield
    finally:
        os.close(fd)


def _inbox(corpus: Corpus) -> str:
    return os.path.join(corpus.top, ".git", "holdfast", "inbox")


def _clear(corpus: Corpus) -> None:
    """Nothing of the last event is left for the next."""
    for name in os.listdir(_inbox(corpus)):
        if name.startswith("claude-bench-"):
            os.unlink(os.path.join(_inbox(corpus), name))
