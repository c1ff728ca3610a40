import numpy as np
import pytest

from support.known import BANANA, THREE_MODES, score_error, score_matching_loss
from vwkde._data.sample import make_sample
from vwkde._models.derivatives import select
from vwkde._models.derivatives.kernel import fit_kernel
from vwkde._models.derivatives.mixture import fit_mixture
from vwkde._models.derivatives.select import select_derivatives
from vwkde._models.gaussian import fit_gaussian
from vwkde.exceptions import DegenerateDataWarning


def chosen(density, n, seeds=range(10)):
    samples = [density.sample(n, np.random.default_rng(seed)) for seed in seeds]
    return [select_derivatives(x, np.ones(n))[0].kind for x in samples]


class Normal:
    def sample(self, n, random):
        return random.normal(size=(n, 5))


def test_a_gaussian_sample_keeps_the_gaussian():
    assert chosen(Normal(), 150).count("gaussian") >= 9


@pytest.mark.parametrize(("density", "n"), [(THREE_MODES, 150), (BANANA, 250)])
def test_other_shapes_do_not(density, n):
    kinds = chosen(density, n)
    assert kinds.count("mixture") + kinds.count("kernel") >= 9


def test_the_choice_is_refitted_to_all_rows_and_is_nearer_to_the_truth():
    x, weight = BANANA.sample(250, np.random.default_rng(0)), np.ones(250)
    model, losses = select_derivatives(x, weight)
    fits = {"gaussian": fit_gaussian(x, weight), "mixture": fit_mixture(x, weight), "kernel": fit_kernel(x, weight)}
    np.testing.assert_array_equal(model.score(x), fits[model.kind].score(x))
    assert list(losses) == list(fits)
    assert losses[model.kind] < losses["gaussian"] - 1
    assert score_error(model, BANANA) < 0.7 * score_error(fits["gaussian"], BANANA)


def test_held_out_losses_are_those_of_new_rows():
    random = np.random.default_rng(0)
    x, new = THREE_MODES.sample(1_000, random), THREE_MODES.sample(20_000, random)
    model, losses = select_derivatives(x, np.ones(1_000))
    assert score_matching_loss(model, new).mean() == pytest.approx(losses[model.kind], abs=0.3)
    gaussian = score_matching_loss(fit_gaussian(x, np.ones(1_000)), new).mean()
    assert gaussian == pytest.approx(losses["gaussian"], abs=0.1)
    assert losses[model.kind] < gaussian - 1


def test_rows_of_weight_zero_do_not_count():
    x = THREE_MODES.sample(100, np.random.default_rng(0))
    both, weight = np.concatenate([x, x + 20]), np.repeat([2.0, 0.0], 100)
    (model, losses), (expected, others) = select_derivatives(both, weight), select_derivatives(x, np.ones(100))
    assert model.kind == expected.kind != "gaussian"
    assert losses == pytest.approx(others, rel=1e-6)


def test_rows_that_hardly_weigh_hardly_count():
    x = Normal().sample(200, np.random.default_rng(0))
    x[100:] += 5
    assert select_derivatives(x, np.repeat([2.0, 1e-3], 100) / 1.0005)[0].kind == "gaussian"
    assert select_derivatives(x, np.ones(200))[0].kind == "mixture"


def test_neither_chance_nor_the_order_of_rows_changes_the_choice():
    x = BANANA.sample(100, np.random.default_rng(0))
    samples = [make_sample(rows, np.ones(100)) for rows in (x, np.random.default_rng(5).permutation(x))]
    first, other = [select_derivatives(sample.points, sample.weight, random_state=3)[1] for sample in samples]
    assert first == pytest.approx(other, rel=1e-6)
    assert first["kernel"] < first["gaussian"] - 1


def test_large_samples_are_compared_on_part_of_their_rows(monkeypatch):
    monkeypatch.setattr(select, "_MOST_ROWS", 200)
    x = THREE_MODES.sample(1_000, np.random.default_rng(0))
    model, _ = select_derivatives(x, np.ones(1_000))
    np.testing.assert_array_equal(model.score(x), fit_mixture(x, np.ones(1_000)).score(x))


@pytest.mark.parametrize("x", [np.random.default_rng(0).normal(size=(5, 2)), np.repeat(np.eye(3)[:, :2], 50, axis=0)])
def test_with_few_different_rows_there_is_nothing_to_compare(x):
    model, losses = select_derivatives(x, np.ones(len(x)))
    assert losses == {}
    np.testing.assert_array_equal(model.score(x), fit_gaussian(x, np.ones(len(x))).score(x))


def test_a_sample_without_a_density_gets_the_gaussian_and_one_warning():
    x = np.random.default_rng(0).normal(size=(300, 2)) * [1, 0]
    with pytest.warns(DegenerateDataWarning, match="The denominator does not vary in 1 of 2 directions") as told:
        model, losses = select_derivatives(x, np.ones(300), "denominator")
    assert len(told) == 1
    assert model.degenerate
    assert losses == {}


def test_a_part_without_a_density_is_not_told():
    x = np.random.default_rng(0).normal(size=(90, 2))
    x[:, 1] = 0
    x[0, 1] = 3  # the only row that varies: the rows outside its fold have no density
    model, losses = select_derivatives(x, np.ones(90))
    assert not model.degenerate
    assert losses["gaussian"] > 1e6
