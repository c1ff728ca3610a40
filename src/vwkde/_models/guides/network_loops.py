"""The compiled training of a network with two hidden layers: all of its steps, without the interpreter's lock.

Loops are written out where whole rows or arrays would do: copying a row takes seconds to compile.
"""

import math

import numpy as np

from vwkde._compute.compile import compiled
from vwkde._compute.exp2 import exp2

_TO_BASE_TWO = np.float32(1 / np.log(2))
_ONE = np.float32(1)


@compiled("contract", inner=True)
def _activate(z, bias, passed, slope):  # type: ignore[no-untyped-def]
    """Write z·σ(z) of rows with a bias, and its slope."""
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            value = z[i, j] + bias[j]
            gate = _ONE / (_ONE + exp2(-_TO_BASE_TWO * value))
            passed[i, j] = value * gate
            slope[i, j] = gate * (_ONE + value * (_ONE - gate))


@compiled("contract", inner=True)
def _take(x, chosen, rows):  # type: ignore[no-untyped-def]
    """Copy the chosen rows."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = x[chosen[i], j]


@compiled("contract", inner=True)
def _multiply(z, by):  # type: ignore[no-untyped-def]
    """Multiply each number by another one."""
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            z[i, j] *= by[i, j]


@compiled("contract", inner=True)
def _set_sums(rows, sums):  # type: ignore[no-untyped-def]
    """Write the sums of columns."""
    sums[:] = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            sums[j] += rows[i, j]


@compiled("contract", inner=True)
def _step(parameters, slope, mean, square, schedule, adam):  # type: ignore[no-untyped-def]
    """Move the parameters by one step of AdamW."""
    kept, rate, correction = schedule
    momentum, squares, smallest = adam
    for i in range(parameters.shape[0]):
        mean[i] = momentum * mean[i] + (_ONE - momentum) * slope[i]
        square[i] = squares * square[i] + (_ONE - squares) * slope[i] * slope[i]
        root = np.sqrt(square[i] * correction) + smallest
        parameters[i] = parameters[i] * kept - rate * mean[i] / root


@compiled("contract")
def train(x, signed_weight, batches, parameters, width, schedule, adam):  # type: ignore[no-untyped-def]
    """Change the parameters of a network with so many units in each hidden layer to those after all steps.

    The parameters are in the order of `network._layers_of`. `signed_weight` has the weights of the rows, negative for
    those of the denominator, and `batches` the rows of each step. A line of `schedule` is the part of the parameters
    that a step keeps, its rate, and the correction of the mean square; `adam` are the constants of Adam.
    """
    columns, size = x.shape[1], batches.shape[1]
    a = columns * width
    b, c, d, e = a + width, a + width + width * width, a + 2 * width + width * width, a + 3 * width + width * width
    slope, mean, square = np.empty_like(parameters), np.zeros_like(parameters), np.zeros_like(parameters)
    first, first_slope = parameters[:a].reshape(columns, width), slope[:a].reshape(columns, width)
    second, second_slope = parameters[b:c].reshape(width, width), slope[b:c].reshape(width, width)
    last = parameters[d:e]
    rows, z = np.empty((size, columns), np.float32), np.empty((size, width), np.float32)
    passed, passed_slope = np.empty_like(z), np.empty_like(z)
    passed_twice, passed_twice_slope = np.empty_like(z), np.empty_like(z)
    for step in range(batches.shape[0]):
        batch = batches[step]
        _take(x, batch, rows)
        np.dot(rows, first, z)
        _activate(z, parameters[a:b], passed, passed_slope)
        np.dot(passed, second, z)
        _activate(z, parameters[c:d], passed_twice, passed_twice_slope)
        slope[d:] = 0
        for i in range(size):
            weight = signed_weight[batch[i]]
            log_odds = parameters[e]
            for j in range(width):
                log_odds += passed_twice[i, j] * last[j]
            back = np.float32(-weight / (1.0 + math.exp(math.copysign(1.0, weight) * log_odds)) / size)
            slope[e] += back
            for j in range(width):
                slope[d + j] += back * passed_twice[i, j]
                z[i, j] = back * last[j] * passed_twice_slope[i, j]
        np.dot(passed.T, z, second_slope)
        _set_sums(z, slope[c:d])
        np.dot(z, second.T, passed)
        _multiply(passed, passed_slope)
        np.dot(rows.T, passed, first_slope)
        _set_sums(passed, slope[a:b])
        _step(parameters, slope, mean, square, schedule[step], adam)
