"""Bad input gets one clear error that says how to fix it; odd but sound input works."""

import warnings
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import vwkde

GOOD = np.random.default_rng(0).normal(size=(40, 3))


def spoiled(value):
    data = GOOD.copy()
    data[7, 1] = value
    return data


BAD = {
    "nan": (spoiled(np.nan), ValueError, "row 7, column 1, and 1 such"),
    "infinity": (spoiled(np.inf), ValueError, "must be finite. Got inf"),
    "empty": (np.empty((0, 3)), ValueError, "is empty"),
    "no columns": (np.empty((5, 0)), ValueError, "is empty"),
    "one row": (GOOD[:1], ValueError, "1 row; at least 2"),
    "fewer columns": (GOOD[:, :2], ValueError, "as many columns"),
    "strings": (np.array([["a", "b", "c"]] * 4), ValueError, "Column '0' .*(same in all rows|must hold numbers)"),
    "objects": (np.array([[1, 2, "x"]] * 4, dtype=object), ValueError, "Column '2' must mean the same in all rows"),
    "ragged": ([[1, 2, 3], [1, 2]], ValueError, "inhomogeneous|several lengths"),
    "complex": (GOOD + 1j, ValueError, "complex"),
    "dates": (np.full((4, 3), np.datetime64("2026-01-01")), ValueError, "dates"),
    "sparse": (sparse.csr_array(GOOD), TypeError, "toarray"),
    "three axes": (GOOD[:, :, None], ValueError, r"shape \(rows, columns\). Got 3 dimensions"),
    "dictionary": ({"a": GOOD[:, 0]}, TypeError, r"Got a dict instead; .* pandas.DataFrame\(data\)\.$"),
    "scalar": (3.0, ValueError, "Got 3.0 instead"),
    "none": (None, ValueError, "Got None"),
    "masked": (np.ma.masked_greater(GOOD, 1.0), ValueError, "must be finite"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("side", ["numerator", "denominator"])
def test_bad_samples_are_refused_by_name(name, side):
    data, error, message = BAD[name]
    pair = (data, GOOD) if side == "numerator" else (GOOD, data)
    with pytest.raises(error, match=message):
        vwkde.kl_divergence(*pair)


@pytest.mark.parametrize("name", ["nan", "fewer columns", "three axes", "strings"])
def test_bad_query_points_are_refused(name):
    data, error, message = BAD[name]
    with pytest.raises(error, match=message):
        vwkde.log_density_ratio(GOOD, GOOD + 0.1, at=data)


@pytest.mark.parametrize(
    "parameters",
    [
        {"bandwidth": 0},
        {"bandwidth": -1.0},
        {"bandwidth": 1e-100},
        {"bandwidth": np.nan},
        {"bandwidth": "wide"},
        {"ridge": 0.0},
        {"weighting": "none"},
        {"target": "all"},
        {"derivatives": 3},
        {"guide": "oracle"},
        {"max_basis": 0},
        {"length_scale": 0},
        {"n_threads": 0},
        {"memory_budget": -1},
        {"random_state": "seed"},
    ],
)
def test_bad_parameters_are_refused_in_one_sentence(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=rf"The '{name}' parameter of DensityRatio must be .* Got .* instead"):
        vwkde.kl_divergence(GOOD, GOOD, **parameters)


def test_unknown_methods_and_parameters_are_named():
    with pytest.raises(ValueError, match=r"'method' parameter must be one of .* Got 'magic'"):
        vwkde.kl_divergence(GOOD, GOOD, method="magic")
    with pytest.raises(TypeError, match="bandwith"):
        vwkde.kl_divergence(GOOD, GOOD, bandwith=1)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), r"shape \(40,\)"),
        (-np.ones(40), "non-negative"),
        (np.full(40, np.nan), "finite"),
        (np.eye(40)[0], "at least 2 rows"),
    ],
)
def test_bad_weights_are_refused(weight, message):
    with pytest.raises(ValueError, match=message):
        vwkde.DensityRatio().fit(GOOD, GOOD, numerator_weight=weight)


@pytest.mark.parametrize("prior", [0, 1, -0.5])
def test_bad_priors_are_refused(prior):
    with pytest.raises(ValueError, match="between 0 and 1"):
        vwkde.DensityRatio().fit(GOOD, GOOD + 1).posterior(GOOD, prior=prior)


P, Q = GOOD, np.random.default_rng(1).normal(0.4, 1.2, size=(60, 3))


@cache
def expected():
    return vwkde.kl_divergence(P, Q).value


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda x: x.tolist(),
        lambda x: x.astype(object),
        lambda x: pd.DataFrame(x, columns=list("abc")),
        lambda x: pl.DataFrame(x, schema=list("abc")),
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: x.astype(np.longdouble),
    ],
)
def test_the_same_numbers_in_other_clothes(convert):
    assert vwkde.kl_divergence(convert(P), convert(Q)).value == pytest.approx(expected(), rel=1e-12)


def test_float32_is_computed_in_float32():
    found = vwkde.kl_divergence(P.astype(np.float32), Q.astype(np.float32)).value
    assert found == pytest.approx(expected(), abs=1e-4)
    assert found != expected()


def test_columns_are_matched_by_name():
    frames = pd.DataFrame(P, columns=list("abc")), pd.DataFrame(Q, columns=list("abc"))[["c", "a", "b"]]
    assert vwkde.kl_divergence(*frames).value == pytest.approx(expected(), rel=1e-12)
    with pytest.raises(ValueError, match=r"Missing: \['c'\]; not in the numerator: \['d'\]"):
        vwkde.kl_divergence(frames[0], frames[1].rename(columns={"c": "d"}))
    with pytest.raises(ValueError, match="unique"):
        vwkde.kl_divergence(pd.DataFrame(P, columns=list("aab")), frames[1])


def test_a_text_column_is_named():
    frame = pd.DataFrame(P, columns=list("abc"))
    with pytest.raises(ValueError, match=r"Column 'c' .* text \(.*string\) and numbers \(double\)"):
        vwkde.kl_divergence(frame.assign(c="text"), frame)


def test_one_dimensional_and_integer_data():
    random = np.random.default_rng(0)
    pairs = [(random.poisson(4, 500), random.poisson(9, 400)) for _ in range(5)]
    exact = 4 * np.log(4 / 9) + 5
    values = [vwkde.kl_divergence(p, q).value for p, q in pairs]
    assert np.mean(values) == pytest.approx(exact, rel=0.25)
    assert vwkde.kl_divergence(*(x[:, None] for x in pairs[0])).value == values[0]
    assert np.isfinite(vwkde.kl_divergence(random.integers(0, 2, 50), random.integers(0, 2, 50)).value)


def test_degenerate_columns_are_told_and_left_out():
    clean = vwkde.kl_divergence(P, Q).value
    with pytest.warns(vwkde.DegenerateDataWarning, match="constant"):
        found = vwkde.kl_divergence(np.insert(P, 0, 5.0, axis=1), np.insert(Q, 0, 5.0, axis=1))
    assert found.value == pytest.approx(clean, rel=1e-9)
    with pytest.warns(vwkde.DegenerateDataWarning, match="copies"):
        found = vwkde.kl_divergence(np.column_stack([P, P[:, 0]]), np.column_stack([Q, Q[:, 0]]))
    assert found.value == pytest.approx(clean, rel=1e-6)


def shares(random, rows):
    return random.dirichlet([1.0, 3, 0.2, 9], rows)


def levels(random, rows):
    return np.hstack([np.eye(count)[random.integers(0, count, rows)] for count in (2, 5)])


@pytest.mark.parametrize("make", [shares, levels])
def test_columns_that_add_up_to_a_constant_are_as_they_should_be(make):
    random = np.random.default_rng(0)
    p, q = make(random, 300), make(random, 400)
    vwkde.kl_divergence(p, q)  # without a warning
    with pytest.warns(vwkde.DegenerateDataWarning, match="copies or linear combinations"):
        vwkde.kl_divergence(np.column_stack([p, p[:, 0]]), np.column_stack([q, q[:, 0]]))
    with pytest.warns(vwkde.DegenerateDataWarning, match="copies or linear combinations"):
        vwkde.kl_divergence(*(np.column_stack([x[:, :-1], x[:, -3] + x[:, -2]]) for x in (p, q)))


def test_a_constant_column_does_not_make_a_divergence_infinite():
    """The default's choice for these rows is a guide of the columns as given, in which the constant one is."""
    random = np.random.default_rng(0)
    p, q = random.normal(0.3, 1, (500, 4)), random.normal(0, 1, (500, 4))
    with pytest.warns(vwkde.DegenerateDataWarning) as raised:
        found = vwkde.kl_divergence(np.insert(p, 4, 0.0, axis=1), np.insert(q, 4, 0.0, axis=1))
    assert len(raised) == 1
    assert not found.open_above


def test_a_column_constant_in_one_sample_only_gives_a_finite_answer():
    p = P.copy()
    p[:, 0] = 0.0
    for pair in ((p, Q), (Q, p)):
        with pytest.warns(vwkde.DegenerateDataWarning, match="Column 0 is constant in the .* but not in"):
            assert np.isfinite(vwkde.kl_divergence(*pair).value)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"weighting": "closed-form"}, {"weighting": "uniform"}]
    + [{"target": target} for target in ("posterior", "ratio", "kl")],
    ids=str,
)
@pytest.mark.parametrize("distance", [30, 1e4])
def test_disjoint_samples_give_a_finite_answer_and_a_warning(parameters, distance):
    with pytest.warns(vwkde.OverlapWarning, match="100%"):
        found = vwkde.kl_divergence(P, P + distance, guide=None, **parameters)
    assert found.value > 50
    assert np.isfinite([found.value, found.standard_error, found.interval[0]]).all()
    assert found.open_above


def test_a_guide_gives_disjoint_samples_a_finite_bound():
    for distance in (30, 1e4):
        with pytest.warns(vwkde.OverlapWarning, match="100%"):
            found = vwkde.kl_divergence(P, P + distance)
        assert 20 < found.value < 100
        assert np.isfinite([found.standard_error, found.interval[0]]).all()


def test_samples_too_far_apart_for_arithmetic_are_refused():
    for distance in (1e10, 1e13):
        with pytest.raises(ValueError, match="disjoint"):
            vwkde.kl_divergence(P, P + distance)
    with pytest.raises(ValueError, match="disjoint"), pytest.warns(vwkde.DegenerateDataWarning):
        vwkde.kl_divergence(P[:2], P[2:4] + 1e10)


def test_mostly_equal_rows_and_skewed_data_give_finite_answers():
    rare = np.zeros(3_000), np.zeros(3_000)
    rare[0][0], rare[1][1] = 1, 1
    assert np.isfinite(vwkde.kl_divergence(*rare).value)
    with warnings.catch_warnings():
        warnings.simplefilter("error", vwkde.DegenerateDataWarning)  # a long tail is a density
        low, high = vwkde.kl_divergence(np.exp(20 * P), np.exp(20 * Q)).interval
    assert low <= expected() <= high < np.inf


def test_numbers_near_the_largest_and_columns_far_from_zero_count():
    assert vwkde.kl_divergence(P * 3e307, Q * 3e307).value == pytest.approx(expected(), rel=1e-9)
    times = 1.7e18 + 1e6 * P[:, 0], 1.7e18 + 1e6 * Q[:, 0]
    assert vwkde.kl_divergence(*times).value == pytest.approx(vwkde.kl_divergence(P[:, 0], Q[:, 0]).value, abs=0.01)


def test_zero_and_extreme_weights():
    few = np.zeros(40)
    few[:6] = 1
    assert np.isfinite(vwkde.kl_divergence(P, Q, numerator_weight=few).value)
    one = np.ones(40)
    one[0] = 1e20
    with pytest.raises(ValueError, match="one row all the weight"):
        vwkde.kl_divergence(P, Q, numerator_weight=one)
    with pytest.raises(ValueError, match="complex"):
        vwkde.kl_divergence(P, Q, numerator_weight=np.ones(40) + 1j)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_query_points_at_the_edge_of_the_range(dtype):
    ratio = vwkde.DensityRatio().fit(P.astype(dtype), Q.astype(dtype))
    far = np.array([[1e30, 0, 0], [0, -1e38, 0]], dtype)
    assert np.isfinite(ratio.log_ratio(far)).all()
    assert np.isfinite(ratio.residual_bias(far)).all()


def test_a_failed_fit_leaves_the_last_one_usable():
    ratio = vwkde.DensityRatio().fit(P, Q)
    expected = ratio.log_ratio(P)
    with pytest.raises(ValueError, match="all rows are equal"):
        ratio.fit(np.ones((9, 2)), np.ones((9, 2)))
    np.testing.assert_array_equal(ratio.log_ratio(P), expected)


def test_tiny_samples():
    with pytest.warns(vwkde.DegenerateDataWarning):
        assert np.isfinite(vwkde.kl_divergence(GOOD[:2], GOOD[2:4]).value)
    assert np.isfinite(vwkde.kl_divergence([1.0, 2.0], [1.5, 2.5]).value)
    lowest, highest = vwkde.kl_divergence([1.0, 2.0], [1.5, 2.5], guide=None).interval
    assert -np.inf < lowest <= 0 < 1 < highest < np.inf


def test_all_rows_equal():
    with pytest.raises(ValueError, match="all rows are equal"):
        vwkde.kl_divergence(np.ones((9, 3)), np.ones((8, 3)))


def test_whole_numbers_that_floats_round_to_one_are_told_as_such():
    p, q = ((10 * sample).astype(np.int64) + 2**60 for sample in (P, Q))
    with pytest.raises(ValueError, match=r"equal in the 15 digits that a float keeps; .* subtract what they have"):
        vwkde.kl_divergence(p, q)
    assert np.isfinite(vwkde.kl_divergence(p - 2**60, q - 2**60, guide="gaussian").value)


FAR = np.random.default_rng(0).normal(size=(2, 60, 2))


@pytest.mark.parametrize("scale", [4e307, 1e-300, 1e-310, (1e300, 1e-300)])
def test_the_ends_of_the_float_range_change_nothing(scale):
    """NumPy's warnings of overflow reached the user, and a point outside such data had no posterior."""
    p, q = FAR * scale
    expected = vwkde.kl_divergence(*FAR, guide="gaussian").value
    assert vwkde.kl_divergence(p, q, guide="gaussian").value == pytest.approx(expected, abs=1e-9)
    assert vwkde.independence_test(p, q, n_permutations=19) == vwkde.independence_test(*FAR, n_permutations=19)
    ratio = vwkde.DensityRatio(guide="gaussian").fit(p, q)
    assert np.isfinite(ratio.log_ratio([[1.0, -1.0], [1e308, 1e-308]])).all()
    classifier = vwkde.RatioClassifier(ratio=ratio).fit(np.concatenate([p, q]), np.repeat([0, 1], 60))
    assert np.isfinite(classifier.predict_proba([[1.0, -1.0], [1e308, 1e-308]])).all()


def test_outliers_at_both_ends_of_the_float_range():
    p, q = (np.vstack([x, row]) for x, row in zip(FAR, ([[1.7e308, -1.7e308]], [[-1.7e308, 1.7e308]]), strict=True))
    with pytest.warns(vwkde.DegenerateDataWarning, match="far beyond all others"):
        low, high = vwkde.kl_divergence(p, q).interval
    assert low <= 0.05 < high < 1
    assert 0 < vwkde.two_sample_test(p, q, n_permutations=19).p_value <= 1


def test_rows_of_several_lengths_are_refused():
    with pytest.raises(ValueError, match=r"The numerator must be an array .* Got rows of several lengths instead"):
        vwkde.kl_divergence([[1, 2], [3]], FAR[0])


@pytest.mark.parametrize("prior", ["a", None, True, [0.5], np.nan, 2])
def test_a_prior_that_is_no_probability_is_refused(prior):
    ratio = vwkde.DensityRatio(guide="gaussian").fit(*FAR)
    with pytest.raises(ValueError, match="'prior' parameter of posterior must be a number that lies between 0 and 1"):
        ratio.posterior(FAR[0], prior=prior)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: vwkde.kl_divergence(P, Q, bandwidth=True), "bandwidth"),
        (lambda: vwkde.kl_divergence(P, Q, method="kde", bandwidth=True), "bandwidth"),
        (lambda: vwkde.kl_divergence(P, Q, method="nn", k=True), "k"),
        (lambda: vwkde.DensityRatio(ridge=True).fit(P, Q), "ridge"),
        (lambda: vwkde.DensityRatio(random_state=True).fit(P, Q), "random_state"),
    ],
)
def test_true_is_no_number(call, name):
    with pytest.raises(ValueError, match=f"The '{name}' parameter"):
        call()


def test_rows_of_several_lengths_are_told_in_plain_words():
    ragged = [[1.0, 2.0], [3.0]]
    for call in (
        lambda: vwkde.kl_divergence(ragged, Q),
        lambda: vwkde.RatioClassifier().fit(ragged, [0, 1]),
        lambda: vwkde.RatioClassifier().fit(P[:2], ragged),
    ):
        with pytest.raises(ValueError, match="rows of several lengths"):
            call()
