"""The gate for pull requests, on real repositories."""

import shutil
import subprocess

import pytest

from holdfast.diagnostics.check import check
from holdfast.errors import BadInput
from holdfast.git.repo import Repo
from holdfast.model.event import EventDraft
from holdfast.model.memory import Accepted
from holdfast.store import memory_files

PATH = ".holdfast/memory/facts/it-holds-FCT-aaa111.md"


def verdict(sample, **options):
    return check(Repo.discover(str(sample.repo.path)), **options)


def said(found) -> str:
    return "\n".join(f"{finding.where} {finding.sentence}" for finding in found)


def hand_written(statement: str = "It holds.", identity: str = "FCT-aaa111", **fields) -> str:
    return memory_files.render(Accepted(id=identity, type="fact", statement=statement, **fields))


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
    gone(sample)
    sample.clone.record(EventDraft(kind, target="FCT-aaa111", body={"reason": "it changed"}))
    sample.publish()

    assert verdict(sample).problems == ()


@pytest.mark.parametrize(("kind", "passes"), [("retire", True), ("erase", True), ("promote", False)])
def test_only_what_was_given_up_may_be_deleted_later(sample, kind, passes):
    """Who approves a fact has not said that it may vanish; who retires it has."""
    sample.fact()
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    sample.clone.record(EventDraft(kind, target="FCT-aaa111", body={"reason": "it changed"}))
    sample.publish()
    gone(sample)

    assert (verdict(sample).problems == ()) == passes


def gone(sample) -> None:
    sample.repo.git("rm", "-q", PATH)
    sample.repo.git("commit", "-q", "-m", "gone")


def test_what_was_erased_may_be_deleted_any_time(sample):
    """A merge brought the text back after its erasure; nobody may be told to keep it."""
    sample.fact()
    sample.clone.record(EventDraft("erase", target="FCT-aaa111"))
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    sample.repo.git("rm", "-q", PATH)
    sample.repo.git("commit", "-q", "-m", "gone again")

    assert verdict(sample).word == "ok"


def test_the_run_a_fact_comes_from_accounts_for_it(sample):
    """Facts that a run derived may come with their run instead of an approval."""
    run = "20261115T120000Z-abc123"
    sample.clone.record(EventDraft("run", target=run, run_id=run, exit_status=0, body={"task": "x"}))
    sample.commit_file(PATH, hand_written(source=f"run:{run}"))
    sample.publish()
    assert verdict(sample).problems == ()

    sample.commit_file(PATH, hand_written("It does not hold.", source=f"run:{run}"))
    assert "after its approval" in said(verdict(sample).problems)


def edited(sample, old: str = "It holds.", new: str = "It does not hold.") -> str:
    """Somebody rewrites the fact and commits it without a word to Holdfast; gives the commit."""
    sample.commit_file(PATH, (sample.repo / PATH).read_text().replace(old, new))
    return str(sample.repo.git("rev-parse", "HEAD"))


def approved(sample) -> None:
    sample.clone.record(EventDraft("accept", target="FCT-aaa111", body={"statement": "…"}))
    sample.publish()


def test_a_text_edited_after_its_approval_fails(sample):
    """One honest approval would otherwise open the gate for whatever is written next."""
    sample.fact()
    sample.publish()
    commit = edited(sample)
    sample.repo.commit("other.txt")

    found = verdict(sample)

    assert f"FCT-aaa111 was changed in {commit[:12]} after its approval" in said(found.problems)
    assert "holdfast review accept FCT-aaa111" in found.problems[0].next_step


def test_an_edit_that_was_approved_later_passes(sample):
    """People mend a fact in their editor first and have it approved then."""
    sample.fact()
    sample.publish()
    edited(sample)
    approved(sample)
    sample.repo.commit("other.txt")

    assert verdict(sample).word == "ok"


def test_an_edit_that_was_taken_back_passes(sample):
    """The text that stands was approved; and nobody can approve it again, for nothing is new."""
    sample.fact()
    sample.publish()
    edited(sample)
    sample.repo.git("revert", "--no-edit", "HEAD")
    assert verdict(sample).word == "ok"

    edited(sample, "It holds.", "It never held.")
    approved(sample)
    sample.repo.git("revert", "--no-edit", "HEAD~1")
    assert verdict(sample).word == "ok"
    sample.repo.git("revert", "--no-edit", "HEAD")
    assert "after its approval" in said(verdict(sample).problems)


def test_an_approval_copied_behind_an_edit_lets_nothing_in(sample):
    """The same event in a second segment is still the older approval."""
    from holdfast.store.format import make_segments, parse_event

    sample.tasks(1)
    sample.fact()
    sample.publish()
    edited(sample)
    lines = sample.segments()[0].read_bytes().splitlines(keepends=True)[1:]
    events = [(parse_event(line).ts, line) for line in lines]
    copy = make_segments(parse_event(lines[0]).line, events[1:])[0]
    sample.commit_file(copy.path, copy.data.decode())

    assert "after its approval" in said(verdict(sample).problems)


@pytest.mark.parametrize("honest", [True, False])
def test_a_rebase_changes_no_verdict(sample, honest):
    """Branches are rebased every day; neither an approval nor its lack may be lost by it."""
    sample.fact()
    sample.publish()
    edited(sample)
    if honest:
        approved(sample)
    sample.repo.git("switch", "-q", "main")
    sample.repo.commit("meanwhile.txt")
    sample.repo.git("switch", "-q", "feature")
    sample.repo.git("rebase", "-q", "main")

    assert (verdict(sample).word == "ok") == honest


def test_a_squash_passes(sample):
    """In one commit the approval comes with the text; the branch itself was judged before."""
    sample.fact()
    sample.publish()
    edited(sample)
    approved(sample)
    sample.repo.git("switch", "-q", "-c", "squashed", "main")
    sample.repo.git("merge", "-q", "--squash", "feature")
    sample.repo.git("commit", "-q", "-m", "squashed")

    assert verdict(sample).word == "ok"


def test_merging_the_trunk_changes_no_verdict(sample):
    """A branch takes the trunk in before it is judged."""
    sample.fact()
    sample.publish()
    sample.repo.git("switch", "-q", "main")
    sample.repo.commit("meanwhile.txt")
    sample.repo.git("switch", "-q", "feature")
    sample.repo.git("merge", "-q", "--no-edit", "main")
    assert verdict(sample).word == "ok"

    edited(sample)
    sample.repo.git("switch", "-q", "main")
    sample.repo.commit("and-again.txt")
    sample.repo.git("switch", "-q", "feature")
    sample.repo.git("merge", "-q", "--no-edit", "main")
    assert "after its approval" in said(verdict(sample).problems)


def both_sides_change_it(sample) -> None:
    """The trunk and the branch each change another field of one fact, each with an approval."""
    sample.fact(tags=("a",), applies_to=("x",))
    sample.publish()
    sample.repo.git("branch", "-f", "main")
    edited(sample, "tags: [a]", "tags: [a, b]")
    approved(sample)
    sample.repo.git("switch", "-q", "main")
    sample.clone = sample.open()
    edited(sample, "It holds.", "It holds well.")
    approved(sample)
    sample.repo.git("switch", "-q", "feature")
    sample.repo.git("merge", "-q", "--no-commit", "--no-edit", "main")
    text = (sample.repo / PATH).read_text()
    assert "tags: [a, b]" in text and "It holds well." in text


def test_a_merge_of_two_approved_texts_passes(sample):
    """Nobody wrote anything new: the merge holds what was approved on either side."""
    both_sides_change_it(sample)
    sample.repo.git("commit", "-q", "-m", "merged")

    assert verdict(sample).word == "ok"


def test_words_that_only_the_merge_brought_fail(sample):
    """A merge commit is a good place to hide a sentence: few people read one."""
    both_sides_change_it(sample)
    text = (sample.repo / PATH).read_text()
    sample.commit_file(PATH, text.replace("It holds well.", "It does not hold."))

    assert "after its approval" in said(verdict(sample).problems)


def test_words_smuggled_into_the_merge_of_an_approved_branch_fail(sample):
    """The approval comes with the merge, but it was given for the branch's own text."""
    sample.repo.git("branch", "other")
    sample.fact()
    sample.publish()
    sample.repo.git("switch", "-q", "other")
    sample.repo.git("merge", "-q", "--no-ff", "--no-commit", "feature")
    text = (sample.repo / PATH).read_text()
    sample.commit_file(PATH, text.replace("It holds.", "It does not hold."))

    assert "after its approval" in said(verdict(sample).problems)


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

    found = check(Repo.discover(str(tmp_path / "ci")), trunk="origin/main")

    assert (found.word, found.problems) == ("partial", ())
    assert "shallow" in said(found.notes)


@pytest.mark.parametrize("base", ["origin/main", "origin/mian"])
def test_a_named_base_that_a_shallow_clone_lacks_is_an_error(sample, tmp_path, base):
    """CI that asked for a comparison and got none would be green for every pull request."""
    sample.fact()
    sample.publish()
    url = f"file://{sample.repo.path}"
    sample.repo.git("clone", "-q", "--depth", "1", "-b", "feature", url, str(tmp_path / "ci"))

    with pytest.raises(BadInput, match="names no commit here") as refused:
        check(Repo.discover(str(tmp_path / "ci")), base=base)

    assert "fetch-depth: 0" in refused.value.hint


def test_a_named_base_that_a_shallow_clone_does_not_reach_is_an_error(sample, tmp_path):
    """Both tips are there, but not where they parted: nothing can be compared."""
    sample.fact()
    sample.publish()
    sample.repo.git("switch", "-q", "main")
    sample.repo.commit("other")
    url = f"file://{sample.repo.path}"
    sample.repo.git("clone", "-q", "--depth", "1", "--no-single-branch", url, str(tmp_path / "ci"))
    subprocess.run(["git", "switch", "-q", "feature"], cwd=tmp_path / "ci", check=True)

    with pytest.raises(BadInput, match="does not reach the point where HEAD left origin/main") as refused:
        check(Repo.discover(str(tmp_path / "ci")), base="origin/main")

    assert "fetch-depth: 0" in refused.value.hint


def test_a_history_cut_off_inside_the_branch_is_partial(sample, tmp_path):
    """The commit before the change would tell what had been approved, and it is not here."""
    sample.fact()
    sample.publish()
    commit = edited(sample)
    main = sample.repo.git("rev-parse", "main")
    sample.repo.git("switch", "-q", "-c", "joined", "main")
    sample.repo.git("merge", "-q", "--no-ff", "--no-edit", "feature")
    url = f"file://{sample.repo.path}"
    sample.repo.git("clone", "-q", "--depth", "2", "-b", "joined", url, str(tmp_path / "ci"))

    subprocess.run(["git", "branch", "main", main], cwd=tmp_path / "ci", check=True)

    found = check(Repo.discover(str(tmp_path / "ci")), trunk="main")

    assert (found.word, found.problems) == ("partial", ())
    assert f"does not reach what came before {commit[:12]}" in said(found.notes)
    with pytest.raises(BadInput, match="does not reach what came before"):
        check(Repo.discover(str(tmp_path / "ci")), base=main)


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


def test_a_tree_that_git_lacks_hides_nothing_beside_it(sample):
    """A gate that finds nothing to judge lets everything pass."""
    sample.fact()
    sample.clone.change(".holdfast/tasks/mend-TSK-aaa111.md", "---\nid: TSK-aaa111\n---\nMend\n")
    sample.publish()
    whole = verdict(sample).counts
    lost = sample.repo.git("rev-parse", "HEAD:.holdfast/tasks").strip()
    (sample.repo.path / ".git" / "objects" / lost[:2] / lost[2:]).unlink()

    found = verdict(sample)

    assert {name: found.counts[name] for name in ("events", "segments", "memories")} == {
        name: whole[name] for name in ("events", "segments", "memories")
    }
