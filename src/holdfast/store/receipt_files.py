"""Receipts: the packs that agents were given, exactly as they were sent, with the revisions in them.

    receipts/<run or session>/<number>-<random>.json

A pack is stored as its rows, each with its own salt and the hash of both; the hash over all these hashes is the pack's
root. So one row can be deleted when its subject is erased: its hash stays, the text is gone and cannot be guessed, and
the root still proves every other row. When a run ends, its context.json records number, root and ids of every pack; the
capsule's root covers them, and a pack that arrives later stays out of the capsule. `recall` decides what goes into a
pack; this module stores it.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.errors import CorruptLog
from holdfast.model.ids import SESSION, is_id, token
from holdfast.patterns import regex
from holdfast.store import fsio, loose_records
from holdfast.store.layout import Layout
from holdfast.values import dicts_of, frozen

VERSION = 1
MOST = 64  # packs of one run or session, the newest; a guess: few sessions get so many
MOST_SESSIONS = 64  # sessions whose packs are stored; a guess. Those of runs stay as long as the run
MAX_FILE = 8 << 20  # bytes; a guess: far above the largest budget of a context
ERASED = "[erased]"
_NAME = regex(r"(\d{6,})-[0-9a-z]{8}\.json", re.ASCII)
_HASH = regex(r"[0-9a-f]{64}")
_SALT = 16  # bytes: 128 bits cannot be tried out


@frozen
class StoredReceipt:
    """One pack as it was sent."""

    owner: str  # the run or session that got it
    number: int  # counted from 1 for each owner
    root: str
    head: Mapping[str, Any]  # time, place, question and size
    lines: tuple[Mapping[str, Any], ...]  # text and entries (`told`), or only the hash of an erased row
    path: str

    @property
    def text(self) -> str:
        """The pack as the agent read it; erased rows are marked."""
        return "".join(f"{line.get('text', ERASED)}\n" for line in self.lines)

    @property
    def told(self) -> list[Mapping[str, Any]]:
        """The entries of the pack: id, kind, revision, reason and section of each."""
        return [one for line in self.lines for one in line.get("told", ())]


def keep(
    layout: Layout,
    owner: str,
    *,
    head: Mapping[str, Any],
    lines: Iterable[Mapping[str, Any]],
    stores: Sequence[Layout] = (),
) -> StoredReceipt:
    """Stores a pack, durably; deletes the oldest of its owner above the limit."""
    salted = [{"salt": os.urandom(_SALT).hex(), **part} for part in (head, *lines)]
    names = (name for store in stores or (layout,) for name in _names(store, owner))
    number = 1 + max((int(name.split("-")[0]) for name in names), default=0)
    name = f"{number:06}-{token(8)}.json"
    root = _root(map(_leaf, salted))
    path = os.path.join(layout.receipts, owner, name)
    fsio.make_dirs(os.path.dirname(path))
    fsio.replace(path, _bytes({"v": VERSION, "number": number, "root": root, "parts": salted}))
    _make_room(layout, owner)
    return _kept(owner, path, salted, number, root)


def read(stores: Iterable[Layout], owner: str) -> list[StoredReceipt]:
    """Returns every pack of a run or a session, in order; skips and reports damaged ones."""
    found: dict[str, StoredReceipt] = {}
    for store in stores:
        paths = [os.path.join(store.receipts, owner, name) for name in _names(store, owner)]
        for kept in loose_records.sound(store, lambda path: _read(path, owner), paths):
            found.setdefault(kept.root, kept)
    return sorted(found.values(), key=lambda one: (one.number, str(one.head.get("ts"))))


def owners(stores: Iterable[Layout]) -> list[str]:
    """Returns the runs and sessions that got packs."""
    return sorted({name for store in stores for name in store.listed(store.receipts) if is_id(name)})


def hand_over(layout: Layout, owner: str, to: str) -> None:
    """Moves the packs of one session to another: they were sent before the owner was known."""
    names = _names(layout, owner)
    if names:
        fsio.make_dirs(os.path.join(layout.receipts, to))
    for name in names:
        fsio.move(os.path.join(layout.receipts, owner, name), os.path.join(layout.receipts, to, name))
    with contextlib.suppress(OSError):
        fsio.ops.rmdir(os.path.join(layout.receipts, owner))


def share(layout: Layout, packs: Iterable[StoredReceipt], run_id: str) -> None:
    """Copies packs of a session to one of its runs: they stay as long as the run, whose capsule proves them."""
    for kept in packs:
        path = os.path.join(layout.receipts, run_id, os.path.basename(kept.path))
        if not os.path.lexists(path):
            fsio.make_dirs(os.path.dirname(path))
            fsio.replace(path, fsio.read(kept.path, limit=MAX_FILE))


# ── with a run ───────────────────────────────────────────────────────────────────────────────────


def take_up(stores: Iterable[Layout], run_id: str, context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Returns a run's context with the packs that the run got; None if there were none. Repeatable.

    It adds no text and no hash of a text, only data that may stay when a memory in the pack is erased.
    """
    known = {one["root"]: one for one in entries(context)}
    known |= {kept.root: _entry(kept) for kept in read(stores, run_id)}
    if not known:
        return None
    listed = sorted(known.values(), key=lambda one: (one["number"], str(one.get("ts"))))
    return {**context, "receipts": listed}


def _entry(kept: StoredReceipt) -> dict[str, Any]:
    fields = ("ts", "branch", "head", "budget", "tokens", "marker")
    return {
        "number": kept.number,
        "root": kept.root,
        **{name: kept.head.get(name) for name in fields},
        "ids": list(dict.fromkeys(str(one.get("id")) for one in kept.told)),
    }


def faults(stores: Sequence[Layout], run_id: str, context: Mapping[str, Any]) -> list[str]:
    """Returns the problems of the packs that a run's context names: changed, or missing below the limit."""
    listed = entries(context)
    newest = max((one["number"] for one in listed), default=0)
    there = {kept.root for kept in read(stores, run_id)}
    wrong = (one for one in listed if one["root"] not in there and one["number"] > newest - MOST)
    return [f"pack {one['number']} of run {run_id} was changed or is missing" for one in wrong]


def entries(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns the packs that a run's context names; skips damaged rows."""
    rows = dicts_of(context.get("receipts"))
    return [one for one in rows if isinstance(one.get("number"), int) and isinstance(one.get("root"), str)]


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────


def erase(layout: Layout, identity: str) -> list[str]:
    """Deletes a run's or a session's packs, and every row that names `identity` in others; returns what it deleted."""
    removed = _drop(layout, identity)
    word = re.compile(rf"(?<![\w-]){re.escape(identity)}(?![\w-])")
    for owner in owners([layout]):
        for name in _names(layout, owner):
            path = os.path.join(layout.receipts, owner, name)
            with contextlib.suppress(FileNotFoundError):
                if _strike(path, owner, word):
                    removed.append(f"rows about {identity} in pack {int(name.split('-')[0])} of {owner}")
    return removed


def _drop(layout: Layout, owner: str) -> list[str]:
    folder = os.path.join(layout.receipts, owner)
    if not is_id(owner) or not os.path.isdir(folder):
        return []
    names = layout.listed(folder)
    for name in names:
        fsio.remove(os.path.join(folder, name))
    with contextlib.suppress(OSError):
        fsio.ops.rmdir(folder)
    return [f"packs given to {owner}"] if names else []


def _strike(path: str, owner: str, word: re.Pattern[str]) -> bool:
    """Replaces the rows of one pack that contain a word by their hashes; deletes a damaged pack as a whole."""
    data = _content(path)
    if word.search(data) is None:
        return False
    try:
        kept = _read(path, owner)
    except CorruptLog:
        fsio.remove(path)
        return True
    head, *parts = json.loads(data)["parts"]
    struck = [{"erased": _leaf(part)} if word.search(_plain(part)) else part for part in parts]
    if word.search(_plain(head)):  # the question may contain it too; time and size stay
        head = {"erased": _leaf(head), **{name: head.get(name) for name in ("ts", "budget", "tokens")}}
    record = {"v": VERSION, "number": kept.number, "root": kept.root, "parts": [head, *struck]}
    fsio.replace(path, _bytes(record))
    return True


# ── files ────────────────────────────────────────────────────────────────────────────────────────


def _read(path: str, owner: str) -> StoredReceipt:
    with loose_records.judging(path, f", a pack given to {owner}, was changed"):
        found = json.loads(_content(path))
        parts, number, root = found["parts"], found["number"], found["root"]
        whole = isinstance(number, int) and all(isinstance(part, dict) for part in parts)
        if not whole or not parts or _root(map(_leaf, parts)) != root:
            raise ValueError("its lines do not match its root")
    return _kept(owner, path, parts, number, root)


def _content(path: str) -> str:
    with loose_records.judging(path, " cannot be read"):
        return fsio.read(path, limit=MAX_FILE).decode("utf-8")


def _kept(owner: str, path: str, parts: Sequence[Mapping[str, Any]], number: int, root: str) -> StoredReceipt:
    head = {name: value for name, value in parts[0].items() if name not in ("salt", "erased")}
    lines = tuple({k: v for k, v in part.items() if k != "salt"} for part in parts[1:])
    return StoredReceipt(owner, number, root, head, lines, path)


def _leaf(part: Mapping[str, Any]) -> str:
    """Returns the hash of one part; for an erased one, the stored hash."""
    gone = part.get("erased")
    if gone is not None:
        if not isinstance(gone, str) or not _HASH.fullmatch(gone):
            raise ValueError("it lacks a hash")
        return gone
    return hashlib.sha256(_plain(part).encode("utf-8", "backslashreplace")).hexdigest()


def _plain(part: Mapping[str, Any]) -> str:
    return json.dumps(part, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _root(leaves: Iterable[str]) -> str:
    return hashlib.sha256("".join(leaves).encode("ascii")).hexdigest()


def _bytes(record: Mapping[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def _names(layout: Layout, owner: str) -> list[str]:
    if not is_id(owner):
        return []
    return [name for name in layout.listed(os.path.join(layout.receipts, owner)) if _NAME.fullmatch(name)]


def _make_room(layout: Layout, owner: str) -> None:
    """Deletes the oldest packs of an owner, and all packs of the sessions whose last one is oldest."""
    for name in _names(layout, owner)[:-MOST]:
        fsio.remove(os.path.join(layout.receipts, owner, name))
    if not owner.startswith(f"{SESSION}-"):
        return
    there = [name for name in owners([layout]) if name.startswith(f"{SESSION}-") and name != owner]
    there.sort(key=lambda name: fsio.facts(os.path.join(layout.receipts, name))[1:2])  # by the time of its last pack
    for name in there[: max(0, len(there) - MOST_SESSIONS + 1)]:
        _drop(layout, name)
