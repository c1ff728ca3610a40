import numpy as np
import pytest
from scipy import ndimage

from vwkde.inspection.model.learnt.rarity import (
    LEVELS,
    RAISED,
    bends,
    counted,
    fit_rarities,
    places_of,
    strong,
    with_surroundings,
)
from vwkde.inspection.model.regions import find_regions, near_peak

SHAPE = (96, 96)


def exponential_images(count, widths=(1.0, 1.0, 1.0)):
    """Return values of good images that are exponential, with these widths for patches, marks and weighed marks."""
    random = np.random.default_rng(0)
    return [
        tuple(
            random.exponential(width, places[-1].stop) for width, places in zip(widths, places_of(SHAPE), strict=True)
        )
        for _ in range(count)
    ]


def plain(values, table):
    """Return rarities on the largest copy in nats, of which strong ones do not count less."""
    return strong(0) * np.sinh(counted(np.asarray(values), table, 0) / strong(0))


def test_the_rarity_is_minus_the_log_of_the_share_that_exceeds_a_value():
    rarities = fit_rarities(exponential_images(100, (1.0, 5.0, 2.0)), SHAPE)
    values = np.array([0.7, 1.5, 3.0, 5.0, 6.0])
    finest_patches, finest_marks, weighed = (tables[0] for tables in rarities.parts())
    np.testing.assert_allclose(plain(values, finest_patches), values, rtol=0.15)
    np.testing.assert_allclose(plain(5 * values, finest_marks), values, rtol=0.05)
    np.testing.assert_allclose(plain(2 * values, weighed), values, rtol=0.05)


def test_values_beyond_those_of_good_images_continue_the_line():
    table = fit_rarities(exponential_images(100), SHAPE).parts()[1][0]
    slope = (LEVELS[-1] - LEVELS[-2]) / (table[-1] - table[-2])
    assert plain([50.0], table)[0] == pytest.approx(LEVELS[-1] + slope * (50 - table[-1]))
    assert counted(np.array([-3.0]), table, 0)[0] == 0


def test_the_slopes_of_a_table_add_up():
    table = np.array([-1.0, 0.0, 1.0, 1.5, 3.0, 3.1, 9.0, 9.5])
    np.testing.assert_allclose(plain(table, table), LEVELS, atol=1e-12)
    assert bends(table).sum() == pytest.approx((LEVELS[-1] - LEVELS[-2]) / 0.5)


def test_a_strong_defect_does_not_show_far_and_wide_by_a_small_copy():
    table = fit_rarities(exponential_images(100), SHAPE).parts()[1][0]
    mild, high = np.array([1.0]), np.array([500.0])
    large, small = (counted(high, table, copy)[0] / counted(mild, table, copy)[0] for copy in (0, 3))
    assert small < large / 2


@pytest.mark.parametrize("count", [2, 3])
def test_few_images_and_values_that_are_all_alike_have_tables(count):
    alike = [tuple(np.full(places[-1].stop, 2.0) for places in places_of(SHAPE)) for _ in range(count)]
    rarities = fit_rarities(alike, SHAPE)
    assert (np.diff(rarities.tables) > 0).all()
    assert np.isfinite(rarities.maps(alike[0])).all()


def test_a_copy_on_which_good_images_vary_hides_no_defect_on_another():
    """A mean of values in one unit would show the noise of the coarse copies only."""
    images = exponential_images(40)
    coarse = places_of(SHAPE)[1][-1]
    for _, excess, _ in images:
        excess[coarse] *= 100
    rarities = fit_rarities(images[:-1], SHAPE)
    log_ratio, excess, weighed = images[-1]
    excess[20 * 48 + 30] = 40  # in the cell of rows 40 and 41, columns 60 and 61
    shown, _ = rarities.maps((log_ratio, excess, weighed))
    row, column = np.unravel_index(shown.argmax(), SHAPE)
    assert abs(row - 40.5) < 3
    assert abs(column - 60.5) < 3


@pytest.mark.parametrize("shape", [(256, 256), (130, 517)])
def test_a_map_shows_the_root_mean_square_around_each_place_where_it_is_higher(shape):
    values = ndimage.gaussian_filter(np.random.default_rng(1).exponential(size=shape), 3.0)
    around = RAISED * np.sqrt(ndimage.gaussian_filter(values**2, min(shape) / 32))
    away = np.abs(with_surroundings(values) - np.maximum(values, around))[8:-8, 8:-8]  # edges are less exact
    assert away.max() < 0.1 * np.abs(values - around).max()


@pytest.mark.parametrize("shape", [(32, 33), (130, 517)])
def test_surroundings_raise_an_even_map_evenly(shape):
    np.testing.assert_allclose(with_surroundings(np.full(shape, 3.0)), 3.0 * RAISED)


def test_a_thin_line_is_outlined_as_thin_as_it_is():
    values = np.ones((256, 256))
    values[100:102, 40:200] = 10
    shown = with_surroundings(values)
    region = find_regions(shown, near_peak(shown, 0.5))[0]
    assert (region.box.top, region.box.bottom) == (100, 102)


def test_the_calm_inside_of_a_large_defect_belongs_to_it():
    values = np.ones((256, 256))
    values[96:160, 96:160], values[104:152, 104:152] = 10, 4
    fine, shown = (find_regions(each, near_peak(each, 0.5))[0] for each in (values, with_surroundings(values)))
    assert np.count_nonzero(fine.mask) == 64**2 - 48**2
    assert np.count_nonzero(shown.mask) > 1.2 * np.count_nonzero(fine.mask)


def test_a_row_of_peaks_is_one_region():
    dots = np.zeros((256, 256))
    dots[128, 40:220:18] = 1
    values = 100 * ndimage.gaussian_filter(dots, 4.0)
    regions = [len(find_regions(each, near_peak(each, 0.35))) for each in (values, with_surroundings(values))]
    assert regions == [10, 1]
