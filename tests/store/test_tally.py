"""Counting: cheap, local, and never in anybody's way."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.store import statistics, tally
from holdfast.store.layout import Layout


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(str(tmp_path), str(tmp_path))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has soon grown, and nobody else writes."""
    monkeypatch.setattr(tally, "LARGEST", 500)
    monkeypatch.setattr(tally, "AT_REST", 0)


def test_what_was_counted_is_told(layout: Layout) -> None:
    """Whoever asks whether sessions are found must get the true number."""
    for name in ("context.branch", "context.none", "context.branch"):
        tally.count(layout, name, now=7)
    assert tally.totals(layout) == {"context.branch": 2, "context.none": 1}
    assert tally.since(layout) == 7
    tally.reset(layout)
    assert (tally.totals(layout), tally.since(layout)) == ({}, None)
    tally.reset(layout)


def test_those_who_count_at_once_lose_nothing_while_it_is_folded(layout: Layout) -> None:
    """Agents work side by side, and one of them tidies up meanwhile."""
    code = (
        "import sys; from holdfast.store import tally; from holdfast.store.layout import Layout\n"
        "tally.LARGEST = 4_000\n"
        "here = Layout(sys.argv[1], sys.argv[1])\n"
        "for n in range(300): tally.count(here, 'context.branch')\n"
        "for n in range(50): tally.recalled_now(here, [('FCT-1', 'fact', None)], 7)\n"
    )
    folder = os.path.dirname(layout.statistics)
    for turn in (1, 2, 3):
        those = [subprocess.Popen([sys.executable, "-c", code, folder]) for _ in range(4)]
        assert [one.wait() for one in those] == [0] * 4
        found = tally.totals(layout)
        assert (found["context.branch"], found["recall.asked"]) == (turn * 1200, turn * 200)
        assert (found["recalled.fct-1"], found["recall.microseconds"]) == (turn * 200, turn * 1400)
        os.utime(f"{layout.statistics}.old", (7, 7))  # some time passes
    assert os.path.exists(f"{layout.statistics}.sums")


@pytest.mark.usefixtures("small")
def test_a_grown_file_is_folded_and_says_the_same(layout: Layout) -> None:
    """Statistics must not grow for ever, nor shrink when they are tidied."""
    for number in range(500):
        tally.count(layout, f"context.{'branch' if number % 3 else 'none'}", now=100 + number)
        if number % 5 == 0:
            tally.recalled_now(layout, [("DEC-1", "decision", "superseded")], 3, now=100 + number)
            tally.count_context(layout, tally.telling("paths", tokens=9, memories=["DEC-1"]), 1)
            tally.modelled(layout, "embed", calls=1, texts=20, microseconds=5)
    assert os.path.getsize(layout.statistics) < 700
    assert tally.since(layout) == 100
    model, recall = (("calls", 100), ("microseconds", 500), ("texts", 2000)), (("asked", 100), ("hits", 100))
    expected = {"context.branch": 333, "context.none": 167, "context.paths": 100, "given.dec-1": 100}
    expected |= {f"model.embed.{name}": number for name, number in model}
    expected |= {f"recall.{name}": number for name, number in recall}
    expected |= {"recall.microseconds": 300, "recalled.dec-1": 100}
    assert tally.totals(layout) == expected | {"told.microseconds": 100, "tokens.paths": 900}


@pytest.mark.usefixtures("small")
def test_whoever_is_killed_while_folding_counts_nothing_twice(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the sums and the renaming there is a moment."""
    for _ in range(40):
        tally.count(layout, "context.branch")
    old, sums = (Path(f"{layout.statistics}{end}") for end in (".old", ".sums"))
    kept, replaced = old.read_bytes(), os.replace

    def killed(source: str, target: str) -> None:
        if target.endswith(".old"):
            raise OSError("killed")
        replaced(source, target)

    before = tally.totals(layout)["context.branch"]
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        while not sums.exists() or b"folded" not in sums.read_bytes():
            tally.count(layout, "context.branch")
            before += 1
    assert old.read_bytes() == kept, "it is in the sums, and still there"
    assert tally.totals(layout)["context.branch"] == before
    for _ in range(100):
        tally.count(layout, "context.branch")
    assert tally.totals(layout)["context.branch"] == before + 100


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


HOSTILE = (
    b"1 ask 5 1 0 abc fct-1 more",
    b"1 ask 5 1 0 word fct-1",
    b"1 ask 5 1 0 abc,xyz fct-1",
    b"1 ask -5 1 0 abc fct-1",
    b"1 ask 5 1 9999999999999999999999 abc fct-1",
    b"1 ask 5 \xc2\xb2 0 abc fct-1",
    b"1 told 5 5 ../../etc - fct-1",
    b"1 told 5 5 branch - fct-1 " + b"x" * 100_000,
    b"1 told 5 5 " + b"b" * 100 + b" - -",
    b"1 model 5 5 5 ../x",
    b"1 model 5 5",
    b"\0" * 5000,
    "1 ask 5 1 0 äöü fct-1".encode(),
)


def test_hostile_lines_neither_count_nor_crash(layout: Layout, seed: int) -> None:
    """The file lies where any program of the user can write."""
    Path(layout.statistics).write_bytes(b"\n".join((*HOSTILE, b"1 ask 5 1 0 abc fct-1,<b>,\x1b[2J,fct-2", b"")))
    found = tally.totals(layout)
    assert set(found) <= {"recall.asked", "recall.hits", "recall.microseconds", "recalled.fct-1", "recalled.fct-2"}
    assert [one.memories for one in statistics.read(layout).asked] == [("fct-1", "fct-2")]
    chance = random.Random(seed)
    noise = bytes(chance.choice(b"0123456789 ask told model-,.abc\n\xff\0") for _ in range(20_000))
    for end in ("", ".old", ".sums", ".used", ".key"):
        Path(f"{layout.statistics}{end}").write_bytes(noise)
    tally.recalled_now(layout, [("FCT-1", "fact", None)], 5)
    tally.totals(layout), tally.since(layout), statistics.read(layout), statistics.uses(layout)


@pytest.mark.usefixtures("small")
def test_what_is_erased_is_taken_out(layout: Layout) -> None:
    """An id that was erased is named nowhere any more."""
    for _ in range(30):
        tally.recalled_now(layout, [("FCT-1", "fact", None), ("FCT-12", "fact", None)], 5)
    tally.count(layout, "looked.fct-1", "looked.fct-12")
    uses = [statistics.MemoryUse(5, "cited", "fct-12", "fct-1"), statistics.MemoryUse(6, "cited", "tsk-1", "fct-12")]
    statistics.keep_uses(layout, uses, now=7)
    assert statistics.erase(layout, "FCT-1") == ["statistics of FCT-1"]
    assert statistics.erase(layout, "FCT-1") == []
    found = tally.totals(layout)
    assert (found["recall.asked"], found["recalled.fct-12"], found["looked.fct-12"]) == (30, 30, 1)
    assert not [name for name in found if name.endswith(".fct-1")]
    assert statistics.times_used(layout) == {"fct-12": (1, 6)}


def test_a_use_is_kept_once(layout: Layout) -> None:
    """Looking twice must not make a memory twice as useful."""
    use = statistics.MemoryUse(5, "cited", "tsk-1", "fct-1")
    assert statistics.keep_uses(layout, [use], now=7) == [use]
    written = os.stat(layout.uses).st_mtime_ns
    assert statistics.keep_uses(layout, [use, statistics.MemoryUse(9, "cited", "tsk-1", "fct-1")], now=10) == [use]
    assert os.stat(layout.uses).st_mtime_ns == written, "the index would be brought up to date for nothing"
    assert (statistics.times_used(layout), statistics.reckoned(layout)) == ({"fct-1": (1, 5)}, 7)


@pytest.mark.usefixtures("small")
def test_a_reset_leaves_nothing(layout: Layout, tmp_path: Path) -> None:
    """Whoever says so begins anew."""
    for _ in range(60):
        tally.recalled_now(layout, [], 5)
    statistics.keep_uses(layout, [statistics.MemoryUse(5, "cited", "tsk-1", "fct-1")], now=7)
    tally.reset(layout)
    assert [path.name for path in tmp_path.iterdir()] == ["statistics.lock"]
    assert tally.totals(layout) == {}


def test_it_imports_nothing_heavy() -> None:
    """The quick path counts."""
    code = "import sys; old = set(sys.modules); import holdfast.store.tally; print(*set(sys.modules) - old)"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True, text=True)
    assert not {"re", "json", "typing", "contextlib", "dataclasses", "subprocess"} & set(done.stdout.split())
