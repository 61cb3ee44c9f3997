"""What differs between two runs."""

import json

import pytest

from holdfast.diagnostics.run_diff import diff
from holdfast.errors import NotFound
from holdfast.git.erase import erase
from holdfast.model.event import EventDraft
from holdfast.store.capsule import Capsule


def run(sample, number: int, outputs: dict[str, bytes], *, task="demo", status=0, **more) -> str:
    name = f"20261115T12000{number}Z-abc123"
    capsule = Capsule.create(sample.clone.layout, name, {"command": ["true"]})
    for path, data in outputs.items():
        capsule.add(f"outputs/{path}", data)
    body = {"task": task, "output_sha256": capsule.seal(), **more}
    event = sample.clone.record(EventDraft("run", target=name, run_id=name, exit_status=status, body=body))
    capsule.close(sample.clone.joined(event))
    return name


def test_text_is_compared_by_line_and_the_rest_by_hash(sample):
    """A wall of bytes helps nobody; a hash says at least that it changed."""
    before = {"stdout": b"one\ntwo\n", "image.png": b"\x00\x01", "old": b"x", "same": b"s"}
    after = {"stdout": b"one\n2\n", "image.png": b"\x00\x02", "new": b"y", "same": b"s"}
    first = run(sample, 1, before)
    second = run(sample, 2, after, status=1)

    found = diff(sample.clone, second)

    assert (found.before.run_id, found.after.run_id) == (first, second)
    assert (found.before.exit_status, found.after.exit_status) == (0, 1)
    assert [(c.path, c.kind) for c in found.changes] == [
        ("image.png", "binary"),
        ("new", "added"),
        ("old", "removed"),
        ("stdout", "text"),
    ]
    assert found.changes[0].before != found.changes[0].after
    assert [line for line in found.changes[3].lines if line[0] in "+-"][2:] == ["-two", "+2"]
    assert not found.same


def test_equal_runs_are_the_same(sample):
    """A clean result must be said as such."""
    run(sample, 1, {"stdout": b"one\n"})
    second = run(sample, 2, {"stdout": b"one\n"})

    assert diff(sample.clone, second).same


def test_latest_is_the_newest_earlier_run_of_the_same_task(sample):
    """Comparing with another task's run would mislead."""
    run(sample, 1, {"stdout": b"a"})
    second = run(sample, 2, {"stdout": b"b"})
    run(sample, 3, {"stdout": b"c"}, task="other")
    fourth = run(sample, 4, {"stdout": b"d"})
    run(sample, 5, {"stdout": b"e"})

    assert diff(sample.clone, fourth).before.run_id == second


def test_a_named_run_may_be_of_any_task(sample):
    """Who names a run means it."""
    first = run(sample, 1, {"stdout": b"a"}, task="other")
    second = run(sample, 2, {"stdout": b"b"})

    assert diff(sample.clone, second, first).before.task == "other"


def test_files_kept_only_as_hashes_are_compared_too(sample):
    """Large files are not copied into capsules, but they do change."""
    kept = {"path": "big.bin", "size": 9, "stored": False, "shared": False}
    run(sample, 1, {}, artifacts=[{**kept, "sha256": "a" * 64}])
    second = run(sample, 2, {}, artifacts=[{**kept, "sha256": "b" * 64}])

    assert [(c.path, c.kind) for c in diff(sample.clone, second).changes] == [("big.bin", "binary")]


def test_a_produced_file_is_named_once_by_its_path(sample):
    """The same change told twice reads like two changes."""
    made = {"path": "src/a.py", "size": 4, "stored": True, "shared": False}
    listed = [{**made, "sha256": "a" * 64}]
    before = {"files.json": json.dumps(listed).encode(), "files/src/a.py": b"one\n"}
    run(sample, 1, before, artifacts=listed)
    second = run(sample, 2, {"files.json": b"[]", "files/src/a.py": b"two\n", "files/stdout": b""})

    found = diff(sample.clone, second)

    assert [(c.path, c.kind) for c in found.changes] == [("./stdout", "added"), ("src/a.py", "text")]


def test_a_missing_last_newline_is_a_difference_one_can_see(sample):
    """An empty difference between two different files would look like a mistake of ours."""
    run(sample, 1, {"stdout": b"one\n"})
    second = run(sample, 2, {"stdout": b"one"})

    assert "+\\ No newline at end of file" in diff(sample.clone, second).changes[0].lines


def test_an_erased_run_says_so(sample):
    """An empty difference would claim that nothing changed."""
    first = run(sample, 1, {"stdout": b"a"})
    second = run(sample, 2, {"stdout": b"b"})
    erase(sample.clone, "run", first)

    found = diff(sample.open(), second, first)

    assert (found.before.state, found.comparable, found.changes) == ("erased", False, ())


def test_a_run_of_another_clone_is_private(sample, tmp_path):
    """Its outputs never left the clone that made them."""
    from holdfast.git.clone import Clone

    first, second = run(sample, 1, {"stdout": b"a"}), run(sample, 2, {"stdout": b"b"})
    sample.publish()
    sample.repo.git("clone", "-q", str(sample.repo.path), str(tmp_path / "other"))
    clone = Clone.open(str(tmp_path / "other"), cache=str(tmp_path / "cache"))

    found = diff(clone, second, first)

    assert (found.before.state, found.after.state) == ("private", "private")


def test_without_an_earlier_run_there_is_nothing_to_compare(sample):
    """The first run of a task has no past."""
    first = run(sample, 1, {"stdout": b"a"})

    with pytest.raises(NotFound, match="no earlier run of task demo"):
        diff(sample.clone, first)
    with pytest.raises(NotFound, match="no run nowhere"):
        diff(sample.clone, "nowhere")
