"""Which edits change what code does, and which only how it is written."""

import pytest

from holdfast.errors import Ambiguous, NotFound
from holdfast.model.spans.code_meaning import code_meaning
from holdfast.model.spans.file_version import FileVersion

SAME = [
    ("py", 'def f(a: int) -> A:\n    """Doc."""\n    x: int = 3  # c', "def f(\n  a,\n):\n  x = (3)"),
    ("py", "    def f(self):\n        '''Only words.'''", "    def f(self):\n        pass"),
    ("py", "    @a\n    def f(self): return 'x' 'y'", "    @a\n    def f(self):\n\n        return (\n'xy'\n    )"),
    ("py", "class A:\n  def f(self, a):\n    b = a", "class A:\n  def f(self, a: int) -> B:\n    b: C = a"),
    ("py", "class A:\n    x: int = 3", "class A:\n    # why\n    x:int=(3)\n    'Words.'"),
    ("go", "func f() {\n\t// why\n\tx := g(1, /* two */ 2)\n}", "func f() { x := g(1,2) }"),
    ("ts", "function f(a: string) {\n  return `a ${b}`; // x\n}", "function f(\n a: string\n)\n{ return `a ${b}`; }"),
    ("rs", "/// Doc\n#[inline]\nfn f<'a>(x: &'a str) {}", "#[inline] fn f<'a>(x: &'a str) { }"),
    ("c", "int f(void)\n{\n#if A /* x */\n  return 1;\n#endif\n}", "int f(void) {\n#if  A\nreturn 1;\n#endif\n}"),
    ("js", "function f() { a(); };", "function f() { a(); }"),
    ("sh", "f() {\n  a   -b # why\n\n}", "f() {\n    a -b\n}"),
    ("json", '"a": {"b": [1, 2]}', '"a": {\n  "b": [1,2]\n}'),
]  # fmt: skip
OTHER = [
    ("py", "def f(): return 1", "def f(): return 2"),
    ("py", "def f(a=1): return a", "def f(a=2): return a"),
    ("py", "def f():\n    if a:\n        b()\n        c()", "def f():\n    if a:\n        b()\n    c()"),
    ("py", "def f(): return 'a  b'", "def f(): return 'a b'"),
    ("py", "@a\ndef f(): pass", "@b\ndef f(): pass"),
    ("py", "@dataclass\nclass A:\n    x: int", "@dataclass\nclass A:\n    x: int\n    y: int"),
    ("py", "class A:\n    x: int", "class A:\n    x: int\n    y: int"),
    ("py", "class A:\n    total: int", "class A:\n    total: Decimal"),
    ("py", "class A:\n    if B:\n        x: int", "class A:\n    if B:\n        x: str"),
    ("go", 'func f() { x("a // b") }', 'func f() { x("a // c") }'),
    ("go", "//go:embed a\nvar x string", "//go:embed b\nvar x string"),
    ("c", "int f() { return i++ + j; }", "int f() { return i + ++j; }"),
    ("c", "#define F (x) y", "#define F(x) y"),
    ("tsx", "const a = <p>see http://a.b</p>", "const a = <p>see http://a.c</p>"),
    ("sh", "f() {\n  a -b\n}", "f() {\n  a-b\n}"),
    ("sh", "f() {\n  a\n  b\n}", "f() {\n  a b\n}"),
    ("rs", "fn f() -> char { 'a' }", "fn f() -> char { 'b' }"),
    ("php", "#[A]\nfunction f() {}", "#[B]\nfunction f() {}"),
]


@pytest.mark.parametrize(("ending", "one", "other"), SAME)
def test_layout_comments_and_annotations_change_nothing(ending: str, one: str, other: str) -> None:
    """A formatter must not send memories to review."""
    known, now = (code_meaning(ending, text.encode().split(b"\n")) for text in (one, other))
    assert known is not None
    assert known == now


@pytest.mark.parametrize(("ending", "one", "other"), OTHER)
def test_every_change_of_code_counts(ending: str, one: str, other: str) -> None:
    """A memory about code that does something else now would mislead."""
    known, now = (code_meaning(ending, text.encode().split(b"\n")) for text in (one, other))
    assert known != now


@pytest.mark.parametrize(
    ("ending", "text"),
    [("md", "# A\nb"), ("yml", "a: 1"), ("py", "def f(:"), ("pyi", "a: int"), ("sh", "cat <<E\n# x\nE")],
)
def test_what_only_its_text_tells_has_no_meaning(ending: str, text: str) -> None:
    """Nothing is guessed where layout is content, or where the code cannot be read."""
    assert code_meaning(ending, text.encode().split(b"\n")) is None


REPEATED = {
    "a.py": "class A:\n  @property\n  def x(self):\n    return 1\n\n  @x.setter\n  def x(self, v):\n    self.v = v\n",
    "a.go": "func init() {\n\ta()\n}\n\nfunc init() {\n\tb()\n}\n",
    "a.c": "#ifdef A\nint f(int a)\n{\n\treturn 1;\n}\n#else\nint f(int a)\n{\n\treturn 2;\n}\n#endif\n",
    "A.java": "class A {\n  void f(int a) {\n    g();\n  }\n  void f(long a) {\n    h();\n  }\n}\n",
}  # fmt: skip


@pytest.mark.parametrize("path", REPEATED)
def test_definitions_of_one_name_are_told_apart_by_number(path: str) -> None:
    """Overloads, properties, variants for another system: each can be cited."""
    read = FileVersion(path, REPEATED[path].encode())
    (name,) = {one.name for one in read.symbols or () if len(read.called(one.name)) == 2}
    with pytest.raises(Ambiguous) as caught:
        read.cite_symbol(name)
    assert f"{name}~2 (lines " in str(caught.value)
    assert "~2" in caught.value.hint
    first, second = read.cite_symbol(f"{name}~1"), read.cite_symbol(f"{name}~2")
    assert (first.name, second.name) == (name, f"{name}~2")
    assert [read.own(one) for one in (first, second)] == [(one.first, one.last) for one in read.called(name)]
    with pytest.raises(NotFound):
        read.cite_symbol(f"{name}~3")


# What stands before a definition, the definition, its name, an annotation of it.
MARKED = {
    "A.java": ("class A {\n", "  void pay(int a) {\n    go(a);\n  }\n", "A.pay", "  @Transactional\n"),
    "B.java": ("class B {\n  @Id\n  int x;\n", "  int pay() {\n    go();\n  }\n", "B.pay", '  @Get(\n    "/a"\n  )\n'),
    "a.ts": ("class A {\n  @In() x: B\n", "  pay(a: number) {\n    go(a);\n  }\n", "A.pay", "  @UseGuards(Auth)\n"),
    "b.ts": ("const a = f(1)\n", "export class A {\n  x = 1;\n}\n", "A", "@Component({\n  selector: 'a',\n})\n"),
    "a.rs": ("use a::b;\n", "pub fn pay(a: i32) {\n    go(a);\n}\n", "pay", "#[cfg(test)]\n"),
    "b.rs": ("#![allow(x)]\n", "struct A {\n    a: i32,\n}\n", "A", "#[derive(\n    Clone, // all of it\n)]\n"),
    "a.cs": ("class K {\n", "    public int Run(int a) {\n        return a;\n    }\n", "K.Run", "    [Obsolete]\n"),
    "b.cs": ("[assembly: X]\n", "class K {\n    int a;\n}\n", "K", '[A] [B("x")]\n'),
    "a.kt": ("val a = f(1)\n", "fun pay(a: Int) {\n    go(a)\n}\n", "pay", '@Deprecated("x") @JvmStatic\n'),
    "a.swift": ("let a = b[0]\n", "func pay() {\n    go()\n}\n", "pay", "@available(iOS 13, *)\n"),
    "a.cpp": ("int a;\n", "int pay(int a) {\n  return a;\n}\n", "pay", "[[nodiscard]]\n"),
    "a.php": ("<?php\n", "function pay() {\n  go();\n}\n", "pay", "#[Route('/a')]\n"),
    "a.py": ("import a\n", "def pay():\n    go()\n", "pay", "@cache\n"),
}  # fmt: skip
WORDS = {"py": "# Why.\n\n"}


@pytest.mark.parametrize("path", MARKED)
def test_an_annotation_above_a_symbol_belongs_to_it(path: str) -> None:
    """`@Transactional` or `#[cfg(test)]` changes what a function does, though not one of its own lines."""
    before, definition, name, mark = MARKED[path]
    words = WORDS.get(path.rpartition(".")[2], "/** Why (a) */\n\n// note [b]\n")
    after = "}\n" * before.count("{")
    bare, marked, told, both = (
        FileVersion(path, f"{before}{above}{definition}{after}".encode()) for above in ("", mark, words, mark + words)
    )
    cited, with_mark = bare.cite_symbol(name), marked.cite_symbol(name)

    assert told.own(cited) is not None
    assert marked.own(cited) is both.own(cited) is None
    assert marked.own(with_mark) is not None
    assert bare.own(with_mark) is None
    assert _meaning(bare, name) == _meaning(told, name)
    assert _meaning(marked, name) == _meaning(both, name)
    assert _meaning(bare, name) != _meaning(marked, name)


def _meaning(text: FileVersion, name: str) -> object:
    (one,) = text.called(name)
    return text.meaning(one.first, one.last)


def test_the_type_of_a_field_counts_where_only_the_field_is_cited() -> None:
    """Callers rely on the type of a field; of a local variable it is a hint."""
    old, new = (FileVersion("a.py", f"class A:\n    x: {kind}\n".encode()) for kind in ("int", "Decimal"))
    assert _meaning(old, "A.x") != _meaning(new, "A.x")
    local, typed = (FileVersion("a.py", f"def f():\n    x{kind} = 1\n".encode()) for kind in ("", ": int"))
    assert local.meaning(2, 2) == typed.meaning(2, 2)


def test_a_function_below_a_long_annotation_is_a_function() -> None:
    """Lines that somebody cites in it are cited with the function around them."""
    mark = "@Get(\n" + "".join(f'  "/{n}",\n' for n in range(9)) + ")\n"
    text = FileVersion("A.java", f"class A {{\n{mark}int pay() {{\n  int a = 1;\n  return a;\n}}\n}}\n".encode())
    cited = text.cite_function(14, 14)
    assert cited is not None
    assert cited.name == "A.pay"
