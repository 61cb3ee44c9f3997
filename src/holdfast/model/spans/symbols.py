"""The symbols of any file, chosen by its name, and the one that a person means.

Markdown: its sections, by the slug that forges give a heading. Python: functions, classes, methods and assigned names,
decorators included, read by Python's own parser, or by indentation where that refuses the file. Other files: sections,
keys and targets, and languages that end with `end`. Languages with braces are left to `brace_symbols`.
"""

import ast
import os
import re
import warnings
from collections.abc import Callable, Container, Iterator, Sequence

from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.model.evidence import is_symbol_name
from holdfast.model.spans import brace_symbols
from holdfast.model.spans.source_text import Brackets, MaskedLines, Symbol, SymbolPart, masked, qualified, trimmed
from holdfast.model.text import visible
from holdfast.patterns import PatternFile, regex

_PATTERNS = PatternFile(__file__)

_LONGEST = 1000  # characters of a heading


def markdown_symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """Every section: from its heading down to the next heading of the same or a higher level."""
    headings = list(_headings([line.decode("utf-8", "replace") for line in lines]))
    found: list[Symbol] = []
    taken: dict[str, int] = {}
    for (first, _, text), end in zip(headings, _ends(headings, len(lines) + 1), strict=True):
        base = heading_slug(text)
        count = taken[base] = taken.get(base, -1) + 1
        name = f"{base}-{count}" if count else base
        if name:
            found.append(Symbol(name, first, trimmed(lines, first, end - 1), also=base))
    return found


def _ends(headings: Sequence[tuple[int, int, str]], end: int) -> list[int]:
    """For each heading the line of the next one that is not below it."""
    ends = [end] * len(headings)
    waiting: list[int] = []
    for at, (line, level, _) in enumerate(headings):
        while waiting and headings[waiting[-1]][1] >= level:
            ends[waiting.pop()] = line
        waiting.append(at)
    return ends


def heading_slug(text: str) -> str:
    """A heading's text as forges put it into an address."""
    plain = _PATTERNS.link.sub(r"\1", text).strip().lower()
    return _PATTERNS.not_in_slug.sub("", plain).replace(" ", "-")


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Line, level and text of each heading outside code and front matter."""
    fence, before = "", ""
    start = 0
    if lines and lines[0] == "---" and "---" in lines[1:]:  # front matter
        start = lines.index("---", 1) + 1
    for at, line in enumerate(lines[start:], start + 1):
        if fence:
            closing = _PATTERNS.fence.match(line)
            if closing and closing[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif opening := _PATTERNS.fence.match(line):
            fence, before = opening[1], ""
        elif len(line) <= _LONGEST and (heading := _PATTERNS.heading.fullmatch(line)):
            yield at, len(heading[1]), heading[2] or ""
            before = ""
        elif before and (under := _PATTERNS.underline.fullmatch(line)):
            yield at - 1, 1 if under[1][0] == "=" else 2, before.strip()
            before = ""
        else:
            before = "" if line[:1] in "|>-*+" or line.startswith("    ") else line


_MOST_PARSED = 2 << 20  # bytes; the parser takes a second for so many
_OPENING = regex(rb"([ \t]*)(?:async[ \t]+)?(?:def|class)[ \t]+([^\W\d]\w*)")
_ASSIGNED = regex(rb"([^\W\d]\w*)[ \t]*(?::[^=]*)?=(?!=)")
_QUOTES = regex(rb"#[^\n]*+|[\"']{3}|\"(?:\\.|[^\"\\\n])*+\"?|'(?:\\.|[^'\\\n])*+'?")


def python_symbols(lines: Sequence[bytes]) -> list[Symbol]:
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
            case ast.Assign() | ast.AnnAssign():
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
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
    yield from filter(None, (getattr(node, field, None) for field in ("body", "orelse", "finalbody")))
    yield from (item.body for field in ("handlers", "cases") for item in getattr(node, field, ()))


def _by_indentation(lines: Sequence[bytes]) -> Iterator[SymbolPart]:
    inside = _in_strings(lines)
    for at, line in enumerate(lines):
        if at in inside:
            continue
        if found := _OPENING.match(line):
            first, last = extent(lines, at, inside)
            yield SymbolPart(found[2].decode("utf-8", "replace"), first, last)
        elif found := _ASSIGNED.match(line):
            yield SymbolPart(found[1].decode("utf-8", "replace"), at + 1, at + 1)


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
    while top >= 0 and (not lines[top] or lines[top].lstrip().startswith(b"#")):  # they may stand in between
        top -= 1
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


class _Page:
    """A text by rows, with its brackets."""

    def __init__(self, lines: Sequence[bytes], mask: str) -> None:
        self.text = b"\n".join(lines).decode("utf-8", "replace") + "\n"
        self.plain = masked(self.text, mask)
        self.rows = self.text.split("\n")
        self.brackets, self.at = Brackets(self.plain), MaskedLines(self.plain)


def section_symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """TOML and INI: each `[section]` down to the next, and each setting by `section.key`."""
    page = _Page(lines, "toml")
    heads = [n for n, row in enumerate(page.plain.split("\n")) if row.startswith("[")]
    outside = (n for n in heads if page.brackets.around(page.at.starts[n]) is None)
    heads = [n for n in outside if _PATTERNS.section.match(page.rows[n])]
    found: list[Symbol] = []
    for start, end in zip([-1, *heads], [*heads, len(lines)], strict=True):
        head = _PATTERNS.section.match(page.rows[start]) if start >= 0 else None
        name = head[1].strip() if head else ""
        if head:
            found.append(Symbol(name, start + 1, trimmed(lines, start + 1, end)))
        found += _settings(page, (start + 1, end), f"{name}." if name else "")
    return found


def _settings(page: _Page, span: tuple[int, int], before: str) -> Iterator[Symbol]:
    row = span[0]
    while row < span[1]:
        last = row
        if key := _PATTERNS.setting.match(page.rows[row]):
            last = _value_end(page, row, key.end())
            yield Symbol(before + key[1].replace('"', "").replace("'", ""), row + 1, last + 1)
        row = last + 1


def _value_end(page: _Page, row: int, column: int) -> int:
    """The row on which a value ends: brackets and strings of several lines belong to it."""
    rows = page.rows
    rest = rows[row][column:].lstrip()
    for quote in ('"""', "'''"):
        if rest.startswith(quote) and quote not in rest[3:]:
            return next((n for n in range(row + 1, len(rows)) if quote in rows[n]), row)
    if rest[:1] in ("[", "{"):
        close = page.brackets.closing(page.at.starts[row] + rows[row].index(rest[0], column))
        return page.at.at(close) - 1 if close is not None else row
    while row + 1 < len(rows) and rows[row + 1][:1] in (" ", "\t") and rows[row + 1].strip():
        if _PATTERNS.setting.match(rows[row + 1]):
            break
        row += 1  # an INI value goes on in indented lines
    return row


def yaml_symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """YAML: every key by its path, `jobs.test.steps`; from the key down to the next one not below it."""
    rows = [line.decode("utf-8", "replace") for line in lines]
    found: list[Symbol] = []
    around: list[tuple[int, str, int]] = []  # indent, path and row of what is open
    last = 0
    for at, row in enumerate(rows):
        if not row.strip() or row.lstrip().startswith("#"):
            continue
        indent = len(row) - len(row.lstrip(" "))
        listed = row[indent : indent + 2] in ("- ", "-")
        while around and (indent < around[-1][0] or (indent == around[-1][0] and not listed)):
            _, path, start = around.pop()
            found.append(Symbol(path, start + 1, last + 1))
        last = at
        if not listed and (key := _PATTERNS.yaml_key.match(row)):
            name = (key[2] or key[3] or key[4]).strip()
            around.append((indent, f"{around[-1][1]}.{name}" if around else name, at))
    found += [Symbol(path, start + 1, last + 1) for _, path, start in reversed(around)]
    return sorted(found, key=lambda symbol: symbol.first)


def json_symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """JSON: every key by its path, `scripts.build`, with its value."""
    page = _Page(lines, "json")
    parts = []
    for key in _PATTERNS.json_key.finditer(page.text):
        if page.plain[key.end() - 1] != ":":  # inside a longer string or a comment
            continue
        value = _PATTERNS.value.match(page.plain, key.end())
        close = page.brackets.closing(value.start(1)) if value and value[1] in "[{" else None
        end = close if close is not None else key.end()
        first, last = page.at.at(key.start()), page.at.at(end)
        parts.append(SymbolPart(key[1], first, last, start=key.start(), opens=key.end(), end=end))
    return qualified(parts)


def makefile_symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """Makefile: every target with its recipe, every variable with its continuation lines."""
    rows = [line.decode("utf-8", "replace") for line in lines]
    found: list[Symbol] = []
    for at, row in enumerate(rows):
        if row[:1] in ("\t", " ", "#", "") or (at and rows[at - 1].endswith("\\")):
            continue
        if variable := _PATTERNS.variable.match(row):
            found.append(Symbol(variable[1], at + 1, _continued(rows, at) + 1))
        elif target := _PATTERNS.target.match(row):
            end = _continued(rows, at)
            while end + 1 < len(rows) and (rows[end + 1][:1] in ("\t", "") or rows[end].endswith("\\")):
                end += 1
            last = trimmed(lines, at + 1, end + 1)
            found += [Symbol(name, at + 1, last) for name in target[1].split() if name != ".PHONY"]
    return found


def _continued(rows: Sequence[str], at: int) -> int:
    while at + 1 < len(rows) and rows[at].endswith("\\"):
        at += 1
    return at


def end_symbols(lines: Sequence[bytes]) -> list[Symbol]:
    """Ruby, Lua, Elixir, Julia: a definition down to the `end` that stands under it."""
    rows = [line.decode("utf-8", "replace") for line in lines]
    parts = []
    for at, row in enumerate(rows):
        if found := _PATTERNS.with_end.match(row):
            last = _end_below(rows, at, len(found[1].expandtabs()))
            parts.append(SymbolPart(re.sub(r"::|:", ".", found["name"]), at + 1, last + 1))
    return qualified(parts)


def _end_below(rows: Sequence[str], at: int, indent: int) -> int:
    if re.search(r"\bend$|, do:", rows[at]) or _PATTERNS.endless.match(rows[at]):
        return at
    for row in range(at + 1, len(rows)):
        line = rows[row].lstrip()
        if line and len(rows[row].expandtabs()) - len(line.expandtabs()) <= indent:
            return row if re.match(r"end\b|\}", line) else at
    return at


MAX_BYTES = 8 << 20  # of a file in which symbols are looked for

_READERS: dict[Callable[[Sequence[bytes]], list[Symbol]], str] = {
    python_symbols: "py pyi pyw",
    markdown_symbols: "md markdown mdx mdown mdc",
    section_symbols: "toml ini cfg conf editorconfig gitconfig",
    yaml_symbols: "yml yaml",
    json_symbols: "json jsonc json5 webmanifest",
    makefile_symbols: "mk mak makefile gnumakefile",
    end_symbols: "rb rake gemspec lua ex exs jl",
}
_BY_ENDING = {ending: reader for reader, endings in _READERS.items() for ending in endings.split()}
_SHELLS = (b"sh", b"bash", b"zsh", b"ksh", b"dash")


def symbols(path: str, lines: Sequence[bytes]) -> list[Symbol] | None:
    """Every symbol that a receipt could name, in the file's order; None if this kind of file is not known."""
    ending = file_ending(path, lines)
    if reader := _BY_ENDING.get(ending):
        found = reader(lines)
    elif ending in brace_symbols.languages():
        found = brace_symbols.brace_symbols(lines, ending)
    else:
        return None
    return [symbol for symbol in found if is_symbol_name(symbol.name)]


_TYPES = regex(rb"\b(?:class|struct|interface|enum|trait|impl|record|object|namespace|module|mod|union|type)\b")
_OPENERS, _CLOSERS = (b"(", b"[", b"{"), (b")", b"]", b"}")
_NUMBERED = regex(r"(.+)~([1-9][0-9]{0,3})")


def pick(path: str, found: Sequence[Symbol] | None, typed: str) -> Symbol:
    """The symbol that a person means: by its whole name, else by the end of it."""
    shown = f"{visible(path)}#{visible(typed[:200])}"
    if found is None:
        raise BadInput(
            f"symbols in files like {visible(path)} are not known", hint=f"Cite lines: {visible(path)}:10-20."
        )
    fits = fitting(path, found, typed)
    match fits:
        case [one]:
            return one
        case []:
            raise NotFound(f"{shown} is not there", hint=_nearest(path, found, typed))
    places = ", ".join(f"{label(found, one)} (lines {one.first}-{one.last})" for one in fits[:5])
    more = "which of them, as in ~2" if len({symbol.name for symbol in fits}) == 1 else "more of the name"
    hint = f"Write {more}, or cite the lines: {visible(path)}:{fits[0].first}-{fits[0].last}."
    raise Ambiguous(f"{shown} fits {len(fits)} things: {visible(places)}", hint=hint)


def is_function(lines: Sequence[bytes]) -> bool:
    """Whether a symbol of several lines is a function, by how it begins."""
    head = b" ".join(_without_marks(lines)[:6]).partition(b"{")[0]
    return len(lines) > 1 and b"(" in head and not _TYPES.search(head.partition(b"(")[0])


def is_class(lines: Sequence[bytes]) -> bool:
    """Whether a Python symbol is a class."""
    head = next(iter(_without_marks(lines)), b"")
    return head.lstrip().startswith(b"class ")


def _without_marks(lines: Sequence[bytes]) -> Sequence[bytes]:
    """A symbol without the annotations and comments that it begins with."""
    depth = 0
    for at, line in enumerate(lines):
        if not depth and line.strip() and not line.lstrip().startswith((b"@", b"#", b"[", b"//", b"/*", b"*")):
            return lines[at:]
        depth = max(0, depth + sum(line.count(char) for char in _OPENERS) - sum(line.count(char) for char in _CLOSERS))
    return ()


def plain_name(name: str) -> str:
    """A name without the number that tells definitions of the same name apart."""
    found = _NUMBERED.fullmatch(name)
    return found[1] if found else name


def label(found: Sequence[Symbol], symbol: Symbol) -> str:
    """The name by which a receipt tells a symbol from others of its name: `name~2` for the second, overloads and all.

    The first, and one that is defined where others are only declared, need none.
    """
    same = [one for one in found if one.name == symbol.name]
    number = same.index(symbol) + 1
    defined = [one for one in same if one.body]
    is_chief = number == 1 if len(defined) != 1 else defined[0] == symbol
    return symbol.name if is_chief else f"{symbol.name}~{number}"


def fitting(path: str, found: Sequence[Symbol], typed: str) -> list[Symbol]:
    """The symbols that a name may mean; definitions before mere declarations."""
    name = typed.strip().lstrip("#").strip()
    if file_ending(path, ()) in _READERS[markdown_symbols].split():
        slug = heading_slug(name)
        exact = [s for s in found if s.name == name and s.name != s.also]
        return exact or [s for s in found if slug and s.also == slug]
    dotted = name.replace("::", ".").replace("#", ".").removesuffix("()").strip("[]")
    if (numbered := _NUMBERED.fullmatch(dotted)) and not any(s.name == dotted for s in found):
        some = fitting(path, found, numbered[1])
        each = ([s for s in found if s.name == one] for one in dict.fromkeys(s.name for s in some))
        return [same[int(numbered[2]) - 1] for same in each if len(same) >= int(numbered[2])]
    fits = [s for s in found if s.name == dotted]
    fits = fits or [s for s in found if s.name.endswith(f".{dotted}")]
    fits = fits or [s for s in found if s.name.lower() == dotted.lower()]
    defined = [symbol for symbol in fits if symbol.body]
    return defined if len(defined) == 1 else fits


def _nearest(path: str, found: Sequence[Symbol], typed: str) -> str:
    """The next step for a name that is not there: those that look like it, or the first few."""
    from difflib import get_close_matches  # slow to load, and rarely needed

    names = list(dict.fromkeys(symbol.name for symbol in found))[:5000]
    leaves = {name.rpartition(".")[2].lower(): name for name in reversed(names)}
    wanted = typed.strip().lstrip("#").lower()
    near = get_close_matches(wanted, [name.lower() for name in names], n=3)
    near += get_close_matches(wanted.rpartition(".")[2], list(leaves), n=3)
    lower = {name.lower(): name for name in reversed(names)}
    shown = list(dict.fromkeys(lower.get(name) or leaves[name] for name in near))[:4]
    if shown:
        return f"Near it: {visible(', '.join(shown))}."
    if names:
        return f"There are: {visible(', '.join(names[:6]))}{' …' if len(names) > 6 else ''}."
    return f"No symbol was found in it; cite lines: {visible(path)}:10-20."


def file_ending(path: str, lines: Sequence[bytes]) -> str:
    """What decides how a file is read: its ending, its name, or the shell it asks for."""
    name = os.path.basename(path).lower()
    stem, dot, ending = name.rpartition(".")
    if dot and (stem or ending in _BY_ENDING):
        return ending
    if name in _BY_ENDING:
        return name
    first = lines[0].split() if lines else []
    if first and first[0].startswith(b"#!"):
        asked = first[-1].rpartition(b"/")[2]
        return "sh" if asked in _SHELLS else "py" if asked.startswith(b"python") else ""
    return ""
