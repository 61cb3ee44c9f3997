"""The store as the fault tests use it: a run of appends and seals, and what must hold afterwards."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from holdfast.diagnostics.findings import HealthFinding
from holdfast.diagnostics.log_integrity import Ledger as Verifier
from holdfast.errors import NotStored, ReadOnlyStore
from holdfast.model import event
from holdfast.model.event import Event, EventDraft
from holdfast.store import fsio, seal
from holdfast.store.format import body_bytes, parse_event, segment_lines
from holdfast.store.layout import Layout
from holdfast.store.log import Bodies, SpoolWriter, read_spool
from holdfast.store.private_store import make_store

LINE = "abcdefghjkmn"


def layout_at(root: str) -> Layout:
    return Layout(os.path.join(root, "top"), os.path.join(root, "private"))


def now() -> datetime:
    return datetime.now(UTC)


def sealed(layout: Layout) -> list[str]:
    try:
        return [name[:-6] for name in sorted(os.listdir(layout.sealed_log)) if name.endswith(".jsonl")]
    except FileNotFoundError:
        return []


def survivors(layout: Layout) -> dict[str, Event]:
    """Every whole event the store holds, by hash; a sealed segment must be whole."""
    found = {}
    for line in seal.spool_lines(layout):
        for path in seal.spools(layout, line):
            found.update({event.hash_self: event for event in read_spool(path).events})
    for name in sealed(layout):
        _, lines = segment_lines(name, seal.sealed_bytes(layout, name))
        found.update({event.hash_self: event for event in map(parse_event, lines)})
    return found


def problems(layout: Layout) -> list[HealthFinding]:
    """What verifying every spool and every sealed segment finds; a torn tail is no problem."""
    found = Verifier()
    for line in seal.spool_lines(layout):
        for path in seal.spools(layout, line):
            found.spool(path, path, fsio.read(path, limit=1 << 30))
    for name in sealed(layout):
        found.segment(name, name, seal.sealed_bytes(layout, name))
    found.finish()
    return [finding for finding in found.findings if finding.severity == "problem"]


@dataclass(slots=True)
class Ledger:
    """A store in use, and what it promised and refused."""

    layout: Layout
    promise: Callable[[str], object] = len  # told each acknowledged event; by default nobody listens
    promised: list[str] = field(default_factory=list)
    refused: int = 0
    _writers: dict[int, SpoolWriter] = field(default_factory=dict)

    def writer(self, number: int) -> SpoolWriter:
        if number not in self._writers:
            heads = lambda: event.heads(survivors(self.layout).values())  # noqa: E731 - asked anew each time
            self._writers[number] = SpoolWriter(self.layout, LINE, heads=heads, clock=now)
        return self._writers[number]

    def append(self, number: int, body: str | None = None) -> None:
        """One event, with or without a body: promised only once `append` has returned."""
        make_store(self.layout)  # as every command does first
        name = Bodies(self.layout).put(body_bytes({"task": body})) if body else None
        event = self.writer(number).append(EventDraft("run", run_id="run-1", exit_status=0), name)
        self.promised.append(event.hash_self)
        self.promise(event.hash_self)

    def let_age(self) -> None:
        """Make every spool look idle, so that the next new writer takes one over."""
        for path in seal.spools(self.layout, LINE):
            os.utime(path, (1_000_000_000, 1_000_000_000))

    def seal(self) -> None:
        make_store(self.layout)
        with fsio.locked(self.layout.lock):
            seal.seal(self.layout, LINE, head=None, ts="2026-01-01T00:00:00.000000Z")

    def attempt(self, step: Callable[[], object]) -> bool:
        """Whether a step was carried out; the only other way out is a refusal in words."""
        try:
            step()
        except (NotStored, ReadOnlyStore) as refusal:
            assert "not stored" in str(refusal) or "written" in str(refusal)
            self.refused += 1
            return False
        return True

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()


def steps(ledger: Ledger) -> list[Callable[[], object]]:
    """All that appending and sealing does: a new store, bodies, a spool taken over, one sealed away."""
    return [
        lambda: make_store(ledger.layout),
        lambda: ledger.append(1),
        lambda: ledger.append(1, "with a body"),
        lambda: ledger.append(1),
        ledger.let_age,
        lambda: ledger.append(2, "a spool taken over"),
        lambda: ledger.append(1),  # finds that its spool has grown without it
        ledger.seal,
        lambda: ledger.append(1, "after sealing"),
        lambda: ledger.append(2),
        ledger.seal,
    ]


def run(ledger: Ledger) -> None:
    """Every step, going on after a refusal as a user would."""
    for step in steps(ledger):
        ledger.attempt(step)
    ledger.close()


def check_kept(layout: Layout, promised: set[str]) -> dict[str, Event]:
    """All that was promised is there and whole, bodies included."""
    found = survivors(layout)
    assert promised <= found.keys(), f"{len(promised - found.keys())} acknowledged events are gone"
    bodies = Bodies(layout)
    for name in promised:
        body = found[name].body
        assert body is None or bodies.get(body), "the body of an acknowledged event is gone"
    assert problems(layout) == []
    return found


def check_usable(layout: Layout, promised: set[str]) -> None:
    """The store takes new events, seals them, and still holds the old ones."""
    make_store(layout)
    ledger = Ledger(layout)
    ledger.append(9, "afterwards")
    ledger.let_age()
    ledger.append(8)
    ledger.seal()
    ledger.append(9)
    ledger.close()
    check_kept(layout, promised | set(ledger.promised))
