"""The trash: the files that `reset` removed, until they are restored or pruned.

One folder for each reset. Its label is written first, with the kind, the time and the line (the id of a branch's work);
then files move in, each by one rename and under its name in the store, so that a file is always in one of the two
places. The label of an interrupted reset has no end mark: the next reset continues it, or it is undone as far as it
got. Texts of tracked files, which git has anyway, are copied here.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from holdfast.errors import CorruptLog, FutureFormat
from holdfast.model.ids import is_id
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records, pending_changes
from holdfast.store.layout import STATISTICS, Layout
from holdfast.values import asdict, frozen, replace

WHATS = ("sessions", "tasks", "all")
LABEL, TEXTS = "reset.json", "texts.jsonl"
FOLDERS = ("sessions", "claims", "kept")  # of the store, whose files may be here
FILES = STATISTICS
MAX_LABEL, MAX_TEXTS = 1 << 16, 1 << 30  # bytes; guesses: a label has five short fields, copies are many entries
_NAME = regex(r"\d{8}T\d{6}Z-[0-9a-z]{10}", re.ASCII)
_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_LINE = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")
_ORIGINS = ("pending", "edit", "tree")


@frozen
class TrashedReset:
    """One reset, from its label."""

    name: str  # of its folder
    what: str
    ts: str
    line: str
    branch: str | None
    whole: bool = False  # whether it finished


@frozen
class TrashedText:
    """A tracked file as it was visible when it was removed."""

    id: str
    path: str
    text: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    base: str | None  # the blob on which a pending text was based


def begin(layout: Layout, what: str, *, ts: str, line: str, branch: str | None) -> TrashedReset:
    """Starts a reset, durably; continues an interrupted one of the same kind and line instead."""
    for reset in reversed(every(layout)):
        if not reset.whole and (reset.what, reset.line) == (what, line):
            return reset
    new = TrashedReset(pending_changes.name_for(ts), what, ts, line, branch)
    _write_label(layout, new)
    return new


def finish(layout: Layout, reset: TrashedReset) -> TrashedReset:
    """Marks a reset as finished."""
    done = replace(reset, whole=True)
    _write_label(layout, done)
    return done


def every(layout: Layout) -> list[TrashedReset]:
    """Returns every reset in the trash, oldest first; skips and reports damaged ones."""
    found = loose_records.sound(layout, lambda name: _label(layout, name), _names(layout))
    return sorted(found, key=lambda reset: (reset.ts, reset.name))


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Yields everything in the trash that cannot be restored, with the reason."""

    def read(path: str) -> None:
        name = os.path.basename(path)
        if not _NAME.fullmatch(name) or os.path.islink(path) or not os.path.isdir(path):
            raise CorruptLog(f"{path} is not the folder of a reset")
        wrong: list[CorruptLog] = []
        list(_texts(layout, _label(layout, name), wrong.append))
        if wrong:
            raise wrong[0]

    return loose_records.damaged(read, (os.path.join(layout.trash, name) for name in layout.listed(layout.trash)))


def take(layout: Layout, reset: TrashedReset, names: Iterable[str]) -> int:
    """Moves files of the store into the trash, by their names in the store; returns the number moved."""
    moved = 0
    for name in names:
        source, target = _in(layout.private, name), _in(_folder(layout, reset), name)
        if os.path.lexists(source):
            fsio.make_dirs(os.path.dirname(target))
            fsio.move(source, fsio.free(target))  # a continued reset may find a file of the same name again
            moved += 1
    return moved


def put_back(layout: Layout, reset: TrashedReset) -> tuple[list[str], list[str]]:
    """Moves files back to their places; returns the names restored, and those whose place is taken."""
    back, left = [], []
    for name in held(layout, reset):
        target = _in(layout.private, name)
        if os.path.lexists(target) or re.search(r"\.\d+$", name):
            left.append(name)
            continue
        fsio.make_dirs(os.path.dirname(target))
        fsio.move(_in(_folder(layout, reset), name), target)
        back.append(name)
    return back, left


def held(layout: Layout, reset: TrashedReset) -> list[str]:
    """Returns the store's files in a reset, by their names in the store."""
    folder = _folder(layout, reset)
    inner = [f"{name}/{file}" for name in FOLDERS for file in layout.listed(os.path.join(folder, name))]
    named = [*inner, *(name for name in FILES if os.path.lexists(os.path.join(folder, name)))]
    return [name for name in named if os.path.isfile(_in(folder, name)) and not name.endswith(".tmp")]


def keep_texts(layout: Layout, reset: TrashedReset, new: Iterable[TrashedText]) -> None:
    """Stores copies of tracked files, durably; of one path the last counts."""
    known = {text.path: text for text in texts(layout, reset)} | {text.path: text for text in new}
    if known:
        rows = [json.dumps(asdict(text), ensure_ascii=True) + "\n" for text in known.values()]
        fsio.replace(os.path.join(_folder(layout, reset), TEXTS), "".join(rows).encode("ascii"))


def texts(layout: Layout, reset: TrashedReset) -> list[TrashedText]:
    """Returns the copies in a reset; skips and reports damaged ones."""
    return list(_texts(layout, reset, layout.leave_out))


def forget(layout: Layout, identity: str) -> list[str]:
    """Deletes every copy of an id's file, in all resets; returns what it deleted."""
    gone = []
    for name in _names(layout):
        folder = os.path.join(layout.trash, name)
        gone += [f"copy of {identity} in the trash"] * _forget_texts(folder, identity)
        for inner in FOLDERS:
            for file in layout.listed(os.path.join(folder, inner)):
                if is_named(file, identity):
                    fsio.remove(os.path.join(folder, inner, file))
                    gone.append(f"copy of {identity} in the trash")
    return gone


def is_named(file: str, identity: str) -> bool:
    """Whether a file of a session, a claim or a kept text is named after an id."""
    stem = re.sub(r"\.(?:json|md|txt)(?:\.\d+)?$", "", file)
    return stem == identity or stem.endswith(f"-{identity}") or stem.startswith(f"{identity}~")


def holds_something(layout: Layout, reset: TrashedReset) -> bool:
    """Whether a reset has anything that can be restored."""
    return bool(held(layout, reset)) or os.path.lexists(os.path.join(_folder(layout, reset), TEXTS))


def let_go(layout: Layout, reset: TrashedReset) -> None:
    """Deletes the texts of a reset after they were restored; files that could not be restored stay."""
    fsio.remove(os.path.join(_folder(layout, reset), TEXTS))
    finish(layout, reset)


def tidy(layout: Layout) -> None:
    """Deletes empty resets: nothing was removed, or everything is restored."""
    for reset in every(layout):
        if not holds_something(layout, reset):
            discard(layout, reset)


def discard(layout: Layout, reset: TrashedReset) -> None:
    """Deletes a reset's folder, its label last: it identifies what an interruption leaves."""
    folder = _folder(layout, reset)
    for inner, folders, files in os.walk(folder, topdown=False):
        for name in files:
            if (inner, name) != (folder, LABEL):
                fsio.remove(os.path.join(inner, name))
        for name in folders:
            fsio.ops.rmdir(os.path.join(inner, name))
    fsio.remove(os.path.join(folder, LABEL))
    with fsio.refusing(folder):
        fsio.ops.rmdir(folder)


def size(layout: Layout, reset: TrashedReset) -> int:
    """Returns the size of a reset in bytes."""
    walk = os.walk(_folder(layout, reset))
    return sum(os.lstat(os.path.join(inner, name)).st_size for inner, _, files in walk for name in files)


def foreign_path(data: bytes) -> str | None:
    """Returns a path in a file of copies that is not allowed; None if there is none."""
    found = (pending_changes.foreign_path(line) for line in data.split(b"\n") if line)
    return next((foreign for foreign in found if foreign is not None), None)


_LABELLED = ("what", "ts", "line", "branch", "whole")


def _names(layout: Layout) -> list[str]:
    return [name for name in layout.listed(layout.trash) if _NAME.fullmatch(name)]


def _folder(layout: Layout, reset: TrashedReset) -> str:
    return os.path.join(layout.trash, reset.name)


def _in(folder: str, name: str) -> str:
    return os.path.join(folder, *name.split("/"))


def _write_label(layout: Layout, reset: TrashedReset) -> None:
    record = {"v": 1, **{name: value for name, value in asdict(reset).items() if name != "name"}}
    loose_records.keep(os.path.join(_folder(layout, reset), LABEL), record)


def _label(layout: Layout, name: str) -> TrashedReset:
    """Reads the label of one reset; raises CorruptLog with the reason if it is damaged."""
    path = os.path.join(layout.trash, name, LABEL)
    try:
        with loose_records.judging(path, " is not the label of a reset", missing=loose_records.MISSING):
            record: dict[str, Any] = json.loads(fsio.read(path, limit=MAX_LABEL))
            if record.get("v") != 1:
                raise ValueError("it is of another version")
            # Fields of a later version are ignored; they stay in the file.
            reset = TrashedReset(name, **{key: record[key] for key in _LABELLED if key in record})
            _check(reset)
    except (FileNotFoundError, NotADirectoryError):
        if all(left.endswith(".tmp") for left in layout.listed(os.path.join(layout.trash, name))):
            raise FileNotFoundError(path) from None  # a reset that just began or was just deleted
        raise CorruptLog(f"{path} is missing, so it is unknown what was reset") from None
    return reset


def _check(reset: TrashedReset) -> None:
    texts_of = (reset.what, reset.ts, reset.line)
    if not all(isinstance(word, str) for word in texts_of) or not isinstance(reset.branch, str | None):
        raise ValueError("a field is not text")
    if reset.what not in WHATS or not _TS.fullmatch(reset.ts) or not _LINE.fullmatch(reset.line):
        raise ValueError("its kind, time or line is invalid")
    if not isinstance(reset.whole, bool):
        raise ValueError("its end mark is invalid")


def _texts(layout: Layout, reset: TrashedReset, wrong: Callable[[CorruptLog], None]) -> Iterator[TrashedText]:
    path = os.path.join(_folder(layout, reset), TEXTS)
    lines: list[bytes] = []
    try:
        with contextlib.suppress(FileNotFoundError), loose_records.judging(path, " cannot be read"):
            lines = fsio.read(path, limit=MAX_TEXTS).split(b"\n")
    except CorruptLog as error:
        wrong(error)
    for number, line in enumerate(lines, 1):
        try:
            with loose_records.judging(f"{path}:{number}", " is not a copy of a file"):
                if line:
                    yield _text(line)
        except CorruptLog as error:
            wrong(error)


def _text(line: bytes) -> TrashedText:
    text = TrashedText(**json.loads(line))
    words = (text.id, text.path, text.text, text.blob, text.origin)
    if not all(isinstance(word, str) for word in words) or not isinstance(text.base, str | None):
        raise ValueError("a field is not text")
    if not is_id(text.id) or text.origin not in _ORIGINS or not pending_changes.is_publishable(text.path):
        raise ValueError("it does not name a file of the memory")
    text.text.encode("utf-8")
    return text


def _forget_texts(folder: str, identity: str) -> int:
    path = os.path.join(folder, TEXTS)
    rows = (fsio.find(path, limit=MAX_TEXTS) or b"").splitlines(keepends=True)
    kept = [row for row in rows if not _is_about(row, identity)]
    if len(kept) < len(rows):
        fsio.replace(path, b"".join(kept))
    return len(rows) - len(kept)


def _is_about(row: bytes, identity: str) -> bool:
    """Whether a row is the copy of an id's file; a damaged row that contains the id counts, so that it is deleted."""
    if identity.encode("ascii", "replace") not in row:
        return False
    try:
        return _text(row).id == identity
    except (ValueError, TypeError, RecursionError):
        return True
