"""The summary in words: a page for a person who must go on, and a line for each turn."""

from collections.abc import Iterable, Mapping

from holdfast.model.summary.account import Account, concluded
from holdfast.model.summary.endings import without_open
from holdfast.model.summary.values import Ran, Summary, Touched
from holdfast.model.summary.wording import beginning, code, count, cut, gist, one_line, safe
from holdfast.model.transcript import Origin, Turn

MAX_LINE = 300
_FOUND = {  # what each type of memory is called that was found in what was said
    "decision": "Decided",
    "invariant": "Rules stated",
    "dead-end": "Dead ends",
    "fact": "Found out",
    "assumption": "Assumed",
}
_ACTIONS = {"add": "new", "delete": "deleted", "move": "moved away"}


def page(summary: Summary, fields: Mapping[str, str | None]) -> str:
    """summary.md; `fields` are what is known besides, such as Run, Branch and Commit."""
    known = {name: safe(cut(one_line(value), MAX_LINE)) for name, value in fields.items() if value}
    rows = [f"# Run {known.pop('Run', '') or 'without a name'}", "", safe(summary.sentence), ""]
    rows += [f"- {safe(name)}: {value}" for name, value in known.items()]
    rows += [f"- {_size(summary)}"]
    rows += _section(
        "Left open", [safe(one) for one in summary.left_open], none="Nothing that the transcript tells of."
    )
    rows += _section("Asked for", [safe(one) for one in summary.asked])
    rows += _section("Done, in the agent's words", [safe(one) for one in summary.done])
    rows += _section(f"Files written{_uncommitted(summary)}", [*map(_file, summary.files), *_more(summary.more_files)])
    rows += _section("Files read", [code(cut(one_line(path), MAX_LINE)) for path in summary.read])
    rows += _section("Committed", [safe(one) for one in summary.commits])
    rows += _section("Tests and checks, as they ended", [*map(_ran, summary.tests)])
    rows += _section("Commands", [*map(_ran, summary.commands)])
    for kind, title in _FOUND.items():
        rows += _section(title, [safe(one) for one in summary.found.get(kind, ())])
    rows += _section("Failed", [safe(one) for one in summary.failed])
    return "\n".join(rows) + "\n"


def turn_line(turn: Turn, *, top: str | None = None) -> str:
    """A turn in one line of at most 300 characters: what was asked, what was done, how it ended."""
    account = Account(Origin(agent="", session=""), top=top)
    account.add(turn)
    told = account.finish()
    asked = gist(turn.prompt, 110)
    done = [
        *_written(told.files),
        *(f"{code(cut(one.command, 60))}: {cut(one.outcome, 80)}" for one in told.tests[-2:]),
    ]
    done += [f"ran {code(cut(one.command, 60))}" for one in told.commands[-2:] if not told.tests]
    end = "stopped by the person" if turn.interrupted else ""
    parts = [f"Asked: {asked}" if asked else "", cut("; ".join(done), 120), end]
    line = " — ".join(part for part in parts if part)
    room = MAX_LINE - len(line) - 3
    said = beginning(concluded(without_open(turn.answer)), room) if turn.answer and room > 40 else ""
    return cut(" — ".join(part for part in (line, said) if part), MAX_LINE)


def _size(summary: Summary) -> str:
    parts = [count(summary.turns, "turn"), count(summary.steps, "step"), count(summary.calls, "tool call")]
    model = f", by {safe(summary.model)}" if summary.model else ""
    return f"{', '.join(parts)}{model}"


def _section(title: str, rows: Iterable[str], *, none: str = "") -> list[str]:
    told = [row for row in rows if row] or ([none] if none else [])
    return ["", f"## {title}", "", *(f"- {row}" for row in told)] if told else []


def _file(one: Touched) -> str:
    said = [_ACTIONS[one.action]] if one.action in _ACTIONS else []
    said += [f"+{one.added} −{one.removed}"] if one.added or one.removed else []
    return f"{code(cut(one_line(one.path), MAX_LINE))} ({', '.join(said) or 'changed'})"


def _uncommitted(summary: Summary) -> str:
    return "" if summary.commits else " (no commit was made)"


def _more(number: int) -> list[str]:
    return [f"and {count(number, 'more file')}"] if number else []


def _ran(one: Ran) -> str:
    times = f", {one.times} times" if one.times > 1 else ""
    said = f": {safe(one.outcome)}" if one.outcome and one.outcome != "ok" else ""
    status = f" [exit {one.exit_status}]" if one.exit_status else ""
    return f"{code(one.command)}{said}{status}{times}"


def _written(files: Iterable[Touched]) -> list[str]:
    there = list(files)
    if not there:
        return []
    more = f" and {len(there) - 2} more" if len(there) > 2 else ""
    named = ", ".join(f"{code(one.path)} (+{one.added} −{one.removed})" for one in there[:2])
    return [f"wrote {named}{more}"]
