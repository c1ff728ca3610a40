"""Coordinate systems of the default: ranks of some of many rows are enough, and which ones depends on the data only."""

import numpy as np
import pytest

from vwkde import DensityRatio
from vwkde._fit import spaces

GUIDES = ["additive", "logistic"]


def skewed_pair(rows=600):
    random = np.random.default_rng(2)
    return np.exp(random.normal(size=(rows, 2))), np.exp(random.normal([0.5, 0], 1, (rows, 2)))  # KL = 0.125


def test_ranks_of_some_rows_give_nearly_the_answer_of_all(monkeypatch):
    p, q = skewed_pair()
    of_all = DensityRatio(guide=GUIDES).fit(p, q).divergence("kl")
    monkeypatch.setattr(spaces, "_MOST_RANKED", 200)
    of_some = DensityRatio(guide=GUIDES).fit(p, q).divergence("kl")
    assert of_some.value != of_all.value
    assert of_some.value == pytest.approx(of_all.value, abs=0.3 * of_all.standard_error)


def test_the_rows_that_are_ranked_do_not_depend_on_their_order(monkeypatch):
    p, q = skewed_pair()
    monkeypatch.setattr(spaces, "_MOST_RANKED", 200)
    shuffled = np.random.default_rng(0).permutation(p)
    one, other = (DensityRatio(guide=GUIDES).fit(each, q).divergence("kl").value for each in (p, shuffled))
    assert one == pytest.approx(other, rel=1e-9)
