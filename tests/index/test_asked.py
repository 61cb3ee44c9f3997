"""A question, read: any text is data, and what tells something is found in it."""

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.index import schema
from holdfast.index.query import MAX_QUERY, MAX_WORDS, SearchQuery, begins_commit, is_noise, read_query, spaceless
from holdfast.index.sqlite import TABLES
from holdfast.index.stack_trace import endings, frame_of

PYTHON = """why does the import fail?
Traceback (most recent call last):
  File "/home/ada/shop/src/shop/main.py", line 10, in start
    run()
  File "/usr/lib/python3.11/site-packages/click/core.py", line 99, in invoke
    return callback()
  File "src/shop/db.py", line 33, in open_pool
    raise PoolError(f"no {thing}")
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
shop.errors.PoolError: pool exhausted at 0x7f33aa21 2026-01-01T12:00:03Z
"""
NODE = """TypeError: Cannot read properties of undefined (reading 'basket')
    at getUser (lib/users.js:3:1)
    at async Object.run (/home/ada/shop/node_modules/express/lib/router.js:33:2)
    at /home/ada/shop/app/index.ts:12:5
"""
JAVA = """Caused by: java.lang.IllegalStateException: not open
\tat com.shop.Basket.close(Basket.java:12)
\tat java.base/java.lang.Thread.run(Thread.java:829)
"""


def words_table() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.execute(TABLES["words"])
    return db


TABLE = words_table()


def expressions(asked: SearchQuery) -> list[str]:
    return [*asked.terms, *asked.parts, *asked.pairs, *asked.phrases]


pasted = st.text(alphabet=st.sampled_from('ab"\'*(){}:^-+ \n\tFile", line at #0 in x.py:3 猫がกู\0\x1b[🐛é\udcff'))


@settings(max_examples=150)
@given(query=st.one_of(st.text(max_size=200), pasted))
def test_no_text_steers_the_database(query: str) -> None:
    """A stray quote in a question must not become an error, let alone a command."""
    asked = read_query(query)
    assert len(asked.terms) == len(asked.weights) == len(asked.words)
    for match in (*expressions(asked), *asked.facets):
        TABLE.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,)).fetchall()
    if asked.terms:
        TABLE.execute("SELECT rowid FROM words WHERE words MATCH ?", (" OR ".join(asked.terms),)).fetchall()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("why do we pin sqlalchemy?", ["pin", "sqlalchemy"]),
        ("what's the project's plan", ["project", "plan"]),
        ("Wie wird die Datenbank gesichert", ["Datenbank", "gesichert"]),
        ("pourquoi est-ce que l'index est vide", ["est-ce", "index", "vide"]),
        ("why does the worker die", ["worker", "die"]),
        ("IT or US taxes", ["IT", "US", "taxes"]),
        ("what is it", ["what", "is", "it"]),
        ("fix🐛bug 🎉", ["fix", "bug"]),
        ("\x1b[31mERROR\x1b[0m disk\0full", ["ERROR", "disk", "full"]),
        ("retry(limit=3, wait)", ["retry", "limit", "3", "wait"]),
        ("pool pool POOL", ["pool"]),
        ('KeyError: File "app/a.py", line 3, in start', ["KeyError", "app/a.py", "start"]),
        ("line 3 of the File menu", ["line", "3", "File", "menu"]),
        ("crash at 0x7ffe12 in 12:03:44.120", ["crash"]),
        ("0x7ffe12", ["0x7ffe12"]),
        ("猫", ["猫"]),
        ("为什么我们使用缓存", ["么我", "们使", "使用", "用缓", "缓存"]),
        ("sqlalchemyを固定", ["sqlalchemy", "を固", "固定"]),
        ("", []),
        ("?! … 🎉", []),
    ],
)  # fmt: skip
def test_the_words_that_tell_something(query: str, words: list[str]) -> None:
    """Who asks in a sentence must not find whatever says 'the' most often."""
    assert read_query(query).words == words


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("getUserName", ["get", "User", "Name"]),
        ("get_user_name", ["get", "user", "name"]),
        ("std::vector", ["std", "vector"]),
        ("kebab-case-name", ["kebab", "case", "name"]),
        ("os.environ", ["os", "environ"]),
        ("src/shop/fooBar.py", ["foo", "Bar"]),
    ],
)
def test_a_name_counts_as_it_stands_and_by_its_words(name: str, parts: list[str]) -> None:
    """People remember 'user name', the code says getUserName."""
    asked = read_query(name)
    assert asked.words == [name]
    assert asked.parts == [f'"{part}"' for part in parts]


def test_what_stands_in_quotes_counts_more() -> None:
    """Who puts words in quotes means these words."""
    asked = read_query('size of the "connection pool" in PoolError')
    assert asked.phrases == ['"connection pool"']
    assert dict(zip(asked.words, asked.weights, strict=True)) == {
        "size": 1.0, "connection": 2.0, "pool": 2.0, "PoolError": 2.0,
    }  # fmt: skip
    assert read_query('a "quote without an end').phrases == []
    assert read_query('"to be or not" now').words == ["to", "be", "or", "not"]


def test_tag_and_task_words_are_filters() -> None:
    """`tag:db` asks for the tag, not for the word."""
    asked = read_query("postgres tag:DB task:T-1")
    assert asked.words == ["postgres"]
    assert asked.facets == [schema.facet("g", "db"), schema.facet("t", "t-1")]


def test_of_a_trace_the_error_and_ones_own_frames_count() -> None:
    """Every trace holds the same frames of the same libraries; asking for these finds all of them."""
    asked = read_query(PYTHON)
    assert asked.words == [
        "import", "fail", "shop.errors.PoolError", "pool", "exhausted", "open_pool", "start",
    ]  # fmt: skip
    assert asked.paths[0] == "src/shop/db.py"
    assert "src/shop/main.py" in asked.paths
    assert not any("click" in path for path in asked.paths)


def test_traces_of_other_languages_are_understood() -> None:
    """Not every repository is written in Python."""
    asked = read_query(NODE)
    assert asked.words[0] == "TypeError" and asked.words[-1] == "getUser"
    assert asked.paths[0] == "lib/users.js" and "app/index.ts" in asked.paths
    assert read_query(JAVA).paths[0] == "com/shop/Basket.java"
    assert read_query(JAVA).words[-1] == "Basket.close"
    rust = frame_of("             at ./src/main.rs:12:5")
    assert rust is not None and (rust.path, rust.function) == ("./src/main.rs", "")
    go = frame_of("\t/srv/shop/main.go:12 +0x1d")
    assert go is not None and go.path == "/srv/shop/main.go"
    assert frame_of("we met at noon") is None


def test_a_long_trace_keeps_its_end() -> None:
    """In Python the error stands last, after two hundred lines that say nothing."""
    frame = '  File "/x/site-packages/lib/a.py", line 3, in call\n    return self.next()\n'
    asked = read_query(f"Traceback (most recent call last):\n{frame * 200}KeyError: 'basket'")
    assert asked.words == ["KeyError", "basket"]


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ('File "src/x.py", line 3', ["src/x.py"]),
        ("src/x.ts:12:5 breaks", ["src/x.ts"]),
        ("see `a/b/c.h`, please", ["a/b/c.h", "b/c.h"]),
        (r"src\shop\x.cs", ["src/shop/x.cs"]),
        ("https://example.org/a/b.html", []),
        ("nothing here", []),
    ],
)
def test_files_that_a_question_names_count_as_open(query: str, paths: list[str]) -> None:
    """Who pastes `src/x.ts:12:5` asks about that file."""
    assert read_query(query).paths == paths


def test_a_path_from_its_root_is_known_by_its_end() -> None:
    """A trace names files from the root of another machine."""
    assert endings("/srv/ci/src/x.py") == ["srv/ci/src/x.py", "ci/src/x.py", "src/x.py", "x.py"]
    assert endings("./src/x.py") == ["src/x.py"]
    assert endings("C:\\work\\x.py")[-1] == "x.py"
    assert endings("") == []


def test_the_index_and_a_question_take_such_text_apart_alike() -> None:
    """Chinese, Japanese and Korean write no spaces: a tokenizer that waits for them finds nothing."""
    text = "データベースの接続プールは最大10本です"
    TABLE.execute("INSERT INTO words (rowid, parts) VALUES (7, ?)", (" ".join(spaceless(text)),))
    for query in ("接続プール", "本", "す", "10", "最大"):
        match = " AND ".join(read_query(query).terms)
        assert TABLE.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,)).fetchall() == [(7,)], query
    assert spaceless("plain text, über") == []


def test_a_long_question_is_cut() -> None:
    """A pasted log file must not keep the database busy for minutes."""
    assert len(read_query(" ".join(f"word{n}" for n in range(10_000))).words) <= MAX_WORDS
    assert sum(map(len, read_query("x" * 10 * MAX_QUERY).words)) <= MAX_QUERY


def test_codes_and_dates_are_no_noise() -> None:
    """`404`, `2026-01-01` and `v2.1` are what people ask for."""
    assert [word for word in ("404", "2026-01-01", "v2.1", "127.0.0.1:5432", "a1b2c3d4") if is_noise(word)] == []


GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
github.com/ada/cli/cmd/agent.ChunkJSONL(0xc000123, 0x12)
\t/Users/ada/cli/cmd/agent/chunking.go:91 +0x1a4
github.com/ada/cli/cmd/internal/store.(*GitStore).WriteCommitted(0xc00, {0x1, 0x2})
\t/Users/ada/cli/cmd/internal/store/committed.go:210
runtime.goexit()
\t/usr/local/go/src/runtime/asm_amd64.s:1650 +0x1
created by main.main in goroutine 1
\t/Users/ada/cli/cmd/main.go:12 +0x1d
exit status 2
"""


def test_a_panic_of_go_is_read_as_a_trace() -> None:
    """Its functions stand on lines of their own, with addresses behind; these are other at every run."""
    asked = read_query(GO)
    assert {"panic", "agent", "ChunkJSONL", "store", "GitStore", "WriteCommitted"} <= set(asked.words)
    assert '"agent ChunkJSONL"' in asked.pairs
    assert not any("0x" in word or word in ("goroutine", "exit", "goexit") for word in asked.words)
    assert {"cmd/agent/chunking.go", "cmd/internal/store/committed.go", "cmd/main.go"} <= set(asked.paths)
    assert not any("runtime" in path for path in asked.paths)


def test_the_tails_of_all_files_in_a_deep_trace_are_known() -> None:
    """The machine it comes from keeps its work deep below; none of its frames may be left out for that."""
    deep = "/home/runner/_work/one/two/three/four/project/src"
    lines = [f'  File "{deep}/{name}.py", line 3, in f\n    f()' for name in ("one", "two", "three")]
    paths = read_query("Traceback (most recent call last):\n" + "\n".join(lines)).paths
    assert {"src/one.py", "src/two.py", "src/three.py"} <= set(paths)


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("src/x.py:84", [("src/x.py", 84)]),
        ("see ./src/x.ts:12:5.", [("src/x.ts", 12)]),
        ("/srv/x.py:7", [("srv/x.py", 7), ("x.py", 7)]),
        ("src/x.py", []),
        ("src/x.py:999999999999", []),
    ],
)
def test_a_line_that_is_asked_for_is_kept(query: str, places: list[tuple[str, int]]) -> None:
    """Who asks for a line asks for what stands there."""
    assert read_query(query).places == places


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("a95709c", True),
        ("A95709C935E4", True),
        ("a9570", False),
        ("defaced", False),
        ("20261116", False),
        ("a" * 39 + "1", False),
        ("x95709c935e4", False),
    ],
)
def test_the_beginning_of_a_commit_is_one(word: str, is_one: bool) -> None:
    """Nobody types forty digits; a number or a word must not become a beginning for that."""
    assert begins_commit(word) is is_one
    assert read_query(word).terms == ([f'"{word}" *'] if is_one else [f'"{word}"'])


def test_a_qualified_name_is_asked_by_both_its_names() -> None:
    """What is defined is called by the last of them; what is no such name stays as it is."""
    assert read_query("agent.ChunkJSONL").words == ["agent", "ChunkJSONL"]
    assert read_query("os.path models.user a.b.c_d").words == ["os.path", "models.user", "a.b.c_d"]
