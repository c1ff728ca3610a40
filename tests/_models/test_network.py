import threading
import time
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from vwkde._compute import parallel
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides import GUIDES, worth_trying
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.network import (
    Training,
    _layers_of,
    _order,
    _set_slopes,
    _start,
    fit_network,
    fit_networks,
    have_several_columns,
)
from vwkde._models.log_loss import log_loss

COLUMNS, STEEPNESS = 6, 1.5
SMALL = Training(width=16, steps=200)


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def tilt(x):
    """A function of three columns that shows in no pair of them."""
    return STEEPNESS * np.tanh(3 * np.prod(x[:, :3], axis=1))


def log_ratio(x):
    known = np.random.default_rng(9).normal(size=(200_000, COLUMNS))
    return tilt(x) - np.log(np.mean(np.exp(tilt(known))))


def octants(rows, seed=0):
    """Normal rows of which those in four of the octants of three columns are more likely to be accepted, and others."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(10 * rows, COLUMNS))
    accepted = x[random.uniform(size=len(x)) < np.exp(tilt(x) - STEEPNESS)]
    assert len(accepted) > rows
    return accepted[:rows], random.normal(size=(rows, COLUMNS))


def test_the_guide_finds_what_only_three_columns_together_show():
    p, q = map(sample, octants(8_000))
    truth = log_ratio(p.points).mean()
    network, quadratic = (cross_fit(name, (p, q), 0) for name in ("network", "logistic"))
    assert np.mean(network.at_samples[0]) == pytest.approx(truth, rel=0.2)
    assert abs(np.mean(quadratic.at_samples[0])) < 0.1 * truth
    best = log_loss((log_ratio(p.points), log_ratio(q.points)), (p, q))
    assert log_loss(network.at_samples, (p, q)) - best < 0.25 * (np.log(2) - best)


def test_slopes_are_those_of_the_weighted_log_loss():
    random = np.random.default_rng(0)
    sizes, rows, networks = [3, 5, 4, 1], 40, 2
    shape = networks, rows
    x, sign, weight = random.normal(size=(*shape, 3)), random.choice([-1.0, 1.0], shape), random.uniform(0.5, 2, shape)
    parameters = np.stack([_start(sizes, random) for _ in range(networks)]).astype(np.float64)
    slope = np.empty_like(parameters)
    layers = _layers_of(parameters, sizes)
    layers[-1][0][:] = random.normal(size=(networks, 4, 1))  # it starts at zero

    def loss(network):
        entering = x[network]
        for weights, bias in layers[:-1]:
            z = entering @ weights[network] + bias[network]
            entering = z / (1 + np.exp(-z))
        log_odds = (entering @ layers[-1][0][network] + layers[-1][1][network])[:, 0]
        return np.mean(weight[network] * np.logaddexp(0, -sign[network] * log_odds))

    _set_slopes(layers, _layers_of(slope, sizes), x, (sign, weight))
    for network, number in product(range(networks), range(0, parameters.shape[1], 7)):
        value, values = parameters[network, number], []
        for step in (-1e-5, 1e-5):
            parameters[network, number] = value + step
            values.append(loss(network))
        parameters[network, number] = value
        assert slope[network, number] == pytest.approx((values[1] - values[0]) / 2e-5, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_rows_are_sorted_by_all_columns_from_the_last(decimals):
    x = np.round(np.random.default_rng(0).normal(size=(300, 3)), decimals)
    np.testing.assert_array_equal(_order(x), np.lexsort(x.T))


def test_samples_of_unequal_size_have_equal_weight():
    x = np.random.default_rng(0).normal(size=(5_000, 2))
    guide = fit_network(SMALL, sample(x[:4_000]), sample(x[4_000:]))
    assert abs(guide(x).mean()) < 0.2  # the log odds of the sizes are 1.4


def test_rows_count_by_their_weights():
    x = np.random.default_rng(0).normal(size=(8_000, 2))
    p, q = sample(x[:4_000]), sample(x[4_000:])
    guide = fit_network(SMALL, replace(p, weight=np.where(p.points[:, 0] > 0, 1.8, 0.2)), q)
    right, left = (guide(x[here]).mean() for here in (x[:, 0] > 0.3, x[:, 0] < -0.3))
    assert right == pytest.approx(np.log(1.8), abs=0.2)
    assert left == pytest.approx(np.log(0.2), abs=0.5)


def test_points_beyond_all_rows_have_the_value_at_the_edge():
    p, q = map(sample, octants(1_000))
    guide = fit_network(SMALL, p, q)
    edge = np.maximum(p.points.max(axis=0), q.points.max(axis=0))
    assert guide(np.full((1, COLUMNS), 1e9)) == pytest.approx(guide(edge[None]), rel=1e-6)


def test_few_rows_and_no_points_are_no_error():
    p, q = map(sample, octants(20))
    assert np.isfinite(fit_network(SMALL, p, q)(p.points)).all()
    assert fit_network(SMALL, p, q)(np.empty((0, COLUMNS))).shape == (0,)


def test_it_is_tried_on_many_rows_of_several_columns_and_not_on_pairs():
    assert "network" in worth_trying(None, 2_000)
    assert "network" not in worth_trying(None, 1_999)
    p, q = map(sample, octants(50))
    assert have_several_columns(p, q)
    assert not have_several_columns(sample(p.points[:, :3]), sample(q.points[:, :3]))
    assert not have_several_columns(p, replace(q, pairs=Pairs(3, np.arange(50), np.arange(50))))


def test_folds_are_fitted_on_several_threads(monkeypatch):
    """Training is a compiled loop without the interpreter's lock, so that they do not wait for each other."""
    threads = set()

    def note(*_):
        threads.add(threading.current_thread())
        time.sleep(0.05)
        return lambda x: np.zeros(len(x))

    monkeypatch.setitem(GUIDES, "network", replace(GUIDES["network"], forms=lambda *_: (note,)))
    p, q = map(sample, np.random.default_rng(0).normal(size=(2, 2_000, 4)))
    with parallel.at_most(2):
        cross_fit("network", (p, q), seed=0)
    assert len(threads) == 2


@pytest.mark.parametrize("weighted", [False, True])
def test_the_compiled_loop_trains_the_network_of_the_slow_one(weighted):
    p, q = map(sample, octants(600))
    p = replace(p, weight=np.where(p.points[:, 0] > 0, 1.5, 0.5)) if weighted else p
    training = Training(width=16, steps=60)
    compiled, slow = fit_network(training, p, q), fit_networks(training, p, q, (0,))[0]
    assert slow(p.points).std() > 0.05
    np.testing.assert_allclose(compiled(p.points), slow(p.points), atol=1e-4)


def test_networks_of_other_seeds_start_elsewhere_and_agree_about_the_samples():
    random = np.random.default_rng(0)
    samples = [sample(random.normal(shift, 1, size=(400, 2))) for shift in (1.0, 0.0)]
    training = Training(width=8, steps=200)
    one, other = fit_networks(training, *samples, seeds=(0, 1))
    x = random.normal(0.5, 1, size=(200, 2))
    np.testing.assert_allclose(one(x), fit_network(training, *samples)(x), atol=1e-3)
    np.testing.assert_allclose(other(x), fit_networks(training, *samples, seeds=(1,))[0](x), atol=1e-3)
    assert np.abs(one(x) - other(x)).max() > 1e-3
    assert np.corrcoef(one(x), other(x))[0, 1] > 0.95
