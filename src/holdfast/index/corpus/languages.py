"""The languages whose definitions are known: what opens one, what may hold others, and how it ends.

The groups of a pattern that took part name the definition. It looks at one line, never further, so
that no text can make it slow.
"""

import re
from functools import cache
from typing import NamedTuple

INDENTED, BRACES, ENDS, FLAT = "indented", "braces", "ends", "flat"


class Language(NamedTuple):
    """How definitions look in a language; its patterns are compiled when a file of it is first read."""

    opening: str
    holding: str | None = None  # an opening line of what holds other definitions
    layout: str = BRACES
    never: frozenset[str] = frozenset()

    @property
    def opens(self) -> re.Pattern[str]:
        return _compiled(self.opening, re.MULTILINE)

    @property
    def holds(self) -> re.Pattern[str] | None:
        return _compiled(self.holding, 0) if self.holding else None


@cache
def _compiled(pattern: str, flags: int) -> re.Pattern[str]:
    return re.compile(pattern, flags)


_KEYWORDS = frozenset(
    ("if", "for", "while", "switch", "catch", "return", "else", "do", "new", "function", "constructor_",
     "sizeof", "foreach", "using", "lock", "when", "with", "match", "elif", "until", "defined", "super")
)  # fmt: skip
_WORD = r"[A-Za-z_$][\w$]*"
_MODIFIERS = (
    r"(?:(?:public|private|protected|internal|static|final|abstract|virtual|override|sealed|partial|readonly|"
    r"async|export|default|declare|inline|open|data|suspend|native|synchronized|unsafe|extern|"
    r"const(?=[ \t]+fn)|companion|"
    r"operator|infix|tailrec|external|lateinit|fileprivate|mutating|convenience|required|lazy|implicit|case|"
    r"get|set|transient|volatile|pub(?:\([^)\n]{0,40}\))?)[ \t]+)*+"
)
_TYPES = r"(?:class|interface|enum|record|struct|trait|object|protocol|extension|namespace|module|actor|union)"
_HOLDS = rf"\b(?:{_TYPES}|impl|mod|contract|library)\b"

PYTHON = Language(r"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)", r"\bclass\b", INDENTED)
SCRIPT = Language(
    rf"^[ \t]*{_MODIFIERS}(?:function\b[ \t]*\*?[ \t]*({_WORD})"
    rf"|{_TYPES}[ \t]+({_WORD})"
    rf"|type[ \t]+({_WORD})(?=[^=\n]{{0,80}}=)"
    rf"|(?:const|let|var)[ \t]+({_WORD})[^=\n]{{0,120}}=[ \t]*(?:async\b[ \t]*)?"
    rf"(?:function\b|\([^\n]{{0,300}}=>|{_WORD}[ \t]*=>)"
    rf"|(\#?{_WORD})[ \t]*(?:<[^<>\n]{{0,80}}>)?\([^;{{}}\n]{{0,300}}\)[^;{{}}()\n]{{0,120}}\{{[ \t]*$)",
    _HOLDS, BRACES, _KEYWORDS,
)  # fmt: skip
GO = Language(r"^(?:func[ \t]+(?:\([ \t]*(?:\w+[ \t]+)?\*?(\w+)[^)\n]{0,120}\)[ \t]*)?(\w+)|type[ \t]+(\w+))")
RUST = Language(
    rf"^[ \t]*{_MODIFIERS}(?:(?:fn|struct|enum|trait|mod|union|type|macro_rules!)[ \t]+(\w+)"
    r"|impl\b(?:<[^\n{]{0,120}?>)?[ \t]+([^\n{]{1,160}?)[ \t]*(?=\{|$|where\b))",
    r"\b(?:impl|trait|mod)\b",
)
JVM = Language(
    rf"^[ \t]*{_MODIFIERS}(?:{_TYPES}[ \t]+(?:class[ \t]+)?({_WORD})"
    rf"|(?:fun|func|def)\b(?:[ \t]*<[^>\n]{{0,80}}>)?[ \t]+(?:[\w<>?]{{1,80}}\.)?({_WORD}|`[^`\n]{{1,80}}`)"
    rf"|(?:[\w.$<>\[\],?&]{{1,120}}[ \t]+){{1,3}}({_WORD})[ \t]*"
    rf"\([^;={{}}\n]{{0,300}}(?:$|\)[^;={{}}()\n]{{0,120}}(?:\{{|$)))",
    _HOLDS, BRACES, _KEYWORDS,
)  # fmt: skip
C = Language(
    r"^(?:(?:typedef[ \t]+)?(?:class|struct|union|enum(?:[ \t]+class)?|namespace)[ \t]+([\w:]+)"
    r"(?=[^;()\n]{0,120}(?:\{|$))"
    r"|(?![ \t#/*})])[\w:<>,*&~ \t\[\]]{0,160}?\b(~?[A-Za-z_][\w:~]*)[ \t]*"
    r"\([^;{}=\n]{0,400}(?:$|\)[^;{}()=\n]{0,80}(?:\{|$)))",
    r"^[ \t]*(?:class|struct|namespace)\b", BRACES, _KEYWORDS,
)  # fmt: skip
RUBY = Language(r"^[ \t]*(?:class|module|def)[ \t]+([\w:.?!=]+)", r"\b(?:class|module)\b", ENDS)
ELIXIR = Language(r"^[ \t]*(?:defmodule|defprotocol|defimpl|defp?|defmacrop?)[ \t]+([\w.?!]+)", r"\bdefmodule\b", ENDS)
LUA = Language(r"^[ \t]*(?:local[ \t]+)?function[ \t]+([\w.:]+)", None, ENDS)
SHELL = Language(r"^[ \t]*(?:function[ \t]+([\w:.-]+)|([\w:.-]+)[ \t]*\(\)[ \t]*(?:\{|$))")
PERL = Language(r"^[ \t]*(?:sub|package)[ \t]+([\w:]+)")
SQL = Language(
    r"(?i)^[ \t]*create[ \t]+(?:or[ \t]+replace[ \t]+)?"
    r"(?:unique[ \t]+|temp(?:orary)?[ \t]+|materialized[ \t]+)*"
    r"(?:table|view|function|procedure|index|trigger|type)[ \t]+"
    r"(?:if[ \t]+not[ \t]+exists[ \t]+)?([\w.\"`]+)",
    None, FLAT,
)  # fmt: skip
LISP = Language(r"^\((?:def\w*|define|defun|ns)[ \t]+\(?([^\s()\[\]]{1,120})", None, FLAT)
HASKELL = Language(r"^(?:(?:data|newtype|type|class|instance)[ \t]+([A-Z]\w*)|([a-z_][\w']*)[ \t]*::)", None, FLAT)
PROTO = Language(r"^[ \t]*(?:message|service|enum|rpc|type|input|interface|query|mutation)[ \t]+(\w+)")
TERRAFORM = Language(
    r"^(?:resource|data|module|variable|output|provider|locals)\b[ \t]*((?:\"[^\"\n]{1,80}\"[ \t]*){0,2})"
)
TABLES = Language(r"^\[+([^\]\n]{1,120})\]", None, FLAT)
MAKE = Language(r"^([\w./%$()-]{1,80})[ \t]*::?(?!=)", None, FLAT)
PLAIN = Language(r"(?!)", None, FLAT)

_BY_ENDING = {
    PYTHON: "py pyi pyx pxd",
    SCRIPT: "js jsx mjs cjs ts tsx mts cts vue svelte php dart",
    GO: "go",
    RUST: "rs",
    JVM: "java kt kts scala groovy cs swift gradle sol",
    C: "c h cc cpp cxx hpp hh hxx m mm cu ino inl ipp",
    RUBY: "rb rake gemspec",
    ELIXIR: "ex exs",
    LUA: "lua",
    SHELL: "sh bash zsh ksh bats fish",
    PERL: "pl pm t",
    SQL: "sql",
    LISP: "clj cljs cljc el lisp scm rkt",
    HASKELL: "hs elm purs ml mli fs fsx",
    PROTO: "proto graphql gql thrift",
    TERRAFORM: "tf hcl",
    TABLES: "toml ini cfg conf properties editorconfig",
    MAKE: "mk make",
    PLAIN: "yaml yml json jsonc css scss sass less html htm xml xsd r jl nim zig v cmake bat ps1 erl hrl "
    "d pas f90 asm s tcl vim nix dhall bzl bazel j2 jinja tmpl tpl erb haml ejs hbs env",
}
BY_ENDING = {ending: language for language, endings in _BY_ENDING.items() for ending in endings.split()}
BY_NAME = {
    "Makefile": MAKE, "makefile": MAKE, "GNUmakefile": MAKE, "Dockerfile": PLAIN, "Containerfile": PLAIN,
    "Jenkinsfile": JVM, "Rakefile": RUBY, "Gemfile": RUBY, "Vagrantfile": RUBY, "Procfile": PLAIN,
    "CMakeLists.txt": PLAIN, "BUILD": PLAIN, "WORKSPACE": PLAIN, "Justfile": MAKE, "justfile": MAKE,
    "requirements.txt": PLAIN, "constraints.txt": PLAIN, ".gitignore": PLAIN, ".gitattributes": PLAIN,
    "CODEOWNERS": PLAIN,
}  # fmt: skip
