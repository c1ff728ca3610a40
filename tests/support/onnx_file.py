"""Small networks as ONNX files, written field by field: no package is needed for that."""

import numpy as np

FLOAT, INTS = 1, 7


def network(channels=(8, 16), classifier=False, sides=None, seed=0, inputs=3):
    """Return a network of two convolutions, of an eighth and a sixteenth of the size.

    Its outputs are both layers or, for a classifier, the mean of the last.
    """
    random = np.random.default_rng(seed)
    first = random.normal(size=(channels[0], inputs, 8, 8)) / 16
    second = random.normal(size=(channels[1], channels[0], 2, 2)) / 8
    graph = (
        _node("Conv", ["image", "w1"], ["fine"], strides=[8, 8])
        + _node("Relu", ["fine"], ["bent"])
        + _node("Conv", ["bent", "w2"], ["coarse"], strides=[2, 2])
        + _node("GlobalAveragePool", ["coarse"], ["mean"])
        + _bytes(2, b"net")
        + _tensor("w1", first)
        + _tensor("w2", second)
        + _value(11, "image", [1, inputs, *(sides or ("height", "width"))])
    )
    outputs = {"mean": [1, channels[1], 1, 1]} if classifier else dict.fromkeys(["coarse", "fine"], None)
    for name, shape in outputs.items():
        graph += _value(12, name, shape or [1, "channels", "rows", "columns"])
    return _number(1, 8) + _bytes(8, _bytes(1, b"") + _number(2, 13)) + _bytes(7, graph)


def _node(kind, inputs, outputs, **attributes):
    names = b"".join(_bytes(1, each.encode()) for each in inputs) + b"".join(
        _bytes(2, each.encode()) for each in outputs
    )
    extra = b"".join(
        _bytes(5, _bytes(1, name.encode()) + b"".join(_number(8, each) for each in values) + _number(20, INTS))
        for name, values in attributes.items()
    )
    return _bytes(1, names + _bytes(4, kind.encode()) + extra)


def _tensor(name, values):
    dims = b"".join(_number(1, each) for each in values.shape)
    return _bytes(5, dims + _number(2, FLOAT) + _bytes(8, name.encode()) + _bytes(9, values.astype("<f4").tobytes()))


def _value(field, name, shape):
    dims = b"".join(
        _bytes(1, _number(1, each) if isinstance(each, int) else _bytes(2, each.encode())) for each in shape
    )
    return _bytes(field, _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, FLOAT) + _bytes(2, dims))))


def _number(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, content):
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _varint(value):
    digits = []
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    return bytes([*digits, value])
