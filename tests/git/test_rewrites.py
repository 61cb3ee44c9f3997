"""The map of what commits became: kept for good, read from whatever state a crash leaves it in."""

import os
import threading
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.errors import NotStored
from holdfast.git.cited_commits import rewrite_map
from holdfast.git.repo import Repo
from holdfast.store import fsio
from holdfast.store.layout import Layout
from tests.conftest import Quick, make_repo

TS = "2026-11-15T19:42:00.000000Z"
A, B, C, D, E = (letter * 40 for letter in "abcde")


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / "store").mkdir()
    return Layout(str(tmp_path), str(tmp_path / "store"))


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo.at(str(make_repo(tmp_path / "repo").path))


def add(layout: Layout, *pairs: tuple[str, str]) -> None:
    rewrite_map.add(layout, pairs, kind="rebase", ts=TS)


def test_a_chain_of_rewrites_is_followed_to_its_end(layout: Layout) -> None:
    """A branch is rebased every day; yesterday's name leads nowhere."""
    add(layout, (B, C))
    add(layout, (A, B), (C, D))
    assert rewrite_map.follow(layout, A) == D
    assert rewrite_map.follow(layout, C) == D
    assert rewrite_map.follow(layout, D) is None
    assert rewrite_map.follow(layout, E) is None


def test_a_circle_ends(layout: Layout) -> None:
    """An amend that was undone and made again must not hang the next command."""
    add(layout, (A, B), (B, A))
    assert rewrite_map.follow(layout, A) == B
    add(layout, (B, C), (C, B))
    assert rewrite_map.follow(layout, A) in (B, C)


def test_one_may_become_several_and_several_one(layout: Layout, repo: Repo) -> None:
    """Two branches held it and both were rebased; a squash joins what was apart."""
    add(layout, (A, B), (A, C), (D, C))
    found = rewrite_map.trails([layout], repo, {A, D, E})
    assert found[A].names == [B, C]
    assert found[A].joined == found[D].joined == {C}
    assert found[D].names == [C]
    assert E not in found
    assert rewrite_map.follow(layout, A) == C


def test_a_torn_line_costs_itself_alone(layout: Layout) -> None:
    """A writer was killed: what it had not finished does not count, what comes after does."""
    add(layout, (A, B))
    with open(layout.rewrites, "ab") as file:
        file.write(f"{C} {D[:30]}".encode())
    assert rewrite_map.follow(layout, C) is None
    add(layout, (B, C))
    assert rewrite_map.follow(layout, A) == C
    assert rewrite_map.follow(layout, C) is None


@pytest.mark.parametrize("junk", [b"\0" * 5000, b"x" * 300_000, b"\xff\n" * 100, b"\n\n"])
def test_junk_in_the_map_is_passed_over(layout: Layout, junk: bytes) -> None:
    """A damaged disk must not take the sound lines with it."""
    add(layout, (A, B))
    with open(layout.rewrites, "ab") as file:
        file.write(junk)
    add(layout, (B, C))
    assert rewrite_map.follow(layout, A) == C


def test_what_is_no_pair_of_commits_is_not_kept(layout: Layout) -> None:
    """A line of nonsense in the map would be read for ever."""
    add(layout, (A, A), ("HEAD", B), (A, "x\ny"), (A[:39], B))
    assert not os.path.exists(layout.rewrites)
    rewrite_map.add(layout, [(A, B)], kind="Rebase -i\n", ts=TS)
    rewrite_map.add(layout, [(B, C)], kind="42", ts=TS)
    assert rewrite_map.follow(layout, A) == C
    with open(layout.rewrites, encoding="ascii") as file:
        assert file.read() == f"{A} {B} rebase-i {TS}\n{B} {C} rewrite {TS}\n"


def test_a_pair_is_on_the_disk_before_anybody_is_told(layout: Layout) -> None:
    """Git says it once; after a power cut nobody could ask again."""
    done: list[str] = []

    class Noting(Quick):
        def sync_data(self, fd: int) -> None:  # noqa: ARG002
            done.append("data")

        def sync_dir(self, path: str) -> None:
            done.append(os.path.basename(path))

    before, fsio.ops = fsio.ops, Noting()
    try:
        add(layout, (A, B))
    finally:
        fsio.ops = before
    assert done == ["data", "store"]


def test_two_hooks_at_once_write_one_after_the_other(layout: Layout) -> None:
    """Halves of two lines glued together are two commits that lead nowhere."""
    add(layout, (A, B))
    with open(layout.rewrites, "rb") as held:
        assert fsio.try_lock_fd(held.fileno())
        second = threading.Thread(target=add, args=(layout, (B, C)))
        second.start()
        second.join(0.05)
        assert second.is_alive() and rewrite_map.follow(layout, A) == B
    second.join()
    assert rewrite_map.follow(layout, A) == C


def test_a_refused_write_leaves_the_map_as_it_was(layout: Layout) -> None:
    """Half a map is believed like a whole one."""

    class Full(Quick):
        def sync_data(self, fd: int) -> None:  # noqa: ARG002
            raise OSError(28, "no space left")

    add(layout, (A, B))
    before, fsio.ops = fsio.ops, Full()
    try:
        with pytest.raises(NotStored):
            add(layout, (B, C))
    finally:
        fsio.ops = before
    assert rewrite_map.follow(layout, A) == B


def test_a_link_in_the_place_of_the_map_is_left_out_and_said(layout: Layout, tmp_path: Path) -> None:
    """The store must not lead elsewhere."""
    (tmp_path / "other").write_text(f"{A} {B} rebase {TS}\n")
    os.symlink(tmp_path / "other", layout.rewrites)
    assert rewrite_map.follow(layout, A) is None
    assert any("not a regular file" in note for note in layout.notes)


def test_filter_repo_leaves_a_map_of_its_own(layout: Layout, repo: Repo) -> None:
    """It rewrites everything at once and calls no hook; zeros stand for a commit that is no more."""
    os.mkdir(os.path.join(repo.common_dir, "filter-repo"))
    with open(os.path.join(repo.common_dir, "filter-repo", "commit-map"), "wb") as file:
        file.write(f"old                                      new\r\n{B} {C}\r\n{D} {'0' * 40}\n{E} {E}\n".encode())
    add(layout, (A, B))
    found = rewrite_map.trails([layout], repo, {A, D, E})
    assert found[A].names == [B, C]
    assert found[A].how == {B: "map", C: "filter-repo"}
    assert found[D].dropped
    assert found[D].names == []
    assert E not in found


def test_a_long_map_is_followed_in_two_readings(layout: Layout) -> None:
    """A year of rebases is read at once, and only what leads on is held."""
    row = [f"{number:040x}" for number in range(1, 900)]
    noise = [(f"{number:040x}", f"{number + 1:040x}") for number in range(10**6, 10**6 + 4000, 2)]
    add(layout, *pairwise(row), *noise)
    assert rewrite_map.follow(layout, row[0]) == row[-1]
