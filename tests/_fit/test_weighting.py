import numpy as np
import pytest

from vwkde import DensityRatio
from vwkde._fit import weighting
from vwkde.datasets import isotropic


def fitted(samples, **options):
    return DensityRatio(guide=None, derivatives="gaussian", max_basis=50, **options).fit(*samples)


def test_many_rows_are_not_all_needed_to_fit_the_weight(monkeypatch):
    samples = isotropic(2).sample(2_000, 1_500)
    by_all = fitted(samples)
    assert "rows_learnt" not in by_all.diagnostics_
    monkeypatch.setattr(weighting, "_MANY_ROWS", 1_000)
    monkeypatch.setattr(weighting, "_ROWS_PER_BASIS", 35)
    by_some = fitted(samples)
    assert by_some.diagnostics_["rows_learnt"] == [1_750, 1_500]
    np.testing.assert_array_equal(by_some.weight_.basis, by_all.weight_.basis)
    assert np.abs(by_some.weight_.coefficients - by_all.weight_.coefficients).max() > 0
    one, other = (ratio.divergence("kl") for ratio in (by_some, by_all))
    assert one.value == pytest.approx(other.value, abs=0.1 * other.standard_error)


def test_few_rows_are_all_used_whatever_the_basis():
    assert weighting.rows_that_tell(1) == weighting.rows_that_tell(500) == 20_000
    assert weighting.rows_that_tell(3_000) == 120_000


@pytest.mark.parametrize("target", ["posterior", "ratio", "kl"])
def test_every_target_can_do_with_some_rows(monkeypatch, target):
    samples = isotropic(2).sample(1_200)
    by_all = fitted(samples, target=target).divergence("kl")
    monkeypatch.setattr(weighting, "_MANY_ROWS", 600)
    monkeypatch.setattr(weighting, "_ROWS_PER_BASIS", 1)
    by_some = fitted(samples, target=target).divergence("kl")
    assert by_some.value == pytest.approx(by_all.value, abs=0.5 * by_all.standard_error)
