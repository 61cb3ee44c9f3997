"""A sentence model from its weights: BERT as safetensors in, one ONNX file of int8 weights out.

The graph has everything in it: embeddings, the layers, the mean over the words that count, and the length
made one. What it gives for a text is a vector that can be compared at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from holdfast.errors import NoModel
from holdfast.index.embed.extras import Later
from holdfast.index.embed.graph import FLOAT, INT64, Graph

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]
else:
    np = Later("numpy")

# Processors without VNNI add two products in 16 bits: weights that use all of 8 bits run over now and then.
_RANGE: Final = 100
# A table of contents longer than this is none.
_LARGEST_HEADER = 10_000_000
_HIDDEN: Final = -10000.0  # what is added to the score of a word that does not count
_KINDS = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}


def read_weights(raw: bytes | memoryview) -> dict[str, Array]:
    """The arrays of a safetensors file: 8 bytes of length, a table as JSON, the numbers."""
    view = memoryview(raw)
    table, start = _contents(view)
    out = {}
    for name, entry in table.items():
        if name == "__metadata__":
            continue
        try:
            kind, shape, (first, last) = _KINDS[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
            body = view[start + first : start + last]
            out[name] = np.frombuffer(body, dtype=kind).reshape(shape)
        except (KeyError, TypeError, ValueError) as error:
            raise NoModel(f"the weights of {name} cannot be read: {error}") from error
    return out


def _contents(view: memoryview) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(view[:8], "little") if len(view) >= 8 else _LARGEST_HEADER + 1
    if length > min(_LARGEST_HEADER, len(view) - 8):
        raise NoModel("this is no file of weights (safetensors)")
    try:
        table = json.loads(bytes(view[8 : 8 + length]))
    except ValueError as error:
        raise NoModel(f"the table of the weights cannot be read: {error}") from error
    if not isinstance(table, dict):
        raise NoModel("the table of the weights is no table")
    return table, 8 + length


class Bert:
    """BERT of the given weights, written as a graph."""

    def __init__(self, weights: Mapping[str, Array], config: Mapping[str, Any], *, small: bool = True) -> None:
        self._weights = weights
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._size = int(config["hidden_size"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._small = small
        self._graph = Graph("sentence")

    def build(self) -> Graph:
        """The whole network: numbers of words and which of them count in, one vector a text out."""
        g = self._graph
        ids = g.input("input_ids", INT64, ("texts", "words"))
        mask = g.input("attention_mask", INT64, ("texts", "words"))
        counts = g.add("Cast", mask, to=FLOAT)
        hidden = self._embedded(ids)
        shown = self._shown(counts)
        for number in range(self._layers):
            hidden = self._layer(f"encoder.layer.{number}", hidden, shown)
        self._pooled(hidden, counts)
        return g

    def _embedded(self, ids: str) -> str:
        """The vector of each word and of its place; the kind of sentence is always the first."""
        g = self._graph
        place = self._w("embeddings.position_embeddings.weight")
        place = place + self._w("embeddings.token_type_embeddings.weight")[0]
        places = g.constant("places", place)
        length = g.add("Slice", g.add("Shape", ids), self._ints("one", 1), self._ints("two", 2))
        here = g.add("Slice", places, self._ints("zero", 0), length, self._ints("zero", 0))
        both = g.add("Add", self._words(ids), here)
        return self._normalised("embeddings.LayerNorm", both)

    def _words(self, ids: str) -> str:
        """The vectors of the words, from a table of int8 with one scale a word."""
        g = self._graph
        table = self._w("embeddings.word_embeddings.weight")
        if not self._small:
            return g.add("Gather", g.constant("words", table), ids)
        whole, scale = _quantised(table, axis=1, most=127)
        taken = g.add("Cast", g.add("Gather", g.constant("words", whole), ids), to=FLOAT)
        scales = g.add("Gather", g.constant("words.scale", scale), ids)
        return g.add("Mul", taken, scales)

    def _shown(self, counts: str) -> str:
        """0 where a word counts and a large negative number where it does not, over heads and places."""
        g = self._graph
        off = g.add("Sub", g.constant("1.0", np.array(1, np.float32)), counts)
        low = g.add("Mul", off, g.constant("hidden", np.array(_HIDDEN, np.float32)))
        return g.add("Unsqueeze", low, self._ints("one.two", 1, 2))

    def _layer(self, name: str, hidden: str, shown: str) -> str:
        g = self._graph
        seen = self._attention(f"{name}.attention", hidden, shown)
        hidden = self._normalised(f"{name}.attention.output.LayerNorm", g.add("Add", seen, hidden))
        wide = self._gelu(self._linear(hidden, f"{name}.intermediate.dense"))
        back = self._linear(wide, f"{name}.output.dense")
        return self._normalised(f"{name}.output.LayerNorm", g.add("Add", back, hidden))

    def _attention(self, name: str, hidden: str, shown: str) -> str:
        """What each word takes from the others; the three projections are one multiplication."""
        g = self._graph
        scale = np.float32((self._size // self._heads) ** -0.5)
        names = [f"{name}.self.{part}" for part in ("query", "key", "value")]
        weights = [self._w(f"{part}.weight").T for part in names]
        biases = [self._w(f"{part}.bias") for part in names]
        weights[0], biases[0] = weights[0] * scale, biases[0] * scale
        three = self._multiplied(hidden, f"{name}.qkv", np.concatenate(weights, axis=1), np.concatenate(biases))
        query, key, value = g.several("Split", three, outputs=3, axis=2)
        scores = g.add("MatMul", self._by_head(query, 0, 2, 1, 3), self._by_head(key, 0, 2, 3, 1))
        share = g.add("Softmax", g.add("Add", scores, shown), axis=3)
        taken = g.add("Transpose", g.add("MatMul", share, self._by_head(value, 0, 2, 1, 3)), perm=(0, 2, 1, 3))
        flat = g.add("Reshape", taken, self._ints("flat", 0, 0, self._size))
        return self._linear(flat, f"{name}.output.dense")

    def _by_head(self, value: str, *order: int) -> str:
        g = self._graph
        split = g.add("Reshape", value, self._ints("heads", 0, 0, self._heads, self._size // self._heads))
        return g.add("Transpose", split, perm=order)

    def _gelu(self, value: str) -> str:
        """x · (1 + erf(x / √2)) / 2, as onnxruntime knows how to join it into one operation."""
        g = self._graph
        root = g.constant("root", np.array(2**0.5, np.float32))
        one, half = g.constant("1.0", np.array(1, np.float32)), g.constant("half", np.array(0.5, np.float32))
        share = g.add("Add", g.add("Erf", g.add("Div", value, root)), one)
        return g.add("Mul", g.add("Mul", value, share), half)

    def _linear(self, value: str, name: str) -> str:
        return self._multiplied(value, name, self._w(f"{name}.weight").T, self._w(f"{name}.bias"))

    def _multiplied(self, value: str, name: str, weight: Array, bias: Array) -> str:
        """The value times the weights, plus the bias; in int8 the value's own scale is found at every run."""
        g = self._graph
        added = g.constant(f"{name}.bias", bias)
        if not self._small:
            return g.add("Add", g.add("MatMul", value, g.constant(f"{name}.weight", weight.copy())), added)
        whole, scale = _quantised(weight, axis=0)
        low, step, zero = g.several("DynamicQuantizeLinear", value, outputs=3)
        product = g.add("MatMulInteger", low, g.constant(f"{name}.weight", whole), zero)
        steps = g.add("Mul", step, g.constant(f"{name}.scale", scale.reshape(-1)))
        return g.add("Add", g.add("Mul", g.add("Cast", product, to=FLOAT), steps), added)

    def _normalised(self, name: str, value: str) -> str:
        g = self._graph
        scale = g.constant(f"{name}.weight", self._w(f"{name}.weight"))
        bias = g.constant(f"{name}.bias", self._w(f"{name}.bias"))
        return g.add("LayerNormalization", value, scale, bias, axis=-1, epsilon=self._epsilon)

    def _pooled(self, hidden: str, counts: str) -> None:
        """The mean over the words that count, made as long as one."""
        g = self._graph
        each = g.add("Unsqueeze", counts, self._ints("two", 2))
        total = g.add("ReduceSum", g.add("Mul", hidden, each), self._ints("one", 1), keepdims=0)
        least = g.constant("least", np.array(1e-9, np.float32))
        number = g.add("Max", g.add("ReduceSum", counts, self._ints("one", 1), keepdims=1), least)
        mean = g.add("Div", total, number)
        length = g.add("Max", g.add("ReduceL2", mean, axes=(1,), keepdims=1), least)
        g.output(g.add("Div", mean, length, named="vectors"), FLOAT, ("texts", self._size))

    def _w(self, name: str) -> Array:
        found = self._weights.get(name, self._weights.get(f"bert.{name}"))
        if found is None:
            raise NoModel(f"the weights have no {name}", hint="only BERT models can be built here")
        return found.astype(np.float32)

    def _ints(self, name: str, *values: int) -> str:
        return self._graph.constant(f"int.{name}", np.array(values, np.int64))


def _quantised(weight: Array, *, axis: int, most: int = _RANGE) -> tuple[Array, Array]:
    """Int8 weights with one scale for each line across `axis`, symmetric around zero."""
    scale = np.maximum(np.abs(weight).max(axis=axis, keepdims=True), 1e-12) / most
    whole = np.clip(np.rint(weight / scale), -most, most).astype(np.int8)
    return whole, scale.astype(np.float32)
