"""Lists what can be changed in a module, one thing at a time.

Each change replaces one span of the source, so the changed file differs from ours in one token or one
statement. What a person reads or a type checker checks is left alone: docstrings, annotations, f-strings,
messages of errors, asserts, decorators. So are tuned numbers: only 0, 1 and 2 are changed.
"""

import ast
import hashlib
import re
from collections.abc import Iterator
from typing import NamedTuple

OPPOSITE = {"==": "!=", "!=": "==", "is": "is not", "is not": "is", "in": "not in", "not in": "in"}
OPPOSITE |= {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
NEXT_TO = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
COMPARISON = re.compile(rb"not\s+in|is\s+not|[=!<>]=|<|>|\bin\b|\bis\b")
JUMPS = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# No law rests on these: `strict` of zip guards against our own mistakes.
UNTOUCHED = {"strict", "encoding", "errors"}


class Change(NamedTuple):
    """One span of one module, replaced."""

    module: str
    function: str
    line: int
    start: int
    end: int
    new: bytes
    before: str
    after: str
    id: str

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.new + source[self.end :]


class Span(NamedTuple):
    function: str
    start: int
    end: int
    new: bytes


class _Finder:
    """Walks one module's syntax and yields every span that may be replaced, with what replaces it."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def at(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.at(node.lineno, node.col_offset), self.at(node.end_lineno, node.end_col_offset)

    def text(self, node: ast.expr | ast.stmt) -> bytes:
        start, end = self.span(node)
        return self.source[start:end]

    def whole(self, node: ast.expr | ast.stmt, new: bytes, where: str) -> Span:
        return Span(where, *self.span(node), new)

    def walk(self, node: ast.AST, where: str = "", returns: str | None = None) -> Iterator[Span]:
        """`where` is the outermost function; `returns` is None outside of functions."""
        inner: list[ast.AST]
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if returns is None:
                    where = f"{where}.{node.name}".lstrip(".")
                inner = list(node.body)
                if not isinstance(node, ast.ClassDef):
                    returns = ast.unparse(node.returns) if node.returns else ""
                    inner += filter(None, (*node.args.defaults, *node.args.kw_defaults))
            case ast.AnnAssign():
                inner = [node.value] if node.value else []
            case ast.If() | ast.IfExp() if is_of_another_system(node.test):
                inner = [*node.orelse] if isinstance(node.orelse, list) else [node.orelse]
            case ast.Raise():
                yield self.whole(node, b"pass", where)
                inner = []
            case _ if is_left_alone(node):
                inner = []
            case _:
                yield from self.statements(node, where, returns)
                yield from self.expressions(node, where)
                yield from self.conditions(node, where)
                inner = list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Compare | ast.Call):
            inner = [child for child in inner if not is_sentinel(child)]
        if isinstance(node, ast.BoolOp) and is_constant(inner[-1], ""):
            inner.pop()  # `or ""` is mostly there for the type checker; `and` in its place shows the rest
        for child in inner:
            yield from self.walk(child, where, returns)

    def statements(self, node: ast.AST, where: str, returns: str | None) -> Iterator[Span]:
        match node:
            case ast.Return(value=ast.expr() as value) if not is_constant(value, None, True, False):
                new = b"not (" + self.text(value) + b")" if returns == "bool" else b"None"
                yield self.whole(value, new, where)
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Delete():
                yield self.whole(node, b"pass", where)
            case ast.Break():
                yield self.whole(node, b"continue", where)
            case ast.Continue():
                yield self.whole(node, b"break", where)
            case ast.Assign(targets=[ast.Name()], value=ast.Tuple() | ast.List() as value) if not where:
                yield from self.shorter(value, where)
            case ast.ExceptHandler(type=ast.expr() as caught):
                yield self.whole(caught, b"()", where)  # catches nothing

    def expressions(self, node: ast.AST, where: str) -> Iterator[Span]:
        match node:
            case ast.Compare():
                yield from self.comparisons(node, where)
                if isinstance(node.ops[0], ast.In | ast.NotIn):
                    yield from self.shorter(node.comparators[0], where)
            case ast.BoolOp():
                for left, right in zip(node.values, node.values[1:], strict=False):
                    old, new = (b"and", b"or") if isinstance(node.op, ast.And) else (b"or", b"and")
                    yield from self.between(left, right, re.compile(rb"\b%s\b" % old), [new], where)
            case ast.UnaryOp(op=ast.Not()):
                yield self.whole(node, b"bool(" + self.text(node.operand) + b")", where)
            case ast.Constant():
                yield from self.constants(node, where)
            case ast.Call(func=ast.Name(id=name)) if name in SWAPPED:
                yield self.whole(node.func, SWAPPED[name].encode(), where)
            case ast.Set():
                yield from self.shorter(node, where)

    def comparisons(self, node: ast.Compare, where: str) -> Iterator[Span]:
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            yield from self.between(left, right, COMPARISON, [], where)

    def between(
        self, left: ast.expr, right: ast.expr, pattern: re.Pattern[bytes], new: list[bytes], where: str
    ) -> Iterator[Span]:
        """The operator that stands between two operands, replaced."""
        begin, end = self.span(left)[1], self.span(right)[0]
        gap = self.source[begin:end]
        if (found := pattern.search(gap)) and b"#" not in gap:
            operator = b" ".join(found[0].split()).decode()
            known = [OPPOSITE.get(operator), NEXT_TO.get(operator)]
            for one in new or [name.encode() for name in known if name]:
                yield Span(where, begin + found.start(), begin + found.end(), one)

    def constants(self, node: ast.Constant, where: str) -> Iterator[Span]:
        match node.value:
            case bool():
                yield self.whole(node, repr(not node.value).encode(), where)
            case 1:
                yield self.whole(node, b"0", where)
                yield self.whole(node, b"2", where)
            case 0 | 2:
                yield self.whole(node, str(node.value + 1).encode(), where)
            case "" if self.text(node) in (b'""', b"''"):
                yield self.whole(node, b'"x"', where)

    def shorter(self, node: ast.expr, where: str) -> Iterator[Span]:
        """A row of values without one of them."""
        if isinstance(node, ast.Tuple | ast.Set | ast.List) and len(node.elts) > 1:
            for i, gone in enumerate(node.elts):
                if not isinstance(gone, ast.Starred):
                    begin = self.span(gone)[0] if i == 0 else self.span(node.elts[i - 1])[1]
                    end = self.span(node.elts[1])[0] if i == 0 else self.span(gone)[1]
                    comma = b"," if isinstance(node, ast.Tuple) and len(node.elts) == 2 and i == 1 else b""
                    if i == 0 and len(node.elts) == 2 and isinstance(node, ast.Tuple):
                        yield self.whole(node, b"(" + self.text(node.elts[1]) + b",)", where)
                    else:
                        yield Span(where, begin, end, comma)

    def conditions(self, node: ast.AST, where: str) -> Iterator[Span]:
        """A condition turned round, where nothing in it says how, and a guard that never holds."""
        tests: list[ast.expr] = []
        match node:
            case ast.If() | ast.While() | ast.IfExp():
                tests = [node.test]
            case ast.comprehension():
                tests = node.ifs
        for test in tests:
            if not isinstance(test, ast.Compare | ast.BoolOp | ast.Constant) and not is_not(test):
                yield self.whole(test, b"(not (" + self.text(test) + b"))", where)
        if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], JUMPS):
            yield self.whole(node.test, b"False", where)
        elif isinstance(node, ast.comprehension):
            yield from (self.whole(test, b"True", where) for test in node.ifs)


def is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.keyword(arg=name):
            return name in UNTOUCHED
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr() | ast.BinOp(op=ast.LShift()):
            return True
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def is_sentinel(node: ast.AST) -> bool:
    """-1 that means "none": -2 would mean the same. As an index it is a place."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def is_of_another_system(node: ast.expr) -> bool:
    """Whether a condition asks for Windows: its branch never runs where the tests do."""
    return ast.unparse(node) in ("os.name == 'nt'", "sys.platform == 'win32'")


def is_constant(node: ast.AST, *values: object) -> bool:
    return isinstance(node, ast.Constant) and any(node.value is value for value in values)


def is_not(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def changes(module: str, source: bytes) -> list[Change]:
    """Everything that can be changed in a module, in the order of its lines."""
    finder = _Finder(source)
    found = sorted(set(finder.walk(ast.parse(source))), key=lambda span: (span.start, span.end, span.new))
    seen: dict[tuple[str, ...], int] = {}
    listed = []
    for span in found:
        begin = source.rfind(b"\n", 0, span.start) + 1
        end = source.find(b"\n", span.end)
        head, tail = source[begin : span.start], source[span.end : end if end >= 0 else len(source)]
        before, after = (
            " ".join((head + middle + tail).decode().split()) for middle in (source[span.start : span.end], span.new)
        )
        key = (module, span.function, before, after)
        seen[key] = seen.get(key, 0) + 1
        digest = hashlib.sha256("\n".join((*key, str(seen[key]))).encode()).hexdigest()[:6]
        line = source.count(b"\n", 0, span.start) + 1
        listed.append(Change(module, span.function, line, *span[1:], before, after, f"{module}:{digest}"))
    return listed
