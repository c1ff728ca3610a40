import numpy as np
import pytest
from scipy.special import digamma

import vwkde
from vwkde.information._class_neighbours import by_class_neighbours


def test_the_counts_are_those_of_plain_loops():
    """The slow oracle, in normal scores, which the values are already."""
    from scipy.stats import norm

    random = np.random.default_rng(0)
    codes = random.integers(0, 3, 60)
    values = norm.ppf((random.permuted(np.tile(np.arange(60), (2, 1)), axis=1).T + 0.5) / 60)
    distance = np.linalg.norm(values[:, None] - values, axis=2)
    expected = []
    for row, code in enumerate(codes):
        third = np.sort(distance[row, codes == code])[3]
        closer = np.count_nonzero(distance[row] < third)
        expected.append(digamma(3) + digamma(60) - digamma(np.count_nonzero(codes == code)) - digamma(closer))
    np.testing.assert_allclose(by_class_neighbours(codes, values), expected, rtol=1e-9)


def test_there_is_none_for_many_columns_equal_values_or_few_rows_of_a_class():
    random = np.random.default_rng(1)
    codes, values = random.integers(0, 2, 100), random.normal(size=(100, 7))
    assert by_class_neighbours(codes, values) is None
    assert by_class_neighbours(codes, np.round(values[:, :1])) is None
    assert by_class_neighbours(np.arange(100) // 98, values[:, :1]) is None


@pytest.mark.parametrize("seed", range(4))
def test_classes_in_bands_are_seen(seed):
    """A column whose class changes six times: intervals ended far below the truth, and were sure of it."""
    random = np.random.default_rng([2, seed])

    def draw(rows):
        x = random.normal(size=rows)
        return x, np.sin(6 * x) + 0.1 * random.normal(size=rows) > 0

    from scipy.stats import norm

    x, _ = draw(400_000)
    chance = np.clip(norm.cdf(np.sin(6 * x) / 0.1), 1e-300, 1 - 1e-16)
    truth = np.log(2) + np.mean(chance * np.log(chance) + (1 - chance) * np.log1p(-chance))
    estimate = vwkde.mutual_information(*draw(600))
    assert estimate.interval[0] < truth < estimate.interval[1]
    assert estimate.value > 0.93 * truth
    assert estimate.diagnostics["by_neighbours"] > 0.93 * truth


@pytest.mark.parametrize("seed", range(6))
def test_classes_that_say_nothing_have_no_information(seed):
    random = np.random.default_rng([3, seed])
    estimate = vwkde.mutual_information(random.normal(size=(400, 1 + seed % 3)), random.integers(0, 3, 400))
    assert estimate.interval[0] <= 0 < estimate.interval[1] < 0.12
