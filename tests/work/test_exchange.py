"""Tasks out and in again: nothing is lost, nothing half-read, and a refusal says where."""

import json
import string
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.errors import BadInput, Cycle, TooLarge
from holdfast.git.clone import Clone
from holdfast.model.ids import is_id
from holdfast.model.task import KINDS, STATUSES, Checkpoint, Link, Task
from holdfast.store import task_files as files
from holdfast.values import replace
from holdfast.work import task_board, task_json
from holdfast.work.task_json import TaskPlan
from tests.git.place import Place
from tests.security.fakes import ISSUED

FAKE_KEY = ISSUED["github"][0]
OID = "0123456789abcdef" * 2 + "01234567"
NAMES = [f"TSK-{letter}" for letter in "abcdef"]
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=30)
LINES = WORDS.map(lambda text: " ".join("".join(c for c in text if c.isprintable()).split())).filter(bool)
EXTRA = st.lists(
    st.tuples(st.text(string.ascii_lowercase + "_", min_size=1, max_size=8), LINES),
    max_size=3,
    unique_by=lambda pair: pair[0],
)


@st.composite
def tasks(draw: st.DrawFn) -> list[Task]:
    """Tasks with every field filled somehow, and no cycle among them."""
    return [draw(_task(name, NAMES[:place])) for place, name in enumerate(NAMES[: draw(st.integers(1, 6))])]


@st.composite
def _task(draw: st.DrawFn, name: str, earlier: list[str]) -> Task:
    known = st.sampled_from([*earlier, "TSK-elsewhere"])
    extra = tuple(_line(name, text) for name, text in draw(EXTRA) if f"{name}:" and name not in _KNOWN)
    try:
        return Task(
            id=name,
            title=draw(LINES),
            kind=draw(st.sampled_from(KINDS)),
            status=draw(st.sampled_from(STATUSES)),
            needs=tuple(draw(st.lists(known, max_size=3, unique=True))),
            owner=draw(st.none() | LINES),
            priority=draw(st.integers(0, 4)),
            layer=draw(st.none() | st.just("L5")),
            systemic_scale=draw(st.none() | st.integers(0, 9)),
            impact=draw(st.none() | LINES),
            evidence=tuple(draw(st.lists(st.sampled_from([f"commit:{OID}", "run:r-1"]), unique=True))),
            acceptance=tuple(draw(st.lists(LINES, max_size=2, unique=True))),
            checkpoint=draw(st.none() | st.just(Checkpoint(commit=OID, tree=OID, patch_id=OID))),
            reason=draw(st.none() | LINES),
            notes=draw(st.just("") | WORDS).strip("\n"),
            extra=extra,
        )
    except BadInput:  # something hidden in a line: such a task cannot be made
        assume(False)
        raise


_KNOWN = {*task_json.FIELDS, *task_json.LINK_FIELDS}


def _line(name: str, text: str) -> tuple[str, str]:
    return name, task_json._raw(name, text)


LINKS = [
    Link(id="LNK-a", title="Plan", target="docs/plan.md", kind="path", notes="read\n\nfirst"),
    Link(id="LNK-b", title="Site", target="https://example.org/?a=b", kind="url", extra=(("seen", "seen: 3"),)),
    Link(id="LNK-c", title="Release", target=OID, kind="commit"),
]


@given(found=tasks())
def test_what_goes_out_comes_back_the_same_and_fits_into_files(found: list[Task]) -> None:
    """Whoever moves a plan to another project must find every field there, and be able to store it."""
    plan = task_json.TaskPlan(tuple(found), tuple(LINKS))
    assert task_json.from_text(task_json.to_json(found, LINKS)) == plan
    assert task_json.from_text(task_json.to_jsonl(found, LINKS)) == plan
    assert task_json.from_text(json.dumps([task_json.as_object(node) for node in (*found, *LINKS)])) == plan
    assert task_json.from_text(task_json.to_jsonl(found, LINKS).replace("\n", "\r\n\r\n")) == plan
    assert task_json.from_text("\ufeff" + task_json.to_json(found, LINKS)) == plan
    assert [files.parse(files.render(task), "x.md") for task in found] == found


def test_every_field_is_written() -> None:
    """A field that is forgotten here is lost in the next project."""
    fields = set(Task.__slots__)
    assert set(task_json.as_object(Task(id="TSK-a", title="t"))) == fields
    assert set(task_json.as_object(LINKS[0])) == set(Link.__slots__)


def test_unknown_fields_are_kept_if_they_are_plain() -> None:
    """Somebody else's tool may keep more than we know."""
    record = {
        "id": "TSK-a",
        "title": "t",
        "estimate": 3,
        "half": 0.5,
        "urgent": True,
        "nothing": None,
        "said": "yes: no # really",
        "tags": ["a", "b c"],
    }
    [task] = task_json.from_text(json.dumps(record)).tasks
    assert dict(task.extra) == {
        "estimate": "estimate: 3",
        "half": "half: 0.5",
        "urgent": "urgent: true",
        "nothing": "nothing: null",
        "said": 'said: "yes: no # really"',
        "tags": 'tags: [a, "b c"]',
    }
    assert files.parse(files.render(task), "x.md") == task


def test_little_is_enough() -> None:
    """A plan typed by hand has titles and not much more."""
    text = '{"title": "one"}\n{"title": "two", "needs": null, "priority": 0}\n{"target": "https://example.org"}\n'
    plan = task_json.from_text(text, fresh=lambda prefix, taken: f"{prefix}-{len(taken)}")
    assert [(task.id, task.title, task.priority) for task in plan.tasks] == [("TSK-0", "one", 2), ("TSK-1", "two", 0)]
    assert plan.links == (Link(id="LNK-2", title="https://example.org", target="https://example.org", kind="url"),)
    [task] = task_json.from_text('{\n "id": "TSK-a",\n "title": "alone"\n}').tasks
    assert task.title == "alone"


GOOD = '{"id": "TSK-a", "title": "a"}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing in it"),
        (" \n\t\n", "nothing in it"),
        ("7", "line 1: it holds no tasks"),
        ("null", "line 1: it holds no tasks"),
        ("[1]", "record 1: it is not an object"),
        (f"{GOOD}\n\n{{", "line 3: it is not JSON"),
        (f"{GOOD}\n{GOOD}", "line 2: TSK-a is in it twice"),
        (f"[{GOOD},\n{GOOD}]", "record 2: TSK-a is in it twice"),
        (f"{GOOD}\n[]", "line 2: it is not an object"),
        (f'[\n{GOOD},\n{{"id": "TSK-b", "title": "b", "kind": "dog"}}]', "record 2: kind 'dog' is not one of"),
        ('{"tasks": [],\n"links": [\n\n{"id": "L-a", "kind": "url", "target": "n"}]}', "link 1: target 'n'"),
        ('{"tasks": {}}', "line 1: tasks must be a list"),
        ('{"tasks": [], "tasks": []}', "line 1: tasks stands in it twice"),
        ('{"version": 2, "tasks": []}', "version 2 is not one that this Holdfast reads"),
        ('{"id": "TSK-a"}', "record 1: it has no title"),
        ('{"title": "a"}', "record 1: it has no id"),
        ('{"id": "TSK-a", "id": "TSK-b", "title": "a"}', "id stands in it twice"),
        ('{"id": "TSK-a", "title": "a", "priority": 2.0}', "priority 2.0 is not a number"),
        ('{"id": "TSK-a", "title": "a", "priority": true}', "priority True is not a number"),
        ('{"id": "TSK-a", "title": "a", "systemic_scale": 1e999}', "systemic_scale inf is not"),
        ('{"id": "TSK-a", "title": "a", "needs": "TSK-b"}', "needs must be a list"),
        ('{"id": "TSK-a", "title": "a", "needs": [3]}', "needs must be a list"),
        ('{"id": "TSK-a", "title": "a", "checkpoint": ["HEAD"]}', "checkpoint must be"),
        ('{"id": "TSK-a", "title": "a", "checkpoint": {"commit": "HEAD"}}', "checkpoint does not name"),
        ('{"id": "TSK-a", "title": "a", "more": {"deep": 1}}', "more is nested"),
        ('{"id": "TSK-a", "title": "a", "more": [[1]]}', "more is nested"),
        ('{"id": "TSK-a", "title": "a", "more": NaN}', "more is not known, and not plain enough"),
        ('{"id": "TSK-a", "title": "a", "a b": 1}', "a b is not known, and not plain enough"),
        ('{"id": "TSK-a", "title": "a", "extra": {"x": "y: 1"}}', "extra: x is not a line"),
        ('{"id": "TSK-a", "title": "a", "extra": {"x": "x: 1\\nstatus: done"}}', "extra: x is not a line"),
        ('{"id": "TSK-a", "title": "a", "extra": {"status": "status: done"}}', "extra: status is not a line"),
        ('{"id": "TSK-a", "title": "a", "extra": {"x": "x: 1"}, "x": 1}', "x stands in it twice"),
        ('{"id": "TSK-a", "title": "a", "extra": [1]}', "extra must be an object"),
        ('{"id": "TSK-a", "title": "a", "notes": "\\ud800"}', "notes holds half a character"),
        ('{"id": "TSK-a", "title": "a\\nb"}', "title must be one line"),
        ('{"id": "../a", "title": "a"}', "is not an id"),
        ('{"id": "LNK-a", "target": 3}', "target must be text"),
        ("[" * 100_000, "nested too deeply"),
        ('{"id": "TSK-a", "title": ' + "[" * 500 + "]" * 500 + "}", "title is nested"),
        ('{"id": "TSK-a", "title": "a", "priority": ' + "9" * 10_000 + "}", "priority inf is not"),
        ('{"id": "' + "x" * 10_000 + '", "title": "a"}', "…"),
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_refused_with_line_and_reason(text: str, said: str) -> None:
    """A plan of a thousand lines with one wrong word must not be a riddle."""
    with pytest.raises(BadInput) as refused:
        task_json.from_text(text)
    assert said in str(refused.value)
    assert len(str(refused.value)) < 400


def test_a_cycle_is_refused_and_shown() -> None:
    """It would hold up everything behind it for ever."""
    records = [{"id": f"TSK-{n}", "title": "t", "needs": [f"TSK-{(n + 1) % 3}"]} for n in range(3)]
    with pytest.raises(Cycle, match="record 1: that is a cycle: TSK-0 → TSK-1 → TSK-2 → TSK-0"):
        task_json.from_text("[\n" + ",\n".join(map(json.dumps, records)) + "]")
    long = [{"id": f"TSK-{n}", "title": "t", "needs": [f"TSK-{(n + 1) % 500}"]} for n in range(500)]
    with pytest.raises(Cycle) as refused:
        task_json.from_text(json.dumps(long))
    assert len(str(refused.value)) < 400


def test_too_much_is_refused_before_it_is_read() -> None:
    """A wrong file of gigabytes must not take the machine with it."""
    with pytest.raises(TooLarge, match="67,108,864 bytes"):
        task_json.from_text(" " * (task_json.MAX_TEXT + 1))


# Onto the board.


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Place.make(tmp_path / "project").open()


def test_an_import_is_on_the_board_and_in_the_log(clone: Clone) -> None:
    """What was brought in is work like any other."""
    text = task_json.to_json([Task(id="TSK-a", title="a", needs=("TSK-z",)), Task(id="b", title="b")], LINKS[1:])
    new = task_json.bring(clone, text).tasks
    assert [task.id for task in new] == ["TSK-a", "b"]
    assert task_board.read(clone).tasks == list(new)
    assert {link for link, _ in task_board.links(clone)[0].values()} == set(LINKS[1:])
    told = [clone.joined(event) for event in clone.events() if event.kind == "task"]
    assert [(row["target"], row["statement"]) for row in told] == [
        ("TSK-a", "a"), ("b", "b"), ("LNK-b", "Site"), ("LNK-c", "Release"),
    ]  # fmt: skip
    assert any("TSK-z" in note for note in clone.notes)


def test_an_import_goes_into_the_file_that_another_branch_has(tmp_path: Path) -> None:
    """Two files of one id would both be there after a merge, and one of them would be left out."""
    place = Place.make(tmp_path / "project")
    place.git("switch", "-q", "-c", "one")
    task_json.bring(place.open(), task_json.to_json([Task(id="a-1", title="Its first name")], LINKS[1:2]))
    place.publish()
    place.git("switch", "-q", "-c", "two", "main")
    again = [Task(id="a-1", title="Its second name")]
    task_json.bring(place.open(), task_json.to_json(again, [replace(LINKS[1], title="Other")]))
    place.publish()

    names = [place.git("ls-tree", "-r", "--name-only", branch, ".holdfast/") for branch in ("one", "two")]
    ours = [{n for n in listed.split() if "/tasks/" in n or "/links/" in n} for listed in names]
    assert ours[0] == ours[1]
    assert len(ours[0]) == 2


def test_an_import_can_be_repeated(clone: Clone) -> None:
    """Whoever was cut off half-way does it again."""
    text = task_json.to_json([Task(id="TSK-a", title="a")], LINKS)
    task_json.bring(clone, text)
    assert task_json.bring(clone, text) == TaskPlan(())
    more = task_json.to_json([Task(id="TSK-a", title="a"), Task(id="TSK-b", title="b")])
    assert [task.id for task in task_json.bring(clone, more).tasks] == ["TSK-b"]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ([{"id": "TSK-a", "title": "other"}], "TSK-a is here already, with another content"),
        ([{"id": "tsk-A", "title": "a"}], "tsk-A differs only in case from TSK-a"),
        ([{"id": "b", "title": "b"}, {"id": "B", "title": "b"}], "B differs only in case from b"),
        ([{"id": "TSK-n", "title": "n", "needs": ["TSK-a"]}], "that would be a cycle: TSK-a → TSK-n → TSK-a"),
    ],
)  # fmt: skip
def test_a_refused_import_leaves_nothing_behind(clone: Clone, second: list[dict[str, Any]], said: str) -> None:
    """Half a plan is worse than none."""
    task_json.bring(clone, task_json.to_json([Task(id="TSK-a", title="a", needs=("TSK-n",))]))
    before = task_board.read(clone).tasks
    with pytest.raises((BadInput, Cycle)) as refused:
        task_json.bring(clone, json.dumps([{"id": "TSK-0", "title": "fine"}, *second]))
    assert said in str(refused.value)
    assert task_board.read(clone).tasks == before


def test_a_cycle_that_was_here_before_does_not_stop_an_import(clone: Clone) -> None:
    """A merge brought it; the next plan is not to blame."""
    one, other = Task(id="TSK-a", title="a", needs=("TSK-b",)), Task(id="TSK-b", title="b")
    task_json.bring(clone, task_json.to_json([one, other]))
    path = task_board.read(clone).placed["TSK-b"].path
    clone.change(path, files.render(replace(other, needs=("TSK-a",))))
    assert [task.id for task in task_json.bring(clone, '[{"id": "TSK-c", "title": "c"}]').tasks] == ["TSK-c"]


def test_ids_are_given_to_those_without(clone: Clone) -> None:
    """A list of titles is enough to begin with."""
    new = task_json.bring(clone, '[{"title": "one"}, {"title": "two"}]').tasks
    assert all(is_id(task.id) and task.id.startswith("TSK-") for task in new)
    assert len({task.id for task in new}) == 2


def test_a_secret_in_an_import_reaches_no_disk(clone: Clone) -> None:
    """A key pasted into a plan would be published with it."""
    record = {"id": "TSK-a", "title": f"use {FAKE_KEY}", "notes": f"it is {FAKE_KEY}", "key": FAKE_KEY}
    [task] = task_json.bring(clone, json.dumps(record)).tasks
    assert FAKE_KEY not in files.render(task)
    assert files.parse(files.render(task), "x.md") == task
    assert task_board.read(clone).tasks == [task]


def test_a_number_without_end_is_refused_wherever_it_stands() -> None:
    """Python refuses to read very long numbers, in words that are no use to anybody."""
    with pytest.raises(BadInput, match="priority"):
        task_json.from_text('{"tasks": [{"id": "TSK-1", "title": "a", "priority": ' + "1" * 5000 + "}]}")
