"""Bodies: the free text of events, kept apart so that one can be erased and the log still holds.

A body's file is its salt and its bytes; its name commits to both. Without the salt a short secret
could be guessed from the name, so both go together.
"""

import json
import os
from typing import Any

from holdfast.errors import CorruptLog
from holdfast.store import fsio
from holdfast.store.format import MAX_BODY, SALT_BYTES, body_name
from holdfast.store.layout import Layout

_SMALL, _MANY = 4096, 1 << 16  # bytes of a body, and bodies, that are kept in mind


class Bodies:
    """The bodies this clone holds."""

    def __init__(self, *layouts: Layout) -> None:
        self._layouts = layouts  # the first takes new bodies, all are read
        self._read: dict[str, dict[str, Any]] = {}  # what was read and proved before, as long as it is there

    def put(self, data: bytes) -> str:
        """Store a body, durable on return, and give its name."""
        stored = os.urandom(SALT_BYTES) + data
        name = body_name(stored)
        fsio.create(self._layouts[0].body(name), stored)
        return name

    def raw(self, name: str) -> bytes | None:
        """The stored bytes, unchecked, or None if they are not here."""
        for layout in self._layouts:
            try:
                return fsio.read(layout.body(name), limit=SALT_BYTES + MAX_BODY)
            except (FileNotFoundError, NotADirectoryError):
                continue
        return None

    def get(self, name: str) -> dict[str, Any] | None:
        """A body that matches its name, or None if it is not here."""
        if name in self._read and self.has(name):
            return dict(self._read[name])
        stored = self.raw(name)
        if stored is None:
            return None
        if body_name(stored) != name:
            raise CorruptLog(f"body {name} does not match its name: it was altered")
        loaded: dict[str, Any] = json.loads(stored[SALT_BYTES:])
        if len(stored) <= _SMALL and len(self._read) < _MANY:
            self._read[name] = loaded
        return dict(loaded)

    def has(self, name: str) -> bool:
        return any(os.path.lexists(layout.body(name)) for layout in self._layouts)

    def drop(self, name: str) -> None:
        """Forget a body and its salt."""
        self._read.pop(name, None)
        for layout in self._layouts:
            fsio.remove(layout.body(name))
