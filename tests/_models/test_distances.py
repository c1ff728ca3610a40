import numpy as np
import pytest

from vwkde._models.distances import median_distance


def test_length_scale_is_the_mean_of_the_medians():
    p, q = np.array([[0.0], [1.0], [3.0]]), np.array([[0.0], [0.0], [0.0], [5.0]])
    assert median_distance(p, q) == pytest.approx((2 + 2.5) / 2)
    ties = np.array([[0.0]] * 9 + [[5.0]])
    assert median_distance(ties, ties) == pytest.approx(1.0)
