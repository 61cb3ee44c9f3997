"""Of several kinds in one answer, what was asked for stands first, and nothing takes two places."""

import random
import sqlite3

import pytest
from bench.recall.loading import LoadedDocument, load_documents

from holdfast.index import result_order
from holdfast.index.hit_text import FIELDS
from holdfast.index.query import Scope, read_query
from holdfast.index.ranking import search
from holdfast.index.result_order import NAMES, SHORT, WORDS, form_of, is_test
from holdfast.index.sqlite import TABLES

AT = {name: place for place, name in enumerate(FIELDS)}
OLD = "2026-01-01T10:00:00.000000Z"
SHOP = [
    LoadedDocument(
        name="docs/pool.md:1",
        title="The pool",
        text="Connections are kept in a pool: opening one is slow.",
        kind="doc",
        paths=("docs/pool.md",),
    ),
    LoadedDocument(
        name="c0ffee", title="Keep connections in a pool", text="Opening one is slow.", kind="commit", ts=OLD
    ),
    LoadedDocument(
        name="shop/pool.py:1",
        title="Pool",
        text="class Pool:\n    # pool of open connections, kept\n    kept = []",
        kind="code",
        paths=("shop/pool.py",),
    ),
    LoadedDocument(
        name="shop/limits.py:1",
        title="limits.py",
        text="import os\n\nMAX_POOL = 12\n",
        kind="code",
        paths=("shop/limits.py",),
    ),
    *(
        LoadedDocument(
            name=f"tests/test_pool.py:{n}",
            title=f"test_pool_{n}",
            kind="code",
            paths=("tests/test_pool.py",),
            text=f"def test_pool_{n}():\n    pool = Pool({n})\n    assert pool.kept, connections, MAX_POOL",
        )
        for n in range(1, 9)
    ),
]


def filled(documents: list[LoadedDocument]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(";".join(TABLES.values()))
    load_documents(db, documents)
    return db


def found(documents: list[LoadedDocument], question: str, **scope: str) -> list[str]:
    return [hit[AT["id"]] for hit in search([filled(documents)], question, scope=Scope(**scope))]


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("why do we keep connections in a pool", WORDS),
        ("what happens when the pool is full", WORDS),
        ("pool connections", SHORT),
        ("wingman", SHORT),
        ("MAX_POOL", NAMES),
        ("MaxChunkSize", NAMES),
        ("shop/pool.py", NAMES),
        ("PoolError: no connection left", NAMES),
        ("json: cannot unmarshal array into Go struct field Message.content of type string", NAMES),
        ("where is the pool defined", NAMES),
        ("", SHORT),
    ],
)
def test_a_question_looks_like_what_it_asks_for(question: str, form: str) -> None:
    """Who asks why gets code, and who asks for a symbol gets prose."""
    assert form_of(read_query(question)) == form


def test_who_asks_why_is_told_what_was_written_down() -> None:
    """Tests repeat every word of the code, and take all the places."""
    ids = found(SHOP, "why do we keep connections in a pool")
    assert set(ids[:2]) == {"docs/pool.md:1", "c0ffee"}
    assert ids[2] == "shop/pool.py:1"


def test_a_name_leads_to_where_it_is_defined() -> None:
    """Whoever asks for a constant wants its value, not the tests that use it."""
    assert found(SHOP, "MAX_POOL")[0] == "shop/limits.py:1"
    assert found(SHOP, "class Pool")[0] == "shop/pool.py:1"


def test_tests_come_first_only_if_they_are_asked_for() -> None:
    """A test can be what somebody looks for."""
    assert found(SHOP, "which test checks that pool connections are kept")[0].startswith("tests/")


def test_how_tests_are_run_is_answered_by_the_page_that_says_so() -> None:
    """It is the first question of everybody who is new, and every test and helper has its words."""
    page = LoadedDocument(
        name="CONTRIBUTING.md:1",
        title="Contributing",
        text="`make test` runs the tests.",
        kind="doc",
        paths=("CONTRIBUTING.md",),
    )
    helpers = [
        LoadedDocument(
            name=f"tests/test_{n}.py:1",
            title="run",
            text="def run(tests): ...",
            kind="code",
            paths=(f"tests/test_{n}.py",),
        )
        for n in range(4)
    ]
    for question in ("how do we run the tests", "where are tests run"):
        assert found([*SHOP, *helpers, page], question)[0] == "CONTRIBUTING.md:1"
    assert form_of(read_query("the latest pool")) == WORDS, "no test is meant"


def test_one_file_takes_two_places_while_others_have_something_to_say() -> None:
    """Five methods of one class are one hit."""
    ids = found(SHOP, "pool connections")
    assert sum(name.startswith("tests/") for name in ids) <= 2
    assert len(found(SHOP, "pool connections", kind="code")) == 5  # who asks for code gets all of it


@pytest.mark.parametrize("kind", ["turn", "run", "decision"])
@pytest.mark.parametrize(
    "question", ["why do we keep open connections in a pool", "how did we test that connections are kept"]
)
def test_who_asks_in_words_finds_what_was_said_among_the_first_two(kind: str, question: str) -> None:
    """Whatever repeats the words: twenty files, commits and pages say them all, and the reason stands in none."""
    said = LoadedDocument(
        name="SAID", title="Opening takes a second", kind=kind, ts=OLD,
        text="We test each day that a connection is kept open, since opening one takes a second.",
    )  # fmt: skip
    words = "why do we keep open connections in a pool: how did we test that connections are kept"
    loud = [
        LoadedDocument(name=f"{kind}{n}", title=words, text=f"{words} {n}", kind=kind, ts="2026-05-01T10:00:00.000000Z",
                       paths=(f"{kind}{n}.x",))
        for kind in ("code", "commit", "doc")
        for n in range(20)
    ]  # fmt: skip

    def first(question: str, *recorded: LoadedDocument) -> list[str]:
        sources = [filled([*recorded]), filled(loud)]
        return [hit[AT["id"]] for hit in search(sources, question)]

    ids = first(question, said)
    assert ids.index("SAID") < 2
    assert first("MAX_POOL pool.kept", said)[0] != "SAID", "a name is asked of the code"
    foreign = LoadedDocument(name="SAID", title="Ships", text="Ships connect islands.", kind=kind, ts=OLD)
    assert "SAID" not in first(question, foreign)[:2], "one common word is no answer"


def test_one_conversation_takes_one_place() -> None:
    """A run, its turns and its session say the same, and fill the screen."""
    talk = [
        LoadedDocument(
            name="R1", title="Claude Code: mend the pool", text="mend the pool", kind="run", ts=OLD, group="R1"
        ),
        *(
            LoadedDocument(
                name=f"R1#{n}",
                title="Asked: mend the pool",
                text=f"the pool, step {n}",
                kind="turn",
                ts=OLD,
                group="R1",
                seq=n,
            )
            for n in range(1, 5)
        ),
    ]
    session = LoadedDocument(
        name="SES-1", title="mend the pool", text="Claude Code: mend the pool", kind="session", ts=OLD
    )
    pages = [
        LoadedDocument(name=f"docs/{n}.md:1", title=f"Part {n}", text=f"We mend the pool, {n}.", kind="doc")
        for n in range(3)
    ]
    ids = found([*pages, *talk, session], "how did we mend the pool")
    assert sum(name.startswith(("R1", "SES")) for name in ids[:4]) == 1
    assert len(found([*talk, session], "how did we mend the pool")) == 5  # nothing else is there


def test_one_page_for_two_tools_is_one_hit() -> None:
    """Projects keep the same page in the folder of every agent."""
    pages = [
        LoadedDocument(
            name=f"{folder}/dev.md:5",
            title="Your Process",
            kind="doc",
            paths=(f"{folder}/dev.md",),
            text=f"Read {folder}/agents.md and follow the process.",
        )
        for folder in (".claude", ".gemini")
    ]
    ids = found([*SHOP, *pages], "what is the process to follow")
    assert [name for name in ids if name.endswith("dev.md:5")] == [".claude/dev.md:5"]


def test_a_heading_alone_is_no_hit() -> None:
    """A page's title with nothing below it answers nothing."""
    bare = LoadedDocument(name="README.md:1", title="Shop pool", text="# Shop pool", kind="doc", paths=("README.md",))
    assert "README.md:1" not in found([*SHOP, bare], "shop pool")


def test_what_has_no_time_is_neither_new_nor_old() -> None:
    """Each piece of code got the full worth of today, and a commit of last year nearly none."""
    hits = search([filled(SHOP)], "pool connections kept", explain=True, limit=12)
    recent = {hit[AT["kind"]]: dict(hit[-1]).get("recent", 0.0) for hit in hits}
    assert recent["code"] == recent["commit"]


def test_the_order_of_what_was_stored_changes_nothing(seed: int) -> None:
    """Two clones must show the same."""
    shuffled = SHOP[:]
    random.Random(seed).shuffle(shuffled)
    for question in ("why a pool", "MAX_POOL", "pool connections"):
        assert found(shuffled, question) == found(SHOP, question)


@pytest.mark.parametrize(
    ("path", "tests"),
    [
        ("tests/index/test_pool.py", True),
        ("cmd/cli/chunking_test.go", True),
        ("web/cart.spec.ts", True),
        ("a/testdata/x.json", True),
        ("src/testing.py", False),
        ("src/contest/latest.py", False),
        ("docs/tests.md", False),
    ],
)
def test_tests_are_known_by_how_projects_name_them(path: str, tests: bool) -> None:
    """A file that is taken for a test stands below what it explains."""
    assert is_test(path) is tests


def test_a_definition_is_told_from_a_use() -> None:
    """`const X = 1` defines it, `f(X)`, `X == 1` and `MY_X = 1` do not."""
    for text in ("X = 1", "const (\n\tX = 5 // why\n)", "export const X = 1", "type X struct {", "a\nX: int = 3"):
        assert result_order._is_defined("X", text), text
    for text in ("f(X)", "if X == 1:", "MY_X = 1", "return X", "X == 1", "XY = 1", "# X is much"):
        assert not result_order._is_defined("X", text), text
