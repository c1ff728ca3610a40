"""The compiled loops of the search for waves: folds that search on other threads do not wait for each other."""

import numpy as np

from vwkde._compute.compile import compiled

_ROUND = np.float32(1.5 * 2.0**23)
"""Added to a number and subtracted again, it leaves the nearest whole number."""
_C0, _C1, _C2, _C3, _C4, _C5, _C6 = (
    np.float32(c)
    for c in (
        0.9999999890590239,
        -19.73920449945399,
        64.93911745989882,
        -85.45013953093454,
        60.16763095130819,
        -25.96759924960775,
        6.5286581626456694,
    )
)
_S0, _S1, _S2, _S3, _S4, _S5, _S6 = (
    np.float32(s)
    for s in (
        6.283185302511503,
        -41.34170040531739,
        81.60513138579073,
        -76.7030153537647,
        42.02592698532482,
        -14.899846666410724,
        3.2381375082579065,
    )
)
"""Polynomials in the square of half a turn at most: near-minimax, with an error of 1e-8."""


_BLOCK = 16
"""Frequency vectors at a time: so many waves of 2,000 rows stay in a processor's cache."""
_TINY = np.finfo(np.float32).tiny
_PER_TURN = np.float32(1 / (2 * np.pi))


@compiled("contract", inner=True)
def _set_cosine_and_sine(turns, sine):  # type: ignore[no-untyped-def]
    """Replace angles, in whole turns, by their cosines, and write their sines."""
    for i in range(turns.shape[0]):
        for j in range(turns.shape[1]):
            turn = turns[i, j] - ((turns[i, j] + _ROUND) - _ROUND)
            square = turn * turn
            turns[i, j] = _C0 + square * (
                _C1 + square * (_C2 + square * (_C3 + square * (_C4 + square * (_C5 + square * _C6))))
            )
            sine[i, j] = turn * (
                _S0 + square * (_S1 + square * (_S2 + square * (_S3 + square * (_S4 + square * (_S5 + square * _S6)))))
            )


@compiled("contract")
def set_sums(points, weights, frequencies, real, imaginary):  # type: ignore[no-untyped-def]
    """Write the sums over rows of cosines and of sines times weights, (weights, frequencies)."""
    count = frequencies.shape[1]
    turns = np.zeros((points.shape[1], _BLOCK), np.float32)
    cosine, sine = np.empty((len(points), _BLOCK), np.float32), np.empty((len(points), _BLOCK), np.float32)
    of_cosine, of_sine = np.empty((len(weights), _BLOCK), np.float32), np.empty((len(weights), _BLOCK), np.float32)
    for start in range(0, count, _BLOCK):
        width = min(_BLOCK, count - start)
        for i in range(turns.shape[0]):
            for j in range(width):
                turns[i, j] = _PER_TURN * frequencies[i, start + j]
        np.dot(points, turns, cosine)
        _set_cosine_and_sine(cosine, sine)
        np.dot(weights, cosine, of_cosine)
        np.dot(weights, sine, of_sine)
        for i in range(real.shape[0]):
            for j in range(width):
                real[i, start + j] = of_cosine[i, j]
                imaginary[i, start + j] = of_sine[i, j]


@compiled("contract")
def climb(points, weights, frequencies, lengths, fastest):  # type: ignore[no-untyped-def]
    """Move frequency vectors, (columns, vectors), uphill by steps of these lengths, and keep them below the fastest.

    The first line of `weights` are the residuals, the others the points times these.
    """
    columns, count = frequencies.shape
    real, imaginary = np.empty((columns + 1, count), np.float32), np.empty((columns + 1, count), np.float32)
    slope = np.empty(columns, np.float32)
    for length in lengths:
        set_sums(points, weights, frequencies, real, imaginary)
        for j in range(count):
            steepness = np.float32(0)
            for i in range(columns):
                slope[i] = imaginary[0, j] * real[i + 1, j] - real[0, j] * imaginary[i + 1, j]
                steepness += slope[i] * slope[i]
            step, speed = length / (np.sqrt(steepness) + _TINY), np.float32(0)
            for i in range(columns):
                frequencies[i, j] += step * slope[i]
                speed += frequencies[i, j] * frequencies[i, j]
            limit = fastest / max(np.sqrt(speed), fastest)
            for i in range(columns):
                frequencies[i, j] *= limit
