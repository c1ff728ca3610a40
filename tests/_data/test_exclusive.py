"""Levels that one sample alone has: a finding where chance does not explain them, and nothing where it does."""

from collections import Counter

import numpy as np
import pytest

from vwkde._data.exclusive import only_in


def found(p, q):
    one, other = Counter(map(str, p)), Counter(map(str, q))
    levels = sorted(one | other)
    return only_in(one, other, levels), only_in(other, one, levels)


ZIPF = 1 / np.arange(1, 2001)
DRAWN = {
    "few codes": lambda random, rows: random.integers(0, 60, rows),
    "many codes": lambda random, rows: random.integers(0, 1000, rows),
    "names": lambda random, rows: random.choice(2000, rows, p=ZIPF / ZIPF.sum()),
    "ids": lambda random, rows: random.permutation(10**7)[:rows],
}


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("rows", [(180, 180), (40, 1500), (1500, 40)])
def test_samples_of_one_population_have_no_levels_of_their_own(kind, rows):
    for seed in range(25):
        random = np.random.default_rng(seed)
        p, q = (DRAWN[kind](random, count) for count in rows)
        assert found(p, q) == ((), ())


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_the_share_of_replaced_levels_is_found(share):
    random = np.random.default_rng(0)
    p, q = random.integers(0, 100, (2, 1000))
    q = np.where(q < 100 * share, q + 100, q)
    levels = found(p, q)
    for sample, own in zip((p, q), levels, strict=True):
        assert np.isin(sample.astype(str), own).mean() == pytest.approx(share, abs=0.04)


def test_a_level_alone_may_be_chance():
    assert found(["a"] * 195 + ["z"] * 5, ["a"] * 300) == ((), ())
