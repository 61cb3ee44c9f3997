"""Laws 1 and 3: sixteen writers in several worktrees, killed at random instants, lose and mix nothing.

The writers are forked from one warmed process, so that many kills fit into a short test; it is not pytest's own,
which takes longer to fork than an event to write. Each reports an event over a pipe once it was acknowledged;
one more process seals what they write, and is killed too.
"""

import os
import random
import select
import signal
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from holdfast.diagnostics import doctor
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.store import fsio, seal
from tests.conftest import GitRepo, init_store

from .small_process import in_small_process

WRITERS = 16
WORKTREES = 4
HASH = 32  # bytes of a reported event


@dataclass(slots=True)
class Child:
    """A running process and when it is to die: some time after so many reports, however slow the machine."""

    pid: int
    until: float
    reports: int
    after: float
    struck: bool = False
    heard: bytes = b""


@dataclass(slots=True)
class Battle:
    """Processes that write, seal and die until enough have been killed."""

    clones: list[Clone]
    choose: random.Random
    acknowledged: set[str] = field(default_factory=set)
    kills: int = 0
    started: int = 0
    _children: dict[int, Child] = field(default_factory=dict)  # by the pipe they report on

    def fight(self, kills: int) -> None:
        while self.kills < kills:
            while len(self._children) <= WRITERS and self.started < kills:
                self._start()
            self._listen()
            for child in self._children.values():
                if child.until <= time.monotonic() and not child.struck:
                    os.kill(child.pid, signal.SIGKILL)
                    child.struck = True

    def _start(self) -> None:
        number = self.started
        clone = self.clones[number % len(self.clones)]
        act = seal_until_killed if number % (WRITERS + 1) == WRITERS else write_until_killed
        self.started += 1
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.nice(15)  # sixteen busy writers must not keep the killer waiting for its turn
                act(clone, number, writing)
            except BaseException:  # noqa: BLE001 - whatever it is, the test must hear of it
                traceback.print_exc()
            finally:
                os._exit(98)
        os.close(writing)
        after, reports = self.choose.random() * self.choose.choice((0.001, 0.03)), self.choose.randrange(8)
        # A writer is struck after its reports; on a busy machine these may take their time.
        life = (10.0 if reports else after) if act is write_until_killed else self.choose.random()
        self._children[reading] = Child(pid, time.monotonic() + life, reports, after)

    def _listen(self) -> None:
        """Read reports as they come: a writer that waits for us would not be writing."""
        waiting = [child.until for child in self._children.values() if not child.struck]
        pause = max(0.0, min(waiting) - time.monotonic()) if waiting else None
        ready, _, _ = select.select(list(self._children), [], [], pause)
        for reports in ready:
            child, heard = self._children[reports], os.read(reports, 65536)
            child.heard += heard
            if not heard:
                self._bury(reports)
            elif len(child.heard) >= child.reports * HASH:
                child.until = min(child.until, time.monotonic() + child.after)

    def _bury(self, reports: int) -> None:
        child = self._children.pop(reports)
        os.close(reports)
        _, status = os.waitpid(child.pid, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "a process ended by itself"
        self.kills += 1
        for start in range(0, len(child.heard) - HASH + 1, HASH):
            self.acknowledged.add(child.heard[start : start + HASH].hex())


def write_until_killed(clone: Clone, number: int, reports: int) -> None:
    """Record events, some with bodies, and report each once `record` has returned."""
    for turn in range(1_000_000):
        body = {"task": f"writer {number}", "outputs": {"summary": "x" * (turn % 5000)}} if turn % 3 else None
        event = clone.record(EventDraft("run", run_id=f"run-{number}-{turn}", exit_status=0, body=body))
        os.write(reports, bytes.fromhex(event.hash_self))


def seal_until_killed(clone: Clone, number: int, reports: int) -> None:
    """Turn spools into segments under the writers' hands."""
    while True:
        with fsio.locked(clone.layout.lock, wait=60.0):
            seal.seal(clone.layout, clone.line().id, head=None, ts=clone.now())
        time.sleep(0.005)


def worktrees(repo, tmp_path: Path) -> list[Clone]:
    """One repository with several worktrees on branches of their own, opened and warmed."""
    init_store(repo.path, commit=True)
    places = [repo.path]
    for number in range(1, WORKTREES):
        places.append(tmp_path / f"tree-{number}")
        repo.git("worktree", "add", "-q", "-b", f"branch-{number}", str(places[-1]))
    clones = [Clone.open(str(place), cache=str(tmp_path / "cache")) for place in places]
    for clone in clones:
        clone.line()
    return clones


def fight(repo, tmp_path: Path, seed: int, *, kills: int) -> None:
    clones = worktrees(repo, tmp_path)
    battle = Battle(clones, random.Random(seed))
    battle.fight(kills)
    print(f"{battle.kills} kills, {len(battle.acknowledged)} acknowledged events")
    assert len(battle.acknowledged) > kills // 2, "the writers hardly wrote"
    check(clones[0], clones[1:], battle.acknowledged, tmp_path)


def check(first: Clone, others: list[Clone], acknowledged: set[str], tmp_path: Path) -> None:
    """Every acknowledged event is there with its body, on its own line, and the log verifies."""
    clone = Clone.open(first.repo.top, cache=str(tmp_path / "cache"))
    events = {event.hash_self: event for event in clone.own_events()}
    assert acknowledged <= events.keys(), f"{len(acknowledged - events.keys())} acknowledged events are gone"
    for name in acknowledged:
        body = events[name].body
        assert body is None or clone.bodies.get(body), "an acknowledged body is gone"
    report = doctor.examine(clone)
    assert report.verdict == "ok", [str(finding) for finding in report.findings][:5]
    for other in (first, *others):
        seen = {event.line for event in other.events()}
        assert seen <= {other.line().id} | other.line().limits().keys(), "events of another line are visible"


def test_sixty_kills_lose_no_acknowledged_event(repo: GitRepo, tmp_path: Path, seed: int) -> None:
    """An agent that is stopped must not take another agent's records with it."""
    in_small_process(fight, repo, tmp_path, seed, kills=60)


@pytest.mark.torture
def test_two_thousand_kills_lose_no_acknowledged_event(repo: GitRepo, tmp_path: Path, seed: int) -> None:
    """The same, longer."""
    in_small_process(fight, repo, tmp_path, seed, kills=2_000)
