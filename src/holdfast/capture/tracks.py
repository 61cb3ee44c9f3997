"""A run's streams on their way to disk: redacted first, kept up to a limit, beyond it counted and hashed.

Nothing here ever stops the command: what cannot be recorded becomes a warning, once per stream.
"""

import hashlib
import os
from collections.abc import Callable
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.security.redact import Scanner, Stream
from holdfast.store.capsule import Capsule, Sink

Warn = Callable[[str], None]


class Track:
    """One stream of one run."""

    def __init__(self, name: str, sink: Sink | None, scan: Scanner, *, limit: int, warn: Warn) -> None:
        self.name, self.count, self.kept, self.truncated = name, 0, 0, False
        self._sink, self._scan = sink, scan
        self._stream: Stream | None = None
        self._limit, self._warn = limit, warn
        self._digest, self._kept_digest = hashlib.sha256(), hashlib.sha256()

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes; a secret cut in two by a chunk's end is still one secret."""
        self.count += len(chunk)
        self._digest.update(chunk)
        if self._sink is not None:
            try:
                self._stream = self._stream or self._scan.stream()
                self._keep(self._stream.feed(chunk))
            except HoldfastError as error:
                self._give_up(error)

    def finish(self) -> None:
        """Write what the scanner still held back."""
        if self._sink is not None and self._stream is not None:
            try:
                self._keep(self._stream.finish())
            except HoldfastError as error:
                self._give_up(error)
        self._close()

    def facts(self) -> dict[str, Any]:
        """What the event says of this stream."""
        told: dict[str, Any] = {f"{self.name}_bytes": self.count}
        if self.truncated:
            # Too much to guess from, so the hash of the raw bytes gives no secret away.
            told[f"{self.name}_sha256"] = self._digest.hexdigest()
        return told

    def given(self) -> dict[str, Any]:
        """What the event says of it as an input; the hash is that of the copy, so it gives no secret away."""
        digest = self._digest if self.truncated else self._kept_digest
        return {"sha256": digest.hexdigest(), "size": self.count}

    def _keep(self, clean: bytes) -> None:
        room = self._limit - self.kept
        if self._sink is not None and clean:
            self._sink.write(clean[:room])
            self._kept_digest.update(clean[:room])
        self.kept += min(len(clean), room)
        if len(clean) > room:
            self.truncated = True
            self._close()

    def _give_up(self, error: HoldfastError) -> None:
        self.truncated = True
        self._warn(f"{self.name} is not recorded in full: {error}")
        self._close()

    def _close(self) -> None:
        if self._sink is not None:
            self._sink.close()
            self._sink = None


class Tracks:
    """All streams of one run, each begun with its first byte."""

    def __init__(self, capsule: Capsule | None, scan: Scanner, *, limit: int, warn: Warn) -> None:
        self._capsule, self._scan, self._limit, self._warn = capsule, scan, limit, warn
        self._tracks: dict[str, Track] = {}

    def feed(self, name: str, chunk: bytes) -> None:
        """Take bytes of a stream: stdin, stdout, stderr or terminal."""
        self.begin(name).feed(chunk)

    def begin(self, name: str) -> Track:
        """The track of a stream, made on first sight."""
        if name not in self._tracks:
            self._tracks[name] = Track(name, self._sink(name), self._scan, limit=self._limit, warn=self._warn)
        return self._tracks[name]

    def _sink(self, name: str) -> Sink | None:
        if self._capsule is None:
            return None
        try:
            return self._capsule.open_output(f"{'inputs' if name == 'stdin' else 'outputs'}/{name}")
        except (HoldfastError, OSError) as error:
            self._warn(f"{name} is not recorded: {error}")
            return None

    def copy_file(self, name: str, handle: int) -> None:
        """Record a file given as input from where it stands, without moving it for the command."""
        try:
            at = os.lseek(handle, 0, os.SEEK_CUR)
            left = self._limit + 1
            while left > 0 and (chunk := os.pread(handle, min(left, 1 << 16), at)):
                self.feed(name, chunk)
                at += len(chunk)
                left -= len(chunk)
        except OSError as error:
            self._warn(f"{name} is not recorded: {error.strerror}")

    def finish(self) -> dict[str, dict[str, Any]]:
        """End all streams; gives what is to be told of inputs and of outputs."""
        told: dict[str, dict[str, Any]] = {"inputs": {}, "outputs": {}}
        for name, track in self._tracks.items():
            track.finish()
            if name == "stdin":
                told["inputs"][name] = track.given()
            else:
                told["outputs"].update(track.facts())
        cut = sorted(name for name, track in self._tracks.items() if track.truncated)
        if cut:
            told["outputs"]["truncated"] = cut
        return told
