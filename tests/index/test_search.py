"""What a query means: words are data, identifiers are understood, equals are put in order."""

import random
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from bench.recall.loading import LoadedDocument, load_documents
from hypothesis import given
from hypothesis import strategies as st

from holdfast.git.clone import Clone
from holdfast.index import schema
from holdfast.index.answer import advice, answer
from holdfast.index.hit_text import FIELDS
from holdfast.index.pool import number_of
from holdfast.index.query import MAX_QUERY, Scope, read_query
from holdfast.index.ranking import match_all, match_any, search, snippet, split_word
from holdfast.index.search_rows import time_number
from holdfast.index.sqlite import INDEX_FORM, _prepared
from holdfast.recall.search import recall
from tests.index.conftest import approve, keep_fact


@pytest.fixture(scope="module")
def empty() -> sqlite3.Connection:
    return _prepared(sqlite3.connect(":memory:", isolation_level=None), INDEX_FORM, wal=False)


@given(query=st.text(max_size=60))
def test_no_query_can_steer_the_database(query: str) -> None:
    """A stray quote in a question must not become an error, let alone a command."""
    db = _prepared(sqlite3.connect(":memory:", isolation_level=None), INDEX_FORM, wal=False)
    asked = read_query(query)
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
    asked = read_query("postgres tag:DB task:T-1")
    assert asked.words == ["postgres"]
    assert asked.facets == [schema.facet("g", "db"), schema.facet("t", "t-1")]


def test_a_long_query_is_cut() -> None:
    """A pasted log file must not keep the database busy for minutes."""
    assert len(read_query("word " * 10_000).words) <= 64
    assert sum(map(len, read_query("x" * 10 * MAX_QUERY).words)) <= MAX_QUERY


def test_the_snippet_shows_the_words_that_were_asked_for() -> None:
    """A hit that does not show why it was found is read twice."""
    text = "first " * 100 + "the Postgres part " + "last " * 100
    shown = snippet(text, ["postgres"])
    assert "Postgres" in shown
    assert shown.startswith("…") and shown.endswith("…")
    assert len(shown) < 250
    assert snippet("short", ["absent"]) == "short"


WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
FILES = ("src/a.py", "src/b.py", "docs/a.md", "lib/deep/c.py", "top.txt")


def filled(documents: Sequence[LoadedDocument]) -> sqlite3.Connection:
    """An index of these, put in one after the other in this order."""
    db = _prepared(sqlite3.connect(":memory:", isolation_level=None), INDEX_FORM, wal=False)
    load_documents(db, documents)
    return db


def made_up(chosen: random.Random, count: int) -> list[LoadedDocument]:
    """Records with and without a time, some of which say the same."""
    found = []
    for place in range(count):
        timed = chosen.random() < 0.6
        found.append(
            LoadedDocument(
                name=f"N-{place:03d}",
                title=" ".join(chosen.choices(WORDS, k=2)),
                text=" ".join(chosen.choices(WORDS, k=chosen.randint(0, 6))),
                kind="commit" if timed else "fact",
                ts=f"2026-01-{1 + place % 28:02d}T10:00:00.{place:06d}Z" if timed else None,
                paths=tuple(chosen.sample(FILES, chosen.randint(0, 3))),
            )
        )
    return found


def names(hits: Sequence[tuple[Any, ...]]) -> list[str]:
    return [hit[FIELDS.index("id")] for hit in hits]


def score_of(hits: Sequence[tuple[Any, ...]], name: str) -> float:
    return float(next(hit[FIELDS.index("score")] for hit in hits if hit[0] == name))


@pytest.mark.parametrize("count", [3, 40, 260])
def test_the_order_of_insertion_changes_no_answer(seed: int, count: int) -> None:
    """Two clones that met the same records on different days must give the same answer."""
    chosen = random.Random(seed)
    records = made_up(chosen, count)
    first, shuffled = filled(records), records[:]
    chosen.shuffle(shuffled)
    second = filled(shuffled)
    for question in ("alpha", "beta gamma", "alpha beta gamma delta epsilon", "zeta src/a.py", ""):
        for files in ((), ("src/a.py",), ("lib/deep/c.py", "top.txt")):
            scope = Scope(files=files)
            assert search([first], question, scope=scope, limit=20) == search(
                [second], question, scope=scope, limit=20
            ), (question, files)


@pytest.mark.parametrize("kind", ["doc", "commit"])
def test_of_very_many_that_are_alike_the_same_are_shown(seed: int, kind: str) -> None:
    """Two clones must show the same, also where more of one moment, or of none, are there than are read."""
    ts = "2026-01-01T10:00:00.000000Z" if kind == "commit" else None
    count = 1010 if kind == "doc" else 130
    records = [LoadedDocument(name=f"N-{n:04d}", title="alpha", text="beta", kind=kind, ts=ts) for n in range(count)]
    first, shuffled = filled(records), records[:]
    random.Random(seed).shuffle(shuffled)
    second = filled(shuffled)
    for question in ("", "alpha", "alpha gamma"):
        here, there = (search([db], question, scope=Scope(kind=kind)) for db in (first, second))
        assert names(here) == [f"N-{n:04d}" for n in range(5)], question
        assert here == there, question


def test_one_more_shared_file_never_lowers_a_hit(seed: int) -> None:
    """Whoever opens the file that a record is about must not lose the record for it."""
    chosen = random.Random(seed)
    records = made_up(chosen, 60)
    db = filled(records)
    for record in chosen.sample([one for one in records if one.paths], 12):
        question = record.title
        opened: list[str] = []
        last = score_of(search([db], question, limit=100), record.name)
        for path in record.paths:
            opened.append(path)
            now = score_of(search([db], question, scope=Scope(files=opened), limit=100), record.name)
            assert now >= last - 1e-9, (record, opened)
            last = now


def test_open_files_bring_what_shares_no_word() -> None:
    """The decision about a file is wanted by whoever opens it, whatever words they use."""
    about = LoadedDocument(name="N-1", title="Pools are closed early", text="", kind="fact", paths=("src/db",))
    changed = LoadedDocument(
        name="N-2", title="Tidy up", text="", kind="commit", ts="2026-01-02T10:00:00.000000Z",
        paths=("src/db/pool.py",),
    )  # fmt: skip
    other = LoadedDocument(name="N-3", title="Something else", text="", kind="fact")
    db = filled([about, changed, other])
    assert search([db], "unheard") == []
    found = search([db], "unheard", scope=Scope(files=["src/db/pool.py"]))
    assert set(names(found)) == {"N-1", "N-2"}
    assert set(names(search([db], "", scope=Scope(files=["src/db/pool.py"])))) == {"N-1", "N-2"}
    assert names(search([db], "unheard", scope=Scope(files=["src/db/pool.py"], kind="fact"))) == ["N-1"]


def test_the_question_bounds_the_answer_whatever_way_it_was_found() -> None:
    """`--kind` and `--since` hold for what comes in by files and links, too."""
    old, new = "2025-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.000000Z"
    records = [
        LoadedDocument(name=f"N-{kind}-{ts[:4]}", title="zebra", text="", kind=kind, ts=ts, paths=("src/a.py",))
        for kind in ("commit", "turn")
        for ts in (old, new)
    ]
    db = filled(records)
    scope = Scope(kind="commit", since="2025-06-01T00:00:00Z", files=["src/a.py"])
    assert names(search([db], "zebra", scope=scope)) == ["N-commit-2026"]
    assert len(search([db], "zebra", scope=Scope(since=new))) == 2
    assert number_of(new) == time_number(new) - 1
    assert number_of("2024-02-29") == time_number("2024-02-29T00:00:00.000000Z") - 1


def test_a_score_is_explained_by_its_parts() -> None:
    """A rank that nobody can account for cannot be trusted or mended."""
    db = filled([LoadedDocument(name="N-1", title="zebra", text="stripes", kind="fact", paths=("a.py",))])
    (hit,) = search([db], "zebra", scope=Scope(files=["a.py"]), explain=True)
    *fields, parts = hit
    assert tuple(fields) == search([db], "zebra", scope=Scope(files=["a.py"]))[0]
    assert {"words", "files", "kind"} <= {name for name, _ in parts}
    assert [abs(part) for _, part in parts] == sorted((abs(part) for _, part in parts), reverse=True)
    assert sum(part for _, part in parts) == pytest.approx(fields[FIELDS.index("score")], abs=0.05)


class Meaning:
    """Vectors that put one content nearest, whatever was asked."""

    def __init__(self, near: dict[bytes, float]) -> None:
        self.near = near

    def of(self, contents: Iterable[bytes]) -> dict[bytes, float]:
        return {content: self.near[content] for content in contents if content in self.near}

    def best(self, limit: int) -> list[tuple[bytes, float]]:
        return sorted(self.near.items(), key=lambda pair: -pair[1])[:limit]


def test_what_is_near_in_meaning_is_found_without_a_word() -> None:
    """Who asks for `car` means the automobile as well."""
    records = [LoadedDocument(name=f"N-{word}", title=word, text="", kind="fact") for word in WORDS]
    db = filled(records)
    contents = dict(db.execute("SELECT name, content FROM row"))
    near = Meaning({contents["N-gamma"]: 0.9, contents["N-beta"]: 0.2})
    assert "N-gamma" in names(search([db], "unheard", near=near))
    assert names(search([db], "unheard", near=near))[0] == "N-gamma"
    assert names(search([db], "alpha", near=None)) == ["N-alpha"]


def test_what_is_found_by_meaning_alone_says_so_and_nothing_is_found_that_is_far() -> None:
    """A guess that looks like a find is believed; and something is always the nearest."""
    db = filled([LoadedDocument(name=f"N-{word}", title=word, text="", kind="fact") for word in WORDS])
    contents = dict(db.execute("SELECT name, content FROM row"))
    by = FIELDS.index("by")
    near = Meaning({contents["N-gamma"]: 0.5, contents["N-alpha"]: 0.4})
    found = {hit[0]: hit[by] for hit in search([db], "alpha unheard", near=near)}
    assert found == {"N-alpha": None, "N-gamma": "meaning"}
    (alone,) = search([db], "unheard", near=Meaning({contents["N-gamma"]: 0.5}))
    assert alone[by] == "meaning"
    far = Meaning({contents["N-gamma"]: 0.2, contents["N-alpha"]: 0.1})
    assert search([db], "unheard", near=far) == []
    assert names(search([db], "alpha", near=far)) == ["N-alpha"]


def test_sources_are_asked_together() -> None:
    """What was decided and what the repository holds are one answer, and numbers of rows may be equal."""
    memory = LoadedDocument(name="FCT-1", title="We pin the zebra", text="", kind="fact")
    code = [LoadedDocument(name=f"src/{n}.py:1", title=f"pin zebra {n}", text="", kind="code") for n in range(30)]
    found = search([filled([memory]), filled(code)], "pin zebra", limit=5)
    assert names(found)[0] == "FCT-1"
    assert len(found) == 5


def test_neighbours_of_a_turn_come_in_with_it() -> None:
    """The answer to a question holds none of its words, and stands in the turn after it."""
    talk = [
        LoadedDocument(name="t1", text="hello", kind="turn", group="talk", seq=1, ts="2026-01-01T00:00:00.000000Z"),
        LoadedDocument(
            name="t2", text="where do zebras live?", kind="turn", group="talk", seq=2,
            ts="2026-01-01T00:00:01.000000Z",
        ),
        LoadedDocument(
            name="t3", text="in the savannah", kind="turn", group="talk", seq=3,
            ts="2026-01-01T00:00:02.000000Z",
        ),
    ]  # fmt: skip
    found = names(search([filled(talk)], "where do zebras live"))
    assert found[0] == "t2"
    assert found.index("t3") < found.index("t1")


def test_what_was_replaced_never_stands_before_what_replaced_it(clone: Clone) -> None:
    """The old decision often says it in more of the words that people ask with."""
    said = {
        "FCT-old111": ("Zebra pool size is ten for the zebra pool.", "[]"),
        "FCT-mid222": ("Zebra pool is twenty.", "[FCT-old111]"),
        "FCT-new333": ("Thirty: see the zebra notes of June.", "[FCT-mid222]"),
    }
    for name, (statement, replaces) in said.items():
        keep_fact(clone, name, statement, supersedes=replaces)
        approve(clone, name, statement)
    found = [(hit.id, hit.state) for hit in recall(clone, "zebra pool size ten")]
    assert [name for name, _ in found] == ["FCT-new333", "FCT-mid222", "FCT-old111"]
    assert [state for _, state in found][1:] == ["superseded", "superseded"]


def test_a_memory_is_found_among_many_events_that_say_the_same() -> None:
    """What was decided once must not drown in what was done a hundred times."""
    events = [
        LoadedDocument(name=f"N-{n}", title="zebra", text="", kind="run", ts=f"2026-01-01T00:00:00.{n:06d}Z")
        for n in range(300)
    ]
    memory = LoadedDocument(name="FCT-1", title="The zebra is fed at noon", text="", kind="fact")
    assert names(search([filled([*events, memory])], "zebra"))[0] == "FCT-1"


HARBOUR = (
    "The connection to the database is pooled",
    "The harbour crane stops at night",
    "Transcripts are stored by position",
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("conection pooled", 0), ("databsae", 0), ("databases", 0), ("harbuor", 1), ("harborr", 1), ("transcirpt", 2),
        ("trnscript positon", 2), ("zeppelin", None), ("crone", 1), ("nigth", 1),
    ],
)  # fmt: skip
def test_a_word_that_nothing_holds_finds_its_nearest(typed: str, meant: int | None) -> None:
    """People and models mistype, and a question with one wrong letter found nothing."""
    db = filled([LoadedDocument(name=f"F{n}", title=text, text=text, kind="fact") for n, text in enumerate(HARBOUR)])
    asked = read_query(typed)
    hits = answer([db], None, asked, scope=Scope(), limit=5, now="")
    assert [hit[0] for hit in hits[:1]] == ([] if meant is None else [f"F{meant}"])
    assert advice(db, read_query(typed), hits, by_meaning=True) or meant is not None


def test_a_word_that_something_holds_is_never_replaced() -> None:
    """Who asks for the crate must not get the crane."""
    db = filled(
        [
            LoadedDocument(name=f"F{n}", title=text, text=text, kind="fact")
            for n, text in enumerate((*HARBOUR, "A crate"))
        ]
    )
    asked = read_query("crate harbour connections")
    answer([db], None, asked, scope=Scope(), limit=5, now="")
    assert asked.spelled == {}


def test_a_weak_answer_says_what_would_help() -> None:
    """Hits that hold one common word look like an answer."""
    db = filled([LoadedDocument(name=f"F{n}", title=text, text=text, kind="fact") for n, text in enumerate(HARBOUR)])

    def said(query: str, *, by_meaning: bool = False) -> str:
        asked = read_query(query)
        hits = answer([db], None, asked, scope=Scope(), limit=5, now="")
        return advice(db, asked, hits, by_meaning=by_meaning)

    weak = said("why does the zeppelin land at night on mondays")
    assert "Found nothing with “zeppelin” or “mondays”." in weak and "These hits match badly." in weak
    assert "holdfast import" in weak and "search by meaning (`holdfast model`)" in weak
    assert "holdfast model" not in said("why does the zeppelin land at night on mondays", by_meaning=True)
    assert said("why does the harbour crane stop at night") == ""
    assert said("databsae connection pooled").startswith("Searched “databsae” as “databas…”.")
