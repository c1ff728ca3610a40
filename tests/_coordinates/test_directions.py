import numpy as np
import pytest
from scipy.stats import special_ortho_group

from vwkde._coordinates import directions
from vwkde._coordinates.directions import find_directions
from vwkde._data.sample import make_sample
from vwkde.datasets import heteroscedastic, isotropic, mean_difference, three_modes


def samples_of(pair, n, seed=0, turn=None):
    x, y = pair.sample(n, random_state=seed)
    if turn is not None:
        x, y = x @ turn, y @ turn
    scale = np.sqrt((np.cov(x.T) + np.cov(y.T)).trace() / (2 * x.shape[1]))
    return make_sample(x / scale, np.ones(n)), make_sample(y / scale, np.ones(n))


def captured(found, truth):
    """Return the smallest share of a true direction that is in the span of the directions found."""
    return np.linalg.svd(truth.T @ found, compute_uv=False).min() if found is not None else 0.0


@pytest.mark.parametrize("seed", range(3))
def test_two_directions_of_twelve_are_found_where_first_and_second_moments_agree(seed):
    turn = special_ortho_group.rvs(12, random_state=seed)
    found = find_directions(*samples_of(three_modes(12), 600, seed, turn), seed)
    assert found.shape[1] == 2
    assert captured(found, turn[:2].T) > 0.95
    np.testing.assert_allclose(found.T @ found, np.eye(2), atol=1e-6)


def test_a_shift_is_one_direction():
    found = find_directions(*samples_of(isotropic(8), 500), 0)
    assert captured(found[:, :1], np.eye(8)[:, :1]) > 0.95


def test_equal_densities_have_none():
    none = [find_directions(*samples_of(mean_difference(8, 0.0), 300, seed), seed) is None for seed in range(10)]
    assert sum(none) >= 6


def test_equal_rows_do_no_harm():
    """Two equal rows have no direction between them; where all are equal but for one direction, it is the only one."""
    random = np.random.default_rng(0)
    for p, q in (
        (random.integers(0, 2, (200, 4)), random.integers(0, 2, (200, 4)) + np.array([1, 0, 0, 0])),
        (np.outer(random.random(80) < 0.5, [1, 0, 0, 0]), np.zeros((80, 4))),
    ):
        found = find_directions(*(make_sample(x.astype(float), np.ones(len(x))) for x in (p, q)), 0)
        assert captured(found[:, :1], np.eye(4)[:, :1]) > 0.9
        np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-6)
    constant = make_sample(np.zeros((50, 3)), np.ones(50))
    assert find_directions(constant, constant, 0) is None


def test_many_directions_are_none_to_choose_from():
    assert find_directions(*samples_of(heteroscedastic(10), 2_000), 0) is None


def test_a_rotation_of_the_data_rotates_what_is_found():
    turn = special_ortho_group.rvs(8, random_state=1)
    plain = find_directions(*samples_of(three_modes(8), 400), 0)
    turned = find_directions(*samples_of(three_modes(8), 400, turn=turn), 0)
    np.testing.assert_allclose(turn.T @ plain @ plain.T @ turn, turned @ turned.T, atol=1e-3)


def test_weights_count():
    one, other = samples_of(three_modes(6), 500)
    shifted = make_sample(
        np.concatenate([other.points, one.points]), np.repeat([2.0, 0.0], 500)
    )  # rows of the numerator that do not count
    assert captured(find_directions(one, shifted, 0), np.eye(6)[:, :2]) > 0.9


def test_the_slope_is_that_of_the_difference():
    random = np.random.default_rng(0)
    points, shares = random.normal(size=(40, 3)), random.normal(size=40)
    difference = directions._difference(points, shares, points[:, :1])
    direction = random.normal(size=(3, 2)).astype(np.float32)
    slope = difference._value_and_slope(direction)[1]
    step = np.float32(1e-2)
    for i in range(3):
        shift = step * np.eye(3, dtype=np.float32)[:, i : i + 1]
        up, down = (difference._value_and_slope(direction + sign * shift)[0] for sign in (1, -1))
        np.testing.assert_allclose((up - down) / (2 * step), slope[i], rtol=0.01, atol=0.01 * np.abs(slope).max())


def test_the_difference_is_that_of_the_characteristic_functions():
    random = np.random.default_rng(0)
    points = random.normal(size=(50, 3))
    shares = np.repeat([1 / 20, -1 / 30], [20, 30])
    direction = np.array([[0.6], [0.8], [0.0]], dtype=np.float32)
    found = directions._difference(points, shares, points[:, :0])._value_and_slope(direction)[0]
    z = points @ direction[:, 0]
    gaps = [np.exp(1j * t * z[:20]).mean() - np.exp(1j * t * z[20:]).mean() for t in (0.5, 1.0, 1.5, 2.0)]
    assert found[0] == pytest.approx(sum(abs(gap) ** 2 for gap in gaps), rel=1e-4)
