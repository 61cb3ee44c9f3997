"""What a summary holds, and how it is written as a page."""

from collections.abc import Iterable, Mapping

from holdfast.model.summary.wording import code, count, cut, one_line, safe
from holdfast.patterns import PatternFile
from holdfast.values import field, frozen

_PATTERNS = PatternFile(__file__)


@frozen
class SummaryFile:
    """A file that was written, with the lines written and taken away, all edits together."""

    path: str
    action: str  # add, update, delete, move
    added: int = 0
    removed: int = 0
    whole: bool = False  # written whole, and nobody knows what it held before
    gone: str = ""  # what a later command did with it: it was removed or moved


@frozen
class SummaryCommand:
    """A command, and how it ended the last time."""

    command: str
    exit_status: int | None  # None: nobody said
    outcome: str


@frozen(kw_only=True)
class Summary:
    """A run of an agent, as somebody must know it who goes on with it."""

    sentence: str
    asked: tuple[str, ...] = ()
    done: tuple[str, ...] = ()  # in the agent's own words, the last turn's last
    files: tuple[SummaryFile, ...] = ()
    more_files: int = 0  # written beyond those listed
    read: tuple[str, ...] = ()  # files it looked at, where it changed none
    commits: tuple[str, ...] = ()
    commands: tuple[SummaryCommand, ...] = ()
    tests: tuple[SummaryCommand, ...] = ()
    more_tests: int = 0  # run beyond those listed
    found: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by type of memory: decision, fact …
    failed: tuple[str, ...] = ()
    left_open: tuple[str, ...] = ()  # perhaps: what was seen of it, and who said so
    unfinished: tuple[str, ...] = ()  # those of it that the agent said, beyond its plan
    model: str | None = None
    turns: int = 0
    steps: int = 0
    calls: int = 0


MAX_LINE = 300  # characters; a guess: two or three lines
_ACTIONS = {"add": "new", "delete": "deleted", "move": "moved away"}


def summary_page(summary: Summary, fields: Mapping[str, str | None]) -> str:
    """summary.md; `fields` are what is known besides, such as Run, Branch and Commit."""
    known = {name: safe(cut(one_line(value), MAX_LINE)) for name, value in fields.items() if value}
    rows = [f"# Run {known.pop('Run', '') or 'without a name'}", "", safe(summary.sentence), ""]
    rows += [f"- {safe(name)}: {value}" for name, value in known.items()]
    sizes = [count(summary.turns, "turn"), count(summary.steps, "step"), count(summary.calls, "tool call")]
    rows.append(f"- {', '.join(sizes)}{f', by {safe(summary.model)}' if summary.model else ''}")
    rows += _section("May still be open", map(safe, summary.left_open), none="None was recognised.")
    rows += _section("Asked for", map(safe, summary.asked))
    rows += _section("Done, in the agent's words", map(safe, summary.done))
    more = f"and {count(summary.more_files, 'more file')}" if summary.more_files else ""
    rows += _section("Files written, with the lines of all edits together", [*map(file_line, summary.files), more])
    rows += _section("Files read", [code(cut(one_line(path), MAX_LINE)) for path in summary.read])
    unsaid = "None was reported to this agent." if summary.files or summary.commands else ""
    rows += _section("Commits, as git reported them", map(safe, summary.commits), none=unsaid)
    more = f"and {count(summary.more_tests, 'more command')}, run before" if summary.more_tests else ""
    untested = "None was recognised." if summary.files else ""
    rows += _section("Tests and checks, each as last run", [*map(_ran, summary.tests), more], none=untested)
    rows += _section("Commands", [*map(_ran, summary.commands)])
    for kind, title in (row.split(": ", 1) for row in _PATTERNS.lines("found")):
        rows += _section(title, [safe(one) for one in summary.found.get(kind, ())])
    rows += _section("Failed or refused", [safe(one) for one in summary.failed])
    return "\n".join(rows) + "\n"


def _section(title: str, rows: Iterable[str], *, none: str = "") -> list[str]:
    told = [row for row in rows if row] or ([none] if none else [])
    return ["", f"## {title}", "", *(f"- {row}" for row in told)] if told else []


def file_line(one: SummaryFile) -> str:
    """A file with what was done to it."""
    said = [_ACTIONS[one.action]] if one.action in _ACTIONS else []
    said += ["written whole"] if one.whole else []
    said += [one.gone] if one.gone else []
    said += [f"+{one.added} −{one.removed}"] if one.added or one.removed else []
    return f"{code(cut(one_line(one.path), MAX_LINE))} ({', '.join(said) or 'changed'})"


def _ran(one: SummaryCommand) -> str:
    said = f": {safe(one.outcome)}" if one.outcome else ""
    status = f" [exit {one.exit_status}]" if one.exit_status else ""
    return f"{code(one.command)}{said}{status}"
