"""A model that is a command: it reads texts as JSON lines and prints a vector as JSON line for each.

It is the user's own program, named in settings that no pull request can change. What it says is checked all
the same: as many lines as were asked for, each a list of numbers, all of one length, in bounded time and
size.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from subprocess import PIPE
from typing import IO, TYPE_CHECKING

from holdfast.errors import NoModel
from holdfast.index.embed.extras import Later
from holdfast.index.embed.model import MAX_SIZE, MAX_TEXT
from holdfast.index.embed.onnx import checked
from holdfast.model.text import visible

if TYPE_CHECKING:
    import numpy as np

    from holdfast.index.embed.model import Floats
else:
    np = Later("numpy")

AT_ONCE = 64  # texts that one start of the command is given
PATIENCE = 120.0  # seconds for them
_LONGEST = 200  # characters of a command, and of its complaint, that are told
_TAIL, _LAST_WORDS = 4096, 2.0  # bytes of its complaints; seconds until what it printed is read to the end
_A_NUMBER = 32  # bytes that one may take in its JSON


class CommandModel:
    """A command that embeds. It is started when something is asked, and not before."""

    def __init__(self, words: Sequence[str], *, patience: float = PATIENCE) -> None:
        self._words, self._patience = list(words), patience
        self._name = shlex.join(words)[:_LONGEST]
        self._size: int | None = None

    @property
    def size(self) -> int:
        """How many numbers a vector has: known once something was asked, else asked for now."""
        if self._size is None:
            self._asked(["a"], self._patience)
        return self._size or 0

    @property
    def key(self) -> str:
        said = json.dumps(["command-1", self.size, *self._words])
        return hashlib.sha256(said.encode("utf-8")).hexdigest()[:32]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """One vector of length one for each text."""
        some = range(0, len(texts), AT_ONCE)
        return np.concatenate([self._asked(texts[at : at + AT_ONCE], self._patience) for at in some])

    def question(self, text: str, *, patience: float | None = None) -> Floats:
        """The vector of what somebody asks, who waits so long at most."""
        found: Floats = self._asked([text], self._patience if patience is None else patience)[0]
        return found

    def _asked(self, texts: Sequence[str], patience: float) -> Floats:
        lines = "".join(json.dumps(text[:MAX_TEXT]) + "\n" for text in texts)
        said = self._run(lines.encode("utf-8"), most=len(texts) * MAX_SIZE * _A_NUMBER, patience=patience)
        try:
            found = np.array([_row(line) for line in said.splitlines() if line.strip()], dtype=np.float32)
        except (ValueError, TypeError, OverflowError, RecursionError) as error:
            raise NoModel(f"{self._name} prints no vectors: {str(error)[:200]}") from error
        found = checked(found, count=len(texts))
        if self._size not in (None, found.shape[1]):
            raise NoModel(f"{self._name} gives vectors of different lengths")
        self._size = int(found.shape[1])
        return found

    def _run(self, given: bytes, *, most: int, patience: float) -> bytes:
        """What the command prints; it and its children end when the time is over or it prints too much."""
        try:
            with tempfile.TemporaryFile() as texts:
                texts.write(given)
                texts.seek(0)
                process = subprocess.Popen(self._words, stdin=texts, stdout=PIPE, stderr=PIPE, start_new_session=True)
        except OSError as error:
            raise NoModel(f"{self._name} does not start: {error.strerror}") from error
        out, complaints = _Reader(process, process.stdout, most), _Reader(process, process.stderr)
        code = self._wait(process, patience, out, complaints)
        if out.is_over:
            raise NoModel(f"{self._name} prints more than {most} bytes")
        if code is None:
            raise NoModel(f"{self._name} took more than {round(patience, 1):g} seconds")
        if code:
            raise NoModel(f"{self._name} ended with exit code {code}{_last_line(complaints.said)}")
        return bytes(out.said)

    @staticmethod
    def _wait(process: subprocess.Popen[bytes], patience: float, *readers: _Reader) -> int | None:
        """Its exit code, once all it printed is read; None if the time was over before."""
        for reader in readers:
            reader.start()
        try:
            return process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
            for reader in readers:
                reader.join(_LAST_WORDS)


class _Reader(threading.Thread):
    """Takes in what a command prints: up to a bound, where the command ends, or else the last of it."""

    def __init__(self, process: subprocess.Popen[bytes], pipe: IO[bytes] | None, most: int | None = None) -> None:
        super().__init__(daemon=True)
        self._process, self._pipe, self._most = process, pipe, most
        self.said = bytearray()
        self.is_over = False

    def run(self) -> None:
        if self._pipe is None:
            return
        with self._pipe as pipe:
            while some := os.read(pipe.fileno(), 1 << 16):
                self.said += some
                if self._most is None:
                    del self.said[:-_TAIL]
                elif len(self.said) > self._most:
                    self.is_over = True
                    _kill(self._process)
                    return


def _row(line: bytes) -> list[float]:
    """A vector; words that look like numbers, and yes and no, are none."""
    found = json.loads(line)
    if not isinstance(found, list) or not all(type(one) in {int, float} for one in found):
        kinds = {type(one).__name__ for one in found} if isinstance(found, list) else {type(found).__name__}
        raise ValueError(f"a line is no list of numbers but of {', '.join(sorted(kinds))}")
    return found


def _last_line(complaints: bytes | bytearray) -> str:
    """What a command said last on stderr, to stand behind a sentence; nothing if it said nothing."""
    said = complaints.decode("utf-8", "replace").strip().splitlines()
    return f": {visible(said[-1].strip())[:_LONGEST]}" if said else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a command and of what it started."""
    _kill(process)
    process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:  # nothing is left
        pass
