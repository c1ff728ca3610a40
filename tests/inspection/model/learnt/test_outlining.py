"""Whether patches count in a map, as defects drawn on good images say."""

from dataclasses import replace

import numpy as np
import pytest

from vwkde.inspection.model.features.registry import FEATURES
from vwkde.inspection.model.filters.pyramid import PYRAMID
from vwkde.inspection.model.inspected_part import ignoring
from vwkde.inspection.model.learnt.outlining import outlined, patches_outline
from vwkde.inspection.model.learnt.rarity import fit_rarities, places_of
from vwkde.inspection.model.made_up.drawings import drawn, has_drawing
from vwkde.inspection.model.marks.strengths import CELL, MARKS
from vwkde.inspection.model.measuring import measure_all

SHAPE = (128, 128)
LINE = np.zeros(SHAPE, dtype=bool)
LINE[64:66, 16:112] = True


def noise(random):
    """Return values of a good image."""
    return tuple(random.exponential(1.0, places[-1].stop) for places in places_of(SHAPE))


@pytest.fixture(scope="module")
def rarities():
    random = np.random.default_rng(0)
    return fit_rarities([noise(random) for _ in range(40)], SHAPE)


def drawings(seen_by_patches, seen_by_marks, count=20):
    """Return images with a thin line, which raises the values of the patches and of the marks that it crosses."""
    random = np.random.default_rng(1)
    images = [noise(random) for _ in range(count)]
    rows, columns = PYRAMID.grids(SHAPE)[0]
    finest = np.zeros((rows, columns))
    finest[3:5] = seen_by_patches  # patches of 32 pixels, 16 pixels apart
    cells = np.zeros(MARKS.grids(SHAPE)[0])
    cells[LINE[::CELL, ::CELL]] = seen_by_marks
    for log_ratio, excess, weighed in images:
        log_ratio[: finest.size] += finest.ravel()
        excess[: cells.size] += cells.ravel()
        weighed += cells.ravel()
    return [(image, [LINE]) for image in images]


def test_patches_that_see_nothing_of_defects_are_left_out(rarities):
    assert not patches_outline(rarities, drawings(0.0, 3.0))


def test_patches_that_alone_show_a_defect_count(rarities):
    assert patches_outline(rarities, drawings(6.0, 0.0))


def test_patches_count_if_nothing_is_known_about_them(rarities):
    assert patches_outline(rarities, [])
    assert patches_outline(rarities, drawings(0.0, 3.0, count=1))


def test_a_defect_is_outlined_fully_if_it_is_above_all_else_and_not_at_all_if_below():
    random = np.random.default_rng(2)
    values = random.random(SHAPE)
    high, low = np.where(LINE, 2.0, values), np.where(LINE, -1.0, values)
    assert outlined([high], [[LINE]]) == pytest.approx([1.0])
    assert outlined([low], [[LINE]]) == pytest.approx([0.0])
    by_chance = outlined([values], [[LINE]])
    assert by_chance == pytest.approx([0.155], abs=0.06)  # the mean of the shares of places outside that are higher


def test_defects_count_one_by_one_and_those_without_a_place_not_at_all():
    spot, nothing = np.zeros(SHAPE, dtype=bool), np.zeros(SHAPE, dtype=bool)
    spot[5, 5] = True
    values = np.random.default_rng(3).random(SHAPE)
    values[LINE], values[spot] = 2.0, -1.0
    assert outlined([values], [[LINE, nothing, spot]]) == pytest.approx([1.0, 0.0])


def test_what_is_shown_leaves_patches_out_and_what_is_scored_does_not(rarities):
    ((evidence, _),) = drawings(6.0, 0.0, count=1)
    (joint, shown), (same, without) = (
        replace(rarities, patches_shown=patches_shown).maps(evidence) for patches_shown in (True, False)
    )
    np.testing.assert_array_equal(joint, same)
    row = np.s_[64:80, 48:80]
    assert shown[row].mean() > 1.3 * shown[:24].mean()
    assert without[row].mean() < 1.2 * without[:24].mean()
    np.testing.assert_allclose(without, np.mean(rarities.of_parts(evidence)[1:], axis=0))  # no surroundings, either


def test_some_images_of_every_part_of_a_folder_have_drawings():
    assert [number for number in range(30) if has_drawing(number)] == [*range(10), 10, 15, 20, 25]


def test_a_drawing_is_the_same_each_time():
    image = np.random.default_rng(4).random(SHAPE).astype(np.float32)
    (one, where), (other, _), (another, _) = (drawn(image, number) for number in (3, 3, 4))
    np.testing.assert_array_equal(one, other)
    assert (one != another).any()
    assert [mask.shape for mask in where] == [SHAPE] * 3


EDGES = np.pad(np.zeros((90, 100), dtype=bool), ((6, 0), (0, 20)), constant_values=True)


@pytest.mark.parametrize("ignored", [None, EDGES], ids=["whole", "part"])
def test_drawings_are_measured_as_images_are(ignored):
    random = np.random.default_rng(5)
    images = [random.random((96, 120)).astype(np.float32) for _ in range(12)]
    features = ignoring(FEATURES["combined"], ignored)
    seen = measure_all(images, features, make_up=True)
    assert list(seen.drawings) == list(range(11))
    for number, drawing in seen.drawings.items():
        assert drawing.features.shape == seen.features[number].shape
        assert drawing.marks.shape == seen.marks[number].shape
        assert all(mask.shape == features.marking.shape((96, 120)) for mask in drawing.where)
        assert (drawing.features != seen.features[number]).any()
    assert not measure_all(images, features).drawings
