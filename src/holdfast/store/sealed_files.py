"""Encrypted (sealed) recordings and event bodies: their form on disk, who may decrypt them, and the keys.

A sealed file has one sealed text in each row, bound to its run, its name and its number. A run's context and an event's
body stay JSON: the data for verification and look-up (hashes, times, ids) is clear, the rest is one field `sealed`. So
a normal reader sees no text and needs no key. `show`, `why` and `log` read inside `opening`, which applies only to this
thread; the index is built outside of it.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, Protocol

from holdfast.errors import HoldfastError, NotFound
from holdfast.patterns import regex
from holdfast.security.sealed_text import MARK, SECRET_BYTES, KeySource, SealingKey, StoredKey, TextVault, is_sealed
from holdfast.store import fsio
from holdfast.store.layout import Layout
from holdfast.values import dict_of, frozen, list_of

LOCKED = "[locked]"  # replaces a sealed text whose key is not here
FIELD = "sealed"
_PIECE = 1 << 20  # bytes that are sealed at once; a guess: bounds the memory
_MAX_KEY = 1 << 20  # bytes of a key's file; a guess: room for a long list of recipients
_NAME = regex(r"[0-9a-f]{16}\.json")
_COMMIT = regex(r"commit:[0-9a-f]{40,64}")
_TASK = regex(r"TSK-[0-9A-Za-z-]{1,40}")

Vault = Callable[[], TextVault]
_READER: ContextVar[Vault | None] = ContextVar("holdfast_reader", default=None)


@contextlib.contextmanager
def opening(vault: Vault | None) -> Iterator[None]:
    """Lets readers in the block decrypt with this vault; None: not at all."""
    before = _READER.set(vault)
    try:
        yield
    finally:
        _READER.reset(before)


def is_marked(data: bytes) -> bool:
    """Whether a file's bytes are sealed."""
    return data.startswith(MARK.encode())


# ── files of a recording ─────────────────────────────────────────────────────────────────────────


class FileSealer:
    """Seals one file of a run, piece by piece as it grows."""

    def __init__(self, vault: TextVault, run: str, name: str) -> None:
        self._vault, self._bound, self._count = vault, ("recording", run, name), 0

    def lines(self, data: bytes) -> bytes:
        """Returns the next bytes, encrypted."""
        rows = []
        for at in range(0, len(data), _PIECE):
            sealed = self._vault.seal_bytes("recordings", data[at : at + _PIECE], *self._bound, self._count)
            rows.append(f"{sealed}\n".encode())
            self._count += 1
        return b"".join(rows)


def opened(data: bytes, folder: str, name: str) -> bytes | None:
    """Returns the clear bytes of a file in a run's folder; None if it is sealed and cannot be opened here."""
    if not is_marked(data):
        return data
    vault = _READER.get()
    if vault is None:
        return None
    pieces = []
    whole, _, _ = data.rpartition(b"\n")  # an incomplete last row is from a writer that was killed
    for number, line in enumerate(whole.split(b"\n") if whole else ()):
        piece = vault().unseal_bytes(line.decode("ascii", "replace"), "recording", run_of(folder), name, number)
        if piece is None:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def run_of(folder: str) -> str:
    """Returns the run id of a folder, also while it is being created."""
    return os.path.basename(folder).removesuffix(".new")


# ── JSON with a clear part ───────────────────────────────────────────────────────────────────────


def seal_object(vault: TextVault, value: Mapping[str, Any], clear: Mapping[str, Any], *bound: object) -> dict[str, Any]:
    """Returns an object for the disk: the clear part, and the whole object sealed."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    # Compressed: sealed text is a third longer, and must not exceed the limit of a body.
    return {**clear, FIELD: vault.seal_bytes(str(bound[0]) + "s", zlib.compress(text), *bound)}


def is_sealed_object(value: object) -> bool:
    return isinstance(value, dict) and is_sealed(value.get(FIELD))


def open_object(value: dict[str, Any], *bound: object, closed: bool = False) -> tuple[dict[str, Any], bool]:
    """Returns an object with its sealed part decrypted, if possible here, and whether it was."""
    clear = {name: one for name, one in value.items() if name != FIELD}
    vault = None if closed else _READER.get()
    text = vault().unseal_bytes(value[FIELD], *bound) if vault else None
    if text is None:
        return clear, False
    return {**clear, **dict_of(json.loads(zlib.decompress(text).decode("utf-8", "surrogatepass")))}, True


_CONTEXT = (
    *("v", "run_id", "parent_run_id", "layer", "systemic_scale", "worktree", "anchor", "line"),
    *("started", "since_ns", "agent", "transcript", "session", "receipts"),
)


def clear_context(context: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of a run's context that is needed without a key: times, place, session; no text."""
    kept = {name: value if name in _CONTEXT else None for name, value in context.items()}
    if isinstance(context.get("agent"), dict):
        kept["agent"] = {**context["agent"], "title": None}  # often the first prompt
    return kept


_BODY = (
    *("output_sha256", "branch", "action", "status", "started", "ended", "session"),
    *("commit", "tree", "patch_id", "count"),
)


def clear_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the part of an event's body that is needed without a key: the recording's root, times, counts, ids."""
    kept = {name: body[name] for name in _BODY if isinstance(body.get(name), str | int)}
    kept["receipts"] = [one for one in list_of(body.get("receipts")) if isinstance(one, str) and _COMMIT.fullmatch(one)]
    numbers = {name: one for name, one in dict_of(body.get("outputs")).items() if isinstance(one, int | float)}
    if isinstance(body.get("task"), str) and _TASK.fullmatch(body["task"]):
        kept["task"] = body["task"]
    return {name: value for name, value in {**kept, "outputs": numbers}.items() if value not in ([], {})}


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────


@frozen(kw_only=True)
class KeyDescription:
    """A key for display; `created` is 0 if unknown."""

    id: str
    use: str
    created: int


class KeyShelf(Protocol):
    """A place that stores the list of keys, and wrapped keys."""

    def list(self) -> Sequence[StoredKey]: ...
    def put(self, key: StoredKey) -> None:
        """Adds a key that is not there yet."""

    def end(self, key: str) -> None:
        """Deletes a wrapped secret, and records that this key must never be used again."""


class KeyFolder:
    """The keys of a clone: one small JSON file for each, in its private store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def list(self) -> Sequence[StoredKey]:
        """Returns all keys, the oldest first; skips damaged files."""
        found = []
        for name in self._layout.listed(self._layout.keys):
            if _NAME.fullmatch(name):
                with contextlib.suppress(OSError, ValueError, HoldfastError):
                    record = dict_of(json.loads(fsio.read(os.path.join(self._layout.keys, name), limit=_MAX_KEY)))
                    ended = record.get("destroyed")
                    found.append(
                        StoredKey(
                            id=name[:16],
                            wrapped=str(record.get("wrapped") or ""),
                            created=int(record.get("created") or 0),
                            destroyed=None if ended is None else int(ended),
                        )
                    )
        return sorted(found, key=lambda one: (one.created, one.id))

    def put(self, key: StoredKey) -> None:
        if not os.path.lexists(self._path(key.id)):
            self._write(key)

    def end(self, key: str) -> None:
        now = time.time_ns() // 1000
        self._write(StoredKey(id=key, created=now, destroyed=now))

    def _write(self, key: StoredKey) -> None:
        fsio.make_dirs(self._layout.keys)
        record = {"wrapped": key.wrapped, "created": key.created, "destroyed": key.destroyed}
        fsio.replace(self._path(key.id), json.dumps(record).encode() + b"\n")

    def _path(self, key: str) -> str:
        return os.path.join(self._layout.keys, f"{key}.json")


class SealingKeys:
    """The keys of a project's sealed texts: lists, rotates and destroys them.

    `lock` is one file for all clones of a user, because they share a keyring. `join` adds the other places that store
    keys, with `also_on`; only listing and destroying keys needs them all.
    """

    def __init__(
        self,
        vault: TextVault,
        source: KeySource,
        shelf: KeyShelf,
        *,
        lock: str,
        join: Callable[[], object] = lambda: None,
    ) -> None:
        self.vault, self._source = vault, source
        self._lock, self._join = lock, join
        self._shelves = [shelf]
        self._is_open = False

    def also_on(self, shelf: KeyShelf) -> None:
        """Adds another place for keys; the places exchange what they have."""
        self._shelves.append(shelf)
        self._is_open = False

    def list(self) -> Sequence[StoredKey]:
        """Returns the keys of all places, the oldest first; a key destroyed in one place counts as destroyed."""
        found: dict[str, StoredKey] = {}
        for key in (one for shelf in self._shelves for one in shelf.list()):
            if key.id not in found or key.destroyed is not None:
                found[key.id] = key
        return sorted(found.values(), key=lambda one: (one.created, one.id))

    def unlock(self) -> TextVault:
        """Returns the vault with the available keys; creates the first key when it is needed."""
        if not self._is_open:
            if len(self._shelves) > 1:
                self._share()
            if not self._look() and self._is_first():
                with self._alone():  # two commands at once must not create two keys
                    if not self._look() and self._is_first():
                        self._add()
            self._is_open = True
        return self.vault

    def _share(self) -> None:
        for key in self.list():
            for shelf in self._shelves:
                there = {one.id: one for one in shelf.list()}.get(key.id)
                if there is None:
                    shelf.put(key)
                if key.destroyed is not None and (there is None or there.destroyed is None):
                    shelf.end(key.id)

    def _is_first(self) -> bool:
        """Whether a key is needed and no place has one: with a second key, clones could not read each other."""
        return bool(self.vault.scope) and self._source.makes and all(key.destroyed for key in self.list())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Holds the lock of the keys: a keyring has none, and is read, changed and written."""
        fsio.make_dirs(os.path.dirname(self._lock))
        with fsio.locked(self._lock):
            yield

    def described(self) -> Sequence[KeyDescription]:
        """Returns all keys of all places, the oldest first, with their use."""
        self._join()
        vault, known = self.unlock(), {key.id: key for key in self.list()}
        here = {key: StoredKey(id=key) for key in vault.key_ids}  # keys of a variable are stored in no place
        every = sorted({**here, **known}.values(), key=lambda one: (one.created, one.id))
        return [KeyDescription(id=key.id, use=self._use_of(key), created=key.created) for key in every]

    def _use_of(self, key: StoredKey) -> str:
        if key.destroyed is not None:
            return "destroyed"
        if key.id == self.vault.key_id:
            return "seals and opens"
        return "opens" if self.vault.opens(key.id) else "is not here"

    def rotate(self) -> str:
        """Adds a new key for all new texts; older texts keep their keys. Returns its id."""
        with self._alone():
            return self._add()

    def _add(self) -> str:
        secret = os.urandom(SECRET_BYTES)
        made = SealingKey.of(secret, self.vault.project)
        kept = StoredKey(id=made.id, wrapped=self._source.add(secret), created=time.time_ns() // 1000)
        for shelf in self._shelves:
            shelf.put(kept)
        self._look()
        return made.id

    def destroy(self, key: str) -> bool:
        """Destroys a key: its texts can never be read again. False if the user must still remove the secret elsewhere.

        Older copies of the store still have the wrapped key: only destroying the identities that unwrap it ends those.
        """
        self._join()
        self.unlock()
        if key not in {one.id for one in self.list()} and not self.vault.opens(key):
            raise NotFound(f"there is no key {key[:40]!r}", hint="List them with `holdfast keys`.")
        with self._alone():
            is_gone = self._source.destroy(self.vault.project, key)
            for shelf in self._shelves:
                shelf.end(key)
        self._look()
        return is_gone

    def _look(self) -> bool:
        """Reads the keys again; returns whether there is one to seal with."""
        stored = self.list()
        made = [SealingKey.of(secret, self.vault.project) for secret in self._source.secrets(stored)]
        self.vault.use(made, [key.id for key in stored if key.destroyed is not None])
        return self.vault.key_id is not None
