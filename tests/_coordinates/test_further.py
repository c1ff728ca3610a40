import numpy as np
import pytest

from vwkde._coordinates.further import WithFurther, add_further
from vwkde._coordinates.products import Factor, Product
from vwkde._coordinates.subgroups import Limits, Subgroup
from vwkde._data.sample import make_unordered_sample

PRODUCT = Product((Factor(0, 0, (0.1,)), Factor(2, 1, (-0.5, 0.6))))
SUBGROUP = Subgroup((Limits(0, 0.0, np.inf),), (1,), np.array([0.3]), np.array([2.0]))


@pytest.mark.parametrize(("made", "count"), [((PRODUCT,), 2), ((SUBGROUP,), 3), ((PRODUCT, SUBGROUP), 5)])
def test_further_columns_belong_to_samples_and_to_new_points(made, count):
    random = np.random.default_rng(1)
    samples = make_unordered_sample(random.normal(size=(30, 3))), make_unordered_sample(random.normal(size=(20, 3)))
    wide = add_further(samples, made)
    coordinates = WithFurther(lambda x: x / 10, made)
    for before, after in zip(samples, wide, strict=True):
        np.testing.assert_array_equal(after.points[:, :3], before.points)
        np.testing.assert_allclose(coordinates(10 * before.points), after.points)
    assert wide[0].points.shape == (30, 3 + count)
    further = [column for each in made for column in each.further(samples[0].points)]
    np.testing.assert_array_equal(wide[0].points[:, 3:].T, further)
