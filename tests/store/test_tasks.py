"""Task and link files: read strictly, written canonically, merged by field, and as their schema says."""

import json
import string
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.errors import BadInput, BrokenEntry, TooLarge
from holdfast.model import evidence
from holdfast.model.task import CHECKS, FIELDS, KINDS, LISTS, STATUSES, Checkpoint, Link, Task
from holdfast.store import layout, pending_changes, task_files
from holdfast.store.markdown_document import MarkdownClash
from holdfast.values import replace
from holdfast.work import task_json

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
PATH = f"{layout.TASKS}/do-it-TSK-7f3k2m.md"
SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"
SCHEMA = jsonschema.Draft202012Validator(json.loads((SCHEMAS / "task.schema.json").read_text("utf-8")))
WRITTEN = f"""\
---
id: TSK-7f3k2m
#
kind: milestone
#
title: "Orders survive a restart"
#
status: done
#
needs: [TSK-a, TSK-b]
#
parent: TSK-goal
#
owner: ada
#
priority: 1
#
layer: L5
#
systemic_scale: 3
#
impact: "no order is lost"
#
evidence: [commit:{OID}, run:20261115T194200Z-abc123]
#
acceptance: ["kill -9 and count"]
#
checks: []
#
checkpoint: [commit:{OID}, tree:{OID}]
#
reason: null
#
---
Why it matters.
"""
# As earlier versions wrote it.
TEXT = f"""\
---
id: TSK-7f3k2m
kind: milestone
title: "Orders survive a restart"
status: done
needs: [TSK-a, TSK-b]
parent: TSK-goal
owner: ada
priority: 1
layer: L5
systemic_scale: 3
impact: "no order is lost"
evidence: [commit:{OID}, run:20261115T194200Z-abc123]
acceptance: ["kill -9 and count"]
checkpoint: [commit:{OID}, tree:{OID}]
reason: null
---
Why it matters.
"""
TASK = Task(
    id="TSK-7f3k2m",
    kind="milestone",
    title="Orders survive a restart",
    status="done",
    needs=("TSK-a", "TSK-b"),
    parent="TSK-goal",
    owner="ada",
    priority=1,
    layer="L5",
    systemic_scale=3,
    impact="no order is lost",
    evidence=(f"commit:{OID}", "run:20261115T194200Z-abc123"),
    acceptance=("kill -9 and count",),
    checkpoint=Checkpoint(commit=OID, tree=OID),
    notes="Why it matters.",
)
TRICKY = [
    *("no", "Yes", "null", "~", "true", "1e3", "0x1f", "1_000", "12:30:45", "2027-01-01", ".inf", "<<", "="),
    *("a: b", "a #b", "#a", "- a", "[a", "{a", "&a", "*a", "!a", "%a", "@a", "`a", "'a", '"a', "a'b", "a\\b"),
    *("---", "...", "a, b", "]", "0", "007", "任务", "ß", "é", "e\u0301", "🜂", "\\u0041", "{{x}}", "${x}"),
]
NOTES = ["---", "a\n---\nb", "---\nid: TSK-x\n---", "# a\n\n* b", "=======", "\ta", "a\u2028b", "title: x"]


def taken(name: str) -> Any:
    """Whether the model takes a value for a field."""

    def check(value: object) -> bool:
        try:
            CHECKS[name](value)
        except (BadInput, TooLarge):
            return False
        return True

    return check


free = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ids = st.text(string.ascii_letters + string.digits + "._-", min_size=1, max_size=12).filter(taken("id"))
oids = st.text("0123456789abcdef", min_size=40, max_size=40)
line = st.one_of(st.sampled_from(TRICKY), free.map(str.strip))
paths = free.filter(evidence.is_tracked_path)
receipts = st.one_of(
    ids.map(lambda i: f"run:{i}"),
    oids.map(lambda o: f"commit:{o}"),
    st.builds(lambda p, o: f"file:{p}@{o}", paths, oids),
)
unknown = st.sampled_from(["3", "[a, {b: c}]", "|\n  text\n  # kept", "'quoted # text'", "\n- a\n- b"])
extras = st.dictionaries(st.sampled_from(["due", "x-note", "Ünknown"]), unknown, max_size=2)


def several(items: st.SearchStrategy[str], name: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(items, max_size=4, unique=True).map(tuple).filter(taken(name))


values: dict[str, st.SearchStrategy[Any]] = {
    "id": ids,
    "title": line.filter(taken("title")),
    "kind": st.sampled_from(KINDS),
    "status": st.sampled_from(STATUSES),
    "needs": several(ids, "needs"),
    "parent": st.none() | ids,
    "owner": st.none() | line.filter(taken("owner")),
    "priority": st.integers(0, 4),
    "layer": st.none() | ids.filter(taken("layer")),
    "systemic_scale": st.none() | st.integers(0, 2**31 - 1),
    "impact": st.none() | line.filter(taken("impact")),
    "evidence": several(receipts, "evidence"),
    "acceptance": several(line, "acceptance"),
    "checks": several(ids, "checks"),
    "checkpoint": st.none()
    | st.builds(lambda c, t, p: Checkpoint(commit=c, tree=t, patch_id=p), oids, oids, st.none() | oids),
    "reason": st.none() | line.filter(taken("reason")),
    "notes": st.one_of(st.sampled_from(NOTES), free.map(lambda t: t.strip("\n"))).filter(taken("notes")),
    "extra": extras.map(lambda d: tuple((k, f"{k}: {v}".replace(": \n", ":\n")) for k, v in d.items())),
}


def sound(fields: dict[str, Any]) -> bool:
    return fields["id"] not in fields["needs"] and fields["parent"] != fields["id"]


nodes = st.fixed_dictionaries(values).filter(sound).map(lambda fields: Task(**fields))
changes = st.sampled_from([name for name in values if name not in ("id", "extra")]).flatmap(
    lambda name: st.tuples(st.just(name), values[name])
)


def changed(task: Task, some: dict[str, Any]) -> Task:
    assume(sound({"id": task.id, "needs": task.needs, "parent": task.parent, **some}))
    return replace(task, **some)


def test_a_task_looks_like_this() -> None:
    """Other programs and people read these files; their form is a promise."""
    assert task_files.render(TASK) == WRITTEN
    assert task_files.parse(TEXT, PATH) == TASK
    rows = (row for row in WRITTEN.split("---\n")[1].splitlines() if row != "#")
    assert tuple(FIELDS) == tuple(row.partition(":")[0] for row in rows)


@given(nodes)
def test_what_is_written_is_read_back(task: Task) -> None:
    """No word of a plan may change because it looks like something else."""
    text = task_files.render(task)
    assert task_files.parse(text, PATH) == task
    assert task_files.render(task_files.parse(text, PATH)) == text


@given(nodes)
def test_a_plain_yaml_reader_sees_the_same(task: Task) -> None:
    """Other tools read frontmatter with whatever YAML they have."""
    front = task_files.render(replace(task, extra=())).split("\n---\n")[0].removeprefix("---\n")
    read = yaml.safe_load(front)
    for name in ("id", "title", "owner", "impact", "reason", "parent"):
        assert read[name] == getattr(task, name)
    for name in LISTS:
        assert tuple(read[name]) == getattr(task, name)


@given(nodes)
def test_a_checkout_with_other_line_ends_is_the_same_task(task: Task) -> None:
    """Windows checks files out with CRLF; some editors put a mark before the first line."""
    text = "\ufeff" + task_files.render(task).replace("\n", "\r\n")
    assert task_files.parse(text, PATH) == task


@given(nodes)
def test_what_is_given_out_fits_the_schema(task: Task) -> None:
    """Tools that read our JSON rely on the schema we publish."""
    given_out = json.loads(json.dumps(task_json.as_object(task)))
    SCHEMA.validate(given_out)


def test_the_schema_is_one_and_refuses_what_a_task_refuses() -> None:
    """A schema that lets everything pass promises nothing."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA.schema)
    sound_one = task_json.as_object(TASK)
    assert set(SCHEMA.schema["properties"]) == set(sound_one)
    wrong = {
        "id": "a b",
        "kind": "story",
        "title": "",
        "status": "finished",
        "needs": ["a b"],
        "parent": 3,
        "owner": "",
        "priority": 5,
        "layer": "L 5",
        "systemic_scale": -1,
        "impact": "a\nb",
        "evidence": ["README"],
        "acceptance": ["a", "a"],
        "checkpoint": [f"commit:{OID}"],
        "reason": 3,
        "notes": None,
    }
    for name, value in wrong.items():
        assert not SCHEMA.is_valid({**sound_one, name: value}), name
        assert not SCHEMA.is_valid({key: field for key, field in sound_one.items() if key != name}), name


@pytest.mark.parametrize(
    ("written", "task"),
    [
        ("id: TSK-a\ntitle: Do it\n", {}),
        ("title: 'Do it'\nid: TSK-a\n", {}),
        ("id: TSK-a\ntitle: >-\n  Do\n  it\n", {}),
        ("id: TSK-a\ntitle: Do it\nneeds:\n  - TSK-b\n  - TSK-c\n", {"needs": ("TSK-b", "TSK-c")}),
        ("id: TSK-a\ntitle: Do it\nneeds: [ TSK-b , 'TSK-c' ]\n", {"needs": ("TSK-b", "TSK-c")}),
        ("id: TSK-a\ntitle: Do it\nneeds: [TSK-b, TSK-b]\n", {"needs": ("TSK-b",)}),
        ("id: TSK-a\ntitle: Do it\nneeds:\n", {}),
        ("id: TSK-a\ntitle: Do it\nneeds: ~\nparent: \nlayer: null\n", {}),
        ("id: TSK-a   # mine\ntitle: Do it\npriority: 0\n", {"priority": 0}),
        ("id: TSK-a\ntitle: Do it\nowner: 'null'\n", {"owner": "null"}),
        ("id: TSK-a\ntitle: Do it\nowner: ada lovelace\n", {"owner": "ada lovelace"}),
    ],
)
def test_people_may_write_yaml_as_they_know_it(written: str, task: dict[str, Any]) -> None:
    """A file written by hand is a task as good as any."""
    assert task_files.parse(f"---\n{written}---\n", PATH) == Task(**{"id": "TSK-a", "title": "Do it", **task})


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("kind: story", "kind 'story' is not one of"),
        ("status: finished", "status 'finished' is not one of"),
        ("needs: TSK-b", "needs must be a list"),
        ("needs: [[TSK-b]]", "needs must be a list"),
        ("needs: [a b]", "needs: 'a b' is not an id"),
        ("parent: [TSK-b]", "parent must be one value"),
        ("parent: a b", "parent 'a b' is not an id"),
        ("owner: {a: b}", "owner must be one value"),
        ("priority: soon", "priority 'soon' is not a whole number"),
        ("priority: 7", "priority 7 is not a number from 0"),
        ("priority: 1.5", "priority '1.5' is not a whole number"),
        ("priority: -1", "priority '-1' is not a whole number"),
        ("priority: ٣", "is not a whole number"),
        ("layer: L 5", "layer 'L 5' is not a short word"),
        ("systemic_scale: many", "systemic_scale 'many' is not a whole number"),
        ("systemic_scale: 99999999999", "is not a whole number"),
        ('impact: "a\\nb"', "impact must be one line"),
        ("evidence: [README]", "is not evidence"),
        ("acceptance: ['']", "acceptance has an empty line"),
        ("checks: [make test]", "'make test'"),
        ("checkpoint: [commit:abc]", "checkpoint must be"),
        ("checkpoint: done", "checkpoint must be a list"),
        ("reason: &a why", "the anchor &a is not allowed"),
        ("title: again", "title is here twice"),
        ("owner: !!python/object:os.system x", "the tag"),
        ("<<: *x", "is not allowed"),
    ],
)
def test_an_invalid_field_is_refused_with_its_line_and_reason(row: str, reason: str) -> None:
    """Whoever wrote it by hand must find it at once."""
    text = f"---\nid: TSK-a\ntitle: Do it\nlayer2: x\n{row}\nmore: y\n---\nnotes\n"
    with pytest.raises(BrokenEntry) as refused:
        task_files.parse(text, PATH)
    assert str(refused.value).startswith(f"{PATH}:5 "), refused.value
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("", 1, "does not start with"),
        ("---\nid: TSK-a\n", 1, "has no second line"),
        ("---\ntitle: x\n---\n", 1, "has no id"),
        ("---\nid: TSK-a\n---\n", 1, "has no title"),
        ("---\nid: TSK-a\ntitle: x\n---\na\x00b", 5, "NUL"),
        ("---\nid: TSK-a\rtitle: x\n---\n", 2, "bare carriage return"),
        ("---\nid: TSK-a\n<<<<<<< a\ntitle: x\n=======\ntitle: y\n>>>>>>> b\n---\n", 3, "unresolved merge"),
        ("---\nid: TSK-a\ntitle: x\n---\na\n||||||| base\n", 6, "unresolved merge"),
        ("---\nid: TSK-a\ntitle: x\nneeds: [TSK-a]\n---\n", 2, "cannot need itself"),
    ],
)
def test_a_damaged_file_is_refused_with_its_line_and_reason(text: str, line: int, reason: str) -> None:
    """Damage is named, never guessed at."""
    with pytest.raises(BrokenEntry, match=rf":{line} .*{reason}"):
        task_files.parse(text, PATH)


@given(st.binary(max_size=300).map(lambda data: data.decode("utf-8", "replace")))
def test_any_other_text_is_a_task_or_broken(text: str) -> None:
    """Whatever lies there must not stop a command."""
    for whole in (text, f"---\n{text}\n---\n", f"---\nid: TSK-a\ntitle: x\n{text}\n---\n"):
        for path in (PATH, f"{layout.LINKS}/x-LNK-a.md"):
            reader = task_files.reader(path)
            assert reader is not None
            try:
                reader(whole, path)
            except BrokenEntry as error:
                assert str(error).startswith(f"{path}:")


@given(nodes, changes, changes)
def test_changes_of_different_fields_merge_in_any_order(
    base: Task, one: tuple[str, Any], other: tuple[str, Any]
) -> None:
    """Two branches that touched different things must not bother anybody."""
    assume(one[0] != other[0])
    mine, theirs = changed(base, dict([one])), changed(base, dict([other]))
    both = changed(base, dict([one, other]))
    texts = [task_files.render(side) for side in (base, mine, theirs)]
    assert task_files.merge(PATH, *texts) == task_files.render(both)
    assert task_files.merge(PATH, texts[0], texts[2], texts[1]) == task_files.render(both)


@given(nodes, st.lists(changes, max_size=4))
def test_merging_with_nothing_new_changes_nothing(base: Task, some: list[tuple[str, Any]]) -> None:
    """A merge that is done twice is done once."""
    a, b = task_files.render(base), task_files.render(changed(base, dict(some)))
    assert task_files.merge(PATH, a, a, b) == b
    assert task_files.merge(PATH, a, b, a) == b
    assert task_files.merge(PATH, a, b, b) == b
    assert task_files.merge(PATH, None, b, b) == b


@given(nodes, st.lists(changes, max_size=3), st.lists(changes, max_size=3))
def test_no_merge_loses_what_somebody_wrote(
    base: Task, one: list[tuple[str, Any]], other: list[tuple[str, Any]]
) -> None:
    """Each field is one side's, or both sides' together, or a clash that names it; never a third thing."""
    sides = [base, changed(base, dict(one)), changed(base, dict(other))]
    merged = task_files.merge(PATH, *(task_files.render(side) for side in sides))
    was, mine, theirs = (task_files.parts(side) for side in sides)
    differing = {n for n in {*mine, *theirs} if mine.get(n) != theirs.get(n)}
    both = {n for n in differing if was.get(n) not in (mine.get(n), theirs.get(n)) and n not in LISTS}
    if isinstance(merged, MarkdownClash):
        assert set(merged.fields) == both and both
        return
    assert not both
    found = task_files.parts(task_files.parse(merged, PATH))
    for name in {*mine, *theirs}:
        if name in LISTS:
            added = {*mine[name], *theirs[name]} - {*was[name]}
            assert added <= set(found[name])
            assert set(found[name]) <= {*mine[name], *theirs[name]}
        else:
            assert found.get(name) in (mine.get(name), theirs.get(name))


def test_a_clash_names_the_fields() -> None:
    """A person has to choose, and must know between what."""
    sides = [replace(TASK, status=status, owner=owner) for status, owner in (("open", "b"), ("blocked", "c"))]
    merged = task_files.merge(PATH, TEXT, *(task_files.render(side) for side in sides))
    assert merged == MarkdownClash(("status", "owner"))


def test_a_broken_side_is_a_clash_of_the_whole_file() -> None:
    """What cannot be read cannot be merged, and must not be lost."""
    other = task_files.render(replace(TASK, owner="b"))
    assert task_files.merge(PATH, TEXT, "broken", other) == MarkdownClash(("the whole file",))


@pytest.mark.parametrize("title", ["ä" * 200, "任务" * 100, "a" * 500, "🜂" * 200, "ж ж " * 50 + "ж"])
def test_long_and_foreign_titles_have_a_path_git_and_any_disk_takes(title: str) -> None:
    """A file name has 255 bytes, whatever language its title is in."""
    from holdfast.model.ids import slug

    path = layout.node_path(layout.TASKS, slug(title, 60), "TSK-7f3k2m")
    assert path.isascii() and len(path.rpartition("/")[2]) < 120
    assert pending_changes.is_publishable(path)
    assert task_files.parse(task_files.render(Task(id="TSK-7f3k2m", title=title)), path).title == title


links = st.one_of(
    st.tuples(paths.filter(taken("title")), st.just("path")),
    oids.map(lambda oid: (oid, "commit")),
    st.sampled_from(["https://example.org/ä?x=1", "ssh://git@h/x.git"]).map(lambda url: (url, "url")),
)


@given(ids, values["title"], links, values["notes"], values["extra"])
def test_a_link_is_read_back_as_it_was_written(
    name: str, title: str, target: tuple[str, str], notes: str, extra: tuple[tuple[str, str], ...]
) -> None:
    """A link that changes on the way leads elsewhere."""
    link = Link(id=name, title=title, target=target[0], kind=target[1], notes=notes, extra=extra)
    path = layout.node_path(layout.LINKS, "x", name)
    assert task_files.parse_link(task_files.render(link), path) == link
    assert task_files.merge(path, None, task_files.render(link), task_files.render(link)) == task_files.render(link)
