"""The trash: what `reset` took away, until it is put back or pruned.

One folder a reset. Its label is written first and says what was asked for, when and on which line; then
files move in, each by one rename and under the name it had in the store, so that at any instant a file
is in its place or here. A reset that was killed has no end in its label: the next one goes on with it,
or it is taken back as far as it got. Texts of tracked files, which git keeps anyway, lie here as a copy.
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
FOLDERS = ("sessions", "claims", "kept")  # of the store, whose files may lie here
FILES = STATISTICS
MAX_LABEL, MAX_TEXTS = 1 << 16, 1 << 30
_NAME = regex(r"\d{8}T\d{6}Z-[0-9a-z]{10}", re.ASCII)
_TS = regex(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_LINE = regex(r"[0-9A-Za-z][0-9A-Za-z_-]{0,63}")
_ORIGINS = ("pending", "edit", "tree")


@frozen
class TrashedReset:
    """One reset, as its label tells it."""

    name: str  # of its folder
    what: str
    ts: str
    line: str
    branch: str | None
    whole: bool = False  # True: it came to its end


@frozen
class TrashedText:
    """A tracked file as it was visible when it was taken away."""

    id: str
    path: str
    text: str
    blob: str
    origin: str  # "pending", "edit" or "tree"
    base: str | None  # what a pending text stood on


def begin(layout: Layout, what: str, *, ts: str, line: str, branch: str | None) -> TrashedReset:
    """Start a reset, durable on return; one that was cut short on the same line goes on instead."""
    for reset in reversed(every(layout)):
        if not reset.whole and (reset.what, reset.line) == (what, line):
            return reset
    new = TrashedReset(pending_changes.name_for(ts), what, ts, line, branch)
    _write_label(layout, new)
    return new


def finish(layout: Layout, reset: TrashedReset) -> TrashedReset:
    """Say that a reset came to its end."""
    done = replace(reset, whole=True)
    _write_label(layout, done)
    return done


def every(layout: Layout) -> list[TrashedReset]:
    """Every reset that lies here, oldest first; damaged ones are left out and said."""
    found = loose_records.sound(layout, lambda name: _label(layout, name), _names(layout))
    return sorted(found, key=lambda reset: (reset.ts, reset.name))


def damaged(layout: Layout) -> Iterator[tuple[str, CorruptLog | FutureFormat]]:
    """Everything in the trash that cannot be put back, with the reason."""

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
    """Move files of the store in, by their names in it; gives how many were there."""
    moved = 0
    for name in names:
        source, target = _in(layout.private, name), _in(_folder(layout, reset), name)
        if os.path.lexists(source):
            fsio.make_dirs(os.path.dirname(target))
            fsio.move(source, fsio.free(target))  # a reset that went on may find a file of the same name again
            moved += 1
    return moved


def put_back(layout: Layout, reset: TrashedReset) -> tuple[list[str], list[str]]:
    """Move files back to where they were: the names that went, and those whose place is taken by now."""
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
    """The store's files that lie in a reset, by their names in the store."""
    folder = _folder(layout, reset)
    inner = [f"{name}/{file}" for name in FOLDERS for file in layout.listed(os.path.join(folder, name))]
    named = [*inner, *(name for name in FILES if os.path.lexists(os.path.join(folder, name)))]
    return [name for name in named if os.path.isfile(_in(folder, name)) and not name.endswith(".tmp")]


def keep_texts(layout: Layout, reset: TrashedReset, new: Iterable[TrashedText]) -> None:
    """Keep copies of tracked files, durable on return; of one path the last counts."""
    known = {text.path: text for text in texts(layout, reset)} | {text.path: text for text in new}
    if known:
        rows = [json.dumps(asdict(text), ensure_ascii=True) + "\n" for text in known.values()]
        fsio.replace(os.path.join(_folder(layout, reset), TEXTS), "".join(rows).encode("ascii"))


def texts(layout: Layout, reset: TrashedReset) -> list[TrashedText]:
    """The copies that lie in a reset; a damaged one is left out and said."""
    return list(_texts(layout, reset, layout.leave_out))


def forget(layout: Layout, identity: str) -> list[str]:
    """Delete every copy of what an id names, in all resets; says what was there."""
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
    """Whether there is anything in a reset that could be put back."""
    return bool(held(layout, reset)) or os.path.lexists(os.path.join(_folder(layout, reset), TEXTS))


def let_go(layout: Layout, reset: TrashedReset) -> None:
    """The texts of a reset are back on the board; files that could not go back stay."""
    fsio.remove(os.path.join(_folder(layout, reset), TEXTS))
    finish(layout, reset)


def tidy(layout: Layout) -> None:
    """Delete resets that hold nothing: there was nothing to take, or all of it is back."""
    for reset in every(layout):
        if not holds_something(layout, reset):
            discard(layout, reset)


def discard(layout: Layout, reset: TrashedReset) -> None:
    """Delete a reset's folder for good, its label last: what is left of it is still known by it."""
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
    """How many bytes a reset holds."""
    walk = os.walk(_folder(layout, reset))
    return sum(os.lstat(os.path.join(inner, name)).st_size for inner, _, files in walk for name in files)


def foreign_path(data: bytes) -> str | None:
    """A path that a file of copies names and none of ours may; None if it is in order, or says nothing."""
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
    """The label of one reset; CorruptLog says why it does not count."""
    path = os.path.join(layout.trash, name, LABEL)
    try:
        with loose_records.judging(path, " is not the label of a reset", missing=loose_records.MISSING):
            record: dict[str, Any] = json.loads(fsio.read(path, limit=MAX_LABEL))
            if record.get("v") != 1:
                raise ValueError("it is of another version")
            # What a later version adds to a label is for that version; the label as a whole stays where it is.
            reset = TrashedReset(name, **{key: record[key] for key in _LABELLED if key in record})
            _check(reset)
    except (FileNotFoundError, NotADirectoryError):
        if all(left.endswith(".tmp") for left in layout.listed(os.path.join(layout.trash, name))):
            raise FileNotFoundError(path) from None  # it had just begun, or was just discarded
        raise CorruptLog(f"{path} is missing: nobody can say what was reset") from None
    return reset


def _check(reset: TrashedReset) -> None:
    texts_of = (reset.what, reset.ts, reset.line)
    if not all(isinstance(word, str) for word in texts_of) or not isinstance(reset.branch, str | None):
        raise ValueError("what it says is no text")
    if reset.what not in WHATS or not _TS.fullmatch(reset.ts) or not _LINE.fullmatch(reset.line):
        raise ValueError("it does not say what was reset, when and where")
    if not isinstance(reset.whole, bool):
        raise ValueError("it does not say whether it came to its end")


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
        raise ValueError("what it says is no text")
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
    """Whether a copy is of what an id names; a damaged one that names it must not keep it."""
    if identity.encode("ascii", "replace") not in row:
        return False
    try:
        return _text(row).id == identity
    except (ValueError, TypeError, RecursionError):
        return True
