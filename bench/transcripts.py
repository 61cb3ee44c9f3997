"""Importing transcripts: how fast, beside parsing the same bytes, and in how much memory."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from bench.measure import Result, at_least, told
from holdfast.capture.agents import dialect
from holdfast.capture.ingest.intake import TranscriptIntake
from holdfast.git import project_setup
from holdfast.git.clone import Clone

ROUNDS = 3
BAR, FLAT = 0.25, 1.25
SPEED, SMALL, LARGE = 16 << 20, 10 << 20, 100 << 20
SESSION = 4 << 20  # bytes of one rollout; files of 1-4 MB are common
COMMANDS = ("rg -n", "sed -n 1,200p", "cat", "git diff", "ls -la", "git log -p", "make docs", "pytest -q")
TALK = (
    "the parser reads a line from the stream and gives it to whoever asked because nothing else may hold the "
    "whole file in memory while tests run against the store with a fixture of its own so we look at what git "
    "says about this branch and decide which of the two functions returns a value that callers can trust"
)
WORDS = TALK.split()


def importing(folder: str, cache: str) -> Iterator[Result]:
    """Speed as a share of `json.loads`, and what memory does when there is ten times as much."""
    top = os.path.join(folder, "imported")
    subprocess.run(["git", "init", "-q", top], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "first"], cwd=top, check=True)
    project_setup.initialise(top, cache=cache, commit=True)
    yield from _speed(folder, top, cache)
    small, large = (_peak(folder, top, cache, size) for size in (SMALL, LARGE))
    yield _flat("import: memory at 100 MB of rollouts, beside 10 MB", large, small)
    one = _peak(folder, top, cache, LARGE, session=LARGE)
    yield _flat("import: memory for one rollout of 100 MB, beside 10 MB", one, small)


def _flat(what: str, ours: int, floor: int) -> Result:
    ratio = ours / floor
    return Result(what, f"{ours >> 10} MiB", f"{floor >> 10} MiB", ratio, f"<= {FLAT:g} x", ratio <= FLAT)


def _speed(folder: str, top: str, cache: str) -> Iterator[Result]:
    best: dict[str, float] = {}
    size = 0
    for number in range(ROUNDS):
        files = rollouts(os.path.join(folder, f"speed-{number}"), top, SPEED, seed=number)
        size = sum(map(os.path.getsize, files))
        cases: dict[str, Callable[[], object]] = {
            "json": _parse(files, json.loads),
            "import": partial(_take, top, cache, files),
        }
        if find_spec("orjson"):
            cases["orjson"] = _parse(files, import_module("orjson").loads)
        for name, case in cases.items():
            begun = time.process_time()
            case()
            best[name] = min(best.get(name, 1e9), time.process_time() - begun)
    rates = {name: size / spent / 1e6 for name, spent in best.items()}
    yield at_least("import of rollouts, beside json.loads", rates["import"], rates["json"], BAR, "MB/s")
    if "orjson" in rates:
        share = rates["import"] / rates["orjson"]
        ours, floor = (f"{rates[name]:,.0f} MB/s" for name in ("import", "orjson"))
        yield told("import of rollouts, beside orjson", ours, floor, share)


def _parse(files: list[str], loads: Callable[[bytes], object]) -> Callable[[], None]:
    def run() -> None:
        for path in files:
            with open(path, "rb") as file:
                for line in file:
                    loads(line)

    return run


def _take(top: str, cache: str, files: list[str]) -> None:
    ingest = TranscriptIntake(Clone.open(top, cache=cache))
    for path in files:
        taken = ingest.take_in(dialect("codex"), path, ended=True)
        assert taken is not None and taken.runs
    ingest.close()


CHILD = """
import resource, sys
sys.path.insert(0, sys.argv[1])
from bench.transcripts import _take
_take(sys.argv[2], sys.argv[3], sys.argv[4:])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def _peak(folder: str, top: str, cache: str, size: int, *, session: int = SESSION) -> int:
    """Kibibytes that an import of so much takes at most, in a process of its own."""
    place = os.path.join(folder, f"peak-{size}-{session}")
    files = rollouts(place, top, size, session=session, seed=size + session)
    home = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run([sys.executable, "-c", CHILD, home, top, cache, *files], capture_output=True, check=True)
    for path in files:
        os.unlink(path)
    return int(done.stdout)


def rollouts(folder: str, cwd: str, size: int, *, session: int = SESSION, seed: int = 0) -> list[str]:
    """Rollouts of Codex with so many bytes in all, as sessions look: prompts, reasoning, calls, outputs."""
    os.makedirs(folder)
    chance, files = random.Random(seed), []
    while size > 0:
        name = f"{chance.getrandbits(128):032x}"
        name = "-".join((name[:8], name[8:12], name[12:16], name[16:20], name[20:]))
        path = os.path.join(folder, f"rollout-2026-02-01T10-00-00-{name}.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            wanted = min(session, size)
            for row in _Talk(name, cwd, chance).rows():
                file.write(json.dumps(row) + "\n")
                if file.tell() >= wanted:
                    break
        size -= os.path.getsize(path)
        files.append(path)
    return files


Row = dict[str, Any]


class _Talk:
    """A session as it goes on: rows of a rollout, without end."""

    def __init__(self, session: str, cwd: str, chance: random.Random) -> None:
        self.session, self.cwd, self.chance = session, cwd, chance
        self.second = self.calls = 0

    def row(self, kind: str, **payload: Any) -> Row:
        day, hour = 1 + self.second // 86400 % 28, self.second // 3600 % 24
        clock = f"{hour:02d}:{self.second // 60 % 60:02d}:{self.second % 60:02d}.000Z"
        return {"timestamp": f"2026-02-{day:02d}T{clock}", "type": kind, "payload": payload}

    def item(self, kind: str, **payload: Any) -> Row:
        return self.row("response_item", type=kind, **payload)

    def words(self, least: int, most: int) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(least, most)))

    def rows(self) -> Iterator[Row]:
        about = {"originator": "codex_cli_rs", "cli_version": "0.104.0", "source": "cli"}
        began = "2026-02-01T10:00:00.000Z"
        yield self.row("session_meta", id=self.session, timestamp=began, cwd=self.cwd, **about)
        while True:
            yield from self.turn()

    def turn(self) -> Iterator[Row]:
        self.second += 30
        asked, answer = self.words(8, 60), self.words(20, 200)
        yield self.row("turn_context", cwd=self.cwd, model="gpt-x", summary="auto")
        yield self.item("message", role="user", content=[{"type": "input_text", "text": asked}])
        yield self.row("event_msg", type="user_message", message=asked)
        for _ in range(self.chance.randint(3, 20)):
            yield from self.step()
        yield self.row("event_msg", type="agent_message", message=answer)
        yield self.item("message", role="assistant", content=[{"type": "output_text", "text": answer}])
        yield self.row("event_msg", type="task_complete", last_agent_message=answer)

    def step(self) -> Iterator[Row]:
        self.second += 3
        self.calls += 1
        thought = [{"type": "summary_text", "text": self.words(10, 60)}]
        opaque = f"{self.chance.getrandbits(4096):x}"
        yield self.item("reasoning", summary=thought, encrypted_content=opaque)
        call = f"call_{self.session[:8]}{self.calls}"
        yield from self.patch(call) if self.chance.random() < 0.2 else self.command(call)
        usage = {"total_token_usage": {"input_tokens": self.calls, "output_tokens": 2}}
        yield self.row("event_msg", type="token_count", info=usage, rate_limits=None)

    def patch(self, call: str) -> Iterator[Row]:
        lines = "".join(f"+    {self.words(2, 10)}\n" for _ in range(self.chance.randint(5, 60)))
        name = f"src/m{self.chance.randint(1, 99)}.py"
        patch = f"*** Begin Patch\n*** Add File: {name}\n{lines}*** End Patch\n"
        yield self.item("custom_tool_call", name="apply_patch", input=patch, call_id=call)
        out = json.dumps({"output": "Success. Updated the following files:\n", "metadata": {"exit_code": 0}})
        yield self.item("custom_tool_call_output", call_id=call, output=out)

    def command(self, call: str) -> Iterator[Row]:
        what = self.chance.choice(COMMANDS)
        arguments = json.dumps({"cmd": f"{what} {self.chance.choice(WORDS)}"})
        yield self.item("function_call", name="exec_command", arguments=arguments, call_id=call)
        output = "\n".join(self.words(4, 14) for _ in range(self.chance.randint(5, 200)))
        last = f"{self.chance.randint(1, 99)} passed in 1.2s\n" if "test" in what else ""
        head = f"Process exited with code {self.chance.choice((0, 0, 0, 1))}\nOutput:\n"
        told = f"Chunk ID: aa\nWall time: 0.1 seconds\n{head}{output}\n{last}"
        yield self.item("function_call_output", call_id=call, output=told)
