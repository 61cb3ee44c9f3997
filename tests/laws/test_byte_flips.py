"""Law 4: any changed byte in a segment, body or capsule is found and located.

A sample store is built by the real code in a real repository; then every byte of every file is
changed, one at a time. Dropped history is found against a kept checkpoint.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.diagnostics import doctor
from holdfast.diagnostics.doctor import examine, read_everything, take_checkpoint
from holdfast.diagnostics.log_integrity import Ledger
from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.store.capsule import Capsule
from tests.conftest import init_store

RUN = "20261115T120000Z-abc123"


class Store:
    """A clone with published and waiting events, bodies, and a sealed run."""

    def __init__(self, repo, cache: Path) -> None:
        self.repo, self.now = repo, datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
        init_store(repo.path, commit=True)
        repo.git("switch", "-q", "-c", "feature")
        self.clone = Clone.open(str(repo.path), cache=str(cache), clock=self._tick)
        self.private = Path(self.clone.private.private)
        self.tasks(0, 5)
        self._run()
        publish.publish(self.clone, here=True)
        self.tasks(5, 8)

    def _tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def tasks(self, start: int, end: int) -> None:
        for number in range(start, end):
            draft = EventDraft("task", target=f"TSK-{number}", layer="L5", body={"task": f"Aufgabe „{number}“"})
            self.clone.record(draft)

    def _run(self) -> None:
        capsule = Capsule.create(self.clone.layout, RUN, {"command": ["make", "test"], "prompt": "test it"})
        capsule.add("outputs/stdout", b"12 passed\n\xff\x00 and some bytes\n")
        capsule.add("outputs/files/src/deep/er.txt", b"a produced file\n" * 4)
        capsule.add("inputs/stdin", b"")
        capsule.add("summary.md", "Grün: 12 Prüfungen.\n".encode())
        body = {"task": "demo", "output_sha256": capsule.seal(), "outputs": {"summary": "12 passed"}}
        event = self.clone.record(EventDraft("run", target=RUN, run_id=RUN, exit_status=0, body=body))
        capsule.close(self.clone.joined(event))

    @property
    def capsule(self) -> Path:
        return self.private / "runs" / RUN

    def segments(self) -> list[Path]:
        return sorted((self.repo.path / ".holdfast" / "log").rglob("*.jsonl"))


@pytest.fixture
def store(repo, tmp_path):
    return Store(repo, tmp_path / "cache")


def flips(data: bytes, seed: int, *, every_bit: bool = False) -> Iterator[tuple[int, bytes]]:
    """The data with one byte changed, at each place; in one way, or in each of eight."""
    chance = random.Random(seed)
    for at, byte in enumerate(data):
        patterns = [1 << bit for bit in range(8)] if every_bit else [chance.randrange(1, 256)]
        for pattern in patterns:
            yield at, data[:at] + bytes([byte ^ pattern]) + data[at + 1 :]


def rewrite(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


def check_segments(store: Store, seed: int, *, every_bit: bool = False) -> int:
    count = 0
    for path in store.segments():
        whole, shown = path.read_bytes(), path.relative_to(store.repo.path).as_posix()
        for at, data in flips(whole, seed, every_bit=every_bit):
            ledger = Ledger()
            ledger.segment(shown, path.stem, data)
            lines = {finding.line for finding in ledger.findings if finding.severity == "problem"}
            assert whole.count(b"\n", 0, at) + 1 in lines, f"byte {at} of {shown}: {lines}"
            count += 1
    return count


def check_files(store: Store, event, paths: list[Path], seed: int, *, every_bit: bool = False) -> int:
    """Change files one byte at a time; the event that vouches for them must say which."""
    count = 0
    for path in paths:
        whole, shown = path.read_bytes(), path.relative_to(store.repo.path).as_posix()
        for at, data in flips(whole, seed, every_bit=every_bit):
            rewrite(path, data)
            found = [f.file for f in doctor.examine_body(store.clone, event)]
            assert found == [shown], f"byte {at} of {shown}"
            count += 1
        rewrite(path, whole)
        assert list(doctor.examine_body(store.clone, event)) == []
    return count


def own_events(store: Store):
    ledger, _ = read_everything(store.clone)
    return ledger.own.values()


def run_event(store: Store):
    return next(event for event in own_events(store) if event.kind == b"run")


def capsule_files(store: Store) -> list[Path]:
    return sorted(path for path in store.capsule.rglob("*") if path.is_file())


def test_nothing_is_reported_of_an_untouched_store(store):
    """One false alarm, and the next true one is ignored."""
    report = examine(store.clone)

    assert [f.sentence for f in report.findings] == []
    assert report.counts["events"] == 9


def test_every_changed_byte_of_a_segment_is_found_in_its_line(store, seed):
    """Somebody could rewrite who approved what."""
    assert check_segments(store, seed) > 3000


def test_every_changed_byte_of_a_body_is_found(store, seed):
    """What an agent said and did is evidence; it must not change unseen."""
    count = 0
    for event in own_events(store):
        path = store.private / "bodies" / event.body.decode()
        count += check_files(store, event, [path], seed)
    assert count > 500


def test_every_changed_byte_of_a_capsule_is_found_in_its_file(store, seed):
    """A run's record is what a fact rests on."""
    files = capsule_files(store)
    assert {path.name for path in files} >= {"context.json", "stdout", "MANIFEST", "meta.json", "er.txt"}

    assert check_files(store, run_event(store), files, seed) > 1000


def test_files_added_to_or_taken_from_a_capsule_are_found(store):
    """Evidence can be forged by adding as well as by changing."""
    event = run_event(store)
    for path in capsule_files(store):
        whole = path.read_bytes()
        path.unlink()
        assert list(doctor.examine_body(store.clone, event)) != [], path
        path.write_bytes(whole)
    assert list(doctor.examine_body(store.clone, event)) == []
    (store.capsule / "outputs" / "extra").write_bytes(b"")
    assert [f.file.rsplit("/", 1)[-1] for f in doctor.examine_body(store.clone, event)] == ["extra"]


def test_the_whole_examination_finds_what_the_parts_find(store, seed):
    """The functions above are only worth something if `doctor` calls them."""
    chance = random.Random(seed)
    sealed = list((store.private / "sealed" / "log").iterdir())
    body = list((store.private / "bodies").iterdir())
    for path in [*store.segments(), *sealed, chance.choice(body), *capsule_files(store)]:
        whole = path.read_bytes()
        if whole:
            at, data = chance.choice(list(flips(whole, seed)))
            rewrite(path, data)
            files = [finding.file for finding in examine(store.clone).problems]
            assert path.relative_to(store.repo.path).as_posix() in files, f"byte {at} of {path}"
            rewrite(path, whole)


def test_every_truncation_of_the_log_is_found_against_a_checkpoint(store):
    """The newest events are the easiest to make disappear."""
    kept = take_checkpoint(store.clone)
    spool = next((store.private / "spool").rglob("*.jsonl"))
    whole = spool.read_bytes()
    lines = whole.splitlines(keepends=True)
    for count in range(len(lines)):
        spool.write_bytes(b"".join(lines[:count]))
        assert examine(store.clone, against=kept).verdict == "corrupt", f"{count} of {len(lines)} events left"
    spool.write_bytes(whole)
    assert examine(store.clone, against=kept).verdict == "ok"


def test_a_dropped_segment_is_found_against_a_checkpoint(store):
    """A force push can take a whole month of history with it."""
    kept = take_checkpoint(store.clone)
    segment = store.segments()[0]
    store.repo.git("rm", "-q", str(segment))
    store.repo.git("commit", "-q", "--amend", "--allow-empty", "-m", "nothing happened")
    (store.private / "sealed" / "log" / segment.name).unlink()
    assert examine(store.clone).verdict == "partial"

    report = examine(store.clone, against=kept)

    assert report.verdict == "corrupt"
    assert any("events behind the checkpoint are gone" in f.sentence for f in report.problems)


@pytest.mark.torture
def test_every_bit_of_every_byte(store, seed):
    """The whole of it: eight ways for every byte."""
    count = check_segments(store, seed, every_bit=True)
    for event in own_events(store):
        path = store.private / "bodies" / event.body.decode()
        count += check_files(store, event, [path], seed, every_bit=True)
    count += check_files(store, run_event(store), capsule_files(store), seed, every_bit=True)
    assert count > 30000
