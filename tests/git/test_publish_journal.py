"""A publish that was cut short is undone or finished, and what somebody did since is left alone."""

import json
import shutil
from pathlib import Path

import pytest

from holdfast.errors import HookRefused, PublishRefused
from holdfast.git import project_setup, publish, publish_journal
from holdfast.store import fsio
from tests.conftest import make_repo
from tests.git.place import Place, fact_path, fact_text

UNDONE = "undid a publish that was cut short; nothing was lost, publish again when you like"
FINISHED = "finished a publish that was cut short after its commit"


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


def index(place: Place) -> str:
    return place.git("ls-files", "-s", "-t")


def test_what_was_written_and_staged_is_taken_back(place: Place) -> None:
    """The user's next commit must not carry half a publish."""
    leave(place)
    before, waits = index(place), place.waits()
    after = cut_short(place)
    assert after.status() != "" and index(after) != before
    other = after.repo.write(f"{fact_path('left')}.mine", "not ours\n")
    ours = after.repo.write(f"{fact_path('new')}.1-2.tmp", "half")
    alike = after.repo.write(f"{fact_path('new')}.1-2.txt", "not ours\n")
    assert after.recover() == UNDONE
    assert other.exists() and alike.exists() and not ours.exists()
    other.unlink()
    alike.unlink()
    assert (after.status(), index(after)) == ("", before)
    assert after.waits() == waits and not journal(after).exists()
    assert after.recover() is None
    assert set(after.publish().paths) == waits


def test_a_publish_first_mends_the_one_before_and_says_so(place: Place) -> None:
    """Whoever runs it again must learn what became of the first."""
    leave(place)
    waits = place.waits()
    after = cut_short(place)
    assert set(after.publish().paths) == waits and after.status() == ""
    assert UNDONE in after.notes


def test_new_folders_go_with_what_was_in_them(place: Place) -> None:
    """Git shows no empty folders; they would pile up."""
    place.keep("one")
    after = cut_short(place)
    (after.repo / fact_path("one")).unlink()  # taken away by somebody; its folders are still ours
    assert after.recover() == UNDONE
    assert not (after.repo / ".holdfast/memory").exists() and (after.repo / ".holdfast").exists()


def test_after_its_commit_it_is_finished(place: Place) -> None:
    """What is in the history must not be published a second time."""
    leave(place)
    after = cut_short(place, "post-commit")
    assert after.waits() == set() and after.recover() == FINISHED
    assert not journal(after).exists()
    assert after.waits() == set() and after.status() == ""
    assert after.publish().commit is None
    assert after.facts() == {"changed": "It has changed.", "new": "It is so.", "left": "It is so."}


def test_what_somebody_did_since_stays(place: Place) -> None:
    """A later edit is somebody's work, in the files and in the index."""
    leave(place)
    after = cut_short(place)
    after.repo.write(fact_path("changed"), fact_text("changed", "By hand."))
    after.repo.write(fact_path("new"), fact_text("new", "By hand."))
    after.git("add", fact_path("new"))
    after.repo.write(fact_path("gone"), fact_text("gone", "By hand."))
    assert after.recover() == UNDONE
    for name in ("changed", "new", "gone"):
        assert (after.repo / fact_path(name)).read_text() == fact_text(name, "By hand.")
    assert after.git("show", f":{fact_path('new')}") == fact_text("new", "By hand.").strip()
    assert after.git("diff", "--cached", "--name-only").split() == [fact_path("new")]


def test_what_somebody_committed_since_stays_committed(place: Place) -> None:
    """Half of it is in the history now: that half is not taken out of the files again."""
    leave(place)
    after = cut_short(place)
    after.git("commit", "-q", "-m", "mine", "--", fact_path("new"), fact_path("changed"))
    assert after.recover() == UNDONE
    assert after.status() == ""
    assert after.waits() == {fact_path("gone")}
    assert after.facts() == {"changed": "It has changed.", "new": "It is so.", "left": "It is so."}


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
        "undid an `init --commit` that was cut short; its files are there and not staged; run it again when you like"
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
        said = f"a publish in {side.repo.path} was cut short, and that work tree is gone; nothing was lost"
        assert place.recover() == said
    else:
        assert place.recover() == UNDONE
        assert side.status() == "" and not (side.repo / fact_path("one")).exists()
    assert not journal(place).exists()


def test_a_journal_that_names_no_objects_or_foreign_paths_is_not_followed(place: Place) -> None:
    """It may be damaged or forged: nothing is written or deleted by its word."""
    place.keep("one")
    after = cut_short(place)
    record = json.loads(journal(after).read_text())
    (row,) = record["items"]
    wrong = [{name: 7} for name in ("blob", "head_blob", "index", "there", "change", "path")]
    wrong += [{"path": path} for path in ("README", "../out", ".git/config", ".holdfast/../README", "")]
    wrong += [{"change": row["change"] | {"path": "../out"}}, {"more": 1}]
    before = after.status()
    for damage in wrong:
        journal(after).write_text(json.dumps(record | {"items": [row | damage]}))
        clone = after.open()
        assert publish.resume(clone) is None, damage
        with pytest.raises(PublishRefused, match="cannot be read") as caught:
            publish.publish(clone)
        assert "holdfast doctor --repair" in caught.value.hint
        assert journal(after).exists() and after.status() == before, damage


def test_who_finds_somebody_publishing_leaves_the_journal_to_them(place: Place) -> None:
    """It is no publish that was cut short."""
    place.keep("one")
    after = cut_short(place)
    clone = after.open()
    with fsio.locked(clone.layout.lock):
        assert publish.resume(clone) is None
    assert journal(after).exists()
    assert publish.resume(clone) == UNDONE


def test_the_index_is_written_entry_by_entry(place: Place) -> None:
    """Nothing is asked of git for an empty list, and a path that is not named is not touched."""
    before = index(place)
    publish_journal.write_index(place.open().repo, [])
    assert index(place) == before
    place.repo.write("mine", "mine\n")
    place.git("add", "mine")
    publish_journal.unstage(place.open().repo, ["mine", "README"])
    assert place.status() == "?? mine" and index(place) == before
