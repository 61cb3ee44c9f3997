"""Files taken apart: by heading, by function and class, and whatever stands in them."""

import ast
import glob
import os
import random
import time

import pytest

from holdfast.index.corpus import chunks
from holdfast.index.corpus.chunks import PIECE, FileChunk, code, languages
from holdfast.index.corpus.file_choice import CorpusChoice, CorpusRules, chunks_of
from holdfast.security.redact import Scanner

SCAN = Scanner()
SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "src", "holdfast")

TYPESCRIPT = """import x from "y";

export interface Foo {
  a: string;
}

/** Fetches. */
export async function fetchUser(id: string): Promise<User> {
  if (id) {
    return a;
  }
}

export const handler = async (event: Event) => {
  return 1;
};
"""
GO = """package main

// Server serves.
type Server struct {
\ta int
}

func (s *Server) Start(ctx context.Context) error {
\treturn nil
}
"""
RUST = """use std;
#[derive(Debug)]
pub struct Foo { a: u8 }

impl<T: X> Foo<T> {
    pub fn new() -> Self {
        Foo { a: 1 }
    }
}
pub(crate) async fn run() {
    x();
}
"""
C = """#include <a.h>
static int helper(int a, char *b)
{
    if (a) {
        return 1;
    }
}

struct point {
    int x;
};
void Foo::bar(int x) const {
}
"""
JAVA = """package a;

/** Doc. */
@Service
public class Foo extends Bar<Baz> {
    public List<String> getNames(String a) throws IOException {
        return x;
    }
}
"""
TITLES = {
    "ts": (TYPESCRIPT, ["x.ts", "Foo", "fetchUser", "handler"]),
    "go": (GO, ["x.go", "Server", "Server.Start"]),
    "rs": (RUST, ["x.rs", "Foo", "Foo<T>", "run"]),
    "c": (C, ["x.c", "helper", "point", "Foo::bar"]),
    "java": (JAVA, ["x.java", "Foo"]),
    "rb": ("class A\n  def hello(x)\n    y do\n    end\n  end\nend\n\ndef b\nend\n", ["A", "b"]),
    "sh": ("set -e\n\nbuild() {\n  make\n}\nfunction clean {\n  rm\n}\n", ["x.sh", "build", "clean"]),
    "sql": ("CREATE TABLE IF NOT EXISTS users (\n id int\n);\ncreate index i on users(id);\n", ["users", "i"]),
    "toml": ("a = 1\n\n[tool.ruff]\nb = 2\n\n[tool.mypy]\nc = 1\n", ["x.toml", "tool.ruff", "tool.mypy"]),
    "php": ("<?php\nclass User\n{\n    public $x;\n}\nfunction helper($a) {\n}\n", ["x.php", "User", "helper"]),
}


@pytest.mark.parametrize("ending", TITLES)
def test_code_is_cut_by_what_it_defines(ending: str) -> None:
    """Who asks for a function wants that function, not the file around it."""
    text, titles = TITLES[ending]

    assert [chunk.title or f"x.{ending}" for chunk in code(text, languages().by_ending[ending])] == titles


def test_python_is_read_as_its_parser_reads_it() -> None:
    """A definition that is missed is found under its neighbour's name."""
    missed = []
    for path in glob.glob(os.path.join(SOURCE, "store", "*.py")) + glob.glob(os.path.join(SOURCE, "git", "*.py")):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        titles = {chunk.title for chunk in code(text, languages().by_ending["py"])}
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found = any(title == node.name or title.startswith(f"{node.name}.") for title in titles)
                missed += [] if found else [f"{path}: {node.name}"]

    assert missed == []


def test_a_long_class_gives_its_methods_and_a_short_one_stays_whole() -> None:
    """Pieces are of a size that can be read; what belongs together stays so while it fits."""
    method = "    def m{0}(self):\n" + "        return 'something that is long enough'\n" * 12
    long = "class Long:\n" + "".join(method.format(number) for number in range(9))
    short = "class Short:\n    def a(self):\n        pass\n    def b(self):\n        pass\n"

    titles = [chunk.title for chunk in code(long + short, languages().by_ending["py"])]

    assert titles == ["Long", *(f"Long.m{number}" for number in range(9)), "Short"]


def test_pages_are_cut_by_heading_with_those_above_as_context() -> None:
    """`Install` says nothing; `Install` of the server does."""
    page = "Intro\n\n# Guide\n\n## Install\n\ntext\n\n```sh\n# no heading\n```\n\nServer\n------\n\n### Deep\n\nend\n"

    found = list(chunks.markdown(page))

    assert [(one.title, one.context, one.line) for one in found] == [
        ("", "", 1), ("Guide", "", 3), ("Install", "Guide", 5), ("Server", "Guide", 13),
        ("Deep", "Guide / Server", 16),
    ]  # fmt: skip
    assert "# no heading" in found[2].text
    rst = [one.title for one in chunks.underlined("Title\n=====\n\nA\n\nPart\n----\n\nB\n\nNext\n====\n\nC\n")]
    assert rst == ["Title", "Part", "Next"]
    assert [one.title for one in chunks.asciidoc("= Doc\n\n== One\n\na\n\n----\n== code\n----\n")] == ["Doc", "One"]


def whole(path: str, data: bytes) -> list[FileChunk]:
    return list(chunks_of(path, data, SCAN))


HOSTILE = {
    "deep": ("a.py", b"".join(b" " * depth + b"class A:\n" for depth in range(400))),
    "nested braces": ("a.js", b"class A {\n" * 3000 + b"}\n" * 3000),
    "no end": ("a.c", b"int f(int a" + b", int b" * 3000),
    "brackets": ("a.ts", b"const x = ((((((((((\n" * 5000),
    "quotes": ("a.py", b'"""' * 5001 + b"\ndef f():\n    pass\n"),
    "null later": ("a.py", b"x = 1\n" * 2000 + b"\0\0def f():\n"),
    "not text": ("a.md", bytes(range(1, 256)) * 100),
    "fences": ("a.md", b"```\n" * 5000 + b"# x\n"),
    "underlines": ("a.rst", b"=====\n" * 5000),
    "headings": ("a.md", b"# h\n" * 20_000),
    "one line": ("a.js", b"function a(){}" * 50_000),
    "spaces": ("a.java", b" " * 1900 + b"\n" + b"public static " * 120 + b"\n"),
    "returns": ("a.go", b"func A() {\r\n}\r\n" * 3000),
    "wrong": ("a.py", b"def f(:\n  ))\nclass\ndef\n\tdef g(\n" * 500),
    "words": ("a.rs", b"impl<" * 3000 + b"\npub pub pub pub pub fn\n" * 500),
    "surrogates": ("a.md", b"\xed\xa0\x80 # x\n\xff\xfe\n" * 100),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_is_too_strange_to_be_taken_apart(name: str) -> None:
    """One file of somebody else's must not stop the whole repository from being read."""
    path, data = HOSTILE[name]
    began = time.process_time()

    found = whole(path, data)

    assert time.process_time() - began < 5, "a pattern goes back and forth over it"
    assert all(0 < len(one.text) <= PIECE and one.line > 0 for one in found)


def test_random_text_loses_no_word(seed: int) -> None:
    """What is in a file can be found in one of its pieces, whatever language it claims to be."""
    chosen = random.Random(seed)
    pieces = ["def f(x):", "class A:", "{", "}", "end", "# T", '"""', "```", "x = 1", "", "  y()", "fn a() {", "===="]
    for _ in range(60):
        lines = [" " * chosen.choice((0, 0, 2, 4)) + chosen.choice(pieces) for _ in range(40)]
        lines = [f"{line} w{place}" if chosen.random() < 0.5 else line for place, line in enumerate(lines)]
        text = "\n".join(lines)
        for ending in ("py", "js", "rs", "md", "rst", "sql", "rb"):
            told = " ".join(one.text for one in whole(f"a.{ending}", text.encode()))
            assert set(text.split()) >= set(told.split())
            assert {word for word in text.split() if word[0] == "w"} <= set(told.split()), ending


def test_paths_tell_what_is_worth_reading() -> None:
    """Patterns mean what they mean to git."""
    rules = CorpusRules(
        CorpusChoice(exclude=("*.sql", "docs/old/", "a/**/b.py", "/x/*.c")), "gen/*.ts linguist-generated"
    )
    taken = ["src/a.py", "README", "docs/new.md", "Makefile", "x/y/z.c", "b.py", "requirements-dev.txt", "b/gen/a.ts"]
    left = [
        "q/x.sql", "docs/old/a.md", "a/c/d/b.py", "a/b.py", "x/y.c", "gen/a.ts", "node_modules/x.js",
        "yarn.lock", "dist/a.js", "vendor/b.go", "a.min.js", "x.png", ".holdfast/a.md", "x_pb2.py", "none",
    ]  # fmt: skip

    assert [path for path in taken if rules.kind_of(path) is None] == []
    assert [path for path in left if rules.kind_of(path) is not None] == []
