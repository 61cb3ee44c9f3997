"""What the doctor finds, on real stores: damage with its place, and nothing where nothing is wrong."""

import os
import shutil
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from holdfast.config import DEFAULTS
from holdfast.diagnostics import doctor
from holdfast.diagnostics import log_integrity as checkpoints
from holdfast.diagnostics.doctor import examine, take_checkpoint
from holdfast.model.event import EventDraft
from holdfast.project import Project


def flip(path, at: int) -> None:
    """Change one byte of a file, whatever its mode."""
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    rewrite(path, bytes(data))


def rewrite(path, data: bytes) -> None:
    mode = path.stat().st_mode
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(mode)


def told(report) -> str:
    return "\n".join(f"{f.severity} {f.where} {f.sentence}" for f in report.findings)


def full(sample):
    """Published events, one more in the spool, a fact."""
    sample.tasks(3)
    sample.fact()
    sample.publish()
    sample.tasks(1, start=3)
    return sample


def test_a_sound_store_has_no_findings(sample):
    """A doctor that cries wolf is switched off."""
    report = examine(full(sample).clone)

    assert (report.verdict, told(report)) == ("ok", "")
    assert report.counts["events"] == 5
    assert report.counts["bodies"] == 5


def test_an_empty_store_is_sound(sample):
    """The first thing people do after `init` is to look."""
    assert told(examine(sample.clone)) == ""


def test_a_repository_without_a_commit_is_sound(tmp_path):
    """`git init && holdfast init` is how new projects begin."""
    from holdfast.git import project_setup
    from holdfast.git.clone import Clone
    from holdfast.git.repo import Repo

    Repo.create(str(tmp_path))
    project_setup.initialise(str(tmp_path), cache=str(tmp_path / "cache"))
    clone = Clone.open(str(tmp_path), cache=str(tmp_path / "cache"))
    clone.record(EventDraft("task", target="TSK-1", body={"task": "begin"}))

    assert told(examine(clone)) == ""


def test_a_changed_byte_in_the_work_tree_is_located(sample):
    """People edit files by accident; they need to know which line."""
    segment = full(sample).segments()[0]
    flip(segment, len(segment.read_bytes().split(b"\n")[0]) + 200)

    report = examine(sample.clone)

    assert report.verdict == "corrupt"
    assert [f.line for f in report.problems] == [2]
    assert report.problems[0].file == segment.relative_to(sample.repo.path).as_posix()


def test_line_ends_converted_by_a_checkout_are_not_damage(sample):
    """On Windows every clone would look tampered with."""
    segment = full(sample).segments()[0]
    rewrite(segment, segment.read_bytes().replace(b"\n", b"\r\n"))

    report = examine(sample.clone)

    assert report.verdict == "ok"
    assert "note" in told(report)
    assert "converted its line ends" in told(report)


def test_a_segment_missing_from_the_work_tree_is_read_from_git(sample):
    """A sparse checkout hides files; it does not lose them."""
    full(sample).segments()[0].unlink()

    assert examine(sample.clone).verdict == "ok"


@pytest.mark.parametrize("kind", ["sealed", "spool", "body"])
def test_damage_in_the_private_store_is_located(sample, kind):
    """Without a place nobody knows what to bring back from a backup."""
    full(sample)
    folder = {"sealed": "sealed/log", "spool": "spool", "body": "bodies"}[kind]
    file = sorted(path for path in (sample.private / folder).rglob("*") if path.is_file())[0]
    flip(file, 150 if kind != "body" else 40)

    report = examine(sample.clone)

    assert report.verdict == "corrupt"
    assert file.name in report.problems[0].file


def test_a_lost_body_is_missed_and_an_erased_one_is_not(sample):
    """Erasing must leave a log that verifies; losing must not."""
    full(sample)
    event = next(iter(sample.clone.own_events()))
    os.unlink(sample.private / "bodies" / event.body)

    assert "it is missing" in told(examine(sample.clone))

    sample.clone.record(EventDraft("erase", target=event.hash_self))
    assert told(examine(sample.clone)) == ""


def test_an_erased_body_that_came_back_is_reported(sample):
    """An old backup must not quietly undo an erasure."""
    sample.tasks(1)
    sample.clone.record(EventDraft("erase", target="TSK-0"))

    assert "it was erased and is here again" in told(examine(sample.clone))


def test_what_is_recorded_after_an_erasure_under_the_same_name_is_expected(sample):
    """Somebody may propose the same thing again, in better words."""
    sample.tasks(1)
    first = next(iter(sample.clone.own_events()))
    sample.clone.record(EventDraft("erase", target="TSK-0"))
    sample.clone.bodies.drop(first.body)
    sample.tasks(1)

    assert told(examine(sample.clone)) == ""


def test_the_real_erase_leaves_a_sound_store(sample):
    """If erasing made the doctor complain, people would stop erasing."""
    from holdfast.git.erase import erase

    full(sample)
    erase(sample.clone, "memory", "FCT-aaa111")
    erase(sample.clone, "event", next(iter(sample.clone.own_events())).hash_self)

    assert told(examine(sample.open())) == ""


def test_damage_in_gits_own_store_is_reported(sample):
    """The doctor must not die of what it is asked to find."""
    segment = full(sample).segments()[0].relative_to(sample.repo.path).as_posix()
    oid = sample.repo.git("rev-parse", f"HEAD:{segment}")
    loose = sample.repo / ".git/objects" / oid[:2] / oid[2:]
    rewrite(loose, loose.read_bytes()[:20] + b"nothing of the kind")

    report = examine(sample.clone)

    assert report.verdict == "corrupt"
    assert segment in told(report)


def test_a_write_cut_short_is_a_note_and_not_damage(sample):
    """A crash costs nobody an acknowledged event, so nobody should be alarmed."""
    full(sample)
    spool = sample.spools()[0]
    whole = spool.read_bytes()
    spool.write_bytes(whole + whole[:99])

    report = examine(sample.clone)

    assert report.verdict == "ok"
    assert [(f.severity, f.line, f.repair) for f in report.findings] == [("note", 2, "set-aside")]


def test_a_healed_tear_in_the_middle_is_a_note(sample):
    """The next append ends a torn line and goes on; that is how it was designed."""
    sample.tasks(3)
    spool = sample.spools()[0]
    lines = spool.read_bytes().splitlines(keepends=True)
    spool.write_bytes(lines[0] + lines[1][:80] + b"\n" + b"".join(lines[1:]))

    report = examine(sample.clone)

    assert (report.verdict, [f.line for f in report.findings]) == ("ok", [2])


def test_an_acknowledged_event_altered_in_a_spool_is_damage(sample):
    """What was promised to be stored must never pass as a torn write."""
    sample.tasks(3)
    flip(sample.spools()[0], 700)

    report = examine(sample.clone)

    assert (report.verdict, report.problems[0].line) == ("corrupt", 2)


def test_a_parent_that_is_not_here_is_partial(sample):
    """A cherry-picked segment is no damage, and no proof either."""
    sample.tasks(2)
    sample.publish()
    sample.tasks(2, start=2)
    sample.publish()
    first = sample.repo.git("log", "--format=%H", "--reverse", "main..").split()[0]
    last = sample.repo.git("rev-parse", "HEAD")
    sample.repo.git("switch", "-q", "-c", "picked", "main")
    sample.repo.git("cherry-pick", last)
    for file in (sample.private / "sealed" / "log").iterdir():
        file.unlink()

    report = examine(sample.open())

    assert first != last
    assert report.verdict == "partial"
    assert "the event before this one is not here" in told(report)


def test_another_clone_of_the_project_is_sound(sample, tmp_path):
    """Bodies are private to the clone that recorded them; their absence elsewhere is no fault."""
    from holdfast.git.clone import Clone

    full(sample)
    sample.repo.git("clone", "-q", str(sample.repo.path), str(tmp_path / "other"))
    clone = Clone.open(str(tmp_path / "other"), cache=str(tmp_path / "cache"))

    report = examine(clone)

    assert (report.verdict, told(report)) == ("ok", "")
    assert report.counts["own"] == 0


def test_open_permissions_and_links_are_problems(sample):
    """Bodies hold what agents read and wrote; other users of the machine should not see it."""
    full(sample)
    body = next((sample.private / "bodies").iterdir())
    body.chmod(0o644)
    assert told(examine(sample.clone)) == ""  # nobody gets as far as the file
    body.parent.chmod(0o750)
    (sample.private / "candidates" / "way-out").symlink_to("/etc/hostname")

    report = examine(sample.clone)

    assert "others can use this: its mode is 0644" in told(report)
    assert "others can use this: its mode is 0750" in told(report)
    assert "this is a link" in told(report)
    assert report.verdict == "ok"


def test_leftovers_are_noted_after_an_hour(sample):
    """A body may be a moment older than the event that names it; not an hour."""
    full(sample)
    orphan = sample.private / "bodies" / ("0" * 64)
    orphan.write_bytes(b"x" * 40)
    orphan.chmod(0o600)
    temporary = sample.private / "pending" / "a.json.1-2.tmp"
    temporary.touch(mode=0o600)
    now = sample.clone.clock.now.timestamp()
    for path in (orphan, temporary):
        os.utime(path, (now - 60, now - 60))
    assert told(examine(sample.clone)) == ""

    sample.clone.clock.now += timedelta(hours=2)
    assert "no event of this clone names this body" in told(examine(sample.clone))
    assert "interrupted while it wrote this" in told(examine(sample.clone))


def test_a_missing_waiting_segment_is_found(sample):
    """Events that were never published would be gone without a word."""
    sample.tasks(2)
    sample.repo.git("switch", "-q", "--detach")
    sample.repo.git("switch", "-q", "feature")
    from holdfast.store import seal

    line = sample.clone.line().id
    seal.seal(sample.clone.layout, line, head=None, ts=sample.clone.now())
    next((sample.private / "sealed" / "log").iterdir()).unlink()

    assert "which is gone from sealed/" in told(examine(sample.clone))


@pytest.mark.parametrize("way", ["--no-sparse-index", "--sparse-index", "--no-cone"])
def test_a_sparse_checkout_without_our_folder_is_sound(sample, way):
    """Who works on a part of a large project sees none of our files, and nothing is wrong with that."""
    sample.tasks(1)
    sample.publish()
    sample.repo.commit("src/a.py")
    sample.repo.git("sparse-checkout", "set", way, "src")
    assert not (sample.repo / ".holdfast/.gitattributes").exists()

    report = examine(sample.open())

    assert (report.verdict, told(report)) == ("ok", "")


def test_missing_and_outvoted_attributes_are_problems(sample):
    """Git would convert line ends, and every hash would fail on the next machine."""
    (sample.repo / ".git/info").mkdir(exist_ok=True)
    (sample.repo / ".git/info/attributes").write_text("*.jsonl text\n")
    assert "another rule outvotes it" in told(examine(sample.clone))

    (sample.repo / ".git/info/attributes").unlink()
    sample.repo.git("rm", "-q", ".holdfast/.gitattributes")
    sample.repo.git("commit", "-q", "-m", "gone")
    assert "it is missing" in told(examine(sample.clone))


def test_expired_and_stale_facts_are_noted(sample):
    """A fact that rests on a file which changed may mislead the next agent."""
    blob = sample.repo.git("rev-parse", "HEAD:README")
    expired = sample.clone.clock().replace(microsecond=0)
    sample.fact("FCT-old", expires_at=expired)
    sample.fact("FCT-file", evidence=(f"file:README@{blob}",))
    sample.fact("FCT-run", evidence=("run:20200101T000000Z-aaaaaa",))
    sample.fact("FCT-commit", evidence=(f"commit:{'0' * 40}",))
    assert "FCT-file" not in told(examine(sample.clone))

    sample.commit_file("README", "another project\n")
    report = examine(sample.clone)

    assert report.verdict == "ok"
    assert "FCT-old expired" in told(report)
    assert "FCT-file is stale: README has changed" in told(report)
    assert "FCT-run is stale: run:20200101T000000Z-aaaaaa is gone" in told(report)
    assert "FCT-commit is stale: commit 000000000000 is gone" in told(report)


def test_damage_does_not_keep_facts_from_being_looked_at(sample):
    """The doctor must not die of what it is asked to find."""
    sample.fact("FCT-run", evidence=("run:20200101T000000Z-aaaaaa",))
    sample.publish()
    for sealed in (sample.private / "sealed" / "log").iterdir():
        flip(sealed, 150)

    assert examine(sample.clone).verdict == "corrupt"


def test_a_broken_entry_is_found_with_its_line(sample):
    """It is left out of every answer until somebody mends it."""
    path = sample.fact()
    sample.publish()
    text = "---\nid: FCT-aaa111\ntype: fact\nstatus: nonsense\n---\nFact: It holds.\n"
    (sample.repo / path).write_text(text)

    report = examine(sample.clone)

    assert [(f.topic, f.where) for f in report.problems] == [("facts", f"{path}:4")]


def test_a_damaged_index_is_only_a_note(sample):
    """It can be thrown away at any time."""
    from holdfast.index.refresh import path_of

    path = path_of(sample.clone)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(b"this is no database at all")

    report = examine(sample.clone)

    assert [(f.severity, f.topic) for f in report.findings] == [("note", "index")]


def test_a_log_cut_at_its_end_is_found_against_a_checkpoint(sample):
    """A chain alone cannot show that its newest part is gone."""
    sample.tasks(3)
    kept = checkpoints.checkpoint_from_bytes(checkpoints.checkpoint_to_bytes(take_checkpoint(sample.clone)), "kept")
    spool = sample.spools()[0]
    assert examine(sample.clone, against=kept).verdict == "ok"
    sample.tasks(1, start=3)
    assert examine(sample.clone, against=kept).verdict == "ok"
    spool.write_bytes(b"".join(spool.read_bytes().splitlines(keepends=True)[:2]))

    assert examine(sample.clone).verdict == "ok"
    report = examine(sample.clone, against=kept)

    assert report.verdict == "corrupt"
    assert "is gone" in told(report)
    assert "3 of the 3 events behind the checkpoint are gone" in told(report)


def test_a_checkpoint_of_another_branch_is_partial_and_not_loss(sample, tmp_path):
    """Switching branches must not look like tampering."""
    from holdfast.git.clone import Clone

    full(sample)
    sample.publish()
    sample.repo.git("clone", "-q", str(sample.repo.path), str(tmp_path / "other"))
    clone = Clone.open(str(tmp_path / "other"), cache=str(tmp_path / "cache"))
    kept = take_checkpoint(clone)
    clone.repo.run("switch", "-q", "main", write=True)

    report = examine(clone, against=kept)

    assert report.verdict == "partial"
    assert "another branch of this clone has it" in told(report)


def test_examining_changes_nothing(sample):
    """The doctor looks; it does not touch."""
    full(sample)
    flip(sample.segments()[0], 300)

    def state():
        return {
            path: (path.read_bytes() if path.is_file() else b"", path.lstat().st_mtime_ns)
            for path in sorted(sample.repo.path.rglob("*"))
            if path.name not in ("index", ".git")
        }

    before = state()
    time.sleep(0.01)
    examine(sample.clone)

    assert state() == before


BUSY = """
import sys
from holdfast.git.clone import Clone
from holdfast.git.publish import publish
from holdfast.model.event import EventDraft
from holdfast.project import Project

clone = Clone.open(sys.argv[1], cache=sys.argv[2])
print("ready", flush=True)
for number in range(100000):
    for _ in range(5):
        clone.record(EventDraft("task", target=f"TSK-{number}", body={"task": "busy"}))
    publish(clone, here=True)
"""


def test_nothing_is_reported_while_others_record_and_publish(sample):
    """People look while agents work; a moment in between must not look like damage."""
    command = [sys.executable, "-c", BUSY, str(sample.repo.path), sample.cache]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as busy:
        assert busy.stdout.readline() == b"ready\n"
        try:
            reports = [examine(sample.clone) for _ in range(12)]
        finally:
            busy.kill()

    assert [told(report) for report in reports if report.verdict != "ok"] == []
    assert reports[-1].counts["events"] > reports[0].counts["events"]


def test_a_file_in_the_drawers_place_is_no_journal(sample):
    """Nobody was cut short there, and setting such a journal aside would fail."""
    shutil.rmtree(sample.repo.path / ".holdfast" / "local", ignore_errors=True)
    sample.repo.write(".holdfast/local", "x")
    found = [finding.file for finding in doctor.examine_records(sample.open())]
    assert not [file for file in found if file.endswith(("publishing.json", "erasing.json"))]


def test_a_damaged_database_of_agents_is_a_problem(sample):
    """Nothing else holds what agents of one's own did; their owner must learn it before the next crash."""
    clone = full(sample).clone
    project = Project(clone, DEFAULTS)
    project.agents.get("mailer")
    project.agents.database.close()  # with the last connection SQLite's log goes into the file
    assert told(examine(clone)) == ""
    with open(clone.private.agent_database, "r+b") as file:
        file.truncate(9000)
    assert "agents cannot be read" in told(examine(clone))
