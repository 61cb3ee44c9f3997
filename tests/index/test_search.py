"""What a query means: words are data, identifiers are understood, equals are put in order."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index import schema
from holdfast.index.asked import MAX_QUERY, read
from holdfast.index.search import match_all, match_any, search, snippet, split_word
from holdfast.index.sqlite import _prepared


@pytest.fixture(scope="module")
def empty() -> sqlite3.Connection:
    return _prepared(sqlite3.connect(":memory:", isolation_level=None), wal=False)


@given(query=st.text(max_size=60))
def test_no_query_can_steer_the_database(query: str) -> None:
    """A stray quote in a question must not become an error, let alone a command."""
    db = _prepared(sqlite3.connect(":memory:", isolation_level=None), wal=False)
    asked = read(query)
    for match in (match_all, match_any):
        if asked.terms:
            expression = match([*asked.terms, *asked.parts], asked.facets)
            db.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()
    assert search([db], query) == []


@pytest.mark.parametrize(
    "query",
    ["foo AND bar", "(python", "a:b", '"', "'; DROP TABLE row; --", "NEAR(a b)", "^x", "a*", "{title}: x",
     "\0", "a\0b", "-", "+", "NOT", "x" * 100_000, "\udcff", "title : secret", "tag:", "task:",
     "tag:x task:y"],
)  # fmt: skip
def test_odd_queries_are_just_words(empty: sqlite3.Connection, query: str) -> None:
    """Agents paste anything; an error here ends their turn."""
    assert search([empty], query) == []


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("get_user_name", ["get", "user", "name"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("src/app/main.py", ["src", "app", "main", "py"]),
        ("utf8Text", ["utf8", "Text"]),
        ("plain", ["plain"]),
        ("--", []),
        ("", []),
    ],
)
def test_identifiers_have_parts(word: str, parts: list[str]) -> None:
    """People remember `user name`, the code says `getUserName`."""
    assert split_word(word) == parts


def test_tag_and_task_words_are_filters() -> None:
    """`tag:db` asks for the tag, not for the word."""
    asked = read("postgres tag:DB task:T-1")
    assert asked.words == ["postgres"]
    assert asked.facets == [schema.facet("g", "db"), schema.facet("t", "t-1")]


def test_a_long_query_is_cut() -> None:
    """A pasted log file must not keep the database busy for minutes."""
    assert len(read("word " * 10_000).words) <= 64
    assert sum(map(len, read("x" * 10 * MAX_QUERY).words)) <= MAX_QUERY


def test_the_snippet_shows_the_words_that_were_asked_for() -> None:
    """A hit that does not show why it was found is read twice."""
    text = "first " * 100 + "the Postgres part " + "last " * 100
    shown = snippet(text, ["postgres"])
    assert "Postgres" in shown
    assert shown.startswith("…") and shown.endswith("…")
    assert len(shown) < 250
    assert snippet("short", ["absent"]) == "short"
