"""Spans: the same text is found wherever it stands, and a symbol is its definition and nothing else."""

import random
import subprocess
import textwrap
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.model.evidence import LinesEvidence, SymbolEvidence
from holdfast.model.spans.file_lines import LineAlignment, became, difference, digest, find, find_all, lines_of
from holdfast.model.spans.file_version import FileVersion


def text(path: str, source: str | bytes) -> FileVersion:
    data = source if isinstance(source, bytes) else textwrap.dedent(source).lstrip("\n").encode()
    return FileVersion(path, data)


def part(path: str, source: str, name: str) -> str:
    """The text of a symbol as a person names it."""
    read = text(path, source)
    cited = read.cite_symbol(name)
    place = read.place(cited)
    assert place is not None
    return b"\n".join(read.lines[place[0] - 1 : place[1]]).decode()


def test_the_hash_is_gits_own(repo: Any) -> None:
    """Anybody can check a receipt with `git hash-object`."""
    read = text("a.txt", b"\xef\xbb\xbfone  \r\ntwo\t\r\nthree")
    cited = read.cite_lines(1, 3)
    given_to_git = subprocess.run(
        ["git", "hash-object", "--stdin"], input=b"one\ntwo\nthree\n", capture_output=True, check=True
    )
    assert cited.hash == given_to_git.stdout.decode().strip()
    assert len(read.cite_lines(1, 3, size=64).hash) == 64


@pytest.mark.parametrize(
    "data",
    [b"one\ntwo\n", b"one\r\ntwo\r\n", b"one\ntwo", b"one  \ntwo\t\n", b"\xef\xbb\xbfone\ntwo\n"],
    ids=["plain", "crlf", "no newline at the end", "trailing blanks", "byte order mark"],
)
def test_what_an_editor_tidies_does_not_count(data: bytes) -> None:
    """A checkout with other line endings must not make every memory stale."""
    assert text("a", data).cite_lines(1, 2) == text("a", b"one\ntwo\n").cite_lines(1, 2)


LINE = st.sampled_from([b"a", b"b", b"", b"\tc", b"d d", b"}"])
MANY = st.lists(LINE, max_size=30)


@given(MANY, st.lists(LINE, min_size=1, max_size=6), MANY, st.integers(0, 70))
def test_text_is_found_wherever_it_stands(before: Any, cited: Any, after: Any, near: int) -> None:
    """Lines inserted above only move a span."""
    whole = [*before, *cited, *after]
    starts = [n for n in range(len(whole)) if whole[n : n + len(cited)] == cited]
    nearest = min(abs(n - near) for n in starts)
    found = find(whole, len(cited), digest(cited), near, {})
    assert found in starts
    assert abs((found or 0) - near) in (nearest, abs(starts[-1] - near))
    assert find_all(whole, cited) == starts


@given(MANY, st.lists(LINE, min_size=1, max_size=6))
def test_text_that_is_not_there_is_not_found(whole: Any, cited: Any) -> None:
    """A memory that rests on nothing must not look founded."""
    is_there = any(whole[n : n + len(cited)] == cited for n in range(len(whole)))
    assert (find(whole, len(cited), digest(cited), 0) is not None) == is_there


def test_a_span_far_from_where_it_was_is_found_in_a_long_file() -> None:
    """A thousand lines inserted above are an insertion, too."""
    lines = [b"line %d" % n for n in range(60_000)]
    tables: Any = {}
    wanted = digest(lines[2000:2010])
    assert find(lines[:5000], 10, wanted, 4900, tables) == 2000
    assert find(lines, 10, digest(lines[59_000:59_010]), 0) == 59_000
    assert find(lines, 10, "0" * 40, 0) is None


def test_large_spans_and_minified_files_end_in_time() -> None:
    """A bundle of one line and a span of half a file must not hang a command."""
    N = 2_000
    bundle = text("a.js", b"function f(){" + b"if(a){b('{\\'')}/*x*/`${y}`;" * N + b"}")
    assert bundle.cite_symbol("f").hash == bundle.cite_lines(1, 1).hash
    for hostile in (b"/*" * N, b"`${" * N, b"'\\" * N, b"{(" * N, b"#" * N, b'r#"' * N, b"a&*" * N, b"def a\n" * N):
        for name in ("a.ts", "a.rs", "a.c", "a.java", "a.sh", "a.sql", "a.toml", "a.json", "a.md", "a.yml"):
            text(name, hostile).symbols  # noqa: B018
    lines = [b"%d" % (n % 7) for n in range(100_000)]
    assert find(lines, 50_000, digest(lines[20_000:70_000]), 0) in (None, 3)
    assert find_all(lines, lines[20_000:70_000])[:3] == [1, 8, 15]


PYTHON = '''
    """Doc."""
    LIMIT = 3
    A, B = 1, 2

    @cache
    @other(
        1,
    )
    def top(a,
            b):
        """def inner(): no."""
        def inner():
            return 1
        return inner

    class Box:
        size: int = 4

        @property
        def width(self):
            return """
    def fake(): pass
    """

        async def later(self):
            local = 1
            return local

    if True:
        def when():
            pass  # comment
            # trailing
'''


@pytest.mark.parametrize(
    ("name", "begins", "ends"),
    [
        ("LIMIT", "LIMIT = 3", "LIMIT = 3"),
        ("B", "A, B = 1, 2", "A, B = 1, 2"),
        ("top", "@cache", "    return inner"),
        ("top.inner", "    def inner():", "        return 1"),
        ("inner", "    def inner():", "        return 1"),
        ("Box", "class Box:", "        return local"),
        ("Box.size", "    size: int = 4", "    size: int = 4"),
        ("Box.width", "    @property", '"""'),
        ("later", "    async def later(self):", "        return local"),
        ("when", "    def when():", "        pass  # comment"),
        ("top()", "@cache", "    return inner"),
    ],
)
def test_python_by_its_own_parser(name: str, begins: str, ends: str) -> None:
    """A decorator changes what a function does; a comment after it does not."""
    found = part("a.py", PYTHON, name).split("\n")
    assert (found[0], found[-1]) == (begins, ends)


def test_python_that_does_not_parse_is_read_by_indentation() -> None:
    """A file in the middle of an edit must not make every memory about it stale."""
    source = textwrap.dedent(PYTHON).lstrip("\n")
    whole, broken = text("a.py", source), text("a.py", source + "\ndef half(:\n")
    for name in ("LIMIT", "top", "top.inner", "Box", "Box.later", "when"):
        assert broken.cite_symbol(name) == whole.cite_symbol(name)
    assert broken.symbols is not None
    assert "fake" not in [symbol.name for symbol in broken.symbols]


MARKDOWN = """
    # Title

    Words.

    ## How to use it

    ```sh
    # not a heading
    ```

    ### Deeper (a `b`)

    More.

    Under lined
    -----------

    Text.

    ## C# & Größe
    Last.
"""


@pytest.mark.parametrize(
    ("name", "begins", "ends"),
    [
        ("how-to-use-it", "## How to use it", "More."),
        ("How to use it", "## How to use it", "More."),
        ("#deeper-a-b", "### Deeper (a `b`)", "More."),
        ("Under lined", "Under lined", "Text."),
        ("c--größe", "## C# & Größe", "Last."),
        ("C# & Größe", "## C# & Größe", "Last."),
        ("title", "# Title", "Last."),
    ],
)
def test_a_section_goes_down_to_the_next_heading_of_its_level(name: str, begins: str, ends: str) -> None:
    """A memory about one section must not go stale by an edit of the next."""
    found = part("README.md", MARKDOWN, name).split("\n")
    assert (found[0], found[-1]) == (begins, ends)


SAMPLES = {
    "a.ts": (
        """
        import x from "y";
        export const limit = 3
        const word = "x"
        const other = `a
        b`
        export const handler = async (a: string): Promise<void> => {
          await go("}");
        };
        type Shape =
          | { a: 1 }
          | { b: 2 };
        export default class Box<T> extends Base {
          #size = 1;
          @Input() name: string;
          constructor(private a: A) {
            super(a);
          }
          async load<T>(url: string): Promise<{ ok: boolean }> {
            if (url) { return /[{]/.test(url); }
            const text = `a ${url.map((x) => { return `${x}`; })} }`;
          }
          handle = (e: Event) => {
            this.load(e);
          };
        }
        function over(a: string): void;
        function over(a: number): void;
        function over(a: any): void {
          // }
        }
        interface Api { get(url: string): string; }
        """,
        {
            "limit": ("export const limit = 3", "export const limit = 3"),
            "word": ('const word = "x"',) * 2,
            "other": ("const other = `a", "b`"),
            "handler": ("export const handler = async (a: string): Promise<void> => {", "};"),
            "Shape": ("type Shape =", "  | { b: 2 };"),
            "Box": ("export default class Box<T> extends Base {", "}"),
            "Box.load": ("  async load<T>(url: string): Promise<{ ok: boolean }> {", "  }"),
            "Box.constructor": ("  constructor(private a: A) {", "  }"),
            "Box.handle": ("  handle = (e: Event) => {", "  };"),
            "over": ("function over(a: any): void {", "}"),
            "Api": ("interface Api { get(url: string): string; }",) * 2,
        },
    ),
    "a.go": (
        """
        package a

        const Limit = 3

        const (
        \tFirst = iota // {
        \tSecond
        )

        type Box struct {
        \tsize int
        }

        func (b *Box) Size(x map[string]interface{}) interface{} {
        \treturn `}`
        }

        func (b Box[T]) Other() {
        }

        func New() *Box { return &Box{size: 1} }
        """,
        {
            "Limit": ("const Limit = 3",) * 2,
            "Second": ("\tSecond",) * 2,
            "Box": ("type Box struct {", "}"),
            "Box.Size": ("func (b *Box) Size(x map[string]interface{}) interface{} {", "}"),
            "Other": ("func (b Box[T]) Other() {", "}"),
            "New": ("func New() *Box { return &Box{size: 1} }",) * 2,
        },
    ),
    "a.rs": (
        """
        pub const LIMIT: usize = 3;
        #[derive(Debug)]
        pub struct Box<'a> {
            size: &'a str,
        }
        struct Unit;
        impl<'a> Box<'a> {
            #[inline]
            pub fn size(&self) -> char {
                let c = '{'; let s = r#"}"}"#;
                c
            }
        }
        impl<T> fmt::Display for Box<T> where T: Copy {
            fn fmt(&self) -> Result { Ok(()) }
        }
        mod tests {
            fn works() {}
        }
        """,
        {
            "LIMIT": ("pub const LIMIT: usize = 3;",) * 2,
            "Box": ("#[derive(Debug)]", "}"),
            "Unit": ("struct Unit;",) * 2,
            "Box::size": ("    #[inline]", "    }"),
            "Box.fmt": ("    fn fmt(&self) -> Result { Ok(()) }",) * 2,
            "tests.works": ("    fn works() {}",) * 2,
        },
    ),
    "A.java": (
        """
        package a;
        public class Box<T> extends Base {
            private static final int LIMIT = 3;
            @Override
            public String name(int a,
                    int b) throws IOException {
                if (a > b) { return "}"; }
                return call(a);
            }
            public Box(int a) { super(a); }
            abstract void todo();
            enum Kind { A, B }
        }
        """,
        {
            "Box": ("public class Box<T> extends Base {", "}"),
            "Box.LIMIT": ("    private static final int LIMIT = 3;",) * 2,
            "Box.name": ("    @Override", "    }"),
            "Box.todo": ("    abstract void todo();",) * 2,
            "Box.Box": ("    public Box(int a) { super(a); }",) * 2,
            "Kind": ("    enum Kind { A, B }",) * 2,
        },
    ),
    "a.cs": (
        """
        namespace N
        {
            [Serializable]
            public sealed class Box
            {
                public int Size { get; set; }
                public async Task<int> Load(string a)
                {
                    return a == @"\\" ? 1 : 2;
                }
                public int Twice(int x) => x * 2;
            }
        }
        """,
        {
            "Box": ("    [Serializable]", "    }"),
            "N.Box.Load": ("        public async Task<int> Load(string a)", "        }"),
            "Twice": ("        public int Twice(int x) => x * 2;",) * 2,
            "Size": ("        public int Size { get; set; }",) * 2,
        },
    ),
    "a.kt": (
        """
        const val LIMIT = 3
        data class Box(val size: Int)
        fun String.twice(): String = this + this
        class Store {
            suspend fun load(a: Int): Int {
                return a
            }
            val x by lazy { 1 }
        }
        """,
        {
            "LIMIT": ("const val LIMIT = 3",) * 2,
            "Box": ("data class Box(val size: Int)",) * 2,
            "String.twice": ("fun String.twice(): String = this + this",) * 2,
            "Store.load": ("    suspend fun load(a: Int): Int {", "    }"),
        },
    ),
    "a.swift": (
        """
        public struct Box {
            let size: Int
            init(size: Int) {
                self.size = size
            }
        }
        extension Box {
            func twice() -> Int {
                return size * 2
            }
        }
        """,
        {
            "Box": ("public struct Box {", "}"),
            "Box.init": ("    init(size: Int) {", "    }"),
            "Box.twice": ("    func twice() -> Int {", "    }"),
        },
    ),
    "a.cpp": (
        """
        #include <x>
        static const int limit = 3;
        int add(int a, int b);
        struct Box {
            int size() const { return 1; }
        };
        int add(int a, int b)
        {
            call(a);
            return a + '}';
        }
        void Box::grow(int by) {
            if (by) { grow(0); }
        }
        namespace n {
        template <class T>
        class Tree : public Base<T> {
        };
        }
        """,
        {
            "limit": ("static const int limit = 3;",) * 2,
            "add": ("int add(int a, int b)", "}"),
            "Box": ("struct Box {", "};"),
            "Box.size": ("    int size() const { return 1; }",) * 2,
            "Box::grow": ("void Box::grow(int by) {", "}"),
            "Tree": ("template <class T>", "};"),
        },
    ),
    "a.rb": (
        """
        module Shop
          class Box < Base
            def self.make(a)
              if a
                1
              end
            end

            def size = 3
          end
        end
        """,
        {
            "Shop::Box": ("  class Box < Base", "  end"),
            "Box#make": ("    def self.make(a)", "    end"),
            "size": ("    def size = 3",) * 2,
        },
    ),
    "bin/tool": (
        """
        #!/usr/bin/env bash
        LIMIT=3
        empty=
        words="a b"
        build() {
          echo "}" # }
          for x in ${a#b}; do echo '{'; done
        }
        function clean
        {
          rm -r x
        }
        """,
        {
            "LIMIT": ("LIMIT=3",) * 2,
            "empty": ("empty=",) * 2,
            "words": ('words="a b"',) * 2,
            "build": ("build() {", "}"),
            "clean": ("function clean", "}"),
        },
    ),
    "a.sql": (
        """
        -- CREATE TABLE no;
        CREATE TABLE IF NOT EXISTS app.users (
          id int, -- ;
          name text DEFAULT ';'
        );
        create or replace function f() as $$ begin; return 1; end $$ language sql;
        """,
        {
            "users": ("CREATE TABLE IF NOT EXISTS app.users (", ");"),
            "f": ("create or replace function f() as $$ begin; return 1; end $$ language sql;",) * 2,
        },
    ),
    "pyproject.toml": (
        """
        top = 1
        [tool.ruff]
        line-length = 110
        select = [
          "A",  # [x]
        ]

        [tool.mypy]
        strict = true
        """,
        {
            "tool.ruff": ("[tool.ruff]", "]"),
            "[tool.mypy]": ("[tool.mypy]", "strict = true"),
            "tool.ruff.select": ("select = [", "]"),
            "top": ("top = 1",) * 2,
        },
    ),
    ".github/workflows/ci.yml": (
        """
        on:
          push:
        jobs:
          test:
            steps:
            - run: make
            - uses: x

          lint:
            runs-on: "ubuntu"
        """,
        {
            "jobs": ("jobs:", '    runs-on: "ubuntu"'),
            "jobs.test": ("  test:", "    - uses: x"),
            "on": ("on:", "  push:"),
        },
    ),
    "package.json": (
        """
        {
          "name": "a: {",
          "scripts": {
            "build": "tsc"
          },
          "files": [
            "x"
          ]
        }
        """,
        {
            "name": ('  "name": "a: {",',) * 2,
            "scripts": ('  "scripts": {', "  },"),
            "scripts.build": ('    "build": "tsc"',) * 2,
            "files": ('  "files": [', "  ]"),
        },
    ),
    "Makefile": (
        """
        SRC := a \\
          b
        .PHONY: test
        test lint: build
        \tpytest

        build:
        \tcc
        """,
        {
            "SRC": ("SRC := a \\", "  b"),
            "test": ("test lint: build", "\tpytest"),
            "build": ("build:", "\tcc"),
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, (_, wanted) in SAMPLES.items() for name in wanted])
def test_a_symbol_of_many_languages_is_its_definition(path: str, name: str) -> None:
    """Whoever cites a function expects the function: not its neighbours, not half of it."""
    source, wanted = SAMPLES[path]
    found = part(path, source, name).split("\n")
    assert (found[0], found[-1]) == wanted[name]


def test_a_symbol_that_is_not_there_names_its_neighbours() -> None:
    """A typing error costs one look, not a search."""
    with pytest.raises(NotFound) as caught:
        text("a.py", PYTHON).cite_symbol("Box.widht")
    assert "Box.width" in caught.value.hint
    with pytest.raises(NotFound) as caught:
        text("a.py", PYTHON).cite_symbol("zzz")
    assert "LIMIT" in caught.value.hint


def test_a_name_of_two_symbols_must_be_told_apart() -> None:
    """Guessing would pin the wrong text."""
    source = "class A:\n    def go(self): 1\nclass B:\n    def go(self): 2\n"
    with pytest.raises(Ambiguous, match=r"A\.go \(lines 2-2\), B\.go \(lines 4-4\)"):
        text("a.py", source).cite_symbol("go")
    assert text("a.py", source).cite_symbol("B.go").name == "B.go"
    with pytest.raises(Ambiguous) as caught:
        text("a.md", "# One\n## Usage\na\n## Usage\nb\n").cite_symbol("Usage")
    assert "a.md:2-3" in caught.value.hint
    assert text("a.md", "# One\n## Usage\na\n## Usage\nb\n").cite_symbol("usage-1").name == "usage-1"


def test_a_second_heading_of_the_same_name_leaves_the_first_cited() -> None:
    """A section inserted above takes the slug; the text is still there."""
    before = text("a.md", "## Usage\na\n").cite_symbol("usage")
    assert text("a.md", "## Usage\nnew\n## Usage\na\n").place(before) == (3, 4)


def test_what_cannot_be_cited_says_why() -> None:
    """One sentence, and the next step."""
    read = text("a.py", "a\n\n\nb\n")
    with pytest.raises(BadInput, match=r"a\.py has 4 lines, not 9"):
        read.cite_lines(3, 9)
    with pytest.raises(BadInput, match="blank"):
        read.cite_lines(2, 3)
    with pytest.raises(BadInput, match="not a range"):
        read.cite_lines(3, 2)
    with pytest.raises(BadInput, match="is not text") as caught:
        text("a.png", b"\x89PNG\0\n").cite_lines(1, 1)
    assert "whole file" in caught.value.hint
    with pytest.raises(BadInput, match="not known"):
        text("a.xyz", "a\n").cite_symbol("a")


@given(st.binary(max_size=400), st.sampled_from([*SAMPLES, "a.py", "a.md", "a.lua", "a.php", "a.graphql"]))
def test_no_file_is_too_strange_to_read(data: bytes, path: str) -> None:
    """Strangers' files must not crash a listing."""
    read = FileVersion(path, data)
    for symbol in read.symbols or []:
        assert 1 <= symbol.first <= symbol.last <= max(1, len(read.lines))
        cited = SymbolEvidence(path, symbol.name, read.hash(symbol.first, symbol.last))
        assert read.place(cited) is not None


def test_edits_outside_a_symbol_leave_its_hash(seed: int) -> None:
    """Edits elsewhere in the file do not count, in any language."""
    dice = random.Random(seed)
    for path, (source, wanted) in SAMPLES.items():
        read = text(path, source)
        for name in wanted:
            cited = read.cite_symbol(name)
            first, last = read.place(cited) or (0, 0)
            below = [*read.lines, b"", b""]
            above = [b""] * dice.randint(0, 3)
            moved = FileVersion(path, b"\n".join([*read.lines[:1], *above, *below[1:]]) + b"\n")
            if first > 1:
                assert moved.place(cited) == (first + len(above), last + len(above))


ONE_LINE = {
    "x.json": ('{"a": {"b": [1, 2], "c": {"d": 1}}, "e": 2}', "a a.b a.c a.c.d e"),
    "y.json": ('{"a": {\n  "b": 1}, "e": 2}', "a a.b e"),
    "x.rs": ("impl S { fn run(&self) -> u8 { 1 } fn stop(&self) {} }\n", "S.run S.stop"),
    "x.ts": ("class A { go() { return 3; } }\nclass B { go() { return 3; } }\n", "A A.go B B.go"),
    "x.java": ("class A { int limit() { return 3; } }\n", "A A.limit"),
    "x.cpp": ("struct A { int limit() { return 3; } };\n", "A A.limit"),
}


@pytest.mark.parametrize("path", ONE_LINE)
def test_what_lies_in_another_on_one_line_is_found(path: str) -> None:
    """Formatters fold what is short; the name people type stays the same."""
    source, names = ONE_LINE[path]
    assert " ".join(symbol.name for symbol in text(path, source).symbols or []) == names


def test_a_copy_is_not_where_lines_went() -> None:
    """Equal lines that were there before are somebody else's; those that are new are where they went."""
    old = [b"prod:", b"  n: 3", b"dev:", b"  n: 3"]
    assert LineAlignment(old, [b"prod:", b"  n: 5", b"dev:", b"  n: 3"]).follow(2, 2) is None
    assert LineAlignment(old, [b"#", *old]).follow(2, 2) == (3, 3)
    assert LineAlignment(old, [b"dev:", b"  n: 3"]).follow(2, 2) is None
    block = [b"def f():", b"    a = 1", b"    return a"]
    rest = [b"x = %d" % n for n in range(9)]
    assert LineAlignment([*block, *rest], [*rest, *block]).follow(1, 3) == (10, 12)
    assert LineAlignment([*block, *rest], [b"import f", *rest, *block]).follow(1, 3) == (11, 13)
    assert LineAlignment([b"a = 1", *rest], [*rest, b"a = 1"]).follow(1, 1) == (10, 10)
    small = [b"def connect():", b"    return 1"]
    assert LineAlignment([*small, *rest], [b"import os", *rest, *small]).follow(1, 2) == (11, 12)
    assert LineAlignment([*small, *rest], [small[0], b"    return 2", *rest, *small]).follow(1, 2) is None
    assert LineAlignment([b"a = 1", *rest], [b"a = 2", *rest, b"a = 1"]).follow(1, 1) is None


def test_a_line_of_many_brackets_is_read_in_time() -> None:
    """Hostile text costs time in proportion to its length."""
    for source in ("class " * 30_000, "class A {" + "{a" * 30_000, "class A { " + "{a} ; " * 30_000):
        assert text("x.ts", source).symbols is not None


def test_what_took_the_place_of_lines() -> None:
    """The region that is shown and cited anew is the one people would point at."""
    old = [b"a", b"b", b"c", b"d", b"e"]
    assert became(old, 2, 3, [b"x", *old]) == (3, 4)
    assert became(old, 2, 3, [b"a", b"B", b"c", b"d", b"e"]) == (2, 3)
    assert became(old, 2, 3, [b"a", b"b", b"new", b"c", b"d", b"e"]) == (2, 4)
    assert became(old, 2, 3, [b"a", b"d", b"e"]) is None
    assert became(old, 1, 5, []) is None
    assert became(old, 3, 3, [b"a", b"b", b"C", b"D", b"e"]) == (3, 3)


@given(MANY, MANY)
def test_a_difference_says_everything(old: Any, new: Any) -> None:
    """What is shown to a reviewer is what changed: no line lost, none invented."""
    rows = difference(old, new, names=("a", "b"))[2:]
    if old == new:
        assert rows == ()
    minus = [row[1:] for row in rows if row[0] == "-"]
    plus = [row[1:] for row in rows if row[0] == "+"]
    kept = [row[1:] for row in rows if row[0] == " "]
    assert len(old) - len(minus) == len(new) - len(plus) >= len(kept)
    assert set(minus) <= {line.decode() for line in old}
    assert set(plus) <= {line.decode() for line in new}


def test_a_receipt_finds_its_own_lines() -> None:
    """The receipt of some lines stands where they are."""
    read = text("a", "x\n" * 5 + "y\n" + "x\n" * 5)
    assert lines_of(b"a\n\n") == [b"a", b""]
    for cited in (read.cite_lines(6, 6), read.cite_lines(2, 3), read.cite_lines(9, 11)):
        assert isinstance(cited, LinesEvidence)
        assert read.place(cited) == (cited.first, cited.last)
