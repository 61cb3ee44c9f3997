"""What a person marked as private is never kept."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.security.redact import Scanner, without_private

SCAN = Scanner()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a <private>b</private> c", "a  c"),
        ("<private>b</private>", ""),
        ("a<PRIVATE>b\nc\r\nd</Private>e", "ae"),
        ("a<private>b<private>c</private>d</private>e", "ae"),
        ("a<private>b</private>c<private>d</private>e", "ace"),
        ("a<private>b<private>c</private>d", "a"),
        ("a<private>to the end", "a"),
        ("a</private>b", "a</private>b"),
        ("class A { private: int b; } <privateer> < private >", "class A { private: int b; } <privateer> < private >"),
        ("a<pri<private>x</private>vate>b", "a<pri vate>b"),
    ],
)
def test_what_is_marked_private_is_dropped(text: str, kept: str) -> None:
    """Somebody told the agent a name and trusted the tag."""
    assert without_private(text) == SCAN.text(text) == kept


PIECES = st.sampled_from(
    ["<private>", "</private>", "<Private>", "<pri", "vate>", "</", "<", ">", "a", "\n", "private"]
)


@given(pieces=st.lists(PIECES, max_size=12))
@example(pieces=["<", "<private>", "</private>", "private>"])
def test_dropping_twice_changes_nothing(pieces: list[str]) -> None:
    """Text is scanned again when it is sealed; it must not shrink a second time."""
    once = without_private("".join(pieces))
    assert without_private(once) == once
    assert "<private>" not in once.lower()


def test_many_tags_are_read_in_one_pass() -> None:
    """A hostile transcript of nothing but tags must not hold up the import."""
    count = 100_000
    assert without_private("<private>" * count + "</private>" * count + "x") == "x"
    assert without_private("<pri" * count + "<private></private>" + "vate>" * count).count("<pri") == count
    assert without_private("a<private></private>" * count) == "a" * count


def test_private_parts_of_values_are_dropped_wherever_they_stand() -> None:
    """A tool call's arguments are text of the same person."""
    value = {"prompt": "go <private>Bob</private> on", "list": ["<private>x"], "<private>k</private>": 1}
    assert SCAN.value(value) == {"prompt": "go  on", "list": [""], "": 1}


def test_private_parts_of_output_are_hidden_however_it_arrives() -> None:
    """An agent that repeats its prompt to the terminal repeats the private part too."""
    data = b"say <Private>Bob\nand Eve</PRIVATE> twice"
    for cut in range(len(data)):
        stream = SCAN.stream()
        assert stream.feed(data[:cut]) + stream.feed(data[cut:]) + stream.finish() == b"say [redacted:private] twice"
