"""The pages of what happened: the timeline, a run and its turns, a session, a commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from markupsafe import escape

from holdfast.diagnostics import timeline
from holdfast.diagnostics.timeline import STORY_KINDS, StoryChoice, StoryCursor
from holdfast.errors import CorruptLog, FutureFormat, NotFound
from holdfast.git import tracked_files
from holdfast.interfaces.cli.phrases import count, wording
from holdfast.interfaces.cli.show_commands import event_rows
from holdfast.interfaces.web.web_query import WINDOW, WebPage, WebQuery, windowed
from holdfast.model import brief as model_brief
from holdfast.model.text import visible
from holdfast.model.transcript import AGENTS
from holdfast.patterns import regex
from holdfast.recall.lookup import ShownRecord
from holdfast.values import dict_of, dicts_of, frozen, list_of

if TYPE_CHECKING:
    from holdfast.git.commit_pages import ChangedFile, CommitChanges
    from holdfast.interfaces.web.project_reading import ProjectReading
    from holdfast.interfaces.web.web_query import PageMaker
    from holdfast.recall.run_turns import RunDetails

TURNS, STEPS, CALLS = 30, 20, 20  # of a run, a turn and a step that one page shows
SAID, CALLED = 4_000, 6_000  # characters of a text, and of all that a step called and got
SUMMED_UP = 24_000  # characters of a run's summary
PATCHED, PATCH_LINES, PATCH_ROOM = 20, 1_000, 120_000  # files, lines and bytes of a patch that one page shows
PACKS, ENTRIES = 5, 40  # contexts of a run, and entries of each, that one page shows
_MOMENT = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_NAMES = {"run": "Runs", "session": "Sessions", "commit": "Commits", "decision": "Decisions"}
_NAMES |= {"proposal": "Proposals", "task": "Tasks", "other": "Rewrites and erasures"}


def timeline_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """What happened, newest first, by day."""
    project = reading.project
    kinds = tuple(kind for kind in dict.fromkeys(query.query.get("kind", ())) if kind in STORY_KINDS)
    kinds = () if len(kinds) == len(STORY_KINDS) else kinds  # all of them are no filter
    branch, words = query.one("branch").strip(), query.one("q").casefold().split()
    before = query.one("before")
    cursor = StoryCursor(before, query.number("past")) if _MOMENT.fullmatch(before) else None
    page = project.log.story(cursor, StoryChoice(kinds, branch, tuple(words)), most=WINDOW)
    following = page.next and query.with_query(before=page.next.before, past=page.next.past or None)
    values = {
        "days": [(day, list(rows)) for day, rows in groupby(page.rows, lambda row: row.began[:10])],
        "page": page,
        "older": following,
        "newest": query.with_query(before=None, past=None) if cursor else None,
        "kinds": kinds,
        "names": _NAMES,
        "branch": branch,
        "words": query.one("q"),
        "is_filtered": bool(kinds or branch or words),
        "branches": timeline.story_branches(project.clone)[:WINDOW],
        "where": _where,
    }
    return WebPage("timeline.html", values)


def _where(row: timeline.StoryRow) -> str:
    """The address of what a row is about."""
    folder = {"run": "runs", "session": "sessions", "commit": "commits"}.get(row.about, "show")
    return f"/{folder}/{row.id}"


def run_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """A run: its summary, turns, commands, files, cost, commits, and the contexts it got."""
    project, start = reading.project, query.number("from") // TURNS * TURNS
    run = project.log.recording(query.parts["identity"], start=start, most=TURNS)
    made = [row for row in dicts_of(run.fields.get("artifacts")) if isinstance(row.get("path"), str)]
    turns = range(run.total)
    window = windowed(turns, query, most=TURNS)
    paths = [str(row["path"]) for row in made] + [
        str(path) for turn in run.turns for path in list_of(turn.get("files"))
    ]
    values = {
        **_about(run),
        "window": window,
        "turns": [_turn(turn) for turn in run.turns],
        "usage": [_usage(one) for one in dicts_of(dict_of(run.fields.get("outputs")).get("usage"))],
        "files": [(str(row["path"]), row.get("deleted") is True) for row in made[:WINDOW]],
        "more_files": max(0, len(made) - WINDOW),
        "commits": list(dict.fromkeys(oid for turn in run.turns for oid in _texts(turn.get("commits")))),
        "tracked": tracked_files.those_tracked(project.clone.repo, paths),
        "summary": list(_sections((run.summary or "")[:SUMMED_UP])),
        "knew": project.context.receipts(run.id, now=lambda: reading.known.now),
        "most_packs": PACKS,
        "most_entries": ENTRIES,
    }
    return WebPage("run.html", values)


def _about(run: RunDetails) -> dict[str, Any]:
    """What the pages of a run and of a turn share."""
    fields, context = run.fields, run.context
    agent = dict_of(context.get("agent"))
    name = str(agent.get("name") or "")
    outputs = dict_of(fields.get("outputs"))
    shown = ShownRecord(run.id, "run", None, None, dict(fields))
    said = {"what", "files", "tools", "outputs", "statement", "kept in", "branch"}  # shown elsewhere, or no news
    said |= {"prompt"} if run.total else set()
    rows = [(label, text) for label, text in event_rows(shown) if text and label not in said]
    return {
        "run": run,
        "agent": " ".join(filter(None, (AGENTS.get(name, name), str(agent.get("version") or "")))),
        "session": dict_of(context.get("session")).get("id"),
        "told": outputs.get("summary") if isinstance(outputs.get("summary"), str) else "",
        "rows": rows,
        "gone": wording("bodies").get(str(fields.get("body_state")), ""),
        "ended": _ended(fields),
    }


def _usage(one: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What one model read, wrote and cost, in words."""
    counts = {name: one.get(name) for name in ("read", "cached", "written")}
    rows = [("Model", str(one.get("model") or one.get("agent") or "not told")[:80])]
    rows += [(name.title(), f"{number:,} tokens") for name, number in counts.items() if isinstance(number, int)]
    dollars = one.get("dollars")
    return [*rows, ("Cost", f"${dollars:.2f}" if isinstance(dollars, int | float) else "not told")]


def _ended(fields: Mapping[str, Any]) -> str:
    """How a run ended, in a word or two."""
    status = fields.get("exit_status")
    if isinstance(status, int):
        return f"exit {status}"
    return str(fields.get("status") or "")


def _turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    """A turn as the page shows it: texts and numbers only, whatever was recorded."""
    line = str(turn.get("line") or "")
    return {
        "number": turn.get("turn") if isinstance(turn.get("turn"), int) else 0,
        "ts": str(turn.get("ts") or ""),
        "by": str(turn.get("by") or ""),
        "branch": str(turn.get("branch") or ""),
        "prompt": str(turn.get("prompt") or ""),
        "line": line.partition(" — ")[2] if line.startswith("Asked: ") else line,
        "said": _texts(turn.get("said")),
        "interrupted": bool(turn.get("interrupted")),
        "commands": [_command(one) for one in list_of(turn.get("commands"))],
        "files": _texts(turn.get("files")),
        "commits": _texts(turn.get("commits")),
        "notes": [(str(one.get("of") or ""), str(one.get("text") or "")) for one in dicts_of(turn.get("notes"))],
    }


def _command(one: object) -> tuple[str, int | None]:
    given = dict_of(one)
    status = given.get("exit_status")
    return str(given.get("text") if given else one), status if isinstance(status, int) else None


def _texts(value: object) -> list[str]:
    return [one for one in list_of(value) if isinstance(one, str)]


def _sections(text: str) -> Iterator[tuple[str, list[tuple[bool, str]]]]:
    """A summary in sections: each with its title, and its lines, of which some are points of a list."""
    title, rows = "", list[tuple[bool, str]]()
    for line in text.splitlines():
        if line.startswith("## "):
            if rows:
                yield title, rows
            title, rows = line[3:], []
        elif line.strip() and not line.startswith("# "):
            rows.append((line.startswith("- "), line.removeprefix("- ")))
    if rows:
        yield title, rows


def turn_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """One turn of a run: what was asked, what the agent said, and its steps with what they called and got."""
    given = query.parts["number"]
    number = int(given) if given.isascii() and given.isdecimal() and len(given) < 7 else 0
    run, turn, steps = reading.project.log.turn(query.parts["identity"], number)
    shown = _turn(turn)
    window = windowed(steps, query, most=STEPS)
    values = {
        **_about(run),
        "turn": shown,
        "number": number,
        "window": window,
        "steps": [_step(one) for one in window.rows],
        "tracked": tracked_files.those_tracked(reading.project.clone.repo, shown["files"]),
        "most": SAID,
    }
    return WebPage("turn.html", values)


def _step(cycle: Mapping[str, Any]) -> dict[str, Any]:
    """One step: what the agent said, and each call with what came back."""
    proposed, result = dict_of(cycle.get("proposal")), dict_of(cycle.get("result"))
    outputs = {str(one.get("id")): one for one in dicts_of(result.get("calls"))}
    calls = []
    for call in dicts_of(proposed.get("calls")):
        got = outputs.get(str(call.get("id")), {})
        asked, output = call.get("input"), got.get("output")
        status = got.get("exit_status")
        calls.append({
            "name": str(call.get("name") or ""),
            "input": asked if isinstance(asked, str) else "" if asked is None else str(asked),
            "output": output if isinstance(output, str) else "",
            "exit_status": status if isinstance(status, int) else None,
            "state": "refused" if got.get("refused") is True else "failed" if got.get("failed") is True else "",
        })  # fmt: skip
    texts = [proposed.get(name) for name in ("text", "plan")]
    return {
        "number": cycle.get("n"),
        "ts": str(cycle.get("ts") or ""),
        "model": str(cycle.get("model") or ""),
        "text": "\n\n".join(one for one in texts if isinstance(one, str) and one.strip()),
        "reasoning": proposed.get("reasoning") if isinstance(proposed.get("reasoning"), str) else "",
        "calls": calls[:CALLS],
        "more": max(0, len(calls) - CALLS),
        "room": CALLED // max(1, min(CALLS, len(calls))),
    }


def session_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """A session: what it is for, its turns, what is open, decided and asked, its runs and files."""
    project = reading.project
    try:
        found = project.sessions.show(query.parts["identity"])
    except (CorruptLog, FutureFormat) as error:
        raise NotFound(f"this session cannot be read: {error}", hint="See what is wrong: holdfast doctor") from None
    turns = found.every_turn
    last = len(turns) and (len(turns) - 1) // TURNS * TURNS
    asked = query if query.one("from") else WebQuery(query.address, query.parts, {"from": [str(last)]}, {})
    values = {
        "session": found,
        "window": windowed(turns, asked, most=TURNS),
        "runs": project.log.runs_of_session(found),
        "failing": model_brief.failing(found.commands),
        "tracked": tracked_files.those_tracked(project.clone.repo, found.files[-WINDOW:]),
        "most": WINDOW // 2,
    }
    return WebPage("session.html", values)


@frozen
class ShownPatch:
    """The patch of one file as far as the page has room for it."""

    file: ChangedFile
    lines: tuple[str, ...]
    more: int = 0
    note: str = ""


def commit_page(reading: ProjectReading, query: WebQuery) -> WebPage:
    """A commit: its message, who made it, what cites it, and what it changed."""
    project = reading.project
    shown, changes = project.log.commit(query.parts["identity"], reading.cited_commits)
    only = query.one("file")
    files = [one for one in changes.files if one.path == only] if only else list(changes.files)
    if only and not files:
        raise NotFound(f"this commit does not change {only[:200]}", hint="See the files that it changed.")
    window = windowed(files, query, most=PATCHED)
    values = {
        "commit": shown,
        "changes": changes,
        "title": (shown.text or "").partition("\n")[0],
        "body": (shown.text or "").partition("\n")[2].strip("\n")[:SAID],
        "runs": [(name, *name.partition("#")[::2]) for name in list_of(shown.fields.get("runs"))],
        "window": window,
        "only": only,
        "patches": list(_patches(reading, changes, project.log.counted(changes, window.rows))),
        "tracked": tracked_files.those_tracked(project.clone.repo, [one.path for one in window.rows]),
    }
    return WebPage("commit.html", values)


def _patches(reading: ProjectReading, commit: CommitChanges, files: Sequence[ChangedFile]) -> Iterator[ShownPatch]:
    """The patches of some files, until the page is full."""
    asked: set[ChangedFile] = set()
    total = 0
    for file in (one for one in files if one.is_short and total < PATCH_LINES):
        asked.add(file)
        total += file.lines
    chosen = [file for file in files if file in asked]
    texts = dict(zip(chosen, reading.project.log.patches(commit, chosen, most=PATCH_LINES), strict=True))
    left, room = PATCH_LINES, PATCH_ROOM
    for file in files:
        if not file.is_short:
            what = "is binary, or large" if file.added is None else f"has {count(file.lines, 'changed line')}"
            yield ShownPatch(file, (), note=f"The file {what}, so its patch is not shown.")
        elif file not in texts or left <= 0 or room <= 0:
            yield ShownPatch(file, (), note="This page is full.")
        else:
            lines, whole = texts[file]
            shown = list(_fitting(lines[:left], room))
            left -= len(shown)
            room -= sum(map(_weight, shown))
            yield ShownPatch(file, tuple(shown), whole - len(shown))


def _fitting(lines: Sequence[str], room: int) -> Iterator[str]:
    """Lines until they take the room; a very long one is cut."""
    for line in lines:
        line = f"{line[:500]}…" if len(line) > 500 else line
        room -= _weight(line)
        if room < 0:
            return
        yield line


def _weight(line: str) -> int:
    """The bytes that a line takes on the page, with its tags."""
    return len(escape(visible(line)).encode("utf-8", "replace")) + 40


PAGES: dict[str, PageMaker] = {
    "/timeline": timeline_page,
    "/runs/{identity}": run_page,
    "/runs/{identity}/turns/{number}": turn_page,
    "/sessions/{identity}": session_page,
    "/commits/{identity}": commit_page,
}
