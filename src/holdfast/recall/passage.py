"""Returns the words that a candidate was made from, with the lines around them.

They are looked up in what this clone still has: a run's capsule, a session, a file, a commit's message. Nothing is
stored for it, reading is limited, and a missing source is reported as missing. `cited` returns the lines of files that
a memory rests on.
"""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.git.clone import Clone
from holdfast.git.tracked_files import places, texts
from holdfast.model.evidence import (
    CommitEvidence,
    FileEvidence,
    Provenance,
    RunEvidence,
    is_oid,
    is_tracked_path,
    parse_evidence,
)
from holdfast.model.ids import is_id
from holdfast.model.text import visible
from holdfast.recall import lookup
from holdfast.recall.why import recorded_runs
from holdfast.store import capsule, fsio, session_files
from holdfast.values import dict_of, dicts_of, frozen, list_of, replace

AROUND = 4  # lines shown before and after the words; a guess: enough context on a screen
MAX_LINES = 40  # of one passage; a guess: two screens
LEAD = 60  # characters of a long line before the words; a guess: less than a row of a terminal
MAX_WIDTH = 400  # characters of a line; a guess: five rows of a terminal
MAX_FOUND = 100  # places that are compared to find the nearest; a guess
MAX_READ = 1 << 20  # bytes of one text that are searched; a guess: larger files are generated


@frozen
class Passage:
    """Some lines of a text, and which of them contain the words."""

    title: str
    lines: tuple[str, ...] = ()
    number: int = 1  # of the first of these lines, in its text
    first: int = 0  # of the lines that contain the words, counted from 0; nothing is marked if last < first
    last: int = -1
    marks: tuple[tuple[int, int], ...] = ()  # columns of the words in each of these lines
    missing: str = ""  # why the words cannot be shown in their source


@frozen
class _Text:
    title: str
    text: str
    line: int | None = None  # the line to show if the words are missing


_NOT_HERE = "the source is not in this clone"
_NO_SOURCE = {"curate": "nobody recorded where", "agent": "an agent said so"}


def passage(clone: Clone, provenance: Provenance) -> Passage:
    """Returns the words of a provenance with the lines around them, or why they cannot be shown."""
    kind, _, name = provenance.source.partition(":")
    look = {"run": _run, "session": _session, "file": _file, "commit": _commit}.get(kind)
    if look is None:
        return Passage(provenance.source, missing=_NO_SOURCE.get(kind, "a person said so"))
    if name in clone.erased():
        return Passage(provenance.source, missing="the source was erased")
    text = cited = None
    for text in look(clone, name, provenance.turn):
        if found := _around_words(text, provenance.words):
            return found
        cited = cited or (text if text.line is not None else None)
    if cited is not None:
        return _around_line(cited)
    return Passage(provenance.source, missing="the source does not contain the words" if text else _NOT_HERE)


# The texts of a source.


def _run(clone: Clone, name: str, turn: int | None) -> Iterator[_Text]:
    label = f"run {name}" + ("" if turn is None else f", turn {turn}")
    folder = recorded_runs.folder_of(clone, name) if is_id(name) else None
    if folder is not None:
        yield from (_Text(f"run {name}, turn {number}", text) for number, text in _turns(folder, turn))
        yield from (_Text(f"{label}: its {part}", text) for part, text in _capsule(folder))
    for event in clone.find_events("own", kinds=("run",), runs=(name,)):
        if event.body:
            yield from (_Text(f"{label}: its {part}", text) for part, text in _context_texts(clone.joined(event)))


def _turns(folder: str, turn: int | None) -> Iterator[tuple[int, str]]:
    """Yields the texts of a run's turns with their numbers, the given turn first."""
    rows = [row for row in capsule.read_rows(folder, recorded_runs.TURNS) if isinstance(row.get("turn"), int)]
    for row in sorted(rows, key=lambda row: (row["turn"] != turn, row["turn"])):
        noted = [one.get("text") for name in ("notes", "commands") for one in dicts_of(row.get(name))]
        texts = (row.get("prompt"), *list_of(row.get("said")), *noted)
        yield from ((row["turn"], text) for text in texts if isinstance(text, str) and text)


def _capsule(folder: str) -> Iterator[tuple[str, str]]:
    yield from _context_texts(capsule.read_context(folder))
    for part in lookup.PRINTED:  # conclusions stand at the end of a long output
        if end := lookup.kept_tail(folder, f"outputs/{part}", MAX_READ):
            yield part, lookup.COLOURS.sub(b"", end).decode("utf-8", "replace")
    if summary := lookup.summary_of(folder):
        yield "summary", summary


def _context_texts(fields: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the texts in a run's context or event."""
    summary = dict_of(fields.get("outputs")).get("summary")
    for part, text in (*((part, fields.get(part)) for part in ("prompt", "task", "plan")), ("summary", summary)):
        if isinstance(text, str) and text:
            yield part, text


def _session(clone: Clone, name: str, turn: int | None) -> Iterator[_Text]:
    for store in clone.stores:
        try:
            session = session_files.read(session_files.path_of(store, name))
        except (OSError, HoldfastError):
            continue
        for one in sorted(session.every_turn, key=lambda one: (one.n != turn, one.n)):
            text = "\n".join([one.summary, *(command.text for command in one.commands)])
            yield _Text(f"session {session.id}, turn {one.n}", text)
        notes = {
            "decisions": "\n".join(f"Decision: {text}" for text in session.decisions),
            "commands": "\n".join(command.text for command in session.commands),
            **{part: getattr(session, part) for part in ("summary", "scratchpad", "objective")},
        }
        yield from (_Text(f"session {session.id}: its {part}", text) for part, text in notes.items() if text)


def _file(clone: Clone, path: str, line: int | None) -> Iterator[_Text]:
    if not is_tracked_path(path):  # a path elsewhere on this machine: the candidate's author chose it
        return
    try:
        content = _read(fsio.inside(clone.repo.top, path))
    except (OSError, HoldfastError):
        content = None
    if content is not None:
        yield _Text(path, content, line or 1)
        return
    size = clone.repo.attempt("cat-file", "-s", f"HEAD:{path}").stdout
    if size.strip().isdigit() and int(size) <= MAX_READ:
        done = clone.repo.attempt("cat-file", "blob", f"HEAD:{path}")
        if done.returncode == 0:
            yield _Text(f"{path} at HEAD", done.stdout.decode("utf-8", "replace"), line or 1)


def _commit(clone: Clone, oid: str, _: int | None) -> Iterator[_Text]:
    if not is_oid(oid):
        return
    done = clone.repo.attempt("log", "-1", "--format=%B", oid, "--")
    if done.returncode == 0:
        yield _Text(f"commit {oid[:12]}", done.stdout[:MAX_READ].decode("utf-8", "replace"), 1)


def _read(path: str) -> str | None:
    try:
        return fsio.read(path, limit=MAX_READ).decode("utf-8", "replace")
    except (OSError, HoldfastError):  # missing, too long, or not a file
        return None


# The lines to show.

_EMPHASIS = r"(?:[*`]|\b_{1,2}|_{1,2}\b)*"
_BULLET = r"(?:[-+>]|#{1,6}|\d{1,3}[.)])"
_BETWEEN = rf"{_EMPHASIS}\s+(?:{_BULLET}\s+)*{_EMPHASIS}"


def _around_words(text: _Text, words: str) -> Passage | None:
    """Returns the lines around the words, however the text breaks them into lines."""
    plain = re.sub(rf"{_EMPHASIS}|(?<!\S){_BULLET}(?!\S)", "", words).split()
    if not plain:
        return None
    if "⟨U+" in words:  # the words were stored with hidden characters marked
        text = replace(text, text=visible(text.text))
    # Who keeps words leaves out the Markdown around them: emphasis within a word, bullets between two lines.
    wanted = re.compile(_BETWEEN.join(_EMPHASIS.join(map(re.escape, word)) for word in plain))
    places = islice(wanted.finditer(text.text), MAX_FOUND)
    spans = [(text.text.count("\n", 0, found.start()), found.span()) for found in places]
    return _cut(text, *min(spans, key=lambda one: abs(one[0] + 1 - (text.line or 0)))) if spans else None


def _around_line(text: _Text) -> Passage:
    """Returns the lines where the words once stood."""
    rows = text.text.split("\n")
    at = min(max(text.line or 1, 1), len(rows)) - 1
    top = max(0, at - AROUND)
    shown = tuple(row[:MAX_WIDTH] for row in rows[top : at + AROUND + 1])
    return Passage(text.title, shown, top + 1, missing="the file no longer contains the words")


def _cut(text: _Text, first: int, span: tuple[int, int]) -> Passage:
    """Returns the lines from a little before the words to a little after, long ones shortened.

    The words start in the line `first`, counted from 0; `span` is their position in the text.
    """
    rows = text.text.rstrip("\n").split("\n")
    last = first + text.text.count("\n", *span)
    begin, end = (at - (text.text.rfind("\n", 0, at) + 1) for at in span)  # columns
    top = max(0, first - AROUND)
    bottom = min(last + AROUND + 1, len(rows), top + MAX_LINES)
    lines, marks = [], []
    for index in range(top, bottom):
        row = rows[index].removesuffix("\r")
        start = begin if index == first else 0
        left = max(0, min(start - LEAD, len(row) - MAX_WIDTH))  # the part of a long line with the words
        left = max(left - LEAD, row.rfind(" ", 0, left) + 1) if left else 0  # at the start of a word, if one is near
        lines.append(row[left : left + MAX_WIDTH])
        if first <= index <= last:
            stop = end if index == last else len(row)
            marks.append((start - left, min(stop - left, MAX_WIDTH)))
    return Passage(text.title, tuple(lines), top + 1, first - top, min(last, bottom - 1) - top, tuple(marks))


# The lines that a memory rests on: who decides about it need not open the file.

MAX_CITED_LINES = 12  # of one citation; a guess: a short function
MAX_CITED = 6  # citations of one memory whose lines are looked up; a guess: more is not read


@frozen
class CitedLines:
    """Some lines of a file."""

    number: int  # of the first of them, counted from 1
    lines: tuple[str, ...]
    more: int = 0  # that belong to it and are not here


def cited(clone: Clone, receipts: Sequence[tuple[str, str]]) -> Mapping[str, CitedLines]:
    """Returns the lines of each receipt that holds and is of a file; what changed is shown as a diff instead."""
    found: dict[str, CitedLines] = {}
    for receipt in [receipt for receipt, state in receipts if state == "holds"][:MAX_CITED]:
        with contextlib.suppress(HoldfastError, OSError):  # written by hand, or of a file that cannot be read
            if (lines := _lines_of(clone, receipt)) is not None:
                found[receipt] = lines
    return found


def _lines_of(clone: Clone, receipt: str) -> CitedLines | None:
    part = parse_evidence(receipt)
    if isinstance(part, RunEvidence | CommitEvidence):
        return None
    place = places(clone.repo, [part.path]).get(part.path)
    for text in texts(clone.repo, place) if place else ():
        span = (1, len(text.lines)) if isinstance(part, FileEvidence) else text.place(part)
        if span is not None and text.lines:
            rows = text.lines[span[0] - 1 : min(span[1], span[0] - 1 + MAX_CITED_LINES)]
            said = tuple(row.decode("utf-8", "replace").rstrip("\r\n")[:MAX_WIDTH] for row in rows)
            return CitedLines(span[0], said, span[1] - span[0] + 1 - len(said))
    return None
