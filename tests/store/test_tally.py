"""Counting: cheap, local, and never in anybody's way."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.store import tally
from holdfast.store.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path), str(tmp_path))


def test_what_was_counted_is_told(layout: Layout) -> None:
    """Whoever asks whether sessions are found must get the true number."""
    for name in ("context.branch", "context.none", "context.branch"):
        tally.count(layout, name, now=7)
    assert tally.totals(layout) == {"context.branch": 2, "context.none": 1}
    assert tally.since(layout) == 7
    tally.reset(layout)
    assert (tally.totals(layout), tally.since(layout)) == ({}, None)
    tally.reset(layout)


def test_sixteen_who_count_at_once_lose_nothing(layout: Layout) -> None:
    """Agents work side by side."""
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: tally.count(layout, "context.branch"), range(800)))
    assert tally.totals(layout) == {"context.branch": 800}


def test_a_grown_file_is_folded_and_says_the_same(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Statistics must not grow for ever, nor shrink when they are tidied."""
    monkeypatch.setattr(tally, "LARGEST", 2_000)
    for number in range(500):
        tally.count(layout, f"context.{'branch' if number % 3 else 'none'}", now=100 + number)
    assert tally.totals(layout) == {"context.branch": 333, "context.none": 167}
    assert tally.since(layout) == 100
    assert os.path.getsize(layout.statistics) < 2_100


def test_counting_never_fails_its_caller(layout: Layout, tmp_path: Path) -> None:
    """A full disk or a strange file there must not cost an agent its context."""
    missing = Layout(str(tmp_path), str(tmp_path / "not" / "there"))
    tally.count(missing, "context.branch")
    assert tally.totals(missing) == {}
    tally.count(layout, "no name\nat all")
    os.mkdir(layout.statistics)
    tally.count(layout, "context.branch")
    assert tally.totals(layout) == {}


def test_a_link_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    """Whoever can put a link there must not make us write elsewhere."""
    target = tmp_path / "elsewhere"
    target.write_text("mine\n")
    os.symlink(target, layout.statistics)
    tally.count(layout, "context.branch")
    assert target.read_text() == "mine\n"


def test_damaged_lines_do_not_count(layout: Layout) -> None:
    """A torn line is not somebody's number."""
    bad = (b"\xff\xfe", b"2 context.branch x", b"3", b"-4 context.none", b"5 UPPER")
    lines = (b"1 context.branch", *bad, b"6 context.none 40", b"7 context.no")
    Path(layout.statistics).write_bytes(b"\n".join(lines))
    assert tally.totals(layout) == {"context.branch": 1, "context.none": 40}


def test_it_imports_nothing_heavy() -> None:
    """The quick path counts."""
    code = "import sys; old = set(sys.modules); import holdfast.store.tally; print(*set(sys.modules) - old)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True, text=True)
    assert not {"re", "json", "typing", "contextlib", "dataclasses", "subprocess"} & set(done.stdout.split())
