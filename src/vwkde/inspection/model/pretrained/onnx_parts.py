"""The inner values of a network in an ONNX file: their names, and the file with some of them as further outputs.

An ONNX file is a message of Protocol Buffers. Messages that follow each other are merged, so further outputs can be
appended to the file without changing what it has.
"""

from collections.abc import Iterable, Iterator

_GRAPH, _NODE, _NODE_OUTPUT, _OUTPUT, _NAME = 7, 1, 2, 12, 1
"""Numbers of the fields: the graph of a model, the nodes of a graph, their outputs, those of the graph, their names."""
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5
"""Kinds of fields."""


def inner_values(file: bytes) -> list[str]:
    """Return the names of the values that nodes of the network compute, in order; ValueError if it cannot be read."""
    graphs = (graph for number, graph in _fields(file) if number == _GRAPH)
    nodes = (node for graph in graphs for number, node in _fields(graph) if number == _NODE)
    return [name.decode() for node in nodes for number, name in _fields(node) if number == _NODE_OUTPUT and name]


def with_outputs(file: bytes, names: Iterable[str]) -> bytes:
    """Return the file of a network with these inner values as further outputs."""
    outputs = b"".join(_field(_OUTPUT, _field(_NAME, name.encode())) for name in names)
    return file + _field(_GRAPH, outputs)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and contents of the fields of a message that consist of bytes."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind, length = key & 7, 0
        if kind == _BYTES:
            length, place = _varint(message, place)
            if place + length > len(message):
                raise ValueError("the file is cut off")
            yield key >> 3, message[place : place + length]
        elif kind == _VARINT:
            _, place = _varint(message, place)
        elif kind in (_LONG, _SHORT):
            length = 8 if kind == _LONG else 4
        else:
            raise ValueError("the file is no ONNX file")
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length, and the place after it."""
    value = 0
    for count, byte in enumerate(message[place : place + 10]):
        value |= (byte & 127) << 7 * count
        if byte < 128:
            return value, place + count + 1
    raise ValueError("the file is cut off")


def _field(number: int, content: bytes) -> bytes:
    return _number(number << 3 | _BYTES) + _number(len(content)) + content


def _number(value: int) -> bytes:
    digits = []
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])
