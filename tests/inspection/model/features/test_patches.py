import numpy as np
import pytest
from scipy.stats import kurtosis, skew

from vwkde.inspection.model.features.patches import WHOLE_GRID, PatchGrid


def test_the_papers_grid_has_900_patches():
    grid = PatchGrid()
    assert grid.shape((512, 512)) == (30, 30)
    assert grid.starts(512)[[0, 1, -1]].tolist() == [0, 16, 464]
    assert grid.shape((32, 64)) == (1, 2)


def test_a_whole_grid_reaches_the_edges():
    assert WHOLE_GRID.starts(512)[[0, 1, -2, -1]].tolist() == [0, 16, 464, 480]
    assert WHOLE_GRID.starts(500)[-3:].tolist() == [448, 464, 468]
    assert WHOLE_GRID.starts(32).tolist() == [0]
    assert WHOLE_GRID.starts(33).tolist() == [0, 1]
    for side in range(32, 120):
        starts = WHOLE_GRID.starts(side)
        assert starts[-1] + 32 == side
        assert (np.diff(starts) > 0).all()
        assert (np.diff(starts) <= 16).all()


def test_sums_are_those_of_loops():
    image = np.random.default_rng(0).normal(size=(70, 53))
    grid = PatchGrid(size=16, step=7)
    found = grid.sums(image)
    for i, top in enumerate(grid.starts(70)):
        for j, left in enumerate(grid.starts(53)):
            assert found[i, j] == pytest.approx(image[top : top + 16, left : left + 16].sum())


def test_a_map_is_the_mean_of_the_patches_over_each_pixel():
    grid = PatchGrid(size=8, step=4)
    shape = (30, 23)
    values = np.random.default_rng(0).normal(size=grid.shape(shape))
    total, count = np.zeros(shape), np.zeros(shape)
    for i, top in enumerate(grid.starts(30)):
        for j, left in enumerate(grid.starts(23)):
            total[top : top + 8, left : left + 8] += values[i, j]
            count[top : top + 8, left : left + 8] += 1
    found = grid.spread(values, shape)
    covered = count > 0
    np.testing.assert_allclose(found[covered], (total[covered] / count[covered]))
    last_row, last_column = np.argwhere(covered)[-1]
    np.testing.assert_allclose(found[last_row + 1 :], np.tile(found[last_row], (30 - last_row - 1, 1)))
    np.testing.assert_allclose(found[:, -1], found[:, last_column])


def test_images_smaller_than_a_patch_are_told():
    with pytest.raises(ValueError, match="at least 32 × 32 pixels"):
        PatchGrid().shape((31, 100))
    with pytest.raises(ValueError, match="must be gray"):
        PatchGrid().shape((64, 64, 3))


def test_means_maxima_and_moments_are_those_of_loops():
    values = np.random.default_rng(0).gamma(2.0, 0.05, size=(96, 128))
    means, maxima, moments = (
        PatchGrid().means(values),
        PatchGrid().maxima(values),
        np.stack(PatchGrid().moments(values), axis=-1),
    )
    assert means.shape == maxima.shape == moments.shape[:2] == (4, 6)
    for i, top in enumerate(PatchGrid().starts(96)):
        for j, left in enumerate(PatchGrid().starts(128)):
            patch = values[top : top + 32, left : left + 32].ravel()
            expected = [patch.mean(), patch.std(), skew(patch), kurtosis(patch, fisher=False)]
            np.testing.assert_allclose(moments[i, j], expected, rtol=1e-8)
            assert means[i, j] == pytest.approx(patch.mean(), rel=1e-12)
            assert maxima[i, j] == patch.max()
