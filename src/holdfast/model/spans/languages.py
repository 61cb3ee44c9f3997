"""How definitions begin in languages with braces, one value a family.

The patterns look at the beginning of a line of masked text. A group `name` is what is defined, `holder`
the type that a method is written for outside of it, `grouped` an entry of a list of definitions.
"""

from holdfast.values import frozen

_ACCESS = (
    r"(?:public|private|protected|internal|fileprivate|open|static|final|abstract|virtual|override|async"
    r"|readonly|sealed|partial|const|default|native|synchronized|transient|volatile|extern|unsafe|inline|data"
    r"|value|inner|companion|lateinit|suspend|operator|infix|tailrec|external|expect|actual|lazy|weak|mutating"
    r"|nonmutating|convenience|required|indirect|implicit|case|late|factory|covariant|export|declare|get|set"
    r"|new|strictfp|file)"
)
_A = rf"^[ \t]*(?:{_ACCESS}(?:\([\w ]*\))?[ \t]+)*+"
_TYPE = r"[\w$<>\[\],.?&*:~]+"
_C_TYPE = r"[\w$<>\[\],.:~]+"  # without * and &, which part words: a line of them would be tried in every way
_PUB = r"^[ \t]*(?:pub(?:\([^()\n]*\))?[ \t]+)?"
_GENERIC = r"(?:<[^<>\n]*>)"


@frozen
class Language:
    mask: str
    block: tuple[str, ...] = ()  # a definition that ends with its first block
    plain: tuple[str, ...] = ()  # one that ends with its statement
    call_like: tuple[str, ...] = ()  # looks like a call until its block or its `;` comes
    holders: tuple[str, ...] = ()  # only lends its name
    newline_ends: bool = False
    needs_body: tuple[str, ...] = ()  # without a block it is only a use of the name
    brackets: str = "([{"


_ARROW = r"(?:async\b[ \t]*)?(?:function\b|(?:\([^()\n]*\)|[\w$]+)[^\n;=]*=>)"
_SCRIPT = Language(
    "script",
    (
        rf"{_A}(?:function[ \t]*\*?|class|interface|enum|namespace|module)[ \t]+(?P<name>[\w$.]+)",
        rf"{_A}(?:const[ \t]+enum)[ \t]+(?P<name>[\w$]+)",
    ),
    plain=(
        rf"{_A}(?:let|var|type)[ \t]+(?P<name>[\w$]+)",
        r"^[ \t]*(?:export[ \t]+)?(?:declare[ \t]+)?const[ \t]+(?!enum\b)(?P<name>[\w$]+)",
        rf"{_A}#?(?P<name>[\w$]+)[ \t]*[:=][ \t]*{_ARROW}",
        r"^(?:module\.)?exports\.(?P<name>[\w$]+)[ \t]*=(?!=)",
        r"^(?P<name>[\w$]+\.prototype\.[\w$]+)[ \t]*=(?!=)",
    ),
    call_like=(rf"{_A}[*#]?(?P<name>[\w$]+)[ \t]*\??{_GENERIC}?\(",),
    newline_ends=True,
)
_GO = Language(
    "go",
    (
        r"^func[ \t]+(?:\([^()\n]*?(?P<holder>\w+)(?:\[[^\]\n]*\])?[ \t]*\)[ \t]*)?(?P<name>\w+)",
        r"^type[ \t]+(?P<name>\w+)",
    ),
    plain=(r"^(?:const|var)[ \t]+(?P<name>\w+)", r"^\t(?P<grouped>\w+)\b"),
    newline_ends=True,
)
_RUST_FN = r"(?:(?:default|async|const|unsafe|extern)[ \t]+)*+(?:fn|struct|enum|union|trait|mod|macro_rules!)"
_RUST = Language(
    "rust",
    (rf"{_PUB}{_RUST_FN}[ \t]+(?P<name>\w+)",),
    plain=(rf"{_PUB}(?:type|static|const)[ \t]+(?:mut[ \t]+)?(?!(?:fn|unsafe|async|extern)\b)(?P<name>\w+)",),
    holders=(r"^[ \t]*(?:unsafe[ \t]+)?impl\b(?P<name>[^{};]*)(?=\{)",),
)
_C_KIND = r"(?:struct|class|enum(?:[ \t]+(?:class|struct))?|union|namespace)"
_C_FIXED = r"^(?:(?:static|const|extern|constexpr)[ \t]+)+"
_C = Language(
    "c",
    (
        rf"^[ \t]*(?:typedef[ \t]+)?(?:template[ \t]*<[^\n]*>[ \t]*)?{_C_KIND}[ \t]+(?P<name>[\w:]+)",
        rf"^[ \t]*{_C_KIND}[ \t]+\w+(?:\([^()\n]*\))?[ \t]+(?P<name>[\w:]+)(?=\s*[:{{])",
    ),
    plain=(
        r"^[ \t]*typedef\b[^;{}()\n]*?(?P<name>\w+)[ \t]*(?=;)",
        r"^[ \t]*using[ \t]+(?P<name>\w+)[ \t]*=",
        rf"{_C_FIXED}(?:{_C_TYPE}[ \t*&]+)(?P<name>\w+)[^;=(){{}}\n]*=(?!=)",
    ),
    call_like=(rf"^[ \t]*(?:{_C_TYPE}[ \t*&]+)*(?P<name>[*&]*~?[\w:~]+)[ \t]*\(",),
    needs_body=("struct", "class", "enum", "union", "namespace"),
)
_JAVA_KIND = (
    r"(?:class|interface|@interface|enum(?:[ \t]+class)?|record(?:[ \t]+(?:struct|class))?|struct|object"
    r"|protocol|trait|actor|namespace|mixin|annotation[ \t]+class|message|service|module)"
)
_JAVA_FUN = rf"(?:fun|func|def)[ \t]+(?:{_GENERIC}[ \t]*)?(?:(?P<holder>\w+){_GENERIC}?\??\.)?(?P<name>[\w`]+)"
_JAVA_FIELD = rf"(?:{_ACCESS}[ \t]+)+(?:{_TYPE}[ \t]+)(?P<name>\w+)[ \t]*"
_JAVA = Language(
    "java",
    (
        rf"{_A}{_JAVA_KIND}[ \t]+(?P<name>[\w.]+)",
        rf"{_A}{_JAVA_FUN}",
        rf"{_A}(?P<name>init|constructor)[ \t]*[?!]?(?=\()",
        rf"^[ \t]*{_JAVA_FIELD}(?=\{{[ \t]*(?:get|set|init)\b)",
    ),
    plain=(rf"{_A}(?:val|var|let|typealias|type|given)[ \t]+(?P<name>\w+)", rf"^[ \t]*{_JAVA_FIELD}(?==[^=>]|;)"),
    call_like=(rf"^[ \t]*(?:{_TYPE}[ \t]+)*(?P<name>\w+)[ \t]*{_GENERIC}?\(",),
    holders=(r"^[ \t]*(?:(?:public|private|internal|fileprivate)[ \t]+)?extension[ \t]+(?P<name>[\w.]+)",),
)
_KOTLIN = Language("java", _JAVA.block, _JAVA.plain[:1], holders=_JAVA.holders, newline_ends=True)
_PHP = Language(
    "php",
    (rf"{_A}(?:function[ \t]*&?|class|interface|trait|enum)[ \t]+(?P<name>\w+)",),
    plain=(
        rf"{_A}const[ \t]+(?P<name>\w+)[ \t]*=",
        r"^[ \t]*(?:(?:public|private|protected|static|var)[ \t]+)+\$(?P<name>\w+)",
    ),
)
_SHELL = Language(
    "shell",
    (
        r"^[ \t]*function[ \t]+(?P<name>[\w.:-]+)[ \t]*(?:\([ \t]*\))?",
        r"^[ \t]*(?P<name>[\w.:-]+)[ \t]*\([ \t]*\)(?=\s*[{(])",
    ),
    plain=(r"^(?:export[ \t]+|readonly[ \t]+|declare[ \t]+(?:-\w+[ \t]+)*)?(?P<name>\w+)=",),
    newline_ends=True,
    brackets="{",
)
_SQL_HOW = r"(?i:or[ \t]+replace[ \t]+)?(?i:(?:temp|temporary|unique|unlogged|materialized|virtual|external)[ \t]+)*"
_SQL_KIND = r"(?i:table|view|index|function|procedure|trigger|type|sequence|schema|domain|policy|role|extension)"
_SQL_NAME = r"(?i:concurrently[ \t]+)?(?i:if[ \t]+not[ \t]+exists[ \t]+)?(?P<name>[\w\"`\[\]]+(?:\.[\w\"`\[\]]+)*)"
_SQL = Language("sql", plain=(rf"^[ \t]*(?i:create)[ \t]+{_SQL_HOW}{_SQL_KIND}[ \t]+{_SQL_NAME}",), brackets="(")
_SCHEMA_KIND = r"(?:type|input|interface|enum|union|scalar|query|mutation|subscription|fragment|directive|schema)"
_SCHEMA = Language("hash", (rf"^[ \t]*(?:extend[ \t]+)?{_SCHEMA_KIND}[ \t]+(?P<name>@?\w+)",), newline_ends=True)
_PERL = Language("hash", (r"^[ \t]*(?:sub|package)[ \t]+(?P<name>[\w:]+)",))

_BY_ENDING = {
    _SCRIPT: "js jsx ts tsx mjs cjs mts cts vue svelte",
    _GO: "go",
    _RUST: "rs",
    _C: "c h cc cpp cxx hh hpp hxx m mm cu ino",
    _JAVA: "java cs dart groovy proto",
    _KOTLIN: "kt kts swift scala sc",
    _PHP: "php",
    _SHELL: "sh bash zsh ksh",
    _SQL: "sql",
    _SCHEMA: "graphql gql",
    _PERL: "pl pm",
}
LANGUAGES = {ending: language for language, endings in _BY_ENDING.items() for ending in endings.split()}

NOT_NAMES = frozenset(
    (
        *("if", "for", "while", "switch", "catch", "return", "function", "new", "typeof", "await", "throw"),
        *("else", "do", "try", "case", "with", "using", "lock", "sizeof", "foreach", "synchronized", "assert"),
        *("super", "this", "yield", "delete", "match", "loop", "unless", "until", "when", "guard", "defined"),
        *("and", "or", "not", "in", "elif", "then", "static_assert", "decltype", "alignof", "__attribute__"),
    )
)
NOT_TYPES = NOT_NAMES | {"goto", "of", "import", "package"}
