"""Repairs: a dry run first, a copy of whatever changes, and nothing invented."""

import json
import os

from holdfast.diagnostics.doctor import examine
from holdfast.diagnostics.repair import repair
from holdfast.model.event import EventDraft
from holdfast.store.capsule import Capsule

RUN = "20261115T120000Z-abc123"


def quarantined(sample) -> list[bytes]:
    folder = sample.private / "quarantine"
    return [path.read_bytes() for path in sorted(folder.iterdir())] if folder.exists() else []


def mend(sample, *, apply: bool):
    return repair(sample.clone, examine(sample.clone), apply=apply)


def add_run(sample) -> None:
    capsule = Capsule.create(sample.clone.layout, RUN, {"command": ["true"]})
    body = {"task": "demo", "output_sha256": capsule.seal()}
    event = sample.clone.record(EventDraft("run", target=RUN, run_id=RUN, exit_status=0, body=body))
    capsule.close(sample.clone.joined(event))


def test_a_dry_run_says_what_it_would_do_and_does_nothing(sample):
    """People must be able to look before anything in their store moves."""
    sample.tasks(2)
    spool = sample.spools()[0]
    torn = spool.read_bytes() + b'{"hash_self":"12'
    spool.write_bytes(torn)

    plan = mend(sample, apply=False)

    assert [(step.done, step.failed) for step in plan] == [(False, None)]
    assert "would move the torn bytes" in str(plan[0])
    assert spool.read_bytes() == torn
    assert quarantined(sample) == []


def test_torn_bytes_are_set_aside_and_events_stay(sample):
    """A repair that lost an acknowledged event would be worse than the tear."""
    sample.tasks(3)
    spool = sample.spools()[0]
    whole = spool.read_bytes()
    lines = whole.splitlines(keepends=True)
    torn = lines[0] + lines[1][:70] + b"\n" + b"".join(lines[1:]) + lines[0][:33]
    spool.write_bytes(torn)

    assert [step.done for step in mend(sample, apply=True)] == [True]
    assert spool.with_suffix(".0.closed").read_bytes() == whole
    assert not spool.exists()
    assert quarantined(sample) == [torn]
    assert examine(sample.clone).findings == ()
    sample.tasks(1, start=3)
    sample.publish()
    assert examine(sample.clone).findings == ()
    assert examine(sample.clone).counts["events"] == 4


def test_an_altered_event_is_never_repaired_away(sample):
    """Its bytes are all that is left of it."""
    sample.tasks(3)
    spool = sample.spools()[0]
    damaged = spool.read_bytes().replace(b"TSK-1", b"TSK-7") + b"{"
    spool.write_bytes(damaged)

    mend(sample, apply=True)

    assert spool.with_suffix(".0.closed").read_bytes() == damaged[:-1]
    assert examine(sample.clone).verdict == "corrupt"


def test_a_runs_meta_file_is_written_again_from_its_event(sample):
    """It only repeats the log, so the log can give it back."""
    add_run(sample)
    meta = sample.private / "runs" / RUN / "meta.json"
    whole = meta.read_bytes()
    meta.chmod(0o600)
    meta.write_bytes(b"{}")
    meta.chmod(0o400)

    assert [step.done for step in mend(sample, apply=True)] == [True]
    assert json.loads(meta.read_bytes()) == json.loads(whole)
    assert quarantined(sample) == [b"{}"]
    assert examine(sample.clone).findings == ()


def test_other_files_of_a_capsule_are_left_as_they_are(sample):
    """Nothing could say what they were."""
    add_run(sample)
    context = sample.private / "runs" / RUN / "context.json"
    context.chmod(0o600)
    context.write_bytes(b"{}")
    context.chmod(0o400)

    assert mend(sample, apply=True) == []
    assert examine(sample.clone).verdict == "corrupt"


def test_permissions_are_closed(sample):
    """A store copied with `cp -r` is open to every user of the machine."""
    sample.tasks(1)
    body = next((sample.private / "bodies").iterdir())
    body.chmod(0o664)
    (sample.private / "bodies").chmod(0o755)

    assert all(step.done for step in mend(sample, apply=True))
    assert body.stat().st_mode & 0o777 == 0o600
    assert (sample.private / "bodies").stat().st_mode & 0o777 == 0o700
    assert examine(sample.clone).findings == ()


def test_leftovers_are_moved_and_not_deleted(sample):
    """What looks like a leftover may be the only copy of something."""
    from datetime import timedelta

    sample.tasks(1)
    temporary = sample.private / "pending" / "a.json.1-2.tmp"
    temporary.write_bytes(b"half")
    temporary.chmod(0o600)
    os.utime(temporary, (0, 0))
    sample.clone.clock.now += timedelta(hours=2)

    assert all(step.done for step in mend(sample, apply=True))
    assert not temporary.exists()
    assert quarantined(sample) == [b"half"]


def test_a_repair_that_cannot_be_done_says_why(sample):
    """One stubborn file must not keep the others from being mended."""
    sample.tasks(1)
    spool = sample.spools()[0]
    spool.write_bytes(spool.read_bytes() + b"{")
    report = examine(sample.clone)
    spool.rename(spool.with_suffix(".0.closed"))

    found = repair(sample.clone, report, apply=True)

    assert [step.done for step in found] == [False]
    assert "could not" in str(found[0])


def test_an_ignored_file_that_is_staged_is_a_problem_and_can_be_unstaged(sample):
    """A publish of an earlier version, cut short, staged .env; the next commit would publish its secrets."""
    sample.repo.write(".gitignore", ".env\n")
    sample.repo.write(".env", "a secret\n")
    sample.repo.git("add", ".gitignore")
    sample.repo.git("add", "-f", ".env")

    (found,) = examine(sample.clone).problems
    assert (found.file, found.repair) == (".env", "unstage")
    assert "the next commit would contain it" in found.sentence
    assert [step.done for step in mend(sample, apply=True)] == [True]

    staged = sample.repo.git("diff", "--cached", "--name-only").split()
    assert ".gitignore" in staged and ".env" not in staged
    assert (sample.repo.path / ".env").read_text() == "a secret\n"
    assert examine(sample.clone).problems == []
