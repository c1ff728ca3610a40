import numpy as np
import pytest

from vwkde._compute.compile import compiled
from vwkde._compute.exp2 import exp2
from vwkde._compute.precision import limit


@compiled()
def powers(x, y):
    for i in range(len(x)):
        y[i] = exp2(x[i])


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 8e-16), (np.float32, 3e-7)])
def test_agrees_with_numpy_over_the_whole_range(dtype, tolerance):
    x = np.linspace(-limit(dtype), limit(dtype), 100_001).astype(dtype)
    y = np.empty_like(x)
    powers(x, y)
    assert np.max(np.abs(y / np.exp2(x.astype(np.float64)) - 1)) < tolerance


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_stays_finite_and_normal_beyond_its_range(dtype):
    x = np.array([-np.inf, -1e30, 1e30, np.inf], dtype)
    y = np.empty_like(x)
    powers(x, y)
    ends = np.exp2(np.array([-limit(dtype), -limit(dtype), limit(dtype), limit(dtype)]))
    np.testing.assert_allclose(y, ends, rtol=1e-6)
    assert y.min() > np.finfo(dtype).tiny


def test_plain_python_is_told_to_use_numpy():
    with pytest.raises(NotImplementedError, match="numpy"):
        exp2(1.0)
