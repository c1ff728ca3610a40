import numpy as np
import pytest

from vwkde.inspection.metrics.images import image_auroc
from vwkde.inspection.model.known_marks import learn_marks
from vwkde.inspection.model.made_up_marks import marks_of_defects
from vwkde.inspection.model.mark_filters import KINDS
from vwkde.inspection.model.marks import CELL, MARKS
from vwkde.inspection.model.weighing import POOLED, fit_weighing, parents, pooled

SIZE = 128


def grain(random):
    return (0.5 + 0.05 * random.standard_normal((SIZE, SIZE))).astype(np.float32)


@pytest.fixture(scope="module")
def known():
    random = np.random.default_rng(0)
    good = [grain(random) for _ in range(20)]
    made_up = [marks_of_defects(image, seed) for seed, image in enumerate(good)]
    return learn_marks([MARKS(image) for image in good], made_up, (SIZE, SIZE), 0)


def darker(image, where):
    image[where] -= 0.06


def smoother(image, where):
    image[where] = 0.5 + 0.7 * (image[where] - 0.5)


@pytest.mark.parametrize(
    ("where", "change", "least"),
    [(np.s_[60:63], darker, 0.95), (np.s_[50:70, 60:84], darker, 0.95), (np.s_[50:70, 60:84], smoother, 0.9)],
)
def test_weighed_marks_show_defects_that_differ_little_from_the_grain(known, where, change, least):
    random = np.random.default_rng(1)
    inside = np.zeros((SIZE, SIZE), dtype=bool)
    inside[where] = True
    areas = []
    for _ in range(5):
        image = grain(random)
        change(image, where)
        areas.append(image_auroc(inside[::CELL, ::CELL].ravel(), known[0].compare(MARKS(image)).weighed))
    assert np.mean(areas) > least


def test_weighed_marks_show_a_smooth_patch_better_than_single_ones(known):
    """Its roughness is within that of the grain, but less on several copies, and everywhere in the patch."""
    image = grain(np.random.default_rng(1))
    smoother(image, np.s_[50:70, 60:84])
    inside = np.zeros((SIZE, SIZE), dtype=bool)
    inside[50:70, 60:84] = True
    compared = known[0].compare(MARKS(image))
    single = MARKS.spread(compared.excess, (SIZE, SIZE))[::CELL, ::CELL]
    areas = [image_auroc(inside[::CELL, ::CELL].ravel(), values) for values in (single.ravel(), compared.weighed)]
    assert 1 - areas[1] < 0.5 * (1 - areas[0])


def test_good_images_are_weighed_by_the_others(known):
    """The largest evidence in new good images is like that in the learnt ones."""
    random = np.random.default_rng(2)
    learnt = np.array([each.weighed.max() for each in known[1]])
    new = np.array([known[0].compare(MARKS(grain(random))).weighed.max() for _ in range(20)])
    assert abs(learnt.mean() - new.mean()) < 3 * np.sqrt((learnt.var() + new.var()) / 20)


def test_the_parents_of_a_cell_cover_it():
    shape = (100, 150)
    cells, grids = MARKS.cells(shape), MARKS.grids(shape)
    places = np.arange(cells[0].stop)
    found = parents(places, shape)
    np.testing.assert_array_equal(found[0], places)
    for number, (copy, grid) in enumerate(zip(cells, grids, strict=True)):
        assert found[number].min() == copy.start
        assert found[number].max() == copy.stop - 1
        rows, columns = np.divmod(found[number] - copy.start, grid[1])
        assert np.abs(rows * 2**number - places // grids[0][1]).max() < 2**number + 1
        assert np.abs(columns * 2**number - places % grids[0][1]).max() < 2**number + 1


def test_directions_are_pooled():
    marks = np.zeros((KINDS, 2), dtype=np.float32)
    marks[1 + 2 * 3, 0] = np.sinh(2.0)  # a bright line of the fourth direction
    assert pooled(marks).shape == (POOLED, 2)
    np.testing.assert_allclose(pooled(marks)[:2, 0], [2.0, 0.25], rtol=1e-6)
    assert not pooled(marks)[2:, 0].any()


def responses(random, places, shift=0.0):
    """Return responses of one copy at places; only the first one differs by the shift."""
    values = random.standard_normal((POOLED, 1, places)).astype(np.float32)
    values[0] += shift
    return values


def test_what_tells_defects_apart_has_weight_and_ends_beyond_good_images():
    random = np.random.default_rng(3)
    weighing = fit_weighing([responses(random, 5_000)], [responses(random, 5_000, 2.0)])
    steps = (weighing.slopes * np.diff(weighing.bends, axis=1)).sum(axis=1)[0]
    assert steps[0] > 5 * steps[1:].max()
    assert steps.min() >= 0
    assert weighing.bends[0, -1, 0] == pytest.approx(3.09, abs=0.4)


def test_without_places_of_defects_nothing_has_weight():
    random = np.random.default_rng(4)
    assert not fit_weighing([responses(random, 100)], [responses(random, 0)]).slopes.any()
