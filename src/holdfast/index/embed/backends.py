"""The two kinds of embedding model: a folder with an ONNX file, and a command of the user's.

A folder contains `model.onnx` and `tokenizer.json`, run by onnxruntime on one core. Ours return one finished vector a
text; others often one a word, and then the mean over the words that count is computed here. The usual files of sentence
models beside them are read (the maximum number of words, the prefix of a question).

A command reads texts as JSON lines and prints a vector as a JSON line for each. It is the user's own program, named in
settings that no pull request can change. Its answer is checked all the same: one line for each text, each a list of
numbers, all of one length, in bounded time and size.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from subprocess import PIPE
from typing import IO, TYPE_CHECKING, Any

from holdfast.errors import NoModel
from holdfast.index.embed.embedding_model import CARD, MAX_SIZE, MAX_TEXT, NETWORK, TOKENS, LazyPackage, PackageErrors
from holdfast.model.text import visible
from holdfast.values import dict_of

if TYPE_CHECKING:
    import numpy as np

    from holdfast.index.embed.embedding_model import Floats

    onnxruntime: Any
    tokenizers: Any
else:
    np, onnxruntime, tokenizers = LazyPackage("numpy"), LazyPackage("onnxruntime"), LazyPackage("tokenizers")

WORDS = 256  # that a model reads unless its folder says otherwise: MiniLM's own limit
MOST_WORDS = 512  # the positions of BERT models
WORDS_AT_ONCE = 1024  # words in one run: more at once is no faster on one core and takes more memory
_MAX_JSON = 1 << 20  # bytes of a settings file; a guess: they have a few hundred
_FORM = "onnx-1"  # changed whenever the same files would return other vectors


class OnnxModel:
    """The model in a folder."""

    def __init__(self, folder: str, *, check: bool = False) -> None:
        """`check`: refuse files that differ from those in the folder's card, which we wrote."""
        self._folder, files = folder, card(folder)
        if check and _read(folder, CARD).get("files") != files:
            raise NoModel(f"the model in {folder} is damaged", hint="Build it again: holdfast model add")
        self.key = hashlib.sha256("\n".join([_FORM, *files.values()]).encode("ascii")).hexdigest()[:32]
        prompts = dict_of(_read(folder, "config_sentence_transformers.json").get("prompts"))
        self._before_question = str(prompts.get("query") or "")
        self._before_text = str(prompts.get("document") or prompts.get("passage") or "")
        with PackageErrors(f"the model in {folder} cannot be loaded"):
            said = _read(self._folder, "sentence_bert_config.json").get("max_seq_length")
            words = min(said, MOST_WORDS) if isinstance(said, int) and said > 8 else WORDS
            found = tokenizers.Tokenizer.from_file(os.path.join(self._folder, TOKENS))
            found.no_padding()
            found.enable_truncation(words)
            self._tokens = found
            options = onnxruntime.SessionOptions()
            # One core, and sleeping while it waits: spinning threads would block a busy machine.
            options.intra_op_num_threads = options.inter_op_num_threads = 1
            options.add_session_config_entry("session.intra_op.allow_spinning", "0")
            options.log_severity_level = 4  # errors come to us, not to the terminal
            path = os.path.join(self._folder, NETWORK)
            self._session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self._wants = {one.name for one in self._session.get_inputs()}
        # The output to read: one vector a text if available, else one a word.
        given = self._session.get_outputs()
        flat = [one.name for one in given if len(one.shape) == 2]
        self._gives = flat[0] if flat else str(given[0].name)
        self.size = int(self.vectors(["a"]).shape[1])

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Returns one vector of length one for each text."""
        with PackageErrors(f"the model in {self._folder} does not answer"):
            return self._vectors([self._before_text + text[:MAX_TEXT] for text in texts])

    def question(self, text: str) -> Floats:
        """Returns the vector of a question."""
        with PackageErrors(f"the model in {self._folder} does not answer"):
            found: Floats = self._vectors([self._before_question + text[:MAX_TEXT]])[0]
            return found

    def _vectors(self, texts: list[str]) -> Floats:
        encoded = [one.ids or [0] for one in self._tokens.encode_batch(texts)]
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
        found: dict[int, Floats] = {}
        for batch in _batches(order, encoded):
            found.update(zip(batch, self._run([encoded[place] for place in batch]), strict=True))
        stacked: Floats = np.stack([found[place] for place in range(len(texts))])
        return stacked

    def _run(self, batch: list[list[int]]) -> Floats:
        ids = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(batch):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        asked = {name: value for name, value in given.items() if name in self._wants}
        out = self._session.run([self._gives], asked)[0].astype(np.float32)
        if out.ndim == 3:
            out = (out * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return checked(out, count=len(batch))


def checked(found: Floats, *, count: int) -> Floats:
    """Returns the vectors with length one; NoModel if they are invalid."""
    if found.ndim != 2 or found.shape[0] != count or not 1 < found.shape[1] <= MAX_SIZE:
        raise NoModel(f"the model returned {'×'.join(map(str, found.shape))} numbers for {count} texts")
    length = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(found).all() or not length.all():
        raise NoModel("the model returned vectors that are empty or not numbers")
    shortened: Floats = (found / length).astype(np.float32)
    return shortened


def _batches(order: Sequence[int], encoded: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Yields positions of texts, shortest first, as many together as one run may have words."""
    batch: list[int] = []
    for place in order:
        if batch and (len(batch) + 1) * len(encoded[place]) > WORDS_AT_ONCE:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def card(folder: str) -> dict[str, str]:
    """Returns the hashes of a model's files, from its card."""
    return {name: _digest(os.path.join(folder, name)) for name in (NETWORK, TOKENS)}


def is_whole(folder: str) -> bool:
    """Whether the files of a folder that we wrote match its card."""
    try:
        return _read(folder, CARD).get("files") == card(folder)
    except NoModel:
        return False


def _digest(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NoModel(f"{path} cannot be read: {error.strerror}") from error


def _read(folder: str, name: str) -> dict[str, Any]:
    """Returns a small JSON object next to a model; empty if it is missing or invalid."""
    try:
        with open(os.path.join(folder, name), "rb") as file:
            return dict_of(json.loads(file.read(_MAX_JSON)))
    except (OSError, ValueError, RecursionError):
        return {}


TEXTS_AT_ONCE = 64  # texts for one start of the command; a guess: its start may be slow
PATIENCE = 120.0  # seconds for them; a guess: it may load a large model first
_LONGEST = 200  # characters of a command, and of its error, that are shown; a guess
_TAIL, _LAST_WORDS = 4096, 2.0  # bytes of its stderr; seconds to read the rest of its output; guesses
_A_NUMBER = 32  # bytes of a number in the command's JSON: more than any double needs


class CommandModel:
    """A command that embeds. It starts only when a text is embedded."""

    def __init__(self, words: Sequence[str], *, patience: float = PATIENCE) -> None:
        self._words, self._patience = list(words), patience
        self._name = shlex.join(words)[:_LONGEST]
        self._size: int | None = None

    @property
    def size(self) -> int:
        """Returns the length of a vector: from an earlier answer, else by a request."""
        if self._size is None:
            self._asked(["a"], self._patience)
        return self._size or 0

    @property
    def key(self) -> str:
        return hashlib.sha256(json.dumps(["command-1", self.size, *self._words]).encode("utf-8")).hexdigest()[:32]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Returns one vector of length one for each text."""
        some = range(0, len(texts), TEXTS_AT_ONCE)
        return np.concatenate([self._asked(texts[at : at + TEXTS_AT_ONCE], self._patience) for at in some])

    def question(self, text: str, *, patience: float | None = None) -> Floats:
        """Returns the vector of a question, within so many seconds."""
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
            raise NoModel(f"{self._name} printed vectors of different lengths")
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
        """Returns its exit code, once all its output is read; None if the time was over before."""
        for reader in readers:
            reader.start()
        try:
            return process.wait(patience)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _kill(process)
            process.wait()  # its remaining processes are gone
            for reader in readers:
                reader.join(_LAST_WORDS)


class _Reader(threading.Thread):
    """Reads a command's output: up to a limit, where the command is ended, or else only the last part."""

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
    """Returns a vector; strings that look like numbers, and booleans, are refused."""
    found = json.loads(line)
    if not isinstance(found, list):
        raise ValueError(f"a line is {type(found).__name__}, not a list of numbers")
    kinds = {type(one).__name__ for one in found}
    if not kinds <= {"int", "float"}:
        raise ValueError(f"a line is a list of {', '.join(sorted(kinds))}, not of numbers")
    return list(found)


def _last_line(complaints: bytes | bytearray) -> str:
    """Returns the last line of a command's stderr, to follow a sentence; empty if there is none."""
    said = complaints.decode("utf-8", "replace").strip().splitlines()
    return f": {visible(said[-1].strip())[:_LONGEST]}" if said else ""


def _kill(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):  # no process is left
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
