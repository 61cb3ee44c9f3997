"""The gate for pull requests, on real repositories."""

import shutil

import pytest

from holdfast.diagnostics.check import check
from holdfast.errors import BadInput
from holdfast.git.repo import Repo
from holdfast.model.event import Draft
from holdfast.model.memory import Accepted
from holdfast.store import entries

PATH = ".holdfast/memory/facts/it-holds-FCT-aaa111.md"


def verdict(sample, **options):
    return check(Repo.discover(str(sample.repo.path)), **options)


def said(found) -> str:
    return "\n".join(f"{finding.where} {finding.sentence}" for finding in found)


def hand_written(statement: str = "It holds.", identity: str = "FCT-aaa111", **fields) -> str:
    return entries.render(Accepted(id=identity, type="fact", statement=statement, **fields))


def test_an_approved_and_published_fact_passes(sample):
    """If honest work failed the gate, people would switch it off."""
    sample.fact()
    sample.publish()

    found = verdict(sample)

    assert (found.word, found.problems) == ("ok", ())
    assert found.counts["memories"] == 1
    assert found.base == sample.repo.git("rev-parse", "main")


def test_a_fact_added_by_hand_fails_with_the_reason(sample):
    """A pull request could otherwise teach every agent of the team whatever it likes."""
    sample.commit_file(PATH, hand_written())

    found = verdict(sample)

    assert found.word == "failed"
    assert "FCT-aaa111 was added, but no segment of this branch holds its approval" in said(found.problems)
    assert "holdfast review accept FCT-aaa111" in found.problems[0].next_step


@pytest.mark.parametrize("what", ["changed", "deleted"])
def test_a_fact_changed_or_deleted_by_hand_fails(sample, what):
    """An approval covers the words that were approved, not whatever stands there later."""
    sample.fact()
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    if what == "changed":
        sample.commit_file(PATH, hand_written("It does not hold."))
    else:
        sample.repo.git("rm", "-q", PATH)
        sample.repo.git("commit", "-q", "-m", "gone")

    found = verdict(sample)

    assert f"FCT-aaa111 was {what}" in said(found.problems)


@pytest.mark.parametrize("kind", ["retire", "erase", "edit", "promote"])
def test_an_event_of_this_branch_lets_a_change_through(sample, kind):
    """Retiring and erasing are how facts rightly go; the gate must know them."""
    sample.fact()
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    sample.clone.record(Draft(kind, target="FCT-aaa111", body={"reason": "it changed"}))
    sample.publish()
    sample.repo.git("rm", "-q", PATH)
    sample.repo.git("commit", "-q", "-m", "gone")

    assert verdict(sample).problems == ()


def test_the_run_a_fact_comes_from_accounts_for_it(sample):
    """Facts that a run derived may come with their run instead of an approval."""
    run = "20261115T120000Z-abc123"
    sample.clone.record(Draft("run", target=run, run_id=run, exit_status=0, body={"task": "x"}))
    sample.publish()
    sample.commit_file(PATH, hand_written(source=f"run:{run}"))

    assert verdict(sample).problems == ()


def test_an_old_approval_copied_into_a_new_segment_lets_nothing_in(sample):
    """Otherwise one approval, once given, could be replayed for ever."""
    from holdfast.store.format import make_segments, parse_event

    sample.fact()
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    old = sample.segments()[0].read_bytes().splitlines(keepends=True)[1:]
    events = [(parse_event(line).ts, line) for line in old]
    copy = make_segments(parse_event(old[0]).line, reversed([*events, events[-1]]))[0]
    sample.commit_file(copy.path, copy.data.decode())
    sample.commit_file(PATH, hand_written("It does not hold."))

    assert "FCT-aaa111 was changed" in said(verdict(sample).problems)


@pytest.mark.parametrize("what", ["altered", "deleted"])
def test_a_sealed_segment_may_not_be_touched(sample, what):
    """Whoever may rewrite the past may rewrite who approved what."""
    sample.tasks(2)
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    segment = sample.segments()[0].relative_to(sample.repo.path).as_posix()
    if what == "altered":
        sample.commit_file(segment, (sample.repo / segment).read_text().replace("TSK-1", "TSK-7"))
    else:
        sample.repo.git("rm", "-q", segment)
        sample.repo.git("commit", "-q", "-m", "gone")

    found = verdict(sample)

    assert f"{segment} this sealed segment was {what}" in said(found.problems)
    assert (what == "altered") == (f"{segment}:3 " in said(found.problems))


def test_a_forged_segment_fails(sample):
    """A segment nobody sealed could carry approvals nobody gave."""
    sample.commit_file(f".holdfast/log/2026/11/15/{'0' * 32}.jsonl", '{"kind":"accept"}\n')

    assert verdict(sample).word == "failed"


def test_one_id_in_two_files_fails(sample):
    """Whoever cites the id would cite neither."""
    sample.fact()
    sample.publish()
    sample.commit_file(PATH.replace("it-holds", "other"), hand_written("Something else."))

    assert "its id FCT-aaa111 is also that of" in said(verdict(sample).problems)


def test_conflict_marks_are_found_with_their_line(sample):
    """A half-merged fact would be skipped in silence by everybody who reads it."""
    sample.fact()
    sample.publish()
    marks = "<<<<<<< ours\nFact: It holds.\n=======\nNo.\n>>>>>>> theirs"
    broken = hand_written().replace("Fact: It holds.", marks)
    sample.commit_file(PATH, broken)

    found = verdict(sample)

    assert "unresolved merge" in said(found.problems)
    assert found.problems[0].line


def test_bytes_that_are_no_text_and_links_are_found(sample):
    """A link could lead the reader out of the repository."""
    (sample.repo / PATH).parent.mkdir(parents=True)
    (sample.repo / PATH).write_bytes(b"---\nid: \xff\n")
    (sample.repo / PATH).with_name("link-FCT-b.md").symlink_to("/etc/hostname")
    sample.repo.git("add", "-f", ".holdfast/memory")
    sample.repo.git("commit", "-q", "-m", "odd things")

    told = said(verdict(sample).problems)

    assert "is not UTF-8 at byte 8" in told
    assert "must be a plain file" in told


def test_a_fresh_clone_needs_no_store(sample, tmp_path):
    """CI machines have nothing but the commit."""
    sample.fact()
    sample.publish()
    sample.repo.git("clone", "-q", str(sample.repo.path), str(tmp_path / "ci"))
    there = Repo.discover(str(tmp_path / "ci"))

    found = check(there, base="origin/main")

    assert found.word == "ok"
    assert not (tmp_path / "ci" / ".git" / "holdfast").exists()


def test_it_reads_commits_and_not_the_work_tree(sample):
    """The gate judges what would be merged, not what lies on a disk."""
    sample.fact()
    sample.publish()
    shutil.rmtree(sample.repo / ".holdfast")

    assert verdict(sample).word == "ok"


def test_a_shallow_clone_is_partial(sample, tmp_path):
    """A gate that cannot see the past must not claim that it did."""
    sample.fact()
    sample.publish()
    url = f"file://{sample.repo.path}"
    sample.repo.git("clone", "-q", "--depth", "1", "-b", "feature", url, str(tmp_path / "ci"))

    found = check(Repo.discover(str(tmp_path / "ci")), base="origin/main")

    assert (found.word, found.problems) == ("partial", ())
    assert "shallow" in said(found.notes)


def test_a_base_that_is_not_there_is_an_error(sample):
    """A typing mistake must not look like a pass."""
    with pytest.raises(BadInput, match="names no commit"):
        verdict(sample, base="nowhere")


def test_without_a_trunk_everything_counts_as_added(sample):
    """An unrelated history must not slip past the gate because there is nothing to compare with."""
    sample.fact()
    sample.publish()
    sample.commit_file(PATH.replace("aaa111", "bbb222"), hand_written(identity="FCT-bbb222"))
    sample.repo.git("branch", "-D", "main")

    found = verdict(sample)

    assert found.base is None
    assert [f.file for f in found.problems] == [PATH.replace("aaa111", "bbb222")]
