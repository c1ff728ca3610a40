import numpy as np
import pytest
from scipy.stats import special_ortho_group

from vwkde import DensityRatio, kl_divergence
from vwkde._coordinates.projection import Projection, project_samples
from vwkde._data.sample import make_sample
from vwkde._fit.candidates import Candidate, Form, Space, find_candidates
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.subspace import find_subspace, project
from vwkde._models.guides.cross_fit import no_guide
from vwkde._models.weights.uniform import UniformWeight
from vwkde.datasets import isotropic, mean_difference, three_modes

PAIR, ROWS = three_modes(20), 1_500


@pytest.fixture(scope="module")
def fitted():
    return DensityRatio().fit(*PAIR.sample(ROWS))


def test_modes_among_noise_are_found_in_any_axes(fitted):
    P, Q = PAIR.sample(ROWS)
    turn = special_ortho_group.rvs(20, random_state=0)
    estimate, turned = fitted.divergence("kl"), kl_divergence(P @ turn, Q @ turn)
    assert estimate.diagnostics["coordinates"] == turned.diagnostics["coordinates"] == "subspace"
    assert estimate.value == pytest.approx(PAIR.kl, rel=0.15)
    assert turned.value == pytest.approx(estimate.value, rel=0.02)


def test_the_ratio_does_not_see_the_columns_left_out(fitted):
    assert fitted.diagnostics_["coordinates"] == "subspace"
    x = PAIR.numerator.sample(200, np.random.default_rng(1))
    moved = x + np.repeat([0.0, 0.3], [2, 18])
    assert np.abs(fitted.log_ratio(moved) - fitted.log_ratio(x)).mean() < 0.5
    assert np.corrcoef(fitted.log_ratio(x), PAIR.log_ratio(x))[0, 1] > 0.8


@pytest.mark.parametrize("pair", [isotropic(8), mean_difference(8, 0.0)])
def test_nothing_is_left_out_without_need(pair):
    coordinates = [kl_divergence(*pair.sample(300, random_state=seed)).diagnostics["coordinates"] for seed in range(3)]
    assert "subspace" not in coordinates


def test_it_can_be_refused():
    P, Q = PAIR.sample(ROWS)
    assert kl_divergence(P, Q, subspace=False).diagnostics["coordinates"] != "subspace"


def test_the_paper_is_left_alone_unless_asked():
    P, Q = three_modes(12).sample(400)
    plain = DensityRatio(guide=None, derivatives="gaussian").fit(P, Q)
    asked = DensityRatio(guide=None, derivatives="mixture", subspace=True).fit(P, Q)
    assert plain.diagnostics_["coordinates"] == "whitened"
    assert asked.diagnostics_["coordinates"] == "subspace"
    assert asked.log_weight(P).shape == asked.residual_bias(P).shape == (400,)
    assert asked.divergence("kl").value > plain.divergence("kl").value + 0.3


def directions_against(samples, log_ratios):
    """Return what is found where the best candidate in all directions has these log ratios."""
    space = Space("whitened", np.asarray, samples, (None,))
    best = Candidate(space, Form(no_guide(samples), UniformWeight()), 1.0, log_ratios)
    return find_subspace(space, [best], None, Numerics())


def test_rows_held_out_decide():
    samples = tuple(make_sample(x, np.ones(400)) for x in three_modes(8).sample(400))
    exact = tuple(three_modes(8).log_ratio(s.points) for s in samples)
    # the truth in all directions is not given up for an estimate in two
    assert directions_against(samples, exact) is None
    # and a wrong answer in all directions is given up for one
    found = directions_against(samples, tuple(-e for e in exact)).directions
    assert found.shape == (8, 2)
    assert np.linalg.norm(found[:2]) == pytest.approx(np.sqrt(2), abs=0.2)  # the modes are in the first two columns


def test_what_the_rows_add_to_their_own_directions_is_known():
    pair = three_modes(8)
    samples = tuple(make_sample(x, np.ones(400)) for x in pair.sample(400))
    found = directions_against(samples, tuple(-pair.log_ratio(s.points) for s in samples))
    # directions and ratio that have seen a row say more surely from which sample it is
    p, q = found.optimism
    assert p.mean() - q.mean() > 0
    space = Space("whitened", np.asarray, samples, ("mixture",))
    own = find_candidates(project(space, found.directions), None, Numerics())
    honest = found.candidates(space, None, Numerics())
    for with_it, without_it in zip(own, honest, strict=True):
        np.testing.assert_array_equal(with_it.at_samples[0] - p, without_it.at_samples[0])
        assert without_it.loss > with_it.loss


def test_too_few_rows_or_columns_are_not_searched(monkeypatch):
    monkeypatch.setattr("vwkde._fit.subspace.find_directions", None)
    for rows, columns in ((100, 8), (400, 3)):
        x = np.random.default_rng(0).normal(size=(2, rows, columns))
        samples = make_sample(x[0], np.ones(rows)), make_sample(x[1] + 1, np.ones(rows))
        assert directions_against(samples, (np.zeros(rows), np.zeros(rows))) is None


def test_projections_keep_rows_and_weights():
    x = np.random.default_rng(0).normal(size=(6, 3))
    sample = make_sample(x, np.arange(6) / 2.5)
    directions = np.eye(3)[:, 1:]
    p, _ = project_samples((sample, sample), directions)
    np.testing.assert_array_equal(p.points, x[sample.rows][:, 1:])
    np.testing.assert_array_equal(p.weight, sample.weight)
    np.testing.assert_array_equal(Projection(lambda z: 2 * z, directions)(x), 2 * x[:, 1:])
