"""Properties that hold for whatever data a user has: a finite answer or a clear refusal, the same for every copy."""

import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vwkde

settings.register_profile(
    "steady", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")


OPTIONS = st.sampled_from([{}, {"guide": None}, {"guide": None, "weighting": "closed-form"}, {"guide": "gaussian"}])


@st.composite
def samples(draw):
    """Draw a sample as users have them: smooth, counts, copies, heavy tails, clusters, at any scale."""
    n, d = draw(st.integers(2, 40)), draw(st.shared(st.integers(1, 6), key="columns"))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.sampled_from(["smooth", "counts", "copies", "heavy", "two clusters"]))
    x = {
        "smooth": lambda: random.normal(size=(n, d)),
        "counts": lambda: random.poisson(2, size=(n, d)).astype(float),
        "copies": lambda: random.normal(size=(3, d))[random.integers(0, 3, n)],
        "heavy": lambda: random.standard_cauchy(size=(n, d)),
        "two clusters": lambda: random.normal(size=(n, d)) + 1e3 * random.integers(0, 2, size=(n, 1)),
    }[shape]()
    exponent = draw(st.shared(st.sampled_from([0, -300, -6, 6, 250]), key="exponent"))
    return (x + draw(st.sampled_from([0.0, 0.5, 100.0]))) * 10.0**exponent


@given(p=samples(), q=samples(), options=OPTIONS)
def test_a_finite_answer_or_a_clear_refusal(p, q, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", vwkde.BiasWarning)
        warnings.simplefilter("ignore", vwkde.OverlapWarning)
        warnings.simplefilter("ignore", vwkde.DegenerateDataWarning)
        try:
            ratio = vwkde.DensityRatio(**options).fit(p, q)
        except ValueError as error:
            assert any(word in str(error) for word in ("disjoint", "all rows are equal"))  # noqa: PT017
            return
        for kind in ("kl", "jensen-shannon", "hellinger"):
            estimate = ratio.divergence(kind)
            assert np.isfinite([estimate.value, estimate.standard_error]).all()
        assert np.isfinite(ratio.log_ratio(np.concatenate([p, q]))).all()
        assert np.isfinite(ratio.importance_weights()).all()


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.BiasWarning")
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.tuples(st.integers(30, 60), st.integers(30, 60)),
    d=st.integers(1, 5),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    offset=st.sampled_from([0.0, 1.0, 1e3]),
    options=OPTIONS,
)
def test_affine_copies_and_shuffled_rows_give_the_same_divergence(seed, sizes, d, scale, offset, options):
    random = np.random.default_rng(seed)
    p, q = random.normal(size=(sizes[0], d)), random.normal(0.5, 1.3, size=(sizes[1], d))
    turn = np.linalg.qr(random.normal(size=(d, d)))[0] * random.uniform(0.5, 2, size=d)
    copies = [scale * (random.permutation(x) @ turn + offset) for x in (p, q)]
    expected, found = (vwkde.kl_divergence(*pair, **options).value for pair in ((p, q), copies))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-7)
