"""Entry files: read strictly, written canonically, merged by field."""

import hashlib
import json
import string
import sys
from datetime import UTC, datetime
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import BadInput, BrokenEntry
from holdfast.model import evidence
from holdfast.model.memory import TYPES, Accepted, Candidate, Memory, Rejected, Retired
from holdfast.store import frontmatter, memory_files
from holdfast.store.markdown_document import MarkdownClash, has_open_fence

OID = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
FACT = Accepted(
    id="FCT-7f3k2m",
    type="fact",
    statement="Tests need Postgres 16.",
    details="Rationale: JSON_TABLE is used.",
    layer="L5",
    tags=("db", "tests"),
    source="run:20261115T194200Z-abc123",
    confidence=0.9,
    evidence=("run:20261115T194200Z-abc123", f"file:src/a.py@{OID}"),
    expires_at=datetime(2027, 1, 1, tzinfo=UTC),
)
WRITTEN = f"""\
---
id: FCT-7f3k2m
#
type: fact
#
status: accepted
#
layer: L5
#
tags: [db, tests]
#
source: run:20261115T194200Z-abc123
#
confidence: 0.9
#
evidence: [run:20261115T194200Z-abc123, "file:src/a.py@{OID}"]
#
applies_to: []
#
supersedes: []
#
compatible_with: []
#
expires_at: 2027-01-01T00:00:00Z
#
---
Fact: Tests need Postgres 16.

Rationale: JSON_TABLE is used.
"""
# As earlier versions wrote it.
TEXT = f"""\
---
id: FCT-7f3k2m
type: fact
status: accepted
layer: L5
tags: [db, tests]
source: run:20261115T194200Z-abc123
confidence: 0.9
evidence: [run:20261115T194200Z-abc123, "file:src/a.py@{OID}"]
applies_to: []
supersedes: []
expires_at: 2027-01-01T00:00:00Z
---
Fact: Tests need Postgres 16.

Rationale: JSON_TABLE is used.
"""
TRICKY = [
    *("no", "Yes", "null", "~", "true", "1e3", "0x1f", "1_000", "12:30:45", "2027-01-01", ".inf", "<<", "="),
    *("a: b", "a #b", "#a", "- a", "[a", "{a", "&a", "*a", "!a", "%a", "@a", "`a", "'a", '"a', "a'b", "a\\b"),
]

free = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=60)
ids = st.text(string.ascii_letters + string.digits, min_size=1, max_size=12)
person = st.one_of(st.sampled_from(TRICKY), free).map(lambda t: f"person:{t}")


def checked(name: str) -> Any:
    """Whether the model takes a value for a field."""
    from holdfast.errors import HoldfastError
    from holdfast.model.memory import CHECKS

    def check(value: object) -> bool:
        try:
            CHECKS[name](value)
        except HoldfastError:
            return False
        return True

    return check


def several(items: st.SearchStrategy[str], name: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(items, max_size=4, unique=True).map(tuple).filter(checked(name))


times = st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29)).map(
    lambda t: t.replace(microsecond=0, tzinfo=UTC)
)
paths = free.filter(evidence.is_tracked_path)
unknown_values = st.sampled_from(
    ["3", "[a, {b: c}]", "|\n  text\n  # kept\n  more", "'quoted # text'", "# a comment only", "\n- a\n- b"]
)
extras = st.dictionaries(st.sampled_from(["owner", "x-note", "Ünknown"]), unknown_values, max_size=2)
shared = st.fixed_dictionaries(
    {
        "id": ids,
        "type": st.sampled_from(TYPES),
        "statement": free.map(str.strip).filter(checked("statement")),
        "details": free.map(str.strip).filter(checked("details")),
        "layer": st.none() | ids.filter(checked("layer")),
        "tags": several(st.sampled_from(TRICKY) | free, "tags"),
        "source": st.none() | person.filter(checked("source")) | ids.map(lambda i: f"run:{i}"),
        "confidence": st.none() | st.floats(0, 1),
        "evidence": several(ids.map(lambda i: f"run:{i}") | paths.map(lambda p: f"file:{p}@{OID}"), "evidence"),
        "applies_to": several(paths | st.sampled_from(TRICKY), "applies_to"),
        "supersedes": several(ids, "supersedes"),
        "expires_at": st.none() | times,
        "extra": extras.map(lambda d: tuple((k, f"{k}: {v}".replace(": \n", ":\n")) for k, v in d.items())),
    }
)
memories: st.SearchStrategy[Memory] = st.one_of(
    shared.map(lambda f: Accepted(**f)),
    shared.map(lambda f: Retired(**f)),
    st.builds(lambda f, line: Candidate(**f, line=line), shared, ids),
    st.builds(lambda f, at, why: Rejected(**f, line="a", rejected_at=at, reason=why), shared, times,
              free.map(str.strip).filter(checked("reason"))),
)  # fmt: skip


def test_a_fact_looks_like_this() -> None:
    """Other programs and people read these files; their form is a promise."""
    assert memory_files.render(FACT) == WRITTEN
    assert memory_files.parse(TEXT, "a.md") == FACT


@given(memories)
def test_what_is_written_reads_back_the_same(memory: Memory) -> None:
    """A memory that changes by being stored is a false memory."""
    assert memory_files.parse(memory_files.render(memory), "a.md") == memory


@given(memories)
def test_our_own_form_and_a_yaml_parser_agree(memory: Memory) -> None:
    """The quick reader must not see another memory than everybody else's YAML does."""
    text = memory_files.render(memory)
    front = text[4 : text.index("\n---\n", 3)]
    slow = frontmatter._read_yaml(front)
    quick = frontmatter._read_own(front)
    assert quick is None or quick == slow
    assert quick is not None or memory.extra
    loaded = yaml.safe_load(front)
    assert loaded["id"] == memory.id
    assert loaded["tags"] == list(memory.tags)
    assert loaded["source"] == memory.source
    assert loaded["confidence"] == memory.confidence
    assert loaded["applies_to"] == list(memory.applies_to)


@given(memories)
def test_one_line_a_field(memory: Memory) -> None:
    """Git shows and merges lines: a field over two lines could be half merged."""
    plain = memory_files.render(type(memory).of(memory, extra=(), **own_fields(memory)))
    front = plain[4 : plain.index("\n---\n", 3)].split("\n")
    assert set(front[1::2]) == {"#"}
    names = [line.split(":")[0] for line in front[::2]]
    assert names[:4] == ["id", "type", "status", "layer"]
    assert len(names) == len(set(names)) == 12 + len(own_fields(memory))


def own_fields(memory: Memory) -> dict[str, Any]:
    names = {Candidate: ("line",), Rejected: ("line", "rejected_at", "reason")}.get(type(memory), ())
    return {name: getattr(memory, name) for name in names}


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda b: b.decode("utf-8", "replace")))
def test_any_text_is_a_memory_or_a_clear_error(text: str) -> None:
    """A hostile pull request must not stop every command with a traceback."""
    for candidate in (text, f"---\n{text}\n---\nbody", TEXT.replace("L5", text), TEXT.replace("[db, tests]", text)):
        try:
            memory_files.parse(candidate, "a.md")
        except BrokenEntry as error:
            assert str(error).startswith("a.md:")


BROKEN = {
    "no fence": ("id: a\n", 1, "does not start"),
    "no second fence": ("---\nid: a\n", 1, "no second"),
    "empty": ("", 1, "does not start"),
    "no fields": ("---\n---\nx", 1, "no fields"),
    "an alias": (TEXT.replace("layer: L5", "layer: &a L5").replace("[]", "*a", 1), 5, "anchor"),
    "an alias alone": (TEXT.replace("layer: L5", "layer: *a"), 5, "alias"),
    "a tag": (TEXT.replace("layer: L5", "layer: !!python/name:os.system L5"), 5, "tag"),
    "a merge key": (TEXT.replace("layer: L5", "<<: {layer: L5}"), 5, "merge key"),
    "a name twice": (TEXT.replace("layer: L5", "layer: L5\nlayer: L6"), 6, "twice"),
    "an unknown type": (TEXT.replace("type: fact", "type: rumour"), 3, "type"),
    "an unknown status": (TEXT.replace("accepted", "holy"), 4, "status must be one of"),
    "no id": (TEXT.replace("id: FCT-7f3k2m\n", ""), 1, "no id"),
    "a flow mapping": ("---\n{id: a, type: fact}\n---\nx", 2, "one `name: value` a line"),
    "a list": ("---\n- a\n---\nx", 2, "one `name: value` a line"),
    "a word for a list": (TEXT.replace("[db, tests]", "db"), 6, "tags must be a list"),
    "a list for a word": (TEXT.replace("layer: L5", "layer: [L5]"), 5, "layer must be one value"),
    "a confidence of two": (TEXT.replace("0.9", "2"), 8, "confidence"),
    "a confidence in words": (TEXT.replace("0.9", "high"), 8, "confidence 'high' is not a number from 0 to 1"),
    "no such day": (TEXT.replace("2027-01-01T00:00:00Z", "2027-02-30"), 12, "'2027-02-30' is not a date or time"),
    "no type": (TEXT.replace("type: fact\n", ""), 1, "no type"),
    "no status": (TEXT.replace("status: accepted\n", ""), 1, "no status"),
    "evidence of no kind": (TEXT.replace(f'"file:src/a.py@{OID}"', "hearsay"), 9, "is not evidence"),
    "a conflict": (TEXT.replace("Fact:", "<<<<<<< ours\nFact:"), 14, "unresolved merge"),
    "a conflict in the fields": (TEXT.replace("layer", "<<<<<<< ours\nlayer"), 5, "unresolved merge"),
    "a NUL": (TEXT.replace("Postgres", "Post\0gres"), 14, "NUL"),
    "a bare return": (TEXT.replace("Postgres", "Post\rgres"), 14, "carriage return"),
    "no statement": (TEXT[: TEXT.index("Fact:")], 14, "statement is empty"),
    "a label only": (TEXT[: TEXT.index(" Tests")], 14, "statement is empty"),
    "too much frontmatter": (TEXT.replace("layer: L5", f"note: {'x' * 65536}"), 2, "larger than"),
    "a deep nest": (TEXT.replace("layer: L5", f"note: {'[' * 20}{']' * 20}"), 5, "nested deeper"),
    "a very deep nest": (TEXT.replace("layer: L5", f"note: {'[' * 30000}"), 5, ""),
    "two documents": (TEXT.replace("layer: L5", "...\nlayer: L5"), 6, ""),
    "a directive": ("---\n%YAML 1.2\nid: a\n---\nx", 2, ""),
    "not closed": (TEXT.replace("[db, tests]", '["db'), 9, ""),
    "a tab": (TEXT.replace("layer: L5", "layer:\n\t- L5"), 6, ""),
    "a control character": (TEXT.replace("layer: L5", "note: \x1b"), 2, ""),
    "a strange line break": (TEXT.replace("layer: L5", "note: a\u2028b"), 5, "U+2028"),
    "indented fields": (TEXT.replace("\n", "\n  ", 3).replace("  ---", "---"), 2, ""),
    "a candidate of no line": (TEXT.replace("accepted", "candidate"), 4, "has no line"),
}


@pytest.mark.parametrize(("text", "line", "reason"), BROKEN.values(), ids=BROKEN.keys())
def test_a_broken_entry_is_located(text: str, line: int, reason: str) -> None:
    """Whoever edited it by hand finds the line; nobody has to guess why a fact is gone."""
    with pytest.raises(BrokenEntry) as caught:
        memory_files.parse(text, ".holdfast/memory/facts/a.md")
    said = str(caught.value)
    assert reason in said
    number = int(said.split(" ", 1)[0].rsplit(":", 1)[1])
    assert number in (line, line + 1), said  # the two YAML parsers put the end of a token differently


@pytest.mark.parametrize("text", [text for text, *_ in BROKEN.values()], ids=BROKEN.keys())
def test_without_the_quick_yaml_parser_the_same_is_refused(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not every platform has the C parser; what is dangerous there is dangerous here."""
    monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    with pytest.raises(BrokenEntry):
        memory_files.parse(text, "a.md")


def test_a_file_written_by_hand_may_be_looser() -> None:
    """People write block lists, comments, quotes and dates, and leave fields out."""
    text = (
        "---\r\nid: 'FCT-1'   # ours\r\ntype: fact\r\nstatus: accepted\r\ntags:\r\n  - db\r\n  - db\r\n"
        "expires_at: 2027-01-01\r\nowner: {name: Ada}\r\n---\r\n\r\nTests need Postgres.\r\n"
    )
    fact = memory_files.parse("\ufeff" + text, "a.md")
    assert (fact.id, fact.tags, fact.statement) == ("FCT-1", ("db",), "Tests need Postgres.")
    assert fact.expires_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert fact.extra == (("owner", "owner: {name: Ada}"),)
    assert memory_files.parse(memory_files.render(fact), "a.md") == fact


def test_unknown_fields_stay_as_they_were_written() -> None:
    """A newer Holdfast's field must survive an older one's edit."""
    text = TEXT.replace("expires_at:", "reviewers:\n  - ada  # lead\n  - bob\nexpires_at:")
    rewritten = memory_files.render(memory_files.parse(text, "a.md"))
    assert "reviewers:\n  - ada  # lead\n  - bob\n" in rewritten


def test_our_own_files_are_read_without_a_yaml_parser() -> None:
    """Every cold `recall` would pay for loading one."""
    import subprocess

    code = (
        "import sys; from holdfast.store import memory_files\n"
        f"memory_files.parse({TEXT!r}, 'a.md'); sys.exit('yaml' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_another_status_changes_one_line() -> None:
    """Who reviews a retirement should see one line, not a rewritten file."""
    text = TEXT.replace("layer: L5", "layer: L5  # by hand")
    assert memory_files.with_status(text, "deprecated") == text.replace("accepted", "deprecated")


# Merging.


def changed(**fields: Any) -> str:
    return memory_files.render(Accepted.of(FACT, **fields))


def test_changes_of_different_fields_both_hold() -> None:
    """Two people who each mend one field of a fact have no quarrel."""
    merged = memory_files.merge(TEXT, changed(layer="L6"), changed(confidence=0.5))
    assert merged == changed(layer="L6", confidence=0.5)


def test_lists_merge_as_sets() -> None:
    """One side adds a tag, the other takes one away: both are meant."""
    merged = memory_files.merge(TEXT, changed(tags=("db", "tests", "ci")), changed(tags=("tests", "slow")))
    assert merged == changed(tags=("tests", "ci", "slow"))


def test_two_meanings_clash_and_name_the_fields() -> None:
    """Choosing one side silently would drop what somebody approved."""
    ours = changed(statement="Tests need Postgres 17.", layer="L6")
    theirs = changed(statement="Tests need MySQL.", layer="L7")
    assert memory_files.merge(TEXT, ours, theirs) == MarkdownClash(("body", "layer"))


def test_without_a_common_start_equal_fields_agree_and_lists_join() -> None:
    """The same fact added on two branches."""
    assert memory_files.merge(None, changed(tags=("a",)), changed(tags=("b",))) == changed(tags=("a", "b"))
    assert memory_files.merge("", changed(layer="L1"), changed(layer="L2")) == MarkdownClash(("layer",))


def test_one_side_alone_is_taken_as_it_is() -> None:
    """A hand edit keeps its comments if nobody else touched the file."""
    edited = TEXT.replace("layer: L5", "layer: L6  # measured")
    assert memory_files.merge(TEXT, TEXT, edited) == edited
    assert memory_files.merge(TEXT, edited, TEXT) == edited
    assert memory_files.merge(TEXT, edited, edited) == edited


def test_a_broken_side_is_a_clash() -> None:
    """Damage is shown, never merged."""
    assert memory_files.merge(TEXT, "broken", changed(layer="L6")) == MarkdownClash(("the whole file",))


def test_retiring_and_mending_both_hold() -> None:
    """One branch retires a fact, the other corrects its tags."""
    retired = memory_files.render(Retired.of(FACT))
    assert memory_files.merge(TEXT, retired, changed(tags=("db",))) == memory_files.render(
        Retired.of(FACT, tags=("db",))
    )


@given(shared.map(lambda f: Accepted(**f)), st.sampled_from(["layer", "tags", "confidence"]))
def test_a_merge_does_not_depend_on_who_merges(memory: Memory, name: str) -> None:
    """Two clones that merge the same sides must agree on every single value."""
    base = memory_files.render(memory)
    ours = memory_files.render(Accepted.of(memory, **{name: {"layer": "L9", "tags": (), "confidence": 0.25}[name]}))
    theirs = memory_files.render(Accepted.of(memory, source="person:Ada"))
    assert memory_files.merge(base, ours, theirs) == memory_files.merge(base, theirs, ours)


SECOND = TEXT.replace("FCT-7f3k2m", "FCT-second").replace("Postgres 16", "a network")
BAD = SECOND.replace("tags: [db, tests]", "tags: &a [db, tests]")


def said(text: str) -> list[str]:
    """What a file's parts hold: ids, and the complaint about what is broken."""
    found = memory_files.parts(text, "a.md")
    return [str(p.memory) if isinstance(p.memory, BrokenEntry) else p.memory.id for p in found]


def test_the_only_entry_of_a_file_is_the_whole_file() -> None:
    """An approval names the file's blob: not a byte may be left out of it."""
    for text in (TEXT, TEXT + "\n\n", TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT):
        (part,) = memory_files.parts(text, "a.md")
        assert (part.text, part.line, part.memory) == (text, 1, FACT)


def test_several_entries_stand_one_after_another_in_a_file() -> None:
    """People keep their decisions together, and no one tells them to take the file apart."""
    for between in ("", "\n", "\n\n\n"):
        one, two = memory_files.parts(f"{TEXT}{between}{SECOND}", "a.md")
        assert (one.text, two.text) == (TEXT, SECOND)
        assert (one.line, two.line) == (1, 17 + len(between))
        assert one.memory == FACT
        assert two.piece.start == len(TEXT + between)
    crlf = f"{TEXT}\n{SECOND}".replace("\n", "\r\n")
    assert "".join(part.text for part in memory_files.parts(crlf, "a.md")) == (TEXT + SECOND).replace("\n", "\r\n")


@pytest.mark.parametrize(
    "body",
    [
        "---\n\nA rule above.\n",
        "---\nA heading\n---\n",
        "---\nid: in a paragraph\n\n---\n",
        "```\n" + SECOND + "```\n",
        "~~~~ md\n" + SECOND + "~~~\n~~~~\n",
        "    ---\n    id: x\n    ---\n",
        "---\nid: unfinished\n",
        "----\nid: x\n----\n",
    ],
)
def test_a_rule_in_the_text_begins_no_entry(body: str) -> None:
    """A line of dashes is Markdown; half of somebody's reasons must not become a second memory."""
    (part,) = memory_files.parts(f"{TEXT}\n{body}", "a.md")
    assert isinstance(part.memory, Accepted)
    assert part.memory.id == "FCT-7f3k2m"


def test_a_broken_part_is_named_with_its_line_and_the_rest_is_read() -> None:
    """One bad line must not take its neighbours with it, nor vanish."""
    assert said(f"{TEXT}\n{BAD}\n{SECOND}") == ["FCT-7f3k2m", "a.md:23 the anchor &a is not allowed here", "FCT-second"]
    assert said(f"# Ours\n\n{TEXT}") == ["a.md:1 does not start with a line of ---", "FCT-7f3k2m"]
    assert said(TEXT + "\n" + SECOND.replace("id: FCT-second\n", ""))[1] == "a.md:18 has no id"
    assert said(TEXT + "\n" + SECOND.replace("0.9", "much"))[1].startswith("a.md:25 confidence 'much'")
    assert said(TEXT + "\n" + SECOND + "\0")[1] == "a.md:34 has a NUL byte"


def test_an_unresolved_merge_breaks_the_file_as_a_whole() -> None:
    """Nobody can tell whose side an entry between the marks is on."""
    assert said(f"<<<<<<< ours\n{TEXT}=======\n{SECOND}>>>>>>> theirs\n") == [
        "a.md:1 has the markers of an unresolved merge"
    ]


def test_one_text_is_never_read_as_several_nor_written_so() -> None:
    """Who approves one memory must not let in a second that hides in its words."""
    with pytest.raises(BrokenEntry, match=r"^a\.md:18 begins another entry"):
        memory_files.parse(f"{TEXT}\n{SECOND}", "a.md")
    with pytest.raises(BadInput, match="contains another entry"):
        memory_files.render(Accepted.of(FACT, details=SECOND.strip()))
    fenced = Accepted.of(FACT, details=f"```\n{SECOND}```")
    assert memory_files.parse(memory_files.render(fenced), "a.md") == fenced


@given(st.lists(memories, min_size=1, max_size=4), st.sampled_from(["", "\n", "\n\n"]))
def test_entries_put_together_come_apart_again(several: list[Memory], between: str) -> None:
    """A file of many is as good as many files."""
    texts = [memory_files.render(memory) for memory in several]
    if any(has_open_fence(text) for text in texts[:-1]):
        return
    assert [part.memory for part in memory_files.parts(between.join(texts), "a.md")] == several


def test_thousands_of_fences_and_rules_are_read_in_one_go() -> None:
    """A file full of nonsense must not hold a command up for a minute."""
    for line in ("```x\n", "---\n", "---\nx\n", "~~~\n```\n"):
        (part,) = memory_files.parts(TEXT + line * (300_000 // len(line)), "a.md")
        assert isinstance(part.memory, BrokenEntry | Accepted)


def test_files_of_several_merge_entry_by_entry() -> None:
    """Two branches that each add a decision to one file must not lose either."""
    third = SECOND.replace("FCT-second", "FCT-third")
    ours = f"{TEXT.replace('L5', 'L4')}\n{SECOND}"
    theirs = f"{TEXT.replace('0.9', '0.8')}\n{third}"
    merged = memory_files.merge(TEXT, ours, theirs)
    assert isinstance(merged, str)
    assert [part.text for part in memory_files.parts(merged, "")] == [
        TEXT.replace("L5", "L4").replace("0.9", "0.8"),
        SECOND,
        third,
    ]
    both = f"{TEXT}\n{SECOND}"
    assert memory_files.merge(both, both, TEXT) == TEXT
    assert memory_files.merge(both, both.replace("network", "router"), TEXT.replace("L5", "L4")) == MarkdownClash(
        ("the whole entry of FCT-second",)
    )
    assert memory_files.merge(both, both.replace("a network", "A"), both.replace("a network", "B")) == MarkdownClash(
        ("body of FCT-second",)
    )
    assert memory_files.merge(both, f"{both}\n{BAD}", f"{both}\n{third}") == MarkdownClash(("the whole file",))


def test_when_it_was_updated_is_read_over() -> None:
    """A time that every edit changes would make every merge a conflict."""
    dated = TEXT.replace("---\nFact", "updated: 2026-11-15T19:42:00Z\n---\nFact")
    assert memory_files.parse(dated, "a.md") == FACT


def test_the_hash_of_what_was_approved_is_the_one_the_page_describes() -> None:
    """Whoever checks an approval without our code must come to the same hash (docs/adr/0021)."""
    text = """---
# a comment
id: DEC-7f3k2m
status: accepted
type: "decision"
tags: [store, "sessions"]
confidence: .90
evidence:
  - commit:0000000000000000000000000000000000000001
expires_at: 2027-01-01
colour:   blue
---
Decision: Sessions are
stored in Redis.

Rationale: über alles.
"""
    said = {
        "id": "DEC-7f3k2m", "type": "decision", "status": "accepted", "layer": None,
        "tags": ["store", "sessions"], "source": None, "confidence": "0.9",
        "evidence": ["commit:0000000000000000000000000000000000000001"], "applies_to": [],
        "supersedes": [], "compatible_with": [], "expires_at": "2027-01-01T00:00:00Z",
        "statement": "Sessions are stored in Redis.", "details": "Rationale: über alles.",
        "extra": {"colour": ["colour:   blue"]},
    }  # fmt: skip
    form = json.dumps(said, sort_keys=True, separators=(",", ":"))
    wanted = hashlib.sha256(b"holdfast-approval-1\n" + form.encode()).hexdigest()
    assert memory_files.digest(memory_files.parse(text, "x.md")) == wanted
    spaced = text.replace("blue", "blue  ").replace("\n", "\r\n")
    assert memory_files.digest(memory_files.parse(spaced, "y.md")) == wanted
    assert memory_files.digest(memory_files.parse(memory_files.render(memory_files.parse(text, "")), "")) == wanted


@pytest.mark.parametrize(
    "front",
    [
        "a: word\nb: null\nc: ~\nd: Null",
        'a: "null"\nb: "~"\nc: "x\\ty\\u00fc\\"z"',
        "a: [x, y]\nb: []",
        "a: [null]",
        "a: [x, NULL, y]",
        "a: [x, ~]",
        'a: ["null", "~"]\nb: ["a, b", c]',
        "a: 0.5\nb: 2031-01-01\nc: 2031-01-01T00:00:00Z",
        "a: x\n#\nb: y\n# b\nc: z\n#",
        "a: x\n# other words\nb: y",
        "a: x\na: y",
        "a: x\n- y",
        "A: x",
    ],
)
def test_the_quick_reader_says_what_yaml_says_or_leaves_it_to_it(front: str) -> None:
    """Two readers that differ make two memories of one file."""
    own = frontmatter._read_own(front)
    if own is not None:
        given = [(field.name, field.value) for field in own]
        assert given == [(field.name, field.value) for field in frontmatter._read_yaml(front)]
    else:
        try:
            assert frontmatter._read_yaml(front) is not None
        except frontmatter.BadFront:
            pass


def test_a_tombstone_without_a_reason_has_none() -> None:
    """Nothing and no words are the same."""
    buried = Rejected.of(
        Candidate.of(FACT, line="main"), rejected_at=datetime(2031, 1, 1, tzinfo=UTC), reason="unwanted"
    )
    text = memory_files.render(buried)
    for words in ("reason: null", "reason:", 'reason: ""'):
        read = memory_files.parse(text.replace("reason: unwanted", words), "a.md")
        assert isinstance(read, Rejected) and read.reason == ""


# Candidates and tombstones.

SUGGESTION = Candidate.of(
    FACT, line="main", provenance=("run:r-1",), suggests="deprecate:FCT-old", because="It was replaced."
)


def test_what_a_candidate_suggests_is_written_only_where_it_says_something() -> None:
    """A reviewer reads where it was said and why; an empty line for it in every file helps nobody."""
    text = memory_files.render(SUGGESTION)
    for line in ("line: main", "provenance: [run:r-1]", "suggests: deprecate:FCT-old", 'because: "It was replaced."'):
        assert f"\n{line}\n" in text
    assert memory_files.parse(text, "a.md") == SUGGESTION
    plain = memory_files.render(Candidate.of(FACT, line="main"))
    assert not any(f"\n{name}:" in plain for name in ("provenance", "suggests", "because"))
    emptied = text.replace('because: "It was replaced."', "because: null")
    assert memory_files.parse(emptied, "a.md") == Candidate.of(SUGGESTION, because="")


def test_changes_of_a_candidate_merge_field_by_field_too() -> None:
    """Two worktrees may mend the same proposal."""
    base, ours, theirs = (
        memory_files.render(Candidate.of(SUGGESTION, **fields))
        for fields in ({}, {"because": "Nobody calls it."}, {"provenance": ("run:r-2",)})
    )
    both = memory_files.render(Candidate.of(SUGGESTION, because="Nobody calls it.", provenance=("run:r-2",)))
    assert memory_files.merge(base, ours, theirs) == both


def test_fields_that_nobody_knows_merge_too() -> None:
    """What another tool wrote down is not ours to drop, nor to bring back."""
    base, ours, theirs = (
        memory_files.render(Accepted.of(FACT, extra=extra, layer=layer))
        for extra, layer in (
            ((("owner", "owner: ada"), ("gone", "gone: 1")), "L5"),
            ((("owner", "owner: ben"), ("gone", "gone: 1")), "L5"),
            ((("owner", "owner: ada"),), "L4"),
        )
    )
    both = memory_files.render(Accepted.of(FACT, extra=(("owner", "owner: ben"),), layer="L4"))
    assert memory_files.merge(base, ours, theirs) == both


def test_one_side_of_a_file_of_several_is_taken_as_it_is() -> None:
    """What only one side touched is that side's, broken or not."""
    both = f"{TEXT}\n{SECOND}"
    edited = f"{TEXT}\n{BAD}"
    assert memory_files.merge(both, edited, edited) == edited
    assert memory_files.merge(both, edited, both) == edited
    assert memory_files.merge(both, both, edited) == edited
    cut = memory_files.merge(both, both.replace("L5", "L4").rstrip("\n"), both.replace("0.9", "0.8"))
    assert isinstance(cut, str) and cut.endswith("\n") and "\n\n\n" not in cut
    assert said(cut) == ["FCT-7f3k2m", "FCT-second"]


def test_an_unresolved_merge_is_one_part_from_the_first_character() -> None:
    """Whoever replaces a part must not leave a character of it behind."""
    (part,) = memory_files.parts(f"<<<<<<< ours\n{TEXT}", "a.md")
    assert (part.piece.start, part.line, part.piece.end) == (0, 1, len(part.text))


# What was read before.


@given(shared.map(lambda f: Accepted(**f)) | shared.map(lambda f: Retired(**f)))
def test_a_text_that_was_taken_apart_before_says_the_same(memory: Memory) -> None:
    """A command that reads what another remembered must not see another memory."""
    text = memory_files.render(memory)
    kept = json.loads(json.dumps(memory_files.plain(text)))
    memory_files._known_texts.clear()
    memory_files.know(text, kept)
    again = memory_files.parse(text, "a.md")
    assert again == memory and type(again) is type(memory)
    assert memory_files.render(again) == text
    assert memory_files.digest(again) == memory_files.digest(memory)


def test_only_accepted_and_retired_memories_are_remembered_so() -> None:
    """Candidates have fields of their own, which would be lost."""
    with pytest.raises(BrokenEntry, match="candidate or a tombstone"):
        memory_files.plain(memory_files.render(SUGGESTION))


def test_blank_rows_of_an_unknown_field_say_nothing() -> None:
    """A formatter that adds a row to a block must not take an approval away."""
    one, other = (Accepted.of(FACT, extra=(("note", raw),)) for raw in ("note: |\n  a\n  b", "note: |\n  a \n\n  b"))
    assert memory_files.digest(one) == memory_files.digest(other) != memory_files.digest(FACT)


# What somebody writes down.

SKETCH = "---\ntype: decision\ntags: [db]\n---\nUse Postgres.\n\nIt is there.\n"


def test_a_new_entry_may_lack_all_but_its_words() -> None:
    """A person who writes one down should not have to invent an id."""
    made = memory_files.sketch(SKETCH, "a.md")
    assert (made.id, made.evidence) == (None, ())
    assert made.memory == Accepted(
        id="none", type="decision", statement="Use Postgres.", details="It is there.", tags=("db",)
    )
    text = SKETCH.replace("type: decision", "id: DEC-own\nstatus: whatever\nnow: x\nevidence: [README, a b]")
    made = memory_files.sketch(text, "a.md", kind="fact", ignored=("now",))
    assert (made.id, made.memory.id, made.memory.type, made.evidence) == (
        "DEC-own",
        "DEC-own",
        "fact",
        ("README", "a b"),
    )
    made = memory_files.sketch(SKETCH.replace("type:", "id: null\ntype:"), "a.md", kind="fact")
    assert (made.id, made.memory.type) == (None, "decision"), "what it says itself counts"


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (SKETCH.replace("type: decision\n", ""), 1, "has no type"),
        (SKETCH.replace("type: decision", "type: null"), 1, "has no type"),
        (SKETCH.replace("type: decision", "type: decision\nowner: ada"), 3, "has an unknown field 'owner'"),
        (SKETCH.replace("tags: [db]", "tags: db"), 3, "tags must be a list"),
    ],
)
def test_a_new_entry_that_would_lose_something_is_refused_with_its_line(text: str, line: int, reason: str) -> None:
    """A field that nobody reads would be gone after the next look."""
    for first in (1, 40):
        options = {} if first == 1 else {"line": first}
        with pytest.raises(BrokenEntry) as caught:
            memory_files.sketch(text, "a.md", **options)
        assert str(caught.value) == f"a.md:{line + first - 1} {reason}"
