import numpy as np
import pytest

from vwkde import datasets
from vwkde.baselines.von_mises import von_mises


def test_recovers_the_divergence_in_two_dimensions():
    values = [von_mises(*datasets.isotropic(2).sample(5_000, random_state=seed), 0).kl for seed in range(2)]
    assert np.mean(values) == pytest.approx(1, abs=0.1)


def test_the_correction_is_one_minus_the_mean_ratio():
    answer = von_mises(*datasets.isotropic(2).sample(400, 300), 0)
    assert answer.at_denominator.max() < np.log(np.sqrt(300))
    correction = 1 - np.exp(answer.at_denominator).mean()
    assert abs(correction) > 1e-3
    assert answer.kl == pytest.approx(answer.at_numerator.mean() + correction)


def test_one_outlying_row_does_not_decide():
    p, q = datasets.isotropic(2).sample(400)
    q[0] = -4.5, 0.0
    answer = von_mises(p, q, 0)
    untruncated = answer.at_numerator.mean() + 1 - np.exp(answer.at_denominator).mean()
    assert untruncated < -1
    assert 0.6 < answer.kl < 1.4


def test_scale_does_not_matter():
    p, q = datasets.isotropic(3).sample(200)
    assert von_mises(1000 * p, 1000 * q, 0).kl == pytest.approx(von_mises(p, q, 0).kl, rel=1e-6)
