"""Code compared by what it does: equal in meaning are texts that differ in comments, layout, docstrings, type hints.

Python is compared by its syntax tree, other languages by their tokens; where the ends of lines or the blanks between
words say something (shell, Ruby, TOML), these count. Formats in which layout is content (Markdown, YAML, Makefiles) and
what cannot be parsed have no meaning but their text: None. Both texts are always read by the same code, and no meaning
is ever written down: what is misread is misread alike, and a later version may read better.
"""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from holdfast.model.spans import brace_symbols
from holdfast.model.spans.source_text import code_pieces
from holdfast.patterns import regex

Meaning = tuple[str, ...]

_OWN = "\0"  # stands for a symbol's own name
_MOST = 1 << 20  # characters of one symbol
_BY_LINES = {
    **dict.fromkeys(("sh", "bash", "zsh", "ksh"), "shell"),
    **dict.fromkeys(("rb", "rake", "gemspec", "ex", "exs", "jl", "pl", "pm", "graphql", "gql"), "hash"),
    "lua": "lua",
    "toml": "toml",
}
_TOKENS = regex(r"\w+|\+\+|--|&&|\S")
_BLANKS = regex(r"[^\S\n]+")
_DIRECTIVE = regex(r"^[ \t]*#(?:[^\\\n]|\\.|\\\n)*", re.MULTILINE)


def code_meaning(ending: str, lines: Sequence[bytes], *, own: str = "", fields: bool = False) -> Meaning | None:
    """What some lines of a kind of file do; None if only their text tells. `own` is a name that may change.

    With `fields` they stand in the body of a Python class.
    """
    text = b"\n".join(lines).decode("utf-8", "replace")
    if len(text) > _MOST:
        return None
    if ending in ("py", "pyw"):  # of a stub, annotations are all there is
        return _python(text, own, fields=fields)
    if mask := _BY_LINES.get(ending):
        found = None if "<<" in text else _by_lines(text, mask)  # a document inside may hold anything
    elif ending in ("json", "jsonc", "json5"):
        found = _by_tokens(text, "json")
    elif language := brace_symbols.languages().get(ending):
        found = _by_tokens(text, language.mask)
    else:
        found = None
    tokens = None if found is None else [_OWN if token == own else token for token in found]
    while tokens and tokens[-1] in (";", ","):  # what parts a symbol from the next is not its own
        tokens.pop()
    return None if tokens is None else tuple(tokens)


def _by_tokens(text: str, mask: str) -> Iterator[str]:
    """Every token but comments; a line of C's preprocessor ends where it ends."""
    for piece, is_string in code_pieces(text, mask):
        at = 0
        for found in _DIRECTIVE.finditer(piece) if mask == "c" and not is_string else ():
            yield from _TOKENS.findall(piece[at : found.start()])
            yield " ".join(found[0].replace("\\\n", " ").split())
            at = found.end()
        yield from [piece] if is_string else _TOKENS.findall(piece[at:])


def _by_lines(text: str, mask: str) -> Iterator[str]:
    """Every line without comments, indentation and repeated blanks; no blank ones."""
    whole = "".join(piece if is_string else _BLANKS.sub(" ", piece) for piece, is_string in code_pieces(text, mask))
    return (line.strip() for line in whole.split("\n") if line.strip())


def _python(text: str, own: str, *, fields: bool) -> Meaning | None:
    inside = text[:1] in (" ", "\t")  # these lines stand in a class or function, which need not be read
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about strangers' code; nobody asked
            body = ast.parse(f"if 1:\n{text}" if inside else text).body
        return tuple(_statements(body[0].body if inside else body, own, fields=fields))  # type: ignore[attr-defined]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


_SILENT = frozenset(("annotation", "returns", "type_comment", "type_params", "kind", "ctx"))


def _statements(body: Sequence[ast.stmt], own: str, *, fields: bool) -> Iterator[str]:
    """What statements do; strings alone and annotations do nothing, except that they make `fields` of a class."""
    for node in body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.AnnAssign(value=value, target=target, annotation=kind):
                typed = ("Field(", *_shape(kind, own), ")") if fields else ()
                if typed or value is not None:
                    yield from ("Assign(", *_shape([target], own), *typed, *_shape(value, own), ")")
            case _:
                yield from _shape(node, own, fields=fields)


def _shape(node: object, own: str, *, fields: bool = False) -> Iterator[str]:
    """A syntax tree as text, without what does nothing when the code runs."""
    if isinstance(node, list):
        if node and isinstance(node[0], ast.stmt):
            yield from ("[", *(tuple(_statements(node, own, fields=fields)) or ("Pass(", ")")), "]")
        else:
            yield from ("[", *(part for item in node for part in _shape(item, own, fields=fields)), "]")
    elif isinstance(node, ast.ClassDef):
        yield from ("ClassDef(", _OWN if node.name == own else node.name)
        yield from (part for some in (node.decorator_list, node.bases, node.keywords) for part in _shape(some, own))
        # What a class's body annotates are its fields: those of a dataclass, a model, a protocol.
        yield from (*(tuple(_statements(node.body, own, fields=True)) or ("Pass(", ")")), ")")
    elif isinstance(node, ast.AST):
        inner = fields and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield f"{type(node).__name__}("
        for name, value in ast.iter_fields(node):
            if name not in _SILENT:
                yield from _shape(value, own, fields=inner)
        yield ")"
    else:
        yield _OWN if own and node == own else repr(node)
