"""Receipts: the packs that agents were given, exactly as they were sent, and which revisions went in.

    receipts/<run or session>/<number>-<random>.json

A pack is kept as its lines, each with a salt of its own and the hash of both; the hash over all these hashes is the
pack's root. So one line can be removed when what it is about is erased: its hash stays, the words are gone and cannot
be guessed, and the root still proves every other line. When a run ends, its context.json records number, root and ids
of every pack; from there the capsule's own root covers them, and a pack that arrives too late stays out of the
capsule. What goes into a pack is decided by `recall`; this module only keeps it.
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
MOST = 64  # packs of one run or session; the oldest go
MOST_SESSIONS = 64  # sessions whose packs are kept; those of runs live as long as the run
MAX_FILE = 8 << 20
ERASED = "[erased]"
_NAME = regex(r"(\d{6,})-[0-9a-z]{8}\.json", re.ASCII)
_HASH = regex(r"[0-9a-f]{64}")
_SALT = 16  # bytes


@frozen
class StoredReceipt:
    """One pack as it was sent."""

    owner: str  # the run or session it was given to
    number: int  # the how-manieth of it
    root: str
    head: Mapping[str, Any]  # when, where, for what, of what size
    lines: tuple[Mapping[str, Any], ...]  # text and told; or only the hash of what was erased
    path: str

    @property
    def text(self) -> str:
        """The pack as the agent read it; erased lines say that they are."""
        return "".join(f"{line.get('text', ERASED)}\n" for line in self.lines)

    @property
    def told(self) -> list[Mapping[str, Any]]:
        """What went in: id, kind, revision, reason and section of everything the pack showed."""
        return [one for line in self.lines for one in line.get("told", ())]


def keep(
    layout: Layout,
    owner: str,
    *,
    head: Mapping[str, Any],
    lines: Iterable[Mapping[str, Any]],
    stores: Sequence[Layout] = (),
) -> StoredReceipt:
    """Store a pack, durable on return; the oldest of its owner go when there are very many."""
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
    """Every pack of a run or a session, in order; what is damaged is left out and said."""
    found: dict[str, StoredReceipt] = {}
    for store in stores:
        paths = [os.path.join(store.receipts, owner, name) for name in _names(store, owner)]
        for kept in loose_records.sound(store, lambda path: _read(path, owner), paths):
            found.setdefault(kept.root, kept)
    return sorted(found.values(), key=lambda one: (one.number, str(one.head.get("ts"))))


def owners(stores: Iterable[Layout]) -> list[str]:
    """The runs and sessions that packs were given to."""
    return sorted({name for store in stores for name in store.listed(store.receipts) if is_id(name)})


def hand_over(layout: Layout, owner: str, to: str) -> None:
    """Give the packs of one session to another: they were sent before its owner was known."""
    names = _names(layout, owner)
    if names:
        fsio.make_dirs(os.path.join(layout.receipts, to))
    for name in names:
        fsio.move(os.path.join(layout.receipts, owner, name), os.path.join(layout.receipts, to, name))
    with contextlib.suppress(OSError):
        fsio.ops.rmdir(os.path.join(layout.receipts, owner))


def share(layout: Layout, packs: Iterable[StoredReceipt], run_id: str) -> None:
    """Keep packs of a session with a run of it, too: they live as long as the run, and it proves them."""
    for kept in packs:
        path = os.path.join(layout.receipts, run_id, os.path.basename(kept.path))
        if not os.path.lexists(path):
            fsio.make_dirs(os.path.dirname(path))
            fsio.replace(path, fsio.read(kept.path, limit=MAX_FILE))


# ── with a run ───────────────────────────────────────────────────────────────────────────────────


def take_up(stores: Iterable[Layout], run_id: str, context: Mapping[str, Any]) -> dict[str, Any] | None:
    """A run's context with the packs it was given; None if there were none. Asked again it gives the same.

    No word and no hash of a text goes in: only what may stay when something that the pack showed is erased.
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
    """What is wrong with the packs a run's context names: changed, or missing though nobody dropped it."""
    listed = entries(context)
    newest = max((one["number"] for one in listed), default=0)
    there = {kept.root for kept in read(stores, run_id)}
    wrong = (one for one in listed if one["root"] not in there and one["number"] > newest - MOST)
    return [f"pack {one['number']} of run {run_id} was changed or is missing" for one in wrong]


def entries(context: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a run's context says of the packs it was given; what is damaged does not count."""
    rows = dicts_of(context.get("receipts"))
    return [one for one in rows if isinstance(one.get("number"), int) and isinstance(one.get("root"), str)]


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────


def erase(layout: Layout, identity: str) -> list[str]:
    """Take a run's or a session's packs away, and every line that tells of `identity` out of the others."""
    removed = _drop(layout, identity)
    word = re.compile(rf"(?<![\w-]){re.escape(identity)}(?![\w-])")
    for owner in owners([layout]):
        for name in _names(layout, owner):
            path = os.path.join(layout.receipts, owner, name)
            with contextlib.suppress(FileNotFoundError):
                if _strike(path, owner, word):
                    removed.append(f"what pack {int(name.split('-')[0])} of {owner} told of {identity}")
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
    """Replace the lines of one pack that hold a word by their hashes; a damaged pack goes as a whole."""
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
    if word.search(_plain(head)):  # what was asked may say it, too; when and where stays
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
    """The hash that stands for one part; of what was erased it is all that is left."""
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
    """Drop the oldest packs of an owner, and all of the sessions that were longest not given one."""
    for name in _names(layout, owner)[:-MOST]:
        fsio.remove(os.path.join(layout.receipts, owner, name))
    if not owner.startswith(f"{SESSION}-"):
        return
    there = [name for name in owners([layout]) if name.startswith(f"{SESSION}-") and name != owner]
    there.sort(key=lambda name: fsio.facts(os.path.join(layout.receipts, name))[1:2])  # when it was given the last one
    for name in there[: max(0, len(there) - MOST_SESSIONS + 1)]:
        _drop(layout, name)
