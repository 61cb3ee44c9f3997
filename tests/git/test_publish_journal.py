"""A publish that was cut short is undone or finished, and what somebody did since is left alone."""

import json
import shutil
from pathlib import Path

import pytest

from holdfast.errors import GitFailed, HookRefused, PublishRefused
from holdfast.git import project_setup, publish, publish_journal, repo
from holdfast.store import fsio, pending_changes
from tests import making
from tests.conftest import GitRepo, make_repo
from tests.git.place import Place, fact_path, fact_text

UNDONE = "undid a publish that was interrupted; nothing was lost, publish again when you like"
FINISHED = "finished a publish that was interrupted after its commit"


def cut_short(place: Place, hook: str = "pre-commit") -> Place:
    """The repository as a machine finds it that lost its power in a hook of the commit."""
    aside = place.repo.path.with_name("after")
    place.hook(hook, f"cp -R '{place.repo.path}' '{aside}'")
    place.publish()
    after = place.at(aside)
    (aside / ".git/hooks" / hook).unlink()
    for lock in (aside / ".git").glob("*.lock"):
        lock.unlink()
    assert journal(after).exists()
    return after


def journal(place: Place) -> Path:
    return place.repo / ".git/holdfast/publishing.json"


def leave(place: Place) -> None:
    """One fact is new, one changes, one goes away; another is as it is published."""
    for name in ("changed", "gone", "left"):
        place.keep(name)
    place.publish()
    place.keep("new")
    place.keep("changed", "It has changed.")
    place.open().change(fact_path("gone"), None)


def _killed(path: Path, hook: str = "pre-commit") -> None:
    place = Place.make(path.with_name("first"))
    leave(place)
    cut_short(place, hook).repo.path.rename(path)


def _committed(path: Path) -> None:
    _killed(path, "post-commit")


@pytest.fixture
def killed(tmp_path: Path) -> Place:
    """A publish of `leave` that was cut short before its commit; made once, and copied."""
    making.copied(_killed, tmp_path / "repo")
    return Place(GitRepo(tmp_path / "repo"), str(tmp_path / "cache"))


@pytest.fixture
def committed(tmp_path: Path) -> Place:
    """The same after its commit."""
    making.copied(_committed, tmp_path / "repo")
    return Place(GitRepo(tmp_path / "repo"), str(tmp_path / "cache"))


LEFT = {fact_path(name) for name in ("new", "changed", "gone")}


def index(place: Place) -> str:
    return place.git("ls-files", "-s", "-t")


def test_the_index_is_written_entry_by_entry(place: Place) -> None:
    """Nothing is asked of git for an empty list, and a path that is not named is not touched."""
    before = index(place)
    publish_journal.write_index(place.open().repo, [])
    assert index(place) == before
    place.repo.write("mine", "mine\n")
    place.git("add", "mine")
    publish_journal.unstage(place.open().repo, ["mine", "README"])
    assert place.status() == "?? mine" and index(place) == before


def test_what_was_written_and_staged_is_taken_back(killed: Place) -> None:
    """The user's next commit must not carry half a publish."""
    assert set(killed.git("diff", "--cached", "--name-only", "--no-renames").split()) == LEFT
    other = killed.repo.write(f"{fact_path('left')}.mine", "not ours\n")
    ours = killed.repo.write(f"{fact_path('new')}.1-2.tmp", "half")
    alike = killed.repo.write(f"{fact_path('new')}.1-2.txt", "not ours\n")
    assert killed.recover() == UNDONE
    assert other.exists() and alike.exists() and not ours.exists()
    other.unlink()
    alike.unlink()
    assert killed.status() == "" and not journal(killed).exists()
    assert killed.waits() == LEFT
    assert killed.recover() is None


def test_a_publish_first_mends_the_one_before_and_says_so(killed: Place) -> None:
    """Whoever runs it again must learn what became of the first."""
    assert set(killed.publish().paths) == LEFT and killed.status() == ""
    assert UNDONE in killed.notes


def test_new_folders_go_with_what_was_in_them(place: Place) -> None:
    """Git shows no empty folders; they would pile up."""
    place.keep("one")
    after = cut_short(place)
    (after.repo / fact_path("one")).unlink()  # taken away by somebody; its folders are still ours
    assert after.recover() == UNDONE
    assert not (after.repo / ".holdfast/memory").exists() and (after.repo / ".holdfast").exists()


def test_after_its_commit_it_is_finished(committed: Place) -> None:
    """What is in the history must not be published a second time."""
    assert committed.recover() == FINISHED
    assert not journal(committed).exists()
    assert committed.waits() == set() and committed.status() == ""
    assert committed.facts() == {"changed": "It has changed.", "new": "It is so.", "left": "It is so."}


def test_what_somebody_did_since_stays(killed: Place) -> None:
    """A later edit is somebody's work, in the files and in the index."""
    for name in ("changed", "new", "gone"):
        killed.repo.write(fact_path(name), fact_text(name, "By hand."))
    killed.git("add", fact_path("new"))
    assert killed.recover() == UNDONE
    for name in ("changed", "new", "gone"):
        assert (killed.repo / fact_path(name)).read_text() == fact_text(name, "By hand.")
    assert killed.git("show", f":{fact_path('new')}") == fact_text("new", "By hand.").strip()
    assert killed.git("diff", "--cached", "--name-only").split() == [fact_path("new")]


def test_what_somebody_committed_since_stays_committed(killed: Place) -> None:
    """Half of it is in the history now: that half is not taken out of the files again."""
    killed.git("commit", "-q", "-m", "mine", "--", fact_path("new"), fact_path("changed"))
    assert killed.recover() == UNDONE
    assert killed.status() == "" and killed.waits() == {fact_path("gone")}
    assert killed.facts() == {"changed": "It has changed.", "new": "It is so.", "left": "It is so."}


def test_what_somebody_else_committed_there_since_is_what_was_there_before(killed: Place) -> None:
    """HEAD has moved on with other words; the index goes back to those, not to the ones before them."""
    theirs = killed.repo.git("hash-object", "-w", "--stdin", data=fact_text("changed", "Theirs.").encode())
    killed.git("read-tree", "HEAD")
    killed.git("update-index", "--cacheinfo", f"100644,{theirs},{fact_path('changed')}")
    killed.git("commit", "-q", "-m", "theirs")
    killed.git("add", fact_path("changed"))
    assert killed.recover() == UNDONE
    assert killed.git("rev-parse", f":{fact_path('changed')}") == theirs


def test_a_journal_of_an_earlier_version_is_undone_where_nothing_was_swept_up(place: Place) -> None:
    """It is silent about how it added files; the user staged a file of their own."""
    place.keep("one")
    after = cut_short(place)
    record = json.loads(journal(after).read_text())
    del record["adds"]
    journal(after).write_text(json.dumps(record))
    after.repo.write("mine", "mine\n")
    after.git("add", "mine")
    assert after.recover() == UNDONE
    assert after.status() == "A  mine"


def test_three_files_that_were_swept_up_are_all_named(place: Place) -> None:
    """Whoever reads it knows whether there are more."""
    place.repo.commit(".gitignore", "secret\n")
    place.keep("one")
    after = cut_short(place)
    record = json.loads(journal(after).read_text()) | {"adds": "all"}
    for name in ("a", "b", "secret"):
        after.repo.write(name, "mine\n")
    after.git("add", "-f", "a", "b", "secret")
    journal(after).write_text(json.dumps(record))
    said = after.recover() or ""
    assert said.startswith(UNDONE) and "it had staged 3 files that are not Holdfast's (a, b, secret);" in said
    assert after.status().split() == ["??", "a", "??", "b"]


def test_an_init_that_was_cut_short_is_named_so(tmp_path: Path) -> None:
    """Nobody asked for a publish; its two files stay, unstaged."""
    place = Place(make_repo(tmp_path / "repo"), str(tmp_path / "cache"))
    aside = tmp_path / "after"
    place.hook("pre-commit", f"cp -R '{place.repo.path}' '{aside}'")
    project_setup.initialise(str(place.repo.path), cache=place.cache, commit=True)
    after = place.at(aside)
    for lock in (aside / ".git").glob("*.lock"):
        lock.unlink()
    said = after.recover()
    assert said == (
        "undid an `init --commit` that was interrupted; its files are there and not staged; run it again when you like"
    )


@pytest.mark.parametrize("gone", [False, True])
def test_another_work_tree_is_mended_from_here(place: Place, tmp_path: Path, gone: bool) -> None:
    """Whoever comes next, in whichever work tree; what is gone with its folder needs no mending."""
    place.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = place.at(tmp_path / "side")
    side.keep("one")
    kept = tmp_path / "journal"
    place.hook("pre-commit", f"cp '{journal(place)}' '{kept}'; exit 1")
    with pytest.raises(HookRefused):
        side.publish()
    (place.repo / ".git/hooks/pre-commit").unlink()
    shutil.copy(kept, journal(place))
    side.repo.write(fact_path("one"), fact_text("one"))
    side.git("add", fact_path("one"))
    if gone:
        place.git("worktree", "remove", "--force", str(side.repo.path))
        said = f"a publish in {side.repo.path} was interrupted, and that work tree is gone; nothing was lost"
        assert place.recover() == said
    else:
        assert place.recover() == UNDONE
        assert side.status() == "" and not (side.repo / fact_path("one")).exists()
    assert not journal(place).exists()


def test_a_journal_that_names_no_objects_or_foreign_paths_is_not_followed(killed: Place) -> None:
    """It may be damaged or forged: nothing is written or deleted by its word."""
    record = json.loads(journal(killed).read_text())
    row = record["items"][0]
    wrong = [{name: 7} for name in ("blob", "head_blob", "index", "there", "change", "path")]
    wrong += [{"path": path} for path in ("README", "../out", ".git/config", ".holdfast/../README", "")]
    wrong += [{"change": row["change"] | {"path": "../out"}}, {"change": []}, {"change": ""}, {"more": 1}]
    where = [record | {name: 1} for name in ("top", "worktree", "line", "adds")]
    before = killed.status()
    clone = killed.open()
    for damage in (*where, *(record | {"items": [row | damage]} for damage in wrong)):
        journal(killed).write_text(json.dumps(damage))
        assert publish.resume(clone) is None, damage
        with pytest.raises(PublishRefused, match="cannot be read") as caught:
            publish.publish(clone)
        assert "holdfast doctor --repair" in caught.value.hint
        assert journal(killed).exists(), damage
    assert killed.status() == before
    assert any(
        note.startswith("left out: ") and "journal of an interrupted publish" in note for note in clone.layout.notes
    )


def test_while_another_git_holds_the_index_nothing_is_undone(killed: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be the one of the publish that was killed, about to stage what would be taken back."""
    monkeypatch.setattr(repo, "LOCK_TRIES", 1)
    monkeypatch.setattr(repo, "LOCK_PAUSE", 0)
    lock = killed.repo.write(".git/index.lock", "")
    said = killed.recover() or ""
    assert said.startswith("a publish in ") and "was interrupted and cannot be undone yet: " in said
    assert journal(killed).exists()
    lock.unlink()
    assert killed.recover() == UNDONE


def test_who_finds_somebody_publishing_leaves_the_journal_to_them(killed: Place) -> None:
    """It is no publish that was cut short."""
    clone = killed.open()
    with fsio.locked(clone.layout.lock):
        assert publish.resume(clone) is None
    assert journal(killed).exists()
    assert publish.resume(clone) == UNDONE


def test_another_work_trees_publish_is_finished_at_once(place: Place, tmp_path: Path) -> None:
    """Whatever becomes of that branch before somebody works there again: what it published was published."""
    place.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side, store = place.at(tmp_path / "side"), place.store
    side.keep("one")
    place.hook("post-commit", f"cp -R '{store}' '{tmp_path}/store'")
    commit = side.publish().commit
    shutil.rmtree(store)
    shutil.copytree(tmp_path / "store", store)
    clone = place.open()
    assert [change.path for change in pending_changes.waiting(clone.layout)] == [fact_path("one")]
    assert place.recover() == FINISHED
    assert pending_changes.waiting(clone.layout) == []
    (done,) = pending_changes.published(clone.layout)
    assert (done.published or {})["commit"] == commit


def test_another_repository_in_the_place_of_a_work_tree_is_left_alone(place: Place, tmp_path: Path) -> None:
    """The folder was taken by something else meanwhile."""
    other = Place.make(tmp_path / "other")
    place.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    place.keep("one")
    after = cut_short(place)
    record = json.loads(journal(after).read_text())
    (clone := place.at(tmp_path / "side").open()).line()
    before = other.status()
    for there in (other.repo.path, tmp_path / "nowhere", tmp_path / "side"):
        journal(place).write_text(json.dumps(record | {"top": str(there)}))
        said = publish_journal.recover(clone) or ""
        assert said == f"a publish in {there} was interrupted, and that work tree is gone; nothing was lost"
        assert not journal(place).exists() and other.status() == before


def test_only_what_the_next_commit_would_add_and_git_ignores_was_swept_up(place: Place) -> None:
    """A file that is tracked in spite of a rule is the project's own."""
    place.repo.commit("tracked.log", "x\n")
    place.repo.commit("README", "x\n")
    place.repo.commit(".gitignore", "*.log\n")
    for name in ("tracked.log", "a.log", "b.log", "README", "plain", ".holdfast/c.log"):
        place.repo.write(name, "changed\n")
    repo = place.open().repo
    place.git("add", "tracked.log", "README", "plain")
    assert publish_journal.staged_though_ignored(repo) == [] == publish_journal.unstage_swept(repo)
    assert place.status().split("\n") == ["M  README", "A  plain", "M  tracked.log"]
    place.git("add", "-f", "a.log", "b.log", ".holdfast/c.log")
    assert publish_journal.staged_though_ignored(repo) == ["a.log", "b.log"]
    publish_journal.unstage(repo, ["README", "a.log"])
    assert "M  README" in place.status() and publish_journal.staged_though_ignored(repo) == ["b.log"]
    assert publish_journal.unstage_swept(repo) == ["README", "b.log", "plain", "tracked.log"]
    assert place.git("diff", "--cached", "--name-only") == ".holdfast/c.log"
    assert (place.repo / "b.log").read_text() == "changed\n"


def test_before_the_first_commit_everything_that_is_staged_is_added(place: Place) -> None:
    """There is no HEAD to compare with."""
    place.git("switch", "-q", "--orphan", "empty")
    place.repo.write(".gitignore", "*.log\n")
    for name in ("a.log", "plain"):
        place.repo.write(name, "x\n")
    place.git("add", "-f", "a.log", "plain", ".gitignore")
    repo = place.open().repo
    assert publish_journal.staged_though_ignored(repo) == ["a.log"]
    assert publish_journal.unstage_swept(repo) == [".gitignore", "a.log", "plain"]
    assert place.git("ls-files") == ""


@pytest.mark.parametrize(
    ("output", "kind", "words"),
    [
        (b"*** Please tell me who you are.\n\nfatal: unable to auto-detect email", PublishRefused, "no name and email"),
        (b"fatal: Unable to create '/x/.git/index.lock': File exists.", GitFailed, "has locked the index"),
        (b"one\n\n  the last word \n\n", HookRefused, "refused: the last word"),
        (b" \n", HookRefused, "refused: it gave no reason"),
    ],
)
def test_why_git_made_no_commit_is_said(output: bytes, kind: type[Exception], words: str) -> None:
    """Each has another next step."""
    found = publish_journal.refusal(output, "refused")
    assert type(found) is kind and words in str(found)


def test_empty_folders_go_up_to_ours_and_no_further(tmp_path: Path) -> None:
    """A folder of the user's is not ours to remove, however empty."""
    deep = tmp_path / "ours/a/b"
    deep.mkdir(parents=True)
    (tmp_path / "ours/c").mkdir()
    publish_journal.prune(str(deep), str(tmp_path / "ours"))
    assert [path.name for path in (tmp_path / "ours").iterdir()] == ["c"]
    (tmp_path / "theirs").mkdir()
    for folder in ("theirs", "ours/c"):
        publish_journal.prune(str(tmp_path / folder), str(tmp_path / "ours"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ours", "theirs"]
    publish_journal.prune(str(tmp_path / "ours"), str(tmp_path / "ours"))
    assert (tmp_path / "ours").exists()
