"""Estimates from tables against a known truth: columns that differ independently, so that their divergences add up."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import rel_entr

import vwkde

ROWS = 400
THEN = {"mean": 0.0, "shares": [0.3, 0.3, 0.4], "members": 0.4, "gaps": 0.1}
NOW = {"mean": 0.4, "shares": [0.6, 0.3, 0.1], "members": 0.3, "gaps": 0.3}


def draw(random, mean, shares, members, gaps):
    return pd.DataFrame(
        {
            "x": np.where(random.random(ROWS) < gaps, np.nan, random.normal(mean, 1, ROWS)),
            "city": random.choice(["Ulm", "Bonn", "Kiel"], ROWS, p=shares),
            "member": random.random(ROWS) < members,
            "y": random.normal(size=ROWS),
        }
    )


def coin(name):
    return rel_entr(*([side[name], 1 - side[name]] for side in (NOW, THEN))).sum()


@pytest.mark.parametrize("seed", [40_000, 40_001])
def test_the_interval_of_a_mixed_table_has_the_truth(seed):
    of_values = (1 - NOW["gaps"]) * (NOW["mean"] - THEN["mean"]) ** 2 / 2
    truth = of_values + rel_entr(NOW["shares"], THEN["shares"]).sum() + coin("members") + coin("gaps")
    random = np.random.default_rng(seed)
    low, high = vwkde.kl_divergence(draw(random, **NOW), draw(random, **THEN), missing="indicator").interval
    assert truth / 2 < low < truth < high < 2 * truth


def test_the_level_of_the_test_holds_on_tables():
    """Of 60 tests on equal tables at most 8 find something at 5 %: more have probability 0.003 at the level."""
    random = np.random.default_rng(7)
    p_values = [
        vwkde.two_sample_test(
            draw(random, **THEN)[:60], draw(random, **THEN)[:60], missing="indicator", n_permutations=39
        ).p_value
        for _ in range(60)
    ]
    assert sum(p <= 0.05 for p in p_values) <= 8
    assert vwkde.two_sample_test(draw(random, **NOW), draw(random, **THEN), missing="indicator").p_value < 0.01


def test_discrete_columns_of_a_table_have_the_information_of_their_counts():
    random = np.random.default_rng(8)
    city = random.choice(["Ulm", "Bonn", "Kiel"], 600)
    told = np.where(random.random(600) < 0.7, city, random.permutation(city))
    codes = {name: place for place, name in enumerate(np.unique(city))}
    expected = vwkde.mutual_information(*(np.array([codes[name] for name in each]) for each in (city, told)))
    found = vwkde.mutual_information(pd.Series(city, dtype="category"), told)
    assert found.diagnostics["method"] == "table"
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.value > 0.2


def test_a_level_that_one_sample_lacks_leaves_the_guides():
    """Plain kernels, which were all that was left, saw a third less, and the interval had not the truth."""
    random = np.random.default_rng(50)
    p, q = (random.normal(0, 1, (600, 5)) + mean * np.eye(5)[0] for mean in (0.8, 0.0))
    names = ["Ulm", "Bonn", "Kiel"]
    tables = [
        pd.DataFrame(x, columns=list("abcde")).assign(city=random.choice(names, 600, p=shares))
        for x, shares in ((p, [0.4, 0.4, 0.2]), (q, [0.5, 0.5, 0.0]))
    ]
    with pytest.warns(vwkde.OverlapWarning, match="'Kiel'"), pytest.warns(vwkde.exceptions.DegenerateDataWarning):
        ratio = vwkde.DensityRatio(guide=["logistic", "gaussian"], subspace=False).fit(*tables)
    assert ratio.guide_ == "logistic"
    grid = np.linspace(-8, 8, 2_001)
    normal = np.exp(-0.5 * (grid - np.array([[0.8], [0.0]])) ** 2) / np.sqrt(2 * np.pi)
    truth = 0.1 + 0.5 * np.abs(0.8 * normal[0] - normal[1]).sum() * (grid[1] - grid[0])
    estimate = ratio.divergence("total-variation")
    assert estimate.value == pytest.approx(truth, abs=0.07)
    assert estimate.interval[0] < truth < estimate.interval[1]
