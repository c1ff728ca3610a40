"""Divergences from exact log ratios have exact limits; noise in the ratio cancels as far as the mathematics say."""

import numpy as np
import pytest

from vwkde._answers.functionals import (
    KINDS,
    AtSample,
)
from vwkde.datasets import Gaussian, GaussianPair, mean_difference, one_dimensional

RANDOM = np.random.default_rng(0)

UNEQUAL = GaussianPair(Gaussian(np.zeros(3), np.eye(3)), Gaussian(np.array([0.3, 0.0, 0.3]), np.diag([1.3, 1.0, 1.6])))
PAIRS = {"1-D": one_dimensional(), "3-D shifted": mean_difference(3, 1.0), "3-D unequal": UNEQUAL}
OPTIONS = {"renyi": {"order": 0.3}}


def exact(pair, kind, order=0.3):
    """Return the divergence by closed forms, or by simulation of a bounded integrand where there is none."""
    if kind == "kl":
        return pair.kl
    if kind == "reverse-kl":
        return GaussianPair(pair.denominator, pair.numerator).kl
    if kind in ("hellinger", "renyi", "chi2"):
        a = {"hellinger": 0.5, "renyi": order, "chi2": 2.0}[kind]
        affinity = gaussian_affinity(pair, a)
        if kind == "chi2":
            return affinity - 1
        return np.sqrt(1 - affinity) if kind == "hellinger" else np.log(affinity) / (a - 1)
    u = pair.log_ratio(np.concatenate(pair.sample(500_000, random_state=99)))
    eta = 1 / (1 + np.exp(-u))
    if kind == "total-variation":
        return np.mean(np.abs(2 * eta - 1))
    return np.mean(np.log(2) + eta * np.log(eta) + (1 - eta) * np.log1p(-eta))


def gaussian_affinity(pair, a):
    """Return ∫ p^a q^(1−a) of two Gaussians."""
    s, t = pair.numerator.covariance, pair.denominator.covariance
    mixed = (1 - a) * s + a * t
    difference = pair.numerator.mean - pair.denominator.mean
    volume = (1 - a) * np.linalg.slogdet(s)[1] + a * np.linalg.slogdet(t)[1] - np.linalg.slogdet(mixed)[1]
    return np.exp(0.5 * volume - 0.5 * a * (1 - a) * difference @ np.linalg.solve(mixed, difference))


def sampled(pair, rows, seed, noise=0.0):
    random = np.random.default_rng(1_000 + seed)
    return [
        AtSample(pair.log_ratio(x) + noise * random.normal(size=rows), np.ones(rows))
        for x in pair.sample(rows, random_state=seed)
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_exact_ratios_give_exact_divergences(kind, pair):
    truth = exact(pair, kind)
    values = [KINDS[kind](*sampled(pair, 2_000, seed), **OPTIONS.get(kind, {}))[0] for seed in range(100)]
    if kind == "chi2" and pair is PAIRS["1-D"]:  # its tail is longer than any sample shows
        assert 0.5 * truth < np.mean(values) < truth
        return
    assert np.mean(values) == pytest.approx(truth, abs=4 * np.std(values) / np.sqrt(100) + 0.01 * truth)


@pytest.mark.parametrize("order", [1 - 1e-12, 1 - 1e-7, 1 - 1e-5, 0.999, 1.001, 1 + 1e-5, 1 + 1e-7, 1 + 1e-12])
def test_orders_close_to_one_are_close_to_kl(order):
    """At order 0.999 the estimate was far off wherever the level of the log ratio was a little off."""
    p, q = sampled(PAIRS["3-D shifted"], 2_000, 0, noise=0.1)
    off = [at._replace(log_ratio=at.log_ratio + 0.05) for at in (p, q)]
    value, error = KINDS["renyi"](*off, order=order)
    assert value == pytest.approx(0.5, abs=0.1)
    assert error == pytest.approx(KINDS["kl"](p, q)[1], rel=0.2)


@pytest.mark.parametrize("order", [1e-3, 1e-9])
def test_small_orders_are_proportional_to_the_order(order):
    p, q = sampled(PAIRS["3-D shifted"], 2_000, 0, noise=0.1)
    off = [at._replace(log_ratio=at.log_ratio + 0.05) for at in (p, q)]
    assert KINDS["renyi"](*off, order=order)[0] == pytest.approx(0.5 * order, rel=0.2)


@pytest.mark.parametrize("order", [0.8, 1.5, 2.0])
def test_orders_below_and_above_one(order):
    pair = PAIRS["3-D shifted"]
    values = [KINDS["renyi"](*sampled(pair, 2_000, seed), order=order)[0] for seed in range(100)]
    assert np.mean(values) == pytest.approx(0.5 * order, rel=0.02)


def test_errors_are_those_of_the_influence_functions():
    pair = PAIRS["3-D shifted"]
    p, q = sampled(pair, 100_000, 0)
    variance_of_log_ratio, variance_of_ratio = 1.0, np.e - 1  # of two unit Gaussians one apart
    expected = np.sqrt((variance_of_log_ratio + variance_of_ratio) / 100_000)
    assert KINDS["kl"](p, q)[1] == pytest.approx(expected, rel=0.02)
    assert KINDS["total-variation"](p, q)[1] == pytest.approx(np.sqrt(2 * 0.6915 * 0.3085 / 100_000), rel=0.02)


def test_known_noise_of_the_ratio_is_no_scatter_of_the_rows():
    p, q = sampled(PAIRS["3-D shifted"], 20_000, 0, noise=0.3)
    error = KINDS["kl"](p, q)[1]
    less = KINDS["kl"](p, q._replace(noise=np.full(20_000, 0.09)))[1]
    clean = KINDS["kl"](p, sampled(PAIRS["3-D shifted"], 20_000, 0)[1])[1]
    assert less < error
    assert abs(less - clean) < 0.5 * abs(error - clean)
    swamped = KINDS["kl"](p, q._replace(noise=np.full(20_000, 1e3)))[1]
    assert swamped > 0.5 * error


@pytest.mark.parametrize(
    ("kind", "order"),
    [("jensen-shannon", None), ("hellinger", None), ("renyi", 0.3), ("renyi", 1.5), ("renyi", 2.0), ("chi2", None)],
)
def test_noise_in_the_ratio_cancels_to_second_order(kind, order):
    pair = PAIRS["3-D shifted"]
    truth, options = exact(pair, kind, order), {} if order is None else {"order": order}
    noisy = [KINDS[kind](*sampled(pair, 20_000, seed, noise=0.5), **options)[0] for seed in range(20)]
    assert np.mean(noisy) == pytest.approx(truth, rel=0.06)


@pytest.mark.parametrize("order", [1.2, 2.0, 3.0])
def test_a_constant_factor_in_the_ratio_changes_no_order_above_one(order):
    p, q = sampled(PAIRS["3-D shifted"], 500, 0)
    value = KINDS["renyi"](p, q, order=order)
    shifted = [at._replace(log_ratio=at.log_ratio + 0.3) for at in (p, q)]
    assert KINDS["renyi"](*shifted, order=order) == pytest.approx(value)


@pytest.mark.parametrize("distance", [0.5, 2.0])
@pytest.mark.parametrize("kind", ["jensen-shannon", "hellinger"])
def test_the_noise_that_remains_is_that_of_the_derivation(kind, distance):
    """On a grid, with noise ±s: the means of the terms change as the mathematics say, to second order."""
    x, s = np.linspace(-12, 12, 200_001), 0.05  # so fine that no ratio that matters is truncated
    p, q = (np.exp(-((x - mean) ** 2) / 2) for mean in (distance, 0.0))
    u = distance * x - distance**2 / 2
    clean, noisy = (
        KINDS[kind](*(AtSample(np.concatenate([u - noise, u + noise]), np.tile(weight, 2)) for weight in (p, q)))[0]
        for noise in (0, s)
    )
    if kind == "jensen-shannon":
        expected = -(s**2) / 8 * np.average(u * np.tanh(u / 2) / (1 + np.exp(-u)), weights=q)
    else:  # the affinity is 1 − H²
        expected = -(s**2) / 8 * np.average(np.exp(u / 2) * np.tanh(u / 2) ** 2, weights=q) / (2 * clean)
    assert noisy - clean == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_weights_count_like_copies(kind):
    p, q = (at._replace(log_ratio=0.3 * at.log_ratio) for at in sampled(PAIRS["3-D shifted"], 50, 0))
    counts = np.arange(50) % 3
    weighted = KINDS[kind](p._replace(weight=counts.astype(float)), q, **OPTIONS.get(kind, {}))
    copies = KINDS[kind](AtSample(np.repeat(p.log_ratio, counts), np.ones(counts.sum())), q, **OPTIONS.get(kind, {}))
    assert weighted[0] == pytest.approx(copies[0], rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_extreme_ratios_give_finite_answers(kind):
    far = AtSample(np.array([1e5, 2e5, 3e5]), np.ones(3)), AtSample(np.array([-1e5, -2e5, -3e5]), np.ones(3))
    assert np.isfinite(KINDS[kind](*far, **OPTIONS.get(kind, {}))).all()
    assert np.isfinite(KINDS[kind](*reversed(far), **OPTIONS.get(kind, {}))).all()


@pytest.mark.parametrize(("kind", "largest"), [("jensen-shannon", np.log(2)), ("total-variation", 1.0)])
def test_bounded_divergences_reach_their_bounds(kind, largest):
    far = AtSample(np.full(500, 40.0), np.ones(500)), AtSample(np.full(500, -40.0), np.ones(500))
    assert KINDS[kind](*far)[0] == pytest.approx(largest, rel=0.02)


def test_high_orders_do_not_overflow():
    random = np.random.default_rng(0)
    p, q = AtSample(random.normal(1, 1, 500), np.ones(500)), AtSample(random.normal(-1, 1, 500), np.ones(500))
    value, error = KINDS["renyi"](p, q, order=400.0)
    largest = p.log_ratio.max() - np.log(np.exp(q.log_ratio).mean())  # ratios have mean one over the denominator
    assert largest - np.log(500) / 399 - 1e-9 <= value <= largest
    assert 0 < error < np.inf


def test_high_orders_with_larger_ratios_in_the_denominator_do_not_overflow():
    random = np.random.default_rng(0)
    p, q = AtSample(random.normal(0, 1, 500), np.ones(500)), AtSample(random.normal(1, 2, 500), np.ones(500))
    value, error = KINDS["renyi"](p, q, order=1000.0)
    assert value == pytest.approx(p.log_ratio.max() - np.log(np.exp(q.log_ratio).mean()), abs=0.5)
    assert 0 < error < np.inf


def in_groups(pair, groups, size, seed):
    """Return exact log ratios, as those of independent rows and as those of groups whose rows are equal."""
    one, other = sampled(pair, groups, seed)
    group = np.repeat(np.arange(groups), size)
    repeated = [
        AtSample(np.repeat(at.log_ratio, size), np.ones(groups * size), at.noise, group=group, worth=groups)
        for at in (one, other)
    ]
    return (one, other), repeated


@pytest.mark.parametrize("kind", ["kl", "reverse-kl", "jensen-shannon", "hellinger", "chi2", "total-variation"])
def test_groups_of_equal_rows_are_worth_one_row_each(kind):
    """The ratio was truncated as if the rows of a group were independent, which made the error of KL twice as large."""
    for seed in range(5):
        rows, repeated = in_groups(PAIRS["3-D shifted"], 20, 50, seed)
        (value, error), (of_groups, error_of_groups) = KINDS[kind](*rows), KINDS[kind](*repeated)
        assert of_groups == pytest.approx(value, rel=1e-9)
        assert error_of_groups == pytest.approx(error, rel=0.06)  # √(20/19), and hardly more
