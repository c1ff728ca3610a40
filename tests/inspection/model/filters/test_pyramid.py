import numpy as np
import pytest

from vwkde.inspection.model.filters.pyramid import Pyramid, halved

GRID = Pyramid()


@pytest.mark.parametrize(
    ("shape", "halvings"),
    [
        ((32, 400), range(1)),
        ((64, 64), range(1)),
        ((128, 200), range(2)),
        ((512, 512), range(4)),
        ((1024, 1024), range(4)),
        ((4096, 4096), range(2, 6)),
    ],
)
def test_copies_have_room_for_two_patches_and_not_too_many(shape, halvings):
    assert GRID.halvings(shape) == halvings
    assert max(rows * columns for rows, columns in GRID.grids(shape)) <= GRID.most


def test_patches_fill_every_copy_of_an_extended_image():
    image = np.random.default_rng(0).random((130, 201)).astype(np.float32)
    extended = GRID.extended(image)
    assert extended.shape == GRID.padded(image.shape) == (160, 224)
    np.testing.assert_array_equal(extended[:130, :201], image)
    np.testing.assert_array_equal(extended[130:159, :201], image[:100:-1])
    assert GRID.grids(image.shape) == [(9, 13), (4, 6)]
    assert GRID.shape(image.shape) == (9 * 13 + 4 * 6, 1)


def test_a_small_or_coloured_image_is_refused():
    for shape in ((31, 80), (80, 80, 3)):
        with pytest.raises(ValueError, match="gray and at least 32 × 32"):
            GRID.shape(shape)


def test_a_patch_is_highest_at_its_centre_and_fades_to_its_neighbours():
    values = np.zeros(sum(rows * columns for rows, columns in GRID.grids((64, 64))))
    values[1 * 3 + 1] = 1.0  # the patch whose pixels are 16 to 48 in both directions
    spread = GRID.spread(values, (64, 64))
    assert spread.shape == (64, 64)
    assert spread[31:33, 31:33].min() == spread.max() > 0.9
    assert not spread[:16].any()
    assert not spread[48:].any()


def test_a_map_is_the_mean_over_the_copies():
    grids = GRID.grids((130, 201))
    values = np.concatenate(
        [np.full(rows * columns, level) for (rows, columns), level in zip(grids, (2, 4), strict=True)]
    )
    np.testing.assert_allclose(GRID.spread(values, (130, 201)), 3.0)


def test_half_the_size_keeps_long_waves_and_drops_short_ones():
    columns = np.arange(128)
    waves = [np.tile(np.cos(2 * np.pi * columns / length), (64, 1)).astype(np.float32) for length in (32, 2.5)]
    long, short = (halved(wave)[:, 8:-8] for wave in waves)
    assert long.shape == (32, 48)
    assert np.abs(long).max() > 0.95
    assert np.abs(short).max() < 0.1
