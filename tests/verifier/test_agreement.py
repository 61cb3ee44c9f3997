"""The independent verifier and the doctor say the same about the same log, sound or damaged."""

import contextlib
import io
import random
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType

import pytest

from holdfast.diagnostics.doctor import examine
from holdfast.git import publish
from holdfast.git.clone import Clone
from holdfast.model.event import EventDraft
from holdfast.store.capsule import Capsule
from tests.conftest import init_store

RUN = "20261115T120000Z-abc123"
VERIFIER = Path(__file__).parent / "verify.py"
EXIT = {"ok": 0, "partial": 3, "corrupt": 1}


class Store:
    """A clone with two published segments, an open spool, a capsule and an erased body."""

    def __init__(self, repo, cache: Path) -> None:
        self.repo, self.cache = repo, str(cache)
        self.now = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
        init_store(repo.path, commit=True)
        repo.git("switch", "-q", "-c", "feature")
        clone = self.open()
        for number in range(3):
            clone.record(EventDraft("task", target=f"TSK-{number}", body={"task": f"task {number}"}))
        publish.publish(clone, here=True)
        event = clone.record(EventDraft("task", target="TSK-3", layer="L5", systemic_scale=-4, body={"task": "x"}))
        clone.record(EventDraft("erase", target=event.hash_self))
        clone.bodies.drop(event.body)
        publish.publish(clone, here=True)
        capsule = Capsule.create(clone.layout, RUN, {"command": ["make", "test"]})
        capsule.add("outputs/stdout", b"12 passed\n")
        capsule.add("outputs/files/größe.txt", b"1\n")
        body = {"task": "demo", "output_sha256": capsule.seal()}
        event = clone.record(EventDraft("run", target=RUN, run_id=RUN, exit_status=0, body=body))
        capsule.close(clone.joined(event))
        for number in range(4, 7):
            clone.record(EventDraft("task", target=f"TSK-{number}", body={"task": f"task {number}"}))
        self.private = Path(clone.private.private)

    def tick(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now

    def open(self) -> Clone:
        return Clone.open(str(self.repo.path), cache=self.cache, clock=self.tick)

    def files(self) -> list[Path]:
        """Every file whose bytes count."""
        log = self.repo.path / ".holdfast" / "log"
        folders = [log, *(self.private / name for name in ("sealed/log", "spool", "bodies"))]
        return sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())


@cache
def program() -> CodeType:
    return compile(VERIFIER.read_text(), VERIFIER, "exec")


def verifier(top: Path, private: Path) -> tuple[str, set[str]]:
    """Its word, and the places it names; the whole program, run in this process for the time that a start takes."""
    kept, sys.argv = sys.argv, [str(VERIFIER), str(top), str(private)]
    try:
        with contextlib.redirect_stdout(io.StringIO()) as out, pytest.raises(SystemExit) as end:
            exec(program(), {"__name__": "__main__"})
    finally:
        sys.argv = kept
    return judged(out.getvalue(), end.value.code)


def judged(out: str, code: object) -> tuple[str, set[str]]:
    *findings, word = out.splitlines()
    assert code == EXIT[word]
    return word, {line.split()[1].rsplit("/", 1)[-1] for line in findings if not line.startswith("note")}


def doctor(store: Store) -> tuple[str, set[str]]:
    report = examine(store.open())
    found = [f for f in report.findings if f.severity != "note"]
    return report.verdict, {f"{f.file.rsplit('/', 1)[-1]}:{f.line or 1}" for f in found}


def both(store: Store) -> tuple[str, set[str]]:
    """What both say; they must not differ, neither in the word nor in the places."""
    ours, theirs = doctor(store), verifier(store.repo.path, store.private)
    assert ours == theirs
    return ours


@pytest.fixture
def store(repo, tmp_path):
    return Store(repo, tmp_path / "cache")


def damage(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


def test_they_agree_on_a_sound_log(store):
    """Whoever checks us from outside must come to our own answer."""
    assert both(store) == ("ok", set())


def test_it_says_the_same_as_a_program_of_its_own(store):
    """Nothing of ours may be loaded where it judges us."""
    for damaged in (False, True):
        if damaged:
            damage(store.files()[0], b"{}\n")
        started = [sys.executable, "-I", VERIFIER, store.repo.path, store.private]
        done = subprocess.run(started, capture_output=True, text=True, check=False)
        assert judged(done.stdout, done.returncode) == both(store)


def test_they_agree_on_random_damage(store, seed):
    """A page that leaves room for two readings is not a standard."""
    chance = random.Random(seed)
    words = []
    for path in [*store.files(), *chance.choices(store.files(), k=12)]:
        whole = path.read_bytes()
        mode = path.stat().st_mode
        at = chance.randrange(len(whole) - 3)
        damaged = chance.choice(
            [
                whole[:at] + bytes([whole[at] ^ (1 << chance.randrange(8))]) + whole[at + 1 :],
                whole[:at] + whole[at + 1 :],
                whole[:at] + b"7" + whole[at:],
                whole[:at],
                whole + whole[-60:],
            ]
        )
        damage(path, damaged)
        words.append(both(store)[0])
        damage(path, whole)
        path.chmod(mode)

    assert words.count("corrupt") > len(words) / 2
    assert both(store) == ("ok", set())


def test_they_agree_on_altered_runs(store):
    """What a fact rests on must be checkable from outside as well."""
    top = store.private / "runs" / RUN
    for path in sorted(path for path in top.rglob("*") if path.is_file() and path.name != "meta.json"):
        whole = path.read_bytes()
        damage(path, whole[:-1] + bytes([whole[-1] ^ 1]))
        found = [doctor(store), verifier(store.repo.path, store.private)]
        damage(path, whole)
        assert [word for word, _ in found] == ["corrupt", "corrupt"], path
    (top / "outputs" / "extra").write_bytes(b"")
    assert [doctor(store)[0], verifier(store.repo.path, store.private)[0]] == ["corrupt", "corrupt"]


def test_they_agree_on_missing_files(store):
    """Deleting is the simplest forgery."""
    words = {}
    for path in store.files():
        away = store.repo.path.parent / "away"
        shutil.copy2(path, away)
        path.unlink()
        words[path.parent.name] = both(store)[0]
        shutil.copy2(away, path)

    assert words["bodies"] == "corrupt"


def test_they_agree_on_torn_spools(store):
    """A crash must read the same for both: not as damage."""
    spool = next((store.private / "spool").rglob("*.jsonl"))
    lines = spool.read_bytes().splitlines(keepends=True)
    healed = lines[0] + lines[1][:200] + b"\n" + b"".join(lines[1:])
    whole = b"".join(lines)
    for data in (healed, b"\n" + whole, whole + b'{"hash', whole + lines[0][:-1]):
        spool.write_bytes(data)
        assert both(store) == ("ok", set())


def hashed(rest: bytes) -> bytes:
    """A line with a hash that fits it, whatever it says."""
    name = sha256(b"holdfast-event-1\n{" + rest).hexdigest().encode()
    return b'{"hash_self":"' + name + b'",' + rest + b"\n"


def test_they_agree_on_forged_but_consistent_lines(store):
    """Hashes prove bytes, not sense: both must check the form as well."""
    spool = next((store.private / "spool").rglob("*.jsonl"))
    whole = spool.read_bytes()
    line = whole.splitlines()[-1]
    rests = {
        "two keys": line[80:].replace(b'"v":1,', b'"v":1,"v":1,'),
        "a second hash": line[80:].replace(b'"v":1,', b'"v":1,"hash_self":"' + b"0" * 64 + b'",'),
        "a space": line[80:].replace(b'"v":1,', b'"v":1, '),
        "a float": line[80:].replace(b'"exit_status":null', b'"exit_status":1.5'),
        "a leading zero": line[80:].replace(b'"exit_status":null', b'"exit_status":01'),
        "a month of three digits": line[80:].replace(b"2026-11-", b"2026-011-"),
        "free text": line[80:].replace(b'"target":"TSK-6"', b'"target":"TSK 6"'),
        "an added field twice": line[80:].replace(b'"hash_prev"', b'"due":1,"due":2,"hash_prev"'),
        "a known field added": line[80:].replace(b'"hash_prev"', b'"kind":"erase","hash_prev"'),
        "an added field at another place": line[80:].replace(b'"v":1,', b'"v":1,"due":1,'),
        "an added field of free text": line[80:].replace(b'"hash_prev"', b'"note":"a b","hash_prev"'),
        "an added object": line[80:].replace(b'"hash_prev"', b'"due":{},"hash_prev"'),
        "too many added fields": line[80:].replace(
            b'"hash_prev"', b"".join(b'"x%d":1,' % n for n in range(17)) + b'"hash_prev"'
        ),
        "unsorted parents": line[80:].replace(b'"hash_prev":[', b'"hash_prev":["' + b"f" * 64 + b'",'),
    }
    for name, rest in rests.items():
        assert rest != line[80:], name
        spool.write_bytes(whole + hashed(rest))
        assert both(store)[0] == "corrupt", name
    spool.write_bytes(whole + hashed(line[80:].replace(b"TSK-6", b"TSK-7")))
    assert both(store)[0] == "ok"
    for more in (b'"due":null,', b'"sizes":[1,-2],"due":"2027-01-01T00:00:00Z","done":true,', b'"a":[],'):
        spool.write_bytes(whole + hashed(line[80:].replace(b'"hash_prev"', more + b'"hash_prev"')))
        assert both(store)[0] == "ok", more


def test_they_agree_on_a_newer_version(store):
    """An old reader must not call a new log damaged."""
    spool = next((store.private / "spool").rglob("*.jsonl"))
    last = spool.read_bytes().splitlines(keepends=True)[-1]
    spool.write_bytes(spool.read_bytes() + last.replace(b'"v":1,', b'"v":2,'))

    assert both(store)[0] == "partial"


def test_they_agree_on_strangers_in_the_log(store):
    """What is no segment must not hide among segments."""
    store.repo.write(".holdfast/log/2026/notes.txt", "hello\n")
    store.repo.git("add", "-f", ".holdfast/log")
    store.repo.git("commit", "-q", "-m", "a stranger")

    assert both(store) == ("corrupt", {"notes.txt:1"})
