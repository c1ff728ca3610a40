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
