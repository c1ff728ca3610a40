"""The compiled loop of the search for waves."""

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


@compiled("contract")
def set_cosine_and_sine(turns, sine):  # type: ignore[no-untyped-def]
    """Replace angles, in whole turns, by their cosines, and write their sines: both are vectors of single numbers."""
    for i in range(turns.shape[0]):
        turn = turns[i] - ((turns[i] + _ROUND) - _ROUND)
        square = turn * turn
        turns[i] = _C0 + square * (
            _C1 + square * (_C2 + square * (_C3 + square * (_C4 + square * (_C5 + square * _C6))))
        )
        sine[i] = turn * (
            _S0 + square * (_S1 + square * (_S2 + square * (_S3 + square * (_S4 + square * (_S5 + square * _S6)))))
        )
