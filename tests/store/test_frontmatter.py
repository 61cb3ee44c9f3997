"""Frontmatter: fields read by either way, and separators where a merge needs them."""

import pytest
import yaml

from holdfast.store import frontmatter
from holdfast.store.frontmatter import MAX_DEPTH, MAX_FRONT, BadFront, Nested, laid_out, read


def refused(front: str) -> tuple[int, str]:
    """The line and the reason why it cannot be read."""
    with pytest.raises(BadFront) as caught:
        read(front)
    assert str(caught.value) == caught.value.reason
    return caught.value.line, caught.value.reason


def values(front: str) -> dict[str, object]:
    return {field.name: field.value for field in read(front)}


# ── reading ───────────────────────────────────────────────────────────────────


def test_frontmatter_may_be_as_large_as_said_and_no_larger() -> None:
    """A file that was published must not become unreadable by one byte that nobody counted."""
    room = MAX_FRONT - len("note: ")
    assert values(f"note: {'x' * room}") == {"note": "x" * room}
    assert refused(f"note: {'x' * (room + 1)}")[1] == f"the frontmatter is larger than {MAX_FRONT:,} bytes"
    assert refused(f'note: "{"é" * (room // 2)}"')[0] == 0


@pytest.mark.parametrize(
    ("front", "line", "reason"),
    [
        ("a: 'x'\n---\nb: 1", 1, "there must be one document only"),
        ("---\na: 'x'", 0, "there must be one document only"),
        ("[a, b]: c", 0, "a field's name must be a word at the start of its line"),
        ("a: 'x'\n? [b]\n: c", 1, "a field's name must be a word at the start of its line"),
        ("\na: 'x'\nb: a\u2028b", 2, "U+2028 ends a line only for some readers"),
        ("a: 'x'\na: 1", 1, "a is here twice"),
        ("a: 'x'\n<<: b", 1, "the merge key << is not allowed here"),
        ("# nothing", 0, "there are no fields"),
        (f"a: {'[' * MAX_DEPTH}{']' * MAX_DEPTH}", 0, f"it is nested deeper than {MAX_DEPTH} levels"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line_and_why(front: str, line: int, reason: str) -> None:
    """Whoever edited it by hand finds the line."""
    assert refused(front) == (line, reason)


def test_what_the_parser_complains_of_is_said() -> None:
    """`it cannot be read` helps nobody."""
    line, reason = refused("a: 'x'\nb: [c")
    assert line >= 1 and reason.startswith("not readable as frontmatter: ") and "expected" in reason
    line, reason = refused("a: 'x'\nb: \x1b")
    assert line == 0 and "characters are not allowed" in reason


@pytest.mark.parametrize("quick", [True, False])
def test_values_that_no_known_field_has_are_told_from_words(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list with a hole in it, or a list of lists, must not be taken for the words it holds."""
    if not quick:
        monkeypatch.delattr(yaml, "CSafeLoader", raising=False)
    deepest = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    front = f"a: [b, null]\nc: [d, [e]]\nf: {{g: h}}\ni: [j, 'null']\nk: ~\nl: ''\nm: {deepest}\n'n': Null\no:"
    assert values(front) == {**dict.fromkeys("acfm", Nested()), **dict.fromkeys("kno"), "i": ("j", "null"), "l": ""}
    assert values("a: '<<'\n'b': c") == {"a": "<<", "b": "c"}


def test_a_field_is_kept_as_it_was_written_without_what_parts_it_from_the_next() -> None:
    """A separator that is kept as part of a field comes back once more with every change."""
    front = "a: 'x'\n#\n\nb:\n  - c\n# b\n# d\n\ne: 1\n#\n"
    assert [(field.name, field.line, field.raw) for field in read(front)] == [
        ("a", 0, "a: 'x'"),
        ("b", 3, "b:\n  - c\n# b\n# d"),
        ("e", 8, "e: 1"),
    ]
    assert [field.raw for field in read("a: 'x'\nb: c\n# b\n\ne: 1")] == ["a: 'x'", "b: c", "e: 1"]


def test_a_word_that_a_reader_could_take_for_something_else_is_quoted() -> None:
    """Some reader of YAML takes `no` for a truth value."""
    assert [frontmatter.word(text) for text in ("run:a/b-c", "No", "null", "5", "a b", "")] == [
        *("run:a/b-c", '"No"', '"null"', '"5"', '"a b"', '""')
    ]
    assert frontmatter.words(("a", "yes")) == '[a, "yes"]'


# ── separators ────────────────────────────────────────────────────────────────

BARE = "id: a\nlayer: L5\nsource: b\nlast: c"


def test_a_new_text_has_a_separator_after_each_field() -> None:
    """Git merges two changes only if an unchanged line lies between them."""
    apart = "id: a\n#\nlayer: L5\n#\nsource: b\n#\nlast: c\n#"
    assert laid_out(BARE) == apart == laid_out(apart)
    named = "id: a\n#\nowner: me\n# owner\nlast: c"
    assert laid_out(named) == f"{named}\n#", "the one after a field that nobody knows keeps its name"
    assert laid_out("id: 'a'\nlast: c") == "id: 'a'\nlast: c", "a form that is not ours is left alone"


def test_a_change_puts_separators_around_itself_alone() -> None:
    """Two branches that change different fields of an older file still merge."""
    changed = BARE.replace("b", "d")
    assert laid_out(changed, BARE) == "id: a\nlayer: L5\n#\nsource: d\n#\nlast: c"
    assert laid_out(BARE, BARE) == BARE
    assert laid_out(changed, "id: 'a'") == laid_out(changed), "an older text that is not in our form tells nothing"


def test_a_separator_that_one_side_had_stays() -> None:
    """Where it is, the other side's change merges."""
    apart = BARE.replace("layer: L5", "layer: L5\n#")
    assert laid_out(BARE, BARE, apart) == apart == laid_out(BARE, apart, BARE)


def test_of_two_sides_only_what_neither_has_counts_as_changed() -> None:
    """A merge takes each field from one of both: the other side has not changed it."""
    ours, theirs = BARE.replace("L5", "L1"), BARE.replace(": c", ": e")
    both = ours.replace(": c", ": e")
    assert laid_out(both, ours, theirs) == both
    assert laid_out(both, ours) == "id: a\nlayer: L1\nsource: b\n#\nlast: e\n#"


def test_a_field_that_says_nothing_gets_a_line_only_where_it_had_one() -> None:
    """An older file must not grow lines that nobody wrote."""
    longer = f"{BARE}\ntags: []\nexpires_at: null"
    assert laid_out(longer, BARE) == BARE
    assert laid_out(longer, BARE, longer) == longer, "one side has them"
    assert laid_out(f"{BARE}\ntags: [d]", BARE) == "id: a\nlayer: L5\nsource: b\nlast: c\n#\ntags: [d]\n#"
