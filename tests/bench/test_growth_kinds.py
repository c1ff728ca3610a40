"""The kinds of data of `vwkde bench growth`: their truths are true."""

from pathlib import Path

import numpy as np
import pytest

from vwkde.bench.growth.kinds import KINDS, Truth
from vwkde.bench.growth.parts import rounded_shift
from vwkde.datasets import three_modes

ROWS = 40_000


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]()


def standard_error(values):
    return values.std() / np.sqrt(len(values))


def test_probabilities_of_both_densities_add_up_to_one(kind):
    for part in kind.parts:
        u, weight = part.nodes()
        assert weight.sum() == pytest.approx(1, abs=1e-9)
        assert weight @ np.exp(-u) == pytest.approx(1, abs=1e-6)


def test_the_truths_are_those_of_the_samples(kind):
    p, q = kind.sample(ROWS, 0)
    assert p.shape == q.shape == (ROWS, kind.columns)
    truth, u, ratio = kind.truth(), kind.log_ratio(p), np.exp(kind.log_ratio(q))
    assert abs(u.mean() - truth.kl) < 4 * standard_error(u)
    assert abs(ratio.mean() - 1) < 4 * standard_error(ratio)
    for values, variance in ((u, truth.variance_p), (ratio, truth.variance_q)):
        squares = (values - values.mean()) ** 2
        assert abs(squares.mean() - variance) < 4 * standard_error(squares)


def test_the_ratio_turns_one_sample_into_the_other(kind):
    """Means of P are those of Q with the ratio as weight, of single columns and of their products."""
    p, q = kind.sample(ROWS, 1)
    ratio = np.exp(kind.log_ratio(q))
    for column in range(kind.columns):
        for other in (column, (column + 1) % kind.columns):
            of_p, of_q = (np.tanh(x[:, column]) * np.tanh(x[:, other]) ** (column != other) for x in (p, q))
            error = np.hypot(standard_error(of_p), standard_error(ratio * of_q))
            assert abs(of_p.mean() - (ratio * of_q).mean()) < 4.5 * error


def test_truths_that_have_a_form_of_their_own():
    truth = KINDS["gaussians"]().truth()
    assert (truth.kl, truth.variance_p) == (pytest.approx(1), pytest.approx(2))
    assert truth.variance_q == pytest.approx(np.exp(2) - 1)
    root = np.sqrt(1 - 0.9**2)
    assert KINDS["ring"]().truth().kl == pytest.approx(np.log((1 + root) / 2) + 1 - root)
    assert KINDS["ring"]().truth().variance_q == pytest.approx(0.9**2 / 2)
    assert KINDS["mixtures"]().truth().kl == pytest.approx(three_modes(20).kl, rel=1e-6)


def test_the_floor_is_the_scatter_of_the_efficient_estimate():
    truth, rows = KINDS["gaussians"]().truth(), 500
    values = []
    for seed in range(400):
        p, q = KINDS["gaussians"]().sample(rows, seed)
        values.append(KINDS["gaussians"]().log_ratio(p).mean() + 1 - np.exp(KINDS["gaussians"]().log_ratio(q)).mean())
    assert np.std(values) == pytest.approx(truth.floor(rows), rel=0.15)
    assert Truth(0.0, 0.0, 0.0).floor(100) == pytest.approx(np.sqrt(2) / 100)


def test_samples_are_repeated_by_their_seed_and_differ_otherwise():
    kind = KINDS["mixed"]()
    first, again, other = (kind.sample(60, seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_rounded_columns_far_out_have_a_finite_ratio():
    part = rounded_shift(step=0.5, shift=0.4)
    far = part.log_ratio(np.array([[-30.0], [30.0]]))
    assert far[0] < -11 < 11 < far[1]
    assert np.isfinite(far).all()


def test_the_page_names_every_kind_with_its_columns_and_divergence():
    page = (Path(__file__).parents[2] / "docs" / "comparison.md").read_text(encoding="utf-8")
    table = page[page.index("| kind |") :].split("\n\n")[0].splitlines()[2:]
    rows = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in table]
    expected = {name: (str(make().columns), f"{make().truth().kl:.2f}") for name, make in KINDS.items()}
    assert {name: (columns, kl) for name, _, columns, kl in rows} == expected
