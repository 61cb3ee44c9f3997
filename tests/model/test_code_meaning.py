"""Which edits change what code does, and which only how it is written."""

import pytest

from holdfast.errors import Ambiguous, NotFound
from holdfast.model.spans.code_meaning import code_meaning
from holdfast.model.spans.file_version import FileVersion

SAME = [
    ("py", 'def f(a: int) -> A:\n    """Doc."""\n    x: int = 3  # c', "def f(\n  a,\n):\n  x = (3)"),
    ("py", "    def f(self):\n        '''Only words.'''", "    def f(self):\n        pass"),
    ("py", "    @a\n    def f(self): return 'x' 'y'", "    @a\n    def f(self):\n\n        return (\n'xy'\n    )"),
    ("py", "class A:\n    x: int = 3\n    y: str", "class A:\n    x = 3"),
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
