import numpy as np
import pytest
from scipy.stats import rankdata

from vwkde._data.ranks import mean_ranks


@pytest.mark.parametrize("shape", [(50,), (50, 3), (1, 2), (4, 0)])
def test_equal_values_share_the_mean_of_their_ranks(shape):
    values = np.random.default_rng(0).integers(0, 12, shape) / 4
    np.testing.assert_array_equal(mean_ranks(values), rankdata(values, axis=0))
