"""The symbols of a Python file: functions, classes, methods and assigned names, decorators included.

Read by Python's own parser; a file that it refuses (another version's syntax, an edit half done)
is read by its indentation.
"""

import ast
import warnings
from collections.abc import Container, Iterator, Sequence

from holdfast.model.spans.symbol import Part, Symbol, qualified
from holdfast.patterns import regex

_MOST_PARSED = 2 << 20  # bytes; the parser takes a second for so many
_OPENING = regex(rb"([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+([^\W\d]\w*)")
_ASSIGNED = regex(rb"([^\W\d]\w*)[ \t]*(?::[^=]*)?=(?!=)")
_QUOTES = regex(rb"#[^\n]*+|[\"']{3}|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?")


def symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """Every function, class and assigned name, with its qualified name."""
    text = b"\n".join(lines).replace(b"\r", b" ").replace(b"\0", b" ")
    if len(text) <= _MOST_PARSED:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about strangers' code; nobody asked
                return list(_named(ast.parse(text.decode("utf-8", "replace")).body, ""))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
    return qualified(_by_indentation(lines))


def opens(line: bytes) -> bool:
    """Whether a line begins a function or a class."""
    return _OPENING.match(line) is not None


def _named(body: Sequence[ast.stmt], around: str) -> Iterator[Symbol]:
    for node in body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                name = f"{around}{node.name}"
                first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                yield Symbol(name, first, node.end_lineno or node.lineno)
                inner = node.body if isinstance(node, ast.ClassDef) else _only_definitions(node.body)
                yield from _named(inner, f"{name}.")
            case ast.Assign(targets=targets):
                for target in targets:
                    yield from _assigned(target, node, around)
            case ast.AnnAssign(target=target):
                yield from _assigned(target, node, around)
            case _:
                for part in _blocks(node):
                    yield from _named(part, around)


def _assigned(target: ast.expr, node: ast.stmt, around: str) -> Iterator[Symbol]:
    if isinstance(target, ast.Name):
        body = not isinstance(node, ast.AnnAssign) or node.value is not None
        yield Symbol(f"{around}{target.id}", node.lineno, node.end_lineno or node.lineno, body)
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from _assigned(item, node, around)


def _only_definitions(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """What a function defines inside; its variables are nobody's symbols."""
    kept: list[ast.stmt] = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            kept.append(node)
        else:
            kept.extend(item for part in _blocks(node) for item in _only_definitions(part))
    return kept


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements inside an if, a try, a with, a loop or a match."""
    for field in ("body", "orelse", "finalbody"):
        if part := getattr(node, field, None):
            yield part
    for field in ("handlers", "cases"):
        for item in getattr(node, field, ()):
            yield item.body


def _by_indentation(lines: Sequence[bytes]) -> Iterator[Part]:
    inside = _in_strings(lines)
    for at, line in enumerate(lines):
        if at in inside:
            continue
        if found := _OPENING.match(line):
            first, last = extent(lines, at, inside)
            yield Part(found[2].decode("utf-8", "replace"), first, last)
        elif found := _ASSIGNED.match(line):
            yield Part(found[1].decode("utf-8", "replace"), at + 1, at + 1)


def extent(lines: Sequence[bytes], at: int, inside: Container[int] = ()) -> tuple[int, int]:
    """From the decorators down to the last line that is indented further or begins inside a string."""
    indent, first = _indent(lines[at]), at
    while (above := _decorator(lines, first)) < first:
        first = above
    last, end, opened = at, at + 1, lines[at].count(b"(") > lines[at].count(b")")
    while end < len(lines):
        line = lines[end].lstrip()
        closes = opened and line.startswith(b")")  # of a parameter list over several lines
        outside = line and not line.startswith(b"#") and _indent(lines[end]) <= indent
        if outside and not closes and end not in inside:
            break
        opened = opened and not closes
        if (line and not line.startswith(b"#")) or end in inside:
            last = end
        end += 1
    return first + 1, last + 1


def qualifier(lines: Sequence[bytes], at: int) -> str:
    """The names, joined by dots, of the classes and functions that a line stands in, by indentation."""
    names: list[str] = []
    indent = _indent(lines[at])
    for row in range(at - 1, -1, -1):
        if indent == 0:
            break
        line = lines[row]
        if line and (deep := _indent(line)) < indent and not line.lstrip().startswith((b"#", b")")):
            indent = deep
            if found := _OPENING.match(line):
                names.append(found[2].decode("utf-8", "replace"))
    return ".".join(reversed(names))


def _indent(line: bytes) -> int:
    return len(line.expandtabs()) - len(line.lstrip().expandtabs())


def _decorator(lines: Sequence[bytes], at: int) -> int:
    """The line on which the decorator above a line begins; the line itself if there is none."""
    top, indent = at - 1, _indent(lines[at])
    if top >= 0 and lines[top].lstrip().startswith((b")", b"]")):
        while top > max(0, at - 40) and (
            not lines[top] or _indent(lines[top]) > indent or lines[top].lstrip()[:1] in b")]"
        ):
            top -= 1
    return top if top >= 0 and lines[top].lstrip().startswith(b"@") and _indent(lines[top]) == indent else at


def _in_strings(lines: Sequence[bytes]) -> set[int]:
    """The lines that begin inside a string of several lines."""
    inside: set[int] = set()
    open_with = b""
    for at, line in enumerate(lines):
        if open_with:
            inside.add(at)
        start = 0
        while start < len(line):
            if open_with:
                end = line.find(open_with, start)
                if end < 0:
                    break
                start, open_with = end + 3, b""
            elif found := _QUOTES.search(line, start):
                start = found.end()
                if found[0] in (b'"""', b"'''"):
                    open_with = found[0]
            else:
                break
    return inside
