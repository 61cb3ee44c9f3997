"""Recordings and event bodies that only a key opens: their form on disk, who may open them, and where keys lie.

A sealed file is one sealed text a line, each bound to its run, its name and its number. A run's context and an event's
body stay JSON: what verification and look-up need (hashes, times, ids) is in clear, the rest is one field `sealed`.
So a reader that does nothing special sees no words, and needs no key. `show`, `why` and `log` read inside `opening`,
which holds for this thread of control alone; the index is made outside of it.
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

LOCKED = "[locked]"  # stands where a text is sealed and its key is not here
FIELD = "sealed"
_PIECE = 1 << 20  # bytes that are sealed at once
_MAX_KEY = 1 << 20  # bytes of a key's file: a long list of recipients
_NAME = regex(r"[0-9a-f]{16}\.json")
_COMMIT = regex(r"commit:[0-9a-f]{40,64}")
_TASK = regex(r"TSK-[0-9A-Za-z-]{1,40}")

Vault = Callable[[], TextVault]
_READER: ContextVar[Vault | None] = ContextVar("holdfast_reader", default=None)


@contextlib.contextmanager
def opening(vault: Vault | None) -> Iterator[None]:
    """Let what is read meanwhile be opened by this vault; None: by nobody."""
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
        """The next bytes as they may lie on disk."""
        made = []
        for at in range(0, len(data), _PIECE):
            sealed = self._vault.seal_bytes("recordings", data[at : at + _PIECE], *self._bound, self._count)
            made.append(f"{sealed}\n".encode())
            self._count += 1
        return b"".join(made)


def opened(data: bytes, folder: str, name: str) -> bytes | None:
    """What a file of a run's folder says; None if it is sealed and stays closed."""
    if not is_marked(data):
        return data
    vault = _READER.get()
    if vault is None:
        return None
    pieces = []
    whole, _, _ = data.rpartition(b"\n")  # a line without its end was cut off when its writer was killed
    for number, line in enumerate(whole.split(b"\n") if whole else ()):
        piece = vault().unseal_bytes(line.decode("ascii", "replace"), "recording", run_of(folder), name, number)
        if piece is None:
            return None
        pieces.append(piece)
    return b"".join(pieces)


def run_of(folder: str) -> str:
    """The run whose folder this is, also while it is being made."""
    return os.path.basename(folder).removesuffix(".new")


# ── JSON of which a part stays in clear ──────────────────────────────────────────────────────────


def seal_object(vault: TextVault, value: Mapping[str, Any], clear: Mapping[str, Any], *bound: object) -> dict[str, Any]:
    """An object as it may lie on disk: the clear part, and all of it sealed."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    # Packed: sealed text is a third longer, and a body that is just small enough must stay so.
    return {**clear, FIELD: vault.seal_bytes(str(bound[0]) + "s", zlib.compress(text), *bound)}


def is_sealed_object(value: object) -> bool:
    return isinstance(value, dict) and is_sealed(value.get(FIELD))


def open_object(value: dict[str, Any], *bound: object, closed: bool = False) -> tuple[dict[str, Any], bool]:
    """An object with what its sealed part says, as far as it may be opened here; and whether it was."""
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
    """What of a run's context is needed without a key: when, where, which session; no words."""
    kept = {name: value if name in _CONTEXT else None for name, value in context.items()}
    if isinstance(context.get("agent"), dict):
        kept["agent"] = {**context["agent"], "title": None}  # often the first prompt
    return kept


_BODY = (
    *("output_sha256", "branch", "action", "status", "started", "ended", "session"),
    *("commit", "tree", "patch_id", "count"),
)


def clear_body(body: Mapping[str, Any]) -> dict[str, Any]:
    """What of an event's body is needed without a key: the root of its recording, times, counts, ids."""
    kept = {name: body[name] for name in _BODY if isinstance(body.get(name), str | int)}
    kept["receipts"] = [one for one in list_of(body.get("receipts")) if isinstance(one, str) and _COMMIT.fullmatch(one)]
    numbers = {name: one for name, one in dict_of(body.get("outputs")).items() if isinstance(one, int | float)}
    if isinstance(body.get("task"), str) and _TASK.fullmatch(body["task"]):
        kept["task"] = body["task"]
    return {name: value for name, value in {**kept, "outputs": numbers}.items() if value not in ([], {})}


# ── keys ─────────────────────────────────────────────────────────────────────────────────────────


@frozen(kw_only=True)
class KeyDescription:
    """A key as people may see it; `created` is 0 where nobody noted it."""

    id: str
    use: str
    created: int


class KeyShelf(Protocol):
    """A place that knows which keys there are; it holds those that are wrapped."""

    def list(self) -> Sequence[StoredKey]: ...
    def put(self, key: StoredKey) -> None:
        """Take a key that is not there yet."""

    def end(self, key: str) -> None:
        """Forget a wrapped secret, and that this key must never be used again."""


class KeyFolder:
    """The keys of a clone: a small JSON file each, in its private store."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def list(self) -> Sequence[StoredKey]:
        """All keys, the oldest first; a damaged file is none."""
        found = []
        for name in self._layout.listed(self._layout.keys):
            if _NAME.fullmatch(name):
                with contextlib.suppress(OSError, ValueError, HoldfastError):
                    told = dict_of(json.loads(fsio.read(os.path.join(self._layout.keys, name), limit=_MAX_KEY)))
                    ended = told.get("destroyed")
                    found.append(
                        StoredKey(
                            id=name[:16],
                            wrapped=str(told.get("wrapped") or ""),
                            created=int(told.get("created") or 0),
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
        told = {"wrapped": key.wrapped, "created": key.created, "destroyed": key.destroyed}
        fsio.replace(self._path(key.id), json.dumps(told).encode() + b"\n")

    def _path(self, key: str) -> str:
        return os.path.join(self._layout.keys, f"{key}.json")


class SealingKeys:
    """The keys of a project's sealed texts: which there are, a new one, and the end of one.

    `lock` is one file for all clones of a user, because they share a keyring. `join` brings in the other places that
    know keys, as `also_on`; only what shows or ends keys needs them all.
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
        """Keep keys there as well: what one place knows, the other learns."""
        self._shelves.append(shelf)
        self._is_open = False

    def list(self) -> Sequence[StoredKey]:
        """What is known of keys, the oldest first; one that any place calls destroyed is."""
        found: dict[str, StoredKey] = {}
        for key in (one for shelf in self._shelves for one in shelf.list()):
            if key.id not in found or key.destroyed is not None:
                found[key.id] = key
        return sorted(found.values(), key=lambda one: (one.created, one.id))

    def unlock(self) -> TextVault:
        """The vault, with the keys that are here; the first key is made when it is needed."""
        if not self._is_open:
            if len(self._shelves) > 1:
                self._share()
            if not self._look() and self._is_first():
                with self._alone():  # two first commands at once must not make two keys, and one keyring lose one
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
        """Whether a key is wanted and nobody has one: another one, made here, would part what was written."""
        return bool(self.vault.scope) and self._source.makes and all(key.destroyed for key in self.list())

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Hold the keys: a keyring has no lock, and is read, changed and written."""
        fsio.make_dirs(os.path.dirname(self._lock))
        with fsio.locked(self._lock):
            yield

    def described(self) -> Sequence[KeyDescription]:
        """All keys that any place knows, the oldest first, and what each is good for."""
        self._join()
        vault, known = self.unlock(), {key.id: key for key in self.list()}
        here = {key: StoredKey(id=key) for key in vault.key_ids}  # those of a variable are noted nowhere
        every = sorted({**here, **known}.values(), key=lambda one: (one.created, one.id))
        return [KeyDescription(id=key.id, use=self._use_of(key), created=key.created) for key in every]

    def _use_of(self, key: StoredKey) -> str:
        if key.destroyed is not None:
            return "destroyed"
        if key.id == self.vault.key_id:
            return "seals and opens"
        return "opens" if self.vault.opens(key.id) else "is not here"

    def rotate(self) -> str:
        """Seal with a new key from now on; what older ones sealed stays as it is. Gives its id."""
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
        """End a key: what it sealed can never be read again. False if its secret is still where only you can remove it.

        Copies from before still hold a wrapped key: they end with the identities that open it.
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
        """Read the keys again; whether one is there to seal with."""
        stored = self.list()
        made = [SealingKey.of(secret, self.vault.project) for secret in self._source.secrets(stored)]
        self.vault.use(made, [key.id for key in stored if key.destroyed is not None])
        return self.vault.key_id is not None
