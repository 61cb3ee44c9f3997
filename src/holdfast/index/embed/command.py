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
from collections.abc import Sequence
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
_A_NUMBER = 32  # bytes that one may take in its JSON


class CommandModel:
    """A command that embeds."""

    def __init__(self, words: Sequence[str], *, patience: float = PATIENCE) -> None:
        self._words, self._patience = list(words), patience
        self._name = shlex.join(words)[:_LONGEST]
        self.size = int(self._asked(["a"]).shape[1])
        said = json.dumps(["command-1", self.size, *self._words])
        self.key = hashlib.sha256(said.encode("utf-8")).hexdigest()[:32]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """One vector of length one for each text."""
        parts = [self._asked(texts[at : at + AT_ONCE]) for at in range(0, len(texts), AT_ONCE)]
        if any(part.shape[1] != self.size for part in parts):
            raise NoModel(f"{self._name} gives vectors of different lengths")
        return np.concatenate(parts)

    def question(self, text: str) -> Floats:
        """The vector of what somebody asks."""
        found: Floats = self.vectors([text])[0]
        return found

    def _asked(self, texts: Sequence[str]) -> Floats:
        lines = "".join(json.dumps(text[:MAX_TEXT]) + "\n" for text in texts)
        said = self._run(lines.encode("utf-8"), most=len(texts) * MAX_SIZE * _A_NUMBER)
        try:
            rows = [json.loads(line) for line in said.splitlines() if line.strip()]
            found = np.array(rows, dtype=np.float32)
        except (ValueError, TypeError, RecursionError) as error:
            raise NoModel(f"{self._name} prints no vectors: {str(error)[:200]}") from error
        return checked(found, count=len(texts))

    def _run(self, given: bytes, *, most: int) -> bytes:
        """What the command prints; it and its children end when the time is over."""
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as texts,
            tempfile.TemporaryFile() as complaints,
        ):
            texts.write(given)
            texts.seek(0)
            try:
                process = subprocess.Popen(
                    self._words, stdin=texts, stdout=out, stderr=complaints, start_new_session=True
                )
            except OSError as error:
                raise NoModel(f"{self._name} does not start: {error.strerror}") from error
            self._wait(process, complaints)
            out.seek(0)
            said = out.read(most + 1)
        if len(said) > most:
            raise NoModel(f"{self._name} prints more than {most} bytes")
        return said

    def _wait(self, process: subprocess.Popen[bytes], complaints: IO[bytes]) -> None:
        try:
            code = process.wait(self._patience)
        except subprocess.TimeoutExpired:
            raise NoModel(f"{self._name} took more than {self._patience:g} seconds") from None
        finally:
            _end(process)
        if code:
            raise NoModel(f"{self._name} ended with exit code {code}{_last_line(complaints)}")


def _last_line(complaints: IO[bytes]) -> str:
    """What a command said last on stderr, to stand behind a sentence; nothing if it said nothing."""
    size = complaints.seek(0, os.SEEK_END)
    complaints.seek(max(0, size - 4096))
    said = complaints.read().decode("utf-8", "replace").strip().splitlines()
    return f": {visible(said[-1].strip())[:_LONGEST]}" if said else ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of a command and of what it started."""
    try:
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except OSError:  # nothing is left
        pass
    process.wait()
