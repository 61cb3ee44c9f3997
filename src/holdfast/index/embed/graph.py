"""A neural network written as an ONNX file: the few messages of that format which Holdfast needs.

Written here, and not by the `onnx` package, because a package of 20 MB with two dependencies of its own for
one file a machine writes once is dear, and onnxruntime checks every word of what it loads.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

# onnxruntime reads files of this age from its version 1.13 on (2022).
FORMAT = 8
OPERATORS = 17
FLOAT, UINT8, INT8, INT32, INT64 = 1, 2, 3, 6, 7
_KINDS = {"float32": FLOAT, "uint8": UINT8, "int8": INT8, "int32": INT32, "int64": INT64}
_VARINT, _BYTES, _FOUR_BYTES = 0, 2, 5
_ATTRIBUTE_FLOAT, _ATTRIBUTE_INT, _ATTRIBUTE_INTS = 1, 2, 7

Value = int | float | Sequence[int]


class Graph:
    """A network under construction: every operation gives the name of what it makes."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._nodes: list[bytes] = []
        self._constants: dict[str, bytes] = {}
        self._inputs: list[bytes] = []
        self._outputs: list[bytes] = []
        self._made = 0

    def input(self, name: str, kind: int, shape: Sequence[str | int]) -> str:
        """A value that is handed in at every run."""
        self._inputs.append(_described(name, kind, shape))
        return name

    def output(self, name: str, kind: int, shape: Sequence[str | int]) -> None:
        """Give the value `name` out."""
        self._outputs.append(_described(name, kind, shape))

    def constant(self, name: str, value: Array) -> str:
        """A value that is part of the network (a weight); the same name twice is the same value."""
        if name not in self._constants:
            self._constants[name] = _tensor(name, value)
        return name

    def add(self, operation: str, *inputs: str, named: str = "", **options: Value) -> str:
        """The result of an operation that has one."""
        return self.several(operation, *inputs, outputs=1, named=named, **options)[0]

    def several(self, operation: str, *inputs: str, outputs: int, named: str = "", **options: Value) -> list[str]:
        """The results of an operation that has more than one."""
        self._made += 1
        names = [named] if named else [f"{operation}_{self._made}_{n}" for n in range(outputs)]
        body = b"".join(_text(1, name) for name in inputs) + b"".join(_text(2, name) for name in names)
        body += _text(3, f"{operation}_{self._made}") + _text(4, operation)
        body += b"".join(_field(5, _attribute(key, value)) for key, value in options.items())
        self._nodes.append(body)
        return names

    def pieces(self) -> Iterator[bytes]:
        """The file, in pieces: its weights are too large to be copied twice."""
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
    tensor = _number(1, kind) + _field(2, sizes)
    return _text(1, name) + _field(2, _field(1, tensor))


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
