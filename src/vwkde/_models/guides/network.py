"""The guide named "network": the log odds of a small network with two hidden layers.

With some thousand rows a network finds what no other guide has a form for: ratios that depend on several columns at
once, as where one sample is a rotation of the other. Training is by AdamW, in single precision, with a rate that rises
and then falls to zero. `sklearn.neural_network.MLPClassifier` has a constant rate, and finds half as much in twice the
time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._data.sample import Sample
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Layers = list[tuple[Singles, Singles]]
"""The weights and the biases of each layer, from the first; those of several networks in front of these axes."""

_RATE = 0.01
_WARM_UP = 0.3
"""Share of the steps in which the rate rises."""
_BATCHES, _SMALLEST_BATCH, _LARGEST_BATCH = 100, 64, 256
"""Batches that all rows are dealt into, and how many rows a batch has at least and at most."""
_DECAY = 0.1
_MOMENTUM, _SQUARES, _SMALLEST = 0.9, 0.999, 1e-8
"""The constants of Adam, as usual: memory of the mean slope and of its square, and the least root of the latter."""
_BLOCK = 10_000
"""Rows at which a network is evaluated at a time."""


@dataclass(frozen=True)
class Network:
    """A trained network; points are moved into the box of the rows that it has seen before they enter."""

    layers: Layers
    lowest: Singles
    highest: Singles

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        blocks = [x[start : start + _BLOCK] for start in range(0, len(x), _BLOCK)]
        return np.concatenate([np.empty(0), *map(self._log_odds, blocks)])

    def _log_odds(self, x: Floats) -> Floats:
        inside = np.clip(x.astype(np.float32), self.lowest, self.highest)
        return _forward(self.layers, inside)[1].astype(np.float64)


@dataclass(frozen=True)
class Training:
    """How large a network is, and in how many steps it learns: of more rows it sees each less often."""

    width: int
    steps: int


_SMALL, _LARGE = Training(width=32, steps=600), Training(width=64, steps=1_250)
_SEVERAL_COLUMNS = 4
_MANY_ROWS = 8_000
"""Rows of the smaller sample from which the larger network may be worth its time."""


def network_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return a small network and, for many rows, a larger one that learns longer."""
    many = min(numerator.effective_rows, denominator.effective_rows) >= _MANY_ROWS
    return tuple(partial(fit_network, training) for training in ((_SMALL, _LARGE) if many else (_SMALL,)))


def have_several_columns(_numerator: Sample, denominator: Sample) -> bool:
    """Return whether there are so many columns that kernel sums and trees may miss how they go together.

    The many pairs that rows of X and Y can form have models of their own.
    """
    return denominator.points.shape[1] >= _SEVERAL_COLUMNS and denominator.pairs is None


def fit_network(training: Training, numerator: Sample, denominator: Sample) -> Network:
    """Train a network to tell two samples apart; both have equal weight.

    It is the first network of `fit_networks`, by a compiled loop: threads that train others do not wait for it.
    """
    from vwkde._models.guides.network_loops import train  # only now: not every process loads the compiler

    x, sign, weight = _sorted_rows((numerator, denominator))
    random = np.random.default_rng(0)
    sizes = [x.shape[1], training.width, training.width, 1]
    parameters = _start(sizes, random)
    batches = np.stack(list(islice(_batches(len(x), random), training.steps)))
    adam = np.array([_MOMENTUM, _SQUARES, _SMALLEST], dtype=np.float32)
    train(x, sign * weight, batches, parameters, training.width, _schedule(training.steps), adam)
    layers = _layers_of(parameters[None], sizes)
    return Network([(weights[0], biases[0, 0]) for weights, biases in layers], x.min(axis=0), x.max(axis=0))


def fit_networks(training: Training, numerator: Sample, denominator: Sample, seeds: Sequence[int]) -> list[Network]:
    """Train networks that start with other weights, one for each seed.

    All take their steps together: the arithmetic of one is so little that a step of three takes hardly longer.
    """
    x, sign, weight = _sorted_rows((numerator, denominator))
    randoms = [np.random.default_rng(seed) for seed in seeds]
    sizes = [x.shape[1], training.width, training.width, 1]
    parameters = np.stack([_start(sizes, random) for random in randoms])
    slope = np.empty_like(parameters)
    layers, slopes = _layers_of(parameters, sizes), _layers_of(slope, sizes)
    step = _adam(parameters, slope, training.steps)
    batches = zip(*(_batches(len(x), random) for random in randoms), strict=True)
    for rows in map(np.stack, islice(batches, training.steps)):
        _set_slopes(layers, slopes, x.take(rows, axis=0), (sign.take(rows), weight.take(rows)))
        step()
    box = x.min(axis=0), x.max(axis=0)
    return [Network([(weights[k], biases[k, 0]) for weights, biases in layers], *box) for k in range(len(seeds))]


def _sorted_rows(samples: tuple[Sample, Sample]) -> tuple[Singles, Floats, Floats]:
    """Return the rows of both samples, their signs and their weights, in an order that does not depend on the sample.

    With it, and a last layer that starts at zero, the log odds only change their sign if the samples change places.
    """
    x = np.concatenate([sample.points for sample in samples])
    weight = np.concatenate([sample.weight / (2 * sample.weight.sum()) for sample in samples]) * len(x)
    sign = np.repeat([1.0, -1.0], [len(sample) for sample in samples])
    order = _order(x)
    return x[order].astype(np.float32), sign[order], weight[order]


def _order(x: Floats) -> NDArray[np.intp]:
    """Return the order of rows by the last column, of those with equal values by the column before it, and so on.

    It is that of `np.lexsort`, which sorts all rows by every column; here only rows that share their last value are.
    """
    order = np.argsort(x[:, -1])
    same = np.diff(x[order, -1]) == 0
    shared = np.append(same, False) | np.append(False, same)
    rows = np.sort(order[shared])
    order[shared] = rows[np.lexsort(x[rows].T)]
    return order


def _count(sizes: list[int]) -> int:
    return sum((before + 1) * after for before, after in pairwise(sizes))


def _start(sizes: list[int], random: np.random.Generator) -> Singles:
    """Return random weights that keep the scale of what passes through; the last layer and all biases are zero."""
    parameters = np.zeros((1, _count(sizes)), dtype=np.float32)
    for weights, _ in _layers_of(parameters, sizes)[:-1]:
        weights[0] = random.uniform(-1, 1, weights.shape[1:]) / np.sqrt(weights.shape[1])
    return parameters[0]


def _layers_of(parameters: Singles, sizes: list[int]) -> Layers:
    """Return the parts of vectors of parameters, one for each network, as the weights and biases of layers.

    Weights are (networks, inputs, outputs), biases (networks, 1, outputs).
    """
    layers, start = [], 0
    for before, after in pairwise(sizes):
        end = start + before * after
        weights, biases = parameters[:, start:end], parameters[:, end : end + after]
        layers.append((weights.reshape(-1, before, after), biases.reshape(-1, 1, after)))
        start = end + after
    return layers


def _batches(rows: int, random: np.random.Generator) -> Iterator[NDArray[np.intp]]:
    """Yield the rows of one step after the other: all rows are dealt anew again and again, and those left over wait."""
    size = min(rows, max(_SMALLEST_BATCH, min(_LARGEST_BATCH, rows // _BATCHES)))
    while True:
        yield from random.permutation(rows)[: rows // size * size].reshape(-1, size)


def _forward(layers: Layers, x: Singles) -> tuple[list[tuple[Singles, Singles]], Singles]:
    """Return what enters each layer, with the slope of the activation that made it, and the log odds.

    The activation is z·σ(z), with the slope σ(z)·(1 + z·(1 − σ(z))).
    """
    passed = [(x, np.empty(0, dtype=np.float32))]
    for weights, bias in layers[:-1]:
        z = passed[-1][0] @ weights + bias
        gate = 0.5 + 0.5 * np.tanh(0.5 * z)  # the logistic function of single numbers, five times as fast as SciPy's
        passed.append((z * gate, gate * (1 + z * (1 - gate))))
    weights, bias = layers[-1]
    return passed, (passed[-1][0] @ weights + bias)[..., 0]


def _set_slopes(layers: Layers, slopes: Layers, x: Singles, classes: tuple[Floats, Floats]) -> None:
    """Write the slope of the mean log loss at some rows, with their signs and weights, into `slopes`."""
    passed, log_odds = _forward(layers, x)
    sign, weight = classes
    back = (-sign * weight * expit(-sign * log_odds) / x.shape[1]).astype(np.float32)[..., None]
    for number in reversed(range(len(layers))):
        entered, activation_slope = passed[number]
        np.matmul(entered.swapaxes(1, 2), back, out=slopes[number][0])
        np.sum(back, axis=1, keepdims=True, out=slopes[number][1])
        if number:
            back = (back @ layers[number][0].swapaxes(1, 2)) * activation_slope


def _adam(parameters: Singles, slope: Singles, steps: int) -> Callable[[], None]:
    """Return a function that moves the parameters by one step of AdamW along the slope as it is then."""
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        mean[:] = _MOMENTUM * mean + (1 - _MOMENTUM) * slope
        square[:] = _SQUARES * square + (1 - _SQUARES) * slope**2
        root = np.sqrt(square / np.float32(1 - _SQUARES**done)) + np.float32(_SMALLEST)
        rate = _rate(done / steps)
        parameters[:] *= np.float32(1 - rate * _DECAY)
        parameters[:] -= np.float32(rate / (1 - _MOMENTUM**done)) * mean / root

    return step


def _schedule(steps: int) -> Singles:
    """Return, for each step, the part of the parameters that is kept, the rate, and the correction of mean squares."""
    done = np.arange(1, steps + 1)
    rate = np.array([_rate(number / steps) for number in done])
    columns = 1 - rate * _DECAY, rate / (1 - _MOMENTUM**done), 1 / (1 - _SQUARES**done)
    return np.column_stack(columns).astype(np.float32)


def _rate(progress: float) -> float:
    """Return the rate of a step: it rises in proportion to the steps, then falls to zero like a cosine."""
    if progress < _WARM_UP:
        return _RATE * progress / _WARM_UP
    return float(_RATE * 0.5 * (1 + np.cos(np.pi * (progress - _WARM_UP) / (1 - _WARM_UP))))
