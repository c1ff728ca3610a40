from dataclasses import replace

import numpy as np
import pytest

from vwkde.inspection.metrics.images import image_auroc
from vwkde.inspection.model.marks.filters import KINDS
from vwkde.inspection.model.marks.known import learn_marks
from vwkde.inspection.model.marks.made_up import marks_of_defects
from vwkde.inspection.model.marks.strengths import CELL, MARKS
from vwkde.inspection.model.marks.weighing import NETWORKS, POOLED, all_parents, fit_weighing, parents, pooled

SIZE = 128


def grain(random):
    return (0.5 + 0.05 * random.standard_normal((SIZE, SIZE))).astype(np.float32)


@pytest.fixture(scope="module")
def known():
    random = np.random.default_rng(0)
    good = [grain(random) for _ in range(20)]
    made_up = [marks_of_defects(image, seed) for seed, image in enumerate(good)]
    return learn_marks([MARKS(image) for image in good], made_up, (SIZE, SIZE), 0)[:2]


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
    np.testing.assert_array_equal(found, all_parents(shape))
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


def odds_of(weighing, first):
    """Return the log odds of places that differ in the first response only."""
    places = np.zeros((len(first), POOLED), dtype=np.float32)
    places[:, 0] = first
    return weighing.log_odds(places)


def test_what_tells_defects_apart_counts_up_to_what_was_learnt():
    random = np.random.default_rng(3)
    weighing = fit_weighing([responses(random, 5_000)], [responses(random, 5_000, 2.0)])
    odds = odds_of(weighing, [0.0, 1.0, 2.0, 100.0, 1000.0])
    np.testing.assert_allclose(odds[:3], [-2.0, 0.0, 2.0], atol=0.7)  # the log ratio of the two densities
    assert odds[3] == pytest.approx(odds[4], rel=1e-5)


def test_responses_that_are_common_alone_can_be_rare_together():
    """A line of marks and a spot are seen in good images, but not at the same place."""
    random = np.random.default_rng(5)
    without, within = responses(random, 6_000), responses(random, 3_000)
    without[0, :, :2_000] += 4.0
    without[1, :, 2_000:4_000] += 4.0
    within[:2] += 4.0
    weighing = fit_weighing([without], [within])
    places = np.zeros((3, POOLED), dtype=np.float32)
    places[[0, 2], 0] = places[[1, 2], 1] = 4.0
    odds = weighing.log_odds(places)
    assert odds[:2].max() < -2
    assert odds[2] > 2


def test_without_places_of_defects_the_evidence_is_zero():
    random = np.random.default_rng(4)
    weighing = fit_weighing([responses(random, 100)], [responses(random, 0)])
    assert not odds_of(weighing, [0.0, 5.0]).any()


def test_a_response_that_never_varies_does_not_count():
    random = np.random.default_rng(6)
    without, within = responses(random, 2_000), responses(random, 2_000, 2.0)
    without[3] = within[3] = 0.25
    weighing = fit_weighing([without], [within])
    places = np.zeros((2, POOLED), dtype=np.float32)
    places[:, 3] = [0.25, 50.0]
    odds = weighing.log_odds(places)
    assert odds[0] == pytest.approx(odds[1], rel=1e-5)


def test_networks_of_other_first_weights_differ_a_little_and_their_mean_counts():
    random = np.random.default_rng(7)
    weighing = fit_weighing([responses(random, 3_000)], [responses(random, 3_000, 2.0)])
    one_by_one = [
        odds_of(replace(weighing, weights=only(weighing.weights, each), biases=only(weighing.biases, each)), [3.0])
        for each in range(NETWORKS)
    ]
    assert np.ptp(one_by_one) > 0
    np.testing.assert_allclose(odds_of(weighing, [3.0]), np.mean(one_by_one, axis=0), rtol=1e-5)


def only(layers, number):
    """Return the arrays of one network."""
    return tuple(each[number : number + 1] for each in layers)
