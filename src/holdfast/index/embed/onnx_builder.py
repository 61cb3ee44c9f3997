"""Builds a sentence model from its weights: BERT as safetensors in, one ONNX file with int8 weights out.

The graph contains everything: embeddings, the layers, the mean over the words that count, and the normalisation. Its
result for a text can be compared directly. The few messages of the ONNX format are written here, not by the `onnx`
package: 20 MB with two dependencies are too much for a file that is written once, and onnxruntime checks all of it.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from holdfast.errors import NoModel
from holdfast.index.embed.embedding_model import LazyPackage

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[Any]
else:
    np = LazyPackage("numpy")

# onnxruntime reads files of these versions since its version 1.13 (2022).
FORMAT = 8
OPERATORS = 17
FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
_KINDS = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
_VARINT, _BYTES, _FOUR_BYTES = 0, 2, 5
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

Value = int | float | Sequence[int]


class OnnxGraph:
    """A network under construction: every operation returns the name of its result."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._made = 0

    def input(self, name: str, kind: int, shape: Sequence[str | int]) -> str:
        """Adds an input of every run."""
        self._inputs.append(_described(name, kind, shape))
        return name

    def output(self, name: str, kind: int, shape: Sequence[str | int]) -> None:
        """Adds the value `name` as an output."""
        self._outputs.append(_described(name, kind, shape))

    def constant(self, name: str, value: Array) -> str:
        """Adds a value that is part of the network (a weight); the same name twice is the same value."""
        if name not in self._constants:
            self._constants[name] = _tensor(name, value)
        return name

    def add(self, operation: str, *inputs: str, named: str = "", **options: Value) -> str:
        """Adds an operation with one result."""
        return self.several(operation, *inputs, outputs=1, named=named, **options)[0]

    def several(self, operation: str, *inputs: str, outputs: int, named: str = "", **options: Value) -> list[str]:
        """Adds an operation with several results."""
        self._made += 1
        names = [named] if named else [f"{operation}_{self._made}_{n}" for n in range(outputs)]
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in names)
        body += _text(3, f"{operation}_{self._made}") + _text(4, operation)
        body += b"".join(_field(5, _attribute(key, value)) for key, value in options.items())
        self._nodes.append(body)
        return names

    def pieces(self) -> Iterator[bytes]:
        """Yields the file in pieces: its weights are too large to be copied twice."""
        graph = [_field(1, node) for node in self._nodes]
        graph.append(_text(2, self._name))
        graph += [part for body in self._constants.values() for part in (_head(5, len(body)), body)]
        graph += [_field(11, body) for body in self._inputs]
        graph += [_field(12, body) for body in self._outputs]
        yield _number(1, FORMAT) + _text(2, "holdfast")
        yield _head(7, sum(map(len, graph)))
        yield from graph
        yield _field(8, _text(1, "") + _number(2, OPERATORS))


def _described(name: str, kind: int, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(_field(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape)
    return _text(1, name) + _field(2, _field(1, _number(1, kind) + _field(2, sizes)))


def _tensor(name: str, value: Array) -> bytes:
    sizes = b"".join(_number(1, size) for size in value.shape)
    little = value.astype(value.dtype.newbyteorder("<"), order="C", copy=False)
    return sizes + _number(2, _KINDS[value.dtype.name]) + _text(8, name) + _field(9, little.tobytes())


def _attribute(name: str, value: Value) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _ATTRIBUTE_INT)
    if isinstance(value, float):
        number = _varint(2 << 3 | _FOUR_BYTES) + struct.pack("<f", value)
        return _text(1, name) + number + _number(20, _ATTRIBUTE_FLOAT)
    return _text(1, name) + b"".join(_number(8, one) for one in value) + _number(20, _ATTRIBUTE_INTS)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3 | _VARINT) + _varint(value & 0xFFFFFFFFFFFFFFFF)


def _text(field: int, value: str) -> bytes:
    return _field(field, value.encode("utf-8"))


def _field(field: int, body: bytes) -> bytes:
    return _head(field, len(body)) + body


def _head(field: int, length: int) -> bytes:
    return _varint(field << 3 | _BYTES) + _varint(length)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


# Processors without VNNI add two products in 16 bits: weights that use all of 8 bits overflow now and then.
_RANGE: Final = 100
# Bytes; a guess: a longer table of contents is invalid.
_LARGEST_HEADER = 10_000_000
_HIDDEN: Final = -10000.0  # added to the score of a word that does not count, as in BERT itself
_TENSOR_KINDS = {"F32": "<f4", "F16": "<f2", "I64": "<i8"}


def read_weights(raw: bytes | memoryview) -> dict[str, Array]:
    """Returns the arrays of a safetensors file: 8 bytes of length, a table as JSON, the numbers."""
    view = memoryview(raw)
    table, start = _contents(view)
    out = {}
    for name, entry in table.items():
        if name == "__metadata__":
            continue
        try:
            kind, shape, (first, last) = _TENSOR_KINDS[entry["dtype"]], tuple(entry["shape"]), entry["data_offsets"]
            out[name] = np.frombuffer(view[start + first : start + last], dtype=kind).reshape(shape)
        except (KeyError, TypeError, ValueError) as error:
            raise NoModel(f"the weights of {name} cannot be read: {error}") from error
    return out


def _contents(view: memoryview) -> tuple[dict[str, Any], int]:
    length = int.from_bytes(view[:8], "little") if len(view) >= 8 else _LARGEST_HEADER + 1
    if length > min(_LARGEST_HEADER, len(view) - 8):
        raise NoModel("this is not a file of weights (safetensors)")
    try:
        table = json.loads(bytes(view[8 : 8 + length]))
    except ValueError as error:
        raise NoModel(f"the table of the weights cannot be read: {error}") from error
    if not isinstance(table, dict):
        raise NoModel("the table of the weights is invalid")
    return table, 8 + length


class Bert:
    """BERT with the given weights, as a graph."""

    def __init__(self, weights: Mapping[str, Array], config: Mapping[str, Any], *, small: bool = True) -> None:
        self._weights = weights
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._size = int(config["hidden_size"])
        self._epsilon = float(config.get("layer_norm_eps", 1e-12))
        self._small = small
        self._graph = OnnxGraph("sentence")

    def build(self) -> OnnxGraph:
        """Returns the whole network: numbers of words and which of them count in, one vector a text out."""
        g = self._graph
        ids = g.input("input_ids", INT64, ("texts", "words"))
        counts = g.add("Cast", g.input("attention_mask", INT64, ("texts", "words")), to=FLOAT)
        hidden = self._embedded(ids)
        shown = self._shown(counts)
        for number in range(self._layers):
            hidden = self._layer(f"encoder.layer.{number}", hidden, shown)
        self._pooled(hidden, counts)
        return g

    def _embedded(self, ids: str) -> str:
        """Returns the vector of each word and its position; the kind of sentence is always the first."""
        g = self._graph
        place = self._w("embeddings.position_embeddings.weight")
        place = place + self._w("embeddings.token_type_embeddings.weight")[0]
        places = g.constant("places", place)
        length = g.add("Slice", g.add("Shape", ids), self._ints("one", 1), self._ints("two", 2))
        here = g.add("Slice", places, self._ints("zero", 0), length, self._ints("zero", 0))
        return self._normalised("embeddings.LayerNorm", g.add("Add", self._words(ids), here))

    def _words(self, ids: str) -> str:
        """Returns the vectors of the words, from a table of int8 with one scale a word."""
        g = self._graph
        table = self._w("embeddings.word_embeddings.weight")
        if not self._small:
            return g.add("Gather", g.constant("words", table), ids)
        whole, scale = _quantised(table, axis=1, most=127)
        taken = g.add("Cast", g.add("Gather", g.constant("words", whole), ids), to=FLOAT)
        return g.add("Mul", taken, g.add("Gather", g.constant("words.scale", scale), ids))

    def _shown(self, counts: str) -> str:
        """Returns 0 for a word that counts and a large negative number otherwise, over heads and positions."""
        g = self._graph
        off = g.add("Sub", g.constant("1.0", np.array(1, np.float32)), counts)
        low = g.add("Mul", off, g.constant("hidden", np.array(_HIDDEN, np.float32)))
        return g.add("Unsqueeze", low, self._ints("one.two", 1, 2))

    def _layer(self, name: str, hidden: str, shown: str) -> str:
        g = self._graph
        seen = self._attention(f"{name}.attention", hidden, shown)
        hidden = self._normalised(f"{name}.attention.output.LayerNorm", g.add("Add", seen, hidden))
        back = self._linear(self._gelu(self._linear(hidden, f"{name}.intermediate.dense")), f"{name}.output.dense")
        return self._normalised(f"{name}.output.LayerNorm", g.add("Add", back, hidden))

    def _attention(self, name: str, hidden: str, shown: str) -> str:
        """Returns the attention of each word to the others; the three projections are one multiplication."""
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
        return self._linear(g.add("Reshape", taken, self._ints("flat", 0, 0, self._size)), f"{name}.output.dense")

    def _by_head(self, value: str, *order: int) -> str:
        g = self._graph
        split = g.add("Reshape", value, self._ints("heads", 0, 0, self._heads, self._size // self._heads))
        return g.add("Transpose", split, perm=order)

    def _gelu(self, value: str) -> str:
        """Returns x · (1 + erf(x / √2)) / 2, in the form that onnxruntime joins into one operation."""
        g = self._graph
        root = g.constant("root", np.array(2**0.5, np.float32))
        one, half = g.constant("1.0", np.array(1, np.float32)), g.constant("half", np.array(0.5, np.float32))
        share = g.add("Add", g.add("Erf", g.add("Div", value, root)), one)
        return g.add("Mul", g.add("Mul", value, share), half)

    def _linear(self, value: str, name: str) -> str:
        return self._multiplied(value, name, self._w(f"{name}.weight").T, self._w(f"{name}.bias"))

    def _multiplied(self, value: str, name: str, weight: Array, bias: Array) -> str:
        """Returns the value times the weights, plus the bias; in int8 the value's own scale is found at every run."""
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
        """Adds the mean over the words that count, with length one."""
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
    """Returns int8 weights with one scale for each row across `axis`, symmetric around zero."""
    scale = np.maximum(np.abs(weight).max(axis=axis, keepdims=True), 1e-12) / most
    return np.clip(np.rint(weight / scale), -most, most).astype(np.int8), scale.astype(np.float32)
