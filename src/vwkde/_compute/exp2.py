"""Two to the power x, written so that a compiler can run it on whole vectors.

The library function is a scalar call, an order of magnitude slower inside a loop. Here x splits into an integer n and a
remainder f in [-1/2, 1/2]; a polynomial gives 2^f, and n is added to the exponent bits of the result. Adding 1.5·2^52
(1.5·2^23 in single precision) rounds x to n and leaves n in the low bits of the sum, which saves a conversion.

The coefficients are the near-minimax fits of degree 10 (relative error 2e-16) and 6 (2e-9). Arguments outside
[-LIMIT, LIMIT] are clipped to it, so that results stay normal numbers: subnormal numbers are slow, and an overflow of
the exponent bits would give garbage.
"""

import numpy as np
from numba import types
from numba.extending import overload

from vwkde._compute.compile import compiled
from vwkde._compute.precision import LIMIT_32, LIMIT_64

_ROUND_64 = 1.5 * 2.0**52
_ROUND_32 = np.float32(1.5 * 2.0**23)

_A0, _A1, _A2, _A3, _A4, _A5, _A6 = (
    np.float32(a)
    for a in (
        1.0,
        0.6931472067028326,
        0.24022650922288757,
        0.05550327226670302,
        0.009618056678524637,
        0.0013400428177615838,
        0.0001546144469856913,
    )
)


@compiled("contract", inner=True)
def _exp2_64(x):
    x = min(max(x, -LIMIT_64), LIMIT_64)
    shifted = x + _ROUND_64
    f = x - (shifted - _ROUND_64)
    f2 = f * f
    f4 = f2 * f2
    p = (1.0 + 0.69314718055995 * f) + (0.24022650695910097 + 0.05550410866444772 * f) * f2
    q = (0.009618129107606888 + 0.0013333558230164974 * f) + (0.0001540353044173605 + 1.5252657260200837e-05 * f) * f2
    r = (1.321544258792169e-06 + 1.0208690299958306e-07 * f) + 7.072585949269223e-09 * f2
    y = p + (q + r * f4) * f4
    return np.int64(np.float64(y).view(np.int64) + (np.float64(shifted).view(np.int64) << 52)).view(np.float64)


@compiled("contract", inner=True)
def _exp2_32(x):
    x = min(max(x, -LIMIT_32), LIMIT_32)
    shifted = x + _ROUND_32
    f = x - (shifted - _ROUND_32)
    f2 = f * f
    y = (_A0 + _A1 * f) + (_A2 + _A3 * f) * f2 + ((_A4 + _A5 * f) + _A6 * f2) * (f2 * f2)
    return np.int32(np.float32(y).view(np.int32) + (np.float32(shifted).view(np.int32) << 23)).view(np.float32)


def exp2(x: float) -> float:
    """Return 2^x in the precision of x; callable from compiled code only."""
    raise NotImplementedError("exp2 works only in compiled code; use numpy.exp2 elsewhere.")


@overload(exp2)
def _exp2_by_type(x):
    if x == types.float32:
        return lambda x: _exp2_32(x)
    return lambda x: _exp2_64(x)
