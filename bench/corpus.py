"""Projects to measure: real repositories with many recorded and published runs, always the same ones.

Bodies and segments are written as the store writes them, but without syncing each: what is measured is
reading them.
"""

import os
import random
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from holdfast.git.clone import Clone
from holdfast.git.project_setup import initialise
from holdfast.model.event import EventDraft, timestamp
from holdfast.store.format import body_bytes, body_name, make_event, make_segments

START = datetime(2026, 1, 1, tzinfo=UTC)
COMMON = (
    "postgres", "schema", "migrate", "index", "parser", "token", "server", "client", "retry", "cache",
    "deploy", "branch", "merge", "commit", "queue", "worker", "timeout", "latency", "config", "docs", "lint",
    "types", "login", "session", "cookie", "email", "invoice", "payment", "refund", "order",
)  # fmt: skip
SYLLABLES = (
    "ba", "ko", "ri", "mu", "ten", "sol", "var", "nip", "hex", "dra", "lun", "pre", "qui", "zor", "ful",
    "gam",
)  # fmt: skip


def git(folder: str, *args: str) -> str:
    done = subprocess.run(["git", "-C", folder, *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


class Words:
    """Text in which few words are frequent and many are rare, as in any language."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        rare = ["".join(self._random.choices(SYLLABLES, k=3)) for _ in range(4000)]
        self._words = [*COMMON, *(word.title() if n % 50 == 0 else word for n, word in enumerate(rare))]

    def some(self, count: int) -> str:
        last = len(self._words) - 1
        return " ".join(self._words[min(int(self._random.expovariate(1 / 300)), last)] for _ in range(count))


@dataclass(frozen=True, slots=True)
class Corpus:
    """A project with so many published runs."""

    top: str
    cache: str
    runs: int

    def clone(self) -> Clone:
        return Clone.open(self.top, cache=self.cache)


def empty_project(top: str, cache: str) -> Corpus:
    """A repository with a little code in it and nothing recorded."""
    os.makedirs(top)
    git(top, "init", "-q", "-b", "main")
    for name in ("a.py", "b.py", "README.md"):
        with open(os.path.join(top, name), "w", encoding="utf-8") as file:
            file.write("x = 1\n" * 20)
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "code")
    initialise(top, cache=cache, commit=True)
    return Corpus(top, cache, 0)


def make(top: str, cache: str, runs: int, *, seed: int = 1) -> Corpus:
    """A project with `runs` runs recorded on main and published."""
    clone = empty_project(top, cache).clone()
    words, line, parents, pairs = Words(seed), clone.line().id, (), []
    for number in range(runs):
        ts = timestamp(START + timedelta(seconds=90 * number))
        name = f"{ts[:19].replace('-', '').replace(':', '')}Z-{number:06d}"
        body = _keep_body(clone, _body(words, number))
        draft = EventDraft("run", target=name, run_id=name, layer="L5", exit_status=0)
        data = make_event(draft, ts=ts, line=line, writer="w", seq=number, head=draft.head, body=body, parents=parents)[
            1
        ]
        parents = (data[14:78].decode("ascii"),)
        pairs.append((ts, data))
    for segment in make_segments(line, pairs):
        path = os.path.join(top, segment.path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        for place in (path, clone.layout.sealed_segment(segment.name)):  # in the tree, and as this clone sealed it
            with open(place, "wb") as file:
                file.write(segment.data)
    git(top, "add", "-f", ".holdfast/log")
    git(top, "commit", "-q", "-m", "runs")
    return Corpus(top, cache, runs)


def _body(words: Words, number: int) -> bytes:
    return body_bytes(
        {
            "task": f"T-{number % 200}",
            "command": ["make", "test"],
            "prompt": words.some(12),
            "outputs": {"summary": words.some(20)},
            "next_actions": [words.some(5)],
            "tags": ["db"],
            "branch": "main",
        }
    )


def _keep_body(clone: Clone, data: bytes) -> str:
    stored = os.urandom(32) + data
    name = body_name(stored)
    with open(clone.layout.body(name), "wb") as file:
        file.write(stored)
    return name
