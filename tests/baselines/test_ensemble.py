import numpy as np
import pytest

from vwkde import datasets
from vwkde.baselines.ensemble import ensemble, ensemble_weights

WIDTHS = 0.4 * np.linspace(1, 2, 20)


def test_recovers_the_divergence_in_two_dimensions():
    values = [ensemble(*datasets.isotropic(2).sample(5_000, random_state=seed), 0).kl for seed in range(2)]
    assert np.mean(values) == pytest.approx(1, abs=0.1)


def test_weights_add_up_to_one_and_cancel_the_terms_of_the_bias():
    weights = ensemble_weights(WIDTHS, 1_000, 4, most_weight=50.0)
    assert weights.sum() == pytest.approx(1)
    for power in (2, 4):
        assert abs(weights @ WIDTHS**power) < 1e-4 * np.mean(WIDTHS**power)


@pytest.mark.parametrize("columns", [1, 5, 20])
def test_weights_keep_to_their_limit(columns):
    weights = ensemble_weights(WIDTHS, 1_000, columns, most_weight=0.5)
    assert weights @ weights <= 0.5 * (1 + 1e-9)
    assert weights.sum() == pytest.approx(1)


def test_no_other_weights_of_that_size_make_the_terms_smaller():
    rng = np.random.default_rng(0)
    weights = ensemble_weights(WIDTHS, 1_000, 10, most_weight=1.0)
    terms = WIDTHS ** np.arange(2, 11, 2)[:, None]
    least = np.sum((terms @ weights) ** 2)
    steps = rng.normal(size=(200, 20)) * 0.01
    others = weights + steps - steps.mean(axis=1, keepdims=True)
    no_larger = others[(others**2).sum(axis=1) <= weights @ weights]
    assert len(no_larger) > 20
    assert (np.sum((terms @ no_larger.T) ** 2, axis=0) >= least * (1 - 1e-9)).all()


def test_log_ratio_is_near_the_truth_and_sizes_may_differ():
    pair = datasets.isotropic(2)
    answer = ensemble(*pair.sample(3_000, 2_000), 0)
    x = np.array([[0.0, 0.0], [0.7, 0.5], [1.4, -0.5]])
    np.testing.assert_allclose(answer.log_ratio(x), pair.log_ratio(x), atol=0.35)
    assert answer.at_denominator.shape == (2_000,)


def test_scale_does_not_matter():
    p, q = datasets.isotropic(3).sample(200)
    assert ensemble(1000 * p, 1000 * q, 0).kl == pytest.approx(ensemble(p, q, 0).kl, rel=1e-3)


def test_bad_settings_are_told():
    p, q = datasets.isotropic(2).sample(50)
    with pytest.raises(ValueError, match="'members' parameter must be an integer of at least 2"):
        ensemble(p, q, 0, members=1)
    with pytest.raises(ValueError, match="'most_weight' parameter must exceed"):
        ensemble(p, q, 0, most_weight=0.01)
