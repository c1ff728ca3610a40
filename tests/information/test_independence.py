"""The test of independence: an exact level, also with ties and groups, and the power to see different relations."""

import numpy as np
import pytest

import vwkde
from vwkde.information._independence import _components, _permuted


def p_values(draw, rows, seeds=200, **parameters):
    found = []
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        x, y = draw(random, rows)
        found.append(vwkde.independence_test(x, y, n_permutations=39, random_state=seed, **parameters).p_value)
    return np.array(found)


@pytest.mark.parametrize(
    "draw",
    [
        lambda random, n: random.normal(size=(2, n)),
        lambda random, n: random.integers(2, size=(2, n)),
        lambda random, n: (random.standard_cauchy(size=(n, 3)), random.integers(3, size=n)),
    ],
)
def test_the_level_is_exact_for_few_rows(draw):
    found = p_values(draw, 15)
    for level in (0.05, 0.1, 0.5):
        assert np.mean(found <= level) <= level + 2.5 * np.sqrt(level * (1 - level) / 200)
    assert np.mean(found <= 0.5) > 0.2  # and it is no constant


def test_groups_keep_the_level():
    groups = np.repeat(np.arange(20), 4)

    def alike(random, n):
        return np.repeat(random.normal(size=(2, n)), 4, axis=1) + 0.1 * random.normal(size=(2, 4 * n))

    assert np.mean(p_values(alike, 20, 100) <= 0.05) > 0.2  # without groups, rows look like many
    assert np.mean(p_values(alike, 20, 100, groups=groups) <= 0.05) <= 0.11


@pytest.mark.parametrize(
    ("relation", "name"),
    [
        (lambda x, noise: x + noise, "correlations"),
        (lambda x, noise: x * noise, "moments"),
        (lambda x, noise: np.abs(x) + 0.3 * noise, "distances"),
        (lambda x, noise: np.sin(4 * x) + 0.3 * noise, "kernels"),
    ],
)
def test_each_statistic_sees_its_relation(relation, name):
    x, noise = np.random.default_rng(0).normal(size=(2, 200))
    result = vwkde.independence_test(x, relation(x, noise))
    assert result.p_value <= 0.02
    assert result.p_values[name] <= 0.006


def test_many_columns_and_many_rows():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(2, 5_000, 30))
    assert vwkde.independence_test(x, y, n_permutations=39).p_value > 0.05
    assert vwkde.independence_test(x, y + x[:, ::-1], n_permutations=39).p_value == pytest.approx(1 / 40)


def test_components_give_the_distance_covariance():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 2))

    def centred(z):
        d = -np.linalg.norm(z[:, None] - z, axis=2)
        return d - d.mean(axis=0) - d.mean(axis=1)[:, None] + d.mean()

    of_x, of_y = (_components(z, z, lambda d: -d) for z in (x, y))
    assert ((of_x.T @ of_y) ** 2).sum() == pytest.approx((centred(x) * centred(y)).sum(), rel=0.02)


def test_whole_groups_of_one_size_are_exchanged():
    group = np.array([0, 1, 1, 2, 2, 0, 3, 3, 3])
    order = _permuted(9, group, np.random.default_rng(4))
    assert sorted(order) == list(range(9))
    for each in range(4):
        assert len(set(group[order[group == each]])) == 1
    assert (order[6:] == [6, 7, 8]).all()


def test_a_constant_is_independent_of_everything():
    assert vwkde.independence_test(np.ones(30), np.arange(30.0)).p_value == 1


def test_bad_input_is_told():
    x = np.arange(20.0)
    with pytest.raises(ValueError, match="'n_permutations' parameter of independence_test"):
        vwkde.independence_test(x, x, n_permutations=10)
    with pytest.raises(ValueError, match="same number of rows"):
        vwkde.independence_test(x, x[:-1])
    with pytest.raises(ValueError, match="at least 5 groups with the same number of rows"):
        vwkde.independence_test(x, x, groups=np.repeat(np.arange(6), [1, 2, 3, 4, 5, 5]))


def test_a_notebook_shows_the_p_values():
    result = vwkde.independence_test(*np.random.default_rng(0).normal(size=(2, 20)), n_permutations=19)
    assert "test of independence" in result._repr_html_()
    assert "kernels" in str(result)
