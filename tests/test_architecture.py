"""The shape of the code, held by tests: prose about layers does not hold, tests do."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import init

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src" / "holdfast"

EVERYBODY_MAY = {"lazy_module", "patterns", "values"}  # what stands in for the standard library's dearer modules
BASE = {"errors", "model"}
STORE = BASE | {"security", "store"}
VERBS_MAY = STORE | {"git", "index", "work"}
ALLOWED = {
    "lazy_module": set(),
    "patterns": set(),
    "values": set(),
    "errors": set(),
    "config": {"errors"},
    "model": {"errors"},
    "security": BASE,
    "store": BASE | {"security"},
    "git": STORE,
    "agent_store": STORE,
    "index": STORE | {"git"},
    "work": STORE | {"git"},
    "capture": STORE | {"git", "work"},
    "curation": STORE | {"git", "index"},
    "recall": VERBS_MAY,
    "diagnostics": VERBS_MAY,
    "project": VERBS_MAY | {"agent_store", "capture", "config", "curation", "diagnostics", "recall"},
    "crew": VERBS_MAY | {"agent_store", "capture", "project", "recall"},
    "interfaces": VERBS_MAY
    | {"agent_store", "capture", "config", "crew", "curation", "diagnostics", "project", "recall"},
    "__main__": {"interfaces"},
    "__init__": {"errors", "project"},
}

# Doors: what lies behind one is loaded by whoever goes through it. Elsewhere an import in a function spares a start the
# module, and counts as if it stood at the top: it may not hide a cycle.
DOORS = ("__init__", "__main__", "interfaces.", "project")
# Git's own variables must be taken out of what git inherits, and only this module starts git;
# `Project.open(".")` in somebody's script means their environment, unless they hand in another.
MAY_READ_ENVIRONMENT = ("interfaces.", "__main__", "git.repo", "project", "project.")
MAY_PRINT = ("interfaces.", "__main__")
MAY_CATCH_ALL = ("interfaces.cli.main", "recall.plugins")  # a plugin is a stranger: it may raise anything
MAX_MODULE, MAX_FUNCTION = 600, 60
# What fits in a head: 367, 30 for agents of your own, 12 for crews, 14 for agents and tools of others, 2 to start, 26
# for the page, the graph and static pages.
MAX_MODULES, MAX_WITH_ONE_IMPORTER = 451, 100


def name_of(path: Path) -> str:
    """A module's name below `holdfast`: store.log, or __init__ for the package itself."""
    parts = path.relative_to(SRC).with_suffix("").parts
    if len(parts) > 1 and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


MODULES = {name_of(path): path for path in sorted(SRC.rglob("*.py"))}


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text(encoding="utf-8"), filename=str(MODULES[name]))


@cache
def nodes(name: str) -> list[ast.AST]:
    """A module's syntax, flat; walked once for all the rules."""
    return list(ast.walk(tree(name)))


def imported(node: ast.AST) -> Iterator[str]:
    """Our own modules that one import statement names."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        names = []
    for name in names:
        if name == "holdfast" or name.startswith("holdfast."):
            short = name.removeprefix("holdfast").lstrip(".")
            while short and short not in MODULES:
                short = short.rpartition(".")[0]
            yield short or "__init__"


def runtime_imports(name: str) -> Iterator[str]:
    """Our own modules that a module loads: at its top, or in a function; annotations load nothing."""
    waiting: list[ast.AST] = [tree(name)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
                waiting += node.orelse
            elif not (is_function and matches(name, DOORS)):
                waiting.append(node)
                yield from imported(node)


def home_of(name: str) -> str:
    return name.split(".", maxsplit=1)[0]


VERSIONED = {"interfaces", "project", "__main__"}  # these may ask the package for its version


def may_import(home: str) -> set[str]:
    if home in EVERYBODY_MAY:
        return ALLOWED[home]
    return ALLOWED[home] | EVERYBODY_MAY | {home} | ({"__init__"} if home in VERSIONED else set())


def matches(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == entry or (entry.endswith(".") and name.startswith(entry)) for entry in allowed)


def test_imports_point_one_way() -> None:
    """Who reads the store must not have to read everything above it to know what it does."""
    assert {home_of(name) for name in MODULES} <= set(ALLOWED), "a part has no place in the import table"
    wrong = [
        f"{MODULES[name]}:{node.lineno} imports {target}"
        for name in MODULES
        for node in nodes(name)
        for target in imported(node)
        if home_of(target) not in may_import(home_of(name))
    ]
    assert wrong == []


def test_no_cycles_among_modules() -> None:
    """Two modules that need each other are one module in two files; an import in a function does not change that."""
    graph = {name: {t for t in runtime_imports(name) if t not in (name, "__init__")} for name in MODULES}
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"cycle: {' -> '.join((*path, name))}"
        if name not in done:
            for target in graph.get(name, ()):
                visit(target, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_only_interfaces_read_the_environment() -> None:
    """A library that reads the environment behaves differently for reasons its caller cannot see."""
    wrong = [
        f"{MODULES[name]}:{node.lineno} os.{node.attr}"
        for name in MODULES
        if not matches(name, MAY_READ_ENVIRONMENT)
        for node in nodes(name)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
        and node.attr in ("environ", "environb", "getenv", "putenv", "getlogin")
    ]
    assert wrong == []


def test_only_interfaces_print() -> None:
    """Whoever uses the Python API must not find our words in their output."""
    wrong = []
    for name, node in ((n, node) for n in MODULES if not matches(n, MAY_PRINT) for node in nodes(n)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("print", "input"):
            wrong.append(f"{MODULES[name]}:{node.lineno} {node.func.id}()")
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "sys"
            and node.attr in ("stdout", "stderr", "stdin", "argv", "exit")
        ):
            wrong.append(f"{MODULES[name]}:{node.lineno} sys.{node.attr}")
    assert wrong == []


def test_nothing_catches_everything_but_the_root() -> None:
    """A swallowed bug becomes lost memory that nobody hears about."""
    wrong = []
    for name, node in ((n, node) for n in MODULES for node in nodes(n)):
        if isinstance(node, ast.ExceptHandler):
            caught = {None} if node.type is None else {getattr(n, "id", "") for n in ast.walk(node.type)}
            reraises = any(isinstance(n, ast.Raise) and n.exc is None for n in ast.walk(node))
            broad = caught & {None, "Exception", "BaseException"}
            if broad and not (reraises and "Exception" not in broad) and name not in MAY_CATCH_ALL:
                wrong.append(f"{MODULES[name]}:{node.lineno}")
    assert wrong == []


def test_modules_and_functions_stay_small() -> None:
    """What does not fit on a screen is not reviewed."""
    lines = {path: path.read_text(encoding="utf-8").count("\n") for path in MODULES.values()}
    long = [f"{path} has {count} lines" for path, count in lines.items() if count > MAX_MODULE]
    long += [
        f"{MODULES[name]}:{node.lineno} {node.name} has {node.end_lineno - node.lineno + 1} lines"
        for name in MODULES
        for node in nodes(name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= MAX_FUNCTION
    ]
    assert long == []


def importers() -> dict[str, set[str]]:
    """Who imports each module, in functions and for annotations too; packages are not counted."""
    found: dict[str, set[str]] = {name: set() for name, path in MODULES.items() if path.stem != "__init__"}
    for name in MODULES:
        for node in nodes(name):
            for target in imported(node):
                if target in found:
                    found[target].add(name)
    return found


def test_the_package_fits_in_a_head() -> None:
    """A module with one importer is a page that belongs to another; a thousand small rooms are a maze."""
    assert len(MODULES) <= MAX_MODULES
    alone = [name for name, who in importers().items() if len(who) == 1]
    assert len(alone) <= MAX_WITH_ONE_IMPORTER, alone


def test_no_two_modules_or_public_classes_share_a_name() -> None:
    """Whoever searches for a name must find one thing."""
    modules = Counter(path.stem for path in MODULES.values() if path.stem != "__init__")
    classes = Counter(
        node.name
        for name in MODULES
        for node in tree(name).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, count in (modules + classes).items() if count > 1] == []


NOUNS = {"embed", "qwen", "opening", "ranking", "scoring", "setting", "wiring", "wording"}


def test_no_module_is_called_by_a_bare_participle() -> None:
    """`written` or `beside` may hold anything: a stranger must guess from the name what is inside."""
    names = {part for path in MODULES.values() for part in (path.stem, path.parent.name)}
    bare = {name for name in names if "_" not in name and re.search(r"(?:ing|ed|en|ught|old|aid)$", name)}
    assert bare <= NOUNS


def test_a_project_inherits_from_nothing() -> None:
    """A method that thirty classes may define is found by running it."""
    from holdfast import Project

    assert Project.__mro__ == (Project, object)


def test_no_dataclass_is_left() -> None:
    """One of them costs every start what forty of ours cost (docs/adr/0025)."""
    wrong = [
        f"{MODULES[name]}:{node.lineno}"
        for name in MODULES
        for node in nodes(name)
        if (isinstance(node, ast.ImportFrom) and node.module == "dataclasses")
        or (isinstance(node, ast.Import) and any(alias.name == "dataclasses" for alias in node.names))
    ]
    assert wrong == []


def test_every_module_says_what_it_is() -> None:
    """A stranger finds the right file by its first sentence."""
    assert [str(path) for name, path in MODULES.items() if not ast.get_docstring(tree(name))] == []


def test_docstrings_name_modules_that_are_there() -> None:
    """`store.entries` in a docstring sends its reader to a file that was renamed a year ago."""
    homes = "|".join(sorted({home_of(name) for name in MODULES} - {"project", *BASE, "config"}))
    named = re.compile(rf"`(?:holdfast[./])?((?:{homes}|model)(?:[./][a-z_]+)+?)(?:\.py)?`")
    wrong = []
    for name, path in MODULES.items():
        for found in named.findall(ast.get_docstring(tree(name)) or ""):
            module, _, last = (dotted := found.replace("/", ".")).rpartition(".")
            known = dotted in MODULES or (module in MODULES and re.search(rf"\b{last}\b", MODULES[module].read_text()))
            if not known and last not in ("db", "onnx"):  # files that are no modules
                wrong.append(f"{path} names {found}")
    assert wrong == []


def test_the_public_names_are_these() -> None:
    """A name that leaks out becomes a promise nobody made."""
    import holdfast
    from holdfast import errors

    catalogue = {n for n, v in vars(errors).items() if isinstance(v, type) and issubclass(v, Exception)}
    assert set(holdfast.__all__) == catalogue | {"Project", "promote_fact", "recall", "write_log"}
    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None
    with pytest.raises(AttributeError):
        _ = holdfast.nothing_of_the_kind


def test_recall_is_the_function_whatever_was_imported_first() -> None:
    """A folder of the same name must not take the place of the function people call."""
    code = "import holdfast.recall, holdfast.project; from holdfast import recall; assert callable(recall)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_error_has_its_own_code_sentence_and_next_step() -> None:
    """A script tells two failures apart by the exit code alone."""
    from holdfast import errors

    classes = [v for v in vars(errors).values() if isinstance(v, type) and issubclass(v, errors.HoldfastError)]
    codes = [c.code for c in classes]
    assert len(set(codes)) == len(codes)
    assert all(c.hint.endswith((".", ")")) for c in classes)
    assert not {0, 1, 2, 125, 126, 127, 128, 130} & set(codes)


HEAVY = ("click", "yaml", "asyncio", "dataclasses", "inspect", "pathlib", "subprocess", "tempfile", "typing")


def test_a_command_and_its_words_are_one_file() -> None:
    """Whoever changes what a command prints must not look for it in a second file."""
    shared = {"invocation", "main", "output", "phrases", "root"}
    names = {name.removeprefix("interfaces.cli.") for name in MODULES if name.startswith("interfaces.cli.")}
    assert {name for name in names if not name.endswith("_commands")} == shared


@pytest.mark.parametrize(
    "command", [["status"], ["recall", "postgres"], ["next"], ["context"], ["--version"]], ids=" ".join
)
def test_quick_commands_import_nothing_heavy(command: list[str], cli) -> None:  # type: ignore[no-untyped-def]
    """An agent asks at every turn; a tenth of a second each time is a tool people turn off."""
    init(cli.cwd)
    cli("run", "--task", "postgres", "--", "true")
    cli(*command)  # the first may prepare the index
    code = (
        f"import sys; from holdfast.__main__ import main; sys.argv[1:] = {command!r}\n"
        "code = main(); sys.stderr.write(' '.join(sys.modules)); sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], cwd=cli.cwd, capture_output=True, check=True)
    assert set(done.stderr.decode().split()) & set(HEAVY) == set()
