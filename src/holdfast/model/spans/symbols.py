"""The symbols of any file, by its name, and the one that a person means."""

import difflib
import os
from collections.abc import Callable, Sequence

from holdfast.errors import Ambiguous, BadInput, NotFound
from holdfast.model.evidence import is_symbol_name
from holdfast.model.spans import curly, keyed, markdown, python
from holdfast.model.spans.languages import LANGUAGES
from holdfast.model.spans.symbol import Symbol
from holdfast.model.text import visible

MAX_BYTES = 8 << 20  # of a file in which symbols are looked for

_READERS: dict[Callable[[Sequence[bytes]], list[Symbol]], str] = {
    python.symbols: "py pyi pyw",
    markdown.symbols: "md markdown mdx mdown mdc",
    keyed.sections: "toml ini cfg conf editorconfig gitconfig",
    keyed.yaml: "yml yaml",
    keyed.json: "json jsonc json5 webmanifest",
    keyed.makefile: "mk mak makefile gnumakefile",
    keyed.ended: "rb rake gemspec lua ex exs jl",
}
_BY_ENDING = {ending: reader for reader, endings in _READERS.items() for ending in endings.split()}
_SHELLS = (b"sh", b"bash", b"zsh", b"ksh", b"dash")


def symbols(path: str, lines: Sequence[bytes]) -> list[Symbol] | None:
    """Every symbol that a receipt could name, in the file's order; None if this kind of file is not known."""
    ending = _ending(path, lines)
    if reader := _BY_ENDING.get(ending):
        found = reader(lines)
    elif ending in LANGUAGES:
        found = curly.symbols(lines, ending)
    else:
        return None
    return [symbol for symbol in found if is_symbol_name(symbol.name)]


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
    places = ", ".join(f"{symbol.name} (lines {symbol.first}-{symbol.last})" for symbol in fits[:5])
    hint = f"Write more of the name, or cite the lines: {visible(path)}:{fits[0].first}-{fits[0].last}."
    raise Ambiguous(f"{shown} fits {len(fits)} things: {visible(places)}", hint=hint)


def fitting(path: str, found: Sequence[Symbol], typed: str) -> list[Symbol]:
    """The symbols that a name may mean; definitions before mere declarations."""
    name = typed.strip().lstrip("#").strip()
    if _ending(path, ()) in _READERS[markdown.symbols].split():
        slug = markdown.slug(name)
        exact = [s for s in found if s.name == name and s.name != s.also]
        return exact or [s for s in found if slug and s.also == slug]
    dotted = name.replace("::", ".").replace("#", ".").removesuffix("()").strip("[]")
    for fits in (
        [s for s in found if s.name == dotted],
        [s for s in found if s.name.endswith(f".{dotted}")],
        [s for s in found if s.name.lower() == dotted.lower()],
    ):
        if fits:
            defined = [symbol for symbol in fits if symbol.body]
            return defined if len(defined) == 1 else fits
    return []


def _nearest(path: str, found: Sequence[Symbol], typed: str) -> str:
    """The next step for a name that is not there: those that look like it, or the first few."""
    names = list(dict.fromkeys(symbol.name for symbol in found))[:5000]
    leaves = {name.rpartition(".")[2].lower(): name for name in reversed(names)}
    wanted = typed.strip().lstrip("#").lower()
    near = difflib.get_close_matches(wanted, [name.lower() for name in names], n=3)
    near += difflib.get_close_matches(wanted.rpartition(".")[2], list(leaves), n=3)
    lower = {name.lower(): name for name in reversed(names)}
    shown = list(dict.fromkeys(lower.get(name) or leaves[name] for name in near))[:4]
    if shown:
        return f"Near it: {visible(', '.join(shown))}."
    if names:
        return f"There are: {visible(', '.join(names[:6]))}{' …' if len(names) > 6 else ''}."
    return f"No symbol was found in it; cite lines: {visible(path)}:10-20."


def _ending(path: str, lines: Sequence[bytes]) -> str:
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
