"""What an agent is told before an edit: it speaks only while everything it stands on stands."""

import os
from pathlib import Path

import pytest

from holdfast.index.freshness import WorkTreePaths as Where
from holdfast.recall import guards
from holdfast.recall.guards import GuardFile, MemoryGuard
from holdfast.store.layout import Layout
from tests.git.place import Place

NOW = "2031-06-01T00:00:00.000000Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place.make(tmp_path / "repo")
    made.repo.commit("src/a.py", "a\n")
    made.open()
    return made


def where(place: Place) -> tuple[Where, Layout]:
    repo = place.open().repo
    return Where(repo.top, repo.git_dir, repo.common_dir), place.open().layout


def tree(place: Place) -> str:
    return place.git("rev-parse", "HEAD:.holdfast")


def rule(place: Place, name: str = "INV-a", kind: str = "invariant", **more: object) -> MemoryGuard:
    fact = guards.facts_of(str(place.repo.path), "src/a.py")
    given = {"places": ["src/"], "words": ["pool", "retry"], "rests_on": [fact], **more}
    return MemoryGuard(name, kind, f"{name} holds", **given)  # type: ignore[arg-type]


def write(place: Place, *there: MemoryGuard) -> None:
    at, layout = where(place)
    ground = guards.standing(at, layout, lambda: tree(place))
    assert ground is not None
    os.makedirs(layout.guards, exist_ok=True)
    Path(guards.file_of(at, layout)).write_bytes(guards.render(ground, there))


def read(place: Place, now: str = NOW) -> GuardFile:
    return GuardFile(*where(place), now, lambda: tree(place))


def test_what_was_written_is_read_back_by_kind_word_and_name(place: Place) -> None:
    """An agent's prompt asks by words, its edit by path, its citation by name."""
    write(place, rule(place), rule(place, "FCT-b", "fact", words=["pool", "port"]), rule(place, "DE-c", "dead-end"))
    found = read(place)
    assert found.is_current
    assert [one.id for one in found.guarding()] == ["DE-c", "INV-a"]
    assert {one.id for one in found.every()} == {"DE-c", "INV-a", "FCT-b"}
    about = found.about(["pool", "port", "none", "ool"])
    assert {name: words for name, (_, words) in about.items()} == {
        "DE-c": ["pool"],
        "INV-a": ["pool"],
        "FCT-b": ["pool", "port"],
    }
    named = found.named("FCT-b")
    assert named is not None and (named.id, named.type, named.text) == ("FCT-b", "fact", "FCT-b holds")
    assert found.named("FCT") is None and found.named("INV-a2") is None
    first = found.named("DE-c")
    assert first is not None and first.words == ("pool", "retry")


def test_one_whose_ground_was_touched_or_whose_time_is_over_keeps_silent(place: Place) -> None:
    """What was true of another file is not told."""
    write(place, rule(place, until="2031-06-02"), rule(place, "INV-b", until=NOW), rule(place, "INV-c", until=""))
    found = read(place)
    assert [found.stands(one) for one in found.guarding()] == [True, False, True]
    place.repo.write("src/a.py", "b!\n")
    assert [found.stands(one) for one in found.guarding()] == [False, False, False]
    missing = rule(place, rests_on=["- src/none.py"])
    assert found.stands(missing)
    place.repo.write("src/none.py", "x")
    assert not found.stands(missing)
    assert found.stands(rule(place, rests_on=[]))


def test_commits_that_change_no_memory_leave_it_current(place: Place) -> None:
    """An agent that commits often must not lose its rules at the first commit."""
    write(place, rule(place))
    place.repo.commit("src/b.py")
    assert read(place).is_current
    place.repo.commit("src/c.py")
    assert read(place).is_current
    at, layout = where(place)
    assert not GuardFile(at, layout, NOW, lambda: "another tree").is_current
    assert not GuardFile(at, layout, NOW).is_current, "nobody can tell what memory is in the commit"


@pytest.mark.parametrize("move", ["amend", "reset", "switch", "config", "erase", "pending"])
def test_whatever_else_moves_silences_it(place: Place, move: str) -> None:
    """Better no word than one that does not hold."""
    place.repo.commit("src/b.py")
    write(place, rule(place))
    assert read(place).is_current
    if move == "amend":
        place.git("commit", "-q", "--amend", "-m", "other")
    elif move == "reset":
        place.git("reset", "-q", "--hard", "HEAD~1")
    elif move == "switch":
        place.git("switch", "-q", "-c", "other")
    elif move == "config":
        place.git("config", "user.name", "Somebody Else")
    elif move == "erase":
        Path(place.open().layout.erased).mkdir(exist_ok=True)
        Path(place.open().layout.erased, "INV-a").write_text("{}")
    else:
        place.keep("ONE")
    assert not read(place).is_current


@pytest.mark.parametrize("damage", ["", "junk\n", "holdfast-guards\t1\tx\ty\tz\t1\t2\n", "head"])
def test_a_damaged_file_says_nothing(place: Place, damage: str) -> None:
    """Another version wrote it, or a disk did."""
    write(place, rule(place))
    path = Path(guards.file_of(*where(place)))
    if damage == "head":
        head, _, rest = path.read_text().partition("\n")
        damage = head.rpartition("\t")[0] + "\n" + rest
    path.write_text(damage)
    assert not read(place).is_current
    path.unlink()
    assert not read(place).is_current and list(read(place).every()) == []


def test_each_work_tree_has_a_file_of_its_own(place: Place, tmp_path: Path) -> None:
    """They stand at different commits."""
    at, _ = where(place)
    assert guards.name_of(at) == "main"
    place.git("worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    other = place.at(tmp_path / "side").open().repo
    assert guards.name_of(Where(other.top, other.git_dir, other.common_dir)) == "tree-side"


def test_nothing_is_written_while_something_waits_to_be_finished(place: Place) -> None:
    """The next command may change what stands."""
    at, layout = where(place)
    assert guards.standing(at, layout, lambda: None) is not None
    Path(layout.erasing).write_text("{}")
    assert guards.standing(at, layout, lambda: None) is None
