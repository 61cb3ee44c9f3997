"""Reads the settings: four layers, each overrides the one before it.

    .holdfast/holdfast.toml          tracked, shared by everybody who clones
    $GIT_COMMON_DIR/holdfast/settings.toml   this clone
    the user's own file
    HOLDFAST_* in the environment

A pull request can change the tracked file. That file may make Holdfast stricter; it never hides, redirects or
changes what people approved, and an invalid setting in it is ignored with a warning. A setting that starts a
program is read only from the user's own file and the environment. In the user's files, a value of the wrong
kind is an error that names file and key. The caller passes in the paths of the files and the environment.
"""

import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from holdfast.errors import BadSettings
from holdfast.patterns import regex
from holdfast.values import frozen

T = TypeVar("T")
MAX_FILE = 64 * 1024  # bytes; a guess: far above any settings that people write
PREFIX = "HOLDFAST_"
SECTIONS = (
    *("invariants", "decisions", "dead-ends", "assumptions", "facts", "open", "blocked", "session", "changed"),
    *("goals", "found", "links"),
)
SEALED = ("directives", "cycles", "memories", "recordings", "events")  # what `security.sealed_text` seals
_NAMED = regex(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}")  # a check, a role or a model
_NOT_IN_REFS = ("..", "@{", "\\", " ", "~", "^", ":", "?", "*", "[")
CAPTURED = ("CI", "LANG", "LC_ALL", "NODE_ENV", "PYTHONPATH", "SHELL", "TERM", "TZ", "VIRTUAL_ENV")


class _Wrong(ValueError):
    """A value of the wrong kind; the sentence says what the setting needs."""


def _branch(value: object) -> str:
    """Checks the name of a branch; one that begins with a dash would be parsed as an option."""
    if isinstance(value, str) and value.isprintable() and not any(word in value for word in _NOT_IN_REFS):
        parts = value.split("/")
        if all(part and not part.startswith((".", "-")) and not part.endswith((".", ".lock")) for part in parts):
            return value
    raise _Wrong("must be the name of a branch")


def _threshold(value: object) -> float | None:
    if value is False or value == "off":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1:
        return float(value)
    raise _Wrong('must be "off" or a number above 0 and up to 1')


def _words(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [word.strip() for word in value.split(",") if word.strip()]
    if isinstance(value, list | tuple) and all(isinstance(word, str) and word for word in value):
        return tuple(value)
    raise _Wrong("must be a list of words")


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise _Wrong("must be true or false")


def _count(low: int, high: int, what: str = "whole number") -> Callable[[object], int]:
    def read(value: object) -> int:
        if type(value) is int and low <= value <= high:
            return value
        raise _Wrong(f"must be a {what} from {low} to {high}")

    return read


_size = _count(1024, 1 << 30, "number of bytes")  # 1 KiB to 1 GiB: less loses everything, more fills the memory


def _command(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        import shlex

        try:
            value = shlex.split(value)
        except ValueError as error:
            raise _Wrong(f"must be a command ({error})") from None
    return _words(value)


def _model(value: object) -> str | tuple[str, ...]:
    try:
        return _name(value) if isinstance(value, str) or not value else _words(value)
    except _Wrong:
        raise _Wrong('must be "minilm", "off", a folder, or a command') from None


def _name(value: object) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise _Wrong("must be a name")


def _sections(value: object) -> tuple[str, ...]:
    words = _words(value)
    if unknown := [word for word in words if word not in SECTIONS]:
        raise _Wrong(f"has no section {unknown[0]!r}; the sections are {', '.join(SECTIONS)}")
    return words


def _sealed(value: object) -> tuple[str, ...]:
    words = _words(value)
    if unknown := [word for word in words if word not in SEALED]:
        raise _Wrong(f"cannot seal {unknown[0]!r}; it can seal {', '.join(SEALED)}")
    return words


def _table(read: Callable[[object], T], wanted: str) -> Callable[[object], dict[str, T]]:
    """Returns a reader of tables: names, each with a value of one kind."""

    def read_all(value: object) -> dict[str, T]:
        try:
            if isinstance(value, dict) and all(isinstance(name, str) and _NAMED.fullmatch(name) for name in value):
                return {name: read(one) for name, one in value.items()}
        except _Wrong:
            pass
        raise _Wrong(f"must be {wanted}")

    return read_all


def _price(value: object) -> tuple[float, ...]:
    if isinstance(value, list | tuple) and len(value) in (2, 3):
        return tuple(map(limit, value))
    raise _Wrong("must be two or three numbers")


LIMITS = (  # of a crew: in all, for one step, and for other resources
    *("time", "tokens", "calls", "cost", "step_time", "step_tokens", "step_calls", "step_cost"),
    *("attempts", "subagents", "disk"),
)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "k": 1e3, "M": 1e6, "G": 1e9}


def limit(value: object) -> float:
    """Reads a number, or one with a unit: 90, "30m", "2h", "500k", "10G"."""
    if isinstance(value, str):
        digits, unit = (value[:-1], value[-1:]) if value[-1:] in _UNITS else (value, "s")
        if digits.isascii() and digits.replace(".", "", 1).isdigit():
            return float(digits) * _UNITS[unit]
    elif type(value) in (int, float) and 0 <= value < float("inf"):  # type: ignore[operator]
        return float(value)  # type: ignore[arg-type]
    raise _Wrong("must be a number")


def _limits(value: object) -> dict[str, float]:
    read = _table(limit, f'limits such as step_time = "30m", of {", ".join(LIMITS)}')(value)
    if unknown := [name for name in read if name not in LIMITS]:
        raise _Wrong(f"has no limit {unknown[0]!r}; the limits are {', '.join(LIMITS)}")
    return read


def _folder(value: object) -> str:
    """Checks the path of a folder inside the repository: a setting may not write anywhere else."""
    parts = value.split("/") if isinstance(value, str) else [""]
    if all(part and part not in (".", "..", ".git") and "\\" not in part for part in parts):
        return "/".join(parts)
    raise _Wrong("must be a folder inside the repository, such as docs/journal")


@frozen
class Key:
    """One setting: its name, its default, and which layers may set it."""

    name: str
    default: Any
    read: Callable[[object], Any]
    about: str
    untracked: bool = False  # never read from the tracked file
    adds: bool = False  # the values of all layers are joined
    lowers: bool = False  # the tracked file may only lower it
    program: Callable[[Any], bool] | None = None  # whether a value starts a program

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper().replace(".", "_")


def _is_command(value: str | tuple[str, ...]) -> bool:
    """Returns whether `retrieval.model` names a command: not one of our models, and not an existing folder."""
    if not isinstance(value, str):
        return True
    folder = os.path.expanduser(value)
    return value not in ("minilm", "off") and not (os.path.isabs(folder) and os.path.isdir(folder))


def _may_start(name: str, default: Any, read: Callable[[object], Any], about: str, *harmless: object) -> Key:
    """Returns a setting whose values start a program, except the harmless ones."""
    return Key(name, default, read, about, untracked=True, program=lambda value: value not in harmless)


VECTOR_STORES = ("embedded", "pgvector", "chroma")


def _vector_store(value: object) -> str:
    if value in VECTOR_STORES:
        return str(value)
    raise _Wrong(f"must be one of {', '.join(VECTOR_STORES)}")


_GRAPHS = ("auto", "hipporag", "off")
KEYS = (
    Key("trunk", None, _branch, "the branch that counts as approved; detected if not set", untracked=True),
    Key("review.auto_promote", None, _threshold, "confidence from which facts need no review", untracked=True),
    _may_start("review.auto_restart", (), _command, "a command that runs after a memory was accepted"),
    Key("features.tasks", True, _switch, "goals, tasks and claims"),
    Key("features.sessions", True, _switch, "sessions, and the git hooks that record for them"),
    Key("features.journal", True, _switch, "the journal of each day"),
    # Where a number below has bounds, they only stop mistakes: a context of no use, or one that no model can read.
    Key("context.budget", 2000, _count(200, 100_000), "tokens that `holdfast context` may use", untracked=True),
    Key("context.sections", SECTIONS, _sections, "sections of `holdfast context`, in order", untracked=True),
    Key("session.condense_after", 20, _count(2, 10_000), "turns after which a session is condensed", untracked=True),
    Key("session.budget", 1500, _count(100, 100_000), "tokens that a condensed session may use", untracked=True),
    _may_start("model.command", (), _command, "a command that condenses and proposes, instead of our rules"),
    Key("model.calls_per_day", 50, _count(0, 100_000), "how often that command may run in a day", untracked=True),
    Key("retrieval.model", None, _model, "the model that search by meaning uses", untracked=True, program=_is_command),
    _may_start("retrieval.graph", "auto", _name, "how questions of several steps are answered", *_GRAPHS),
    _may_start("retrieval.retriever", "holdfast", _name, "the plugin that answers questions", "holdfast"),
    Key(
        "database.url", None, _name, "the database of your own agents; SQLite in this clone if not set", untracked=True
    ),
    Key(
        "database.project",
        None,
        _name,
        "this project's name in that database; its first commit if not set",
        untracked=True,
    ),
    Key(
        "agents.vectors",
        None,
        _vector_store,
        "the vector store of their memories: embedded, pgvector or chroma; pgvector if the database has it",
        untracked=True,
    ),
    Key("encryption.scope", (), _sealed, "which texts of agents, recordings and events are sealed", untracked=True),
    Key("encryption.key", None, _name, "the source of the key for them", untracked=True),
    Key("encryption.identity", None, _name, "a file that opens keys wrapped to age recipients", untracked=True),
    _may_start("crew.agent", (), _command, "the agent of crews: codex, claude, gemini, or a command"),
    _may_start("crew.setup", None, _name, "a shell command that prepares a new work tree"),
    _may_start(
        "crew.checks", {}, _table(_name, 'checks such as test = "make test"'), "the commands of tasks' checks", {}
    ),
    _may_start("crew.roles", {}, _table(_name, 'roles such as reviewer = "NAME"'), "plugins that have a role", {}),
    Key("crew.env", (), _words, "further environment variables for agents and checks of a crew", untracked=True),
    Key("crew.limits", {}, _limits, "what a crew may use, in all and for one step", untracked=True),
    Key(
        "usage.prices",
        {},
        _table(
            _price,
            "models with dollars for a million tokens in, out and from a cache, such as gpt-6 = [1.25, 10, 0.125]",
        ),
        "what tokens cost, if the agent does not report it",
        untracked=True,
    ),
    Key("journal.path", None, _folder, "a folder for the journal, instead of the views", untracked=True),
    Key("index.commits", True, _switch, "whether the repository's commits can be found"),
    Key("index.docs", True, _switch, "whether its documents can be found"),
    Key("index.code", True, _switch, "whether its code can be found"),
    Key("index.max_file", 1 << 20, _size, "bytes above which a file is not indexed"),
    Key("index.exclude", (), _words, "patterns of files that are not indexed", adds=True),
    Key("capture.env", CAPTURED, _words, "environment variables that a run records", untracked=True),
    Key("capture.max_output", 1 << 20, _size, "bytes of a run's output that are stored", lowers=True),
    Key("redact.rules", (), _words, "further patterns of secrets to remove", adds=True),
    Key("redact.allow", (), _words, "text that looks like a secret but is not", untracked=True, adds=True),
)
_BY_NAME = {key.name: key for key in KEYS}


class _Setting(Generic[T]):
    """An attribute of `Settings` for one key."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, settings: "Settings", _: type) -> T:
        return settings.values[self._name]  # type: ignore[no-any-return]


@frozen
class Settings:
    """All settings, and the layer that set each."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    shared_rules: tuple[str, ...] = ()  # the tracked file's `redact.rules`: only for agents' text, see `Clone.intake`

    trunk = _Setting[str | None]("trunk")
    auto_promote = _Setting[float | None]("review.auto_promote")
    auto_restart = _Setting[tuple[str, ...]]("review.auto_restart")
    capture_env = _Setting[tuple[str, ...]]("capture.env")
    max_output = _Setting[int]("capture.max_output")
    redact_rules = _Setting[tuple[str, ...]]("redact.rules")
    redact_allow = _Setting[tuple[str, ...]]("redact.allow")
    context_sections = _Setting[tuple[str, ...]]("context.sections")
    model_command = _Setting[tuple[str, ...]]("model.command")
    retrieval_model = _Setting[str | tuple[str, ...] | None]("retrieval.model")
    journal_path = _Setting[str | None]("journal.path")
    database_url = _Setting[str | None]("database.url")
    database_project = _Setting[str | None]("database.project")
    agents_vectors = _Setting[str | None]("agents.vectors")
    encryption_scope = _Setting[tuple[str, ...]]("encryption.scope")
    encryption_key = _Setting[str | None]("encryption.key")
    encryption_identity = _Setting[str | None]("encryption.identity")
    crew_agent = _Setting[tuple[str, ...]]("crew.agent")
    crew_setup = _Setting[str | None]("crew.setup")
    crew_checks = _Setting[Mapping[str, str]]("crew.checks")
    crew_roles = _Setting[Mapping[str, str]]("crew.roles")
    crew_env = _Setting[tuple[str, ...]]("crew.env")
    crew_limits = _Setting[Mapping[str, float]]("crew.limits")
    prices = _Setting[Mapping[str, tuple[float, ...]]]("usage.prices")

    def number(self, name: str) -> int:
        """Returns a setting that is a whole number."""
        return self.values[name]  # type: ignore[no-any-return]

    def has(self, feature: str) -> bool:
        """Returns whether a feature (tasks, sessions, journal) is on."""
        return self.values[f"features.{feature}"]  # type: ignore[no-any-return]


DEFAULTS = Settings({key.name: key.default for key in KEYS}, {})


def load(
    *, tracked: str | None = None, clone: str | None = None, user: str | None = None, environ: Mapping[str, str]
) -> Settings:
    """Returns the settings from all layers; a missing file counts as empty."""
    values, origins = dict(DEFAULTS.values), dict[str, str]()
    warnings: list[str] = []
    rules: tuple[str, ...] = ()
    if tracked is not None:
        warnings += _apply_tracked(tracked, values, origins)
        rules, values["redact.rules"] = values["redact.rules"], ()
    if clone is not None:
        layer, left_out = _without_programs(_file(clone), clone, user)
        warnings += left_out
        warnings += _apply(layer, clone, values, origins)
    if user is not None:
        warnings += _apply(_file(user), user, values, origins)
    layer, unknown = _environment(environ)
    warnings += unknown
    warnings += _apply(layer, "the environment", values, origins)
    return Settings(values, origins, tuple(warnings), rules)


def starts_program(name: str, value: object) -> bool:
    """Returns whether a setting with this value starts a program: then only the user's own file may have it."""
    key = _BY_NAME[name]
    return key.program is not None and key.program(key.read(value))


def _apply(layer: Mapping[str, object], where: str, values: dict[str, Any], origins: dict[str, str]) -> Iterator[str]:
    """Applies one layer to the values; yields a warning for each unknown setting."""
    for name, value in layer.items():
        key = _BY_NAME.get(name)
        if key is None:
            yield f"{where}: there is no setting {name}"
        else:
            new = _checked(key, value, where)
            values[name] = (*values[name], *new) if key.adds else new
            origins[name] = where


def _apply_tracked(path: str, values: dict[str, Any], origins: dict[str, str]) -> Iterator[str]:
    """Applies the tracked file to the values; yields a warning for each setting that it may not have."""
    try:
        layer = _file(path)
    except BadSettings as error:
        yield f"{error}; it is ignored"
        return
    for name, value in layer.items():
        key = _BY_NAME.get(name)
        if key is not None and key.untracked:
            yield f"{path}: {name} is ignored here, because a pull request could change it"
            continue
        try:
            before = values.get(name)
            yield from _apply({name: value}, path, values, origins)
        except BadSettings as error:
            yield f"{error}; it is ignored"
            continue
        if key is not None and key.lowers and before is not None and values[name] > before:
            values[name] = before
            yield f"{path}: {name} is ignored here, because a pull request may only lower it"


def _without_programs(layer: dict[str, object], where: str, user: str | None) -> tuple[dict[str, object], list[str]]:
    """Returns a clone's settings without those that start a program: they may have come with a copied folder."""
    kept, left_out = {}, []
    for name, value in layer.items():
        key = _BY_NAME.get(name)
        if key is not None and key.program is not None and key.program(_checked(key, value, where)):
            place = f"put it into {user}" if user else "set it for yourself"
            left_out.append(f"{where}: {name} is ignored here, because it starts a program; {place}")
        else:
            kept[name] = value
    return kept, left_out


def _checked(key: Key, value: object, where: str) -> Any:
    try:
        return key.read(value)
    except _Wrong as wrong:
        raise BadSettings(f"{where}: {key.name} {wrong}, not {value!r:.200}") from None


def _file(path: str) -> dict[str, object]:
    """Reads the settings in one file, by dotted name."""
    try:
        # Not through a link: a pull request can replace the tracked file by one.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise BadSettings(f"{path} cannot be read: {error.strerror}") from error
    try:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        data = os.read(descriptor, MAX_FILE + 1) if regular else b""
    finally:
        os.close(descriptor)
    if not regular:
        raise BadSettings(f"{path} is not a file")
    if len(data) > MAX_FILE:
        raise BadSettings(f"{path} has more than {MAX_FILE} bytes")
    if _has_only_comments(data):
        return {}
    import tomllib  # slow to import, and most settings files have only comments

    try:
        return dict(_flat(tomllib.loads(data.decode("utf-8")), path))
    except UnicodeDecodeError as error:
        raise BadSettings(f"{path} is not UTF-8 text") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadSettings(f"{path} is not valid TOML: {error}") from error


def _has_only_comments(data: bytes) -> bool:
    """Returns whether a file has only blank lines and plain comments."""
    text = data.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    comments = all(line.lstrip().startswith(b"#") for line in text.split(b"\n") if line.strip())
    return comments and text.isascii() and text.replace(b"\n", b"").decode("ascii").isprintable()


def _flat(table: Mapping[str, object], path: str) -> Iterator[tuple[str, object]]:
    sections = {name.partition(".")[0] for name in _BY_NAME if "." in name}
    for name, value in table.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", deep) for inner, deep in value.items())
        elif name in sections:
            raise BadSettings(f"{path}: {name} is a section; write [{name}] and its settings below")
        else:
            yield name, value


def _environment(environ: Mapping[str, str]) -> tuple[dict[str, object], list[str]]:
    """Returns the settings in HOLDFAST_* variables, and a warning for each variable that only looks like one."""
    layer = {key.name: _literal(environ[key.variable], key) for key in KEYS if key.variable in environ}
    known = {key.variable for key in KEYS}
    sections = tuple({PREFIX + key.name.partition(".")[0].upper() + "_" for key in KEYS if "." in key.name})
    unknown = [name for name in environ if name.startswith(sections) and name not in known]
    return layer, [f"the environment: {name} is not a setting" for name in sorted(unknown)]


def _literal(text: str, key: Key) -> object:
    """Parses a variable's value as TOML, else returns the text itself: 0.9, true, ["a"], main."""
    if key.read is _name and not text.startswith(('"', "'")):
        return text  # a commit such as 12e4567 is a name, not a number
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
